"""One mass on a spring, without and with friction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import scene
from ..model.coordinates import coordinates, parameters
from ..model.system import System
from .example import Example


def harmonic_oscillator() -> Example:
    """L = m v^2/2 - k x^2/2."""
    x = coordinates("x")
    m, k = parameters("m k", positive=True)
    return Example(
        name="harmonic-oscillator",
        system=System(
            "harmonic oscillator",
            [x],
            kinetic=m * x.dot**2 / 2,
            potential=k * x**2 / 2,
            scene=[scene.Ground([-1.6, 0], [1, 0]), scene.Spring([-1.6, 0], [x, 0]), scene.Box([x, 0], [0.3, 0.3])],
        ),
        description="A mass on a linear spring: every motion has the same period, whatever its size.",
        source="H. Goldstein, Classical Mechanics, 2nd ed., Addison-Wesley, 1980.",
        parameters={m: 0.5, k: 2.0},
        start={x: 1.0, x.dot: 0.5},
        h=0.05,
        until=60.0,
        exact=_harmonic,
    )


def _harmonic(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    import numpy as np

    t = np.asarray(times, dtype=float)
    omega = np.sqrt(parameters["k"] / parameters["m"])
    return {"x": start["x"] * np.cos(omega * t) + start["x.dot"] / omega * np.sin(omega * t)}


def damped_spring() -> Example:
    """L = m v^2/2 - eta x^2/2, friction -lam v: the Rayleigh function is lam v^2/2."""
    x = coordinates("x")
    m, eta = parameters("m eta", positive=True)
    lam = parameters("lam", nonnegative=True)
    spring = System(
        "damped spring",
        [x],
        kinetic=m * x.dot**2 / 2,
        potential=eta * x**2 / 2,
        dissipation=lam * x.dot**2 / 2,
        scene=[scene.Ground([-0.6, 0], [1, 0]), scene.Spring([-0.6, 0], [x, 0]), scene.Box([x, 0], [0.1, 0.1])],
    )
    return Example(
        name="damped-spring",
        system=spring,
        description="A mass on a spring of stiffness eta, with friction lam times the velocity. "
        "It swings to rest if lam^2 < 4 eta m and creeps to rest otherwise.",
        source="M. J. Bonich, Sistemas termomecanicos lagrangianos continuos y discretos, "
        "Universidad Nacional del Comahue, examples 2.16 and 2.22.",
        parameters={m: 2.0, eta: 2.0, lam: 0.3},
        start={x: 0.3, x.dot: 0.0},
        h=0.1,
        until=60.0,
        exact=_damped,
    )


def _damped(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """x = x0 C + (v0 + b x0) S, b = lam/2m.

    C and S are exp(-b t) times a cosine and a sine, a hyperbolic cosine and sine, or 1 and t.
    """
    import numpy as np

    t = np.asarray(times, dtype=float)
    b = parameters["lam"] / (2 * parameters["m"])
    stiffness = parameters["eta"] / parameters["m"]
    excess = b**2 - stiffness
    rate = np.sqrt(abs(excess))
    if excess < 0:
        c, s = np.exp(-b * t) * np.cos(rate * t), np.exp(-b * t) * np.sin(rate * t) / rate
    elif excess == 0:
        c, s = np.exp(-b * t), np.exp(-b * t) * t
    else:
        # Written with the decay rates themselves: cosh would overflow long before exp(-b t) cosh is small.
        slow, fast = np.exp(-stiffness / (b + rate) * t), np.exp(-(b + rate) * t)
        c, s = (slow + fast) / 2, -slow * np.expm1(-2 * rate * t) / (2 * rate)
    return {"x": start["x"] * c + (start["x.dot"] + b * start["x"]) * s}


def circulatory_oscillator() -> Example:
    """L = (x.dot^2 + y.dot^2)/2 - alpha (x^2 + y^2)/2, friction -2 mu v, and the circulatory force (beta y, -beta x)."""
    x, y = coordinates("x y")
    mu, alpha, beta = parameters("mu alpha beta", positive=True)
    oscillator = System(
        "damped circulatory oscillator",
        [x, y],
        kinetic=(x.dot**2 + y.dot**2) / 2,
        potential=alpha * (x**2 + y**2) / 2,
        dissipation=mu * (x.dot**2 + y.dot**2),
        forces={x: beta * y, y: -beta * x},
        scene=[
            scene.Spring([0, 0], [x, y]),
            scene.Point([0, 0], size=0.6),
            scene.Point([x, y], size=1.4),
            scene.Vector([x, y], [beta * y, -beta * x], kind="force"),
            scene.Trail([x, y]),
        ],
    )
    return Example(
        name="circulatory-oscillator",
        system=oscillator,
        description="A point on a spring with friction and a force across its position, as on a shaft in its bearings. "
        "Friction and this force have no potential, yet its equations are those of a Lagrangian times a matrix: "
        "dalembert.inverse.lagrangian. It swings to rest if beta < 2 mu sqrt(alpha), and grows otherwise.",
        source="R. Ramirez, Sobre los sistemas mecanicos con enlaces, Barcelona, 1990, section 5, example 3.",
        parameters={mu: 0.1, alpha: 4.0, beta: 0.25},
        start={x: 1.0, y: 0.0, x.dot: 0.0, y.dot: 0.5},
        h=0.05,
        until=40.0,
        exact=_circulating,
    )


def _circulating(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """z = x + i y obeys z'' + 2 mu z' + (alpha + i beta) z = 0."""
    import numpy as np

    t = np.asarray(times, dtype=float)
    root = np.sqrt(parameters["mu"] ** 2 - parameters["alpha"] - 1j * parameters["beta"])
    first, second = -parameters["mu"] + root, -parameters["mu"] - root
    z, v = start["x"] + 1j * start["y"], start["x.dot"] + 1j * start["y.dot"]
    a = (v - second * z) / (first - second)
    motion = a * np.exp(first * t) + (z - a) * np.exp(second * t)
    return {"x": motion.real, "y": motion.imag}
