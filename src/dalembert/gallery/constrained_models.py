"""Systems for which the models of constrained motion differ: d'Alembert and Chetaev, vakonomic, Upsilon."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sympy import Add, atan2, cos, pi, sin, sqrt, sympify

from ..errors import ModelError
from ..model import scene
from ..model.bodies import turns
from ..model.coordinates import coordinates, parameters, time
from ..model.principle import Vakonomic
from ..model.system import System
from .example import Example

_RAMIREZ = "R. Ramirez, Sobre los sistemas mecanicos con enlaces, Universidad de Barcelona, 1990"
_NEIMARK = "Ju. I. Neimark, N. A. Fufaev, Dynamics of Nonholonomic Systems, AMS, 1972"


def appell_device() -> Example:
    """L = m (x.dot^2 + y.dot^2 + z.dot^2)/2 - m g z; z.dot = a sqrt(x.dot^2 + y.dot^2).

    The direction of (x.dot, y.dot) is constant, and its length r = r0 - a g t/(1 + a^2) until it is zero: there the constraint
    has no gradient and the motion ends.
    """
    x, y, z = coordinates("x y z")
    m, g, a = parameters("m g a", positive=True)
    r, slowing = sqrt(x.dot**2 + y.dot**2), m * a * g * time / (1 + a**2)
    device = System(
        "Appell's device",
        [x, y, z],
        kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2,
        potential=m * g * z,
        constraints=[z.dot - a * r],
        scene=_caster(x, y, z, a),
    )
    return Example(
        name="appell-device",
        system=device,
        description="A weight hung over a pulley on a caster: it rises with a fixed share of the speed of the caster. The "
        "constraint is nonlinear in the velocities.",
        source=f"P. Appell, 1911; {_NEIMARK}, chapter IV; {_RAMIREZ}, section 3.",
        parameters={m: 2.0, g: 9.81, a: 0.7},
        start={x: 0.0, y: 0.0, z: 0.0, x.dot: 1.3, y.dot: -0.4, z.dot: 0.7 * (1.3**2 + 0.4**2) ** 0.5},
        h=0.0005,
        until=0.27,
        invariants={
            "first integral along x": x.dot * (m + slowing / r),
            "first integral along y": y.dot * (m + slowing / r),
            "first integral along z": m * z.dot + m * g * time - m * g * time / (1 + a**2),
            "energy": m * (1 + a**2) * r**2 / 2 + m * g * z,
        },
        exact=_slowing_down,
    )


def _caster(x: Any, y: Any, z: Any, a: Any) -> list[scene.Item]:
    """The wheel, a frame that slides behind it, and the weight, on a thread over a pulley at the top of the frame."""
    speed, radius, back, top = sqrt(x.dot**2 + y.dot**2), sympify("1/20"), sympify("3/20"), sympify("3/10")
    c, s = x.dot / speed, y.dot / speed
    heading = atan2(y.dot, x.dot)
    hub, high = [x, y, radius], [x - back * c, y - back * s, top]
    foot, weight = [x - 2 * back * c, y - 2 * back * s, 0], [high[0], high[1], z + radius]
    return [
        scene.Ground([0, 0, 0], [0, 0, 1]),
        scene.Wheel(hub, radius, turns("zxz", heading, pi / 2, -z / (a * radius))),
        scene.Rod(hub, high, width=0.4),
        scene.Rod(foot, high, width=0.4),
        scene.Point(high),
        scene.Rope([high, weight]),
        scene.Box(weight, [radius, radius, radius], turns("z", heading)),
        scene.Vector(hub, [x.dot, y.dot, 0]),
        scene.Trail([x, y, 0], fraction=1.0),
    ]


def appell_in_dimensions(dimensions: int = 4) -> Example:
    """L = (x1.dot^2 + ... + xN.dot^2)/2 - g0 xN; xN.dot = q sqrt(x1.dot^2 + ... + x(N-1).dot^2), N = 3, 4, ..."""
    if not isinstance(dimensions, int) or not 3 <= dimensions <= 20:
        raise ModelError(f"appell-in-dimensions: dimensions = {dimensions}. Expected a whole number from 3 to 20.")
    x = coordinates(" ".join(f"x{k + 1}" for k in range(dimensions)))
    q, g0 = parameters("q g0", positive=True)
    *plane, height = x
    r = sqrt(Add(*(c.dot**2 for c in plane)))
    device = System(
        f"Appell's device in {dimensions} dimensions",
        list(x),
        kinetic=Add(*(c.dot**2 for c in x)) / 2,
        potential=g0 * height,
        constraints=[height.dot - q * r],
        scene=[
            scene.Ground([0, 0, 0], [0, 0, 1]),
            scene.Point([x[0], x[1], 0]),
            scene.Rod([x[0], x[1], 0], [x[0], x[1], height], width=0.3),
            scene.Box([x[0], x[1], height], [0.05, 0.05, 0.05]),
            scene.Trail([x[0], x[1], height], fraction=1.0),
        ],
    )
    speeds = [(-0.7) ** k for k in range(dimensions - 1)]
    rise = 0.5 * sum(v**2 for v in speeds) ** 0.5
    return Example(
        name="appell-in-dimensions",
        system=device,
        description="Appell's device with the caster in a space of N - 1 dimensions: r.dot = -g0 q/(1 + q^2).",
        source=f"{_RAMIREZ}, section 5, example 2, with the signs of Chaplygin's equations.",
        parameters={q: 0.5, g0: 1.2},
        start={
            **dict.fromkeys(x, 0.0),
            **{c.dot: v for c, v in zip(plane, speeds, strict=True)},
            height.dot: rise,
        },
        h=0.002,
        until=1.0,
        invariants={
            "energy": (1 + q**2) * r**2 / 2 + g0 * height,
            "speed plus what was lost": r + g0 * q * time / (1 + q**2),
        },
        exact=partial(_slowing_down_in_dimensions, [c.name for c in x]),
    )


def rolling_sphere() -> Example:
    """A homogeneous ball of mass M and moment of inertia k2 rolls on a plane: x.dot = a v2, y.dot = -a v1.

    v1, v2, v3 are the components in space of its angular velocity; Euler's angles are nutation theta, proper rotation psi and
    precession phi. A potential U(theta, psi) turns it: U = -c cos(theta).
    """
    x, y, theta, psi, phi = coordinates("x y theta psi phi")
    M, k2, a = parameters("M k2 a", positive=True)
    c = parameters("c")
    v1, v2, v3 = _angular_velocity(theta, psi, phi)
    ball = System(
        "rolling sphere",
        [x, y, theta, psi, phi],
        kinetic=M * (x.dot**2 + y.dot**2) / 2 + k2 * (v1**2 + v2**2 + v3**2) / 2,
        potential=c * cos(theta),
        constraints=[x.dot - a * v2, y.dot + a * v1],
        scene=[
            scene.Ground([0, 0, 0], [0, 0, 1]),
            scene.Sphere([x, y, a], a, turns("zxz", phi, theta, psi)),
            scene.Trail([x, y, 0], fraction=1.0),
        ],
    )
    rolling = {theta: 1.1, psi: 0.3, phi: -0.4, theta.dot: 0.5, psi.dot: 0.9, phi.dot: -0.6}
    begin = {x.dot: float((0.4 * v2).subs(rolling)), y.dot: float((-0.4 * v1).subs(rolling))}
    turned = (M * a**2 + k2) * (v1**2 + v2**2) / 2 + k2 * v3**2 / 2
    return Example(
        name="rolling-sphere",
        system=ball,
        description="A ball with a moment along its own axis rolls on a plane without slipping. Its rotation is that of the "
        "Lagrangian system rolling-sphere-lagrangian.",
        source=f"{_NEIMARK}; {_RAMIREZ}, section 5, example 4, with the angular velocity and the Lagrangian corrected.",
        parameters={M: 1.5, k2: 0.3, a: 0.4, c: 0.6},
        start={x: 0.0, y: 0.0, **rolling, **begin},
        h=0.01,
        until=10.0,
        invariants={"spin about the vertical": v3, "energy": turned + c * cos(theta)},
    )


def rolling_sphere_lagrangian() -> Example:
    """L = (M a^2 + k2)(v1^2 + v2^2 + v3^2)/2 - c cos(theta): the rotation of `rolling_sphere`, without constraints.

    Its equations E are those of Chaplygin for the rolling ball, D, up to a multiplier: E = B D, det B = 1 + M a^2/k2.
    """
    theta, psi, phi = coordinates("theta psi phi")
    M, k2, a = parameters("M k2 a", positive=True)
    c = parameters("c")
    v1, v2, v3 = _angular_velocity(theta, psi, phi)
    whole = M * a**2 + k2
    body = System(
        "rolling sphere, its Lagrangian",
        [theta, psi, phi],
        kinetic=whole * (v1**2 + v2**2 + v3**2) / 2,
        potential=c * cos(theta),
        scene=[
            scene.Sphere([0, 0, 0], a, turns("zxz", phi, theta, psi)),
            scene.Axes([0, 0, 0], turns("zxz", phi, theta, psi), 3 * a / 2),
        ],
    )
    return Example(
        name="rolling-sphere-lagrangian",
        system=body,
        description="A body that turns about its centre as the rolling ball does: the nonholonomic system is Lagrangian.",
        source=f"After {_RAMIREZ}, section 5, example 4.",
        parameters={M: 1.5, k2: 0.3, a: 0.4, c: 0.6},
        start={theta: 1.1, psi: 0.3, phi: -0.4, theta.dot: 0.5, psi.dot: 0.9, phi.dot: -0.6},
        h=0.01,
        until=10.0,
        invariants={"spin about the vertical": v3, "energy": whole * (v1**2 + v2**2 + v3**2) / 2 + c * cos(theta)},
    )


def penny_on_incline() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 + I theta.dot^2/2 + J phi.dot^2/2 - m g sin(alpha) x; it rolls without slipping.

    x points up the slope. theta.dot R = u0 - G (sin(phi) - sin(phi0))/phi.dot with G = g sin(alpha) m R^2/(I + m R^2).
    """
    x, y, theta, phi = coordinates("x y theta phi")
    m, I, J, R, g = parameters("m I J R g", positive=True)
    alpha = parameters("alpha")
    penny = System(
        "penny on an incline",
        [x, y, theta, phi],
        kinetic=m * (x.dot**2 + y.dot**2) / 2 + I * theta.dot**2 / 2 + J * phi.dot**2 / 2,
        potential=m * g * sin(alpha) * x,
        constraints=[x.dot - R * cos(phi) * theta.dot, y.dot - R * sin(phi) * theta.dot],
        scene=[
            scene.Ground([0, 0, 0], [-sin(alpha), 0, cos(alpha)]),
            scene.Disc(
                [x * cos(alpha) - R * sin(alpha), y, x * sin(alpha) + R * cos(alpha)],
                R,
                turns("yzxz", -alpha, phi, pi / 2, -theta),
            ),
            scene.Trail([x * cos(alpha), y, x * sin(alpha)], fraction=1.0),
        ],
    )
    return Example(
        name="penny-on-incline",
        system=penny,
        description="A disc that stays upright and rolls on a slope: it drifts across the slope and does not run down, unlike "
        "the vakonomic one.",
        source=f"{_NEIMARK}; A. D. Lewis, R. M. Murray, Int. J. Non-Linear Mech. 30 (1995) 793-815 (the experiment).",
        parameters={m: 1.5, I: 0.8, J: 0.4, R: 1.2, g: 9.8, alpha: 0.25},
        start={
            x: 0.0,
            y: 0.0,
            theta: 0.0,
            phi: 0.4,
            theta.dot: 1.4,
            phi.dot: 0.9,
            x.dot: 1.2 * 1.4 * float(cos(0.4)),
            y.dot: 1.2 * 1.4 * float(sin(0.4)),
        },
        h=0.01,
        until=5.0,
        invariants={
            "heading momentum": J * phi.dot,
            "rolling times turning": (I + m * R**2) * theta.dot * phi.dot + m * R * g * sin(alpha) * sin(phi),
        },
    )


