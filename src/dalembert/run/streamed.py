"""Long runs whose records go to a Zarr folder part by part: they need no memory, and survive the end of their process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.run_options import Extent
from ..errors import SimulationError, StartError
from .options import Options
from .progress import Progress
from .replaced_file import locked
from .run_file import read
from .same_run import counted, differences, goes_on, last_node, steps_to_a_record
from .trajectory import Trajectory
from .values import Array
from .zarr_run import LAST, ZarrRun, begun, first_record


def streamed(
    piece: Callable[[Any, Options], Trajectory], start: Any, asked: Options, path: Path, steps: int
) -> Trajectory:
    """The last part of a run whose records are in the folder; it goes on from where the folder says that it has come."""
    first = piece(start, replace(asked, until=None, steps=0, progress=False))
    extent = asked.extent(first.t0, first.begin)
    asked, first = replace(asked, every=extent.every), replace(first, every=extent.every)
    size = -(-steps // extent.every)  # records of a part
    with locked(path), Progress(asked.progress, extent.steps) as shown:
        steps = min(steps_to_a_record(first), extent.steps)
        compared = piece(start, replace(asked, until=None, steps=steps, progress=False)) if steps else first
        part = _found(path, first, compared, extent, size)
        folder = ZarrRun(path, first, extent.records, size)
        if part is None:
            folder.keep(first)
            part = first
        folder.describe(first.begin, first.renewed)
        if not extent.steps:
            folder.write(first, 0, len(first.time))
        while (at := last_node(part)) < extent.end and goes_on(part):
            done = at - first.begin
            told = counted(shown, done)
            length = size * extent.every
            count = min(length - done % length, extent.end - at)
            try:
                after = piece(part, replace(asked, until=None, steps=count, progress=told))
            except SimulationError as error:  # Ctrl-C: the same call continues from here
                raise SimulationError(
                    f"{error} The checkpoint {path} has what came before: the same call goes on.", part
                ) from None
            part = _summed(part, after)
            rows = _row(part.begin, extent), _row(at + count, extent)
            folder.write(part, rows[0], len(part.time) if at + count == extent.end else rows[1] - rows[0])
            folder.keep(part)
        if not goes_on(part) and not part.has_own_times:
            folder.write_times(_row(part.begin, extent) + len(part.time), extent.records, _times(first, extent))
    return part


def _row(node: int, extent: Extent) -> int:
    """The number of records before a node."""
    return -(-node // extent.every) - extent.first_row


def _times(run: Trajectory, extent: Extent) -> Callable[[int, int], Array]:
    """The times of some records, by their numbers."""

    def times(first: int, end: int) -> Array:
        found: Array = run.t0 + run.h * (run.every * (extent.first_row + np.arange(first, end)))
        return found

    return times


def _summed(before: Trajectory, after: Trajectory) -> Trajectory:
    """A part with the counts of all parts."""
    codes = after.codes.copy()
    codes[:, 2:] += before.codes[:, 2:]
    residual = np.where(np.isnan(after.residual), before.residual, after.residual)
    return replace(after, codes=codes, residual=residual)


def _found(path: Path, first: Trajectory, compared: Trajectory, extent: Extent, size: int) -> Trajectory | None:
    """The last part that the folder has, if it is one of this run, whose first record is that of `compared`."""
    found = begun(path, "checkpoint")
    if found is None or not (path / LAST).exists():
        return None
    try:
        part = read(path / LAST)
        same = found.get("size", size) == size
        begun_before = same and part.begin > first.begin
        record = first_record(path, part, size) if begun_before else part.records[:, :1]
    except (ValueError, OSError) as error:
        raise StartError(f"checkpoint: {path} is damaged: {error}.") from None
    changed = differences(
        replace(part, begin=first.begin, records=record, time=compared.time[: record.shape[1]], _cache={}), compared
    )
    if not same:
        changed = ["checkpoint_every"]
    if changed:
        raise StartError(
            f"checkpoint: {path} holds another run: its {', '.join(changed)} differ. Give another folder, or delete this one "
            f"to begin again."
        )
    if last_node(part) > extent.end:
        raise StartError(
            f"checkpoint: {path} has reached t = {part.t0 + part.h * last_node(part):g}, later than asked for. Read it with "
            f"load, or give another folder."
        )
    return part
