"""Numbers kept over all nodes (`record=`) are those of a run that records every node, and change nothing of the motion."""

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert import gallery

x, y = da.coordinates("x y")
m, k, g = da.parameters("m k g")
PENDULUM = da.System("pendulum", [x], kinetic=m * x.dot**2 / 2, potential=-m * g * sp.cos(x))
GIVEN = {"h": 0.02, "steps": 500, "start": {x: np.linspace(0.1, 2, 5), x.dot: 0.3}, "parameters": {m: 1, g: 9.81}}
METHODS = [
    da.Midpoint(), da.StormerVerlet(), da.RungeKutta4(), da.Gauss(2), da.Composition(da.Midpoint(), 4), da.Lobatto(3),
]  # fmt: skip


def kept(f):
    """Each reduction of values at all nodes, from these."""
    return {
        "largest": f.max(axis=-1),
        "smallest": f.min(axis=-1),
        "mean": (f[..., 1:] + f[..., :-1]).mean(axis=-1) / 2,
        "drift": np.abs(f - f[..., :1]).max(axis=-1),
    }


def check(run, full, quantities):
    for key, f in quantities.items():
        for kind, expected in kept(np.atleast_2d(f)).items():
            size = np.abs(f).max()
            np.testing.assert_allclose(run.reductions[f"{kind} {key}"], expected, rtol=0, atol=2e-14 * size)
    assert np.array_equal(run.records[:, -1], full.records[:, -1])


ALL = ("largest", "smallest", "mean", "drift")


@pytest.mark.parametrize("device", ["cpu", "simd"])
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_reductions_are_those_of_all_nodes(method, device):
    full = da.simulate(PENDULUM, method, device=device, **GIVEN)
    record = {x: ALL, x.dot * da.time: ALL, x.momentum: ALL, "energy": ALL}
    run = da.simulate(PENDULUM, method, device=device, record=record, **GIVEN)
    assert len(run) == 2
    rates = full[x.dot] * full.time
    check(run, full, {"x": full.x, str(x.dot * da.time): rates, "x.momentum": full[x.momentum], "energy": full.energy})


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("rolling-disk", da.Midpoint()), ("rolling-disk", da.GeometricNonholonomic()), ("heavy-top", da.Midpoint()),
        ("friction-heated-pendulum", da.Midpoint()),
    ],
    ids=str,
)  # fmt: skip
def test_reductions_of_constrained_turning_and_warm_systems(name, method):
    example = gallery.load(name)
    options = {"h": example.h, "steps": 60, "start": example.start, "parameters": example.parameters}
    full = da.simulate(example.system, method, **options)
    record = {"energy": ALL, example.system.velocities[0]: ALL}
    quantities = {"energy": full.energy, str(example.system.velocities[0]): full[example.system.velocities[0]]}
    for S in example.system.entropies:
        record[S], quantities[str(S)] = ALL, full[S]
    check(da.simulate(example.system, method, record=record, **options), full, quantities)


def test_a_continued_run_goes_on_with_its_reductions():
    whole = da.simulate(PENDULUM, da.Midpoint(), record={x: ALL, "energy": ALL}, **GIVEN)
    first = da.simulate(PENDULUM, da.Midpoint(), record={x: ALL, "energy": ALL}, **(GIVEN | {"steps": 123}))
    rest = {"h": 0.02, "steps": 377, "parameters": GIVEN["parameters"]}
    run = da.simulate(PENDULUM, da.Midpoint(), start=first, record={x: ALL, "energy": ALL}, **rest)
    for title, values in whole.reductions.items():
        assert np.array_equal(run.reductions[title], values), title
    with pytest.raises(da.StartError, match="the record cannot be continued with"):
        da.simulate(PENDULUM, da.Midpoint(), start=first, **rest)


def test_a_saved_run_and_a_checkpoint_keep_them(tmp_path):
    whole = da.simulate(PENDULUM, da.Midpoint(), record={x: ALL}, **GIVEN)
    again = da.load(whole.save(tmp_path / "run.nc"))
    pieces = da.simulate(
        PENDULUM, da.Midpoint(), record={x: ALL}, checkpoint=tmp_path / "long.nc", checkpoint_every=77, **GIVEN
    )
    for run in (again, pieces, da.load(tmp_path / "long.nc")):
        assert list(run.reductions) == list(whole.reductions)
        assert all(np.array_equal(run.reductions[t], v) for t, v in whole.reductions.items())
        assert np.array_equal(run.x, whole.x)


