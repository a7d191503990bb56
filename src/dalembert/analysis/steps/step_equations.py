"""The equations of one step, with numbers for known quantities, as examined by `existence`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Expr, Rational, Symbol

from ...decide import decimals
from ...discrete.equations import step_velocity
from ...discrete.flow import pair_map
from ...discrete.system import DiscreteSystem
from ...engine.run_options import Extent
from ...errors import MethodError, StartError, told
from ...methods.base import Method
from ...methods.stepping import Stepping
from ...model.coordinates import multiplier, step, time
from ...model.space import lines_only
from ...model.system import System
from ...numbers import name_of
from ...run.given_start import read_start
from ...run.plan import Plan, check_method
from ...run.start import OFF, resolve_start
from ...run.trajectory import Trajectory
from ...run.values import Values, by_name, columns, exact_values, lanes, parameter_values, step_length
from ...symbolic import Fast, fast, free_names, magnitude, number, slow, substitute
from ...theory.motion.lagrange import momenta
from ...waist.stepmap import StepMap


@dataclass(frozen=True)
class Question:
    """Equations in unknowns, and in variables of the state that run over all values.

    constants:  values of known quantities, as floating-point numbers that are exact
    exact:      the same, as they were given
    ends:       the reported result: the state at the end of the step, in terms of state and unknowns
    shown:      how symbols of the equations are printed
    """

    title: str
    equations: tuple[Fast, ...]
    unknowns: tuple[str, ...]
    free: tuple[str, ...]
    constants: dict[str, float]
    exact: dict[str, Any]
    ends: dict[Symbol, Fast]
    shown: dict[Symbol, Expr]


def asked(
    given: Any, method: Method | None, at: Values | None, h: float | None, parameters: Values | None, lane: int
) -> Question:
    """The question given by the arguments of `existence`."""
    if isinstance(given, Trajectory):
        lines_only(given.system, "existence")
        return _of_run(given, lane)
    if not isinstance(given, System | DiscreteSystem):
        raise MethodError(
            f"existence: got {told(given)}. Expected a run, a discrete system, or a System with a method."
        )
    lines_only(given, "existence")
    if h is None:
        raise StartError("existence: no step. Write existence(system, at={...}, h=0.1, parameters={...}).")
    if isinstance(given, System):
        if not isinstance(method, Method) or method.adaptive:
            raise MethodError(
                f"existence: {given.name!r} is continuous, so say by which method with a fixed step: existence(system, "
                f"Midpoint(), at={{...}}, h=...)."
            )
        check_method(given, method)
    elif method is not None:
        raise MethodError(f"{given.name!r} is a discrete system: leave out {method!r}.")
    exact = exact_values(parameters, [p.name for p in given.parameters]) | exact_values({step.name: h}, [step.name])
    values = {name: float(v[0]) for name, v in _single(parameter_values(parameters, given.parameters)).items()}
    known = (values | {step.name: step_length(h, "existence")}, exact)
    whole = (*given.coordinates, *given.entropies)
    slots = {c.at(k).name for c in whole for k in (0, 1)}
    if at is None or all(name_of(key) in slots for key in at):
        return _of_pair(_discrete(Stepping(given, method)), at or {}, *known)
    return _of_state(given, method, at, parameters, *known)


def _single(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values without lanes."""
    if any(v.ndim for v in values.values()):
        raise StartError("existence: it looks at one state, so parameters and states are numbers, not arrays.")
    return {name: np.atleast_1d(v) for name, v in values.items()}


def _discrete(steps: Stepping) -> DiscreteSystem:
    found = steps.discrete
    if found is None or (found.interior and steps.method is not None):
        x = steps.system.coordinates[0]
        raise StartError(
            f"existence: two positions are for variational methods without interior positions, such as Midpoint(). With "
            f"{steps.method!r} give the state, at={{{x}: ..., {x}.dot: ...}}."
        )
    return found


