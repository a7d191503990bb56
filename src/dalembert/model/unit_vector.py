"""A coordinate with values on the unit sphere: `n = direction("n")`, with components n[0], n[1], n[2] in space.

It has two directions of motion, rotations about two axes perpendicular to n that are carried
along (`model/groups/unit_vectors`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from ..errors import ModelError, StartError, told
from ..symbolic import Fast, fast
from .group_coordinate import Components, Entry, GroupCoordinate
from .groups import SO3, LieGroup
from .groups import rows as r
from .groups.given_points import NOT_A_POINT
from .groups.lie_group import Retraction
from .groups.unit_vectors import S2
from .marks import indexed

Array = NDArray[Any]


class UnitComponent(Entry):
    """A component of a unit vector: `n[2]`, called n.component2; its place is in the last column of the rotation."""

    __slots__ = ()

    @staticmethod
    def _word(row: int, column: int) -> str:
        return f"component{row}"

    def _render(self) -> tuple[str, str, str]:
        i = self.place[0]
        return (
            indexed(self.owner, str(i + 1)),
            f"{sympy.pretty(sympy.Symbol(self.owner), use_unicode=True)}[{i}]",
            f"{self.owner}[{i}]",
        )


class UnitVector(GroupCoordinate):
    """A unit vector n: `n[i]` are its components in space, `n.velocity` those of dn/dt.

    `n.omega` are the two components of its angular velocity n x dn/dt along axes perpendicular to n that are carried along,
    so that its speed squared is n.omega[0]**2 + n.omega[1]**2. In forces={n: (a, b, c)} a force is given in space. A start is
    {n: (x, y, z), n.velocity: (a, b, c)}, or with n.momentum, both in space and perpendicular to n.
    """

    axes = ("component",)
    vectors_are = "in space"

    def __init__(self, name: str, retraction: Retraction = "cayley"):
        super().__init__(name, S2, retraction)

    def __reduce__(self) -> tuple[Any, ...]:
        return UnitVector, (self.name, self.retraction)

    @cached_property
    def matrix(self) -> sympy.ImmutableMatrix:
        """The rotation that takes the third axis to n; its first two columns are the axes carried along."""

        def entry(i: int, j: int) -> Entry:
            return (UnitComponent if j == 2 else Entry)(self.name, (i, j))

        return sympy.ImmutableMatrix(3, 3, entry)

    def __getitem__(self, place: Any) -> Any:
        try:
            return self.matrix[range(3)[place], 2]
        except (TypeError, IndexError):
            raise ModelError(
                f"{self.name}[{told(place)}]: a unit vector has 3 components. Write {self.name}[i] with i = 0, 1, 2."
            ) from None

    def _spatial(self, part: str, components: Sequence[Any]) -> Components:
        """A vector perpendicular to n, of components (a, b) along its directions: b R e1 - a R e2."""
        a, b = components
        return Components(f"{self.name}.{part}", [b * self.matrix[i, 0] - a * self.matrix[i, 1] for i in range(3)])

    @cached_property
    def velocity(self) -> Components:
        """dn/dt, in space."""
        return self._spatial("velocity", [d.dot for d in self.directions])

    @cached_property
    def momentum(self) -> Components:
        """The momentum perpendicular to n whose product with dn/dt is that of angular momentum and angular velocity."""
        return self._spatial("momentum", [d.momentum for d in self.directions])

    @property
    def spatial(self) -> tuple[Components, ...]:  # type: ignore[override]  # computed here
        """Vectors in space: velocity and momentum."""
        return self.velocity, self.momentum

    def by_direction(self, given: Any) -> tuple[Any, ...]:
        """The torques of a force that is given in space, along the two directions."""
        try:
            force = tuple(given)
        except TypeError:
            force = ()
        if len(force) != 3:
            raise ModelError(
                f"force on {self.name}: got {told(given)}. Expected its 3 components in space: "
                f"forces={{{self.name}: (0, 0, 0)}}."
            )
        along = [sum(self.matrix[i, j] * f for i, f in enumerate(force)) for j in range(2)]
        return -along[1], along[0]

    # a step
    transports = False

    @property
    def acting(self) -> LieGroup:
        """The rotations."""
        return SO3

    def start_shift(self, xi: Sequence[Fast], u: Sequence[Fast]) -> list[Fast]:
        """What is added to xi if the first vector is moved by -u and the second stays."""
        return list(map(fast, r.applied(S2.shift_rows(xi, self.retraction, 0), u)))

    def end_shift(self, xi: Sequence[Fast], u: Sequence[Fast]) -> list[Fast]:
        """What is added to xi if the second vector is moved by u and the first stays."""
        return list(map(fast, r.applied(S2.shift_rows(xi, self.retraction, 1), u)))

    # numbers
    def read(self, given: Any, role: str = "start", axis: str = "lane") -> Array:
        """The numbers of one given vector, or of one per lane; one whose length is not 1 is refused."""
        n = np.asarray(given, dtype=float)
        if n.shape[-1:] != (3,) or n.ndim not in (1, 2):
            raise StartError(
                f"{role}: {self.name} has shape {n.shape}. Give the 3 components of a unit vector, or an array ({axis}s, 3)."
            )
        if not np.isfinite(n).all():
            raise StartError(
                f"{role}: {self.name} has components that are not finite. Give the 3 components of a unit vector."
            )
        length = np.linalg.norm(n, axis=-1)
        off = np.abs(length - 1)
        if (off > NOT_A_POINT).any():
            worst = np.unravel_index(int(np.argmax(off)), off.shape) if off.ndim else ()
            lane = f" ({axis} {worst[0]})" if worst else ""
            near = _list(n[worst] / length[worst]) if length[worst] > 0 else "any vector of length 1"
            raise StartError(
                f"{role}: {self.name}{lane} is no unit vector: its length is {length[worst]:.12g}. The nearest is {near}."
            )
        return S2.quaternion(n)

    def read_spatial(self, vector: Components, given: Array, held: Array) -> Array:
        """Components along the directions of vectors given in space; one that is not perpendicular to n is refused."""
        if given.shape[-1:] != (3,) or given.ndim > 2:
            raise StartError(
                f"start: {vector.name} has shape {given.shape}. Give 3 components in space, or an array (lanes, 3)."
            )
        matrix = r.made(S2.rows_of(self._held(held)))
        turned = np.einsum("...ji,...j->...i", matrix, given)
        size = np.linalg.norm(given, axis=-1)
        if (np.abs(turned[..., 2]) > NOT_A_POINT * size).any():
            lane = int(np.argmax(np.abs(np.atleast_1d(turned[..., 2]))))
            flat = turned.copy()
            flat[..., 2] = 0
            near = np.einsum("...ij,...j->...i", matrix, flat)
            raise StartError(
                f"start: {vector.name} is not perpendicular to {self.name}: its component along {self.name} is "
                f"{np.atleast_1d(turned[..., 2])[lane]:.6g}. The nearest that is: {_list(np.atleast_2d(near)[lane])}."
            )
        return np.stack([-turned[..., 1], turned[..., 0]], axis=-1)

    def shown(self, numbers: Array) -> Array:
        """The vectors, on one further axis."""
        return super().shown(numbers)[..., 2]

    def shown_spatial(self, numbers: Array, components: Array) -> Array:
        """Vectors in space of components along the directions."""
        matrix = super().shown(numbers)
        found: Array = components[..., 1:] * matrix[..., 0] - components[..., :1] * matrix[..., 1]
        return found

    # for readers
    @property
    def expected(self) -> str:
        """What a start gives for it."""
        return "the 3 components of a unit vector"

    def in_space(self, covector: Sequence[Fast]) -> dict[str, Fast]:
        """The components of an angular momentum n x p, or of a torque, in space, by the name of the momentum."""
        a, b = covector
        rows = [fast(self.matrix[i, 0]) * a + fast(self.matrix[i, 1]) * b for i in range(3)]
        return dict(zip(S2.space_names(self.name), rows, strict=True))

    def space_rates(self, torques: Sequence[Fast], momenta: Sequence[Fast]) -> dict[str, Fast]:
        """The rates of the angular momenta in space; that about n is the product of angular velocity and momentum."""
        (a, b), (p, q) = (fast(d.dot) for d in self.directions), momenta
        about = [fast(self.matrix[i, 2]) * (a * q - b * p) for i in range(3)]
        return {name: x + y for (name, x), y in zip(self.in_space(torques).items(), about, strict=True)}


def _list(vector: Array) -> str:
    return np.array2string(vector, separator=", ", precision=12)
