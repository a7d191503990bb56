"""Symplectic partitioned Runge-Kutta methods, in Lagrangian form.

Stages Q_i, V_i and P_i = dL/dv(Q_i, V_i):

    Q_i = q0 + h sum_j a_ij V_j          q1 = q0 + h sum_j b_j V_j
    P_i = p0 + h sum_j A_ij G_j          p1 = p0 + h sum_j b_j G_j        G_j = dL/dq(Q_j, V_j) + F(Q_j, V_j) + reactions

with  b_i A_ij + b_j a_ji = b_i b_j,  which makes the step symplectic for every L. The stage velocities V_i are the
unknowns, so no Hamiltonian and no inverse of the mass matrix is needed.

Holonomic constraints (L. O. Jay, SIAM J. Numer. Anal. 33, 1996) need Q_1 = q0, Q_s = q1 and the last column of A zero:
they hold at every stage, and the last multiplier makes the velocity at the end admissible.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..discrete.state_layout import constraint_outputs, state_layout
from ..model.coordinates import step, time
from ..model.system import System
from ..symbolic import Fast, fast, gradient, substitute
from ..theory.motion.lagrange import momenta
from ..waist.layout import Layout
from ..waist.stepmap import Block, StepMap, guarded
from .base import Method


class Tableau(NamedTuple):
    """Coefficients of a partitioned method: nodes c, weights b, a for positions, A for momenta."""

    c: tuple[Any, ...]
    b: tuple[Any, ...]
    a: tuple[tuple[Any, ...], ...]
    A: tuple[tuple[Any, ...], ...]


class PartitionedRungeKutta(Method):
    """A symplectic partitioned Runge-Kutta method with `stages` stages."""

    symplectic = True
    symmetric = True
    momentum = True
    constraints = True
    carries = "momentum"

    def __init__(self, stages: int):
        self.stages = int(stages)  # integers of NumPy and SymPy cannot be saved in files

    @abstractmethod
    def tableau(self) -> Tableau:
        """The coefficients."""

    def obstacle(self, system: System) -> str:
        """Kinematic constraints are not supported; holonomic ones need stages at both ends."""
        if system.kinematic:
            return "it has kinematic constraints."
        t = self.tableau()
        ends = not any(t.a[0]) and tuple(t.a[-1]) == tuple(t.b) and not any(row[-1] for row in t.A)
        return "its stages do not include both ends of the step." if system.constraints and not ends else ""

    def step_map(self, system: System) -> StepMap:
        """The stages as one block; under constraints, a second block makes the velocity at the end admissible."""
        self.check(system)
        return _Stages(system, self).step_map()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.stages})"


class _Stages:
    """The equations of all stages for one system."""

    def __init__(self, system: System, method: PartitionedRungeKutta):
        self.system, self.method, self.t = system, method, method.tableau()
        self.lagrangian = fast(system.lagrangian)
        self.q, self.h = system.coordinates, fast(step)
        self.s, self.n, self.m = len(self.t.b), len(self.q), len(system.constraints)
        self.V = [[fast(f"{c.name}.stage{i + 1}") for c in self.q] for i in range(self.s)]
        self.multipliers = [[fast(f"multiplier.{a + 1}.stage{i + 1}") for a in range(self.m)] for i in range(self.s)]
        self.Q = [self._moved([fast(c) for c in self.q], self.t.a[i], self.V) for i in range(self.s)]
        self.rates = [self._rate(i) for i in range(self.s)]

    def _moved(self, start: Sequence[Fast], weights: Sequence[Any], rates: Sequence[Sequence[Fast]]) -> list[Fast]:
        """start + h sum_j weight_j rate_j."""
        used = [(fast(w), r) for w, r in zip(weights, rates, strict=True) if w != 0]
        return [x + self.h * sum((w * r[k] for w, r in used), start=fast(0)) for k, x in enumerate(start)]

    def _at(self, i: int, expression: Any, velocity: Sequence[Fast] | None = None) -> Fast:
        """An expression in (q, v, t) at stage i."""
        return substitute(expression, self._place(i, self.V[i] if velocity is None else velocity))

    def _place(self, i: int, velocity: Sequence[Fast]) -> dict[Any, Fast]:
        places = dict(zip(self.q, self.Q[i], strict=True)) | {c.dot: velocity[k] for k, c in enumerate(self.q)}
        return {**places, time: fast(time) + fast(self.t.c[i]) * self.h}

    def _rate(self, i: int) -> list[Fast]:
        """dp/dt at stage i, reactions included."""
        slopes = gradient(self.lagrangian, self.q)
        rates = [self._at(i, d + fast(f)) for d, f in zip(slopes, self.system.force, strict=True)]
        reactions = self.system.principle.reaction(self.system, self.multipliers[i], lambda e: self._at(i, e))
        return [rate + r for rate, r in zip(rates, reactions, strict=True)]

    def step_map(self) -> StepMap:
        p0, p = [fast(c.momentum) for c in self.q], [fast(e) for e in momenta(self.system)]
        equations = [
            start - self._at(i, p[k])
            for i in range(self.s)
            for k, start in enumerate(self._moved(p0, self.t.A[i], self.rates))
        ]
        inner = [m.name for row in self.multipliers[:-1] for m in row]
        held = [self._at(i, c.expression) for i in range(1, self.s) for c in self.system.constraints]
        unknowns = (*(v.name for row in self.V for v in row), *inner)
        blocks = [Block(unknowns, (*equations, *held))]
        q1, p1 = self.Q[-1], self._moved(p0, self.t.b, self.rates)
        if not self.m:
            q1 = self._moved([fast(c) for c in self.q], self.t.b, self.V)
        else:
            blocks.append(self._end(p, p1))
        step_map = StepMap(
            name=f"{self.system.name}, {self.method!r}",
            state=(*(c.name for c in self.q), *(c.momentum.name for c in self.q), *(m.name for m in self._before())),
            parameters=tuple(p.name for p in self.system.parameters),
            blocks=tuple(blocks),
            update=(*q1, *p1, *self.multipliers[-1]),
            outputs=self._outputs(),
            layout=self._layout(),
        )
        return guarded(step_map, self.system.expressions(), [self._place(i, v) for i, v in enumerate(self.V)])

    def _layout(self) -> Layout:
        ends = [[f"{c.name}.end" for c in self.q]] if self.m else []
        return state_layout(self.system, velocities=[*([v.name for v in row] for row in self.V), *ends])

    def _before(self) -> list[Fast]:
        """The last multipliers of the step before, carried only to be recorded."""
        return [fast(f"multiplier.{a + 1}.before") for a in range(self.m)]

    def _end(self, p: Sequence[Fast], p1: Sequence[Fast]) -> Block:
        """The velocity at the end, admissible, and the last multiplier, which acts on p1 alone."""
        end = [fast(f"{c.name}.end") for c in self.q]
        last = self.s - 1
        balance = [p1[k] - self._at(last, p[k], end) for k in range(self.n)]
        admissible = [self._at(last, c.velocity_form(self.q), end) for c in self.system.constraints]
        unknowns = (*(v.name for v in end), *(m.name for m in self.multipliers[-1]))
        return Block(unknowns, (*balance, *admissible))

    def _outputs(self) -> dict[str, Fast]:
        """The reaction at a node: the mean of those of the steps before and after it; the constraints at the end."""
        both = zip(self._before(), self.multipliers[0], strict=True)
        means = ((before + after) / 2 for before, after in both)
        kept = {m.name: mean for m, mean in zip(self.system.multipliers, means, strict=True)}
        last = self.s - 1
        return kept | constraint_outputs(self._at(last, c.expression) for c in self.system.constraints)
