"""A figure of a run: path, coordinates, energy, and a fourth quantity."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import StartError, told
from ..model.group import Group
from ..model.space import factors, groups
from ..model.system import System
from ..run.extent import has_steps, shortfall, span, stopped_by
from ..run.trajectory import Trajectory
from ..theory.motion.energies import meaning

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#1b4f72", "#c0392b", "#1e8449", "#b9770e", "#6c3483", "#117a65", "#7b241c", "#34495e")
SHOWN = 25
"""Largest number of lanes drawn; more would be illegible."""


def plot(run: Trajectory, path: str | Path | None = None) -> Figure:
    """Four panels: the path, the coordinates, the energy, and temperatures, multipliers or velocities.

    A run that ended early is drawn as far as it was computed, and the title gives the reason; without steps, only text.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style: Any = {
        "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10,
        "axes.titlelocation": "left", "axes.grid": True, "grid.alpha": 0.25, "lines.linewidth": 1.1,
        "legend.frameon": False, "axes.formatter.useoffset": False, "mathtext.fontset": "cm",
    }  # fmt: skip
    target = None if path is None else checked_target(path)
    with rc_context(style):
        figure = Figure(figsize=(10.5, 7), layout="constrained")
        FigureCanvasAgg(figure)
        if has_steps(run):
            panels = figure.subplots(2, 2)
            _path(run, panels[0, 0])
            _coordinates(run, panels[0, 1])
            _energy(run, panels[1, 0])
            _fourth(run, panels[1, 1])
        else:
            figure.text(0.5, 0.5, _without_steps(run), ha="center", va="center", fontsize=11)
        figure.suptitle(_title(run), x=0.01, ha="left", fontsize=11)
        if target is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(target, dpi=140)
    return figure


def checked_target(path: str | Path) -> Path:
    """The path of a picture; an error if the format of its name is not supported."""
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    try:
        target = Path(os.path.expanduser(path))
    except TypeError:
        raise StartError(f"plot: got {told(path)}. Expected the path of a picture: 'motion.png'.") from None
    if target.suffix.lower().lstrip(".") not in known:
        raise StartError(f"plot: {target} has no known suffix. Known are {', '.join(f'.{k}' for k in sorted(known))}.")
    return target


def _title(run: Trajectory) -> str:
    method = "" if run.method is None else f", {run.method!r}"
    title = f"{run.system.name}{method}, h = {run.h:g}".replace("$", r"\$")
    if run.lanes is not None:
        title += f", {run.lanes} lanes" + (f", of which {SHOWN} are drawn" if run.lanes > SHOWN else "")
    ended = shortfall(run) if has_steps(run) else ""
    if not ended and stopped_by(run):
        ended = span(run)
    return f"{title}\n{fill(ended, 110)}" if ended else title


def _without_steps(run: Trajectory) -> str:
    """The text in place of curves: why there are none, and where the run begins."""
    done = int((run.codes[:, 1] - run.begin).max())
    alone = (
        f"{done} steps were computed, and every={run.every} records none of them" if done else "no steps were asked for"
    )
    why = shortfall(run) or f"one record, at t = {run.time[0]:g}: {alone}"
    first = [f"{q} = {np.atleast_2d(run[q])[0, 0]:.6g}" for q in _drawn(run)[: len(COLOURS)]]
    lane = "" if run.lanes is None else " of lane 0"
    return fill(f"There is nothing to draw: {why}.", 90) + f"\n\nStart{lane}: {', '.join(first)}"


def _drawn(run: Trajectory) -> list[Any]:
    """The quantities drawn of a position: coordinates, and for a rotation the third axis of the body in space."""
    found: list[Any] = []
    for f in factors(run.system.coordinates):
        found += f.curves if isinstance(f, Group) else [f.coordinate]
    return found


def _latex(symbol: Any) -> str:
    import sympy

    return f"${sympy.latex(symbol)}$"


