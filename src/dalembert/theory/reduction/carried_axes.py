"""Unit vectors in reduction: n is the third column of a rotation R whose other columns are axes that are carried along.

On a section R is a chart, and the group moves it, so that its axes turn about n as they please. Functions of n and dn/dt do
not depend on that: velocities are written in the axes of R, and their rates are corrected by the turn of R about n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sympy import Rational

from ...decide.zero import vanishes_at
from ...errors import ModelError, printed
from ...model.coordinates import Coordinate
from ...model.group_coordinate import GroupCoordinate
from ...model.groups import rows as r
from ...model.space import factors, groups, position_symbols
from ...model.system import System
from ...model.unit_vector import UnitVector
from ...symbolic import Fast, fast, substitute, total
from .group_law import near_identity
from .velocity_components import rows_of

COSINE, SINE = Rational(3, 5), Rational(4, 5)
"""A turn about n by which functions of n and dn/dt do not change."""


def point_symbols(coordinates: Sequence[Coordinate]) -> list[Any]:
    """The symbols of a position that tell where it is: of unit vectors the vector alone, not the axes carried along."""
    on_axes = {e for f in groups(coordinates) if not f.transports for e in f.entries if e.place[1] != 2}
    return [s for s in position_symbols(coordinates) if s not in on_axes]


def check_axes(system: System, role: str) -> None:
    """Refuse a Lagrangian, a dissipation or constraints that depend on how the axes carried along are turned about n."""
    turn: dict[Any, Fast] = {}
    for f in groups(system.coordinates):
        if not f.transports:
            for i in range(3):
                turn |= _turned(f.matrix[i, 0], f.matrix[i, 1])
            turn |= _turned(*(d.dot for d in f.directions))
    stated = [system.lagrangian, system.dissipation, *(c.expression for c in system.constraints)]
    for e in stated if turn else ():
        other = substitute(e, turn)
        if not vanishes_at(other - fast(e), near_identity([e, other], {}, 4, groups(system.coordinates))):
            raise ModelError(
                f"{role}: {printed(e)} is no function of unit vectors and their velocities: it depends on the axes carried "
                f"along. Write it with n[i], n.velocity, and n.omega[0]**2 + n.omega[1]**2 for the square of the speed."
            )


def _turned(first: Any, second: Any) -> dict[Any, Fast]:
    a, b = fast(first), fast(second)
    return {first: COSINE * a + SINE * b, second: COSINE * b - SINE * a}


def accelerations(
    coordinates: Sequence[Coordinate], point: Mapping[Any, Any], rates: Mapping[Any, Any], speeds: Sequence[Fast],
    again: Sequence[Fast],
) -> list[Fast]:  # fmt: skip
    """The rates of the components of a velocity along axes that are carried along, from their rates in the axes of R."""
    found: list[Fast] = []
    at, moving = ({s.name: e for s, e in table.items()} for table in (point, rates))
    for f in factors(tuple(coordinates)):
        k, n = len(found), len(f.directions)
        own = list(again[k : k + n])
        if isinstance(f, GroupCoordinate) and not f.transports:
            g, moved = rows_of(f, at, None), rows_of(f, moving, 0)
            spin = fast(f.acting.vee_rows(r.multiplied(f.group.inverse_rows(g), moved))[2])
            a, b = speeds[k : k + n]
            own = [total([own[0], -spin * b]), total([own[1], spin * a])]
        found += own
    return found


def in_other_axes(coordinates: Sequence[Coordinate], velocity: Any, numbers: Any, point: Sequence[float]) -> Any:
    """The components of a velocity in the axes of `numbers`, in those of the symbols of a position, at the same vectors."""
    import numpy as np

    found, at, place, k = (
        np.array(velocity, dtype=float),
        dict(zip(position_symbols(coordinates), point, strict=True)),
        0,
        0,
    )
    for f in factors(tuple(coordinates)):
        if isinstance(f, UnitVector):
            vector = f.shown_spatial(numbers[place : place + len(f.numbers)], found[k : k + 2])
            along = [sum(float(at[f.matrix[i, j]]) * vector[i] for i in range(3)) for j in (0, 1)]
            found[k : k + 2] = -along[1], along[0]
        place, k = place + len(f.numbers), k + len(f.directions)
    return found
