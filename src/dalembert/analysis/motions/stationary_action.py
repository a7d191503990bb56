"""Hamilton's principle, checked on a computed motion: the action is stationary along it.

The action is discretised by the midpoint rule on the recorded positions, S = sum of h L((q_k + q_k+1)/2, (q_k+1 - q_k)/h),
and forces by their virtual work. Along a motion its derivative by every inner position, per unit of time, goes to zero
like the square of the spacing; along any other path it goes to d/dt dL/dv - dL/dq - F, which is not zero.

Under constraints only displacements count that the one-forms allow, omega(dq) = 0 (the generalised principle): the path is
compared with neighbours that need not satisfy the constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ...decide.zero import vanishes
from ...discrete.equations import momentum_minus, momentum_plus
from ...discrete.maps import midpoint_map
from ...discrete.system import discretise
from ...display import Part, Shown, Table
from ...engine.machine import PointMap
from ...errors import ModelError, StartError
from ...model.coordinates import Coordinate, time
from ...model.heat import mechanical
from ...model.system import System
from ...numbers import positive, reals
from ...numbers import whole as count
from ...run.trajectory import Trajectory
from ...run.values import Array, Values, columns, parameter_values, point_map
from ...theory.motion import state_maps as maps
from ...waist.layout import Groups
from ...waist.stepmap import pointwise

SMALL = 1e-9
"""A derivative of the action below this, relative to its terms, counts as zero."""


@dataclass(frozen=True, eq=False)
class Path:
    """Positions at equal distances in time, one row each, and the system and numbers they belong to."""

    system: System
    times: Array
    positions: Array
    row: Array

    def every(self, stride: int) -> Path:
        """The same path with fewer records."""
        return Path(self.system, self.times[::stride], self.positions[::stride], self.row)

    @property
    def h(self) -> float:
        """The spacing of the records."""
        return float(self.times[1] - self.times[0])

    @cached_property
    def momenta(self) -> tuple[Array, Array]:
        """At the beginning and at the end of every interval: minus D1, and D2, of the discretised action, forces included."""
        points = np.column_stack([self.positions[:-1], self.positions[1:], self.times[:-1]])
        compiled, groups = _momentum_map(self.system)
        begin, end = groups.split(compiled(points, self.row, h=self.h)[0], "begin", "end")
        return begin, end

    def gradient(self) -> Array:
        """The derivative of the action by every inner position, per unit of time, with the virtual work of forces."""
        begin, end = self.momenta
        return (end[:-1] - begin[1:]) / self.h

    @cached_property
    def sizes(self) -> Array:
        """The size of the terms of the derivative along each coordinate, on the whole path; one where there are none."""
        begin, _ = self.momenta
        found = np.abs(begin).max(axis=0) / (self.times[-1] - self.times[0])
        found = found + np.abs(np.diff(begin, axis=0) / self.h).max(axis=0)
        return np.where(found > 0, found, 1.0)

    def projectors(self) -> Array:
        """At every record the projection of displacements onto the kernel of the one-forms.

        Displacements are in units that do equal work along all coordinates, so the units of these do not matter.
        """
        n, m = len(self.system.coordinates), len(self.system.variations)
        unit = np.broadcast_to(np.eye(n), (len(self.times), n, n))
        if not m:
            return unit
        velocity = np.gradient(self.positions, self.times, axis=0)
        forms = {f"{a}.{i}": e for a, w in enumerate(self.system.variations) for i, e in enumerate(w)}
        compiled = point_map(maps.quantity_map(self.system, forms))
        rows = compiled(np.column_stack([self.positions, velocity, self.times]), self.row)[0].reshape(-1, m, n)
        rows = rows / self.sizes
        largest = np.abs(rows).max(axis=-1, keepdims=True)
        rows = rows / np.where(largest > 0, largest, 1.0)
        return unit - np.linalg.pinv(rows) @ rows


@lru_cache(maxsize=16)
def _momentum_map(system: System) -> tuple[PointMap, Groups]:
    """(q0, q1, t) -> the momenta of the discretised action at both ends of an interval."""
    q, discrete = system.coordinates, discretise(system, midpoint_map)
    inputs = [*(c.at(0).name for c in q), *(c.at(1).name for c in q), time.name]
    groups, names = (
        Groups(begin=momentum_minus(discrete), end=momentum_plus(discrete)),
        [p.name for p in system.parameters],
    )
    return PointMap(pointwise(f"{system.name}, action", inputs, names, groups.outputs)), groups


def path_of(given: Any, system: System | None, parameters: Values | None) -> Path:
    """A path from a run, or from {x: array, ..., dalembert.time: array} with its system and parameters."""
    if isinstance(given, Trajectory):
        if given.lanes is not None:
            raise StartError("hamilton_principle: the run has lanes. Give a run of one motion.")
        if not isinstance(given.system, System):
            raise ModelError(
                "hamilton_principle: a discrete system has an action sum of its own; give a run of a System."
            )
        system, parameters = system or given.system, given.parameters if parameters is None else parameters
        given.needs_equal_steps("hamilton_principle")
        given = given.at_nodes
    elif not isinstance(given, Mapping) or system is None:
        raise StartError(
            "hamilton_principle: expected a run, or a path {x: array, ..., dalembert.time: array} with system=... and "
            "parameters=...."
        )
    mechanical(system, "hamilton_principle")
    source: Any = given if isinstance(given, Trajectory) else {getattr(k, "name", k): v for k, v in given.items()}
    try:
        times = reals(source[time.name], "path: time")
        columns_of = [reals(source[q.name], f"path: {q.name}") for q in system.coordinates]
    except KeyError as missing:
        raise StartError(f"hamilton_principle: the path has no values for {missing}.") from None
    if times.ndim != 1 or any(c.shape != times.shape for c in columns_of):
        shapes = ", ".join(str(c.shape) for c in (times, *columns_of))
        raise StartError(f"hamilton_principle: the path has arrays of shapes {shapes}. Give one number for each time.")
    positions, steps = np.column_stack(columns_of), np.diff(times)
    if len(times) < 17 or not np.allclose(steps, steps[0], rtol=1e-6, atol=0) or not np.isfinite(positions).all():
        raise StartError(
            f"hamilton_principle: got {len(times)} records. Expected at least 17, all finite, at equal distances in time."
        )
    known = {p.name for p in system.parameters}
    values = parameter_values(
        {k: v for k, v in (parameters or {}).items() if getattr(k, "name", k) in known}, system.parameters
    )
    return Path(system, times, positions, columns(values, [p.name for p in system.parameters], None))


@dataclass(frozen=True, repr=False)
class Stationarity(Shown):
    """The derivative of the discretised action for decreasing spacing of the records of a path.

    spacings, norms:  the spacing, and the largest derivative by an inner position, relative to the size of its terms
    constrained:      whether displacements are restricted by one-forms
    forced:           whether forces do virtual work, which counts with the derivative of the action
    """

    name: str
    spacings: tuple[float, ...]
    norms: tuple[float, ...]
    constrained: bool
    forced: bool = False

    @property
    def orders(self) -> tuple[float, ...]:
        """The observed order in the spacing, from each pair of neighbours."""
        pairs = zip(self.norms[:-1], self.norms[1:], strict=True)
        return tuple(float(np.log2(max(a, 1e-300) / max(b, 1e-300))) for a, b in pairs)

    @property
    def is_stationary(self) -> bool:
        """Whether the derivative goes to zero: at order near 2, or it is zero to rounding."""
        return self.norms[-1] < SMALL or self.orders[-1] > 1.5

    def _parts(self) -> list[Part]:
        orders = ("", *(f"{o:.2f}" for o in self.orders))
        rows = [(f"{h:.4g}", f"{x:.3e}", o) for h, x, o in zip(self.spacings, self.norms, orders, strict=True)]
        allowed = ", for displacements that the one-forms allow" if self.constrained else ""
        end = "stationary" if self.is_stationary else "NOT stationary"
        work = " with the virtual work of the forces" if self.forced else ""
        return [
            f"{self.name}: derivative of the discretised action{work}{allowed}",
            Table(("spacing", "largest derivative (relative)", "order"), rows),
            f"The action{work} is {end} along this path.",
        ]


def hamilton_principle(
    path: Trajectory | Mapping[Any, Any],
    *,
    system: System | None = None,
    parameters: Values | None = None,
    levels: int = 4,
) -> Stationarity:
    """Check that the action is stationary along a run, or along a path {x: array, ..., dalembert.time: array}.

    Forces enter by their virtual work, and under constraints only displacements with omega(dq) = 0 count. `system=` tests
    the path against another system.
    """
    levels = count(levels, "levels", StartError, least=1)
    whole = path_of(path, system, parameters)
    found: list[tuple[float, float]] = []
    for level in reversed(range(levels)):
        part = whole.every(2**level)
        if len(part.times) < 5:
            continue
        derivative = np.einsum("kij,kj->ki", part.projectors()[1:-1], part.gradient() / part.sizes)
        found.append((part.h, float(np.abs(derivative).max())))
    spacings, norms = zip(*found, strict=True)
    stated = whole.system
    forced = not all(vanishes(f) for f in stated.force)
    return Stationarity(stated.name, spacings, norms, bool(stated.constraints), forced)


def weak_form(
    path: Trajectory | Mapping[Any, Any],
    displacement: Array,
    *,
    system: System | None = None,
    parameters: Values | None = None,
) -> float:
    """The integral of dL/dq dq + dL/dv d(dq)/dt + F dq over a path, relative to the size of its terms.

    `displacement` has one row per record and one column per coordinate, and vanishes at the ends. The integral is zero for
    a motion if the displacement satisfies omega(dq) = 0 everywhere.
    """
    whole = path_of(path, system, parameters)
    delta = reals(displacement, "displacement")
    if delta.shape != whole.positions.shape or np.abs(delta[[0, -1]]).max() > 1e-9 * np.abs(delta).max():
        raise StartError(
            f"weak_form: the displacement has the shape {delta.shape}. Expected {whole.positions.shape}: one row per record "
            f"and one column per coordinate, zero at both ends."
        )
    return _weak(whole, delta)


def _weak(whole: Path, delta: Array) -> float:
    """Extrapolated from two spacings."""
    values, size = [], 1e-300
    stride = 2 if (len(whole.times) - 1) % 2 == 0 else 1
    for part, d in ((whole.every(s), delta[::s]) for s in dict.fromkeys((stride, 1))):
        begin, end = part.momenta
        values.append(float((part.gradient() * d[1:-1]).sum() * part.h))
        size = float(np.abs((begin + end) / 2 * np.diff(d, axis=0)).sum())
    best = (4 * values[-1] - values[0]) / 3 if stride == 2 else values[-1]
    return best / max(size, 1e-300)


@dataclass(frozen=True, repr=False)
class WeakForm(Shown):
    """The generalised principle: the weak form for displacements along each coordinate, in and out of the kernel.

    allowed:  {(coordinate, mode): value} for displacements projected to omega(dq) = 0
    free:     the same displacements as they are; under constraints this is the work of the reactions
    """

    name: str
    allowed: dict[tuple[Coordinate, int], float]
    free: dict[tuple[Coordinate, int], float]
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether all values for allowed displacements are zero, to the tolerance."""
        return max(abs(v) for v in self.allowed.values()) <= self.tolerance

    def _parts(self) -> list[Part]:
        rows = [(f"{q}, mode {m}", f"{v:.2e}", f"{self.free[q, m]:.2e}") for (q, m), v in self.allowed.items()]
        return [
            f"{self.name}: integral of dL + F dq for displacements along a coordinate, sin(mode pi t)",
            Table(("displacement", "with omega(dq) = 0", "as it is"), rows),
            f"The generalised principle {'holds' if self.holds else 'does NOT hold'} (tolerance {self.tolerance:g}).",
        ]


def generalised_principle(
    path: Trajectory | Mapping[Any, Any],
    *,
    system: System | None = None,
    parameters: Values | None = None,
    modes: int = 3,
    tolerance: float = 1e-5,
) -> WeakForm:
    """Hamilton's principle in weak form, with forces and constraints: integral of dL + F dq = 0 for omega(dq) = 0."""
    modes = count(modes, "modes", StartError, least=1)
    tolerance = positive(tolerance, "tolerance")
    whole = path_of(path, system, parameters)
    projectors = whole.projectors()
    phase = np.pi * (whole.times - whole.times[0]) / (whole.times[-1] - whole.times[0])
    allowed, free = {}, {}
    for mode in range(1, modes + 1):
        wave = np.sin(mode * phase)
        wave[-1] = 0.0
        for i, q in enumerate(whole.system.coordinates):
            delta = wave[:, None] * np.eye(len(whole.system.coordinates))[i]
            kept = np.einsum("kij,kj->ki", projectors, delta)
            free[q, mode] = _weak(whole, delta / whole.sizes)
            allowed[q, mode] = _weak(whole, kept / whole.sizes) if np.abs(kept).max() > 1e-9 else 0.0
    return WeakForm(whole.system.name, allowed, free, tolerance)
