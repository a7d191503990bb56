"""The thermal part of a system: entropies, friction that heats bodies, heat they receive; and its checks.

    (dL/dS_a) S_a.dot = F_a . v - P_a,        temperature T_a = -dL/dS_a > 0

F_a is the friction that heats body a, P_a the heat it receives. The variations obey (dL/dS_a) dS_a = F_a . dq.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr

from ..decide.zero import vanishes
from ..errors import ModelError, ModelWarning, told
from .coordinates import Coordinate, Entropy, check_name
from .principle import reactions_by_forms
from .signs import sign_at_samples
from .space import lines_only

if TYPE_CHECKING:
    from .system import System

Checked = Callable[..., Expr]


def entropies(given: Any, taken: Sequence[Coordinate] = ()) -> tuple[Entropy, ...]:
    """Check the list of entropies; `taken` are the coordinates beside them."""
    try:
        listed = (given,) if isinstance(given, Entropy) else tuple(given)
    except TypeError:
        raise ModelError(f"entropies: got {told(given)}. Expected a list: entropies=[S].") from None
    for S in listed:
        if not isinstance(S, Entropy):
            name = told(S, 20).strip("'") if isinstance(S, str | sympy.Symbol) else "S"
            raise ModelError(
                f'entropies: {told(S)} is not an entropy. Make it with {name} = dalembert.entropies("{name}").'
            )
        check_name("entropies", S)
        if listed.count(S) > 1:
            raise ModelError(f"entropies: the name {S.name} occurs twice. Each entropy is listed once.")
        if any(q.name == S.name for q in taken):
            raise ModelError(f"entropies: the name {S.name} is that of a coordinate. Rename one of them.")
    return listed


def friction(
    given: Mapping[Any, Any] | None, q: Sequence[Coordinate], S: Sequence[Entropy], checked: Checked
) -> tuple[tuple[Expr, ...], ...]:
    """The friction force on each coordinate, for each entropy."""
    given = given or {}
    if not isinstance(given, Mapping):
        raise ModelError(f"friction: got {told(given)}. Expected {{x: expression}}, or {{S: {{x: expression}}}}.")
    if given and not S:
        raise ModelError("friction: its work becomes heat, and there is no entropy to receive it. Give entropies=[S].")
    by_entropy = any(key in S for key in given)
    if given and not by_entropy and len(S) > 1:
        raise ModelError(
            f"friction: there are {len(S)} entropies, so say which one is warmed: friction={{{S[0]}: {{{q[0]}: ...}}}}."
        )
    shares = given if by_entropy else {S[0]: given} if S else {}
    for key, forces in shares.items():
        if key not in S:
            raise ModelError(f"friction: {key} is not among the entropies {_names(S)}.")
        if not isinstance(forces, Mapping):
            raise ModelError(f"friction of {key}: got {told(forces)}. Expected {{x: expression}}.")
        for x in forces:
            if x not in q:
                raise ModelError(f"friction of {key}: {x} is not among the coordinates {_names(q)}.")
    return tuple(tuple(checked(shares.get(s, {}).get(x, 0), f"friction on {x}") for x in q) for s in S)


def heat(given: Mapping[Entropy, Any] | None, S: Sequence[Entropy], checked: Checked) -> tuple[Expr, ...]:
    """The heat each entropy receives per unit of time."""
    given = given or {}
    if not isinstance(given, Mapping):
        raise ModelError(f"heat: got {told(given)}. Expected {{S: power received}}.")
    for key in given:
        if key not in S:
            raise ModelError(
                f"heat: {key} is not among the entropies{' ' + _names(S) if S else ', of which there are none'}."
            )
    return tuple(checked(given.get(s, 0), f"heat of {s}") for s in S)


def _names(symbols: Sequence[Any]) -> str:
    return ", ".join(s.name for s in symbols)


def check(system: System) -> None:
    """The assumptions of the theory about a thermomechanical system, checked at samples."""
    for S, temperature, row in zip(system.entropies, system.temperatures, system.friction, strict=True):
        if vanishes(temperature):
            idle = "" if not any(row) and not system.heat[system.entropies.index(S)] else ", yet it is heated"
            raise ModelError(
                f"{system.name}: the temperature -dL/d{S} is zero{idle}: the entropy {S} is undetermined. Give its "
                f"internal energy: internal_energy=U({S})."
            )
        if sign_at_samples(temperature) == -1:
            raise ModelError(
                f"{system.name}: the temperature -dL/d{S} is negative. Is the sign of the internal energy right?"
            )
        power = sympy.Add(*(f * v for f, v in zip(row, system.velocities, strict=True)))
        if sign_at_samples(power) == 1:
            warnings.warn(
                f"{system.name}: the friction of {S} does positive work, so it would cool {S} while driving the motion. "
                f"Friction opposes velocity: is its sign right?",
                ModelWarning,
                stacklevel=4,
            )


def mechanical(system: Any, role: str, *, groups: bool = False) -> None:
    """Refuse a system with entropies or reactions of another form, for statements about ordinary mechanics.

    One with rotations is refused too, unless the statement takes `groups`.
    """
    if not groups:
        lines_only(system, role)
    reactions_by_forms(system, role)
    S = getattr(system, "entropies", ())
    if S:
        raise ModelError(
            f"{role}: {system.name!r} has {'the entropy' if len(S) == 1 else 'the entropies'} {_names(S)}. Expected a "
            f"mechanical system, whose motion does not depend on heat. State the mechanical part alone, as a System without "
            f"entropies, friction and heat; or compute the whole and read its laws: "
            f"dalembert.audit(dalembert.simulate(system, ...))."
        )


@dataclass(frozen=True)
class Conductor:
    """A conductor of heat between two bodies; `to` is an entropy, or the temperature of a reservoir."""

    body: Entropy
    to: Any
    conductance: Expr

    @property
    def is_internal(self) -> bool:
        """Whether both ends are bodies of the system, so that no heat enters or leaves it."""
        return isinstance(self.to, Entropy)


def conductors(
    given: Mapping[tuple[Any, Any], Any] | None, S: Sequence[Entropy], checked: Checked, sign: Callable[[Expr], int]
) -> tuple[Conductor, ...]:
    """Check {(S1, S2): conductance}; (S, T) and (T, S) are two parallel conductors, which are added."""
    found: dict[tuple[Any, Any], Expr] = {}
    if not (given is None or isinstance(given, Mapping)):
        raise ModelError(f"conduction: got {told(given)}. Expected {{(S1, S2): conductance}}.")
    for pair, conductance in (given or {}).items():
        if not (isinstance(pair, tuple) and len(pair) == 2 and any(end in S for end in pair)):
            raise ModelError(
                f"conduction: {told(pair)} is not a pair of bodies. Write {{(S1, S2): conductance}}, with entropies of this "
                f"system{' (' + _names(S) + ')' if S else ''} or the temperature of a reservoir."
            )
        body, to = pair if pair[0] in S else pair[::-1]
        k = checked(conductance, "conductance")
        if sign(k) == -1:
            raise ModelError(f"conduction between {body} and {to}: the conductance {k} is negative.")
        ends = (body, to if to in S else checked(to, "temperature of a reservoir", False))
        found[ends] = found.get(ends, sympy.S.Zero) + k
    return tuple(Conductor(*ends, k) for ends, k in found.items())


def conducted(system: System, temperatures: Sequence[Any] | None = None) -> list[Any]:
    """The heat each entropy receives by conduction: conductance times difference of temperature, as given or those of L."""
    known = dict(zip(system.entropies, temperatures or system.temperatures, strict=True))
    received: dict[Any, Any] = dict.fromkeys(system.entropies, sympy.S.Zero)
    for c in system.conduction:
        flow = c.conductance * (known.get(c.to, c.to) - known[c.body])
        received[c.body] += flow
        if c.is_internal:
            received[c.to] -= flow
    return list(received.values())
