"""Disks and blades that cannot slip sideways: the classical nonholonomic systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import cos, pi, sin, sqrt

from ..model import scene
from ..model.bodies import turns
from ..model.coordinates import coordinates, parameters
from ..model.system import System
from .example import Example
from .vehicles import ELEMENTS, displaced

_TEXTBOOKS = (
    "Ju. I. Neimark, N. A. Fufaev, Dynamics of Nonholonomic Systems, AMS, 1972; "
    "A. M. Bloch, Nonholonomic Mechanics and Control, Springer, 2003."
)

ROLLED = parameters("g_theta")


def rolling_disk() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 + I theta.dot^2/2 + J phi.dot^2/2.

    It does not slip: x.dot = R cos(phi) theta.dot, y.dot = R sin(phi) theta.dot.
    (x, y) is the point of contact, theta the angle of rolling, phi the heading.
    """
    x, y, theta, phi = coordinates("x y theta phi")
    m, I, J, R = parameters("m I J R", positive=True)
    disk = System(
        "vertical rolling disk",
        [x, y, theta, phi],
        kinetic=m * (x.dot**2 + y.dot**2) / 2 + I * theta.dot**2 / 2 + J * phi.dot**2 / 2,
        constraints=[x.dot - R * cos(phi) * theta.dot, y.dot - R * sin(phi) * theta.dot],
        scene=[
            scene.Ground([0, 0, 0], [0, 0, 1]),
            scene.Disc([x, y, R], R, turns("zxz", phi, pi / 2, -theta)),
            scene.Trail([x, y, 0], fraction=0.15),
        ],
    )
    return Example(
        name="rolling-disk",
        system=disk,
        description="A disk that stays upright and rolls on a plane without slipping: its trace is a circle, "
        "or a line if it does not turn.",
        source="M. J. Bonich, Sistemas termomecanicos lagrangianos continuos y discretos, "
        "Universidad Nacional del Comahue, example 2.28; "
        "C. I. Tori, Reduccion lagrangiana de sistemas mecanicos discretos con vinculos no holonomos, "
        "Universidad Nacional de La Plata, 2010, section 7.1.4.",
        parameters={m: 2.0, I: 0.25, J: 0.125, R: 0.5},
        start={x: 0.0, y: 0.0, theta: 0.0, phi: 0.0, x.dot: 1.0, y.dot: 0.0, theta.dot: 2.0, phi.dot: 0.5},
        h=0.05,
        until=130.0,
        invariants={
            "heading momentum": J * phi.dot,
            "rolling momentum": m * R * (cos(phi) * x.dot + sin(phi) * y.dot) + I * theta.dot,
            "centre of the circle times phi.dot, x": x * phi.dot - R * theta.dot * sin(phi),
            "centre of the circle times phi.dot, y": y * phi.dot + R * theta.dot * cos(phi),
        },
        exact=_circle,
        action={**displaced(x, y, phi), theta: theta + ROLLED},
        elements=(*ELEMENTS, ROLLED),
    )


