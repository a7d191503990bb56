"""Promises to the last bit: a run that was stopped and continued, a lane of an ensemble, a sparser record."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin
from dalembert.methods import REGISTRY

x, y, z, theta, phi = da.coordinates("x y z theta phi")
a, b, l = da.parameters("a b l", positive=True)
t = da.time

FREE = da.System(
    "free",
    [x, y],
    kinetic=a * x.dot**2 / 2 + b * y.dot**2 / 2 + x.dot * y.dot * cos(x - y) / 3,
    potential=-cos(x) - 2 * cos(y),
    forces={y: sin(3 * t) / 5},
    dissipation=b * x.dot**2 / 50,
)
ROLLING = da.System(
    "rolling",
    [x, y, theta, phi],
    kinetic=a * (x.dot**2 + y.dot**2) / 2 + b * theta.dot**2 / 2 + phi.dot**2 / 2,
    potential=sin(phi) / 2 + x / 3,
    constraints=[x.dot - l * cos(phi) * theta.dot, y.dot - l * sin(phi) * theta.dot],
)
SWING = da.System(
    "swing",
    [x, y, z],
    kinetic=a * (x.dot**2 + y.dot**2 + z.dot**2) / 2,
    potential=b * z,
    constraints=[(x - sin(2 * t) / 10) ** 2 + y**2 + z**2 - l**2],
)

CASES = {
    "free": (FREE, {x: 1.0, y: 2.0, x.dot: [0.3, -0.2, 0.1], y.dot: 0.0}, {a: [1.0, 1.5, 2.0], b: 1.0}),
    "kinematic constraints": (
        ROLLING,
        {x: 0.0, y: 0.1, theta: 0.0, phi: [0.3, 0.7, 1.1], theta.dot: 1.0, phi.dot: [0.5, 0.2, -0.4]},
        {a: 1.0, b: [1.0, 0.7, 2.0], l: 1.2},
    ),
    "a moving holonomic constraint": (
        SWING,
        {x: 0.36, y: 0.48, z: -0.8, x.dot: [0.1, 0.2, 0.3], y.dot: [0.5, -0.4, 0.0]},
        {a: [1.0, 2.0, 0.5], b: 9.81, l: 1.0},
    ),
}
METHODS = (da.Midpoint(), da.Trapezoidal(), da.RungeKutta4())
H, WHOLE, HALF = 0.02, 60, 25

cases = pytest.mark.parametrize("case", CASES)
methods = pytest.mark.parametrize("method", METHODS, ids=repr)


def of_lane(values, lane):
    return {key: v[lane] if isinstance(v, list) else v for key, v in values.items()}


def run(case, method, lane=None, start=None, **asked):
    system, state, parameters = CASES[case]
    if lane is not None:
        state, parameters = of_lane(state, lane), of_lane(parameters, lane)
    asked = {"h": H, "steps": WHOLE, **asked}
    return da.simulate(system, method, start=start or state, parameters=None if start else parameters, **asked)


def assert_same(one, other):
    """Everything a person can ask a run for, to the last bit."""
    assert np.array_equal(one.time, other.time)
    assert np.array_equal(one.records, other.records)
    for q in one.system.coordinates:
        assert np.array_equal(one[q], other[q])
        assert np.array_equal(one[q.dot], other[q.dot])
        assert np.array_equal(one[q.momentum], other[q.momentum])
    assert np.array_equal(one.energy, other.energy)
    assert np.array_equal(one.carry, other.carry)


def after(whole, half):
    """The records of the whole run from the first that the continued run has."""
    first = int(np.flatnonzero(whole.time == half.time[0])[0])
    return whole.records[:, first:]


@cases
@methods
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("lane", [None, 1])
def test_restart_is_the_uninterrupted_run(case, method, every, lane, tmp_path):
    """25 steps and 35 more are 60, in memory and through a file; 25 is no multiple of 3."""
    whole = run(case, method, lane, every=every)
    first = run(case, method, lane, every=every, steps=HALF)
    read = da.load(first.save(tmp_path / "run.nc"))
    assert read.system == first.system
    assert read.method == method
    for begun in (first, read):
        rest = run(case, method, start=begun, every=every, steps=WHOLE - HALF)
        assert rest.time[-1] == whole.time[-1]
        assert len(first.time) + len(rest.time) == len(whole.time) + (every == 1)
        assert np.array_equal(rest.records, after(whole, rest))
        assert np.array_equal(rest.carry, whole.carry)
        assert np.array_equal(rest.energy, whole.energy[..., -len(rest.time) :])
        assert rest.codes[:, 1].tolist() == whole.codes[:, 1].tolist()
    restarted = da.simulate(read.system, read.method, h=H, start=read, every=every, until=WHOLE * H)
    assert np.array_equal(restarted.records, after(whole, restarted))


@cases
@methods
def test_multipliers_of_a_restarted_run(case, method):
    whole, first = run(case, method), run(case, method, steps=HALF)
    rest = run(case, method, start=first, steps=WHOLE - HALF)
    assert np.array_equal(rest.multipliers, whole.multipliers[:, HALF:])


@methods
def test_restart_after_every_step(method):
    """The guess of Newton's method is part of what is carried, and so is the time."""
    whole = run("kinematic constraints", method, steps=6)
    part = run("kinematic constraints", method, steps=1)
    for k in range(1, 6):
        part = run("kinematic constraints", method, start=part, steps=1)
        assert np.array_equal(part.records, whole.records[:, k : k + 2])


