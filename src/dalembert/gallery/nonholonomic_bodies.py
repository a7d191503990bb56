"""Rigid bodies under constraints on their angular velocity, balls that roll, and a top whose foot can slide."""

from __future__ import annotations

from typing import Any

from sympy import Expr, Matrix, cos, eye, sin

from ..model import scene
from ..model.bodies import turns
from ..model.coordinates import Coordinate, coordinates, parameters, time
from ..model.group_coordinate import GroupCoordinate
from ..model.group_makers import rotation
from ..model.groups import SO3
from ..model.system import System
from .example import Example
from .rigid_bodies import block, kinetic_energy, turned

ROTATION = parameters("g_1 g_2 g_3")
"""A rotation by Cayley's map: half of it times the axis, as long as the tangent of half the angle, and twice that."""
ABOUT_VERTICAL = parameters("g_phi")
PLANE = parameters("g_x g_y g_phi")


def about_vertical(angle: Any) -> Matrix:
    """The rotation about the third axis by an angle."""
    return Matrix([[cos(angle), -sin(angle), 0], [sin(angle), cos(angle), 0], [0, 0, 1]])


def displaced(x: Coordinate, y: Coordinate, R: GroupCoordinate) -> dict[Any, Any]:
    """The action of the displacements of the plane on a place in it and on a body."""
    u, w, a = PLANE
    return {x: x * cos(a) - y * sin(a) + u, y: x * sin(a) + y * cos(a) + w, R: about_vertical(a) * R.matrix}


def in_space(R: GroupCoordinate, vector: Any) -> list[Expr]:
    """The components in space of a vector given in the body."""
    return list(R.matrix * Matrix(list(vector)))


def suslov() -> Example:
    """L = (I_1 w1^2 + I_2 w2^2 + I_3 w3^2)/2 + I_13 w1 w3 + I_23 w2 w3 and w3 = 0.

    With M = I_13 w1 + I_23 w2: I_1 w1.dot = -M w2 and I_2 w2.dot = M w1. The body goes from one steady rotation with M = 0
    to the opposite one, although its energy is conserved, so no measure is.
    """
    R = rotation("R")
    I_1, I_2, I_3 = I = parameters("I_1 I_2 I_3", positive=True)
    I_13, I_23 = parameters("I_13 I_23")
    w = R.omega
    body = System(
        "Suslov's problem",
        [R],
        kinetic=kinetic_energy(R, I) + (I_13 * w[0] + I_23 * w[1]) * w[2],
        constraints=[w[2]],
        scene=[
            block(R, I),
            scene.Axes([0, 0, 0], R, 2),
            scene.Trail([2 * R[i, 0] for i in range(3)]),
        ],
    )
    return Example(
        name="suslov",
        system=body,
        description="A rigid body that cannot turn about an axis fixed in it. It goes over from one steady rotation to the "
        "opposite one.",
        source="G. K. Suslov, Theoretical Mechanics, Gostekhizdat, 1946; "
        "A. M. Bloch, Nonholonomic Mechanics and Control, Springer, 2003, section 8.6.",
        parameters={I_1: 1.0, I_2: 2.0, I_3: 2.5, I_13: 0.3, I_23: 0.5},
        start={R: turned(0.3), w: (1.0, -0.4, 0.0)},
        h=0.02,
        until=20.0,
        action={R: Matrix(SO3.cayley(list(ROTATION))) * R.matrix},
        elements=ROTATION,
    )


def veselova() -> Example:
    """L = (I_1 w1^2 + I_2 w2^2 + I_3 w3^2)/2 and R31 w1 + R32 w2 + R33 w3 = 0: no turn about an axis fixed in space.

    The reaction is a torque about that axis, so that the other two components of the angular momentum in space are constant.
    """
    R = rotation("R")
    I = parameters("I_1 I_2 I_3", positive=True)
    w = R.omega
    momentum = in_space(R, [a * b for a, b in zip(I, w, strict=True)])
    spin = in_space(R, w)
    body = System(
        "Veselova's problem",
        [R],
        kinetic=kinetic_energy(R, I),
        constraints=[spin[2]],
        scene=[
            block(R, I),
            scene.Axes([0, 0, 0], R, 2),
            scene.Rod([0, 0, -2], [0, 0, 2], width=0.4),
            scene.Trail([2 * R[i, 0] for i in range(3)]),
        ],
    )
    return Example(
        name="veselova",
        system=body,
        description="A rigid body that cannot turn about an axis fixed in space. Two components of its angular momentum are "
        "constant, and there is an invariant measure.",
        source="A. P. Veselov, L. E. Veselova, Integrable nonholonomic systems on Lie groups, Math. Notes 44 (1988) 810-819; "
        "Yu. N. Fedorov, B. Jovanovic, Nonholonomic LR systems as generalized Chaplygin systems with an invariant measure and "
        "flows on homogeneous spaces, J. Nonlinear Sci. 14 (2004) 341-381.",
        parameters=dict(zip(I, (1.0, 2.0, 2.5), strict=True)),
        start={R: turned(0.4), w: (1.0, -0.5, 0.5 * float(sin(0.4) / cos(0.4)))},
        h=0.02,
        until=20.0,
        invariants={
            "angular momentum in space, first": momentum[0],
            "angular momentum in space, second": momentum[1],
        },
        action={R: about_vertical(ABOUT_VERTICAL) * R.matrix},
        elements=(ABOUT_VERTICAL,),
    )


