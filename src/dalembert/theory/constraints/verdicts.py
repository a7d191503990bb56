"""Results of `classify`: a record for each constraint, and the verdict on all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import sympy
from sympy import Expr, Symbol

from ...decide.balls import Point, values
from ...decide.budget import BudgetSpentError
from ...decide.elimination import highest_rank, rank
from ...decide.sample import projected
from ...decide.zero import vanishes
from ...display import Part, Shown
from ...model.branches import branches
from ...model.constraints import Constraint
from ...model.coordinates import Coordinate, time
from ...symbolic import fast
from ..algebra import Allowance
from .constraint_functions import ConstraintFunction
from .distributions import derived_flag, kernel
from .hidden_integrals import HiddenFunction
from .integrability import Integrated

Kind = Literal[
    "holonomic", "integrable", "integrable with the others", "non-holonomic", "nonlinear", "inequality", "undecided"
]


@dataclass(frozen=True)
class ConstraintRecord:
    """One constraint and its kind.

    expression:     the constraint: an expression that vanishes, or an inequality
    kind:           "holonomic": on positions. "integrable": on velocities, but the time derivative of a function of
                    position, up to a factor. "integrable with the others": not alone, but where the other constraints
                    hold. "non-holonomic". "nonlinear" in the velocities: integrability is not decided. "inequality".
                    "undecided": not integrable alone, and the budget was spent before the others were considered
    is_rheonomic:   whether time enters, explicitly or by a drift (a term free of velocities)
    is_catastatic:  whether rest is allowed: there is no drift. None where that does not apply
    is_exact:       whether the form is a differential as it stands; None where there is no form
    factor, function:  J and g with dg = J omega, if found; omega includes the drift times dt
    how:            the way the factor was found
    reason:         why it is of its kind, in a sentence
    """

    expression: Any
    kind: Kind
    reason: str
    is_rheonomic: bool
    is_catastatic: bool | None = None
    is_exact: bool | None = None
    factor: Expr | None = None
    function: Expr | None = None
    how: str = ""

    @property
    def is_scleronomic(self) -> bool:
        """Whether time does not enter."""
        return not self.is_rheonomic

    @staticmethod
    def inequality(relation: Any) -> ConstraintRecord:
        """A bound: it removes configurations, not directions."""
        reason = "an inequality bounds the configurations but relates no velocities: non-holonomic by inequality"
        return ConstraintRecord(relation, "inequality", reason, time in relation.free_symbols)

    @staticmethod
    def holonomic(c: Constraint) -> ConstraintRecord:
        """A constraint on positions: its form is its differential."""
        moving = not vanishes(c.drift)
        reason = "no velocity occurs in it" + ("; time does" if moving else "")
        return ConstraintRecord(c.expression, "holonomic", reason, moving, not moving, True, sympy.S.One, c.expression)

    @staticmethod
    def nonlinear(c: Constraint) -> ConstraintRecord:
        """Nonlinear in the velocities: there is no form on positions to integrate."""
        reason = "the velocities do not enter linearly; whether it can be integrated is not decided"
        return ConstraintRecord(c.expression, "nonlinear", reason, time in c.expression.free_symbols)

    @staticmethod
    def integrable(
        c: Constraint, made: Integrated | None, exact: bool, variables: Sequence[Symbol], tried: Sequence[str]
    ) -> ConstraintRecord:
        """A velocity relation that has an integrating factor by itself."""
        constant = not any(e.free_symbols & set(variables) for e in (*c.coefficients, c.drift))
        why = "every form in two variables is integrable" if len(variables) == 2 else "the triple identity holds"
        if made is None:
            reason = f"{why}, so it has an integrating factor, but none was found (tried: {', '.join(tried)})"
        elif exact:
            reason = f"it is the time derivative of {made.function}"
        else:
            reason = f"{why}; times {made.factor} it is the time derivative of {made.function}"
        if constant:
            reason = f"only apparently non-holonomic: its coefficients are constant, and {reason}"
        record = ConstraintRecord(c.expression, "integrable", reason, *_clock(c), is_exact=exact)
        if made is None:
            return record
        return replace(record, factor=made.factor, function=made.function, how=made.how)

    @staticmethod
    def integrable_with_others(c: Constraint, failing: tuple[str, Expr]) -> ConstraintRecord:
        """Not integrable alone, but a combination of differentials of functions that all the constraints keep."""
        reason = (
            f"alone it has no integrating factor (the triple identity fails on {failing[0]}: {failing[1]}), "
            f"but together with the others it says that functions of position are constant"
        )
        return ConstraintRecord(c.expression, "integrable with the others", reason, *_clock(c), is_exact=False)

    @staticmethod
    def nonholonomic(c: Constraint, failing: tuple[str, Expr], others: str) -> ConstraintRecord:
        """Not alone; `others` states that the other constraints do not make it integrable, if there are any."""
        reason = f"it has no integrating factor: the triple identity fails on {failing[0]}: {failing[1]}{others}"
        return ConstraintRecord(c.expression, "non-holonomic", reason, *_clock(c), is_exact=False)

    @staticmethod
    def undecided(c: Constraint, failing: tuple[str, Expr]) -> ConstraintRecord:
        """Not alone; with the others it is not known."""
        reason = (
            f"alone it has no integrating factor (the triple identity fails on {failing[0]}: {failing[1]}); "
            f"with the others it is not decided, since the budget was spent before all brackets were formed"
        )
        return ConstraintRecord(c.expression, "undecided", reason, *_clock(c), is_exact=False)


def _clock(c: Constraint) -> tuple[bool, bool]:
    """Whether it is rheonomic, whether it is catastatic."""
    drifts = not vanishes(c.drift)
    timed = any(not vanishes(fast(e).diff(fast(time))) for e in c.coefficients)
    return drifts or timed, not drifts


@dataclass(frozen=True)
class Redundancy:
    """A constraint that follows from others, by their numbers in the list, counted from 0."""

    constraint: int
    follows_from: tuple[int, ...]


@dataclass(frozen=True)
class RankDrop:
    """A configuration at which the rank of the constraints is lower than in general."""

    at: dict[Coordinate, float]
    rank: int


@dataclass(frozen=True, repr=False)
class Classification(Shown):
    """The verdict on the constraints of a system.

    constraints:       one record each, in the order given
    rank:              of the constraints on velocities, on the constraint set
    growth_vector:     dimensions of the velocities allowed, with their brackets, with the brackets of these, ...;
                       over coordinates and time where time enters (`variables`)
    hidden_functions:  functions kept constant although only velocities were constrained, as far as they were found;
                       `hidden_count` says how many there are
    redundant:         which constraints follow from which others
    is_ideal:          whether reactions do no virtual work: the variations are those of the constraints
    is_complete:       whether brackets were followed to their end within the budget
    tried:             what the search for integrating factors went through
    note:              what was left undone, if anything
    functions:         for a `System` on lines, how each constraint depends on velocities, and what it is for the variations
                       of its principle: Appell-Chetaev, type I, type II; Chaplygin
    remarks:           constraints that were replaced by others with the same zeros, and where one has no effect

    Nonlinear constraints count in the rank; growth and hidden functions are those of the others.
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    constraints: tuple[ConstraintRecord, ...]
    rank: int
    growth_vector: tuple[int, ...]
    hidden_functions: tuple[HiddenFunction, ...]
    redundant: tuple[Redundancy, ...]
    is_ideal: bool
    is_complete: bool
    tried: tuple[str, ...]
    note: str
    variables: tuple[Symbol, ...]
    forms: tuple[tuple[Expr, ...], ...]
    _holonomic: int
    remarks: tuple[str, ...] = ()
    functions: tuple[ConstraintFunction, ...] = ()
    _variations: tuple[tuple[Expr, ...], ...] = field(default=())
    _points: tuple[Point, ...] = field(default=())

    def _has(self, kind: Kind) -> bool:
        return any(c.kind == kind for c in self.constraints)

    @property
    def is_holonomic(self) -> bool | None:
        """Whether the constraints amount to constraints on positions, so that fewer coordinates suffice; None: not decided."""
        if self._has("inequality"):
            return False
        if len(self.growth_vector) > 1:
            return None if self._has("nonlinear") else False
        return None if self._has("nonlinear") or not self.is_complete else True

    @property
    def degrees_of_freedom(self) -> int:
        """The dimension of the space of admissible velocities."""
        return len(self.coordinates) - self.rank

    @property
    def hidden_count(self) -> int | None:
        """How many functions are constant besides those of the constraints on positions; None: not decided."""
        if not self.is_complete:
            return None
        return len(self.variables) - self.growth_vector[-1] - self._holonomic

    @property
    def configuration_dimension(self) -> int | None:
        """The dimension of the configurations that one motion can be in: of the leaf; None: not decided."""
        if self.hidden_count is None:
            return None
        return len(self.coordinates) - self._holonomic - self.hidden_count

    @property
    def reachable(self) -> bool | None:
        """Whether every configuration (on the holonomic constraints) can be reached from every other near it (Chow).

        If not, motions stay on leaves of dimension `configuration_dimension`. With a drift, time runs forward only:
        then this says that nothing keeps the motion on a leaf. None: not decided.
        """
        return None if self.hidden_count is None or self._has("nonlinear") else self.hidden_count == 0

    @cached_property
    def virtual_displacements(self) -> sympy.Matrix:
        """A basis of the virtual displacements, one per column: what the variations (by default the rows A) annihilate."""
        return kernel(self._variations, len(self.coordinates), self._points, Allowance(total=10.0))

    @cached_property
    def derived_flag(self) -> tuple[int, ...] | None:
        """The numbers of forms in the derived systems: the last is the number of functions kept constant.

        None: not decided within the time that the search has.
        """
        allowance = Allowance(seconds=2.0, total=20.0)
        try:
            return tuple(len(f) for f in derived_flag(self.forms, self.variables, self._points, allowance))
        except BudgetSpentError:
            return None

    @cached_property
    def rank_drops(self) -> tuple[RankDrop, ...]:
        """Special configurations where the rank is lower: looked for near where coordinates are 0, pi/2 or pi."""
        return _rank_drops(self)

    def _parts(self) -> Sequence[Part]:
        from .verdict_text import parts

        return parts(self)


