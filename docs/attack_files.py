"""Attacks on run files: damaged ones, hostile ones, and processes killed while they save.

Run by docs/attack.py, in child processes with little memory, which are watched.
"""

from __future__ import annotations

import functools
import io
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da
from dalembert.run import netcdf, storage

sys.path.insert(0, str(Path(__file__).parent))
from damaged_files import _contents, case, originals
from watched import watched


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
    counts = (
        run.every >= 1 and run.begin >= 0 and run.h > 0 and (run.codes[:, 1] >= run.begin)[run.codes[:, 0] == 0].all()
    )
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
        and storage.model_text(run.system)
    )


def _watched(kind: str, count: int, seed: int, workers: int) -> Counter[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in originals():  # what loading imports is there before memory is limited
            _loaded(data)

    def tried(number: int, path: Path) -> str:
        data, original = case(kind, seed, number)
        return outcome(data, original, path)

    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        return watched(lambda number: tried(number, Path(folder) / f"{number % workers}.nc"), count, workers)


def mutated_files(count: int, seed: int = 0, workers: int = 2) -> Counter[str]:
    """Damaged files: bytes, values in their texts, arrays."""
    return _watched("mutated", count, seed, workers)


def hostile_files(count: int, seed: int = 0, workers: int = 2) -> Counter[str]:
    """Files made to exhaust time or memory, or to be executed."""
    return _watched("hostile", count, seed, workers)


def _is_whole(runs: list[Any], path: Path, seconds: float) -> bool:
    """Whether there is one of two runs at a path, after a process that saved them in turn was killed."""
    runs[0].save(path)
    child = os.fork()
    if child == 0:
        while True:
            for run in runs:
                run.save(path)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    back = da.load(path)
    return any(equal(replace(back, system=run.system), run) for run in runs)


def kills_while_saving(count: int, seed: int = 0) -> Counter[str]:
    """Processes killed while they save over a file: what is there must be the old run or the new one, whole."""
    x = da.coordinates("x")
    system = da.System("oscillator", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2)
    runs = [da.simulate(system, da.Midpoint(), h=0.1, steps=20_000, start={x: k, x.dot: 0}) for k in (1, 2)]
    for run in runs:
        run.dataset  # noqa: B018  (computed before, so that the child does nothing but save)

    def tried(number: int) -> str:
        with tempfile.TemporaryDirectory() as folder:
            try:
                seconds = random.Random(f"kill {seed} {number}").random() * 0.03
                return "loaded" if _is_whole(runs, Path(folder) / "run.nc", seconds) else "wrong: another run"
            except da.StartError as error:
                return f"wrong: {error}"

    return watched(tried, count)
