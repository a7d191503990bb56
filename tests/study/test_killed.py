"""Studies that are killed: whatever ends whenever, the same call goes on, and the store ends up the same, byte for byte.

A program begins the study and is killed with SIGKILL: at every kind of write to the disk, and while real Dask workers compute.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.study import workers

from .studies import GRAVITIES, call, children, contents, g, goes_on, process, theta, waits_with

SOURCE = Path(da.__file__).parent


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of the store of an uninterrupted study."""
    store = tmp_path_factory.mktemp("whole") / "a.zarr"
    call(store)
    return contents(store)


def forked(work):
    """The number of a new process that does the work, which has imported everything already."""
    if pid := os.fork():
        return pid
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def watch_calls(act):
    """From now on `act` is called with the number of each call of this process that changes the disk, before the call."""
    calls = [0]

    def counted(function):
        def called(*args, **options):
            calls[0] += 1
            act(calls[0])
            return function(*args, **options)

        return called

    os.fsync, os.replace, Path.open, Path.unlink = map(counted, (os.fsync, os.replace, Path.open, Path.unlink))


def cut_short(store, number, **changes):
    """A study that is killed at a call; whether it was."""

    def work():
        watch_calls(lambda n: os.kill(os.getpid(), signal.SIGKILL) if n == number else None)
        call(store, **changes)

    return os.waitpid(forked(work), 0)[1] == signal.SIGKILL


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """How many calls change the disk in a study."""
    folder = tmp_path_factory.mktemp("calls")

    def work():
        with (folder / "count").open("w", buffering=1) as told:
            watch_calls(lambda n: told.write(f"{n}\n"))
            call(folder / "a.zarr")

    os.waitpid(forked(work), 0)
    count = int((folder / "count").read_text().split()[-1])
    assert count > 3 * 12 * 8
    return count


def kill_twice(store, first, second, **changes):
    """Kill a study at a call, and the one that goes on from there too; then let it end."""
    assert cut_short(store, first, **changes)
    cut_short(store, second, **changes)
    call(store, **changes)


def test_a_study_killed_while_it_writes_goes_on(tmp_path, whole, calls):
    kept = random.Random(1)
    for first in [1, 2, 3, *(kept.randrange(4, calls) for _ in range(9))]:
        store = tmp_path / f"{first}.zarr"
        kill_twice(store, first, kept.randrange(1, 40))
        assert contents(store) == whole


@pytest.mark.verify
def test_a_hundred_moments(tmp_path, whole, calls):
    kept = random.Random(2)
    for i in range(100):
        store = tmp_path / f"{i}.zarr"
        kill_twice(store, kept.randrange(1, calls), kept.randrange(1, calls))
        assert contents(store) == whole
        shutil.rmtree(store)


def test_a_study_killed_while_it_is_extended_goes_on(tmp_path):
    less, more = {"vary": {theta: [1, 2, 3], g: GRAVITIES[:5]}, "chunk": 4}, {"vary": {theta: [1, 2, 3], g: GRAVITIES}}
    call(tmp_path / "begun.zarr", **less)
    shutil.copytree(tmp_path / "begun.zarr", tmp_path / "b.zarr")
    call(tmp_path / "b.zarr", **more | {"chunk": 4})
    for first in range(1, 70, 8):
        store = tmp_path / f"{first}.zarr"
        shutil.copytree(tmp_path / "begun.zarr", store)
        assert cut_short(store, first, **more)
        assert call(store, **less).failed == ()  # the smaller study is still whole
        call(store, **more)
        assert contents(store) == contents(tmp_path / "b.zarr")


def test_control_if_the_status_came_first_lanes_would_be_lost(tmp_path, whole, calls, monkeypatch):
    """A chunk whose status is there would count as computed, whatever else of it is missing."""
    from dalembert.study import store as parts

    data = parts.Layout.data.fget
    monkeypatch.setattr(parts.Layout, "data", property(lambda self: dict(reversed(data(self).items()))))

    def missing(self, k):
        found, part = self.layout.data["status"].read(self.path, k), self.layout.part(k)
        return np.ones(part.stop - part.start, dtype=bool) if found is None else found == -1

    monkeypatch.setattr(parts.Store, "missing", missing)
    lost = 0
    for first in range(calls - 30, calls):
        store = tmp_path / f"{first}.zarr"
        cut_short(store, first)
        call(store)
        lost += contents(store) != whole
        if lost:
            return
    raise AssertionError("the control saw nothing")


