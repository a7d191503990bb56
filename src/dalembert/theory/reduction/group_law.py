"""The group law of an action Phi(g, q), from the action alone: c with Phi(c, q) = Phi(a, Phi(b, q)) for all q.

The values and the derivatives of both sides at one place are equations for c. They are linear in some functions of c
(components, products, sines and cosines); those that the equations determine are inverted near the identity. What is found is
compared with the action by value.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy
from sympy import Expr, Symbol, cos, sin
from sympy.polys.matrices import DomainMatrix

from ...decide import balls
from ...decide.balls import Point
from ...decide.budget import Budget, BudgetSpentError
from ...decide.elimination import independent
from ...decide.scale import natural_scales
from ...decide.zero import vanishes_at
from ...model.group_coordinate import GroupCoordinate
from ...symbolic import fast, free_names, jacobian, slow, substitute
from ..algebra import attempt, rational, tidy

NEAR = 0.125
"""Distance of random group elements from the identity, in their scale."""

SECONDS = 10
"""Seconds that one call into computer algebra may take."""

Identity = Mapping[Symbol, Expr]
"""The symbols of group elements with their values at the identity."""


def near_identity(
    expressions: Sequence[Any], identity: Identity, count: int = 4, on: Sequence[GroupCoordinate] = ()
) -> list[Point]:
    """Random points for some expressions, the group elements near the identity; entries of matrices are those of points."""
    listed = [fast(e) for e in expressions]
    names = sorted(free_names(listed) | {g.name for g in identity})
    sizes = {e: size for R in on for e, size in R.entry_sizes.items()}
    sized = [substitute(e, sizes) for e in listed] if sizes else listed
    scales = natural_scales([[e] for e in sized], sorted({*names, *(d.name for R in on for d in R.directions)}))
    rng = random.Random(0)
    centre = {g.name: balls.value(e, {}) for g, e in identity.items()}
    found: list[Point] = []
    for _ in range(count):
        at: dict[str, Any] = {
            n: balls.exactly(scales.get(n, 1.0) * rng.uniform(0.3, 1.7) * rng.choice((1, 1, -1))) for n in names
        }
        for name, e in centre.items():
            unit = scales.get(name, 1.0) if e.contains(0) else abs(float(e))
            at[name] = e + balls.exactly(NEAR * rng.uniform(0.3, 1.7) * rng.choice((1, -1)) * unit)
        for R in on:
            at |= _point(R, [scales.get(d.name, 1.0) for d in R.directions], rng)
        found.append(at)
    return found


def _point(R: GroupCoordinate, sizes: Sequence[float], rng: random.Random) -> dict[str, Any]:
    """The entries of a random point of a group, exactly on it: Cayley's map of fractions."""
    xi = [
        sympy.Rational(round(64 * rng.uniform(0.3, 1.7) * rng.choice((1, -1))), 64) * sympy.Rational(size)
        for size in sizes
    ]
    rows = R.group.cayley_rows(xi)
    return {e.name: balls.value(sympy.sympify(rows[e.place[0]][e.place[1]]), {}) for e in R.entries}


def equal_near(pairs: Sequence[tuple[Any, Any]], identity: Identity, on: Sequence[GroupCoordinate] = ()) -> bool:
    """Whether expressions are equal in pairs, by value, at random points near the identity."""
    points = near_identity([e for pair in pairs for e in pair], identity, on=on)
    return all(vanishes_at(fast(x) - fast(y), points) for x, y in pairs)


def places(coordinates: Sequence[Symbol]) -> Iterator[dict[Symbol, Expr]]:
    """Where both sides are compared: simple numbers first, other ones where an action has no value there."""
    for value in (sympy.S.Zero, sympy.S.One):
        yield dict.fromkeys(coordinates, value)
    yield {q: sympy.Rational(k + 2, k + 3) for k, q in enumerate(coordinates)}


def jets(images: Sequence[Expr], coordinates: Sequence[Symbol], at: Mapping[Symbol, Expr], order: int) -> list[Expr]:
    """The values and the derivatives up to some order of some functions of q at one place."""
    symbols = {s for e in images for s in e.free_symbols}
    level, found = [fast(e) for e in images], []
    for _ in range(order + 1):
        found += level
        level = [d for row in jacobian(level, coordinates) for d in row]
    there = {fast(q): fast(e) for q, e in at.items()}
    return [slow(e.subs(there), symbols) for e in found]


def solve_near(
    equations: Sequence[tuple[Expr, Expr]],
    unknowns: Sequence[Symbol],
    guesses: Mapping[Symbol, Sequence[Expr]],
    identity: Identity,
) -> list[Expr] | None:
    """The unknowns for which left = right in all pairs, near the identity; None if they are not found in closed form.

    guesses:   simple forms of each unknown, tried where one of its functions is known
    identity:  the values at the identity of all group elements that occur, of the unknowns too
    """
    found: dict[Symbol, Expr] = {}
    while len(found) < len(unknowns):
        open_ = [u for u in unknowns if u not in found]
        left = [(x.xreplace(found), y) for x, y in equations]
        known = _determined(left, open_, identity)
        new = {}
        for u in open_:
            value = _inverted(u, known, guesses[u], identity)
            if value is not None:
                new[u] = _short(value)
        if not new:
            return None
        found |= new
    return [found[u] for u in unknowns]


