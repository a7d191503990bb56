"""What a person reads whose events make no sense, or whose action leaves the motion without numbers. Word for word."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import MethodError, ModelError, SimulationError, StartError, Status, log, sqrt

from .tools import table, told

x, y = da.coordinates("x y")
a, e = da.parameters("a e", positive=True)
FREE = da.System("free", [x], kinetic=x.dot**2 / 2)
STEPS = da.discretise(FREE, da.midpoint_map)
START = {x: 0, x.dot: 1}
LIST = "Expected a list of events: events=[Event(x - 1), ...]."


def glide(events, method=None, start=None, **given):
    given = {"h": 0.1, "until": 1, **given}
    return da.simulate(FREE, method or da.Midpoint(), start=START if start is None else start, events=events, **given)


def test_the_right_events_are_accepted():
    """Without this every test below could pass because of something else that is wrong; one event needs no list."""
    event = da.Event(x - a, {x.dot: -e * x.dot}, direction=1, name="wall")
    one, listed = (glide(given, parameters={a: 0.5, e: 0.5}) for given in (event, [event]))
    assert one.events == listed.events
    assert len(one.events) == 1
    assert glide([]).events == ()


@table(
    ("no event", lambda: glide([x]), f"events: x (Coordinate) is not an event. {LIST}"),
    ("no list", lambda: glide(3), f"events: got 3. {LIST}"),
    ("nothing", lambda: glide(None), f"events: got None. {LIST}"),
    (
        "a number",
        lambda: da.Event(3),
        "Event: the expression is the constant 3, it never crosses zero. Expected coordinates, velocities or time in it, "
        "such as x - 1.",
    ),
    (
        "a parameter",
        lambda: da.Event(a - 1),
        "Event: the expression is the constant a - 1, it never crosses zero. Expected coordinates, velocities or time in "
        "it, such as x - 1.",
    ),
    (
        "a text",
        lambda: da.Event("x - 1"),
        "Event: got the text 'x - 1'. Expected an expression in Python: without the quotes, with symbols made by "
        "dalembert.coordinates and dalembert.parameters.",
    ),
    (
        "a change given as text",
        lambda: glide([da.Event(x - 0.5, {"x.dot": 0})]),
        "event: the action changes 'x.dot'. Expected one of the symbols x, x.dot, without quotes.",
    ),
    (
        "a change of momentum",
        lambda: glide([da.Event(x - 0.5, {x.momentum: 0})]),
        "event: the action changes x.momentum. Expected one of the symbols x, x.dot, without quotes.",
    ),
    (
        "no change",
        lambda: da.Event(x - 0.5, {}),
        "Event: action = {}. Expected 'stop', 'record', or what to change: {x.dot: -x.dot}.",
    ),
    (
        "another coordinate",
        lambda: glide([da.Event(y)]),
        "event: unknown symbol y in y. Add y to coordinates=[...]. Known here: t, x, x.dot.",
    ),
)
def test_events_that_make_no_sense(call, message):
    assert told(ModelError, call) == message


@table(
    (
        "a discrete system",
        lambda: da.simulate(STEPS, h=0.1, steps=2, start={x: 0, x.momentum: 1}, events=[da.Event(x - 1)]),
        f"{STEPS.name!r} is a discrete system: it has no velocities between its nodes, and so no events. Simulate the "
        "System with a method instead: simulate(system, Midpoint(), ..., events=[...]).",
    ),
    (
        "a reference",
        lambda: glide([da.Event(x - 1)], da.Reference()),
        "Reference() has no events. Use a method with a fixed step, such as Gauss(4).",
    ),
)
def test_what_has_no_events(call, message):
    assert told(MethodError, call) == message


WALL = da.Event(x - 0.5, {x.dot: -e * x.dot}, name="wall")


@table(
    (
        "a run that was stopped",
        lambda: glide([], start=glide([da.Event(x - 0.5, "stop")])),
        "start: the earlier run was stopped by an event, so it does not go on by itself. Start from the state there: "
        "c = run.events[-1]; start={x: c.positions['x'], x.dot: c.velocities['x'], dalembert.time: c.time, ...}.",
    ),
    (
        "a parameter of the event",
        lambda: glide([WALL], start=glide([], until=0.3)),
        "parameters: no value for e. Nothing defaults; write parameters={e: ...}.",
    ),
    (
        "an array for the event",
        lambda: glide([WALL], parameters={e: [0.5, 0.6]}),
        "parameters: e occurs in events only, so it is one number, not an array.",
    ),
)
def test_continuing_and_parameters(call, message):
    assert told(StartError, call) == message


def test_what_is_said_of_a_stopped_run_works():
    c = glide([da.Event(x - 0.45, "stop")]).events[-1]
    on = glide([], start={x: c.positions["x"], x.dot: c.velocities["x"], da.time: c.time})
    assert on.x[-1] == pytest.approx(on.time[-1])
    assert glide([WALL], start=glide([], until=0.3), parameters={e: 1}).x[-1] == pytest.approx(0)


BROKEN = {
    "a root": (sqrt(x - 5), Status.LEFT_DOMAIN),
    "a logarithm": (log(x - 5), Status.LEFT_DOMAIN),
    "a division by zero": (1 / (x.dot - 1), Status.NOT_FINITE),
}


@pytest.mark.parametrize("method", [da.Midpoint(), da.RungeKutta4()], ids=repr)
@pytest.mark.parametrize("case", BROKEN)
def test_an_action_without_a_value(case, method):
    """The lane ends before the step, with a reason that is true; its neighbour, which meets no wall, goes on."""
    value, status = BROKEN[case]
    wall = [da.Event(x - 0.45, {x.dot: value}, name="wall")]
    with pytest.raises(SimulationError) as caught:
        glide(wall, method, start={x: 0, x.dot: [1, 0.25]})
    run = caught.value.trajectory
    assert run.status == [status, Status.CONVERGED]
    assert run.codes[:, 1].tolist() == [4, 10]
    assert np.isfinite(run.x[0]).tolist() == [True] * 5 + [False] * 6
    assert str(caught.value) == (
        f"free: 1 of 2 lanes ended early; lane 0: step 5 from t = 0.4: {status.sentence}. The event 'wall' at t = 0.45 came "
        "before: look at what it changes. Everything before is in the `trajectory` of this error; strict=False returns it "
        "instead."
    )


def test_a_step_after_an_action_that_fails_says_how():
    """The action is a number, but from there the force has no value: that is the status, not that no solution was found."""
    root = da.System("root", [x], kinetic=x.dot**2 / 2, forces={x: log(x)})
    away = da.Event(x - 1.45, {x: -1}, name="away")
    given = {"h": 0.1, "until": 1, "start": {x: 1, x.dot: 1}, "strict": False}
    run = da.simulate(root, da.RungeKutta4(), events=[away], **given)
    assert run.status is Status.LEFT_DOMAIN
    assert da.simulate(root, da.RungeKutta4(), **given).ok
