"""A Trajectory as an xarray Dataset and as a NetCDF file, and back."""

from __future__ import annotations

import inspect
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..discrete import serial as discrete_serial
from ..discrete.system import DiscreteSystem
from ..errors import StartError
from ..methods import REGISTRY
from ..methods.base import Method
from ..model import serial
from ..model.system import System
from .events import Crossing
from .trajectory import Trajectory

if TYPE_CHECKING:
    import xarray


def to_dataset(run: Trajectory) -> xarray.Dataset:
    """Named variables for people (positions, velocities, momenta, multipliers, energy), `records` for `load`."""
    import xarray

    over = ("time",) if run.lanes is None else ("lane", "time")
    variables: dict[str, Any] = {}
    for q in run.system.coordinates:
        variables[q.name] = (over, run[q])
        variables[q.dot.name] = (over, run[q.dot], {"long_name": f"velocity of {q}"})
        variables[q.momentum.name] = (over, run[q.momentum], {"long_name": f"momentum of {q}"})
    for S in run.system.entropies:
        variables[S.name] = (over, run[S], {"long_name": f"entropy {S}"})
    if run.system.constraints:
        variables[_free("multipliers", run)] = ((*over, "constraint"), run.multipliers)
    if isinstance(run.system, System):
        variables[_free("energy", run)] = (over, run.energy, {"long_name": "energy"})
    variables |= {
        _free("status", run): (("run",), run.codes[:, 0].astype(np.int32), {"long_name": "0: every step converged"}),
        "run.last_step": (("run",), run.codes[:, 1].astype(np.int32)),
        "run.iterations": (("run",), run.codes[:, 2].astype(float)),
        "run.corrections": (("run",), run.codes[:, 3].astype(float)),
        "run.residual": (("run",), run.residual),
        "run.parameters": (("run", "parameter"), run._parameter_rows),
        "run.carry": (("run", "carried"), run.carry),
        "run.records": (("run", "time", "column"), run.records),
    }
    if run.watched is not None:
        variables["run.watched"] = (("watch", "run", "event"), run.watched)
    if not run.system.parameters:  # NetCDF takes an empty axis for an unlimited one
        del variables["run.parameters"]
    return xarray.Dataset(variables, coords={"time": run.time}, attrs=_provenance(run))


def _free(name: str, run: Trajectory) -> str:
    """The name of a quantity, unless a coordinate has it."""
    return f"run.{name}" if any(q.name == name for q in (*run.system.coordinates, *run.system.entropies)) else name


def _provenance(run: Trajectory) -> dict[str, Any]:
    """Where the numbers come from, as plain text and numbers."""
    return {
        "title": run.system.name,
        "software": f"dalembert {run.version}",
        "method": repr(run.method),
        "method_options": json.dumps(_packed(run.method)),
        "h": run.h,
        "every": run.every,
        "t0": run.t0,
        "first_step": run.begin,
        "lanes": -1 if run.lanes is None else run.lanes,
        "model": _model(run.system),
        "model_kind": type(run.system).__name__,
        "columns": json.dumps(run.columns),
        "parameters": json.dumps({k: np.asarray(v).tolist() for k, v in run.parameters.items()}),
        "events": json.dumps([asdict(c) for c in run.events]),
        "renewed": json.dumps(run.renewed),
    }


def _model(system: System | DiscreteSystem) -> str:
    return discrete_serial.dumps(system) if isinstance(system, DiscreteSystem) else serial.dumps(system)


def _packed(value: Any) -> Any:
    """A method as its name and options, those again packed; of a user's own method, or one made of it, nothing."""
    if not isinstance(value, Method):
        return value
    if type(value) not in REGISTRY.values():
        return None
    taken = inspect.signature(type(value)).parameters
    given = {k: v for k, v in value.__dict__.items() if k in taken}
    options = {k: _packed(v) for k, v in given.items()}
    own = any(options[k] is None and v is not None for k, v in given.items())
    return None if own else {"method": type(value).__name__, "options": options}


def _unpacked(data: Any) -> Any:
    if isinstance(data, dict):
        return REGISTRY[data["method"]](**{k: _unpacked(v) for k, v in data["options"].items()})
    return data


def save(run: Trajectory, path: str | Path) -> Path:
    """Write a NetCDF file."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    run.dataset.to_netcdf(target, engine="scipy", format="NETCDF3_64BIT")
    return target


def load(path: str | Path) -> Trajectory:
    """Read back a run saved by `Trajectory.save`, complete with its system."""
    import xarray

    source = Path(path)
    if not source.exists():
        raise StartError(f"load: there is no file {source}. Save a run with run.save({str(source)!r}) first.")
    try:
        with xarray.open_dataset(source, engine="scipy") as opened:
            data = opened.load()
        given = data.attrs
        kind = given["model_kind"]
        system = (discrete_serial if kind == "DiscreteSystem" else serial).loads(given["model"])
    except (KeyError, TypeError, ValueError, OSError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise StartError(f"load: {source} is not a run saved by dalembert ({first[:80]}).") from None
    status = "run.status" if "run.status" in data else "status"
    names = (status, "run.last_step", "run.iterations", "run.corrections")
    codes = np.stack([data[k].values.astype(np.int64) for k in names], axis=1)
    return Trajectory(
        system=system,
        method=_unpacked(json.loads(given["method_options"])),
        h=float(given["h"]),
        every=int(given["every"]),
        time=data["time"].values.astype(float),
        parameters={k: np.asarray(v, dtype=float) for k, v in json.loads(given["parameters"]).items()},
        records=np.ascontiguousarray(data["run.records"].values, dtype=float),
        columns=tuple(json.loads(given["columns"])),
        codes=codes,
        residual=data["run.residual"].values.astype(float),
        lanes=None if int(given["lanes"]) < 0 else int(given["lanes"]),
        carry=np.ascontiguousarray(data["run.carry"].values, dtype=float),
        begin=int(given["first_step"]),
        t0=float(given["t0"]),
        version=str(given["software"]).split()[-1],
        events=tuple(Crossing(**c) for c in json.loads(given["events"])),
        renewed=tuple(json.loads(given.get("renewed", "[]"))),
        watched=data["run.watched"].values.astype(float) if "run.watched" in data else None,
    )
