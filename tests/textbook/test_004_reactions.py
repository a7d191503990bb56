"""Analytical dynamics, chapter 7: reactions by multipliers and by release, imposed motions, contacts along a motion.

Worked examples 7.4, 7.7 b, 7.12, 7.13 and the reactions asked for in the proposed problems. Released systems are written
down from positions, with the coordinate that the constraint had absorbed.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, pi, sin, sqrt
from dalembert.analysis.motions.contacts import along, contact_report
from dalembert.decide.zero import vanishes
from dalembert.errors import ModelError
from dalembert.model.coordinates import multiplier
from dalembert.symbolic import number
from dalembert.theory.reactions.virtual_work import vanishes_on

t = da.time
x, y, theta, phi, psi, rho, s, n = da.coordinates("x y theta phi psi rho s n")
m, g, l, R, M, k, a, b, omega, alpha, r = da.parameters("m g l R M k a b omega alpha r", positive=True)
A, Omega, v, beta, m1, m2, m3 = da.parameters("A Omega v beta m1 m2 m3", positive=True)
VALUES = {m: 1.2, g: 9.81, l: 0.8, R: 0.9, M: 2, k: 30, a: 0.5, b: 0.6, omega: 3, alpha: 0.5, r: 0.35, A: 2, Omega: 4}
VALUES |= {v: 0.7, beta: 0.5, m1: 1, m2: 2, m3: 0.5}


def at(expression, values):
    return number(expression, {c.name: float(e) for c, e in (VALUES | values).items()})


def speed2(position, coordinates):
    """The square of the velocity of a point whose position is given by coordinates and time."""
    rates = [sum((e.diff(q) * q.dot for q in coordinates), e.diff(t)) for e in map(sympy.sympify, position)]
    return sum(rate**2 for rate in rates)


def numbers(system, state):
    values = {p: VALUES[p] for p in system.parameters}
    return da.reactions(system).at(state, values)


def accelerations(system, state):
    motion = da.evaluate(system, at=state, parameters={p: VALUES[p] for p in system.parameters})
    return [motion.accelerations[q] for q in system.coordinates]


# Multipliers


def test_example_7_4_poggendorff():
    x1, x2, x3 = da.coordinates("x1 x2 x3")
    pulleys = da.System(
        "Poggendorff",
        [x1, x2, x3],
        kinetic=(m1 * x1.dot**2 + m2 * x2.dot**2 + m3 * x3.dot**2) / 2,
        potential=-g * (m1 * x1 + m2 * x2 + m3 * x3),
        constraints=[2 * x1 + x2 + x3],
    )
    found = da.reactions(pulleys)
    delta = m1 * m2 + m1 * m3 + 4 * m2 * m3
    (tension,) = found.multipliers.values()
    assert vanishes(tension + 4 * g * m1 * m2 * m3 / delta)
    assert not vanishes(tension - 4 * g * m1 * m2 * m3 / delta)
    assert vanishes(found.forces[x1] - 2 * tension)  # the first mass hangs from two strands
    assert vanishes(found.accelerations[x1] - g * (m1 * m2 + m1 * m3 - 4 * m2 * m3) / delta)
    assert vanishes(found.accelerations[x2] - g * (m1 * m2 - 3 * m1 * m3 + 4 * m2 * m3) / delta)
    assert [at(found.accelerations[q], {}) for q in (x1, x2)] == pytest.approx([-2.263846154, 6.791538462], rel=1e-9)


def test_example_7_12_hoop_on_an_incline():
    hoop = da.System(
        "hoop on an incline",
        [x, theta],
        kinetic=m * x.dot**2 / 2 + m * r**2 * theta.dot**2 / 2,
        potential=-m * g * x * sin(alpha),
        constraints=[r * theta.dot - x.dot],
    )
    found = da.reactions(hoop)
    (grip,) = found.multipliers.values()
    assert vanishes(grip - m * g * sin(alpha) / 2)
    assert vanishes(found.forces[x] + m * g * sin(alpha) / 2)
    assert vanishes(found.forces[theta] - m * g * r * sin(alpha) / 2)
    assert at(grip, {}) == pytest.approx(2.82189872, rel=1e-9)
    expected = [2.351582267, 6.718806477]
    assert [at(found.accelerations[q], {}) for q in (x, theta)] == pytest.approx(expected, rel=1e-9)
    newton = found.accelerations  # Newton and Euler: m x'' = m g sin(alpha) - F,  m r^2 theta'' = F r, F the friction
    assert vanishes(m * newton[x] - m * g * sin(alpha) + grip)
    assert vanishes(m * r**2 * newton[theta] - grip * r)


def knife(mass, inertia):
    return da.System(
        "rod with a knife edge",
        [x, y, theta],
        kinetic=mass * (x.dot**2 + y.dot**2) / 2 + inertia * theta.dot**2 / 2,
        constraints=[-x.dot * sin(theta) + y.dot * cos(theta) - l * theta.dot / 2],
    )


@pytest.mark.parametrize(
    ("system", "factor", "arm", "fixture", "pressure"),
    [
        (knife(2 * m, m * l**2 / 2), m, -m * l, (-0.22780973, 0.538820681, -1.4625), 1.404),
        (knife(m, m * l**2 / 12), m / 4, -m * l / 6, (-0.113904865, 0.269410341, -2.19375), 0.351),
    ],
    ids=["example 7.13: two masses", "problem 7.17: homogeneous bar"],
)
def test_knife_edges(system, factor, arm, fixture, pressure):
    found = da.reactions(system)
    (transverse,) = found.multipliers.values()
    along_rod = x.dot * cos(theta) + y.dot * sin(theta)
    assert vanishes(transverse - factor * along_rod * theta.dot)
    assert vanishes(transverse - arm * found.accelerations[theta])
    assert vanishes(found.forces[x] * cos(theta) + found.forces[y] * sin(theta))  # it is a force across the bar
    assert vanishes(-found.forces[x] * sin(theta) + found.forces[y] * cos(theta) - transverse)
    state = {x: 0, y: 0, theta: 0.4, theta.dot: 1.3}
    state[x.dot] = 0.9 * np.cos(0.4) - 0.8 / 2 * 1.3 * np.sin(0.4)
    state[y.dot] = 0.9 * np.sin(0.4) + 0.8 / 2 * 1.3 * np.cos(0.4)
    assert list(numbers(system, state).multipliers.values()) == pytest.approx([pressure], rel=1e-12)
    assert [at(found.accelerations[q], state) for q in system.coordinates] == pytest.approx(fixture, rel=1e-8)


# Reactions by release


def test_problem_7_1_wedge_and_disc():
    """Released: the distance n of the centre from the slope, and the rotation theta of the disc."""
    down, out = (1 / sqrt(2), -1 / sqrt(2)), (1 / sqrt(2), 1 / sqrt(2))
    q = (x, s, n, theta)
    centre = [x + s * down[0] + n * out[0], s * down[1] + n * out[1]]
    wedge = da.System(
        "wedge and disc",
        q,
        kinetic=m * x.dot**2 / 2 + m * speed2(centre, q) + m * r**2 * theta.dot**2 / 2,
        potential=2 * m * g * centre[1],
        constraints=[n - r, s.dot - r * theta.dot],
    )
    found = da.reactions(wedge)
    normal, tangential = found.multipliers.values()
    assert vanishes(normal - 5 * sqrt(2) * m * g / 7)
    assert vanishes(tangential + 3 * sqrt(2) * m * g / 7)  # up the slope
    assert vanishes(found.accelerations[x] + 2 * g / 7)
    assert vanishes(found.accelerations[s] - 3 * sqrt(2) * g / 7)
    assert [at(normal, {}), -at(tangential, {})] == pytest.approx([11.891515754, 7.134909453], rel=1e-9)


def test_problem_7_5_bead_on_a_hung_hoop():
    q = (theta, phi, rho)
    bead = [R * sin(theta) + rho * sin(theta + phi), -R * cos(theta) - rho * cos(theta + phi)]
    pull = A * sin(Omega * t)
    cable = sqrt(R**2 + rho**2 + 2 * R * rho * cos(phi))
    hoop = da.System(
        "bead on a hung hoop",
        q,
        kinetic=M * R**2 * theta.dot**2 + m * speed2(bead, q) / 2,
        potential=-M * g * R * cos(theta) + m * g * bead[1],
        forces={c: -pull * cable.diff(c) for c in q},
        constraints=[rho - R],
    )
    state = {theta: 0.3, phi: 0.6, rho: 0.9, theta.dot: 0.2, phi.dot: 0.4, rho.dot: 0, t: 0.3}
    found = accelerations(hoop, state)
    assert found[:2] == pytest.approx([-0.616618667, -6.925245623], rel=1e-9)
    (radial,) = numbers(hoop, state).multipliers.values()
    assert radial == pytest.approx(-6.337247765, rel=1e-9)
    w = theta.dot + phi.dot
    inner = R * w**2 + R * theta.dot**2 * cos(phi) - R * theta.ddot * sin(phi) + g * cos(theta + phi)
    formula = -m * inner + pull * cos(phi / 2)
    assert radial == pytest.approx(at(formula, state | {theta.ddot: found[0]}), rel=1e-11)


def test_problem_7_6_bead_on_a_rotating_semi_hoop():
    q = (rho, phi, psi)
    bead = [rho * sin(phi) * cos(psi), rho * sin(phi) * sin(psi), -rho * cos(phi)]
    hoop = da.System(
        "bead on a rotating semi-hoop",
        q,
        kinetic=sympy.trigsimp(sympy.expand(m * speed2(bead, q) / 2)),
        potential=m * g * bead[2],
        constraints=[rho - R, psi - omega * t],
    )
    found = da.reactions(hoop)
    radial, torque = found.multipliers.values()
    assert vanishes(radial + m * (R * omega**2 * sin(phi) ** 2 + R * phi.dot**2 + g * cos(phi)))
    across = torque / (R * sin(phi))
    assert vanishes(across - 2 * m * R * omega * phi.dot * cos(phi))
    state = {phi: 0.6, phi.dot: 0.4}
    assert [at(radial, state), at(across, state)] == pytest.approx([-12.987592172, 2.139269914], rel=1e-9)
    assert at(found.accelerations[phi], state) == pytest.approx(-1.960427073, rel=1e-9)
    assert vanishes(found.power - torque * omega)  # the motor works, the hoop does not: T14 of the notes
    assert found.does_work


def test_problem_7_9_two_rods_in_a_rotating_plane():
    theta1, theta2 = da.coordinates("theta1 theta2")
    q = (theta1, theta2, rho, psi)
    arm, height = a * sin(theta1) + rho * sin(theta2), -a * cos(theta1) - rho * cos(theta2)
    upper = [a * sin(theta1) * cos(omega * t), a * sin(theta1) * sin(omega * t), -a * cos(theta1)]
    lower = [arm * cos(psi), arm * sin(psi), height]
    rods = da.System(
        "two rods in a rotating plane",
        q,
        kinetic=(M * speed2(upper, q) + m * speed2(lower, q)) / 2,
        potential=k * a**2 * sin(theta1) ** 2 / 2 - M * g * a * cos(theta1) + m * g * height,
        constraints=[rho - a, psi - omega * t],
    )
    state = {theta1: 0.6, theta2: -0.3, rho: 0.5, psi: 0.9, theta1.dot: 0.4, theta2.dot: 1.1, rho.dot: 0, psi.dot: 3}
    state[t] = 0.3
    assert accelerations(rods, state)[:2] == pytest.approx([-16.783772411, 18.670319889], rel=1e-9)
    radial, torque = numbers(rods, state).multipliers.values()
    across = torque / (0.5 * (np.sin(0.6) + np.sin(-0.3)))
    assert [-radial, across] == pytest.approx([3.714119596, 4.971615782], rel=1e-9)


def test_problem_7_18_bead_on_a_sliding_semi_hoop():
    chi = da.coordinates("chi")
    q = (x, theta, chi, phi, rho)
    bead = [x + rho * cos(phi), rho * sin(phi) * sin(chi), -rho * sin(phi) * cos(chi)]
    hoop = da.System(
        "bead on a sliding semi-hoop",
        q,
        kinetic=M * x.dot**2 / 2 + M * R**2 * theta.dot**2 / 4 + m * speed2(bead, q) / 2,
        potential=-g * 2 * R / pi * M * cos(theta) + m * g * bead[2],
        constraints=[rho - R, chi - theta],
    )
    state = {x: 0, theta: 0.3, chi: 0.3, phi: 0.6, rho: 0.9}
    state |= {x.dot: 0.2, theta.dot: 0.4, chi.dot: 0.4, phi.dot: 0.5, rho.dot: 0}
    found = accelerations(hoop, state)
    assert [found[0], found[1], found[3]] == pytest.approx([1.955434242, -4.706821308, 9.895722683], rel=1e-9)
    radial, torque = numbers(hoop, state).multipliers.values()
    assert [radial, torque / (0.9 * np.sin(0.6))] == pytest.approx([-4.738518989, 0.965123935], rel=1e-9)


def test_problem_7_20_rolling_disc_with_a_rod():
    pull = A * sin(Omega * t)
    disc = da.System(
        "rolling disc with a rod",
        [x, theta, phi],
        kinetic=(M + m) * x.dot**2 / 2
        + M * R**2 * theta.dot**2 / 4
        + m * l**2 * phi.dot**2 / 6
        + m * l * x.dot * phi.dot * cos(phi) / 2,
        potential=-m * g * l * cos(phi) / 2,
        forces={x: pull, phi: pull * l * cos(phi)},
        constraints=[x.dot - R * theta.dot],
    )
    state = {x: 0, theta: 0.1, phi: 0.6, x.dot: 0.18, theta.dot: 0.2, phi.dot: 0.4, t: 0.3}
    assert accelerations(disc, state)[1:] == pytest.approx([1.275390531, -7.354415992], rel=1e-9)
    assert list(numbers(disc, state).multipliers.values()) == pytest.approx([-1.147851478], rel=1e-9)
    found = da.reactions(disc)
    (friction,) = found.multipliers.values()
    assert vanishes(friction + M * R * found.accelerations[theta] / 2)
    assert not found.does_work  # rolling: the drive works, the ground does not


def test_problem_7_26_two_discs_on_an_incline():
    xA, yA, xB, thetaA, thetaB = da.coordinates("xA yA xB thetaA thetaB")
    discs = da.System(
        "two discs on an incline",
        [xA, yA, thetaA, xB, thetaB],
        kinetic=M * (xA.dot**2 + yA.dot**2 + xB.dot**2) / 2 + M * R**2 * (thetaA.dot**2 + thetaB.dot**2) / 4,
        potential=-M * g * sin(beta) * (xA + xB) + M * g * cos(beta) * yA + k * (xA - xB) ** 2 / 2,
        constraints=[yA - R, xA.dot - R * thetaA.dot, xB.dot - R * thetaB.dot],
    )
    found = da.reactions(discs)
    normal, tangential, _ = found.multipliers.values()
    assert vanishes(normal - M * g * cos(beta))
    assert vanishes(tangential + M * found.accelerations[xA] / 2)
    assert vanishes(tangential.subs(xA, xB) + M * g * sin(beta) / 3)  # the spring stays relaxed after the given start
    assert not vanishes(tangential + M * g * sin(beta) / 3)
    centre = (found.accelerations[xA] + found.accelerations[xB]) / 2
    stretch = found.accelerations[xA] - found.accelerations[xB]
    assert [at(centre, {xA: 0.1, xB: 0}), at(stretch, {xA: 0.1, xB: 0})] == pytest.approx([3.135443022, -2], rel=1e-9)


# Imposed motions


CART = da.System(
    "cart with a pendulum",
    [x, theta],
    kinetic=m1 * x.dot**2 / 2 + m2 * (x.dot**2 + l**2 * theta.dot**2 + 2 * l * x.dot * theta.dot * cos(theta)) / 2,
    potential=-m2 * g * l * cos(theta),
)
HOOP = da.System(
    "hoop about a vertical diameter",
    [phi, psi],
    kinetic=M * R**2 * psi.dot**2 / 4 + m * R**2 * (phi.dot**2 + sin(phi) ** 2 * psi.dot**2) / 2,
    potential=-m * g * R * cos(phi),
)
AXES = da.System(
    "two masses on axes",
    [theta, phi],
    kinetic=2 * m * a**2 * (theta.dot**2 + sin(theta) ** 2 * phi.dot**2),
    potential=2 * m * g * a * cos(theta),
)
ROUGH = da.System(
    "knife on a turning bar, with friction and drive",
    [x, y, theta],
    kinetic=m * (x.dot**2 + y.dot**2) + m * l**2 * theta.dot**2 / 4 + m * l * x.dot * theta.dot / 3,
    potential=k * x**2 / 2 + m * g * sin(theta),
    forces={theta: A * cos(Omega * t) - x.dot},
    dissipation=(x.dot + theta.dot) ** 2 / 10,
    constraints=[-x.dot * sin(theta) + y.dot * cos(theta) - l * theta.dot / 2],
)


def test_example_7_7_b_pendulum_on_a_driven_cart():
    driven = da.impose(CART, {x.dot: v})
    assert driven.system.coordinates == (theta,)
    assert driven.system.kinetic is not None
    assert vanishes(driven.power + m2 * v * sin(theta) * (g * cos(theta) + l * theta.dot**2))
    assert accelerations(driven.system, {theta: 0.6, theta.dot: 0.4}) == pytest.approx([-6.92392833], rel=1e-9)
    values = {p: VALUES[p] for p in driven.system.parameters}
    h = da.evaluate(driven.system, at={theta: 0.6, theta.dot: 0.4}, parameters=values).jacobi_integral
    carried = (VALUES[m1] + VALUES[m2]) * VALUES[v] ** 2 / 2  # constant terms of L are left out, and m1 with them
    assert h - carried == pytest.approx(-13.587067812, rel=1e-10)
    assert m1 not in driven.system.parameters
    assert "force or torque along x" in str(driven)


def test_problems_7_8_and_7_12_torque():
    (torque,) = da.impose(HOOP, {psi.dot: omega}).driving.values()
    assert torque == m * R**2 * omega * phi.dot * sin(2 * phi)
    assert at(torque, {phi: 0.6, phi.dot: 0.4}) == pytest.approx(1.08713039, rel=1e-9)
    (torque,) = da.impose(AXES, {phi: omega * t}).driving.values()
    assert vanishes(torque - 4 * m * a**2 * omega * theta.dot * sin(2 * theta))
    assert at(torque, {theta: 0.6, theta.dot: 0.4}) == pytest.approx(1.342136284, rel=1e-9)


def test_problem_7_2_two_longitudinal_knives():
    """Given rigidity the second knife says what the first one says, and is refused; the turning bar needs no torque."""
    xA, yA, xB, yB = da.coordinates("xA yA xB yB")
    rod = (xB - xA, yB - yA)
    with pytest.raises(ModelError, match="redundant"):
        da.System(
            "two knives",
            [xA, yA, xB, yB],
            kinetic=m * (xA.dot**2 + yA.dot**2 + xB.dot**2 + yB.dot**2) / 2,
            constraints=[
                rod[0] ** 2 + rod[1] ** 2 - l**2,
                xA.dot * rod[0] + yA.dot * rod[1],
                xB.dot * rod[0] + yB.dot * rod[1],
            ],
        )
    bar = da.System(
        "bar with a longitudinal knife",
        [x, y, theta],
        kinetic=m * (x.dot**2 + y.dot**2) + m * l**2 * theta.dot**2 / 4,
        constraints=[x.dot * cos(theta) + y.dot * sin(theta)],
    )
    driven = da.impose(bar, {theta: omega * t})
    assert driven.driving == {theta: 0}
    (grip,) = da.reactions(driven.system).multipliers.values()
    start = {x.dot: -v * sin(omega * t), y.dot: v * cos(omega * t)}
    assert vanishes(grip.xreplace(start) + 2 * m * omega * v)
    assert at(grip.xreplace(start), {t: 0.3}) == pytest.approx(-5.04, rel=1e-12)


def test_problem_7_7_reaction_on_a_bead_on_a_turning_ladder():
    """Part 4: the bead released from the rod, the rod turned at a constant rate."""
    q = (s, n, theta)
    middle = [l * sin(theta) / 2, l * cos(theta) / 2]
    bead = [middle[0] + s * sin(theta) + n * cos(theta), middle[1] - s * cos(theta) + n * sin(theta)]
    ladder = da.System(
        "sliding ladder with a bead",
        q,
        kinetic=m * l**2 * theta.dot**2 / 6 + m * speed2(bead, q) / 2,
        potential=m * g * (middle[1] + bead[1]),
        constraints=[n],
    )
    state = {s: 0, n: 0, theta: np.pi / 6, s.dot: 0, n.dot: 0, theta.dot: 0}
    found = accelerations(ladder, state)
    assert [found[0], found[2]] == pytest.approx([7.154281441, 3.872368421], rel=1e-9)
    turned = da.impose(ladder, {theta: omega * t})
    (normal,) = da.reactions(turned.system).multipliers.values()
    angle = omega * t
    assert vanishes(normal - m * (g * sin(angle) - l * omega**2 * sin(2 * angle) / 2 + 2 * omega * s.dot))
    assert at(normal, {t: 0.2, s.dot: 0.3}) == pytest.approx(4.780562345, rel=1e-9)


@pytest.mark.parametrize(
    ("system", "motion", "constraint"),
    [
        (CART, {x.dot: v}, x.dot - v),
        (CART, {x: sin(Omega * t)}, x - sin(Omega * t)),
        (HOOP, {psi: omega * t**2}, psi - omega * t**2),
        (ROUGH, {theta: omega * t}, theta - omega * t),
        pytest.param(ROUGH, {x: a * cos(t), theta: omega * t}, None, marks=pytest.mark.slow),
    ],
    ids=["cart at a speed", "cart to and fro", "hoop sped up", "knife turned", "two coordinates"],
)
def test_the_driving_force_is_the_multiplier(system, motion, constraint):
    """The same motion, imposed, or kept as a constraint that moves: driving force = multiplier, power = power."""
    driven = da.impose(system, motion)
    forces = dict(zip(system.coordinates, system.forces, strict=True))
    rows = [c.expression for c in system.constraints]
    added = [q - e for q, e in motion.items()] if constraint is None else [constraint]
    kept = da.System(
        "kept",
        system.coordinates,
        **system.energies,
        forces=forces,
        dissipation=system.dissipation,
        constraints=rows + added,
    )
    reactions = da.reactions(kept)
    multipliers = list(reactions.multipliers.values())[-len(added) :]
    put = {c: e for c, e in driven.motion.items() if c in (*kept.coordinates, *kept.velocities)}
    for found, expected in zip(driven.driving.values(), multipliers, strict=True):
        difference = found - expected.xreplace(put)
        assert vanishes_on(driven.system, difference)
        assert not vanishes_on(driven.system, found + expected.xreplace(put))
    assert vanishes_on(driven.system, driven.power - reactions.power.xreplace(put))


def test_everything_imposed():
    """Nothing is left to move: the forces are those of inverse dynamics."""
    driven = da.impose(CART, {x: t**2, theta: 0})
    assert driven.system is None
    assert vanishes(driven.driving[x] - 2 * (m1 + m2))
    assert vanishes(driven.driving[theta] - 2 * m2 * l)
    assert "nothing moves freely" in str(driven)


# Contacts along a motion


def test_a_ball_leaves_a_sphere():
    """From rest at the angle theta0 it leaves where cos(theta) = 2 cos(theta0)/3; a bead on a wire would go on."""
    ball = da.System(
        "ball on a sphere",
        [rho, theta],
        kinetic=m * (rho.dot**2 + rho**2 * theta.dot**2) / 2,
        potential=m * g * rho * cos(theta),
        constraints=[rho - R],
    )
    run = da.simulate(
        ball,
        da.Midpoint(),
        h=0.0005,
        until=0.45,
        every=10,
        start={rho: 0.9, theta: np.array([0.3, 0.5, 0.01]), rho.dot: 0, theta.dot: 0},
        parameters={m: 1.2, g: 9.81, R: 0.9},
    )
    report = contact_report(run, {"sphere": 1})
    assert [c.lost is None for c in report.contacts] == [True, False, True]
    lost = report.contacts[1]
    assert lost is report.first
    assert np.cos(lost.where["theta"]) == pytest.approx(2 * np.cos(0.5) / 3, rel=1e-6)
    assert not report.holds
    assert "The first to be lost is sphere" in str(report)
    press = m * (g * cos(theta) - rho * theta.dot**2)
    again = contact_report(
        run, {"by hand": press, "with accelerations": m * (rho.ddot + g * cos(theta) - rho * theta.dot**2)}
    )
    for name in ("by hand", "with accelerations"):
        assert np.abs(again.values[name] - report.values["sphere"]).max() < 1e-6
    assert again.contacts[2].lost == pytest.approx(lost.lost, rel=1e-6)
    wrong = contact_report(run, {"pulled": -1})  # the control: the other sign fails from the beginning
    assert [c.lost for c in wrong.contacts] == [0, 0, 0]


def cone():
    """Problem 7.15 with the cone and the string released; the hanging particle in Cartesian coordinates."""
    angle, X, Y, Z = da.coordinates("angle X Y Z")
    ratio = da.parameters("ratio", positive=True)
    q = (rho, phi, angle, X, Y, Z)
    kinetic = m * (rho.dot**2 + rho**2 * angle.dot**2 + rho**2 * sin(angle) ** 2 * phi.dot**2) / 2
    return da.System(
        "two particles and a cone",
        q,
        kinetic=kinetic + ratio * m * (X.dot**2 + Y.dot**2 + Z.dot**2) / 2,
        potential=-m * g * rho * cos(angle) + ratio * m * g * Z,
        constraints=[angle - alpha, rho + sqrt(X**2 + Y**2 + Z**2) - 2 * b],
    ), ratio


def test_problem_7_15_cone():
    """The hanging particle at rest at depth b: v0^2 = g b (ratio - cos(alpha)), and the cone pushes up to 1/cos(alpha)."""
    system, ratio = cone()
    angle, X, Y, Z = system.coordinates[2:]
    ratios = np.array([0.9, 1.0, 1.1, 1.2])
    speed = np.sqrt(9.81 * 0.6 * (ratios - np.cos(0.5)))
    assert speed[1] == pytest.approx(0.848851601, rel=1e-9)
    start = {rho: 0.6, phi: 0, angle: 0.5, X: 0, Y: 0, Z: -0.6, phi.dot: speed / (0.6 * np.sin(0.5))}
    start |= {c.dot: 0 for c in (rho, angle, X, Y, Z)}
    values = {p: VALUES[p] for p in system.parameters if p != ratio} | {ratio: ratios}
    run = da.simulate(system, da.Midpoint(), h=0.005, until=0.5, start=start, parameters=values)
    report = contact_report(run, {"cone": multiplier(1) / rho, "string": -2})
    normal = 1.2 * 9.81 * (1 - ratios * np.cos(0.5)) / np.sin(0.5)
    assert np.abs(report.values["cone"] - normal[:, None]).max() < 1e-4
    assert np.abs(report.values["string"] - (ratios * 1.2 * 9.81)[:, None]).max() < 1e-3
    inside = (np.cos(0.5) <= ratios) & (ratios <= 1 / np.cos(0.5))
    assert [np.cos(0.5), 1 / np.cos(0.5)] == pytest.approx([0.877582562, 1.139493927], rel=1e-9)
    holds = [all(c.lost is None for c in report.contacts if c.lane == lane) for lane in range(4)]
    assert holds == inside.tolist() == [True, True, True, False]


def test_problem_7_15_equations():
    system, ratio = cone()
    angle, X, Y, Z = system.coordinates[2:]
    length, tilt, turn = 0.7, 0.6, 0.0  # 2 b - rho, theta, psi
    rate = (-0.1, 0.4, 1.5)  # of the length, theta and psi
    place = [length * np.sin(tilt), 0.0, -length * np.cos(tilt)]
    velocity = [
        rate[0] * np.sin(tilt) + length * rate[1] * np.cos(tilt),
        length * np.sin(tilt) * rate[2],
        -rate[0] * np.cos(tilt) + length * rate[1] * np.sin(tilt),
    ]
    state = {rho: 0.5, phi: turn, angle: 0.5, rho.dot: 0.1, phi.dot: 0.7, angle.dot: 0}
    state |= dict(zip((X, Y, Z), place, strict=True)) | dict(zip((X.dot, Y.dot, Z.dot), velocity, strict=True))
    values = {p: VALUES[p] for p in system.parameters if p != ratio} | {ratio: 1.1}
    motion = da.evaluate(system, at=state, parameters=values)
    assert [motion.accelerations[c] for c in (rho, phi)] == pytest.approx([-0.43636015, -0.28], rel=1e-8)
    assert list(da.reactions(system).at(state, values).multipliers.values()) == pytest.approx(
        motion.multipliers, rel=1e-10
    )


def leaning_rod():
    """Problem 7.16: the disc at (x, y) turned by phi, the rod at the angle theta, every contact a constraint."""
    return da.System(
        "disc and leaning rod",
        [x, y, phi, theta],
        kinetic=M * (x.dot**2 + y.dot**2) / 2 + M * R**2 * phi.dot**2 / 4 + 8 * M * R**2 * theta.dot**2 / 3,
        potential=M * g * y + 2 * M * g * R * sin(theta),
        constraints=[x * sin(theta) - y * cos(theta) - R, y - R, x.dot - R * phi.dot],
    )


def test_problem_7_16_disc_and_leaning_rod():
    system = leaning_rod()
    tilt, rate = 0.9, -0.3
    cot = 1 / np.tan(tilt / 2)
    forward = -0.9 * rate / (2 * np.sin(tilt / 2) ** 2)
    state = {x: 0.9 * cot, y: 0.9, phi: 0, theta: tilt, theta.dot: rate}
    state |= {x.dot: forward, y.dot: 0, phi.dot: forward / 0.9}
    assert forward == pytest.approx(0.713549453, rel=1e-9)
    motion = accelerations(system, state)
    assert [motion[0], motion[3]] == pytest.approx([2.188191591, -0.733674599], rel=1e-9)
    expected = [8.380376942, 24.829325845, -2.188191591]
    assert list(numbers(system, state).multipliers.values()) == pytest.approx(expected, rel=1e-9)

    values = {p: VALUES[p] for p in system.parameters}
    run = da.simulate(system, da.Midpoint(), h=0.002, until=0.3, start=state, parameters=values)
    mu = da.parameters("mu", positive=True)
    grip = mu * multiplier(2) - sympy.Abs(multiplier(3))  # no slipping while |F| < mu N
    report = contact_report(run, {"A": 1, "B": 2, "grip": grip}, parameters={mu: 0.3})
    assert report.holds
    slips = contact_report(run, {"grip": grip}, parameters={mu: 0.05})  # the control
    assert not slips.holds
    disc = along(run, {"push": M * x.ddot * 3 / (2 * sin(theta))})["push"]  # N_A = 3 M a_C/(2 sin(alpha))
    assert np.abs(disc - report.values["A"]).max() < 1e-9 * 20


def test_imposed_motion_under_variations_of_their_own():
    """Not ideal: the one-forms that remain are those given, without the imposed displacement."""
    given = {
        "kinetic": (2 * x.dot**2 + y.dot**2 + 3 * theta.dot**2) / 2 + x.dot * theta.dot / 2,
        "potential": g * x + k * y * theta,
    }
    system = da.System(
        "servo",
        [x, y, theta],
        **given,
        constraints=[y.dot - 3 * x.dot + theta.dot],
        variations=[x.dot + y.dot / 4 - theta.dot],
    )
    kept = da.System(
        "kept",
        [x, y, theta],
        **given,
        constraints=[y.dot - 3 * x.dot + theta.dot, theta - t**2],
        variations=[x.dot + y.dot / 4 - theta.dot, theta.dot],
    )
    driven = da.impose(system, {theta: t**2})
    expected = list(da.reactions(kept).multipliers.values())
    assert vanishes(driven.driving[theta] - expected[1])
    assert vanishes(next(iter(da.reactions(driven.system).multipliers.values())) - expected[0])


def test_constant_terms_do_not_remain():
    """Problem 7.8: the mass of the hoop turns at a constant rate, and plays no part in what remains."""
    left = da.impose(HOOP, {psi: omega * t}).system
    assert M not in left.parameters
    assert vanishes(left.kinetic - m * R**2 * (phi.dot**2 + omega**2 * sin(phi) ** 2) / 2)
    sped = da.impose(HOOP, {psi: omega * t**2}).system  # the control: what depends on time stays
    assert M in sped.parameters and vanishes(sped.kinetic.diff(M) - R**2 * omega**2 * t**2)


def test_reactions_at_a_state_show_themselves():
    wall = da.System(
        "wall", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=[y - x / 2]
    )
    text = str(da.reactions(wall).at({x: 1, y: 0.5, x.dot: 0}, {m: 1, g: 10}))
    assert [line.split("  ")[1] for line in text.splitlines()[3:]] == [
        "lambda_1, of -x/2 + y = 0", "reaction on x", "reaction on y", "power of the reactions",
    ]  # fmt: skip
    assert text.splitlines()[3].endswith("  8") and text.splitlines()[4].endswith("  -4")
    free = da.System("free", [x], kinetic=m * x.dot**2 / 2)
    assert (
        str(da.reactions(free).at({x: 0, x.dot: 1}, {m: 1})) == "There are no constraints, so there are no reactions."
    )
