"""Whether multipliers mu exist with which a nonholonomic motion is one of L + mu_a chi_a, decided by differentiation.

Along the nonholonomic motion, E_k(L) = F_k + lambda_a P_ak with the rows P = dchi/dv, such multipliers satisfy

    mu_b E_k(chi_b) = kappa_a P_ak    for some kappa,    and then    dmu_a/dt = -kappa_a - lambda_a.

With kappa from the dependent coordinates, the others say C mu = d with d = 0. Its derivative along the motion is such an
equation again, and so on. Where they contradict each other at a state, there are no multipliers; where a derivative adds
nothing to those before it, every mu that satisfies them at the start satisfies them always.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...decide import balls
from ...decide.balls import Point
from ...decide.budget import Budget, BudgetSpentError
from ...decide.elimination import rank
from ...model.system import System
from ...model.upsilon import lagrange_derivative, solved
from ...symbolic import Fast, fast, substitute, total
from ..algebra import Allowance
from ..constraints.dependent_velocities import dependent_coordinates, rows_of
from ..motion.lagrange import linear_motion, parted, total_derivative

SECONDS = 20.0
"""For the derivatives in all."""

Row = list[Fast]
"""The coefficients of mu in one equation, and its right-hand side."""


def multipliers_exist(
    system: System, parts: Sequence[int], points: Sequence[Point]
) -> tuple[bool | None, Point | None]:
    """Whether there are multipliers of the constraints `parts`, and a state that excludes them; None if it took too long."""
    rows: list[Row] = []
    reached = -1
    budget = Allowance(total=SECONDS)
    try:
        for more in _derivatives(system, parts, budget):
            rows += more
            ranks = []
            for point in points:
                budget.spend("", 0)
                if (grid := balls.values(rows, point)) is not None:
                    ranks.append((rank([row[:-1] for row in grid]), rank(grid), point))
            highest = max((own for own, _, _ in ranks), default=-1)
            for own, whole, point in ranks:
                if own == highest and whole > own:
                    return False, point
            if not ranks:
                return None, None
            if highest == reached:
                return True, None
            reached = highest
    except BudgetSpentError:
        pass
    return None, None


def _derivatives(system: System, parts: Sequence[int], budget: Budget) -> Iterator[list[Row]]:
    """The equations for mu, then their derivatives along the motion."""
    q, n = system.coordinates, len(system.coordinates)
    linear = linear_motion(system)
    accelerations, multipliers = parted(system, solved(linear.matrix, [[r] for r in linear.right])[0])
    reaction = [multipliers[a] for a in parts]
    moved = {c.ddot: a for c, a in zip(q, accelerations, strict=True)}
    bent = [
        [substitute(e, moved) for e in lagrange_derivative(system.constraints[a].velocity_form(q), q)] for a in parts
    ]
    P, dependent = rows_of(system), dependent_coordinates(system)
    D = [k for k, c in enumerate(q) if c in dependent]
    kappa = solved([[row[k] for row in P] for k in D], [[e[k] for e in bent] for k in D])  # kappa[b][a]

    def left_over(b: int, k: int) -> Fast:
        return bent[b][k] - total(f * row[k] for f, row in zip(kappa[b], P, strict=True))

    def rate(f: Fast) -> Fast:
        budget.spend("", 0)
        return substitute(total_derivative(f, q), moved)

    def moved_on(row: Row) -> Row:
        *C, d = row
        turned = [total(e * kappa[c][a] for e, a in zip(C, parts, strict=True)) for c in range(len(parts))]
        pushed = total(e * r for e, r in zip(C, reaction, strict=True))
        return [*(rate(e) - f for e, f in zip(C, turned, strict=True)), rate(d) + pushed]

    rows = [[*(left_over(b, k) for b in range(len(parts))), fast(0)] for k in range(n) if k not in D]
    for _ in range(len(parts) + 2):
        yield rows
        rows = [moved_on(row) for row in rows]
