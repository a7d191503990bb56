"""Whether a state given in numbers is at rest or in steady motion: up to rounding, in any units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, Inexact, localcontext
from functools import cache
from typing import Any

from sympy import Expr, Matrix, Symbol

from ...decide.zero import vanishes
from ...errors import ModelError
from ...model.coordinates import Coordinate
from ...model.system import System
from ...symbolic import Fast, fast, free_names, magnitude, number
from ..motion.lagrange import multipliers
from .matrices import neat, size_of

NEAR = 1e-8
"""A state given in numbers counts as steady if its relative distance from a steady one is below this."""

DIGITS, DOUBLE = 5, 15
"""A decimal of so many digits, from the first number to the second, was rounded: 3.14159 is pi. Doubles have more."""

ROUNDED = 1e-13
"""A sum smaller than this fraction of its terms is rounding."""


def refuse_unsteady(
    system: System, parts: Mapping[str, Sequence[Sequence[Fast]]], matrices: Mapping[str, Any], at: Mapping[Symbol, Any]
) -> None:
    """The constraints and the equations must hold at the state: `parts` as expressions, `matrices` with its numbers."""
    q = system.coordinates
    known = {**at, **dict(zip(multipliers(system), matrices["reactions"], strict=True))}
    values = {s.name: number(e, {}) for s, e in known.items() if not e.free_symbols}
    reach = _reach(q, matrices["second"], at)
    last = [_last_digit(at.get(c)) for c in q]
    rows = zip(
        system.constraints, parts["constraints"], matrices["constraints"], matrices["rates"].tolist(), strict=True
    )
    for c, (e,), value, row in rows:
        slopes = [fast(a) for a in c.coefficients]
        if not _is_zero(e, value, values, lambda s=slopes, r=row: _allowed(s, r, q, reach, last, values)):  # type: ignore[misc]
            raise ModelError(f"about: the state violates {c.expression} = 0: its value there is {value}.")
    forces = list(zip(parts["zeroth"], matrices["zeroth"].tolist(), strict=True))

    @cache
    def bounds() -> list[float]:
        own = [_allowed(slopes, row, q, reach, last, values) for slopes, row in forces]
        return [a + b for a, b in zip(own, _by_reactions(own, matrices), strict=True)]

    for k, (c, (e,), value) in enumerate(zip(q, parts["residual"], matrices["residual"], strict=True)):
        if not _is_zero(e, value, values, lambda k=k: bounds()[k]):  # type: ignore[misc]
            raise ModelError(
                f"about: this state is neither an equilibrium nor a steady motion: in the equation of {c} a force of "
                f"{neat(-value)} is left over. dalembert.equilibria(system, ...) finds the equilibria."
            )


def _by_reactions(allowed: Sequence[float], matrices: Mapping[str, Any]) -> list[float]:
    """What is left over in each equation by reactions that balance what may be left over in the others.

    Forces are compared by the root of the mass, as where the multipliers are sought.
    """
    masses, forms = matrices["second"], matrices["forms"]
    units = [m**-0.5 if (m := size_of(masses[i, i])) else 1.0 for i in range(len(allowed))]
    most = max((a * u for a, u in zip(allowed, units, strict=True)), default=0.0)
    found = [0.0] * len(allowed)
    for row in forms.tolist():
        sizes = [size_of(w) for w in row]
        largest = max((w * u for w, u in zip(sizes, units, strict=True)), default=0.0)
        found = [f + (w * most / largest if largest else 0.0) for f, w in zip(found, sizes, strict=True)]
    return found


def _reach(q: Sequence[Coordinate], masses: Matrix, at: Mapping[Symbol, Any]) -> list[float]:
    """The size of each coordinate: its own, or that of another one, compared by the root of the mass, free of units."""
    sizes = [size_of(at.get(c, 0)) for c in q]
    roots = [size_of(masses[i, i]) ** 0.5 for i in range(len(q))]
    largest = max((s * r for s, r in zip(sizes, roots, strict=True)), default=0.0)
    return [max(s, largest / r if r else 0.0) for s, r in zip(sizes, roots, strict=True)]


def _is_zero(e: Fast, value: Expr, values: Mapping[str, float], allowed: Callable[[], float]) -> bool:
    """Whether an expression vanishes at the state; in numbers, up to rounding or to what is allowed."""
    if value.free_symbols:
        return vanishes(value)
    if value.is_Rational:
        return bool(value == 0)
    left = abs(number(value, {}))
    return bool(left <= ROUNDED * number(magnitude(e), values) or left <= allowed())


def _allowed(
    slopes: Sequence[Fast], row: Sequence[Expr], q: Sequence[Coordinate],
    reach: Sequence[float], last: Sequence[float], values: Mapping[str, float],
) -> float:  # fmt: skip
    """By how much an expression changes with a relative change NEAR of the state, or with what was rounded when it was typed.

    slopes, row:  its derivatives by the coordinates, as expressions and at the state
    reach, last:  how large each coordinate is, and half a unit of the last digit that was typed
    """
    sizes = [size_of(a) for a in row]
    bends = (a * _bend(d, c, a, values) for a, d, c in zip(sizes, slopes, q, strict=True) if a)
    moved = sum(a * max(NEAR * r, digit) for a, r, digit in zip(sizes, reach, last, strict=True))
    return max(moved, NEAR * sum(bends))


def _last_digit(given: Any) -> float:
    """Half a unit of the last digit of a number that was rounded; 0 of other numbers and of expressions."""
    if not getattr(given, "is_Rational", False) or given.is_Integer:
        return 0.0
    with localcontext(prec=DOUBLE) as rounding:
        typed = (Decimal(given.p) / Decimal(given.q)).normalize().as_tuple()
    is_decimal = not rounding.flags[Inexact] and len(typed.digits) >= DIGITS
    return 0.5 * 10.0 ** int(typed.exponent) if is_decimal else 0.0


def _bend(slope: Fast, q: Coordinate, size: float, values: Mapping[str, float]) -> float:
    """The displacement of a coordinate at which a slope changes by a tenth; 0 if it does not change."""
    if q.name not in free_names([slope]):
        return 0.0
    here = values.get(q.name, 0.0)
    start = number(slope, {**values, q.name: here})
    for k in range(-200, 201, 4):
        if abs(number(slope, {**values, q.name: here + 2.0**k}) - start) > 0.1 * size:
            return 2.0**k
    return 0.0


def without_rounding(rows: Sequence[Sequence[Fast]], found: Matrix, at: Mapping[str, float]) -> Matrix:
    """A matrix at a state in decimals, without entries whose terms cancel: a multiplier that balances a spring leaves
    rounding, and motions as slow as that seem to grow.
    """
    kept = found.copy()
    for i, row in enumerate(rows):
        for j, e in enumerate(row):
            if found[i, j].is_number and free_names([e]) <= at.keys():
                size = number(magnitude(e), dict(at))
                kept[i, j] = 0 if abs(float(found[i, j])) <= ROUNDED * size else found[i, j]
    return kept
