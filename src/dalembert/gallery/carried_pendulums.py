"""Pendulums whose support moves: on carts, trolleys, rolling discs, slots and rotating planes.

Angles are measured from the downward vertical; y points up.
"""

from __future__ import annotations

import math

from sympy import Rational, cos, sin

from ..model import scene
from ..model.coordinates import coordinates, multiplier, parameters, time
from ..model.system import System
from .example import Example, hung

_NOTES = "Leyes de Newton y principio de d'Alembert, lecture notes in Spanish, "
_CHAPTER = "Dinamica analitica, chapter 7 of a textbook of mechanics in Spanish, "


def double_pendulum_cartesian() -> Example:
    """L = m1 (x1.dot^2 + y1.dot^2)/2 + m2 (x2.dot^2 + y2.dot^2)/2 - m1 g y1 - m2 g y2.

    x1^2 + y1^2 = l1^2 and (x2 - x1)^2 + (y2 - y1)^2 = l2^2. The tension of rod i is -2 l_i lambda_i.
    """
    x1, y1, x2, y2 = coordinates("x1 y1 x2 y2")
    m1, m2, l1, l2, g = parameters("m1 m2 l1 l2 g", positive=True)
    rods = System(
        "double pendulum in Cartesian coordinates",
        [x1, y1, x2, y2],
        kinetic=m1 * (x1.dot**2 + y1.dot**2) / 2 + m2 * (x2.dot**2 + y2.dot**2) / 2,
        potential=m1 * g * y1 + m2 * g * y2,
        constraints=[x1**2 + y1**2 - l1**2, (x2 - x1) ** 2 + (y2 - y1) ** 2 - l2**2],
        scene=[
            scene.Rod([0, 0], [x1, y1]),
            scene.Rod([x1, y1], [x2, y2]),
            scene.Point([0, 0], size=0.6),
            scene.Point([x1, y1], size=1.2),
            scene.Point([x2, y2], size=1.4),
            scene.Trail([x2, y2]),
            scene.Vector([x2, y2], [2 * multiplier(2) * (x2 - x1), 2 * multiplier(2) * (y2 - y1)], kind="reaction"),
        ],
    )
    first = (1.1 * math.sin(0.4), -1.1 * math.cos(0.4))
    speed = (0.3 * 1.1 * math.cos(0.4), 0.3 * 1.1 * math.sin(0.4))
    return Example(
        name="double-pendulum-cartesian",
        system=rods,
        description="The double pendulum with its rods as holonomic constraints, whose multipliers give the tensions.",
        source=_NOTES + "example 6; " + _CHAPTER + "example 7.1.",
        parameters={m1: 0.9, m2: 1.7, l1: 1.1, l2: 0.7, g: 9.81},
        start={
            x1: first[0],
            y1: first[1],
            x2: first[0] + 0.7 * math.sin(1.2),
            y2: first[1] - 0.7 * math.cos(1.2),
            x1.dot: speed[0],
            y1.dot: speed[1],
            x2.dot: speed[0] - 0.8 * 0.7 * math.cos(1.2),
            y2.dot: speed[1] - 0.8 * 0.7 * math.sin(1.2),
        },
        h=0.005,
        until=10.0,
    )


