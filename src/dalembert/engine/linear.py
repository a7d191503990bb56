"""Matrices of linear equations, as loops against the emitter: what is stored, elimination, substitution; sizes of residuals.

Whoever solves equations makes a `Matrix` of the places of its entries and asks it for the rest: how a matrix is stored and
factored is decided in this file alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from .emitter import Array, Emitter, Handle, Index
from .number_places import Vector

SINGULAR = 1e-14
"""A matrix of size n is singular if a pivot is below n times this, relative to the products it depends on."""

DOUBTFUL = 1e-8
"""Pivots below this, relative to the terms they are sums of, are compared with the rounding of all steps."""

FLOOR = 1e-6
"""Times the tolerance of Newton's method: the rounding of the largest unknown, below which a row is zero."""


ZEROS = 200
"""More zeros of a matrix than this are stored by a loop: unrolled, their code grows like the square of the unknowns."""


class Solvable(Protocol):
    """A square matrix that is stored, factored and solved with; its entries are zero except those at `places`."""

    @property
    def places(self) -> Sequence[tuple[int, int]]:
        """Row and column of each entry."""

    def store(self, values: Vector) -> None:
        """Store the entries, in the order of `places`."""

    def factor(self) -> Handle:
        """Make triangular factors; whether the matrix is singular."""

    def solve(self, b: Array, x: Array) -> None:
        """The solution x of the factored system with right-hand side b, which is another array."""

    def add_floors(self, scale: Array) -> None:
        """Compare each row with the terms of the other rows too, in units of the unknowns. Not of a factored matrix."""


