"""Equations solved in closed form, one group of unknowns after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import isfinite
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.budget import Budget, BudgetSpentError
from ...symbolic import fast, number
from ...theory.algebra import linear_solution, roots, tidy

LARGEST = 6
"""Linear equations in more unknowns than this are not solved together."""

LONG = 1000
"""Equations with more operations than this in all are left alone: their solutions are not for formulas."""

LONGEST = 200
"""Roots with more operations are not used: those of quartics lose digits, and nobody reads them."""


def closed_form(
    equations: Sequence[Any], unknowns: Sequence[Symbol], near: dict[str, float]
) -> dict[Symbol, Expr] | None:
    """Expressions for the unknowns, or None where none are found.

    Groups of equations that are linear in as many unknowns are solved first, then single equations in one unknown; where
    there are none, unknowns are eliminated in which more equations than unknowns are linear. Of several roots the one is taken
    that is nearest to the value in `near`, at the values of all other symbols in it.
    """
    left = [sympy.sympify(e) for e in equations]
    if sum(e.count_ops() for e in left) > LONG:
        return None
    left = [_numerator(e, unknowns) for e in left]
    found: dict[Symbol, Expr] = {}
    wanted, budget = list(unknowns), Budget(seconds=5.0)
    try:
        while wanted:
            left = [e for e in left if e.free_symbols & set(wanted)]
            solved = _linear(left, wanted) or _single(left, wanted, near, budget)
            if solved is None:
                left = _eliminated(left, wanted) + left
                solved = _single(left, wanted, near, budget)
            if solved is None:
                return None
            found = {s: e.xreplace(solved) for s, e in found.items()} | solved
            left = [sympy.expand(e.xreplace(solved)) for e in left]
            wanted = [s for s in wanted if s not in found]
    except BudgetSpentError:
        return None
    return {s: tidy(found[s]) for s in unknowns}


def _numerator(e: Expr, unknowns: Sequence[Symbol]) -> Expr:
    """An equation without the denominator that contains unknowns."""
    above, below = sympy.fraction(sympy.together(e))
    return sympy.expand(above) if below.free_symbols & set(unknowns) else e


def _linear(equations: list[Expr], wanted: list[Symbol]) -> dict[Symbol, Expr] | None:
    """The unknowns of the smallest group of equations that is linear in as many unknowns and contains no others."""
    contained = [(e, e.free_symbols & set(wanted)) for e in equations]
    for size in range(1, min(len(wanted), LARGEST) + 1):
        for group in combinations([c for c in contained if len(c[1]) <= size], size):
            inside = sorted(set().union(*(u for _, u in group)), key=lambda s: s.name)
            if len(inside) != size:
                continue
            rows = [[sympy.diff(e, s) for s in inside] for e, _ in group]
            if any(a.free_symbols & set(inside) for row in rows for a in row):
                continue
            still = dict.fromkeys(inside, sympy.S.Zero)
            right = [-e.xreplace(still) for e, _ in group]
            solution = linear_solution(sympy.Matrix(rows), sympy.Matrix(right))
            if solution is not None:
                return dict(zip(inside, solution, strict=True))
    return None


def _eliminated(equations: list[Expr], wanted: list[Symbol]) -> list[Expr]:
    """Equations without some unknowns in which one equation more is linear: determinants of coefficients and right sides."""
    found = []
    for size in range(1, min(len(wanted), len(equations))):
        for inside in combinations(wanted, size):
            linear = [e for e in equations if not any(sympy.diff(e, s).has(*inside) for s in inside)]
            for group in combinations(linear, size + 1):
                still = dict.fromkeys(inside, sympy.S.Zero)
                rows = [[*(sympy.diff(e, s) for s in inside), e.xreplace(still)] for e in group]
                found.append(tidy(sympy.expand(sympy.Matrix(rows).det(method="berkowitz"))))
    return [e for e in found if e.free_symbols & set(wanted)]


def _single(
    equations: list[Expr], wanted: list[Symbol], near: dict[str, float], budget: Budget
) -> dict[Symbol, Expr] | None:
    """One unknown, from an equation that contains no other."""
    for e in equations:
        inside = e.free_symbols & set(wanted)
        if len(inside) != 1:
            continue
        (s,) = inside
        found = [root for root in roots(e, s, budget) if not root.has(sympy.I) and root.count_ops() <= LONGEST]
        values = [abs(number(fast(root), near) - near.get(s.name, 0.0)) for root in found]
        usable = [(v, k) for k, v in enumerate(values) if isfinite(v)]
        if usable:
            return {s: found[min(usable)[1]]}
    return None
