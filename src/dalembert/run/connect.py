"""Motions between two configurations in a given time, by shooting: the velocities and multipliers at the start are sought.

Where multipliers are data of the start (vakonomic motion) there are as many unknowns as coordinates at the end, so motions
that join two configurations are isolated in general, or form families where a symmetry keeps both; there may be several, or
none. Many starts are tried at once, as lanes of one run, each improved by Gauss and Newton's method with the derivatives of
the end by central differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import MethodError, StartError, told
from ..methods.base import Method
from ..model.bodies.assembly import system_of
from ..model.coordinates import Coordinate
from ..model.coordinates import time as clock
from ..model.space import lines_only
from ..model.system import System
from ..numbers import finite, positive, whole
from ..theory.motion import state_maps as maps
from ..waist.layout import spans
from .plan import check_method
from .simulate import simulate
from .start_units import StartUnits, start_units
from .trajectory import Trajectory
from .values import Array, Values, columns, parameter_values, point_map

ITERATIONS = 40
"""Newton steps after which a start is given up."""

CLOSE = 1e-10
"""An end is reached if every coordinate misses it by less than this share of the distances of the motions tried."""

SAME = 1e-6
"""Two motions are one if their starts differ by less than this share of their size."""


@dataclass(frozen=True)
class Connection:
    """Motions between two configurations; see `connect`.

    system:   the system
    runs:     the motions found, the one of least action first
    actions:  the integral of L along each
    tried:    how many starts were tried
    nearest:  the least distance from the end that any try reached, as a share of the distances of the motions tried
    """

    system: System
    runs: tuple[Trajectory, ...]
    actions: tuple[float, ...]
    tried: int
    nearest: float

    @property
    def found(self) -> bool:
        """Whether a motion was found."""
        return bool(self.runs)

    @property
    def run(self) -> Trajectory:
        """The motion of least action among those found; an error where none was found."""
        if not self.runs:
            raise StartError(f"connect: {self.status}")
        return self.runs[0]

    @cached_property
    def status(self) -> str:
        """What was found, in a sentence."""
        if not self.runs:
            return (
                f"no motion of {self.system.name!r} between these configurations was found in {self.tried} tries; the "
                f"nearest end missed by {self.nearest:.1e} of the distances tried. That proves nothing: give more tries=, a "
                f"start near one with near={{...}}, or another time."
            )
        count = "one motion" if len(self.runs) == 1 else f"{len(self.runs)} motions"
        return (
            f"{count} found in {self.tried} tries, with action {', '.join(f'{S:.6g}' for S in self.actions[:6])}"
            f"{', ...' if len(self.runs) > 6 else ''}. There may be others."
        )

    def __repr__(self) -> str:
        return f"<Connection of {self.system.name!r}: {self.status}>"


def connect(
    system: System,
    method: Method,
    *,
    from_: Values,
    to: Values,
    time: float,
    steps: int = 100,
    parameters: Values | None = None,
    tries: int = 48,
    near: Values | None = None,
    seed: int = 0,
) -> Connection:
    """Motions from one configuration to another in a given time; several where several are found.

    from_, to:  {x: 0, y: 0, z: 0} the positions at the start and at the end; {..., dalembert.time: t0} in from_ begins at t0
    time:       the duration, in so many equal `steps`
    tries:      how many random starts are tried; `seed` draws others
    near:       {x.dot: 1, system.multipliers[0]: 0.5} a start to begin from in place of random ones; others are zero

    For systems without constraints on velocities, and for vakonomic motion, whose multipliers at the start are sought too:
    geodesics of sub-Riemannian metrics. What is found are motions of the method that end at `to`, not of least action among
    all: the result has them in the order of their action, and says where none was found.
    """
    system = system_of(system, "connect")
    shooting = _Shooting.of(system, method, from_, to, time, steps, parameters)
    starts = shooting.random(whole(tries, "tries", StartError, least=1), seed) if near is None else shooting.given(near)
    found, nearest, scale = shooting.solve(starts)
    runs = [shooting.run(u) for u in found]
    kept = _distinct_motions([r for r in runs if r.ok], scale)
    actions = [_action(r) for r in kept]
    order = sorted(range(len(kept)), key=actions.__getitem__)
    return Connection(system, tuple(kept[k] for k in order), tuple(actions[k] for k in order), len(starts), nearest)


def _distinct_motions(runs: Sequence[Trajectory], scale: Array) -> list[Trajectory]:
    """Those whose positions differ somewhere, by the root of CLOSE: from rest an end is reached to second order in a start."""
    found: list[Trajectory] = []
    for run in runs:
        own = run.table("position")
        if all((np.abs(own - other.table("position")) > CLOSE**0.5 * scale).any() for other in found):
            found.append(run)
    return found


def _action(run: Trajectory) -> float:
    """The integral of L, by the trapezoidal rule with its correction at the ends (order four)."""
    L, t = run.quantity(run.system.lagrangian), run.time
    h = t[1] - t[0]
    whole_sum = h * (L.sum() - (L[0] + L[-1]) / 2)
    if len(t) < 5:
        return float(whole_sum)
    first = (-25 * L[0] + 48 * L[1] - 36 * L[2] + 16 * L[3] - 3 * L[4]) / 12
    last = (25 * L[-1] - 48 * L[-2] + 36 * L[-3] - 16 * L[-4] + 3 * L[-5]) / 12
    return float(whole_sum - h * (last - first) / 12)


@dataclass(frozen=True, eq=False)
class _Shooting:
    """A problem: unknowns are the velocities at the start, then the multipliers in the state, in `units`."""

    system: System
    method: Method
    begin: Mapping[Any, float]
    end: Array
    h: float
    steps: int
    parameters: Mapping[Any, Any]
    rows: Any

    @staticmethod
    def of(
        system: System, method: Method, from_: Values, to: Values, time: float, steps: int, parameters: Values | None
    ) -> _Shooting:
        lines_only(system, "connect")
        if system.entropies:
            raise StartError(f"connect: {system.name!r} has entropies. Expected a system without heat.")
        held = system.principle.carried(system)
        bound = [
            c
            for c, m in zip(system.constraints, system.multipliers, strict=True)
            if not c.is_holonomic and m not in held
        ]
        if bound:
            raise StartError(
                f"connect: under {system.principle!r} the motions from one configuration have fewer parameters than the end "
                f"has coordinates, because {bound[0].expression} = 0 restricts the velocities at the start. Use "
                f"system.replace(principle=dalembert.Vakonomic()), or simulate(...) from a start."
            )
        check_method(system, method)
        if method.adaptive:
            raise MethodError("connect: a method with a fixed step is needed, such as Midpoint() or DormandPrince8().")
        count = whole(steps, "steps", StartError, least=4)
        h = positive(time, "time", StartError) / count
        begin = _configuration(system, from_, "from_")
        end = _configuration(system, to, "to", timed=False)
        values = parameter_values(parameters, system.parameters)
        rows = columns(values, [p.name for p in system.parameters], None)
        made = _Shooting(
            system, method, begin, np.array([end[q] for q in system.coordinates]), h, count, parameters or {}, rows
        )
        made._check_ends(end)
        return made

    def _check_ends(self, end: Mapping[Any, float]) -> None:
        """Refuse an end that violates a constraint on positions; that of the start is checked by every run."""
        if not self.system.holonomic:
            return
        still = np.zeros(self._n + len(self._multipliers))
        point = np.concatenate([self.end, still, [self.begin.get(clock, 0.0) + self.h * self.steps]])
        sizes, values = (
            self._at(m, point[None]) for m in (maps.size_map(self.system), maps.constraint_map(self.system))
        )
        off = maps.constraint_parts(self.system, values)[0][0]
        for a, c in enumerate(self.system.constraints):
            if c.is_holonomic and not abs(off[a]) <= 1e-9 * sizes[0, 3 * a]:
                raise StartError(f"connect: to= violates {c.expression} = 0. Give positions on the constraints.")

    def _at(self, stepmap: Any, points: Array) -> Array:
        found: Array = point_map(stepmap)(points, self.rows)[0]
        return found

    # starts
    @cached_property
    def _place(self) -> Array:
        return np.array([self.begin[q] for q in self.system.coordinates])

    @cached_property
    def units(self) -> StartUnits:
        """The sizes of velocities and multipliers of starts that lead there in the time."""
        return start_units(self.system, self.begin, self.end - self._place, self.h * self.steps, self.rows)

    @cached_property
    def _n(self) -> int:
        return len(self.system.coordinates)

    @cached_property
    def _multipliers(self) -> list[Any]:
        return list(self.system.principle.carried(self.system))

    def random(self, count: int, seed: int) -> Array:
        """Starts whose sizes spread over two decades around those of a straight way."""
        rng, n = np.random.default_rng(seed), self._n
        velocities = rng.normal(size=(count, n)) * 10 ** rng.uniform(-1, 1, (count, 1))
        velocities[0] = (self.end - self._place) / self.units.reach
        multipliers = rng.normal(size=(count, len(self._multipliers))) * 10 ** rng.uniform(-1, 1.5, (count, 1))
        return self._admissible(np.hstack([velocities, multipliers]))

    def given(self, near: Values) -> Array:
        """The start given."""
        known = dict.fromkeys((*self.system.velocities, *self._multipliers), 0.0)
        if not isinstance(near, Mapping):
            raise StartError(
                f"connect: near={told(near)}. Expected velocities: near={{{self.system.velocities[0]}: 1, ...}}."
            )
        for key, value in near.items():
            if key not in known:
                raise StartError(
                    f"connect: near= contains {told(key)}. Expected velocities and multipliers: "
                    f"{', '.join(map(str, known))}."
                )
            known[key] = finite(value, f"connect: near of {key}", StartError)
        return self._admissible(np.array([list(known.values())]) / self.units.all)

    def _admissible(self, starts: Array) -> Array:
        """Velocities brought onto the constraints, by steps of least length."""
        (velocity,), found = spans(self._n), starts.copy()
        for _ in range(12 if self.system.constraints else 0):
            values, rows = self._constraints(found)
            step = np.einsum("kna,ka->kn", np.linalg.pinv(rows), values)
            found[:, velocity] -= step
            if not (np.abs(step) > 1e-15 * np.abs(found[:, velocity])).any():
                break
        return found

    def _constraints(self, starts: Array) -> tuple[Array, Array]:
        """The values of the constraints on velocities, and their rows."""
        times = np.full((len(starts), 1), self.begin.get(clock, 0.0))
        points = np.hstack([np.repeat(self._place[None], len(starts), axis=0), starts * self.units.all, times])
        _, drift, rows = maps.constraint_parts(self.system, self._at(maps.constraint_map(self.system), points))
        rows = rows * self.units.velocities
        largest = np.abs(rows).max(axis=2, keepdims=True, initial=0.0)
        sizes = np.where(largest > 0, largest, 1.0)
        forms = np.einsum("kan,kn->ka", rows, starts[:, spans(self._n)[0]]) + drift
        return forms / sizes[:, :, 0], rows / sizes

    def _directions(self, starts: Array) -> Array:
        """For each start the directions in which it may be changed, one per column."""
        n, m = self._n, len(self._multipliers)
        free = n - len(self.system.constraints)
        found = np.zeros((len(starts), n + m, free + m))
        found[:, n:, free:] = np.eye(m)
        if self.system.constraints:
            found[:, :n, :free] = np.linalg.svd(self._constraints(starts)[1])[2][:, n - free :, :].swapaxes(1, 2)
        else:
            found[:, :n, :free] = np.eye(n)
        return found

    # motions
    def _start(self, starts: Array) -> dict[Any, Any]:
        symbols = (*self.system.velocities, *self._multipliers)
        return {**self.begin, **dict(zip(symbols, (starts * self.units.all).T, strict=True))}

    def _ends(self, starts: Array) -> Array:
        """Where the motions end; NaN for those that do not get there."""
        run = simulate(
            self.system, self.method, h=self.h, steps=self.steps, every=self.steps, start=self._start(starts),
            parameters=self.parameters, strict=False, progress=False,
        )  # fmt: skip
        found = np.full((len(starts), self._n), np.nan)
        table = run.table("position")
        if table.shape[1] == 2:
            found = table[:, -1].copy()
        return found

    def run(self, start: Array) -> Trajectory:
        """The whole motion from one start."""
        numbers = {s: float(x) for s, x in self._start(start).items()}
        return simulate(
            self.system, self.method, h=self.h, steps=self.steps, start=numbers, parameters=self.parameters, strict=False,
            progress=False,
        )  # fmt: skip

    # Gauss and Newton's method
    def solve(self, starts: Array) -> tuple[list[Array], float, Array]:
        """The distinct starts whose motions end where they should; the least distance reached; distances of the tries."""
        u, ends, first = starts, self._ends(starts), self._place
        known = np.isfinite(ends).all(axis=1)
        if not known.any():
            return [], float("inf"), np.zeros(self._n)
        scale = np.abs(self.end - first) + np.median(np.abs(ends[known] - first), axis=0)
        scale = np.where(scale > 0, scale, self.units.reach * (np.max(scale / self.units.reach) or 1.0))
        miss = self._miss(ends, scale)
        damping = np.full(len(u), 1e-3)
        for _ in range(ITERATIONS):
            active = np.flatnonzero((miss > CLOSE / 100) & np.isfinite(miss) & (damping < 1e8))
            if not len(active):
                break
            u[active], miss[active], damping[active] = self._improved(u[active], miss[active], damping[active], scale)
        reached = [k for k in np.argsort(miss) if miss[k] <= CLOSE]
        return self._distinct(u, reached), float(np.nanmin(np.where(np.isfinite(miss), miss, np.inf))), scale

    def _miss(self, ends: Array, scale: Array) -> Array:
        found: Array = np.abs((ends - self.end) / scale).max(axis=1)
        return np.where(np.isfinite(found), found, np.inf)

    def _improved(self, u: Array, miss: Array, damping: Array, scale: Array) -> tuple[Array, Array, Array]:
        """One damped step for each start; those that do not come nearer stay, with more damping."""
        directions = self._directions(u)
        count, width, free = directions.shape
        size = np.maximum(np.abs(u).max(axis=1), 1e-300) * 6e-6
        moved = u[:, None, :] + size[:, None, None] * directions.swapaxes(1, 2)
        back = u[:, None, :] - size[:, None, None] * directions.swapaxes(1, 2)
        every = self._admissible(np.concatenate([u[:, None, :], moved, back], axis=1).reshape(-1, width))
        ends = self._ends(every).reshape(count, 2 * free + 1, -1)
        slopes = (ends[:, 1 : free + 1] - ends[:, free + 1 :]) / (2 * size[:, None, None]) / scale
        wrong = (ends[:, 0] - self.end) / scale
        usable = np.isfinite(slopes).all(axis=(1, 2)) & np.isfinite(wrong).all(axis=1)
        matrix = np.einsum("kif,kjf->kij", slopes, slopes)
        weight = np.einsum("kii->ki", matrix)
        matrix = matrix + np.einsum("ki,ij->kij", damping[:, None] * (weight + 1e-300), np.eye(free))
        right = np.einsum("kif,kf->ki", slopes, wrong)
        step = np.zeros((count, free))
        for k in np.flatnonzero(usable):
            step[k] = np.linalg.lstsq(matrix[k], right[k], rcond=None)[0]
        tried = self._admissible(u - np.einsum("knf,kf->kn", directions, step))
        reached = self._miss(self._ends(tried), scale)
        better = reached < miss
        return (
            np.where(better[:, None], tried, u),
            np.where(better, reached, miss),
            np.where(better, damping / 10, np.where(usable, damping * 10, np.inf)),
        )

    def _distinct(self, u: Array, reached: Sequence[int]) -> list[Array]:
        found: list[Array] = []
        for k in reached:
            size = np.abs(u[k]).max()
            if not any(np.abs(u[k] - other).max() <= SAME * size for other in found):
                found.append(u[k])
        return found


def _configuration(system: System, given: Values, role: str, timed: bool = True) -> dict[Any, float]:
    """The positions given, one number for each coordinate."""
    q: tuple[Coordinate, ...] = system.coordinates
    if not isinstance(given, Mapping):
        raise StartError(f"connect: {role}={told(given)}. Expected positions: {role}={{{q[0]}: 0, ...}}.")
    known = {**{c.name: c for c in q}, **{c: c for c in q}}
    found: dict[Any, float] = {}
    for key, value in given.items():
        if timed and key == clock:
            found[clock] = finite(value, f"connect: {role} of time", StartError)
        elif key in known:
            try:
                found[known[key]] = float(value)
            except (TypeError, ValueError):
                raise StartError(f"connect: {role} of {key} is {told(value)}. Expected a number.") from None
        else:
            raise StartError(
                f"connect: {role}= contains {told(key)}. Expected positions of {', '.join(c.name for c in q)}."
            )
    if missing := [c.name for c in q if c not in found]:
        raise StartError(f"connect: {role}= has no value for {', '.join(missing)}. Give every position.")
    if not np.isfinite(list(found.values())).all():
        raise StartError(f"connect: {role}= has a value that is not finite.")
    return found
