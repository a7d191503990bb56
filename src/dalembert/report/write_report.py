"""`run.report("x.html")` and `system.report("x.html")`: one file of HTML that needs no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from ..draw.player_page import checked_target, written
from ..errors import StartError, told
from ..methods.base import Method
from ..model.system import System
from ..numbers import positive
from ..run.trajectory import Trajectory
from ..words import report_words
from . import run_sections as of_run
from . import system_sections as of_system
from .html_parts import Writer, section
from .reproduction import parameters_of, reproduction


def run_report(
    run: Trajectory, path: str | Path, *, lang: str = "en", live: bool = True, methods: Sequence[Method] = (),
    beside: Any = (), invariants: Mapping[str, Any] | None = None, box: Any = None, seconds: float = 3.0, about: str = "",
) -> Path:  # fmt: skip
    """Write the report of a run; see `Trajectory.report`."""
    target, w = checked(path, lang, seconds, about)
    system = run.system.continuous
    alone = {name: v if not getattr(v, "ndim", 0) else float(v[0]) for name, v in parameters_of(run).items()}
    first = [("picture-of", w.word("moving"), of_run.picture(w, run, live, methods, beside))]
    middle = _of_system(w, system, alone, box, seconds) if system is not None else _of_discrete(w, run.system)
    last = [
        ("method", w.word("numerics"), of_run.method(w, run)),
        ("figures", w.word("figures"), of_run.figures(w, run)),
        ("audit", w.word("audit"), of_run.audited(w, run, invariants or {}, seconds)),
        ("reproduce", w.word("reproduce"), reproduction(w, run.system, run, None)),
    ]
    return _write(w, target, run.system.name, about, [*first, *middle, *last])


def system_report(
    system: System, path: str | Path, *, lang: str = "en", parameters: Mapping[Any, Any] | None = None, box: Any = None,
    seconds: float = 3.0, about: str = "",
) -> Path:  # fmt: skip
    """Write the report of a system; see `System.report`."""
    target, w = checked(path, lang, seconds, about)
    parts = _of_system(w, system, parameters, box, seconds)
    parts.append(("reproduce", w.word("reproduce"), reproduction(w, system, None, parameters)))
    return _write(w, target, system.name, about, parts)


Parts = list[tuple[str, str, str]]
"""Sections: identifier, heading, markup."""


def _of_system(w: Writer, system: System, parameters: Any, box: Any, seconds: float) -> Parts:
    equilibria, modes = of_system.rest(w, system, parameters, box, seconds)
    return [
        ("statement", w.word("statement"), of_system.statement(w, system)),
        ("constraints", w.word("constraints"), of_system.constraints(w, system, seconds)),
        ("equations", w.word("equations"), of_system.equations(w, system)),
        ("integrals", w.word("integrals"), of_system.integrals(w, system, seconds)),
        ("equilibria", w.word("equilibria"), equilibria),
        ("modes", w.word("modes"), modes),
    ]


def _of_discrete(w: Writer, system: Any) -> Parts:
    told = w.formula(system.read(system.lagrangian), label=w.word("discrete lagrangian"))
    told += f"<p>{w.word('discrete')}</p>"
    return [("statement", w.word("statement"), told)]


def checked(path: Any, lang: str, seconds: Any, about: Any) -> tuple[Path, Writer]:
    """The target and the language, before anything is computed."""
    report_words(lang)
    positive(seconds, "report: seconds", StartError, ". Expected how long each search may take.")
    if not isinstance(about, str):
        raise StartError(f"report: about={told(about)}. Expected a text.")
    return checked_target(path, (".html",), "report"), Writer(lang)


def _write(w: Writer, target: Path, name: str, about: str, parts: Parts) -> Path:
    from .. import __version__

    links = "".join(f'<li><a href="#{key}">{title}</a></li>' for key, title, _ in parts)
    inside = "\n".join(section(*part) for part in parts)
    title = escape(name)
    page = (
        f'<!doctype html>\n<html lang="{w.lang}">\n<head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><title>{w.word("report of", name)}'
        f"</title><style>{_style()}</style></head>\n<body><main>\n<h1>{title}</h1>"
        f"{f'<p>{escape(about)}</p>' if about else ''}"
        f'<nav aria-label="{w.word("contents")}"><ul>{links}</ul></nav>\n{inside}\n</main>'
        f"<footer><p>{w.word('made by', __version__)}</p></footer></body>\n</html>\n"
    )
    written(target, page, "report")
    return target


@cache
def _style() -> str:
    return (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
