"""Reference solutions: tolerances relative to the motion, in any units; constraints kept; singular positions."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import cos

import dalembert as da
from dalembert.engine.status import Status

x, y, theta = da.coordinates("x y theta")
m, k, g, l = da.parameters("m k g l", positive=True)

SPRING = da.System("spring", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2)
CART = da.System(
    "cart",
    [x, theta],
    kinetic=m * x.dot**2 + m * l**2 * theta.dot**2 / 2 + m * l * x.dot * theta.dot * cos(theta),
    potential=k * x**2 / 2 - m * g * l * cos(theta),
)
UNITS = [(1, 1, 1), (1e-10, 1e-17, 1e-30), (1e9, 1e6, 1e24), (1e-12, 1e12, 1e-12), (1e12, 1e-12, 1)]


def spring_numbers(length, time, mass):
    return {m: mass, k: mass / time**2}


def cart_numbers(length, time, mass):
    return {m: mass, l: length, g: 9.81 * length / time**2, k: mass / time**2}


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("solver", ["DOP853", "Radau", "hamilton"])
@pytest.mark.parametrize("at_rest", [True, False], ids=["at rest", "moving"])
def test_a_spring_in_any_units(unit, solver, at_rest):
    length, time, _ = unit
    start = {x: length, x.dot: 0} if at_rest else {x: 0, x.dot: length / time}
    given = {"h": 0.1 * time, "steps": 40, "start": start, "parameters": spring_numbers(*unit)}
    if solver == "hamilton":
        run = da.hamilton(SPRING).simulate(**given)
    else:
        rtol = 1e-7 if solver == "Radau" else 1e-10
        run = da.simulate(SPRING, da.Reference(rtol, solver=solver), **given)
    t = run.time / time
    np.testing.assert_allclose(
        run.x / length, np.cos(t) if at_rest else np.sin(t), atol=3e-5 if solver == "Radau" else 1e-8
    )


def test_control_an_absolute_tolerance_is_of_no_use_to_atoms():
    length, time, mass = UNITS[3]
    given = {
        "h": 0.1 * time,
        "steps": 400,
        "start": {x: length, x.dot: 0},
        "parameters": spring_numbers(length, time, mass),
    }
    run = da.simulate(SPRING, da.Reference(1e-10, 1e-10), **given)
    assert np.abs(run.x / length - np.cos(run.time / time)).max() > 1e-3


def test_components_of_different_sizes_have_tolerances_of_their_own():
    """A second spring of a size 1e-12 of the first one's, and one that rests."""
    pair = da.System(
        "pair", [x, y, theta], kinetic=(x.dot**2 + y.dot**2 + theta.dot**2) / 2, potential=(x**2 + y**2 + theta**2) / 2
    )
    start = {x: 1, y: 1e-12, theta: 0, x.dot: 0, y.dot: 0, theta.dot: 0}
    run = da.simulate(pair, da.Reference(), h=0.1, until=10, start=start)
    np.testing.assert_allclose(run.y / 1e-12, np.cos(run.time), atol=1e-7)
    assert not run[theta].any()


@pytest.mark.parametrize("unit", UNITS[1:], ids=str)
def test_orders_are_measured_in_any_units(unit):
    def orders(length, time, mass):
        study = da.convergence(
            SPRING, [da.Midpoint(), da.Gauss(2)], [0.1 * time, 0.05 * time],
            start={x: length, x.dot: 0.3 * length / time}, until=2 * time, parameters=spring_numbers(length, time, mass),
        )  # fmt: skip
        return [study[method].orders[name] for method in (da.Midpoint(), da.Gauss(2)) for name in ("q", "p")]

    np.testing.assert_allclose(orders(*unit), orders(*UNITS[0]), atol=0.01)


@pytest.mark.parametrize("unit", UNITS[1:], ids=str)
def test_the_exact_discrete_lagrangian_in_any_units(unit):
    def action(length, time, mass):
        at = {x.at(0): 0.3 * length, x.at(1): 0.33 * length, theta.at(0): 1.0, theta.at(1): 1.05}
        step = da.exact_discrete_lagrangian(CART).solve(at, h=0.1 * time, parameters=cart_numbers(length, time, mass))
        sizes = np.array([mass * length / time, mass * length**2 / time])
        return np.array([step.value / (mass * length**2 / time), *(step.minus / sizes), *(step.plus / sizes)])

    np.testing.assert_allclose(action(*unit), action(*UNITS[0]), rtol=1e-10)


