"""One step of the discrete flow, forward or backward, and its derivative by the implicit function theorem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sympy import Symbol

from ..discrete.flow import pair_map
from ..discrete.system import DiscreteSystem
from ..display import Part, Shown, Table
from ..engine.tangent import NoStep, tangent
from ..errors import MethodError, StartError
from ..methods.base import Method, VariationalMethod
from ..methods.stepping import Stepping
from ..model.coordinates import time
from ..model.system import System
from ..symbolic import fast
from ..waist.stepmap import StepMap
from .plan import seed, stepper
from .simulate import simulate
from .trajectory import Trajectory
from .values import Array, Values, by_name
from .velocities import expected_velocities


@dataclass(frozen=True, eq=False, repr=False)
class FlowStep(Shown):
    """One step: the state before and after, and the derivative of the one by the other. `step[x]` is x after it.

    symbols:   the state: positions and momenta (or velocities), or two positions; entropies, what the method carries
    jacobian:  d after / d before, rows and columns in the order of `symbols`
    """

    title: str
    symbols: tuple[Symbol, ...]
    before: Array
    after: Array
    jacobian: Array
    time: float
    """At the state after the step; of two positions, that of the first."""

    def __getitem__(self, symbol: Any) -> float:
        names = [s.name for s in self.symbols]
        name = getattr(symbol, "name", symbol)
        if name not in names:
            raise KeyError(f"{symbol}: the state has {', '.join(names)}.")
        return float(self.after[names.index(name)])

    @property
    def determinant(self) -> float:
        """By how much the step changes volume."""
        return float(np.linalg.det(self.jacobian))

    @property
    def symplectic_defect(self) -> float:
        """The largest entry of D^T J D - J; zero for a symplectic step on positions and momenta."""
        n = len(self.symbols) // 2
        if [s.name for s in self.symbols[n:]] != [f"{s.name}.momentum" for s in self.symbols[:n]]:
            raise MethodError(
                "symplectic_defect: the state is not positions and momenta; give momenta, and no entropies."
            )
        J = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
        return float(np.abs(self.jacobian.T @ J @ self.jacobian - J).max())

    def _parts(self) -> list[Part]:
        rows = [
            (str(s), f"{a:.10g}", f"{b:.10g}", *(f"{d:.6g}" for d in row))
            for s, a, b, row in zip(self.symbols, self.before, self.after, self.jacobian, strict=True)
        ]
        return [self.title, Table(("", "before", "after", *(f"d/d {s}" for s in self.symbols)), rows)]


def flow(
    system: System | DiscreteSystem, method: Method | None = None, *, start: Values, h: float,
    parameters: Values | None = None, backward: bool = False,
) -> FlowStep:  # fmt: skip
    """One step of length h from a state, given like the start of a run, and its exact derivative.

    Of a discrete system, {x: ..., x.momentum: ...} gives the flow on positions and momenta, {x.at(0): ..., x.at(1): ...} the
    flow on pairs, (q0, q1) -> (q1, q2). With `backward` a step is undone: from the state after it to the state before;
    under constraints momenta come back up to a reaction, of which a state keeps no trace.
    """
    here = simulate(system, method, h=h, steps=0, start=start, parameters=parameters)
    if here.lanes is not None or (method is not None and method.adaptive):
        raise StartError("flow: one state and a method with a fixed step; arrays make lanes in simulate().")
    steps = Stepping(system, method)
    given, ends = by_name(start, _symbols(system), "start"), [c.at(1).name for c in system.coordinates]
    if ends[0] in given:
        stepmap = _pairs(steps, backward)
        state = np.append(here._positions[0, 0], [given[name] for name in ends])
    else:
        stepmap = steps.backward_map("flow") if backward else steps.step_map("flow")
        state = here.carry[0, : len(stepmap.state)]
    turned = backward and method is not None and not isinstance(method, VariationalMethod)  # the step with -h
    try:
        after, jacobian = tangent(*_guessed(stepmap, here, state), -here.h if turned else here.h, here.t0)
    except NoStep as error:
        raise MethodError(
            f"flow: from this state there is no step {_way(backward)}: {error.status.sentence}."
        ) from None
    by = f", {method!r}" if method else ""
    known = {s.name: s for s in _symbols(system)}
    return FlowStep(
        f"{system.name}{by}: a step {_way(backward)}, h = {here.h:g}",
        tuple(known.get(name) or Symbol(name) for name in stepmap.state),
        state, after, jacobian, here.t0 - here.h if backward else here.t0 + here.h,
    )  # fmt: skip


def _guessed(stepmap: StepMap, here: Trajectory, state: Array) -> tuple[StepMap, Array, Array]:
    """The step with a search that begins where that of a run does, at the velocities of the start; state; parameters."""
    rows = here._parameter_rows
    if not stepmap.sought:
        return stepmap, state, rows
    names = [f"{x}.guess" for x in stepmap.unknowns]
    guesses = iter(names)
    blocks = [replace(b, guess=tuple(fast(next(guesses)) for _ in b.unknowns)) for b in stepmap.blocks]
    begun = replace(stepmap, parameters=(*stepmap.parameters, *names), blocks=tuple(blocks))
    return (
        begun,
        state,
        np.column_stack([rows, seed(here.system, stepmap, _near(stepmap, here, state), stepmap.unknowns)]),
    )


def _near(stepmap: StepMap, here: Trajectory, state: Array) -> Array:
    """The velocities that a step from here is expected to have: of two positions, or what the run begins with."""
    q, n = here.system.coordinates, len(here.system.coordinates)
    if stepmap.state[n] == q[0].at(1).name:
        return ((state[n : 2 * n] - state[:n]) / here.h)[None, :]
    return np.nan_to_num(expected_velocities(stepper(here.system, here.method).stepmap, here.system, here.carry))


def _way(backward: bool) -> str:
    return "backward" if backward else "forward"


def _pairs(steps: Stepping, backward: bool) -> StepMap:
    system = steps.discrete
    if system is None or system.entropies or system.interior:
        raise StartError(
            "flow: two positions are the state of a discrete system without entropies and interior positions; give position "
            "and momentum."
        )
    return pair_map(system, backward)


def _symbols(system: System | DiscreteSystem) -> list[Symbol]:
    """What a state can consist of."""
    places = [s for c in system.coordinates for s in (c, c.dot, c.momentum, c.at(0), c.at(1))]
    return [*places, *system.entropies, time]
