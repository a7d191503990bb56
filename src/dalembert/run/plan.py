"""The plan of a run: everything given, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ..discrete.equations import carried
from ..discrete.state_layout import velocity_columns
from ..discrete.system import DiscreteSystem
from ..engine.machine import COARSER, CPU, DOUBLE, Stepper
from ..engine.run_options import EXACT, Extent, Search
from ..errors import StartError
from ..methods.base import Method
from ..methods.own_time import OwnTimeMethod
from ..methods.stepping import Stepping
from ..model.space import differences
from ..model.system import System
from ..theory.motion import state_maps as maps
from ..waist.stepmap import TIME, StepMap
from .given_start import Start
from .progress import Report
from .reductions import Reduction, Tally
from .start import check_first_node, two_position_momenta
from .trajectory import Trajectory
from .values import Array, columns, point_map
from .velocities import with_near


def _kept(function: Any, system: System | DiscreteSystem, method: Method | None, *more: Any) -> Any:
    """The cached result of the function; computed if the method is a user's own and not hashable."""
    try:
        hash(method)
    except TypeError:
        return function.__wrapped__(system, method, *more)
    return function(system, method, *more)


def check_method(system: System, method: Method) -> None:
    """Raise a MethodError if the method does not apply to the system."""
    _kept(_check, system, method)


@lru_cache(maxsize=64)
def _check(system: System, method: Method) -> None:
    method.check(system)


@lru_cache(maxsize=64)
def _stepper(
    system: System | DiscreteSystem, method: Method | None, device: str, record: tuple[Reduction, ...]
) -> Stepper:
    """Cached: building the step map takes longer than a short run."""
    if record:
        return Stepper(tally(system, method, record).keeping, device)
    step = Stepping(system, method).step_map()
    stated = system.continuous
    return Stepper(step if stated is None else with_near(step, stated), device)


def stepper(
    system: System | DiscreteSystem, method: Method | None, device: str = CPU, record: tuple[Reduction, ...] = ()
) -> Stepper:
    """The compiled step of a system by a method; a discrete system is its own method."""
    kept: Stepper = _kept(_stepper, system, method, device, record)
    return kept


def tally(system: System | DiscreteSystem, method: Method | None, record: tuple[Reduction, ...]) -> Tally:
    """What a step keeps of these reductions."""
    kept: Tally = _kept(_tally, system, method, record)
    return kept


@lru_cache(maxsize=64)
def _tally(system: System | DiscreteSystem, method: Method | None, record: tuple[Reduction, ...]) -> Tally:
    return Tally(system, stepper(system, method).stepmap, method is None or method.impulsive, record)


def seed(
    system: System | DiscreteSystem, step: StepMap, velocity: Array, names: Sequence[str] | None = None,
    held: Array | None = None,
) -> Array:  # fmt: skip
    """Expected values of the unknowns searched for, or of those named, at a node with these velocities.

    Velocities within the step are those of the node, multipliers in the state are `held` where these are known, and others
    are zero.
    """
    zero, names = np.zeros(len(velocity)), step.sought if names is None else names
    places = velocity_columns(step.layout, system.coordinates, names)
    known = {} if held is None or not held.shape[1] else dict(zip(held_names(system), held.T, strict=True))
    found = [known.get(name, zero) if i is None else velocity[:, i] for name, i in zip(names, places, strict=True)]
    return np.stack(found, axis=1) if found else np.zeros((len(velocity), 0))


def held_names(system: System | DiscreteSystem) -> list[str]:
    """The names of the multipliers that the state of a system holds."""
    own, stated = system.discrete, system.continuous
    held = carried(own) if own is not None else stated.principle.carried(stated) if stated is not None else ()
    return [m.name for m in held]


