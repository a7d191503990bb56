"""Particles held by springs and strings, on moving bases, rotating discs and cones; and a car, held by its wheels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import cos, sin

from ..model import scene
from ..model.coordinates import coordinates, parameters, time
from ..model.system import System
from .example import Example

_NOTES = "Leyes de Newton y principio de d'Alembert, lecture notes in Spanish, "
_CHAPTER = "Dinamica analitica, chapter 7 of a textbook of mechanics in Spanish, "


def oscillator_on_moving_base() -> Example:
    """L = m (v + x.dot)^2/2 - k x^2/2; the base moves with the constant velocity v, x is the elongation of the spring."""
    x = coordinates("x")
    m, k = parameters("m k", positive=True)
    v = parameters("v")
    tip = [v * time - 0.6, -0.08]
    spring = System(
        "mass on a spring on a moving base",
        [x],
        kinetic=m * (v + x.dot) ** 2 / 2,
        potential=k * x**2 / 2,
        scene=[
            scene.Ground([0, -0.1], [0, 1]),
            scene.Rod(tip, [v * time - 0.6, 0.15], width=1.6),
            scene.Rod(tip, [v * time + 0.6, -0.08], width=1.6),
            scene.Spring([v * time - 0.6, 0], [v * time + x, 0]),
            scene.Box([v * time + x, 0], [0.15, 0.15]),
        ],
    )
    return Example(
        name="oscillator-on-moving-base",
        system=spring,
        description="A mass on a spring whose base moves at constant velocity: what is conserved is not the energy.",
        source=_CHAPTER + "example 7.10.",
        parameters={m: 1.2, k: 30.0, v: 0.7},
        start={x: 0.2, x.dot: 0.5},
        h=0.01,
        until=10.0,
        exact=_oscillating,
    )


def spring_on_rotating_disc() -> Example:
    """L = m (a^2 omega^2 + r^2 w^2 + r.dot^2 + 2 a r omega w cos(phi) + 2 a omega r.dot sin(phi))/2 - k (r - r0)^2/2.

    w = omega + phi.dot. The disc has the radius a and is turned at the rate omega; a spring of natural length r0 joins a
    point of its rim to a mass at the distance r, phi is the angle of the spring from the radius through that point.
    """
    r, phi = coordinates("r phi")
    m, k, a, r0 = parameters("m k a r0", positive=True)
    omega = parameters("omega")
    w = omega + phi.dot
    tip = [a * cos(omega * time) + r * cos(omega * time + phi), a * sin(omega * time) + r * sin(omega * time + phi)]
    disc = System(
        "mass on a spring on a rotating disc",
        [r, phi],
        kinetic=m
        * (
            a**2 * omega**2
            + r**2 * w**2
            + r.dot**2
            + 2 * a * r * omega * w * cos(phi)
            + 2 * a * omega * r.dot * sin(phi)
        )
        / 2,
        potential=k * (r - r0) ** 2 / 2,
        scene=[
            scene.Disc([0, 0], a, omega * time, colour="#56b4e9"),
            scene.Spring([a * cos(omega * time), a * sin(omega * time)], tip),
            scene.Point(tip),
            scene.Trail(tip, fraction=0.05),
        ],
    )
    return Example(
        name="spring-on-rotating-disc",
        system=disc,
        description="A mass on a spring from the rim of a disc that is turned at constant rate: gyroscopic forces.",
        source=_CHAPTER + "example 7.11.",
        parameters={m: 1.2, k: 30.0, a: 0.5, r0: 0.4, omega: 3.0},
        start={r: 0.5, phi: 0.3, r.dot: 0.2, phi.dot: -0.4},
        h=0.01,
        until=50.0,
    )


def spring_pendulum_on_slider() -> Example:
    """L = m x.dot^2 + m (s.dot^2 + s^2 theta.dot^2)/2 + m x.dot (s.dot cos(theta) - s theta.dot sin(theta))
    - k (s - b)^2/2 + m g s sin(theta).

    Two equal masses joined by a spring of natural length b: one at x on a horizontal line, the other at the distance s
    from it and at the angle theta below the horizontal.
    """
    x, s, theta = coordinates("x s theta")
    m, k, b, g = parameters("m k b g", positive=True)
    along = s.dot * cos(theta) - s * theta.dot * sin(theta)
    tip = [x + s * cos(theta), -s * sin(theta)]
    slider = System(
        "two masses joined by a spring, one on a line",
        [x, s, theta],
        kinetic=m * x.dot**2 + m * (s.dot**2 + s**2 * theta.dot**2) / 2 + m * x.dot * along,
        potential=k * (s - b) ** 2 / 2 - m * g * s * sin(theta),
        scene=[
            scene.Rope([[x - 3 * b, 0], [x + 3 * b, 0]]),
            scene.Spring([x, 0], tip),
            scene.Point([x, 0]),
            scene.Point(tip),
            scene.Trail(tip, fraction=0.1),
        ],
    )
    return Example(
        name="spring-pendulum-on-slider",
        system=slider,
        description="Two masses joined by a spring, one of them on a horizontal line; let go at the same height.",
        source=_CHAPTER + "problem 7.10.",
        parameters={m: 1.2, k: 30.0, b: 0.6, g: 9.81},
        start={x: 0.0, s: 0.7, theta: 0.3, x.dot: 0.1, s.dot: 0.2, theta.dot: 0.4},
        h=0.01,
        until=40.0,
        invariants={"momentum along the line": 2 * m * x.dot + m * along},
    )


def binary_with_linear_attraction() -> Example:
    """L = M (x_G.dot^2 + y_G.dot^2)/2 + mu (s.dot^2 + s^2 theta.dot^2)/2 - M g y_G - k s^2/2.

    M = m_A + m_B, mu = m_A m_B/M. Two masses in a vertical plane attract each other with k times their distance s; theta
    is the direction from one to the other, (x_G, y_G) their mass centre.
    """
    x_G, y_G, s, theta = coordinates("x_G y_G s theta")
    m_A, m_B, k, g = parameters("m_A m_B k g", positive=True)
    M, mu = m_A + m_B, m_A * m_B / (m_A + m_B)
    end = [x_G + m_A * s * cos(theta) / M, y_G + m_A * s * sin(theta) / M]
    tip = [x_G - m_B * s * cos(theta) / M, y_G - m_B * s * sin(theta) / M]
    binary = System(
        "two masses with linear attraction, falling",
        [x_G, y_G, s, theta],
        kinetic=M * (x_G.dot**2 + y_G.dot**2) / 2 + mu * (s.dot**2 + s**2 * theta.dot**2) / 2,
        potential=M * g * y_G + k * s**2 / 2,
        scene=[scene.Spring(tip, end), scene.Point(tip), scene.Point(end), scene.Trail(tip), scene.Trail(end)],
    )
    return Example(
        name="binary-with-linear-attraction",
        system=binary,
        description="Two masses attract each other in proportion to their distance while they fall: "
        "the orbit of one about the other is an ellipse about its middle.",
        source=_CHAPTER + "problem 7.23.",
        parameters={m_A: 1.5, m_B: 0.9, k: 30.0, g: 9.81},
        start={
            x_G: 0.0,
            y_G: 0.0,
            s: 0.5,
            theta: 0.3,
            x_G.dot: 0.2,
            y_G.dot: 0.4,
            s.dot: 0.6,
            theta.dot: 5.0,
        },
        h=0.002,
        until=5.0,
        invariants={
            "angular momentum of the pair": mu * s**2 * theta.dot,
            "energy of the mass centre": M * (x_G.dot**2 + y_G.dot**2) / 2 + M * g * y_G,
            "energy of the pair": mu * (s.dot**2 + s**2 * theta.dot**2) / 2 + k * s**2 / 2,
        },
        exact=_ellipse,
    )


def particles_through_cone() -> Example:
    """L = m (rho.dot^2 + rho^2 sin(alpha)^2 phi.dot^2)/2 + lam m (rho.dot^2 + l^2 (theta.dot^2
    + sin(theta)^2 psi.dot^2))/2 + m g rho cos(alpha) + lam m g l cos(theta), l = 2 b - rho.

    A string of length 2 b goes through the apex of a cone of half-angle alpha: at one end m on the cone, rho away from the
    apex at the azimuth phi, at the other a spherical pendulum of mass lam m, with the angles theta and psi.
    """
    rho, phi, theta, psi = coordinates("rho phi theta psi")
    m, b, g, lam = parameters("m b g lam", positive=True)
    alpha = parameters("alpha")
    l = 2 * b - rho
    end = [l * sin(theta) * cos(psi), l * sin(theta) * sin(psi), -l * cos(theta)]
    tip = [rho * sin(alpha) * cos(phi), rho * sin(alpha) * sin(phi), -rho * cos(alpha)]
    cone = System(
        "two particles on a string through the apex of a cone",
        [rho, phi, theta, psi],
        kinetic=m * (rho.dot**2 + rho**2 * sin(alpha) ** 2 * phi.dot**2) / 2
        + lam * m * (rho.dot**2 + l**2 * (theta.dot**2 + sin(theta) ** 2 * psi.dot**2)) / 2,
        potential=-m * g * rho * cos(alpha) - lam * m * g * l * cos(theta),
        scene=[
            scene.Hoop([0, 0, -1.6 * b * cos(alpha)], 1.6 * b * sin(alpha)),
            *[
                scene.Rod(
                    [0, 0, 0],
                    [1.6 * b * sin(alpha) * cos(u), 1.6 * b * sin(alpha) * sin(u), -1.6 * b * cos(alpha)],
                    width=0.2,
                )
                for u in range(7)
            ],
            scene.Rod([0, 0, 0], tip, width=0.4),
            scene.Rod([0, 0, 0], end, width=0.4),
            scene.Point(tip),
            scene.Point(end),
            scene.Trail(tip),
            scene.Trail(end, fraction=0.1),
        ],
    )
    return Example(
        name="particles-through-cone",
        system=cone,
        description="A particle on a cone and a pendulum inside it, joined by a string through the apex.",
        source=_CHAPTER + "problem 7.15.",
        parameters={m: 1.2, b: 0.6, g: 9.81, lam: 1.1, alpha: 0.5},
        start={
            rho: 0.5,
            phi: 0.0,
            theta: 0.6,
            psi: 0.0,
            rho.dot: 0.1,
            phi.dot: 0.7,
            theta.dot: 0.4,
            psi.dot: 1.5,
        },
        h=0.002,
        until=10.0,
        invariants={
            "angular momentum on the cone": m * rho**2 * sin(alpha) ** 2 * phi.dot,
            "angular momentum of the pendulum": lam * m * l**2 * sin(theta) ** 2 * psi.dot,
        },
    )


def car() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 + I theta.dot^2/2 + J phi.dot^2/2.

    x.dot sin(theta) = y.dot cos(theta): the rear wheels do not slip sideways; (x, y) is the middle of the rear axle and
    theta the heading. l theta.dot cos(phi) = (x.dot cos(theta) + y.dot sin(theta)) sin(phi): nor do the front wheels, at
    the distance l, steered by phi. At each moment there are two degrees of freedom, yet every configuration can be reached.
    """
    x, y, theta, phi = coordinates("x y theta phi")
    m, I, J, l = parameters("m I J l", positive=True)
    speed = x.dot * cos(theta) + y.dot * sin(theta)
    end = [cos(theta), sin(theta)]
    tip = [cos(theta + phi), sin(theta + phi)]
    wheels = System(
        "car",
        [x, y, theta, phi],
        kinetic=m * (x.dot**2 + y.dot**2) / 2 + I * theta.dot**2 / 2 + J * phi.dot**2 / 2,
        constraints=[
            x.dot * sin(theta) - y.dot * cos(theta),
            l * theta.dot * cos(phi) - speed * sin(phi),
        ],
        scene=[
            scene.Polygon(
                [
                    [x + p * l * cos(theta) - q * l * sin(theta), y + p * l * sin(theta) + q * l * cos(theta)]
                    for p, q in ((-0.25, -0.3), (1.25, -0.3), (1.25, 0.3), (-0.25, 0.3))
                ]
            ),
            scene.Blade([x + 0.3 * l * sin(theta), y - 0.3 * l * cos(theta)], end, 0.3 * l, colour="#1c2229"),
            scene.Blade([x - 0.3 * l * sin(theta), y + 0.3 * l * cos(theta)], end, 0.3 * l, colour="#1c2229"),
            scene.Blade(
                [x + l * cos(theta) + 0.3 * l * sin(theta), y + l * sin(theta) - 0.3 * l * cos(theta)],
                tip,
                0.3 * l,
                colour="#d55e00",
            ),
            scene.Blade(
                [x + l * cos(theta) - 0.3 * l * sin(theta), y + l * sin(theta) + 0.3 * l * cos(theta)],
                tip,
                0.3 * l,
                colour="#d55e00",
            ),
            scene.Trail([x, y], fraction=1.0),
        ],
    )
    return Example(
        name="car",
        system=wheels,
        description="A car that rolls by itself with its front wheels steered to and fro.",
        source=_NOTES + "remark on parking a car.",
        parameters={m: 2.0, I: 0.5, J: 0.1, l: 0.8},
        start={x: 0.0, y: 0.0, theta: 0.0, phi: 0.0, x.dot: 1.0, y.dot: 0.0, theta.dot: 0.0, phi.dot: 0.2},
        h=0.005,
        until=5.0,
        invariants={"energy without that of steering": (m * (x.dot**2 + y.dot**2) + I * theta.dot**2) / 2},
    )


