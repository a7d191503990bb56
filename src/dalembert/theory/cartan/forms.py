"""Differential forms: exterior derivative and product, interior product, Lie derivative, pull-back to a section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import sympy
from sympy import Expr

from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError, told
from ...model.coordinates import Velocity
from ..algebra import Allowance
from ..constraints.integrability import potential
from .fields import Basis, VectorField, function_of, same_basis, short

Indices = tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Form(Shown):
    """A differential form.

    degree:  0 for a function
    parts:   the coefficient of dz_i dz_j ... for each increasing tuple of places
    """

    basis: Basis
    degree: int
    parts: Mapping[Indices, Expr]

    def __getitem__(self, variables: Any) -> Expr:
        """The coefficient of dx, or of dx dy for `form[x, y]`, with its sign."""
        listed = variables if isinstance(variables, tuple) else (variables,)
        if len(listed) != self.degree or any(z not in self.basis for z in listed):
            raise KeyError(f"{told(variables)}: expected {self.degree} of {', '.join(map(str, self.basis))}.")
        places = [self.basis.index(z) for z in listed]
        return _sign(places) * self.parts.get(tuple(sorted(places)), sympy.S.Zero)

    def _made(self, degree: int, parts: Mapping[Indices, Any]) -> Form:
        found = {i: short(sympy.sympify(c)) for i, c in parts.items()}
        return Form(self.basis, degree, {i: c for i, c in found.items() if c != 0})

    def d(self) -> Form:
        """The exterior derivative."""
        found: dict[Indices, Expr] = {}
        for places, c in self.parts.items():
            for k, z in enumerate(self.basis):
                if k not in places:
                    into = (k, *places)
                    found[tuple(sorted(into))] = found.get(tuple(sorted(into)), 0) + _sign(into) * c.diff(z)
        return self._made(self.degree + 1, found)

    def wedge(self, other: Form) -> Form:
        """The exterior product."""
        same_basis(self, other, "wedge")
        found: dict[Indices, Expr] = {}
        for a, c in self.parts.items():
            for b, e in other.parts.items():
                if not set(a) & set(b):
                    into = tuple(sorted(a + b))
                    found[into] = found.get(into, 0) + _sign(a + b) * c * e
        return self._made(self.degree + other.degree, found)

    def interior(self, field: VectorField) -> Form:
        """i_X of the form: the field as its first argument."""
        same_basis(self, field, "interior product")
        if not self.degree:
            return self._made(0, {})
        found: dict[Indices, Expr] = {}
        for places, c in self.parts.items():
            for k, place in enumerate(places):
                rest = places[:k] + places[k + 1 :]
                found[rest] = found.get(rest, 0) + (-1) ** k * c * field.components[place]
        return self._made(self.degree - 1, found)

    def lie_derivative(self, field: VectorField) -> Form:
        """The rate of the form along the flow of a field, from the derivatives of its coefficients and of dz."""
        same_basis(self, field, "Lie derivative")
        found: dict[Indices, Expr] = {}
        for places, c in self.parts.items():
            found[places] = found.get(places, 0) + field(c)
            for k, place in enumerate(places):
                for j, z in enumerate(self.basis):
                    into = (*places[:k], j, *places[k + 1 :])
                    if len(set(into)) == len(into):
                        key = tuple(sorted(into))
                        found[key] = found.get(key, 0) + _sign(into) * c * field.components[place].diff(z)
        return self._made(self.degree, found)

    def __add__(self, other: Form) -> Form:
        same_basis(self, other, "sum")
        if self.degree != other.degree:
            raise ModelError(f"sum: forms of degree {self.degree} and {other.degree}. Expected the same degree.")
        keys = {*self.parts, *other.parts}
        return self._made(self.degree, {i: self.parts.get(i, 0) + other.parts.get(i, 0) for i in keys})

    def __sub__(self, other: Form) -> Form:
        return self + -1 * other

    def __rmul__(self, factor: Any) -> Form:
        f = function_of(self.basis, factor, "factor")
        return self._made(self.degree, {i: f * c for i, c in self.parts.items()})

    @property
    def value(self) -> Expr:
        """The function that a form of degree zero is."""
        if self.degree:
            raise ModelError(
                f"value: this is a form of degree {self.degree}. Expected a function; contract it with fields."
            )
        return self.parts.get((), sympy.S.Zero)

    @property
    def is_zero(self) -> bool:
        """Whether all coefficients vanish, by value."""
        return all(map(vanishes, self.parts.values()))

    @property
    def is_closed(self) -> bool:
        """Whether d of it is zero; then it is d of a form near every point."""
        return self.d().is_zero

    def potential(self) -> Expr | None:
        """The function whose d a closed form of degree one is; None if it was not found in closed form."""
        if self.degree != 1:
            raise ModelError(f"potential: this is a form of degree {self.degree}. Expected degree 1.")
        if not self.is_closed:
            raise ModelError("potential: this form is not closed, so it is not d of a function.")
        row = [self.parts.get((k,), sympy.S.Zero) for k in range(len(self.basis))]
        return potential(row, self.basis, Allowance())

    def pulled_back(self, section: Mapping[Any, Any]) -> Form:
        """The form on (x, t) that it becomes on a section v = v(x, t): {x.dot: expression, ...} for every velocity."""
        velocities = [s for s in self.basis if isinstance(s, Velocity)]
        kept = tuple(s for s in self.basis if s not in velocities)
        if set(section) != set(velocities):
            raise ModelError(
                f"pulled_back: got {told(dict(section))}. Expected an expression for each of "
                f"{', '.join(map(str, velocities))}."
            )
        into = {v: function_of(kept, e, f"section {v}") for v, e in section.items()}
        rows = [[into.get(z, z).diff(k) for k in kept] for z in self.basis]
        found: dict[Indices, Expr] = {}
        for places, c in self.parts.items():
            for chosen in combinations(range(len(kept)), self.degree):
                minor = sympy.Matrix([[rows[i][k] for k in chosen] for i in places]).det() if places else sympy.S.One
                found[chosen] = found.get(chosen, 0) + c.xreplace(into) * minor
        return Form(kept, self.degree, {})._made(self.degree, found)

    def _parts(self) -> list[Part]:
        named = [(" ".join(f"d({self.basis[k]})" for k in i) or "1", c) for i, c in sorted(self.parts.items())]
        return list(named) or ["0"]


def _sign(places: Any) -> int:
    """1 or -1: whether it takes an even or odd number of swaps to sort some places."""
    listed = list(places)
    return -1 if sum(a > b for a, b in combinations(listed, 2)) % 2 else 1
