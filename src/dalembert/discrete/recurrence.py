"""Closed form of a scalar linear recurrence of two terms, q_k+1 = A q_k - B q_k-1.

With the roots of x^2 - A x + B = 0,

    q_k = q_1 U_k - q_0 B U_k-1,      U_k = (r_1^k - r_2^k)/(r_1 - r_2)             real and distinct
                                      U_k = k r^(k-1)                               double, r = A/2
                                      U_k = B^((k-1)/2) sin(k theta)/sin(theta)     complex, cos(theta) = A/(2 sqrt(B))

The discrete equations of a linear system with one degree of freedom are of this form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import sympy
from sympy import Expr, Piecewise, S, Symbol, acos, sin, sqrt, symbols

from ..errors import ModelError
from ..model import checks

Kind = Literal["complex roots", "real roots", "double root", "undecided"]


@dataclass(frozen=True, repr=False)
class LinearRecurrence:
    """q_k+1 = A q_k - B q_k-1, solved. Call it with numbers, or read `solution`, in the symbols k, q_0 and q_1."""

    A: Expr
    B: Expr

    @property
    def discriminant(self) -> Expr:
        """A^2 - 4 B: positive for real roots, zero for a double root, negative for complex roots."""
        return sympy.expand(self.A**2 - 4 * self.B)

    @cached_property
    def kind(self) -> Kind:
        """What the roots are, as far as symbols and their assumptions tell."""
        d = sympy.factor(self.discriminant)
        if d.is_zero:
            return "double root"
        return "complex roots" if d.is_negative else "real roots" if d.is_positive else "undecided"

    @property
    def roots(self) -> tuple[Expr, Expr]:
        """The roots of x^2 - A x + B."""
        half = sqrt(self.discriminant) / 2
        return self.A / 2 + half, self.A / 2 - half

    @property
    def angle(self) -> Expr:
        """theta with cos(theta) = A/(2 sqrt(B)): the turn of a complex root from one k to the next."""
        return acos(self.A / (2 * sqrt(self.B)))

    def term(self, k: Any, q0: Any, q1: Any) -> Expr:
        """q_k as an expression; k, q0 and q1 may be numbers or symbols. One case, or three where symbols leave it open."""
        k, q0, q1 = (sympy.sympify(e) for e in (k, q0, q1))
        cases: dict[str, Expr] = {
            "complex roots": self._complex(k, q0, q1),
            "real roots": self._real(k, q0, q1),
            "double root": self._double(k, q0, q1),
        }
        if self.kind != "undecided":
            return cases[self.kind]
        d = self.discriminant
        return Piecewise((cases["complex roots"], d < 0), (cases["real roots"], d > 0), (cases["double root"], True))

    def _complex(self, k: Expr, q0: Expr, q1: Expr) -> Expr:
        """(A.2): q_1 B^((k-1)/2) sin(k theta)/sin(theta) - q_0 B^(k/2) sin((k-1) theta)/sin(theta)."""
        r, a = sqrt(self.B), self.angle
        return (q1 * r ** (k - 1) * sin(k * a) - q0 * r**k * sin((k - 1) * a)) / sin(a)

    def _real(self, k: Expr, q0: Expr, q1: Expr) -> Expr:
        """q_1 (r_1^k - r_2^k)/(r_1 - r_2) - q_0 (r_1^k r_2 - r_2^k r_1)/(r_1 - r_2)."""
        r, s = self.roots
        if r == s:
            return S.NaN
        return (q1 * (r**k - s**k) - q0 * (r**k * s - s**k * r)) / (r - s)

    def _double(self, k: Expr, q0: Expr, q1: Expr) -> Expr:
        """q_1 k r^(k-1) - q_0 (k-1) r^k; for r = 0 there is nothing after q_1."""
        r = self.A / 2
        if r.is_zero:
            return Piecewise((q0, sympy.Eq(k, 0)), (q1, sympy.Eq(k, 1)), (S.Zero, True))
        return q1 * k * r ** (k - 1) - q0 * (k - 1) * r**k

    @property
    def solution(self) -> Expr:
        """q_k in the symbols k, q_0 and q_1."""
        return self.term(Symbol("k", integer=True, nonnegative=True), *symbols("q_0 q_1"))

    def __call__(self, k: Any, q0: Any, q1: Any) -> Any:
        """q_k in numbers, for one k or an array of them; A and B have to be numbers.

        Evaluated with B > 0 through the angle, real or imaginary, which loses nothing near a double root.
        """
        import numpy as np

        if self.A.free_symbols or self.B.free_symbols:
            names = ", ".join(sorted(s.name for s in self.A.free_symbols | self.B.free_symbols))
            raise ModelError(
                f"linear_recurrence: {names} have no value. Use .term(k, q0, q1), or give A and B as numbers."
            )
        A, B, k = float(self.A), float(self.B), np.asarray(k, dtype=float)
        if B <= 0:  # one root on each side of zero
            r, s = (A + np.sqrt(A * A - 4 * B)) / 2, (A - np.sqrt(A * A - 4 * B)) / 2
            if r == s:
                return np.where(k == 0, q0, np.where(k == 1, q1, 0.0))
            return (q1 * (r**k - s**k) - q0 * (r**k * s - s**k * r)) / (r - s)
        size, cosine = np.sqrt(B), abs(A) / (2 * np.sqrt(B))
        sign = np.where(A < 0, (-1.0) ** k, 1.0)  # roots of negative real part are those of -A, turned
        square = (1 - cosine) * (1 + cosine)
        first, second = (_quotient(j, square, cosine) for j in (k, k - 1))
        return sign * (np.sign(A or 1.0) * q1 * size ** (k - 1) * first - q0 * size**k * second)

    def __str__(self) -> str:
        return f"q[k+1] = A q[k] - B q[k-1], A = {self.A}, B = {self.B}: {self.kind}\nq[k] = {self.solution}"

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle q_k = {sympy.latex(self.solution)}$"


def _quotient(k: Any, square: float, cosine: float) -> Any:
    """sin(k theta)/sin(theta), or with hyperbolic sines where the square of sin(theta) is negative; k at zero."""
    import numpy as np

    size = np.sqrt(abs(square))
    if size == 0:
        return k
    if square > 0:
        return np.sin(k * np.arctan2(size, cosine)) / size
    return np.sinh(k * np.arcsinh(size)) / size


def linear_recurrence(A: Any, B: Any) -> LinearRecurrence:
    """The closed form of q_k+1 = A q_k - B q_k-1, for any A and B, numbers or expressions.

    linear_recurrence(1.9, 0.95)(100, q0=0.3, q1=0.3) is a number; linear_recurrence(A, B).solution an expression.
    """
    A, B = (checks.expression(e, f"linear_recurrence: {name}") for name, e in (("A", A), ("B", B)))
    for name, e in (("A", A), ("B", B)):
        if e.is_real is False:
            raise ModelError(f"linear_recurrence: {name} = {e} is not real.")
    return LinearRecurrence(A, B)
