"""The phase plane of one degree of freedom, and the places where motions cross a section."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.motions.poincare import Section
from ..errors import ModelError, StartError, told
from ..model.space import lines_only
from ..model.system import System
from ..numbers import name_of, reals
from ..run.trajectory import Trajectory
from ..run.values import parameter_values, point_map
from ..theory.motion import state_maps as maps
from .figure_style import COLOURS, MANY, panel, symbol_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELLS = 60
"""Places along each side of the phase plane at which the flow is computed."""


def phase_portrait(
    system: System, position: Any, velocity: Any, path: str | Path | None = None, *, parameters: Any = None,
    runs: Any = (), time: float = 0.0, units: Mapping[Any, str] | None = None, width: str = "column",
) -> Figure:  # fmt: skip
    """The flow of a system of one degree of freedom in the plane of position and velocity, and motions in it.

    position, velocity:  the ends of the axes, such as (-pi, pi) and (-3, 3)
    runs:                motions to draw, one or several
    time:                when the flow is drawn, if the system depends on time
    """
    if not isinstance(system, System):
        raise ModelError(f"phase_portrait: got {told(system)}. Expected a System.")
    lines_only(system, "phase_portrait")
    if len(system.coordinates) != 1 or system.entropies or system.principle.carried(system):
        raise ModelError(
            f"phase_portrait: {system.name!r} has {len(system.coordinates)} coordinates"
            f"{' and entropies' if system.entropies else ''}. A plane shows one degree of freedom: draw a run with "
            f"run.plot('phase'), or a section with plots.crossings(run)."
        )
    (q,) = system.coordinates
    x, y = _ends(position, "position"), _ends(velocity, "velocity")
    rows = _row(system, parameters)
    Q, V = np.meshgrid(np.linspace(*x, CELLS), np.linspace(*y, CELLS))
    inputs = np.column_stack([Q.ravel(), V.ravel(), np.full(Q.size, float(time))])
    motion = maps.motion_map(system)
    A = point_map(motion)(inputs, rows)[0][:, motion.columns([q.ddot])].reshape(Q.shape)
    named = {name_of(k): v for k, v in (units or {}).items()}
    several = (runs,) if isinstance(runs, Trajectory) else tuple(runs)

    def draw(axes: Axes) -> None:
        axes.streamplot(Q, V, V, np.nan_to_num(A), color="0.6", linewidth=0.6, arrowsize=0.6, density=1.2)
        for k, run in enumerate(several):
            for a, b in zip(np.atleast_2d(run[q]), np.atleast_2d(run[q.dot]), strict=True):
                axes.plot(a, b, color=COLOURS[k % len(COLOURS)])
        axes.set_xlim(x)
        axes.set_ylim(y)
        axes.set_xlabel(symbol_text(q, named))
        axes.set_ylabel(symbol_text(q.dot, named))

    return panel(draw, path, width, system.name)


def crossings(
    run: Trajectory | Section, x: Any, y: Any, path: str | Path | None = None, *, event: str | None = None,
    width: str = "column",
) -> Figure:  # fmt: skip
    """Where motions crossed a section, in two expressions; a section of `poincare`, or a run with events.

    event:  the name of the event of a run; by default all of them. Of events, x and y are coordinates or velocities.
    """
    if isinstance(run, Section):
        return _points(run, run.lane, run[x], run[y], (x, y), path, width)
    if not isinstance(run, Trajectory):
        raise ModelError(f"crossings: got {told(run)}. Expected poincare(run, section), or a run with events.")
    found = [c for c in run.events if event is None or c.name == event]
    if not found:
        has = ", ".join(sorted({c.name for c in run.events})) or "no crossing of any event"
        raise ModelError(
            f"crossings: this run has {has}. Simulate it with events=[Event(y, name='section')], whose crossings are drawn, "
            f"or give poincare(run, y)."
        )
    points = [{**c.positions, **{f"{name}.dot": v for name, v in c.velocities.items()}} for c in found]
    names = [name_of(s) for s in (x, y)]
    for name in names:
        if name not in points[0]:
            raise ModelError(f"crossings: {told(name)} is not among {', '.join(points[0])}.")
    first, second = (np.array([p[n] for p in points]) for n in names)
    return _points(run, np.array([c.lane for c in found]), first, second, (x, y), path, width)


def _points(
    found: Any, lane: Any, first: Any, second: Any, named: tuple[Any, Any], path: str | Path | None, width: str
) -> Figure:
    """One point for each crossing, in the colour of its lane."""
    many = len(first) > MANY
    size = float(np.clip(40 / np.sqrt(max(len(first), 1)), 1, 4))

    def draw(axes: Axes) -> None:
        for k in np.unique(lane):
            here, colour = lane == k, COLOURS[k % len(COLOURS)]
            axes.plot(first[here], second[here], ".", ms=size, mew=0, color=colour, rasterized=many)
        axes.set_xlabel(symbol_text(named[0]))
        axes.set_ylabel(symbol_text(named[1]))

    system = found.run.system if isinstance(found, Section) else found.system
    return panel(draw, path, width, f"{system.name}: {len(first)} crossings")


def _ends(given: Any, what: str) -> tuple[float, float]:
    a, b = (float(v) for v in reals(given, f"phase_portrait: {what}", ModelError).ravel()[:2])
    if not a < b:
        raise ModelError(f"phase_portrait: {what} = {told(given)}. Expected two numbers, the smaller one first.")
    return a, b


def _row(system: System, parameters: Any) -> Any:
    values = parameter_values(parameters, list(system.parameters))
    if any(np.ndim(v) for v in values.values()):
        raise StartError("phase_portrait: a parameter is an array. Give one number each.")
    return np.array([[float(values[p.name]) for p in system.parameters]])
