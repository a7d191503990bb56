"""Computer algebra for displayed results: calls with time limits, short forms, linear equations solved exactly."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from math import prod
from typing import Any

import sympy
from sympy import Expr, Symbol, cos, sin
from sympy.polys.polyerrors import BasePolynomialError
from sympy.simplify.fu import TR10i

from ..decide.budget import Budget, BudgetSpentError
from ..decide.zero import vanishes
from ..symbolic import Fast, fast, gradient, slow, substitute

LONG = 2000
"""Expressions of more operations than this are left as they are: they are unreadable."""

MIDDLING, SHORT = 200, 80
"""Up to so many operations an expression is factored and searched for sums of angles, which takes longer."""


QUOTIENTS = 600
"""Up to so many operations a sum of quotients is written as one."""


EXPONENT = 64
"""Exponents with a larger numerator or denominator are kept out of polynomials."""


COUPLED, TERMS, CANCELLED = 4, 100_000, 2000
"""So many linear equations or more are solved without fractions, if the determinant has no more terms than the second number;
common factors are cancelled if numerator and denominator have no more terms than the third, multiplied."""


class Allowance(Budget):
    """A budget with a limit for the total time, that of a processor in its thread, besides that for single calls."""

    def __init__(self, attempts: int = 5000, seconds: float = 2.0, total: float = 20.0):
        super().__init__(attempts, seconds)
        self._end = clock.thread_time() + total

    def spend(self, what: str = "", amount: int = 1) -> None:
        """Count an attempt, and check the total time."""
        super().spend(what, amount)
        if clock.thread_time() > self._end:
            raise BudgetSpentError("the time of the search is spent")


def attempt(budget: Budget, function: Any, *args: Any, **options: Any) -> Any:
    """A call into computer algebra within the budget; None if it failed."""
    try:
        return budget.call(function, *args, **options)
    except (BasePolynomialError, KeyError, IndexError, AssertionError, MemoryError):
        return None


def read(expression: Fast, *like: Any) -> Expr:
    """The SymPy form of a SymEngine expression, with the symbols that occur in the expressions it came from."""
    return slow(expression, {s for e in like for s in sympy.sympify(e).free_symbols})


# Short forms


def tidy(expression: Any, budget: Budget | None = None) -> Expr:
    """The shortest of a few equal forms, as far as they are found in time.

    These are: unchanged, multiplied out, with sin^2 + cos^2 = 1 used either way, as one quotient in lowest terms, factored,
    and with products of sines and cosines combined into sums of angles or double angles, or exponentials and logarithms
    simplified.
    """
    given = sympy.sympify(expression)
    if not 2 <= given.count_ops() <= LONG:
        return given
    if given not in _TIDY:
        try:
            shorter = _tidied(given, budget or Budget(seconds=3.0))
        except BudgetSpentError:
            return given
        if len(_TIDY) > 4096:
            _TIDY.clear()
        _TIDY[given] = shorter
    return _TIDY[given]


_TIDY: dict[Expr, Expr] = {}


def _tidied(given: Expr, budget: Budget) -> Expr:
    def form(way: Any, e: Expr, longest: int) -> list[Expr]:
        found = attempt(budget, with_short_exponents, way, e) if 2 < e.count_ops() <= longest else None
        return [found] if isinstance(found, Expr) else []

    waves = given.has(sin, cos, sympy.tan)
    spread = form(sympy.expand, given, LONG) or [given]
    if waves:
        spread += form(lambda e: pythagoras(e, cos, sin), spread[0], LONG)
        spread += form(lambda e: pythagoras(e, sin, cos), spread[0], LONG)
    if any(p.base.is_Add and p.exp.could_extract_minus_sign() for p in given.atoms(sympy.Pow)):
        spread += form(_one_quotient, given, QUOTIENTS)
    # Common factors appear only once everything is multiplied out.
    factored = form(sympy.factor, min(spread, key=_length), MIDDLING)
    best = min((given, *spread, *factored), key=_length)
    if waves:
        factored += form(_short_sums, best, MIDDLING)
        best = min((best, *factored), key=_length)
        factored += form(sympy.trigsimp if given.has(sympy.tan) else TR10i, best, SHORT)
        factored += form(_double_angles, min((best, *factored), key=_length), SHORT)
    elif given.has(sympy.exp, sympy.log):
        factored += form(sympy.simplify, best, MIDDLING)
    return shortest(given, *spread, *factored)


def _one_quotient(e: Expr) -> Expr:
    """A sum of quotients as one, in lowest terms: what multiplying out does not find where denominators are sums."""
    numerator, denominator = sympy.cancel(e).as_numer_denom()
    return sympy.factor_terms(numerator) / sympy.factor(denominator)


def simplified(expression: Any, budget: Budget | None = None) -> Expr:
    """As `tidy`, with SymPy's simplification besides: it knows roots and more functions, and takes longer."""
    budget = budget or Budget(seconds=2)
    short = tidy(expression, budget)
    if not 2 <= _length(short) <= MIDDLING:
        return short
    deep = attempt(budget, with_short_exponents, _factored, short)
    forms = [attempt(budget, with_short_exponents, sympy.simplify, e) for e in (short, deep) if e is not None]
    return shortest(short, deep, *forms)


