"""Constraints and variations: one Pfaffian row each.

A holonomic constraint phi(q, t) = 0 and a kinematic one A(q, t) v + b(q, t) = 0 are the same thing at the level of
velocities: a row `coefficients` and a `drift` b with coefficients . v + drift = 0. For a kinematic constraint
chi(q, v, t) = 0 that is nonlinear in the velocities the coefficients are dchi/dv (Chetaev), and both depend on v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import sympy
from sympy import Expr

from ..decide.zero import vanishes
from ..errors import ModelError, printed
from ..symbolic import expanded, terms_of
from .coordinates import Coordinate, Velocity, time
from .space import directional, position_symbols

SHORT = 60
"""Coefficients that have more terms than this when multiplied out are left as they were stated."""


@dataclass(frozen=True)
class Constraint:
    """One constraint, `expression` = 0; holonomic if no velocity occurs in it, kinematic otherwise."""

    expression: Expr
    kind: Literal["holonomic", "kinematic"]
    coefficients: tuple[Expr, ...]
    drift: Expr

    @property
    def is_holonomic(self) -> bool:
        """Whether the constraint is on positions."""
        return self.kind == "holonomic"

    @cached_property
    def is_linear(self) -> bool:
        """Whether it is affine in the velocities."""
        return not any(isinstance(s, Velocity) for i in self.occurring for s in self.coefficients[i].free_symbols)

    def is_affine_in(self, velocities: Sequence[Velocity]) -> bool:
        """Whether it is affine in these velocities together, so that it determines one of them from all others."""
        own = {v: sympy.diff(self.expression, v) for v in velocities if v in self.expression.free_symbols}
        return self.is_linear or all(vanishes(slope.diff(v)) for slope in own.values() for v in own)

    @cached_property
    def moves(self) -> bool:
        """Whether it depends on time or, if it is linear, has a drift: it then does not allow rest."""
        return not vanishes(self.drift if self.is_linear else self.expression.diff(time))

    def velocity_form(self, coordinates: Sequence[Coordinate]) -> Expr:
        """The constraint as a relation between velocities: coefficients . v + drift."""
        if not self.is_holonomic:
            return self.expression
        return sympy.Add(*(self.coefficients[i] * coordinates[i].dot for i in self.occurring), self.drift)

    @cached_property
    def occurring(self) -> tuple[int, ...]:
        """The coordinates with a coefficient that is not zero, by number."""
        return tuple(i for i, a in enumerate(self.coefficients) if a is not sympy.S.Zero and a != 0)


def linear_row(expression: Expr, coordinates: Sequence[Coordinate]) -> tuple[tuple[Expr, ...], Expr] | None:
    """Coefficients and remainder of an expression affine in the velocities; None if it is not affine."""
    velocities = [q.dot for q in coordinates]
    moving = set(velocities)
    row = tuple(_collected(d, moving) for d in _slopes(expression, velocities))
    if any(a.free_symbols & moving for a in row):
        return None
    return row, _collected(expression.xreplace(dict.fromkeys(velocities, sympy.S.Zero)), moving)


def _slopes(expression: Expr, symbols: Sequence[sympy.Symbol]) -> tuple[Expr, ...]:
    """The partial derivatives by some symbols; those that do not occur are not differentiated by."""
    occurring = expression.free_symbols
    return tuple(expression.diff(s) if s in occurring else sympy.S.Zero for s in symbols)


def _collected(e: Expr, velocities: set[Velocity]) -> Expr:
    """Multiplied out where that is short, or where velocities may cancel. Other expressions are left unchanged, which
    takes less time and makes shorter code; whether they are zero is decided by value.
    """
    if terms_of(e) <= SHORT or e.free_symbols & velocities:
        return expanded(e)
    return sympy.S.Zero if vanishes(e) else e


def constraint(expression: Expr, coordinates: Sequence[Coordinate]) -> Constraint:
    """Classify one constraint and compute its row."""
    places = {*position_symbols(coordinates), *(q.dot for q in coordinates)}
    if not expression.free_symbols & places:
        raise ModelError(
            f"constraint {printed(expression)} = 0 contains no coordinate and no velocity, so it constrains nothing. "
            f"Write an expression in {', '.join(q.name for q in coordinates)} and their velocities."
        )
    if not expression.free_symbols & {q.dot for q in coordinates}:
        row = directional(expression, coordinates)
        return _continuous(Constraint(expression, "holonomic", row, expression.diff(time)))
    affine = linear_row(expression, coordinates)
    if affine is None:
        chetaev = _slopes(expression, [q.dot for q in coordinates])
        rest = expression - sympy.Add(*(a * q.dot for a, q in zip(chetaev, coordinates, strict=True)))
        return _continuous(Constraint(expression, "kinematic", chetaev, rest))
    return Constraint(expression, "kinematic", *affine)


def _continuous(c: Constraint) -> Constraint:
    """The constraint; refused if it jumps, because it has no gradient there."""
    if any(e.has(sympy.DiracDelta) for e in (*(c.coefficients[i] for i in c.occurring), c.drift)):
        raise ModelError(
            f"constraint {printed(c.expression)} = 0 jumps, so it has no gradient there. Write a continuous expression, for "
            f"example with a steep slope in place of a step."
        )
    return c


def is_variation_of(row: Sequence[Expr], c: Constraint) -> bool:
    """Whether a one-form is the row of a constraint, by value; or a multiple of it, where the constraint does not move."""
    if row == c.coefficients or all(vanishes(a - b) for a, b in zip(row, c.coefficients, strict=True)):
        return True
    if not (c.is_linear and vanishes(c.drift)):
        return False
    k = next(i for i, b in enumerate(c.coefficients) if not vanishes(b))
    pairs = zip(row, c.coefficients, strict=True)
    return not vanishes(row[k]) and all(vanishes(a * c.coefficients[k] - b * row[k]) for a, b in pairs)


def variation(expression: Expr, coordinates: Sequence[Coordinate]) -> tuple[Expr, ...]:
    """The row of a one-form written with velocities in place of displacements: `z.dot - y*x.dot` is dz - y dx."""
    affine = linear_row(expression, coordinates)
    if affine is None or affine[1] != 0 or not any(affine[0]):
        raise ModelError(
            f"variation {printed(expression)} is not a one-form. Write a sum of coefficient times velocity, the velocity "
            f"standing for the displacement: z.dot - y*x.dot for dz - y dx."
        )
    return affine[0]
