"""The store of a study: one Zarr folder, written by one process at a time, chunk by chunk of lanes.

What is in it follows from the call alone: no time, no order of workers. The description is written first, then the values that
vary, then chunks of results; a lane is computed if its status says so, and the file of the status is the last of its chunk.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StartError, told
from ..run.values import Array
from ..run.zarr_file import DamagedError, ZarrArray, read_attributes, remove_drafts, write_chunks, write_nodes
from .lane_values import Varied, row_keys, without_repeats
from .work import NOT_COMPUTED, Result

SUFFIX = ".zarr"
KIND = "dalembert study"

LONGEST_NAME = 120
"""Characters of the name of an array; longer quantities are numbered, and described in an attribute."""


def checked_store(given: Any) -> Path:
    """The folder of a store, by its path."""
    if not isinstance(given, str | Path) or not str(given) or "\0" in str(given):
        raise StartError(f"store: got {told(given)}. Expected the path of a folder: store='study{SUFFIX}'.")
    path = Path(os.path.realpath(os.path.expanduser(given)))
    if path.suffix != SUFFIX:
        raise StartError(f"store: {path} does not end in {SUFFIX}. Write store='{path.stem}{SUFFIX}'.")
    if path.exists() and not path.is_dir():
        raise StartError(f"store: {path} is not a folder. Give another path.")
    return path


@dataclass(frozen=True)
class Layout:
    """The arrays of a store: how many lanes, how many in a chunk, what varies and what is kept."""

    lanes: int
    chunk: int
    names: tuple[str, ...]
    results: Mapping[str, Result]
    """What is kept, with an example of it."""
    times: Array | None

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-self.lanes // self.chunk)

    @property
    def coordinates(self) -> dict[str, ZarrArray]:
        """The arrays of what varies."""
        told = {"long_name": "varied"}
        return {n: self._array(self.of(n), ("lane",), (), "float64", told) for n in self.names}

    @property
    def data(self) -> dict[str, ZarrArray]:
        """The arrays of results by the names that workers give them; the status is the last."""
        return {
            name: self._array(
                self.of(name), r.axes, r.data.shape[1:], r.data.dtype.name, {"long_name": r.about} if r.about else {}
            )
            for name, r in self.results.items()
        }

    @property
    def time(self) -> ZarrArray | None:
        """The times of records, if these are kept."""
        if self.times is None:
            return None
        return ZarrArray("time", ("time",), self.times.shape, "float64", len(self.times))

    def _array(self, name: str, axes: tuple[str, ...], shape: tuple[int, ...], kind: str, attributes: Any) -> ZarrArray:
        return ZarrArray(name, axes, (self.lanes, *shape), kind, self.chunk, 0, attributes)

    def of(self, name: str) -> str:
        """The name of an array: a slash would be a folder, and file names have an end."""
        safe = name.replace("/", " per ")
        place = list(self.results).index(name) if name in self.results else self.names.index(name)
        return safe if len(safe.encode()) <= LONGEST_NAME and safe.strip(".") else f"quantity {place}"

    def check_names(self) -> None:
        """Refuse what varies if it has the name of a result."""
        taken = {self.of(name) for name in self.results} | ({"time"} if self.times is not None else set())
        if twice := [name for name in self.names if self.of(name) in taken]:
            raise StartError(
                f"vary: a study has results called {twice[0]}. Give the parameter another name in its system."
            )

    def part(self, k: int) -> slice:
        """The lanes of a chunk."""
        return slice(k * self.chunk, min((k + 1) * self.chunk, self.lanes))


class Store:
    """An open store. `table` has the values that vary, a row for each lane, in the order of the store."""

    def __init__(self, path: Path, layout: Layout, table: Array):
        self.path, self.layout, self.table = path, layout, table

    @classmethod
    def opened(cls, path: Path, wanted: Varied, layout: Layout, attributes: Mapping[str, Any]) -> Store:
        """The store with all lanes that are wanted: made, or found and extended."""
        remove_drafts(path)
        found = _attributes(path)
        if found is None:
            if path.exists() and (others := sorted(p.name for p in path.iterdir())):
                raise StartError(f"store: {path} is a folder with other files ({others[0]}). Give another path.")
            found = {"kind": KIND, "lanes": 0, "chunk": layout.chunk}
            write_nodes(path, found, [])
        if not found["lanes"]:  # a process that began was killed before it had described the study
            table, before = wanted.table, 0
        else:
            _check_same(path, found, attributes)
            layout = _resized(layout, int(found["lanes"]), int(found["chunk"]))
            old = _read_table(path, layout, wanted.table)
            before = len(old)
            table = without_repeats(np.concatenate([old, wanted.table]))
        store = cls(path, _resized(layout, len(table), layout.chunk), table)
        store._describe(attributes, before)
        return store

    def _describe(self, attributes: Mapping[str, Any], before: int) -> None:
        """Write the values that vary, and the description last; `before` lanes have been described already."""
        layout = self.layout
        if before != layout.lanes:
            for k in range(before // layout.chunk, layout.chunks):
                rows = self.table[layout.part(k)]
                write_chunks(self.path, [(a, k, rows[:, i]) for i, a in enumerate(layout.coordinates.values())])
        arrays = [*layout.coordinates.values(), *layout.data.values()]
        if layout.time is not None and layout.times is not None:
            arrays.append(layout.time)
            if layout.time.read(self.path, 0) is None:
                write_chunks(self.path, [(layout.time, 0, layout.times)])
        own = {
            "lanes": layout.lanes, "chunk": layout.chunk, "coordinates": " ".join(a.name for a in layout.coordinates.values()),
        }  # fmt: skip
        write_nodes(self.path, {**attributes, **own}, arrays)
        if missing := {a.name for a in arrays} - {p.name for p in self.path.iterdir()}:
            raise StartError(
                f"store: the file system of {self.path} does not tell {missing.pop()} from another name in capitals. Give a "
                f"store on another one, or rename the symbol."
            )

    def missing(self, k: int) -> Array:
        """Which lanes of a chunk are not there: not computed yet, or in a chunk that is damaged."""
        part = self.layout.part(k)
        try:
            found = [a.read(self.path, k) for a in self.layout.data.values()]
        except DamagedError:
            found = [None]
        if any(f is None for f in found):
            return np.ones(part.stop - part.start, dtype=bool)
        status = found[-1]
        assert status is not None
        return np.asarray(status == NOT_COMPUTED)

    def put(self, k: int, lanes: Array, results: Mapping[str, Array]) -> None:
        """Write the results of some lanes of a chunk; those of its other lanes are kept."""
        part, written = self.layout.part(k), []
        for name, array in self.layout.data.items():
            whole = array.empty()[: part.stop - part.start]
            if not lanes.all() and (found := array.read(self.path, k)) is not None:
                whole[:] = found
            whole[lanes] = results[name] if name in results else array.empty()[: lanes.sum()]  # of refused lanes
            written.append((array, k, whole))
        write_chunks(self.path, written)

    def column(self, name: str) -> Array:
        """A result of all lanes, as far as it is there."""
        array = self.layout.data[name]
        parts = []
        for k in range(self.layout.chunks):
            part = self.layout.part(k)
            found = None
            with suppress(DamagedError):
                found = array.read(self.path, k)
            parts.append(array.empty()[: part.stop - part.start] if found is None else found)
        return np.concatenate(parts)


def _resized(layout: Layout, lanes: int, chunk: int) -> Layout:
    return Layout(lanes, chunk, layout.names, layout.results, layout.times)


def _attributes(path: Path) -> dict[str, Any] | None:
    """The attributes of a store; None if there is none, or one whose description has not been finished."""
    try:
        found = read_attributes(path)
    except (OSError, ValueError) as error:
        raise StartError(f"store: {path} is not a store of a study, or it is damaged: {error}.") from None
    if found is None:
        return None
    whole = all(isinstance(found.get(n), int) and 0 <= found[n] < 2**62 for n in ("lanes", "chunk"))
    if found.get("kind") != KIND or not whole:
        raise StartError(f"store: {path} is a Zarr folder, but not one of a study. Give another path.")
    return found


def _check_same(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse the store of another study; what varies may have more values."""
    different = [name for name in wanted if found.get(name) != wanted[name]]
    if "software" in different:  # other versions may describe the same study in another way
        had = found["software"] if isinstance(found["software"], dict) else {}
        changes = [f"{k} {had.get(k)} and not {v}" for k, v in wanted["software"].items() if had.get(k) != v]
        raise StartError(
            f"store: {path} was computed with {', '.join(changes)}. Motions may differ in their last bits, so go on with "
            f"those versions, or give another store."
        )
    if different:
        told = ", ".join(name.replace("_", " ") for name in different)
        raise StartError(
            f"store: {path} holds another study: its {told} differ. Give another store, or delete this one to begin again."
        )


def _read_table(path: Path, layout: Layout, wanted: Array) -> Array:
    """The values that vary, as they are in a store; a damaged part is mended if the call has the same lanes."""
    table = np.full((layout.lanes, len(layout.names)), np.nan)
    damaged: list[tuple[ZarrArray, int, int]] = []
    for i, array in enumerate(layout.coordinates.values()):
        for k in range(layout.chunks):
            try:
                found = array.read(path, k)
            except DamagedError:
                found = None
            if found is None:
                damaged.append((array, k, i))
            else:
                table[layout.part(k), i] = found
    if not damaged:
        return table
    first = wanted[: layout.lanes]
    if len(first) == len(table) and ((first == table) | np.isnan(table)).all():
        for array, k, i in damaged:
            write_chunks(path, [(array, k, first[layout.part(k), i])])
        return first
    array, k, _ = damaged[0]
    raise StartError(
        f"store: {array.file(path, k)} is damaged: it has values that vary, and this call does not have the same lanes. "
        f"Type the call that made the store first, then this one."
    )


def lanes_in(table: Array, wanted: Array) -> Array:
    """Which rows of the table are among those wanted."""
    return np.isin(row_keys(table), row_keys(wanted))
