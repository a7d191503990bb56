"""The result of a study: its store, the lanes that failed, and any lane computed again alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.status import Status
from ..errors import ModelError, StartError
from ..model.coordinates import time
from ..numbers import reals
from ..run.trajectory import Trajectory
from ..run.values import Array
from ..run.zarr_file import MISSING
from .lane_values import name_of
from .store import Store
from .work import NOT_COMPUTED, REFUSED, Job

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class FailedLane:
    """A lane that did not come to its end."""

    lane: int
    status: Status | None
    """How it ended; None if its start or its parameters were refused."""
    last_step: int
    """Its last valid step; -1 if there is none."""
    parameters: Mapping[str, Any]
    start: Mapping[str, Any]

    def __str__(self) -> str:
        why = "start or parameters refused" if self.status is None else self.status.sentence
        given = ", ".join(f"{k} = {v}" for k, v in {**self.parameters, **self.start}.items())
        return f"lane {self.lane}, after step {self.last_step}: {why}; {given}"


class Study:
    """The motions of a study. `dataset` reads them, `failed` lists lanes that failed, `run(lane)` computes one alone."""

    def __init__(self, store: Store, job: Job):
        self._store, self._job = store, job

    @property
    def path(self) -> Path:
        """The folder of the store."""
        return self._store.path

    @property
    def lanes(self) -> int:
        """The number of lanes."""
        return self._store.layout.lanes

    def __len__(self) -> int:
        return self.lanes

    @property
    def dataset(self) -> xarray.Dataset:
        """Everything as an xarray Dataset that reads from the store what it is asked for; what varies are coordinates."""
        import xarray

        try:
            import zarr  # noqa: F401
        except ImportError:
            raise ModelError(MISSING.format("zarr")) from None
        return xarray.open_dataset(self.path, engine="zarr", chunks=None, consolidated=True)

    @property
    def failed(self) -> tuple[FailedLane, ...]:
        """The lanes that were refused or did not come to their end, with what each was given."""
        status, last = self._store.column("status"), self._store.column("last_step")
        bad = np.flatnonzero(_failed(status))
        return tuple(self._failed(int(i), int(status[i]), int(last[i])) for i in bad)

    def _failed(self, lane: int, status: int, last: int) -> FailedLane:
        given, own = self._job.arguments, {p.name for p in self._job.arguments["system"].parameters}
        values = dict(zip(self._job.names, self._store.table[lane].tolist(), strict=True))
        fixed = {
            role: {name_of(k): reals(v, role).tolist() for k, v in given[role].items()}
            for role in ("parameters", "start")
        }
        return FailedLane(
            lane, None if status == REFUSED else Status(status), last,
            fixed["parameters"] | {k: v for k, v in values.items() if k in own},
            fixed["start"] | {k: v for k, v in values.items() if k not in own},
        )  # fmt: skip

    def run(self, lane: int, **changes: Any) -> Trajectory:
        """A lane computed again alone, every step recorded; changes are arguments of `simulate`, such as h=0.001.

        A lane that fails raises, as `simulate` does, and the error says why.
        """
        if not isinstance(lane, int | np.integer) or not 0 <= lane < self.lanes:
            raise StartError(f"run: lane = {lane!r}. Expected the number of a lane, from 0 to {self.lanes - 1}.")
        if "h" in changes and not {"steps", "until"} & set(changes):
            given = self._job.arguments
            changes |= {"steps": None, "until": self._end(given)}
        if "until" in changes:
            changes.setdefault("steps", None)
        return self._job.simulate(self._store.table[lane], **{"every": 1, "strict": True} | changes)

    def _end(self, given: Mapping[str, Any]) -> float:
        t0 = next((float(v) for k, v in given["start"].items() if name_of(k) == time.name), 0.0)
        return float(t0 + given["h"] * given["steps"])

    def __repr__(self) -> str:
        status = self._store.column("status")
        failed = int(_failed(status).sum())
        left = int((status == NOT_COMPUTED).sum())
        name, varies = self._job.arguments["system"].name, ", ".join(self._job.names)
        told = f", {failed} failed" * bool(failed) + f", {left} not computed" * bool(left)
        return f"<Study of {name!r}: {self.lanes} lanes over {varies}{told}, in {self.path.name}>"


def _failed(status: Array) -> Array:
    """Which lanes neither came to their end nor were stopped by an event."""
    return ~np.isin(status, (Status.CONVERGED, Status.EVENT, NOT_COMPUTED))
