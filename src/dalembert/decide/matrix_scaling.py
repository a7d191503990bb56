"""Matrices in floating point whose rows and columns have any units: factors that make their entries comparable.

What cuts off small singular values, or orders pivots by size, depends on the units of rows and columns. Whoever inverts or
solves in floating point scales with these factors first.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

Array = Any

SWEEPS = 12
"""Most repetitions; each halves the logarithms of the sizes."""


def balance(matrices: Array) -> tuple[Array, Array]:
    """Factors of rows and of columns, powers of two, that bring the largest entries of all of them near one.

    With them nothing depends on the units of unknowns and equations (D. Ruiz, 2001).
    """
    import numpy as np

    a = np.abs(matrices)
    rows, columns = np.ones(a.shape[:2]), np.ones((a.shape[0], a.shape[2]))
    for _ in range(SWEEPS):
        b = a * rows[:, :, None] * columns[:, None, :]
        change = inverse_root(b.max(axis=2, initial=0)), inverse_root(b.max(axis=1, initial=0))
        rows, columns = rows * change[0], columns * change[1]
        if (change[0] == 1).all() and (change[1] == 1).all():
            break
    return rows, columns


def solved(matrices: Array, right: Array) -> Array:
    """The solutions x of A x = b, of least squares in balanced units where A is not square or singular; one per row.

    By elimination where possible: orthogonal matrices would mix unknowns whose sizes differ, and with them their errors.
    """
    import numpy as np

    rows, columns = balance(matrices)
    scaled = matrices * rows[:, :, None] * columns[:, None, :]
    values = right * rows
    found = [_one(a, b) for a, b in zip(scaled, values, strict=True)]
    return np.array(found).reshape(columns.shape) * columns


def _one(a: Array, b: Array) -> Array:
    import numpy as np

    with suppress(np.linalg.LinAlgError):
        if a.shape[0] == a.shape[1]:
            return np.linalg.solve(a, b)
    return np.linalg.lstsq(a, b, rcond=None)[0]


def inverse_root(size: Array) -> Array:
    """About 1/sqrt(size), a power of two; 1 for zero."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((size > 0) & np.isfinite(size), np.exp2(-np.round(np.log2(size) / 2)), 1.0)
