"""Calculus of variations: I[y] = integral of f(x, y, y') dx between two points.

    Euler's equation        d/dx df/dy' - df/dy = 0, one for each unknown function
    first integrals         df/dy' if y does not occur in f;  f - y' df/dy' if x does not occur (Beltrami)

Unknown functions are made with `dalembert.coordinates`, and `y.dot` stands for dy/dx whatever the variable is:

    x, y = da.coordinates("x y")
    time_of_descent = da.variations.Functional(sqrt((1 + y.dot**2)/(2*g*x)), y, x)
    time_of_descent.extremal({x: 0, y: 0}, {x: 1, y: 1}, parameters={g: 9.81})
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import sympy
from sympy import Eq, Expr, Matrix, Symbol

from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError, StartError, told
from ...model import checks
from ...model.coordinates import Coordinate, Parameter, time
from ...symbolic import numpy_function
from ..algebra import simplified

if TYPE_CHECKING:
    from .extremals import Extremal

Array = Any
"""A NumPy array; NumPy is imported when there are numbers to compute."""


@dataclass(frozen=True, repr=False)
class FirstIntegral(Shown):
    """A quantity constant along every extremal, and why."""

    expression: Expr
    reason: str

    def _parts(self) -> list[Part]:
        return [("constant", self.expression), self.reason + "."]


@dataclass(frozen=True, init=False, repr=False)
class Functional(Shown):
    """The integral of an expression in unknown functions y, their slopes y.dot and the variable.

    integrand:  f(x, y, y.dot)
    unknowns:   a coordinate, or a list of them: the functions sought
    variable:   what is integrated over: a coordinate, a parameter, or (by default) `dalembert.time`
    """

    integrand: Expr
    unknowns: tuple[Coordinate, ...]
    variable: Symbol
    parameters: tuple[Parameter, ...]

    def __init__(self, integrand: Any, unknowns: Coordinate | Sequence[Coordinate], variable: Symbol = time):
        y = checks.coordinates(unknowns)
        if not isinstance(variable, Coordinate | Parameter | type(time)):
            raise ModelError(
                f'Functional: the variable {variable!r} is not a symbol of this library. Make it with x = coordinates("x").'
            )
        if variable in y:
            raise ModelError(f"Functional: {variable} is both an unknown function and the variable. Use two names.")
        known = {s for c in y for s in (c, c.dot)} | {variable}
        if isinstance(variable, Coordinate) and variable.dot in getattr(integrand, "free_symbols", ()):
            raise ModelError(
                f"Functional: {variable.dot} occurs, but {variable} is the variable. Slopes are those of the unknown "
                f"functions: {y[0].dot} is d{y[0]}/d{variable}."
            )
        f = checks.symbols(checks.expression(integrand, "integrand"), known, "integrand")
        missing = [c.dot for c in y if c.dot not in f.free_symbols]
        if missing:
            raise ModelError(
                f"Functional: {missing[0]} does not occur in the integrand, so end points for {missing[0].coordinate} cannot "
                f"be prescribed. Write the integrand with {missing[0]} for the slope."
            )
        own = {s for s in f.free_symbols if isinstance(s, Parameter)} - {variable}
        found = tuple(sorted(own, key=lambda s: s.name))
        for name, value in (("integrand", f), ("unknowns", y), ("variable", variable), ("parameters", found)):
            object.__setattr__(self, name, value)

    # derivatives
    @property
    def slopes(self) -> tuple[Symbol, ...]:
        """The slopes y.dot of the unknown functions."""
        return tuple(y.dot for y in self.unknowns)

    @cached_property
    def momenta(self) -> tuple[Expr, ...]:
        """df/dy' for every unknown."""
        return tuple(self.integrand.diff(s) for s in self.slopes)

    def rate(self, e: Expr) -> Expr:
        """The derivative of an expression in x, y, y' along a curve, by the variable."""
        along = [(y, y.dot) for y in self.unknowns] + [(y.dot, y.ddot) for y in self.unknowns]
        return sympy.Add(e.diff(self.variable), *(e.diff(s) * r for s, r in along))

    @cached_property
    def variational_derivative(self) -> tuple[Expr, ...]:
        """df/dy - d/dx df/dy' for every unknown: the gradient of the functional."""
        return tuple(self.integrand.diff(y) - self.rate(p) for y, p in zip(self.unknowns, self.momenta, strict=True))

    @cached_property
    def euler_equations(self) -> tuple[Eq, ...]:
        """d/dx df/dy' - df/dy = 0 for every unknown."""
        return tuple(Eq(simplified(-e), 0, evaluate=False) for e in self.variational_derivative)

    @cached_property
    def first_integrals(self) -> tuple[FirstIntegral, ...]:
        """df/dy' of every unknown that does not occur itself; and f - y' df/dy' if the variable does not occur."""
        found = [
            FirstIntegral(simplified(p), f"{y} does not occur in the integrand, only its slope")
            for y, p in zip(self.unknowns, self.momenta, strict=True)
            if vanishes(self.integrand.diff(y))
        ]
        if vanishes(self.integrand.diff(self.variable)):
            beltrami = self.integrand - sympy.Add(*(s * p for s, p in zip(self.slopes, self.momenta, strict=True)))
            found.append(
                FirstIntegral(simplified(beltrami), f"{self.variable} does not occur in the integrand (Beltrami)")
            )
        return tuple(found)

    @cached_property
    def hessian(self) -> Matrix:
        """d2f/dy'dy': Euler's equation determines the second derivatives where it is regular."""
        return Matrix([[p.diff(s) for s in self.slopes] for p in self.momenta])

    # numbers
    @property
    def arguments(self) -> tuple[Symbol, ...]:
        """The order of the arguments of compiled expressions: variable, unknowns, slopes, parameters."""
        return (self.variable, *self.unknowns, *self.slopes, *self.parameters)

    def compiled(self, *expressions: Expr) -> Any:
        """A function of arrays (x, y..., y'..., parameters...) that gives a list of arrays."""
        return numpy_function(self.arguments, list(expressions), cse=True)

    def constants(self, parameters: Mapping[Any, Any] | None) -> list[float]:
        """The values of the parameters, in order."""
        return _numbers(parameters or {}, self.parameters, "parameters", {p.name for p in self.parameters})

    def ends(self, start: Mapping[Any, Any], end: Mapping[Any, Any]) -> tuple[list[float], list[float]]:
        """Two end points as lists: variable, then unknowns."""
        wanted = (self.variable, *self.unknowns)
        names = {s.name for s in wanted}
        a, b = (_numbers(p, wanted, role, names) for p, role in ((start, "start"), (end, "end")))
        if not a[0] < b[0]:
            raise StartError(
                f"end: {self.variable} = {b[0]:g} does not lie after the start at {a[0]:g}. Exchange the two."
            )
        return a, b

    def value(
        self,
        curve: Mapping[Coordinate, Any] | Extremal,
        between: tuple[float, float] | None = None,
        *,
        plus: Mapping[Coordinate, Any] | None = None,
        parameters: Mapping[Any, Any] | None = None,
    ) -> float:
        """The integral along a curve {y: expression in the variable} between two values of the variable.

        Or along an extremal that was found before (with its end points and parameters); `plus` adds {y: expression} to
        it: a variation. End points may be integrable singularities; an integral that diverges is an error.
        """
        from .extremals import functional_value

        return functional_value(self, curve, between, plus or {}, parameters)

    def extremal(
        self,
        start: Mapping[Any, Any],
        end: Mapping[Any, Any],
        *,
        parameters: Mapping[Any, Any] | None = None,
        by: Literal["quadrature", "collocation", "direct"] | None = None,
        guess: Mapping[Coordinate, Any] | None = None,
        nodes: int = 400,
    ) -> Extremal:
        """The curve through two points {x: ..., y: ...} that satisfies Euler's equation.

        by:     "quadrature" uses a first integral (one unknown; y, or x, does not occur in the integrand) and handles a
                vertical tangent or a singular integrand at the ends, and with one turning point; "collocation" solves
                Euler's equation; "direct" makes the functional stationary among polygons and does not use Euler's
                equation. By default the first of these that applies.
        guess:  {y: expression in the variable} to begin with, otherwise the straight line

        Stationary curves are found, whether least or not; `kind` says which, by the second variation.
        """
        from .extremal_search import find_extremal

        return find_extremal(self, start, end, parameters, by, guess, nodes)

    def _parts(self) -> list[Part]:
        names = ", ".join(y.name for y in self.unknowns)
        parts: list[Part] = [f"Functional of {names}({self.variable}): a dot stands for d/d{self.variable}"]
        parts += [("integrand", self.integrand), "Euler's equation:", *self.euler_equations]
        for integral in self.first_integrals:
            parts += [("constant along extremals", integral.expression), f"because {integral.reason}"]
        return parts


def _numbers(given: Any, wanted: Sequence[Symbol], role: str, names: set[str]) -> list[float]:
    """Numbers for all wanted symbols, given by symbol or by name."""
    example = ", ".join(f"{s.name}: ..." for s in wanted)
    if not isinstance(given, Mapping):
        raise StartError(f"{role}: got {told(given)}. Expected {{{example}}}.")
    found = {getattr(k, "name", k): v for k, v in given.items()}
    for name in found:
        if name not in names:
            raise StartError(f"{role}: {name} is unknown here. Expected {{{example}}}.")
    missing = [s.name for s in wanted if s.name not in found]
    if missing:
        raise StartError(f"{role}: no value for {', '.join(missing)}. Expected {{{example}}}.")
    try:
        return [float(found[s.name]) for s in wanted]
    except (TypeError, ValueError):
        raise StartError(f"{role}: values must be numbers. Expected {{{example}}}.") from None
