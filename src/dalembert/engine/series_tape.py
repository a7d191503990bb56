"""Rates as a tape whose operations have recurrences for the coefficients of power series in time.

With w = f(u) the coefficients of w follow from w' = g u', g being f' at u, another value of the tape: g = w for exp, g = cos u
for sin. Powers follow from u w' = a w u', products and quotients from Cauchy's product. See E. Hairer, S. P. Norsett and
G. Wanner, Solving Ordinary Differential Equations I, 1993, section I.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import pi, sqrt
from typing import Any

from ..errors import ModelError
from ..symbolic import Fast, substitution, summands, total
from ..waist.matrix_block import MatrixBlock
from ..waist.stepmap import STEP as STEP_NAME
from ..waist.stepmap import TIME, Block, StepMap
from .lower import RUN, STEP, Builder, Operation

LARGEST = 1500
"""Most operations of a tape for which series are written: each of them is code, and their number is that of the arrays."""


class NoSeries(Exception):
    """Some function has no recurrence."""


@dataclass(frozen=True)
class LinearPart:
    """A linear block: A x + r = 0, by the numbers of the entries that are not zero and of r."""

    places: tuple[tuple[int, int], ...]
    entries: tuple[int, ...]
    right: tuple[int, ...]
    unknowns: tuple[int, ...]
    after: int
    """How many operations of the tape come before its solution."""


@dataclass(frozen=True)
class SeriesTape:
    """Operations in an order in which they can be evaluated, once the linear parts are solved in turn; the rates."""

    operations: tuple[Operation, ...]
    slopes: Mapping[int, tuple[int, float]]
    """For each function the number of its derivative by its argument, and a factor."""
    parts: tuple[LinearPart, ...]
    rates: tuple[int, ...]


class SeriesBuilder(Builder):
    """Tapes of sums, products, quotients, powers and functions with a known derivative."""

    def __init__(self, levels: Mapping[str, int]):
        super().__init__(levels)
        self.exact = False
        self.slopes: dict[int, tuple[int, float]] = {}
        self.known: dict[str, int] = {}
        """Unknowns that are values of the tape."""

    def varies(self, k: int) -> bool:
        """Whether a value changes with time."""
        return self.level(k) > RUN

    def put(self, op: str, *args: Any) -> int:
        if op == "input" and args[0] in self.known:
            return self.known[args[0]]
        if op == "call" and any(map(self.varies, args[1:])):
            return self._function(args[0], *args[1:])
        if op in ("select", "compare") and any(self.varies(a) for a in args if isinstance(a, int)):
            raise NoSeries
        return super().put(op, *args)

    def _half_power(self, value: int, n: int) -> int:
        if n == 1 or not self.varies(value):
            return super()._half_power(value, n)
        return super().put("power", value, self.constant(n / 2))

    def _power(self, base: Fast, exponent: Fast) -> int:
        if exponent.is_Integer and abs(int(exponent)) > 4 and self.varies(self.value(base)):
            return super().put("power", self.value(base), self.value(exponent))
        return super()._power(base, exponent)

    def _function(self, name: str, *args: int) -> int:
        """A function of values that vary, with its derivative."""
        if name == "pow":
            return self._general_power(*args)
        if name == "atan2":
            return self._angle(*args)
        (u,) = args
        w = super().put("call", name, u)
        if w not in self.slopes:
            self.slopes[w] = w, 1.0  # for exp; the others look for it when their derivatives are made
            self.slopes[w] = self._slope(name, u, w)
        return w

    def _slope(self, name: str, u: int, w: int) -> tuple[int, float]:
        put, one = super().put, self.constant(1)
        match name:
            case "exp":
                return w, 1.0
            case "log":
                return put("div", one, u), 1.0
            case "sin" | "sinh":
                return self._function(name.replace("sin", "cos"), u), 1.0
            case "cos" | "cosh":
                return self._function(name.replace("cos", "sin"), u), -1.0 if name == "cos" else 1.0
            case "tan":
                return put("add", one, put("mul", w, w)), 1.0
            case "tanh":
                return put("sub", one, put("mul", w, w)), 1.0
            case "erf" | "erfc":
                bell = self._function("exp", put("neg", put("mul", u, u)))
                return bell, 2 / sqrt(pi) * (1 if name == "erf" else -1)
        return self._inverse_slope(name, put("mul", u, u))

    def _inverse_slope(self, name: str, square: int) -> tuple[int, float]:
        """Of functions whose derivative is a power of 1 + u^2 or 1 - u^2, up to its sign."""
        kinds = {
            "atan": (1, 1, -1.0, 1.0), "atanh": (1, -1, -1.0, 1.0), "asinh": (1, 1, -0.5, 1.0),
            "asin": (1, -1, -0.5, 1.0), "acos": (1, -1, -0.5, -1.0), "acosh": (-1, 1, -0.5, 1.0),
        }  # fmt: skip
        if name not in kinds:
            raise NoSeries
        of_one, of_square, power, factor = kinds[name]
        signed = square if of_square > 0 else super().put("neg", square)
        base = super().put("add", self.constant(of_one), signed)
        return super().put("power", base, self.constant(power)), factor

    def _general_power(self, base: int, exponent: int) -> int:
        if not self.varies(exponent):
            return super().put("power", base, exponent)
        return self._function("exp", self.put("mul", exponent, self.put("call", "log", base)))

    def _angle(self, y: int, x: int) -> int:
        """The angle of (x, y), whose rate is (x y' - y x')/(x^2 + y^2)."""
        put = super().put
        square = put("add", put("mul", x, x), put("mul", y, y))
        parts = [(v, put("div", c, square)) for v, c in ((y, x), (x, put("neg", y)))]
        return put("angle", y, x, *(n for part in parts for n in part))


@lru_cache(maxsize=64)
def series_tape(rates: StepMap) -> SeriesTape | None:
    """The tape of a map of rates; None if it has functions or blocks without recurrences, or is large."""
    levels = {STEP_NAME: RUN, TIME: STEP, **dict.fromkeys(rates.parameters, RUN)}
    levels |= dict.fromkeys((*rates.state, *rates.unknowns), STEP)
    builder = SeriesBuilder(levels)
    parts: list[LinearPart] = []
    try:
        for block in rates.blocks:
            if isinstance(block, MatrixBlock) or not block.is_linear:
                return None
            parts += _solved(builder, block)
            if len(builder.operations) > LARGEST:
                return None
        results = tuple(builder.value(_flat(e)) for e in rates.outputs.values())
    except (NoSeries, ModelError):
        return None
    if len(builder.operations) > LARGEST:
        return None
    return SeriesTape(tuple(builder.operations), builder.slopes, tuple(parts), results)


def _flat(e: Fast) -> Fast:
    """Sums in sums multiplied out, where what cancels does so."""
    return total(summands(e))


def _solved(builder: SeriesBuilder, block: Block) -> Sequence[LinearPart]:
    """A linear block: as formulas where each equation has one unknown, else as a part of its own."""
    at_zero = substitution(dict.fromkeys(block.unknowns, 0))
    constant = [_flat(at_zero(_flat(r))) for r in block.residual]
    entries = [_flat(c) for c in block.partials.values()]
    if block.is_diagonal:
        for name, r, c in zip(block.unknowns, constant, entries, strict=True):
            builder.known[name] = builder.value(-r if c == 1 else -r / c)
        return []
    right = tuple(map(builder.value, constant))
    places = tuple(map(builder.value, entries))
    after = len(builder.operations)
    unknowns = tuple(builder.put("input", name) for name in block.unknowns)
    return [LinearPart(tuple(block.partials), places, right, unknowns, after)]
