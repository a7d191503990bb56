"""Integrating factors of one form: J and g with dg = J omega.

An integrable form always has one locally, but none need be elementary, and no procedure finds all that are. The methods
here are ordered by cost, each complete for the factors it names:

1. J = 1: the form is exact;
2. J = 1/f_i: a variable that enters only through its differential, or a common factor of all coefficients;
3. J = K(z_k) or K(z_k)/f_i: K follows by quadrature from a ratio that must depend on z_k alone;
4. J = 1/omega(X) for an affine field X that maps the form to a multiple of itself: scalings, rotations, shears;
5. J = a product of powers of variables, of factors of the coefficients, of sines and cosines, and of exponentials of
   variables and their squares and products: log J is a linear problem;
6. two variables at a time (Natani): an ordinary differential equation, then the same form in one variable less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, islice
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide import balls
from ...decide.budget import Budget
from ...decide.elimination import echelon, kernel
from ...decide.rationals import fraction_in
from ...decide.sample import points
from ...decide.zero import vanishes
from ...symbolic import Fast, fast, gradient, substitute
from ..algebra import attempt, read, roots, tidy
from .integrability import Integrated, Row, antiderivative, curl, is_exact, makes_exact, potential, without

WAYS = (
    "no factor",
    "the inverse of a coefficient",
    "functions of one variable",
    "affine symmetries",
    "products of powers and exponentials",
    "two variables at a time",
)
"""The methods of the search, in this order."""


def integrating_factor(
    row: Row, variables: Sequence[Symbol], budget: Budget, ways: int = len(WAYS)
) -> Integrated | None:
    """The first integrating factor found for an integrable form, with its function; None if there was none."""
    searches: tuple[Callable[..., Iterator[Expr]], ...] = (
        _unity,
        _inverse_coefficients,
        _one_variable,
        _affine_symmetries,
        _products,
    )
    for way, search in zip(WAYS, searches[:ways], strict=False):
        if way not in budget.tried:
            budget.spend(way)
        for factor in search(row, variables, budget):
            found = _with_function(factor, row, variables, way, budget)
            if found is not None:
                return found
    return _natani(row, variables, budget) if ways == len(WAYS) else None


def _with_function(factor: Expr, row: Row, variables: Sequence[Symbol], how: str, budget: Budget) -> Integrated | None:
    exact = [tidy(factor * f, budget) for f in row]
    g = potential(exact, variables, budget)
    return None if g is None else Integrated(factor, g, how)


def _unity(row: Row, variables: Sequence[Symbol], budget: Budget) -> Iterator[Expr]:
    if is_exact(row, variables):
        yield sympy.S.One


def _inverse_coefficients(row: Row, variables: Sequence[Symbol], budget: Budget) -> Iterator[Expr]:
    for f in _distinct(row):
        if is_exact([g / f for g in row], variables):
            yield tidy(1 / f, budget)


def _distinct(row: Row) -> list[Expr]:
    """The coefficients that are not constant, the short ones first."""
    return sorted({f for f in row if f.free_symbols}, key=lambda f: (f.count_ops(), str(f)))


def _one_variable(row: Row, variables: Sequence[Symbol], budget: Budget) -> Iterator[Expr]:
    """J = K(z)/f: then K'/K = (d_i F_k - d_k F_i)/F_i for every i, with F = row/f, and depends on z = z_k alone."""
    for divisor in (sympy.S.One, *_distinct(row)):
        scaled = [sympy.sympify(f) / divisor for f in row]
        d = curl(scaled, variables)
        for k, z in enumerate(variables):
            ratio = _common_ratio(scaled, d, k)
            others = [s for s in variables if s != z]
            if ratio is None or any(not vanishes(s) for s in gradient(ratio, others)):
                continue
            log = antiderivative(without(read(ratio, *row, *variables), others, budget), z, budget)
            if log is not None:
                yield tidy(_exponential(log) / divisor, budget)


def _common_ratio(f: Row, d: dict[tuple[int, int], Fast], k: int) -> Fast | None:
    """(d_i f_k - d_k f_i)/f_i, if it is the same for all i; None if not, or if no factor of z_k is called for."""
    if not all(vanishes(c) for (i, j), c in d.items() if k not in (i, j)):
        return None
    ratio = None
    for i in range(len(f)):
        c = fast(0) if i == k else d[min(i, k), max(i, k)] * (1 if i < k else -1)
        if i == k or (vanishes(c) and vanishes(f[i])):
            continue
        if vanishes(f[i]):
            return None
        if ratio is None:
            ratio = c / fast(f[i])
        elif not vanishes(ratio - c / fast(f[i])):
            return None
    return ratio


