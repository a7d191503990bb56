"""A symmetry: how the elements of a Lie group move the coordinates, Phi(g, q), and what follows from that alone.

Actions are left: Phi(a b, q) = Phi(a, Phi(b, q)). Generators: xi_Q(q) = d/dt Phi(exp(t xi), q). The bracket of the algebra is
[xi, eta] = d/dt Ad_exp(t xi) eta, so that the generators obey [xi_Q, eta_Q] = -[xi, eta]_Q.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from typing import Any

import sympy
from sympy import Expr, Matrix, Symbol

from ...decide import balls
from ...decide.decimals import Typed
from ...decide.elimination import independent
from ...decide.zero import vanishes
from ...display import Part, Shown, read_with
from ...errors import ModelError, told
from ...model import checks
from ...model.coordinates import Coordinate
from ...model.group_coordinate import GroupCoordinate
from ...model.marks import Along, Moved
from ...symbolic import fast, jacobian
from ..algebra import tidy
from .action import check_on_groups, check_symbols, identity_of, read_elements, read_images, used
from .group_law import equal_near, jets, near_identity, places, solve_near
from .rank_drops import common_zeros

Vector = Mapping[Symbol, Expr]
"""A vector field: the rate of each symbol of a point that it moves, coordinates and entries of matrices."""


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Symmetry(Shown):
    """A Lie group that moves coordinates: Symmetry({x: x*cos(a) - y*sin(a), y: x*sin(a) + y*cos(a)}, elements=[a]).

    action:    {coordinate: its image, an expression in coordinates and elements}; coordinates not named are left alone. The
               image of a rotation, a pose or another group coordinate R is a matrix, {R: A*R.matrix}
    elements:  the symbols of a group element, made with `dalembert.parameters`

    Identity, group law and structure constants are derived from the action. It is refused if it is no group action, or if some
    elements move nothing.
    """

    action: dict[Symbol, Expr]
    elements: tuple[Symbol, ...]
    identity: tuple[Expr, ...]
    groups: tuple[GroupCoordinate, ...]

    def __init__(self, action: Mapping[Any, Any], elements: Sequence[Any]):
        g = read_elements(elements)
        stated = read_images(action)
        images = {q: checks.symbols(e, {*stated, *used(stated)}, f"image of {q}") for q, e in stated.items()}
        check_symbols(images, g)
        turned = tuple(R for R in action if isinstance(R, GroupCoordinate))
        parts = {"action": images, "elements": g, "identity": identity_of(images, g), "groups": turned}
        for name, value in parts.items():
            object.__setattr__(self, name, value)
        read_with(self, Typed.of(stated.values()))
        check_on_groups(self)
        self._check_effective()
        self._check_action()

    @property
    def dimension(self) -> int:
        """The dimension of the group."""
        return len(self.elements)

    @cached_property
    def coordinates(self) -> tuple[Symbol, ...]:
        """The symbols of a point that the action contains, those that it moves first."""
        return (*self.action, *sorted(used(self.action) - set(self.action), key=str))

    @property
    def moved(self) -> tuple[Any, ...]:
        """The coordinates that the action names: lines, then group coordinates."""
        return (*(q for q in self.action if isinstance(q, Coordinate)), *self.groups)

    def act(self, g: Sequence[Any], point: Mapping[Any, Any]) -> dict[Any, Expr]:
        """The image of a point {coordinate: expression} under a group element."""
        places = {q: sympy.sympify(e) for q, e in point.items()}
        moved = self._with(g) | places
        return places | {q: e.xreplace(moved) for q, e in self.action.items()}

    def _with(self, g: Sequence[Any]) -> dict[Any, Expr]:
        if isinstance(g, str) or not isinstance(g, Sequence) or len(g) != self.dimension:
            raise ModelError(
                f"symmetry: got {told(g)}. Expected a group element: {self.dimension} expressions, for "
                f"{', '.join(map(str, self.elements))}."
            )
        return dict(zip(self.elements, map(sympy.sympify, g), strict=True))

    # the Lie algebra
    @cached_property
    def generators(self) -> list[dict[Symbol, Expr]]:
        """For each element the field d/dg Phi(g, q) at the identity, {coordinate: component}."""
        e = dict(zip(self.elements, self.identity, strict=True))
        return [{q: tidy(f.diff(g).xreplace(e)) for q, f in self.action.items()} for g in self.elements]

    @cached_property
    def structure(self) -> list[list[list[Expr]]]:
        """c[i][j][k] with [e_i, e_j] = c[i][j][k] e_k in the Lie algebra."""
        a, b, law = self._law
        n = range(self.dimension)
        e = self._at_identity

        def second(k: int, i: int, j: int) -> Expr:
            return law[k].diff(a[i]).diff(b[j]).xreplace(e)

        return [[[tidy(second(k, i, j) - second(k, j, i)) for k in n] for j in n] for i in n]

    def bracket(self, xi: Sequence[Any], eta: Sequence[Any]) -> tuple[Expr, ...]:
        """[xi, eta], components in the basis of the generators."""
        n, c = range(self.dimension), self.structure
        return tuple(sympy.Add(*(c[i][j][k] * xi[i] * eta[j] for i in n for j in n)) for k in n)

    @cached_property
    def is_abelian(self) -> bool:
        """Whether all brackets are zero."""
        return all(c == 0 for rows in self.structure for row in rows for c in row)

    # the group
    @cached_property
    def _pair(self) -> tuple[list[Symbol], list[Symbol]]:
        first, second = ([sympy.Symbol(f"{g.name}.{k}", real=True) for g in self.elements] for k in ("a", "b"))
        return first, second

    @cached_property
    def _at_identity(self) -> dict[Symbol, Expr]:
        """The identity, for the symbols of elements and of two factors."""
        a, b = self._pair
        return {s: e for row in (self.elements, a, b) for s, e in zip(row, self.identity, strict=True)}

    @cached_property
    def _law(self) -> tuple[list[Symbol], list[Symbol], list[Expr]]:
        """Symbols of two factors and the components of their product."""
        a, b = self._pair
        after = self.act(a, self.act(b, {q: q for q in self.coordinates}))
        guesses = {g: (x + y, x * y) for g, x, y in zip(self.elements, a, b, strict=True)}
        e = self._at_identity
        for law in self._solutions(self.action, after, guesses):
            image = self.act(law, {q: q for q in self.coordinates})
            unit = [(c.xreplace({s: e[s] for s in a}), y) for c, y in zip(law, b, strict=True)]
            if equal_near([*unit, *((image[q], after[q]) for q in self.action)], e, self.groups):
                return a, b, law
        raise ModelError(
            "symmetry: the action is that of a group, but its law was not found in closed form. Write it with other elements, "
            "such as angles and displacements, or with fewer of them."
        )

    @cached_property
    def _inverse(self) -> list[Expr]:
        a, b, law = self._law
        there = self.act(a, {q: q for q in self.coordinates})
        back = {q: e.xreplace(there) for q, e in self.action.items()}
        guesses = {g: (-x, 1 / x) for g, x in zip(self.elements, a, strict=True)}
        own = [c.xreplace(dict(zip(b, self.elements, strict=True))) for c in law]
        from_law = solve_near(list(zip(own, self.identity, strict=True)), self.elements, guesses, self._at_identity)
        simple = [1 / x if e == 1 else -x for x, e in zip(a, self.identity, strict=True)]
        known = [simple, *([from_law] if from_law else [])]
        found: list[Expr]
        for found in chain(known, self._solutions(back, {q: q for q in self.action}, guesses)):
            image = self.act(found, there)
            if equal_near([(image[q], q) for q in self.action], self._at_identity, self.groups):
                return found
        raise ModelError(
            "symmetry: the inverse of a group element was not found in closed form. Write the action with other elements, "
            "such as angles and displacements."
        )

    def _solutions(self, left: Mapping[Any, Expr], right: Mapping[Any, Expr], guesses: Mapping[Symbol, Any]) -> Any:
        """Elements for which two maps of the coordinates agree, found at several places and to several orders."""
        q = self.coordinates
        for order, at in product((1, 2), places(q)):
            pairs = list(
                zip(
                    jets([left[k] for k in self.action], q, at, order),
                    jets([right[k] for k in self.action], q, at, order),
                    strict=False,
                )
            )
            if any(e.has(sympy.zoo, sympy.nan, sympy.oo) for pair in pairs for e in pair):
                continue
            found = solve_near(pairs, self.elements, guesses, self._at_identity)
            if found is not None:
                yield found

    def product(self, a: Sequence[Any], b: Sequence[Any]) -> tuple[Expr, ...]:
        """The group law: Phi(product(a, b), q) = Phi(a, Phi(b, q)), near the identity."""
        first, second, law = self._law
        factors = [self._with(g).values() for g in (a, b)]
        both = {s: e for row, g in zip((first, second), factors, strict=True) for s, e in zip(row, g, strict=True)}
        return tuple(c.xreplace(both) for c in law)

    def inverse(self, a: Sequence[Any]) -> tuple[Expr, ...]:
        """The inverse of a group element, near the identity."""
        place = dict(zip(self._pair[0], self._with(a).values(), strict=True))
        return tuple(c.xreplace(place) for c in self._inverse)

    def left(self, a: Sequence[Any]) -> Matrix:
        """The derivative at the identity of b -> product(a, b): the velocity of g is left(g) xi with xi = g^-1 g'."""
        return self._translation(a, 0)

    def right(self, a: Sequence[Any]) -> Matrix:
        """The derivative at the identity of b -> product(b, a): the velocity of g is right(g) xi with xi = g' g^-1."""
        return self._translation(a, 1)

    @cached_property
    def _translations(self) -> tuple[Matrix, Matrix]:
        a, b, law = self._law
        e = self._at_identity

        def slopes(moved: Sequence[Symbol]) -> Matrix:
            at = {k: e[k] for k in moved}
            return Matrix([[tidy(c.diff(s).xreplace(at)) for s in moved] for c in law])

        return slopes(b), slopes(a)

    def _translation(self, a: Sequence[Any], side: int) -> Matrix:
        place = dict(zip(self._pair[side], self._with(a).values(), strict=True))
        return self._translations[side].xreplace(place)

    @cached_property
    def _adjoint(self) -> Matrix:
        a, _ = self._pair
        return (self.right(a).inv() * self.left(a)).applyfunc(tidy)

    def Ad(self, a: Sequence[Any]) -> Matrix:
        """Ad_a xi = a xi a^-1, a matrix: right(a)^-1 left(a). The coadjoint action <Ad*_a mu, xi> = <mu, Ad_a xi> is its
        transpose."""
        return self._adjoint.xreplace(dict(zip(self._pair[0], self._with(a).values(), strict=True)))

    # freeness
    @cached_property
    def _field_rows(self) -> list[list[Expr]]:
        return [[X[q] for q in self.action] for X in self.generators]

    @cached_property
    def _point_rows(self) -> list[list[Expr]]:
        """What the generators do to points: not to axes that are carried along."""
        axes = {e for R in self.groups if not R.transports for e in R.entries if e.place[1] != 2}
        return [[X[q] for q in self.action if q not in axes] for X in self.generators]

    @cached_property
    def is_free(self) -> bool:
        """Whether the generators are independent at almost all points."""
        return self._generic_rank() == self.dimension

    def _generic_rank(self) -> int:
        flat = [e for row in self._point_rows for e in row]
        grids = (balls.values(self._point_rows, at) for at in near_identity(flat, {}, 6, self.groups))
        return max((len(independent(grid)[0]) for grid in grids if grid is not None), default=0)

    @cached_property
    def singular(self) -> tuple[Expr, ...]:
        """Expressions that vanish together where the action is not free; empty if it is free everywhere."""
        return common_zeros(Matrix(self._point_rows), self.dimension)

    def _check_effective(self) -> None:
        for g, X in zip(self.elements, self.generators, strict=True):
            if all(map(vanishes, X.values())):
                raise ModelError(
                    f"symmetry: the element {g} moves nothing near the identity {self._identity_text()}: the derivatives of "
                    f"all images by {g} are zero there. Leave it out of elements=[...], or write the action with it."
                )
        flat = [e for row in self._field_rows for e in row]
        grids = [
            balls.values(self._field_rows, at) for at in near_identity(flat, {}, 2 * self.dimension + 2, self.groups)
        ]
        stacked = [[v for grid in grids if grid is not None for v in grid[k]] for k in range(self.dimension)]
        _, dependent = independent(stacked)
        for k, others in dependent.items():
            listed = ", ".join(str(self.elements[j]) for j in (*others, k))
            raise ModelError(
                f"symmetry: the elements {listed} do not act independently: a combination of their generators is zero. Leave "
                f"{self.elements[k]} out of elements=[...]."
            )

    def _check_action(self) -> None:
        """Lie's first theorem by value: d Phi/dg = X(Phi) psi(g), with a psi that does not depend on the point."""
        g = list(self.elements)
        slopes = jacobian([fast(e) for e in self.action.values()], g)
        moved = [[e.xreplace(self.action) for e in row] for row in self._field_rows]
        e = dict(zip(g, self.identity, strict=True))
        base = near_identity([*self.action.values()], e, 3 * self.dimension + 3, self.groups)
        for k in range(2):
            element = {s.name: base[k][s.name] for s in g}
            rows: list[list[Any]] = [[] for _ in range(2 * self.dimension)]
            for at in base:
                there = {**at, **{n: base[0][n] for n in at if n not in _names(self.coordinates)}, **element}
                fields = balls.values(moved, there)
                rates = balls.values([[row[j] for row in slopes] for j in range(self.dimension)], there)
                if fields is None or rates is None:
                    continue
                for row, part in zip(rows, (*fields, *rates), strict=True):
                    row.extend(part)
            kept, _ = independent(rows)
            if any(i >= self.dimension for i in kept):
                raise ModelError(
                    f"symmetry: this is no group action: moving by one element and then by another is not moving by a third. "
                    f"Expected Phi(a, Phi(b, q)) = Phi(c, q) with a c for all a, b near {self._identity_text()}; along "
                    f"{self.elements[max(kept) - self.dimension]} it fails."
                )

    def _identity_text(self) -> str:
        return ", ".join(f"{g} = {e}" for g, e in zip(self.elements, self.identity, strict=True))

    def _parts(self) -> list[Part]:
        names = ", ".join(map(str, self.elements))
        kind = "abelian" if self.is_abelian else "not abelian"
        parts: list[Part] = [f"symmetry with elements {names} (dimension {self.dimension}, {kind})"]
        parts += [sympy.Eq(Moved(q), e, evaluate=False) for q, e in self.action.items()]
        parts.append("Generators:")
        for g, X in zip(self.elements, self.generators, strict=True):
            parts.append((f"  {g}", sympy.Add(*(e * Along(q) for q, e in X.items()))))
        _a, _b = self._pair
        parts += [("product", Matrix(self._law[2])), ("inverse", Matrix(self._inverse))]
        if self.singular or not self.is_free:
            where = f"where {' and '.join(f'{e} = 0' for e in self.singular)}" if self.singular else "everywhere"
            parts.append(f"Not free: generators are dependent {where}.")
        return parts


def _names(symbols: Sequence[Symbol]) -> set[str]:
    return {s.name for s in symbols}
