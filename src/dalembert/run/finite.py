"""A run is converged only if everything it records is finite: positions, momenta, velocities, multipliers, energy."""

from __future__ import annotations

import numpy as np

from ..discrete.system import DiscreteSystem
from ..engine.status import Status
from .trajectory import Trajectory
from .values import Array

_COMPUTED = ("_positions", "_velocities", "_momenta", "_multipliers", "_entropies")
"""Arrays that a run computes from its records and keeps."""


def ended_where_not_finite(run: Trajectory) -> Trajectory:
    """The run; a lane ends before the first node at which something that is recorded or follows from it is not finite.

    What has no value is outside the domain of an expression; what is infinite, and velocities that momenta do not
    determine, are not finite.
    """
    reached = _reached(run)
    if isinstance(run.system, DiscreteSystem):
        _end(run, reached & ~_finite(run.records[:, :, : _state_width(run)]), None)
        return run
    energy = run.energy if run.lanes is not None else run.energy[None]
    known = _finite(run._velocities) & _finite(run.records[:, :, : _state_width(run)])
    inside = known & ~np.isnan(energy)
    complete = inside & np.isfinite(energy) & (_finite(run._multipliers) | _last(run))
    _end(run, reached & ~complete, np.where(inside | ~known, Status.NOT_FINITE, Status.LEFT_DOMAIN))
    return run


def _state_width(run: Trajectory) -> int:
    """Columns of the state; those of outputs belong to a step, which at the last node need not exist."""
    return sum(not name.startswith(("multiplier.", "constraint.")) for name in run.columns)


def _finite(table: Array) -> Array:
    return np.asarray(np.isfinite(table).all(axis=-1))


def _nodes(run: Trajectory) -> Array:
    """The numbers of the recorded nodes."""
    return run.every * (-(-run.begin // run.every) + np.arange(len(run.time)))


def _reached(run: Trajectory) -> Array:
    """Which nodes each lane has reached."""
    return _nodes(run)[None, :] <= run.codes[:, 1:2]


def _last(run: Trajectory) -> Array:
    """Which node is the last of each lane: the multipliers there are those of a step that need not exist."""
    return _nodes(run)[None, :] == run.codes[:, 1:2]


def _end(run: Trajectory, lost: Array, status: Array | None) -> None:
    """End lanes at the first node that is lost; the first node of all stays as it was given."""
    lanes = np.flatnonzero(lost.any(axis=1))
    for lane in lanes:
        row = int(np.argmax(lost[lane]))
        code = Status.NOT_FINITE if status is None else status[lane, row]
        if run.codes[lane, 0] in (Status.CONVERGED, Status.EVENT):
            run.codes[lane, 0] = code
        run.codes[lane, 1] = max(run.begin, _nodes(run)[row] - run.every)
        run.records[lane, max(row, 1) :] = np.nan
    if len(lanes):
        for name in _COMPUTED:
            run.__dict__.pop(name, None)
        run._cache.clear()
