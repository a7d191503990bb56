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
    assert run.time[-1] == run.events[-1].time
    assert run.theta[last + 1 :] == pytest.approx([run.events[-1].positions["theta"]], rel=1e-15)
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


x, z = da.coordinates("x z")
FREE = da.System("free", [x], kinetic=x.dot**2 / 2)
METHODS = (da.Midpoint(), da.LeftPoint(), da.StormerVerlet(), da.Gauss(2), da.RungeKutta4())
methods = pytest.mark.parametrize("method", METHODS, ids=repr)


def glide(events, method=da.Midpoint(), h=0.1, start=None, **more):  # noqa: B008
    """A free particle that passes x = t."""
    more = {"until": 1.5, **more}
    return da.simulate(FREE, method, h=h, start=start or {x: 0, x.dot: 1}, events=events, **more)


def told(run):
    return [(c.name, round(c.time, 12)) for c in run.events]


@methods
def test_a_zero_on_a_node_is_at_the_node(method):
    back = {x.dot: -x.dot}
    assert glide([da.Event(da.time - 0.5)], method).events[0].time == 0.5
    assert told(glide([da.Event(x - 0.5)], method, h=0.5)) == [("event", 0.5)]
    stopped = glide([da.Event(x - 0.5, "stop")], method, h=0.5)
    assert stopped.x == pytest.approx([0, 0.5], abs=1e-15)
    turned = glide([da.Event(x - 0.5, back)], method, h=0.5)
    assert turned.x == pytest.approx([0, 0.5, 0, -0.5], abs=1e-15)
    assert told(turned) == [("event", 0.5)]
    beside = glide([da.Event(x - 0.45, "stop")], method, h=0.5)  # control: then the node is not reached
    assert beside.x == pytest.approx([0, 0.45], rel=1e-12)
    assert beside.codes[0, 1] == 0


def test_a_run_without_steps_has_its_start():
    assert glide([da.Event(x - 0.5)], until=None, steps=0).x.tolist() == [0]


REC, STOP = da.Event(x - 0.25, name="record"), da.Event(x - 0.27, "stop", name="stop")
SLOWER = da.Event(x - 0.25, {x.dot: x.dot / 2}, name="slower")
FASTER = da.Event(x - 0.27, {x.dot: 2 * x.dot}, name="faster")
WALL = da.Event(x - 0.28, {x.dot: -x.dot}, name="wall")
LATER = da.Event(x - 0.26, name="later")
IN_ONE_STEP = {
    "record, then stop": ([REC, STOP], [("record", 0.25), ("stop", 0.27)], 0.27),
    "act, then record": ([SLOWER, LATER], [("slower", 0.25), ("later", 0.27)], 0.25 + 1.25 / 2),
    "act twice": ([SLOWER, FASTER], [("slower", 0.25), ("faster", 0.29)], 0.27 + 1.21),
    "act, then stop": ([SLOWER, STOP], [("slower", 0.25), ("stop", 0.29)], 0.27),
    "stop before anything else": ([STOP, da.Event(x - 0.29, name="never")], [("stop", 0.27)], 0.27),
    "there and back": ([LATER, WALL], [("later", 0.26), ("wall", 0.28), ("later", 0.3)], 0.28 - 1.22),
}


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("case", IN_ONE_STEP)
def test_several_events_in_one_step_happen_in_the_order_of_time(case, turn):
    """In whatever order they are listed; afterwards the particle is where these events leave it."""
    events, expected, last = IN_ONE_STEP[case]
    run = glide(events[::turn])
    assert told(run) == expected
    assert run.x[np.isfinite(run.x)][-1] == pytest.approx(last, abs=1e-12)


def test_at_one_place_what_records_comes_first():
    """However it is written; the event that acts there does not take it away, nor does it happen twice."""
    same = [da.Event(e, name=str(k)) for k, e in enumerate((x - 0.43, 2 * x - 0.86, da.sin(x - 0.43), (x - 0.43) ** 3))]
    run = glide([da.Event(x - 0.43, {x.dot: -x.dot}, name="wall"), *same])
    assert told(run)[-1] == ("wall", 0.43)
    assert sorted(name for name, _ in told(run)[:-1]) == ["0", "1", "2", "3"]
    through = glide([da.Event(x - 0.43, {x.dot: 2 * x.dot}, name="kick"), *same])
    assert len(through.events) == 5
    assert run.x[-1] < 0 < through.x[-1]


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("corner", [0.4, 0.45, 1 / 3])
def test_into_a_corner(corner, turn):
    """Two walls met at once, on a node or between nodes: both turn the particle, in either order."""
    plane = da.System("plane", [x, z], kinetic=(x.dot**2 + z.dot**2) / 2)
    walls = [da.Event(c - corner, {c.dot: -c.dot}) for c in (x, z)]
    run = da.simulate(
        plane, da.Midpoint(), h=0.1, until=1, start={x: 0, z: 0, x.dot: 1, z.dot: 1}, events=walls[::turn]
    )
    assert len(run.events) == 2
    assert run.x[-1] == pytest.approx(2 * corner - 1, abs=1e-14)
    assert run.z[-1] == pytest.approx(2 * corner - 1, abs=1e-14)


