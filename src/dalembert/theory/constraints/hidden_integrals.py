"""Functions that a system of velocity relations keeps constant: found by integrating combinations of its forms.

The system is integrable (it is the last of a derived flag), so locally there are as many functions as forms. Their
differentials are combinations of the forms with functions for coefficients; what is sought is one combination after
another that can be integrated by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.balls import Point, value, values
from ...decide.budget import Budget, BudgetSpentError
from ...decide.elimination import highest_rank, rank
from ...decide.zero import vanishes
from ...symbolic import fast, gradient
from ..algebra import read, roots, tidy
from .distributions import independent_rows, solution
from .integrability import Row, curl, is_exact, is_integrable, potential, pulled_back
from .integrating_factors import constant_solutions, integrating_factor


@dataclass(frozen=True)
class HiddenFunction:
    """A function g that is constant along motions although only velocities were constrained.

    function:      g; an angle atan2(...) in it counts modulo 2 pi
    combination:   for each constraint the function c_a in dg = c_a omega^a; empty if they could not be written down
    how:           how it was found
    where:         what must hold all along a motion for g to be constant, x != 0 for example; empty: in every motion
    is_local:      whether g is constant near the configurations where it was found, the extent being unknown
    """

    function: Expr
    combination: tuple[Expr, ...]
    how: str
    where: tuple[Any, ...] = ()
    is_local: bool = False


def constant_functions(
    rows: Sequence[Row],
    variables: Sequence[Symbol],
    known: Sequence[Expr],
    points: Sequence[Point],
    budget: Budget,
) -> Iterator[tuple[Expr, str]]:
    """Functions g whose differential is a combination of the rows, independent of one another and of the known ones.

    known:  functions already known to be such; those of holonomic constraints vanish at the points
    """
    found = [_slopes(k, variables) for k in known]
    wanted = highest_rank(rows, points)
    functions = list(known)

    def is_new(g: Expr) -> bool:
        slope = _slopes(g, variables)
        return highest_rank([*rows, slope], points) == wanted and highest_rank([*found, slope], points) > highest_rank(
            found, points
        )

    if highest_rank(found, points) == wanted:
        return
    for search in (_alone, _closed_combinations, _eliminated):
        for g, how in search(rows, variables, functions, points, budget):
            if is_new(g):
                found.append(_slopes(g, variables))
                functions.append(g)
                yield g, how
            if highest_rank(found, points) == wanted:
                return


def _slopes(g: Expr, variables: Sequence[Symbol]) -> list[Expr]:
    return [read(s, g, *variables) for s in gradient(g, variables)]


def _alone(
    rows: Sequence[Row], variables: Sequence[Symbol], known: Sequence[Expr], points: Sequence[Point], budget: Budget
) -> Iterator[tuple[Expr, str]]:
    """The rows themselves, sums and differences of two, then the rows solved for one set of differentials after another."""
    seen: set[tuple[Expr, ...]] = set()
    sums = [[a + s * b for a, b in zip(x, y, strict=True)] for x, y in combinations(rows, 2) for s in (1, -1)]
    for row in chain(rows, sums, _echelon_forms(rows, points, budget)):
        if tuple(row) in seen or not is_integrable(row, variables):
            continue
        seen.add(tuple(row))
        slopes = [_slopes(k, variables) for k in known]
        if highest_rank([*slopes, row], points) == highest_rank(slopes, points):
            continue  # a function of known ones
        made = integrating_factor(row, variables, budget)
        if made is not None:
            yield made.function, made.how


def _echelon_forms(rows: Sequence[Row], points: Sequence[Point], budget: Budget, choices: int = 12) -> Iterator[Row]:
    """dz_p + (...) for each p in a set of pivots, for a few sets of pivots."""
    chosen = [list(rows[k]) for k in independent_rows(rows, points)]
    grid = next((g for g in (values(chosen, p) for p in points) if g is not None), None)
    if grid is None or len(chosen) < 2:
        return
    whole = sympy.Matrix(chosen)
    sets = (
        c for c in combinations(range(whole.cols), len(chosen)) if rank([[r[k] for k in c] for r in grid]) == len(c)
    )
    for pivots in islice(sets, choices):
        budget.spend()
        solved = solution(whole[:, list(pivots)], whole, budget)
        for i in range(solved.rows):
            yield [tidy(e, budget) for e in solved[i, :]]


def _closed_combinations(
    rows: Sequence[Row], variables: Sequence[Symbol], known: Sequence[Expr], points: Sequence[Point], budget: Budget
) -> Iterator[tuple[Expr, str]]:
    """Sums of rows with factors 1 and z_k and constant coefficients that are exact: a linear problem."""
    parts = [(factor, row) for row in rows for factor in (sympy.S.One, *variables)]
    columns = [list(curl([factor * f for f in row], variables).values()) for factor, row in parts]
    if not columns or not columns[0]:
        return
    budget.spend("exact combinations")
    for constants in constant_solutions(columns, None):
        scaled = [sympy.Rational(str(c)) * factor for c, (factor, _) in zip(constants, parts, strict=True)]
        form = [
            sympy.Add(*(s * row[i] for s, (_, row) in zip(scaled, parts, strict=True))) for i in range(len(variables))
        ]
        if any(not vanishes(f) for f in form) and is_exact(form, variables):
            g = potential([tidy(f, budget) for f in form], variables, budget)
            if g is not None:
                yield g, "exact combination"


def _eliminated(
    rows: Sequence[Row], variables: Sequence[Symbol], known: Sequence[Expr], points: Sequence[Point], budget: Budget
) -> Iterator[tuple[Expr, str]]:
    """Solve a known function for a variable, and look for the others on its level surface, in one variable less."""
    for g in list(known):
        level = _level(g, len(variables), points)
        budget.spend("elimination of a variable")
        for gone, branch in _solved(g, level, variables, points, budget):
            others = [z for z in variables if z != gone]
            reduced = [[tidy(e, budget) for e in pulled_back(row, variables, gone, branch)] for row in rows]
            there = [_with_level(p, level, g) for p in points]
            kept = [reduced[k] for k in independent_rows(reduced, there)]
            rest = [k.subs(gone, branch) for k in known if k is not g]
            for found, how in constant_functions(kept, others, rest, there, budget):
                yield tidy(found.subs(level, g), budget), how


def _level(g: Expr, number: int, points: Sequence[Point]) -> Expr:
    """The value of a known function: zero for a holonomic constraint, else a constant, of known sign perhaps."""
    at = [value(g, p) for p in points]
    if all(_is_zero(v) for v in at):
        return sympy.S.Zero
    return Symbol(f"level.{number}", real=True, **({"positive": True} if all(v > 0 for v in at) else {}))


def _is_zero(ball: Any) -> bool:
    return bool(ball.is_finite() and ball.contains(0))


def _with_level(point: Point, level: Expr, g: Expr) -> Point:
    return {**point, level.name: value(g, point)} if isinstance(level, Symbol) else point


def _solved(
    g: Expr, level: Expr, variables: Sequence[Symbol], points: Sequence[Point], budget: Budget
) -> Iterator[tuple[Symbol, Expr]]:
    """Ways to solve g = level for a variable, valid at all the points; at most two of them."""
    present = [z for z in variables if z in g.free_symbols]
    simple = sorted(present, key=lambda z: (not g.is_polynomial(z) or bool(sympy.degree(g, z) > 1), str(z)))
    ways = 0
    for z in simple:
        for branch in roots(g - level, z, budget):
            gaps = [value(fast(branch) - fast(z), _with_level(p, level, g)) for p in points]
            if all(_is_zero(gap) for gap in gaps):
                yield z, branch
                ways += 1
                if ways == 2:
                    return


def combination(
    g: Expr, rows: Sequence[Row], variables: Sequence[Symbol], points: Sequence[Point], budget: Budget
) -> tuple[Expr, ...]:
    """The functions c_a with dg = c_a omega^a (at the points); zero for rows that follow from others."""
    kept = independent_rows(rows, points)
    grid = next((x for x in (values([rows[k] for k in kept], p) for p in points) if x is not None), None)
    if grid is None:
        return ()
    slopes = sympy.Matrix([_slopes(g, variables)])
    matrix = sympy.Matrix([list(rows[k]) for k in kept])
    for pivots in combinations(range(matrix.cols), len(kept)):
        if rank([[r[k] for k in pivots] for r in grid]) < len(kept):
            continue
        try:
            c = solution(matrix[:, list(pivots)].T, slopes[:, list(pivots)].T, budget)
        except BudgetSpentError:
            return ()
        whole = [sympy.S.Zero] * len(rows)
        for k, e in zip(kept, c, strict=True):
            whole[k] = tidy(e, budget)
        return tuple(whole)
    return ()
