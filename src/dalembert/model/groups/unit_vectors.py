"""The unit vectors of space, S^2, as rotations R up to turns about their own axis: n = R e3.

S^2 is no group, but SO(3) acts on it, and a step is one of SO(3) without a component about n: R tau(xi), xi = (a, b, 0). The
two other columns of R are axes that are carried along. Whatever a system says is a function of n and dn/dt, so that it does
not depend on how R is turned about n; hence no bracket of the two directions counts, since [E1, E2] = E3 moves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import rows as r
from .lie_group import LieGroup, Retraction
from .rotation_groups import SO3, SpaceRotations
from .rows import Rows
from .scalars import norm

Array = NDArray[Any]


class UnitVectors(SpaceRotations):
    """S^2: points are held by the quaternion of a rotation that takes the third axis to them."""

    noun = "unit vector"
    has_cayley = True

    def __init__(self) -> None:
        pieces = [("omega", "angular_momentum", "alpha", 2)]
        LieGroup.__init__(self, "S2", SO3.basis[:2], {(0, 0): 1, (1, 1): 1}, True, 1, pieces)
        self.structure_constants = {}

    @property
    def identity_numbers(self) -> list[Any]:
        """Those of the third axis."""
        return [1, 0, 0, 0]

    def adjoint_rows(self, a: Rows) -> list[list[Any]]:
        """What rotations by a do to the two directions; a turn about n is left out."""
        return [list(row[:2]) for row in a[:2]]

    def tangent_rows(self, xi: Sequence[Any], retraction: Retraction) -> list[list[Any]]:
        """dtau(xi), without the turn about n."""
        return self.adjoint_rows(SO3.tangent_rows([*xi, 0 * xi[0]], retraction))

    def shift_rows(self, xi: Sequence[Any], retraction: Retraction, end: int) -> list[list[Any]]:
        """How xi changes if the second end (1) is moved along its directions, or the first end (0) against them.

        The other vector stays, but its rotation may turn about it: by as much as leaves xi without a component about n.
        """
        back, forth = (SO3.tangent_inverse_rows([*(s * x for x in xi), 0 * xi[0]], retraction) for s in (-1, 1))
        moved = back if end else forth
        return [[moved[i][k] - back[i][2] * moved[2][k] / back[2][2] for k in range(2)] for i in range(2)]

    def step(self, numbers: Sequence[Any], v: Sequence[Any], h: Any, retraction: Retraction) -> list[Any]:
        """A rotation without a component about n."""
        return super().step(numbers, [*v, 0 * v[0]], h, retraction)

    def way(self, first: Sequence[Any], second: Sequence[Any], retraction: Retraction) -> list[Any]:
        """The shortest rotation from one vector to the other, in the axes carried by the first."""
        there = [row[2] for row in self.rows_of(second)]
        x, y, z = r.applied(r.transposed(self.rows_of(first)), there)
        if retraction == "cayley":
            with np.errstate(divide="ignore", invalid="ignore"):
                return [-2 * y / (1 + z), 2 * x / (1 + z)]
        sine = np.hypot(x, y)
        angle = np.where(sine > 0, np.arctan2(sine, z) / np.where(sine > 0, sine, 1.0), 1.0)
        return [-y * angle, x * angle]

    def number_sizes(self, sizes: Sequence[Any]) -> list[Any]:
        """Half the angle."""
        return [norm(list(sizes)) / 2] * 4

    def quaternion(self, n: Array) -> Array:
        """The quaternion of the shortest rotation of the third axis to vectors; below, by way of half a turn."""
        x, y, z = (n[..., k] for k in range(3))
        above = np.stack([1 + z, -y, x, 0 * z], axis=-1)
        below = np.stack([-y, 1 - z, 0 * z, x], axis=-1)
        found = np.where((z >= 0)[..., None], above, below)
        made: Array = found / np.linalg.norm(found, axis=-1, keepdims=True)
        return made

    def body_names(self, name: str) -> list[str]:
        """By the axes that are carried along."""
        return [f"angular momentum of {name} about axis {k + 1} of those carried along" for k in range(2)]


S2 = UnitVectors()
