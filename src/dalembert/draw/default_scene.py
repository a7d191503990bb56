"""What is drawn of a system that does not say what it looks like.

Bodies on groups, and points whose coordinates are called x, y and z. Otherwise the path of the configuration: one angle as a
pendulum, two coordinates as a point in their plane, with angles wrapped.
"""

from __future__ import annotations

import re
from typing import Any

import sympy
from sympy import cos, floor, pi, sin

from ..decide.zero import has_turns
from ..model import scene as s
from ..model.coordinates import Coordinate, time
from ..model.group_coordinate import GroupCoordinate
from ..model.groups import SE2, SE3, SO3
from ..model.space import factors
from ..model.system import System

NAME = re.compile(r"([xyz])(_?\w*)")


def scene_of(system: Any, length: Any = 1) -> tuple[s.Item, ...]:
    """The scene of a system (or of the one that a discrete system was made of), or what is drawn instead.

    length:  that of a body whose size is unknown
    """
    stated = system.continuous or getattr(system, "system", None)
    if stated is not None and stated.scene:
        return tuple(stated.scene)
    every = factors(system.coordinates)
    bodies = [item for f in every if isinstance(f, GroupCoordinate) for item in _body(f, length)]
    lines = [
        q for q in system.coordinates if not any(isinstance(f, GroupCoordinate) and q in f.directions for f in every)
    ]
    return tuple(bodies or _points(lines) or _configuration(lines, stated))


def _body(f: GroupCoordinate, length: Any) -> list[s.Item]:
    """A body that is turned, at its place if it has one."""
    sides = [length, length * sympy.Rational(7, 10), length * sympy.Rational(2, 5)]
    if f.group == SE2:
        at = [f[0, 2], f[1, 2]]
        return [s.Box(at, [length, length / 2], f), s.Trail(at)]
    if f.group == SE3:
        at = [f[0, 3], f[1, 3], f[2, 3]]
        return [s.Box(at, sides, f), s.Axes(at, f, length=length), s.Trail(at)]
    if f.group == SO3:
        tip = [f[i, 2] for i in range(3)]
        return [
            s.Box([0, 0, 0], [1, sympy.Rational(7, 10), sympy.Rational(2, 5)], f),
            s.Axes([0, 0, 0], f),
            s.Trail(tip),
        ]
    return []


def _points(lines: list[Coordinate]) -> list[s.Item]:
    """Points by the names of their coordinates: x, y; x1, y1, z1."""
    found: dict[str, dict[str, Coordinate]] = {}
    for q in lines:
        if not (match := NAME.fullmatch(q.name)):
            return []
        found.setdefault(match[2], {})[match[1]] = q
    if not any({"x", "y"} <= set(part) or len(part) == 1 for part in found.values()):
        return []
    spatial = any("z" in part and len(part) > 1 for part in found.values())
    items: list[s.Item] = []
    for part in found.values():
        at = [part.get(c, sympy.S.Zero) for c in ("xyz" if spatial else "xy")]
        items += [s.Point(at), s.Trail(at)]
    return items


def is_angle(q: Coordinate, system: System | None) -> bool:
    """Whether the Lagrangian contains a coordinate, and is the same after a whole turn of it."""
    if system is None or q not in system.lagrangian.free_symbols:
        return False
    return has_turns([system.lagrangian], q)


def wrapped(q: Any) -> Any:
    """An angle between -pi and pi."""
    return q - 2 * pi * floor((q + pi) / (2 * pi))


def _configuration(lines: list[Coordinate], system: System | None) -> list[s.Item]:
    angles = {q: is_angle(q, system) for q in lines}
    if len(lines) == 1 and angles[lines[0]]:
        tip = [sin(lines[0]), -cos(lines[0])]
        return [s.Rod([0, 0], tip), s.Point([0, 0], size=0.5), s.Point(tip), s.Trail(tip)]
    if len(lines) == 1:
        return [s.Ground([0, 0], [0, 1]), s.Point([lines[0], 0])]
    if not lines:
        return [s.Point([time, 0])]
    place = [wrapped(q) if angles[q] else q for q in lines[:2]]
    edges = [(-pi, pi) if angles[q] else None for q in lines[:2]]
    frame: list[s.Item] = []
    if edges[0] and edges[1]:
        frame = [s.Rope([[a, b] for a, b in ((-pi, -pi), (pi, -pi), (pi, pi), (-pi, pi), (-pi, -pi))])]
    return [*frame, s.Point(place, label=f"({lines[0]}, {lines[1]})"), s.Trail(place)]
