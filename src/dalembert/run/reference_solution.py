"""Reference solutions: an adaptive method of high order in compiled code, all lanes at once, each with steps of its own.

Where the rates have a power series the steps are made with it. A lane that comes to a state without one, the root of zero say,
makes some steps with the pair, and then goes on.
"""

from __future__ import annotations

import time as clock
from functools import lru_cache

import numpy as np

from ..engine import adaptive_lane as places
from ..engine.adaptive_machine import AdaptiveStepper, has_series
from ..engine.kernels import STATUS_WIDTH
from ..engine.series_lane import NO_SERIES
from ..engine.status import Status
from ..errors import StartError
from ..methods.dormand_prince_pair import dop853
from ..methods.reference import Reference
from ..model.system import System
from ..theory.motion import state_maps as maps
from .adaptive import ENDLESS, FIRST, LOOK
from .given_start import Start
from .interrupts import Interrupts
from .plan import Plan
from .progress import Progress
from .reference_flow import flow_of
from .trajectory import Trajectory
from .values import Array, point_map

PATIENCE = 0.1
"""Seconds between two looks at Ctrl-C."""


PAIR_STEPS = 16
"""Attempted steps with the pair where there is no power series; twice as many each time it is asked again."""


@lru_cache(maxsize=64)
def stepper_of(system: System, absolute: bool, by_series: bool) -> AdaptiveStepper:
    """The compiled loop of a system, with an absolute tolerance or relative ones; by power series, where there are some."""
    flow = flow_of(system, absolute)
    return AdaptiveStepper(flow, None if by_series and has_series(flow) else dop853())


def solve_reference(plan: Plan, start: Start, held: Interrupts) -> Trajectory:
    """The motion at the output times; after an interruption each lane has what it had reached."""
    assert isinstance(plan.system, System)
    assert isinstance(plan.method, Reference)
    lanes = _Lanes(plan.system, plan.method, plan, start)
    with Progress(plan.progress, len(start.q) * (len(plan.times) - 1)) as shown:
        lanes.solve(shown, held)
    return lanes.trajectory(plan)


