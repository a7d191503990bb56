"""A run is converged only if everything it records is finite: positions, momenta, velocities, multipliers, energy.

That the state is finite is checked while steps are computed. That velocities and energies, which follow from it, are finite
is usually shown without computing them at every node: the guards of a step exclude zero denominators and logarithms at every
node, the matrix of p = dL/dv is shown to be regular from samples (`singular_nodes`), and overflow, the only other cause, is
excluded by the sizes of the state (`size_bounds`). Where this fails, they are computed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..discrete.state_layout import state_layout
from ..discrete.system import DiscreteSystem
from ..engine.machine import PointMap
from ..engine.status import Status
from ..methods.base import Method
from ..model.coordinates import time
from ..model.space import numbers, to_numbers
from ..model.system import System
from ..symbolic import fast, free_names, substitute, substitution
from ..theory.motion import state_maps as maps
from ..theory.motion.lagrange import momenta
from ..waist.domain import TINY
from ..waist.stepmap import TIME, StepMap, pointwise
from .plan import stepper
from .singular_nodes import doubtful
from .size_bounds import LEAST, NoBoundError, bounds, size_name
from .trajectory import Trajectory
from .values import Array, point_map
from .velocities import has_branches, near_names, velocities

LARGEST = 1e200
"""Bounds below this do not overflow, in whatever order they are multiplied."""

CONDITION = 1e30
"""Largest ratio of velocities to momenta over diagonal masses: a matrix that is accepted as regular is not worse
conditioned."""

_COMPUTED = ("_positions", "_velocities", "_momenta", "_multipliers", "_entropies", "_carried")
"""Arrays that a run computes from its records and caches."""


def ended_where_not_finite(run: Trajectory) -> Trajectory:
    """The run; a lane ends before the first node at which a record or a quantity computed from it is not finite.

    Its status is LEFT_DOMAIN where the energy is NaN; NOT_FINITE where a value is infinite or momenta do not determine
    velocities.
    """
    system = run.system.continuous
    if system is not None and _is_seen_finite(run, system):
        return run
    reached = _reached(run)
    state = _finite(run.records[:, :, : _state_width(run)])
    code = run.codes[:, :1]
    ended = ~np.isin(code, (Status.CONVERGED, Status.EVENT, Status.INTERRUPTED))  # such a lane keeps its status
    if system is None:
        end_lanes(run, reached & ~state, np.where(ended, code, Status.NOT_FINITE))
        return run
    energy = run.energy if run.lanes is not None else run.energy[None]
    known = _finite(run.table("velocity")) & state
    inside = known & ~np.isnan(energy)
    complete = inside & np.isfinite(energy) & (_finite(run.table("multiplier")) | _last(run))
    found = np.where(inside | ~known, Status.NOT_FINITE, Status.LEFT_DOMAIN)
    end_lanes(run, reached & ~complete, np.where(ended, code, found))
    return run


def _is_seen_finite(run: Trajectory, system: System) -> bool:
    """Whether everything is shown to be finite without computing it at every node."""
    method = run.method
    recorded = {m.name for m in system.multipliers} <= set(run.columns)
    if (
        method is None
        or method.adaptive
        or not recorded
        or has_branches(system)
        or system.principle.carried(system)
        or run.codes[:, 0].any()
        or not len(run)
    ):
        return False
    if system.constraints and (run.changes or not method.node_multipliers):
        return False
    size = _size(run)
    if not np.isfinite(size) or (len(run) > 2 and not _is_bounded(run, system, method, size)):
        return False  # of two nodes all is computed below
    project = bool(system.constraints) and method.impulsive
    lanes, last = np.arange(len(run.records)), len(run) - 1  # guards check the last node before rounding
    more = np.nonzero(doubtful(run, system, project)) if run.carries_momenta else (lanes[:0], lanes[:0])
    lane = np.concatenate([lanes, lanes, more[0]])
    return _are_finite(run, system, project, lane, np.concatenate([0 * lanes, 0 * lanes + last, more[1]]))


def _size(run: Trajectory) -> float:
    """The root of the sum of the squares of all records; without outputs of the last node, whose step need not exist."""
    width, every = _state_width(run), run.records
    if width == every.shape[2] or _nodes(run)[-1] != run.codes[:, 1].max():
        flat, last = every.reshape(-1), np.zeros(1)
    else:
        flat, last = every[:, :-1].reshape(-1), every[:, -1, :width].reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sqrt(np.dot(flat, flat) + np.dot(last, last)))


def _is_bounded(run: Trajectory, system: System, method: Method, size: float) -> bool:
    """Whether the energy cannot overflow with a state of this size."""
    found = _bound_map(system, stepper(system, method).stepmap)
    if found is None:
        return False
    lanes = len(run.records)
    q, _, S = _state(run, system, np.arange(lanes), np.zeros(lanes, dtype=int))
    still = np.zeros((lanes, len(system.coordinates)))
    start = np.concatenate([q, still, S, np.full((lanes, 1), run.time[0])], axis=1)
    with np.errstate(all="ignore"):
        mass = point_map(maps.inertia_map(system))(start, run.parameter_rows)[0]
        light = CONDITION / np.abs(mass)
        sizes = np.full((lanes, 2), (size, max(abs(run.time[0]), abs(run.time[-1]))))
        inputs = np.concatenate([sizes, light, np.abs(run.parameter_rows)], axis=1)
        return bool((found(inputs, np.zeros((1, 0)))[0] < LARGEST).all())


@lru_cache(maxsize=64)
def _bound_map(system: System, stepmap: StepMap) -> PointMap | None:
    """(size of the state, largest time, reciprocal masses, parameters) -> a bound of the energy; None if there is none."""
    known = {*stepmap.state, *stepmap.parameters, TIME}
    guarded = [g.places[0] for g in stepmap.guards if free_names(g.places[0]) <= known]
    names = [p.name for p in system.parameters]
    still, held = substitution(dict.fromkeys(system.velocities, 0)), to_numbers(system.coordinates)
    try:
        whole, *shift = bounds(
            [maps.energy_map(system).outputs["energy"], *(held(still(p)) for p in momenta(system))],
            guarded,
            names,
        )
    except NoBoundError:
        return None
    carried = system.coordinates[0].momentum.name in stepmap.state
    state = fast("state")
    named = (*numbers(system.coordinates), *(s.name for s in (*system.velocities, *system.entropies)))
    sizes = {size_name(name): state for name in named}
    if carried:
        rows, sized = zip(system.coordinates, shift, strict=True), substitution(sizes)
        sizes |= {size_name(q.dot.name): fast(f"{q.name}.light") * (state + sized(b)) for q, b in rows}
    inputs = ["state", size_name(time.name), *(f"{q.name}.light" for q in system.coordinates), *map(size_name, names)]
    bound = substitute(whole, sizes | {LEAST: fast(TINY)})
    return point_map(pointwise(f"{system.name}, bound of the energy", inputs, [], {"energy": bound}))


def _are_finite(run: Trajectory, system: System, project: bool, lane: Array, row: Array) -> bool:
    """Whether velocities, energies and multipliers are finite at some nodes."""
    (q, v, S), t, rows = _state(run, system, lane, row), run.time[row], run.parameter_rows[lane]
    if run.carries_momenta:
        v = velocities(system, np.column_stack([q, v, S, t]), rows, project)
    points = np.column_stack([q, v, S, t])
    found = [v, point_map(maps.energy_map(system))(points, rows)[0]]
    if system.constraints:  # at the first node they are those of the continuous motion
        begin = row == 0
        found.append(point_map(maps.motion_map(system))(points[begin], rows[begin])[0])
    return all(bool(np.isfinite(table).all()) for table in found)


def _state(run: Trajectory, system: System, lane: Array, row: Array) -> tuple[Array, Array, Array]:
    """Positions, momenta or velocities, and entropies at some nodes."""
    records, q = run.records[lane, row], system.coordinates
    second = [c.momentum.name if run.carries_momenta else c.dot.name for c in q]
    names = numbers(q), second, [S.name for S in system.entropies]
    positions, moving, warm = (records[:, [run.columns.index(n) for n in group]] for group in names)
    return positions, moving, warm


def _state_width(run: Trajectory) -> int:
    """Columns of the state; those of outputs belong to a step, which at the last node need not exist."""
    outputs = _outputs(run.system)
    return sum(name not in outputs for name in run.columns)


@lru_cache(maxsize=64)
def _outputs(system: System | DiscreteSystem) -> frozenset[str]:
    """The names of outputs of steps; cached, since every run asks for them."""
    layout = state_layout(system)
    return frozenset([*layout.names("multiplier"), *layout.names("constraint"), *near_names(system)])


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
    last: Array = _nodes(run)[None, :] == run.codes[:, 1:2]
    return last


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
