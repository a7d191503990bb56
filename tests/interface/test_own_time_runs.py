"""Runs whose steps have different lengths in time: times, ends, continued runs, files; and what is refused, in words."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sympy import Rational

import dalembert as da
from dalembert import sqrt

x, y = da.coordinates("x y")
k = da.parameters("k", positive=True)
KEPLER = da.System("Kepler", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=-k / sqrt(x**2 + y**2))
NEAR = {x: 0.1, y: 0.0, x.dot: 0.0, y.dot: math.sqrt(19)}
GIVEN = {"h": 0.02, "start": NEAR, "parameters": {k: 1}}
SUNDMAN = da.Sundman((x**2 + y**2) ** Rational(3, 4))
METHODS = [SUNDMAN, da.LogarithmicHamiltonian()]


def go(method=SUNDMAN, **changes):
    return da.simulate(KEPLER, method, **GIVEN | changes)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_times_are_those_of_the_steps(method):
    run = go(method, steps=400)
    lengths = np.diff(run.time)
    assert len(run) == 401
    assert lengths.min() > 0
    assert lengths.max() > 5 * lengths.min()
    assert run[da.time] is run.time
    far = np.hypot(run.x, run.y)[:-1]
    assert np.argmin(lengths) in np.argsort(far)[:5]
    np.testing.assert_array_equal(run.quantity(da.time * x), run.time * run.x)
    assert run.end_times == run.time[-1]


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("until", [0.0, 0.001, 1.0, 40.0])
def test_until_ends_with_the_first_node_that_is_not_before_it(method, until):
    run = go(method, until=until)
    assert run.time[-1] >= until
    assert len(run) == 1 or run.time[-2] < until
    again = go(method, steps=len(run) - 1)
    np.testing.assert_array_equal(run.records, again.records)
    np.testing.assert_array_equal(run.time, again.time)


def test_a_far_end_is_found_in_pieces():
    """Their lengths double as long as their ends are recorded; a continued run begins anywhere."""
    from dalembert.run.own_time_runs import LONGEST, _piece

    first = go(steps=1_037)
    run = go(until=200.0, start=first, every=1_000)
    assert run.codes[0, 1] % 1_000 != 0
    last = go(steps=int(run.codes[0, 1]))
    assert last.time[-2] < 200 <= last.time[-1]
    for node in (0, 1_000, 2_000, 3_000, 128_000, 256_000, 37, 1_037):
        size, every = _piece(node)
        assert (node + size) % every == 0
        assert size <= LONGEST


def test_a_start_in_time_and_records_every_few_steps():
    whole = go(steps=60, start=NEAR | {da.time: 5.0})
    assert whole.time[0] == 5.0
    some = go(steps=60, start=NEAR | {da.time: 5.0}, every=20)
    np.testing.assert_array_equal(some.time, whole.time[::20])
    np.testing.assert_array_equal(some.x, whole.x[::20])


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_continued_run_is_the_rest_of_the_whole_bit_for_bit(method):
    whole, first = go(method, steps=100), go(method, steps=37)
    rest = go(method, steps=63, start=first)
    np.testing.assert_array_equal(rest.records[0], whole.records[0, 37:])
    np.testing.assert_array_equal(rest.time, whole.time[37:])
    later = go(method, until=float(whole.time[80]), start=first)
    np.testing.assert_array_equal(later.time, whole.time[37:81])


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_file_has_the_times(tmp_path, method):
    run = go(method, steps=50)
    back = da.load(run.save(tmp_path / "run.nc"))
    np.testing.assert_array_equal(back.time, run.time)
    np.testing.assert_array_equal(back.x, run.x)
    rest = da.load(go(method, steps=10, start=run).save(tmp_path / "rest.nc"))
    assert rest.time[0] == run.time[-1]
    assert back.method is None


def test_a_run_that_ends_early_says_when():
    """U = 1/r - 1 is not positive from r = 1 on."""
    shifted = KEPLER.replace(potential=1 - k / sqrt(x**2 + y**2))
    method = da.LogarithmicHamiltonian()
    run = da.simulate(shifted, method, **GIVEN, steps=400, strict=False)
    assert run.status is da.Status.LEFT_DOMAIN
    last = int(run.codes[0, 1])
    assert np.isfinite(run.x[: last + 1]).all()
    assert np.isnan(run.x[last + 1 :]).all()
    assert (run.time[last:] == run.time[last]).all()
    assert run.end_times == run.time[last]
    with pytest.raises(da.SimulationError, match=f"step {last + 1} from t = {run.time[last]:g}: left the domain"):
        da.simulate(shifted, method, **GIVEN, steps=400)
    with pytest.raises(da.SimulationError, match=f"step {last + 1} from t = {run.time[last]:g}: left the domain"):
        da.simulate(shifted, method, **GIVEN, until=10)


def test_the_audit_says_what_the_method_promises():
    text = str(da.audit(go(steps=300), seconds=0.5))
    assert "error O(h^2)" in text
    assert "tolerance" not in text


ROD = KEPLER.replace(constraints=[x**2 + y**2 - 1])
R = da.rotation("R")
BODY = da.System("body", [R], kinetic=R.omega[0] ** 2 + R.omega[1] ** 2 + 2 * R.omega[2] ** 2)
LANES = {"start": NEAR | {x: np.array([0.1, 0.2])}}
REFUSED = [
    (lambda: go(steps=3, **LANES), "start, parameters: 2 lanes. With Sundman((x**2 + y**2)**(3/4), StormerVerlet()) the "
     "steps of each motion have lengths of their own, so there is no common time. Simulate them one after the other."),
    (lambda: go(steps=3, events=[da.Event(x)]), "Sundman() has no events. Use a method with a fixed step, such as Gauss(4)."),
    (lambda: go(steps=3, record={x: "mean"}), "in a time of its own and keeps no numbers along them."),
    (lambda: go(steps=3, device="simd"), "takes steps of one length in a time of its own; it runs on the 'cpu'."),
    (lambda: go(steps=3, checkpoint="a.nc", checkpoint_every=1), "checkpoint: Sundman("),
    (lambda: go(until=-1), "until = -1 lies before the start at t = 0."),
    (lambda: go(until=float("nan")), "until = nan"),
    (lambda: da.tangents(go(steps=3)), "takes steps of one length in a time of its own, and only steps"),
    (lambda: da.energy_report(go(steps=3)), "have different lengths in time. Expected a run with equal steps, by a method "
     "such as Midpoint() or Reference()."),
    (lambda: da.hamilton_principle(go(steps=3)), "hamilton_principle: the steps of Sundman("),
    (lambda: da.existence(go(steps=3)), "existence: a run by Sundman() has no steps of equal length."),
    (lambda: da.convergence(KEPLER, [SUNDMAN], [0.1, 0.05], start=NEAR, until=1, parameters={k: 1}), "own: h is not"),
    (lambda: da.Composition(SUNDMAN), "only a symmetric method can be composed"),
    (lambda: da.Sundman(x, da.RungeKutta4()), "Sundman: RungeKutta4() is not symmetric. Expected a symmetric one with a "
     "fixed step and momenta, such as StormerVerlet(), Midpoint() or Gauss(2)."),
    (lambda: da.Sundman(x, SUNDMAN), "takes steps of one length in a time of its own. Expected a symmetric one"),
    (lambda: da.Sundman(x, "midpoint"), "Sundman: got the method 'midpoint'. Expected a symmetric one"),
    (lambda: da.Sundman(0), "Sundman: s = 0 is not positive. Expected a function that is, such as sqrt(x**2 + y**2)."),
    (lambda: da.modified_equation(KEPLER, SUNDMAN, order=2), "modified_equation: the steps of Sundman("),
    (lambda: da.Sundman("x"), "Sundman: s: got the text 'x'."),
    (lambda: da.simulate(KEPLER, da.Sundman(da.coordinates("z")), **GIVEN, steps=3), "Sundman: s"),
    (lambda: da.simulate(ROD, SUNDMAN, **GIVEN | {"start": {x: 1, y: 0, y.dot: 1}}, steps=3), "it has constraints, and "
     "reactions are not taken into the time of the method. Use Reference("),
    (lambda: da.simulate(BODY, da.Sundman(da.time), h=1, steps=3, start={R: np.eye(3), R.omega: (1, 0, 0)}),
     "it has rotations, and the time of the method is a function of coordinates that are numbers."),
    (lambda: da.simulate(KEPLER.replace(forces={x: -x.dot}), da.LogarithmicHamiltonian(), **GIVEN, steps=3),
     "it has forces that are not of its potential."),
    (lambda: da.simulate(KEPLER.replace(kinetic=(1 + x**2) * (x.dot**2 + y.dot**2)), da.LogarithmicHamiltonian(), **GIVEN,
                         steps=3), "its masses are not constant"),
    (lambda: da.simulate(KEPLER.replace(potential=x**2 + y**2), da.LogarithmicHamiltonian(), h=1, start=NEAR, parameters={},
                         steps=3), "left the domain"),
]  # fmt: skip


@pytest.mark.parametrize(("job", "told"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused_is_refused_in_words(job, told):
    with pytest.raises(da.DalembertError) as caught:
        job()
    assert told in str(caught.value)


def test_burrau():
    """Three bodies of masses 3, 4, 5, at rest at the corners of a right triangle: at t = 15.83 two of them come within
    0.001 of each other, and at t = 60 a pair has formed and the lightest escapes (V. Szebehely, C. F. Peters, Astron. J.
    72, 1967)."""
    q = da.coordinates("x1 y1 x2 y2 x3 y3")
    masses, places = (3, 4, 5), ((1, 3), (-2, -1), (1, -1))
    points = [q[2 * i : 2 * i + 2] for i in range(3)]
    distance = {
        (i, j): sqrt(sum((a - b) ** 2 for a, b in zip(points[i], points[j], strict=True)))
        for i in range(3) for j in range(i)
    }  # fmt: skip
    bodies = da.System(
        "Burrau", q, kinetic=sum(m * (p[0].dot ** 2 + p[1].dot ** 2) for m, p in zip(masses, points, strict=True)) / 2,
        potential=-sum(masses[i] * masses[j] / r for (i, j), r in distance.items()),
    )  # fmt: skip
    start = {c: v for p, place in zip(points, places, strict=True) for c, v in zip(p, place, strict=True)}
    start |= dict.fromkeys([c.dot for c in q], 0.0)
    run = da.simulate(bodies, da.LogarithmicHamiltonian(), h=0.002, until=17, start=start)
    near = np.array([run.quantity(r) for r in distance.values()])
    closest = near.min(axis=0)
    assert run.time[closest.argmin()] == pytest.approx(15.83, abs=0.005)
    assert closest.min() < 1e-3
    assert np.abs(run.energy / run.energy[0] - 1).max() < 1e-4
    exact = da.simulate(bodies, da.Reference(1e-13), h=0.5, until=70, start=start)
    light = np.hypot(exact["x1"] - exact["x2"], exact["y1"] - exact["y2"])
    assert light[-1] > 3 * light[100]
    pair = np.hypot(exact["x2"] - exact["x3"], exact["y2"] - exact["y3"])
    assert pair[-20:].max() < 1.5 < light[-20:].min()
    control = da.simulate(bodies, da.StormerVerlet(), h=0.002, until=17, start=start)
    assert np.abs(control.energy / control.energy[0] - 1).max() > 0.1


def test_a_step_that_ends_where_s_is_not_positive_is_not_made():
    free = da.System("free", [x], kinetic=x.dot**2 / 2)
    given = {"start": {x: 1.0, x.dot: -1.0}, "steps": 1, "strict": False}
    ends = [da.simulate(free, da.Sundman(x), h=h, **given) for h in (3.0, 0.5)]
    assert [run.status for run in ends] == [da.Status.LEFT_DOMAIN, da.Status.CONVERGED]
    assert ends[1].x[-1] > 0
