"""Nodes, weights and collocation coefficients on [0, 1], computed to 40 digits and kept to 34 as fractions.

As doubles all coefficients would be rounded separately. Weights would not add up to 1, and the conditions of symplecticity
would hold to 1e-17 only: with the same error in every step, so that conserved quantities drift.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import mpmath
from sympy import Rational

DIGITS = 112
"""Binary digits of a coefficient after the point."""


@cache
def gauss_nodes(s: int) -> tuple[Any, ...]:
    """The zeros of the shifted Legendre polynomial of degree s."""
    with mpmath.workdps(40):
        return tuple((1 + x) / 2 for x in _roots(lambda x: mpmath.legendre(s, x), s))


@cache
def lobatto_nodes(s: int) -> tuple[Any, ...]:
    """Both ends, and the extrema of the shifted Legendre polynomial of degree s - 1."""
    with mpmath.workdps(40):
        inner = _roots(lambda x: mpmath.diff(lambda y: mpmath.legendre(s - 1, y), x), s - 2)
        return (mpmath.mpf(0), *((1 + x) / 2 for x in inner), mpmath.mpf(1))


def _roots(f: Any, count: int) -> list[Any]:
    """All zeros of f in (-1, 1), by sign changes on a fine grid."""
    grid = [-1 + mpmath.mpf(2 * k + 1) / 401 for k in range(401)]
    found = []
    for left, right in pairwise(grid):
        if f(left) * f(right) < 0:
            found.append(mpmath.findroot(f, (left, right), solver="anderson", tol=1e-70))
        elif abs(f(left)) < mpmath.mpf(10) ** -35:
            found.append(left)
    assert len(found) == count, (found, count)
    return found


@cache
def weights(nodes: tuple[Any, ...]) -> tuple[Any, ...]:
    """The weights of the interpolatory quadrature."""
    return tuple(_integral(nodes, j, mpmath.mpf(1)) for j in range(len(nodes)))


@cache
def collocation(nodes: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
    """a_ij, the integral from 0 to c_i of the j-th Lagrange polynomial."""
    return tuple(tuple(_integral(nodes, j, c) for j in range(len(nodes))) for c in nodes)


def _integral(nodes: tuple[Any, ...], j: int, end: Any) -> Any:
    with mpmath.workdps(40):
        powers = lagrange_polynomial(nodes, j)
        return sum(c * end ** (k + 1) / (k + 1) for k, c in enumerate(powers))


@cache
def lagrange_polynomial(nodes: tuple[Any, ...], j: int) -> tuple[Any, ...]:
    """Coefficients, lowest power first, of the polynomial that is 1 at node j and 0 at the others."""
    with mpmath.workdps(40):
        powers = [mpmath.mpf(1)]
        for k, c in enumerate(nodes):
            if k != j:
                scale = nodes[j] - c
                powers = [
                    ((powers[i - 1] if i else 0) - (c * powers[i] if i < len(powers) else 0)) / scale
                    for i in range(len(powers) + 1)
                ]
        return tuple(powers)


def value(powers: tuple[Any, ...], x: Any, derivative: int = 0) -> Any:
    """A polynomial, or its derivative, at a point."""
    with mpmath.workdps(40):
        for _ in range(derivative):
            powers = tuple(k * c for k, c in enumerate(powers))[1:]
        return sum((c * x**k for k, c in enumerate(powers)), start=mpmath.mpf(0))


def fraction(number: Any) -> Rational:
    """A coefficient to 34 decimal digits."""
    with mpmath.workdps(40):
        return Rational(int(mpmath.nint(mpmath.ldexp(number, DIGITS))), 2**DIGITS)
