"""Hoops and rings: turning about a diameter, hung from a point of the rim, with beads on them or discs rolling in them.

Angles are measured from the downward vertical unless said otherwise; y points up.
"""

from __future__ import annotations

import math

from sympy import Rational, cos, pi, sin

from ..model import scene
from ..model.bodies import turns
from ..model.coordinates import coordinates, multiplier, parameters, time
from ..model.system import System
from .example import Example, hung

_NOTES = "Leyes de Newton y principio de d'Alembert, lecture notes in Spanish, "
_CHAPTER = "Dinamica analitica, chapter 7 of a textbook of mechanics in Spanish, "


def particle_on_moving_circle() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 - m g y on the circle (x - a)^2 + (y - b)^2 = R^2.

    Its centre moves: a = A sin(omega t), b = B t^2. The reaction does no virtual work, but it does work.
    """
    x, y = coordinates("x y")
    m, g, R, A, B, omega = parameters("m g R A B omega", positive=True)
    tip = [A * sin(omega * time), B * time**2]
    circle = System(
        "particle on a moving circle",
        [x, y],
        kinetic=m * (x.dot**2 + y.dot**2) / 2,
        potential=m * g * y,
        constraints=[(x - A * sin(omega * time)) ** 2 + (y - B * time**2) ** 2 - R**2],
        scene=[
            scene.Hoop(tip, R),
            scene.Point(tip, size=0.5),
            scene.Point([x, y]),
            scene.Trail([x, y]),
            scene.Vector(
                [x, y],
                [2 * multiplier(1) * (x - A * sin(omega * time)), 2 * multiplier(1) * (y - B * time**2)],
                kind="reaction",
            ),
        ],
    )
    c, s = 0.9 * math.cos(0.5), 0.9 * math.sin(0.5)
    return Example(
        name="particle-on-moving-circle",
        system=circle,
        description="A particle on a circle whose centre is moved: a constraint that depends on time.",
        source=_NOTES + "example 8; with A and B equal to 0 it is example 5.",
        parameters={m: 1.2, g: 9.81, R: 0.9, A: 0.3, B: 0.1, omega: 2.0},
        start={x: c, y: s, x.dot: -1.1 * s + 0.6, y.dot: 1.1 * c},
        h=0.002,
        until=5.0,
    )


def bead_on_rotating_hoop() -> Example:
    """L = m R^2 (phi.dot^2 + omega^2 sin(phi)^2)/2 + m g R cos(phi); the hoop turns about its vertical diameter."""
    phi = coordinates("phi")
    m, R, g = parameters("m R g", positive=True)
    omega = parameters("omega")
    tip = [R * sin(phi) * cos(omega * time), R * sin(phi) * sin(omega * time), -R * cos(phi)]
    bead = System(
        "bead on a hoop that is turned at constant rate",
        [phi],
        kinetic=m * R**2 * (phi.dot**2 + omega**2 * sin(phi) ** 2) / 2,
        potential=-m * g * R * cos(phi),
        scene=[
            scene.Hoop([0, 0, 0], R, turns("zx", omega * time, pi / 2)),
            scene.Rod([0, 0, -1.2 * R], [0, 0, 1.2 * R], width=0.4),
            scene.Point(tip),
            scene.Trail(tip),
        ],
    )
    return Example(
        name="bead-on-rotating-hoop",
        system=bead,
        description="A bead on a hoop that is turned about its vertical diameter; if it turns fast the bottom is unstable.",
        source=_CHAPTER + "problem 7.6.",
        parameters={m: 1.2, R: 0.9, g: 9.81, omega: 3.0},
        start={phi: 0.6, phi.dot: 0.4},
        h=0.005,
        until=20.0,
    )


def turning_hoop_with_bead() -> Example:
    """L = M R^2 psi.dot^2/4 + m R^2 (phi.dot^2 + sin(phi)^2 psi.dot^2)/2 + m g R cos(phi); a torque N acts on psi."""
    phi, psi = coordinates("phi psi")
    M, m, R, g = parameters("M m R g", positive=True)
    N = parameters("N")
    kinetic = M * R**2 * psi.dot**2 / 4 + m * R**2 * (phi.dot**2 + sin(phi) ** 2 * psi.dot**2) / 2
    potential = -m * g * R * cos(phi)
    tip = [R * sin(phi) * cos(psi), R * sin(phi) * sin(psi), -R * cos(phi)]
    hoop = System(
        "hoop turning about its vertical diameter, with a bead",
        [phi, psi],
        kinetic=kinetic,
        potential=potential,
        forces={psi: N},
        scene=[
            scene.Hoop([0, 0, 0], R, turns("zx", psi, pi / 2)),
            scene.Rod([0, 0, -1.2 * R], [0, 0, 1.2 * R], width=0.4),
            scene.Point(tip),
            scene.Trail(tip),
        ],
    )
    return Example(
        name="turning-hoop-with-bead",
        system=hoop,
        description="A bead on a hoop that turns about its vertical diameter under a torque N.",
        source=_CHAPTER + "problem 7.8.",
        parameters={M: 2.0, m: 1.2, R: 0.9, g: 9.81, N: 0.0},
        start={phi: 0.6, psi: 0.0, phi.dot: 0.4, psi.dot: 1.5},
        h=0.005,
        until=10.0,
        invariants={
            "angular momentum less N t": (M * R**2 / 2 + m * R**2 * sin(phi) ** 2) * psi.dot - N * time,
            "energy less the work of the torque": kinetic + potential - N * psi,
        },
    )


def hung_hoop_with_pulled_bead() -> Example:
    """L = M R^2 theta.dot^2 + m R^2 (theta.dot^2 + w^2 + 2 theta.dot w cos(phi))/2 + (M + m) g R cos(theta)
    + m g R cos(theta + phi), w = theta.dot + phi.dot.

    The hoop hangs from a point of its rim; theta is the angle of its centre, phi that of the bead from there on. A cable
    from the bead to that point, of length 2 R cos(phi/2), is pulled with the force A sin(Omega t).
    """
    theta, phi = coordinates("theta phi")
    M, m, R, g, A, Omega = parameters("M m R g A Omega", positive=True)
    w = theta.dot + phi.dot
    tip = hung(R, theta + phi, hung(R, theta))
    hoop = System(
        "hung hoop with a bead pulled by a cable",
        [theta, phi],
        kinetic=M * R**2 * theta.dot**2 + m * R**2 * (theta.dot**2 + w**2 + 2 * theta.dot * w * cos(phi)) / 2,
        potential=-(M + m) * g * R * cos(theta) - m * g * R * cos(theta + phi),
        forces={phi: A * sin(Omega * time) * R * sin(phi / 2)},
        scene=[
            scene.Hoop(hung(R, theta), R),
            scene.Point([0, 0], size=0.6),
            scene.Rope([[0, 0], tip]),
            scene.Point(tip),
            scene.Trail(tip),
        ],
    )
    return Example(
        name="hung-hoop-with-pulled-bead",
        system=hoop,
        description="A hoop hangs from a point of its rim, and a cable through that point pulls at a bead on it.",
        source=_CHAPTER + "problem 7.5.",
        parameters={M: 2.0, m: 1.2, R: 0.9, g: 9.81, A: 2.0, Omega: 4.0},
        start={theta: 0.3, phi: 0.6, theta.dot: 0.2, phi.dot: 0.4},
        h=0.005,
        until=10.0,
    )


def hung_hoop_with_bead_on_spring() -> Example:
    """L = m R^2 (7 theta.dot^2 + psi.dot^2 + 2 theta.dot psi.dot cos(psi - theta))/2
    + m g R (4 cos(theta) + cos(psi) + cos(psi - theta) - 1).

    The hoop has the mass 3 m and hangs from a point of its rim; theta is the angle of its centre, psi that of the bead
    seen from the centre. A spring of stiffness m g/R pulls the bead to the lowest point of the hoop.
    """
    theta, psi = coordinates("theta psi")
    m, R, g = parameters("m R g", positive=True)
    tip = hung(R, psi, hung(R, theta))
    hoop = System(
        "hung hoop with a bead on a spring",
        [theta, psi],
        kinetic=m * R**2 * (7 * theta.dot**2 + psi.dot**2 + 2 * theta.dot * psi.dot * cos(psi - theta)) / 2,
        potential=m * g * R * (1 - 4 * cos(theta) - cos(psi) - cos(psi - theta)),
        scene=[
            scene.Hoop(hung(R, theta), R),
            scene.Point([0, 0], size=0.6),
            scene.Spring(hung(2 * R, theta), tip),
            scene.Point(tip),
            scene.Trail(tip, fraction=0.05),
        ],
    )
    return Example(
        name="hung-hoop-with-bead-on-spring",
        system=hoop,
        description="A hoop hangs from a point of its rim; a spring pulls a bead on it to the opposite point.",
        source=_CHAPTER + "problem 7.21.",
        parameters={m: 1.2, R: 0.9, g: 9.81},
        start={theta: 0.6, psi: -0.3, theta.dot: 0.4, psi.dot: 1.1},
        h=0.01,
        until=50.0,
    )


def hoop_rolling_in_hoop() -> Example:
    """L = m R^2 (2 theta.dot^2 + 4 phi.dot^2/9 - 2 theta.dot phi.dot (1 - cos(theta - phi))/3)
    + 2 m g R cos(theta) + 2 m g R cos(phi)/3.

    The outer hoop hangs from a point of its rim, theta is the angle of its centre. The inner one has the same mass and a
    third of the radius, phi is the angle of the line of centres, and it turns at the rate 3 theta.dot - 2 phi.dot.
    """
    theta, phi = coordinates("theta phi")
    m, R, g = parameters("m R g", positive=True)
    tip = hung(2 * R / 3, phi, hung(R, theta))
    hoops = System(
        "hoop rolling in a hung hoop",
        [theta, phi],
        kinetic=m
        * R**2
        * (
            2 * theta.dot**2
            + Rational(4, 9) * phi.dot**2
            - Rational(2, 3) * theta.dot * phi.dot * (1 - cos(theta - phi))
        ),
        potential=-2 * m * g * R * cos(theta) - Rational(2, 3) * m * g * R * cos(phi),
        scene=[
            scene.Hoop(hung(R, theta), R),
            scene.Point([0, 0], size=0.6),
            scene.Wheel(tip, R / 3, 3 * theta - 2 * phi),
            scene.Trail(tip, fraction=0.05),
        ],
    )
    return Example(
        name="hoop-rolling-in-hoop",
        system=hoops,
        description="A small hoop rolls inside a large one that hangs from a point of its rim.",
        source=_CHAPTER + "problem 7.11.",
        parameters={m: 1.2, R: 0.9, g: 9.81},
        start={theta: 0.6, phi: -0.3, theta.dot: 0.4, phi.dot: 1.1},
        h=0.01,
        until=50.0,
    )


def disc_rolling_in_hung_hoop() -> Example:
    """L = 4 M a^2 theta.dot^2 + m a^2 (3 theta.dot^2 + 3 phi.dot^2/4 + theta.dot phi.dot (2 cos(delta) - 1))
    + 2 (M + m) g a cos(theta) + m g a cos(phi) - 2 k a^2 (1 - cos(delta/2))^2, delta = phi - theta.

    The hoop has the radius 2 a and hangs from a point of its rim, theta is the angle of its centre; the disc has the
    radius a, phi is the angle of the line of centres. A spring of natural length 2 a joins the centre of the disc to the
    end of a rod of length a that points from the point of suspension to the centre of the hoop.
    """
    theta, phi = coordinates("theta phi")
    M, m, a, k, g = parameters("M m a k g", positive=True)
    delta = phi - theta
    tip = hung(a, phi, hung(2 * a, theta))
    hoop = System(
        "disc rolling in a hung hoop, with a spring",
        [theta, phi],
        kinetic=4 * M * a**2 * theta.dot**2
        + m * a**2 * (3 * theta.dot**2 + Rational(3, 4) * phi.dot**2 + theta.dot * phi.dot * (2 * cos(delta) - 1)),
        potential=-2 * (M + m) * g * a * cos(theta) - m * g * a * cos(phi) + 2 * k * a**2 * (1 - cos(delta / 2)) ** 2,
        scene=[
            scene.Hoop(hung(2 * a, theta), 2 * a),
            scene.Point([0, 0], size=0.6),
            scene.Disc(tip, a, 2 * theta - phi),
            scene.Rod([0, 0], hung(a, theta), width=0.6),
            scene.Spring(hung(a, theta), tip),
        ],
    )
    return Example(
        name="disc-rolling-in-hung-hoop",
        system=hoop,
        description="A disc rolls inside a hoop that hangs from a point of its rim, and a spring holds its centre.",
        source=_CHAPTER + "problem 7.22.",
        parameters={M: 2.0, m: 1.2, a: 0.5, k: 30.0, g: 9.81},
        start={theta: 0.6, phi: -0.3, theta.dot: 0.4, phi.dot: 1.1},
        h=0.005,
        until=10.0,
    )


def semi_hoop_on_line_with_bead() -> Example:
    """L = (M + m) x.dot^2/2 + (M/2 + m sin(phi)^2) R^2 theta.dot^2/2 + m R^2 phi.dot^2/2 - m R x.dot phi.dot sin(phi)
    + g R cos(theta) (2 M/pi + m sin(phi)).

    The diameter of the semi-hoop slides along a horizontal line by x and turns about it by theta, from the vertical; phi
    is the angle of the bead from the line.
    """
    x, theta, phi = coordinates("x theta phi")
    M, m, R, g = parameters("M m R g", positive=True)
    tip = [x + R * cos(phi), R * sin(phi) * sin(theta), -R * sin(phi) * cos(theta)]
    hoop = System(
        "semi-hoop sliding and turning on a line, with a bead",
        [x, theta, phi],
        kinetic=(M + m) * x.dot**2 / 2
        + (M / 2 + m * sin(phi) ** 2) * R**2 * theta.dot**2 / 2
        + m * R**2 * phi.dot**2 / 2
        - m * R * x.dot * phi.dot * sin(phi),
        potential=-g * R * cos(theta) * (2 * M / pi + m * sin(phi)),
        scene=[
            scene.Rod([-4 * R, 0, 0], [4 * R, 0, 0], width=0.3),
            scene.Hoop([x, 0, 0], R, turns("xx", pi / 2, theta), pi, 2 * pi),
            scene.Rod([x - R, 0, 0], [x + R, 0, 0]),
            scene.Point(tip),
            scene.Trail(tip),
        ],
    )
    return Example(
        name="semi-hoop-on-line-with-bead",
        system=hoop,
        description="A semi-hoop slides along a horizontal line and turns about it, with a bead on it.",
        source=_CHAPTER + "problem 7.18.",
        parameters={M: 2.0, m: 1.2, R: 0.9, g: 9.81},
        start={x: 0.0, theta: 0.3, phi: 0.6, x.dot: 0.2, theta.dot: 0.4, phi.dot: 0.5},
        h=0.002,
        until=5.0,
        invariants={"momentum along the line": (M + m) * x.dot - m * R * phi.dot * sin(phi)},
    )
