"""Composition: steps of a symmetric method, with lengths chosen so that the whole step has a higher order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..errors import MethodError
from ..errors import told as cut
from ..model.system import System
from ..numbers import reals
from ..symbolic import Fast
from ..waist.derived_steps import composed
from ..waist.stepmap import StepMap
from .base import Method, is_size
from .midpoint import Midpoint

# First halves of palindromic sequences for base methods of order 2, with the middle last.
_SEQUENCES = {
    # M. Suzuki, Phys. Lett. A 146 (1990): five steps, 1/(4 - 4^(1/3)) four times.
    4: (0.41449077179437573714, 0.41449077179437573714, -0.65796308717750294856),
    # W. Kahan and R.-C. Li, Math. Comp. 66 (1997): nine steps.
    6: (
        0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.08221359629355080023,
        0.79854399093482996340,
    ),
    # The same: seventeen steps.
    8: (
        0.13020248308889008088, 0.56116298177510838456, -0.38947496264484728641, 0.15884190655515560090,
        -0.39590389413323757734, 0.18453964097831570709, 0.25837438768632204729, 0.29501172360931029887,
        -0.60550853383003451170,
    ),
}  # fmt: skip


ROUNDING = 1e-13
"""Largest residual of an order condition, relative to the terms it is the sum of."""


class Composition(Method):
    """Steps of a symmetric method, composed to a higher order; invariants of the method are preserved.

    Composition(Midpoint(), order=4) takes a good sequence for that order (4, 6 or 8 for a method of order 2, two orders
    at a time by triple jumps for others); Composition(Midpoint(), coefficients=[...]) takes yours. The order conditions
    are checked here, to rounding.

    With entropies the first law holds where it holds for the composed method, and the energy has an error of O(h^order)
    otherwise. The second law does not hold, whatever is composed: in a step backward friction cools.
    """

    reference = "M. Suzuki, H. Yoshida, Phys. Lett. A 146 and 150, 1990; W. Kahan and R.-C. Li, Math. Comp. 66, 1997"

    def __init__(
        self, method: Method | None = None, order: int | None = None, coefficients: Sequence[float] | None = None
    ):
        method = Midpoint() if method is None else method
        order = 4 if order is None and coefficients is None else order
        if not isinstance(method, Method) or method.adaptive or not method.symmetric:
            raise MethodError(
                f"Composition({method!r}): only a symmetric method can be composed to a higher order, such as Midpoint(), "
                f"Trapezoidal(), StormerVerlet(), Gauss(s) or Lobatto(s)."
            )
        if order is not None and coefficients is not None:
            raise MethodError("Composition: give either order= or coefficients=, not both.")
        self.method = method
        self.coefficients = _numbers(coefficients) if order is None else tuple(_sequence(method.order, order))
        reached = reached_order(self.coefficients, method.order)
        if reached < (order or method.order):
            raise MethodError(
                f"Composition: these coefficients reach order {reached}, not {order or method.order}. They must add up to 1."
            )
        self._order = order or reached

    @property
    def order(self) -> int:  # type: ignore[override]
        """The order that the coefficients were found to have."""
        return self._order

    @property
    def lower_orders(self) -> Mapping[str, int]:  # type: ignore[override]
        """As the composed method, except for multipliers, which are computed from the state."""
        return {name: p for name, p in self.method.lower_orders.items() if name != "multipliers"}

    @property
    def symplectic(self) -> bool:  # type: ignore[override]
        """As the composed method."""
        return self.method.symplectic

    @property
    def momentum(self) -> bool:  # type: ignore[override]
        """As the composed method."""
        return self.method.momentum

    @property
    def constraints(self) -> bool:  # type: ignore[override]
        """As the composed method."""
        return self.method.constraints

    @property
    def energy(self) -> bool:  # type: ignore[override]
        """As the composed method."""
        return self.method.energy

    @property
    def impulsive(self) -> bool:  # type: ignore[override]
        """As the composed method."""
        return self.method.impulsive

    @property
    def degenerate_masses(self) -> bool:  # type: ignore[override]
        """As the composed method."""
        return self.method.degenerate_masses

    @property
    def groups(self) -> bool:  # type: ignore[override]
        """As the composed method."""
        return self.method.groups

    @property
    def carried_multipliers(self) -> bool:  # type: ignore[override]
        """As the composed method."""
        return self.method.carried_multipliers

    @property
    def whole_equations(self) -> bool:  # type: ignore[override]
        """As the composed method."""
        return self.method.whole_equations

    @property
    def interior(self) -> tuple[Any, ...]:  # type: ignore[override]
        """As the composed method."""
        return self.method.interior

    @property
    def carries(self) -> str:  # type: ignore[override]
        """As the composed method."""
        return self.method.carries

    @property
    def thermal(self) -> bool:  # type: ignore[override]
        """As the composed method; friction warms in the forward steps and cools in the backward ones, so no second law."""
        return self.method.thermal

    @property
    def first_law(self) -> bool:  # type: ignore[override]
        """As the composed method."""
        return self.method.first_law

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether the coefficients read the same backward, to rounding."""
        return all(abs(a - b) < 1e-14 for a, b in zip(self.coefficients, reversed(self.coefficients), strict=True))

    node_multipliers = False  # those of the first substep are only as accurate as that substep

    def obstacle(self, system: System) -> str:
        """It applies where the composed method does and the order is known to be reached."""
        reached = self.method.composable_constrained
        if system.constraints and self.order > reached and self.method.takes(system):
            return f"under constraints its order would be {reached}, not {self.order}."
        return self.method.obstacle(system)

    def instead(self) -> list[Method]:
        """First of all the midpoint rule, composed to the same order."""
        return [Composition(Midpoint(), order=max(self.order, 4)), *super().instead()]

    def step_map(self, system: System) -> StepMap:
        """The step of the method, repeated with fractions of h."""
        one = self.method.step_map(system)
        return composed(f"{system.name}, {self!r}", [one] * len(self.coefficients), self.coefficients)

    def laws(self, system: System) -> dict[str, Fast]:
        """Those of the composed method, in each substep."""
        return self.method.laws(system)

    def __repr__(self) -> str:
        base, order = self.method.order, self.order
        usual = order in range(base + 2, 9, 2) and self.coefficients == tuple(_sequence(base, order))
        told = f"order={order}" if usual else f"coefficients={list(self.coefficients)}"
        return f"Composition({self.method!r}, {told})"


