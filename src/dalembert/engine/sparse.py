"""Sparse matrices of linear equations, as loops over tables of places: elimination in an order computed once.

The order and the places that fill are known before there are numbers (`elimination_order`). So row by row the triangular
factors are loops over constant tables, whose code does not grow with the matrix. Pivots are on the diagonal. What may go wrong
is seen while factoring: a pivot is small relative to the terms it is the sum of; or those that elimination has added to a
diagonal entry are so large that the digits of the entry are lost. All of these have the units of equation k divided by those
of unknown k. Then the whole matrix is factored with pivoting (`linear.Matrix`), which also decides whether it is singular.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from .elimination_order import Order, elimination_order
from .emitter import Array, Emitter, Handle, Index
from .linear import FLOOR, Matrix, Solvable
from .number_places import Vector

SMALLEST = 12
"""Matrices of fewer rows are factored as if they had no zeros."""

WORTH = 8
"""A product in a sparse elimination costs at most so many in one without places; a row costs as much as this many products."""

CLEAR = 1e-4
"""A pivot larger than this, relative to the terms it is the sum of, has lost few digits."""

GROWTH = 1e3
"""Most that is added to a diagonal entry, in units of the entry."""


def matrix(e: Emitter, n: int, places: Iterable[tuple[int, int]]) -> Solvable:
    """A matrix with entries at `places`, stored and factored in the way that costs less."""
    listed = tuple(places)
    order = elimination_order(n, listed) if n >= SMALLEST else None
    if order is None or WORTH * (order.products + WORTH * n) > n**3 / 3:
        return Matrix(e, n, listed)
    return SparseMatrix(e, n, listed, order)


class Rows:
    """The places of entries row by row, as constant tables: row i has the columns at start[i] to start[i + 1] - 1."""

    def __init__(self, e: Emitter, rows: Sequence[Sequence[int]]):
        self.e, self.size = e, sum(map(len, rows))
        self._start = e.table([0, *accumulate(map(len, rows))])
        self._column = e.table([j for row in rows for j in row])

    def each(self, i: Index) -> Iterable[tuple[Index, Index]]:
        """The numbers and columns of the entries of row i."""
        e = self.e
        with e.loop(e.load(self._start, i), e.load(self._start, e.after(i))) as p:
            yield p, e.load(self._column, p)


class SparseMatrix:
    """A square matrix of n rows with entries at `places`; once factored, its triangular factors too, in the order given."""

    def __init__(self, e: Emitter, n: int, places: Sequence[tuple[int, int]], order: Order):
        self.e, self.n, self.places = e, n, tuple(places)
        position = {k: p for p, k in enumerate(order.unknowns)}
        moved = sorted((position[i], position[j], k) for k, (i, j) in enumerate(places))
        self._slots = sorted(range(len(places)), key=lambda slot: moved[slot][2])
        rows: list[list[int]] = [[] for _ in range(n)]
        for i, j, _ in moved:
            rows[i].append(j)
        below: list[list[int]] = [[] for _ in range(n)]
        for k, row in enumerate(order.coupled):
            for i in row:
                below[i].append(k)
        firsts = [0, *accumulate(map(len, order.coupled))]
        number = {(k, j): firsts[k] + c for k, row in enumerate(order.coupled) for c, j in enumerate(row)}
        self.unknown = e.table(order.unknowns)
        self.given_rows, self.low_rows, self.up_rows = Rows(e, rows), Rows(e, below), Rows(e, order.coupled)
        self.above = e.table([number[k, i] for i, row in enumerate(below) for k in row])
        self.given, self.low, self.up = e.local(len(places)), e.local(self.low_rows.size), e.local(self.up_rows.size)
        self.inverses, self.work = e.local(n), e.local(n)
        self.owns = e.table([int(i in row) for i, row in enumerate(rows)])
        self.whole = Matrix(e, n, places)
        self.uses_whole = e.local(1, "integer")

    def store(self, values: Vector) -> None:
        """Store the entries, in the order of `places`."""
        values.scatter(self.given, self._slots)

    def factor(self) -> Handle:
        """Triangular factors; returns whether the matrix is singular."""
        e, good, singular = self.e, self.e.local(1), self.e.local(1)
        e.store(good, e.real(1.0))
        e.store(singular, e.real(0.0))
        e.store(self.uses_whole, 0)
        with e.loop(0, self.n) as i:
            self._spread(i)
            self._eliminate(i, good)
        with e.when(e.compare("eq", e.load(good), e.real(0.0))):
            e.store(self.uses_whole, 1)
            self._store_whole()
            with e.when(self.whole.factor()):
                e.store(singular, e.real(1.0))
        return e.compare("eq", e.load(singular), e.real(1.0))

    def _spread(self, i: Index) -> None:
        """Row i of the matrix into the work row, with zeros at the places that fill."""
        e, zero = self.e, self.e.real(0.0)
        for rows in (self.low_rows, self.up_rows):
            for _, j in rows.each(i):
                e.store(self.work, zero, j)
        e.store(self.work, zero, i)
        for p, j in self.given_rows.each(i):
            e.store(self.work, e.load(self.given, p), j)

    def _eliminate(self, i: Index, good: Array) -> None:
        """Subtract the rows above from the work row: row i of both factors."""
        e, terms = self.e, self.e.local(1)
        most = e.arithmetic("mul", e.real(GROWTH), e.call("fabs", e.load(self.work, i)))
        e.store(terms, e.real(0.0))
        for p, k in self.low_rows.each(i):
            multiple = e.arithmetic("mul", e.load(self.work, k), e.load(self.inverses, k))
            e.store(self.low, multiple, p)
            for q, j in self.up_rows.each(k):
                product = e.arithmetic("mul", multiple, e.load(self.up, q))
                e.store(self.work, e.arithmetic("sub", e.load(self.work, j), product), j)
            term = e.arithmetic("mul", multiple, e.load(self.up, e.load(self.above, p)))
            e.store(terms, e.arithmetic("add", e.load(terms), e.call("fabs", term)))
        for p, j in self.up_rows.each(i):
            e.store(self.up, e.load(self.work, j), p)
        pivot = e.load(self.work, i)
        e.store(self.inverses, e.arithmetic("div", e.real(1.0), pivot), i)
        whole = e.arithmetic("add", e.load(terms), e.call("fabs", pivot))
        clear = e.compare("lt", e.arithmetic("mul", e.real(CLEAR), whole), e.call("fabs", pivot))
        e.store(good, e.select(clear, e.load(good), e.real(0.0)))
        with e.when(e.integer_compare("eq", e.load(self.owns, i), 1)):
            moderate = e.compare("le", e.load(terms), most)
            e.store(good, e.select(moderate, e.load(good), e.real(0.0)))

    def _store_whole(self) -> None:
        e, n, whole = self.e, self.n, self.whole.entries
        with e.loop(0, n * n) as k:
            e.store(whole, e.real(0.0), k)
        with e.loop(0, n) as i:
            row = e.load(self.unknown, i)
            for p, j in self.given_rows.each(i):
                e.store(whole, e.load(self.given, p), e.at(row, n, e.load(self.unknown, j)))

    def solve(self, b: Array, x: Array) -> None:
        """The solution x of the factored system with right-hand side b, which is another array."""
        e = self.e
        whole = e.integer_compare("eq", e.load(self.uses_whole), 1)
        with e.when(whole):
            self.whole.solve(b, x)
        with e.when(e.opposite(whole)):
            self._substitute(b, x)

    def _substitute(self, b: Array, x: Array) -> None:
        e, n, y, rest = self.e, self.n, self.work, self.e.local(1)

        def without(rows: Rows, factors: Array, i: Index) -> None:
            for p, j in rows.each(i):
                product = e.arithmetic("mul", e.load(factors, p), e.load(y, j))
                e.store(rest, e.arithmetic("sub", e.load(rest), product))

        with e.loop(0, n) as i:
            e.store(rest, e.load(b, e.load(self.unknown, i)))
            without(self.low_rows, self.low, i)
            e.store(y, e.load(rest), i)
        with e.loop(0, n) as up:
            k = e.integer_arithmetic("sub", n - 1, up)
            e.store(rest, e.load(y, k))
            without(self.up_rows, self.up, k)
            e.store(y, e.arithmetic("mul", e.load(rest), e.load(self.inverses, k)), k)
            e.store(x, e.load(y, k), e.load(self.unknown, k))

    def add_floors(self, scale: Array) -> None:
        """Compare each row with the terms of the other rows too, in units of the unknowns; see `Matrix.add_floors`."""
        e, n, floor = self.e, self.n, self.e.local(1)
        unknown, zero = e.local(n), e.real(0.0)
        with e.loop(0, n) as k:
            e.store(unknown, zero, k)
        with e.loop(0, n) as i:
            known = e.load(scale, e.load(self.unknown, i))
            for p, j in self.given_rows.each(i):
                coefficient = e.call("fabs", e.load(self.given, p))
                size = e.rough_reciprocal(e.arithmetic("mul", coefficient, known))
                size = e.select(e.compare("lt", size, e.real(float("inf"))), size, zero)
                e.store(unknown, e.larger(e.load(unknown, j), size), j)
        with e.loop(0, n) as i:
            e.store(floor, zero)
            for p, j in self.given_rows.each(i):
                coefficient = e.call("fabs", e.load(self.given, p))
                e.store(floor, e.larger(e.load(floor), e.arithmetic("mul", coefficient, e.load(unknown, j))))
            at = e.load(self.unknown, i)
            terms = e.rough_reciprocal(e.load(scale, at))
            whole = e.arithmetic("add", terms, e.arithmetic("mul", e.real(FLOOR), e.load(floor)))
            e.store(scale, e.rough_reciprocal(whole), at)
