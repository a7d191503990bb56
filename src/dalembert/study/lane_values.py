"""The lanes of a study: which parameters and starts vary, and the table of their values, a row for each lane."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import MethodError, StartError, told
from ..model.coordinates import time
from ..numbers import reals, whole
from ..run.values import Array

SEQUENCES = ("sobol", "halton", "random")
"""How points of a sample are drawn; each gives the same first points whatever their number."""

MOST = 2**31
"""Lanes of a study."""

EXPECTED = (
    "Expected a grid vary={m: [1, 2, 3], x: [0, 0.1]}, a list of lanes vary=[{m: 1, x: 0}, {m: 2, x: 0.1}], a table of "
    "pandas with columns m and x, or ranges with a number of samples: vary={m: (1, 2), x: (0, 1)}, samples=1000."
)


@dataclass(frozen=True)
class Varied:
    """What varies, by name, and its values: (lanes, names). No two rows are the same."""

    names: tuple[str, ...]
    table: Array
    sampling: Mapping[str, Any] | None
    """How the values were drawn, as plain data, without their number."""


def varied(vary: Any, samples: Any, sequence: Any, seed: Any) -> Varied:
    """The lanes that were asked for."""
    if _is_frame(vary) and samples is None:
        return _frame(vary)
    if samples is not None:
        return _sample(vary, samples, sequence, seed)
    if isinstance(vary, Mapping) and vary:
        return _grid(vary)
    if isinstance(vary, Sequence) and not isinstance(vary, str) and vary and all(isinstance(r, Mapping) for r in vary):
        return _rows(vary)
    raise StartError(f"vary: got {told(vary)}. {EXPECTED}")


def name_of(key: Any) -> str:
    """The name of a symbol, or of something that was given by its name."""
    return str(getattr(key, "name", key))


def _names(keys: Any) -> tuple[str, ...]:
    names = tuple(name_of(key) for key in keys)
    if len(set(names)) < len(names):
        raise StartError(f"vary: {', '.join(names)}: a quantity is given twice, by its symbol and by its name.")
    if time.name in names:
        raise StartError("vary: all lanes of a study begin at one time: start={dalembert.time: t0}.")
    return names


def _values(given: Any, name: str) -> Array:
    """Finite numbers along one axis."""
    values = reals(given, f"vary: {name}", StartError, EXPECTED)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise StartError(f"vary: {name} = {told(given)}. Expected a list or an array of finite numbers. {EXPECTED}")
    return np.asarray(values, dtype=float)


def _grid(vary: Mapping[Any, Any]) -> Varied:
    names = _names(vary)
    axes = [_values(v, name) for name, v in zip(names, vary.values(), strict=True)]
    count = 1
    for axis in axes:
        count *= len(axis)
    _check_count(count, f"vary: a grid of {' x '.join(str(len(a)) for a in axes)}")
    table = np.stack([m.reshape(-1) for m in np.meshgrid(*axes, indexing="ij")], axis=1)
    return Varied(names, without_repeats(table), None)


def _rows(vary: Sequence[Mapping[Any, Any]]) -> Varied:
    names = _names(vary[0])
    _check_count(len(vary), "vary: a list")
    for i, row in enumerate(vary):
        if {name_of(key) for key in row} != set(names) or not row:
            given = ", ".join(name_of(key) for key in row) or "nothing"
            raise StartError(
                f"vary: lane 0 gives {', '.join(names) or 'nothing'}, and lane {i} gives {given}. {EXPECTED}"
            )
    by_name = [{name_of(key): value for key, value in row.items()} for row in vary]
    columns = [_values([row[name] for row in by_name], name) for name in names]
    return Varied(names, without_repeats(np.stack(columns, axis=1)), None)


def _is_frame(given: Any) -> bool:
    """Whether it is a table of pandas, which need not be installed."""
    return all(hasattr(given, name) for name in ("columns", "to_numpy", "iloc"))


def _frame(vary: Any) -> Varied:
    """A row is a lane, and a column has the name of what it is."""
    names = _names(vary.columns)
    _check_count(len(vary), "vary: a table")
    if not len(names) or not len(vary):
        raise StartError(f"vary: a table of {len(vary)} rows and {len(names)} columns. {EXPECTED}")
    columns = [_values(vary.iloc[:, i].to_numpy(), name) for i, name in enumerate(names)]
    return Varied(names, without_repeats(np.stack(columns, axis=1)), None)


def _sample(vary: Any, samples: Any, sequence: Any, seed: Any) -> Varied:
    """Points in a box. With more samples the first points stay the same, so that a study can be refined."""
    if not isinstance(vary, Mapping) or not vary:
        raise StartError(f"vary: got {told(vary)} and samples = {told(samples)}. {EXPECTED}")
    names = _names(vary)
    count = whole(samples, "samples", MethodError, least=1, expected="give the number of lanes, a whole number from 1")
    _check_count(count, "samples")
    if sequence not in SEQUENCES:
        raise MethodError(f"sequence = {told(sequence)}. Expected one of {', '.join(map(repr, SEQUENCES))}.")
    number = whole(seed, "seed", MethodError, expected="give a whole number from 0")
    bounds = np.array([_range(v, name) for name, v in zip(names, vary.values(), strict=True)])
    points = bounds[:, 0] + (bounds[:, 1] - bounds[:, 0]) * _unit(sequence, number, len(names), count)
    ranges = {name: row.tolist() for name, row in zip(names, bounds, strict=True)}
    return Varied(names, without_repeats(points), {"sequence": sequence, "seed": number, "ranges": ranges})


def _range(given: Any, name: str) -> Array:
    values = _values(given, name)
    if len(values) != 2 or not values[0] < values[1]:
        raise StartError(
            f"vary: {name} = {told(given)}. With samples= give the two ends of a range: {{{name}: (0, 1)}}."
        )
    return values


def _unit(sequence: str, seed: int, width: int, count: int) -> Array:
    """Points in the unit cube."""
    if sequence == "random":
        return np.random.default_rng(seed).random((count, width))
    from scipy.stats import qmc

    kind: Any = {"sobol": qmc.Sobol, "halton": qmc.Halton}[sequence]
    role = "rng" if "rng" in inspect.signature(kind).parameters else "seed"
    engine = kind(width, scramble=True, **{role: seed})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a number that is no power of two is the first part of one
        return np.asarray(engine.random(count))


def _check_count(count: int, what: str) -> None:
    if count > MOST:
        raise StartError(f"{what} has {count} lanes; a study has up to {MOST}. Split it into several stores.")


def row_keys(table: Array) -> Array:
    """Each row as one value that can be compared: its bits."""
    rows = np.ascontiguousarray(table)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)


def without_repeats(table: Array) -> Array:
    """The rows in their order, each once."""
    _, first = np.unique(row_keys(table), return_index=True)
    return table[np.sort(first)]