@methods
def test_restart_of_a_run_that_did_not_start_at_time_zero(method):
    system, state, parameters = CASES["free"]
    asked = {"h": 0.1, "every": 2}
    whole = da.simulate(system, method, start={**state, t: 1.7}, parameters=parameters, steps=20, **asked)
    first = da.simulate(system, method, start={**state, t: 1.7}, parameters=parameters, steps=7, **asked)
    rest = da.simulate(system, method, start=first, steps=13, **asked)
    assert whole.time[0] == 1.7
    assert np.array_equal(rest.records, after(whole, rest))
    shifted = da.simulate(system, method, start=state, parameters=parameters, steps=20, **asked)
    assert not np.array_equal(shifted.records, whole.records)  # the force depends on time


def test_restart_of_a_discrete_system_through_a_file(tmp_path):
    v = (x.at(1) - x.at(0)) / da.step
    discrete = da.DiscreteSystem(
        "steps",
        [x],
        lagrangian=da.step * (a * v**2 / 2 + cos(x.at(0)) + b * v**4 / 9),
        force_plus={x: -da.step * v / 7},
    )
    start, parameters = {x.at(0): [1.0, 1.1], x.at(1): 1.01}, {a: 1.0, b: [1.0, 2.0]}
    whole = da.simulate(discrete, h=H, steps=WHOLE, start=start, parameters=parameters)
    first = da.simulate(discrete, h=H, steps=HALF, start=start, parameters=parameters)
    read = da.load(first.save(tmp_path / "run.nc"))
    assert read.system == discrete
    for begun in (first, read):
        rest = da.simulate(discrete, h=H, steps=WHOLE - HALF, start=begun)
        assert np.array_equal(rest.records, whole.records[:, HALF:])


@cases
@pytest.mark.parametrize(
    "map", [da.midpoint_map, da.FiniteDifferenceMap(sympy.Rational(1, 3)), da.Trapezoidal()], ids=repr
)
def test_restart_of_a_discretised_system(case, map, tmp_path):
    """Its expressions are kept as they are: SymPy would write (q0 + q1)/2 as q0/2 + q1/2."""
    system, given, parameters = CASES[case]
    here = da.simulate(system, da.Midpoint(), h=H, steps=0, start=given, parameters=parameters)
    start = {s: here[s][:, 0] for c in system.coordinates for s in (c, c.momentum)}
    discrete = da.discretise(system, map)
    whole = da.simulate(discrete, h=H, steps=WHOLE, start=start, parameters=parameters)
    first = da.simulate(discrete, h=H, steps=HALF, start=start, parameters=parameters)
    read = da.load(first.save(tmp_path / "run.nc"))
    assert read.system == discrete
    assert read.system.system == system
    for again in (discrete, read.system):
        rest = da.simulate(again, h=H, steps=WHOLE - HALF, start=read)
        assert np.array_equal(rest.records, whole.records[:, HALF:])


CONTINUE = """
import sys
import dalembert as da
run = da.load(sys.argv[1])
da.simulate(run.system, run.method, h=run.h, steps=int(sys.argv[2]), start=run).save(sys.argv[3])
"""


