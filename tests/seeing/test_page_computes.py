"""The step in a page is the step of the library: the same numbers over a thousand steps."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

import dalembert as da

from .node import computed, needs_node
from .rounding import rounding

pytestmark = needs_node

STEPS = 1000
NOISE = 20
"""A number below so many times the rounding of one step is not known."""
EPS = 2.0**-52


def motion(name, method, h, steps=STEPS, **start):
    e = da.gallery.load(name)
    begun = {k: start.get(k.name, v) if hasattr(k, "name") else v for k, v in e.start.items()}
    return da.simulate(e.system, method, h=h, steps=steps, start=begun, parameters=e.parameters)


def difference(run, found):
    """The largest difference of the records, relative to the size of each column.

    A column that is rounding itself, what is left of a constraint, is told relative to the terms whose rounding it is.
    """
    bound = rounding(run).max(axis=0)
    a, b = run.records[0, :, : len(bound)], found["records"][:, : len(bound)]
    apart, size = np.abs(a - b).max(axis=0), np.abs(a).max(axis=0)
    scale = np.where(size > NOISE * bound, size, bound / EPS)
    return float(np.max(np.divide(apart, scale, out=np.where(apart > 0, np.inf, 0.0), where=scale > 0)))


CASES = [
    ("double-pendulum", da.Midpoint(), 0.002, {"theta1": 0.5, "theta2": 0.4}),
    ("double-pendulum", da.RungeKutta4(), 0.002, {"theta1": 0.5, "theta2": 0.4}),
    ("pendulum", da.StormerVerlet(), 0.01, {}),
    ("rolling-disk", da.Midpoint(), 0.01, {}),
    ("pendulum-cartesian", da.Rattle(), 0.01, {}),
    ("heavy-top", da.Midpoint(), 0.001, {}),
    ("two-gas-chambers", da.Midpoint(), 0.01, {}),
    ("appell-device", da.RungeKutta4(), 0.0002, {}),
    ("heisenberg-geodesics", da.Midpoint(), 0.01, {}),
    ("heisenberg-geodesics", da.RungeKutta4(), 0.01, {}),
    ("kepler", da.Composition(da.StormerVerlet(), 4), 0.01, {}),
]


@pytest.mark.parametrize(("name", "method", "h", "start"), CASES, ids=lambda x: x if isinstance(x, str) else None)
def test_the_page_has_the_numbers_of_the_run(name, method, h, start):
    run = motion(name, method, h, **start)
    found = computed(run, STEPS)
    assert found["code"] == 0 and len(found["records"]) == STEPS + 1
    assert difference(run, found) < 1e-12


def test_control_another_step_has_other_numbers():
    run = motion("pendulum", da.StormerVerlet(), 0.01)
    assert difference(run, computed(run, STEPS, h=0.0100001)) > 1e-8


def beyond_rounding(run, found):
    """The largest difference of the records, in units of what the rounding of one step may change."""
    bound = rounding(run).max(axis=0)
    a, b = run.records[0, :, : len(bound)], found["records"][:, : len(bound)]
    apart = np.abs(a - b).max(axis=0)
    return float(np.max(np.divide(apart, bound, out=np.where(apart > 0, np.inf, 0.0), where=bound > 0)))


def suitable(name, steps=20):
    """A motion of a gallery system by the first of some methods that applies to it."""
    e = da.gallery.load(name)
    for method in (da.Midpoint(), da.Rattle(), da.RungeKutta4()):
        with suppress(da.MethodError):
            return da.simulate(e.system, method, h=e.h, steps=steps, start=e.start, parameters=e.parameters)
    raise AssertionError(f"no method for {name}")


ROUNDINGS = 20
"""Steps of a motion that is compared by the rounding of one step. The largest ratio measured is 3.9."""


def test_multipliers_differ_by_what_rounding_explains():
    """1/h^2 magnifies the rounding of positions: 3e-11 of a multiplier of 3 here, and not more."""
    run = suitable("particle-on-moving-circle", ROUNDINGS)
    found = computed(run, ROUNDINGS)
    assert difference(run, found) > 1e-12, "the case is one in which a relative difference of 1e-12 is not to be had"
    assert beyond_rounding(run, found) < ROUNDINGS


def test_control_a_change_in_the_eleventh_digit_is_more_than_rounding():
    run = suitable("particle-on-moving-circle", ROUNDINGS)
    for k, p in enumerate(run.system.parameters):
        digits = 1e-9 if p.name == "B" else 1e-11  # B t^2 is a ten-thousandth of the other lengths
        changed = [v * (1 + digits * (i == k)) for i, v in enumerate(run.parameter_rows[0].tolist())]
        assert beyond_rounding(run, computed(run, ROUNDINGS, parameters=changed)) > ROUNDINGS, p


@pytest.mark.verify
@pytest.mark.parametrize("name", da.gallery.names())
def test_every_gallery_page_computes(name):
    """Half a minute in all. Every number is that of the run but for what the rounding of as many steps may change."""
    run = suitable(name, ROUNDINGS)
    found = computed(run, ROUNDINGS)
    assert found["code"] == 0 and beyond_rounding(run, found) < ROUNDINGS
