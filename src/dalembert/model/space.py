"""The space of states: a product of factors, each with its own numbers, frame and retraction.

A line is one number, and its coordinate is its own frame. A rotation is held by four numbers and has three directions. An
entropy is a line without momentum. The coordinates of a system are the directions of all other factors in turn; functions
here take them and call the factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from numpy.typing import NDArray

from ..errors import ModelError
from ..symbolic import Fast, fast, gradient, slow, substitution
from .coordinates import Coordinate, Direction, Entropy
from .factor import EntropyLine, Line, StateRole
from .frame import Frame, joined
from .group_coordinate import GroupCoordinate

if TYPE_CHECKING:
    from ..discrete.system import DiscreteSystem
    from .system import System

Array = NDArray[Any]


AnyFactor = Line | GroupCoordinate


@lru_cache(maxsize=256)
def factors(coordinates: tuple[Coordinate, ...]) -> tuple[AnyFactor, ...]:
    """The factors that coordinates and entropies belong to, in order."""
    found: dict[str, AnyFactor] = {}
    for q in coordinates:
        if q.owner not in found:
            found[q.owner] = _factor(q)
    return tuple(found.values())


def _factor(q: Coordinate) -> AnyFactor:
    if isinstance(q, Direction):
        return q.factor
    return EntropyLine(q) if isinstance(q, Entropy) else Line(q)


@dataclass(frozen=True)
class Space:
    """What a state of a system consists of: positions with velocities or momenta, and entropies."""

    coordinates: tuple[Coordinate, ...]
    entropies: tuple[Entropy, ...] = ()

    @property
    def variables(self) -> tuple[Coordinate, ...]:
        """The directions of all factors: coordinates, then entropies."""
        return (*self.coordinates, *self.entropies)

    @property
    def factors(self) -> tuple[AnyFactor, ...]:
        """All factors: those of coordinates, then those of entropies."""
        return factors(self.variables)

    def names(self, *roles: StateRole) -> list[str]:
        """The names of the numbers of a state in some roles, role by role, each in the order of the factors."""
        return [name for role in roles for f in self.factors for name in f.names(role)]

    @property
    def symbols(self) -> tuple[Any, ...]:
        """The symbols that expressions in a state contain: those of positions, velocities, entropies."""
        return (*position_symbols(self.coordinates), *(q.dot for q in self.coordinates), *self.entropies)


class HasSpace:
    """What systems in continuous and in discrete time have in common, and what only one of them has."""

    coordinates: tuple[Coordinate, ...]
    entropies: tuple[Entropy, ...]

    @property
    def space(self) -> Space:
        """What a state consists of: the factors of coordinates and entropies."""
        return Space(self.coordinates, self.entropies)

    @property
    def continuous(self) -> System | None:
        """The system that gives velocities and energy at a node; None if there are positions and momenta only."""
        return None

    @property
    def discrete(self) -> DiscreteSystem | None:
        """The discrete system that gives a step without a method; None if a method is needed."""
        return None


def lines(coordinates: Iterable[Coordinate]) -> list[Coordinate]:
    """The coordinates that are numbers themselves."""
    return [f.coordinate for f in factors(tuple(coordinates)) if isinstance(f, Line)]


def groups(coordinates: Iterable[Coordinate]) -> tuple[GroupCoordinate, ...]:
    """The factors that are groups."""
    return tuple(f for f in factors(tuple(coordinates)) if isinstance(f, GroupCoordinate))


def lines_only(system: Any, role: str) -> None:
    """Refuse a system with rotations, for functions that take lines only."""
    if turning := groups(getattr(system, "coordinates", ())):
        raise ModelError(
            f"{role}: {system.name!r} has the {turning[0].noun} {turning[0].name}. Expected a system whose coordinates "
            f"are numbers; state it by angles and distances for this."
        )


def no_carried_axes(system: Any, role: str) -> None:
    """Refuse a system with unit vectors, for functions that compare components of velocities or momenta."""
    for f in groups(getattr(system, "coordinates", ())):
        if not f.transports:
            raise ModelError(
                f"{role}: {system.name!r} has the {f.noun} {f.name}, and the axes of its velocities are carried along, so "
                f"that their components do not compare. State it by angles for this."
            )


def flattened(given: Any) -> Any:
    """A list of coordinates with the directions of a rotation in place of it."""
    if isinstance(given, GroupCoordinate):
        return given.directions
    if not isinstance(given, list | tuple):
        return given
    return [d for q in given for d in (q.directions if isinstance(q, GroupCoordinate) else (q,))]


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


def parts(coordinates: Sequence[Coordinate], values: Sequence[Any]) -> list[tuple[AnyFactor, list[Any]]]:
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
        none = np.zeros((*np.shape(first)[:-1], len(f.directions)))  # a group of which only the velocity matters
        found.append(f.difference(first[..., part], second[..., part]) if f.numbers else none)
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
    return np.array(number_sizes(coordinates, sizes.tolist()))


def number_sizes(coordinates: Sequence[Coordinate], sizes: Sequence[Any]) -> list[Any]:
    """The same of numbers or expressions."""
    found = [x if isinstance(f, Line) else f.group.number_sizes(x) for f, x in parts(coordinates, sizes)]
    return [size for part in found for size in part]


def by_direction(coordinates: Sequence[Coordinate], held: Array) -> Array:
    """The positions of lines, one per direction; 0 for rotations, where a position is not a displacement."""
    found, at = [], 0
    for f in factors(tuple(coordinates)):
        part = held[..., at : at + len(f.numbers)]
        found.append(part if isinstance(f, Line) else f.position(part))
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
                raise no_fraction(R)
            shares.add(second.expand())
        if len(shares) != 1:
            raise no_fraction(R)
        found[R.name] = shares.pop()
    return found


def no_fraction(R: GroupCoordinate) -> ModelError:
    """What is said of a rule that has no meaning on a group."""
    return ModelError(
        f"the rule does not apply to the {R.noun} {R.name}: it evaluates the system at a point that is not of the form "
        f"(1 - b) q0 + b q1, or of such a sum with interior positions, with the same numbers for all its directions. Use "
        f"Midpoint() or midpoint_map."
    )
