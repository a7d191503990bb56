"""Compute a motion: check what was given, compile the step, run it in chunks, return a Trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..discrete.equations import carried
from ..discrete.reduction.reduced_system import ReducedDiscreteSystem
from ..discrete.system import DiscreteSystem
from ..engine.arguments import Lanes
from ..engine.kernels import STATUS_WIDTH, carry_width, motion_width
from ..engine.machine import CPU, DOUBLE, Stepper
from ..engine.run_options import EXACT, Search
from ..engine.status import Status
from ..errors import MethodError, StartError, told
from ..methods.base import Method
from ..methods.own_time import OwnTimeMethod
from ..methods.reference import Reference
from ..model.bodies.assembly import Assembly
from ..model.space import groups
from ..model.system import System
from ..numbers import name_of
from ..theory.motion import state_maps as maps
from ..theory.reduction.reduced import ReducedSystem
from .checkpoint import checkpoint_of, in_pieces
from .event_search import Stretches
from .events import Event
from .failures import completed, failure
from .finite_records import ended_where_not_finite
from .given_events import own_parameters, read_events, with_numbers
from .given_start import Start, read_start
from .interrupts import Interrupts
from .memory import check_fits
from .node_checks import checked_nodes, thinned
from .options import Options, step_size
from .own_time_runs import counted, one_motion
from .plan import Plan, check_method
from .progress import Progress, chunks
from .reduced_start import of_reduced
from .reductions import reductions
from .reference_solution import solve_reference
from .start import momenta_of, of_momenta, resolve_start
from .stiff_solution import solve_stiff
from .trajectory import Trajectory
from .values import Array, Values, by_name, columns, lanes, parameter_values
from .velocities import expected_velocities, has_branches, settle_near


def simulate(
    system: System | DiscreteSystem | ReducedSystem | ReducedDiscreteSystem, method: Method | None = None, *, h: float,
    start: Values | Trajectory, until: float | None = None, steps: int | None = None, parameters: Values | None = None,
    every: int | None = None, record: Mapping[Any, str | Sequence[str]] | None = None,
    events: Event | Sequence[Event] = (), tolerance: float | None = None, max_iterations: int | None = None,
    progress: bool | Callable[[int, int], None] | None = None, strict: bool = True, device: str = CPU,
    precision: str = DOUBLE, checkpoint: str | Path | None = None, checkpoint_every: int | None = None,
) -> Trajectory:  # fmt: skip
    """Compute a motion with step `h` to the time `until` (or for a number of `steps`).

    start:      {x: 0, x.dot: 1} position and velocity (velocities that constraints fix may be left out), or
                {x: 0, x.momentum: 1}, or two positions {x.at(0): 0, x.at(1): 0.1}; {dalembert.time: t0} begins at t0;
                or an earlier run, which is continued with the same system, method, h and parameters
    parameters: {m: 1, ...}; every parameter needs a value
    every:      record every `every`-th step; by default every step, and with `record` only the first and the last
    record:     {x: "largest", x**2: ("mean", "smallest"), "energy": "drift"}: numbers kept over all nodes without recording
                them, in `run.reductions`, so that a run of any length needs memory for its lanes only; "mean" is that over
                time, "drift" the largest distance from the value at the start
    events:     what happens where expressions cross zero: see `Event`; crossings are in `run.events`
    tolerance:  the relative residual that Newton's method may leave in a step; every equation is measured by the sizes of
                its own terms, so no unit matters. By default steps are solved to rounding error
    max_iterations: a search that is not close to convergence after this many Newton steps is stopped, and restarted as a
                continuation in h; 40 by default
    progress:   True or False shows a bar or not; by default one appears on a terminal if the run is long;
                or a function called with (steps done, steps in all)
    strict:     raise SimulationError if a lane ends early; the error carries the trajectory. False returns it.
    device:     "cpu", all cores, and in long runs several lanes at once in the vector registers; "simd", always in vectors,
                with the same bits; or "cuda", all GPUs of this computer, one thread for each lane
    precision:  "double"; on a GPU also "single", or "mixed": states, sums and times are doubles, steps are solved in floats
    checkpoint: a file "run.nc" that has the whole run, written anew every `checkpoint_every` steps; if the process is killed
                at any moment, the same call goes on from there, and the motion is bitwise that of a run without
                interruption. Or a folder "run.zarr", to which records are written as they come, so that a run of any length
                needs no memory: what is returned is its last part, and `load` or xarray read the whole

    Arrays in `start` or `parameters` make lanes: one motion for each entry. A discrete system is its own method. A reduced
    system starts from its own variables or from a state of the system that was reduced; a reduced discrete system likewise.
    """
    if isinstance(system, ReducedDiscreteSystem) and not isinstance(start, Trajectory):
        start = _after_one_step(system, start, parameters, step_size(h))
    system, start = of_reduced(system, start, parameters, step_size(h))
    system = _system(system, method)
    kept_numbers = reductions(record, system, method)
    asked = Options(
        step_size(h), until, steps, every, tolerance, max_iterations, progress, device, kept_numbers, precision
    )
    watched = read_events(events, system, method)
    piece = partial(_run, system, method, parameters=parameters, events=watched, strict=False)
    if kept := checkpoint_of(checkpoint, checkpoint_every, method, watched):
        run = in_pieces(piece, start, asked, kept)
        return completed(run, failure(run, strict, held := Interrupts()), held)
    return _run(system, method, start, counted(piece, method, start, asked), parameters, watched, strict)


def _run(
    system: System | DiscreteSystem, method: Method | None, start: Any, asked: Options, parameters: Values | None,
    events: Sequence[Event], strict: bool,
) -> Trajectory:  # fmt: skip
    """The motion from a start, or that which continues an earlier run."""
    if isinstance(start, Trajectory):
        job = _continued(system, method, start, asked, parameters, events)
    else:
        own = own_parameters(events, system)
        values = parameter_values(parameters, [*system.parameters, *own])
        extra = {p: values.pop(p.name) for p in own}
        if (stated := system.continuous) is not None and method is not None:
            check_method(stated, method)
        begun = _start(system, start, values)
        if isinstance(method, OwnTimeMethod):
            one_motion(method, begun)
        extent, search = asked.extent(begun.time), _search(asked, method, asked.default_search)
        plan = Plan(
            system, method, extent, values, begun.lanes, asked.progress, search, asked.place(method), asked.record
        )
        job = _fresh(plan, begun, with_numbers(events, extra))
    with Interrupts() as held:
        run = job(held)
        error = failure(run, strict, held)
    return completed(run, error, held)


def _after_one_step(system: ReducedDiscreteSystem, start: Any, parameters: Any, h: float) -> Any:
    """A start of a reduced system; from position and velocity or momentum of the original one its first step is made."""
    given = {name_of(key) for key in start} if hasattr(start, "items") else set()
    q, own = system.original.coordinates, system.system.coordinates
    others = {c.momentum.name for c in q} | {R.name for R in groups(q)} | {v.name for R in groups(q) for v in R.vectors}
    others |= {c.name for c in q} - {c.name for c in own}
    if given & (others - {c.momentum.name for c in own} | {c.dot.name for c in q}):
        known = {p.name for p in system.original.parameters}
        values = {k: v for k, v in (parameters or {}).items() if name_of(k) in known}
        return system.start(simulate(system.original, h=h, steps=1, start=start, parameters=values), parameters, h)
    return start


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
        raise MethodError(
            f"simulate: got {told(system)} ({type(system).__name__}). Expected a System or a DiscreteSystem."
        )
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
        raise StartError(f"start: got {told(given)}. Expected {{coordinate: number, ...}} or an earlier run.")
    if (stated := system.continuous) is not None:
        count = lanes(values)
        rows = columns(values, [p.name for p in stated.parameters], count)
        return resolve_start(stated, given, values, rows)
    own = system.discrete
    assert own is not None
    made = own.system
    branches = made is None or has_branches(made)
    if made is not None and not made.principle.carried(made) and _gives_velocities(made, given):
        return _by_momenta(made, given, values, branches)
    ends = {c.at(1).name for c in (*system.coordinates, *system.entropies)}
    pairs = any(name_of(key) in ends for key in given)
    held = carried(own) if pairs else ()  # momenta determine them
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


def _gives_velocities(system: System, given: Any) -> bool:
    """Whether a start has velocities, and no momenta beside them."""
    names = {name_of(key) for key in given}
    vectors = [R.vectors for R in groups(system.coordinates)]
    speeds = {q.dot.name for q in system.coordinates} | {v.name for row in vectors for v in row[: len(row) // 2]}
    momenta = {q.momentum.name for q in system.coordinates} | {v.name for row in vectors for v in row[len(row) // 2 :]}
    return bool(names & speeds) and not names & momenta


def _by_momenta(made: System, given: Any, values: dict[str, Array], branches: bool) -> Start:
    """A start of a discrete system from velocities of the system it was made from: by its momenta p = dL/dv."""
    own = {p.name: values[p.name] for p in made.parameters}
    rows = columns(own, [p.name for p in made.parameters], lanes(own))
    begun = resolve_start(made, given, own, rows)
    if begun.kind != "velocity":
        return begun
    return replace(
        begun, kind="momentum", second=momenta_of(made, begun, rows), near=begun.second if branches else None
    )


def _fresh(plan: Plan, start: Start, events: Sequence[Event]) -> Job:
    """A run from its start."""
    if isinstance(plan.method, Reference):
        plan.one_position(start)
        check_fits(plan, len(start.q), start.state.shape[1])
        solve = solve_stiff if plan.method.solver == "Radau" else solve_reference
        return lambda held: _checked_throughout(solve(plan, start, held))
    carry = plan.first_carry(plan.stepper(), start, plan.rows)
    if plan.record:
        plan.tally.begin(carry, plan.rows, start.time)
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
    if plan.extent.every > 1 and not events and (stated := system.continuous) and has_branches(stated):
        return thinned(plan, carry, codes, lambda p, x, ended: checked_nodes(_computed(p, x, ended, (), None, held)))
    expected = expected_velocities(stepper.stepmap, system, carry)
    if events:
        run = _with_events(plan, stepper, carry, codes, events, watched, held)
    else:
        run = _advance(plan, stepper, carry, codes, held)
    if stated := system.continuous:
        settle_near(run, stated, expected)
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

    with Progress(plan.progress, steps) as shown, stepper.kept(lanes):
        try:
            for at, size in chunks(steps, len(carry), shown, stepper.patience):
                go(at, size, at + size == steps)
                done = at + size
                if held.arrived():
                    break
        except KeyboardInterrupt:  # raised by a progress function
            held.end()
        if done < steps:
            go(done, 0, True)
    if done < steps:
        codes[codes[:, 0] == 0, 0] = Status.INTERRUPTED
    names = (*stepper.stepmap.state, *stepper.stepmap.outputs)
    return plan.trajectory(
        records=records, columns=names, codes=codes, residual=lanes.residual, carry=carry,
        reductions=plan.tally.results(carry[:, motion_width(stepper.stepmap) :]) if plan.record else {},
    )  # fmt: skip


def _with_events(
    plan: Plan, stepper: Stepper, carry: Array, codes: Array, events: Sequence[Event], watched: Array | None,
    held: Interrupts,
) -> Trajectory:  # fmt: skip
    """Run with events, which are searched for in every stretch of nodes."""
    width = motion_width(stepper.stepmap)
    carry, cells = carry[:, :width].copy(), carry[:, width:].copy()
    plain = replace(plan, record=())
    found = Stretches(plain, plain.stepper(), carry, codes, events, cells, plan.tally if plan.record else None)
    if watched is not None and watched.shape[2] == len(events):
        found.side, found.since = watched.copy()
    found.advance(held)
    names = (*stepper.stepmap.state, *stepper.stepmap.outputs)
    times, records = found.until_the_last_event()
    run = plan.trajectory(
        records=records, columns=names, codes=found.codes, residual=found.residual,
        carry=np.hstack([found.carry, found.cells]), reductions=plan.tally.results(found.cells) if plan.record else {},
        events=tuple(found.crossings), watched=np.stack([found.side, found.since]), stops=found.stops,
    )  # fmt: skip
    return replace(run, time=times)


def _continued(
    system: Any, method: Any, earlier: Trajectory, asked: Options, parameters: Values | None, events: Sequence[Event]
) -> Job:
    """Continue from the end of an earlier run, bitwise equal to an uninterrupted run; ended lanes stay ended."""
    own = own_parameters(events, system)
    given = by_name(parameters, [*system.parameters, *own], "parameters")
    kept = {
        "system": system == earlier.system,
        "method": method == earlier.method and not isinstance(method, Reference),
        "h": asked.h == earlier.h,
        "parameters": all(np.array_equal(given[k], v, True) for k, v in earlier.parameters.items() if k in given),
        "tolerance or max_iterations": _search(asked, method, earlier.search) == earlier.search,
        "record": [r.title for r in asked.record] == list(earlier.reductions),
        "precision": asked.precision == earlier.precision,
    }
    if not all(kept.values()):
        changed = ", ".join(name for name, same in kept.items() if not same)
        raise StartError(
            f"start: a run is continued with its own system, method (not Reference), h, parameters, tolerance, "
            f"max_iterations, record and precision; here the {changed} cannot be continued with. "
            f"To change it, start from a state: {{x: run.x[-1], x.dot: run[x.dot][-1], ...}}."
        )
    going = np.isin(earlier.codes[:, 0], (Status.CONVERGED, Status.INTERRUPTED))
    if not going.any():
        stopped = (earlier.codes[:, 0] == Status.EVENT).all()
        early = "start: the earlier run ended early, so there is nothing to continue from."
        raise StartError(_stopped(earlier) if stopped else early)
    begin = int(earlier.codes[going, 1].max())
    values, lanes, extent = dict(earlier.parameters), earlier.lanes, asked.extent(earlier.t0, begin)
    plan = Plan(
        system, method, extent, values, lanes, asked.progress, earlier.search, asked.place(method), asked.record
    )
    held, needed = earlier.carry.shape[1], carry_width(plan.stepper().stepmap)
    if held != needed:
        raise StartError(
            f"start: the earlier run carries {held} numbers from step to step, and a step here needs {needed}: it was "
            f"computed by an earlier version or by something else. Start from a state."
        )
    numbers = parameter_values({p.name: given[p.name] for p in own if p.name in given}, own)
    ready = with_numbers(events, {p: numbers[p.name] for p in own})
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