@dataclass(frozen=True)
class Plan:
    """System, method, numbers and extent of a run, and how exactly its steps are solved."""

    system: System | DiscreteSystem
    method: Method | None
    extent: Extent
    values: dict[str, Array]
    lanes: int | None
    progress: Report = False
    search: Search = EXACT
    device: str = CPU
    """Where steps are computed: one of `engine.machine.BACKENDS`."""
    record: tuple[Reduction, ...] = ()
    """What is kept over all nodes."""

    @property
    def h(self) -> float:
        """The step."""
        return self.extent.h

    @cached_property
    def rows(self) -> Array:
        """The parameters as columns, one row per lane."""
        return np.ascontiguousarray(columns(self.values, [p.name for p in self.system.parameters], self.lanes))

    @cached_property
    def times(self) -> Array:
        """The times of the records."""
        e = self.extent
        return e.t0 + e.h * (e.every * (e.first_row + np.arange(e.records)))

    def stepper(self) -> Stepper:
        """The compiled step that is repeated."""
        found = stepper(self.system, self.method, self.device, self.record)
        return found.expect(self.lanes or 1, self.extent.steps)

    @property
    def tally(self) -> Tally:
        """What is kept over all nodes, and how."""
        return tally(self.system, self.method, self.record)

    def trajectory(self, **computed: Any) -> Trajectory:
        """The result, with its provenance."""
        from .. import __version__

        e = self.extent
        return Trajectory(
            system=self.system, method=self.method, h=e.h, every=e.every, time=self._own_times(computed),
            parameters=self.values, lanes=self.lanes, begin=e.begin, t0=e.t0, version=__version__,
            search=self.search, precision=self._precision, **computed,
        )  # fmt: skip

    @property
    def _precision(self) -> str:
        """In which numbers steps are computed, as the name of the device says."""
        return next((p for p in COARSER if self.device.endswith(f" {p}")), DOUBLE)

    def _own_times(self, computed: dict[str, Any]) -> Array:
        """The times of the records: those in the state, if it has a time; after the last valid record this one's again."""
        if TIME not in computed["columns"]:
            return self.times
        found = computed["records"][0, :, computed["columns"].index(TIME)]
        last = int(np.isfinite(found).sum()) - 1
        times: Array = np.where(np.arange(len(found)) <= last, found, found[last])
        return times

    def seed(self, step: StepMap, velocity: Array, held: Array | None = None) -> Array:
        """Expected solutions of a step."""
        return seed(self.system, step, velocity, held=held)

    def first_carry(self, stepper: Stepper, start: Start, rows: Array) -> Array:
        """The state at the first node, and the expected unknowns of the first step."""
        step = stepper.stepmap
        if (own := self.system.discrete) is not None:
            check_first_node(own, start, rows, self.h)
        if start.kind == "two positions":
            p = two_position_momenta(self._discrete(start), start, rows, self.h)
            velocity = differences(self.system.coordinates, start.q, start.second) / self.h
            return stepper.carry(
                np.column_stack([start.q, p, start.entropies]), self.seed(step, velocity, start.carried)
            )
        if (system := self.system.continuous) is None:
            expected = None if start.near is None else self.seed(step, start.near)
            return stepper.carry(np.column_stack([start.q, start.second, start.entropies]), expected)
        assert self.method is not None
        if self.method.carries == "velocity":
            return stepper.carry(start.state)
        points = np.column_stack([start.state, np.full(len(start.q), start.time)])
        p = point_map(maps.carried_momentum_map(system))(points, rows)[0]
        state = np.column_stack([start.q, p, start.entropies])
        if isinstance(self.method, OwnTimeMethod):
            more = point_map(maps.quantity_map(system, self.method.own_start(system)))(points, rows)[0]
            return stepper.carry(np.column_stack([state, more]), self.seed(step, start.second, start.carried))
        if len(stepper.stepmap.state) > state.shape[1]:  # carried multipliers: start with those of the motion
            motion = maps.motion_map(system)
            found, _ = point_map(motion)(points, rows)
            state = np.column_stack([state, found[:, motion.columns(system.principle.unknowns(system))]])
        return stepper.carry(state, self.seed(step, start.second, start.carried))

    def _discrete(self, start: Start) -> DiscreteSystem:
        found = Stepping(self.system, self.method).discrete
        if found is None:
            self.one_position(start)
        assert found is not None
        return found

    def one_position(self, start: Start) -> None:
        """Refuse a start from two positions."""
        if start.kind == "two positions":
            raise StartError(
                f"start: {self.method!r} starts from position and velocity, or position and momentum. Two positions are "
                f"for variational methods, such as Midpoint()."
            )
