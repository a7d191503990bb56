"""The configuration space: a product of factors, each with its own numbers, frame and retraction.

A line is one number, and its coordinate is its own frame. A rotation is held by four numbers and has three directions.
The coordinates of a system are the directions of all factors in turn; functions here take them and call the factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from ..errors import ModelError
from ..symbolic import Fast, fast, gradient, slow, substitution
from .coordinates import Coordinate, Direction
from .frame import Frame, joined
from .group import Group
from .rotation import Rotation

Array = NDArray[Any]


class Line:
    """The factor of an ordinary coordinate: one number, whose retraction is addition."""

    def __init__(self, coordinate: Coordinate):
        self.coordinate, self.name = coordinate, coordinate.name
        self.directions: tuple[Coordinate, ...] = (coordinate,)
        self.numbers: tuple[str, ...] = (coordinate.name,)
        self.entries: tuple[Any, ...] = (coordinate,)

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

    def moved(self, numbers: Array, xi: Array) -> Array:
        """x + xi."""
        return numbers + xi

    def difference(self, first: Array, second: Array) -> Array:
        """x1 - x0."""
        return second - first


Factor = Line | Group

GROUPS: dict[str, type[Group]] = {"Rotation": Rotation}
"""The groups that coordinates may have values in, by the names they have in files."""


@lru_cache(maxsize=256)
def factors(coordinates: tuple[Coordinate, ...]) -> tuple[Factor, ...]:
    """The factors that the coordinates of a system belong to, in order."""
    found: dict[str, Factor] = {}
    for q in coordinates:
        if q.owner not in found:
            found[q.owner] = _group(q) if isinstance(q, Direction) else Line(q)
    return tuple(found.values())


def _group(direction: Direction) -> Group:
    turn = direction.name.split(".")[1]
    return next(kind(direction.owner) for kind in GROUPS.values() if turn in kind.turns)


def groups(coordinates: Iterable[Coordinate]) -> tuple[Group, ...]:
    """The factors that are groups."""
    return tuple(f for f in factors(tuple(coordinates)) if isinstance(f, Group))


def lines_only(system: Any, role: str) -> None:
    """Refuse a system with rotations, for functions that take lines only."""
    if turning := groups(getattr(system, "coordinates", ())):
        raise ModelError(
            f"{role}: {system.name!r} has the {turning[0].noun} {turning[0].name}. Expected a system whose coordinates "
            f"are numbers; state it by angles and distances for this."
        )


def flattened(given: Any) -> Any:
    """A list of coordinates with the directions of a rotation in place of it."""
    if isinstance(given, Group):
        return given.directions
    if not isinstance(given, list | tuple):
        return given
    return [d for q in given for d in (q.directions if isinstance(q, Group) else (q,))]


def numbers(coordinates: Sequence[Coordinate]) -> list[str]:
    """The names of the numbers that hold a position."""
    return [name for f in factors(tuple(coordinates)) for name in f.numbers]


def position_symbols(coordinates: Sequence[Coordinate]) -> list[Any]:
    """The symbols by which expressions depend on the position: coordinates of lines, entries of matrices."""
    return [s for f in factors(tuple(coordinates)) for s in f.entries]


@lru_cache(maxsize=256)
def _to_numbers(coordinates: tuple[Coordinate, ...]) -> Callable[[Any], Fast]:
    places = {s: e for f in factors(coordinates) for s, e in f.in_numbers().items()}
    return substitution(places) if places else fast


def to_numbers(coordinates: Sequence[Coordinate]) -> Callable[[Any], Fast]:
    """The function that writes expressions in terms of the numbers that hold a position: one for many expressions."""
    return _to_numbers(tuple(coordinates))


def in_numbers(expression: Any, coordinates: Sequence[Coordinate]) -> Fast:
    """An expression in terms of the numbers that hold a position."""
    return to_numbers(coordinates)(expression)


@lru_cache(maxsize=64)
def _frame(coordinates: tuple[Coordinate, ...]) -> Frame:
    return joined(f.frame for f in factors(coordinates))


def frame(coordinates: Sequence[Coordinate]) -> Frame:
    """The frame of the space: the directions of all factors."""
    return _frame(tuple(coordinates))


def slopes(expression: Any, coordinates: Sequence[Coordinate]) -> list[Fast]:
    """The derivatives X_j of an expression along the directions; of lines the partial derivatives."""
    return frame(coordinates).slopes(expression)


def directional(expression: sympy.Expr, coordinates: Sequence[Coordinate]) -> tuple[sympy.Expr, ...]:
    """The same derivatives of a SymPy expression."""
    if not groups(coordinates):
        occurring = expression.free_symbols
        return tuple(expression.diff(q) if q in occurring else sympy.S.Zero for q in coordinates)
    symbols = [*position_symbols(coordinates), *(q.dot for q in coordinates), *expression.free_symbols]
    return tuple(slow(d, symbols) for d in slopes(expression, coordinates))


def parts(coordinates: Sequence[Coordinate], values: Sequence[Any]) -> list[tuple[Factor, list[Any]]]:
    """Values, one per direction, by factor."""
    found, at = [], 0
    for f in factors(tuple(coordinates)):
        found.append((f, list(values[at : at + len(f.directions)])))
        at += len(f.directions)
    return found


def moved_symbols(coordinates: Sequence[Coordinate], xi: Sequence[Fast], beta: Any = 1) -> dict[Any, Fast]:
    """The expression of every symbol of a position after a displacement, or a fraction of it."""
    return {s: e for f, x in parts(coordinates, xi) for s, e in f.moved_entries(fast(beta), x).items()}


def retracted(coordinates: Sequence[Coordinate], rates: Sequence[Fast], h: Fast) -> list[Fast]:
    """The numbers of the position after a step of h with these velocities."""
    return [e for f, x in parts(coordinates, rates) for e in f.retracted(x, h)]


def number_rates(coordinates: Sequence[Coordinate]) -> list[Fast]:
    """The rates of the numbers that hold a position, by the velocities."""
    return [rate for f in factors(tuple(coordinates)) for rate in f.rates()]


def differences(coordinates: Sequence[Coordinate], first: Array, second: Array) -> Array:
    """The displacements, one per direction, that lead from some positions to others; (..., numbers) -> (..., directions)."""
    found, at = [], 0
    for f in factors(tuple(coordinates)):
        part = slice(at, at + len(f.numbers))
        found.append(f.difference(first[..., part], second[..., part]))
        at += len(f.numbers)
    return np.concatenate(found, axis=-1)


def moved_numbers(coordinates: Sequence[Coordinate], held: Array, xi: Array) -> Array:
    """The numbers of positions after displacements: (..., numbers), (..., directions) -> (..., numbers)."""
    found, at, k = [], 0, 0
    for f in factors(tuple(coordinates)):
        n, m = len(f.numbers), len(f.directions)
        found.append(f.moved(held[..., at : at + n], xi[..., k : k + m]))
        at, k = at + n, k + m
    return np.concatenate(found, axis=-1)


def per_number(coordinates: Sequence[Coordinate], sizes: Array) -> Array:
    """Sizes of displacements as sizes of the changes of the numbers that hold a position."""
    found: list[Array] = []
    for f, x in parts(coordinates, sizes.tolist()):
        found.append(np.array(x) if isinstance(f, Line) else np.full(len(f.numbers), np.linalg.norm(x) / 2))
    return np.concatenate(found)


def by_direction(coordinates: Sequence[Coordinate], held: Array) -> Array:
    """The positions of lines, one per direction; 0 for directions of groups, where a position is not a displacement."""
    found, at = [], 0
    for f in factors(tuple(coordinates)):
        part = held[..., at : at + len(f.numbers)]
        found.append(part if isinstance(f, Line) else np.zeros((*part.shape[:-1], len(f.directions))))
        at += len(f.numbers)
    return np.concatenate(found, axis=-1)


def fraction_of_step(coordinates: Sequence[Coordinate], position: Mapping[Any, Fast]) -> dict[str, Fast]:
    """For each rotation the beta of a position (1 - beta) q0 + beta q1, as a rule for lines defines it.

    A rule may take any point between the two ends; other functions of them have no meaning on a group.
    """
    found: dict[str, Fast] = {}
    for R in groups(coordinates):
        shares = set()
        for d in R.directions:
            ends = fast(d.at(0)), fast(d.at(1))
            first, second = gradient(position[d], ends)
            rest = position[d] - first * ends[0] - second * ends[1]
            if rest.expand() != 0 or (first + second).expand() != 1:
                raise ModelError(_no_fraction(R))
            shares.add(second.expand())
        if len(shares) != 1:
            raise ModelError(_no_fraction(R))
        found[R.name] = shares.pop()
    return found


def _no_fraction(R: Group) -> str:
    return (
        f"the rule does not apply to the {R.noun} {R.name}: it evaluates the system at a point that is not of the form "
        f"(1 - b) q0 + b q1 with one number b for all its directions. Use Midpoint() or midpoint_map."
    )
