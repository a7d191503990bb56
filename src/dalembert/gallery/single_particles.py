"""One particle: about a centre, in a magnetic field, on a spring, also with a nonholonomic constraint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import sqrt

from ..model import scene
from ..model.coordinates import coordinates, parameters
from ..model.system import System
from .example import Example

_TORI = (
    "C. I. Tori, Reduccion lagrangiana de sistemas mecanicos discretos con vinculos no holonomos, "
    "Universidad Nacional de La Plata, 2010, "
)


def kepler() -> Example:
    """L = m (x.dot^2 + y.dot^2)/2 + m mu/r, r = sqrt(x^2 + y^2); mu is G times the central mass."""
    x, y = coordinates("x y")
    m, mu = parameters("m mu", positive=True)
    r = sqrt(x**2 + y**2)
    momentum = m * (x * y.dot - y * x.dot)
    orbit = System(
        "Kepler problem",
        [x, y],
        kinetic=m * (x.dot**2 + y.dot**2) / 2,
        potential=-m * mu / r,
        scene=[
            scene.Point([0, 0], size=2.2, colour="#b8860b"),
            scene.Point([x, y], size=1.2),
            scene.Trail([x, y]),
            scene.Vector([x, y], [x.dot, y.dot]),
        ],
    )
    return Example(
        name="kepler",
        system=orbit,
        description="A particle attracted by a fixed centre with the inverse square of the distance. "
        "It starts at the pericentre of an ellipse of eccentricity 0.6 and period 2 pi.",
        source="E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., Springer, 2006, "
        "section I.2; H. Goldstein, Classical Mechanics, chapter 3, for the Laplace-Runge-Lenz vector.",
        parameters={m: 0.5, mu: 1.0},
        start={x: 0.4, y: 0.0, x.dot: 0.0, y.dot: 2.0},
        h=0.02,
        until=100.0,
        invariants={
            "angular momentum": momentum,
            "Laplace-Runge-Lenz vector, x": m * y.dot * momentum - m**2 * mu * x / r,
            "Laplace-Runge-Lenz vector, y": -m * x.dot * momentum - m**2 * mu * y / r,
        },
        exact=_conic,
    )


def charged_particle() -> Example:
    """L = m v^2/2 + q v.A with A = B (-y, x, 0)/2, the symmetric gauge of a uniform field B along z."""
    x, y, z = coordinates("x y z")
    m = parameters("m", positive=True)
    q, B = parameters("q B")
    helix = System(
        "charged particle in a magnetic field",
        [x, y, z],
        lagrangian=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2 + q * B * (x * y.dot - y * x.dot) / 2,
        scene=[
            scene.Ground([0, 0, 0], [0, 0, 1]),
            scene.Point([x, y, z]),
            scene.Trail([x, y, z], fraction=0.5),
            scene.Vector([x, y, z], [x.dot, y.dot, z.dot]),
        ],
    )
    return Example(
        name="charged-particle",
        system=helix,
        description="A particle of charge q in a uniform magnetic field B along z: a helix.",
        source="L. D. Landau, E. M. Lifshitz, The Classical Theory of Fields, section 21 "
        "(here in SI units, at low speed).",
        parameters={m: 0.5, q: 1.0, B: 2.0},
        start={x: 0.5, y: 0.0, z: 0.0, x.dot: 1.0, y.dot: 2.0, z.dot: 0.3},
        h=0.02,
        until=40.0,
        invariants={
            "momentum of translations along x": m * x.dot - q * B * y,
            "momentum of translations along y": m * y.dot + q * B * x,
            "momentum along z": m * z.dot,
            "angular momentum about z": m * (x * y.dot - y * x.dot) + q * B * (x**2 + y**2) / 2,
        },
        exact=_helix,
    )


def particle() -> Example:
    """L = m (x.dot^2 + y.dot^2 + z.dot^2)/2 - k (x^2 + y^2)/2."""
    x, y, z = coordinates("x y z")
    m, k = parameters("m k", positive=True)
    trough = System(
        "particle on a planar spring",
        [x, y, z],
        kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2,
        potential=k * (x**2 + y**2) / 2,
        scene=[
            scene.Rod([0, 0, z - 2], [0, 0, z + 2], width=0.3),
            scene.Spring([0, 0, z], [x, y, z], coils=6),
            scene.Point([x, y, z]),
            scene.Trail([x, y, z], fraction=0.1),
        ],
    )
    return Example(
        name="particle",
        system=trough,
        description="A particle in space held to the z axis by a spring and free along it.",
        source=_TORI + "examples 4.1.1 and 4.2.1.",
        parameters={m: 1.0, k: 1.0},
        start={x: 1.0, y: 0.3, z: -0.2, x.dot: 0.2, y.dot: -0.5, z.dot: 0.7},
        h=0.05,
        until=100.0,
        invariants={
            "momentum along z": m * z.dot,
            "angular momentum about z": m * (x * y.dot - y * x.dot),
            "energy of the x motion": m * x.dot**2 / 2 + k * x**2 / 2,
            "energy of the y motion": m * y.dot**2 / 2 + k * y**2 / 2,
            "Fradkin tensor, xy": m * x.dot * y.dot + k * x * y,
        },
        exact=_trough,
    )


def nonholonomic_particle() -> Example:
    """L = m (x.dot^2 + y.dot^2 + z.dot^2)/2 - k (x^2 + y^2)/2 with z.dot = y x.dot."""
    x, y, z = coordinates("x y z")
    m, k = parameters("m k", positive=True)
    constrained = System(
        "nonholonomic particle",
        [x, y, z],
        kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2,
        potential=k * (x**2 + y**2) / 2,
        constraints=[z.dot - y * x.dot],
        scene=[
            scene.Point([x, y, z]),
            scene.Trail([x, y, z], fraction=0.2),
            scene.Axes([0, 0, 0], 0, 1),
            scene.Vector([x, y, z], [x.dot, y.dot, z.dot]),
        ],
    )
    return Example(
        name="nonholonomic-particle",
        system=constrained,
        description="The particle on a planar spring with z.dot = y x.dot, which cannot be integrated. "
        "The reaction has no y component, so y remains a harmonic oscillator.",
        source=_TORI + "example 4.3.1.",
        parameters={m: 1.0, k: 1.0},
        start={x: 1.0, y: 0.5, z: 0.0, x.dot: 0.2, y.dot: -0.5, z.dot: 0.1},
        h=0.05,
        until=100.0,
        invariants={
            "energy of the y motion": m * y.dot**2 / 2 + k * y**2 / 2,
            "energy of the x and z motion": m * (x.dot**2 + z.dot**2) / 2 + k * x**2 / 2,
        },
    )


def _helix(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """The velocity turns at the rate -q B/m; along and across are the integrals of its cosine and sine."""
    import numpy as np

    t = np.asarray(times, dtype=float)
    half = parameters["q"] * parameters["B"] / parameters["m"] * t / 2
    chord = t * np.sinc(half / np.pi)
    along, across = chord * np.cos(half), chord * np.sin(half)
    return {
        "x": start["x"] + start["x.dot"] * along + start["y.dot"] * across,
        "y": start["y"] + start["y.dot"] * along - start["x.dot"] * across,
        "z": start["z"] + start["z.dot"] * t,
    }


def _trough(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    import numpy as np

    t = np.asarray(times, dtype=float)
    omega = np.sqrt(parameters["k"] / parameters["m"])
    c, s = np.cos(omega * t), np.sin(omega * t) / omega
    return {
        "x": start["x"] * c + start["x.dot"] * s,
        "y": start["y"] * c + start["y.dot"] * s,
        "z": start["z"] + start["z.dot"] * t,
    }


def _conic(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """Kepler motion on any conic, in the variable s with dt = r ds, counted from the pericentre.

    r = q + mu e G2(s) and t = q s + mu e G3(s): Kepler's equation in a universal variable (R. H. Battin,
    An Introduction to the Mathematics and Methods of Astrodynamics, 1999). A radial motion is right until it
    falls into the centre.
    """
    import numpy as np

    t = np.asarray(times, dtype=float)
    mu, x, y, u, v = parameters["mu"], start["x"], start["y"], start["x.dot"], start["y.dot"]
    r, sigma, momentum = np.hypot(x, y), x * u + y * v, x * v - y * u
    beta = 2 * mu / r - u**2 - v**2  # minus twice the energy per mass: positive on an ellipse
    e = np.hypot(v * momentum / mu - x / r, -u * momentum / mu - y / r)
    q = momentum**2 / (mu * (1 + e))
    root = np.sqrt(abs(beta))
    if beta > 0:
        s0 = np.arctan2(sigma * root, mu - r * beta) / root
    elif beta < 0:
        s0 = np.arcsinh(sigma * root / (mu * e)) / root
    else:
        s0 = sigma / mu
    s = _kepler_equation(t + q * s0 + mu * e * _universal(s0, beta)[2], q, beta, e, mu) - s0
    g1, g2, _ = _universal(s, beta)
    f, g = 1 - mu * g2 / r, r * g1 + sigma * g2
    return {"x": f * x + g * u, "y": f * y + g * v}


def _kepler_equation(time: Any, q: float, beta: float, e: float, mu: float) -> Any:
    """The s with q s + mu e G3(s) = time since the pericentre, whole revolutions left out.

    Newton from a point that is too late and not beyond the apocentre: the left side is convex there, so the
    iterates only decrease, to the solution.
    """
    import numpy as np

    root = np.sqrt(abs(beta))
    if beta > 0:
        period = 2 * np.pi * mu / root**3
        time = time - period * np.round(time / period)
        s = np.full_like(time, np.pi / root)
    else:
        s = np.cbrt(6 * np.abs(time) / (mu * e))  # since G3 >= s^3/6
    if beta < 0:  # since sinh(w) - w >= sinh(w)/2 for w >= 2.2
        s = np.minimum(s, np.maximum(2.2, np.arcsinh(2 * np.abs(time) * root**3 / mu)) / root)
    for _ in range(100):
        _, g2, g3 = _universal(s, beta)
        correction = (q * s + mu * e * g3 - np.abs(time)) / (q + mu * e * g2)
        s = s - correction
        if np.max(np.abs(correction)) <= 4e-15 * np.max(s):
            break
    return np.copysign(s, time)


def _universal(s: Any, beta: float) -> tuple[Any, Any, Any]:
    """G1, G2, G3: sin(w), 1 - cos(w), w - sin(w) over b, b^2, b^3, with w = b s; b^2 = beta has any sign."""
    import math

    import numpy as np

    z = beta * np.square(s)
    small = np.abs(z) < 0.5  # the differences cancel there, and their series is short
    near, w = np.where(small, z, 0.0), np.sqrt(np.where(small, 1.0, np.abs(z)))
    cosine, sine = (np.cos(w), np.sin(w)) if beta > 0 else (np.cosh(w), np.sinh(w))
    c2 = sum((-near) ** k / math.factorial(2 * k + 2) for k in range(8))
    c3 = sum((-near) ** k / math.factorial(2 * k + 3) for k in range(8))
    far = np.where(small, 1.0, z)
    c2 = np.where(small, c2, (1 - cosine) / far)
    c3 = np.where(small, c3, (1 - sine / w) / far)
    return s * (1 - z * c3), s**2 * c2, s**3 * c3
