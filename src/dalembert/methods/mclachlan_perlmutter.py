"""The reversible scheme of McLachlan and Perlmutter (J. Nonlinear Sci. 16, 2006): drift, constrained kick, drift.

Half a step by the right-point rule to the middle of the step; there the momentum is reflected, p -> p + h lambda omega, so
that the mean of both is that of an admissible velocity; half a step by the left-point rule to the end. For
L = |v|^2/2 - V this is the leapfrog

    q_m = q0 + h/2 v0,   v1 = v0 - h grad V(q_m) + h lambda A(q_m),   A(q_m)(v0 + v1) = 0,   q1 = q_m + h/2 v1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..discrete.equations import step_momenta, step_velocity
from ..discrete.maps import left_map, right_map
from ..discrete.state_layout import constraint_outputs, state_layout
from ..discrete.system import discretise
from ..model.coordinates import step, time
from ..model.system import System
from ..symbolic import Fast, fast, substitute
from ..theory.motion.lagrange import momenta, multipliers, reaction
from ..waist.stepmap import Block, StepMap, guarded
from .base import Method, kinematic_only


class McLachlanPerlmutter(Method):
    """Reversible nonholonomic leapfrog: order 2, symmetric; the constraints hold in the middle of every step."""

    reference = (
        "R. McLachlan and M. Perlmutter, Integrators for nonholonomic mechanical systems, J. Nonlinear Sci. 16, 2006"
    )
    order = 2
    symmetric = True
    constraints = True
    impulsive = True
    composable_constrained = 4  # limited by the start, where the constraint holds at the node, not in mid-step
    carries = "momentum"

    def obstacle(self, system: System) -> str:
        """For kinematic constraints."""
        return kinematic_only(system)

    def step_map(self, system: System) -> StepMap:
        """Drift, reflection, drift: three blocks."""
        self.check(system)
        q, h, t = system.coordinates, fast(step), fast(time)
        first = [fast(f"{c.name}.step1") for c in q]
        second = [fast(f"{c.name}.step2") for c in q]
        mean = [fast(f"{c.name}.mean") for c in q]
        free = system.without_constraints()
        middle = [fast(c) + h / 2 * v for c, v in zip(q, first, strict=True)]
        end = [x + h / 2 * v for x, v in zip(middle, second, strict=True)]

        def half(expressions: Sequence[Fast], a: Sequence[Fast], v: Sequence[Fast], start: Fast) -> list[Fast]:
            places = dict(zip(q, a, strict=True)) | {step_velocity(c): x for c, x in zip(q, v, strict=True)}
            return [substitute(e, {**places, step: h / 2, time: start}) for e in expressions]

        place = dict(zip(q, middle, strict=True)) | {c.dot: v for c, v in zip(q, mean, strict=True)}
        place[time] = t + h / 2

        def at_middle(expression: Any) -> Fast:
            return substitute(expression, place)

        start, p = [fast(c) for c in q], [fast(c.momentum) for c in q]
        drift, kick = step_momenta(discretise(free, right_map)), step_momenta(discretise(free, left_map))
        leave = [a - e for a, e in zip(p, half(drift.leaving, start, first, t), strict=True)]
        before = [a + d for a, d in zip(p, half(drift.change, start, first, t), strict=True)]
        push = [h / 2 * at_middle(r) for r in reaction(system)]
        reflected = [b + k - at_middle(p) for b, k, p in zip(before, push, momenta(system), strict=True)]
        admissible = [at_middle(c.velocity_form(q)) for c in system.constraints]
        after = [b + 2 * k for b, k in zip(before, push, strict=True)]
        go_on = [a - e for a, e in zip(after, half(kick.leaving, middle, second, t + h / 2), strict=True)]
        arrived = [a + d for a, d in zip(after, half(kick.change, middle, second, t + h / 2), strict=True)]
        names = [m.name for m in multipliers(system)]
        step_map = StepMap(
            name=f"{system.name}, {self!r}",
            state=tuple(c.name for c in q) + tuple(c.momentum.name for c in q),
            parameters=tuple(s.name for s in system.parameters),
            blocks=(
                Block(tuple(v.name for v in first), tuple(leave)),
                Block((*(v.name for v in mean), *names), (*reflected, *admissible)),
                Block(tuple(v.name for v in second), tuple(go_on)),
            ),
            update=(*end, *arrived),
            outputs=constraint_outputs(admissible),
            layout=state_layout(system, velocities=[[v.name for v in part] for part in (first, mean, second)]),
        )
        return guarded(step_map, system.expressions(), [place])
