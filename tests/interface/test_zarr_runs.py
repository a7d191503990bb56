"""Runs as Zarr folders: saved as a whole, or written while they are computed, by processes that are killed."""

from __future__ import annotations

import os
import random
import shutil
import signal

import numpy as np
import pytest

import dalembert as da
from tests.study.studies import contents
from tests.study.test_killed import forked, watch_calls

from .test_checkpoint import CASES, ROD, WELL, different, g, x, y

LONG = {name: case for name, case in CASES.items() if "events" not in case}


@pytest.mark.parametrize("name", CASES)
def test_a_saved_run_is_read_back(name, tmp_path):
    run = da.simulate(**CASES[name])
    run.save(tmp_path / "run.zarr")
    again = da.load(tmp_path / "run.zarr")
    assert different(again, run) == [] and again.events == run.events and again.begin == run.begin
    assert [p.name for p in tmp_path.iterdir()] == ["run.zarr"]


@pytest.mark.parametrize("name", ["free", "constrained", "bouncing"])
def test_xarray_reads_it(name, tmp_path):
    import xarray

    run = da.simulate(**CASES[name])
    run.save(tmp_path / "run.zarr")
    data = xarray.open_zarr(tmp_path / "run.zarr")
    assert np.array_equal(data.time, run.time) and data.attrs["h"] == run.h
    for key in data.data_vars:
        assert np.array_equal(data[key], run.dataset[key], equal_nan=True) and "time" in data[key].dims
    assert "run.records" not in data  # internal arrays have a group of their own
    inner = xarray.open_zarr(tmp_path / "run.zarr", group="run")
    assert np.array_equal(inner.records, run.records, equal_nan=True)


def test_a_folder_is_replaced_by_another_run_and_nothing_else(tmp_path):
    long, short = da.simulate(**CASES["free"]), da.simulate(**CASES["constrained"])
    long.save(tmp_path / "a.zarr")
    short.save(tmp_path / "a.zarr")
    short.save(tmp_path / "b.zarr")
    assert contents(tmp_path / "a.zarr") == contents(tmp_path / "b.zarr")
    (tmp_path / "c.zarr").mkdir()
    (tmp_path / "c.zarr" / "notes").write_text("mine")
    with pytest.raises(da.StartError, match=r"a folder with other files \(notes\)"):
        short.save(tmp_path / "c.zarr")


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("steps", [7, 16, 1000])
def test_what_is_written_while_it_is_computed_is_the_run(name, steps, tmp_path):
    plain, file = da.simulate(**LONG[name]), tmp_path / "run.zarr"
    last = da.simulate(**LONG[name], checkpoint=file, checkpoint_every=steps)
    whole = da.load(file)
    assert different(whole, plain, counts=False) == [] or name == "failing"
    assert np.array_equal(whole.codes[:, :2], plain.codes[:, :2])
    assert np.array_equal(whole.records, plain.records[:, : len(whole)], equal_nan=True)
    assert np.array_equal(last.records[:, -1], whole.records[:, -1], equal_nan=True)
    before = contents(file)
    da.simulate(**LONG[name], checkpoint=file, checkpoint_every=steps)
    assert contents(file) == before
    import xarray

    data = xarray.open_zarr(file)
    assert np.array_equal(data.time, plain.time)
    for key in data.data_vars:
        assert np.allclose(data[key], plain.dataset[key], rtol=1e-12, atol=0, equal_nan=True)


def test_a_longer_run_goes_on_from_a_finished_one(tmp_path):
    file, kept = tmp_path / "run.zarr", {"checkpoint": tmp_path / "run.zarr", "checkpoint_every": 8}
    plain = da.simulate(**CASES["free"])
    for steps in (0, 13, 29, 40):
        da.simulate(**CASES["free"] | {"steps": steps}, **kept)
        assert len(da.load(file)) == steps + 1
    assert different(da.load(file), plain, counts=False) == []
    with pytest.raises(da.StartError, match=r"has reached t = 4, later than asked for"):
        da.simulate(**CASES["free"] | {"steps": 20}, **kept)


