"""What two neighbouring positions of a motion say: momenta at both ends of the step, reactions and constraints."""

from __future__ import annotations

from typing import Any

from ..model.coordinates import step, time
from ..model.space import numbers, to_numbers
from ..symbolic import Fast, fast, gradient, substitution
from ..waist.stepmap import StepMap, pointwise
from .equations import node_reaction, slots, step_momenta, step_velocity, transported
from .system import DiscreteSystem

LENGTH = "step.length"
"""The input that holds the step h."""


def momenta_of_positions(system: DiscreteSystem) -> StepMap:
    """(q0, (q1 - q0)/h, h, t) -> the momenta p0-, p1+ of a step, h omega^a at q0, and the constraints.

    Outputs are "leaving i", "arriving i", "reaction a i" and "constraint a". At a node p- = p+ + h lambda_a omega^a.
    """
    q, h = system.coordinates, fast(step)
    momenta, held = step_momenta(system), to_numbers(q)
    here, sized = substitution(slots(system)), substitution({step: fast(LENGTH)})
    found: dict[str, Fast] = {f"leaving {i}": e for i, e in enumerate(momenta.leaving)}
    found |= {f"arriving {i}": e for i, e in enumerate(transported(q, momenta.leaving, momenta, h))}
    unknown: list[Any] = list(system.multipliers)
    for i, r in enumerate(node_reaction(system)):
        found |= {f"reaction {a} {i}": h * e for a, e in enumerate(gradient(r, unknown))}
    found |= {f"constraint {a}": here(chi) for a, chi in enumerate(system.constraints)}
    inputs = [*numbers(q), *(step_velocity(c).name for c in q), LENGTH, time.name]
    outputs = {name: sized(held(e)) for name, e in found.items()}
    return pointwise(f"{system.name}, momenta of positions", inputs, [p.name for p in system.parameters], outputs)