@dataclass(frozen=True, repr=False)
class Branched(Shown):
    """The verdict on constraints whose set has several branches: a classification of each.

    Whatever a `Classification` has can be asked of all branches at once: `rank`, `is_holonomic`, ... are those of every
    branch where all agree, and None where they differ.
    """

    name: str
    expressions: tuple[Any, ...]
    branches: tuple[Classification, ...]

    def __getattr__(self, what: str) -> Any:
        if what.startswith("_"):
            raise AttributeError(what)
        found = [getattr(b, what) for b in self.branches]
        return found[0] if all(f == found[0] for f in found) else None

    def _parts(self) -> Sequence[Part]:
        listed = ", ".join(f"{e} = 0" for e in self.expressions if not isinstance(e, sympy.core.relational.Relational))
        parts: list[Part] = [
            f"{self.name}: {len(self.branches)} branches of {listed}; where they meet, the rank drops."
        ]
        for branch in self.branches:
            parts += ["", *branch._parts()]
        return parts


def _rank_drops(c: Classification) -> tuple[RankDrop, ...]:
    base = c._points[0]
    forms = [tuple(a for x, a in zip(c.variables, form, strict=True) if x in c.coordinates) for form in c.forms]
    functions = [fast(r.expression) for r in c.constraints if r.kind == "holonomic"]
    general, usual = highest_rank(forms, c._points), _largest(values(forms, base))
    entering = {s for e in (*(e for form in forms for e in form), *functions) for s in e.free_symbols}
    names = [q.name for q in c.coordinates if q.name in {s.name for s in entering}]
    effort = max(4, 60 // max(1, len(functions)))
    found: dict[tuple[float, ...], RankDrop] = {}
    for point in (*c._points, *islice(_special(forms, functions, base, names), effort)):
        grid = None if point is None else values(forms, point)
        if point is None or grid is None or _largest(grid) > 1e12 * usual or rank(grid) == general:
            continue  # no such configuration, or a pole
        place = {q: float(point[q.name]) for q in c.coordinates if q.name in names}
        found.setdefault(tuple(place.values()), RankDrop(place, rank(grid)))
    return tuple(found.values())


def _largest(grid: Any) -> float:
    return max((float(abs(v)) for row in grid or () for v in row), default=0.0)


def _special(forms: Sequence[Any], functions: list[Any], base: Point, names: list[str]) -> Iterator[Point | None]:
    """Configurations where coordinates are 0, pi/2 or pi, and where a form, or a factor of its coefficients, vanishes."""
    yield projected(functions, {**base, **dict.fromkeys(names, 0)}, names, steps=12)
    for name in names:
        for angle in (0, sympy.pi / 2, sympy.pi):
            yield projected(functions, {**base, name: angle}, names, steps=12)
    for form in forms:
        entries = [e for e in form if e.free_symbols]
        if entries and not functions:
            yield projected([fast(e) for e in entries], base, names, steps=24)
        for e in entries:
            for branch in branches(e, e.free_symbols):
                yield projected([*functions, *(fast(u) for u in branch.equations)], base, names, steps=24)
