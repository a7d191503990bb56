"""Distributions: the velocities that a system of forms allows, and their brackets.

Ranks are ranks by value at points in general position on the constraint set (see `decide.sample`); at special points the
dimensions may be smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.balls import Point, values
from ...decide.budget import Budget, BudgetSpentError
from ...decide.elimination import highest_rank, independent, rank
from ...symbolic import Fast, fast, jacobian
from ..algebra import attempt, linear_solution, read, tidy
from .integrability import Row, curl

Field = list[Fast]
"""A vector field: its components over the variables."""

WRITTEN_OUT = 6
"""Up to this many rows a kernel is written out and simplified."""


def independent_rows(rows: Sequence[Sequence[Any]], points: Sequence[Point]) -> list[int]:
    """The rows of a matrix of functions that are independent of those before them, at points in general position."""
    kept = [independent(g)[0] for g in (values(rows, p) for p in points) if g is not None]
    return max(kept, key=len, default=[])


def kernel(rows: Sequence[Row], width: int, points: Sequence[Point], budget: Budget) -> sympy.Matrix:
    """A basis of the vectors w with A w = 0, one per column, free of denominators where that can be arranged.

    rows:  a matrix of functions with `width` columns, of any rank
    """
    chosen = [list(rows[k]) for k in independent_rows(rows, points)]
    if not chosen:
        return sympy.eye(width)
    pivots = _pivots(chosen, width, points)
    free = [c for c in range(width) if c not in pivots]
    block = sympy.Matrix([[row[c] for c in pivots] for row in chosen])
    right = sympy.Matrix([[row[c] for c in free] for row in chosen])
    try:
        solved = solution(block, right, budget)
    except BudgetSpentError:  # short forms are optional here
        solved = _eliminated(block, right)
    basis = sympy.zeros(width, len(free))
    for k, column in enumerate(free):
        vector = [sympy.S.Zero] * width
        vector[column] = sympy.S.One
        for row, pivot in enumerate(pivots):
            vector[pivot] = -solved[row, k]
        basis[:, k] = sympy.Matrix(_cleared(vector, budget))
    return basis


def _pivots(rows: Sequence[Sequence[Expr]], width: int, points: Sequence[Point]) -> list[int]:
    """Columns with an invertible square block: among a few hundred choices, the one that is written shortest."""
    grids = [g for g in (values(rows, p) for p in points) if g is not None and rank(g) == len(rows)]
    by_value = independent([list(column) for column in zip(*grids[0], strict=True)])[0]
    if comb(width, len(rows)) > 500:
        return by_value

    def length(columns: Sequence[int]) -> tuple[int, Any]:
        entries = [row[c] for row in rows for c in columns]
        varying = sum(1 for e in entries if e.free_symbols)
        return varying, sum(e.count_ops() for e in entries)

    for columns in islice(sorted(combinations(range(width), len(rows)), key=length), 500):
        blocks = ([[row[c] for c in columns] for row in g] for g in grids)
        if all(rank(b) == len(rows) for b in blocks):
            return list(columns)
    return by_value


def solution(block: sympy.Matrix, right: sympy.Matrix, budget: Budget) -> sympy.Matrix:
    """block^-1 right: exactly where that is short, else by elimination without simplification."""
    if block.rows <= WRITTEN_OUT:
        found = attempt(budget, linear_solution, block, right)
        if found is not None:
            return sympy.Matrix(right.rows, right.cols, found)
    return _eliminated(block, right)


def _eliminated(block: sympy.Matrix, right: sympy.Matrix) -> sympy.Matrix:
    import symengine

    made = symengine.DenseMatrix(block.tolist()).LUsolve(symengine.DenseMatrix(right.tolist()))
    like = [*block, *right]
    return sympy.Matrix([[read(made[i, j], *like) for j in range(right.cols)] for i in range(right.rows)])


def _cleared(vector: list[Expr], budget: Budget) -> list[Expr]:
    """A multiple of a vector of functions without denominators and common factors."""
    short = [tidy(v, budget).replace(sympy.tan, lambda u: sympy.sin(u) / sympy.cos(u)) for v in vector]
    if sum(v.count_ops() for v in short) > 2000:
        return short

    def multiple(entries: list[Expr]) -> list[Expr]:
        pairs = [sympy.fraction(sympy.together(v)) for v in entries]
        common = sympy.lcm_list([d for _, d in pairs])
        whole = [sympy.cancel(n * common / d) for n, d in pairs]
        content = sympy.gcd_list([w for w in whole if w != 0])
        return [sympy.cancel(w / content) for w in whole]

    try:
        return [tidy(v, budget) for v in attempt(budget, multiple, short) or short]
    except BudgetSpentError:
        return short


def bracket(x: Field, y: Field, variables: Sequence[Symbol]) -> Field:
    """The Lie bracket [X, Y] = (X . d) Y - (Y . d) X."""
    dx, dy = jacobian(x, variables), jacobian(y, variables)
    n = range(len(variables))
    return [sum((x[j] * dy[i][j] - y[j] * dx[i][j] for j in n), start=fast(0)) for i in n]


@dataclass(frozen=True)
class Flag:
    """A distribution and what its iterated brackets add.

    growth:    the dimensions: of the distribution, with its brackets, with brackets of these with it, ...
    fields:    as many independent fields as the last dimension, in the order in which they came up
    complete:  whether the flag was followed to its end
    """

    growth: tuple[int, ...]
    fields: tuple[Field, ...]
    complete: bool = True


def flag(fields: Sequence[Field], variables: Sequence[Symbol], points: Sequence[Point], budget: Budget) -> Flag:
    """The smallest flag: D, D + [D, D], D + [D, D] + [D, [D, D]], ..., until it grows no more."""
    first = [list(f) for f in fields]
    kept, last, growth = list(first), list(first), [len(first)]
    try:
        while last and growth[-1] < len(variables):
            new = []
            for x in first:
                for y in last:
                    if last is first and first.index(y) <= first.index(x):
                        continue
                    budget.spend()
                    z = bracket(x, y, variables)
                    if highest_rank([*kept, z], points) > len(kept):
                        kept.append(z)
                        new.append(z)
            if not new:
                break
            last = new
            growth.append(len(kept))
    except BudgetSpentError:
        return Flag((*growth, len(kept)) if len(kept) > growth[-1] else tuple(growth), tuple(kept), complete=False)
    return Flag(tuple(growth), tuple(kept))


def vanishing_on(
    fields: Sequence[Field], rows: Sequence[Row], variables: Sequence[Symbol], points: Sequence[Point], budget: Budget
) -> sympy.Matrix:
    """The combinations c_a omega^a of forms that vanish on some fields: one row of functions c per combination."""
    like = [*(e for row in rows for e in row), *variables]
    table = [[read(pairing(row, field), *like) for row in rows] for field in fields]
    return kernel([[tidy(e, budget) for e in row] for row in table], len(rows), points, budget).T


def pairing(row: Row, field: Field) -> Fast:
    """The value of a form on a field."""
    return sum((fast(f) * x for f, x in zip(row, field, strict=True)), start=fast(0))


def combined(coefficients: sympy.Matrix, rows: Sequence[Row], budget: Budget) -> list[list[Expr]]:
    """The forms c_a omega^a, one for each row of coefficients."""
    if not coefficients.rows:
        return []
    product = coefficients * sympy.Matrix([list(row) for row in rows])
    return [[tidy(product[i, j], budget) for j in range(product.cols)] for i in range(product.rows)]


def derived_system(
    rows: Sequence[Row], variables: Sequence[Symbol], points: Sequence[Point], budget: Budget
) -> tuple[sympy.Matrix, list[list[Expr]]]:
    """The forms c_a omega^a whose differential vanishes on the vectors that all the forms annihilate.

    They are the part of the system that may consist of differentials of constant functions: the system is integrable if it
    is all of it. Returned as coefficients c, one row each, and as forms.
    """
    basis = kernel(rows, len(variables), points, budget)
    fields = [[fast(v) for v in basis[:, k]] for k in range(basis.cols)]
    like = [*(e for row in rows for e in row), *basis]
    table = []
    for x, y in combinations(fields, 2):
        table.append([tidy(read(_on(curl(row, variables), x, y), *like), budget) for row in rows])
    c = kernel(table, len(rows), points, budget).T
    return c, combined(c, rows, budget)


def _on(differential: dict[tuple[int, int], Fast], x: Field, y: Field) -> Fast:
    """d omega(X, Y)."""
    return sum((c * (x[i] * y[j] - x[j] * y[i]) for (i, j), c in differential.items()), start=fast(0))


def derived_flag(
    rows: Sequence[Row], variables: Sequence[Symbol], points: Sequence[Point], budget: Budget
) -> list[list[list[Expr]]]:
    """The derived systems of a system of forms, from the system itself to the last, which is integrable."""
    systems = [[list(r) for r in rows]]
    while systems[-1]:
        budget.spend()
        smaller = derived_system(systems[-1], variables, points, budget)[1]
        if len(smaller) == len(systems[-1]):
            break
        systems.append(smaller)
    return systems
