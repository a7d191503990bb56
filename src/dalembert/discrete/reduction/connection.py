"""Affine discrete connections: which steps count as horizontal.

A connection is held by its lift along the section: b(r0, r1) is the group element with (s(r0), Phi(b, s(r1))) horizontal.
On the trivial bundle A_d^t(r0, r1) is its inverse, and

    A_d(q0, q1) = g1 b(r0, r1)^-1 g0^-1,      q = Phi(g, s(r)),

so that A_d(g0 q0, g1 q1) = g1 A_d(q0, q1) g0^-1 (5.5). Steps with A_d = e are horizontal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr, Symbol

from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError
from ...model.coordinates import Coordinate
from ...model.space import flattened
from ...symbolic import Fast, fast, substitution
from ...theory.algebra import tidy
from ...waist.domain import conditions
from .bundle import Bundle, bundle, check_symmetry
from .charted_system import charted
from .connection_inputs import by_element, check_level, from_form, from_horizontal, from_lift, letters, stated
from .geodesics import computed_geodesics, is_constant, metric_matrix, orthogonality
from .implicit_element import Implicit

WAYS = "trivial={element: ...}, form={element: ...}, lift={coordinate: ...} or horizontal=[...]"


@dataclass(frozen=True, eq=False, init=False, repr=False)
class DiscreteConnection(Shown):
    """An affine discrete connection, from one of four inputs.

    symmetry, coordinates: the group action, and the coordinates of the configuration space
    horizontal: functions kappa(q0, q1), as many as the group has dimensions, that vanish on horizontal steps
    form:       {element: A_d in the slots x.at(0), x.at(1)}; it must satisfy A_d(g0 q0, g1 q1) = g1 A_d(q0, q1) g0^-1
    lift:       {coordinate: the end of the horizontal step}, in x.at(0) and in the shape coordinates r.at(1)
    trivial:    {element: A_d^t}, in r.at(0), r.at(1): any functions; elements left out are those of the identity
    section:    {coordinate: expression in the shape coordinates}; by default coordinates that the group moves are 0, or 1

    It has all four as attributes, besides `level`, gamma(q) with (q, gamma(q) q) horizontal, and `domain`, the conditions
    under which it is defined. `DiscreteConnection.riemannian` makes one from a metric. Where b has no closed form, its
    equations are solved in numbers: `apply`, `lifted`, `reduced` and `joined` then take numbers, and steps solve them too.
    """

    bundle: Bundle
    element: tuple[Fast, ...]
    """b(r0, r1), the inverse of A_d^t, in element coordinates; letters where it has no closed form."""
    implicit: Implicit | None
    """The equations of b where it has no closed form."""

    def __init__(
        self,
        symmetry: Any,
        coordinates: Sequence[Coordinate],
        *,
        horizontal: Sequence[Any] | None = None,
        form: Mapping[Any, Any] | None = None,
        lift: Mapping[Coordinate, Any] | None = None,
        trivial: Mapping[Any, Any] | None = None,
        section: Mapping[Coordinate, Any] | None = None,
    ):
        given = {"horizontal": horizontal, "form": form, "lift": lift, "trivial": trivial}
        named = [name for name, value in given.items() if value is not None]
        if len(named) != 1:
            raise ModelError(
                f"DiscreteConnection: got {' and '.join(named) or 'none'} of its inputs. Give one of {WAYS}."
            )
        check_symmetry(symmetry, "DiscreteConnection")
        over, implicit = bundle(symmetry, charted(flattened(coordinates)), section), None
        if horizontal is not None:
            b, implicit = from_horizontal(over, stated(over, list(horizontal), "horizontal"))
        elif form is not None:
            b = from_form(over, by_element(over, form, "form"))
        elif lift is not None:
            b = from_lift(over, lift)
        else:
            b = over.inverse(by_element(over, trivial or {}, "trivial", shape=True))
        for name, value in {"bundle": over, "element": tuple(b), "implicit": implicit}.items():
            object.__setattr__(self, name, value)

    @classmethod
    def along_section(
        cls, over: Bundle, element: Sequence[Fast] | None = None, implicit: Implicit | None = None
    ) -> DiscreteConnection:
        """The connection with a given b(r0, r1); the identity if it is left out."""
        made = cls.__new__(cls)
        b = tuple(over.identity if element is None else element)
        for name, value in {"bundle": over, "element": b, "implicit": implicit}.items():
            object.__setattr__(made, name, value)
        return made

    @classmethod
    def solving(
        cls, over: Bundle, equations: Sequence[Fast], begin: Sequence[Fast] | None = None
    ) -> DiscreteConnection:
        """The connection whose b solves equations in the letters of b and the slots of the shapes."""
        b = letters(over)
        implicit = Implicit(b, tuple(equations), tuple(over.identity if begin is None else begin))
        return cls.along_section(over, list(map(fast, b)), implicit)

    @classmethod
    def riemannian(
        cls,
        symmetry: Any,
        coordinates: Sequence[Coordinate],
        metric: Any,
        level: Mapping[Any, Any] | None = None,
        section: Mapping[Coordinate, Any] | None = None,
        way: Mapping[Coordinate, Any] | None = None,
    ) -> DiscreteConnection:
        """Hor = {(q, exp_p(v)): v orthogonal to the orbit at p = gamma(q) q}.

        metric: an invariant symmetric matrix in the order of the coordinates; level: {element: gamma}, at q
        way:    {coordinate: component of v}, the velocity at x.at(0) of the geodesic that is at x.at(1) after time one, or of
                other curves (a retraction). Without it geodesics are computed; those of a constant metric are straight.
        """
        check_symmetry(symmetry, "DiscreteConnection")
        over = bundle(symmetry, charted(flattened(coordinates)), section)
        matrix, gamma = metric_matrix(over, metric), by_element(over, level or {}, "level", node=True)
        if way is None and not is_constant(over, matrix):
            check_level(over, gamma)
            b = letters(over)
            return cls.along_section(over, list(map(fast, b)), computed_geodesics(over, matrix, gamma, b))
        element, implicit = from_horizontal(over, orthogonality(over, matrix, gamma, way))
        return cls.along_section(over, element, implicit)

    # the four descriptions

    @cached_property
    def trivial(self) -> dict[Symbol, Expr]:
        """A_d^t(r0, r1)."""
        self._need_closed_form("trivial")
        return self._elements(self.bundle.inverse(self.element))

    @cached_property
    def form(self) -> dict[Symbol, Expr]:
        """A_d(q0, q1) in the slots."""
        self._need_closed_form("form")
        return self._elements(self.apply(*self._slots))

    @cached_property
    def horizontal(self) -> tuple[Expr, ...]:
        """Functions of (q0, q1) that vanish on horizontal steps: the coordinates of A_d, less those of the identity."""
        pairs = zip(self.form.values(), self.bundle.identity, strict=True)
        return tuple(e - self.bundle.read(zero) for e, zero in pairs)

    @cached_property
    def lift(self) -> dict[Coordinate, Expr]:
        """The end of the horizontal step from q0 to the shape r1, in x.at(0) and r.at(1)."""
        self._need_closed_form("lift")
        found = self.lifted(self._slots[0], self.bundle.shape_at(1))
        return {c: tidy(self.bundle.read(e)) for c, e in found.items()}

    @cached_property
    def level(self) -> dict[Symbol, Expr]:
        """gamma(q), with (q, gamma(q) q) horizontal, in the coordinates."""
        self._need_closed_form("level")
        here = {c: fast(c) for c in self.bundle.coordinates}
        return self._elements(self.bundle.inverse(self.apply(here, here)))

    def _need_closed_form(self, what: str) -> None:
        if self.implicit is not None:
            raise ModelError(
                f"{what}: the group element of a horizontal step of this connection has no closed form; its equations are "
                f"those that print(connection) shows. Of positions in numbers use apply(q0, q1), lifted(q0, r1), "
                f"reduced(q0, q1) or joined(q0, theta, r1)."
            )

    @cached_property
    def equations(self) -> tuple[Expr, ...]:
        """What vanishes at the group element b of a horizontal step; empty where b has a closed form."""
        if self.implicit is None:
            return ()
        return tuple(self.bundle.read(e, *self.implicit.unknowns) for e in self.implicit.equations)

    @cached_property
    def is_plain(self) -> bool:
        """Whether (q, q) is horizontal for all q: a discrete connection, not only an affine one."""
        here = dict(
            zip((*self.bundle.shape_at(0), *self.bundle.shape_at(1)), map(fast, self.bundle.shape * 2), strict=True)
        )
        begin = self.element if self.implicit is None else self.implicit.begin[: self.bundle.dimension]
        pairs = zip(map(substitution(here), begin), self.bundle.identity, strict=True)
        still = all(vanishes(e - zero) for e, zero in pairs)
        return still and (self.implicit is None or self.implicit.begins_exactly(here))

    @cached_property
    def domain(self) -> tuple[Expr, ...]:
        """Conditions on the two shapes under which the connection is defined; empty if it is defined everywhere.

        A motion that leaves the domain ends there: status `LEFT_DOMAIN`. Where b has no closed form it ends besides where its
        equations do not determine it, as any step without a solution.
        """
        formulas = self.element if self.implicit is None else self.implicit.equations
        found = [_condition(c.kind, [self.bundle.read(e, *letters(self.bundle)) for e in c.terms])
                 for c in conditions(formulas)]  # fmt: skip
        return tuple(c for c in found if c is not None and c != sympy.true)

    # values

    def between(self, r0: Sequence[Any], r1: Sequence[Any], parameters: Mapping[Any, Any] | None = None) -> list[Fast]:
        """b(r0, r1) at two shapes; they must be numbers where b has no closed form."""
        slots = [c.at(k) for k in (0, 1) for c in self.bundle.shape]
        known = dict(zip(slots, (*r0, *r1), strict=True)) | dict(parameters or {})
        if self.implicit is None:
            at = substitution(known)
            return [at(e) for e in self.element]
        values = {getattr(s, "name", str(s)): fast(e) for s, e in known.items()}
        if any(e.free_symbols for e in values.values()):
            self._need_closed_form("between")
        found = self.implicit.values({name: float(e) for name, e in values.items()})
        return [fast(float(e)) for e in found[: self.bundle.dimension]]

    def apply(
        self, q0: Mapping[Coordinate, Any], q1: Mapping[Coordinate, Any], parameters: Mapping[Any, Any] | None = None
    ) -> list[Fast]:
        """A_d(q0, q1)."""
        over = self.bundle
        (g0, r0), (g1, r1) = over.located(q0), over.located(q1)
        return over.product(g1, over.inverse(over.product(g0, self.between(r0, r1, parameters))))

    def lifted(
        self, q0: Mapping[Coordinate, Any], r1: Sequence[Any], parameters: Mapping[Any, Any] | None = None
    ) -> dict[Coordinate, Fast]:
        """The end of the horizontal step from q0 to the shape r1."""
        g0, r0 = self.bundle.located(q0)
        return self.bundle.act(self.bundle.product(g0, self.between(r0, r1, parameters)), self.bundle.placed(r1))

    def reduced(
        self, q0: Mapping[Coordinate, Any], q1: Mapping[Coordinate, Any], parameters: Mapping[Any, Any] | None = None
    ) -> tuple[list[Fast], list[Fast], list[Fast]]:
        """(r0, theta, r1) of a pair: its class under the group, theta = g0^-1 A_d(q0, q1) g0."""
        over = self.bundle
        (g0, r0), (g1, r1) = over.located(q0), over.located(q1)
        u = over.product(over.inverse(g0), g1)
        return r0, over.product(u, over.inverse(self.between(r0, r1, parameters))), r1

    def joined(
        self, q0: Mapping[Coordinate, Any], theta: Sequence[Any], r1: Sequence[Any],
        parameters: Mapping[Any, Any] | None = None,
    ) -> dict[Coordinate, Fast]:  # fmt: skip
        """q1 of the pair that begins at q0 and has the class (r0, theta, r1)."""
        over = self.bundle
        g0, r0 = over.located(q0)
        return over.act(over.product(over.product(g0, theta), self.between(r0, r1, parameters)), over.placed(r1))

    @property
    def _slots(self) -> tuple[dict[Coordinate, Fast], dict[Coordinate, Fast]]:
        q = self.bundle.coordinates
        return {c: fast(c.at(0)) for c in q}, {c: fast(c.at(1)) for c in q}

    def _elements(self, values: Sequence[Fast]) -> dict[Symbol, Expr]:
        return {s: tidy(self.bundle.read(e)) for s, e in zip(self.bundle.symmetry.elements, values, strict=True)}

    def _parts(self) -> list[Part]:
        kind = "discrete connection" if self.is_plain else "affine discrete connection"
        shape = ", ".join(r.name for r in self.bundle.shape) or "a point"
        parts: list[Part] = [f"{kind}, shapes: {shape}"]
        if self.implicit is None:
            parts += [(f"A_d^t, {s}", e) for s, e in self.trivial.items()]
        else:
            names = ", ".join(map(str, self.implicit.unknowns))
            parts += [f"Steps solve for {names}:", *(sympy.Eq(e, 0, evaluate=False) for e in self.equations)]
        return [*parts, *(["defined where", *self.domain] if self.domain else [])]


def _condition(kind: str, terms: Sequence[Expr]) -> Any:
    """A condition of a domain as an inequality; None for the number of a branch, whose boundary is a condition of its own."""
    if kind == "nonzero":
        return sympy.Ne(terms[0] if len(terms) == 1 else sympy.Add(*(e**2 for e in terms)), 0)
    return {"positive": terms[0] > 0, "nonnegative": terms[0] >= 0}.get(kind)
