"""Methods whose steps are equal in a time of their own: the time of each node is part of the state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

from ..model.space import groups
from ..model.system import System
from ..symbolic import Fast, fast, free_names, gradient, jacobian, substitution, total
from ..theory.motion.lagrange import momenta
from ..waist.stepmap import Block
from .base import Method
from .reference import Reference


class OwnTimeMethod(Method):
    """An integrator of a time-transformed system: h is a step of its own time, and the state has the time t of each node.

    A step may be long where the motion is slow and short where it is fast, and still be one formula for all states, so that
    it can be symmetric or symplectic in the extended state. With steps that are chosen from errors it cannot.
    """

    adaptive = True
    steps_told = "takes steps of one length in a time of its own"

    @abstractmethod
    def own_start(self, system: System) -> dict[str, Fast]:
        """What the state has after positions and velocities or momenta, in its order, as functions of q, v and t."""

    def _objection(self, system: System) -> str:
        if system.constraints:
            return "it has constraints, and reactions are not taken into the time of the method."
        if groups(system.coordinates):
            return "it has rotations, and the time of the method is a function of coordinates that are numbers."
        return super()._objection(system)

    def instead(self) -> list[Method]:
        """First of all a method that adapts its steps by errors."""
        return [Reference(), *super().instead()]


def velocity_block(system: System, ending: str, p: Sequence[Fast], at: Callable[[Fast], Fast]) -> Block:
    """The velocities, named with an ending, whose momenta are p at a place: linear where T is quadratic."""
    names = tuple(f"{v.name}.{ending}" for v in system.velocities)
    named = substitution({v.name: fast(name) for v, name in zip(system.velocities, names, strict=True)})
    return Block(names, tuple(a - at(named(b)) for a, b in zip(p, momenta(system), strict=True)))


def is_quadratic(system: System) -> bool:
    """Whether momenta are linear in the velocities."""
    slopes = [e for row in jacobian(momenta(system), system.velocities) for e in row]
    return not free_names(slopes) & {v.name for v in system.velocities}


def rate(system: System, expression: Fast, velocities: Sequence[Fast]) -> Fast:
    """The rate of a function of positions and time along the motion."""
    slopes = gradient(expression, system.coordinates)
    return total([*(s * v for s, v in zip(slopes, velocities, strict=True)), gradient(expression, ["t"])[0]])