class _Lanes:
    """All lanes of a run."""

    def __init__(self, system: System, method: Reference, plan: Plan, start: Start):
        self.system, self.times = system, plan.times
        self.rtol, self.atol = method.rtol, 0.0 if method.atol is None else method.atol
        self.absolute = method.atol is not None
        self.stepper = stepper_of(system, self.absolute, method.solver == "Taylor")
        self.flow = point_map(maps.flow_map(system))
        count = len(start.q)
        self.rows = np.ascontiguousarray(np.broadcast_to(plan.rows, (count, plan.rows.shape[1])))
        self.records = np.full((count, len(self.times), start.state.shape[1]), np.nan)
        self.records[:, 0] = start.state
        self.pair_steps = np.full(count, PAIR_STEPS)
        self.carry, self.status = self.stepper.begin(start.state, self.times[0], self._first_steps(start.state))
        self._check_start(start.state)

    def _rates(self, t: Array, y: Array) -> tuple[Array, Array]:
        """Rates, and the status of each lane."""
        f, codes = self.flow(np.column_stack([y, t]), self.rows)
        undefined = (codes == 0) & ~np.isfinite(f).all(axis=1)
        return f, np.where(undefined, int(Status.LEFT_DOMAIN), codes)

    def _first_steps(self, y: Array) -> Array:
        """First steps, short relative to the time in which velocities change; they may grow tenfold with every step."""
        t = np.full(len(y), self.times[0])
        span = float(self.times[-1] - self.times[0])
        if len(self.times) > 1 and not span > 0:
            raise StartError(
                f"t = {self.times[0]:g}: steps as short as these are lost there in rounding. Begin at an earlier time."
            )
        with np.errstate(all="ignore"):
            f, self.begun = self._rates(t, y)
            masses = np.abs(
                np.nan_to_num(point_map(maps.inertia_map(self.system))(np.column_stack([y, t]), self.rows)[0])
            )
            n = masses.shape[1]
            first = y.shape[1] - n - len(self.system.entropies) - len(self.system.principle.carried(self.system))
            moving = slice(first, first + n)
            speed, change = (np.sqrt((masses * x[:, moving] ** 2).sum(axis=1)) for x in (y, f))
            changing = np.where((speed > 0) & (change > 0), speed / change, 1e-3 * span)
            usable = np.isfinite(changing) & (changing > 0)
            return FIRST * np.minimum(span, np.where(usable, changing, span))

    def _check_start(self, y: Array) -> None:
        """Lanes that cannot begin end where they are."""
        finite = np.isfinite(y).all(axis=1) & np.isfinite(self.rows).all(axis=1) & np.isfinite(self.times).all()
        bounds, t = self.stepper.flow.bounds, np.full((len(y), 1), self.times[0])
        _, left = point_map(bounds)(np.hstack([y, t, y, t]), self.rows)
        codes = np.where(left != 0, int(Status.LEFT_DOMAIN), self.begun if len(self.times) > 1 else 0)
        self.status[:, places.CODE] = np.where(finite, codes, int(Status.NOT_FINITE))

    @property
    def _going(self) -> Array:
        going: Array = (self.status[:, places.CODE] == 0) & (self.status[:, places.ROW] < len(self.times))
        return going

    def solve(self, shown: Progress, held: Interrupts) -> None:
        """Attempted steps in chunks, until all lanes have ended."""
        done, look, chunk, halfway = 0, LOOK, LOOK, np.zeros(len(self.carry))
        while self._going.any():
            most, began = min(chunk, look - done), clock.monotonic()
            self._advance(self.stepper, most)
            self._pass_singular_states()
            done += most
            taken = clock.monotonic() - began
            chunk = max(1, min(4 * chunk, int(most * PATIENCE / max(taken, 1e-6))))
            try:
                shown.tell(int((self.status[:, places.ROW] - 1).sum()))
            except KeyboardInterrupt:  # raised by a progress function
                held.end()
            if held.arrived():
                self.status[self._going, places.CODE] = Status.INTERRUPTED
            if done == look:
                halfway, look = self._check_end(halfway, look > LOOK), 2 * look
        self._look_ahead()

    def _advance(self, stepper: AdaptiveStepper, most: int) -> None:
        stepper.advance(self.carry, self.rows, self.times, self.records, self.status, most, self.rtol, self.atol)

    def _pass_singular_states(self) -> None:
        """Steps with the pair for lanes at states without a power series; the others wait."""
        code = self.status[:, places.CODE]
        ended, stuck = code.copy(), code == NO_SERIES
        for most in np.unique(self.pair_steps[stuck]):
            here = stuck & (self.pair_steps == most)
            code[:] = np.where(here, 0, NO_SERIES)
            self._advance(stepper_of(self.system, self.absolute, False), int(most))
            ended[here] = code[here]
        code[:] = ended
        self.pair_steps[stuck] *= 2

    def _check_end(self, halfway: Array, known: bool) -> Array:
        """Refuse a motion that would take too many steps; returns how far lanes have come."""
        t = places.parts(self.stepper.flow, self.carry)[1][:, places.TIME_AT]
        gone: Array = t - self.times[0]
        made = self.status[:, places.STEPS]
        with np.errstate(all="ignore"):
            steps = made * (self.times[-1] - t) / gone
        endless = self._going & (steps > ENDLESS) & (gone <= 4 * halfway)  # else steps still grow: no estimate yet
        if known and endless.any():
            lane = int(endless.argmax())
            raise StartError(
                f"t = {self.times[0]:g} to {self.times[-1]:g}: the adaptive solution takes steps of about "
                f"{gone[lane] / made[lane]:.1g}, which makes {steps[lane]:.0e} of them. Give a shorter h, or fewer steps."
            )
        return gone

    def _look_ahead(self) -> None:
        """Lanes whose steps became too short have left the domain if the rates are undefined a little ahead."""
        short = self.status[:, places.CODE] == Status.NO_SOLUTION
        if not short.any():
            return
        y, own = places.parts(self.stepper.flow, self.carry)
        t, longest = own[:, places.TIME_AT], own[:, places.LONGEST_AT]
        with np.errstate(all="ignore"):
            f, _ = self._rates(t, y)
            for ahead in (longest * 10.0**-k for k in range(12)):
                _, codes = self._rates(t + ahead, y + ahead[:, None] * f)
                found = short & (self.status[:, places.CODE] == Status.NO_SOLUTION) & (codes != 0)
                self.status[found, places.CODE] = codes[found]

    def trajectory(self, plan: Plan) -> Trajectory:
        """What was computed."""
        codes = np.zeros((len(self.carry), STATUS_WIDTH), dtype=np.int64)
        ended, reached = self.status[:, places.CODE], self.status[:, places.ROW] - 1
        codes[:, 0] = ended
        codes[:, 1] = np.where(ended != 0, reached * plan.extent.every, plan.extent.steps)
        none, last = np.full(len(codes), np.nan), self.records[:, -1].copy()
        return plan.trajectory(
            records=self.records, columns=self.stepper.flow.state, codes=codes, residual=none, carry=last
        )
