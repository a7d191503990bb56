"""A reference solution: the continuous equations by an adaptive method of high order."""

from __future__ import annotations

from typing import Any, Literal

from ..errors import MethodError
from ..model.system import System
from ..numbers import positive
from ..waist.stepmap import StepMap
from .base import Method


def tolerances(rtol: Any, atol: Any, role: str) -> tuple[float, float | None]:
    """The tolerances of an adaptive solution: positive numbers."""
    tail = ": tolerances are positive numbers, such as 1e-10."
    absolute = None if atol is None else positive(atol, f"{role}atol", MethodError, tail)
    return positive(rtol, f"{role}rtol", MethodError, tail), absolute


class Reference(Method):
    """Adaptive solution of high order, in compiled code; `h` is only the spacing of the output.

    rtol:  the tolerance, relative to the size that each component of the motion has had so far
    atol:  an absolute tolerance for all components instead, in their own units
    solver:  "Taylor", power series of an order that follows from the tolerance, and the pair of order 8 where there are none;
        "DOP853", that pair everywhere; or for stiff systems "Radau", which is SciPy's and calls Python at every step

    Constraints enter differentiated (index reduced); after every step positions are projected onto them, and
    velocities onto the admissible ones. Both laws of heat hold to the tolerance.
    """

    reference = (
        "A. Jorba and M. Zou, Experimental Mathematics 14 (2005) 99 (Taylor); E. Hairer, S. P. Norsett and G. Wanner, Solving "
        "Ordinary Differential Equations I, 1993 (DOP853)"
    )
    order = 8
    adaptive = True
    thermal = True
    degenerate_masses = True
    groups = True
    carried_multipliers = True
    whole_equations = True
    carries = "velocity"

    def __init__(
        self,
        rtol: float = 1e-10,
        atol: float | None = None,
        solver: Literal["Taylor", "DOP853", "Radau"] = "Taylor",
    ):
        self.rtol, self.atol = tolerances(rtol, atol, "Reference: ")
        self.solver = solver
        if solver not in ("Taylor", "DOP853", "Radau"):
            raise MethodError(
                f"Reference(solver={solver!r}): the solvers are 'Taylor', 'DOP853' and, for stiff systems, 'Radau'."
            )

    def step_map(self, system: System) -> StepMap:
        raise MethodError(
            "Reference() is adaptive: it has no step map. Use a method with a fixed step, such as Midpoint()."
        )

    def __repr__(self) -> str:
        absolute = "" if self.atol is None else f"atol={self.atol:g}, "
        return f"Reference(rtol={self.rtol:g}, {absolute}solver={self.solver!r})"
