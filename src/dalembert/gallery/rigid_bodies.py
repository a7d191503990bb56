"""Rigid bodies and pendulums whose position is a rotation, a pose or a unit vector."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, sin
from typing import Any

import sympy
from sympy import sqrt

from ..model import scene
from ..model.coordinates import parameters, time
from ..model.group_coordinate import GroupCoordinate
from ..model.group_makers import direction, pose, rotation
from ..model.system import System
from .example import Example


def turned(angle: float) -> list[list[float]]:
    """The rotation about the first axis by an angle."""
    c, s = cos(angle), sin(angle)
    return [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]


def kinetic_energy(R: GroupCoordinate, J: Any) -> Any:
    """(J1 w1^2 + J2 w2^2 + J3 w3^2)/2 in the principal axes of the body."""
    return sum(a * w**2 for a, w in zip(J, R.omega, strict=True)) / 2


def block(R: GroupCoordinate, J: Any) -> scene.Box:
    """A block with sides in proportion to those of one with these moments of inertia, never zero."""
    return scene.Box([0, 0, 0], [sqrt(sum(J) - 2 * j + sum(J) / 20) for j in J], R)


def free_rigid_body() -> Example:
    """L = (J1 w1^2 + J2 w2^2 + J3 w3^2)/2."""
    R = rotation("R")
    J = parameters("J1 J2 J3", positive=True)
    momentum = [a * w for a, w in zip(J, R.omega, strict=True)]
    return Example(
        name="free-rigid-body",
        system=System(
            "free rigid body",
            [R],
            kinetic=kinetic_energy(R, J),
            scene=[
                block(R, J),
                scene.Axes([0, 0, 0], R, 2),
                scene.Trail([2 * R[i, 1] for i in range(3)]),
            ],
        ),
        description="A body without torques, spun about its middle axis: it turns over again and again. Its angular momentum "
        "in space is constant, and so is its length in the body.",
        source="L. D. Landau and E. M. Lifshitz, Mechanics, 3rd ed., Pergamon, 1976, section 37.",
        parameters={J[0]: 1.0, J[1]: 2.0, J[2]: 3.0},
        start={R: turned(0.3), R.omega: (0.01, 1.0, 0.0)},
        h=0.05,
        until=60.0,
        invariants={"angular momentum squared": sum(p**2 for p in momentum)},
    )


def heavy_top() -> Example:
    """L = (J1 w1^2 + J2 w2^2 + J3 w3^2)/2 - m g l R33."""
    R = rotation("R")
    J = parameters("J1 J2 J3", positive=True)
    m, g, l = parameters("m g l", positive=True)
    top = System(
        "heavy top",
        [R],
        kinetic=kinetic_energy(R, J),
        potential=m * g * l * R[2, 2],
        scene=[
            scene.Ground([0, 0, 0], [0, 0, 1]),
            scene.Rod([0, 0, 0], [2 * l * R[i, 2] for i in range(3)]),
            scene.Disc([l * R[i, 2] for i in range(3)], l, R),
            scene.Trail([2 * l * R[i, 2] for i in range(3)]),
        ],
    )
    vertical = sum(R[2, j] * J[j] * R.omega[j] for j in range(3))
    return Example(
        name="heavy-top",
        system=top,
        description="A symmetric top spinning about a fixed point: its axis precesses and nods. Its angular momentum about "
        "the vertical and, with J1 = J2, that about its own axis are constant.",
        source="V. I. Arnold, Mathematical Methods of Classical Mechanics, 2nd ed., Springer, 1989, section 30.",
        parameters={J[0]: 1.0, J[1]: 1.0, J[2]: 0.5, m: 1.0, g: 9.81, l: 0.3},
        start={R: turned(0.4), R.omega: (0.1, 0.2, 10.0)},
        h=0.01,
        until=10.0,
        invariants={"angular momentum about the vertical": vertical},
    )


def satellite() -> Example:
    """L = (J1 w1^2 + J2 w2^2 + J3 w3^2)/2 - 3 Omega^2 (J1 u1^2 + J2 u2^2 + J3 u3^2)/2.

    u is the direction from the centre of the earth, in the body; in space it is (cos(Omega t), sin(Omega t), 0).
    """
    R = rotation("R")
    J = parameters("J1 J2 J3", positive=True)
    Omega = parameters("Omega", positive=True)
    outward = (sympy.cos(Omega * time), sympy.sin(Omega * time), 0)
    u = [sum(R[i, j] * outward[i] for i in range(3)) for j in range(3)]
    torque = 3 * Omega**2 * sum(a * x**2 for a, x in zip(J, u, strict=True)) / 2
    normal = sum(R[2, j] * J[j] * R.omega[j] for j in range(3))
    return Example(
        name="satellite",
        system=System(
            "satellite",
            [R],
            kinetic=kinetic_energy(R, J),
            potential=torque,
            scene=[
                block(R, J),
                scene.Axes([0, 0, 0], R, 2),
                scene.Vector([-x for x in outward], [-x for x in outward], "other", label="to the earth"),
                scene.Trail([2 * R[i, 0] for i in range(3)]),
            ],
        ),
        description="A satellite on a circular orbit, turned by the gradient of gravity: its longest axis swings about the "
        "vertical. Its energy changes, but in the frame of the orbit it has a Jacobi integral.",
        source="P. C. Hughes, Spacecraft Attitude Dynamics, Wiley, 1986.",
        parameters={J[0]: 0.5, J[1]: 1.5, J[2]: 1.8, Omega: 1.0},
        start={R: turned(0.2), R.omega: (0.1, 0.25, 1.1)},
        h=0.02,
        until=40.0,
        invariants={"Jacobi integral": kinetic_energy(R, J) + torque - Omega * normal},
    )


def pendulum_on_sphere() -> Example:
    """L = m l^2 (w1^2 + w2^2)/2 - m g l n3, n a unit vector."""
    n = direction("n")
    m, g, l = parameters("m g l", positive=True)
    v = n.velocity
    pendulum = System(
        "spherical pendulum",
        [n],
        kinetic=m * l**2 * sum(w**2 for w in n.omega) / 2,
        potential=m * g * l * n[2],
        scene=[
            scene.Point([0, 0, 0]),
            scene.Rod([0, 0, 0], [l * n[i] for i in range(3)]),
            scene.Point([l * n[i] for i in range(3)], 3),
            scene.Trail([l * n[i] for i in range(3)], 1),
        ],
    )
    low, rate = -0.8, (9.81 / (0.5 * 0.8)) ** 0.5
    return Example(
        name="pendulum-on-sphere",
        system=pendulum,
        description="The spherical pendulum without angles: its position is a unit vector, so that nothing is singular where "
        "it hangs straight down. The motion is that of a conical pendulum, a circle.",
        source="T. Lee, M. Leok and N. H. "
        "McClamroch, Global Formulations of Lagrangian and Hamiltonian Dynamics on Manifolds, Springer, 2018, chapter 5.",
        parameters={m: 1.0, g: 9.81, l: 0.5},
        start={n: (0.6, 0.0, low), n.velocity: (0.0, 0.6 * rate, 0.0)},
        h=0.01,
        until=10.0,
        invariants={"angular momentum about the vertical": m * l**2 * (n[0] * v[1] - n[1] * v[0])},
        exact=_cone,
    )


def _cone(times: Any, p: Mapping[str, float], start: Mapping[str, Any]) -> dict[str, Any]:
    """A circle at constant height, at the rate sqrt(g/(l c)), c the cosine of the angle with the vertical."""
    import numpy as np

    x, y, z = (float(c) for c in start["n"])
    angle = np.sqrt(p["g"] / (p["l"] * -z)) * times
    turned = [np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y, z + 0 * angle]
    return {"n": np.stack(turned, axis=-1)}


def chaplygin_ball_in_space() -> Example:
    """L = (J1 w1^2 + J2 w2^2 + J3 w3^2)/2 + m v^2/2, the point of contact at rest: dx/dt = r Wy, dy/dt = -r Wx, z = r.

    W is the angular velocity in space, w that in the body. Position and attitude are one point of SE(3).
    """
    P = pose("P")
    J = parameters("J1 J2 J3", positive=True)
    m, r = parameters("m r", positive=True)
    v, W = ([sum(P[i, j] * x[j] for j in range(3)) for i in range(3)] for x in (P.velocity, P.omega))
    ball = System(
        "Chaplygin's ball",
        [P],
        kinetic=kinetic_energy(P, J) + m * sum(x**2 for x in P.velocity) / 2,
        constraints=[v[0] - r * W[1], v[1] + r * W[0], P[2, 3] - r],
        scene=[
            scene.Ground([0, 0, 0], [0, 0, 1]),
            scene.Sphere([P[i, 3] for i in range(3)], r, P),
            scene.Trail([P[0, 3], P[1, 3], 0], 1),
        ],
    )
    spin = [sum(P[i, j] * J[j] * P.omega[j] for j in range(3)) for i in range(3)]
    lever = (-m * r * v[1], m * r * v[0], 0)  # r e3 x m v
    return Example(
        name="chaplygin-ball-in-space",
        system=ball,
        description="A ball with three different moments of inertia about its centre rolls on a plane without slipping. Its "
        "angular momentum about the point of contact is constant in space, and so is its energy.",
        source="S. A. Chaplygin, On a ball's rolling on a horizontal plane, 1903, Regul. Chaotic Dyn. 7, 2002, 131-148.",
        parameters={J[0]: 0.4, J[1]: 0.6, J[2]: 0.9, m: 1.0, r: 1.0},
        start={
            P: [[*row, x] for row, x in zip(turned(0.3), (0.0, 0.0, 1.0), strict=True)] + [[0.0, 0.0, 0.0, 1.0]],
            P.omega: (0.3, 1.0, -0.5),
        },
        h=0.01,
        until=10.0,
        invariants={
            f"angular momentum about the contact, {axis}": a + b for axis, a, b in zip("xyz", spin, lever, strict=True)
        },
    )
