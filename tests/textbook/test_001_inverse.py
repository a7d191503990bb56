"""Inverse problems with known answers: the Lagrangian is found, or it is proved that there is none (Ramirez; Douglas)."""

from __future__ import annotations

from itertools import combinations

import pytest
import sympy

import dalembert as da

from .inverse_problems import (
    AUTONOMOUS,
    BIRKHOFF,
    PROBLEMS,
    Problem,
    X,
    Y,
    errors,
    euler_lagrange,
    k,
    kappa,
    mu,
    t,
    x,
    y,
)

BY_NUMBER = {p.number: p for p in PROBLEMS}
CASES = [pytest.param(p, id=f"D{p.number}", marks=pytest.mark.slow if p.slow else ()) for p in PROBLEMS]
KNOWN = [pytest.param(p, id=f"D{p.number}") for p in PROBLEMS if p.lagrangian is not None]
ROOTS = (20, 21, 22, 33, 36)
NUMBERS = [
    pytest.param(p, id=f"D{p.number}", marks=pytest.mark.slow if p.number in ROOTS else ()) for p in PROBLEMS if p.case
]


def answer(problem, **options):
    """With so much time that no result depends on how busy the machine is."""
    return da.inverse.lagrangian(problem.equations, problem.coordinates, seconds=1200, **options)


@pytest.mark.parametrize("problem", KNOWN)
def test_known_lagrangians_satisfy_the_equations(problem):
    left, regular = errors(problem.lagrangian, problem)
    assert left < 1e-40
    assert regular > 1e-3


def test_the_check_sees_wrong_lagrangians():
    wrong = Problem(9, BY_NUMBER[9].accelerations, BY_NUMBER[9].lagrangian + x**2 * y)
    assert errors(wrong.lagrangian, wrong)[0] > 1e-3
    assert errors((X + Y) ** 2, BY_NUMBER[8])[1] == 0  # singular


def test_the_damped_oscillator_has_a_lagrangian_without_time():
    left, regular = errors(AUTONOMOUS, BY_NUMBER[2])
    assert left < 1e-40
    assert regular > 1e-3


@pytest.mark.parametrize("problem", CASES)
def test_lagrangians_are_found_or_excluded(problem):
    found = answer(problem)
    if problem.lagrangian is None:
        assert found.exists is False
        assert found.lagrangian is None
        assert not found.verified
        assert "independent linear equations hold for the" in found.reason
        return
    assert found.exists
    assert found.verified
    left, regular = errors(found.lagrangian, problem)
    assert left < 1e-40
    assert regular > 1e-6
    made = sympy.Matrix(euler_lagrange(found.lagrangian, problem.coordinates))
    rest = made - found.multiplier * sympy.Matrix(problem.equations)
    assert all(_small(e) for e in rest)


def _small(e):
    from .inverse_problems import numbers

    return all(abs(numbers([e], seed)[0]) < 1e-40 for seed in range(2))


@pytest.mark.parametrize("problem", NUMBERS)
def test_douglas_case(problem):
    """The case of two degrees of freedom, from matrices computed here by SymPy alone, at one rational point."""
    q, f = problem.coordinates, sympy.Matrix(problem.accelerations)
    v = sympy.Matrix([c.dot for c in q])

    def rate(M):
        along = [M.diff(c) * c.dot + M.diff(c.dot) * a for c, a in zip(q, f, strict=True)]
        return M.diff(t) + along[0] + along[1]

    gamma = -f.jacobian(v) / 2
    M = -f.jacobian(sympy.Matrix(q)) - gamma**2 - rate(gamma)
    rows = []
    for _ in range(3):
        rows.append([M[0, 1], M[1, 1] - M[0, 0], -M[1, 0]])
        M = rate(M) + gamma * M - M * gamma
    symbols = sorted(sympy.Matrix(rows).free_symbols, key=str)
    at = {s: sympy.Rational(17 + 10 * i, 11 + 3 * i) for i, s in enumerate(symbols)}
    values = (
        sympy.Matrix(rows).xreplace(at).applyfunc(lambda e: sympy.nsimplify(e.evalf(60)) if e.has(sympy.sqrt) else e)
    )
    ranks = [_rank(values[:m, :]) for m in (1, 2, 3)]
    expected = "I" if ranks[0] == 0 else "IV" if ranks[2] == 3 else "III" if ranks[1] == 2 else "II"
    assert expected == problem.case
    if problem.lagrangian is None or problem.case in ("III", "IV"):
        from dalembert.theory.inverse.algebraic_conditions import AlgebraicConditions
        from dalembert.theory.inverse.along_motion import Flow

        assert AlgebraicConditions(Flow(q, problem.accelerations)).case == expected