def _curves(axes: Axes, x: Any, y: Any, label: str | None = None, colour: str = COLOURS[0], **kw: Any) -> None:
    """One curve, or one per lane."""
    xs, ys = np.atleast_2d(x), np.atleast_2d(y)
    faint = 1.0 if len(ys) == 1 else 0.45
    for k in range(min(len(ys), SHOWN)):
        axes.plot(xs[k % len(xs)], ys[k], color=colour, alpha=faint, label=label if k == 0 else None, **kw)


def _path(run: Trajectory, axes: Axes) -> None:
    """The path in the plane of x and y if there are such coordinates, else of the first two; one: the phase portrait."""
    q = {c.name: c for c in _drawn(run)}
    names = list(q)
    if len(names) == 1:
        across, along = q[names[0]], q[names[0]].momentum
        axes.set_title("phase portrait")
    else:
        tip = next((R for R in groups(run.system.coordinates) if len(run.system.coordinates) < 5), None)
        pair = ("x", "y") if {"x", "y"} <= set(names) else (names[0], names[1])
        pair = (tip.curves[0].name, tip.curves[1].name) if tip is not None and "x" not in names else pair
        across, along = q[pair[0]], q[pair[1]]
        axes.set_title("path")
        spans = [np.nanmax(run[c]) - np.nanmin(run[c]) for c in (across, along)]
        if (pair == ("x", "y") or tip is not None) and max(spans) < 6 * min(spans):
            axes.set_aspect("equal", adjustable="datalim")
    _curves(axes, run[across], run[along])
    axes.plot(np.atleast_2d(run[across])[:, 0], np.atleast_2d(run[along])[:, 0], "o", ms=4, color=COLOURS[1])
    axes.set_xlabel(_latex(across))
    axes.set_ylabel(_latex(along))


def _legend(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(COLOURS), fontsize=8, borderaxespad=0.2)


def _coordinates(run: Trajectory, axes: Axes) -> None:
    axes.set_title("coordinates")
    for k, q in enumerate(_drawn(run)[: len(COLOURS)]):
        _curves(axes, run.time, run[q], _latex(q), COLOURS[k])
    axes.set_xlabel("$t$")
    _legend(axes)


def _energy(run: Trajectory, axes: Axes) -> None:
    axes.set_xlabel("$t$")
    if not isinstance(run.system, System):
        axes.set_title("momenta")
        for k, q in enumerate(run.system.coordinates[: len(COLOURS)]):
            _curves(axes, run.time, run[q.momentum], _latex(q.momentum), COLOURS[k])
        _legend(axes)
        return
    told = meaning(run.system)
    energy = np.atleast_2d(run.energy if told.is_energy else run.jacobi_integral)
    axes.set_title(f"{told.name} minus its value at the start")
    _curves(axes, run.time, energy - energy[:, :1], colour=COLOURS[1])
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))


def _warmth(run: Trajectory, axes: Axes) -> None:
    """The temperatures; of a discrete system, which has none, the entropies."""
    known = isinstance(run.system, System)
    axes.set_title("temperatures" if known else "entropies")
    for k, S in enumerate(run.system.entropies[: len(COLOURS)]):
        values = run.temperatures[..., k] if known else run[S]
        _curves(axes, run.time, values, f"$T_{{{S.name}}}$" if known else _latex(S), COLOURS[k])


def _fourth(run: Trajectory, axes: Axes) -> None:
    axes.set_xlabel("$t$")
    if run.system.entropies:
        _warmth(run, axes)
    elif run.system.constraints:
        carried = isinstance(run.system, System) and run.system.principle.carried(run.system)
        axes.set_title("multipliers" if carried else "multipliers (reactions)")
        for a in range(min(len(run.system.constraints), len(COLOURS))):
            _curves(axes, run.time, run.multipliers[..., a], rf"$\lambda_{{{a + 1}}}$", COLOURS[a])
    else:
        axes.set_title("velocities")
        for k, q in enumerate(run.system.coordinates[: len(COLOURS)]):
            _curves(axes, run.time, run[q.dot], _latex(q.dot), COLOURS[k])
    _legend(axes)
