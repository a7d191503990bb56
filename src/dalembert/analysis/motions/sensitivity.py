"""Derivatives of a computed motion by parameters and by its start, through events too.

They are derivatives of the steps as they were computed, exact to rounding: of each interval between records by the
implicit function theorem, of the whole by the chain rule. At an event the place in the step is one more variable, which
the condition that the event's expression vanishes determines; so the jump of derivatives there (the saltation matrix) is
that of the computed motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from ...display import Part, Shown, Table
from ...errors import ModelError, told
from ...methods.stepping import Stepping
from ...model.coordinates import Coordinate, Parameter
from ...model.system import System
from ...run.events import Crossing, Event
from ...run.plan import seed as expected
from ...run.trajectory import Trajectory
from ...run.values import Array, parameter_values
from ...symbolic import fast, gradient, substitute
from ...theory.motion import state_maps as maps
from ...waist.derived_steps import FRACTION
from ...waist.stepmap import TIME, StepMap
from .derivatives_wanted import check_run, given_numbers, wanted_events, wanted_quantities, wanted_variables
from .differentiated import Derived, DerivedMap, Varied, velocity_seed
from .start_changes import start_changes

NEAR, ARRIVED = 0.01, 1e-6
"""An event is where the run found it to this part of a step, and leads to the next record to this relative difference."""

SAME = "A run has the names of its events only: give the events that simulate got, with the same parameters."

POINTS = 1 << 14
"""Intervals differentiated in one call: a derivative takes as many numbers as the square of the state."""


@dataclass(frozen=True, repr=False, eq=False)
class Sensitivity(Shown):
    """Derivatives along a run; with lanes there is a leading axis of lanes, as in the run.

    found[e, b] is the derivative of e by b at every record, found[e] those by all variables on a last axis.

    of, by:      the expressions and the variables
    table:       all derivatives: (lanes, times, expressions, variables)
    following:   coordinates whose starts are not kept: constraints determine them by the others
    crossings:   the crossings of the events given, and `crossing_times` the derivatives of their times
    """

    run: Trajectory
    of: tuple[Any, ...]
    by: tuple[sympy.Symbol, ...]
    table: Array
    following: tuple[Coordinate, ...]
    crossings: tuple[Crossing, ...]
    crossing_times: Array
    sizes: Array
    """The values of the variables at the start, lane by lane."""

    def __getitem__(self, key: Any) -> Array:
        one, other = key if isinstance(key, tuple) else (key, None)
        i = _place(self.of, one, "of")
        found = self.table[..., i, :] if other is None else self.table[..., i, _place(self.by, other, "by")]
        return found if self.run.lanes is not None else found[0]

    def _parts(self) -> list[Part]:
        title = (
            f"{self.run.system.name}, {self.run.method!r}, h = {self.run.h:g}: derivatives at t = {self.run.time[-1]:g}"
        )
        if self.run.lanes is not None:
            title += f", largest of {self.run.lanes} lanes"
        last = self.table[:, -1]
        largest = np.take_along_axis(last, np.abs(np.nan_to_num(last)).argmax(axis=0)[None], axis=0)[0]
        rows = [(str(e), *(f"{x:.8g}" for x in row)) for e, row in zip(self.of, largest, strict=True)]
        parts: list[Part] = [title, Table(("of", *(f"by {b}" for b in self.by)), rows)]
        if self.following:
            names = ", ".join(str(q) for q in self.following)
            parts.append(f"The starts of {names} are not kept: the constraints determine them by the others.")
        return parts


def sensitivity(
    run: Trajectory, of: Any = None, by: Any = None, *, events: Event | Sequence[Event] = (), parameters: Any = None,
    following: Any = None,
) -> Sensitivity:  # fmt: skip
    """Exact derivatives of quantities along a run by parameters and by its start; see `Sensitivity`.

    found = sensitivity(run, [x, x.dot**2], [k, x, x.dot]);  found[x, k]

    of:         expressions in coordinates, velocities, entropies, parameters and time, or "energy"; by default all
                coordinates and velocities
    by:         parameters, and coordinates, velocities, entropies at the first record; by default all of them. If a
                momentum is among them, momenta are what is kept while the others change; otherwise velocities
    events:     the events of the run, where they changed or stopped the motion or their times are wanted
    parameters: values of parameters that events have and the system has not; `by` may contain them
    following:  under constraints, the coordinates whose starts follow from the others
    """
    check_run(run)
    system = run.system
    assert isinstance(system, System)
    wanted, known = wanted_quantities(system, of), wanted_events(run, events)
    more = {p for e in known.values() for p in e.parameters} - set(system.parameters)
    beside = given_numbers(run, parameter_values(parameters, sorted(more, key=str)))
    variables = wanted_variables(system, by, sorted(more, key=str))
    found = _Motion(run, system, wanted, variables, known, beside, following)
    return Sensitivity(run, tuple(wanted), variables, found.table(), found.start.following, *found.timed(), found.sizes)


def _place(known: Sequence[Any], wanted: Any, role: str) -> int:
    for i, e in enumerate(known):
        if e is wanted or str(e) == str(wanted):
            return i
    raise KeyError(f"{told(wanted)}: this sensitivity has {role} = {', '.join(map(str, known))}.")


class _Motion:
    """The derivatives of the state of a run, record by record."""

    def __init__(
        self, run: Trajectory, system: System, of: dict[Any, Any], by: tuple[sympy.Symbol, ...], events: dict[str, Event],
        beside: dict[str, Array], following: Any,
    ):  # fmt: skip
        self.run, self.system, self.of, self.by, self.events = run, system, of, by, events
        self.parameters = tuple(b.name for b in by if isinstance(b, Parameter))
        self.rows = {p.name: run.parameter_rows[:, i] for i, p in enumerate(system.parameters)}
        self.rows |= {name: np.broadcast_to(value, len(run.records)) for name, value in beside.items()}
        self.more = tuple(beside)
        self.plain: StepMap = Stepping(system, run.method).step_map("sensitivity")
        self.step = Derived(system, self.plain, self.parameters)
        self.start = start_changes(run, system, self.plain, by, self.rows, following)
        self.acted = [c for c in run.events if c.changed]
        self.times: dict[int, Array] = {}

    def table(self) -> Array:
        """The derivatives of all quantities at all records."""
        run, lanes = self.run, len(self.run.records)
        found = np.full((lanes, len(run.time), len(self.of), len(self.by)), np.nan)
        for k, state in enumerate(self._states()):
            found[:, k] = self._of_quantities(state, k)
        return found

    @property
    def sizes(self) -> Array:
        """The values of the variables at the start."""
        held = {**self.start.given, **self.rows}
        lanes = len(self.run.records)
        return np.stack([np.broadcast_to(held.get(b.name, np.ones(lanes)), lanes) for b in self.by], axis=1)

    def timed(self) -> tuple[tuple[Crossing, ...], Array]:
        """The crossings of the events given, and the derivatives of their times; after `table`."""
        kept = [k for k, c in enumerate(self.run.events) if c.name in self.events]
        rows = [self.times.get(k, np.full(len(self.by), np.nan)) for k in kept]
        return tuple(self.run.events[k] for k in kept), np.array(rows).reshape(len(kept), len(self.by))

    def _states(self) -> Iterator[Varied]:
        """The state at every record, with its derivatives."""
        run, last = self.run, len(self.run.at_nodes.time) - 1
        state = self.start.state
        yield state
        size = max(1, POINTS // len(run.records))
        for first in range(0, last, size):
            slopes = self._intervals(first, min(first + size, last))
            for k in range(first, min(first + size, last)):
                before = np.stack([state.change(name) for name in self.step.names], axis=1)
                changes = slopes[:, k - first] @ before
                for lane in self._passed(k, changes, state):
                    changes[lane] = self._through(lane, k, state)
                state = Varied(self._values(k + 1), {n: changes[:, i] for i, n in enumerate(self.step.names)})
                yield state
        if not run.ends_at_a_node:
            yield self._stopped(state)

    def _values(self, k: int) -> dict[str, Array]:
        """The state at a record, and parameters."""
        states = self.run.columns_named(list(self.plain.state))[:, k]
        return {**dict(zip(self.plain.state, states.T, strict=True)), **self.rows}

    def _intervals(self, first: int, end: int) -> Array:
        """The derivatives of intervals between records, by lanes: NaN where events changed the motion, or it had ended."""
        run, n = self.run, len(self.step.names)
        states = run.columns_named(list(self.plain.state))
        moving: Array = np.asarray(np.isfinite(states[:, first : end + 1]).all(axis=-1))
        whole = moving[:, :-1] & moving[:, 1:]
        lane, at = np.nonzero(whole)
        values = dict(zip(self.plain.state, states[lane, first + at].T, strict=True))
        rows = {name: row[lane] for name, row in self.rows.items()}
        seed = self._seed(self.plain, lane, first + at)
        found = np.full((len(states), end - first, n, n), np.nan)
        if len(lane):
            found[lane, at] = self.step.matrices(
                {**values, **rows}, rows, run.h, run.time[first + at], steps=run.every, seed=seed
            )[1]
        return found

    def _seed(self, step: StepMap, lane: Any, record: Any) -> Array | None:
        """Expected unknowns of a step from these records."""
        return expected(self.system, step, self.run.table("velocity")[lane, record]) if step.sought else None

    # events
    def _passed(self, k: int, changes: Array, state: Varied) -> list[int]:
        """The lanes in which events changed the motion after record k; times of crossings that only record are noted."""
        acting = []
        for lane in range(len(self.run.records)):
            here = self._crossings(lane, k)
            if any(self.run.events[i].changed for i in here):
                acting.append(lane)
            elif any(self.run.events[i].name in self.events for i in here):
                self._through(lane, k, state)
        return acting

    @cached_property
    def _by_interval(self) -> dict[tuple[int, int], list[int]]:
        """The numbers of the crossings in each interval of each lane."""
        found: dict[tuple[int, int], list[int]] = {}
        first = -(-self.run.begin // self.run.every)
        for i, c in enumerate(self.run.events):
            found.setdefault((c.lane, c.step // self.run.every - first), []).append(i)
        return found

    def _crossings(self, lane: int, k: int) -> list[int]:
        return self._by_interval.get((lane, k), [])

    def _through(self, lane: int, k: int, state: Varied) -> Array:
        """The derivatives at the end of an interval of one lane that has crossings."""
        walk = _Walk(self, lane, k, state)
        for i in self._crossings(lane, k):
            c = self.run.events[i]
            if c.name not in self.events:
                continue
            there = walk.crossing(c)
            self.times[i] = there.change(TIME)[0]
            if c.changed:
                walk.act(c, there)
        end = walk.at_node((self._first + k + 1) * self.run.every)
        if walk.acted:
            self._check_arrived(lane, k + 1, end, walk.acted)
        return np.stack([end.change(name)[0] for name in self.step.names])

    def _check_arrived(self, lane: int, k: int, end: Varied, name: str) -> None:
        """Refuse an action that leads elsewhere than the run went: the run has only the names of its events."""
        states = self.run.columns_named(list(self.plain.state))[lane]
        apart = np.abs([end.values[n][0] for n in self.plain.state] - states[k])
        if not (apart <= ARRIVED * np.nanmax(np.abs(states), axis=0)).all():
            raise ModelError(f"sensitivity: the action of the event {name!r} given is not that of the run. {SAME}")

    @property
    def _first(self) -> int:
        return -(-self.run.begin // self.run.every)

    def _stopped(self, state: Varied) -> Varied:
        """The state at the last record, where an event stopped the motion in some lanes; NaN in the others."""
        last, count = len(self.run.time) - 2, len(self.by)
        changes = {n: np.full((len(self.run.records), count), np.nan) for n in (*self.step.names, TIME)}
        for i, c in enumerate(self.run.events):
            if c.name not in self.events or c.step < (self._first + last) * self.run.every:
                continue
            there = _Walk(self, c.lane, last, state).crossing(c)
            self.times[i] = there.change(TIME)[0]
            if c.time == self.run.time[-1]:
                for name, change in changes.items():
                    change[c.lane] = there.change(name)[0]
        return Varied(self._values(last + 1), changes)

    # quantities
    def _of_quantities(self, state: Varied, k: int) -> Array:
        values = {**state.values, TIME: np.full(len(self.run.records), self.run.time[k])}
        seed = velocity_seed(self.quantities.plain, self.system, self.run.table("velocity")[:, k])
        found = self.quantities(Varied(values, state.changes), self.rows, seed)
        return np.stack([found.change(str(i)) for i in range(len(self.of))], axis=1)

    @cached_property
    def quantities(self) -> DerivedMap:
        """The quantities at a state of the method, with derivatives."""
        outputs = {str(i): e for i, e in enumerate(self.of.values())}
        return DerivedMap(self.system, self.state_map(outputs), self.parameters)

    def state_map(self, outputs: dict[str, Any]) -> StepMap:
        """Expressions in coordinates and velocities as a map of the states that the method carries."""
        run, system = self.run, self.system
        if not run.carries_momenta:
            return maps.quantity_map(system, outputs, self.more)
        project = bool(system.constraints) and (run.method is None or run.method.impulsive)
        return maps.of_momenta_map(system, outputs, project, self.more)

    @cached_property
    def part(self) -> Derived:
        """A part of a step, differentiated by its length and the time at which it begins too."""
        return Derived(self.system, self.plain, self.parameters, any_length=True)

    @cached_property
    def values(self) -> dict[str, DerivedMap]:
        """The expression of each event at a state of the method."""
        found = {name: self.state_map({"value": fast(e.expression)}) for name, e in self.events.items()}
        return {name: DerivedMap(self.system, plain, self.parameters) for name, plain in found.items()}

    @cached_property
    def actions(self) -> dict[str, DerivedMap]:
        """The state of the method after the action of each event that has one."""
        found = {name: self._action(e) for name, e in self.events.items() if e.changes}
        return {name: DerivedMap(self.system, plain, self.parameters) for name, plain in found.items()}

    def _action(self, event: Event) -> StepMap:
        """What an action changes, and momenta or velocities."""
        q, places = self.system.coordinates, {fast(s): fast(e) for s, e in event.changes.items()}
        kept = (*q, *self.system.entropies)
        changed = {s.name: fast(e) for s, e in event.changes.items() if s in kept}
        if self.run.carries_momenta:
            p = gradient(self.system.principle.lagrangian(self.system), self.system.velocities)
            changed |= {c.momentum.name: substitute(e, places) for c, e in zip(q, p, strict=True)}
        else:
            changed |= {v.name: fast(event.changes.get(v, v)) for v in self.system.velocities}
        return self.state_map(changed)


class _Walk:
    """One interval of one lane, from event to event, with derivatives."""

    def __init__(self, motion: _Motion, lane: int, k: int, state: Varied):
        self.motion, self.run, self.lane = motion, motion.run, lane
        some = slice(lane, lane + 1)
        self.rows = {name: row[some] for name, row in motion.rows.items()}
        self.state = Varied(*({n: x[some] for n, x in held.items()} for held in (state.values, state.changes)))
        self.node, self.place = (motion._first + k) * self.run.every, 0.0
        self.velocity = self.run.table("velocity")[some, k]
        count = len(motion.by)
        self.shift = np.zeros((1, count))
        """The derivatives of the place in the step."""
        self.acted = ""  # the last event that did

    def at_node(self, node: int) -> Varied:
        """The state at a node further on."""
        if self.place and node > self.node:
            left = 1 - self.place
            self.state = self._part(left, -self.shift)
            self.node, self.place, self.shift = self.node + 1, 0.0, np.zeros_like(self.shift)
        if node > self.node:
            t = np.full(1, self.run.t0 + self.node * self.run.h)
            steps = node - self.node
            self.state = self.motion.step(
                self.state, self.rows, self.run.h, t, steps=steps, seed=self._seed(self.motion.step.step)
            )
            self.node = node
        return self.state

    def crossing(self, c: Crossing) -> Varied:
        """The state at a crossing, before any action, with the derivatives of its time."""
        self.at_node(c.step)
        left = max((c.time - self.run.t0) / self.run.h - self.node - self.place, 0.0)
        count = self.shift.shape[1]
        # one more variable, the length of the part
        padded = Varied(
            self.state.values, {n: np.column_stack([x, np.zeros(1)]) for n, x in self.state.changes.items()}
        )
        there = self._part(left, np.eye(count + 1)[None, -1], padded, np.column_stack([self.shift, np.zeros(1)]))
        mapped = self._mapped(self.motion.values[c.name], there)
        value = mapped.change("value")
        rate = value[:, -1:]
        with np.errstate(all="ignore"):
            place, away = -value[:, :-1] / rate, np.abs(mapped.values["value"] / rate)
        if np.isfinite(away).all() and not (away < NEAR).all():
            raise ModelError(
                f"sensitivity: the event {c.name!r} given is not that of the run: it is not zero at t = {c.time:g}. {SAME}"
            )
        if not np.isfinite(place).all():
            raise ModelError(
                f"sensitivity: at t = {c.time:g} the event {c.name!r} touches zero without crossing it, so its time has no "
                f"derivative."
            )
        total = {n: x[:, :-1] + x[:, -1:] * place for n, x in there.changes.items()}
        self.found = left, self.shift + place
        return Varied(there.values, total)

    def act(self, c: Crossing, there: Varied) -> None:
        """Continue from the state after the action at a crossing."""
        part, self.shift = self.found
        self.place, self.acted = self.place + part, c.name
        self.velocity = np.array([[c.velocities[q.name] for q in self.motion.system.coordinates]])
        self.state = there.joined(self._mapped(self.motion.actions[c.name], there))

    def _mapped(self, made: DerivedMap, there: Varied) -> Varied:
        return made(there, self.rows, velocity_seed(made.plain, self.motion.system, self.velocity))

    def _part(self, left: float, shift: Array, state: Varied | None = None, begun: Array | None = None) -> Varied:
        """The state after a part of a step; the derivatives of its length and of the time at which it begins are given."""
        state = self.state if state is None else state
        begun = self.shift if begun is None else begun
        step = self.motion.part
        t = np.full(1, self.run.t0 + (self.node + self.place) * self.run.h)
        known = Varied({FRACTION: np.full(1, left), TIME: t}, {FRACTION: shift, TIME: begun * self.run.h})
        return step(state.joined(known), self.rows, self.run.h, t, seed=self._seed(step.step))

    def _seed(self, step: StepMap) -> Array | None:
        return expected(self.motion.system, step, self.velocity) if step.sought else None
