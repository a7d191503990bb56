"""The adaptive solution in compiled code: that of SciPy, published ends, lanes, rows, constraints, domains."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sympy import Rational

import dalembert as da
from dalembert import cos, exp, log, sin, sqrt
from dalembert.engine.adaptive_lane import CODE, REJECTED, RETRIES, ROW, STEP_AT
from dalembert.engine.adaptive_machine import AdaptiveStepper
from dalembert.methods.dormand_prince_pair import dop853
from dalembert.run.reference_flow import flow_of

x, y = da.coordinates("x y")
k = da.parameters("k", positive=True)
SPRING = da.System("spring", [x], kinetic=x.dot**2 / 2, potential=k * x**2 / 2)
KEPLER = da.System("Kepler", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=-1 / sqrt(x**2 + y**2))
NEAR = {x: 0.1, y: 0.0, x.dot: 0.0, y.dot: math.sqrt(19)}
ARMS = da.System(
    "arms",
    [x, y],
    kinetic=x.dot**2 + y.dot**2 / 2 + x.dot * y.dot * cos(x - y),
    potential=-2 * cos(x) - cos(y),
    forces={x: sin(3 * da.time)},
    dissipation=x.dot**2 / 20,
)
HANGING = {x: 0.6, y: 0.3, x.dot: 0.0, y.dot: 0.2}


def by_scipy(system, start, times, rtol, solver="DOP853"):
    """SciPy's own solution of the accelerations as functions."""
    from scipy.integrate import solve_ivp
    from sympy import lambdify

    q, v = system.coordinates, system.velocities
    solved = system.equations().solved
    f = lambdify([da.time, *q, *v], [*v, *(solved[c.ddot] for c in q)])
    state = [float(start[c]) for c in (*q, *v)]
    return solve_ivp(lambda t, s: f(t, *s), (times[0], times[-1]), state, solver, times, rtol=rtol, atol=rtol).y


@pytest.mark.parametrize(("system", "start"), [(KEPLER, NEAR), (ARMS, HANGING)], ids=["Kepler", "arms"])
def test_it_is_the_motion_that_scipy_computes(system, start):
    run = da.simulate(system, da.Reference(1e-12), h=0.05, until=5, start=start)
    other = by_scipy(system, start, run.time, 1e-13)
    for i, c in enumerate((*system.coordinates, *system.velocities)):
        np.testing.assert_allclose(run[c], other[i], atol=2e-9)


def test_errors_fall_with_the_tolerance_also_between_the_steps():
    """Rows lie inside steps: the polynomial of a step is of order 7."""
    errors = []
    for rtol in (1e-6, 1e-8, 1e-10, 1e-12):
        run = da.simulate(SPRING, da.Reference(rtol), h=0.01, until=20, start={x: 1, x.dot: 0}, parameters={k: 1})
        errors.append(np.abs(run.x - np.cos(run.time)).max())
        assert errors[-1] < 100 * rtol
    assert all(b < a / 20 for a, b in pairwise(errors))


def wrong(pair, what):
    """The pair with one number changed by 1e-6."""
    rows = [list(row) for row in getattr(pair, what)]
    j = next(j for j, a in enumerate(rows[-1]) if a)
    rows[-1][j] += 1e-6
    return replace(pair, **{what: tuple(map(tuple, rows))})


@pytest.mark.parametrize("what", ["rows", "dense"])
def test_control_one_coefficient_changed(what):
    """The error between the steps does not fall any more."""

    def error(pair):
        stepper = AdaptiveStepper(flow_of(SPRING, False), pair)
        times, out = np.linspace(0, 20, 2001), np.zeros((1, 2001, 2))
        carry, status = stepper.begin(np.array([[1.0, 0.0]]), 0.0, np.array([1e-4]))
        stepper.advance(carry, np.ones((1, 1)), times, out, status, 10**6, 1e-12, 0.0)
        return np.abs(out[0, 1:, 0] - np.cos(times[1:])).max()

    right = error(dop853())
    assert right < 1e-10
    assert error(wrong(dop853(), what)) > 10 * max(right, 1e-10)


