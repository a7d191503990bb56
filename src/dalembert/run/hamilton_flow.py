"""Motions by Hamilton's equations: SciPy's adaptive method on the compiled rates of (q, p), apart from every integrator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.kernels import STATUS_WIDTH
from ..engine.machine import PointMap
from ..engine.status import Status
from ..errors import MethodError
from ..theory import pointwise as maps
from ..theory.hamilton import HamiltonianForm
from .plan import Plan
from .simulate import _checked, _step_size, _steps
from .start import point_map, resolve_start
from .trajectory import Trajectory
from .values import Array, Values, columns, lanes, parameter_values


class _Left(Exception):
    """The rates have no value at a point the solver asked for."""

    def __init__(self, status: int):
        super().__init__(status)
        self.status = Status(status)


def solve_hamilton(
    form: HamiltonianForm,
    *,
    h: float,
    start: Values,
    until: float | None = None,
    steps: int | None = None,
    parameters: Values | None = None,
    every: int = 1,
    rtol: float = 1e-10,
    atol: float = 1e-10,
    strict: bool = True,
) -> Trajectory:
    """A motion at the times k h; h is only the spacing of the output."""
    system = form.system
    if not (rtol > 0 and atol > 0):
        raise MethodError(f"rtol = {rtol}, atol = {atol}: tolerances are positive numbers, such as 1e-10.")
    h = _step_size(h)
    values = parameter_values(parameters, system.parameters)
    begun = resolve_start(system, start, values, columns(values, [p.name for p in system.parameters], lanes(values)))
    count = _steps(h, until, steps, every, begun.time)
    plan = Plan(system, None, h, int(every), begun.time, 0, count, values, begun.lanes, False)
    if begun.kind != "velocity":
        raise MethodError("start: Hamilton's equations start from position and momentum, or position and velocity.")
    rows = np.broadcast_to(plan.rows, (len(begun.q), plan.rows.shape[1]))
    points = np.column_stack([begun.q, begun.second, np.full(len(begun.q), begun.time)])
    states = np.column_stack([begun.q, point_map(maps.momentum_map(system))(points, rows)[0]])
    names = (*(q.name for q in system.coordinates), *(p.name for p in form.momenta))
    names += tuple(f"multiplier.{a + 1}" for a in range(len(system.constraints)))
    records = np.full((len(states), len(plan.times), len(names)), np.nan)
    codes = np.zeros((len(states), STATUS_WIDTH), dtype=np.int64)
    compiled = PointMap(form.flow())
    for lane, state in enumerate(states):
        reached, code = _solve(compiled, state, rows[lane : lane + 1], plan.times, records[lane], (rtol, atol))
        codes[lane, :2] = code, reached * every if code else plan.steps
    none = np.full(len(states), np.nan)
    return _checked(
        plan.trajectory(records=records, columns=names, codes=codes, residual=none, carry=records[:, -1].copy()), strict
    )


def _solve(
    compiled: PointMap, state: Array, row: Array, times: Array, out: Array, tolerance: tuple[float, float]
) -> tuple[int, Status]:
    """Fill `out` as far as the solver gets; tells the last valid record and how it ended."""
    from scipy.integrate import DOP853

    n, done = len(state), 0

    def table(t: float, y: Array) -> Any:
        found, status = compiled(np.append(y, t)[None, :], row)
        if status[0] or not np.isfinite(found).all():
            raise _Left(int(status[0]) or int(Status.NOT_FINITE))
        return found[0]

    def record(k: int, y: Array) -> None:
        out[k, :n], out[k, n:] = y, table(times[k], y)[n:]

    try:
        record(0, state)
        if len(times) == 1:
            return 0, Status.CONVERGED
        solver = DOP853(lambda t, y: table(t, y)[:n], times[0], state, times[-1], rtol=tolerance[0], atol=tolerance[1])
        while done < len(times) - 1:
            solver.step()
            if solver.status == "failed":
                return done, Status.NO_SOLUTION
            dense = solver.dense_output()
            until = len(times) if solver.status == "finished" else int(np.searchsorted(times, solver.t, side="right"))
            for k in range(done + 1, until):
                record(k, dense(times[k]))
                done = k
    except _Left as left:
        return done, left.status
    return done, Status.CONVERGED
