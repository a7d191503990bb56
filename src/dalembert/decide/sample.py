"""Sample points for decisions: at the scale of the expressions, over some decades around it, in every branch.

All random points are drawn here. The same expressions always get the same points.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..symbolic import Fast, fast, free_names, jacobian, number, vectorised
from . import balls
from .balls import Ball, Point
from .elimination import independent
from .scale import natural_scales

_NEAR = (0.2, 1e-3, 1e-7)
"""Distances from a boundary at which its sides are sampled: branches may be narrow."""

_FAR = 2.0**60
"""Newton's method counts as divergent at so many scales from its start."""


def drawn(
    names: Sequence[str],
    scales: Mapping[str, float],
    rng: random.Random,
    decades: float = 0.0,
    signs: Sequence[int] = (1,),
) -> dict[str, float]:
    """A random number for every name, near its scale."""
    return {
        n: scales.get(n, 1.0) * rng.uniform(0.3, 1.7) * 10 ** rng.uniform(-decades, decades) * rng.choice(signs)
        for n in names
    }


def points(expressions: Iterable[Any], attempts: int = 32) -> Iterator[tuple[int, dict[str, float]]]:
    """Random points for some expressions, numbered: positive ones first, then of both signs.

    The first few are followed, under the same number, by points on both sides of every boundary between branches.
    """
    listed = [fast(e) for e in expressions]
    every = sorted(free_names(listed))
    scales = natural_scales([[e] for e in listed], every)
    kinks = boundaries(listed)
    rng = random.Random(0)
    for attempt in range(attempts):
        late = attempt >= attempts // 2
        at = drawn(every, scales, rng, 1.5 if attempt % 3 == 1 else 0.0, (1, -1) if late else (1,))
        yield attempt, at
        for kink in kinks if attempt < 3 else []:
            yield from ((attempt, there) for there in across(kink, at, scales, rng))
        for _ in range(min(2 ** len(kinks), 8) if attempt == 0 and len(kinks) > 1 else 0):
            yield attempt, in_branches(kinks, at, scales, rng)


def points_where(
    expressions: Sequence[Any], positive: Sequence[Any], count: int, decades: float = 0.0
) -> Iterator[dict[str, float]]:
    """Random values of all symbols of some expressions, at which others are positive; fewer where few are found.

    With `decades` the variables of state, whose names hold a dot, have both signs and sizes that far from their scale.
    """
    inside = [fast(d) for d in positive]
    listed = [*(fast(e) for e in expressions), *inside]
    names = sorted(free_names(listed))
    scales = natural_scales([[e] for e in listed], names)
    wide = [n for n in names if decades and "." in n]
    rng, found = random.Random(0), 0
    for attempt in range(40 * count):
        signs = (1,) if attempt < 20 * count else (1, -1)  # positive first, as most quantities here are
        at = {n: x * rng.choice((1, 1, 3)) for n, x in drawn(names, scales, rng, signs=signs).items()}
        at |= {n: scales[n] * 10 ** rng.uniform(-decades, decades) * rng.choice((1, -1)) for n in wide}
        if all(number(d, at) > 0 for d in inside):
            yield at
            found += 1
        if found == count:
            return


def boundaries(expressions: Iterable[Any]) -> list[Fast]:
    """The functions whose sign decides which branch of an expression is taken."""
    found: dict[Fast, None] = {}
    seen: set[Fast] = set()

    def look(e: Fast) -> None:
        if e in seen:
            return
        seen.add(e)
        kind = type(e).__name__
        if kind in ("StrictLessThan", "LessThan", "Equality", "Unequality"):
            found.setdefault(e.args[0] - e.args[1])
        elif kind.lower() in ("abs", "sign"):
            found.setdefault(e.args[0])
        elif kind.lower() in ("max", "min"):
            for a in e.args[1:]:
                found.setdefault(e.args[0] - a)
        for a in e.args:
            look(a)

    for e in expressions:
        look(fast(e))
    return [g for g in found if g.free_symbols]


def across(
    kink: Fast,
    at: Mapping[str, float],
    scales: Mapping[str, float],
    rng: random.Random,
    moved: Iterable[str] | None = None,
) -> Iterator[dict[str, float]]:
    """Points on both sides of a boundary, found by moving one symbol (one of `moved`) from a given point."""
    names = sorted(s.name for s in kink.free_symbols)
    rng.shuffle(names)
    for name in names if moved is None else [n for n in names if n in set(moved)]:
        root = _crossing(kink, at, name, scales.get(name, 1.0))
        if root is None:
            continue
        reach = rng.uniform(0.3, 1.7) * (abs(root) or scales.get(name, 1.0))
        for share in _NEAR:
            for side in (-1, 1):
                yield {**at, name: root + side * share * reach}
        return


