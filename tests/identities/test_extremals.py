"""Extremals: stationary whether least or not, of a stated kind, past turning points, at any scale; divergent integrals."""

from __future__ import annotations

import random
from math import cos, log10, pi, sin, sqrt

import numpy as np
import pytest
import sympy
from scipy.optimize import brentq

import dalembert as da
from dalembert.errors import MethodError, StartError

Functional = da.variations.Functional
x, y, u, v = da.coordinates("x y u v")
g, w = da.parameters("g w", positive=True)
t = da.time

ACROSS = Functional(sympy.sqrt((1 + y.dot**2) / (2 * g * y)), y, x)
DOWN = Functional(sympy.sqrt((1 + y.dot**2) / (2 * g * x)), y, x)


def cycloid(across, down, gravity):
    """Radius, last angle and time of the cycloid from the origin to a point."""
    if down == 0:
        angle, r = 2 * pi, across / (2 * pi)
    else:
        angle = brentq(lambda a: (a - sin(a)) / (1 - cos(a)) - across / down, 1e-3, 2 * pi - 1e-6, xtol=1e-15)
        r = down / (1 - cos(angle))
    return r, angle, angle * sqrt(r / gravity)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("ratio", [0.05, 1.0, 1.5, 1.7, 5.0, 300.0])
def test_brachistochrone_beyond_the_quarter_cycloid(scale, ratio):
    """Quarter cycloids end at a ratio of pi/2: past it the curve goes below its end, and x (or y) turns back."""
    r, angle, time = cycloid(scale * ratio, scale, 9.81)
    for f, end in ((ACROSS, {x: scale * ratio, y: scale}), (DOWN, {x: scale, y: scale * ratio})):
        found = f.extremal({x: 0, y: 0}, end, parameters={g: 9.81})
        assert found.value == pytest.approx(time, rel=1e-9)
        assert found.kind == "minimum"
        ((_, deviation),) = found.constants
        assert deviation < 1e-9
        assert found.turns == (f is DOWN and ratio > pi / 2)
        deepest = 2 * r if angle > pi else scale
        assert max(found.x if f is DOWN else found.y[y]) == pytest.approx(deepest, rel=1e-4)


def test_brachistochrone_between_two_points_of_one_height():
    _, _, time = cycloid(2.0, 0, 9.81)
    found = ACROSS.extremal({x: 0, y: 0}, {x: 2, y: 0}, parameters={g: 9.81})
    assert found.value == pytest.approx(time, rel=1e-10)


def test_a_curve_that_turns_back_is_no_function():
    found = DOWN.extremal({x: 0, y: 0}, {x: 1, y: 5}, parameters={g: 9.81})
    with pytest.raises(StartError, match="turns back"):
        found(0.5)
    assert DOWN.value(found) == pytest.approx(found.value, rel=1e-6)


@pytest.mark.parametrize("ratio", [0.5, 1.0, 4.0])
def test_direct_method_at_a_vertical_start(ratio):
    """Sides are integrated exactly, so polygons take longer than the cycloid, and not much."""
    _, _, time = cycloid(ratio, 1.0, 9.81)
    found = ACROSS.extremal({x: 0, y: 0}, {x: ratio, y: 1}, parameters={g: 9.81}, by="direct")
    assert 0 < found.value / time - 1 < 1e-4
    assert found.kind == "minimum"


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("phase", [0.3, 0.9, 1.1, 1.8, 2.5, 3.6])
def test_stationary_not_least(phase, sign):
    """y'^2 - w^2 y^2: a minimum up to half a period, then a saddle with one falling variation per half period."""
    for scale, length, amount in ((1.0, 1.0, 1.0), (1e-9, 1e7, 1e-12)):
        omega = phase * pi / length
        f = Functional(sign * amount * (y.dot**2 - w**2 * y**2), y)
        found = f.extremal({t: 0, y: 0}, {t: length, y: scale}, parameters={w: omega}, by="direct")
        exact = scale * np.sin(omega * found.x) / np.sin(phase * pi)
        assert np.abs(found.y[y] - exact).max() < 1e-3 * np.abs(exact).max()
        least = "minimum" if sign > 0 else "maximum"
        assert found.kind == (least if phase < 1 else "saddle")
        if sign > 0:
            assert found.falling == int(phase)


def test_kinds_of_several_unknowns_and_the_undecided():
    ends = {t: 0, u: 0, v: 0}, {t: 1, u: 1, v: 2}
    kinds = {1: "minimum", -1: "saddle"}
    for s, kind in kinds.items():
        found = Functional(u.dot**2 + s * v.dot**2, [u, v]).extremal(*ends, by="direct")
        assert found.kind == kind
        assert np.abs(found.y[v] - 2 * found.x).max() < 1e-9
    conjugate = Functional(y.dot**2 - y**2, y).extremal({t: 0, y: 0}, {t: float(pi), y: 0}, by="direct")
    assert conjugate.kind == "undecided"  # the end is conjugate to the start
    assert "undecided" in str(conjugate)
    assert Functional(y.dot**2 - y**2, y).extremal({t: 0, y: 0}, {t: 1.0, y: 0}).kind == "minimum"


