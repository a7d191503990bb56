"""Systems stated by bodies and loads: their energies, forces and constraints are those worked out by hand.

Numbers of examples and problems are those of the chapter on analytical dynamics (7.1 to 7.26) and of the notes on
Newton's laws and d'Alembert's principle (examples 3, 6, 8). Values given with nine decimals are compared to these.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import ModelError, Rational, cos, exp, pi, sin, sqrt
from dalembert.decide.zero import vanishes
from dalembert.model.bodies.kinematics import collected, dot, rate, rates
from dalembert.symbolic import fast, gradient
from dalembert.theory.motion.lagrange import euler_lagrange

b = da.bodies

x, y, z, s, r, X, rho = da.coordinates("x y z s r X rho")
theta, phi, psi, alpha1 = da.coordinates("theta phi psi alpha1")
x1, x2, x3, xA, xB, theta1, theta2 = da.coordinates("x1 x2 x3 xA xB theta1 theta2")
m, g, l, R, M, k, v, a, bb, c, omega, alpha, r0 = da.parameters("m g l R M k v a b c omega alpha r0", positive=True)
m1, m2, m3, mA, mB, A, Omega, ratio = da.parameters("m1 m2 m3 mA mB A Omega ratio", positive=True)
t = da.time

REFERENCE = {
    m: 1.2, g: 9.81, l: 0.8, R: 0.9, M: 2, k: 30, v: 0.7, a: 0.5, bb: 0.6, c: 0.4, omega: 3, alpha: 0.5, r0: 0.4,
    m1: 1, m2: 2, m3: 0.5, mA: 1.5, mB: 0.9, A: 2, Omega: 4, ratio: 1.1,
}  # fmt: skip


def numbers(assembly, positions, velocities, *, time=0.3, **changed):
    """The equations at a state, with the reference parameters."""
    system = assembly.system if isinstance(assembly, b.Assembly) else assembly
    values = {p: changed.get(p.name, REFERENCE.get(p)) for p in system.parameters}
    q = system.coordinates
    at = dict(zip(q, positions, strict=False)) | dict(zip((c.dot for c in q), velocities, strict=False))
    return da.evaluate(system, at={**at, t: time}, parameters=values)


def accelerations(assembly, positions, velocities, **changed):
    return list(numbers(assembly, positions, velocities, **changed).accelerations.values())


def same(one, two):
    """Whether two expressions agree, by value."""
    return vanishes(fast(one) - fast(two))


def down(angle):
    """The direction at an angle from the downward vertical."""
    return sympy.Matrix([sin(angle), -cos(angle)])


# ---- the examples of the book, stated with bodies ----


def pulleys():
    """Example 7.4; x1, x2 downwards, the third length absorbed."""
    depths = (x1, x2, -2 * x1 - x2)
    weights = [b.Particle(mass, [i, -d]) for i, (mass, d) in enumerate(zip((m1, m2, m3), depths, strict=True))]
    return b.assemble("pulleys", [x1, x2], bodies=weights, loads=[b.Gravity(g)])


def rolling_half_disc():
    """Example 7.5; the centre of the diameter is at height R and moves by R theta."""
    body = b.PlaneBody(b.half_disc(M, R), [R * theta, R], -theta)
    return b.assemble("half-disc", [theta], bodies=[body], loads=[b.Gravity(g)])


def double_pendulum():
    """Example 7.6."""
    one = l * down(theta1)
    bobs = [b.Particle(m1, one), b.Particle(m2, one + l * down(theta2))]
    return b.assemble("double pendulum", [theta1, theta2], bodies=bobs, loads=[b.Gravity(g)])


def cart_pendulum(base=x, coordinates=(x, theta)):
    """Example 7.7, with a free cart or a prescribed one."""
    bodies = [b.Particle(m1, [base, 0]), b.Particle(m2, sympy.Matrix([base, 0]) + l * down(theta))]
    return b.assemble("cart and pendulum", coordinates, bodies=bodies, loads=[b.Gravity(g)])


def rotating_disc():
    """Example 7.11: the disc turns at a given rate; r from its rim point, phi from the rotating radius."""
    rim = [a * cos(omega * t), a * sin(omega * t)]
    mass = b.Particle(m, [rim[0] + r * cos(omega * t + phi), rim[1] + r * sin(omega * t + phi)])
    return b.assemble("rotating disc", [r, phi], bodies=[mass], loads=[b.Spring(k, mass, rim, length=r0)])


def wedge(turn=-s / r0, coordinates=(X, s), constraints=lambda disc, ahead: ()):
    """Problem 7.1; r0 is the radius of the disc."""
    ahead, normal = sympy.Matrix([1, -1]) / sqrt(2), sympy.Matrix([1, 1]) / sqrt(2)
    disc = b.PlaneBody(b.disc(2 * m, r0), sympy.Matrix([X, 0]) + s * ahead + r0 * normal, turn)
    triangle = b.Particle(m, [X, 0])
    return b.assemble(
        "wedge", coordinates, bodies=[triangle, disc], loads=[b.Gravity(g)], constraints=constraints(disc, ahead)
    )


def slotted_disc():
    """Problem 7.3."""
    out = x + l * sin(theta)
    disc = b.SpaceBody(b.disc(M, R), [0, 0, 0], b.turns("z", psi))
    bob = b.Particle(m, [out * cos(psi), out * sin(psi), -l * cos(theta)])
    return b.assemble("slotted disc", [x, theta, psi], bodies=[disc, bob], loads=[b.Gravity(g)])


def hoop_and_cable():
    """Problem 7.5: the cable is pulled with A sin(Omega t) through a ring at the rim point the hoop hangs from."""
    hoop = b.PlaneBody(b.hoop(M, R), R * down(theta), theta)
    bead = b.Particle(m, R * down(theta) + R * down(theta + phi))
    pull = b.Pull(A * sin(Omega * t), bead, [0, 0])
    return b.assemble("hoop and cable", [theta, phi], bodies=[hoop, bead], loads=[b.Gravity(g), pull])


def ladder(angle=theta, coordinates=(s, theta)):
    """Problem 7.7; s from the middle of the rod."""
    middle = [l * sin(angle) / 2, l * cos(angle) / 2]
    rod = b.PlaneBody(b.rod(m, l), middle, angle - pi / 2)
    bead = b.Particle(m, sympy.Matrix(middle) + s * down(angle))
    return b.assemble("ladder", coordinates, bodies=[rod, bead], loads=[b.Gravity(g)])


def hoop_on_axis(torque=0):
    """Problem 7.8."""
    hoop = b.SpaceBody(b.hoop(M, R), [0, 0, 0], b.turns("zx", psi, pi / 2))
    bead = b.Particle(m, [R * sin(phi) * cos(psi), R * sin(phi) * sin(psi), -R * cos(phi)])
    loads = [b.Gravity(g), b.Torque([0, 0, torque], hoop)]
    return b.assemble("hoop on an axis", [phi, psi], bodies=[hoop, bead], loads=loads)


def hoop_in_hoop(turn=3 * theta - 2 * phi, coordinates=(theta, phi), rolling=False):
    """Problem 7.11."""
    outer = b.PlaneBody(b.hoop(m, R), R * down(theta), theta)
    inner = b.PlaneBody(b.hoop(m, R / 3), R * down(theta) + 2 * R / 3 * down(phi), turn)
    contact = [b.rolling_on_circle(inner, R / 3, outer, R, inside=True, on=outer)] if rolling else []
    return b.assemble("hoop in hoop", coordinates, bodies=[outer, inner], loads=[b.Gravity(g)], constraints=contact)


def damped_on_incline():
    """Problem 7.13: the damper acts on the centre of the disc, the air on the bob."""
    centre = x * sympy.Matrix([cos(alpha), -sin(alpha)]) + R * sympy.Matrix([sin(alpha), cos(alpha)])
    disc = b.PlaneBody(b.disc(M, R), centre, -x / R)
    bob = b.Particle(m, centre + l * down(theta))
    loads = [b.Gravity(g), b.Damper(c, disc), b.Damper(c, bob)]
    return b.assemble("disc with pendulum", [x, theta], bodies=[disc, bob], loads=loads)


def cone():
    """Problem 7.15."""
    hanging = 2 * bb - rho
    one = b.Particle(m, [rho * sin(alpha) * cos(phi), rho * sin(alpha) * sin(phi), -rho * cos(alpha)])
    two = b.Particle(
        ratio * m, [hanging * sin(theta) * cos(psi), hanging * sin(theta) * sin(psi), -hanging * cos(theta)]
    )
    return b.assemble("cone", [rho, phi, theta, psi], bodies=[one, two], loads=[b.Gravity(g)])


def leaning_rod():
    """Problem 7.16."""
    away = R * sympy.cot(alpha1 / 2)
    disc = b.PlaneBody(b.disc(M, R), [away, R], -away / R)
    rod = b.PlaneBody(b.rod(M, 4 * R).measured_from([-2 * R, 0]), [0, 0], alpha1)
    return b.assemble("disc and leaning rod", [alpha1], bodies=[disc, rod], loads=[b.Gravity(g)])


def turning_semi_hoop():
    """Problem 7.18: x slides along the line, theta turns about it."""
    hoop = b.SpaceBody(b.semi_hoop(M, R), [x, 0, 0], b.turns("x", pi / 2 + theta))
    bead = b.Particle(m, sympy.Matrix([x, 0, 0]) + sympy.Matrix(hoop.outward((R * cos(phi), -R * sin(phi), 0))))
    return b.assemble("semi-hoop", [x, theta, phi], bodies=[hoop, bead], loads=[b.Gravity(g)])


def thread_pulleys():
    """Problem 7.19: the thread joins the tops of the two pulleys."""
    one = b.PlaneBody(b.disc(mA, 3 * R / 2), [xA, 3 * R / 2], -2 * xA / (3 * R))
    two = b.PlaneBody(b.disc(mB, 2 * R), [xB, R], -xB / R)
    wound = two.at([xB, 3 * R]).velocity[0] - one.at([xA, 3 * R]).velocity[0]
    stretch = sympy.Add(*(wound.diff(q.dot) * q for q in (xA, xB)))
    return b.assemble("pulleys and thread", [xA, xB], bodies=[one, two], loads=[b.Potential(k * stretch**2 / 2)])


def disc_with_rod(position=R * theta, coordinates=(theta, phi), rolling=False):
    """Problem 7.20."""
    disc = b.PlaneBody(b.disc(M, R), [position, R], -theta)
    rod = b.PlaneBody(b.rod(m, l).measured_from([-l / 2, 0]), [position, R], phi - pi / 2)
    pull = b.Force([A * sin(Omega * t), 0], rod.point([l, 0]))
    contact = [b.rolling_on_line(disc, R)] if rolling else []
    return b.assemble("disc with rod", coordinates, bodies=[disc, rod], loads=[b.Gravity(g), pull], constraints=contact)


def hoop_and_spring():
    """Problem 7.21."""
    hoop = b.PlaneBody(b.hoop(3 * m, R), R * down(theta), theta)
    bead = b.Particle(m, R * down(theta) + R * down(psi))
    loads = [b.Gravity(g), b.Spring(m * g / R, bead, hoop.point([0, -R]))]
    return b.assemble("hoop and spring", [theta, psi], bodies=[hoop, bead], loads=loads)


def disc_in_hoop():
    """Problem 7.22."""
    hoop = b.PlaneBody(b.hoop(M, 2 * a), 2 * a * down(theta), theta)
    disc = b.PlaneBody(b.disc(m, a), 2 * a * down(theta) + a * down(phi), 2 * theta - phi)
    loads = [b.Gravity(g), b.Spring(k, disc, hoop.point([0, a]), length=2 * a)]
    return b.assemble("disc in hoop", [theta, phi], bodies=[hoop, disc], loads=loads)


def plate_on_trolley():
    """Problem 7.24."""
    trolley = b.Particle(M, [x, 0])
    plate = b.PlaneBody(b.plate(m, a, a), sympy.Matrix([x, -a / 2]) + l * down(theta), 0)
    loads = [b.Gravity(g), b.Damper(c, trolley)]
    return b.assemble("plate on a trolley", [x, theta], bodies=[trolley, plate], loads=loads)


def rolling_semicircle():
    """Problem 7.25, a semi-hoop with a particle."""
    body = b.PlaneBody(b.semi_hoop(M, R), [R * theta, R], -theta)
    bead = b.Particle(m, sympy.Matrix([R * theta, R]) + R * down(phi))
    return b.assemble("semi-hoop with bead", [theta, phi], bodies=[body, bead], loads=[b.Gravity(g)])


def discs_on_incline():
    """Problem 7.26; x is the middle of the centres, s the elongation, a the natural length of the spring."""
    ahead = sympy.Matrix([cos(alpha), -sin(alpha)])
    places = [x + (s + a) / 2, x - (s + a) / 2]
    discs = [b.PlaneBody(b.disc(M, R), p * ahead, -p / R) for p in places]
    return b.assemble("two discs", [x, s], bodies=discs, loads=[b.Gravity(g), b.Spring(k, *discs, length=a)])


EXAMPLES = [
    (pulleys, (0, 0), (0, 0), (-2.263846154, 6.791538462)),
    (rolling_half_disc, (0.6,), (0.4,), (-3.315394867,)),
    (double_pendulum, (0.6, -0.3), (0.4, 1.1), (-12.270306659, 11.376493773)),
    (cart_pendulum, (0.1, 0.6), (0.2, 0.4), (5.671477963, -12.77501927)),
    (rotating_disc, (0.5, 0.3), (0.2, -0.4), (5.179014201, -4.73968186)),
    (wedge, (0, 0), (0, 0), (-2.802857143, 5.945757877)),
    (slotted_disc, (0.3, 0.6, 0), (0.2, 0.4, 1.5), (16.257285814, -21.951153663, -0.844004578)),
    (hoop_and_cable, (0.3, 0.6), (0.2, 0.4), (-0.616618667, -6.925245623)),
    (ladder, (0, np.pi / 6), (0, 0), (7.154281441, 3.872368421)),
    (hoop_on_axis, (0.6, 0), (0.4, 1.5), (-5.106058988, -0.485371947)),
    (hoop_in_hoop, (0.6, -0.3), (0.4, 1.1), (-3.133060572, 1.620737752)),
    (damped_on_incline, (0.1, 0.6), (0.2, 0.4), (4.568190333, -9.685203111)),
    (cone, (0.5, 0, 0.6, 0), (0.1, 0.7, 0.4, 1.5), (-0.43636015, -0.28, -6.750231263, -1.325463708)),
    (leaning_rod, (0.9,), (-0.3,), (-0.733674599,)),
    (turning_semi_hoop, (0, 0.3, 0.6), (0.2, 0.4, 0.5), (1.955434242, -4.706821308, 9.895722683)),
    (thread_pulleys, (0, 0.1), (0, 0), (8, -10)),
    (disc_with_rod, (0.1, 0.6), (0.2, 0.4), (1.275390531, -7.354415992)),
    (hoop_and_spring, (0.6, -0.3), (0.4, 1.1), (-6.273766645, 15.784601758)),
    (disc_in_hoop, (0.6, -0.3), (0.4, 1.1), (-3.341823521, 6.01778209)),
    (plate_on_trolley, (0.1, 0.6), (0.2, 0.4), (2.30535756, -9.302295455)),
    (rolling_semicircle, (0.6, -0.3), (0.4, 1.1), (-6.027246052, 8.979218335)),
    (discs_on_incline, (0, 0.1), (0, 0), (3.135443022, -2)),
]


@pytest.mark.parametrize(("build", "q", "qdot", "expected"), EXAMPLES, ids=[e[0].__name__ for e in EXAMPLES])
def test_accelerations_of_the_book(build, q, qdot, expected):
    whole = build()
    assert accelerations(whole, q, qdot) == pytest.approx(expected, abs=2e-9)
    assert whole.degrees_of_freedom == len(q)
    changed = {p.name: (1.01 + i / 100) * REFERENCE[p] for i, p in enumerate(whole.system.parameters)}
    assert accelerations(whole, q, qdot, **changed) != pytest.approx(expected, abs=2e-9)


ENERGIES = [
    (
        rolling_half_disc,
        (Rational(3, 2) - 8 * cos(theta) / (3 * pi)) * M * R**2 * theta.dot**2 / 2,
        M * R * g * (1 - 4 * cos(theta) / (3 * pi)),
    ),
    (
        rotating_disc,
        m / 2 * (a**2 * omega**2 + r**2 * (omega + phi.dot) ** 2 + r.dot**2 + 2 * a * omega * r.dot * sin(phi)
                 + 2 * a * r * omega * (omega + phi.dot) * cos(phi)),
        k * (abs(r) - r0) ** 2 / 2,
    ),
    (
        wedge,
        m * (3 * X.dot**2 / 2 + sqrt(2) * X.dot * s.dot + 3 * s.dot**2 / 2),
        -sqrt(2) * m * g * s + sqrt(2) * m * g * r0,
    ),
    (
        hoop_in_hoop,
        m * R**2 * (2 * theta.dot**2 + Rational(4, 9) * phi.dot**2
                    - Rational(2, 3) * theta.dot * phi.dot * (1 - cos(theta - phi))),
        -2 * m * g * R * cos(theta) - Rational(2, 3) * m * g * R * cos(phi),
    ),
    (
        thread_pulleys,
        Rational(3, 4) * mA * xA.dot**2 + Rational(3, 2) * mB * xB.dot**2,
        k * (3 * xB - 2 * xA) ** 2 / 2,
    ),
    (
        rolling_semicircle,
        (2 * M * R**2 - 4 * M * R**2 * cos(theta) / pi) * theta.dot**2 / 2
        + m * R**2 * (theta.dot**2 + phi.dot**2 + 2 * theta.dot * phi.dot * cos(phi)) / 2,
        M * g * R * (1 - 2 * cos(theta) / pi) + m * g * R * (1 - cos(phi)),
    ),
    (
        disc_in_hoop,
        4 * M * a**2 * theta.dot**2 + m * a**2 * (3 * theta.dot**2 + Rational(3, 4) * phi.dot**2
                                                  + theta.dot * phi.dot * (2 * cos(phi - theta) - 1)),
        -2 * (M + m) * g * a * cos(theta) - m * g * a * cos(phi) + 2 * k * a**2 * (1 - cos((phi - theta) / 2)) ** 2,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("build", "kinetic", "potential"), ENERGIES, ids=[e[0].__name__ for e in ENERGIES])
def test_energies_of_the_book(build, kinetic, potential):
    whole = build()
    assert same(whole.kinetic, kinetic)
    assert same(whole.potential, potential)
    assert not same(whole.kinetic, kinetic * (1 + whole.coordinates[0] / 10))


def test_energy_of_a_plate_in_a_turning_plane():
    """Problem 7.14: the spin of the half-disc about the vertical has the moment m r^2/4 at any angle."""
    body = b.SpaceBody(b.half_disc(m, r0), [0, 0, 0], b.turns("zxz", psi, pi / 2, theta))
    whole = b.assemble("half-disc in a plane", [psi, theta], bodies=[body], loads=[b.Gravity(g)])
    assert same(whole.kinetic, m * r0**2 * psi.dot**2 / 8 + m * r0**2 * theta.dot**2 / 4)
    assert same(whole.potential, -4 * m * g * r0 * cos(theta) / (3 * pi))


def test_prescribed_motion():
    """Example 7.7 b: the cart runs at v; the pendulum does not notice."""
    whole = cart_pendulum(base=v * t, coordinates=[theta])
    at = numbers(whole, (0.6,), (0.4,))
    assert at.accelerations[theta] == pytest.approx(-6.92392833, abs=1e-8)
    assert at.jacobi_integral == pytest.approx(-13.587067812, abs=1e-9)


# ---- loads ----


def test_generalised_forces_of_dampers():
    """Problem 7.13 a."""
    forces = damped_on_incline().generalised_forces
    assert same(forces[x], -2 * c * x.dot - c * l * theta.dot * cos(theta + alpha))
    assert same(forces[theta], -c * l**2 * theta.dot - c * l * x.dot * cos(theta + alpha))


def test_virtual_work_of_a_force_on_a_rod():
    """Problem 7.20 a: the force and the weight in one one-form."""
    whole = disc_with_rod()
    work = whole.virtual_work()
    assert same(work[theta], A * sin(Omega * t) * R)
    assert same(work[phi], A * sin(Omega * t) * l * cos(phi) - m * g * l * sin(phi) / 2)
    assert same(whole.generalised_forces[phi], A * sin(Omega * t) * l * cos(phi))
    assert same(work.on({phi: 3}), 3 * work[phi])


def test_a_cable_does_the_work_of_its_length():
    """Problem 7.5 a: Q_phi = F R sin(phi/2); and a cable over places is one of that length."""
    whole = hoop_and_cable()
    force = A * sin(Omega * t)
    bead = whole.bodies[1]
    assert same(whole.generalised_forces[theta], 0)
    assert same(whole.generalised_forces[phi], force * R * sin(phi / 2))
    by_length = whole.virtual_work([b.Pull(force, b.length(bead, [0, 0]))])
    assert all(same(by_length[q], whole.generalised_forces[q]) for q in whole.coordinates)
    over = whole.virtual_work([b.Pull(force, bead, [R, R], [2 * R, 0])])
    assert same(over[phi], -force * b.length(bead, [R, R]).diff(phi))
    assert not same(over[phi], by_length[phi])


def test_torques():
    """Problem 7.8: on the body, on its angle, and between two bodies."""
    N = A * cos(Omega * t)
    whole = hoop_on_axis(N)
    assert same(whole.generalised_forces[psi], N)
    assert same(whole.virtual_work([b.Torque(N, psi)])[psi], N)
    one, two = (b.PlaneBody(b.disc(M, R), [i, 0], q) for i, q in enumerate((theta1, theta2)))
    pair = b.assemble("pair", [theta1, theta2], bodies=[one, two], loads=[b.Torque(N, one, against=two)])
    assert same(pair.generalised_forces[theta1], N) and same(pair.generalised_forces[theta2], -N)


def test_dampers_take_energy():
    """Between points along their line, between bodies about their axis, in a medium: power is never positive."""
    one = b.PlaneBody(b.rod(m, l), [x, y], theta1)
    two = b.PlaneBody(b.rod(m, l), [x1, x2], theta2)
    ends = one.point([l / 2, 0]), two.point([-l / 2, 0])
    loads = [b.Damper(c, *ends), b.TorsionDamper(c, one, two), b.Drag(c, ends[0])]
    q = [x, y, theta1, x1, x2, theta2]
    whole = b.assemble("two rods", q, bodies=[one, two], loads=loads)
    relative = rate(b.length(*ends))
    speed = sqrt(dot(ends[0].velocity, ends[0].velocity))
    powers = [-c * relative**2, -c * (theta1.dot - theta2.dot) ** 2, -c * speed**3]
    for load, power in zip(loads, powers, strict=True):
        assert same(whole.virtual_work([load]).on({p: p.dot for p in q}), power)
    assert not same(whole.virtual_work([loads[0]]).on({p: p.dot for p in q}), powers[1])


def test_drag_relative_to_a_medium():
    bob = b.Particle(m, [x, y])
    wind = b.Drag(c, bob, power=1, medium=[v, 0])
    whole = b.assemble("bob in the wind", [x, y], bodies=[bob], loads=[wind])
    assert same(whole.generalised_forces[x], -c * (x.dot - v)) and same(whole.generalised_forces[y], -c * y.dot)


def test_follower_and_velocity_dependent_forces():
    """A thrust along the axis of a rocket, at its tail, off the axis; a force across the velocity does no work."""
    rocket = b.PlaneBody(b.rod(m, l), [x, y], theta)
    tail = rocket.point([-l / 2, a])
    whole = b.assemble("rocket", [x, y, theta], bodies=[rocket], loads=[b.Force([A, 0], tail, fixed_in=rocket)])
    Q = whole.generalised_forces
    assert same(Q[x], A * cos(theta)) and same(Q[y], A * sin(theta)) and same(Q[theta], -A * a)
    bob = b.Particle(m, [r * cos(phi), r * sin(phi)])
    vx, vy = bob.velocity
    turned = b.assemble("turned", [r, phi], bodies=[bob], loads=[b.Force([-c * vy, c * vx], bob)])
    assert same(turned.virtual_work().on({r: r.dot, phi: phi.dot}), 0)
    assert not same(turned.generalised_forces[r], 0)


@pytest.mark.parametrize("kind", ["gravity", "tilted gravity", "spring", "stretched spring", "torsion", "charge"])
def test_forces_of_conservative_loads_are_those_of_their_potentials(kind):
    """T3, T16: virtual work of the forces against -dV/dq, or d/dt dU/dv - dU/dq, computed apart."""
    rod = b.PlaneBody(b.rod(m, l).measured_from([a, bb]), [x * cos(t), y], theta)
    bob = b.Particle(m1, [x + l * sin(phi), y * x - l * cos(phi)])
    load = {
        "gravity": b.Gravity(g),
        "tilted gravity": b.Gravity(g, direction=[3, 4], on=[rod]),
        "spring": b.Spring(k, rod.point([l, a]), bob),
        "stretched spring": b.Spring(k, rod.point([l, a]), [2, sin(t)], length=r0),
        "torsion": b.TorsionSpring(k, rod, phi, rest=alpha),
        "charge": b.Charge(c, bob, phi=lambda x, y, t: x**2 * y + t * y, A=lambda x, y, t: (x * y * t, x**2 + y**3)),
    }[kind]
    q = [x, y, theta, phi]
    whole = b.assemble("bob and rod", q, bodies=[rod, bob], loads=[load])
    work, U = whole.virtual_work(), whole.potential
    for p in q:
        assert same(work[p], rate(U.diff(p.dot)) - U.diff(p))
    assert not all(same(work[p], rate(U.diff(p.dot)) + U.diff(p)) for p in q)


def test_charged_particle():
    """T15, (7.66)-(7.71): the force of U = e (phi - v.A) is e (E + v x B), and the momentum is m v + e A."""
    e = da.parameters("e")

    def potential(x, y, z, t):
        return x * y**2 - exp(z * t)

    def vector_potential(x, y, z, t):
        return (y * z * t, sin(x) * z, x**2 * y + t**2)

    bob = b.Particle(m, [x, y, z])
    charge = b.Charge(e, bob, phi=potential, A=vector_potential)
    whole = b.assemble("charge", [x, y, z], bodies=[bob], loads=[charge])
    here = (x, y, z, t)
    A1, A2, A3 = vector_potential(*here)
    E = [-potential(*here).diff(q) - component.diff(t) for q, component in zip((x, y, z), (A1, A2, A3), strict=True)]
    B = [A3.diff(y) - A2.diff(z), A1.diff(z) - A3.diff(x), A2.diff(x) - A1.diff(y)]
    V = (x.dot, y.dot, z.dot)
    force = [e * (E[i] + V[(i + 1) % 3] * B[(i + 2) % 3] - V[(i + 2) % 3] * B[(i + 1) % 3]) for i in range(3)]
    for q, f, residual in zip((x, y, z), force, euler_lagrange(whole.system), strict=True):
        assert vanishes(residual - fast(m * q.ddot - f))
    momenta = gradient(whole.system.lagrangian, V)
    assert all(vanishes(p - fast(c)) for p, c in zip(momenta, charge.canonical_momentum, strict=True))
    electric = -potential(*here).diff(x)
    assert not vanishes(euler_lagrange(whole.system)[0] - fast(m * x.ddot - e * electric))


# ---- d'Alembert, in general ----


def random_positions(seed, dimension, bodies=2):
    """Some position functions r(q, t) of three coordinates and time."""
    rng = random.Random(seed)
    shapes = [lambda u: u, sin, cos, lambda u: u**2, lambda u: exp(u / 3)]

    def term():
        u = sympy.Add(*(Rational(rng.randint(1, 9), 5) * q for q in rng.sample([x, y, theta, t], 2)))
        return rng.choice(shapes)(u) * rng.choice([1, x, t, theta])

    return [[term() + term() for _ in range(dimension)] for _ in range(bodies)]


@pytest.mark.parametrize(("seed", "dimension"), [(1, 2), (2, 3)])
def test_identities_of_virtual_displacements(seed, dimension):
    """T1, T2, T6, T15: over random r(q, t)."""
    q = (x, y, theta)
    places = random_positions(seed, dimension)
    bodies = [b.Particle(mass, p) for mass, p in zip((m1, m2), places, strict=True)]
    kinetic = b.assemble("random", q, bodies=bodies).kinetic
    for p in q:
        for position, velocity in ((body.position, body.velocity) for body in bodies):
            for e, w in zip(position, velocity, strict=True):
                assert same(w.diff(p.dot), e.diff(p))
                assert same(rate(e.diff(p)), w.diff(p))
        slopes = [tuple(e.diff(p) for e in body.position) for body in bodies]
        carried = sum(dot(body.momentum_rate, slope) for body, slope in zip(bodies, slopes, strict=True))
        momentum = sum(body.mass * dot(body.velocity, slope) for body, slope in zip(bodies, slopes, strict=True))
        drift = sum(body.mass * dot(body.velocity, rates(s)) for body, s in zip(bodies, slopes, strict=True))
        assert same(carried, rate(kinetic.diff(p.dot)) - kinetic.diff(p))
        assert same(momentum, kinetic.diff(p.dot))
        assert same(drift, kinetic.diff(p))
        assert not same(carried, rate(kinetic.diff(p.dot)))
    rest = dict.fromkeys((p.dot for p in q), 0)
    frozen = [tuple(e.diff(t) for e in body.position) for body in bodies]
    T0 = sum(body.mass * dot(f, f) / 2 for body, f in zip(bodies, frozen, strict=True))
    assert same(kinetic.xreplace(rest), T0)
    for p in q:
        T1 = sum(body.mass * dot([e.diff(p) for e in body.position], f) for body, f in zip(bodies, frozen, strict=True))
        assert same(kinetic.diff(p.dot).xreplace(rest), T1)
        for o in q:
            T2 = sum(body.mass * dot([e.diff(p) for e in body.position], [e.diff(o) for e in body.position])
                     for body in bodies)  # fmt: skip
            assert same(kinetic.diff(p.dot, o.dot), T2)


LOADED = [
    double_pendulum, cart_pendulum, hoop_and_cable, hoop_in_hoop, damped_on_incline, disc_with_rod, turning_semi_hoop,
    slotted_disc, rotating_disc,
]  # fmt: skip


@pytest.mark.parametrize("build", LOADED, ids=[f.__name__ for f in LOADED])
def test_dalembert_is_lagrange(build):
    """(7.10), (7.11): (m a - f) . dr/dq, without energies, against Lagrange's equations; rigid bodies too."""
    whole = build()
    system = whole.system
    for q, e, f in zip(system.coordinates, euler_lagrange(system), system.force, strict=True):
        residual = whole.dalembert_residual()[q]
        assert vanishes(e - fast(f) - fast(residual))
        assert not vanishes(e - fast(f) - fast(residual) * fast(Rational(11, 10)))


