"""Derivatives on the space of (t, q, v): along the motion a = f(q, v, t), and by each variable.

Everything is in SymEngine and unsimplified: what vanishes is decided by value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import sympy
from sympy import Expr

from ...decide import balls
from ...decide.balls import Point
from ...decide.sample import points
from ...model.coordinates import Coordinate, time
from ...symbolic import Fast, fast, gradient, jacobian, total

Square = list[list[Fast]]
"""A square matrix of expressions, by rows."""


@dataclass(frozen=True)
class Flow:
    """Second-order equations solved for the accelerations: a_k = f_k(q, v, t)."""

    coordinates: tuple[Coordinate, ...]
    accelerations: tuple[Expr, ...]

    @property
    def n(self) -> int:
        """The number of degrees of freedom."""
        return len(self.coordinates)

    @property
    def velocities(self) -> tuple[sympy.Symbol, ...]:
        """The symbols of the velocities."""
        return tuple(q.dot for q in self.coordinates)

    @property
    def variables(self) -> tuple[sympy.Symbol, ...]:
        """Time, positions, velocities."""
        return (time, *self.coordinates, *self.velocities)

    @cached_property
    def f(self) -> list[Fast]:
        """The accelerations, for SymEngine."""
        return [fast(a) for a in self.accelerations]

    def rate(self, e: Fast) -> Fast:
        """de/dt along the motion."""
        e = fast(e)
        moves = [fast(1), *map(fast, self.velocities), *self.f]
        return total([d * m for d, m in zip(gradient(e, self.variables), moves, strict=True)])

    def rates(self, matrix: Square) -> Square:
        """The rates of the entries of a matrix."""
        return [[self.rate(e) for e in row] for row in matrix]

    @cached_property
    def by_velocity(self) -> Square:
        """df_k/dv_j."""
        return jacobian(self.f, self.velocities)

    @cached_property
    def connection(self) -> Square:
        """Gamma = -1/2 df/dv."""
        return [[-d / 2 for d in row] for row in self.by_velocity]

    @cached_property
    def divergence(self) -> Fast:
        """The sum of df_k/dv_k: volume in (q, v) changes at this rate."""
        return total([self.by_velocity[k][k] for k in range(self.n)])

    @cached_property
    def jacobi_endomorphism(self) -> Square:
        """Phi = -df/dq - Gamma^2 - dGamma/dt."""
        gamma, by_place = self.connection, jacobian(self.f, self.coordinates)
        squared, moved = product(gamma, gamma), self.rates(gamma)
        return [[-by_place[i][j] - squared[i][j] - moved[i][j] for j in range(self.n)] for i in range(self.n)]

    def covariant_rate(self, matrix: Square) -> Square:
        """nabla M = dM/dt + Gamma M - M Gamma."""
        left, right = product(self.connection, matrix), product(matrix, self.connection)
        moved = self.rates(matrix)
        return [[moved[i][j] + left[i][j] - right[i][j] for j in range(self.n)] for i in range(self.n)]

    def euler_lagrange(self, lagrangian: Any) -> list[Fast]:
        """d/dt dL/dv - dL/dq with the accelerations put in."""
        L = fast(lagrangian)
        momenta, slopes = gradient(L, self.velocities), gradient(L, self.coordinates)
        return [self.rate(p) - s for p, s in zip(momenta, slopes, strict=True)]

    def hessian(self, lagrangian: Any) -> Square:
        """d2L/dv dv."""
        return jacobian(gradient(fast(lagrangian), self.velocities), self.velocities)


def product(a: Square, b: Square) -> Square:
    """The product of two matrices."""
    return [[total([x * b[k][j] for k, x in enumerate(row)]) for j in range(len(b[0]))] for row in a]


def determinant(matrix: Square) -> Fast:
    """By minors: expressions are small, and no division makes them larger."""
    if len(matrix) == 1:
        return matrix[0][0]
    return total(
        [
            (-1) ** j * x * determinant([[*row[:j], *row[j + 1 :]] for row in matrix[1:]])
            for j, x in enumerate(matrix[0])
            if x != 0
        ]
    )


def pairs(n: int) -> list[tuple[int, int]]:
    """The places i <= j of a symmetric matrix, row by row."""
    return [(i, j) for i in range(n) for j in range(i, n)]


def symmetric(entries: Sequence[Any], n: int) -> list[list[Any]]:
    """A symmetric matrix from its entries at `pairs`."""
    at = dict(zip(pairs(n), entries, strict=True))
    return [[at[min(i, j), max(i, j)] for j in range(n)] for i in range(n)]


def generic_points(expressions: Sequence[Any], names: Sequence[Any], count: int = 4) -> Iterator[Point]:
    """Points with short decimals at which some expressions have values; other symbols are among them too."""
    found = 0
    listed = [*map(fast, expressions), *map(fast, names)]
    for _, at in points(listed):
        with balls.precise():
            short = {name: balls.ball(float(f"{x:.3g}")) for name, x in at.items()}
        if balls.values([listed], short) is not None:
            yield short
            found += 1
        if found == count:
            return


def two_forms(n: int) -> list[tuple[int, int]]:
    """The places i < j of an antisymmetric matrix."""
    return list(combinations(range(n), 2))
