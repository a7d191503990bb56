"""The terms of the reduced equations of a discrete system: Lagrangian, momenta, reduced forces, mixed curvature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sympy import Symbol

from ...model.coordinates import Coordinate
from ...symbolic import Fast, fast, gradient, jacobian, substitution, total
from ..system import DiscreteSystem
from .bundle import Bundle
from .connection import DiscreteConnection

Rows = list[list[Fast]]


@dataclass(frozen=True, eq=False)
class ReducedTerms:
    """The terms of the reduced equations, with an element in the place of theta: its coordinates, or the identity.

    solved: where the element b of the connection has no closed form, what stands for its unknowns
    """

    original: DiscreteSystem
    connection: DiscreteConnection
    lift: tuple[tuple[Fast, ...], ...]
    theta: tuple[Fast, ...]
    solved: tuple[Fast, ...] = ()

    @property
    def over(self) -> Bundle:
        """Shapes and group."""
        return self.connection.bundle

    @cached_property
    def u(self) -> list[Fast]:
        """The group step g0^-1 g1 = theta b."""
        return self.over.product(self.theta, self.b)

    @property
    def b(self) -> Sequence[Fast]:
        """The group element of the horizontal step."""
        return self.solved[: self.over.dimension] if self.solved else self.connection.element

    @cached_property
    def unknown_equations(self) -> list[Fast]:
        """The equations of b where it has no closed form."""
        implicit = self.connection.implicit
        return implicit.in_slots(self._unknowns) if implicit is not None else []

    @property
    def _unknowns(self) -> dict[Symbol, Fast]:
        implicit = self.connection.implicit
        return dict(zip(implicit.unknowns, self.solved, strict=True)) if implicit is not None and self.solved else {}

    def _element_slopes(self, slot: int) -> Rows:
        """The derivative of b by the shapes at one end of the step."""
        implicit, slots = self.connection.implicit, self.over.shape_at(slot)
        if implicit is None:
            return jacobian(self.b, slots)
        at = substitution(self._unknowns)
        return [[at(e) for e in row] for row in implicit.slopes(slots)[: self.over.dimension]]

    @cached_property
    def _letters(self) -> tuple[Symbol, ...]:
        return tuple(Symbol(f"{e}.increment", real=True) for e in self.over.symmetry.elements)

    @cached_property
    def _places(self) -> tuple[dict[Coordinate, Fast], dict[Coordinate, Fast]]:
        first = self.over.placed(self.over.shape_at(0))
        return first, self.over.act(self._letters, self.over.placed(self.over.shape_at(1)))

    def _along(self, expressions: Sequence[Fast]) -> list[Fast]:
        """Expressions in the slots at (s(r0), Phi(u, s(r1))), with letters for u."""
        first, second = self._places
        at = substitution({c.at(0): e for c, e in first.items()} | {c.at(1): e for c, e in second.items()})
        return [at(e) for e in expressions]

    def _with_u(self, expressions: Sequence[Fast]) -> list[Fast]:
        at = substitution(dict(zip(self._letters, self.u, strict=True)))
        return [at(e) for e in expressions]

    @cached_property
    def _open(self) -> Fast:
        return self._along([self.original.lagrangian])[0]

    @cached_property
    def lagrangian(self) -> Fast:
        """L_d(s(r0), Phi(theta b, s(r1)))."""
        return self._with_u([self._open])[0]

    @cached_property
    def constraints(self) -> list[Fast]:
        """chi(s(r0), Phi(theta b, s(r1)))."""
        return self._with_u(self._along(self.original.constraints))

    @cached_property
    def m(self) -> list[Fast]:
        """dl/du."""
        return self._with_u(gradient(self._open, self._letters))

    @cached_property
    def leaving(self) -> list[Fast]:
        """m . (e_i u): the momentum of the step in the frame of its first node."""
        return row_times(self.m, self.over.right(self.u))

    @cached_property
    def arriving(self) -> list[Fast]:
        """m . (u e_i): the momentum of the step in the frame of its last node."""
        return row_times(self.m, self.over.left(self.u))

    def lift_at(self, slot: int) -> Rows:
        """M at the shape at one end of the step."""
        at = substitution(dict(zip(self.over.shape, self.over.shape_at(slot), strict=True)))
        return [[at(e) for e in row] for row in self.lift]

    @cached_property
    def turned(self) -> tuple[list[Fast], list[Fast]]:
        """m . (theta db/dr0) and m . (theta db/dr1)."""
        pushed = row_times(self.m, self.over.moved_right(self.theta, self.b))
        return row_times(pushed, self._element_slopes(0)), row_times(pushed, self._element_slopes(1))

    @cached_property
    def forces(self) -> tuple[list[Fast], list[Fast]]:
        """F- = -m.(theta db/dr0) - m.(theta M b), F+ = -m.(theta db/dr1) + m.(u M): (6.6)."""
        minus, plus = (
            [b - a for a, b in zip(turned, lifted, strict=True)]
            for turned, lifted in zip(self.turned, self.lifted, strict=True)
        )
        return minus, plus

    @cached_property
    def lifted(self) -> tuple[list[Fast], list[Fast]]:
        """The forces without the derivatives of b, which are in the Lagrangian's own where b is a coordinate."""
        carried = self.over.moved_left(self.theta, self.b)
        within = row_times(row_times(self.m, carried), self.over.left(self.theta))
        return [-e for e in row_times(within, self.lift_at(0))], row_times(self.arriving, self.lift_at(1))

    @cached_property
    def commutator(self) -> list[Fast]:
        """D2 L . (theta M - M theta), the term of (7.3) that comes from moving along the section."""
        carried = self.over.moved_left(self.theta, self.b)
        within = row_times(row_times(self.m, carried), self.over.left(self.theta))
        M = self.lift_at(0)
        return [a - b for a, b in zip(row_times(within, M), row_times(self.leaving, M), strict=True)]

    @cached_property
    def mixed_curvature(self) -> tuple[Rows, Rows]:
        """theta A^-1 DA - theta M at the beginning, theta A^-1 (DA + M A) at the end, A = b^-1: vectors at theta."""
        over, A = self.over, self.over.inverse(self.b)
        moved, inverted = over.moved_right(self.u, A), over.inverse_slopes(self.b)
        DA = [times(inverted, self._element_slopes(k)) for k in (0, 1)]
        before = [times(moved, DA[0]), times(over.left(self.theta), self.lift_at(0))]
        after = [times(moved, DA[1]), times(times(over.moved_left(self.u, A), over.left(self.u)), self.lift_at(1))]
        minus = [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(*before, strict=True)]
        plus = [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(*after, strict=True)]
        return minus, plus

    @cached_property
    def external(self) -> tuple[list[Fast], list[Fast]]:
        """The discrete forces f-, f+ in the directions (h(dr), zeta) of their node: those of r, then of theta."""
        over, q = self.over, self.original.coordinates
        if not any(f != 0 for f in (*self.original.force_minus, *self.original.force_plus)):
            zero = [fast(0)] * len(q)
            return zero, zero
        frames = [self.frame_at(k) for k in (0, 1)]
        moved = over.act_slopes(self._letters, over.placed(over.shape_at(1)))
        minus = row_times(self._along(self.original.force_minus), frames[0])
        plus = row_times(row_times(self._along(self.original.force_plus), moved), frames[1])
        return self._with_u(minus), self._with_u(plus)

    def frame_at(self, slot: int | None) -> Rows:
        """The columns h(dr), then (e_i)_Q, at s(r): at one end of the step, or at a node."""
        over = self.over
        V, M, ds = over.generators(over.placed()), [list(row) for row in self.lift], over.section_slopes()
        VM = times(V, M) if over.shape else [[] for _ in V]
        rows = [[*(a + b for a, b in zip(x, y, strict=True)), *v] for x, y, v in zip(ds, VM, V, strict=True)]
        if slot is None:
            return rows
        at = substitution(dict(zip(over.shape, over.shape_at(slot), strict=True)))
        return [[at(e) for e in row] for row in rows]

    def variations(self) -> Rows:
        """omega(h(dr)), omega(zeta_Q) at a node."""
        at = substitution(self.over.placed())
        return times([[at(a) for a in row] for row in self.original.variations], self.frame_at(None))


def times(a: Sequence[Sequence[Fast]], b: Sequence[Sequence[Fast]]) -> Rows:
    """The product of two matrices."""
    columns = list(zip(*b, strict=True))
    return [[total(x * y for x, y in zip(row, c, strict=True)) for c in columns] for row in a]


def row_times(row: Sequence[Fast], matrix: Sequence[Sequence[Fast]]) -> list[Fast]:
    """The product of a row and a matrix."""
    return times([row], matrix)[0]
