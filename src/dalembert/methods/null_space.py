"""Steps in a basis of the admissible displacements, so that no multiplier is an unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..discrete.maps import Density
from ..errors import MethodError
from ..model.system import System
from ..symbolic import Fast, Vector
from .base import Method, VariationalMethod
from .midpoint import Midpoint


class NullSpace(VariationalMethod):
    """A variational method whose steps are solved in a basis of D: NullSpace(Midpoint()).

    With the one-forms omega^a(q_k) of the constraints and a basis b_i of the displacements on which they vanish, a step solves

        b_i . (D1 L_d(q_k, q_k+1) + D2 L_d(q_k-1, q_k) + F_d) = 0,    chi_a(q_k, q_k+1) = 0

    for q_k+1 alone: n unknowns for n coordinates, where the method itself has n + m with m multipliers. The motion is the same
    to rounding, and the multipliers follow from it. The basis is found anew in every step, since none is valid everywhere;
    where one-forms become dependent, a run ends with the status of a singular step.
    """

    reference = (
        "S. Leyendecker, J. E. Marsden and M. Ortiz, Variational integrators for constrained dynamical systems, "
        "ZAMM 88, 2008"
    )
    null_space = True
    degenerate_masses = False
    carried_multipliers = False

    def __init__(self, method: Method | None = None):
        self.method = Midpoint() if method is None else method
        if not isinstance(self.method, VariationalMethod) or isinstance(self.method, NullSpace):
            raise MethodError(
                f"NullSpace({self.method!r}): expected a method with a discrete Lagrangian, such as Midpoint() or "
                f"Trapezoidal()."
            )

    @property
    def order(self) -> int:  # type: ignore[override]
        """As the method."""
        return self.method.order

    @property
    def lower_orders(self) -> Mapping[str, int]:  # type: ignore[override]
        """As the method."""
        return self.method.lower_orders

    @property
    def symplectic(self) -> bool:  # type: ignore[override]
        """As the method."""
        return self.method.symplectic

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """As the method."""
        return self.method.symmetric

    @property
    def thermal(self) -> bool:  # type: ignore[override]
        """As the method."""
        return self.method.thermal

    @property
    def second_law(self) -> bool:  # type: ignore[override]
        """As the method."""
        return self.method.second_law

    @property
    def interior(self) -> tuple[Any, ...]:  # type: ignore[override]
        """As the method."""
        return self.method.interior

    def obstacle(self, system: System) -> str:
        """As the method; reactions must be multipliers times one-forms."""
        if system.constraints and not system.principle.acts_by_forms(system):
            return f"under {system.principle!r} reactions are not multipliers times one-forms."
        return self.method.obstacle(system)

    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast, *more: Any) -> Fast:
        """That of the method."""
        rule: Any = self.method.discrete_lagrangian  # type: ignore[attr-defined]
        found: Fast = rule(L, q0, q1, t, h, *more)
        return found

    def laws(self, system: System) -> dict[str, Fast]:
        """Those of the method."""
        return self.method.laws(system)

    def __repr__(self) -> str:
        return f"NullSpace({self.method!r})"
