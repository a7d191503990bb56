"""Rotations of the plane and of space, SO(2) and SO(3), and the unit quaternions SU(2).

Points are held by a complex number or a quaternion (a, v) of any length, of half the angle: the matrix is a quotient of
quadratic forms of it, so that it is a point of the group to rounding after any number of steps.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from . import rows as r
from .lie_group import LieGroup, Retraction
from .rows import Rows
from .scalars import arc, is_number, norm, square_root, stumpff, times

Array = NDArray[Any]
HALF = Fraction(1, 2)


def cross(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """The vector product; zero on a line."""
    if len(a) == 1:
        return [0]
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def spin_product(p: Sequence[Any], q: Sequence[Any]) -> list[Any]:
    """The product of two quaternions, or of two complex numbers; a scalar part that is written 0 is left out."""
    (a, *v), (b, *w) = p, q
    scalar = a * b - r.total([x * y for x, y in zip(v, w, strict=True)])
    return [scalar, *(r.total([a * y, b * x, c]) for x, y, c in zip(v, w, cross(v, w), strict=True))]


class Spin(LieGroup):
    """A group whose points are held by a quaternion, or by a complex number, of half the angle."""

    @property
    def identity_numbers(self) -> list[Any]:
        """(1, 0, ...)."""
        return [1, *[0] * self.dimension]

    def inverse_rows(self, a: Rows) -> list[list[Any]]:
        """Transposed: the matrices are orthogonal."""
        return r.transposed(a)

    def step(self, numbers: Sequence[Any], v: Sequence[Any], h: Any, retraction: Retraction) -> list[Any]:
        """q tau(h v) = q + h (c q (0, v/2) - d q)."""
        x = [times(HALF, a) for a in v]
        square = r.total([a**2 for a in x])
        along, shorter = self.half_step(h**2 * square, retraction)
        turned = spin_product(numbers, [0, *x])
        return [a + h * (along * b - a * h * square * shorter) for a, b in zip(numbers, turned, strict=True)]

    def half_step(self, s: Any, retraction: Retraction) -> tuple[Any, Any]:
        """(c, d) with tau = (1 - d s, c x), x half the displacement and s = x.x; here Cayley's (1, x)/sqrt(1 + s)."""
        if retraction == "exp":
            return stumpff(1, s), stumpff(2, s)
        root = square_root(1 + s)
        return 1 / root, 1 / (root * (1 + root))

    def relative(self, first: Sequence[Any], second: Sequence[Any]) -> tuple[Any, list[Any]]:
        """The quaternion of first^-1 second."""
        a, *v = first
        scalar, *w = spin_product([a, *(-x for x in v)], second)
        return scalar, w

    def number_sizes(self, sizes: Sequence[Any]) -> list[Any]:
        """Half the angle."""
        return [norm(list(sizes)) / 2] * (self.dimension + 1)


class Rotations(Spin):
    """SO(2) and SO(3): of q and -q the rotation is the same."""

    noun = "rotation"

    def way(self, first: Sequence[Any], second: Sequence[Any], retraction: Retraction) -> list[Any]:
        """Cayley's xi = 2 v/a; the shortest logarithm."""
        a, v = self.relative(first, second)
        if retraction == "exp":
            a, sign = (np.abs(a), np.where(a < 0, -1.0, 1.0)) if is_number(a) else (a, 1)
            factor = arc(v, a)
            return [sign * factor * x for x in v]
        with np.errstate(divide="ignore", invalid="ignore"):
            return [2 * x / a for x in v]

    def defect(self, matrix: Array) -> tuple[Array, str]:
        """R^T R - 1; matrices with a negative determinant are far from all rotations."""
        off = np.abs(np.swapaxes(matrix, -1, -2) @ matrix - np.eye(self.size)).max(axis=(-1, -2))
        determinant = np.linalg.det(matrix)
        if (determinant < 0).any():
            worst = f"its determinant is {np.min(determinant):.6g}, that of a reflection"
            return np.where(determinant < 0, np.inf, off), worst
        return off, "R^T R differs from 1"

    def nearest(self, matrix: Array) -> Array:
        """The rotation with the least sum of squares of differences of entries, by singular values."""
        left, _, right = np.linalg.svd(matrix)
        turn = np.ones(self.size)
        turn[-1] = np.sign(np.linalg.det(left @ right))
        found: Array = left * turn @ right
        return found

    @abstractmethod
    def numbers_of(self, a: Rows) -> list[Any]:
        """The numbers of a matrix."""


