"""A run that ended early as an error that carries it: which lane, why, and what to try."""

from __future__ import annotations

import numpy as np

from ..engine.status import Status
from ..errors import SimulationError
from .interrupts import Interrupts
from .trajectory import Trajectory

_EXISTENCE = "`dalembert.existence(error.trajectory)` says whether there is a next step at all."
_REMEDY = {
    Status.EVENTS_ACCUMULATE: "Let the event stop the motion, or make the action lose less.",
    Status.INTERRUPTED: "Continue with start=error.trajectory.",
    Status.SINGULAR: "Check that masses are positive and that constraints are independent at this state; "
    "`dalembert.regularity(error.trajectory)` says more.",
    Status.NO_SOLUTION: "Try a smaller h; if it fails at the same time, look at the state there: the motion may end. "
    + _EXISTENCE,
    Status.OTHER_BRANCH: "Try a smaller h: the step is too long to tell which solution continues the motion.",
    Status.LEFT_DOMAIN: "Try a smaller h; if it fails at the same time, the motion runs into a singularity there.",
    Status.NOT_FINITE: "Check the start and the parameters for NaN or infinity; if they are numbers, try a smaller h.",
}


def failure_text(run: Trajectory) -> str:
    """The message of the error that carries the run."""
    failed = np.flatnonzero(~np.isin(run.codes[:, 0], (Status.CONVERGED, Status.EVENT)))
    lane = int(failed[np.argmin(run.codes[failed, 1])])
    status, last = Status(int(run.codes[lane, 0])), int(run.codes[lane, 1])
    who = "" if run.lanes is None else f"{len(failed)} of {run.lanes} lanes ended early; lane {lane}: "
    known = np.isfinite(run.residual[lane]) and status is not Status.NOT_FINITE
    size = f" (relative residual {run.residual[lane]:.3g})" if known else ""
    instead = "" if status is Status.INTERRUPTED else "; strict=False returns it instead"
    began = run.time_of(last)
    remedy = _REMEDY.get(status, "")
    chosen = (run.method is None or run.method.adaptive) and not run.has_own_times
    if status is Status.INTERRUPTED and chosen and run.system.continuous:
        remedy = "An adaptive method is not continued: start from a state, or compute the run again."
    within = [c for c in run.events if c.lane == lane and c.time > began]
    if status is Status.OFF_CONSTRAINTS and (stated := run.system.continuous):  # only its events act
        forms = ", ".join(f"{c.expression} = 0" for c in stated.constraints)
        remedy = (
            f"After the action of event {within[-1].name!r} at t = {within[-1].time:g} the state does not satisfy {forms}, "
            f"and these do not determine the velocities that it leaves out. Let the action change more of the state."
        )
    elif within and status is not Status.EVENTS_ACCUMULATE:  # without actions a step fails before the event search
        remedy = f"The event {within[-1].name!r} at t = {within[-1].time:g} came before: look at what it changes."
    return (
        f"{run.system.name}: {who}step {last + 1} from t = {began:g}: {status.sentence}{size}. "
        f"{remedy} Everything before is in the `trajectory` of this error{instead}."
    )


def failure(run: Trajectory, strict: bool, held: Interrupts) -> SimulationError | None:
    """The error that carries a run: if a lane failed, or Ctrl-C was pressed."""
    stopped = held.arrived()
    if not run.ok and (strict or stopped):
        return SimulationError(failure_text(run), run)
    return _complete(run) if stopped else None


def completed(run: Trajectory, error: SimulationError | None, held: Interrupts) -> Trajectory:
    """The run, unless there is an error; Ctrl-C is not held back any more."""
    if error is None and held.arrived():
        error = _complete(run)
    if error is not None:
        raise error
    return run


def _complete(run: Trajectory) -> SimulationError:
    told = "interrupted after the last step. The run is complete: it is the `trajectory` of this error."
    return SimulationError(f"{run.system.name}: {told}", run)
