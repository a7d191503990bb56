"""The trapezoidal rule, and its explicit form for separable systems."""

from __future__ import annotations

from ..discrete.maps import Density
from ..model.system import System
from ..symbolic import Fast, Vector, free_names, gradient, partials
from ..theory.motion.lagrange import applied_forces
from .base import VariationalMethod


def trapezoidal(L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast) -> Fast:
    """h/2 L(q0, (q1 - q0)/h, t) + h/2 L(q1, (q1 - q0)/h, t + h)."""
    v = (q1 - q0) / h
    return h / 2 * L(q0, v, t) + h / 2 * L(q1, v, t + h)


class Trapezoidal(VariationalMethod):
    """Trapezoidal rule: mean of both ends; order 2, symplectic, symmetric.

    With entropies friction lowers none, for every h; but conduction may lower their sum, where conductance and difference of
    temperature both change within a step. The energy has an error of O(h^2).
    """

    reference = "J. E. Marsden and M. West, Discrete mechanics and variational integrators, Acta Numerica 10, 2001"
    thermal = True

    order, symplectic, symmetric = 2, True, True

    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast) -> Fast:
        """h/2 L(q0, v, t) + h/2 L(q1, v, t + h) with v = (q1 - q0)/h."""
        return trapezoidal(L, q0, q1, t, h)


class StormerVerlet(VariationalMethod):
    """Stormer-Verlet: the trapezoidal rule where it is explicit, so for separable systems only; order 2."""

    reference = "L. Verlet, Computer experiments on classical fluids I, Phys. Rev. 159, 1967"
    order, symplectic, symmetric = 2, True, True
    groups = False  # on groups the trapezoidal rule is implicit

    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast) -> Fast:
        """h/2 L(q0, v, t) + h/2 L(q1, v, t + h) with v = (q1 - q0)/h."""
        return trapezoidal(L, q0, q1, t, h)

    def obstacle(self, system: System) -> str:
        """Separable: constant mass matrix, potential and forces without velocities, no constraints."""
        velocities = {v.name for v in system.velocities}
        places = {q.name for q in system.coordinates}
        if system.constraints:
            return "it has constraints, and the explicit step cannot satisfy them."
        momenta = gradient(system.lagrangian, system.velocities)
        masses = free_names(partials(momenta, system.velocities).values())
        if masses & (velocities | places | {"t"}):
            return "its mass matrix is not constant."
        if free_names(gradient(system.lagrangian, system.coordinates)) & velocities:
            return "its potential depends on velocities."
        return "a force depends on velocities." if free_names(applied_forces(system)) & velocities else ""
