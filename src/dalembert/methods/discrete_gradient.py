"""The average vector field: an energy-preserving method, for comparison and for nonholonomic systems.

Along the straight line from (q0, p0) to (q1, p1), with quadrature nodes c_j and velocities u_j of the points there,

    dL/dv(q_j, u_j) = p_j,    (q1 - q0)/h = sum b_j u_j,    (p1 - p0)/h = sum b_j (dL/dq + F)(q_j, u_j) + lambda_a A^a

so the energy changes by the work of forces only: exactly if H is a polynomial the quadrature integrates, otherwise up to
its error. A^a is the mean of the constraint's coefficients along the line, which keeps a holonomic constraint and makes
reactions do no work (E. Celledoni, M. Farre Puiggali, E. H. Hoiseth and D. Martin de Diego, J. Nonlinear Sci. 29, 2019).

With entropies the line is in (q, p, S). Friction and heat are taken once, in its middle, with the step velocity V:

    (S1 - S0)/h sum b_j T_j = -F(qm, V, Sm).V + P,       conduction with the mean temperatures sum b_j T_j

so the work of friction heats the bodies, to the accuracy of the quadrature (first law), and since
F(q, V, S).V <= 0 whatever its arguments, friction lowers no entropy, and conduction does not lower their sum (second law).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from ..discrete.collocation import fraction, gauss_nodes, weights
from ..discrete.state_layout import constraint_outputs, state_layout
from ..errors import MethodError, told
from ..model.coordinates import step, time
from ..model.system import System
from ..symbolic import Fast, fast, gradient, substitute
from ..theory.conserved.two_laws import friction_heat
from ..theory.motion.lagrange import momenta, multipliers
from ..waist.stepmap import Block, StepMap, guarded
from .base import NONLINEAR, Method, is_size
from .step_laws import entropy_flows


class DiscreteGradient(Method):
    """Average vector field: order 2, symmetric, preserves the energy, also under constraints; not symplectic.

    With entropies both laws hold: the first to the accuracy of the quadrature, the second exactly, for every h.
    """

    reference = (
        "G. R. W. Quispel and D. I. McLaren, J. Phys. A 41, 2008; under constraints E. Celledoni, M. Farre Puiggali, "
        "E. H. Hoiseth and D. Martin de Diego, J. Nonlinear Sci. 29, 2019"
    )
    order = 2
    symmetric = True
    constraints = True
    thermal, second_law = True, True
    composable_constrained = 2  # velocities at the nodes satisfy constraints to this order
    carries = "momentum"

    def __init__(self, nodes: int = 4):
        if not is_size(nodes, range(1, 9)):
            raise MethodError(
                f"DiscreteGradient({told(nodes)}): the number of quadrature nodes is a whole number from 1 to 8."
            )
        self.nodes = int(nodes)

    @property
    def energy(self) -> bool:  # type: ignore[override]
        """With fewer than four nodes the quadrature error is visible, except for polynomial energies of low degree."""
        return self.nodes >= 4

    @property
    def first_law(self) -> bool:  # type: ignore[override]
        """As the energy."""
        return self.energy

    def obstacle(self, system: System) -> str:
        """The mean of a constraint's coefficients must not depend on velocities."""
        return "" if all(c.is_linear for c in system.constraints) else NONLINEAR

    def step_map(self, system: System) -> StepMap:
        """One block: the step velocity, a velocity at each quadrature node, the multipliers."""
        self.check(system)
        line = _Line(system, self.nodes)
        q, S, h, n = system.coordinates, system.entropies, fast(step), len(system.coordinates)
        p, moment, rate = [fast(x.momentum) for x in q], momenta(system), line.rate
        inner = [p[i] + line.c[j] * h * rate[i] - line.at(j, moment[i]) for j in range(self.nodes) for i in range(n)]
        nodes = range(self.nodes)
        outer = [line.V[i] - sum((line.b[j] * line.u[j][i] for j in nodes), start=fast(0)) for i in range(n)]
        heating = zip(line.T, line.W, line.outside, line.exchanged, line.rubbed, strict=True)
        warmed = [T * W - outside - exchanged - rubbed for T, W, outside, exchanged, rubbed in heating]
        held = line.constraints
        unknowns = (
            *(v.name for v in line.V),
            *(w.name for w in line.W),
            *(x.name for row in line.u for x in row),
            *(m.name for m in multipliers(system)),
        )
        step_map = StepMap(
            name=f"{system.name}, {self!r}",
            state=(*(x.name for x in q), *(x.momentum.name for x in q), *(s.name for s in S)),
            parameters=tuple(s.name for s in system.parameters),
            blocks=(Block(unknowns, (*outer, *warmed, *inner, *held)),),
            update=(
                *(line.end[x] for x in q),
                *(p[i] + h * rate[i] for i in range(n)),
                *(fast(s) + h * w for s, w in zip(S, line.W, strict=True)),
            ),
            outputs=constraint_outputs(held),
            layout=state_layout(system, velocities=[[x.name for x in row] for row in (line.V, *line.u)]),
        )
        stages = [line.place(line.c[j], line.u[j]) for j in nodes]
        return guarded(step_map, system.expressions(), [*stages, line.place(fast(1) / 2, line.V)])

    def laws(self, system: System) -> dict[str, Fast]:
        """Energy and entropy by the same sums as the step."""
        line, h = _Line(system, self.nodes), fast(step)
        outside, exchanged = [h * P for P in line.outside], [h * P for P in line.exchanged]
        return {
            "work": h * (_dot(line.external, line.V) - line.mean(fast(system.lagrangian).diff(fast(time)))),
            "reactions": h * _dot(line.reaction, line.V),
            "heat": sum(outside, start=fast(0)),
            **entropy_flows(system, outside, exchanged, line.T),
        }

    def __repr__(self) -> str:
        return f"DiscreteGradient({self.nodes})"


