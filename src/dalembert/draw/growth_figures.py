"""How a motion answers to changes: derivatives against time, and Lyapunov exponents as estimated up to each time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..analysis.motions.lyapunov import Lyapunov
from ..analysis.motions.sensitivity import Sensitivity
from ..errors import ModelError, told
from ..model.coordinates import time as TIME
from ..numbers import whole
from .figure_style import COLOURS, checked_width, legend, new_figure, panel, plain, saved, style, symbol_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TIMES = 120
"""Times at which exponents are estimated anew."""


def sensitivities(
    found: Sensitivity, path: str | Path | None = None, *, relative: bool = False, width: str = "screen", lane: int = 0
) -> Figure:
    """The derivatives of a `sensitivity` against time, a panel for each quantity and a curve for each variable.

    relative:  b de/db instead of de/db: by how much e changes per relative change of a parameter or a start
    """
    if not isinstance(found, Sensitivity):
        raise ModelError(f"sensitivities: got {told(found)}. Expected sensitivity(run, of, by).")
    sizes = found.sizes[lane] if relative else np.ones(len(found.by))
    with style(checked_width(width)):
        figure = new_figure(width, 0.5 * len(found.of) + 0.1)
        panels = np.atleast_1d(figure.subplots(len(found.of), sharex=True))
        for i, (axes, e) in enumerate(zip(panels, found.of, strict=True)):
            for k, b in enumerate(found.by):
                axes.plot(
                    found.run.time,
                    found.table[lane, :, i, k] * sizes[k],
                    color=COLOURS[k % len(COLOURS)],
                    label=symbol_text(b),
                )
            axes.set_ylabel(f"d({plain(str(e))})" if not hasattr(e, "name") else rf"$\mathrm{{d}}${symbol_text(e)}")
        panels[-1].set_xlabel(symbol_text(TIME))
        legend(panels[0])
        saved(figure, path)
    return figure


def exponents(found: Lyapunov, path: str | Path | None = None, *, lane: int = 0, width: str = "column") -> Figure:
    """The exponents of a `lyapunov` as estimated up to each time, the largest first, with a band of their errors.

    Time is drawn as a logarithm: exponents of a regular motion fall to zero like log(t)/t, those of a chaotic one settle.
    """
    if not isinstance(found, Lyapunov):
        raise ModelError(f"exponents: got {told(found)}. Expected lyapunov(run).")
    lanes = len(found.run.records)
    expected = f"give the number of a lane, from 0 to {lanes - 1}"
    if whole(lane, "exponents: lane", ModelError, expected=expected) >= lanes:
        raise ModelError(f"exponents: lane = {lane}: {expected}.")
    counts = np.unique(np.geomspace(2 * found.blocks, found.growth.shape[-2], TIMES).astype(int))
    parts = [found.up_to(int(count)) for count in counts]
    values = np.array([np.atleast_2d(p.exponents)[lane] for p in parts])
    errors = np.array([np.atleast_2d(p.error)[lane] for p in parts])
    times = found.run.h * found.run.every * counts

    def draw(axes: Axes) -> None:
        for k, (value, error) in enumerate(zip(values.T, errors.T, strict=True)):
            colour = COLOURS[k % len(COLOURS)]
            axes.fill_between(times, value - error, value + error, color=colour, alpha=0.2, lw=0)
            axes.plot(times, value, color=colour, label=rf"$\lambda_{{{k + 1}}}$")
        axes.set_xscale("log")
        axes.set_xlabel(f"{symbol_text(TIME)} since the start")
        axes.set_ylabel("exponents up to this time")
        legend(axes)

    which = "" if found.run.lanes is None else f", lane {lane} of {lanes}"
    return panel(draw, path, width, f"{found.run.system.name}{which}: Lyapunov exponents")
