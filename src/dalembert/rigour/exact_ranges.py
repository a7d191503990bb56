"""The range of an expression over the domains of its variables: exact ends, and whether they are reached.

    2 exp(S) + atan(x) + a   with S and x real:   (a - pi/2, oo), and a - pi/2 itself is not taken

Interval arithmetic in floating point cannot tell "at least zero" from "greater than zero"; here ends are exact numbers, so
it can. An end marked as reached may be taken; an end not marked is certainly not taken. The range of an
expression in which a variable occurs more than once may be found too wide, never too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import sympy
from sympy import Expr, Symbol, oo
from sympy.core.evalf import PrecisionExhausted


class UnknownSignError(Exception):
    """Two exact numbers could not be compared."""


@dataclass(frozen=True)
class Range:
    """All numbers from `lo` to `hi`; `low`, `high` say whether the ends themselves may be taken."""

    lo: Expr
    hi: Expr
    low: bool
    high: bool

    @property
    def is_point(self) -> bool:
        """Whether there is one value only."""
        return bool(self.lo == self.hi)

    def misses_zero(self) -> bool:
        """Whether zero is certainly not taken."""
        try:
            below, above = compare(self.lo, sympy.S.Zero), compare(self.hi, sympy.S.Zero)
        except UnknownSignError:
            return False
        return below > 0 or above < 0 or (below == 0 and not self.low) or (above == 0 and not self.high)

    def holds_zero(self) -> bool:
        """Whether zero may be taken."""
        return not self.misses_zero()

    def distance(self) -> Expr:
        """The distance of a range that misses zero from it."""
        return self.lo if compare(self.lo, sympy.S.Zero) >= 0 else -self.hi

    def __str__(self) -> str:
        return f"{'[' if self.low else '('}{self.lo}, {self.hi}{']' if self.high else ')'}"


EVERYTHING = Range(-oo, oo, False, False)


def point(value: Any) -> Range:
    """One exact number; a floating-point number is converted to its exact binary fraction, because typed decimals are already
    rational here.
    """
    exact = sympy.Rational(float(value)) if isinstance(value, float | sympy.Float) else sympy.sympify(value)
    return Range(exact, exact, True, True)


def between(lo: float, hi: float) -> Range:
    """All numbers between two floating-point numbers, which may be infinite."""
    ends = [sympy.Rational(float(x)) if abs(x) != float("inf") else oo if x > 0 else -oo for x in (lo, hi)]
    return Range(ends[0], ends[1], ends[0] != -oo, ends[1] != oo)


def compare(a: Expr, b: Expr) -> int:
    """The sign of a - b for exact numbers, infinity included."""
    if a == b:
        return 0
    if a in (oo, -oo) or b in (oo, -oo):
        return 1 if a == oo or b == -oo else -1
    try:
        difference = (a - b).evalf(15, strict=True)  # evaluates to that many correct digits, or fails
    except PrecisionExhausted:
        if sympy.expand(a - b) == 0:
            return 0
        raise UnknownSignError from None
    if not difference.is_real or difference == 0:
        raise UnknownSignError
    return 1 if difference > 0 else -1


def range_of(expression: Expr, domains: Mapping[Symbol, Range]) -> Range:
    """The values that an expression takes while each symbol runs over its domain."""
    try:
        return _range(expression, domains)
    except (UnknownSignError, TypeError, ValueError, RecursionError):
        return EVERYTHING


def _range(e: Any, domains: Mapping[Symbol, Range]) -> Range:
    if e.is_Symbol:
        return domains.get(e, EVERYTHING)
    if e.is_number:
        return point(e) if e.is_real else EVERYTHING
    if e.is_Add:
        return reduce(_sum, (_range(a, domains) for a in e.args))
    if e.is_Mul:
        return reduce(_product, (_range(a, domains) for a in e.args))
    if e.is_Pow:
        return _power(_range(e.base, domains), e.exp)
    if isinstance(e, sympy.Piecewise):
        return reduce(_hull, (_range(branch, domains) for branch, _ in e.args))
    if len(e.args) == 1:
        return _function(type(e), _range(e.args[0], domains))
    return EVERYTHING


def _sum(a: Range, b: Range) -> Range:
    return Range(a.lo + b.lo, a.hi + b.hi, a.low and b.low, a.high and b.high)


def _times(a: Expr, b: Expr) -> Expr:
    return sympy.S.Zero if sympy.S.Zero in (a, b) else a * b


def _product(a: Range, b: Range) -> Range:
    ends = [(x, in_x, y, in_y) for x, in_x in _ends(a) for y, in_y in _ends(b)]
    corners = [(_times(x, y), in_x and in_y) for x, in_x, y, in_y in ends]
    zero = a.holds_zero() or b.holds_zero()
    lo = reduce(lambda m, c: c if compare(c[0], m[0]) < 0 else m, corners)[0]
    hi = reduce(lambda m, c: c if compare(c[0], m[0]) > 0 else m, corners)[0]

    def taken(end: Expr) -> bool:
        return zero if end == 0 else any(inside for c, inside in corners if compare(c, end) == 0)

    return Range(lo, hi, taken(lo), taken(hi))


def _ends(a: Range) -> list[tuple[Expr, bool]]:
    return [(a.lo, a.low), (a.hi, a.high)]


def _hull(a: Range, b: Range) -> Range:
    left, right = compare(a.lo, b.lo), compare(a.hi, b.hi)
    lo, low = (a.lo, a.low) if left < 0 else (b.lo, b.low or (left == 0 and a.low))
    hi, high = (a.hi, a.high) if right > 0 else (b.hi, b.high or (right == 0 and a.high))
    return Range(lo, hi, low, high)


def _power(base: Range, exponent: Expr) -> Range:
    if exponent.is_Integer and int(exponent) > 0:
        return _even(base, lambda x: x**exponent) if int(exponent) % 2 == 0 else _rising(base, lambda x: x**exponent)
    if exponent.is_Rational and exponent > 0:
        if compare(base.lo, sympy.S.Zero) < 0:  # the power is defined for nonnegative bases only
            if compare(base.hi, sympy.S.Zero) < 0:
                return EVERYTHING
            base = Range(sympy.S.Zero, base.hi, True, base.high)
        return _rising(base, lambda x: x**exponent)
    if exponent.is_Rational and exponent < 0:
        return _reciprocal(_power(base, -exponent))
    return EVERYTHING


def _rising(a: Range, f: Callable[[Expr], Expr]) -> Range:
    return Range(f(a.lo), f(a.hi), a.low, a.high)


def _even(a: Range, f: Callable[[Expr], Expr]) -> Range:
    """A function of the absolute value that rises with it."""
    if compare(a.lo, sympy.S.Zero) >= 0:
        return _rising(a, f)
    if compare(a.hi, sympy.S.Zero) <= 0:
        return _rising(Range(-a.hi, -a.lo, a.high, a.low), f)
    side = compare(-a.lo, a.hi)
    high = a.low if side > 0 else a.high if side < 0 else a.low or a.high
    return Range(f(sympy.S.Zero), f(-a.lo if side > 0 else a.hi), True, high)


def _reciprocal(a: Range) -> Range:
    if a.holds_zero():
        return EVERYTHING
    if compare(a.hi, sympy.S.Zero) <= 0:
        b = _reciprocal(Range(-a.hi, -a.lo, a.high, a.low))
        return Range(-b.hi, -b.lo, b.high, b.low)
    hi = oo if a.lo == 0 else 1 / a.lo
    lo = sympy.S.Zero if a.hi == oo else 1 / a.hi
    return Range(lo, hi, a.high, a.low and hi != oo)


def _function(kind: Any, a: Range) -> Range:
    if kind in (sympy.exp, sympy.atan, sympy.tanh, sympy.sinh, sympy.asinh, sympy.erf):
        return _rising(a, kind)
    if kind in (sympy.cosh, sympy.Abs):
        return _even(a, kind)
    if kind in (sympy.sin, sympy.cos):
        return point(kind(a.lo)) if a.is_point else Range(-sympy.S.One, sympy.S.One, True, True)
    if kind is sympy.log and compare(a.lo, sympy.S.Zero) >= 0:
        return Range(-oo if a.lo == 0 else sympy.log(a.lo), sympy.log(a.hi), a.low and a.lo != 0, a.high)
    if kind is sympy.sign:
        return Range(-sympy.S.One, sympy.S.One, True, True)
    return EVERYTHING
