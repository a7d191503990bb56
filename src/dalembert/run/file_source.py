"""What a file of a run offers to whoever reads it, in any format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from .netcdf import Attribute
from .values import Array


class Source(Protocol):
    """What a file of any format offers: attributes, and arrays of a kind ("f8", "i4") with a known number of axes, by name."""

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """Texts and arrays of numbers, by name."""

    def __contains__(self, name: str) -> bool: ...

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array, without reading it."""

    def array(self, name: str, kind: str, axes: int) -> Array:
        """An array; a ValueError if it is of another kind, or has another number of axes."""
