"""First integrals of chapter 7 (analytical dynamics): examples 7.4-7.13 and problems 7.1-7.26.

Each row states a system and the integrals that the chapter (or its corrected digest) gives for it. Whatever the library
reports is checked here once more, with accelerations computed from the Lagrangian by SymPy alone.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy
from sympy import Rational as Q

import dalembert as da
from dalembert import cos, pi, sin, sqrt, time
from dalembert.decide.budget import Budget
from dalembert.theory.conserved.first_integrals import _symmetry
from dalembert.theory.conserved.integral_search import Search, follows
from dalembert.theory.conserved.on_shell import Shell, shell

x, y, z, s, r, X, rho = da.coordinates("x y z s r X rho")
theta, phi, psi, theta_1, theta_2, alpha = da.coordinates("theta phi psi theta_1 theta_2 alpha")
x_1, x_2, x_A, x_B, x_G, y_G = da.coordinates("x_1 x_2 x_A x_B x_G y_G")
r_x, r_y, s_x, s_y = da.coordinates("r_x r_y s_x s_y")
m, g, l, R, M, k, a, b, c, d, v, r_0, F, A = da.parameters("m g l R M k a b c d v r_0 F A", positive=True)
omega, Omega, beta, lam, m_1, m_2, m_3, m_A, m_B = da.parameters(
    "omega Omega beta lam m_1 m_2 m_3 m_A m_B", positive=True
)
half = Q(1, 2)


def system(name, kinetic, potential=0, **more):
    """A system whose coordinates are those that occur, in the order of their names."""
    used = {u for e in (kinetic, potential) for u in sympy.sympify(e).free_symbols}
    q = sorted({u.coordinate for u in used if u.name.endswith(".dot")}, key=lambda u: u.name)
    return da.System(name, q, kinetic=kinetic, potential=potential, **more)


def cart(m_1, m_2):
    return m_1 * x.dot**2 / 2 + m_2 * (x.dot**2 + l**2 * theta.dot**2 + 2 * l * x.dot * theta.dot * cos(theta)) / 2


wedge = Q(3, 2) * m * X.dot**2 + sqrt(2) * m * X.dot * s.dot + Q(3, 2) * m * s.dot**2
hung = M * R**2 * theta.dot**2 + m * R**2 / 2 * (
    theta.dot**2 + (theta.dot + phi.dot) ** 2 + 2 * theta.dot * (theta.dot + phi.dot) * cos(phi)
)
hung_V = -M * g * R * cos(theta) - m * g * R * (cos(theta) + cos(theta + phi))
rod = (R**2 + l**2 * sin(theta) ** 2) * phi.dot**2 + l**2 * theta.dot**2 + 2 * R * l * phi.dot * theta.dot * cos(theta)
slot = x + l * sin(theta)
slotted = M * R**2 * psi.dot**2 / 4 + m / 2 * (
    (x.dot + l * theta.dot * cos(theta)) ** 2 + l**2 * theta.dot**2 * sin(theta) ** 2 + slot**2 * psi.dot**2
)
ladder = (
    m / 24 * (7 * l**2 + 12 * s**2 + 12 * l * s * cos(2 * theta)) * theta.dot**2
    + m / 2 * s.dot**2
    + m / 2 * l * sin(2 * theta) * s.dot * theta.dot
)
spring = m * x.dot**2 + m / 2 * (s.dot**2 + s**2 * theta.dot**2)
spring += m * x.dot * (s.dot * cos(theta) - s * theta.dot * sin(theta))
double = theta_1.dot**2 + theta_2.dot**2 + 2 * theta_1.dot * theta_2.dot * cos(theta_1 - theta_2)
slope = m / 2 * (x.dot**2 + l**2 * theta.dot**2 + 2 * l * x.dot * theta.dot * cos(theta + beta))
cone = m / 2 * (rho.dot**2 + rho**2 * sin(beta) ** 2 * phi.dot**2) + lam * m / 2 * (
    rho.dot**2 + (2 * b - rho) ** 2 * (theta.dot**2 + sin(theta) ** 2 * psi.dot**2)
)
semi = (M + m) / 2 * x.dot**2 + (M * R**2 / 2 + m * R**2 * sin(phi) ** 2) * theta.dot**2 / 2
semi += m * R**2 * phi.dot**2 / 2 - m * R * x.dot * phi.dot * sin(phi)
driven = (Q(3, 4) * M + m / 2) * R**2 * theta.dot**2 + m * l**2 * phi.dot**2 / 6
driven += m * R * l * theta.dot * phi.dot * cos(phi) / 2
push = A * sin(Omega * time)
inner = 2 * theta.dot**2 + Q(4, 9) * phi.dot**2 - Q(2, 3) * theta.dot * phi.dot * (1 - cos(theta - phi))
inside = 3 * theta.dot**2 + Q(3, 4) * phi.dot**2 + theta.dot * phi.dot * (2 * cos(phi - theta) - 1)
binary = M / 2 * (x_G.dot**2 + y_G.dot**2) + m / 2 * (s.dot**2 + s**2 * theta.dot**2)
r_kinetic = m_A / 2 * (r_x.dot**2 + r_y.dot**2) + m_B / 2 * ((r_x.dot + s_x.dot) ** 2 + (r_y.dot + s_y.dot) ** 2)
semicircle = (M * R**2 * Q(3, 2) - 2 * M * R * d * cos(theta)) / 2 * theta.dot**2
semicircle += m / 2 * R**2 * (theta.dot**2 + phi.dot**2 + 2 * theta.dot * phi.dot * cos(phi))
disc_7_11 = r**2 * (omega + phi.dot) ** 2 + r.dot**2 + 2 * a * r * omega * (omega + phi.dot) * cos(phi)
disc_7_11 = m / 2 * (a**2 * omega**2 + disc_7_11 + 2 * a * omega * r.dot * sin(phi))
rods = M / 2 * a**2 * (theta_1.dot**2 + omega**2 * sin(theta_1) ** 2)
rods += m / 2 * a**2 * (double + omega**2 * (sin(theta_1) + sin(theta_2)) ** 2)
rods_V = k / 2 * a**2 * sin(theta_1) ** 2 - M * g * a * cos(theta_1) - m * g * a * (cos(theta_1) + cos(theta_2))

E = "the energy"
JACOBI = "h, which is not the energy"

# (number, kinetic, potential, more, integrals; E stands for T + V and JACOBI for h = T2 - T0 + V
SYSTEMS = [
    ("Ex. 7.5", (Q(3, 2) - Q(8, 3) / pi * cos(theta)) * M * R**2 * theta.dot**2 / 2,
     M * R * g * (1 - Q(4, 3) / pi * cos(theta)), {}, [E]),
    ("Ex. 7.6", m_1 * l**2 * theta_1.dot**2 / 2 + m_2 * l**2 * double / 2,
     -m_1 * g * l * cos(theta_1) - m_2 * g * l * (cos(theta_1) + cos(theta_2)), {}, [E]),
    ("Ex. 7.7 a", cart(m_1, m_2), -m_2 * g * l * cos(theta), {},
     [E, m_1 * x.dot + m_2 * (x.dot + l * theta.dot * cos(theta))]),
    ("Ex. 7.7 b", cart(m_1, m_2).subs(x.dot, v), -m_2 * g * l * cos(theta), {},
     [JACOBI, -(m_1 + m_2) * v**2 / 2 + m_2 * l**2 * theta.dot**2 / 2 - m_2 * g * l * cos(theta)]),
    ("Ex. 7.10", m * (v + x.dot) ** 2 / 2, k * x**2 / 2, {}, [JACOBI, m * x.dot**2 / 2 + k * x**2 / 2]),
    ("Ex. 7.11", disc_7_11, k * (r - r_0) ** 2 / 2, {}, [JACOBI]),
    ("7.1", wedge, -sqrt(2) * m * g * s, {}, [E, 3 * m * X.dot + sqrt(2) * m * s.dot]),
    ("7.3", slotted, -m * g * l * cos(theta), {}, [E, (M * R**2 / 2 + m * slot**2) * psi.dot,
     l * theta.dot * sin(theta) + g * time]),  # the rod is unloaded: the bob falls freely
    ("7.4", m / 2 * rod, -m * g * l * cos(theta), {},
     [E, m * (R**2 + l**2 * sin(theta) ** 2) * phi.dot + m * R * l * theta.dot * cos(theta)]),
    ("7.4, driven", m / 2 * rod.subs(phi.dot, omega), -m * g * l * cos(theta), {}, [JACOBI]),
    ("7.5, constant F", hung, hung_V, {"forces": {phi: F * R * sin(phi / 2)}},
     [hung + hung_V + 2 * R * F * cos(phi / 2)]),
    ("7.5, F(t)", hung, hung_V, {"forces": {phi: push * R * sin(phi / 2)}}, []),
    ("7.6", m / 2 * R**2 * (phi.dot**2 + omega**2 * sin(phi) ** 2), -m * g * R * cos(phi), {}, [JACOBI]),
    ("7.7", ladder, m * g * (l - s) * cos(theta), {}, [E]),
    ("7.8", M * R**2 * psi.dot**2 / 4 + m / 2 * R**2 * (phi.dot**2 + sin(phi) ** 2 * psi.dot**2),
     -m * g * R * cos(phi), {}, [E, (M * R**2 / 2 + m * R**2 * sin(phi) ** 2) * psi.dot]),
    ("7.8, torque", M * R**2 * psi.dot**2 / 4 + m / 2 * R**2 * (phi.dot**2 + sin(phi) ** 2 * psi.dot**2),
     -m * g * R * cos(phi), {"forces": {psi: push}},
     [(M * R**2 / 2 + m * R**2 * sin(phi) ** 2) * psi.dot + A / Omega * cos(Omega * time)]),
    ("7.9", rods, rods_V, {}, [JACOBI]),
    ("7.10", spring, k / 2 * (s - b) ** 2 - m * g * s * sin(theta), {},
     [E, 2 * m * x.dot + m * (s.dot * cos(theta) - s * theta.dot * sin(theta))]),
    ("7.11", m * R**2 * inner, -2 * m * g * R * cos(theta) - Q(2, 3) * m * g * R * cos(phi), {}, [E]),
    ("7.12", 2 * m * a**2 * (theta.dot**2 + sin(theta) ** 2 * phi.dot**2), 2 * m * g * a * cos(theta), {},
     [E, 4 * m * a**2 * sin(theta) ** 2 * phi.dot]),
    ("7.14", m * r_0**2 * psi.dot**2 / 8 + m * r_0**2 * theta.dot**2 / 4, -m * g * Q(4, 3) * r_0 / pi * cos(theta), {},
     [E, psi.dot]),
    ("7.15", cone, -m * g * rho * cos(beta) - lam * m * g * (2 * b - rho) * cos(theta), {},
     [E, m * rho**2 * sin(beta) ** 2 * phi.dot, lam * m * (2 * b - rho) ** 2 * sin(theta) ** 2 * psi.dot]),
    ("7.16", Q(3, 16) * M * R**2 / sin(alpha / 2) ** 4 * alpha.dot**2 + Q(8, 3) * M * R**2 * alpha.dot**2,
     2 * M * g * R * sin(alpha), {}, [E]),
    ("7.18", semi, -g * R * cos(theta) * (2 * M / pi + m * sin(phi)), {},
     [E, (M + m) * x.dot - m * R * phi.dot * sin(phi)]),
    ("7.19", Q(3, 4) * m_A * x_A.dot**2 + Q(3, 2) * m_B * x_B.dot**2, k / 2 * (3 * x_B - 2 * x_A) ** 2, {},
     [E, 3 * m_A * x_A.dot + 4 * m_B * x_B.dot]),
    ("7.20", driven, -m * g * l * cos(phi) / 2, {"forces": {theta: R * push, phi: l * cos(phi) * push}},
     [(Q(3, 2) * M + m) * R**2 * theta.dot + m * R * l * phi.dot * cos(phi) / 2 + R * A / Omega * cos(Omega * time)]),
    ("7.21", m * R**2 / 2 * (7 * theta.dot**2 + psi.dot**2 + 2 * theta.dot * psi.dot * cos(psi - theta)),
     m * g * R * (1 - 4 * cos(theta) - cos(psi) - cos(psi - theta)), {}, [E]),
    ("7.22", 4 * M * a**2 * theta.dot**2 + m * a**2 * inside, -2 * (M + m) * g * a * cos(theta) - m * g * a * cos(phi)
     + 2 * k * a**2 * (1 - cos((phi - theta) / 2)) ** 2, {}, [E]),
    ("7.23", binary, M * g * y_G + k / 2 * s**2, {},
     [E, M * x_G.dot, m * s**2 * theta.dot, M * y_G.dot + M * g * time, M / 2 * y_G.dot**2 + M * g * y_G,
      M / 2 * (x_G.dot**2 + y_G.dot**2) + M * g * y_G, m / 2 * (s.dot**2 + s**2 * theta.dot**2) + k / 2 * s**2]),
    ("7.23 d", r_kinetic, m_A * g * r_y + m_B * g * (r_y + s_y) + k / 2 * (s_x**2 + s_y**2), {},
     [E, m_A * r_x.dot + m_B * (r_x.dot + s_x.dot),
      m_A * r_y.dot + m_B * (r_y.dot + s_y.dot) + (m_A + m_B) * g * time]),
    ("7.24", cart(M, m), -m * g * l * cos(theta), {"dissipation": c * x.dot**2 / 2},
     [(M + m) * x.dot + m * l * theta.dot * cos(theta) + c * x]),
    ("7.25", semicircle, -M * g * d * cos(theta) - m * g * R * cos(phi), {}, [E]),
    ("7.26", Q(3, 2) * M * x_G.dot**2 + Q(3, 8) * M * s.dot**2, -2 * M * g * x_G * sin(beta) + k / 2 * s**2, {},
     [E, Q(3, 8) * M * s.dot**2 + k / 2 * s**2, Q(3, 2) * M * x_G.dot**2 - 2 * M * g * x_G * sin(beta)]),
]  # fmt: skip


@cache
def on_shell(given, seed):
    """A random state, with its rate: velocities, accelerations, 1; from the Lagrangian by SymPy alone."""
    rng = np.random.default_rng(seed)
    q, w, L, n = given.coordinates, given.velocities, given.lagrangian, len(given.coordinates)
    symbols = (*q, *w, time, *given.parameters)
    at = [*rng.uniform(0.4, 1.5, n), *rng.uniform(-1, 1, n), 0.7, *rng.uniform(0.5, 1.7, len(given.parameters))]
    p = [L.diff(u) for u in w]
    mass = [e.diff(u) for e in p for u in w]
    right = [
        L.diff(u) + f - sum(e.diff(c) * c.dot for c in q) - e.diff(time)
        for u, f, e in zip(q, given.force, p, strict=True)
    ]
    values = sympy.lambdify(symbols, [*mass, *right], "math")(*at)
    acceleration = np.linalg.solve(np.reshape(values[: n * n], (n, n)), values[n * n :])
    return symbols, at, np.array([*at[n : 2 * n], *acceleration, 1.0])


def rate(given, expression, seed):
    """d/dt of an expression at a random state, relative to the size of its parts."""
    symbols, at, along = on_shell(given, seed)
    slopes = [expression.diff(u) for u in symbols[: len(along)]]
    slopes = np.array(sympy.lambdify(symbols, slopes, "math")(*at))
    return abs(slopes @ along) / (np.abs(slopes).max() * np.abs(along).max())


def stated(given, listed):
    """The listed integrals as expressions."""
    for e in listed:
        if isinstance(e, str):
            h = sum(given.lagrangian.diff(u) * u for u in given.velocities) - given.lagrangian
            yield given.kinetic + given.potential if e == E else h
        else:
            yield e


@cache
def searched(number):
    """System and first integrals of a row of the table."""
    _, kinetic, potential, more, _ = next(row for row in SYSTEMS if row[0] == number)
    given = system(number, kinetic, potential, **more)
    return given, da.first_integrals(given, degree=1)


@pytest.mark.parametrize("row", SYSTEMS, ids=[row[0] for row in SYSTEMS])
def test_integrals_of_the_chapter(row):
    listed = row[-1]
    given, found = searched(row[0])
    for expression in stated(given, listed):
        assert rate(given, sympy.sympify(expression), 1) < 1e-10, "the table is wrong"
        assert follows(expression, [i.expression for i in found], shell(given)), expression
    for i in found:
        assert i.conserved and i.reason
        assert rate(given, i.expression, 1) < 1e-10
    for i in found.not_conserved:
        assert i.reason and not i.conserved
        assert rate(given, i.expression, 1) > 1e-6
    meaning = {JACOBI: "is not the energy", E: "is the energy"}
    assert all(meaning[e] in str(found) for e in listed if isinstance(e, str))


ONLY_THE_ENERGY = ["Ex. 7.5", "Ex. 7.6", "7.7", "7.9", "7.11", "7.16", "7.21", "7.22", "7.25"]


@pytest.mark.parametrize("name", ONLY_THE_ENERGY)
def test_nothing_but_the_energy(name):
    """7.9: only h; the others: only E. The chapter's 7.5 with a force F(t) has none at all."""
    assert [i.name for i in searched(name)[1]] == ["Jacobi integral" if name == "7.9" else "energy"]


