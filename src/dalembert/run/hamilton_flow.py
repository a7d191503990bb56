"""Motions by Hamilton's equations: SciPy's adaptive method on the compiled rates of (q, p), independent of all integrators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..engine.kernels import STATUS_WIDTH
from ..engine.machine import PointMap
from ..engine.status import Status
from ..errors import MethodError
from ..methods.reference import tolerances
from ..model.system import System
from ..theory.forms.hamilton import HamiltonianForm, MomentumRate
from ..theory.motion import state_maps as maps
from ..waist.layout import Groups
from ..waist.stepmap import StepMap
from .adaptive import Adaptive, Left
from .failures import completed, failure
from .finite_records import ended_where_not_finite
from .interrupts import Interrupts
from .memory import check_fits
from .node_checks import checked_nodes
from .options import Options, step_size
from .plan import Plan
from .start import resolve_start
from .trajectory import Trajectory
from .values import Array, Values, columns, lanes, parameter_values, point_map
from .velocities import velocities


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
    atol: float | None = None,
    strict: bool = True,
) -> Trajectory:
    """A motion at the times k h; h is only the spacing of the output. Tolerances are those of `Reference`."""
    system = form.system
    rtol, atol = tolerances(rtol, atol, "")
    h = step_size(h)
    values = parameter_values(parameters, system.parameters)
    begun = resolve_start(system, start, values, columns(values, [p.name for p in system.parameters], lanes(values)))
    extent = Options(h, until, steps, every).extent(begun.time)
    plan = Plan(system, None, extent, values, begun.lanes)
    if begun.kind != "velocity":
        raise MethodError("start: Hamilton's equations start from position and momentum, or position and velocity.")
    rows = np.broadcast_to(plan.rows, (len(begun.q), plan.rows.shape[1]))
    points = np.column_stack([begun.q, begun.second, np.full(len(begun.q), begun.time)])
    states = np.column_stack([begun.q, point_map(maps.momentum_map(system))(points, rows)[0]])
    form = _on_branch(form, states, begun.second, begun.time, rows)
    q = system.coordinates
    names = (*(c.name for c in q), *(p.name for p in form.momenta), *(c.dot.name for c in q))
    names += tuple(m.name for m in system.multipliers)
    check_fits(plan, len(states), len(names))
    records = np.full((len(states), len(plan.times), len(names)), np.nan)
    codes = np.zeros((len(states), STATUS_WIDTH), dtype=np.int64)
    compiled = PointMap(form.flow())
    with Interrupts() as held:
        for lane, state in enumerate(states):
            motion = _Motion(form, compiled, rows[lane : lane + 1], begun.second[lane])
            reached, code = motion.solve(state, plan.times, records[lane], (rtol, atol), held)
            codes[lane, :2] = code, reached * every if code else extent.steps
        none = np.full(len(states), np.nan)
        run = plan.trajectory(records=records, columns=names, codes=codes, residual=none, carry=records[:, -1].copy())
        run = ended_where_not_finite(checked_nodes(run))
        error = failure(run, strict, held)
    return completed(run, error, held)


def _on_branch(form: HamiltonianForm, states: Array, velocity: Array, t: float, rows: Array) -> HamiltonianForm:
    """The form, without its closed Hamiltonian if that belongs to other velocities than those of the start."""
    if form.hamiltonian is None:
        return form
    times = np.full(len(states), t)
    flow = form.flow()
    v = PointMap(flow)(np.column_stack([states, times]), rows)[0][:, flow.columns(form.system.velocities)]
    begun = np.column_stack([states[:, _positions(flow, form.system)], velocity, times])
    masses = np.abs(point_map(maps.inertia_map(form.system))(begun, rows)[0])
    apart, size = (masses * (v - velocity) ** 2).sum(axis=1), (masses * velocity**2).sum(axis=1)
    same = np.isfinite(v).all(axis=1) & (apart <= 1e-12 * size)
    return form if same.all() else replace(form, hamiltonian=None, velocities=None)


def _positions(flow: StepMap, system: System) -> list[int]:
    """The columns of the positions in states (q, p)."""
    return [flow.state.index(c.name) for c in system.coordinates]


class _Motion:
    """One lane; `near` is the velocity at the last step, which selects the branch of p = dL/dv."""

    def __init__(self, form: HamiltonianForm, compiled: PointMap, row: Array, velocity: Array):
        self.system: System = form.system
        self.implicit, self.compiled, self.row, self.near = form.hamiltonian is None, compiled, row, velocity
        flow, q = compiled.stepmap, self.system.coordinates
        self.groups = Groups(position=q, momentum=q)
        self.positions, self.velocities = _positions(flow, self.system), flow.columns(self.system.velocities)
        self.forces = flow.columns(map(MomentumRate, q))
        self.multipliers = flow.columns(self.system.multipliers)
        self._masses = point_map(maps.inertia_map(form.system))

    def table(self, t: float, y: Array) -> Any:
        """Rates of q and p, and multipliers."""
        point = np.append(y, t)[None, :]
        found, status = self._look(point, self.near)
        if status[0] and self.implicit:  # once more from the velocity itself, found without crossing a fold
            v = velocities(self.system, point, self.row, False, self.near[None, :])
            found, status = self._look(point, v[0]) if np.isfinite(v).all() else (found, status)
        if status[0] or not np.isfinite(found).all():
            raise Left(int(status[0]) or int(Status.LEFT_DOMAIN))
        return found[0]

    def _look(self, point: Array, near: Array) -> tuple[Array, Array]:
        return self.compiled(np.column_stack([point, near[None, :]]) if self.implicit else point, self.row)

    def kinetic(self, t: float, y: Array, f: Array) -> tuple[Array, Array, Array]:
        """Velocities, forces as accelerations, masses."""
        v, force = f[self.velocities], f[self.forces]
        point = np.concatenate([y[self.positions], v, [t]])[None, :]
        mass = np.abs(np.nan_to_num(self._masses(point, self.row)[0][0]))
        return v, np.divide(force, mass, out=np.zeros(len(v)), where=mass > 0), mass

    def solve(
        self, state: Array, times: Array, out: Array, tolerance: tuple[float, float | None], held: Interrupts
    ) -> tuple[int, Status]:
        """Fill `out` as far as the solver gets; returns the last valid record and the status."""
        rates, done = [*self.velocities, *self.forces], 0
        if not (np.isfinite(state).all() and np.isfinite(self.row).all()):
            return 0, Status.NOT_FINITE

        def record(k: int, y: Array) -> None:
            found = self.table(times[k], y)
            out[k] = np.concatenate([y, found[self.velocities], found[self.multipliers]])

        try:
            record(0, state)
            if len(times) == 1:
                return 0, Status.CONVERGED
            walk = Adaptive(
                "DOP853", lambda t, y: self.table(t, y)[rates], times, state, tolerance, self.kinetic, self.groups,
                "momentum",
            )  # fmt: skip
            while done < len(times) - 1:
                if held.arrived():
                    return done, Status.INTERRUPTED
                if not walk.step():
                    return done, Status.NO_SOLUTION
                solver = walk.solver
                dense = solver.dense_output()
                last = solver.status == "finished"
                until = len(times) if last else int(np.searchsorted(times, solver.t, side="right"))
                for k in range(done + 1, until):
                    record(k, dense(times[k]))
                    done = k
                self.near = solver.f[self.velocities]
        except Left as left:
            return done, left.status
        return done, Status.CONVERGED
