"""Small things of the time loop and of Newton's method that no motion of the other tests depends on."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Symbol

import dalembert as da
from dalembert import Status
from dalembert.engine.arguments import Lanes
from dalembert.engine.machine import PointMap, Stepper
from dalembert.engine.run_options import Extent
from dalembert.symbolic import fast
from dalembert.waist.stepmap import Block, Guard, StepMap, pointwise

x = da.coordinates("x")
OSCILLATOR = da.System("oscillator", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2)


def advanced(step, state, h, steps, closing=True):
    """Records, and the status of the lane."""
    stepper = Stepper(step)
    records = np.full((1, steps + 1, stepper.width), np.nan)
    lane = Lanes.begun(stepper.carry(np.array([state], float)), np.zeros((1, 0)))
    stepper.advance(lane, records, Extent(0.0, h, 0, steps), closing=closing)
    return records[0], Status(int(lane.status[0, 0])), int(lane.status[0, 1])


@pytest.mark.parametrize("every", [1, 2, 3, 4, 7])
def test_records_are_the_multiples_of_every(every):
    """However many steps a run has and wherever it begins."""
    for begin in range(9):
        for steps in range(12):
            extent = Extent(0.0, 0.1, begin, steps, every)
            nodes = [k for k in range(begin, begin + steps + 1) if k % every == 0]
            assert extent.records == len(nodes)
            assert not nodes or extent.first_row == nodes[0] // every


@pytest.mark.parametrize("first", [1, 3, 5, 8])
def test_a_run_continued_between_records(first):
    """It goes on with the nodes that the whole run would have recorded."""
    given = {"start": {x: 1.0, x.dot: 0.0}, "every": 4}
    whole = da.simulate(OSCILLATOR, da.Midpoint(), h=0.1, steps=21, **given)
    begun = da.simulate(OSCILLATOR, da.Midpoint(), h=0.1, steps=first, **given)
    rest = da.simulate(OSCILLATOR, da.Midpoint(), h=0.1, steps=21 - first, start=begun, every=4)
    later = whole.time >= rest.time[0]
    assert rest.time.tolist() == whole.time[later].tolist() and rest.x.tolist() == whole.x[later].tolist()


def test_a_step_to_infinity_is_not_made():
    """x' = 1e200 x: the second step overflows, and the first is the last valid one."""
    grows = StepMap("grows", ("x",), (), (), (fast("x") * fast(10**200),))
    records, status, last = advanced(grows, [1.0], 0.1, 4)
    assert (status, last) == (Status.NOT_FINITE, 1)
    assert np.isfinite(records[:2]).all() and np.isnan(records[2:]).all()


def test_a_step_of_the_search_that_leaves_the_domain_is_halved():
    """log(u) = p from u = 20: the first step of Newton's method leads to u < 0."""
    u = fast("u")
    block = Block(("u",), (fast(da.log(Symbol("u"))) - fast("p"),), (fast(20),))
    found, status = PointMap(pointwise("log", ["p"], [], {"u": u}, [block]))(
        np.array([[0.0], [0.5], [2.9]]), np.zeros((1, 0))
    )
    assert not status.any()
    assert found[:, 0] == pytest.approx(np.exp([0.0, 0.5, 2.9]), rel=1e-15)


def guarded_step(kind, *terms):
    """x and y move by given velocities; terms are in the state, and looked at before and after the step."""
    state = ("x", "y", "u", "v")
    x, y, u, v, h = map(fast, (*state, "step.h"))
    ends = {"x": x + h * u, "y": y + h * v}
    places = (tuple(map(fast, terms)), tuple(ends[t] for t in terms))
    return StepMap("guarded", state, (), (), (ends["x"], ends["y"], u, v), guards=(Guard(kind, places),))


@pytest.mark.parametrize(("kind", "status"), [("positive", Status.LEFT_DOMAIN), ("nonnegative", Status.CONVERGED)])
def test_a_term_that_becomes_zero(kind, status):
    """From 1/4 by -1/4, which is exact: zero is not positive."""
    assert advanced(guarded_step(kind, "x"), [0.25, 0, -1, 0], 0.25, 1)[1] is status
    assert advanced(guarded_step(kind, "x"), [0.5, 0, -1, 0], 0.25, 1)[1] is Status.CONVERGED  # control


def test_two_terms_vanish_together_only_on_the_straight_way():
    """From (1, 0) to (-1, 1) the origin is passed by at a distance, though the direction turns by more than a right angle."""
    step = guarded_step("nonzero", "x", "y")
    assert advanced(step, [1, 0, -2, 1], 1.0, 1)[1] is Status.CONVERGED
    assert advanced(step, [1, 0, -2, 0], 1.0, 1)[1] is Status.LEFT_DOMAIN
