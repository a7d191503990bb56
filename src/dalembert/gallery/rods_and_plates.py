"""Rods with knife edges, ladders, rods on axes, and half-discs: planar rigid bodies and what guides them.

Angles of plates are measured from the downward vertical; y points up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sympy import Expr, Rational, cos, pi, sin, tan

from ..model import scene
from ..model.coordinates import coordinates, parameters, time
from ..model.system import System
from .example import Example, arc

_CHAPTER = "Dinamica analitica, chapter 7 of a textbook of mechanics in Spanish, "


def rod_with_knife_edge() -> Example:
    """L = m (x.dot^2 + y.dot^2) + m l^2 theta.dot^2/4; -x.dot sin(theta) + y.dot cos(theta) = l theta.dot/2.

    Two masses m at the ends of a massless rod, (x, y) its middle. A blade under one end keeps that end from moving
    across the rod; the multiplier is the force across the rod. With u the speed along the rod,

        u.dot = l theta.dot^2/2,   theta.ddot = -u theta.dot/l,   lambda = m u theta.dot.
    """
    return _on_a_blade(
        "rod-with-knife-edge",
        mass=2,
        inertia=Rational(1, 2),
        description="Two masses on a rod with a blade under one end, on a smooth plane.",
        source=_CHAPTER + "examples 7.3 and 7.13.",
    )


def bar_with_knife_edge() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 + m l^2 theta.dot^2/24; -x.dot sin(theta) + y.dot cos(theta) = l theta.dot/2.

    A uniform bar, (x, y) its middle; a blade under one end keeps that end from moving across the bar.
    """
    return _on_a_blade(
        "bar-with-knife-edge",
        mass=1,
        inertia=Rational(1, 12),
        description="A uniform bar with a blade under one end, on a smooth plane: a Chaplygin sleigh.",
        source=_CHAPTER + "problem 7.17.",
    )


def _on_a_blade(name: str, *, mass: int, inertia: Rational, description: str, source: str) -> Example:
    """A straight body of length l, mass `mass` m and moment of inertia `inertia` m l^2, with a blade at one end.

    With c = 4 inertia/mass + 1 the numbers u + i sqrt(c) l theta.dot/2 turn by -theta/sqrt(c).
    """
    x, y, theta = coordinates("x y theta")
    m, l = parameters("m l", positive=True)
    end = [x + l * cos(theta) / 2, y + l * sin(theta) / 2]
    tip = [x - l * cos(theta) / 2, y - l * sin(theta) / 2]
    body = System(
        name.replace("-", " "),
        [x, y, theta],
        kinetic=mass * m * (x.dot**2 + y.dot**2) / 2 + inertia * m * l**2 * theta.dot**2 / 2,
        constraints=[-x.dot * sin(theta) + y.dot * cos(theta) - l * theta.dot / 2],
        scene=[
            scene.Rod(tip, end),
            scene.Blade(tip, [cos(theta), sin(theta)], l / 5),
            scene.Point([x, y], size=0.6),
            scene.Trail(tip, fraction=0.7),
            scene.Trail(end, fraction=0.4),
        ],
    )
    speed, root = x.dot * cos(theta) + y.dot * sin(theta), (4 * inertia / mass + 1) ** Rational(1, 2)
    swing = root * l * theta.dot / 2
    u, w, angle, half = 0.9, 1.3, 0.4, 0.4
    return Example(
        name=name,
        system=body,
        description=description,
        source=source,
        parameters={m: 1.2, l: 0.8},
        start={
            x: 0.0,
            y: 0.0,
            theta: angle,
            x.dot: u * math.cos(angle) - half * w * math.sin(angle),
            y.dot: u * math.sin(angle) + half * w * math.cos(angle),
            theta.dot: w,
        },
        h=0.002,
        until=5.0,
        invariants=_turned(speed, swing, theta / root),
    )


def _turned(first: Expr, second: Expr, angle: Expr) -> dict[str, Expr]:
    """The components of a vector turned back: constant if the vector turns by -angle."""
    return {
        "speed and swing turned by the angle, first": first * cos(angle) - second * sin(angle),
        "speed and swing turned by the angle, second": first * sin(angle) + second * cos(angle),
    }


