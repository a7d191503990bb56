"""StepMap -> tapes: common subexpressions shared, every operation placed in the outermost loop it can leave.

A tape is a list of operations on numbered values. Each value has a level: RUN (depends on parameters and the step only),
STEP (also on state and time), or ITERATION (also on the unknowns being sought). Kernels emit each level once per run,
per step and per Newton iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import ModelError
from ..symbolic import Fast, fast

RUN, STEP, ITERATION = 0, 1, 2

FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "atan2": "atan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
    "log": "log", "erf": "erf", "erfc": "erfc", "gamma": "tgamma", "loggamma": "lgamma",
    "floor": "floor", "ceiling": "ceil",
}  # fmt: skip
"""SymEngine functions of one or two arguments and their names in the C library."""

RECIPROCALS = {"cot": "tan", "sec": "cos", "csc": "sin", "coth": "tanh", "sech": "cosh", "csch": "sinh"}

RELATIONS = {"LessThan": "le", "StrictLessThan": "lt", "Equality": "eq", "Unequality": "ne"}


class Operation(NamedTuple):
    """One operation of a tape: `op` applied to earlier values."""

    op: str
    args: tuple[Any, ...]
    level: int

    @property
    def values(self) -> list[int]:
        """The earlier values it is applied to."""
        return [] if self.op == "const" else [a for a in self.args if isinstance(a, int)]


@dataclass
class Tape:
    """Operations in the order in which they can be done; `results` are the values asked for."""

    operations: list[Operation]
    results: list[int]


class _Builder:
    """Numbers values so that the same operation on the same values is done once."""

    def __init__(self, levels: Mapping[str, int]):
        self.levels = levels
        self.operations: list[Operation] = []
        self._number: dict[tuple[str, tuple[Any, ...]], int] = {}
        self._seen: dict[Fast, int] = {}

    def put(self, op: str, *args: Any) -> int:
        key = (op, args)
        if key not in self._number:
            operation = Operation(op, args, RUN)
            below = max((self.operations[a].level for a in operation.values), default=RUN)
            level = self.levels[args[0]] if op == "input" else below
            self._number[key] = len(self.operations)
            self.operations.append(operation._replace(level=level))
        return self._number[key]

    def constant(self, value: float) -> int:
        return self.put("const", float(value))

    def level(self, value: int) -> int:
        return self.operations[value].level

    def fold(self, op: str, values: Sequence[int]) -> int:
        """Combine the values of lower levels first, so that their part leaves the inner loops."""
        ordered = sorted(values, key=lambda v: (self.level(v), v))
        total = ordered[0]
        for v in ordered[1:]:
            total = self.put(op, total, v)
        return total

    def value(self, e: Fast) -> int:
        if e not in self._seen:
            self._seen[e] = self._value(e)
        return self._seen[e]

    def _value(self, e: Fast) -> int:
        kind = type(e).__name__
        if e.is_Symbol:
            return self.put("input", e.name)
        if e.is_Rational:
            return self.constant(_nearest(e))
        if e.is_number and not e.is_Add and not e.is_Mul and not e.is_Pow:
            return self.constant(float(e))
        if e.is_Add:
            return self._sum(e)
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow:
            return self._power(*e.args)
        if kind == "Abs":
            return self.put("call", "fabs", self.value(e.args[0]))
        if kind == "sign":
            return self._sign(self.value(e.args[0]))
        if kind in FUNCTIONS:
            return self.put("call", FUNCTIONS[kind], *map(self.value, e.args))
        if kind in RECIPROCALS:
            return self.put("div", self.constant(1), self.put("call", RECIPROCALS[kind], self.value(e.args[0])))
        if kind == "Piecewise":
            return self._piecewise(e.args)
        if e.is_number:
            return self.constant(float(e.n()))
        raise ModelError(
            f"the function {kind} in {e} cannot be turned into machine code. "
            f"Known are: {', '.join(sorted({*FUNCTIONS, *RECIPROCALS} | {'Abs', 'sign', 'Max', 'Min', 'Piecewise'}))}."
        )

    def _sum(self, e: Fast) -> int:
        plus: list[int] = []
        minus: list[int] = []
        for term in e.args:
            negative = _is_negative(term)
            (minus if negative else plus).append(self.value(-term if negative else term))
        if not plus:
            return self.put("neg", self.fold("add", minus))
        # Level by level, so that what does not change in an inner loop is added outside it.
        total: int | None = None
        for level in (RUN, STEP, ITERATION):
            for sign, group in (("add", plus), ("sub", minus)):
                here = [v for v in group if self.level(v) == level]
                if not here:
                    continue
                part = self.fold("add", here)
                if total is not None:
                    total = self.put(sign, total, part)
                elif sign == "add":
                    total = part
                else:
                    total = self.put("neg", part)
        assert total is not None
        return total

    def _product(self, e: Fast) -> int:
        above: list[int] = []
        below: list[int] = []
        negative = False
        for factor in e.args:
            if factor == -1:
                negative = not negative
            elif factor.is_Pow and self._divides(*factor.args):
                below.append(self._power(factor.args[0], -factor.args[1]))
            else:
                above.append(self.value(factor))
        one = self.constant(1)
        inner = max((self.level(v) for v in above), default=RUN)
        # A denominator that changes more rarely than the numerator is inverted where it changes.
        rare = [v for v in below if self.level(v) < inner]
        often = [v for v in below if self.level(v) >= inner]
        if rare:
            above.append(self.put("div", one, self.fold("mul", rare)))
        top = self.fold("mul", above) if above else one
        result = self.put("div", top, self.fold("mul", often)) if often else top
        return self.put("neg", result) if negative else result

    @staticmethod
    def _divides(base: Fast, exponent: Fast) -> bool:
        return _is_negative(exponent) and not _is_e(base) and not _is_half(exponent)

    def _power(self, base: Fast, exponent: Fast) -> int:
        if _is_e(base):
            return self.put("call", "exp", self.value(exponent))
        if exponent.is_Integer and abs(int(exponent)) <= 64:
            n = int(exponent)
            result = self._integer_power(self.value(base), abs(n))
            return result if n >= 0 else self.put("div", self.constant(1), result)
        if _is_half(exponent):
            return self._half_power(self.value(base), int(2 * exponent))
        return self.put("call", "pow", self.value(base), self.value(exponent))

    def _half_power(self, value: int, n: int) -> int:
        """value^(n/2) for odd n; where it is negative, the inverse is not kept waiting for the root, and serves all n."""
        root = self.put("sqrt", value)
        if n == 1:
            return root
        if n < 0:
            value, n = self.put("div", self.constant(1), value), 2 - n
        return self.put("mul", self._integer_power(value, n // 2), root)

    def _integer_power(self, value: int, n: int) -> int:
        if n == 0:
            return self.constant(1)
        if n == 1:
            return value
        half = self._integer_power(value, n // 2)
        square = self.put("mul", half, half)
        return self.put("mul", square, value) if n % 2 else square

    def _sign(self, value: int) -> int:
        zero = self.constant(0)
        below = self.put("select", self.put("compare", "lt", value, zero), self.constant(-1), zero)
        return self.put("select", self.put("compare", "lt", zero, value), self.constant(1), below)

    def _piecewise(self, args: Sequence[Fast]) -> int:
        pairs = list(zip(args[::2], args[1::2], strict=True))
        result = self.constant(float("nan"))  # no branch applies: the expression has no value there
        for value, condition in reversed(pairs):
            result = self.put("select", self._condition(condition), self.value(fast(value)), result)
        return result

    def _condition(self, c: Any) -> int:
        kind = type(c).__name__
        if kind in ("BooleanTrue", "bool") or c is True:
            return self.put("true") if c else self.put("false")
        if kind == "BooleanFalse":
            return self.put("false")
        if kind in RELATIONS:
            return self.put("compare", RELATIONS[kind], *(self.value(a) for a in c.args))
        if kind in ("And", "Or"):
            parts = [self._condition(a) for a in c.args]
            result = parts[0]
            for p in parts[1:]:
                result = self.put(kind.lower(), result, p)
            return result
        if kind == "Not":
            return self.put("not", self._condition(c.args[0]))
        raise ModelError(f"the condition {c} cannot be turned into machine code; use <, <=, >, >= and their And, Or.")


def _is_negative(e: Fast) -> bool:
    if e.is_number:
        return bool(e.is_negative)
    return bool(e.is_Mul and e.args[0].is_number and e.args[0].is_negative)


def _nearest(e: Fast) -> float:
    """The double nearest to a rational number: SymEngine cuts digits off instead of rounding."""
    p, q = (int(n) for n in e.as_numer_denom())
    try:
        return p / q
    except OverflowError:
        return float("inf") if p > 0 else float("-inf")


def _is_half(e: Fast) -> bool:
    """Half of an odd number, not too large."""
    return bool(e.is_number and abs(float(e)) <= 32 and 2 * float(e) % 2 == 1)


def tape(expressions: Iterable[Fast], levels: Mapping[str, int]) -> Tape:
    """The tape of some expressions; `levels` says at which level each symbol is known.

    SymEngine's own search for common subexpressions is not used: it shares products across levels, which keeps their
    constant part inside the inner loop, and equal operations are numbered once here anyway.
    """
    builder = _Builder(levels)
    results = [builder.value(fast(e)) for e in expressions]
    return Tape(builder.operations, results)


def _is_e(base: Fast) -> bool:
    return bool(base.is_number and str(base) == "E")
