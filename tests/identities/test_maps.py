"""Finite-difference maps: the b-family, products and maps of one's own."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import Rational, sin

x, y = da.coordinates("x y")
SYSTEM = da.System(
    "test",
    [x, y],
    kinetic=(x.dot**2 + (1 + x**2) * y.dot**2) / 2,
    potential=x**4 / 4 + x * y + sin(y),
    forces={x: -x.dot * y / 5, y: da.cos(da.time)},
)
START = {x: 0.4, y: 0.2, x.momentum: 0.1, y.momentum: -0.3}


def motion(map_, h=0.05, steps=40):
    run = da.simulate(da.discretise(SYSTEM, map_), h=h, steps=steps, start=START)
    return np.stack([run.x, run.y])


def test_a_product_of_equal_maps_is_the_map():
    for b in (0, Rational(1, 3), 1):
        one = da.FiniteDifferenceMap(b)
        if b == Rational(1, 3):
            continue  # a product takes an explicit time at the middle of the step
        free = da.System("free", [x, y], kinetic=(x.dot**2 + (1 + x**2) * y.dot**2) / 2, potential=x * y**2)
        runs = [
            da.simulate(da.discretise(free, m), h=0.05, steps=40, start=START) for m in (one, da.ProductMap(one, one))
        ]
        assert np.abs(runs[0].x - runs[1].x).max() < 1e-14


def test_a_custom_map_that_is_the_midpoint():
    custom = da.CustomMap(lambda q0, q1: [(a + b) / 2 for a, b in zip(q0, q1, strict=True)])
    assert np.abs(motion(custom) - motion(da.midpoint_map)).max() < 1e-13


def test_a_nonlinear_map_is_of_second_order_and_its_forces_follow():
    """The midpoint in the coordinate u = x + x^3/3: another base point, the same order, forces pulled back by it."""

    def base(q0, q1):
        (a, c), (b, d) = q0, q1
        return [(a + b) / 2 + (a + b) * (b - a) ** 2 / 8, (c + d) / 2]

    custom = da.CustomMap(base)
    exact = da.simulate(SYSTEM, da.Reference(1e-12, 1e-12), h=1.0, until=1, start=START)
    end = np.array([exact.x[-1], exact.y[-1]])
    errors = [np.abs(motion(custom, 1 / n, n)[:, -1] - end).max() for n in (20, 40, 80)]
    assert np.polyfit(np.log([20, 40, 80]), -np.log(errors), 1)[0] == pytest.approx(2, abs=0.1)
    assert np.abs(motion(custom) - motion(da.midpoint_map)).max() > 1e-8


@pytest.mark.parametrize(("b", "order"), [(0, 1), (Rational(1, 4), 1), (Rational(1, 2), 2), (1, 1)])
def test_the_family_has_order_one_but_in_the_middle(b, order):
    exact = da.simulate(SYSTEM, da.Reference(1e-12, 1e-12), h=1.0, until=1, start=START)
    errors = [abs(motion(da.FiniteDifferenceMap(b), 1 / n, n)[0, -1] - exact.x[-1]) for n in (40, 80, 160)]
    assert np.polyfit(np.log([40, 80, 160]), -np.log(errors), 1)[0] == pytest.approx(order, abs=0.15)


def test_maps_that_are_none_are_refused():
    with pytest.raises(da.ModelError, match="does not send"):
        da.discretise(SYSTEM, da.CustomMap(lambda q0, q1: [a + 1 for a in q0]))
    with pytest.raises(da.ModelError, match="not invertible"):
        da.discretise(SYSTEM, da.CustomMap(lambda q0, q1: q0, lambda q0, q1, h: [0 * a for a in q0]))
    with pytest.raises(da.ModelError, match="has 1 maps, but the system has 2 coordinates"):
        da.discretise(SYSTEM, da.ProductMap(da.left_map))
