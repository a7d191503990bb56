"""Compute a motion: check what was given, compile the step, run it in chunks, return a Trajectory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sympy import Float

from ..discrete.equations import carried
from ..discrete.system import DiscreteSystem
from ..engine.arguments import Lanes
from ..engine.kernels import STATUS_WIDTH, carry_width
from ..engine.machine import Stepper
from ..engine.run_options import EXACT, Search
from ..engine.status import Status
from ..errors import MethodError, ModelError, SimulationError, StartError
from ..methods.base import Method
from ..methods.reference import Reference
from ..model.bodies.assembly import Assembly
from ..model.coordinates import Parameter
from ..model.system import System
from ..theory.motion import state_maps as maps
from .event_search import Stretches
from .events import Event
from .finite_records import ended_where_not_finite
from .given_start import Start, read_start
from .interrupts import Interrupts
from .memory import check_fits
from .node_checks import checked_nodes, thinned
from .options import Options, step_size
from .plan import Plan, check_method
from .progress import Progress, chunks
from .reference_solution import solve_reference
from .start import of_momenta, resolve_start
from .trajectory import Trajectory
from .values import Array, Values, by_name, columns, lanes, parameter_values
from .velocities import expected_velocities, has_branches, near_columns


def simulate(
    system: System | DiscreteSystem,
    method: Method | None = None,
    *,
    h: float,
    start: Values | Trajectory,
    until: float | None = None,
    steps: int | None = None,
    parameters: Values | None = None,
    every: int = 1,
    events: Event | Sequence[Event] = (),
    tolerance: float | None = None,
    max_iterations: int | None = None,
    progress: bool | Callable[[int, int], None] | None = None,
    strict: bool = True,
) -> Trajectory:
    """Compute a motion with step `h` to the time `until` (or for a number of `steps`).

    start:      {x: 0, x.dot: 1} position and velocity (velocities that constraints fix may be left out), or
                {x: 0, x.momentum: 1}, or two positions {x.at(0): 0, x.at(1): 0.1}; {dalembert.time: t0} begins at t0;
                or an earlier run, which is continued with the same system, method, h and parameters
    parameters: {m: 1, ...}; every parameter needs a value
    every:      record every `every`-th step
    events:     what happens where expressions cross zero: see `Event`; crossings are in `run.events`
    tolerance:  the relative residual that Newton's method may leave in a step; every equation is measured by the sizes of
                its own terms, so no unit matters. By default steps are solved to rounding error
    max_iterations: a search that is not close to convergence after this many Newton steps is stopped, and restarted as a
                continuation in h; 40 by default
    progress:   True or False shows a bar or not; by default one appears on a terminal if the run is long;
                or a function called with (steps done, steps in all)
    strict:     raise SimulationError if a lane ends early; the error carries the trajectory. False returns it.

    Arrays in `start` or `parameters` make lanes: one motion for each entry. A discrete system is its own method.
    """
    system = _system(system, method)
    asked = Options(step_size(h), until, steps, every, tolerance, max_iterations, progress)
    watched = _events(events, system, method)
    if isinstance(start, Trajectory):
        job = _continued(system, method, start, asked, parameters, watched)
    else:
        own = _own(watched, system)
        values = parameter_values(parameters, [*system.parameters, *own])
        extra = {p: values.pop(p.name) for p in own}
        if isinstance(system, System) and method is not None:
            check_method(system, method)
        begun = _start(system, start, values)
        extent, search = asked.extent(begun.time), _search(asked, method)
        plan = Plan(system, method, extent, values, begun.lanes, progress, search)
        job = _fresh(plan, begun, _with_numbers(watched, extra))
    with Interrupts() as held:
        run = job(held)
        error = failure(run, strict, held)
    return completed(run, error, held)


Job = Callable[[Interrupts], Trajectory]
"""Computes a run, once everything given has been checked and compiled."""


def _system(given: Any, method: Any) -> System | DiscreteSystem:
    """The system that was given, or that of an assembly of bodies; it and the method are checked."""
    system = given.system if isinstance(given, Assembly) else given
    _check_method(system, method)
    return system


def _check_method(system: Any, method: Any) -> None:
    if isinstance(system, DiscreteSystem):
        if method is not None:
            raise MethodError(
                f"{system.name!r} is a discrete system: its discrete Lagrangian is the method. Leave out {method!r}."
            )
        return
    if not isinstance(system, System):
        raise MethodError(f"simulate: got {system!r} ({type(system).__name__}). Expected a System or a DiscreteSystem.")
    if isinstance(method, type) and issubclass(method, Method):
        raise MethodError(f"simulate: {method.__name__} is a class. Write {method.__name__}(), with parentheses.")
    if isinstance(method, Method) and not hasattr(method, "order"):
        name = type(method).__name__
        raise MethodError(f"simulate: {name} claims no order. Write order = 2 (or what it is) in the class {name}.")
    if not isinstance(method, Method):
        raise MethodError(f"simulate: got the method {method!r}. Expected one such as Midpoint() or Reference().")


def _search(asked: Options, method: Method | None, default: Search = EXACT) -> Search:
    """How exactly steps are solved, by a method that has steps."""
    if isinstance(method, Reference) and asked.says_search:
        raise MethodError(
            f"tolerance, max_iterations: these are for the equations of a step, and {method!r} has none. Its own tolerance "
            f"is Reference(rtol=1e-10)."
        )
    return asked.search(default)


def _start(system: System | DiscreteSystem, given: Any, values: dict[str, Array]) -> Start:
    if not hasattr(given, "items"):
        raise StartError(f"start: got {given!r}. Expected {{coordinate: number, ...}} or an earlier run.")
    if isinstance(system, System):
        count = lanes(values)
        rows = columns(values, [p.name for p in system.parameters], count)
        return resolve_start(system, given, values, rows)
    made = system.system
    branches = made is None or has_branches(made)
    pairs = any(getattr(key, "name", str(key)).endswith(".at(1)") for key in given)
    held = carried(system) if pairs else ()  # momenta determine them
    begun = read_start(system.coordinates, given, values, 0, "two positions", system.entropies, branches, held)[0]
    if begun.kind == "velocity":
        x = system.coordinates[0]
        raise StartError(
            f"start: a discrete system has no velocities. Start from two positions ({x}.at(0), {x}.at(1)) or from "
            f"position and momentum ({x}, {x}.momentum)."
        )
    if begun.kind == "momentum" and made is not None and branches:
        rows = columns(values, [p.name for p in made.parameters], lanes(values))
        return replace(begun, near=of_momenta(made, begun, rows, not maps.legendre_block(made, False).is_linear))
    return begun if begun.near is None else replace(begun, near=np.nan_to_num(begun.near))


def _fresh(plan: Plan, start: Start, events: Sequence[Event]) -> Job:
    """A run from its start."""
    if isinstance(plan.method, Reference):
        plan.one_position(start)
        check_fits(plan, len(start.q), start.state.shape[1])
        return lambda held: _checked_throughout(solve_reference(plan, start, held))
    carry = plan.first_carry(plan.stepper(), start, plan.rows)
    codes = np.zeros((len(carry), STATUS_WIDTH), dtype=np.int64)
    return lambda held: _checked_throughout(_computed(plan, carry, codes, events, None, held))


def _checked_throughout(run: Trajectory) -> Trajectory:
    """The run; lanes end where something in them is not finite, not determined or beyond a fold."""
    return ended_where_not_finite(checked_nodes(run))


def _computed(
    plan: Plan, carry: Array, codes: Array, events: Sequence[Event], watched: Array | None, held: Interrupts
) -> Trajectory:
    """The motion of the lanes whose code is 0, with events if there are any; a continued run passes on their sides."""
    stepper, system = plan.stepper(), plan.system
    check_fits(plan, len(carry), stepper.width)
    if plan.extent.every > 1 and not events and isinstance(system, System) and has_branches(system):
        return thinned(plan, carry, codes, lambda p, x, ended: checked_nodes(_computed(p, x, ended, (), None, held)))
    expected = expected_velocities(stepper.stepmap, system, carry)
    if events:
        run = _with_events(plan, stepper, carry, codes, events, watched, held)
    else:
        run = _advance(plan, stepper, carry, codes, held)
    if isinstance(system, System) and (near := near_columns(stepper.stepmap, system)):
        first = run.records[:, 0, near]  # NaN if the first step fails
        run.records[:, 0, near] = np.where(np.isfinite(first), first, expected)
    return run


def _advance(plan: Plan, stepper: Stepper, carry: Array, codes: Array, held: Interrupts) -> Trajectory:
    """Run the compiled loop in chunks; a lane that fails ends, the others go on."""
    whole, steps, done = plan.extent, plan.extent.steps, 0
    records = np.full((len(carry), whole.records, stepper.width), np.nan)
    lanes = Lanes(carry, plan.rows, codes, np.full(len(carry), np.nan))

    def go(at: int, size: int, closing: bool) -> None:
        part = whole.part(at, size)
        closing = closing and part.end % part.every == 0
        stepper.advance(lanes, records, part, plan.search, row=part.first_row - whole.first_row, closing=closing)

    with Progress(plan.progress, steps) as shown:
        try:
            for at, size in chunks(steps, len(carry), shown):
                go(at, size, at + size == steps)
                done = at + size
                if held.arrived():
                    break
        except KeyboardInterrupt:  # raised by a progress function
            held.end()
    if done < steps:
        go(done, 0, True)
        codes[codes[:, 0] == 0, 0] = Status.INTERRUPTED
    names = (*stepper.stepmap.state, *stepper.stepmap.outputs)
    return plan.trajectory(records=records, columns=names, codes=codes, residual=lanes.residual, carry=carry)


def _with_events(
    plan: Plan, stepper: Stepper, carry: Array, codes: Array, events: Sequence[Event], watched: Array | None,
    held: Interrupts,
) -> Trajectory:  # fmt: skip
    """Run with events, which are searched for in every stretch of nodes."""
    found = Stretches(plan, stepper, carry, codes, events)
    if watched is not None and watched.shape[2] == len(events):
        found.side, found.since = watched.copy()
    found.advance(held)
    names = (*stepper.stepmap.state, *stepper.stepmap.outputs)
    times, records = found.until_the_last_event()
    run = plan.trajectory(
        records=records, columns=names, codes=found.codes, residual=found.residual, carry=found.carry,
        events=tuple(found.crossings), watched=np.stack([found.side, found.since]),
    )  # fmt: skip
    return replace(run, time=times)


def _events(given: Any, system: System | DiscreteSystem, method: Method | None) -> tuple[Event, ...]:
    """The events that were given, one or a list of them, checked."""
    expected = "Expected a list of events: events=[Event(x - 1), ...]."
    try:
        events = (given,) if isinstance(given, Event) else tuple(given)
    except TypeError:
        raise ModelError(f"events: got {given!r}. {expected}") from None
    for event in events:
        if not isinstance(event, Event):
            raise ModelError(f"events: {event!r} ({type(event).__name__}) is not an event. {expected}")
        if isinstance(method, Reference):
            raise MethodError("Reference() has no events. Use a method with a fixed step, such as Gauss(4).")
        if not isinstance(system, System):
            raise MethodError(
                f"{system.name!r} is a discrete system: it has no velocities between its nodes, and so no events. Simulate "
                f"the System with a method instead: simulate(system, Midpoint(), ..., events=[...])."
            )
        event.check(system)
    return events


def _own(events: Sequence[Event], system: System | DiscreteSystem) -> list[Parameter]:
    """The parameters that occur in events only."""
    return sorted({p for e in events for p in e.parameters} - set(system.parameters), key=lambda p: p.name)


def _with_numbers(events: Sequence[Event], extra: dict[Parameter, Array]) -> list[Event]:
    """The events with numbers in place of parameters that occur in events only."""
    for name, value in extra.items():
        if value.ndim:
            raise StartError(f"parameters: {name} occurs in events only, so it is one number, not an array.")
    return [event.with_values({p: Float(float(v), 17) for p, v in extra.items()}) for event in events]


def _continued(
    system: Any, method: Any, earlier: Trajectory, asked: Options, parameters: Values | None, events: Sequence[Event]
) -> Job:
    """Continue from the end of an earlier run, bitwise equal to an uninterrupted run; ended lanes stay ended."""
    own = _own(events, system)
    given = by_name(parameters, [*system.parameters, *own], "parameters")
    kept = {
        "system": system == earlier.system,
        "method": method == earlier.method and not isinstance(method, Reference),
        "h": asked.h == earlier.h,
        "parameters": all(np.array_equal(given[k], v, True) for k, v in earlier.parameters.items() if k in given),
        "tolerance or max_iterations": _search(asked, method, earlier.search) == earlier.search,
    }
    if not all(kept.values()):
        changed = ", ".join(name for name, same in kept.items() if not same)
        raise StartError(
            f"start: a run is continued with its own system, method (not Reference), h, parameters, tolerance and "
            f"max_iterations; here the {changed} cannot be continued with. "
            f"To change it, start from a state: {{x: run.x[-1], x.dot: run[x.dot][-1], ...}}."
        )
    going = np.isin(earlier.codes[:, 0], (Status.CONVERGED, Status.INTERRUPTED))
    if not going.any():
        stopped = (earlier.codes[:, 0] == Status.EVENT).all()
        early = "start: the earlier run ended early, so there is nothing to continue from."
        raise StartError(_stopped(earlier) if stopped else early)
    begin = int(earlier.codes[going, 1].max())
    values, lanes, extent = dict(earlier.parameters), earlier.lanes, asked.extent(earlier.t0, begin)
    plan = Plan(system, method, extent, values, lanes, asked.progress, earlier.search)
    held, needed = earlier.carry.shape[1], carry_width(plan.stepper().stepmap)
    if held != needed:
        raise StartError(
            f"start: the earlier run carries {held} numbers from step to step, and a step here needs {needed}: it was "
            f"computed by an earlier version or by something else. Start from a state."
        )
    numbers = parameter_values({p.name: given[p.name] for p in own if p.name in given}, own)
    ready = _with_numbers(events, {p: numbers[p.name] for p in own})
    codes = np.zeros_like(earlier.codes)
    codes[:, :2] = np.where(going[:, None], (0, begin), earlier.codes[:, :2])
    ended, carry = codes.copy(), earlier.carry.copy()
    renewed = tuple(sorted(lane for lane, node in earlier.restarts if node == begin > 0))

    def job(held: Interrupts) -> Trajectory:
        run = replace(_computed(plan, carry, codes, ready, earlier.watched, held), renewed=renewed)
        run = _checked_throughout(run)
        run.codes[~going] = ended[~going]
        return run

    return job


def _stopped(run: Trajectory) -> str:
    x = run.system.coordinates[0].name
    return (
        f"start: the earlier run was stopped by an event, so it does not go on by itself. Start from the state there: "
        f"c = run.events[-1]; start={{{x}: c.positions['{x}'], {x}.dot: c.velocities['{x}'], dalembert.time: c.time, ...}}."
    )


def failure(run: Trajectory, strict: bool, held: Interrupts) -> SimulationError | None:
    """The error that carries a run: if a lane failed, or Ctrl-C was pressed."""
    stopped = held.arrived()
    if not run.ok and (strict or stopped):
        return SimulationError(_failure(run), run)
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


def _failure(run: Trajectory) -> str:
    failed = np.flatnonzero(~np.isin(run.codes[:, 0], (Status.CONVERGED, Status.EVENT)))
    lane = int(failed[np.argmin(run.codes[failed, 1])])
    status, last = Status(int(run.codes[lane, 0])), int(run.codes[lane, 1])
    who = "" if run.lanes is None else f"{len(failed)} of {run.lanes} lanes ended early; lane {lane}: "
    known = np.isfinite(run.residual[lane]) and status is not Status.NOT_FINITE
    size = f" (relative residual {run.residual[lane]:.3g})" if known else ""
    instead = "" if status is Status.INTERRUPTED else "; strict=False returns it instead"
    began = run.t0 + last * run.h
    remedy = _REMEDY.get(status, "")
    if status is Status.INTERRUPTED and (run.method is None or run.method.adaptive) and isinstance(run.system, System):
        remedy = "An adaptive method is not continued: start from a state, or compute the run again."
    within = [c for c in run.events if c.lane == lane and c.time > began]
    if status is Status.OFF_CONSTRAINTS and isinstance(run.system, System):  # only its events act
        forms = ", ".join(f"{c.expression} = 0" for c in run.system.constraints)
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
