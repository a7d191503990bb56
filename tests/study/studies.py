"""What tests of studies share: a study that runs in a process of its own, and the bytes of a store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import dalembert as da

PENDULUM = da.gallery.load("pendulum")
(theta,) = PENDULUM.system.coordinates
g = next(p for p in PENDULUM.system.parameters if p.name == "g")
ANGLES, GRAVITIES = np.linspace(0.1, 3.0, 30), np.linspace(1.0, 10.0, 8)

STUDY = {
    "system": PENDULUM.system, "method": da.Midpoint(), "h": 0.01, "steps": 300, "start": PENDULUM.start,
    "parameters": PENDULUM.parameters, "vary": {theta: ANGLES, g: GRAVITIES}, "chunk": 20,
    "record": {theta: ("largest", "mean"), "energy": "drift"},
}  # fmt: skip


def contents(store):
    """{file: bytes} of a store."""
    root = Path(store)
    return {str(f.relative_to(root)): f.read_bytes() for f in sorted(root.rglob("*")) if f.is_file()}


def call(store, **changes):
    """The study, in this process."""
    return da.sweep(**STUDY | {"store": store, "workers": 0, "progress": False} | changes)


PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from tests.study.studies import call

def shown(done, total):
    print(done, flush=True)
    sys.stdin.readline()

call({store!r}, progress=shown, **{changes!r})
"""


def process(store, **changes):
    """The study in a process of its own: after each chunk it prints how many lanes are done, and waits for a line."""
    root = str(Path(__file__).parents[2])
    text = PROGRAM.format(root=root, store=str(store), changes=changes)
    seen = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": seen},
    )  # fmt: skip


def waits_with(running, least):
    """Let such a process go on until so many lanes are done; it waits then."""
    while True:
        line = running.stdout.readline()
        assert line, running.stderr.read()[-3000:]
        if int(line) >= least:
            return
        goes_on(running)


def goes_on(running):
    """Let such a process go on."""
    running.stdin.write("\n")
    running.stdin.flush()


def children(pid):
    """The processes that a process has started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found
