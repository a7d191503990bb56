"""Quantities of a system at a point of its state space, each as a map the engine can compile.

Inputs are positions, velocities (or momenta), entropies and time, in that order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..model.coordinates import time
from ..model.system import System
from ..stepmap import Block, StepMap, pointwise
from ..symbolic import Fast, fast, substitute
from .lagrange import energy, entropy_rates, momenta, motion_residual, multipliers, reaction


def _map(system: System, name: str, by: str, outputs: Mapping[str, Fast], *blocks: Block) -> StepMap:
    second = [getattr(q, by).name for q in system.coordinates]
    inputs = [*(q.name for q in system.coordinates), *second, *(S.name for S in system.entropies), time.name]
    return pointwise(f"{system.name}, {name}", inputs, [p.name for p in system.parameters], outputs, blocks)


def quantity_map(system: System, quantities: Mapping[str, Any]) -> StepMap:
    """(q, v, t) -> any expressions."""
    return _map(system, "quantities", "dot", {k: fast(v) for k, v in quantities.items()})


@lru_cache(maxsize=64)
def momentum_map(system: System) -> StepMap:
    """(q, v, t) -> p."""
    return quantity_map(system, {q.momentum.name: p for q, p in zip(system.coordinates, momenta(system), strict=True)})


@lru_cache(maxsize=64)
def energy_map(system: System) -> StepMap:
    """(q, v, t) -> the energy."""
    return quantity_map(system, {"energy": energy(system)})


@lru_cache(maxsize=64)
def velocity_map(system: System, project: bool = True) -> StepMap:
    """(q, p, t) -> v: the inverse Legendre transform.

    Under constraints p need not be the momentum of an admissible velocity; it may differ from one by a reaction
    impulse, which is determined along with v:  p = dL/dv + mu_a omega^a,  A v + b = 0. Without `project` it is taken
    as it is.
    """
    if not project:
        return _legendre_map(system)
    unknowns = (*(v.name for v in system.velocities), *(m.name for m in multipliers(system)))
    rows = zip(system.coordinates, momenta(system), reaction(system), strict=True)
    balance = [fast(q.momentum) - p - r for q, p, r in rows]
    admissible = [fast(c.velocity_form(system.coordinates)) for c in system.constraints]
    # The search begins at the velocity of p itself: nonlinear constraints have no use for zero.
    plain = {v: fast(f"{v.name}.plain") for v in system.velocities}
    alone = [fast(q.momentum) - substitute(p, plain) for q, p in zip(system.coordinates, momenta(system), strict=True)]
    before = Block(tuple(v.name for v in plain.values()), tuple(alone))
    guess = (*plain.values(), *(fast(0) for _ in system.constraints))
    block = Block(unknowns, (*balance, *admissible), guess)
    return _map(system, "velocities", "momentum", {v.name: fast(v) for v in system.velocities}, before, block)


def _legendre_map(system: System) -> StepMap:
    names = tuple(v.name for v in system.velocities)
    residual = tuple(fast(q.momentum) - p for q, p in zip(system.coordinates, momenta(system), strict=True))
    block = Block(names, residual)
    return _map(system, "velocities", "momentum", {name: fast(name) for name in names}, block)


@lru_cache(maxsize=64)
def motion_map(system: System) -> StepMap:
    """(q, v, t) -> accelerations and multipliers."""
    sought = [q.ddot for q in system.coordinates] + list(multipliers(system))
    block = Block(tuple(s.name for s in sought), tuple(motion_residual(system)))
    return _map(system, "motion", "dot", {s.name: fast(s) for s in sought}, block)


@lru_cache(maxsize=64)
def flow_map(system: System) -> StepMap:
    """(q, v, S, t) -> accelerations and rates of the entropies: what an adaptive solver integrates."""
    sought = [q.ddot for q in system.coordinates] + list(multipliers(system))
    block = Block(tuple(s.name for s in sought), tuple(motion_residual(system)))
    outputs = {q.ddot.name: fast(q.ddot) for q in system.coordinates}
    outputs |= {S.dot.name: rate for S, rate in zip(system.entropies, entropy_rates(system), strict=True)}
    return _map(system, "flow", "dot", outputs, block)


@lru_cache(maxsize=64)
def constraint_map(system: System) -> StepMap:
    """(q, v, t) -> for each constraint: its value, its coefficients row, its drift."""
    outputs: dict[str, Fast] = {}
    for a, c in enumerate(system.constraints):
        outputs[f"value.{a}"] = fast(c.expression)
        outputs[f"drift.{a}"] = fast(c.drift)
        outputs |= {f"row.{a}.{i}": fast(x) for i, x in enumerate(c.coefficients)}
    return quantity_map(system, outputs)
