"""Folders in the format Zarr 3, written so that a crash at any moment leaves every array readable.

An array is cut into chunks along one of its axes. A chunk is a file of its own: numbers in little-endian order, and a
checksum (CRC32C), which every reader of Zarr verifies. It is written under another name, flushed to the disk and renamed.
A chunk that is not there reads as the fill value. Nothing but the data decides the bytes: there is no compression, since the
numbers of motions hardly compress, and no time of writing.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError, StartError
from .values import Array

NODE = "zarr.json"
"""The file that describes an array or a group."""

DRAFT = ".draft"
"""End of the names of files that are being written; those of killed processes are removed by the next one."""

LONGEST = 2**28
"""Bytes of a description that are read at most."""

WRITERS = 8
"""Files that are flushed to the disk at once: waiting for them one by one takes several times as long."""

_FILLS = {"float64": "NaN", "int64": -1, "int8": -1}
"""What stands for a number that has not been written."""


class DamagedError(ValueError):
    """A chunk whose bytes do not match its checksum."""


@dataclass(frozen=True)
class ZarrArray:
    """An array in a folder: its path there, and how it is cut into chunks of `size` entries along one axis."""

    name: str
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    kind: str
    size: int
    along: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many chunks there are."""
        return -(-self.shape[self.along] // self.size)

    @property
    def chunk(self) -> tuple[int, ...]:
        """The shape of a chunk."""
        return tuple(self.size if i == self.along else n for i, n in enumerate(self.shape))

    @property
    def node(self) -> dict[str, Any]:
        """Its description."""
        return {
            "zarr_format": 3, "node_type": "array", "shape": list(self.shape), "data_type": self.kind,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(self.chunk)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": _FILLS[self.kind],
            "codecs": [_bytes(self.kind), {"name": "crc32c"}],
            "attributes": dict(self.attributes), "dimension_names": list(self.axes), "storage_transformers": [],
        }  # fmt: skip

    def file(self, root: Path, k: int) -> Path:
        """The file of a chunk."""
        return root.joinpath(self.name, "c", *(str(k if i == self.along else 0) for i in range(len(self.shape))))

    def empty(self) -> Array:
        """A chunk in which nothing has been written."""
        fill = _FILLS[self.kind]
        return np.full(self.chunk, np.nan if fill == "NaN" else fill, dtype=np.dtype(self.kind).newbyteorder("<"))

    def encoded(self, data: Array) -> bytes:
        """A chunk as it is written: the data, which may be shorter, and a checksum."""
        whole = self.empty()
        whole[_cut(self.along, 0, data.shape[self.along])] = data
        raw = whole.tobytes()
        return raw + _crc32c()(raw).to_bytes(4, "little")

    def read(self, root: Path, k: int) -> Array | None:
        """A chunk, as far as the array reaches; None if it has not been written. Raises DamagedError."""
        file, expected = self.file(root, k), self.empty()
        try:
            if file.stat().st_size != expected.nbytes + 4:
                raise DamagedError(f"{file} has {file.stat().st_size} bytes; {expected.nbytes + 4} were expected")
            raw = file.read_bytes()
        except FileNotFoundError:
            return None
        if _crc32c()(raw[:-4]) != int.from_bytes(raw[-4:], "little"):
            raise DamagedError(f"{file} does not match its checksum")
        found = np.frombuffer(raw[:-4], dtype=expected.dtype).reshape(self.chunk)
        return found[_cut(self.along, 0, min(self.size, self.shape[self.along] - k * self.size))]


def _bytes(kind: str) -> dict[str, Any]:
    return {"name": "bytes"} if kind == "int8" else {"name": "bytes", "configuration": {"endian": "little"}}


def _cut(along: int, begin: int, end: int) -> tuple[slice, ...]:
    return (*(slice(None),) * along, slice(begin, end))


def _crc32c() -> Callable[[bytes], int]:
    """The checksum function, which Zarr's library brings along."""
    try:
        from google_crc32c import value
    except ImportError:
        raise ModelError(MISSING.format("zarr")) from None
    found: Callable[[bytes], int] = value
    return found


MISSING = "{} is not installed. Studies and Zarr files need it. Type: pip install 'dalembert[study]'"
"""Message where a part of the extra `study` is missing."""


def write_nodes(root: Path, attributes: Mapping[str, Any], arrays: Sequence[ZarrArray]) -> None:
    """Describe arrays, the groups they are in, and last the whole, so that a folder with a description is complete."""
    nodes: dict[str, Any] = {a.name: a.node for a in arrays}
    groups = sorted({parent for a in arrays for parent in _parents(a.name)})
    nodes |= {name: _group({}) for name in groups}
    for name in sorted(nodes):
        _write_changed(root / name / NODE, nodes[name])
    inside = {"kind": "inline", "must_understand": False, "metadata": {name: nodes[name] for name in sorted(nodes)}}
    _write_changed(root / NODE, _group(attributes) | {"consolidated_metadata": inside})


def _parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:i]) for i in range(1, len(parts))]


def _group(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {"zarr_format": 3, "node_type": "group", "attributes": dict(attributes)}


def _write_changed(file: Path, node: Mapping[str, Any]) -> None:
    text = (json.dumps(node, ensure_ascii=True) + "\n").encode()
    with suppress(OSError):
        if file.stat().st_size == len(text) and file.read_bytes() == text:
            return
    write_files({file: text})


def read_attributes(root: Path) -> dict[str, Any] | None:
    """The attributes of a folder; None if it has no description yet. Raises ValueError if that is damaged."""
    file = root / NODE
    if not file.exists():
        return None
    if file.stat().st_size > LONGEST:
        raise ValueError(f"{file} has {file.stat().st_size} bytes; up to {LONGEST} are read")
    node = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(node, dict) or node.get("node_type") != "group" or not isinstance(node.get("attributes"), dict):
        raise ValueError(f"{file} is not the description of a group")
    return dict(node["attributes"])


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write files, all flushed to the disk before the first gets its name; the names come in the given order."""
    drafts = {file: file.with_name(f"{file.name}{DRAFT}") for file in contents}
    try:
        if len(contents) == 1:
            for file, data in contents.items():
                _flushed(drafts[file], data)
        else:
            with ThreadPoolExecutor(WRITERS) as pool:
                list(pool.map(lambda item: _flushed(drafts[item[0]], item[1]), contents.items()))
        for file, draft in drafts.items():
            os.replace(draft, file)
    except OSError as error:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        place = next(iter(contents))
        raise StartError(f"{place} cannot be written: {error.strerror or error}.") from error


def _flushed(draft: Path, data: bytes) -> None:
    draft.parent.mkdir(parents=True, exist_ok=True)
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_chunks(root: Path, parts: Iterable[tuple[ZarrArray, int, Array]]) -> None:
    """Write chunks; the last of them gets its name last, and so says that all are there."""
    write_files({a.file(root, k): a.encoded(data) for a, k, data in parts if math.prod(a.shape)})


def remove_drafts(root: Path) -> None:
    """Remove what killed processes left half written."""
    for draft in root.rglob(f"*{DRAFT}"):
        draft.unlink(missing_ok=True)