def rod_on_driven_knives() -> Example:
    """L = m (x.dot^2 + y.dot^2) + m l^2 omega^2/4; x.dot cos(omega t) + y.dot sin(omega t) = 0.

    Two masses m on a rod that is turned at the rate omega, each on a blade across the rod: neither moves along it. The two
    constraints are the same, so one of them is enough. The middle (x, y) goes round a circle.
    """
    x, y = coordinates("x y")
    m, l = parameters("m l", positive=True)
    omega = parameters("omega", nonzero=True)
    joint = [-sin(omega * time), cos(omega * time)]
    end = [x + l * cos(omega * time) / 2, y + l * sin(omega * time) / 2]
    tip = [x - l * cos(omega * time) / 2, y - l * sin(omega * time) / 2]
    rod = System(
        "rod on two blades, turned at constant rate",
        [x, y],
        kinetic=m * (x.dot**2 + y.dot**2) + m * l**2 * omega**2 / 4,
        constraints=[x.dot * cos(omega * time) + y.dot * sin(omega * time)],
        scene=[
            scene.Rod(tip, end),
            scene.Blade(tip, joint, l / 5),
            scene.Blade(end, joint, l / 5),
            scene.Point(tip),
            scene.Point(end),
            scene.Trail([x, y], fraction=0.5),
        ],
    )
    return Example(
        name="rod-on-driven-knives",
        system=rod,
        description="A rod on two blades across it is turned at constant rate: its middle goes round a circle.",
        source=_CHAPTER + "problem 7.2.",
        parameters={m: 1.2, l: 0.8, omega: 3.0},
        start={x: 0.0, y: 0.0, x.dot: 0.0, y.dot: 0.7},
        h=0.005,
        until=5.0,
        invariants={
            "centre of the circle, x": x - y.dot / omega,
            "centre of the circle, y": y + x.dot / omega,
        },
        exact=_around,
    )


def sliding_ladder_with_bead() -> Example:
    """L = m (7 l^2 + 12 s^2 + 12 l s cos(2 theta)) theta.dot^2/24 + m s.dot^2/2 + m l sin(2 theta) s.dot theta.dot/2
    - m g (l - s) cos(theta).

    A rod of mass m slides with its ends on the vertical and the horizontal axis; theta is its angle from the vertical. A
    bead of mass m slides on it and has the distance s from the middle, down the rod.
    """
    s, theta = coordinates("s theta")
    m, l, g = parameters("m l g", positive=True)
    tip = [(l / 2 + s) * sin(theta), (l / 2 - s) * cos(theta)]
    ladder = System(
        "sliding ladder with a bead",
        [s, theta],
        kinetic=m * (7 * l**2 + 12 * s**2 + 12 * l * s * cos(2 * theta)) * theta.dot**2 / 24
        + m * s.dot**2 / 2
        + m * l * sin(2 * theta) * s.dot * theta.dot / 2,
        potential=m * g * (l - s) * cos(theta),
        scene=[
            scene.Ground([0, 0], [0, 1]),
            scene.Ground([0, 0], [1, 0]),
            scene.Rod([0, l * cos(theta)], [l * sin(theta), 0]),
            scene.Point(tip),
            scene.Trail(tip, fraction=1.0),
        ],
    )
    return Example(
        name="sliding-ladder-with-bead",
        system=ladder,
        description="A ladder slides down a wall while a bead slides down the ladder.",
        source=_CHAPTER + "problem 7.7.",
        parameters={m: 1.2, l: 0.8, g: 9.81},
        start={s: 0.0, theta: math.pi / 6, s.dot: 0.0, theta.dot: 0.0},
        h=6e-5,
        until=0.3,
    )


