"""Linear equations of first order for several functions of several variables, with their derivatives, at one state.

An equation is {(function, variable): coefficient}; variable None stands for the function itself. Differentiated often enough,
the equations are linear equations for the partial derivatives of the functions at a state. Elimination of the highest
derivatives shows what they imply for lower ones and for the values; Cartan's test shows when nothing further can follow.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import comb, prod
from typing import Any

from ...decide import balls
from ...decide.balls import Ball, Point
from ...decide.elimination import echelon, rank
from ...symbolic import Fast, fast

Equation = Mapping[tuple[int, int | None], Fast]
"""Coefficients by (function, variable)."""

Exponents = tuple[int, ...]
"""How often is differentiated by each variable."""

CERTAIN_BITS = 100
"""Bits to which eliminated entries must be zero before a row counts as one for lower derivatives."""


def exponents(variables: int, order: int) -> Iterator[Exponents]:
    """All derivatives of one order."""
    for chosen in combinations_with_replacement(range(variables), order):
        yield tuple(chosen.count(k) for k in range(variables))


@dataclass
class Derivatives:
    """Partial derivatives of expressions at a state, each computed once."""

    variables: Sequence[Fast]
    point: Point
    _known: dict[tuple[Fast, Exponents], Fast] = field(default_factory=dict)
    _values: dict[Fast, Ball] = field(default_factory=dict)

    def expression(self, e: Fast, by: Exponents) -> Fast:
        """The derivative of an expression."""
        if not any(by):
            return e
        found = self._known.get((e, by))
        if found is None:
            k = next(k for k, often in enumerate(by) if often)
            lower = (*by[:k], by[k] - 1, *by[k + 1 :])
            found = self._known[e, by] = self.expression(e, lower).diff(self.variables[k])
        return found

    def value(self, e: Fast) -> Ball:
        """The ball of an expression at the state."""
        found = self._values.get(e)
        if found is None:
            found = self._values[e] = balls.value(e, self.point)
        return found


@dataclass(frozen=True, eq=False)
class Prolongation:
    """Equations and their derivatives up to an order, at a state.

    equations:  those of order zero (no derivatives) and of order one
    functions:  how many functions are sought
    order:      up to which order of derivatives of the functions
    """

    equations: Sequence[Equation]
    functions: int
    derivatives: Derivatives
    order: int

    @cached_property
    def _columns(self) -> list[tuple[Exponents, int]]:
        """Derivatives of the functions, those of the highest order first."""
        m = len(self.derivatives.variables)
        orders = range(self.order, -1, -1)
        return [(by, a) for k in orders for by in exponents(m, k) for a in range(self.functions)]

    @cached_property
    def _rows(self) -> list[list[Ball]]:
        place = {column: k for k, column in enumerate(self._columns)}
        m, known, rows = len(self.derivatives.variables), self.derivatives, []
        with balls.precise() as flint:
            for equation in self.equations:
                own = int(any(z is not None for _, z in equation))
                for by in (by for k in range(self.order - own + 1) for by in exponents(m, k)):
                    row = [flint.arb(0)] * len(place)
                    for part in product(*(range(k + 1) for k in by)):
                        weight = prod(map(comb, by, part))
                        rest = [k - p for k, p in zip(by, part, strict=True)]
                        for (a, z), c in equation.items():
                            slope = known.expression(c, part)
                            if slope == 0:
                                continue
                            at = tuple(k + (i == z) for i, k in enumerate(rest))
                            row[place[at, a]] += weight * known.value(slope)
                    rows.append(row)
        return rows

    @cached_property
    def _reduced(self) -> tuple[list[list[Ball]], list[int]]:
        return echelon(self._rows, len(self._columns))

    @property
    def rank(self) -> int:
        """The number of independent equations for the derivatives up to the order."""
        return len(self._reduced[1])

    @cached_property
    def has_values(self) -> bool:
        """Whether everything has a value at the state."""
        return all(b.is_finite() for row in self._rows for b in row)

    def _width(self, order: int) -> int:
        """The number of derivatives up to an order."""
        m = len(self.derivatives.variables)
        return self.functions * comb(m + order, m) if order >= 0 else 0

    def implied(self, order: int) -> list[list[Ball]]:
        """Independent rows that follow for the derivatives up to an order, as far as they are certain."""
        rows, pivots = self._reduced
        first = len(self._columns) - self._width(order)
        found = [row for row, pivot in zip(rows, pivots, strict=False) if pivot >= first]
        return [row[first:] for row in found if _certain(row, first)]

    def is_involutive(self, order: int) -> bool:
        """Cartan's test for what follows up to an order: whether its derivatives determine no more than it seems.

        With s_k the dimension of what remains of the highest derivatives if those along k generic directions are zero, those
        of the next order have at most the dimension s_0 + s_1 + ...; the equations are involutive if it is reached.
        """
        rows, m = self._symbol(order), len(self.derivatives.variables)
        now = [(by, a) for by in exponents(m, order) for a in range(self.functions)]
        later = [(by, a) for by in exponents(m, order + 1) for a in range(self.functions)]
        place = {column: k for k, column in enumerate(later)}
        sizes = [len(now) - rank(rows + along) for along in self._flags(order, now)]
        with balls.precise() as flint:
            moved = []
            for z in range(m):
                for row in rows:
                    whole = [flint.arb(0)] * len(later)
                    for (by, a), c in zip(now, row, strict=True):
                        whole[place[_raised(by, z), a]] = c
                    moved.append(whole)
        return len(later) - rank(moved) == sum(sizes)

    def _symbol(self, order: int) -> list[list[Ball]]:
        """The parts of highest order of what follows up to an order."""
        width = self._width(order) - self._width(order - 1)
        return [row[:width] for row in self.implied(order) if not all(b.contains(0) for b in row[:width])]

    def _flags(self, order: int, now: Sequence[tuple[Exponents, int]]) -> Iterator[list[list[Ball]]]:
        """For k = 0, 1, ... the rows that say that derivatives along k generic directions vanish."""
        m, rng = len(self.derivatives.variables), random.Random(5)
        place = {column: k for k, column in enumerate(now)}
        rows: list[list[Ball]] = []
        for _ in range(m):
            yield rows
            direction = [rng.randint(-9, 9) for _ in range(m)]
            with balls.precise() as flint:
                for by in exponents(m, order - 1):
                    for a in range(self.functions):
                        row = [flint.arb(0)] * len(now)
                        for z, c in enumerate(direction):
                            row[place[_raised(by, z), a]] += c
                        rows = [*rows, row]


def _raised(by: Exponents, z: int) -> Exponents:
    return tuple(k + (i == z) for i, k in enumerate(by))


def _certain(row: Sequence[Ball], first: int) -> bool:
    """Whether the entries before a place are zero to many digits; a wide ball says nothing."""
    size = max(abs(b).upper() for b in row[first:])
    return all(bool(abs(b).upper() * 2**CERTAIN_BITS <= size) for b in row[:first])


def equation(entries: Mapping[tuple[int, int | None], Any]) -> Equation:
    """An equation without coefficients that are zero."""
    return {key: e for key, e in ((key, fast(e)) for key, e in entries.items()) if e != 0}