# with real workers
def ended(pid):
    """Whether a process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


class Cluster:
    """A Dask scheduler and its workers, real processes on the loopback device."""

    def __init__(self, folder):
        self.folder, self.file, self.workers = folder, folder / "scheduler.json", []
        options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file))
        self.scheduler = self._begin("scheduler", *options)
        try:
            self.address = self._address()
        except BaseException:
            self.close()
            raise

    def _address(self):
        """Where the scheduler listens: it takes a free port itself, and says which when it listens."""
        told = []

        def whole():
            with contextlib.suppress(OSError, ValueError):
                told[:] = [json.loads(self.file.read_text())["address"]]
            return told or self.scheduler.poll() is not None

        wait_until(whole, 120)
        assert told, (self.folder / "said.txt").read_text()[-2000:]
        return told[0]

    def _begin(self, *words, path=None):
        seen = os.pathsep.join([*([str(path)] if path else []), *(p for p in sys.path if p)])
        said = (self.folder / "said.txt").open("ab")
        command = [sys.executable, "-m", "dask", *words]
        return subprocess.Popen(
            command, stdout=said, stderr=said, env={**os.environ, "PYTHONPATH": seen}, cwd=self.folder
        )

    def worker(self, path=None):
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")
        self.workers.append(self._begin("worker", self.address, *options, path=path))
        return self.workers[-1]

    def close(self):
        for one in [*self.workers, self.scheduler]:
            one.kill()
            one.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    made.worker()
    made.worker()
    yield made
    made.close()


def client_on(cluster, store, done):
    """A client process; `done` becomes a file that has how many lanes are done."""
    return forked(
        lambda: call(store, workers=None, scheduler=cluster.address, progress=lambda n, _: done.write_text(str(n)))
    )


def wait_until(true, seconds=500.0):
    """Wait for something; the time limit only ends a test that hangs."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "hangs"
        time.sleep(0.002)


def lanes_done(file):
    with contextlib.suppress(OSError, ValueError):
        return int(file.read_text())
    return 0


@pytest.mark.slow
def test_five_random_moments_on_a_cluster(cluster, tmp_path, whole):
    """The client is killed three times, a worker once, and once all of them."""
    store, kept = tmp_path / "a.zarr", random.Random(3)
    for i, victim in enumerate(["client", "client", "worker", "all", "client"]):
        done = tmp_path / f"done{i}"
        pid = client_on(cluster, store, done)
        before = len([n for n in contents(store) if n.startswith("status/c")]) * 20 if store.exists() else 0
        wait_until(lambda done=done, least=before + 20, pid=pid: lanes_done(done) >= least or ended(pid))
        time.sleep(kept.random() / 20)
        killed = cluster.workers if victim == "all" else cluster.workers[:1] if victim == "worker" else []
        for worker in list(killed):
            worker.kill()
            worker.wait()
            cluster.workers.remove(worker)
            cluster.worker()
        if victim != "worker":
            os.kill(pid, signal.SIGKILL)
        code = os.waitpid(pid, 0)[1]
        assert code == (0 if victim == "worker" else signal.SIGKILL) or lanes_done(done) == 240
        if victim == "worker":  # the study has come to its end: begin another one
            assert contents(store) == whole
            shutil.rmtree(store)
    call(store, workers=None, scheduler=cluster.address)
    assert contents(store) == whole


@pytest.mark.slow
def test_the_study_of_the_page(cluster, tmp_path, monkeypatch, capsys):
    """On this machine, on a cluster by its address, and as on a batch system by the file of the scheduler."""
    page = (Path(__file__).parents[2] / "docs" / "studies.md").read_text()
    code = re.search(r"^```py\n(import sys.*?)^```", page, re.S | re.M)[1]
    assert "scheduler=sys.argv[1]" in code
    stores = []
    for i, argument in enumerate(["", cluster.address, str(cluster.file)]):
        (tmp_path / str(i)).mkdir()
        monkeypatch.chdir(tmp_path / str(i))
        monkeypatch.setattr(sys, "argv", ["study.py", *([argument] if argument else [])])
        text = code if argument else code.replace('store="swings', 'workers=0, store="swings')
        exec(text.replace("until=20", "until=2"), {"__name__": "__main__"})
        assert "900 lanes" in capsys.readouterr().out
        stores.append(contents("swings.zarr"))
    assert stores[0] == stores[1] == stores[2]


@pytest.mark.slow
def test_two_studies_on_one_cluster_are_not_taken_for_each_other(cluster, tmp_path, whole):
    other = {theta: [0.5, 0.6, 0.7], g: GRAVITIES * 2}
    first = client_on(cluster, tmp_path / "a.zarr", tmp_path / "done")
    call(tmp_path / "b.zarr", vary=other, workers=None, scheduler=cluster.address)
    assert os.waitpid(first, 0)[1] == 0
    call(tmp_path / "c.zarr", vary=other)
    assert contents(tmp_path / "a.zarr") == whole
    assert contents(tmp_path / "b.zarr") == contents(tmp_path / "c.zarr")


