"""Points to decide things at: on the constraint set, in general position there, with sixty digits.

Whether an expression vanishes on a constraint set, and what the rank of a matrix of functions is, are decided by value
at such points. Sixty digits leave little doubt between a small number and zero: a zero comes out below 1e-45 or so, or
about 1e-16 where a person gave coefficients like 0.1, and nothing above 1e-12 of its row is taken for one.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import sympy

from ..model.constraints import Constraint
from ..model.coordinates import Coordinate, time
from ..symbolic import Fast, fast, jacobian, magnitude

Point = dict[str, Any]
"""A value of high precision for every name."""

Grid = list[list[Any]]
"""A matrix of numbers of high precision, by rows."""

BITS = 200
_TOLERANCE = "1e-12"
_NOISE = "1e-30"  # what a function that vanishes may come out as; at these points nothing else is so small


@lru_cache(maxsize=1)
def _mp() -> Any:
    """The arithmetic of high precision, apart from the settings of anyone else."""
    import mpmath

    context = mpmath.mp.clone()
    context.prec = BITS
    return context


def _exactly(point: Point) -> dict[Any, Any]:
    import symengine

    return {symengine.Symbol(k): symengine.RealMPFR(str(v), BITS) for k, v in point.items()}


def value(expression: Any, point: Point) -> Any:
    """The value of an expression at a point; not-a-number where it has none."""
    return _value(expression, _exactly(point))


def _value(expression: Any, table: dict[Any, Any]) -> Any:
    mp = _mp()
    at = fast(expression).subs(table)
    try:
        return mp.mpf(str(at.n(BITS, real=True)))
    except (RuntimeError, ValueError, TypeError, ZeroDivisionError):
        pass
    try:  # SymEngine evaluates neither branches nor steps; SymPy does
        found = sympy.sympify(at).evalf(60)
        return mp.mpf(str(found)) if found.is_real and found.is_finite else mp.nan
    except (TypeError, ValueError, ZeroDivisionError, AttributeError):
        return mp.nan


def values(rows: Iterable[Sequence[Any]], point: Point) -> Grid | None:
    """The matrix of values at a point, or None if an entry has no finite value there."""
    mp, table = _mp(), _exactly(point)
    grid = [[mp.zero if e == 0 else _value(e, table) for e in row] for row in rows]
    return grid if all(mp.isfinite(v) for row in grid for v in row) else None


def independent(grid: Grid) -> tuple[list[int], dict[int, list[int]]]:
    """The rows that are independent of those before them, and for each other row those it is a combination of."""
    mp = _mp()
    tolerance = mp.mpf(_TOLERANCE)
    reduced: list[tuple[int, list[Any], list[Any]]] = []  # pivot column, row, how it is made of the kept rows
    kept: list[int] = []
    dependent: dict[int, list[int]] = {}
    for number, row in enumerate(grid):
        scale = max((abs(v) for v in row), default=mp.zero)
        if scale < mp.mpf(_NOISE):
            dependent[number] = []
            continue
        rest, made = [v / scale for v in row], [mp.zero] * len(grid)
        for column, base, how in reduced:
            factor = rest[column]
            rest = [r - factor * b for r, b in zip(rest, base, strict=True)]
            made = [m - factor * h for m, h in zip(made, how, strict=True)]
        column = max(range(len(rest)), key=lambda c: abs(rest[c]))
        if abs(rest[column]) <= tolerance:
            dependent[number] = [k for k in kept if abs(made[k]) > tolerance]
            continue
        pivot, made[number] = rest[column], made[number] + 1
        reduced.append((column, [r / pivot for r in rest], [m / pivot for m in made]))
        kept.append(number)
    return kept, dependent


def rank(grid: Grid) -> int:
    """The rank of a matrix of numbers, whatever the units of its rows."""
    return len(independent(grid)[0])


def highest_rank(rows: Sequence[Sequence[Any]], points: Iterable[Point]) -> int:
    """The rank of a matrix of functions: the highest among its values at the points."""
    grids = (values(rows, p) for p in points)
    return max((rank(g) for g in grids if g is not None), default=0)


def vanishes_at(expression: Any, points: Iterable[Point]) -> bool:
    """Whether an expression is zero at every point where it has a value, and has a value at one at least."""
    mp = _mp()
    e = fast(expression)
    if e == 0:
        return True
    terms, said = magnitude(e), False
    for point in points:
        here, size = value(e, point), value(terms, point)
        if not (mp.isfinite(here) and mp.isfinite(size)):
            continue
        if abs(here) > mp.mpf(_TOLERANCE) * max(size, mp.mpf("1e-20")):
            return False
        said = True
    return said


def points_on(
    functions: Sequence[Any],
    moved: Sequence[str],
    fixed: Sequence[str],
    count: int = 4,
    starts: int = 24,
) -> list[Point]:
    """Points where the functions vanish: random starts, brought there by Newton's method in the `moved` names.

    Where that fails for the values of the `fixed` names that came up, as for a linkage that does not close, those are
    moved too.
    """
    rng = random.Random(7)
    expressions = [fast(f) for f in functions]
    found: list[Point] = []
    mp = _mp()
    for attempt in range(starts):
        free = list(moved) if attempt < starts // 2 else [*moved, *fixed]
        start = {name: mp.mpf(rng.uniform(0.3, 1.7)) for name in (*moved, *fixed)}
        point = projected(expressions, start, free)
        if point is not None:
            found.append(point)
        if len(found) == count:
            break
    return found


def states_on(constraints: Iterable[Constraint], q: Sequence[Coordinate], names: Iterable[str] = ()) -> list[Point]:
    """States that satisfy constraints, velocities included; with values of time and of further names."""
    listed = list(constraints)
    functions = [c.expression for c in listed if c.is_holonomic] + [c.velocity_form(q) for c in listed]
    moved = [s.name for c in q for s in (c, c.dot)]
    others = {s.name for f in functions for s in f.free_symbols} | {time.name, *names}
    return points_on(functions, moved, sorted(others - set(moved)))


def projected(expressions: Sequence[Fast], start: Point, free: Sequence[str], steps: int = 80) -> Point | None:
    """The point near a start where the expressions vanish, by Newton steps of least length in the free names."""
    if not expressions:
        return start
    mp, point, polish = _mp(), dict(start), 2
    rows = jacobian(expressions, free)
    for _ in range(steps):
        grid, residual = values(rows, point), values([expressions], point)
        if grid is None or residual is None:
            return None
        if max(abs(v) for v in residual[0]) < mp.mpf("1e-30"):
            if polish == 0:
                return point
            polish -= 1
        kept = independent(grid)[0]
        if not kept:
            return point if max(abs(v) for v in residual[0]) < mp.mpf("1e-30") else None
        a = mp.matrix([grid[k] for k in kept])
        try:
            step = a.T * mp.lu_solve(a * a.T, mp.matrix([residual[0][k] for k in kept]))
        except ZeroDivisionError:
            return None
        if max(abs(v) for v in step) > 1e6:
            return None
        for name, change in zip(free, step, strict=True):
            point[name] -= change
    return None
