"""Unilateral contacts along a motion: whether each of them holds, and where one is lost.

The equations treat every constraint as bilateral. If a body only rests on another, the computed motion is valid only as
long as the reaction pushes; when its sign changes the bodies separate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sympy import Expr, Symbol

from ...display import Part, Shown, Table
from ...errors import ModelError, told
from ...model import checks
from ...model.coordinates import Parameter
from ...model.heat import mechanical
from ...model.system import System
from ...run.trajectory import Trajectory
from ...run.values import Array
from ...symbolic import fast, free_names, magnitude, substitute
from ...theory.motion import state_maps as maps
from ...theory.motion.lagrange import multipliers
from ...theory.reactions.virtual_work import linear_pieces
from ...waist.stepmap import pointwise

TOLERANCE = 1e-9
"""A reaction is negative if it is below zero by more than this, relative to the size of its terms."""


@dataclass(frozen=True)
class ContactRecord:
    """One contact in one lane.

    minimum, at:   the smallest value of the reaction among the records, and its time
    lost:          the first time at which it falls below zero, interpolated between records; None if it never does
    where:         the positions at that time, by name; empty if the contact holds
    """

    name: str
    lane: int | None
    minimum: float
    at: float
    lost: float | None
    where: dict[str, float]


@dataclass(frozen=True, eq=False, repr=False)
class ContactReport(Shown):
    """The contacts along a motion; `values` has the reactions at the records, one array per contact."""

    run: Trajectory
    contacts: tuple[ContactRecord, ...]
    values: dict[str, Array]

    @property
    def holds(self) -> bool:
        """Whether every contact holds to the end of the motion, in every lane."""
        return all(c.lost is None for c in self.contacts)

    @property
    def first(self) -> ContactRecord | None:
        """The contact that is lost first; None if all hold."""
        return min((c for c in self.contacts if c.lost is not None), key=lambda c: c.lost or 0.0, default=None)

    def _parts(self) -> Sequence[Part]:
        lane = () if self.run.lanes is None else ("lane",)
        rows = [
            (
                c.name,
                *([c.lane] if lane else []),
                c.minimum,
                c.at,
                "holds" if c.lost is None else f"lost at {c.lost:.6g}",
            )
            for c in self.contacts
        ]
        lost = self.first
        verdict = "All contacts hold."
        if lost is not None:
            where = ", ".join(f"{name} = {x:.6g}" for name, x in lost.where.items())
            lane_told = "" if lost.lane is None else f", lane {lost.lane}"
            verdict = (
                f"The first to be lost is {lost.name} at t = {lost.lost:.6g}{lane_told} ({where}). From then on it would have "
                f"to pull, and the motion is not that of bodies that merely touch."
            )
        head = ("contact", *lane, "minimum", "at t", "verdict")
        return [f"{self.run.system.name}: contacts", Table(head, rows), verdict]


def contact_report(
    run: Trajectory, contacts: Mapping[str, Any], *, parameters: Mapping[Symbol, float] | None = None
) -> ContactReport:
    """Whether contacts hold along a motion: {"cone": expression} or {"cone": 1}, each of which must not be negative.

    An expression may contain positions, velocities, accelerations x.ddot, multipliers, parameters and time. A whole
    number means a multiplier: 1 the first, -1 the first with its sign changed. `parameters` gives values for parameters that
    the system does not have (a coefficient of friction).
    """
    system = _system(run, "contact_report")
    if not isinstance(contacts, Mapping) or not contacts:
        raise ModelError(
            f"contact_report: got {contacts!r}. Expected {{name: expression}}, or {{name: number of a constraint}}."
        )
    sought = {str(name): _reaction(system, name, given, parameters or {}) for name, given in contacts.items()}
    scales = _scales(system)
    sizes = {f"{name}, size": substitute(magnitude(fast(e)), scales) for name, e in sought.items()}
    table = _values(run, system, {**sought, **sizes})
    found = []
    for lane in range(len(run.records)):
        for name in sought:
            value, size = table[name][lane], table[f"{name}, size"][lane]
            found.append(_contact(run, name, lane, value, size))
    shaped = {name: table[name] if run.lanes is not None else table[name][0] for name in sought}
    return ContactReport(run, tuple(found), shaped)


def along(run: Trajectory, quantities: Mapping[str, Any]) -> dict[str, Array]:
    """Expressions along a motion, which may contain accelerations and multipliers besides what `run.quantity` takes.

    Accelerations and multipliers are those of the continuous equations at the states of the run.
    """
    system = _system(run, "along")
    sought = {str(name): _reaction(system, name, given, {}) for name, given in quantities.items()}
    table = _values(run, system, sought)
    return {name: value if run.lanes is not None else value[0] for name, value in table.items()}


def _system(run: Any, role: str) -> System:
    if not isinstance(run, Trajectory):
        raise ModelError(f"{role}: got {told(run)} ({type(run).__name__}). Expected a run, from dalembert.simulate.")
    if not isinstance(run.system, System):
        raise ModelError(f"{role}: {run.system.name!r} is a discrete system, which has no accelerations. Use a System.")
    mechanical(run.system, role)
    return run.system


def _reaction(system: System, name: Any, given: Any, values: Mapping[Symbol, float]) -> Expr:
    if isinstance(given, Integral) and not isinstance(given, bool):
        given = int(given)
        count = len(system.constraints)
        if not 1 <= abs(given) <= count:
            raise ModelError(
                f"contact {name!r}: there is no constraint {given}; {system.name!r} has {count}, counted from 1. "
                f"Give a number from 1 to {count}, negative to change the sign of the multiplier, or an expression."
            )
        sign = 1 if given > 0 else -1
        return sign * multipliers(system)[abs(given) - 1]
    role = f"contact {name!r}"
    e = checks.expression(given, role).xreplace(dict(values))
    known = {*system.coordinates, *system.velocities, *(q.ddot for q in system.coordinates), *multipliers(system)}
    checks.symbols(e, known, role)
    extra = sorted((s.name for s in e.free_symbols if isinstance(s, Parameter) and s not in system.parameters), key=str)
    if extra:
        raise ModelError(
            f"{role}: {extra[0]} is not a parameter of {system.name!r}. Give its value: parameters={{{extra[0]}: ...}}."
        )
    return e


def _scales(system: System) -> dict[Symbol, Any]:
    """Multipliers and accelerations, increased by the size of the forces that determine them: they may cancel."""
    pieces = linear_pieces(system, {})
    load = [magnitude(row[0]) for row in pieces["load"]]
    found: dict[Symbol, Any] = {}
    inertia = [abs(row[i]) for i, row in enumerate(pieces["mass"])]
    for symbol, form in zip(multipliers(system), pieces["forms"], strict=True):
        # sum |a| f/m over sum a^2/m has the unit of the multiplier, whatever the units of the coordinates
        moving = [(abs(a), f, m) for a, f, m in zip(form, load, inertia, strict=True) if m != 0 and a != 0]
        above, below = sum(a * f / m for a, f, m in moving), sum(a**2 / m for a, _, m in moving)
        found[symbol] = abs(fast(symbol)) + (above / below if moving else 0)
    for i, q in enumerate(system.coordinates):
        found[q.ddot] = abs(fast(q.ddot)) + (0 if inertia[i] == 0 else load[i] / inertia[i])
    return found


def _values(run: Trajectory, system: System, quantities: Mapping[str, Any]) -> dict[str, Array]:
    """Arrays (lanes, times) of expressions; NaN where a lane has ended or the motion is not determined."""
    motion = maps.motion_map(system)
    outputs = {name: fast(e) for name, e in quantities.items()}
    derived = {s.name for s in (*(q.ddot for q in system.coordinates), *multipliers(system))}
    blocks = motion.blocks if free_names(outputs.values()) & derived else ()
    stepmap = pointwise(f"{system.name}, along a motion", motion.state, motion.parameters, outputs, blocks)
    table = run.at_points(stepmap, run.table("velocity"))
    moving = np.isfinite(run.table("position")).all(axis=-1)
    return {name: np.where(moving, table[..., k], np.nan) for k, name in enumerate(outputs)}


def _contact(run: Trajectory, name: str, lane: int, value: Array, size: Array) -> ContactRecord:
    shown = None if run.lanes is None else lane
    there = np.flatnonzero(np.isfinite(value))
    if not len(there):
        return ContactRecord(name, shown, float("nan"), float("nan"), None, {})
    lowest = there[value[there].argmin()]
    below = there[value[there] < -TOLERANCE * np.nan_to_num(size[there])]
    minimum, at = float(value[lowest]), float(run.time[lowest])
    if not len(below):
        return ContactRecord(name, shown, minimum, at, None, {})
    lost = _crossing(run.time, value, int(below[0]))
    near = _near(run.time, int(below[0]))
    names = [q.name for q in run.system.coordinates]
    positions = [_cubic(run.time[near], run.table("position")[lane, near, i], lost) for i in range(len(names))]
    return ContactRecord(name, shown, minimum, at, lost, dict(zip(names, positions, strict=True)))


def _near(times: Array, k: int) -> slice:
    """Up to four records around the one before record k."""
    first = max(0, min(k - 2, len(times) - 4))
    return slice(first, first + 4)


def _cubic(times: Array, values: Array, t: float) -> float:
    """The polynomial through some records, at a time; records that do not exist are left out."""
    there = np.isfinite(values)
    x, y = times[there], values[there]
    weights = [np.prod((t - np.delete(x, i)) / (x[i] - np.delete(x, i))) for i in range(len(x))]
    return float(np.dot(weights, y))


def _crossing(times: Array, values: Array, k: int) -> float:
    """Where the reaction vanishes between record k - 1 and record k, at which it is negative."""
    if k == 0 or not np.isfinite(values[k - 1]):
        return float(times[k])
    near, low, high = _near(times, k), float(times[k - 1]), float(times[k])
    for _ in range(60):
        middle = (low + high) / 2
        if _cubic(times[near], values[near], middle) < 0:
            high = middle
        else:
            low = middle
    return high
