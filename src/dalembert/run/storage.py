"""A Trajectory as an xarray Dataset and as a NetCDF file, and back."""

from __future__ import annotations

import inspect
import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..discrete.system import DiscreteSystem
from ..errors import ModelError, StartError, told
from ..methods import REGISTRY
from ..methods.base import Method
from ..model.coordinates import Direction
from ..model.group import Group
from ..model.space import factors
from ..model.system import System
from . import netcdf
from .run_file import FORMAT, MODELS, MOST_COEFFICIENTS, checksum, read
from .trajectory import Trajectory

if TYPE_CHECKING:
    import xarray

SUFFIXES = (".nc", ".cdf", ".netcdf")
"""Suffixes of NetCDF files."""


def to_dataset(run: Trajectory) -> xarray.Dataset:
    """Named variables for people (positions, velocities, momenta, multipliers, energy), `records` for `load`."""
    import xarray

    def axis(name: str) -> str:
        return _free(name, run)

    each, over = axis("run"), ("time",) if run.lanes is None else ("lane", "time")
    variables: dict[str, Any] = {}
    for f in factors(run.system.coordinates):
        axes = ("row", "column") if isinstance(f, Group) else ()
        variables[f.name] = ((*over, *(f"{f.name}.{part}" for part in axes)), run[f.name])
        for vector in f.vectors if isinstance(f, Group) else ():
            told = {"long_name": f"{vector.name}, components in the frame of the body"}
            variables[vector.name] = ((*over, f"{f.name}.component"), run[vector], told)
    for q in (c for c in run.system.coordinates if not isinstance(c, Direction)):
        variables[q.dot.name] = (over, run[q.dot], {"long_name": f"velocity of {q}"})
        variables[q.momentum.name] = (over, run[q.momentum], {"long_name": f"momentum of {q}"})
    for S in run.system.entropies:
        variables[S.name] = (over, run[S], {"long_name": f"entropy {S}"})
    if run.system.constraints:
        variables[_free("multipliers", run)] = ((*over, axis("constraint")), run.multipliers)
    if isinstance(run.system, System):
        variables[_free("energy", run)] = (over, run.energy, {"long_name": "energy"})
    variables |= {
        _free("status", run): ((each,), run.codes[:, 0].astype(np.int32), {"long_name": "0: every step converged"}),
        "run.last_step": ((each,), run.codes[:, 1]),
        "run.iterations": ((each,), run.codes[:, 2].astype(float)),
        "run.corrections": ((each,), run.codes[:, 3].astype(float)),
        "run.residual": ((each,), run.residual),
        "run.parameters": ((each, axis("parameter")), run.parameter_rows),
        "run.carry": ((each, axis("carried")), run.carry),
    }
    if run.watched is not None:
        variables["run.watched"] = ((axis("watch"), each, axis("event")), run.watched)
    if not run.system.parameters:  # in NetCDF an empty axis is an unlimited one
        del variables["run.parameters"]
    variables["run.records"] = ((each, "time", axis("column")), run.records)
    return xarray.Dataset(variables, coords={"time": run.time}, attrs=_provenance(run))


def _free(name: str, run: Trajectory) -> str:
    """A name for a quantity or an axis that no coordinate has."""
    return f"run.{name}" if any(q.owner == name for q in (*run.system.coordinates, *run.system.entropies)) else name


def _provenance(run: Trajectory) -> dict[str, Any]:
    """Where the numbers come from, as plain text and numbers."""
    return {
        "title": run.system.name,
        "software": f"dalembert {run.version}",
        "method": repr(run.method),
        "method_options": json.dumps(_packed(run.method)),
        "h": float(run.h),
        "every": run.every,
        "t0": float(run.t0),
        "first_step": run.begin,
        "lanes": -1 if run.lanes is None else run.lanes,
        "model": _model(run.system, strict=False),
        "model_kind": type(run.system).__name__,
        "columns": json.dumps(run.columns),
        "parameters": json.dumps({k: np.asarray(v).tolist() for k, v in run.parameters.items()}),
        "events": json.dumps([asdict(c) for c in run.events]),
        "renewed": json.dumps(run.renewed),
        "tolerance": run.search.tolerance,
        "max_iterations": run.search.max_iterations,
    }


