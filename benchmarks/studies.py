"""Studies: two workers against one, chunks against one run, what a killed study costs, and memory at a million lanes.

Processes are compared by the wall-clock time between the first chunk that comes in and the last, so that their start is
not counted. The speed of two workers needs two free cores: `free` says how much of two cores two busy loops got.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import Table, interleave, judge

import dalembert as da
from dalembert.engine.backends import threads

PENDULUM = da.gallery.load("double-pendulum")
REPETITIONS = 3
FREE = 1.9
"""Cores, of two, that must be free for a comparison of workers."""


def study(lanes: int, steps: int, chunk: int | None = None) -> dict[str, Any]:
    """A study of double pendulums from many angles; in chunks of the default size, if none is given."""
    first, second = PENDULUM.system.coordinates
    return {
        "system": PENDULUM.system, "method": da.Midpoint(), "h": PENDULUM.h, "steps": steps, "start": PENDULUM.start,
        "parameters": PENDULUM.parameters, "vary": {first: np.linspace(0.1, 1.0, lanes)}, "chunk": chunk,
        "record": {second: "largest", "energy": "drift"}, "progress": False,
    }  # fmt: skip


def between_first_and_last(workers: int, lanes: int, steps: int, chunk: int) -> float:
    """Seconds per chunk, from the first that comes in."""
    moments: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        given = study(lanes, steps, chunk) | {"progress": lambda done, total: moments.append(time.perf_counter())}
        da.sweep(**given, store=f"{folder}/a.zarr", workers=workers)
    came = moments[1:]  # the first call says what was there before
    skipped = workers  # the first chunk of each worker comes with its start
    return (came[-1] - came[skipped - 1]) / (len(came) - skipped)


def busy() -> float:
    """Seconds of a loop that does nothing else."""
    code = "import time; t = time.perf_counter(); sum(i * i for i in range(6_000_000)); print(time.perf_counter() - t)"
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def free() -> float:
    """How many of two cores two loops get at the same time, measured with loops that do nothing."""
    alone = min(busy() for _ in range(2))
    taken: list[float] = []
    both = [threading.Thread(target=lambda: taken.append(busy())) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    return 2 * alone / max(taken)


def speed() -> Table:
    """Two worker processes against one."""
    lanes, steps, chunk = 8_000, 40_000, 1_000
    seconds = interleave(
        {str(n): lambda n=n: between_first_and_last(n, lanes, steps, chunk) for n in (1, 2)}, REPETITIONS
    )
    cores = free()
    one, two = min(seconds["1"]), min(seconds["2"])
    verdict = judge(1.8, one / two) if cores >= FREE else "not measured, the machine is busy"
    rows = [
        ["one worker", f"{one:.3f}", "", ""],
        ["two workers", f"{two:.3f}", f"{one / two:.2f}", f"1.8: {verdict}"],
    ]
    told = f"{lanes} double pendulums, {steps} steps each, chunks of {chunk}; the least of {REPETITIONS} repetitions."
    note = (
        f"Two loops that do nothing else got {cores:.2f} of two cores then. Below {FREE} the ratio says nothing: where "
    )
    note += "many processes compete, two get twice the share of one whatever they do."
    return Table("Studies: workers", ["", "seconds per chunk", "times one worker", "target"], rows, [told, note])


def chunks() -> Table:
    """A study in this process against one run of all its lanes: user and system time of one thread.

    Threads that compete with others for the cores take more of this time, by several percent.
    """
    lanes, steps, written = 60_000, 4_000, [0]
    given = study(lanes, steps)

    def processor(work: Any) -> float:
        before, threads.LIMIT.most = time.process_time(), 1
        try:
            work()
        finally:
            threads.LIMIT.most = None
        return time.process_time() - before

    def chunked() -> float:
        with tempfile.TemporaryDirectory() as folder:
            found = processor(lambda: da.sweep(**given, store=f"{folder}/a.zarr", workers=0))
            written[0] = len(list(Path(folder, "a.zarr", "status", "c").iterdir()))
            return found

    def plain() -> float:
        first = PENDULUM.system.coordinates[0]
        names = ("system", "method", "h", "steps", "parameters", "record", "progress")
        start = given["start"] | {first: given["vary"][first]}

        def work() -> None:
            run = da.simulate(**{n: given[n] for n in names}, start=start)
            assert len(run.dataset) and run.ok

        return processor(work)

    chunked(), plain()
    seconds = interleave({"one run": plain, "chunks": chunked}, REPETITIONS)
    one, many = min(seconds["one run"]), min(seconds["chunks"])
    rows = [
        ["one run", f"{one:.2f}", "", ""],
        ["chunks", f"{many:.2f}", f"{100 * (many / one - 1):+.1f} %", f"3 %: {judge(many / one, 1.03)}"],
    ]
    told = f"{lanes} double pendulums, {steps} steps each, {written[0]} chunks; processor time, least of {REPETITIONS}."
    return Table("Studies: chunks", ["", "seconds", "more", "target"], rows, [told])


KILLED = """
import os, signal, sys
sys.path.insert(0, {here!r})
import dalembert as da
from studies import study
from dalembert.study import store
put, count = store.Store.put, [0]
def counted(self, *given):
    put(self, *given)
    count[0] += 1
    with open({told!r}, "a") as file:
        file.write("written\\n")
