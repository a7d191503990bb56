"""Numbers recovered from floating point: rational multiples of products of the constants a problem is stated with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import sympy

_CLOSE = 1e-7
"""How near a number must be to what it is taken for; whoever uses it checks the result by value."""

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
    return Fraction(int(number.p), int(number.q)) if number.is_Rational else Fraction(f"{float(number):.15g}")


def recovered(vector: Any, known: Sequence[Fraction] = ()) -> list[Fraction] | None:
    """The vector times a number, with entries that are simple fractions times products of powers of known constants.

    None if there is an entry that is not. The first entry that is not zero becomes one.
    """
    entries = [float(v) for v in vector]
    lead = next((v for v in entries if v), None)
    if lead is None:
        return None
    found = [_simple(v / lead, known) for v in entries]
    return [f for f in found if f is not None] if None not in found else None


def _simple(value: float, known: Sequence[Fraction]) -> Fraction | None:
    if value == 0:
        return Fraction(0)
    for factor, most in _monomials(known):
        ratio = value / float(factor)
        near = Fraction(ratio).limit_denominator(most) if abs(ratio) < 1e6 else Fraction(0)
        if near and abs(float(near) - ratio) <= _CLOSE * abs(ratio) and abs(near.numerator) <= 10 * most:
            return near * factor
    return None


def _monomials(known: Sequence[Fraction]) -> Iterable[tuple[Fraction, int]]:
    """Products of powers of constants, simple ones first, each with the largest denominator to look for beside it."""
    yield Fraction(1), _DENOMINATORS
    reach = next(r for r in (4, 3, 2, 1, 0) if (2 * r + 1) ** len(known) <= _MONOMIALS or r == 0)
    powers = sorted(product(range(-reach, reach + 1), repeat=len(known)), key=lambda p: sum(map(abs, p)))
    for exponents in powers if reach else []:
        if any(exponents):
            whole = Fraction(1)
            for c, k in zip(known, exponents, strict=True):
                whole *= c**k
            yield whole, 16
