"""Hidden functions: constant where they say so, by value along closed motions that cross cuts and poles."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, log, sin, sqrt
from dalembert.decide.sample import points_on
from dalembert.theory.constraints.where_constant import Region

x, y, z, theta = da.coordinates("x y z theta")
R = da.parameters("R", positive=True)


def hidden(constraints, coordinates):
    (h,) = da.classify(constraints, coordinates=coordinates).hidden_functions
    return h


def along(function, motion, n=400):
    """Values on a closed or long motion {coordinate: array}."""
    f = sympy.lambdify(list(motion), function, "numpy")
    with np.errstate(all="ignore"):
        return np.asarray(f(*motion.values())) * np.ones(n)


S = np.linspace(0.1, 4 * np.pi, 400)


def spread(values, period=None):
    if period:
        values = np.angle(np.exp(2j * np.pi * (values - values[0]) / period))
    return float(np.ptp(values)) if np.isfinite(values).all() else np.inf


def test_an_angle_on_the_circle_is_global():
    """theta' = x y' - y x' on the circle: theta less the polar angle, twice round."""
    h = hidden([x**2 + y**2 - 1, theta.dot - x * y.dot + y * x.dot], [x, y, theta])
    motion = {x: np.cos(S), y: np.sin(S), theta: S}
    assert h.where == () and not h.is_local
    assert spread(along(h.function, motion), 2 * np.pi) < 1e-9
    assert spread(along(theta - sympy.asin(y), motion), 2 * np.pi) > 1  # control: what is right for x > 0 only


def test_an_ellipse_and_a_circle_of_any_radius():
    h = hidden([x**2 / 4 + y**2 - 1, theta.dot - x * y.dot + y * x.dot], [x, y, theta])
    motion = {x: 2 * np.cos(S), y: np.sin(S), theta: 2 * S}
    assert not h.where and spread(along(h.function, motion), 4 * np.pi) < 1e-9
    h = hidden([x**2 + y**2 - R**2, R**2 * theta.dot - x * y.dot + y * x.dot], [x, y, theta])
    motion = {x: 3 * np.cos(S), y: 3 * np.sin(S), theta: S}
    assert not h.where and spread(along(h.function.subs(R, 3) / 9, motion), 2 * np.pi) < 1e-9


def test_where_the_relation_says_nothing_the_function_may_change():
    """x theta' = y' on the circle: at x = 0 theta is free, so nothing is claimed across it."""
    h = hidden([x**2 + y**2 - 1, x * theta.dot - y.dot], [x, y, theta])
    assert sympy.Ne(x, 0) in h.where
    h = hidden([(x - 1) * (y.dot - z.dot)], [x, y, z])
    assert [r.lhs for r in h.where] in ([x - 1], [1 - x])
    h = hidden([(x**2 + y**2) * theta.dot - x * y.dot + y * x.dot], [x, y, theta])
    assert h.function.has(sympy.atan2)
    assert all(r.lhs.subs({x: 0, y: 0}) == 0 for r in h.where) and h.where
    motion = {x: np.cos(S), y: np.sin(S), theta: S}
    assert spread(along(h.function, motion), 2 * np.pi) < 1e-9


def test_a_function_without_poles_is_claimed_everywhere():
    """Control: nothing is said where there is nothing to say."""
    for form, q in (
        (x * y.dot + y * x.dot + z.dot, [x, y, z]),
        (x.dot * cos(theta) - x * sin(theta) * theta.dot, [x, theta]),
        ((1 + x**2) * (y.dot - z.dot), [x, y, z]),
    ):
        h = hidden([form], q)
        assert h.where == () and not h.is_local
    text = str(da.classify([x * y.dot + y * x.dot + z.dot], coordinates=[x, y, z]))
    assert "constant in every motion" in text
    assert "constant in every motion" not in str(da.classify([y * x.dot - x * y.dot], coordinates=[x, y]))


@pytest.mark.parametrize(
    ("form", "motion", "where"),
    [
        (x.dot - x * y.dot, {x: -np.exp(S), y: S}, {x}),  # log x for x < 0 too
        (sin(theta) * x.dot - theta.dot, {x: S, theta: -2 * np.arctan(np.exp(S / 9 - 1) ** 9)}, {sin(theta)}),
        (y * x.dot - x * y.dot, {x: -S, y: -2 * S}, {x}),
    ],
)
def test_logarithms_and_quotients_hold_on_both_sides(form, motion, where):
    h = hidden([form], list(motion))
    assert {r.lhs for r in h.where} == where
    values = along(h.function, motion)[:200]
    assert np.isfinite(values).all()
    if form.has(theta):
        return  # real is what matters: log(cos(theta) - 1) is not
    assert spread(values) < 1e-8 * (1 + np.abs(values).max())


def test_roots_hold_on_one_side():
    h = hidden([x.dot - sqrt(x) * y.dot], [x, y])
    assert h.where == (sympy.Gt(x, 0),)
    h = hidden([x**2 - y**2 - 1, y * theta.dot - x.dot], [x, y, theta])
    assert sympy.Gt(x, 0) in h.where  # theta - arsinh y belongs to one half of the hyperbola


def test_the_region_finds_a_local_function_out():
    """Control: asin(y) is constant at points with x > 0 and not at the others."""
    circle = x**2 + y**2 - 1
    rows = [[2 * x, 2 * y, 0], [y, -x, 1]]
    region = Region([circle], rows, [x, y, theta], points_on([circle], ["x", "y", "theta"], []))
    kept = [(float(p["x"]) > 0, region.keeps(theta - sympy.asin(y), p)) for p in region.points]
    assert all(a == b for a, b in kept) and len(set(kept)) == 2
    assert all(region.keeps(theta - sympy.atan2(y, x), p) for p in region.points)
    assert not any(region.keeps(theta - 2 * sympy.atan2(y, x), p) for p in region.points)


def test_an_antiderivative_is_real():
    record = da.classify([sin(theta) * x.dot - theta.dot], coordinates=[x, theta]).constraints[0]
    at = record.function.subs({x: 0.3, theta: 1.1})
    assert at.is_real and not record.function.has(log(cos(theta) - 1))