class _Line:
    """The straight line of a step: its quadrature nodes, and the means and middles along it."""

    def __init__(self, system: System, count: int):
        nodes, q = gauss_nodes(count), system.coordinates
        self.system = system
        self.c, self.b = [fast(fraction(x)) for x in nodes], [fast(fraction(x)) for x in weights(nodes)]
        self.V = [fast(f"{x.name}.step") for x in q]
        self.W = [fast(f"{s.name}.step") for s in system.entropies]
        self.u = [[fast(f"{x.name}.node{j + 1}") for x in q] for j in range(count)]
        self.end = {x: fast(x) + fast(step) * v for x, v in zip(q, self.V, strict=True)}
        self.end |= {time: fast(time) + fast(step)}

    def place(self, fraction: Fast, velocity: Sequence[Fast]) -> dict[Any, Fast]:
        """The expression of every symbol at a fraction of the step."""
        q, h = self.system.coordinates, fast(step)
        rates = zip((*q, *self.system.entropies), (*self.V, *self.W), strict=True)
        moved = {x: fast(x) + fraction * h * rate for x, rate in rates}
        speeds = {x.dot: velocity[i] for i, x in enumerate(q)}
        return {**moved, **speeds, time: fast(time) + fraction * h}

    def at(self, j: int, expression: Any) -> Fast:
        """At quadrature node j."""
        return substitute(expression, self.place(self.c[j], self.u[j]))

    def midway(self, expression: Any) -> Fast:
        """In the middle, with the step velocity."""
        return substitute(expression, self.place(fast(1) / 2, self.V))

    def mean(self, expression: Any) -> Fast:
        """The mean over the quadrature nodes."""
        return sum((self.b[j] * self.at(j, expression) for j in range(len(self.b))), start=fast(0))

    @cached_property
    def external(self) -> list[Fast]:
        """The mean external force."""
        return [self.mean(f) for f in self.system.external_force]

    @cached_property
    def reaction(self) -> list[Fast]:
        """The reaction, with the means of the one-forms."""
        return self.system.principle.reaction(self.system, at=self.mean)

    @cached_property
    def rate(self) -> list[Fast]:
        """The rates of change of the momenta."""
        slopes, rubbing = gradient(self.system.lagrangian, self.system.coordinates), self.system.friction
        friction = [sum((self.midway(row[i]) for row in rubbing), start=fast(0)) for i in range(len(self.V))]
        parts = zip(map(self.mean, slopes), self.external, friction, self.reaction, strict=True)
        return [sum(terms, start=fast(0)) for terms in parts]

    @cached_property
    def constraints(self) -> list[Fast]:
        """The constraint residuals: of a holonomic constraint at the end, of a kinematic one the mean."""
        return [
            substitute(k.expression, self.end) if k.is_holonomic
            else _dot(map(self.mean, k.coefficients), self.V) + self.mean(k.drift)
            for k in self.system.constraints
        ]  # fmt: skip

    @cached_property
    def T(self) -> list[Fast]:
        """The mean temperatures."""
        return [self.mean(temperature) for temperature in self.system.temperatures]

    @cached_property
    def rubbed(self) -> list[Fast]:
        """The power that friction turns into heat, for each entropy."""
        return [self.midway(P) for P in friction_heat(self.system)]

    @cached_property
    def outside(self) -> list[Fast]:
        """The heat each entropy receives from outside per unit of time; from reservoirs, with its mean temperature."""
        S, received = self.system.entropies, [self.midway(P) for P in self.system.heat]
        for c in self.system.conduction:
            if not c.is_internal:
                a = S.index(c.body)
                received[a] += self.midway(c.conductance) * (self.midway(c.to) - self.T[a])
        return received

    @cached_property
    def exchanged(self) -> list[Fast]:
        """The heat each entropy receives from the others per unit of time, between mean temperatures."""
        S, received = self.system.entropies, [fast(0)] * len(self.W)
        for c in self.system.conduction:
            if c.is_internal:
                a, b = S.index(c.body), S.index(c.to)
                flow = self.midway(c.conductance) * (self.T[b] - self.T[a])
                received[a] += flow
                received[b] -= flow
        return received


def _dot(a: Iterable[Fast], b: Iterable[Fast]) -> Fast:
    return sum((x * y for x, y in zip(a, b, strict=True)), start=fast(0))
