"""Energy and the momenta of cyclic coordinates, with the reason why they are conserved or not."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr

from ...decide.jumps import jumps
from ...decide.zero import vanishes, vanishes_at
from ...display import Part, Shown
from ...model.constraints import Constraint
from ...model.coordinates import Direction, time
from ...model.space import frame, groups, in_numbers, slopes
from ...model.system import System
from ...symbolic import Fast, fast, free_names, gradient, total
from ..admissible_states import states_on
from ..motion.energies import meaning
from ..motion.frames import hamel_residual
from ..motion.lagrange import jacobi_integral, momenta, readable


@dataclass(frozen=True, repr=False)
class Integral(Shown):
    """A quantity, whether it is conserved, and the reason."""

    name: str
    expression: Expr
    conserved: bool
    reason: str

    def _parts(self) -> list[Part]:
        said = "conserved" if self.conserved else "not conserved"
        return [(self.name, self.expression), f"    {said}: {self.reason}"]


def energy_integral(system: System) -> Integral:
    """The Jacobi integral, named energy where it is the energy, with the reason why it is conserved or not."""
    causes, extra = _causes(system), _of_multipliers(system)
    if not vanishes(extra):
        why = (
            "; ".join(causes) or f"neither the Lagrangian nor a constraint depends on time, under {system.principle!r}"
        )
        whole = readable(jacobi_integral(system) + extra, system)
        return Integral(f"{meaning(system).name} with multipliers", whole, not causes, why)
    idle = " and reactions do no work" if system.constraints else ""
    warms = "; what friction takes from the motion becomes internal energy" if any(map(any, system.friction)) else ""
    reason = "; ".join(causes) or f"the Lagrangian does not depend on time{idle}{warms}"
    return Integral(meaning(system).name, readable(jacobi_integral(system), system), not causes, reason)


def _of_multipliers(system: System) -> Fast:
    """What multipliers in the state add to the Jacobi integral: mu_a (dchi_a/dv . v - chi_a), where chi_a = 0."""
    extra = fast(system.principle.lagrangian(system)) - fast(system.lagrangian)
    p = gradient(extra, system.velocities)
    return total([-extra, *(a * fast(v) for a, v in zip(p, system.velocities, strict=True))]).expand()


def by_forms(system: System) -> list[int]:
    """The numbers of the constraints whose reaction is a multiplier times a one-form."""
    held = system.principle.carried(system)
    return [a for a, m in enumerate(system.multipliers) if m not in held]


def is_extremal(system: System) -> bool:
    """Whether multipliers in the state act as the principle's function of (q, v, t) says: minus its Lagrange derivative,
    that of L aside. Then symmetries of this function make momenta conserved.
    """
    principle, held = system.principle, system.principle.carried(system)
    extra = fast(principle.lagrangian(system)) - fast(system.lagrangian)
    pairs = zip(system.multipliers, principle.unknowns(system), strict=True)
    others = principle.impulse(system, [fast(0) if m in held else u for m, u in pairs])
    acting = zip(
        principle.reaction(system), hamel_residual(extra, frame(system.coordinates), carried=held), others, strict=True
    )
    return all(vanishes(r + e - f) for r, e, f in acting)


def _causes(system: System) -> list[str]:
    """What changes the Jacobi integral."""
    causes, held = [], bool(system.principle.carried(system))
    if held and not all(vanishes(c.expression.diff(time)) for c in system.kinematic):
        causes.append("a constraint depends on time")
    if not vanishes(system.lagrangian.diff(time)):
        parts = {"kinetic energy": system.kinetic, "potential": system.potential}
        guilty = [k for k, e in parts.items() if e is not None and not vanishes(e.diff(time))]
        causes.append(f"the {' and the '.join(guilty) or 'Lagrangian'} depend{'' if len(guilty) > 1 else 's'} on time")
    elif jumps(system.lagrangian, [time]):
        causes.append("the Lagrangian jumps in time")
    if not vanishes(power(system)):
        dissipates = not vanishes(system.dissipation) and all(vanishes(f) for f in system.forces)
        causes.append("friction takes energy away" if dissipates else "the forces do work")
    if not vanishes(system.heat_received):
        causes.append("heat comes from outside")
    acting = (system.constraints[a] for a in by_forms(system))
    if working := [c for c in acting if not reaction_is_idle(c, system)]:
        why = "moves" if any(c.moves for c in working) else "is not homogeneous in the velocities"
        causes.append(f"the reaction of a constraint does work (the constraint {why})")
    works = zip(system.principle.besides(system), system.velocities, strict=True)
    if (held and not is_extremal(system)) or not _vanishes_on(system, total(f * fast(v) for f, v in works)):
        causes.append(f"reactions work as {system.principle!r} says")
    elif not system.is_ideal and not held and system.has_own_variations:
        causes.append("the variations are not those of the constraints, so reactions do work")
    return causes


def power(system: System) -> Fast:
    """The power of the external forces; that of friction stays in the system, as internal energy."""
    pairs = zip(system.external_force, system.velocities, strict=True)
    return sum((fast(f) * fast(v) for f, v in pairs), start=fast(0))


def reaction_is_idle(c: Constraint, system: System) -> bool:
    """Whether coefficients . v vanishes with the constraint: always if linear without drift, or homogeneous of a degree."""
    if c.is_linear:
        return vanishes(c.drift)
    power = sum((a * v for a, v in zip(c.coefficients, system.velocities, strict=True)), start=fast(0))
    return any(vanishes(power - degree * fast(c.expression)) for degree in (1, 2, 3, 4))


def cyclic_momenta(system: System) -> list[Integral]:
    """The momentum of every cyclic coordinate: along which neither the Lagrangian nor forces nor reactions act.

    For a rotation the components in the body and those in space are checked.
    """
    found, p, own = [], _momenta(system), {g.name: g for g in groups(system.coordinates)}
    if system.principle.carried(system) and not is_extremal(system):
        return []
    forms = [system.variations[a] for a in by_forms(system)]
    for i, (q, torque) in enumerate(zip(system.coordinates, _torques(system), strict=True)):
        if (
            vanishes(torque)
            and _vanishes_on(system, system.principle.besides(system)[i])
            and all(vanishes(w[i]) for w in forms)
        ):
            g = own.get(q.owner) if isinstance(q, Direction) else None
            name = f"momentum of {q}" if g is None else g.body_name(g.directions.index(q))
            why = f"{q} is cyclic" if g is None else "motion in this direction of the body changes nothing"
            if p[i] != momenta(system)[i]:
                name, why = f"{name} with multipliers", f"{why}, in the constraints too"
            found.append(Integral(name, readable(p[i], system), True, why))
    return [*found, *_space_momenta(system)]


def _vanishes_on(system: System, expression: Fast) -> bool:
    """Whether an expression vanishes where the constraints hold, whatever the accelerations."""
    if vanishes(expression):
        return True
    return vanishes_at(expression, states_on(system.constraints, system.coordinates, free_names([expression])))


def _momenta(system: System) -> list[Fast]:
    """The momenta that symmetries conserve: those of the principle's function, dL/dv without multipliers in the state."""
    return gradient(system.principle.lagrangian(system), system.velocities)


