"""At which nodes of a run velocities may not be determined by momenta: where the matrix of p = dL/dv may be singular.

The matrix is smooth along the motion. It is evaluated at pairs of neighbouring nodes, some sixteen steps apart. Where
the cubic through the determinants of two pairs stays above half of the smaller one, no node in between is singular; where it
does not, all nodes in between are checked. The cubic differs by at most (4/27) g (|d0 - s| + |d1 - s|) from the
straight line, with the slopes d0, d1 at the ends, s of the line, and g steps in between.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..model.space import numbers, position_symbols
from ..model.system import System
from ..symbolic import free_names
from ..theory.motion import state_maps as maps
from .trajectory import Trajectory
from .values import Array, point_map

GAPS = (13, 19, 16, 11, 21)
"""Steps from pair to pair: varied, so that no period of a motion is missed."""

HALF = 0.5
"""The fraction of the determinant that must remain between two pairs."""

MOST = 0.25
"""If more than this part of the nodes needs a check, the motion is too fast for pairs, and all nodes are checked."""


@lru_cache(maxsize=64)
def is_constant(system: System, project: bool) -> bool:
    """Whether the matrix of p = dL/dv is the same in all states."""
    moving = {s.name for s in (*position_symbols(system.coordinates), *system.velocities, *system.entropies)} | {"t"}
    return not free_names(maps.legendre_block(system, project).partials.values()) & moving


def doubtful(run: Trajectory, system: System, project: bool) -> Array:
    """Which nodes of which lanes need a check besides the first, (lanes, times)."""
    lanes, times = run.records.shape[:2]
    if is_constant(system, project):
        return np.zeros((lanes, 0), dtype=bool)
    if run.every > 1 or times < 4 or run.changes:
        return np.ones((lanes, times), dtype=bool)
    key = f"doubtful {project}"
    if key not in run._cache:
        run._cache[key] = _between(determinants(run, system, project), _pairs(times), times)
    return run._cache[key]


def is_even(run: Trajectory, system: System) -> Array:
    """Which lanes have a mass matrix whose determinant varies by less than a factor of ten and is nowhere near zero."""
    if run.every > 1 or len(run) < 4 or run.changes:
        return np.zeros(len(run.records), dtype=bool)
    size = determinants(run, system, False)
    with np.errstate(invalid="ignore"):
        even = size.max(axis=(1, 2)) < 10 * size.min(axis=(1, 2))
    return np.asarray(even & ~doubtful(run, system, False).any(axis=1))


@lru_cache(maxsize=16)
def _pairs(times: int) -> Array:
    """The first nodes of the pairs; the last pair is the end."""
    steps = np.cumsum(np.resize(GAPS, times // 16 + 2))
    return np.concatenate([[0], steps[steps < times - 2], [times - 2]])


def determinants(run: Trajectory, system: System, project: bool) -> Array:
    """The determinant at both nodes of all pairs relative to the first, (lanes, 2, pairs); NaN where a pivot has another
    sign than there.
    """
    key = f"determinants {project}"
    if key not in run._cache:
        run._cache[key] = _determinants(run, system, project, _pairs(len(run))).reshape(len(run.records), 2, -1)
    return run._cache[key]


def _determinants(run: Trajectory, system: System, project: bool, at: Array) -> Array:
    nodes = np.concatenate([at, at + 1])
    records = run.records[:, nodes].reshape(-1, run.records.shape[2])
    held, warm = numbers(system.coordinates), [S.name for S in system.entropies]
    place, heat = ([run.columns.index(name) for name in names] for names in (held, warm))
    still = np.zeros((len(records), len(system.coordinates)))
    points = np.column_stack([records[:, place], still, records[:, heat], np.zeros(len(records))])
    points[:, -1] = np.resize(run.time[nodes], len(points))
    lanes = len(run.records)
    rows = run.parameter_rows if lanes == 1 else np.repeat(run.parameter_rows, len(nodes), axis=0)
    table = point_map(maps.legendre_matrix_map(system, project))(points, rows)[0]
    block = maps.legendre_block(system, project)
    n = len(block.unknowns)
    A = np.zeros((n, n, len(table)))
    i, j = np.array(list(block.partials), dtype=int).reshape(-1, 2).T
    A[i, j] = table.T
    found, good = np.ones(A.shape[2]), np.ones(A.shape[2], dtype=bool)
    with np.errstate(all="ignore"):
        for k in range(n):
            pivot = A[k, k]
            ratio = pivot / pivot[0]
            found *= ratio
            good &= ratio > 0
            i, j = (k + 1 + np.flatnonzero(part.any(axis=1)) for part in (A[k + 1 :, k], A[k, k + 1 :]))
            if len(i) == len(j) == n - k - 1:
                A[k + 1 :, k + 1 :] -= A[k + 1 :, k, None] * (A[None, k, k + 1 :] / pivot)
            elif len(i) and len(j):
                A[np.ix_(i, j)] -= A[i, k, None] * (A[None, k, j] / pivot)
    return np.where(good, found, np.nan)


def _between(size: Array, at: Array, times: int) -> Array:
    """The nodes between pairs on which the determinant may fall below half of its values at both ends."""
    gap = np.diff(at)
    here, there = size[:, 0, :-1], size[:, 0, 1:]
    with np.errstate(all="ignore"):
        slope = (there - here) / gap
        bend = np.abs(size[:, 1, :-1] - here - slope) + np.abs(size[:, 1, 1:] - there - slope)
        least = np.minimum(here, there)
        sure = least - 4 / 27 * gap * bend > HALF * least
    found = np.zeros((len(size), times), dtype=bool)
    for lane, k in np.argwhere(~sure):
        found[lane, at[k] : at[k + 1] + 2] = True
    return found if found.mean() <= MOST else np.ones_like(found)
