"""A Trajectory as an xarray Dataset and as a NetCDF file."""

from __future__ import annotations

import inspect
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..discrete.system import DiscreteSystem
from ..engine.machine import DOUBLE
from ..errors import ModelError
from ..methods import REGISTRY
from ..methods.base import Method
from ..model.space import factors, lines
from ..model.system import System
from . import netcdf
from .replaced_file import replacing
from .run_file import FORMAT, MODELS, MOST_COEFFICIENTS, checksum
from .trajectory import Trajectory

if TYPE_CHECKING:
    import xarray


def named_arrays(run: Trajectory) -> dict[str, Any]:
    """What people read at every record, by name, as axes, data and attributes: positions, velocities, momenta, energy."""
    over = ("time",) if run.lanes is None else ("lane", "time")
    variables: dict[str, Any] = {}
    for f in factors(run.system.coordinates):
        if f.numbers:  # else only a velocity is known
            variables[f.name] = ((*over, *(f"{f.name}.{part}" for part in f.axes)), run[f.name])
        vectors = f.spatial or f.vectors
        for vector in vectors:
            told = {"long_name": f"{vector.name}, components {f.vectors_are}"}
            part = f.name if len(vectors) == 2 else vector.name
            variables[vector.name] = ((*over, f"{part}.component"), run[vector], told)
    for q in lines(run.system.coordinates):
        variables[q.dot.name] = (over, run[q.dot], {"long_name": f"velocity of {q}"})
        variables[q.momentum.name] = (over, run[q.momentum], {"long_name": f"momentum of {q}"})
    for S in run.system.entropies:
        variables[S.name] = (over, run[S], {"long_name": f"entropy {S}"})
    if run.system.constraints:
        variables[_free("multipliers", run)] = ((*over, _free("constraint", run)), run.multipliers)
    if run.system.continuous is not None:
        variables[_free("energy", run)] = (over, run.energy, {"long_name": "energy"})
    return variables


def to_dataset(run: Trajectory) -> xarray.Dataset:
    """Named variables for people (positions, velocities, momenta, multipliers, energy), `records` for `load`."""
    import xarray

    def axis(name: str) -> str:
        return _free(name, run)

    each, variables = axis("run"), named_arrays(run)
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
    if run.reductions:
        variables["run.reductions"] = ((each, axis("reduction")), np.stack(list(run.reductions.values()), axis=1))
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
        "method_options": json.dumps(packed_method(run.method)),
        "h": float(run.h),
        "every": run.every,
        "t0": float(run.t0),
        "first_step": run.begin,
        "lanes": -1 if run.lanes is None else run.lanes,
        "model": model_text(run.system, strict=False),
        "model_kind": type(run.system).__name__,
        "columns": json.dumps(run.columns),
        "parameters": json.dumps({k: np.asarray(v).tolist() for k, v in run.parameters.items()}),
        "events": json.dumps([asdict(c) for c in run.events]),
        "renewed": json.dumps(run.renewed),
        "tolerance": run.search.tolerance,
        "max_iterations": run.search.max_iterations,
        **({"reductions": json.dumps(list(run.reductions))} if run.reductions else {}),
        **({"precision": run.precision} if run.precision != DOUBLE else {}),
    }


def model_text(system: System | DiscreteSystem, strict: bool = True) -> str:
    """The system as text; empty, or an error where `strict`, for one that files cannot hold."""
    try:
        text: str = MODELS[type(system).__name__].dumps(system)
    except ModelError:
        if strict:
            raise
        return ""
    return text


def packed_method(value: Any) -> Any:
    """A method as name and options, packed recursively; None for a user's own method, or one that contains it."""
    if isinstance(value, tuple | list) and len(value) > MOST_COEFFICIENTS:
        return None
    if not isinstance(value, Method):
        return value
    if type(value) not in REGISTRY.values():
        return None
    taken = inspect.signature(type(value)).parameters
    given = {k: v for k, v in value.__dict__.items() if k in taken}
    options = {k: packed_method(v) for k, v in given.items()}
    own = any(options[k] is None and v is not None for k, v in given.items())
    return None if own else {"method": type(value).__name__, "options": options}


def can_be_saved(method: Method | None) -> bool:
    """Whether a file can hold the method of a run: not one of a user's own."""
    return method is None or packed_method(method) is not None


def save_netcdf(run: Trajectory, target: Path) -> Path:
    """Write a NetCDF file atomically, so that an earlier file of the name is never lost."""
    attributes, variables = contents(run)
    with replacing(target) as file:
        netcdf.write(file, attributes, variables)
    return target


def contents(run: Trajectory) -> tuple[dict[str, Any], dict[str, netcdf.Variable]]:
    """What a file of a run holds, in any format: attributes and arrays, as `run_file.read` takes them."""
    model_text(run.system)
    variables = _variables(run.dataset)
    # Whole numbers as text, since a NetCDF file has no 64-bit integers.
    given = {**run.dataset.attrs, "format": FORMAT}
    attributes = {k: str(v) if isinstance(v, int) else v for k, v in given.items()}
    attributes["checksum"] = checksum(attributes, {name: v.data for name, v in variables.items()})
    return attributes, variables


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
