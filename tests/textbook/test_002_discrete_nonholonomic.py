"""C. I. Tori, Reduccion lagrangiana de sistemas mecanicos discretos con vinculos no holonomos: examples E1-E3, E5."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da

x, y, z = da.coordinates("x y z")
h = da.step


def particle_lagrangian():
    """E1: the discrete Lagrangian as the thesis prints it (example 4.1.1)."""
    (x0, x1), (y0, y1), (z0, z1) = ((q.at(0), q.at(1)) for q in (x, y, z))
    kinetic = ((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / (2 * h)
    return kinetic - h * ((x1 + x0) ** 2 + (y1 + y0) ** 2) / 8


def at_random(expression, seed=0):
    rng = np.random.default_rng(seed)
    return float(expression.subs({s: rng.uniform(0.5, 1.5) for s in sorted(expression.free_symbols, key=str)}))


def test_e1_discrete_lagrangian_by_the_midpoint_map():
    system = da.gallery.load("particle").system
    values = dict.fromkeys(system.parameters, 1)
    made = da.discretise(system, da.midpoint_map)
    assert at_random(made.read(made.lagrangian).subs(values) - particle_lagrangian()) == pytest.approx(0, abs=1e-14)


def test_e1_printed_recurrence():
    equations = da.DiscreteSystem("E1", [x, y, z], lagrangian=particle_lagrangian()).equations().lagrange
    names = {s.name: s for e in equations for s in e.free_symbols}
    for q in ("x", "y"):
        before, now, after = (names[f"{q}[{k}]"] for k in ("k-1", "k", "k+1"))
        printed = -(h / 4 + 1 / h) * after + 2 * (-h / 4 + 1 / h) * now - (h / 4 + 1 / h) * before
        equation = equations["xyz".index(q)]
        assert at_random(equation.lhs - equation.rhs - printed) == pytest.approx(0, abs=1e-13)
    before, now, after = (names[f"z[{k}]"] for k in ("k-1", "k", "k+1"))
    assert at_random(equations[2].lhs - (-after + 2 * now - before) / h) == pytest.approx(0, abs=1e-13)


def test_e1_three_energies_and_two_momenta():
    """h = 0.05, 2000 steps: H at the nodes to rounding; at the midpoints a constant offset; mixed: an oscillation."""
    run = da.simulate(
        da.gallery.load("particle").system, da.Midpoint(), h=0.05, steps=2000, parameters={"m": 1, "k": 1},
        start={"x": 1, "y": 0.3, "z": -0.2, "x.momentum": 0.2, "y.momentum": -0.5, "z.momentum": 0.7},
    )  # fmt: skip
    q = np.stack([run.x, run.y, run.z])
    v, middle = np.diff(q) / 0.05, (q[:, 1:] + q[:, :-1]) / 2

    def energy(q, v):
        return (v**2).sum(axis=0) / 2 + (q[:2] ** 2).sum(axis=0) / 2

    start = run.energy[0]
    assert np.abs(run.energy - start).max() < 1e-12
    midpoint = energy(middle, v) - start
    assert midpoint == pytest.approx(-4.3098e-4, abs=1e-8)
    mixed = energy(q[:, :-1], v) - start
    assert (mixed.min(), mixed.max()) == pytest.approx((-1.03e-2, 0.99e-2), abs=6e-5)
    spin = (1 / 0.05 + 0.05 / 4) * (q[0, :-1] * q[1, 1:] - q[1, :-1] * q[0, 1:])
    assert np.ptp(spin) < 1e-12
    assert np.ptp(v[2]) < 1e-12


def e2():
    return da.gallery.load("nonholonomic-particle").system


START = {"x.at(0)": 1, "y.at(0)": 0.5, "z.at(0)": 0, "x.at(1)": 1.01, "y.at(1)": 0.475, "z.at(1)": 0.004875}


def test_e2_reference_run():
    run = da.simulate(e2(), da.Midpoint(), h=0.05, steps=2001, start=START, parameters={"m": 1, "k": 1})
    q = np.stack([run.x, run.y, run.z])
    assert q[:, 2] == pytest.approx([1.01803002, 0.44881324, 0.00858412], abs=6e-9)
    assert q[:, 100] == pytest.approx([-0.3587067, 0.60925084, 1.21445005], abs=6e-9)
    v, middle = np.diff(q) / 0.05, (q[:, 1:] + q[:, :-1]) / 2
    energy = (v**2).sum(axis=0) / 2 + (middle[:2] ** 2).sum(axis=0) / 2
    assert energy[0] == pytest.approx(0.77359375, abs=1e-13)
    assert energy.min() - energy[0] == pytest.approx(-4.4e-5, abs=6e-7)
    assert energy.max() - energy[0] == pytest.approx(3.7e-5, abs=6e-7)


def test_e2_given_directly_is_the_same_system():
    (x0, x1), (y0, y1), (z0, z1) = ((q.at(0), q.at(1)) for q in (x, y, z))
    direct = da.DiscreteSystem(
        "E2",
        [x, y, z],
        lagrangian=particle_lagrangian(),
        variations=[z.dot - y * x.dot],
        constraints=[z1 - z0 - (y1 + y0) * (x1 - x0) / 2],
    )
    one = da.simulate(direct, h=0.05, steps=400, start=START)
    two = da.simulate(e2(), da.Midpoint(), h=0.05, steps=400, start=START, parameters={"m": 1, "k": 1})
    for q in (x, y, z):
        assert np.abs(one[q] - two[q]).max() < 1e-11
    # the multiplier too: the thesis has D1 + D2 = lambda omega, here D1 + D2 + h lambda omega = 0
    assert np.abs(one.multipliers[1:] - two.multipliers[1:]).max() < 1e-8
    assert da.audit(one).ok


def test_e2_chaplygin_reduction_has_this_force():
    """Symmetry in z: a forced discrete system in (x, y) with the digest's L_d and F_d has the same (x, y) motion."""
    (x0, x1), (y0, y1) = ((q.at(0), q.at(1)) for q in (x, y))
    dx, dy, mean = x1 - x0, y1 - y0, y0 + y1
    push = mean * dx / (4 * h)
    reduced = da.DiscreteSystem(
        "E2 reduced",
        [x, y],
        lagrangian=(dx**2 + dy**2 + mean**2 * dx**2 / 4) / (2 * h) - h * ((x0 + x1) ** 2 + (y0 + y1) ** 2) / 8,
        force_minus={x: push * dy, y: -push * dx},
        force_plus={x: push * dy, y: -push * dx},
    )
    start = {k: v for k, v in START.items() if not k.startswith("z")}
    one = da.simulate(reduced, h=0.05, steps=400, start=start)
    two = da.simulate(e2(), da.Midpoint(), h=0.05, steps=400, start=START, parameters={"m": 1, "k": 1})
    assert np.abs(one.x - two.x).max() < 1e-11
    assert np.abs(one.y - two.y).max() < 1e-11


