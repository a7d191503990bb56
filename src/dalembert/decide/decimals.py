"""Exact decimals: 9.81 is 981/100 in all decisions and solutions, and prints as 9.81.

`exact` converts decimals to rational numbers. It takes the shortest decimal that reads back to the same floating-point
number, which is what was typed. `decimal` converts back for display; it needs the decimals that were typed (`Typed`),
since 2/5 may have been typed as a fraction. Rational numbers that result from a computation in floating point, with
rounding errors, are recovered in `rationals`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, ulp
from typing import Any

import sympy
from sympy import Expr, Float, Rational

LEAST = 1e-300
"""Doubles below this have fewer digits than others."""

SHORT, LAST_BITS = 12, 4
"""A decimal of up to so many digits may differ from its double by so many units in the last place, from arithmetic."""

DIGITS = 15
"""Integers of more digits, and fractions whose numerator or denominator has more, are printed as decimals."""


def exact(given: Any) -> Any:
    """A number, an expression or a matrix with the rational number that every decimal in it stands for: 9.81 -> 981/100.

    Of a double that is the shortest decimal that reads back to it; of a number with more digits, or fewer, those digits.
    """
    return _replaced(given, _read)


def stated(given: Any) -> Any:
    """The same for an expression as stated, in which SymPy may have multiplied and added decimals.

    SymPy makes 0.1*x + 0.2*x into 0.30000000000000004*x. A double that differs from a decimal of up to twelve digits only in
    the last bits stands for that decimal, which is also how SymPy prints it.
    """
    return _replaced(given, _meant)


def _replaced(given: Any, fraction: Callable[[Float], Rational]) -> Any:
    if isinstance(given, float) and isfinite(given):
        given = Rational(repr(float(given))) if abs(given) < LEAST else Float(given)
    if isinstance(given, sympy.MatrixBase):
        return given.applyfunc(lambda e: _replaced(e, fraction))
    e = sympy.sympify(given)
    if not isinstance(e, sympy.Basic) or not e.has(Float):
        return e
    return rewritten(e, lambda n, _: fraction(n) if isinstance(n, Float) else n, lambda part: not part.has(Float))


def rewritten(e: Any, number: Callable[[Any, bool], Any], kept: Callable[[Any], bool] = lambda part: False) -> Any:
    """An expression with every number replaced except inside kept parts; `number` receives whether it is in an exponent."""
    known: dict[tuple[Any, bool], Any] = {}

    def walk(e: Any, exponent: bool) -> Any:
        if not e.args:
            return number(e, exponent) if e.is_Number else e
        if kept(e):
            return e
        if (e, exponent) not in known:
            power = isinstance(e, sympy.Pow)
            args = [walk(a, exponent or (power and i == 1)) for i, a in enumerate(e.args)]
            same = all(a is b for a, b in zip(args, e.args, strict=True))
            held = {"evaluate": False} if isinstance(e, sympy.Equality) else {}
            known[e, exponent] = e if same else e.func(*args, **held)
        return known[e, exponent]

    return walk(e, False)


@lru_cache(maxsize=4096)
def _read(f: Float) -> Rational:
    """The shortest decimal that rounds to a SymPy number at its precision."""
    from mpmath.libmp import from_str, prec_to_dps, round_nearest, to_str

    if _is_double(f):
        return Rational(repr(float(f)))
    digits = prec_to_dps(f._prec)
    for count in range(digits, digits + 4):
        text = to_str(f._mpf_, count)
        if from_str(text, f._prec, round_nearest) == f._mpf_:
            break
    return Rational(text)


def _meant(f: Float) -> Rational:
    if not _is_double(f):
        return _read(f)
    short = Rational(f"{float(f):.{SHORT - 1}e}")
    return short if abs(float(short) - float(f)) <= LAST_BITS * ulp(float(f)) else _read(f)


def _is_double(f: Float) -> bool:
    return f._prec == 53 and LEAST < abs(float(f)) < 1e300


# For reading


@dataclass(frozen=True)
class Typed:
    """The numbers that were typed: as decimals, and as fractions."""

    decimals: frozenset[Rational] = frozenset()
    fractions: frozenset[Rational] = frozenset()

    @classmethod
    def of(cls, expressions: Iterable[Any]) -> Typed:
        """The numbers in some expressions as they were given."""
        numbers = [n for e in expressions for n in e.atoms(sympy.Number)]
        decimals = frozenset(abs(_meant(n)) for n in numbers if isinstance(n, Float))
        return cls(decimals, frozenset(abs(n) for n in numbers if n.is_Rational) - decimals)

    def __or__(self, other: Typed) -> Typed:
        decimals = self.decimals | other.decimals
        return Typed(decimals, (self.fractions | other.fractions) - decimals)

    def covers(self, r: Rational) -> bool:
        """Whether a number comes from decimals: it is one of them, or a finite decimal whose denominator has a factor 5.

        1/2 and 3/4 also arise in derivations; so halves and quarters count only if they are a decimal times a power of 2.
        """
        if not self.decimals or abs(r) in self.fractions:
            return False
        if abs(r) in self.decimals:
            return not r.is_Integer or _is_long(r)
        if r.is_Integer or not _terminates(r):
            return _is_long(r)
        return r.q % 5 == 0 or any(_odd(r) == _odd(d) != 1 for d in self.decimals if not d.is_Integer)

    def has_exponent(self, r: Rational) -> bool:
        """Whether a power was typed with this exponent, or with one that becomes it by differentiation."""
        return r.q > 2 and any(abs(r + n) in self.decimals for n in range(-3, 4))


PLAIN = Typed()


def decimal(given: Any, typed: Typed) -> Any:
    """The displayed form: numbers that come from typed decimals as decimals, 981/200 as 4.905; all others unchanged."""
    if not typed.decimals:
        return given
    if isinstance(given, sympy.MatrixBase):
        return given.applyfunc(lambda e: decimal(e, typed))
    if not isinstance(given, sympy.Basic):
        return given

    def number(r: Any, exponent: bool) -> Any:
        plain = not r.is_Rational or (exponent and not typed.has_exponent(r)) or not typed.covers(r)
        return r if plain else _written(r, typed)

    # cos(981/100) is unchanged: with a decimal argument SymPy would evaluate it to sixteen digits.
    return rewritten(
        _restored(_evaluated(given)), number, lambda part: isinstance(part, Expr) and not part.free_symbols
    )


def _evaluated(e: Any) -> Any:
    """Numbers made of long integers, such as their roots, by value: they are unreadable, and NumPy has no such integers."""
    if not isinstance(e, sympy.Basic) or not e.args:
        return e
    if isinstance(e, Expr) and not e.free_symbols:
        return e.evalf(17) if any(map(_is_long, e.atoms(Rational))) else e
    if isinstance(e, sympy.Add):  # terms are evaluated together, because they may cancel
        constant, rest = e.as_independent(*e.free_symbols, as_Add=True)
        return _evaluated(constant) + sympy.Add(*map(_evaluated, rest.args if rest.is_Add else (rest,)))
    args = [_evaluated(a) for a in e.args]
    held = {"evaluate": False} if isinstance(e, sympy.Equality) else {}
    return e if all(a is b for a, b in zip(args, e.args, strict=True)) else e.func(*args, **held)


def _restored(e: Any) -> Any:
    """Products with a cleared denominator, (100 x + 981 y)/100, in their original form: x + 9.81 y."""

    def distributed(*factors: Any) -> Any:
        whole = sympy.Mul(*factors)
        number, rest = whole.as_coeff_Mul()
        sums = [a for a in rest.args if a.is_Add] if rest.is_Mul else [rest] if rest.is_Add else []
        if not number.is_Rational or number.q < 10 or not sums:
            return whole
        largest = max(abs(c) for c in sums[0].as_coefficients_dict().values())
        return rest.xreplace({sums[0]: sympy.expand(number * sums[0])}) if largest >= number.q else whole

    return e.replace(sympy.Mul, distributed) if isinstance(e, sympy.Basic) and e.has(sympy.Add) else e


def text(e: Any) -> str:
    """An expression as one line, decimals without trailing zeros: 9.81, not 9.81000000000000."""
    return str(sympy.sstr(e, full_prec=False))


def quotient(given: Expr, typed: Typed) -> Expr:
    """The same for a cancelled fraction: integer factors of its denominator are divided into the decimals of the numerator."""
    if not typed.decimals:
        return given
    above, below = sympy.fraction(given)
    common, below = below.as_content_primitive()
    return decimal(sympy.expand_mul(above / common, deep=False) / below, typed)


def _written(r: Rational, typed: Typed) -> Expr:
    """A rational number as a decimal: of as many digits as were typed, or sixteen."""
    double = Float(float(r)) if 1e-300 < abs(r) < 1e300 else Float(r)
    if abs(r) not in typed.decimals or _read(double) == r:
        return double
    return Float(r, len(str(abs(r.p))) + 2)


def _is_long(r: Rational) -> bool:
    return bool(max(abs(r.p), r.q) >= 10**DIGITS)


def _odd(r: Rational) -> int:
    """The odd part of the numerator."""
    p = abs(int(r.p))
    return p // (p & -p) if p else 0


def _terminates(r: Rational) -> bool:
    """Whether its decimal ends: the denominator has no prime factor but 2 and 5."""
    q = int(r.q)
    for prime in (2, 5):
        while q % prime == 0:
            q //= prime
    return q == 1
