"""A start of a reduced system: in its own variables, or from a state of the system that was reduced."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..discrete.reduction.reduced_system import ReducedDiscreteSystem
from ..errors import StartError
from ..model.coordinates import time
from ..numbers import name_of
from ..theory.reduction.group_and_shape import reduced_state
from ..theory.reduction.momentum_reduction import MomentumReduction
from ..theory.reduction.reduced import ReducedSystem
from .start import resolve_start
from .trajectory import Trajectory
from .values import Array, Values, columns, lanes, parameter_values


def of_reduced(system: Any, start: Any, parameters: Values | None, h: float) -> tuple[Any, Any]:
    """The system whose motion that of a reduced system is, and a start of it; anything else as it is given."""
    given = not isinstance(start, Trajectory)
    if isinstance(system, ReducedDiscreteSystem):
        return system.system, system.own_start(start, parameters, h) if given else start
    if isinstance(system, MomentumReduction):
        return system.reduced.motion, system.start(start, parameters) if given else start
    if isinstance(system, ReducedSystem):
        return system.motion, reduced_start(system, start, parameters) if given else start
    return system, start


def reduced_start(reduced: ReducedSystem, given: Any, parameters: Values | None) -> Any:
    """A start as given, if it names variables of the reduced system only; else that of a state of the original system."""
    own, system = reduced.motion.space, reduced.system
    known = {*own.names("position", "velocity", "momentum"), *(q.dot.name for q in own.coordinates), time.name}
    others = {*system.space.names("position", "velocity", "momentum"), *(f.name for f in system.space.factors)} - known
    others |= {v.name for f in system.space.factors for v in getattr(f, "vectors", ())}
    names = {name_of(key) for key in given} if hasattr(given, "items") else set()
    if not names & others:
        return given
    values = parameter_values(parameters, list(system.parameters))
    begun = resolve_start(system, given, values, columns(values, [p.name for p in system.parameters], lanes(values)))
    if begun.kind == "two positions":
        raise StartError(
            f"start: two positions of {system.name!r}. A reduced system starts from positions and velocities of it, or from "
            f"its own variables {', '.join(map(str, (*reduced.shape, *reduced.frame.velocities)))}."
        )
    rows = {p: np.broadcast_to(values[p.name], (len(begun.q),)) for p in system.parameters}
    shapes, speeds = reduced_state(reduced, begun.q, begun.second, rows)

    def read(column: Array) -> Any:
        return column[0] if begun.lanes is None else column

    found: dict[Any, Any] = {r: read(shapes[:, i]) for i, r in enumerate(reduced.shape)}
    found |= {w: read(speeds[:, i]) for i, w in enumerate(reduced.frame.velocities)}
    return {**found, time: begun.time}
