"""Vehicles in the plane that move by changing their shape: wheels that do not slip sideways, invariant under displacements."""

from __future__ import annotations

from typing import Any

from sympy import Expr, cos, sin

from ..model import scene
from ..model.coordinates import Coordinate, coordinates, parameters
from ..model.system import System
from .example import Example

ELEMENTS = parameters("g_x g_y g_phi")
"""A displacement of the plane: the image of the origin and the angle."""


def displaced(x: Coordinate, y: Coordinate, heading: Coordinate) -> dict[Any, Expr]:
    """The action of the displacements of the plane on a place and a heading."""
    u, w, a = ELEMENTS
    return {x: x * cos(a) - y * sin(a) + u, y: x * sin(a) + y * cos(a) + w, heading: heading + a}


def snakeboard() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 + J theta.dot^2/2 + J_r (theta.dot + psi.dot)^2/2 + J_w (theta.dot^2 + phi.dot^2).

    theta is the heading of the board, psi the angle of the rotor, phi and -phi those of the front and the rear axle. The axles
    are at the distance r before and behind the middle; the wheels do not slip sideways:
    sin(theta + phi) x.dot - cos(theta + phi) y.dot = r cos(phi) theta.dot, and with -phi and -r behind.

    The board goes straight ahead with r cos(phi) s and turns with sin(phi) s. Its momentum along this direction,
    p = m r cos(phi) u + sin(phi) (...), changes with the angle of the axles and of the rotor.
    """
    x, y, theta, psi, phi = coordinates("x y theta psi phi")
    m, J, J_r, J_w, r = parameters("m J J_r J_w r", positive=True)

    def slip(angle: Expr, ahead: Expr) -> Expr:
        return -sin(angle) * x.dot + cos(angle) * y.dot + ahead * cos(phi) * theta.dot

    board = System(
        "snakeboard",
        [x, y, theta, psi, phi],
        kinetic=m * (x.dot**2 + y.dot**2) / 2
        + J * theta.dot**2 / 2
        + J_r * (theta.dot + psi.dot) ** 2 / 2
        + J_w * (theta.dot**2 + phi.dot**2),
        constraints=[slip(theta + phi, r), slip(theta - phi, -r)],
        scene=_board_on_axles(x, y, theta, psi, phi, r),
    )
    return Example(
        name="snakeboard",
        system=board,
        description="A board on two steered axles whose rider swings a rotor: turning the axles while the rotor swings "
        "drives it, though nothing pushes it.",
        source="A. M. Bloch, P. S. Krishnaprasad, J. E. Marsden, R. M. Murray, Nonholonomic mechanical systems with symmetry, "
        "Arch. Rational Mech. Anal. 136 (1996) 21-99, section 8.4; "
        "J. Ostrowski, A. Lewis, R. Murray, J. Burdick, Nonholonomic mechanics and locomotion: the snakeboard example, "
        "IEEE Int. Conf. on Robotics and Automation, 1994.",
        parameters={m: 6.0, J: 0.16, J_r: 0.2, J_w: 0.02, r: 0.25},
        start={
            x: 0.0, y: 0.0, theta: 0.0, psi: 0.0, phi: 0.3,
            x.dot: 0.25, y.dot: 0.0, theta.dot: float(sin(0.3) / cos(0.3)), psi.dot: 1.5, phi.dot: -0.4,
        },
        h=0.01,
        until=10.0,
        invariants={
            "momentum of the rotor": J_r * (theta.dot + psi.dot),
            "momentum of the axles": 2 * J_w * phi.dot,
        },
        action=displaced(x, y, theta),
        elements=ELEMENTS,
    )  # fmt: skip


def two_wheeled_robot() -> Example:
    """L = m |velocity of the mass centre|^2/2 + J phi.dot^2/2 + J_w (theta.dot^2 + psi.dot^2)/2.

    (x, y) is the middle of the axle, phi the heading, theta and psi the angles of the right and left wheel of radius R, at the
    distance b from the middle; the mass centre lies at the distance a before the axle. The wheels roll, and the axle does not
    slip sideways: v = R (theta.dot + psi.dot)/2 and phi.dot = R (theta.dot - psi.dot)/(2 b).
    """
    x, y, phi, theta, psi = coordinates("x y phi theta psi")
    m, J, J_w, R, b = parameters("m J J_w R b", positive=True)
    a = parameters("a")
    along = cos(phi) * x.dot + sin(phi) * y.dot
    centre = (x.dot - a * phi.dot * sin(phi), y.dot + a * phi.dot * cos(phi))
    robot = System(
        "two-wheeled robot",
        [x, y, phi, theta, psi],
        kinetic=m * (centre[0] ** 2 + centre[1] ** 2) / 2 + J * phi.dot**2 / 2 + J_w * (theta.dot**2 + psi.dot**2) / 2,
        constraints=[
            -sin(phi) * x.dot + cos(phi) * y.dot,
            along + b * phi.dot - R * theta.dot,
            along - b * phi.dot - R * psi.dot,
        ],
        scene=[
            scene.Disc([x, y], 3 * b / 4, phi),
            scene.Box([x + b * sin(phi), y - b * cos(phi)], [2 * R, R / 3], phi),
            scene.Box([x - b * sin(phi), y + b * cos(phi)], [2 * R, R / 3], phi),
            scene.Point([x + a * cos(phi), y + a * sin(phi)], size=0.7),
            scene.Trail([x, y], fraction=1.0),
        ],
    )
    return Example(
        name="two-wheeled-robot",
        system=robot,
        description="A robot on two wheels with one axle: each motion of the wheels moves it in one way, so that closed "
        "motions of the wheels displace it.",
        source="S. D. Kelly, R. M. Murray, Geometric phases and robotic locomotion, J. Robotic Systems 12 (1995) 417-431; "
        "A. M. Bloch, Nonholonomic Mechanics and Control, Springer, 2003.",
        parameters={m: 5.0, J: 0.3, J_w: 0.01, R: 0.1, b: 0.2, a: 0.1},
        start={
            x: 0.0, y: 0.0, phi: 0.0, theta: 0.0, psi: 0.0,
            x.dot: 0.5, y.dot: 0.0, phi.dot: 0.5, theta.dot: 6.0, psi.dot: 4.0,
        },
        h=0.01,
        until=10.0,
        invariants={"angle of the wheels, less heading": R * (theta - psi) - 2 * b * phi},
        action=displaced(x, y, phi),
        elements=ELEMENTS,
    )  # fmt: skip


def roller_racer() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 + J_1 theta.dot^2/2 + J_2 (theta.dot + phi.dot)^2/2.

    (x, y) is the middle of the rear axle and the mass centre, theta the heading. The handlebar is hinged at the distance
    d_1 before it; its axle follows at the distance d_2 from the hinge, turned by phi, and its mass is neglected beside its
    moment of inertia. Neither axle slips sideways, so that
    (d_1 cos(phi) + d_2) theta.dot = sin(phi) v - d_2 phi.dot, with v the speed of the rear axle.
    """
    x, y, theta, phi = coordinates("x y theta phi")
    m, J_1, J_2, d_1, d_2 = parameters("m J_1 J_2 d_1 d_2", positive=True)
    front = theta + phi
    racer = System(
        "roller racer",
        [x, y, theta, phi],
        kinetic=m * (x.dot**2 + y.dot**2) / 2 + J_1 * theta.dot**2 / 2 + J_2 * (theta.dot + phi.dot) ** 2 / 2,
        constraints=[
            -sin(theta) * x.dot + cos(theta) * y.dot,
            -sin(front) * x.dot + cos(front) * y.dot + d_1 * cos(phi) * theta.dot + d_2 * (theta.dot + phi.dot),
        ],
        scene=_racer_on_axles(x, y, theta, front, d_1, d_2),
    )
    return Example(
        name="roller-racer",
        system=racer,
        description="A toy on two hinged axles without pedals: swinging the handlebar drives it.",
        source="P. S. Krishnaprasad, D. P. Tsakiris, Oscillations, SE(2)-snakes and motion control: a study of the Roller "
        "Racer, Dynamical Systems 16 (2001) 347-397.",
        parameters={m: 3.0, J_1: 0.1, J_2: 0.02, d_1: 0.1, d_2: 0.15},
        start={
            x: 0.0, y: 0.0, theta: 0.0, phi: 0.5,
            x.dot: 0.6, y.dot: 0.0, theta.dot: float((0.6 * sin(0.5) - 0.15) / (0.1 * cos(0.5) + 0.15)), phi.dot: 1.0,
        },
        h=0.01,
        until=10.0,
        action=displaced(x, y, theta),
        elements=ELEMENTS,
    )  # fmt: skip


