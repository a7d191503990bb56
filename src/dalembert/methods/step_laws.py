"""The changes of energy and entropy in one step of a method, by the method's own sums.

`Method.laws(system)` gives, in the symbols of the step map (state, unknowns, time, step):

    work           of external forces, and of explicit time in the Lagrangian
    reactions      the work of reactions; left out by methods whose multipliers belong to nodes, not to steps
    heat           received from outside
    received.S     the entropy that this heat brings into S
    exchanged.S    the entropy that heat from the other bodies brings into S

The first law is  change of energy = work + reactions + heat.  The entropy that friction produces in S is the change of S
minus received and exchanged; the entropy production of the system is the change of all entropies minus received.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..discrete.equations import step_velocity
from ..discrete.maps import Density
from ..model.coordinates import step, time
from ..model.system import System
from ..symbolic import Fast, Vector, fast, substitute, vector
from ..theory.conserved.two_laws import exchanged_heat, external_power, outside_heat

DiscreteLagrangian = Callable[[Density, Vector, Vector, Fast, Fast], Fast]


def entropy_flows(
    system: System, outside: Sequence[Fast], exchanged: Sequence[Fast], T: Sequence[Fast]
) -> dict[str, Fast]:
    """The entropy that comes with heat, given heats and temperatures of a step."""
    return {
        f"{word}.{S.name}": P / temperature
        for word, heats in (("received", outside), ("exchanged", exchanged))
        for S, P, temperature in zip(system.entropies, heats, T, strict=True)
    }


def variational_laws(system: System, rule: DiscreteLagrangian) -> dict[str, Fast]:
    """The laws of a variational method, all by the rule of its discrete Lagrangian."""
    whole, h = (*system.coordinates, *system.entropies), fast(step)
    q0, rate = vector(list(whole)), vector([step_velocity(c) for c in whole])

    def applied(expression: Any) -> Fast:
        def density(position: Vector, velocity: Vector, instant: Fast) -> Fast:
            places = {c: position[i] for i, c in enumerate(whole)} | {c.dot: velocity[i] for i, c in enumerate(whole)}
            return substitute(expression, {**places, time: instant})

        return rule(density, q0, q0 + h * rate, fast(time), h)

    outside, exchanged = [applied(P) for P in outside_heat(system)], [applied(P) for P in exchanged_heat(system)]
    T = [applied(temperature) / h for temperature in system.temperatures]
    return {
        "work": applied(external_power(system)),
        "heat": sum(outside, start=fast(0)),
        **entropy_flows(system, outside, exchanged, T),
    }
