"""How bodies and loads look: the scene of an assembly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy
from sympy import Expr, cos, pi, sin

from .. import scene as s
from .inertia import Figure
from .kinematics import Vector
from .loads import Damper, Force, Load, Pull, Spring
from .particles import Body, PlaneBody, Point, SpaceBody

ARC = 12
"""Corners of half a circle."""


def scene(bodies: Sequence[Body], loads: Sequence[Load]) -> list[s.Item]:
    """Bodies by their shapes, springs, dampers, cables and given forces, and the paths of the mass centres."""
    found = [item for load in loads for item in _load(load)] + [item for b in bodies for item in _body(b)]
    return [*found, *(s.Trail(b.centre) for b in bodies)]


def _body(body: Body) -> list[s.Item]:
    if isinstance(body, PlaneBody):
        return _rigid(body, body.angle)
    if isinstance(body, SpaceBody):
        return _rigid(body, body.orientation)
    return [s.Point(body.position)]


def _rigid(body: Any, turn: Any) -> list[s.Item]:
    figure = body.shape.figure
    if figure is None:
        return [s.Box(body.centre, _alike(body), turn)]
    at = Point(body, figure.place[: body.dimension], "body").position
    return _figure(body, figure, at, turn)


def _figure(body: Any, figure: Figure, at: Vector, turn: Any) -> list[s.Item]:
    size = figure.sizes[0]

    def place(x: Any, y: Any) -> Vector:
        local = (figure.place[0] + x, figure.place[1] + y, figure.place[2])
        return Point(body, local[: body.dimension], "body").position

    match figure.name:
        case "disc":
            return [s.Disc(at, size, turn)]
        case "hoop":
            return [s.Hoop(at, size, turn), s.Rod(place(0, 0), place(size, 0), width=0.4)]
        case "rod":
            return [s.Rod(place(-size / 2, 0), place(size / 2, 0))]
        case "plate":
            thick = [] if body.dimension == 2 else [sum(figure.sizes) / 40]
            return [s.Box(at, [*figure.sizes, *thick], turn)]
        case "sphere":
            return [s.Sphere(at, size, turn)]
        case "semi_hoop":
            return [s.Hoop(at, size, turn, begin=pi, end=2 * pi)]
    corners = [pi + pi * k / ARC for k in range(ARC + 1)]
    return [s.Polygon([place(size * cos(a), size * sin(a)) for a in corners])]


def _alike(body: Any) -> list[Expr]:
    """The sides of a uniform square or block with the mass and the moments of the body."""
    m, tensor = body.shape.mass, body.shape.tensor
    if body.dimension == 2 or tensor is None:
        return [sympy.sqrt(6 * body.shape.moment / m)] * body.dimension
    I = [tensor[k, k] for k in range(3)]
    return [sympy.sqrt(sympy.Max(6 * (sum(I) - 2 * own) / m, sum(I) / (100 * m))) for own in I]


def _load(load: Load) -> list[s.Item]:
    match load:
        case Spring(a=a, b=b):
            return [s.Spring(a.position, b.position)]
        case Damper(a=a, b=Point() as b):
            return [s.Rod(a.position, b.position, width=0.5)]
        case Force():
            return [s.Vector(e.position, e.value, kind="force") for e in load.efforts(()) if e.position is not None]
    if isinstance(load, Pull) and all(isinstance(p, Point) for p in load.through):
        return [s.Rope([p.position for p in load.through])]
    return []