def rod_on_two_axes() -> Example:
    """L = 2 m a^2 (theta.dot^2 + sin(theta)^2 phi.dot^2) - 2 m g a cos(theta).

    Two masses m on a rod of length 2 a: one on the vertical axis, above, one on a horizontal axis that turns about the
    vertical by phi. theta is the angle of the rod from the vertical axis.
    """
    theta, phi = coordinates("theta phi")
    m, a, g = parameters("m a g", positive=True)
    end = [0, 0, 2 * a * cos(theta)]
    tip = [2 * a * sin(theta) * cos(phi), 2 * a * sin(theta) * sin(phi), 0]
    rod = System(
        "rod with its ends on a vertical and a turning horizontal axis",
        [theta, phi],
        kinetic=2 * m * a**2 * (theta.dot**2 + sin(theta) ** 2 * phi.dot**2),
        potential=2 * m * g * a * cos(theta),
        scene=[
            scene.Rod([0, 0, -2 * a], [0, 0, 2.4 * a], width=0.3),
            scene.Rod(
                [-2.2 * a * cos(phi), -2.2 * a * sin(phi), 0], [2.2 * a * cos(phi), 2.2 * a * sin(phi), 0], width=0.3
            ),
            scene.Rod(end, tip),
            scene.Point(end),
            scene.Point(tip),
            scene.Trail(tip),
        ],
    )
    return Example(
        name="rod-on-two-axes",
        system=rod,
        description="Two masses on a rod, one on a vertical axis and one on a horizontal axis that turns about it.",
        source=_CHAPTER + "problem 7.12.",
        parameters={m: 1.2, a: 0.5, g: 9.81},
        start={theta: 0.6, phi: 0.0, theta.dot: 0.4, phi.dot: 1.5},
        h=0.004,
        until=20.0,
        invariants={"angular momentum about the vertical": 4 * m * a**2 * sin(theta) ** 2 * phi.dot},
    )


def disc_under_leaning_rod() -> Example:
    """L = 3 M R^2 alpha.dot^2/(16 sin(alpha/2)^4) + 8 M R^2 alpha.dot^2/3 - 2 M g R sin(alpha).

    A rod of length 4 R, hinged on a horizontal line, leans on a disc that rolls on the line; alpha is its angle from the
    line. Both have the mass M. The point of contact has the distance R cot(alpha/2) from the hinge.
    """
    alpha = coordinates("alpha")
    M, R, g = parameters("M R g", positive=True)
    rod = System(
        "rod leaning on a rolling disc",
        [alpha],
        kinetic=Rational(3, 4) * M * (R * alpha.dot / (2 * sin(alpha / 2) ** 2)) ** 2
        + Rational(8, 3) * M * R**2 * alpha.dot**2,
        potential=2 * M * g * R * sin(alpha),
        scene=[
            scene.Ground([0, 0], [0, 1]),
            scene.Disc([R / tan(alpha / 2), R], R, -1 / tan(alpha / 2)),
            scene.Rod([0, 0], [4 * R * cos(alpha), 4 * R * sin(alpha)]),
            scene.Point([0, 0], size=0.6),
        ],
    )
    return Example(
        name="disc-under-leaning-rod",
        system=rod,
        description="A hinged rod leans on a disc and drives it away as it sinks.",
        source=_CHAPTER + "problem 7.16.",
        parameters={M: 2.0, R: 0.9, g: 9.81},
        start={alpha: 0.9, alpha.dot: -0.3},
        h=4e-5,
        until=0.2,
    )


def half_disc_rolling() -> Example:
    """L = (3/2 - 8 cos(theta)/(3 pi)) M R^2 theta.dot^2/2 - M g R (1 - 4 cos(theta)/(3 pi)).

    A half-disc rolls on its round side; theta is its angle of rolling from rest.
    """
    theta = coordinates("theta")
    M, R, g = parameters("M R g", positive=True)
    rocker = System(
        "half-disc rolling on a line",
        [theta],
        kinetic=(Rational(3, 2) - 8 * cos(theta) / (3 * pi)) * M * R**2 * theta.dot**2 / 2,
        potential=M * g * R * (1 - 4 * cos(theta) / (3 * pi)),
        scene=[
            scene.Ground([0, 0], [0, 1]),
            scene.Polygon([[R * theta + R * sin(a + -theta), R - R * cos(a + -theta)] for a in arc()]),
        ],
    )
    return Example(
        name="half-disc-rolling",
        system=rocker,
        description="A half-disc rocks on its round side without slipping.",
        source=_CHAPTER + "example 7.5.",
        parameters={M: 2.0, R: 0.9, g: 9.81},
        start={theta: 0.6, theta.dot: 0.4},
        h=0.01,
        until=20.0,
    )


