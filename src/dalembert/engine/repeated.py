"""Expressions that are the same but for the names in them, such as the equations of the masses of a lattice.

They are found by their shapes: the shape of an expression is what is left of it without names, with the role of each name
(state, unknown, parameter) and which of them are equal. Of each shape one expression is lowered, and the others are tables of
names: so code does not grow with the number of masses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..symbolic import Fast
from ..waist.stepmap import rest_of
from .identity import UNORDERED, content
from .lower import Tape

ENOUGH = 8
"""Expressions of one shape that are worth a loop."""

ROWS = 32
"""With fewer expressions than this, all are written out."""


class Row(NamedTuple):
    """Results that follow from one expression in the same way: itself, say, and its derivatives.

    results: the number of each result, by what distinguishes it: a word, or the name of a symbol in the expression
    """

    expression: Fast
    results: Mapping[str, int]


@dataclass
class Repeated:
    """A tape for the first of some rows of one shape.

    names:   for each input of the tape that is not the same in all rows, its name in every row
    targets: for each result of the tape, its number in every row
    """

    tape: Tape
    names: dict[str, list[str]]
    targets: list[list[int]]

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.targets[0])

    def varying(self) -> set[int]:
        """The values of the tape that may differ from row to row."""
        found: set[int] = set()
        for k, o in enumerate(self.tape.operations):
            if (o.op == "input" and o.args[0] in self.names) or not found.isdisjoint(o.values):
                found.add(k)
        return found


class Shapes:
    """The shapes of expressions: a number for each, and the names in it in an order that shapes of the same number share.

    Terms and factors have no order of their own. Those of one shape are ordered by where their names stand among all names.
    """

    def __init__(self, roles: Mapping[str, str]):
        self.roles = roles
        self.place = {name: k for k, name in enumerate(roles)}
        self._numbers: dict[Any, int] = {}
        self._known: dict[Fast, tuple[int, tuple[str, ...]]] = {}

    def of(self, e: Fast) -> tuple[int, tuple[str, ...]]:
        """The shape of an expression without regard to equal names, and its names, each as often as it occurs."""
        if e.is_Symbol:
            role = self.roles.get(e.name)
            return (self._number("name", role), (e.name,)) if role else (self._number("symbol", e.name), ())
        if not e.args:
            return self._number(type(e).__name__, content(type(e).__name__, e)), ()
        if e not in self._known:
            kind = type(e).__name__
            parts = [self.of(a) for a in e.args]
            if kind in UNORDERED:
                parts.sort(key=lambda part: (part[0], [self.place[name] for name in part[1]]))
            names = tuple(name for _, inside in parts for name in inside)
            self._known[e] = self._number(kind, *(number for number, _ in parts)), names
        return self._known[e]

    def _number(self, *key: Any) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def repeated(
    rows: Sequence[Row], roles: Mapping[str, str], make: Callable[[Sequence[int]], Tape]
) -> tuple[list[Repeated], set[int]]:
    """The rows that repeat, and the numbers of their results.

    `roles` has what names of every row may stand for one another; `make` makes the tape of some results.
    """
    if len(rows) < ROWS:
        return [], set()
    shapes, alike = Shapes(roles), dict[Any, list[tuple[Row, dict[str, int]]]]()
    for row in rows:
        number, names = shapes.of(row.expression)
        first: dict[str, int] = {}
        pattern = tuple(first.setdefault(name, len(first)) for name in names)
        told = frozenset(first.get(what, what) for what in row.results)
        alike.setdefault((number, pattern, told), []).append((row, first))
    found = [_class(same, make) for same in alike.values() if len(same) >= ENOUGH]
    return found, {k for c in found for column in c.targets for k in column}


def _class(same: Sequence[tuple[Row, dict[str, int]]], make: Callable[[Sequence[int]], Tape]) -> Repeated:
    """One tape for rows of one shape."""
    row, first = same[0]
    results = sorted((k, what) for what, k in row.results.items())
    told = [first.get(what, what) for _, what in results]
    lists = [{first.get(what, what): k for what, k in other.results.items()} for other, first in same]
    targets = [[numbered[what] for numbered in lists] for what in told]
    return Repeated(make([k for k, _ in results]), columns_of([list(names) for _, names in same]), targets)


def columns_of(rows: Sequence[Iterable[str]]) -> dict[str, list[str]]:
    """By the names of the first row: those of every row, where they are not the same in all; with their rounding errors."""
    columns = dict(zip(rows[0], zip(*rows, strict=True), strict=True))
    names = {name: list(column) for name, column in columns.items() if len(set(column)) > 1}
    return names | {rest_of(name): [rest_of(other) for other in column] for name, column in names.items()}


def single(expressions: Iterable[Fast]) -> list[Row]:
    """Rows of one result each."""
    return [Row(e, {"result": k}) for k, e in enumerate(expressions)]
