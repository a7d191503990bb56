"""How the state of a method changes with the start of a motion and with parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ...errors import ModelError, told
from ...model.coordinates import Coordinate, Parameter
from ...model.space import numbers
from ...model.system import System
from ...run.trajectory import Trajectory
from ...run.values import Array
from ...theory.constraints.dependent_velocities import dependent_coordinates
from ...theory.motion import state_maps as maps
from ...theory.motion.lagrange import parted
from ...waist.stepmap import TIME, StepMap
from .differentiated import DerivedMap, Varied


@dataclass(frozen=True, eq=False)
class StartChanges:
    """The state at the first record with its derivatives, and the coordinates that follow from the others."""

    state: Varied
    following: tuple[Coordinate, ...]
    given: dict[str, Array]
    """Positions, velocities, momenta and entropies there, by name."""


def start_changes(
    run: Trajectory, system: System, step: StepMap, by: tuple[sympy.Symbol, ...], rows: dict[str, Array], following: Any
) -> StartChanges:
    """The derivatives of the first recorded state of a method by the start (q, v, S, mu) or (q, p, S) and by parameters.

    rows:       the values of all parameters, lane by lane
    following:  under constraints the coordinates whose starts follow, None for a choice
    """
    q, lanes = system.coordinates, len(run.records)
    parameters = tuple(b.name for b in by if isinstance(b, Parameter))
    held = [m.name for m in system.principle.carried(system)]
    inputs = [*numbers(q), *(c.dot.name for c in q), *(S.name for S in system.entropies), *held]
    tables = [run.table("position"), run.table("velocity"), run.table("entropy"), run.carried_multipliers]
    first = np.concatenate([t[:, 0] for t in tables], axis=-1)
    values = {**dict(zip(inputs, first.T, strict=True)), **rows, TIME: np.full(lanes, run.time[0])}
    unit = np.eye(len(by))
    changes = {b.name: np.broadcast_to(unit[i], (lanes, len(by))) for i, b in enumerate(by)}
    stated = Varied(values, changes)
    momenta = {c.momentum.name for c in q}
    if momenta & set(changes) and (system.constraints or not run.carries_momenta):
        raise ModelError(
            f"sensitivity: the derivative by a momentum is for systems without constraints and methods that carry momenta. "
            f"Give velocities: {', '.join(str(v) for v in system.velocities)}."
        )
    found: tuple[Coordinate, ...] = ()
    if following is not None and not system.constraints:
        raise ModelError(
            f"sensitivity: following = {told(following)}: {system.name!r} has no constraints, so no start follows from others."
        )
    if system.constraints:
        found = _following(system, following)
        stated = _completed(system, stated, rows, parameters, found)
    moving = dict(zip((c.momentum.name for c in q), run.table("momentum")[:, 0].T, strict=True))
    known = {**values, **moving}
    kept = {**dict(zip(step.state, run.columns_named(list(step.state))[:, 0].T, strict=True)), **rows}
    if not run.carries_momenta:
        return StartChanges(Varied(kept, stated.changes), found, known)
    if momenta & set(changes):
        return StartChanges(Varied(kept, changes), found, known)
    carried = DerivedMap(system, maps.carried_momentum_map(system), parameters)(stated, rows)
    more = [name for name in step.state if name not in {*numbers(q), *momenta, *(S.name for S in system.entropies)}]
    changes = {**stated.changes, **carried.changes}
    if more:  # a method that carries multipliers starts with those of the motion
        motion = DerivedMap(system, maps.motion_map(system), parameters)(stated, rows)
        changes |= dict(zip(more, parted(system, [*motion.changes.values()])[1], strict=True))
    return StartChanges(Varied(kept, changes), found, known)


def _following(system: System, given: Any) -> tuple[Coordinate, ...]:
    """The coordinates whose starts follow from the others."""
    if given is None:
        return dependent_coordinates(system)
    found = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not set(found) <= set(system.coordinates) or len(set(found)) != len(system.constraints):
        raise ModelError(
            f"sensitivity: following = {told(given)}. Expected {len(system.constraints)} of the coordinates "
            f"{', '.join(map(str, system.coordinates))}, as many as there are constraints."
        )
    return found


def _completed(
    system: System,
    stated: Varied,
    rows: dict[str, Array],
    parameters: tuple[str, ...],
    following: tuple[Coordinate, ...],
) -> Varied:
    """The start with the derivatives of what follows from the constraints: positions, then velocities."""
    holonomic = [c for c in system.constraints if c.is_holonomic]
    if holonomic:
        if len(holonomic) < len(following):
            raise ModelError(
                f"sensitivity: {system.name!r} has holonomic and kinematic constraints, so that it is not known whose "
                f"positions follow. Write the holonomic ones into the coordinates."
            )
        stated = _solved(
            system, stated, rows, parameters, [c.expression for c in holonomic], [c.name for c in following]
        )
    forms = [c.velocity_form(system.coordinates) for c in system.constraints]
    return _solved(system, stated, rows, parameters, forms, [c.dot.name for c in following])


def _solved(
    system: System, stated: Varied, rows: dict[str, Array], parameters: tuple[str, ...], equations: list[Any], names: list[str]
) -> Varied:  # fmt: skip
    """The derivatives of some values that equations determine, by the implicit function theorem."""
    made = DerivedMap(system, maps.quantity_map(system, {str(a): e for a, e in enumerate(equations)}), parameters)
    slopes = made.slopes(stated, rows)
    own = np.stack([np.stack([row[name] for name in names], axis=-1) for row in slopes.values()], axis=1)
    right = [
        sum(row[name][:, None] * stated.change(name) for name in row if name not in names) for row in slopes.values()
    ]
    moved = -np.linalg.solve(own, np.stack(right, axis=1))
    return stated.joined(Varied({}, {name: moved[:, i] for i, name in enumerate(names)}))