def rolling_semicircle_with_particle() -> Example:
    """L = (I + M R^2 - 2 M R d cos(theta)) theta.dot^2/2 + m R^2 (theta.dot^2 + phi.dot^2
    + 2 theta.dot phi.dot cos(phi))/2 + M g d cos(theta) + m g R cos(phi).

    A semicircular body rolls by theta on its round side; d is the distance of its mass centre from the centre of the
    circle and I its inertia about the centre: 2 R/pi and M R^2 for a semi-hoop (the default), 4 R/(3 pi) and M R^2/2 for
    a half-disc. A particle slides on the arc, phi is its angle seen from the centre.
    """
    theta, phi = coordinates("theta phi")
    M, m, R, d, I, g = parameters("M m R d I g", positive=True)
    tip = [R * theta + R * sin(phi), R - R * cos(phi)]
    rocker = System(
        "rolling semicircle with a sliding particle",
        [theta, phi],
        kinetic=(I + M * R**2 - 2 * M * R * d * cos(theta)) * theta.dot**2 / 2
        + m * R**2 * (theta.dot**2 + phi.dot**2 + 2 * theta.dot * phi.dot * cos(phi)) / 2,
        potential=-M * g * d * cos(theta) - m * g * R * cos(phi),
        scene=[
            scene.Ground([0, 0], [0, 1]),
            scene.Hoop([R * theta, R], R, -theta, pi, 2 * pi),
            scene.Point(tip),
            scene.Trail(tip, fraction=0.1),
        ],
    )
    return Example(
        name="rolling-semicircle-with-particle",
        system=rocker,
        description="A semi-hoop rocks on a line while a particle slides in it.",
        source=_CHAPTER + "problem 7.25.",
        parameters={M: 2.0, m: 1.2, R: 0.9, d: 2 * 0.9 / math.pi, I: 2.0 * 0.9**2, g: 9.81},
        start={theta: 0.6, phi: -0.3, theta.dot: 0.4, phi.dot: 1.1},
        h=0.005,
        until=10.0,
    )


def half_disc_in_turning_plane() -> Example:
    """L = m r^2 psi.dot^2/8 + m r^2 theta.dot^2/4 + 4 m g r cos(theta)/(3 pi).

    A half-disc swings by theta about the middle of its diameter, in a vertical plane that is free to turn by psi about the
    vertical. Its inertia about every axis in the plane is the same, so the plane turns uniformly.
    """
    theta, psi = coordinates("theta psi")
    m, r, g = parameters("m r g", positive=True)
    plate = System(
        "half-disc in a plane that is free to turn",
        [theta, psi],
        kinetic=m * r**2 * psi.dot**2 / 8 + m * r**2 * theta.dot**2 / 4,
        potential=-4 * m * g * r * cos(theta) / (3 * pi),
        scene=[
            scene.Polygon(
                [[r * sin(a + theta) * cos(psi), r * sin(a + theta) * sin(psi), -r * cos(a + theta)] for a in arc()]
            ),
            scene.Rod([0, 0, -1.2 * r], [0, 0, 1.2 * r], width=0.3),
            scene.Trail([r * sin(theta) * cos(psi), r * sin(theta) * sin(psi), -r * cos(theta)], fraction=0.1),
        ],
    )
    return Example(
        name="half-disc-in-turning-plane",
        system=plate,
        description="A half-disc swings in a vertical plane that turns freely; the plane keeps its rate.",
        source=_CHAPTER + "problem 7.14.",
        parameters={m: 1.2, r: 0.35, g: 9.81},
        start={theta: 0.6, psi: 0.0, theta.dot: 0.0, psi.dot: 3.0},
        h=0.005,
        until=10.0,
        invariants={"angular momentum about the vertical": m * r**2 * psi.dot / 4},
    )


def _around(times: Any, p: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """From time 0 on, when the rod lies along x and the velocity v is along y: a circle of radius v/omega."""
    import numpy as np

    angle = p["omega"] * np.asarray(times, dtype=float)
    radius = start["y.dot"] / p["omega"]
    return {"x": start["x"] + radius * (np.cos(angle) - 1), "y": start["y"] + radius * np.sin(angle)}