def _axle(at: list[Any], angle: Expr, half: Expr, wheel: Expr, colour: str = "#d55e00") -> list[scene.Item]:
    """An axle across a direction, with a wheel at each end."""
    across = [-half * sin(angle), half * cos(angle)]
    left, right = ([at[0] + side * across[0], at[1] + side * across[1]] for side in (1, -1))
    wheels = [scene.Blade(end, [cos(angle), sin(angle)], wheel, colour=colour) for end in (left, right)]
    return [scene.Rod(left, right, width=0.5), *wheels]


def _board_on_axles(x: Expr, y: Expr, theta: Expr, psi: Expr, phi: Expr, r: Expr) -> list[scene.Item]:
    rear, front = ([x + side * r * cos(theta), y + side * r * sin(theta)] for side in (-1, 1))
    arm = [r * cos(theta + psi) / 2, r * sin(theta + psi) / 2]
    return [
        scene.Rod(rear, front, width=2),
        *_axle(front, theta + phi, r / 3, r / 3),
        *_axle(rear, theta - phi, r / 3, r / 3),
        scene.Rod([x - arm[0], y - arm[1]], [x + arm[0], y + arm[1]], colour="#009e73"),
        scene.Trail([x, y], fraction=1.0),
    ]


def _racer_on_axles(x: Expr, y: Expr, theta: Expr, front: Expr, d_1: Expr, d_2: Expr) -> list[scene.Item]:
    hinge = [x + d_1 * cos(theta), y + d_1 * sin(theta)]
    bar = [hinge[0] + d_2 * cos(front), hinge[1] + d_2 * sin(front)]
    return [
        scene.Rod([x, y], hinge, width=2),
        scene.Rod(hinge, bar),
        *_axle([x, y], theta, d_1 / 2, d_1 / 2, "#1c2229"),
        *_axle(bar, front, d_1 / 2, d_1 / 2),
        scene.Trail([x, y], fraction=1.0),
    ]
