"""How far a run goes and how exactly its steps are solved: the user's options, read and checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..engine.machine import BACKENDS, COARSER, CPU, DEVICES, DOUBLE
from ..engine.run_options import COARSE, EXACT, Extent, Search
from ..errors import MethodError, told
from ..methods.base import Method
from ..numbers import MOST, finite, positive, whole
from .progress import Report
from .reductions import Reduction

UNTIL = ": give a time, one number, that so many steps can reach."
"""End of messages about `until`."""

LOOSEST = 0.01
"""The largest tolerance: with a larger one a search could end before it is clear to which solution it converges."""

TOLERANCE = (
    f": the relative residual that Newton's method may leave in a step, a positive number up to {LOOSEST:g}, such as 1e-12. "
    f"Leave it out to solve every step to rounding error."
)
"""End of messages about a tolerance."""


def step_size(h: Any) -> float:
    """The step, checked."""
    tail = ": the step is a positive number. One step backward is flow(..., backward=True)."
    return positive(h, "h", MethodError, tail)


@dataclass(frozen=True)
class Options:
    """The options of a run as they were given; h has been checked, the others are checked when used."""

    h: float
    until: Any = None
    steps: Any = None
    every: Any = None
    tolerance: Any = None
    max_iterations: Any = None
    progress: Report = False
    device: Any = CPU
    record: tuple[Reduction, ...] = ()
    precision: Any = DOUBLE

    def place(self, method: Method | None) -> str:
        """The device on which steps are computed."""
        if not isinstance(self.device, str) or self.device.partition(" ")[2] in COARSER or self.device not in BACKENDS:
            names = ", ".join(map(repr, DEVICES))
            raise MethodError(f"device = {told(self.device)}. Expected one of {names}.")
        if self.device != CPU and method is not None and method.adaptive:
            raise MethodError(f"device = {self.device!r}: {method!r} {method.steps_told}; it runs on the 'cpu'.")
        if self.precision == DOUBLE:
            return self.device
        if self.precision not in COARSER:
            names = ", ".join(map(repr, (DOUBLE, *COARSER)))
            raise MethodError(f"precision = {told(self.precision)}. Expected one of {names}.")
        if (place := f"{self.device} {self.precision}") not in BACKENDS:
            raise MethodError(
                f"precision = {self.precision!r}: device {self.device!r} computes with doubles. Leave precision= out, or give "
                f"device='cuda'."
            )
        return place

    def extent(self, t0: float, begin: int = 0) -> Extent:
        """The steps of a run that began at t0, from step number `begin` on."""
        steps = self._steps(t0 + begin * self.h)
        if self.every is None:  # of a run that keeps reductions, only its ends
            return Extent(t0, self.h, begin, steps, max(begin + steps, 1) if self.record else 1)
        every = "record every so many steps; give a whole number from 1"
        whole(self.every, "every", MethodError, least=1, expected=every)
        return Extent(t0, self.h, begin, steps, int(self.every))

    def _steps(self, now: float) -> int:
        """The number of steps, from the present time on."""
        if (self.until is None) == (self.steps is None):
            raise MethodError("give either until= (a time) or steps= (a number), one of the two.")
        if self.steps is not None:
            return whole(self.steps, "steps", MethodError)
        end = finite(self.until, "until", MethodError, UNTIL)
        if end < now:
            raise MethodError(
                f"until = {self.until} lies before the start at t = {now:g}. Give a later time, or another start time."
            )
        count = (end - now) / self.h
        if count > MOST:
            raise MethodError(f"until = {end:g}{UNTIL}")
        return math.ceil(count - max(1e-9, 8 * count * 2.0**-52))

    @property
    def says_search(self) -> bool:
        """Whether `tolerance` or `max_iterations` was given."""
        return self.tolerance is not None or self.max_iterations is not None

    @property
    def default_search(self) -> Search:
        """How exactly steps are solved if nothing else is said: to the rounding error of the precision."""
        return EXACT if self.precision == DOUBLE else COARSE

    def search(self, default: Search = EXACT) -> Search:
        """How exactly steps are solved; options not given are those of the default."""
        tolerance, most = default.tolerance, default.max_iterations
        if self.tolerance is not None:
            tolerance = positive(self.tolerance, "tolerance", MethodError, TOLERANCE)
            if tolerance > LOOSEST:
                raise MethodError(f"tolerance = {tolerance:g}{TOLERANCE}")
        if self.max_iterations is not None:
            told = "a search of Newton's method is given up after so many steps; give a whole number from 1"
            most = whole(self.max_iterations, "max_iterations", MethodError, least=1, expected=told)
        return Search(tolerance, most)
