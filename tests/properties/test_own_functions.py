"""Functions that this library computes itself: accurate everywhere, and with the same bits in vectors of any width."""

import math

import mpmath
import numpy as np
import pytest

from dalembert.engine.backends import arctangent, exponential, llvm, own_functions, power, simd
from dalembert.engine.emitter import Memory

ARGUMENTS = {"x": "real[]", "y": "real[]", "out": "real[]", "first": "integer", "last": "integer"}
WORST = 1.0
"""Units in the last place; of the inverse functions of sine and cosine 1.5, as the other leg of a triangle is rounded."""

COUNT = 200
some = np.random.default_rng(1)


def near(a, b):
    return some.uniform(a, b, COUNT)


def wide(a, b):
    """Over many orders of magnitude, of either sign."""
    return 10.0 ** near(a, b) * some.choice([-1, 1], COUNT)


POINTS = {
    "sin": [(near(-0.8, 0.8),), (near(-1e2, 1e2),), (near(-1.4e5, 1.4e5),), (wide(-323, 308),)],
    "cos": [(near(-0.8, 0.8),), (near(-1e2, 1e2),), (near(-1.4e5, 1.4e5),), (wide(-323, 308),)],
    "tan": [(near(-1.5, 1.5),), (near(-1e3, 1e3),), (wide(-323, 308),)],
    "exp": [(near(-1, 1),), (near(-700, 700),), (near(-745, -708),), (near(700, 709.7),), (wide(-323, 0),)],
    "log": [(near(0.9, 1.1),), (near(0.5, 2),), (abs(wide(-323, 308)),), (abs(wide(-323, -308)),)],
    "sqrt": [(abs(wide(-323, 308)),)],
    "pow": [
        (near(0, 10), near(-300, 300)), (abs(wide(-300, 300)), near(-1, 1)), (near(0.9, 1.1), near(-7000, 7000)),
        (1 + wide(-16, -1), wide(0, 16)), (abs(wide(-323, -305)), near(-1, 1)),
        (near(0, 100), some.choice([1.5, -0.5, 1 / 3, 1.4, -6.5], COUNT)),
        (-near(0, 100), some.integers(-100, 100, COUNT).astype(float)), (near(1.9, 2.1), near(-1080, -1000)),
    ],
    "atan2": [
        (near(-1, 1), near(-1, 1)), (wide(-323, 308), wide(-323, 308)), (wide(-3, 3), wide(-3, 3)),
        (wide(-323, -300), wide(-323, -300)), (wide(300, 308), wide(295, 308)), (near(0.4, 0.43), 1 + 0 * near(0, 1)),
    ],
    "atan": [(near(-10, 10),), (wide(-323, 308),)],
    "asin": [(near(-1, 1),), (1 - abs(wide(-16, -1)),), (wide(-323, 0),)],
    "acos": [(near(-1, 1),), (abs(wide(-16, -1)) - 1,), (wide(-323, 0),)],
}  # fmt: skip


def values(function, points, width):
    """A function at some points, computed in vectors of a width."""
    e = llvm.emitter("f", ARGUMENTS) if width == 1 else simd.SimdEmitter("f", ARGUMENTS, width)
    with e.lanes(e.argument("first"), e.argument("last")) as lane:
        given = [e.load(e.array_argument(name), lane) for name in ("x", "y")][: len(points)]
        e.store(e.array_argument("out"), e.call(function, *given), lane)
    text = e.module()
    code = llvm.compile_module(text, 10_000) if width == 1 else simd.with_functions(text, 10_000, width)
    x, y = (np.ascontiguousarray(p, dtype=float) for p in (points[0], points[-1]))
    out = np.zeros(len(x))
    memories = [Memory("numbers", a, a.dtype, a.shape) for a in (x, y, out)]
    llvm.Compiled(code, "f", ARGUMENTS, width)(memories, len(x), 0, ())
    return out


def units_off(function, points, found):
    """The largest error in units in the last place."""
    true = {"pow": mpmath.power}.get(function) or getattr(mpmath, function)
    off = 0.0
    with mpmath.workprec(1200 if function in ("sin", "cos", "tan") else 200):
        for value, *at in zip(found, *points, strict=True):
            exact = true(*(mpmath.mpf(float(v)) for v in at))
            nearest = float(exact)
            if math.isinf(nearest):
                assert value == nearest, (function, at)
            else:
                off = max(off, float(abs(mpmath.mpf(float(value)) - exact) / np.spacing(abs(nearest))))
    return off


@pytest.mark.parametrize("function", POINTS)
def test_functions_are_accurate_and_have_the_same_bits_in_vectors(function):
    for points in POINTS[function]:
        found = values(function, points, 1)
        for width in (4, 16):
            assert np.array_equal(found.view(np.int64), values(function, points, width).view(np.int64)), width
        assert units_off(function, points, found) <= (1.5 if function in ("asin", "acos") else WORST)


SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324, -5e-324, 800.0, -801.0, 1.0, -1.0, 0.5, -2.5]
)


@pytest.mark.parametrize("function", ["sin", "cos", "exp", "log", "sqrt", "atan", "asin", "acos"])
@pytest.mark.parametrize("width", [1, 8])
def test_functions_at_the_ends_of_their_ranges(function, width):
    with np.errstate(all="ignore"):
        expected = getattr(np, {"atan": "arctan", "asin": "arcsin", "acos": "arccos"}.get(function, function))(SPECIAL)
    assert np.allclose(values(function, (SPECIAL,), width), expected, rtol=4e-16, atol=0, equal_nan=True)


@pytest.mark.parametrize("function", ["pow", "atan2"])
@pytest.mark.parametrize("width", [1, 8])
def test_functions_of_two_numbers_at_the_ends_of_their_ranges(function, width):
    """With the signs of zeros."""
    x, y = (a.ravel() for a in np.meshgrid(SPECIAL, [*SPECIAL, 3.0, -3.0, 2.0**60, 1e-300]))
    with np.errstate(all="ignore"):
        expected = {"pow": np.power, "atan2": np.arctan2}[function](x, y)
    found = values(function, (x, y), width)
    assert np.allclose(found, expected, rtol=4e-16, atol=0, equal_nan=True)
    numbers = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize(
    "function, module, name, wrong",
    [
        ("exp", exponential, "LN2", (exponential.LN2[0], 0.0)),
        ("log", exponential, "ARTANH", exponential.ARTANH[:-3]),
        ("pow", power, "LATER", power.LATER[:3]),
        ("atan2", arctangent, "QUARTER", (arctangent.QUARTER[0], 0.0)),
    ],
)
def test_control_every_digit_counts(function, module, name, wrong, monkeypatch):
    monkeypatch.setattr(module, name, wrong)
    assert max(units_off(function, p, values(function, p, 1)) for p in POINTS[function]) > 1.5


def test_the_coefficients_of_the_arctangent_interpolate_at_the_chebyshev_nodes():
    with mpmath.workdps(60):
        n, end = len(arctangent.ATAN), mpmath.tan(mpmath.pi / 8) ** 2 * mpmath.mpf("1.0001")
        nodes = [end / 2 * (1 + mpmath.cos(mpmath.pi * (2 * i + 1) / (2 * n))) for i in range(n)]
        sought = mpmath.matrix([(mpmath.atan(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z for z in nodes])
        found = mpmath.lu_solve(mpmath.matrix([[z**j for j in range(n)] for z in nodes]), sought)
        assert [float(c) for c in found] == list(arctangent.ATAN)


def test_every_own_function_is_tested():
    assert {*own_functions.OWN, "sin", "cos"} <= set(POINTS)
