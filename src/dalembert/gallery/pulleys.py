"""Blocks, wedges, hoops and discs on lines and inclines, and weights on threads: accelerations are constant, or harmonic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import Rational, atan, cos, sin, sqrt

from ..model import scene
from ..model.coordinates import coordinates, multiplier, parameters
from ..model.system import System
from .example import Example

_NOTES = "Leyes de Newton y principio de d'Alembert, lecture notes in Spanish, "
_CHAPTER = "Dinamica analitica, chapter 7 of a textbook of mechanics in Spanish, "


def block_on_incline() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 - m g y on the line y + b x/a = b; y points up.

    The multiplier is m g a^2/(a^2 + b^2), the reaction is normal to the line and its size is m g cos(slope).
    """
    x, y = coordinates("x y")
    m, a, b, g = parameters("m a b g", positive=True)
    block = System(
        "block on an incline",
        [x, y],
        kinetic=m * (x.dot**2 + y.dot**2) / 2,
        potential=m * g * y,
        constraints=[y + b * x / a - b],
        scene=[
            scene.Ground([a, 0], [b, a]),
            scene.Box([x + b / 12, y + a / 12], [a / 6, a / 6], -atan(b / a)),
            scene.Vector([x, y], [multiplier(1) * b / a, multiplier(1)], kind="reaction"),
        ],
    )
    return Example(
        name="block-on-incline",
        system=block,
        description="A block slides down a smooth incline, kept on it by a multiplier.",
        source=_NOTES + "examples 2 and 2'.",
        parameters={m: 1.2, a: 2.0, b: 1.5, g: 9.81},
        start={x: 0.0, y: 1.5, x.dot: 0.4, y.dot: -0.3},
        h=0.01,
        until=10.0,
        exact=_sliding,
    )


def block_and_hanging_weight() -> Example:
    """L = m1 (x1.dot^2 + y1.dot^2)/2 + m2 (x2.dot^2 + y2.dot^2)/2 - m1 g y1 - m2 g y2; y points up.

    y1 = b (the table), x1 + y2 = c (the thread over the pulley), x2 = d (the weight hangs plumb). The multiplier of the
    thread is its tension m1 m2 g/(m1 + m2), that of the table its normal force m1 g.
    """
    x1, y1, x2, y2 = coordinates("x1 y1 x2 y2")
    m1, m2, g = parameters("m1 m2 g", positive=True)
    b, c, d = parameters("b c d")
    thread = System(
        "block on a table and hanging weight",
        [x1, y1, x2, y2],
        kinetic=m1 * (x1.dot**2 + y1.dot**2) / 2 + m2 * (x2.dot**2 + y2.dot**2) / 2,
        potential=m1 * g * y1 + m2 * g * y2,
        constraints=[y1 - b, x1 + y2 - c, x2 - d],
        scene=[
            scene.Ground([d - 4, b - 0.12], [0, 1]),
            scene.Rope([[x1, y1], [d, b], [x2, y2]]),
            scene.Hoop([d - 0.06, b - 0.06], 0.06),
            scene.Box([x1, y1], [0.24, 0.24]),
            scene.Box([x2, y2 - 0.15], [0.2, 0.3]),
            scene.Vector([x1, y1], [multiplier(2), 0], kind="reaction"),
        ],
    )
    return Example(
        name="block-and-hanging-weight",
        system=thread,
        description="A block on a smooth table, pulled by a thread over a pulley with a weight at its other end.",
        source=_NOTES + "example 3.",
        parameters={m1: 1.0, m2: 2.0, g: 9.81, b: 0.75, c: -0.5, d: 1.0},
        start={x1: -1.0, y1: 0.75, x2: 1.0, y2: 0.5, x1.dot: 0.2, y1.dot: 0.0, x2.dot: 0.0, y2.dot: -0.2},
        h=0.01,
        until=10.0,
        shown=0.65,
        exact=_hanging,
    )


