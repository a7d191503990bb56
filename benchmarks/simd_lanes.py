"""Lanes in vectors beside lanes one after the other: the same compiled loop for device="simd" and device="cpu".

Each repetition of one in turn with one of the other; only the last node is recorded. The lanes differ in a parameter or in
their start. Before anything is timed, the two motions are compared: their bits are the same. Times are processor times of all
threads, so that what else the machine does matters little; how well the cores are used is measured by the clock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from common import Table, interleave, judge

import dalembert as da
from dalembert.engine.arguments import Lanes
from dalembert.engine.backends import simd
from dalembert.engine.machine import Stepper
from dalembert.engine.run_options import Extent
from dalembert.methods import Method

LANES, STEPS, REPETITIONS = 100_000, 200, 5
DEVICES = ("cpu", "simd")
CORES = os.cpu_count() or 1
EFFICIENCY = 1 / 0.9
"""Upper bound of the time of all lanes on all cores, in units of that of the share of one core alone."""

WITH_FUNCTIONS = {16: 1 / 4, 8: 1 / 2.5}
"""Target by the lanes that are computed at once: the part of the time of the scalar code, with sines and cosines."""

WITHOUT = 1 / 6
"""The same where there is no sine, cosine or the like."""


@dataclass(frozen=True)
class Case:
    """An ensemble: a system and a method, and what differs from lane to lane."""

    name: str
    system: da.System
    method: Method
    h: float
    start: Mapping[Any, Any]
    parameters: Mapping[Any, Any]
    has_functions: bool

    @property
    def target(self) -> float | None:
        """The upper bound of the ratio on this processor, if there is one."""
        known = WITH_FUNCTIONS.get(simd.width())
        return known if self.has_functions else known and WITHOUT


class Ensemble:
    """The compiled loop of a case for one device."""

    def __init__(self, case: Case, device: str):
        given = {"h": case.h, "start": case.start, "parameters": case.parameters}
        begun = da.simulate(case.system, case.method, steps=0, **given)
        self.case, self.stepper = case, Stepper(case.method.step_map(case.system), device)
        values = [np.broadcast_to(np.asarray(case.parameters[p], float), LANES) for p in case.system.parameters]
        self.carry, self.rows = begun.carry, np.ascontiguousarray(np.array(values).reshape(-1, LANES).T)

    def advance(self, steps: int, count: int = LANES) -> np.ndarray:
        """The states of lanes after some steps."""
        lanes = Lanes.begun(self.carry[:count].copy(), self.rows[:count])
        out = np.full((count, 2, self.stepper.width), np.nan)
        self.stepper.advance(lanes, out, Extent(0.0, self.case.h, 0, steps, steps), closing=True)
        if lanes.status[:, 0].any():
            raise RuntimeError(f"{self.case.name}: a step of a lane failed")
        return out[:, 1]

    def seconds(self) -> float:
        """Processor time of all threads."""
        began = process_time()
        self.advance(STEPS)
        return process_time() - began

    def by_the_clock(self, cores: int) -> float:
        """Seconds of one core for its share of the lanes, or of all cores for all lanes."""
        with patch("os.cpu_count", return_value=cores):
            began = perf_counter()
            self.advance(STEPS, LANES * cores // (CORES))
            return perf_counter() - began


def cases() -> list[Case]:
    """Two ensembles with sine and cosine, two without."""
    some = np.random.default_rng(1)
    near = 1 + 0.1 * some.random(LANES)

    def of_gallery(name: str, method: Method, has_functions: bool) -> Case:
        e = da.gallery.load(name)
        first = next(iter(e.parameters))
        parameters = {**e.parameters, first: float(e.parameters[first]) * near}
        return Case(name, e.system, method, e.h, e.start, parameters, has_functions)

    x, y = da.coordinates("x y")
    potential = (x**2 + y**2) / 2 + x**2 * y - y**3 / 3
    cubic = da.System("cubic", coordinates=[x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=potential)
    start = {x: 0.1 * near, y: 0.1, x.dot: 0.3, y.dot: 0.2}
    return [
        of_gallery("double-pendulum", da.Midpoint(), True),
        of_gallery("rolling-disk", da.Midpoint(), True),
        of_gallery("kepler", da.StormerVerlet(), False),
        Case("Henon and Heiles", cubic, da.RungeKutta4(), 0.05, start, {}, False),
    ]


def measure() -> list[Table]:
    rows, cores = zip(*map(_rows, cases()), strict=True)
    header = ["lanes", "method", *(f"{d}: steps/s and core" for d in DEVICES), "ratio of times", "target", "met"]
    notes = [
        f"{LANES:,} lanes of {STEPS} steps; least processor time of {REPETITIONS} interleaved runs.",
        f"{simd.width()} lanes are computed at once, with the bits of one alone.",
    ]
    told = [
        f"By the clock, least of {REPETITIONS} interleaved runs: all lanes on {CORES} cores, and the share of one on one."
    ]
    return [
        Table("Lanes in vectors", header, rows, notes),
        Table("Lanes on all cores", ["lanes", "one core", "all cores", "ratio", "target", "met"], cores, told),
    ]


def _rows(case: Case) -> tuple[list[str], list[str]]:
    ensembles = {device: Ensemble(case, device) for device in DEVICES}
    one, other = (ensembles[d].advance(STEPS) for d in DEVICES)
    if not np.array_equal(one.view(np.int64), other.view(np.int64)):
        raise RuntimeError(f"{case.name}: the motions differ by {np.abs(one - other).max():.1e}")
    jobs: dict[str, Callable[[], float]] = {d: e.seconds for d, e in ensembles.items()}
    best = {d: min(times) for d, times in interleave(jobs, REPETITIONS).items()}
    speeds = [f"{LANES * STEPS / best[d]:.2e}" for d in DEVICES]
    ratio, target = best["simd"] / best["cpu"], case.target
    verdict = [f"{target:.3f}", judge(ratio, target)] if target else ["-", "-"]
    clocks = {str(c): partial(ensembles["simd"].by_the_clock, c) for c in (1, CORES)}
    alone, whole = (min(times) for times in interleave(clocks, REPETITIONS).values())
    used = [f"{alone:.3f} s", f"{whole:.3f} s", f"{whole / alone:.2f}", f"{EFFICIENCY:.2f}"]
    return (
        [case.name, repr(case.method), *speeds, f"{ratio:.3f}", *verdict],
        [case.name, *used, judge(whole / alone, EFFICIENCY)],
    )


if __name__ == "__main__":
    for table in measure():
        print(table)
