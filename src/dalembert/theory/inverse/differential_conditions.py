"""Whether multipliers exist where the algebraic conditions leave several functions free: by derivatives and Cartan's test.

A multiplier g(t, q, v) satisfies, besides the algebraic conditions,

    dg/dt = T g,  T g = g Gamma + Gamma^T g          along the motion, so g at one time determines g
    dg_ij/dv_k = dg_ik/dv_j                          closure, at all times: so its rates along the motion vanish, too

With d/dt d/dv_k = d/dv_k d/dt - d/dq_k - df_l/dv_k d/dv_l and d/dt d/dq_k = d/dq_k d/dt - df_l/dq_k d/dv_l these rates are
equations of first order by (q, v) at one time. Their derivatives may leave singular matrices only: then there is no
multiplier. Where they are involutive, every matrix at a state that satisfies what they imply there is the value of a
multiplier (Cartan and Kaehler, for analytic equations). This decides Douglas' case II, and what corresponds to it for more
degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal

from sympy import Symbol

from ...decide.balls import Point
from ...decide.budget import Budget
from ...symbolic import Fast, fast, gradient, jacobian
from ..algebra import attempt
from .algebraic_conditions import AlgebraicConditions, has_regular
from .along_motion import Flow, Square, generic_points, pairs
from .prolongation import Derivatives, Equation, Prolongation, equation

MOST_RATES = 4
"""Rates of closure are taken until they add nothing, at most so many."""

MOST_ORDER = {2: 5, 3: 3}
"""By degrees of freedom: up to which order derivatives are taken; for more degrees, up to the second."""

STATES = 2
"""States at which a verdict is reached before it is given."""

Verdict = tuple[Literal["none", "exists"], int]


@dataclass(frozen=True, eq=False)
class DifferentialConditions:
    """The equations of first order by (q, v) for the entries (g_11, g_12, ..., g_nn) of a multiplier."""

    conditions: AlgebraicConditions

    def verdict(self, budget: Budget) -> Verdict | None:
        """Whether there is a multiplier, and up to which order derivatives were taken; None where that was not decided."""
        found: list[Verdict] = []
        for point in generic_points(self._flow.f, self._flow.variables, STATES):
            said = attempt(budget, self._at, point)
            if said is None or (found and said[0] != found[0][0]):
                return None
            found.append(said)
        return max(found, key=lambda v: v[1]) if len(found) == STATES else None

    def _at(self, point: Point) -> Verdict | None:
        """The verdict at one state."""
        n, size = self._flow.n, len(self._places)
        known = Derivatives([fast(z) for z in self._variables], point)
        equations = self._equations(known)
        before: Prolongation | None = None
        for order in range(1, MOST_ORDER.get(n, 2) + 1):
            now = Prolongation(equations, size, known, order)
            if not now.has_values:
                return None
            if not has_regular(now.implied(0), n):
                return "none", order
            for q in range(1, order):
                if before and len(before.implied(q)) == len(now.implied(q)) and now.is_involutive(q):
                    return ("exists", order) if self._is_kept(equations, known) else None
            before = now
        return None

    @property
    def _flow(self) -> Flow:
        return self.conditions.flow

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        return pairs(self._flow.n)

    @property
    def _variables(self) -> tuple[Symbol, ...]:
        return (*self._flow.coordinates, *self._flow.velocities)

    # the equations
    def _equations(self, known: Derivatives) -> list[Equation]:
        """The algebraic conditions, closure, and its rates along the motion until they add nothing at a state."""
        last = list(self._closure())
        found = [equation({(a, None): e for a, e in enumerate(row)}) for row in self.conditions.independent_rows] + last
        for _ in range(MOST_RATES):
            last = [self._rate(e) for e in last]
            if self._rank(found + last, known) == self._rank(found, known):
                break
            found += last
        return found

    def _is_kept(self, equations: list[Equation], known: Derivatives) -> bool:
        """Whether the rates of all equations follow from them, so that they hold at all times if they hold at one."""
        rates = [self._rate(e) for e in equations]
        return self._rank([*equations, *rates], known) == self._rank(equations, known)

    def _rank(self, equations: list[Equation], known: Derivatives) -> int:
        return Prolongation(equations, len(self._places), known, 1).rank

    def _closure(self) -> Iterator[Equation]:
        """dg_ij/dv_k - dg_ik/dv_j."""
        n = self._flow.n
        for i in range(n):
            for j, k in combinations(range(n), 2):
                yield equation({(self._place(i, j), n + k): 1, (self._place(i, k), n + j): -1})

    def _place(self, i: int, j: int) -> int:
        return self._places.index((min(i, j), max(i, j)))

    @cached_property
    def _transport(self) -> Square:
        """T, as a matrix that acts on the entries of g."""
        n, gamma = self._flow.n, self._flow.connection
        rows = []
        for i, j in self._places:
            row = [fast(0)] * len(self._places)
            for l in range(n):
                row[self._place(i, l)] += gamma[l][j]
                row[self._place(l, j)] += gamma[l][i]
            rows.append(row)
        return rows

    @cached_property
    def _transport_slopes(self) -> list[Square]:
        return [[gradient(e, self._variables) for e in row] for row in self._transport]

    @cached_property
    def _slopes(self) -> Square:
        return jacobian(self._flow.f, self._variables)

    def _rate(self, given: Equation) -> Equation:
        """The rate of an equation along the motion, with dg/dt = T g."""
        n = self._flow.n
        found: dict[tuple[int, int | None], Fast] = {}

        def add(a: int, z: int | None, e: Fast) -> None:
            found[a, z] = found.get((a, z), fast(0)) + e

        for (a, z), c in given.items():
            add(a, z, self._flow.rate(c))
            for b in range(len(self._places)):
                add(b, z, c * self._transport[a][b])
                if z is not None:
                    add(b, None, c * self._transport_slopes[a][b][z])
            if z is None:
                continue
            if z >= n:
                add(a, z - n, -c)
            for l in range(n):
                add(a, n + l, -c * self._slopes[l][z])
        return equation(found)
