"""Deviations along a run: against the sizes of the terms of a quantity, in any units; whether they are a drift."""

from __future__ import annotations

import numpy as np

from ..discrete import equations as discrete
from ..discrete.system import DiscreteSystem
from ..model.coordinates import time
from ..model.system import System
from ..symbolic import Fast, fast, free_names, magnitude
from .trajectory import Trajectory
from .values import Array, point_map

ROUNDING = 1e-11
"""The largest relative deviation that counts as rounding error, however long the run: what "exact" has to stay below."""

ONE_STEP = 1e-14
"""The same for one step; rounding errors of a conserved quantity add up like a random walk, with the root of the steps."""


def rounding(run: Trajectory, size: Array, constant: Array) -> float:
    """The relative deviation that counts as rounding after the steps of this run, for terms of these sizes."""
    accumulated = min(ROUNDING, ONE_STEP * np.sqrt(1 + run.every * (len(run.time) - 1)))
    scale, offset = (float(np.max(a, initial=0.0, where=np.isfinite(a))) for a in (size, constant))
    return float(accumulated + (4 * np.finfo(float).eps * offset / scale if scale > 0 else 0.0))


def term_sizes(run: Trajectory, expression: Fast) -> tuple[Array, Array]:
    """The size of the terms of a quantity that vary along a motion, and of those that do not.

    Deviations are measured by what varies; a constant term contributes only rounding errors.
    """
    assert isinstance(run.system, System)
    e, system = fast(expression).expand(), run.system
    moving = {s.name for s in (*system.coordinates, *system.velocities, *system.entropies, time)}
    terms = e.args if e.is_Add else (e,)
    varying, constant = ([x for x in terms if bool(free_names([x]) & moving) is varies] for varies in (True, False))
    sizes = [np.atleast_2d(run.quantity(magnitude(sum(part, start=fast(0))))) for part in (varying, constant)]
    return sizes[0], sizes[1]


def entropy_size(run: Trajectory, system: System) -> Array:
    """The largest entropy, change of one, or heat capacity T/(dT/dS) of each lane.

    An entropy is known up to a constant, so a small one does not say what is small; the heat capacity does.
    """
    capacity = [T / T.diff(S) for S, T in zip(system.entropies, system.temperatures, strict=True) if T.diff(S) != 0]
    tables = [np.atleast_2d(run.quantity(fast(c))) for c in capacity]
    tables += list(np.moveaxis(run._entropies, -1, 0))
    tables += [np.diff(S, axis=1) for S in np.moveaxis(run._entropies, -1, 0)]
    return np.max([np.max(np.abs(a), axis=1, initial=0.0, where=np.isfinite(a)) for a in tables], axis=0)


def discrete_terms(run: Trajectory, system: DiscreteSystem) -> Array:
    """The sizes of the terms of momenta and constraints at the records: mean velocities from one to the next."""
    known = run._columns([c.name for c in (*system.coordinates, *system.entropies)])
    rates = np.diff(known, axis=1, append=known[:, -1:]) / (run.h * run.every)
    if rates.shape[1] > 1:
        rates[:, -1] = rates[:, -2]
    compiled = point_map(discrete.term_sizes(system))
    inputs = (np.column_stack([q, v, run.time]) for q, v in zip(known, rates, strict=True))
    return np.stack([compiled(x, row[None, :], h=run.h)[0] for x, row in zip(inputs, run._parameter_rows, strict=True)])


def relative(error: Array, size: Array) -> Array:
    """Errors in units of the largest size of the terms; of a quantity without terms, in units of itself."""
    known = [np.max(np.abs(a), initial=0.0, where=np.isfinite(a)) for a in (size, error)]
    with np.errstate(invalid="ignore", over="ignore"):
        return error / next((scale for scale in known if scale > 0), 1.0)


def largest(error: Array) -> float:
    """The largest absolute value, where there are numbers."""
    return float(np.max(np.abs(error), initial=0.0, where=np.isfinite(error))) if np.isfinite(error).any() else np.nan


def drift(error: Array) -> float:
    """How far the straight line fitted to an error moves over the run: that of an oscillation hardly moves."""
    known = error[np.isfinite(error)]
    place = np.linspace(-1, 1, len(known))
    return float(2 * abs(place @ known) / (place @ place)) if len(known) > 3 else 0.0


def turns(error: Array) -> int:
    """How often the error turns back, rounding aside."""
    known = error[np.isfinite(error)]
    moves = np.sign(np.diff(known)[np.abs(np.diff(known)) > ONE_STEP])
    return int(np.count_nonzero(moves[1:] != moves[:-1]))
