"""R^n, as translations, and Heisenberg's group: points are held by their coordinates, and exp and Cayley's map agree."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from ...errors import ModelError, told
from . import rows as r
from .lie_group import LieGroup, Retraction
from .rows import Rows
from .scalars import times

Array = NDArray[Any]


def unit_entry(n: int, i: int, j: int) -> sympy.Matrix:
    """The matrix with a single one."""
    return sympy.Matrix(n, n, lambda a, b: int((a, b) == (i, j)))


class Unipotent(LieGroup):
    """A group of matrices with ones on the diagonal, whose other entries at `places` are free."""

    noun = "point"
    places: tuple[tuple[int, int], ...]

    @property
    def number_names(self) -> tuple[str, ...]:
        """x1, x2, ...."""
        return tuple(f"x{k + 1}" for k in range(self.dimension))

    @property
    def identity_numbers(self) -> list[Any]:
        """The origin."""
        return [0] * self.dimension

    def rows_of(self, numbers: Sequence[Any]) -> list[list[Any]]:
        """The unit matrix with the numbers at their places."""
        found = r.identity(self.size)
        for (i, j), x in zip(self.places, numbers, strict=True):
            found[i][j] = x
        return found

    def numbers_of(self, a: Rows) -> list[Any]:
        """The entries at the places."""
        return [a[i][j] for i, j in self.places]

    def inverse_rows(self, a: Rows) -> list[list[Any]]:
        """1 - N + N^2 with N = a - 1."""
        N = r.plus(a, r.scaled(-1, r.identity(self.size)))
        return r.plus(r.identity(self.size), r.scaled(-1, N), r.multiplied(N, N))

    def defect(self, matrix: Array) -> tuple[Array, str]:
        """The entries that must be 0 or 1."""
        off = np.abs(matrix - r.made(self.rows_of([matrix[..., i, j] for i, j in self.places])))
        return off.max(axis=(-1, -2)), "entries that must be 0 or 1 are off"

    def nearest(self, matrix: Array) -> Array:
        """The entries at their places kept, the others corrected."""
        found: Array = r.made(self.rows_of([matrix[i, j] for i, j in self.places]))
        return found

    @property
    def entry_units(self) -> dict[tuple[int, int], int]:
        """Every number has the unit of its component."""
        return {place: k for k, place in enumerate(self.places)}

    def number_sizes(self, sizes: Sequence[Any]) -> list[Any]:
        """The components themselves."""
        return list(sizes)

    def position(self, numbers: Sequence[Any]) -> list[Any]:
        """The numbers."""
        return list(numbers)

    @property
    def curves(self) -> tuple[tuple[int, int], ...]:
        """The numbers."""
        return self.places


class Translations(Unipotent):
    """R^n: the matrices with ones on the diagonal and x in the last column."""

    def __init__(self, n: int):
        self.places = tuple((i, n) for i in range(n))
        super().__init__(f"R{n}", [unit_entry(n + 1, i, n) for i in range(n)], {})

    def step(self, numbers: Sequence[Any], v: Sequence[Any], h: Any, retraction: Retraction) -> list[Any]:
        """x + h v."""
        return [x + h * a for x, a in zip(numbers, v, strict=True)]

    def way(self, first: Sequence[Any], second: Sequence[Any], retraction: Retraction) -> list[Any]:
        """The difference."""
        return [b - a for a, b in zip(first, second, strict=True)]

    def adjoint_rows(self, a: Rows) -> list[list[Any]]:
        """The group is commutative."""
        return r.identity(self.dimension)


class HeisenbergGroup(Unipotent):
    """The matrices ((1, x, z), (0, 1, y), (0, 0, 1)); [E_1, E_2] = E_3."""

    places = ((0, 1), (1, 2), (0, 2))

    def __init__(self) -> None:
        super().__init__("Heisenberg", [unit_entry(3, i, j) for i, j in self.places], {})

    def step(self, numbers: Sequence[Any], v: Sequence[Any], h: Any, retraction: Retraction) -> list[Any]:
        """(x + h a, y + h b, z + h (c + x b + h a b/2))."""
        (x, y, z), (a, b, c) = numbers, v
        return [x + h * a, y + h * b, z + h * (c + x * b + times(Fraction(1, 2), h * a * b))]

    def way(self, first: Sequence[Any], second: Sequence[Any], retraction: Retraction) -> list[Any]:
        """(x, y, z - x y/2) of the point that leads from the first to the second."""
        (x, y, z), (u, v, w) = first, second
        a, b = u - x, v - y
        return [a, b, w - z - x * b - times(Fraction(1, 2), a * b)]


def R(n: int) -> Translations:
    """R^n as a group."""
    if not isinstance(n, int) or not 1 <= n <= 99:
        raise ModelError(f"R({told(n)}): give a whole number of dimensions from 1 to 99: R(3).")
    return Translations(n)


Heisenberg = HeisenbergGroup()
