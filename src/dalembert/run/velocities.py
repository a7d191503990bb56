"""Velocities from momenta, on the branch of the motion.

Where L is quadratic in the velocities, p = dL/dv is linear and one elimination solves it. Elsewhere it may have several
solutions, which folds separate: places where the matrix of p = dL/dv is singular. A motion does not cross a fold. So the
search begins at the velocity of the step itself, and none of its steps crosses a fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..discrete.state_layout import velocity_columns
from ..discrete.system import DiscreteSystem
from ..model.system import System
from ..symbolic import fast
from ..theory.motion import state_maps as maps
from ..waist.layout import segments
from ..waist.stepmap import StepMap
from .values import Array, point_map

if TYPE_CHECKING:
    from .recorded_run import RecordedRun

NEAR = "near"
"""`x.near` is recorded with a node: a velocity of the step that begins there."""

SEARCH, HALVINGS = 400, 40
"""Largest numbers of steps, and of halvings of one step."""

CLOSE, ENOUGH = 1e-9, 4e-15
"""Relative residuals: below CLOSE, one that no longer shrinks is rounding; at ENOUGH a search ends."""

BETWEEN = np.arange(1, 9) / 8
"""Fractions of a step at which folds are checked for."""


def has_branches(system: System) -> bool:
    """Whether p = dL/dv, with the constraints, is nonlinear in the velocities."""
    return not maps.legendre_block(system, bool(system.constraints)).is_linear


def with_near(stepmap: StepMap, system: System) -> StepMap:
    """The step, with a velocity near that of each node as output, if velocities must be searched for."""
    if system.coordinates[0].momentum.name not in stepmap.state or not has_branches(system):
        return stepmap
    first = _first_velocities(stepmap, system, stepmap.unknowns)
    names = near_names(system)
    if None in first:
        return stepmap
    near = {name: fast(stepmap.unknowns[j]) for name, j in zip(names, first, strict=True) if j is not None}
    owners = [q.owner for q in system.coordinates]
    layout = stepmap.layout.extended(*segments("near", owners, names))
    return replace(stepmap, outputs={**stepmap.outputs, **near}, layout=layout)


def _first_velocities(step: StepMap, system: System | DiscreteSystem, names: Sequence[str]) -> list[int | None]:
    """For each coordinate the place of the first of these unknowns that is its velocity within the step."""
    columns = velocity_columns(step.layout, system.coordinates, names)
    return [columns.index(i) if i in columns else None for i in range(len(system.coordinates))]


def near_names(system: System | DiscreteSystem) -> list[str]:
    """The names under which velocities near those of the nodes are recorded."""
    return [f"{q.name}.{NEAR}" for q in system.coordinates]


def near_columns(stepmap: StepMap, system: System) -> list[int]:
    """Their columns in a record; empty if velocities need not be searched for."""
    names, near = [*stepmap.state, *stepmap.outputs], near_names(system)
    return [names.index(x) for x in near] if near[0] in names else []


def expected_velocities(stepmap: StepMap, system: System | DiscreteSystem, carry: Array) -> Array:
    """The expected velocities of a step, from the carry of lanes: those of the step before, or of the start."""
    at = len(stepmap.state) + len(stepmap.summed)
    first = _first_velocities(stepmap, system, stepmap.sought)
    return np.stack([carry[:, at + j] if j is not None else np.full(len(carry), np.nan) for j in first], axis=1)


def velocities(system: System, points: Array, rows: Array, project: bool, near: Array | None = None) -> Array:
    """The velocities at (q, p, S, t), one row each; NaN where there is none on the branch of `near`.

    With `project` momenta may contain a reaction. They may also where masses alone do not determine velocities: there the
    constraints are needed.
    """
    if not maps.legendre_block(system, project).is_linear:
        assert near is not None
        return _searched(system, points, rows, project, np.broadcast_to(near, (len(points), len(system.coordinates))))
    found, status = point_map(maps.velocity_map(system, project))(points, rows)
    found[status != 0] = np.nan
    if project or not system.constraints or not status.any():
        return found
    return np.where((status != 0)[:, None], velocities(system, points, rows, True, near), found)


def velocities_of(run: RecordedRun, system: System, project: bool) -> Array:
    """The velocities at all nodes of all lanes of a run that carries momenta: in one call where that is linear."""
    if maps.legendre_block(system, project).is_linear:
        found = run.at_points(maps.velocity_map(system, project), run.carried_momenta)
        if not project and system.constraints and np.isnan(found).any():  # masses alone may not determine them
            both = run.at_points(maps.velocity_map(system, True), run.carried_momenta)
            found = np.where(np.isnan(found).any(axis=-1, keepdims=True), both, found)
        return found
    lanes = zip(
        run.table("position"),
        run.carried_momenta,
        run.table("entropy"),
        run.parameter_rows,
        run.near_velocities,
        strict=True,
    )
    points = ((np.column_stack([q, p, S, run.time]), rows[None, :], near) for q, p, S, rows, near in lanes)
    return np.stack([velocities(system, at, rows, project, near) for at, rows, near in points])


def _searched(system: System, points: Array, rows: Array, project: bool, near: Array) -> Array:
    """The search from nearby velocities; where none is known, from the solution at the point before."""
    search = Search(system, points, rows, project)
    n = len(system.coordinates)
    known: Array = np.asarray(np.isfinite(near).all(axis=1))
    found = np.full((len(points), n), np.nan)
    size = np.abs(near[known]).max(axis=0, initial=0.0)
    if known.any():
        found[known] = search.at(known).from_velocities(near[known], size)
    for k in np.flatnonzero(~known & np.isfinite(points).all(axis=1)):
        if k > 0 and np.isfinite(found[k - 1]).all():
            found[k] = search.at(np.arange(len(points)) == k).from_velocities(found[[k - 1]], size)[0]
    lost = np.isnan(found).any(axis=1) & np.isfinite(points).all(axis=1) & known
    if not project and system.constraints and lost.any():  # masses alone may not determine the velocities
        found[lost] = Search(system, points[lost], search.rows[lost], True).from_velocities(near[lost], size)
    return found


class Search:
    """Newton's method for p = dL/dv at many points at once; a step that would cross a fold is halved."""

    def __init__(self, system: System, points: Array, rows: Array, project: bool):
        self.system, self.points, self.project = system, points, project
        self.rows = np.broadcast_to(rows, (len(points), rows.shape[1]))
        block = maps.legendre_block(system, project)
        self.size = len(block.unknowns)
        self.places = np.array(list(block.partials), dtype=int).reshape(-1, 2).T
        self._compiled = point_map(maps.legendre_map(system, project))

    def at(self, which: Array) -> Search:
        """The search at some of the points."""
        return Search(self.system, self.points[which], self.rows[which], self.project)

    def look(self, which: Array, z: Array) -> tuple[Array, Array, Array]:
        """Residuals, sizes of their terms and Jacobians at unknowns z of some of the points."""
        n = self.size
        table = self._compiled(np.column_stack([self.points[which], z]), self.rows[which])[0]
        matrix = np.zeros((len(table), n, n))
        matrix[:, self.places[0], self.places[1]] = table[:, 2 * n :]
        return table[:, :n], table[:, n : 2 * n], matrix

    def from_velocities(self, near: Array, size: Array | float = 0.0) -> Array:
        """The velocities on the branches of those given; NaN where there are none. A velocity that tends to zero is set
        to zero where it is rounding relative to `size`.
        """
        n = len(self.system.coordinates)
        z = np.column_stack([near, np.zeros((len(near), self.size - n))])
        unit = np.concatenate([np.broadcast_to(size, n), np.zeros(self.size - n)])
        going, found = np.arange(len(z)), np.zeros(len(z), dtype=bool)
        z, side = self._off_folds(z, unit)
        for _ in range(SEARCH):
            r, size, J = self.look(going, z[going])
            rho = relative_residual(r, size)
            d = _newton_steps(J, r, size)
            fraction = self._fraction(going, z[going], d, side[going], r, size)
            z[going] += fraction[:, None] * d
            small = (np.abs(fraction[:, None] * d) <= 1e-16 * np.maximum(np.abs(z[going]), unit))[:, :n].all(axis=1)
            stuck = small | (fraction == 0)
            done = (rho <= ENOUGH) | (stuck & ((rho <= CLOSE) | (small & (fraction == 1))))
            found[going[done]] = True
            going = going[~(done | stuck | ~np.isfinite(rho))]
            if not len(going):
                break
        return np.where(found[:, None], z[:, :n], np.nan)

    def _off_folds(self, z: Array, unit: Array) -> tuple[Array, Array]:
        """The side of the folds of every point; a point on a fold is moved off it."""
        everywhere = np.arange(len(z))
        r, size, J = self.look(everywhere, z)
        side = sides(J)
        on = (side == 0) & (relative_residual(r, size) > ENOUGH)
        if on.any():
            moved = z.copy()
            moved[on] += 1e-3 * np.where(unit > 0, unit, 1.0) * np.where(r[on] < 0, -1.0, 1.0)
            z, side = moved, np.where(on, sides(self.look(everywhere, moved)[2]), side)
        return z, side

    def _fraction(self, going: Array, z: Array, d: Array, side: Array, r: Array, size: Array) -> Array:
        """The fraction of each step that is taken: it crosses no fold and reduces the residual."""
        fraction, open_ = np.ones(len(z)), np.array(np.isfinite(d).all(axis=1))
        fraction[~open_] = 0.0
        before = _weighted(r, size)
        for _ in range(HALVINGS):
            k = np.flatnonzero(open_)
            if not len(k):
                break
            good = np.ones(len(k), dtype=bool)
            for part in BETWEEN:
                there, _, J = self.look(going[k], z[k] + (part * fraction[k])[:, None] * d[k])
                good &= np.isfinite(J).all(axis=(1, 2)) & np.isfinite(there).all(axis=1)
                good &= (side[k] == 0) | (sides(J) == side[k]) | (sides(J) == 0)
            good &= (_weighted(there, size[k]) < before[k]) | (before[k] <= ENOUGH)
            open_[k[good]] = False
            fraction[k[~good]] /= 2
        fraction[open_] = 0.0
        return fraction