def factored(expression: Any, budget: Budget | None = None) -> Expr:
    """As `tidy`, or as one fraction of short factors where that is shorter: quotients within quotients disappear."""
    budget, given = budget or Budget(seconds=2), sympy.sympify(expression)
    if not 2 <= _length(given) <= LONG:
        return given
    try:
        whole = attempt(budget, with_short_exponents, sympy.factor, given)
    except BudgetSpentError:
        return given
    forms = [whole]
    if isinstance(whole, sympy.Mul):
        parts = (f.func(*(tidy(e, budget) for e in f.args)) if f.is_Pow else tidy(f, budget) for f in whole.args)
        forms.append(sympy.Mul(*parts))
    return shortest(tidy(given, budget), *forms)


def _factored(e: Expr) -> Expr:
    """Factored, sums under roots too."""
    return sympy.factor(e, deep=True)


def with_short_exponents(function: Any, e: Expr) -> Any:
    """A call of computer algebra with letters for powers like x**(1667/1000) and exp(0.123*x).

    SymPy treats these as the 1667th power of a root, and writes out polynomials of that degree.
    """
    names = {p: sympy.Dummy(positive=True) for p in e.atoms(sympy.Pow, sympy.exp) if p.is_positive and _is_long(p.exp)}
    names |= {p: sympy.Dummy() for p in e.atoms(sympy.Pow, sympy.exp) if p not in names and _is_long(p.exp)}
    found = function(e.xreplace(names))
    return found.xreplace({name: p for p, name in names.items()}) if names and isinstance(found, Expr) else found


def _is_long(exponent: Expr) -> bool:
    return any(max(abs(r.p), r.q) > EXPONENT for r in exponent.atoms(sympy.Rational))


def _length(e: Expr) -> int:
    return int(e.count_ops())


def shortest(given: Expr, *others: Expr | None) -> Expr:
    """The shortest of some forms of an expression: itself, or one of the others that has its value."""
    for e in sorted((e for e in others if e is not None), key=_length):
        if _length(e) >= _length(given):
            break
        if vanishes(fast(e) - fast(given)):
            return e
    return given


