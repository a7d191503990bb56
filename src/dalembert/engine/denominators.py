"""Denominators of many quotients, of which one reciprocal is computed.

A division takes as long as several multiplications, and expressions on groups, and derivatives of all quotients, repeat the
same few denominators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..symbolic import Fast

QUOTIENTS = 3
"""A reciprocal and a product wait longer than one quotient: it is worth while from this many quotients on."""


def is_negative(e: Fast) -> bool:
    """Whether a number is negative, or the number by which a product begins."""
    if e.is_number:
        return bool(e.is_negative)
    return bool(e.is_Mul and e.args[0].is_number and e.args[0].is_negative)


def is_half(e: Fast) -> bool:
    """Half of an odd number, not too large."""
    return bool(e.is_number and abs(float(e)) <= 32 and 2 * float(e) % 2 == 1)


def is_e(base: Fast) -> bool:
    """Whether it is the base of natural logarithms."""
    return type(base).__name__ == "Exp1"


def divides(factor: Fast) -> bool:
    """Whether a factor of a product is a division: by a power that is computed without a root."""
    if not factor.is_Pow:
        return False
    base, exponent = factor.args
    return is_negative(exponent) and not is_e(base) and not is_half(exponent)


def shared_denominators(expressions: Iterable[Fast]) -> set[Fast]:
    """The bases of integer powers by which at least QUOTIENTS different products in some expressions are divided."""
    counts: Counter[Fast] = Counter()
    seen: set[Fast] = set()
    waiting = list(expressions)
    while waiting:
        e = waiting.pop()
        if e.is_number or e.is_Symbol or e in seen:  # SymEngine gives large numbers equal hashes
            continue
        seen.add(e)
        for factor in e.args if e.is_Mul else (e,):
            if divides(factor) and factor.args[1].is_Integer:
                counts[factor.args[0]] += 1
                waiting.append(factor.args[0])
            else:
                waiting += factor.args if factor is e else (factor,)
    return {base for base, count in counts.items() if count >= QUOTIENTS}
