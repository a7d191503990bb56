"""Expressions as quotients of polynomials in variables and in functions of them, with relations between these functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import sympy
from sympy import Expr, Symbol

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...symbolic import fast
from ..algebra import attempt


@dataclass
class Generators:
    """Symbols that stand for roots, sines, exponentials and whatever else is not rational."""

    names: dict[Expr, Symbol] = field(default_factory=dict)

    def hide(self, e: Expr) -> Expr:
        """An expression with symbols in place of functions; a power p/q of a base is the p-th power of its q-th root."""
        if e.is_Symbol or e.is_Rational:
            return e
        if e.is_Add or e.is_Mul:
            return e.func(*(self.hide(a) for a in e.args))
        if e.is_Pow and e.exp.is_Integer:
            return self.hide(e.base) ** e.exp
        if e.is_Pow and e.exp.is_Rational:
            return self._name(e.base ** sympy.Rational(1, e.exp.q)) ** e.exp.p
        if isinstance(e, sympy.exp):
            c, rest = e.args[0].as_coeff_Mul()
            if c.is_Rational and not rest.is_Add:
                return self._name(sympy.exp(rest / c.q)) ** c.p
        return self._name(e)

    def _name(self, e: Expr) -> Symbol:
        return self.names.setdefault(e, sympy.Dummy(f"g{len(self.names)}"))

    @property
    def back(self) -> dict[Symbol, Expr]:
        """What the symbols stand for."""
        return {s: e for e, s in self.names.items()}

    def relations(self) -> Iterator[tuple[Expr, Symbol]]:
        """Polynomials that vanish, each with the generator whose powers it lowers."""
        for e, s in list(self.names.items()):
            if e.is_Pow and e.exp.is_Rational:
                yield sympy.fraction(sympy.together(s**e.exp.q - self.hide(e.base)))[0], s
            if isinstance(e, sympy.sin) and (wave := sympy.cos(e.args[0])) in self.names:
                yield s**2 + self.names[wave] ** 2 - 1, s

    def reduced(self, polynomial: Expr) -> Expr:
        """A polynomial with the powers lowered."""
        for relation, s in self.relations():
            polynomial = sympy.rem(polynomial, relation, s)
        return polynomial


def plain(e: Expr) -> Expr:
    """Sines of sums, powers of products and exponentials of sums written out."""
    return sympy.expand_trig(sympy.expand_power_exp(sympy.expand_power_base(e)))


def primitive_vector(entries: Sequence[Expr], budget: Budget) -> list[Expr]:
    """A vector without denominators and without common factors, parallel to the given one; the given one where that fails."""
    found = attempt(budget, _primitive, entries)
    return list(entries if found is None or not _parallel(found, entries) else found)


def _primitive(entries: Sequence[Expr]) -> list[Expr]:
    known = Generators()
    parts = [sympy.fraction(sympy.together(known.hide(plain(e)))) for e in entries]
    below = sympy.lcm_list([d for _, d in parts])
    tops = [known.reduced(sympy.expand(n * sympy.cancel(below / d))) for n, d in parts]
    common = sympy.gcd_list([p for p in tops if p != 0])
    return [sympy.cancel(p / common).xreplace(known.back) for p in tops]


def _parallel(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    lead = next((k for k, e in enumerate(b) if not vanishes(e)), None)
    if lead is None or vanishes(a[lead]):
        return False
    return all(vanishes(fast(x) * fast(b[lead]) - fast(y) * fast(a[lead])) for x, y in zip(a, b, strict=True))


def factors(e: Expr, budget: Budget) -> list[Expr]:
    """The irreducible factors of numerator and denominator."""
    known = Generators()
    hidden = known.hide(plain(e))
    found = []
    for part in sympy.fraction(sympy.together(hidden)):
        listed = attempt(budget, sympy.factor_list, part)
        found += [] if listed is None else [p for p, _ in listed[1]]
    return [p.xreplace(known.back) for p in dict.fromkeys(found)]
