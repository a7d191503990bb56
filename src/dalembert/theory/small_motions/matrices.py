"""Small matrices of expressions: short forms, kernels, determinants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy
from sympy import Expr, Matrix, Symbol

from ...decide.balls import values
from ...decide.decimals import exact
from ...decide.elimination import independent
from ...decide.sample import points_on
from ...decide.zero import vanishes
from ...errors import ModelError
from ...symbolic import number
from ..algebra import simplified


def size_of(e: Any) -> float:
    """The absolute value of a number; 1 for other expressions."""
    return abs(number(e, {})) if not sympy.sympify(e).free_symbols else 1.0


def neat(e: Expr) -> Expr:
    """A number as a number, a small expression simplified."""
    if not e.free_symbols:
        return e if e.is_Rational or not e.has(sympy.Float) else sympy.Float(number(e, {}))
    return sympy.S.Zero if vanishes(e) else simplified(e)


def part(matrix: Matrix, sign: int) -> Matrix:
    """The symmetric or the antisymmetric part; in numbers, a part of the size of rounding is zero."""
    part = ((matrix + sign * matrix.T) / 2).applyfunc(neat)
    if part.free_symbols or matrix.free_symbols or not matrix.has(sympy.Float):
        return part

    def entry(i: int, j: int) -> Expr:
        """Compared with quantities of its unit: the entries it is formed from, and those on the diagonal."""
        beside = size_of(matrix[i, j]) + size_of(matrix[j, i]) + (size_of(matrix[i, i]) * size_of(matrix[j, j])) ** 0.5
        return sympy.S.Zero if size_of(part[i, j]) <= 1e-13 * beside else part[i, j]

    return Matrix(*matrix.shape, entry)


def is_zero(matrix: Matrix) -> bool:
    """Whether all entries vanish, by value."""
    return all(e.is_zero or vanishes(e) for e in matrix)


def pivots(rows: Matrix) -> tuple[int, ...]:
    """As many columns as there are rows that determine the others, the last ones first; by value at a sample."""
    if not rows.rows:
        return ()
    listed = [list(rows.row(i)) for i in range(rows.rows)]
    names = sorted(s.name for s in rows.free_symbols)
    for point in points_on([], names, [], balanced=list(rows)):
        grid = values(listed, point)
        if grid is None:
            continue
        columns = [list(c) for c in zip(*grid, strict=True)]
        found = independent(columns[::-1])[0]
        if len(found) == rows.rows:
            return tuple(sorted(rows.cols - 1 - j for j in found))
    raise ModelError(
        "about: the constraints are not independent at this state, so the motion near it is not determined."
    )


def kernel(rows: Matrix, dependent: Sequence[int]) -> Matrix:
    """The kernel of some rows, the columns not in `dependent` being free."""
    n = rows.cols
    free = [j for j in range(n) if j not in dependent]
    basis = sympy.zeros(n, len(free))
    for k, j in enumerate(free):
        basis[j, k] = 1
    if dependent:
        rest = -rows[:, list(dependent)].LUsolve(rows[:, free])
        for i, j in enumerate(dependent):
            basis[j, :] = rest[i, :]
    return basis.applyfunc(neat)


def determinant(matrix: Matrix, s: Symbol) -> Expr:
    """The determinant as a polynomial in s with leading coefficient 1, computed with exact numbers."""
    from sympy.polys.matrices import DomainMatrix

    if not matrix.rows:
        return sympy.S.One
    entries = DomainMatrix.from_Matrix(exact(matrix)).to_field()
    polynomial = sympy.Poly(sympy.together(entries.domain.to_sympy(entries.det())), s)
    leading = [neat(c) for c in polynomial.monic().all_coeffs()]
    degree = len(leading) - 1
    return sympy.Add(*(c * s ** (degree - k) for k, c in enumerate(leading)))


def least_squares_multipliers(forms: Matrix, balance: Matrix, masses: Matrix) -> list[float]:
    """The multipliers that balance all equations best, forces compared by the root of the mass, free of units.

    Of one-forms with rounding errors for zeros no coordinates can be chosen.
    """
    import numpy as np

    inertia = [size_of(masses[i, i]) for i in range(masses.rows)]
    unit = np.array([m**-0.5 if m > 0 else 1.0 for m in inertia])
    rows = np.array(forms.tolist(), dtype=float) * unit
    sizes = np.abs(rows).max(axis=1)
    sizes = np.where(sizes > 0, sizes, 1.0)
    right = np.array(balance.tolist(), dtype=float)[:, 0] * unit
    found = np.linalg.lstsq((rows / sizes[:, None]).T, right, rcond=None)[0] / sizes
    return [float(x) for x in found]
