"""Figures: of a run, of a system, of a study; behind the public name `plots`.

`run.plot(...)` is `plots.plot(run, ...)`. Every figure is one of matplotlib that shows itself in a notebook; `path=` saves it,
as .pdf or .svg with lines, and `width=` is "column" or "page" of a paper, or "screen".
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from ..decide.zero import has_turns
from ..errors import ModelError, told
from ..model.coordinates import Coordinate
from ..model.system import System
from ..numbers import name_of
from ..run.extent import has_steps, shortfall, span, stopped_by
from ..run.trajectory import Trajectory
from .equilibrium_figures import equilibrium_branches, frequency_response
from .error_figures import error, work_precision
from .figure_style import checked_target, checked_width, new_figure, saved, style, titled
from .force_figures import forces
from .growth_figures import exponents, sensitivities
from .lane_curves import Look, checked_lanes, told_lanes
from .phase_figures import crossings, phase_portrait
from .run_panels import PANELS, Panel, coordinates, drawn, energy, fourth, of_expression
from .run_panels import path as path_panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "crossings",
    "equilibrium_branches",
    "error",
    "exponents",
    "forces",
    "frequency_response",
    "phase_portrait",
    "plot",
    "sensitivities",
    "work_precision",
]


def plot(
    run: Trajectory, what: Any = None, path: str | Path | None = None, *, width: str = "screen", lanes: str | None = None,
    wrap: Any = (), units: Any = None,
) -> Figure:  # fmt: skip
    """A figure of a run.

    what:   "coordinates", "velocities", "momenta", "path", "phase", "energy", "invariants", "constraints", "multipliers",
            "reactions", "power", "work", "temperatures", "entropies", "laws", or an expression; or a list of these, a panel
            each. Left out, the path, the coordinates, the energy, and temperatures, multipliers or velocities. A file name
            may stand in its place.
    path:   where to save it: a .pdf or .svg for a paper, a .png
    width:  "column", "page" or "screen"
    lanes:  "curves", "bands" or "density"; by default curves of up to 25 lanes, bands of all lanes if they are more
    wrap:   angles that are drawn between -pi and pi: True for all coordinates of period 2 pi, or a list of coordinates
    units:  {x: "m", dalembert.time: "s"}, for the axes

    A run that ended early is drawn as far as it was computed, and the title gives the reason; without steps, only text.
    """
    if path is None and _is_path(what):
        what, path = None, what
    if path is not None:
        checked_target(path)
    look = Look(checked_lanes(lanes), _angles(run, wrap), {name_of(k): v for k, v in (units or {}).items()})
    panels = [path_panel, coordinates, energy, fourth] if what is None else _chosen(what)
    rows, columns = _grid(len(panels), width)
    with style(checked_width(width)):
        figure = new_figure(width, rows / columns * (0.67 if columns > 1 else 0.6))
        if has_steps(run):
            for draw, axes in zip(panels, figure.subplots(rows, columns, squeeze=False).flat, strict=False):
                draw(run, axes, look)
            for axes in figure.axes[len(panels) :]:
                if not axes.has_data():
                    axes.set_visible(False)
        else:
            figure.text(0.5, 0.5, _without_steps(run), ha="center", va="center")
        titled(figure, _title(run, look))
        saved(figure, path)
    return figure


def _is_path(what: Any) -> bool:
    return isinstance(what, Path) or (isinstance(what, str) and what not in PANELS and "." in what)


def _grid(count: int, width: str) -> tuple[int, int]:
    """Rows and columns of panels."""
    columns = 1 if count == 1 or width == "column" else 2
    return -(-count // columns), columns


def _chosen(what: Any) -> list[Panel]:
    several = what if isinstance(what, Iterable) and not isinstance(what, str) else [what]
    found = [_panel(w) for w in several]
    if not found:
        raise ModelError("plot: got an empty list. Name what is to be drawn, such as 'energy'.")
    return found


def _panel(what: Any) -> Panel:
    if isinstance(what, str):
        if what not in PANELS:
            names = ", ".join(map(repr, PANELS))
            raise ModelError(
                f"plot: {told(what)} is no figure. Expected one of {names}, an expression, or 'motion.png'."
            )
        return PANELS[what]
    if not hasattr(what, "free_symbols") and not hasattr(what, "is_Symbol"):
        raise ModelError(f"plot: got {told(what)}. Expected a name such as 'energy', or an expression of coordinates.")
    return of_expression(what)


def _angles(run: Trajectory, wrap: Any) -> frozenset[str]:
    """The names of the coordinates to wrap."""
    if wrap is True:
        return frozenset(q.name for q in run.system.coordinates if _is_angle(run, q))
    if isinstance(wrap, Coordinate):
        wrap = [wrap]
    if wrap is False or not isinstance(wrap, Iterable) or isinstance(wrap, str):
        wrap = () if wrap is False else [wrap]
    names = {q.name for q in run.system.coordinates}
    given = [getattr(q, "name", q) for q in wrap]
    if unknown := [g for g in given if g not in names]:
        raise ModelError(
            f"plot: wrap: {told(unknown[0])} is no coordinate. Expected some of {', '.join(sorted(names))}."
        )
    return frozenset(given)


def _is_angle(run: Trajectory, q: Any) -> bool:
    """Whether a system has the period 2 pi in a coordinate on which it depends."""
    system = run.system.continuous
    if not isinstance(system, System):
        return False
    stated = [e for e in (system.lagrangian, *(c.expression for c in system.constraints)) if e.has(q)]
    return bool(stated) and has_turns(stated, q)


def _title(run: Trajectory, look: Look) -> str:
    method = "" if run.method is None else f", {run.method!r}"
    title = f"{run.system.name}{method}, h = {run.h:g}{told_lanes(run.lanes, look)}"
    ended = shortfall(run) if has_steps(run) else ""
    if not ended and stopped_by(run):
        ended = span(run)
    return f"{title}\n{ended}" if ended else title


def _without_steps(run: Trajectory) -> str:
    """The text in place of curves: why there are none, and where the run begins."""
    done = int((run.codes[:, 1] - run.begin).max())
    alone = (
        f"{done} steps were computed, and every={run.every} records none of them" if done else "no steps were asked for"
    )
    why = shortfall(run) or f"one record, at t = {run.time[0]:g}: {alone}"
    first = [f"{q} = {np.atleast_2d(run[q])[0, 0]:.6g}" for q in drawn(run)[:8]]
    lane = "" if run.lanes is None else " of lane 0"
    return fill(f"There is nothing to draw: {why}.", 90) + f"\n\nStart{lane}: {', '.join(first)}"
