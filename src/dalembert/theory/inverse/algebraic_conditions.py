"""Linear equations that every multiplier g(t, q, v) satisfies at every state, and Douglas' cases for two degrees of freedom.

With Phi the Jacobi endomorphism of a = f(q, v, t) and nabla its covariant rate: g Phi, g nabla Phi, g nabla^2 Phi, ... are
symmetric; for three and more degrees of freedom the cyclic sum of g_il (dPhi^l_k/dv_j - dPhi^l_j/dv_k) over i, j, k vanishes,
with all its covariant rates. Where they leave only singular g, there is no regular Lagrangian: this excludes all
multipliers, not those of an ansatz. (J. Douglas, Trans. AMS 50, 1941; W. Sarlet, G. Thompson and G. E. Prince, Trans. AMS 354,
2002.)

Ranks are those at sampled states in ball arithmetic. A rank that is found is proved to be reached there.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import sympy
from sympy import Expr

from ...decide import balls
from ...decide.balls import Ball, Point
from ...decide.elimination import echelon, independent, rank
from ...symbolic import Fast, fast, jacobian, total
from ..algebra import read
from .along_motion import Flow, Square, determinant, generic_points, pairs, symmetric, two_forms

MOST_RATES = 5
"""Covariant rates are taken until they add nothing to the rank, at most so many."""

SAMPLES = 3
"""States at which ranks are sought, and combinations of solutions tried at each."""

CERTAIN_BITS = 100
"""Bits to which a determinant must be zero before a matrix counts as singular."""

Row = list[Fast]


@dataclass(frozen=True)
class AlgebraicConditions:
    """The rows that annihilate the entries (g_11, g_12, ..., g_nn) of every multiplier."""

    flow: Flow

    @cached_property
    def endomorphisms(self) -> list[Square]:
        """Phi and its covariant rates, as far as they were needed."""
        return self._found[1]

    @cached_property
    def rows(self) -> list[Row]:
        """All rows, those of Phi first."""
        return self._found[0]

    @cached_property
    def _found(self) -> tuple[list[Row], list[Square]]:
        flow = self.flow
        phi = flow.jacobi_endomorphism
        curvature = _curvature(flow, phi) if flow.n > 2 else None
        rows: list[Row] = []
        taken: list[Square] = []
        reached = -1
        for _ in range(MOST_RATES):
            taken.append(phi)
            rows = [*rows, *symmetry_rows(phi)] + ([] if curvature is None else cyclic_rows(curvature))
            now = _highest_rank(rows)
            if now == reached or now == len(pairs(flow.n)):
                break
            reached = now
            phi = flow.covariant_rate(phi)
            curvature = None if curvature is None else _curvature_rate(flow, curvature)
        return rows, taken

    @cached_property
    def points(self) -> list[Point]:
        """States at which the rank is reached."""
        flow = self.flow
        found = list(generic_points([e for row in self.rows for e in row], flow.variables, SAMPLES))
        return [p for p in found if rank(self._grid(p)) == self.rank]

    def _grid(self, point: Point) -> list[list[Ball]]:
        return balls.raw_values(self.rows, point)

    @cached_property
    def rank(self) -> int:
        """The number of independent rows."""
        return _highest_rank(self.rows)

    @property
    def freedom(self) -> int:
        """How many functions a multiplier has left."""
        return len(pairs(self.flow.n)) - self.rank

    @cached_property
    def independent_rows(self) -> list[Row]:
        """As many rows as the rank."""
        chosen = independent(self._grid(self.points[0]))[0] if self.points else []
        return [self.rows[k] for k in chosen]

    @cached_property
    def only_singular(self) -> bool:
        """Whether every g that satisfies all conditions is singular, at all sampled states."""
        if self.freedom == 0:
            return True
        return not any(self._regular_at(p) for p in self.points)

    def _regular_at(self, point: Point) -> bool:
        grid = self._grid(point)
        return has_regular([grid[k] for k in independent(grid)[0]], self.flow.n)

    @cached_property
    def case(self) -> str:
        """Douglas' case, I to IV, of two degrees of freedom; empty otherwise."""
        if self.flow.n != 2:
            return ""
        if _highest_rank(self.rows[:1]) == 0:
            return "I"
        return {1: "II", 2: "III", 3: "IV"}[self.rank]

    @cached_property
    def determinant(self) -> Expr:
        """The determinant of the three rows in case IV, where it is not zero there is no Lagrangian; else zero."""
        if self.case != "IV":
            return sympy.S.Zero
        symbols = [*self.flow.variables, *self.flow.accelerations]
        return read(determinant([list(row) for row in self.independent_rows]), *symbols)


