"""Pfaffian forms: exactness, potentials, the triple identity, Frobenius' condition.

A form f_1 dz_1 + ... + f_n dz_n is the row (f_1, ..., f_n) over the variables z; for constraints that depend on time,
t is the last variable and the drift its coefficient. Everything here is local: a form may be closed without being the
differential of one function on a space with holes.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import sympy
from sympy import Expr, Symbol
from sympy.polys.polyerrors import BasePolynomialError

from ..budget import Budget, BudgetSpentError
from ..symbolic import Fast, fast, gradient, jacobian, slow, substitute
from .sampling import is_zero

Row = Sequence[Expr]


@dataclass(frozen=True)
class Integrated:
    """A form made exact: factor * form = d(function); `how` names the way it was found."""

    factor: Expr
    function: Expr
    how: str


def read(expression: Fast, *like: Any) -> Expr:
    """The SymPy form of a SymEngine expression, with the symbols that occur in the expressions it came from."""
    symbols = {s for e in like for s in sympy.sympify(e).free_symbols}
    return slow(expression, symbols)


def curl(row: Row, variables: Sequence[Symbol]) -> dict[tuple[int, int], Fast]:
    """The components d_i f_j - d_j f_i, i < j, of the differential of a form."""
    slopes = jacobian(row, variables)
    return {(i, j): slopes[j][i] - slopes[i][j] for i, j in combinations(range(len(variables)), 2)}


def is_exact(row: Row, variables: Sequence[Symbol]) -> bool:
    """Whether d_i f_j = d_j f_i: the form is the differential of a function."""
    return all(is_zero(c) for c in curl(row, variables).values())


def triple_residuals(row: Row, variables: Sequence[Symbol]) -> dict[tuple[int, int, int], Expr]:
    """f_k (d_i f_j - d_j f_i) + f_i (d_j f_k - d_k f_j) + f_j (d_k f_i - d_i f_k) for i < j < k.

    They are the components of the form times its differential. All vanish if and only if the form has an integrating
    factor (locally, where it is not zero); in two variables there are none.
    """
    f, d = [fast(a) for a in row], curl(row, variables)
    return {
        (i, j, k): sympy.expand(read(f[k] * d[i, j] + f[i] * d[j, k] - f[j] * d[i, k], *row, *variables))
        for i, j, k in combinations(range(len(variables)), 3)
    }


def is_integrable(row: Row, variables: Sequence[Symbol]) -> bool:
    """Whether one form alone has an integrating factor: the triple identity."""
    f, d = [fast(a) for a in row], curl(row, variables)
    triples = combinations(range(len(variables)), 3)
    return all(is_zero(f[k] * d[i, j] + f[i] * d[j, k] - f[j] * d[i, k]) for i, j, k in triples)


Form = dict[tuple[int, ...], Fast]
"""A differential form: the coefficient of dz_i dz_j ... for each increasing tuple of indices."""


def wedge(a: Form, b: Form) -> Form:
    """The exterior product of two forms."""
    product: Form = {}
    for i, x in a.items():
        for j, y in b.items():
            if set(i) & set(j):
                continue
            indices = (*i, *j)
            swaps = sum(p > q for p, q in combinations(indices, 2))
            key = tuple(sorted(indices))
            product[key] = product.get(key, fast(0)) + (-1) ** swaps * x * y
    return product


def frobenius_residuals(rows: Sequence[Row], variables: Sequence[Symbol]) -> dict[tuple[int, tuple[int, ...]], Expr]:
    """The components of d omega^a ^ omega^1 ^ ... ^ omega^L, by (a, indices).

    All vanish if and only if the system of forms is integrable: omega^a = 0 says that L functions are constant.
    """
    forms: list[Form] = [{(i,): fast(f) for i, f in enumerate(row) if f != 0} for row in rows]
    all_of_them: Form = {(): fast(1)}
    for form in forms:
        all_of_them = wedge(all_of_them, form)
    symbols = [e for row in rows for e in row]
    found: dict[tuple[int, tuple[int, ...]], Expr] = {}
    for a, row in enumerate(rows):
        differential: Form = {ij: c for ij, c in curl(row, variables).items() if c != 0}
        for indices, component in wedge(differential, all_of_them).items():
            found[a, indices] = sympy.expand(read(component, *symbols, *variables))
    return found


def makes_exact(factor: Expr, function: Expr, row: Row, variables: Sequence[Symbol]) -> bool:
    """Whether d(function) = factor * form, component by component."""
    slopes = gradient(function, variables)
    return all(is_zero(s - fast(factor) * fast(f)) for s, f in zip(slopes, row, strict=True))


class Allowance(Budget):
    """A budget with a limit for the time in all, besides that for single calls."""

    def __init__(self, attempts: int = 5000, seconds: float = 2.0, total: float = 20.0):
        super().__init__(attempts, seconds)
        self._end = clock.monotonic() + total

    def spend(self, what: str = "", amount: int = 1) -> None:
        """Count an attempt, and look at the clock."""
        super().spend(what, amount)
        if clock.monotonic() > self._end:
            raise BudgetSpentError("the time of the search is spent")


def algebra(budget: Budget, function: Any, *args: Any, **options: Any) -> Any:
    """A call into computer algebra within the budget; None if it came to nothing."""
    try:
        return budget.call(function, *args, **options)
    except (BasePolynomialError, KeyError, IndexError, AssertionError, MemoryError):
        return None


def tidy(expression: Expr, budget: Budget) -> Expr:
    """A shorter way to write an expression, if one is found; the same value in any case."""
    given = sympy.sympify(expression)
    if not 2 <= given.count_ops() <= 3000:
        return given
    if given not in _TIDY:
        try:
            shorter = _shortened(given, budget)
        except BudgetSpentError:
            return given
        if len(_TIDY) > 4096:
            _TIDY.clear()
        _TIDY[given] = shorter
    return _TIDY[given]


_TIDY: dict[Expr, Expr] = {}


def _shortened(given: Expr, budget: Budget) -> Expr:
    trigonometric = given.has(sympy.sin, sympy.cos, sympy.tan)
    ways: list[Any] = [lambda e: sympy.cancel(sympy.together(e)), sympy.factor]
    ways += [sympy.trigsimp] if trigonometric else []
    ways += [sympy.simplify] if given.has(sympy.exp, sympy.log) and not trigonometric else []
    best = current = given
    for way in ways:
        if best.count_ops() < 3:
            break
        found = algebra(budget, way, current)
        if not isinstance(found, Expr):
            continue
        if way is ways[0]:
            current = found
        if found.count_ops() <= best.count_ops() and is_zero(fast(found) - fast(given)):
            best = found
    return best


def potential(row: Row, variables: Sequence[Symbol], budget: Budget) -> Expr | None:
    """The function whose differential an exact form is, by one quadrature per variable; None if one of them failed.

    The order of the quadratures is a matter of luck, so a few orders are tried.
    """
    by_size = sorted(range(len(row)), key=lambda i: row[i].count_ops())
    for order in dict.fromkeys((tuple(by_size), tuple(reversed(by_size)), tuple(range(len(row))))):
        g = _quadratures(row, variables, order, budget)
        if g is not None and makes_exact(sympy.S.One, g, row, variables):
            return g
    return None


def _quadratures(row: Row, variables: Sequence[Symbol], order: Sequence[int], budget: Budget) -> Expr | None:
    g: Expr = sympy.S.Zero
    done: list[Symbol] = []
    for i in order:
        rest = sympy.sympify(row[i]) - g.diff(variables[i])
        if not is_zero(rest):
            part = antiderivative(without(rest, done, budget), variables[i], budget)
            if part is None:
                return None
            g += part
        done.append(variables[i])
    return tidy(g, budget)


def without(expression: Expr, idle: Sequence[Symbol], budget: Budget) -> Expr:
    """An expression whose value does not depend on some symbols, written without them."""
    shorter = tidy(expression, budget)
    left = [s for s in idle if s in shorter.free_symbols]
    if not left:
        return shorter
    for number in (0, 1, 2, sympy.Rational(1, 2)):  # any value will do where the expression has one
        bare = shorter.subs(dict.fromkeys(left, sympy.sympify(number)))
        if not bare.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo) and is_zero(fast(bare) - fast(shorter)):
            return bare
    return shorter


def antiderivative(expression: Expr, variable: Symbol, budget: Budget) -> Expr | None:
    """An antiderivative that is written without an integral sign, in the general case of its parameters."""
    for way in (_by_rules, sympy.integrate):
        for form in dict.fromkeys((expression, sympy.expand(expression))):
            for found in _branches(algebra(budget, way, form, variable)):
                if is_zero(fast(found).diff(fast(variable)) - fast(expression)):
                    return found
    return None


def _branches(integral: Any) -> list[Expr]:
    """The cases of an antiderivative that are real and written without an integral sign."""
    if not isinstance(integral, Expr):
        return []
    cases = max((len(p.args) for p in integral.atoms(sympy.Piecewise)), default=1)
    made = [integral.replace(sympy.Piecewise, lambda *a, k=k: a[min(k, len(a) - 1)][0]) for k in range(cases)]
    return [e for e in dict.fromkeys(made) if not e.has(sympy.Integral, sympy.I, sympy.nan, sympy.zoo)]


def _by_rules(expression: Expr, variable: Symbol) -> Expr:
    from sympy.integrals.manualintegrate import manualintegrate

    result: Expr = manualintegrate(expression, variable)
    return result


def pulled_back(row: Row, variables: Sequence[Symbol], gone: Symbol, value: Expr) -> list[Expr]:
    """A form on the surface gone = value(the other variables): a row over the other variables."""
    index = list(variables).index(gone)
    others = [z for z in variables if z != gone]
    slopes = gradient(value, others)
    coefficients = [fast(f) for z, f in zip(variables, row, strict=True) if z != gone]
    on_it = [substitute(f + fast(row[index]) * s, {gone: value}) for f, s in zip(coefficients, slopes, strict=True)]
    return [read(f, *row, *variables, value) for f in on_it]


def roots(equation: Expr, z: Symbol, budget: Budget) -> list[Expr]:
    """Where an expression vanishes as a function of z: by formula up to degree two, else as SymPy solves it."""
    polynomial = algebra(budget, sympy.Poly, equation, z)
    if polynomial is None or polynomial.degree() > 2:
        return list(algebra(budget, sympy.solve, equation, z, check=False) or [])
    c, b, a = ([*reversed(polynomial.all_coeffs()), sympy.S.Zero])[:3]
    if a == 0:
        return [tidy(-c / b, budget)]
    root = sympy.sqrt(sympy.expand(b**2 - 4 * a * c))
    return [tidy((-b + sign * root) / (2 * a), budget) for sign in (1, -1)]
