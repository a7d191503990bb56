"""StepMap -> tapes: common subexpressions shared, every operation placed in the outermost possible loop.

A tape is a list of operations on numbered values. Each value has a level: RUN (depends on parameters and the step only),
STEP (also on state and time), or ITERATION (also on the unknowns being sought). Kernels emit each level once per run,
per step and per Newton iteration.

Coefficients, which contain only numbers, parameters and the step, are kept with twice the digits of a double: as a
value and its rest. Their rounding is the same in every step, so it would act as a slightly different method, one that is not
symplectic and lacks the other properties of the exact coefficients. Expressions of parameters alone have no rest: they
are the same double wherever they occur, so their rounding acts as a slightly different parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from math import frexp, isfinite
from typing import Any, NamedTuple

from ..errors import ModelError
from ..symbolic import Fast, fast, nearest_double, summands, symbol_in, total
from ..waist.stepmap import STEP as STEP_NAME
from ..waist.stepmap import rest_of, split_by_step
from .denominators import divides, is_e, is_half, is_negative, shared_denominators

RUN, STEP, ITERATION = 0, 1, 2

FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "atan2": "atan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
    "log": "log", "erf": "erf", "erfc": "erfc", "gamma": "tgamma", "loggamma": "lgamma",
    "floor": "floor", "ceiling": "ceil",
}  # fmt: skip
"""SymEngine functions of one or two arguments and their names in the C library."""

NO_VALUE = {"ComplexInfinity", "Infinity", "NegativeInfinity", "NaN"}
"""Kinds of constants that are no numbers, such as 1/0."""

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
    """Operations in an order in which they can be evaluated; `results` are the values requested."""

    operations: list[Operation]
    results: list[int]


class Builder:
    """Numbers values so that the same operation on the same values is evaluated once."""

    def __init__(self, levels: Mapping[str, int], shared: Set[Fast] = frozenset()):
        self.levels, self.shared = levels, shared
        self.operations: list[Operation] = []
        self._number: dict[tuple[str, tuple[Any, ...]], int] = {}
        self._seen: dict[tuple[bool, Fast], int] = {}
        self.exact = True
        self.fixed: set[int] = set()
        self._pure: dict[int, str] = {}
        self._rest: dict[int, int] = {}

    def put(self, op: str, *args: Any) -> int:
        key = (op, args)
        if key not in self._number:
            operation = Operation(op, args, RUN)
            below = max((self.operations[a].level for a in operation.values), default=RUN)
            level = self.levels[args[0]] if op == "input" else below
            self._number[key] = len(self.operations)
            self.operations.append(operation._replace(level=level))
            self._note(self._number[key], operation, level)
        return self._number[key]

    def _note(self, k: int, o: Operation, level: int) -> None:
        """Store whether value k is a coefficient, and the text of one that contains parameters alone."""
        if o.op == "input":
            if level == RUN or o.args[0] == STEP_NAME:
                self.fixed.add(k)
            if level == RUN and o.args[0] != STEP_NAME:
                self._pure[k] = o.args[0]
        elif o.op in ("const", "add", "sub", "mul", "div", "neg", "fma") and self.fixed.issuperset(o.values):
            self.fixed.add(k)
            if o.op != "const" and all(v in self._pure for v in o.values):
                text = f"{o.op}({', '.join(self._pure[v] for v in o.values)})"
                self._pure[k] = text if len(text) <= 1000 else sha256(text.encode()).hexdigest()

    def constant(self, value: float) -> int:
        return self.put("const", float(value))

    def _rational(self, e: Fast) -> int:
        """A rational number, as a double and its rest."""
        nearest = nearest_double(e)
        value = self.constant(nearest)
        if self.exact and isfinite(nearest):
            rest = float(Fraction(*(int(n) for n in e.as_numer_denom())) - Fraction(nearest))
            if rest:
                self._rest[value] = self.constant(rest)
        return value

    def combine(self, op: str, a: int, b: int) -> int:
        """a op b, op being add, sub, mul or div; the rests of coefficients are included."""
        rests = self._rest.get(a), self._rest.get(b)
        if not self.exact or not {a, b} & self.fixed or (a in self._pure and b in self._pure):
            return self.put(op, a, b)
        if self.fixed.issuperset((a, b)):
            return self._coefficient(op, a, b, rests)
        return self._with_rest(op, a, b, rests) if any(r is not None for r in rests) else self.put(op, a, b)

    def _with_rest(self, op: str, a: int, b: int, rests: tuple[int | None, int | None]) -> int:
        """A coefficient and a value that is not one: at most one of them has a rest."""
        put, (ra, rb) = self.put, rests
        if op in ("add", "sub"):
            if ra is None:
                return put(op, put(op, a, rb), b)
            return put("add", a, put("add", ra, b)) if op == "add" else put("sub", a, put("sub", b, ra))
        if op == "mul":
            return put("fma", a, b, put("mul", ra, b) if ra is not None else put("mul", a, rb))
        one = self.constant(1)
        if ra is not None:
            inverse = put("div", one, b)
            return put("fma", a, inverse, put("mul", ra, inverse))
        return self.combine("mul", self.combine("div", one, b), a)

    def _coefficient(self, op: str, a: int, b: int, rests: tuple[int | None, int | None]) -> int:
        """Two coefficients: the result, and its rounding error."""
        put, (ra, rb) = self.put, rests
        result = put(op, a, b)
        if op in ("add", "sub"):
            of_b = put("sub", result, a)  # the part of b, with its sign, that was added to a
            lost_b = put("sub", b, of_b) if op == "add" else put("neg", put("add", b, of_b))
            rest = put("add", put("sub", a, put("sub", result, of_b)), lost_b)
            rest = put("add", rest, ra) if ra is not None else rest
            rest = put(op, rest, rb) if rb is not None else rest
        elif op == "mul":
            if self._only_scales(a, b) and ra is None and rb is None:
                return result
            rest = put("fma", a, b, put("neg", result))
            rest = put("fma", ra, b, rest) if ra is not None else rest
            rest = put("fma", a, rb, rest) if rb is not None else rest
        else:
            rest = put("fma", put("neg", result), b, a)
            rest = put("add", rest, ra) if ra is not None else rest
            rest = put("fma", put("neg", result), rb, rest) if rb is not None else rest
            rest = put("div", rest, b)
            rest = put("select", put("compare", "eq", rest, rest), rest, self.constant(0))  # b may be zero
        self._rest[result] = rest
        return result

    def _only_scales(self, *values: int) -> bool:
        """Whether one of the values is a power of two, by which a product is exact."""
        constants = [o.args[0] for o in (self.operations[v] for v in values) if o.op == "const"]
        return any(abs(frexp(c)[0]) == 0.5 for c in constants)

    def negative(self, value: int) -> int:
        result = self.put("neg", value)
        if value in self._rest:
            self._rest[result] = self.put("neg", self._rest[value])
        return result

    def level(self, value: int) -> int:
        return self.operations[value].level

    def fold(self, op: str, values: Sequence[int]) -> int:
        """Combine the values of lower levels first, so that their part leaves the inner loops; of these, parameters first,
        in an order that is the same in every tape.
        """
        ordered = sorted(values, key=lambda v: (self.level(v), v not in self._pure, self._pure.get(v, ""), v))
        total = ordered[0]
        for v in ordered[1:]:
            total = self.combine(op, total, v)
        return total

    def value(self, e: Fast) -> int:
        if e.is_Rational:  # no cache: SymEngine gives large numbers equal hashes
            return self._rational(e)
        key = self.exact, e
        if key not in self._seen:
            self._seen[key] = self._value(e)
        return self._seen[key]

    def _value(self, e: Fast) -> int:
        kind = type(e).__name__
        if e.is_Symbol:
            return self.put("input", e.name)
        if e.is_number and not e.is_Add and not e.is_Mul and not e.is_Pow:
            if kind in NO_VALUE:
                raise ModelError(
                    "an expression of the equations has no value: it divides by zero, whatever the coordinates are."
                )
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
        """A sum; the rounding errors of the state variables in it are added together with its small terms.

        Otherwise rounding would have a bias: with h = 0.05 the digits that are cut off from x + h v are those of a fraction
        with a small denominator, and an angle that grows is cut off at the same digit for thousands of steps. The earlier
        rounding errors are practically random.
        """
        if all(map(symbol_in, e.args)) or all(self.rest_in(term) is None for term in e.args):
            return self._add(e)
        symbols: list[Fast] = []
        others: list[Fast] = []
        for term in summands(e):
            (symbols if symbol_in(term) else others).append(term)
        taken = self.fold("add", [r for r in map(self.rest_in, symbols) if r is not None])
        return self.put("add", self.value(total(symbols)), self._with(total(others), taken))

    def rest_in(self, term: Fast) -> int | None:
        """The rounding error of a term that is a state variable, with its number."""
        name = symbol_in(term)
        if not name or rest_of(name) not in self.levels:
            return None
        rest = self.put("input", rest_of(name))
        return self.put("mul", self.value(term.args[0]), rest) if term.is_Mul else rest

    def _with(self, e: Fast, addend: int) -> int:
        """The sum of an expression and a value, rounded once where the expression is h times another one."""
        rate, others = split_by_step(e)
        if others == 0 and self.value(rate) not in self.fixed:
            return self.put("fma", self.put("input", STEP_NAME), self.value(rate), addend)
        return self.put("add", self.value(e), addend)

    def _add(self, e: Fast) -> int:
        plus: list[int] = []
        minus: list[int] = []
        for term in e.args:
            negative = is_negative(term)
            (minus if negative else plus).append(self.value(-term if negative else term))
        if not plus:
            return self.negative(self.fold("add", minus))
        # Level by level, so that terms that are constant in an inner loop are added outside it.
        total: int | None = None
        for level in (RUN, STEP, ITERATION):
            for sign, group in (("add", plus), ("sub", minus)):
                here = [v for v in group if self.level(v) == level]
                if not here:
                    continue
                part = self.fold("add", here)
                if total is not None:
                    total = self.combine(sign, total, part)
                elif sign == "add":
                    total = part
                else:
                    total = self.negative(part)
        assert total is not None
        return total

    def _product(self, e: Fast) -> int:
        above: list[int] = []
        below: list[int] = []
        negative = False
        for factor in e.args:
            if factor == -1:
                negative = not negative
            elif divides(factor) and self._is_shared(*factor.args):
                above.append(self._reciprocal(*factor.args))
            elif divides(factor):
                below.append(self._power(factor.args[0], -factor.args[1]))
            else:
                above.append(self.value(factor))
        one = self.constant(1)
        inner = max((self.level(v) for v in above), default=RUN)
        # A denominator that changes more rarely than the numerator is inverted where it changes.
        rare = [v for v in below if self.level(v) < inner]
        often = [v for v in below if self.level(v) >= inner]
        if rare:
            above.append(self.combine("div", one, self.fold("mul", rare)))
        top = self.fold("mul", above) if above else one
        result = self.combine("div", top, self.fold("mul", often)) if often else top
        return self.negative(result) if negative else result

    def _is_shared(self, base: Fast, exponent: Fast) -> bool:
        """Whether it is a reciprocal that others use too; coefficients, computed once per run, are divided exactly."""
        return (
            base in self.shared and exponent.is_Integer and int(exponent) >= -64 and self.value(base) not in self.fixed
        )

    def _reciprocal(self, base: Fast, exponent: Fast) -> int:
        """base^exponent for a negative integer, by the reciprocal of the base."""
        return self._integer_power(self.combine("div", self.constant(1), self.value(base)), -int(exponent))

    def _power(self, base: Fast, exponent: Fast) -> int:
        if is_e(base):
            return self.put("call", "exp", self.value(exponent))
        if is_negative(exponent) and self._is_shared(base, exponent):
            return self._reciprocal(base, exponent)
        if exponent.is_Integer and abs(int(exponent)) <= 64:
            n = int(exponent)
            result = self._integer_power(self.value(base), abs(n))
            return result if n >= 0 else self.combine("div", self.constant(1), result)
        if is_half(exponent):
            return self._half_power(self.value(base), int(2 * exponent))
        return self.put("call", "pow", self.value(base), self.value(exponent))

    def _half_power(self, value: int, n: int) -> int:
        """value^(n/2) for odd n; if n < 0, the division does not depend on the square root, and is shared by all n."""
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
        square = self.combine("mul", half, half)
        return self.combine("mul", square, value) if n % 2 else square

    def _sign(self, value: int) -> int:
        zero = self.constant(0)
        below = self.put("select", self.put("compare", "lt", value, zero), self.constant(-1), zero)
        return self.put("select", self.put("compare", "lt", zero, value), self.constant(1), below)

    def _piecewise(self, args: Sequence[Fast]) -> int:
        pairs = list(zip(args[::2], args[1::2], strict=True))
        result = self.constant(float("nan"))  # no branch applies: the expression is undefined there
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


def tape(expressions: Iterable[Fast], levels: Mapping[str, int], exact: int = 0) -> Tape:
    """The tape of some expressions; `levels` has the level at which each symbol is known.

    The coefficients of the first `exact` expressions are used with their rests.

    SymEngine's own search for common subexpressions is not used: it shares products across levels, which keeps their
    constant part inside the inner loop, and equal operations are numbered once here anyway.
    """
    listed = list(map(fast, expressions))
    # In a search only: in an update, the rounding of a reciprocal shared by many quotients would accumulate over the steps.
    builder = Builder(levels, shared_denominators(listed) if ITERATION in levels.values() else frozenset())
    results = []
    for k, e in enumerate(listed):
        builder.exact = k < exact
        results.append(builder.value(e))
    return Tape(builder.operations, results)
