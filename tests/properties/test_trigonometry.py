"""Our own sine and cosine, beside forty digits."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import sympy

from dalembert.engine.backends import trigonometry
from dalembert.engine.machine import LONG, PointMap
from dalembert.symbolic import fast
from dalembert.waist.stepmap import pointwise

WORST = 0.9
"""Units in the last place."""


def computed(points, terms=1):
    """Sine and cosine of points; with many terms the code is too long to be optimised, and asks the C library."""
    x = sympy.Symbol("x")
    padding = {f"padding{k}": fast(sympy.sin(x) * k + x**k) for k in range(2, terms)}
    both = PointMap(pointwise("both", ["x"], [], {"sin": fast(sympy.sin(x)), "cos": fast(sympy.cos(x)), **padding}))
    return both(np.asarray(points, float)[:, None], np.zeros((1, 0)))[0][:, :2]


def errors(points, values):
    """In units of the last place of the true value."""
    with mpmath.workdps(40):
        for x, row in zip(points, values, strict=True):
            for value, function in zip(row, (mpmath.sin, mpmath.cos), strict=True):
                true = function(mpmath.mpf(float(x)))
                yield float(abs(mpmath.mpf(float(value)) - true) / mpmath.mpf(float(np.spacing(abs(float(true))))))


def random_points():
    rng = np.random.default_rng(20)
    quarters = np.arange(-300, 300) * (math.pi / 4)
    return np.concatenate([
        rng.uniform(-1, 1, 2000), rng.uniform(-10, 10, 2000), 10.0 ** rng.uniform(-30, 0, 300),
        rng.uniform(-trigonometry.LIMIT, trigonometry.LIMIT, 2000), quarters, np.nextafter(quarters, np.inf),
        [trigonometry.SMALL, np.nextafter(trigonometry.SMALL, 1), trigonometry.LIMIT, 1e9, -1e22, 1e300],
    ])  # fmt: skip


def test_to_less_than_a_unit_in_the_last_place():
    points = random_points()
    assert max(errors(points, computed(points))) < WORST


def test_control_a_shorter_half_pi_is_not_enough(monkeypatch):
    points = random_points()
    monkeypatch.setattr(trigonometry, "HALF_PI", (*trigonometry.HALF_PI[:2], 0.0))
    monkeypatch.setenv("DALEMBERT_CACHE", "")
    values = computed(points, terms=3)  # another expression, so that it is compiled now
    assert max(errors(points, values)) > 100 * WORST


def test_not_a_number_in_not_a_number_out():
    assert np.isnan(computed([np.inf, -np.inf, np.nan])).all()


def test_one_squared_plus_one_squared():
    s, c = computed(np.linspace(-50, 50, 1001)).T
    assert np.abs(s**2 + c**2 - 1).max() < 4e-16


def test_in_code_that_is_not_optimised():
    """A module of more than LONG lines has the same values, to the same accuracy."""
    points = random_points()[::7]
    assert max(errors(points, computed(points, terms=LONG["run"] // 10))) < WORST


def test_half_pi_is_the_sum_of_its_parts():
    with mpmath.workdps(60):
        assert abs(sum(map(mpmath.mpf, trigonometry.HALF_PI)) - mpmath.pi / 2) < mpmath.mpf(2) ** -121
    for part in trigonometry.HALF_PI[:2]:
        mantissa = int(math.frexp(part)[0] * 2**53)
        assert mantissa % 2 ** (53 - 33) == 0, "33 bits, so that products with k are exact"
    assert trigonometry.LIMIT * 2 / math.pi < 2**20


@pytest.mark.parametrize(
    ("coefficients", "function"),
    [
        (trigonometry.SIN, lambda z: (mpmath.sin(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z),
        (trigonometry.COS, lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2),
    ],
    ids=["sin", "cos"],
)
def test_coefficients_interpolate_at_the_chebyshev_nodes(coefficients, function):
    with mpmath.workdps(50):
        n, end = len(coefficients), (mpmath.pi / 4) ** 2
        nodes = [end / 2 * (1 + mpmath.cos(mpmath.pi * (2 * i + 1) / (2 * n))) for i in range(n)]
        matrix = mpmath.matrix([[z**j for j in range(n)] for z in nodes])
        found = mpmath.lu_solve(matrix, mpmath.matrix([function(z) for z in nodes]))
        assert [float(c) for c in found] == list(coefficients)