@pytest.mark.slow
def test_local_workers_are_replaced_and_end_with_their_client(tmp_path, whole):
    store = tmp_path / "a.zarr"
    with process(store, workers=2) as running:
        try:
            waits_with(running, 60)
            first = children(running.pid)
            assert len(first) == 2
            goes_on(running)
            for pid in first:  # all workers
                os.kill(pid, signal.SIGKILL)
            waits_with(running, 160)
            second = children(running.pid)
            assert second and not set(first) & set(second)
        finally:
            running.kill()
    wait_until(lambda: all(map(ended, second)))  # no process is left behind
    call(store)
    assert contents(store) == whole


@pytest.mark.slow
def test_workers_that_end_before_they_have_sent_a_result(tmp_path, monkeypatch, whole):
    """The client waits for a result that is lost, and meanwhile replaces the workers."""
    begun, begin, result = [], workers._worker, workers._Flow._result

    def killed_first(self, future):
        for worker in begun[:2]:
            worker.kill()
            worker.wait()
        return result(self, future)

    monkeypatch.setattr(workers, "_worker", lambda *given: begun.append(begin(*given)) or begun[-1])
    monkeypatch.setattr(workers._Flow, "_result", killed_first)
    call(tmp_path / "a.zarr", workers=2)
    assert len(begun) == 4 and contents(tmp_path / "a.zarr") == whole


@pytest.mark.slow
def test_a_worker_of_another_version_is_refused(cluster, tmp_path, whole):
    other = tmp_path / "other" / "dalembert"
    shutil.copytree(SOURCE, other, ignore=shutil.ignore_patterns("__pycache__"))
    text = (other / "__init__.py").read_text()
    (other / "__init__.py").write_text(re.sub(r'__version__ = ".*"', '__version__ = "0.0.1"', text))
    own = Cluster(tmp_path)
    try:
        own.worker(path=other.parent)
        with pytest.raises(
            da.MethodError, match=r"has dalembert 0\.0\.1 .* instead of .* has 0 of 240 lanes, and the same call"
        ):
            call(tmp_path / "a.zarr", workers=None, scheduler=own.address)
    finally:
        own.close()
    call(tmp_path / "a.zarr", workers=None, scheduler=cluster.address)
    assert contents(tmp_path / "a.zarr") == whole


@pytest.mark.slow
def test_a_worker_without_a_gpu_says_so(cluster, tmp_path):
    """The client needs none; the workers compute."""
    try:
        import cupy  # noqa: F401
    except ImportError:
        told = r"a worker cannot compute chunk \d+: CuPy cannot be imported.*needs an NVIDIA GPU.* has 0 of 240 lanes"
        with pytest.raises(da.MethodError, match=told):
            call(tmp_path / "a.zarr", workers=None, scheduler=cluster.address, device="cuda")
    else:
        pytest.skip("workers here may have a GPU")


@pytest.mark.slow
def test_a_scheduler_that_is_lost(tmp_path, monkeypatch, whole):
    monkeypatch.setattr(workers, "CONNECT", 5.0)  # so long it is sought, too
    own, store = Cluster(tmp_path), tmp_path / "a.zarr"
    try:
        own.worker()

        def lose(done, total):
            if done == 60:
                own.scheduler.kill()
                own.scheduler.wait()

        with pytest.raises(da.StartError, match=r"was lost .* lanes, and the same call goes on"):
            call(store, workers=None, scheduler=own.address, progress=lose)
    finally:
        own.close()
    call(store)
    assert contents(store) == whole


def test_a_scheduler_that_cannot_be_reached(tmp_path, monkeypatch, whole):
    monkeypatch.setattr(workers, "CONNECT", 0.5)
    store = tmp_path / "a.zarr"
    with pytest.raises(da.StartError, match=r"scheduler: tcp://127\.0\.0\.1:9 cannot be reached .*dask scheduler"):
        call(store, workers=None, scheduler="tcp://127.0.0.1:9")
    call(store)
    assert contents(store) == whole


def test_the_file_of_a_scheduler_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "CONNECT", 0.5)
    with pytest.raises(
        da.StartError, match=r"there is no file .*none\.json after 0\.5 s\. .*dask scheduler --scheduler-file"
    ):
        call(tmp_path / "a.zarr", workers=None, scheduler=str(tmp_path / "none.json"))


def test_a_scheduler_without_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "FIRST_WORKER", 0.5)
    own = Cluster(tmp_path)
    try:
        with pytest.raises(da.StartError, match=r"has no workers after 0.5 s\. Start some with `dask worker tcp"):
            call(tmp_path / "a.zarr", workers=None, scheduler=own.address)
    finally:
        own.close()
