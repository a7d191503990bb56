"""The cache executes nothing that others put there, loads nothing that is damaged, and is never a reason to fail.

Every test of trust plants valid code of another function under the name that is asked for, so that executing it is noticed.
"""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from dalembert.engine import cache, machine
from dalembert.engine.machine import PointMap
from dalembert.symbolic import fast
from dalembert.waist.stepmap import pointwise

STRANGER = 65533
RIGHT, PLANTED = 3.0, 666.0

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def value(factor=3):
    machine._function.cache_clear()
    made = PointMap(pointwise("cached", ["x"], [], {"y": factor * fast("x")}))
    return float(made(np.array([[1.0]]), np.zeros((1, 0)))[0][0, 0])


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A cache whose one entry computes something else than what is asked for."""
    place = tmp_path / "above" / "cache"
    place.parent.mkdir(mode=0o700)
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "other"))
    value(666)
    (other,) = (tmp_path / "other").iterdir()
    code = cache.fetch(other.name)
    monkeypatch.setenv("DALEMBERT_CACHE", str(place))
    value()
    (entry,) = place.iterdir()
    cache.keep(entry.name, code)
    if hasattr(cache, "_told"):
        cache._told.clear()
    return place


def entry_of(home):
    return next(f for f in home.iterdir() if len(f.name) == 64)


def warned(call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = call()
    return result, [str(w.message) for w in seen if w.category is RuntimeWarning]


def test_control_a_trusted_entry_is_executed(home):
    assert warned(value) == (PLANTED, [])


def replaced_by(make):
    def fault(path):
        path.unlink()
        make(path)

    return fault


def linked(path):
    path.symlink_to(path.rename(path.parent.parent / "moved"))


FILES = {
    "writable by the group": lambda e: e.chmod(0o620),
    "writable by all": lambda e: e.chmod(0o602),
    "link": linked,
    "second name": lambda e: os.link(e, e.parent.parent / "second"),
    "FIFO": replaced_by(os.mkfifo),
    "folder": replaced_by(os.mkdir),
    "of another user": pytest.param(lambda e: os.chown(e, STRANGER, -1), marks=as_root),
}
FOLDERS = {
    "writable by the group": lambda h: h.chmod(0o770),
    "writable by all": lambda h: h.chmod(0o707),
    "sticky": lambda h: h.chmod(0o1777),
    "link": linked,
    "replaceable": lambda h: h.parent.chmod(0o777),
    "of another user": pytest.param(lambda h: os.chown(h, STRANGER, -1), marks=as_root),
    "in a folder of another user": pytest.param(lambda h: os.chown(h.parent, STRANGER, -1), marks=as_root),
}


@pytest.mark.parametrize("fault", FILES.values(), ids=FILES)
def test_a_file_that_others_may_have_written_is_compiled_anew(home, fault):
    fault(entry_of(home))
    (first, told), (second, later) = warned(value), warned(value)
    assert first == second == RIGHT
    assert len(told) == 1 and "is not used" in told[0]
    assert not later


@pytest.mark.parametrize("fault", FOLDERS.values(), ids=FOLDERS)
def test_a_folder_that_others_may_have_written_is_not_used(home, fault):
    fault(home)
    (first, told), (second, later) = warned(value), warned(value)
    assert first == second == RIGHT
    assert len(told) == 1 and "not kept" in told[0] and "DALEMBERT_CACHE" in told[0]
    assert not later


def test_a_sticky_folder_above_is_fine(home):
    """Like /tmp: others can write it, and cannot replace what is ours."""
    home.parent.chmod(0o1777)
    assert warned(value) == (PLANTED, [])


def test_a_link_of_ours_on_the_way_is_fine(home, monkeypatch):
    link = home.parent.parent / "link"
    link.symlink_to(home.parent)
    monkeypatch.setenv("DALEMBERT_CACHE", str(link / "cache"))
    assert warned(value) == (PLANTED, [])


@pytest.mark.parametrize("make", [os.mkfifo, lambda h: h.write_bytes(b"")], ids=["FIFO", "file"])
def test_what_is_no_folder_is_not_used(tmp_path, monkeypatch, make):
    make(tmp_path / "cache")
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    cache._told.clear()
    found, told = warned(value)
    assert found == RIGHT and len(told) == 1


LOAD = """
import sys
from pathlib import Path
import numpy as np
from dalembert.engine import cache, machine
from dalembert.engine.machine import PointMap
from dalembert.waist.stepmap import pointwise
from dalembert.symbolic import fast

