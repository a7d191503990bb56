"""Rates of the symbols of a point as components of a velocity: of lines themselves, of a group those of g^-1 dg/dt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...model.coordinates import Coordinate
from ...model.group_coordinate import Entry, GroupCoordinate
from ...model.groups import rows as r
from ...model.space import factors


def components(coordinates: Sequence[Coordinate], point: Mapping[Any, Any], rates: Mapping[Any, Any]) -> list[Any]:
    """One per direction; `point` has the entries of the matrices of group coordinates, `rates` what is not zero."""
    found: list[Any] = []
    at, moving = ({s.name: e for s, e in table.items()} for table in (point, rates))  # of SymPy or of SymEngine
    for f in factors(tuple(coordinates)):
        if isinstance(f, GroupCoordinate):
            g, moved = rows_of(f, at, None), rows_of(f, moving, 0)
            found += f.group.vee_rows(r.multiplied(f.group.inverse_rows(g), moved))
        else:
            found.append(moving.get(f.name, 0))
    return found


def rows_of(f: GroupCoordinate, table: Mapping[str, Any], common: Any) -> list[list[Any]]:
    """The matrix of some values of entries, by name; in the place of what all points have in common `common`, or itself."""
    return [
        [table.get(e.name, e if common is None else common) if isinstance(e, Entry) else e if common is None else common
         for e in f.matrix.row(i)]
        for i in range(f.size)
    ]  # fmt: skip
