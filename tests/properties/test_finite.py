"""What is converged is finite: velocities, momenta, multipliers and energy, seen without computing them at every record."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sympy import cos, exp, log, sin, sqrt

import dalembert as da
from dalembert.run import finite_records as finite
from dalembert.run import simulate as simulation
from dalembert.run import singular_nodes as regular
from dalembert.waist.domain import violated

x, y, theta, phi = da.coordinates("x y theta phi")
k = da.parameters("k")


def plain(monkeypatch):
    """Runs as they are computed, without the check."""
    monkeypatch.setattr(simulation, "ended_where_not_finite", lambda run: run)
    monkeypatch.setattr(simulation, "checked_nodes", lambda run: run)


def line(potential):
    return da.System("line", [x], kinetic=x.dot**2 / 2, potential=potential)


SEEN = {
    "Kepler": (da.System("Kepler", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=-k / sqrt(x**2 + y**2)),
               {x: 1, y: 0, x.dot: 0, y.dot: 1.1}),
    "double pendulum": (da.gallery.load("double-pendulum").system, da.gallery.load("double-pendulum").start),
    "rolling disk": (da.gallery.load("rolling-disk").system, da.gallery.load("rolling-disk").start),
    "logarithm": (line(x - log(x)), {x: 1.5, x.dot: 0}),
    "Lennard-Jones": (line(1 / (1 + x**2) + x**2), {x: 1.5, x.dot: 0}),
    "exponential": (line(exp(x) - x), {x: 1.5, x.dot: 0}),
}  # fmt: skip


@pytest.mark.parametrize("method", [da.Midpoint(), da.Trapezoidal(), da.Gauss(2)], ids=repr)
@pytest.mark.parametrize("name", SEEN)
def test_it_is_seen_without_computing_everything(name, method, monkeypatch):
    system, start = SEEN[name]
    if not method.takes(system):
        pytest.skip("does not apply")
    example = {"double pendulum": "double-pendulum", "rolling disk": "rolling-disk"}.get(name)
    values = da.gallery.load(example).parameters if example else dict.fromkeys(system.parameters, 1.0)
    monkeypatch.setattr(finite.Trajectory, "_velocities", property(lambda run: pytest.fail("computed at every node")))
    assert da.simulate(system, method, h=0.01, steps=600, start=start, parameters=values, progress=False).ok


SINGULAR = da.System("sphere", [theta, phi], kinetic=(theta.dot**2 + sin(theta) ** 2 * phi.dot**2) / 2)
TOP = da.System("turning", [theta, phi], kinetic=(theta.dot**2 + phi.dot**2 + 2 * cos(theta) * theta.dot * phi.dot) / 2)


@pytest.mark.parametrize("system", [SINGULAR, TOP], ids=lambda s: s.name)
@pytest.mark.parametrize("h", [1 / 4, 1 / 16, 1 / 64])
def test_nodes_on_a_singular_place_of_a_long_run_are_looked_at(system, h, monkeypatch):
    """Motions with theta = 0 at a node, among many nodes; where it is, is not known beforehand."""
    plain(monkeypatch)
    rng = np.random.default_rng(3)
    start = {theta: 1.0, phi: 0.0, theta.dot: 1.0, phi.dot: 0.0}
    run = da.simulate(SINGULAR, da.Midpoint(), h=h, steps=4000, start=start, strict=False)
    assert run.ok
    for _ in range(40):
        records, node = run.records.copy(), int(rng.integers(20, 3900))
        records[0, :, 0] += -records[0, node, 0]
        moved = replace(run, system=system, records=records, _cache={})
        assert regular.doubtful(moved, system, False)[0, node]
        assert not finite._is_seen_finite(moved, system)


def test_the_end_of_a_lane_is_the_one_of_the_whole_check():
    """Lanes that meet the pole at a node end there; the others go on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = da.simulate(
            SINGULAR, da.Midpoint(), h=1 / 64, steps=2000, strict=False,
            start={theta: np.array([1.0, 0.5, 0.3]), phi: 0.0, theta.dot: np.array([-1.0, 0.25, -0.1234567]), phi.dot: 0.0},
        )  # fmt: skip
    there = np.arange(2001) <= run.codes[:, 1:2]
    assert np.isfinite(run[phi.dot][there]).all()
    assert run.codes[0, 1] == 63
    assert np.isnan(run.theta[0, 64:]).all()


@pytest.mark.parametrize("method", [da.Midpoint(), da.StormerVerlet(), da.RungeKutta4()], ids=repr)
def test_what_is_so_near_zero_that_its_reciprocal_overflows_is_no_number(method):
    """A free particle, and a potential that is felt at x = 0 only."""
    small = line(1e-200 / x)
    assert da.simulate(small, method, h=0.25, steps=3, start={x: 1, x.dot: -1}).ok
    run = da.simulate(small, method, h=0.25, steps=8, start={x: 1, x.dot: -1}, strict=False)
    assert run.status is da.Status.LEFT_DOMAIN
    assert np.isfinite(run.energy[:4]).all()


def test_guards_and_their_plain_form_agree_on_what_is_zero():
    assert violated("nonzero", [1.0], [1e-160])
    assert violated("nonzero", [1.0, 0.0], [1e-170, 1e-170])
    assert violated("positive", [1.0], [1e-160])
    assert not violated("nonzero", [1.0], [1e-100])
    assert not violated("nonnegative", [1.0], [0.0])


def test_sizes_that_overflow_are_computed():
    """x^4 of 1e80 is infinite, and of 1e50 it is not."""
    quartic = line(k * x**4)
    for size, finite_ in ((1e50, True), (1e80, False)):
        run = da.simulate(
            quartic, da.Midpoint(), h=1e-300, steps=2, start={x: size, x.dot: 0}, parameters={k: 1.0}, strict=False
        )
        assert run.ok == finite_


def test_energies_of_many_lanes_are_computed_together():
    """One call of compiled code for all lanes, not one for each."""
    system = da.gallery.load("double-pendulum").system
    calls = []
    start = {q: np.linspace(0.1, 0.2, 500) for q in system.coordinates} | {q.dot: 0.0 for q in system.coordinates}
    run = da.simulate(
        system, da.Midpoint(), h=0.01, steps=3, start=start, parameters=da.gallery.load("double-pendulum").parameters
    )
    fresh = replace(run, _cache={})
    original = finite.Trajectory.at_points
    try:
        finite.Trajectory.at_points = lambda self, m, second: calls.append(m) or original(self, m, second)
        assert np.isfinite(fresh.energy).all()
    finally:
        finite.Trajectory.at_points = original
    assert len(calls) == 2
    alone = da.simulate(
        system, da.Midpoint(), h=0.01, steps=3, start={s: np.atleast_1d(v)[-1] for s, v in start.items()},
        parameters=da.gallery.load("double-pendulum").parameters,
    )  # fmt: skip
    np.testing.assert_array_equal(run.energy[-1], alone.energy)