def test_forced_hoop_has_none():
    found = searched("7.5, F(t)")[1]
    assert len(found) == 0 and "no first integral found" in str(found)
    assert "energy: the forces do work" in str(found)


def test_viscous_pendulum_on_an_incline():
    """7.13: energy is lost and nothing is cyclic; yet the force along x is a total derivative, so one integral remains."""
    given = system("7.13", Q(3, 4) * M * x.dot**2 + slope, -(M + m) * g * x * sin(beta) - m * g * l * cos(theta),
        forces={x: -2 * c * x.dot - c * l * theta.dot * cos(theta + beta),
                theta: -c * l**2 * theta.dot - c * l * x.dot * cos(theta + beta)})  # fmt: skip
    (only,) = da.first_integrals(given)
    p_x = (Q(3, 2) * M + m) * x.dot + m * l * theta.dot * cos(theta + beta)
    F_x = (M + m) * g * sin(beta) * time - 2 * c * x - c * l * sin(theta + beta)
    assert sympy.expand(only.expression - p_x + F_x) == 0
    assert rate(given, only.expression, 4) < 1e-12
    assert rate(given, p_x, 4) > 1e-3


def test_pulleys():
    """Ex. 7.4: two momenta that grow at a constant rate, and the energy."""
    L_2 = m_3 * (2 * x_1.dot + x_2.dot) ** 2
    given = system("Poggendorff", (m_1 * x_1.dot**2 + m_2 * x_2.dot**2 + L_2) / 2,
                   -m_1 * g * x_1 - m_2 * g * x_2 + m_3 * g * (2 * x_1 + x_2))  # fmt: skip
    found = da.first_integrals(given, degree=0)
    names = [i.name for i in found]
    assert names == ["energy", "momentum of x_1, balanced", "momentum of x_2, balanced"]
    p_1 = m_1 * x_1.dot + 2 * m_3 * (2 * x_1.dot + x_2.dot)
    assert sympy.expand(found[1].expression - p_1 + (m_1 - 2 * m_3) * g * time) == 0


