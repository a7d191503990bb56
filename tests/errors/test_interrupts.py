"""Ctrl-C: real signals at random moments; the run that an error carries is the first part of the run left alone."""

from __future__ import annotations

import importlib.util
import os
import pickle
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dalembert as da

DOCS = Path(__file__).parents[2] / "docs"
y = da.coordinates("y")
BALL = da.System("ball", [y], kinetic=y.dot**2 / 2, potential=9.81 * y)
k = da.parameters("k")
SPRING = da.System("spring", [y], kinetic=y.dot**2 / 2, potential=k * y**2 / 2)
GIVEN = {"h": 0.001, "start": {y: 1.0, y.dot: 0.0}, "parameters": {}}
BOUNCE = da.Event(y, {y.dot: -0.9999 * y.dot}, -1, name="bounce")


def attack():
    spec = importlib.util.spec_from_file_location("attack_interrupts", DOCS / "attack_interrupts.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


attacks = attack()


@pytest.fixture(autouse=True)
def _python_handles_signals():
    """A shell that starts the tests in the background has SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(simulate, delay):
    """The run of the error that a signal leads to which another thread sends some time after the first chunk.

    A run that is faster than the delay waits for the signal after a thirty-second part of its steps, so that several chunks
    follow: a signal that comes after the run would interrupt the tests themselves.
    """
    sender = threading.Thread(target=lambda: (time.sleep(delay), os.kill(os.getpid(), signal.SIGINT)))

    def progress(done, total):
        if done >= total / 1000 and not sender.ident:
            sender.start()
        if done >= total / 32:
            sender.join()

    with pytest.raises(da.SimulationError) as caught:
        simulate(progress)
    return caught.value.trajectory


@pytest.mark.slow
def test_random_interrupts_lose_and_change_nothing():
    found = attacks.interrupts(60, seed=7)
    assert found["tried"] == 60
    assert found["wrong"] == found["crashed"] == found["hung"] == 0
    assert found["interrupted"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("events", [(), (BOUNCE,)], ids=["plain", "events"])
@pytest.mark.parametrize("every", [1, 7])
def test_an_interrupted_run_is_the_first_part_of_the_whole_and_goes_on(events, every):
    steps = 6_000 if events else 4_000_000
    case = attacks.Case(BALL, da.Midpoint(), GIVEN | {"events": events, "every": every, "strict": False}, steps)
    whole = case.run(steps)
    for delay in (0.0, 0.0007, 0.002):
        run = interrupted(lambda progress: case.run(steps, progress=progress), delay)
        assert run.status is da.Status.INTERRUPTED
        assert 0 < run.codes[0, 1] < steps
        assert attacks._judged(case, whole, run) == "interrupted"
    # control: a record overwritten by a later one, a number too many and a lost event are noticed
    last = int(run.codes[0, 1]) // every
    for row, value in ((last, whole.records[0, last + 1]), (last + 1, whole.records[0, last + 1])):
        other = replace(run, records=run.records.copy(), _cache={})
        other.records[0, row] = value
        assert attacks._judged(case, whole, other) != "interrupted"
    if run.events:
        assert attacks._judged(case, whole, replace(run, events=run.events[:-1])) != "interrupted"


def test_a_reference_keeps_what_it_has():
    """All lanes advance together, each with steps of its own; slow springs have come farther than fast ones."""
    method, end = da.Reference(), 20_000
    given = {"h": 1.0, "start": {y: 1.0, y.dot: 0.0}, "parameters": {k: np.array([1e-4, 1.0, 4.0])}}
    whole = da.simulate(SPRING, method, steps=end, **given)
    run = interrupted(lambda progress: da.simulate(SPRING, method, steps=end, progress=progress, **given), 0.001)
    assert run.status == [da.Status.CONVERGED, da.Status.INTERRUPTED, da.Status.INTERRUPTED]
    assert run.codes[0, 1] == end > run.codes[1, 1] > run.codes[2, 1] > 0
    for lane, last in enumerate(run.codes[:, 1]):
        assert np.array_equal(run.records[lane, : last + 1], whole.records[lane, : last + 1])
        assert np.isnan(run.records[lane, last + 1 :]).all()


def test_a_message_says_how_to_go_on():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(da.SimulationError, match=r"interrupted\. Continue with start=error\.trajectory\."):
        da.simulate(BALL, da.Midpoint(), steps=100_000, progress=stop, **GIVEN)
    with pytest.raises(da.SimulationError, match=r"interrupted\. Continue with start=error\.trajectory\.") as caught:
        da.simulate(BALL, da.Midpoint(), steps=2_000, progress=stop, events=[BOUNCE], **GIVEN)
    assert caught.value.trajectory.codes[0, 1] == 256
    spring = {"h": 1.0, "start": {y: 1.0, y.dot: 0.0}, "parameters": {k: 1.0}}
    with pytest.raises(da.SimulationError, match="An adaptive method is not continued"):
        da.simulate(SPRING, da.Reference(), steps=20_000, progress=stop, **spring)
    with pytest.raises(da.SimulationError, match=r"interrupted after the last step\. The run is complete"):
        da.simulate(BALL, da.Midpoint(), steps=10, progress=stop, **GIVEN)


def test_lanes_that_have_ended_stay_ended_when_a_run_is_continued():
    x = da.coordinates("x")
    free = da.System("free", [x], kinetic=x.dot**2 / 2)
    given = {"h": 0.1, "start": {x: np.zeros(3), x.dot: np.array([1.0, 0.1, 5.0])}, "events": [da.Event(x - 1, "stop")]}
    whole = da.simulate(free, da.Midpoint(), steps=60, **given)
    first = da.simulate(free, da.Midpoint(), steps=20, **given)
    assert first.status == [da.Status.EVENT, da.Status.CONVERGED, da.Status.EVENT]
    rest = da.simulate(free, da.Midpoint(), steps=40, **(given | {"start": first}))
    assert np.array_equal(rest.codes[:, :2], whole.codes[:, :2])
    assert np.array_equal(rest.records[1], whole.records[1, 20:])
    assert np.isnan(rest.records[[0, 2]]).all()
    assert np.array_equal(rest.carry, whole.carry)


def test_the_handler_of_the_user_decides():
    """It is called between chunks; where it raises nothing the run goes on, and afterwards it is in its place."""
    from dalembert.run.interrupts import Interrupts

    seen = []

    def mine(number, frame):
        seen.append(number)

    before = signal.signal(signal.SIGINT, mine)
    try:
        with Interrupts() as held:
            os.kill(os.getpid(), signal.SIGINT)
            assert not seen
            assert not held.arrived()
            assert seen == [signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_third_signal_does_not_wait():
    from dalembert.run.interrupts import Interrupts

    with pytest.raises(KeyboardInterrupt), Interrupts():
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_runs_in_other_threads_are_computed_and_leave_signals_alone():
    found = []
    thread = threading.Thread(
        target=lambda: found.append(da.simulate(BALL, da.Midpoint(), steps=10, **GIVEN)), daemon=True
    )
    thread.start()
    thread.join()
    assert found[0].ok
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_of_a_worker_arrives_with_its_run():
    root = da.System("root", [y], kinetic=y.dot**2 / 2, potential=y - da.sqrt(y))
    with pytest.raises(da.SimulationError) as caught:
        da.simulate(root, da.Midpoint(), h=0.25, until=100, start={y: 0.01, y.dot: -5})
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert np.array_equal(again.trajectory.records, caught.value.trajectory.records, equal_nan=True)
