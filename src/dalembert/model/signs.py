"""The sign of an expression, by value at sample points."""

from __future__ import annotations

import random
from math import isfinite

from sympy import Expr

from ..symbolic import fast, number
from .coordinates import Parameter


def sign_at_samples(expression: Expr, samples: int = 24) -> int:
    """1 or -1 if the expression has that sign at every sample where it is not zero, 0 otherwise.

    Parameters are sampled positive, as they almost always are; other symbols of both signs.
    """
    rng, found, e = random.Random(0), set(), fast(expression)
    positive = {p.name for p in expression.free_symbols if isinstance(p, Parameter)}
    for _ in range(samples):
        values = {
            s.name: rng.uniform(0.3, 1.7) * (1 if s.name in positive else rng.choice((-1, 1))) for s in e.free_symbols
        }
        value = number(e, values)
        if isfinite(value) and value != 0:
            found.add(1 if value > 0 else -1)
    return found.pop() if len(found) == 1 else 0