def _short(e: Expr) -> Expr:
    """The shortest form found; of a quotient of polynomials with common factors cancelled."""
    if not e.atoms(sympy.Function) and e.count_ops() > 20:
        e = attempt(Budget(seconds=SECONDS), lambda: sympy.factor(sympy.cancel(e))) or e
    return tidy(e)


def _determined(
    equations: Sequence[tuple[Expr, Expr]], unknowns: Sequence[Symbol], identity: Identity
) -> dict[Expr, Expr]:
    """The functions of the unknowns that the equations, linear in them, determine: {function: its value}."""
    letters = {sympy.Dummy(f"r{k}"): y for k, (_, y) in enumerate(equations)}
    rows = [
        row
        for (x, _), r in zip(equations, letters, strict=True)
        if x.free_symbols & set(unknowns) and (row := _as_linear(x - r, unknowns)) is not None
    ]
    functions = sorted({f for row in rows for f in row if f != 1}, key=lambda f: (-f.count_ops(), str(f)))
    table = [[row.get(f, sympy.S.Zero) for f in (*functions, sympy.S.One)] for row in rows]
    if not functions:
        return {}
    values = [[e.xreplace(letters) for e in row] for row in table]
    at = near_identity([e for row in values for e in row], identity, count=1)[0]
    grid = balls.values([row[:-1] for row in values], at)
    if grid is None:
        return {}
    kept = [table[k] for k in independent(grid)[0]]
    reduced = _echelon(kept, len(functions))
    found = {}
    for line in reduced or []:
        entries = [(f, e) for f, e in zip(functions, line, strict=False) if e != 0]
        if len(entries) == 1:
            found[entries[0][0]] = (-line[-1] / entries[0][1]).xreplace(letters)
    return found


def _as_linear(e: Expr, unknowns: Sequence[Symbol]) -> dict[Expr, Expr] | None:
    """An expression times its denominator, a sum of coefficients times functions of the unknowns: {function: coefficient}."""
    sums = [f for f in e.atoms(sin, cos) if f.args[0].is_Add and f.args[0].free_symbols & set(unknowns)]
    e = e.xreplace({f: sympy.expand_trig(f) for f in sums})
    top = attempt(Budget(seconds=SECONDS), lambda: sympy.expand(sympy.fraction(sympy.together(e))[0]))
    if top is None:
        return None
    found: dict[Expr, Expr] = {}
    for term in sympy.Add.make_args(top):
        coefficient, function = term.as_independent(*unknowns, as_Add=False)
        found[function] = found.get(function, sympy.S.Zero) + coefficient
    return found


def _echelon(rows: Sequence[Sequence[Expr]], width: int) -> list[list[Expr]] | None:
    """The reduced echelon form of a matrix, its functions other than rational ones taken as letters."""
    hidden, back = rational([e for row in rows for e in row])
    matrix = sympy.Matrix(len(rows), width + 1, hidden)
    try:
        reduced = Budget(seconds=SECONDS).call(lambda: DomainMatrix.from_Matrix(matrix).to_field().rref()[0])
    except BudgetSpentError:
        return None
    return None if reduced is None else [[e.xreplace(back) for e in row] for row in reduced.to_Matrix().tolist()]


def _inverted(u: Symbol, known: Mapping[Expr, Expr], guesses: Sequence[Expr], identity: Identity) -> Expr | None:
    """An unknown from the functions of it that are known."""
    if u in known:
        return known[u]
    own = {f: e for f, e in known.items() if f.free_symbols & set(identity) <= {u} and u in f.free_symbols}
    if not own:
        return _angle(u, known, identity)
    for guess in guesses:
        if equal_near([(f.xreplace({u: guess}), e) for f, e in own.items()], identity):
            return guess
    turned = _angle(u, known, identity)
    if turned is not None:
        return turned
    for f, e in own.items():
        r = sympy.Dummy("r", real=True)
        for root in attempt(Budget(seconds=SECONDS), sympy.solve, f - r, u) or []:
            start = root.xreplace({r: f.xreplace({u: identity[u]})})
            if not root.has(sympy.I) and sympy.simplify(start - identity[u]) == 0:
                return root.xreplace({r: e})
    return None


def _angle(u: Symbol, known: Mapping[Expr, Expr], identity: Identity) -> Expr | None:
    """An angle from m cos(u) and m sin(u), with an m that is not zero at the identity."""
    for f, e in known.items():
        m, turned = f.as_independent(u, as_Add=False)
        partner = m * sin(u)
        if turned != cos(u) or partner not in known:
            continue
        size = m.xreplace(dict(identity))
        if size.is_positive or size.is_negative:
            return sympy.atan2(known[partner], e) if size.is_positive else sympy.atan2(-known[partner], -e)
    return None
