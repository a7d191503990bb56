"""A point of the rotation group SO(3) as a coordinate: `da.rotation("R")`.

`R[i, j]` are the entries of its matrix, which takes components in the body to components in space, and `R.omega` is the
angular velocity in the body: dR/dt = R hat(omega). Its frame consists of the three rotations about the axes of the body,
X_k R = R hat(e_k), with [X_i, X_j] = eps_ijk X_k.

A point is held as a quaternion q of any length: R(q) is a quotient of quadratic forms, so that it is a rotation to rounding
after any number of steps. The retraction is Cayley's: q tau(xi) with tau(xi) proportional to (1, xi/2).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy import Symbol

from ..errors import ModelError, StartError, told
from ..symbolic import Fast, fast, total
from .coordinates import check_name
from .frame import Frame
from .group import Components, Group

Array = NDArray[Any]

NOT_A_ROTATION = 1e-9
"""How far the columns of a given matrix may be from orthonormal; entries of rotations are of size one, whatever the units."""


class Rotation(Group):
    """A rotation: `R[i, j]`, `R.matrix`, `R.omega`, `R.momentum` and `R.alpha`, components in the body.

    In forces={R: (a, b, c)} the torque is given in the body too. A start is {R: matrix, R.omega: (1, 2, 3)}.
    """

    noun, size, turns, vector_names = "rotation", 3, ("turn1", "turn2", "turn3"), ("omega", "momentum")

    @property
    def omega(self) -> Components:
        """The angular velocity in the body."""
        return self.vectors[0]

    @property
    def alpha(self) -> Components:
        """The rate of the angular velocity in the body."""
        return Components(f"{self.name}.alpha", [d.ddot for d in self.directions])

    @property
    def momentum(self) -> Components:
        """The angular momentum dL/d(omega) in the body."""
        return self.vectors[1]

    # as a factor of the configuration space
    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the numbers that hold a point: a quaternion."""
        return tuple(f"{self.name}.quaternion{k}" for k in range(4))

    def in_numbers(self) -> dict[Any, Fast]:
        """The entries in terms of the quaternion."""
        a, b, c, d = map(fast, self.numbers)
        size = a**2 + b**2 + c**2 + d**2
        rows = (
            (size - 2 * (c**2 + d**2), 2 * (b * c - a * d), 2 * (b * d + a * c)),
            (2 * (b * c + a * d), size - 2 * (b**2 + d**2), 2 * (c * d - a * b)),
            (2 * (b * d - a * c), 2 * (c * d + a * b), size - 2 * (b**2 + c**2)),
        )
        return {fast(self.matrix[i, j]): rows[i][j] / size for i in range(3) for j in range(3)}

    def rates(self) -> list[Fast]:
        """The rates of the quaternion: q (0, omega) / 2."""
        q, w = list(map(fast, self.numbers)), [fast(v) / 2 for v in self.omega]
        return _product(q, [fast(0), *w])

    def slopes(self, k: int) -> dict[Any, Fast]:
        """X_k of every entry: R hat(e_k)."""
        turned = self.matrix * _hat([fast(int(i == k)) for i in range(3)])
        return {fast(e): fast(turned[i]) for i, e in enumerate(self.entries)}

    @property
    def frame(self) -> Frame:
        """The rotations about the axes of the body: X_k R = R hat(e_k), [X_i, X_j] = eps_ijk X_k."""
        turns = {(0, 1, 2): 1, (1, 2, 0): 1, (2, 0, 1): 1, (0, 2, 1): -1, (1, 0, 2): -1, (2, 1, 0): -1}
        return Frame(self.omega, self.alpha, tuple(self.slopes(k) for k in range(3)), turns)

    # a step: R1 = R0 tau(xi)
    def retracted(self, xi_over_h: Sequence[Fast], h: Fast) -> list[Fast]:
        """The quaternion of R tau(h V): q + h (...), so that the rounding error of the sum can be compensated."""
        q, x = list(map(fast, self.numbers)), [v / 2 for v in xi_over_h]
        square = sum((a**2 for a in x), start=fast(0))
        root = _root(1 + h**2 * square)
        turned = _product(q, [fast(0), *x])
        return [a + h * (b / root - a * h * square / (root * (1 + root))) for a, b in zip(q, turned, strict=True)]

    def fraction(self, beta: Fast, xi: Sequence[Fast]) -> list[list[Fast]]:
        """The matrix of the motion through a fraction of a step, tau(xi)^beta; Cayley's of beta xi, if beta is not 1/2."""
        if beta == 0:
            return [[fast(int(i == j)) for j in range(3)] for i in range(3)]
        x = [a / 2 for a in xi]
        if beta == fast(1) / 2:
            return _half_turn(x)
        if beta != 1:
            x = [beta * a for a in x]
        return _turn(x)

    def moved_entries(self, beta: Fast, xi: Sequence[Fast]) -> dict[Any, Fast]:
        """The entries of R tau(xi)^beta."""
        turn = self.fraction(beta, xi)
        return {
            fast(self.matrix[i, j]): sum((fast(self.matrix[i, m]) * turn[m][j] for m in range(3)), start=fast(0))
            for i in range(3)
            for j in range(3)
        }

    def start_shift(self, xi: Sequence[Fast], u: Sequence[Fast]) -> list[Fast]:
        """What is added to xi if the first point is moved by -u and the second stays: d(tau^-1)(xi) u."""
        along = sum((a * b for a, b in zip(xi, u, strict=True)), start=fast(0)) / 4
        across = _cross(xi, u)
        return [b - c / 2 + along * a for a, b, c in zip(xi, u, across, strict=True)]

    def transport(self, xi: Sequence[Fast], p: Sequence[Fast]) -> list[Fast]:
        """By how much the components of a vector in the body change when the body turns by tau(xi): (tau^T - 1) p."""
        x = [a / 2 for a in xi]
        c = 2 / (1 + sum((a**2 for a in x), start=fast(0)))
        first = _cross(p, x)
        return [c * (a + b) for a, b in zip(first, _cross(first, x), strict=True)]

    # for readers
    @property
    def unit_entries(self) -> tuple[Any, ...]:
        """All entries."""
        return self.entries

    @property
    def curves(self) -> tuple[Any, ...]:
        """The third axis of the body, in space."""
        return tuple(self.matrix[:, 2])

    def body_name(self, k: int) -> str:
        """The angular momentum about an axis of the body."""
        return f"angular momentum of {self.name} about axis {k + 1} of the body"

    def in_space(self, covector: Sequence[Fast]) -> dict[str, Fast]:
        """R p, by the axes of space."""
        rows = [[fast(self.matrix[i, j]) * covector[j] for j in range(3)] for i in range(3)]
        names = (f"angular momentum of {self.name} about the {axis} axis of space" for axis in "xyz")
        return dict(zip(names, map(total, rows), strict=True))

    # numbers
    def drawn(self, chance: random.Random) -> dict[str, float]:
        """The entries of a random rotation, by name."""
        matrix = self.shown(np.array([chance.gauss(0, 1) for _ in range(4)]))
        return {e.name: float(x) for e, x in zip(self.entries, matrix.ravel(), strict=True)}

    def read(self, given: Any) -> Array:
        """The quaternions of one rotation matrix, or of one per lane; shape (4,) or (lanes, 4)."""
        matrix = np.asarray(given, dtype=float)
        if matrix.shape[-2:] != (3, 3) or matrix.ndim not in (2, 3):
            raise StartError(
                f"start: {self.name} has shape {matrix.shape}. Give a 3 x 3 rotation matrix, or an array (lanes, 3, 3)."
            )
        if not np.isfinite(matrix).all():
            raise StartError(f"start: {self.name} has entries that are not finite. Give a 3 x 3 rotation matrix.")
        off = np.abs(np.swapaxes(matrix, -1, -2) @ matrix - np.eye(3)).max(axis=(-1, -2))
        improper = np.linalg.det(matrix) < 0
        if (off > NOT_A_ROTATION).any() or improper.any():
            raise StartError(self._no_rotation(matrix, off, improper))
        return _quaternions(matrix)

    def _no_rotation(self, matrix: Array, off: Array, improper: Array) -> str:
        worst = np.unravel_index(int(np.argmax(off + 10 * improper)), off.shape) if off.ndim else ()
        lane = f" (lane {worst[0]})" if worst else ""
        left, _, right = np.linalg.svd(matrix[worst])
        if improper[worst]:
            return (
                f"start: {self.name}{lane} is no rotation: its determinant is {np.linalg.det(matrix[worst]):.6g}, that of a "
                f"reflection. Give a matrix with orthonormal columns and determinant 1."
            )
        nearest = np.array2string(left @ right, separator=", ", precision=12).replace("\n", "")
        return (
            f"start: {self.name}{lane} is no rotation: R^T R differs from 1 by up to {off[worst]:.3g}. The nearest rotation "
            f"is {nearest}."
        )

    def shown(self, numbers: Array) -> Array:
        """The matrices (..., 3, 3) of quaternions (..., 4)."""
        a, b, c, d = np.moveaxis(numbers, -1, 0)
        size = a**2 + b**2 + c**2 + d**2
        rows = [
            [size - 2 * (c**2 + d**2), 2 * (b * c - a * d), 2 * (b * d + a * c)],
            [2 * (b * c + a * d), size - 2 * (b**2 + d**2), 2 * (c * d - a * b)],
            [2 * (b * d - a * c), 2 * (c * d + a * b), size - 2 * (b**2 + c**2)],
        ]
        return np.moveaxis(np.array(rows) / size, (0, 1), (-2, -1))

    def moved(self, numbers: Array, xi: Array) -> Array:
        """The quaternions of R tau(xi), (..., 4) and (..., 3)."""
        a, v, x = numbers[..., :1], numbers[..., 1:], xi / 2
        turned = np.concatenate([-(v * x).sum(axis=-1, keepdims=True), a * x + np.cross(v, x)], axis=-1)
        moved: Array = (numbers + turned) / np.sqrt(1 + (x**2).sum(axis=-1, keepdims=True))
        return moved

    def difference(self, first: Array, second: Array) -> Array:
        """xi with second = first tau(xi), of quaternions (..., 4)."""
        a, v = first[..., :1], first[..., 1:]
        b, w = second[..., :1], second[..., 1:]
        scalar = a * b + (v * w).sum(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            xi: Array = 2 * (a * w - b * v - np.cross(v, w)) / scalar
            return xi


def rotation(name: str) -> Rotation:
    """Make a coordinate with values in the rotation group: `R = rotation("R")`, with entries R[i, j] and R.omega.

    >>> R = rotation("R")
    >>> R[0, 2], R.omega[2]
    (R[0, 2], R.omega[2])
    """
    if not isinstance(name, str) or " " in name.strip():
        raise ModelError(f'rotation({told(name)}): give one name: rotation("R").')
    check_name("rotation", Symbol(name))
    return Rotation(name)


def _root(e: Fast) -> Fast:
    import symengine

    return symengine.sqrt(e)


def _cross(a: Sequence[Fast], b: Sequence[Fast]) -> list[Fast]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _product(p: Sequence[Fast], q: Sequence[Fast]) -> list[Fast]:
    """The product of two quaternions."""
    (a, *v), (b, *w) = p, q
    scalar = a * b - sum((x * y for x, y in zip(v, w, strict=True)), start=fast(0))
    return [scalar, *(a * y + b * x + c for x, y, c in zip(v, w, _cross(v, w), strict=True))]


def _hat(x: Sequence[Any]) -> sympy.Matrix:
    """The matrix of v -> x cross v."""
    a, b, c = map(sympy.sympify, x)
    return sympy.Matrix([[0, -c, b], [c, 0, -a], [-b, a, 0]])


def _turn(x: Sequence[Fast]) -> list[list[Fast]]:
    """The rotation of the quaternion (1, x): 1 + 2 (hat x + hat x^2) / (1 + x.x)."""
    a, b, c = x
    square = a**2 + b**2 + c**2
    factor = 2 / (1 + square)
    hat = ((0, -c, b), (c, 0, -a), (-b, a, 0))
    return [
        [fast(int(i == j)) + factor * (hat[i][j] + x[i] * x[j] - (square if i == j else 0)) for j in range(3)]
        for i in range(3)
    ]


def _half_turn(x: Sequence[Fast]) -> list[list[Fast]]:
    """The square root of that rotation: 1 + hat x / r + hat x^2 / (r (1 + r)) with r^2 = 1 + x.x."""
    a, b, c = x
    square = a**2 + b**2 + c**2
    root = _root(1 + square)
    hat = ((0, -c, b), (c, 0, -a), (-b, a, 0))
    return [
        [
            fast(int(i == j)) + hat[i][j] / root + (x[i] * x[j] - (square if i == j else 0)) / (root * (1 + root))
            for j in range(3)
        ]
        for i in range(3)
    ]


def _quaternions(matrix: Array) -> Array:
    """The unit quaternions of rotation matrices, from the largest of the four squares, which loses no digits."""
    m = matrix.reshape(-1, 3, 3)
    trace = np.trace(m, axis1=1, axis2=2)
    squares = np.stack([trace, m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]], axis=1)
    found = np.empty((len(m), 4))
    for lane, k in enumerate(np.argmax(squares, axis=1)):
        r = m[lane]
        table = np.array([
            [1 + trace[lane], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
            [r[2, 1] - r[1, 2], 1 + 2 * r[0, 0] - trace[lane], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
            [r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], 1 + 2 * r[1, 1] - trace[lane], r[1, 2] + r[2, 1]],
            [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], 1 + 2 * r[2, 2] - trace[lane]],
        ])  # fmt: skip
        found[lane] = table[k] / np.linalg.norm(table[k])
    return found.reshape(*matrix.shape[:-2], 4)
