"""Events in a study: what a store keeps of the crossings of its lanes, and the end of lanes that an event has stopped.

A lane has room for a number of crossings that is the same for all lanes, so that they are an array; all of them are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..discrete.system import DiscreteSystem
from ..engine.status import Status
from ..errors import MethodError, ModelError, StartError
from ..methods.base import Method
from ..model.serial import pack
from ..model.space import numbers
from ..model.system import System
from ..numbers import whole
from ..run.event_search import STRETCH
from ..run.events import Crossing, Event
from ..run.given_events import own_parameters, read_events
from ..run.storage import named_arrays
from ..run.trajectory import Trajectory
from ..run.values import Array

MOST = 10_000
"""Crossings of a lane for which a store has room."""

WATCHED, CROSSED = 85e-6 / STRETCH, 1.5e-3
"""Seconds for a step of a lane in which events are looked for, each lane by itself; and for a crossing."""

EXPECTED = 4
"""So many crossings of a lane are counted as work, if there is room for them; how many there are is not known before."""


def given_events(
    events: Any, crossings: Any, system: System | DiscreteSystem, method: Method | None, varied: Sequence[str]
) -> tuple[tuple[Event, ...], int]:
    """The events of a study and the room for crossings, checked."""
    expected = "so many crossings of each lane are kept; give a whole number from 0"
    room = whole(crossings, "crossings", MethodError, expected=expected)
    if room > MOST:
        raise MethodError(
            f"crossings = {room}: a store has room for up to {MOST} of each lane; all of them are counted."
        )
    found = read_events(events, system, method)
    names = [event.name for event in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ModelError(
            f"events: {names.count(twice[0])} events are called {twice[0]!r}, and a store tells them apart by their names. "
            f"Give each its own: Event(..., name='top')."
        )
    places = {*numbers(system.coordinates), *(S.name for S in system.entropies)}
    if found and "event" in places:  # no coordinate is called time
        raise ModelError(
            "events: a study has a result called 'crossing event'. Give the coordinate event another name."
        )
    if alone := [p.name for p in own_parameters(found, system) if p.name in varied]:
        raise StartError(
            f"vary: {alone[0]} occurs in events only, so it has one value for all lanes. Give it in parameters=, or make it a "
            f"parameter of the system."
        )
    return found, room


def work_of_events(steps: int, room: int) -> float:
    """Seconds for the events of a lane, roughly."""
    return steps * WATCHED + min(room, EXPECTED) * CROSSED


def numbers_of_events(room: int) -> int:
    """States of a lane that are held for its events: those of a stretch, and those at crossings."""
    return room + STRETCH


def plain_events(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Events as plain data, by which a study is recognised."""
    return [
        {
            "name": e.name, "expression": pack(e.expression), "direction": int(e.direction),
            "action": [[k.name, pack(change)] for k, change in e.changes.items()] or e.action,
        }
        for e in events
    ]  # fmt: skip


def crossing_tables(run: Trajectory, names: Sequence[str], room: int) -> dict[str, tuple[tuple[str, ...], Array, str]]:
    """Of each lane the time of its end, how many crossings it has, and the first of them: axes, data and a sentence."""
    lanes = len(run.records)
    counts = np.bincount([c.lane for c in run.events], minlength=lanes).astype(np.int64)
    ends = np.array(run.end_times)
    places, slots = _slots(run.events, room)
    kept = [run.events[i] for i in places]

    def table(values: Sequence[float], empty: float = np.nan) -> Array:
        whole: Array = np.full((lanes, room), empty)
        whole[[c.lane for c in kept], slots] = values
        return whole

    axes = ("lane", "crossing")
    told = "; ".join(f"{i}: {name}" for i, name in enumerate(names))
    found = {
        "end time": (("lane",), ends, "the time to which the lane was computed, that of the event if one stopped it"),
        "crossings": (("lane",), counts, f"how many there are, of which the first {room} are kept"),
        "crossing event": (axes, table([names.index(c.name) for c in kept], -1), f"which event it is; {told}"),
        "crossing time": (axes, table([c.time for c in kept]), "when it was"),
    }
    for label, column in _state(run, kept).items():
        found[f"crossing {label}"] = (axes, table(column), f"{label} there, before any action")
    return found


def _slots(events: Sequence[Crossing], room: int) -> tuple[list[int], list[int]]:
    """The crossings for which there is room, and the place of each in its lane; they come lane by lane, in order of time."""
    seen: dict[int, int] = {}
    places, slots = [], []
    for i, c in enumerate(events):
        at = seen.get(c.lane, 0)
        seen[c.lane] = at + 1
        if at < room:
            places.append(i)
            slots.append(at)
    return places, slots


def _state(run: Trajectory, kept: Sequence[Crossing]) -> dict[str, list[float]]:
    """The numbers of the state at some crossings, by name."""
    q, held = run.system.coordinates, run.system.continuous
    columns = {name: [c.positions[name] for c in kept] for name in numbers(q)}
    columns |= {x.dot.name: [c.velocities[x.name] for c in kept] for x in q}
    columns |= {S.name: [c.entropies[S.name] for c in kept] for S in run.system.entropies}
    carried = () if held is None else held.principle.carried(held)
    return columns | {m.name: [c.multipliers[m.name] for c in kept] for m in carried}


def at_ends(run: Trajectory) -> dict[str, Any]:
    """What people read of a run at the end of each lane: axes, data (lanes, ...) and attributes; NaN in lanes that failed.

    A lane that an event has stopped within a step ends there, as the same run alone does.
    """
    found = {name: (axes, data[:, -1].copy(), *more) for name, (axes, data, *more) in named_arrays(run).items()}
    for lane in np.flatnonzero(run.codes[:, 0] == Status.EVENT).tolist():
        if lane in run.stops and not np.isfinite(run.records[lane, -1]).any():
            for name, (_, data, *_) in named_arrays(_stopped(run, lane)).items():
                found[name][1][lane] = data[0, -1]
    return found


def at_records(run: Trajectory, rows: int) -> dict[str, Any]:
    """What people read of a run at so many recorded nodes, whatever the time at which events have stopped its lanes."""
    nodes = run.at_nodes

    def padded(data: Array) -> Array:
        if data.shape[1] == rows:
            return data
        lost = np.full((len(data), rows - data.shape[1], *data.shape[2:]), np.nan)
        return np.concatenate([data, lost], axis=1)

    return {name: (axes, padded(data), *more) for name, (axes, data, *more) in named_arrays(nodes).items()}


def _stopped(run: Trajectory, lane: int) -> Trajectory:
    """A lane from its first record to the event that stopped it."""
    alone, (when, record) = run.of_lanes(np.array([lane])), run.stops[lane]
    records = np.stack([alone.records[0, 0], record])[None]
    return replace(alone, records=records, time=np.array([alone.time[0], when]), _cache={})