def poggendorff_pulleys() -> Example:
    """L = m1 x1.dot^2/2 + m2 x2.dot^2/2 + m3 (2 x1.dot + x2.dot)^2/2 + m1 g x1 + m2 g x2 - m3 g (2 x1 + x2).

    Heights are measured downwards; m1 hangs from two strands of the thread, so that x3 = -2 x1 - x2.
    """
    x1, x2 = coordinates("x1 x2")
    m1, m2, m3, g = parameters("m1 m2 m3 g", positive=True)
    pulleys = System(
        "Poggendorff's pulleys",
        [x1, x2],
        kinetic=m1 * x1.dot**2 / 2 + m2 * x2.dot**2 / 2 + m3 * (2 * x1.dot + x2.dot) ** 2 / 2,
        potential=-m1 * g * x1 - m2 * g * x2 + m3 * g * (2 * x1 + x2),
        scene=[
            scene.Ground([0, 1], [0, -1]),
            scene.Wheel([-0.75, 0.6], 0.25, -4 * (2 * x1 + x2)),
            scene.Wheel([0.25, 0.6], 0.25, -4 * x2),
            scene.Rope([[-1, 2 * x1 + x2 - 0.85], [-1, 0.6]]),
            scene.Rope([[-0.5, 0.6], [-0.5, -x1]]),
            scene.Rope([[0, -x1], [0, 0.6]]),
            scene.Rope([[0.5, 0.6], [0.5, -x2]]),
            scene.Hoop([-0.25, -x1], 0.25),
            scene.Rod([-0.25, -x1], [-0.25, -x1 - 0.25], width=0.6),
            scene.Box([-0.25, -x1 - 0.4], [0.3, 0.3], label="1"),
            scene.Box([0.5, -x2 - 0.15], [0.3, 0.3], label="2"),
            scene.Box([-1, 2 * x1 + x2 - 1], [0.3, 0.3], label="3"),
        ],
    )
    return Example(
        name="poggendorff-pulleys",
        system=pulleys,
        description="Three weights on one thread over two fixed pulleys and a loose one.",
        source=_CHAPTER + "example 7.4.",
        parameters={m1: 1.0, m2: 2.0, m3: 0.5, g: 9.81},
        start={x1: 0.3, x2: 0.2, x1.dot: 0.1, x2.dot: -0.2},
        h=0.01,
        until=10.0,
        shown=0.5,
        exact=_poggendorff,
    )


def wedge_and_disc() -> Example:
    """L = 3 m X.dot^2/2 + sqrt(2) m X.dot s.dot + 3 m s.dot^2/2 + sqrt(2) m g s.

    A wedge of 45 degrees and mass m slides at X on a smooth line; a disc of mass 2 m rolls down it and has gone the
    way s. The radius of the disc does not matter.
    """
    X, s = coordinates("X s")
    m, g = parameters("m g", positive=True)
    wedge = System(
        "disc rolling down a sliding wedge",
        [X, s],
        kinetic=Rational(3, 2) * m * X.dot**2 + sqrt(2) * m * X.dot * s.dot + Rational(3, 2) * m * s.dot**2,
        potential=-sqrt(2) * m * g * s,
        scene=[
            scene.Ground([0, 0], [0, 1]),
            scene.Polygon([[X, 0], [X, 1.5], [X + 1.5, 0]]),
            scene.Disc([X + (s + 0.2) / sqrt(2), 1.5 + (0.2 - s) / sqrt(2)], 0.2, -5 * s),
        ],
    )
    return Example(
        name="wedge-and-disc",
        system=wedge,
        description="A disc rolls down a wedge that slides away under it.",
        source=_CHAPTER + "problem 7.1.",
        parameters={m: 1.2, g: 9.81},
        start={X: 0.0, s: 0.1, X.dot: 0.0, s.dot: 0.3},
        h=0.01,
        until=10.0,
        shown=0.5,
        invariants={"momentum along the line": 3 * m * X.dot + sqrt(2) * m * s.dot},
        exact=_wedge,
    )