def test_the_car_axis_ends_where_the_test_set_says():
    """F. Mazzia and C. Magherini, Test Set for Initial Value Problem Solvers, 2008: of index 3, with m = eps^2 M/2."""
    xl, yl, xr, yr = q = da.coordinates("xl yl xr yr")
    yb = sin(10 * da.time) / 10
    xb, m = sqrt(1 - yb**2), Rational(5, 10**4)
    left, right = sqrt(xl**2 + yl**2), sqrt((xr - xb) ** 2 + (yr - yb) ** 2)
    axis = da.System(
        "car axis",
        list(q),
        kinetic=m * sum(c.dot**2 for c in q) / 2,
        potential=((left - Rational(1, 2)) ** 2 + (right - Rational(1, 2)) ** 2) / 2 + m * (yl + yr),
        constraints=[xl * xb + yl * yb, (xl - xr) ** 2 + (yl - yr) ** 2 - 1],
    )
    start = dict(zip([*q, *(c.dot for c in q)], [0, 0.5, 1, 0.5, -0.5, 0, -0.5, 0], strict=True))
    run = da.simulate(axis, da.Reference(1e-12), h=0.1, until=3, start=start)
    published = [0.4934557842755629e-1, 0.4969894602303324, 0.1041742524885400e1, 0.3739110272652214]
    np.testing.assert_allclose([run[c][-1] for c in q], published, rtol=1e-10)
    for c in axis.constraints:
        assert np.abs(run.quantity(c.expression)).max() < 1e-15


def test_a_lane_is_the_same_run_alone_whatever_the_others_do():
    many = {"parameters": {k: np.array([1e-3, 1.0, 400.0])}, "start": {x: np.array([1.0, 2.0, 1e-9]), x.dot: 0.5}}
    run = da.simulate(SPRING, da.Reference(), h=0.37, steps=3000, **many)
    for lane in range(3):
        one = da.simulate(
            SPRING, da.Reference(), h=0.37, steps=3000, parameters={k: many["parameters"][k][lane]},
            start={x: many["start"][x][lane], x.dot: 0.5},
        )  # fmt: skip
        np.testing.assert_array_equal(run.records[lane], one.records[0])


def test_rows_do_not_change_the_steps():
    """The end is the same to the last bit whether rows are asked for on the way or not, and in pieces of any length."""
    ends = [da.simulate(ARMS, da.Reference(), h=h, until=8, start=HANGING).records[0, -1] for h in (8, 0.5, 0.01)]
    flow = flow_of(ARMS, False)
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])
    stepper, state = AdaptiveStepper(flow, dop853()), np.array([[0.6, 0.3, 0.0, 0.2]])
    ends = []
    for most in (1, 7, 10**6):
        carry, status = stepper.begin(state, 0.0, np.array([1e-4]))
        out = np.zeros((1, 3, 4))
        while status[0, 1] < 3:
            stepper.advance(carry, np.zeros((1, 0)), np.array([0, 1.0, 8.0]), out, status, most, 1e-10, 0.0)
        ends.append(out.copy())
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])


def test_a_large_system():
    """Loops over the state are not written out from 17 numbers on."""
    q = da.coordinates(" ".join(f"u{i}" for i in range(12)))
    pairs = pairwise(q)
    chain = da.System(
        "chain", list(q), kinetic=sum(c.dot**2 for c in q) / 2, potential=sum((b - a) ** 2 for a, b in pairs) / 2
    )
    start = {c: sin(Rational(i, 3)) for i, c in enumerate(q)} | {c.dot: 0 for c in q}
    start = {c: float(v) for c, v in start.items()}
    run = da.simulate(chain, da.Reference(1e-12), h=0.5, until=10, start=start)
    stiffness = 2 * np.eye(12) - np.eye(12, k=1) - np.eye(12, k=-1)
    stiffness[0, 0] = stiffness[-1, -1] = 1
    squares, modes = np.linalg.eigh(stiffness)
    begun = modes.T @ np.array([start[c] for c in q])
    for row, t in enumerate(run.time):
        exact = modes @ (np.cos(np.sqrt(np.maximum(squares, 0)) * t) * begun)
        np.testing.assert_allclose([run[c][row] for c in q], exact, atol=1e-10)


ENDS = (da.Status.CONVERGED, da.Status.LEFT_DOMAIN, da.Status.NO_SOLUTION, da.Status.NOT_FINITE)
"""The last is that of a motion whose energy grows beyond the largest double."""


@pytest.mark.parametrize("potential", [log(x), -sqrt(x), 1 / (x - 1), exp(-x) * x**3])
def test_random_falls_end_where_the_domain_ends(potential):
    """A lane that leaves the domain keeps what came before; the statuses of random lanes are those of each alone."""
    system = da.System("fall", [x], kinetic=x.dot**2 / 2, potential=potential)
    rng = np.random.default_rng(3)
    start = {x: rng.uniform(0.2, 3, 12), x.dot: rng.uniform(-2, 1, 12)}
    run = da.simulate(system, da.Reference(), h=0.1, until=3, start=start, strict=False)
    for lane, (status, last) in enumerate(zip(run.status, run.codes[:, 1], strict=True)):
        assert status in ENDS
        assert np.isfinite(run.records[lane, : last + 1]).all()
        assert np.isnan(run.records[lane, last + 1 :]).all()
        energy = run.energy[lane, : last + 1]
        assert np.abs(energy - energy[0]).max() < 1e-6 * (
            1 + np.abs(energy[0]) + (run[x.dot][lane, : last + 1] ** 2).max()
        )