def test_spinning_bodies_by_dalembert():
    """A heavy top with an eccentric point, Euler's angles: Euler's law projected is Lagrange's equation."""
    I1, I2, I3 = da.parameters("I1 I2 I3", positive=True)
    top = b.SpaceBody(b.Shape(m, [I1, I2, I3], [a, 0, l]), [x, 0, 0], b.turns("zxz", psi, theta, phi))
    whole = b.assemble("top", [x, psi, theta, phi], bodies=[top], loads=[b.Gravity(g)])
    residual = whole.dalembert_residual()
    for q, e in zip(whole.coordinates, euler_lagrange(whole.system), strict=True):
        assert vanishes(e - fast(residual[q]))


def test_reactions_do_no_virtual_work():
    """T16: the reactions of example 7.13, on displacements that the blade allows."""
    whole = knife_rod()
    row = whole.rows[0].coefficients
    free = [
        {x: cos(theta), y: sin(theta)},
        {theta: 1, x: -l / 2 * sin(theta), y: l / 2 * cos(theta)},
    ]
    for displacement in free:
        assert same(sum(dict(zip(whole.coordinates, row, strict=True))[q] * d for q, d in displacement.items()), 0)
    one = whole.bodies[0]
    normal = [-sin(theta), cos(theta)]
    reaction = whole.virtual_work([b.Force([A * e for e in normal], one)])
    assert all(same(reaction.on(d), 0) for d in free)
    assert not same(whole.virtual_work([b.Force([A, 0], one)]).on(free[0]), 0)


