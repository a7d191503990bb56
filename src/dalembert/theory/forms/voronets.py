"""Equations in independent velocities under constraints of any dependence on velocities, solved as x^b.dot = L^b(x, v, t).

With L0 the Lagrangian after this substitution, theta_b = dL/d(x^b.dot) and X_e = d/dx^e + sum_b (dL^b/dv^e) d/dx^b,

    d/dt dL0/dv^e - X_e(L0) - sum_b (d/dt dL^b/dv^e - X_e(L^b)) theta_b = F_e + sum_b F_b dL^b/dv^e.

These are the equations of Voronets, written for nonlinear constraints, under the conditions of Chetaev; of Chaplygin where
no x^b occurs. Leaving out the sum over theta_b gives the equations of Lindelof, which are not those of the motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Eq, Expr

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError
from ...model.coordinates import Coordinate
from ...model.space import lines_only
from ...model.system import System
from ...symbolic import Fast, fast, gradient, substitute, total
from ..algebra import tidy
from ..constraints.dependent_velocities import dependent_coordinates
from ..motion.lagrange import euler_lagrange, readable, total_derivative
from .adapted_frames import SECONDS, is_chaplygin

_NO_SOLUTION = (
    "in closed form on one branch. State the constraints solved: constraints=[{v} - ...], or use system.equations()"
)


@dataclass(frozen=True, repr=False, eq=False)
class VoronetsForm(Shown):
    """The equations of a system in independent velocities; see the module and `hamel`.

    system:    the system
    solution:  {x: L} the dependent velocities x.dot = L as functions of positions, independent velocities and time
    """

    system: System
    solution: Mapping[Coordinate, Expr]

    @property
    def kind(self) -> str:
        """ "Chaplygin" where the dependent coordinates do not enter, "Voronets" otherwise."""
        return "Chaplygin" if is_chaplygin(self.system, self.solution) else "Voronets"

    @property
    def independent(self) -> tuple[Coordinate, ...]:
        """The coordinates whose velocities are free."""
        return tuple(q for q in self.system.coordinates if q not in self.solution)

    @property
    def kinematics(self) -> tuple[Eq, ...]:
        """The dependent velocities."""
        return tuple(Eq(q.dot, e, evaluate=False) for q, e in self.solution.items())

    @cached_property
    def lagrangian(self) -> Expr:
        """L0: the Lagrangian with the dependent velocities inserted. Its own equations are those of Lindelof."""
        return tidy(self.system.lagrangian.xreplace({q.dot: e for q, e in self.solution.items()}))

    @cached_property
    def momenta(self) -> dict[Coordinate, Expr]:
        """theta_b: the momentum of each dependent velocity, on the constraints."""
        into = {q.dot: e for q, e in self.solution.items()}
        return {q: tidy(self.system.lagrangian.diff(q.dot).xreplace(into)) for q in self.solution}

    def _inserted(self, e: Any) -> Fast:
        return substitute(e, {q.dot: fast(L) for q, L in self.solution.items()})

    def _rate(self, f: Fast) -> Fast:
        """df/dt of a function of positions, independent velocities and time."""
        return self._inserted(total_derivative(f, self.system.coordinates))

    def _along(self, f: Fast, e: Coordinate) -> Fast:
        """X_e(f)."""
        return f.diff(fast(e)) + total(fast(L).diff(fast(e.dot)) * f.diff(fast(b)) for b, L in self.solution.items())

    @cached_property
    def _left(self) -> list[Fast]:
        L0, found = self._inserted(self.system.lagrangian), []
        slopes = {b: self._inserted(fast(self.system.lagrangian).diff(fast(b.dot))) for b in self.solution}
        for e in self.independent:
            bent = total(
                (self._rate(gradient(L, [e.dot])[0]) - self._along(fast(L), e)) * slopes[b]
                for b, L in self.solution.items()
            )
            found.append(self._rate(gradient(L0, [e.dot])[0]) - self._along(L0, e) - bent)
        return found

    @cached_property
    def _right(self) -> list[Fast]:
        forces = dict(zip(self.system.coordinates, self.system.force, strict=True))
        return [
            self._inserted(forces[e])
            + total(self._inserted(forces[b]) * fast(L).diff(fast(e.dot)) for b, L in self.solution.items())
            for e in self.independent
        ]

    @cached_property
    def reduced(self) -> tuple[Eq, ...]:
        """The equations, one for each independent velocity, without multipliers."""
        pairs = zip(self._left, self._right, strict=True)
        return tuple(Eq(self._collected(a), self._collected(b), evaluate=False) for a, b in pairs)

    def _collected(self, e: Fast) -> Expr:
        """Collected by accelerations, in which it is linear."""
        rates = [q.ddot for q in self.independent]
        slopes, rest = gradient(e, rates), substitute(e, dict.fromkeys(rates, 0))
        parts = [tidy(readable(a, self.system)) for a in (*slopes, rest)]
        return sympy.Add(*(a * r for a, r in zip(parts, rates, strict=False)), parts[-1])

    def _parts(self) -> list[Part]:
        names = ", ".join(q.name for q in self.independent)
        parts: list[Part] = [
            f"{self.system.name}: {self.kind}'s equations in the velocities of {names}",
            *self.kinematics,
        ]
        parts += [("Lagrangian, constraints inserted", self.lagrangian), "Equations:", *self.reduced]
        return [*parts, "These equations are those with multipliers (compared by value at random states)."]


def voronets(system: System) -> VoronetsForm:
    """The form of a system with constraints of any kind, compared with Lagrange's equations by value."""
    lines_only(system, "hamel without velocities")
    dependent = dependent_coordinates(system)
    form = VoronetsForm(system, _solution(system, dependent))
    for e, left, right in zip(form.independent, form._left, form._right, strict=True):
        if not vanishes(left - right - _expected(form, e)):
            raise ModelError(
                f"hamel: the equation of {e.dot} could not be confirmed: at random states it differs from those of "
                f"Lagrange for {system.name!r}, or one has no value. Use system.equations(), and report this system."
            )
    return form


