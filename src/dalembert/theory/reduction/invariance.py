"""What of a system is invariant under a symmetry: Lagrangian, forces, dissipation, constraints and variations, by value.

Everything is compared at random states, moved by random elements near the identity: these generate a connected group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import Expr, default_sort_key

from ...decide import balls
from ...decide.elimination import rank
from ...decide.zero import vanishes_at
from ...display import Part, Shown, Table
from ...errors import ModelError, printed, told
from ...model.heat import mechanical
from ...model.space import frame, groups, position_symbols
from ...model.system import System
from ...symbolic import Fast, fast, jacobian, substitute, summands, total
from ..motion.lagrange import readable
from .group_law import near_identity
from .symmetry import Symmetry
from .velocity_components import components

Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Term:
    """A part of a system, and whether it is invariant; a function is so term by term."""

    name: str
    expression: Expr
    holds: bool
    is_function: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Invariance(Shown):
    """What of a system is invariant under a symmetry; see `invariance`."""

    system: System
    symmetry: Symmetry
    terms: tuple[Term, ...]

    @property
    def holds(self) -> bool:
        """Whether everything is invariant."""
        return all(t.holds for t in self.terms)

    @property
    def broken(self) -> tuple[Term, ...]:
        """What is not invariant."""
        return tuple(t for t in self.terms if not t.holds)

    def _parts(self) -> list[Part]:
        rows = [(t.name, t.expression, "yes" if t.holds else "NO") for t in self.terms]
        return [f"{self.system.name}: what is invariant", Table(("part", "expression", "invariant"), rows)]


def invariance(system: System, symmetry: Symmetry, role: str = "reduce") -> Invariance:
    """Which parts of a system a symmetry leaves invariant."""
    check_pair(system, symmetry, role)
    moved = Moved(system, symmetry)
    whole = [("lagrangian", system.lagrangian)]
    split = [("kinetic energy", system.kinetic), ("potential", system.potential)]
    terms = [Term(name, e, moved.keeps(e), True) for name, e in whole]
    if not terms[0].holds and system.kinetic is not None and system.potential is not None:
        terms = [Term(name, e, moved.keeps(e), True) for name, e in split if e is not None]
    if any(f != 0 for f in system.forces):
        terms += [Term(f"force on {q}", f, ok) for q, f, ok in moved.kept_forces(system.forces)]
    if system.dissipation != 0:
        terms.append(Term("dissipation", system.dissipation, moved.keeps(system.dissipation), True))
    terms += [Term("constraint", c.expression, moved.keeps(c.expression)) for c in system.holonomic]
    kinematic = [[*c.coefficients, c.drift] for c in system.kinematic]
    if kinematic:
        ok = moved.keeps_span(kinematic)
        terms += [Term("constraint", c.expression, ok) for c in system.kinematic]
    if system.has_own_variations:
        ok = moved.keeps_span([[*w, 0] for w in system.variations])
        listed = [sum(a * q.dot for a, q in zip(w, system.coordinates, strict=True)) for w in system.variations]
        terms += [Term("variation", w, ok) for w in listed]
    return Invariance(system, symmetry, tuple(terms))


def check_pair(system: System, symmetry: Any, role: str) -> None:
    """Refuse what is no symmetry, or one of other coordinates than those of the system."""
    if not isinstance(symmetry, Symmetry):
        raise ModelError(
            f"{role}: got {told(symmetry)} ({type(symmetry).__name__}). Expected a symmetry, made with "
            f"dalembert.Symmetry({{{system.coordinates[0]}: ...}}, elements=[...])."
        )
    mechanical(system, role, groups=True)
    _check_groups(system, symmetry, role)
    for q in symmetry.coordinates:
        if q not in position_symbols(system.coordinates):
            names = ", ".join(f.name for f in system.space.factors)
            raise ModelError(
                f"{role}: the symmetry moves or uses {q}, but the coordinates of {system.name!r} are {names}."
            )
    for g in symmetry.elements:
        if g.name in {s.name for s in (*system.coordinates, *system.parameters)}:
            raise ModelError(
                f"{role}: the element {g} of the symmetry is also a symbol of {system.name!r}. Use another name for it."
            )
    for c in system.kinematic:
        if not c.is_linear:
            raise ModelError(
                f"{role}: the constraint {printed(c.expression)} = 0 is not linear in the velocities. Expected linear ones."
            )


def _check_groups(system: System, symmetry: Symmetry, role: str) -> None:
    """Refuse group coordinates of the symmetry that the system has not, or has with another group."""
    own = {f.name: f for f in groups(system.coordinates)}
    for R in symmetry.groups:
        if R.name not in own or own[R.name].group != R.group:
            names = ", ".join(f.name for f in system.space.factors)
            raise ModelError(
                f"{role}: the symmetry moves the {R.noun} {R}, but the coordinates of {system.name!r} are {names}."
            )
    for f in own.values():
        if not f.group.has_cayley:
            raise ModelError(
                f"{role}: {system.name!r} has {f}, a {f.noun} of {f.group.name}, where Cayley's map leads out of the group. "
                f"Expected rotations, poses, unit quaternions, translations or products of them."
            )


@dataclass(frozen=True)
class Moved:
    """The parts of a system at a state that a group element has moved."""

    system: System
    symmetry: Symmetry

    @cached_property
    def images(self) -> dict[Any, Fast]:
        """The image of each symbol of a position of the system."""
        return {fast(q): fast(self.symmetry.action.get(q, q)) for q in position_symbols(self.system.coordinates)}

    @cached_property
    def _velocities(self) -> list[Fast]:
        """The components of the velocity of the moved state."""
        q = self.system.coordinates
        rates = frame(q).rates(list(self.images.values()))
        return list(map(fast, components(q, self.images, dict(zip(self.images, rates, strict=True)))))

    @cached_property
    def tangent(self) -> list[list[Fast]]:
        """The components of moved vectors, by those of the vectors."""
        return jacobian(self._velocities, self.system.velocities)

    @cached_property
    def _table(self) -> dict[Any, Any]:
        return self.images | dict(zip(map(fast, self.system.velocities), self._velocities, strict=True))

    def _points(self, expressions: Sequence[Any]) -> list[balls.Point]:
        e = dict(zip(self.symmetry.elements, self.symmetry.identity, strict=True))
        return near_identity(expressions, e, 6, groups(self.system.coordinates))

    def at_image(self, expression: Any) -> Fast:
        """An expression at the moved state."""
        return substitute(expression, self._table)

    def keeps(self, expression: Any) -> bool:
        """Whether a function of the state is invariant."""
        return self._equal([(self.at_image(expression), fast(expression))])

    def _equal(self, pairs: Sequence[tuple[Fast, Fast]]) -> bool:
        points = self._points([e for pair in pairs for e in pair])
        return all(vanishes_at(x - y, points) for x, y in pairs)

    def pulled_back(self, covector: Sequence[Any]) -> list[Fast]:
        """A covector at the moved state, evaluated on moved vectors."""
        there, tangent = [self.at_image(f) for f in covector], self.tangent
        return [total(there[i] * tangent[i][j] for i in range(len(there))) for j in range(len(there))]

    def kept_forces(self, forces: Sequence[Expr]) -> list[tuple[Any, Expr, bool]]:
        """Whether each component of the force is that of the force pulled back."""
        pulled = self.pulled_back(forces)
        rows = zip(self.system.coordinates, forces, pulled, strict=True)
        return [(q, f, self._equal([(p, fast(f))])) for q, f, p in rows if not (f == 0 and p == 0)]

    def keeps_span(self, rows: Rows) -> bool:
        """Whether one-forms, and their last entries, the drifts, span the same where everything has been moved."""
        moved = [[*self.pulled_back(row[:-1]), self.at_image(row[-1])] for row in rows]
        both = [[fast(e) for e in row] for row in (*rows, *moved)]
        answers = []
        for at in self._points([e for row in both for e in row]):
            grid = balls.values(both, at)
            if grid is not None:
                answers.append(rank(grid) == rank(grid[: len(rows)]))
        return bool(answers) and all(answers)


def _changed(found: Invariance, term: Term) -> str:
    """Which summands of a function change, where others do not."""
    if not term.is_function:
        return ""
    moved, parts = Moved(found.system, found.symmetry), list(summands(fast(term.expression)))
    changed = [readable(e, found.system) for e in parts if not moved.keeps(e)]
    if not 0 < len(changed) < len(parts):
        return ""
    named = ", ".join(printed(e) for e in sorted(changed, key=default_sort_key))
    return f", by its term{'s' if len(changed) > 1 else ''} {named},"


def require(found: Invariance, role: str) -> None:
    """Refuse a system that a symmetry does not leave invariant, with the first part that is not."""
    for term in found.broken:
        moved = ", ".join(str(q) for q in found.symmetry.moved)
        stated = f"the {term.name} {printed(term.expression)}{_changed(found, term)} of {found.system.name!r}"
        raise ModelError(
            f"{role}: {stated} is not invariant when {moved} are moved by {', '.join(map(str, found.symmetry.elements))}. "
            f"Reduce by elements that leave it invariant, or see dalembert.symmetries(system)."
        )
