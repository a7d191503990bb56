"""Reference solutions: SciPy's adaptive methods on the compiled equations of motion."""

from __future__ import annotations

import numpy as np

from ..domain import conditions, violated
from ..engine.kernels import STATUS_WIDTH
from ..engine.status import Status
from ..methods.reference import Reference
from ..model.system import System
from ..theory import pointwise as maps
from .plan import Plan
from .progress import Progress
from .start import Start, point_map
from .trajectory import Trajectory
from .values import Array

COLLAPSED, PATIENCE = 1e-5, 2000
"""So many steps in a row, each shorter than this fraction of the longest: the motion runs into a singular point."""


class _Left(Exception):
    """The right-hand side has no value at a point the solver asked for."""


def solve_reference(plan: Plan, start: Start) -> Trajectory:
    """The motion at the output times, one lane after the other."""
    system, method = plan.system, plan.method
    assert isinstance(system, System)
    assert isinstance(method, Reference)
    q = system.coordinates
    names = (*(c.name for c in q), *(c.dot.name for c in q), *(S.name for S in system.entropies))
    records = np.full((len(start.q), len(plan.times), len(names)), np.nan)
    codes = np.zeros((len(start.q), STATUS_WIDTH), dtype=np.int64)
    rows = np.broadcast_to(plan.rows, (len(start.q), plan.rows.shape[1]))
    with Progress(plan.progress, len(start.q)) as shown:
        for lane, state in enumerate(np.column_stack([start.q, start.second, start.entropies])):
            reached, code = _solve(system, method, state, rows[lane : lane + 1], plan.times, records[lane])
            codes[lane, :2] = code, reached * plan.every if code else plan.steps
            shown.tell(lane + 1)
    none = np.full(len(start.q), np.nan)
    return plan.trajectory(records=records, columns=names, codes=codes, residual=none, carry=records[:, -1].copy())


class _Domain:
    """Whether a motion has left the domain of the model since the last point that was looked at."""

    def __init__(self, system: System, rows: Array):
        self.conditions, self.rows = conditions(system.expressions()), rows
        terms = [u for c in self.conditions for u in c.terms]
        self.compiled = point_map(maps.quantity_map(system, {f"term {i}": u for i, u in enumerate(terms)}))
        self.before: list[Array] | None = None

    def left(self, t: float, y: Array) -> bool:
        """Look at the next point; a step through a place where terms vanish together has left."""
        if not self.conditions:
            return False
        values = self.compiled(np.append(y, t)[None, :], self.rows)[0][0]
        now = np.split(values, np.cumsum([len(c.terms) for c in self.conditions])[:-1])
        before, self.before = self.before or now, now
        pairs = zip(self.conditions, before, now, strict=True)
        return any(violated(c.kind, a.tolist(), b.tolist()) for c, a, b in pairs)


def _solve(
    system: System, method: Reference, state: Array, rows: Array, times: Array, out: Array
) -> tuple[int, Status]:
    """Fill `out` as far as the solver gets; tells the last valid row and how it ended."""
    from scipy.integrate import DOP853, Radau

    compiled = point_map(maps.flow_map(system))
    n = len(system.coordinates)
    out[0] = state
    ended = Status.NO_SOLUTION

    def rate(t: float, y: Array) -> Array:
        nonlocal ended
        values, status = compiled(np.append(y, t)[None, :], rows)
        if status[0]:
            ended = Status(int(status[0]))
            raise _Left
        return np.concatenate([y[n : 2 * n], values[0]])

    row = 1
    kind = DOP853 if method.solver == "DOP853" else Radau
    domain = _Domain(system, rows)
    try:
        if domain.left(times[0], state):
            return 0, Status.LEFT_DOMAIN
        if len(times) == 1:
            return 0, Status.CONVERGED
        solver = kind(rate, times[0], state, times[-1], rtol=method.rtol, atol=method.atol)
        longest, short = 0.0, 0
        while row < len(times):
            solver.step()
            if solver.status != "failed" and domain.left(solver.t, solver.y):
                return row - 1, Status.LEFT_DOMAIN
            longest = max(longest, solver.step_size or 0.0)
            short = short + 1 if (solver.step_size or longest) < COLLAPSED * longest else 0
            if solver.status == "failed" or short > PATIENCE:
                return row - 1, ended
            dense = solver.dense_output()
            until = len(times) if solver.status == "finished" else int(np.searchsorted(times, solver.t, side="right"))
            if until > row:
                out[row:until] = dense(times[row:until]).T
                row = until
    except _Left:
        return row - 1, ended
    return row - 1, Status.CONVERGED
