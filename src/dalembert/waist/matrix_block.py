"""Unknowns in columns that one linear system determines, given by its matrices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..symbolic import Fast, fast, jacobian, total

Rows = tuple[tuple[Fast, ...], ...]


@dataclass(frozen=True)
class MatrixBlock:
    """matrix X + sources Y = 0, to be solved for X; X and Y have the same number of columns.

    It gives by matrices what a linear `Block` gives by equations: the engine evaluates the matrices once and factors one of
    them, however many columns there are, and its code grows with the entries that are not zero.
    """

    unknowns: tuple[str, ...]
    """The names of X, row by row."""
    matrix: Rows
    """Empty for minus the identity: X = sources Y."""
    sources: Rows
    given: tuple[str, ...]
    """The names of Y, row by row."""
    columns: int

    def __post_init__(self) -> None:
        n, rows = len(self.sources), len(self.given) // self.columns
        square = not self.matrix or [len(row) for row in self.matrix] == [n] * n
        if not square or len(self.unknowns) != n * self.columns or any(len(row) != rows for row in self.sources):
            raise ValueError(
                f"a block of {n} equations in {self.columns} columns has {len(self.unknowns)} unknowns and "
                f"{len(self.given)} given variables; the sizes of its matrices do not agree with that."
            )

    @property
    def entries(self) -> tuple[Fast, ...]:
        """The entries of both matrices, row by row."""
        return tuple(e for rows in (self.matrix, self.sources) for row in rows for e in row)

    @property
    def ingredients(self) -> tuple[Fast, ...]:
        """All expressions that determine the unknowns."""
        return (*self.entries, *map(fast, self.given))

    @property
    def guess(self) -> tuple[Fast, ...]:
        """Zeros: nothing is searched for."""
        return (fast(0),) * len(self.unknowns)

    @cached_property
    def residual(self) -> tuple[Fast, ...]:
        """The equations, written out."""
        return tuple(total(self._terms(i, c)) for i in range(len(self.sources)) for c in range(self.columns))

    def _terms(self, i: int, c: int) -> Iterator[Fast]:
        if not self.matrix:
            yield -fast(self.unknowns[i * self.columns + c])
        else:
            yield from (a * fast(self.unknowns[j * self.columns + c]) for j, a in enumerate(self.matrix[i]))
        yield from (b * fast(self.given[j * self.columns + c]) for j, b in enumerate(self.sources[i]))

    @cached_property
    def jacobian(self) -> list[list[Fast]]:
        """d residual / d unknowns."""
        return jacobian(self.residual, self.unknowns)

    @cached_property
    def partials(self) -> dict[tuple[int, int], Fast]:
        """The entries of `matrix` that are not zero, by row and column: the derivatives of the equations of one column."""
        return {(i, j): a for i, row in enumerate(self.matrix) for j, a in enumerate(row) if a != 0}

    @property
    def is_linear(self) -> bool:
        """Always true."""
        return True

    @property
    def is_diagonal(self) -> bool:
        """Whether the unknowns are given explicitly, so that nothing is solved."""
        return not self.matrix
