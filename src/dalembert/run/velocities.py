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
from ..engine.kernels import sought_of
from ..model.system import System
from ..symbolic import fast
from ..theory.motion import state_maps as maps
from ..waist.layout import segments, spans
from ..waist.stepmap import StepMap
from .values import Array, point_map

if TYPE_CHECKING:
    from .recorded_run import RecordedRun
    from .trajectory import Trajectory

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
    first, sought = _first_velocities(stepmap, system, stepmap.sought), sought_of(stepmap, carry)
    return np.stack([sought[:, j] if j is not None else np.full(len(carry), np.nan) for j in first], axis=1)


def expected_multipliers(stepmap: StepMap, names: Sequence[str], carry: Array) -> Array | None:
    """Multipliers of these names from the carry of lanes: those of the step before, or of the start; None if not sought."""
    if not names or not set(names) <= set(stepmap.sought):
        return None
    found: Array = sought_of(stepmap, carry)[:, [stepmap.sought.index(name) for name in names]]
    return found


def settle_near(run: Trajectory, system: System, expected: Array) -> None:
    """Set the near velocities of a run. A step may cross a fold: then that of the step before is near its first node.

    `expected` are the velocities before the first node; a step that failed has none of its own.
    """
    names = near_names(system)
    if not set(names) <= set(run.columns):
        return
    at = [run.columns.index(name) for name in names]
    project = bool(system.constraints) and (run.method is None or run.method.impulsive)
    for lane, row in enumerate(run.parameter_rows[:, None, :]):
        near = run.records[lane][:, at]
        near[0] = np.where(np.isfinite(near[0]), near[0], expected[lane])
        before = np.vstack([expected[[lane]], near[:-1]])
        tables = (run.table("position")[lane], run.carried_momenta[lane], run.table("entropy")[lane], run.time[:, None])
        search = Search(system, np.column_stack(tables), row, project)
        other = differ(search.sides(before), search.sides(near))
        other[after_changes(run, lane)] = False
        run.records[lane][:, at] = np.where(other[:, None], before, near)


def after_changes(run: RecordedRun, lane: int) -> list[int]:
    """Nodes before which an event changed the state of a lane, and the nodes after these."""
    first = [int(np.searchsorted(run.time, c.time)) for c in run.events if c.lane == lane and c.changed]
    return [k for j in first for k in (j, j + 1) if k < len(run.time)]


