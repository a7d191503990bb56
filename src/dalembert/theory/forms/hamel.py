"""Hamel's equations of a system in quasi-velocities w = A(q, t) v + b(q, t) chosen by the user; see `motion.frames`.

The choice determines the form: w = v gives Lagrange's equations, body angular velocities Euler's, and expressions that
constraints set to zero those of Boltzmann and Hamel, Voronets, Chaplygin or Suslov.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Eq, Expr, Matrix

from ...decide.zero import vanishes
from ...display import Part, Shown, read_with
from ...errors import ModelError
from ...model import checks
from ...model.bodies.assembly import system_of
from ...model.coordinates import QuasiVelocity, Velocity, time
from ...model.frame import Frame
from ...model.principle import reactions_by_forms
from ...model.system import System
from ...symbolic import Fast, fast, gradient, substitute, total
from ..algebra import tidy
from ..motion.degeneracy import degeneracy
from ..motion.frames import hamel_residual
from ..motion.lagrange import entropy_rates, motion_residual, multipliers, parted
from .adapted_frames import adapted_velocities, kind
from .quasi_velocities import Reader, frame_of, known, stated
from .voronets import VoronetsForm, voronets


@dataclass(frozen=True, repr=False, eq=False)
class HamelForm(Shown):
    """The equations of a system in quasi-velocities; see `hamel`.

    system:      the system
    velocities:  {u: expression in the velocities of the system}; `u, w = form.velocities` gives the symbols, u.dot is a rate
    frame:       the fields X_u and their brackets, as `motion.frames.Frame`
    lagrangian:  l(q, w, t), the Lagrangian of the system with its velocities expressed by quasi-velocities
    """

    system: System
    velocities: Mapping[QuasiVelocity, Expr]
    frame: Frame
    lagrangian: Expr

    @property
    def kind(self) -> str:
        """The name of the equations: "Lagrange", "Chaplygin", "Suslov", "Voronets" or "Boltzmann-Hamel"."""
        return kind(self)

    # the frame
    @cached_property
    def coframe(self) -> Matrix:
        """A: the derivatives of the quasi-velocities by the velocities, one row for each quasi-velocity."""
        return Matrix([[tidy(e.diff(v)) for v in self.system.velocities] for e in self.velocities.values()])

    @cached_property
    def fields(self) -> Matrix:
        """The inverse of A: the components of the fields X_u, one column for each quasi-velocity."""
        return Matrix([[self._sympy(X[q]) for X in self.frame.fields] for q in self.system.coordinates])

    @cached_property
    def kinematics(self) -> tuple[Eq, ...]:
        """The velocities expressed by quasi-velocities, one equation per coordinate."""
        return tuple(Eq(v, e, evaluate=False) for v, e in self._speeds.items())

    @cached_property
    def _speeds(self) -> dict[Velocity, Expr]:
        rates = self.frame.kinematics
        return {q.dot: self._by_velocities(rates[q]) for q in self.system.coordinates}

    @cached_property
    def structure_functions(self) -> dict[tuple[Any, Any, Any], Expr]:
        """The c^k_ij that are not zero, by (k, i, j) with i before j: [X_i, X_j] = c^k_ij X_k.

        Where the frame moves, (k, t, j) with the symbol of time is c^k_0j: [X_0, X_j] = c^k_0j X_k.
        """
        w, frame = list(self.velocities), self.frame
        pairs = {key: c for key, c in frame.brackets.items() if key[1] < key[2]}
        found = {
            (w[k], w[i], w[j]): c for (k, i, j), c in sorted(pairs.items(), key=lambda item: item[0][1:] + item[0][:1])
        }
        moving = sorted(frame.drift_brackets.items(), key=lambda item: item[0][::-1])
        found |= {(w[k], time, w[j]): c for (k, j), c in moving}
        return {key: self._sympy(c) for key, c in found.items()}

    @cached_property
    def determinant(self) -> Expr | None:
        """The determinant of A, factored; None if it was not found in closed form within some seconds."""
        return degeneracy(self.coframe, self.system).determinant

    @cached_property
    def singular(self) -> tuple[Eq, ...]:
        """Where the determinant of A, or that of its inverse, vanishes: the equations do not hold there."""
        found = (degeneracy(matrix, self.system).conditions for matrix in (self.coframe, self.fields))
        return tuple(dict.fromkeys(e for conditions in found for e in conditions))

    # what acts
    @cached_property
    def momenta(self) -> dict[QuasiVelocity, Expr]:
        """dl/dw for each quasi-velocity."""
        slopes = gradient(self.lagrangian, self.velocities)
        return {u: self._by_velocities(p) for u, p in zip(self.velocities, slopes, strict=True)}

    @cached_property
    def forces(self) -> dict[QuasiVelocity, Expr]:
        """F(X_u): the power of the forces per unit of each quasi-velocity."""
        return dict(zip(self.velocities, map(self._by_velocities, self._components(self.system.force)), strict=True))

    @cached_property
    def reactions(self) -> dict[QuasiVelocity, Expr]:
        """lambda_a omega^a(X_u): the reaction along each field."""
        rows = [self._components(w) for w in self.system.variations]
        forms = [[self._by_velocities(a) for a in row] for row in rows]
        symbols = multipliers(self.system)
        return {
            u: sympy.Add(*(m * row[j] for m, row in zip(symbols, forms, strict=True)))
            for j, u in enumerate(self.velocities)
        }

    def _components(self, covector: Sequence[Any]) -> list[Fast]:
        """The components of a covector along the fields, with velocities expressed by quasi-velocities."""
        own = dict(zip(self.system.coordinates, map(self._pulled, covector), strict=True))
        return [total(e * fast(X[q]) for q, e in own.items()) for X in self.frame.fields]

    # the equations
    @cached_property
    def equations(self) -> tuple[Eq, ...]:
        """d/dt dl/dw^j - (c^k_ij w^i + c^k_0j) dl/dw^k - X_j(l) = F_j + lambda_a omega^a(X_j), one per quasi-velocity."""
        warming = zip(self.system.entropies, entropy_rates(self.system), strict=True)
        carried = {S: self._pulled(rate) for S, rate in warming}
        left = hamel_residual(self.lagrangian, self.frame, carried=carried)
        acting = zip(self.forces.values(), self.reactions.values(), strict=True)
        return tuple(Eq(self._tidy(e), F + r, evaluate=False) for e, (F, r) in zip(left, acting, strict=True))

    @cached_property
    def entropy(self) -> tuple[Eq, ...]:
        """T S.dot = heating, one equation per entropy, in quasi-velocities."""
        laws = zip(self.system.entropies, self.system.temperatures, self.system.heating, strict=True)
        return tuple(Eq(self.expression(T) * S.dot, self.expression(P), evaluate=False) for S, T, P in laws)

    @cached_property
    def constraints(self) -> tuple[Eq, ...]:
        """The constraints as relations between quasi-velocities; holonomic ones are differentiated once."""
        q = self.system.coordinates
        stated = (self._pulled(c.velocity_form(q)) for c in self.system.constraints)
        return tuple(Eq(self._by_velocities(e), 0, evaluate=False) for e in stated)

    def expression(self, stated: Any) -> Expr:
        """An expression in coordinates and velocities of the system, with quasi-velocities in place of velocities."""
        own = known(self.system) | set(self.system.entropies)
        checked = checks.symbols(checks.expression(stated, "expression"), own, "expression")
        return self._by_velocities(self._pulled(checked))

    # frames adapted to constraints
    @cached_property
    def _adapted(self) -> tuple[tuple[QuasiVelocity, ...], str]:
        """The quasi-velocities that the constraints set to zero; or none, and the reason with what to do."""
        s, w = self.system, list(self.velocities)
        if nonlinear := [c.expression for c in s.constraints if not c.is_linear]:
            return (
                (),
                f"the constraint {nonlinear[0]} = 0 is not linear in the velocities. Use equations and constraints",
            )
        forms = [e.lhs for e in self.constraints]
        occurring = tuple(u for u in w if any(not vanishes(f.diff(u)) for f in forms))
        rest = [f.xreplace(dict.fromkeys(w, sympy.S.Zero)) for f in forms]
        if len(occurring) > len(forms) or not all(map(vanishes, rest)):
            listed = ", ".join(str(c.velocity_form(s.coordinates)) for c in s.constraints)
            return (), (
                f"the constraints {', '.join(f'{f} = 0' for f in forms)} do not set single quasi-velocities to zero. Take "
                f"{listed} among the quasi-velocities"
            )
        acting = [u for u, r in self.reactions.items() if u not in occurring and not vanishes(r)]
        if acting:
            return (
                (),
                f"a reaction acts along {acting[0]}, which the constraints leave free. Use equations and constraints",
            )
        return occurring, ""

    @property
    def is_adapted(self) -> bool:
        """Whether the constraints set some quasi-velocities to zero and leave the others free, without reactions."""
        return not self._adapted[1]

    @property
    def vanishing(self) -> tuple[QuasiVelocity, ...]:
        """The quasi-velocities that the constraints set to zero; none where the frame is not adapted to them."""
        return self._adapted[0]

    @cached_property
    def reduced(self) -> tuple[Eq, ...]:
        """The equations of the quasi-velocities that constraints leave free, without multipliers.

        The others are set to zero once all derivatives are taken. Zero in the Lagrangian would give wrong equations.
        """
        return tuple(self._on_constraints(e) for u, e in self._listed if u not in self.vanishing)

    @cached_property
    def reaction_equations(self) -> tuple[Eq, ...]:
        """The equations of the quasi-velocities that vanish: these determine the multipliers."""
        return tuple(self._on_constraints(e) for u, e in self._listed if u in self.vanishing)

    @property
    def _listed(self) -> list[tuple[QuasiVelocity, Eq]]:
        if not self.is_adapted:
            raise ModelError(f"hamel: the frame is not adapted to the constraints: {self._adapted[1]}.")
        return list(zip(self.velocities, self.equations, strict=True))

    def _on_constraints(self, equation: Eq) -> Eq:
        gone = dict.fromkeys((s for u in self.vanishing for s in (u, u.dot)), sympy.S.Zero)
        left, right = (e.xreplace(gone) for e in equation.args)
        return Eq(left, right, evaluate=False)

    # expressions in quasi-velocities
    @cached_property
    def _pull(self) -> dict[Any, Fast]:
        rates = self.frame.kinematics
        return {q.dot: rates[q] for q in self.system.coordinates}

    def _pulled(self, expression: Any) -> Fast:
        return substitute(expression, self._pull)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.system, self.velocities)

    def _sympy(self, e: Any) -> Expr:
        return self._reader.short(e)

    def _by_velocities(self, e: Any) -> Expr:
        return self._reader.by_degree(e)

    def _tidy(self, e: Fast) -> Expr:
        """Collected by the rates of quasi-velocities, in which it is linear, then by quasi-velocities."""
        rates = [u.dot for u in self.velocities]
        slopes = gradient(e, rates)
        rest = substitute(e, dict.fromkeys(rates, 0))
        terms = (self._by_velocities(d) * a for d, a in zip(slopes, rates, strict=True))
        return sympy.Add(*terms, self._by_velocities(rest))

    def _parts(self) -> list[Part]:
        names = ", ".join(u.name for u in self.velocities)
        named = f" ({self.kind})" if self.kind in ("Chaplygin", "Suslov", "Voronets") else ""
        parts: list[Part] = [f"{self.system.name}: Hamel's equations in {names}{named}"]
        parts += [Eq(u, e, evaluate=False) for u, e in self.velocities.items()]
        parts += ["Velocities:", *self.kinematics, *self._shown_brackets()]
        parts += [("Lagrangian", self.lagrangian), "Equations:", *self.equations, *self.entropy]
        if self.system.constraints:
            parts += ["Constraints:", *(Eq(c.expression, 0, evaluate=False) for c in self.system.holonomic)]
            parts += self.constraints
        if self.vanishing:
            gone = ", ".join(f"{u} = 0" for u in self.vanishing)
            parts += [f"With {gone} once all derivatives are taken:", *self.reduced]
        if self.singular:
            parts.append(f"The frame is singular where {' or '.join(f'{e.lhs} = 0' for e in self.singular)}.")
        return [*parts, "These equations are Lagrange's along the fields X (compared by value at random states)."]

    def _shown_brackets(self) -> list[Part]:
        """[X_i, X_j] = c^k_ij X_k, for the brackets that are not zero."""
        sums: dict[str, list[Expr]] = {}
        for (k, i, j), c in self.structure_functions.items():
            first = "0" if i == time else i.name
            sums.setdefault(f"[X_{first}, X_{j.name}]", []).append(c * sympy.Symbol(f"X_{k.name}"))
        return ["Brackets:", *((label, sympy.Add(*terms)) for label, terms in sums.items())] if sums else []


def hamel(system: System, velocities: Mapping[str, Any] | Sequence[Any] | None = None) -> HamelForm | VoronetsForm:
    """The equations of a system in quasi-velocities: {"u": x.dot*cos(phi) + y.dot*sin(phi), ...}, by Hamel's formula.

    Without `velocities` a frame that suits the constraints is chosen, and its equations are those of Chaplygin, Suslov,
    Voronets or Boltzmann and Hamel (`kind`); under constraints that are nonlinear in the velocities the result is a
    `VoronetsForm`. Its `reduced` equations are those of the independent velocities.

    velocities:  for each quasi-velocity its name and an expression linear in the velocities, plus functions of positions
                 and time; as many as there are coordinates, and independent. A list without names makes w_1, w_2, ...

    The result holds `equations`, `kinematics`, `structure_functions`, `lagrangian`, `constraints`, and where some
    quasi-velocities vanish by the constraints, `reduced`. It is compared with Lagrange's equations by value before it is
    returned.
    """
    system = system_of(system, "hamel", groups=True)
    reactions_by_forms(system, "hamel")
    if velocities is None and not all(c.is_linear for c in system.constraints):
        return voronets(system)
    given, typed = stated(system, adapted_velocities(system) if velocities is None else velocities)
    frame = frame_of(system, given)
    rates = frame.kinematics
    l = substitute(system.lagrangian, {q.dot: rates[q] for q in system.coordinates})
    form = HamelForm(system, given, frame, Reader(system, given).by_degree(l))
    confirm(form)
    return read_with(form, system.typed | typed)


def lagrange_along(system: System, frame: Frame) -> list[Fast]:
    """X_j . (d/dt dL/dv - dL/dq - F - reaction), with velocities and accelerations expressed by those of the frame."""
    q, rates = system.coordinates, frame.kinematics
    places = {c.dot: rates[c] for c in q}
    places |= {c.ddot: a for c, a in zip(q, frame.rates([rates[c] for c in q]), strict=True)}
    residual = [substitute(e, places) for e in parted(system, motion_residual(system))[0]]
    return [total(fast(X[c]) * e for c, e in zip(q, residual, strict=True)) for X in frame.fields]


def confirm(form: HamelForm) -> None:
    """Refuse equations that differ in value from Lagrange's along the fields of their frame."""
    expected = lagrange_along(form.system, form.frame)
    for u, equation, e in zip(form.velocities, form.equations, expected, strict=True):
        if not vanishes(fast(equation.lhs) - fast(equation.rhs) - e):
            raise ModelError(
                f"hamel: the equation of {u} could not be confirmed: at random states it differs from Lagrange's equations of "
                f"{form.system.name!r}, or one of the two has no value. Use system.equations(), and report this system."
            )
