"""The items of a scene as plain data and back: [kind, {field: ...}] with packed expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from ..errors import ModelError, told
from .scene import ITEMS, Item

LARGEST = 10_000
"""Most places of one item."""


def plain(item: Item, pack: Callable[[Any], Any]) -> list[Any]:
    """An item as data."""
    held = {f.name: (getattr(item, f.name), str(f.type) in Item.expressive) for f in fields(item)}
    return [
        type(item).__name__,
        {name: _packed(value, pack) if packs else value for name, (value, packs) in held.items()},
    ]


def _packed(value: Any, pack: Callable[[Any], Any]) -> Any:
    return {"list": [_packed(part, pack) for part in value]} if isinstance(value, tuple) else pack(value)


def item(data: list[Any], unpack: Callable[[Any], Any]) -> Item:
    """The item that `plain` made the data from, which have been checked."""
    kind = ITEMS[data[0]]
    packs = {f.name: str(f.type) in Item.expressive for f in fields(kind)}
    return kind(**{name: _unpacked(v, unpack) if packs[name] else v for name, v in data[1].items()})


def _unpacked(data: Any, unpack: Callable[[Any], Any]) -> Any:
    return tuple(_unpacked(part, unpack) for part in data["list"]) if isinstance(data, dict) else unpack(data)


def check(data: Any, expression: Callable[[Any], None]) -> None:
    """Raise a ModelError if the data are no item of a scene."""
    if not isinstance(data, list) or len(data) != 2 or data[0] not in ITEMS or not isinstance(data[1], dict):
        raise ModelError(f"the scene in the file has {told(data)} where an item is expected.")
    known = {f.name: str(f.type) for f in fields(ITEMS[data[0]])}
    if set(data[1]) != set(known):
        raise ModelError(f"the scene in the file has a {data[0]} with other fields than {', '.join(known)}.")
    for name, kind in known.items():
        if kind in Item.expressive:
            _check(data[1][name], {"Place": 1, "Turn": 1, "Places": 2, "Scalar": 0}[kind], expression)


def _check(data: Any, depth: int, expression: Callable[[Any], None]) -> None:
    """Nested lists of this depth with expressions in them."""
    if depth == 0:
        expression(data)
        return
    parts = data.get("list") if isinstance(data, dict) and set(data) == {"list"} else None
    if not isinstance(parts, list) or len(parts) > LARGEST:
        raise ModelError("the scene in the file has something else where a place, or a list of places, is expected.")
    for part in parts:
        _check(part, depth - 1, expression)
