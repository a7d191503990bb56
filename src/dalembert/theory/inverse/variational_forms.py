"""The variation of given equations, its adjoint, and when the two are the same.

With w(v) = w' + R w and w(a) = w'' + A w' + B w (rows have the upper index) the variation of F_k(q, v, a, t) is

    M w = G0 w + G1 w' + G2 w'',        M* w = Q0 w + Q1 w' + Q2 w''
    u.(M w) - (M* u).w = d/dt [u.(H w) + u.(G2 w') - u'.(G2 w)]
    M = M*   if and only if   G2 = G2^T,  H + H^T = 0,  Y = Y^T      with  H = G1 - dG2/dt,  Y = G0 - 1/2 dH/dt

For R = A = B = 0 these are Helmholtz' conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from ...model.coordinates import Coordinate, time
from ...symbolic import Fast, fast, gradient, jacobian, total
from .along_motion import Square, product

ORDERS = ("", ".dot", ".ddot", ".dddot", ".ddddot", ".dddddot")
"""How the derivatives of a coordinate by time are called."""


def jet_rate(e: Fast, coordinates: Sequence[Coordinate]) -> Fast:
    """de/dt along any curve, written with derivatives of the coordinates up to the fifth."""
    chain = [(f"{q.name}{a}", f"{q.name}{b}") for q in coordinates for a, b in pairwise(ORDERS)]
    slopes = gradient(fast(e), [time.name, *(a for a, _ in chain)])
    return total([slopes[0], *(d * fast(b) for d, (_, b) in zip(slopes[1:], chain, strict=True) if d != 0)])


@dataclass(frozen=True)
class VariationalForms:
    """The variation of equations, with given R, A and B (zero by default)."""

    residuals: tuple[Any, ...]
    coordinates: tuple[Coordinate, ...]
    R: Square | None = None
    A: Square | None = None
    B: Square | None = None

    def _slopes(self, order: str) -> Square:
        return jacobian([fast(F) for F in self.residuals], [f"{q.name}{order}" for q in self.coordinates])

    def _rate(self, matrix: Square) -> Square:
        return [[jet_rate(e, self.coordinates) for e in row] for row in matrix]

    @cached_property
    def G0(self) -> Square:
        """dF/dq + (dF/dv) R + (dF/da) B."""
        return _sum(
            self._slopes(""), _times(self._slopes(".dot"), self.R), _times(self._slopes(".ddot"), self.B)
        )  # fmt: skip

    @cached_property
    def G1(self) -> Square:
        """dF/dv + (dF/da) A."""
        return _sum(self._slopes(".dot"), _times(self._slopes(".ddot"), self.A))

    @cached_property
    def G2(self) -> Square:
        """dF/da."""
        return self._slopes(".ddot")

    @cached_property
    def H(self) -> Square:
        """G1 - dG2/dt."""
        return _difference(self.G1, self._rate(self.G2))

    @cached_property
    def Y(self) -> Square:
        """G0 - 1/2 dH/dt."""
        return [
            [g - r / 2 for g, r in zip(*rows, strict=True)] for rows in zip(self.G0, self._rate(self.H), strict=True)
        ]

    @property
    def Q0(self) -> Square:
        """(G0 - dH/dt)^T."""
        return _transposed(_difference(self.G0, self._rate(self.H)))

    @property
    def Q1(self) -> Square:
        """(dG2/dt - H)^T."""
        return _transposed(_difference(self._rate(self.G2), self.H))

    @property
    def Q2(self) -> Square:
        """G2^T."""
        return _transposed(self.G2)

    @property
    def symmetry_residuals(self) -> list[tuple[str, str, Square]]:
        """What vanishes if and only if the equations are self-conjugate: name, formula, matrix."""
        plain = self.R is None and self.A is None and self.B is None
        second = "dF/dv + (dF/dv)^T = 2 d/dt dF/da" if plain else "H + H^T = 0, H = G1 - dG2/dt"
        third = "dF/dq - (dF/dq)^T = 1/2 d/dt (dF/dv - (dF/dv)^T)" if plain else "Y = Y^T, Y = G0 - 1/2 dH/dt"
        return [
            ("first", "dF/da is symmetric", _difference(self.G2, _transposed(self.G2))),
            ("second", second, _sum(self.H, _transposed(self.H))),
            ("third", third, _difference(self.Y, _transposed(self.Y))),
        ]


def _transposed(a: Square) -> Square:
    return [list(column) for column in zip(*a, strict=True)]


def _sum(*matrices: Square | None) -> Square:
    present = [m for m in matrices if m is not None]
    return [[total(entries) for entries in zip(*rows, strict=True)] for rows in zip(*present, strict=True)]


def _difference(a: Square, b: Square) -> Square:
    return [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def _times(a: Square, b: Square | None) -> Square | None:
    return None if b is None else product(a, [[fast(e) for e in row] for row in b])