def cart_pendulum() -> Example:
    """L = m1 x.dot^2/2 + m2 (x.dot^2 + l^2 theta.dot^2 + 2 l x.dot theta.dot cos(theta))/2 + m2 g l cos(theta)."""
    x, theta = coordinates("x theta")
    m1, m2, l, g = parameters("m1 m2 l g", positive=True)
    tip = hung(l, theta, [x, 0])
    cart = System(
        "pendulum on a cart",
        [x, theta],
        kinetic=m1 * x.dot**2 / 2 + m2 * (x.dot**2 + l**2 * theta.dot**2 + 2 * l * x.dot * theta.dot * cos(theta)) / 2,
        potential=-m2 * g * l * cos(theta),
        scene=[
            scene.Ground([0, -l / 8], [0, 1]),
            scene.Box([x, 0], [l / 2, l / 4]),
            scene.Rod([x, 0], tip),
            scene.Point(tip, size=1.4),
            scene.Trail(tip),
        ],
    )
    return Example(
        name="cart-pendulum",
        system=cart,
        description="A pendulum hangs from a cart that is free to move along a line.",
        source=_CHAPTER + "example 7.7 a.",
        parameters={m1: 1.0, m2: 2.0, l: 0.8, g: 9.81},
        start={x: 0.1, theta: 0.6, x.dot: 0.2, theta.dot: 0.4},
        h=0.005,
        until=10.0,
        invariants={"momentum along the line": (m1 + m2) * x.dot + m2 * l * theta.dot * cos(theta)},
    )


def cart_pendulum_driven() -> Example:
    """L = m1 v^2/2 + m2 (v^2 + l^2 theta.dot^2 + 2 v l theta.dot cos(theta))/2 + m2 g l cos(theta).

    The cart has the constant velocity v. The Jacobi integral is conserved; kinetic plus potential energy is not, since
    the force that drives the cart does work.
    """
    theta = coordinates("theta")
    m1, m2, l, g = parameters("m1 m2 l g", positive=True)
    v = parameters("v")
    tip = hung(l, theta, [v * time, 0])
    cart = System(
        "pendulum on a cart with constant velocity",
        [theta],
        kinetic=m1 * v**2 / 2 + m2 * (v**2 + l**2 * theta.dot**2 + 2 * v * l * theta.dot * cos(theta)) / 2,
        potential=-m2 * g * l * cos(theta),
        scene=[
            scene.Ground([0, -l / 8], [0, 1]),
            scene.Box([v * time, 0], [l / 2, l / 4]),
            scene.Rod([v * time, 0], tip),
            scene.Point(tip, size=1.4),
            scene.Trail(tip),
            scene.Vector([v * time, 0], [v, 0]),
        ],
    )
    return Example(
        name="cart-pendulum-driven",
        system=cart,
        description="A pendulum hangs from a cart that is driven at constant velocity: it swings as if the cart stood still.",
        source=_CHAPTER + "examples 7.2 and 7.7 b.",
        parameters={m1: 1.0, m2: 2.0, l: 0.8, g: 9.81, v: 0.7},
        start={theta: 0.6, theta.dot: 0.4},
        h=0.01,
        until=20.0,
    )


def plate_hung_from_trolley() -> Example:
    """L = M x.dot^2/2 + m (x.dot^2 + l^2 theta.dot^2 + 2 l x.dot theta.dot cos(theta))/2 + m g l cos(theta).

    The Rayleigh function is c x.dot^2/2: a damper holds the trolley. The plate does not turn, since its two rods are
    parallel. The momentum along x changes by -c times the displacement, so p_x + c x is conserved.
    """
    x, theta = coordinates("x theta")
    M, m, l, g = parameters("M m l g", positive=True)
    c = parameters("c", nonnegative=True)
    plate = System(
        "plate hung from a trolley by two parallel rods",
        [x, theta],
        kinetic=M * x.dot**2 / 2 + m * (x.dot**2 + l**2 * theta.dot**2 + 2 * l * x.dot * theta.dot * cos(theta)) / 2,
        potential=-m * g * l * cos(theta),
        dissipation=c * x.dot**2 / 2,
        scene=[
            scene.Ground([0, l / 8], [0, -1]),
            scene.Rod([-2 * l, 0], [x, 0], width=0.5),
            scene.Box([x, 0], [l, l / 5]),
            scene.Rod([x + 0.4 * l, 0], hung(l, theta, [x + 0.4 * l, 0]), width=0.6),
            scene.Rod([x - 0.4 * l, 0], hung(l, theta, [x - 0.4 * l, 0]), width=0.6),
            scene.Box([x + l * sin(theta), -l * cos(theta) - l / 8], [l, l / 4]),
        ],
    )
    return Example(
        name="plate-hung-from-trolley",
        system=plate,
        description="A plate hangs by two parallel rods from a trolley with a damper.",
        source=_CHAPTER + "problem 7.24.",
        parameters={M: 2.0, m: 1.2, l: 0.8, g: 9.81, c: 0.4},
        start={x: 0.1, theta: 0.6, x.dot: 0.2, theta.dot: 0.4},
        h=0.005,
        until=10.0,
        invariants={"momentum plus c times the way": (M + m) * x.dot + m * l * theta.dot * cos(theta) + c * x},
    )