def has_regular(rows: Sequence[Sequence[Ball]], n: int) -> bool:
    """Whether some symmetric matrix that independent rows annihilate is regular."""
    size = len(pairs(n))
    vectors, rng = _null_vectors(rows, size), random.Random(1)
    with balls.precise() as flint:
        for _ in range(SAMPLES):
            whole: list[Any] = [flint.arb(0)] * size
            for vector in vectors:
                c = flint.arb(rng.randint(-40, 40)) / 7
                for k, x in vector.items():
                    whole[k] += c * x
            if not _certainly_singular(flint.arb_mat(symmetric(whole, n))):
                return True
    return False


def _null_vectors(grid: Sequence[Sequence[Ball]], size: int) -> list[dict[int, Ball]]:
    """What independent rows annihilate, by elimination, which keeps all digits where there are few rows."""
    reduced, pivots = echelon(grid, size)
    free = [k for k in range(size) if k not in pivots]
    with balls.precise():
        return [{k: balls.ball(1), **{p: -row[k] for p, row in zip(pivots, reduced, strict=False)}} for k in free]


def _certainly_singular(matrix: Any) -> bool:
    """Whether a determinant is zero to many digits of the product of the rows' largest entries; a wide ball says nothing."""
    det, size = abs(matrix.det()), balls.ball(1)
    for i in range(matrix.nrows()):
        size *= max((abs(matrix[i, j]).upper() for j in range(matrix.ncols())), default=balls.ball(0))
    return bool(det.contains(0)) and bool(det.upper() <= size * balls.ball(Fraction(1, 2**CERTAIN_BITS)))


def symmetry_rows(matrix: Square) -> list[Row]:
    """The rows that say that g M is symmetric; for two degrees of freedom (M12, M22 - M11, -M21)."""
    n = len(matrix)
    places = pairs(n)
    rows = []
    for i, j in two_forms(n):
        row = [fast(0)] * len(places)
        for l in range(n):
            row[places.index((min(i, l), max(i, l)))] += matrix[l][j]
            row[places.index((min(j, l), max(j, l)))] -= matrix[l][i]
        rows.append(row)
    return rows


Curvature = list[list[list[Fast]]]


def _curvature(flow: Flow, phi: Square) -> Curvature:
    """R^l_jk = dPhi^l_k/dv_j - dPhi^l_j/dv_k (three times the curvature)."""
    n = flow.n
    slopes = [jacobian(row, flow.velocities) for row in phi]
    return [[[slopes[l][k][j] - slopes[l][j][k] for k in range(n)] for j in range(n)] for l in range(n)]


def _curvature_rate(flow: Flow, R: Curvature) -> Curvature:
    n, gamma = flow.n, flow.connection

    def entry(l: int, j: int, k: int) -> Fast:
        turned = [gamma[l][m] * R[m][j][k] - R[l][m][k] * gamma[m][j] - R[l][j][m] * gamma[m][k] for m in range(n)]
        return total([flow.rate(R[l][j][k]), *turned])

    return [[[entry(l, j, k) for k in range(n)] for j in range(n)] for l in range(n)]


def cyclic_rows(R: Curvature) -> list[Row]:
    """The rows that say that the cyclic sum of g_il R^l_jk vanishes."""
    n = len(R)
    places = pairs(n)
    rows = []
    for i, j, k in combinations(range(n), 3):
        row = [fast(0)] * len(places)
        for a, b, c in ((i, j, k), (j, k, i), (k, i, j)):
            for l in range(n):
                row[places.index((min(a, l), max(a, l)))] += R[l][b][c]
        rows.append(row)
    return rows


def _highest_rank(rows: Sequence[Row]) -> int:
    entries = [e for row in rows for e in row]
    if all(e == 0 for e in entries):
        return 0
    return max((rank(balls.raw_values(rows, p)) for p in generic_points(entries, [], SAMPLES)), default=0)
