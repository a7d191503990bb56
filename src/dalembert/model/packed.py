"""Checks of expressions in files, with bounds, before anything is built from them.

A packed expression is nested lists of names and numbers; `serial` makes and reads it. It is built without evaluating it,
but differentiation evaluates it: 10**10**10 or gamma(1e7) would compute integers of any length, like terms with long
denominators would be added up. So every part without symbols must have a finite value as a double, and the numbers that
evaluation may compute are estimated beforehand.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ..errors import ModelError

DEEPEST = 120
"""Depth of nested operations."""

LARGEST = 50_000
"""Operations, symbols and numbers of all expressions of a system; SymPy takes some seconds for them."""

LONGEST = 4096
"""Bits of an integer."""

HIGHEST = 1000
"""The largest exponent of something that is not a number."""

NESTED = 64
"""The largest product of exponents of powers inside one another: SymPy splits such powers into real and imaginary parts."""

COMPUTED = 200_000
"""Bits of a number that evaluation may compute."""

WIDEST = 100
"""Factors of a product; its derivative has their square."""

EXPANDED = 1000
"""Terms of a constraint once it is multiplied out."""

SYMBOL = re.compile(r"[A-Za-z_]\w{0,199}", re.ASCII)
"""Names that people give."""

_DOUBLE = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-]\d{1,4}")
_DECIMAL = re.compile(r"-?\d{1,1300}(\.\d{0,1300})?(e[+-]?\d{1,4})?")

_TRUTHS = ("BooleanTrue", "BooleanFalse")
_NUMBERS = {"Pi": math.pi, "Exp1": math.e}
_RELATIONS = ("StrictLessThan", "LessThan", "StrictGreaterThan", "GreaterThan", "Equality", "Unequality")
_LOGIC = {"And": (2, LARGEST), "Or": (2, LARGEST), "Not": (1, 1), "ITE": (3, 3)}


def _within(limit: float, function: Callable[[float], float]) -> Callable[[float], float]:
    def value(x: float) -> float:
        if abs(x) > limit:
            raise OverflowError
        return function(x)

    return value


_SUMS: dict[str, Callable[..., float]] = {
    "Add": lambda *a: math.fsum(a), "Mul": lambda *a: math.prod(a), "Max": lambda *a: max(a), "Min": lambda *a: min(a),
}  # fmt: skip
_PAIRS: dict[str, Callable[..., float]] = {
    "Pow": lambda a, b: a**b, "atan2": math.atan2,
    "Heaviside": lambda x, at: at if x == 0 else float(x > 0),
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "cot": lambda x: 1 / math.tan(x), "sec": lambda x: 1 / math.cos(x), "csc": lambda x: 1 / math.sin(x),
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "asinh": math.asinh, "acosh": math.acosh,
    "atanh": math.atanh, "exp": math.exp, "log": math.log, "Abs": abs, "sign": lambda x: math.copysign(float(x != 0), x),
    "floor": lambda x: float(math.floor(x)), "ceiling": lambda x: float(math.ceil(x)), "erf": math.erf,
    "erfc": math.erfc, "gamma": _within(170, math.gamma), "loggamma": _within(170, math.lgamma),
}  # fmt: skip
_EVALUATED = 1100
"""Bits of a function of a number that is found to be a whole number: exp(100*log(2)) is."""

_KINKS = ("Abs", "sign", "Heaviside")
"""Functions that become branches, in which their argument occurs three times."""


class Part(NamedTuple):
    """What is known of a part of an expression before it is built."""

    key: int
    """Equal for parts that are equal up to the order of terms and factors."""
    is_truth: bool = False
    value: float | None = None
    """Of a part without symbols."""
    bits: int = 1
    """Of the numbers that a power of it multiplies."""
    terms: int = 1
    """Multiplied out."""
    nodes: int = 1
    """With every kink written as branches."""
    factors: tuple[int, int] | None = None
    """Of a term: the key of what is not a number, and the bits of its coefficient."""
    logarithm: float = 0.0
    """What a logarithm in it is multiplied by: exp(n*log(u)) is evaluated to u**n."""
    power: int = 1
    """The exponent of a power, and the product of those of powers inside it."""
    width: int = 1
    """The number of its factors."""
    fineness: int = 0
    """Of a number: the bits of its denominator, decimals being fractions."""


def refuse(why: str) -> ModelError:
    """An expression that cannot be in a file."""
    return ModelError(f"an expression {why}.")


def parsed(text: str, largest: int = LARGEST) -> Any:
    """The data of a text, unless it has more lists than expressions of that size could have."""
    if text.count("[") > 2 * largest:
        raise refuse(f"is too long: a file holds at most {largest} operations, symbols and numbers")
    return json.loads(text)


class Packed:
    """Checks the packed expressions of one model, and counts their operations together.

    symbol:   whether [kind, ...] is a symbol that may occur; it raises if it should be one and is not
    is_flat:  whether branches are written value, condition, value, condition, ... (SymEngine) or in pairs (SymPy)
    """

    def __init__(self, symbol: Callable[[list[Any]], bool], is_flat: bool = False, largest: int = LARGEST):
        self.symbol, self.is_flat, self.largest = symbol, is_flat, largest
        self.nodes = 0
        self._keys: dict[Any, int] = {}

    def expression(self, data: Any, expanded: int | None = None) -> None:
        """Raise a ModelError if the data are no expression, or one that is too large."""
        part = self._part(data, 1)
        if part.is_truth:
            raise refuse("is a condition where a value is expected")
        if expanded is not None and part.terms > expanded:
            raise refuse(f"has more than {expanded} terms when it is multiplied out")

    def _key(self, *identity: Any) -> int:
        return self._keys.setdefault(identity, len(self._keys))

    def _part(self, data: Any, depth: int) -> Part:
        self.nodes += 1
        if self.nodes > self.largest:
            raise refuse(f"is too long: a file holds at most {self.largest} operations, symbols and numbers")
        if depth > DEEPEST:
            raise refuse(f"is nested more than {DEEPEST} deep")
        if isinstance(data, str):
            return self._named(data)
        if not isinstance(data, list) or not data:
            raise refuse(f"has {_cut(data)} where an operation or a number is expected")
        head, *rest = data
        if _is_integer(head):
            return self._fraction(head, rest)
        if not isinstance(head, str):
            raise refuse(f"has {_cut(head)} where the name of an operation is expected")
        if head == "Float" and not self.is_flat:
            return self._decimal(rest)
        if self.symbol(data):
            return Part(self._key("symbol", *map(str, data[:2])))
        if head == "Piecewise":
            return self._branches(rest, depth)
        parts = [self._part(a, depth + 1) for a in rest]
        if head in _RELATIONS or head in _LOGIC:
            return self._condition(head, parts)
        return self._operation(head, parts)

    # numbers
    def _named(self, name: str) -> Part:
        if name in _TRUTHS:
            return Part(self._key(name), is_truth=True)
        if name in _NUMBERS:
            return Part(self._key(name), value=_NUMBERS[name])
        if not _DOUBLE.fullmatch(name):
            raise refuse(f"has {_cut(name)} where a number is expected")
        value = _finite(float.fromhex, name)
        return Part(self._key(name), value=value, bits=64, factors=(-1, 64), fineness=_fineness(repr(value)))

    def _fraction(self, p: int, rest: list[Any]) -> Part:
        if len(rest) != 1 or not _is_integer(rest[0]) or rest[0] < 1:
            raise refuse("has a fraction without a positive denominator")
        q: int = rest[0]
        bits = p.bit_length() + q.bit_length()
        if max(p.bit_length(), q.bit_length()) > LONGEST:
            raise refuse(f"has an integer of more than {LONGEST} bits")
        value = _finite(lambda a, b: a / b, p, q)
        return Part(self._key(p, q), value=value, bits=bits, factors=(-1, bits), fineness=q.bit_length() - 1)

    def _decimal(self, rest: list[Any]) -> Part:
        is_text = len(rest) == 2 and isinstance(rest[0], str) and _DECIMAL.fullmatch(rest[0])
        if not is_text or not (_is_integer(rest[1]) and 1 <= rest[1] <= LONGEST):
            raise refuse(f"has the number {_cut(rest)}, which is none")
        bits, value = rest[1] + 64, _finite(float, rest[0])
        return Part(self._key(*rest), value=value, bits=bits, factors=(-1, bits), fineness=_fineness(rest[0]))

    # operations
    def _operation(self, head: str, parts: list[Part]) -> Part:
        if any(p.is_truth for p in parts):
            raise refuse(f"has a condition in {head}")
        count = len(parts)
        if head in _SUMS and count >= 2:
            function = _SUMS[head]
        elif head in _PAIRS and count == 2:
            function = _PAIRS[head]
        elif head in _FUNCTIONS and count == 1:
            function = _FUNCTIONS[head]
        else:
            raise ModelError(f"the file names an unknown operation {head!r} of {count} arguments.")
        value = None
        if all(p.value is not None for p in parts):
            value = _finite(function, *(p.value for p in parts))
        keys = [p.key for p in parts]
        key = self._key(head, *(sorted(keys) if head in ("Add", "Mul") else keys))
        nodes = _kinked(head, parts)
        if nodes > self.largest:
            raise refuse(f"has more than {self.largest} operations once its kinks are written as branches")
        if head == "Pow":
            return self._power(key, value, nodes, *parts)
        if head == "Mul":
            return self._product(key, value, nodes, parts)
        if head == "Add":
            self._like_terms(parts)
            return Part(
                key, value=value, bits=max(p.bits for p in parts), terms=sum(p.terms for p in parts), nodes=nodes,
                logarithm=max(p.logarithm for p in parts), fineness=_together(parts),
            )  # fmt: skip
        if head == "log":
            return Part(key, value=value, bits=max(_EVALUATED, parts[0].bits), nodes=nodes, logarithm=1.0)
        if head == "exp" and parts[0].logarithm:
            self._check_root(parts[0].bits, parts[0].fineness)
            if value is None:
                return self._power(key, value, nodes, parts[0], parts[0])
        return Part(key, value=value, bits=1 if value is None else _EVALUATED, nodes=nodes)

    def _power(self, key: int, value: float | None, nodes: int, base: Part, exponent: Part) -> Part:
        power = exponent.logarithm if exponent.value is None else abs(exponent.value)
        if (base.value is None or exponent.value is None) and power > HIGHEST:
            raise refuse(f"has an exponent of {power:g}; up to {HIGHEST} are read")
        times = max(1, math.ceil(power))
        if base.power > 1 and base.power * times > NESTED:
            raise refuse(f"has powers of powers that multiply to {base.power * times}; up to {NESTED} are read")
        # (-1)**n, 0**n and 1**n stay as short as they are, however large n is.
        short = base.value in (0, 1, -1)
        if (not short and base.value is not None) or base.power > 1:
            self._check_root(base.bits, exponent.fineness)
        elif not short and base.factors is not None:
            self._check_root(base.factors[1], exponent.fineness)
        bits = 64 if short else min(max(base.bits, exponent.bits if power != exponent.value else 1) * times, 10**9)
        if bits > COMPUTED:
            raise refuse("has a power whose digits would be too many")
        return Part(
            key, value=value, bits=bits, terms=_multinomial(base.terms, times), nodes=nodes, width=base.width,
            power=min(base.power * times, 10**9), fineness=0 if value is None else min(bits, COMPUTED),
        )  # fmt: skip

    def _check_root(self, bits: int, fineness: int) -> None:
        """12**(p/q) is evaluated by way of 2**(2*p % q) and 3**(p % q), which are long if q is."""
        if bits * 2 ** min(fineness, 40) > COMPUTED and fineness:
            raise refuse("has a number to a power with so many digits that its own would be too many")

    def _product(self, key: int, value: float | None, nodes: int, parts: list[Part]) -> Part:
        bits = sum(p.bits for p in parts)
        if bits > COMPUTED:
            raise refuse("has a product whose digits would be too many")
        width = sum(p.width for p in parts)
        if width > WIDEST:
            raise refuse(f"has a product of more than {WIDEST} factors")
        terms = 1
        for p in parts:
            terms = min(terms * p.terms, 10**9)
        rest = [p.key for p in parts if p.value is None]
        coefficient = sum(p.bits for p in parts if p.value is not None)
        times = math.prod(abs(p.value) for p in parts if p.value is not None)
        return Part(
            key, value=value, bits=bits, terms=terms, nodes=nodes, factors=(self._rest(rest), coefficient),
            logarithm=times * most if (most := max(p.logarithm for p in parts)) else 0.0, width=width,
            power=max(p.power for p in parts), fineness=_together(parts),
        )  # fmt: skip

    def _rest(self, keys: list[int]) -> int:
        return keys[0] if len(keys) == 1 else self._key("Mul", *sorted(keys))

    def _like_terms(self, parts: list[Part]) -> None:
        """Terms that differ in their numbers only are added up when the sum is evaluated."""
        found: dict[int, list[int]] = {}
        for p in parts:
            key, bits = p.factors or (p.key, 1)
            found.setdefault(-1 if p.value is not None else key, []).append(bits)
        if any(len(bits) > 1 and sum(bits) > COMPUTED for bits in found.values()):
            raise refuse("has like terms whose sum would have too many digits")

    # branches
    def _condition(self, head: str, parts: list[Part]) -> Part:
        least, most = _LOGIC.get(head, (2, 2))
        if not least <= len(parts) <= most or any(p.is_truth != (head in _LOGIC) for p in parts):
            raise refuse(f"has a condition {head} of the wrong arguments")
        if head in _RELATIONS and all(p.value is not None for p in parts):
            raise refuse("has a condition without symbols")
        return Part(self._key(head, *(p.key for p in parts)), is_truth=True, nodes=_kinked(head, parts))

    def _branches(self, rest: list[Any], depth: int) -> Part:
        pairs = list(zip(rest[::2], rest[1::2], strict=False)) if self.is_flat else [_pair(p) for p in rest]
        if not pairs or (self.is_flat and len(rest) % 2):
            raise refuse("has branches that are not pairs of a value and a condition")
        parts = [(self._part(e, depth + 1), self._part(c, depth + 1)) for e, c in pairs]
        if any(e.is_truth or not c.is_truth for e, c in parts):
            raise refuse("has branches that are not pairs of a value and a condition")
        flat = [p for pair in parts for p in pair]
        terms = sum(e.terms for e, _ in parts)
        return Part(self._key("Piecewise", *(p.key for p in flat)), nodes=_kinked("Piecewise", flat), terms=terms)


def _pair(data: Any) -> tuple[Any, Any]:
    if not (isinstance(data, list) and len(data) == 3 and data[0] == "ExprCondPair"):
        raise refuse("has branches that are not pairs of a value and a condition")
    return data[1], data[2]


def _kinked(head: str, parts: Sequence[Part]) -> int:
    """The number of nodes when kinks are written as branches: Abs(u) has u three times, Max(u, v) both twice."""
    if head in ("Max", "Min"):
        nodes = parts[0].nodes
        for p in parts[1:]:
            nodes = min(2 * (nodes + p.nodes) + 2, 10**9)
        return nodes
    return min((3 if head in _KINKS else 1) * sum(p.nodes for p in parts) + 1, 10**9)


def _multinomial(terms: int, power: int) -> int:
    """The terms of a power of a sum."""
    if terms == 1:
        return 1
    if terms > 10**4 or power > 10**4:
        return 10**9
    smaller = min(terms - 1, power)
    return 10**9 if smaller > 30 else min(math.comb(terms + power - 1, smaller), 10**9)


def _fineness(text: str) -> int:
    """The bits of the denominator of a decimal."""
    return Fraction(text).denominator.bit_length() - 1


def _together(parts: Sequence[Part]) -> int:
    return sum(p.fineness for p in parts)


def _is_integer(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _finite(function: Callable[..., float], *args: Any) -> float:
    """The value of a part without symbols."""
    try:
        value = function(*args)
        if not isinstance(value, complex) and math.isfinite(value):
            return float(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        pass
    raise refuse("has a number that is too large, or no real number")


def _cut(given: Any) -> str:
    text = repr(given) if not isinstance(given, list | dict) else f"a {type(given).__name__} of {len(given)}"
    return text if len(text) <= 40 else f"{text[:40]}... ({len(text)} characters)"
