"""Events: something happens when an expression crosses zero.

The motion is computed in short stretches with every node at hand. Where an event changes sign between two nodes, the
fraction of the step at which it vanishes is found with the method itself, so the crossing is as accurate as the motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sympy import sympify

from ..engine.kernels import STATUS_WIDTH
from ..engine.machine import Stepper
from ..engine.status import Status
from ..errors import ModelError
from ..model import checks
from ..model.coordinates import Parameter
from ..model.system import System
from ..theory import pointwise as maps
from .start import Start, point_map
from .values import Array

if TYPE_CHECKING:
    from .plan import Plan

STRETCH = 256
"""Steps computed before events are looked for; a stretch is begun again after an event that changes the motion."""

MOST = 50
"""Events within one step at which it is said that they accumulate."""


AFTER = (1e-9, 1e-6, 1e-3, 1e-2, 1e-1, 1.0)
"""Fractions of the rest of a step, after an action, at which the next event is looked for: bounces may become short."""


@dataclass(frozen=True, eq=False)
class Event:
    """When `expression` crosses zero, stop, record the crossing, or act: {x.dot: -x.dot} changes the state there.

    direction: +1 only where it rises, -1 only where it falls, 0 both ways
    """

    expression: Any
    action: Literal["stop", "record"] | Mapping[Any, Any] = "record"
    direction: Literal[-1, 0, 1] = 0
    name: str = "event"

    def __post_init__(self) -> None:
        if not (self.action in ("stop", "record") or isinstance(self.action, Mapping)):
            raise ModelError(
                f"Event: action = {self.action!r}. Expected 'stop', 'record', or what to change: {{x.dot: -x.dot}}."
            )
        if self.direction not in (-1, 0, 1):
            raise ModelError(f"Event: direction = {self.direction!r}. Expected -1 (falls), 0 (both) or 1 (rises).")

    @property
    def parameters(self) -> set[Parameter]:
        """The parameters that occur in the event."""
        told = [self.expression, *(self.action.values() if isinstance(self.action, Mapping) else ())]
        return {s for e in told for s in getattr(e, "free_symbols", ()) if isinstance(s, Parameter)}

    def with_values(self, values: Mapping[Any, float]) -> Event:
        """The event with numbers in place of parameters that the system does not have."""
        action = self.action
        if isinstance(action, Mapping):
            action = {k: sympify(e).xreplace(values) for k, e in action.items()}
        return replace(self, expression=sympify(self.expression).xreplace(values), action=action)

    def check(self, system: System) -> None:
        """Every symbol must belong to the system."""
        known = {*system.coordinates, *system.velocities}
        checks.symbols(checks.expression(self.expression, "event"), known, "event")
        for key, value in self.action.items() if isinstance(self.action, Mapping) else ():
            if key not in known:
                raise ModelError(f"event: {key} cannot be changed; change coordinates or velocities of the system.")
            checks.symbols(checks.expression(value, "event"), known, "event")


@dataclass(frozen=True)
class Crossing:
    """One crossing: where, when, which event, and the state there (before any action)."""

    name: str
    time: float
    lane: int
    positions: dict[str, float]
    velocities: dict[str, float]


@dataclass
class Stretches:
    """Computes a motion with events, stretch by stretch; lanes are independent."""

    plan: Plan
    stepper: Stepper
    events: Sequence[Event]

    def __post_init__(self) -> None:
        plan = self.plan
        assert isinstance(plan.system, System)
        assert plan.method is not None
        self.system, self.h, self.t0 = plan.system, plan.h, plan.t0
        self.rows = np.ascontiguousarray(np.broadcast_to(plan.rows, (plan.lanes or 1, plan.rows.shape[1])))
        self.crossings: list[Crossing] = []
        names = {str(k): e.expression for k, e in enumerate(self.events)}
        self._values = point_map(maps.quantity_map(self.system, names))
        self._velocity = point_map(maps.velocity_map(self.system, plan.method.impulsive))
        self._actions = [point_map(maps.quantity_map(self.system, _complete(self.system, e))) for e in self.events]

    def advance(self, lanes: Array, carry: Array, codes: Array, out: Array, begin: int, steps: int, every: int) -> None:
        """Advance some lanes by `steps` steps; `out` holds rows for nodes that are multiples of `every`."""
        for at in range(begin, begin + steps, STRETCH):
            size = min(STRETCH, begin + steps - at)
            lanes = lanes[codes[lanes, 0] == 0]
            if len(lanes):
                self._stretch(lanes, carry, codes, out, at, size, every)

    def _stretch(self, lanes: Array, carry: Array, codes: Array, out: Array, at: int, size: int, every: int) -> None:
        trial = np.ascontiguousarray(carry[lanes])
        nodes = np.full((len(lanes), size + 1, self.stepper.width), np.nan)
        status = np.zeros((len(lanes), codes.shape[1]), dtype=np.int64)
        status[:, 1:] = codes[lanes, 1:]
        self.stepper.advance(
            trial, np.ascontiguousarray(self.rows[lanes]), status, np.full(len(lanes), np.nan), nodes,
            begin=at, steps=size, every=1, closing=True, row=0, t0=self.t0, h=self.h,
        )  # fmt: skip
        for i, lane in enumerate(lanes):
            found = self._crossings(int(lane), nodes[i], at)
            stop = next(((j, k) for j, k in found if self.events[k].action != "record"), None)
            for j, k in found:
                if stop is None or (j, k) == stop or j < stop[0]:
                    self._happen(int(lane), nodes[i, j], at + j, k)
            last = size if stop is None else stop[0]
            _keep(out[lane], nodes[i, : last + 1], at, every)
            if stop is None:
                carry[lane], codes[lane] = trial[i], status[i]
            else:
                self._interrupted(int(lane), carry, codes, out, nodes[i, last], at + last, at + size, stop[1], every)

    def _interrupted(
        self, lane: int, carry: Array, codes: Array, out: Array, node: Array, k: int, end: int, event: int, every: int
    ) -> None:
        """Stop, or act and go on to the next node and to the end of the stretch."""
        codes[lane, 1] = k
        if self.events[event].action == "stop":
            codes[lane, 0] = Status.EVENT
            return
        state, fraction = self._acted(lane, node, k, event)
        if state is None:
            codes[lane, 0] = Status.EVENTS_ACCUMULATE
            return
        carry[lane] = self._part(lane, state, self.t0 + (k + fraction) * self.h, (1 - fraction) * self.h)
        if not np.isfinite(carry[lane]).all():
            codes[lane, 0] = Status.NO_SOLUTION
            return
        codes[lane, 1] = k + 1
        self.advance(np.array([lane]), carry, codes, out, k + 1, end - k - 1, every)
        if end == k + 1:
            _keep(out[lane], carry[lane][None, : len(self.stepper.stepmap.state)], k + 1, every)

    def _acted(self, lane: int, node: Array, k: int, event: int) -> tuple[Array | None, float]:
        """The carry after the action, at which fraction of step k; events that follow within the step happen too."""
        fraction, there = self._located(lane, node, self.t0 + k * self.h, event)
        n = len(self.system.coordinates)
        for _ in range(MOST):
            t, rest = self.t0 + (k + fraction) * self.h, (1 - fraction) * self.h
            point = self._points(lane, there[None, :], np.array([t]))
            changed = self._actions[event](point, self.rows[lane : lane + 1])[0]
            start = Start("velocity", t, changed[:, :n], changed[:, n:], None, point[:, 2 * n : -1])
            carry = self.plan.first_carry(self.stepper, start, self.rows[lane : lane + 1])[0]
            later = self._next_event(lane, carry, t, rest)
            if later is None:
                return carry, fraction
            event, part = later
            there = self._part(lane, carry, t, part * rest)
            fraction += part * (1 - fraction)
            self._note(lane, there, self.t0 + (k + fraction) * self.h, event)
        return None, fraction

    def _next_event(self, lane: int, carry: Array, t: float, rest: float) -> tuple[int, float] | None:
        """The first acting event in what is left of the step, just after an action, and at which fraction of it."""
        g = [self._g(lane, self._part(lane, carry, t, f * rest), t + f * rest) for f in AFTER]
        for j in range(len(AFTER) - 1):
            acting = [k for k, e in enumerate(self.events) if e.action != "record"]
            hits = [k for k in acting if _crosses(g[j][k], g[j + 1][k], self.events[k].direction)]
            found = [(self._root(lane, carry, t, AFTER[j + 1] * rest, k, AFTER[j] / AFTER[j + 1]), k) for k in hits]
            if found:
                return min(found)[1], min(found)[0] * AFTER[j + 1]
        return None

    # places within a step
    def _part(self, lane: int, carry: Array, t: float, h: float) -> Array:
        """The carry after a part of a step."""
        moved = np.ascontiguousarray(carry[None, :].copy())
        if h <= 0:
            return moved[0]
        status, none = np.zeros((1, STATUS_WIDTH), dtype=np.int64), np.zeros((1, 1, self.stepper.width))
        self.stepper.advance(
            moved, np.ascontiguousarray(self.rows[lane : lane + 1]), status, np.zeros(1), none,
            begin=0, steps=1, every=2, closing=False, row=0, t0=t, h=h,
        )  # fmt: skip
        if status[0, 0]:
            return np.full_like(moved[0], np.nan)
        moved[0, len(self.stepper.stepmap.state) :] = 0  # the next step has another length: forget earlier solutions
        return moved[0]

    def _located(self, lane: int, node: Array, t: float, event: int) -> tuple[float, Array]:
        """At which fraction of the step from a node an event vanishes, and the carry there."""
        n = len(self.system.coordinates)
        velocity = self._points(lane, node[None, :], np.array([t]))[:, n : 2 * n]
        carry = self.stepper.carry(node[None, : len(self.stepper.stepmap.state)], self._seed(velocity))[0]
        root = self._root(lane, carry, t, self.h, event, 0.0)
        return root, self._part(lane, carry, t, root * self.h)

    def _root(self, lane: int, carry: Array, t: float, h: float, event: int, low: float) -> float:
        """A zero of the event on the method's own motion, by bisection with secants (Illinois)."""

        def g(f: float) -> float:
            return float(self._g(lane, self._part(lane, carry, t, f * h), t + f * h)[event])

        a, b = low, 1.0
        ga, gb = g(a), g(b)
        for _ in range(80):
            c = b - gb * (b - a) / (gb - ga) if gb != ga else (a + b) / 2
            c = c if min(a, b) < c < max(a, b) else (a + b) / 2
            gc = g(c)
            if gc == 0 or abs(b - a) < 1e-15:
                return c
            if gc * gb < 0:
                a, ga = b, gb
            else:
                ga /= 2
            b, gb = c, gc
        return b

    def _seed(self, velocity: Array) -> Array:
        return self.plan.seed(self.stepper.stepmap.sought, velocity)

    # values
    def _points(self, lane: int, nodes: Array, times: Array) -> Array:
        """Position, velocity, entropies and time at some nodes."""
        n, k = len(self.system.coordinates), len(self.system.entropies)
        q, second, S = nodes[:, :n], nodes[:, n : 2 * n], nodes[:, 2 * n : 2 * n + k]
        if self.stepper.stepmap.state[n] != self.system.coordinates[0].dot.name:
            second = self._velocity(np.column_stack([q, second, S, times]), self.rows[lane : lane + 1])[0]
        return np.column_stack([q, second, S, times])

    def _g(self, lane: int, node: Array, t: float) -> Array:
        return self._values(self._points(lane, node[None, :], np.array([t])), self.rows[lane : lane + 1])[0][0]

    def _crossings(self, lane: int, nodes: Array, at: int) -> list[tuple[int, int]]:
        """(step within the stretch, event) of every change of sign, in order."""
        times = self.t0 + (at + np.arange(len(nodes))) * self.h
        g = self._values(self._points(lane, nodes, times), self.rows[lane : lane + 1])[0]
        found = []
        for k, event in enumerate(self.events):
            signs = _crosses(g[:-1, k], g[1:, k], event.direction)
            found += [(int(j), k) for j in np.flatnonzero(signs)]
        return sorted(found)

    def _happen(self, lane: int, node: Array, k: int, event: int) -> None:
        t = self.t0 + k * self.h
        fraction, there = self._located(lane, node, t, event)
        self._note(lane, there, t + fraction * self.h, event)

    def _note(self, lane: int, state: Array, t: float, event: int) -> None:
        point = self._points(lane, state[None, :], np.array([t]))[0]
        names = [c.name for c in self.system.coordinates]
        n = len(names)
        here, moving = (dict(zip(names, map(float, x), strict=True)) for x in (point[:n], point[n : 2 * n]))
        self.crossings.append(Crossing(self.events[event].name, float(t), lane, here, moving))


def _complete(system: System, event: Event) -> dict[str, Any]:
    """The state after an event's action: what it changes, and everything else as it was."""
    action = event.action if isinstance(event.action, Mapping) else {}
    return {s.name: action.get(s, s) for s in (*system.coordinates, *system.velocities)}


def _crosses(before: Any, after: Any, direction: int) -> Any:
    """Whether a value goes from one side of zero to the other (leaving zero itself does not count)."""
    rises = (before < 0) & (after >= 0)
    falls = (before > 0) & (after <= 0)
    return rises if direction > 0 else falls if direction < 0 else rises | falls


def _keep(out: Array, nodes: Array, first: int, every: int) -> None:
    """Copy the nodes that are multiples of `every` into their rows."""
    for j in range(-first % every, len(nodes), every):
        row = (first + j) // every
        if row < len(out):
            out[row, : nodes.shape[1]] = nodes[j]