store.Store.put = counted
def shown(done, total):
    if done >= {end}:
        os.kill(os.getpid(), signal.SIGKILL)
da.sweep(**study({lanes}, 500, {chunk}) | {{"progress": shown}}, store={path!r}, workers=2)
"""


def resumed() -> Table:
    """A study whose client and workers are killed at half its way: how many chunks are computed in all."""
    lanes, chunk, rows = 400, 20, []
    for moments in ([200], [100, 200, 300]):
        with tempfile.TemporaryDirectory() as folder:
            path, told = f"{folder}/a.zarr", Path(folder) / "told"
            begun = 0
            for end in [*moments, 10**9]:
                here = str(Path(__file__).parent)
                code = KILLED.format(here=here, told=str(told), end=end, lanes=lanes, chunk=chunk, path=path)
                subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
                if end < 10**9:
                    begun += 2  # under way at the kill: no more than workers
            written = len(told.read_text().split())
        most = written + begun
        allowed = lanes // chunk + 2 * len(moments)
        rows.append(
            [str(len(moments)), str(lanes // chunk), str(written), str(most), f"{allowed}: {judge(most, allowed)}"]
        )
    told_rows = ["times killed", "chunks", "written in all", "computed in all, at most", "target"]
    note = "Two workers; a worker gets its next chunk when the last one is written, so no more than two are under way."
    return Table("Studies: killed", told_rows, rows, [note])


def own_peak() -> int:
    """The most memory of this process in KB. A child's getrusage begins with that of its parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


MEMORY = """
import json, os, sys, threading, time
sys.path.insert(0, {here!r})
import dalembert as da
from studies import own_peak, study
import tempfile
peak = [0]
def watch():
    while True:
        for pid in os.popen("ps -o rss= --ppid %d" % os.getpid()).read().split():
            peak[0] = max(peak[0], int(pid))
        time.sleep(0.2)
threading.Thread(target=watch, daemon=True).start()
with tempfile.TemporaryDirectory() as folder:
    begun = time.perf_counter()
    made = da.sweep(**study({lanes}, 10, 10_000), store=folder + "/a.zarr", workers=1)
    seconds = time.perf_counter() - begun
print(json.dumps([own_peak(), peak[0], seconds]))
"""


def memory() -> Table:
    """The most memory of a client and of its worker."""
    rows = []
    for lanes in (10_000, 1_000_000):
        code = MEMORY.format(here=str(Path(__file__).parent), lanes=lanes)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        client, worker, seconds = json.loads(done.stdout.splitlines()[-1])
        rows.append([f"{lanes:,}", f"{client / 1024:.0f}", f"{worker / 1024:.0f}", f"{seconds:.0f}"])
    note = (
        "10,000 lanes in a chunk, 10 steps. The client keeps what varies: 8 bytes a lane for each quantity, and copies."
    )
    return Table("Studies: memory", ["lanes", "client, MB", "worker, MB", "seconds"], rows, [note])


LONG = """
import sys, tempfile, time
sys.path.insert(0, {here!r})
import dalembert as da
from studies import own_peak
e = da.gallery.load("pendulum")
with tempfile.TemporaryDirectory() as folder:
    begun = time.perf_counter()
    da.simulate(e.system, da.Midpoint(), h=e.h, steps={steps}, every=100, start=e.start, parameters=e.parameters,
                checkpoint=folder + "/a.zarr", checkpoint_every=1_000_000, progress=False)
    seconds = time.perf_counter() - begun
print(own_peak(), seconds)
"""


def long_runs() -> Table:
    """The memory of a run that is written while it is computed."""
    rows, here = [], str(Path(__file__).parent)
    for steps in (1_000_000, 10_000_000, 100_000_000):
        done = subprocess.run(
            [sys.executable, "-c", LONG.format(here=here, steps=steps)], capture_output=True, text=True, check=True
        )
        most, seconds = map(float, done.stdout.split())
        rows.append([f"{steps:,}", f"{steps // 100 + 1:,}", f"{most / 1024:.0f}", f"{seconds:.0f}"])
    note = "A pendulum, checkpoint='run.zarr', checkpoint_every=1,000,000, every=100."
    return Table("Long runs: memory", ["steps", "records", "MB", "seconds"], rows, [note])


def measure() -> list[Table]:
    """The tables."""
    os.environ.setdefault("DALEMBERT_CACHE", tempfile.mkdtemp())
    return [speed(), chunks(), resumed(), memory(), long_runs()]
