"""Attacks on run files: damaged ones, hostile ones, and processes killed while they save.

Files are loaded in child processes with little memory, which are watched.
"""

from __future__ import annotations

import functools
import io
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da
from dalembert.run import netcdf

sys.path.insert(0, str(Path(__file__).parent))
from damaged_files import _contents, case, originals

LIMIT = 10.0
"""Seconds of a processor after which a case is hung; or twenty times as long by the clock."""

MEMORY = 2**31
"""Bytes that a child may take beyond what it has at first."""

OUTCOMES = ("tried", "refused", "loaded", "wrong", "crashed", "hung")


# what happens
def outcome(data: bytes, original: bytes | None, path: Path) -> str:
    """Load a file and say how that went."""
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = da.load(path)
    except da.StartError as error:
        return "refused" if len(str(error)) < 2000 and str(path) in str(error) else "wrong"
    except BaseException:
        return "crashed"
    try:
        return "loaded" if _is_right(run, data, original) else "wrong"
    except Exception:
        return "wrong"


def _is_right(run: Any, data: bytes, original: bytes | None) -> bool:
    """Whether a run is that of the undamaged file; or consistent, where there is none or its checksum was made anew."""
    if b"checksum" in data and original is not None and data[:4] == original[:4]:
        is_signed = netcdf.File(io.BytesIO(data)).attributes.get("checksum") != _contents(original)[0].get("checksum")
        return equal(run, _loaded(original)) or (is_signed and consistent(run))
    return consistent(run)


@functools.cache
def _loaded(data: bytes) -> Any:
    with tempfile.NamedTemporaryFile(suffix=".nc") as file:
        file.write(data)
        file.flush()
        return da.load(file.name)


def equal(a: Any, b: Any) -> bool:
    """Whether two runs are the same, bit for bit."""
    pairs = [(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.name != "_cache"]
    return all(_same(u, v) for u, v in pairs)


def _same(u: Any, v: Any) -> bool:
    if isinstance(u, np.ndarray) or isinstance(v, np.ndarray):
        return type(u) is type(v) and u.dtype == v.dtype and u.shape == v.shape and u.tobytes() == v.tobytes()
    if isinstance(u, dict):
        return list(u) == list(v) and all(_same(np.asarray(u[k]), np.asarray(v[k])) for k in u)
    return bool(u == v)


def consistent(run: Any) -> bool:
    """Whether the parts of a run fit together, and it can be saved again."""
    lanes, times, width = run.records.shape
    shapes = run.carry.shape[0] == lanes and run.codes.shape == (lanes, 4) and run.residual.shape == (lanes,)
    names = {p.name for p in run.system.parameters} == set(run.parameters)
    sizes = all(np.shape(v) in ((), (run.lanes,)) for v in run.parameters.values())
    counts = run.every >= 1 and run.begin >= 0 and run.h > 0 and (run.codes[:, 1] >= run.begin).all()
    return bool(
        shapes
        and names
        and sizes
        and counts
        and run.time.shape == (times,)
        and len(run.columns) == width
        and (1 if run.lanes is None else run.lanes) == lanes
        and str(run.status)
        and repr(run)
        and da.run.storage._model(run.system)
    )


def _work(kind: str, seed: int, begin: int, step: int, count: int, at: Any, told: Any) -> None:
    """Cases begin, begin + step, ...: `at` says which one is being loaded, and when it began."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for number in range(begin, count, step):
            at[0], at[1] = number, 0.0
            data, original = case(kind, seed, number)
            at[2], at[1] = time.process_time(), time.monotonic()
            told.send((number, outcome(data, original, Path(place) / "run.nc")))
    told.send(None)


def _processor(process: int) -> float:
    """The seconds that a process has had a processor."""
    try:
        told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def _is_hung(process: int, number: float, clock: float, processor: float) -> bool:
    """Whether a case takes too long that began at these times; the clock is 0 while a case is being made."""
    if not clock:
        return False
    return _processor(process) - processor > LIMIT or time.monotonic() - clock > 20 * LIMIT


def _watched(kind: str, count: int, seed: int, workers: int) -> tuple[Counter[str], list[tuple[int, str]]]:
    """All cases, in child processes that are replaced when one hangs or dies; and the cases that went wrong."""
    originals()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in originals():  # what loading imports is there before memory is limited
            _loaded(data)
    found: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
    bad: list[tuple[int, str]] = []
    context = multiprocessing.get_context("fork")
    running: dict[int, Any] = {}

    def begin(worker: int, number: int) -> None:
        at, (ours, theirs) = context.Array("d", [number, 0.0, 0.0], lock=False), context.Pipe(False)
        child = context.Process(target=_work, args=(kind, seed, number, workers, count, at, theirs), daemon=True)
        child.start()
        theirs.close()
        running[worker] = child, at, ours

    def note(number: int, how: str) -> None:
        found["tried"] += 1
        found[how] += 1
        if how not in ("refused", "loaded"):
            bad.append((number, how))

    def end(worker: int, how: str) -> None:
        child, at, _ = running.pop(worker)
        child.kill()
        child.join()
        note(int(at[0]), how)
        begin(worker, int(at[0]) + workers)

    for worker in range(workers):
        begin(worker, worker)
    while running:
        for worker, (child, at, ours) in list(running.items()):
            try:
                if ours.poll(0.02):
                    while ours.poll():
                        result = ours.recv()
                        if result is None:
                            child.join()
                            del running[worker]
                            break
                        note(*result)
                elif _is_hung(child.pid, *at):
                    end(worker, "hung")
            except EOFError:
                end(worker, "crashed")
    return found, bad


def mutated_files(count: int, seed: int = 0, workers: int = 2) -> Counter[str]:
    """Damaged files: bytes, values in their texts, arrays."""
    return _watched("mutated", count, seed, workers)[0]


def hostile_files(count: int, seed: int = 0, workers: int = 2) -> Counter[str]:
    """Files made to exhaust time or memory, or to be executed."""
    return _watched("hostile", count, seed, workers)[0]


@contextmanager
def _saving(runs: list[Any], path: Path) -> Iterator[int]:
    """A child process that saves two runs in turn to one path, until it is killed."""
    child = os.fork()
    if child == 0:
        while True:
            for run in runs:
                run.save(path)
    try:
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def kills_while_saving(count: int, seed: int = 0) -> Counter[str]:
    """Processes killed while they save over a file: what is there must be the old run or the new one, whole."""
    rng, found = random.Random(seed), Counter(dict.fromkeys(OUTCOMES, 0))
    (x,) = (da.coordinates("x"),)
    system = da.System("oscillator", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2)
    runs = [da.simulate(system, da.Midpoint(), h=0.1, steps=20_000, start={x: k, x.dot: 0}) for k in (1, 2)]
    for run in runs:
        run.dataset  # noqa: B018  (computed before, so that the child does nothing but save)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        runs[0].save(path)
        for _ in range(count):
            with _saving(runs, path):
                time.sleep(rng.random() * 0.03)
            found["tried"] += 1
            try:
                back = da.load(path)
                found["loaded" if any(equal(replace(back, system=run.system), run) for run in runs) else "wrong"] += 1
            except da.StartError:
                found["wrong"] += 1
    return found


if __name__ == "__main__":
    files, kills = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, 100
    for name, made in (("mutated", mutated_files), ("hostile", hostile_files)):
        began = time.monotonic()
        print(name, dict(made(files)), f"{time.monotonic() - began:.0f} s", flush=True)
    print("killed", dict(kills_while_saving(kills)))
