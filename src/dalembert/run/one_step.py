"""One step of the discrete flow, forward or backward, and its derivative by the implicit function theorem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Symbol

from ..discrete.equations import carried
from ..discrete.flow import pair_map
from ..discrete.system import DiscreteSystem
from ..display import Part, Shown, Table
from ..engine.status import Status
from ..engine.tangent import tangents
from ..errors import MethodError, StartError
from ..methods.base import Method
from ..methods.stepping import Stepping
from ..model.coordinates import time
from ..model.space import lines_only
from ..model.system import System
from ..waist.stepmap import StepMap
from .plan import seed, stepper
from .simulate import simulate
from .trajectory import Trajectory
from .values import Array, Values, by_name, columns
from .velocities import expected_velocities


@dataclass(frozen=True, eq=False, repr=False)
class FlowStep(Shown):
    """One step: the states before and after, and the derivative of the latter by the former. `step[x]` is x after it.

    With lanes every array has a leading axis of lanes.

    symbols:   the state: positions and momenta (or velocities), or two positions; entropies, other values the method carries
    jacobian:  d after / d before, rows and columns in the order of `symbols`
    """

    title: str
    symbols: tuple[Symbol, ...]
    before: Array
    after: Array
    jacobian: Array
    time: float
    """The time of the state after the step; for two positions, that of the first."""

    def __getitem__(self, symbol: Any) -> Any:
        names = [s.name for s in self.symbols]
        name = getattr(symbol, "name", symbol)
        if name not in names:
            raise KeyError(f"{symbol}: the state has {', '.join(names)}.")
        return self._value(self.after[..., names.index(name)])

    @property
    def determinant(self) -> Any:
        """The factor by which the step changes volume."""
        return self._value(np.linalg.det(self.jacobian))

    @property
    def symplectic_defect(self) -> Any:
        """The largest entry of D^T J D - J; zero for a symplectic step on positions and momenta."""
        n = len(self.symbols) // 2
        if [s.name for s in self.symbols[n:]] != [f"{s.name}.momentum" for s in self.symbols[:n]]:
            raise MethodError(
                "symplectic_defect: the state is not positions and momenta; give momenta, and no entropies."
            )
        J = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
        pulled_back = np.swapaxes(self.jacobian, -1, -2) @ J @ self.jacobian
        return self._value(np.abs(pulled_back - J).max(axis=(-2, -1)))

    def _value(self, found: Any) -> Any:
        """A number, or one for each lane."""
        return found if self.after.ndim > 1 else float(found)

    def _parts(self) -> list[Part]:
        if self.after.ndim > 1:
            rows = [
                (str(s), *(f"{v:.10g}" for v in (b.min(), b.max())))
                for s, b in zip(self.symbols, self.after.T, strict=True)
            ]
            return [self.title, Table((f"after, in {len(self.after)} lanes", "least", "largest"), rows)]
        rows = [
            (str(s), f"{a:.10g}", f"{b:.10g}", *(f"{d:.6g}" for d in row))
            for s, a, b, row in zip(self.symbols, self.before, self.after, self.jacobian, strict=True)
        ]
        return [self.title, Table(("", "before", "after", *(f"d/d {s}" for s in self.symbols)), rows)]


def flow(
    system: System | DiscreteSystem, method: Method | None = None, *, start: Values, h: float,
    parameters: Values | None = None, backward: bool = False,
) -> FlowStep:  # fmt: skip
    """One step of length h from a state, given like the start of a run, and its exact derivative; arrays make lanes.

    Of a discrete system, {x: ..., x.momentum: ...} gives the flow on positions and momenta, {x.at(0): ..., x.at(1): ...} the
    flow on pairs, (q0, q1) -> (q1, q2). With `backward` a step is inverted: from the state after it to the state before;
    under constraints momenta are recovered up to a reaction, which the state does not contain.
    """
    lines_only(system, "flow")
    here = simulate(system, method, h=h, steps=0, start=start, parameters=parameters)
    if method is not None and method.adaptive:
        raise StartError(f"flow: {method!r} is adaptive. Use a method with a fixed step, such as DormandPrince8().")
    steps = Stepping(system, method)
    given, ends = by_name(start, state_symbols(system), "start"), [c.at(1).name for c in system.coordinates]
    way, length = "backward" if backward else "forward", here.h
    if ends[0] in given:
        stepmap = _pairs(steps, backward)
        state = np.column_stack([here.table("position")[:, 0], columns(given, ends, here.lanes)])
    else:
        stepmap, sign = (steps.step_map("flow"), 1) if not backward else steps.backward("flow")
        length *= sign
        state = here.carry[:, : len(stepmap.state)]
    expected = seed(system, stepmap, _near(stepmap, here, state)) if stepmap.sought else None
    after, jacobian, codes = tangents(stepmap, state, here.parameter_rows, length, here.t0, seed=expected)
    if codes.any():
        lane = int(np.flatnonzero(codes)[0])
        which = "this state" if here.lanes is None else f"the state of lane {lane}"
        raise MethodError(f"flow: from {which} there is no step {way}: {Status(int(codes[lane])).sentence}.")
    by = f", {method!r}" if method else ""
    return FlowStep(
        f"{system.name}{by}: a step {way}, h = {here.h:g}", symbols_of(stepmap, system),
        here.by_lane(state), here.by_lane(after), here.by_lane(jacobian),
        here.t0 - here.h if backward else here.t0 + here.h,
    )  # fmt: skip


def _near(stepmap: StepMap, here: Trajectory, state: Array) -> Array:
    """The expected velocities of a step from here: from two positions, or from the start of the run."""
    ends = [[q.at(k).name for q in here.system.coordinates] for k in (0, 1)]
    if set(ends[1]) <= set(stepmap.state):
        first, second = (state[:, [stepmap.state.index(name) for name in names]] for names in ends)
        return np.asarray((second - first) / here.h)
    return np.nan_to_num(expected_velocities(stepper(here.system, here.method).stepmap, here.system, here.carry))


def _pairs(steps: Stepping, backward: bool) -> StepMap:
    system = steps.discrete
    if system is None or system.entropies or system.interior:
        raise StartError(
            "flow: two positions are the state of a discrete system without entropies and interior positions; give position "
            "and momentum."
        )
    return pair_map(system, backward)


def symbols_of(stepmap: StepMap, system: System | DiscreteSystem) -> tuple[Symbol, ...]:
    """The symbols of the state of a step."""
    known = {s.name: s for s in state_symbols(system)}
    return tuple(known.get(name) or Symbol(name) for name in stepmap.state)


def state_symbols(system: System | DiscreteSystem) -> list[Symbol]:
    """The symbols that a state can contain."""
    places = [s for c in system.coordinates for s in (c, c.dot, c.momentum, c.at(0), c.at(1))]
    held = system.principle.carried(system) if isinstance(system, System) else carried(system)
    return [*places, *system.entropies, *held, time]
