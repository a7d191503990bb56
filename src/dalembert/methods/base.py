"""What an integrator is: a small frozen object with a formula and claims, each of which a test checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Mapping
from typing import Any, ClassVar, Literal

from ..discrete.equations import step_map
from ..discrete.interior import interior_refusal
from ..discrete.maps import Density
from ..discrete.system import DiscreteSystem, discretise
from ..errors import MethodError
from ..model.space import groups
from ..model.system import System
from ..numbers import is_whole
from ..symbolic import Fast, Vector
from ..theory.motion.degeneracy import is_degenerate
from ..waist.stepmap import StepMap
from .step_laws import variational_laws

SUGGESTED = (
    "StormerVerlet", "Midpoint", "Gauss", "Lobatto", "GeometricNonholonomic", "McLachlanPerlmutter", "DiscreteGradient",
    "Galerkin", "DormandPrince8",
)  # fmt: skip
"""Methods suggested where one does not apply: the first two of these that do."""

NONLINEAR = "a constraint is nonlinear in the velocities."


def is_size(given: object, sizes: Container[int]) -> bool:
    """Whether a number of stages or nodes is a whole number among those allowed; 2.0 and True are not."""
    return is_whole(given) and given in sizes


QUANTITIES = ("positions", "velocities", "momenta", "multipliers", "energy", "entropies")
"""The quantities a method computes; each has its own order of convergence."""


class Method(ABC):
    """An integrator. Its claims are class attributes; `tests/conformance` checks every one of them.

    order:        the error of every quantity over a fixed time is O(h^order), those in `lower_orders` excepted
    symplectic:   the step preserves dq ^ dp on free systems
    symmetric:    a step backward undoes a step forward
    momentum:     momenta of cyclic coordinates are conserved to rounding
    constraints:  constraints hold on every step to the tolerance of the solver
    energy:       the energy of a conservative system is conserved, to the accuracy of a quadrature
    first_law:    the total energy changes by external work and heat alone, to the accuracy of a quadrature
    second_law:   friction lowers no entropy and conduction not their sum, whatever the step, where temperatures are positive
    """

    order: ClassVar[int]
    symplectic: ClassVar[bool] = False
    symmetric: ClassVar[bool] = False
    momentum: ClassVar[bool] = False
    constraints: ClassVar[bool] = False
    energy: ClassVar[bool] = False
    first_law: ClassVar[bool] = False
    second_law: ClassVar[bool] = False

    lower_orders: ClassVar[Mapping[str, int]] = {}
    """The quantities whose order is lower than `order`, and their orders: {"multipliers": 2}."""

    reference: ClassVar[str] = ""
    """The source in the literature."""

    impulsive: ClassVar[bool] = False
    """Whether momenta at the nodes lack part of the reaction there, so that velocities follow by projection."""

    node_multipliers: ClassVar[bool] = True
    """Whether the multipliers of the step are as accurate as the method; if not, those of the state are taken."""

    composable_constrained: ClassVar[int] = 8
    """The highest order that compositions of this method were found to reach under constraints."""

    adaptive: ClassVar[bool] = False
    """Whether the lengths of its steps follow the motion: by errors, or in a time of its own, in which h is the step."""

    steps_told: ClassVar[str] = "is adaptive"
    """What messages say about the steps of a method for which `adaptive` holds."""

    thermal: ClassVar[bool] = False
    """Whether it takes systems with entropies."""

    degenerate_masses: ClassVar[bool] = False
    """Whether it takes singular mass matrices where, with the constraints, accelerations are determined."""

    groups: ClassVar[bool] = False
    """Whether it takes coordinates with values in groups, such as rotations."""

    carried_multipliers: ClassVar[bool] = False
    """Whether it takes principles whose multipliers obey differential equations and are part of the state."""

    whole_equations: ClassVar[bool] = False
    """Whether it solves the equations of motion as a whole, so that it takes reactions that contain accelerations."""

    interior: ClassVar[tuple[Any, ...]] = ()
    """The fractions of the step at which the method has positions of its own; constraints would have to hold there too."""

    carries: ClassVar[Literal["momentum", "velocity"]]
    """What the state holds besides positions."""

    def order_in(self, quantity: str) -> int:
        """The order with which a quantity converges: positions, velocities, momenta, multipliers, energy or entropies."""
        unknown = sorted({quantity, *self.lower_orders} - set(QUANTITIES))
        if unknown:
            raise MethodError(f"{self!r}: {unknown[0]!r} is no quantity. The quantities are: {', '.join(QUANTITIES)}.")
        return min(self.order, self.lower_orders.get(quantity, self.order))

    def obstacle(self, system: System) -> str:
        """Why the method does not apply to the system; an empty text if it does."""
        return ""

    def takes(self, system: System) -> bool:
        """Whether the method applies to the system."""
        return not self._objection(system)

    def _objection(self, system: System) -> str:
        if system.entropies and not self.thermal:
            return "it has entropies."
        if (turning := groups(system.coordinates)) and not self.groups:
            return f"{turning[0].name} is a {turning[0].noun}, and its formula is for coordinates that are numbers."
        if why := interior_refusal(self.interior, system.constraints):
            return why
        if system.principle.carried(system) and not self.carried_multipliers:
            return f"under {system.principle!r} its multipliers have a motion of their own."
        if not (self.whole_equations or system.principle.at_nodes(system)):
            return f"{system.principle!r} has reactions that contain accelerations, which single points of a step do not have."
        why = self.obstacle(system)
        if not why and system.constraints and not self.degenerate_masses and is_degenerate(system):
            return "its mass matrix is singular, and only the constraints determine its velocities."
        return why

    def check(self, system: System) -> None:
        """Raise a MethodError if the method does not apply to the system, with the names of two that do."""
        if why := self._objection(system):
            instead = [repr(m) for m in self.instead() if m.takes(system)]
            raise MethodError(
                f"{type(self).__name__} does not apply to {system.name!r}: {why} Use {' or '.join(instead[:2])}."
            )

    def instead(self) -> list[Method]:
        """Methods to be suggested where this one does not apply, the best first."""
        from . import REGISTRY

        return [REGISTRY[name]() for name in SUGGESTED]

    @abstractmethod
    def step_map(self, system: System) -> StepMap:
        """The method applied to a system: one implicit step."""

    def laws(self, system: System) -> dict[str, Fast]:
        """The changes of energy and entropy in a step, by the method's own sums (see `step_laws`); empty without heat."""
        return {}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted(self.__dict__.items()))))


