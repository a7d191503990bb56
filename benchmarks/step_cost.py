"""The cost of one step: the library's compiled loop beside the same scheme written by hand in C.

Double pendulum, midpoint rule, one million steps, only the end recorded. The C text is double_pendulum.c; it is compiled
with -O3 -march=native. Before anything is timed, the two motions are compared.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from common import Table, compiler, interleave, judge
from compiled_loop import CompiledLoop

import dalembert as da

STEPS, REPETITIONS = 1_000_000, 25
TARGET = 1.1
SAME_STEPS, SAME = 200, 1e-9
"""The motion is chaotic: rounding is compared only as long as it has not grown."""

ARMS = ("m1", "m2", "l1", "l2", "g")


class Motion(ctypes.Structure):
    """The structure of the same name in double_pendulum.c."""

    _fields_ = [(name, ctypes.c_double) for name in ("q1", "q2", "p1", "p2")]
    _fields_ += [("v1", ctypes.c_double * 5), ("v2", ctypes.c_double * 5), ("seen", ctypes.c_long)]


class Library:
    """The library's compiled loop, called as `simulate` calls it."""

    def __init__(self, example: da.gallery.Example):
        self.example = example
        start, parameters = example.start, example.parameters
        self.loop = CompiledLoop(example.system, da.Midpoint(), h=example.h, start=start, parameters=parameters)

    def simulate(self, steps: int) -> Any:
        e = self.example
        return da.simulate(
            e.system,
            da.Midpoint(),
            h=e.h,
            steps=steps,
            every=max(steps, 1),
            parameters=e.parameters,
            start=e.start,
        )

    def advance(self, steps: int, every: int) -> tuple[np.ndarray, tuple[int, int]]:
        """Recorded states; Newton iterations and corrections."""
        records, status = self.loop.advance(steps, every)
        return records, (int(status[2]), int(status[3]))


class HandWritten:
    """The C function on the same start."""

    def __init__(self, example: da.gallery.Example, start: np.ndarray):
        source = Path(__file__).with_name("double_pendulum.c")
        with tempfile.TemporaryDirectory() as folder:
            binary = Path(folder) / "double_pendulum.so"
            flags = ["-O3", "-march=native", "-shared", "-fPIC"]
            subprocess.run([compiler(), *flags, str(source), "-o", str(binary), "-lm"], check=True)
            self._advance = ctypes.CDLL(str(binary)).advance
        self._advance.restype = ctypes.c_long
        self._advance.argtypes = [ctypes.POINTER(Motion), ctypes.c_void_p, ctypes.c_double, ctypes.c_long]
        values = {p.name: v for p, v in example.parameters.items()}
        self._arms = (ctypes.c_double * len(ARMS))(*(values[name] for name in ARMS))
        self._h, self._start = example.h, start[0]

    def first(self) -> Motion:
        q1, q2, p1, p2, v1, v2 = self._start[:6]
        zeros = (0.0,) * 4
        return Motion(q1, q2, p1, p2, (v1, *zeros), (v2, *zeros), 1)

    def advance(self, motion: Motion, steps: int) -> int:
        iterations: int = self._advance(motion, self._arms, self._h, steps)
        if iterations < 0:
            raise RuntimeError("the C code found no solution of a step")
        return iterations

    def states(self, steps: int) -> np.ndarray:
        motion, rows = self.first(), []
        for _ in range(steps + 1):
            rows.append([motion.q1, motion.q2, motion.p1, motion.p2])
            self.advance(motion, 1)
        return np.array(rows)


def seconds(job: Callable[[], Any]) -> Callable[[], float]:
    def timed() -> float:
        began = perf_counter()
        job()
        return perf_counter() - began

    return timed


def measure() -> list[Table]:
    library = Library(da.gallery.load("double-pendulum"))
    jobs: dict[str, Callable[[], Any]] = {
        "dalembert, compiled loop": lambda: library.advance(STEPS, STEPS),
        "dalembert, simulate()": lambda: library.simulate(STEPS),
    }
    effort = dict.fromkeys(jobs, library.advance(STEPS, STEPS)[1])
    notes = []
    if compiler() is None:
        notes.append("There is no C compiler here, so there is nothing to compare with.")
    else:
        c = HandWritten(library.example, library.loop.start)
        apart = np.abs(library.advance(SAME_STEPS, 1)[0] - c.states(SAME_STEPS)).max()
        if not apart <= SAME:
            raise RuntimeError(f"the two motions differ by {apart:.1e} within {SAME_STEPS} steps: not the same scheme")
        notes.append(f"Largest difference of the two motions over the first {SAME_STEPS} steps: {apart:.1e}.")
        jobs["C, -O3 -march=native"] = lambda: c.advance(c.first(), STEPS)
        effort["C, -O3 -march=native"] = (c.advance(c.first(), STEPS),) * 2
    best = {
        name: min(times) for name, times in interleave({k: seconds(j) for k, j in jobs.items()}, REPETITIONS).items()
    }
    return [_table(best, effort, notes)]


def _table(best: dict[str, float], effort: dict[str, tuple[int, int]], notes: list[str]) -> Table:
    c = best.get("C, -O3 -march=native")
    rows = []
    for name, time in best.items():
        judged = c is not None and name == "dalembert, compiled loop"
        rows.append([
            name, f"{time / STEPS * 1e9:.1f}", *(f"{n / STEPS:.3f}" for n in effort[name]),
            f"{time / c:.2f}" if c is not None else "-",
            f"{TARGET}" if judged else "-", judge(time / c, TARGET) if c is not None and judged else "-",
        ])  # fmt: skip
    notes = [
        *notes,
        f"Least time of {REPETITIONS} interleaved runs of {STEPS:,} steps. The loop is what is judged.",
    ]
    header = [
        "double pendulum, midpoint rule",
        "ns per step",
        "Jacobians per step",
        "corrections per step",
        "ratio to C",
        "target",
        "met",
    ]
    return Table("Cost of a step", header, rows, notes)


if __name__ == "__main__":
    for table in measure():
        print(table)
