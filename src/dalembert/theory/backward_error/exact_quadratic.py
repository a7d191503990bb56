"""The exact discrete Lagrangian of a quadratic Lagrangian with constant coefficients, in closed form.

    L = v.M v/2 + q.B v + q.C q/2 + a.v + f.q + c,      M q'' + (B^T - B) q' - C q = f

With y = (q, v), y' = Z y + b and A = Z^2, whose eigenvalues mu are those of an even polynomial in Z,

    exp(h Z) = F_0(A) + Z F_1(A),   its integrals likewise with F_1, F_2 and F_2, F_3,   F_j(mu) = sum h^(2i+j) mu^i/(2i+j)!

that is, cosines and sines of h sqrt(-mu), or powers of h where mu = 0. So v(0) and v(h) follow from q(0) and q(h), and
since d(p.q)/dt = 2 L - (a.v + f.q) - 2c along a motion,

    L_d^E(q0, q1) = (p1.q1 - p0.q0)/2 + (a.(q1 - q0) + f.integral of q)/2 + c h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr, Matrix, cos, cosh, eye, sin, sinh, sqrt, zeros

from ...decide.zero import vanishes
from ...model.coordinates import step, time
from ...model.system import System
from ...symbolic import fast, free_names, gradient, jacobian, slow, substitute
from ...waist.layout import spans

LARGEST = 4
"""With more degrees of freedom than this no closed form is sought."""


@dataclass(frozen=True)
class Quadratic:
    """The coefficients of a quadratic Lagrangian."""

    M: Matrix
    B: Matrix
    C: Matrix
    a: Matrix
    f: Matrix
    c: Expr


def quadratic_form(system: System) -> Quadratic | None:
    """The coefficients of a Lagrangian that is quadratic with constant coefficients; None for any other."""
    q, v = system.coordinates, system.velocities
    symbols = [*q, *v]
    slopes = gradient(system.lagrangian, symbols)
    second = jacobian(slopes, symbols)
    if free_names([e for row in second for e in row] + [fast(system.lagrangian).diff(fast(time))]) & {
        s.name for s in (*symbols, time)
    }:
        return None
    n, rest = len(q), dict.fromkeys(symbols, 0)

    def read(e: Any) -> Expr:
        return sympy.expand(slow(e, system.parameters))

    if not vanishes(fast(system.lagrangian).diff(fast(time))):
        return None
    whole = Matrix(2 * n, 2 * n, [read(e) for row in second for e in row])
    first = Matrix([read(substitute(e, rest)) for e in slopes])
    constant = read(substitute(system.lagrangian, rest))
    x, u = spans(n, n)
    return Quadratic(whole[u, u], whole[x, u], whole[x, x], first[u, :], first[x, :], constant)


def closed_form(system: System) -> tuple[Expr | None, str]:
    """L_d^E in the slots and the step, or None, and the reason."""
    form = quadratic_form(system)
    if form is None:
        return None, "the Lagrangian is not quadratic with constant coefficients"
    if form.M.shape[0] > LARGEST:
        return None, f"it has more than {LARGEST} degrees of freedom"
    spectrum = _Spectrum.of(form)
    if spectrum is None:
        return None, "the frequencies have no simple closed form"
    return _action(system, form, spectrum), "the Lagrangian is quadratic with constant coefficients"


@dataclass(frozen=True)
class _Spectrum:
    """Z and the projectors onto the eigenspaces of Z^2."""

    Z: Matrix
    parts: tuple[tuple[Expr, Matrix], ...]
    gyroscopic: bool

    @classmethod
    def of(cls, form: Quadratic) -> _Spectrum | None:
        n = form.M.shape[0]
        inverse, gyroscopic = form.M.inv(), form.B.T - form.B
        Z = (
            zeros(n, n)
            .row_join(eye(n))
            .col_join((inverse * form.C).row_join(-inverse * gyroscopic))
            .applyfunc(sympy.cancel)
        )
        values = _squares(Z)
        if values is None:
            return None
        A = (Z * Z).applyfunc(sympy.cancel)
        parts = []
        for mu in values:
            P = eye(2 * n)
            for other in values:
                if other != mu:
                    P = P * (A - other * eye(2 * n)) / (mu - other)
                    P = P if _irrational(mu, other) else P.applyfunc(sympy.cancel)
            if not all(vanishes(e) for e in ((A - mu * eye(2 * n)) * P)):
                return None  # a Jordan block: resonance
            parts.append((mu, P))
        return cls(Z, tuple(parts), any(e != 0 for e in gyroscopic))

    def apply(self, function: Callable[[Expr], Expr]) -> Matrix:
        """A function of Z^2."""
        return sum((P * function(mu) for mu, P in self.parts), start=zeros(*self.Z.shape))

    def integral(self, j: int, h: Expr) -> Matrix:
        """exp(h Z), integrated j times from 0."""
        return self.apply(lambda mu: _entire(j, mu, h)) + self.Z * self.apply(lambda mu: _entire(j + 1, mu, h))


def _irrational(*values: Expr) -> bool:
    """Whether roots of symbols occur: cancelling takes long and shortens little."""
    return any(p.base.free_symbols and not p.exp.is_integer for e in values for p in e.atoms(sympy.Pow))


def _squares(Z: Matrix) -> list[Expr] | None:
    """The different eigenvalues of Z^2, if factors of degree 1 and 2 give them."""
    x = sympy.Dummy("x")
    coefficients = Z.charpoly(x).all_coeffs()[::2]  # the polynomial is even
    _, factors = sympy.factor_list(sum(c * x**k for k, c in enumerate(reversed(coefficients))), x)
    found: list[Expr] = []
    for factor, _ in factors:
        p = sympy.Poly(factor, x)
        if p.degree() == 1:
            found.append(sympy.cancel(-p.nth(0) / p.nth(1)))
        elif p.degree() == 2:
            c, b, a = (p.nth(k) for k in range(3))
            root = sqrt(sympy.factor(b**2 - 4 * a * c))
            found += [(-b + s * root) / (2 * a) for s in (1, -1)]
        elif p.degree() > 2:
            return None
    return found


def _entire(j: int, mu: Expr, h: Expr) -> Expr:
    """F_j(mu) = sum of h^(2i+j) mu^i/(2i+j)!."""
    if mu == 0:
        return h**j / sympy.factorial(j)
    if j > 1:
        return (_entire(j - 2, mu, h) - h ** (j - 2) / sympy.factorial(j - 2)) / mu
    if mu.is_positive:
        w = sqrt(mu)
        return sinh(w * h) / w if j else cosh(w * h)
    w = sqrt(-mu)
    return sin(w * h) / w if j else cos(w * h)


def _velocity(s: _Spectrum, start: Any, end: Any, b: Any, h: Expr) -> Any:
    """The velocity at the start of the motion from one position to another in time h."""
    (x, v), E = spans(len(start), len(start)), s.integral(0, h)
    # Without gyroscopic terms the inverse is a function of A, and needs no elimination.
    across = E[x, v] if s.gyroscopic else s.apply(lambda mu: 1 / _entire(1, mu, h))[v, v]
    inverse = _inverse(_fast(across)) if s.gyroscopic else _fast(across)
    return inverse * (end - _fast(E[x, x]) * start - _fast((s.integral(1, h) * b)[x, :]))


def _fast(matrix: Matrix) -> Any:
    import symengine

    return symengine.DenseMatrix(*matrix.shape, [fast(e) for e in matrix])


def _inverse(A: Any) -> Any:
    """The inverse without divisions until the last (Faddeev and LeVerrier): A B_k-1 + c_k-1, c_k = -trace(A B_k)/k."""
    import symengine

    n = A.rows
    B, c = symengine.eye(n), -sum(A[i, i] for i in range(n))
    for k in range(2, n + 1):
        B = (A * B + c * symengine.eye(n)).applyfunc(_trimmed)
        product = A * B
        c = _trimmed(-sum(product[i, i] for i in range(n)) / k)
    return B * (-1 / c)


def _action(system: System, form: Quadratic, s: _Spectrum) -> Expr:
    """The action between two positions."""
    import symengine

    q, n = system.coordinates, len(system.coordinates)
    q0, q1 = (_fast(Matrix([c.at(k) for c in q])) for k in (0, 1))
    b = zeros(n, 1).col_join(form.M.inv() * form.f)
    v0, v1 = _velocity(s, q0, q1, b, step), _velocity(s, q1, q0, b, -step)
    M, B, a, f = map(_fast, (form.M, form.B.T, form.a, form.f))
    p0, p1 = (M * v + B * x + a for v, x in ((v0, q0), (v1, q1)))
    whole = _fast(s.integral(1, step)) * symengine.DenseMatrix([*q0, *v0]) + _fast(s.integral(2, step) * b)
    pairs = [(p1, q1, 1), (p0, q0, -1), (a, q1, 1), (a, q0, -1), (f, whole[spans(n)[0], :], 1)]
    total = sum((sign * x * y for u, w, sign in pairs for x, y in zip(u, w, strict=True)), start=fast(0)) / 2
    total = _trimmed(total + fast(form.c) * fast(step))
    return slow(total, [*(c.at(k) for c in q for k in (0, 1)), *system.parameters, step])


def _trimmed(e: Any) -> Any:
    """Multiplied out if that is short, with cos^2 written as 1 - sin^2 so that what cancels does."""
    import symengine

    angles = {c.args[0] for c in e.atoms(symengine.cos)}
    e = e.subs({symengine.cos(u) ** 2: 1 - symengine.sin(u) ** 2 for u in angles})
    long = e.expand().subs({symengine.cos(u) ** 2: 1 - symengine.sin(u) ** 2 for u in angles}).expand()
    return long if not long.is_Add or len(long.args) <= 60 else e