def test_hoop_on_an_incline_by_multipliers():
    """Ex. 7.12: energy; the momenta are not conserved singly, for the reaction acts along both."""
    given = da.System("hoop", [x, theta], kinetic=m * x.dot**2 / 2 + m * R**2 * theta.dot**2 / 2,
                      potential=-m * g * x * sin(beta), constraints=[R * theta.dot - x.dot])  # fmt: skip
    found = da.first_integrals(given)
    assert found[0].name == "energy"
    assert {i.name for i in found.not_conserved} == {"momentum of x", "momentum of theta"}
    speed = x.dot - g * sin(beta) * time / 2
    assert follows(speed, [i.expression for i in found], shell(given))


@pytest.mark.parametrize(("inertia", "number"), [(m * l**2 / 4, "Ex. 7.13"), (m * l**2 / 24, "7.17")])
def test_sleigh_keeps_its_energy_only(inertia, number):
    given = da.System(number, [x, y, theta], kinetic=m * (x.dot**2 + y.dot**2) + inertia * theta.dot**2,
        constraints=[-x.dot * sin(theta) + y.dot * cos(theta) - l / 2 * theta.dot])  # fmt: skip
    found = da.first_integrals(given)
    assert [i.name for i in found] == ["energy"]
    assert "reactions do no work" in found[0].reason


