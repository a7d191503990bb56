"""Elimination with balls: which rows depend on which, and the rank, without a threshold.

An entry is zero if its ball contains zero: if it is zero to within the rounding of the terms it was formed from. Multiplying
rows or columns by constants changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from . import balls
from .balls import Ball, Point

_CLEAR = 1e-6
"""The relative remainder of a column after projection on others above which floating point is trusted."""

SWEEPS = 2
"""How often unknowns that may be zero are sought again in all equations."""

Grid = Sequence[Sequence[Ball]]
"""A matrix of balls, by rows."""


def independent(grid: Grid) -> tuple[list[int], dict[int, list[int]]]:
    """The rows that are independent of those before them, and for each other row those it is a combination of."""
    reduced: list[tuple[int, int, list[Ball], dict[int, Ball]]] = []  # number, pivot column, row, made of which rows
    dependent: dict[int, list[int]] = {}
    with balls.precise() as flint:
        zero, one = flint.arb(0), flint.arb(1)
        for number, row in enumerate(grid):
            rest, made = [_clean(v, zero) for v in row], {number: one}
            for _, column, base, how in reduced:
                factor = rest[column]
                if factor.is_zero():
                    continue
                rest = [_clean(r - factor * b, zero) for r, b in zip(rest, base, strict=True)]
                rest[column] = zero
                for k, h in how.items():
                    made[k] = made.get(k, zero) - factor * h
            column = max(range(len(rest)), key=lambda c: _certainty(rest[c]), default=-1)
            if column < 0 or rest[column].is_zero():
                dependent[number] = sorted(k for k, m in made.items() if k != number and not m.contains(0))
                continue
            pivot = rest[column]
            reduced.append((number, column, [r / pivot for r in rest], {k: m / pivot for k, m in made.items()}))
    return [number for number, *_ in reduced], dependent


def _clean(v: Ball, zero: Ball) -> Ball:
    return zero if v.contains(0) else v


def _certainty(v: Ball) -> int:
    """How many bits of an entry are known: the pivot is the entry known best, whatever the units of its column."""
    return -1 if v.is_zero() else int(v.rel_accuracy_bits())


def rank(grid: Grid) -> int:
    """The rank of a matrix of numbers, whatever the units of its rows and columns."""
    return len(independent(grid)[0])


def echelon(grid: Grid, width: int) -> tuple[list[list[Ball]], list[int]]:
    """Reduced row echelon form, and its pivots; these are sought among the first `width` columns, from left to right.

    Most entries of large systems are zero, so rows are kept by the places of the others. What is eliminated is zero exactly.
    """
    rows = [{k: v for k, v in enumerate(row) if not v.is_zero()} for row in grid]
    size = len(grid[0]) if grid else 0
    pivots: list[int] = []
    with balls.precise() as flint:
        zero, one = flint.arb(0), flint.arb(1)
        for column in range(width):
            top = len(pivots)
            held = [k for k, row in enumerate(rows) if column in row and not row[column].contains(0)]
            known = [(_certainty(rows[k][column]), k) for k in held if k >= top]
            if not known:
                continue
            best = max(known)[1]
            others = [k for k in held if k != best]
            pivot = rows[best].pop(column)
            base = {c: v / pivot for c, v in rows[best].items()}
            for k in others:
                factor = rows[k].pop(column)
                for c, v in base.items():
                    rows[k][c] = rows[k].get(c, zero) - factor * v
            rows[best] = rows[top]
            rows[top] = {column: one, **base}
            pivots.append(column)
    return [[row.get(k, zero) for k in range(size)] for row in rows], pivots


def kernel(grid: Grid, width: int) -> list[dict[int, Ball]]:
    """The combinations of columns that vanish: one for every column that depends on those before it.

    Its coefficient is one. Columns that are clearly independent in floating point are eliminated all at once.
    """
    with balls.precise() as flint:
        rows, sizes = _balanced(grid, width)
        clear = _clearly_independent(rows, width)
        doubtful = [k for k in range(width) if k not in set(clear)]
        a, b = ([[row[k] for k in part] for row in rows] for part in (clear, doubtful))
        try:
            left = flint.arb_mat(a).transpose()
            made = (left * flint.arb_mat(a)).solve(left * flint.arb_mat(b)) if clear and doubtful else None
        except ZeroDivisionError:
            return []
        rest = b if made is None else (flint.arb_mat(b) - flint.arb_mat(a) * made).tolist()
        reduced, pivots = echelon(rest, len(doubtful))
        found = []
        for j in (j for j in range(len(doubtful)) if j not in pivots):
            inner = {**{p: -row[j] for p, row in zip(pivots, reduced, strict=False)}, j: flint.arb(1)}
            whole = {doubtful[p]: c for p, c in inner.items()}
            for k, row in zip(clear, [] if made is None else made.tolist(), strict=False):
                whole[k] = -sum((row[p] * c for p, c in inner.items()), start=flint.arb(0))
            found.append({k: whole[k] * sizes[doubtful[j]] / sizes[k] for k in sorted(whole)})
        return found


def _balanced(grid: Grid, width: int) -> tuple[list[list[Ball]], list[Ball]]:
    """A matrix with rows and columns multiplied by numbers, so that the largest entry of each is one; and the sizes of
    its columns. Rows and columns that are zero stay as they are: their midpoints are rounding errors, not sizes."""
    import flint

    def largest(entries: Iterable[Ball]) -> Ball:
        return max((abs(v.mid()) for v in entries if not v.contains(0)), default=flint.arb(1))

    sizes = [largest(row[k] for row in grid) for k in range(width)]
    rows = [[v / c for v, c in zip(row, sizes, strict=False)] for row in grid]
    return [[v / size for v in row] for row in rows for size in (largest(row),)], sizes


def _clearly_independent(rows: Grid, width: int) -> list[int]:
    """The columns that floating point shows to be independent of those before them."""
    import numpy as np

    table = np.array([[0.0 if v.contains(0) else float(v) for v in row] for row in rows]).reshape(len(rows), width)
    basis, kept = np.zeros((len(rows), 0)), []
    for k in range(width):
        column = table[:, k] / (np.linalg.norm(table[:, k]) or 1.0)
        for _ in range(2):  # twice, since once is not orthogonal enough
            column = column - basis @ (basis.T @ column)
        size = np.linalg.norm(column)
        if size > _CLEAR:
            kept.append(k)
            basis = np.column_stack([basis, column / size])
    return kept


def solution(grid: Grid, right: Sequence[Ball]) -> list[Ball] | None:
    """The solution of linear equations in balls; None if the matrix may be singular.

    The solver bounds errors by the largest unknowns. One that is far smaller than what its equation is the sum of is then
    lost in the error of the others, though another equation tells it well: an acceleration under a constraint with a small
    coefficient. So unknowns that may be zero are sought again from each equation that contains them.
    """
    with balls.precise() as flint:
        try:
            solved = flint.arb_mat(grid).solve(flint.arb_mat([[b] for b in right]))
        except ZeroDivisionError:
            return None
        found = [solved[i, 0] for i in range(len(right))]
        rows = [[j for j, a in enumerate(row) if a != 0 or not a.is_exact()] for row in grid]
        for i in (i for _ in range(SWEEPS) for i in range(len(found))):
            for k, row in enumerate(rows):
                if found[i].contains(0) and i in row and not grid[k][i].contains(0):
                    others = sum((grid[k][j] * found[j] for j in row if j != i), start=flint.arb(0))
                    found[i] = found[i].intersection((right[k] - others) / grid[k][i])
        return found


def highest_rank(rows: Sequence[Sequence[Any]], points: Iterable[Point]) -> int:
    """The rank of a matrix of functions: the highest among its values at the points."""
    grids = (balls.values(rows, p) for p in points)
    return max((rank(g) for g in grids if g is not None), default=0)
