"""Machine code computes what the expressions say: random expressions, random linear systems, random points."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.decide.zero import vanishes
from dalembert.engine.machine import PointMap
from dalembert.model.serial import pack, unpack
from dalembert.symbolic import fast, magnitude, number
from dalembert.waist.stepmap import Block, pointwise

x, y, z = da.coordinates("x y z")
FEW = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

UNARY = [
    sympy.sin, sympy.cos, sympy.exp, sympy.tanh, sympy.atan, sympy.asinh, sympy.Abs, sympy.sign, sympy.erf,
    lambda e: sympy.sqrt(1 + e**2), lambda e: sympy.log(2 + e**2), lambda e: 1 / (1 + e**2), lambda e: e**3,
    lambda e: (1 + e**2) ** sympy.Rational(-3, 2), lambda e: (2 + sympy.cos(e)) ** sympy.Float(0.3), sympy.floor,
    lambda e: 1 / sympy.cosh(e), lambda e: sympy.Piecewise((e, e > 0), (e**2, sympy.And(e < 0, e > -1)), (0, True)),
]  # fmt: skip
BINARY = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / (3 + sympy.cos(b)),
    sympy.Max, sympy.Min, lambda a, b: sympy.atan2(a, 2 + b**2),
]  # fmt: skip


def is_tame(e):
    """Real, finite and of ordinary size at some point, with all its parts: the rest has no value to compare."""
    if e.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo, sympy.I):
        return False
    at = {x: 0.31, y: -0.72, z: 0.53}
    return all(
        abs(complex(part.subs(at).evalf())) < 1e4
        for part in sympy.preorder_traversal(e)
        if isinstance(part, sympy.Expr)
    )


leaves = st.one_of(
    st.sampled_from([x, y, z]),
    st.integers(-3, 3).map(sympy.Integer),
    st.sampled_from([sympy.Rational(1, 3), sympy.pi, sympy.Float(0.37), sympy.sqrt(2), sympy.E]),
)
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(UNARY), inner).map(lambda p: p[0](p[1])),
        st.tuples(st.sampled_from(BINARY), inner, inner).map(lambda p: p[0](p[1], p[2])),
    ),
    max_leaves=8,
).filter(is_tame)
points = st.tuples(*[st.floats(-1.5, 1.5).map(lambda v: round(v, 3) + 0.00017)] * 3)


def compiled(expressions_):
    return PointMap(pointwise("test", ["x", "y", "z"], [], {str(k): fast(e) for k, e in enumerate(expressions_)}))


@FEW
@given(expressions, points)
def test_value(e, point):
    expected = complex(e.subs(dict(zip((x, y, z), point, strict=True))).evalf())
    value = compiled([e])(np.array([point]), np.zeros((1, 0)))[0][0, 0]
    assert value == pytest.approx(expected.real, rel=1e-11, abs=1e-11)


POWERS = [x**n for n in range(-9, 13)] + [x ** sympy.Rational(n, 2) for n in range(-11, 13, 2)]
FUNCTIONS = [
    f(x)
    for f in (
        sympy.tan, sympy.cot, sympy.sec, sympy.csc, sympy.sinh, sympy.cosh, sympy.coth, sympy.sech, sympy.csch, sympy.asin,
        sympy.acos, sympy.acosh, sympy.atanh, sympy.gamma, sympy.loggamma, sympy.ceiling, sympy.erfc, sympy.log, sympy.exp,
    )
]  # fmt: skip
RELATIONS = [
    sympy.Piecewise((1, relation), (2, True))
    for relation in (
        sympy.Ne(x, y),
        sympy.Eq(x, y),
        sympy.Or(x < y, x > 2),
        sympy.Not(sympy.And(x > y, x < 2)),
        x >= 1.0,
    )
]


@pytest.mark.parametrize("place", [0.6, 0.9])
def test_every_power_function_and_relation(place):
    """One by one, since few of them come up by chance; acosh and its like where they are real."""
    told = [e for e in (*POWERS, *FUNCTIONS, *RELATIONS) if e.subs({x: place, y: 0.9}).is_real]
    found = compiled(told)(np.array([[place, 0.9, 0.0]]), np.zeros((1, 0)))[0][0]
    for e, value in zip(told, found, strict=True):
        assert value == pytest.approx(float(e.subs({x: place, y: 0.9})), rel=1e-13), e
    assert len(told) > 50


@FEW
@given(expressions, points)
def test_saved_expressions_come_back(e, point):
    assert unpack(pack(e)) == e


@FEW
@given(expressions, points)
def test_magnitude_bounds_the_value(e, point):
    values = dict(zip("xyz", point, strict=True))
    assert abs(number(fast(e), values)) <= number(magnitude(fast(e)), values) * (1 + 1e-12) + 1e-12


@FEW
@given(expressions)
def test_vanishes(e):
    assert vanishes(e - e)
    assert vanishes((e + x) ** 2 - e**2 - 2 * e * x - x**2)
    assert not vanishes(1 + e**2)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("linear", [True, False])
def test_solving_random_systems(n, linear):
    """Linear blocks and Newton's method against NumPy; small sizes are unrolled, large ones are loops."""
    rng = np.random.default_rng(n)
    matrix, right = rng.normal(size=(n, n)), rng.normal(size=n)
    matrix[0, 0] = 0.0 if n > 1 else matrix[0, 0]  # pivoting is needed
    scale = 10.0 ** rng.integers(-6, 6, n)
    names = [f"u{k}" for k in range(n)]
    u = [fast(name) for name in names]
    rows = [scale[i] * (sum(matrix[i, j] * u[j] for j in range(n)) - right[i] * fast("a")) for i in range(n)]
    if not linear:  # the same solution, hidden behind a nonlinear invertible map
        rows = [r + r**3 / scale[i] ** 2 for i, r in enumerate(rows)]
    block = Block(tuple(names), tuple(map(fast, rows)), (fast(0),) * n)
    assert block.is_linear == linear
    solve = PointMap(pointwise("test", ["a"], [], {name: fast(name) for name in names}, [block]))
    found, status = solve(np.array([[1.0], [-2.0]]), np.zeros((1, 0)))
    expected = np.linalg.solve(matrix, right)
    assert not status.any()
    assert found[0] == pytest.approx(expected, rel=1e-8, abs=1e-9)
    assert found[1] == pytest.approx(-2 * expected, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_singular_matrices_are_recognised_whatever_the_units(n):
    rng = np.random.default_rng(n)
    matrix = rng.normal(size=(n, n))
    matrix[-1] = matrix[:-1].sum(axis=0)
    for units in (np.ones((n, n)), 10.0 ** (rng.integers(-8, 8, n)[:, None] + rng.integers(-8, 8, n)[None, :])):
        names = [f"u{k}" for k in range(n)]
        rows = [sum(units[i, j] * matrix[i, j] * fast(names[j]) for j in range(n)) - fast("a") for i in range(n)]
        block = Block(tuple(names), tuple(map(fast, rows)), (fast(0),) * n)
        solve = PointMap(pointwise("test", ["a"], [], {"u0": fast("u0")}, [block]))
        found, status = solve(np.array([[1.0]]), np.zeros((1, 0)))
        assert da.Status(int(status[0])) is da.Status.SINGULAR
        assert np.isnan(found).all()


def test_badly_scaled_but_regular_matrices_are_not_called_singular():
    names, scale = ["u0", "u1", "u2"], [1e-150, 1.0, 1e140]
    rows = [scale[i] * (fast(names[i]) * 10 ** (3 * i) + fast(names[i - 1]) * 1e-3 - fast("a")) for i in range(3)]
    block = Block(tuple(names), tuple(rows), (fast(0),) * 3)
    _, status = PointMap(pointwise("test", ["a"], [], {"u0": fast("u0")}, [block]))(np.array([[1.0]]), np.zeros((1, 0)))
    assert not status.any()


def solved(matrix, right):
    """The solution of a linear block, and its status."""
    names = [f"u{k}" for k in range(len(matrix))]
    rows = [sum(float(a) * fast(n) for a, n in zip(row, names, strict=True)) for row in matrix]
    block = Block(tuple(names), tuple(r - float(b) * fast("a") for r, b in zip(rows, right, strict=True)))
    solve = PointMap(pointwise("test", ["a"], [], {n: fast(n) for n in names}, [block]))
    found, status = solve(np.array([[1.0]]), np.zeros((1, 0)))
    return found[0], da.Status(int(status[0]))


@pytest.mark.parametrize("n", [2, 3, 6])
def test_small_pivots_are_not_used(n):
    """Not only zeros are avoided: a pivot of 1e-13 would cost thirteen digits."""
    matrix = np.eye(n)[::-1] + 0.1
    matrix[0, 0] = 1e-13
    wanted = np.arange(1.0, n + 1)
    found, status = solved(matrix, matrix @ wanted)
    assert status is da.Status.CONVERGED
    assert found == pytest.approx(wanted, rel=1e-13)


def test_the_sizes_of_rows_go_with_them():
    """Once exchanged, a row of tiny numbers is still measured by its own size."""
    found, status = solved([[0, 1e-20], [1, 1]], [1e-20, 2])
    assert status is da.Status.CONVERGED
    assert found == pytest.approx([1, 1], rel=1e-14)


@pytest.mark.parametrize(("angle", "singular"), [(1e-11, False), (1e-16, True)])
def test_nearly_parallel_rows(angle, singular):
    """Eleven digits apart is far from singular; less than the last digit is not."""
    _, status = solved([[1, 1], [1, 1 + angle]], [2, 2 + angle])
    assert (status is da.Status.SINGULAR) == singular


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.lists(st.floats(-2, 2), min_size=2, max_size=6), st.floats(0.01, 0.2), st.sampled_from([1, 3, 7]))
def test_a_lane_is_the_same_run_alone(angles, h, every):
    example = da.gallery.load("double-pendulum")
    a, b = example.system.coordinates
    common = {"h": h, "steps": 30, "every": every, "parameters": example.parameters, "strict": False}
    rest = {b: 0.4, a.dot: 0.1, b.dot: -0.2}
    together = da.simulate(example.system, da.Midpoint(), start={a: np.array(angles), **rest}, **common)
    for k, angle in enumerate(angles):
        alone = da.simulate(example.system, da.Midpoint(), start={a: angle, **rest}, **common)
        # A large step may have no solution; then the lane and the run alone end at the same step.
        assert together.status[k] == alone.status
        assert np.array_equal(together.theta1[k], alone.theta1, equal_nan=True)
        assert np.array_equal(together["theta2.momentum"][k], alone["theta2.momentum"], equal_nan=True)


def test_code_outlives_the_eviction_of_other_code():
    """Compiled functions come and go; those in use stay valid."""
    from dalembert.engine import machine

    first = compiled([x + 1])
    for k in range(machine._function.cache_info().maxsize + 20):
        compiled([x * k + y])
    assert first(np.array([[1.0, 0.0, 0.0]]), np.zeros((1, 0)))[0][0, 0] == 2.0
