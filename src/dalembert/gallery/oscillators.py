"""One mass on a spring, without and with friction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.coordinates import coordinates, parameters
from ..model.system import System
from .example import Example


def harmonic_oscillator() -> Example:
    """L = m v^2/2 - k x^2/2."""
    x = coordinates("x")
    m, k = parameters("m k", positive=True)
    return Example(
        name="harmonic-oscillator",
        system=System("harmonic oscillator", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2),
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
