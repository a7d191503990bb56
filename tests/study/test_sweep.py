"""Studies in one process: what a store holds, how it is refined and mended, and what is refused."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas
import pytest

import dalembert as da
from dalembert.study import chunk_size, work
from dalembert.study import sweep as sweep_module

from .studies import ANGLES, GRAVITIES, PENDULUM, STUDY, call, contents, g, theta

x, y = da.coordinates("x y")
k = da.parameters("k")
ROD = da.System("rod", [x, y], lagrangian=(x.dot**2 + y.dot**2) / 2 - k * y, constraints=[x**2 + y**2 - 1])
WELL = da.System("well", [x], lagrangian=x.dot**2 / 2 - k * da.log(x))
R = da.rotation("R")
BODY = da.System("body", [R], kinetic=(R.omega[0] ** 2 + 2 * R.omega[1] ** 2 + k * R.omega[2] ** 2) / 2)
DISK = da.gallery.load("rolling-disk")
SPRING = da.System("spring", [x], lagrangian=x.dot**2 / 2 - k * x**4 / 4)

KINDS = {
    "free": {
        "system": PENDULUM.system, "method": da.Midpoint(), "start": PENDULUM.start, "parameters": PENDULUM.parameters,
        "vary": {theta: ANGLES[:7], g: [1, 9.81]}, "record": {theta: "largest"},
    },
    "constrained": {
        "system": ROD, "method": da.Midpoint(), "start": {x: 0.6, y: 0.8, y.dot: 0}, "vary": {k: np.linspace(1, 9, 12)},
        "record": {y: "smallest"},
    },
    "rolling": {
        "system": DISK.system, "method": da.Midpoint(), "start": DISK.start, "parameters": DISK.parameters,
        "vary": {next(iter(DISK.parameters)): np.linspace(1, 2, 9)},
    },
    "rotating": {
        "system": BODY, "method": da.Midpoint(), "start": {R: np.eye(3), R.omega: (0.1, 1, 0)},
        "vary": {k: np.linspace(1, 2, 11)},
    },
    "explicit": {
        "system": SPRING, "method": da.RungeKutta4(), "start": {x.dot: 0}, "parameters": {},
        "vary": [{x: a, k: b} for a, b in zip(np.linspace(0.1, 1, 9), np.linspace(2, 3, 9), strict=True)],
        "record": {x.dot: "mean"},
    },
    "discrete": {
        "system": da.discretise(SPRING, da.midpoint_map), "method": None, "start": {x.at(1): 0.1}, "parameters": {k: 2},
        "vary": {x.at(0): np.linspace(0, 0.1, 9)},
    },
    "adaptive": {
        "system": SPRING, "method": da.Reference(), "start": {x.dot: 0}, "parameters": {k: 2},
        "vary": {x: np.linspace(0.1, 1, 5)},
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", [1, 4, 100])
def test_a_lane_has_the_bits_of_the_run_alone(kind, chunk, tmp_path):
    case = {"h": 0.05, "steps": 20} | KINDS[kind]
    study = da.sweep(**case, store=tmp_path / "a.zarr", chunk=chunk, workers=0, progress=False)
    data, names = (
        study.dataset,
        [f.name for f in study._job.arguments["system"].factors] if kind != "discrete" else ["x"],
    )
    for lane in range(study.lanes):
        alone = study.run(lane)
        assert alone.lanes is None and len(alone) == 21
        for name in names:
            assert np.array_equal(data[f"end {name}"][lane], alone[name][-1])
        for title, value in (study.run(lane, every=20).reductions if case.get("record") else {}).items():
            assert data[title][lane] == value[0]
    assert (data.status == 0).all() and (data.last_step == 20).all()


def test_records_over_time_are_kept_on_request(tmp_path):
    study = call(tmp_path / "a.zarr", every=100)
    data = study.dataset
    assert data["recorded theta"].dims == ("lane", "time") and data.time.values.tolist() == [0, 1, 2, 3]
    for lane in (0, 77, 239):
        assert np.array_equal(data["recorded theta.dot"][lane], study.run(lane, every=100)[theta.dot])


def test_xarray_and_zarr_read_the_store(tmp_path):
    import xarray
    import zarr

    study = call(tmp_path / "a.zarr")
    data = xarray.open_zarr(tmp_path / "a.zarr")
    assert set(data.coords) == {"theta", "g"} and data.sizes == {"lane": 240}
    assert np.array_equal(data.theta, np.repeat(ANGLES, 8)) and np.array_equal(data.g, np.tile(GRAVITIES, 30))
    grid = data.set_index(lane=["theta", "g"]).unstack("lane")
    assert grid["largest theta"].sel(theta=ANGLES[3], g=GRAVITIES[2]) == data["largest theta"][3 * 8 + 2]
    assert data.attrs["method"] == "Midpoint()" and data.attrs["system"]["name"] == "pendulum"
    assert data.attrs["software"]["numpy"] == np.__version__ and data.attrs["steps"] == 300
    assert np.array_equal(zarr.open(study.path, mode="r")["end theta"][:], data["end theta"])


def test_control_zarr_sees_a_damaged_chunk(tmp_path):
    import zarr

    study = call(tmp_path / "a.zarr")
    _damage(study.path / "end theta" / "c" / "3")
    with pytest.raises(ValueError, match="checksum"):
        zarr.open(study.path, mode="r")["end theta"][:]


def _damage(file):
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 16
    file.write_bytes(raw)


@pytest.fixture
def counted(monkeypatch):
    """The lanes that are computed from here on."""
    lanes, results = [], work.Job.results

    def seen(self, values):
        lanes.extend(map(tuple, values.tolist()))
        return results(self, values)

    monkeypatch.setattr(work.Job, "results", seen)
    return lanes


def test_a_finished_study_computes_nothing(tmp_path, counted):
    call(tmp_path / "a.zarr")
    before, computed = contents(tmp_path / "a.zarr"), len(counted)
    call(tmp_path / "a.zarr")
    assert computed == 240 and len(counted) == 240 and contents(tmp_path / "a.zarr") == before


def test_more_values_compute_only_what_is_missing(tmp_path, counted):
    angles = np.sort(np.append(ANGLES[::2], 1.234))
    call(tmp_path / "a.zarr", vary={theta: angles, g: GRAVITIES[:3]}, chunk=7)
    first = set(counted)
    counted.clear()
    study = call(tmp_path / "a.zarr", vary={theta: np.append(ANGLES, 1.234), g: GRAVITIES}, chunk=7)
    assert not first & set(counted) and len(first) + len(counted) == 31 * 8 == study.lanes
    whole = call(tmp_path / "b.zarr", vary={theta: np.append(ANGLES, 1.234), g: GRAVITIES}).dataset
    index = {"lane": ["theta", "g"]}
    refined = study.dataset.set_index(index).unstack("lane")
    assert refined.drop_attrs().identical(whole.set_index(index).unstack("lane").drop_attrs())


@pytest.mark.parametrize("sequence", ["sobol", "halton", "random"])
def test_a_sample_is_extended(sequence, tmp_path, counted):
    ranges = {"vary": {theta: (0, 2), g: (1, 10)}, "sequence": sequence, "seed": 5}
    call(tmp_path / "a.zarr", samples=50, **ranges)
    study = call(tmp_path / "a.zarr", samples=90, **ranges)
    assert len(counted) == len(set(counted)) == 90 == study.lanes
    data = study.dataset
    assert data.theta.min() >= 0 and data.theta.max() <= 2 and data.g.min() >= 1 and 0.7 < data.theta.mean() < 1.3
    with pytest.raises(da.StartError, match="its sampling differ"):
        call(tmp_path / "a.zarr", samples=90, **ranges | {"seed": 6})


def test_a_value_given_twice_is_one_lane(tmp_path):
    assert call(tmp_path / "a.zarr", vary={theta: [1, 2, 1.0], g: 3 * [9.81]}).lanes == 2
    assert call(tmp_path / "b.zarr", vary=[{"theta": 1, g: 2}, {g: 2, theta: 1}]).lanes == 1


def test_a_table_of_pandas_has_a_lane_in_each_row(tmp_path):
    table = pandas.DataFrame({"theta": [1.0, 2, 1], g: [1, 2, 1]}, index=["a", "b", "c"])
    call(tmp_path / "a.zarr", vary=table)
    call(tmp_path / "b.zarr", vary=[{theta: 1, g: 1}, {theta: 2, g: 2}])
    assert contents(tmp_path / "a.zarr") == contents(tmp_path / "b.zarr")


def test_lanes_that_fail_are_listed_and_computed_alone(tmp_path):
    case = {"system": WELL, "method": da.StormerVerlet(), "h": 0.1, "steps": 60, "start": {x.dot: 0}, "workers": 0}
    starts = [{x: 1.0, k: 1.0}, {x: -1.0, k: 1.0}, {x: 3.0, k: 0.0}, {x: 2.0, k: 3.0}]
    study = da.sweep(**case, vary=starts, store=tmp_path / "a.zarr", progress=False)
    status = study.dataset.status.values
    assert status.tolist()[2] == 0 and [f.lane for f in study.failed] == np.flatnonzero(status).tolist() == [0, 1, 3]
    assert "3 failed" in repr(study)
    for failed in study.failed:
        assert failed.start == {"x.dot": 0, "x": starts[failed.lane][x]} and failed.parameters == {
            "k": starts[failed.lane][k]
        }
        with pytest.raises(da.DalembertError):
            study.run(failed.lane)
        alone = study.run(failed.lane, strict=False) if failed.status is not None else None
        assert failed.status is None or (alone.status, alone.codes[0, 1]) == (failed.status, failed.last_step)
    assert np.isnan(study.dataset["end x"].values[[0, 1, 3]]).all() and "x = -1.0" in str(study.failed[1])
    assert len(study.run(2, h=0.01)) == 601


def test_lanes_whose_start_is_refused_do_not_stop_the_others(tmp_path):
    case = {"system": ROD, "method": da.Midpoint(), "h": 0.1, "steps": 5, "parameters": {k: 9.81}, "progress": False}
    lanes = [{x: 0.6, y: 0.8}, {x: 0.6, y: 2.0}, {x: 1.0, y: 0.0}, {x: 7.0, y: 0.0}, {x: 0.0, y: 1.0}]
    study = da.sweep(**case, start={x.dot: 0, y.dot: 0}, vary=lanes, store=tmp_path / "a.zarr", workers=0)
    assert [(f.lane, f.status) for f in study.failed] == [(1, None), (3, None)]
    data = study.dataset
    assert data.status.values.tolist() == [0, -2, 0, -2, 0] and np.isfinite(data["end y"].values[[0, 2, 4]]).all()
    with pytest.raises(da.StartError, match=r"x\*\*2 \+ y\*\*2 - 1"):
        study.run(1)
    with pytest.raises(da.StartError, match=r"x\*\*2 \+ y\*\*2 - 1"):  # all are refused
        da.sweep(**case, start={x.dot: 0, y.dot: 0}, vary=lanes[1::2], store=tmp_path / "b.zarr", workers=0)
    assert not (tmp_path / "b.zarr").exists()


def test_damage_anywhere_is_found_and_mended(tmp_path, counted):
    store = tmp_path / "a.zarr"
    call(store)
    whole = contents(store)
    for name in [n for n in whole if "/c/" in n and n.rpartition("/")[2] in ("0", "11")] + [
        "g/zarr.json",
        "status/zarr.json",
    ]:
        for harm in (_damage, lambda f: f.unlink(), lambda f: f.write_bytes(f.read_bytes()[:-7])):
            counted.clear()
            harm(store / name)
            call(store)
            assert contents(store) == whole, name
            results = "/c/" in name and name.split("/")[0] not in ("theta", "g")
            assert len(counted) == (20 if results else 0)


def test_a_store_that_is_none_is_refused(tmp_path):
    call(tmp_path / "a.zarr")
    (tmp_path / "a.zarr" / "zarr.json").write_text("{")
    with pytest.raises(da.StartError, match="not a store of a study, or it is damaged"):
        call(tmp_path / "a.zarr")
    (tmp_path / "b.zarr").mkdir()
    (tmp_path / "b.zarr" / "notes.txt").write_text("mine")
    with pytest.raises(da.StartError, match=r"a folder with other files \(notes.txt\)"):
        call(tmp_path / "b.zarr")
    (tmp_path / "c.zarr").mkdir()
    text = json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}})
    (tmp_path / "c.zarr" / "zarr.json").write_text(text)
    with pytest.raises(da.StartError, match="but not one of a study"):
        call(tmp_path / "c.zarr")
    assert (tmp_path / "b.zarr" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"h": 0.02}, "its h differ"),
        ({"steps": 200}, "its steps, every differ"),
        ({"method": da.Trapezoidal()}, "its method, method options differ"),
        ({"parameters": dict.fromkeys(PENDULUM.parameters, 1)}, "its parameters differ"),
        ({"start": {theta.dot: 1}}, "its start differ"),
        ({"record": {theta: "largest"}}, "its record differ"),
        ({"vary": {theta: ANGLES}}, "its parameters, varied differ"),
        ({"tolerance": 1e-9}, "its tolerance differ"),
    ],
)
def test_the_store_of_another_study_is_refused(changes, told, finished):
    before = contents(finished)
    with pytest.raises(da.StartError, match=told):
        call(finished, **changes)
    assert contents(finished) == before


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    store = tmp_path_factory.mktemp("study") / "a.zarr"
    call(store)
    return store


def test_a_store_of_another_version_is_refused(finished, monkeypatch):
    other = {**work.identity_of_software(), "llvmlite": "0.1"}
    monkeypatch.setattr(sweep_module, "identity_of_software", lambda: other)
    with pytest.raises(
        da.StartError, match=r"was computed with llvmlite .* and not 0\.1\. .* go on with those versions"
    ):
        call(finished)


class Own(da.Midpoint):
    """A method of one's own."""


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"vary": {}}, r"vary: got \{\}\. Expected a grid"),
        ({"vary": 3}, r"vary: got 3\. Expected a grid"),
        ({"vary": {theta: 1.0}}, "theta = 1.0. Expected a list or an array"),
        ({"vary": {theta: [1, np.nan]}}, "array of finite numbers"),
        ({"vary": {theta: ["a"]}}, "is not a number"),
        ({"vary": {theta: [1], "theta": [2]}}, "given twice"),
        ({"vary": {da.time: [1, 2]}}, "begin at one time"),
        ({"vary": [{theta: 1}, {g: 1}]}, "lane 0 gives theta, and lane 1 gives g"),
        ({"vary": {"omega": [1]}}, "omega"),
        ({"vary": {theta: np.ones(10**5), g: np.ones(10**5)}}, "10000000000 lanes"),
        ({"vary": {theta: [0, 1]}, "samples": 0}, "samples = 0"),
        ({"vary": {theta: [1, 0]}, "samples": 4}, "two ends of a range"),
        ({"vary": {theta: [0, 1]}, "samples": 4, "sequence": "latin"}, "Expected one of 'sobol'"),
        ({"store": "study.nc"}, "does not end in .zarr. Write store='study.zarr'"),
        ({"store": 3}, "store: got 3"),
        ({"start": {theta.dot: [1, 2]}}, "make no lanes|lengths|no lanes in a study"),
        ({"parameters": {p: [1, 2] for p in PENDULUM.parameters}}, "Several values belong in vary="),
        ({"chunk": 0}, "chunk = 0"),
        ({"progress": 3}, "progress = 3. Expected True, False, or a function"),
        ({"chunk": 10**18}, "chunk = 1000000000000000000: a chunk has up to 1048576 lanes"),
        ({"vary": pandas.DataFrame({"theta": ["a"]})}, "is not a number"),
        ({"vary": pandas.DataFrame({"theta": []})}, "0 rows and 1 columns"),
        ({"vary": pandas.DataFrame({"theta": [0, 1]}), "samples": 3}, "Expected a grid"),
        ({"workers": -1}, "workers = -1"),
        ({"scheduler": 5, "workers": None}, "scheduler: got 5"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "not both"),
        ({"method": Own()}, "a method of your own"),
        ({"system": "pendulum"}, "Expected a System or a DiscreteSystem"),
        ({"steps": None}, "either until= .* or steps="),
        ({"device": "gpu"}, "device = 'gpu'"),
        ({"parameters": {}}, "no value for"),
    ],
)
def test_what_is_refused(changes, told, tmp_path):
    with pytest.raises(da.DalembertError, match=told):
        call(**{"store": tmp_path / "a.zarr"} | changes)
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_another_process_writes_is_refused(tmp_path):
    store = tmp_path / "a.zarr"
    hold = "import fcntl, os, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
    hold += "f.write('process 1 on a'); f.flush(); print('held', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", hold, tmp_path / ".a.zarr.lock"], stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout.readline() == b"held\n"
            with pytest.raises(da.StartError, match=r"is being written by process 1 on a\. Wait until it has ended"):
                call(store)
        finally:
            other.kill()
    assert call(store).lanes == 240
    assert [p.name for p in tmp_path.iterdir()] == ["a.zarr"]


