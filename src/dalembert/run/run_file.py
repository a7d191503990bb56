"""The contents of a run file, read and checked before a run is made of them: sizes, types and consistency of the parts.

Nothing in a file is trusted. Sizes are compared with the size of the file, texts are JSON of bounded length, expressions
go through `model.packed`, and every error becomes a StartError. The checksum detects accidental damage; it has no key, so
all checks are made regardless of it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..discrete import serial as discrete_serial
from ..discrete.system import DiscreteSystem
from ..engine.kernels import STATUS_WIDTH
from ..engine.machine import COARSER, DOUBLE
from ..engine.run_options import EXACT, Search
from ..engine.status import Status
from ..errors import StartError
from ..methods import REGISTRY
from ..methods.base import Method
from ..model import serial
from ..model.space import numbers
from ..model.system import System
from ..waist.stepmap import TIME
from . import memory
from .events import Crossing
from .file_source import Source
from .netcdf import Attribute, File
from .options import LOOSEST
from .trajectory import Trajectory
from .values import Array

MODELS: dict[str, Any] = {"System": serial, "DiscreteSystem": discrete_serial}
"""The plain-data form of each kind of system."""

FORMAT = 3
"""The version of the files that are written; 1 is that of files without a version, 2 of those without a tolerance."""

TEXT = 2**25
"""The longest text, in characters; parameters of many lanes and events may be longer."""

LONG_TEXT = 2**28

SMALL = 2**26
"""Bytes of arrays below which available memory is not checked."""

MOST_STEPS = 2**62

_DIGITS = re.compile(r"-?\d{1,20}", re.ASCII)

MOST_COEFFICIENTS = 100

ATTRIBUTES = (
    "software", "format", "method_options", "h", "every", "t0", "first_step", "lanes", "model", "model_kind", "columns",
    "parameters", "events", "renewed",
)  # fmt: skip
ADDED = ("tolerance", "max_iterations", "reductions", "precision")
"""Attributes since format 3; the last two only if numbers were kept over all nodes, and if steps were not of doubles."""
ARRAYS = (
    "time", "status", "run.status", "run.last_step", "run.iterations", "run.corrections", "run.residual", "run.carry",
    "run.watched", "run.reductions", "run.records",
)  # fmt: skip
"""The arrays that are read and covered by the checksum."""

OPTIONAL = ("run.status", "run.watched", "run.reductions")


def checksum(attributes: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """A digest of all data that are read."""
    digest = hashlib.sha256()
    for name in (*ATTRIBUTES, *(n for n in ADDED if n in attributes)):
        digest.update(f"{name}: {attributes.get(name)!r}\n".encode())
    taken = "status" if "run.status" in arrays else "run.status"  # a coordinate may have that name
    for name in (n for n in ARRAYS if n in arrays and n != taken):
        data = np.ascontiguousarray(arrays[name])
        digest.update(f"{name}: {data.shape} {data.dtype.kind}{data.dtype.itemsize}\n".encode())
        digest.update((data if sys.byteorder == "little" else data.byteswap()).data)
    return digest.hexdigest()


def read(path: Path, source: Callable[[BinaryIO], Source] = File) -> Trajectory:
    """The run in a file; `source` reads its format."""
    try:
        with path.open("rb") as opened:
            return _run(source(opened))
    except _NewerFormatError as error:
        raise StartError(f"load: {path} {error}") from None
    except Exception as error:  # any error that a damaged file causes
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise StartError(f"load: {path} is not a run saved by dalembert, or it is damaged: {_ended(first)}") from None


class _NewerFormatError(Exception):
    """A file of a later version."""


def _ended(sentence: str) -> str:
    short = sentence if len(sentence) <= 300 else f"{sentence[:300]}..."
    return short if short.endswith(".") else f"{short}."


def _run(file: Source) -> Trajectory:
    given = _plain(file.attributes)
    version = _whole(given, "format", 1) if "format" in given else 1
    if version > FORMAT:
        raise _NewerFormatError(
            f"has format {version}, written by {str(given.get('software'))[:40]}; this version reads formats up to {FORMAT}. "
            f"Install a newer dalembert, or save the run there again in an older format."
        )
    kind = _text(given, "model_kind", 100)
    if kind not in MODELS:
        raise ValueError(f"it has a model of the kind {kind!r}")
    arrays = _arrays(file, len(_json(given, "columns", list)))
    if version > 1 and given.get("checksum") != checksum(given, arrays):
        raise ValueError("its contents do not match its checksum")
    if version == 1:
        arrays["run.last_step"] = arrays["run.last_step"].astype(np.int64)
    else:
        high, low = arrays["run.last_step"].astype(np.int64).T
        arrays["run.last_step"] = (high << 32) | (low & (2**32 - 1))
    parts = _parts(given, arrays)
    parts |= _own_parts(given, parts["records"].shape[0], parts["records"].shape[2])
    return _fitted(_system(kind, _text(given, "model")), parts, given)


@lru_cache(maxsize=8)
def _system(kind: str, text: str) -> System | DiscreteSystem:
    """The system of a text; cached, since usually many runs of one system are read."""
    system: System | DiscreteSystem = MODELS[kind].loads(text)
    return system


# attributes
def _plain(attributes: Mapping[str, Attribute]) -> dict[str, str | float | int]:
    """Texts and single numbers."""
    plain: dict[str, str | float | int] = {}
    for name, value in attributes.items():
        if isinstance(value, str):
            plain[name] = value
        elif value.shape == (1,):
            plain[name] = value[0].item()
    return plain


def _text(given: Mapping[str, Any], name: str, longest: int = TEXT) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise ValueError(f"it has no text {name}")
    if len(value) > longest:
        raise ValueError(f"its {name} has {len(value)} characters; up to {longest} are read")
    return value


def _whole(given: Mapping[str, Any], name: str, least: int) -> int:
    """A whole number: a text of digits, or in files of format 1 an integer."""
    value = given.get(name)
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if not isinstance(value, int) or not least <= value <= MOST_STEPS:
        raise ValueError(f"its {name} is {str(value)[:40]}")
    return value


def _real(given: Mapping[str, Any], name: str) -> float:
    value = given.get(name)
    if not isinstance(value, float) or not math.isfinite(value):
        raise ValueError(f"its {name} is {str(value)[:40]}")
    return value


def _json(given: Mapping[str, Any], name: str, kind: type, longest: int = TEXT) -> Any:
    data = json.loads(_text(given, name, longest))
    if not isinstance(data, kind):
        raise ValueError(f"its {name} is a {type(data).__name__}")
    return data


# arrays
def _arrays(file: Source, width: int) -> dict[str, Array]:
    """All arrays that are read, by their names in the file; `status` only if no coordinate has that name.

    Empty arrays are not in a file: a run of fewer steps than `every` may have no records.
    """
    names = {name: "f8" for name in ARRAYS if name in file}
    names.pop("status" if "run.status" in names else "run.status", None)
    axes = {"run.carry": 2, "run.records": 3, "run.watched": 3, "run.reductions": 2}
    narrow = {"status", "run.status", "run.last_step"}
    need = 8 * sum(math.prod(file.shape(name)) for name in names)
    if need > SMALL and (free := memory.available()) is not None and need > free:
        raise ValueError(f"its arrays take {memory.size(need)} of memory, and {memory.size(free)} are free")
    halves = "run.last_step" in file and len(file.shape("run.last_step")) == 2
    if halves and file.shape("run.last_step")[1] != 2:
        raise ValueError("run.last_step has no halves")
    found = {}
    for name in names:
        count = 2 if halves and name == "run.last_step" else axes.get(name, 1)
        found[name] = file.array(name, "i4" if name in narrow else "f8", count)
    if "run.residual" in found and "time" not in found and "run.records" not in found:
        found |= {"time": np.zeros(0), "run.records": np.zeros((len(found["run.residual"]), 0, width))}
    for name in ("status", *ARRAYS):
        if name not in found and name not in OPTIONAL and f"run.{name}" not in found:
            raise ValueError(f"it has no {name}")
    return found


def _parts(given: Mapping[str, Any], arrays: dict[str, Array]) -> dict[str, Any]:
    """The arrays of a Trajectory, all of the same number of lanes and records."""
    records, time = arrays["run.records"], arrays["time"]
    lanes, times, _ = records.shape
    status = arrays["run.status" if "run.status" in arrays else "status"]
    counts = (status, arrays["run.last_step"], arrays["run.iterations"], arrays["run.corrections"])
    shapes = {"time": (times,), "run.residual": (lanes,), "run.carry": (lanes, arrays["run.carry"].shape[1])}
    if "run.watched" in arrays:
        shapes["run.watched"] = (2, lanes, arrays["run.watched"].shape[2])
    wrong = [name for name, shape in shapes.items() if arrays[name].shape != shape]
    if wrong or any(c.shape != (lanes,) for c in counts):
        raise ValueError(f"the shapes of its arrays do not fit together ({', '.join(wrong) or 'status'})")
    begin = _whole(given, "first_step", 0)
    if not (np.isfinite(time).all() and (np.diff(time) >= 0).all()):
        raise ValueError("its times are not in order")
    real = np.stack(counts[2:], axis=1)
    going = np.isin(status, (Status.CONVERGED, Status.INTERRUPTED))
    least = np.where(going, begin, 0)  # others may have ended in the run that was continued
    if not (np.isfinite(real) & (real >= 0) & (real < MOST_STEPS)).all() or (counts[1] < least).any():
        raise ValueError("its counts of steps and iterations are none")
    if not np.isin(status, list(map(int, Status))).all():
        raise ValueError("it has a status that is none")
    codes = np.zeros((lanes, STATUS_WIDTH), dtype=np.int64)
    codes[:, :4] = np.stack([c.astype(np.int64) for c in counts], axis=1)
    _check_steps(given, time, counts[1])
    return {
        "records": records, "time": time, "codes": codes, "residual": arrays["run.residual"], "begin": begin,
        "carry": arrays["run.carry"], "watched": arrays.get("run.watched"),
        "reductions": _reductions(given, arrays.get("run.reductions"), lanes),
    }  # fmt: skip


def _reductions(given: Mapping[str, Any], table: Array | None, lanes: int) -> dict[str, Array]:
    """What was kept over all nodes, by its names."""
    titles = _json(given, "reductions", list) if "reductions" in given else []
    width = len(titles) if table is None else table.shape[1]
    if len({t for t in titles if isinstance(t, str)}) != width or (table is not None and len(table) != lanes):
        raise ValueError(f"it has {len(titles)} names of reductions and a table of other shape")
    return {} if table is None else dict(zip(titles, table.T.copy(), strict=True))


def _check_steps(given: Mapping[str, Any], time: Array, last: Array) -> None:
    """Check that the first record is at the start of the run, and the last step not beyond the records."""
    h, every, begin = _real(given, "h"), _whole(given, "every", 1), _whole(given, "first_step", 0)
    first = -(-begin // every)
    expected = _real(given, "t0") + h * (every * first)
    own = TIME in _json(given, "columns", list)  # steps of different lengths in time
    if h <= 0 or not all(own or math.isclose(t, expected, rel_tol=1e-9, abs_tol=1e-6 * h) for t in time[:1]):
        raise ValueError(f"its first record is not at {expected:g}, where step {begin} of {h:g} is")
    if int(last.max()) > every * (first + len(time)):
        raise ValueError("it has fewer records than steps")


def _own_parts(given: Mapping[str, Any], lanes: int, width: int) -> dict[str, Any]:
    """The data of the run itself, without its system."""
    told = _whole(given, "lanes", -1)
    if told == 0 or lanes != (1 if told < 0 else told):
        raise ValueError(f"it has {told} lanes and records of {lanes}")
    columns = _json(given, "columns", list)
    if len(columns) != width or len(set(map(str, columns))) != width or not all(isinstance(c, str) for c in columns):
        raise ValueError(f"it has {len(columns)} names of columns and {width} columns")
    renewed = _json(given, "renewed", list) if "renewed" in given else []
    if not all(_is_index(lane, lanes) for lane in renewed):
        raise ValueError("it has renewed lanes that are not there")
    return {
        "h": _real(given, "h"), "t0": _real(given, "t0"), "every": _whole(given, "every", 1),
        "lanes": None if told < 0 else told, "columns": tuple(columns),
        "search": _search(given), "precision": _precision(given), "renewed": tuple(renewed),
        "version": _text(given, "software", 1000).split(" ")[-1], "method": _method(_json(given, "method_options", object)),
    }  # fmt: skip


def _search(given: Mapping[str, Any]) -> Search:
    """How exactly steps were solved; in files of formats 1 and 2 to rounding error."""
    if "tolerance" not in given:
        return EXACT
    tolerance = _real(given, "tolerance")
    if not 0 < tolerance <= LOOSEST:
        raise ValueError(f"its tolerance is {tolerance:g}")
    return Search(tolerance, _whole(given, "max_iterations", 1))


def _precision(given: Mapping[str, Any]) -> str:
    found = _text(given, "precision", 100) if "precision" in given else DOUBLE
    if found not in (DOUBLE, *COARSER):
        raise ValueError(f"its precision is {found!r}")
    return found


def _fitted(system: System | DiscreteSystem, parts: dict[str, Any], given: Mapping[str, Any]) -> Trajectory:
    """The run, if everything in it fits its system."""
    if missing := [name for name in _needed(system, parts["columns"]) if name not in parts["columns"]]:
        raise ValueError(f"it has no column {missing[0]}")
    if parts["method"] is not None and system.discrete is not None:
        raise ValueError("it has a discrete system and a method")
    listed = _json(given, "events", list, LONG_TEXT)
    return Trajectory(
        system=system,
        parameters=_parameters(system, _json(given, "parameters", dict, LONG_TEXT), parts["lanes"]),
        events=tuple(_crossing(c, system, len(parts["records"])) for c in listed),
        **parts,
    )


def _needed(system: System | DiscreteSystem, columns: Collection[str]) -> list[str]:
    """The columns that a run must have."""
    q = system.coordinates
    rates = [c.dot.name for c in q]
    stated = system.continuous
    moving = rates if rates[0] in columns and stated is not None else [c.momentum.name for c in q]
    multipliers = [m.name for m in system.multipliers]
    held = [m.name for m in stated.principle.carried(stated)] if stated is not None and moving is rates else []
    own = multipliers if stated is None else held
    return [*numbers(q), *(S.name for S in system.entropies), *moving, *own]


def _is_index(given: Any, count: int) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and 0 <= given < count


def _parameters(system: System | DiscreteSystem, given: dict[str, Any], lanes: int | None) -> dict[str, Array]:
    names = {p.name for p in system.parameters}
    if set(given) != names:
        raise ValueError("its parameters are not those of its system")
    for name, value in given.items():
        listed = value if isinstance(value, list) else [value]
        if not all(map(_is_number, listed)) or (isinstance(value, list) and len(value) != lanes):
            raise ValueError(f"its parameter {name} is not a number, or not one for each lane")
    return {k: np.asarray(v, dtype=float) for k, v in given.items()}


def _is_number(given: Any) -> bool:
    """A double, infinite or NaN included; JSON has integers of any size."""
    return isinstance(given, float) or (isinstance(given, int) and not isinstance(given, bool) and abs(given) < 2**63)


def _crossing(given: Any, system: System | DiscreteSystem, lanes: int) -> Crossing:
    places, moving = set(numbers(system.coordinates)), {q.name for q in system.coordinates}
    stated = system.continuous
    held = set() if stated is None else {m.name for m in stated.principle.carried(stated)}
    warm = {S.name for S in system.entropies}
    tables = {"positions": places, "velocities": moving, "entropies": warm, "multipliers": held}
    needed, known = {"name", "time", "lane", "positions", "velocities"}, {f.name for f in fields(Crossing)}
    if not isinstance(given, dict) or not needed <= set(given) <= known:
        raise ValueError("it has an event that is none")
    for key, names in tables.items():
        table = given.get(key, {})
        fits = isinstance(table, dict) and (set(table) == names or not table)
        if not fits or not all(map(_is_number, table.values())):
            raise ValueError(f"it has an event whose {key} are none")
    if not (
        isinstance(given["name"], str)
        and _is_index(given["lane"], lanes)
        and _is_index(given.get("step", 0) + 1 if isinstance(given.get("step", 0), int) else None, MOST_STEPS)
        and isinstance(given["time"], float)
        and math.isfinite(given["time"])
        and isinstance(given.get("changed", False), bool)
    ):
        raise ValueError("it has an event that is none")
    return Crossing(**given)


def _method(data: Any, depth: int = 0) -> Method | None:
    """The method of that name and options; options may be methods."""
    if data is None:
        return None
    if depth > 3 or not isinstance(data, dict) or set(data) != {"method", "options"}:
        raise ValueError("its method is none")
    name, options = data["method"], data["options"]
    if not isinstance(name, str) or name not in REGISTRY or not isinstance(options, dict):
        raise ValueError(f"it has an unknown method {str(name)[:40]!r}")
    return REGISTRY[name](**{key: _option(value, depth) for key, value in options.items()})


def _option(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        return _method(value, depth + 1)
    if isinstance(value, list):
        if len(value) > MOST_COEFFICIENTS or not all(map(_is_number, value)):
            raise ValueError("its method has an option that is none")
        return value
    if value is None or _is_number(value) or (isinstance(value, str) and len(value) <= 100):
        return value
    raise ValueError("its method has an option that is none")