# ---- constraints ----


def knife_rod():
    """Examples 7.3 and 7.13: two masses on a rod, a blade at the first."""
    half = [l / 2 * cos(theta), l / 2 * sin(theta)]
    one, two = b.Particle(m, [x - half[0], y - half[1]]), b.Particle(m, [x + half[0], y + half[1]])
    blade = b.knife_edge(one, [cos(theta), sin(theta)])
    return b.assemble("rod with a blade", [x, y, theta], bodies=[one, two], constraints=[blade])


def test_knife_edge():
    """(7.3), and the multiplier of example 7.13."""
    whole = knife_rod()
    assert same(whole.constraints[0], -x.dot * sin(theta) + y.dot * cos(theta) - l * theta.dot / 2)
    assert whole.degrees_of_freedom == 2
    at = numbers(whole, (0, 0, 0.4), (0.626457357, 0.829428225, 1.3))
    assert list(at.accelerations.values()) == pytest.approx((-0.22780973, 0.538820681, -1.4625), abs=1e-8)
    assert at.multipliers == pytest.approx([1.404], abs=1e-8)


def test_hoop_down_an_incline():
    """Example 7.12, its friction by the multiplier of the rolling constraint."""
    ahead = [cos(alpha), -sin(alpha)]
    hoop = b.PlaneBody(b.hoop(m, a), [x * e for e in ahead], -theta)
    rolling = b.rolling_on_line(hoop, a, ahead)
    whole = b.assemble("hoop", [x, theta], bodies=[hoop], loads=[b.Gravity(g)], constraints=[rolling])
    assert same(rolling[0], x.dot - a * theta.dot)
    at = numbers(whole, (0, 0), (0, 0), a=0.35)
    assert list(at.accelerations.values()) == pytest.approx((2.351582267, 6.718806477), abs=1e-9)
    assert at.multipliers == pytest.approx([-2.82189872], abs=1e-9)


