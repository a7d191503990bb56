"""Interval arithmetic: numbers and elementary functions of intervals, for many boxes at once.

Every result is rounded outward, so it contains all values that the exact expression takes. Sums, products, quotients
and roots are correctly rounded in floating point, so one step outward is enough; for the other functions the enclosure
allows for an error of `ULPS` units in the last place, more than the mathematical libraries in use have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

ULPS = 8.0
"""Units in the last place by which elementary functions of the machine may be wrong."""


class Interval:
    """One interval per box: arrays of lower and of upper ends."""

    __slots__ = ("hi", "lo")

    def __init__(self, lo: Any, hi: Any):
        self.lo, self.hi = np.asarray(lo, dtype=float), np.asarray(hi, dtype=float)

    @property
    def middle(self) -> Array:
        """A number inside; not-a-number if it is everything."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.clip(self.lo / 2 + self.hi / 2, self.lo, self.hi))

    @property
    def size(self) -> Array:
        """The largest absolute value inside."""
        size: Array = np.maximum(np.abs(self.lo), np.abs(self.hi))
        return size

    @property
    def has_zero(self) -> Array:
        """Where zero is inside."""
        return np.asarray((self.lo <= 0) & (self.hi >= 0))

    def __add__(self, other: Interval) -> Interval:
        return outward(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other: Interval) -> Interval:
        return outward(self.lo - other.hi, self.hi - other.lo)

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __mul__(self, other: Interval) -> Interval:
        products = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        products = [np.where(np.isnan(p), 0.0, p) for p in products]  # zero times anything is zero
        return outward(np.minimum.reduce(products), np.maximum.reduce(products))

    def __truediv__(self, other: Interval) -> Interval:
        """A denominator with an end at zero is taken on its one side; with zero inside, the result is the whole line."""
        top, bottom = np.where(other.lo == 0, 0.0, other.lo), np.where(other.hi == 0, -0.0, other.hi)
        inverse = outward(1 / bottom, 1 / top)
        return unless((other.lo < 0) & (other.hi > 0), self * inverse)

    def scaled(self, factor: Array) -> Interval:
        """Times a number."""
        return self * Interval(factor, factor)


def digits(lo: float, hi: float, most: int = 12) -> str:
    """A number known to lie between two others, with the digits that are proved, and at most so many."""
    if lo <= 0 <= hi:
        return "0" if lo == hi else f"0 +- {max(-lo, hi):.1g}"
    middle = lo / 2 + hi / 2
    proved = most if lo == hi else math.floor(math.log10(abs(middle))) + 1 - math.ceil(math.log10(hi - lo))
    return f"{middle:.{min(proved, most)}g}" if proved > 0 else f"{lo:.2g} to {hi:.2g}"


def outward(lo: Array, hi: Array) -> Interval:
    """One step outward; not-a-number (infinity minus infinity) is everything."""
    lo, hi = np.where(np.isnan(lo), -np.inf, lo), np.where(np.isnan(hi), np.inf, hi)
    return Interval(np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf))


def wide(lo: Array, hi: Array) -> Interval:
    """Outward by the error of a mathematical library; a lower end that overflowed is the largest number."""
    largest = np.finfo(float).max
    lo, hi = np.minimum(lo, largest), np.maximum(hi, -largest)
    with np.errstate(invalid="ignore"):
        return outward(lo - ULPS * np.spacing(np.abs(lo)), hi + ULPS * np.spacing(np.abs(hi)))


def unless(excluded: Array, value: Interval) -> Interval:
    """Everything, where `excluded`."""
    return Interval(np.where(excluded, -np.inf, value.lo), np.where(excluded, np.inf, value.hi))


def square(a: Interval) -> Interval:
    ends = a.lo * a.lo, a.hi * a.hi
    least = np.where(a.has_zero, 0.0, np.minimum(*ends))
    return Interval(np.maximum(np.nextafter(least, -np.inf), 0.0), np.nextafter(np.maximum(*ends), np.inf))


def whole_power(a: Interval, n: int) -> Interval:
    """a^n for a whole number n >= 0."""
    if n == 0:
        return Interval(1.0, 1.0)
    half = whole_power(a, n // 2)
    twice = square(half)
    return twice * a if n % 2 else twice


def _clipped(value: Interval, lo: float, hi: float) -> Interval:
    return Interval(np.maximum(value.lo, lo), np.minimum(value.hi, hi))


def _slack(a: Interval) -> Array:
    """The rounding error of a number of turns, or half turns, made from an angle."""
    return np.asarray(2.0**-50 * (1 + a.size))


def wave(function: Callable[[Array], Array], top: float) -> Callable[[Interval], Interval]:
    """Sine or cosine, whose maxima are at top + 2 pi k and whose minima half a turn further."""

    def enclosed(a: Interval) -> Interval:
        turn, slack = 2 * np.pi, _slack(a)
        far: Array = np.asarray(~np.isfinite(a.size))
        lo, hi = np.where(far, 0.0, a.lo), np.where(far, 1.0, a.hi)
        values = function(lo), function(hi)

        def passes(at: float) -> Array:
            return np.asarray(far | (np.floor((hi - at) / turn + slack) >= np.ceil((lo - at) / turn - slack)))

        found = wide(np.minimum(*values), np.maximum(*values))
        return _clipped(
            Interval(
                np.where(passes(top + np.pi), -1.0, found.lo),
                np.where(passes(top), 1.0, found.hi),
            ),
            -1.0,
            1.0,
        )

    return enclosed


def tangent(a: Interval) -> tuple[Interval, Array]:
    """The tangent, and where a pole may lie inside."""
    slack = _slack(a)
    cells = np.floor((a.lo + np.pi / 2) / np.pi - slack), np.floor((a.hi + np.pi / 2) / np.pi + slack)
    pole: Array = np.asarray(~(cells[0] == cells[1]) | ~np.isfinite(a.size))
    inside = Interval(np.where(pole, 0.0, a.lo), np.where(pole, 0.0, a.hi))
    return unless(pole, wide(np.tan(inside.lo), np.tan(inside.hi))), pole


Rule = tuple[Callable[[Array], Array], float, float]


def _special(name: str) -> Callable[[Array], Array]:
    def call(x: Array) -> Array:
        import scipy.special

        return np.asarray(getattr(scipy.special, name)(x))

    return call


INCREASING: dict[str, Rule] = {
    "exp": (np.exp, -np.inf, np.inf), "log": (np.log, 0.0, np.inf), "sinh": (np.sinh, -np.inf, np.inf),
    "tanh": (np.tanh, -np.inf, np.inf), "asinh": (np.arcsinh, -np.inf, np.inf), "acosh": (np.arccosh, 1.0, np.inf),
    "atanh": (np.arctanh, -1.0, 1.0), "asin": (np.arcsin, -1.0, 1.0), "atan": (np.arctan, -np.inf, np.inf),
    "erf": (_special("erf"), -np.inf, np.inf), "floor": (np.floor, -np.inf, np.inf), "ceil": (np.ceil, -np.inf, np.inf),
}  # fmt: skip
"""Increasing functions with their domains."""

OPEN = {"log", "atanh"}
"""Functions without a value at the ends of their domains."""
