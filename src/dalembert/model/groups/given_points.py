"""Matrices that are given as points of a group: read, and refused where they are none, with the nearest point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ModelError, told
from . import rows as r
from .scalars import is_number

if TYPE_CHECKING:
    from .lie_group import LieGroup

NOT_A_POINT = 1e-9
"""How far a given matrix may be from the group; what is measured is of size one, whatever the units."""


def distance_in_words(group: LieGroup, matrix: Any, off: float, what: str) -> str:
    """By how much a matrix is off the group, and the nearest point of it."""
    nearest = np.array2string(group.nearest(matrix), separator=", ", precision=12).replace("\n", "")
    amount = "" if np.isinf(off) else f" by up to {off:.3g}"
    return f"{what}{amount}. The nearest {group.noun} is {nearest}."


def point_rows(group: LieGroup, given: Any) -> list[list[Any]]:
    """The rows of a given matrix, or of one in each lane; not-a-number, as in a run that ended, is left as it is."""
    try:
        rows = r.taken(given)
    except (TypeError, ValueError, IndexError):
        rows = []
    if len(rows) != group.size or any(len(row) != group.size for row in rows):
        raise ModelError(
            f"{group.name}: got {told(given)}. Expected the {group.size} x {group.size} matrix of a {group.noun}, or an array "
            f"(lanes, {group.size}, {group.size})."
        )
    if not all(is_number(x) for row in rows for x in row):
        return rows
    matrix = np.asarray(r.made(rows), dtype=float)
    known = np.isfinite(matrix).all(axis=(-1, -2))
    if known.any():
        flat = matrix[known] if matrix.ndim > 2 else matrix[None]
        off, what = group.defect(flat)
        if (off > NOT_A_POINT).any():
            worst = int(np.argmax(off))
            raise ModelError(
                f"{group.name}: the given matrix is no {group.noun}: "
                f"{distance_in_words(group, flat[worst], float(off[worst]), what)}"
            )
    return rows
