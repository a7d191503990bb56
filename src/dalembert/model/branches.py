"""The branches of a constraint: (x - 1)(y - z) = 0 has two, and (x - y)^2 = 0 is x - y = 0 written with a zero gradient.

Where the gradient of a constraint vanishes on its own set there is no multiplier: no multiple of a zero row is a reaction.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from operator import add
from random import Random
from typing import Any

import sympy
from sympy import Expr, Symbol

from ..decide.budget import Budget
from ..decide.sample import drawn
from ..decide.scale import natural_scales
from ..decide.zero import sign_at_samples
from ..errors import ModelError, ModelWarning, printed
from ..symbolic import expanded, fast, free_names, gradient, jacobian, magnitude, terms_of, vectorised
from .constraints import Constraint
from .coordinates import Coordinate, Velocity

LONGEST = 400
"""Constraints of more operations are not factored: that takes too long."""

LONG = 20_000
"""Polynomials that have more terms when multiplied out are not treated as polynomials."""


@dataclass(frozen=True)
class Branch:
    """Equations that together are one way to satisfy a constraint.

    equations:    expressions that all vanish; one, or those of a sum of squares
    is_repeated:  whether the gradient of the constraint as it was given vanishes wherever they do
    """

    equations: tuple[Expr, ...]
    is_repeated: bool


def branches(expression: Expr, unknowns: Collection[Symbol]) -> tuple[Branch, ...]:
    """The ways to satisfy expression = 0 for real values of the unknowns, by its factors and sums of squares.

    A constraint that is neither a product, a power nor a sum of squares has one branch: itself. One that cannot be
    satisfied because it is a sum of squares and a positive number has none.
    """
    if expression.count_ops() > LONGEST:
        return (Branch((expression,), False),)
    exact = expression.xreplace({f: sympy.Rational(str(f)) for f in expression.atoms(sympy.Float)})
    # The links of a chain have one form with different names: it is factored once.
    names = sorted(exact.free_symbols, key=lambda s: s.name)
    plain = {s: Symbol(f"s{k:03d}", real=True, positive=s.is_positive) for k, s in enumerate(names)}
    form = exact.xreplace(plain)
    found = _taken_apart(form, frozenset(plain[s] for s in names if s in unknowns))
    if found == (Branch((form,), False),):
        return (Branch((expression,), False),)
    back = {p: s for s, p in plain.items()}
    return tuple(replace(b, equations=tuple(e.xreplace(back) for e in b.equations)) for b in found)


@lru_cache(maxsize=256)
def _taken_apart(form: Expr, unknowns: frozenset[Symbol]) -> tuple[Branch, ...]:
    return tuple(dict.fromkeys(_branches(form, set(unknowns), 0)))


def _branches(e: Expr, unknowns: set[Symbol], depth: int) -> Iterator[Branch]:
    squares = _sum_of_squares(e, unknowns)
    if squares is not None:
        yield from _all_of(squares, unknowns, depth)
        return
    factors = [(b, k) for b, k in _factors(e, unknowns) if not (b.is_positive or b.is_negative)]
    if not factors:
        return
    if len(factors) > 1 and all(k == 1 for _, k in factors) and _apart([b for b, _ in factors], unknowns):
        yield Branch((e,), False)
        return
    if len(factors) == 1 and factors[0][1] == 1:
        yield from _of_factor(factors[0][0], e, unknowns, depth)
        return
    for base, power in factors:
        for branch in _of_factor(base, base, unknowns, depth):
            yield replace(branch, is_repeated=branch.is_repeated or power > 1)


def _apart(factors: list[Expr], unknowns: set[Symbol]) -> bool:
    """Whether no two of some factors vanish together because they differ by a constant, as s - l and s + l do."""

    def differ(a: Expr, b: Expr) -> bool:
        return any(not expanded(c).free_symbols & unknowns for c in (a - b, a + b))

    return all(differ(a, b) for a, b in combinations(factors, 2))


def _of_factor(base: Expr, as_given: Expr, unknowns: set[Symbol], depth: int) -> Iterator[Branch]:
    """The branches of a factor that has no rational factors: a quadratic one may have real ones, or be a sum of squares."""
    terms = _squares_completed(base, unknowns)
    if terms is None or depth > 3:
        yield Branch((as_given,), False)
    elif len({c > 0 for c, _ in terms}) == 1:
        if not any(form.is_number for _, form in terms):
            yield from _all_of([form for _, form in terms], unknowns, depth)
    elif len(terms) == 2 and not any(form.is_number for _, form in terms):
        (a, first), (b, second) = terms
        for sign in (1, -1):
            yield Branch((sympy.sqrt(abs(a)) * first + sign * sympy.sqrt(abs(b)) * second,), False)
    else:
        yield Branch((as_given,), False)


def _all_of(equations: list[Expr], unknowns: set[Symbol], depth: int) -> Iterator[Branch]:
    """All of some equations at once, each by one of its own branches."""
    for chosen in product(*(list(_branches(e, unknowns, depth + 1)) for e in equations)):
        yield Branch(tuple(dict.fromkeys(e for b in chosen for e in b.equations)), True)


def _factors(e: Expr, unknowns: set[Symbol]) -> list[tuple[Expr, int]]:
    """The factors of the numerator that contain an unknown, with their powers."""

    def factored() -> list[tuple[Expr, int]]:
        listed = sympy.factor_list(sympy.fraction(sympy.together(e))[0])[1]
        return [(sympy.sympify(b), int(k)) for b, k in listed if b.free_symbols & unknowns]

    if terms_of(e) > LONG:
        return [(e, 1)]
    try:
        return Budget(seconds=1.0).call(factored) or [(e, 1)]
    except sympy.PolynomialError:
        return [(e, 1)]


def _sum_of_squares(e: Expr, unknowns: set[Symbol]) -> list[Expr] | None:
    """What must vanish for a sum of even powers with coefficients of one sign to vanish; None if it is not such a sum."""
    terms = sympy.Add.make_args(e)
    if len(terms) < 2:
        return None
    bases, signs = [], set()
    for term in terms:
        constant, rest = term.as_independent(*unknowns, as_Add=False)
        power = sympy.sympify(rest).as_base_exp()
        if not (power[1].is_Integer and power[1] > 0 and power[1] % 2 == 0):
            return None
        if not (constant.is_positive or constant.is_negative):
            return None
        bases.append(power[0])
        signs.add(bool(constant.is_positive))
    return bases if len(signs) == 1 else None


def _squares_completed(e: Expr, unknowns: set[Symbol]) -> list[tuple[Expr, Expr]] | None:
    """A polynomial with numbers for coefficients as a sum of c l^2 (Lagrange), as a quadratic form in some monomials z.

    None if it is not such a form. Functions, such as sin(x), count as variables.
    """
    if e.free_symbols - unknowns or terms_of(e) > LONG:
        return None
    try:
        polynomial = sympy.Poly(e)
    except sympy.PolynomialError:
        return None
    if polynomial.total_degree() < 2 or not all(c.is_Rational for c in polynomial.coeffs()):
        return None
    powers = _half_monomials(polynomial)
    pairs: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for i, j in combinations_with_replacement(range(len(powers)), 2):
        pairs.setdefault(tuple(map(add, powers[i], powers[j])), []).append((i, j))
    G = sympy.zeros(len(powers), len(powers))
    for product_, c in polynomial.terms():
        if len(pairs.get(product_, ())) != 1:
            return None
        ((i, j),) = pairs[product_]
        G[i, j] += c / 2
        G[j, i] += c / 2
    z = sympy.Matrix([sympy.Mul(*map(sympy.Pow, polynomial.gens, p)) for p in powers])
    return _diagonal(G, z)


def _half_monomials(polynomial: sympy.Poly) -> list[tuple[int, ...]]:
    """The powers of 1 and the variables of a quadratic polynomial; else of 1 and monomials whose squares occur in it."""
    n = len(polynomial.gens)
    one = (0,) * n
    if polynomial.total_degree() == 2:
        return [one, *(tuple(int(k == i) for k in range(n)) for i in range(n))]
    even = [p for p in polynomial.monoms() if not any(k % 2 for k in p) and p != one]
    return [one, *(tuple(k // 2 for k in p) for p in even)]


def _diagonal(G: sympy.Matrix, z: sympy.Matrix) -> list[tuple[Expr, Expr]]:
    """z^T G z as a sum of c l^2 with l linear in z; z begins with the constant."""
    n = len(z)
    terms: list[tuple[Expr, Expr]] = []
    while not G.is_zero_matrix:
        # The constant comes last, so that a number added to squares is recognised.
        pivots = [k for k in (*range(1, n), 0) if G[k, k] != 0]
        if pivots:
            row, c = G[pivots[0], :], G[pivots[0], pivots[0]]
            terms.append((1 / c, (row * z)[0]))
            G = G - row.T * row / c
            continue
        i, j = next((a, b) for a in range(n) for b in range(a + 1, n) if G[a, b] != 0)
        a, b, c = G[i, :], G[j, :], G[i, j]
        terms += [(1 / (2 * c), ((a + b) * z)[0]), (-1 / (2 * c), ((a - b) * z)[0])]
        G = G - (a.T * b + b.T * a) / c
    return terms


def changes_sign(expression: Expr) -> bool:
    """Whether an expression has values of both signs, and so a zero."""
    return sign_at_samples(expression, (s.name for s in expression.free_symbols if s.is_positive), 60) == 0


def only_touches(expression: Expr, unknowns: Collection[Symbol], starts: int = 24) -> bool:
    """Whether zeros of an expression were found, by descent to it and then to zeros of its gradient, and all are flat."""
    import numpy as np

    e = fast(expression)
    names, moved = sorted(free_names([e])), sorted({s.name for s in unknowns} & free_names([e]))
    scales, rng = natural_scales([[e]], names), Random(3)
    positive = {s.name for s in expression.free_symbols if s.is_positive}
    drawn_at = [drawn(names, scales, rng, signs=(1, -1)) for _ in range(starts)]
    rows = np.array([[abs(at[n]) if n in positive else at[n] for n in names] for at in drawn_at])
    which, n, unit = [names.index(name) for name in moved], len(moved), np.array([scales[name] for name in moved])
    slopes = gradient(e, moved)
    look = vectorised(names, [e, magnitude(e), *slopes, *(d for row in jacobian(slopes, moved) for d in row)])

    def seen() -> tuple[Any, Any, Any, Any]:
        table = look(rows)
        return (
            table[:, 0],
            table[:, 1],
            table[:, 2 : 2 + n] * unit,
            table[:, 2 + n :].reshape(-1, n, n) * unit[:, None] * unit,
        )

    with np.errstate(all="ignore"):
        for attempt in range(80):
            value, _, slope, bend = seen()
            known = np.isfinite(value) & np.isfinite(slope).all(axis=1) & np.isfinite(bend).all(axis=(1, 2))
            rows, value, slope, bend = rows[known], value[known], slope[known], bend[known]
            down = (value / (slope**2).sum(axis=1))[:, None] * slope
            turn = np.einsum("kij,kj->ki", np.linalg.pinv(bend, rcond=1e-9), slope)
            rows[:, which] -= np.nan_to_num(down if attempt < 40 else turn) * unit
        value, size, slope, _ = seen()
        there = np.abs(value) <= 1e-12 * size
        flat = np.linalg.norm(slope, axis=1) <= 1e-4 * size
    return bool(there.any() and flat[there].all())


def check(name: str, constraints: Sequence[Constraint], coordinates: Sequence[Coordinate]) -> None:
    """Refuse a constraint whose gradient vanishes wherever it holds; warn of one with several branches."""
    unknowns = {s for q in coordinates for s in (q, q.dot)}
    for c in constraints:
        found = branches(c.expression, unknowns)
        if not found:
            raise ModelError(
                f"{name}: no configuration satisfies {printed(c.expression)} = 0: it is a sum of squares and a positive "
                f"number."
            )
        repeated = [b for b in found if b.is_repeated]
        if repeated:
            better = ", ".join(printed(e) for e in repeated[0].equations)
            raise ModelError(
                f"{name}: the gradient of {printed(c.expression)} vanishes wherever {better} does, so the constraint has no "
                f"multiplier there. Write {better} in constraints=[...] instead."
            )
        factors = [b.equations[0] for b in found if changes_sign(b.equations[0])]
        if len(factors) > 1:
            _warn(name, c, factors)
        if not factors and only_touches(c.expression, unknowns):
            raise ModelError(
                f"{name}: {printed(c.expression)} has the same sign on both sides of its zeros, so its gradient vanishes "
                f"there and the constraint has no multiplier. Write the equations that hold there, one by one, in "
                f"constraints=[...] instead."
            )


def _warn(name: str, c: Constraint, factors: Sequence[Expr]) -> None:
    idle = [f for f in factors if not any(isinstance(s, Velocity) for s in f.free_symbols)]
    listed = " or ".join(f"{printed(f)} = 0" for f in factors)
    text = f"{name}: the constraint {printed(c.expression)} = 0 is a product: it holds where {listed}. "
    if idle and len(idle) < len(factors):
        rest = [f for f in factors if f not in idle]
        text += (
            f"Where {printed(idle[0])} = 0 it says nothing about velocities. Write {printed(rest[0])} if that is meant."
        )
    else:
        text += (
            f"A motion stays on the branch of its start, and where two of them meet there are no multipliers. Write the "
            f"factor that is meant: {printed(factors[0])} or {printed(factors[1])}."
        )
    warnings.warn(text, ModelWarning, stacklevel=4)
