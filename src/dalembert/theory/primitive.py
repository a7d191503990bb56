"""F(q, t) from its rate: which functions of (q, v, t) are total derivatives, and of what.

b_k(q, t) v_k + c(q, t) is dF/dt of some F exactly if d_k b_j = d_j b_k and d_t b_k = d_k c; F follows by quadratures.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Expr, Piecewise

from ..budget import Budget
from ..model.coordinates import time
from ..model.system import System
from ..symbolic import Fast, fast, gradient, slow, substitute, vanishes
from .lagrange import total_derivative


def readable(expression: Fast, system: System) -> Expr:
    """The SymPy form of an expression written with the symbols of a system."""
    return slow(expression, (*system.coordinates, *system.velocities, time, *system.parameters))


def expanded(expression: Any, system: System) -> Expr:
    """The same, multiplied out (by SymEngine, which takes a hundredth of the time)."""
    return readable(fast(expression).expand(), system)


def affine(rate: Any, system: System) -> tuple[list[Fast], Fast] | None:
    """(b, c) with rate = b_k v_k + c and b, c free of velocities; None if the rate is not of that form."""
    slopes = gradient(rate, system.velocities)
    if not all(vanishes(d) for b in slopes for d in gradient(b, system.velocities)):
        return None
    at_rest = dict.fromkeys(system.velocities, 0)
    return [substitute(b, at_rest) for b in slopes], substitute(rate, at_rest)


def is_total_derivative(rate: Any, system: System) -> bool:
    """Whether rate(q, v, t) is dF/dt of some F(q, t), at least locally."""
    split = affine(rate, system)
    if split is None:
        return False
    b, c = split
    variables = (*system.coordinates, time)
    slopes = [gradient(component, variables) for component in (*b, c)]
    return all(vanishes(slopes[i][j] - slopes[j][i]) for i in range(len(slopes)) for j in range(i))


def primitive(rate: Any, system: System, budget: Budget) -> Expr | None:
    """F(q, t) with dF/dt = rate; None if the rate is not a total derivative, or no closed form was found for F."""
    if vanishes(rate):
        return sympy.S.Zero
    if not is_total_derivative(rate, system):
        return None
    b, c = affine(rate, system) or ([], fast(0))
    F: Expr = sympy.S.Zero
    done: list[sympy.Symbol] = []
    for s, component in zip((*system.coordinates, time), (*b, c), strict=True):
        rest = component - fast(F).diff(fast(s))
        if not vanishes(rest):
            part = _quadrature(_without(readable(rest, system), done), s, budget)
            if part is None:
                return None
            F += part
        done.append(s)
    return sympy.expand(F) if vanishes(total_derivative(F, system.coordinates) - fast(rate)) else None


def _without(integrand: Expr, symbols: list[sympy.Symbol]) -> Expr:
    """The same integrand where it does not really depend on some symbols: they are given a value."""
    for s in symbols:
        if s in integrand.free_symbols:
            at = integrand.subs(s, 0)
            integrand = at if not at.has(sympy.nan, sympy.zoo, sympy.oo) else integrand.subs(s, 1)
    return integrand


def _quadrature(integrand: Expr, s: sympy.Symbol, budget: Budget) -> Expr | None:
    """An antiderivative for general parameter values, or None."""
    found = budget.call(sympy.integrate, sympy.expand(integrand), s)
    if found is None or found.has(sympy.Integral):
        return None
    if found.has(Piecewise) and not integrand.has(Piecewise):  # cases of special parameter values
        found = found.replace(Piecewise, lambda *pairs: pairs[0][0])
    return found
