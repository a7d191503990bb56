"""Sections of computed motions: where they cross a surface of the state space (Poincare sections).

Between two nodes on different sides the crossing is sought among steps of a part of h from the first one, by the method
itself, so it has the order of the method. All crossings of all lanes are sought together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ...display import Part, Shown, Table
from ...engine.arguments import Lanes
from ...engine.machine import Stepper
from ...engine.run_options import Extent
from ...errors import ModelError, told
from ...methods.stepping import Stepping
from ...model.space import lines, numbers
from ...model.system import System
from ...run.plan import seed as expected
from ...run.trajectory import Trajectory, known_quantity
from ...run.values import Array, point_map
from ...run.velocities import velocities
from ...theory.motion import state_maps as maps
from ...waist.derived_steps import clocked, of_any_length
from .tangents import check_steps

TURNS, SECANTS = 80, 20
"""Largest number of evaluations in a search for a crossing; after so many secants the interval is halved."""


@dataclass(frozen=True, repr=False, eq=False)
class Section(Shown):
    """Where a run crosses a section, lane by lane, in the order of time.

    section[e] has the values of any expression e in coordinates, velocities, entropies, parameters and time there.

    lane, time:  of each crossing
    states:      positions, velocities, entropies (and multipliers in the state), one row for each crossing
    """

    run: Trajectory
    expression: Any
    direction: int
    lane: Array
    time: Array
    states: Array

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, expression: Any) -> Array:
        known = known_quantity(self._system, expression, "section")
        points = np.column_stack([self.states, self.time])
        found: Array = _map_of(self._system, known)(points, self.run.parameter_rows[self.lane])[0][:, 0]
        return found

    def of_lane(self, lane: int) -> Section:
        """The crossings of one lane."""
        here = self.lane == lane
        return replace(self, lane=self.lane[here], time=self.time[here], states=self.states[here])

    def start(self, k: int) -> dict[str, float]:
        """Crossing number k as a start: simulate(system, method, start=section.start(k), ...)."""
        q, system = self._system.coordinates, self._system
        held = [m.name for m in system.principle.carried(system)]
        names = [*numbers(q), *(f"{c.name}.dot" for c in q), *(S.name for S in system.entropies), *held]
        return {**dict(zip(names, map(float, self.states[k]), strict=True)), "t": float(self.time[k])}

    @property
    def _system(self) -> System:
        assert isinstance(self.run.system, System)
        return self.run.system

    def _parts(self) -> list[Part]:
        way = {1: "rises through", -1: "falls through", 0: "passes"}[self.direction]
        counts = np.bincount(self.lane, minlength=len(self.run.records))
        per_lane = f", {counts.min()} to {counts.max()} in a lane" if self.run.lanes is not None else ""
        title = f"{self.run.system.name}, {self.run.method!r}: {len(self)} crossings where {self.expression} {way} 0{per_lane}"
        names = [*lines(self._system.space.variables), *self._system.velocities]
        rows = [(str(s), *(f"{f(self[s]):.6g}" for f in (np.nanmin, np.nanmax))) for s in names] if len(self) else []
        return [title, Table(("at the crossings", "least", "largest"), rows)] if rows else [title]


def poincare(run: Trajectory, section: Any, *, direction: int = 1) -> Section:
    """Where a run crosses `section` = 0: found among parts of steps of the method, so to its order; see `Section`.

    section = poincare(run, x);  section[y], section[y.dot]

    direction: 1 where the expression rises, -1 where it falls, 0 both ways

    Crossings are seen by the sign at the records: between two records there is at most one. A motion that starts on the
    section does not cross it there; one that an event has stopped is seen up to the event. For a forced system sin(Omega*t)
    is a section once per period.
    """
    check_steps(run, "poincare")
    system = run.system.continuous
    if system is None or system is not run.system:
        raise ModelError(
            f"poincare: {run.system.name!r} is a discrete system, whose motion has no velocities between its nodes. Give a "
            f"run of a System."
        )
    if direction not in (-1, 0, 1) or isinstance(direction, bool):
        raise ModelError(f"poincare: direction = {told(direction)}. Expected 1 (rises), -1 (falls) or 0 (both).")
    expression = known_quantity(system, section, "poincare")
    if not getattr(expression, "free_symbols", {expression}) - set(system.parameters):
        raise ModelError(
            f"poincare: the section {expression} is constant, so nothing crosses it. Give one such as x - 1."
        )
    value = run.quantity(expression)
    side = np.sign(np.nan_to_num(value if run.lanes is not None else value[None]))
    rises, falls = (s * side[:, :-1] < 0 for s in (1, -1))
    crossing = (rises & (side[:, 1:] >= 0) & (direction >= 0)) | (falls & (side[:, 1:] <= 0) & (direction <= 0))
    known = np.isfinite(value if run.lanes is not None else value[None])
    lane, record = np.nonzero(crossing & known[:, 1:])
    found = _Crossings(run, system, expression, lane, record)
    return Section(run, section, direction, lane, *found.located)


@dataclass(frozen=True, eq=False)
class _Crossings:
    """Intervals between records in which a section is crossed: rows of lanes and records."""

    run: Trajectory
    system: System
    expression: Any
    lane: Array
    record: Array

    @property
    def located(self) -> tuple[Array, Array]:
        """Times and states of the crossings."""
        states, begun = self._steps
        before = np.sign(self._values(self._points(states, begun)))

        def value(at: Array, places: Array) -> Array:
            moved, clock = self._moved(states[at], begun[at], places, at)
            found: Array = before[at] * self._values(self._points(moved, clock, at), at)
            return found

        places = _crossed(value, len(begun))
        moved, clock = self._moved(states, begun, places, np.arange(len(begun)))
        return clock, self._points(moved, clock)[:, :-1]

    @cached_property
    def _steps(self) -> tuple[Array, Array]:
        """State and time at the beginning of the step in which each crossing is: the first that changes the side."""
        run, step = self.run, self._step
        states = run.columns_named(list(step.state))[self.lane, self.record]
        clock = run.time[self.record]
        first = np.sign(self._values(self._points(states, clock)))
        done = np.full(len(states), run.every == 1)
        stepper = Stepper(clocked(replace(step, outputs={})))
        for _ in range(run.every - 1):
            if done.all():
                break
            at = np.flatnonzero(~done)
            carry = stepper.carry(np.column_stack([states[at], clock[at]]), self._seed(at))
            after = self._advanced(stepper, carry, at)
            points = self._points(after[:, :-1], after[:, -1], at)
            passed = np.sign(self._values(points, at)) != first[at]
            done[at] = passed | ~np.isfinite(after).all(axis=1)
            states[at[~passed]], clock[at[~passed]] = after[~passed, :-1], after[~passed, -1]
        return states, clock

    @cached_property
    def _step(self) -> Any:
        return Stepping(self.system, self.run.method).step_map("poincare")

    @cached_property
    def _parts(self) -> Stepper:
        return Stepper(of_any_length(replace(self._step, outputs={})))

    def _moved(self, states: Array, begun: Array, places: Array, at: Array) -> tuple[Array, Array]:
        """States and times after these fractions of a step."""
        carry = self._parts.carry(np.column_stack([states, places, begun]), self._seed(at))
        after = self._advanced(self._parts, carry, at)
        still = places == 0
        return np.where(still[:, None], states, after[:, :-2]), np.where(still, begun, after[:, -1])

    def _advanced(self, stepper: Stepper, carry: Array, at: Array) -> Array:
        """The states after a step from each carry, NaN where there is none."""
        lanes = Lanes.begun(carry, np.ascontiguousarray(self.run.parameter_rows[self.lane[at]]))
        none = np.zeros((len(carry), 1, stepper.width))
        stepper.advance(lanes, none, Extent(0.0, self.run.h, 0, 1, every=2), self.run.search)
        found = stepper.stepmap.state_of(lanes.carry)
        return np.where(lanes.status[:, :1] == 0, found, np.nan)

    def _seed(self, at: Array) -> Array | None:
        if not self._step.sought:
            return None
        near = self.run.near_velocities[self.lane[at], self.record[at]]
        return expected(self.system, self._step, near)

    def _points(self, states: Array, clock: Array, at: Array | slice = slice(None)) -> Array:
        """Position, velocity, entropies, multipliers in the state and time, on the constraints."""
        system, names, rows = self.system, list(self._step.state), self.run.parameter_rows[self.lane[at]]

        def columns(wanted: Sequence[str]) -> Array:
            return states[:, [names.index(n) for n in wanted]]

        q, S = columns(numbers(system.coordinates)), columns([S.name for S in system.entropies])
        held = [m.name for m in system.principle.carried(system)]
        if self.run.carries_momenta:
            p = columns([c.momentum.name for c in system.coordinates])
            near = self.run.near_velocities[self.lane[at], self.record[at]]
            project = bool(system.constraints) and (self.run.method is None or self.run.method.impulsive)
            v = velocities(system, np.column_stack([q, p, S, clock]), rows, project, near)
            rest = (
                point_map(maps.carried_map(system))(np.column_stack([q, v, S, p, clock]), rows)[0] if held else p[:, :0]
            )
        else:
            v, rest = columns([c.dot.name for c in system.coordinates]), columns(held)
        points = np.column_stack([q, v, S, rest, clock])
        if system.constraints and len(points):
            nearest, failed = point_map(maps.admissible_map(system))(points, rows)
            points[:, : nearest.shape[1]] = np.where(failed[:, None] == 0, nearest, points[:, : nearest.shape[1]])
        return points

    def _values(self, points: Array, at: Array | slice = slice(None)) -> Array:
        """The expression at some points."""
        found: Array = _map_of(self.system, self.expression)(points, self.run.parameter_rows[self.lane[at]])[0][:, 0]
        return found


@lru_cache(maxsize=256)
def _map_of(system: System, expression: Any) -> Any:
    return point_map(maps.quantity_map(system, {"quantity": expression}))


def _crossed(value: Callable[[Array, Array], Array], count: int) -> Array:
    """Where functions that are positive at 0 become negative in (0, 1]: all together, by secants (Illinois), then halving.

    value(at, places) has the values of the functions with the numbers `at` at these places.
    """
    a, b, every = np.zeros(count), np.ones(count), np.arange(count)
    ga, gb, last = np.asarray(value(every, a)), np.asarray(value(every, b)), np.zeros(count)
    found = b.copy()
    going = (ga > 0) & (gb < 0)  # else it crosses at the end itself, where rounding may hide it
    for turn in range(TURNS):
        if not (at := np.flatnonzero(going)).size:
            break
        secant = b[at] - gb[at] * (b[at] - a[at]) / (gb[at] - ga[at])
        inside = (a[at] < secant) & (secant < b[at]) & (turn < SECANTS)
        c = np.where(inside, secant, (a[at] + b[at]) / 2)
        gc = value(at, c)
        before = gc > 0
        left, right = at[before], at[~before]
        gb[left] = np.where(last[left] > 0, gb[left] / 2, gb[left])
        a[left], ga[left], last[left] = c[before], gc[before], 1
        ga[right] = np.where(last[right] < 0, ga[right] / 2, ga[right])
        b[right], gb[right], last[right] = c[~before], gc[~before], -1
        found[at] = c
        going[at] = (gc != 0) & (b[at] - a[at] >= 1e-15) & np.isfinite(gc)
    return found
