"""Small matrices as lists of rows whose entries are scalars of any kind; zeros are left out of sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from .scalars import is_number, is_zero

Rows = Sequence[Sequence[Any]]


def identity(n: int) -> list[list[Any]]:
    """The unit matrix."""
    return [[int(i == j) for j in range(n)] for i in range(n)]


def total(terms: Sequence[Any]) -> Any:
    """The sum of the terms that are not zero as written."""
    kept = [t for t in terms if not is_zero(t)]
    return sum(kept[1:], start=kept[0]) if kept else 0


def scaled(c: Any, a: Rows) -> list[list[Any]]:
    """c a."""
    return [[0 if is_zero(x) else c * x for x in row] for row in a]


def plus(*matrices: Rows) -> list[list[Any]]:
    """The sum of matrices."""
    return [[total(entries) for entries in zip(*rows, strict=True)] for rows in zip(*matrices, strict=True)]


def multiplied(a: Rows, b: Rows) -> list[list[Any]]:
    """The product of two matrices."""
    columns = list(zip(*b, strict=True))
    return [
        [total([x * y for x, y in zip(row, c, strict=True) if not is_zero(x) and not is_zero(y)]) for c in columns]
        for row in a
    ]


def applied(a: Rows, v: Sequence[Any]) -> list[Any]:
    """The product of a matrix and a vector."""
    return [row[0] for row in multiplied(a, [[x] for x in v])]


def transposed(a: Rows) -> list[list[Any]]:
    """The transposed matrix."""
    return [list(column) for column in zip(*a, strict=True)]


def blocks(*parts: Rows) -> list[list[Any]]:
    """The matrix with these blocks on its diagonal."""
    size = sum(len(p) for p in parts)
    found: list[list[Any]] = []
    for p in parts:
        before = len(found)
        found += [[*[0] * before, *row, *[0] * (size - before - len(row))] for row in p]
    return found


def made(rows: Rows, of: Sequence[Any] = ()) -> Any:
    """Rows as an array with the axes of lanes first, those of what they are made `of`; or as a SymPy matrix."""
    if not all(is_number(x) for row in (*rows, of) for x in row):
        return sympy.Matrix(rows)
    flat = made_vector([x for row in rows for x in row], of)
    return flat.reshape(*flat.shape[:-1], len(rows), len(rows[0]))


def made_vector(v: Sequence[Any], of: Sequence[Any] = ()) -> Any:
    """Components as an array with the axes of lanes first, or as a SymPy column."""
    if not all(map(is_number, (*v, *of))):
        return sympy.Matrix(list(v))
    arrays = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (*v, *of)))
    return np.stack(arrays[: len(v)], axis=-1)


def taken(matrix: Any) -> list[list[Any]]:
    """The rows of a SymPy matrix or of an array with axes of lanes first."""
    if isinstance(matrix, sympy.MatrixBase):
        return [list(matrix.row(i)) for i in range(matrix.rows)]
    array = np.asarray(matrix, dtype=float)
    return [[array[..., i, j] for j in range(array.shape[-1])] for i in range(array.shape[-2])]
