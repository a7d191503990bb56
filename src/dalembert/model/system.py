"""What a mechanical system is: coordinates, a Lagrangian, forces, constraints and variations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr

from ..errors import ModelError
from . import checks
from .constraints import Constraint, constraint, variation
from .coordinates import Coordinate, Parameter, Velocity

if TYPE_CHECKING:
    from ..theory.lagrange import Equations


@dataclass(frozen=True, init=False, repr=False)
class System:
    """A mechanical system, immutable and complete: everything given is checked here.

    name:           what to call it
    coordinates:    the list of coordinates, from `dalembert.coordinates`
    kinetic, potential, or lagrangian:  L = kinetic - potential, or L itself
    forces:         {x: expression} is added to the right-hand side of the equation of x
    dissipation:    a Rayleigh function R; the force -dR/d(x.dot) is added to the equation of x
    constraints:    expressions (or SymPy equations) that vanish: holonomic phi(q, t) or kinematic A(q, t) v + b(q, t)
    variations:     one-forms that vanish on virtual displacements, written with velocities in place of displacements;
                    by default those of the constraints (d'Alembert)
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    lagrangian: Expr
    kinetic: Expr | None
    potential: Expr | None
    forces: tuple[Expr, ...]
    dissipation: Expr
    constraints: tuple[Constraint, ...]
    variations: tuple[tuple[Expr, ...], ...]
    parameters: tuple[Parameter, ...]

    def __init__(
        self,
        name: str,
        coordinates: Sequence[Coordinate],
        *,
        kinetic: Any = None,
        potential: Any = None,
        lagrangian: Any = None,
        forces: Mapping[Coordinate, Any] | None = None,
        dissipation: Any = 0,
        constraints: Sequence[Any] = (),
        variations: Sequence[Any] | None = None,
    ):
        q = checks.coordinates(coordinates)
        known = {s for c in q for s in (c, c.dot)}

        def checked(given: Any, role: str) -> Expr:
            return checks.symbols(checks.expression(given, role), known, role)

        def put(**fields: Any) -> None:
            for field, value in fields.items():
                object.__setattr__(self, field, value)

        rows = tuple(constraint(checked(c, "constraint"), q) for c in _listed(constraints, "constraints"))
        put(
            name=str(name),
            coordinates=q,
            **_energies(kinetic, potential, lagrangian, checked),
            forces=_forces(forces or {}, q, checked),
            dissipation=checked(dissipation, "dissipation"),
            constraints=rows,
            variations=_variations(variations, rows, q, checked),
        )
        put(parameters=checks.parameters(self._expressions(), q))
        checks.substituted_constraint(self)
        checks.regular(self)

    def _expressions(self) -> tuple[Expr, ...]:
        rows = [a for w in self.variations for a in w]
        return (
            self.lagrangian,
            *self.forces,
            self.dissipation,
            *(c.expression for c in self.constraints),
            *rows,
        )

    @property
    def velocities(self) -> tuple[Velocity, ...]:
        """The velocities, in the order of the coordinates."""
        return tuple(q.dot for q in self.coordinates)

    @cached_property
    def force(self) -> tuple[Expr, ...]:
        """The whole non-conservative force on each coordinate: `forces` minus the gradient of the dissipation."""
        return tuple(f - self.dissipation.diff(v) for f, v in zip(self.forces, self.velocities, strict=True))

    @property
    def holonomic(self) -> tuple[Constraint, ...]:
        """The constraints on positions."""
        return tuple(c for c in self.constraints if c.is_holonomic)

    @property
    def kinematic(self) -> tuple[Constraint, ...]:
        """The constraints on velocities."""
        return tuple(c for c in self.constraints if not c.is_holonomic)

    @property
    def is_ideal(self) -> bool:
        """Whether the variations are those of the constraints, so that reactions do no virtual work."""
        return all(
            sympy.expand(a - b) == 0
            for w, c in zip(self.variations, self.constraints, strict=True)
            for a, b in zip(w, c.coefficients, strict=True)
        )

    @property
    def energies(self) -> dict[str, Expr]:
        """What the system was given by: {"lagrangian": L}, or {"kinetic": ..., "potential": ...}."""
        if self.kinetic is None or self.potential is None:
            return {"lagrangian": self.lagrangian}
        return {"kinetic": self.kinetic, "potential": self.potential}

    def without_constraints(self) -> System:
        """The same system, free: what a method works with that treats constraints by itself."""
        forces = dict(zip(self.coordinates, self.forces, strict=True))
        return System(self.name, self.coordinates, **self.energies, forces=forces, dissipation=self.dissipation)

    def equations(self) -> Equations:
        """Lagrange's equations with multipliers and constraints; see `Equations`."""
        from ..theory.lagrange import equations

        return equations(self)

    def __repr__(self) -> str:
        parts = [f"coordinates {', '.join(c.name for c in self.coordinates)}"]
        if self.parameters:
            parts.append(f"parameters {', '.join(p.name for p in self.parameters)}")
        if self.constraints:
            kinds = [f"{len(g)} {k}" for k, g in (("holonomic", self.holonomic), ("kinematic", self.kinematic)) if g]
            parts.append(f"{' and '.join(kinds)} constraint{'s' if len(self.constraints) > 1 else ''}")
        return f"<System {self.name!r}: {'; '.join(parts)}>"


def _listed(given: Any, role: str) -> Sequence[Any]:
    try:
        if isinstance(given, sympy.Basic | str | Mapping):
            raise TypeError
        return list(given)
    except TypeError:
        raise ModelError(f"{role}: got {given!r}. Expected a list: {role}=[{given}].") from None


def _energies(kinetic: Any, potential: Any, lagrangian: Any, checked: Any) -> dict[str, Expr | None]:
    """The Lagrangian; and its two parts, where it was given by them."""
    if lagrangian is not None and (kinetic is not None or potential is not None):
        raise ModelError("give either lagrangian= or kinetic= (and potential=), not both.")
    if lagrangian is not None:
        return {"lagrangian": checked(lagrangian, "lagrangian"), "kinetic": None, "potential": None}
    if kinetic is None:
        raise ModelError("no kinetic energy was given. Write kinetic=... (and potential=...), or lagrangian=....")
    T, V = checked(kinetic, "kinetic"), checked(0 if potential is None else potential, "potential")
    return {"lagrangian": T - V, "kinetic": T, "potential": V}


def _forces(forces: Mapping[Coordinate, Any], q: tuple[Coordinate, ...], checked: Any) -> tuple[Expr, ...]:
    if not isinstance(forces, Mapping):
        raise ModelError(
            f"forces: got {forces!r}. Expected {{coordinate: expression}}, for example forces={{{q[0]}: 1}}."
        )
    for key in forces:
        if key not in q:
            raise ModelError(
                f"forces: {key} is not a coordinate of this system. Its coordinates are "
                f"{', '.join(c.name for c in q)}; write forces={{{q[0]}: ...}}."
            )
    return tuple(checked(forces.get(c, 0), f"force on {c}") for c in q)


def _variations(
    given: Sequence[Any] | None, rows: tuple[Constraint, ...], q: tuple[Coordinate, ...], checked: Any
) -> tuple[tuple[Expr, ...], ...]:
    if given is None:
        return tuple(c.coefficients for c in rows)
    listed = _listed(given, "variations")
    if len(listed) != len(rows):
        raise ModelError(
            f"variations: got {len(listed)}, but there are {len(rows)} constraints. Give one one-form per constraint, or "
            f"leave variations out to take those of the constraints."
        )
    return tuple(variation(checked(w, "variation"), q) for w in listed)
