"""Jacobi's last multiplier: functions M(t, q, v) with dM/dt + M sum df_k/dv_k = 0 along the motion.

For one degree of freedom every such function is the second derivative d2L/dv2 of a Lagrangian, and the other way round. For
more, the determinant of a multiplier matrix is one of its squares. log M is sought as a combination of logarithms of functions
P whose rate is a multiple of P (Darboux), of powers of the variables and of quadratures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy
from sympy import Expr

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...model.coordinates import time
from ...symbolic import Fast, fast, gradient, total
from ..algebra import attempt, read
from ..constraints.integrability import is_exact, potential
from .along_motion import Flow
from .linear_identities import combinations
from .quadratures import short


def logarithms(flow: Flow, budget: Budget) -> Iterator[Expr]:
    """Functions S with dS/dt = -(sum of df_k/dv_k): M = exp(S) is a last multiplier. The simplest first."""
    if vanishes(flow.divergence):
        yield sympy.S.Zero
    affine = _affine(flow, budget)
    if affine is not None:
        yield affine
    yield from _combined(flow, candidates(flow.accelerations, flow.velocities, flow.coordinates), budget)
    if flow.n == 1:
        yield from _combined(flow, [sympy.log(P) for P in darboux_polynomials(flow, budget)], budget)
        yield from _of_first_integral(flow, budget)


def is_logarithm(S: Expr, flow: Flow) -> bool:
    """Whether dS/dt = -(sum of df_k/dv_k)."""
    return vanishes(flow.rate(fast(S)) + flow.divergence)


def _affine(flow: Flow, budget: Budget) -> Expr | None:
    """S(q, t), where the divergence is affine in the velocities and the form -div dt is exact."""
    slopes = gradient(flow.divergence, flow.velocities)
    if not all(vanishes(d) for s in slopes for d in gradient(s, flow.velocities)):
        return None
    rest = flow.divergence - total([s * fast(v) for s, v in zip(slopes, flow.velocities, strict=True)])
    row = [short(_read(-e, flow), flow.velocities, budget) for e in (rest, *slopes)]
    variables = (time, *flow.coordinates)
    if not is_exact(row, variables):
        return None
    return potential(row, variables, budget)


def _read(e: Fast, flow: Flow) -> Expr:
    return read(e, *flow.accelerations, *flow.variables)


def candidates(
    rates: Sequence[Expr], velocities: Sequence[sympy.Symbol], coordinates: Sequence[sympy.Symbol]
) -> list[Expr]:
    """Time, coordinates, and logarithms of the factors and sums that accelerations, or other rates, are written with."""
    found: dict[Expr, None] = {}
    for e in rates:
        for top in sympy.fraction(sympy.together(e)):
            for factor in sympy.Mul.make_args(sympy.factor_terms(top)):
                base = factor.base if factor.is_Pow else factor
                found.setdefault(base)
        for part in sympy.preorder_traversal(e):
            if part.is_Pow and part.base.is_Add:
                found.setdefault(part.base)
            if isinstance(part, sympy.sin | sympy.cos):
                found.setdefault(part)
    plain = [time, *coordinates]
    variables = {*plain, *velocities}
    moving = [P for P in found if P.free_symbols & variables and P not in variables]
    logs = [*velocities, *plain, *moving]
    return [*plain, *(q**2 for q in plain), *(sympy.log(P) for P in logs)]


def _combined(flow: Flow, functions: Sequence[Expr], budget: Budget) -> Iterator[Expr]:
    """Combinations of some functions whose rate is -div."""
    functions = [S for S in functions if S.free_symbols]
    if not functions:
        return
    columns = [[flow.divergence], *([flow.rate(fast(S))] for S in functions)]
    for first, *others in combinations(columns, flow.variables, budget, *functions, *flow.accelerations):
        if first != 0:
            S = sympy.Add(*(c / first * f for c, f in zip(others, functions, strict=True)))
            if is_logarithm(S, flow):
                yield S


def darboux_polynomials(flow: Flow, budget: Budget) -> list[Expr]:
    """Polynomials P = v + w(x), w of degree up to 3, and quadratic forms of (x, v), whose rate is a multiple of P."""
    (x,), (v,) = flow.coordinates, flow.velocities
    f = flow.accelerations[0]
    found: list[Expr] = []
    if f.has(time) or not f.is_polynomial(x, v):
        return found
    w = sympy.symbols("w:4", cls=sympy.Dummy)
    shapes = [sympy.Add(*(c * x**k for k, c in enumerate(w[:n]))) for n in (2, 3, 4)]
    for shape in shapes:
        on_curve = (f - v * sympy.diff(-shape, x)).xreplace({v: -shape})
        found += _solved(v + shape, on_curve, (x,), w, budget)
    a, b = sympy.symbols("a b", cls=sympy.Dummy)
    conic = v**2 + a * x * v + b * x**2
    rate = sympy.expand(conic.diff(x) * v + conic.diff(v) * f)
    left = attempt(budget, sympy.rem, rate, conic, v)
    return found + ([] if left is None else _solved(conic, left, (x, v), (a, b), budget))


def _solved(
    P: Expr, zero: Expr, variables: Sequence[sympy.Symbol], unknown: Sequence[sympy.Symbol], budget: Budget
) -> list[Expr]:
    """P with the unknowns for which an expression vanishes."""
    own = [c for c in unknown if c in P.free_symbols]
    equations = attempt(budget, lambda: sympy.Poly(sympy.expand(zero), *variables).coeffs())
    solutions = attempt(budget, sympy.solve, equations, own, dict=True) if equations else None
    made = [P.xreplace(s) for s in solutions or [] if all(e.is_real is not False for e in s.values())]
    return [e for e in made if not e.free_symbols & set(own) and not e.has(sympy.I)]


def _of_first_integral(flow: Flow, budget: Budget) -> Iterator[Expr]:
    """log(dI/dv) - log(v) of a first integral I(x, v): the constant in the solution of dv/dx = f/v."""
    (x,), (v,) = flow.coordinates, flow.velocities
    f = flow.accelerations[0]
    if f.has(time):
        return
    u = sympy.Function("u")
    slope = (f / v).xreplace({v: u(x)})
    solved = attempt(budget, sympy.dsolve, u(x).diff(x) - slope, u(x))
    C = sympy.Symbol("C1")
    for equation in solved if isinstance(solved, list) else [solved]:
        if not isinstance(equation, sympy.Equality) or not equation.has(C):
            continue
        constants = attempt(budget, sympy.solve, equation.xreplace({u(x): v}), C) or []
        for integral in constants:
            M = sympy.diff(integral, v) / v
            if not M.has(sympy.Integral, sympy.I) and M != 0 and is_logarithm(sympy.log(M), flow):
                yield sympy.log(M)
