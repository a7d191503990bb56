"""Reactions, by releasing what holds: the coordinate that a constraint removed is put back, and its multiplier is read.

Places of particles are written down here once more, so that kinetic energies of the gallery are checked as well. Each
function gives the largest distance of the reactions from the printed numbers; `spoil` scales the velocities of the state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sympy import Expr, Rational, cos, cot, pi, sin, sqrt

import dalembert as da

from .measures import particles

m, M, R, l, g, k, a, b, r, A = da.parameters("m M R l g k a b r A", positive=True)
omega, Omega, alpha, beta = da.parameters("omega Omega alpha beta")
VALUES = {
    "m": 1.2, "M": 2.0, "R": 0.9, "l": 0.8, "g": 9.81, "k": 30.0, "a": 0.5, "b": 0.6, "r": 0.35, "A": 2.0,
    "omega": 3.0, "Omega": 4.0, "alpha": 0.5, "beta": 0.5,
}  # fmt: skip
rho, theta, phi, psi, x, s, n, X, eta = da.coordinates("rho theta phi psi x s n X eta")
theta1, theta2 = da.coordinates("theta1 theta2")


def held(
    coordinates: Sequence[Any], kinetic: Expr, potential: Expr, constraints: Sequence[Expr], at: Mapping[Any, float],
    forces: Mapping[Any, Expr] | None = None, spoil: float = 0.0,
) -> tuple[tuple[float, ...], dict[Any, float]]:  # fmt: skip
    """Multipliers and accelerations at a state."""
    system = da.System(
        "released", coordinates, kinetic=kinetic, potential=potential, forces=forces, constraints=constraints
    )
    scaled = {key: value * (1 + spoil) if key in system.velocities else value for key, value in at.items()}
    parameters = {p: VALUES[p.name] for p in system.parameters}
    now = da.evaluate(system, at=scaled, parameters=parameters)
    return now.multipliers, now.accelerations


def distance(found: Sequence[float], said: Sequence[float]) -> float:
    return float(np.max(np.abs(np.subtract(found, said))))


def wedge(spoil: float = 0.0) -> float:
    """7.1: the disc may leave the slope by n; normal force 5 sqrt(2) m g/7, friction 3 sqrt(2) m g/7 up the slope."""
    half = sqrt(2) / 2
    place = (X + (s + n) * half, (n - s) * half)
    kinetic = m * X.dot**2 / 2 + particles((2 * m, place), coordinates=[X, s, n]) + m * r**2 * phi.dot**2 / 2
    at = dict.fromkeys((X, s, n, phi, n.dot), 0.0) | {X.dot: 0.1, s.dot: 0.35, phi.dot: 1.0}
    (normal, friction), _ = held(
        [X, s, n, phi], kinetic, 2 * m * g * (1 + spoil) * place[1], [n, s.dot - r * phi.dot], at
    )
    return distance([normal, friction], [11.891515754, -7.134909453])


def pulled_bead(spoil: float = 0.0) -> float:
    """7.5 e: the bead may leave the hoop; F = A sin(Omega t) pulls it to O."""
    force = A * sin(Omega * da.time)
    cable = sqrt(R**2 + rho**2 + 2 * R * rho * cos(phi))
    centre = (R * sin(theta), -R * cos(theta))
    bead = (centre[0] + rho * sin(theta + phi), centre[1] - rho * cos(theta + phi))
    kinetic = M * R**2 * theta.dot**2 + particles((m, bead), coordinates=[theta, phi, rho])
    (normal,), _ = held(
        [theta, phi, rho],
        kinetic,
        M * g * centre[1] + m * g * bead[1],
        [rho - R],
        {theta: 0.3, phi: 0.6, rho: 0.9, theta.dot: 0.2, phi.dot: 0.4, rho.dot: 0.0, da.time: 0.3},
        {q: -force * cable.diff(q) for q in (phi, rho)},
        spoil,
    )
    return distance([normal], [-6.337247765])


def _in_space(radius: Expr, azimuth: Any, depth: Expr) -> tuple[Expr, ...]:
    return radius * cos(azimuth), radius * sin(azimuth), -depth


def rotating_hoop(spoil: float = 0.0) -> float:
    """7.6 c: radial reaction, and the reaction across the plane of the hoop from its torque."""
    place = _in_space(rho * sin(phi), psi, rho * cos(phi))
    (radial, torque), _ = held(
        [phi, rho, psi],
        particles((m, place), coordinates=[phi, rho, psi]),
        m * g * place[2],
        [rho - R, psi.dot - omega],
        {phi: 0.6, rho: 0.9, psi: 0.2, phi.dot: 0.4 * (1 + spoil), rho.dot: 0.0, psi.dot: 3.0},
    )
    return distance([radial, torque / (0.9 * np.sin(0.6))], [-12.987592172, 2.139269914])


def ladder(spoil: float = 0.0) -> float:
    """7.7 (4): the bead may leave the rod across it, theta.dot = omega."""
    middle = (l * sin(theta) / 2, l * cos(theta) / 2)
    bead = (middle[0] + s * sin(theta) + n * cos(theta), middle[1] - s * cos(theta) + n * sin(theta))
    q = [s, theta, n]
    kinetic = particles((m, middle), (m, bead), coordinates=q) + m * l**2 * theta.dot**2 / 24
    (normal, _), _ = held(
        q,
        kinetic,
        m * g * (middle[1] + bead[1]),
        [n, theta.dot - omega],
        {s: 0.1, theta: 0.6, n: 0.0, s.dot: 0.3 * (1 + spoil), theta.dot: 3.0, n.dot: 0.0},
    )
    return distance([normal], [4.780562345])


def turning_hoop(spoil: float = 0.0) -> float:
    """7.8: the torque for psi.dot = omega."""
    kinetic = M * R**2 * psi.dot**2 / 4 + m * R**2 * (phi.dot**2 + sin(phi) ** 2 * psi.dot**2) / 2
    (torque,), _ = held(
        [phi, psi],
        kinetic,
        -m * g * R * cos(phi),
        [psi.dot - omega],
        {phi: 0.6, psi: 0.0, phi.dot: 0.4 * (1 + spoil), psi.dot: 3.0},
    )
    return distance([torque], [1.08713039])


def rotating_plane(spoil: float = 0.0) -> float:
    """7.9 e: tension of the second rod, of length rho, and the reaction across the plane from its torque on m."""
    first = _in_space(a * sin(theta1), omega * da.time, a * cos(theta1))
    second = _in_space(a * sin(theta1) + rho * sin(theta2), psi, a * cos(theta1) + rho * cos(theta2))
    q = [theta1, theta2, rho, psi]
    (rod, torque), _ = held(
        q,
        particles((M, first), (m, second), coordinates=q),
        M * g * first[2] + m * g * second[2] + k * a**2 * sin(theta1) ** 2 / 2,
        [rho - a, psi - omega * da.time],
        {theta1: 0.6, theta2: -0.3, rho: 0.5, psi: 0.0, theta1.dot: 0.4, theta2.dot: 1.1 * (1 + spoil), rho.dot: 0.0,
         psi.dot: 3.0},
    )  # fmt: skip
    arm = 0.5 * (np.sin(0.6) + np.sin(-0.3))
    return distance([-rod, torque / arm], [3.714119596, 4.971615782])


def two_axes(spoil: float = 0.0) -> float:
    """7.12 c: the torque for phi.dot = omega."""
    high, low = (0, 0, 2 * a * cos(theta)), _in_space(2 * a * sin(theta), phi, 0)
    (torque,), _ = held(
        [theta, phi],
        particles((m, high), (m, low), coordinates=[theta, phi]),
        m * g * high[2],
        [phi.dot - omega],
        {theta: 0.6, phi: 0.3, theta.dot: 0.4 * (1 + spoil), phi.dot: 3.0},
    )
    return distance([torque], [1.342136284])


def _circling(ratio: float, v0: float) -> tuple[float, float]:
    """7.15: rho.ddot and the push of the cone on a particle that circles at rho = b while the other hangs at rest.

    The angle theta of the string from the axis is free and held at alpha by a constraint.
    """
    place = _in_space(rho * sin(theta), phi, rho * cos(theta))
    q = [rho, theta, phi]
    (torque,), accelerations = held(
        q,
        particles((m, place), coordinates=q) + ratio * m * rho.dot**2 / 2,
        m * g * place[2] - ratio * m * g * (2 * b - rho),
        [theta - alpha],
        {rho: 0.6, theta: 0.5, phi: 0.0, rho.dot: 0.0, theta.dot: 0.0, phi.dot: v0 / (0.6 * np.sin(0.5))},
    )
    return accelerations[rho], torque / 0.6


def cone(spoil: float = 0.0) -> float:
    """7.15 b with equal masses: at the printed v0 the radius stays, and the cone pushes with m g (1 - cos)/sin."""
    normal = 1.2 * 9.81 * (1 - np.cos(0.5)) / np.sin(0.5)
    return distance(_circling(1.0, 0.848851601 * (1 + spoil)), [0.0, normal])


def cone_range(spoil: float = 0.0) -> float:
    """7.15 b: at the lower end of the printed range of masses the speed is zero, at the upper end the push of the cone."""
    low, high = 0.877582562 * (1 + spoil), 1.139493927 * (1 + spoil)
    still, _ = _circling(low, 0.0)
    away, push = _circling(high, np.sqrt(9.81 * 0.6 * (high - np.cos(0.5))))
    return distance([still, away, push], [0.0, 0.0, 0.0])


def leaning_rod(spoil: float = 0.0) -> float:
    """7.16: forces at A and B, and the acceleration of the disc; n lifts it off the ground.

    The gap between disc and rod is the distance of the centre from the rod less R, so its multiplier is the force at A. The
    digest's numbers for accelerations and forces are off by 2e-9 to 4e-9: they were worked out from a rounded angle.
    """
    kinetic = M * (x.dot**2 + n.dot**2) / 2 + M * R**2 * phi.dot**2 / 4 + Rational(8, 3) * M * R**2 * theta.dot**2
    gap = x * sin(theta) - (R + n) * cos(theta) - R
    rate = -0.3 * (1 + spoil)
    speed = -0.9 * rate / (2 * np.sin(0.45) ** 2)
    (at_a, at_b, friction), accelerations = held(
        [theta, x, n, phi],
        kinetic,
        M * g * n + 2 * M * g * R * sin(theta),
        [gap, n, x.dot - R * phi.dot],
        {theta: 0.9, x: 0.9 / np.tan(0.45), n: 0.0, phi: 0.0, theta.dot: rate, x.dot: speed, n.dot: 0.0,
         phi.dot: speed / 0.9},
    )  # fmt: skip
    found = [speed, accelerations[x], at_a, friction, at_b]
    return distance(found, [0.713549453, 2.188191589, 8.380376938, -2.188191589, 24.829325843])


def leaning_rod_touches() -> Expr:
    """The gap of 7.16 at x = R cot(theta/2), which is zero: the contact as the digest describes it."""
    return (cot(theta / 2) * sin(theta) - cos(theta) - 1).rewrite(cos)


def semi_hoop(spoil: float = 0.0) -> float:
    """7.18 d: the bead may leave the semi-hoop radially and across its plane, by an angle eta of its own."""
    place = (x + rho * cos(phi), rho * sin(phi) * sin(eta), -rho * sin(phi) * cos(eta))
    q = [x, theta, phi, rho, eta]
    kinetic = M * x.dot**2 / 2 + M * R**2 * theta.dot**2 / 4 + particles((m, place), coordinates=q)
    (radial, torque), _ = held(
        q,
        kinetic,
        -2 * M * g * R * cos(theta) / pi + m * g * place[2],
        [rho - R, eta - theta],
        {x: 0.0, theta: 0.3, phi: 0.6, rho: 0.9, eta: 0.3, x.dot: 0.2, theta.dot: 0.4, phi.dot: 0.5 * (1 + spoil),
         rho.dot: 0.0, eta.dot: 0.4},
    )  # fmt: skip
    return distance([radial, torque / (0.9 * np.sin(0.6))], [-4.738518989, 0.965123935])


def driven_rod(spoil: float = 0.0) -> float:
    """7.20 e: x and theta apart, x.dot = R theta.dot; the multiplier is the tangential force on the disc."""
    middle = (x + l * sin(phi) / 2, -l * cos(phi) / 2)
    q = [x, theta, phi]
    kinetic = (
        M * x.dot**2 / 2
        + M * R**2 * theta.dot**2 / 4
        + particles((m, middle), coordinates=q)
        + m * l**2 * phi.dot**2 / 24
    )
    force = A * sin(Omega * da.time)
    (friction,), accelerations = held(
        q,
        kinetic,
        m * g * middle[1],
        [x.dot - R * theta.dot],
        {x: 0.09, theta: 0.1, phi: 0.6, x.dot: 0.18, theta.dot: 0.2, phi.dot: 0.4 * (1 + spoil), da.time: 0.3},
        {x: force, phi: force * l * cos(phi)},
    )
    found = [friction, accelerations[theta], accelerations[phi]]
    return distance(found, [-1.147851478, 1.275390531, -7.354415992])


def two_discs(spoil: float = 0.0) -> float:
    """7.26 b, spring relaxed: normal force M g cos(beta) and friction -M g sin(beta)/3 on one disc."""
    kinetic = M * (x.dot**2 + n.dot**2) / 2 + M * R**2 * phi.dot**2 / 4
    (normal, friction), _ = held(
        [x, n, phi],
        kinetic,
        M * g * (1 + spoil) * (n * cos(beta) - x * sin(beta)),
        [n, x.dot - R * phi.dot],
        {x: 0.0, n: 0.0, phi: 0.0, x.dot: 0.45, n.dot: 0.0, phi.dot: 0.5},
    )
    return distance([normal, friction], [2 * 9.81 * np.cos(0.5), -2 * 9.81 * np.sin(0.5) / 3])