def heisenberg_geodesics() -> Example:
    """L = (x.dot^2 + y.dot^2)/2; z.dot = (x y.dot - y x.dot)/2, vakonomic: circles whose curvature is the multiplier.

    Between two configurations a shortest path of this sub-Riemannian metric is one of these.
    """
    x, y, z = coordinates("x y z")
    group = System(
        "Heisenberg group",
        [x, y, z],
        kinetic=(x.dot**2 + y.dot**2) / 2,
        constraints=[z.dot - (x * y.dot - y * x.dot) / 2],
        principle=Vakonomic(),
        scene=[
            scene.Ground([0, 0, 0], [0, 0, 1]),
            scene.Point([x, y, z]),
            scene.Rod([x, y, 0], [x, y, z], width=0.3),
            scene.Trail([x, y, z], fraction=1.0),
            scene.Trail([x, y, 0], fraction=1.0),
        ],
    )
    mu = group.multipliers[0]
    return Example(
        name="heisenberg-geodesics",
        system=group,
        description="Shortest paths in the plane that sweep a given area: geodesics of the Heisenberg group.",
        source="R. Montgomery, A Tour of Subriemannian Geometries, AMS, 2002, chapter 1.",
        parameters={},
        start={x: 0.0, y: 0.0, z: 0.0, x.dot: 1.0, y.dot: 0.0, z.dot: 0.0, mu: 0.7},
        h=0.01,
        until=5.0,
        invariants={
            "energy": (x.dot**2 + y.dot**2) / 2,
            "x of the centre times the multiplier": mu * x - y.dot,
            "y of the centre times the multiplier": mu * y + x.dot,
        },
        exact=_circle,
    )


