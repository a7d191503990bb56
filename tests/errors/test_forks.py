"""A process that forks while other threads compile has children that can compile."""

from __future__ import annotations

import subprocess
import sys

FORKS = """
import os, signal, sys, threading, time
os.environ["DALEMBERT_CACHE"] = ""
import numpy as np
from dalembert.engine.machine import PointMap
from dalembert.waist.stepmap import pointwise
from dalembert.symbolic import fast

def made(k):
    e = x = fast("x")
    for j in range(60):
        e = e * x + k + j
    return PointMap(pointwise("f", ["x"], [], {"y": e}))

def compile_on(first):
    for k in range(first, first + 10**6):
        made(k)

made(1)
for first in (10**6, 2 * 10**6):
    threading.Thread(target=compile_on, args=(first,), daemon=True).start()
hung = 0
for child in range(12):
    time.sleep(0.02 + 0.003 * child)
    pid = os.fork()
    if not pid:
        made(10**7 + child)(np.array([[1.0]]), np.zeros((1, 0)))
        os._exit(0)
    deadline = time.monotonic() + 30
    while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
        if time.monotonic() > deadline or hung > 2:
            hung += 1
            os.kill(pid, signal.SIGKILL)
            ended = os.waitpid(pid, 0)
            break
        time.sleep(0.01)
    else:
        assert ended[1] == 0, ended
print("hung", hung, flush=True)
os._exit(0)
"""


def test_children_of_a_process_that_compiles_do_not_hang():
    found = subprocess.run([sys.executable, "-c", FORKS], timeout=400, capture_output=True, text=True, check=False)
    assert found.stdout == "hung 0\n", found.stdout + found.stderr[-1000:]


POOL = """
import multiprocessing, threading
import dalembert as da

def run(k):
    e = da.gallery.load("pendulum")
    common = {"steps": 3, "start": e.start, "parameters": e.parameters}
    return float(da.simulate(e.system, da.Midpoint(), h=0.01 + k / 1000, **common).time[-1])

if __name__ == "__main__":
    run(0)  # everything is imported: Python's own locks of imports do not survive a fork
    threading.Thread(target=lambda: [run(k) for k in range(50)], daemon=True).start()
    with multiprocessing.get_context("fork").Pool(3) as pool:
        found = pool.map(run, range(6))
    assert max(abs(t - 3 * (0.01 + k / 1000)) for k, t in enumerate(found)) < 1e-12
"""


def test_a_pool_of_forked_processes(tmp_path):
    (tmp_path / "script.py").write_text(POOL)
    found = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], timeout=200, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr[-1000:]
