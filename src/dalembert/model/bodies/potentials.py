"""Loads given by a potential: any potential, a generalised one, and a charge in an electromagnetic field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...errors import ModelError
from ..coordinates import Coordinate, Velocity, time
from .kinematics import Vector, dot, rate, vector
from .loads import Effort, Load, push
from .particles import Body, Point


@dataclass(frozen=True, eq=False)
class Potential(Load):
    """Any potential V(q, t), or generalised potential U(q, v, t): the force on q is d/dt dU/dv - dU/dq."""

    expression: Expr
    conservative = True

    def __post_init__(self) -> None:
        self._scalar("expression")

    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """d/dt dU/dv - dU/dq on each coordinate."""
        moving = {s if isinstance(s, Coordinate) else s.coordinate for s in _moving(self.expression)}
        U, q = self.expression, sorted(moving, key=str)
        return [Effort(tuple(rate(U.diff(c.dot)) - U.diff(c) for c in q), tuple(c.dot for c in q))]

    def potential(self, bodies: Sequence[Body]) -> Expr:
        """The expression."""
        return self.expression


def _moving(e: Expr) -> list[Any]:
    return [s for s in e.free_symbols if isinstance(s, Coordinate | Velocity)]


Field = Callable[..., Any]
"""A function of position and time: of x, y, t in the plane, of x, y, z, t in space."""


@dataclass(frozen=True, eq=False)
class Charge(Load):
    """The charge e of a particle in an electromagnetic field with potentials phi and A, functions of place and time.

    Charge(e, bob, phi=lambda x, y, z, t: E0*x, A=lambda x, y, z, t: (-B*y/2, B*x/2, 0)). It has the generalised
    potential U = e (phi - v.A); its force is e (E + v x B), with E = -grad phi - dA/dt and B = rot A.
    """

    e: Expr
    at: Point
    phi: Field | None = None
    A: Field | None = None
    conservative = True

    def __post_init__(self) -> None:
        self._scalar("e")
        self._place("at")

    def _fields(self, where: Sequence[Any]) -> tuple[Expr, Vector]:
        phi = sympy.sympify(self.phi(*where)) if self.phi else sympy.S.Zero
        A = vector(self.A(*where), "Charge (A)") if self.A else (sympy.S.Zero,) * (len(where) - 1)
        if len(A) != len(where) - 1:
            raise ModelError(f"Charge: A has {len(A)} components, the particle has {len(where) - 1} coordinates.")
        return phi, A

    @property
    def vector_potential(self) -> Vector:
        """A where the particle is."""
        return self._fields((*self.at.position, time))[1]

    @property
    def canonical_momentum(self) -> Vector:
        """m v + e A."""
        body = self.at.body
        mass = sympy.S.Zero if body is None else body.mass
        return tuple(mass * v + self.e * a for v, a in zip(self.at.velocity, self.vector_potential, strict=True))

    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """e (E + v x B) where the particle is."""
        names = tuple(Symbol(f"field.{axis}", real=True) for axis in "xyz")[: len(self.at.position)]
        phi, A = self._fields((*names, time))
        here = dict(zip(names, self.at.position, strict=True))
        force = []
        for x, a in zip(names, A, strict=True):
            turning = [b.diff(x) - a.diff(y) for y, b in zip(names, A, strict=True)]  # a row of rot A, with signs
            force.append(self.e * (dot(self.at.velocity, turning) - phi.diff(x) - a.diff(time)))
        return [push(tuple(f.xreplace(here) for f in force), self.at)]

    def potential(self, bodies: Sequence[Body]) -> Expr:
        """U = e (phi - v.A)."""
        phi, A = self._fields((*self.at.position, time))
        return self.e * (phi - dot(self.at.velocity, A))