made = lambda: PointMap(pointwise("cached", ["x"], [], {"y": 3 * fast("x")}))
made()
(entry,) = cache.folder().iterdir()
code = cache.fetch(entry.name)
cache.keep(entry.name, {"empty": b"", "cut off": code[:-100], "header": code[:64], "text": b"no object code"}[sys.argv[1]])
machine._function.cache_clear()
assert made()(np.array([[1.0]]), np.zeros((1, 0)))[0][0, 0] == 3
"""


def child(script, *words, **environment):
    surroundings = {**os.environ, **environment}
    kept = {k: v for k, v in surroundings.items() if v is not None}
    return subprocess.run(
        [sys.executable, "-c", script, *words], env=kept, timeout=120, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("content", ["empty", "cut off", "header", "text"])
def test_what_is_no_object_code_does_not_reach_the_loader(tmp_path, content):
    """In a process of its own: the loader does not survive it."""
    found = child(LOAD, content, DALEMBERT_CACHE=str(tmp_path / "cache"))
    assert found.returncode == 0, found.stderr[-500:]


def test_an_entry_is_valid_under_its_own_name_only(home, monkeypatch, tmp_path):
    """A file of the same user that was copied over another one."""
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "other"))
    (other,) = (tmp_path / "other").iterdir()
    entry_of(home).write_bytes(other.read_bytes())
    monkeypatch.setenv("DALEMBERT_CACHE", str(home))
    assert value() == RIGHT


@pytest.mark.parametrize("at", [0, 30, 60, 500, -1])
def test_a_changed_bit_is_noticed(home, at):
    content = bytearray(entry_of(home).read_bytes())
    content[at] ^= 1
    entry_of(home).write_bytes(content)
    assert value() == RIGHT


def test_the_folder_is_for_its_owner_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "a" / "b"))
    before = os.umask(0)
    try:
        assert warned(value) == (RIGHT, [])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE(entry_of(tmp_path / "a" / "b").stat().st_mode) == 0o600


def test_tilde_and_missing_homes(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DALEMBERT_CACHE", "~/kept")
    assert cache.folder() == tmp_path / "kept"
    monkeypatch.setenv("DALEMBERT_CACHE", "~nobody-of-that-name/kept")
    assert cache.folder() is None
    monkeypatch.delenv("DALEMBERT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.folder() == tmp_path / ".cache" / "dalembert"
    monkeypatch.setenv("HOME", str(tmp_path / "nonexistent"))  # as users of services have it: it is not made
    assert cache.folder() is None


NO_HOME = """
import os
os.environ.pop("HOME", None)
import pwd
def unknown(*_): raise KeyError
pwd.getpwuid = unknown
import dalembert as da
e = da.gallery.load("pendulum")
da.simulate(e.system, da.Midpoint(), h=0.01, steps=1, start=e.start, parameters=e.parameters)
"""


def test_no_home_is_no_error():
    found = child(NO_HOME, DALEMBERT_CACHE=None, XDG_CACHE_HOME=None)
    assert found.returncode == 0, found.stderr[-500:]


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import dalembert as da
from dalembert.engine import cache
e = da.gallery.load("pendulum")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
da.simulate(e.system, da.Midpoint(), h=0.01, steps=1, start=e.start, parameters=e.parameters)
assert cache.folder().is_dir() and not list(cache.folder().iterdir()), list(cache.folder().iterdir())
"""


