"""How far a run was computed, in words: for its audit and its picture."""

from __future__ import annotations

import numpy as np

from ..engine.status import Status
from .trajectory import Trajectory

BECAUSE = {
    Status.SINGULAR: "its matrix is singular",
    Status.NO_SOLUTION: "no solution was found",
    Status.LEFT_DOMAIN: "an expression has no value there",
    Status.NOT_FINITE: "a number is not finite",
    Status.EVENTS_ACCUMULATE: "too many events happened within it",
    Status.OTHER_BRANCH: "its solution does not continue the motion",
    Status.OFF_CONSTRAINTS: "the action of an event left the constraints",
}


def failed_lanes(run: Trajectory) -> list[int]:
    """The lanes in which a step failed, the earliest first; one that was stopped or interrupted did not fail."""
    lanes = [lane for lane, code in enumerate(run.codes[:, 0]) if Status(int(code)) in BECAUSE]
    return sorted(lanes, key=lambda lane: int(run.codes[lane, 1]))


def has_steps(run: Trajectory) -> bool:
    """Whether any lane has more than its first record."""
    return bool((np.isfinite(run.table("position")).all(axis=-1).sum(axis=1) > 1).any())


def shortfall(run: Trajectory) -> str:
    """What was not computed, and why; an empty text if every lane reached its end or an event that stopped it."""
    failed = failed_lanes(run)
    cut = [lane for lane, code in enumerate(run.codes[:, 0]) if code == Status.INTERRUPTED]
    if not failed and not cut:
        return ""
    lane = failed[0] if failed else min(cut, key=lambda k: int(run.codes[k, 1]))
    told = _of_lane(run, lane)
    if run.lanes is None:
        return told
    counts = {"failed": len(failed), "interrupted": len(cut)}
    counts["stopped by an event"] = int((run.codes[:, 0] == Status.EVENT).sum())
    counts["complete"] = run.lanes - sum(counts.values())
    parts = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"{run.lanes} lanes: {parts}. Lane {lane}: {told}"


def _of_lane(run: Trajectory, lane: int) -> str:
    last, status = int(run.codes[lane, 1]), Status(int(run.codes[lane, 0]))
    first, end = run.time_of(run.begin), run.time_of(last)
    why = "interrupted" if status is Status.INTERRUPTED else f"step {last + 1} failed because {BECAUSE[status]}"
    if last <= run.begin:
        return f"no step was computed from t = {first:g} to {run.time[-1]:g}: {why}"
    return f"computed t = {first:g} to {end:g} of {run.time[-1]:g}: {why}"


def span(run: Trajectory) -> str:
    """The time span of the records, of the lane that was computed farthest."""
    event = stopped_by(run)
    by = f", where the event {event!r} stopped it" if event else ""
    return f"t = {run.time[0]:g} to {_last(run):g}{by}"


def stopped_by(run: Trajectory) -> str:
    """The name of the event at which the records end; empty if they end for another reason."""
    end = _last(run)
    names = [c.name for c in run.events if run.codes[c.lane, 0] == Status.EVENT and c.time == end]
    return names[-1] if names else ""


def _last(run: Trajectory) -> float:
    """The time of the last record of the lane that was computed farthest."""
    there = np.flatnonzero(np.isfinite(run.table("position")).all(axis=-1).any(axis=0))
    return float(run.time[there[-1] if len(there) else 0])
