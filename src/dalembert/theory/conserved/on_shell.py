"""Quantities at random states on the constraint manifold: how a conservation law is checked by value.

A state is on shell if it satisfies the constraints; accelerations and multipliers follow from the equations of motion.
Whether a quantity is conserved is then a question of numbers: its rate at such states, for any parameter values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import sympy
from sympy import Expr

from ...decide import balls
from ...decide.balls import Ball, Point
from ...decide.budget import Budget
from ...decide.elimination import highest_rank, rank, solution
from ...decide.jumps import jumps
from ...decide.sample import projected
from ...model.coordinates import Coordinate
from ...model.system import System
from ...symbolic import fast, gradient, jacobian
from ..algebra import linear_solution
from ..motion.lagrange import mass_matrix, parted, readable
from .state_source import Array, States, StateSource


@dataclass(frozen=True, eq=False)
class ExactState:
    """A state on shell in ball arithmetic, with its accelerations; `along` has the rates of positions, velocities, time."""

    point: Point
    accelerations: list[Ball]
    along: list[Ball]


class Shell(StateSource):
    """Admissible states of a system, to sample and to evaluate expressions at.

    Searches use floating point; results are confirmed in ball arithmetic.
    """

    def __init__(self, system: System):
        super().__init__(system)
        self._more_exact: dict[bool, list[ExactState]] = {True: [], False: []}

    def rates(self, expressions: Sequence[Any], at: States) -> tuple[Array, Array]:
        """d/dt of some expressions along the motion, and the size of its terms.

        An acceleration that is zero is so up to the rounding of the forces that balance; so the largest acceleration or
        velocity of a state, in units of the scale of the system, counts for the size of each.
        """
        import numpy as np

        unit = self._sizes(self.moving_symbols)
        along = np.column_stack([self.groups.of(at.inputs, "velocity"), at.accelerations, np.ones(len(at))])
        slopes = [d for e in expressions for d in gradient(e, self.moving_symbols)]
        occurring = [k for k, d in enumerate(slopes) if d != 0]
        flat = np.zeros((len(at), len(slopes)))
        flat[:, occurring] = self.function([slopes[k] for k in occurring])(at.inputs)
        table = flat.reshape(len(at), len(expressions), -1)
        fastest = np.abs(along / unit).max(axis=1, keepdims=True)
        return (table * along[:, None, :]).sum(axis=-1), (np.abs(table) * unit).sum(axis=-1) * fastest

    def conserved(self, expression: Any, count: int = 16, seed: int = 101) -> bool | None:
        """Whether d/dt of an expression is zero at fresh states and parameter values; None if it has no value there.

        A rate that is clearly not zero in floating point is decisive; otherwise the balls of the rate are. The expression must
        not jump from branch to branch either.
        """
        import numpy as np

        states = self.states(count, seed)
        if states is None:
            return None
        rate, size = (a[:, 0] for a in self.rates([expression], states))
        known = np.isfinite(rate) & np.isfinite(size)
        if known.sum() < count // 2:
            return None
        if (np.abs(rate[known]) > 1e-5 * size[known]).any():
            return False
        said = self._confirmed(expression)
        return said and not self.jumps(expression)

    def jumps(self, expression: Any) -> bool:
        """Whether an expression jumps from branch to branch."""
        return bool(jumps(expression, self.moving_symbols, self.scales))

    def _confirmed(self, expression: Any) -> bool | None:
        """Whether the ball of the rate contains zero at every exact state; None if it is bounded at none."""
        slopes, said = gradient(expression, self.moving_symbols), None
        with balls.precise() as flint:
            for state in self._exact:
                table = balls.raw_values([slopes], state.point)[0]
                rate = sum((d * a for d, a in zip(table, state.along, strict=True)), start=flint.arb(0))
                if rate.is_finite():
                    if not rate.contains(0):
                        return False
                    said = True
        return said

    @cached_property
    def _exact(self) -> list[ExactState]:
        """States in ball arithmetic, those of every branch among them."""
        return self._exact_drawn(4 + 4 * len(self._kinks), 131)

    def exact_states(self, count: int, parameters: Array | None = None) -> list[ExactState]:
        """About `count` states in ball arithmetic, those of every branch among them."""
        free = parameters is None
        if len(self._more_exact[free]) < count:
            self._more_exact[free] = self._exact_drawn(count + 4 * len(self._kinks), 137, parameters)
        return self._more_exact[free]

    def _exact_drawn(self, count: int, seed: int, parameters: Array | None = None) -> list[ExactState]:
        drawn = self.states(count, seed, parameters, decades=1.0)
        rows = [] if drawn is None else drawn.inputs
        found = [self._exact_state(dict(zip((s.name for s in self.symbols), map(float, r), strict=True))) for r in rows]
        return [s for s in found if s is not None]

    @property
    def exact_points(self) -> list[Point]:
        """States on the constraints, in ball arithmetic."""
        return [s.point for s in self._exact]

    def _exact_state(self, near: dict[str, float]) -> ExactState | None:
        """The state on the constraints near one found in floating point, with its accelerations."""
        s = self.system
        phi = [fast(c.expression) for c in s.holonomic]
        placed = projected(phi, near, [q.name for q in s.coordinates], self.scales)
        point = None if placed is None else projected(
            self.constraints, placed, [v.name for v in s.velocities], self.scales
        )  # fmt: skip
        if point is None:
            return None
        matrix, right = self._equations
        grid, force = balls.values(matrix, point), balls.values([right], point)
        if grid is None or force is None:
            return None
        sought = solution(grid, force[0])
        if sought is None:
            return None
        with balls.precise() as flint:
            accelerations = parted(s, sought)[0]
            return ExactState(
                point, accelerations, [*(point[v.name] for v in s.velocities), *accelerations, flint.arb(1)]
            )

    def rank(self, expressions: Sequence[Any]) -> int:
        """How many of some quantities are functionally independent on the manifold, at a fixed time."""
        if not expressions:
            return 0
        bound = [*(c.expression for c in self.system.holonomic), *self.constraints]
        state = (*self.system.coordinates, *self.system.velocities)
        held, rows = jacobian(bound, state), jacobian(expressions, state)
        found = [(balls.values(held, s.point), balls.values(rows, s.point)) for s in self._exact[:3]]
        return max((rank([*a, *b]) - rank(a) for a, b in found if a is not None and b is not None), default=0)

    @cached_property
    def dimension(self) -> int:
        """The dimension of the set of states on the constraints: positions and velocities."""
        bound = [*(c.expression for c in self.system.holonomic), *self.constraints]
        held = jacobian(bound, (*self.system.coordinates, *self.system.velocities))
        return 2 * self._n - highest_rank(held, self.exact_points[:3]) if bound else 2 * self._n

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


@lru_cache(maxsize=16)
def shell(system: System) -> Shell:
    """The shell of a system, made once."""
    return Shell(system)