def _oscillating(times: Any, p: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    import numpy as np

    rate, t = np.sqrt(p["k"] / p["m"]), np.asarray(times, dtype=float)
    return {"x": start["x"] * np.cos(rate * t) + start["x.dot"] / rate * np.sin(rate * t)}


def _ellipse(times: Any, p: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """The mass centre falls; seen along and across its first direction, the pair goes round an ellipse.

    Every half turn of the phase is half a turn of the pair, so its angle is the one nearest to the phase.
    """
    import numpy as np

    t = np.asarray(times, dtype=float)
    rate = np.sqrt(p["k"] * (1 / p["m_A"] + 1 / p["m_B"]))
    along = start["s"] * np.cos(rate * t) + start["s.dot"] / rate * np.sin(rate * t)
    across = start["s"] * start["theta.dot"] / rate * np.sin(rate * t)
    principal, phase = np.arctan2(across, along), np.sign(start["theta.dot"]) * rate * t
    return {
        "x_G": start["x_G"] + start["x_G.dot"] * t,
        "y_G": start["y_G"] + start["y_G.dot"] * t - p["g"] * t**2 / 2,
        "s": np.hypot(along, across),
        "theta": start["theta"] + principal + 2 * np.pi * np.round((phase - principal) / (2 * np.pi)),
    }
