"""What a motion conserves, and why: the energy (Jacobi integral) and the momenta of cyclic coordinates."""

from __future__ import annotations

from dataclasses import dataclass

from ..model.constraints import Constraint
from ..model.coordinates import time
from ..model.system import System
from ..symbolic import Fast, fast, vanishes
from .lagrange import energy, momenta


@dataclass(frozen=True)
class Integral:
    """A quantity, whether the theory says it is conserved, and the reason."""

    name: str
    expression: Fast
    conserved: bool
    reason: str


def energy_integral(system: System) -> Integral:
    """The Jacobi integral, with the reason why it is conserved or not."""
    conserved, reason = _energy_reason(system)
    return Integral("energy", energy(system), conserved, reason)


def _energy_reason(system: System) -> tuple[bool, str]:
    if not vanishes(system.lagrangian.diff(time)):
        return False, "the Lagrangian depends on time"
    power = sum((f * v for f, v in zip(system.force, system.velocities, strict=True)), start=fast(0))
    if not vanishes(power):
        return False, "the forces do work"
    if not all(_reaction_is_idle(c, system) for c in system.constraints):
        return False, "the reaction of a constraint does work"
    if not system.is_ideal:
        return False, "the variations are not those of the constraints, so reactions do work"
    if system.constraints:
        return True, "the Lagrangian does not depend on time and reactions do no work"
    return True, "the Lagrangian does not depend on time"


def _reaction_is_idle(c: Constraint, system: System) -> bool:
    """Whether coefficients . v vanishes with the constraint: always if linear without drift, or homogeneous of a degree."""
    if c.is_linear:
        return vanishes(c.drift)
    power = sum((a * v for a, v in zip(c.coefficients, system.velocities, strict=True)), start=fast(0))
    return any(vanishes(power - degree * fast(c.expression)) for degree in (1, 2, 3, 4))


def cyclic_momenta(system: System) -> list[Integral]:
    """The momentum of every cyclic coordinate: one that neither the Lagrangian nor forces nor reactions act along."""
    found = []
    for i, (q, p) in enumerate(zip(system.coordinates, momenta(system), strict=True)):
        slope, force = fast(system.lagrangian).diff(fast(q)), system.force[i]
        if vanishes(slope) and vanishes(force) and all(vanishes(w[i]) for w in system.variations):
            found.append(Integral(f"momentum of {q}", p, True, f"{q} is cyclic"))
    return found
