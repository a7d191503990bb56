"""Finite-difference maps: how a pair of positions represents a position and a velocity.

    psi(q0, q1) = ((1 - b) q0 + b q1, (q1 - q0)/h),      b = 0 left, b = 1/2 midpoint, b = 1 right

Time is treated as one more coordinate, so an explicit t becomes t + b h. Entropies are treated as coordinates that come
last: the map acts on (q, S), as psi_Q x psi_R.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import sympy

from ..decide.decimals import exact
from ..decide.elimination import highest_rank
from ..decide.sample import points_on
from ..decide.zero import vanishes
from ..errors import ModelError, told
from ..numbers import real
from ..symbolic import Fast, Vector, fast, gradient, vector

if TYPE_CHECKING:
    from ..model.system import System
    from ..waist.stepmap import StepMap
    from .system import DiscreteSystem

Density = Callable[[Vector, Vector, Fast], Fast]
"""A function of position, velocity and time: a Lagrangian, a power, a constraint."""


class Discretisation(Protocol):
    """Anything that turns a function of (q, v, t) into a function of (q0, q1): a map, or a variational method."""

    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast) -> Fast:
        """L_d(q0, q1), an approximation of the integral of L over one step.

        A rule with an attribute `interior`, the fractions of the step at which it has positions of its own, is called
        with these as further arguments, and L_d is made stationary with respect to them.
        """
        ...


class _Map:
    """A finite-difference map by its base point and velocity; L_d = h L o psi."""

    def base(self, q0: Any, q1: Any) -> Any:
        """The base point of psi(q0, q1)."""
        raise TypeError

    def velocity(self, q0: Any, q1: Any, h: Any) -> Any:
        """The velocity of psi(q0, q1)."""
        return (q1 - q0) / h

    def instant(self, t: Fast, h: Fast) -> Fast:
        """The time in the step at which explicit time is evaluated."""
        return t + h / 2

    def discrete_lagrangian(self, L: Density, q0: Vector, q1: Vector, t: Fast, h: Fast) -> Fast:
        """h L(base point, velocity, base time)."""
        return h * L(self.base(q0, q1), self.velocity(q0, q1, h), self.instant(t, h))

    def discrete_system(self, system: System) -> DiscreteSystem:
        """The discrete system of a system by this map."""
        from .system import discretise

        return discretise(system, self)

    def step_map(self, system: System) -> StepMap:
        """The step of that discrete system: the map as a method, for backward error analysis."""
        from .equations import step_map

        return step_map(self.discrete_system(system))


@dataclass(frozen=True)
class FiniteDifferenceMap(_Map):
    """The map with base point (1 - b) q0 + b q1 and velocity (q1 - q0)/h; exact rational `b` is kept exact."""

    b: Any

    def __post_init__(self) -> None:
        try:
            inside = 0 <= real(self.b, "b", ModelError) <= 1
        except ModelError:
            inside = False
        if not inside:
            raise ModelError(
                f"FiniteDifferenceMap(b={told(self.b)}): b is the place of the base point between q0 (b = 0) and q1 (b = 1). "
                f"Give a number from 0 to 1."
            )
        exactly = self.b if isinstance(self.b, int | Fraction | sympy.Expr) else float(self.b)
        object.__setattr__(self, "b", exact(exactly))

    def base(self, q0: Any, q1: Any) -> Any:
        """(1 - b) q0 + b q1."""
        return q0 + (q1 - q0) * fast(self.b)

    def instant(self, t: Fast, h: Fast) -> Fast:
        """t + b h."""
        return t + fast(self.b) * h


class ProductMap(_Map):
    """One map for each coordinate, then one for each entropy: ProductMap(left_map, midpoint_map) for two of them.

    Explicit time is evaluated in the middle of the step.
    """

    def __init__(self, *maps: FiniteDifferenceMap):
        if not maps or not all(isinstance(m, FiniteDifferenceMap) for m in maps):
            raise ModelError(f"ProductMap{maps!r}: give one FiniteDifferenceMap for each coordinate, in order.")
        self.maps = maps

    def __repr__(self) -> str:
        return f"ProductMap({', '.join(map(repr, self.maps))})"

    def base(self, q0: Any, q1: Any) -> Any:
        """The base point of each coordinate by its own map."""
        if len(self.maps) != len(q0):
            raise ModelError(_wrong_number("ProductMap has", len(self.maps), "maps", len(q0), 0))
        return vector([m.base(a, b) for m, a, b in zip(self.maps, q0, q1, strict=True)])


class CustomMap(_Map):
    """A finite-difference map of your own: base(q0, q1) and velocity(q0, q1, h), functions of lists of expressions.

    The lists hold the coordinates, then the entropies, in the order of the system, and so must the lists returned. It must
    send (q, q) to the zero velocity at q, and be invertible near there; `discretise` checks both.

    instant: the fraction of the step at which explicit time is evaluated
    """

    def __init__(
        self,
        base: Callable[..., Any],
        velocity: Callable[..., Any] | None = None,
        instant: Any = 0.5,
    ):
        if not callable(base) or not (velocity is None or callable(velocity)):
            raise ModelError(
                f"CustomMap({base!r}, {velocity!r}): give functions, base(q0, q1) and velocity(q0, q1, h), that return lists."
            )
        self._base, self._velocity, self._b = base, velocity, FiniteDifferenceMap(instant).b

    def __repr__(self) -> str:
        names = [getattr(f, "__name__", repr(f)) for f in (self._base, self._velocity) if f is not None]
        return f"CustomMap({', '.join(names)})"

    def instant(self, t: Fast, h: Fast) -> Fast:
        """t + instant h."""
        return t + fast(self._b) * h

    def base(self, q0: Any, q1: Any) -> Any:
        """The given base point."""
        return self._result("base", self._base, list(q0), list(q1))

    def velocity(self, q0: Any, q1: Any, h: Any) -> Any:
        """The given velocity, or the difference quotient."""
        if self._velocity is None:
            return (q1 - q0) / h
        return self._result("velocity", self._velocity, list(q0), list(q1), h)

    def _result(self, role: str, function: Callable[..., Any], *given: Any) -> Vector:
        try:
            return vector([fast(x) for x in function(*given)])
        except (TypeError, ValueError) as error:
            taken = "q0, q1" if role == "base" else "q0, q1, h"
            raise ModelError(
                f"CustomMap: {role}({taken}) is to return a list of expressions, one per coordinate; here: {error}."
            ) from error


def check_map(map: Any, names: Sequence[str], entropies: Sequence[str] = ()) -> None:
    """psi(q, q) = 0 at q, and the derivative of psi is invertible there: by value at random points."""
    if not isinstance(map, _Map):
        return
    n, m = len(names), len(entropies)
    if isinstance(map, ProductMap) and len(map.maps) != n + m:
        raise ModelError(_wrong_number("ProductMap has", len(map.maps), "maps", n, m))
    if not isinstance(map, CustomMap):  # true of (1 - b) q0 + b q1 and (q1 - q0)/h, whatever b is
        return
    names = [*names, *entropies]
    first, second = [fast(f"{x}.at(0)") for x in names], [fast(f"{x}.at(1)") for x in names]
    base = list(map.base(vector(first), vector(second)))
    velocity = list(map.velocity(vector(first), vector(second), fast("step.h")))
    for role, given in (("base", base), ("velocity", velocity)):
        if len(given) != n + m:
            raise ModelError(_wrong_number(f"CustomMap: {role} returns", len(given), "expressions", n, m))
    together = {b: a for a, b in zip(first, second, strict=True)}
    off = [b.subs(together) - q for b, q in zip(base, first, strict=True)]
    if not all(vanishes(e) for e in (*off, *(v.subs(together) for v in velocity))):
        raise ModelError("the finite-difference map does not send (q, q) to the zero velocity at q.")
    slopes = [[d.subs(together) for d in gradient(e, [*first, *second])] for e in (*base, *velocity)]
    if highest_rank(slopes, points_on([], [s.name for s in first], ["step.h"])) < len(slopes):
        raise ModelError("the finite-difference map is not invertible near (q, q).")


def _wrong_number(who: str, count: int, what: str, coordinates: int, entropies: int) -> str:
    told = f"{coordinates} coordinate{'s' if coordinates != 1 else ''}"
    if not entropies:
        return f"{who} {count} {what}, but the system has {told}."
    told += f" and {entropies} entrop{'ies' if entropies != 1 else 'y'}"
    return f"{who} {count} {what}, but the system has {told}. Give one for each: coordinates first, then entropies."


left_map = FiniteDifferenceMap(0)
midpoint_map = FiniteDifferenceMap(sympy.Rational(1, 2))
right_map = FiniteDifferenceMap(1)