class Matrix:
    """A square matrix of n rows and, once factored: its triangular factors, the pivots' inverses, the order of its rows.

    Entries are zero except those at `places`, pairs of row and column: `Block.partials` has them.
    """

    def __init__(self, e: Emitter, n: int, places: Iterable[tuple[int, int]]):
        self.e, self.n, self.places = e, n, tuple(places)
        self.entries, self.inverses, self.order = e.local(n * n), e.local(n), e.local(n, "integer")

    def store(self, values: Vector) -> None:
        """Store the entries, in the order of `places`. Many zeros are stored by a loop, few one by one."""
        e, n, zero = self.e, self.n, self.e.real(0.0)
        if n * n - len(self.places) > ZEROS or values.is_in_memory:
            with e.loop(0, n * n) as k:
                e.store(self.entries, zero, k)
            values.scatter(self.entries, [i * n + j for i, j in self.places])
            return
        entries = dict(zip(self.places, values.listed(), strict=True))
        for i in range(n):
            for j in range(n):
                e.store(self.entries, entries.get((i, j), zero), e.at(i, n, j))

    def factor(self) -> Handle:
        """Triangular factors in place, by elimination with scaled partial pivoting; returns whether the matrix is singular."""
        e, n, a = self.e, self.n, self.entries
        if n == 1:
            pivot = e.load(a)
            e.store(self.inverses, e.reciprocal(pivot))
            return e.compare("eq", pivot, e.real(0.0))
        row = _row_scales(e, n, a)
        for i in e.each(0, n, n):
            e.store(self.order, i, i)
        for k in e.each(0, n, n):
            for i in e.each(e.after(k), n, n):
                here = e.arithmetic("mul", e.call("fabs", e.load(a, e.at(k, n, k))), e.load(row, k))
                there = e.arithmetic("mul", e.call("fabs", e.load(a, e.at(i, n, k))), e.load(row, i))
                # Ties go to the row already there: a branch decided by rounding cannot be predicted.
                with e.when(e.compare("lt", here, e.arithmetic("mul", e.real(0.999), there))):
                    for j in e.each(0, n, n):
                        _swap(e, a, e.at(i, n, j), e.at(k, n, j))
                    _swap(e, self.order, i, k)
                    _swap(e, row, i, k)
            inverse = e.reciprocal(e.load(a, e.at(k, n, k)))
            e.store(self.inverses, inverse, k)
            for i in e.each(e.after(k), n, n):
                multiple = e.arithmetic("mul", e.load(a, e.at(i, n, k)), inverse)
                e.store(a, multiple, e.at(i, n, k))
                for j in e.each(e.after(k), n, n):
                    product = e.arithmetic("mul", multiple, e.load(a, e.at(k, n, j)))
                    e.store(a, e.arithmetic("sub", e.load(a, e.at(i, n, j)), product), e.at(i, n, j))
        return _has_rounding_for_pivot(e, n, a)

    def solve(self, b: Array, x: Array) -> None:
        """The solution x of the factored system with right-hand side b, which is another array."""
        e, n = self.e, self.n
        if n == 1:
            e.store(x, e.arithmetic("mul", e.load(b), e.load(self.inverses)))
            return
        for i in e.each(0, n, n):
            e.store(x, e.load(b, e.load(self.order, i)), i)
        for j in e.each(0, n, n):  # by columns: the updates of one column do not depend on each other
            self._subtract(x, j, e.each(e.after(j), n, n))
        for up in e.each(0, n, n):
            j = n - 1 - up if isinstance(up, int) else e.integer_arithmetic("sub", n - 1, up)
            e.store(x, e.arithmetic("mul", e.load(x, j), e.load(self.inverses, j)), j)
            self._subtract(x, j, e.each(0, j, n))

    def _subtract(self, x: Array, j: Index, rows: Iterable[Index]) -> None:
        """Subtract x_j times column j from some rows."""
        e, known = self.e, self.e.load(x, j)
        for i in rows:
            product = e.arithmetic("mul", e.load(self.entries, e.at(i, self.n, j)), known)
            e.store(x, e.arithmetic("sub", e.load(x, i), product), i)

    def add_floors(self, scale: Array) -> None:
        """Compare each row with the terms of the other rows too, in units of the unknowns.

        The terms of a row divided by the coefficient of an unknown have the units of that unknown; the largest of these over
        all rows estimates the size of the unknown, and the unknowns together give the rounding error of a row.
        """
        e, n = self.e, self.n
        unknown, floor = e.local(n), e.local(1)
        for j in e.each(0, n, n):
            e.store(unknown, e.real(0.0), j)
            for i in e.each(0, n, n):
                coefficient = e.call("fabs", e.load(self.entries, e.at(i, n, j)))
                size = e.rough_reciprocal(e.arithmetic("mul", coefficient, e.load(scale, i)))
                known = e.select(e.compare("lt", size, e.real(float("inf"))), size, e.real(0.0))
                e.store(unknown, e.larger(e.load(unknown, j), known), j)
        for i in e.each(0, n, n):
            e.store(floor, e.real(0.0))
            for j in e.each(0, n, n):
                coefficient = e.call("fabs", e.load(self.entries, e.at(i, n, j)))
                e.store(floor, e.larger(e.load(floor), e.arithmetic("mul", coefficient, e.load(unknown, j))))
            terms = e.rough_reciprocal(e.load(scale, i))
            whole = e.arithmetic("add", terms, e.arithmetic("mul", e.real(FLOOR), e.load(floor)))
            e.store(scale, e.rough_reciprocal(whole), i)


def _has_rounding_for_pivot(e: Emitter, n: int, a: Array) -> Handle:
    """Whether a pivot is only the rounding error of the terms it is the sum of; `a` has the triangular factors.

    u_kk = a_kk - sum l_kj u_jk: every term has the units of row k divided by those of unknown k, so no change of units,
    of one equation or one unknown alone, changes the verdict. If no pivot is small relative to its terms, none is rounding;
    otherwise the rounding of all steps is estimated, since an earlier small pivot amplifies it.
    """
    good, size = e.local(1), e.local(1)
    e.store(good, e.real(1.0))
    for k in e.each(0, n, n):
        pivot = e.call("fabs", e.load(a, e.at(k, n, k)))
        e.store(size, pivot)
        for j in e.each(0, k, n):
            term = e.arithmetic("mul", e.load(a, e.at(k, n, j)), e.load(a, e.at(j, n, k)))
            e.store(size, e.arithmetic("add", e.load(size), e.call("fabs", term)))
        clear = e.compare("lt", e.arithmetic("mul", e.real(DOUBTFUL * e.coarseness**0.5), e.load(size)), pivot)
        e.store(good, e.select(clear, e.load(good), e.real(0.0)))
    with e.when(e.compare("eq", e.load(good), e.real(0.0))):
        _compare_with_all_rounding(e, n, a, good)
    return e.compare("eq", e.load(good), e.real(0.0))


