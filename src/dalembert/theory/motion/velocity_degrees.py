"""Functions that are quadratic in the velocities, split by degree: T = T2 + T1 + T0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...decide.sample import boundaries
from ...decide.zero import vanishes
from ...symbolic import Fast, fast, free_names, gradient, partials, substitution, total


@dataclass(frozen=True)
class Quadratic:
    """v.A v/2 + a.v + rest, with coefficients that are free of v."""

    coefficients: dict[tuple[int, int], Fast]
    """The entries of A that are not zero, by row and column."""
    linear: list[Fast]
    rest: Fast

    @cached_property
    def mass(self) -> list[list[Fast]]:
        """A by rows."""
        n, zero = len(self.linear), fast(0)
        return [[self.coefficients.get((i, j), zero) for j in range(n)] for i in range(n)]

    def second(self, velocities: Sequence[Any]) -> Fast:
        """v.A v/2."""
        v = [fast(x) for x in velocities]
        return total(a * v[i] * v[j] for (i, j), a in self.coefficients.items()) / 2

    def first(self, velocities: Sequence[Any]) -> Fast:
        """a.v."""
        return total(a * fast(x) for a, x in zip(self.linear, velocities, strict=True))


def quadratic_part(expression: Any, velocities: Sequence[Any]) -> Quadratic | None:
    """The coefficients of an expression that is quadratic in some variables; None for any other.

    It is quadratic if no second derivative depends on them. Third derivatives are compared with their own terms: relative to
    m c^2 a term v^4/c^2 would look like rounding.
    """
    at_rest = substitution(dict.fromkeys(velocities, 0))
    slopes = gradient(expression, velocities)
    second = partials(slopes, velocities)
    names = {fast(v).name for v in velocities}
    for d in {d for (i, j), d in second.items() if i <= j and free_names([d]) & names}:
        if not all(map(vanishes, partials([d], velocities).values())):
            return None
    found = Quadratic(
        {place: at_rest(d).expand() for place, d in second.items()},
        [at_rest(p).expand() for p in slopes],
        at_rest(expression),
    )
    # |v| is linear in every branch, but not linear.
    if any(free_names([g]) & names for g in boundaries([expression])):
        whole = found.second(velocities) + found.first(velocities) + found.rest
        return found if vanishes(fast(expression) - whole) else None
    return found
