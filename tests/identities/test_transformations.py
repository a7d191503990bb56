"""Other coordinates and other Lagrangians describe the same motion."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, exp, log, sin
from dalembert.decide.budget import Budget
from dalembert.decide.zero import vanishes
from dalembert.theory.forms.transformations import covariance_defect

t = da.time
x, y, z, X, Y, Z, r, phi, theta, s = da.coordinates("x y z X Y Z r phi theta s")
m, k, g, omega, c, l = da.parameters("m k g omega c l", positive=True)
VALUES = {m: 1.3, k: 2.1, g: 9.81, omega: 0.8, c: 0.2, l: 0.9}
TIGHT = da.Reference(1e-12, 1e-12)
TURN = {x: X * cos(omega * t) - Y * sin(omega * t), y: X * sin(omega * t) + Y * cos(omega * t)}


def values(system):
    return {p: VALUES[p] for p in system.parameters}


def plane(**more):
    return da.System("plane", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=k * x**2 / 2 + m * g * y, **more)


def jet(seed, *variables):
    """Random derivatives up to the second: all that the covariance of the equations can see."""
    terms = [1, *variables, *(u * w for i, u in enumerate(variables) for w in variables[i:])]
    numbers = np.random.default_rng(seed).integers(-9, 10, len(terms))
    return sum(da.Rational(int(n), 7) * u for n, u in zip(numbers, terms, strict=True))


def test_covariance_for_generic_transformations():
    """004, T5, with time-dependent maps; a Lagrangian that lacks the drift of the map is the control."""
    generic = {x: jet(1, X, Y, t), y: jet(2, X, Y, t)}
    old = plane(forces={x: c * y.dot * x, y: sin(t)}, dissipation=c * (x.dot - y.dot) ** 2 / 2)
    made = da.change_coordinates(old, generic)
    assert made.covariance_defect < 1e-11
    frozen = {q.dot: sum(e.diff(Q) * Q.dot for Q in (X, Y)) for q, e in generic.items()}
    wrong = da.System("wrong", [X, Y], lagrangian=old.lagrangian.xreplace({**generic, **frozen}))
    assert covariance_defect(plane(), wrong, generic) > 1e-3


def test_polar_coordinates():
    made = da.change_coordinates(plane(), {x: r * cos(phi), y: r * sin(phi)}, coordinates=[r, phi])
    assert made.system.coordinates == (r, phi)
    assert vanishes(made.system.kinetic - m * (r.dot**2 + r**2 * phi.dot**2) / 2)
    assert vanishes(made.system.potential - k * r**2 * cos(phi) ** 2 / 2 - m * g * r * sin(phi))
    assert vanishes(made.expression(x * y.dot - y * x.dot) - r**2 * phi.dot)
    assert "The equations of motion are the same" in str(made)


def test_a_rotating_frame_has_coriolis_and_centrifugal_terms():
    free = da.System("free", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2)
    frame = da.change_coordinates(free, TURN).system
    shown = da.structure(frame)
    assert vanishes(shown.T0 - m * omega**2 * (X**2 + Y**2) / 2)
    assert vanishes(shown.gyroscopic_forces[X] - 2 * m * omega * Y.dot)
    assert vanishes(shown.gyroscopic_forces[Y] + 2 * m * omega * X.dot)


@pytest.mark.parametrize(
    ("map", "start"),
    [
        ({x: r * cos(phi), y: r * sin(phi)}, {r: 1.2, phi: 0.4, r.dot: 0.3, phi.dot: 0.7}),
        (TURN, {X: 0.4, Y: 0.9, X.dot: -0.2, Y.dot: 0.5}),
        ({y: X + x**2 + sin(t)}, {x: 0.2, X: 0.3, x.dot: 0.4, X.dot: -0.1}),
        ({x: X + t * Y / 4, y: Y + sin(X) / 3}, {X: 0.3, Y: 0.8, X.dot: 0.2, Y.dot: 0.1}),
    ],
    ids=["polar", "rotating frame", "one coordinate kept", "shear"],
)
def test_motion_in_both_charts(map, start):
    """With forces and dissipation; the start is given in the new coordinates."""
    old = plane(forces={x: -c * y.dot, y: cos(t)}, dissipation=c * (x.dot**2 + y.dot**2) / 2)
    made = da.change_coordinates(old, map)
    new_run = da.simulate(made.system, TIGHT, h=0.05, until=2, start=start, parameters=values(made.system))
    begin = made.to_old({**start, t: 0.0}, parameters=values(made.system))
    old_run = da.simulate(old, TIGHT, h=0.05, until=2, start=begin, parameters=values(old))
    back = made.to_old(new_run)
    for q in (x, y):
        assert np.abs(back[q] - old_run[q]).max() < 1e-9
        assert np.abs(back[q.dot] - old_run[q.dot]).max() < 1e-9
    still = made.to_old({**start, X.dot: 0.0, phi.dot: 0.0, t: 0.0}, parameters=values(made.system))
    assert max(abs(still[q.dot] - begin[q.dot]) for q in (x, y)) > 1e-3  # control: velocities matter


def test_states_go_and_come_back():
    made = da.change_coordinates(plane(), TURN)
    state = {X: 1.0, Y: 2.0, X.dot: 0.1, Y.dot: 0.2, t: 0.3}
    there = made.to_old(state, parameters=VALUES)
    back = made.to_new(there, near={X: 0.5, Y: 2.5}, parameters=VALUES)
    assert all(back[q] == pytest.approx(v, abs=1e-13) for q, v in state.items())
    polar = da.change_coordinates(plane(), {x: r * cos(phi), y: r * sin(phi)})
    around = polar.to_new(
        {x: -1.0, y: 1.0, x.dot: 0.5, y.dot: 0.0}, near={r: 1.0, phi: 2.0 + 2 * np.pi}, parameters=VALUES
    )
    assert around[phi] == pytest.approx(np.pi * 0.75 + 2 * np.pi)  # the turn that `near` selects


def test_constraints_are_carried_over():
    rod = da.gallery.load("pendulum-cartesian")
    q = rod.system.coordinates
    made = da.change_coordinates(rod.system, {q[0]: s * sin(theta), q[1]: -s * cos(theta)})
    assert [con.kind for con in made.system.constraints] == ["holonomic"]
    length = rod.parameters[next(p for p in rod.parameters if p.name == "l")]
    start = {s: length, theta: 0.5, s.dot: 0.0, theta.dot: 0.3}
    run = da.simulate(made.system, TIGHT, h=0.05, until=1, start=start, parameters=rod.parameters)
    begin = made.to_old(start, parameters=rod.parameters)
    old = da.simulate(rod.system, TIGHT, h=0.05, until=1, start=begin, parameters=rod.parameters)
    assert np.abs(made.to_old(run)[q[0]] - old[q[0]]).max() < 1e-9
    assert np.abs(run.multipliers - old.multipliers).max() < 1e-7  # the constraint is the same function


def test_variations_of_their_own_are_carried_over():
    """A kinematic constraint whose reaction acts along another one-form."""
    kinetic = (x.dot**2 + y.dot**2 + z.dot**2) / 2
    odd = da.System(
        "odd", [x, y, z], kinetic=kinetic, potential=z, constraints=[z.dot - y * x.dot], variations=[z.dot - x.dot]
    )
    made = da.change_coordinates(odd, {x: X + Y, y: X - Y, z: Z * (1 + X**2)})
    assert not made.system.is_ideal
    start = {X: 0.2, Y: 0.1, Z: 0.3, X.dot: 0.4, Y.dot: -0.3}
    run = da.simulate(made.system, TIGHT, h=0.05, until=1, start=start)
    whole = {q: run[q][0] for q in (X, Y, Z, X.dot, Y.dot, Z.dot)}
    old = da.simulate(odd, TIGHT, h=0.05, until=1, start=made.to_old(whole))
    assert np.abs(made.to_old(run)[z] - old[z]).max() < 1e-9
    ideal = da.System("ideal", [x, y, z], kinetic=kinetic, potential=z, constraints=[z.dot - y * x.dot])
    other = da.simulate(ideal, TIGHT, h=0.05, until=1, start=made.to_old(whole))
    assert np.abs(other[z] - old[z]).max() > 1e-3  # control: the one-form matters


def test_nonlinear_constraints_are_carried_over():
    fixed = da.System(
        "speed", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=y, constraints=[x.dot**2 + y.dot**2 - 1]
    )
    made = da.change_coordinates(fixed, {x: r * cos(phi), y: r * sin(phi)})
    assert vanishes(made.system.constraints[0].expression - (r.dot**2 + r**2 * phi.dot**2 - 1))


# gauge


def test_gauge_functions_are_recovered():
    """004, T4 and its converse."""
    L = m * (x.dot**2 + x**2 * y.dot**2) / 2 - k * x * y
    for F in (x * y, sin(x * t) * y, m * x**2 * exp(-c * t), log(1 + x**2 + y**2), omega * t * x + cos(omega * t)):
        rate = F.diff(x) * x.dot + F.diff(y) * y.dot + F.diff(t)
        found = da.gauge_function(L, L + rate, [x, y])
        assert found
        assert all(vanishes((found.function - F).diff(v)) for v in (x, y, t))


@pytest.mark.parametrize(
    ("added", "reason"),
    [
        (x * y.dot, "mixed derivatives by x and y differ"),
        (x, "mixed derivatives by x and t differ"),
        (t * x.dot, "mixed derivatives by x and t differ"),
        (x.dot**2, "not linear in the velocities"),
        (x.dot**4, "not linear in the velocities"),
    ],
)
def test_other_differences_are_no_gauge(added, reason):
    found = da.gauge_function(x.dot**2, x.dot**2 + added, [x, y])
    assert not found.equivalent
    assert found.function is None
    assert reason in found.reason


def test_only_the_square_of_the_speed_is_galilei_invariant():
    """004, T22: L(v + w) - L(v) is a total derivative for L = v^2, not for v^4."""
    w = da.parameters("w")
    square = da.gauge_function(k * x.dot**2, k * (x.dot + w) ** 2, [x])
    assert vanishes(square.function.diff(x) - 2 * k * w)
    assert not da.gauge_function(x.dot**4, (x.dot + w) ** 4, [x])


def test_systems_are_compared_by_their_lagrangians():
    one, two = plane(), da.System("gauged", [x, y], lagrangian=plane().lagrangian + x * x.dot)
    assert vanishes(da.gauge_function(one, two).function - x**2 / 2)
    assert "Gauge equivalent" in str(da.gauge_function(one, two))


def test_a_quadrature_that_is_not_found_is_said():
    F = sin(exp(x) * y + exp(x * y * t))
    rate = F.diff(x) * x.dot + F.diff(y) * y.dot + F.diff(t)
    found = da.gauge_function(0, rate, [x, y], budget=Budget(seconds=0.001))
    assert found.equivalent
    assert found.function is None
    assert "quadrature was not found" in found.reason


def test_the_heading_has_the_new_name():
    change = {x: r * cos(phi), y: r * sin(phi)}
    assert str(da.change_coordinates(plane(), change, name="polar")).startswith("polar: from x, y to phi, r")
    assert str(da.change_coordinates(plane(), change)).startswith("plane: from x, y to phi, r")