def pythagoras(e: Expr, gone: Any, kept: Any) -> Expr:
    """Even powers of one of sin, cos written with the other, and multiplied out."""

    def squares(base: Expr, power: Expr) -> Expr:
        if isinstance(base, gone) and power.is_Integer and power >= 2:
            return (1 - kept(base.args[0]) ** 2) ** (power // 2) * base ** (power % 2)
        return base**power

    return sympy.expand(e.replace(sympy.Pow, squares))


def _short_sums(e: Expr) -> Expr:
    """Each sum within an expression in the shortest of its forms with sin^2 + cos^2 = 1."""

    def short(*terms: Expr) -> Expr:
        whole = sympy.Add(*terms)
        return min((whole, pythagoras(whole, cos, sin), pythagoras(whole, sin, cos)), key=_length)

    return e.replace(sympy.Add, short)


def _double_angles(e: Expr) -> Expr:
    """Products sin(u) cos(u) written as sin(2 u)/2."""

    def doubled(*factors: Expr) -> Expr:
        angles = [f.args[0] for f in factors if isinstance(f, sin) and cos(f.args[0]) in factors]
        gone = {f for u in angles for f in (sin(u), cos(u))}
        return sympy.Mul(*(f for f in factors if f not in gone), *(sin(2 * u) / 2 for u in angles))

    return e.replace(sympy.Mul, doubled)


# Equations


def linear_solution(matrix: sympy.Matrix, right: sympy.Matrix) -> list[Expr] | None:
    """The solution of a linear system, row by row, with common factors cancelled; None if the matrix is singular."""
    from sympy.polys.matrices import DomainMatrix
    from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

    n = matrix.shape[0]
    hidden, back = rational([*matrix.row_join(right)])
    joined = DomainMatrix.from_Matrix(sympy.Matrix(n, n + right.shape[1], hidden))
    try:
        if joined.domain.is_Poly and n >= COUPLED and _most_terms(joined[:, :n]) <= TERMS:
            return [e.xreplace(back) for e in _fraction_free(joined, n)]
        joined = joined.to_field()
        solution = joined[:, :n].lu_solve(joined[:, n:]).to_Matrix()
    except DMNonInvertibleMatrixError:
        return None
    return [sympy.factor_terms(e.xreplace(back)) for e in solution]


def _most_terms(matrix: Any) -> int:
    """How many terms the determinant of a matrix of polynomials may have: a product of one entry of each row."""
    return prod(sum(len(e) for e in row.values()) for row in matrix.to_dod().values())


def _fraction_free(joined: Any, n: int) -> list[Expr]:
    """The solution as quotients of polynomials by the determinant.

    Elimination looks for common factors after every step, which takes hours for five coupled pendulums. Their determinant
    has no factor in common with the numerators, as a rule, but powers of symbols; so others are looked for at the end, where
    that is short.
    """
    from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

    matrix, above = joined[:, :n], joined[:, n:]
    *coefficients, last = matrix.charpoly()
    if not last:
        raise DMNonInvertibleMatrixError
    # Cayley and Hamilton: matrix times (matrix^(n-1) + c_1 matrix^(n-2) + ...) is -last
    for c in coefficients[1:]:
        above = matrix * above + c * joined[:, n:] if c else matrix * above
    ring, below, found = joined.domain, -last, []
    for e in above.to_list_flat():
        least = tuple(map(min, zip(*e.itermonoms(), *below.itermonoms(), strict=True)))
        num, den = (p.quo_term((least, ring.domain.one)) for p in (e, below))
        short = len(num) * len(den) <= CANCELLED
        if short:
            _, num, den = num.cofactors(den)
        quotient = ring.to_sympy(num) / ring.to_sympy(den)
        found.append(sympy.factor_terms(quotient) if short else quotient)
    return found


def rational(entries: Sequence[Expr]) -> tuple[list[Expr], dict[Symbol, Expr]]:
    """Expressions with a symbol in place of everything that is not rational (sines, roots), and what they stand for.

    SymPy allows for relations between such functions, and then computes without a field of fractions, which is slow.
    """
    names: dict[Expr, Symbol] = {}

    def hide(e: Expr) -> Expr:
        if e.is_Symbol or e.is_Rational or e.is_Float:
            return e
        if e.is_Add or e.is_Mul:
            return e.func(*(hide(a) for a in e.args))
        if e.is_Pow and e.exp.is_Integer:
            return hide(e.base) ** e.exp
        return names.setdefault(e, sympy.Dummy(f"g{len(names)}"))

    hidden = [hide(sympy.expand_power_base(sympy.expand_trig(e) if e.has(sympy.tan) else e)) for e in entries]
    return hidden, {s: e for e, s in names.items()}


def roots(equation: Expr, z: Symbol, budget: Budget) -> list[Expr]:
    """Where an expression vanishes as a function of z: by formula up to degree two, else as SymPy solves it."""
    polynomial = attempt(budget, sympy.Poly, equation, z)
    if polynomial is None or polynomial.degree() > 2:
        return list(attempt(budget, sympy.solve, equation, z, check=False) or [])
    c, b, a = (polynomial.nth(k) for k in range(3))
    if a == 0 == b:
        return []
    if a == 0:
        return [tidy(-c / b, budget)]
    root = sympy.sqrt(sympy.expand(b**2 - 4 * a * c))
    return [tidy((-b + sign * root) / (2 * a), budget) for sign in (1, -1)]


def by_powers(expression: Any, variables: Sequence[Any]) -> Expr:
    """An expression by powers of some variables with tidy coefficients, if it is quadratic in them; else tidy as a whole."""
    given = sympy.sympify(expression)
    e, own = fast(given), sorted(given.free_symbols | set(variables), key=str)

    def coefficient(part: Fast) -> Expr:
        return tidy(slow(substitute(part, dict.fromkeys(variables, 0)), own))

    slopes = gradient(e, variables)
    found = [coefficient(e), *(coefficient(d) * v for d, v in zip(slopes, variables, strict=True))]
    for i, (d, v) in enumerate(zip(slopes, variables, strict=True)):
        second = zip(gradient(d, variables[i:]), variables[i:], strict=True)
        found += [coefficient(c) * v * w / (2 if v == w else 1) for c, w in second]
    short = sympy.Add(*found)
    return short if vanishes(short - given) else tidy(given)