FREE = da.System("free", [x], kinetic=x.dot**2 / 2)


def steps_of(system, state, first, until, rtol=1e-10, parameters=()):
    """One attempted step after the other: the numbers of the lane after each."""
    stepper, n = AdaptiveStepper(flow_of(system, False), dop853()), len(state)
    carry, status = stepper.begin(np.array([state], dtype=float), 0.0, np.array([first]))
    out, times, row = np.zeros((1, 2, n)), np.array([0.0, until]), np.array([parameters], dtype=float).reshape(1, -1)
    while status[0, ROW] < 2 and not status[0, CODE]:
        stepper.advance(carry, row, times, out, status, 1, rtol, 0.0)
        yield carry[0].copy(), status[0].copy()


def test_steps_grow_tenfold_at_most_and_not_after_one_that_was_refused():
    """E. Hairer, S. P. Norsett and G. Wanner, Solving Ordinary Differential Equations I, section II.5."""
    at, last, refused, grown = 4 * 2 + STEP_AT, 1e-9, 0, []
    walk = steps_of(SPRING, [1.0, 0.0], last, 400.0, parameters=[1.0])
    for carry, status in walk:
        if refused and not status[REJECTED]:
            assert carry[at] <= last
        grown.append(carry[at] / last)
        last, refused = carry[at], status[REJECTED]
    assert min(grown) >= 0.2 and 9.99 < max(grown) < 10.01

    suddenly = da.System("kick", [x], kinetic=x.dot**2 / 2, potential=exp(-400 * (x - 3) ** 2))
    last, refused, seen = 1.0, 0, 0
    for carry, status in steps_of(suddenly, [0.0, 2.0], last, 3.0):
        if refused and not status[REJECTED]:
            seen += 1
            assert carry[at] <= last
        last, refused = carry[at], status[REJECTED]
    assert seen > 1


def test_what_rounding_took_is_added_and_the_sizes_of_the_motion_are_kept():
    stepper = AdaptiveStepper(flow_of(FREE, False), dop853())
    ends = []
    for rest in (0.0, 0.25):
        carry, status = stepper.begin(np.array([[1.0, 2.0]]), 0.0, np.array([0.1]))
        carry[0, 2] = rest  # what rounding has taken from x so far
        out = np.zeros((1, 2, 2))
        stepper.advance(carry, np.zeros((1, 0)), np.array([0.0, 1.0]), out, status, 10**6, 1e-10, 0.0)
        ends.append(carry[0, 0])
    np.testing.assert_allclose(ends, [3.0, 3.25], rtol=1e-15)
    (*_, (carry, _)) = steps_of(SPRING, [1.0, 0.0], 1e-3, 20.0, parameters=[1.0])
    np.testing.assert_allclose(
        carry[6:8], [2.0, 1.0], rtol=2e-2
    )  # the largest distance from the start, the largest speed


def test_a_step_that_has_no_value_is_tried_again_shorter():
    """The stages of a long step lie beyond the wall, the motion does not."""
    wall = da.System("wall", [x], kinetic=x.dot**2 / 2, potential=x ** Rational(-3, 2))
    walk = [status for _, status in steps_of(wall, [3.0, -30.0], 1.0, 0.3)]
    assert max(status[RETRIES] for status in walk) > 0
    assert walk[-1][CODE] == 0 and walk[-1][ROW] == 2
    run = da.simulate(wall, da.Reference(), h=0.1, until=1, start={x: 3.0, x.dot: -30.0})
    assert run[x.dot][-1] > 29


def test_a_step_across_a_singular_point_is_not_made():
    """The force is so weak that no stage feels it."""
    for side in (-1.0, 1.0):
        weak = da.System("weak", [x], kinetic=x.dot**2 / 2, potential=1e-40 / x)
        run = da.simulate(weak, da.Reference(), h=1.0, steps=5, start={x: side, x.dot: -side}, strict=False)
        assert run.status is not da.Status.CONVERGED
        assert (run.x[np.isfinite(run.x)] * side >= 0).all()
