"""Quantities of a system at a point of its state space, each as a map the engine can compile.

Inputs are positions, velocities, entropies, multipliers that the principle of the system carries in the state, and time, in
that order; or positions, momenta, entropies and time, since the momenta that methods carry determine such multipliers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from sympy import Symbol

from ...model.coordinates import time
from ...model.space import frame, moved_symbols, number_rates, numbers, retracted, to_numbers
from ...model.system import System
from ...symbolic import Fast, fast, gradient, jacobian, magnitude, magnitudes, substitute, total
from ...waist.layout import Groups
from ...waist.stepmap import Block, StepMap, pointwise
from .energies import energy
from .lagrange import (
    entropy_rates,
    jacobi_integral,
    mass_matrix,
    momenta,
    motion_residual,
    multipliers,
    reaction,
    unknowns,
)


def state_groups(system: System) -> Groups:
    """The columns of states: positions, velocities, entropies, multipliers in the state, time; as the maps take them."""
    q, held = system.coordinates, system.principle.carried(system)
    return Groups(position=numbers(q), velocity=q, entropy=system.entropies, multiplier=[*held], time=[time])


def _map(
    system: System,
    name: str,
    by: str,
    outputs: Mapping[str, Fast],
    *blocks: Block,
    held: Iterable[Symbol] | None = None,
    more: Sequence[str] = (),
) -> StepMap:
    """A map of states; `more` are names of parameters that the system does not have."""
    second = [getattr(q, by).name for q in system.coordinates]
    if held is None:
        held = system.principle.carried(system) if by == "dot" else ()
    q, others = system.coordinates, [s.name for s in (*system.entropies, *held, time)]
    inputs = [*numbers(q), *second, *others]
    held_in = to_numbers(q)
    found = {key: held_in(e) for key, e in outputs.items()}
    sought = [Block(b.unknowns, tuple(map(held_in, b.residual)), b.guess) for b in blocks]
    parameters = [*(p.name for p in system.parameters), *more]
    return pointwise(f"{system.name}, {name}", inputs, parameters, found, sought)


def quantity_map(system: System, quantities: Mapping[str, Any], more: Sequence[str] = ()) -> StepMap:
    """(q, v, t) -> any expressions, with `more` parameters than the system has."""
    return _map(system, "quantities", "dot", {k: fast(v) for k, v in quantities.items()}, more=more)


@lru_cache(maxsize=64)
def momentum_map(system: System) -> StepMap:
    """(q, v, t) -> p."""
    return quantity_map(system, {q.momentum.name: p for q, p in zip(system.coordinates, momenta(system), strict=True)})


@lru_cache(maxsize=64)
def carried_momentum_map(system: System) -> StepMap:
    """(q, v, t) -> the momenta that methods carry: those of the function that the principle makes stationary."""
    p = gradient(system.principle.lagrangian(system), system.velocities)
    outputs = {q.momentum.name: e for q, e in zip(system.coordinates, p, strict=True)}
    return quantity_map(system, outputs)


@lru_cache(maxsize=64)
def carried_map(system: System) -> StepMap:
    """(q, v, S, p, t) -> the multipliers in the state, from the momenta p that methods carry and the velocities.

    With the function l of the principle, p = dl/dv + nu_a omega^a, where nu_a are impulses of the other constraints. One
    Newton step of these equations and of the constraints, from v: the velocity it changes by is rounding.
    """
    held = list(system.principle.carried(system))
    moved = [fast(f"{q.name}.offset") for q in system.coordinates]
    others = [fast(0) if m in held else fast(m) for m in system.multipliers]
    p = zip(momenta(system), system.principle.impulse(system, others), strict=True)
    slopes = jacobian(gradient(system.principle.lagrangian(system), system.velocities), held)
    balance = [
        fast(q.momentum) - a - r - total([*(k * d for k, d in zip(mass, moved, strict=True)),
                                          *(s * fast(m) for s, m in zip(slope, held, strict=True))])
        for q, (a, r), mass, slope in zip(system.coordinates, p, mass_matrix(system), slopes, strict=True)
    ]  # fmt: skip
    rows = [total(fast(a) * d for a, d in zip(c.coefficients, moved, strict=True)) for c in system.constraints]
    block = Block((*(d.name for d in moved), *(m.name for m in system.multipliers)), (*balance, *rows))
    outputs = {m.name: fast(m) for m in held}
    return _map(system, "multipliers", "dot", outputs, block, held=[q.momentum for q in system.coordinates])


@lru_cache(maxsize=64)
def mass_map(system: System) -> StepMap:
    """(q, v, t) -> the mass matrix, row by row."""
    entries = [m for row in mass_matrix(system) for m in row]
    return quantity_map(system, {f"mass.{k}": m for k, m in enumerate(entries)})


@lru_cache(maxsize=64)
def energy_map(system: System) -> StepMap:
    """(q, v, t) -> the energy."""
    return quantity_map(system, {"energy": energy(system)})


@lru_cache(maxsize=64)
def jacobi_map(system: System) -> StepMap:
    """(q, v, t) -> the Jacobi integral."""
    return quantity_map(system, {"Jacobi integral": jacobi_integral(system)})


@lru_cache(maxsize=64)
def legendre_block(system: System, project: bool) -> Block:
    """p = dL/dv for the velocities.

    Under constraints p need not be the momentum of an admissible velocity; it may differ from one by a reaction
    impulse, which is determined along with v:  p = dL/dv + mu_a omega^a,  A v + b = 0. Without `project` it is taken
    as it is. With multipliers in the state p = dl/dv with the function l of the principle, which contains them.
    """
    names = tuple(v.name for v in system.velocities)
    p = [fast(q.momentum) for q in system.coordinates]
    if not project:
        return Block(names, tuple(a - b for a, b in zip(p, momenta(system), strict=True)))
    held = system.principle.carried(system)
    impulse = system.principle.impulse(system, [fast(0) if m in held else m for m in system.multipliers])
    rows = zip(p, gradient(system.principle.lagrangian(system), system.velocities), impulse, strict=True)
    balance = [a - b - r for a, b, r in rows]
    admissible = [fast(c.velocity_form(system.coordinates)) for c in system.constraints]
    return Block((*names, *(m.name for m in system.multipliers)), (*balance, *admissible))


@lru_cache(maxsize=64)
def velocity_map(system: System, project: bool = True) -> StepMap:
    """(q, p, t) -> v where p = dL/dv is linear in the velocities; elsewhere it has branches, see `run.velocities`."""
    block = legendre_block(system, project)
    return _map(system, "velocities", "momentum", {v.name: fast(v) for v in system.velocities}, block)


def of_momenta_map(system: System, quantities: Mapping[str, Any], project: bool, more: Sequence[str] = ()) -> StepMap:
    """(q, p, S, t) -> any expressions in positions, velocities, entropies and time, with `more` parameters."""
    outputs = {k: fast(v) for k, v in quantities.items()}
    return _map(system, "quantities", "momentum", outputs, legendre_block(system, project), more=more)


@lru_cache(maxsize=64)
def legendre_map(system: System, project: bool) -> StepMap:
    """(q, p, t, unknowns of `legendre_block`) -> its residuals, the sizes of their terms, its `partials`."""
    groups = legendre_groups(system, project)
    plain = _map(system, "Legendre", "momentum", dict.fromkeys(groups.outputs, fast(0)))
    held = {name: to_numbers(system.coordinates)(e) for name, e in groups.outputs.items()}
    return pointwise(plain.name, [*plain.state, *legendre_block(system, project).unknowns], plain.parameters, held)


@lru_cache(maxsize=64)
def legendre_groups(system: System, project: bool) -> Groups:
    """The outputs of `legendre_map`: residual, size, slope."""
    block = legendre_block(system, project)
    return Groups(residual=block.residual, size=magnitudes(block.residual), slope=[*block.partials.values()])


@lru_cache(maxsize=64)
def legendre_matrix_map(system: System, project: bool) -> StepMap:
    """(q, p, t) -> the `partials` of `legendre_block`, where that is linear."""
    entries = list(legendre_block(system, project).partials.values())
    return _map(system, "Legendre matrix", "momentum", {f"entry.{i}": e for i, e in enumerate(entries)})


def moving_quantity_map(system: System, quantities: Mapping[str, Any]) -> StepMap:
    """(q, v, t) -> any expressions, in which accelerations may occur."""
    outputs = {k: fast(v) for k, v in quantities.items()}
    sought = {q.ddot.name for q in system.coordinates}
    if sought.isdisjoint(str(s) for e in outputs.values() for s in e.free_symbols):
        return quantity_map(system, outputs)
    return _map(system, "quantities with accelerations", "dot", outputs, motion_block(system))


def motion_block(system: System) -> Block:
    """The equations of motion for accelerations and multipliers: a linear block."""
    return Block(tuple(s.name for s in unknowns(system)), tuple(motion_residual(system)))


@lru_cache(maxsize=64)
def motion_map(system: System) -> StepMap:
    """(q, v, t) -> accelerations and multipliers."""
    outputs = {s.name: fast(s) for s in unknowns(system)}
    return _map(system, "motion", "dot", outputs, motion_block(system))


@lru_cache(maxsize=64)
def reaction_map(system: System) -> StepMap:
    """(q, v, t) -> accelerations and multipliers; then the reaction, which is affine in the multipliers: its value where
    they are zero, and for each multiplier its factors.
    """
    motion, forces, sought = motion_map(system), reaction(system), multipliers(system)
    absent = dict.fromkeys(sought, 0)
    rows = [[substitute(r, absent) for r in forces], *([gradient(r, [m])[0] for r in forces] for m in sought)]
    outputs = {f"reaction.{a}.{i}": e for a, row in enumerate(rows) for i, e in enumerate(row)}
    whole = {**motion.outputs, **dict(zip(outputs, map(to_numbers(system.coordinates), outputs.values()), strict=True))}
    return pointwise(f"{system.name}, reactions", motion.state, motion.parameters, whole, motion.blocks)


def rate_map(system: System, quantities: Mapping[str, Any]) -> StepMap:
    """(q, v, S, t) -> the rates of any expressions along the motion."""
    motion = motion_map(system)
    others = {**dict(zip(system.entropies, entropy_rates(system), strict=True)), **system.principle.carried(system)}
    rates = frame(system.coordinates).rates([fast(e) for e in quantities.values()], others)
    held = dict(zip(quantities, map(to_numbers(system.coordinates), rates), strict=True))
    return pointwise(f"{system.name}, rates", motion.state, motion.parameters, held, motion.blocks)


@lru_cache(maxsize=64)
def flow_map(system: System) -> StepMap:
    """(q, v, S, t) -> the right-hand side for an adaptive solver: rates of the numbers, accelerations, rates of entropies
    and of carried multipliers.
    """
    places = zip(numbers(system.coordinates), number_rates(system.coordinates), strict=True)
    outputs = {f"{name}.rate": rate for name, rate in places}
    outputs |= {q.ddot.name: fast(q.ddot) for q in system.coordinates}
    outputs |= {S.dot.name: rate for S, rate in zip(system.entropies, entropy_rates(system), strict=True)}
    held = system.principle.carried(system)
    outputs |= {f"{m.name}.rate": rate for m, rate in held.items()}
    return _map(system, "flow", "dot", outputs, motion_block(system))


@lru_cache(maxsize=64)
def constraint_map(system: System) -> StepMap:
    """(q, v, t) -> for each constraint: its value, its drift, its coefficients but zeros; `constraint_parts` reads them."""
    outputs: dict[str, Fast] = {}
    for a, c in enumerate(system.constraints):
        outputs[f"value.{a}"] = fast(c.expression)
        outputs[f"drift.{a}"] = fast(c.drift)
        outputs |= {f"row.{a}.{i}": fast(x) for i, x in enumerate(c.coefficients) if x != 0}
    return quantity_map(system, outputs)


def constraint_parts(system: System, table: Any) -> tuple[Any, Any, Any]:
    """Value, drift and coefficients of every constraint, of what `constraint_map` gives; constraints are on the next axis."""
    m, n = len(system.constraints), len(system.coordinates)
    value, drift, rows = (np.zeros((*table.shape[:-1], *shape)) for shape in ((m,), (m,), (m, n)))
    at = 0
    for a, c in enumerate(system.constraints):
        here = [i for i, x in enumerate(c.coefficients) if x != 0]
        value[..., a], drift[..., a] = table[..., at], table[..., at + 1]
        rows[..., a, here] = table[..., at + 2 : at + 2 + len(here)]
        at += 2 + len(here)
    return value, drift, rows


@lru_cache(maxsize=64)
def admissible_map(system: System) -> StepMap:
    """(q, v, S, t) -> the position and velocity on the constraints that are nearest, measured by the mass matrix.

    Position: M d + mu_a omega^a = 0 with phi(q + d) = 0 for holonomic and A d = 0 for kinematic constraints. Then
    velocity at that position: p(v') + nu_a omega^a = p(v), A v' + b = 0. Both matrices are that of the motion itself.
    """
    q, v = system.coordinates, system.velocities
    sought = {s: fast(f"{s.name}.near") for s in (*v, *multipliers(system))}
    offset = [fast(f"{c.name}.offset") for c in q]
    moved = moved_symbols(q, offset) if system.holonomic else {}
    blocks = []
    if system.holonomic:
        balance = [
            sum((m * d for m, d in zip(row, offset, strict=True)), start=r)
            for row, r in zip(mass_matrix(system), system.principle.impulse(system), strict=True)
        ]
        rows = [
            substitute(c.expression, moved)
            if c.is_holonomic
            else sum((fast(a) * d for a, d in zip(c.coefficients, offset, strict=True)), start=fast(0))
            for c in system.constraints
        ]
        names = (*(d.name for d in offset), *(m.name for m in multipliers(system)))
        blocks.append(Block(names, (*balance, *rows)))
    pairs = zip(momenta(system), system.principle.impulse(system), strict=True)
    kept = [substitute(substitute(p + r, sought) - p, moved) for p, r in pairs]
    forms = [substitute(substitute(c.velocity_form(q), sought), moved) for c in system.constraints]
    guess = (*map(fast, v), *(fast(0) for _ in system.constraints))
    blocks.append(Block(tuple(x.name for x in sought.values()), (*kept, *forms), guess))
    places = retracted(q, offset, fast(1)) if system.holonomic else [fast(name) for name in numbers(q)]
    outputs = dict(zip(numbers(q), places, strict=True)) | {s.name: sought[s] for s in v}
    return _map(system, "nearest admissible state", "dot", outputs, *blocks)


@lru_cache(maxsize=64)
def inertia_map(system: System) -> StepMap:
    """(q, v, t) -> d2L/dv_i^2, one per coordinate: the weights for comparing velocities of different units."""
    mass = mass_matrix(system)
    return quantity_map(system, {q.name: mass[i][i] for i, q in enumerate(system.coordinates)})


@lru_cache(maxsize=64)
def size_map(system: System) -> StepMap:
    """(q, v, t) -> for each constraint: the sum of the sizes of its terms, to which its rounding errors are proportional; and
    that of its form in velocities.
    """
    outputs: dict[str, Fast] = {}
    for a, c in enumerate(system.constraints):
        outputs[f"terms.{a}"] = terms_size(fast(c.expression))
        outputs[f"rounding.{a}"] = magnitude(fast(c.expression))
        outputs[f"moving.{a}"] = magnitude(fast(c.velocity_form(system.coordinates)))
    return quantity_map(system, outputs)


def terms_size(e: Fast) -> Fast:
    """The sum of the sizes of the terms of a sum; in a product or a power, one factor at a time is replaced by its terms."""
    import symengine

    if not e.is_Add:
        return magnitude(e) if e.is_Mul or e.is_Pow else symengine.Abs(e)
    return symengine.Add(*(symengine.Abs(t) for t in e.args))
