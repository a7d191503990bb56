"""One `reduce` for systems and for discrete systems: the public function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

from ...errors import ModelError
from ...model.bodies.assembly import Assembly
from ...model.coordinates import Coordinate
from ...model.space import no_carried_axes
from ...model.system import System
from ...theory.reduction import reduced as continuous
from ...theory.reduction.momentum_reduction import MomentumReduction, reduce_to_level
from ...theory.reduction.symmetry import Symmetry
from ...theory.reduction.symmetry_search import FoundSymmetry, symmetry_of
from ..system import DiscreteSystem
from .connection import DiscreteConnection
from .reduced_system import ReducedDiscreteSystem, reduce_discrete


@overload
def reduce(
    system: System | Assembly,
    symmetry: Symmetry | FoundSymmetry,
    *,
    section: Mapping[Coordinate, Any] | None = None,
    momentum: None = None,
    metric: Any = None,
    lift: Mapping[Coordinate, Mapping[Any, Any]] | None = None,
) -> continuous.ReducedSystem: ...


@overload
def reduce(
    system: System | Assembly,
    symmetry: Symmetry | FoundSymmetry,
    *,
    section: Mapping[Coordinate, Any] | None = None,
    momentum: Mapping[Any, Any],
    metric: Any = None,
    lift: Mapping[Coordinate, Mapping[Any, Any]] | None = None,
) -> MomentumReduction: ...


@overload
def reduce(
    system: DiscreteSystem,
    symmetry: Symmetry | FoundSymmetry,
    *,
    section: Mapping[Coordinate, Any] | None = None,
    connection: DiscreteConnection | None = None,
    momentum: Mapping[Any, Any] | None = None,
    metric: Any = None,
    lift: Mapping[Coordinate, Mapping[Any, Any]] | None = None,
) -> ReducedDiscreteSystem: ...


def reduce(
    system: Any,
    symmetry: Symmetry | FoundSymmetry,
    *,
    section: Mapping[Coordinate, Any] | None = None,
    connection: DiscreteConnection | None = None,
    momentum: Mapping[Any, Any] | None = None,
    metric: Any = None,
    lift: Mapping[Coordinate, Mapping[Any, Any]] | None = None,
) -> Any:
    """A system, or a discrete system, reduced by a symmetry that leaves it invariant: in shape variables and the group's.

    symmetry:   a `Symmetry`, or one that `symmetries` has found; its action must be free and leave Lagrangian, forces,
                constraints and variations invariant
    section:    one configuration of every shape: {coordinate: number} for as many coordinates as the group has elements, of
                discrete systems also {coordinate: expression in the shape coordinates}; found if left out

    momentum:   {element: value}: the level of the momentum to reduce to, in Routh's way; of discrete systems for horizontal
                symmetries

    metric:     the metric that splits the directions, a symmetric matrix in the coordinates (its values on the section count);
                by default the kinetic one
    lift:       {r: {element: expression in shapes}}, the connection itself: xi of a horizontal velocity, by shape velocities
    connection: a `DiscreteConnection`, for discrete systems; by default that of the kind of symmetry: the discrete constraints
                themselves (Chaplygin), a level of the momentum (horizontal, with `momentum`), else the one along the section
    """
    given = symmetry_of(symmetry)
    if isinstance(system, DiscreteSystem):
        no_carried_axes(system, "reduce")
        return reduce_discrete(
            system, given, section=section, momentum=momentum, connection=connection, metric=metric, lift=lift
        )
    if connection is not None:
        raise ModelError(
            "reduce: connection is for discrete systems. Discretise the system first, such as "
            "reduce(discretise(system, midpoint_map), symmetry, connection=...), or leave it out."
        )
    reduced = continuous.reduce(system, given, section=section, metric=metric, lift=lift)
    return reduced if momentum is None else reduce_to_level(reduced, momentum)
