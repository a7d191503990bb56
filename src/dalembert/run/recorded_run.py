"""The arrays of a run: what was recorded, and tables of positions, velocities, momenta and multipliers made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from ..discrete.system import DiscreteSystem
from ..engine.machine import DOUBLE
from ..engine.run_options import EXACT, Search
from ..engine.status import Status
from ..errors import MethodError
from ..methods.base import Method
from ..model.space import differences, numbers
from ..model.system import System
from ..theory.motion import state_maps as maps
from ..waist.stepmap import TIME
from .values import Array, point_map
from .velocities import near_names, velocities_of

if TYPE_CHECKING:
    from .events import Crossing

POINTS = 1_000_000
"""Approximate number of points to which a map is applied in one call."""


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """The records of a run and the tables made from them, by the roles of the layout; `Trajectory` is what users see.

    A table has the shape (lanes, times, numbers), with one lane if there are none.
    """

    system: System | DiscreteSystem
    method: Method | None
    h: float
    every: int
    time: Array
    parameters: Mapping[str, Array]
    records: Array
    """Shape (lanes, times, columns)."""
    columns: tuple[str, ...]
    codes: Array
    """Per lane: status code, last valid step, Newton iterations, corrections."""
    residual: Array
    lanes: int | None
    carry: Array
    """The data of the next step; continuing from them is bitwise equal to an uninterrupted run."""
    begin: int
    """The number of the first step: not 0 for a continued run."""
    t0: float
    version: str
    events: tuple[Crossing, ...] = ()
    """Crossings of events, lane by lane, in the order of time."""
    watched: Array | None = None
    """Of each event in each lane at the last node: its side of zero after a recent action, and how long that counts."""
    renewed: tuple[int, ...] = ()
    """Of a continued run: the lanes in which an event acted in the step before its first node."""
    search: Search = EXACT
    """How exactly each step was solved: `search.tolerance` and `search.max_iterations`, see `simulate`."""
    reductions: Mapping[str, Array] = field(default_factory=dict)
    """What `simulate(record=...)` kept over all nodes, such as "largest x" and "drift energy": a number for each lane."""
    precision: str = DOUBLE
    """In which numbers its steps were computed, see `simulate`."""
    stops: Mapping[int, tuple[float, Array]] = field(default_factory=dict, repr=False)
    """Of lanes that an event has stopped in this computation: when, and the record there. Files do not have it."""
    _cache: dict[str, Array] = field(default_factory=dict, repr=False)

    # status
    @property
    def status(self) -> Any:
        """How each lane ended: one `Status`, or a list of them if there are lanes."""
        codes = [Status(int(c)) for c in self.codes[:, 0]]
        return codes if self.lanes is not None else codes[0]

    @property
    def ok(self) -> bool:
        """Whether every lane reached its end, or an event that stopped it."""
        return bool(np.isin(self.codes[:, 0], (Status.CONVERGED, Status.EVENT)).all())

    @property
    def changes(self) -> int:
        """How often events changed the motion."""
        return sum(c.changed for c in self.events)

    @property
    def iterations(self) -> float:
        """Newton iterations per step, on average: Jacobians formed and factored, each good for one correction or more."""
        return self._per_step(2)

    @property
    def corrections(self) -> float:
        """Corrections of the unknowns per step, on average: a residual and a substitution each."""
        return self._per_step(3)

    def _per_step(self, column: int) -> float:
        done = (self.codes[:, 1] - self.begin).sum()
        return float(self.codes[:, column].sum() / done) if done else 0.0

    # arrays
    def table(self, role: Literal["position", "velocity", "momentum", "multiplier", "entropy"]) -> Array:
        """All numbers of a role at the recorded nodes, in the order of the coordinates, constraints or entropies."""
        tables = {
            "position": "_positions", "velocity": "_velocities", "momentum": "_momenta", "multiplier": "_multipliers",
            "entropy": "_entropies",
        }  # fmt: skip
        return np.asarray(getattr(self, tables[role]))

    @property
    def _n(self) -> int:
        return len(self.system.coordinates)

    def by_lane(self, table: Array) -> Array:
        return table if self.lanes is not None else table[0]

    def columns_named(self, names: list[str]) -> Array:
        return self.records[:, :, [self.columns.index(n) for n in names]]

    @cached_property
    def _positions(self) -> Array:
        return self.columns_named(numbers(self.system.coordinates))

    @cached_property
    def _entropies(self) -> Array:
        return self.columns_named([S.name for S in self.system.entropies])

    @cached_property
    def _velocities(self) -> Array:
        """Velocities at the nodes: recorded, or from the momenta by the inverse Legendre transform."""
        names = [q.dot.name for q in self.system.coordinates]
        if names[0] in self.columns:
            return self.columns_named(names)
        if (system := self.system.continuous) is None:
            quotient = np.full((*self._positions.shape[:2], self._n), np.nan)
            quotient[:, :-1] = self._quotients
            return quotient
        project = bool(system.constraints) and (self.method is None or self.method.impulsive)
        found = velocities_of(self, system, project)
        return self._where_constraints_are_lost(system, found) if project and not self._held else found

    @cached_property
    def _held(self) -> list[str]:
        """The names of the multipliers that the principle of the system carries in the state."""
        system = self.system.continuous
        return [] if system is None else [m.name for m in system.principle.carried(system)]

    @cached_property
    def _carried(self) -> Array:
        """These multipliers at the nodes: recorded, or from the momenta."""
        system = self.system.continuous
        if system is None or not self._held or not self.carries_momenta:
            return self.columns_named(self._held)
        return self.at_points(maps.carried_map(system), self._velocities, self.carried_momenta)

    @property
    def carried_multipliers(self) -> Array:
        """The multipliers that the principle of the system has in the state, at the nodes."""
        return self._carried

    @property
    def near_velocities(self) -> Array:
        """Velocities near those of the nodes: of the step that begins there, or else between the records."""
        names = near_names(self.system)
        if set(names) <= set(self.columns):
            return self.columns_named(names)
        quotient = self._quotients
        still = np.zeros((*self._positions.shape[:2], self._n))
        return np.concatenate([quotient, quotient[:, -1:]], axis=1) if len(self) > 1 else still

    @property
    def _quotients(self) -> Array:
        """Displacements from record to record over the time between them."""
        q = self._positions
        return differences(self.system.coordinates, q[:, :-1], q[:, 1:]) / (self.h * self.every)

    def _where_constraints_are_lost(self, system: System, found: Array) -> Array:
        """Where constraints degenerate, momenta cannot be corrected along reactions; admissible ones need no correction."""
        lost = np.isfinite(self.carried_momenta).all(axis=-1) & ~np.isfinite(found).all(axis=-1)
        if not lost.any():
            return found
        plain = self.at_points(maps.velocity_map(system, False), self.carried_momenta)
        _, drift, row = maps.constraint_parts(system, self.at_points(maps.constraint_map(system), plain))
        terms = np.concatenate([drift[..., None], row * plain[:, :, None, :]], axis=-1)
        held = np.abs(terms.sum(axis=-1)) <= 1e-9 * np.abs(terms).sum(axis=-1)
        return np.where((lost & held.all(axis=-1))[..., None], plain, found)

    @property
    def carried_momenta(self) -> Array:
        return self.columns_named([q.momentum.name for q in self.system.coordinates])

    @cached_property
    def _momenta(self) -> Array:
        """Momenta dL/dv at the nodes; a discrete system has only the carried ones."""
        system = self.system.continuous
        if system is None or (not system.constraints and self.carries_momenta):
            return self.carried_momenta
        return self.at_points(maps.momentum_map(system), self._velocities)

    @property
    def carries_momenta(self) -> bool:
        return self.system.coordinates[0].momentum.name in self.columns

    @cached_property
    def _multipliers(self) -> Array:
        names = [m.name for m in self.system.multipliers]
        table = self.columns_named(names).copy() if set(names) <= set(self.columns) else None
        if (system := self.system.continuous) is None:
            assert table is not None
            return table
        if table is None or (self.method is not None and not self.method.node_multipliers):
            motion = maps.motion_map(system)
            found = self.at_points(motion, self._velocities)[..., motion.columns(system.principle.unknowns(system))]
            return self._with_carried(found)
        if self.carries_momenta and table.size:
            # No equation of two whole steps holds where the motion began, at the start and after an action; the reaction
            # there is that of the continuous motion.
            lane, node = np.array(sorted(self.restarts) or np.zeros((0, 2)), dtype=int).T
            row = node // self.every - -(-self.begin // self.every)
            recorded = (node % self.every == 0) & (row >= 0) & (row < len(self.time))
            lane, row = lane[recorded], row[recorded]
            if not self.ends_at_a_node:
                lane = np.append(lane, np.arange(len(table)))
                row = np.append(row, np.full(len(table), len(self.time) - 1))
            tables = self._positions, self._velocities, self._entropies, self._carried
            state = (table[lane, row] for table in tables)
            inputs = np.column_stack([*state, self.time[row]])
            motion = maps.motion_map(system)
            found = point_map(motion)(inputs, self.parameter_rows[lane])[0]
            table[lane, row] = found[:, motion.columns(system.principle.unknowns(system))]
        return self._with_carried(table)

    def _with_carried(self, table: Array) -> Array:
        """A table of multipliers, with those of the state in their columns."""
        system = self.system.continuous
        if self._held and system is not None:
            names = [m.name for m in system.multipliers]
            table[..., [names.index(name) for name in self._held]] = self._carried
        return table

    @property
    def restarts(self) -> set[tuple[int, int]]:
        """(lane, number of node) of the nodes that no whole step of one motion leads to: the start, or after an action."""
        first = range(len(self.records)) if self.begin == 0 else self.renewed
        return {(lane, self.begin) for lane in first} | {(c.lane, c.step + 1) for c in self.events if c.changed}

    @property
    def has_own_times(self) -> bool:
        """Whether the steps have different lengths, and the time of each node is in the state."""
        return TIME in self.columns

    def time_of(self, node: int) -> float:
        """The time of a node; of steps with different lengths, that of the last record up to it."""
        if not self.has_own_times:
            return float(self.t0 + self.h * node)
        row = node // self.every - -(-self.begin // self.every)
        return float(self.time[max(0, min(row, len(self.time) - 1))])

    def needs_equal_steps(self, role: str) -> None:
        """Refuse a run whose steps have different lengths in time."""
        if self.has_own_times:
            raise MethodError(
                f"{role}: the steps of {self.method!r} have different lengths in time. Expected a run with equal steps, by a "
                f"method such as Midpoint() or Reference()."
            )

    def of_lanes(self, lanes: Array) -> Self:
        """Some lanes as a run of their own."""
        place = {int(lane): i for i, lane in enumerate(lanes)}
        return replace(
            self, lanes=len(lanes), records=self.records[lanes], codes=self.codes[lanes], residual=self.residual[lanes],
            carry=self.carry[lanes], watched=None if self.watched is None else self.watched[:, lanes],
            parameters={name: v[lanes] if np.ndim(v) else v for name, v in self.parameters.items()},
            reductions={name: v[lanes] for name, v in self.reductions.items()},
            events=tuple(replace(c, lane=place[c.lane]) for c in self.events if c.lane in place),
            renewed=tuple(place[lane] for lane in self.renewed if lane in place),
            stops={place[lane]: found for lane, found in self.stops.items() if lane in place}, _cache={},
        )  # fmt: skip

    @property
    def ends_at_a_node(self) -> bool:
        """Whether the last record is at a node, and not at an event within a step."""
        if self.has_own_times:
            return True
        nodes = self.every * (-(-self.begin // self.every) + np.arange(len(self.time))[-1:])
        return bool((self.time[-1:] == self.t0 + self.h * nodes).all())

    @property
    def at_nodes(self) -> Self:
        """The run without its last record if that is at an event within a step: only whole steps remain."""
        if self.ends_at_a_node:
            return self
        return replace(self, time=self.time[:-1], records=self.records[:, :-1], _cache={})

    @property
    def end_times(self) -> Array:
        """The time to which each lane was computed: that of the event which stopped it, or of its last valid node."""
        own = [self.time_of(int(node)) for node in self.codes[:, 1]] if self.has_own_times else None
        times = self.t0 + self.h * self.codes[:, 1] if own is None else np.array(own)
        for c in self.events:
            if self.codes[c.lane, 0] == Status.EVENT:  # the last crossing of a lane stopped it
                times[c.lane] = c.time
        return np.asarray(self.by_lane(times))

    @cached_property
    def stretches(self) -> Array:
        """For every record of every lane, the number of earlier steps in which events changed the motion: (lanes, times)."""
        nodes = self.every * (-(-self.begin // self.every) + np.arange(len(self.time)))
        cuts: list[list[int]] = [[] for _ in self.records]
        for lane, node in sorted(self.restarts):
            if node > self.begin:
                cuts[lane].append(node)
        return np.array([np.searchsorted(cut, nodes, side="right") for cut in cuts])

    @cached_property
    def parameter_rows(self) -> Array:
        table = np.empty((len(self.records), len(self.system.parameters)))
        for k, p in enumerate(self.system.parameters):
            table[:, k] = self.parameters[p.name]
        return table

    def at_points(self, stepmap: Any, second: Array, held: Array | None = None) -> Array:
        """Apply a pointwise map (q, second, S, held, t) -> outputs at all recorded nodes of all lanes.

        `held` are by default the multipliers in the state, if the map takes them.
        """
        if held is None:
            taken = bool(self._held) and set(self._held) <= set(stepmap.state)
            held = self._carried if taken else second[..., :0]
        compiled, times = point_map(stepmap), len(self.time)
        clock = np.broadcast_to(self.time[None, :, None], (*second.shape[:2], 1))
        result = np.empty((*second.shape[:2], len(stepmap.outputs)))
        if not result.size:
            return result
        size = max(1, POINTS // max(times, 1))  # lanes in one call: many at once, but not all of a large ensemble
        for some in (slice(i, i + size) for i in range(0, len(second), size)):
            parts = [table[some] for table in (self._positions, second, self._entropies, held, clock)]
            points = np.concatenate(parts, axis=-1).reshape(-1, sum(p.shape[-1] for p in parts))
            rows = self.parameter_rows[some]
            each = rows if len(rows) == 1 else np.repeat(rows, times, axis=0)
            result[some] = compiled(points, each)[0].reshape(-1, times, result.shape[-1])
        return result

    def __len__(self) -> int:
        return len(self.time)