def differ(one: Array, two: Array) -> Array:
    """Which sides are different, where both are known."""
    return np.asarray((one != two) & (one != 0) & (two != 0))


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
        self.n, self.size = len(system.coordinates), len(block.unknowns)
        self.moving, self.held = spans(self.n, self.size - self.n)
        self.places = np.array(list(block.partials), dtype=int).reshape(-1, 2).T
        self._compiled, self._groups = (
            point_map(maps.legendre_map(system, project)),
            maps.legendre_groups(system, project),
        )

    def at(self, which: Array) -> Search:
        """The search at some of the points."""
        return Search(self.system, self.points[which], self.rows[which], self.project)

    def look(self, which: Array, z: Array) -> tuple[Array, Array, Array]:
        """Residuals, sizes of their terms and Jacobians at unknowns z of some of the points."""
        table, of = self._compiled(np.column_stack([self.points[which], z]), self.rows[which])[0], self._groups.of
        matrix = np.zeros((len(table), self.size, self.size))
        matrix[:, self.places[0], self.places[1]] = of(table, "slope")
        return of(table, "residual"), of(table, "size"), matrix

    def from_velocities(self, near: Array, size: Array | float = 0.0) -> Array:
        """The velocities on the branches of those given; NaN where there are none. A velocity that tends to zero is set
        to zero where it is rounding relative to `size`.
        """
        n = self.n
        z = self.start(near)
        unit = np.concatenate([np.broadcast_to(size, n), np.zeros(self.size - n)])
        going, found = np.arange(len(z)), np.zeros(len(z), dtype=bool)
        z, side = self._off_folds(z, unit)
        for _ in range(SEARCH):
            r, size, J = self.look(going, z[going])
            rho = relative_residual(r, size)
            d = _newton_steps(J, r, size)
            fraction = self._fraction(going, z[going], d, side[going], r, size)
            z[going] += fraction[:, None] * d
            small = (np.abs(fraction[:, None] * d) <= 1e-16 * np.maximum(np.abs(z[going]), unit))[:, self.moving].all(
                axis=1
            )
            stuck = small | (fraction == 0)
            done = (rho <= ENOUGH) | (stuck & ((rho <= CLOSE) | (small & (fraction == 1))))
            found[going[done]] = True
            going = going[~(done | stuck | ~np.isfinite(rho))]
            if not len(going):
                break
        return np.where(found[:, None], z[:, self.moving], np.nan)

    def start(self, v: Array) -> Array:
        """Unknowns to begin at: velocities, and the multipliers that a step of Newton's method finds there.

        The equations are linear in the multipliers, so these are right where the velocities are.
        """
        z = self.without_multipliers(v)
        if self.size > self.n:
            r, size, J = self.look(np.arange(len(z)), z)
            z[:, self.held] = np.nan_to_num(_newton_steps(J, r, size)[:, self.held])
        return z

    def without_multipliers(self, v: Array) -> Array:
        """Velocities, and multipliers that are zero."""
        return np.column_stack([v, np.zeros((len(v), self.size - self.n))])

    def sides(self, v: Array) -> Array:
        """The pieces between folds in which velocities are, one row for each point."""
        return sides(self.look(np.arange(len(v)), self.start(v))[2], self.n)

    def _off_folds(self, z: Array, unit: Array) -> tuple[Array, Array]:
        """The side of the folds of every point; a point on a fold is moved off it."""
        everywhere = np.arange(len(z))
        r, size, J = self.look(everywhere, z)
        side = sides(J, self.n)
        on = (side == 0) & (relative_residual(r, size) > ENOUGH)
        if on.any():
            moved = z.copy()
            moved[on] += 1e-3 * np.where(unit > 0, unit, 1.0) * np.where(r[on] < 0, -1.0, 1.0)
            z, side = moved, np.where(on, sides(self.look(everywhere, moved)[2], self.n), side)
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
                here = sides(J, self.n)
                good &= (side[k] == 0) | (here == side[k]) | (here == 0)
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


def sides(J: Array, n: int) -> Array:
    """A number of the piece, between folds, in which each matrix is; 0 where its determinant is rounding or undefined.

    The first n unknowns are velocities. The determinant changes its sign at a fold, but not where two velocities reach theirs
    together. Of a symmetric matrix, as constraints with their own reactions have it, negative eigenvalues are counted too.
    """
    scaled = np.nan_to_num(_equilibrated(J)[0], nan=0.0, posinf=0.0, neginf=0.0)
    value = np.linalg.det(scaled)
    side = np.where(np.abs(value) > 1e-14 * J.shape[1], np.sign(value), 0.0)
    if J.shape[1] == 1:
        return side
    whole = np.nan_to_num(J, nan=0.0, posinf=0.0, neginf=0.0)
    _, held = spans(n, J.shape[1] - n)
    whole[:, held] *= -1
    for _ in range(3):  # congruent matrices have as many negative eigenvalues
        size = np.sqrt(np.abs(whole).max(axis=2))
        size = np.where(size > 0, size, 1.0)
        whole = whole / size[:, :, None] / size[:, None, :]
    symmetric = np.abs(whole - whole.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0) <= 1e-9
    negative = (np.linalg.eigvalsh(whole) < 0).sum(axis=1)
    return np.where(symmetric, side * (1 + negative), side)


def _newton_steps(J: Array, r: Array, size: Array) -> Array:
    """-J^-1 r, of least length where J is singular."""
    scaled, row, column = _equilibrated(J)
    steps = np.full_like(r, np.nan)
    good = np.isfinite(scaled).all(axis=(1, 2)) & np.isfinite(r).all(axis=1)
    inverse = np.linalg.pinv(scaled[good], rcond=1e-15)
    steps[good] = -np.einsum("kij,kj->ki", inverse, r[good] / row[good]) / column[good]
    return steps
