"""Motion, friction and heat together: gases, conductors, constraints, and friction that depends on temperature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import cos, exp, log, pi, sin, sqrt

from ..model import scene
from ..model.bodies import turns
from ..model.coordinates import coordinates, entropies, parameters
from ..model.substances import constant_heat_capacity, ideal_gas
from ..model.system import System
from .example import Example, hung
from .thermal import GAS, _ramp

_SIMPLE_SYSTEMS = (
    "F. Gay-Balmaz, H. Yoshimura, A Lagrangian variational formulation for nonequilibrium thermodynamics. Part I: "
    "discrete systems, J. Geom. Phys. 111, 2017."
)
_TOP = "H. Goldstein, Classical Mechanics, 2nd ed., Addison-Wesley, 1980, section 5-7"


def two_gas_chambers() -> Example:
    """L = m v^2/2 - U1(S1, A x) - U2(S2, A (l - x)): a piston between two monatomic gases, which conducts heat.

    The friction lam v of the piston warms both gases equally; k is the conductance of the piston. In the end both have
    the temperature E/((3/2) R (N1 + N2)), and the piston stands where the pressures are equal: x = l N1/(N1 + N2).
    """
    x, (S1, S2) = coordinates("x"), entropies("S1 S2")
    m, A, l, N1, N2, R, T0, V0 = parameters("m A l N1 N2 R T0 V0", positive=True)
    lam, k = parameters("lam k", nonnegative=True)
    left, right = (ideal_gas(3, N=N, T0=T0, V0=V0, R=R) for N in (N1, N2))
    cylinder = System(
        "two gas chambers",
        [x],
        kinetic=m * x.dot**2 / 2,
        entropies=[S1, S2],
        internal_energy=left.energy(S1, A * x) + right.energy(S2, A * (l - x)),
        friction={S1: {x: -lam * x.dot / 2}, S2: {x: -lam * x.dot / 2}},
        conduction={(S1, S2): k},
        scene=[
            scene.Gas([0, 0], [x, 0], 0.4 * l, left.energy(S1, A * x).diff(S1)),
            scene.Gas([x, 0], [l, 0], 0.4 * l, right.energy(S2, A * (l - x)).diff(S2)),
            scene.Rod([x, -0.2 * l], [x, 0.2 * l], width=2),
        ],
    )
    return Example(
        name="two-gas-chambers",
        system=cylinder,
        description="A piston that moves and conducts heat, between two gases in an insulated cylinder: the energy stays, "
        "the entropy rises to its maximum, where pressures and temperatures are equal.",
        source=_SIMPLE_SYSTEMS
        + " Its adiabatic piston, with conduction; H. B. Callen, Thermodynamics and an Introduction "
        "to Thermostatistics, 2nd ed., Wiley, 1985, section 2-7.",
        parameters={m: 5.0, A: 0.01, l: 1.0, N1: 0.3, N2: 0.1, R: GAS, T0: 300.0, V0: 0.005, lam: 60.0, k: 2.0},
        start={x: 0.6, x.dot: 0.0, S1: 0.0, S2: 0.4},
        h=0.002,
        until=5.0,
    )


def friction_heated_pendulum() -> Example:
    """L = m l^2 w^2/2 + m g l cos(theta) - nu T0 exp(S/nu), friction -c (T0/T)^n w in the bearing, w = theta.dot.

    The oil of the bearing becomes thinner as it warms, so the swing dies away more slowly than in cold oil.
    """
    theta, S = coordinates("theta"), entropies("S")
    m, l, g, nu, T0 = parameters("m l g nu T0", positive=True)
    c, n = parameters("c n", nonnegative=True)
    oil = constant_heat_capacity(nu, T0)
    pendulum = System(
        "friction-heated pendulum",
        [theta],
        kinetic=m * l**2 * theta.dot**2 / 2,
        potential=-m * g * l * cos(theta),
        entropies=[S],
        internal_energy=oil.energy(S),
        friction={theta: -c * exp(-n * S / nu) * theta.dot},
        scene=[
            scene.Gas([-0.1 * l, 0], [0.1 * l, 0], 0.2 * l, oil.energy(S).diff(S)),
            scene.Rod([0, 0], hung(l, theta)),
            scene.Point(hung(l, theta), size=1.4),
            scene.Trail(hung(l, theta), fraction=0.1),
        ],  # T0/T = exp(-S/nu)
    )
    return Example(
        name="friction-heated-pendulum",
        system=pendulum,
        description="A pendulum whose bearing warms and so rubs less: the motion feels the temperature.",
        source=_SIMPLE_SYSTEMS,
        parameters={m: 1.0, l: 1.0, g: 9.81, nu: 0.2, T0: 300.0, c: 0.5, n: 8.0},
        start={theta: 2.5, theta.dot: 0.0, S: 0.0},
        h=0.01,
        until=20.0,
    )


def thermoelastic_double_pendulum() -> Example:
    """Two masses in a plane, the first tied to the origin and the second to the first by springs that warm and cool.

    A spring of length r and temperature T has the energy C log(r/a)^2/2 + b T0 log(r/a) + nu (T - T0), where
    T = T0 exp((S - b log(r/a))/nu): b is thermal expansion, and where b > 0 a spring that is stretched cools. Heat is
    conducted between the springs; nothing else is irreversible.
    """
    x1, y1, x2, y2 = coordinates("x1 y1 x2 y2")
    S1, S2 = entropies("S1 S2")
    m1, m2, a, C, b, nu, T0 = parameters("m1 m2 a C b nu T0", positive=True)
    k = parameters("k", nonnegative=True)

    def spring(S: Any, x: Any, y: Any) -> Any:
        stretch = log(sqrt(x**2 + y**2) / a)
        T = T0 * exp((S - b * stretch) / nu)
        return C * stretch**2 / 2 + b * T0 * stretch + nu * (T - T0)

    pendulum = System(
        "thermoelastic double pendulum",
        [x1, y1, x2, y2],
        kinetic=m1 * (x1.dot**2 + y1.dot**2) / 2 + m2 * (x2.dot**2 + y2.dot**2) / 2,
        entropies=[S1, S2],
        internal_energy=spring(S1, x1, y1) + spring(S2, x2 - x1, y2 - y1),
        conduction={(S1, S2): k},
        scene=[
            scene.Spring([0, 0], [x1, y1]),
            scene.Spring([x1, y1], [x2, y2]),
            scene.Point([0, 0], size=0.6),
            scene.Point([x1, y1]),
            scene.Point([x2, y2], size=1.3),
            scene.Trail([x1, y1], fraction=0.1),
            scene.Trail([x2, y2], fraction=0.1),
        ],
    )
    return Example(
        name="thermoelastic-double-pendulum",
        system=pendulum,
        description="Two masses whirling on two springs that are warmed by pressing, cooled by stretching, and exchange "
        "heat. Energy and angular momentum stay, the entropy rises.",
        source="I. Romero, Thermodynamically consistent time-stepping algorithms for non-linear thermomechanical systems, "
        "Int. J. Numer. Meth. Engng 79, 2009.",
        parameters={m1: 1.0, m2: 2.0, a: 1.0, C: 300.0, b: 0.2, nu: 1.0, T0: 300.0, k: 2.0},
        start={
            **{x1: 1.1, y1: 0.0, x2: 2.2, y2: 0.3, x1.dot: 0.0, y1.dot: 2.0, x2.dot: -0.5, y2.dot: 1.0},
            **{S1: 0.1, S2: 0.0},
        },
        h=0.005,
        until=10.0,
        invariants={"angular momentum": m1 * (x1 * y1.dot - y1 * x1.dot) + m2 * (x2 * y2.dot - y2 * x2.dot)},
    )


def rolling_disk_with_friction() -> Example:
    """The vertical rolling disk with rolling friction -c theta.dot, which warms the disk, of heat capacity nu.

    (I + m R^2) theta.dot + c theta is conserved. The heading turns uniformly, so the trace is a spiral:
    x + i y moves by R theta.dot(0) exp(i phi(0)) (1 - exp((i phi.dot - a) t))/(a - i phi.dot), a = c/(I + m R^2).
    """
    x, y, theta, phi = coordinates("x y theta phi")
    S = entropies("S")
    m, I, J, R, nu, T0 = parameters("m I J R nu T0", positive=True)
    c = parameters("c", nonnegative=True)
    disk = System(
        "rolling disk with friction",
        [x, y, theta, phi],
        kinetic=m * (x.dot**2 + y.dot**2) / 2 + I * theta.dot**2 / 2 + J * phi.dot**2 / 2,
        entropies=[S],
        internal_energy=constant_heat_capacity(nu, T0).energy(S),
        friction={theta: -c * theta.dot},
        constraints=[x.dot - R * cos(phi) * theta.dot, y.dot - R * sin(phi) * theta.dot],
        scene=[
            scene.Ground([0, 0, 0], [0, 0, 1]),
            scene.Disc([x, y, R], R, turns("zxz", phi, pi / 2, -theta)),
            scene.Trail([x, y, 0], fraction=1.0),
        ],
    )
    return Example(
        name="rolling-disk-with-friction",
        system=disk,
        description="An upright disk that rolls without slipping and is slowed by rolling friction, which warms it: "
        "its trace winds up into a spiral.",
        source="M. J. Bonich, Sistemas termomecanicos lagrangianos continuos y discretos, Universidad Nacional del "
        "Comahue, example 2.28, with the friction that chapter 4 leaves out.",
        parameters={m: 2.0, I: 0.25, J: 0.125, R: 0.5, nu: 0.05, T0: 300.0, c: 0.1},
        start={x: 0.0, y: 0.0, theta: 0.0, phi: 0.0, x.dot: 2.0, y.dot: 0.0, theta.dot: 4.0, phi.dot: 0.8, S: 0.0},
        h=0.04,
        until=40.0,
        invariants={
            "heading momentum": J * phi.dot,
            "rolling momentum and friction": m * R * (cos(phi) * x.dot + sin(phi) * y.dot) + I * theta.dot + c * theta,
        },
        exact=_spiral,
    )


def _spiral(times: Any, parameters: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    import numpy as np

    t = np.asarray(times, dtype=float)
    inertia = parameters["I"] + parameters["m"] * parameters["R"] ** 2
    a, w, roll = parameters["c"] / inertia, start["phi.dot"], start["theta.dot"]
    trace = parameters["R"] * roll * np.exp(1j * start["phi"]) * _ramp(a - 1j * w, t)
    hot = parameters["T0"] * np.exp(start["S"] / parameters["nu"])
    lost = -inertia * roll**2 / 2 * np.expm1(-2 * a * t)
    return {
        "x": start["x"] + trace.real,
        "y": start["y"] + trace.imag,
        "theta": start["theta"] + roll * _ramp(a, t),
        "phi": start["phi"] + w * t,
        "S": start["S"] + parameters["nu"] * np.log1p(lost / (parameters["nu"] * hot)),
    }


def heavy_top_in_fluid() -> Example:
    """A symmetric top on its point, in a fluid that it warms; Euler angles phi (precession), theta (tilt), psi (spin).

    L = A (theta.dot^2 + phi.dot^2 sin(theta)^2)/2 + C (psi.dot + phi.dot cos(theta))^2/2 - M g l cos(theta) - nu T. The
    torque of the fluid is -c (T0/T)^n times the angular velocity: warm fluid is thin.
    """
    phi, theta, psi = coordinates("phi theta psi")
    S = entropies("S")
    A, C, M, g, l, nu, T0 = parameters("A C M g l nu T0", positive=True)
    c, n = parameters("c n", nonnegative=True)
    spin = psi.dot + phi.dot * cos(theta)
    across = theta.dot**2 + phi.dot**2 * sin(theta) ** 2
    rayleigh = c * exp(-n * S / nu) * (across + spin**2) / 2
    tip = [1.7 * l * sin(theta) * sin(phi), -1.7 * l * sin(theta) * cos(phi), 1.7 * l * cos(theta)]
    top = System(
        "heavy top in a viscous fluid",
        [phi, theta, psi],
        kinetic=A * across / 2 + C * spin**2 / 2,
        potential=M * g * l * cos(theta),
        entropies=[S],
        internal_energy=constant_heat_capacity(nu, T0).energy(S),
        friction={q: -rayleigh.diff(q.dot) for q in (phi, theta, psi)},
        scene=[
            scene.Ground([0, 0, 0], [0, 0, 1]),
            scene.Rod([0, 0, 0], tip),
            scene.Disc(
                [l * sin(theta) * sin(phi), -l * sin(theta) * cos(phi), l * cos(theta)],
                0.8 * l,
                turns("zxz", phi, theta, psi),
            ),
            scene.Trail(tip),
        ],
    )
    return Example(
        name="heavy-top-in-fluid",
        system=top,
        description="A spinning top that the fluid around it slows down until it falls; the fluid becomes warmer and so "
        "thinner.",
        source=_TOP + ", with friction; " + _SIMPLE_SYSTEMS,
        parameters={A: 0.02, C: 0.01, M: 0.5, g: 9.81, l: 0.1, nu: 0.1, T0: 300.0, c: 3e-3, n: 5.0},
        start={phi: 0.0, theta: 0.4, psi: 0.0, phi.dot: 0.5, theta.dot: 0.0, psi.dot: 40.0, S: 0.0},
        h=0.002,
        until=5.0,
    )
