"""Numbers that code works with: few as values, many as stretches of memory, which loops go through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .emitter import Array, Emitter, Handle, Index

FEW = 32
"""Fewer numbers than this are handled one by one; the code for more is a loop."""


class Place(NamedTuple):
    """A number in memory, to be loaded where it is used."""

    array: Array
    base: Index
    offset: int

    def at(self, e: Emitter, by: Index = 0) -> Index:
        """The index of this number, or of the one that stands so many places after it."""
        return moved(e, moved(e, self.base, self.offset), by)


Known = Mapping[str, Handle | Place]
"""The numbers that names stand for."""

Numbers = Sequence[Handle] | Place
"""Values one by one, or the first of a stretch of memory."""


def value(e: Emitter, known: Handle | Place) -> Handle:
    """A number as a value."""
    return known if isinstance(known, str) else e.load(known.array, known.at(e))


def loaded(e: Emitter, names: Sequence[str], array: Array, base: Index) -> dict[str, Handle | Place]:
    """The numbers of an array from `base` on, by name: as values if there are few."""
    if len(names) >= FEW:
        return {name: Place(array, base, j) for j, name in enumerate(names)}
    return {name: e.load(array, Place(array, base, j).at(e)) for j, name in enumerate(names)}


class Vector:
    """Some numbers in turn: values, or a stretch of memory from a place on."""

    def __init__(self, e: Emitter, size: int, numbers: Numbers):
        self.e, self.size, self.numbers = e, size, numbers

    def __iter__(self) -> Iterator[tuple[Index, Handle]]:
        """Each number with its index, in a loop if they are in memory."""
        if not isinstance(self.numbers, Place):
            yield from enumerate(self.numbers)
            return
        with self.e.loop(0, self.size) as i:
            yield i, self.e.load(self.numbers.array, self.numbers.at(self.e, i))

    @property
    def is_in_memory(self) -> bool:
        """Whether it is a stretch of memory."""
        return isinstance(self.numbers, Place)

    def scatter(self, array: Array, places: Sequence[int]) -> None:
        """Store each number at a place of its own in an array."""
        table = self.e.table(places) if self.is_in_memory else None
        for i, v in self:
            self.e.store(array, v, places[i] if isinstance(i, int) else self.e.load(table, i))  # type: ignore[arg-type]

    def part(self, first: int, last: int) -> Vector:
        """The numbers first..last-1."""
        if isinstance(self.numbers, Place):
            return Vector(self.e, last - first, self.numbers._replace(offset=self.numbers.offset + first))
        return Vector(self.e, last - first, self.numbers[first:last])

    def size_of_all(self) -> Handle:
        """The sum of the absolute values: infinite or NaN if one of them is."""
        e = self.e
        if not isinstance(self.numbers, Place):
            return e.sum([e.call("fabs", v) for v in self.numbers])
        total = e.local(1)
        e.store(total, e.real(0.0))
        for _, v in self:
            e.store(total, e.arithmetic("add", e.load(total), e.call("fabs", v)))
        return e.load(total)

    def sum(self) -> Handle:
        """The sum of all numbers."""
        e = self.e
        if not isinstance(self.numbers, Place):
            return e.sum(self.numbers)
        total = e.local(1)
        e.store(total, e.real(0.0))
        for _, v in self:
            e.store(total, e.arithmetic("add", e.load(total), v))
        return e.load(total)

    def listed(self) -> list[Handle]:
        """The numbers one by one, as values."""
        if not isinstance(self.numbers, Place):
            return list(self.numbers)
        return [self.e.load(self.numbers.array, self.numbers.at(self.e, i)) for i in range(self.size)]

    def named(self, names: Sequence[str]) -> dict[str, Handle | Place]:
        """The numbers by name."""
        if not isinstance(self.numbers, Place):
            return dict(zip(names, self.numbers, strict=True))
        first = self.numbers
        return {name: first._replace(offset=first.offset + j) for j, name in enumerate(names)}

    def keep(self, array: Array, base: Index = 0) -> None:
        """Store all numbers in an array."""
        for i, v in self:
            self.e.store(array, v, moved(self.e, base, i))


def moved(e: Emitter, index: Index, by: Index) -> Index:
    """The index so many places further on."""
    if isinstance(index, int) and isinstance(by, int):
        return index + by
    return by if index == 0 else index if by == 0 else e.integer_arithmetic("add", index, by)


def span(e: Emitter, size: int) -> Iterator[Index]:
    """The indices of an array: one by one if there are few, in a loop otherwise."""
    if size < FEW:
        yield from range(size)
    else:
        with e.loop(0, size) as i:
            yield i


def stretch(e: Emitter, array: Array, size: int) -> Vector:
    """The first numbers of an array."""
    if size < FEW:
        return Vector(e, size, [e.load(array, j) for j in range(size)])
    return Vector(e, size, Place(array, 0, 0))


def vectors(e: Emitter, known: Known, names: Sequence[str]) -> list[Vector]:
    """The numbers of some names in turn: those that stand side by side in memory together, and values together."""
    found: list[Vector] = []
    for name in names:
        here, last = known[name], found[-1] if found else None
        if isinstance(here, str):
            if last is None or isinstance(last.numbers, Place):
                found.append(Vector(e, 0, []))
            found[-1] = Vector(e, found[-1].size + 1, [*found[-1].listed(), here])
        elif (
            last is not None
            and isinstance(last.numbers, Place)
            and here == last.numbers._replace(offset=last.numbers.offset + last.size)
        ):
            last.size += 1
        else:
            found.append(Vector(e, 1, here))
    return found
