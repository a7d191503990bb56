"""Galerkin variational integrators: polynomials in time, quadrature in time."""

from __future__ import annotations

from typing import Any, Literal

from ..discrete.collocation import fraction, gauss_nodes, lagrange_polynomial, lobatto_nodes, value, weights
from ..discrete.maps import Density
from ..errors import MethodError, told
from ..model.system import System
from ..symbolic import Fast, Vector, fast
from .base import VariationalMethod, is_size


class Galerkin(VariationalMethod):
    """Galerkin integrator: positions polynomial of degree s in the step, action by quadrature; order 2s, symplectic.

    Galerkin(s) uses s Gauss points and is Gauss collocation in another form, Galerkin(1) the midpoint rule;
    Galerkin(s, "lobatto") uses s + 1 Lobatto points, and Galerkin(1, "lobatto") is the trapezoidal rule.
    """

    reference = (
        "S. Ober-Bloebaum and N. Saake, Higher order Galerkin variational integrators, Adv. Comput. Math. 41, 2015"
    )
    symplectic, symmetric = True, True

    def __init__(self, degree: int = 2, quadrature: Literal["gauss", "lobatto"] = "gauss"):
        if not is_size(degree, (1, 2, 3, 4)):
            raise MethodError(f"Galerkin({told(degree)}): the degree is 1, 2, 3 or 4; the order is twice that.")
        if quadrature not in ("gauss", "lobatto"):
            raise MethodError(f"Galerkin({degree}, {quadrature!r}): the quadrature is 'gauss' or 'lobatto'.")
        self.degree, self.quadrature = int(degree), quadrature

    @property
    def order(self) -> int:  # type: ignore[override]
        """Twice the degree."""
        return 2 * self.degree

    @property
    def _nodes(self) -> tuple[Any, ...]:
        return lobatto_nodes(self.degree + 1)

    @property
    def interior(self) -> tuple[float, ...]:  # type: ignore[override]
        """The fractions of the step at which the interior positions lie."""
        return tuple(map(float, self._nodes[1:-1]))

    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast, *inner: Vector) -> Fast:
        """h sum_j b_j L(q(c_j), q'(c_j), t + c_j h), q(t) the polynomial through q0, the interior positions and q1."""
        points = gauss_nodes(self.degree) if self.quadrature == "gauss" else lobatto_nodes(self.degree + 1)
        rows = [lagrange_polynomial(self._nodes, i) for i in range(self.degree + 1)]
        others = [*inner, q1]
        total = fast(0)
        for c, b in zip(points, weights(points), strict=True):
            # The shape functions add up to 1, so positions are q0 plus differences from it, without cancellation.
            shape = [(fraction(value(row, c)), fraction(value(row, c, derivative=1))) for row in rows[1:]]
            q = sum(((x - q0) * fast(w) for x, (w, _) in zip(others, shape, strict=True)), start=q0)
            v = sum(((x - q0) / h * fast(w) for x, (_, w) in zip(others, shape, strict=True)), start=q0 * 0)
            total += h * fast(fraction(b)) * L(q, v, t + fast(fraction(c)) * h)
        return total

    def obstacle(self, system: System) -> str:
        """Free systems only: without interior points it is `Midpoint` or `Trapezoidal`, which take constraints."""
        return "it has constraints." if system.constraints else ""

    def __repr__(self) -> str:
        return f"Galerkin({self.degree})" if self.quadrature == "gauss" else f"Galerkin({self.degree}, 'lobatto')"
