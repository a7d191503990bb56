"""Multipliers g = mu g0 where the algebraic conditions leave one direction g0: whether mu exists is decided by value.

With s = log mu, d/dt along the motion and closure dg_ij/dv_k = dg_ik/dv_j:

    ds/dt g0 = g0 Gamma + Gamma^T g0 - dg0/dt                      so ds/dt is known, or there is no mu
    g0_ij ds/dv_k - g0_ik ds/dv_j = dg0_ik/dv_j - dg0_ij/dv_k      so ds/dv is known, or there is no mu
    ds/dx_k = d/dv_k (ds/dt) - d/dt (ds/dv_k) - df_l/dv_k ds/dv_l
    ds = (partial derivatives) must be a closed form, otherwise there is no mu
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy
from sympy import Expr

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...model.coordinates import time
from ...symbolic import Fast, fast, gradient, jacobian, total
from ..algebra import attempt, read
from ..constraints.integrability import potential
from .algebraic_conditions import AlgebraicConditions
from .along_motion import Flow, Square, determinant, pairs, product, symmetric
from .generators import factors, primitive_vector
from .linear_identities import combinations
from .quadratures import short


@dataclass(frozen=True)
class OneDirection:
    """A direction g0 of multipliers, and what must hold for a factor of it."""

    flow: Flow
    entries: tuple[Expr, ...]

    @cached_property
    def g0(self) -> Square:
        """The direction, a symmetric matrix."""
        return symmetric([fast(e) for e in self.entries], self.flow.n)

    @cached_property
    def _inverse(self) -> Square:
        """The inverse of g0, by minors."""
        n, g, below = self.flow.n, self.g0, determinant(self.g0)
        return [[(-1) ** (i + j) * determinant(_without(g, j, i)) / below for j in range(n)] for i in range(n)]

    @cached_property
    def _moved(self) -> Square:
        """g0 Gamma + Gamma^T g0 - dg0/dt."""
        half, rate = product(self.g0, self.flow.connection), self.flow.rates(self.g0)
        n = self.flow.n
        return [[half[i][j] + half[j][i] - rate[i][j] for j in range(n)] for i in range(n)]

    @cached_property
    def rate(self) -> Fast:
        """ds/dt along the motion."""
        n = self.flow.n
        return total([self._inverse[i][j] * self._moved[j][i] for i in range(n) for j in range(n)]) / n

    @cached_property
    def _slopes(self) -> list[Square]:
        return [jacobian(row, self.flow.velocities) for row in self.g0]

    @cached_property
    def by_velocity(self) -> list[Fast]:
        """ds/dv_k."""
        n, d = self.flow.n, self._slopes
        places = [(i, j) for i in range(n) for j in range(n)]
        return [total([self._inverse[i][j] * (d[i][k][j] - d[i][j][k]) for i, j in places]) / (n - 1) for k in range(n)]

    @cached_property
    def form(self) -> list[Fast]:
        """ds by (t, x, v)."""
        flow, w, sigma = self.flow, self.by_velocity, self.rate
        slopes = gradient(sigma, flow.velocities)
        by_place = [
            slopes[k] - flow.rate(w[k]) - total([flow.by_velocity[l][k] * w[l] for l in range(flow.n)])
            for k in range(flow.n)
        ]
        spent = [fast(v) * p for v, p in zip(flow.velocities, by_place, strict=True)]
        spent += [f * e for f, e in zip(flow.f, w, strict=True)]
        return [sigma - total(spent), *by_place, *w]

    @cached_property
    def obstacle(self) -> str:
        """Why there is no factor; empty if there is one, at least locally."""
        n, g, w, d = self.flow.n, self.g0, self.by_velocity, self._slopes
        if not all(vanishes(self._moved[i][j] - self.rate * g[i][j]) for i, j in pairs(n)):
            return "its rate along the motion is not the one that a multiplier has"
        for i in range(n):
            for j in range(n):
                for k in range(j):
                    if not vanishes(g[i][j] * w[k] - g[i][k] * w[j] - d[i][k][j] + d[i][j][k]):
                        return "no factor makes it a matrix of second derivatives by the velocities"
        slopes = jacobian(self.form, self.flow.variables)
        for i in range(len(slopes)):
            if not all(vanishes(slopes[i][j] - slopes[j][i]) for j in range(i)):
                return "the differential of the logarithm of the factor is not closed"
        return ""

    def factor(self, budget: Budget) -> Expr | None:
        """mu, or None if it was not found in closed form."""
        if all(vanishes(e) for e in self.form):
            return sympy.S.One
        found = self._combined(self.entries, budget)
        if found is None:
            row = [self._short(e, budget) for e in self.form]
            found = self._combined((*self.entries, *row), budget) or potential(row, self.flow.variables, budget)
        return None if found is None else sympy.powsimp(sympy.exp(sympy.expand(found)))

    def _combined(self, expressions: Sequence[Expr], budget: Budget) -> Expr | None:
        """log mu as a combination of time, coordinates and logarithms of the factors of some expressions."""
        variables, logs = self.flow.variables, self._logarithms(expressions, budget)
        columns = [self.form, *(gradient(fast(S), variables) for S in logs)]
        for first, *others in combinations(columns, variables, budget, *logs, *self.flow.accelerations):
            if first != 0:
                return sympy.Add(*(-c / first * S for c, S in zip(others, logs, strict=True)))
        return None

    def _short(self, e: Fast, budget: Budget) -> Expr:
        if vanishes(e):
            return sympy.S.Zero
        return short(read(e, *self.entries, *self.flow.accelerations, *self.flow.variables), (), budget)

    def _logarithms(self, expressions: Sequence[Expr], budget: Budget) -> list[Expr]:
        det = read(determinant(self.g0), *self.entries, *self.flow.variables)
        found = [P for e in (*expressions, det) for P in factors(e, budget)]
        moving = [P for P in dict.fromkeys(found) if P.free_symbols & set(self.flow.variables)]
        return [time, *self.flow.coordinates, *(sympy.log(P) for P in moving)]


def _without(matrix: Square, i: int, j: int) -> Square:
    return [[e for c, e in enumerate(row) if c != j] for r, row in enumerate(matrix) if r != i]


DEGREES = {2: (0, 1, 2, 3, 4, 6), 3: (0, 1, 2, 3)}
"""By degrees of freedom: polynomials of which degrees in the positions are tried as entries of g0."""


def one_direction(conditions: AlgebraicConditions, budget: Budget) -> OneDirection | None:
    """The direction that the algebraic conditions leave; None if it was not found in symbols."""
    flow, rows = conditions.flow, conditions.independent_rows
    places = range(len(pairs(flow.n)))
    for degree in DEGREES.get(flow.n, (0, 1)):
        functions = sorted(sympy.itermonomials(flow.coordinates, degree), key=sympy.default_sort_key)
        units = [(place, m) for m in functions for place in places]
        columns = [[row[place] * fast(m) for row in rows] for place, m in units]
        for vector in combinations(columns, flow.variables, budget, *flow.accelerations):
            entries = [
                sympy.Add(*(c * m for c, (p, m) in zip(vector, units, strict=True) if p == place)) for place in places
            ]
            return OneDirection(flow, tuple(entries))
    found = attempt(budget, _null_vector, rows, flow, budget)
    return None if found is None else OneDirection(flow, tuple(found))


def _null_vector(rows: Sequence[Sequence[Fast]], flow: Flow, budget: Budget) -> list[Expr] | None:
    """What one row less than columns annihilates: by minors, of rows without common factors."""
    short = [primitive_vector([_read(e, flow) for e in row], budget) for row in rows]
    size = len(pairs(flow.n))
    known = [[fast(e) for e in row] for row in short]
    minors = [(-1) ** k * determinant([[e for c, e in enumerate(row) if c != k] for row in known]) for k in range(size)]
    entries = [sympy.S.Zero if vanishes(m) else _read(m, flow) for m in minors]
    return None if all(e == 0 for e in entries) else primitive_vector(entries, budget)


def _read(e: Fast, flow: Flow) -> Expr:
    return read(e, *flow.accelerations, *flow.variables)
