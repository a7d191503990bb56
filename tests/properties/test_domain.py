"""A motion does not leave the domain of its Lagrangian: what has no value there, and what was passed on the way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sympy import Abs, Piecewise, Rational, acosh, asin, atanh, exp, log, sin, sqrt, tan

import dalembert as da
from dalembert import Status
from dalembert.methods import REGISTRY
from dalembert.waist.domain import conditions

x, y = da.coordinates("x y")
k, n = da.parameters("k n")
METHODS = [kind() for kind in REGISTRY.values()]


def on_a_line(potential, **given):
    return da.System("line", [x], kinetic=x.dot**2 / 2, potential=potential, **given)


def found(expression):
    return {(c.kind, frozenset(map(str, c.terms))) for c in conditions([expression])}


CONDITIONS = [
    (log(x), {("positive", "x")}),
    (sqrt(x), {("nonnegative", "x")}),
    (x ** Rational(-3, 2), {("positive", "x")}),
    (x**1.5, {("nonnegative", "x")}),
    (1 / x, {("nonzero", "x")}),
    (1 / x**2, {("nonzero", "x")}),
    (1 / Abs(x), {("nonzero", "x")}),
    (1 / sqrt(x**2), {("nonzero", "x")}),
    (log(Abs(x)), {("nonzero", "x")}),
    (exp(1 / x), {("nonzero", "x")}),
    (1 / (x * y), {("nonzero", "x"), ("nonzero", "y")}),
    (tan(x), {("nonzero", "cos(x)"), ("same", "floor(1/2 + x/pi)")}),
    (1 / sin(x), {("nonzero", "sin(x)"), ("same", "floor(x/pi)")}),
    (asin(x), {("nonnegative", "1 - x**2")}),
    (acosh(x), {("nonnegative", "-1 + x")}),
    (atanh(x), {("positive", "1 - x**2")}),
    (x**2 + x * y - sin(x) + exp(x), set()),
    (sqrt(x**2 + y**2), set()),
    (1 / (1 + x**2), set()),
    (1 / (1 + exp(x)), set()),
    (log(x**2 + exp(y)), set()),
    (sqrt(Abs(x) + 1) / (2 + Abs(x)), set()),
]


@pytest.mark.parametrize(("expression", "expected"), CONDITIONS, ids=[str(e) for e, _ in CONDITIONS])
def test_conditions(expression, expected):
    assert found(expression) == {(kind, frozenset([term])) for kind, term in expected}


def test_the_condition_of_a_distance_is_about_both_components():
    assert found(1 / sqrt(x**2 + y**2)) == {("nonzero", frozenset(["x", "y"]))}


LINES = {
    "-log x + x": (-k * log(x) + x, lambda a: a),
    "log x": (k * log(x), lambda a: a),
    "1/x": (k / x + x, lambda a: a),
    "-1/x^2": (-k / x**2, lambda a: a),
    "1/|x|": (k / Abs(x) + x, lambda a: a),
    "x^(3/2)": (k * x ** Rational(3, 2), lambda a: a),
    "x^n": (k * x**n + x, lambda a: a),
    "1/sin x": (k / sin(x), np.sin),
    "atanh": (-k * atanh(x / 3) ** 2, lambda a: 1 - a**2 / 9),
}


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("name", LINES)
def test_no_motion_beyond_a_singularity(name, method):
    """Long steps over all methods: a lane that goes on is inside, finite, and NaN beyond its end."""
    potential, argument = LINES[name]
    system = on_a_line(potential)
    if not method.takes(system):
        pytest.skip("does not apply")
    rng = np.random.default_rng(1)
    lanes = 3 if method.adaptive else 12
    start = {x: rng.uniform(0.2, 2.0, lanes), x.dot: rng.uniform(-3.0, 1.0, lanes)}
    values = {p: 1.3 if p is k else -0.7 for p in system.parameters}
    run = da.simulate(system, method, h=0.35, steps=40, start=start, parameters=values, strict=False)
    there = np.arange(41) <= run.codes[:, 1:2]
    for table in (run.x, run[x.dot], run[x.momentum], run.energy):
        assert np.isfinite(table[there]).all()
        assert np.isnan(table[~there]).all()
    inside = argument(run.x)
    assert (np.sign(inside) == np.sign(inside[:, :1]))[there].all()


def test_control_the_bare_step_goes_through():
    """Without its guards, a step of the leapfrog is on the other side of the wall."""
    from dataclasses import replace

    from dalembert.engine.arguments import Lanes
    from dalembert.engine.machine import Stepper
    from dalembert.engine.run_options import Extent

    stepmap = da.StormerVerlet().step_map(on_a_line(-log(x) + x))
    for guards, beyond in ((stepmap.guards, False), ((), True)):
        stepper = Stepper(replace(stepmap, guards=guards))
        lane = Lanes.begun(stepper.carry(np.array([[1.0, -2.5]])), np.zeros((1, 0)))
        stepper.advance(lane, np.zeros((1, 1, 2)), Extent(t0=0.0, h=0.9, begin=0, steps=1))
        assert (lane.carry[0, 0] < 0) == beyond
        assert (lane.status[0, 0] == 0) == beyond


@pytest.mark.parametrize("method", [da.Midpoint(), da.Gauss(2), da.RungeKutta4(), da.Reference()], ids=repr)
def test_branches_that_are_not_taken_do_not_matter(method):
    """The logarithm is that of a negative number for half of the motion, in a branch that is not taken there."""
    soft = (
        Piecewise((x - 1 - log(x), x > 1), (0, True)) + Piecewise((0, x > -1), (-x - 1 + sqrt(-x) - 1, True)) + x**2 / 8
    )
    run = da.simulate(on_a_line(soft), method, h=0.05, until=30, start={x: 3.0, x.dot: 0.0})
    assert run.ok
    assert run.x.min() < -1.5
    assert np.isfinite(run.energy).all()


@pytest.mark.parametrize("method", [da.Midpoint(), da.StormerVerlet(), da.Gauss(3), da.RungeKutta4()], ids=repr)
def test_orbits_round_a_centre_raise_no_alarm(method):
    plane = da.System("Kepler", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=-1 / sqrt(x**2 + y**2))
    rng = np.random.default_rng(2)
    angle, speed = rng.uniform(0, 2 * math.pi, 20), rng.uniform(0.7, 1.3, 20)
    start = {x: np.cos(angle), y: np.sin(angle), x.dot: -speed * np.sin(angle), y.dot: speed * np.cos(angle)}
    assert da.simulate(plane, method, h=0.02, until=20, start=start).ok
    fall = da.simulate(plane, method, h=0.05, until=5, start={x: 1.0, y: 0.0, x.dot: 0.0, y.dot: 0.0}, strict=False)
    assert not fall.ok
    assert (fall.x[: fall.codes[0, 1] + 1] > 0).all()


@pytest.mark.parametrize("method", [da.Midpoint(), da.RungeKutta4(), da.Reference()], ids=repr)
def test_a_start_outside_the_domain(method):
    run = da.simulate(on_a_line(x - log(x)), method, h=0.1, steps=5, start={x: -1.0, x.dot: 1.0}, strict=False)
    assert run.status is Status.LEFT_DOMAIN
    assert run.codes[0, 1] == 0
    assert np.isnan(run.x[1:]).all()


def test_evaluate_outside_the_domain():
    with pytest.raises(da.StartError, match="the energy has no finite value"):
        da.evaluate(on_a_line(x - log(x)), at={x: -1.0, x.dot: 0.0})


@pytest.mark.parametrize("method", [da.StormerVerlet(), da.RungeKutta4(), da.Reference()], ids=repr)
def test_an_energy_that_is_infinite_is_no_success(method):
    """The state stays finite; the energy overflows at t = 7.1."""
    run = da.simulate(on_a_line(exp(100 * da.time)), method, h=0.5, steps=20, start={x: 0.0, x.dot: 1.0}, strict=False)
    assert run.status is Status.NOT_FINITE
    assert run.codes[0, 1] == 14
    assert np.isfinite(run.energy[:15]).all()
    assert np.isnan(run.x[15:]).all()


def test_units_do_not_matter():
    """The same motion in units of 1e12: the same status and the same last step."""
    outcomes = set()
    for unit in (1e-12, 1.0, 1e12):
        system = on_a_line(-(unit**2) * log(x) + unit * x)
        run = da.simulate(system, da.Midpoint(), h=0.5, steps=40, start={x: unit, x.dot: -2.5 * unit}, strict=False)
        outcomes.add((run.status, int(run.codes[0, 1])))
    assert len(outcomes) == 1


@pytest.mark.parametrize("potential", [tan(x), 1 / sin(x + 1.57)], ids=str)
@pytest.mark.parametrize("method", [da.StormerVerlet(), da.Midpoint(), da.RungeKutta4(), da.Reference()], ids=repr)
def test_a_step_over_two_poles_has_left_the_domain(potential, method):
    """The sign of the denominator is the same again behind two poles."""
    for speed in (-2 * math.pi, -6.0, -63.0):
        run = da.simulate(on_a_line(potential), method, h=1.0, steps=3, start={x: 0.3, x.dot: speed}, strict=False)
        assert (run[x][np.isfinite(run[x])] > -math.pi / 2).all()
        assert run.status is not Status.CONVERGED or isinstance(method, da.Reference)


@pytest.mark.parametrize("potential", [tan(x), 1 / sin(x + 1.57)], ids=str)
def test_a_step_over_two_poles_in_the_other_direction(potential):
    for speed in (2 * math.pi, 6.0, 63.0):
        run = da.simulate(
            on_a_line(potential), da.RungeKutta4(), h=1.0, steps=3, start={x: 0.3, x.dot: speed}, strict=False
        )
        assert run.status is Status.LEFT_DOMAIN
        assert (run.x[np.isfinite(run.x)] < math.pi / 2).all()


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("unit", [1e-10, 1.0])
@pytest.mark.parametrize("potential", [1 / x, -log(x**2) / 2], ids=["1/x", "log x^2"])
def test_a_centre_is_not_passed_from_either_side(potential, unit, side):
    """One weak step passes it, in any unit of length."""
    system = on_a_line(1e-9 * unit**3 * potential)
    start = {x: side * unit, x.dot: -2.5 * side * unit}
    run = da.simulate(system, da.StormerVerlet(), h=0.9, steps=1, start=start, strict=False)
    far = da.simulate(system, da.StormerVerlet(), h=0.9, steps=1, start=start | {x: 10 * side * unit}, strict=False)
    assert (run.status, far.status) == (Status.LEFT_DOMAIN, Status.CONVERGED)


@pytest.mark.parametrize("beyond", [1e-10, 1.0])
def test_a_logarithm_ends_at_zero_in_any_unit(beyond):
    system = on_a_line(-k * log(x))
    for speed, status in ((-1.25, Status.LEFT_DOMAIN), (-1.0, Status.CONVERGED)):
        run = da.simulate(
            system, da.StormerVerlet(), h=0.9, steps=1, start={x: beyond, x.dot: speed * beyond},
            parameters={k: 1e-6 * beyond**2}, strict=False,
        )  # fmt: skip
        assert run.status is status


def test_a_condition_of_all_branches_holds_between_them_too():
    """At the boundary between two branches, where neither may be the one that is taken."""
    both = Piecewise((1 / x, y > 0), (2 / x, True))
    one = Piecewise((1 / x, y > 0), (2 * x, True))
    assert found(both) == {("nonzero", frozenset(["x"]))}
    assert ("nonzero", frozenset(["x"])) not in found(one)
