"""Films as GIF or MP4: the same scene, drawn frame by frame with matplotlib in the plane of the picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import numpy as np

from ..errors import StartError
from ..numbers import positive
from ..run.trajectory import Trajectory
from ..run.values import Array, point_map
from .player_data import Film, seconds_of, state_column
from .scene_shapes import Measures, Stroke, colours_of, place_of, strokes

SUFFIXES = (".gif", ".mp4", ".webm")
RATE = 25
"""Frames per second."""
LONGEST = 12.0
"""Most seconds of a film, unless more are asked for."""


def numbers_along(film: Film, run: Trajectory, rows: Array, lane: int = 0) -> Array:
    """All numbers of the scene at some records of a lane: (records, numbers)."""
    drawing, names = film.drawing, [p.name for p in run.system.parameters]
    stepmap = drawing.stepmap(names)
    columns = [
        run.time[rows] if n == "t" else state_column(run, n)[lane, rows] for n in drawing.inputs if n not in names
    ]
    points = np.stack(columns or [np.zeros(len(rows))], axis=1)
    found: Array = point_map(stepmap)(points, run.parameter_rows[lane : lane + 1])[0]
    return found


def write_film(film: Film, target: Path, seconds: float | None = None) -> Path:
    """Write the film of the first run; MP4 needs ffmpeg."""
    from matplotlib import animation, rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    moving = target.suffix.lower() != ".gif"
    if moving and not animation.writers.is_available("ffmpeg"):
        raise StartError(
            f"animate: {target.name} needs ffmpeg, which is not installed. {target.with_suffix('.html').name} is the player "
            f"and {target.with_suffix('.gif').name} a film without it."
        )
    run = film.runs[0]
    length = seconds_of(float(run.time[-1] - run.time[0]), 1, LONGEST, LONGEST) if seconds is None else positive(
        seconds, "animate: seconds", StartError, ". Expected how long the film is."
    )  # fmt: skip
    count = max(2, min(int(length * RATE), len(run) if len(run) > 2 else 2))
    rows = np.linspace(0, len(run) - 1, count).round().astype(int)
    table = numbers_along(film, run, rows)
    measures = Measures.of(film.items, film.drawing.places, table, film.drawing.is_spatial)
    with rc_context({"animation.html": "none"}):
        figure = Figure(figsize=(4.8, 4.8), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        codec = "libvpx-vp9" if target.suffix.lower() == ".webm" else None  # matplotlib's own is not for that format
        writer = animation.FFMpegWriter(fps=RATE, codec=codec) if moving else animation.PillowWriter(fps=RATE)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.open("ab").close()  # ffmpeg would say it in its own words
            with writer.saving(figure, str(target), dpi=90):
                for k in range(count):
                    draw_frame(axes, film, table, k, measures)
                    axes.set_title(
                        f"{film.system.name}, t = {clock_text(run.time[rows[k]], run)}", fontsize=9, loc="left"
                    )
                    writer.grab_frame()
        except OSError as error:
            raise StartError(f"animate: {target} cannot be written: {error.strerror or error}.") from error
        except CalledProcessError as error:
            raise StartError(
                f"animate: ffmpeg did not write {target}. {target.with_suffix('.gif').name} is a film without it."
            ) from error
    return target


def clock_text(t: float, run: Trajectory) -> str:
    """A time of a run, with as many digits as tell apart a two-hundredth of it."""
    largest, step = float(np.abs(run.time[[0, -1]]).max()), float(run.time[-1] - run.time[0]) / 200
    if 0.1 <= largest < 1e5:
        return f"{t:.{min(max(math.ceil(-math.log10(step)), 0), 20)}f}"
    return f"{t:.{min(math.ceil(math.log10(largest / step)), 20)}e}"


def draw_frame(axes: Any, film: Film, table: Array, k: int, measures: Measures) -> None:
    """One frame: strokes and areas from far to near."""
    from matplotlib.patheffects import withStroke

    axes.clear()
    axes.set_axis_off()
    axes.set_aspect("equal")
    reach, middle = measures.reach, measures.onto(measures.middle[None])[0]
    axes.set_xlim(middle[0] - reach, middle[0] + reach)
    axes.set_ylim(middle[1] - reach, middle[1] + reach)
    drawn: list[Stroke] = []
    for item, part, (index, colour) in zip(film.items, film.drawing.places, colours_of(film.items), strict=True):
        kind = type(item).__name__
        if kind == "Trail":
            before = table[max(0, k - int(item.fraction * len(table))) : k + 1, part]  # type: ignore[attr-defined,index]
            shade = colour or measures.colour(item, index)
            drawn.append(Stroke(before.reshape(-1, 3), 0.8, shade, is_trail=True))
            continue
        if np.isfinite(table[k, part]).all():
            drawn += strokes(item, table[k, part], measures, index)
            if label := getattr(item, "label", ""):
                at = measures.onto(place_of(item, table[k, part], measures)[None])[0]
                axes.annotate(label, at, fontsize=8, path_effects=[withStroke(linewidth=2, foreground="white")])
    for order, stroke in enumerate(sorted(drawn, key=measures.depth) if measures.spatial else drawn):
        _put(axes, stroke, measures, order)


def _put(axes: Any, stroke: Stroke, measures: Measures, order: int) -> None:
    flat = measures.onto(stroke.points)
    if stroke.radius:
        from matplotlib.patches import Circle

        axes.add_patch(Circle(tuple(flat[0]), stroke.radius, color=stroke.colour, zorder=order + 2))
    elif stroke.filled:
        axes.fill(flat[:, 0], flat[:, 1], color=stroke.colour, alpha=0.85, lw=0, zorder=order + 2)
    else:
        if stroke.is_trail:
            jumps = np.linalg.norm(np.diff(flat, axis=0), axis=1) > 0.7 * measures.reach
            flat = np.insert(flat, np.flatnonzero(jumps) + 1, np.nan, axis=0)
        alpha, lower = (0.5, 1) if stroke.is_trail else (1, order + 2)
        axes.plot(
            flat[:, 0],
            flat[:, 1],
            color=stroke.colour,
            lw=stroke.width,
            alpha=alpha,
            zorder=lower,
            solid_capstyle="round",
        )


__all__: Sequence[str] = ("SUFFIXES", "draw_frame", "numbers_along", "write_film")
