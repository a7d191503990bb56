"""Inverse problems with known answers: 43 systems of equations, each with a Lagrangian or with none.

J. Douglas, Trans. AMS 50 (1941) 71; M. Crampin et al., Inverse Problems 10 (1994) 245; W. Sarlet, G. Thompson, G. E. Prince,
Trans. AMS 354 (2002) 2897, and the classic equations of Caldirola and Kanai, Bateman, Mathews and Lakshmanan, Hojman and
Urrutia. "None" excludes every regular L(t, q, v).
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import mpmath
import sympy
from sympy import Expr, cos, cot, exp, log, sin, sqrt

import dalembert as da

x, y, z = da.coordinates("x y z")
t = da.time
X, Y, Z = x.dot, y.dot, z.dot
mu, omega, k, gamma, g, n, alpha, beta = da.parameters("mu omega k gamma g n alpha beta", positive=True)
b, k1, k2, p, q, kappa = da.parameters("b k1 k2 p q kappa", positive=True)
rho, r, R = sqrt(x**2 + y**2), sqrt(X**2 + Y**2), sqrt(x**2 + y**2 + z**2)
half = sympy.Rational(1, 2)


@dataclass(frozen=True)
class Problem:
    """Accelerations, a Lagrangian (None if there is none), and Douglas' case where there are two degrees of freedom."""

    number: int
    accelerations: tuple[Expr, ...]
    lagrangian: Expr | None
    case: str = ""
    slow: bool = False

    @property
    def coordinates(self):
        return (x, y, z)[: len(self.accelerations)]

    @property
    def equations(self):
        return [c.ddot - f for c, f in zip(self.coordinates, self.accelerations, strict=True)]


def _turned(*B):
    """Velocity times B."""
    return tuple(sympy.Matrix([X, Y, Z]).cross(sympy.Matrix(B)))


OMEGA = sqrt(omega**2 - mu**2)
S = (X + mu * x) / (OMEGA * x)
AUTONOMOUS = S * sympy.atan(S) - log(X**2 + 2 * mu * x * X + omega**2 * x**2) / 2
"""The second Lagrangian of the damped oscillator, where omega > mu."""

FREE = (X**2 + Y**2) / 2
TURNED = exp(k * t) * (cos(b * t) * (X**2 - Y**2) - 2 * sin(b * t) * X * Y) / 2
SPACE = (X**2 + Y**2 + Z**2) / 2

