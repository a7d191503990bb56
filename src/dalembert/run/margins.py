"""Numbers that say how well a step is determined: condition, determinant and margins of its matrices.

Everything is scaled so that units do not matter, except determinants, which are those of the matrices themselves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .values import Array


class Parts(NamedTuple):
    """The matrices of some steps, steps first; n coordinates, s entropies and m constraints.

    K:         D2 D1 L_d + D2 F_d- and D2 rho, (n + s) x (n + s)
    plain:     the same without forces
    forms:     omega at the beginning and D2 chi, each m x (n + s)
    M, back:   the matrices of the step and of the step backward, (n + s + m) x (n + s + m)
    slopes:    D_S- L_d and D_S+ L_d, each s
    """

    K: Array
    plain: Array
    forms: Array
    M: Array
    back: Array
    slopes: Array


Scales = tuple[Array, Array]


def scales(matrices: Array) -> Scales:
    """Factors of rows and columns that bring the largest entries met along the motion to about 1: units do not matter."""
    size = np.nanmax(np.where(np.isfinite(matrices), np.abs(matrices), 0), axis=0, initial=0)
    rows, cols = np.ones(size.shape[0]), np.ones(size.shape[1])
    for _ in range(8):
        scaled = rows[:, None] * size * cols
        r, c = scaled.max(axis=1, initial=0), scaled.max(axis=0, initial=0)
        rows, cols = rows / np.sqrt(np.where(r > 0, r, 1)), cols / np.sqrt(np.where(c > 0, c, 1))
    return rows, cols


def _smallest(matrices: Array, size: Array | float = 1.0) -> Array:
    """The smallest singular values, relative to a size."""
    if 0 in matrices.shape[1:]:
        return np.ones(len(matrices))
    values = np.linalg.svd(matrices, compute_uv=False)[:, -1]
    return np.asarray(values / np.where(np.asarray(size) > 0, size, 1))


COLUMNS = (
    "condition", "determinant", "lagrangian", "pairing", "unforced", "forms", "constraints", "laws",
    "backward condition", "backward determinant",
)  # fmt: skip


class Scaling(NamedTuple):
    """Factors of rows and columns of K, M and the matrix of the step backward."""

    K: Scales
    M: Scales
    back: Scales


def scaling(parts: Parts) -> Scaling:
    """The scales of all matrices over all steps."""
    return Scaling(scales(parts.K), scales(parts.M), scales(parts.back))


def margins(parts: Parts, scaled: Scaling) -> Array:
    """One row of `COLUMNS` for each step; NaN where there is no step."""
    table = np.full((len(parts.K), len(COLUMNS)), np.nan)
    known: Array = np.asarray(np.isfinite(parts.M).all(axis=(1, 2)) & np.isfinite(parts.plain).all(axis=(1, 2)))
    if not known.any():
        return table
    r, c = scaled.K
    K, plain, both = r[:, None] * parts.K[known] * c, r[:, None] * parts.plain[known] * c, parts.forms[known]
    size, m = K.shape[1], both.shape[2]
    n = size - parts.slopes.shape[2]
    forms, kinds = _unit(both[:, 0] * r), _unit(both[:, 1] * c)
    B = np.linalg.svd(forms)[2][:, m:] if m else np.broadcast_to(np.eye(size), K.shape)
    C = np.linalg.svd(kinds)[2][:, m:] if m else np.broadcast_to(np.eye(size), K.shape)
    pairings = [B @ A @ C.swapaxes(1, 2) for A in (K, plain)]
    table[known] = np.column_stack(
        [
            _condition(parts.M[known], scaled.M),
            np.linalg.det(parts.M[known]),
            _smallest(plain[:, :n, :n], np.linalg.norm(plain, ord=2, axis=(1, 2))),
            *(_smallest(A, np.linalg.norm(K, ord=2, axis=(1, 2))) for A in pairings),
            _smallest(forms),
            _smallest(kinds),
            _smallest(K[:, n:, n:], np.linalg.norm(K, ord=2, axis=(1, 2))),
            _condition(parts.back[known], scaled.back),
            np.linalg.det(parts.back[known]),
        ]
    )
    return table


def _condition(matrices: Array, scaled: Scales) -> Array:
    """Condition numbers of scaled matrices; infinite where one is singular."""
    rows, cols = scaled
    found = np.full(len(matrices), np.nan)
    known: Array = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    if known.any():
        values = np.linalg.svd(rows[:, None] * matrices[known] * cols, compute_uv=False)
        least = values[:, -1]
        found[known] = np.divide(values[:, 0], least, out=np.full(len(values), np.inf), where=least > 0)
    return found


def _unit(rows: Array) -> Array:
    """Rows of length 1."""
    size = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(size > 0, size, 1))


def reason(row: Array, tolerance: float) -> str:
    """Why a step with these margins is not determined."""
    alone, pairing, unforced, forms, constraints, laws = row[2:8]
    if forms < tolerance:
        return "the variations are linearly dependent at the beginning of the step"
    if constraints < tolerance:
        return "the constraints do not bind the end of the step independently: D2 chi loses rank"
    if laws < tolerance:
        return "the laws of entropy do not determine the entropies at the end of the step: D_S+ rho is singular"
    if pairing < tolerance <= unforced:
        return "the forces cancel the inertia: D2 D1 L_d + D2 F_d- is degenerate although D2 D1 L_d is not"
    if pairing < tolerance <= alone:
        return "constraints and variations do not fit together: the restricted pairing is degenerate although L_d is regular"
    if alone < tolerance:
        return "the discrete Lagrangian is degenerate: D2 D1 L_d is singular"
    return "the step matrix is singular"


def condition_numbers(matrices: Array) -> Array:
    """Condition numbers, rows and columns scaled over all of them."""
    return _condition(matrices, scales(matrices))
