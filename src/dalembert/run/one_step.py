"""One step of the discrete flow, forward or backward, and its derivative by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sympy import Symbol

from ..discrete.flow import pair_map
from ..discrete.system import DiscreteSystem
from ..display import Part, Shown, Table
from ..engine.status import Status
from ..errors import MethodError, StartError
from ..methods.base import Method
from ..methods.stepping import Stepping
from ..model.coordinates import Coordinate
from ..model.space import groups
from ..model.system import System
from ..model.tangent_space import symplectic_form
from ..waist.stepmap import StepMap
from .plan import held_names, seed, stepper
from .simulate import simulate
from .state_tangents import StateChange, state_symbols, state_tangents, symbols_of_states
from .trajectory import Trajectory
from .values import Array, Values, by_name, columns
from .velocities import expected_multipliers, expected_velocities


@dataclass(frozen=True, eq=False, repr=False)
class FlowStep(Shown):
    """One step: the states before and after, and the derivative of the latter by the former. `step[x]` is x after it.

    With lanes every array has a leading axis of lanes.

    symbols:   the state: positions and momenta (or velocities), or two positions; entropies, other values the method carries
    jacobian:  d after / d before, rows and columns in the order of `symbols`

    A point of a group has its directions among the symbols: there the state before is 0, the state after is the displacement
    in this step, and a change has the components of g^-1 dg. `step[R]` is the matrix after the step.
    """

    title: str
    symbols: tuple[Symbol, ...]
    before: Array
    after: Array
    jacobian: Array
    time: float
    """The time of the state after the step; for two positions, that of the first."""
    points: Mapping[str, Array] = field(default_factory=dict)
    """The matrices, after the step, of the coordinates with values in groups, by name."""

    def __getitem__(self, symbol: Any) -> Any:
        if isinstance(symbol, tuple) and symbol:
            return np.stack([self[s] for s in symbol], axis=-1)
        names = [s.name for s in self.symbols]
        name = getattr(symbol, "name", symbol)
        if name in self.points:
            return self.points[name]
        if name not in names:
            raise KeyError(f"{symbol}: the state has {', '.join([*self.points, *names])}.")
        return self._value(self.after[..., names.index(name)])

    @property
    def determinant(self) -> Any:
        """The factor by which the step changes volume."""
        return self._value(np.linalg.det(self.jacobian))

    @property
    def symplectic_defect(self) -> Any:
        """The largest entry of D^T J D - J; zero for a symplectic step on positions and momenta.

        On groups J depends on the momenta (`model.tangent_space.symplectic_form`), and the first J is that after the step.
        """
        q = [s for s in self.symbols if isinstance(s, Coordinate)]
        if [s.name for s in self.symbols] != [s.name for s in (*q, *(c.momentum for c in q))]:
            raise MethodError(
                "symplectic_defect: the state is not positions and momenta; give momenta, and no entropies."
            )
        momenta = [i for i, s in enumerate(self.symbols) if s not in q]
        begun, ended = (symplectic_form(q, state[..., momenta]) for state in (self.before, self.after))
        pulled_back = np.swapaxes(self.jacobian, -1, -2) @ ended @ self.jacobian
        return self._value(np.abs(pulled_back - begun).max(axis=(-2, -1)))

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
    here = simulate(system, method, h=h, steps=0, start=start, parameters=parameters)
    if method is not None and method.adaptive:
        raise StartError(
            f"flow: {method!r} {method.steps_told}. Use a method with a fixed step, such as DormandPrince8()."
        )
    steps = Stepping(system, method)
    ends = [c.at(1).name for c in system.coordinates]
    given = {} if groups(system.coordinates) else by_name(start, symbols_of_states(system), "start")
    way, length = "backward" if backward else "forward", here.h
    if ends[0] in given:  # of lines: `simulate` refuses two positions on a group
        stepmap = _pairs(steps, backward)
        state = np.column_stack([here.table("position")[:, 0], columns(given, ends, here.lanes)])
    else:
        stepmap, sign = (steps.step_map("flow"), 1) if not backward else steps.backward("flow")
        length *= sign
        state = stepmap.state_of(here.carry)
    held = expected_multipliers(stepper(system, method).stepmap, held_names(system), here.carry)
    expected = seed(system, stepmap, _near(stepmap, here, state), held=held) if stepmap.sought else None
    after, jacobian, codes = state_tangents(system, stepmap, state, here.parameter_rows, length, here.t0, seed=expected)
    if codes.any():
        lane = int(np.flatnonzero(codes)[0])
        which = "this state" if here.lanes is None else f"the state of lane {lane}"
        raise MethodError(f"flow: from {which} there is no step {way}: {Status(int(codes[lane])).sentence}.")
    by = f", {method!r}" if method else ""
    change = StateChange(system, stepmap)
    before, reached = change.displaced(state, after)
    matrices = change.matrices(after)
    return FlowStep(
        f"{system.name}{by}: a step {way}, h = {here.h:g}", state_symbols(system, stepmap),
        here.by_lane(before), here.by_lane(reached), here.by_lane(jacobian),
        here.t0 - here.h if backward else here.t0 + here.h,
        {name: here.by_lane(matrices[name]) for name in matrices},
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