def test_a_full_disk_is_no_error_and_leaves_nothing_behind(tmp_path):
    found = child(FULL, DALEMBERT_CACHE=str(tmp_path / "cache"))
    assert found.returncode == 0, found.stderr[-500:]


def test_the_size_is_bounded_and_the_longest_unused_go_first(tmp_path, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DALEMBERT_CACHE_SIZE", "1")
    names = [cache.key(str(k)) for k in range(12)]
    for k, name in enumerate(names[:9]):
        cache.keep(name, bytes(10**5))
        os.utime(tmp_path / "cache" / name, (k + 1, k + 1))
    assert cache.fetch(names[0]) == bytes(10**5)  # used now
    (tmp_path / "cache" / "notes.txt").write_bytes(bytes(10**6))  # not ours: neither counted nor removed
    for name in names[9:]:
        cache.keep(name, bytes(10**5))
    kept = {f.name for f in (tmp_path / "cache").iterdir()}
    assert {names[0], *names[9:], "notes.txt"} <= kept
    assert not {names[1], names[2]} & kept
    assert sum(f.stat().st_size for f in (tmp_path / "cache").iterdir() if len(f.name) == 64) <= 2**20


def test_an_entry_larger_than_the_bound_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DALEMBERT_CACHE_SIZE", "0.01")
    cache.keep(cache.key("a"), bytes(10**6))
    assert cache.fetch(cache.key("a")) is None


def test_what_killed_processes_left_is_removed(home):
    """A writer holds a lock on its file as long as it lives."""
    abandoned, written = home / f"{cache.TEMPORARY}1", home / f"{cache.TEMPORARY}2"
    abandoned.write_bytes(b"half")
    cache._room.clear()  # as in another process
    with written.open("wb") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        cache.keep(cache.key("something"), b"code")
        assert not abandoned.exists() and written.exists()
    cache._room.clear()
    cache.keep(cache.key("something"), b"code")
    assert not written.exists()


RACE = """
import numpy as np
from dalembert.engine import machine
from dalembert.engine.machine import PointMap
from dalembert.waist.stepmap import pointwise
from dalembert.symbolic import fast

for k in range(1, 21):
    made = PointMap(pointwise("cached", ["x"], [], {"y": k * fast("x")}))
    assert made(np.array([[1.0]]), np.zeros((1, 0)))[0][0, 0] == k
"""


def test_processes_that_race_for_one_cache(tmp_path):
    environment = {**os.environ, "DALEMBERT_CACHE": str(tmp_path / "cache")}
    racing = [subprocess.Popen([sys.executable, "-W", "error", "-c", RACE], env=environment) for _ in range(3)]
    assert [process.wait(120) for process in racing] == [0, 0, 0]
    assert all(len(f.name) == 64 for f in Path(tmp_path, "cache").iterdir())


def shown(capsys, *words):
    from dalembert.cli import main

    main(["cache", *words])
    return capsys.readouterr().out


def test_the_command_shows_and_clears_the_cache(home, capsys):
    """What is no entry stays; so does everything in a folder that is not trusted."""
    (home / "mine").write_text("kept")
    size = entry_of(home).stat().st_size
    assert f"{home}\n1 entries, {size / 2**20:.1f} of at most 256 MB" in shown(capsys)
    home.chmod(0o777)
    text, told = warned(lambda: shown(capsys, "--clear"))
    assert "removed: 0 entries" in text and "others can write it" in told[0]
    home.chmod(0o700)
    assert "removed: 1 entries" in shown(capsys, "--clear")
    assert [f.name for f in home.iterdir()] == ["mine"]
    assert "0 entries" in shown(capsys) and value() == RIGHT


def test_the_command_without_a_cache(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("DALEMBERT_CACHE", "")
    assert "compiled code is not kept" in shown(capsys)
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "none"))
    assert "0 entries" in shown(capsys, "--clear") and not (tmp_path / "none").exists()
