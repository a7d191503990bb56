"""Pfaffian forms: exactness, potentials, the triple identity, Frobenius' condition.

A form f_1 dz_1 + ... + f_n dz_n is the row (f_1, ..., f_n) over the variables z; for constraints that depend on time,
t is the last variable and the drift its coefficient. Everything here is local: a form may be closed without being the
differential of one function on a space with holes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...model.checks import KNOWN
from ...model.signs import sign_at_samples
from ...symbolic import Fast, fast, gradient, jacobian, substitute
from ..algebra import attempt, read, tidy

Row = Sequence[Expr]


@dataclass(frozen=True)
class Integrated:
    """A form made exact: factor * form = d(function); `how` names the way it was found."""

    factor: Expr
    function: Expr
    how: str


def curl(row: Row, variables: Sequence[Symbol]) -> dict[tuple[int, int], Fast]:
    """The components d_i f_j - d_j f_i, i < j, of the differential of a form."""
    slopes = jacobian(row, variables)
    return {(i, j): slopes[j][i] - slopes[i][j] for i, j in combinations(range(len(variables)), 2)}


def is_exact(row: Row, variables: Sequence[Symbol]) -> bool:
    """Whether d_i f_j = d_j f_i: the form is the differential of a function."""
    return all(vanishes(c) for c in curl(row, variables).values())


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
    return all(vanishes(f[k] * d[i, j] + f[i] * d[j, k] - f[j] * d[i, k]) for i, j, k in triples)


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
    return all(vanishes(s - fast(factor) * fast(f)) for s, f in zip(slopes, row, strict=True))


def potential(row: Row, variables: Sequence[Symbol], budget: Budget) -> Expr | None:
    """The function whose differential an exact form is, by one quadrature per variable; None if one of them failed.

    Whether the quadratures succeed depends on their order, so a few orders are tried.
    """
    by_size = sorted(range(len(row)), key=lambda i: row[i].count_ops())
    for order in dict.fromkeys((tuple(by_size), tuple(reversed(by_size)), tuple(range(len(row))))):
        g = _quadratures(row, variables, order, budget)
        for form in () if g is None else dict.fromkeys((_real(g), g)):
            if makes_exact(sympy.S.One, form, row, variables):
                return form
    return None


def _real(g: Expr) -> Expr:
    """log(u) as log(-u) where u is negative, and |u| as u: the real antiderivative near the sampled points."""
    plain = g.replace(sympy.Abs, lambda u: u)
    return plain.replace(sympy.log, lambda u: sympy.log(-u) if sign_at_samples(u) == -1 else sympy.log(u))


def _quadratures(row: Row, variables: Sequence[Symbol], order: Sequence[int], budget: Budget) -> Expr | None:
    g: Expr = sympy.S.Zero
    done: list[Symbol] = []
    for i in order:
        rest = sympy.sympify(row[i]) - g.diff(variables[i])
        if not vanishes(rest):
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
    for number in (0, 1, 2, sympy.Rational(1, 2)):  # any number at which the expression has a value
        bare = shorter.subs(dict.fromkeys(left, sympy.sympify(number)))
        if not bare.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo) and vanishes(fast(bare) - fast(shorter)):
            return bare
    return shorter


def antiderivative(expression: Expr, variable: Symbol, budget: Budget) -> Expr | None:
    """An antiderivative that is written without an integral sign, in the general case of its parameters."""
    for way in (_by_rules, sympy.integrate, _with_letters):
        for form in dict.fromkeys((expression, sympy.expand(expression))):
            for found in _branches(attempt(budget, way, form, variable)):
                if vanishes(fast(found).diff(fast(variable)) - fast(expression)):
                    return found
    return None


def _branches(integral: Any) -> list[Expr]:
    """The cases of an antiderivative that are real and written without an integral sign."""
    if not isinstance(integral, Expr):
        return []
    cases = max((len(p.args) for p in integral.atoms(sympy.Piecewise)), default=1)
    made = [integral.replace(sympy.Piecewise, lambda *a, k=k: a[min(k, len(a) - 1)][0]) for k in range(cases)]
    return [e for e in dict.fromkeys(made) if all(isinstance(part, KNOWN) for part in sympy.preorder_traversal(e))]


def _by_rules(expression: Expr, variable: Symbol) -> Expr:
    from sympy.integrals.manualintegrate import manualintegrate

    result: Expr = manualintegrate(expression, variable)
    return result


def _with_letters(expression: Expr, variable: Symbol) -> Expr:
    """With one letter for each part of a sum that is free of the variable, positive if that part is: x^2 + (y^2 + z^2)."""
    letters: dict[Expr, Symbol] = {}

    def hide(e: Expr) -> Expr:
        if not e.args or variable not in e.free_symbols:
            return e
        if e.is_Add:
            still, moving = e.as_independent(variable, as_Add=True)
            if still.free_symbols:
                known = {"positive": True} if sign_at_samples(still) == 1 else {"real": True}
                still = letters.setdefault(still, sympy.Dummy(**known))
            return still + sympy.Add(*map(hide, sympy.Add.make_args(moving)))
        return e.func(*map(hide, e.args))

    found: Expr = sympy.integrate(hide(expression), variable)
    return found.xreplace({s: e for e, s in letters.items()})


def pulled_back(row: Row, variables: Sequence[Symbol], gone: Symbol, value: Expr) -> list[Expr]:
    """A form on the surface gone = value(the other variables): a row over the other variables."""
    index = list(variables).index(gone)
    others = [z for z in variables if z != gone]
    slopes = gradient(value, others)
    coefficients = [fast(f) for z, f in zip(variables, row, strict=True) if z != gone]
    on_it = [substitute(f + fast(row[index]) * s, {gone: value}) for f, s in zip(coefficients, slopes, strict=True)]
    return [read(f, *row, *variables, value) for f in on_it]
