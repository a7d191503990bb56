"""Combinations of given functions that vanish identically: sum c_i e_i = 0 at all states, with c_i free of the state.

Which functions occur together is found in ball arithmetic, at random states and one random value of each parameter. Their
coefficients are then fractions or, where they depend on parameters, solutions of the linear equations that the coefficients
of powers of the variables give. Each combination is checked by value, with parameters at other values.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import sympy
from sympy import Expr, Symbol
from sympy.polys.matrices import DomainMatrix

from ...decide import balls
from ...decide.balls import Point
from ...decide.budget import Budget
from ...decide.elimination import kernel
from ...decide.rationals import fraction_in
from ...decide.sample import drawn
from ...decide.scale import natural_scales
from ...decide.zero import vanishes
from ...symbolic import Fast, fast, total
from ..algebra import attempt, rational, read, tidy
from .generators import Generators, plain

MOST_FUNCTIONS = 150
"""Functions in one combination."""

MOST_TERMS = 14
"""Functions whose coefficients are sought as functions of the parameters."""

SPARE = 4
"""States more than are needed."""

Column = Sequence[Any]
"""What one function contributes to each of the equations."""


def combinations(
    columns: Sequence[Column], variables: Sequence[Symbol], budget: Budget, *like: Any
) -> Iterator[list[Expr]]:
    """Coefficients of combinations that vanish, those of few functions first; zero for functions that do not occur.

    Functions early in the list are preferred. `like` are expressions with the symbols that occur, besides the variables.
    """
    listed = [[fast(e) for e in column] for column in columns]
    budget.spend("", len(listed))
    count = len(listed)
    vectors = _vectors(listed[::-1], variables, budget) or []
    supports = [sorted(count - 1 - k for k in vector) for vector in vectors]
    for support in sorted(supports, key=lambda s: (len(s), s)):
        budget.spend("", 0)
        found = _exact(support, listed, variables, budget, like)
        if found is not None:
            yield [sympy.sympify(found.get(k, 0)) for k in range(count)]


def are_independent(columns: Sequence[Column], variables: Sequence[Symbol], budget: Budget) -> bool:
    """Whether no combination vanishes; proved at one random value of each parameter, so for almost all of them."""
    return _vectors([[fast(e) for e in column] for column in columns], variables, budget) == []


def _vectors(
    columns: Sequence[Sequence[Fast]], variables: Sequence[Symbol], budget: Budget
) -> list[dict[int, Any]] | None:
    """The combinations of columns that vanish, without coefficients that may be zero; None if there are too few states.

    The equations at one state may depend on each other, or concern few of the columns. So there are more states until what
    vanishes at them vanishes at others, too.
    """
    states, width = _states(columns, variables, budget), len(columns)
    grids: list[list[list[Any]]] = []
    more = width // max(1, len(columns[0])) + SPARE
    while True:
        grids += islice(states, more)
        others = list(islice(states, SPARE))
        if len(others) < SPARE:
            return None
        vectors = kernel([row for grid in grids for row in grid], width)
        if all(_vanishes_at(vector, grid) for vector in vectors for grid in others):
            return [{k: c for k, c in vector.items() if not c.contains(0)} for vector in vectors]
        grids, more = grids + others, len(grids)


def _vanishes_at(vector: dict[int, Any], grid: Sequence[Sequence[Any]]) -> bool:
    with balls.precise():
        return all(sum(c * row[k] for k, c in vector.items()).contains(0) for row in grid)


def _states(
    columns: Sequence[Sequence[Fast]], variables: Sequence[Symbol], budget: Budget
) -> Iterator[list[list[Any]]]:
    """The values of all equations at one state after the other; parameters have one value at all of them.

    Variables have both signs and sizes over a decade, so that powers differ; positive ones where there are no values else.
    """
    own = {s.name for column in columns for e in column for s in e.free_symbols}
    moving = sorted(own & {s.name for s in variables})
    scales = natural_scales([[e] for column in columns for e in column], sorted(own))
    rng = random.Random(5)
    fixed = drawn(sorted(own - set(moving)), scales, rng)
    most = 2 * len(columns) + 8 * SPARE
    found = 0
    for k in range(4 * most):
        budget.spend("", 0)
        at = drawn(moving, scales, rng, 0.5, (1, -1) if k < 2 * most and found >= k // 4 else (1,))
        with balls.precise():
            point: Point = {n: balls.ball(float(f"{x:.4g}")) for n, x in {**fixed, **at}.items()}
        values = balls.values(columns, point)
        if values is not None:
            yield [list(row) for row in zip(*values, strict=True)]
            found += 1


def _exact(
    support: Sequence[int], listed: Sequence[Sequence[Fast]], variables: Sequence[Symbol], budget: Budget, like: Any
) -> dict[int, Expr] | None:
    """The coefficients of the functions in a support: fractions, or functions of the parameters."""
    few = [listed[k] for k in support]
    # without the others the coefficients are known to more digits
    for vector in _vectors(few, variables, budget) or []:
        with balls.precise():
            fractions = {support[k]: fraction_in(c / vector[min(vector)]) for k, c in vector.items()}
        if None not in fractions.values():
            numbers = {k: sympy.Rational(c.numerator, c.denominator) for k, c in fractions.items() if c}
            if _vanish(numbers, listed):
                return numbers
    return _by_coefficients(support, listed, variables, budget, like) if len(support) <= MOST_TERMS else None


def _vanish(coefficients: dict[int, Expr], listed: Sequence[Sequence[Fast]]) -> bool:
    width = len(listed[0])
    return all(vanishes(total([fast(c) * listed[k][i] for k, c in coefficients.items()])) for i in range(width))


def _by_coefficients(
    support: Sequence[int], listed: Sequence[Sequence[Fast]], variables: Sequence[Symbol], budget: Budget, like: Any
) -> dict[int, Expr] | None:
    """Coefficients as functions of the parameters."""
    unknown = sympy.symbols(f"c:{len(support)}", cls=sympy.Dummy)
    equations: list[Expr] = []
    for i in range(len(listed[0])):
        terms = (c * read(listed[k][i], *variables, *like) for c, k in zip(unknown, support, strict=True))
        equations += attempt(budget, _coefficients, sympy.Add(*terms), variables) or []
    if not equations:
        return None
    matrix = sympy.Matrix([[e.coeff(c) for c in unknown] for e in map(sympy.expand, dict.fromkeys(equations))])
    for vector in attempt(budget, _nullspace, matrix) or []:
        lead = next(e for e in vector if e != 0)
        found = {k: tidy(sympy.cancel(e / lead), budget) for k, e in zip(support, vector, strict=True) if e != 0}
        if _vanish(found, listed):
            return found
    return None


def _nullspace(matrix: sympy.Matrix) -> list[list[Expr]]:
    hidden, back = rational([*matrix])
    domain = DomainMatrix.from_Matrix(sympy.Matrix(*matrix.shape, hidden)).to_field()
    return [[e.xreplace(back) for e in row] for row in domain.nullspace().to_Matrix().tolist()]


def _coefficients(e: Expr, variables: Sequence[Symbol]) -> list[Expr]:
    """The coefficients of independent functions of the variables in the numerator of an expression."""
    known = Generators()
    hidden = known.hide(plain(e))
    moving = [s for s, f in known.back.items() if f.free_symbols & set(variables)]
    still = {s: f for s, f in known.back.items() if s not in moving}
    top = known.reduced(sympy.fraction(sympy.together(hidden))[0])
    return [c.xreplace(still) for c in sympy.Poly(top, *variables, *moving).coeffs()]
