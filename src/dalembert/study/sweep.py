"""Compute many motions in chunks, on several processes or machines, into a store from which the same call goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..discrete.system import DiscreteSystem
from ..engine.machine import CPU
from ..errors import DalembertError, MethodError, ModelError, SimulationError, StartError, told
from ..methods.base import Method
from ..methods.own_time import OwnTimeMethod
from ..model.bodies.assembly import Assembly
from ..model.coordinates import Parameter
from ..model.system import System
from ..numbers import reals, whole
from ..run.events import Event
from ..run.options import Options, step_size
from ..run.progress import Progress
from ..run.reductions import reductions
from ..run.replaced_file import locked
from ..run.storage import can_be_saved, model_text, packed_method
from ..run.trajectory import Trajectory
from ..run.values import Array, Values
from .chunk_size import Work, seconds
from .lane_values import Varied, name_of, varied
from .store import KIND, Layout, Store, checked_store, lanes_in
from .study import Study
from .study_events import given_events, numbers_of_events, plain_events, work_of_events
from .work import Job, identity_of_software
from .workers import cores, in_this_process, on_cluster

FORMAT = 1
"""The version of the stores that are written."""

TRIED = 16
"""So many lanes are tried for one whose start is not refused."""


def sweep(
    system: System | DiscreteSystem, method: Method | None = None, *, h: float, vary: Any, store: str | Path,
    until: float | None = None, steps: int | None = None, start: Values | None = None, parameters: Values | None = None,
    record: Mapping[Any, str | Sequence[str]] | None = None, every: int | None = None, samples: int | None = None,
    sequence: str = "sobol", seed: int = 0, chunk: int | None = None, workers: int | None = None,
    scheduler: str | None = None, tolerance: float | None = None, max_iterations: int | None = None, device: str = CPU,
    events: Event | Sequence[Event] = (), crossings: int = 16, progress: bool | Callable[[int, int], None] | None = None,
) -> Study:  # fmt: skip
    """Compute a motion for every value of what varies, into a Zarr folder that xarray reads as one Dataset.

    If processes are killed at any moment, the same call continues, and the store is the same in the end, byte for byte.
    The same call with more values computes only those that are missing. A lane has the bits of the same run alone.

    vary:       a grid {m: [1, 2, 3], x: [0, 0.1]} of parameters and starts; a list of lanes [{m: 1, x: 0}, ...]; a table of
                pandas with a column for each; or, with `samples`, ranges {m: (1, 2), x: (0, 1)} from which so many points
                are drawn
    store:      the folder, "study.zarr"
    start, parameters: what is the same for all lanes; what varies replaces it
    record:     {x: "largest", "energy": "drift"}: numbers kept over all nodes, as in `simulate`; besides, the state at the end
                is kept
    every:      keep every `every`-th node of each lane too
    sequence:   "sobol" or "halton", quasi-random, or "random"; `seed` is a whole number
    chunk:      lanes that are computed and written at once
    workers:    processes on this machine, by default one for each core; 0 computes in this process
    scheduler:  the address of a Dask scheduler, "tcp://...", or its file, "scheduler.json", instead of processes here
    events:     what happens where expressions cross zero, as in `simulate`; a lane that an event stops ends there
    crossings:  so many crossings of each lane are kept, the first ones, with the state there; all of them are counted
    progress:   True or False shows a bar with the remaining time or not; or a function called with (lanes done, lanes in all)
    Others:     as in `simulate`. Needs the extra `study`: pip install 'dalembert[study]'
    """
    stated = system.system if isinstance(system, Assembly) else system
    _check_system(stated, method)
    path, lanes = checked_store(store), varied(vary, samples, sequence, seed)
    watched, room = given_events(events, crossings, stated, method, lanes.names)
    where = _Where(scheduler, _workers(workers, scheduler, device))
    Progress(progress, 0)  # refuses what is none before anything is written
    fixed = {
        "system": stated, "method": method, "h": step_size(h), "tolerance": tolerance, "max_iterations": max_iterations,
        "device": device, "record": record, "start": _fixed(start, lanes.names, "start"),
        "parameters": _fixed(parameters, lanes.names, "parameters"), "events": watched,
    }  # fmt: skip
    asked = Options(step_size(h), until, steps, every, device=device)
    job, layout, provenance = _prepared(Job(fixed, lanes.names, every is not None, 0, room), lanes, asked, chunk, where)
    with locked(path):
        opened = Store.opened(path, lanes, layout, provenance)
        _compute(opened, job, lanes, where, progress)
    return Study(opened, job)


def _prepared(
    stated: Job, lanes: Varied, asked: Options, chunk: Any, where: _Where
) -> tuple[Job, Layout, dict[str, Any]]:  # fmt: skip
    """What is computed, what a store has room for, and its provenance, from the start of one lane."""
    given = stated.arguments
    tried = _tried(replace(stated, arguments={**given, "device": CPU}), lanes)
    asked.place(given["method"])
    extent = asked.extent(tried.t0)
    every = extent.every if stated.recorded else max(extent.steps, 1)
    records = extent.records if stated.recorded else 2
    job = replace(stated, arguments={**given, "steps": extent.steps, "every": every}, rows=records)
    kept = reductions(given["record"], given["system"], given["method"])
    lane, columns = max(extent.steps, 1) * seconds(tried, kept), tried.records.shape[2]
    numbers = columns * records
    if job.events:
        lane += work_of_events(extent.steps, room=job.crossings)
        numbers += columns * numbers_of_events(job.crossings)
    size = Work(len(lanes.table), lane, numbers).chunk(chunk, max(where.workers, 1))
    times = _times(tried, every, records) if job.recorded else None
    layout = Layout(len(lanes.table), size, lanes.names, job.outcome(tried), times)
    layout.check_names()
    return job, layout, _provenance(job, lanes, tried)


@dataclass(frozen=True)
class _Where:
    scheduler: str | None
    workers: int


def _check_system(system: Any, method: Any) -> None:
    if not isinstance(system, System | DiscreteSystem):
        own = next(
            (n for n in ("motion", "system") if isinstance(getattr(system, n, None), System | DiscreteSystem)), ""
        )
        advice = f"; of a reduced system give its .{own}, with starts in its own variables" if own else ""
        raise MethodError(f"sweep: got {told(system)}. Expected a System or a DiscreteSystem{advice}.")
    if isinstance(method, Method) and not can_be_saved(method):
        alone = isinstance(method, OwnTimeMethod)
        how = "one after the other" if alone else "together: arrays in start and parameters"
        raise MethodError(
            f"sweep: a store cannot hold {method!r}, a method of your own or one with expressions, so it could not be told "
            f"that a study is continued with the same method. Compute its motions with simulate, {how}."
        )
    try:
        model_text(system)
    except ModelError as error:
        raise ModelError(f"sweep: a store cannot hold this system: {error}") from None


def _fixed(given: Any, names: Sequence[str], role: str) -> dict[Any, Any]:
    """What is the same for all lanes, without what varies."""
    if (given is not None and not hasattr(given, "items")) or isinstance(given, Trajectory):
        raise StartError(f"{role}: got {told(given)}. Expected {{symbol: number, ...}}; what varies belongs in vary=.")
    kept = {key: value for key, value in (given or {}).items() if name_of(key) not in names}
    for key, value in kept.items():
        single = isinstance(key, Parameter) or role == "parameters"
        if single and np.ndim(value):
            raise StartError(
                f"{role}: {name_of(key)} = {told(value)}. Several values belong in vary={{{name_of(key)}: ...}}."
            )
    return kept


def _tried(job: Job, lanes: Varied) -> Trajectory:
    """The start of a lane: whatever is wrong with all lanes is said before anything is written."""
    first: DalembertError | None = None
    count = len(lanes.table)
    for place in dict.fromkeys(round(i * (count - 1) / TRIED) for i in range(TRIED + 1)):
        try:
            found = job.simulate(lanes.table[place : place + 1], steps=0)
        except StartError as error:
            first = first or error
            continue
        if found.lanes != 1:
            raise StartError("start: arrays make no lanes in a study. What varies belongs in vary=.")
        return found
    assert first is not None
    raise first


def _times(run: Trajectory, every: int, records: int) -> Array:
    """The times of records, as a run computes them."""
    times: Array = run.t0 + run.h * (every * np.arange(records))
    return times


def _workers(given: Any, scheduler: Any, device: str) -> int:
    if scheduler is not None:
        if not isinstance(scheduler, str) or not scheduler:
            raise StartError(
                f"scheduler: got {told(scheduler)}. Expected an address, 'tcp://host:8786', or a file, 'scheduler.json'."
            )
        if given is not None:
            raise MethodError(
                "give workers= (processes of this machine) or scheduler= (a cluster, which has its own), not both."
            )
        return 0
    if given is None:
        return cores() if device == "cpu" else 1
    expected = "processes on this machine; give a whole number, 0 to compute in this process"
    return whole(given, "workers", MethodError, expected=expected)


def _provenance(job: Job, lanes: Varied, tried: Trajectory) -> dict[str, Any]:
    """Where the numbers come from, as plain data: what a study must share with the store that it goes on with."""
    given = job.arguments
    system, method = given["system"], given["method"]

    def plain(values: Mapping[Any, Any], role: str) -> dict[str, Any]:
        return {name_of(k): reals(v, f"{role}: {name_of(k)}").tolist() for k, v in values.items()}

    kept = reductions(given["record"], system, method)
    return {
        "kind": KIND, "format": FORMAT, "title": system.name, "software": identity_of_software(),
        "system": json.loads(model_text(system)), "model_kind": type(system).__name__, "method": repr(method),
        "method_options": packed_method(method), "h": given["h"], "t0": float(tried.t0), "steps": given["steps"],
        "every": given["every"], "record": [r.title for r in kept], "tolerance": tried.search.tolerance,
        "max_iterations": tried.search.max_iterations, "device": given["device"],
        "start": plain(given["start"], "start"), "parameters": plain(given["parameters"], "parameters"),
        "events": plain_events(given["events"]), "crossings": job.crossings if given["events"] else 0,
        "varied": list(lanes.names), "sampling": None if lanes.sampling is None else dict(lanes.sampling),
    }  # fmt: skip


def _compute(store: Store, job: Job, lanes: Varied, where: _Where, wanted: Any) -> None:
    """All lanes that are wanted and missing."""
    asked = lanes_in(store.table, lanes.table)
    total, done = int(asked.sum()), 0
    missing = {}
    for k in range(store.layout.chunks):
        here = asked[store.layout.part(k)]
        lacking = store.missing(k) & here
        done += int((here & ~lacking).sum())
        if lacking.any():
            missing[k] = lacking
    with Progress(wanted, total) as shown:

        def put(k: int, which: Array, results: Mapping[str, Array]) -> None:
            nonlocal done
            store.put(k, which, results)
            done += int(which.sum())
            shown.tell(done)

        def parts() -> Iterator[tuple[int, Array, Array]]:
            for k, which in missing.items():
                yield k, which, store.table[store.layout.part(k)][which]

        shown.tell(done)
        if not missing:
            return
        try:
            if where.scheduler is None and not where.workers:
                in_this_process(job, parts(), put)
            else:
                on_cluster(job, parts(), put, where.scheduler, min(where.workers, len(missing)))
        except SimulationError as error:  # Ctrl-C
            text = f"sweep: interrupted. {store.path} has {done} of {total} lanes, and the same call goes on."
            raise SimulationError(text, error.trajectory) from None
        except (StartError, MethodError) as error:
            text = str(error).rstrip(".")
            raise type(error)(
                f"{text}. {store.path} has {done} of {total} lanes, and the same call goes on."
            ) from error
