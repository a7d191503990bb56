"""Motions that die away go on below the smallest normal number."""

import numpy as np
import pytest

import dalembert as da

x = da.coordinates("x")
c = da.parameters("c", positive=True)
DYING = {
    "slowing": (da.System("slowing", [x], kinetic=x.dot**2 / 2 + x.dot**4, forces={x: -c * x.dot}), {x: 0, x.dot: 1}),
    "spring": (
        da.System("spring", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2 + x**4, forces={x: -c * x.dot}),
        {x: 1, x.dot: 0},
    ),
}


@pytest.mark.parametrize("method", [da.Midpoint(), da.Trapezoidal(), da.Gauss(2), da.DiscreteGradient()], ids=repr)
@pytest.mark.parametrize("name", DYING)
def test_a_motion_dies_away_without_a_failure(name, method):
    system, start = DYING[name]
    run = da.simulate(system, method, h=0.5, steps=2500, start=start, parameters={c: 1.5})
    speeds = np.abs(run[x.dot])
    assert 0 < speeds[speeds > 0].min() < 1e-307 and speeds[-1] < 1e-307
