"""Virtual displacements, the virtual work of any forces, and d'Alembert's principle.

A virtual displacement w at a position and a time satisfies omega^a . w = 0 for the one-form of every constraint; for ideal
constraints these are the rows A of A v + b = 0, without b. d'Alembert's principle: along a motion

    (d/dt dL/dv - dL/dq - F) . w = 0        for all virtual displacements w

which determines the motion together with the constraints; and forces R are reactions of ideal constraints exactly if
R . w = 0 for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy
from sympy import Expr

from ...decide.matrix_scaling import balance, solved
from ...decide.zero import vanishes, vanishes_at
from ...display import Part, Shown, Table
from ...errors import ModelError, StartError, told
from ...model import checks
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate, time
from ...model.system import System
from ...numbers import by_name
from ...symbolic import Fast, fast, free_names, gradient, number, substitute
from ...symbolic import expanded as multiplied_out
from ..admissible_states import states_on
from ..algebra import Allowance, tidy
from ..constraints.distributions import kernel
from ..motion.lagrange import euler_lagrange, linear_motion, readable, symbols

State = dict[str, float]
"""A value for every name: positions, velocities, parameters and time."""

OFF = 1e-9
"""A state is on the constraints if their value is below this, relative to the size of their terms."""


@dataclass(frozen=True, repr=False)
class VirtualWork(Shown):
    """The work of forces on a basis of virtual displacements; any virtual work is a combination of these."""

    system: System
    forces: dict[Coordinate, Expr]
    displacements: tuple[dict[Coordinate, Expr], ...]
    work: tuple[Expr, ...]
    title: str = "virtual work"

    @property
    def is_zero(self) -> bool:
        """Whether the forces do no virtual work wherever the constraints hold."""
        return all(vanishes_on(self.system, w) for w in self.work)

    def _parts(self) -> Sequence[Part]:
        rows = [(*w.values(), work) for w, work in zip(self.displacements, self.work, strict=True)]
        names = tuple(f"delta {q}" for q in self.system.coordinates)
        zero = "is zero" if self.is_zero else "is not zero"
        if not rows:
            return [f"{self.system.name}: the constraints leave no virtual displacement, so the {self.title} {zero}."]
        verdict = f"On the constraints the {self.title} {zero}."
        return [f"{self.system.name}: {self.title}", Table((*names, "work"), rows), verdict]


def virtual_work(system: System, forces: Mapping[Coordinate, Any]) -> VirtualWork:
    """The work of generalised forces {x: expression} on a basis of virtual displacements.

    A force may contain positions, velocities, accelerations, multipliers, time, and parameters that the system does not have.
    """
    system = system_of(system, "virtual_work")
    given = generalised(system, forces, "virtual_work")
    basis = virtual_displacements(system)
    work = [sum((given[q] * w[q] for q in system.coordinates), start=sympy.S.Zero) for w in basis]
    return VirtualWork(system, given, basis, tuple(sympy.S.Zero if vanishes(w) else tidy(w) for w in work))


def is_ideal(system: System, forces: Mapping[Coordinate, Any]) -> bool:
    """Whether forces could be the reactions of ideal constraints: they do no virtual work where the constraints hold."""
    return virtual_work(system, forces).is_zero


def dalembert_residual(
    system: System,
    accelerations: Mapping[Coordinate, Any] | None = None,
    forces: Mapping[Coordinate, Any] | None = None,
) -> VirtualWork:
    """The virtual work of d/dt dL/dv - dL/dq - F, which vanishes along a motion.

    accelerations:  {x: expression}; those that are left out stay symbols x.ddot
    forces:         {x: expression}, the given forces F; by default those of the system
    """
    system = system_of(system, "dalembert_residual")
    put = {q.ddot: e for q, e in generalised(system, accelerations or {}, "accelerations").items()}
    put = {a: e for a, e in put.items() if a.coordinate in (accelerations or {})}
    active = dict(zip(system.coordinates, system.force, strict=True))
    active = active if forces is None else generalised(system, forces, "forces")
    inertia = [readable(e, system).xreplace(put) for e in euler_lagrange(system)]
    balance = {q: e - active[q] for q, e in zip(system.coordinates, inertia, strict=True)}
    return replace(virtual_work(system, balance), title="residual of d'Alembert's principle")


def generalised(system: System, given: Any, role: str) -> dict[Coordinate, Expr]:
    """One checked expression per coordinate, zero where nothing is given."""
    q = system.coordinates
    if not isinstance(given, Mapping):
        raise ModelError(f"{role}: got {told(given)}. Expected {{coordinate: expression}}, for example {{{q[0]}: 1}}.")
    for key in given:
        if key not in q:
            names = ", ".join(c.name for c in q)
            raise ModelError(f"{role}: {key} is not a coordinate of {system.name!r}. Its coordinates are {names}.")
    known = symbols(system)
    return {c: checks.symbols(checks.expression(given.get(c, 0), f"{role} of {c}"), known, role) for c in q}


def held(system: System) -> dict[sympy.Symbol, Expr]:
    """Coordinates that a holonomic constraint fixes by itself (rho = R after `rho - R`), and their velocities."""
    found: dict[sympy.Symbol, Expr] = {}
    for c in system.holonomic:
        moving = [(q, a) for q, a in zip(system.coordinates, c.coefficients, strict=True) if a != 0]
        q, a = moving[0]
        if len(moving) == 1 and q not in a.free_symbols:
            value = sympy.expand(q - c.expression / a)
            found |= {q: value, q.dot: value.diff(time)}
    return found


def linear_pieces(system: System, put: Mapping[sympy.Symbol, Expr]) -> dict[str, list[list[Fast]]]:
    """m, f, A, omega and C of  m a = f + omega^T lambda,  A a + C = 0, as rows, with some symbols replaced."""
    linear = linear_motion(system)
    pieces = {
        "mass": linear.mass,
        "load": [[e] for e in linear.load],
        "rows": linear.rows,
        "forms": linear.forms,
        "hidden": [[e] for e in linear.hidden],
    }
    return {k: [[substitute(e, put) for e in row] for row in rows] for k, rows in pieces.items()}


# The kernel of the one-forms


def virtual_displacements(system: System) -> tuple[dict[Coordinate, Expr], ...]:
    """A basis of the virtual displacements, without denominators: as many as there are degrees of freedom.

    Some displacements are determined by the others; which ones is decided by the rank at random states. So the basis is
    one almost everywhere: where the determinant of those columns vanishes, it may degenerate.
    """
    q, forms = system.coordinates, system.variations
    names = {s.name for w in forms for e in w for s in e.free_symbols}
    basis = kernel(forms, len(q), states_on(system.constraints, q, names), Allowance())
    return tuple(dict(zip(q, basis[:, k], strict=True)) for k in range(basis.cols))


def brief(label: str, expression: Expr, longest: int = 150) -> Part:
    """A labelled formula; for a long one only its length."""
    size = int(sympy.count_ops(expression))
    return (label, expression) if size <= longest else f"  {label}:  an expression of {size} operations"


def vanishes_on(system: System, expression: Any) -> bool:
    """Whether an expression is zero wherever the constraints hold, by value at random states on them."""
    e = fast(expression)
    if e.is_number or not system.constraints:
        return vanishes(e)
    return vanishes_at(e, states_on(system.constraints, system.coordinates, free_names([e])))


# A given state


def _named(system: System, given: Mapping[Any, Any], role: str) -> State:
    known = (*system.coordinates, *system.velocities, *system.parameters, time)
    found: State = by_name(given, known, role)
    needed = {s.name for s in (*system.coordinates, *system.parameters)} - set(found)
    if needed:
        example = ", ".join(f"{name}: ..." for name in sorted(needed))
        raise StartError(f"{role}: no value for {', '.join(sorted(needed))}. Add {{{example}}}.")
    return {time.name: 0.0, **found}


def complete_state(system: System, given: Mapping[Any, Any], role: str) -> State:
    """Fill in velocities that the constraints determine; refuse a state that is off the constraints."""
    import numpy as np

    at = _named(system, given, role)
    missing = [v.name for v in system.velocities if v.name not in at]
    at = {**dict.fromkeys(missing, 0.0), **at}
    forms = [c.velocity_form(system.coordinates) for c in system.constraints]
    if missing:
        value = np.array([number(e, at) for e in forms])
        slopes = np.array([[number(d, at) for d in gradient(e, missing)] for e in forms]).reshape(-1, len(missing))
        rows, columns = (factors[0] for factors in balance(slopes[None]))
        if np.linalg.matrix_rank(slopes * rows[:, None] * columns) < len(missing):
            raise StartError(f"{role}: no value for {', '.join(missing)}, and the constraints do not determine them.")
        at |= dict(zip(missing, solved(slopes[None], -value[None])[0].tolist(), strict=True))
    for e in (*(c.expression for c in system.holonomic), *forms):
        off, terms = number(e, at), [number(t, at) for t in sympy.Add.make_args(multiplied_out(e))]
        if abs(off) > OFF * sum(map(abs, terms)):
            raise StartError(f"{role}: the state violates {e} = 0: its value is {off:.6g}. Correct the state.")
    return at
