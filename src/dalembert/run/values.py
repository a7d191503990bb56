"""Numbers given by people: parameters and starts, by symbol or by name, as numbers or as arrays that make lanes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Symbol

from ..engine.machine import PointMap
from ..errors import MethodError, StartError

Array = NDArray[Any]
Values = Mapping[Any, Any]

point_map = lru_cache(maxsize=256)(PointMap)
"""The compiled form of a pointwise map, kept."""


def by_name(given: Values | None, known: Iterable[Symbol], role: str) -> dict[str, Array]:
    """The given numbers by name; every key must be a known symbol, or the name of one."""
    if not (given is None or isinstance(given, Mapping)):
        raise StartError(f"{role}: got {given!r}. Expected {{symbol: number, ...}}.")
    names = {s.name for s in known}
    found: dict[str, Array] = {}
    for key, value in (given or {}).items():
        name = key.name if isinstance(key, Symbol) else str(key)
        if name not in names:
            raise StartError(f"{role}: {key} is unknown here. Expected one of {', '.join(sorted(names))}.")
        if name in found:
            raise StartError(f"{role}: {name} is given twice.")
        found[name] = _number(value, name, role)
    return found


def _number(value: Any, name: str, role: str) -> Array:
    try:
        if value is None or isinstance(value, str | bytes):
            raise TypeError
        array = np.asarray(value if not hasattr(value, "evalf") else float(value), dtype=float)
    except (TypeError, ValueError):
        raise StartError(
            f"{role}: {name} = {value!r} is not a number. Give a number, or an array of numbers for one lane each."
        ) from None
    if array.ndim > 1:
        raise StartError(
            f"{role}: {name} has shape {array.shape}. Lanes are one axis: give a number or a one-dimensional array."
        )
    if array.ndim == 1 and not len(array):
        raise StartError(f"{role}: {name} is an empty array. Give a number, or at least one number per array.")
    return array


def as_number(given: Any) -> float:
    """What was given, if it is a number; NaN if not: a text or a truth value is none."""
    try:
        return float("nan" if isinstance(given, str | bytes | bool) else given)
    except (TypeError, ValueError):
        return float("nan")


def step_length(h: Any, role: str) -> float:
    """The step, a positive number."""
    value = as_number(h)
    if not 0 < value < float("inf"):
        raise MethodError(f"{role}: h = {h!r}. Expected the step, a positive number, such as h=0.1.")
    return value


def lanes(*groups: Mapping[str, Array]) -> int | None:
    """The number of lanes that arrays ask for; None if every value is a single number."""
    lengths = {name: len(v) for group in groups for name, v in group.items() if v.ndim}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name}: {n}" for name, n in lengths.items())
        raise StartError(f"arrays of different lengths make no lanes ({told}). Give arrays of one length.")
    return next(iter(lengths.values()), None)


def columns(found: Mapping[str, Array], names: Sequence[str], lanes: int | None) -> Array:
    """The values of some names as columns, one row per lane."""
    rows = 1 if lanes is None else lanes
    return np.stack([np.broadcast_to(found[n], rows) for n in names], axis=1) if names else np.zeros((rows, 0))


def parameter_values(given: Values | None, known: Sequence[Symbol]) -> dict[str, Array]:
    """Values for all parameters; none has a default."""
    found = by_name(given, known, "parameters")
    missing = [p.name for p in known if p.name not in found]
    if missing:
        example = ", ".join(f"{name}: ..." for name in missing)
        raise StartError(
            f"parameters: no value for {', '.join(missing)}. Nothing defaults; write parameters={{{example}}}."
        )
    for p in known:
        value = found[p.name]
        if (p.is_positive and (value <= 0).any()) or (p.is_nonnegative and (value < 0).any()):
            sign = "positive" if p.is_positive else "not negative"
            raise StartError(f"parameters: {p.name} = {value}, but {p.name} was made as a parameter that is {sign}.")
    return found
