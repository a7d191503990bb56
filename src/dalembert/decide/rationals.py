"""Numbers recovered from floating point: rational multiples of products of the constants a problem is stated with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import sympy

from .decimals import exact

_CLOSE, _CLOSER = 1e-7, 1e-8
"""How near a number must be to what it is taken for, where there are few candidates and where there are many.

Whoever uses the result checks it by value.
"""

_DENOMINATORS = 96
_MONOMIALS = 700


def constants(expressions: Iterable[sympy.Expr]) -> list[Fraction]:
    """The distinct numbers in some expressions that are not simple fractions."""
    found: dict[Fraction, None] = {}
    for e in expressions:
        for number in sorted(sympy.sympify(e).atoms(sympy.Rational, sympy.Float), key=str):
            c = abs(_fraction(number))
            if c and (c.numerator > 12 or c.denominator > 12):
                found.setdefault(c)
    return list(found)


def _fraction(number: Any) -> Fraction:
    r = exact(number)
    return Fraction(int(r.p), int(r.q))


def recovered(vector: Any, known: Sequence[Fraction] = ()) -> list[Fraction] | None:
    """The vector times a number, with entries that are simple fractions times products of powers of known constants.

    None if there is an entry that is not. The first entry that is not zero becomes one.
    """
    entries = [float(v) for v in vector]
    lead = next((v for v in entries if v), None)
    if lead is None:
        return None
    found = [simple(v / lead, known) for v in entries]
    return [f for f in found if f is not None] if None not in found else None


def simple(value: float, known: Sequence[Fraction] = ()) -> Fraction | None:
    """The simplest number near a value: a fraction, one with a power of ten, a short decimal, a product of constants."""
    if value == 0:
        return Fraction(0)
    small = _near(value, _DENOMINATORS, _CLOSE)
    if small is not None and abs(small.numerator) <= 10 * _DENOMINATORS:
        return small
    ten = Fraction(10) ** math.floor(math.log10(abs(value)))
    mantissa = _near(value / float(ten), 10 * _DENOMINATORS, _CLOSER)
    if mantissa is not None:
        return mantissa * ten
    short = Fraction(f"{value:.6g}")
    if abs(float(short) - value) <= _CLOSER * abs(value):
        return short
    for factor, size in _monomials(tuple(known)):
        found = _near(value / size, 16, _CLOSE) if 1e-3 < abs(value) / size < 1e3 else None
        if found is not None and abs(found.numerator) <= 160:
            return found * factor
    return None


def certain(value: float) -> Fraction | None:
    """The fraction that a number with eleven right digits is, if it is so short that these tell it from all others."""
    found = Fraction(value).limit_denominator(max(1, int((1e9 / abs(value)) ** 0.5)))
    short = abs(found.numerator) * found.denominator <= 1e9
    return found if short and abs(float(found) - value) <= 1e-11 * abs(value) else None


def _near(value: float, most: int, close: float) -> Fraction | None:
    """The fraction with a denominator up to `most` that a value is, to a relative error of `close`."""
    found = Fraction(value).limit_denominator(most)
    return found if found and abs(float(found) - value) <= close * abs(value) else None


@lru_cache(maxsize=16)
def _monomials(known: tuple[Fraction, ...]) -> list[tuple[Fraction, float]]:
    """Products of powers of constants, simple ones first, with their values."""
    reach = next(r for r in (4, 3, 2, 1, 0) if (2 * r + 1) ** len(known) <= _MONOMIALS or r == 0)
    powers = sorted(product(range(-reach, reach + 1), repeat=len(known)), key=lambda p: sum(map(abs, p)))
    whole = [math.prod((c**k for c, k in zip(known, p, strict=True)), start=Fraction(1)) for p in powers if any(p)]
    return [(m, float(m)) for m in whole]