def _solution(system: System, dependent: tuple[Coordinate, ...]) -> dict[Coordinate, Expr]:
    """The dependent velocities by the others, in closed form; refused where there are several branches."""
    forms = [c.velocity_form(system.coordinates) for c in system.constraints]
    plain = {s: sympy.Dummy(s.name, real=True) for e in forms for s in e.free_symbols if not s.is_positive}
    back = {d: s for s, d in plain.items()}
    sought = [plain[q.dot] for q in dependent]
    found = Budget(seconds=SECONDS).call(
        lambda: sympy.solve([e.xreplace(plain) for e in forms], sought, dict=True)
    )  # fmt: skip
    if found is None or len(found) != 1 or len(found[0]) != len(dependent):
        names = ", ".join(str(q.dot) for q in dependent)
        raise ModelError(
            f"hamel: the constraints of {system.name!r} were not solved for {names} "
            f"{_NO_SOLUTION.format(v=dependent[0].dot)}."
        )
    return {q: found[0][s].xreplace(back) for q, s in zip(dependent, sought, strict=True)}


def _expected(form: VoronetsForm, e: Coordinate) -> Fast:
    """E_e + sum_b (dL^b/dv^e) E_b less the forces, with velocities and accelerations inserted."""
    s = form.system
    into = {b.dot: fast(L) for b, L in form.solution.items()}
    rates = {b.ddot: form._rate(fast(L)) for b, L in form.solution.items()}
    balance = [a - fast(f) for a, f in zip(euler_lagrange(s), s.force, strict=True)]
    own = dict(zip(s.coordinates, (substitute(a, {**into, **rates}) for a in balance), strict=True))
    return own[e] + total(own[b] * fast(L).diff(fast(e.dot)) for b, L in form.solution.items())
