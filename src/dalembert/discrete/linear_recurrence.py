"""Closed form of a scalar linear recurrence of two terms, q_k+1 = A q_k - B q_k-1.

With the roots of x^2 - A x + B = 0,

    q_k = q_1 U_k - q_0 B U_k-1,      U_k = (r_1^k - r_2^k)/(r_1 - r_2)             real and distinct
                                      U_k = k r^(k-1)                               double, r = A/2
                                      U_k = B^((k-1)/2) sin(k theta)/sin(theta)     complex, cos(theta) = A/(2 sqrt(B))

The discrete equations of a linear system with one degree of freedom are of this form.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import sympy
from sympy import Expr, Piecewise, S, Symbol, acos, sin, sqrt

from ..decide.decimals import PLAIN, Typed, decimal, exact, stated, text
from ..display import Formulas
from ..errors import ModelError, told
from ..model import checks
from ..numbers import reals

Kind = Literal["complex roots", "real roots", "double root", "undecided"]


@dataclass(frozen=True, repr=False)
class LinearRecurrence(Formulas):
    """q_k+1 = A q_k - B q_k-1, solved. Call it with numbers, or read `solution`, in the symbols `index` and `first`.

    These are k, q_0 and q_1; or other letters, where A or B contain symbols of these names.
    """

    A: Expr
    B: Expr
    typed: Typed = field(default=PLAIN, compare=False)

    @property
    def discriminant(self) -> Expr:
        """A^2 - 4 B: positive for real roots, zero for a double root, negative for complex roots."""
        return sympy.expand(self.A**2 - 4 * self.B)

    @cached_property
    def kind(self) -> Kind:
        """The kind of the roots, as far as it follows from symbols and their assumptions."""
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
        """theta with cos(theta) = A/(2 sqrt(B)): the rotation of a complex root from one k to the next."""
        return acos(self.A / (2 * sqrt(self.B)))

    def term(self, k: Any, q0: Any, q1: Any) -> Expr:
        """q_k as an expression; k, q0 and q1 may be numbers or symbols. Three cases where `kind` is undecided."""
        typed = self.typed | Typed.of(sympy.sympify(e) for e in (q0, q1))
        found: Expr = decimal(self._term(*(exact(e) for e in (k, q0, q1))), typed)
        return found

    def _term(self, k: Expr, q0: Expr, q1: Expr) -> Expr:
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
        """q_1 k r^(k-1) - q_0 (k-1) r^k; for r = 0 all terms after q_1 are zero."""
        r = self.A / 2
        if r.is_zero:
            return Piecewise((q0, sympy.Eq(k, 0)), (q1, sympy.Eq(k, 1)), (S.Zero, True))
        return q1 * k * r ** (k - 1) - q0 * (k - 1) * r**k

    @property
    def index(self) -> Symbol:
        """The symbol of the index in `solution`: k, if neither A nor B contain one of that name."""
        return Symbol(self._letter("k", "j", "n", "i", "l"), integer=True, nonnegative=True)

    @property
    def first(self) -> tuple[Symbol, Symbol]:
        """The symbols of the first two terms in `solution`: q_0 and q_1, if neither A nor B contain one of these names."""
        return Symbol(f"{self._name}_0"), Symbol(f"{self._name}_1")

    @property
    def _name(self) -> str:
        """The letter of the terms: q, if neither A nor B contain a symbol named q_0 or q_1."""
        return self._letter("q", "u", "w", tails=("_0", "_1"))

    def _letter(self, *letters: str, tails: tuple[str, ...] = ("",)) -> str:
        """The first of some letters, then of these with bars, that gives no name of a symbol of A or B."""
        taken = {s.name for s in self.A.free_symbols | self.B.free_symbols}
        bars = (letters[0] + "_" * count for count in range(1, 2 + len(taken)))
        return next(a for a in (*letters, *bars) if not {a + tail for tail in tails} & taken)

    @property
    def solution(self) -> Expr:
        """q_k in the symbols `index` and `first`."""
        return self.term(self.index, *self.first)

    def __call__(self, k: Any, q0: Any, q1: Any) -> Any:
        """q_k in numbers, for one k or an array of them; A and B have to be numbers.

        Evaluated with B > 0 through the angle, real or imaginary, which is accurate near a double root.
        """
        import numpy as np

        if self.A.free_symbols or self.B.free_symbols:
            names = ", ".join(sorted(s.name for s in self.A.free_symbols | self.B.free_symbols))
            raise ModelError(
                f"linear_recurrence: {names} have no value. Use .term(k, q0, q1), or give A and B as numbers."
            )
        A, B, k = float(self.A), float(self.B), _numbers("k", k)
        q0, q1 = _numbers("q0", q0), _numbers("q1", q1)
        if not (k == np.round(k)).all():
            raise ModelError(f"linear_recurrence: k = {k}. The index is a whole number, or an array of whole numbers.")
        if B == 0 and (k < 0).any():
            raise ModelError(
                f"linear_recurrence: k = {k}. With B = 0 there is no term before q0: give an index from 0."
            )
        if B <= 0:  # one root on each side of zero
            r, s = (A + np.sqrt(A * A - 4 * B)) / 2, (A - np.sqrt(A * A - 4 * B)) / 2
            if r == s:
                return np.where(k == 0, q0, np.where(k == 1, q1, 0.0))
            return (q1 * (r**k - s**k) - q0 * (r**k * s - s**k * r)) / (r - s)
        size, cosine = np.sqrt(B), abs(A) / (2 * np.sqrt(B))
        sign = np.where(A < 0, (-1.0) ** k, 1.0)  # roots of negative real part are minus those of -A
        square = (1 - cosine) * (1 + cosine)
        first, second = (_quotient(j, square, cosine) for j in (k, k - 1))
        return sign * (np.sign(A or 1.0) * q1 * size ** (k - 1) * first - q0 * size**k * second)

    def __str__(self) -> str:
        q, k = self._name, self.index
        A, B, solution = (text(decimal(e, self.typed)) for e in (self.A, self.B, self.solution))
        return f"{q}[{k}+1] = A {q}[{k}] - B {q}[{k}-1], A = {A}, B = {B}: {self.kind}\n{q}[{k}] = {solution}"

    def latex(self) -> str:
        """The solution as LaTeX, for a paper."""
        q, k = self._name, self.index
        return rf"{q}_{{{k}}} = {sympy.latex(decimal(self.solution, self.typed))}"


def _quotient(k: Any, square: float, cosine: float) -> Any:
    """sin(k theta)/sin(theta), or with hyperbolic sines where the square of sin(theta) is negative; k at zero."""
    import numpy as np

    size = np.sqrt(abs(square))
    if size == 0:
        return k
    if square > 0:
        return np.sin(k * np.arctan2(size, cosine)) / size
    return np.sinh(k * np.arcsinh(size)) / size


def _numbers(name: str, given: Any) -> Any:
    """A finite number, or an array of them."""
    import numpy as np

    values = reals(given, f"linear_recurrence: {name}", ModelError)
    if not values.size or not np.isfinite(values).all():
        raise ModelError(f"linear_recurrence: {name} = {told(given)}. Expected a number, or an array of numbers.")
    return values


def linear_recurrence(A: Any, B: Any) -> LinearRecurrence:
    """The closed form of q_k+1 = A q_k - B q_k-1, for any A and B, numbers or expressions.

    linear_recurrence(1.9, 0.95)(100, q0=0.3, q1=0.3) is a number; linear_recurrence(A, B).solution an expression.
    """
    A, B = (checks.expression(e, f"linear_recurrence: {name}") for name, e in (("A", A), ("B", B)))
    for name, e in (("A", A), ("B", B)):
        if e.is_real is False or e.is_finite is False or e.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
            raise ModelError(
                f"linear_recurrence: {name} = {e}. Expected a real number, or an expression of real symbols."
            )
    return LinearRecurrence(stated(A), stated(B), Typed.of((A, B)))