def relative_residual(r: Array, size: Array) -> Array:
    """The largest residual relative to its terms; a row all of whose terms vanish is satisfied."""
    largest: Array = np.max(np.abs(r) / np.where(size == 0, 1.0, size), axis=1, initial=0.0)
    return largest


def _weighted(r: Array, size: Array) -> Array:
    largest: Array = np.max(np.abs(r) / np.where(size == 0, np.inf, size), axis=1, initial=0.0)
    return largest


def _equilibrated(J: Array) -> tuple[Array, Array, Array]:
    """The matrix with rows and columns divided by their sizes, and these."""
    row = np.abs(J).max(axis=2, keepdims=True, initial=0.0)
    row = np.where((row > 0) & np.isfinite(row), row, 1.0)
    column = np.abs(J / row).max(axis=1, keepdims=True, initial=0.0)
    column = np.where((column > 0) & np.isfinite(column), column, 1.0)
    return J / row / column, row[:, :, 0], column[:, 0, :]


def sides(J: Array) -> Array:
    """The sign of the determinant; 0 where it is rounding or undefined."""
    scaled = np.nan_to_num(_equilibrated(J)[0], nan=0.0, posinf=0.0, neginf=0.0)
    value = np.linalg.det(scaled)
    return np.where(np.abs(value) > 1e-14 * J.shape[1], np.sign(value), 0.0)


def _newton_steps(J: Array, r: Array, size: Array) -> Array:
    """-J^-1 r, of least length where J is singular."""
    scaled, row, column = _equilibrated(J)
    steps = np.full_like(r, np.nan)
    good = np.isfinite(scaled).all(axis=(1, 2)) & np.isfinite(r).all(axis=1)
    inverse = np.linalg.pinv(scaled[good], rcond=1e-15)
    steps[good] = -np.einsum("kij,kj->ki", inverse, r[good] / row[good]) / column[good]
    return steps
