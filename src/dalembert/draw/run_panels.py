"""Panels of the figures of a run: each function draws one kind of quantity into one pair of axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.motions.audit.found_integrals import found_integrals
from ..analysis.motions.balances import balance
from ..analysis.motions.deviations import relative, rounding, term_sizes
from ..errors import ModelError
from ..model import scene
from ..model.coordinates import time
from ..model.space import factors, groups
from ..model.system import System
from ..model.tangent_space import placed
from ..run.trajectory import Trajectory
from ..symbolic import fast
from ..theory.conserved.energy_and_momenta import Integral, cyclic_momenta, energy_integral
from ..theory.motion.energies import meaning
from . import force_figures
from .figure_style import COLOURS, counted, legend, plain, symbol_text
from .lane_curves import Look, against_time, broken, in_plane, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SECONDS = 3.0
"""For a search of first integrals."""

LONGEST = 60
"""Characters of a formula in a legend."""

Panel = Callable[[Trajectory, "Axes", Look], None]


def drawn(run: Trajectory) -> list[Any]:
    """The quantities drawn of a position: coordinates, for a rotation the third axis of the body in space.

    Of a group of which only the velocity matters the velocities are drawn.
    """
    return [quantity for f in factors(run.system.coordinates) for quantity in f.plotted]


def values(run: Trajectory, symbol: Any, look: Look) -> Any:
    """A quantity along the run, with gaps where a wrapped angle jumps."""
    found = run[symbol]
    return broken(wrapped(found)) if getattr(symbol, "name", "") in look.wrap else found


def _time_axis(axes: Axes, look: Look) -> None:
    axes.set_xlabel(symbol_text(time, look.units))


def _symbols(run: Trajectory, axes: Axes, look: Look, title: str, symbols: list[Any]) -> None:
    axes.set_title(counted(title, len(COLOURS), len(symbols)))
    for k, s in enumerate(symbols[: len(COLOURS)]):
        against_time(axes, run.time, values(run, s, look), look, symbol_text(s, look.units), k)
    _time_axis(axes, look)
    legend(axes)


def coordinates(run: Trajectory, axes: Axes, look: Look) -> None:
    """Coordinates against time."""
    _symbols(run, axes, look, "coordinates", drawn(run))


def velocities(run: Trajectory, axes: Axes, look: Look) -> None:
    """Velocities against time."""
    _symbols(run, axes, look, "velocities", [q.dot for q in run.system.coordinates])


def momenta(run: Trajectory, axes: Axes, look: Look) -> None:
    """Momenta against time."""
    _symbols(run, axes, look, "momenta", [q.momentum for q in run.system.coordinates])


def path(run: Trajectory, axes: Axes, look: Look) -> None:
    """The path in space of what leaves a trail; of x and y, if there are such coordinates, else of the first two."""
    trails = [i for i in getattr(run.system, "scene", ()) if isinstance(i, scene.Trail)]
    q = {c.name: c for c in drawn(run)}
    plane = [i.at for i in trails if len(i.at) == 2]
    if plane:
        axes.set_title("path")
        for k, at in enumerate(plane):
            in_plane(axes, run.quantity(at[0]), run.quantity(at[1]), look, k)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xlabel("$x$")
        axes.set_ylabel("$y$")
        return
    if len(q) == 1:
        (phase if placed(run.system.coordinates) else velocities)(run, axes, look)
        return
    names = list(q)
    turning = [R for R in groups(run.system.coordinates) if R.curves]
    tip = turning[0] if turning and len(run.system.coordinates) < 5 else None
    pair = ("x", "y") if {"x", "y"} <= set(names) else (names[0], names[1])
    pair = (tip.curves[0].name, tip.curves[1].name) if tip is not None and "x" not in names else pair
    across, along = q[pair[0]], q[pair[1]]
    axes.set_title("path")
    spans = [np.nanmax(run[c]) - np.nanmin(run[c]) for c in (across, along)]
    if (pair == ("x", "y") or tip is not None) and max(spans) < 6 * min(spans):
        axes.set_aspect("equal", adjustable="datalim")
    in_plane(axes, values(run, across, look), values(run, along, look), look)
    axes.set_xlabel(symbol_text(across, look.units))
    axes.set_ylabel(symbol_text(along, look.units))


def phase(run: Trajectory, axes: Axes, look: Look) -> None:
    """Position and momentum of the first coordinate, and of a second and third in other colours."""
    axes.set_title("phase portrait")
    q = placed(run.system.coordinates)[:3]
    if not q:
        raise ModelError(
            f"phase: {run.system.name!r} has velocities of a group and no positions. Draw run.plot('velocities') or "
            f"run.plot('momenta')."
        )
    for k, c in enumerate(q):
        in_plane(axes, values(run, c, look), run[c.momentum], look, 2 * k)
    axes.set_xlabel(", ".join(symbol_text(c, look.units) for c in q))
    axes.set_ylabel(", ".join(symbol_text(c.momentum, look.units) for c in q))


def energy(run: Trajectory, axes: Axes, look: Look) -> None:
    """The energy, less its value at the start; momenta of a discrete system, which has none."""
    if (system := run.system.continuous) is None:
        momenta(run, axes, look)
        return
    told = meaning(system)
    found = np.atleast_2d(run.energy if told.is_energy else run.jacobi_integral)
    axes.set_title(f"{told.name} minus its value at the start")
    against_time(axes, run.time, found - found[:, :1], look, k=1)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
    _time_axis(axes, look)


def invariants(run: Trajectory, axes: Axes, look: Look) -> None:
    """How far each conserved quantity is from its start, relative to its terms; dashed, the bound of what is kept exactly."""
    system = _stated(run, "invariants")
    axes.set_title("relative deviations")
    promised = run.method is not None and run.method.momentum
    for k, i in enumerate(_conserved(system)):
        found = np.atleast_2d(run.quantity(i.expression))
        size, constant = term_sizes(run, fast(i.expression))
        error = np.stack([np.abs(relative(v - v[0], s)) for v, s in zip(found, np.atleast_2d(size), strict=True)])
        against_time(axes, run.time, np.where(error > 0, error, np.nan), look, plain(i.name), k)
        if promised and k == 0:
            bound = rounding(run, len(run.time), np.atleast_2d(size)[0], np.atleast_2d(constant)[0])
            axes.axhline(bound, linestyle="--", linewidth=0.8, color="0.4")
    axes.set_yscale("log")
    _time_axis(axes, look)
    legend(axes)


def _conserved(system: System) -> list[Integral]:
    """What the theory conserves: energy, momenta, and what a short search finds besides."""
    found = {i.name: i for i in (energy_integral(system), *cyclic_momenta(system))}
    found |= {i.name: i for i in found_integrals(system, SECONDS).integrals}
    return [i for i in found.values() if i.conserved]


def constraints(run: Trajectory, axes: Axes, look: Look) -> None:
    """How far constraints are from zero."""
    system = _stated(run, "constraints")
    if not system.constraints:
        raise ModelError(f"plot: {system.name!r} has no constraints. Leave out 'constraints'.")
    axes.set_title("constraints, distance from zero")
    for k, c in enumerate(system.constraints):
        off = np.abs(run.quantity(c.expression))
        against_time(axes, run.time, np.where(off > 0, off, np.nan), look, f"${_latex(c.expression)}$", k)
    axes.set_yscale("log")
    _time_axis(axes, look)
    legend(axes)


def multipliers(run: Trajectory, axes: Axes, look: Look) -> None:
    """The multipliers, one for each constraint."""
    if not run.system.constraints:
        raise ModelError(f"plot: {run.system.name!r} has no constraints, and so no multipliers.")
    system = run.system.continuous
    carried = system is not None and system.principle.carried(system)
    title = "multipliers" if carried else "multipliers (reactions)"
    axes.set_title(counted(title, len(COLOURS), len(run.system.constraints)))
    for a in range(min(len(run.system.constraints), len(COLOURS))):
        against_time(axes, run.time, run.multipliers[..., a], look, rf"$\lambda_{{{a + 1}}}$", a)
    _time_axis(axes, look)
    legend(axes)


def temperatures(run: Trajectory, axes: Axes, look: Look) -> None:
    """The temperatures; of a discrete system, which has none, the entropies."""
    _need_entropies(run)
    if run.system.continuous is None:
        entropies(run, axes, look)
        return
    axes.set_title(counted("temperatures", len(COLOURS), len(run.system.entropies)))
    for k, S in enumerate(run.system.entropies[: len(COLOURS)]):
        against_time(axes, run.time, run.temperatures[..., k], look, f"$T_{{{S.name}}}$", k)
    _time_axis(axes, look)
    legend(axes)


def entropies(run: Trajectory, axes: Axes, look: Look) -> None:
    """The entropies."""
    _need_entropies(run)
    _symbols(run, axes, look, "entropies", list(run.system.entropies))


def laws(run: Trajectory, axes: Axes, look: Look) -> None:
    """Both laws: the defect of the first, and the entropy produced in every interval."""
    _need_entropies(run)
    found, middle = balance(run.at_nodes), (run.at_nodes.time[1:] + run.at_nodes.time[:-1]) / 2
    axes.set_title("the two laws")
    against_time(axes, middle, found.defect, look, "change of energy - work - heat", 0)
    against_time(axes, middle, found.production, look, "entropy produced", 1)
    _time_axis(axes, look)
    legend(axes)


def fourth(run: Trajectory, axes: Axes, look: Look) -> None:
    """What else there is: temperatures, multipliers, or velocities."""
    chosen = temperatures if run.system.entropies else multipliers if run.system.constraints else velocities
    chosen(run, axes, look)


def of_expression(expression: Any) -> Panel:
    """Any expression against time."""

    def one(run: Trajectory, axes: Axes, look: Look) -> None:
        known = run[expression] if getattr(expression, "is_Symbol", False) else run.quantity(expression)
        name = getattr(expression, "name", "")
        found = broken(wrapped(known)) if name in look.wrap else known
        against_time(axes, run.time, found, look)
        axes.set_ylabel(symbol_text(expression, look.units))
        _time_axis(axes, look)

    return one


PANELS: dict[str, Panel] = {
    "coordinates": coordinates, "velocities": velocities, "momenta": momenta, "path": path, "phase": phase,
    "energy": energy, "invariants": invariants, "constraints": constraints, "multipliers": multipliers,
    "reactions": force_figures.reactions, "power": force_figures.power, "work": force_figures.work,
    "temperatures": temperatures, "entropies": entropies, "laws": laws,
}  # fmt: skip
"""What `run.plot` draws by name."""


def _stated(run: Trajectory, what: str) -> Any:
    if (system := run.system.continuous) is None:
        raise ModelError(f"plot: {what!r} needs a System; {run.system.name!r} is given by its discrete Lagrangian.")
    return system


def _need_entropies(run: Trajectory) -> None:
    if not run.system.entropies:
        raise ModelError(f"plot: {run.system.name!r} has no entropies. Choose another of {', '.join(PANELS)}.")


def _latex(expression: Any) -> str:
    import sympy

    text = sympy.latex(expression)
    return text if len(text) <= LONGEST else r"\ldots"