def _compare_with_all_rounding(e: Emitter, n: int, factors: Array, good: Array) -> None:
    """Set `good` to one if every pivot exceeds the rounding errors that all steps before it may leave, else to zero.

    The factors are those of a matrix that differs from the given one by E, at most the unit of rounding times |L||U|. To
    first order u_kk changes by y E z, with y L = 0 left of column k, U z = 0 above row k, and y_k = z_k = 1.
    """
    # Small factors stay in registers unless loops index them: loops get a copy.
    one, a = e.real(1.0), e.local(n * n) if n <= e.unroll else factors
    y, z, total = e.local(n), e.local(n), e.local(3)
    e.store(good, one)
    for place in range(n * n if n <= e.unroll else 0):
        e.store(a, e.load(factors, place), place)

    def add(place: int, value: Handle) -> None:
        e.store(total, e.arithmetic("add", e.load(total, place), value), place)

    def product(entry: Index, vector: Array, at: Index) -> Handle:
        return e.arithmetic("mul", e.load(a, entry), e.load(vector, at))

    with e.loop(0, n) as k:
        e.store(y, one, k)
        e.store(z, one, k)
        e.store(total, e.real(0.0), 2)
        with e.loop(0, e.after(k)) as up:
            j = e.integer_arithmetic("sub", k, up)
            e.store(total, e.real(0.0), 0)
            e.store(total, e.real(0.0), 1)
            with e.loop(e.after(j), e.after(k)) as p:
                add(0, product(e.at(p, n, j), y, p))
                add(1, product(e.at(j, n, p), z, p))
            with e.when(e.integer_compare("lt", j, k)):
                e.store(y, e.negative(e.load(total, 0)), j)
                e.store(z, e.negative(e.arithmetic("div", e.load(total, 1), e.load(a, e.at(j, n, j)))), j)
            e.store(total, e.call("fabs", e.load(y, j)), 0)
            e.store(total, e.call("fabs", product(e.at(j, n, j), z, j)), 1)
            with e.loop(e.after(j), e.after(k)) as p:
                add(0, e.call("fabs", product(e.at(p, n, j), y, p)))
                add(1, e.call("fabs", product(e.at(j, n, p), z, p)))
            add(2, e.arithmetic("mul", e.load(total, 0), e.load(total, 1)))
        pivot = e.call("fabs", e.load(a, e.at(k, n, k)))
        enough = e.compare("lt", e.arithmetic("mul", e.real(SINGULAR * n * e.coarseness), e.load(total, 2)), pivot)
        e.store(good, e.select(enough, e.load(good), e.real(0.0)))


def relative_residual(e: Emitter, r: Vector, scale: Array) -> Handle:
    """The largest residual relative to the terms it is the sum of; `scale` has the reciprocal of their size.

    Relative to the terms, so that neither units nor the scale of the motion matter, and rounding is recognised.
    """
    if r.is_in_memory:
        worst_of_all = e.local(1)
        e.store(worst_of_all, e.real(0.0))
        for i, value in r:
            size = e.arithmetic("mul", e.call("fabs", value), e.load(scale, i))
            e.store(worst_of_all, e.larger(e.load(worst_of_all), size))
        return e.load(worst_of_all)
    worst = e.real(0.0)
    for i, value in r:
        worst = e.larger(worst, e.arithmetic("mul", e.call("fabs", value), e.load(scale, i)))
    return worst


def _row_scales(e: Emitter, n: int, a: Array) -> Array:
    """The reciprocal size of each row."""
    row, size = e.local(n), e.local(1)
    for i in e.each(0, n, n):
        e.store(size, e.real(0.0))
        for j in e.each(0, n, n):
            e.store(size, e.larger(e.load(size), e.call("fabs", e.load(a, e.at(i, n, j)))))
        e.store(row, e.rough_reciprocal(e.load(size)), i)
    return row


def _swap(e: Emitter, array: Array, i: Index, j: Index) -> None:
    a, b = e.load(array, i), e.load(array, j)
    e.store(array, b, i)
    e.store(array, a, j)
