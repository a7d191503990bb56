"""The cost of compensated sums: steps with them beside the same steps without.

The loop without them is made from a step map that declares no sums; a third one has them in updates only, not within
residuals, where the rounding errors of earlier sums are added too. All have the same start and the same number of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
from common import Table, interleave, judge

import dalembert as da
from dalembert.engine import lower, machine
from dalembert.engine.arguments import Lanes
from dalembert.engine.run_options import Extent
from dalembert.methods import Method
from dalembert.waist.stepmap import StepMap

STEPS, REPETITIONS, H = 20_000, 200, 0.01
TARGET = 1.03
KINDS = ("plain", "compensated", "in updates alone")

x, y = da.coordinates("x y")
HENON_HEILES = da.System(
    "Henon and Heiles",
    [x, y],
    kinetic=(x.dot**2 + y.dot**2) / 2,
    potential=(x**2 + y**2) / 2 + x**2 * y - y**3 / 3,
)

Motion = tuple[da.System, dict[Any, float], dict[Any, float]]


def motions() -> dict[str, tuple[Motion, Method]]:
    def of(name: str) -> Motion:
        e = da.gallery.load(name)
        return e.system, dict(e.start), dict(e.parameters)

    chaotic: Motion = HENON_HEILES, {x: 0.1, y: 0.2, x.dot: 0.3, y.dot: 0.1}, {}
    return {
        "double pendulum, Midpoint()": (of("double-pendulum"), da.Midpoint()),
        "Kepler, Midpoint()": (of("kepler"), da.Midpoint()),
        "Kepler, StormerVerlet()": (of("kepler"), da.StormerVerlet()),
        "oscillator, Midpoint()": (of("harmonic-oscillator"), da.Midpoint()),
        "oscillator, StormerVerlet()": (of("harmonic-oscillator"), da.StormerVerlet()),
        "Henon and Heiles, StormerVerlet()": (chaotic, da.StormerVerlet()),
    }


class Uncompensated(StepMap):
    """A step map none of whose updates counts as a sum."""

    summed = ()  # type: ignore[assignment]


def job(motion: Motion, method: Method, compensated: bool) -> Callable[[], float]:
    """Seconds of a run of the compiled loop."""
    system, start, parameters = motion
    stepmap = method.step_map(system)
    carry = da.simulate(system, method, h=H, steps=0, start=start, parameters=parameters).carry
    if not compensated:
        n, m = len(stepmap.state), len(stepmap.summed)
        carry = np.delete(carry, range(n, n + m), axis=1)
        stepmap = Uncompensated(**{f: getattr(stepmap, f) for f in StepMap.__dataclass_fields__})
    machine._function.cache_clear()  # compiled code is found by its expressions, which are the same
    stepper = machine.Stepper(replace(stepmap, outputs={}))
    rows = np.array([[float(parameters[p]) for p in system.parameters]])
    records = np.empty((1, 2, stepper.width))

    def timed() -> float:
        lanes = Lanes.begun(carry.copy(), rows)
        began = perf_counter()
        stepper.advance(lanes, records, Extent(0.0, H, 0, STEPS, STEPS))
        return perf_counter() - began

    return timed


def measure() -> list[Table]:
    rows = []
    nothing = {"fetch": lambda name: None, "keep": lambda name, code: None}
    with patch.multiple(machine.cache, **nothing):  # the loop without compensation must not be found by later runs
        jobs = {name: [job(*case, False), job(*case, True)] for name, case in motions().items()}
        with patch.object(lower.Builder, "rest_in", lambda self, term: None):
            for name, case in motions().items():
                jobs[name].append(job(*case, True))
    machine._function.cache_clear()
    for name, three in jobs.items():
        times = interleave(dict(zip(KINDS, three, strict=True)), REPETITIONS)
        least = [min(times[k]) / STEPS * 1e9 for k in KINDS]
        ratio, updates = least[1] / least[0], least[2] / least[0]
        told = (f"{ratio:.3f}", f"{updates:.3f}", f"{TARGET}", judge(ratio, TARGET))
        rows.append([name, *(f"{t:.1f}" for t in least[:2]), *told])
    header = ["step", "ns, plain sums", "ns, compensated", "ratio", "in updates alone", "target", "met"]
    notes = [f"Least time of {REPETITIONS} interleaved runs of {STEPS:,} steps, h = {H}."]
    return [Table("Cost of compensated sums", header, rows, notes)]


if __name__ == "__main__":
    for table in measure():
        print(table)
