"""Any matrix group, given by a basis of its algebra: what the formulas need is derived from the basis."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy

from ...decide.decimals import exact
from ...errors import ModelError, told
from . import rows as r
from .lie_group import LieGroup
from .matrix_logarithm import exponential
from .scalars import is_number

LARGEST = 12
"""Matrices of more rows are not taken."""


class MatrixGroup(LieGroup):
    """The connected group of matrices whose algebra has the given basis: `MatrixGroup("SL2", [E, F, H])`.

    The basis is checked: independent matrices with rational entries whose brackets are combinations of them.
    """

    def __init__(self, name: str, basis: Sequence[Any]):
        matrices = [_matrix(name, E) for E in _listed(name, basis)]
        if len({E.shape for E in matrices}) > 1:
            raise ModelError(f"MatrixGroup({name!r}): the matrices of the basis are of different sizes.")
        super().__init__(name, matrices)
        self._selection  # noqa: B018  (refuses a dependent basis)
        self.structure_constants  # noqa: B018  (refuses a basis that is no algebra)
        self.square, self.cubic = square_of(self)
        self.ad_square = ad_square_of(self)

    def exp_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """By the formula if there is one; otherwise by the series in numbers, and by SymPy in expressions."""
        if self.square is not None:
            return super().exp_rows(xi)
        A = self.hat_rows(xi)
        if all(map(is_number, xi)):
            return r.taken(exponential(r.made(A)))
        return r.taken(sympy.Matrix(A).exp())

    def cayley_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """By the formula if there is one; otherwise by elimination."""
        if self.square is not None:
            return super().cayley_rows(xi)
        B = r.scaled(Fraction(1, 2) if not all(map(is_number, xi)) else 0.5, self.hat_rows(xi))
        one = r.identity(self.size)
        return r.multiplied(self.inverse_rows(r.plus(one, r.scaled(-1, B))), r.plus(one, B))


def _listed(name: str, basis: Any) -> list[Any]:
    if not isinstance(name, str) or not name.isidentifier():
        raise ModelError(f'MatrixGroup({told(name)}): give a name of letters and digits: MatrixGroup("SL2", [...]).')
    if not isinstance(basis, Sequence) or not len(basis):
        raise ModelError(
            f"MatrixGroup({name!r}): got {told(basis)}. Expected a list of matrices, a basis of the algebra."
        )
    return list(basis)


def _matrix(name: str, given: Any) -> sympy.Matrix:
    try:
        E = sympy.Matrix(given).applyfunc(exact)
    except (TypeError, ValueError, AttributeError):
        E = sympy.zeros(1, 0)
    if E.rows != E.cols or not 0 < E.rows <= LARGEST or not all(x.is_Rational for x in E):
        raise ModelError(
            f"MatrixGroup({name!r}): got {told(given)}. Expected square matrices of at most {LARGEST} rows "
            f"with rational entries."
        )
    return E


def square_of(group: LieGroup) -> tuple[dict[tuple[int, int], int | Fraction] | None, bool]:
    """The quadratic form s with A^4 = -s A^2, and whether A^3 = -s A; None if there is none."""
    xi = sympy.symbols(f"xi:{group.dimension}", real=True)
    A = sympy.Matrix(group.hat_rows(list(xi)))
    AA = (A * A).expand()
    for cubic, low in ((True, A), (False, AA)):
        high = (low * AA).expand()
        place = next((k for k, x in enumerate(low) if x != 0), None)
        if place is None:
            return {}, False
        s = sympy.cancel(-high[place] / low[place])
        if s.is_polynomial(*xi) and (high + s * low).expand().is_zero_matrix:
            terms = sympy.Poly(s, *xi).terms() if s != 0 else []
            return {_pair(powers): Fraction(int(c.p), int(c.q)) for powers, c in terms}, cubic
    return None, False


def _pair(powers: Sequence[int]) -> tuple[int, int]:
    i, j = (k for k, p in enumerate(powers) for _ in range(p))
    return i, j


def ad_square_of(group: LieGroup) -> int | None:
    """c with ad^5 + 2 c s ad^3 + (c s)^2 ad = 0."""
    if group.square is None:
        return None
    xi = sympy.symbols(f"xi:{group.dimension}", real=True)
    ad, s = sympy.Matrix(group.ad_rows(list(xi))), sympy.sympify(group.angle_square(list(xi)))
    for c in (1, 4):
        if (ad**5 + 2 * c * s * ad**3 + (c * s) ** 2 * ad).expand().is_zero_matrix:
            return c
    return None
