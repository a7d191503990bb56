"""The cost of a step with its exact tangent beside that of the plain step, both in the compiled loop.

Double pendulum, midpoint rule: the whole 4 x 4 tangent, and one direction. The motion is chaotic, so tangents begin anew as
the identity every SPAN steps; the plain loop is interrupted as often. Before anything is timed, the motions are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from common import Table, interleave, judge

import dalembert as da
from dalembert.engine.arguments import Lanes
from dalembert.engine.machine import Stepper
from dalembert.engine.run_options import Extent
from dalembert.waist.derived_steps import variational

SPANS, SPAN, REPETITIONS = 100, 2_000, 15
TARGET = 3.0

PLAIN, ONE, WHOLE = "plain step", "with one direction", "with the whole tangent"


class Loop:
    """The compiled loop of the step, with so many columns of tangents."""

    def __init__(self, columns: int):
        self.example = da.gallery.load("double-pendulum")
        e = self.example
        step = da.Midpoint().step_map(e.system)
        self.n, self.columns = len(step.state), columns
        self.stepper = Stepper(variational(step, columns) if columns else step)
        values = {p.name: v for p, v in e.parameters.items()}
        self.parameters = np.array([[values[p.name] for p in e.system.parameters]])
        begun = da.simulate(e.system, da.Midpoint(), h=e.h, steps=0, parameters=e.parameters, start=e.start).carry
        self.state, sums = begun[:, : self.n], self.n + len(step.summed)
        self.seed = begun[:, sums : sums + len(step.sought)]

    def run(self) -> np.ndarray:
        """The state at the end."""
        stepper, n = self.stepper, self.n
        lanes = Lanes.begun(stepper.carry(self.state, self.seed), self.parameters)
        records = np.empty((1, 1, stepper.width))
        first = np.eye(n)[:, : self.columns].ravel()
        for k in range(SPANS):
            lanes.carry[0, n : n + len(first)] = first
            stepper.advance(lanes, records, Extent(0.0, self.example.h, k * SPAN, SPAN, every=SPAN))
        if lanes.status[0, 0]:
            raise RuntimeError("a step was not found")
        return lanes.carry[0, :n]


def seconds(loop: Loop) -> Callable[[], float]:
    def timed() -> float:
        began = perf_counter()
        loop.run()
        return perf_counter() - began

    return timed


def measure() -> list[Table]:
    loops = {PLAIN: Loop(0), ONE: Loop(1), WHOLE: Loop(4)}
    ends = {name: loop.run() for name, loop in loops.items()}
    if not all(np.array_equal(end, ends[PLAIN]) for end in ends.values()):
        raise RuntimeError("the motion with its tangent is not the plain one, to the last bit")
    times = interleave({name: seconds(loop) for name, loop in loops.items()}, REPETITIONS)
    best = {name: min(t) for name, t in times.items()}
    rows = []
    for name, time in best.items():
        ratio = time / best[PLAIN]
        judged = (f"{TARGET}", judge(ratio, TARGET)) if name == WHOLE else ("-", "-")
        rows.append([name, f"{time / (SPANS * SPAN) * 1e9:.1f}", f"{ratio:.2f}", *judged])
    notes = [
        "The three motions agree to the last bit.",
        f"Least time of {REPETITIONS} interleaved runs of {SPANS * SPAN:,} steps.",
    ]
    header = ["double pendulum, midpoint rule", "ns per step", "ratio to the plain step", "target", "met"]
    return [Table("Cost of a tangent", header, rows, notes)]


if __name__ == "__main__":
    for table in measure():
        print(table)
