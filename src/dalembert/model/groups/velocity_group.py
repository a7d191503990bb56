"""A group of which only the velocity xi = g^-1 dg/dt matters: its structure constants, and no numbers that hold a point.

It is a factor of the space of a system reduced by a symmetry. Steps need the adjoint action of exp(xi) and the tangent of exp
only, and both are functions of ad.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from ...errors import ModelError
from . import rows as r
from .lie_group import LieGroup, Retraction
from .matrix_group import ad_square_of, square_of
from .rows import Rows

Array = NDArray[Any]


class VelocityGroup(LieGroup):
    """The group with [e_i, e_j] = c^k_ij e_k, {(k, i, j): c}; its matrices are those of ad.

    names:  one for each element, by which velocities are called: xi_a for a
    """

    noun = "group velocity"

    def __init__(self, names: Sequence[str], structure: Mapping[tuple[int, int, int], int | Fraction]):
        d = len(names)
        constants = {place: c for place, c in structure.items() if c}
        ads = [sympy.zeros(d, d) for _ in range(d)]
        for (k, i, j), c in constants.items():
            ads[i][k, j] = sympy.Rational(c.numerator, c.denominator)
        pieces = [(f"xi_{n}", f"mu_{n}", f"xi_{n}.dot", 1) for n in names]
        super().__init__("along_" + "_".join(names), ads, pieces=pieces)
        self.names, self._constants = tuple(names), constants
        self.square, self.cubic = square_of(self)
        self.ad_square = ad_square_of(self)

    @property
    def structure_constants(self) -> dict[tuple[int, int, int], int | Fraction]:
        """As they were given: matrices of ad do not show the centre of the group."""
        return self._constants

    # no numbers hold a point
    @property
    def number_names(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def identity_numbers(self) -> list[Any]:
        """None."""
        return []

    def rows_of(self, numbers: Sequence[Any]) -> list[list[Any]]:
        """The unit matrix, which has no entry that differs from point to point."""
        return r.identity(self.size)

    def step(self, numbers: Sequence[Any], v: Sequence[Any], h: Any, retraction: Retraction) -> list[Any]:
        """No number changes."""
        return []

    def number_sizes(self, sizes: Sequence[Any]) -> list[Any]:
        """None."""
        return []

    def position(self, numbers: Sequence[Any]) -> list[Any]:
        """Zero: there is no position."""
        return [np.zeros(())] * self.dimension

    @property
    def curves(self) -> tuple[tuple[int, int], ...]:
        """None."""
        return ()

    # the adjoint action of exp(xi) is exp(ad)
    def adjoint_rows(self, a: Rows) -> list[list[Any]]:
        """The matrices are those of the adjoint action."""
        return [list(row) for row in a]

    def inverse_rows(self, a: Rows) -> list[list[Any]]:
        """Only the unit matrix is asked for."""
        return [list(row) for row in a]

    @property
    def has_cayley(self) -> bool:
        """There is no group of matrices at hand for Cayley's map."""
        return False

    @property
    def has_formulas(self) -> bool:
        """Whether exp(ad) has a formula: otherwise no step of a variational method has."""
        return self.square is not None and self.ad_square is not None

    def need_formulas(self) -> None:
        """Refuse a group without one."""
        if not self.has_formulas:
            raise ModelError(
                f"simulate: for the group with elements {', '.join(self.names)} the exponential of ad has no formula "
                f"(ad^4 = -s ad^2). Simulate the system itself, and reduce by a subgroup."
            )