def chaplygin_ball() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 + (J_1 w1^2 + J_2 w2^2 + J_3 w3^2)/2 on a plane that is at rest.

    The mass centre is the middle of the ball; (x, y) is where it touches the plane. With W = R w, the angular velocity in
    space, it rolls: x.dot = a W2, y.dot = -a W1. The angular momentum about the point of contact is constant in space.
    """
    x, y = coordinates("x y")
    R = rotation("R")
    m, a = parameters("m a", positive=True)
    J = parameters("J_1 J_2 J_3", positive=True)
    W = in_space(R, R.omega)
    ball = System(
        "ball on a plane",
        [x, y, R],
        kinetic=m * (x.dot**2 + y.dot**2) / 2 + kinetic_energy(R, J),
        constraints=[x.dot - a * W[1], y.dot + a * W[0]],
        scene=[scene.Ground([0, 0, 0], [0, 0, 1]), scene.Sphere([x, y, a], a, R), scene.Trail([x, y, 0], fraction=1.0)],
    )
    own = in_space(R, [j * w for j, w in zip(J, R.omega, strict=True)])
    about_contact = (own[0] - m * a * y.dot, own[1] + m * a * x.dot, own[2])
    w = (0.8, 0.4, 1.5)
    spin = Matrix(turned(0.3)) * Matrix(list(w))
    return Example(
        name="chaplygin-ball",
        system=ball,
        description="A ball with three moments of inertia that rolls on a plane. Its angular momentum about the point of "
        "contact is constant.",
        source="S. A. Chaplygin, On a ball's rolling on a horizontal plane, Regul. Chaotic Dyn. 7 (2002) 131-148 (1903); "
        "J. J. Duistermaat, Chaplygin's sphere, arXiv:math/0409019.",
        parameters={m: 1.0, a: 0.5, **dict(zip(J, (0.10, 0.15, 0.20), strict=True))},
        start={x: 0.0, y: 0.0, x.dot: float(spin[1]) / 2, y.dot: -float(spin[0]) / 2, R: turned(0.3), R.omega: w},
        h=0.01,
        until=10.0,
        invariants={
            f"angular momentum about the contact, {n}": e
            for n, e in zip(("first", "second", "third"), about_contact, strict=True)
        },
        action=displaced(x, y, R),
        elements=PLANE,
    )


def ball_on_turntable() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 + J (w1^2 + w2^2 + w3^2)/2 on a plane that turns about the origin with Omega.

    With W = R w it rolls: x.dot - a W2 = -Omega y, y.dot + a W1 = Omega x. So (x.dot, y.dot) turns with the angular velocity
    k Omega, k = J/(J + m a^2), 2/7 for a homogeneous ball: the ball goes round a circle.
    """
    x, y = coordinates("x y")
    R = rotation("R")
    m, a, J = parameters("m a J", positive=True)
    Omega = parameters("Omega")
    W = in_space(R, R.omega)
    ball = System(
        "ball on a turntable",
        [x, y, R],
        kinetic=m * (x.dot**2 + y.dot**2) / 2 + kinetic_energy(R, [J, J, J]),
        constraints=[x.dot - a * W[1] + Omega * y, y.dot + a * W[0] - Omega * x],
        scene=[
            scene.Disc([0, 0, -0.03], 1.6, turns("z", Omega * time), colour="#7d8894"),
            scene.Sphere([x, y, a], a, R),
            scene.Trail([x, y, a], fraction=1.0),
        ],
    )
    k = J / (J + m * a**2)
    energy = m * (x.dot**2 + y.dot**2) / 2 + J * sum(w**2 for w in W) / 2
    turn = Matrix(SO3.cayley(list(ROTATION)))
    return Example(
        name="ball-on-turntable",
        system=ball,
        description="A homogeneous ball that rolls on a turning plane. It goes round a circle with 2/7 of the angular "
        "velocity of the plane, wherever it starts.",
        source="Ju. I. Neimark, N. A. Fufaev, Dynamics of Nonholonomic Systems, AMS, 1972; "
        "F. Fasso, N. Sansonetto, Conservation of 'moving' energy in nonholonomic systems with affine constraints and "
        "integrability of spheres on rotating surfaces, J. Nonlinear Sci. 26 (2016) 519-544.",
        parameters={m: 1.0, a: 0.1, J: 0.004, Omega: 1.5},
        start={x: 1.0, y: 0.0, x.dot: 0.2, y.dot: 0.3, R: eye(3).tolist(), R.omega: (12.0, 2.0, 1.0)},
        h=0.01,
        until=15.0,
        invariants={
            "spin about the vertical": W[2],
            "centre of the circle, x": x.dot + k * Omega * y,
            "centre of the circle, y": y.dot - k * Omega * x,
            "moving energy": energy - Omega * (m * (x * y.dot - y * x.dot) + J * W[2]),
        },
        action={R: R.matrix * turn.T},
        elements=ROTATION,
    )