# constraints


def test_constraints_are_kept_by_projection():
    rod = da.System(
        "rod", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=[x**2 + y**2 - l**2]
    )
    given = {"start": {x: 1e3, y: 0, y.dot: 0}, "parameters": {m: 1, g: 9.81e3, l: 1e3}}
    run = da.simulate(rod, da.Reference(1e-6), h=0.1, until=20, **given)
    assert np.abs(run.x**2 + run.y**2 - 1e6).max() < 1e-15 * 1e6
    assert np.abs(run.x * run[x.dot] + run.y * run[y.dot]).max() < 1e-14 * 1e6


def test_a_unit_quaternion_stays_one():
    b, q = da.bodies, da.coordinates("q0 q1 q2 q3")
    body = b.SpaceBody(b.Shape(m, [1, 2, 3], [0, 0, 0]), [0, 0, 0], b.quaternion(*q))
    system = b.assemble("body", q, bodies=[body]).system
    start = {q[0]: 1, q[1]: 0, q[2]: 0, q[3]: 0, q[1].dot: 0.5, q[2].dot: 0.01, q[3].dot: 0.2}
    run = da.simulate(
        system, da.Reference(1e-6), h=0.5, until=50, start=start, parameters=dict.fromkeys(system.parameters, 1)
    )
    assert np.abs(sum(run[c] ** 2 for c in q) - 1).max() < 1e-15
    assert np.abs(sum(run[c] * run[c.dot] for c in q)).max() < 1e-15


def windows(count):
    """The N-four-bar mechanism: N windows of unit bars of unit mass, in the positions of the upper joints."""
    q = da.coordinates(" ".join(f"x{i} y{i}" for i in range(count + 1)))
    X, Y = q[::2], q[1::2]
    T = sum((a.dot**2 + b.dot**2) / 6 for a, b in zip(X, Y, strict=True))
    V = sum(9.81 * b / 2 for b in Y)
    for i in range(count):
        T += sum(a[i].dot ** 2 + a[i].dot * a[i + 1].dot + a[i + 1].dot ** 2 for a in (X, Y)) / 6
        V += 9.81 * (Y[i] + Y[i + 1]) / 2
    bars = [(X[i] - i) ** 2 + Y[i] ** 2 - 1 for i in range(count + 1)]
    bars += [(X[i + 1] - X[i]) ** 2 + (Y[i + 1] - Y[i]) ** 2 - 1 for i in range(count)]
    return da.System("windows", q, kinetic=T, potential=V, constraints=bars), X, Y


@pytest.mark.parametrize(
    ("count", "speed", "rtol"), [(1, 1.0, 1e-10), (2, 1.0, 1e-10), (1, 30.0, 1e-8), (2, 7.0, 1e-12)]
)
def test_singular_positions_of_a_linkage(count, speed, rtol):
    """All bars lie on one line there, and a second way of moving branches off. Either it is passed, or the run says so."""
    from scipy.integrate import solve_ivp

    system, X, Y = windows(count)
    start = {s: v for i in range(count + 1) for s, v in ((X[i], i), (Y[i], 1), (X[i].dot, speed), (Y[i].dot, 0))}
    run = da.simulate(system, da.Reference(rtol), h=0.05, until=3, start=start, strict=False)
    inertia, weight = (count + 1) / 3 + count, 9.81 * ((count + 1) / 2 + count)
    turning = solve_ivp(
        lambda _, s: [s[1], -weight / inertia * np.cos(s[0])], (0, 3.01), [np.pi / 2, -speed], "DOP853", run.time,
        rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    known = np.isfinite(run[X[0]])
    assert run.status in (Status.CONVERGED, Status.SINGULAR, Status.NO_SOLUTION)
    assert known[:4].all()
    for i in range(count + 1):
        np.testing.assert_allclose((run[X[i]] - i)[known], np.cos(turning.y[0])[known], atol=1e4 * rtol)
