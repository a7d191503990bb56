"""Random inverse problems: equations of a random Lagrangian in changed coordinates times a random matrix, and others.

The second kind has forces added that no potential has. As a rule there is no Lagrangian then.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import sympy
from sympy import Expr

import dalembert as da

from .inverse_problems import euler_lagrange

COORDINATES = da.coordinates("x y z")
mu = da.parameters("mu", positive=True)
t = da.time


@dataclass(frozen=True)
class RandomProblem:
    """Equations, and the Lagrangian they were made from; None if forces were added."""

    number: int
    kind: str
    coordinates: tuple[Expr, ...]
    equations: tuple[Expr, ...]
    lagrangian: Expr | None


KINDS = ("potential", "magnetic", "damped", "metric", "one degree", "three degrees", "indefinite")


def problem(number: int, variational: bool) -> RandomProblem:
    """The problem of that number, always the same."""
    rng = random.Random(1000 * number + variational)
    kinds = KINDS if variational else tuple(kind for kind in KINDS if kind != "one degree")  # one degree has always one
    kind = kinds[number % len(kinds)]
    q = COORDINATES[: {"one degree": 1, "three degrees": 3}.get(kind, 2)]
    L = _changed(_lagrangian(kind, q, rng), q, rng)
    made = sympy.Matrix(euler_lagrange(L, q))
    if not variational:
        made -= sympy.Matrix([_force(q, rng) for _ in q])
    mixed = _matrix(q, rng) * made
    return RandomProblem(number, kind, q, tuple(mixed), L if variational else None)


def _coefficient(rng: random.Random) -> sympy.Rational:
    return sympy.Rational(rng.choice([-3, -2, -1, 1, 2, 3]), rng.choice([1, 1, 2]))


def _polynomial(symbols, degree: int, terms: int, rng: random.Random) -> Expr:
    monomials = list(sympy.itermonomials(symbols, degree, 1))
    return sympy.Add(
        *(_coefficient(rng) * m for m in rng.sample(sorted(monomials, key=str), min(terms, len(monomials))))
    )


def _lagrangian(kind: str, q, rng: random.Random) -> Expr:
    v = [c.dot for c in q]
    V = _polynomial(q, 4, 4, rng) + sympy.Add(*(c**2 for c in q))
    T = sympy.Add(*(rng.choice([1, 2, 3]) * w**2 for w in v)) / 2
    if kind == "magnetic":
        return T + _polynomial(q, 3, 2, rng) * v[0] - V
    if kind == "damped":
        return sympy.exp(mu * t) * (T - V)
    if kind == "metric":
        return (1 + q[0] ** 2) * v[0] ** 2 / 2 + (2 + q[0]) * v[1] ** 2 / 2 - V
    if kind == "one degree":
        return sympy.exp(_coefficient(rng) * q[0]) * v[0] ** 2 / 2 - V
    if kind == "indefinite":
        return v[0] * v[1] + _coefficient(rng) * v[0] ** 2 / 2 - V
    return T - V


def _changed(L: Expr, q, rng: random.Random) -> Expr:
    """L in other coordinates: a shear after a linear map, which has an inverse everywhere."""
    images = list(q)
    if len(q) > 1:
        images[1] += _coefficient(rng) * q[0]
        images[0] += _coefficient(rng) * q[1] ** 2 / 2
    else:
        images[0] = 2 * q[0] + 1
    moved = dict(zip(q, images, strict=True))
    moved |= {c.dot: sympy.Add(*(e.diff(d) * d.dot for d in q)) for c, e in zip(q, images, strict=True)}
    return sympy.sympify(L).xreplace(moved)


def _matrix(q, rng: random.Random) -> sympy.Matrix:
    """Unit triangular times a function that is not zero."""
    n = len(q)
    B = sympy.eye(n)
    for i in range(n):
        for j in range(i):
            B[i, j] = _coefficient(rng) * rng.choice([*q, q[i].dot, 1])
    return B * (1 + q[0] ** 2 if rng.random() < 0.5 else sympy.exp(t))


def _force(q, rng: random.Random) -> Expr:
    return _polynomial([*q, *(c.dot for c in q)], 2, 2, rng)


def outcome(problem: RandomProblem, seconds: float) -> str:
    """found, refused (with proof), known to exist (but no formula), or undecided."""
    result = da.inverse.lagrangian(problem.equations, problem.coordinates, seconds=seconds, progress=False)
    if result.lagrangian is not None:
        assert result.verified
        return "found"
    return {False: "refused", True: "exists", None: "undecided"}[result.exists]
