"""Adaptive solutions by power series: function by function against 30 digits, in odd units, at singular states."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import sympy
from sympy import Rational

import dalembert as da
from dalembert import cos, sin, sqrt
from dalembert.engine.adaptive_machine import AdaptiveStepper, has_series
from dalembert.engine.series_tape import series_tape
from dalembert.methods.dormand_prince_pair import dop853
from dalembert.run.reference_flow import flow_of

x, y = da.coordinates("x y")
t = da.time


def exact(system, start, end, steps):
    """The state at the end with 30 digits: Gragg's extrapolated midpoint rule of order 24."""
    q, v = system.coordinates, system.velocities
    solved = system.equations().solved
    f = sympy.lambdify([t, *q, *v], [*v, *(solved[c.ddot] for c in q)], "mpmath")
    with mpmath.workdps(34):
        z, time, size = [mpmath.mpf(start[c]) for c in (*q, *v)], mpmath.mpf(0), mpmath.mpf(end) / steps
        for _ in range(steps):
            table = []
            for m in range(1, 13):
                n, h = 2 * m, size / (2 * m)
                before, here = z, [a + h * b for a, b in zip(z, f(time, *z), strict=True)]
                for k in range(1, n):
                    rate = f(time + k * h, *here)
                    before, here = here, [a + 2 * h * b for a, b in zip(before, rate, strict=True)]
                row = [here]
                for j in range(1, m):
                    ratio = mpmath.mpf(m) ** 2 / (m - j) ** 2 - 1
                    row.append([a + (a - b) / ratio for a, b in zip(row[-1], table[-1][j - 1], strict=True)])
                table.append(row)
            z, time = table[-1][-1], time + size
        errors = [abs(a - b) for a, b in zip(table[-1][-1], table[-2][-1], strict=True)]
        assert max(errors) < 1e-17
        return [float(a) for a in z]


