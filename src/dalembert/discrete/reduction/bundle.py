"""Configuration spaces that are, locally, shapes times a group: q = Phi(g, s(r)).

A section s gives one configuration for every shape r. Group operations are in the element coordinates of the symmetry,
and all expressions here are SymEngine's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide import balls
from ...decide.elimination import rank
from ...decide.sample import points
from ...decide.zero import vanishes
from ...errors import ModelError, told
from ...model import checks
from ...model.coordinates import Coordinate
from ...symbolic import Fast, fast, jacobian, slow, substitution
from ...theory.reduction.group_charts import in_charts
from ...theory.reduction.symmetry import Symmetry
from .closed_forms import closed_form

Element = Sequence[Any]
"""A group element: its coordinates."""

Matrix = list[list[Fast]]


@dataclass(frozen=True, eq=False)
class Bundle:
    """Coordinates on which a symmetry acts, with a section {coordinate: expression in the shape coordinates}."""

    symmetry: Any
    coordinates: tuple[Coordinate, ...]
    section: dict[Coordinate, Expr]
    shape: tuple[Coordinate, ...]
    stated: Any
    """The symmetry as it was given; `symmetry` is the same on numbers in place of group coordinates."""

    # group operations, in element coordinates

    @property
    def dimension(self) -> int:
        """The dimension of the group."""
        return int(self.symmetry.dimension)

    @cached_property
    def identity(self) -> list[Fast]:
        """The identity of the group."""
        return [fast(e) for e in self.symmetry.identity]

    def product(self, a: Element, b: Element) -> list[Fast]:
        """The product ab: first b acts, then a."""
        return _filled(self._product, a, b)

    def inverse(self, a: Element) -> list[Fast]:
        """The inverse of a."""
        return _filled(self._inverse, a)

    def inverse_slopes(self, a: Element) -> Matrix:
        """The derivative of the inverse of a by a."""
        return [_filled(row, a) for row in jacobian(self._inverse, _letters("a", self.dimension))]

    def left(self, a: Element) -> Matrix:
        """The derivative of b -> ab at the identity; a zeta is this matrix times zeta."""
        return self.moved_right(a, self.identity)

    def right(self, b: Element) -> Matrix:
        """The derivative of a -> ab at the identity; zeta b is this matrix times zeta."""
        return self.moved_left(self.identity, b)

    def moved_left(self, a: Element, b: Element) -> Matrix:
        """The derivative of ab by a."""
        return [_filled(row, a, b) for row in self._product_slopes[0]]

    def moved_right(self, a: Element, b: Element) -> Matrix:
        """The derivative of ab by b."""
        return [_filled(row, a, b) for row in self._product_slopes[1]]

    @cached_property
    def _product(self) -> list[Fast]:
        return [fast(e) for e in self.symmetry.product(_letters("a", self.dimension), _letters("b", self.dimension))]

    @cached_property
    def _inverse(self) -> list[Fast]:
        a, b = (_letters(name, self.dimension) for name in ("a", "b"))
        equations = [self.read(e - zero, *a, *b) for e, zero in zip(self._product, self.identity, strict=True)]
        near = {s.name: float(zero) + 0.1 for s, zero in zip(a, self.identity, strict=True)}
        found = closed_form([sympy.fraction(sympy.together(e))[0] for e in equations], b, near)
        return [fast(e) for e in (self.symmetry.inverse(a) if found is None else found.values())]

    @cached_property
    def _product_slopes(self) -> tuple[Matrix, Matrix]:
        a, b = (jacobian(self._product, _letters(name, self.dimension)) for name in ("a", "b"))
        return a, b

    # the action

    def act(self, g: Element, place: Mapping[Coordinate, Any]) -> dict[Coordinate, Fast]:
        """Phi(g, q)."""
        known = {c: fast(e) for c, e in place.items()}
        at = substitution(known | dict(zip(self.symmetry.elements, map(fast, g), strict=True)))
        return {c: at(fast(self.symmetry.action.get(c, c))) for c in self.coordinates}

    def act_slopes(self, g: Element, place: Mapping[Coordinate, Any]) -> Matrix:
        """The derivative of Phi(g, q) by q."""
        known = {c: fast(e) for c, e in place.items()}
        at = substitution(known | dict(zip(self.symmetry.elements, map(fast, g), strict=True)))
        formulas = [fast(self.symmetry.action.get(c, c)) for c in self.coordinates]
        return [[at(e) for e in row] for row in jacobian(formulas, self.coordinates)]

    def generators(self, place: Mapping[Coordinate, Any]) -> Matrix:
        """The vectors (e_i)_Q(q), one column for each element coordinate."""
        at = substitution({c: fast(e) for c, e in place.items()})
        fields = self.symmetry.generators
        return [[at(fast(field.get(c, 0))) for field in fields] for c in self.coordinates]

    def shape_at(self, slot: int) -> list[Fast]:
        """The shape coordinates at the beginning or the end of a step."""
        return [fast(r.at(slot)) for r in self.shape]  # type: ignore[arg-type]

    def placed(self, shape: Sequence[Any] | None = None) -> dict[Coordinate, Fast]:
        """The configuration s(r)."""
        at = substitution({} if shape is None else dict(zip(self.shape, shape, strict=True)))
        return {c: at(fast(self.section[c])) for c in self.coordinates}

    def section_slopes(self) -> Matrix:
        """The derivative of s(r): one column for each shape coordinate."""
        return jacobian([fast(self.section[c]) for c in self.coordinates], self.shape)

    # group element and shape of a configuration

    @cached_property
    def frame(self) -> tuple[list[Fast], list[Fast]] | None:
        """g(q) and r(q) with q = Phi(g(q), s(r(q))), in the coordinates; None where there is no closed form."""
        g, r = _letters("g", self.dimension), _letters("r", len(self.shape))
        there = self.act(g, self.placed(r))
        equations = [self.read(there[c], *g, *r) - c for c in self.coordinates]
        near = {c.name: 0.1 * (k + 1) for k, c in enumerate(self.coordinates)}
        found = closed_form(equations, [*g, *r], near)
        return None if found is None else ([fast(found[s]) for s in g], [fast(found[s]) for s in r])

    def located(self, place: Mapping[Coordinate, Any]) -> tuple[list[Fast], list[Fast]]:
        """g(q) and r(q) of a configuration."""
        if self.frame is None:
            raise ModelError(
                f"the group element and the shape of a configuration have no closed form with the section "
                f"{_told(self.section)}. Choose another: section={{{self.coordinates[0]}: ...}}."
            )
        at = substitution({c: fast(e) for c, e in place.items()})
        return [at(e) for e in self.frame[0]], [at(e) for e in self.frame[1]]

    def read(self, expression: Any, *others: Symbol) -> Expr:
        """An expression as SymPy, with the symbols of the coordinates and the shape."""
        own = [s for c in (*self.coordinates, *self.shape) for s in (c, c.dot, c.at(0), c.at(1))]
        return slow(fast(expression), [*own, *self.symmetry.elements, *others])

    def column_names(self) -> list[str]:
        """The names of the element coordinates."""
        return [str(e) for e in self.symmetry.elements]


def _letters(name: str, count: int) -> tuple[Symbol, ...]:
    return tuple(Symbol(f"{name}.{i}", real=True) for i in range(count))


def _filled(formulas: Sequence[Fast], *elements: Element) -> list[Fast]:
    """Formulas in the letters a and b, with these elements in their place."""
    table = {
        fast(s): fast(x)
        for name, g in zip("ab", elements, strict=False)
        for s, x in zip(_letters(name, len(g)), g, strict=True)
    }
    at: Callable[[Any], Fast] = substitution(table)
    return [at(e) for e in formulas]


def _told(section: Mapping[Coordinate, Any]) -> str:
    return "{" + ", ".join(f"{c}: {e}" for c, e in section.items()) + "}"


def check_symmetry(given: Any, user: str) -> None:
    """Refuse what is no Symmetry."""
    if not isinstance(given, Symmetry):
        raise ModelError(f"{user}: got {told(given)}. Expected a Symmetry({{x: x + a}}, elements=[a]).")


def bundle(stated: Any, coordinates: Sequence[Coordinate], section: Mapping[Coordinate, Any] | None = None) -> Bundle:
    """The bundle of a symmetry; without a section, as many coordinates are set to zero as the group has dimensions."""
    q, symmetry = tuple(coordinates), in_charts(stated)
    strange = [str(c) for c in symmetry.action if c not in q]
    if strange:
        names = ", ".join(c.name for c in q)
        raise ModelError(f"the symmetry moves {', '.join(strange)}, and the coordinates are {names}.")
    if not symmetry.is_free:
        moved, elements = (", ".join(map(str, names)) for names in (stated.moved, symmetry.elements))
        raise ModelError(
            f"the action on {moved} is not free: at every point a combination of the generators of {elements} is zero. Use "
            f"fewer elements."
        )
    if section is None:
        return _default(stated, symmetry, q)
    if not isinstance(section, Mapping):
        raise ModelError(
            f"section: got {told(section)}. Expected {{{q[0]}: expression in the shape coordinates, ...}}."
        )
    unknown = [str(c) for c in section if c not in q]
    if unknown:
        raise ModelError(f"section: {', '.join(unknown)} is not among the coordinates {', '.join(c.name for c in q)}.")
    whole = {c: checks.expression(section.get(c, c), "section") for c in q}
    free = {s for e in whole.values() for s in e.free_symbols if isinstance(s, Coordinate)}
    shape = tuple(sorted(free, key=lambda c: (q.index(c) if c in q else len(q), c.name)))
    found = Bundle(symmetry, q, whole, shape, stated)
    if len(shape) + found.dimension != len(q):
        raise ModelError(
            f"section {_told(whole)}: it has {len(shape)} shape coordinates ({', '.join(s.name for s in shape)}). Expected "
            f"{len(q) - found.dimension}: {len(q)} coordinates less {found.dimension} dimensions of the group."
        )
    if not _transversal(found):
        raise ModelError(f"section {_told(whole)}: the group moves along it. Choose a section across the orbits.")
    return found


def _default(stated: Any, symmetry: Any, q: tuple[Coordinate, ...]) -> Bundle:
    """Some coordinates at zero; where that meets no orbits, as for scalings, at one."""
    moved = [c for c in q if not vanishes(fast(symmetry.action.get(c, c)) - fast(c))]
    for value in (sympy.S.Zero, sympy.S.One):
        open_forms = []
        for fixed in combinations(moved, int(symmetry.dimension)):
            section = {c: value if c in fixed else c for c in q}
            found = Bundle(symmetry, q, section, tuple(c for c in q if c not in fixed), stated)
            if _transversal(found):
                if found.frame is not None:
                    return found
                open_forms.append(found)
        if open_forms:
            return open_forms[0]
    raise ModelError(
        f"no {symmetry.dimension} coordinates can be set to zero or to one to get one configuration of every shape. Give one: "
        f"section={{{q[0]}: ..., ...}}, in the shape coordinates."
    )


def _transversal(found: Bundle) -> bool:
    """Whether the section is transversal to the orbits: its derivative and the generators span all directions."""
    n = len(found.coordinates)
    columns = found.section_slopes(), found.generators(found.placed())
    rows = [[*columns[0][i], *columns[1][i]] for i in range(n)]
    flat = [e for row in rows for e in row]
    for _, at in points([sum((e**2 for e in flat), start=fast(1))], 6):
        with balls.precise() as flint:
            grid = balls.values(rows, {name: flint.arb(x) for name, x in at.items()})
        if grid is not None and rank(grid) == n:
            return True
    return False
