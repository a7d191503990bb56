"""NetCDF 3 files with 64-bit offsets (CDF-2), written and read strictly.

SciPy and xarray read the files too. They are read here by a separate parser because it checks every size in a header
against the size of the file before anything is allocated: a damaged header costs neither memory nor time.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from ..errors import StartError
from .values import Array

_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_TYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype("i1"), 3: np.dtype(">i2"), 4: np.dtype(">i4"), 5: np.dtype(">f4"), 6: np.dtype(">f8"),
}  # fmt: skip
_CODES = {kind: code for code, kind in _TYPES.items()}
_TEXT = 2
_MOST = 2**31 - 1
_HEADER = 2**20
"""Bytes read at once, usually more than the header has."""

_BLOCK = 2**22
"""Numbers converted to the byte order of the file at once."""

Attribute = str | Array
"""A text, or an array of numbers."""


class FormatError(ValueError):
    """A file that is no NetCDF 3 file, or a damaged one."""


@dataclass(frozen=True)
class Variable:
    """A named array: its axes by name, its data, and attributes."""

    axes: tuple[str, ...]
    data: Array
    attributes: Mapping[str, Any] = field(default_factory=dict)


# writing
def write(file: BinaryIO, attributes: Mapping[str, Any], variables: Mapping[str, Variable]) -> None:
    """Write a file. An empty axis would mean an unlimited one, so variables that have one are left out."""
    kept = {name: v for name, v in variables.items() if v.data.size}
    sizes: dict[str, int] = {}
    for name, v in kept.items():
        for axis, size in zip(v.axes, v.data.shape, strict=True):
            if size > _MOST or sizes.setdefault(axis, size) != size:
                raise StartError(f"save: the axis {axis} of {name} has {size} entries; NetCDF 3 has no room for them.")
    places = {axis: i for i, axis in enumerate(sizes)}
    begin, heads = 0, b""
    for _ in range(2):  # offsets have a fixed width, so both passes have the same length
        heads, at = b"", begin
        for name, v in kept.items():
            axes = b"".join(_whole(places[a]) for a in v.axes)
            size = -(-v.data.size * _kind(v.data).itemsize // 4) * 4
            heads += _name(name) + _whole(len(v.axes)) + axes + _listed(_ATTRIBUTES, v.attributes, _attribute)
            heads += _whole(_CODES[_kind(v.data)]) + struct.pack(">Iq", min(size, 2**32 - 1), at)
            at += size
        start = b"CDF\x02" + _whole(0) + _listed(_DIMENSIONS, sizes, lambda n, size: _name(n) + _whole(size))
        start += _listed(_ATTRIBUTES, attributes, _attribute)
        start += (_whole(_VARIABLES) + _whole(len(kept)) if kept else bytes(8)) + heads
        begin = len(start)
    file.write(start)
    for v in kept.values():
        _write_data(file, v.data)


def _write_data(file: BinaryIO, data: Array) -> None:
    flat, kind = np.ascontiguousarray(data).reshape(-1), _kind(data)
    for i in range(0, len(flat), _BLOCK):
        file.write(flat[i : i + _BLOCK].astype(kind).tobytes())
    file.write(bytes(-data.size * kind.itemsize % 4))


def _kind(data: Array) -> np.dtype[Any]:
    """The type of an array in the file, big-endian."""
    kind = data.dtype.newbyteorder(">")
    if kind not in _CODES:
        raise TypeError(f"an array of {data.dtype} has no place in a NetCDF 3 file")
    return kind


def _whole(n: int) -> bytes:
    return struct.pack(">i", n)


def _padded(raw: bytes) -> bytes:
    return raw + bytes(-len(raw) % 4)


def _name(name: str) -> bytes:
    raw = name.encode()
    return _whole(len(raw)) + _padded(raw)


def _listed(tag: int, entries: Mapping[str, Any], one: Any) -> bytes:
    if not entries:
        return bytes(8)
    return _whole(tag) + _whole(len(entries)) + b"".join(one(name, value) for name, value in entries.items())


def _attribute(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        raw = value.encode()
        if len(raw) > _MOST:
            raise StartError(f"save: {name} has {len(raw)} bytes; NetCDF 3 has room for {_MOST}.")
        return _name(name) + _whole(_TEXT) + _whole(len(raw)) + _padded(raw)
    if isinstance(value, float):
        return _name(name) + _whole(6) + _whole(1) + struct.pack(">d", value)
    return _name(name) + _whole(4) + _whole(1) + _whole(value)


# reading
@dataclass(frozen=True)
class _Place:
    """Where the data of a variable are."""

    kind: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int


class File:
    """The header of a file, read; arrays are read when they are asked for."""

    def __init__(self, file: BinaryIO):
        self._file = file
        self.size = file.seek(0, 2)
        file.seek(0)
        self._start, self._at = file.read(_HEADER), 0
        magic = self._bytes(4)
        if magic[:3] != b"CDF" or magic[3] not in (1, 2):
            raise FormatError("it is no NetCDF 3 file")
        self._wide = magic[3] == 2
        self._bytes(4)  # the number of entries of the unlimited axis, which runs do not have
        sizes = self._list(_DIMENSIONS, self._count)
        self._sizes = list(sizes.values())
        self.attributes: dict[str, Attribute] = self._list(_ATTRIBUTES, self._value)
        self._places: dict[str, _Place] = self._list(_VARIABLES, self._place)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a variable."""
        if name not in self._places:
            raise FormatError(f"it has no {name}")
        return self._places[name].shape

    def array(self, name: str, kind: str, axes: int) -> Array:
        """The data of a variable, which must be of that kind, 'i4' or 'f8', with that many axes."""
        shape, place = self.shape(name), self._places[name]
        if place.kind != np.dtype(f">{kind}") or len(shape) != axes:
            raise FormatError(f"{name} is {place.kind} of shape {shape}")
        count = int(np.prod(shape, dtype=object)) if shape else 1
        self._file.seek(place.begin)
        raw = np.fromfile(self._file, dtype=place.kind, count=count)
        if len(raw) != count:
            raise FormatError("it is truncated")
        if sys.byteorder == "little":
            raw.byteswap(inplace=True)
        return raw.view(kind).reshape(shape)

    def _bytes(self, count: int) -> bytes:
        if count > self.size - self._at:
            raise FormatError("it is truncated")
        if self._at + count <= len(self._start):
            raw = self._start[self._at : self._at + count]
        else:
            self._file.seek(self._at)
            raw = self._file.read(count)
        if len(raw) != count:
            raise FormatError("it is truncated")
        self._at += count
        return raw

    def _count(self) -> int:
        n: int = struct.unpack(">i", self._bytes(4))[0]
        if n < 0:
            raise FormatError("its header has a negative number")
        return n

    def _text(self) -> str:
        count = self._count()
        return self._bytes(-(-count // 4) * 4)[:count].decode()

    def _list(self, tag: int, one: Any) -> dict[str, Any]:
        given, count = self._count(), self._count()
        if given not in (0, tag) or (given == 0 and count):
            raise FormatError("its header is damaged")
        found: dict[str, Any] = {}
        for _ in range(count):
            name = self._text()
            if name in found:
                raise FormatError(f"it has {name[:40]!r} twice")
            found[name] = one()
        return found

    def _value(self) -> Attribute:
        code, count = self._count(), self._count()
        if code == _TEXT:
            return self._bytes(-(-count // 4) * 4)[:count].decode()
        kind = self._type(code)
        raw = self._bytes(-(-count * kind.itemsize // 4) * 4)
        return np.frombuffer(raw, dtype=kind, count=count)

    def _type(self, code: int) -> np.dtype[Any]:
        if code not in _TYPES:
            raise FormatError("its header has an unknown type")
        return _TYPES[code]

    def _place(self) -> _Place:
        axes = [self._count() for _ in range(self._few(self._count()))]
        self._list(_ATTRIBUTES, self._value)
        code = self._count()
        kind = np.dtype("i1") if code == _TEXT else self._type(code)
        self._bytes(4)  # the size, which also follows from the shape
        begin = struct.unpack(">q" if self._wide else ">i", self._bytes(8 if self._wide else 4))[0]
        if any(a >= len(self._sizes) for a in axes):
            raise FormatError("its header names an axis that is not there")
        shape = tuple(self._sizes[a] for a in axes)
        room = kind.itemsize
        for size in shape:
            room *= size
        if 0 in shape or not 0 <= begin <= self.size - room:
            raise FormatError("it is truncated, or has an empty axis")
        return _Place(kind, shape, begin)

    def _few(self, axes: int) -> int:
        if axes > 8:
            raise FormatError("it has an array of more than 8 axes")
        return axes