def disc_with_pendulum_on_incline() -> Example:
    """L = 3 M x.dot^2/4 + m v^2/2 + (M + m) g x sin(alpha) + m g l cos(theta), x down the slope.

    v^2 = x.dot^2 + l^2 theta.dot^2 + 2 l x.dot theta.dot cos(theta + alpha) is the speed of the bob squared. The Rayleigh
    function is c (x.dot^2 + v^2)/2: a damper on the centre of the disc, and drag on the bob.
    """
    x, theta = coordinates("x theta")
    M, m, l, g = parameters("M m l g", positive=True)
    c = parameters("c", nonnegative=True)
    alpha = parameters("alpha")
    square = x.dot**2 + l**2 * theta.dot**2 + 2 * l * x.dot * theta.dot * cos(theta + alpha)
    end = [x * cos(alpha) + 0.3 * l * sin(alpha), -x * sin(alpha) + 0.3 * l * cos(alpha)]
    tip = hung(l, theta, end)
    disc = System(
        "rolling disc with a pendulum on an incline, damped",
        [x, theta],
        kinetic=Rational(3, 4) * M * x.dot**2 + m * square / 2,
        potential=-(M + m) * g * x * sin(alpha) - m * g * l * cos(theta),
        dissipation=c * (x.dot**2 + square) / 2,
        scene=[
            scene.Ground([0, 0], [sin(alpha), cos(alpha)]),
            scene.Disc(end, 0.3 * l, -x / (0.3 * l)),
            scene.Rod(end, tip),
            scene.Point(tip),
            scene.Trail(tip),
        ],
    )
    return Example(
        name="disc-with-pendulum-on-incline",
        system=disc,
        description="A disc rolls down an incline with a pendulum on its centre; both move through a viscous medium.",
        source=_CHAPTER + "problem 7.13.",
        parameters={M: 2.0, m: 1.2, l: 0.8, g: 9.81, c: 0.4, alpha: 0.5},
        start={x: 0.1, theta: 0.6, x.dot: 0.2, theta.dot: 0.4},
        h=0.005,
        until=5.0,
    )


def disc_with_driven_rod() -> Example:
    """L = (3 M/4 + m/2) R^2 theta.dot^2 + m l^2 phi.dot^2/6 + m R l theta.dot phi.dot cos(phi)/2 + m g l cos(phi)/2.

    A force A sin(Omega t) along the line acts on the lower end of the rod: it does the virtual work
    A sin(Omega t) (R delta theta + l cos(phi) delta phi). theta is the angle of rolling.
    """
    theta, phi = coordinates("theta phi")
    M, m, R, l, g, A, Omega = parameters("M m R l g A Omega", positive=True)
    force = A * sin(Omega * time)
    momentum = (Rational(3, 2) * M + m) * R**2 * theta.dot + m * R * l * phi.dot * cos(phi) / 2
    tip = hung(l, phi, [R * theta, R])
    disc = System(
        "rolling disc with a driven rod",
        [theta, phi],
        kinetic=(Rational(3, 4) * M + m / 2) * R**2 * theta.dot**2
        + m * l**2 * phi.dot**2 / 6
        + m * R * l * theta.dot * phi.dot * cos(phi) / 2,
        potential=-m * g * l * cos(phi) / 2,
        forces={theta: force * R, phi: force * l * cos(phi)},
        scene=[
            scene.Ground([0, 0], [0, 1]),
            scene.Disc([R * theta, R], R, -theta),
            scene.Rod([R * theta, R], tip),
            scene.Trail(tip),
            scene.Vector(tip, [A * sin(Omega * time), 0], kind="force"),
        ],
    )
    return Example(
        name="disc-with-driven-rod",
        system=disc,
        description="A disc rolls on a line with a rod hung from its centre, whose lower end is pushed to and fro.",
        source=_CHAPTER + "problem 7.20.",
        parameters={M: 2.0, m: 1.2, R: 0.9, l: 0.8, g: 9.81, A: 2.0, Omega: 4.0},
        start={theta: 0.1, phi: 0.6, theta.dot: 0.2, phi.dot: 0.4},
        h=0.005,
        until=10.0,
        invariants={"rolling momentum less its impulse": momentum + R * A * cos(Omega * time) / Omega},
    )


