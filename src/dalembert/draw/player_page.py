"""The player as one file of HTML that needs no network, and as what a notebook shows.

The renderer is a small one of our own (WebGL, or a canvas where that is missing): a few hundred lines do what scenes need,
and no source of others has to be fetched or kept up to date. The script is a classic one: modules do not load from files.
"""

from __future__ import annotations

import html
import json
import math
import os
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import ModelWarning, StartError, told
from ..methods.base import Method
from ..run.trajectory import Trajectory
from ..words import words
from .live_steps import Obstacle, live_data
from .player_data import FRAMES, Film, checked_runs

SCRIPTS = ("data", "camera", "geometry", "webgl", "canvas", "live", "drag", "graph", "main")
"""The parts of the player, joined in this order."""


@cache
def source(name: str) -> str:
    """A part of the player."""
    return (Path(__file__).parent / "player" / name).read_text(encoding="utf-8")


def script() -> str:
    """The whole player, which leaves no names behind."""
    parts = "\n".join(source(f"{name}.js") for name in SCRIPTS)
    return f'(function () {{\n"use strict";\n{parts}\n}})();'


def film_of(
    run: Trajectory, beside: Any = (), graph: Sequence[Any] = (), lang: str = "en", frames: int | None = None
) -> Film:
    """What is drawn of a run, and of those beside it."""
    others = tuple(beside) if isinstance(beside, list | tuple) else (beside,)
    runs = checked_runs((run, *others), "animate")
    if frames is not None and (not isinstance(frames, int) or isinstance(frames, bool) or frames < 2):
        raise StartError(f"animate: frames={told(frames)}. Expected how many frames to keep, a whole number from 2 on.")
    listed = graph if isinstance(graph, list | tuple) else [graph]
    return Film(runs, tuple(map(_label, runs)), tuple(listed), words(lang), frames or FRAMES)


def _label(run: Trajectory) -> str:
    return f"{run.system.name if run.method is None else run.method!r}, h = {run.h:g}"


def data_of(film: Film, live: bool = True, methods: Sequence[Method] = (), **options: Any) -> dict[str, Any]:
    """All data of a page; where it cannot compute the motion, a note says why."""
    data = film.data() | options
    if live:
        try:
            data["live"] = live_data(film, methods)
        except Obstacle as why:
            data["notes"] = [film.words["interpreted"].format(why=why)]
    return data


def player(data: dict[str, Any], with_script: bool = True) -> str:
    """The part of a page that is a player: what is to be shown, style and script."""
    text = json.dumps(_plain(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    parts = [
        f'<div class="dalembert-player"><script type="application/json">{text}</script></div>',
        f"<style>{source('player.css')}</style><script>{script()}</script>" if with_script else "",
    ]
    return "\n".join(parts)


def _plain(value: Any) -> Any:
    """Data with null in place of numbers that JSON does not have."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def page(data: dict[str, Any], lang: str = "en") -> str:
    """A whole page."""
    title = html.escape(data["title"])
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><title>{title}</title>'
        f'</head>\n<body class="dalembert-page"><main>\n{player(data)}\n</main></body>\n</html>\n'
    )


def in_notebook(data: dict[str, Any], lang: str = "en") -> str:
    """A frame of its own: its WebGL context goes with it when the cell is run again, and the notebook is not touched."""
    text = html.escape(page(data, lang), quote=True)
    return (
        f'<iframe srcdoc="{text}" title="{html.escape(data["title"])}" style="width:100%;height:680px;border:0" '
        f'loading="lazy"></iframe>'
    )


def write_page(film: Film, target: Path, lang: str, live: bool, methods: Sequence[Method]) -> Path:
    """Write the page of a film; a warning if frames were left out without anybody asking for it."""
    data = data_of(film, live, methods)
    longest = max(len(run) for run in film.runs)
    if longest > film.frames == FRAMES:
        every = -(-longest // film.frames)
        warnings.warn(
            f"animate: of {longest:,} records one in {every} is in {target.name}. frames={longest} keeps all; every= of "
            f"simulate(...) records fewer.",
            ModelWarning,
            stacklevel=4,
        )
    written(target, page(data, lang))
    return target


def written(target: Path, text: str, who: str = "animate") -> None:
    """Write a text; an error in words if the path cannot be written."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StartError(f"{who}: {target} cannot be written: {error.strerror or error}.") from error


def checked_target(path: Any, known: Sequence[str], who: str = "animate") -> Path:
    """The path of a film or a report; an error if its suffix is none of those."""
    try:
        target = Path(os.path.expanduser(path))
    except TypeError:
        what = "film: 'motion.html'" if who == "animate" else "page: 'report.html'"
        raise StartError(f"{who}: got {told(path)}. Expected the path of a {what}.") from None
    if target.suffix.lower() not in known:
        player = "; .html is the player" if len(known) > 1 else ""
        raise StartError(f"{who}: {target} has no known suffix. Known are {', '.join(known)}{player}.")
    return target
