"""Whether an expression is zero, and which sign it has, by value."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

from sympy import pi

from ..symbolic import fast
from . import balls
from .balls import Point
from .sample import points, points_where


def vanishes(expression: Any, samples: int = 3) -> bool:
    """Whether an expression is zero: at random points of its own scale and in each of its branches.

    A value that is not zero is a proof that it does not vanish. Points where it has no value are ignored.
    """
    e = fast(expression)
    if e == 0:
        return True
    if not e.free_symbols:
        return _said(e, {}) is not False
    zeros = 0
    with balls.precise() as flint:
        for attempt, at in points([e]):
            if attempt >= samples and zeros >= samples:
                break
            said = _said(e, {name: flint.arb(x) for name, x in at.items()})
            if said is False:
                return False
            zeros += said is True
    return zeros > 0


def has_turns(expressions: Iterable[Any], angle: Any) -> bool:
    """Whether expressions have the period 2 pi in a symbol."""
    turn = {fast(angle): fast(angle) + 2 * fast(pi)}
    return all(vanishes(e.xreplace(turn) - e) for e in map(fast, expressions))


def vanishes_where(expression: Any, positive: Sequence[Any], samples: int = 4) -> bool:
    """Whether an expression is zero wherever all of some others are positive."""
    e, zeros = fast(expression), 0
    with balls.precise() as flint:
        for at in points_where([e], positive, 8 * samples):
            said = _said(e, {name: flint.arb(x) for name, x in at.items()})
            if said is False:
                return False
            zeros += said is True
            if zeros == samples:
                break
    return zeros > 0


def sign_at_samples(expression: Any, positive: Iterable[str], samples: int = 24) -> int:
    """1 or -1 if the expression has that sign at every sample where it is not zero, 0 otherwise.

    The names in `positive` are sampled positive, others with both signs.
    """
    e, kept, found = fast(expression), set(positive), set()
    rng, names = random.Random(0), sorted(s.name for s in e.free_symbols)
    with balls.precise() as flint:
        for _, at in points([e], samples):
            signed = {n: abs(at[n]) if n in kept else at[n] * rng.choice((-1, 1)) for n in names}
            value = balls.value(e, {name: flint.arb(x) for name, x in signed.items()})
            if value.is_finite() and not value.contains(0):
                found.add(1 if value > 0 else -1)
            if len(found) > 1:
                return 0
    return found.pop() if found else 0


def vanishes_at(expression: Any, points: Iterable[Point]) -> bool:
    """Whether an expression is zero at every point where it has a value, and has a value at one at least."""
    said = [_said(fast(expression), point) for point in points]
    return False not in said and True in said


def _said(e: Any, at: Point) -> bool | None:
    """Whether the value at a point is zero; None if there is no value."""
    found = balls.value(e, at)
    return bool(found.contains(0)) if found.is_finite() else None
