"""Factors of the space of states that are numbers: lines of coordinates, and lines of entropies, which have no momentum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from numpy.typing import NDArray

from ..symbolic import Fast, fast
from .coordinates import Coordinate
from .frame import Frame

Array = NDArray[Any]

StateRole = Literal["position", "velocity", "momentum", "entropy", "rate"]
"""Roles of a layout that numbers of a factor have; "rate" is that of an entropy within a step."""


class Factor(ABC):
    """What every factor of the space of states knows: the names of its numbers in every role of a layout."""

    name: str
    role: ClassVar[StateRole] = "position"
    """The role of the numbers that hold a point."""
    axes: ClassVar[tuple[str, ...]] = ()
    """The axes that its value has in a dataset; a number has none."""
    vectors: Sequence[Any] = ()
    """The parts of velocity and momentum that have names of their own; those of a line are two numbers."""
    spatial: Sequence[Any] = ()
    """Further vectors that a start and a run have, in space."""
    vectors_are: ClassVar[str] = ""
    """In which frame these are."""
    transports = True
    """Whether the momentum at the end of a step is that of its beginning and its change, transported."""

    @property
    @abstractmethod
    def key(self) -> Any:
        """What starts, runs and events call it by."""

    @property
    @abstractmethod
    def plotted(self) -> tuple[Any, ...]:
        """What a figure shows of its motion."""

    @property
    @abstractmethod
    def directions(self) -> tuple[Coordinate, ...]:
        """The symbols of the directions of motion."""

    @property
    @abstractmethod
    def numbers(self) -> tuple[str, ...]:
        """The names of the numbers that hold a point."""

    def names(self, role: StateRole) -> tuple[str, ...]:
        """The names of its numbers in a role; none where it has no such numbers."""
        if role == self.role:
            return self.numbers
        symbols = {"velocity": [d.dot for d in self.directions], "momentum": [d.momentum for d in self.directions]}
        return tuple(s.name for s in symbols.get(role, ()))


class Line(Factor):
    """The factor of an ordinary coordinate: one number, whose retraction is addition."""

    def __init__(self, coordinate: Coordinate):
        self.coordinate, self.name = coordinate, coordinate.name
        self.entries: tuple[Any, ...] = (coordinate,)

    @property
    def key(self) -> Coordinate:
        """The coordinate."""
        return self.coordinate

    @property
    def plotted(self) -> tuple[Coordinate]:
        """The coordinate."""
        return (self.coordinate,)

    @property
    def directions(self) -> tuple[Coordinate, ...]:
        """The coordinate itself."""
        return (self.coordinate,)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The coordinate itself."""
        return (self.name,)

    def in_numbers(self) -> dict[Any, Fast]:
        """The coordinate is its own number."""
        return {}

    def rates(self) -> list[Fast]:
        """x.dot."""
        return [fast(self.coordinate.dot)]

    @property
    def frame(self) -> Frame:
        """The one field d/dx."""
        return Frame((self.coordinate.dot,), (self.coordinate.ddot,), ({fast(self.coordinate): fast(1)},))

    def retracted(self, xi_over_h: Sequence[Fast], h: Fast) -> list[Fast]:
        """x + h V."""
        return [fast(self.coordinate) + h * xi_over_h[0]]

    def moved_entries(self, beta: Fast, xi: Sequence[Fast]) -> dict[Any, Fast]:
        """x + beta xi."""
        return {fast(self.coordinate): fast(self.coordinate) + beta * xi[0]}

    def start_shift(self, xi: Sequence[Fast], u: Sequence[Fast]) -> list[Fast]:
        """u: if the first point is moved by -u, the second is farther away by u."""
        return [u[0]]

    def transport(self, xi: Sequence[Fast], p: Sequence[Fast]) -> list[Fast]:
        """Components of a vector do not change along a line."""
        return [fast(0)]

    def shown(self, numbers: Array) -> Array:
        """The numbers, without an axis for the one of them."""
        return numbers[..., 0]

    def moved(self, numbers: Array, xi: Array) -> Array:
        """x + xi."""
        return numbers + xi

    def difference(self, first: Array, second: Array) -> Array:
        """x1 - x0."""
        return second - first


class EntropyLine(Line):
    """The factor of an entropy: a line without momentum, whose rate follows from a law of its own."""

    role = "entropy"

    def names(self, role: StateRole) -> tuple[str, ...]:
        """Its number; its rate within a step is the unknown S.step. It has no velocity and no momentum."""
        return {"entropy": self.numbers, "rate": (f"{self.name}.step",)}.get(role, ())
