"""Long runs that are killed and go on: the motion has the same bits, whenever the process ends."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest

import dalembert as da

x, y = da.coordinates("x y")
g = da.parameters("g")

PENDULUM = da.gallery.load("pendulum")
ROD = da.System("rod", [x, y], lagrangian=(x.dot**2 + y.dot**2) / 2 - g * y, constraints=[x**2 + y**2 - 1])
BALL = da.System("ball", [x], lagrangian=x.dot**2 / 2 - g * x)
WELL = da.System("well", [x], lagrangian=x.dot**2 / 2 - g * da.log(x))

THREE = {"start": {x: [1, 2, 3], x.dot: 0}, "parameters": {g: [1, 2, 3]}}
CASES = {
    "free": {
        "system": PENDULUM.system, "method": da.Midpoint(), "h": 0.1, "steps": 40, "start": PENDULUM.start,
        "parameters": PENDULUM.parameters,
    },
    "constrained": {
        "system": ROD, "method": da.Midpoint(), "h": 0.05, "steps": 41, "every": 3,
        "start": {x: [1, 0.6], y: [0, 0.8], x.dot: 0, y.dot: 0}, "parameters": {g: 9.81},
    },
    "velocities": {
        "system": PENDULUM.system, "method": da.DormandPrince8(), "h": 0.1, "until": 3.0, "every": 2,
        "start": PENDULUM.start, "parameters": PENDULUM.parameters,
    },
    "bouncing": {
        "system": BALL, "method": da.StormerVerlet(), "h": 0.05, "steps": 60, "every": 2, **THREE,
        "events": [da.Event(x, action={x.dot: -x.dot})],
    },
    "stopped": {
        "system": BALL, "method": da.StormerVerlet(), "h": 0.05, "steps": 90, **THREE,
        "events": [da.Event(x, action="stop")],
    },
    "failing": {"system": WELL, "method": da.StormerVerlet(), "h": 0.1, "steps": 60, **THREE, "strict": False},
}  # fmt: skip


def different(one, other, counts=True):
    """What differs between two runs, bit by bit; `counts` are those of Newton iterations."""
    width = None if counts else 2
    pairs = {n: (getattr(one, n), getattr(other, n)) for n in ("records", "time", "residual", "carry", "watched")}
    pairs |= {role: (one.table(role), other.table(role)) for role in ("position", "velocity", "momentum", "multiplier")}
    pairs["codes"] = one.codes[:, :width], other.codes[:, :width]
    found = [n for n, (a, b) in pairs.items() if (a is None) != (b is None) or not (a is None or same(a, b))]
    plain = ("begin", "events", "renewed", "t0", "columns", "every", "lanes")
    return found + [n for n in plain if getattr(one, n) != getattr(other, n)]


def same(a, b):
    return a.shape == b.shape and np.array_equal(a, b, equal_nan=True)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("every", [7, 1000])
def test_the_motion_is_that_of_one_run(tmp_path, name, every):
    file = tmp_path / "run.nc"
    plain = da.simulate(**CASES[name])
    kept = da.simulate(**CASES[name], checkpoint=file, checkpoint_every=every)
    assert different(kept, plain, counts=False) == []
    assert different(da.load(file), kept) == []
    again = da.simulate(**CASES[name], checkpoint=file, checkpoint_every=every)
    assert different(again, kept) == []


def test_control_a_difference_in_the_last_place_is_seen():
    run = da.simulate(**CASES["free"])
    other = da.simulate(**CASES["free"])
    other.records[0, 5, 0] = np.nextafter(other.records[0, 5, 0], 9)
    assert different(other, run) == ["records", "position"]


MOMENTS = [("computing", 3), ("before replace", 1), ("after replace", 2), ("after fsync", 5)]

KILLED = """
import os, signal, sys
import dalembert as da
from dalembert.run import storage
file, moment, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
example = da.gallery.load("pendulum")
left = [count]
def killed(*given):
    left[0] -= 1
    if left[0] <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
plain = {name: getattr(os, name) for name in ("replace", "fsync")}
def before(name):
    return lambda *given: (killed(), plain[name](*given))[1]
def after(name):
    return lambda *given: (plain[name](*given), killed())[0]
if moment != "computing":
    where, name = moment.split()
    setattr(os, name, before(name) if where == "before" else after(name))
da.simulate(example.system, da.Midpoint(), h=0.1, steps=40, start=example.start, parameters=example.parameters,
            checkpoint=file, checkpoint_every=7, progress=killed if moment == "computing" else False)
