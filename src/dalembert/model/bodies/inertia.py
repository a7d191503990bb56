"""Masses and moments of inertia of the usual shapes.

Body axes: thin shapes lie in the plane of x and y, z is their normal. Each shape has a point its coordinates are
measured from: the centre of the disc, hoop, plate and sphere, the middle of the rod, the middle of the diameter of the
semi-hoop and the half-disc, whose arcs lie on the side of negative y.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy
from sympy import Expr, Rational, pi

from ...errors import ModelError, told
from .kinematics import Vector, constant, vector


class Figure(NamedTuple):
    """How a shape is drawn: its name, its sizes, and where its own point is, along the axes of the body."""

    name: str
    sizes: tuple[Any, ...]
    place: Vector = (sympy.S.Zero,) * 3


@dataclass(frozen=True, init=False)
class Shape:
    """What a rigid body is made of: its mass, where its mass centre is, how it resists turning.

    mass:      the mass
    moments:   the moments of inertia about axes through the mass centre: one number (about the normal, for a body in the
               plane), three (about the axes of the body), or a symmetric matrix of 3 rows and 3 columns
    centroid:  the mass centre, along the axes of the body
    """

    mass: Expr
    tensor: sympy.ImmutableMatrix | None
    moment: Expr
    centroid: Vector
    figure: Figure | None = field(compare=False)
    """None where only masses and moments are known."""

    def __init__(self, mass: Any, moments: Any, centroid: Any = (0, 0, 0), figure: Figure | None = None):
        m = constant(mass, "mass")
        place = tuple(constant(e, "centroid") for e in vector(centroid, "centroid"))
        tensor = _tensor(moments)
        moment = constant(moments, "moments") if tensor is None else tensor[2, 2]
        held = {"mass": m, "tensor": tensor, "moment": moment, "centroid": (*place, sympy.S.Zero)[:3], "figure": figure}
        for name, value in held.items():
            object.__setattr__(self, name, value)

    def about(self, point: Any) -> Expr:
        """The moment of inertia about the normal through another point of the body (Steiner)."""
        arm = self._arm(point)
        return sympy.expand(self.moment + self.mass * (arm[0] ** 2 + arm[1] ** 2))

    def tensor_about(self, point: Any) -> sympy.ImmutableMatrix:
        """The inertia tensor about another point of the body (Steiner): I + m (d.d 1 - d d)."""
        d = sympy.Matrix(self._arm(point))
        moved = self.spatial + self.mass * ((d.T * d)[0] * sympy.eye(3) - d * d.T)
        return sympy.ImmutableMatrix(moved.applyfunc(sympy.expand))

    def measured_from(self, point: Any) -> Shape:
        """The same body, with its coordinates measured from another of its points."""
        figure = self.figure
        if figure is not None:
            p = (*vector(point, "point"), sympy.S.Zero)[:3]
            figure = figure._replace(place=tuple(a - b for a, b in zip(figure.place, p, strict=True)))
        return Shape(self.mass, self.moment if self.tensor is None else self.tensor, self._arm(point), figure)

    @property
    def spatial(self) -> sympy.ImmutableMatrix:
        """The inertia tensor about the mass centre."""
        if self.tensor is None:
            raise ModelError(
                f"this shape has one moment of inertia, {self.moment}, which is enough in the plane only. Give three, about "
                f"the axes of the body: Shape(mass, [I1, I2, I3])."
            )
        return self.tensor

    def _arm(self, point: Any) -> Vector:
        p = (*vector(point, "point"), sympy.S.Zero)[:3]
        return tuple(c - e for c, e in zip(self.centroid, p, strict=True))


def _tensor(moments: Any) -> sympy.ImmutableMatrix | None:
    """The matrix of inertia, or None where only one moment was given."""
    if isinstance(moments, int | float | sympy.Expr) and not isinstance(moments, sympy.MatrixBase):
        return None
    try:
        m = sympy.ImmutableMatrix(moments)
    except (TypeError, ValueError):
        m = sympy.ImmutableMatrix(0, 0, [])
    if m.shape == (3, 1):
        m = sympy.ImmutableMatrix(sympy.diag(*m))
    if m.shape != (3, 3) or m != m.T:
        raise ModelError(
            f"moments: got {told(moments)}. Expected one moment of inertia (in the plane), three (about the axes of the body) "
            f"or a symmetric matrix of 3 rows and 3 columns."
        )
    return m.applyfunc(lambda e: constant(e, "moments"))


def disc(mass: Any, radius: Any) -> Shape:
    """A thin uniform disc."""
    flat = mass * radius**2 / sympy.Integer(4)
    return Shape(mass, [flat, flat, 2 * flat], figure=Figure("disc", (radius,)))


def hoop(mass: Any, radius: Any) -> Shape:
    """A thin circular ring."""
    flat = mass * radius**2 / sympy.Integer(2)
    return Shape(mass, [flat, flat, 2 * flat], figure=Figure("hoop", (radius,)))


def _half(mass: Any, offset: Any, flat: Any, figure: Figure) -> Shape:
    """Half of a figure of revolution, whose moments about its centre are those of the whole with the same mass."""
    sunk = mass * offset**2
    return Shape(mass, [flat - sunk, flat, 2 * flat - sunk], (0, -offset, 0), figure)


def semi_hoop(mass: Any, radius: Any) -> Shape:
    """Half of a thin ring; the mass centre is 2 R/pi from the middle of the diameter."""
    return _half(mass, 2 * radius / pi, mass * radius**2 / sympy.Integer(2), Figure("semi_hoop", (radius,)))


def half_disc(mass: Any, radius: Any) -> Shape:
    """Half of a thin uniform disc; the mass centre is 4 R/(3 pi) from the middle of the diameter."""
    figure = Figure("half_disc", (radius,))
    return _half(mass, 4 * radius / (3 * pi), mass * radius**2 / sympy.Integer(4), figure)


def rod(mass: Any, length: Any) -> Shape:
    """A thin uniform rod along the x axis of the body."""
    I = mass * length**2 / sympy.Integer(12)
    return Shape(mass, [0, I, I], figure=Figure("rod", (length,)))


def plate(mass: Any, a: Any, b: Any) -> Shape:
    """A thin uniform rectangle with sides a along x and b along y."""
    return Shape(
        mass, [mass * e / sympy.Integer(12) for e in (b**2, a**2, a**2 + b**2)], figure=Figure("plate", (a, b))
    )


def sphere(mass: Any, radius: Any) -> Shape:
    """A uniform ball."""
    return Shape(mass, [Rational(2, 5) * mass * radius**2] * 3, figure=Figure("sphere", (radius,)))


def spherical_shell(mass: Any, radius: Any) -> Shape:
    """A thin hollow sphere."""
    return Shape(mass, [Rational(2, 3) * mass * radius**2] * 3, figure=Figure("sphere", (radius,)))
