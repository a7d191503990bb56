"""A section of a symmetry (Cartan's moving frame): of what the group moves some is fixed, the rest is the shape.

Then q = Phi(g, s(r)), and with the body velocity xi = g^-1 g' the velocity is v = D Phi_g (s'(r) r' + xi_Q(s(r))). Where the
group moves a rotation only in part, the section is a chart of the rest: a product of turns about axes of the body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np
import sympy
from sympy import Expr, Matrix

from ...decide import balls
from ...decide.elimination import rank
from ...errors import ModelError, told
from ...model import checks
from ...model.coordinates import Coordinate
from ...model.group_coordinate import GroupCoordinate
from ...model.space import position_symbols
from ...model.system import System
from ..algebra import tidy
from .group_law import near_identity
from .symmetry import Symmetry
from .velocity_components import components

OFF = 1e-9
"""How far a given matrix may be from the group; what is measured is of size one."""

Places = Mapping[Any, Any]
"""Of coordinates and group coordinates: a number, an expression in shape variables, or a matrix of them."""


@dataclass(frozen=True)
class Section:
    """One point on each orbit, s(r).

    place:  the value of each symbol of a position: a number, or an expression in shape variables
    shape:  the shape variables
    """

    symmetry: Symmetry
    place: dict[Any, Expr]
    shape: tuple[Coordinate, ...]

    def fields(self, coordinates: Sequence[Coordinate]) -> Matrix:
        """The velocities at the section: d s/dr for each shape variable, then the generators; one row per coordinate."""
        columns = [{s: e.diff(r) for s, e in self.place.items() if e.has(r)} for r in self.shape]
        columns += [{s: e.xreplace(self.place) for s, e in X.items()} for X in self.symmetry.generators]
        found = [components(coordinates, self.place, c) for c in columns]
        return Matrix([[tidy(sympy.sympify(c[i])) for c in found] for i in range(len(coordinates))])


def section_of(system: System, symmetry: Symmetry, given: Any = None) -> Section:
    """The section that was given, or a simple one."""
    if not symmetry.is_free:
        raise ModelError(
            f"reduce: the action on {_names(symmetry)} is not free: at every point a combination of the "
            f"generators of {', '.join(map(str, symmetry.elements))} is zero. Reduce by fewer elements."
        )
    if given is not None:
        return _given(system, symmetry, given)
    for places in _candidates(symmetry):
        found = _made(system, symmetry, places)
        if _transversal(system, found) and _defined(system, found):
            return found
    raise ModelError(
        f"reduce: no section was found: fixing {symmetry.dimension} of {_names(symmetry)} at 0 or 1 does "
        f"not meet the orbits. Give one: {_example(symmetry.moved[0])}."
    )


def _example(q: Any) -> str:
    """A section, as it is written."""
    return f"section={{{q}: {'a matrix in new shape coordinates' if isinstance(q, GroupCoordinate) else 2}}}"


def _names(symmetry: Symmetry) -> str:
    return ", ".join(map(str, symmetry.moved))


def _candidates(symmetry: Symmetry) -> Iterator[Places]:
    """Simple places: lines at 0 or 1 and whole group coordinates at the identity; then charts of group coordinates."""
    d, groups = symmetry.dimension, symmetry.groups
    lines = [q for q in reversed(symmetry.moved) if isinstance(q, Coordinate)]
    whole: list[tuple[Any, ...]] = [
        (*chosen, *turned)
        for k in range(len(groups) + 1)
        for turned in combinations(groups, k)
        if (rest := d - sum(R.group.dimension for R in turned)) >= 0
        for chosen in combinations(lines, rest)
    ]
    whole.sort(key=lambda k: not _is_global(symmetry, k))
    for chosen in whole:
        for value in (sympy.S.Zero, sympy.S.One):
            yield {q: sympy.eye(q.size) if isinstance(q, GroupCoordinate) else value for q in chosen}
    for R in groups:
        others = [Q for Q in groups if Q != R]
        for turned in (t for k in range(len(others) + 1) for t in combinations(others, k)):
            fixed: Places = {Q: sympy.eye(Q.size) for Q in turned}
            left = d - sum(Q.group.dimension for Q in turned)
            for k in range(max(0, left - R.group.dimension), min(len(lines), left - 1) + 1):
                for chosen in combinations(lines, k):
                    for axes in permutations(range(R.group.dimension), R.group.dimension - (left - k)):
                        yield {**dict.fromkeys(chosen, sympy.S.Zero), **fixed, R: chart(R, axes)}


def chart(R: GroupCoordinate, axes: Sequence[int]) -> Matrix:
    """exp(r_1 E_i) exp(r_2 E_j) ... with shape variables named after the group coordinate."""
    found = sympy.eye(R.size)
    for k, i in enumerate(axes):
        found = found * turn(R, i, Coordinate(f"{R.name}_{k + 1}"))
    return found


def turn(R: GroupCoordinate, i: int, r: Any) -> Matrix:
    """exp(r E_i), from A^4 = -s A^2."""
    E, s = Matrix(R.acting.basis[i]), (R.acting.square or {}).get((i, i), 0)
    whole = sympy.eye(R.size) + r * E
    if s == 0:
        return whole + r**2 * E**2 / 2 + r**3 * E**3 / 6
    s = sympy.Rational(s)
    angle = sympy.sqrt(s) * r
    return (whole + (1 - sympy.cos(angle)) / s * E**2 + (r - sympy.sin(angle) / sympy.sqrt(s)) / s * E**3).expand()


def _is_global(symmetry: Symmetry, chosen: Sequence[Any]) -> bool:
    """Whether the generators move the chosen coordinates, all lines, independently everywhere."""
    if not all(isinstance(q, Coordinate) for q in chosen):
        return False
    return bool(tidy(Matrix([[X[q] for q in chosen] for X in symmetry.generators]).det()).is_number)


def _transversal(system: System, section: Section) -> bool:
    """Whether shape and group together move in every direction, at almost all points of the section."""
    fields = section.fields(system.coordinates)
    if fields.rows != fields.cols or fields.has(sympy.zoo, sympy.nan, sympy.oo):
        return False
    grids = [
        balls.values([list(fields.row(i)) for i in range(fields.rows)], at) for at in near_identity([*fields], {}, 6)
    ]
    return any(grid is not None and rank(grid) == fields.rows for grid in grids)


def _defined(system: System, section: Section) -> bool:
    return not system.lagrangian.xreplace(section.place).has(sympy.zoo, sympy.nan, sympy.oo)


def _given(system: System, symmetry: Symmetry, given: Any) -> Section:
    known = isinstance(given, Mapping) and set(given) <= set(symmetry.moved)
    places = {q: _value(q, e, system) for q, e in given.items()} if known else {}
    variables = {s for e in places.values() for s in e.free_symbols} - set(system.coordinates)
    held = sum(q.group.dimension if isinstance(q, GroupCoordinate) else 1 for q in places)
    if not known or held - len(variables) != symmetry.dimension:
        matrix = "" if not symmetry.groups else f"; of {symmetry.groups[0]} a matrix in new shape coordinates"
        raise ModelError(
            f"reduce: section={_told(given)}. Expected numbers for {symmetry.dimension} of the coordinates "
            f"{_names(symmetry)} that the group moves{matrix}."
        )
    found = _made(system, symmetry, places)
    if not _transversal(system, found):
        raise ModelError(
            f"reduce: section={_told(given)} does not meet the orbits: the generators do not move "
            f"{', '.join(map(str, places))} independently there. Fix other coordinates or other values."
        )
    return found


def _value(q: Any, given: Any, system: System) -> Any:
    """A number, or the matrix of a group coordinate in shape coordinates."""
    if not isinstance(q, GroupCoordinate):
        return checks.symbols(checks.expression(given, f"section at {q}"), set(), f"section at {q}")
    try:
        matrix = sympy.Matrix(given)
    except (TypeError, ValueError):
        matrix = sympy.zeros(0)
    if matrix.shape == (q.size, q.size):
        free = {s for s in matrix.free_symbols if isinstance(s, Coordinate)}
        own = [[checks.symbols(checks.expression(e, f"section at {q}"), free, f"section at {q}") for e in matrix]]
        matrix = sympy.Matrix(q.size, q.size, own[0])
        at = near_identity([*matrix], {}, 1)[0]
        grid = balls.values([list(matrix.row(i)) for i in range(q.size)], at)
        off = np.inf if grid is None else q.group.defect(np.array([[float(v.mid()) for v in row] for row in grid]))[0]
        if off < OFF:
            return matrix
    raise ModelError(
        f"reduce: section at {q}: {_told(given)}. Expected the matrix of a {q.noun}, in shape coordinates."
    )


def _told(given: Any) -> str:
    """What was given, matrices on one line."""
    if isinstance(given, Mapping):
        return told({k: v.tolist() if isinstance(v, sympy.MatrixBase) else v for k, v in given.items()})
    return told(given.tolist() if isinstance(given, sympy.MatrixBase) else given)


def _made(system: System, symmetry: Symmetry, places: Places) -> Section:
    """The section at some places: what is not named there is a shape variable."""
    place: dict[Any, Expr] = {}
    for q, value in places.items():
        if isinstance(q, GroupCoordinate):
            place |= {e: value[e.place] for e in q.entries}
        else:
            place[q] = value
    shape: list[Coordinate] = []
    moved = set(symmetry.action)
    for f in system.space.factors:
        if f in symmetry.groups and f in places:
            variables = {s for s in places[f].free_symbols if isinstance(s, Coordinate)}
            shape += sorted(variables - set(shape) - set(system.coordinates), key=str)
        elif isinstance(f, GroupCoordinate):
            rest = chart(f, range(f.group.dimension))
            place |= {e: rest[e.place] for e in f.entries}
            shape += [Coordinate(f"{f.name}_{k + 1}") for k in range(f.group.dimension)]
        elif f.coordinate not in places:
            q = f.coordinate
            place[q] = q if q not in moved else Coordinate(f"{q.name}_r")
            shape.append(place[q])
    return Section(symmetry, {s: place[s] for s in position_symbols(system.coordinates)}, tuple(shape))