"""


@pytest.mark.parametrize(
    ("moment", "count"),
    [
        ("before replace", 4),
        *(pytest.param(*c, marks=pytest.mark.slow) for c in MOMENTS),
    ],
)
def test_killed_at_any_moment_the_same_call_goes_on(tmp_path, moment, count):
    file = tmp_path / "run.nc"
    done = subprocess.run([sys.executable, "-c", KILLED, str(file), moment, str(count)], check=False)
    assert done.returncode == -signal.SIGKILL
    if file.exists():
        assert len(da.load(file).time) < 41
    resumed = da.simulate(**CASES["free"], checkpoint=file, checkpoint_every=7)
    whole = da.simulate(**CASES["free"], checkpoint=tmp_path / "whole.nc", checkpoint_every=7)
    assert different(resumed, whole) == []
    assert file.read_bytes() == (tmp_path / "whole.nc").read_bytes()


def test_interrupted_by_hand_it_goes_on(tmp_path):
    def stop(done, steps):
        assert steps == 40
        if done > 10:
            raise KeyboardInterrupt

    kept = {"checkpoint": tmp_path / "run.nc", "checkpoint_every": 7}
    with pytest.raises(da.SimulationError, match="the same call goes on"):
        da.simulate(**CASES["free"], **kept, progress=stop)
    assert different(da.simulate(**CASES["free"], **kept), da.simulate(**CASES["free"]), counts=False) == []


def test_a_longer_run_goes_on_from_a_finished_one(tmp_path):
    kept = {"checkpoint": tmp_path / "run.nc", "checkpoint_every": 7}
    da.simulate(**CASES["free"] | {"steps": 20}, **kept)
    assert different(da.simulate(**CASES["free"], **kept), da.simulate(**CASES["free"]), counts=False) == []
    with pytest.raises(da.StartError, match=r"has reached t = 4, later than asked for"):
        da.simulate(**CASES["free"] | {"steps": 20}, **kept)


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
@pytest.mark.parametrize("after", [9, 13, 30])
def test_a_run_that_begins_between_two_records_goes_on(tmp_path, suffix, after):
    """It continues another run, and its first record is some steps later."""
    earlier = da.simulate(**CASES["free"] | {"steps": 7})
    case = CASES["free"] | {"start": earlier, "every": 5}
    kept = {"checkpoint": tmp_path / f"run{suffix}", "checkpoint_every": 2}

    def stop(done, steps):
        if done >= after:
            raise KeyboardInterrupt

    with pytest.raises(da.SimulationError, match="the same call goes on"):
        da.simulate(**case, **kept, progress=stop)
    for _ in range(2):  # the second time it is finished
        da.simulate(**case, **kept)
    assert different(da.load(kept["checkpoint"]), da.simulate(**case), counts=False) == []
    other = da.simulate(**CASES["free"] | {"steps": 7, "start": dict.fromkeys(PENDULUM.start, 0.1)})
    with pytest.raises(da.StartError, match="its start differ"):
        da.simulate(**case | {"start": other}, **kept)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"h": 0.2}, "its h differ"),
        ({"every": 2}, "its every differ"),
        ({"method": da.StormerVerlet()}, "its method differ"),
        ({"start": dict.fromkeys(PENDULUM.start, 0.1)}, "its start differ"),
        ({"tolerance": 1e-9}, "its tolerance or max_iterations differ"),
        ({"parameters": {k: 2 * v for k, v in PENDULUM.parameters.items()}}, "its parameters differ"),
    ],
)
def test_the_file_of_another_run_is_refused_and_kept(tmp_path, change, told):
    file = tmp_path / "run.nc"
    da.simulate(**CASES["free"], checkpoint=file, checkpoint_every=7)
    before = file.read_bytes()
    with pytest.raises(da.StartError, match=rf"holds another run: {told}.*delete this one to begin again"):
        da.simulate(**CASES["free"] | change, checkpoint=file, checkpoint_every=7)
    assert file.read_bytes() == before


def test_what_cannot_be_kept_is_refused(tmp_path):
    class Own(da.Midpoint):
        """A method of one's own."""

    call, file = CASES["free"], tmp_path / "run.nc"
    with pytest.raises(da.MethodError, match=r"give both checkpoint='run\.nc'"):
        da.simulate(**call, checkpoint=file)
    with pytest.raises(da.MethodError, match="checkpoint_every = 0: save the run every so many steps"):
        da.simulate(**call, checkpoint=file, checkpoint_every=0)
    with pytest.raises(da.StartError, match="no known suffix"):
        da.simulate(**call, checkpoint=tmp_path / "run.txt", checkpoint_every=5)
    with pytest.raises(da.MethodError, match="is adaptive, so it is not continued"):
        da.simulate(**call | {"method": da.Reference()}, checkpoint=file, checkpoint_every=5)
    with pytest.raises(da.MethodError, match="method of your own, and a file cannot hold it"):
        da.simulate(**call | {"method": Own()}, checkpoint=file, checkpoint_every=5)
    file.write_bytes(b"CDF\x02 damaged")
    with pytest.raises(da.StartError, match="is damaged"):
        da.simulate(**call, checkpoint=file, checkpoint_every=5)
