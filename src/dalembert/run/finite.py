"""A run is converged only if everything it records is finite: positions, momenta, velocities, multipliers, energy."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..discrete.system import DiscreteSystem
from ..engine.status import Status
from ..model.system import System
from ..symbolic import free_names
from ..theory.lagrange import mass_matrix
from .trajectory import Trajectory
from .values import Array
from .velocities import NEAR

LARGEST = 1e60
"""States up to this size have polynomials that do not overflow."""

_COMPUTED = ("_positions", "_velocities", "_momenta", "_multipliers", "_entropies")
"""Arrays that a run computes from its records and keeps."""


def ended_where_not_finite(run: Trajectory) -> Trajectory:
    """The run; a lane ends before the first node at which something that is recorded or follows from it is not finite.

    What has no value is outside the domain of an expression; what is infinite, and velocities that momenta do not
    determine, are not finite.
    """
    reached = _reached(run)
    state = _finite(run.records[:, :, : _state_width(run)])
    code = run.codes[:, :1]
    ended = ~np.isin(code, (Status.CONVERGED, Status.EVENT, Status.INTERRUPTED))  # such a lane keeps its reason
    if isinstance(run.system, DiscreteSystem) or _is_always_finite(run):
        end_lanes(run, reached & ~state, np.where(ended, code, Status.NOT_FINITE))
        return run
    energy = run.energy if run.lanes is not None else run.energy[None]
    known = _finite(run._velocities) & state
    inside = known & ~np.isnan(energy)
    complete = inside & np.isfinite(energy) & (_finite(run._multipliers) | _last(run))
    found = np.where(inside | ~known, Status.NOT_FINITE, Status.LEFT_DOMAIN)
    end_lanes(run, reached & ~complete, np.where(ended, code, found))
    return run


def _is_always_finite(run: Trajectory) -> bool:
    """Whether velocities and energy are finite because the state is: polynomials of moderate numbers, constant masses."""
    assert isinstance(run.system, System)
    numbers = (run.records, run._parameter_rows)
    return _is_polynomial(run.system) and all(bool((np.abs(n) < LARGEST).all()) for n in numbers)


@lru_cache(maxsize=64)
def _is_polynomial(system: System) -> bool:
    """Whether L is a polynomial in positions, velocities, parameters and time with a constant mass matrix."""
    moving = {s.name for s in (*system.coordinates, *system.velocities)}
    if system.constraints or system.entropies or free_names(e for row in mass_matrix(system) for e in row) & moving:
        return False
    return bool(system.lagrangian.is_polynomial(*system.lagrangian.free_symbols))


def _state_width(run: Trajectory) -> int:
    """Columns of the state; those of outputs belong to a step, which at the last node need not exist."""
    outputs = ("multiplier.", "constraint.")
    return sum(not name.startswith(outputs) and not name.endswith(f".{NEAR}") for name in run.columns)


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


def end_lanes(run: Trajectory, lost: Array, status: Any) -> None:
    """End lanes before the first node that is lost, with a status for all or one per node; the start stays as given."""
    lanes = np.flatnonzero(lost.any(axis=1))
    told = np.broadcast_to(status, lost.shape)
    for lane in lanes:
        row = int(np.argmax(lost[lane]))
        run.codes[lane, 0] = told[lane, row]
        run.codes[lane, 1] = max(run.begin, _nodes(run)[row] - run.every)
        run.records[lane, max(row, 1) :] = np.nan
    if len(lanes):
        for name in _COMPUTED:
            run.__dict__.pop(name, None)
        run._cache.clear()