class PlaneRotations(Rotations):
    """SO(2)."""

    def __init__(self) -> None:
        names = [("omega", "momentum", "alpha", 1)]
        super().__init__("SO2", [sympy.Matrix([[0, -1], [1, 0]])], {(0, 0): 1}, True, 1, names)

    number_names = ("real", "imaginary")

    def rows_of(self, numbers: Sequence[Any]) -> list[list[Any]]:
        """((a^2 - b^2, -2 a b), (2 a b, a^2 - b^2))/(a^2 + b^2)."""
        a, b = numbers
        size = a**2 + b**2
        c, s = (a**2 - b**2) / size, 2 * a * b / size
        return [[c, -s], [s, c]]

    def numbers_of(self, a: Rows) -> list[Any]:
        """(1 + c, s) or (s, 1 - c), the larger of them."""
        c, s = a[0][0], a[1][0]
        if not is_number(c):
            return [1 + c, s]
        angle = np.arctan2(s, c) / 2
        return [np.cos(angle), np.sin(angle)]

    def adjoint_rows(self, a: Rows) -> list[list[Any]]:
        """The group is commutative."""
        return [[1]]

    def body_names(self, name: str) -> list[str]:
        """One component."""
        return [f"angular momentum of {name}"]

    def space_names(self, name: str) -> list[str]:
        """The same number."""
        return [f"angular momentum of {name} in space"]