@pytest.mark.parametrize("shape", [(x - 0.43) ** 3, da.sign(x - 0.43), da.exp(90 * (x - 0.43)) - 1], ids=str)
def test_flat_and_steep_zeros_are_found(shape):
    assert told(glide([da.Event(shape)])) == [("event", 0.43)]


def test_what_an_action_jumps_over_is_not_crossed():
    home = da.Event(x - 0.33, {x: 0}, name="home")
    run = glide([home, da.Event(x - 0.1, name="passed"), da.Event(x.dot, name="turned")])
    assert [name for name, _ in told(run)] == ["passed", "home"] * 4 + ["passed"]
    flipped = glide([WALL, da.Event(x.dot, name="turned")])
    assert told(flipped) == [("wall", 0.28)]


def test_an_action_on_the_velocity_that_is_watched():
    """Where it vanishes only the acceleration says to which side it goes."""
    spring = da.System("spring", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2)
    turned = [da.Event(x.dot, {x.dot: -x.dot})]
    run = da.simulate(spring, da.Gauss(4), h=0.1, until=50, start={x: 1, x.dot: 0.1}, events=turned)
    assert [c.time for c in run.events] == pytest.approx(np.atan(0.1) + np.pi * np.arange(16), abs=1e-9)


def test_an_action_in_every_step():
    """No step is lost, over several stretches."""
    run = glide([da.Event(da.sin(np.pi * (da.time / 0.1 - 0.5)), {x.dot: -x.dot})], until=None, steps=700)
    assert len(run.events) == 700
    assert np.abs(run.x).max() < 1e-12


@pytest.mark.parametrize("left", [0.7, 0.5, 0.3, 0.1, 0.01, 1e-4])
@pytest.mark.parametrize("direction", [-1, 0])
def test_nothing_falls_through_the_floor(left, direction):
    """Bounces shorter than can be told apart accumulate; a blow that does not turn the motion does not."""
    bounce = da.Event(y, {y.dot: -left * y.dot}, direction=direction)
    common = {"h": 0.01, "until": 6, "start": {y: 1, y.dot: 0}, "parameters": {g: 9.81}, "strict": False}
    run = da.simulate(BALL, da.Midpoint(), events=[bounce], **common)
    assert run.status is da.Status.EVENTS_ACCUMULATE
    end = np.sqrt(2 / 9.81) * (1 + 2 * left / (1 - left))
    assert run.time[run.codes[0, 1]] == pytest.approx(end, abs=0.011)
    assert np.nanmin(run.y) > -1e-9
    assert np.diff([c.time for c in run.events]).min() > 0
    through = da.simulate(BALL, da.Midpoint(), events=[da.Event(y, {y.dot: left * y.dot}, direction)], **common)
    assert through.ok
    assert len(through.events) == 1


def test_lanes_with_several_events_are_independent():
    starts = {x: [0.0, 0.1, -0.3], x.dot: [1.0, 0.7, 2.0]}
    events = [SLOWER, FASTER, LATER, da.Event(x - 0.9, "stop", name="stop"), da.Event(x, name="origin")]
    together = glide(events, start=starts)
    assert [c.lane for c in together.events] == sorted(c.lane for c in together.events)
    for k in range(3):
        alone = glide(events, start={c: v[k] for c, v in starts.items()})
        times = [c.time for c in alone.events]
        nodes = alone.at_nodes.x
        assert np.array_equal(together.x[k, : len(nodes)], nodes)
        assert together.end_times[k] == alone.end_times == alone.time[-1]
        assert np.isnan(together.x[k, len(nodes) :]).all() or together.time[-1] == alone.time[-1]
        assert times == sorted(times)
        assert told(alone) == [(c.name, round(c.time, 12)) for c in together.events if c.lane == k]


