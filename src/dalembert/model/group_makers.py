"""Functions that make coordinates with values in groups: rotations, poses, unit vectors, points of any group."""

from __future__ import annotations

from typing import Any

from sympy import Symbol

from ..errors import ModelError, told
from .coordinates import check_name
from .group_coordinate import GroupCoordinate
from .groups import SE2, SE3, SO3, LieGroup
from .groups.lie_group import Retraction
from .groups.unit_vectors import S2
from .unit_vector import UnitVector

LARGEST = 9
"""Entries are called by two digits."""


def coordinate_in(name: str, group: LieGroup, retraction: Retraction) -> GroupCoordinate:
    """The coordinate with values in a group, or on the sphere."""
    return UnitVector(name, retraction) if group == S2 else GroupCoordinate(name, group, retraction)


def group_coordinate(name: str, group: LieGroup, retraction: str | None = None) -> GroupCoordinate:
    """Make a coordinate with values in a group of `dalembert.groups`; retraction="cayley" or "exp" says how a step moves it.

    >>> from dalembert import groups
    >>> g = group_coordinate("g", groups.Heisenberg)
    >>> g[0, 2], g.velocity[2]
    (g[0, 2], g.velocity[2])
    """
    return _made("group_coordinate", name, group, retraction)


def rotation(name: str, retraction: str | None = None) -> GroupCoordinate:
    """Make a coordinate with values in the rotation group: `R = rotation("R")`, with entries R[i, j] and R.omega.

    >>> R = rotation("R")
    >>> R[0, 2], R.omega[2]
    (R[0, 2], R.omega[2])
    """
    return _made("rotation", name, SO3, retraction)


def planar_pose(name: str, retraction: str | None = None) -> GroupCoordinate:
    """Make a coordinate with values in SE(2), a body in the plane: P[0, 2], P[1, 2] is its place, P[:2, :2] turns it.

    >>> P = planar_pose("P")
    >>> P[0, 2], P.omega[0], P.velocity[1]
    (P[0, 2], P.omega[0], P.velocity[1])
    """
    return _made("planar_pose", name, SE2, retraction)


def pose(name: str, retraction: str | None = None) -> GroupCoordinate:
    """Make a coordinate with values in SE(3), a rigid body in space: P[i, 3] is its place, P[i, j] turns it.

    >>> P = pose("P")
    >>> P[2, 3], P.omega[0], P.velocity[2]
    (P[2, 3], P.omega[0], P.velocity[2])
    """
    return _made("pose", name, SE3, retraction)


def direction(name: str, retraction: str | None = None) -> UnitVector:
    """Make a coordinate with values on the unit sphere: n[i] are the components of the vector, n.velocity its rate, in space.

    >>> n = direction("n")
    >>> n[2], n.omega[0]
    (n[2], n.omega[0])
    """
    made = _made("direction", name, S2, retraction)
    assert isinstance(made, UnitVector)
    return made


def _made(maker: str, name: str, group: Any, retraction: Any) -> GroupCoordinate:
    if not isinstance(name, str) or " " in name.strip():
        letter = {"rotation": "R", "group_coordinate": "g", "direction": "n"}.get(maker, "P")
        more = ", group" if maker == "group_coordinate" else ""
        raise ModelError(f'{maker}({told(name)}): give one name: {maker}("{letter}"{more}).')
    check_name(maker, Symbol(name))
    if not isinstance(group, LieGroup):
        raise ModelError(f"{maker}: got {told(group)}. Expected a group of dalembert.groups, such as groups.SE2.")
    if retraction not in (None, "cayley", "exp"):
        raise ModelError(f'{maker}: retraction={told(retraction)}. Expected "cayley" or "exp".')
    if group.size > LARGEST or not group.has_formulas:
        raise ModelError(
            f"{maker}: coordinates with values in {group.name} are not available: its matrices have more than {LARGEST} rows, "
            f"or satisfy no equation A^4 = -s A^2. State it by products of other groups."
        )
    chosen: Retraction = retraction or ("cayley" if group.has_cayley else "exp")
    if chosen == "cayley":
        group.need_cayley()
    elif not group.has_exp_tangent:
        raise ModelError(
            f'{maker}: {group.name} has no formula for the tangent of its exponential. Use retraction="cayley".'
        )
    return coordinate_in(name, group, chosen)
