"""The shape of expressions: short equal forms, parts by degree in the velocities, functions with a given differential."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr, Symbol, cos, sin

from ..budget import Budget
from ..symbolic import Fast, fast, gradient, jacobian, substitute, vanishes

LONG = 2000
"""Expressions of more operations than this are left as they are: nobody reads them."""


def tidy(expression: Expr, *, factored: bool = True) -> Expr:
    """The shortest of a few equal forms: as it is, multiplied out, with sin^2 + cos^2 = 1 used either way, factored."""
    if expression.count_ops() > LONG:
        return expression
    long = sympy.expand(expression)
    forms = [long, pythagoras(long, cos, sin), pythagoras(long, sin, cos)] if long.has(sin, cos) else [long]
    best = min(forms, key=lambda e: e.count_ops())
    product = Budget(seconds=2).call(sympy.factor, best) if factored and best.count_ops() <= LONG // 4 else None
    return min((f for f in (expression, best, product) if f is not None), key=lambda e: e.count_ops())


def pythagoras(e: Expr, gone: Any, kept: Any) -> Expr:
    """Even powers of one of sin, cos written with the other, and multiplied out."""

    def squares(base: Expr, power: Expr) -> Expr:
        if isinstance(base, gone) and power.is_Integer and power >= 2:
            return (1 - kept(base.args[0]) ** 2) ** (power // 2) * base ** (power % 2)
        return base**power

    return sympy.expand(e.replace(sympy.Pow, squares))


@dataclass(frozen=True)
class Quadratic:
    """v.A v/2 + a.v + rest, with coefficients that are free of v."""

    mass: list[list[Fast]]
    linear: list[Fast]
    rest: Fast

    def value(self, velocities: Sequence[Any]) -> Fast:
        """The sum, at some velocities."""
        v = [fast(x) for x in velocities]
        rows = zip(self.mass, v, strict=True)
        second = sum((a * x * y for row, x in rows for a, y in zip(row, v, strict=True)), start=fast(0))
        return second / 2 + sum((a * x for a, x in zip(self.linear, v, strict=True)), start=self.rest)


def quadratic_part(expression: Any, velocities: Sequence[Any]) -> Quadratic | None:
    """The coefficients of an expression that is quadratic in some variables; None of any other."""
    rest = dict.fromkeys(velocities, 0)
    slopes = gradient(expression, velocities)
    found = Quadratic(
        [[substitute(d, rest).expand() for d in row] for row in jacobian(slopes, velocities)],
        [substitute(p, rest).expand() for p in slopes],
        substitute(expression, rest),
    )
    return found if vanishes(fast(expression) - found.value(velocities)) else None


def is_closed(form: Sequence[Fast], variables: Sequence[Symbol]) -> tuple[Symbol, Symbol] | None:
    """None if the mixed derivatives of a one-form agree; otherwise a pair of variables for which they do not."""
    rows = jacobian(form, variables)
    for i, x in enumerate(variables):
        for j, y in enumerate(variables[:i]):
            if not vanishes(rows[i][j] - rows[j][i]):
                return y, x
    return None


def primitive(form: Sequence[Expr], variables: Sequence[Symbol], budget: Budget) -> Expr | None:
    """F with dF/dx_i = form_i of a closed form, one quadrature after the other; None if one of them is not found."""
    F: Expr = sympy.S.Zero
    done: list[Symbol] = []
    for f, x in zip(form, variables, strict=True):
        rest = _without(tidy(f - F.diff(x)), done)
        done.append(x)
        part = budget.call(sympy.integrate, rest, x)
        if part is None or part.has(sympy.Integral):
            return None
        # Where special values of parameters need a case of their own, the general case comes first.
        F += part.replace(sympy.Piecewise, lambda *cases: cases[0][0])
    right = all(vanishes(fast(F.diff(x)) - fast(f)) for f, x in zip(form, variables, strict=True))
    return tidy(F) if right else None


def _without(integrand: Expr, symbols: Sequence[Symbol]) -> Expr:
    """The integrand where it depends on some symbols only in appearance: they are given a value at which it has one."""
    seen = [s for s in symbols if s in integrand.free_symbols]
    for value in (0, 1, sympy.Rational(1, 2)):
        at = integrand.subs(dict.fromkeys(seen, value))
        if not at.has(sympy.nan, sympy.zoo, sympy.oo):
            return at
    return integrand