def test_rolling_on_a_moving_wedge():
    """Problem 7.1 with the angle of the disc free: the same accelerations, and the tangential reaction."""
    whole = wedge(psi, (X, s, psi), lambda disc, ahead: b.rolling_on_line(disc, r0, ahead, on=[X.dot, 0]))
    assert same(whole.constraints[0], s.dot + r0 * psi.dot)
    at = numbers(whole, (0, 0, 0), (0, 0, 0))
    assert list(at.accelerations.values())[:2] == pytest.approx((-2.802857143, 5.945757877), abs=1e-9)
    assert at.multipliers == pytest.approx([-7.134909453], abs=1e-9)
    still = wedge(psi, (X, s, psi), lambda disc, ahead: b.rolling_on_line(disc, r0, ahead))
    assert not same(still.constraints[0], whole.constraints[0])


def test_rolling_in_a_moving_circle():
    """Problem 7.11 with the angle of the inner hoop free."""
    whole = hoop_in_hoop(psi, (theta, phi, psi), rolling=True)
    assert same(whole.constraints[0] / whole.constraints[0].coeff(psi.dot), psi.dot - 3 * theta.dot + 2 * phi.dot)
    found = accelerations(whole, (0.6, -0.3, 0), (0.4, 1.1))
    assert found[:2] == pytest.approx((-3.133060572, 1.620737752), abs=1e-9)
    assert whole.degrees_of_freedom == 2


