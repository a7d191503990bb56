"""The step in a page is the step of the library: the same numbers over a thousand steps."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

from .node import computed, needs_node

pytestmark = needs_node

STEPS = 1000


def motion(name, method, h, steps=STEPS, **start):
    e = da.gallery.load(name)
    begun = {k: start.get(k.name, v) if hasattr(k, "name") else v for k, v in e.start.items()}
    return da.simulate(e.system, method, h=h, steps=steps, start=begun, parameters=e.parameters)


def difference(run, found):
    """The largest difference of the records, relative to the size of each column."""
    width = min(found["records"].shape[1], run.records.shape[2])
    a, b = run.records[0, :, :width], found["records"][:, :width]
    return float(np.max(np.abs(a - b) / np.maximum(np.abs(a).max(axis=0), 1e-3)))


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


@pytest.mark.verify
@pytest.mark.parametrize("name", da.gallery.names())
def test_every_gallery_page_computes(name, tmp_path):
    """Half a minute in all."""
    e = da.gallery.load(name)
    for method in (da.Midpoint(), da.Rattle(), da.RungeKutta4()):
        try:
            run = da.simulate(e.system, method, h=e.h, steps=20, start=e.start, parameters=e.parameters)
            break
        except da.MethodError:
            continue
    found = computed(run, 20)
    assert found["code"] == 0 and difference(run, found) < 1e-12
