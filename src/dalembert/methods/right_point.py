"""The right-point rule (variational Euler B)."""

from __future__ import annotations

from ..discrete.maps import Density
from ..symbolic import Fast, Vector
from .base import VariationalMethod


class RightPoint(VariationalMethod):
    """Right-point rule: position at the end of the step; order 1, symplectic.

    With entropies the law of entropy and the second law hold exactly on every step; the energy has an error of O(h).
    """

    reference = "J. E. Marsden and M. West, Discrete mechanics and variational integrators, Acta Numerica 10, 2001"
    order, symplectic = 1, True
    thermal, second_law = True, True

    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast) -> Fast:
        """h L(q1, (q1 - q0)/h, t + h)."""
        return h * L(q1, (q1 - q0) / h, t + h)