def _question(
    system: Any, title: str, equations: Any, unknowns: Any, free: Any, state: Mapping[str, float],
    exact: Mapping[str, Any], ends: dict[Symbol, Fast],
) -> Question:  # fmt: skip
    """Exact numbers that are not floating-point numbers go into the equations; the others are `constants`."""
    inexact = {fast(n): fast(v) for n, v in exact.items() if Rational(float(v)) != v}
    equations = tuple(_with_fractions(substitute(e, inexact)) for e in equations)
    ends = {s: _with_fractions(substitute(e, inexact)) for s, e in ends.items()}
    names = {n: Symbol(n) for n in (*unknowns, *free, *state)}
    printed = {s.name: s for s in _printed(system)}
    shown = {symbol: printed.get(n, Symbol(n, real=True)) for n, symbol in names.items()}
    constants = {n: v for n, v in state.items() if fast(n) not in inexact}
    return Question(title, equations, tuple(unknowns), tuple(free), constants, dict(state) | dict(exact), ends, shown)


def _with_fractions(e: Fast) -> Fast:
    """An expression with its decimals, which come from a method, as fractions."""
    import symengine

    found = e.atoms(symengine.RealDouble)
    return e.xreplace({d: fast(decimals.exact(float(d))) for d in found}) if found else e


def _printed(system: System | DiscreteSystem) -> list[Any]:
    """The symbols that a step map may use, as they are printed."""
    slots = [s for c in (*system.coordinates, *system.entropies) for s in (c.at(0), c.at(1))]
    moving = [s for c in system.coordinates for s in (c.momentum, step_velocity(c))]
    return [step, *slots, *moving, *(multiplier(a + 1) for a in range(len(system.constraints)))]


def _of_pair(system: DiscreteSystem, at: Values, values: dict[str, float], exact: dict[str, Any]) -> Question:
    """The step after a pair of positions; entropies at its end follow from the laws, if they are not given."""
    whole = (*system.coordinates, *system.entropies)
    stepmap = pair_map(system)
    found = _single(by_name(at, [*(c.at(k) for c in whole for k in (0, 1)), time], "at"))
    state = values | {time.name: 0.0} | {n: float(v[0]) for n, v in found.items()}
    exact = exact | exact_values(at, list(state))
    free = [n for n in stepmap.state if n not in state]
    # The pair itself obeys the laws and the constraints: slots that are not given follow from them or are free.
    own = [e for e in (*system.entropy_laws, *system.constraints) if not _satisfied(system, e, state)]
    follow = [S.at(1).name for S in system.entropies if S.at(1).name in free]
    unknowns = list(stepmap.unknowns)
    if set(free) == set(follow):
        unknowns, free = [*unknowns, *follow], []
    later = dict(zip(stepmap.state, stepmap.update, strict=True))
    ends: dict[Symbol, Fast] = {c: later[c.at(1).name] for c in whole}
    title = f"{system.name}, h = {values[step.name]:g}, the step after a pair of positions"
    equations = [*(r for b in stepmap.blocks for r in b.residual), *own]
    return _question(system, title, equations, unknowns, free, state, exact, ends)


def _satisfied(system: DiscreteSystem, law: Fast, state: Mapping[str, float]) -> bool:
    """Whether a law holds on the pair that is given; False where the pair is not given completely."""
    if free_names([law]) - set(state):
        return False
    value, size = number(law, state), number(magnitude(law), state)
    if not abs(value) <= OFF * size:
        raise StartError(
            f"at: the pair violates {system.read(law)} = 0: its value is {value:.6g}. Leave out the entropies at its end, "
            f"and they follow from the laws; or correct the second position."
        )
    return True


