"""Expressions as nested lists of names and numbers, and back: one text for every library of expressions.

A name stands for a constant or a double in hexadecimal, [p, q] for a fraction, [operation, argument, ...] for the rest. A
`Packer` of a library has the names of its operations and makes its symbols and numbers. `packed` checks data that are read
before anything is built from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from ..errors import ModelError


class Packer(ABC):
    """Packs the expressions of one library.

    constants:   by the names of their classes
    operations:  the constructors of expressions from their arguments, by the names of the resulting classes
    """

    @property
    @abstractmethod
    def constants(self) -> Mapping[str, Any]:
        """The constants that an expression may have."""

    @property
    @abstractmethod
    def operations(self) -> Mapping[str, Any]:
        """The operations that an expression may be made of."""

    @abstractmethod
    def leaf(self, expression: Any) -> Any:
        """A symbol or a number as data; None for anything else."""

    @abstractmethod
    def fraction(self, p: int, q: int) -> Any:
        """The number p/q."""

    @abstractmethod
    def double(self, value: float) -> Any:
        """A double as a number of the library."""

    @abstractmethod
    def symbol(self, data: list[Any]) -> Any:
        """The symbol or number of its own kind that `leaf` made the data from; None if they are an operation."""

    def made(self, operation: Any, arguments: list[Any]) -> Any:
        """The operation with its arguments."""
        return operation(*arguments)

    def pack(self, expression: Any) -> Any:
        """An expression as nested lists of names and numbers."""
        leaf, kind = self.leaf(expression), type(expression).__name__
        if leaf is not None:
            return leaf
        if kind in self.constants:
            return kind
        if kind not in self.operations:
            raise ModelError(f"the function {kind} cannot be saved.")
        return [kind, *map(self.pack, expression.args)]

    def unpack(self, data: Any) -> Any:
        """The expression that `pack` made the data from, which have been checked."""
        if isinstance(data, str):
            return self.constants[data] if data in self.constants else self.double(float.fromhex(data))
        head = data[0]
        if isinstance(head, int):
            return self.fraction(head, data[1])
        symbol = self.symbol(data)
        if symbol is not None:
            return symbol
        if head not in self.operations:
            raise ModelError(f"the file names an unknown operation {head!r}.")
        return self.made(self.operations[head], list(map(self.unpack, data[1:])))
