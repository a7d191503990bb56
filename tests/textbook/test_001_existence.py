"""Whether multipliers exist where the algebraic conditions leave several functions free: Douglas' cases I and II and above."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import sympy

import dalembert as da
from dalembert.decide.zero import vanishes
from dalembert.symbolic import fast
from dalembert.theory.algebra import Allowance
from dalembert.theory.inverse.algebraic_conditions import AlgebraicConditions
from dalembert.theory.inverse.along_motion import Flow, generic_points, pairs
from dalembert.theory.inverse.differential_conditions import DifferentialConditions
from dalembert.theory.inverse.prolongation import Derivatives, Prolongation, equation

from .inverse_problems import PROBLEMS, X, Y, x, y

BY_NUMBER = {p.number: p for p in PROBLEMS}
PLANE = [p for p in PROBLEMS if len(p.coordinates) == 2 and p.lagrangian is not None]
SPACE = [pytest.param(BY_NUMBER[n], id=f"D{n}", marks=pytest.mark.slow) for n in (38,)]


def conditions(problem):
    return AlgebraicConditions(Flow(problem.coordinates, tuple(map(sympy.sympify, problem.accelerations))))


def verdict(given):
    said = DifferentialConditions(given).verdict(Allowance(attempts=100_000, seconds=600, total=600))
    return said and said[0]


@pytest.mark.parametrize("problem", [*(pytest.param(p, id=f"D{p.number}") for p in PLANE), *SPACE])
def test_existence_is_proved_without_a_lagrangian(problem):
    assert verdict(conditions(problem)) == "exists"


def with_further_row(problem, row):
    """The algebraic conditions with one more, and its rates along the motion."""
    own = conditions(problem)
    conditions_of = DifferentialConditions(own)
    found = [equation({(a, None): e for a, e in enumerate(row)})]
    for _ in range(3):
        found.append(conditions_of._rate(found[-1]))
    rows = [[e.get((a, None), fast(0)) for a in range(len(row))] for e in found]
    return SimpleNamespace(flow=own.flow, independent_rows=[*own.independent_rows, *rows])


@pytest.mark.parametrize("row, expected", [
    ((1, 0, -1), "exists"),  # a = b: the sum of both energies
    ((1, 0, -(1 + x**2 + X**2)), "exists"),  # b = 1, and a is constant along the first motion
    ((1, 0, -(1 + x**2)), "none"),  # x is not
    ((1, 0, -y), "none"),
    ((1, 1, 0), "none"),  # a = 0
])  # fmt: skip
def test_further_conditions_may_exclude_all_multipliers(row, expected):
    """Two oscillators of different frequency, D14: g = diag(a(x, X, t), b(y, Y, t)), each constant along its motion."""
    problem = SimpleNamespace(coordinates=(x, y), accelerations=(-x, -2 * y))
    assert verdict(with_further_row(problem, row)) == expected


@pytest.mark.parametrize("number", [14, 16, 19, 20, 21, 22, 23, 25, 38])
def test_the_equations_hold_for_known_multipliers(number):
    """d2L/dv dv of a known Lagrangian satisfies all of them; of a wrong one it does not."""
    problem = BY_NUMBER[number]
    given = conditions(problem)
    whole = DifferentialConditions(given)
    variables = whole._variables
    point = next(generic_points(given.flow.f, given.flow.variables, 1))
    equations = whole._equations(Derivatives([fast(z) for z in variables], point))
    assert any(z is not None and a != b for e in equations for (a, z) in e for (b, _) in e)

    def left(L):
        g = given.flow.hessian(L)
        entries = [g[i][j] for i, j in pairs(given.flow.n)]
        for e in equations:
            parts = (c * (entries[a] if z is None else entries[a].diff(fast(variables[z]))) for (a, z), c in e.items())
            yield sum(parts, start=fast(0))

    assert all(map(vanishes, left(problem.lagrangian)))
    assert not all(map(vanishes, left(problem.lagrangian + x * X**2 * Y)))


VARIABLES = [fast(s) for s in sympy.symbols("a b")]
AT = {"a": 0.37, "b": 1.29}


def prolonged(equations, order, functions=1):
    from dalembert.decide import balls

    with balls.precise():
        point = {name: balls.ball(value) for name, value in AT.items()}
    return Prolongation([equation(e) for e in equations], functions, Derivatives(VARIABLES, point), order)


def test_integrability_conditions_are_found():
    """du/da = b u, du/db = 0 has the solution zero alone; du/da = b u, du/db = a u has exp(a b)."""
    a, b = VARIABLES
    assert len(prolonged([{(0, 0): 1, (0, None): -b}, {(0, 1): 1}], 1).implied(0)) == 0
    assert len(prolonged([{(0, 0): 1, (0, None): -b}, {(0, 1): 1}], 2).implied(0)) == 1
    whole = [{(0, 0): 1, (0, None): -b}, {(0, 1): 1, (0, None): -a}]
    assert all(len(prolonged(whole, order).implied(0)) == 0 for order in (1, 2, 3))
    assert prolonged(whole, 2).is_involutive(1)


def test_cartan_s_test_fails_where_derivatives_determine_more():
    """u_a = w_b, u_b = w_a is involutive. u_aa = u_bb = 0, of first order, is so after one more derivative."""
    assert prolonged([{(0, 0): 1, (1, 1): -1}, {(0, 1): 1, (1, 0): -1}], 2, 2).is_involutive(1)
    second = [{(0, 0): 1, (1, None): -1}, {(0, 1): 1, (2, None): -1}, {(1, 0): 1}, {(2, 1): 1}]
    assert not prolonged(second, 2, 3).is_involutive(1)
    assert prolonged(second, 3, 3).is_involutive(2)


def test_a_lagrangian_may_exist_without_being_found():
    """x'' = y x'^2, y'' = 0: that nothing was found is not all that is known."""
    found = da.inverse.lagrangian([x.ddot - y * X**2, y.ddot], [x, y], seconds=1200)
    assert found.exists is True
    assert found.lagrangian is None
    assert found.case == "II"
    assert "involutive" in found.reason


def test_different_verdicts_at_two_states_are_none(monkeypatch):
    said = iter([("exists", 2), ("none", 2)])
    monkeypatch.setattr(DifferentialConditions, "_at", lambda *_: next(said))
    assert verdict(conditions(BY_NUMBER[14])) is None
