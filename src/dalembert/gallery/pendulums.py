"""Pendulums: in an angle, in Cartesian coordinates, double, spherical, and a chain of any length.

Angles are measured from the downward vertical; y points up.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from sympy import Add, cos, sin

from ..errors import ModelError
from ..model import scene
from ..model.coordinates import coordinates, multiplier, parameters
from ..model.system import System
from .example import Example, hung


def pendulum() -> Example:
    """L = m l^2 theta.dot^2/2 + m g l cos(theta)."""
    theta = coordinates("theta")
    m, l, g = parameters("m l g", positive=True)
    return Example(
        name="pendulum",
        system=System(
            "pendulum",
            [theta],
            kinetic=m * l**2 * theta.dot**2 / 2,
            potential=-m * g * l * cos(theta),
            scene=[
                scene.Rod([0, 0], hung(l, theta)),
                scene.Point([0, 0], size=0.6),
                scene.Point(hung(l, theta), size=1.4),
                scene.Trail(hung(l, theta)),
            ],
        ),
        description="A mass on a rigid rod that swings, or turns over, in a vertical plane.",
        source="E. T. Whittaker, A Treatise on the Analytical Dynamics of Particles and Rigid Bodies, "
        "4th ed., Cambridge University Press, 1937.",
        parameters={m: 0.5, l: 0.8, g: 9.81},
        start={theta: 2.0, theta.dot: 0.0},
        h=0.02,
        until=50.0,
        exact=_swing,
    )


def pendulum_cartesian() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 - m g y, x^2 + y^2 = l^2; y points up and the pivot is the origin."""
    x, y = coordinates("x y")
    m, l, g = parameters("m l g", positive=True)
    rod = System(
        "pendulum in Cartesian coordinates",
        [x, y],
        kinetic=m * (x.dot**2 + y.dot**2) / 2,
        potential=m * g * y,
        constraints=[x**2 + y**2 - l**2],
        scene=[
            scene.Rod([0, 0], [x, y]),
            scene.Point([0, 0], size=0.6),
            scene.Point([x, y], size=1.4),
            scene.Trail([x, y]),
            scene.Vector([x, y], [2 * multiplier(1) * x, 2 * multiplier(1) * y], kind="reaction"),
        ],
    )
    return Example(
        name="pendulum-cartesian",
        system=rod,
        description="The pendulum with its rod as a holonomic constraint, whose multiplier gives the force in the rod.",
        source="E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., Springer, 2006, "
        "chapter VII.",
        parameters={m: 0.5, l: 1.0, g: 9.81},
        start={x: 0.6, y: -0.8, x.dot: 2.4, y.dot: 1.8},
        h=0.02,
        until=50.0,
        exact=_swing_cartesian,
    )


def double_pendulum() -> Example:
    """L = (m1 + m2) l1^2 w1^2/2 + m2 l2^2 w2^2/2 + m2 l1 l2 w1 w2 cos(theta1 - theta2)
    + (m1 + m2) g l1 cos(theta1) + m2 g l2 cos(theta2), w = theta.dot."""
    theta1, theta2 = coordinates("theta1 theta2")
    m1, m2, l1, l2, g = parameters("m1 m2 l1 l2 g", positive=True)
    tip = hung(l2, theta2, hung(l1, theta1))
    arms = System(
        "double pendulum",
        [theta1, theta2],
        kinetic=(m1 + m2) * l1**2 * theta1.dot**2 / 2
        + m2 * l2**2 * theta2.dot**2 / 2
        + m2 * l1 * l2 * theta1.dot * theta2.dot * cos(theta1 - theta2),
        potential=-(m1 + m2) * g * l1 * cos(theta1) - m2 * g * l2 * cos(theta2),
        scene=[
            scene.Rod([0, 0], hung(l1, theta1)),
            scene.Rod(hung(l1, theta1), tip),
            scene.Point([0, 0], size=0.6),
            scene.Point(hung(l1, theta1), size=1.4),
            scene.Point(tip, size=1.2),
            scene.Trail(tip, fraction=0.1),
        ],
    )
    return Example(
        name="double-pendulum",
        system=arms,
        description="A pendulum hanging from a pendulum. From this start its motion is chaotic.",
        source="L. D. Landau, E. M. Lifshitz, Mechanics, section 5, problem 1.",
        parameters={m1: 1.0, m2: 0.7, l1: 1.0, l2: 0.8, g: 9.81},
        start={theta1: 2.0, theta2: 2.5, theta1.dot: 0.0, theta2.dot: 0.0},
        h=0.01,
        until=40.0,
    )


def spherical_pendulum() -> Example:
    """L = m l^2 (theta.dot^2 + sin(theta)^2 phi.dot^2)/2 + m g l cos(theta); phi is the azimuth."""
    theta, phi = coordinates("theta phi")
    m, l, g = parameters("m l g", positive=True)
    tip = [l * sin(theta) * cos(phi), l * sin(theta) * sin(phi), -l * cos(theta)]
    sphere = System(
        "spherical pendulum",
        [theta, phi],
        kinetic=m * l**2 * (theta.dot**2 + sin(theta) ** 2 * phi.dot**2) / 2,
        potential=-m * g * l * cos(theta),
        scene=[
            scene.Rod([0, 0, 0], tip),
            scene.Point([0, 0, 0], size=0.6),
            scene.Point(tip, size=1.4),
            scene.Trail(tip),
            scene.Ground([0, 0, -l], [0, 0, 1]),
        ],
    )
    return Example(
        name="spherical-pendulum",
        system=sphere,
        description="A mass on a rod about a fixed point, swinging between two heights while it goes round. "
        "The coordinates fail at the lowest and highest point, where it comes only if it does not go round.",
        source="L. D. Landau, E. M. Lifshitz, Mechanics, section 14, problem 1.",
        parameters={m: 0.5, l: 0.8, g: 9.81},
        start={theta: 1.2, phi: 0.0, theta.dot: 0.0, phi.dot: 1.5},
        h=0.02,
        until=40.0,
        invariants={"angular momentum about the vertical": m * l**2 * sin(theta) ** 2 * phi.dot},
    )