FUNCTIONS = {
    "sin": sin(x) + sin(2 * x),
    "cos": cos(3 * x) * y,
    "tan": sympy.tan(x / 2),
    "exp": sympy.exp(-x) * y,
    "log": sympy.log(2 + x),
    "sqrt": sqrt(1 + x**2 + y**2),
    "quotient": (1 + y) / (2 + x * y),
    "power": (2 + x) ** Rational(7, 3) / 20,
    "negative power": 1 / (2 + x * y) ** 6,
    "half": (2 + x) ** Rational(-5, 2),
    "long power": (1 + x / 4) ** 9 / 20,
    "exponent": (2 + x) ** y,
    "sinh": sympy.sinh(x) * sympy.cosh(y),
    "tanh": sympy.tanh(3 * x - 1),
    "asin": sympy.asin(x / 9),
    "acos": sympy.acos(x / 9 + y / 9),
    "atan": sympy.atan(2 * x - 1),
    "atan2": sympy.atan2(2 + y, 1 + x),
    "asinh": sympy.asinh(2 * x),
    "acosh": sympy.acosh(9 + x),
    "atanh": sympy.atanh(x / 9),
    "erf": sympy.erf(x) - sympy.erfc(y),
    "time": sin(5 * t) * x + t**2 * y / (1 + t),
    "reciprocals": 1 / sympy.cosh(x) + 1 / (2 + sympy.tan(y / 3)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_against_thirty_digits(name):
    """A plane motion pushed by each function: order 24 with the smallest tolerance leaves rounding errors only."""
    push = FUNCTIONS[name]
    system = da.System(
        name, [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=x**2 + y**2, forces={x: push, y: x / 3}
    )
    assert has_series(flow_of(system, False))
    start = {x: 0.25, y: -0.5, x.dot: 0.5, y.dot: 0.125}
    run = da.simulate(system, da.Reference(1e-15), h=1.5, steps=1, start=start)
    np.testing.assert_allclose(run.records[0, -1], exact(system, start, 1.5, 12), rtol=0, atol=2e-14)


def test_a_matrix_that_varies_against_thirty_digits():
    """The coefficients of accelerations follow from those of the mass matrix, which is factored once."""
    arms = da.System(
        "arms", [x, y], kinetic=x.dot**2 + y.dot**2 / 2 + x.dot * y.dot * cos(x - y), potential=-2 * cos(x) - cos(y),
        forces={x: sin(3 * t)}, dissipation=x.dot**2 / 20,
    )  # fmt: skip
    start = {x: 0.75, y: 0.5, x.dot: 0.0, y.dot: 0.25}
    errors, end = [], exact(arms, start, 3, 24)
    for rtol in (1e-5, 1e-8, 1e-11, 1e-15):
        run = da.simulate(arms, da.Reference(rtol), h=3, steps=1, start=start)
        errors.append(np.abs(run.records[0, -1] - end).max())
        assert errors[-1] < 20 * rtol + 1e-14
    assert errors[2] < errors[0] / 1e3


def wrong(tape):
    """The tape with one product in place of another."""
    products = [k for k, o in enumerate(tape.operations) if o.op == "mul" and o.args[0] != o.args[1]]
    k = next(k for k in products if all(tape.operations[a].level for a in tape.operations[k].args))
    changed = tape.operations[k]._replace(args=2 * tape.operations[k].args[:1])
    return tape.__class__(
        (*tape.operations[:k], changed, *tape.operations[k + 1 :]), tape.slopes, tape.parts, tape.rates
    )


def test_control_a_wrong_series_is_seen(monkeypatch):
    """The equations are asked at the end of each step: with one product changed only tiny steps are accepted."""
    from dalembert.engine import adaptive_machine

    system = da.System("control", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=x**2 * y + y**4)
    flow = flow_of(system, False)

    def steps():
        stepper = AdaptiveStepper(flow, None)
        carry, status = stepper.begin(np.array([[0.5, 0.25, 0.1, 0.2]]), 0.0, np.array([1e-4]))
        out = np.zeros((1, 2, 4))
        stepper.advance(carry, np.zeros((1, 0)), np.array([0.0, 5.0]), out, status, 10**5, 1e-10, 0.0)
        return status[0, 2]

    right = steps()
    changed = wrong(series_tape(flow.rates))
    monkeypatch.setattr(adaptive_machine, "series_tape", lambda rates: changed)
    monkeypatch.setattr(adaptive_machine, "identity", lambda m: f"control {m.name}")
    assert steps() > 100 * right


@pytest.mark.parametrize("unit", [1e-18, 1.0, 1e17, 1e40])
def test_steps_do_not_depend_on_the_unit_of_time(unit):
    """Coefficients of order 20 would leave the range of doubles."""
    k = da.parameters("k", positive=True)
    system = da.System("Kepler", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=-k / sqrt(x**2 + y**2))
    start = {x: 0.1, y: 0.0, x.dot: 0.0, y.dot: math.sqrt(19) / unit}
    run = da.simulate(
        system, da.Reference(1e-12), h=2 * math.pi * unit, steps=3, start=start, parameters={k: 1 / unit**2}
    )
    np.testing.assert_allclose(run.x, 0.1, rtol=1e-8)
    assert run.status == da.Status.CONVERGED


def test_a_root_of_zero_is_passed():
    """Drag grows with the square of the speed: at rest the speed, a root, has no series. The pair makes some steps there."""
    c = Rational(1, 5)
    speed = sqrt(x.dot**2 + y.dot**2)
    system = da.System(
        "falling",
        [x, y],
        kinetic=(x.dot**2 + y.dot**2) / 2,
        potential=y,
        forces={x: -c * speed * x.dot, y: -c * speed * y.dot},
    )
    assert has_series(flow_of(system, False))
    lanes = {x: np.zeros(3), x.dot: np.array([0.0, 1.0, 0.0])}
    run = da.simulate(system, da.Reference(), h=0.25, until=3, start={**lanes, y: 0, y.dot: 0})
    np.testing.assert_allclose(run.y[0], -np.log(np.cosh(math.sqrt(0.2) * run.time)) / 0.2, atol=1e-10)
    one = da.simulate(system, da.Reference(), h=0.25, until=3, start={x: 0, x.dot: 0, y: 0, y.dot: 0})
    assert np.array_equal(run.records[2], one.records[0])


def test_a_wall_that_coefficients_do_not_see():
    """Far from the wall its force is zero in doubles; a step that leads into it is refused and shortened."""
    wall = sympy.exp(-2000 * x)
    system = da.System("wall", [x], kinetic=x.dot**2 / 2, potential=wall)
    run = da.simulate(system, da.Reference(), h=0.5, until=4, start={x: 1, x.dot: -1})
    assert run.x.min() > -1e-3
    assert abs(run.energy[-1] - run.energy[0]) < 1e-8
    friction = da.System(
        "friction", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2, forces={x: -sympy.tanh(1000 * x.dot) / 10}
    )
    by_pair, by_series = (
        da.simulate(friction, da.Reference(1e-9, solver=s), h=1, until=15, start={x: 1, x.dot: 0})
        for s in ("DOP853", "Taylor")
    )
    np.testing.assert_allclose(by_series.x, by_pair.x, atol=1e-7)


def test_what_has_no_series_is_solved_by_the_pair():
    kinked = da.System("kinked", [x], kinetic=x.dot**2 / 2, potential=sympy.Abs(x))
    assert not has_series(flow_of(kinked, False))
    a, b = (
        da.simulate(kinked, da.Reference(1e-8, solver=s), h=0.5, until=3, start={x: 1, x.dot: 0})
        for s in ("Taylor", "DOP853")
    )
    assert np.array_equal(a.records, b.records)


FALLS = da.System("fall", [x], kinetic=x.dot**2 / 2, potential=sympy.log(x) - 1 / (x - 3))
KEPLER = da.System("Kepler", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=-1 / sqrt(x**2 + y**2))
BEAD = da.System(
    "bead", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=y * cos(t), constraints=[x**2 + y**4 + y**2 - 2]
)


@pytest.mark.parametrize("pair", [None, dop853()], ids=["series", "pair"])
@pytest.mark.parametrize("system", [FALLS, KEPLER, BEAD], ids=lambda s: s.name)
def test_lanes_in_vectors_have_the_bits_of_each_alone(system, pair):
    """Lanes of different lengths of steps, some of which leave the domain; in pieces, and beside other lanes."""
    rng, n = np.random.default_rng(5), 2 * len(system.coordinates)
    state = rng.uniform(0.2, 2, (37, n))
    if system is BEAD:
        turn = rng.uniform(0, 6, 37)
        state = np.column_stack([np.sqrt(2) * np.cos(turn), np.sqrt((np.sqrt(1 + 8 * np.sin(turn) ** 2) - 1) / 2)])
        state = np.hstack([state, np.zeros((37, 2))])
    stepper, times, found = AdaptiveStepper(flow_of(system, False), pair), np.array([0, 0.7, 2.0]), []
    for vectors in (False, True):
        if vectors:
            stepper.code.in_vectors()
        carry, status = stepper.begin(state, 0.0, np.geomspace(1e-5, 1e-2, 37))
        out = np.zeros((37, 3, n))
        for most in (3, 40, 10**4):
            stepper.advance(carry, np.zeros((37, 0)), times, out, status, most, 1e-9, 0.0)
        found.append((out, carry, status))
    for alone, beside in zip(*found, strict=True):
        np.testing.assert_array_equal(alone, beside)
    assert len(np.unique(found[0][2][:, 2])) > 5