def _exponential(log: Expr) -> Expr:
    """exp(log), with sums of logarithms as products of powers."""
    return sympy.powsimp(sympy.exp(sympy.expand(log)))


def _affine_symmetries(row: Row, variables: Sequence[Symbol], budget: Budget) -> Iterator[Expr]:
    """If X maps the form to a multiple of itself, 1/omega(X) is an integrating factor (where it is not zero).

    The condition, Lie derivative of omega along X times omega = 0, is linear in the constants of the affine field X.
    """
    n, f = len(variables), [fast(a) for a in row]
    slopes = [gradient(a, variables) for a in f]
    fields = [(j, fast(1)) for j in range(n)] + [(j, fast(z)) for j in range(n) for z in variables]
    columns = []
    for j, amount in fields:
        along = [amount * slopes[i][j] + f[j] * s for i, s in enumerate(gradient(amount, variables))]
        columns.append([along[i] * f[k] - along[k] * f[i] for i, k in combinations(range(n), 2)])
    budget.spend()
    for constants in constant_solutions(columns, None):
        at = sum((c * fast(a) * f[j] for c, (j, a) in zip(constants, fields, strict=True)), start=fast(0))
        if not vanishes(at) and is_exact([read(a / at, *row, *variables) for a in f], variables):
            yield tidy(1 / read(at, *row, *variables), budget)


def _products(row: Row, variables: Sequence[Symbol], budget: Budget) -> Iterator[Expr]:
    """log J = sum of c_k u_k:  c_k (f_i d_j u_k - f_j d_i u_k) = d_i f_j - d_j f_i, linear in the constants c_k."""
    f, d = [fast(a) for a in row], curl(row, variables)
    terms = _logarithms(row, variables, budget)
    slopes = [gradient(u, variables) for u in terms]
    columns = [[f[i] * s[j] - f[j] * s[i] for i, j in d] for s in slopes]
    budget.spend()
    for constants in constant_solutions(columns, list(d.values())):
        log = sympy.Add(*(sympy.Rational(str(c)) * u for c, u in zip(constants, terms, strict=True)))
        yield tidy(_exponential(log), budget)


def _logarithms(row: Row, variables: Sequence[Symbol], budget: Budget) -> list[Expr]:
    """Candidate terms of log J, simple ones first."""
    names: list[Expr] = [sympy.log(z) for z in variables]
    names += list(variables)
    for f in row:
        names += [sympy.log(b) for b in _factors(f, budget) if b.free_symbols & set(variables)]
    angles = {a for f in row for a in f.atoms(sympy.sin, sympy.cos)}
    names += [sympy.log(g) for a in sorted(angles, key=str) for g in (sympy.sin(a.args[0]), sympy.cos(a.args[0]))]
    names += [z**2 for z in variables]
    names += [a * b for a, b in combinations(variables, 2)]
    return list(dict.fromkeys(names))


@lru_cache(maxsize=256)
def _factor_list(expression: Expr) -> list[Expr]:
    numerator, denominator = sympy.fraction(sympy.together(expression))
    return [b for e in (numerator, denominator) for b, _ in sympy.factor_list(e)[1]]


def _factors(expression: Expr, budget: Budget) -> list[Expr]:
    return attempt(budget, _factor_list, expression) or []


def constant_solutions(columns: Sequence[Sequence[Fast]], right: Sequence[Fast] | None) -> list[list[Any]]:
    """Rational constants c with sum of c_k columns_k = right (one solution), or = 0 (a basis of them), at all points.

    Found at random points, to a hundred digits, so that constants of any size are distinguished from zero; callers check the
    result.
    """
    width = len(columns)
    rows = _rows(columns, right)
    if not rows:
        return []
    if right is None:
        solutions = kernel(rows, width)
    else:
        reduced, pivots = echelon(rows, width)
        solvable = all(row[-1].contains(0) for row in reduced[len(pivots) :])
        solutions = [{p: row[-1] for p, row in zip(pivots, reduced, strict=False)}] if solvable else []
    return [c for c in (_rationals(entries, width) for entries in solutions) if c is not None]


