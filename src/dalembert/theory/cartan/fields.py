"""Vector fields: derivatives of functions, brackets, integral curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Symbol

from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError, told
from ...model import checks
from ..algebra import tidy

if TYPE_CHECKING:
    from ...run.integral_curves import IntegralCurve

Basis = tuple[Symbol, ...]
"""The variables: coordinates, velocities, time."""


SHORT = 12
"""Expressions of up to so many operations are made short; others are kept as they were derived."""


def short(e: Expr) -> Expr:
    """Zero where it vanishes by value, a short form of a short expression."""
    if e.count_ops() <= SHORT:
        return tidy(e)
    return sympy.S.Zero if vanishes(e) else e


def same_basis(a: Any, b: Any, function: str) -> None:
    """Refuse to combine objects of different spaces."""
    if a.basis != b.basis:
        raise ModelError(
            f"{function}: one is written in {', '.join(map(str, a.basis))}, the other in {', '.join(map(str, b.basis))}. "
            "Expected both on the same space."
        )


def function_of(basis: Basis, given: Any, role: str) -> Expr:
    """An expression in the variables, parameters and time."""
    return checks.symbols(checks.expression(given, role), set(basis), role)


@dataclass(frozen=True, eq=False, repr=False)
class VectorField(Shown):
    """A vector field; `X(f)` is the derivative of f along it.

    components:  one for each variable
    """

    basis: Basis
    components: tuple[Expr, ...]

    def __getitem__(self, variable: Any) -> Expr:
        if variable not in self.basis:
            raise KeyError(f"{told(variable)} is none of {', '.join(map(str, self.basis))}.")
        return self.components[self.basis.index(variable)]

    def __call__(self, function: Any) -> Expr:
        f = function_of(self.basis, function, "function")
        return sympy.Add(*(c * f.diff(z) for z, c in zip(self.basis, self.components, strict=True)))

    def _made(self, component: Callable[[int], Expr]) -> VectorField:
        return VectorField(self.basis, tuple(short(component(k)) for k in range(len(self.basis))))

    def bracket(self, other: VectorField) -> VectorField:
        """[X, Y], with [X, Y](f) = X(Y(f)) - Y(X(f))."""
        same_basis(self, other, "bracket")
        return self._made(lambda k: self(other.components[k]) - other(self.components[k]))

    def __add__(self, other: VectorField) -> VectorField:
        same_basis(self, other, "sum")
        return self._made(lambda k: self.components[k] + other.components[k])

    def __sub__(self, other: VectorField) -> VectorField:
        return self + -1 * other

    def __rmul__(self, factor: Any) -> VectorField:
        f = function_of(self.basis, factor, "factor")
        return self._made(lambda k: f * self.components[k])

    @property
    def is_zero(self) -> bool:
        """Whether all components vanish, by value."""
        return all(map(vanishes, self.components))

    @property
    def is_isochronous(self) -> bool:
        """Whether it leaves time alone, as variations do."""
        return bool(vanishes(self.components[-1]))

    def integral_curve(
        self,
        start: Mapping[Any, Any],
        *,
        until: float,
        points: int = 101,
        parameters: Mapping[Any, Any] | None = None,
        rtol: float = 1e-10,
    ) -> IntegralCurve:
        """The curve dz/ds = X(z) from a point, for s from 0 to `until`, at so many equidistant points.

        start:  a number for each variable; time is 0 if it is left out
        """
        from ...run.integral_curves import integral_curve

        return integral_curve(self, start, until, points, parameters, rtol)

    def _parts(self) -> list[Part]:
        return [(f"d/d({z})", c) for z, c in zip(self.basis, self.components, strict=True) if c != 0] or ["0"]