def _rank(matrix):
    """By minors of fifty digits."""
    for size in range(min(matrix.shape), 0, -1):
        for i in combinations(range(matrix.rows), size):
            for j in combinations(range(3), size):
                if abs(matrix.extract(list(i), list(j)).det().evalf(50)) > 1e-30:
                    return size
    return 0


@pytest.mark.parametrize("rates", [
    (y, -sympy.sin(x) - mu * y),
    (x * (k - y) / (1 + x), y * (x - mu) / (1 + y)),
    (x * (y**2 + 1), x - y),
])  # fmt: skip
def test_birkhoff_lagrangians_with_a_last_multiplier(rates):
    """Two equations of first order times a function that is no product of powers."""
    found = da.inverse.lagrangian([x.dot - rates[0], y.dot - rates[1]], [x, y], kind="birkhoff", seconds=600)
    motion = {x.dot: rates[0], y.dot: rates[1]}
    errors = [e.xreplace(motion) for e in euler_lagrange(found.lagrangian, (x, y))]
    assert found.verified and all(_small(e) for e in errors)
    assert found.lagrangian.diff(y.dot, x) - found.lagrangian.diff(x.dot, y) != 0


def test_birkhoff_lagrangian_of_lotka_and_volterra():
    """D43."""
    equations, known = BIRKHOFF
    found = da.inverse.lagrangian(equations, [x, y], kind="birkhoff")
    assert found.verified
    assert found.exact
    for L in (known, found.lagrangian):
        rates = {X: sympy.solve(equations[0], X)[0], Y: sympy.solve(equations[1], Y)[0]}
        assert all(sympy.simplify(e.xreplace(rates)) == 0 for e in euler_lagrange(L, (x, y)))
        assert sympy.diff(L, X, 2) == 0 == sympy.diff(L, Y, 2)


def test_special_parameters_change_the_verdict():
    """D28 has none, but for k1 - k2 = mu^2, which is D27; D14 and D26 at equal k are in a lower case."""
    generic = answer(BY_NUMBER[28])
    assert generic.case == "IV"
    special = dict(zip(da.parameters("k1 k2", positive=True), (k + mu**2, k), strict=True))
    assert sympy.simplify(generic.obstruction) != 0
    assert sympy.simplify(generic.obstruction.xreplace(special)) == 0
    assert sympy.rem(generic.obstruction, mu**3 * kappa**2, mu) == 0
    equal = dict.fromkeys(da.parameters("k1 k2", positive=True), k)
    for number in (14, 26):
        listed = [e.xreplace(equal) for e in BY_NUMBER[number].equations]
        assert da.inverse.lagrangian(listed, [x, y], seconds=1200).verified
    listed = [e.xreplace(equal) for e in BY_NUMBER[32].equations]
    assert da.inverse.lagrangian(listed, [x, y]).case in ("I", "II")
    assert da.inverse.lagrangian(listed, [x, y]).verified


def test_a_failed_ansatz_proves_nothing():
    """D19: no multiplier is polynomial in the velocities, yet there is a Lagrangian."""
    problem = BY_NUMBER[19]
    polynomials = [1, X, Y, X**2, X * Y, Y**2, 1 + y**2, (1 + y**2) * X, (1 + y**2) * Y]
    poor = answer(problem, ansatz=polynomials)
    assert poor.exists is None
    assert poor.lagrangian is None
    assert "That proves nothing" in poor.reason
    s = da.sqrt(1 + y**2)
    rich = answer(problem, ansatz=[1, s / Y, s * X / Y**2, s * X**2 / Y**3])
    assert rich.verified
    assert errors(rich.lagrangian, problem)[0] < 1e-40
    assert answer(problem).verified