def _numbers(given: object) -> tuple[float, ...]:
    """The coefficients given by the user."""
    try:
        found = reals(given, "coefficients", MethodError)
        numbers = tuple(found.tolist()) if found.ndim == 1 else ()
    except MethodError:
        numbers = ()
    if not numbers or not all(c and math.isfinite(c) for c in numbers):
        raise MethodError(
            f"Composition: coefficients = {cut(given)}. Expected numbers other than 0 that add up to 1, such as [0.5, 0.5]."
        )
    return numbers


def _sequence(base: int, order: int) -> list[float]:
    """A palindromic sequence for a base method of the given order."""
    if not is_size(order, range(1, 100)):
        raise MethodError(
            f"Composition: order = {cut(order)} ({type(order).__name__}). Expected a whole number: 4, 6 or 8."
        )
    if base == 2 and order in _SEQUENCES:
        half = _SEQUENCES[order]
        return _summing_to_one([*half, *half[-2::-1]])
    if order <= base or order % 2 or order > 8:
        raise MethodError(f"Composition: from order {base} to even orders above it, up to 8; not to order {order!r}.")
    steps = [1.0]
    for p in range(base, order, 2):  # triple jumps
        outer = 1 / (2 - 2 ** (1 / (p + 1)))
        steps = [f * s for f in (outer, 1 - 2 * outer, outer) for s in steps]
    return _summing_to_one(steps)


def _summing_to_one(steps: list[float]) -> list[float]:
    """The same to 16 digits, as doubles whose exact sum is 1: then the substeps add up to the step."""
    whole = [Fraction(round(c * 2**52), 2**52) for c in steps]
    middle = len(steps) // 2
    whole[middle] += 1 - sum(whole)
    return [float(c) for c in whole]


@lru_cache(maxsize=64)
def reached_order(coefficients: tuple[float, ...], base: int) -> int:
    """The order of a composition of a symmetric method, from the order conditions themselves.

    A symmetric method of order p is the flow of h A1 + h^(p+1) A(p+1) + h^(p+3) A(p+3) + ... with unknown operators A. The
    product of the flows of its steps must be the flow of h A1: every word in these letters is compared, degree by degree.
    """
    top = 9
    letters = [1, *range(base + 1, top + 1, 2)]
    product: Words = {(): 1.0}
    sizes: Words = {(): 1.0}  # the same with the sizes of all terms: the scale of rounding errors
    for c in coefficients:
        product = _times(product, _flow({(k,): c**k for k in letters}, top), top)
        sizes = _times(sizes, _flow({(k,): abs(c) ** k for k in letters}, top), top)
    wanted = _flow({(1,): 1.0}, top)
    for degree in range(1, top + 1):
        words = {w for w in (*product, *wanted) if sum(w) == degree}
        if any(abs(product[w] - wanted.get(w, 0.0)) > ROUNDING * sizes[w] for w in words):
            return degree - 1
    return top - 1


Words = dict[tuple[int, ...], float]


def _times(a: Words, b: Words, top: int) -> Words:
    result: Words = {}
    for u, x in a.items():
        for v, y in b.items():
            if sum(u) + sum(v) <= top:
                result[u + v] = result.get(u + v, 0.0) + x * y
    return result


def _flow(generator: Words, top: int) -> Words:
    """The exponential of a combination of letters, up to a degree."""
    result: Words = {(): 1.0}
    power: Words = {(): 1.0}
    for n in range(1, top + 1):
        power = _times(power, generator, top)
        for w, x in power.items():
            result[w] = result.get(w, 0.0) + x / math.factorial(n)
    return result
