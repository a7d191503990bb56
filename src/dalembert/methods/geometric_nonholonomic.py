"""The geometric nonholonomic integrator (S. Ferraro, D. Iglesias and D. Martin de Diego, Nonlinearity 21, 2008).

No discretisation of the constraint is needed: at every node the mean of the momenta before and after it is that of an
admissible velocity. With the discrete Lagrangian of the trapezoidal rule and node momenta p_k this is

    p_k + h/2 lambda_k omega(q_k) = -D1 L_d(q_k, q_k+1) - F_d-
    p_k+1 - h/2 lambda_k+1 omega(q_k+1) = D2 L_d(q_k, q_k+1) + F_d+
    p_k+1 = dL/dv(q_k+1, v),   chi(q_k+1, v) = 0

In Euclidean space it is RATTLE for kinematic constraints. omega may depend on the velocity, so constraints that are
nonlinear in the velocities (Chetaev) are taken too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..discrete.equations import step_momenta, step_velocity
from ..discrete.state_layout import constraint_outputs, state_layout
from ..discrete.system import discretise
from ..model.coordinates import step, time
from ..model.system import System
from ..symbolic import Fast, fast, free_names, substitute
from ..theory.motion.lagrange import momenta, multipliers, reaction
from ..waist.stepmap import Block, StepMap, guarded
from .base import Method, kinematic_only
from .trapezoidal import Trapezoidal


class GeometricNonholonomic(Method):
    """Geometric nonholonomic integrator: order 2, symmetric; velocities at the nodes satisfy the constraints."""

    reference = "S. Ferraro, D. Iglesias and D. Martin de Diego, Nonlinearity 21, 2008"
    order = 2
    symmetric = True
    constraints = True
    composable_constrained = 4  # the carried multipliers limit it
    carries = "momentum"

    def obstacle(self, system: System) -> str:
        """For kinematic constraints."""
        return kinematic_only(system)

    def step_map(self, system: System) -> StepMap:
        """Velocity at the node, free step, velocity and multipliers at the next node."""
        self.check(system)
        q, h, t = system.coordinates, fast(step), fast(time)
        free = step_momenta(discretise(system.without_constraints(), Trapezoidal()))
        V = [step_velocity(c) for c in q]
        begin, end = [[fast(f"{c.name}.{side}") for c in q] for side in ("begin", "end")]
        place = {c: fast(c) + h * fast(v) for c, v in zip(q, V, strict=True)}

        def at(expression: Any, velocity: list[Fast], moved: bool) -> Fast:
            known = {c.dot: v for c, v in zip(q, velocity, strict=True)} | ({**place, time: t + h} if moved else {})
            return substitute(expression, known)

        def kick(names: list[Fast], velocity: list[Fast], moved: bool) -> list[Fast]:
            return [h / 2 * r for r in system.principle.reaction(system, names, lambda e: at(e, velocity, moved))]

        before = [fast(m.name) for m in multipliers(system)]
        after = [fast(f"{m.name}.end") for m in multipliers(system)]
        p, moment = [fast(c.momentum) for c in q], momenta(system)
        legendre = [a - at(b, begin, False) for a, b in zip(p, moment, strict=True)]
        pushed = [a + k for a, k in zip(p, kick(before, begin, False), strict=True)]
        away = [a - b for a, b in zip(pushed, free.leaving, strict=True)]
        arrived = [a + b + k for a, b, k in zip(pushed, free.change, kick(after, end, True), strict=True)]
        balance = [a - at(b, end, True) for a, b in zip(arrived, moment, strict=True)]
        admissible = [at(c.velocity_form(q), end, True) for c in system.constraints]
        blocks = [
            Block(_names(begin), tuple(legendre)),
            Block(_names(V), tuple(away)),
            Block(_names([*end, *after]), (*balance, *admissible)),
        ]
        velocity_used = free_names(reaction(system)) & {v.name for v in system.velocities}
        step_map = StepMap(
            name=f"{system.name}, {self!r}",
            state=(*_names(q), *_names([c.momentum for c in q]), *_names(before)),
            parameters=_names(system.parameters),
            blocks=tuple(blocks if velocity_used else blocks[1:]),
            update=(*(place[c] for c in q), *arrived, *after),
            outputs=constraint_outputs(admissible),
            layout=state_layout(system, velocities=[_names(part) for part in (begin, V, end)]),
        )
        begun, ended = (
            {c.dot: fast(v) for c, v in zip(q, V, strict=True)} | more for more in ({}, {**place, time: t + h})
        )
        return guarded(step_map, system.expressions(), [begun, ended])


def _names(symbols: Sequence[Any]) -> tuple[str, ...]:
    return tuple(s.name for s in symbols)
