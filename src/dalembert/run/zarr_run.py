"""A run as a Zarr folder: what people read in its arrays, what a run is made of again in the group `run`.

`last.nc` has the last part of the run as a file of its own, with everything from which it goes on; what comes before it is in
`run/records`. So a long run is written part by part, and the folder is valid after each of them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StartError
from . import memory
from .replaced_file import locked
from .run_file import SMALL, read
from .storage import model_text, packed_method, save_netcdf
from .trajectory import Trajectory
from .values import Array
from .zarr_file import DamagedError, ZarrArray, read_attributes, remove_drafts, write_chunks, write_nodes

SUFFIX = ".zarr"
KIND = "dalembert run"
LAST = "last.nc"
RECORDS = "run/records"

NUMBERS = 2**19
"""Numbers recorded in a chunk of a run that is saved as a whole: 4 MB."""


class ZarrRun:
    """The folder of a run: `rows` records in all, of which a chunk has `size`."""

    def __init__(self, path: Path, example: Trajectory, rows: int, size: int):
        self.path, self.size, self.example = path, size, example
        self.arrays = {name: a for name, a in self._arrays(example, rows).items() if a.node["shape"].count(0) == 0}

    def _arrays(self, run: Trajectory, rows: int) -> dict[str, ZarrArray]:
        over = ("time",) if run.lanes is None else ("lane", "time")

        def array(name: str, axes: tuple[str, ...], shape: tuple[int, ...], attributes: Mapping[str, Any]) -> ZarrArray:
            along = axes.index("time")
            whole = tuple(rows if i == along else n for i, n in enumerate(shape))
            return ZarrArray(name, axes, whole, "float64", self.size, along, attributes)

        found = {"time": array("time", ("time",), (rows,), {})}
        for name, v in run.dataset.data_vars.items():
            if v.dims[: len(over)] == over:
                found[str(name)] = array(str(name), tuple(map(str, v.dims)), v.shape, v.attrs)
        shape = (len(run.records), rows, len(run.columns))
        return found | {RECORDS: array(RECORDS, ("lane", "time", "column"), shape, {"columns": list(run.columns)})}

    def describe(self, begin: int, renewed: tuple[int, ...]) -> None:
        """Write the description, with what the last part does not say of the whole."""
        run = self.example
        attributes = {
            "kind": KIND, "title": run.system.name, "software": f"dalembert {run.version}", "method": repr(run.method),
            "method_options": packed_method(run.method), "h": run.h, "t0": float(run.t0), "every": run.every,
            "tolerance": run.search.tolerance, "max_iterations": run.search.max_iterations,
            "system": json.loads(model_text(run.system)), "model_kind": type(run.system).__name__,
            "parameters": {k: np.asarray(v).tolist() for k, v in run.parameters.items()},
            "first_step": begin, "renewed": list(renewed), "size": self.size,
        }  # fmt: skip
        write_nodes(self.path, attributes, list(self.arrays.values()))

    def write(self, run: Trajectory, first: int, count: int) -> None:
        """Write the first `count` records of a run; they are those of the whole from number `first` on."""
        tables = {name: v.values for name, v in run.dataset.data_vars.items() if name in self.arrays}
        tables |= {"time": run.time, RECORDS: run.records}
        for k in range(first // self.size, -(-(first + count) // self.size)):
            begin, end = max(first, k * self.size), min(first + count, (k + 1) * self.size)
            parts = []
            for name, a in self.arrays.items():
                lead = (slice(None),) * a.along
                data = a.empty()[(*lead, slice(0, end - k * self.size))]
                if begin > k * self.size and (found := a.read(self.path, k)) is not None:
                    data[(*lead, slice(0, begin - k * self.size))] = found[(*lead, slice(0, begin - k * self.size))]
                data[(*lead, slice(begin - k * self.size, None))] = tables[name][
                    (*lead, slice(begin - first, end - first))
                ]
                parts.append((a, k, data))
            write_chunks(self.path, parts)

    def write_times(self, first: int, rows: int, times: Any) -> None:
        """Write the times of records from a number on in which no lane moves any more."""
        array = self.arrays["time"]
        for k in range(first // self.size, -(-rows // self.size)):
            write_chunks(self.path, [(array, k, times(k * self.size, min((k + 1) * self.size, rows)))])

    def keep(self, run: Trajectory) -> None:
        """Replace the last part."""
        save_netcdf(run, self.path / LAST)


def save_zarr(run: Trajectory, path: Path) -> Path:
    """Write a whole run."""
    if not len(run):
        raise StartError(f"save: {path}: the run has no records. Save it as a file: run.save('run.nc').")
    width = max(1, run.records.shape[0] * run.records.shape[2])
    with locked(path):
        begun(path, "save")
        draft = path.with_name(f".{path.name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        folder = ZarrRun(draft, run, len(run), max(1, min(len(run), NUMBERS // width)))
        folder.write(run, 0, len(run))
        kept = max(0, len(run) - 2)  # the last time may be that of an event
        first = run.every * (-(-run.begin // run.every) + kept)
        last = replace(
            run, records=run.records[:, kept:], time=run.time[kept:], begin=max(run.begin, first), renewed=(), _cache={}
        )
        folder.keep(last)
        folder.describe(run.begin, run.renewed)
        shutil.rmtree(path)  # up to here the earlier run is there
        draft.rename(path)
    return path


def begun(path: Path, role: str) -> dict[str, Any] | None:
    """The attributes of a folder that is about to be written, None if it is new; a folder of something else is refused."""
    remove_drafts(path)
    for draft in path.glob(".dalembert-*.tmp"):
        draft.unlink(missing_ok=True)
    try:
        found = read_attributes(path)
    except (OSError, ValueError) as error:
        raise StartError(f"{role}: {path} is not a Zarr folder, or it is damaged: {error}.") from None
    if found is None:
        if path.exists() and (others := sorted(p.name for p in path.iterdir())):
            raise StartError(f"{role}: {path} is a folder with other files ({others[0]}). Give another path.")
        write_nodes(path, {"kind": KIND}, [])
    elif found.get("kind") != KIND:
        raise StartError(f"{role}: {path} is a Zarr folder, but not one of a run. Give another path.")
    return found


def load_zarr(path: Path) -> Trajectory:
    """The run in a folder, as far as it has come."""
    try:
        found = read_attributes(path)
        if found is None or found.get("kind") != KIND or not (path / LAST).exists():
            raise ValueError("it has no description of a run")
        begin, size = _whole(found, "first_step"), _whole(found, "size")
        last = read(path / LAST)
        renewed = found.get("renewed")
        lanes = range(len(last.records))
        if not isinstance(renewed, list) or not all(isinstance(r, int) and r in lanes for r in renewed):
            raise ValueError("it has renewed lanes that are not there")
        rows = -(-last.begin // last.every) - -(-begin // last.every)
        if begin > last.begin or size < 1:
            raise ValueError(f"it begins at step {begin}, and its last part at step {last.begin}")
        return whole(path, last, begin, rows, size, tuple(renewed))
    except (DamagedError, ValueError, OSError) as error:
        raise StartError(
            f"load: {path} is not a run saved by dalembert, or it is damaged: {str(error).rstrip('.')}."
        ) from None


def _whole(found: Mapping[str, Any], name: str) -> int:
    value = found.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise ValueError(f"its {name} is {str(value)[:40]}")
    return value


def whole(path: Path, last: Trajectory, begin: int, rows: int, size: int, renewed: tuple[int, ...]) -> Trajectory:
    """A run with its earlier records before its last part."""
    need = 8 * last.records.shape[0] * rows * (last.records.shape[2] + 1)
    if need > SMALL and (free := memory.available()) is not None and need > free:
        raise ValueError(
            f"its records take {memory.size(need)} of memory, and {memory.size(free)} are free; read parts of it with "
            f"xarray.open_zarr"
        )
    records, times = [], []
    for k in range(-(-rows // size)):
        part = min(size, rows - k * size)
        records.append(_records(path, last, k, size)[:, :part])
        times.append(_chunk(ZarrArray("time", ("time",), ((k + 1) * size,), "float64", size), path, k)[:part])
    time = np.concatenate([*times, last.time])
    expected = last.t0 + last.h * (last.every * (-(-begin // last.every) + np.arange(rows)))
    if not np.array_equal(time[:rows], expected) and not (last.has_own_times and (np.diff(time) >= 0).all()):
        raise ValueError("its times are not those of its steps")
    return replace(
        last,
        records=np.concatenate([*records, last.records], axis=1),
        time=time,
        begin=begin,
        renewed=renewed,
        _cache={},
    )


def _records(path: Path, run: Trajectory, k: int, size: int) -> Array:
    lanes, _, width = run.records.shape
    return _chunk(
        ZarrArray(RECORDS, ("lane", "time", "column"), (lanes, (k + 1) * size, width), "float64", size, 1), path, k
    )


def _chunk(array: ZarrArray, path: Path, k: int) -> Array:
    found = array.read(path, k)
    if found is None:
        raise ValueError(f"its chunk {array.file(path, k)} is missing")
    return found


def first_record(path: Path, run: Trajectory, size: int) -> Array:
    """The first record of all lanes: (lanes, 1, columns)."""
    return _records(path, run, 0, size)[:, :1]
