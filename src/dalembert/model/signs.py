"""The sign of an expression, by value at sample points."""

from __future__ import annotations

from sympy import Expr

from ..decide import zero
from .coordinates import Parameter


def sign_at_samples(expression: Expr) -> int:
    """1 or -1 if the expression has that sign at every sample where it is not zero, 0 otherwise.

    Parameters are sampled positive, because most are; other symbols with both signs.
    """
    return zero.sign_at_samples(expression, (p.name for p in expression.free_symbols if isinstance(p, Parameter)))
