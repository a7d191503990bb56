"""Gaussian elimination and the size of a residual, as loops against the emitter."""

from __future__ import annotations

from collections.abc import Sequence

from .emitter import Array, Emitter, Handle, Index

SINGULAR = 1e-14
"""Relative size of a pivot at which a matrix of size one is called singular."""


def relative_residual(e: Emitter, r: Sequence[Handle], size: Sequence[Handle]) -> tuple[Handle, Handle]:
    """The largest residual relative to the size of the terms it is the sum of; and whether all of them are finite.

    Relative to the terms, so that neither units nor the scale of the motion matter, and rounding is recognised.
    """
    worst = e.real(0.0)
    for value, terms in zip(r, size, strict=True):
        worst = e.larger(worst, e.arithmetic("div", e.call("fabs", value), terms))
    return worst, e.compare("lt", e.sum(size), e.real(float("inf")))


FLOOR = 1e-6
"""Times the tolerance of Newton's method: the rounding of the largest unknown, below which a row is zero."""


def floored_residual(e: Emitter, n: int, r: Sequence[Handle], size: Sequence[Handle], matrix: Array) -> Handle:
    """As `relative_residual`, but each row is also compared with the terms of the other rows, in units of the unknowns.

    A row divided by its largest coefficient has the units of an unknown; the largest such row tells how large unknowns
    are, and hence how much of a row is rounding.
    """
    largest = [e.real(0.0)] * n
    for i in range(n):
        for j in range(n):
            largest[i] = e.larger(largest[i], e.call("fabs", e.load(matrix, i * n + j)))
    scale = e.real(0.0)
    for terms, coefficient in zip(size, largest, strict=True):
        scale = e.larger(scale, e.arithmetic("div", terms, coefficient))
    worst = e.real(0.0)
    for value, terms, coefficient in zip(r, size, largest, strict=True):
        floor = e.arithmetic("mul", e.real(FLOOR), e.arithmetic("mul", coefficient, scale))
        worst = e.larger(worst, e.arithmetic("div", e.call("fabs", value), e.arithmetic("add", terms, floor)))
    return worst


def eliminate(e: Emitter, n: int, a: Array, b: Array) -> Handle:
    """Solve a x = b in place by Gaussian elimination with scaled partial pivoting; tells whether a is singular."""
    if n == 1:
        pivot = e.load(a)
        e.store(b, e.arithmetic("div", e.load(b), pivot))
        return e.compare("eq", pivot, e.real(0.0))
    row, column, good = _scales(e, n, a)
    inverses = e.local(n)
    for k in e.each(0, n, n):
        for i in e.each(e.after(k), n, n):
            here = e.arithmetic("mul", e.call("fabs", e.load(a, e.at(k, n, k))), e.load(row, k))
            there = e.arithmetic("mul", e.call("fabs", e.load(a, e.at(i, n, k))), e.load(row, i))
            # Ties go to the row already there: a branch decided by rounding cannot be predicted.
            with e.when(e.compare("lt", here, e.arithmetic("mul", e.real(0.999), there))):
                for j in e.each(k, n, n):
                    _swap(e, a, e.at(i, n, j), e.at(k, n, j))
                _swap(e, b, i, k)
                _swap(e, row, i, k)
        pivot = e.load(a, e.at(k, n, k))
        size = e.arithmetic("mul", e.call("fabs", pivot), e.load(row, k))
        enough = e.compare("lt", e.arithmetic("mul", e.real(SINGULAR * n), e.load(column, k)), size)
        e.store(good, e.select(enough, e.load(good), e.real(0.0)))
        inverse = e.arithmetic("div", e.real(1.0), pivot)
        e.store(inverses, inverse, k)
        for i in e.each(e.after(k), n, n):
            factor = e.arithmetic("mul", e.load(a, e.at(i, n, k)), inverse)
            for j in e.each(e.after(k), n, n):
                product = e.arithmetic("mul", factor, e.load(a, e.at(k, n, j)))
                e.store(a, e.arithmetic("sub", e.load(a, e.at(i, n, j)), product), e.at(i, n, j))
            product = e.arithmetic("mul", factor, e.load(b, k))
            e.store(b, e.arithmetic("sub", e.load(b, i), product), i)
    for up in e.each(0, n, n):
        k = n - 1 - up if isinstance(up, int) else e.integer_arithmetic("sub", n - 1, up)
        total = e.local(1)
        e.store(total, e.load(b, k))
        for j in e.each(e.after(k), n, n):
            product = e.arithmetic("mul", e.load(a, e.at(k, n, j)), e.load(b, j))
            e.store(total, e.arithmetic("sub", e.load(total), product))
        e.store(b, e.arithmetic("mul", e.load(total), e.load(inverses, k)), k)
    return e.compare("eq", e.load(good), e.real(0.0))


def _scales(e: Emitter, n: int, a: Array) -> tuple[Array, Array, Array]:
    """Reciprocal size of each row, size of each column once rows are scaled, and a cell that says 1: all is well."""
    row, column, good = e.local(n), e.local(n), e.local(1)
    e.store(good, e.real(1.0))
    for i in e.each(0, n, n):
        e.store(column, e.real(0.0), i)
    for i in e.each(0, n, n):
        size = e.local(1)
        e.store(size, e.real(0.0))
        for j in e.each(0, n, n):
            e.store(size, e.larger(e.load(size), e.call("fabs", e.load(a, e.at(i, n, j)))))
        e.store(row, e.arithmetic("div", e.real(1.0), e.load(size)), i)
        for j in e.each(0, n, n):
            scaled = e.arithmetic("mul", e.call("fabs", e.load(a, e.at(i, n, j))), e.load(row, i))
            e.store(column, e.larger(e.load(column, j), scaled), j)
    return row, column, good


def _swap(e: Emitter, array: Array, i: Index, j: Index) -> None:
    a, b = e.load(array, i), e.load(array, j)
    e.store(array, b, i)
    e.store(array, a, j)