def test_rolling_outside_a_fixed_circle():
    """A disc of radius a on a circle of radius R turns by (R + a)/a times the angle of its centre."""
    disc = b.PlaneBody(b.disc(m, a), [(R + a) * sin(phi), (R + a) * cos(phi)], -psi)
    row = b.rolling_on_circle(disc, a, [0, 0], R, inside=False)
    assert same(row[0] / row[0].coeff(psi.dot), psi.dot - (R + a) / a * phi.dot)


def test_rolling_on_a_half_disc():
    """Example 7.5 with x free: the eccentric body rolls on its rim, and the two ways agree."""
    body = b.PlaneBody(b.half_disc(M, R), [x, R], -theta)
    whole = b.assemble("half-disc", [x, theta], bodies=[body], loads=[b.Gravity(g)],
                       constraints=b.rolling_on_line(body, R))  # fmt: skip
    assert accelerations(whole, (0.54, 0.6), (0.36, 0.4))[1] == pytest.approx(-3.315394867, abs=1e-9)


def test_disc_with_rod_and_its_friction():
    """Problem 7.20 e."""
    at = numbers(disc_with_rod(x, (x, theta, phi), rolling=True), (0.09, 0.1, 0.6), (0.18, 0.2, 0.4))
    assert at.multipliers == pytest.approx([-1.147851478], abs=1e-9)


def test_pulleys_with_their_cable():
    """Example 7.4, the cable kept: its tension is -lambda."""
    weights = [b.Particle(mass, [i, -d]) for i, (mass, d) in enumerate(zip((m1, m2, m3), (x1, x2, x3), strict=True))]
    whole = b.assemble("pulleys", [x1, x2, x3], bodies=weights, loads=[b.Gravity(g)],
                       constraints=[b.cable(0, 2 * x1 + x2 + x3)])  # fmt: skip
    at = numbers(whole, (0, 0, 0), (0, 0, 0))
    assert list(at.accelerations.values())[:2] == pytest.approx((-2.263846154, 6.791538462), abs=1e-9)
    assert at.multipliers == pytest.approx([-4 * 9.81 * 1 * 2 * 0.5 / (1 * 2 + 1 * 0.5 + 4 * 2 * 0.5)], rel=1e-12)


def test_two_blocks_and_a_pulley():
    """Notes, example 3: the normal force, the tension and no force sideways; a cable over places gives them too."""
    y1, y2 = da.coordinates("y1 y2")
    one, two = b.Particle(m1, [x1, y1]), b.Particle(m2, [x2, y2])
    q = [x1, y1, x2, y2]
    whole = b.assemble("blocks", q, bodies=[one, two], loads=[b.Gravity(g)],
                       constraints=[y1 - l, b.cable(a, x1 + y2), x2 - R])  # fmt: skip
    at = numbers(whole, (0.3, 0.8, 0.9, 0.2), (0, 0, 0, 0))
    assert list(at.accelerations.values()) == pytest.approx((6.54, 0, 0, -6.54), rel=1e-12, abs=1e-12)
    assert at.multipliers == pytest.approx((9.81, 6.54, 0), rel=1e-12, abs=1e-12)
    over = b.assemble("blocks", q, bodies=[one, two], loads=[b.Gravity(g)],
                      constraints=[y1 - l, b.cable(a, one, [R, l], two), x2 - R])  # fmt: skip
    hung = numbers(over, (0.7, 0.8, 0.9, 0.5), (0, 0, 0, 0))
    assert list(hung.accelerations.values()) == pytest.approx((6.54, 0, 0, -6.54), rel=1e-12, abs=1e-12)
    assert hung.multipliers[1] == pytest.approx(-6.54, rel=1e-12)