def _model(system: System | DiscreteSystem, strict: bool = True) -> str:
    """The system as text; empty, or an error where `strict`, for one that files cannot hold."""
    try:
        text: str = MODELS[type(system).__name__].dumps(system)
    except ModelError:
        if strict:
            raise
        return ""
    return text


def _packed(value: Any) -> Any:
    """A method as name and options, packed recursively; None for a user's own method, or one that contains it."""
    if isinstance(value, tuple | list) and len(value) > MOST_COEFFICIENTS:
        return None
    if not isinstance(value, Method):
        return value
    if type(value) not in REGISTRY.values():
        return None
    taken = inspect.signature(type(value)).parameters
    given = {k: v for k, v in value.__dict__.items() if k in taken}
    options = {k: _packed(v) for k, v in given.items()}
    own = any(options[k] is None and v is not None for k, v in given.items())
    return None if own else {"method": type(value).__name__, "options": options}


def _path(given: Any, role: str) -> Path:
    """The given path of a file; `~` is the home of the user, not a folder of that name."""
    try:
        os.fsencode(os.fspath(given))
        text = os.fsdecode(given)
    except (TypeError, UnicodeEncodeError):
        text = ""
    if not text or "\0" in text:
        raise StartError(f"{role}: got {told(given)} ({type(given).__name__}). Expected the path of a file: 'run.nc'.")
    return Path(os.path.expanduser(text))


def checked_target(path: str | Path) -> Path:
    """The path of a file to write; an error if its suffix is not one of NetCDF."""
    target = _path(path, "save")
    if target.suffix not in SUFFIXES:
        raise StartError(f"save: {target} has no known suffix. A run is a NetCDF file: {', '.join(SUFFIXES)}.")
    return target


def save(run: Trajectory, path: str | Path) -> Path:
    """Write a NetCDF file atomically, so that an earlier file of the name is never lost."""
    target = checked_target(path)
    _model(run.system)
    variables = _variables(run.dataset)
    # Whole numbers as text, since the file has no 64-bit integers.
    given = {**run.dataset.attrs, "format": FORMAT}
    attributes = {k: str(v) if isinstance(v, int) else v for k, v in given.items()}
    attributes["checksum"] = checksum(attributes, {name: v.data for name, v in variables.items()})
    with _replacing(target) as file:
        netcdf.write(file, attributes, variables)
    return target


def _variables(dataset: xarray.Dataset) -> dict[str, netcdf.Variable]:
    """The arrays of a dataset; those of 64-bit integers as pairs of 32 bits, the upper ones first."""
    found = {}
    for name, v in dataset.variables.items():
        data, axes = v.values, tuple(map(str, v.dims))
        if data.dtype == np.int64:
            halves = np.stack([data >> 32, data & (2**32 - 1)], axis=-1)
            data, axes = halves.astype(np.uint32).view(np.int32), (*axes, "run.half")
        found[str(name)] = netcdf.Variable(axes, data, v.attrs)
    return found


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    """A file that becomes the target once it is complete, with the permissions of the one it replaces."""
    target = Path(os.path.realpath(target))  # a link is kept
    mode = None
    if os.path.exists(target):
        if not target.is_file() or not os.access(target, os.W_OK):
            raise StartError(f"save: {target} is not a file that may be written. Save under another name.")
        mode = stat.S_IMODE(target.stat().st_mode)
    draft = target.with_name(f".dalembert-{os.getpid()}-{secrets.token_hex(8)}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            if mode is not None:
                os.chmod(draft, mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except OSError as error:
        raise StartError(f"save: {target} cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    _settle(target.parent)


def _settle(folder: Path) -> None:
    """Flush the folder, and so the new name, to disk, where the system supports it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def load(path: str | Path) -> Trajectory:
    """Read back a run saved by `Trajectory.save`, complete with its system."""
    source = _path(path, "load")
    if not os.path.exists(source):  # also false where the name is too long
        raise StartError(f"load: there is no file {source}. Save a run with run.save({str(source)!r}) first.")
    if not source.is_file():
        raise StartError(f"load: {source} is not a file. Give the path of a run that was saved.")
    return read(source)