def test_reductions_with_events_that_act():
    ball = da.System("ball", [y], kinetic=m * y.dot**2 / 2, potential=m * g * y)
    bounce = da.Event(y, direction=-1, action={y.dot: -y.dot * sp.Rational(99, 100)})
    given = {"h": 0.013, "steps": 700, "start": {y: np.array([1.0, 2.0, 0.3]), y.dot: 0}, "parameters": {m: 1, g: 9.81}}
    full = da.simulate(ball, da.Midpoint(), events=[bounce], **given)
    run = da.simulate(ball, da.Midpoint(), events=[bounce], record={y: ALL, "energy": ALL}, **given)
    assert full.changes == run.changes > 10
    for key, f in {"y": full.y, "energy": full.energy}.items():
        for kind in ("largest", "smallest", "drift"):
            np.testing.assert_allclose(run.reductions[f"{kind} {key}"], kept(f)[kind], rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(run.reductions[f"mean {key}"], kept(f)["mean"], rtol=1e-12)
    first = da.simulate(ball, da.Midpoint(), events=[bounce], record={y: ALL}, **(given | {"steps": 300}))
    on = da.simulate(
        ball,
        da.Midpoint(),
        events=[bounce],
        record={y: ALL},
        start=first,
        h=0.013,
        steps=400,
        parameters={m: 1, g: 9.81},
    )
    for kind in ALL:
        np.testing.assert_allclose(on.reductions[f"{kind} y"], run.reductions[f"{kind} y"], rtol=1e-12, atol=1e-15)


def test_the_mean_converges_with_the_step_and_the_left_sum_does_not():
    """Control: without the trapezoidal rule the mean over an incomplete period is of first order only."""
    oscillator = da.System("oscillator", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2)
    exact, errors, left = np.sin(1.0), [], []
    for steps in (20, 40, 80):
        given = {"h": 1 / steps, "steps": steps, "start": {x: 1, x.dot: 0}, "parameters": {m: 1, k: 1}}
        errors.append(
            abs(da.simulate(oscillator, da.Gauss(3), record={x: "mean"}, **given).reductions["mean x"][0] - exact)
        )
        left.append(abs(da.simulate(oscillator, da.Gauss(3), **given).x[:-1].mean() - exact))
    orders = np.log2(np.array([errors, left])[:, :-1] / np.array([errors, left])[:, 1:])
    assert (orders[0] > 1.9).all()
    assert (orders[1] < 1.1).all()


def test_a_quantity_without_value_is_not_a_number_and_the_motion_goes_on():
    run = da.simulate(PENDULUM, da.Midpoint(), record={sp.log(x): ALL, x: "largest"}, **GIVEN)
    assert run.ok
    assert all(np.isnan(run.reductions[f"{kind} log(x)"]).all() for kind in ALL)
    assert np.isfinite(run.reductions["largest x"]).all()


def test_a_lane_that_fails_keeps_what_it_had():
    wall = da.System("log wall", [x], kinetic=m * x.dot**2 / 2, potential=-k * sp.log(x))
    given = {
        "h": 0.1,
        "steps": 200,
        "start": {x: np.array([1.0, 1.0]), x.dot: np.array([0.0, -40.0])},
        "parameters": {m: 1, k: 1},
    }
    full = da.simulate(wall, da.Midpoint(), strict=False, **given)
    run = da.simulate(wall, da.Midpoint(), strict=False, record={x: "smallest"}, **given)
    assert run.status == full.status
    np.testing.assert_array_equal(run.reductions["smallest x"], np.nanmin(full.x, axis=1))
    watched = {"strict": False, "events": [da.Event(x - 0.5, action="record")], **given}
    run = da.simulate(wall, da.Midpoint(), record={x: ("smallest", "mean")}, **watched)
    np.testing.assert_array_equal(run.reductions["smallest x"], np.nanmin(full.x, axis=1))
    assert np.isfinite(run.reductions["mean x"]).all()


def test_what_cannot_be_kept_is_refused_in_words():
    def ask(record, system=PENDULUM, method=None, **more):
        return da.simulate(system, method or da.Midpoint(), record=record, **(GIVEN | more))

    with pytest.raises(da.ModelError, match="Expected a dict: record="):
        ask(x)
    with pytest.raises(da.ModelError, match=r"'maximum' of x\. Expected one of largest, smallest, mean, drift"):
        ask({x: "maximum"})
    with pytest.raises(da.ModelError, match=r"got the text 'enthalpy'\. Expected an expression"):
        ask({"enthalpy": "mean"})
    with pytest.raises(da.ModelError, match="record"):
        ask({y: "mean"})
    with pytest.raises(da.MethodError, match="is adaptive and keeps no numbers"):
        ask({x: "mean"}, method=da.Reference())
    folded = da.System("folded", [x], lagrangian=x.dot**4 / 4 - x.dot**2 / 2 - x**2 / 2)
    with pytest.raises(da.ModelError, match="may belong to several velocities"):
        ask({"energy": "drift"}, system=folded, parameters={}, start={x: 0, x.dot: 2})


def test_memory_is_for_lanes_only():
    """The carry has three numbers more for a mean, and the records are two, however many steps there are."""
    short, long = (
        da.simulate(PENDULUM, da.Midpoint(), record={x: "mean"}, **(GIVEN | {"steps": n})) for n in (10, 1000)
    )
    plain = da.simulate(PENDULUM, da.Midpoint(), **GIVEN)
    assert short.records.shape == long.records.shape == (5, 2, plain.records.shape[2])
    assert long.carry.shape[1] == plain.carry.shape[1] + 3
