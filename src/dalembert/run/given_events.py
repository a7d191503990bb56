"""Events as they are given to a run, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Float

from ..discrete.system import DiscreteSystem
from ..errors import MethodError, ModelError, StartError, told
from ..methods.base import Method
from ..model.coordinates import Parameter
from ..model.system import System
from .events import Event
from .values import Array


def read_events(given: Any, system: System | DiscreteSystem, method: Method | None) -> tuple[Event, ...]:
    """The events that were given, one or a list of them, checked."""
    expected = "Expected a list of events: events=[Event(x - 1), ...]."
    try:
        events = (given,) if isinstance(given, Event) else tuple(given)
    except TypeError:
        raise ModelError(f"events: got {told(given)}. {expected}") from None
    for event in events:
        if not isinstance(event, Event):
            raise ModelError(f"events: {event!r} ({type(event).__name__}) is not an event. {expected}")
        if method is not None and method.adaptive:
            name = type(method).__name__
            raise MethodError(f"{name}() has no events. Use a method with a fixed step, such as Gauss(4).")
        if (stated := system.continuous) is None:
            raise MethodError(
                f"{system.name!r} is a discrete system: it has no velocities between its nodes, and so no events. Simulate "
                f"the System with a method instead: simulate(system, Midpoint(), ..., events=[...])."
            )
        event.check(stated)
    return events


def own_parameters(events: Sequence[Event], system: System | DiscreteSystem) -> list[Parameter]:
    """The parameters that occur in events only."""
    return sorted({p for e in events for p in e.parameters} - set(system.parameters), key=lambda p: p.name)


def with_numbers(events: Sequence[Event], extra: dict[Parameter, Array]) -> list[Event]:
    """The events with numbers in place of parameters that occur in events only."""
    for name, value in extra.items():
        if value.ndim:
            raise StartError(f"parameters: {name} occurs in events only, so it is one number, not an array.")
    return [event.with_values({p: Float(float(v), 17) for p, v in extra.items()}) for event in events]