@pytest.mark.parametrize("name", ["free", "constrained"])
def test_killed_at_any_moment_it_goes_on(name, tmp_path):
    kept = random.Random(4)
    kind = LONG[name] | {"checkpoint_every": 6}
    da.simulate(**kind, checkpoint=tmp_path / "whole.zarr")
    for _ in range(6):
        file, killed = tmp_path / "run.zarr", 0
        for _ in range(3):
            number = kept.randrange(1, 80)

            def work(number=number, file=file):
                watch_calls(lambda n: os.kill(os.getpid(), signal.SIGKILL) if n == number else None)
                da.simulate(**kind, checkpoint=file)

            killed += os.waitpid(forked(work), 0)[1] == signal.SIGKILL
        da.simulate(**kind, checkpoint=file)
        assert killed and contents(file) == contents(tmp_path / "whole.zarr")
        shutil.rmtree(file)


def test_steps_with_a_time_of_their_own(tmp_path):
    kepler = da.System("kepler", [x, y], lagrangian=(x.dot**2 + y.dot**2) / 2 + g / da.sqrt(x**2 + y**2))
    case = {"system": kepler, "method": da.Sundman(da.sqrt(x**2 + y**2), da.StormerVerlet()), "h": 0.05, "steps": 50}
    case |= {"start": {x: 0.1, y: 0, x.dot: 0, y.dot: 4}, "parameters": {g: 1}}
    plain = da.simulate(**case)
    plain.save(tmp_path / "a.zarr")
    assert different(da.load(tmp_path / "a.zarr"), plain, counts=False) == []
    with pytest.raises(da.MethodError, match="not continued bit for bit"):
        da.simulate(**case, checkpoint=tmp_path / "b.zarr", checkpoint_every=7)
    with pytest.raises(da.MethodError, match="one with expressions"):
        case.pop("parameters")
        da.sweep(**case, vary={g: [1, 2]}, store=tmp_path / "c.zarr", workers=0)


def test_lanes_that_fail_early(tmp_path):
    case = {
        "system": WELL,
        "method": da.StormerVerlet(),
        "h": 0.1,
        "start": {x: [1, 30], x.dot: 0},
        "parameters": {g: [1, 3]},
    }
    plain = da.simulate(**case, steps=60, strict=False)
    assert plain.codes[0, 0] != 0 and plain.codes[1, 0] == 0
    with pytest.raises(da.SimulationError, match="lane 0"):
        da.simulate(**case, steps=60, checkpoint=tmp_path / "run.zarr", checkpoint_every=5)
    assert different(da.load(tmp_path / "run.zarr"), plain, counts=False) == []
    again = da.load(tmp_path / "run.zarr")
    again.save(tmp_path / "run.nc")  # also as a part of a longer run, in which the lane had failed before
    part = da.simulate(**case | {"start": again}, steps=3, strict=False)
    part.save(tmp_path / "part.nc")
    assert different(da.load(tmp_path / "part.nc"), part) == []


def test_what_is_refused(tmp_path):
    run, file = da.simulate(**CASES["free"]), tmp_path / "run.zarr"
    with pytest.raises(da.MethodError, match=r"holds no events.*checkpoint='run\.nc'"):
        da.simulate(**CASES["bouncing"], checkpoint=file, checkpoint_every=5)
    da.simulate(**CASES["free"], checkpoint=file, checkpoint_every=5)
    before = contents(file)
    with pytest.raises(da.StartError, match="its h differ"):
        da.simulate(**CASES["free"] | {"h": 0.2}, checkpoint=file, checkpoint_every=5)
    with pytest.raises(da.StartError, match="its checkpoint_every differ"):
        da.simulate(**CASES["free"], checkpoint=file, checkpoint_every=6)
    assert contents(file) == before and ROD is not None
    run.save(file)
    for name in ("run/records/c/0/0/0", "time/c/0", "last.nc", "zarr.json"):
        run.save(file)
        raw = bytearray((file / name).read_bytes())
        raw[len(raw) // 2] ^= 4
        (file / name).write_bytes(raw)
        with pytest.raises(da.StartError, match="not a run saved by dalembert, or it is damaged"):
            if name != "zarr.json":
                da.load(file)
            else:
                (file / name).write_text("{")
                da.load(file)
        shutil.rmtree(file)
