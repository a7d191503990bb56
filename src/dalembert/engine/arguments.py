"""Checks of everything passed to compiled code, which accesses memory by address and checks nothing itself."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StartError
from ..numbers import is_masked
from ..waist.stepmap import StepMap
from .emitter import Memory
from .kernels import STATUS_WIDTH, carry_width
from .run_options import Extent, Search

Array = NDArray[Any]

_REAL, _INTEGER = np.dtype(np.float64), np.dtype(np.int64)
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Lanes:
    """The arrays of some motions that a compiled run advances in place, one row each.

    carry:       values kept from step to step
    parameters:  the parameters, read only
    status:      code, last valid step, Newton iterations, corrections
    residual:    the relative residual of a failed search
    """

    carry: Array
    parameters: Array
    status: Array
    residual: Array

    @classmethod
    def begun(cls, carry: Array, parameters: Array) -> Lanes:
        """Lanes before their first step."""
        count = len(carry)
        return cls(carry, parameters, np.zeros((count, STATUS_WIDTH), dtype=_INTEGER), np.full(count, np.nan))


def check_search(search: Search) -> tuple[float, float, int]:
    """The end conditions of a search, checked and converted for compiled code."""
    tolerance, most = search.tolerance, search.max_iterations
    check_numbers(tolerance=tolerance)
    if not 0 < tolerance < float("inf"):
        raise StartError(f"a compiled run: tolerance = {tolerance!r}. Expected a positive number.")
    if isinstance(most, bool) or not 0 <= _whole(most) <= _LARGEST:
        raise StartError(f"a compiled run: max_iterations = {most!r}. Expected a whole number from 0 to 2^63 - 1.")
    return float(tolerance), search.nearly, operator.index(most)


def run_memories(stepmap: StepMap, group: Lanes, out: Array) -> list[Memory]:
    """The arrays of a run, after a check of the types and shapes that the time loop assumes."""
    carry, parameters, status, residual = group.carry, group.parameters, group.status, group.residual
    lanes, rows = _length(carry, 0), _length(out, 1)
    width = len(stepmap.state) + len(stepmap.outputs)
    return check_memories(
        stepmap,
        [
            Memory("carry", carry, _REAL, (lanes, carry_width(stepmap))),
            Memory("parameters", parameters, _REAL, (lanes, len(stepmap.parameters)), False),
            Memory("records", out, _REAL, (lanes, rows, width)),
            Memory("statuses", status, _INTEGER, (lanes, STATUS_WIDTH)),
            Memory("residuals", residual, _REAL, (lanes,)),
        ],
    )


def check_numbers(**given: Any) -> list[float]:
    """Real numbers, such as the step, checked and converted for compiled code."""
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, float | int | np.floating | np.integer):
            raise StartError(f"a compiled function: {name} = {value!r}. Expected a number.")
    return [float(value) for value in given.values()]


def check_extent(extent: Extent, closing: bool, row: int, rows: int) -> list[int]:
    """Numbers of steps and records for compiled code, after a check that no record is written outside the array."""
    begin, steps, every = extent.begin, extent.steps, extent.every
    if not isinstance(closing, bool | np.bool_):
        raise StartError(f"a compiled run: closing = {closing!r}. Expected True or False.")
    for name, value, least in (("begin", begin, 0), ("steps", steps, 0), ("every", every, 1), ("row", row, 0)):
        if isinstance(value, bool) or not least <= _whole(value) <= _LARGEST:
            raise StartError(f"a compiled run: {name} = {value!r}. Expected a whole number from {least} to 2^63 - 1.")
    begin, steps, every, row = (operator.index(n) for n in (begin, steps, every, row))  # NumPy integers may overflow
    end = begin + steps + bool(closing)
    if end > _LARGEST:
        raise StartError(f"a compiled run: it would end at step {end}. Steps are counted up to 2^63 - 1.")
    due = Extent(extent.t0, extent.h, begin, end - begin, every).due
    if row + due > rows:
        raise StartError(f"a compiled run: {due} records from number {row} on do not fit into {rows}.")
    return [begin, steps, every, int(closing), row, rows]


def _whole(value: Any) -> int:
    """The value itself if it is a whole number; -1 for anything else."""
    try:
        return operator.index(value)
    except TypeError:
        return -1


def map_memories(stepmap: StepMap, inputs: Array, parameters: Array, out: Array, status: Array) -> list[Memory]:
    """The arrays of a map that is applied to points, checked; parameters are one row, or one for each point."""
    points = _length(inputs, 0)
    rows = points if _length(parameters, 0) == points else 1
    return check_memories(
        stepmap,
        [
            Memory("inputs", inputs, _REAL, (points, len(stepmap.state)), False),
            Memory("parameters", parameters, _REAL, (rows, len(stepmap.parameters)), False),
            Memory("outputs", out, _REAL, (points, len(stepmap.outputs))),
            Memory("statuses", status, _INTEGER, (points,)),
        ],
    )


def _length(array: Any, axis: int) -> int:
    """The length of an array along an axis; 0 if it has no such axis or is no array."""
    return array.shape[axis] if isinstance(array, np.ndarray) and array.ndim > axis else 0


def check_memories(stepmap: StepMap, memories: list[Memory]) -> list[Memory]:
    """The arrays, after a check of their types and shapes, and that none overlaps another one that is written."""
    for m in memories:
        a = m.array
        if not (type(a) is np.ndarray and a.dtype == m.kind and a.shape == m.shape and _is_usable(a, m.written)):
            raise StartError(f"{stepmap.name}: {_difference(stepmap, m)}")
    _check_apart(stepmap, memories)
    return memories


def _is_usable(a: Array, written: bool) -> bool:
    flags = a.flags
    return flags.c_contiguous and flags.aligned and (flags.writeable or not written)


def _difference(stepmap: StepMap, m: Memory) -> str:
    """The error text for an array of the wrong type, shape or layout."""
    a = m.array
    expected = f"Expected an array of {m.kind} of shape {m.shape}"
    if type(a) is not np.ndarray:
        return f"the {m.role} are given as {type(a).__name__}. {expected}."
    if m.role == "parameters" and a.shape != m.shape:
        names = ", ".join(stepmap.parameters) or "none"
        return (
            f"the parameters have shape {a.shape}. {expected}: one column for each of the step's parameters ({names})."
        )
    if a.dtype != m.kind or a.shape != m.shape:
        return f"the {m.role} are an array of {a.dtype} ({a.dtype.str}) of shape {a.shape}. {expected}."
    how = "contiguous, aligned" + (" and writable" if m.written else "")
    return f"the {m.role} are not {how} in memory. {expected}, {how}: np.ascontiguousarray makes one."


def _check_apart(stepmap: StepMap, memories: Sequence[Memory]) -> None:
    """Compiled code assumes that arrays it writes overlap no others."""
    spans = sorted(
        ((m.address, m.address + m.array.nbytes, m) for m in memories if m.array.size), key=lambda span: span[:2]
    )
    for (_, end, m), (begin, _, other) in pairwise(spans):
        if begin < end and (m.written or other.written):
            raise StartError(f"{stepmap.name}: the {m.role} and the {other.role} overlap in memory. Give arrays apart.")


def reals(given: Any, role: str, columns: int) -> Array:
    """A table of numbers for compiled code; entries that are not real numbers are refused, not converted."""
    if is_masked(given):
        raise StartError(f"{role}: some entries are masked. Give numbers, or leave the rows out.")
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "fiu" or array.shape[1:] != (columns,):
        raise StartError(
            f"{role}: got an array of {array.dtype} of shape {array.shape}. Expected rows of {columns} real numbers each."
        )
    return np.ascontiguousarray(array, dtype=_REAL)
