"""What a mechanical system is: coordinates, a Lagrangian, forces, constraints and variations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr

from ..decide.decimals import Typed
from ..errors import ModelError, told
from . import branches, checks, given_forces
from . import heat as thermo
from . import scene as pictures
from .constraints import Constraint, constraint, variation
from .coordinates import Coordinate, Entropy, Multiplier, Parameter, Velocity, multiplier, time
from .group_coordinate import GroupCoordinate
from .principle import GivenVariations, Principle, Rows, checked_forms, principle_of
from .signs import sign_at_samples
from .space import HasSpace, factors, flattened, position_symbols
from .statement import Statement, brief

if TYPE_CHECKING:
    from ..theory.motion.lagrange import Equations


@dataclass(frozen=True, init=False, repr=False)
class System(HasSpace):
    """A mechanical system, immutable and complete: everything given is checked here.

    name:           its name
    coordinates:    the list of coordinates, from `dalembert.coordinates` or `dalembert.rotation`; as an attribute it has
                    the three directions of a rotation in place of it, and `factors` has what was given
    kinetic, potential, or lagrangian:  L = kinetic - potential, or L itself
    entropies:      the list of entropies, from `dalembert.entropies`, that L, forces and heat may depend on
    internal_energy:  U(S, q), subtracted from L; the temperature of S is -dL/dS
    friction:       {x: expression} forces whose work becomes heat of the one entropy, or {S: {x: expression}}
    heat:           {S: power} the heat that S receives per unit of time
    conduction:     {(S1, S2): conductance} adds the heat conductance (T2 - T1) to S1 and takes it from S2; instead of
                    an entropy the temperature of a reservoir may stand
    forces:         {x: expression} is added to the right-hand side of the equation of x; {R: (a, b, c)} is a torque in
                    the body
    dissipation:    a Rayleigh function R; the force -dR/d(x.dot) is added to the equation of x
    constraints:    expressions (or SymPy equations) that vanish: holonomic phi(q, t) or kinematic A(q, t) v + b(q, t)
    variations:     one-forms that vanish on virtual displacements, written with velocities in place of displacements;
                    by default those of the constraints (d'Alembert)
    principle:      how constraints act, `DAlembert()` unless variations are given
    scene:          what it looks like: a list of items of `dalembert.scene`

    Decimals are exact: 9.81 is 981/100 in all decisions and solutions, and is printed as 9.81.
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    lagrangian: Expr
    kinetic: Expr | None
    potential: Expr | None
    entropies: tuple[Entropy, ...]
    internal_energy: Expr
    friction: tuple[tuple[Expr, ...], ...]
    """For each entropy the friction force on each coordinate."""
    heat: tuple[Expr, ...]
    conduction: tuple[thermo.Conductor, ...]
    forces: tuple[Expr, ...]
    dissipation: Expr
    constraints: tuple[Constraint, ...]
    principle: Principle
    variations: Rows
    parameters: tuple[Parameter, ...]
    scene: tuple[pictures.Item, ...] = field(compare=False)
    _typed: dict[Expr, Expr] = field(compare=False)

    def __init__(
        self,
        name: str,
        coordinates: Sequence[Coordinate | GroupCoordinate],
        *,
        kinetic: Any = None,
        potential: Any = None,
        lagrangian: Any = None,
        entropies: Sequence[Entropy] = (),
        internal_energy: Any = 0,
        friction: Mapping[Any, Any] | None = None,
        heat: Mapping[Entropy, Any] | None = None,
        conduction: Mapping[tuple[Any, Any], Any] | None = None,
        forces: Mapping[Coordinate, Any] | None = None,
        dissipation: Any = 0,
        constraints: Sequence[Any] = (),
        variations: Sequence[Any] | None = None,
        principle: Principle | None = None,
        scene: Sequence[pictures.Item] | None = None,
        _by_value: bool = True,  # False for large systems from files, which were checked when they were made
    ):
        q = checks.coordinates(flattened(coordinates))
        S = thermo.entropies(entropies, q)
        known = {*position_symbols(q), *(c.dot for c in q)}
        every = known | set(S)
        typed: dict[Expr, Expr] = {}

        def checked(given: Any, role: str, thermal: bool = True, accelerations: bool = False) -> Expr:
            allowed = (every if thermal else known) | ({c.ddot for c in q} if accelerations else set())
            exact = checks.symbols(stated := checks.expression(given, role), allowed, role)
            typed[exact] = stated
            return exact

        rows = tuple(constraint(checked(c, "constraint", False), q) for c in _listed(constraints, "constraints"))
        acts = principle_of(principle, _variations(variations, rows, q, checked), rows).stated(q, checked)
        U = checked(internal_energy, "internal_energy")
        self._put(
            name=str(name),
            coordinates=q,
            **_energies(kinetic, potential, lagrangian, checked, U),
            entropies=S,
            internal_energy=U,
            friction=thermo.friction(given_forces.friction(friction, q), q, S, checked),
            heat=thermo.heat(heat, S, checked),
            conduction=thermo.conductors(conduction, S, checked, sign_at_samples),
            forces=given_forces.forces(forces or {}, q, checked),
            dissipation=checked(dissipation, "dissipation"),
            constraints=rows,
            principle=acts,
            variations=checked_forms(acts, rows, q),
        )
        self._put(parameters=checks.parameters(self.expressions(), (*q, *S)), _typed=typed)
        self._put(scene=pictures.checked(scene, self.drawable, self.name))
        if why := acts.obstacle(self):
            raise ModelError(f"principle: {acts!r} does not apply to {self.name!r}: {why}")
        if _by_value:
            self._check_by_value()

    def __hash__(self) -> int:
        """By what tells systems apart; the rows of many constraints would take long, and it is asked for often."""
        return hash((self.name, self.coordinates, self.lagrangian))

    def _check_by_value(self) -> None:
        thermo.check(self)
        branches.check(self.name, self.constraints, self.coordinates)
        checks.substituted_constraint(self)
        checks.continuous(self)
        checks.regular(self)

    def _put(self, **fields: Any) -> None:
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    def expressions(self) -> tuple[Expr, ...]:
        """Everything the system was stated with."""
        rows = [*(a for w in self.variations for a in w if a is not sympy.S.Zero), *self.principle.expressions]
        return (
            self.lagrangian,
            *self.forces,
            *(f for row in self.friction for f in row),
            *self.heat,
            *(e for c in self.conduction for e in (c.conductance, c.to)),
            self.dissipation,
            *(c.expression for c in self.constraints),
            *rows,
        )

    def as_typed(self, expression: Expr) -> Expr:
        """An expression that the system was given, with the decimals as they were typed."""
        return self._typed.get(expression, expression)

    @cached_property
    def typed(self) -> Typed:
        """The decimals and fractions that the system was given: needed to print numbers as they were typed."""
        return Typed.of(self._typed.values())

    @property
    def continuous(self) -> System:
        """The system in continuous time: itself. It is None for a `DiscreteSystem`."""
        return self

    @property
    def factors(self) -> tuple[Coordinate | GroupCoordinate, ...]:
        """The coordinates as they were given: those of lines, and rotations."""
        return tuple(f.key for f in factors(self.coordinates))

    @property
    def velocities(self) -> tuple[Velocity, ...]:
        """The velocities, in the order of the coordinates."""
        return tuple(q.dot for q in self.coordinates)

    @property
    def multipliers(self) -> tuple[Multiplier, ...]:
        """The symbols of the multipliers, one per constraint: run[system.multipliers[0]].

        Where the principle makes them data of the start, they are keys there: start={..., system.multipliers[0]: 0.4}.
        """
        return tuple(multiplier(a + 1) for a in range(len(self.constraints)))

    @property
    def drawable(self) -> set[sympy.Symbol]:
        """The symbols that a scene may contain."""
        own = (*position_symbols(self.coordinates), *self.velocities, *self.entropies)
        return {*own, *self.parameters, *self.multipliers, time}

    @cached_property
    def external_force(self) -> tuple[Expr, ...]:
        """The force whose work leaves or enters the system: `forces` minus the gradient of the dissipation."""
        return tuple(f - self.dissipation.diff(v) for f, v in zip(self.forces, self.velocities, strict=True))

    @cached_property
    def force(self) -> tuple[Expr, ...]:
        """The whole non-conservative force on each coordinate: the external force and all friction."""
        return tuple(sympy.Add(f, *(row[i] for row in self.friction)) for i, f in enumerate(self.external_force))

    @cached_property
    def temperatures(self) -> tuple[Expr, ...]:
        """The temperature -dL/dS of each entropy."""
        return tuple(-self.lagrangian.diff(S) for S in self.entropies)

    @cached_property
    def heating(self) -> tuple[Expr, ...]:
        """The power that heats each entropy: heat received, heat conducted to it, and what friction turns into heat."""
        works = (sympy.Add(*(f * v for f, v in zip(row, self.velocities, strict=True))) for row in self.friction)
        return tuple(P + k - work for P, k, work in zip(self.heat, thermo.conducted(self), works, strict=True))

    @cached_property
    def entropy_laws(self) -> tuple[Expr, ...]:
        """What vanishes along a motion, for each entropy: temperature times rate, less the power that heats it."""
        return tuple(T * S.dot - P for S, T, P in zip(self.entropies, self.temperatures, self.heating, strict=True))

    @cached_property
    def heat_received(self) -> Expr:
        """The heat the whole system receives from outside per unit of time."""
        return sympy.Add(*self.heat, *thermo.conducted(self))

    @property
    def holonomic(self) -> tuple[Constraint, ...]:
        """The constraints on positions."""
        return tuple(c for c in self.constraints if c.is_holonomic)

    @property
    def kinematic(self) -> tuple[Constraint, ...]:
        """The constraints on velocities."""
        return tuple(c for c in self.constraints if not c.is_holonomic)

    @cached_property
    def has_own_variations(self) -> bool:
        """Whether the variations are written otherwise than the rows of the constraints, and must be given separately."""
        return self.variations != tuple(c.coefficients for c in self.constraints)

    @cached_property
    def is_ideal(self) -> bool:
        """Whether the variations are those of the constraints, so that reactions do no virtual work.

        One by one, by value. The variation of a constraint at rest may be any multiple of its row; where a constraint
        moves, the power of its reaction is taken to be -lambda b, with the multiplier of the constraint as it is written.
        """
        return self.principle.is_ideal(self)

    @property
    def energies(self) -> dict[str, Expr]:
        """What the system was given by: {"lagrangian": L}, or {"kinetic": ..., "potential": ...}."""
        if self.kinetic is None or self.potential is None:
            return {"lagrangian": self.lagrangian + self.internal_energy}
        return {"kinetic": self.kinetic, "potential": self.potential}

    def replace(self, **changes: Any) -> System:
        """The same system with some arguments of `System` changed: system.replace(forces={x: 1}); all others are kept.

        This is how every system is made from another one. What is kept is checked again: if it does not fit the change
        (a force that contains a coordinate that is gone), it is refused.
        """
        known = self.arguments
        energies = {"kinetic", "potential", "lagrangian"}
        for key in changes:
            if key not in known and key not in energies:
                raise ModelError(
                    f"replace: a system has no {key}. Expected {', '.join(sorted(energies | set(known)))}."
                )
        if "lagrangian" in changes or ("kinetic" in changes and "lagrangian" in known):
            known = {key: value for key, value in known.items() if key not in energies}
        if changes.get("variations") is not None:
            known["principle"] = None  # determined by the variations
        elif "principle" in changes:
            known["variations"] = None
        made = System(**{**known, "scene": None, **changes})._typed_as(self)
        return made if "scene" in changes else made.showing(self.scene, all_or_none=True)

    def showing(self, items: Sequence[pictures.Item], all_or_none: bool = False) -> System:
        """This system with those items as its scene that contain no other symbols than its own."""
        fitting = [i for i in items if i.symbols <= self.drawable]
        if all_or_none and len(fitting) < len(items):  # made for other coordinates: a part of it would mislead
            fitting = []
        self._put(scene=pictures.checked(fitting, self.drawable, self.name))
        return self

    def _typed_as(self, *others: System) -> System:
        """This system, printing decimals as they were typed in the systems it was made from."""
        self._put(_typed={k: v for s in (self, *others) for k, v in s._typed.items()})
        return self

    @property
    def arguments(self) -> dict[str, Any]:
        """Everything the system was given, as arguments of `System`."""
        q = self.coordinates
        forms = [sympy.Add(*(a * c.dot for a, c in zip(w, q, strict=True))) for w in self.variations]
        given = isinstance(self.principle, GivenVariations)
        return {
            "name": self.name,
            "coordinates": self.factors,
            **self.energies,
            **self.thermal,
            "forces": dict(zip(q, self.forces, strict=True)),
            "dissipation": self.dissipation,
            "constraints": [c.expression for c in self.constraints],
            "variations": forms if given else None,
            "principle": None if given else self.principle,
            "scene": self.scene,
        }

    def without_constraints(self) -> System:
        """The same system without constraints and what its principle adds, for methods that treat reactions themselves."""
        return self.replace(constraints=(), variations=None, principle=None)

    @property
    def thermal(self) -> dict[str, Any]:
        """The thermal data of the system, as arguments of `System`."""
        pairs = zip(self.entropies, self.friction, strict=True)
        return {
            "entropies": self.entropies,
            "internal_energy": self.internal_energy,
            "friction": {S: dict(zip(self.coordinates, row, strict=True)) for S, row in pairs},
            "heat": dict(zip(self.entropies, self.heat, strict=True)),
            "conduction": {(c.body, c.to): c.conductance for c in self.conduction},
        }

    def equations(self) -> Equations:
        """Lagrange's equations with multipliers and constraints; see `Equations`."""
        from ..theory.motion.lagrange import equations

        return equations(self)

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write a report: one page with statement, constraints, equations, integrals; see `Trajectory.report` for a motion.

        lang:        "en" or "es"
        parameters:  {m: 1}, which equilibria and modes need; box={x: (-1, 1)} is where they are looked for
        seconds:     how long each search may take
        about:       a text that stands under the title
        """
        from ..report.write_report import system_report

        return system_report(self, path, **options)

    def _repr_markdown_(self) -> str:
        return Statement(self)._repr_markdown_()

    def latex(self) -> str:
        """The statement as LaTeX, for a paper: energies, forces, constraints."""
        return Statement(self).latex()

    def __repr__(self) -> str:
        return brief(self)


def _listed(given: Any, role: str) -> Sequence[Any]:
    try:
        if isinstance(given, sympy.Basic | str | Mapping):
            raise TypeError
        return list(given)
    except TypeError:
        raise ModelError(
            f"{role}: got {told(given)}. Expected a list: {role}=[{given if isinstance(given, str) else told(given)}]."
        ) from None


def _energies(kinetic: Any, potential: Any, lagrangian: Any, checked: Any, U: Expr) -> dict[str, Expr | None]:
    """The Lagrangian; and its two parts, where it was given by them."""
    if lagrangian is not None and (kinetic is not None or potential is not None):
        raise ModelError("give either lagrangian= or kinetic= (and potential=), not both.")
    if lagrangian is not None:
        return {"lagrangian": checked(lagrangian, "lagrangian") - U, "kinetic": None, "potential": None}
    if kinetic is None:
        raise ModelError("no kinetic energy was given. Write kinetic=... (and potential=...), or lagrangian=....")
    T, V = checked(kinetic, "kinetic"), checked(0 if potential is None else potential, "potential")
    return {"lagrangian": T - V - U, "kinetic": T, "potential": V}


def _variations(
    given: Sequence[Any] | None, rows: tuple[Constraint, ...], q: tuple[Coordinate, ...], checked: Any
) -> Rows | None:
    if given is None:
        return None
    listed = _listed(given, "variations")
    if len(listed) != len(rows):
        raise ModelError(
            f"variations: got {len(listed)}, but there are {len(rows)} constraints. Give one one-form per constraint, or "
            f"leave variations out to take those of the constraints."
        )
    return tuple(variation(checked(w, "variation"), q) for w in listed)