def _of_state(
    system: System | DiscreteSystem, method: Method | None, at: Values, parameters: Values | None,
    values: dict[str, float], exact: dict[str, Any],
) -> Question:  # fmt: skip
    """The step from a position with its velocity or momentum."""
    numbers = _single(parameter_values(parameters, system.parameters))
    if lanes(_single(by_name(at, _keys(system), "at"))) not in (None, 1):
        raise StartError("existence: it looks at one state; `at` has arrays.")
    rows = columns(numbers, [p.name for p in system.parameters], None)
    if (stated := system.continuous) is not None:
        start = resolve_start(stated, at, numbers, rows)
    else:
        start, _ = read_start(system.coordinates, at, numbers, 0, "momentum", system.entropies)
    plan = Plan(system, method, Extent(start.time, values[step.name], 0, 1), numbers, None)
    stepper = plan.stepper()
    carry = plan.first_carry(stepper, start, rows)[0]
    state = dict(zip(stepper.stepmap.state, map(float, carry), strict=False))
    by = f", {method!r}" if method else ""
    title = f"{system.name}{by}, h = {values[step.name]:g}, the step from t = {start.time:g}"
    known = values | state | {time.name: start.time}
    return _of_step(title, system, stepper.stepmap, known, exact | _exact_state(system, at, known, exact))


def _exact_state(
    system: System | DiscreteSystem, at: Values, state: Mapping[str, float], exact: Mapping[str, Any]
) -> dict[str, Any]:
    """The numbers of a state that are known exactly: those that were typed, and momenta of velocities that were typed.

    Constraints complete and correct velocities; then momenta are the resulting floating-point numbers.
    """
    found = exact_values(at, state)
    stated = system.continuous
    if stated is None or stated.constraints:
        return found
    typed = exact_values(at, [s.name for s in (*stated.coordinates, *stated.velocities)])
    if len(typed) < 2 * len(system.coordinates):
        return found
    values = {**{n: Rational(x) for n, x in state.items()}, **exact, **found, **typed}
    pairs = zip(stated.coordinates, momenta(stated), strict=True)
    made = {q.momentum.name: slow(substitute(p, values), []) for q, p in pairs}
    return found | {n: p for n, p in made.items() if n in state and p.is_number}


def _keys(system: System | DiscreteSystem) -> list[Any]:
    q = [s for c in system.coordinates for s in (c, c.dot, c.momentum, c.at(0), c.at(1))]
    stated = system.continuous
    return [*q, *system.entropies, *(stated.principle.carried(stated) if stated else ()), time]


def _of_step(title: str, system: Any, stepmap: StepMap, state: dict[str, float], exact: dict[str, Any]) -> Question:
    if len(stepmap.substeps) > 1:
        raise MethodError(
            f"existence: {stepmap.name} is made of several steps, one after the other. Ask about its parts."
        )
    whole = [*system.coordinates, *system.entropies]
    later = dict(zip(stepmap.state, stepmap.update, strict=True))
    ends: dict[Symbol, Fast] = {c: later[c.name] for c in whole}
    equations = [r for b in stepmap.blocks for r in b.residual]
    return _question(system, title, equations, stepmap.unknowns, (), state, exact, ends)


def _of_run(run: Trajectory, lane: int) -> Question:
    """The step after the last valid one of a run: the one that failed, if it ended early."""
    if run.method is not None and run.method.adaptive:
        name = type(run.method).__name__
        raise MethodError(f"existence: a run by {name}() has no steps of equal length. Give a run with a fixed step.")
    if not 0 <= lane < len(run.records):
        raise StartError(f"existence: there is no lane {lane}; this run has {len(run.records)}.")
    last = int(run.codes[lane, 1])
    row = (last - run.begin) // run.every
    if (last - run.begin) % run.every:
        raise StartError(f"existence: this run records every {run.every} steps. Compute it with every=1.")
    stepmap = Stepping(run.system, run.method).step_map("existence")
    record = run.records[lane, row]
    state = {n: float(record[run.columns.index(n)]) for n in stepmap.state}
    numbers = dict(zip([p.name for p in run.system.parameters], map(float, run.parameter_rows[lane]), strict=True))
    t = run.t0 + last * run.h
    who = "" if run.lanes is None else f", lane {lane}"
    title = f"{run.system.name}{who}: step {last + 1} from t = {t:g}, h = {run.h:g}"
    given = numbers | {step.name: run.h}
    return _of_step(title, run.system, stepmap, given | state | {time.name: t}, exact_values(given, given))
