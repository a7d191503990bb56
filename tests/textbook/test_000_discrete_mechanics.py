"""M. J. Bonich, Sistemas termomecanicos lagrangianos continuos y discretos: chapter 2, the mechanical part."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

m, eta, lam = 2.0, 2.0, 0.3  # example 2.16, with x(0) = 0.3 m at rest


def spring(h, steps, **start):
    example = da.gallery.load("damped-spring")
    return da.simulate(
        example.system, da.LeftPoint(), h=h, steps=steps, start=start, parameters={"m": m, "eta": eta, "lam": lam}
    )


def closed_form(h, k):
    """(2.6), with the corrections of the digest, for x0 = x1 = 0.3."""
    B = 1 + h * lam / m
    theta = np.arccos((1 - h / (2 * m) * (h * eta - lam)) / np.sqrt(B))
    first = np.sqrt(B) ** (1 - k) * np.sin(k * theta) / np.sin(theta)
    return 0.3 * first - 0.3 * np.sqrt(B) ** (-k) * np.sin((k - 1) * theta) / np.sin(theta)


def test_example_2_22_closed_form_of_the_recurrence():
    run = spring(0.1, 200, **{"x.at(0)": 0.3, "x.at(1)": 0.3})
    assert np.abs(run.x - closed_form(0.1, np.arange(201))).max() < 1e-12
    printed = {2: 0.297044334975, 10: 0.181072362152, 50: 0.027582457709, 100: -0.132831796063, 200: 0.042177591931}
    assert run.x[list(printed)] == pytest.approx(list(printed.values()), abs=1e-12)


def test_example_2_22_same_recurrence_as_the_discrete_lagrangian_given_directly():
    """L_d and F_d of the example, typed in: the same motion to rounding, and its equation by value."""
    x = da.coordinates("x")
    mass, stiffness, friction = da.parameters("m eta lam", positive=True)
    h, (x0, x1) = da.step, (x.at(0), x.at(1))
    given = da.DiscreteSystem(
        "damped spring, discrete",
        [x],
        lagrangian=h * (mass * ((x1 - x0) / h) ** 2 / 2 - stiffness * x0**2 / 2),
        force_minus={x: -h * friction * (x1 - x0) / h},
    )
    values = {mass: m, stiffness: eta, friction: lam}
    run = da.simulate(given, h=0.1, steps=200, start={x0: 0.3, x1: 0.3}, parameters=values)
    assert np.abs(run.x - closed_form(0.1, np.arange(201))).max() < 1e-12
    (equation,) = given.equations().lagrange
    names = {s.name: s for s in equation.free_symbols}
    at = {names["x[k-1]"]: 0.2, names["x[k]"]: 0.5, names["x[k+1]"]: 0.9, h: 0.1, **values}
    stated = (1 + 0.1 * lam / m) * 0.9 + 0.2 - (2 - 0.1**2 * eta / m + 0.1 * lam / m) * 0.5
    assert float((equation.lhs - equation.rhs).subs(at)) == pytest.approx(-stated * m / 0.1)


@pytest.mark.parametrize(("h", "source", "legendre"), [
    (0.2, 0.02906, 0.02447), (0.1, 0.01468, 0.01210), (0.05, 0.00739, 0.00602), (0.025, 0.00371, 0.00301),
])  # fmt: skip
def test_example_2_22_errors_with_both_starts(h, source, legendre):
    """The digest's table of max |x_k - x(kh)| on [0, 20], to its printed digits."""
    steps, exact = round(20 / h), da.gallery.load("damped-spring").exact
    parameters = {"m": m, "eta": eta, "lam": lam}
    solution = exact(h * np.arange(steps + 1), parameters, {"x": 0.3, "x.dot": 0.0})["x"]
    two = spring(h, steps, **{"x.at(0)": 0.3, "x.at(1)": 0.3})
    one = spring(h, steps, **{"x": 0.3, "x.dot": 0.0})
    assert np.abs(two.x - solution).max() == pytest.approx(source, abs=6e-6)
    assert np.abs(one.x - solution).max() == pytest.approx(legendre, abs=6e-6)


def test_example_2_16_area_contracts_by_the_printed_factor():
    """The map (x_k-1, x_k) -> (x_k, x_k+1) of the left-point rule has determinant 1/(1 + h lambda/m)."""
    h = 0.1
    one, two = (spring(h, 2, **{"x.at(0)": a, "x.at(1)": b}).x for a, b in ((1.0, 0.0), (0.0, 1.0)))
    step = np.array([[0, 1], [one[2], two[2]]])
    assert np.linalg.det(step) == pytest.approx(1 / (1 + h * lam / m), rel=1e-13)


def test_examples_2_28_and_2_32_rolling_disk():
    """Equations by value, and the discrete solution: theta and phi in arithmetic progression, a circle for the contact."""
    disk = da.gallery.load("rolling-disk").system
    values = {"m": 1.3, "I": 0.7, "J": 0.4, "R": 0.9}
    state = {"x": 0.2, "y": -0.1, "theta": 0.5, "phi": 0.8, "theta.dot": 1.1, "phi.dot": -0.6}
    now = da.evaluate(disk, at=state, parameters=values)
    x, y, theta, _ = disk.coordinates
    R, I, mass, v, w = 0.9, 0.7, 1.3, 1.1, -0.6
    assert now.accelerations[x] == pytest.approx(-R * np.sin(0.8) * v * w, abs=1e-14)
    assert now.accelerations[y] == pytest.approx(R * np.cos(0.8) * v * w, abs=1e-14)
    assert now.accelerations[theta] == pytest.approx(0, abs=1e-15)
    assert now.multipliers == pytest.approx((mass * now.accelerations[x], mass * now.accelerations[y]), abs=1e-14)
    assert I * now.accelerations[theta] == pytest.approx(now.reactions[theta], abs=1e-14)

    h, steps = 0.1, 500
    run = da.simulate(disk, da.Midpoint(), h=h, steps=steps, start=state, parameters=values)
    dtheta, dphi = run.theta[1] - run.theta[0], run.phi[1] - run.phi[0]
    k = np.arange(steps + 1)
    assert np.abs(run.theta - run.theta[0] - k * dtheta).max() < 1e-12
    assert np.abs(run.phi - run.phi[0] - k * dphi).max() < 1e-12
    radius = R * dtheta / (2 * np.sin(dphi / 2))
    centre = np.array([run.x[0] - radius * np.sin(run.phi[0]), run.y[0] + radius * np.cos(run.phi[0])])
    off = np.hypot(run.x - centre[0], run.y - centre[1]) - abs(radius)
    assert np.abs(off).max() < 1e-12