def disc_with_slot_and_pendulum() -> Example:
    """L = M R^2 psi.dot^2/4 + m (u^2 + l^2 theta.dot^2 sin(theta)^2 + rho^2 psi.dot^2)/2 + m g l cos(theta).

    u = x.dot + l theta.dot cos(theta) and rho = x + l sin(theta). x is the place of the massless joint in a radial slot of
    the disc, psi the angle of the disc about its vertical axis. Where theta = 0 the mass matrix is singular.
    """
    x, theta, psi = coordinates("x theta psi")
    M, m, R, l, g = parameters("M m R l g", positive=True)
    rho, u = x + l * sin(theta), x.dot + l * theta.dot * cos(theta)
    end = [x * cos(psi), x * sin(psi), 0]
    tip = [rho * cos(psi), rho * sin(psi), -l * cos(theta)]
    disc = System(
        "disc with a radial slot and a pendulum",
        [x, theta, psi],
        kinetic=M * R**2 * psi.dot**2 / 4
        + m * (u**2 + l**2 * theta.dot**2 * sin(theta) ** 2 + rho**2 * psi.dot**2) / 2,
        potential=-m * g * l * cos(theta),
        scene=[
            scene.Disc([0, 0, 0], R, psi),
            scene.Rod(
                [-R * cos(psi), -R * sin(psi), R / 15],
                [R * cos(psi), R * sin(psi), R / 15],
                width=0.4,
                colour="#1c2229",
            ),
            scene.Rod(end, tip),
            scene.Point(end, size=0.6),
            scene.Point(tip),
            scene.Trail(tip),
        ],
    )
    return Example(
        name="disc-with-slot-and-pendulum",
        system=disc,
        description="A pendulum hangs from a massless joint in a slot of a turning disc: its rod is unloaded, and the mass "
        "falls freely until the rod is vertical.",
        source=_CHAPTER + "problem 7.3.",
        parameters={M: 2.0, m: 1.2, R: 0.9, l: 0.8, g: 9.81},
        start={x: 0.3, theta: 0.6, psi: 0.0, x.dot: 0.2, theta.dot: 0.4, psi.dot: 1.5},
        h=2e-5,
        until=0.1,
        invariants={"angular momentum about the axis": (M * R**2 / 2 + m * rho**2) * psi.dot},
    )


