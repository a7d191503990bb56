"""All velocities that belong to given momenta, as far as they can be found.

An uncoupled velocity is searched for on the whole line: the folds of p = dL/dv cut it into pieces on
which p is monotonic, and each piece is searched. Coupled velocities are searched for from many starting points.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..model.system import System
from ..symbolic import Fast, free_names
from ..theory.motion import state_maps as maps
from .values import Array
from .velocities import CLOSE, Search, relative_residual

DECADES, PER_DECADE = 30, 24
"""The line is sampled from 10^-30 to 10^30 on both sides of zero, with PER_DECADE points per decade."""

STARTS = 400
"""Number of starting points for coupled velocities."""


@lru_cache(maxsize=64)
def _groups(system: System) -> list[list[int]]:
    """Which velocities are coupled by p = dL/dv."""
    names = [v.name for v in system.velocities]
    groups: list[set[int]] = []
    rows: list[dict[int, Fast]] = [{} for _ in names]
    for (i, j), d in maps.legendre_block(system, False).partials.items():
        rows[i][j] = d
    for i, row in enumerate(rows):
        occurs = {i, *row} | {names.index(s) for s in free_names(row.values()) & set(names)}
        joined = [g for g in groups if g & occurs]
        groups = [g for g in groups if not g & occurs] + [occurs.union(*joined)]
    return [sorted(g) for g in groups]


def candidates(system: System, point: Array, row: Array) -> list[Array]:
    """The velocities that belong to one point (q, p, S, t), each an array over the coordinates."""
    found: list[Array] = [np.zeros(len(system.coordinates))]
    for group in _groups(system):
        parts = _on_a_line(system, point, row, group[0]) if len(group) == 1 else _together(system, point, row, group)
        found = [_with(v, group, part) for v in found for part in parts]
    return sorted(found, key=lambda v: (float(np.abs(v).max()), tuple(v)))


def _with(v: Array, group: list[int], part: Array) -> Array:
    new = v.copy()
    new[group] = part
    return new


def _on_a_line(system: System, point: Array, row: Array, i: int) -> list[Array]:
    """All values of a velocity that is coupled to no other one."""
    n = len(system.coordinates)
    places = np.logspace(-DECADES, DECADES, 2 * DECADES * PER_DECADE)
    line = np.concatenate([-places[::-1], [0.0], places])

    def look(x: Array) -> tuple[Array, Array, Array]:
        v = np.zeros((len(x), n))
        v[:, i] = x
        r, size, J = Search(system, np.repeat(point[None], len(x), axis=0), row, False).look(np.arange(len(x)), v)
        return r[:, i], J[:, i, i], relative_residual(r[:, [i]], size[:, [i]])

    def roots(which: int, line: Array) -> Array:
        values = look(line)[which]
        zero = line[values == 0]
        sign = np.sign(values)
        k = np.flatnonzero(sign[:-1] * sign[1:] < 0)
        a, b, left = line[k].copy(), line[k + 1].copy(), sign[k]
        for _ in range(64):
            c = (a + b) / 2
            same = np.sign(look(c)[which]) == left
            a, b = np.where(same, c, a), np.where(same, b, c)
        return np.unique(np.concatenate([zero, a]))

    def ends(line: Array) -> Array:
        """Points that approach the edge of the domain of the momentum, from inside."""
        real = np.isfinite(look(line)[0])
        k = np.flatnonzero(real[:-1] != real[1:])
        a, b = np.where(real[k], line[k], line[k + 1]), np.where(real[k], line[k + 1], line[k])
        begun = a.copy()
        for _ in range(64):
            c = (a + b) / 2
            has = np.isfinite(look(c)[0]) if len(c) else np.zeros(0, dtype=bool)
            a, b = np.where(has, c, a), np.where(has, b, c)
        return (a - (a - begun) * 10.0 ** -np.arange(0, 17, 0.25)[:, None]).ravel()

    with np.errstate(all="ignore"):
        line = np.unique(np.concatenate([line, ends(line)]))
        found = roots(0, np.unique(np.concatenate([line, roots(1, line)])))
        good = found[(look(found)[2] <= CLOSE) | (found == 0) & (look(found)[0] == 0)] if len(found) else found
    return [np.array([x]) for x in _distinct(good[:, None])[:, 0]]


def _together(system: System, point: Array, row: Array, group: list[int]) -> list[Array]:
    """Values of coupled velocities, found from many starting points of all sizes."""
    rng = np.random.default_rng(0)
    size = 10.0 ** rng.uniform(-20, 20, (STARTS, 1)) * 10.0 ** (rng.uniform(-1, 1, (STARTS, len(group))))
    starts = np.zeros((STARTS + 1, len(system.coordinates)))
    starts[1:, group] = size * rng.choice([-1.0, 1.0], (STARTS, len(group))) * rng.uniform(0.1, 1, (STARTS, len(group)))
    search = Search(system, np.repeat(point[None], len(starts), axis=0), row, False)
    with np.errstate(all="ignore"):
        found = search.from_velocities(starts)
        good = np.asarray(np.isfinite(found).all(axis=1))
        found = found[good][:, group]
        mass = search.at(good).look(np.arange(len(found)), _among(starts.shape[1], found, group))[2][:, group, group]
        share = np.abs(mass) * found**2
        found[share <= 1e-26 * share.max(axis=1, keepdims=True, initial=0.0)] = 0.0  # rounding relative to the others
    return list(_distinct(found))


def _among(n: int, found: Array, group: list[int]) -> Array:
    """The velocities of a group among all n, the others being zero."""
    whole = np.zeros((len(found), n))
    whole[:, group] = found
    return whole


def _distinct(found: Array) -> Array:
    """Rows that differ by more than rounding, relative to the largest of their kind."""
    kept: list[Array] = []
    unit = np.abs(found).max(axis=0, initial=0.0)
    for v in found:
        if all((np.abs(v - w) > 1e-7 * np.maximum(np.abs(v), 1e-9 * unit)).any() for w in kept):
            kept.append(v)
    return np.array(kept).reshape(-1, found.shape[1])
