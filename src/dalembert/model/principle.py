"""How constraints act: the principle from which reactions follow, in continuous time, at nodes, stages and half-kicks.

Equations and methods take reactions from the principle of their system; none of them multiplies a multiplier with a
one-form itself. A principle defines:

    forms        the one-forms omega^a that vanish on virtual displacements; an impulse of the constraints is mu_a omega^a
    unknowns     what the equations of motion determine besides accelerations, one per constraint: multipliers or their rates
    carried      multipliers with their own equation of motion: data of the start and part of the state, each with its rate
    reaction     the force in d/dt dL/dv - dL/dq = F + reaction
    lagrangian   the function that is discretised; the constraints may be part of it
    node_reaction  the force at a node of a discrete motion, besides those of the discrete Lagrangian and of forces
    besides      what a reaction contains besides multipliers times one-forms; in discrete motions it acts as forces do

A new principle is one class that defines these. What it does not define is as in d'Alembert's principle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from sympy import Add, Expr, S, Symbol

from ..errors import ModelError, told
from ..symbolic import Fast, fast, gradient, total
from .constraints import Constraint, constraint, is_variation_of
from .coordinates import Coordinate, Multiplier
from .space import frame

if TYPE_CHECKING:
    from .system import System

Rows = tuple[tuple[Expr, ...], ...]
"""One-forms: for each constraint its components along the coordinates."""

Place = Callable[[Any], Fast]
"""Where an expression in (q, v, t) is taken: as it stands (`fast`), at a stage, or as the mean over a step."""


class NodeForms(Protocol):
    """The data of a discrete system for a principle: its one-forms at a node, and the system it was made from."""

    @property
    def coordinates(self) -> tuple[Coordinate, ...]: ...

    @property
    def variations(self) -> tuple[tuple[Fast, ...], ...]: ...

    @property
    def system(self) -> System | None: ...


class Principle(ABC):
    """How the constraints of a system act. It is a rule: frozen, hashable, and the same for every system."""

    keeps_constraints: ClassVar[bool] = False
    """Whether its variations are made so that they keep every constraint and are ideal, whatever the constraint is."""

    def at_nodes(self, system: System) -> bool:
        """Whether it says which reactions act at nodes, stages and half-kicks; otherwise the equations of motion do."""
        return True

    def stated(self, coordinates: Sequence[Coordinate], checked: Callable[..., Expr]) -> Principle:
        """The principle with its own expressions checked by `checked(expression, role)`; itself where it has none."""
        return self

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """Expressions of its own, whose parameters are parameters of the system."""
        return ()

    def plain(self) -> dict[str, list[Expr]]:
        """Expressions of its own by role, for files; `from_plain` reads them."""
        return {}

    @classmethod
    def from_plain(cls, data: Mapping[str, Sequence[Expr]]) -> Principle:
        """The principle with these expressions."""
        return cls()

    @abstractmethod
    def forms(self, constraints: Sequence[Constraint], coordinates: Sequence[Coordinate]) -> Rows:
        """The one-forms omega^a that vanish on virtual displacements, one per constraint."""

    def unknowns(self, system: System) -> tuple[Symbol, ...]:
        """The unknowns of the equations of motion besides accelerations, one per constraint: `reaction` is affine in them."""
        return system.multipliers

    def carried(self, system: System) -> Mapping[Multiplier, Fast]:
        """The multipliers that the state holds, data of the start, and the rate of each; none by default."""
        return {}

    def obstacle(self, system: System) -> str:
        """Why the principle does not apply to a system; an empty text if it does."""
        return ""

    def lagrangian(self, system: System) -> Expr:
        """The function of (q, v, t) that a discrete Lagrangian approximates.

        It may contain multipliers that are `carried`, which are then unknowns of the step; its derivative by v is the
        momentum that methods carry. Symmetries of it, not of L alone, make momenta conserved.
        """
        return system.lagrangian

    def reaction(self, system: System, multipliers: Sequence[Any] | None = None, at: Place = fast) -> list[Fast]:
        """The reaction force on each coordinate, lambda_a omega^a unless the principle says otherwise.

        `multipliers` are those of the equations of motion, or those of a stage or a kick; `at` is where it acts.
        """
        return self.impulse(system, multipliers, at)

    def besides(self, system: System) -> list[Fast]:
        """What the reaction contains besides multipliers in the equations of motion times one-forms; none by default.

        It may contain accelerations. Multipliers in the state are not counted: `lagrangian` says what these do.
        """
        return [fast(0)] * len(system.coordinates)

    def impulse(self, system: System, multipliers: Sequence[Any] | None = None, at: Place = fast) -> list[Fast]:
        """What constraints may add to the momentum in an instant: mu_a omega^a."""
        names = self.unknowns(system) if multipliers is None else multipliers
        return combination(names, system.variations, at) or [fast(0)] * len(system.coordinates)

    def node_reaction(self, discrete: NodeForms, multipliers: Sequence[Any]) -> list[Fast]:
        """The reaction at a node of a discrete motion, one component per coordinate; h times that is the impulse there."""
        return combination(multipliers, discrete.variations) or [fast(0)] * len(discrete.coordinates)

    def is_ideal(self, system: System) -> bool:
        """Whether reactions do no virtual work on displacements that the constraints admit, decided by value."""
        return not system.has_own_variations or all(map(is_variation_of, system.variations, system.constraints))

    def acts_by_forms(self, system: System) -> bool:
        """Whether reactions are multipliers times one-forms, and no multiplier has a motion of its own."""
        return type(self).reaction is Principle.reaction and not self.carried(system)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted(self.__dict__.items()))))


def combination(multipliers: Sequence[Any], forms: Sequence[Sequence[Any]], at: Place = fast) -> list[Fast]:
    """lambda_a omega^a, one component per coordinate; an empty list where there are no forms."""
    terms: list[list[Fast]] = [[] for _ in (forms[0] if forms else ())]
    for m, row in zip(multipliers, forms, strict=True):
        for i, a in enumerate(row):
            if a is not S.Zero and a != 0:
                terms[i].append(fast(m) * at(a))
    return list(map(total, terms))


class DAlembert(Principle):
    """The principle of d'Alembert and Chetaev: reactions do no work on displacements dq with dchi/dv . dq = 0.

    The default: System(..., principle=da.DAlembert()) is the same as System(...).
    """

    def forms(self, constraints: Sequence[Constraint], coordinates: Sequence[Coordinate]) -> Rows:
        """The rows of the constraints."""
        return tuple(c.coefficients for c in constraints)


DEFAULT = DAlembert()
"""The default."""


@dataclass(frozen=True)
class GivenVariations(Principle):
    """The principle of Lagrange and d'Alembert with one-forms of its own, as System(..., variations=[...]) gives them."""

    rows: Rows

    def forms(self, constraints: Sequence[Constraint], coordinates: Sequence[Coordinate]) -> Rows:
        """The rows that were given."""
        return self.rows