def test_double_pendulum_by_rods():
    """Notes, example 6: multipliers of the two rods, and the same motion as by angles."""
    y1, y2 = da.coordinates("y1 y2")
    l1, l2 = da.parameters("l1 l2", positive=True)
    one, two = b.Particle(m1, [x1, y1]), b.Particle(m2, [x2, y2])
    rods = [b.fixed_distance(one, [0, 0], l1), b.fixed_distance(one, two, l2)]
    whole = b.assemble("rods", [x1, y1, x2, y2], bodies=[one, two], loads=[b.Gravity(g)], constraints=rods)
    (s1, c1), (s2, c2) = ((np.sin(u), np.cos(u)) for u in (0.4, 1.2))
    w1, w2 = 0.3, -0.8
    place = [1.1 * s1, -1.1 * c1, 1.1 * s1 + 0.7 * s2, -1.1 * c1 - 0.7 * c2]
    speed = [1.1 * c1 * w1, 1.1 * s1 * w1, 1.1 * c1 * w1 + 0.7 * c2 * w2, 1.1 * s1 * w1 + 0.7 * s2 * w2]
    at = numbers(whole, place, speed, l1=1.1, l2=0.7, m1=0.9, m2=1.7)
    assert at.multipliers == pytest.approx((-5.59660831, -4.19462298), abs=1e-8)
    assert at.accelerations[x1] == pytest.approx(0.754050388, abs=1e-9)
    assert whole.degrees_of_freedom == 2


def test_particle_on_a_moving_circle():
    """Notes, example 8: a rheonomic constraint; the reaction has virtual power 0 and real power -lambda B."""
    centre = [Rational(3, 10) * sin(2 * t), t**2 / 10]
    bob = b.Particle(m, [x, y])
    whole = b.assemble("moving circle", [x, y], bodies=[bob], loads=[b.Gravity(g)],
                       constraints=b.fixed_distance(bob, centre, R))  # fmt: skip
    T, u, w = 0.7, 0.5, 1.1
    place = [0.3 * np.sin(2 * T) + 0.9 * np.cos(u), 0.1 * T**2 + 0.9 * np.sin(u)]
    speed = [0.6 * np.cos(2 * T) - 0.9 * w * np.sin(u), 0.2 * T + 0.9 * w * np.cos(u)]
    at = numbers(whole, place, speed, time=T)
    assert at.multipliers == pytest.approx([1.78151563], abs=1e-8)
    assert list(at.accelerations.values()) == pytest.approx((2.34514057, -8.52884387), abs=1e-8)
    power = sum(at.reactions[q] * at.velocities[q] for q in (x, y))
    assert power == pytest.approx(0.502223958, abs=1e-9)


def test_redundant_constraints_are_counted_once():
    """Problem 7.2: two longitudinal blades on one rod block the same motion."""
    one, two = b.Particle(m, [x1, x2]), b.Particle(m, [x, y])
    along = [x - x1, y - x2]
    blades = [b.knife_edge(p, [-along[1], along[0]]) for p in (one, two)]
    rod = b.fixed_distance(one, two, l)
    whole = b.assemble("two blades", [x1, x2, x, y], bodies=[one, two], constraints=[rod, *blades])
    assert whole.degrees_of_freedom == 2
    with pytest.raises(da.ModelError, match="redundant"):
        whole.system  # noqa: B018


# ---- releasing a freedom ----


def test_release_of_a_length():
    """The rod of a pendulum: the multiplier is minus its tension."""
    bob = b.Particle(m, l * down(theta))
    whole = b.assemble("pendulum", [theta], bodies=[bob], loads=[b.Gravity(g)]).release(l)
    at = numbers(whole, (0.6, 0.8), (0.4, 0))
    assert at.multipliers == pytest.approx([-1.2 * (0.8 * 0.4**2 + 9.81 * np.cos(0.6))], rel=1e-12)
    assert at.accelerations[theta] == pytest.approx(-9.81 / 0.8 * np.sin(0.6), rel=1e-12)


def test_release_of_a_body():
    """Problems 7.1, 7.5 e, 7.7 (4), 7.18 d: the reaction along a direction, by releasing that motion."""
    whole = hoop_and_cable()
    released = whole.release(whole.bodies[1], along=down(theta + phi))
    assert numbers(released, (0.3, 0.6, 0), (0.2, 0.4)).multipliers == pytest.approx([-6.337247765], abs=1e-9)

    rolling = wedge()
    lifted = rolling.release(rolling.bodies[1], along=[1, 1])
    assert numbers(lifted, (0, 0, 0), (0, 0)).multipliers == pytest.approx([11.891515754], abs=1e-9)

    imposed = ladder(omega * t, [s])
    across = imposed.release(imposed.bodies[1], along=[cos(omega * t), sin(omega * t)])
    reaction = numbers(across, (0.13, 0), (0.3,), time=0.2).multipliers
    assert reaction == pytest.approx([4.780562345], abs=1e-9)

    swung = turning_semi_hoop()
    outward = [cos(phi), sin(phi) * sin(theta), -sin(phi) * cos(theta)]
    sideways = [0, cos(theta), sin(theta)]
    for direction, expected in ((outward, -4.738518989), (sideways, 0.965123935)):
        held = swung.release(swung.bodies[1], along=direction)
        assert numbers(held, (0, 0.3, 0.6, 0), (0.2, 0.4, 0.5)).multipliers == pytest.approx([expected], abs=1e-9)


def test_release_keeps_the_loads_on_the_body():
    """A spring on a released body pulls at where the body is now: no force is lost."""
    bob = b.Particle(m, [x, 0])
    spring = b.Spring(k, bob, [0, a])
    whole = b.assemble("bead", [x], bodies=[bob], loads=[spring, b.Gravity(g)])
    at = numbers(whole.release(bob, along=[0, 1]), (0.2, 0), (0,))
    assert at.multipliers == pytest.approx([1.2 * 9.81 - 30 * 0.5], rel=1e-12)


def test_release_of_an_angle():
    """A beam carried at its end: the torque of the clamp holds its weight."""
    beam = b.PlaneBody(b.rod(m, l).measured_from([-l / 2, 0]), [x, 0], 0)
    whole = b.assemble("beam", [x], bodies=[beam], loads=[b.Gravity(g)])
    torque = numbers(whole.release(beam), (0, 0), (0,)).multipliers
    assert torque == pytest.approx([1.2 * 9.81 * 0.4], rel=1e-12)


# ---- rigid bodies in space ----


def test_one_rotation_written_in_several_ways():
    """Euler's angles, the matrix and the quaternion: one orientation, one angular velocity."""
    for axes in ("zxz", "zyx", "xyz"):
        by_turns = b.turns(axes, psi, theta, phi)
        by_matrix = b.rotation(by_turns.matrix)
        assert all(same(*pair) for pair in zip(by_turns.spin, by_matrix.spin, strict=True))
    half = [(cos(u / 2), sin(u / 2)) for u in (psi, theta, phi)]
    q = [1, 0, 0, 0]
    for axis, (cosine, sine) in zip("zxz", half, strict=True):
        q = product(q, [cosine, *(sine if axis == other else 0 for other in "xyz")])
    by_quaternion, by_turns = b.quaternion(*q), b.turns("zxz", psi, theta, phi)
    assert all(same(*pair) for pair in zip(by_quaternion.spin, by_turns.spin, strict=True))
    assert all(same(*pair) for pair in zip(by_quaternion.matrix, by_turns.matrix, strict=True))
    other = b.turns("zyz", psi, theta, phi)
    assert not all(same(*pair) for pair in zip(other.spin, by_turns.spin, strict=True))


def product(p, q):
    """Of two quaternions."""
    w, *u = p
    o, *n = q
    cross = [u[1] * n[2] - u[2] * n[1], u[2] * n[0] - u[0] * n[2], u[0] * n[1] - u[1] * n[0]]
    return [w * o - sum(i * j for i, j in zip(u, n, strict=True)),
            *(w * j + o * i + e for i, j, e in zip(u, n, cross, strict=True))]  # fmt: skip