@pytest.mark.parametrize("case", ["kinematic constraints"])
def test_restart_in_another_process_that_compiles_anew(case, tmp_path):
    whole = run(case, da.Midpoint())
    first, second = tmp_path / "first.nc", tmp_path / "second.nc"
    run(case, da.Midpoint(), steps=HALF).save(first)
    words = [sys.executable, "-c", CONTINUE, str(first), str(WHOLE - HALF), str(second)]
    subprocess.run(words, check=True, env={**os.environ, "DALEMBERT_CACHE": str(tmp_path / "cache")})
    assert np.array_equal(da.load(second).records, whole.records[:, HALF:])


@cases
@methods
def test_a_lane_is_the_same_run_alone(case, method):
    ensemble = run(case, method)
    assert not np.array_equal(ensemble.records[0], ensemble.records[1])
    for lane in range(3):
        alone = run(case, method, lane)
        assert np.array_equal(alone.records[0], ensemble.records[lane])
        assert np.array_equal(alone.carry[0], ensemble.carry[lane])
        assert np.array_equal(alone.codes[0], ensemble.codes[lane])
        assert np.array_equal(alone.energy, ensemble.energy[lane])
        assert np.array_equal(alone.multipliers, ensemble.multipliers[lane])
        for q in ensemble.system.coordinates:
            assert np.array_equal(alone[q], ensemble[q][lane])
            assert np.array_equal(alone[q.dot], ensemble[q.dot][lane])
            assert np.array_equal(alone[q.momentum], ensemble[q.momentum][lane])


@methods
def test_a_lane_is_the_same_whichever_core_runs_it(method):
    """Enough work to be spread over all cores and cut into several chunks."""
    system, state, parameters = CASES["free"]
    count = 64
    speeds = np.linspace(-1, 1, count)
    asked = {"h": 0.01, "steps": 1000, "every": 50}
    numbers = of_lane(parameters, 0)
    ensemble = da.simulate(system, method, start={**state, x.dot: speeds}, parameters=numbers, **asked)
    for lane in (0, count // 2, count - 1):
        alone = da.simulate(system, method, start={**state, x.dot: speeds[lane]}, parameters=numbers, **asked)
        assert np.array_equal(alone.records[0], ensemble.records[lane])


@cases
@methods
@pytest.mark.parametrize("every", [2, 7, 60, 61])
def test_a_sparser_record_is_part_of_the_full_one(case, method, every):
    full, sparse = run(case, method), run(case, method, every=every)
    assert np.array_equal(sparse.time, full.time[::every])
    assert np.array_equal(sparse.records, full.records[:, ::every])
    assert np.array_equal(sparse.multipliers, full.multipliers[:, ::every])
    assert np.array_equal(sparse.energy, full.energy[:, ::every])
    assert np.array_equal(sparse.codes[:, :2], full.codes[:, :2])


@cases
@methods
def test_the_same_run_twice(case, method):
    assert_same(run(case, method), run(case, method))


@cases
@methods
def test_a_saved_run_is_the_run(case, method, tmp_path):
    written = run(case, method, every=4)
    assert_same(written, da.load(written.save(tmp_path / "run.nc")))


def applies(kind, case):
    try:
        kind().check(CASES[case][0])
    except da.MethodError:
        return False
    return True


OTHERS = [kind for kind in REGISTRY.values() if not kind.adaptive and kind not in map(type, METHODS)]
PAIRS = [(kind, case) for kind in OTHERS for case in CASES if applies(kind, case)]


@pytest.mark.parametrize(("kind", "case"), PAIRS, ids=[f"{kind.__name__}-{case}" for kind, case in PAIRS])
def test_the_same_promises_for_every_other_method(kind, case):
    method, every = kind(), 3
    whole, first = run(case, method, steps=20), run(case, method, steps=8, every=every)
    rest = run(case, method, start=first, steps=12, every=every)
    assert np.array_equal(first.records, whole.records[:, :9:every])
    assert np.array_equal(rest.records, whole.records[:, 9::every])
    assert np.array_equal(rest.carry, whole.carry)
    alone = run(case, method, lane=2, steps=20)
    assert np.array_equal(alone.records[0], whole.records[2])


def test_two_starts_that_say_the_same():
    """Position and velocity, and the momenta that belong to them."""
    method = da.Midpoint()
    one = run("free", method, lane=0)
    system, state, parameters = CASES["free"]
    momenta = {q.momentum: float(one[q.momentum][0]) for q in system.coordinates}
    places = {q: state[q] for q in system.coordinates}
    asked = {"h": H, "steps": WHOLE, "parameters": of_lane(parameters, 0)}
    other = da.simulate(system, method, start={**places, **momenta}, **asked)
    assert np.abs(one.records - other.records).max() < 1e-13
