"""A continuously variable transmission: two springs coupled by a gear whose ratio an independent driver sets."""

from __future__ import annotations

from sympy import cos, sin

from ..model import scene
from ..model.coordinates import coordinates, parameters
from ..model.system import System
from .example import Example


def continuously_variable_transmission() -> Example:
    """L = (xi.dot^2 + x.dot^2 + y.dot^2)/2 + cos(xi) - eps sin(2 xi)/2 - (x^2 + y^2)/2; y.dot + sin(xi) x.dot = 0.

    The driver xi is a pendulum, and no force of the springs acts on it: the reaction is along (sin(xi), 1) in the plane
    of x and y. Nor does the reaction do work, so the energy of the driver and the energy of the two springs are conserved
    separately. With v the speed in the direction that the gear leaves free, (x, y, v) turns about the origin:

        x.dot = v c,   y.dot = -v s,   v.dot = -c x + s y,   (c, s) = (1, sin(xi))/sqrt(1 + sin(xi)^2).

    Reversing all velocities turns motions into motions. It maps the orbit of a driver in libration to itself; that of a
    driver in rotation it does not, but for eps = 0 a second map does: (xi, y, x.dot) -> -(xi, y, x.dot) and t -> -t.
    The term with eps is even about other angles than the cosine, so it breaks this symmetry.
    """
    xi, x, y = coordinates("xi x y")
    eps = parameters("eps")
    driver = cos(xi) - eps * sin(2 * xi) / 2
    transmission = System(
        "continuously variable transmission",
        [xi, x, y],
        kinetic=(xi.dot**2 + x.dot**2 + y.dot**2) / 2,
        potential=(x**2 + y**2) / 2 - driver,
        constraints=[y.dot + sin(xi) * x.dot],
        scene=[
            scene.Rod([0, 0], [sin(xi), -cos(xi)]),
            scene.Point([0, 0], size=0.6),
            scene.Point([sin(xi), -cos(xi)], label="ξ"),
            scene.Rod([1, -1.5], [1, 1.5]),
            scene.Rod([1, -2], [5, -2]),
            scene.Spring([1, y], [3 + x, y]),
            scene.Spring([3 + x, -2], [3 + x, y]),
            scene.Point([3 + x, y], label="(x, y)"),
            scene.Trail([3 + x, y], fraction=0.2),
            scene.Vector([3 + x, y], [x.dot, y.dot]),
        ],
    )
    return Example(
        name="continuously-variable-transmission",
        system=transmission,
        description="Two springs coupled by a gear whose ratio a pendulum sets as it goes round. "
        "The pendulum and the springs keep their energies separately.",
        source="K. Modin and O. Verdier, What makes nonholonomic integrators work?, Numer. Math. 145 (2020) 405-435.",
        parameters={eps: 0.1},
        start={xi: 0.0, x: 1.0, y: 0.0, xi.dot: 2.5, x.dot: 0.0, y.dot: 0.0},
        h=0.05,
        until=100.0,
        invariants={
            "energy of the driver": xi.dot**2 / 2 - driver,
            "energy of the springs": (x.dot**2 + y.dot**2 + x**2 + y**2) / 2,
        },
    )
