"""Coefficients of backward error analysis: for methods with decimal coefficients, residues of cancelled terms are removed.

The numbers of the system are replaced by symbols meanwhile. So the coefficients are those of the method alone: of the
size of one, and simple fractions where decimals cancel; and a term that is small because a number of the system is small
is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import sympy
from sympy import Expr

from ...decide.decimals import rewritten
from ...decide.rationals import certain
from ...decide.sample import points
from ...decide.zero import vanishes
from ...model.coordinates import Letter, Parameter
from ...model.system import System
from ...symbolic import Fast, fast, has_decimals, number, substitute
from ...waist.stepmap import StepMap
from .step_series import Row, expanded

SIMPLE = 100
"""A number of a system whose numerator times denominator is more than this is replaced by a symbol while terms are cleaned."""


class OneStep(Protocol):
    """The part of an integrator that is used here."""

    def step_map(self, system: System) -> StepMap:
        """The method applied to a system."""
        ...


Numbers = dict[Parameter, Expr]
"""Letters that stand for numbers of a system."""


def lettered(system: System, method: OneStep, stepmap: StepMap) -> tuple[System, StepMap, Numbers]:
    """The system and its step, with letters for those numbers of the system that are not simple.

    So the coefficients are those of the method alone: of the size of one, and simple fractions where decimals cancel. Rounding
    residues can then be distinguished from terms that are small because a number of the system is.
    """
    if any(sympy.sympify(e).has(sympy.Piecewise) for e in (system.lagrangian, *system.force)):
        return system, stepmap, {}  # pieces fit together with their numbers only, and have no series anyway
    letters: dict[Expr, Parameter] = {}

    def letter(r: Any, exponent: bool) -> Any:
        if exponent or not r.is_Rational or abs(r.p) * r.q <= SIMPLE:
            return r
        return sympy.sign(r) * letters.setdefault(abs(r), Letter(f"number.{len(letters) + 1}", positive=True))

    forces = {q: rewritten(f, letter) for q, f in zip(system.coordinates, system.force, strict=True)}
    L = rewritten(system.lagrangian, letter)
    if not letters:
        return system, stepmap, {}
    plain = system.replace(lagrangian=L, internal_energy=0, forces=forces, dissipation=0)
    return plain, method.step_map(plain), {s: r for r, s in letters.items()}


def with_numbers(rows: Sequence[Row], numbers: Numbers) -> tuple[tuple[Fast, ...], ...]:
    """Expressions with the numbers of the system in place of letters."""
    if not numbers:
        return tuple(map(tuple, rows))
    return tuple(tuple(expanded(substitute(e, numbers)) for e in row) for row in rows)


def same(a: Fast, b: Fast) -> bool:
    """Whether two expressions are equal, by value; with decimal coefficients, up to rounding."""
    for _, at in points([a, b], 4):
        x, y = number(a, at), number(b, at)
        if not abs(x - y) <= 1e-9 * (abs(x) + abs(y)):
            return vanishes(clean([a, -b], 1e-9))
    return True


def clean(parts: list[Fast], rounding: float = 1e-12) -> Fast:
    """A sum; where coefficients are decimal, residues of cancelled terms are removed, and simple fractions restored."""
    total = expanded(sum(parts, start=fast(0)))
    if not has_decimals(total):
        return fast(0) if vanishes(total) else total
    size = max(abs(c) for e in parts for c in _coefficients(fast(e).expand()).values())
    kept = {m: c for m, c in _coefficients(total).items() if abs(c) > rounding * size}
    return sum((_coefficient(c) * fast(m) for m, c in kept.items()), start=fast(0))


def _coefficients(e: Fast) -> dict[Fast, float]:
    """The coefficient of every product of powers in a sum; a number is one of 1."""
    found = e.as_coefficients_dict().items()
    return {(fast(1) if m.is_Number else m): float(m * c if m.is_Number else c) for m, c in found}


def _coefficient(c: float) -> Fast:
    """A decimal coefficient as the fraction it stands for, if numerator and denominator are small enough to be sure."""
    found = certain(c)
    return fast(c) if found is None else fast(found.numerator) / fast(found.denominator)
