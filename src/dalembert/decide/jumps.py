"""Where an expression jumps: boundaries between its branches on whose two sides it has different limits.

Derivatives taken branch by branch do not detect jumps. So a quantity whose rate is zero in every branch is constant only if
it has no jumps either.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..symbolic import Fast, fast, free_names
from . import balls
from .balls import Ball
from .sample import boundaries, drawn, in_branches, projected
from .scale import natural_scales

_NEAR, _NEARER = 60, 90
"""Distances from the boundary, in bits, at which the two sides are evaluated."""

_STARTS = 6


def jumps(expression: Any, moving: Iterable[Any], scales: Mapping[str, float] | None = None) -> list[Fast]:
    """The boundaries, crossed by changing one of the `moving` symbols, across which an expression jumps.

    A difference that does not decrease as the boundary is approached is a jump, in any units.
    """
    e = fast(expression)
    edges = boundaries([e])
    if not edges:
        return []
    names, every = {str(s) for s in moving}, sorted(free_names([e]))
    kinks = [g for g in edges if free_names([g]) & names]
    scales = scales or natural_scales([[e], *([g] for g in kinks)], every) if kinks else {}
    rng = random.Random(11)
    return [g for g in kinks if any(_jumps_near(e, g, s, scales, names) for s in _starts(every, kinks, scales, rng))]


def _starts(
    names: Sequence[str], kinks: Sequence[Fast], scales: Mapping[str, float], rng: random.Random
) -> Iterable[Any]:
    for k in range(_STARTS):
        at = drawn(names, scales, rng, signs=(1, -1) if k else (1,))
        yield in_branches(kinks, at, scales, rng) if k % 2 and len(kinks) > 1 else at


def _jumps_near(e: Fast, g: Fast, start: Mapping[str, float], scales: Mapping[str, float], names: set[str]) -> bool:
    free = sorted(free_names([g]) & names)
    point = projected([g], start, free, scales)
    if point is None:
        return False
    with balls.precise() as flint:

        def difference(bits: int) -> Ball:
            step = flint.arb(scales.get(free[0], 1.0)) * flint.arb(2) ** -bits
            ends = ({**point, free[0]: point[free[0]] + side * step} for side in (-1, 1))
            left, right = (balls.value(e, at) for at in ends)
            return abs(left - right)

        near, nearer = difference(_NEAR), difference(_NEARER)
        return bool(near.is_finite() and nearer.is_finite() and nearer > 0 and 16 * nearer > near)
