"""Constraints of the usual joints and contacts: rolling, knife edges, rods, hinges, cables.

Rolling without slipping is one rule: the material points of both bodies that touch have the same velocity. The
functions here write it down for the usual contacts; each gives a list of expressions that vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr

from ...decide.zero import vanishes
from ...errors import ModelError, told
from .. import checks
from .kinematics import Vector, collected, cross, dot, left, minus, plus, times, unit, vector
from .loads import length
from .particles import Body, PlaneBody, Point, SpaceBody, place


def rolling(body: Any, at: Any, on: Any = None, along: Sequence[Any] | None = None) -> tuple[Expr, ...]:
    """The body does not slip at the point of contact `at`: there it has the velocity of what it touches.

    on:     what it rolls on: another body, the velocity of a surface, [u, 0], or by default the ground at rest
    along:  directions in which this is required; by default the axes. Components that vanish anyway are left out.
    """
    _turning(body, "rolling")
    contact = vector(at.position if isinstance(at, Point) else at, "rolling (at)")
    slip = minus(body.at(contact).velocity, _surface(on, contact))
    n = len(slip)
    axes = [tuple(int(i == k) for i in range(n)) for k in range(n)] if along is None else along
    rows = [collected(dot(vector(e, "rolling (along)"), slip)) for e in axes]
    kept = tuple(r for r in rows if not vanishes(r))
    if not kept:
        raise ModelError(
            "rolling: the velocities at the contact agree whatever the motion, so nothing is constrained. The "
            "coordinates contain the rolling already: leave it out."
        )
    return kept


def _turning(body: Any, role: str) -> None:
    if not isinstance(body, PlaneBody | SpaceBody):
        raise ModelError(
            f"{role}: got a {type(body).__name__}. Expected a rigid body: PlaneBody(...) or SpaceBody(...)."
        )


def _surface(on: Any, contact: Vector) -> Vector:
    if on is None:
        return (sympy.S.Zero,) * len(contact)
    if isinstance(on, PlaneBody | SpaceBody):
        return on.at(contact).velocity
    return on.velocity if isinstance(on, Body | Point) else vector(on, "rolling (on)")


def rolling_on_line(body: Any, radius: Any, direction: Any = (1, 0), on: Any = None) -> tuple[Expr, ...]:
    """A disc or hoop (or half of one) rolls on a line in the plane; it lies to the left of `direction`."""
    _turning(body, "rolling_on_line")
    radius = checks.expression(radius, "rolling_on_line (radius)")
    ahead = unit(vector(direction, "rolling_on_line (direction)"))
    contact = minus(body.position, times(radius, left(ahead)))
    return rolling(body, contact, on, [ahead])


def rolling_on_circle(
    body: Any, radius: Any, centre: Any, circle_radius: Any, *, inside: bool, on: Any = None
) -> tuple[Expr, ...]:
    """A disc or hoop rolls inside or outside a circle; `on` is the body that the circle belongs to, if it moves.

    The position of the body must keep the distance circle_radius - radius (inside) or + radius (outside) from `centre`.
    """
    _turning(body, "rolling_on_circle")
    radius = checks.expression(radius, "rolling_on_circle (radius)")
    circle_radius = checks.expression(circle_radius, "rolling_on_circle (circle_radius)")
    apart = circle_radius - radius if inside else circle_radius + radius
    outward = times(1 / apart, minus(body.position, place(centre, "rolling_on_circle").position))
    contact = plus(body.position, times(radius if inside else -radius, outward))
    return rolling(body, contact, on, [left(outward)])


def rolling_on_plane(body: Any, radius: Any, normal: Any = (0, 0, 1), on: Any = None) -> tuple[Expr, ...]:
    """A sphere rolls on a plane; `normal` points from the plane to the sphere."""
    _turning(body, "rolling_on_plane")
    radius = checks.expression(radius, "rolling_on_plane (radius)")
    up = unit(vector(normal, "rolling_on_plane (normal)"))
    return rolling(body, minus(body.position, times(radius, up)), on, _tangents(up))


def rolling_disc(
    body: Any, radius: Any, normal: Any = (0, 0, 1), on: Any = None, *, axle: Any = (0, 0, 1)
) -> tuple[Expr, ...]:
    """A thin disc (or hoop) rolls with its edge on a plane; see `lowest_point`."""
    _turning(body, "rolling_disc")
    radius = checks.expression(radius, "rolling_disc (radius)")
    up = unit(vector(normal, "rolling_disc (normal)"))
    return rolling(body, lowest_point(body, radius, up, axle), on, _tangents(up))


def lowest_point(body: SpaceBody, radius: Any, normal: Any = (0, 0, 1), axle: Any = (0, 0, 1)) -> Vector:
    """Where the edge of a thin disc touches a plane below it: lowest in the direction of `normal`, however it is turned.

    axle:  the axis of the disc, along the axes of the body: [0, 1, 0] for a wheel with turns("zxy", yaw, lean, spin)
    """
    if not isinstance(body, SpaceBody):
        raise ModelError(f"lowest_point: got a {type(body).__name__}. Expected a body in space: SpaceBody(...).")
    radius = checks.expression(radius, "lowest_point (radius)")
    up = unit(vector(normal, "lowest_point (normal)"))
    axis, nodes = body.outward(unit(vector(axle, "lowest_point (axle)"))), body.orientation.nodes
    if nodes is not None and vanishes(dot(nodes, up)) and vanishes(dot(nodes, axis)):
        across = tuple(map(collected, cross(axis, nodes)))
        rise = collected(dot(across, up))  # the sine of the inclination, which may have either sign
        uphill = times(rise / sympy.Abs(rise), across)
    else:
        rise = dot(axis, up)
        uphill = minus(up, times(rise, axis))
        rise = collected(dot(uphill, uphill))
        uphill = times(1 / sympy.sqrt(rise), uphill)
    if vanishes(rise):
        raise ModelError(
            "lowest_point: the axle is parallel to the normal of the plane however the body moves, so that the disc lies flat "
            "and no point of its edge is the lowest. Give the axle along the axes of the body: axle=[0, 1, 0]."
        )
    return minus(body.position, times(radius, uphill))


def _tangents(normal: Vector) -> list[Vector]:
    """Two directions that span a plane: coordinate axes where possible."""
    axes = [tuple(sympy.Integer(i == k) for i in range(3)) for k in range(3)]
    flat = [e for e in axes if vanishes(dot(e, normal))]
    if len(flat) == 2:
        return flat
    first = next(t for t in (cross(normal, e) for e in axes) if not all(vanishes(c) for c in t))
    return [first, cross(normal, first)]


def knife_edge(at: Any, direction: Any) -> tuple[Expr, ...]:
    """A blade in the plane at a place of a body: no motion across its direction."""
    across = left(vector(direction, "knife_edge (direction)"))
    return (collected(dot(across, place(at, "knife_edge").velocity)),)


def fixed_distance(a: Any, b: Any, distance: Any) -> tuple[Expr, ...]:
    """A rod without mass between two places: |AB|^2 = distance^2."""
    apart = minus(place(a, "fixed_distance").position, place(b, "fixed_distance").position)
    return (dot(apart, apart) - checks.expression(distance, "fixed_distance") ** 2,)


def hinge(a: Any, b: Any) -> tuple[Expr, ...]:
    """Two places are one: their positions agree, component by component."""
    apart = minus(place(a, "hinge").position, place(b, "hinge").position)
    return tuple(c for c in apart if not vanishes(c))


def cable(total: Any, *through: Any) -> tuple[Expr, ...]:
    """An inextensible cable through two or more places, or of a length known in coordinates: cable(l, 2*x1 + x2 + x3)."""
    return (length(*through) - checks.expression(total, "cable"),)


@dataclass(frozen=True, eq=False)
class Contact:
    """A reaction to be found: an unknown force along each of some directions at a place of a body.

    on:     the body it acts on
    at:     where: a position, or a point of the body; by default its mass centre
    along:  the directions, by default the axes; Contact(rod, O) is a hinge, Contact(disc, P, [n]) a smooth contact
    by:     the body that exerts it, on which the opposite acts; by default the ground
    name:   its name where its components are listed, "hinge A"
    """

    on: Body
    at: Any = None
    along: Sequence[Any] | None = None
    by: Body | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.on, Body):
            raise ModelError(f"Contact: got {self.on!r}. Expected the body that the reaction acts on.")
        at = self.on.centre if self.at is None else place(self.at, "Contact").position
        axes = [tuple(int(i == k) for i in range(len(at))) for k in range(len(at))]
        _exerting(self.by, "Contact")
        directions = [vector(e, "Contact (along)") for e in (axes if self.along is None else _several(self.along))]
        for e in (at, *directions):
            if len(e) != self.on.dimension:
                raise ModelError(
                    f"Contact: got {list(e)} for a body whose position has {self.on.dimension} components. Write all in the "
                    f"plane, [x, y], or all in space, [x, y, z]."
                )
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "along", tuple(directions))


@dataclass(frozen=True, eq=False)
class Clamp:
    """A reaction to be found: the unknown torque that keeps a body from turning, by another body or the ground."""

    on: Body
    by: Body | None = None
    name: str = ""

    def __post_init__(self) -> None:
        _turning(self.on, "Clamp")
        _exerting(self.by, "Clamp")


def _exerting(by: Any, role: str) -> None:
    if not (by is None or isinstance(by, Body)):
        raise ModelError(
            f"{role} (by): got {told(by)}. Expected the body that exerts the reaction, or None: the ground."
        )


def _several(along: Any) -> list[Any]:
    if isinstance(along, str | Expr) or not isinstance(along, Sequence | sympy.MatrixBase):
        raise ModelError(f"Contact (along): got {told(along)}. Expected a list of directions: along=[[1, 0], [0, 1]].")
    return list(along)
