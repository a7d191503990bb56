"""Where a mass matrix degenerates: the zeros of its determinant, factor by factor, and its sign elsewhere.

A chart can be singular (spherical coordinates at the poles) or an inertia missing (a joint without mass); either way the
determinant vanishes there and the accelerations are not determined by the equations.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import sympy
from sympy import Eq, Expr, Matrix, Symbol, cos, sin

from ...decide import balls
from ...decide.balls import Point
from ...decide.budget import Budget
from ...decide.elimination import highest_rank
from ...decide.sample import points
from ...display import Part, Shown, Table
from ...model.coordinates import Parameter
from ...model.system import System
from ...symbolic import fast, magnitude, number, numpy_function
from ..algebra import pythagoras, shortest, tidy, with_short_exponents
from .lagrange import mass_matrix

SAMPLES = 12
"""Number of random points, besides those on both sides of every boundary between branches."""

Verdict = Literal["has zeros", "has no zeros", "no zero was found"]


@dataclass(frozen=True)
class Factor:
    """A factor of the determinant, how often it occurs, and whether it vanishes somewhere (with the reason)."""

    expression: Expr
    power: int
    verdict: Verdict
    reason: str


@dataclass(frozen=True, repr=False)
class Degeneracy(Shown):
    """The determinant of a mass matrix and its zeros, and whether the matrix is positive definite elsewhere.

    determinant:  in factored form; None if it was not found within the budget
    factors:      those that contain coordinates or time, or may vanish for some parameters
    definite:     whether the matrix was positive definite at all random points (parameters positive); None if it had a
                  value at none of them
    """

    determinant: Expr | None
    factors: tuple[Factor, ...]
    definite: bool | None

    @property
    def conditions(self) -> tuple[Eq, ...]:
        """Where the matrix is singular: one equation for each factor that has zeros."""
        return tuple(Eq(f.expression, 0, evaluate=False) for f in self.factors if f.verdict == "has zeros")

    def _parts(self) -> list[Part]:
        signs = {
            True: "The mass matrix is positive definite at all random points tried.",
            False: "The mass matrix is NOT positive definite at a random point.",
            None: "The mass matrix has no value at the random points tried.",
        }
        if self.determinant is None:
            return [
                signs[self.definite],
                "Its determinant was not found in closed form: singular points are not known.",
            ]
        parts: list[Part] = [signs[self.definite], ("determinant", self.determinant)]
        if self.factors:
            rows = [(f.expression, f.power, f.verdict, f.reason) for f in self.factors]
            parts.append(Table(("factor", "power", "verdict", "reason"), rows))
        if self.conditions:
            told = " or ".join(f"{c.lhs} = 0" for c in self.conditions)
            return [*parts, f"It is singular where {told}: accelerations are not determined there."]
        sure = all(f.verdict == "has no zeros" for f in self.factors)
        return [*parts, "It is regular everywhere." if sure else "No singular point was found."]


def degeneracy(mass: Matrix, system: System) -> Degeneracy:
    """The zeros of the determinant of a mass matrix."""
    budget = Budget(seconds=3)
    whole = budget.call(_determinant, mass)
    factored = None if whole is None else budget.call(_factored, whole)
    factors = () if factored is None else tuple(_factors(factored))
    return Degeneracy(factored, factors, _definite(mass, system))


@lru_cache(maxsize=64)
def is_degenerate(system: System) -> bool:
    """Whether the mass matrix is singular at all states: then only constraints can determine the accelerations."""
    mass = mass_matrix(system)
    return highest_rank(mass, _places([e for row in mass for e in row], system.parameters)) < len(mass)


def _places(expressions: Sequence[Any], parameters: Iterable[Symbol]) -> Iterator[Point]:
    """Random points at the scale of some expressions, on both sides of every boundary between branches; parameters are
    positive.
    """
    positive = {p.name for p in parameters}
    for _, at in points(expressions, SAMPLES):
        with balls.precise() as flint:
            yield {name: flint.arb(abs(x) if name in positive else x) for name, x in at.items()}


def _determinant(mass: Matrix) -> Expr:
    """Exact and without divisions, over the ring of polynomials in whatever occurs."""
    from sympy.polys.matrices import DomainMatrix

    entries = DomainMatrix.from_Matrix(mass)
    last = entries.charpoly()[-1]
    return entries.domain.to_sympy(last) * (-1) ** mass.shape[0]


def _factored(determinant: Expr) -> Expr:
    """The shortest factored form; sums of angles are also tried in expanded form, and multiples of them.

    Angles are counted in the largest unit of which all are multiples: the sine of 10^12 x is no polynomial of that of x.
    """
    unit: dict[Symbol, Expr] = {}
    for wave in determinant.atoms(sin, cos):
        for s in wave.free_symbols:
            factor = wave.args[0].coeff(s)
            if factor.is_Rational and factor != 0:
                unit[s] = sympy.gcd(unit.get(s, sympy.S.Zero), factor)
    plain = _factored_plain(determinant.subs({s: s / g for s, g in unit.items()}, simultaneous=True))
    return plain.subs({s: s * g for s, g in unit.items()}, simultaneous=True)


def _factored_plain(determinant: Expr) -> Expr:
    forms = [determinant, apart] if (apart := sympy.expand_trig(determinant)) != determinant else [determinant]
    forms += [pythagoras(sympy.expand(f), *pair) for f in tuple(forms) for pair in ((cos, sin), (sin, cos))]
    plain, *others = (with_short_exponents(sympy.factor, f) for f in forms)
    return shortest(plain, *others)


def _factors(determinant: Expr) -> list[Factor]:
    found = []
    for term in sympy.Mul.make_args(determinant):
        base, power = term.as_base_exp()
        if power.is_Integer and power > 0 and not (base.is_number or base.is_positive):
            found.append(Factor(base, int(power), *_verdict(base)))
    return sorted(found, key=lambda f: f.verdict)


def _verdict(f: Expr) -> tuple[Verdict, str]:
    if not f.free_symbols - {s for s in f.free_symbols if isinstance(s, Parameter)}:
        return "no zero was found", "it depends on parameters alone"
    for form in (f, pythagoras(sympy.expand(f), cos, sin), pythagoras(sympy.expand(f), sin, cos), tidy(f)):
        for signed, sign in ((form, "positive"), (-form, "negative")):
            if _is_positive(signed):
                return "has no zeros", f"it is always {sign}"
    point = _zero(f)
    if point is None:
        return "no zero was found", "by search from random points, parameters positive"
    return "has zeros", f"e.g. at {', '.join(f'{s} = {x:.4g}' for s, x in point.items())}"


def _is_positive(f: Expr) -> bool:
    """Whether a lower bound is positive: of f, or of its least value as a quadratic function of one of its symbols."""
    if _lower_bound(f).is_positive:
        return True
    for x in sorted(f.free_symbols, key=lambda s: s.name):
        p = sympy.Poly(f, x) if f.is_polynomial(x) else None
        if p is not None and p.degree() == 2:
            c, b, a = (p.nth(k) for k in range(3))
            if a.is_positive and _lower_bound(tidy(sympy.cancel(c - b**2 / (4 * a)))).is_positive:
                return True
    return False


def _lower_bound(f: Expr) -> Expr:
    """A lower bound: squares count as zero, products of sines and cosines as one, each with the less favourable sign."""
    bound: Expr = sympy.S.Zero
    for term in sympy.Add.make_args(sympy.expand(f)):
        waves = [a for a in sympy.Mul.make_args(term) if isinstance(a.as_base_exp()[0], sin | cos)]
        rest = term / sympy.Mul(*waves)
        even = all(a.as_base_exp()[1].is_even for a in waves)
        if rest.is_nonnegative and (even or not waves):
            bound += sympy.S.Zero if waves or not rest.is_positive else rest
        elif rest.is_nonnegative or rest.is_nonpositive:
            bound -= abs(rest)
        else:
            return sympy.S.NegativeInfinity
    return sympy.expand(bound)


def _zero(f: Expr) -> dict[Symbol, float] | None:
    """A point where f vanishes, to rounding, found from random points; parameters have positive values."""
    import numpy as np
    from scipy.optimize import least_squares

    parameters = [s for s in f.free_symbols if isinstance(s, Parameter)]
    places = sorted(f.free_symbols - set(parameters), key=lambda s: s.name)
    largest = max(abs(c) for c in f.as_coefficients_dict().values())  # decimals become integers of many digits
    scaled = sympy.expand(f / largest)
    compiled = numpy_function([places, parameters], scaled)
    terms, rng = magnitude(fast(scaled)), random.Random(0)
    for at in _places([scaled], parameters):
        values = np.array([float(at[p.name]) for p in parameters])
        start = np.array([float(at[s.name]) * rng.uniform(0.2, 2) * rng.choice((1, -1)) for s in places])
        with np.errstate(all="ignore"):
            size = abs(float(compiled(start, values)))
            if not 0 < size < np.inf:
                continue

            def residual(z: Any, unit: Any = start, values: Any = values, size: float = size) -> Any:
                return np.atleast_1d(np.nan_to_num(compiled(unit * z, values) / size, nan=1e3, posinf=1e3, neginf=-1e3))

            found = least_squares(residual, np.ones(len(start)), xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200)
        # a double zero such as that of 1 - cos is found only to the square root of the rounding error
        reached = dict(zip(places, (start * found.x).tolist(), strict=True))
        whole = number(terms, {s.name: x for s, x in (*reached.items(), *zip(parameters, values, strict=True))}) / size
        if abs(found.fun[0]) <= 1e-12 * max(1.0, whole if np.isfinite(whole) else 0.0):
            return {s: _shortened(x, abs(unit)) for (s, x), unit in zip(reached.items(), start, strict=True)}
    return None


def _shortened(x: float, scale: float) -> float:
    """Rounded to the digits that the search determines."""
    return float(f"{x:.7g}") if abs(x) > 1e-6 * scale else 0.0


def _definite(mass: Matrix, system: System) -> bool | None:
    """Whether the matrix is positive definite at all random points where it has a value and is regular."""
    n, seen = mass.shape[0], None
    entries = [[fast(e) for e in mass.row(i)] for i in range(n)]
    for at in _places([e for row in entries for e in row], system.parameters):
        with balls.precise() as flint:
            grid = balls.values(entries, at)
            minors = [flint.arb_mat([row[:k] for row in grid[:k]]).det() for k in range(1, n + 1)] if grid else []
        if any(d < 0 for d in minors):
            return False
        seen = (bool(minors) and all(d > 0 for d in minors)) or seen
    return seen
