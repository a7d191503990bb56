"""Coordinates with values in a group: what a factor of the configuration space must know of itself.

A new group is a subclass in a file of its own, and a line in `space.GROUPS`. Points are held by numbers (`numbers`);
expressions contain entries of a matrix (`entries`), which `in_numbers` writes with the numbers. Velocities and momenta are
components in the frame of the body, one per direction.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import sympy
from numpy.typing import NDArray
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from ..errors import ModelError, told
from ..symbolic import Fast
from .coordinates import Direction
from .frame import Frame
from .marks import Mark, indexed

Array = NDArray[Any]


class Entry(Mark):
    """An entry of the matrix of a group coordinate: `R[0, 2]`, called R.entry02."""

    __slots__ = ()

    @property
    def owner(self) -> str:
        """The name of the group coordinate."""
        return str(self.name).split(".")[0]

    def _render(self) -> tuple[str, str, str]:
        i, j = self.name[-2:]
        return (
            indexed(self.owner, f"{int(i) + 1}{int(j) + 1}"),
            f"{pretty_symbol(self.owner)}[{i},{j}]",
            f"{self.owner}[{i}, {j}]",
        )


class Components(tuple[Any, ...]):
    """The three components of a vector in the body, with the name of the vector: `R.omega`."""

    name: str

    def __new__(cls, name: str, components: Sequence[Any]) -> Self:
        made = super().__new__(cls, components)
        made.name = name
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Components, (self.name, tuple(self))


class Group(ABC):
    """A coordinate with values in a group of matrices: `R[i, j]` are the entries of the matrix of a point."""

    noun: ClassVar[str]
    """The kind of value, as messages name it: "rotation"."""
    size: ClassVar[int]
    """The number of rows of the matrix."""
    turns: ClassVar[tuple[str, ...]]
    """The names of the directions after that of the coordinate: R.turn1. They tell the groups apart."""
    vector_names: ClassVar[tuple[str, str]]
    """The names of the velocity and of the momentum after that of the coordinate: omega, momentum."""

    def __init__(self, name: str):
        self.name = name

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Group) and self.name == other.name

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def directions(self) -> tuple[Direction, ...]:
        """The directions of motion, in the frame of the body."""
        return tuple(Direction(f"{self.name}.{turn}") for turn in self.turns)

    @property
    def vectors(self) -> tuple[Components, Components]:
        """The velocity and the momentum, in the frame of the body."""
        velocity, momentum = (f"{self.name}.{name}" for name in self.vector_names)
        moving = Components(velocity, [d.dot for d in self.directions])
        return moving, Components(momentum, [d.momentum for d in self.directions])

    @cached_property
    def matrix(self) -> sympy.ImmutableMatrix:
        """The matrix of entries R[i, j]."""
        return sympy.ImmutableMatrix(self.size, self.size, lambda i, j: Entry(f"{self.name}.entry{i}{j}"))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries, row by row."""
        return tuple(self.matrix)

    def __getitem__(self, place: tuple[int, int]) -> Entry:
        known = range(self.size)
        try:
            i, j = place
            entry: Entry = self.matrix[known[i], known[j]]
            return entry
        except (TypeError, ValueError, IndexError):
            raise ModelError(
                f"{self.name}[{told(place)}]: a {self.noun} has {self.size} x {self.size} entries. Write "
                f"{self.name}[i, j] with i, j = {', '.join(map(str, known))}."
            ) from None

    # as a factor of the configuration space
    @property
    @abstractmethod
    def numbers(self) -> tuple[str, ...]:
        """The names of the numbers that hold a point."""

    @abstractmethod
    def in_numbers(self) -> dict[Any, Fast]:
        """The entries in terms of the numbers."""

    @abstractmethod
    def rates(self) -> list[Fast]:
        """The rates of the numbers, by the velocity."""

    @abstractmethod
    def slopes(self, k: int) -> dict[Any, Fast]:
        """X_k of every entry."""

    @property
    @abstractmethod
    def frame(self) -> Frame:
        """The fields X_k and their brackets."""

    # a step from a point g to g tau(xi)
    @abstractmethod
    def retracted(self, xi_over_h: Sequence[Fast], h: Fast) -> list[Fast]:
        """The numbers of g tau(h V), as g + h (...): the rounding error of the sum can be carried to the next step."""

    @abstractmethod
    def fraction(self, beta: Fast, xi: Sequence[Fast]) -> list[list[Fast]]:
        """The matrix that takes components at g tau(xi)^beta to components at g."""

    @abstractmethod
    def moved_entries(self, beta: Fast, xi: Sequence[Fast]) -> dict[Any, Fast]:
        """The entries of g tau(xi)^beta."""

    @abstractmethod
    def start_shift(self, xi: Sequence[Fast], u: Sequence[Fast]) -> list[Fast]:
        """What is added to xi if the first point is moved by -u and the second stays."""

    @abstractmethod
    def transport(self, xi: Sequence[Fast], p: Sequence[Fast]) -> list[Fast]:
        """By how much the components of a covector change from the frame of g to that of g tau(xi)."""

    # numbers
    @abstractmethod
    def read(self, given: Any) -> Array:
        """The numbers of one given matrix, or of one per lane; a matrix that is no point is refused."""

    @abstractmethod
    def shown(self, numbers: Array) -> Array:
        """The matrices of numbers, on two further axes."""

    @abstractmethod
    def moved(self, numbers: Array, xi: Array) -> Array:
        """The numbers of g tau(xi)."""

    @abstractmethod
    def difference(self, first: Array, second: Array) -> Array:
        """xi with second = first tau(xi)."""

    @abstractmethod
    def drawn(self, chance: random.Random) -> dict[str, float]:
        """The entries of a random point, by name."""

    # for readers
    @property
    @abstractmethod
    def unit_entries(self) -> tuple[Any, ...]:
        """The entries that are of size one in every unit."""

    @property
    @abstractmethod
    def curves(self) -> tuple[Any, ...]:
        """The entries that a figure shows against time; the first two are its path."""

    @abstractmethod
    def body_name(self, k: int) -> str:
        """The name of component k of the momentum."""

    @abstractmethod
    def in_space(self, covector: Sequence[Fast]) -> dict[str, Fast]:
        """The components of a momentum, or of a force on it, in space, by the name of the momentum."""
