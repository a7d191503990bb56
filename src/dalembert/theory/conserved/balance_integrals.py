"""First integrals that follow directly from the balances of momentum and energy.

The momentum of x changes at the rate dL/dx + Q_x + reaction. Where that is the derivative of a function F(q, t), p - F is
conserved: F = 0 for a cyclic coordinate, the integral of Q_x over time for a given force, -c x for a viscous one.
The Jacobi integral h = p.v - L changes at the rate -dL/dt + Q.v + power of the reactions, and the same holds for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import sympy
from sympy import Expr

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...model.coordinates import Coordinate, time
from ...model.system import System
from ...symbolic import Fast, fast, free_names
from ..motion.energies import energy, meaning
from ..motion.lagrange import expanded, jacobi_integral, momenta, readable
from .energy_and_momenta import Integral, energy_integral, power
from .on_shell import Shell
from .primitive import is_total_derivative, primitive


def momentum_integrals(system: System, shell: Shell, budget: Budget) -> Iterator[Integral]:
    """One verdict per coordinate: its momentum, less the integral of the force along it, or why there is no such integral."""
    return (_momentum(system, i, readable(p, system), shell, budget) for i, p in enumerate(momenta(system)))


def _momentum(system: System, i: int, p: Expr, shell: Shell, budget: Budget) -> Integral:
    q = system.coordinates[i]
    slope, force = fast(system.lagrangian).diff(fast(q)), fast(system.force[i])
    name = f"momentum of {q}"
    if not all(vanishes(w[i]) for w in system.variations):
        if shell.conserved(p):
            return Integral(
                name, expanded(p, system), True, f"what acts along {q}, reactions included, is zero on every motion"
            )
        return Integral(name, p, False, f"the reaction of a constraint acts along {q}")
    if vanishes(slope) and vanishes(force):
        return Integral(name, expanded(p, system), True, f"{q} is cyclic")
    rate = readable(slope + force, system)
    F = primitive(rate, system.coordinates, budget)
    if F is None or shell.jumps(F) or shell.conserved(p - F) is False:
        return Integral(name, p, False, _acting(system, q, slope, force, rate, shell))
    reason = f"{_kind(system, q, slope, force)}: the rate of the momentum, {rate}, is the derivative of {F}"
    return Integral(f"{name}, balanced", expanded(p - F, system), True, reason)


def _acting(system: System, q: Coordinate, slope: Fast, force: Fast, rate: Expr, shell: Shell) -> str:
    parts = [f"dL/d{q} is not zero"] if not vanishes(slope) else []
    parts += [f"a force acts along {q}"] if not vanishes(force) else []
    closed = (
        " (its rate is a total derivative, but no closed form was found)"
        if is_total_derivative(rate, system.coordinates) and not shell.jumps(rate)
        else ""
    )
    return " and ".join(parts) + closed


def _kind(system: System, q: Coordinate, slope: Fast, force: Fast) -> str:
    moving = {s.name for s in (*system.coordinates, *system.velocities)}
    if not vanishes(slope):
        acting = "" if vanishes(force) else ", and so is the force that acts along it"
        return f"dL/d{q} is integrable over time{acting}"
    if not free_names([force]) & moving:
        return f"{q} is cyclic but for a force that depends on time alone"
    return f"{q} is cyclic but for a force that is linear in the velocities"


def jacobi(system: System, shell: Shell, budget: Budget, remarks: list[str]) -> Iterator[Integral]:
    """The Jacobi integral with its verdict, and the energy if that is something else; a remark says which it is."""
    h, told = expanded(jacobi_integral(system), system), meaning(system)
    remarks.append(told.text)
    verdict = replace(energy_integral(system), expression=h)
    if verdict.conserved:
        yield verdict
    elif shell.conserved(h):
        yield replace(verdict, conserved=True, reason=f"{verdict.reason}; but the sum of that is zero on every motion")
    else:
        yield verdict
        yield from _with_work(system, h, told.name, shell, budget)
    yield from _energy_apart(system, shell)


def _with_work(system: System, h: Expr, name: str, shell: Shell, budget: Budget) -> Iterator[Integral]:
    """h - F, where the rate of h is the derivative of F: forces that have a potential, a part of L that only time changes."""
    rate = power(system) - fast(system.lagrangian).diff(fast(time))
    F = None if vanishes(rate) else primitive(readable(rate, system), system.coordinates, budget)
    if F is not None and shell.conserved(h - F):
        what = "the power of the forces" if vanishes(system.lagrangian.diff(time)) else "the rate of h"
        yield Integral(f"{name} with the work done", expanded(h - F, system), True, f"{what} is the derivative of {F}")


def _energy_apart(system: System, shell: Shell) -> Iterator[Integral]:
    """The energy T + V where that is not h."""
    if vanishes(meaning(system).lacking):
        return
    E = expanded(energy(system), system)
    conserved = shell.conserved(E)
    if conserved is None:
        return
    if conserved:
        yield Integral("energy", E, True, "its rate is zero on every motion, though it is not the Jacobi integral")
    else:
        yield Integral("energy", E, False, "what moves the frame does work: T has parts T1, T0 of lower degree")


def separate_energies(system: System, shell: Shell) -> Iterator[Integral]:
    """The Jacobi integral of every part of the system that does not interact with the rest."""
    parts = _parts(system)
    for part in parts if len(parts) > 1 else []:
        E = _energy_of(system, part)
        names = ", ".join(q.name for q in part)
        if shell.conserved(E):
            does = "does" if len(part) == 1 else "do"
            yield Integral(f"energy of {names}", E, True, f"{names} {does} not interact with the other coordinates")


def _parts(system: System) -> list[list[Coordinate]]:
    """The coordinates, in groups that nothing in the system connects."""
    q = system.coordinates
    L, force = fast(system.lagrangian), [fast(f) for f in system.force]
    own = [(fast(c), fast(c.dot)) for c in q]
    forms = [[*c.coefficients, *w] for c, w in zip(system.constraints, system.variations, strict=True)]
    touched = [{i for i in range(len(q)) if _touches(form, i, own[i])} for form in forms]

    acting = [[L.diff(a), L.diff(b), f] for (a, b), f in zip(own, force, strict=True)]
    occurring = [{s for e in on for s in e.free_symbols} for on in acting]

    def depends(i: int, j: int) -> bool:
        """Whether coordinate j changes what acts on coordinate i."""
        return any(not vanishes(e.diff(s)) for s in own[j] if s in occurring[i] for e in acting[i])

    def joined(i: int, j: int) -> bool:
        return any(i in t and j in t for t in touched) or depends(i, j) or depends(j, i)

    groups: list[list[int]] = []
    for i in range(len(q)):
        near = [g for g in groups if any(joined(i, j) for j in g)]
        groups = [g for g in groups if g not in near] + [[*(j for g in near for j in g), i]]
    return [[q[i] for i in sorted(g)] for g in sorted(groups)]


def _touches(form: Sequence[Expr], i: int, own: tuple[Fast, Fast]) -> bool:
    n = len(form) // 2
    rows = (form[i], form[n + i])
    return not all(vanishes(a) for a in rows) or not all(vanishes(fast(a).diff(s)) for a in form for s in own)


def _energy_of(system: System, part: Sequence[Coordinate]) -> Expr:
    """p.v - L of the terms of L that the given coordinates occur in."""
    symbols = {s for c in part for s in (c, c.dot)}
    L = sympy.Add(*(t for t in sympy.Add.make_args(expanded(system.lagrangian, system)) if t.free_symbols & symbols))
    power = sympy.Add(*(sympy.diff(L, c.dot) * c.dot for c in part))
    return expanded(power - L, system)
