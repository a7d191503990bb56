"""Start-up: whole processes, as ratios to `import sympy`, which is the least a library on top of SymPy can take."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from common import Table, interleave, judge

REPETITIONS = 11
PEER = "import sympy"
TARGETS = {"import dalembert": 1.15, "dalembert run double-pendulum": 1.8}


def commands() -> dict[str, list[str]]:
    python = sys.executable
    script = Path(python).with_name("dalembert")
    program = [str(script)] if script.exists() else [python, "-m", "dalembert.cli"]
    return {
        PEER: [python, "-c", "import sympy"],
        "import dalembert": [python, "-c", "import dalembert"],
        "dalembert run double-pendulum": [*program, "run", "double-pendulum"],
    }


def process(command: list[str], folder: str) -> Callable[[], float]:
    """A fresh process in an empty folder, with the cache it fills the first time."""
    # An installed package has its byte code, as the peer has; an editable one must be allowed to write it.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    surroundings = {**kept, "DALEMBERT_CACHE": str(Path(folder) / "cache")}

    def timed() -> float:
        began = perf_counter()
        subprocess.run(command, env=surroundings, cwd=folder, capture_output=True, check=True)
        return perf_counter() - began

    return timed


def measure() -> list[Table]:
    with tempfile.TemporaryDirectory() as folder:
        jobs, missing = {}, []
        for name, command in commands().items():
            job = process(command, folder)
            try:
                job()  # the first time fills the caches: ours, Python's and the disk's
                jobs[name] = job
            except (OSError, subprocess.CalledProcessError):
                missing.append(name)
        times = {name: median(seconds) for name, seconds in interleave(jobs, REPETITIONS).items()}
    rows = [[PEER, f"{times[PEER]:.3f} s", "1.00", "-", "-"]]
    for name, target in TARGETS.items():
        if name in missing:
            rows.append([name, "not available", "-", f"{target}", "-"])
            continue
        ratio = times[name] / times[PEER]
        rows.append([name, f"{times[name]:.3f} s", f"{ratio:.2f}", f"{target}", judge(ratio, target)])
    notes = [f"Median of {REPETITIONS} interleaved fresh processes; the cache of compiled code is warm."]
    return [Table("Start-up", ["process", "time", "ratio", "target", "met"], rows, notes)]


if __name__ == "__main__":
    for table in measure():
        print(table)
