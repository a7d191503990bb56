"""Sizes and names of what a point of a group is held by, for messages, scales and pictures; groups override what they know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .scalars import norm


class PointNames:
    """Sizes of entries and numbers, names of momenta, entries worth drawing."""

    dimension: int
    size: int

    @property
    def number_names(self) -> tuple[str, ...]:
        """The names of the numbers that hold a point."""
        raise NotImplementedError

    @property
    def entry_units(self) -> dict[tuple[int, int], int]:
        """Entries that are lengths, or of other dimension: the component that has the same; the others are of size one."""
        return {}

    def number_sizes(self, sizes: Sequence[Any]) -> list[Any]:
        """Sizes of components of a displacement as sizes of the changes of the numbers."""
        return [norm(list(sizes))] * len(self.number_names)

    def position(self, numbers: Sequence[Any]) -> list[Any]:
        """Displacements from the origin, one per component; zero where a position is no displacement."""
        return [numbers[0] * 0.0] * self.dimension

    # names
    def body_names(self, name: str) -> list[str]:
        """The names of the components of the momentum in the body."""
        return [f"momentum {k + 1} of {name} in its own frame" for k in range(self.dimension)]

    def space_names(self, name: str) -> list[str]:
        """The names of the components of the momentum in space."""
        return [f"momentum {k + 1} of {name} in space" for k in range(self.dimension)]

    @property
    def curves(self) -> tuple[tuple[int, int], ...]:
        """The entries that a figure shows against time; the first two are its path."""
        return tuple((i, 0) for i in range(self.size))
