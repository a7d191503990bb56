"""Differential equations for adaptive methods: rates, and what the choice of a step must know beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .stepmap import StepMap


@dataclass(frozen=True)
class Pair:
    """An explicit Runge-Kutta pair with dense output.

    rows:     the coefficients of the stages; the row of number `count` has the weights of the step itself, so that its stage
              is at the end of the step. Those from there on are computed only where the motion is asked for inside a step
    nodes:    the times of the stages, as fractions of the step
    errors:   weights of two estimates, of high and of low order; with their norms a and b the error is a^2/sqrt(a^2 + b^2/100)
    power:    this error is of the order h^power
    dense:    rows d_j of y(x) = y0 + h x (d_0 k + (1-x) (d_1 k + x (d_2 k + (1-x) (...))))
    """

    rows: tuple[tuple[float, ...], ...]
    nodes: tuple[float, ...]
    errors: tuple[tuple[float, ...], tuple[float, ...]]
    dense: tuple[tuple[float, ...], ...]
    power: int
    count: int

    @property
    def terms(self) -> list[list[tuple[int, float]]]:
        """For each stage the stages it is made of, with their coefficients."""
        return [nonzero(row) for row in self.rows]


def nonzero(row: Sequence[float]) -> list[tuple[int, float]]:
    """The places and values of entries that are not zero."""
    return [(j, a) for j, a in enumerate(row) if a]


def rate_name(name: str) -> str:
    """The name of the rate of a state variable where sizes are computed."""
    return f"{name}.rate"


def after_name(name: str) -> str:
    """The name of a state variable at the end of a step."""
    return f"{name}.after"


def begun_name(name: str) -> str:
    """The name of a state variable at the start of the motion."""
    return f"{name}.begun"


def largest_name(name: str) -> str:
    """The name of the largest size that a state variable has had."""
    return f"{name}.largest"


SIZE, RTOL, ATOL = "step.size", "rtol", "atol"
"""The length of the last step, and the tolerances, where sizes are computed."""


@dataclass(frozen=True, eq=False)
class Flow:
    """y' = f(y, t), and what an adaptive method must know. All are maps that are applied to points.

    rates:    (y, t) -> y'
    sizes:    (y, t, y', y after the step, y at the start, largest sizes, length of the last step, tolerances)
              -> what the error of each variable is compared with; the largest sizes anew
    bounds:   (y, t, y after the step, t there), with guards that tell whether the motion has left the domain
    nearest:  (y, t) -> the state on the constraints, and a number that is positive where constraints degenerate nearby
    """

    state: tuple[str, ...]
    rates: StepMap
    sizes: StepMap
    bounds: StepMap
    nearest: StepMap | None

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters, the same for all maps."""
        return self.rates.parameters

    @property
    def maps(self) -> tuple[StepMap, ...]:
        """All maps that there are."""
        return tuple(m for m in (self.rates, self.sizes, self.bounds, self.nearest) if m is not None)
