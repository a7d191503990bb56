"""Errors over the step, with fitted orders: the figure of a study of convergence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..analysis.accuracy.convergence import QUANTITIES, Convergence, order_text
from .figure_style import COLOURS, new_figure, saved, style, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def convergence_figure(study: Convergence, path: str | Path | None) -> Figure:
    """One panel for each quantity, both scales logarithmic."""
    names = list(study.lines[0].errors)
    with style():
        figure = new_figure("screen", 3.6 / 10.5)
        figure.set_size_inches(3.2 * len(names) + 1.6, 3.6)
        for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
            _panel(axes, study, name)
        handles = figure.axes[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside right center", fontsize=8)
        titled(figure, f"{study.system.name}: errors against {study.against}")
        saved(figure, path)
    return figure


def _panel(axes: Axes, study: Convergence, name: str) -> None:
    axes.set_title(QUANTITIES[name])
    for k, line in enumerate(study.lines):
        real = line.errors[name] > 0
        label, h = repr(line.method), np.asarray(line.steps)
        axes.plot(h[real], line.errors[name][real], "o-", ms=3, color=COLOURS[k % len(COLOURS)], label=label)
        if real.any() and np.isfinite(line.orders[name]):
            end = int(np.argmax(np.where(real, h, 0.0)))
            place = (h[end], line.errors[name][end])
            axes.annotate(order_text(line.orders[name]), place, fontsize=7, xytext=(4, -3), textcoords="offset points")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(study.lines[0].steps, [f"{h:g}" for h in study.lines[0].steps], fontsize=7)
    axes.minorticks_off()
    axes.margins(x=0.15)
    axes.set_xlabel("$h$")
