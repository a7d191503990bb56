"""F(q, t) from its rate: which functions of (q, v, t) are total derivatives, and of what.

b_k(q, t) v_k + c(q, t) is dF/dt of some F exactly if the form b_k dq_k + c dt is exact; F follows by quadratures.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy
from sympy import Expr

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...model.coordinates import Coordinate, time
from ..algebra import read
from ..constraints.integrability import is_exact, potential
from ..motion.velocity_degrees import quadratic_part


def rate_form(rate: Expr, q: Sequence[Coordinate]) -> list[Expr] | None:
    """The row (b, c) over (q, t) of a rate b_k v_k + c; None if the rate is not of that form."""
    parts = quadratic_part(rate, [c.dot for c in q])
    if parts is None or not all(vanishes(a) for row in parts.mass for a in row):
        return None
    return [read(e, rate, *q, time) for e in (*parts.linear, parts.rest)]


def is_total_derivative(rate: Expr, q: Sequence[Coordinate]) -> bool:
    """Whether rate(q, v, t) is dF/dt of some F(q, t), at least locally."""
    moving = _occurring(rate, q)
    form = rate_form(rate, moving)
    return form is not None and is_exact(form, (*moving, time))


def primitive(rate: Expr, q: Sequence[Coordinate], budget: Budget) -> Expr | None:
    """F(q, t) with dF/dt = rate; None if the rate is not a total derivative, or no closed form was found for F."""
    moving = _occurring(rate, q)
    form = rate_form(rate, moving)
    if form is None or not is_exact(form, (*moving, time)):
        return None
    F = potential(form, (*moving, time), budget)
    return None if F is None else sympy.expand(F)


def _occurring(rate: Expr, q: Sequence[Coordinate]) -> list[Coordinate]:
    """The coordinates that a rate depends on, by position or velocity: F depends on no others."""
    return [c for c in q if rate.free_symbols & {c, c.dot}]
