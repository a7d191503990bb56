"""Reference solutions of stiff systems: SciPy's Radau on the compiled equations of motion."""

from __future__ import annotations

import numpy as np

from ..engine.kernels import STATUS_WIDTH
from ..engine.status import Status
from ..methods.reference import Reference
from ..model.space import numbers, per_number
from ..model.system import System
from ..theory.motion import state_maps as maps
from ..waist.domain import conditions, violated
from .adaptive import Adaptive, Left
from .given_start import Start
from .interrupts import Interrupts
from .plan import Plan
from .progress import Progress
from .projection import Projection
from .trajectory import Trajectory
from .values import Array, point_map


def solve_stiff(plan: Plan, start: Start, held: Interrupts) -> Trajectory:
    """The motion at the output times, one lane after the other; after an interruption the others have their start only."""
    system, method = plan.system, plan.method
    assert isinstance(system, System)
    assert isinstance(method, Reference)
    q = system.coordinates
    others = (*system.entropies, *system.principle.carried(system))
    names = (*numbers(q), *(c.dot.name for c in q), *(s.name for s in others))
    records = np.full((len(start.q), len(plan.times), len(names)), np.nan)
    codes = np.zeros((len(start.q), STATUS_WIDTH), dtype=np.int64)
    rows = np.broadcast_to(plan.rows, (len(start.q), plan.rows.shape[1]))
    with Progress(plan.progress, len(start.q)) as shown:
        for lane, state in enumerate(start.state):
            motion = _Motion(system, method, rows[lane : lane + 1])
            reached, code = motion.solve(state, plan.times, records[lane], held)
            codes[lane, :2] = code, reached * plan.extent.every if code else plan.extent.steps
            try:
                shown.tell(lane + 1)
            except KeyboardInterrupt:  # raised by a progress function
                held.end()
    none = np.full(len(start.q), np.nan)
    return plan.trajectory(records=records, columns=names, codes=codes, residual=none, carry=records[:, -1].copy())


TORN = 1e-4
"""Largest relative change of a velocity by a projection."""


class _Domain:
    """Whether a motion has left the domain of the model since the last point that was checked."""

    def __init__(self, system: System, rows: Array):
        self.conditions, self.rows = conditions(system.expressions()), rows
        terms = [u for c in self.conditions for u in c.terms]
        self.compiled = point_map(maps.quantity_map(system, {f"term {i}": u for i, u in enumerate(terms)}))
        self.before: list[Array] | None = None

    def left(self, t: float, y: Array) -> bool:
        """Check the next point; a step through a place where all terms vanish has left."""
        if not self.conditions:
            return False
        values = self.compiled(np.append(y, t)[None, :], self.rows)[0][0]
        now = np.split(values, np.cumsum([len(c.terms) for c in self.conditions])[:-1])
        before, self.before = self.before or now, now
        pairs = zip(self.conditions, before, now, strict=True)
        return any(violated(c.kind, a.tolist(), b.tolist()) for c, a, b in pairs)


class _Motion:
    """One lane."""

    def __init__(self, system: System, method: Reference, rows: Array):
        self.method, self.rows, self.coordinates = method, rows, system.coordinates
        self.groups = maps.state_groups(system)
        self.moving = self.groups.columns("velocity")
        self._compiled, self._masses = point_map(maps.flow_map(system)), point_map(maps.inertia_map(system))
        self.projection = Projection(system, rows) if system.constraints else None
        self.domain = _Domain(system, rows)

    def rate(self, t: float, y: Array) -> Array:
        """The right-hand side: velocities, accelerations, rates of entropies and multipliers."""
        values, status = self._compiled(np.append(y, t)[None, :], self.rows)
        if status[0] or not np.isfinite(values).all():
            raise Left(int(status[0]) or int(Status.LEFT_DOMAIN))
        rates: Array = values[0]
        return rates

    def masses(self, t: float, y: Array) -> Array:
        """|d2L/dv_i^2|."""
        masses: Array = np.abs(np.nan_to_num(self._masses(np.append(y, t)[None, :], self.rows)[0][0]))
        return masses

    def kinetic(self, t: float, y: Array, f: Array) -> tuple[Array, Array, Array]:
        return y[self.moving], f[self.moving], self.masses(t, y)

    def held(self, t: float, y: Array) -> Array:
        """The state on the constraints."""
        if self.projection is None:
            return y
        place, velocity, *others = self.groups.split(y, "position", "velocity", "entropy", "multiplier")
        rest = np.concatenate(others)
        return np.concatenate([*self.projection.state(t, place, velocity, rest, self.masses(t, y)), rest])

    def _is_torn(self, free: Array, held: Array) -> bool:
        """Whether the projection changes a velocity by more than tolerances explain: the constraints degenerate nearby."""
        before, after = free[self.moving], held[self.moving]
        return bool(np.abs(after - before).max() > max(TORN, 1e3 * self.method.rtol) * np.abs(before).max())

    def solve(self, state: Array, times: Array, out: Array, held: Interrupts) -> tuple[int, Status]:
        """Fill `out` as far as the solver gets; returns the last valid row and the status."""
        out[0], row = state, 1
        if not (np.isfinite(state).all() and np.isfinite(self.rows).all() and np.isfinite(times).all()):
            return 0, Status.NOT_FINITE
        if self.domain.left(times[0], state):
            return 0, Status.LEFT_DOMAIN
        if len(times) == 1:
            return 0, Status.CONVERGED
        tolerance = self.method.rtol, self.method.atol
        try:
            walk = Adaptive(
                "Radau", self.rate, times, state, tolerance, self.kinetic, self.groups, "velocity",
                lambda sizes: per_number(self.coordinates, sizes),
            )  # fmt: skip
            while row < len(times):
                if held.arrived():
                    return row - 1, Status.INTERRUPTED
                if not walk.step():
                    return row - 1, Status.NO_SOLUTION
                solver = walk.solver
                if self.domain.left(solver.t, solver.y):
                    return row - 1, Status.LEFT_DOMAIN
                last = solver.status == "finished"
                until = len(times) if last else int(np.searchsorted(times, solver.t, side="right"))
                if until > row:
                    there = solver.dense_output()(times[row:until]).T
                    for k, y in enumerate(there, start=row):
                        out[k] = self.held(times[k], y)
                    row = until
                if self.projection is not None and not last:
                    projected = self.held(solver.t, solver.y)
                    if self._is_torn(solver.y, projected):
                        return row - 1, Status.SINGULAR
                    walk.replace(projected)
        except Left as left:
            return row - 1, left.status
        return row - 1, Status.CONVERGED
