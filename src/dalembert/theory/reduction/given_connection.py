"""A metric or a connection that is given, instead of those of the kinetic energy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
from sympy import Expr, Matrix, Symbol

from ...decide.zero import vanishes
from ...errors import ModelError, told
from ...model import checks
from ...model.coordinates import Coordinate


def metric_of(given: Any, size: int) -> Matrix:
    """A metric that splits the velocities, in the order of the coordinates: a symmetric matrix."""
    try:
        matrix = Matrix(given)
    except (TypeError, ValueError):
        matrix = sympy.zeros(0)
    n = range(size)
    if matrix.shape != (size, size) or not all(vanishes(matrix[i, j] - matrix[j, i]) for i in n for j in range(i)):
        raise ModelError(
            f"metric: got {told(given)}. Expected a symmetric matrix, {size} by {size}, in the order of the coordinates."
        )
    return matrix


def lift_of(given: Any, shape: Sequence[Coordinate], elements: Sequence[Symbol]) -> list[list[Expr]]:
    """M of a horizontal velocity xi = M r', from {r: {element: expression in shapes}}; what is left out is zero."""
    known = set(shape)
    if not isinstance(given, Mapping) or any(r not in known or not isinstance(given[r], Mapping) for r in given):
        names = ", ".join(f"{r}: {{{elements[0]}: ...}}" for r in shape)
        raise ModelError(f"lift: got {told(given)}. Expected, by shape coordinate and element, {{{names}}}.")
    strange = [str(s) for row in given.values() for s in row if s not in elements]
    if strange:
        names = ", ".join(map(str, elements))
        raise ModelError(f"lift: {', '.join(strange)} is not among the elements {names}.")

    def entry(r: Coordinate, s: Symbol) -> Expr:
        return checks.symbols(checks.expression(given.get(r, {}).get(s, 0), "lift"), known, "lift")

    return [[entry(r, s) for r in shape] for s in elements]


def cannot_split() -> ModelError:
    """What is said where a metric is degenerate on the spaces that it should split."""
    return ModelError(
        "reduce: the metric does not determine a connection here: it is degenerate on the spaces that it should split. "
        "Give metric=... (a positive matrix in the coordinates) or lift={r: {element: ...}}."
    )
