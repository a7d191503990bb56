"""The algebra of a group of matrices, by a basis of it: components and matrices, brackets, structure constants."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from ...errors import ModelError, told
from . import rows as r
from .rows import Rows
from .scalars import is_zero, times


class MatrixAlgebra:
    """A Lie algebra of matrices; elements are vectors of components xi, hat(xi) = xi_k E_k."""

    def __init__(self, name: str, basis: Sequence[Any]):
        self.name = name
        self.basis = tuple(sympy.ImmutableMatrix(E) for E in basis)
        self.dimension, self.size = len(self.basis), self.basis[0].rows

    @cached_property
    def _entries(self) -> list[list[list[tuple[int, int | Fraction]]]]:
        """For each entry of hat(xi) the components in it, with their coefficients."""
        n = range(self.size)
        exact = [[[_exact(E[i, j]) for j in n] for i in n] for E in self.basis]
        return [[[(k, E[i][j]) for k, E in enumerate(exact) if E[i][j]] for j in n] for i in n]

    def hat_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """The rows of xi_k E_k."""
        return [[r.total([times(c, xi[k]) for k, c in terms]) for terms in row] for row in self._entries]

    @cached_property
    def _selection(self) -> tuple[list[tuple[int, int]], list[list[int | Fraction]]]:
        """Entries of a matrix that determine its components, and the matrix that does so."""
        places = [(i, j) for i in range(self.size) for j in range(self.size)]
        values = sympy.Matrix([[E[p] for E in self.basis] for p in places])
        chosen = list(values.T.rref()[1])
        if len(chosen) < self.dimension:
            raise ModelError(f"{self.name}: the {self.dimension} matrices of the basis are linearly dependent.")
        inverse = values.extract(chosen, list(range(self.dimension))).inv()
        return [places[i] for i in chosen], [[_exact(c) for c in inverse.row(k)] for k in range(self.dimension)]

    def vee_rows(self, a: Rows) -> list[Any]:
        """The components of a matrix of the algebra."""
        places, inverse = self._selection
        return [
            r.total([times(c, a[i][j]) for c, (i, j) in zip(row, places, strict=True) if c and not is_zero(a[i][j])])
            for row in inverse
        ]

    def hat(self, xi: Any) -> Any:
        """The matrix xi_k E_k."""
        x = self._vector(xi)
        return r.made(self.hat_rows(x), x)

    def vee(self, matrix: Any) -> Any:
        """The components of a matrix of the algebra."""
        return r.made_vector(self.vee_rows(r.taken(matrix)))

    @cached_property
    def structure_constants(self) -> dict[tuple[int, int, int], int | Fraction]:
        """{(k, i, j): c^k_ij} with [E_i, E_j] = c^k_ij E_k, those that are not zero."""
        found: dict[tuple[int, int, int], int | Fraction] = {}
        d = range(self.dimension)
        for i in d:
            for j in d:
                bracket = self.basis[i] * self.basis[j] - self.basis[j] * self.basis[i]
                components = [_exact(sympy.sympify(x)) for x in self.vee_rows(r.taken(bracket))]
                if (
                    sum((c * E for c, E in zip(map(_sympy, components), self.basis, strict=True)), 0 * bracket)
                    != bracket
                ):
                    raise ModelError(
                        f"{self.name}: the bracket of matrices {i + 1} and {j + 1} of the basis is not a combination of the "
                        f"basis. Add {sympy.Matrix(bracket).tolist()}, or take a basis of a Lie algebra."
                    )
                found |= {(k, i, j): c for k, c in enumerate(components) if c}
        return found

    def ad_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """ad(xi)^k_j = c^k_ij xi_i."""
        terms: list[list[list[Any]]] = [[[] for _ in range(self.dimension)] for _ in range(self.dimension)]
        for (k, i, j), c in self.structure_constants.items():
            terms[k][j].append(times(c, xi[i]))
        return [[r.total(t) for t in row] for row in terms]

    def ad(self, xi: Any) -> Any:
        """The matrix of eta -> [xi, eta]."""
        x = self._vector(xi)
        return r.made(self.ad_rows(x), x)

    def coad(self, xi: Any) -> Any:
        """The matrix of ad*: <ad*_xi mu, eta> = <mu, [xi, eta]>."""
        x = self._vector(xi)
        return r.made(r.transposed(self.ad_rows(x)), x)

    def bracket(self, xi: Any, eta: Any) -> Any:
        """[xi, eta]."""
        x, y = self._vector(xi), self._vector(eta)
        return r.made_vector(r.applied(self.ad_rows(x), y), [*x, *y])

    def _vector(self, given: Any) -> list[Any]:
        """The components of a given element of the algebra."""
        symbolic = isinstance(given, sympy.MatrixBase) or (
            isinstance(given, list | tuple) and any(isinstance(x, sympy.Basic) for x in given)
        )
        if symbolic:
            found = [sympy.sympify(x) for x in given]
        else:
            array = np.asarray(given, dtype=float)
            found = [array[..., k] for k in range(array.shape[-1])] if array.ndim else []
        if len(found) != self.dimension:
            raise ModelError(f"{self.name}: got {told(given)}. Expected {self.dimension} components, on the last axis.")
        return found


def _exact(c: Any) -> int | Fraction:
    """A rational number of SymPy."""
    found = Fraction(int(c.p), int(c.q))
    return int(found) if found.denominator == 1 else found


def _sympy(c: int | Fraction) -> sympy.Rational:
    return sympy.Rational(c.numerator, c.denominator)