def test_the_last_node_is_whole_after_an_action():
    """Its multiplier is there, and is that of a longer run."""
    rod = da.System("rod", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=g * y, constraints=[x**2 + y**2 - 1])
    turn = [da.Event(x, {x.dot: -x.dot, y.dot: -y.dot})]
    common = {"h": 0.05, "start": {x: 0.6, y: -0.8, x.dot: 0}, "parameters": {g: 9.81}, "events": turn}
    longer = da.simulate(rod, da.Midpoint(), steps=20, **common)
    k = int(longer.events[0].time / 0.05) + 1
    shorter = da.simulate(rod, da.Midpoint(), steps=k, **common)
    assert len(shorter.events) == 1
    assert np.array_equal(shorter.multipliers, longer.multipliers[: k + 1])
    assert np.isfinite(shorter.multipliers).all()


def test_progress_is_told():
    done = []
    glide([REC], until=None, steps=600, progress=lambda n, _: done.append(n))
    assert done == [256, 512, 600]


# a run that is continued
WATCHED = [BOUNCE, da.Event(y - 0.3, name="high"), da.Event(y.dot, name="top")]


def parts(cut, method, every=1, height=1.0, steps=120):
    first = drop(height, method, WATCHED, until=None, steps=cut, every=every)
    more = {"steps": steps - cut, "start": first, "parameters": {loss: 0.8}, "events": WATCHED, "every": every}
    return first, da.simulate(BALL, method, h=0.01, **more)


