"""Where the rows of a matrix of functions are dependent though they are not at almost all points."""

from __future__ import annotations

from itertools import combinations, islice

from sympy import Expr, Matrix

from ...decide.zero import vanishes
from ..algebra import tidy

MOST = 60
"""At most so many minors are looked at."""


def common_zeros(matrix: Matrix, rank: int) -> tuple[Expr, ...]:
    """Expressions that vanish together where the rank of a matrix is lower than the given one; empty if nowhere."""
    if rank == 0:
        return ()
    found: dict[Expr, None] = {}
    pairs = ((r, c) for r in combinations(range(matrix.rows), rank) for c in combinations(range(matrix.cols), rank))
    for rows, chosen in islice(pairs, MOST):
        minor = tidy(matrix[list(rows), list(chosen)].det())
        if not vanishes(minor):
            found.setdefault(-minor if minor.could_extract_minus_sign() else minor)
    if tidy(sum(e**2 for e in found)).is_positive:  # such as one, of a sine and a cosine
        return ()
    return tuple(found)