def test_rolling_disk():
    """Beyond energy and heading: theta.dot, and the centre of the circle, found on the constraint manifold."""
    given = da.gallery.load("rolling-disk").system
    found = da.first_integrals(given, degree=1)
    expressions = [i.expression for i in found]
    q = {u.name: u for u in given.coordinates}
    for e in (q["theta"].dot, q["phi"].dot, q["x"] * q["phi"].dot - q["y"].dot, q["y"] * q["phi"].dot + q["x"].dot):
        assert follows(e, expressions, shell(given))
    assert not follows(q["x"].dot, expressions, shell(given))
    run = da.simulate(given, da.Reference(1e-11, 1e-11), h=0.5, until=20, start=da.gallery.load("rolling-disk").start,
                      parameters=da.gallery.load("rolling-disk").parameters)  # fmt: skip
    for i in found:
        assert np.ptp(run.quantity(i.expression)) < 1e-8
    assert np.ptp(run.quantity(q["x"].dot)) > 0.1


def test_laplace_runge_lenz():
    """The planar Kepler problem: angular momentum and both components of the vector; three are independent."""
    given = da.System("Kepler", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=-k / sqrt(x**2 + y**2))
    found = da.first_integrals(given)
    H = m * (x * y.dot - y * x.dot)
    vector = (y.dot * H - k * x / sqrt(x**2 + y**2), -x.dot * H - k * y / sqrt(x**2 + y**2))
    known = [i.expression for i in found]
    assert len(found) == 4 and found.independent == 3
    for e in (H, *vector):
        assert follows(e, known, shell(given))
    polar = da.System("Kepler", [r, theta], kinetic=m * (r.dot**2 + r**2 * theta.dot**2) / 2, potential=-k / r)
    assert len(da.first_integrals(polar)) == 4
    cubic = da.System(
        "not Kepler", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=-k / (x**2 + y**2) ** Q(3, 2)
    )
    assert len(da.first_integrals(cubic)) == 2


