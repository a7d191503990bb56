"""Finite-difference maps: how a pair of positions stands for a position and a velocity.

    psi(q0, q1) = ((1 - b) q0 + b q1, (q1 - q0)/h),      b = 0 left, b = 1/2 midpoint, b = 1 right

Time is treated as one more coordinate, so an explicit t becomes t + b h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import sympy

from ..errors import ModelError
from ..symbolic import Fast, Vector, fast

Density = Callable[[Vector, Vector, Fast], Fast]
"""A function of position, velocity and time: a Lagrangian, a power, a constraint."""


class Discretisation(Protocol):
    """Anything that turns a function of (q, v, t) into a function of (q0, q1): a map, or a variational method."""

    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast) -> Fast:
        """L_d(q0, q1), an approximation of the integral of L over one step.

        A rule with an attribute `interior`, the fractions of the step at which it has positions of its own, is called
        with these as further arguments, and L_d is made stationary with respect to them.
        """
        ...


@dataclass(frozen=True)
class FiniteDifferenceMap:
    """The map with base point (1 - b) q0 + b q1; exact rational `b` is kept exact."""

    b: Any

    def __post_init__(self) -> None:
        try:
            b = sympy.nsimplify(self.b, rational=True)
            inside = bool(0 <= b <= 1)
        except (TypeError, ValueError, AttributeError):
            inside = False
        if not inside:
            raise ModelError(
                f"FiniteDifferenceMap(b={self.b!r}): b is the place of the base point between q0 (b = 0) and q1 (b = 1). "
                f"Give a number from 0 to 1."
            )
        object.__setattr__(self, "b", b)

    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast) -> Fast:
        """h L(base point, difference quotient, base time)."""
        b = fast(self.b)
        return h * L(q0 + (q1 - q0) * b, (q1 - q0) / h, t + b * h)


left_map = FiniteDifferenceMap(0)
midpoint_map = FiniteDifferenceMap(sympy.Rational(1, 2))
right_map = FiniteDifferenceMap(1)
