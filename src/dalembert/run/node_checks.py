"""Checks after a run has been computed: velocities at every node, folds and singular charts between nodes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.status import Status
from ..errors import ModelWarning
from ..model.coordinates import time
from ..model.space import frame, numbers, to_numbers
from ..model.system import System
from ..symbolic import free_names, vectorised
from ..theory.motion import state_maps as maps
from ..theory.motion.lagrange import applied_forces, linear_motion, mass_matrix, momenta, parted
from ..waist.layout import Groups
from .finite_records import end_lanes
from .singular_nodes import is_even
from .trajectory import Trajectory
from .values import Array, point_map
from .velocities import Search, after_changes, differ, has_branches, near_names, sides, velocities

if TYPE_CHECKING:
    from .plan import Plan

    Compute = Callable[[Plan, Array, Array], Trajectory]

PART = 400_000
"""Nodes of all lanes that are checked in one call."""

LOOKED_AT, ENTRIES = 2048, 4_000_000
"""Largest number of nodes at which the mass matrix is evaluated, and of all its entries there."""

LOW, CROSSED, SUSPECT = 0.1, 0.01, 1e-8
"""A determinant is examined more closely below LOW times its median; near a node it counts as zero below CROSSED times its
values at the nodes before and after. Below SUSPECT times the median, velocities may not be determined."""

UNRESOLVED = 10.0
"""If a low determinant changes by this factor in one step, the step is as long as the distance from its zero."""

THROWN = 4.0
"""Largest change of a momentum in a step, relative to the impulse of the forces."""


def checked_nodes(run: Trajectory) -> Trajectory:
    """The run; a lane ends before the first node without velocities on the branch of the motion, or beyond a fold of it."""
    system = run.system.continuous
    if system is None:
        return run
    if has_branches(system):
        _end(run, ~np.isfinite(run.table("velocity")).all(axis=-1), Status.NO_SOLUTION)
        _end(run, _beyond_folds(run, system), Status.SINGULAR)
    if not system.principle.at_nodes(system):
        _end(run, _beyond_singular_equations(run, system), Status.SINGULAR)
    elif not has_branches(system) and run.every == 1 and run.method is not None and not run.method.adaptive:
        _warn_of_chart(run, system)
    return run


def thinned(plan: Plan, carry: Array, codes: Array, compute: Compute) -> Trajectory:
    """A run that records every `every`-th node and is checked at every node, part by part.

    Where velocities have several branches, records several steps apart do not show on which branch the nodes between are.
    """
    lanes, codes = len(carry), codes.copy()
    records, residual = np.full((lanes, len(plan.times), plan.stepper().width), np.nan), np.full(lanes, np.nan)
    size, whole = max(16, PART // lanes), plan.extent
    for at in range(0, max(whole.steps, 1), size):
        alive = codes[:, 0] == Status.CONVERGED
        part = replace(whole.part(at, min(size, whole.steps - at)), every=1)
        run = compute(replace(plan, extent=part), carry.copy(), codes.copy())
        near = [run.columns.index(n) for n in near_names(run.system) if n in run.columns]
        if near:  # a failed step has none
            known = run.records[:, :, near]
            run.records[:, :, near] = np.where(np.isfinite(known), known, run.table("velocity"))
        nodes = part.begin + np.arange(part.steps + 1)
        rows, due = nodes // whole.every - whole.first_row, nodes % whole.every == 0
        records[np.ix_(alive, rows[due])] = run.records[np.ix_(alive, due)]
        codes[alive], residual[alive], carry[alive] = run.codes[alive], run.residual[alive], run.carry[alive]
        if codes[:, 0].all():
            break
    return plan.trajectory(records=records, columns=run.columns, codes=codes, residual=residual, carry=carry)


def _end(run: Trajectory, lost: Any, status: Status) -> None:
    end_lanes(run, np.asarray(lost & np.isfinite(run.table("position")).all(axis=-1)), status)


def _beyond_folds(run: Trajectory, system: System) -> Array:
    """Which nodes are separated from the one before by a place where momenta do not determine velocities.

    For adaptive methods, whose nodes may be far apart, the nodes themselves are compared.
    """
    project, parts = bool(system.constraints), maps.state_groups(system)
    times = np.broadcast_to(run.time[None, :, None], (*run.table("position").shape[:2], 1))
    held = [system.multipliers.index(m) for m in system.principle.carried(system)]
    of, carried = run.table, run.table("multiplier")[..., held]
    state = np.concatenate([of("position"), of("velocity"), of("entropy"), carried, times], axis=2)
    beyond = np.zeros(state.shape[:2], dtype=bool)

    def side(at: Array, row: Array) -> Array:
        q, v, S, mu, t = parts.split(at, "position", "velocity", "entropy", "multiplier", "time")
        search = Search(system, np.column_stack([q, 0 * v, S, t]), row, project)
        z = search.without_multipliers(v)  # the momenta are not looked at: they say nothing about multipliers
        z[:, [search.n + a for a in held]] = mu
        return sides(search.look(np.arange(len(at)), z)[2], search.n)

    for lane, row in enumerate(run.parameter_rows[:, None, :]):
        here = side(state[lane], row)
        for k in np.flatnonzero(here == 0):  # on a fold itself: the side of the node before
            here[k] = here[k - 1] if k else 0.0
        beyond[lane, 1:] = differ(here[1:], here[:-1])
        for part in np.arange(1, 16) / 16 if run.every == 1 and len(here) > 1 else ():
            between = side(state[lane, :-1] + part * np.diff(state[lane], axis=0), row)
            beyond[lane, 1:] |= differ(between, here[:-1])
        if run.every == 1 and not run.carries_momenta and not system.constraints:
            beyond[lane, 1:] |= _thrown(system, state[lane], row, run.h)
        beyond[lane, after_changes(run, lane)] = False  # an action may move the state across a fold
    return beyond


def _beyond_singular_equations(run: Trajectory, system: System) -> Array:
    """Which nodes are separated from the one before by a place where the equations of motion determine no accelerations.

    Where reactions contain accelerations, the matrix of these is not that of momenta and constraints. Beyond such a place the
    matrix is on another side; or the velocity has changed by far more than the accelerations at both nodes would change it.
    """
    entries, n = [e for row in linear_motion(system).matrix for e in row], len(system.coordinates)
    size = len(linear_motion(system).matrix)
    groups = Groups(entry=entries, mass=[row[i] for i, row in enumerate(mass_matrix(system))])
    compiled, motion = point_map(maps.quantity_map(system, groups.outputs)), point_map(maps.motion_map(system))
    times = np.broadcast_to(run.time[None, :, None], (*run.table("position").shape[:2], 1))
    state = np.concatenate([run.table("position"), run.table("velocity"), times], axis=2)
    beyond = np.zeros(state.shape[:2], dtype=bool)
    for lane, row in enumerate(run.parameter_rows[:, None, :]):
        table = compiled(state[lane], row)[0]
        root = np.sqrt(np.abs(groups.of(table, "mass")))
        here = sides(groups.of(table, "entry").reshape(-1, size, size), n)
        for k in np.flatnonzero(here == 0):
            here[k] = here[k - 1] if k else 0.0
        beyond[lane, 1:] = differ(here[1:], here[:-1])
        if run.every == 1:
            v, a = root * run.table("velocity")[lane], root * parted(system, motion(state[lane], row)[0].T)[0].T
            beyond[lane, 1:] |= _leaps(v, a, np.diff(run.time))
        beyond[lane, after_changes(run, lane)] = False
    return beyond


def _leaps(v: Array, a: Array, steps: Array) -> Array:
    """Which steps changed the velocity by far more than the accelerations at both ends would."""
    with np.errstate(all="ignore"):
        moved, sizes, accelerated = (np.linalg.norm(x, axis=1) for x in (np.diff(v, axis=0), v, a))
        return np.asarray(moved > THROWN * steps * np.maximum(accelerated[1:], accelerated[:-1]) + 1e-9 * sizes[1:])


def _thrown(system: System, state: Array, row: Array, h: float) -> Array:
    """Which steps changed a momentum by far more than the forces at both ends would: its stages reached a fold."""
    moment, q = momenta(system), system.coordinates
    acting = zip(frame(q).slopes(system.lagrangian), frame(q).turning(moment), applied_forces(system), strict=True)
    groups = Groups(momentum=moment, force=[d + g + f for d, g, f in acting])
    table = point_map(maps.quantity_map(system, groups.outputs))(state, row)[0]
    p, f = groups.of(table, "momentum"), groups.of(table, "force")
    force = h * np.maximum(np.abs(f[1:]), np.abs(f[:-1]))
    size = np.maximum(np.abs(p[1:]), np.abs(p[:-1]))
    return np.asarray((np.abs(np.diff(p, axis=0)) > THROWN * force + 1e-9 * size).any(axis=1))


# a chart that becomes singular between two nodes


@lru_cache(maxsize=64)
def _mass_entries(system: System) -> Any:
    """The mass matrix as a function of an array (points, coordinates, time, parameters); None if no position occurs in it."""
    mass = mass_matrix(system)
    entries = [e for row in mass for e in row]
    different, held = {id(e): e for e in entries}, to_numbers(system.coordinates)  # zeros are one object
    written = {key: held(e) for key, e in different.items()}
    if not free_names(written.values()) & set(numbers(system.coordinates)):
        return None
    entries = [written[id(e)] for e in entries]
    names = [*numbers(system.coordinates), time.name, *(p.name for p in system.parameters)]
    try:
        return vectorised(names, entries)
    except (RuntimeError, NotImplementedError, ValueError, TypeError):  # a function that SymEngine cannot evaluate
        return None


class _Determinants:
    """log |det M| and the sign of det M at points of one lane."""

    def __init__(self, run: Trajectory, system: System, lane: int):
        self.q, self.t, self.row = run.table("position")[lane], run.time, run.parameter_rows[lane]
        self.n, self.entries = len(system.coordinates), _mass_entries(system)
        self.suspect: set[int] = set()

    def matrices(self, q: Array, t: Array) -> Array:
        """The mass matrix at some points."""
        rows = np.broadcast_to(self.row, (len(q), len(self.row)))
        table = self.entries(np.column_stack([q, t, rows]))
        return np.asarray(table, dtype=float).reshape(len(q), self.n, self.n)

    def at(self, q: Array, t: Array) -> tuple[Array, Array]:
        """Sign and logarithm."""
        with np.errstate(all="ignore"):
            return np.linalg.slogdet(self.matrices(q, t))

    def nodes(self, k: Array) -> Array:
        """The logarithm at some nodes."""
        return self.at(self.q[k], self.t[k])[1]

    def note(self, k: Array, sizes: Array, usual: float) -> None:
        """Store the nodes where it is far below the usual value."""
        self.suspect |= set(k[~(sizes > usual + np.log(SUSPECT))].tolist())

    def between(self, k: int, fractions: Array) -> tuple[Array, Array, Array, Array]:
        """Positions, times, signs and logarithms between node k and the next."""
        s = fractions[:, None]
        q, t = self.q[k] + s * (self.q[k + 1] - self.q[k]), self.t[k] + fractions * (self.t[k + 1] - self.t[k])
        return q, t, *self.at(q, t)


def _warn_of_chart(run: Trajectory, system: System) -> None:
    """Warn if a step crossed a place where the mass matrix, which depends on the positions, is singular."""
    if len(run) < 3 or _mass_entries(system) is None:
        return
    for lane in map(int, np.flatnonzero(~is_even(run, system))):
        count = int(np.isfinite(run.table("position")[lane]).all(axis=-1).sum())
        if count < 3:
            continue
        det = _Determinants(run, system, lane)
        found = _crossing(det, count)
        if run.carries_momenta:
            _end_where_singular(run, system, lane, np.array(sorted(det.suspect), dtype=int))
        if found is not None:
            warnings.warn(_chart_text(run, system, lane, *found), ModelWarning, stacklevel=4)
            return


def _end_where_singular(run: Trajectory, system: System, lane: int, nodes: Array) -> None:
    """End a lane before a node whose momenta determine no velocities."""
    if not len(nodes):
        return
    method = run.method
    project = bool(system.constraints) and (method is None or method.impulsive)
    state = (run.table("position")[lane], run.carried_momenta[lane], run.table("entropy")[lane], run.time[:, None])
    found = velocities(system, np.concatenate(state, axis=1)[nodes], run.parameter_rows[[lane]], project)
    lost = np.zeros(run.table("position").shape[:2], dtype=bool)
    lost[lane, nodes] = np.isnan(found).any(axis=1)
    _end(run, lost, Status.SINGULAR)


def _crossing(det: _Determinants, count: int) -> tuple[float, Array, Array] | None:
    """Time and position where the determinant vanishes between two nodes, with its matrix at the most regular node."""
    stride = -(-count // max(8, min(LOOKED_AT, ENTRIES // det.n**2)))
    some = np.arange(0, count, stride)
    sizes = det.nodes(some)
    if sizes.min() > sizes.max() + np.log(LOW):
        return None
    usual = float(np.median(sizes))
    if not np.isfinite(usual):  # it vanishes everywhere: accelerations are determined only with the constraints
        return None
    det.note(some, sizes, usual)
    least = np.r_[
        sizes[0] <= sizes[1], (sizes[1:-1] <= sizes[:-2]) & (sizes[1:-1] <= sizes[2:]), sizes[-1] <= sizes[-2]
    ]
    low = np.flatnonzero(least & (sizes < usual + np.log(LOW)))
    for i in np.sort(low[np.argsort(sizes[low])][:12]):
        window = np.arange(max(0, some[i] - stride), min(count, some[i] + stride + 1))
        near = det.nodes(window)
        det.note(window, near, usual)
        k = int(window[np.argmin(near)])
        if (place := _vanishes_near(det, k, count)) is not None:
            return *place, det.q[some[int(np.argmax(sizes))]]
    return None


def _vanishes_near(det: _Determinants, k: int, count: int) -> tuple[float, Array] | None:
    """Where the determinant vanishes, to the resolution of a step, near node k, where it is least."""
    ends = [j for j in (k - 1, k + 1) if 0 <= j < count]
    sign, size = det.at(det.q[ends], det.t[ends])
    here = float(det.nodes(np.array([k]))[0])
    if np.abs(size - here).max() > np.log(UNRESOLVED):
        return float(det.t[k]), det.q[k]
    least = (np.inf, 0.0, det.q[k])
    for first in (j for j in (k - 1, k) if 0 <= j < count - 1):
        a, b = 0.0, 1.0
        for _ in range(4):
            fractions = np.linspace(a, b, 17)
            q, t, _, found = det.between(first, fractions)
            if not (np.isfinite(found) | (found == -np.inf)).all():
                return None
            i = int(np.argmin(found))
            a, b = fractions[max(0, i - 1)], fractions[min(16, i + 1)]
            least = min(least, (float(found[i]), float(t[i]), q[i]), key=lambda item: item[0])
    return least[1:] if least[0] < np.log(CROSSED) + size.min() or np.prod(sign) < 0 else None


def _chart_text(run: Trajectory, system: System, lane: int, t: float, q: Array, usual: Array) -> str:
    det = _Determinants(run, system, lane)
    M, typical = det.matrices(np.stack([q, usual]), np.full(2, t))
    scale = 1 / np.sqrt(np.where((d := np.abs(np.diag(typical))) > 0, d, 1.0))
    vector = np.linalg.svd(M * np.outer(scale, scale))[2][-1]
    free = [str(c) for c, x in zip(system.coordinates, vector, strict=True) if abs(x) > 0.3 * np.abs(vector).max()]
    place = ", ".join(f"{name} = {x:.4g}" for name, x in zip(numbers(system.coordinates), q, strict=True))
    who = "" if run.lanes is None else f" (lane {lane})"
    return (
        f"{system.name}{who}: at t = {t:.6g} the mass matrix is singular to what a step can tell ({place}): the chart "
        f"does not determine {', '.join(free)} there. A step of h = {run.h:g} went across, and what comes after depends "
        f"on the step. Use coordinates that are regular there: other angles, a unit quaternion, or Cartesian coordinates "
        f"with a constraint."
    )
