"""The two laws for a system: what changes its energy, and what produces entropy in it.

    dE/dt = F_ext . v - dL/dt + reactions . v + heat received
    dS_a/dt = (friction heat of a + heat conducted to a + heat received by a) / T_a

The first is a theorem about Lagrange's equations: friction is not in it, because the mechanical energy it removes becomes
internal energy of the bodies. In the second, friction heat over temperature is produced in body a; conduction produces
entropy between bodies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy
from sympy import Expr

from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError, told
from ...model.coordinates import Entropy, time
from ...model.heat import conducted
from ...model.principle import reactions_by_forms
from ...model.system import System
from ...symbolic import Fast, fast
from ..motion.energies import meaning
from ..motion.lagrange import jacobi_integral, multipliers, reaction, readable
from .energy_and_momenta import reaction_is_idle

# -------------------- the terms, on the way to numbers --------------------


def external_power(system: System) -> Fast:
    """F_ext . v - dL/dt: the power of external forces, and of whatever makes the Lagrangian depend on time."""
    power = (fast(f) * fast(v) for f, v in zip(system.external_force, system.velocities, strict=True))
    return sum(power, start=-fast(system.lagrangian).diff(fast(time)))


def reaction_power(system: System) -> Fast:
    """lambda_a omega^a . v, which vanishes for ideal constraints that do not move."""
    power = (r * fast(v) for r, v in zip(reaction(system), system.velocities, strict=True))
    return sum(power, start=fast(0))


def friction_heat(system: System) -> list[Fast]:
    """For each entropy, the power that friction turns into heat: -F_a . v."""
    v = [fast(x) for x in system.velocities]
    return [sum((-fast(f) * x for f, x in zip(row, v, strict=True)), start=fast(0)) for row in system.friction]


def outside_heat(system: System) -> list[Fast]:
    """For each entropy, the heat it receives from outside the system per unit of time: given, or from reservoirs."""
    given = {S: fast(P) for S, P in zip(system.entropies, system.heat, strict=True)}
    known = dict(zip(system.entropies, system.temperatures, strict=True))
    for c in system.conduction:
        if not c.is_internal:
            given[c.body] += fast(c.conductance) * (fast(c.to) - fast(known[c.body]))
    return list(given.values())


def exchanged_heat(system: System) -> list[Fast]:
    """For each entropy, the heat it receives from the other bodies per unit of time."""
    whole = zip(conducted(system), outside_heat(system), system.heat, strict=True)
    return [fast(every) - (outside - fast(given)) for every, outside, given in whole]


# -------------------- display --------------------


@dataclass(frozen=True, repr=False)
class EnergyBalance(Shown):
    """The first law: the rate of the energy is the sum of the powers.

    energy:  the total energy, mechanical and internal; in a moving frame the Jacobi integral, which obeys this law there
    powers:  {what: power}, the terms that are not zero
    friction: whether friction acts; its work stays inside and is not among the powers
    """

    system: System
    energy: Expr
    powers: Mapping[str, Expr]
    friction: bool

    @property
    def name(self) -> str:
        """The name of the quantity: energy, or Jacobi integral in a moving frame."""
        return meaning(self.system).name

    @property
    def rate(self) -> Expr:
        """dE/dt along every motion."""
        return sympy.Add(*self.powers.values())

    @property
    def sentence(self) -> str:
        """What changes the energy, in words."""
        inside = " What friction takes from the motion becomes internal energy." if self.friction else ""
        if not self.powers:
            return f"The {self.name} is conserved.{inside}"
        return f"The {self.name} changes by {' and '.join(self.powers)}.{inside}"

    def _parts(self) -> list[Part]:
        rows = [(f"    {what}", power) for what, power in self.powers.items()]
        return [f"{self.system.name}: first law", (self.name, self.energy), ("dE/dt", self.rate), *rows, self.sentence]


def energy_balance(system: System) -> EnergyBalance:
    """The first law of a system: its energy, and every power that changes it."""
    _check(system, "energy_balance")
    reactions_by_forms(system, "energy_balance")
    slope = -fast(system.lagrangian).diff(fast(time))
    terms = {
        "the work of external forces": external_power(system) - slope,
        "the work of what makes the Lagrangian depend on time": slope,
        "the work of reactions": reaction_power(system),
        "heat from outside": sum(outside_heat(system), start=fast(0)),
    }
    if system.is_ideal:  # then reactions work only as far as constraints move: -lambda_a b_a
        terms["the work of reactions"] = _moving(system)
    powers = {what: readable(power, system) for what, power in terms.items() if not vanishes(power)}
    rubs = any(not vanishes(f) for f in friction_heat(system))
    return EnergyBalance(system, readable(jacobi_integral(system), system), powers, rubs)


def _moving(system: System) -> Fast:
    """The power of the reactions of ideal constraints, where the constraints hold."""
    power = fast(0)
    for m, c in zip(multipliers(system), system.constraints, strict=True):
        if c.is_linear:
            power -= fast(m) * fast(c.drift)
        elif not reaction_is_idle(c, system):
            pairs = zip(c.coefficients, system.velocities, strict=True)
            power += fast(m) * sum((fast(a) * fast(v) for a, v in pairs), start=fast(0))
    return power


@dataclass(frozen=True, repr=False)
class EntropyProduction(Shown):
    """The second law: entropy production, and entropy received with heat.

    bodies:      for each entropy, what friction produces in it per unit of time
    conduction:  what conduction between the bodies produces
    received:    for each entropy, entropy received with heat from outside: heat over the temperature of the body
    """

    system: System
    bodies: Mapping[Entropy, Expr]
    conduction: Expr
    received: Mapping[Entropy, Expr]

    @property
    def total(self) -> Expr:
        """All entropy produced in the system per unit of time."""
        return sympy.Add(*self.bodies.values(), self.conduction)

    @property
    def rate(self) -> Expr:
        """d/dt of all entropies together: what is produced and what is received."""
        return sympy.Add(self.total, *self.received.values())

    @property
    def sentence(self) -> str:
        """What the second law says of this system, in words."""
        closed = not any(self.received.values())
        if self.total == 0:
            return (
                "Nothing produces entropy: it is conserved." if closed else "Nothing produces entropy; heat carries it."
            )
        rest = "so the total entropy never falls" if closed else "the rest of the change comes with heat"
        where = "where temperatures and conductances are positive and friction opposes motion"
        return f"Production is not negative {where}; {rest}."

    def _parts(self) -> list[Part]:
        produced: list[Part] = [(f"produced in {S} by friction", e) for S, e in self.bodies.items() if e != 0]
        produced += [("produced by conduction", self.conduction)] if self.conduction != 0 else []
        received = [(f"received by {S} with heat", e) for S, e in self.received.items() if e != 0]
        return [f"{self.system.name}: second law", *produced, *received, self.sentence]


def entropy_production(system: System) -> EntropyProduction:
    """The second law of a system: the entropy produced in each body and between them, and the entropy received with heat."""
    _check(system, "entropy_production")
    S, T = system.entropies, [fast(temperature) for temperature in system.temperatures]
    if not S:
        raise ModelError(
            f"entropy_production: {system.name!r} has no entropies. Give the system entropies=[S] and internal_energy=U(S)."
        )
    known = dict(zip(S, T, strict=True))
    between = (  # k (T2 - T1) reaches body 1 at T1 and leaves body 2 at T2
        fast(c.conductance) * (known[c.to] - known[c.body]) ** 2 / (known[c.body] * known[c.to])
        for c in system.conduction
        if c.is_internal
    )

    def shares(heat: list[Fast]) -> dict[Entropy, Expr]:
        return {s: readable(P / T_, system) if P != 0 else sympy.S.Zero for s, P, T_ in zip(S, heat, T, strict=True)}

    conduction = readable(sum(between, start=fast(0)), system)
    return EntropyProduction(system, shares(friction_heat(system)), conduction, shares(outside_heat(system)))


def _check(system: System, name: str) -> None:
    if not isinstance(system, System):
        raise ModelError(f"{name}: got {told(system)}. Expected a System: {name}(system).")
