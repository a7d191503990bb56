"""Whether a saved run is an earlier part of one that is asked for, and how far it has come."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engine.status import Status
from .progress import Progress
from .trajectory import Trajectory
from .values import Array


def counted(shown: Progress, before: int) -> Callable[[int, int], None]:
    """Reports the steps of a piece as steps of the whole."""
    return lambda done, _: shown.tell(before + done)


def last_node(run: Trajectory) -> int:
    """The last node that a lane has reached."""
    return int(run.codes[:, 1].max())


def goes_on(run: Trajectory) -> bool:
    """Whether a lane has neither failed nor been stopped."""
    return bool(np.isin(run.codes[:, 0], (Status.CONVERGED, Status.INTERRUPTED)).any())


def steps_to_a_record(run: Trajectory) -> int:
    """The steps from where a run begins to its first record: a run that continues another one may begin between two."""
    return -run.begin % run.every


def differences(found: Trajectory, first: Trajectory) -> list[str]:
    """In what a run in a file is not a continuation of a start."""
    same = {
        "system": found.system == first.system,
        "method": found.method == first.method,
        "h": found.h == first.h,
        "every": found.every == first.every,
        "parameters": set(found.parameters) == set(first.parameters)
        and all(np.array_equal(v, first.parameters[k], True) for k, v in found.parameters.items()),
        "tolerance or max_iterations": found.search == first.search,
        "record": list(found.reductions) == list(first.reductions),
        "precision": found.precision == first.precision,
        "start": (found.t0, found.begin, found.lanes) == (first.t0, first.begin, first.lanes)
        and (not len(found.time) or all(map(_same, begun_as(found), begun_as(first)))),
    }
    return [name for name, equal in same.items() if not equal]


def _same(a: Array, b: Array) -> bool:
    return np.array_equal(a, b, True)


def begun_as(run: Trajectory) -> list[Array]:
    """Positions, entropies and momenta or velocities of the first record, as they were carried."""
    moving = "momentum" if run.carries_momenta else "velocity"
    tables = [run.table("position"), run.table("entropy")]
    tables.append(run.carried_momenta if moving == "momentum" else run.table("velocity"))
    return [t[:, :1] for t in tables]
