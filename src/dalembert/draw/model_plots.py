"""One figure of the motions of several models from one start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import StartError
from ..model.coordinates import Coordinate
from ..run.model_motions import ModelMotions
from .figure_style import COLOURS, DASHES, checked_target, legend, new_figure, saved, style, titled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WIDEST = 4.5
"""The width of the first line, in points; each next one is narrower by a point."""


def plot_models(motions: ModelMotions, path: str | Path | None = None, along: Sequence[Coordinate] = ()) -> Figure:
    """The path in two coordinates on the left, every coordinate over time on the right; one colour for each model.

    Lines are drawn from wide to narrow, so that motions that coincide are lines within lines.
    """
    first = next(iter(motions.runs.values()))
    q = list(first.system.coordinates)
    pair = list(along) or q[:2]
    if len(pair) != 2 or not all(c in q for c in pair):
        names = ", ".join(c.name for c in q)
        raise StartError(f"plot: along= takes two coordinates of the system, such as along=[x, y]. It has {names}.")
    if path is not None:
        checked_target(path)
    with style():
        figure = new_figure("screen", (1.2 + 1.5 * max(len(q), 3)) / 10.5)
        grid = figure.add_gridspec(len(q), 2)
        plane = figure.add_subplot(grid[:, 0])
        panels = [figure.add_subplot(grid[k, 1]) for k in range(len(q))]
        for k, (name, run) in enumerate(motions.runs.items()):
            look: Any = {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k % len(DASHES)]}
            look |= {"linewidth": max(WIDEST - k, 1.0), "label": name}
            plane.plot(run[pair[0]], run[pair[1]], **look)
            for panel, c in zip(panels, q, strict=True):
                panel.plot(run.time, run[c], **look)
        plane.set_xlabel(pair[0].name)
        plane.set_ylabel(pair[1].name)
        plane.set_title("path")
        legend(plane)
        for panel, c in zip(panels, q, strict=True):
            panel.set_ylabel(c.name)
        panels[-1].set_xlabel("t")
        titled(figure, first.system.name)
        saved(figure, path)
    return figure