def in_branches(
    kinks: Sequence[Fast], at: Mapping[str, float], scales: Mapping[str, float], rng: random.Random,
    moved: Sequence[str] | None = None,
) -> dict[str, float]:  # fmt: skip
    """A point on a randomly chosen side of every boundary: some branches are bounded by several boundaries."""
    found = dict(at)
    for kink in rng.sample(list(kinks), len(kinks)):
        sides = list(across(kink, found, scales, rng, moved))[:2]
        found = rng.choice(sides) if sides else found
    return found


_DECADES = [10 ** (k / 2) for k in range(-20, 21)]
_GRID = [*(-d for d in reversed(_DECADES)), 0.0, *_DECADES]


def _crossing(kink: Fast, at: Mapping[str, float], name: str, scale: float) -> float | None:
    """Where a function changes sign along one symbol, searched over twenty decades of both signs."""
    import numpy as np

    names, function = _compiled(kink)
    place = names.index(name)

    def f(x: Any) -> Any:
        rows = np.tile([at[n] for n in names], (len(x), 1))
        rows[:, place] = x
        return function(rows)[:, 0]

    x = np.array(_GRID) * scale
    for _ in range(9):  # of an interval, the part in which the sign changes: 64^9 is 2^54
        values = f(x)
        with np.errstate(all="ignore"):
            found = (
                np.isfinite(values[:-1])
                & np.isfinite(values[1:])
                & ((values[:-1] == 0) | (values[:-1] * values[1:] < 0))
            )
        if not found.any():
            return None
        k = int(np.argmax(found))
        if values[k] == 0:
            return float(x[k])
        x = np.linspace(x[k], x[k + 1], 65)
    return float(x[0])


@lru_cache(maxsize=256)
def _compiled(kink: Fast) -> tuple[list[str], Callable[[Any], Any]]:
    """A function in floating point: the names of its arguments, and rows of these to values."""
    names = sorted(s.name for s in kink.free_symbols)
    return names, vectorised(names, [kink])


# points on constraint sets


def points_on(
    functions: Sequence[Any], moved: Sequence[str], fixed: Sequence[str], count: int = 4, starts: int = 24,
    balanced: Sequence[Any] = (),
) -> list[Point]:  # fmt: skip
    """Points where the functions vanish: random starts, brought there by Newton's method in the `moved` names.

    Where that fails for the drawn values of the `fixed` names, as for a linkage that does not close, those are moved
    too. The points are at the scale at which the terms of the functions, and of further `balanced` ones, balance.
    """
    expressions = [fast(f) for f in functions]
    every = [*moved, *fixed]
    scales = natural_scales([[e] for e in (*expressions, *balanced)], every)
    rng = random.Random(7)
    found: list[Point] = []
    for attempt in range(starts):
        free = list(moved) if attempt < starts // 2 else every
        point = projected(expressions, drawn(every, scales, rng), free, scales)
        if point is not None:
            found.append(point)
        if len(found) == count:
            break
    return found


def projected(
    expressions: Sequence[Fast],
    start: Mapping[str, Any],
    free: Sequence[str],
    scales: Mapping[str, float] | None = None,
    steps: int = 80,
) -> Point | None:
    """The point near a start where the expressions vanish, by Newton steps of least length in the free names.

    Lengths are counted in the scales of the names. The result is a point of balls that hold the exact solution.
    """
    scales = scales or {}
    with balls.precise() as flint:
        point: dict[str, Ball] = {k: _center(v) for k, v in start.items()}
        if not expressions:
            return _widened(point)
        unit = [balls.ball(scales.get(name, 1.0)) for name in free]
        limit = [_FAR * u + _FAR * abs(point[name]) for u, name in zip(unit, free, strict=True)]
        rows, polish = jacobian(expressions, free), 3
        for _ in range(steps):
            residual = balls.values([expressions], _widened(point))
            grid = balls.values(rows, point)
            if residual is None or grid is None:
                return None
            there, kept = all(r.contains(0) for r in residual[0]), independent(grid)[0]
            polish -= there
            if polish == 0 or not kept:
                return _widened(point) if there else None
            scaled = flint.arb_mat([[(grid[k][j] * unit[j]).mid() for j in range(len(free))] for k in kept])
            right = flint.arb_mat([[balls.value(expressions[k], point).mid()] for k in kept])
            try:
                step = scaled.transpose() * (scaled * scaled.transpose()).solve(right)
            except ZeroDivisionError:
                return None
            for j, name in enumerate(free):
                point[name] = (point[name] - unit[j] * step[j, 0]).mid()
                if not abs(point[name]) < limit[j]:
                    return None
    return None


def _center(given: Any) -> Ball:
    """The midpoint of a ball, or of the value of a number such as pi/2."""
    return (given if hasattr(given, "mid") else balls.value(given, {})).mid()


def _widened(point: Mapping[str, Ball]) -> Point:
    return {k: balls.widened(v) for k, v in point.items()}
