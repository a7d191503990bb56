"""Functions from their derivatives: by quadratures where the form is closed, else by integration along rays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...symbolic import Fast, fast, substitute
from ..algebra import attempt, rational, read, tidy
from ..constraints.integrability import antiderivative, is_exact, potential, without

BASES = (0, 1, sympy.Rational(1, 2), 2)
"""Coordinates of the base points that are tried, counted up along the variables so that no two are equal."""

NUMBERS = (0, 1, 2, sympy.Rational(1, 2))
"""What is put in place of a symbol on which a value does not depend; some functions have no value at the first."""

CANCELLED, SHORT = 1500, 12
"""Common factors are looked for in expressions of up to so many operations, and from so many on."""


def short(expression: Any, idle: Sequence[Symbol], budget: Budget, *like: Any) -> Expr:
    """A short form, written without symbols on which the value does not depend."""
    best = _at_numbers(fast(expression), idle)
    given = read(best, *(like or (expression,)), *idle)
    plain = without(given, idle, budget)
    if plain.count_ops() > CANCELLED or (plain.count_ops() < SHORT and not plain.free_symbols & set(idle)):
        return plain
    return without(cancelled(plain, budget), idle, budget)


def _at_numbers(e: Fast, idle: Sequence[Symbol]) -> Fast:
    """With numbers in place of symbols on which the value does not depend: that is shorter before anything is simplified."""
    names = {s.name for s in e.free_symbols}
    left = [s for s in idle if s.name in names]
    for number in NUMBERS if left else ():
        bare = substitute(e, dict.fromkeys(left, number))
        if vanishes(bare - e):
            return bare
    return e


def cancelled(expression: Expr, budget: Budget) -> Expr:
    """A quotient without common factors, if that is shorter and has the same value."""
    (hidden,), back = rational([expression])
    found = attempt(budget, sympy.cancel, hidden)
    if found is None:
        return expression
    form = tidy(found.xreplace(back), budget)
    return form if form.count_ops() < expression.count_ops() and vanishes(fast(form) - fast(expression)) else expression


def is_polynomial(entries: Sequence[Expr], variables: Sequence[Symbol]) -> bool:
    """Whether all entries are polynomials in the variables."""
    return all(e.is_polynomial(*variables) for e in entries)


def primitive_function(row: Sequence[Expr], variables: Sequence[Symbol], budget: Budget) -> Expr | None:
    """The function with these derivatives; of a form that is not closed, the integral along rays from a base point."""
    if all(e == 0 for e in row):
        return sympy.S.Zero
    if is_exact(row, variables):
        found = potential(row, variables, budget)
        if found is not None:
            return found
    return along_rays(row, variables, budget)


def along_rays(row: Sequence[Expr], variables: Sequence[Symbol], budget: Budget) -> Expr | None:
    """The integral of row_k(b + s (z - b)) (z_k - b_k) over s from 0 to 1; b is the first base point at which it exists."""
    s = Symbol("ray", positive=True)
    for base, moved in _rays(variables, s):
        integrand = sympy.Add(
            *(e.xreplace(moved) * (z - b) for e, z, b in zip(row, variables, base, strict=True))
        )  # fmt: skip
        whole = _integral(integrand, s, budget)
        if whole is not None:
            return whole
    return None


def twice_along_rays(matrix: Sequence[Sequence[Expr]], variables: Sequence[Symbol], budget: Budget) -> Expr | None:
    """The function with these second derivatives: the integral of (1 - s) G_jk(b + s (v - b)) (v_j - b_j) (v_k - b_k)."""
    s = Symbol("ray", positive=True)
    for base, moved in _rays(variables, s):
        steps = [z - b for z, b in zip(variables, base, strict=True)]
        terms = [
            e.xreplace(moved) * a * b
            for row, a in zip(matrix, steps, strict=True)
            for e, b in zip(row, steps, strict=True)
        ]
        whole = _integral((1 - s) * sympy.Add(*terms), s, budget)
        if whole is not None:
            return whole
    return None


def _rays(variables: Sequence[Symbol], s: Symbol) -> Iterator[tuple[list[Any], dict[Symbol, Expr]]]:
    for first in BASES:
        base = [first + k * (first != 0) for k in range(len(variables))]
        yield base, {z: b + s * (z - b) for z, b in zip(variables, base, strict=True)}


def _integral(integrand: Expr, s: Symbol, budget: Budget) -> Expr | None:
    """Over s from 0 to 1; None if it does not exist there or was not found."""
    if integrand.has(sympy.zoo, sympy.nan, sympy.oo):
        return None
    found = antiderivative(sympy.expand(integrand), s, budget)
    if found is None:
        return None
    ends = [attempt(budget, found.subs, s, sympy.S(end)) for end in (0, 1)]
    if any(e is None or e.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I) for e in ends):
        return None
    return tidy(ends[1] - ends[0], budget)


def one_form(curl: Sequence[Sequence[Expr]], variables: Sequence[Symbol], budget: Budget) -> list[Expr] | None:
    """h with dh_e/dx_a - dh_a/dx_e = curl[a][e], of a closed curl: along rays where it is polynomial, else by quadratures."""
    n = len(variables)
    if is_polynomial([e for row in curl for e in row], variables):
        s = Symbol("ray", positive=True)
        moved = {x: s * x for x in variables}
        rows = [sympy.Add(*(s * variables[a] * curl[a][e].xreplace(moved) for a in range(n))) for e in range(n)]
        found = [_integral(row, s, budget) for row in rows]
        return [e for e in found if e is not None] if None not in found else None
    h: list[Expr] = [sympy.S.Zero] * n
    for a in range(n):
        for e in range(a + 1, n):
            rest = sympy.sympify(curl[a][e]) - h[e].diff(variables[a]) + h[a].diff(variables[e])
            if vanishes(rest):
                continue
            part = antiderivative(short(rest, variables[:a], budget), variables[a], budget)
            if part is None:
                return None
            h[e] += part
    return h
