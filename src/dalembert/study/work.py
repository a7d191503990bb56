"""What is computed for some lanes of a study: a run of them, and the numbers of it that a store keeps."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.backends import threads
from ..engine.machine import BACKENDS, CPU, VECTORS
from ..errors import MethodError, StartError
from ..run.events import Event
from ..run.simulate import simulate
from ..run.trajectory import Trajectory
from ..run.values import Array
from .study_events import at_ends, at_records, crossing_tables

NOT_COMPUTED, REFUSED = -1, -2
"""Status of a lane that has not been computed, and of one whose start or parameters were refused."""

DECIDING = ("numpy", "scipy", "sympy", "symengine", "llvmlite")
"""The libraries whose version may change the bits of a motion."""


@dataclass(frozen=True)
class Job:
    """What a worker needs of a study: the arguments of `simulate`, of which some vary from lane to lane."""

    arguments: Mapping[str, Any]
    """Those that are the same for all lanes; the start and the parameters by name."""
    names: tuple[str, ...]
    """What varies."""
    recorded: bool
    """Whether records over time are kept, or only their last."""
    rows: int = 0
    """How many records are kept over time."""
    crossings: int = 0
    """How many crossings of events are kept of each lane."""

    @property
    def events(self) -> tuple[Event, ...]:
        """What is looked for along each motion."""
        found: tuple[Event, ...] = self.arguments.get("events", ())
        return found

    def simulate(self, values: Array, **changes: Any) -> Trajectory:
        """The run of some lanes, (lanes, names), or of one without an axis of lanes, (names)."""
        system, given = self.arguments["system"], dict(self.arguments)
        own = {p.name for p in system.parameters}
        columns = dict(zip(self.names, np.ascontiguousarray(values.T), strict=True))
        given["parameters"] = given["parameters"] | {k: v for k, v in columns.items() if k in own}
        given["start"] = given["start"] | {k: v for k, v in columns.items() if k not in own}
        return simulate(**given | {"progress": False, "strict": False} | changes)

    def results(self, values: Array) -> dict[str, Array]:
        """The numbers of some lanes, by name. Lanes that are refused are found by halving, and marked."""
        try:
            return {name: r.data for name, r in self.outcome(self.simulate(values)).items()}
        except StartError:
            if len(values) == 1:
                return {"status": np.full(1, REFUSED, dtype=np.int8)}
        half = len(values) // 2
        return joined(self.results(values[:half]), half, self.results(values[half:]), len(values) - half)

    def outcome(self, run: Trajectory) -> dict[str, Result]:
        """What a store keeps of a run with lanes; the status comes last."""
        found = {title: Result(("lane",), values, title) for title, values in run.reductions.items()}
        over = at_records(run, self.rows) if self.recorded else at_ends(run)
        for name, (axes, data, *attributes) in over.items():
            about = attributes[0]["long_name"] if attributes else name
            if self.recorded:
                found[f"recorded {name}"] = Result(axes, data, f"{about}, at the recorded times")
            else:
                found[f"end {name}"] = Result(("lane", *axes[2:]), data, f"{about}, at the end")
        if self.events:
            tables = crossing_tables(run, [e.name for e in self.events], self.crossings)
            found |= {name: Result(*parts) for name, parts in tables.items()}
        found["last_step"] = Result(("lane",), run.codes[:, 1], "the last valid step")
        found["status"] = Result(
            ("lane",), run.codes[:, 0].astype(np.int8), f"0: every step converged, {NOT_COMPUTED}: not computed yet, "
            f"{REFUSED}: start or parameters refused, else dalembert.Status",
        )  # fmt: skip
        return {name: r for name, r in found.items() if r.data[0].size}


@dataclass(frozen=True)
class Result:
    """A number, or several, for each lane; the first axis is that of lanes."""

    axes: tuple[str, ...]
    data: Array
    about: str = ""


def joined(first: Mapping[str, Array], left: int, second: Mapping[str, Array], right: int) -> dict[str, Array]:
    """The results of two groups of lanes; what a group of refused lanes lacks is not a number, and no step was valid."""
    whole = {}
    for name in dict.fromkeys([*first, *second]):
        sides = []
        like = first.get(name, second.get(name))
        assert like is not None
        for side, count in ((first, left), (second, right)):
            missing = np.full((count, *like.shape[1:]), np.nan if like.dtype.kind == "f" else -1, dtype=like.dtype)
            sides.append(side.get(name, missing))
        whole[name] = np.concatenate(sides)
    return whole


# on workers
def compute(packed: bytes, identity: Mapping[str, str], values: Array) -> tuple[dict[str, Array], str]:
    """The results of some lanes and the processor they were computed on; runs on a worker, on one core."""
    here = identity_of_software()
    if different := [f"{k} {here.get(k)} instead of {v}" for k, v in identity.items() if here.get(k) != v]:
        raise MethodError(f"it has {', '.join(different)}")
    threads.LIMIT.most = 1
    job = _job(packed)
    return job.results(values), processor(job.arguments["device"])


@lru_cache(maxsize=2)
def _job(packed: bytes) -> Job:
    """The job of a pickle; cached, so that what was compiled for its system is found again."""
    job: Job = pickle.loads(packed)
    return job


@cache
def identity_of_software() -> dict[str, str]:
    """The versions that decide the bits of a motion."""
    from .. import __version__

    found = {"dalembert": f"{__version__} (sources {_sources()})"}
    for name in DECIDING:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "of unknown version"
    return found


def _sources() -> str:
    """A digest of the sources of the package: a version number says too little about a working copy."""
    root, digest = Path(__file__).parents[1], hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(f"{file.relative_to(root).as_posix()}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def processor(device: str) -> str:
    """The kind of processor: code is compiled for it, so motions have the same bits on processors of one kind."""
    import llvmlite.binding

    name = str(llvmlite.binding.get_host_cpu_name())
    return name if device in (CPU, VECTORS) else f"{name} with {BACKENDS[device].processor()}"
