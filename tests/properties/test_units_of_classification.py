"""No verdict of `classify` depends on units: constraints times constants, coordinates in other units, decimals."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, exp, sin
from dalembert.symbolic import fast
from dalembert.theory.constraints.integrating_factors import constant_solutions

x, y, z, theta, phi = da.coordinates("x y z theta phi")
LENGTHS = (x, y, z)

STATED = {
    "sleigh": ([sin(theta) * x.dot - cos(theta) * y.dot], [x, y, theta]),
    "disc": ([x.dot - cos(theta) * phi.dot, y.dot - sin(theta) * phi.dot], [x, y, theta, phi]),
    "contact form": ([z.dot - y * x.dot], [x, y, z]),
    "plane": ([2 * x.dot + 3 * y.dot - z.dot], [x, y, z]),
    "factor": ([x * (y * z.dot + z * y.dot) + y * z * x.dot], [x, y, z]),
    "homogeneous": ([y * z * x.dot - 2 * x * z * y.dot + 3 * x * y * z.dot], [x, y, z]),
    "two planes": ([z.dot, z.dot - y.dot], [x, y, z]),
    "redundant": ([x.dot - y.dot, y.dot - z.dot, x.dot - z.dot], [x, y, z]),
    "sphere": ([x**2 + y**2 + z**2 - 4], [x, y, z]),
    "circle": ([x**2 + y**2 - 4, 4 * theta.dot - x * y.dot + y * x.dot], [x, y, theta]),
    "product": ([(x - 2) * (y - z)], [x, y, z]),
    "square": ([(x - 2 * y) ** 2], [x, y, z]),
    "exponential": ([x.dot - x * theta.dot], [x, theta]),
    "growing": ([exp(theta) * (x.dot + y * theta.dot)], [x, y, theta]),
}


def summary(verdict):
    """Everything that is not a formula."""
    if hasattr(verdict, "branches"):
        return tuple(summary(b) for b in verdict.branches)
    return (
        verdict.is_holonomic,
        verdict.rank,
        verdict.growth_vector,
        verdict.hidden_count,
        tuple(c.kind for c in verdict.constraints),
        tuple((r.constraint, r.follows_from) for r in verdict.redundant),
        tuple((len(h.where), h.is_local) for h in verdict.hidden_functions),
    )


def in_other_units(constraints, units):
    put = {s: u * s for q, u in units.items() for s in (q, q.dot)}
    return [c.xreplace(put) for c in constraints]


@pytest.mark.parametrize("name", STATED)
def test_verdicts_do_not_depend_on_units(name):
    constraints, q = STATED[name]
    plain = summary(da.classify(constraints, coordinates=q))
    big, small = sympy.Integer(10) ** 14, sympy.Rational(1, 10**14)
    mixed = [big if k % 2 else small for k in range(len(constraints))]
    assert summary(da.classify([k * c for k, c in zip(mixed, constraints, strict=True)], coordinates=q)) == plain
    for exponent in (12, -12):
        units = {a: sympy.Integer(10) ** exponent for a in LENGTHS if a in q}
        assert summary(da.classify(in_other_units(constraints, units), coordinates=q)) == plain
    one = {q[0]: sympy.Rational(1, 10**12)} if q[0] in LENGTHS else {}
    assert summary(da.classify(in_other_units(constraints, one), coordinates=q)) == plain


@pytest.mark.parametrize("name", ["sleigh", "plane", "homogeneous", "redundant", "product", "square"])
def test_decimals_change_no_verdict(name):
    constraints, q = STATED[name]
    plain = summary(da.classify(constraints, coordinates=q))
    decimals = [sympy.Float("0.5") * c for c in constraints]
    assert summary(da.classify(decimals, coordinates=q)) == plain


def test_control_an_absolute_threshold_fails():
    """What is decided here by value would not be by a fixed number."""
    rows = np.array([[0, 0, 1.0], [0, -1e-12, 1.0]])
    assert np.linalg.matrix_rank(rows, tol=1e-9) == 1
    assert da.classify([z.dot, z.dot - sympy.Rational(1, 10**12) * y.dot], coordinates=[x, y, z]).rank == 2


@pytest.mark.parametrize("size", [sympy.Rational(1, 10**15), 1, sympy.Integer(10) ** 15, sympy.Rational(355, 113)])
def test_constants_of_any_size_are_recovered(size):
    """c with c x + (1/2) y = a given right side; in floating point those below 1e-9 were zero."""
    a, b = fast(x), fast(y)
    (found,) = constant_solutions([[a], [b]], [fast(size) * a + b / 2])
    assert [sympy.Rational(str(c)) for c in found] == [size, sympy.Rational(1, 2)]
    (kernel,) = constant_solutions([[a], [fast(size) * a + b], [b]], None)
    first, second, third = (sympy.Rational(str(c)) for c in kernel)
    assert (first + size * second, second + third) == (0, 0)
    assert constant_solutions([[a], [b]], [a * b]) == []  # control: there is none
    assert constant_solutions([[a], [b]], [fast(sympy.sqrt(2)) * a]) == []  # control: no rational one
