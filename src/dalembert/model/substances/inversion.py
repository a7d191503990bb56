"""Solving one equation for one variable: by undoing operations, by computer algebra, or by numbers inside a bracket.

A solution is accepted if it inverts the function at random points of a domain. That also selects the branch: of the
two square roots only one returns the original state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import sympy
from sympy import Expr, Symbol

from ...decide.budget import Budget, BudgetSpentError
from ...decide.zero import vanishes_where
from ...errors import ModelError
from ...symbolic import fast, number


def one_symbol_per_name(expressions: Sequence[Expr], role: str) -> None:
    """Refuse two symbols of one name: a symbol is known by its name."""
    known: dict[str, Symbol] = {}
    for s in (s for e in expressions for s in sorted(e.free_symbols, key=str)):
        if known.setdefault(s.name, s) != s:
            raise ModelError(
                f"{role}: there are two different symbols named {s.name} (of other assumptions, or one plain and one a "
                f"parameter). Make it once and use that, or give the other another name."
            )


def undone(expression: Expr, symbol: Symbol) -> list[Expr]:
    """Solutions of expression = 0, found by undoing one operation after the other; [] if that fails."""
    left, rights = expression, [sympy.S.Zero]
    while left != symbol:
        if left.is_Add:
            rest, left = left.as_independent(symbol, as_Add=True)
            rights = [r - rest for r in rights]
            if left.is_Add:
                slope = sympy.expand(left).coeff(symbol)
                if slope == 0 or slope.has(symbol) or not _is_zero(left - slope * symbol):
                    return []
                return [r / slope for r in rights]
        elif left.is_Mul:
            factor, left = left.as_independent(symbol, as_Add=False)
            if left.is_Mul:
                return []
            rights = [r / factor for r in rights]
        elif left.is_Pow and not left.exp.has(symbol):
            signs = (1, -1) if left.exp.is_even else (1,)
            rights = [s * _root(r, left.exp) for r in rights for s in signs]
            left = left.base
        elif isinstance(left, sympy.exp):
            rights, left = [sympy.log(r) for r in rights], left.exp
        elif isinstance(left, sympy.log):
            rights, left = [sympy.exp(r) for r in rights], left.args[0]
        else:
            return []
    return rights


def _root(power: Expr, exponent: Expr) -> Expr:
    """The base of a power, factor by factor where SymPy knows that this is allowed."""
    return sympy.powdenest(power ** (1 / exponent))


def _is_zero(expression: Expr) -> bool:
    return bool(sympy.expand(expression) == 0)


def solutions(expression: Expr, symbol: Symbol, budget: Budget) -> list[Expr]:
    """Candidates for symbol = ..., with expression = 0: by undoing, else by computer algebra. They are not checked."""
    if not expression.has(symbol):
        return []
    by_hand = undone(expression, symbol)
    if by_hand:
        return by_hand
    numerator = budget.call(lambda: sympy.fraction(sympy.together(expression))[0])
    if numerator is not None and (by_hand := undone(sympy.expand(numerator), symbol)):
        return by_hand
    found = budget.call(lambda: sympy.solve(expression, symbol))
    # All or none: a root written with complex numbers may be the real one, so leaving it out would hide a choice.
    return [] if any(s.has(symbol, sympy.RootOf, sympy.LambertW) for s in found or []) else list(found or [])


def inverse(function: Expr, symbol: Symbol, value: Symbol, domain: Sequence[Expr], budget: Budget) -> Expr | None:
    """`symbol` as an expression in `value`, where value = function(symbol); None if no closed form was found."""
    try:
        candidates = solutions(function - value, symbol, budget)
    except BudgetSpentError:
        return None
    for candidate in candidates:
        if vanishes_where(candidate.xreplace({value: function}) - symbol, domain):
            return candidate
    return None


def monotone_root(function: Callable[[float], float], what: str) -> float:
    """The zero of a monotone function of one variable, by a growing bracket; not-a-number marks the edge of the domain."""
    from scipy.optimize import brentq

    low, high = _bracket(function, what)
    _refuse_several(function, low, high, what)
    while not (math.isfinite(function(low)) and math.isfinite(function(high))):
        middle = (low + high) / 2
        low, high = (middle, high) if (function(middle) > 0) == (function(low) > 0) else (low, middle)
    return float(brentq(function, low, high, xtol=1e-300, rtol=8.9e-16, maxiter=400))


def _refuse_several(function: Callable[[float], float], low: float, high: float, what: str) -> None:
    """A function that is not monotone around the bracket may have other zeros, so none is chosen."""
    around = (function(low + (high - low) * k / 8) for k in range(-32, 41))
    rises = {b > a for a, b in pairwise(y for y in around if not math.isnan(y)) if a != b}
    if len(rises) > 1:
        raise ModelError(
            f"{what} may have several solutions: the function is not monotone around {(low + high) / 2:.6g}. Restrict the "
            f"domain: FundamentalRelation(..., domain=[...])."
        )


def _bracket(function: Callable[[float], float], what: str) -> tuple[float, float]:
    """Two points with values of different sign."""
    sizes = [10.0**k for k in sorted(range(-30, 31, 3), key=abs)]
    begin = next((s * x for x in sizes for s in (1, -1) if not math.isnan(function(s * x))), None)
    if begin is None:
        raise ModelError(f"{what} has no value at any power of 1000 from 1e-30 to 1e30, of both signs.")
    start, reached = function(begin), []
    for direction in (1, -1):
        x, length, edge = begin, abs(begin), False
        for _ in range(150):
            y = function(x + direction * length)
            if math.isnan(y):
                edge, length = True, length / 2
                continue
            if y == 0 or (y > 0) != (start > 0):
                ends = sorted((x, x + direction * length))
                return ends[0], ends[1]
            x += direction * length
            length = length / 2 if edge else 2 * length
            if not abs(x) < 1e150 * abs(begin):
                break
        reached.append(x)
    raise ModelError(f"{what} has no solution between {reached[1]:.6g} and {reached[0]:.6g}, as far as was searched.")


def evaluator(expression: Expr, symbol: Symbol, domain: Sequence[Expr] = ()) -> Callable[[float], float]:
    """A function of one number; not-a-number where the expression has no value, or outside the domain."""
    e, bounds = fast(expression), [fast(d) for d in domain]

    def at(x: float) -> float:
        inside = all(number(d, {symbol.name: x}) > 0 for d in bounds)
        return number(e, {symbol.name: x}) if inside else math.nan

    return at
