"""Events: located to the order of the method, on lanes, with actions."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

y = da.coordinates("y")
g, loss = da.parameters("g loss", positive=True)
BALL = da.System("ball", [y], kinetic=y.dot**2 / 2, potential=g * y)
BOUNCE = da.Event(y, {y.dot: -loss * y.dot}, direction=-1, name="bounce")


def drop(height, method, events, until=3.0, **more):
    values = {g: 9.81, loss: 0.8} if BOUNCE in events else {g: 9.81}
    return da.simulate(
        BALL,
        method,
        h=0.01,
        until=until,
        start={y: height, y.dot: 0},
        parameters=values,
        events=events,
        **more,
    )


def bounces(height, until):
    t, v = np.sqrt(2 * height / 9.81), np.sqrt(2 * height * 9.81)
    times = []
    while t < until:
        times.append(t)
        v *= 0.8
        t += 2 * v / 9.81
    return times


@pytest.mark.parametrize(
    "method", [da.Midpoint(), da.RungeKutta4(), da.StormerVerlet(), da.Gauss(2), da.LeftPoint()], ids=repr
)
def test_a_bouncing_ball(method):
    """Free fall is exact for these methods (but the first-order one), so the bounces are exact too."""
    run = drop(1.0, method, [BOUNCE])
    times = [c.time for c in run.events]
    assert run.ok
    if method.order == 1:
        assert abs(times[0] - bounces(1.0, 3.0)[0]) > 1e-3
        return
    assert times == pytest.approx(bounces(1.0, 3.0), abs=1e-12)
    assert run.y.min() > 0
    v = [c.velocities["y"] for c in run.events]
    assert v[1] / v[0] == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("method", "order"), [(da.LeftPoint(), 1), (da.Midpoint(), 2), (da.RungeKutta4(), 4), (da.Gauss(2), 4)]
)
def test_located_to_the_order_of_the_method(method, order):
    """When the pendulum passes its lowest point: the error shrinks as the method promises."""
    example = da.gallery.load("pendulum")
    (theta,) = example.system.coordinates
    common = {"start": {theta: 1.0, theta.dot: 0.3}, "parameters": example.parameters, "until": 3}

    def crossing(m, h):
        run = da.simulate(example.system, m, h=h, events=[da.Event(theta, direction=1)], **common)
        return run.events[0].time

    exact = crossing(da.Gauss(4), 0.05)
    hs = (0.1, 0.05, 0.025)
    errors = [abs(crossing(method, h) - exact) for h in hs]
    assert np.polyfit(np.log(hs), np.log(errors), 1)[0] == pytest.approx(order, abs=0.3)


def test_stop_and_direction():
    example = da.gallery.load("pendulum")
    (theta,) = example.system.coordinates
    run = da.simulate(
        example.system, da.Midpoint(), h=0.01, until=9, start={theta: 1, theta.dot: 0}, parameters=example.parameters,
        events=[da.Event(theta, name="down"), da.Event(theta.dot, "stop", direction=-1, name="back")],
    )  # fmt: skip
    assert run.status is da.Status.EVENT
    assert run.ok
    assert [c.name for c in run.events] == ["down", "down", "back"]
    assert run.events[-1].velocities["theta"] == pytest.approx(0, abs=1e-12)
    last = int(run.codes[0, 1])
    assert np.isfinite(run.theta[: last + 1]).all()
    assert np.isnan(run.theta[last + 1 :]).all()
    assert run.time[last] <= run.events[-1].time < run.time[last] + 0.01


def test_lanes_are_independent():
    heights = np.array([1.0, 2.0, 0.5])
    together = drop(heights, da.Midpoint(), [BOUNCE], until=2.0)
    for k, height in enumerate(heights):
        alone = drop(height, da.Midpoint(), [BOUNCE], until=2.0)
        assert np.array_equal(together.y[k], alone.y)
        assert [c.time for c in together.events if c.lane == k] == [c.time for c in alone.events]


def test_recording_does_not_change_the_motion():
    plain = drop(1.0, da.Midpoint(), [], until=0.4)
    watched = drop(1.0, da.Midpoint(), [da.Event(y - 0.5)], until=0.4)
    assert np.array_equal(plain.y, watched.y)
    assert watched.events[0].time == pytest.approx(np.sqrt(1 / 9.81), abs=1e-13)


def test_every_keeps_the_grid():
    fine, coarse = drop(1.0, da.Midpoint(), [BOUNCE]), drop(1.0, da.Midpoint(), [BOUNCE], every=7)
    assert np.array_equal(coarse.y, fine.y[::7])


def test_bounces_that_accumulate_end_the_lane():
    with pytest.raises(da.SimulationError, match="events accumulate"):
        drop(0.1, da.Midpoint(), [BOUNCE], until=3.0)


MESSAGES = [
    (
        lambda: da.Event(y, "bounce"),
        "Event: action = 'bounce'. Expected 'stop', 'record', or what to change: {x.dot: -x.dot}.",
    ),
    (lambda: da.Event(y, direction=2), "Event: direction = 2. Expected -1 (falls), 0 (both) or 1 (rises)."),
    (
        lambda: drop(1.0, da.Reference(), [BOUNCE]),
        "Reference() has no events. Use a method with a fixed step, such as Gauss(4).",
    ),
]


@pytest.mark.parametrize(("make", "message"), MESSAGES)
def test_messages(make, message):
    with pytest.raises(da.DalembertError) as caught:
        make()
    assert str(caught.value) == message
