"""Loads on bodies: gravity, springs, dampers, cables, forces, torques.

Every load gives a list of efforts, forces and torques with the velocities they work on, from which generalised forces
follow by virtual work, Q_j = f . dv/d(q_j.dot), and Newton's and Euler's balances directly. A conservative load also
gives its potential, which enters the Lagrangian.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import sympy
from sympy import Expr

from ...errors import ModelError
from .. import checks
from .kinematics import Vector, dot, minus, rate, size, times, unit, vector
from .particles import Body, Particle, PlaneBody, Point, SpaceBody, located, place


@dataclass(frozen=True, eq=False)
class Effort:
    """A force or torque, `value`, with the velocities, `rates`, it works on; its power is their product.

    A force acts on `body` at `position`; a torque has no position. Without a body it acts on the ground, or on
    something the load does not specify.
    """

    value: Vector
    rates: Vector
    body: Body | None = None
    position: Vector | None = None


def push(force: Vector, at: Point) -> Effort:
    """A force at a point."""
    if len(force) != len(at.position):
        raise ModelError(
            f"a force of {len(force)} components, {list(force)}, acts at a point of {len(at.position)}. Give both in the "
            f"plane or both in space."
        )
    return Effort(force, at.velocity, at.body, at.position)


@dataclass(frozen=True, eq=False)
class Load(ABC):
    """Something that acts on bodies."""

    conservative: ClassVar[bool] = False

    @abstractmethod
    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """The forces and torques it exerts."""

    def potential(self, bodies: Sequence[Body]) -> Expr:
        """The potential of its forces, if it is conservative."""
        return sympy.S.Zero

    def _put(self, **fields: Any) -> None:
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    def _scalar(self, field: str) -> None:
        self._put(**{field: checks.expression(getattr(self, field), f"{type(self).__name__} ({field})")})

    def _place(self, field: str, fixed: bool = False) -> None:
        found = place(getattr(self, field), type(self).__name__)
        if fixed and found.body is not None and found.frame != "body":
            raise ModelError(
                f"{type(self).__name__}: body.at(...) is the point of a body that is somewhere just now; the end of a spring "
                f"is fixed: give body.point([a, b])."
            )
        self._put(**{field: found})


@dataclass(frozen=True, eq=False)
class Gravity(Load):
    """A uniform field g on all bodies, or on those listed in `on`; it points along -y in the plane and -z in space."""

    g: Expr
    direction: Vector | None = None
    on: tuple[Body, ...] | None = None
    conservative = True

    def __post_init__(self) -> None:
        self._scalar("g")
        if self.direction is not None:
            self._put(direction=unit(vector(self.direction, "Gravity (direction)")))
        if self.on is not None:
            self._put(on=(self.on,) if isinstance(self.on, Body) else tuple(self.on))

    def _weights(self, bodies: Sequence[Body]) -> list[tuple[Body, Vector]]:
        chosen = bodies if self.on is None else self.on
        down = [self.direction or (*(0,) * (b.dimension - 1), sympy.S.NegativeOne) for b in chosen]
        return [(b, times(b.mass * self.g, d)) for b, d in zip(chosen, down, strict=True)]

    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """The weight of each body, at its mass centre."""
        return [push(weight, place(b, "Gravity")) for b, weight in self._weights(bodies)]

    def potential(self, bodies: Sequence[Body]) -> Expr:
        """Minus weight times position of the mass centre."""
        return -sympy.Add(*(dot(weight, b.centre) for b, weight in self._weights(bodies)))


@dataclass(frozen=True, eq=False)
class Spring(Load):
    """A linear spring k between two places, of natural length `length`."""

    k: Expr
    a: Point
    b: Point
    length: Expr = sympy.S.Zero
    conservative = True

    def __post_init__(self) -> None:
        self._scalar("k")
        self._scalar("length")
        self._place("a", fixed=True)
        self._place("b", fixed=True)

    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """A pull k (|AB| - length) at both ends, each towards the other."""
        apart = minus(self.a.position, self.b.position)
        stretch = times(1 - self.length / size(apart), apart) if self.length != 0 else apart
        return [push(times(-self.k, stretch), self.a), push(times(self.k, stretch), self.b)]

    def potential(self, bodies: Sequence[Body]) -> Expr:
        """k (|AB| - length)^2/2."""
        apart = minus(self.a.position, self.b.position)
        return self.k * ((size(apart) - self.length) ** 2 if self.length != 0 else dot(apart, apart)) / 2


@dataclass(frozen=True, eq=False)
class Damper(Load):
    """A linear damper c between two places, along the line that joins them; with one place, to the ground: -c v."""

    c: Expr
    a: Point
    b: Point | None = None

    def __post_init__(self) -> None:
        self._scalar("c")
        self._place("a")
        if self.b is not None:
            self._place("b")

    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """-c times the velocity, or the speed of separation."""
        if self.b is None:
            return [push(times(-self.c, self.a.velocity), self.a)]
        line = unit(minus(self.a.position, self.b.position))
        speed = dot(line, minus(self.a.velocity, self.b.velocity))
        force = times(self.c * speed, line)
        return [push(times(-1, force), self.a), push(force, self.b)]


@dataclass(frozen=True, eq=False)
class Drag(Load):
    """Resistance of a medium: the force -c |v|^(power - 1) v, v being the velocity relative to the medium."""

    c: Expr
    at: Point
    power: Any = 2
    medium: Vector | None = None

    def __post_init__(self) -> None:
        self._scalar("c")
        self._scalar("power")
        self._place("at")
        if self.medium is not None:
            self._put(medium=vector(self.medium, "Drag (medium)"))

    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """-c |v|^(power - 1) v."""
        v = minus(self.at.velocity, self.medium) if self.medium else self.at.velocity
        return [push(times(-self.c * sympy.sqrt(dot(v, v)) ** (self.power - 1), v), self.at)]


@dataclass(frozen=True, eq=False)
class Force(Load):
    """A given force at a place; it may depend on positions, velocities and time.

    Its components are along the fixed axes or, with fixed_in=body, along the axes of a body (a follower force).
    """

    force: Vector
    at: Point
    fixed_in: Body | None = None

    def __post_init__(self) -> None:
        self._put(force=vector(self.force, "Force"))
        self._place("at")
        self.efforts(())  # raises if the components do not fit

    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """The force."""
        return [push(self.force if self.fixed_in is None else self.fixed_in.outward(self.force), self.at)]


@dataclass(frozen=True, eq=False)
class Pull(Load):
    """A cable under a given tension, through two or more places, or of a given length: its virtual work is -F dl.

    Pull(F, bead, ring) or, where the length is known in coordinates, Pull(F, 2*x1 + x2).
    """

    force: Expr
    through: tuple[Any, ...]

    def __init__(self, force: Any, *through: Any):
        self._put(force=force, through=through)
        self._scalar("force")
        self._put(through=_through(through, "Pull"))

    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """The tension, at every place towards its neighbours."""
        if isinstance(self.through[0], Expr):
            return [Effort((-self.force,), (rate(self.through[0]),))]
        found = []
        for a, b in pairwise(self.through):
            line = unit(minus(b.position, a.position))
            found += [push(times(self.force, line), a), push(times(-self.force, line), b)]
        return found


def _through(given: tuple[Any, ...], role: str) -> tuple[Any, ...]:
    """A length, or the places a cable runs through."""
    if len(given) == 1 and isinstance(given[0], Expr) and not isinstance(given[0], sympy.MatrixBase):
        return (located(given[0], "length"),)
    if len(given) < 2:
        raise ModelError(f"{role}: got {len(given)} places. Expected a length, or two places or more.")
    return tuple(place(p, role) for p in given)


def length(*through: Any) -> Expr:
    """The length of a line from place to place."""
    places = _through(through, "length")
    if isinstance(places[0], Expr):
        return places[0]
    return sympy.Add(*(size(minus(b.position, a.position)) for a, b in pairwise(places)))


Turning = Any
"""What turns: a body, or an angle in the plane."""


def _turn(given: Turning, role: str) -> Any:
    """A body, or a checked angle; nothing turns on the ground."""
    if given is None or isinstance(given, PlaneBody | SpaceBody):
        return given
    if isinstance(given, Particle | Point):
        raise ModelError(f"{role}: a {type(given).__name__} does not turn. Expected a rigid body or an angle.")
    return located(given, "angle")


def _angle(turning: Turning, role: str) -> Expr:
    if isinstance(turning, SpaceBody):
        raise ModelError(f"{role}: a body in space has no one angle. Give the angle: {role}(k, theta).")
    return turning.angle if isinstance(turning, PlaneBody) else sympy.S.Zero if turning is None else turning


def _twist(value: Vector, turning: Turning) -> Effort:
    body = turning if isinstance(turning, Body) else None
    return Effort(value, body.spin if body is not None else (rate(_angle(turning, "Torque")),), body)


@dataclass(frozen=True, eq=False)
class TorsionSpring(Load):
    """A torsional spring k between two bodies in the plane, or two angles; `rest` is the angle of no torque."""

    k: Expr
    a: Turning
    b: Turning = None
    rest: Expr = sympy.S.Zero
    conservative = True

    def __post_init__(self) -> None:
        self._scalar("k")
        self._scalar("rest")
        self._put(a=_turn(self.a, "TorsionSpring"), b=_turn(self.b, "TorsionSpring"))

    @property
    def _twisted(self) -> Expr:
        return _angle(self.a, "TorsionSpring") - _angle(self.b, "TorsionSpring") - self.rest

    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """-k times the twist, and the opposite on the other side."""
        return [_twist((-self.k * self._twisted,), self.a), _twist((self.k * self._twisted,), self.b)]

    def potential(self, bodies: Sequence[Body]) -> Expr:
        """k twist^2/2."""
        return self.k * self._twisted**2 / 2


@dataclass(frozen=True, eq=False)
class TorsionDamper(Load):
    """A torsional damper c between two bodies in the plane, or two angles; with one, to the ground."""

    c: Expr
    a: Turning
    b: Turning = None

    def __post_init__(self) -> None:
        self._scalar("c")
        self._put(a=_turn(self.a, "TorsionDamper"), b=_turn(self.b, "TorsionDamper"))

    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """-c times the difference of the angular velocities, and the opposite on the other side."""
        slip = rate(_angle(self.a, "TorsionDamper") - _angle(self.b, "TorsionDamper"))
        return [_twist((-self.c * slip,), self.a), _twist((self.c * slip,), self.b)]


@dataclass(frozen=True, eq=False)
class Torque(Load):
    """A given torque on a body, or on an angle (its virtual work is N d(angle)), and the opposite on `against`.

    It is one number in the plane and for an angle, three along the fixed axes for a body in space.
    """

    torque: Any
    on: Turning
    against: Turning = None

    def __post_init__(self) -> None:
        self._put(on=_turn(self.on, "Torque"), against=_turn(self.against, "Torque"))
        spatial = isinstance(self.on, SpaceBody)
        self._put(torque=vector(self.torque, "Torque") if spatial else (checks.expression(self.torque, "Torque"),))
        if spatial and len(self.torque) != 3:
            raise ModelError(f"Torque: got {list(self.torque)}. On a body in space it has three components.")

    def efforts(self, bodies: Sequence[Body]) -> list[Effort]:
        """The torque, and its opposite."""
        back = [] if self.against is None else [_twist(times(-1, self.torque), self.against)]
        return [_twist(self.torque, self.on), *back]
