"""Random states on the constraint manifold, with the accelerations there: how a conservation law is checked by value.

A state is on shell if it satisfies the constraints; accelerations and multipliers follow from the equations of motion.
Whether a quantity is conserved is then a question of numbers: its rate at such states, for any parameter values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import sympy
from sympy import Expr

from ..budget import Budget
from ..model.coordinates import Coordinate, time
from ..model.system import System
from ..symbolic import Fast, fast, gradient, jacobian
from .algebra import linear_solution
from .lagrange import mass_matrix, motion_residual, multipliers, readable

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


class Shell:
    """The states a system can be in, to draw from and to evaluate on."""

    def __init__(self, system: System):
        self.system = system
        self.symbols = (*system.coordinates, *system.velocities, time, *system.parameters)

    # functions of a state
    def function(self, expressions: Sequence[Any]) -> Callable[[Array], Array]:
        """(states as rows) -> one column per expression."""
        import numpy as np
        import symengine

        listed = [fast(e) for e in expressions]
        if not listed:
            return lambda rows: np.zeros((len(rows), 0))
        call = symengine.Lambdify([fast(s) for s in self.symbols], listed, real=True, cse=True)

        def evaluated(rows: Array) -> Array:
            with np.errstate(all="ignore"):
                return np.asarray(call(np.ascontiguousarray(rows))).reshape(len(rows), len(listed))

        return evaluated

    def values(self, expressions: Sequence[Any], at: States) -> Array:
        """The values of some expressions, one column each."""
        return self.function(expressions)(at.inputs)

    def rates(self, expressions: Sequence[Any], at: States) -> tuple[Array, Array]:
        """d/dt of some expressions along the motion, and the size of what it is the sum of.

        An acceleration that is zero is so up to the rounding of the forces that balance; so the largest acceleration or
        velocity of a state counts for the size of each.
        """
        import numpy as np

        s, n = self.system, len(self.system.coordinates)
        along = np.column_stack([at.inputs[:, n : 2 * n], at.accelerations, np.ones(len(at))])
        slopes = [d for e in expressions for d in gradient(e, (*s.coordinates, *s.velocities, time))]
        table = self.function(slopes)(at.inputs).reshape(len(at), len(expressions), -1)
        size = np.abs(table).sum(axis=-1) * np.abs(along).max(axis=1, keepdims=True)
        return (table * along[:, None, :]).sum(axis=-1), size

    def conserved(self, expression: Any, count: int = 16, seed: int = 101) -> bool | None:
        """Whether d/dt of an expression is zero at fresh states and parameter values; None if it has no value there."""
        import numpy as np

        states = self.states(count, seed)
        if states is None:
            return None
        rate, size = (a[:, 0] for a in self.rates([expression], states))
        known = np.isfinite(rate) & np.isfinite(size)
        if known.sum() < count // 2:
            return None
        return bool((np.abs(rate[known]) <= 1e-9 * np.maximum(size[known], 1e-12)).all())

    # drawing states
    def parameter_values(self, seed: int) -> Array:
        """Random values of the parameters, of the sign that they were declared with."""
        import numpy as np

        return self._parameters(1, np.random.default_rng(seed))[0]

    def _parameters(self, count: int, rng: Any) -> Array:
        values = rng.uniform(0.4, 1.9, (count, len(self.system.parameters)))
        return values * [-1 if p.is_negative else 1 for p in self.system.parameters]

    def states(self, count: int, seed: int, parameters: Array | None = None) -> States | None:
        """Random states, with random parameters each unless those are given; None if hardly any could be found."""
        import numpy as np

        found: list[States] = []
        for attempt in range(12):
            rng = np.random.default_rng([seed, attempt])
            # Some expressions have values for positive positions only (roots, logarithms): those are tried in turn.
            some = self._draw(count + 8, rng, -1.6 if attempt % 2 == 0 else 0.3, parameters)
            found.append(some)
            if sum(map(len, found)) >= count:
                joined = (np.concatenate([getattr(f, k) for f in found])[:count] for k in _FIELDS)
                return States(*joined)
        return None

    def _draw(self, count: int, rng: Any, low: float, parameters: Array | None) -> States:
        import numpy as np

        n = len(self.system.coordinates)
        q, v = rng.uniform(low, 1.6, (count, n)), rng.uniform(-1.3, 1.3, (count, n))
        t = rng.uniform(0.2, 1.8, (count, 1))
        own = self._parameters(count, rng) if parameters is None else np.tile(parameters, (count, 1))
        rows = np.hstack([q, v, t, own])
        rows = self._projected(rows, self._positions, slice(0, n))
        rows = self._projected(rows, self._velocities, slice(n, 2 * n))
        matrix = self._motion[0](rows).reshape(len(rows), *self._size)
        with np.errstate(all="ignore"):
            good = np.isfinite(matrix).all(axis=(1, 2))
            good[good] = np.linalg.cond(matrix[good]) < 1e5
        states = self.moving(rows[good])
        good = (np.abs(states.accelerations) < 1e5).all(axis=1)
        return States(*(getattr(states, field)[good] for field in _FIELDS))

    @property
    def _size(self) -> tuple[int, int]:
        size = len(self.system.coordinates) + len(self.system.constraints)
        return size, size

    def moving(self, inputs: Array) -> States:
        """States with the accelerations and multipliers that the equations give them; not-a-number where they give none."""
        import numpy as np

        matrix, right = (function(inputs) for function in self._motion)
        matrix, sought = matrix.reshape(len(inputs), *self._size), np.full(right.shape, np.nan)
        good = np.isfinite(matrix).all(axis=(1, 2)) & np.isfinite(right).all(axis=1)
        sought[good] = np.linalg.solve(matrix[good], right[good][..., None])[..., 0]
        n = len(self.system.coordinates)
        return States(inputs, sought[:, :n], sought[:, n:])

    def _projected(self, rows: Array, level: tuple[int, Any, Any], part: slice) -> Array:
        """Newton's method, by the shortest step to the constraints; rows that do not get there are left out."""
        import numpy as np

        m, value, slope = level
        if not m or not len(rows):
            return rows
        rows, n = rows.copy(), len(self.system.coordinates)
        for _ in range(40):
            a, c = slope(rows).reshape(-1, m, n), value(rows)
            good = np.isfinite(a).all(axis=(1, 2)) & np.isfinite(c).all(axis=1)
            rows, a, c = rows[good], a[good], c[good]
            if not len(rows) or np.abs(c).max() < 1e-13:
                break
            rows[:, part] -= np.einsum("kij,kj->ki", np.linalg.pinv(a), c)
        c = value(rows)
        small = (np.abs(c).max(axis=1, initial=0) < 1e-11) & (np.abs(rows[:, part]).max(axis=1, initial=0) < 20)
        return rows[small]

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
    def _motion(self) -> tuple[Any, Any]:
        sought = [*(q.ddot for q in self.system.coordinates), *multipliers(self.system)]
        residual = motion_residual(self.system)
        at_rest = {fast(s): fast(0) for s in sought}
        matrix = self.function([a for row in jacobian(residual, sought) for a in row])
        return matrix, self.function([-r.subs(at_rest) for r in residual])

    def rank(self, expressions: Sequence[Any], seed: int = 7) -> int:
        """How many of some quantities are functionally independent on the manifold, at a fixed time."""
        import numpy as np

        states = self.states(3, seed)
        if states is None or not expressions:
            return 0
        bound = [*(c.expression for c in self.system.holonomic), *self.constraints]
        state = (*self.system.coordinates, *self.system.velocities)
        slopes = self.values([d for e in (*bound, *expressions) for d in gradient(e, state)], states)
        ranks = []
        for row in slopes.reshape(len(states), len(bound) + len(expressions), len(state)):
            if np.isfinite(row).all():
                unit = row / np.maximum(np.linalg.norm(row, axis=1, keepdims=True), 1e-300)
                ranks.append(_rank(unit) - _rank(unit[: len(bound)]))
        return max(ranks, default=0)

    def generator(self, linear: Any) -> dict[Coordinate, Expr] | None:
        """xi with p.xi = the part of an integral linear in the velocities: the symmetry it belongs to by Noether's theorem.

        None where forces or constraints act, or where the mass matrix is too large to be inverted.
        """
        s = self.system
        if s.constraints or len(s.coordinates) > 4 or any(f != 0 for f in s.force):
            return None
        mass = sympy.Matrix([[readable(a, s) for a in row] for row in mass_matrix(s)])
        right = sympy.Matrix([readable(d, s) for d in gradient(linear, s.velocities)])
        solved = Budget(1).call(linear_solution, mass, right)
        return None if solved is None else dict(zip(s.coordinates, solved, strict=True))


_FIELDS = ("inputs", "accelerations", "multipliers")


def _rank(matrix: Array) -> int:
    import numpy as np

    return int(np.linalg.matrix_rank(matrix, tol=1e-8)) if matrix.size else 0


@lru_cache(maxsize=16)
def shell(system: System) -> Shell:
    """The shell of a system, made once."""
    return Shell(system)