def test_oscillators():
    """Isotropic: the tensor of Fradkin. Anisotropic: two energies. Coupled: the energy alone."""
    kinetic = m * (x.dot**2 + y.dot**2) / 2

    def known(potential):
        given = da.System("oscillator", [x, y], kinetic=kinetic, potential=potential)
        return given, [i.expression for i in da.first_integrals(given)]

    given, found = known(k * (x**2 + y**2) / 2)
    for e in (m * x.dot * y.dot + k * x * y, m * x.dot**2 + k * x**2, x * y.dot - y * x.dot):
        assert follows(e, found, shell(given))
    given, found = known(k * x**2 / 2 + a * y**2 / 2)
    assert follows(m * x.dot**2 + k * x**2, found, shell(given))
    assert not follows(m * x.dot * y.dot + k * x * y, found, shell(given))
    assert len(known(k * (x**2 + y**2) / 2 + a * x**2 * y**2)[1]) == 1


def test_boost_of_two_particles():
    """t P - sum m x, found without being asked; and not where an outer spring holds one of them."""
    kinetic = m_A * x_A.dot**2 / 2 + m_B * x_B.dot**2 / 2
    centre = m_A * x_A + m_B * x_B - time * (m_A * x_A.dot + m_B * x_B.dot)
    free = da.System("free", [x_A, x_B], kinetic=kinetic, potential=k * (x_A - x_B) ** 4)
    assert follows(centre, [i.expression for i in da.first_integrals(free, degree=1)], shell(free))
    held = da.System("held", [x_A, x_B], kinetic=kinetic, potential=k * (x_A - x_B) ** 4 + k * x_A**2)
    assert [i.name for i in da.first_integrals(held)] == ["energy"]


