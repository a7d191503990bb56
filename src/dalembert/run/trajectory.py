"""The result of a simulation: plain arrays, everything else computed from them on demand."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import symengine
from sympy import Symbol

from ..discrete.system import DiscreteSystem
from ..engine.run_options import EXACT, Search
from ..engine.status import Status
from ..errors import ModelError, ModelWarning
from ..methods.base import Method
from ..model import checks
from ..model.coordinates import multiplier, time
from ..model.rotation import Entry, Rotation
from ..model.space import differences, factors, numbers, position_symbols
from ..model.system import System
from ..theory.motion import state_maps as maps
from .values import Array, point_map
from .velocities import near_names, velocities_of

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from .events import Crossing

POINTS = 1_000_000
"""Approximate number of points to which a map is applied in one call."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A computed motion. `run.x` or `run[x]`, `run[x.dot]`, `run[x.momentum]` are arrays over time.

    `run["x"]` is always the coordinate. `run.x` is the same, unless every run has an attribute of that name (`run.h`,
    `run.energy`): then it is that attribute, with a ModelWarning.

    With lanes every array has a leading axis of lanes. Beyond the last valid step of a lane there is NaN. If events have
    stopped every lane, the last record is the latest of these events: `run.time[-1]` is its time, and lanes that stopped
    before it have NaN there. `end_times` has the end of each lane, `events` the state of each at its event.
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
    _cache: dict[str, Array] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        names = {q.owner for q in (*self.system.coordinates, *self.system.entropies)}
        object.__setattr__(self, "_shared", frozenset(n for n in names if n in self.__dict__ or hasattr(type(self), n)))

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
    @property
    def _n(self) -> int:
        return len(self.system.coordinates)

    def _shaped(self, table: Array) -> Array:
        return table if self.lanes is not None else table[0]

    def _columns(self, names: list[str]) -> Array:
        return self.records[:, :, [self.columns.index(n) for n in names]]

    @cached_property
    def _positions(self) -> Array:
        return self._columns(numbers(self.system.coordinates))

    @cached_property
    def _entropies(self) -> Array:
        return self._columns([S.name for S in self.system.entropies])

    @cached_property
    def _velocities(self) -> Array:
        """Velocities at the nodes: recorded, or from the momenta by the inverse Legendre transform."""
        names = [q.dot.name for q in self.system.coordinates]
        if names[0] in self.columns:
            return self._columns(names)
        if isinstance(self.system, DiscreteSystem):
            quotient = np.full((*self._positions.shape[:2], self._n), np.nan)
            quotient[:, :-1] = self._quotients
            return quotient
        system = self.system
        project = bool(system.constraints) and (self.method is None or self.method.impulsive)
        found = velocities_of(self, system, project)
        return self._where_constraints_are_lost(found) if project else found

    @property
    def _near(self) -> Array:
        """Velocities near those of the nodes: of the step that begins there, or else between the records."""
        names = near_names(self.system)
        if set(names) <= set(self.columns):
            return self._columns(names)
        quotient = self._quotients
        still = np.zeros((*self._positions.shape[:2], self._n))
        return np.concatenate([quotient, quotient[:, -1:]], axis=1) if len(self) > 1 else still

    @property
    def _quotients(self) -> Array:
        """Displacements from record to record over the time between them."""
        q = self._positions
        return differences(self.system.coordinates, q[:, :-1], q[:, 1:]) / (self.h * self.every)

    def _where_constraints_are_lost(self, found: Array) -> Array:
        """Where constraints degenerate, momenta cannot be corrected along reactions; admissible ones need no correction."""
        assert isinstance(self.system, System)
        lost = np.isfinite(self._carried_momenta).all(axis=-1) & ~np.isfinite(found).all(axis=-1)
        if not lost.any():
            return found
        plain = self._at_points(maps.velocity_map(self.system, False), self._carried_momenta)
        table = self._at_points(maps.constraint_map(self.system), plain).reshape(*lost.shape, -1, 2 + self._n)
        terms = np.concatenate([table[..., 1:2], table[..., 2:] * plain[:, :, None, :]], axis=-1)
        held = np.abs(terms.sum(axis=-1)) <= 1e-9 * np.abs(terms).sum(axis=-1)
        return np.where((lost & held.all(axis=-1))[..., None], plain, found)

    @property
    def _carried_momenta(self) -> Array:
        return self._columns([q.momentum.name for q in self.system.coordinates])

    @cached_property
    def _momenta(self) -> Array:
        """Momenta dL/dv at the nodes; a discrete system has only the carried ones."""
        if isinstance(self.system, DiscreteSystem) or (not self.system.constraints and self._carries_momenta):
            return self._carried_momenta
        return self._at_points(maps.momentum_map(self.system), self._velocities)

    @property
    def _carries_momenta(self) -> bool:
        return self.system.coordinates[0].momentum.name in self.columns

    @cached_property
    def _multipliers(self) -> Array:
        names = [f"multiplier.{a + 1}" for a in range(len(self.system.constraints))]
        table = self._columns(names).copy() if set(names) <= set(self.columns) else None
        if isinstance(self.system, DiscreteSystem):
            assert table is not None
            return table
        if table is None or (self.method is not None and not self.method.node_multipliers):
            return self._at_points(maps.motion_map(self.system), self._velocities)[..., self._n :]
        if self._carries_momenta and table.size:
            # No equation of two whole steps holds where the motion began, at the start and after an action; the reaction
            # there is that of the continuous motion.
            lane, node = np.array(sorted(self.restarts) or np.zeros((0, 2)), dtype=int).T
            row = node // self.every - -(-self.begin // self.every)
            recorded = (node % self.every == 0) & (row >= 0) & (row < len(self.time))
            lane, row = lane[recorded], row[recorded]
            if not self._ends_at_a_node:
                lane = np.append(lane, np.arange(len(table)))
                row = np.append(row, np.full(len(table), len(self.time) - 1))
            state = (table[lane, row] for table in (self._positions, self._velocities, self._entropies))
            inputs = np.column_stack([*state, self.time[row]])
            motion = point_map(maps.motion_map(self.system))(inputs, self._parameter_rows[lane])[0]
            table[lane, row] = motion[:, self._n :]
        return table

    @property
    def restarts(self) -> set[tuple[int, int]]:
        """(lane, number of node) of the nodes that no whole step of one motion leads to: the start, or after an action."""
        first = range(len(self.records)) if self.begin == 0 else self.renewed
        return {(lane, self.begin) for lane in first} | {(c.lane, c.step + 1) for c in self.events if c.changed}

    @property
    def _ends_at_a_node(self) -> bool:
        """Whether the last record is at a node, and not at an event within a step."""
        nodes = self.every * (-(-self.begin // self.every) + np.arange(len(self.time))[-1:])
        return bool((self.time[-1:] == self.t0 + self.h * nodes).all())

    @property
    def at_nodes(self) -> Trajectory:
        """The run without its last record if that is at an event within a step: only whole steps remain."""
        if self._ends_at_a_node:
            return self
        return replace(self, time=self.time[:-1], records=self.records[:, :-1], _cache={})

    @property
    def end_times(self) -> Array:
        """The time to which each lane was computed: that of the event which stopped it, or of its last valid node."""
        times = self.t0 + self.h * self.codes[:, 1]
        for c in self.events:
            if self.codes[c.lane, 0] == Status.EVENT:  # the last crossing of a lane stopped it
                times[c.lane] = c.time
        return np.asarray(self._shaped(times))

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
    def _parameter_rows(self) -> Array:
        rows = [np.broadcast_to(self.parameters[p.name], len(self.records)) for p in self.system.parameters]
        return np.stack(rows, axis=1) if rows else np.zeros((len(self.records), 0))

    def _at_points(self, stepmap: Any, second: Array) -> Array:
        """Apply a pointwise map (q, second, S, t) -> outputs at all recorded nodes of all lanes."""
        compiled, times = point_map(stepmap), len(self.time)
        clock = np.broadcast_to(self.time[None, :, None], (*second.shape[:2], 1))
        result = np.empty((*second.shape[:2], len(stepmap.outputs)))
        if not result.size:
            return result
        size = max(1, POINTS // max(times, 1))  # lanes in one call: many at once, but not all of a large ensemble
        for some in (slice(i, i + size) for i in range(0, len(second), size)):
            parts = [table[some] for table in (self._positions, second, self._entropies, clock)]
            points = np.concatenate(parts, axis=-1).reshape(-1, sum(p.shape[-1] for p in parts))
            rows = self._parameter_rows[some]
            each = rows if len(rows) == 1 else np.repeat(rows, times, axis=0)
            result[some] = compiled(points, each)[0].reshape(-1, times, result.shape[-1])
        return result

    def _stated(self, lacking: str) -> System:
        """The system, if it was stated in continuous time; a discrete one lacks the requested quantity."""
        if isinstance(self.system, DiscreteSystem):
            raise ModelError(f"a discrete system {lacking}.")
        return self.system

    def quantity(self, expression: Any) -> Array:
        """Any expression in coordinates, velocities, parameters and time, along the motion."""
        system = self._stated("has no velocities; compute from its positions and momenta instead")
        places = position_symbols(system.coordinates)
        known = {*places, *system.velocities, *system.entropies, *system.parameters}
        if isinstance(expression, str):
            if expression not in {time.name, *(s.name for s in known)}:
                raise ModelError(
                    f"quantity: got the text {expression!r}. Expected an expression, without quotes: "
                    f"run.quantity({expression}); in quotes, only the name of a symbol, such as "
                    f"{places[0].name!r}."
                )
        elif not isinstance(expression, symengine.Basic):  # these come from the library itself
            expression = checks.symbols(checks.expression(expression, "quantity"), known, "quantity")
        table = self._at_points(maps.quantity_map(system, {"quantity": expression}), self._velocities)
        moving = np.isfinite(self._positions).all(axis=-1)  # a branch may be defined where there is no motion
        return self._shaped(np.where(moving, table[..., 0], np.nan))

    @property
    def energy(self) -> Array:
        """The energy T + V along the motion; p.v - L where the Lagrangian was given as a whole."""
        if "energy" not in self._cache:
            system = self._stated("given by its discrete Lagrangian alone has no energy")
            table = self._at_points(maps.energy_map(system), self._velocities)[..., 0]
            self._cache["energy"] = self._shaped(np.where(np.isfinite(self._positions).all(axis=-1), table, np.nan))
        return self._cache["energy"]

    @property
    def jacobi_integral(self) -> Array:
        """p.v - L along the motion: the energy, unless the kinetic energy has parts of lower degree in the velocities."""
        system = self._stated("given by its discrete Lagrangian alone has no Jacobi integral")
        table = self._at_points(maps.jacobi_map(system), self._velocities)[..., 0]
        return self._shaped(np.where(np.isfinite(self._positions).all(axis=-1), table, np.nan))

    @property
    def temperatures(self) -> Array:
        """The temperatures along the motion, last axis: one per entropy."""
        system = self._stated("given by its discrete Lagrangian alone has no temperatures at the nodes")
        outputs = {f"temperature {S}": T for S, T in zip(system.entropies, system.temperatures, strict=True)}
        return self._shaped(self._at_points(maps.quantity_map(system, outputs), self._velocities))

    @property
    def multipliers(self) -> Array:
        """The multipliers, last axis: one per constraint; multiplier times one-form is the reaction force."""
        return self._shaped(self._multipliers)

    @property
    def step_residuals(self) -> Array | None:
        """The discrete constraints on the step that begins at each node, last axis; None if the method has none."""
        names = [f"constraint.{a + 1}" for a in range(len(self.system.constraints))]
        return self._shaped(self._columns(names)) if names and names[0] in self.columns else None

    def __getitem__(self, key: Any) -> Array:
        """An array over time by symbol or name; `run[R]` are matrices and `run[R.omega]` vectors, on further axes."""
        if isinstance(key, tuple) and key and all(isinstance(s, Symbol) for s in key):
            return np.stack([self[s] for s in key], axis=-1)
        name = key.name if isinstance(key, Symbol | Rotation) else key
        if name == time.name:
            return self.time
        at = 0
        for f in factors(self.system.coordinates):
            held = self._positions[..., at : at + len(f.numbers)]
            at += len(f.numbers)
            if name == f.name:
                return self._shaped(f.shown(held) if isinstance(f, Rotation) else held[..., 0])
            if isinstance(f, Rotation) and isinstance(key, Entry) and key in f.entries:
                return self._shaped(f.shown(held)[..., *divmod(f.entries.index(key), 3)])
        for i, q in enumerate(self.system.coordinates):
            if name == q.dot.name:
                return self._shaped(self._velocities[..., i])
            if name == q.momentum.name:
                return self._shaped(self._momenta[..., i])
        for i, S in enumerate(self.system.entropies):
            if name == S.name:
                return self._shaped(self._entropies[..., i])
        for a in range(len(self.system.constraints)):
            if name == multiplier(a + 1).name:
                return self.multipliers[..., a]
        names = ", ".join(f.name for f in factors(self.system.coordinates))
        raise KeyError(f"{name}: this run has {names}, their .dot and .momentum, and the multipliers.")

    def __getattribute__(self, name: str) -> Any:
        if name in object.__getattribute__(self, "__dict__").get("_shared", ()) and _is_asked_from_outside():
            warnings.warn(
                f"run.{name} is the `{name}` that every run has, and a coordinate of this run is called {name} too: "
                f"run[{name!r}] is the coordinate.",
                ModelWarning,
                stacklevel=2,
            )
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Array:
        system = self.__dict__.get("system")  # missing while a copy is being made
        if system is not None and any(q.owner == name for q in (*system.coordinates, *system.entropies)):
            return self[name]
        told = f"; coordinates are run.{system.coordinates[0].owner} and so on" if system is not None else ""
        raise AttributeError(f"a Trajectory has no {name!r}{told}.")

    def __len__(self) -> int:
        return len(self.time)

    # the same as an xarray Dataset, a file, a picture
    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything as an xarray Dataset: time, coordinates, velocities, momenta, multipliers, status, provenance."""
        from .storage import to_dataset

        return to_dataset(self)

    def save(self, path: str | Path) -> Path:
        """Save to a NetCDF file; `dalembert.load` reads it back."""
        from .storage import save

        return save(self, path)

    def plot(self, path: str | Path | None = None) -> Figure:
        """A figure of the motion; saved if a path is given."""
        from ..draw.plots import plot

        return plot(self, path)

    def __repr__(self) -> str:
        count = "" if self.lanes is None else f"{self.lanes} lanes, "
        by = f", {self.method!r}" if self.method else ""
        early = int((~np.isin(self.codes[:, 0], (Status.CONVERGED, Status.EVENT))).sum())
        ended = f", {early} lane(s) ended early" if early else ""
        span = f", t = {self.time[0]:g} to {self.time[-1]:g}" if len(self) else ""
        if early and len(self) and (end := float(np.max(self.end_times))) < self.time[-1]:
            span = f", t = {self.time[0]:g} to {end:g} of {self.time[-1]:g}"
        return f"<Trajectory of {self.system.name!r}: {count}{len(self)} records{span}, h = {self.h:g}{by}{ended}>"


def _is_asked_from_outside() -> bool:
    """Whether the attribute of a run is read by code other than the library and `dataclasses.replace`."""
    module = str(sys._getframe(2).f_globals.get("__name__", ""))
    return not module.startswith("dalembert.") and module != "dataclasses"
