"""Finds events along a motion and applies their actions.

The motion is computed in short stretches with every node available (`Stretches`). A step in which an event changes sign is
processed from event to event (`Walk`): each place is found with the method itself, so it is as accurate as the motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.arguments import Lanes
from ..engine.machine import CPU, Stepper
from ..engine.run_options import Extent
from ..engine.status import Status
from ..model.space import numbers
from ..model.system import System
from .event_states import States, side_of
from .events import Crossing, Event
from .given_start import Start
from .interrupts import Interrupts
from .progress import Progress
from .values import Array
from .velocities import near_columns

if TYPE_CHECKING:
    from .plan import Plan
    from .reductions import Tally

STRETCH = 256
"""Steps computed between searches for events; a new stretch begins after an event that changes the motion."""

MOST = 50
"""Number of actions within one step from which on they are reported as accumulating."""

MOMENT = 1e-6
"""The part of a step after an action in which the sign of the event is rounding noise."""

TOGETHER = 1e-12
"""Events closer together than this part of a step count as simultaneous."""


@dataclass
class Stretches:
    """Computes a motion with events, stretch by stretch; lanes are independent."""

    plan: Plan
    stepper: Stepper
    carry: Array
    codes: Array
    events: Sequence[Event]
    cells: Array
    """What is kept over all nodes, a row for each lane."""
    tally: Tally | None = None

    def __post_init__(self) -> None:
        plan, lanes = self.plan, len(self.carry)
        assert isinstance(plan.system, System)
        assert plan.method is not None
        self.system, self.extent, self.h, self.t0 = plan.system, plan.extent, plan.extent.h, plan.extent.t0
        self.nearby = replace(plan, device=CPU).stepper()  # for parts of one step of one lane, on the processor
        self.rows = np.ascontiguousarray(np.broadcast_to(plan.rows, (lanes, plan.rows.shape[1])))
        self.records = np.full((lanes, len(plan.times), self.stepper.width), np.nan)
        self.residual = np.full(lanes, np.nan)
        self.reached = np.full(lanes, plan.extent.begin)  # the last node that `cells` have seen
        self.crossings: list[Crossing] = []
        self.stops: dict[int, tuple[float, Array]] = {}
        # of each event, its side after an action less than a moment before the present node (else `since` is 0)
        self.side, self.since = np.zeros((2, lanes, len(self.events)))
        self.direction = np.array([e.direction for e in self.events])
        momenta = plan.method.carries == "momentum"
        self.near_at = near_columns(self.stepper.stepmap, self.system)
        self.states = States(self.system, self.events, self.rows, momenta, plan.method.impulsive)

    def advance(self, held: Interrupts) -> None:
        """The whole motion, into `records`, `codes` and `crossings`; an interruption discards the current stretch."""
        begin, end = self.extent.begin, self.extent.end
        done = begin
        with Progress(self.plan.progress, self.extent.steps) as shown:
            try:
                for at in range(begin, max(end, begin + 1), STRETCH):
                    if not self._stretch(at, min(at + STRETCH, end), held):
                        break
                    done = min(at + STRETCH, end)
                    shown.tell(done - begin)
            except KeyboardInterrupt:  # raised by a progress function
                held.end()
        if done < end:
            self._interrupted(done)
        self.crossings.sort(key=lambda c: c.lane)

    def _interrupted(self, done: int) -> None:
        """End all running lanes at a node."""
        going = np.flatnonzero(self.codes[:, 0] == 0)
        nodes = self._computed(going, done, done)[0]
        self.records[going, done // self.extent.every + 1 - self.extent.first_row :] = np.nan
        for lane, node in zip(map(int, going), nodes, strict=True):
            self._keep(lane, node, done)
        self.codes[going, 0] = Status.INTERRUPTED

    def _stretch(self, at: int, end: int, held: Interrupts) -> bool:
        """Advance all lanes from node to node; false if interrupted, and then none is advanced."""
        changing = (
            self.carry,
            self.cells,
            self.reached,
            self.codes,
            self.residual,
            self.side,
            self.since,
            self.states.beside,
        )
        before, crossings = [a.copy() for a in changing], len(self.crossings)
        if self._walked(at, end, held):
            return True
        for array, kept in zip(changing, before, strict=True):
            array[:] = kept
        del self.crossings[crossings:]
        return False

    def _walked(self, at: int, end: int, held: Interrupts) -> bool:
        """Advance all lanes; one whose motion an event changes continues separately from the next node."""
        waiting = [(np.flatnonzero(self.codes[:, 0] == 0), at)]
        while waiting:
            lanes, begin = waiting.pop()
            nodes, *after = self._computed(lanes, begin, end)
            for i, lane in enumerate(map(int, lanes)):
                if held.arrived():
                    return False
                walk = self._watched(lane, nodes[i], begin)
                if walk is None:
                    self._keep(lane, nodes[i], begin)
                    self.carry[lane], self.codes[lane], self.residual[lane] = (a[i] for a in after)
                elif self._arrived(walk, nodes[i, : walk.k - begin + 2], begin):
                    waiting.append((np.array([lane]), walk.k + 1))
        return True

    def _computed(self, lanes: Array, begin: int, end: int) -> tuple[Array, Array, Array, Array]:
        """All nodes of some lanes without events; carry, codes and residual after them."""
        nodes = np.full((len(lanes), end - begin + 1, self.stepper.width), np.nan)
        some = Lanes(self.carry[lanes], self.rows[lanes], self.codes[lanes], np.full(len(lanes), np.nan))
        extent = Extent(self.t0, self.h, begin, end - begin)
        self.stepper.advance(some, nodes, extent, self.plan.search, closing=True)
        return nodes, some.carry, some.status, some.residual

    def _watched(self, lane: int, nodes: Array, begin: int) -> Walk | None:
        """Record crossings that only record; the walk through the first step in which an event changes or ends the motion."""
        g = self.states.values(lane, self.points(lane, nodes, begin + np.arange(len(nodes))))
        side, since = side_of(g), np.zeros_like(g)
        side[0] = np.where(self.since[lane] > 0, self.side[lane], side[0])
        since[0] = self.since[lane]
        for j in np.flatnonzero(_crosses(side[:-1], g[1:], self.direction).any(axis=1)):
            walk = Walk(self, lane, begin + int(j), nodes[j], side[j], since[j])
            walk.go(g[j + 1])
            if walk.actions or walk.status:
                return walk
        self.since[lane] *= len(nodes) == 1  # it applies to the first step only
        return None

    def _arrived(self, walk: Walk, nodes: Array, begin: int) -> bool:
        """Store the valid nodes after a step that an event changed or ended; whether the lane continues."""
        lane, k, at_node = walk.lane, walk.k, walk.status is Status.EVENT and walk.place == 1
        carry, failed = walk.moved(1.0)
        status = int(walk.status or failed)
        there = status == 0 or at_node
        # The step before was shorter, so its solution is no guess: the velocity here is, and it selects the branch.
        if there and (walk.origin < 1 or self.near_at):
            carry = self.begun(lane, carry, k + 1)
        self.carry[lane] = carry if there else self.begun(lane, nodes[-2], k)
        self.codes[lane, :2] = status, k + int(there)
        self.side[lane], self.since[lane] = walk.side, np.maximum(walk.since - 1, 0)
        if at_node and walk.actions:  # the node at the end of this step has changed
            nodes[-1] = self._computed(np.array([lane]), k + 1, k + 1)[0][0]
        self._keep(lane, nodes if at_node else nodes[:-1], begin)
        if walk.status is Status.EVENT:
            self.stops[lane] = float(walk.point[0, -1]), self._at(lane, walk.point)
        return status == 0

    def until_the_last_event(self) -> tuple[Array, Array]:
        """Times and records; if events have stopped every lane they end with the latest of these events."""
        times, records = self.plan.times, self.records
        if not (self.codes[:, 0] == Status.EVENT).all() or not self.stops:
            return times, records
        reached = int(self.codes[:, 1].max()) // self.extent.every - self.extent.first_row + 1
        times, records = times[:reached], records[:, :reached]
        latest = max(time for time, _ in self.stops.values())
        if len(times) and times[-1] == latest:
            return times, records
        last = np.full((len(records), 1, records.shape[2]), np.nan)
        for lane, (when, record) in self.stops.items():
            if when == latest:
                last[lane, 0] = record
        return np.append(times, latest), np.concatenate([records, last], axis=1)

    def _at(self, lane: int, point: Array) -> Array:
        """The record of a state that is not at a node."""
        carry = self.anew(lane, point)[None, :]
        record = np.full((1, 1, self.stepper.width), np.nan)
        here = Extent(float(point[0, -1]), self.h, 0, 0)
        self.nearby.advance(Lanes.begun(carry, self.rows[[lane]]), record, here, self.plan.search, closing=True)
        if self.near_at:
            record[0, 0, self.near_at] = point[0, self.states.moving]
        return np.asarray(record[0, 0])

    def _keep(self, lane: int, nodes: Array, first: int) -> None:
        """Copy the nodes that are multiples of `every` into their rows; what is kept over all nodes goes on."""
        every = self.extent.every
        due = nodes[-first % every :: every]
        row = -(-first // every) - self.extent.first_row
        self.records[lane, row : row + len(due)] = due
        if self.tally is not None:
            new = nodes[max(self.reached[lane] + 1 - first, 0) :]
            times = self.t0 + self.h * (first + len(nodes) - len(new) + np.arange(len(new)))
            self.cells[lane] = self.tally.went_on(self.cells[lane], new, self.rows[[lane]], times)
            self.reached[lane] = max(self.reached[lane], first + len(nodes) - 1)

    # parts of a step
    def points(self, lane: int, nodes: Array, k: Any) -> Array:
        """Position, velocity, entropies and time at some nodes; k is their number, and may be a fraction."""
        near = nodes[:, self.near_at] if self.near_at and nodes.shape[1] == self.stepper.width else None
        return self.states.at(lane, nodes, np.broadcast_to(self.t0 + k * self.h, len(nodes)), near)

    def begun(self, lane: int, node: Array, k: int) -> Array:
        """The carry at a node (or of one), without earlier solutions: its own step may be shorter."""
        point = self.points(lane, node[None, :], k)
        held = point[:, self.states.moving.stop + len(self.system.entropies) : -1]
        seed = self.plan.seed(self.stepper.stepmap, point[:, self.states.moving], held)
        carry: Array = self.stepper.carry(self.stepper.stepmap.state_of(node[None]), seed)[0]
        return carry

    def anew(self, lane: int, point: Array) -> Array:
        """The carry at a point, as at the start of a motion."""
        place, velocity, warm, held = self.states.groups.split(point, "position", "velocity", "entropy", "multiplier")
        self.states.beside[lane] = velocity[0]
        start = Start("velocity", float(point[0, -1]), place, velocity, None, warm, None, held)
        carry: Array = self.plan.first_carry(self.stepper, start, self.rows[[lane]])[0]
        return carry

    def part(self, lane: int, carry: Array, t: float, h: float) -> tuple[Array, int]:
        """The carry after a part of a step, NaN if it fails; and the status."""
        moved = carry[None, :].copy()
        if h <= 0:
            return moved[0], 0
        lanes, none = Lanes.begun(moved, self.rows[[lane]]), np.zeros((1, 1, self.stepper.width))
        self.nearby.advance(lanes, none, Extent(t, h, 0, 1, every=2), self.plan.search)
        kept = self.stepper.carry(self.stepper.stepmap.state_of(moved))  # the next step has another length
        status = int(lanes.status[0, 0])
        return np.where(status, np.nan, kept[0]), status


class Walk:
    """One step of one lane, from event to event in the order of time.

    Places are fractions of the step. The motion last started at the place `origin`: at the node, or after an action. An
    event is searched for from the place `since` on, where its sign is `side`.
    """

    def __init__(self, whole: Stretches, lane: int, k: int, node: Array, side: Array, since: Array):
        self.whole, self.lane, self.k = whole, lane, k
        self.origin, self.carry = 0.0, whole.begun(lane, node, k)
        self.side, self.since, self.happened = side.copy(), since.copy(), np.full_like(since, -np.inf)
        self.place, self.actions, self.status = 0.0, 0, Status.CONVERGED
        self.point: Array  # where an event has stopped the motion

    def go(self, end: Array) -> None:
        """Advance to the end of the step, where the events have these values, or to the end of the motion."""
        roots = self._roots(end)
        while roots and not self.status:
            self.place, k = self._first(roots)
            del roots[k]
            event = self.whole.events[k]
            again, self.happened[k] = np.isfinite(self.happened[k]), self.place
            self.side[k] = -self.side[k]
            if self.actions == MOST and event.changes:
                self.status = Status.EVENTS_ACCUMULATE
                return
            point = self._point(self.place)
            self._note(event, point[0])
            if event.action == "stop":
                self.status, self.point = Status.EVENT, point
            elif event.changes:
                self._act(k, point, bool(again))
                roots = {} if self.status else self._roots(self._values(1.0))

    def _roots(self, end: Array) -> dict[int, float]:
        """Where events cross zero in the rest of the step."""
        crossing = np.flatnonzero(_crosses(self.side, end, self.whole.direction) & (self.since <= 1))
        return {int(k): self._root(int(k)) for k in crossing}

    def _root(self, k: int) -> float:
        """Where event k leaves its side of zero: by secants (Illinois), then by bisection if g is flat there, or jumps."""

        def g(place: float) -> float:
            return float(self.side[k] * self._values(place)[k])

        a, b, last = max(float(self.since[k]), self.origin), 1.0, 0.0
        ga, gb = g(a), g(b)
        if ga <= 0 or gb >= 0:  # it crosses before, or at the end itself, where rounding may hide it
            return a if ga <= 0 else b
        for turn in range(80):
            c = b - gb * (b - a) / (gb - ga)
            c = c if a < c < b and turn < 20 else (a + b) / 2
            gc = g(c)
            if gc == 0 or b - a < 1e-15:
                return c
            if gc > 0:
                a, ga, gb = c, gc, gb / 2 if last > 0 else gb
            else:
                b, gb, ga = c, gc, ga / 2 if last < 0 else ga
            last = gc
        return b

    def _first(self, roots: Mapping[int, float]) -> tuple[float, int]:
        """The earliest place and the first event there: those that record, then in the order of the list."""
        place = min(roots.values())
        here = [k for k, root in roots.items() if root - place <= TOGETHER]
        return place, min(here, key=lambda k: (self.whole.events[k].action != "record", k))

    def _act(self, k: int, point: Array, again: bool) -> None:
        """Change the state, and continue from there.

        Events that occurred here, and those whose value the action changes, get the side they have a moment later. The
        others keep their side: they may be about to cross at this place. So does one that has acted in this step before and
        whose rate does not point across zero: that rate is rounding, at the end of decaying bounces.
        """
        states, lane = self.whole.states, self.lane
        across = float(self.side[k])
        stays = again and states.rates(lane, point)[k] * across < 0
        after = states.changed(lane, point, k)
        self.actions += 1
        if after is None:
            self.status = Status.OFF_CONSTRAINTS
            return
        if not np.isfinite(after).all():
            self.status = Status.LEFT_DOMAIN if np.isnan(after).any() else Status.NOT_FINITE
            return
        before, now = states.values(lane, point)[0], states.values(lane, after)[0]
        here = self.place - self.happened <= TOGETHER
        left_over = np.where(
            here & (np.abs(now) <= np.abs(before)), now, 0
        )  # distance from zero due to rounding or projection
        moved = (before != now) | here
        self.side = np.where(moved, states.leads(lane, after, left_over, MOMENT * self.whole.h), self.side)
        self.since = np.where(moved, self.place + MOMENT, self.since)
        if stays:
            self.side[k] = -across
        self.origin, self.carry = self.place, self.whole.anew(lane, after)
        if not np.isfinite(self.whole.points(lane, self.carry[None, :], self.k + self.place)).all():
            self.status = Status.SINGULAR  # its momenta do not determine its velocities

    def moved(self, place: float) -> tuple[Array, int]:
        """The carry at a place, and the status of the step to it."""
        t0, h = self.whole.t0, self.whole.h
        return self.whole.part(self.lane, self.carry, t0 + (self.k + self.origin) * h, (place - self.origin) * h)

    def _point(self, place: float) -> Array:
        """The state at a place, on the constraints."""
        point = self.whole.points(self.lane, self.moved(place)[0][None, :], self.k + place)
        return self.whole.states.admissible(self.lane, point)

    def _values(self, place: float) -> Array:
        values: Array = self.whole.states.values(self.lane, self._point(place))[0]
        return values

    def _note(self, event: Event, point: Array) -> None:
        system, of = self.whole.system, self.whole.states.groups.of
        q, S, held = system.coordinates, system.entropies, system.principle.carried(system)
        owners = {"position": numbers(q), "velocity": [c.name for c in q]}
        owners |= {"entropy": [s.name for s in S], "multiplier": [m.name for m in held]}
        found = (dict(zip(names, map(float, of(point, role)), strict=True)) for role, names in owners.items())
        here, moving, warm, others = found
        changed, when = bool(event.changes), float(point[-1])
        self.whole.crossings.append(Crossing(event.name, when, self.lane, here, moving, changed, warm, self.k, others))


def _crosses(side: Array, after: Array, direction: Array) -> Array:
    """Whether a value leaves its side of zero in a direction that counts; zero is on neither side."""
    return ((side < 0) & (after >= 0) & (direction >= 0)) | ((side > 0) & (after <= 0) & (direction <= 0))
