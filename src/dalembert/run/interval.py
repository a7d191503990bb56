"""Interval arithmetic on tapes: enclosures of expressions over many boxes at once.

Every result is rounded outward, so it contains all values that the exact expression takes. Sums, products, quotients
and roots are correctly rounded in floating point, so one step outward is enough; for the other functions the enclosure
allows for an error of `ULPS` units in the last place, more than the mathematical libraries in use have.

Functions know their domains. An interval that reaches beyond one is cut, so that the enclosure holds the values on the
part inside; and the box is marked (`Marks`), so that nobody takes the function for defined on all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ..engine.lower import RUN, Tape, tape
from ..symbolic import Fast
from .values import Array

ULPS = 8.0
"""Units in the last place by which elementary functions of the machine may be wrong."""


class Interval:
    """One interval per box: arrays of lower and of upper ends."""

    __slots__ = ("hi", "lo")

    def __init__(self, lo: Any, hi: Any):
        self.lo, self.hi = np.asarray(lo, dtype=float), np.asarray(hi, dtype=float)

    @property
    def middle(self) -> Array:
        """A number inside."""
        return np.asarray(np.clip(self.lo / 2 + self.hi / 2, self.lo, self.hi))

    @property
    def size(self) -> Array:
        """The largest absolute value inside."""
        return np.maximum(np.abs(self.lo), np.abs(self.hi))

    @property
    def has_zero(self) -> Array:
        """Where zero is inside."""
        return np.asarray((self.lo <= 0) & (self.hi >= 0))

    def __add__(self, other: Interval) -> Interval:
        return _outward(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other: Interval) -> Interval:
        return _outward(self.lo - other.hi, self.hi - other.lo)

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo)

    def __mul__(self, other: Interval) -> Interval:
        products = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        products = [np.where(np.isnan(p), 0.0, p) for p in products]  # zero times anything is zero
        return _outward(np.minimum.reduce(products), np.maximum.reduce(products))

    def __truediv__(self, other: Interval) -> Interval:
        """Of a denominator that ends at zero only its one side counts; with zero inside, everything is possible."""
        top, bottom = np.where(other.lo == 0, 0.0, other.lo), np.where(other.hi == 0, -0.0, other.hi)
        inverse = _outward(1 / bottom, 1 / top)
        return _unless((other.lo < 0) & (other.hi > 0), self * inverse)

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


def _outward(lo: Array, hi: Array) -> Interval:
    """One step outward; not-a-number (infinity minus infinity) is everything."""
    lo, hi = np.where(np.isnan(lo), -np.inf, lo), np.where(np.isnan(hi), np.inf, hi)
    return Interval(np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf))


def _wide(lo: Array, hi: Array) -> Interval:
    """Outward by the error of a mathematical library; a lower end that overflowed is the largest number."""
    largest = np.finfo(float).max
    lo, hi = np.minimum(lo, largest), np.maximum(hi, -largest)
    with np.errstate(invalid="ignore"):
        return _outward(lo - ULPS * np.spacing(np.abs(lo)), hi + ULPS * np.spacing(np.abs(hi)))


def _unless(excluded: Array, value: Interval) -> Interval:
    """Everything, where `excluded`."""
    return Interval(np.where(excluded, -np.inf, value.lo), np.where(excluded, np.inf, value.hi))


def _square(a: Interval) -> Interval:
    ends = a.lo * a.lo, a.hi * a.hi
    least = np.where(a.has_zero, 0.0, np.minimum(*ends))
    return Interval(np.maximum(np.nextafter(least, -np.inf), 0.0), np.nextafter(np.maximum(*ends), np.inf))


def _clipped(value: Interval, lo: float, hi: float) -> Interval:
    return Interval(np.maximum(value.lo, lo), np.minimum(value.hi, hi))


def _slack(a: Interval) -> Array:
    """The rounding error of a number of turns, or half turns, made from an angle."""
    return np.asarray(2.0**-50 * (1 + a.size))


def _wave(function: Callable[[Array], Array], top: float) -> Callable[[Interval], Interval]:
    """Sine or cosine, whose maxima are at top + 2 pi k and whose minima half a turn further."""

    def enclosed(a: Interval) -> Interval:
        turn, slack = 2 * np.pi, _slack(a)
        far: Array = np.asarray(~np.isfinite(a.size))
        lo, hi = np.where(far, 0.0, a.lo), np.where(far, 1.0, a.hi)
        values = function(lo), function(hi)

        def passes(at: float) -> Array:
            return np.asarray(far | (np.floor((hi - at) / turn + slack) >= np.ceil((lo - at) / turn - slack)))

        found = _wide(np.minimum(*values), np.maximum(*values))
        return _clipped(
            Interval(
                np.where(passes(top + np.pi), -1.0, found.lo),
                np.where(passes(top), 1.0, found.hi),
            ),
            -1.0,
            1.0,
        )

    return enclosed


def _tangent(a: Interval) -> tuple[Interval, Array]:
    """The tangent, and where a pole may lie inside."""
    slack = _slack(a)
    cells = np.floor((a.lo + np.pi / 2) / np.pi - slack), np.floor((a.hi + np.pi / 2) / np.pi + slack)
    pole: Array = np.asarray(~(cells[0] == cells[1]) | ~np.isfinite(a.size))
    inside = Interval(np.where(pole, 0.0, a.lo), np.where(pole, 0.0, a.hi))
    return _unless(pole, _wide(np.tan(inside.lo), np.tan(inside.hi))), pole


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


class Marks(NamedTuple):
    """What is known of a value besides its interval, as masks over the boxes.

    outside:  it has no value anywhere in the box
    cut:      it may have none in a part of the box; the interval holds the values on the rest
    kinked:   a kink or a jump may lie inside, so that derivatives say nothing about differences
    """

    outside: Any
    cut: Any
    kinked: Any

    @property
    def rough(self) -> Any:
        """Where derivatives say nothing about differences."""
        return self.outside | self.cut | self.kinked

    def __or__(self, other: Marks) -> Marks:
        if other is NONE or self is NONE:
            return self if other is NONE else other
        return Marks(*(a | b for a, b in zip(self, other, strict=True)))


NONE = Marks(False, False, False)


class Enclosure:
    """Some expressions as functions of boxes.

    Calling it gives one interval per expression, and `Marks` with a row per expression.
    """

    def __init__(self, expressions: Sequence[Fast], variables: Sequence[str], constants: Mapping[str, float]):
        self.variables, self.constants = list(variables), dict(constants)
        self.tape: Tape = tape(expressions, dict.fromkeys((*variables, *constants), RUN))

    def __call__(self, boxes: Sequence[Interval]) -> tuple[list[Interval], Marks]:
        """`boxes` has one interval (an array over all boxes) per variable."""
        count = len(boxes[0].lo) if boxes else 1
        play = _Play(self, boxes)
        with np.errstate(all="ignore"):
            for o in self.tape.operations:
                play.append(o.op, o.args)
        results = self.tape.results
        rows = (
            np.array([np.broadcast_to(play.marks[k][i], count) for k in results], dtype=bool).reshape(len(results), count)
            for i in range(3)
        )
        return [_broadcast(play.done[k], count) for k in results], Marks(*rows)


def _broadcast(a: Interval, count: int) -> Interval:
    return Interval(np.broadcast_to(a.lo, count), np.broadcast_to(a.hi, count))


class _Play:
    """One pass over a tape: `done` has the values so far, `marks` what is known of each."""

    def __init__(self, what: Enclosure, boxes: Sequence[Interval]):
        self.known = dict(zip(what.variables, boxes, strict=True))
        self.known |= {name: Interval(value, value) for name, value in what.constants.items()}
        self.done: list[Any] = []
        self.marks: list[Marks] = []
        self.own = NONE

    def append(self, op: str, args: tuple[Any, ...]) -> None:
        """The value of one more operation, and its marks: those of its arguments, and its own."""
        self.own = NONE
        value = self._value(op, args)
        below = [] if op in ("const", "input", "select") else [self.marks[a] for a in args if isinstance(a, int)]
        self.done.append(value)
        self.marks.append(reduce(Marks.__or__, below, self.own))

    def _value(self, op: str, args: tuple[Any, ...]) -> Any:
        done = self.done
        match op:
            case "const":
                self.own = NONE if not np.isnan(args[0]) else Marks(True, True, False)  # no branch applies
                return _constant(args[0])
            case "input":
                return self.known[args[0]]
            case "add":
                return done[args[0]] + done[args[1]]
            case "sub":
                return done[args[0]] - done[args[1]]
            case "mul":
                return _square(done[args[0]]) if args[0] == args[1] else done[args[0]] * done[args[1]]
            case "div":
                below = done[args[1]]
                self._mark(outside=(below.lo == 0) & (below.hi == 0), cut=below.has_zero)
                return done[args[0]] / below
            case "neg":
                return -done[args[0]]
            case "sqrt":
                a = self._inside(done[args[0]], 0.0, np.inf)
                return Interval(np.nextafter(np.sqrt(a.lo), 0.0), np.nextafter(np.sqrt(a.hi), np.inf))
            case "call":
                return self._call(args[0], [done[k] for k in args[1:]])
            case "select":
                return self._select(*args)
            case _:
                return _truth(op, args, done)

    def _mark(self, outside: Any = False, cut: Any = False, kinked: Any = False) -> None:
        self.own = self.own | Marks(outside, cut, kinked)

    def _inside(self, a: Interval, lo: float, hi: float, closed: bool = True) -> Interval:
        """The part of an interval in the domain of a function from `lo` to `hi`."""
        if closed:
            self._mark(outside=(a.hi < lo) | (a.lo > hi), cut=(a.lo < lo) | (a.hi > hi))
        else:
            self._mark(outside=(a.hi <= lo) | (a.lo >= hi), cut=(a.lo <= lo) | (a.hi >= hi))
        return Interval(np.clip(a.lo, lo, hi), np.clip(a.hi, lo, hi))

    def _call(self, name: str, args: Sequence[Interval]) -> Interval:
        a = args[0]
        if name in ("sin", "cos"):
            return _wave(np.sin, np.pi / 2)(a) if name == "sin" else _wave(np.cos, 0.0)(a)
        if name == "tan":
            value, pole = _tangent(a)
            self._mark(cut=pole)
            return value
        if name in INCREASING:
            return self._increasing(name, a)
        if name == "acos":
            part = self._inside(a, -1.0, 1.0)
            return _wide(np.arccos(part.hi), np.arccos(part.lo))
        if name == "erfc":
            return Interval(1.0, 1.0) - self._call("erf", args)
        if name in ("cosh", "fabs"):
            least = np.where(a.has_zero, 0.0, np.minimum(np.abs(a.lo), np.abs(a.hi)))
            if name == "cosh":
                return _wide(np.cosh(least), np.cosh(a.size))
            self._mark(kinked=a.has_zero)
            return Interval(least, a.size)
        if name == "pow":
            return self._power(a, args[1])
        if name == "atan2":
            return self._angle(a, args[1])
        self._mark(cut=True, kinked=True)  # nothing is known about the function: no box can be decided
        return Interval(-np.inf, np.inf)

    def _increasing(self, name: str, a: Interval) -> Interval:
        function, lo, hi = INCREASING[name]
        part = a if (lo, hi) == (-np.inf, np.inf) else self._inside(a, lo, hi, name not in OPEN)
        if name in ("floor", "ceil"):
            self._mark(kinked=function(part.lo) != function(part.hi))
        found = _wide(function(part.lo), function(part.hi))
        return Interval(np.maximum(found.lo, 0.0), found.hi) if name == "exp" else found  # rounded outward, below zero

    def _power(self, a: Interval, b: Interval) -> Interval:
        """a^b: for a whole number b by multiplication; for others a must not be negative, nor zero unless b > 0."""
        if np.ndim(b.lo) == 0 and b.lo == b.hi and b.lo == np.round(b.lo) and np.isfinite(b.lo):
            if b.lo < 0:
                self._mark(outside=(a.lo == 0) & (a.hi == 0), cut=a.has_zero)
                return Interval(1.0, 1.0) / _whole_power(a, -int(b.lo))
            return _whole_power(a, int(b.lo))
        part = self._inside(a, 0.0, np.inf)
        self._mark(outside=(part.hi <= 0) & (b.hi <= 0), cut=(part.lo <= 0) & (b.lo <= 0))
        logs = _wide(np.log(part.lo), np.log(part.hi))
        exponent = logs * b
        found = _wide(np.exp(exponent.lo), np.exp(exponent.hi))
        return Interval(np.maximum(found.lo, 0.0), found.hi)

    def _angle(self, y: Interval, x: Interval) -> Interval:
        """atan2(y, x): its extremes are at corners, except over the cut; it has no value at the origin."""
        cut: Array = np.asarray(y.has_zero & (x.lo <= 0))
        at_zero = (y.lo == 0) & (y.hi == 0) & (x.lo == 0) & (x.hi == 0)
        self._mark(outside=at_zero, cut=y.has_zero & x.has_zero, kinked=cut)
        corners = [np.arctan2(b, a) for b in (y.lo, y.hi) for a in (x.lo, x.hi)]
        found = _wide(np.minimum.reduce(corners), np.maximum.reduce(corners))
        return Interval(np.where(cut, -3.2, found.lo), np.where(cut, 3.2, found.hi))

    def _select(self, which: int, first: int, second: int) -> Interval:
        """One of two values; marks are those of what may be chosen."""
        (may, may_not), a, b = self.done[which], self.done[first], self.done[second]
        one, two, given = self.marks[first], self.marks[second], self.marks[which]
        both: Array = np.asarray(may & may_not)

        def chosen(x: Any, y: Any, mixed: Any) -> Array:
            return np.where(both, mixed, np.where(may, x, y))

        self.own = given | Marks(
            chosen(one.outside, two.outside, np.logical_and(one.outside, two.outside)),
            chosen(one.cut, two.cut, np.logical_or(one.cut, two.cut) | one.outside | two.outside),
            chosen(one.kinked, two.kinked, True),
        )
        return Interval(
            chosen(a.lo, b.lo, np.minimum(np.where(one.outside, np.inf, a.lo), np.where(two.outside, np.inf, b.lo))),
            chosen(a.hi, b.hi, np.maximum(np.where(one.outside, -np.inf, a.hi), np.where(two.outside, -np.inf, b.hi))),
        )


def _whole_power(a: Interval, n: int) -> Interval:
    """a^n for a whole number n >= 0."""
    if n == 0:
        return Interval(1.0, 1.0)
    half = _whole_power(a, n // 2)
    square = _square(half)
    return square * a if n % 2 else square


def _constant(value: float) -> Interval:
    """A number of the expression; what is no short binary fraction was rounded when the tape was made."""
    if not np.isfinite(value):
        return Interval(-np.inf, np.inf)
    if abs(value) <= 2.0**53 and value.as_integer_ratio()[1] <= 2**20:
        return Interval(value, value)
    return Interval(np.nextafter(value, -np.inf), np.nextafter(value, np.inf))


def _truth(op: str, args: tuple[Any, ...], done: Sequence[Any]) -> tuple[Array, Array]:
    """A condition as two masks: where it may hold, and where it may fail."""
    match op:
        case "compare":
            a, b = done[args[1]], done[args[2]]
            if args[0] in ("eq", "ne"):
                apart: Array = np.asarray((a.hi < b.lo) | (b.hi < a.lo))
                same: Array = np.asarray((a.lo == a.hi) & (b.lo == b.hi) & (a.lo == b.lo))
                return (~apart, ~same) if args[0] == "eq" else (~same, ~apart)
            if args[0] == "lt":
                return np.asarray(a.lo < b.hi), np.asarray(a.hi >= b.lo)
            return np.asarray(a.lo <= b.hi), np.asarray(a.hi > b.lo)
        case "and":
            (a, na), (b, nb) = done[args[0]], done[args[1]]
            return a & b, na | nb
        case "or":
            (a, na), (b, nb) = done[args[0]], done[args[1]]
            return a | b, na & nb
        case "not":
            return done[args[0]][1], done[args[0]][0]
        case _:
            yes = np.array(op == "true")
            return yes, ~yes