def _hat(k: int) -> sympy.Matrix:
    x = [sympy.Integer(int(i == k)) for i in range(3)]
    return sympy.Matrix([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


class SpaceRotations(Rotations):
    """SO(3), with the basis of rotations about the three axes."""

    def __init__(self) -> None:
        names = [("omega", "momentum", "alpha", 3)]
        super().__init__("SO3", [_hat(k) for k in range(3)], {(k, k): 1 for k in range(3)}, True, 1, names)

    number_names = tuple(f"quaternion{k}" for k in range(4))

    def rows_of(self, numbers: Sequence[Any]) -> list[list[Any]]:
        """The rotation of a quaternion of any length."""
        a, b, c, d = numbers
        size = a**2 + b**2 + c**2 + d**2
        rows = (
            (size - 2 * (c**2 + d**2), 2 * (b * c - a * d), 2 * (b * d + a * c)),
            (2 * (b * c + a * d), size - 2 * (b**2 + d**2), 2 * (c * d - a * b)),
            (2 * (b * d - a * c), 2 * (c * d + a * b), size - 2 * (b**2 + c**2)),
        )
        return [[x / size for x in row] for row in rows]

    def numbers_of(self, a: Rows) -> list[Any]:
        """From the largest of the four squares, which loses no digits; of expressions from the first."""
        trace = a[0][0] + a[1][1] + a[2][2]
        u, v, w = a[2][1] - a[1][2], a[0][2] - a[2][0], a[1][0] - a[0][1]
        rows = [
            [1 + trace, u, v, w],
            [u, 1 + 2 * a[0][0] - trace, a[0][1] + a[1][0], a[0][2] + a[2][0]],
            [v, a[0][1] + a[1][0], 1 + 2 * a[1][1] - trace, a[1][2] + a[2][1]],
            [w, a[0][2] + a[2][0], a[1][2] + a[2][1], 1 + 2 * a[2][2] - trace],
        ]
        if not is_number(trace):
            return rows[0]
        table = r.made(rows)
        best = np.argmax(np.stack([trace, a[0][0], a[1][1], a[2][2]], axis=-1), axis=-1)
        row = np.take_along_axis(table, best[..., None, None], axis=-2)[..., 0, :]
        length = np.linalg.norm(row, axis=-1)
        return [row[..., k] / length for k in range(4)]

    def adjoint_rows(self, a: Rows) -> list[list[Any]]:
        """Ad = R."""
        return [list(row) for row in a]

    def body_names(self, name: str) -> list[str]:
        """By the axes of the body."""
        return [f"angular momentum of {name} about axis {k + 1} of the body" for k in range(3)]

    def space_names(self, name: str) -> list[str]:
        """By the axes of space."""
        return [f"angular momentum of {name} about the {axis} axis of space" for axis in "xyz"]

    @property
    def curves(self) -> tuple[tuple[int, int], ...]:
        """The third axis of the body, in space."""
        return (0, 2), (1, 2), (2, 2)


def _left(q: Sequence[Any]) -> list[list[Any]]:
    """The matrix of the product with a quaternion from the left."""
    a, b, c, d = q
    return [[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]]


class UnitQuaternions(Spin):
    """SU(2), the unit quaternions q, as the matrices of p -> q p; its algebra is that of SO(3), with basis i/2, j/2, k/2."""

    noun = "unit quaternion"

    def __init__(self) -> None:
        units = [[sympy.Rational(int(i == k), 2) for i in range(4)] for k in (1, 2, 3)]
        names = [("omega", "momentum", "alpha", 3)]
        square = {(k, k): Fraction(1, 4) for k in range(3)}
        super().__init__("SU2", [sympy.Matrix(_left(q)) for q in units], square, True, 4, names)

    number_names = tuple(f"quaternion{k}" for k in range(4))

    def rows_of(self, numbers: Sequence[Any]) -> list[list[Any]]:
        """The matrix of q/|q|."""
        size = square_root(sum(x**2 for x in numbers))
        return _left([x / size for x in numbers])

    def numbers_of(self, a: Rows) -> list[Any]:
        """The first column."""
        return [row[0] for row in a]

    def adjoint_rows(self, a: Rows) -> list[list[Any]]:
        """The rotation 1 + 2 a V + 2 V^2 of the quaternion (a, v), V = hat(v)."""
        scalar, b, c, d = (row[0] for row in a)
        V = [[0, -d, c], [d, 0, -b], [-c, b, 0]]
        return r.plus(r.identity(3), r.scaled(2 * scalar, V), r.scaled(2, r.multiplied(V, V)))

    def half_step(self, s: Any, retraction: Retraction) -> tuple[Any, Any]:
        """Cayley's map of quaternions: (1 - s/4, x)/(1 + s/4)."""
        if retraction == "exp":
            return stumpff(1, s), stumpff(2, s)
        whole = 1 + times(Fraction(1, 4), s)
        return 1 / whole, times(HALF, s * 0 + 1) / whole

    def way(self, first: Sequence[Any], second: Sequence[Any], retraction: Retraction) -> list[Any]:
        """Cayley's xi = 4 v/(|q| + a); the logarithm, up to a whole turn."""
        a, v = self.relative(first, second)
        if retraction == "exp":
            factor = arc(v, a)
            return [factor * x for x in v]
        return [4 * x / (norm([a, *v]) + a) for x in v]

    def defect(self, matrix: Array) -> tuple[Array, str]:
        """The difference from the matrix of the unit quaternion in the first column."""
        near = r.made(self.rows_of([matrix[..., k, 0] for k in range(4)]))
        return np.abs(matrix - near).max(axis=(-1, -2)), "the matrix of its first column differs from it"

    def nearest(self, matrix: Array) -> Array:
        """The unit quaternion of the mean over the four places of each number."""
        units = np.array([_left([float(i == k) for i in range(4)]) for k in range(4)])
        found: Array = r.made(self.rows_of(list(np.einsum("kij,ij->k", units, matrix))))
        return found

    def body_names(self, name: str) -> list[str]:
        """By the axes of the body."""
        return [f"angular momentum of {name} about axis {k + 1} of the body" for k in range(3)]

    def space_names(self, name: str) -> list[str]:
        """By the axes of space."""
        return [f"angular momentum of {name} about the {axis} axis of space" for axis in "xyz"]


SO2, SO3, SU2 = PlaneRotations(), SpaceRotations(), UnitQuaternions()