def test_a_disk_that_is_full_leaves_a_store_that_goes_on(tmp_path, monkeypatch):
    call(tmp_path / "whole.zarr")
    store, sync, room = tmp_path / "a.zarr", os.fsync, [0]

    def full(handle):
        room[0] -= 1
        if room[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    failures = 0
    for written in itertools.count(0, 2):
        room[0] = written
        try:
            call(store)
            break
        except da.StartError as error:
            assert "cannot be written: No space left on device" in str(error)
            failures += 1
        assert not list(store.rglob("*.draft"))
    assert failures > 10 and contents(store) == contents(tmp_path / "whole.zarr")


def test_a_small_disk(tmp_path):
    """A file system that is really full, where one may be mounted."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    try:
        with pytest.raises(da.StartError, match=r"No space left.* has \d+ of 240 lanes, and the same call goes on"):
            call(small / "a.zarr")
        subprocess.run(["mount", "-o", "remount,size=9m", str(small)], check=True)
        call(small / "a.zarr")
        call(tmp_path / "whole.zarr")
        assert contents(small / "a.zarr") == contents(tmp_path / "whole.zarr")
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize(("module", "workers"), [("google_crc32c", 0), ("distributed", 1)])
def test_without_the_extra_it_says_what_to_type(module, workers, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(da.ModelError, match=r"is not installed\. .* Type: pip install 'dalembert\[study\]'"):
        call(tmp_path / "a.zarr", workers=workers)


def test_a_parameter_with_the_name_of_a_result_is_refused(tmp_path):
    own = da.parameters("status")
    system = da.System("spring", [x], lagrangian=x.dot**2 / 2 - own * x**2)
    case = {"system": system, "method": da.Midpoint(), "h": 0.1, "steps": 3, "start": {x: 1, x.dot: 0}, "workers": 0}
    with pytest.raises(da.StartError, match="a study has results called status"):
        da.sweep(**case, vary={own: [1, 2]}, store=tmp_path / "a.zarr")
    assert not list(tmp_path.iterdir())


def test_a_reduced_system_is_refused_in_words(tmp_path):
    a = da.parameters("a")
    free = da.System("free", [x, y], lagrangian=(x.dot**2 + y.dot**2) / 2 - k * y**2)
    shift = da.Symmetry({x: x + a, y: y}, elements=[a])
    case = {"h": 0.1, "steps": 3, "vary": {k: [1]}, "store": tmp_path / "a.zarr", "workers": 0}
    with pytest.raises(da.MethodError, match=r"(?s)sweep: got .* give its \.motion"):
        da.sweep(da.reduce(free, shift), da.Midpoint(), **case)
    with pytest.raises(da.DalembertError, match=r"give its \.system"):
        da.sweep(da.reduce(da.discretise(free, da.midpoint_map), shift), **case)


def test_ctrl_c_leaves_a_store_that_goes_on(tmp_path):
    def stop(done, total):
        if done == 60:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises((KeyboardInterrupt, da.SimulationError)):
        call(tmp_path / "a.zarr", progress=stop)
    call(tmp_path / "a.zarr")
    call(tmp_path / "b.zarr")
    assert contents(tmp_path / "a.zarr") == contents(tmp_path / "b.zarr")


@pytest.mark.verify
@pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="there is no GPU")
def test_a_process_with_a_gpu_makes_the_store_of_this_one(tmp_path):
    call(tmp_path / "here.zarr", device="cuda")
    call(tmp_path / "process.zarr", device="cuda", workers=1)
    call(tmp_path / "cpu.zarr")
    assert contents(tmp_path / "here.zarr") == contents(tmp_path / "process.zarr")
    assert contents(tmp_path / "here.zarr") != contents(tmp_path / "cpu.zarr")  # the control: another device is told


def test_progress_is_told_in_lanes(tmp_path):
    told = []
    call(tmp_path / "a.zarr", progress=lambda done, total: told.append((done, total)))
    assert told == [(20 * i, 240) for i in range(13)]


def test_the_default_chunk_is_a_second_of_work():
    def lanes(count, seconds, numbers=20):
        return chunk_size.Work(count, seconds, numbers).chunk(None, 2)

    assert lanes(10, 1e-4) == 20_000
    assert lanes(10**7, 1e-4) == 50_000
    assert lanes(10**6, 0.1) == 50
    assert lanes(10**6, 1e-9, 10**5) == 83
    assert lanes(10**6, 1e3) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["free", "explicit"])
def test_the_work_of_a_step_is_counted_to_a_factor_of_ten(kind, tmp_path):
    """In vectors, on one core, and by the processor's time, for which other processes do not matter."""
    case = KINDS[kind] | {"h": 0.01, "steps": 2000}
    vary, parameters = {theta if kind == "free" else x: np.linspace(0.5, 1, 2048)}, {k: 2}
    case |= {"vary": vary, "parameters": case["parameters"] or parameters}
    made = da.sweep(**case | {"steps": 1}, store=tmp_path / "a.zarr", workers=0)
    run = made._job.simulate(made._store.table, steps=2000)
    kept = sweep_module.reductions(case.get("record"), run.system, run.method)
    before = time.process_time()
    made._job.simulate(made._store.table, steps=2000)
    counted = 2048 * 2000 * chunk_size.seconds(run, kept)
    assert 0.1 < counted / (time.process_time() - before) < 10


def test_a_chunk_that_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(chunk_size, "available", lambda: 10**6)
    with pytest.raises(
        da.MethodError, match=r"chunk = 240: 240 lanes with 602 numbers .* 1 MB are free\. chunk=17 fits"
    ):
        call(tmp_path / "a.zarr", chunk=240, every=1)
    with pytest.raises(da.MethodError, match=r"2 chunks of 200 lanes .* chunk=8 fits"):
        call(tmp_path / "a.zarr", chunk=200, every=1, workers=2)
    assert call(tmp_path / "a.zarr", chunk=8, every=1).lanes == 240


def test_control_other_numbers_are_other_bytes(tmp_path):
    call(tmp_path / "a.zarr")
    call(tmp_path / "b.zarr", vary={theta: ANGLES, g: GRAVITIES * (1 + 2e-16)})
    assert STUDY["chunk"] == 20 and contents(tmp_path / "a.zarr") != contents(tmp_path / "b.zarr")
