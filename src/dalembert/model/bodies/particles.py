"""Bodies with mass: particles, rigid bodies in the plane and in space, and their points.

Positions are functions r(q, t). Everything else follows: velocities, angular velocities, kinetic energies, and the
rates of linear and angular momentum in Newton's and Euler's laws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, cos, sin

from ...errors import ModelError, told
from .. import checks
from ..coordinates import Acceleration, Velocity
from .inertia import Shape
from .kinematics import Orientation, Vector, constant, dot, minus, plus, rate, rates, rotation, swept, times, vector


def located(given: Any, role: str) -> Any:
    """A position (or an angle), checked to be a function of coordinates and time."""
    checked = vector(given, role) if role == "position" else (checks.expression(given, role),)
    for e in checked:
        for s in sorted(e.free_symbols, key=str):
            if isinstance(s, Velocity | Acceleration):
                raise ModelError(
                    f"{role}: {s} in {e}. Positions and angles are functions of coordinates and time; velocities follow "
                    f"from them."
                )
    return checked if role == "position" else checked[0]


class Body:
    """Something with a mass and a position; a `Particle`, a `PlaneBody` or a `SpaceBody`."""

    position: Vector

    if TYPE_CHECKING:

        @property
        def mass(self) -> Expr: ...

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.position)

    @property
    def centroid(self) -> Vector:
        """The mass centre, measured from the position, along the axes of the body."""
        return (sympy.S.Zero,) * self.dimension

    @property
    def centre(self) -> Vector:
        """Where the mass centre is."""
        return Point(self, self.centroid, "body").position

    @property
    def spin(self) -> Vector:
        """The angular velocity along the fixed axes; a particle has none."""
        return ()

    @property
    def constraints(self) -> tuple[Expr, ...]:
        """Constraints on the coordinates of the body itself."""
        return ()

    @property
    def shown(self) -> str:
        """The kind of body, in a word."""
        return type(self).__name__

    @cached_property
    def velocity(self) -> Vector:
        """The velocity of the mass centre."""
        return rates(self.centre)

    @property
    def turning_energy(self) -> Expr:
        """The kinetic energy of turning about the mass centre."""
        return sympy.S.Zero

    @property
    def kinetic(self) -> Expr:
        """m v^2/2 of the mass centre, and the energy of turning about it."""
        return self.mass * dot(self.velocity, self.velocity) / 2 + self.turning_energy

    @cached_property
    def momentum_rate(self) -> Vector:
        """Mass times acceleration of the mass centre."""
        return times(self.mass, rates(self.velocity))

    @property
    def angular_momentum_rate(self) -> Vector:
        """The rate of the angular momentum about the mass centre, along the fixed axes; a particle has none."""
        return ()

    def outward(self, v: Vector) -> Vector:
        """Components along the fixed axes of a vector fixed in the body."""
        raise ModelError(f"a {self.shown} is not turned in any way. Give components along the fixed axes.")

    def point(self, coordinates: Any = None) -> Point:
        """A point fixed in the body, by its coordinates along the axes of the body; by default their origin."""
        local = (0,) * self.dimension if coordinates is None else coordinates
        fixed = tuple(constant(e, "point of a body") for e in vector(local, "point"))
        return Point(self, _sized(fixed, self.dimension, "point"), "body")

    def at(self, position: Any) -> Point:
        """The material point of the body at this place now: at a contact it changes with time."""
        place = _sized(vector(position, "position"), self.dimension, "position")
        return Point(self, minus(place, self.position), "space")

    def moved(self, displacement: Vector) -> Body:
        """The same body elsewhere."""
        return replace(self, position=plus(self.position, displacement))  # type: ignore[type-var]


def _sized(v: Vector, n: int, role: str) -> Vector:
    if len(v) != n:
        raise ModelError(f"{role}: got {len(v)} components, {list(v)}, but the body has {n}.")
    return v


@dataclass(frozen=True, eq=False)
class Particle(Body):
    """A particle: Particle(m, [x, y]) in the plane, Particle(m, [x, y, z]) in space."""

    mass: Expr
    position: Vector

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", constant(self.mass, "mass"))
        object.__setattr__(self, "position", located(self.position, "position"))


@dataclass(frozen=True, eq=False)
class PlaneBody(Body):
    """A rigid body in the plane.

    shape:     mass and inertia: disc(m, R), rod(m, l), ... or Shape(m, I)
    position:  where the point is that the coordinates of the shape are measured from (see `Shape.measured_from`)
    angle:     how far it is turned, counterclockwise
    """

    shape: Shape
    position: Vector
    angle: Expr

    def __post_init__(self) -> None:
        _shape(self.shape, "PlaneBody")
        object.__setattr__(self, "position", located(self.position, "position"))
        object.__setattr__(self, "angle", located(self.angle, "angle"))
        _sized(self.position, 2, "position of a PlaneBody")

    @property
    def mass(self) -> Expr:
        """Its mass."""
        return self.shape.mass

    @property
    def centroid(self) -> Vector:
        """The mass centre, measured from the position, along the axes of the body."""
        return self.shape.centroid[:2]

    @property
    def spin(self) -> Vector:
        """The angular velocity, counterclockwise."""
        return (rate(self.angle),)

    @property
    def turning_energy(self) -> Expr:
        """I w^2/2 about the mass centre."""
        return self.shape.moment * self.spin[0] ** 2 / 2

    @property
    def angular_momentum_rate(self) -> Vector:
        """I times the angular acceleration."""
        return (self.shape.moment * rate(self.spin[0]),)

    def outward(self, v: Vector) -> Vector:
        """Components along the fixed axes of a vector fixed in the body."""
        c, s = cos(self.angle), sin(self.angle)
        return (c * v[0] - s * v[1], s * v[0] + c * v[1])


@dataclass(frozen=True, eq=False)
class SpaceBody(Body):
    """A rigid body in space.

    shape:        mass and inertia: disc(m, R), sphere(m, R), ... or Shape(m, [I1, I2, I3])
    position:     where the point is that the coordinates of the shape are measured from (see `Shape.measured_from`)
    orientation:  turns("zxz", psi, theta, phi), quaternion(q0, q1, q2, q3), rotation(matrix), or the matrix itself
    """

    shape: Shape
    position: Vector
    orientation: Orientation

    def __post_init__(self) -> None:
        _shape(self.shape, "SpaceBody").spatial  # noqa: B018  (says so if it has one moment only)
        object.__setattr__(self, "position", located(self.position, "position"))
        _sized(self.position, 3, "position of a SpaceBody")
        if not isinstance(self.orientation, Orientation):
            object.__setattr__(self, "orientation", rotation(self.orientation))

    @property
    def mass(self) -> Expr:
        """Its mass."""
        return self.shape.mass

    @property
    def centroid(self) -> Vector:
        """The mass centre, measured from the position, along the axes of the body."""
        return self.shape.centroid

    @property
    def constraints(self) -> tuple[Expr, ...]:
        """Constraints on the coordinates of the orientation."""
        return self.orientation.constraints

    @property
    def spin(self) -> Vector:
        """The angular velocity along the fixed axes."""
        return self.outward(self.orientation.spin)

    @property
    def turning_energy(self) -> Expr:
        """w.I w/2 about the mass centre, along the axes of the body.

        A quaternion has one coordinate more than there are turns, and w does not depend on changes of its length. A
        term is added that is the square of the rate of the length, so that momenta determine velocities. It is zero, and so
        are its derivatives, wherever the length is constant: it changes neither the motion nor the multipliers.
        """
        w, I = self.orientation.spin, self.shape.spatial
        return dot(w, tuple(I * sympy.Matrix(w))) / 2 + 2 * I.trace() / 3 * self.orientation.swelling**2

    @property
    def angular_momentum_rate(self) -> Vector:
        """I dw/dt + w x I w, turned to the fixed axes."""
        I, w = self.shape.spatial, self.orientation.spin
        euler = plus(tuple(I * sympy.Matrix(rates(w))), swept(w, tuple(I * sympy.Matrix(w))))
        return self.outward(euler)

    def outward(self, v: Vector) -> Vector:
        """Components along the fixed axes of a vector fixed in the body."""
        return self.orientation.outward(v)


def _shape(given: Any, role: str) -> Shape:
    if not isinstance(given, Shape):
        raise ModelError(
            f"{role}: the first argument is {told(given)}. Expected a shape: disc(m, R), hoop(m, R), rod(m, l), sphere(m, R), "
            f"..., or Shape(mass, moments)."
        )
    return given


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a body, or a point in space: where a load acts.

    `components` is measured from the position of the body, along its own axes (frame "body") or along the fixed ones
    (frame "space"); without a body it is the position itself.
    """

    body: Body | None
    components: Vector
    frame: str

    @property
    def position(self) -> Vector:
        """Where the point is."""
        return self.components if self.body is None else plus(self.body.position, self.arm)

    @property
    def arm(self) -> Vector:
        """From the position of the body to the point."""
        if self.body is None:
            return (sympy.S.Zero,) * len(self.components)
        return self.body.outward(self.components) if self.frame == "body" and any(self.components) else self.components

    @property
    def velocity(self) -> Vector:
        """The velocity of the material point: that of the body's position and of turning about it."""
        if self.body is None:
            return rates(self.components)
        base = rates(self.body.position)
        return plus(base, swept(self.body.spin, self.arm)) if self.body.spin else base


def place(given: Any, role: str) -> Point:
    """Where something acts: a point of a body, a body (its mass centre), or a position."""
    if isinstance(given, Point):
        return given
    if isinstance(given, Body):
        return Point(given, given.centroid, "body")
    try:
        return Point(None, located(given, "position"), "space")
    except ModelError:
        if isinstance(given, Sequence | sympy.MatrixBase) and not isinstance(given, str):
            raise
    raise ModelError(
        f"{role}: got {told(given)}. Expected a body, a point of it, body.point([a, b]), or a position, [x, y]."
    )
