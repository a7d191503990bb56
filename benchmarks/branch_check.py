"""The cost of looking whether a solution continues the motion: steps with the check beside the same steps without.

Steps are so short that no solution is in doubt: what is measured is the look itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from common import Table, interleave, judge

import dalembert as da
from dalembert.engine import machine
from dalembert.engine.arguments import Lanes
from dalembert.engine.run_options import Extent
from dalembert.methods import Method

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from branches import unchecked

STEPS, REPETITIONS, H = 20_000, 200, 0.01
TARGET = 1.02

CASES: dict[str, tuple[str, Method]] = {
    "double pendulum, Midpoint()": ("double-pendulum", da.Midpoint()),
    "Kepler, Midpoint()": ("kepler", da.Midpoint()),
    "rolling disk, Midpoint()": ("rolling-disk", da.Midpoint()),
}
JUDGED = "double pendulum, Midpoint()"


def job(name: str, method: Method) -> Callable[[], float]:
    """Seconds of a run of the compiled loop, as it is compiled now."""
    e = da.gallery.load(name)
    given: dict[str, Any] = {"start": e.start, "parameters": e.parameters}
    carry = da.simulate(e.system, method, h=H, steps=0, **given).carry
    stepper = machine.Stepper(method.step_map(e.system))
    rows = np.array([[float(e.parameters[p]) for p in e.system.parameters]])
    records = np.empty((1, 2, stepper.width))

    def timed() -> float:
        lanes = Lanes.begun(carry.copy(), rows)
        began = perf_counter()
        stepper.advance(lanes, records, Extent(0.0, H, 0, STEPS, STEPS))
        return perf_counter() - began

    return timed


def measure() -> list[Table]:
    checked = {name: job(*case) for name, case in CASES.items()}
    with unchecked():
        plain = {name: job(*case) for name, case in CASES.items()}
    rows = []
    for name in CASES:
        times = interleave({"plain": plain[name], "checked": checked[name]}, REPETITIONS)
        least = [min(times[k]) / STEPS * 1e9 for k in ("plain", "checked")]
        ratio = least[1] / least[0]
        target = [f"{TARGET}", judge(ratio, TARGET)] if name == JUDGED else ["-", "-"]
        rows.append([name, *(f"{t:.1f}" for t in least), f"{ratio:.3f}", *target])
    header = ["step", "ns, no check", "ns, checked", "ratio", "target", "met"]
    notes = [
        f"Least time of {REPETITIONS} interleaved runs of {STEPS:,} steps, h = {H}; no solution is in doubt there."
    ]
    return [Table("Cost of the branch check", header, rows, notes)]


if __name__ == "__main__":
    for table in measure():
        print(table)
