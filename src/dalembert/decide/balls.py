"""Values with error bounds: expressions evaluated in ball arithmetic with a hundred digits.

A ball is a midpoint and a radius that bounds every rounding error made on the way to it. So a ball that does not contain
zero proves that the value is not zero, and one that does says that the value is zero up to the rounding of its own terms,
1e-100 of their size. Nothing is compared with a fixed number, hence no decision depends on units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any

from ..symbolic import Fast, fast

if TYPE_CHECKING:
    from collections.abc import Iterator

Ball = Any
"""A real number with an error bound (`flint.arb`)."""

Point = Mapping[str, Ball]
"""A ball for every name."""

BITS = 340
"""Working precision: a hundred digits, so that terms of very different sizes do not hide each other."""

_ROUNDING = 2.0**-50
"""The relative error of a float that was computed: a few units in the last place."""

POINT_BITS = 240
"""Bits to which a point on a constraint set is known: its balls contain the residual of Newton's method."""


@contextmanager
def precise() -> Iterator[Any]:
    """The arithmetic of balls, with the precision of decisions."""
    import flint

    before = flint.ctx.prec
    flint.ctx.prec = BITS
    try:
        yield flint
    finally:
        flint.ctx.prec = before


def ball(number: float | int | Fraction) -> Ball:
    """A number exactly, or to the working precision. A float of up to fifteen digits means the decimal it prints as.

    A float that needs more digits is the result of a computation: its last digits are rounding error, which its ball contains.
    """
    import flint

    if not isinstance(number, float):
        exact = Fraction(number)
        return flint.arb(flint.fmpq(exact.numerator, exact.denominator))
    if float(f"{number:.15g}") == number:
        return ball(Fraction(f"{number:.15g}"))
    return flint.arb(number, abs(number) * _ROUNDING)


def exactly(number: float) -> Ball:
    """A double as it is, such as a random one: an error of 2^-50 would hide terms that far below others."""
    return ball(Fraction(number))


def exact_point(numbers: Mapping[str, float]) -> Point:
    """A point whose numbers are doubles as they are."""
    return {name: exactly(x) for name, x in numbers.items()}


def widened(center: Ball) -> Ball:
    """The ball of a number known to POINT_BITS, around its midpoint."""
    import flint

    middle = center.mid()
    return flint.arb(middle, abs(middle).upper() * flint.arb(2) ** -POINT_BITS)


def value(expression: Any, point: Point) -> Ball:
    """The ball of an expression at a point; not finite where it has no value."""
    return raw_values([[expression]], point)[0][0]


def raw_values(rows: Iterable[Sequence[Any]], point: Point) -> list[list[Ball]]:
    """The balls of a matrix of expressions at a point, finite or not."""
    with precise():
        known: dict[Fast, Ball] = {fast(name): at for name, at in point.items()}
        return [[_value(fast(e), known) for e in row] for row in rows]


def values(rows: Iterable[Sequence[Any]], point: Point) -> list[list[Ball]] | None:
    """The balls of a matrix at a point, or None if an entry has no finite value there."""
    found = raw_values(rows, point)
    return found if all(b.is_finite() for row in found for b in row) else None


def _value(e: Fast, known: dict[Fast, Ball]) -> Ball:
    found = known.get(e)
    if found is None:
        found = known[e] = _computed(e, known)
    return found


def _computed(e: Fast, known: dict[Fast, Ball]) -> Ball:
    import flint

    kind = type(e).__name__
    if kind == "Piecewise":
        return _branch(e.args, known)
    if e.is_Number:
        return _number(e)
    if kind in _CONSTANTS:
        return _CONSTANTS[kind](flint.arb)
    args = e.args
    if e.is_Pow:
        return _power(args[0], args[1], known)
    balls = [_value(a, known) for a in args]
    if e.is_Add:
        return sum(balls, start=flint.arb(0))
    if e.is_Mul:
        return reduce(lambda a, b: a * b, balls, flint.arb(1))
    function = _FUNCTIONS.get(kind.lower())
    return function(*balls) if function else flint.arb.nan()


