"""Functions that are quadratic in the velocities, taken apart by degree: T = T2 + T1 + T0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...decide.sample import boundaries
from ...decide.zero import vanishes
from ...symbolic import Fast, fast, free_names, gradient, jacobian


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
        return sum((a * x * y for row, x in rows for a, y in zip(row, v, strict=True)), start=fast(0)) / 2

    def first(self, velocities: Sequence[Any]) -> Fast:
        """a.v."""
        return sum((a * fast(x) for a, x in zip(self.linear, velocities, strict=True)), start=fast(0))


def quadratic_part(expression: Any, velocities: Sequence[Any]) -> Quadratic | None:
    """The coefficients of an expression that is quadratic in some variables; None of any other.

    It is, if no second derivative depends on them. Third derivatives are compared with their own terms: beside m c^2 a term
    v^4/c^2 looks like rounding.
    """
    rest = {fast(v): fast(0) for v in velocities}
    slopes = gradient(expression, velocities)
    second = jacobian(slopes, velocities)
    names = [fast(v).name for v in velocities]
    for d in {d for i, row in enumerate(second) for d in row[i:] if free_names([d]) & set(names)}:
        if not all(vanishes(third) for third in gradient(d, velocities)):
            return None

    def at_rest(e: Fast) -> Fast:
        return e.subs(rest) if e.free_symbols else e

    found = Quadratic(
        [[at_rest(d).expand() for d in row] for row in second],
        [at_rest(p).expand() for p in slopes],
        at_rest(fast(expression)),
    )
    # |v| is linear in every branch, and not linear.
    if any(free_names([g]) & set(names) for g in boundaries([expression])):
        whole = found.second(velocities) + found.first(velocities) + found.rest
        return found if vanishes(fast(expression) - whole) else None
    return found
