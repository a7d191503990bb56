"""The layout of the step maps of a mechanical system: positions, momenta or velocities, entropies, multipliers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..model.coordinates import Coordinate, multiplier
from ..model.factor import StateRole
from ..symbolic import Fast
from ..waist.layout import Layout, Segment, segments


def constraint_outputs(values: Iterable[Fast]) -> dict[str, Fast]:
    """The values of the constraints of a step, one per constraint, by the names that `state_layout` gives them."""
    return {_constraint(a): value for a, value in enumerate(values, start=1)}


def _constraint(index: int) -> str:
    return f"constraint.{index}"


def state_layout(system: Any, velocities: Sequence[Sequence[str]] = ()) -> Layout:
    """The layout of a step of a System or a DiscreteSystem; `velocities` are lists of unknowns, one per coordinate each.

    Names that a step does not contain do no harm: lookups are restricted to the names of the step.
    """
    owners = [c.owner for c in system.coordinates]
    roles: tuple[StateRole, ...] = ("position", "momentum", "velocity", "entropy", "rate")
    found = [Segment(r, f.name, f.names(r)) for r in roles for f in system.space.factors if f.names(r)]
    for a in range(1, len(system.constraints) + 1):
        found += [
            Segment("multiplier", str(a), (multiplier(a).name,)),
            Segment("constraint", str(a), (_constraint(a),)),
        ]
    for names in velocities:
        found += segments("velocity", owners, names)
    return Layout(tuple(found))


def velocity_columns(layout: Layout, coordinates: Sequence[Coordinate], names: Sequence[str]) -> list[int | None]:
    """For each name the number of the coordinate whose velocity within the step it is; None for other names."""
    offset: dict[str, int] = {}
    for i, c in enumerate(coordinates):
        offset.setdefault(c.owner, i)
    found: list[int | None] = []
    for name in names:
        place = layout.find(name)
        known = place is not None and place[0].role == "velocity"
        found.append(offset[place[0].owner] + place[1] if place is not None and known else None)
    return found
