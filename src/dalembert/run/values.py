"""Numbers given by users: parameters and starts, by symbol or by name, as numbers or as arrays that make lanes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Rational, Symbol

from .. import numbers
from ..decide.decimals import exact
from ..engine.machine import PointMap
from ..errors import MethodError, StartError

Array = NDArray[Any]
Values = Mapping[Any, Any]

point_map = lru_cache(maxsize=256)(PointMap)
"""The compiled form of a pointwise map, cached."""


def by_name(given: Values | None, known: Iterable[Symbol], role: str) -> dict[str, Array]:
    """The given numbers by name, as numbers or as arrays with one entry per lane."""
    return numbers.by_name(given, known, role, _lanes)


def _lanes(value: Any, role: str) -> Array:
    array = numbers.reals(value, role, StartError, "Give a number, or an array of numbers for one lane each.")
    if array.ndim > 1:
        raise StartError(
            f"{role} has shape {array.shape}. Lanes are one axis: give a number or a one-dimensional array."
        )
    if array.ndim == 1 and not len(array):
        raise StartError(f"{role} is an empty array. Give a number, or at least one number per array.")
    return array


def exact_values(given: Values | None, names: Iterable[str]) -> dict[str, Any]:
    """The exact numbers that were typed, by name: numbers of SymPy, and the fraction of a decimal, 9.81 -> 981/100.

    Numbers of NumPy are results of a computation; they are taken as binary numbers, and not listed here.
    """
    wanted = set(names)
    found = {numbers.name_of(key): _typed(value) for key, value in (given or {}).items()}
    return {name: value for name, value in found.items() if name in wanted and value is not None}


def _typed(value: Any) -> Any:
    """The exact number that was typed; None if it is not finite, or a NumPy number."""
    if isinstance(value, np.generic | bool):
        return None
    if isinstance(value, Fraction | Decimal):
        try:
            return Rational(*Fraction(value).as_integer_ratio())
        except (ValueError, OverflowError):  # Decimal("nan"), Decimal("inf")
            return None
    if isinstance(value, float | int):
        return exact(value) if isinstance(value, int) or isfinite(value) else None
    return exact(value) if isinstance(value, Expr) and value.is_number and value.is_finite else None


def step_length(h: Any, role: str) -> float:
    """The step, a positive number."""
    return numbers.positive(h, f"{role}: h", MethodError, ". Expected the step, a positive number, such as h=0.1.")


def lanes(*groups: Mapping[str, Array]) -> int | None:
    """The number of lanes given by arrays; None if every value is a single number."""
    lengths = {name: len(v) for group in groups for name, v in group.items() if v.ndim}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name}: {n}" for name, n in lengths.items())
        raise StartError(f"arrays of different lengths make no lanes ({told}). Give arrays of one length.")
    return next(iter(lengths.values()), None)


def columns(found: Mapping[str, Array], names: Sequence[str], lanes: int | None) -> Array:
    """The values of some names as columns, one row per lane."""
    rows = 1 if lanes is None else lanes
    table = np.empty((rows, len(names)))
    for k, name in enumerate(names):
        table[:, k] = found[name]
    return table


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