def hoop_on_incline() -> Example:
    """L = m x.dot^2/2 + m r^2 theta.dot^2/2 + m g x sin(alpha); r theta.dot = x.dot.

    x points down the slope. The multiplier is m g sin(alpha)/2; the friction that makes the hoop roll is -lambda along x.
    """
    x, theta = coordinates("x theta")
    m, r, g = parameters("m r g", positive=True)
    alpha = parameters("alpha")
    hoop = System(
        "hoop rolling down an incline",
        [x, theta],
        kinetic=m * x.dot**2 / 2 + m * r**2 * theta.dot**2 / 2,
        potential=-m * g * x * sin(alpha),
        constraints=[r * theta.dot - x.dot],
        scene=[
            scene.Ground([0, 0], [sin(alpha), cos(alpha)]),
            scene.Wheel([x * cos(alpha) + r * sin(alpha), -x * sin(alpha) + r * cos(alpha)], r, -theta),
            scene.Vector(
                [x * cos(alpha), -x * sin(alpha)],
                [-multiplier(1) * cos(alpha), multiplier(1) * sin(alpha)],
                kind="reaction",
            ),
        ],
    )
    return Example(
        name="hoop-on-incline",
        system=hoop,
        description="A hoop rolls down an incline; the multiplier is the force of friction.",
        source=_CHAPTER + "example 7.12.",
        parameters={m: 1.2, r: 0.35, g: 9.81, alpha: 0.5},
        start={x: 0.0, theta: 0.0, x.dot: 0.35, theta.dot: 1.0},
        h=0.01,
        until=10.0,
        exact=_rolling_hoop,
    )


def two_discs_on_incline() -> Example:
    """L = 3 M x.dot^2/2 + 3 M s.dot^2/8 + 2 M g x sin(beta) - k s^2/2.

    x is the middle of the two centres, down the slope beta; s is the elongation of the spring between the centres.
    """
    x, s = coordinates("x s")
    M, k, g = parameters("M k g", positive=True)
    beta = parameters("beta")
    end = [(x + (1 + s) / 2) * cos(beta) + 0.3 * sin(beta), -(x + (1 + s) / 2) * sin(beta) + 0.3 * cos(beta)]
    tip = [(x - (1 + s) / 2) * cos(beta) + 0.3 * sin(beta), -(x - (1 + s) / 2) * sin(beta) + 0.3 * cos(beta)]
    discs = System(
        "two discs joined by a spring on an incline",
        [x, s],
        kinetic=Rational(3, 2) * M * x.dot**2 + Rational(3, 8) * M * s.dot**2,
        potential=-2 * M * g * x * sin(beta) + k * s**2 / 2,
        scene=[
            scene.Ground([0, 0], [sin(beta), cos(beta)]),
            scene.Spring(tip, end),
            scene.Disc(tip, 0.3, -(x - s / 2) / 0.3),
            scene.Disc(end, 0.3, -(x + s / 2) / 0.3),
        ],
    )
    return Example(
        name="two-discs-on-incline",
        system=discs,
        description="Two equal discs roll down an incline, their centres joined by a spring.",
        source=_CHAPTER + "problem 7.26.",
        parameters={M: 2.0, k: 30.0, g: 9.81, beta: 0.5},
        start={x: 0.0, s: 0.1, x.dot: 0.0, s.dot: 0.0},
        h=0.01,
        until=10.0,
        invariants={
            "energy of the middle": Rational(3, 2) * M * x.dot**2 - 2 * M * g * x * sin(beta),
            "energy of the spring": Rational(3, 8) * M * s.dot**2 + k * s**2 / 2,
        },
        exact=_discs,
    )


