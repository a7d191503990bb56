"""Ctrl-C at random moments of runs: real signals, sent by another thread while the run is set up, computed or checked.

After each signal the run that an error carries is compared with the run that was left alone: it must be its first records to
the last bit, say that it was interrupted, and give the rest, to the last bit, when it is continued.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da
from dalembert.run import plan
from dalembert.theory.forms.hamilton import HamiltonianForm

sys.path.insert(0, str(Path(__file__).parent))
from watched import watched

# -------------------- what is interrupted --------------------


@dataclass(frozen=True)
class Case:
    """A run that takes some hundredths of a second."""

    system: Any
    method: Any
    options: Any
    steps: int
    earlier: int = 0
    """Steps of an earlier run that this one continues."""

    @property
    def continues(self) -> bool:
        """Whether such a run can be continued."""
        return self.method is None or not self.method.adaptive

    def run(self, steps: int, start: Any = None, progress: Any = False) -> da.Trajectory:
        """The run from its start or from an earlier one."""
        given = self.options | ({} if start is None else {"start": start})
        if isinstance(self.system, HamiltonianForm):
            return self.system.simulate(steps=steps, **given)
        return da.simulate(self.system, self.method, steps=steps, progress=progress, **given)


def _given(name: str, method: Any, steps: int, h: float | None = None, **more: Any) -> Case:
    example = da.gallery.load(name)
    options = {
        "h": h or example.h,
        "start": dict(example.start),
        "parameters": dict(example.parameters),
        "strict": False,
    }
    earlier = more.pop("earlier", 0)
    if lanes := more.pop("lanes", 0):
        first = example.system.coordinates[0]
        options["start"][first] = options["start"][first] + np.linspace(0, 1e-3, lanes)
    return Case(example.system, method, options | more, steps, earlier)


@cache
def cases() -> tuple[Case, ...]:
    """Every way in which runs are computed: loops, lanes, threads, events, adaptive steps, continued runs."""
    y = da.coordinates("y")
    x = da.coordinates("x")
    ball = da.System("ball", [y], kinetic=y.dot**2 / 2, potential=9.81 * y)
    bounce = da.Event(y, {y.dot: -0.9999 * y.dot}, -1, name="bounce")
    thrown = {"h": 0.01, "start": {y: 1.0, y.dot: 0.0}, "parameters": {}, "strict": False}
    many = thrown | {"start": {y: np.linspace(1, 2, 12), y.dot: 0.0}}
    ends = da.Event(da.time - 9.123, "stop")
    below = da.Event(y + 300 * (y.dot - 4) ** 2 - 1, "stop", name="some lanes")
    quartic = da.System("fold", [x], lagrangian=x.dot**2 / 2 + x.dot**4 / 4 - x**2 / 2)
    branch = {"h": 0.01, "start": {x: 1.0, x.dot: 0.1}, "parameters": {}, "strict": False}
    spring = da.System("spring", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2)
    discrete = da.discretise(spring, da.midpoint_map)
    two = {"h": 0.01, "start": {x: 1.0, x.momentum: 0.0}, "parameters": {}, "strict": False}
    root = da.System("root", [x], kinetic=x.dot**2 / 2, potential=x - da.sqrt(x))
    some = {"h": 0.002, "start": {x: np.linspace(0.5, 300, 6), x.dot: -1.0}, "parameters": {}, "strict": False}
    return (
        _given("double-pendulum", da.Midpoint(), 60_000),
        _given("double-pendulum", da.Gauss(2), 20_000, every=7),
        _given("double-pendulum", da.Midpoint(), 3_000, lanes=40),
        _given("double-pendulum", da.RungeKutta4(), 30_000, lanes=3, every=11, earlier=101),
        _given("pendulum", da.StormerVerlet(), 200_000, every=3, earlier=1000),
        _given("pendulum", da.Composition(da.Midpoint(), 6), 20_000),
        _given("pendulum", da.Reference(), 3_000),
        _given("pendulum", da.Reference(), 400, lanes=6),
        _given("rolling-disk", da.Midpoint(), 40_000),
        _given("rolling-disk", da.GeometricNonholonomic(), 20_000, lanes=4),
        _given("rolling-disk", da.Reference(), 400),
        Case(da.hamilton(spring), da.Reference(), two, 3_000),
        Case(discrete, None, two, 150_000),
        Case(quartic, da.Midpoint(), branch, 8_000),
        Case(ball, da.Midpoint(), thrown | {"events": [bounce]}, 3_000),
        Case(ball, da.Midpoint(), thrown | {"events": [bounce], "every": 3}, 3_000, 200),
        Case(ball, da.RungeKutta4(), many | {"events": [bounce, da.Event(y.dot)]}, 600),
        Case(ball, da.Midpoint(), many | {"events": [bounce, below]}, 600, 100),
        Case(ball, da.Midpoint(), thrown | {"events": [bounce, ends]}, 3_000),
        Case(root, da.Midpoint(), some, 30_000),
    )


@cache
def _whole(k: int) -> tuple[da.Trajectory | None, da.Trajectory, float]:
    """The earlier run, the run that is left alone, and the seconds it takes once everything is compiled."""
    case = cases()[k]
    earlier = case.run(case.earlier) if case.earlier else None
    case.run(case.steps, earlier)
    began = time.perf_counter()
    return earlier, case.run(case.steps, earlier), time.perf_counter() - began


# -------------------- one interrupt --------------------


def _interrupted(k: int, delay: float, signals: int, afresh: bool) -> str:
    """What came of a signal after some time: 'finished', 'interrupted', or why it is wrong."""
    case, (earlier, whole, _) = cases()[k], _whole(k)
    told = [0]
    if afresh:  # the step is written down and loaded again, so that the signal may fall into that
        plan._stepper.cache_clear()

    def kill() -> None:
        for _ in range(signals):
            time.sleep(delay)
            os.kill(os.getpid(), signal.SIGINT)

    def progress(done: int, total: int) -> None:
        told[0] = 0 if done == total else done

    found: dict[str, da.Trajectory] = {}

    def attempt() -> None:
        try:
            found["finished"] = case.run(case.steps, earlier, progress)
        except da.SimulationError as error:
            found["interrupted"] = error.trajectory
        except KeyboardInterrupt as second:  # one that came while the error of the first was on its way
            if isinstance(second.__context__, da.SimulationError):
                found["interrupted"] = second.__context__.trajectory

    _while_it_signals(kill, attempt)
    if "interrupted" in found:
        return _judged(case, whole, found["interrupted"])
    if "finished" in found:
        return "finished" if _same(found["finished"], whole) else "the run that finished is another one"
    if told[0]:
        return "a run that had begun was lost"
    return "interrupted" if _same(case.run(case.steps, earlier), whole) else "the next run is another one"


def _while_it_signals(send: Callable[[], None], attempt: Callable[[], None]) -> None:
    """Call, and wait until the last signal has been sent and has arrived.

    Joining the thread would not do: a join that a signal interrupts may take the thread for ended.
    """
    sent: list[bool] = []

    def wait() -> None:
        while not sent:
            time.sleep(0.001)
        time.sleep(0.001)

    sender = threading.Thread(target=lambda: (send(), sent.append(True)), daemon=True)
    todo = [wait, wait, wait, lambda: (sender.start(), attempt())]
    while todo:
        try:
            todo.pop()()
        except KeyboardInterrupt:
            continue


def _same(a: da.Trajectory, b: da.Trajectory) -> bool:
    tables = ((a.records, b.records), (a.codes, b.codes), (a.carry, b.carry), (a.time, b.time))
    return all(np.array_equal(u, v, equal_nan=u.dtype.kind == "f") for u, v in tables) and a.events == b.events


def _judged(case: Case, whole: da.Trajectory, part: da.Trajectory) -> str:
    """Compare the run of an error with the run that was left alone, and go on from it."""
    ended = part.codes[:, 0] == da.Status.INTERRUPTED
    if not ended.any():
        return "interrupted" if _same(part, whole) else "a complete run is another one"
    nodes = part.every * (-(-part.begin // part.every) + np.arange(len(part.time)))
    for lane in range(len(part.records)):
        count = int((nodes <= part.codes[lane, 1]).sum())
        if not np.array_equal(part.records[lane, :count], whole.records[lane, :count], equal_nan=True):
            return f"lane {lane}: the first {count} records are not those of the whole run"
        if not np.isnan(part.records[lane, max(count, 1) :]).all():
            return f"lane {lane}: there are numbers beyond step {part.codes[lane, 1]}"
        last = part.codes[lane, 1] if ended[lane] else np.inf
        events = [[c for c in run.events if c.lane == lane and c.step < last] for run in (part, whole)]
        if events[0] != events[1]:
            return f"lane {lane}: the events are not those of the whole run"
    if not case.continues:
        return "interrupted"
    return _continued(case, whole, part)


def _continued(case: Case, whole: da.Trajectory, part: da.Trajectory) -> str:
    done = int(part.codes[part.codes[:, 0] == da.Status.INTERRUPTED, 1][0])
    rest = case.run(case.steps + whole.begin - done, part)
    first = -(-done // whole.every) - -(-whole.begin // whole.every)
    going = part.codes[:, 0] == da.Status.INTERRUPTED
    tail = whole.records[going, first:]
    if rest.records[going].shape != tail.shape or not np.array_equal(rest.records[going], tail, equal_nan=True):
        return "the run that was continued is another one"
    after = [c for c in whole.events if going[c.lane] and c.step >= done]
    codes = np.array_equal(rest.codes[:, :2], whole.codes[:, :2]) and np.array_equal(rest.carry, whole.carry, True)
    return "interrupted" if codes and list(rest.events) == after else "the end of the continued run is another one"


def interrupts(count: int, seed: int = 0) -> Counter[str]:
    """Interrupt so many runs."""

    def tried(number: int) -> str:
        random = np.random.default_rng([seed, number])
        k = int(random.integers(len(cases())))
        delay, afresh = random.uniform(0, 1.1) * _whole(k)[2], random.random() < 0.2
        signals = 1 + int(random.random() < 0.2)
        came = _interrupted(k, delay / signals, signals, afresh)
        where = f"run {k}, {cases()[k].method!r}, after {delay:.4f} s"
        return came if came in ("finished", "interrupted") else f"wrong: {where}: {came}"

    return watched(tried, count)
