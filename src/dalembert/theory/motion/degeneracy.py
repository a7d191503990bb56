"""Where a mass matrix degenerates: the zeros of its determinant, factor by factor, and its sign elsewhere.

A chart can be singular (spherical coordinates at the poles) or an inertia missing (a joint without mass); either way the
determinant vanishes there and the accelerations are not determined by the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import sympy
from sympy import Eq, Expr, Matrix, Symbol, cos, sin

from ...decide.budget import Budget
from ...display import Part, Shown, Table
from ...model.coordinates import Parameter, time
from ...model.system import System
from ...symbolic import fast, free_names, magnitude, number, numpy_function
from ..algebra import pythagoras, shortest, tidy, with_short_exponents
from .lagrange import mass_matrix

SIZES = (1.0, 1.0, 1.0, 1.0, 1e-3, 1e3, 1e-6, 1e6, 1e-9, 1e9, 1e-12, 1e12)
"""Sizes of positions at the random points: their natural size need not be one."""

SAMPLES = len(SIZES)
"""Number of random points at which the matrix is evaluated."""

Verdict = Literal["has zeros", "has no zeros", "no zero was found"]


@dataclass(frozen=True)
class Factor:
    """A factor of the determinant, how often it occurs, and whether it vanishes somewhere (with the reason)."""

    expression: Expr
    power: int
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
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
            True: f"The mass matrix is positive definite at {SAMPLES} random points.",
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
    import numpy as np

    mass, rng = mass_matrix(system), np.random.default_rng(0)
    names = sorted(free_names(e for row in mass for e in row))
    for size in (1.0, 1e-4, 1e-8, 1e4, 1e8):  # sqrt(1 - v^2) has no value at high velocities
        for _ in range(4):
            point = {name: float(rng.uniform(0.3, 1.7)) * (size if name.endswith(".dot") else 1.0) for name in names}
            matrix = np.array([[number(e, point) if e != 0 else 0.0 for e in row] for row in mass], dtype=float)
            if np.isfinite(matrix).all() and is_regular(matrix):
                return False
        if not names:
            break
    return True


def is_regular(matrix: Any) -> bool:
    """Whether a matrix of numbers has full rank, whatever the units of its rows and columns."""
    import numpy as np

    row = np.abs(matrix).max(axis=1, keepdims=True)
    if not row.all():
        return False
    column = np.abs(matrix / row).max(axis=0, keepdims=True)
    return bool(column.all() and np.linalg.matrix_rank(matrix / row / column, tol=1e-9) == len(matrix))


def _determinant(mass: Matrix) -> Expr:
    """Exact and without divisions, over the ring of polynomials in whatever occurs."""
    from sympy.polys.matrices import DomainMatrix

    entries = DomainMatrix.from_Matrix(mass)
    last = entries.charpoly()[-1]
    return entries.domain.to_sympy(last) * (-1) ** mass.shape[0]


def _factored(determinant: Expr) -> Expr:
    """The shortest factored form; sums of angles are also tried in expanded form."""
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
    terms, rng = magnitude(fast(scaled)), np.random.default_rng(0)
    for scale in SIZES:
        values = rng.uniform(0.3, 1.7, len(parameters))
        start = scale * rng.uniform(-3, 3, len(places))
        with np.errstate(all="ignore"):
            size = abs(float(compiled(start, values)))
            if not 0 < size < np.inf:
                continue

            def residual(x: Any, values: Any = values, size: float = size) -> Any:
                return np.atleast_1d(np.nan_to_num(compiled(x, values) / size, nan=1e3, posinf=1e3, neginf=-1e3))

            found = least_squares(
                residual, start, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200, x_scale=np.abs(start)
            )
        # a double zero such as that of 1 - cos is found only to the square root of the rounding error
        at = {s.name: float(x) for s, x in (*zip(places, found.x, strict=True), *zip(parameters, values, strict=True))}
        whole = number(terms, at) / size
        if abs(found.fun[0]) <= 1e-12 * max(1.0, whole if np.isfinite(whole) else 0.0):
            return {s: _shortened(float(x), scale) for s, x in zip(places, found.x, strict=True)}
    return None


def _shortened(x: float, scale: float) -> float:
    """Rounded to the digits that the search determines."""
    return float(f"{x:.7g}") if abs(x) > 1e-6 * scale else 0.0


def _definite(mass: Matrix, system: System) -> bool | None:
    """Whether the matrix is positive definite at all random points where it has a value."""
    import numpy as np

    rng = np.random.default_rng(0)
    entries = [[fast(e) for e in mass.row(i)] for i in range(mass.shape[0])]
    seen: bool | None = None
    for size in SIZES:
        point = {s.name: size * float(rng.uniform(-1.5, 1.5)) for s in (*system.coordinates, time)}
        point |= {p.name: float(rng.uniform(0.3, 1.7)) for p in system.parameters}
        matrix = np.array([[number(e, point) for e in row] for row in entries])
        if not np.isfinite(matrix).all() or (size != 1 and not np.diag(matrix).all()):
            continue  # no value there, or an entry such as 1 - cos(x) is zero by cancellation
        scale = np.sqrt(np.abs(np.diag(matrix)))
        if not (np.diag(matrix) > 0).all() or np.linalg.eigvalsh(matrix / np.outer(scale, scale)).min() < -1e-12:
            return False
        seen = True
    return seen
