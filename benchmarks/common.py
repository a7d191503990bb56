"""What the benchmarks share: interleaved repetitions, and tables that read the same on a terminal and in a file."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("sympy", "symengine", "llvmlite", "scipy")
PEERS = ("heyoka", "jax", "diffrax")
"""The extra `bench`."""


@dataclass(frozen=True)
class Table:
    """Rows of text under a header, with remarks below."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def __str__(self) -> str:
        lines = [list(self.header), *map(list, self.rows)]
        widths = [max(len(line[j]) for line in lines) for j in range(len(self.header))]

        def row(cells: Sequence[str]) -> str:
            return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"

        rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
        notes = [f"* {note}" for note in self.notes]
        return "\n".join([f"### {self.title}", "", row(lines[0]), rule, *map(row, lines[1:]), "", *notes]).rstrip()


def judge(value: float, target: float) -> str:
    """Whether a target, which is an upper bound, was met."""
    return "yes" if value <= target else "no"


def interleave(
    jobs: Mapping[str, Callable[[], float]], repetitions: int, enough: float = float("inf")
) -> dict[str, list[float]]:
    """Seconds of every repetition of every job, one of each in turn, so that a busy machine disturbs all alike.

    A job that has already taken `enough` seconds in all is not repeated.
    """
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repetitions):
        for name, job in jobs.items():
            if sum(seconds[name]) < enough:
                seconds[name].append(job())
    return seconds


def in_a_fresh_process(
    script: str, peer: str, case: str, told: str, seen: dict[str, list[float]], limit: float
) -> Callable[[], float]:
    """A job: `script peer case` in a process of its own with an empty cache, which prints its seconds and what it found.

    What it found, under the name `told`, is left in `seen`. A process that takes longer than `limit` is stopped.
    """

    def timed() -> float:
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "DALEMBERT_CACHE": cache}
            try:
                command = [sys.executable, script, peer, case]
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, check=True, timeout=limit
                )
            except subprocess.TimeoutExpired:
                return float("inf")
        found = json.loads(done.stdout)
        seen[peer] = found[told]
        return float(found["seconds"])

    return timed


def compiler() -> str | None:
    """The system's C compiler, if there is one."""
    return shutil.which("cc") or shutil.which("gcc")


def machine() -> Table:
    """What the figures were measured on and with."""
    rows = [
        ["processor", processor()],
        ["cores", str(os.cpu_count())],
        ["system", f"{platform.system()} {platform.machine()}"],
        ["python", platform.python_version()],
        *([name, version(name)] for name in PACKAGES),
        *([name, version(name) if find_spec(name) else "none"] for name in PEERS),
        ["C compiler", compiler_version()],
    ]
    return Table("Machine and versions", ["what", "value"], rows)


def processor() -> str:
    """The processor's name; the platform module seldom knows it on Linux."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def compiler_version() -> str:
    found = compiler()
    if found is None:
        return "none"
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    return told.splitlines()[0] if told else "unknown"
