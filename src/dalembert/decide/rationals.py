"""Fractions recovered from numbers: from floating point, and from balls, which have error bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from . import balls
from .balls import Ball

_SPARE = 40
"""Bits by which a ball must be narrower than a fraction in it is long, so that the match is not a coincidence."""


def certain(value: float) -> Fraction | None:
    """The fraction equal to a number with eleven correct digits, if these determine it uniquely."""
    found = Fraction(value).limit_denominator(max(1, int((1e9 / abs(value)) ** 0.5)))
    short = abs(found.numerator) * found.denominator <= 1e9
    return found if short and abs(float(found) - value) <= 1e-11 * abs(value) else None


def fraction_in(ball: Ball) -> Fraction | None:
    """The fraction that a ball stands for: the simplest in it, or the simplest times a power of ten.

    None if it is so long that there is one of its length in every ball of this size, as with a number that is not rational.
    Units are often powers of ten, which make short fractions long.
    """
    if ball.contains(0):
        return Fraction(0)
    with balls.precise():
        low, high = (_exact(end) for end in (ball.lower(), ball.upper()))
        known = int(ball.rel_accuracy_bits())
    for ten in (Fraction(1), Fraction(10) ** _decade(low)):
        found = _simplest(low / ten, high / ten)
        if (abs(found.numerator) * found.denominator).bit_length() + _SPARE <= known:
            return found * ten
    return None


def _exact(end: Any) -> Fraction:
    mantissa, exponent = end.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _decade(value: Fraction) -> int:
    """The power of ten of a number, give or take one."""
    return len(str(abs(value.numerator))) - len(str(value.denominator))


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator between two numbers of one sign."""
    if high < 0:
        return -_simplest(-high, -low)
    whole = low.numerator // low.denominator
    if whole == low:
        return low
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))