def knife_edge() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 + J phi.dot^2/2 + m g sin(alpha) x; sin(phi) x.dot = cos(phi) y.dot.

    x points down the slope of inclination alpha, y across it; phi is the heading of the blade, from x.
    """
    x, y, phi = coordinates("x y phi")
    m, J, g = parameters("m J g", positive=True)
    alpha = parameters("alpha")
    tip = [x * cos(alpha), y, -x * sin(alpha)]
    blade = System(
        "knife edge on an incline",
        [x, y, phi],
        kinetic=m * (x.dot**2 + y.dot**2) / 2 + J * phi.dot**2 / 2,
        potential=-m * g * sin(alpha) * x,
        constraints=[sin(phi) * x.dot - cos(phi) * y.dot],
        scene=[
            scene.Ground([0, 0, 0], [sin(alpha), 0, cos(alpha)]),
            scene.Blade(tip, [cos(phi) * cos(alpha), sin(phi), -cos(phi) * sin(alpha)], 0.6),
            scene.Trail(tip, fraction=0.5),
        ],
    )
    speed = cos(phi) * x.dot + sin(phi) * y.dot
    return Example(
        name="knife-edge",
        system=blade,
        description="A blade, balanced on its middle, on a slope. While it turns it does not slide down: "
        "it drifts across the slope along a curve like a cycloid.",
        source=_TEXTBOOKS,
        parameters={m: 0.5, J: 0.1, g: 9.81, alpha: 0.2},
        start={x: 0.0, y: 0.0, phi: 0.0, x.dot: 0.5, y.dot: 0.0, phi.dot: 1.5},
        h=0.02,
        until=60.0,
        invariants={
            "heading momentum": J * phi.dot,
            "blade speed times phi.dot, less g sin(alpha) sin(phi)": speed * phi.dot - g * sin(alpha) * sin(phi),
        },
        exact=_cycloid,
    )


def chaplygin_sleigh() -> Example:
    """L = m ((x.dot - a phi.dot sin(phi))^2 + (y.dot + a phi.dot cos(phi))^2)/2 + J phi.dot^2/2.

    The blade does not slip: sin(phi) x.dot = cos(phi) y.dot. (x, y) is its point of contact, phi its heading;
    the mass centre lies ahead of it by a, and J is the moment of inertia about the mass centre.

    With v the speed of the blade and b^2 = a^2 + J/m: v.dot = a phi.dot^2 and b^2 phi.ddot = -a v phi.dot, so
    v = U tanh(s), phi.dot = (U/b) sech(s) with s = a U (t - t0)/b^2. The vector (v, b phi.dot) turns by the
    angle -a phi/b: turned back, its components are two integrals, and m/2 times its square is the energy.
    """
    x, y, phi = coordinates("x y phi")
    m, J = parameters("m J", positive=True)
    a = parameters("a")
    sleigh = System(
        "Chaplygin sleigh",
        [x, y, phi],
        kinetic=m * ((x.dot - a * phi.dot * sin(phi)) ** 2 + (y.dot + a * phi.dot * cos(phi)) ** 2) / 2
        + J * phi.dot**2 / 2,
        constraints=[sin(phi) * x.dot - cos(phi) * y.dot],
        scene=[
            scene.Polygon(
                [
                    [x + p * cos(phi) - q * sin(phi), y + p * sin(phi) + q * cos(phi)]
                    for p, q in ((-0.25, 0), (0.15, 0.4), (0.95, 0.4), (0.95, -0.4), (0.15, -0.4))
                ]
            ),
            scene.Blade([x, y], [cos(phi), sin(phi)], 0.35),
            scene.Point([x + a * cos(phi), y + a * sin(phi)], size=0.8, colour="#1c2229"),
            scene.Trail([x, y], fraction=0.6),
        ],
    )
    b = sqrt(a**2 + J / m)
    speed, swing = cos(phi) * x.dot + sin(phi) * y.dot, b * phi.dot
    return Example(
        name="chaplygin-sleigh",
        system=sleigh,
        description="A body on a plane that rests on a blade behind its mass centre. Pushed backwards, "
        "it turns round and ends up running straight ahead, although its energy is conserved.",
        source=_TEXTBOOKS,
        parameters={m: 2.0, J: 1.0, a: 0.4},
        start={x: 0.0, y: 0.0, phi: 0.0, x.dot: -1.0, y.dot: 0.0, phi.dot: 0.1},
        h=0.01,
        until=20.0,
        invariants={
            "speed and swing turned by the heading, first": speed * cos(a * phi / b) - swing * sin(a * phi / b),
            "speed and swing turned by the heading, second": speed * sin(a * phi / b) + swing * cos(a * phi / b),
        },
        action=displaced(x, y, phi),
        elements=ELEMENTS,
    )


def _directions(times: Any, start: Mapping[str, float]) -> tuple[Any, Any]:
    """The integrals over time of cos(phi) and sin(phi) for a heading that turns uniformly, or not at all."""
    import numpy as np

    half = start["phi.dot"] * times / 2
    chord = times * np.sinc(half / np.pi)
    return chord * np.cos(start["phi"] + half), chord * np.sin(start["phi"] + half)


def _circle(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    import numpy as np

    t = np.asarray(times, dtype=float)
    along, across = _directions(t, start)
    speed = parameters["R"] * start["theta.dot"]
    return {
        "x": start["x"] + speed * along,
        "y": start["y"] + speed * across,
        "theta": start["theta"] + start["theta.dot"] * t,
        "phi": start["phi"] + start["phi.dot"] * t,
    }


def _cycloid(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """The speed is u0 + G C with G = g sin(alpha), C and S the integrals of cos(phi) and sin(phi).

    So x = x0 + u0 C + G C^2/2, and y has the integral of C dS: the triangle C S/2 and the sector beside it.
    """
    import numpy as np

    t = np.asarray(times, dtype=float)
    down, across = _directions(t, start)
    gravity = parameters["g"] * np.sin(parameters["alpha"])
    speed = np.cos(start["phi"]) * start["x.dot"] + np.sin(start["phi"]) * start["y.dot"]
    turn = start["phi.dot"] * t
    return {
        "x": start["x"] + speed * down + gravity * down**2 / 2,
        "y": start["y"] + speed * across + gravity * (down * across + t**2 * _segment(turn)) / 2,
        "phi": start["phi"] + turn,
    }


def _segment(angle: Any) -> Any:
    """(angle - sin(angle))/angle^2, by its series where the difference cancels."""
    import numpy as np

    small = np.abs(angle) < 0.1
    near, far = np.where(small, angle, 0.0), np.where(small, 1.0, angle)
    series = near / 6 * (1 - near**2 / 20 * (1 - near**2 / 42 * (1 - near**2 / 72)))
    return np.where(small, series, (far - np.sin(far)) / far**2)
