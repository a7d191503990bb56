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
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..discrete.stage_charts import stage_charts
from ..discrete.state_layout import constraint_outputs, state_layout
from ..model.coordinates import step, time
from ..model.space import numbers, parts, slopes, to_numbers
from ..model.system import System
from ..symbolic import Fast, fast, substitution, total
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
    groups = True
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
    """The equations of all stages for one system, in the chart of each factor (see `stage_charts`)."""

    def __init__(self, system: System, method: PartitionedRungeKutta):
        self.system, self.method, self.t = system, method, method.tableau()
        self.q, self.h = system.coordinates, fast(step)
        self.s, self.n, self.m = len(self.t.b), len(self.q), len(system.constraints)
        self.V = [[fast(f"{c.name}.stage{i + 1}") for c in self.q] for i in range(self.s)]
        self.multipliers = [[fast(f"multiplier.{a + 1}.stage{i + 1}") for a in range(self.m)] for i in range(self.s)]
        self.charts = stage_charts(self.q, self.V, self.t.a, self.t.b)
        self.places = [self._place(i, v) for i, v in enumerate(self.V)]
        self.at = [substitution(place) for place in self.places]
        self.p = [fast(e) for e in momenta(system)]
        self.free = self._forces()
        reactions = [
            system.principle.reaction(system, row, at) for row, at in zip(self.multipliers, self.at, strict=True)
        ]
        self.forces = [_sum(f, r) for f, r in zip(self.free, reactions, strict=True)]

    def _place(self, i: int, velocity: Sequence[Fast]) -> dict[Any, Fast]:
        """The expression of every symbol at stage i."""
        found: dict[Any, Fast] = {time: fast(time) + fast(self.t.c[i]) * self.h}
        for chart, (_, rate) in zip(self.charts, parts(self.q, velocity), strict=True):
            found |= chart.place(i, rate)
        return found

    def _forces(self) -> list[list[Fast]]:
        """dL/dq + F at the stages, without reactions."""
        L = fast(self.system.lagrangian)
        pushed = [s + fast(f) for s, f in zip(slopes(L, self.q), self.system.force, strict=True)]
        return [[at(f) for f in pushed] for at in self.at]

    def _by_factor(self, of_factor: Callable[..., list[Fast]], *rows: Sequence[Any]) -> list[Fast]:
        """What a function of a chart and of values of its factor gives, for all factors in turn."""
        split = [parts(self.q, row) for row in rows]
        return [e for k, c in enumerate(self.charts) for e in of_factor(c, *(row[k][1] for row in split))]

    def _ended(self, p0: Sequence[Fast]) -> list[Fast]:
        """The momenta at the end."""
        return self._by_factor(lambda c, p, *f: c.ended(p, f), p0, *self.forces)

    def _balance(self, p0: Sequence[Fast]) -> list[Fast]:
        """P_i = pi0 + h sum_j A_ij G_j.

        Where the last column of A is zero, the last reaction acts on p1 alone: it cancels in pi0 and is left out.
        """
        inner = [*self.forces[:-1], self.free[-1]] if self.m else self.forces
        P = [[at(e) for e in self.p] for at in self.at]
        G = [
            self._by_factor(lambda c, p, f, i=i: c.force(i, p, f), p, f)
            for i, (p, f) in enumerate(zip(P, inner, strict=True))
        ]
        s = self.s
        first = self._by_factor(lambda c, p, *g: c.begun(p, g[:s], g[s:]), p0, *inner, *G)
        pulled = [self._by_factor(lambda c, p, i=i: c.momentum(i, p), p) for i, p in enumerate(P)]
        return [
            x + self.h * total(fast(w) * g[k] for w, g in zip(self.t.A[i], G, strict=True) if w != 0) - pulled[i][k]
            for i in range(s)
            for k, x in enumerate(first)
        ]

    def step_map(self) -> StepMap:
        p0, held = [fast(c.momentum) for c in self.q], to_numbers(self.q)
        inner = [m.name for row in self.multipliers[:-1] for m in row]
        kept = [self.at[i](c.expression) for i in range(1, self.s) for c in self.system.constraints]
        unknowns = (*(v.name for row in self.V for v in row), *inner)
        blocks = [Block(unknowns, tuple(map(held, (*self._balance(p0), *kept))))]
        p1 = self._ended(p0)
        if self.m:
            blocks.append(self._end(p1))
        step_map = StepMap(
            name=f"{self.system.name}, {self.method!r}",
            state=(*numbers(self.q), *(c.momentum.name for c in self.q), *(m.name for m in self._before())),
            parameters=tuple(p.name for p in self.system.parameters),
            blocks=tuple(blocks),
            update=(*(e for c in self.charts for e in c.numbers()), *map(held, p1), *self.multipliers[-1]),
            outputs=self._outputs(),
            layout=self._layout(),
        )
        places = [{k: held(e) for k, e in place.items()} for place in self.places]
        return guarded(step_map, map(held, self.system.expressions()), places)

    def _layout(self) -> Layout:
        ends = [[f"{c.name}.end" for c in self.q]] if self.m else []
        return state_layout(self.system, velocities=[*([v.name for v in row] for row in self.V), *ends])

    def _before(self) -> list[Fast]:
        """The last multipliers of the step before, carried only to be recorded."""
        return [fast(f"multiplier.{a + 1}.before") for a in range(self.m)]

    def _end(self, p1: Sequence[Fast]) -> Block:
        """The velocity at the end, admissible, and the last multiplier, which acts on p1 alone."""
        end, held = [fast(f"{c.name}.end") for c in self.q], to_numbers(self.q)
        at = substitution(self.places[-1] | {c.dot: v for c, v in zip(self.q, end, strict=True)})
        balance = [x - at(e) for x, e in zip(p1, self.p, strict=True)]
        admissible = [at(c.velocity_form(self.q)) for c in self.system.constraints]
        unknowns = (*(v.name for v in end), *(m.name for m in self.multipliers[-1]))
        return Block(unknowns, tuple(map(held, (*balance, *admissible))))

    def _outputs(self) -> dict[str, Fast]:
        """The reaction at a node: the mean of those of the steps before and after it; the constraints at the end."""
        held, both = to_numbers(self.q), zip(self._before(), self.multipliers[0], strict=True)
        means = ((before + after) / 2 for before, after in both)
        kept = {m.name: mean for m, mean in zip(self.system.multipliers, means, strict=True)}
        return kept | constraint_outputs(held(self.at[-1](c.expression)) for c in self.system.constraints)


def _sum(u: Sequence[Fast], v: Sequence[Fast]) -> list[Fast]:
    return [a + b for a, b in zip(u, v, strict=True)]
