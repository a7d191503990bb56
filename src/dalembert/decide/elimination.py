"""Elimination with balls: which rows depend on which, and the rank, without a threshold.

An entry is zero if its ball contains zero: if it is zero to within the rounding of the terms it was formed from. Multiplying
rows or columns by constants changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from . import balls
from .balls import Ball, Point

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


def highest_rank(rows: Sequence[Sequence[Any]], points: Iterable[Point]) -> int:
    """The rank of a matrix of functions: the highest among its values at the points."""
    grids = (balls.values(rows, p) for p in points)
    return max((rank(g) for g in grids if g is not None), default=0)
