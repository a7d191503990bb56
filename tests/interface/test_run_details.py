"""Numbers that a run tells of itself, and starts that say two things at once."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import Status
from dalembert.run.options import Options

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


def test_a_velocity_that_a_moving_constraint_supplies():
    """x = sin(t) + y leaves x.dot = cos(t) + y.dot."""
    t = da.time
    rod = da.System("rod", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[x - y - da.sin(t)])
    found = da.evaluate(rod, at={x: 0.3 + np.sin(0.4), y: 0.3, y.dot: 0.7, t: 0.4})
    assert found.velocities[x] == pytest.approx(0.7 + np.cos(0.4), rel=1e-14)


def test_other_parameters_in_a_continued_run_are_refused():
    """They would be left unread: the run goes on with its own."""
    k = da.parameters("k", positive=True)
    spring = da.System("spring", [x], kinetic=x.dot**2 / 2, potential=k * x**2 / 2)
    first = da.simulate(spring, da.Midpoint(), h=0.1, steps=3, start=START, parameters={k: 2.0})
    with pytest.raises(da.StartError, match="here the parameters cannot be continued with"):
        da.simulate(spring, da.Midpoint(), h=0.1, steps=3, start=first, parameters={k: 3.0})
    da.simulate(spring, da.Midpoint(), h=0.1, steps=3, start=first, parameters={k: 2.0})  # control


@pytest.mark.parametrize("count", [7, 10**6 + 1, 10**8 + 3, 10**10 + 7])
def test_until_a_multiple_of_the_step(count):
    """Rounding of `until` makes no further step, however many there are."""
    for h in (0.1, 0.3, 1 / 7, 1e-3):
        assert {Options(h, until=count * h * (1 + sign * 2.0**-52)).extent(0.0).steps for sign in (-1, 0, 1)} == {count}
        assert Options(h, until=(count + 0.1) * h).extent(0.0).steps == count + 1  # control


def test_a_momentum_that_is_left_out_is_asked_for():
    """Constraints supply velocities, not momenta."""
    tied = da.System("tied", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[y.dot - x * x.dot])
    with pytest.raises(da.StartError, match=r"no value for y\.momentum"):
        da.simulate(tied, da.Midpoint(), h=0.1, steps=1, start={x: 0.1, y: 0.2, x.momentum: 1.0})
    da.simulate(tied, da.Midpoint(), h=0.1, steps=1, start={x: 0.1, y: 0.2, x.dot: 1.0})  # control


def test_velocities_of_a_discrete_run_that_is_recorded_now_and_then():
    """Differences of records over the time between them."""
    discrete = da.discretise(PENDULUM, da.Midpoint())
    start = {x.at(0): 0.5, x.at(1): 0.52}
    run = da.simulate(discrete, h=0.1, steps=12, start=start, every=3)
    assert run[x.dot][:-1] == pytest.approx(np.diff(run.x) / 0.3, rel=1e-13)
    assert da.simulate(discrete, h=0.1, steps=1, start=start)[x.dot][0] == pytest.approx(0.2, rel=1e-12)


def test_the_first_search_from_two_positions_begins_at_their_velocity():
    """Among what is carried: the solution of the first step is known already."""
    discrete = da.discretise(PENDULUM, da.Midpoint())
    given = {"start": {x.at(0): 0.5, x.at(1): 0.52}}
    begun = da.simulate(discrete, h=0.1, steps=0, **given)
    assert np.isclose(begun.carry[0], 0.2, rtol=1e-12).any() and not np.isclose(begun.carry[0], 0.02, rtol=1e-12).any()


@pytest.mark.parametrize("every", [2, 3, 5])
def test_multipliers_after_an_action_between_records(every):
    """The node after an action has the reaction of the continuous motion; records elsewhere are left as they are."""
    tied = da.System("tied", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=x**2, constraints=[y.dot - x * x.dot])
    bounce = da.Event(x - 0.8, action={x.dot: -x.dot, y.dot: -y.dot})
    given = {"start": {x: 0.5, y: 0.0, x.dot: 1.0}, "events": [bounce], "steps": 30, "h": 0.05}
    whole, thin = (da.simulate(tied, da.Midpoint(), every=n, **given) for n in (1, every))
    assert whole.changes == 1 and thin.multipliers[:, 0].tolist() == whole.multipliers[::every, 0].tolist()
