"""The same physics said two ways gives the same motion."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin


def test_pendulum_by_constraint_and_by_angle():
    """Cartesian + multiplier against the angle: motion to second order, and the reaction in the rod."""
    one, two = da.gallery.load("pendulum-cartesian"), da.gallery.load("pendulum")
    values = {"m": 1.3, "l": 0.7, "g": 9.81}
    m, l, g = values.values()
    angle = 1.1
    errors = []
    for h in (0.01, 0.005):
        start = {"x": l * np.sin(angle), "y": -l * np.cos(angle), "x.dot": 0, "y.dot": 0}
        a = da.simulate(one.system, da.Midpoint(), h=h, until=2, start=start, parameters=values)
        b = da.simulate(
            two.system,
            da.Reference(1e-13, 1e-13),
            h=h,
            until=2,
            start={"theta": angle, "theta.dot": 0},
            parameters=values,
        )
        motion = np.hypot(a.x - l * np.sin(b.theta), a.y + l * np.cos(b.theta)).max()
        # lambda_1 grad(x^2 + y^2 - l^2) is the force on the mass: along the rod, inwards when the rod pulls
        tension = m * (l * b["theta.dot"] ** 2 + g * np.cos(b.theta))
        reaction = np.abs(-2 * l * a.multipliers[:, 0] - tension).max()
        errors.append((motion, reaction))
    (m1, r1), (m2, r2) = errors
    assert m1 / m2 == pytest.approx(4, rel=0.05)
    assert r1 / r2 == pytest.approx(4, rel=0.1)
    assert r2 < 1e-3 * tension.max()


def test_equations_of_the_two_pendulums_agree_by_value():
    one, two = da.gallery.load("pendulum-cartesian").system, da.gallery.load("pendulum").system
    values = {"m": 1.3, "l": 0.7, "g": 9.81}
    angle, rate = 0.6, 1.9
    s, c = 0.7 * np.sin(angle), 0.7 * np.cos(angle)
    now = da.evaluate(one, at={"x": s, "y": -c, "x.dot": c * rate, "y.dot": s * rate}, parameters=values)
    turn = da.evaluate(two, at={"theta": angle, "theta.dot": rate}, parameters=values)
    (theta,), (x, y) = two.coordinates, one.coordinates
    acceleration = turn.accelerations[theta]
    assert now.accelerations[x] == pytest.approx(c * acceleration - s * rate**2, abs=1e-12)
    assert now.accelerations[y] == pytest.approx(s * acceleration + c * rate**2, abs=1e-12)
    assert now.energy == pytest.approx(turn.energy, abs=1e-12)


def test_polar_and_cartesian_kepler():
    """Two charts of one system: the continuous motions agree."""
    r, phi = da.coordinates("r phi")
    m, mu = da.parameters("m mu", positive=True)
    polar = da.System("polar", [r, phi], kinetic=m * (r.dot**2 + r**2 * phi.dot**2) / 2, potential=-m * mu / r)
    flat = da.gallery.load("kepler").system
    values = {"m": 1.5, "mu": 1.0}
    tight = da.Reference(1e-12, 1e-12)
    a = da.simulate(polar, tight, h=0.1, until=20, start={r: 1, phi: 0, r.dot: 0.1, phi.dot: 0.9}, parameters=values)
    b = da.simulate(flat, tight, h=0.1, until=20, start={"x": 1, "y": 0, "x.dot": 0.1, "y.dot": 0.9}, parameters=values)
    assert np.abs(a.r * np.cos(a.phi) - b.x).max() < 1e-8
    assert np.abs(a["phi.momentum"] - (b.x * b["y.momentum"] - b.y * b["x.momentum"])).max() < 1e-9


def test_potential_and_force_are_two_ways_to_say_the_same():
    """L = K - V against L = K with F = -dV (example 2.8): same motion for the continuous system."""
    x, y = da.coordinates("x y")
    potential = x**4 / 4 + x * y + sin(y)
    kinetic = (x.dot**2 + (1 + x**2) * y.dot**2) / 2
    one = da.System("potential", [x, y], kinetic=kinetic, potential=potential)
    two = da.System("force", [x, y], kinetic=kinetic, forces={q: -potential.diff(q) for q in (x, y)})
    start = {x: 0.5, y: 0.1, x.dot: 0.3, y.dot: -0.2}
    for method in (da.Midpoint(), da.LeftPoint()):  # F_d is then the gradient of the same rule, so even step by step
        a = da.simulate(one, method, h=0.05, steps=200, start=start)
        b = da.simulate(two, method, h=0.05, steps=200, start=start)
        assert np.abs(a.x - b.x).max() < 1e-11


def test_dissipation_is_a_force():
    x = da.coordinates("x")
    one = da.System("rayleigh", [x], kinetic=x.dot**2 / 2, potential=cos(x), dissipation=x.dot**4 / 8)
    two = da.System("force", [x], kinetic=x.dot**2 / 2, potential=cos(x), forces={x: -(x.dot**3) / 2})
    start = {x: 0.5, x.dot: 1}
    a, b = (da.simulate(s, da.Midpoint(), h=0.05, steps=200, start=start) for s in (one, two))
    assert np.array_equal(a.x, b.x)


def test_gauge_terms_do_not_change_the_motion():
    """L and L + dF/dt: the same discrete motion for the trapezoidal rule up to O(h^2), the same equations exactly."""
    x = da.coordinates("x")
    F = sin(x) * da.time
    total = F.diff(x) * x.dot + F.diff(da.time)
    one = da.System("plain", [x], lagrangian=x.dot**2 / 2 + cos(x))
    two = da.System("gauged", [x], lagrangian=x.dot**2 / 2 + cos(x) + total)
    at = {x: 0.7, x.dot: 0.4, da.time: 1.3}
    assert da.evaluate(one, at=at).accelerations[x] == pytest.approx(
        da.evaluate(two, at=at).accelerations[x], abs=1e-14
    )


@pytest.mark.parametrize("map_", ["left_map", "midpoint_map", "right_map"])
def test_maps_and_methods_are_the_same_discretisation(map_):
    """discretise(system, midpoint_map) and Midpoint(): one motion, bit for bit or to rounding."""
    method = {"left_map": da.LeftPoint(), "midpoint_map": da.Midpoint(), "right_map": da.RightPoint()}[map_]
    example = da.gallery.load("damped-spring")
    discrete = da.discretise(example.system, getattr(da, map_))
    start = {"x": 0.3, "x.momentum": 0.1}
    a = da.simulate(discrete, h=0.1, steps=100, start=start, parameters=example.parameters)
    b = da.simulate(example.system, method, h=0.1, steps=100, start=start, parameters=example.parameters)
    assert np.abs(a.x - b.x).max() < 1e-13


def test_stormer_verlet_is_the_trapezoidal_rule():
    example = da.gallery.load("kepler")
    runs = [
        da.simulate(example.system, m, h=0.01, steps=500, start=example.start, parameters=example.parameters)
        for m in (da.StormerVerlet(), da.Trapezoidal())
    ]
    assert np.array_equal(runs[0].x, runs[1].x)


def test_starts_agree():
    """Velocity, momentum and two positions: three ways to say one start."""
    example = da.gallery.load("double-pendulum")
    q = example.system.coordinates
    common = {"h": 0.01, "steps": 50, "parameters": example.parameters}
    a = da.simulate(example.system, da.Midpoint(), start=example.start, **common)
    momenta = {c: example.start[c] for c in q} | {c.momentum: a[c.momentum][0] for c in q}
    b = da.simulate(example.system, da.Midpoint(), start=momenta, **common)
    places = {c.at(0): a[c][0] for c in q} | {c.at(1): a[c][1] for c in q}
    c = da.simulate(example.system, da.Midpoint(), start=places, **common)
    assert np.abs(a.theta1 - b.theta1).max() < 1e-12
    assert np.abs(a.theta1 - c.theta1).max() < 1e-9


def test_one_stage_is_the_midpoint_rule():
    """002, T4 on a known pair: the discrete Hamiltonian map of the midpoint L_d is the implicit midpoint rule on (q, p).

    On (q, p) the rule evaluates Hamilton's equations at the mean of both ends; that is Gauss(1), and Galerkin(1) in L_d.
    """
    e = da.gallery.load("double-pendulum")
    runs = [
        da.simulate(e.system, method, h=0.02, steps=200, start=e.start, parameters=e.parameters)
        for method in (da.Midpoint(), da.Gauss(1), da.Galerkin(1), da.Trapezoidal())
    ]
    midpoint, gauss, galerkin, control = (np.array([run[c] for c in e.system.coordinates]) for run in runs)
    assert np.abs(gauss - midpoint).max() < 1e-11
    assert np.abs(galerkin - midpoint).max() < 1e-11
    assert np.abs(control - midpoint).max() > 1e-4


def test_a_stiff_solver_stays_on_a_constraint_that_moves():
    """z.dot = (y + t) x.dot: both solvers of the reference project onto the constraint of the time that they have reached."""
    x, y, z = da.coordinates("x y z")
    form = z.dot - (y + da.time) * x.dot
    kinetic = (x.dot**2 + y.dot**2 + z.dot**2) / 2
    s = da.System("moving", [x, y, z], kinetic=kinetic, potential=(x**2 + y**2) / 2, constraints=[form])
    start = {x: 1, y: 0.3, z: 0, x.dot: 0.5, y.dot: -0.2}
    runs = [
        da.simulate(s, da.Reference(1e-9, solver=kind), h=0.1, until=3, start=start) for kind in ("DOP853", "Radau")
    ]
    for run in runs:
        assert np.abs(run.quantity(form)).max() < 1e-13
    for q in (x, y, z):
        np.testing.assert_allclose(runs[0][q], runs[1][q], atol=1e-6)
    still = s.replace(constraints=[z.dot - y * x.dot])  # the control
    other = da.simulate(still, da.Reference(1e-9), h=0.1, until=3, start=start)
    assert np.abs(other.z - runs[0].z).max() > 0.1
