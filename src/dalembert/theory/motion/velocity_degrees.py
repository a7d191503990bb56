"""Functions that are quadratic in the velocities, taken apart by degree: T = T2 + T1 + T0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...decide.sample import boundaries
from ...decide.zero import vanishes
from ...symbolic import Fast, fast, free_names, gradient, partials, substitution, total


@dataclass(frozen=True)
class Quadratic:
    """v.A v/2 + a.v + rest, with coefficients that are free of v."""

    mass: list[list[Fast]]
    linear: list[Fast]
    rest: Fast

    def second(self, velocities: Sequence[Any]) -> Fast:
        """v.A v/2."""
        v = [fast(x) for x in velocities]
        rows = zip(self.mass, v, strict=True)
        return total(a * x * y for row, x in rows for a, y in zip(row, v, strict=True) if a != 0) / 2

    def first(self, velocities: Sequence[Any]) -> Fast:
        """a.v."""
        return total(a * fast(x) for a, x in zip(self.linear, velocities, strict=True))


def quadratic_part(expression: Any, velocities: Sequence[Any]) -> Quadratic | None:
    """The coefficients of an expression that is quadratic in some variables; None of any other.

    It is, if no second derivative depends on them. Third derivatives are compared with their own terms: beside m c^2 a term
    v^4/c^2 looks like rounding.
    """
    n, zero, at_rest = len(velocities), fast(0), substitution(dict.fromkeys(velocities, 0))
    slopes = gradient(expression, velocities)
    second = partials(slopes, velocities)
    names = {fast(v).name for v in velocities}
    for d in {d for (i, j), d in second.items() if i <= j and free_names([d]) & names}:
        if not all(map(vanishes, partials([d], velocities).values())):
            return None
    mass = {place: at_rest(d).expand() for place, d in second.items()}
    found = Quadratic(
        [[mass.get((i, j), zero) for j in range(n)] for i in range(n)],
        [at_rest(p).expand() for p in slopes],
        at_rest(expression),
    )
    # |v| is linear in every branch, and not linear.
    if any(free_names([g]) & names for g in boundaries([expression])):
        whole = found.second(velocities) + found.first(velocities) + found.rest
        return found if vanishes(fast(expression) - whole) else None
    return found
