"""The midpoint rule."""

from __future__ import annotations

from ..discrete.maps import Density
from ..symbolic import Fast, Vector
from .base import VariationalMethod


class Midpoint(VariationalMethod):
    """Midpoint rule: implicit, order 2, symplectic, symmetric.

    With entropies the law of entropy holds exactly in the middle of every step, and so does the second law; the energy
    has an error of O(h^2).
    """

    reference = "J. E. Marsden and M. West, Discrete mechanics and variational integrators, Acta Numerica 10, 2001"
    order, symplectic, symmetric = 2, True, True
    thermal, second_law = True, True

    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast) -> Fast:
        """h L((q0 + q1)/2, (q1 - q0)/h, t + h/2)."""
        return h * L((q0 + q1) / 2, (q1 - q0) / h, t + h / 2)