def test_three_bodies_in_space():
    """All ten of an isolated system, and no more, without being asked."""
    bodies = [da.coordinates(f"x{i} y{i} z{i}") for i in (1, 2, 3)]
    masses = (m_1, m_2, m_3)
    pairs = [(i, j) for i in range(3) for j in range(i)]
    V = sum(
        -k * masses[i] * masses[j] / sqrt(sum((u - w) ** 2 for u, w in zip(bodies[i], bodies[j], strict=True)))
        for i, j in pairs
    )
    T = sum(w * sum(u.dot**2 for u in p) / 2 for w, p in zip(masses, bodies, strict=True))
    found = da.first_integrals(da.System("bodies", [u for p in bodies for u in p], kinetic=T, potential=V), degree=1)
    assert len(found) == found.independent == 10
    assert sum(time in i.expression.free_symbols for i in found) == 3


def decision(**given):
    found = da.first_integrals(da.System("decision", [x], **given), degree=0)
    return {i.name: (i.conserved, i.reason) for i in (*found, *found.not_conserved)}, " ".join(found.remarks)


def test_decision_table_of_the_jacobi_integral():
    """Section 1.6 of the digest, row by row."""
    T, V = m * x.dot**2 / 2, k * x**2 / 2
    said, meaning = decision(kinetic=T, potential=V)
    assert said["energy"] == (True, "the Lagrangian does not depend on time") and "is the energy" in meaning
    said, meaning = decision(kinetic=T, potential=V * (2 + sin(time)))
    assert said["energy"] == (False, "the potential depends on time") and "is the energy" in meaning
    said, meaning = decision(kinetic=m * (x.dot + v) ** 2 / 2, potential=V)
    assert said["Jacobi integral"][0] and not said["energy"][0] and "is not the energy" in meaning
    assert "-2*T0" in meaning.replace("- 2 ", "-2*") and "-m*v**2 - m*v*x.dot" in meaning
    said, _ = decision(kinetic=T, potential=V, forces={x: -c * x.dot})
    assert said["energy"] == (False, "the forces do work")
    said, _ = decision(kinetic=T, potential=V, dissipation=c * x.dot**2 / 2)
    assert said["energy"] == (False, "friction takes energy away")
    said, _ = decision(kinetic=T, potential=V, forces={x: -a * x**3})
    assert said["energy with the work done"][0] and not said["energy"][0]
    said, meaning = decision(lagrangian=T - V)
    assert said["energy"][0] and "given as a whole" in meaning


