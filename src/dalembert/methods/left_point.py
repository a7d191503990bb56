"""The left-point rule (variational Euler A)."""

from __future__ import annotations

from ..discrete.maps import Density
from ..symbolic import Fast, Vector
from .base import VariationalMethod


class LeftPoint(VariationalMethod):
    """Left-point rule: position at the beginning of the step; order 1, symplectic.

    With entropies the law of entropy and the second law hold exactly on every step; the energy has an error of O(h).
    """

    reference = "J. E. Marsden and M. West, Discrete mechanics and variational integrators, Acta Numerica 10, 2001"
    order, symplectic = 1, True
    thermal, second_law = True, True

    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast) -> Fast:
        """h L(q0, (q1 - q0)/h, t)."""
        return h * L(q0, (q1 - q0) / h, t)