def _rows(columns: Sequence[Sequence[Fast]], right: Sequence[Fast] | None) -> list[list[Any]]:
    """The values of all columns, and of the right side, at random points: a row for each equation with values there."""
    sides = list(right) if right is not None else [fast(0)] * len(columns[0])
    equations = [[*entries, side] for *entries, side in zip(*columns, sides, strict=True)]
    wanted = (len(columns) + 8) // max(1, len(equations)) + 3
    found = []
    with balls.precise() as flint:
        for _, at in islice(points([e for row in equations for e in row], 4 * wanted), 2 * wanted):
            values = balls.raw_values(equations, {name: flint.arb(x) for name, x in at.items()})
            found += [row for row in values if all(v.is_finite() for v in row)]
            if len(found) >= wanted * len(equations):
                break
    return found


def _rationals(entries: dict[int, Any], width: int) -> list[Any] | None:
    """The fractions that some balls stand for, zero for all others; None if one of them is not rational."""
    import symengine

    found = [symengine.Integer(0)] * width
    for k, ball in entries.items():
        fraction = fraction_in(ball)
        if fraction is None:
            return None
        found[k] = symengine.Rational(fraction.numerator, fraction.denominator)
    return found


def _natani(row: Row, variables: Sequence[Symbol], budget: Budget) -> Integrated | None:
    """Integrate in two variables while the others are held, take the integral as a variable, and continue with one less.

    With c(a, b; others) the integral of the part in a, b, the form is a multiple of dc + h_k dz_k, where h depends on
    a and b through c alone, if the form is integrable.
    """
    present = [i for i, f in enumerate(row) if not vanishes(f)]
    budget.spend(WAYS[-1] if WAYS[-1] not in budget.tried else "")
    for i, j in list(combinations(present, 2))[:6]:
        pair = [variables[i], variables[j]]
        part = [row[i], row[j]]
        plane = integrating_factor(part, pair, budget, ways=5) or _by_equation(part, pair, budget)
        if plane is None:
            continue
        g = plane.function if len(variables) == 2 else _remaining(row, variables, pair, plane, budget)
        if g is None:
            continue
        factor = tidy(g.diff(pair[0]) / row[i], budget)
        if makes_exact(factor, g, row, variables):
            return Integrated(factor, g, WAYS[-1])
    return None


def _remaining(
    row: Row, variables: Sequence[Symbol], pair: Sequence[Symbol], plane: Integrated, budget: Budget
) -> Expr | None:
    """The function of the whole form, from the integral c in the plane of two variables."""
    c, (a, b) = Symbol("level.c", real=True), pair
    others = [z for z in variables if z not in pair]
    h = [plane.factor * f - plane.function.diff(z) for z, f in zip(variables, row, strict=True) if z in others]
    for solved, left in ((b, a), (a, b)):
        for branch in roots(plane.function - c, solved, budget)[:2]:
            reduced = [read(substitute(fast(e), {solved: branch}), e, branch, *variables) for e in h]
            if not all(vanishes(fast(e).diff(fast(left))) for e in reduced):
                continue
            bare = [without(e, [left], budget) for e in reduced]
            rest = integrating_factor([sympy.S.One, *bare], [c, *others], budget)
            if rest is not None:
                return tidy(rest.function.subs(c, plane.function), budget)
    return None


def _by_equation(row: Row, pair: Sequence[Symbol], budget: Budget) -> Integrated | None:
    """f dx + g dy = 0 as the ordinary differential equation y' = -f/g, for SymPy to solve."""
    (f, g), (x, y) = row, pair
    function, constant = sympy.Function("y"), Symbol("C1")
    equation = sympy.Eq(function(x).diff(x), -(f / g).subs(y, function(x)))
    solution = attempt(budget, sympy.dsolve, equation, function(x))
    for answer in solution if isinstance(solution, list) else [solution]:
        if not isinstance(answer, sympy.Equality):
            continue
        implicit = (answer.lhs - answer.rhs).subs(function(x), y)
        for level in attempt(budget, sympy.solve, implicit, constant) or []:
            factor = tidy(level.diff(x) / f, budget)
            if not vanishes(factor) and makes_exact(factor, level, row, pair):
                return Integrated(factor, level, WAYS[-1])
    return None
