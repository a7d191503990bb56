"""A discrete system on group coordinates, with numbers near the identity in their place: g = cay(c).

L_d contains the entries of the first position g0 and the displacement xi, g1 = g0 cay(xi). Forces and variations are given in
the frame of the body, whose components of the velocity are T(c) c', T the tangent of cay carried back to the identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from sympy import Matrix

from ...errors import ModelError
from ...model.coordinates import Coordinate
from ...model.group_coordinate import GroupCoordinate
from ...model.space import factors, groups, parts
from ...symbolic import Fast, fast, substitution, total
from ...theory.reduction.group_charts import chart, entries_in_chart, matrix_in_chart, way
from ..system import DiscreteSystem


def in_chart(system: DiscreteSystem) -> DiscreteSystem:
    """The same discrete system with numbers in place of its group coordinates; the system itself if it has none."""
    turning = groups(system.coordinates)
    if not turning:
        return system
    for R in turning:
        if R.retraction != "cayley":
            raise ModelError(
                f"reduce: the displacements of {R.name} are exponentials, whose inverse has no value at rest in formulas. "
                f'Make it with retraction="cayley".'
            )
    ends, node = substitution(_at_ends(system)), substitution({e: x for R in turning for e, x in _entries(R).items()})
    q = charted(system.coordinates)
    minus = _carried(system.coordinates, map(ends, system.force_minus), 0)
    plus = _carried(system.coordinates, map(ends, system.force_plus), 1)
    return DiscreteSystem._made(
        name=system.name,
        coordinates=q,
        lagrangian=ends(system.lagrangian),
        external_minus=minus, external_plus=plus, force_minus=minus, force_plus=plus,
        friction_minus=(), friction_plus=(),
        variations=tuple(_carried(system.coordinates, map(node, row), None) for row in system.variations),
        constraints=tuple(map(ends, system.constraints)),
        parameters=system.parameters,
        system=None, interior=(), force_interior=(), entropies=(), entropy_laws=(),
    )  # fmt: skip


def charted(coordinates: Sequence[Coordinate]) -> tuple[Coordinate, ...]:
    """The coordinates, with the numbers of the chart in place of directions."""
    found: list[Coordinate] = []
    for f in factors(tuple(coordinates)):
        found += chart(f) if isinstance(f, GroupCoordinate) else [f.coordinate]
    return tuple(found)


def _entries(R: GroupCoordinate, slot: Literal[0, 1] | None = None) -> dict[Any, Any]:
    """The entries of the matrix at a node, or at one end of a step."""
    if slot is None:
        return entries_in_chart(R)
    moved = {c: c.at(slot) for c in chart(R)}
    return {e: x.xreplace(moved) for e, x in entries_in_chart(R).items()}


def _at_ends(system: DiscreteSystem) -> dict[Any, Any]:
    """What stands for the symbols of a step: entries are those of the first position, second slots displacements."""
    found: dict[Any, Any] = {}
    for R in groups(system.coordinates):
        whole = matrix_in_chart(R)
        first = Matrix(whole).xreplace({c: c.at(0) for c in chart(R)})
        second = Matrix(whole).xreplace({c: c.at(1) for c in chart(R)})
        found |= _entries(R, 0)
        found |= {d.at(0): 0 for d in R.directions}
        found |= {d.at(1): x for d, x in zip(R.directions, way(R, first, second), strict=True)}
    return found


def _carried(q: Sequence[Coordinate], row: Any, slot: Literal[0, 1] | None) -> tuple[Fast, ...]:
    """A covector in the frames of the bodies, in the numbers of the charts: p T(c)."""
    found: list[Fast] = []
    for f, p in parts(q, list(row)):
        if not isinstance(f, GroupCoordinate):
            found += p
            continue
        c = [fast(x if slot is None else x.at(slot)) for x in chart(f)]
        T = f.group.tangent_rows([-x for x in c], "cayley")
        found += [total(a * fast(row[k]) for a, row in zip(p, T, strict=True)) for k in range(len(c))]
    return tuple(found)
