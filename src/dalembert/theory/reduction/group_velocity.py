"""The velocity of a group as a factor of the space of the reduced system, so that every method integrates it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sympy import Expr, Symbol

from ...errors import ModelError
from ...model.coordinates import QuasiVelocity
from ...model.group_coordinate import GroupCoordinate
from ...model.groups.velocity_group import VelocityGroup
from ...model.system import System
from .symmetry import Symmetry

if TYPE_CHECKING:
    from .reduced import ReducedSystem

OWNER = "xi"
"""The name of the factor."""


def factor_along(symmetry: Symmetry) -> GroupCoordinate | None:
    """The factor with the structure constants of a symmetry; None if these are no fractions."""
    c, n = symmetry.structure, range(symmetry.dimension)
    constants = {(k, i, j): c[i][j][k] for i in n for j in n for k in n if c[i][j][k] != 0}
    if not all(e.is_Rational for e in constants.values()):
        return None
    exact = {place: Fraction(int(e.p), int(e.q)) for place, e in constants.items()}
    return GroupCoordinate(OWNER, VelocityGroup([g.name for g in symmetry.elements], exact), "exp")


def velocities_along(symmetry: Symmetry) -> dict[Symbol, Any]:
    """{element: the symbol of the component of xi = g^-1 g' along its generator}."""
    factor = factor_along(symmetry)
    if factor is None:
        return {g: QuasiVelocity(f"xi_{g.name}") for g in symmetry.elements}
    return dict(zip(symmetry.elements, (d.dot for d in factor.directions), strict=True))


def system_along(reduced: ReducedSystem) -> System:
    """The System in the shape and the velocity of the group."""
    factor = factor_along(reduced.symmetry)
    if factor is None:
        raise ModelError(
            f"simulate: the brackets of {', '.join(map(str, reduced.symmetry.elements))} contain parameters. Write the action "
            f"with elements whose structure constants are numbers."
        )
    k, forces = len(reduced.shape), reduced.forces
    acting: dict[Any, Any] = {r: f for r, f in zip(reduced.shape, forces, strict=False) if f != 0}
    if any(f != 0 for f in forces[k:]):
        acting[factor] = forces[k:]
    return System(
        f"{reduced.system.name}, reduced",
        [*reduced.shape, factor],
        lagrangian=reduced.lagrangian,
        forces=acting,
        constraints=list(reduced.constraints),
        variations=_variations(reduced),
    )


def _variations(reduced: ReducedSystem) -> list[Expr] | None:
    """Given variations, as expressions in the velocities; None where constraints give them."""
    if not reduced.system.has_own_variations:
        return None
    rows = [reduced.forms.row(i) for i in range(reduced.forms.rows)]
    return [
        sum((a * w for a, w in zip(row, reduced.frame.velocities, strict=True)), start=reduced.lagrangian * 0)
        for row in rows
    ]
