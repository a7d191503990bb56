"""Coordinates driven along a given motion: the forces that impose it, and the system that remains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.decimals import stated
from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError
from ...model import checks
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate, Parameter, Velocity, time
from ...model.heat import mechanical
from ...model.system import System
from ...symbolic import slow, substitute
from ..algebra import tidy
from ..motion.lagrange import motion_residual, multipliers, symbols, unknowns
from .closed_form import Reactions
from .virtual_work import brief


@dataclass(frozen=True, repr=False)
class Imposed(Shown):
    """A system some of whose coordinates are driven along a given motion.

    free:    the system with all its coordinates
    motion:  what is imposed: psi, psi.dot and psi.ddot as functions of time (without psi where only psi.dot was given)
    system:  the System of the remaining coordinates; None if nothing remains
    """

    free: System
    motion: dict[Symbol, Expr]
    system: System | None
    seconds: float = 5.0

    @cached_property
    def balance(self) -> dict[Coordinate, Expr]:
        """The driving force of each imposed coordinate, with the accelerations and multipliers of the others in it.

        It is the force missing in d/dt dL/dv - dL/dq = F + lambda_a omega^a of the free system.
        """
        lacking = zip(self.free.coordinates, motion_residual(self.free), strict=False)
        known = {s for e in self.motion.values() for s in e.free_symbols}
        given = {q: substitute(r, self.motion) for q, r in lacking if q.dot in self.motion}
        return {q: tidy(slow(r, [*symbols(self.free), *known])) for q, r in given.items()}

    @cached_property
    def driving(self) -> dict[Coordinate, Expr]:
        """{imposed coordinate: force or torque}, as a function of the remaining positions and velocities and of time."""
        sought = set(unknowns(self.free))
        if self.system is None or not any(e.free_symbols & sought for e in self.balance.values()):
            return self.balance
        rest = Reactions(self.system, self.seconds)
        if not rest.is_closed:
            told = "impose: the remaining accelerations are left in `balance`, the driving force: their closed form is too "
            raise ModelError(f"{told}large, or takes more than {self.seconds:g} s. Wait longer with seconds=....")
        put: dict[Symbol, Expr] = {q.ddot: a for q, a in rest.accelerations.items()}
        put |= dict(zip(multipliers(self.system), rest.multipliers.values(), strict=True))
        return {q: tidy(e.xreplace(rest.held).xreplace(put)) for q, e in self.balance.items()}

    @cached_property
    def power(self) -> Expr:
        """The power of all driving forces."""
        return tidy(sympy.Add(*(e * self.motion[q.dot] for q, e in self.driving.items())))

    def _parts(self) -> Sequence[Part]:
        head = f"{self.free.name}: imposed " + ", ".join(f"{s} = {e}" for s, e in self.motion.items())
        try:
            shown, more = self.driving, brief("power", self.power)
        except ModelError as error:
            shown, more = self.balance, str(error)
        forces = [brief(f"force or torque along {q}", e) for q, e in shown.items()]
        return [head, *forces, more, f"what remains: {self.system or 'nothing moves freely'}"]


def impose(system: System, motion: Mapping[Any, Any], *, seconds: float = 5.0) -> Imposed:
    """Drive coordinates along a given motion: {psi: omega*t} with t = dalembert.time, or {psi.dot: omega}; see `Imposed`.

    The same motion can be stated as a constraint `psi - omega*t`; its multiplier is the driving force.
    """
    system = system_of(system, "impose")
    mechanical(system, "impose")
    put = _imposed(system, motion)
    rest = [q for q in system.coordinates if q.dot not in put]

    def on(e: Expr) -> Expr:
        return e.xreplace(put)

    stays = [j for j, q in enumerate(system.coordinates) if q in rest]
    for c, w in zip(system.constraints, system.variations, strict=True):
        if all(vanishes(on(w[j])) for j in stays):
            raise ModelError(
                f"impose: the constraint {c.expression} = 0 binds nothing else once {_list(put)} is imposed, so its "
                f"reaction and the driving force cannot be told apart. Leave out one of the two."
            )
    if not rest:
        return Imposed(system, put, None, seconds)
    forms = [sum(on(w[j]) * system.velocities[j] for j in stays) for w in system.variations]
    left = system.replace(
        name=f"{system.name}, {_list(put)} imposed",
        coordinates=rest,
        internal_energy=on(system.internal_energy),
        **{kind: _moving(on(e), rest) for kind, e in system.energies.items()},
        forces={q: on(f) for q, f in zip(system.coordinates, system.forces, strict=True) if q in rest},
        dissipation=on(system.dissipation),
        constraints=[on(c.expression) for c in system.constraints],
        variations=forms if system.has_own_variations else None,
    )
    return Imposed(system, put, left, seconds)


def _moving(energy: Expr, rest: Sequence[Coordinate]) -> Expr:
    """An energy without its constant terms, which add no force; parameters that occur nowhere else are removed with them."""
    varying = {time, *rest, *(q.dot for q in rest)}

    def without(e: Expr) -> Expr:
        terms = sympy.Add.make_args(e)
        kept = [term for term in terms if term.free_symbols & varying]
        return e if len(kept) == len(terms) else sympy.Add(*kept)

    left = without(energy)
    wide = sympy.expand(left)
    return left if without(wide) == wide else without(wide)  # multiplied out only where that separates a constant


def _list(put: Mapping[Symbol, Expr]) -> str:
    return ", ".join(s.coordinate.name for s in put if isinstance(s, Velocity))


def _imposed(system: System, motion: Any) -> dict[Symbol, Expr]:
    """psi, psi.dot and psi.ddot of every imposed coordinate."""
    example = f"{{{system.coordinates[0]}: sin(dalembert.time)}}"
    if not isinstance(motion, Mapping) or not motion:
        raise ModelError(f"impose: got {motion!r}. Expected {{coordinate or velocity: function of time}}: {example}.")
    put: dict[Symbol, Expr] = {}
    for key, given in motion.items():
        q = key.coordinate if isinstance(key, Velocity) else key
        if q not in system.coordinates:
            names = ", ".join(c.name for c in system.coordinates)
            raise ModelError(f"impose: {key} is not a coordinate or velocity of {system.name!r}, which has {names}.")
        if q.dot in put:
            raise ModelError(f"impose: the motion of {q} is given twice. Give {q} or {q}.dot.")
        value = stated(checks.expression(given, f"motion of {key}"))
        strange = [s for s in value.free_symbols if not (isinstance(s, Parameter) or s == time)]
        if strange:
            told = f"impose: {key} = {value} contains {strange[0]}."
            raise ModelError(f"{told} An imposed motion is a function of time and parameters, like {example}.")
        rate = value if isinstance(key, Velocity) else value.diff(time)
        put |= ({} if isinstance(key, Velocity) else {q: value}) | {q.dot: rate, q.ddot: rate.diff(time)}
        if isinstance(key, Velocity) and any(q in e.free_symbols for e in system.expressions()):
            raise ModelError(f"impose: {q} itself occurs in {system.name!r}. Give its position: {{{q}: ...}}.")
    return put
