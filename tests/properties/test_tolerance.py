"""simulate(..., tolerance=, max_iterations=): what they mean, that they cost nothing, and that they are kept."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import MethodError, StartError, cos
from dalembert.engine import machine

from ..errors.tools import table, told

a, b = da.coordinates("a b")
m, g = da.parameters("m g", positive=True)
PENDULUM = da.System("pendulum", [a], kinetic=m * a.dot**2 / 2, potential=-m * g * cos(a))
DOUBLE = da.System(
    "double pendulum",
    [a, b],
    kinetic=a.dot**2 + b.dot**2 / 2 + a.dot * b.dot * cos(a - b),
    potential=-20 * cos(a) - 10 * cos(b),
)
FALLING = {a: 1.5, b: 1.0, a.dot: 0.0, b.dot: 0.0}


def swing(h=0.2, steps=40, mass=1.0, gravity=10.0, start=None, **options):
    start = start or {a: 1.2, a.dot: 0.0}
    return da.simulate(
        PENDULUM, da.Midpoint(), h=h, steps=steps, start=start, parameters={m: mass, g: gravity}, **options
    )


def fall(steps=100, start=FALLING, **options):
    return da.simulate(DOUBLE, da.Midpoint(), h=0.02, steps=steps, start=start, **options)


def left_over(run):
    """The residual of p0 = m v + h/2 m g sin(a + h v/2) over the sizes of its terms, in every step."""
    q, p = run.a, run[a.momentum]
    v = np.diff(q) / run.h
    terms = np.stack([p[:-1], -v, -run.h / 2 * 10.0 * np.sin((q[:-1] + q[1:]) / 2)])
    return np.abs(terms.sum(axis=0)) / np.abs(terms).sum(axis=0)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5, 1e-7])
def test_a_tolerance_is_what_a_step_may_leave(tolerance):
    loose, plain = left_over(swing(tolerance=tolerance)), left_over(swing())
    assert loose.max() < tolerance
    assert loose.max() > 100 * plain.max()  # it is made use of
    assert plain.max() < 1e-14  # control: without it, rounding is left


def test_a_tolerance_saves_corrections():
    corrections = [fall(tolerance=t).corrections for t in (1e-300, 1e-17, 1e-9, 1e-3)]
    assert corrections == sorted(corrections, reverse=True)
    assert corrections[0] > corrections[1] + 0.9
    assert corrections[1] > corrections[3] + 0.9


def test_units_do_not_matter():
    """In units of mass and time that are powers of two, every number is the same up to that power."""
    one = swing(tolerance=1e-4)
    mass, rate = 2.0**-40, 2.0**10
    other = swing(h=0.2 / rate, mass=mass, gravity=10.0 * rate**2, tolerance=1e-4)
    assert np.array_equal(one.a, other.a)
    assert np.array_equal(one.codes, other.codes)
    assert not np.array_equal(one.a, swing(tolerance=1e-9).a)  # control


def test_the_default_is_what_leaving_it_out_gives():
    plain, said = fall(), fall(tolerance=1e-17, max_iterations=40)
    assert np.array_equal(plain.records, said.records) and np.array_equal(plain.codes, said.codes)
    assert not np.array_equal(plain.records, fall(tolerance=1e-6).records)  # control


def test_nothing_is_compiled_again():
    fall()
    before = machine._function.cache_info().misses
    fall(tolerance=1e-5, max_iterations=7)
    assert machine._function.cache_info().misses == before
    da.simulate(DOUBLE, da.Gauss(3), h=0.02, steps=1, start=FALLING)  # control: another step is
    assert machine._function.cache_info().misses > before


STEEP = {"h": 0.5, "steps": 10, "start": {a: 2.8, a.dot: 3.0}}


def test_a_search_that_is_given_up_is_begun_in_shorter_strides():
    """Each of them ends soon, so that the same solution is found, with more work."""
    short, plain = swing(**STEEP, max_iterations=1), swing(**STEEP)
    np.testing.assert_allclose(short.a, plain.a, rtol=1e-12)
    assert short.corrections > 2 * plain.corrections
    enough = swing(**STEEP, max_iterations=30)  # control
    assert np.array_equal(enough.records, plain.records) and np.array_equal(enough.codes, plain.codes)


def test_a_step_that_takes_more_is_not_solved():
    """Down to where residuals do not shrink any more, one step of a search is never enough."""
    exact = {**STEEP, "tolerance": 1e-300}
    assert swing(**exact, max_iterations=1, strict=False).status is da.Status.NO_SOLUTION
    assert swing(**exact).ok  # control


def test_lanes_are_as_alone():
    lanes = fall(start={**FALLING, a: [1.5, 0.7]}, tolerance=1e-6)
    alone = fall(start={**FALLING, a: 0.7}, tolerance=1e-6)
    assert np.array_equal(lanes.a[1], alone.a)


@pytest.mark.parametrize("events", [(), da.Event(a, action={a.dot: -a.dot / 2})], ids=["plain", "events"])
def test_a_run_is_continued_with_what_it_has(events, tmp_path):
    whole = fall(100, tolerance=1e-5, max_iterations=12, events=events)
    begun = fall(50, tolerance=1e-5, max_iterations=12, events=events)
    back = da.load(begun.save(tmp_path / "run.nc"))
    assert (back.search.tolerance, back.search.max_iterations) == (1e-5, 12)
    for earlier in (begun, back):
        on = fall(50, start=earlier, events=events)
        assert on.search == begun.search
        assert np.array_equal(on.records[:, 1:], whole.records[:, 51:])
        said = fall(50, start=earlier, tolerance=1e-5, max_iterations=12, events=events)
        assert np.array_equal(on.records, said.records)
    assert not np.array_equal(fall(50, start=fall(50, events=events), events=events).records, on.records)  # control


@pytest.mark.parametrize("changed", [{"tolerance": 1e-6}, {"max_iterations": 13}], ids=str)
def test_a_run_is_not_continued_with_others(changed):
    begun = fall(5, tolerance=1e-5, max_iterations=12)
    message = told(StartError, lambda: fall(5, start=begun, **changed))
    assert "here the tolerance or max_iterations cannot be continued with." in message


def test_an_audit_says_what_a_tolerance_means():
    """A promise that is kept to rounding otherwise is broken, and the reason is said."""
    rod = da.System("rod", [a, b], kinetic=(a.dot**2 + b.dot**2) / 2, potential=b, constraints=[a**2 + b**2 - 1])
    call = {"h": 0.2, "steps": 50, "start": {a: 0.6, b: 0.8, a.dot: 0.4, b.dot: -0.3}}
    loose, plain = (da.audit(da.simulate(rod, da.Midpoint(), **call, tolerance=t)) for t in (1e-3, None))
    assert not loose.ok and "Steps were solved to a relative residual of 0.001 (tolerance=)" in str(loose)
    assert plain.ok and "tolerance" not in str(plain)  # control


def test_explicit_methods_search_nothing():
    start = {a: 1.2, a.dot: 0.0}
    runs = [
        da.simulate(PENDULUM, da.RungeKutta4(), h=0.1, steps=9, start=start, parameters={m: 1, g: 10}, tolerance=t)
        for t in (1e-3, None)
    ]
    assert np.array_equal(runs[0].records, runs[1].records)


def tolerance_is(given):
    return (
        f"tolerance = {given}: the relative residual that Newton's method may leave in a step, a positive number up to 0.01, "
        f"such as 1e-12. Leave it out to solve every step to rounding error."
    )


def iterations_are(given):
    expected = "a search of Newton's method is given up after so many steps; give a whole number from 1"
    return f"max_iterations = {given}: {expected}."


@table(
    ("zero", lambda: swing(tolerance=0), tolerance_is("0")),
    ("negative", lambda: swing(tolerance=-1e-9), tolerance_is("-1e-09")),
    ("too loose", lambda: swing(tolerance=0.5), tolerance_is("0.5")),
    ("infinite", lambda: swing(tolerance=float("inf")), tolerance_is("inf")),
    ("no steps", lambda: swing(max_iterations=0), iterations_are("0")),
    ("a fraction", lambda: swing(max_iterations=2.5), iterations_are("2.5")),
    ("a truth", lambda: swing(max_iterations=True), iterations_are("True")),
)
def test_bad_values_are_refused(call, message):
    assert told(MethodError, call) == message


@pytest.mark.parametrize("given", ["small", [1e-9, 1e-8], None, True, 1e-9j, float("nan")], ids=repr)
def test_a_tolerance_is_one_number(given):
    if given is None:
        assert swing(tolerance=given).ok
    else:
        assert "tolerance = " in told(MethodError, lambda: swing(tolerance=given))


def test_reference_has_its_own():
    start = {a: 1.2, a.dot: 0.0}
    call = {"h": 0.1, "steps": 3, "start": start, "parameters": {m: 1, g: 10}}
    assert told(MethodError, lambda: da.simulate(PENDULUM, da.Reference(), **call, tolerance=1e-9)) == (
        "tolerance, max_iterations: these are for the equations of a step, and Reference(rtol=1e-10, solver='Taylor') has "
        "none. Its own tolerance is Reference(rtol=1e-10)."
    )
