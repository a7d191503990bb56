"""The region in which velocity relations keep a function constant: everywhere, or while some expression does not vanish.

A function g found by quadratures satisfies dg = c_a omega^a near the points where it was found. Elsewhere it fails if c_a has
a pole (the relations then allow g to change), g has one, or g changes its branch (asin, roots, logarithms). Where
possible, branches are removed: asin(y) on the circle x^2 + y^2 = 1 as atan2(y, x), log(u) as log(u^2)/2. The rest is decided
by value, at points of the constraint set in all directions from those where g was found.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.balls import Point, value, values
from ...decide.elimination import rank
from ...decide.sample import projected
from ...model.branches import branches
from ...symbolic import fast, gradient
from ..algebra import read
from .integrability import Row

TRIES = 32
"""Points of the constraint set that are tried."""

NEAR, LARGE = sympy.Rational(1, 10**40), 1e15
"""If u is smaller by this factor, an expression with a pole at u = 0 is larger by at least this one: 1/sqrt(u) by 1e20."""


class Region:
    """The constraint set in all directions from some points of it, with the forms that vanish along motions.

    positions:  the constraints on positions
    rows:       independent forms over the variables
    """

    def __init__(
        self, positions: Sequence[Expr], rows: Sequence[Row], variables: Sequence[Symbol], points: Sequence[Point]
    ):
        self.positions, self.rows, self.variables = list(positions), list(rows), list(variables)
        self.base = [p for p in points if values(rows, p) is not None]
        self._functions = [fast(e) for e in positions]
        self._known: dict[Expr, tuple[list[Expr], list[Expr]]] = {}
        self.points = [*self.base, *self._around()]

    def _around(self) -> list[Point]:
        """Points with coordinates of both signs and several sizes, so that angles are in all four quadrants."""
        rng, found = random.Random(11), []
        names = [z.name for z in self.variables]
        for k in range(TRIES if self.base else 0):
            start = dict(self.base[k % len(self.base)])
            for name in names:
                start[name] = start[name] * rng.choice((1, -1)) * rng.uniform(0.2, 3)
            point = projected(self._functions, start, names)
            if point is not None:
                found.append(point)
        return found

    def near(self, u: Expr) -> list[Point]:
        """Points of the set where an expression is nearly zero: NEAR times its value elsewhere."""
        names, found = [z.name for z in self.variables], []
        at = [(abs(value(u, p)), p) for p in self.points]
        for branch in branches(u, self.variables):
            for _, start in sorted((pair for pair in at if pair[0].is_finite()), key=lambda pair: float(pair[0]))[:6]:
                level = [fast(e) - NEAR * fast(_decimal(value(e, start))) for e in branch.equations]
                point = projected([*self._functions, *level], start, names)
                if point is not None:
                    found.append(point)
                if len(found) >= 2:
                    break
        return found

    def keeps(self, g: Expr, point: Point) -> bool:
        """Whether dg is a combination of the forms at a point, where these are independent."""
        slopes, parts = self.parts_of(g)
        grid = values([*self.rows, slopes], point)
        if grid is None or values([parts], point) is None:
            return False
        return rank(grid) == len(self.rows) == rank(grid[:-1])

    def parts_of(self, g: Expr) -> tuple[list[Expr], list[Expr]]:
        """The slopes of g; and the parts that must have a value for g to have one: arc tangents always do."""
        if g not in self._known:
            slopes = [read(s, g, *self.variables) for s in gradient(g, self.variables)]
            parts = g.replace(sympy.atan2, lambda p, q: p + q).replace(sympy.atan, lambda u: u)
            self._known[g] = slopes, [parts.replace(sympy.asinh, lambda u: u)]
        return self._known[g]

    def has_pole(self, expressions: Sequence[Expr], u: Expr) -> bool:
        """Whether one of some expressions grows without bound, or has no value, where u goes to zero on the set."""
        near = [values([expressions], p) for p in self.near(u)]
        usual = [values([expressions], p) for p in self.base]
        if not near or None in near:
            return bool(near)
        sizes = [
            [max(float(abs(g[0][k])) for g in grids if g) for k in range(len(expressions))] for grids in (near, usual)
        ]
        return any(a > LARGE * b for a, b in zip(*sizes, strict=True))


def _decimal(ball: Any) -> sympy.Float:
    return sympy.Float(str(ball.mid().str(20, radius=False)), 20)


def continued(g: Expr, region: Region) -> Expr:
    """A form of g that is constant at as many points of the region as possible; g itself if no other is better."""

    def good(e: Expr) -> int:
        return sum(region.keeps(e, p) for p in region.points)

    best = _without_arctangents(g)  # jumps by pi cannot be seen in the slopes
    most = good(best)
    for form in _forms(g, region):
        if most == len(region.points):
            break
        now = good(form)
        if now > most:
            best, most = form, now
    return best


def _forms(g: Expr, region: Region) -> Iterator[Expr]:
    """Other ways to write a function, with fewer branches."""
    yield g
    plain = _without_logarithms(_without_arctangents(g.replace(sympy.Abs, lambda u: u)))
    yield plain
    for z in region.variables:
        for sign in (1, -1):
            rooted = _without_roots(plain, z, sign, region)
            if rooted != plain:
                yield rooted


def _without_arctangents(g: Expr) -> Expr:
    """atan(p/q) as atan2(p, q), which has the same slopes and no pole at q = 0."""

    def turned(u: Expr) -> Expr:
        p, q = sympy.fraction(sympy.together(u.rewrite(sympy.cos)))
        return sympy.atan2(p, q) if q.free_symbols else sympy.atan(u)

    return g.replace(sympy.atan, turned)


def _without_logarithms(g: Expr) -> Expr:
    """log(u) as log(u^2)/2, which is real on both sides of u = 0."""
    return g.replace(sympy.log, lambda u: sympy.log(u) if u.is_positive else sympy.log(u**2) / 2)


def _without_roots(g: Expr, z: Symbol, sign: int, region: Region) -> Expr:
    """asin, acos and square roots by a variable that is such a root on the constraint set."""

    def root(e: Expr) -> Expr | None:
        for f in region.positions:
            square = _square_of(z, f)
            if square is None:
                continue
            ratio = sympy.cancel(sympy.together(e / square))
            if not ratio.free_symbols & set(region.variables):
                return sign * z * sympy.sqrt(ratio)
        return None

    def power(base: Expr, exponent: Expr) -> Expr:
        w = root(base) if exponent.is_Rational and exponent.q == 2 else None
        return base**exponent if w is None else w ** (2 * exponent)

    def arcsine(u: Expr) -> Expr:
        w = root(1 - u**2)
        return sympy.asin(u) if w is None else sympy.atan2(u, w)

    def arccosine(u: Expr) -> Expr:
        w = root(1 - u**2)
        return sympy.acos(u) if w is None else sympy.atan2(w, u)

    return g.replace(sympy.asin, arcsine).replace(sympy.acos, arccosine).replace(sympy.Pow, power)


def _square_of(z: Symbol, f: Expr) -> Expr | None:
    """z^2 where f = a z^2 + b vanishes; None if f is not of that form."""
    if z not in f.free_symbols or not f.is_polynomial(z):
        return None
    polynomial = sympy.Poly(f, z)
    if polynomial.degree() != 2 or polynomial.nth(1) != 0:
        return None
    return -polynomial.nth(0) / polynomial.nth(2)


# Conditions


def conditions(g: Expr, combination: Sequence[Expr], region: Region) -> tuple[Any, ...] | None:
    """What must hold all along a motion for g to be constant; empty: nothing. None: it is not known what.

    First the signs of expressions that differ between points where g is constant and points where it is not; then
    expressions that must not vanish.
    """
    if not combination:  # not found within the budget: its poles are not known
        return None
    kept = [(p, region.keeps(g, p)) for p in region.points]
    good, bad = [p for p, yes in kept if yes], [p for p, yes in kept if not yes]
    if not good:
        return None
    suspects = list(dict.fromkeys(_suspects(g, combination, set(region.variables))))
    sides = _sides([*suspects, *_waves(g), *region.variables], good, bad) if bad else ()
    if sides is None:
        return None
    named = {r.lhs for r in sides}
    slopes = [*region.parts_of(g)[0], *combination]
    open_ = [sympy.Ne(u, 0) for u in suspects if u not in named and region.has_pole(slopes, u)]
    return (*sides, *open_)


def _suspects(g: Expr, combination: Sequence[Expr], variables: set[Symbol]) -> Iterator[Expr]:
    """Candidates that must not vanish: denominators, arguments of logarithms, bases of roots, cosines under tangents."""
    for e in (g, *combination):
        for node in sympy.preorder_traversal(e):
            if isinstance(node, sympy.Pow) and (node.exp.is_negative or node.exp.is_integer is False):
                yield from _factors(node.base, variables)
            elif isinstance(node, sympy.log):
                yield from _factors(node.args[0], variables)
            elif isinstance(node, (sympy.tan, sympy.sec)):
                yield sympy.cos(node.args[0])
            elif isinstance(node, (sympy.cot, sympy.csc)):
                yield sympy.sin(node.args[0])
            elif isinstance(node, (sympy.asin, sympy.acos, sympy.atanh, sympy.acosh)):
                yield 1 - node.args[0] ** 2


def _factors(e: Expr, variables: set[Symbol]) -> Iterator[Expr]:
    try:
        listed = [b for b, _ in sympy.factor_list(sympy.fraction(sympy.together(e))[0])[1]]
    except sympy.PolynomialError:
        listed = [e]
    yield from (b for b in listed if b.free_symbols & variables)


def _waves(g: Expr) -> list[Expr]:
    """Sines and cosines of the angles that occur."""
    angles = {a.args[0] for a in g.atoms(sympy.sin, sympy.cos, sympy.tan)}
    return [f(a) for a in sorted(angles, key=str) for f in (sympy.cos, sympy.sin)]


def _sides(candidates: Sequence[Expr], good: list[Point], bad: list[Point]) -> tuple[Any, ...] | None:
    """Inequalities u > 0 or u < 0, as few as possible, that hold at the good points and not all at any bad one."""
    table = []
    for u in dict.fromkeys(candidates):
        signs = {value(u, p) > 0 for p in good}
        if len(signs) == 1:
            above = signs.pop()
            cut = {k for k, p in enumerate(bad) if (value(u, p) > 0) != above}
            table.append((sympy.Gt(u, 0) if above else sympy.Lt(u, 0), cut))
    left, chosen = set(range(len(bad))), []
    while left:
        best = max(table, key=lambda pair: len(pair[1] & left), default=None)
        if best is None or not best[1] & left:
            return None
        chosen.append(best[0])
        left -= best[1]
    return tuple(chosen)