def _angular_velocity(theta: Any, psi: Any, phi: Any) -> tuple[Any, Any, Any]:
    """The components in space of the angular velocity, by nutation, proper rotation and precession."""
    v1 = theta.dot * cos(phi) + psi.dot * sin(theta) * sin(phi)
    v2 = theta.dot * sin(phi) - psi.dot * sin(theta) * cos(phi)
    return v1, v2, phi.dot + psi.dot * cos(theta)


def _slowed(names: list[str], share: float, loss: float, times: Any, start: Mapping[str, float]) -> dict[str, Any]:
    """A straight way along the first names, with speed r0 - loss t; the last name rises by a share of it."""
    import numpy as np

    t = np.asarray(times, dtype=float)
    speeds = [start[f"{n}.dot"] for n in names[:-1]]
    speed = float(np.sqrt(np.sum(np.square(speeds))))
    way = speed * t - loss * t**2 / 2
    found = {n: start[n] + way * v / speed for n, v in zip(names[:-1], speeds, strict=True)}
    return found | {names[-1]: start[names[-1]] + share * way}


def _slowing_down(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    a = parameters["a"]
    return _slowed(["x", "y", "z"], a, a * parameters["g"] / (1 + a**2), times, start)


def _slowing_down_in_dimensions(
    names: list[str], times: Any, parameters: Mapping[str, float], start: Mapping[str, float]
) -> dict[str, Any]:
    q = parameters["q"]
    return _slowed(names, q, q * parameters["g0"] / (1 + q**2), times, start)


def _circle(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """(x.dot, y.dot) turns with the angular velocity mu, from (x0, y0) = 0."""
    import numpy as np

    t, w = np.asarray(times, dtype=float), start["multiplier.1"]
    u, v = start["x.dot"], start["y.dot"]
    s, c = np.sin(w * t) / w, (1 - np.cos(w * t)) / w
    area = (u**2 + v**2) * (w * t - np.sin(w * t)) / (2 * w**2)
    return {"x": start["x"] + u * s - v * c, "y": start["y"] + v * s + u * c, "z": start["z"] + area}
