"""Interior positions of a step, Q = q0 + h d W: their symbols, and the unknowns W."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sympy import Rational

from ..model.coordinates import Coordinate, step
from ..symbolic import Fast, fast

if TYPE_CHECKING:
    from .system import DiscreteSystem


class Interior(NamedTuple):
    """One coordinate of an interior position."""

    node: int
    """The number of the position in the step, from 1."""
    coordinate: Coordinate
    slot: Fast
    """The symbol of Q."""
    fraction: Fast
    """d, the fraction of the step."""
    unknown: str
    """The name of W."""

    @property
    def offset(self) -> Fast:
        """h d W, the distance from the first position of the step."""
        return fast(step) * self.fraction * fast(self.unknown)


def interior_slots(coordinates: Sequence[Coordinate], count: int) -> list[Fast]:
    """The symbols of `count` interior positions: all coordinates of the first, then of the second."""
    return [slot for node in range(1, count + 1) for slot in slots_at(node, coordinates)]


def slots_at(node: int, coordinates: Sequence[Coordinate]) -> list[Fast]:
    """The symbols of one interior position, counted from 1."""
    return [fast(f"{c.name}.interior.{node}") for c in coordinates]


def interior_positions(coordinates: Sequence[Coordinate], fractions: Sequence[Any]) -> list[Interior]:
    """Interior positions at given fractions of the step, in the order of `interior_slots`."""
    places = [(i, fast(Rational(d)), c) for i, d in enumerate(fractions, start=1) for c in coordinates]
    slots = interior_slots(coordinates, len(fractions))
    return [Interior(i, c, s, d, f"{c.name}.node{i}") for (i, d, c), s in zip(places, slots, strict=True)]


def interior_refusal(interior: Sequence[Any], constraints: Sequence[Any]) -> str:
    """Why a rule with interior positions does not take these constraints: its reactions act at the nodes alone.

    The order of the rule would be lost. An empty text if it takes them.
    """
    both = len(interior) and len(constraints)
    return "it has constraints, which would have to hold at the interior points of the step too." if both else ""


def from_beginning(system: DiscreteSystem, slots: Mapping[Any, Any] | None = None) -> dict[Fast, Fast]:
    """q0 + h d W for the symbol of each interior position; `slots` say what q0 is, by default its own slot."""

    def begin(c: Coordinate) -> Fast:
        return fast(c.at(0)) if slots is None else slots[c.at(0)]

    return {i.slot: begin(i.coordinate) + i.offset for i in system.interior_positions()}
