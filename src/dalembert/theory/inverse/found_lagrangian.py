"""The answer to an inverse problem, verified by substitution before it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy
from sympy import Expr, Matrix

from ...decide.budget import Budget, BudgetSpentError
from ...decide.decimals import Typed
from ...decide.zero import vanishes
from ...display import Part, Shown
from ...model.coordinates import time
from ...symbolic import Fast, fast, jacobian
from ..algebra import attempt, linear_solution, read, simplified, tidy
from .along_motion import determinant
from .given_equations import GivenEquations
from .normal_form import euler_lagrange

LONG = 300
"""Common factors are cancelled in entries of the multiplier of up to so many operations."""


@dataclass(frozen=True, repr=False)
class InverseResult(Shown):
    """Whether equations are those of a Lagrangian.

    lagrangian:  L, or None
    exists:      True if there is one (locally), False if it is proved that there is none, None if that is not decided
    verified:    whether E(L) = multiplier * equations was checked by substitution, by value; no L is given without
    reason:      how L was found, why there is none, or what was searched
    case:        Douglas' case I, II, III or IV for two degrees of freedom, where it was needed
    obstruction: for case IV an expression; where it is zero, as for special parameters, the verdict does not hold
    searched:    the parts of the search
    others:      further Lagrangians, verified as well, where several were asked for: the multipliers of all of them are
                 linearly independent. Every regular sum of them with constant coefficients is a Lagrangian, too
    """

    equations: GivenEquations
    lagrangian: Expr | None
    exists: bool | None
    reason: str
    case: str = ""
    obstruction: Expr | None = None
    searched: tuple[str, ...] = ()
    verified: bool = False
    others: tuple[InverseResult, ...] = ()

    @cached_property
    def multiplier(self) -> Matrix | None:
        """B with E_k(L) = B_kn F_n: d2L/dv dv times the inverse of dF/da, or 1 for equations of first order."""
        if self.lagrangian is None:
            return None
        return multiplier_of(self.lagrangian, self.equations)

    @property
    def frame_lagrangian(self) -> Expr | None:
        """L by quasi-velocities, where the equations were given in such; None without."""
        if self.lagrangian is None or not self.equations.speeds:
            return None
        return tidy(self.lagrangian.xreplace(dict(self.equations.speeds)))

    @cached_property
    def exact(self) -> bool:
        """Whether computer algebra, too, reduces E(L) - B F to zero; where it does not, the check by value stands alone."""
        if self.lagrangian is None or self.multiplier is None:
            return False
        B, budget = self.multiplier, Budget(seconds=5)
        try:
            for k, e in enumerate(euler_lagrange(self.lagrangian, self.equations.coordinates)):
                right = sympy.Add(*(B[k, n] * F for n, F in enumerate(self.equations.residuals)))
                left = _in_symbols(e, self.equations, self.lagrangian)
                if not _is_zero(left - right, budget):
                    return False
        except BudgetSpentError:
            return False
        return True

    def _as_typed(self) -> Typed:
        return self.equations.typed

    def _parts(self) -> list[Part]:
        parts: list[Part] = []
        if self.lagrangian is not None:
            parts += [("Lagrangian", self.lagrangian), ("multiplier", self.multiplier)]
            parts += [("in quasi-velocities", self.frame_lagrangian)] if self.equations.speeds else []
            parts.append("Verified: E(L) = multiplier * equations at random states, with a hundred digits.")
        else:
            parts.append("There is no Lagrangian." if self.exists is False else "No Lagrangian was found.")
        parts.append(self.reason)
        for other in self.others:
            parts += [("another Lagrangian", other.lagrangian), ("its multiplier", other.multiplier)]
        if self.obstruction is not None:
            parts.append(("not zero", self.obstruction))
        return parts


def _is_zero(e: Expr, budget: Budget) -> bool:
    if sympy.expand(e) == 0:
        return True
    return bool(simplified(e, budget) == 0 or attempt(budget, sympy.simplify, e) == 0)


def _in_symbols(e: Fast, equations: GivenEquations, *like: Expr) -> Expr:
    own = [s for q in equations.coordinates for s in (q, q.dot, q.ddot)]
    return read(e, *equations.residuals, *like, *own, time)


def multiplier_of(lagrangian: Expr, equations: GivenEquations) -> Matrix:
    """The matrix B with E(L) = B F."""
    n = len(equations.coordinates)
    if is_exactly(lagrangian, equations):
        return sympy.eye(n)
    highest = [q.dot if equations.is_first_order else q.ddot for q in equations.coordinates]
    made = jacobian(euler_lagrange(lagrangian, equations.coordinates), highest)
    given = jacobian([fast(F) for F in equations.residuals], highest)
    left, right = (
        Matrix([[_in_symbols(m, equations, lagrangian) for m in row] for row in rows]).T for rows in (made, given)
    )
    solved = linear_solution(right, left)
    assert solved is not None
    return Matrix(n, n, solved).T.applyfunc(lambda e: tidy(sympy.cancel(e) if e.count_ops() < LONG else e))


def is_exactly(lagrangian: Expr, equations: GivenEquations) -> bool:
    """Whether E(L) = F."""
    made = euler_lagrange(lagrangian, equations.coordinates)
    return all(vanishes(e - fast(F)) for e, F in zip(made, equations.residuals, strict=True))


def describes(lagrangian: Expr, equations: GivenEquations) -> bool:
    """Whether L is regular and E(L) = 0 along the motion, by value."""
    flow = equations.flow
    if vanishes(determinant(flow.hessian(lagrangian))):
        return False
    return all(vanishes(e, samples=5) for e in flow.euler_lagrange(lagrangian))


def verified(
    lagrangian: Expr | None, equations: GivenEquations, reason: str, case: str, searched: Sequence[str]
) -> InverseResult | None:
    """A result if L satisfies the equations, by substitution; None otherwise."""
    if lagrangian is None or not describes(lagrangian, equations):
        return None
    return InverseResult(equations, lagrangian, True, reason, case, None, tuple(searched), True)
