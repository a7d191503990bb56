"""Friction that produces heat and gas that does work: systems with one entropy, after M. J. Bonich."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model import scene
from ..model.coordinates import coordinates, entropies, parameters
from ..model.substances import constant_heat_capacity, ideal_gas
from ..model.system import System
from .example import Example
from .oscillators import _damped

GAS = 8.314462618
"""The gas constant in J/(mol K)."""

_BONICH = (
    "M. J. Bonich, Sistemas termomecanicos lagrangianos continuos y discretos: un primer enfoque, "
    "Universidad Nacional del Comahue, "
)


def cart_with_friction() -> Example:
    """L = m v^2/2 - nu T0 exp(S/nu), friction -mu v: all its work warms the chassis, of heat capacity nu.

    m x.dot + mu x is conserved, whatever the temperature.
    """
    x, S = coordinates("x"), entropies("S")
    m, mu, nu, T0 = parameters("m mu nu T0", positive=True)
    cart = System(
        "cart with friction",
        [x],
        kinetic=m * x.dot**2 / 2,
        entropies=[S],
        internal_energy=constant_heat_capacity(nu, T0).energy(S),
        friction={x: -mu * x.dot},
        scene=[
            scene.Ground([0, 0], [0, 1]),
            scene.Gas([x - 0.3, 0.3], [x + 0.3, 0.3], 0.3, constant_heat_capacity(nu, T0).energy(S).diff(S)),
            scene.Wheel([x - 0.2, 0.1], 0.1, -10 * x),
            scene.Wheel([x + 0.2, 0.1], 0.1, -10 * x),
            scene.Vector([x, 0.3], [x.dot, 0]),
        ],
    )
    return Example(
        name="cart-with-friction",
        system=cart,
        description="A cart whose axles rub against its insulated chassis: it comes to rest, and all its kinetic energy "
        "has become internal energy of the chassis.",
        source=_BONICH + "chapter 4, section 1; H. Cendra, S. Grillo, M. Palacios Amaya, Elementary thermo-mechanical "
        "systems and higher order constraints, Qual. Theory Dyn. Syst. 19, 2020, example 2.1.",
        parameters={m: 5.0, mu: 3.0, nu: 1.0, T0: 300.0},
        start={x: 0.0, x.dot: 2.0, S: 0.0},
        h=0.02,
        until=10.0,
        invariants={"momentum and friction together": m * x.dot + mu * x},
        exact=_braked,
    )


def newton_cooling() -> Example:
    """L = m v^2/2 - nu T0 exp(S/nu), friction -mu v, heat k (T_e - T) from the surroundings of temperature T_e.

    Without friction, or at rest, this is Newton's law of cooling: T - T_e falls as exp(-k t/nu).
    """
    x, S = coordinates("x"), entropies("S")
    m, nu, T0, T_e, k = parameters("m nu T0 T_e k", positive=True)
    mu = parameters("mu", nonnegative=True)
    body = System(
        "body in Newton cooling",
        [x],
        kinetic=m * x.dot**2 / 2,
        entropies=[S],
        internal_energy=constant_heat_capacity(nu, T0).energy(S),
        friction={x: -mu * x.dot},
        conduction={(S, T_e): k},
        scene=[
            scene.Ground([0, 0], [0, 1]),
            scene.Gas([x - 0.3, 0.15], [x + 0.3, 0.15], 0.3, constant_heat_capacity(nu, T0).energy(S).diff(S)),
            scene.Vector([x, 0.15], [x.dot, 0]),
        ],
    )
    return Example(
        name="newton-cooling",
        system=body,
        description="A hot body that slides to rest in cool air: friction warms it, the air takes the heat away.",
        source="H. B. Callen, Thermodynamics and an Introduction to Thermostatistics, 2nd ed., Wiley, 1985; "
        "Newton's law of cooling.",
        parameters={m: 5.0, mu: 3.0, nu: 1.0, T0: 300.0, T_e: 280.0, k: 0.5},
        start={x: 0.0, x.dot: 2.0, S: 0.2},
        h=0.02,
        until=12.0,
        invariants={"momentum and friction together": m * x.dot + mu * x},
        exact=_braked,
    )


def _braked(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """nu T.dot = mu v^2 + k (T_e - T) with v = v0 exp(-a t), a = mu/m.

    With b = k/nu: T = T(0) + (T_e - T(0)) (1 - exp(-b t)) + (mu v0^2/nu) D, where D is the integral over s from 0 to t
    of exp(-2 a s - b (t - s)).
    """
    import numpy as np

    t = np.asarray(times, dtype=float)
    m, mu, nu = parameters["m"], parameters["mu"], parameters["nu"]
    a, b, v = mu / m, parameters.get("k", 0.0) / nu, start["x.dot"]
    hot = parameters["T0"] * np.exp(start["S"] / nu)
    gap = parameters.get("T_e", hot) - hot
    rise = -gap * np.expm1(-b * t) + mu * v**2 / nu * np.exp(-b * t) * _ramp(2 * a - b, t)
    return {"x": start["x"] + v * _ramp(a, t), "S": start["S"] + nu * np.log1p(rise / hot)}


def _ramp(rate: complex, t: Any) -> Any:
    """The integral of exp(-rate s) over s from 0 to t, for every rate."""
    import numpy as np

    return t if rate == 0 else -np.expm1(-rate * t) / rate


def spring_in_gas() -> Example:
    """L = m v^2/2 - eta x^2/2 - U0 exp(alpha (S - S0)), friction -lam v: the damped spring, its heat kept in a gas.

    alpha = 2/(3 R N) for N moles of a monatomic gas at constant volume.
    """
    x, S = coordinates("x"), entropies("S")
    m, eta, U0, alpha = parameters("m eta U0 alpha", positive=True)
    lam = parameters("lam", nonnegative=True)
    S0 = parameters("S0")
    # The reference volume is the volume itself, and N R = 2/(3 alpha).
    gas = ideal_gas(3, N=1, R=2 / (3 * alpha), U0=U0, S0=S0)
    spring = System(
        "spring and mass in an adiabatic gas",
        [x],
        kinetic=m * x.dot**2 / 2,
        potential=eta * x**2 / 2,
        entropies=[S],
        internal_energy=gas.energy(S, 1),
        friction={x: -lam * x.dot},
        scene=[
            scene.Gas([-0.8, 0], [0.6, 0], 0.5, gas.energy(S, 1).diff(S)),
            scene.Spring([-0.8, 0], [x, 0]),
            scene.Box([x, 0], [0.12, 0.12]),
        ],
    )
    return Example(
        name="spring-in-gas",
        system=spring,
        description="A mass on a spring that swings in an insulated box of gas: what the swing loses by friction, "
        "the gas gains.",
        source=_BONICH + "examples 3.11 and 3.21.",
        parameters={m: 2.0, eta: 2.0, lam: 0.3, U0: 1.5e-3 * GAS * 300, alpha: 2 / (3e-3 * GAS), S0: 0.0},
        start={x: 0.3, x.dot: 0.0, S: 0.0},
        h=0.05,
        until=40.0,
        exact=_warmed,
    )


def _warmed(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """x of the damped spring; the internal energy is what the mechanical energy has lost."""
    import numpy as np

    x, v = _damped(times, parameters, start)["x"], _damped_velocity(times, parameters, start)
    m, eta, alpha = parameters["m"], parameters["eta"], parameters["alpha"]
    lost = m * (start["x.dot"] ** 2 - v**2) / 2 + eta * (start["x"] ** 2 - x**2) / 2
    first = parameters["U0"] * np.exp(alpha * (start["S"] - parameters["S0"]))
    return {"x": x, "S": start["S"] + np.log1p(lost / first) / alpha}


def _damped_velocity(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> Any:
    """The velocity of a damped spring obeys the same equation as its position."""
    m, eta, lam = parameters["m"], parameters["eta"], parameters["lam"]
    first = {"x": start["x.dot"], "x.dot": -(eta * start["x"] + lam * start["x.dot"]) / m}
    return _damped(times, parameters, first)["x"]


def spring_against_gas() -> Example:
    """L = m v^2/2 - k (l - x)^2/2 - U(S, A (l - x)): a monatomic gas of energy U(S, V) behind a wall on a spring.

    The force on the wall is k (l - x) - A P. lam is friction of the wall that warms the gas; without it S is constant.
    """
    x, S = coordinates("x"), entropies("S")
    m, k, l, A, N, R, T0, V0 = parameters("m k l A N R T0 V0", positive=True)
    lam = parameters("lam", nonnegative=True)
    gas = ideal_gas(3, N=N, T0=T0, V0=V0, R=R)
    wall = System(
        "spring against gas",
        [x],
        kinetic=m * x.dot**2 / 2,
        potential=k * (l - x) ** 2 / 2,
        entropies=[S],
        internal_energy=gas.energy(S, A * (l - x)),
        friction={x: -lam * x.dot},
        scene=[
            scene.Ground([0, 0], [1, 0]),
            scene.Spring([0, 0], [x, 0]),
            scene.Gas([x, 0], [l, 0], 0.4 * l, gas.energy(S, A * (l - x)).diff(S)),
            scene.Rod([x, -0.2 * l], [x, 0.2 * l], width=2),
        ],
    )
    return Example(
        name="spring-against-gas",
        system=wall,
        description="A movable wall between a spring and an insulated gas: the gas is a second spring that becomes warmer "
        "when it is pressed, while its entropy stays.",
        source=_BONICH + "chapter 4, section 2.",
        parameters={m: 1.0, k: 300.0, l: 1.0, A: 0.01, N: 0.04, R: GAS, T0: 300.0, V0: 0.005, lam: 0.0},
        start={x: 0.4, x.dot: 0.0, S: 0.0},
        h=0.002,
        until=4.0,
    )


def spring_against_gas_reduced() -> Example:
    """L = m v^2/2 - W(x), W = k (l - x)^2/2 + (3/2) xi A^(-2/3) (l - x)^(-2/3): the gas as a spring, P V^(5/3) = xi.

    The system that remains when the equations of state are solved; T, P and U follow from x.
    """
    from sympy import Rational

    x = coordinates("x")
    m, k, l, A, xi = parameters("m k l A xi", positive=True)
    two_thirds = Rational(2, 3)
    wall = System(
        "spring against gas, reduced by the equations of state",
        [x],
        kinetic=m * x.dot**2 / 2,
        potential=k * (l - x) ** 2 / 2 + xi * A**-two_thirds * (l - x) ** -two_thirds * 3 / 2,
        scene=[
            scene.Ground([0, 0], [1, 0]),
            scene.Spring([0, 0], [x, 0]),
            scene.Gas([x, 0], [l, 0], 0.4 * l, (l - x) ** -two_thirds),
            scene.Rod([x, -0.2 * l], [x, 0.2 * l], width=2),
        ],
    )
    # xi = N R T0 V0^(2/3) of spring-against-gas at S = 0.
    return Example(
        name="spring-against-gas-reduced",
        system=wall,
        description="The wall between a spring and a gas as a system of mechanics alone: the gas has become a potential.",
        source=_BONICH + "chapter 4, section 2, equations (4.14) and (4.15).",
        parameters={m: 1.0, k: 300.0, l: 1.0, A: 0.01, xi: 0.04 * GAS * 300 * 0.005 ** (2 / 3)},
        start={x: 0.4, x.dot: 0.0},
        h=0.002,
        until=4.0,
    )
