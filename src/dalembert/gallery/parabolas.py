"""Particles under the constraint y.dot = x x.dot, which looks nonholonomic and is the derivative of y - x^2/2."""

from __future__ import annotations

from sympy import Expr, Rational

from ..model import scene
from ..model.coordinates import coordinates, parameters
from ..model.system import System
from .example import Example

_TORI = (
    "C. I. Tori, Reduccion lagrangiana de sistemas mecanicos discretos con vinculos no holonomos, "
    "Universidad Nacional de La Plata, 2010, "
)
ELEMENTS = parameters("g_y g_z")
_ALONG = [Rational(k, 8) for k in range(-18, 33)]


def _height(x: Expr, y: Expr, u: Expr) -> Expr:
    """The parabola through (x, y), at u."""
    return y + (u**2 - x**2) / 2


def particle_on_parabola() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 with y.dot = x x.dot: a bead on the parabola y - x^2/2 = constant.

    (1 + x^2) x.ddot + x x.dot^2 = 0: the speed along the parabola is constant.
    """
    x, y = coordinates("x y")
    m = parameters("m", positive=True)
    bead = System(
        "particle on a parabola",
        [x, y],
        kinetic=m * (x.dot**2 + y.dot**2) / 2,
        constraints=[y.dot - x * x.dot],
        scene=[
            scene.Rope([[u, _height(x, y, u)] for u in _ALONG], colour="#7f8a95"),
            scene.Point([x, y]),
            scene.Trail([x, y]),
        ],
    )
    return Example(
        name="particle-on-parabola",
        system=bead,
        description="A particle in the plane with y.dot = x x.dot, which is a bead on a parabola with constant speed.",
        source=_TORI + "examples 5.2.1 to 7.3.3.",
        parameters={m: 1.0},
        start={x: -1.5, y: 0.0, x.dot: 0.5, y.dot: -0.75},
        h=0.02,
        until=10.0,
        invariants={"square of the speed": (1 + x**2) * x.dot**2},
        action={y: y + ELEMENTS[0]},
        elements=ELEMENTS[:1],
    )


def particle_over_parabola() -> Example:
    """L = m (x.dot^2 + y.dot^2 + z.dot^2)/2 with y.dot = x x.dot; z is cyclic and free: a horizontal symmetry."""
    x, y, z = coordinates("x y z")
    m = parameters("m", positive=True)
    particle = System(
        "particle over a parabola",
        [x, y, z],
        kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2,
        constraints=[y.dot - x * x.dot],
        scene=[
            scene.Rope([[u, _height(x, y, u), 0] for u in _ALONG], colour="#7f8a95"),
            scene.Rod([x, y, 0], [x, y, z], width=0.3),
            scene.Point([x, y, z]),
            scene.Trail([x, y, z]),
        ],
    )
    return Example(
        name="particle-over-parabola",
        system=particle,
        description="A particle in space with y.dot = x x.dot: above a parabola with constant speed, and free along z.",
        source=_TORI + "section 7.4.4.",
        parameters={m: 1.0},
        start={x: -1.5, y: 0.0, z: 0.1, x.dot: 0.5, y.dot: -0.75, z.dot: 0.3},
        h=0.02,
        until=10.0,
        invariants={
            "momentum along z": m * z.dot,
            "square of the speed in the plane": (1 + x**2) * x.dot**2,
        },
        action={y: y + ELEMENTS[0], z: z + ELEMENTS[1]},
        elements=ELEMENTS,
    )
