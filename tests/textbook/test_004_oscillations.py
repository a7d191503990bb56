"""Digest 004: equilibria and small oscillations of the examples and problems of the chapter on analytical dynamics."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from numpy import pi

import dalembert as da
from dalembert import cos, sin
from dalembert.decide.zero import vanishes

theta, phi, psi, r, x, s, xA, xB = da.coordinates("theta phi psi r x s xA xB")
m, M, g, l, R, k, a, b, c, omega, r0, mA, mB = da.parameters("m M g l R k a b c omega r0 mA mB", positive=True)
beta = da.parameters("beta")
NUMBERS = {m: 1.2, g: 9.81, l: 0.8, R: 0.9, M: 2, k: 30, a: 0.5, b: 0.6, c: 0.4, omega: 3, r0: 0.4, mA: 1.5, mB: 0.9}


def numbers(system, **changes):
    """The reference parameters of the digest, those that occur."""
    return {p: changes.get(p.name, NUMBERS.get(p)) for p in system.parameters}


def squares(system, at, **changes):
    found = da.normal_modes(system, at=at, parameters=numbers(system, **changes))
    return np.array([complex(-(e**2)).real for e in found.exponents])


def test_example_7_5_half_disc():
    third = sympy.Rational(1, 3)
    system = da.System(
        "half-disc",
        [theta],
        kinetic=(sympy.Rational(3, 2) - 8 * third / sympy.pi * cos(theta)) * M * R**2 * theta.dot**2 / 2,
        potential=M * R * g * (1 - 4 * third / sympy.pi * cos(theta)),
    )
    (formula,) = da.linearise(system, about={theta: 0}).squared_frequencies()
    assert vanishes(formula - 8 * g / (R * (9 * sympy.pi - 16)))
    assert squares(system, {theta: 0})[0] == pytest.approx(7.104255, abs=5e-7)
    found = da.equilibria(system, parameters=numbers(system))
    assert [(e[theta], e.stability.verdict) for e in found] == [(0, "stable"), (pytest.approx(pi), "unstable")]


@pytest.fixture(scope="module")
def double_pendulum():
    u, w = da.coordinates("theta1 theta2")
    return da.System(
        "double pendulum",
        [u, w],
        kinetic=m * l**2 * (2 * u.dot**2 + w.dot**2 + 2 * u.dot * w.dot * cos(w - u)) / 2,
        potential=-m * g * l * (2 * cos(u) + cos(w)),
    )


def test_example_7_6_double_pendulum(double_pendulum):
    at = dict.fromkeys(double_pendulum.coordinates, 0)
    low, high = sorted(
        da.linearise(double_pendulum, about=at).squared_frequencies(), key=lambda e: e.subs({g: 1.0, l: 1.0})
    )
    assert vanishes(low - (2 - sympy.sqrt(2)) * g / l)
    assert vanishes(high - (2 + sympy.sqrt(2)) * g / l)
    assert not vanishes(high - 3 * g / l)
    found = da.equilibria(double_pendulum, parameters=numbers(double_pendulum))
    assert found.complete and len(found) == 4 and all(e.proved for e in found)
    assert [e.stability.verdict for e in found] == ["stable", "unstable", "unstable", "unstable"]


def rotating_disc():
    return da.System(
        "rotating disc",
        [r, phi],
        lagrangian=m / 2 * (a**2 * omega**2 + r**2 * (omega + phi.dot) ** 2 + r.dot**2)
        + m * (a * r * omega * (omega + phi.dot) * cos(phi) + a * omega * r.dot * sin(phi))
        - k / 2 * (r - r0) ** 2,
    )


def test_example_7_11_relative_equilibrium():
    system = rotating_disc()
    found = da.equilibria(system, parameters=numbers(system), box={r: (0.01, 3)})
    assert found.complete and len(found) == 2
    rest = next(e for e in found if abs(e[phi]) < 1)
    w2 = NUMBERS[omega] ** 2
    assert rest[r] == pytest.approx((30 * 0.4 + 1.2 * w2 * 0.5) / (30 - 1.2 * w2), rel=1e-12)
    assert rest[r] == pytest.approx(0.90625, rel=1e-12) and rest[phi] == 0
    lo, hi = rest.enclosure[r]
    assert lo <= 0.90625 <= hi and hi - lo < 1e-12
    assert rest.stability.verdict == "stable" and "V - T0" in rest.stability.reason
    G = da.linearise(system, about={r: r0, phi: 0}, parameters={k: 30, omega: 0}).gyroscopic
    assert G.is_zero_matrix
    star = (k * r0 + m * omega**2 * a) / (k - m * omega**2)
    G = da.linearise(system, about={r: star, phi: 0}).gyroscopic
    assert vanishes(G[0, 1] + 2 * m * star * omega) and vanishes(G[1, 0] - 2 * m * star * omega)


def test_problem_7_8_bead_on_a_turning_hoop():
    system = da.System(
        "bead",
        [phi],
        kinetic=m * R**2 * (phi.dot**2 + omega**2 * sin(phi) ** 2) / 2,
        potential=-m * g * R * cos(phi),
    )
    critical = np.sqrt(9.81 / 0.9)
    slow = da.equilibria(system, parameters=numbers(system, omega=0.9 * critical))
    fast = da.equilibria(system, parameters=numbers(system, omega=1.1 * critical))
    assert [e.stability.verdict for e in slow] == ["stable", "unstable"]
    assert [e.stability.verdict for e in fast] == ["stable", "unstable", "stable", "unstable"]
    assert fast[2][phi] == pytest.approx(np.arccos(1 / 1.21), rel=1e-12)
    assert slow.complete and fast.complete
    mode = da.normal_modes(system, at=fast[2])[0]
    assert mode.frequency == pytest.approx(1.1 * critical * np.sin(fast[2][phi]), rel=1e-12)


def test_problem_7_9_two_rods():
    u, w = da.coordinates("theta1 theta2")
    system = da.System(
        "two rods",
        [u, w],
        lagrangian=M / 2 * a**2 * (u.dot**2 + omega**2 * sin(u) ** 2)
        + m / 2 * a**2 * (u.dot**2 + w.dot**2 + 2 * u.dot * w.dot * cos(u - w) + omega**2 * (sin(u) + sin(w)) ** 2)
        - k / 2 * a**2 * sin(u) ** 2 + M * g * a * cos(u) + m * g * a * (cos(u) + cos(w)),
    )  # fmt: skip
    lin = da.linearise(system, about={u: 0, w: 0})
    mass = a**2 * sympy.Matrix([[M + m, m], [m, m]])
    stiffness = sympy.Matrix(
        [
            [(M + m) * (g * a - a**2 * omega**2) + k * a**2, -m * a**2 * omega**2],
            [-m * a**2 * omega**2, m * g * a - m * a**2 * omega**2],
        ]
    )
    assert all(vanishes(e) for e in lin.mass - mass) and all(vanishes(e) for e in lin.stiffness - stiffness)
    assert lin.gyroscopic.is_zero_matrix
    values = numbers(system)
    expected = np.linalg.eigvals(
        np.linalg.solve(*(np.array(A.subs(values).tolist(), dtype=float) for A in (mass, stiffness)))
    )
    assert squares(system, {u: 0, w: 0}) == pytest.approx(sorted(expected), rel=1e-12)


def test_problem_7_10_hanging_from_a_line():
    system = da.System(
        "two particles",
        [x, s, theta],
        kinetic=m * x.dot**2
        + m * (s.dot**2 + s**2 * theta.dot**2) / 2
        + m * x.dot * (s.dot * cos(theta) - s * theta.dot * sin(theta)),
        potential=k * (s - b) ** 2 / 2 - m * g * s * sin(theta),
    )
    found = da.equilibria(system, parameters=numbers(system), box={s: (0.1, 5)})
    hanging = next(e for e in found if e[theta] > 0)
    long = 0.6 + 1.2 * 9.81 / 30
    assert found.complete and [d == {x: 1} for d in found.free] == [True]
    assert (hanging[s], hanging[theta]) == (pytest.approx(long, rel=1e-12), pytest.approx(pi / 2, rel=1e-12))
    assert hanging.stability.verdict == "stable" and "free direction" in hanging.stability.reason
    assert squares(system, hanging) == pytest.approx([0, 2 * 9.81 / long, 30 / 1.2], rel=1e-12, abs=1e-9)


def test_problem_7_11_hoop_in_a_hoop():
    system = da.System(
        "hoops",
        [theta, phi],
        kinetic=m * R**2 * (2 * theta.dot**2 + sympy.Rational(4, 9) * phi.dot**2)
        - sympy.Rational(2, 3) * m * R**2 * theta.dot * phi.dot * (1 - cos(theta - phi)),
        potential=-2 * m * g * R * cos(theta) - sympy.Rational(2, 3) * m * g * R * cos(phi),
    )
    found = da.linearise(system, about={theta: 0, phi: 0}).squared_frequencies()
    assert set(found) == {g / (2 * R), 3 * g / (4 * R)}


def test_problem_7_14_equivalent_length():
    radius = da.parameters("r", positive=True)
    system = da.System(
        "half-disc plate",
        [psi, theta],
        kinetic=m * radius**2 * (psi.dot**2 / 8 + theta.dot**2 / 4),
        potential=-m * g * 4 * radius / (3 * sympy.pi) * cos(theta),
    )
    lin = da.linearise(system, about={theta: 0, psi.dot: omega})
    assert set(lin.squared_frequencies()) == {0, 8 * g / (3 * sympy.pi * radius)}
    found = da.normal_modes(system, at={theta: 0, psi.dot: 3}, parameters={m: 1.2, g: 9.81, radius: 0.35})
    assert 9.81 / found.frequencies[-1] ** 2 == pytest.approx(0.412334036, abs=5e-10)


def test_problem_7_19_pulleys():
    system = da.System(
        "pulleys",
        [xA, xB],
        kinetic=3 * mA * xA.dot**2 / 4 + 3 * mB * xB.dot**2 / 2,
        potential=k * (3 * xB - 2 * xA) ** 2 / 2,
    )
    formulas = da.linearise(system, about={xA: 0, xB: 0}).squared_frequencies()
    assert 0 in formulas
    assert any(vanishes(f - k * (3 / mB + sympy.Rational(8, 3) / mA)) for f in formulas)
    assert squares(system, {xA: 0, xB: 0}) == pytest.approx([0, 460 / 3], rel=1e-12, abs=1e-10)
    found = da.equilibria(system, parameters=numbers(system), box={xA: (-1, 1)})
    assert len(found) == 1 and len(found.free) == 1
    assert found.free[0][xA] / found.free[0][xB] == pytest.approx(1.5)


def test_problem_7_21_hoop_and_bead():
    system = da.System(
        "hoop and bead",
        [theta, psi],
        kinetic=m * R**2 / 2 * (7 * theta.dot**2 + psi.dot**2 + 2 * theta.dot * psi.dot * cos(psi - theta)),
        potential=m * g * R * (1 - 4 * cos(theta) - cos(psi) - cos(psi - theta)),
    )
    # (5 - 7 w)(2 - w) - (1 + w)^2 = 6 w^2 - 21 w + 9
    assert set(da.linearise(system, about={theta: 0, psi: 0}).squared_frequencies()) == {g / (2 * R), 3 * g / R}
    found = da.equilibria(system, parameters=numbers(system))
    assert found.complete and found[0].stability.verdict in ("stable", "unstable")
    for e in found:  # 4 sin(theta) = sin(psi - theta) = -sin(psi)
        assert 4 * np.sin(e[theta]) == pytest.approx(np.sin(e[psi] - e[theta]), abs=1e-12)
        assert np.sin(e[psi] - e[theta]) == pytest.approx(-np.sin(e[psi]), abs=1e-12)
    assert sum(e.stability.verdict == "stable" for e in found) == 1


def test_problem_7_22_disc_in_a_hoop():
    d = phi - theta
    system = da.System(
        "disc in a hoop",
        [theta, phi],
        kinetic=4 * M * a**2 * theta.dot**2
        + m * a**2 * (3 * theta.dot**2 + sympy.Rational(3, 4) * phi.dot**2 + theta.dot * phi.dot * (2 * cos(d) - 1)),
        potential=-2 * (M + m) * g * a * cos(theta) - m * g * a * cos(phi) + 2 * k * a**2 * (1 - cos(d / 2)) ** 2,
    )
    mass = 0.25 * np.array([[8 * 2 + 6 * 1.2, 1.2], [1.2, 1.5 * 1.2]])
    stiffness = np.diag([2 * 3.2 * 9.81 * 0.5, 1.2 * 9.81 * 0.5])
    expected = np.linalg.eigvals(np.linalg.solve(mass, stiffness))
    assert squares(system, {theta: 0, phi: 0}) == pytest.approx(sorted(expected), rel=1e-12)


def test_problem_7_24_trolley_with_damper():
    system = da.System(
        "trolley",
        [x, theta],
        kinetic=M * x.dot**2 / 2 + m * (x.dot**2 + l**2 * theta.dot**2 + 2 * l * x.dot * theta.dot * cos(theta)) / 2,
        potential=-m * g * l * cos(theta),
        dissipation=c * x.dot**2 / 2,
    )
    found = da.equilibria(system, parameters=numbers(system))
    assert [e.stability.verdict for e in found] == ["stable", "unstable"]
    assert found.free == ({x: 1.0},)
    lin = da.linearise(system, about={theta: 0})
    assert lin.damping == sympy.diag(c, 0)
    rate = sympy.Symbol("rate")
    values = numbers(system)
    expected = np.roots(sympy.Poly(lin.characteristic(rate).subs(values), rate).all_coeffs())
    found = da.normal_modes(system, at={theta: 0}, parameters=values)
    assert sorted(found.exponents.real) == pytest.approx(sorted({round(z.real, 9) for z in expected}), abs=1e-8)
    assert any(mode.damping_ratio > 0 and mode.frequency > 0 for mode in found)


def test_problem_7_26_discs_on_an_incline():
    system = da.System(
        "discs",
        [x, s],
        kinetic=3 * M * x.dot**2 / 2 + 3 * M * s.dot**2 / 8,
        potential=-2 * M * g * x * sin(beta) + k * s**2 / 2,
    )
    tilted = da.equilibria(system, parameters=numbers(system, beta=0.5), box={s: (-1, 1)})
    assert len(tilted) == 0 and tilted.complete
    assert f"constant force of {2 * 2 * 9.81 * np.sin(0.5):.8g}" in str(tilted)
    level = da.equilibria(system, parameters=numbers(system, beta=0.0), box={s: (-1, 1)})
    assert len(level) == 1 and squares(system, level[0], beta=0.0) == pytest.approx([0, 4 * 30 / 6], abs=1e-12)
