"""Group coordinates as numbers: g = cay(c) near the identity, with one number c for each direction.

A symmetry may move a group coordinate: {R: A * R.matrix} with a matrix A of the elements. What follows from an action is
derived on coordinates that are numbers, so the image is written in these numbers too: c' = cay^-1(A cay(c)).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sympy
from sympy import Expr, Matrix

from ...decide.budget import Budget, BudgetSpentError
from ...decide.decimals import exact
from ...errors import ModelError
from ...model.coordinates import Coordinate
from ...model.group_coordinate import GroupCoordinate
from ..algebra import attempt, tidy
from .symmetry import Symmetry

SECONDS = 20.0
"""Seconds that cancelling the common factors of one expression may take."""


@lru_cache(maxsize=64)
def chart(R: GroupCoordinate) -> tuple[Coordinate, ...]:
    """The numbers c of a group coordinate: R_chart1, R_chart2, ...."""
    return tuple(Coordinate(f"{R.name}_chart{k + 1}") for k in range(R.group.dimension))


@lru_cache(maxsize=64)
def matrix_in_chart(R: GroupCoordinate) -> sympy.ImmutableMatrix:
    """cay(c)."""
    _need_chart(R)
    return sympy.ImmutableMatrix(Matrix(R.group.cayley_rows(list(chart(R)))).applyfunc(exact))


def entries_in_chart(R: GroupCoordinate) -> dict[Any, Expr]:
    """The entries of the matrix of a point, by the numbers of the chart."""
    whole = matrix_in_chart(R)
    return {e: whole[e.place] for e in R.entries}


def way(R: GroupCoordinate, first: Any, second: Any) -> list[Expr]:
    """xi with second = first cay(xi), two matrices of expressions."""
    group = R.group
    start, end = (group.numbers_of(Matrix(matrix).tolist()) for matrix in (first, second))
    return [_short(exact(x)) for x in group.way(start, end, "cayley")]


@lru_cache(maxsize=64)
def in_charts(symmetry: Symmetry) -> Symmetry:
    """The symmetry on numbers in place of group coordinates; the symmetry itself if it moves none."""
    if not symmetry.groups:
        return symmetry
    places = {e: x for R in symmetry.groups for e, x in entries_in_chart(R).items()}
    found: dict[Any, Any] = {}
    for R in symmetry.groups:
        there = matrix_image(symmetry, R).xreplace(places)
        found |= dict(zip(chart(R), way(R, sympy.eye(R.size), there), strict=True))
    entries = {e for R in symmetry.groups for e in R.entries}
    lines = {q: e.xreplace(places) for q, e in symmetry.action.items() if q not in entries}
    made = Symmetry.__new__(Symmetry)
    for name, value in {"action": {**lines, **found}, "groups": ()}.items():
        object.__setattr__(made, name, value)
    for name in ("elements", "identity", "_law", "_inverse"):
        made.__dict__[name] = getattr(symmetry, name)
    return made


def matrix_image(symmetry: Symmetry, R: GroupCoordinate) -> Matrix:
    """The image of the matrix of a group coordinate."""
    return Matrix(R.matrix).applyfunc(lambda e: symmetry.action.get(e, e))


def _need_chart(R: GroupCoordinate) -> None:
    if not R.group.has_cayley or not R.group.has_formulas or "SU2" in R.group.name:
        raise ModelError(
            f"symmetry: points of {R.group.name} are no rational functions of numbers near the identity, so {R.name} cannot "
            f"be moved by a symmetry. State it by a rotation, a pose, or coordinates that are numbers."
        )


def _short(e: Expr) -> Expr:
    try:
        found = attempt(Budget(seconds=SECONDS), lambda: sympy.factor(sympy.cancel(sympy.together(e))))
    except BudgetSpentError:
        found = None
    return tidy(e) if found is None else found