def pendulum_on_circle() -> Example:
    """L = m ((R^2 + l^2 sin(theta)^2) phi.dot^2 + l^2 theta.dot^2 + 2 R l phi.dot theta.dot cos(theta))/2 + m g l cos(theta).

    The massless joint slides on a horizontal circle and is at the azimuth phi; the rod swings in the plane tangent to the
    circle. Where theta = 0 the mass matrix is singular.
    """
    phi, theta = coordinates("phi theta")
    m, R, l, g = parameters("m R l g", positive=True)
    end = [R * cos(phi), R * sin(phi), 0]
    tip = [R * cos(phi) - l * sin(theta) * sin(phi), R * sin(phi) + l * sin(theta) * cos(phi), -l * cos(theta)]
    ring = System(
        "pendulum tangent to a horizontal circle",
        [phi, theta],
        kinetic=m * (R**2 + l**2 * sin(theta) ** 2) * phi.dot**2 / 2
        + m * l**2 * theta.dot**2 / 2
        + m * R * l * phi.dot * theta.dot * cos(theta),
        potential=-m * g * l * cos(theta),
        scene=[
            scene.Hoop([0, 0, 0], R),
            scene.Rod(end, tip),
            scene.Point(end, size=0.6),
            scene.Point(tip),
            scene.Trail(tip),
        ],
    )
    momentum = m * (R**2 + l**2 * sin(theta) ** 2) * phi.dot + m * R * l * theta.dot * cos(theta)
    return Example(
        name="pendulum-on-circle",
        system=ring,
        description="A pendulum whose joint slides on a horizontal circle and which swings in the tangent plane.",
        source=_CHAPTER + "problem 7.4.",
        parameters={m: 1.2, R: 0.9, l: 0.8, g: 9.81},
        start={phi: 0.0, theta: 0.6, phi.dot: 1.5, theta.dot: 0.4},
        h=3e-5,
        until=0.15,
        invariants={"angular momentum about the vertical": momentum},
    )


def double_pendulum_in_rotating_plane() -> Example:
    """L = (M + m) a^2 w1^2/2 + m a^2 (w2^2 + 2 w1 w2 cos(theta1 - theta2))/2 + T0 - V, w = theta.dot.

    T0 = a^2 omega^2 (M sin(theta1)^2 + m (sin(theta1) + sin(theta2))^2)/2 is due to the rotation of the plane,
    V = k a^2 sin(theta1)^2/2 - M g a cos(theta1) - m g a (cos(theta1) + cos(theta2)); the spring stays horizontal.
    """
    theta1, theta2 = coordinates("theta1 theta2")
    M, m, a, k, g = parameters("M m a k g", positive=True)
    omega = parameters("omega")
    far = sin(theta1) + sin(theta2)
    end = [a * (sin(theta1)) * cos(omega * time), a * (sin(theta1)) * sin(omega * time), -a * (cos(theta1))]
    tip = [
        a * (sin(theta1) + sin(theta2)) * cos(omega * time),
        a * (sin(theta1) + sin(theta2)) * sin(omega * time),
        -a * (cos(theta1) + cos(theta2)),
    ]
    plane = System(
        "double pendulum in a rotating plane, with a spring",
        [theta1, theta2],
        kinetic=M * a**2 * (theta1.dot**2 + omega**2 * sin(theta1) ** 2) / 2
        + m * a**2 * (theta1.dot**2 + theta2.dot**2 + 2 * theta1.dot * theta2.dot * cos(theta1 - theta2)) / 2
        + m * a**2 * omega**2 * far**2 / 2,
        potential=k * a**2 * sin(theta1) ** 2 / 2 - M * g * a * cos(theta1) - m * g * a * (cos(theta1) + cos(theta2)),
        scene=[
            scene.Rod([0, 0, 0], end),
            scene.Rod(end, tip),
            scene.Spring([0, 0, -a * cos(theta1)], end),
            scene.Rod([0, 0, 0], [0, 0, -2 * a], width=0.4),
            scene.Point(end),
            scene.Point(tip),
            scene.Trail(tip, fraction=0.4),
        ],
    )
    return Example(
        name="double-pendulum-in-rotating-plane",
        system=plane,
        description="A double pendulum in a vertical plane that is turned at constant rate, its first mass on a spring.",
        source=_CHAPTER + "problem 7.9.",
        parameters={M: 2.0, m: 1.2, a: 0.5, k: 30.0, g: 9.81, omega: 3.0},
        start={theta1: 0.6, theta2: -0.3, theta1.dot: 0.4, theta2.dot: 1.1},
        h=0.002,
        until=5.0,
    )