PROBLEMS = [
    Problem(1, (-(omega**2) * x,), (X**2 - omega**2 * x**2) / 2),
    Problem(2, (-2 * mu * X - omega**2 * x,), exp(2 * mu * t) * (X**2 - omega**2 * x**2) / 2),
    Problem(3, (-k * X,), X * log(X) - k * x),
    Problem(4, (-gamma * X**2 - g,), exp(2 * gamma * x) * (X**2 / 2 - g / (2 * gamma))),
    Problem(5, (-2 * X / t - x**n,), t**2 * (X**2 / 2 - x ** (n + 1) / (n + 1))),
    Problem(6, (-3 * x * X - x**3,), 1 / (X + x**2), slow=True),
    Problem(7, ((k * x * X**2 - alpha * x) / (1 + k * x**2),), (X**2 - alpha * x**2) / (2 * (1 + k * x**2)), slow=True),
    Problem(8, (sympy.S.Zero, sympy.S.Zero), FREE, "I"),
    Problem(9, (-(omega**2) * x, -(omega**2) * y), FREE - omega**2 * (x**2 + y**2) / 2, "I"),
    Problem(10, (-2 * mu * X - k * x, 2 * mu * Y - k * y), X * Y + mu * (x * Y - y * X) - k * x * y, "I"),
    Problem(11, (b * Y, -b * X), FREE + b * (x * Y - y * X) / 2, "I"),
    Problem(12, (-k * X, -k * Y - g), exp(k * t) * (FREE - g * y), "I"),
    Problem(13, (Y, sympy.S.Zero), X * Y - t * Y**2 / 2, "I"),
    Problem(14, (-k1 * x, -k2 * y), FREE - (k1 * x**2 + k2 * y**2) / 2, "II"),
    Problem(
        15,
        (-2 * mu * X - alpha * x + beta * y, -2 * mu * Y - alpha * y - beta * x),
        exp(2 * mu * t) * ((X**2 - Y**2) / 2 + beta * x * y - alpha * (x**2 - y**2) / 2),
        "II",
    ),
    Problem(
        16,
        (-2 * mu * X - k1 * x - p * y, -2 * mu * Y - q * x - k2 * y),
        exp(2 * mu * t) * (q * (X**2 - k1 * x**2) + p * (Y**2 - k2 * y**2) - 2 * p * q * x * y) / 2,
        "II",
    ),
    Problem(17, (b * Y - k * X, -b * X - k * Y), TURNED, "II"),
    Problem(18, (y, sympy.S.Zero), X * Y + y**2 / 2, "II"),
    Problem(19, (-y * X * Y / (1 + y**2), sympy.S.Zero), Y**2 / 2 + sqrt(1 + y**2) * X**2 / Y / 2, "II"),
    Problem(20, (-k * X / r, -k * Y / r), r**2 / 2 + k * t * r, "II"),
    Problem(21, (-k * r * X, -k * r * Y), log(r) - k * t * r, "II"),
    Problem(22, (sin(x) * cos(x) * Y**2, -2 * cot(x) * X * Y), (X**2 + sin(x) ** 2 * Y**2) / 2, "II"),
    Problem(23, (-x - 2 * x * y, -y - x**2 + y**2), FREE - (x**2 + y**2) / 2 - x**2 * y + y**3 / 3, "III"),
    Problem(24, (-k * x / rho**3 - mu * X, -k * y / rho**3 - mu * Y), exp(mu * t) * (FREE + k / rho), "III"),
    Problem(25, (y**2, x**2), X * Y + (x**3 + y**3) / 3, "III"),
    Problem(26, (b * Y - k1 * x, -b * X - k2 * y), FREE + b * (x * Y - y * X) / 2 - (k1 * x**2 + k2 * y**2) / 2, "III"),
    Problem(
        27,
        (-2 * mu * X - (k + mu**2) * x - kappa * y, -k * y - kappa * x),
        exp(mu * t) * (X * Y + mu * x * Y - k * x * y - kappa * (x**2 + y**2) / 2),
        "III",
    ),
    Problem(28, (-2 * mu * X - k1 * x - kappa * y, -k2 * y - kappa * x), None, "IV"),
    Problem(29, (x**2 + y**2, sympy.S.Zero), None, "III"),
    Problem(30, (-Y, -y), None, "III"),
    Problem(31, (Y**2, X**2), None, "III"),
    Problem(32, (-2 * mu * X + b * Y - k1 * x, -2 * mu * Y - b * X - k2 * y), None, "IV"),
    Problem(33, (-k * r * X, -k * r * Y - g), None, "IV"),
    Problem(34, (y**3, x**2 + y), None, "IV"),
    Problem(35, (x * Y, y * X), None, "IV"),
    Problem(36, (-x / rho**3 - k * X / rho**2, -y / rho**3 - k * Y / rho**2), None, "IV"),
    Problem(37, ((1 - x**2) * X - x + kappa * y, (1 - y**2) * Y - y + kappa * x), None, "IV"),
    Problem(38, _turned(y, z, x), SPACE + (z**2 * X + x**2 * Y + y**2 * Z) / 2),
    Problem(39, _turned(x, y, z), None),
    Problem(40, _turned(x, 0, 0), None),
    Problem(41, _turned(*(g * c / R**3 for c in (x, y, z))), SPACE + g * (x * Y - y * X) / (R * (R + z)), slow=True),
    Problem(42, (-X - 2 * x - y / 3, -y - x / 3 - z / 5, -3 * z - y / 5), None),
]

BIRKHOFF = (
    [X - x * (alpha - b * y), Y - y * (q * x - p)],
    log(y) / x * X - (alpha * log(y) - b * y + p * log(x) - q * x),
)
"""Problem 43, of first order: equations of Lotka and Volterra, and a Lagrangian linear in the velocities."""


def euler_lagrange(L, coordinates):
    """d/dt dL/dv - dL/dq by SymPy alone."""
    found = []
    for c in coordinates:
        slope = sympy.diff(L, c.dot)
        along = [sympy.diff(slope, d) * d.dot + sympy.diff(slope, d.dot) * d.ddot for d in coordinates]
        found.append(sympy.diff(slope, t) + sympy.Add(*along) - sympy.diff(L, c))
    return found


def numbers(expressions, seed=0):
    """Values at a random point, with fifty digits; symbols are positive, and omega is larger than mu."""
    rng = random.Random(seed)
    symbols = sorted({s for e in expressions for s in sympy.sympify(e).free_symbols}, key=str)
    at = {s: sympy.Rational(rng.randint(300, 1700), 1000) + 2 * (s == omega) for s in symbols}
    return [sympy.sympify(e).xreplace(at).evalf(50) for e in expressions]


def errors(L, problem, seeds=3):
    """E(L) along the motion, relative to the size of its terms, and |det d2L/dv dv|, at random points; without the library."""
    q_, moved = (
        problem.coordinates,
        {c.ddot: f for c, f in zip(problem.coordinates, problem.accelerations, strict=True)},
    )
    made = [e.xreplace(moved) for e in euler_lagrange(L, q_)]
    hessian = sympy.Matrix([[sympy.diff(L, c.dot, d.dot) for c in q_] for d in q_])
    sizes = [sympy.Add(*map(sympy.Abs, sympy.Add.make_args(e))) for e in made]
    left, least = mpmath.mpf(0), mpmath.inf
    for seed in range(seeds):
        values = numbers([*made, *sizes, hessian.det()], seed)
        for e, size in zip(values[: len(made)], values[len(made) : -1], strict=True):
            left = max(left, abs(mpmath.mpmathify(e)) / (1 + abs(mpmath.mpmathify(size))))
        least = min(least, abs(mpmath.mpmathify(values[-1])))
    return left, least