def test_moving_constraint_does_work():
    """A bead on a turning straight wire: the reaction works, and neither h nor the energy is conserved."""
    given = da.System("wire", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2,
                      constraints=[y * cos(omega * time) - x * sin(omega * time)])  # fmt: skip
    found = da.first_integrals(given, degree=0)
    assert found.not_conserved[0].reason == "the reaction of a constraint does work (the constraint moves)"
    fixed = da.System("wire", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, constraints=[y - a * x])
    assert da.first_integrals(fixed, degree=0)[0].name == "energy"


def test_magnetic_field():
    """A charged particle: p_x (not m v_x) is conserved, and the energy, into which the field does not enter."""
    B = da.parameters("B", positive=True)
    given = da.System("field", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=B * y * x.dot)
    found = da.first_integrals(given)
    assert "does no work" in " ".join(found.remarks)
    assert follows(m * x.dot - B * y, [i.expression for i in found], shell(given))
    assert follows(m * y.dot + B * x, [i.expression for i in found], shell(given))
    assert not follows(m * x.dot, [i.expression for i in found], shell(given))


def test_a_wrong_candidate_is_refused():
    """The last check before anything is reported: a quantity that is nearly conserved is not."""
    given = da.System("Kepler", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=-k / sqrt(x**2 + y**2))
    H = m * (x * y.dot - y * x.dot)
    at = Shell(given)
    assert at.conserved(H)
    assert not at.conserved(H + Q(1, 10**6) * x.dot)
    assert at.rank([H, H**2]) == 1 and at.rank([H, x]) == 2