def heavy_top_on_cart() -> Example:
    """L = M (x.dot^2 + y.dot^2)/2 + m |velocity of the mass centre|^2/2 + (J_1 w1^2 + J_2 w2^2 + J_3 w3^2)/2 - m g l R33.

    A top of mass m whose foot is fixed on a cart of mass M at (x, y), which slides on a horizontal plane. Its mass centre lies
    on its third axis at the distance l from the foot; J_k are the moments of inertia about the mass centre.
    """
    x, y = coordinates("x y")
    R = rotation("R")
    J = parameters("J_1 J_2 J_3", positive=True)
    M, m, g, l = parameters("M m g l", positive=True)
    w = R.omega
    swing = in_space(R, (l * w[1], -l * w[0], 0))
    velocity = (x.dot + swing[0], y.dot + swing[1], swing[2])
    tip = [x + 2 * l * R[0, 2], y + 2 * l * R[1, 2], 2 * l * R[2, 2]]
    top = System(
        "heavy top on a cart",
        [x, y, R],
        kinetic=M * (x.dot**2 + y.dot**2) / 2 + m * sum(v**2 for v in velocity) / 2 + kinetic_energy(R, J),
        potential=m * g * l * R[2, 2],
        scene=[
            scene.Ground([0, 0, -l / 4], [0, 0, 1]),
            scene.Box([x, y, -l / 8], [l, l, l / 4]),
            scene.Rod([x, y, 0], tip),
            scene.Disc([x + l * R[0, 2], y + l * R[1, 2], l * R[2, 2]], 3 * l / 4, R),
            scene.Trail(tip),
        ],
    )
    momentum = (M * x.dot + m * velocity[0], M * y.dot + m * velocity[1])
    spin = in_space(R, [j * u for j, u in zip(J, w, strict=True)])[2]
    arm = (l * R[0, 2], l * R[1, 2])
    return Example(
        name="heavy-top-on-cart",
        system=top,
        description="A spinning top whose foot is fixed on a cart that slides without friction: the top nods and precesses, "
        "and the cart moves to and fro under it.",
        source="V. I. Arnold, Mathematical Methods of Classical Mechanics, 2nd ed., Springer, 1989, section 30, "
        "with the foot on a cart in place of a fixed one.",
        parameters={**dict(zip(J, (0.02, 0.02, 0.03), strict=True)), M: 2.0, m: 1.0, g: 9.81, l: 0.2},
        start={x: 0.0, y: 0.0, x.dot: 0.1, y.dot: 0.0, R: turned(0.4), w: (0.1, 0.2, 60.0)},
        h=0.002,
        until=4.0,
        invariants={
            "momentum along x": momentum[0],
            "momentum along y": momentum[1],
            "angular momentum about the vertical": x * momentum[1]
            - y * momentum[0]
            + m * (arm[0] * velocity[1] - arm[1] * velocity[0])
            + spin,
        },
        action=displaced(x, y, R),
        elements=PLANE,
    )
