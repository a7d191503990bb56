"""Charts of a configuration space: do given positions r(q) satisfy the constraints, and where are they regular?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.balls import Point, values
from ...decide.decimals import stated
from ...decide.elimination import highest_rank, rank
from ...decide.sample import points_on
from ...decide.zero import vanishes_at
from ...display import Part, Shown
from ...errors import ModelError, told
from ...model import checks
from ...model.coordinates import Coordinate, time
from ...symbolic import fast, jacobian, substitute
from ..algebra import Allowance, attempt, read, tidy


@dataclass(frozen=True, repr=False)
class Chart(Shown):
    """Whether positions r(q) are a chart of the configurations that satisfy some constraints.

    coordinates:  the coordinates q of the chart
    residuals:    the value of each constraint at r(q); zero where the chart satisfies it
    rank:         of dr/dq, in general
    dimension:    of the configuration space: number of positions less the rank of the constraints
    gram:         det((dr/dq)^T dr/dq), which vanishes where the chart is singular
    singular:     places where the rank of dr/dq drops: coordinate and value, angles from 0 to 2 pi
    """

    coordinates: tuple[Coordinate, ...]
    residuals: tuple[Expr, ...]
    rank: int
    dimension: int
    gram: Expr
    singular: tuple[tuple[Coordinate, Expr], ...]

    @property
    def satisfies(self) -> bool:
        """Whether r(q) satisfies every constraint for all q."""
        return all(r == 0 for r in self.residuals)

    @property
    def is_valid(self) -> bool:
        """Whether it is a chart, away from its singular places: it satisfies the constraints and covers all directions."""
        return self.satisfies and self.rank == len(self.coordinates) == self.dimension

    def _parts(self) -> Sequence[Part]:
        names = ", ".join(q.name for q in self.coordinates)
        yes = f"({names}) is a chart of the configuration space, of dimension {self.dimension}."
        parts: list[Part] = [yes if self.is_valid else f"({names}) is not a chart of the configuration space."]
        parts += [(f"constraint {k + 1} leaves", r) for k, r in enumerate(self.residuals) if r != 0]
        if self.rank < len(self.coordinates):
            parts.append(f"dr/dq has rank {self.rank}: {len(self.coordinates)} coordinates are too many.")
        elif self.rank < self.dimension:
            parts.append(f"dr/dq has rank {self.rank}, the configuration space dimension {self.dimension}.")
        parts.append(("det((dr/dq)^T dr/dq)", self.gram))
        parts += [f"  singular at {q} = {v}." for q, v in self.singular]
        return parts


def check_chart(positions: Mapping[Coordinate, Any], constraints: Sequence[Any] = ()) -> Chart:
    """Check a chart: positions r(q) as {x: expression in other coordinates}, and the constraints on x, y, ...

    The coordinates of the chart are those that occur in the expressions.
    """
    placed = _placed(positions)
    q = tuple(sorted({s for e in placed.values() for s in e.free_symbols if isinstance(s, Coordinate)}, key=str))
    if not q:
        raise ModelError(
            "check_chart: no coordinate occurs in the positions. Write them as functions: {x: cos(theta)}."
        )
    known, budget = {*placed}, Allowance()
    given = [checks.symbols(checks.expression(c, "constraint"), known, "constraint") for c in constraints]
    names = sorted({s.name for e in (*placed.values(), *given) for s in e.free_symbols} | {time.name})
    fixed = [n for n in names if n not in {c.name for c in (*q, *placed)}]
    points = points_on([], [c.name for c in q], fixed)
    there = [{**p, **{x.name: _number(e, p) for x, e in placed.items()}} for p in points]
    residuals = []
    for c in given:
        left = read(substitute(c, placed), c, *placed.values())
        residuals.append(sympy.S.Zero if vanishes_at(left, points) else tidy(left, budget))
    slopes = [[read(e, *placed.values()) for e in row] for row in jacobian(placed.values(), q)]
    gram = _gram(slopes, budget)
    constrained = highest_rank(jacobian(given, list(placed)), there)
    return Chart(
        q,
        tuple(residuals),
        highest_rank(slopes, points),
        len(placed) - constrained,
        gram,
        _singular(gram, slopes, q, points[0], budget),
    )


def _placed(positions: Any) -> dict[Coordinate, Expr]:
    if not isinstance(positions, Mapping) or not all(isinstance(k, Coordinate) for k in positions) or not positions:
        raise ModelError(
            f"check_chart: got {told(positions)}. Expected positions as functions of other coordinates: "
            f"{{x: R*cos(theta), y: R*sin(theta)}}."
        )
    placed = {x: stated(checks.expression(e, f"position {x}")) for x, e in positions.items()}
    for x, e in placed.items():
        if e.free_symbols & set(placed):
            raise ModelError(
                f"check_chart: the position {x} = {e} contains a position. Use coordinates of the chart only."
            )
    return placed


def _number(expression: Expr, point: Point) -> Any:
    grid = values([[expression]], point)
    return grid[0][0] if grid else float("nan")


def _gram(slopes: Sequence[Sequence[Expr]], budget: Allowance) -> Expr:
    matrix = sympy.Matrix([list(row) for row in slopes])
    square = (matrix.T * matrix).applyfunc(lambda e: tidy(e, budget))
    return tidy(square.det(method="berkowitz"), budget)


def _singular(
    gram: Expr, slopes: Sequence[Sequence[Expr]], q: Sequence[Coordinate], point: Point, budget: Allowance
) -> tuple[tuple[Coordinate, Expr], ...]:
    """Values of one coordinate at which the Gram determinant vanishes whatever the others are, and the rank drops."""
    general, found = rank(values(slopes, point) or [[]]), []
    for c in q:
        for value in _zeros(gram, c, budget):
            at = [[fast(e).subs({fast(c): fast(value)}) for e in row] for row in slopes]
            grid = values(at, point)
            if grid is not None and rank(grid) < general:
                found.append((c, value))
    return tuple(found)


def _zeros(gram: Expr, c: Symbol, budget: Allowance) -> list[Expr]:
    domain = sympy.Interval(0, 2 * sympy.pi)
    zeros: list[Expr] = []
    listed = attempt(budget, sympy.factor_list, gram)
    for factor, _ in listed[1] if listed else [(gram, 1)]:
        if c not in factor.free_symbols:
            continue
        trigonometric = factor.has(sympy.sin, sympy.cos, sympy.tan)
        solved = attempt(budget, sympy.solveset, factor, c, domain if trigonometric else sympy.S.Reals)
        if isinstance(solved, sympy.FiniteSet):
            zeros += [v for v in solved if v != 2 * sympy.pi and not v.free_symbols & {c}]
    return sorted(set(zeros), key=sympy.default_sort_key)
