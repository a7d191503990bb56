"""Deviations along a run, relative to the sizes of the terms of a quantity, in any units; whether they are a drift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from ...discrete import equations as discrete
from ...discrete.system import DiscreteSystem
from ...model.coordinates import time
from ...model.space import position_symbols
from ...model.system import System
from ...run.trajectory import Trajectory
from ...run.values import Array, point_map
from ...symbolic import Fast, fast, free_names, magnitude
from ...waist.layout import spans

ROUNDING = 1e-11
"""Largest relative deviation of an exactly conserved quantity, for any length of run; beyond it the promise is broken."""

ONE_STEP = 1e-14
"""The same for one step; rounding errors of a conserved quantity add up like a random walk, with the root of the steps."""

EPSILON = float(np.finfo(float).eps)

WALK = 4.0
"""Rounding of a conserved quantity, in units in the last place of its terms: at most this times 1 + sqrt(steps) between any
two records. The methods that conserve something exactly stay below 1.5 in 3e5 steps."""


def rounding(run: Trajectory, records: int, size: Array, constant: Array) -> float:
    """The relative deviation beyond which an exact promise is broken after that many records, for terms of these sizes."""
    accumulated = min(ROUNDING, ONE_STEP * np.sqrt(1 + run.every * (records - 1)))
    return float(accumulated + 4 * offset(size, constant))


def offset(size: Array, constant: Array) -> float:
    """One unit in the last place of the terms that do not vary, in units of the size of those that do."""
    scale, rest = (float(np.max(a, initial=0.0, where=np.isfinite(a))) for a in (size, constant))
    return EPSILON * rest / scale if scale > 0 else 0.0


def grows_like_rounding(error: Array, every: int, offset: float = 0.0) -> bool:
    """Whether a relative error changes, over any number of steps, no more than a random walk of rounding errors does.

    A truncation error is smooth: over some part of a period it changes in one direction, in proportion to the steps, and so
    exceeds this bound even where its size is below that of all rounding errors of the run together.
    """
    known, apart = error[np.isfinite(error)], 1
    while apart < len(known):
        limit = WALK * (EPSILON * (1 + np.sqrt(apart * every)) + offset)
        if np.abs(known[apart:] - known[:-apart]).max() > limit:
            return False
        apart *= 2
    return True


def term_sizes(run: Trajectory, expression: Fast) -> tuple[Array, Array]:
    """The size of the terms of a quantity that vary along a motion, and of those that do not.

    Deviations are measured by what varies; a constant term contributes only rounding errors.
    """
    assert isinstance(run.system, System)
    e, system = fast(expression).expand(), run.system
    moving = {s.name for s in (*position_symbols(system.coordinates), *system.velocities, *system.entropies, time)}
    terms = e.args if e.is_Add else (e,)
    varying, constant = ([x for x in terms if bool(free_names([x]) & moving) is varies] for varies in (True, False))
    sizes = [np.atleast_2d(run.quantity(magnitude(sum(part, start=fast(0))))) for part in (varying, constant)]
    return sizes[0], sizes[1]


def velocity_rounding(run: Trajectory, covector: Sequence[Any]) -> Array:
    """The rounding error of a sum of velocities at each record, one row for each lane.

    With the inertia m_i = d2L/dv_i^2 the speed u of the whole motion, u^2 = sum m_i v_i^2, is rounded to u / sqrt(m_i) in
    v_i, however small v_i is: velocities follow from the momenta of all.
    """
    assert isinstance(run.system, System)
    v = [fast(q.dot) for q in run.system.coordinates]
    inertia = [magnitude(fast(run.system.lagrangian).diff(a).diff(a)) for a in v]
    heavy = [m ** fast(sympy.Rational(1, 2)) for m in inertia]
    speed = sum((m * a**2 for m, a in zip(inertia, v, strict=True)), start=fast(0)) ** fast(sympy.Rational(1, 2))
    shares = [magnitude(fast(w)) * speed / m for w, m in zip(covector, heavy, strict=True) if m != 0 and w != 0]
    found: Array = WALK * EPSILON * np.atleast_2d(run.quantity(sum(shares, start=fast(0))))
    return found


def entropy_size(run: Trajectory, system: System) -> Array:
    """The largest entropy, change of one, or heat capacity T/(dT/dS) of each lane.

    An entropy is defined up to a constant, so its own size is no scale; the heat capacity is.
    """
    capacity = [T / T.diff(S) for S, T in zip(system.entropies, system.temperatures, strict=True) if T.diff(S) != 0]
    tables = [np.atleast_2d(run.quantity(fast(c))) for c in capacity]
    tables += list(np.moveaxis(run.table("entropy"), -1, 0))
    tables += [np.diff(S, axis=1) for S in np.moveaxis(run.table("entropy"), -1, 0)]
    largest: Array = np.max([np.max(np.abs(a), axis=1, initial=0.0, where=np.isfinite(a)) for a in tables], axis=0)
    return largest


def discrete_terms(run: Trajectory, system: DiscreteSystem) -> tuple[Array, Array]:
    """The sizes of the terms of momenta, and of constraints, at the records: mean velocities from one to the next."""
    known = run.columns_named([c.name for c in (*system.coordinates, *system.entropies)])
    rates = np.diff(known, axis=1, append=known[:, -1:]) / (run.h * run.every)
    if rates.shape[1] > 1:
        rates[:, -1] = rates[:, -2]
    compiled = point_map(discrete.term_sizes(system))
    held = run.table("multiplier")[..., [system.multipliers.index(m) for m in discrete.carried(system)]].copy()
    if held.shape[1] > 1:  # the last node need not have a step
        held[:, -1] = held[:, -2]
    inputs = (np.column_stack([q, v, mu, run.time]) for q, v, mu in zip(known, rates, held, strict=True))
    rows = zip(inputs, run.parameter_rows, strict=True)
    table = np.stack([compiled(x, row[None, :], h=run.h)[0] for x, row in rows])
    momenta, constraints = spans(len(system.coordinates), len(system.constraints))
    return table[..., momenta], table[..., constraints]


def relative(error: Array, size: Array) -> Array:
    """Errors in units of the largest size of the terms; of a quantity without terms, in units of itself."""
    known = [np.max(np.abs(a), initial=0.0, where=np.isfinite(a)) for a in (size, error)]
    with np.errstate(invalid="ignore", over="ignore"):
        return error / next((scale for scale in known if scale > 0), 1.0)


def largest(error: Array) -> float:
    """The largest absolute value, where there are numbers."""
    return float(np.max(np.abs(error), initial=0.0, where=np.isfinite(error))) if np.isfinite(error).any() else np.nan


def drift(error: Array) -> float:
    """The change over the run of the straight line fitted to an error: small for an oscillation."""
    known = error[np.isfinite(error)]
    place = np.linspace(-1, 1, len(known))
    return float(2 * abs(place @ known) / (place @ place)) if len(known) > 3 else 0.0


def turns(error: Array) -> int:
    """Number of turning points of the error, ignoring rounding."""
    known = error[np.isfinite(error)]
    moves = np.sign(np.diff(known)[np.abs(np.diff(known)) > ONE_STEP])
    return int(np.count_nonzero(moves[1:] != moves[:-1]))
