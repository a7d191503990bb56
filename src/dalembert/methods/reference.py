"""A reference solution: the continuous equations by an adaptive method of high order."""

from __future__ import annotations

from typing import Literal

from ..errors import MethodError
from ..model.system import System
from ..stepmap import StepMap
from .base import Method


class Reference(Method):
    """Adaptive solution by SciPy; `h` is only the spacing of the output.

    Constraints enter differentiated (index reduced), so they hold to the tolerance, not to rounding; so do both laws of heat.
    """

    reference = "E. Hairer, S. P. Norsett and G. Wanner, Solving Ordinary Differential Equations I, 1993 (DOP853)"
    order = 8
    adaptive = True
    thermal = True
    carries = "velocity"

    def __init__(self, rtol: float = 1e-10, atol: float = 1e-10, solver: Literal["DOP853", "Radau"] = "DOP853"):
        if not (isinstance(rtol, int | float) and isinstance(atol, int | float) and rtol > 0 and atol > 0):
            raise MethodError(f"Reference(rtol={rtol}, atol={atol}): tolerances are positive numbers, such as 1e-10.")
        if solver not in ("DOP853", "Radau"):
            raise MethodError(
                f"Reference(solver={solver!r}): the solvers are 'DOP853' and, for stiff systems, 'Radau'."
            )
        self.rtol, self.atol, self.solver = rtol, atol, solver

    def step_map(self, system: System) -> StepMap:
        raise MethodError(
            "Reference() is adaptive: it has no step map. Use a method with a fixed step, such as Midpoint()."
        )

    def __repr__(self) -> str:
        return f"Reference(rtol={self.rtol:g}, atol={self.atol:g}, solver={self.solver!r})"
