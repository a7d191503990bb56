"""Rules written for lines, applied to groups: points between the ends of a step, and displacements there.

A rule writes a point as (1 - b) q0 + b q1 in the slots of the coordinates. On a group it is q0 tau(xi)^b, with the
displacement xi from the first position to the second in place of the second slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model.coordinates import Coordinate, Direction
from ..model.space import fraction_of_step, groups
from ..symbolic import Fast, Vector, fast, substitute


def places(q: Sequence[Coordinate], position: Vector) -> dict[Any, Fast]:
    """The expression of every symbol of a position that a rule has written with the slots."""
    given = {c: position[i] for i, c in enumerate(q)}
    shares = fraction_of_step(q, given)
    if not shares:
        return given
    turned: dict[Any, Fast] = {}
    for R in groups(q):
        turned |= R.moved_entries(shares[R.name], [fast(d.at(1)) for d in R.directions])
    return {c: x for c, x in given.items() if not isinstance(c, Direction)} | turned


def from_start(e: Fast, q: Sequence[Coordinate]) -> Fast:
    """The slots of a rotation are displacements from the first position, which is its own origin."""
    origin = {d.at(0): 0 for R in groups(q) for d in R.directions}
    return substitute(e, origin) if origin else e


def displaced(q: Sequence[Coordinate], position: Vector, shares: list[list[Fast]]) -> list[Fast]:
    """The displacement of a point of a step, in its own frame, from those of the ends, in theirs.

    On a line they add up. The frame of a rotation turns between either end and the point.
    """
    n, moved = len(q), [sum(row, start=fast(0)) for row in shares]
    fractions = fraction_of_step(q, {c: position[i] for i, c in enumerate(q)})
    for R in groups(q):
        beta, xi = fractions[R.name], [fast(d.at(1)) for d in R.directions]
        first, rest = R.fraction(beta, xi), R.fraction(1 - beta, xi)
        at = [q.index(d) for d in R.directions]
        ends = [(shares[i][i], shares[i][n + i]) for i in at]
        for k, i in enumerate(at):
            turned = ((first[m][k] * a, rest[k][m] * b) for m, (a, b) in enumerate(ends))
            moved[i] = sum((x + y for x, y in turned), start=fast(0))
    return moved
