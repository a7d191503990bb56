"""Interval arithmetic on tapes: enclosures of expressions over many boxes at once.

Every result is rounded outward, so it contains all values that the exact expression takes. Sums, products, quotients
and roots are correctly rounded in floating point, so one step outward is enough; for the other functions the enclosure
allows for an error of `ULPS` units in the last place, more than the mathematical libraries in use have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

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
        safe = Interval(np.where(other.has_zero, 1.0, other.lo), np.where(other.has_zero, 1.0, other.hi))
        inverse = _outward(1 / safe.hi, 1 / safe.lo)
        return _unless(other.has_zero, self * inverse)

    def scaled(self, factor: Array) -> Interval:
        """Times a number."""
        return self * Interval(factor, factor)


def _outward(lo: Array, hi: Array) -> Interval:
    """One step outward; not-a-number (infinity minus infinity) is everything."""
    lo, hi = np.where(np.isnan(lo), -np.inf, lo), np.where(np.isnan(hi), np.inf, hi)
    return Interval(np.nextafter(lo, -np.inf), np.nextafter(hi, np.inf))


def _wide(lo: Array, hi: Array) -> Interval:
    """Outward by the error of a mathematical library."""
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


def _wave(function: Callable[[Array], Array], top: float) -> Callable[[Interval], Interval]:
    """Sine or cosine, whose maxima are at top + 2 pi k and whose minima half a turn further."""

    def enclosed(a: Interval) -> Interval:
        turn, slack = 2 * np.pi, 1e-9
        far: Array = np.asarray(~np.isfinite(a.lo) | ~np.isfinite(a.hi) | (a.size > 1e5))
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


def _tangent(a: Interval) -> Interval:
    slack = 1e-9
    with np.errstate(invalid="ignore"):
        cells = np.floor((a.lo + np.pi / 2) / np.pi - slack), np.floor((a.hi + np.pi / 2) / np.pi + slack)
        pole: Array = np.asarray(~((cells[0] == cells[1]) & (a.size < 1e5)))
    inside = Interval(np.where(pole, 0.0, a.lo), np.where(pole, 0.0, a.hi))
    return _unless(pole, _wide(np.tan(inside.lo), np.tan(inside.hi)))


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


class Enclosure:
    """Some expressions as functions of boxes.

    Calling it gives one interval per expression, and two masks over the boxes: where an expression has no value
    anywhere in the box, and where a kink or a jump may lie inside, so that derivatives say nothing about differences.
    """

    def __init__(self, expressions: Sequence[Fast], variables: Sequence[str], constants: Mapping[str, float]):
        self.variables, self.constants = list(variables), dict(constants)
        self.tape: Tape = tape(expressions, dict.fromkeys((*variables, *constants), RUN))
        self._branches = any(o.op == "select" for o in self.tape.operations)

    def __call__(self, boxes: Sequence[Interval]) -> tuple[list[Interval], Array, Array]:
        """`boxes` has one interval (an array over all boxes) per variable."""
        count = len(boxes[0].lo) if boxes else 1
        play = _Play(self, boxes, count)
        with np.errstate(all="ignore"):
            done: list[Any] = []
            for o in self.tape.operations:
                done.append(play.value(o.op, o.args, done))
        wide = [_broadcast(done[k], count) for k in self.tape.results]
        outside = np.zeros(count, dtype=bool) if self._branches else play.outside
        return wide, outside, play.kinked


def _broadcast(a: Interval, count: int) -> Interval:
    return Interval(np.broadcast_to(a.lo, count), np.broadcast_to(a.hi, count))


class _Play:
    """One pass over a tape."""

    def __init__(self, what: Enclosure, boxes: Sequence[Interval], count: int):
        self.known = dict(zip(what.variables, boxes, strict=True))
        self.known |= {name: Interval(value, value) for name, value in what.constants.items()}
        self.outside, self.kinked = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)

    def value(self, op: str, args: tuple[Any, ...], done: Sequence[Any]) -> Any:
        match op:
            case "const":
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
                return done[args[0]] / done[args[1]]
            case "neg":
                return -done[args[0]]
            case "sqrt":
                a = self._inside(done[args[0]], 0.0, np.inf)
                return Interval(np.nextafter(np.sqrt(a.lo), 0.0), np.nextafter(np.sqrt(a.hi), np.inf))
            case "call":
                return self._call(args[0], [done[k] for k in args[1:]])
            case "select":
                return self._select(*(done[k] for k in args))
            case _:
                return _truth(op, args, done)

    def _inside(self, a: Interval, lo: float, hi: float) -> Interval:
        """The part of an interval in the domain of a function; boxes with no such part are outside."""
        self.outside = self.outside | (a.hi < lo) | (a.lo > hi)
        return Interval(np.clip(a.lo, lo, hi), np.clip(a.hi, lo, hi))

    def _call(self, name: str, args: Sequence[Interval]) -> Interval:
        a = args[0]
        if name in ("sin", "cos"):
            return _wave(np.sin, np.pi / 2)(a) if name == "sin" else _wave(np.cos, 0.0)(a)
        if name == "tan":
            return _tangent(a)
        if name in INCREASING:
            function, lo, hi = INCREASING[name]
            part = self._inside(a, lo, hi)
            if name in ("floor", "ceil"):
                self.kinked = self.kinked | (function(part.lo) != function(part.hi))
            found = _wide(function(part.lo), function(part.hi))
            return (
                Interval(np.maximum(found.lo, 0.0), found.hi) if name == "exp" else found
            )  # rounded outward, below zero
        if name == "acos":
            part = self._inside(a, -1.0, 1.0)
            return _wide(np.arccos(part.hi), np.arccos(part.lo))
        if name == "erfc":
            return Interval(1.0, 1.0) - self._call("erf", args)
        if name in ("cosh", "fabs"):
            if name == "fabs":
                self.kinked = self.kinked | a.has_zero
            least = np.where(a.has_zero, 0.0, np.minimum(np.abs(a.lo), np.abs(a.hi)))
            return Interval(least, a.size) if name == "fabs" else _wide(np.cosh(least), np.cosh(a.size))
        if name == "pow":
            return self._call("exp", [self._call("log", [a]) * args[1]])
        if name == "atan2":
            return self._angle(a, args[1])
        self.kinked = np.ones_like(self.kinked)  # nothing is known about the function: no box can be decided
        return Interval(np.full(len(self.kinked), -np.inf), np.full(len(self.kinked), np.inf))

    def _angle(self, y: Interval, x: Interval) -> Interval:
        """atan2(y, x): its extremes are at corners, except over the cut."""
        cut: Array = np.asarray(y.has_zero & (x.lo <= 0))
        self.kinked = self.kinked | cut
        corners = [np.arctan2(b, a) for b in (y.lo, y.hi) for a in (x.lo, x.hi)]
        found = _wide(np.minimum.reduce(corners), np.maximum.reduce(corners))
        return Interval(np.where(cut, -3.2, found.lo), np.where(cut, 3.2, found.hi))

    def _select(self, condition: tuple[Array, Array], a: Interval, b: Interval) -> Interval:
        may, may_not = condition
        self.kinked = self.kinked | (may & may_not)
        return Interval(
            np.where(may & may_not, np.minimum(a.lo, b.lo), np.where(may, a.lo, b.lo)),
            np.where(may & may_not, np.maximum(a.hi, b.hi), np.where(may, a.hi, b.hi)),
        )


def _constant(value: float) -> Interval:
    """A number of the expression; what is no short binary fraction was rounded when the tape was made."""
    if not np.isfinite(value):
        return Interval(-np.inf, np.inf)
    if value.as_integer_ratio()[1] <= 2**20:
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