def kinematic_only(system: System) -> str:
    """The obstacle of a method for kinematic constraints; holonomic ones would hold only in their velocities."""
    return "" if system.kinematic and not system.holonomic else "it is for kinematic constraints only."


class VariationalMethod(Method):
    """An integrator given by its discrete Lagrangian; forces and constraints follow from the same formula."""

    momentum = True
    constraints = True
    impulsive = True
    degenerate_masses = True
    groups = True
    carried_multipliers = True
    carries = "momentum"

    def obstacle(self, system: System) -> str:
        """Constraints whose reactions act at nodes must be linear in the velocities, since nodes have no velocities.

        Those that are part of the discrete Lagrangian, with multipliers of the state, may be nonlinear: the rule takes both.
        """
        held = system.principle.carried(system)
        pairs = zip(system.multipliers, system.constraints, strict=True)
        return "" if all(c.is_linear or m in held for m, c in pairs) else NONLINEAR

    @abstractmethod
    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast) -> Fast:
        """L_d(q0, q1), an approximation of the integral of L over the step from t to t + h."""

    def discrete_system(self, system: System) -> DiscreteSystem:
        """The discrete system whose motions this method computes."""
        return discretise(system, self)

    def step_map(self, system: System) -> StepMap:
        """The discrete equations of the discretised system, as one implicit step."""
        self.check(system)
        return step_map(self.discrete_system(system))

    def laws(self, system: System) -> dict[str, Fast]:
        """Energy and entropy by the rule of the discrete Lagrangian."""
        return variational_laws(system, self.discrete_lagrangian) if self.thermal else {}
