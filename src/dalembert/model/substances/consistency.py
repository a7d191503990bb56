"""Laws that temperature, pressure and energy must obey together, each decided with a reason."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Expr, Symbol

from ...decide.sample import points_where
from ...decide.zero import vanishes_where
from ...display import Part, Shown
from ...symbolic import number
from ..checks import expression

SAMPLES = 200
"""Number of random states at which a sign is evaluated where it cannot be proved."""


@dataclass(frozen=True, repr=False)
class Verdict(Shown):
    """Whether something holds, and why; it can be used as a condition."""

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds

    def _parts(self) -> Sequence[Part]:
        return [f"{'yes' if self.holds else 'no'}: {self.reason}"]


def first_law(U: Any, T: Any, P: Any, S: Symbol, V: Symbol, domain: Sequence[Expr] = ()) -> Verdict:
    """Whether dU = T dS - P dV, for U, T and P given as functions of S and V."""
    U, T, P = (expression(e, role) for e, role in ((U, "U"), (T, "T"), (P, "P")))
    if not vanishes_where(U.diff(S) - T, domain):
        return Verdict(False, f"dU/dS = {U.diff(S)} is not the temperature {T}")
    if not vanishes_where(U.diff(V) + P, domain):
        return Verdict(False, f"-dU/dV = {-U.diff(V)} is not the pressure {P}")
    return Verdict(True, "dU = T dS - P dV")


def maxwell(T: Any, P: Any, S: Symbol, V: Symbol, domain: Sequence[Expr] = ()) -> Verdict:
    """Maxwell's relation dT/dV = -dP/dS: whether T(S, V) and P(S, V) belong to one energy."""
    T, P = expression(T, "T"), expression(P, "P")
    if vanishes_where(T.diff(V) + P.diff(S), domain):
        return Verdict(True, "dT/dV = -dP/dS: T dS - P dV is a differential")
    return Verdict(False, f"dT/dV = {T.diff(V)} but -dP/dS = {-P.diff(S)}: there is no energy U(S, V) with these")


def positive(quantity: Expr, domain: Sequence[Expr], what: str) -> Verdict:
    """Whether a quantity is positive: by its form, by its value where it is a number, else at random states."""
    if quantity.is_number:
        value = number(quantity, {})
        return Verdict(value > 0, f"{what}: {'it is' if value > 0 else 'but it is'} {value:.6g}")
    if quantity.is_positive:
        return Verdict(True, f"{what} for all states, by its form")
    if vanishes_where(quantity, domain):
        return Verdict(False, f"{what}: but it is zero for all states")
    seen = 0
    for at in points_where([quantity], domain, SAMPLES, decades=3):
        value = number(quantity, at)
        if math.isnan(value) or value == 0:  # too small to be distinguished from zero
            continue
        seen += 1
        if value < 0:
            where = ", ".join(f"{s} = {at[s.name]:.4g}" for s in quantity.free_symbols if s.name in at)
            return Verdict(False, f"{what}: but it is {value:.4g} at {where}")
    if not seen:
        return Verdict(False, f"{what}: no state was found at which it has a value")
    return Verdict(True, f"{what} at each of {seen} sampled states")
