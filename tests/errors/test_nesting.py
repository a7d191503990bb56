"""Expressions that are nested too deeply or are too large are refused with their size; what is supported works."""

from __future__ import annotations

import numpy as np
import pytest
import symengine
import sympy

import dalembert as da
from dalembert.engine.identity import DEEPEST as LEVELS
from dalembert.engine.identity import LARGEST as PARTS
from dalembert.engine.machine import PointMap
from dalembert.model.sizes import DEPTH, KINKS, extent
from dalembert.symbolic import fast, number
from dalembert.waist.stepmap import pointwise

from .tools import told

x = da.coordinates("x")


def nested(step, levels):
    e = x
    for k in range(levels):
        e = step(e, k)
    return e


def stated(potential):
    return da.System("nested", [x], kinetic=x.dot**2 / 2, potential=potential)


STEPS = {
    "sin": lambda e, k: sympy.sin(e),
    "fraction": lambda e, k: sympy.Pow(sympy.Add(2, e, evaluate=False), -1, evaluate=False),
    "branches": lambda e, k: sympy.Piecewise((e, x < k), (e + x - k, True), evaluate=False),
    "product": lambda e, k: sympy.Mul(x, sympy.Add(1, e, evaluate=False), evaluate=False),
}


@pytest.mark.parametrize("kind", STEPS)
def test_too_deep(kind):
    e = nested(STEPS[kind], 240)
    depth = extent(e)[1]
    assert depth > 200
    message = told(da.ModelError, lambda: stated(e))
    assert f"{depth} functions within one another" in message or "stand within one another" in message


def test_thousands_of_levels():
    e = nested(STEPS["branches"], 3000)
    assert "3000 of Abs" in told(da.ModelError, lambda: stated(e))


@pytest.mark.parametrize("kind", STEPS)
def test_as_deep_as_is_supported(kind):
    """The last expressions that are accepted have motions, and text where it is not SymPy that takes long over it."""
    levels = next(
        n
        for n in range(DEPTH if kind != "branches" else KINKS, 0, -1)
        if extent(nested(STEPS[kind], n))[1] <= DEPTH - 4
    )
    system = stated(nested(STEPS[kind], levels))
    if kind in ("sin", "branches"):
        assert str(system.equations())
    run = da.simulate(system, da.Midpoint(), h=0.001, steps=2, start={x: 0.3, x.dot: 0.1})
    assert run.ok


def test_shared_parts_count_as_often_as_they_are_written():
    """Doubled forty times: few parts, but 10^12 of them once written out; SymPy walks through them all."""
    e = x
    for _ in range(40):
        e = sympy.Add(sympy.sin(e, evaluate=False), sympy.cos(e, evaluate=False), evaluate=False)
    assert "terms and factors" in told(da.ModelError, lambda: stated(e))


def test_long_sums():
    e = sympy.Add(*(sympy.Mul(sympy.Integer(k), x, evaluate=False) for k in range(1, 100_000)), evaluate=False)
    message = told(da.ModelError, lambda: stated(e))
    assert f"{extent(e)[0]} terms and factors" in message or f"{extent(e)[0] + 0} terms" in message


@pytest.mark.parametrize("count", [3, 9, 24])
def test_the_largest_of_many(count):
    """Branches are written by halves; one after the other, two dozen of them would take hours."""
    terms = [sympy.sin(k * x) for k in range(1, count + 1)]
    for kink, best in ((sympy.Max, max), (sympy.Min, min)):
        found = fast(kink(*terms, evaluate=False))
        for at in (-1.3, 0.2, 0.9):
            assert number(found, {"x": at}) == pytest.approx(
                best(np.sin(k * at) for k in range(1, count + 1)), rel=1e-14
            )
    run = da.simulate(
        stated(sympy.Max(*terms, evaluate=False)), da.Midpoint(), h=0.001, steps=2, start={x: 0.3, x.dot: 0.1}
    )
    assert run.ok


def test_kinks_within_kinks():
    e = nested(lambda e, k: abs(e - k - 1), 3)
    for at in (-3.5, 0.2, 1.7, 4.0):
        expected = abs(abs(abs(at - 1) - 2) - 3)
        assert number(fast(e), {"x": at}) == pytest.approx(expected)
    assert "stand within one another" in told(da.ModelError, lambda: stated(nested(lambda e, k: abs(e - k - 1), 20)))


def compiled(expression):
    return PointMap(pointwise("deep", ["x"], [], {"y": expression}))(np.array([[0.3]]), np.zeros((1, 0)))[0][0, 0]


def test_step_maps_that_are_too_deep():
    """At the waist, where an expression is SymEngine's and may come from anywhere."""
    e, expected = fast("x"), 0.3
    for _ in range(LEVELS - 1):
        e, expected = symengine.sin(e), np.sin(expected)
    assert compiled(e) == pytest.approx(expected, rel=1e-12)
    assert f"nested {LEVELS + 1} levels deep" in told(da.ModelError, lambda: compiled(symengine.sin(e)))
    for _ in range(10_000):
        e = symengine.sin(e)
    assert f"nested {LEVELS + 10_000} levels deep" in told(da.ModelError, lambda: compiled(e))


def test_step_maps_that_are_too_large():
    e = symengine.Add(*(symengine.sin(k * fast("x")) for k in range(200_000)))
    assert f"at most {PARTS}" in told(da.ModelError, lambda: compiled(e))


def test_powers_of_parameters_within_powers():
    """Products of parameters are ordered by a text that would be as long as the product written out."""
    p, e = fast("p"), fast("p")
    for _ in range(4):
        e = (e + p) ** 63
    made = PointMap(pointwise("powers", ["x"], ["p"], {"y": fast("x") * e}))
    assert np.isfinite(made(np.array([[1.0]]), np.array([[1e-9]]))[0]).all()
