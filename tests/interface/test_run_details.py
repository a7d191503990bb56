"""Numbers that a run tells of itself, and starts that say two things at once."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import Status

x, y = da.coordinates("x y")
PENDULUM = da.System("pendulum", [x], kinetic=x.dot**2 / 2, potential=-da.cos(x))
START = {x: 1.0, x.dot: 0.0}


def test_iterations_per_step_of_a_continued_run():
    """Per step of its own, not per step since the first start."""
    first = da.simulate(PENDULUM, da.Midpoint(), h=0.1, steps=300, start=START)
    rest = da.simulate(PENDULUM, da.Midpoint(), h=0.1, steps=50, start=first)
    assert rest.iterations >= 1 and rest.corrections >= 1
    assert rest.corrections == pytest.approx(first.corrections, rel=0.2)


def test_the_time_of_a_step_undone_is_that_before_it():
    given = {**START, da.time: 2.0}
    assert da.flow(PENDULUM, da.Midpoint(), start=given, h=0.1, backward=True).time == pytest.approx(1.9)
    assert da.flow(PENDULUM, da.Midpoint(), start=given, h=0.1).time == pytest.approx(2.1)


def test_two_positions_and_a_third_are_refused():
    """One of them would be left unread."""
    two = {x.at(0): 1.0, x.at(1): 1.1}
    with pytest.raises(da.StartError, match="it mixes ways to start"):
        da.simulate(PENDULUM, da.Midpoint(), h=0.1, steps=1, start={**two, x: 0.5})
    da.simulate(PENDULUM, da.Midpoint(), h=0.1, steps=1, start=two)  # control


def test_lanes_that_have_ended_stay_ended_in_a_continued_run():
    """The second lane falls into the origin; the first goes on."""
    well = da.System("well", [x], kinetic=x.dot**2 / 2, potential=da.log(x))
    start = {x: [5.0, 0.3], x.dot: [1.0, -2.0]}
    first = da.simulate(well, da.Midpoint(), h=0.1, steps=10, start=start, strict=False)
    assert first.status[0] is Status.CONVERGED and first.status[1] is not Status.CONVERGED
    rest = da.simulate(well, da.Midpoint(), h=0.1, steps=10, start=first, strict=False)
    assert rest.status == first.status and rest.codes[1, 1] == first.codes[1, 1]
    assert np.isfinite(rest.x[0]).all() and np.isnan(rest.x[1][1:]).all()


def test_velocities_of_the_reference_follow_a_constraint_that_moves():
    """A pendulum whose support moves as sin(t): (x - sin t)^2 + y^2 = 1, and the rate of that is zero."""
    t = da.time
    carried = da.System(
        "carried", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=y, constraints=[(x - da.sin(t)) ** 2 + y**2 - 1]
    )
    run = da.simulate(carried, da.Reference(), h=0.1, steps=20, start={x: 0.6, y: -0.8, x.dot: 1.0, y.dot: 0.0})
    away = run.x - np.sin(run.time)
    assert np.abs(away**2 + run.y**2 - 1).max() < 1e-13
    rate = away * (run[x.dot] - np.cos(run.time)) + run.y * run[y.dot]
    assert np.abs(rate).max() < 1e-13
    assert np.abs(away * run[x.dot] + run.y * run[y.dot]).max() > 0.1  # control: as if the support stood still