def test_an_interruption_keeps_what_was_found(monkeypatch):
    def interrupted(self, space):
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "_integrals", interrupted)
    found = da.first_integrals(da.System("free", [x], kinetic=m * x.dot**2 / 2))
    assert [i.name for i in found] == ["energy", "momentum of x"]
    assert "the search ended early (interrupted)" in str(found)


def test_a_spent_budget_keeps_what_was_found():
    given = da.System("Kepler", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=-k / sqrt(x**2 + y**2))
    found = da.first_integrals(given, budget=Budget(attempts=70))
    assert [i.name for i in found] == ["energy", "angular momentum in x, y"]
    assert "the search ended early" in str(found)


def test_integrals_are_named_by_their_symmetries():
    pair = da.System(
        "two particles on a line", [x_1, x_2], kinetic=m_1 * x_1.dot**2 / 2 + m_2 * x_2.dot**2 / 2,
        potential=k * (x_1 - x_2) ** 4,
    )  # fmt: skip
    names = {i.name for i in da.first_integrals(pair)}
    assert {"total momentum along x_1, x_2", "centre of mass (Galilean boost along x_1, x_2)"} <= names
    kepler = da.System("Kepler", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=-k / sqrt(x**2 + y**2))
    assert [i.name for i in da.first_integrals(kepler)] == [
        "energy",
        "angular momentum in x, y",
        "quadratic in the velocities, no. 1",
        "quadratic in the velocities, no. 2",
    ]


@pytest.mark.parametrize(
    ("move", "name"),
    [
        ({x: -y / m, y: x / m, z: 0}, "angular momentum in x, y"),
        ({x: -y, y: x, r_x: -r_y, r_y: r_x}, "angular momentum in x, y; r_x, r_y"),
        ({x: time / m, y: 0}, "centre of mass (Galilean boost along x)"),
        ({x: -y, y: x, r_x: r_y, r_y: -r_x}, None),  # turned against each other
        ({x: -y, y: 2 * x}, None),
        ({x: -x * y, y: x**2}, None),
        ({x: time, y: 2 * time}, None),
        ({x: -y, y: x, z: 1}, None),
        ({}, None),
    ],
)
def test_names_of_symmetries(move, name):
    assert _symmetry({q: sympy.sympify(xi) for q, xi in move.items()}) == name
