"""The average vector field: an energy-preserving method, for comparison and for nonholonomic systems.

Along the straight line from (q0, p0) to (q1, p1), with quadrature nodes c_j and velocities u_j of the points there,

    dL/dv(q_j, u_j) = p_j,    (q1 - q0)/h = sum b_j u_j,    (p1 - p0)/h = sum b_j (dL/dq + F)(q_j, u_j) + lambda_a A^a

so the energy changes by the work of forces only: exactly if H is a polynomial the quadrature integrates, otherwise up to
its error. A^a is the mean of the constraint's coefficients along the line, which keeps a holonomic constraint and makes
reactions do no work (E. Celledoni, M. Farre Puiggali, E. H. Hoiseth and D. Martin de Diego, J. Nonlinear Sci. 29, 2019).
"""

from __future__ import annotations

from ..errors import MethodError
from ..model.coordinates import step, time
from ..model.system import System
from ..stepmap import Block, StepMap
from ..symbolic import Fast, fast, gradient, substitute
from ..theory.lagrange import momenta, multipliers
from .base import Method, refuse
from .quadrature import gauss_nodes, rounded, weights


class DiscreteGradient(Method):
    """Average vector field: order 2, symmetric, preserves the energy, also under constraints; not symplectic."""

    order = 2
    symmetric = True
    constraints = True
    composable_constrained = 2  # velocities at the nodes satisfy constraints to that order
    carries = "momentum"

    def __init__(self, nodes: int = 4):
        if not (isinstance(nodes, int) and 1 <= nodes <= 8):
            raise MethodError(
                f"DiscreteGradient({nodes!r}): the number of quadrature nodes is a whole number from 1 to 8."
            )
        self.nodes = nodes

    @property
    def energy(self) -> bool:  # type: ignore[override]
        """With fewer than four nodes the error of the quadrature shows, but for polynomial energies of low degree."""
        return self.nodes >= 4

    def check(self, system: System) -> None:
        """The mean of a constraint's coefficients must not depend on velocities."""
        if not all(c.is_linear for c in system.constraints):
            refuse(self, system, "a constraint is nonlinear in the velocities.", "Use GeometricNonholonomic().")

    def step_map(self, system: System) -> StepMap:
        """One block: the step velocity, a velocity at each quadrature node, the multipliers."""
        self.check(system)
        q, h, t, n = system.coordinates, fast(step), fast(time), len(system.coordinates)
        nodes = gauss_nodes(self.nodes)
        c, b = [fast(rounded(x)) for x in nodes], [fast(rounded(x)) for x in weights(nodes)]
        V = [fast(f"{x.name}.step") for x in q]
        u = [[fast(f"{x.name}.node{j + 1}") for x in q] for j in range(self.nodes)]

        def at(j: int, expression: object) -> Fast:
            places = {x: fast(x) + c[j] * h * V[i] for i, x in enumerate(q)} | {x.dot: u[j][i] for i, x in enumerate(q)}
            return substitute(expression, {**places, time: t + c[j] * h})

        def mean(expression: object) -> Fast:
            return sum((b[j] * at(j, expression) for j in range(self.nodes)), start=fast(0))

        slopes = gradient(system.lagrangian, q)
        reactions = [[mean(a) for a in row] for row in system.variations]
        names = [fast(m) for m in multipliers(system)]
        rate = [
            mean(slopes[i] + fast(system.force[i]))
            + sum((m * r[i] for m, r in zip(names, reactions, strict=True)), start=fast(0))
            for i in range(n)
        ]
        p, moment = [fast(x.momentum) for x in q], momenta(system)
        inner = [p[i] + c[j] * h * rate[i] - at(j, moment[i]) for j in range(self.nodes) for i in range(n)]
        outer = [V[i] - sum((b[j] * u[j][i] for j in range(self.nodes)), start=fast(0)) for i in range(n)]
        end = {x: fast(x) + h * V[i] for i, x in enumerate(q)} | {time: t + h}
        held = [
            substitute(k.expression, end) if k.is_holonomic
            else sum((mean(a) * v for a, v in zip(k.coefficients, V, strict=True)), start=mean(k.drift))
            for k in system.constraints
        ]  # fmt: skip
        unknowns = (*(v.name for v in V), *(x.name for row in u for x in row), *(m.name for m in names))
        return StepMap(
            name=f"{system.name}, {self!r}",
            state=tuple(x.name for x in q) + tuple(x.momentum.name for x in q),
            parameters=tuple(s.name for s in system.parameters),
            blocks=(Block(unknowns, (*outer, *inner, *held), (fast(0),) * len(unknowns)),),
            update=(*(end[x] for x in q), *(p[i] + h * rate[i] for i in range(n))),
            outputs={f"constraint.{a + 1}": e for a, e in enumerate(held)},
        )

    def __repr__(self) -> str:
        return f"DiscreteGradient({self.nodes})"
