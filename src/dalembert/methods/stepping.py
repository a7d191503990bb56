"""One interface to steps: a system with a method, or a discrete system, which is its own method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..discrete.equations import step_map
from ..discrete.flow import backward_step_map
from ..discrete.system import DiscreteSystem
from ..errors import MethodError
from ..model.space import groups
from ..model.system import System
from ..waist.derived_steps import backward as undone
from ..waist.stepmap import StepMap
from .base import Method, VariationalMethod


@dataclass(frozen=True)
class Stepping:
    """A system and its method; the method of a discrete system is None, and so is a user's own method in a loaded run."""

    system: System | DiscreteSystem
    method: Method | None = None

    @property
    def discrete(self) -> DiscreteSystem | None:
        """The discrete system whose motions are computed; None for methods that are not variational."""
        if (own := self.system.discrete) is not None:
            return own
        system = self.system.continuous
        if system is None or not isinstance(self.method, VariationalMethod):
            return None
        return self.method.discrete_system(system)

    @property
    def carries(self) -> Literal["momentum", "velocity"] | None:
        """What the state holds besides positions; None where the method is not known."""
        if self.system.discrete is not None:
            return "momentum"
        return None if self.method is None else self.method.carries

    def step_map(self, role: str = "step_map") -> StepMap:
        """One step; its parameters are those of the system, in that order, since values go by position, not by name."""
        if (own := self.system.discrete) is not None:
            return step_map(own)
        system = self.system.continuous
        if self.method is None or system is None:
            raise MethodError(
                f"{role}: this run was loaded, and its method, which is one of your own, is not in the file. Compute it again."
            )
        made, names = self.method.step_map(system), tuple(p.name for p in system.parameters)
        if made.parameters != names:
            raise MethodError(
                f"{self.method!r}: its step has the parameters ({', '.join(made.parameters)}), and {self.system.name} has "
                f"({', '.join(names)}). Write tuple(p.name for p in system.parameters) in its step_map."
            )
        return made

    def backward(self, role: str) -> tuple[StepMap, int]:
        """A step map that inverts a step of h, and the sign of its step; for a symmetric method its own step with -h.

        Under constraints momenta after a step do not determine those before it; the discrete principle selects them.
        """
        if self.system.constraints and (discrete := self.discrete) is not None:
            for g in groups(self.system.coordinates):
                raise MethodError(
                    f"{role}: {self.system.name!r} has constraints and the {g.noun} {g.name}; under constraints steps are "
                    f"undone for coordinates that are numbers only. Use a method with velocities, such as RungeKutta4()."
                )
            return backward_step_map(discrete), 1
        one = self.step_map(role)
        if self.method is not None and self.method.symmetric:
            return one, -1
        try:
            return undone(one), -1
        except ValueError as error:
            raise MethodError(f"{role}: {error} Use a symmetric method.") from None
