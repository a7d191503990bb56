"""States at which events are evaluated and act: values and rates of events, constraints, actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import StartError
from ..model.coordinates import time
from ..model.space import differences, factors, groups, moved_numbers
from ..model.system import System
from ..symbolic import fast
from ..theory.motion import state_maps as maps
from .start import resolve_start
from .values import Array, point_map
from .velocities import velocities

if TYPE_CHECKING:
    from .events import Event

ADMISSIBLE = 1e-9
"""An action violates the constraints if projecting its result changes it by more than this, relatively."""


class States:
    """States (q, v, S, mu, t) of the lanes of a run with events, one row each; mu are multipliers in the state.

    rows are the parameters of the lanes; nodes of a method hold momenta or velocities, and momenta of an impulsive method
    are projected.
    """

    def __init__(self, system: System, events: Sequence[Event], rows: Array, momenta: bool, impulsive: bool):
        self.system, self.events, self.rows = system, events, rows
        self.groups = maps.state_groups(system)
        self.placed, self.moving = self.groups.columns("position"), self.groups.columns("velocity")
        values = {str(k): e.expression for k, e in enumerate(events)}
        self._values = point_map(maps.quantity_map(system, values))
        self._rates = point_map(maps.rate_map(system, values))
        self._momenta, self._project = momenta, impulsive and bool(system.constraints)
        self._carried = bool(system.principle.carried(system))
        self.beside = np.zeros((len(rows), len(system.coordinates)))  # the last velocity found in each lane
        self._admissible = point_map(maps.admissible_map(system)) if system.constraints else None
        whole = {k: _after(system, e) for k, e in enumerate(events) if e.changes}
        self._changed = {k: point_map(maps.quantity_map(system, after)) for k, after in whole.items()}

    def at(self, lane: int, nodes: Array, times: Array, near: Array | None = None) -> Array:
        """The states at some nodes; `near` are velocities on the branch of the motion, by default the last ones found."""
        q, second, S, held = self.groups.split(nodes, "position", "velocity", "entropy", "multiplier")
        if self._momenta:
            beside, p = self.beside[[lane]] if near is None else near, second
            at = np.column_stack([q, p, S, times])
            second = velocities(self.system, at, self.rows[[lane]], self._project, beside)
            if self._carried:
                held = self._at(maps.carried_map(self.system), lane, np.column_stack([q, second, S, p, times]))
        self.beside[lane] = np.where(np.isfinite(second[-1]), second[-1], self.beside[lane])
        return np.column_stack([q, second, S, held, times])

    def values(self, lane: int, states: Array) -> Array:
        """The values of all events at some states."""
        return self._values(states, self.rows[[lane]])[0]

    def rates(self, lane: int, state: Array) -> Array:
        """The rates of all events along the motion at a state."""
        rates: Array = self._rates(state, self.rows[[lane]])[0][0]
        return rates

    def leads(self, lane: int, state: Array, zero: Array, moment: float) -> Array:
        """The side of zero towards which the tangent of the motion points; `zero` is subtracted from the events here.

        By the rates, since a difference of values is rounding noise after a low bounce; where a rate is zero, by values
        a moment later. On the tangent, because the motion itself may be below the floor again by then.
        """
        later, q = state.copy(), self.system.coordinates
        later[:, self.placed] = moved_numbers(q, state[:, self.placed], moment * state[:, self.moving])
        motion = maps.motion_map(self.system)
        later[:, self.moving] += moment * self._at(motion, lane, state)[:, motion.columns(c.ddot for c in q)]
        later[:, -1] += moment
        side = side_of(self.values(lane, state)[0] - zero + moment * np.nan_to_num(self.rates(lane, state)))
        return np.where(side != 0, side, side_of(self.values(lane, later)[0] - zero))

    def admissible(self, lane: int, state: Array) -> Array:
        """The state projected onto the constraints, which removes errors of the method and rounding."""
        if self._admissible is None:
            return state
        nearest, failed = self._admissible(state, self.rows[[lane]])
        whole = np.column_stack([nearest, state[:, nearest.shape[1] :]])
        return state if failed.any() else whole

    def changed(self, lane: int, state: Array, event: int) -> Array | None:
        """The state after the action of an event; None if that is off the constraints."""
        after = state.copy()
        after[:, :-1] = self._changed[event](state, self.rows[[lane]])[0]
        if not self.system.constraints or not np.isfinite(after).all():
            return after
        return self._completed(lane, state, after, self.events[event])

    def _completed(self, lane: int, before: Array, after: Array, event: Event) -> Array | None:
        """The state after an action as a start: on the constraints up to rounding, or completed by them; else None.

        Velocities that the action does not name are kept if that satisfies the constraints; otherwise the
        constraints determine them, as in any start.
        """
        q, v, S = self.system.coordinates, self.system.velocities, self.system.entropies
        nearest = self.admissible(lane, after)
        if self._near(lane, before, after, nearest, any(s in q for s in event.changes)):
            return nearest
        if groups(q):  # their velocities are not completed one by one
            return None
        held = self.system.principle.carried(self.system)
        given = dict(zip((*q, *v, *S, *held, time), after[0], strict=True))
        named = {s: x for s, x in given.items() if s not in v or s in event.changes}
        try:
            start = resolve_start(self.system, named, {}, self.rows[[lane]])
        except StartError:
            return None
        return np.column_stack([start.q, start.second, after[:, self.moving.stop :]])

    def _near(self, lane: int, before: Array, after: Array, nearest: Array, displaced: bool) -> bool:
        """Whether an action satisfies the constraints; lengths are measured by the mass matrix, so that units cancel."""
        n = len(self.system.coordinates)
        mass = self._at(maps.mass_map(self.system), lane, after).reshape(n, n)

        def length(way: Array) -> float:
            return float(np.sqrt(np.abs(way @ mass @ way.T).sum()))

        def way(first: Array, second: Array) -> Array:
            return differences(self.system.coordinates, *(s[:, self.placed] for s in (first, second)))

        turned = length((nearest - after)[:, self.moving]) <= ADMISSIBLE * length(after[:, self.moving])
        return turned and (not displaced or length(way(after, nearest)) <= ADMISSIBLE * length(way(before, after)))

    def _at(self, stepmap: Any, lane: int, state: Array) -> Array:
        return point_map(stepmap)(state, self.rows[[lane]])[0]


def _after(system: System, event: Event) -> dict[str, Any]:
    """The state after the action of an event: numbers of the position, velocities, entropies, multipliers."""
    held = {f.name: f.numbers for f in factors(system.coordinates)}
    kept = {name: event.changes.get(q, fast(name)) for q, names in _owned(system, held) for name in names}
    others = (*system.velocities, *system.entropies, *system.principle.carried(system))
    return kept | {s.name: event.changes.get(s, s) for s in others}


def _owned(system: System, held: dict[str, Any]) -> list[tuple[Any, Any]]:
    return [(f.key, held[f.name]) for f in factors(system.coordinates)]


def side_of(g: Array) -> Array:
    """The side of zero: -1, 0 or 1; 0 for NaN."""
    return (g > 0) * 1.0 - (g < 0)
