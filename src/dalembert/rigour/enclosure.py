"""Enclosures of expressions over boxes, by interval arithmetic on their tapes.

An interval that reaches beyond the domain of a function is cut, so that the enclosure holds the values on the part
inside; and the box is marked (`Marks`), because the function is not defined on all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ..engine.lower import RUN, Tape, tape
from ..symbolic import Fast, fast, free_names, substitute
from .interval import INCREASING, OPEN, Array, Interval, square, tangent, wave, whole_power, wide


class Marks(NamedTuple):
    """What is known of a value besides its interval, as masks over the boxes.

    outside:  it has no value anywhere in the box
    cut:      it may have none in a part of the box; the interval holds the values on the rest
    kinked:   a kink or a jump may lie inside, so that derivatives do not bound differences
    """

    outside: Any
    cut: Any
    kinked: Any

    @property
    def rough(self) -> Any:
        """Where derivatives do not bound differences."""
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
        whole = {
            fast(n): int(constants[n]) for n in _exponents(expressions) & set(constants) if constants[n].is_integer()
        }
        plain = [substitute(e, whole) for e in expressions] if whole else expressions
        self.tape: Tape = tape(plain, dict.fromkeys((*variables, *constants), RUN))

    def __call__(self, boxes: Sequence[Interval]) -> tuple[list[Interval], Marks]:
        """`boxes` has one interval (an array over all boxes) per variable."""
        count = len(boxes[0].lo) if boxes else 1
        play = _Play(self, boxes)
        with np.errstate(all="ignore"):
            for o in self.tape.operations:
                play.append(o.op, o.args)
        results = self.tape.results
        rows = (
            np.array([np.broadcast_to(play.marks[k][i], count) for k in results], dtype=bool).reshape(
                len(results), count
            )
            for i in range(3)
        )
        return [_broadcast(play.done[k], count) for k in results], Marks(*rows)


def _exponents(expressions: Sequence[Fast]) -> set[str]:
    """The names of all symbols in exponents: integer powers have other domains than real ones."""
    found: set[str] = set()
    left, seen = [fast(e) for e in expressions], set[Fast]()
    while left:
        e = left.pop()
        if e in seen:
            continue
        seen.add(e)
        if e.is_Pow:
            found |= free_names([e.args[1]])
        left += [a for a in e.args if hasattr(a, "is_Pow")]
    return found


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
                return square(done[args[0]]) if args[0] == args[1] else done[args[0]] * done[args[1]]
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
            return wave(np.sin, np.pi / 2)(a) if name == "sin" else wave(np.cos, 0.0)(a)
        if name == "tan":
            value, pole = tangent(a)
            self._mark(cut=pole)
            return value
        if name in INCREASING:
            return self._increasing(name, a)
        if name == "acos":
            part = self._inside(a, -1.0, 1.0)
            return wide(np.arccos(part.hi), np.arccos(part.lo))
        if name == "erfc":
            return Interval(1.0, 1.0) - self._call("erf", args)
        if name in ("cosh", "fabs"):
            least = np.where(a.has_zero, 0.0, np.minimum(np.abs(a.lo), np.abs(a.hi)))
            if name == "cosh":
                return wide(np.cosh(least), np.cosh(a.size))
            self._mark(kinked=a.has_zero)
            return Interval(least, a.size)
        if name == "pow":
            return self._power(a, args[1])
        if name == "atan2":
            return self._angle(a, args[1])
        self._mark(cut=True, kinked=True)  # unknown function: no box can be decided
        return Interval(-np.inf, np.inf)

    def _increasing(self, name: str, a: Interval) -> Interval:
        function, lo, hi = INCREASING[name]
        part = a if (lo, hi) == (-np.inf, np.inf) else self._inside(a, lo, hi, name not in OPEN)
        if name in ("floor", "ceil"):
            self._mark(kinked=function(part.lo) != function(part.hi))
        found = wide(function(part.lo), function(part.hi))
        return Interval(np.maximum(found.lo, 0.0), found.hi) if name == "exp" else found  # rounded outward, below zero

    def _power(self, a: Interval, b: Interval) -> Interval:
        """a^b: for a whole number b by multiplication; for others a must not be negative, nor zero unless b > 0."""
        if np.ndim(b.lo) == 0 and b.lo == b.hi and b.lo == np.round(b.lo) and np.isfinite(b.lo):
            if b.lo < 0:
                self._mark(outside=(a.lo == 0) & (a.hi == 0), cut=a.has_zero)
                return Interval(1.0, 1.0) / whole_power(a, -int(b.lo))
            return whole_power(a, int(b.lo))
        part = self._inside(a, 0.0, np.inf)
        self._mark(outside=(part.hi <= 0) & (b.hi <= 0), cut=(part.lo <= 0) & (b.lo <= 0))
        logs = wide(np.log(part.lo), np.log(part.hi))
        exponent = logs * b
        found = wide(np.exp(exponent.lo), np.exp(exponent.hi))
        return Interval(np.maximum(found.lo, 0.0), found.hi)

    def _angle(self, y: Interval, x: Interval) -> Interval:
        """atan2(y, x): its extremes are at corners, except over the cut; it has no value at the origin."""
        cut: Array = np.asarray(y.has_zero & (x.lo <= 0))
        at_zero = (y.lo == 0) & (y.hi == 0) & (x.lo == 0) & (x.hi == 0)
        self._mark(outside=at_zero, cut=y.has_zero & x.has_zero, kinked=cut)
        corners = [np.arctan2(b, a) for b in (y.lo, y.hi) for a in (x.lo, x.hi)]
        found = wide(np.minimum.reduce(corners), np.maximum.reduce(corners))
        return Interval(np.where(cut, -3.2, found.lo), np.where(cut, 3.2, found.hi))

    def _select(self, which: int, first: int, second: int) -> Interval:
        """One of two values; marks are those of what may be chosen."""
        (may, may_not), a, b = self.done[which], self.done[first], self.done[second]
        one, two, given = self.marks[first], self.marks[second], self.marks[which]
        both: Array = np.asarray(may & may_not)

        def chosen(x: Any, y: Any, mixed: Any) -> Array:
            value: Array = np.where(both, mixed, np.where(may, x, y))
            return value

        self.own = given | Marks(
            chosen(one.outside, two.outside, np.logical_and(one.outside, two.outside)),
            chosen(one.cut, two.cut, np.logical_or(one.cut, two.cut) | one.outside | two.outside),
            chosen(one.kinked, two.kinked, True),
        )
        return Interval(
            chosen(a.lo, b.lo, np.minimum(np.where(one.outside, np.inf, a.lo), np.where(two.outside, np.inf, b.lo))),
            chosen(a.hi, b.hi, np.maximum(np.where(one.outside, -np.inf, a.hi), np.where(two.outside, -np.inf, b.hi))),
        )


def _constant(value: float) -> Interval:
    """A number of the expression; other than short binary fractions, it was rounded when the tape was made."""
    if not np.isfinite(value):
        return Interval(-np.inf, np.inf)
    if abs(value) <= 2.0**32 and value.as_integer_ratio()[1] <= 2**20:
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
