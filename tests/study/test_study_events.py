"""Events in a study: crossings are kept lane by lane, lanes that an event stops end there, and each is the run alone."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
import sympy

import dalembert as da

from .studies import contents
from .test_killed import forked, watch_calls

x, y = da.coordinates("x y")
k, g, T = da.parameters("k g T")
R = da.rotation("R")
BALL = da.System("ball", [x], lagrangian=x.dot**2 / 2 - g * x)
ROD = da.System("rod", [x, y], lagrangian=(x.dot**2 + y.dot**2) / 2 - g * y, constraints=[x**2 + y**2 - 1])
BODY = da.System("body", [R], kinetic=(R.omega[0] ** 2 + 2 * R.omega[1] ** 2 + 3 * R.omega[2] ** 2) / 2)

CLOCK = da.coordinates("event")
NAMED = da.System("named", [CLOCK], lagrangian=CLOCK.dot**2 / 2)

GROUND = da.Event(x, {x.dot: -k * x.dot}, direction=-1, name="ground")
LATE = da.Event(da.time - sympy.Rational(3, 2) - x / 20, "stop", name="late")
LEVEL = da.Event(x - 1, name="level")

KINDS = {
    "bouncing": {
        "system": BALL, "events": [GROUND, LATE, LEVEL], "start": {x.dot: 0}, "parameters": {k: 0.8},
        "vary": {x: [0.2, 1.2, 2], g: [0.3, 9.81]}, "record": {x: ("largest", "mean"), "energy": "drift"},
    },
    "constrained": {
        "system": ROD, "events": [da.Event(y - 0.5, "stop")], "start": {x: 0.6, y: 0.8, y.dot: 0}, "parameters": {},
        "vary": {g: [1, 4, 9.81, 20]}, "record": {y: "smallest"},
    },
    "turning": {
        "system": BODY, "events": [da.Event(R.omega[0], name="zero"), da.Event(R.omega[0] + 0.5, "stop", name="slow")],
        "start": {R: np.eye(3), R.omega[0]: 0.5, R.omega[2]: 0.4}, "parameters": {},
        "vary": {R.omega[1].name: [-3, 0.1, 2, 4]},
    },
}  # fmt: skip


def call(store, kind="bouncing", **changes):
    """A study with events, in this process."""
    case = {"method": da.Midpoint(), "h": 0.02, "steps": 100, "workers": 0, "progress": False, "store": store}
    return da.sweep(**case | KINDS[kind] | changes)


def kept(data, name, lane):
    """The numbers that a store has of the crossings of a lane."""
    return data[name].values[lane][: data.crossings.values[lane]].tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", [1, 100])
def test_a_lane_is_the_run_alone(kind, chunk, tmp_path):
    study = call(tmp_path / "a.zarr", kind, chunk=chunk)
    data, names = study.dataset, [e["name"] for e in study.dataset.attrs["events"]]
    assert (data.crossings > 0).any() and len(set(data["end time"].values)) > 2
    for lane in range(study.lanes):
        alone = study.run(lane)
        assert data.crossings[lane] == len(alone.events) <= 16
        assert kept(data, "crossing time", lane) == [c.time for c in alone.events]
        assert [names[i] for i in kept(data, "crossing event", lane)] == [c.name for c in alone.events]
        for name in alone.events[0].velocities if alone.events else ():
            assert kept(data, f"crossing {name}.dot", lane) == [c.velocities[name] for c in alone.events]
        for name in (n for n in data if n.startswith("end ") and n != "end time"):
            array = alone.dataset[name.removeprefix("end ")].values
            assert np.array_equal(data[name][lane], array[-1], equal_nan=True), name
        assert data["end time"][lane] == alone.time[-1] == alone.end_times
        for title, value in study.run(lane, every=100).reductions.items():
            assert data[title][lane] == value[0]


def test_lanes_that_an_event_stops_have_not_failed(tmp_path):
    study = call(tmp_path / "a.zarr")
    assert (study.dataset.status == da.Status.EVENT).any() and not study.failed and "failed" not in repr(study)
    zeno = call(tmp_path / "b.zarr", events=[GROUND], parameters={k: 0.1}, vary={x: [0.5, 60], g: [9.81]})
    assert [f.status for f in zeno.failed] == [da.Status.EVENTS_ACCUMULATE]
    assert np.isnan(zeno.dataset["end x"].values).tolist() == [True, False]


def test_records_over_time_end_where_an_event_stops_a_lane(tmp_path):
    """All lanes stop before the end, at different times."""
    data = call(tmp_path / "a.zarr", every=10, events=[LATE], parameters={}).dataset
    assert data["recorded x"].dims == ("lane", "time") and data.sizes["time"] == 11
    moving = np.isfinite(data["recorded x"]).values
    assert (moving == (data.time.values <= data["end time"].values[:, None])).all() and not moving[:, -1].any()


def test_all_crossings_are_counted_and_the_first_are_kept(tmp_path):
    wide, narrow, none = (call(tmp_path / f"{n}.zarr", crossings=n).dataset for n in (40, 2, 0))
    assert (
        wide.crossings.max() > 3
        and (wide.crossings == narrow.crossings).all()
        and (wide.crossings == none.crossings).all()
    )
    for name in ("crossing time", "crossing event", "crossing x.dot"):
        assert np.array_equal(wide[name].values[:, :2], narrow[name].values, equal_nan=True)
        assert name not in none
    empty = wide.crossings.values[:, None] <= np.arange(40)
    assert (np.isnan(wide["crossing time"]).values == empty).all()
    assert ((wide["crossing event"] == -1).values == empty).all()


def test_an_event_with_a_parameter_of_its_own(tmp_path):
    data = call(tmp_path / "a.zarr", events=[da.Event(x - T, "stop")], parameters={T: 0.25}, vary={x: [0.5], g: [9.81]})
    assert abs(data.dataset["end x"].item() - 0.25) < 1e-12 and data.dataset.attrs["parameters"] == {"T": 0.25}


@pytest.mark.parametrize("number", range(5, 60, 18))
def test_a_killed_study_goes_on(number, tmp_path):
    store = tmp_path / "a.zarr"
    call(tmp_path / "whole.zarr", chunk=2)

    def work():
        watch_calls(lambda n: os.kill(os.getpid(), signal.SIGKILL) if n == number else None)
        call(store, chunk=2)

    assert os.waitpid(forked(work), 0)[1] == signal.SIGKILL
    call(store, chunk=2)
    assert contents(store) == contents(tmp_path / "whole.zarr")


def test_more_values_are_added(tmp_path):
    less = {"vary": {x: [0.2, 2], g: [0.3, 9.81]}}
    call(tmp_path / "a.zarr", chunk=3, **less)
    refined, whole = call(tmp_path / "a.zarr", chunk=3).dataset, call(tmp_path / "b.zarr").dataset
    index = {"lane": ["x", "g"]}
    refined, whole = (d.set_index(index).unstack("lane").drop_attrs() for d in (refined, whole))
    assert refined.identical(whole)


@pytest.mark.slow
def test_processes_write_the_same_bytes(tmp_path):
    call(tmp_path / "a.zarr", chunk=2)
    call(tmp_path / "b.zarr", chunk=2, workers=2)
    assert contents(tmp_path / "a.zarr") == contents(tmp_path / "b.zarr")


def test_lanes_that_are_refused_have_no_crossings(tmp_path):
    lanes = [{x: 0.6, y: 0.8}, {x: 0.6, y: 2.0}]
    start, events = {x.dot: 0, y.dot: 0}, [da.Event(y - 0.5, "stop")]
    data = call(
        tmp_path / "a.zarr", "constrained", vary=lanes, start=start, events=events, parameters={g: 9.81}
    ).dataset
    assert data.crossings.values.tolist() == [1, -1] and np.isnan(data["crossing time"].values[1]).all()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"events": [GROUND, LATE]}, "its events differ"),
        ({"events": [GROUND, LATE, da.Event(x - 1, direction=1, name="level")]}, "its events differ"),
        (
            {"events": [da.Event(x, {x.dot: -x.dot}, -1, "ground"), LATE, LEVEL], "parameters": {}},
            "its parameters, events",
        ),
        ({"events": ()}, "its .*events, crossings differ"),
        ({"crossings": 15}, "its crossings differ"),
    ],
)
def test_other_events_are_another_study(changes, told, tmp_path):
    call(tmp_path / "a.zarr")
    if changes.get("events") == ():
        changes = changes | {"parameters": {}}
    with pytest.raises(da.StartError, match=told):
        call(tmp_path / "a.zarr", **changes)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"events": [da.Event(x), da.Event(x - 1)]}, r"2 events are called 'event'.*Event\(\.\.\., name='top'\)"),
        ({"events": 3}, "events: got 3. Expected a list of events"),
        ({"events": [x]}, "is not an event"),
        ({"events": [da.Event(y)]}, "y"),
        ({"system": NAMED, "events": [da.Event(CLOCK, name="zero")]}, "Give the coordinate event another name"),
        ({"crossings": -1}, "crossings = -1"),
        ({"crossings": 10**6}, "room for up to 10000"),
        ({"crossings": "many"}, "crossings = 'many'"),
        ({"vary": {x: [1, 2], k: [0.1, 0.2], g: [1]}, "parameters": {}}, "k occurs in events only, so it has one value"),
        ({"method": da.Reference(), "record": None}, "has no events"),
        ({"system": da.discretise(BALL, da.midpoint_map), "method": None, "record": None}, "no velocities between its nodes"),
    ],
)  # fmt: skip
def test_what_is_refused(changes, told, tmp_path):
    with pytest.raises(da.DalembertError, match=told):
        call(tmp_path / "a.zarr", **changes)
    assert not list(tmp_path.iterdir())


def test_control_another_restitution_is_another_motion(tmp_path):
    one, other = (call(tmp_path / f"{e}.zarr", parameters={k: e}).dataset for e in (0.8, 0.8000001))
    assert not np.array_equal(one["crossing time"], other["crossing time"], equal_nan=True)