def _number(e: Fast) -> Ball:
    import flint

    kind = type(e).__name__
    if kind == "RealDouble":
        return ball(float(e))
    if kind == "RealMPFR":
        return flint.arb(str(e))
    if e.is_Rational:
        p, q = int(e.p), int(e.q)
        found = flint.arb(flint.fmpq(p, q))
        return flint.arb(found.mid(), abs(found).upper() * _ROUNDING) if was_computed(p, q) else found
    return flint.arb.nan()  # complex, infinite


@lru_cache(maxsize=4096)
def was_computed(p: int, q: int, digits: int = 15) -> bool:
    """Whether a fraction is a decimal of more than `digits` digits, such as the double nearest to 1/3.

    Only the digits count, so a factor of a power of ten, as in a change of units, does not matter.
    """
    if abs(p).bit_length() + 3 * q.bit_length() < 10 * digits // 3:  # at most p q**2.4 without the point
        return False
    tens = 0
    while 10**tens % q and tens < 400:
        tens += 1
    return 10**tens % q == 0 and len(str(abs(p) * 10**tens // q).rstrip("0")) > digits


def _power(base: Fast, exponent: Fast, known: dict[Fast, Ball]) -> Ball:
    p = _value(exponent, known)
    if type(base).__name__ == "Exp1":
        return p.exp()
    b = _value(base, known)
    if exponent.is_Integer:
        return b ** int(exponent)
    if exponent.is_Rational and int(exponent.q) == 2:
        # square root near zero: the argument is nonnegative up to its error bound
        return b.nonnegative_part().sqrt() ** int(exponent.p) if b.contains(0) else b.sqrt() ** int(exponent.p)
    return b**p


def _branch(args: Sequence[Fast], known: dict[Fast, Ball]) -> Ball:
    """The value of the first branch whose condition holds; not a number where that is undecided."""
    import flint

    for expression, condition in zip(args[::2], args[1::2], strict=True):
        holds = truth(condition, known)
        if holds is None:
            return flint.arb.nan()
        if holds:
            return _value(expression, known)
    return flint.arb.nan()


def truth(condition: Fast, known: dict[Fast, Ball]) -> bool | None:
    """Whether a condition holds; None where the balls overlap."""
    kind = type(condition).__name__
    if kind in ("BooleanTrue", "BooleanFalse"):
        return kind == "BooleanTrue"
    if kind == "Not":
        inner = truth(condition.args[0], known)
        return None if inner is None else not inner
    if kind in ("And", "Or"):
        parts = [truth(a, known) for a in condition.args]
        decisive = kind == "Or"
        return decisive if decisive in parts else None if None in parts else not decisive
    left, right = (_value(a, known) for a in condition.args)
    less, more = bool(left < right), bool(left > right)
    if not (less or more):
        equal = left.is_exact() and right.is_exact() and bool(left == right)
        return kind in ("LessThan", "Equality") if equal else None
    return {"StrictLessThan": less, "LessThan": less, "Equality": False, "Unequality": True}.get(kind)


_CONSTANTS: dict[str, Callable[[Any], Ball]] = {
    "Pi": lambda arb: arb.pi(),
    "Exp1": lambda arb: arb.const_e(),
    "EulerGamma": lambda arb: arb.const_euler(),
    "Catalan": lambda arb: arb.const_catalan(),
    "GoldenRatio": lambda arb: (arb(5).sqrt() + 1) / 2,
}


_ONE_ARGUMENT = (
    "sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan", "sinh", "cosh", "tanh", "coth", "sech", "csch",
    "asinh", "acosh", "atanh", "exp", "log", "erf", "erfc", "gamma", "floor",
)  # fmt: skip

_FUNCTIONS: dict[str, Callable[..., Ball]] = {
    **{name: (lambda x, name=name: getattr(x, name)()) for name in _ONE_ARGUMENT},
    "atan2": lambda y, x: type(y).atan2(y, x),
    "abs": abs,
    "sign": lambda x: x.sgn(),
    "loggamma": lambda x: x.lgamma(),
    "ceiling": lambda x: x.ceil(),
    "max": lambda *x: reduce(lambda a, b: a.max(b), x),
    "min": lambda *x: reduce(lambda a, b: a.min(b), x),
    "acot": lambda x: (1 / x).atan(),
    "asec": lambda x: (1 / x).acos(),
    "acsc": lambda x: (1 / x).asin(),
}
