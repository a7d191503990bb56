"""Size limits of stated expressions: larger ones are refused with their size, before anything traverses them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import sympy

from ..errors import ModelError

SIZE = 250_000
"""Nodes of an expression, repeated parts counted each time: a system of this size takes half a minute to state."""

DEPTH = 100
"""Levels of functions within functions: derivatives and printing go through them by recursion."""

KINKS = 6
"""Levels of Max, Abs, Piecewise and the like within one another: each may double the number of branches."""

BITS = 20_000
"""Of the numerator and the denominator of a number."""

LARGEST = 1023
"""Binary exponents of numbers, so that they are doubles."""


def check(expression: sympy.Basic, role: str) -> None:
    """Refuse an expression that is too long, too deep, or contains a number outside the range of doubles."""
    size, depth, kinks = extent(expression)
    if kinks > KINKS:
        raise ModelError(
            f"{role}: {kinks} of Abs, Max, Min, sign, Heaviside and Piecewise stand within one another; at most {KINKS} are "
            f"supported. Write the branches as one Piecewise."
        )
    if size > SIZE or depth > DEPTH:
        what = f"{_count(size)} terms and factors" if size > SIZE else f"{_count(depth)} functions within one another"
        most = f"{SIZE} terms and factors" if size > SIZE else f"{DEPTH} levels"
        raise ModelError(
            f"{role}: the expression has {what}; at most {most} are supported. State it shorter, or in more coordinates with "
            f"constraints between them."
        )


def _count(number: int) -> str:
    return str(number) if number < 10**9 else f"about 1e{len(str(number)) - 1 if number < 10**4000 else 4000}"


_KINKS = (sympy.Abs, sympy.Max, sympy.Min, sympy.sign, sympy.Heaviside, sympy.Piecewise)


def extent(expression: sympy.Basic) -> tuple[int, int, int]:
    """The number of nodes, repeated parts counted each time, of levels, and of levels of kinks; without recursion."""
    known: dict[int, tuple[int, int, int]] = {}  # by identity: the hash of an expression is recursive
    stack: list[sympy.Basic] = [expression]
    while stack:
        node = stack[-1]
        missing = [a for a in node.args if id(a) not in known]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        parts = [known[id(a)] for a in node.args]
        depth, kinks = (max((p[k] for p in parts), default=0) for k in (1, 2))
        size = sum(p[0] for p in parts)
        known[id(node)] = 1 + size, 1 + depth, kinks + isinstance(node, _KINKS)
        if not node.args or isinstance(node, sympy.Pow):
            _check_number(node)
    return known[id(expression)]


def _check_number(node: sympy.Basic) -> None:
    """Refuse numbers that are not finite doubles, or have too many digits."""
    if isinstance(node, sympy.Pow):
        base, exponent = node.args
        if base.is_Rational and exponent.is_Integer and abs(int(exponent)) * _bits([base.p, base.q]) > BITS:
            raise ModelError(f"a number is beyond all doubles: a power with the exponent {_short(int(exponent))}.")
    elif isinstance(node, sympy.Rational) and _bits([node.p, node.q]) > LARGEST:
        size = int(node.p).bit_length() - int(node.q).bit_length()
        if _bits([node.p, node.q]) > BITS or not -LARGEST <= size <= LARGEST:
            raise ModelError(
                f"a number of {math.ceil(_bits([node.p, node.q]) * 0.30103)} digits occurs, of size "
                f"1e{round(size * 0.30103)}. Use numbers that doubles can hold, 1e-308 to 1e308; choose other units."
            )
    elif isinstance(node, sympy.Float) and not node.is_zero and not -308 < float(sympy.log(abs(node), 10)) < 308:
        raise ModelError(f"the number {node.n(3)!s} is beyond all doubles, 1e-308 to 1e308. Choose other units.")


def _bits(numbers: Sequence[Any]) -> int:
    return max(int(n).bit_length() for n in numbers)


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**12 else f"of {number.bit_length()} bits"
