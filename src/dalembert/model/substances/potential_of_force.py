"""The potential of a force that depends on position alone, by quadratures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.budget import Budget, BudgetSpentError
from ...decide.zero import vanishes_where
from ..coordinates import Velocity


@dataclass(frozen=True)
class Quadrature:
    """The result of the search for W with -dW/dq = F: whether it exists, its closed form if found, and the reason."""

    exists: bool
    W: Expr | None
    reason: str


def potential(force: Mapping[Any, Expr], budget: Budget, domain: Sequence[Expr] = ()) -> Quadrature:
    """W with -dW/dq = F, for {q: F}; zeros are decided at points where `domain` is positive."""
    for q, f in force.items():
        moving = sorted(str(s) for s in f.free_symbols if isinstance(s, Velocity))
        if moving:
            return Quadrature(False, None, f"not conservative: the force on {q} depends on {', '.join(moving)}")
    q = list(force)
    for i, a in enumerate(q):
        for b in q[:i]:
            if not vanishes_where(force[a].diff(b) - force[b].diff(a), domain):
                return Quadrature(
                    False, None, f"not conservative: the derivative of F_{a} by {b} is not that of F_{b} by {a}"
                )
    W: Expr = sympy.S.Zero
    for a, f in force.items():
        rest = f + W.diff(a)
        if vanishes_where(rest, domain):
            continue
        try:
            part = _antiderivative(_free_of(rest, q[: q.index(a)]), a, budget)
        except BudgetSpentError:
            part = None
        if part is None:
            return Quadrature(True, None, f"conservative, but no closed form was found for the integral over {a}")
        W -= part
    if not all(vanishes_where(f + W.diff(a), domain) for a, f in force.items()):
        return Quadrature(True, None, "conservative, but the integral found does not give back the force")
    return Quadrature(True, W, "conservative: the force depends on position alone and is minus the gradient of W")


def _free_of(integrand: Expr, symbols: Sequence[Symbol]) -> Expr:
    """The same integrand without symbols on which its value does not depend: they are replaced by a number."""
    for s in symbols:
        if s in integrand.free_symbols:
            at = integrand.subs(s, 0)
            integrand = integrand.subs(s, 1) if at.has(sympy.nan, sympy.zoo, sympy.oo) else at
    return integrand


def _antiderivative(integrand: Expr, x: Symbol, budget: Budget) -> Expr | None:
    """Term by term: powers of linear expressions as they stand, so that k (x0 - x) gives k (x0 - x)^2/2."""
    total: Expr = sympy.S.Zero
    for term in sympy.Add.make_args(integrand):
        part = _power(term, x)
        if part is None:
            part = budget.call(sympy.integrate, term, x)
        if part is None or part.has(sympy.Integral):
            return None
        if part.has(sympy.Piecewise) and not term.has(sympy.Piecewise):  # cases of special parameter values
            part = part.replace(sympy.Piecewise, lambda *pairs: pairs[0][0])
        total += part if term.has(sympy.log) else part.replace(sympy.log, _real_logarithm)
    return total


def _real_logarithm(u: Expr) -> Expr:
    """log|u|, since computer algebra may give log(x - x0) or log(x0 - x), without regard to which argument is positive."""
    return sympy.log(u) if u.is_positive else sympy.log(u**2) / 2


def _power(term: Expr, x: Symbol) -> Expr | None:
    """The integral of c (a + b x)^n for n other than -1; None for anything else."""
    c, power = term.as_independent(x, as_Add=False)
    base, n = power.as_base_exp()
    b = base.diff(x)
    if n.has(x) or b.has(x) or b == 0 or n == -1:
        return c * x if power == 1 else None
    return c * base ** (n + 1) / (b * (n + 1))