@methods
@pytest.mark.parametrize("cut", [1, 45, 46, 50, 110])
@pytest.mark.parametrize("every", [1, 3])
def test_a_continued_run_is_the_uninterrupted_one(method, cut, every):
    """To the last bit, also where an action lies before or after the cut; the first bounce is in the 46th step."""
    whole = drop(1.0, method, WATCHED, until=None, steps=120, every=every)
    first, rest = parts(cut, method, every)
    assert len(whole.events) > 2
    assert np.array_equal(np.concatenate([first.y[: -(-cut // every)], rest.y]), whole.y)
    assert np.array_equal(rest.carry, whole.carry)
    assert first.events + rest.events == whole.events
    blind = da.simulate(BALL, method, h=0.01, steps=120 - cut, start=first, every=every)  # control
    assert blind.events == ()
    assert not np.array_equal(blind.y, rest.y)


def test_lanes_are_continued():
    heights = np.array([1.0, 0.4, 0.2])
    whole = drop(heights, da.Midpoint(), WATCHED, until=None, steps=60)
    first, rest = parts(30, da.Midpoint(), height=heights, steps=60)
    assert np.array_equal(rest.y, whole.y[:, 30:])
    assert sorted(map(repr, first.events + rest.events)) == sorted(map(repr, whole.events))


@methods
@pytest.mark.parametrize("ulps", range(-3, 4))
def test_an_action_on_the_very_node_where_a_run_is_continued(method, ulps):
    """Rounding leaves the particle on either side of the wall, since no number is a root; it is turned once."""
    start = {x: 1, x.dot: 0.7}
    place = glide([], method, start=start, until=0.7).x[-1] ** 2
    wall = [da.Event(x**2 - float(place + ulps * np.spacing(place)), {x.dot: -x.dot})]
    whole = glide(wall, method, start=start)
    first = glide(wall, method, start=start, until=0.7)
    rest = glide(wall, method, start=first)
    assert len(whole.events) == 1
    assert whole.x[-1] == pytest.approx(0.93, abs=1e-12)
    assert first.events + rest.events == whole.events
    assert np.array_equal(rest.x, whole.x[7:])


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


def test_a_saved_run_has_its_events(tmp_path):
    """So a run continued from a file knows what has just happened, as one in memory does."""
    events = [BOUNCE, da.Event(y - 0.3, name="sill")]
    run = drop([1.0, 0.5], da.Midpoint(), events, until=1.0)
    assert {c.name for c in run.events} == {"bounce", "sill"}
    assert da.load(run.save(tmp_path / "run.nc")).events == run.events


x = da.coordinates("x")
FLIGHT = da.System("flight", [x], kinetic=x.dot**2 / 2)
FALL = da.System("fall", [x], kinetic=x.dot**2 / 2, potential=10 * x)
SLOT = 1 / 128
JUST_BEFORE = {
    "a record on the node of the cut": (FLIGHT, {x: 0, x.dot: 1}, 0.5, 2, [da.Event((x - 1) * (1.25 - x))]),
    "another event is put elsewhere there": (
        FALL,
        {x: 0, x.dot: 1},
        SLOT,
        16,
        [
            da.Event(da.time - 16 * SLOT, {x.dot: 0.001}, name="push"),
            da.Event((0.001 - x.dot) * (x.dot + 0.05), name="slow"),
        ],
    ),
}


@pytest.mark.parametrize("through_a_file", [False, True])
@pytest.mark.parametrize("case", JUST_BEFORE)
def test_a_cut_where_something_has_just_happened(case, through_a_file, tmp_path):
    system, start, h, cut, events = JUST_BEFORE[case]
    common = {"h": h, "events": events}
    whole = da.simulate(system, da.RungeKutta4(), steps=2 * cut, start=start, **common)
    first = da.simulate(system, da.RungeKutta4(), steps=cut, start=start, **common)
    begun = da.load(first.save(tmp_path / "first.nc")) if through_a_file else first
    rest = da.simulate(system, da.RungeKutta4(), steps=cut, start=begun, **common)
    assert (*first.events, *rest.events) == whole.events
    assert np.array_equal(rest.records, whole.records[:, cut:])


def test_what_events_changed_is_said():
    run = drop(1.0, da.Midpoint(), [BOUNCE, da.Event(y - 0.5)], until=1.0)
    assert run.changes == sum(c.name == "bounce" for c in run.events) > 0
    assert f"Events changed the motion {run.changes} times" in str(da.audit(run))
    with pytest.raises(da.MethodError, match=f"contraction: events changed this motion {run.changes} times"):
        da.contraction(run)
    assert "Events changed" not in str(da.audit(drop(1.0, da.Midpoint(), [da.Event(y - 0.5)], until=1.0)))


def test_entropies_in_events():
    S = da.entropies("S")
    warm = da.System("warm", [x], kinetic=x.dot**2 / 2, entropies=[S], internal_energy=da.exp(S), friction={x: -x.dot})
    run = da.simulate(warm, da.Midpoint(), h=0.1, steps=20, start={x: 0, x.dot: 1, S: 0}, events=da.Event(S - 0.05))
    fine = da.simulate(
        warm, da.Midpoint(), h=0.001, steps=2000, start={x: 0, x.dot: 1, S: 0}, events=da.Event(S - 0.05)
    )
    assert run.events[0].time == pytest.approx(fine.events[0].time, abs=1e-3)


@pytest.mark.parametrize("method", [da.Midpoint(), da.Trapezoidal(), da.RungeKutta4()], ids=repr)
def test_an_action_that_leads_where_there_is_no_inertia(method):
    """At x = 0 the momentum x^2 v does not determine v: the run ends there, with what it had; it went on at 1e22."""
    x = da.coordinates("x")
    s = da.System("varying mass", [x], kinetic=x**2 * x.dot**2 / 2, potential=9.81 * x)
    for place, ended in ((0, da.Status.SINGULAR), (0.5, da.Status.CONVERGED)):  # the second is the control
        event = da.Event(x - 0.8, {x: place})
        run = da.simulate(s, method, h=0.01, steps=12, start={x: 1, x.dot: -2}, events=[event], strict=False)
        assert run.status is ended and len(run.events) == 1
        assert np.isfinite(run.x[:8]).all() and run.x[7] > 0.8


@pytest.mark.parametrize("method", [da.Midpoint(), da.RungeKutta4()], ids=repr)
def test_an_action_on_a_rotation_that_leaves_the_constraints(method):
    """The run so far is in the result; velocities of a rotation are not completed one by one."""
    R, x = da.rotation("R"), da.coordinates("x")
    w = R.omega
    s = da.System(
        "screw", [R, x], kinetic=(w[0] ** 2 + w[1] ** 2 + w[2] ** 2 + x.dot**2) / 2, constraints=[w[2] - 3 * x.dot]
    )
    start = {R: np.eye(3), R.omega: (0.1, 0.2, 3), x: 0, x.dot: 1}
    for action, ended in (
        ({x.dot: -7 * x.dot}, da.Status.OFF_CONSTRAINTS),
        ({x.dot: -x.dot, R.omega: tuple(-v for v in w)}, da.Status.CONVERGED),
    ):
        run = da.simulate(
            s, method, h=0.01, steps=12, start=start, events=[da.Event(x - 0.05, action)], strict=False
        )  # fmt: skip
        assert run.status is ended and run.x[4] == pytest.approx(0.04, abs=1e-4)
