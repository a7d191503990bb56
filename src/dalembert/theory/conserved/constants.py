"""The constants of a system as parameters: sin(1/2), sqrt(2), pi, and decimals that are the result of a computation.

Coefficients of integrals are fractions or polynomials in such constants. From the value of a constant its part in a
coefficient cannot be determined; with a symbol in its place it is one more parameter, sampled at other values too.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Expr

from ...decide.balls import was_computed
from ...errors import ModelError
from ...model.coordinates import Letter
from ...model.system import System
from ..motion.lagrange import expanded, momenta

SHORT = 5
"""Digits of decimals whose products, up to three, have no more than the fifteen digits that count as exact."""


def lettered(system: System) -> tuple[System, dict[Expr, Expr], dict[Letter, Expr]]:
    """The system with a symbol for each constant, the replacements, and their inverse. Unchanged if there are none.

    Momenta are replaced too: those of the system are multiplied out, which may combine constants into other numbers.
    """
    found = sorted({c if c > 0 else -c for e in system.expressions() for c in _constants(e)}, key=str)
    back = {Letter(f"number.{k}", positive=True): c for k, c in enumerate(found, 1)}
    put = {sign * c: sign * letter for letter, c in back.items() for sign in (1, -1)}

    def with_letters(given: Any) -> Any:
        if isinstance(given, dict):
            return {key: with_letters(value) for key, value in given.items()}
        if isinstance(given, list):
            return [with_letters(value) for value in given]
        return given.xreplace(put) if isinstance(given, Expr) else given

    if not back:
        return system, {}, {}
    try:
        general = system.replace(**{key: with_letters(value) for key, value in system.arguments.items()})
    except ModelError:  # the system is valid for these values only
        return system, {}, {}
    pairs = zip(momenta(system), momenta(general), strict=True)
    return general, put | {expanded(p, system): expanded(other, general) for p, other in pairs}, back


def _constants(expression: Expr) -> set[Expr]:
    """Irrational numbers that others are made of, such as sin(1/2), sqrt(2) and pi, and long decimals: fractions that stand
    for rounded numbers, or whose products would count as such."""
    written = expression.atoms(sympy.Function, sympy.Pow)
    simple = {c for c in written if all(a.is_Rational for a in c.args) and c.is_real}
    rounded = {c for c in expression.atoms(sympy.Rational) if was_computed(int(c.p), int(c.q), SHORT)}
    found: set[Expr] = simple | rounded | expression.atoms(sympy.NumberSymbol)
    return found