class Vakonomic(Principle):
    """Vakonomic motion: extremals of the integral of L among all curves that satisfy the constraints.

    The integral of L + mu_a chi_a is stationary, chi_a being the constraints as they were written:

        d/dt (dL/dv + mu_a dchi_a/dv) - dL/dq - mu_a dchi_a/dq = F,    chi_a = 0

    For kinematic constraints this determines the rates of the multipliers, so their values are data of the start:
    start={..., system.multipliers[0]: 0.4}. Holonomic constraints act as in d'Alembert's principle. So does a kinematic
    one that is the derivative of a function, whatever mu is; with others motions differ. `forces=` are added to the right
    side, as in every system; the motion is then no extremal. Entropies are refused.

    Rolling and skating bodies move by d'Alembert's principle. This one states geodesics of sub-Riemannian metrics and
    problems of optimal control.
    """

    def obstacle(self, system: System) -> str:
        """Entropies: the laws of heat and extremals have not been brought together."""
        return "it has entropies. State it without them, or leave out principle=." if system.entropies else ""

    def forms(self, constraints: Sequence[Constraint], coordinates: Sequence[Coordinate]) -> Rows:
        """The rows of the constraints: dchi/dv, which an impulse of the constraints is a combination of."""
        return tuple(c.coefficients for c in constraints)

    def unknowns(self, system: System) -> tuple[Symbol, ...]:
        """Multipliers of holonomic constraints, rates of the others."""
        pairs = zip(system.multipliers, system.constraints, strict=True)
        return tuple(m if c.is_holonomic else m.dot for m, c in pairs)

    def carried(self, system: System) -> Mapping[Multiplier, Fast]:
        """The multipliers of kinematic constraints."""
        pairs = zip(system.multipliers, system.constraints, strict=True)
        return {m: fast(m.dot) for m, c in pairs if not c.is_holonomic}

    def lagrangian(self, system: System) -> Expr:
        """L + mu_a chi_a, the sum over kinematic constraints."""
        pairs = zip(system.multipliers, system.constraints, strict=True)
        return Add(system.lagrangian, *(m * c.expression for m, c in pairs if not c.is_holonomic))

    def reaction(self, system: System, multipliers: Sequence[Any] | None = None, at: Place = fast) -> list[Fast]:
        """Minus Lagrange's derivative of mu_a chi_a: -d/dt(mu_a dchi_a/dv) + mu_a dchi_a/dq; holonomic: lambda_a omega^a."""
        sought = self.unknowns(system) if multipliers is None else multipliers
        parts = list(zip(system.multipliers, sought, system.constraints, strict=True))
        own, l = (
            frame(system.coordinates),
            total(fast(m) * fast(c.expression) for m, _, c in parts if not c.is_holonomic),
        )
        p, rates = gradient(l, own.velocities), {m: s for m, s, c in parts if not c.is_holonomic}
        fixed = self.impulse(system, [s if c.is_holonomic else 0 for _, s, c in parts])
        terms = zip(fixed, own.slopes(l), own.turning(p), own.rates(p, rates), strict=True)
        return [at(f + slope + turning - rate) for f, slope, turning, rate in terms]

    def node_reaction(self, discrete: NodeForms, multipliers: Sequence[Any]) -> list[Fast]:
        """That of holonomic constraints; the others are part of the discrete Lagrangian."""
        assert discrete.system is not None
        pairs = zip(multipliers, discrete.system.constraints, strict=True)
        return super().node_reaction(discrete, [s if c.is_holonomic else 0 for s, c in pairs])

    def is_ideal(self, system: System) -> bool:
        """Whether all constraints are holonomic."""
        return not system.kinematic

    def acts_by_forms(self, system: System) -> bool:
        """Whether all constraints are holonomic."""
        return not system.kinematic


