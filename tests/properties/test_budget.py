"""A search cannot hang: attempts are counted, single calls are limited in time, other alarms are respected."""

from __future__ import annotations

import signal
import threading

import pytest

from dalembert.budget import Budget, BudgetSpentError


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


def test_what_computer_algebra_gives_up_on_is_none():
    def cannot():
        raise NotImplementedError

    assert Budget().call(cannot) is None


def test_an_interruption_is_not_swallowed():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Budget().call(interrupted)


def test_outside_the_main_thread_there_is_no_alarm():
    found = []
    thread = threading.Thread(target=lambda: found.append(Budget(seconds=0.001).call(sum, range(100_000))))
    thread.start()
    thread.join()
    assert found == [4999950000]
