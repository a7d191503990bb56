"""Long runs that survive the end of their process: computed in pieces, and saved after each.

A piece is a run that continues the one before, which is bitwise equal to an uninterrupted run, and a file is replaced as a
whole, so that at any moment there is one on disk from which the same call goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.run_options import Extent
from ..engine.status import Status
from ..errors import MethodError, SimulationError, StartError
from ..methods.base import Method
from ..numbers import whole
from .events import Event
from .options import Options
from .progress import Progress
from .same_run import counted, differences, goes_on, last_node, steps_to_a_record
from .save_and_load import FileFormat, load, target_of
from .storage import can_be_saved
from .trajectory import Trajectory

Piece = Callable[[Any, Options], Trajectory]
"""Computes a run from a start, with lanes that fail left as they are."""


@dataclass(frozen=True)
class Checkpoint:
    """The file of a long run, and how many steps lie between two states of it."""

    path: Path
    format: FileFormat
    steps: int


def checkpoint_of(path: Any, steps: Any, method: Method | None, events: Sequence[Event]) -> Checkpoint | None:
    """The checkpoint as it was given, checked; None if there is none."""
    if path is None and steps is None:
        return None
    if path is None or steps is None:
        raise MethodError(
            "give both checkpoint='run.nc' (a file) and checkpoint_every= (a number of steps), or neither."
        )
    every = "save the run every so many steps; give a whole number from 1"
    whole(steps, "checkpoint_every", MethodError, least=1, expected=every)
    if method is not None and method.adaptive:
        raise MethodError(
            f"checkpoint: {method!r} {method.steps_told}, so it is not continued bit for bit. Use a method with a fixed "
            f"step, such as DormandPrince8()."
        )
    if not can_be_saved(method):
        raise MethodError(
            f"checkpoint: {method!r} is a method of your own, and a file cannot hold it. Run it in pieces instead: "
            f"run = simulate(..., start=run), and keep each piece."
        )
    target, chosen = target_of(path, to_load=True)
    if chosen.stream is not None and events:
        raise MethodError(
            f"checkpoint: {target} holds no events, whose number is not known before. Write checkpoint='{target.stem}.nc'."
        )
    return Checkpoint(target, chosen, int(steps))


def in_pieces(piece: Piece, start: Any, asked: Options, kept: Checkpoint) -> Trajectory:
    """The whole run, from its start or from where its file says that it has come; the last part of one in a folder."""
    if kept.format.stream is not None:
        return kept.format.stream(piece, start, asked, kept.path, kept.steps)
    first = piece(start, replace(asked, until=None, steps=0, progress=False))
    whole = asked.extent(first.t0, first.begin)
    asked, first, end = replace(asked, every=whole.every), replace(first, every=whole.every), whole.end
    steps = min(steps_to_a_record(first), end - first.begin)
    begun = piece(start, replace(asked, until=None, steps=steps, progress=False)) if steps else first
    run = _resumed(kept.path, first, begun, end)
    with Progress(asked.progress, end - first.begin) as shown:
        while (at := last_node(run)) < end and goes_on(run):
            done = at - first.begin
            size = min(kept.steps - done % kept.steps, end - at)
            told = counted(shown, done)
            try:
                after = piece(run, replace(asked, until=None, steps=size, progress=told))
            except SimulationError as error:  # Ctrl-C: the same call continues from here
                run = joined(run, error.trajectory)
                run.save(kept.path)
                raise SimulationError(
                    f"{error} The checkpoint {kept.path} has it: the same call goes on.", run
                ) from None
            run = joined(run, after)
            run.save(kept.path)
    return _padded(run, asked.extent(run.t0, run.begin), kept.path)


def _padded(run: Trajectory, extent: Extent, path: Path) -> Trajectory:
    """With NaN up to the end that was asked for, if lanes failed before it; if events stopped all, the run ends there."""
    missing = extent.records - len(run.time)
    if missing <= 0 or (run.codes[:, 0] == Status.EVENT).all():
        return run
    rows = extent.first_row + np.arange(len(run.time), extent.records)
    lost = np.full((len(run.records), missing, run.records.shape[2]), np.nan)
    times, records = np.append(run.time, run.t0 + run.h * (run.every * rows)), np.append(run.records, lost, axis=1)
    padded = replace(run, time=times, records=records, _cache={})
    padded.save(path)
    return padded


def _resumed(path: Path, first: Trajectory, begun: Trajectory, end: int) -> Trajectory:
    """The run in the file, if it is an earlier part of this one; without a file its start.

    `begun` goes up to its first record, with which that of the file is compared; a file without records is begun anew.
    """
    if not path.exists():
        first.save(path)
        return first
    found = load(path)
    if changed := differences(found, begun):
        raise StartError(
            f"checkpoint: {path} holds another run: its {', '.join(changed)} differ. Give another file, or delete this one "
            f"to begin again."
        )
    if last_node(found) > end:
        raise StartError(
            f"checkpoint: {path} has reached t = {found.t0 + found.h * last_node(found):g}, later than asked for. Read it "
            f"with load, or give another file."
        )
    return found if len(found.time) else first


def joined(first: Trajectory, second: Trajectory) -> Trajectory:
    """Two runs, of which the second continues the first, as one.

    The node at which they meet is taken from the second: multipliers there are those of the step that follows, as in an
    uninterrupted run.
    """
    kept = -(-second.begin // second.every) - -(-first.begin // first.every)
    records, time = [first.records[:, :kept], second.records], [first.time[:kept], second.time]
    codes = second.codes.copy()
    codes[:, 2:] += first.codes[:, 2:]
    return replace(
        second,
        records=np.concatenate(records, axis=1),
        time=np.concatenate(time),
        codes=codes,
        residual=np.where(np.isnan(second.residual), first.residual, second.residual),
        begin=first.begin,
        events=tuple(sorted((*first.events, *second.events), key=lambda c: c.lane)),
        renewed=first.renewed,
        _cache={},
    )
