"""Helmholtz' conditions: whether equations, as they stand, are those of a Lagrangian, and which condition fails where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide import balls
from ...decide.decimals import Typed
from ...decide.rationals import fraction_in
from ...decide.zero import vanishes
from ...display import Part, Shown, Table
from ...errors import ModelError, told
from ...model import checks
from ...model.coordinates import Coordinate, time
from ...symbolic import Fast, fast, jacobian
from ..algebra import read, tidy
from .along_motion import Square, generic_points
from .compatibility import compatibility_residuals
from .given_equations import GivenEquations, given_equations
from .normal_form import NormalForm, normal_form
from .variational_forms import ORDERS, VariationalForms


@dataclass(frozen=True)
class Condition:
    """One condition: what was subtracted and should vanish; where it does not, a point and the value there.

    name:      "linear", "first", "second" or "third", or the name of a condition of compatibility
    places:    the numbers of the equations (or coordinates) concerned, from 1
    residual:  an expression in positions, velocities and higher derivatives of the coordinates
    """

    name: str
    formula: str
    places: tuple[int, ...]
    residual: Expr
    holds: bool
    point: dict[Symbol, sympy.Rational] | None
    value: float | None


@dataclass(frozen=True, repr=False)
class Helmholtz(Shown):
    """Which conditions of self-conjugacy given equations satisfy."""

    equations: GivenEquations
    forms: VariationalForms

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions: F linear in the accelerations; dF/da symmetric; the second and the third of Helmholtz."""
        slopes = [[fast(m) for m in row] for row in self.equations.mass]
        n = len(slopes)
        linear = [
            ((k + 1, j + 1), d)
            for k in range(n)
            for j in range(n)
            for d in jacobian([slopes[k][j]], self.equations.accelerations)[0]
        ]
        bent = next((found for found in linear if not vanishes(found[1])), linear[0])
        found = [self._condition("linear", "accelerations occur linearly", *bent)]
        for name, formula, matrix in self.forms.symmetry_residuals:
            places = [(i, j) for i in range(n) for j in range(i, n) if name == "second" or i < j]
            found += [self._condition(name, formula, (i + 1, j + 1), matrix[i][j]) for i, j in places]
        return tuple(found)

    @cached_property
    def compatibility(self) -> tuple[Condition, ...]:
        """What the conditions imply for dF/da and H alone: (4.17'), (4.18') of the theory."""
        listed = compatibility_residuals(self.forms)
        return tuple(self._condition(name, formula, places, e) for name, formula, places, e in listed)

    @property
    def holds(self) -> bool:
        """Whether all conditions hold: the equations are self-conjugate."""
        return not self.failing

    @property
    def failing(self) -> tuple[Condition, ...]:
        """The conditions that do not hold."""
        return tuple(c for c in self.conditions if not c.holds)

    @cached_property
    def normal_form(self) -> NormalForm:
        """F = E(L) + phi, with as much in L as the homotopy formula puts there."""
        return normal_form(self.equations)

    def _condition(self, name: str, formula: str, places: tuple[int, ...], residual: Fast) -> Condition:
        holds = vanishes(residual)
        point, value = (None, None) if holds else next(self._counterexamples(residual), (None, None))
        shown = sympy.S.Zero if holds else tidy(self._in_symbols(residual))
        return Condition(name, formula, places, shown, holds, point, value)

    def _in_symbols(self, e: Fast) -> Expr:
        named = [Symbol(f"{q.name}{order}", real=True) for q in self.equations.coordinates for order in ORDERS[3:]]
        own = [s for q in self.equations.coordinates for s in (q, q.dot, q.ddot)]
        given = (M for M in (self.forms.R, self.forms.A, self.forms.B) if M is not None)
        return read(e, *named, *own, time, *self.equations.residuals, *(x for M in given for row in M for x in row))

    def _counterexamples(self, e: Fast) -> Iterator[tuple[dict[Symbol, sympy.Rational], float]]:
        symbols = {s.name: s for s in self._in_symbols(e).free_symbols}
        for at in generic_points([e], [], 16):
            value = balls.value(e, at)
            if value.is_finite() and not value.contains(0):
                fractions = {symbols[name]: fraction_in(x) for name, x in at.items() if name in symbols}
                yield {s: sympy.Rational(x.numerator, x.denominator) for s, x in fractions.items() if x}, float(value)

    def _as_typed(self) -> Typed:
        return self.equations.typed

    def _parts(self) -> list[Part]:
        verdict = "Self-conjugate: Helmholtz' conditions hold." if self.holds else "Not self-conjugate."
        rows = [
            (c.name, ", ".join(map(str, c.places)), c.formula, "holds" if c.holds else "fails") for c in self.conditions
        ]
        parts: list[Part] = [verdict, Table(("condition", "at", "formula", ""), rows)]
        for c in self.failing:
            parts.append((f"{c.name} condition ({', '.join(map(str, c.places))}), left over", c.residual))
            if c.point is not None:
                at = ", ".join(f"{s} = {x}" for s, x in c.point.items())
                parts.append(f"  {c.value:.6g} at {at}")
        return parts


def is_self_conjugate(equations: GivenEquations) -> bool:
    """Whether Helmholtz' conditions hold, without saying where they do not."""
    forms = VariationalForms(equations.residuals, equations.coordinates)
    matrices = (matrix for _, _, matrix in forms.symmetry_residuals)
    return equations.is_affine and all(vanishes(e) for matrix in matrices for row in matrix for e in row)


def helmholtz(
    equations: Any, coordinates: Any = None, *, R: Any = None, A: Any = None, B: Any = None, velocities: Any = None
) -> Helmholtz:
    """Which of Helmholtz' conditions hold for equations F_k(q, v, a, t) = 0 as they stand: solved or not, no multiplier.

    equations:    a list of expressions or SymPy equations, one for each coordinate, or a System with any forces
    coordinates:  the coordinates, in the order of the equations
    R, A, B:      matrices of expressions for variations that do not commute with d/dt: w(v) = w' + R w,
                  w(a) = w'' + A w' + B w; the row is the upper index. Zero by default
    velocities:   {u: x.dot*cos(phi) + ...} quasi-velocities, where the equations are written with u and u.dot
    """
    given = given_equations(equations, coordinates, "helmholtz", velocities)
    n = len(given.coordinates)
    matrices = [_square(M, name, n, given.coordinates) for name, M in (("R", R), ("A", A), ("B", B))]
    return Helmholtz(given, VariationalForms(given.residuals, given.coordinates, *matrices))


def _square(given: Any, name: str, n: int, q: tuple[Coordinate, ...]) -> Square | None:
    if given is None:
        return None
    rows = given.tolist() if hasattr(given, "tolist") else given
    if not (isinstance(rows, list | tuple) and len(rows) == n and all(len(row) == n for row in rows)):
        raise ModelError(f"helmholtz: {name}={told(given)}. Expected a matrix of {n} rows and {n} columns.")
    known = {s for c in q for s in (c, c.dot, c.ddot)}
    return [[checks.symbols(checks.expression(e, name), known, name) for e in row] for row in rows]
