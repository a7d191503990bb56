"""Events, as given by the user, and crossings, as found in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..display import Part, Shown, Table
from ..errors import ModelError
from ..model import checks
from ..model.coordinates import Coordinate, Parameter, time
from ..model.space import position_symbols
from ..model.system import System


@dataclass(frozen=True, eq=False)
class Event:
    """When `expression` crosses zero, stop, record the crossing, or act: {x.dot: -x.dot} changes the state there.

    direction: +1 only where it rises, -1 only where it falls, 0 both ways

    Crossings are detected by the sign at nodes and after actions: an expression that crosses zero twice within one step, and
    so has the same sign at both its ends, is not detected; choose h so small that it crosses once. Starting at zero, or
    being moved across zero by the action of an event, does not count as a crossing.
    """

    expression: Any
    action: Literal["stop", "record"] | Mapping[Any, Any] = "record"
    direction: Literal[-1, 0, 1] = 0
    name: str = "event"

    def __post_init__(self) -> None:
        object.__setattr__(self, "expression", _that_varies(self.expression))
        if isinstance(self.action, Mapping) and self.action:
            changes = {k: checks.expression(e, "Event") for k, e in _by_component(self.action).items()}
            object.__setattr__(self, "action", changes)
        elif self.action not in ("stop", "record"):
            raise ModelError(
                f"Event: action = {self.action!r}. Expected 'stop', 'record', or what to change: {{x.dot: -x.dot}}."
            )
        if self.direction not in (-1, 0, 1):
            raise ModelError(f"Event: direction = {self.direction!r}. Expected -1 (falls), 0 (both) or 1 (rises).")

    @property
    def changes(self) -> Mapping[Any, Any]:
        """The changes the event makes; empty if it stops or records."""
        return self.action if isinstance(self.action, Mapping) else {}

    @property
    def parameters(self) -> set[Parameter]:
        """The parameters that occur in the event."""
        told = [self.expression, *self.changes.values()]
        return {s for e in told for s in e.free_symbols if isinstance(s, Parameter)}

    def with_values(self, values: Mapping[Any, Any]) -> Event:
        """The event with numbers in place of parameters that the system does not have."""
        changes = {k: e.xreplace(values) for k, e in self.changes.items()}
        return replace(self, expression=self.expression.xreplace(values), action=changes or self.action)

    def check(self, system: System) -> None:
        """Every symbol must belong to the system."""
        held = system.principle.carried(system)
        changeable = {*(q for q in system.factors if isinstance(q, Coordinate)), *system.velocities, *held}
        known = {*position_symbols(system.coordinates), *system.velocities, *system.entropies, *held}
        checks.symbols(self.expression, known, "event")
        for key, value in self.changes.items():
            if key not in changeable:
                names = ", ".join(str(s) for s in (*system.factors, *system.velocities) if s in changeable)
                names += "".join(f", {m.key}" for m in held)
                raise ModelError(
                    f"event: the action changes {key!r}. Expected one of the symbols {names}, without quotes."
                )
            checks.symbols(value, known, "event")


def _by_component(action: Mapping[Any, Any]) -> dict[Any, Any]:
    """An action with the components of a vector one by one: {R.omega: (a, b, c)}."""
    found: dict[Any, Any] = {}
    for key, given in action.items():
        if not isinstance(key, tuple):
            found[key] = given
            continue
        if not isinstance(given, list | tuple) or len(given) != len(key):
            raise ModelError(f"Event: the action changes {key} to {given!r}. Expected {len(key)} expressions.")
        found |= dict(zip(key, given, strict=True))
    return found


def _that_varies(given: Any) -> Any:
    """The expression of an event, which must not be constant."""
    expression = checks.expression(given, "Event")
    if all(isinstance(s, Parameter) for s in expression.free_symbols):
        raise ModelError(
            f"Event: the expression is the constant {expression}, it never crosses zero. Expected coordinates, velocities "
            f"or time in it, such as x - 1."
        )
    return expression


@dataclass(frozen=True)
class Crossing:
    """One crossing: where, when, which event, and the state there (before any action), which is on the constraints."""

    name: str
    time: float
    lane: int
    positions: dict[str, float]
    velocities: dict[str, float]
    changed: bool = False
    """Whether the event changed the motion there."""
    entropies: dict[str, float] = field(default_factory=dict)
    step: int = -1
    """The number of the node at the beginning of the step in which it occurred."""
    multipliers: dict[str, float] = field(default_factory=dict)
    """Those that are part of the state."""

    @property
    def start(self) -> dict[str, float]:
        """The state there as a start: simulate(system, method, start=run.events[-1].start, ...)."""
        moving = {f"{name}.dot": v for name, v in self.velocities.items()}
        return {**self.positions, **moving, **self.entropies, **self.multipliers, time.name: self.time}


class Crossings(Shown, tuple[Crossing, ...]):
    """The crossings of a run, in the order of time in each lane; a table in a terminal and in a notebook."""

    __slots__ = ()

    def _parts(self) -> Sequence[Part]:
        if not self:
            return ["no crossings"]
        names = list({name: None for c in self for name in c.positions})
        rows = [
            (c.name, c.lane, c.time, *(c.positions.get(name, "") for name in names), "changed" if c.changed else "")
            for c in self[:MOST_SHOWN]
        ]
        more = [f"and {len(self) - MOST_SHOWN} more"] if len(self) > MOST_SHOWN else []
        return [Table(("event", "lane", "t", *names, "motion"), rows), *more]


MOST_SHOWN = 50
"""Crossings in a table."""