def _torques(system: System) -> list[Fast]:
    """What changes each momentum, reactions aside: X_j(L) + c^k_ij w^i p_k + F_j."""
    own, L = frame(system.coordinates), system.principle.lagrangian(system)
    acting = zip(own.slopes(L), own.turning(_momenta(system)), system.force, strict=True)
    return [d + g + fast(f) for d, g, f in acting]


def _space_momenta(system: System) -> list[Integral]:
    """The components R_ij p_j in space: their rates are R_ij (X_j(L) + F_j), reactions aside."""
    found, q = [], system.coordinates
    L, p = system.principle.lagrangian(system), _momenta(system)
    acting = [d + fast(f) for d, f in zip(slopes(L, q), system.force, strict=True)]
    for g in groups(q):
        at = [q.index(d) for d in g.directions]
        besides = system.principle.besides(system)
        if not all(_vanishes_on(system, besides[k]) for k in at):
            continue
        forms = [[fast(a) for a in system.variations[b]] for b in by_forms(system)]
        changes = [g.space_rates([acting[k] for k in at], [p[k] for k in at])]
        changes += [g.in_space([form[k] for k in at]) for form in forms]
        for name, momentum in g.in_space([p[k] for k in at]).items():
            if all(vanishes(in_numbers(change[name], q)) for change in changes):
                why = "motion in this direction of space changes nothing"
                said = f"{name} with multipliers" if system.principle.carried(system) else name
                found.append(Integral(said, readable(momentum, system), True, why))
    return found