def test_e3_bead_on_a_parabola():
    """(6.14): the printed reference run, from the constrained system in the plane, with h = 1."""
    (x0, x1), (y0, y1) = ((q.at(0), q.at(1)) for q in (x, y))
    system = da.DiscreteSystem(
        "E3",
        [x, y],
        lagrangian=((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2,
        variations=[y.dot - x * x.dot],
        constraints=[y1 - y0 - (x1 + x0) * (x1 - x0) / 2],
    )
    run = da.simulate(system, h=1, steps=7, start={x0: 0.5, y0: 0, x1: 0.6, y1: (0.36 - 0.25) / 2})
    printed = [
        0.695770869250656,
        0.787422680217402,
        0.875162183472720,
        0.959242345148320,
        1.039930433664044,
        1.117489429599788,
    ]
    assert run.x[2:] == pytest.approx(printed, abs=1e-13)
    assert run.y == pytest.approx((run.x**2 - 0.25) / 2, abs=1e-14)


def test_e5_closed_form_of_the_rolling_disk():
    """(7.10), index-corrected, from two positions on D_d, with h = 1."""
    mass, I, J, A = 1.1, 0.6, 0.3, 0.8
    disk = da.gallery.load("rolling-disk").system
    dtheta, dphi, phi0 = 0.31, 0.17, 0.4
    first = {"x.at(0)": 0.2, "y.at(0)": -0.3, "theta.at(0)": 0.1, "phi.at(0)": phi0}
    second = {
        "x.at(1)": 0.2 + A * dtheta * np.cos(phi0 + dphi / 2),
        "y.at(1)": -0.3 + A * dtheta * np.sin(phi0 + dphi / 2),
        "theta.at(1)": 0.1 + dtheta,
        "phi.at(1)": phi0 + dphi,
    }
    run = da.simulate(
        disk, da.Midpoint(), h=1, steps=300, start=first | second, parameters={"m": mass, "I": I, "J": J, "R": A}
    )
    k = np.arange(301)
    circle = A * dtheta / (2 * np.sin(dphi / 2))
    assert np.abs(run.x - 0.2 - circle * (np.sin(phi0 + k * dphi) - np.sin(phi0))).max() < 1e-12
    assert np.abs(run.y + 0.3 - circle * (np.cos(phi0) - np.cos(phi0 + k * dphi))).max() < 1e-12
    assert np.abs(run.theta - 0.1 - k * dtheta).max() < 1e-12
    # the nonholonomic momentum (I + m A^2 cos(dphi/2)) dtheta, from the momenta at the nodes
    p = [run.carried_momenta[0, 1:, i] for i in range(3)]
    phi = run.phi[1:]
    before = A * np.cos(phi) * p[0] + A * np.sin(phi) * p[1] + p[2]
    assert before == pytest.approx((I + mass * A**2 * np.cos(dphi / 2)) * dtheta, abs=1e-12)


def test_t4_midpoint_lagrangian_is_the_implicit_midpoint_rule():
    """One step in (q, p) of the variational midpoint rule solves y1 = y0 + h J grad H((y0 + y1)/2)."""
    run = da.simulate(
        da.gallery.load("pendulum").system, da.Midpoint(), h=0.3, steps=1, parameters={"m": 1, "l": 1, "g": 1},
        start={"theta": 1.2, "theta.momentum": 0.4},
    )  # fmt: skip
    q, p = run.theta, run["theta.momentum"]
    assert q[1] - q[0] == pytest.approx(0.3 * (p[0] + p[1]) / 2, abs=1e-14)
    assert p[1] - p[0] == pytest.approx(-0.3 * np.sin((q[0] + q[1]) / 2), abs=1e-14)


def test_discrete_equations_print():
    text = str(da.discretise(e2(), da.midpoint_map).equations())
    assert "x[k+1]" in text
    assert "λ₁" in text
    latex = da.discretise(e2(), da.left_map).equations()._repr_latex_()
    assert r"x_{k+1}" in latex
    assert isinstance(da.discretise(e2(), da.right_map).equations().lagrange[0], sympy.Eq)
