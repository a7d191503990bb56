"""Options of a compiled run besides its numbers: how far it goes, and how exactly each step is solved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

ROUNDING = 1e-17
"""A relative residual below this is rounding error."""

NEARLY = 1e-10
"""From a relative residual below this, a step with a new matrix leaves one far below `ROUNDING`: it squares it."""


@dataclass(frozen=True)
class Extent:
    """The steps of a run: `steps` of length h from number `begin` on, step k beginning at t0 + k h; and which are recorded.

    every:  nodes whose number is a multiple of this are recorded
    """

    t0: float
    h: float
    begin: int
    steps: int
    every: int = 1

    @property
    def end(self) -> int:
        """The number of the last node."""
        return self.begin + self.steps

    @property
    def first_row(self) -> int:
        """The number of the first record: a continued run does not begin at 0."""
        return -(-self.begin // self.every)

    @property
    def records(self) -> int:
        """How many nodes are recorded, the last one included."""
        return self.end // self.every - self.first_row + 1

    @property
    def due(self) -> int:
        """How many nodes are recorded, the last one left out."""
        return max(0, -(-self.end // self.every) - self.first_row)

    def part(self, at: int, steps: int) -> Extent:
        """A part of it: `steps` steps, from step number `at` of them on."""
        return replace(self, begin=self.begin + at, steps=steps)


@dataclass(frozen=True)
class Search:
    """How exactly Newton's method solves the equations of a step.

    tolerance:       the relative residual that the last step of a search may leave, as predicted by the steps before; each
                     equation is measured by the sizes of its own terms, so that no unit matters. By default rounding error.
    max_iterations:  a search fails if it is not close enough for its last step after this many
    """

    tolerance: float = ROUNDING
    max_iterations: int = 40

    @property
    def nearly(self) -> float:
        """The relative residual from which a step with a new matrix is the last one; such a step squares it."""
        return NEARLY * math.sqrt(self.tolerance / ROUNDING)


EXACT = Search()
"""Steps are solved to rounding error."""

COARSE = Search(ROUNDING * 2.0**29)
"""The same with floats, whose rounding errors are larger by this factor."""