def test_heavy_top_by_angles_and_by_quaternion():
    """The same top in two charts: energy and angular accelerations, and a run that keeps to the constraint."""
    I1, I2, I3 = da.parameters("I1 I2 I3", positive=True)
    q = da.coordinates("q0 q1 q2 q3")
    shape = b.Shape(m, [I1, I2, I3], [0, 0, l])
    angles = b.turns("zxz", psi, theta, phi)
    tops = [b.SpaceBody(shape, [0, 0, 0], turn) for turn in (angles, b.quaternion(*q))]
    euler = b.assemble("top", [psi, theta, phi], bodies=tops[:1], loads=[b.Gravity(g)])
    unit = b.assemble("top", q, bodies=tops[1:], loads=[b.Gravity(g)])
    assert (euler.degrees_of_freedom, unit.degrees_of_freedom) == (3, 3)
    moments = {"I1": 0.3, "I2": 0.5, "I3": 0.2}
    state, rates_ = (0.3, 0.9, -0.4), (0.7, -0.2, 2.5)
    one = numbers(euler, state, rates_, **moments)
    chart = [1, 0, 0, 0]
    for axis, u in zip("zxz", (psi, theta, phi), strict=True):
        chart = product(chart, [cos(u / 2), *(sin(u / 2) if axis == other else 0 for other in "xyz")])
    here = dict(zip((psi, theta, phi), state, strict=True))
    moving = here | {c.dot: w for c, w in zip((psi, theta, phi), rates_, strict=True)}
    turning = moving | {c.ddot: w for c, w in one.accelerations.items()}
    place = [float(e.subs(here)) for e in chart]
    speed = [float(rate(e).subs(moving)) for e in chart]
    two = numbers(unit, place, speed, **moments)
    assert two.energy == pytest.approx(one.energy, rel=1e-12)
    expected = [float(rate(rate(e)).subs(turning)) for e in chart]
    assert list(two.accelerations.values()) == pytest.approx(expected, abs=1e-11)
    assert list(two.accelerations.values()) != pytest.approx([e + 1e-6 for e in expected], abs=1e-11)

    values = {p: moments.get(p.name, REFERENCE.get(p)) for p in unit.system.parameters}
    start = dict(zip(q, place, strict=True)) | dict(zip((c.dot for c in q), speed, strict=True))
    run = da.simulate(unit.system, da.Midpoint(), h=0.005, steps=200, start=start, parameters=values)
    assert np.abs(sum(run[c] ** 2 for c in q) - 1).max() < 1e-12
    assert np.ptp(run.energy) < 1e-3 * np.abs(run.energy).max()


def test_rolling_ball():
    """A ball on an incline in space: it goes down like 5/7 g sin(alpha), and keeps its spin about the normal."""
    p = da.coordinates("p")
    ball = b.SpaceBody(b.sphere(m, R), [x, y, R], b.turns("zyx", psi, theta, p))
    slope = b.Gravity(g, direction=[sin(alpha), 0, -cos(alpha)])
    whole = b.assemble("ball", [x, y, psi, theta, p], bodies=[ball], loads=[slope],
                       constraints=b.rolling_on_plane(ball, R))  # fmt: skip
    assert whole.degrees_of_freedom == 3
    at = numbers(whole, (0, 0, 0.2, 0.3, 0.4), (0.5, -0.2, 1.1))
    assert at.accelerations[x] == pytest.approx(5 / 7 * 9.81 * np.sin(0.5), rel=1e-12)
    assert at.accelerations[y] == pytest.approx(0, abs=1e-12)
    assert at.multipliers[0] == pytest.approx(-2 / 7 * 1.2 * 9.81 * np.sin(0.5), rel=1e-12)


def test_rolling_on_an_inclined_plane():
    """The same ball with axes that are not those of the slope."""
    p = da.coordinates("p")
    normal = (-Rational(3, 5), 0, Rational(4, 5))
    ahead = sympy.Matrix([Rational(4, 5), 0, Rational(3, 5)])
    centre = x * ahead + y * sympy.Matrix([0, 1, 0]) + R * sympy.Matrix(normal)
    ball = b.SpaceBody(b.sphere(m, R), centre, b.turns("zyx", psi, theta, p))
    whole = b.assemble("ball", [x, y, psi, theta, p], bodies=[ball], loads=[b.Gravity(g)],
                       constraints=b.rolling_on_plane(ball, R, normal))  # fmt: skip
    found = accelerations(whole, (0, 0, 0.2, 0.3, 0.4), (0.5, -0.2, 1.1))
    assert found[:2] == pytest.approx((-5 / 7 * 9.81 * 3 / 5, 0), rel=1e-12, abs=1e-12)


def test_lowest_point_of_a_disc():
    """By the line of nodes of Euler's angles, and by projection where there is none."""
    angles = b.turns("zxz", psi, theta, phi)
    disc = b.SpaceBody(b.disc(m, R), [x, y, z], angles)
    plain = b.SpaceBody(b.disc(m, R), [x, y, z], angles.matrix)
    at = {psi: 0.3, theta: 0.8, phi: 1.9, x: 0.1, y: 0.2, z: 0.3, R: 0.9}
    for one, two in zip(b.lowest_point(disc, R), b.lowest_point(plain, R), strict=True):
        assert float(one.subs(at)) == pytest.approx(float(two.subs(at)), rel=1e-12)


NORMALS = [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (3, 0, -4)]
AXLES = [(0, 0, 1), (0, 1, 0), (-1, 0, 0), (0, 4, 3)]
SEQUENCES = ["zxz", "zyz", "zxy", "zyx", "xyz", "yxy", "xzy", "zy"]


@pytest.mark.parametrize("axes", SEQUENCES)
def test_the_lowest_point_is_the_lowest(axes):
    """However the disc is turned, for any axle and normal: no other point of the edge is lower."""
    rng = np.random.default_rng(sum(map(ord, axes)))
    turned = b.turns(axes, *(psi, theta, phi)[: len(axes)])
    body = b.SpaceBody(b.disc(m, R), [x, y, z], turned)
    tried = 0
    for normal, axle in ((n, a) for n in NORMALS for a in AXLES):
        up, along = (np.array(v) / np.linalg.norm(v) for v in (normal, axle))
        try:
            point = b.lowest_point(body, R, normal, axle)
        except ModelError as error:  # then it is flat, whatever the angles
            assert "the disc lies flat" in str(error)
            at = {q: rng.uniform(-3, 3) for q in (psi, theta, phi)}
            assert abs(np.array(turned.matrix.subs(at), float) @ along @ up) == pytest.approx(1)
            continue
        for _ in range(4):
            at = {q: rng.uniform(-3, 3) for q in (psi, theta, phi)} | {x: 0.1, y: 0.2, z: 0.3, R: 0.9}
            axis = np.array(turned.matrix.subs(at), float) @ along
            arm = np.array([float(e.subs(at)) for e in point]) - [0.1, 0.2, 0.3]
            assert np.linalg.norm(arm) == pytest.approx(0.9)
            assert arm @ axis == pytest.approx(0, abs=1e-12)
            assert arm @ up == pytest.approx(-0.9 * np.sqrt(1 - (axis @ up) ** 2), rel=1e-9, abs=1e-12)
            tried += 1
    assert tried > 50


def test_a_wheel_with_its_axle_along_y_rolls_ahead():
    """Yaw, lean and spin, as of a bicycle: the centre goes R times the rate of spin, forward."""
    body = b.SpaceBody(b.disc(m, R), [x, y, R * cos(theta)], b.turns("zxy", psi, theta, phi))
    rows = b.rolling_disc(body, R, axle=[0, 1, 0])
    speeds = sympy.solve([e.subs({psi: 0, theta: 0, psi.dot: 0, theta.dot: 0}) for e in rows], [x.dot, y.dot])
    assert speeds == {x.dot: R * phi.dot, y.dot: 0}
    back = b.rolling_disc(body, R, (0, 0, -1), axle=[0, 1, 0])  # control: under a ceiling it goes the other way
    speeds = sympy.solve([e.subs({psi: 0, theta: 0, psi.dot: 0, theta.dot: 0}) for e in back], [x.dot, y.dot])
    assert speeds == {x.dot: -R * phi.dot, y.dot: 0}
    with pytest.raises(ModelError, match="the disc lies flat"):
        b.lowest_point(b.SpaceBody(b.disc(m, R), [x, y, z], b.turns("z", psi)), R)