def two_pulleys_with_spring() -> Example:
    """L = 3 m_A x_A.dot^2/4 + 3 m_B x_B.dot^2/2 - k e^2/2 with the elongation e = 3 x_B - 2 x_A.

    Disc A (radius 3 R/2) rolls on its rim, disc B (radius 2 R) on a hub of radius R; x are the ways of the centres. A
    thread with a spring joins the tops of the rims, both at the height 3 R.
    """
    x_A, x_B = coordinates("x_A x_B")
    m_A, m_B, k = parameters("m_A m_B k", positive=True)
    pulleys = System(
        "two rolling pulleys joined by a thread with a spring",
        [x_A, x_B],
        kinetic=Rational(3, 4) * m_A * x_A.dot**2 + Rational(3, 2) * m_B * x_B.dot**2,
        potential=k * (3 * x_B - 2 * x_A) ** 2 / 2,
        scene=[
            scene.Ground([0, 0], [0, 1]),
            scene.Disc([x_A, 0.3], 0.3, -x_A / 0.3),
            scene.Disc([x_B + 1.5, 0.2], 0.4, -x_B / 0.2),
            scene.Hoop([x_B + 1.5, 0.2], 0.2),
            scene.Spring([x_A, 0.6], [x_B + 1.5, 0.6], coils=12),
        ],
    )
    return Example(
        name="two-pulleys-with-spring",
        system=pulleys,
        description="Two pulleys roll on a line, one on its rim and one on its hub, joined by a thread with a spring.",
        source=_CHAPTER + "problem 7.19.",
        parameters={m_A: 1.5, m_B: 0.9, k: 30.0},
        start={x_A: 0.0, x_B: 0.1, x_A.dot: 0.0, x_B.dot: 0.0},
        h=0.005,
        until=5.0,
        invariants={"momentum of rolling along together": 3 * m_A * x_A.dot + 4 * m_B * x_B.dot},
        exact=_pulleys,
    )


# -------------------- exact motions --------------------


def _uniform(times: Any, start: Mapping[str, float], accelerations: Mapping[str, float]) -> dict[str, Any]:
    """Positions under constant accelerations."""
    import numpy as np

    t = np.asarray(times, dtype=float)
    return {q: start[q] + start[f"{q}.dot"] * t + a * t**2 / 2 for q, a in accelerations.items()}


def _harmonic(times: Any, position: float, velocity: float, rate: float) -> Any:
    """position cos(rate t) + velocity sin(rate t)/rate."""
    import numpy as np

    t = np.asarray(times, dtype=float)
    return position * np.cos(rate * t) + velocity * np.sin(rate * t) / rate


def _sliding(times: Any, p: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    fall = p["g"] * p["b"] / (p["a"] ** 2 + p["b"] ** 2)
    return _uniform(times, start, {"x": fall * p["a"], "y": -fall * p["b"]})


def _hanging(times: Any, p: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    pull = p["m2"] * p["g"] / (p["m1"] + p["m2"])
    return _uniform(times, start, {"x1": pull, "y1": 0.0, "x2": 0.0, "y2": -pull})


def _poggendorff(times: Any, p: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    m12, m13, m23 = p["m1"] * p["m2"], p["m1"] * p["m3"], p["m2"] * p["m3"]
    unit = p["g"] / (m12 + m13 + 4 * m23)
    return _uniform(times, start, {"x1": unit * (m12 + m13 - 4 * m23), "x2": unit * (m12 - 3 * m13 + 4 * m23)})


def _wedge(times: Any, p: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    return _uniform(times, start, {"X": -2 * p["g"] / 7, "s": 3 * 2**0.5 * p["g"] / 7})


def _rolling_hoop(times: Any, p: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    import math

    along = p["g"] * math.sin(p["alpha"]) / 2
    return _uniform(times, start, {"x": along, "theta": along / p["r"]})


def _discs(times: Any, p: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    import math

    rate = math.sqrt(4 * p["k"] / (3 * p["M"]))
    middle = _uniform(times, start, {"x": 2 * p["g"] * math.sin(p["beta"]) / 3})
    return middle | {"s": _harmonic(times, start["s"], start["s.dot"], rate)}


def _pulleys(times: Any, p: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """a x_A + b x_B moves uniformly, the elongation 3 x_B - 2 x_A swings; solved for x_A and x_B."""
    import math

    a, b = 3 * p["m_A"], 4 * p["m_B"]
    begin = {dot: a * start["x_A" + dot] + b * start["x_B" + dot] for dot in ("", ".dot")}
    long = {dot: 3 * start["x_B" + dot] - 2 * start["x_A" + dot] for dot in ("", ".dot")}
    rate = math.sqrt(p["k"] * (3 / p["m_B"] + 8 / (3 * p["m_A"])))
    together = _uniform(times, begin, {"": 0.0})[""]
    elongation = _harmonic(times, long[""], long[".dot"], rate)
    return {
        "x_A": (3 * together - b * elongation) / (3 * a + 2 * b),
        "x_B": (2 * together + a * elongation) / (3 * a + 2 * b),
    }
