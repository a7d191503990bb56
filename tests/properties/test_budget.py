"""A search cannot hang: attempts are counted, single calls are limited in time, other alarms are respected."""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import dalembert as da
from dalembert.decide.budget import Budget, BudgetSpentError
from dalembert.theory.algebra import Allowance

x, y, z = da.coordinates("x y z")
WELL = da.System("well", [x], kinetic=x.dot**2 / 2, potential=x**2)


def endless():
    while True:
        pass


def test_attempts_are_counted():
    budget = Budget(attempts=3)
    for k in range(3):
        budget.spend(f"candidate {k}")
    with pytest.raises(BudgetSpentError, match="3 attempts"):
        budget.spend("one more")
    assert budget.tried[:2] == ["candidate 0", "candidate 1"]


def test_a_call_that_does_not_end_is_stopped():
    assert Budget(seconds=0.05).call(endless) is None
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert Budget(seconds=5).call(lambda: 7) == 7  # the control: one that ends is not


def test_only_the_time_of_a_processor_counts():
    """What else the machine is doing changes no result: a call that waits is not late."""
    assert Budget(seconds=0.1).call(lambda: time.sleep(0.4) or 7) == 7
    allowance = Allowance(attempts=10**9, total=0.1)
    time.sleep(0.2)
    allowance.spend("one more")
    with pytest.raises(BudgetSpentError, match="time"):
        while True:
            allowance.spend()  # the control


LOST = """
import weakref
from dalembert.decide.budget import Budget
class Held: pass
def callback(_):
    while True:
        pass
def work():
    held = Held()
    kept = weakref.ref(held, callback)
    del held
    while True:
        pass
assert Budget(seconds=0.05).call(work) is None
class Loud:
    def __del__(self):
        raise ValueError("the control")
Budget(seconds=5).call(Loud)
"""


def test_a_limit_reached_in_a_callback_is_not_told():
    """Python prints exceptions that end callbacks and destructors, and goes on."""
    told = subprocess.run([sys.executable, "-c", LOST], timeout=30, check=True, capture_output=True, text=True).stderr
    assert "TimeIsUp" not in told and "the control" in told


def test_what_computer_algebra_gives_up_on_is_none():
    def cannot():
        raise NotImplementedError

    assert Budget().call(cannot) is None


def test_an_interruption_is_not_swallowed():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Budget().call(interrupted)


def test_limits_of_time_hold_in_threads():
    found = {}

    def work(k):
        found[k] = (Budget(seconds=0.05).call(endless), Budget(seconds=5).call(lambda: k))

    threads = [threading.Thread(target=work, args=(k,), daemon=True) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert found == {k: (None, k) for k in range(8)}


def test_limits_of_time_hold_beside_another_alarm():
    """An alarm that somebody else has set is left alone."""
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 100)
    try:
        assert Budget(seconds=0.05).call(endless) is None
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_limit_holds_for_limited_calls_within_it():
    def nested():
        while True:
            Budget(seconds=0.1).call(endless)

    assert Budget(seconds=0.25).call(nested) is None
    assert Budget(seconds=5).call(lambda: Budget(seconds=0.05).call(endless) or 7) == 7  # the control


def test_nothing_is_raised_once_a_call_has_ended():
    """Calls that end just about when their time is up: the exception arrives within them or not at all."""
    rng, ended = random.Random(0), 0
    for _ in range(300):
        found = Budget(seconds=0.02).call(list, (sum(range(20_000)) for _ in range(rng.randint(1, 40))))
        ended += found is not None
        assert sum(1 for _ in range(1000)) == 1000
    assert ended


def test_what_computer_algebra_swallows_is_raised_again():
    def swallows():
        while True:
            try:
                endless()
            except Exception:
                if next(times) == 2:
                    raise

    times = itertools.count()
    assert Budget(seconds=0.05).call(swallows) is None


def _interrupted(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("where", "search"),
    [
        (
            "dalembert.theory.forms.gauge.primitive",
            lambda: da.gauge_function(x.dot**2 / 2, x.dot**2 / 2 + x * x.dot, [x]),
        ),
        (
            "dalembert.theory.constraints.classification.integrating_factor",
            lambda: da.classify([y * x.dot], coordinates=[x, y]),
        ),
        (
            "dalembert.theory.constraints.distributions.bracket",
            lambda: da.classify([z.dot - y * x.dot], coordinates=[x, y, z]),
        ),
        ("dalembert.rigour.isolation._generation", lambda: da.equilibria(WELL, box={x: (-1, 1)})),
    ],
)
def test_ctrl_c_is_not_taken_for_a_result(where, search, monkeypatch):
    """What was not found because of Ctrl-C is not said to be without closed form, or undecided."""
    search()
    monkeypatch.setattr(where, _interrupted)
    with pytest.raises(KeyboardInterrupt):
        search()


PROFILED = """
import cProfile
from dalembert.decide.budget import Budget
def endless():
    while True:
        pass
for function in (lambda: 7, endless):
    Budget(seconds=0.05).call(function)
    profile = cProfile.Profile()
    profile.enable()
    Budget(seconds=5).call(lambda: 7)
    profile.disable()
"""


def test_a_profiler_works_after_calls_that_were_limited():
    """In a process of its own, because the profiler hangs if an exception that was on its way is taken back."""
    subprocess.run([sys.executable, "-c", PROFILED], timeout=30, check=True)
