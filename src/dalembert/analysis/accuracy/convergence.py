"""How fast methods converge: errors of positions, momenta, entropies and energy for several steps, and fitted orders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...display import Part, Shown, Table
from ...errors import MethodError, ModelError, SimulationError, StartError, told
from ...methods.base import Method
from ...methods.reference import Reference
from ...model.coordinates import time
from ...model.space import differences, factors, groups, no_carried_axes, numbers
from ...model.system import System
from ...numbers import finite, reals
from ...run.options import UNTIL
from ...run.plan import check_method
from ...run.simulate import simulate
from ...run.trajectory import Trajectory
from ...run.values import Array, Values, point_map
from ...theory.motion import state_maps as maps
from ...theory.motion.energies import energy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUANTITIES = {"q": "positions", "p": "momenta", "S": "entropies", "E": "energy"}
ROUNDING = 1e-14
"""Errors below this, relative to the size of the quantity and times the root of the number of steps, are rounding."""

Solution = Callable[[Array], Mapping[Any, Any]]


@dataclass(frozen=True, eq=False, repr=False)
class Line(Shown):
    """The errors of one method: for each of "q", "p", "S", "E" the largest over the run, one entry per step size.

    orders:  the slope of log error over log h; NaN where fewer than two errors are larger than rounding
    """

    method: Method
    steps: tuple[float, ...]
    errors: Mapping[str, Array]
    orders: Mapping[str, float]

    def _parts(self) -> list[Part]:
        return [repr(self.method), _table([self])]


@dataclass(frozen=True, eq=False, repr=False)
class Convergence(Shown):
    """A study of convergence: one line per method; `study[method]` is one of them. `plot` draws it."""

    system: System
    lines: tuple[Line, ...]
    against: str
    """The solution that errors are measured against."""

    def __getitem__(self, method: Method) -> Line:
        for line in self.lines:
            if line.method == method:
                return line
        raise KeyError(f"{method!r}: this study has {', '.join(repr(line.method) for line in self.lines)}.")

    def _parts(self) -> list[Part]:
        title = f"{self.system.name}: largest errors against {self.against}, and the orders fitted to them"
        return [title, _table(self.lines)]

    def plot(self, path: str | Path | None = None) -> Figure:
        """Errors over the step, one panel for each quantity, both scales logarithmic; saved if a path is given."""
        from ...draw.convergence_figure import convergence_figure

        return convergence_figure(self, path)


def _table(lines: Sequence[Line]) -> Table:
    names = list(lines[0].errors)
    head = ("method", "claims", "h", *(f"error of {name}" for name in names))
    rows: list[tuple[str, ...]] = []
    for line in lines:
        for k, h in enumerate(line.steps):
            first = (repr(line.method), str(line.method.order)) if k == 0 else ("", "")
            rows.append((*first, f"{h:g}", *(f"{line.errors[name][k]:.3e}" for name in names)))
        rows.append(("", "", "order", *(order_text(line.orders[name]) for name in names)))
    return Table(head, rows)


def order_text(order: float) -> str:
    return f"{order:.2f}" if np.isfinite(order) else "-"


def convergence(
    system: System,
    methods: Method | Sequence[Method],
    hs: Sequence[float],
    *,
    start: Values,
    until: float,
    parameters: Values | None = None,
    exact: Solution | None = None,
    rtol: float = 1e-13,
) -> Convergence:
    """Run every method with every step of `hs`, and fit the orders of convergence.

    start, parameters, until:  as in `simulate`, for one motion. Every step divides the time of the motion, since errors of
            motions that end at different times are not compared
    exact:  the exact solution, a function of an array of times that gives {x: values, S: values, ...}; with x.dot for every
            coordinate also momenta and energy are compared. Without it a reference solution is computed.
    rtol:   tolerance of that reference solution, relative to each component of the motion

    An error is the largest difference at any node, of any coordinate (momentum, entropy); E is the total energy. On a group
    the difference of two points is the displacement from one to the other; an exact solution gives {R: matrices, R.omega:
    vectors, ...}.
    """
    listed, hs = _checked_methods(system, methods), _checked_steps(hs, _duration(start, until))
    solution = exact or _reference(system, start, parameters, rtol)
    floor = 0.0 if exact else 20 * rtol  # between its steps the reference is interpolated
    lines = tuple(_line(system, method, hs, start, until, parameters, solution, floor) for method in listed)
    return Convergence(system, lines, "the exact solution" if exact else f"a reference solution (tolerance {rtol:g})")


def _checked_methods(system: Any, methods: Any) -> list[Method]:
    if not isinstance(system, System):
        raise ModelError(
            f"convergence: got {told(system)}. Expected a System; a discrete system has a step of its own."
        )
    no_carried_axes(system, "convergence")
    listed = list(methods) if isinstance(methods, Iterable) and not isinstance(methods, str) else [methods]
    for method in listed:
        if isinstance(method, type) and issubclass(method, Method):
            name = method.__name__
            raise MethodError(
                f"convergence: {name} is a class; it is not a method yet. Write {name}(), with parentheses."
            )
        if not isinstance(method, Method):
            raise MethodError(f"convergence: {method!r} is not a method. Write methods=[Midpoint(), ...].")
        if method.adaptive:
            raise MethodError(f"convergence: {method!r} {method.steps_told}: h is not their length.")
        check_method(system, method)
    if not listed:
        raise MethodError("convergence: no methods were given. Write methods=[Midpoint(), ...].")
    return listed


def _duration(start: Any, until: Any) -> float:
    """The time from the start to the end."""
    given = start.items() if isinstance(start, Mapping) else ()
    begin = next((value for key, value in given if getattr(key, "name", key) == time.name), 0.0)
    return finite(until, "until", MethodError, UNTIL) - finite(begin, "start: time", StartError)


def different_steps(hs: Any, role: str, name: str) -> tuple[float, ...]:
    """Two or more different steps, in the order in which they are given."""
    given = reals(hs, f"{role}: {name}", MethodError, f"Give two or more different steps, {name}=[0.1, 0.05, 0.025].")
    steps = tuple(given.tolist()) if given.ndim == 1 else ()
    if len(steps) < 2 or len(set(steps)) != len(steps) or not all(0 < h < float("inf") for h in steps):
        raise MethodError(
            f"{role}: {name} = {told(hs)}. Expected two or more different steps, such as {name}=[0.1, 0.05, 0.025]."
        )
    return steps


def _checked_steps(hs: Any, duration: float) -> tuple[float, ...]:
    """Different steps, each of which divides the time of the motion."""
    steps = different_steps(hs, "convergence", "hs")
    if duration <= 0:
        raise MethodError(f"convergence: the motion lasts {duration:g}. Give a time until= after the start.")
    counts = [max(1, round(duration / h)) if np.isfinite(duration) else 1 for h in steps]
    if any(abs(n * h - duration) > 1e-9 * abs(duration) for n, h in zip(counts, steps, strict=True)):
        nearest = ", ".join(f"{duration / n:.10g}" for n in counts)
        raise MethodError(
            f"convergence: hs = {hs!r} do not all divide the time {duration:g} from the start to until, so the motions would "
            f"end at different times. Change until, or the steps to hs=[{nearest}]."
        )
    return steps


def _reference(system: System, start: Values, parameters: Values | None, rtol: float) -> Solution:
    """The motion by an adaptive method, at any equidistant times."""

    def solution(times: Array) -> dict[Any, Array]:
        method, h = Reference(rtol=rtol), float(times[1] - times[0])
        run = simulate(system, method, h=h, steps=len(times) - 1, start=start, parameters=parameters, progress=False)
        others = (*system.velocities, *system.entropies, *system.principle.carried(system))
        places = {f.name: run[f.name] for f in factors(system.coordinates) if f.numbers}
        return places | {s: run[s] for s in others}

    return solution


def _line(
    system: System, method: Method, hs: Sequence[float], start: Values, until: float, parameters: Values | None,
    solution: Solution, floor: float,
) -> Line:  # fmt: skip
    found: list[dict[str, tuple[float, float]]] = []
    for h in hs:
        try:
            run = simulate(
                system, method, h=float(h), until=until, start=start, parameters=parameters, progress=False
            )  # fmt: skip
        except SimulationError as error:
            raise SimulationError(
                f"convergence: {method!r} with h = {h:g} did not reach t = {until:g}: {error} Leave out the longest steps.",
                error.trajectory,
            ) from None
        if run.lanes is not None:
            raise ModelError("convergence: start and parameters are numbers here, one motion; arrays make lanes.")
        found.append(_errors(run, solution(run.time)))
    errors = {name: np.array([f[name][0] for f in found]) for name in found[0]}
    count = np.sqrt(np.maximum(1.0, abs(until) / np.asarray(hs, float)))
    floors = {name: np.array([f[name][1] for f in found]) * np.maximum(floor, ROUNDING * count) for name in found[0]}
    orders = {name: fitted_order(hs, e, floors[name]) for name, e in errors.items()}
    return Line(method, tuple(float(h) for h in hs), errors, orders)


def fitted_order(hs: Sequence[float], errors: Array, floor: Array | float = 0.0) -> float:
    """The slope of log error over log h, by least squares, through the errors above the floor; NaN if there are not two."""
    use = np.isfinite(errors) & (errors > np.maximum(floor, 0.0))
    if use.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.log(np.asarray(hs, float)[use]), np.log(errors[use]), 1)[0])


def _errors(run: Trajectory, known: Mapping[Any, Any]) -> dict[str, tuple[float, float]]:
    """For each quantity of the known solution: its largest error, and its size."""
    system = run.system
    assert isinstance(system, System)
    q, S = system.coordinates, [s.name for s in system.entropies]
    values = _by_number(system, known, len(run.time))
    expected = [*numbers(q), *S]
    if any(name not in values for name in expected):
        wanted = [
            *(f.name for f in factors(q) if not set(f.numbers) <= set(values)),
            *(n for n in S if n not in values),
        ]
        raise ModelError(
            f"convergence: the exact solution gives no {', '.join(wanted)}. Return {{x: values, ...}} for all coordinates "
            f"and entropies, and x.dot for the velocities."
        )
    places = np.stack([values[name] for name in numbers(q)], axis=-1) if numbers(q) else np.zeros((len(run.time), 0))
    tables = {"q": (differences(q, places, run.table("position")[0]), places)} if numbers(q) else {}
    speeds = [c.dot.name for c in q]
    if all(name in values for name in speeds):
        held = [values.get(m.name, 0 * run.time) for m in system.principle.carried(system)]  # p and E are without them
        points = np.column_stack([places, *(values[name] for name in (*speeds, *S)), *held, run.time])
        rows = run.parameter_rows
        p = point_map(maps.momentum_map(system))(points, rows)[0]
        E = point_map(maps.quantity_map(system, {"quantity": energy(system)}))(points, rows)[0][:, 0]
        tables["p"] = (run.table("momentum")[0] - p, p)
        tables["E"] = (run.energy - E, E)
    if S:
        heat = np.column_stack([values[name] for name in S])
        tables["S"] = (run.table("entropy")[0] - heat, heat)
    found = {name: tables[name] for name in QUANTITIES if name in tables}
    return {name: (float(np.abs(off).max()), float(np.abs(size).max())) for name, (off, size) in found.items()}


def _by_number(system: System, known: Mapping[Any, Any], count: int) -> dict[str, Array]:
    """A known solution by the names of the numbers of the state: of groups from matrices and vectors of components."""
    values = {getattr(k, "name", k): np.asarray(v, float) for k, v in known.items()}
    for g in groups(system.coordinates):
        if g.name in values:
            matrices = np.broadcast_to(values.pop(g.name), (count, g.size, g.size))
            held = g.read(matrices, "convergence: the exact solution", "time")
            values |= dict(zip(g.numbers, np.moveaxis(held, -1, 0), strict=True))
        for vector in g.vectors:
            if vector.name in values:
                parts = np.broadcast_to(values.pop(vector.name), (count, len(vector)))
                values |= {s.name: parts[:, k] for k, s in enumerate(vector)}
    return {name: np.broadcast_to(v, count) for name, v in values.items()}
