"""Upper bounds of expressions from the sizes of their symbols, to show that nothing overflows.

|a + b| <= |a| + |b|,  |sin u| <= 1,  |1/u| <= 1/least(u),  where least(u) is known for terms that guards keep away from zero.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..symbolic import Fast, fast
from ..waist.domain import absolute, nonzero

LEAST = "least"
"""The name of the lower bound of all guarded terms."""

_AT_MOST = {"sin": 1, "cos": 1, "tanh": 1, "erf": 1, "sign": 1, "atan": 2, "asin": 2, "acos": 4, "atan2": 4}


class NoBoundError(Exception):
    """No bound of an expression was found."""


def size_name(name: str) -> str:
    """The name of the size of a symbol in a bound."""
    return f"{name}.size"


class Bounds:
    """Bounds as expressions in the sizes of symbols.

    guarded:   the terms of conditions that hold: they stay away from zero
    constant:  names whose values are the same everywhere, so that their sizes are also lower bounds
    """

    def __init__(self, guarded: Collection[tuple[Fast, ...]], constant: Collection[str]):
        self.guarded, self.constant = set(guarded), set(constant)
        self._known: dict[Fast, Fast] = {}

    def largest(self, e: Fast) -> Fast:
        """An upper bound of |e|."""
        if e not in self._known:
            self._known[e] = self._largest(e)
        return self._known[e]

    def _largest(self, e: Fast) -> Fast:
        import symengine

        if e.is_Symbol:
            return fast(size_name(e.name))
        if e.is_number:
            return abs(e)
        kind, args = type(e).__name__, e.args
        if e.is_Add:
            return symengine.Add(*map(self.largest, args))
        if e.is_Mul:
            return symengine.Mul(*map(self.largest, args))
        if e.is_Pow:
            return self._power(*args)
        if kind in _AT_MOST:
            return fast(_AT_MOST[kind])
        if kind in ("sinh", "cosh", "asinh", "Abs"):
            bound: Fast = getattr(symengine, "cosh" if kind == "sinh" else kind)(self.largest(args[0]))
            return bound
        if kind == "log":
            return abs(symengine.log(self.largest(args[0]))) + abs(symengine.log(self.least(args[0])))
        if kind == "Piecewise":
            return symengine.Add(*map(self.largest, args[::2]))
        raise NoBoundError(kind)

    def _power(self, base: Fast, exponent: Fast) -> Fast:
        if exponent.is_number and not base.is_number:
            return (self.largest(base) if float(exponent) > 0 else self.least(base)) ** exponent
        if base.is_number and float(base) > 0:
            return max(float(base), 1 / float(base)) ** self.largest(exponent)
        raise NoBoundError("power")

    def least(self, e: Fast) -> Fast:
        """A positive lower bound of |e|."""
        import symengine

        if e.is_number:
            return abs(e)
        if e.is_Symbol and e.name in self.constant:
            return fast(size_name(e.name))
        if e.is_Mul:
            return symengine.Mul(*map(self.least, e.args))
        if e.is_Pow and e.args[1].is_number:
            exponent = e.args[1]
            return (self.least(e.args[0]) if float(exponent) > 0 else self.largest(e.args[0])) ** exponent
        if (inner := absolute(e)) is not None:
            return self.least(inner)
        own = list(nonzero(e))  # of a sum of squares, what is squared
        if own and own[0].terms in self.guarded:
            return fast(LEAST) ** (2 if len(own[0].terms) > 1 else 1)
        constant = [a for a in e.args if a.is_number] if e.is_Add and not own else []  # 1 + x**2
        if constant and float(constant[0]) > 0:
            return constant[0]
        raise NoBoundError("denominator")


def bounds(expressions: Sequence[Fast], guarded: Collection[tuple[Fast, ...]], constant: Collection[str]) -> list[Fast]:
    """Upper bounds of some expressions; raises NoBoundError if one has none."""
    all_of_them = Bounds(guarded, constant)
    return [all_of_them.largest(fast(e)) for e in expressions]