def test_the_other_catenary_is_no_minimum():
    """Two soap films span two rings; the deep one is a saddle."""
    f = Functional(y * sympy.sqrt(1 + y.dot**2), y, x)
    ends = {x: -1, y: 2}, {x: 1, y: 2}
    deep = brentq(lambda a: a * np.cosh(1 / a) - 2, 0.3, 0.8)
    shallow = brentq(lambda a: a * np.cosh(1 / a) - 2, 0.9, 3)
    for a, kind in ((shallow, "minimum"), (deep, "saddle")):
        found = f.extremal(*ends, by="direct", guess={y: a * sympy.cosh(x / a)})
        assert found.kind == kind
        assert found.y[y].min() == pytest.approx(a, rel=1e-3)


@pytest.mark.parametrize("power", [-0.5, -0.8, 0.5, 2])
@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_improper_integrals_that_converge(power, scale):
    f = Functional(x**power * y.dot, y, x)
    assert f.value({y: x}, (0, scale)) == pytest.approx(scale ** (power + 1) / (power + 1), rel=1e-7)
    if power >= -0.5:  # at the other end scale - x has lost the digits that steeper powers need
        mirrored = Functional((scale - x) ** power * y.dot, y, x)
        assert mirrored.value({y: x}, (0, scale)) == pytest.approx(scale ** (power + 1) / (power + 1), rel=1e-6)


@pytest.mark.parametrize("power", [-1, -1.5, -2, -3])
@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_improper_integrals_that_diverge_say_so(power, scale):
    for e, between in ((x**power, (0, scale)), ((x - scale / 3) ** sympy.Integer(int(power)), (0, scale))):
        with pytest.raises(MethodError, match="diverges near"):
            Functional(e * y.dot, y, x).value({y: x}, between)


@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_singularities_between_the_ends(scale):
    """An integrable one was off by 1e-4, since what bisections leave around it was extrapolated as at an end."""
    rng = random.Random(1)
    for power, within in ((-0.25, 1e-9), (-0.5, 1e-6), (0.5, 1e-10)):
        for place in (rng.uniform(0.05, 0.95) * scale for _ in range(8)):
            f = Functional(sympy.Abs(x - place) ** sympy.Rational(str(power)) * y.dot, y, x)
            exact = (place ** (power + 1) + (scale - place) ** (power + 1)) / (power + 1)
            assert f.value({y: x}, (0, scale)) == pytest.approx(exact, rel=within)
    for power in (-1, -1.2):
        f = Functional(sympy.Abs(x - 0.3123 * scale) ** sympy.Rational(str(power)) * y.dot, y, x)
        with pytest.raises(MethodError, match="value: the integral diverges near"):
            f.value({y: x}, (0, scale))
    with pytest.raises(MethodError, match="value: the integral diverges near x = 0, "):
        Functional(y.dot / x, y, x).value({y: x}, (0, scale))


def test_an_extremal_whose_slope_is_not_integrable_is_refused():
    """x y'^2 from 0: y' = C/x cannot rise by a finite amount; on every grid it seems to."""
    with pytest.raises(MethodError):
        Functional(x * y.dot**2, y, x).extremal({x: 0, y: 0}, {x: 1, y: 1})
    found = Functional(sympy.sqrt(x) * y.dot**2, y, x).extremal({x: 0, y: 0}, {x: 1, y: 1})  # control: y = sqrt(x)
    assert np.abs(found.y[y] - np.sqrt(found.x)).max() < 1e-9


def test_generated_ends_in_any_units():
    rng = random.Random(3)
    for _ in range(12):
        scale, gravity = 10 ** rng.uniform(-9, 9), 10 ** rng.uniform(-3, 3)
        ratio = 10 ** rng.uniform(-1, 2)
        _, _, time = cycloid(scale * ratio, scale, gravity)
        found = ACROSS.extremal({x: 0, y: 0}, {x: scale * ratio, y: scale}, parameters={g: gravity})
        assert found.value == pytest.approx(time, rel=1e-8), (log10(scale), ratio)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_collocation_in_any_units(scale):
    f = Functional(y.dot**2 / 2 + y**2 / 2, y, x)
    one = f.extremal({x: 0, y: 1}, {x: 1, y: 2}, by="collocation")
    other = Functional(y.dot**2 / 2 + y**2 / (2 * scale**2), y, x).extremal(
        {x: 0, y: scale**2}, {x: scale, y: 2 * scale**2}, by="collocation"
    )
    assert other(0.4 * scale)[y] == pytest.approx(scale**2 * one(0.4)[y], rel=1e-9)
