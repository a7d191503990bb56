"""What a sensitivity is asked for: of which quantities, by which variables, through which events; or why it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from ...errors import ModelError, StartError, told
from ...model.coordinates import Parameter
from ...model.space import lines
from ...model.system import System
from ...run.events import Event
from ...run.trajectory import Trajectory, known_quantity
from ...run.values import Array
from ...symbolic import fast
from ...theory.motion.energies import energy
from .tangents import check_steps


def check_run(run: Any) -> None:
    """Refuse anything but a run of a System with known steps."""
    check_steps(run, "sensitivity", acting=True)
    if run.system.continuous is not run.system:
        raise ModelError(
            f"sensitivity: {run.system.name!r} is a discrete system, which has no velocities at its nodes. Give a run of a "
            f"System; `tangents` has the derivatives of states of discrete systems."
        )
    if run.changes and (run.system.constraints or run.system.principle.carried(run.system)):
        raise ModelError(
            f"sensitivity: events changed this motion, and {run.system.name!r} has constraints: what an action does to a "
            f"state on constraints is not differentiated. Write the system in free coordinates, or leave out the event."
        )


def given_numbers(run: Trajectory, values: dict[str, Array]) -> dict[str, Array]:
    """The values of parameters of events: one, or one for each lane."""
    lanes = len(run.records)
    for name, value in values.items():
        if value.shape not in ((), (lanes,)):
            raise StartError(
                f"sensitivity: parameters: {name} has {value.size} values and the run {lanes} lanes. Give one number."
            )
    return values


def wanted_quantities(system: System, of: Any) -> dict[Any, Any]:
    """The expressions that are differentiated, by what a person calls them."""
    if of is None:
        of = [*lines(system.space.variables), *system.velocities]
    given = list(of) if isinstance(of, list | tuple) else [of]
    if not given:
        raise ModelError("sensitivity: of = []. Give expressions, such as [x, x.dot].")
    found = {}
    for e in given:
        named = energy(system) if isinstance(e, str) and e == "energy" else known_quantity(system, e, "sensitivity")
        found[e if isinstance(e, str) else sympy.sympify(e)] = fast(named)
    return found


def wanted_variables(system: System, by: Any, more: Sequence[Parameter]) -> tuple[sympy.Symbol, ...]:
    q = system.coordinates
    held = system.principle.carried(system)
    known = [*system.parameters, *more, *q, *system.velocities, *(c.momentum for c in q), *system.entropies, *held]
    usual = [s for s in known if s not in {c.momentum for c in q}]
    given = usual if by is None else list(by) if isinstance(by, list | tuple) else [by]
    names = {s.name: s for s in known}
    for b in given:
        if getattr(b, "name", b) not in names:
            raise ModelError(
                f"sensitivity: by = {told(b)}. Expected parameters of the system or symbols of its state: "
                f"{', '.join(str(s) for s in known)}."
            )
    found = tuple(names[getattr(b, "name", b)] for b in given)
    if not found or len(set(found)) < len(found):
        raise ModelError(f"sensitivity: by = {told(by)}. Give one variable or more, each once.")
    moving, momenta = ({s for s in found if s in kind} for kind in (system.velocities, [c.momentum for c in q]))
    if moving and momenta:
        raise ModelError(
            f"sensitivity: by has the velocity {min(map(str, moving))} and the momentum {min(map(str, momenta))}. What is "
            f"kept while one of them changes? Give velocities only, or momenta only."
        )
    return found


def wanted_events(run: Trajectory, events: Any) -> dict[str, Event]:
    """The events given, by name; those that changed or stopped the motion must be among them."""
    listed = [events] if isinstance(events, Event) else list(events) if isinstance(events, list | tuple) else None
    given = {e.name: e for e in listed or () if isinstance(e, Event)}
    if listed is None or len(given) < len(listed):
        raise ModelError(
            f"sensitivity: events = {told(events)}. Expected the events of the run, each with a name of its own: Event(..., "
            f"name='bounce')."
        )
    acting = {c.name for c in run.events if c.changed}
    if not run.ends_at_a_node and run.events:
        acting |= {run.events[-1].name, *(c.name for c in run.events if c.time == run.time[-1])}
    if missing := sorted(acting - set(given)):
        raise ModelError(
            f"sensitivity: the event {missing[0]!r} changed or stopped this motion, and the run has its name only. Give "
            f"events=[...] as in simulate."
        )
    return given