def pendulum_chain(links: int = 5) -> Example:
    """L = m l^2 sum_ij c_max(i,j) w_i w_j cos(theta_i - theta_j)/2 + m g l sum_i c_i cos(theta_i).

    Equal masses on equal rods; link i carries the c_i = links + 1 - i masses from its end on; w = theta.dot.
    """
    if not isinstance(links, int) or links < 1:
        raise ModelError(f"pendulum-chain: links={links!r}. Give the number of links, a whole number from 1 on.")
    theta = [coordinates(f"theta{i}") for i in range(1, links + 1)]
    m, l, g = parameters("m l g", positive=True)
    carried = range(links, 0, -1)
    kinetic = [c * a.dot**2 / 2 for c, a in zip(carried, theta, strict=True)]
    kinetic += [
        carried[j] * theta[i].dot * theta[j].dot * cos(theta[i] - theta[j]) for j in range(links) for i in range(j)
    ]
    joints: list[Any] = [[0, 0]]
    for a in theta:
        joints.append(hung(l, a, joints[-1]))
    chain = System(
        f"chain of {links} pendulums",
        theta,
        kinetic=m * l**2 * Add(*kinetic),
        potential=-m * g * l * Add(*(c * cos(a) for c, a in zip(carried, theta, strict=True))),
        scene=[*(scene.Rod(a, b) for a, b in pairwise(joints)), *map(scene.Point, joints), scene.Trail(joints[-1])],
    )
    return Example(
        name="pendulum-chain",
        system=chain,
        description="Equal pendulums hanging one from the other, let go from rest as a straight chain; "
        "its free end is thrown about like the end of a whip.",
        source="The double pendulum of L. D. Landau, E. M. Lifshitz, Mechanics, section 5, problem 1, "
        "continued to any number of equal links.",
        parameters={m: 0.1, l: 0.5, g: 9.81},
        start={**dict.fromkeys(theta, 1.0), **{a.dot: 0.0 for a in theta}},
        h=0.01,
        until=20.0,
    )


def _swing(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """The pendulum by Jacobi's elliptic functions, from any start.

    With s = sin(theta/2), c = cos(theta/2), w = theta.dot/(2 omega), s^2 + w^2 is constant. In libration it
    is k^2 < 1, s = k sn and c = dn; in rotation it is above 1, theta/2 is the amplitude; on the separatrix
    it is 1, s = tanh, the top is never reached. Near the separatrix the exact given numbers decide which case holds.
    """
    import numpy as np

    t = np.asarray(times, dtype=float)
    omega = np.sqrt(parameters["g"] / parameters["l"])
    turns = 2 * np.pi * np.round(start["theta"] / (2 * np.pi))
    half, w = (start["theta"] - turns) / 2, start["theta.dot"] / (2 * omega)
    s, c = np.sin(half), np.cos(half)
    level, missing = s**2 + w**2, (c - w) * (c + w)  # missing = 1 - level, without the cancellation
    if missing > 0:
        am = _amplitude(omega * t + _elliptic(np.arctan2(s, w), missing), missing)
        half = np.arctan2(np.sqrt(level) * np.sin(am), np.sqrt(np.cos(am) ** 2 + missing * np.sin(am) ** 2))
    elif missing < 0:
        rate = np.copysign(np.sqrt(level), w) * omega
        half = _amplitude(rate * t + _elliptic(half, -missing / level), -missing / level)
    else:
        half = 2 * np.arctan(np.tanh((np.sign(w) * omega * t + np.arcsinh(np.tan(half))) / 2))
    return {"theta": turns + 2 * half}


def _swing_cartesian(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    import numpy as np

    x, y, l = start["x"], start["y"], parameters["l"]
    theta_dot = (x * start["y.dot"] - y * start["x.dot"]) / l**2
    theta = _swing(times, parameters, {"theta": np.arctan2(x, -y), "theta.dot": theta_dot})["theta"]
    return {"x": l * np.sin(theta), "y": -l * np.cos(theta)}


def _elliptic(phi: Any, complement: float) -> Any:
    """Legendre's integral F(phi | 1 - complement), in Carlson's form: the complement may be very small."""
    import numpy as np
    from scipy.special import elliprf

    turns = np.round(phi / np.pi)
    s, c = np.sin(phi - np.pi * turns), np.cos(phi - np.pi * turns)
    period = 2 * elliprf(0, complement, 1)
    return s * elliprf(c**2, c**2 + complement * s**2, 1) + turns * period


def _amplitude(u: Any, complement: float) -> Any:
    """Jacobi's amplitude am(u | 1 - complement), continuous in u.

    Beyond half a quarter period it is computed from K - u: a small complement matters there, and 1 - complement loses it.
    """
    import numpy as np
    from scipy.special import ellipj, elliprf

    quarter = elliprf(0, complement, 1)
    turns = np.round(u / (2 * quarter))
    r = u - 2 * quarter * turns
    far = np.abs(r) > quarter / 2
    sn, cn, _, phi = ellipj(np.where(far, quarter - np.abs(r), r), 1 - complement)
    mirrored = np.copysign(np.arctan2(cn, np.sqrt(complement) * sn), r)
    return np.pi * turns + np.where(far, mirrored, phi)
