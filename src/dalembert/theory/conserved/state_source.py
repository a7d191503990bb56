"""Random states on the constraint manifold, with the accelerations there, in floating point."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...decide.sample import across, boundaries, in_branches
from ...model.coordinates import time
from ...model.scales import system_scales
from ...model.system import System
from ...symbolic import Fast, fast, jacobian, vectorised
from ...waist.layout import Groups, spans
from ..motion.lagrange import linear_motion, parted

Array = Any
"""A NumPy array; NumPy is imported when there are numbers to compute."""


@dataclass(frozen=True, eq=False)
class States:
    """States on shell: one row each of positions, velocities, time and parameters; and the accelerations there."""

    inputs: Array
    accelerations: Array
    multipliers: Array

    def __len__(self) -> int:
        return len(self.inputs)

    def some(self, which: Any) -> States:
        """Some of the states."""
        return States(self.inputs[which], self.accelerations[which], self.multipliers[which])


def _joined(parts: Sequence[States]) -> States:
    import numpy as np

    fields = ([getattr(p, field) for p in parts] for field in ("inputs", "accelerations", "multipliers"))
    return States(*map(np.concatenate, fields))


class StateSource:
    """Admissible states of a system, sampled.

    States are drawn at the scale of the system and over some decades around it, and on both sides of every boundary between
    branches.
    """

    def __init__(self, system: System):
        self.system = system
        self.symbols = (*system.coordinates, *system.velocities, time, *system.parameters)
        self.scales = system_scales(system)
        self._n = len(system.coordinates)
        self.groups = Groups(
            position=system.coordinates, velocity=system.velocities, time=[time], parameter=system.parameters
        )
        """The columns of states."""
        self._unit = self._sizes(self.symbols)
        self.pace = self.scales[time.name]
        """The time scale."""
        self._drawn: dict[Any, States | None] = {}

    def _sizes(self, symbols: Sequence[Any]) -> Array:
        import numpy as np

        return np.array([self.scales[s.name] for s in symbols])

    # functions of a state
    def function(self, expressions: Sequence[Any]) -> Callable[[Array], Array]:
        """(states as rows) -> one column per expression."""
        compiled: Callable[[Array], Array] = vectorised(self.symbols, expressions)
        return compiled

    def values(self, expressions: Sequence[Any], at: States) -> Array:
        """The values of some expressions, one column each."""
        return self.function(expressions)(at.inputs)

    @cached_property
    def moving_symbols(self) -> tuple[Any, ...]:
        """The symbols that change along a motion."""
        return (*self.system.coordinates, *self.system.velocities, time)

    def parameter_values(self, seed: int) -> Array:
        """Random values of the parameters, of the sign that they were declared with."""
        import numpy as np

        return self._parameters(1, np.random.default_rng(seed))[0]

    def _parameters(self, count: int, rng: Any) -> Array:
        values = rng.uniform(0.4, 1.9, (count, len(self.system.parameters))) * self._sizes(self.system.parameters)
        return values * [-1 if p.is_negative else 1 for p in self.system.parameters]

    def states(self, count: int, seed: int, parameters: Array | None = None, decades: float = 0.0) -> States | None:
        """Random states, with random parameters each unless those are given; None if too few could be found.

        Where there are branches, as many of each as possible. The same arguments give the same states.
        """
        key = (count, seed, None if parameters is None else parameters.tobytes(), decades)
        if key not in self._drawn:
            self._drawn[key] = self._new_states(count, seed, parameters, decades)
        return self._drawn[key]

    def _new_states(self, count: int, seed: int, parameters: Array | None, decades: float) -> States | None:
        import numpy as np

        found: list[States] = []
        for attempt in range(16):
            rng = np.random.default_rng([seed, attempt])
            # Some expressions have values for positive positions only (roots, logarithms): those are tried in turn.
            rows = self._rows(count + 8, rng, -1.6 if attempt % 2 == 0 else 0.3, parameters, decades)
            if attempt == 0:
                rows = np.vstack([*self._both_sides(rows[:2], seed), rows])
            # A steep potential may leave no state at which accelerations are of the size of the scale.
            found.append(self._on_shell(rows, 1e5 if attempt < 12 else np.inf))
            if sum(map(len, found)) >= count:
                break
        else:
            return None
        pool = _joined(found)
        return self._of_all_branches(pool, count, seed, parameters) if self._kinks else pool.some(slice(count))

    def _rows(self, count: int, rng: Any, low: float, parameters: Array | None, decades: float) -> Array:
        import numpy as np

        q, v = rng.uniform(low, 1.6, (count, self._n)), rng.uniform(-1.3, 1.3, (count, self._n))
        t = rng.uniform(0.2, 1.8, (count, 1))
        moving = np.hstack([q, v, t]) * self._sizes(self.moving_symbols)
        if decades:
            moving = moving * 10 ** rng.uniform(-decades, decades, moving.shape)
        own = self._parameters(count, rng) if parameters is None else np.tile(parameters, (count, 1))
        return np.hstack([moving, own])

    @cached_property
    def _kinks(self) -> list[Fast]:
        """The boundaries between branches in the expressions of the system."""
        s = self.system
        return boundaries([s.lagrangian, *s.force, *(c.expression for c in s.constraints)])

    def _both_sides(self, rows: Array, seed: int) -> list[Array]:
        """States on both sides of every boundary, made from given ones by moving one coordinate or velocity."""
        import numpy as np

        names, found, rng = [s.name for s in self.symbols], [], random.Random(seed)
        moved = [s.name for s in self.moving_symbols]
        for row in rows if self._kinks else []:
            at = dict(zip(names, map(float, row), strict=True))
            for kink in self._kinks:
                found += [np.array([p[n] for n in names]) for p in across(kink, at, self.scales, rng, moved)]
            for _ in range(min(2 ** len(self._kinks), 8) if len(self._kinks) > 1 else 0):
                far = in_branches(self._kinks, at, self.scales, rng, moved)
                found.append(np.array([far[n] for n in names]))
        return found

    def _of_all_branches(self, known: States, count: int, seed: int, parameters: Array | None) -> States:
        """`count` states, of each branch in turn; more are drawn, farther away, until there are enough of each."""
        import numpy as np

        side = self.function(self._kinks)
        for decades in (0.0, 1.0, 2.0, 3.0):
            branch, place = np.unique(np.sign(side(known.inputs)), axis=0, return_inverse=True)
            if np.bincount(place.ravel()).min() * len(branch) >= count and len(branch) > 1:
                break
            rng = np.random.default_rng([seed, 77, int(decades)])
            known = _joined([known, self._on_shell(self._rows(count, rng, -1.6, parameters, decades))])
        branch, place = np.unique(np.sign(side(known.inputs)), axis=0, return_inverse=True)
        turn = np.zeros(len(known), dtype=int)
        for k in range(len(branch)):
            mine = np.flatnonzero(place.ravel() == k)
            turn[mine] = np.arange(len(mine))
        return known.some(np.argsort(turn, kind="stable")[:count])

    def _on_shell(self, rows: Array, largest: float = 1e5) -> States:
        """The rows that can be brought onto the constraints and whose accelerations are well determined, and not too large."""
        import numpy as np

        rows = self._projected(rows, self._positions, self.groups.columns("position"))
        rows = self._projected(rows, self._velocities, self.groups.columns("velocity"))
        matrix = self._scaled(self._motion[0](rows).reshape(len(rows), *self._size))[0]
        with np.errstate(all="ignore"):
            good = np.isfinite(matrix).all(axis=(1, 2))
            good[good] = np.linalg.cond(matrix[good]) < 1e5
        states = self.moving(rows[good])
        slow = self.groups.of(self._unit, "velocity") / self.pace
        good = (np.abs(states.accelerations / slow) < largest).all(axis=1)
        return states.some(good)

    @property
    def _size(self) -> tuple[int, int]:
        size = self._n + len(self.system.constraints)
        return size, size

    def moving(self, inputs: Array) -> States:
        """States with the accelerations and multipliers that the equations give them; not-a-number where undetermined."""
        import numpy as np

        matrix, right = (function(inputs) for function in self._motion)
        matrix, sought = matrix.reshape(len(inputs), *self._size), np.full(right.shape, np.nan)
        good = np.isfinite(matrix).all(axis=(1, 2)) & np.isfinite(right).all(axis=1)
        scaled, row, column = self._scaled(matrix[good])
        sought[good] = np.linalg.solve(scaled, (right[good] * row)[..., None])[..., 0] * column
        return States(inputs, *(part.T for part in parted(self.system, sought.T)))

    def _scaled(self, matrix: Array) -> tuple[Array, Array, Array]:
        """The matrices of the equations of motion in units of the scale, with the factors of their rows and columns.

        Accelerations and forces are counted in the scales of the coordinates, multipliers and constraints in units that
        make the largest entry of each one.
        """
        import numpy as np

        size = np.ones(self._size[0])
        q, m = spans(self._n, len(size) - self._n)
        size[q] = self.groups.of(self._unit, "position")
        row, column = np.tile(size, (len(matrix), 1)), np.tile(size, (len(matrix), 1))

        def largest(part: Array, axes: Any) -> Array:
            found = np.abs(part).max(axis=axes, initial=0)
            return np.where(found > 0, found, 1)

        scaled = matrix * row[:, :, None] * column[:, None, :]
        row[:, q] /= largest(scaled[:, q, q], (1, 2))[:, None]
        row[:, m] /= largest(scaled[:, m, :], 2)
        scaled = matrix * row[:, :, None] * column[:, None, :]
        column[:, m] /= largest(scaled[:, :, m], 1)
        return matrix * row[:, :, None] * column[:, None, :], row, column

    def _projected(self, rows: Array, level: tuple[int, Any, Any], part: slice) -> Array:
        """Newton's method, by the shortest step to the constraints; rows that do not converge are left out.

        Steps and distances are counted in units of the scale.
        """
        import numpy as np

        m, value, slope = level
        if not m or not len(rows):
            return rows
        rows, n, unit = rows.copy(), self._n, self._unit[part]

        def distances(rows: Array) -> tuple[Array, Array]:
            a, c = slope(rows).reshape(-1, m, n) * unit, value(rows)
            steep = np.linalg.norm(a, axis=2)
            steep = np.where(steep > 0, steep, 1)
            return a / steep[..., None], c / steep

        for _ in range(40):
            a, c = distances(rows)
            good = np.isfinite(a).all(axis=(1, 2)) & np.isfinite(c).all(axis=1)
            rows, a, c = rows[good], a[good], c[good]
            if not len(rows) or np.abs(c).max() < 1e-13:
                break
            rows[:, part] -= np.einsum("kij,kj->ki", np.linalg.pinv(a), c) * unit
        near = np.abs(distances(rows)[1]).max(axis=1, initial=0) < 1e-11
        return rows[near & (np.abs(rows[:, part] / unit).max(axis=1, initial=0) < 1e3)]

    @cached_property
    def _positions(self) -> tuple[int, Any, Any]:
        phi = [c.expression for c in self.system.holonomic]
        rows = jacobian(phi, self.system.coordinates)
        return len(phi), self.function(phi), self.function([a for row in rows for a in row])

    @cached_property
    def _velocities(self) -> tuple[int, Any, Any]:
        chi = self.constraints
        rows = jacobian(chi, self.system.velocities)
        return len(chi), self.function(chi), self.function([a for row in rows for a in row])

    @cached_property
    def constraints(self) -> list[Fast]:
        """Every constraint as a relation between velocities."""
        return [fast(c.velocity_form(self.system.coordinates)) for c in self.system.constraints]

    @cached_property
    def _equations(self) -> tuple[list[list[Fast]], list[Fast]]:
        """The linear equations for accelerations and multipliers: matrix and right-hand side."""
        linear = linear_motion(self.system)
        return linear.matrix, linear.right

    @cached_property
    def _motion(self) -> tuple[Any, Any]:
        matrix, right = self._equations
        return self.function([a for row in matrix for a in row]), self.function(right)