# ---- the inertia library ----


def quadrature(density, points, limits):
    """Mass, first moments and moments of inertia by Gauss's rule, exact here to rounding."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    grid = np.meshgrid(*(a + (b - a) * (nodes + 1) / 2 for a, b in limits), indexing="ij")
    weight = np.array(1.0)
    for a, b in limits:
        weight = np.multiply.outer(weight, weights * (b - a) / 2)
    X, Y, Z = np.broadcast_arrays(*points(*grid))
    mass = density(*grid) * weight
    return [float((mass * e).sum()) for e in (np.ones_like(X), X, Y, Z, Y**2 + Z**2, X**2 + Z**2, X**2 + Y**2)]


def ring(w):
    return 0.9 * np.cos(w), 0.9 * np.sin(w), 0 * w


def flat(w, u):
    return u * np.cos(w), u * np.sin(w), 0 * u


def ball(w, o, u=0.9):
    return u * np.sin(o) * np.cos(w), u * np.sin(o) * np.sin(w), u * np.cos(o)


ROUND, LOWER, POLAR, RADIAL = (0, 2 * np.pi), (np.pi, 2 * np.pi), (0, np.pi), (0, 0.9)
SHAPES = [
    (b.hoop(m, R), lambda w: 1.2 / (2 * np.pi), ring, [ROUND]),
    (b.semi_hoop(m, R), lambda w: 1.2 / np.pi, ring, [LOWER]),
    (b.disc(m, R), lambda w, u: 1.2 * u / (np.pi * 0.81), flat, [ROUND, RADIAL]),
    (b.half_disc(m, R), lambda w, u: 2.4 * u / (np.pi * 0.81), flat, [LOWER, RADIAL]),
    (b.rod(m, l), lambda u: 1.2 / 0.8, lambda u: (u, 0 * u, 0 * u), [(-0.4, 0.4)]),
    (b.plate(m, a, bb), lambda u, w: 4.0, lambda u, w: (u, w, 0 * u), [(-0.25, 0.25), (-0.3, 0.3)]),
    (b.spherical_shell(m, R), lambda w, o: 1.2 * np.sin(o) / (4 * np.pi), ball, [ROUND, POLAR]),
    (b.sphere(m, R), lambda w, o, u: 3.6 * u**2 * np.sin(o) / (4 * np.pi * 0.729), ball, [ROUND, POLAR, RADIAL]),
]


@pytest.mark.parametrize(("shape", "density", "points", "limits"), SHAPES)
def test_moments_of_inertia_by_integration(shape, density, points, limits):
    """Every shape against the integrals over its mass, about its own point and, by Steiner, about another."""
    mass, *moments = quadrature(density, points, limits)
    first, second = moments[:3], moments[3:]

    def value(e):
        return float(sympy.sympify(e).subs(REFERENCE))

    assert value(shape.mass) == pytest.approx(mass, rel=1e-12)
    assert [value(shape.mass * e) for e in shape.centroid] == pytest.approx(first, abs=1e-12)
    tensor = shape.tensor_about([0, 0, 0])
    assert [value(tensor[i, i]) for i in range(3)] == pytest.approx(second, rel=1e-12, abs=1e-12)
    assert value(shape.about([0, 0])) == pytest.approx(second[2], rel=1e-12)
    away = second[2] - 2 * 0.3 * first[0] + 2 * 0.2 * first[1] + mass * (0.3**2 + 0.2**2)
    assert value(shape.about([Rational(3, 10), -Rational(1, 5)])) == pytest.approx(away, rel=1e-12)
    assert value(shape.about([0, 0])) != pytest.approx(away, rel=1e-3)


def test_the_point_a_body_is_measured_from_does_not_matter():
    """A rod by its middle and by its end: the same energies."""
    by_middle = b.PlaneBody(b.rod(m, l), [x + l / 2 * cos(theta), y + l / 2 * sin(theta)], theta)
    by_end = b.PlaneBody(b.rod(m, l).measured_from([-l / 2, 0]), [x, y], theta)
    one, two = (b.assemble("rod", [x, y, theta], bodies=[o], loads=[b.Gravity(g)]) for o in (by_middle, by_end))
    assert same(one.kinetic, two.kinetic) and same(one.potential, two.potential)
    assert same(b.rod(m, l).about([l / 2, 0]), m * l**2 / 3)


# ---- composition ----


def test_composition():
    """T23: Lagrangians add; without interaction the equations fall into blocks, with it they do not."""
    one = cart_pendulum()
    two = da.System("oscillator", [y], lagrangian=M * y.dot**2 / 2 - k * y**2 / 2, dissipation=c * y.dot**2 / 2,
                    forces={y: A * cos(Omega * t)})  # fmt: skip
    alone = b.compose("both", one, two)
    joined = b.compose("joined", one, two, interaction=k * (x - y) ** 2 / 2)
    assert same(joined.lagrangian, one.system.lagrangian + two.lagrangian - k * (x - y) ** 2 / 2)
    parts = [*zip(one.system.coordinates, euler_lagrange(one.system), strict=True), (y, euler_lagrange(two)[0])]
    for (q, e), whole in zip(parts, euler_lagrange(alone), strict=True):
        assert vanishes(e - whole)
        others = {y} if q in (x, theta) else {x, theta}
        assert not {str(s) for s in whole.free_symbols} & {str(o) for o in others}
    assert str(y) in {str(s) for s in euler_lagrange(joined)[0].free_symbols}
    assert alone.force[2] == two.force[0] and alone.dissipation == two.dissipation


def test_composition_keeps_constraints_and_variations():
    one = knife_rod()
    odd = da.System("tilted", [z, s], kinetic=m * (z.dot**2 + s.dot**2) / 2, constraints=[z.dot - s * s.dot],
                    variations=[z.dot])  # fmt: skip
    whole = b.compose("both", one, odd, constraints=[z - x])
    assert [e.expression for e in whole.constraints] == [
        *(e.expression for e in one.system.constraints), *(e.expression for e in odd.constraints), z - x
    ]  # fmt: skip
    assert [len(w) for w in whole.variations] == [5, 5, 5] and not whole.is_ideal
    assert same(whole.variations[1][3], 1) and same(whole.variations[1][4], 0) and same(whole.variations[2][0], -1)
    assert b.compose("both", one, cart_of_its_own()).is_ideal


def cart_of_its_own():
    return b.assemble("cart", [X], bodies=[b.Particle(m, [X, 0])])


# ---- how it shows itself ----


def test_an_assembly_shows_itself():
    whole = cart_pendulum()
    text = str(whole)
    assert text.startswith("cart and pendulum: 2 degrees of freedom, coordinates x, theta")
    assert "kinetic:" in text and "l*m2*theta.dot*x.dot*cos(theta)" in text
    assert r"\displaystyle" in whole._repr_markdown_()
    assert "dtheta:  -g*l*m2*sin(theta)" in str(whole.virtual_work())
    assert whole.positions == ((x, 0), (l * sin(theta) + x, -l * cos(theta)))


def test_one_degree_of_freedom_is_singular():
    assert str(cart_of_its_own()).startswith("cart: 1 degree of freedom, coordinates X")


def test_a_spherical_pendulum_has_sines():
    """1 - cos^2 is written as sin^2 where that is shorter, and not where it is not."""
    bob = b.Particle(m, [l * sin(theta) * cos(phi), l * sin(theta) * sin(phi), -l * cos(theta)])
    kinetic = b.assemble("spherical pendulum", [theta, phi], bodies=[bob]).kinetic
    assert sympy.expand(kinetic) == m * l**2 * theta.dot**2 / 2 + m * l**2 * sin(theta) ** 2 * phi.dot**2 / 2
    assert kinetic.count_ops() <= 16 and not kinetic.has(cos)
    assert collected(m * (1 + cos(theta) ** 2) * theta.dot**2).has(cos)