def principle_of(given: Any, rows: Rows | None, constraints: Sequence[Constraint]) -> Principle:
    """The principle given by the arguments `principle` and `variations` of a system; `rows` are those of the variations."""
    if isinstance(given, type) and issubclass(given, Principle):
        raise ModelError(f"principle: got {given.__name__}, a class. Write {given.__name__}(), with parentheses.")
    if given is not None and not isinstance(given, Principle):
        raise ModelError(
            f"principle: got {told(given)}. Expected an object that says how constraints act, such as "
            f"principle=da.DAlembert()."
        )
    if rows is None:
        return DEFAULT if given is None else given
    if given is not None:
        raise ModelError(
            f"give either variations= or principle=, not both: variations=[...] says how constraints act, and so does "
            f"principle={given!r}."
        )
    return DEFAULT if rows == tuple(c.coefficients for c in constraints) else GivenVariations(rows)


def checked_forms(principle: Principle, constraints: Sequence[Constraint], coordinates: Sequence[Coordinate]) -> Rows:
    """The one-forms of a principle for these constraints, if there is one per constraint with one component per coordinate."""
    forms = principle.forms(constraints, coordinates)
    if [len(row) for row in forms] != [len(coordinates)] * len(constraints):
        raise ModelError(
            f"principle: {principle!r} has {len(forms)} one-forms with {', '.join(str(len(r)) for r in forms) or 'no'} "
            f"components. Expected one for each of the {len(constraints)} constraints, with {len(coordinates)} components."
        )
    return forms


def reactions_by_forms(system: Any, role: str) -> None:
    """Refuse a system whose reactions are not lambda_a omega^a, for statements that assume it."""
    principle, stated = getattr(system, "principle", None), getattr(system, "system", None) or system
    if principle is not None and not principle.acts_by_forms(stated):
        raise ModelError(
            f"{role}: the reactions of {system.name!r} follow from {principle!r}. Expected multipliers times one-forms, as "
            f"with principle=da.DAlembert()."
        )


def joined_principle(systems: Sequence[System], extra: Sequence[Expr]) -> dict[str, Any]:
    """How the constraints of several systems, and those that join them, act: as arguments of the whole system."""
    acting = {s.principle: s for s in systems if s.constraints} or {s.principle: s for s in systems}
    if all(isinstance(p, DAlembert | GivenVariations) for p in acting):
        return {"variations": _joined_variations(systems, extra), "principle": None}
    if len(acting) > 1:
        stated = " and ".join(f"{p!r} ({s.name})" for p, s in list(acting.items())[:2])
        raise ModelError(
            f"compose: the constraints of the parts act by different principles, {stated}. Give all parts one: "
            f"system.replace(principle=...)."
        )
    return {"variations": None, "principle": next(iter(acting))}


def _joined_variations(systems: Sequence[System], extra: Sequence[Expr]) -> list[Expr] | None:
    """The one-forms of all parts, then those of the constraints that join them; None if all are those of constraints."""
    if not any(s.has_own_variations for s in systems):
        return None
    q = [c for s in systems for c in s.coordinates]
    own = [Add(*(a * c.dot for a, c in zip(w, s.coordinates, strict=True))) for s in systems for w in s.variations]
    return own + [c.velocity_form(q) - c.drift for c in (constraint(e, q) for e in extra)]
