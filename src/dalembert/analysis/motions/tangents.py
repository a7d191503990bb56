"""The exact derivative of a recorded motion by its start: the linearised neighbouring motions.

Every interval between records is a lane of the compiled step with its tangent (`waist.derived_steps.variational`), so a run
is differentiated in one call, on all cores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sympy import Symbol

from ...display import Part, Shown, Table
from ...errors import MethodError, ModelError, told
from ...methods.stepping import Stepping
from ...run.plan import seed as expected
from ...run.state_tangents import state_symbols, state_tangents
from ...run.trajectory import Trajectory
from ...run.values import Array
from ...waist.stepmap import StepMap

POINTS = 1 << 14
"""Intervals in one call: a tangent takes as many numbers as the square of the state."""


@dataclass(frozen=True, repr=False, eq=False)
class Tangents(Shown):
    """Derivatives of the state along a run; with lanes there is a leading axis of lanes, as in the run.

    symbols:    the state that the method carries, in the order of rows and columns; of a point of a group its directions:
                a change has the components of g^-1 dg there
    intervals:  d(state at the end)/d(state at the beginning) of the interval from each record to the next; NaN where the
                motion had ended
    """

    run: Trajectory
    symbols: tuple[Symbol, ...]
    intervals: Array

    @property
    def from_start(self) -> Array:
        """d(state)/d(start) at every record: sensitivities to the start; the identity at the first."""
        found = [np.broadcast_to(np.eye(len(self.symbols)), self.intervals[..., 0, :, :].shape)]
        for k in range(self.intervals.shape[-3]):
            found.append(self.intervals[..., k, :, :] @ found[-1])
        return np.stack(found, axis=-3)

    def _parts(self) -> list[Part]:
        stretch = np.linalg.svd(np.nan_to_num(self.intervals), compute_uv=False)[..., 0]
        told = "step" if self.run.every == 1 else f"{self.run.every} steps"
        rows = [(str(s), *(f"{f(np.abs(row)):.6g}" for f in (np.nanmin, np.nanmax))) for s, row in self._rows()]
        title = f"{self.run.system.name}, {self.run.method!r}, h = {self.run.h:g}: derivatives over {told}"
        table = Table(("row of", "least entry", "largest entry"), rows)
        return [title, table, f"Vectors are stretched by up to {stretch.max():.6g} in {told}."]

    def _rows(self) -> list[tuple[Symbol, Array]]:
        return [(s, self.intervals[..., i, :]) for i, s in enumerate(self.symbols)]


def tangents(run: Trajectory) -> Tangents:
    """The exact derivatives of the states of a run by earlier states, by the implicit function theorem; see `Tangents`.

    run = simulate(...);  tangents(run).from_start[k] is d(state at record k)/d(start), tangents(run).intervals[k] the
    derivative from record k to the next one. Under constraints neighbouring states that violate them are
    meaningless: use columns, and directions, that satisfy them.
    """
    check_steps(run, "tangents")
    run = run.at_nodes
    step = Stepping(run.system, run.method).step_map("tangents")
    return Tangents(run, state_symbols(run.system, step), run.by_lane(interval_tangents(run, step)))


def interval_tangents(run: Trajectory, step: StepMap) -> Array:
    """d(end)/d(beginning) of every interval between records, in every lane."""
    states = run.columns_named(list(step.state))
    lanes, count, size = len(states), len(run.time) - 1, len(state_symbols(run.system, step))
    moving: Array = np.asarray(np.isfinite(states).all(axis=-1))
    lane, interval = np.nonzero(moving[:, :-1] & moving[:, 1:])
    found = np.full((lanes, count, size, size), np.nan)
    near = run.table("velocity") if step.sought and run.system.continuous is not None else None
    for some in (slice(i, i + POINTS) for i in range(0, len(lane), POINTS)):
        at = lane[some], interval[some]
        seed = None if near is None else expected(run.system, step, near[at])
        rows = run.parameter_rows[at[0]]
        _, found[at], _ = state_tangents(
            run.system, step, states[at], rows, run.h, run.time[at[1]], steps=run.every, seed=seed
        )
    return found


def check_steps(run: Trajectory, role: str, *, acting: bool = False) -> None:
    """Refuse anything but a run with known steps of one length, or with events that act where these are not `acting`."""
    if not isinstance(run, Trajectory):
        raise ModelError(f"{role}: got {told(run)}. Expected a run: {role}(simulate(system, method, ...)).")
    if run.method is not None and run.method.adaptive:
        raise MethodError(
            f"{role}: {run.method!r} {run.method.steps_told}, and only steps of one length in t are differentiated. Use a "
            f"method with a fixed step, such as DormandPrince8()."
        )
    if run.changes and not acting:
        raise MethodError(
            f"{role}: events changed this motion {run.changes} times, so that not every step is one of the method. Give "
            f"a run without events that act."
        )
    if len(run.at_nodes.time) < 2:
        raise ModelError(f"{role}: {run!r} has one record only; there is no step between records.")
