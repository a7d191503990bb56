"""Run files: saved whole or not at all, and refused in words if anything in them is wrong."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import stat
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import fields, replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import MethodError, ModelError, StartError

from .tools import told

DOCS = Path(__file__).parents[2] / "docs"
x, y = da.coordinates("x y")
OSCILLATOR = da.System("oscillator", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2)


@pytest.fixture(scope="module")
def attack():
    sys.path.insert(0, str(DOCS))
    import attack_files

    return attack_files


def oscillation(steps=5, amplitude=1, **options):
    return da.simulate(OSCILLATOR, da.Midpoint(), h=0.1, steps=steps, start={x: amplitude, x.dot: 0}, **options)


def same(a, b):
    for f in fields(a):
        if f.name != "_cache":
            u, v = vars(a)[f.name], vars(b)[f.name]
            assert np.array_equal(u, v, equal_nan=True) if isinstance(u, np.ndarray) else u == v, f.name
    return True


# saving
@pytest.mark.parametrize("name", ["run", "run.npz", "run.h5", "run.nc4", "run.NC", ".nc"])
def test_an_unknown_suffix(tmp_path, name):
    message = told(StartError, lambda: oscillation().save(tmp_path / name))
    assert message == (
        f"save: {tmp_path / name} has no known suffix. A run is a NetCDF file or a Zarr folder: .nc, .cdf, .netcdf, "
        f".zarr. For other programs run.save('run.csv') writes a table."
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["run.nc", "run.cdf", "run.netcdf"])
def test_known_suffixes(tmp_path, name):
    same(oscillation(), da.load(oscillation().save(tmp_path / name)))


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    old, path = oscillation(), tmp_path / "run.nc"
    old.save(path)

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    message = told(StartError, lambda: oscillation(9).save(path))
    assert message == f"save: {path} cannot be written: No space left on device."
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]
    same(old, da.load(path))


def test_an_interrupted_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    old, path = oscillation(), tmp_path / "run.nc"
    old.save(path)

    def interrupt(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        oscillation(9).save(path)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["run.nc"]
    same(old, da.load(path))


def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "run.nc", tmp_path / "link.nc"
    oscillation().save(path)
    first = path.stat().st_ino
    path.chmod(0o640)
    link.symlink_to(path)
    oscillation(9).save(link)
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.stat().st_ino != first  # it was replaced, not written over
    same(oscillation(9), da.load(path))


def test_a_folder_in_the_way(tmp_path):
    path = tmp_path / "run.nc"
    path.mkdir()
    message = told(StartError, lambda: oscillation().save(path))
    assert message == f"save: {path} is not a file that may be written. Save under another name."
    assert told(StartError, lambda: da.load(path)).startswith(f"load: {path} is not a file.")


def test_a_killed_process_leaves_a_whole_run(tmp_path):
    """Killed at 25 random moments while one run is saved over another, again and again."""
    runs = [oscillation(20_000, amplitude) for amplitude in (1, 2)]
    for run in runs:
        run.dataset  # noqa: B018
    path, rng = tmp_path / "run.nc", random.Random(1)
    runs[0].save(path)
    for _ in range(25):
        if (child := os.fork()) == 0:
            while True:
                for run in runs:
                    run.save(path)
        time.sleep(0.02 * rng.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        back = da.load(path)
        assert any(np.array_equal(back.records, run.records) for run in runs)


# what comes back
def test_step_counts_have_64_bits(tmp_path):
    for count in (2**31 + 10, 2**53 + 1, 2**61 + 7):
        run = oscillation()
        codes, every = run.codes.copy(), 2**33 + 1
        codes[:, 1] += count
        times = run.t0 + run.h * (every * (-(-count // every) + np.arange(len(run))))
        long = replace(run, begin=count, every=every, codes=codes, time=times)
        back = da.load(long.save(tmp_path / "run.nc"))
        assert back.begin == count and back.every == every
        assert np.array_equal(back.codes, codes) and back.codes.dtype == np.int64


AWKWARD = (
    "energy h records pi E I S N lambda oo status multipliers run constraint parameter carried column watch event every"
)


@pytest.mark.parametrize("name", AWKWARD.split())
def test_awkward_names(tmp_path, name):
    q, p = da.coordinates(f"{name} other")
    k = da.parameters("k")
    system = da.System(
        name, [q, p], kinetic=q.dot**2 + p.dot**2, potential=k * q**2 + sympy.cos(q * p), constraints=[q - p]
    )
    given = {"h": 0.1, "parameters": {k: 2}}
    first = da.simulate(system, da.Midpoint(), steps=3, start={q: 1, p: 1, q.dot: 0, p.dot: 0}, **given)
    whole = da.simulate(system, da.Midpoint(), steps=6, start={q: 1, p: 1, q.dot: 0, p.dot: 0}, **given)
    back = da.load(first.save(tmp_path / "run.nc"))
    assert same(first, back) and np.array_equal(back[q], first[q])
    on = da.simulate(back.system, back.method, steps=3, start=back, **given)
    assert np.array_equal(vars(on)["records"], vars(whole)["records"][:, 3:])


@pytest.mark.parametrize(
    "form",
    [
        lambda u, v: u * (v + 1) * 2,
        lambda u, v: sympy.factor(2 * u + 2 * v),
        lambda u, v: 2 ** sympy.Rational(1, 3) * u / v,
    ],
)
def test_expressions_come_back_as_they_are(form):
    """Also those that SymPy would write otherwise if it built them anew, such as 2*(x + y)."""
    from dalembert.model import serial

    system = da.System("forms", [x, y], kinetic=x.dot**2 + y.dot**2, potential=form(x, y) ** 2)
    back = serial.loads(serial.dumps(system))
    assert back == system and back.potential.args == system.potential.args


@pytest.mark.parametrize("version", [1, 2])
def test_files_of_earlier_versions_are_read(version):
    path = Path(__file__).parent / "files" / f"run_format_{version}.nc"
    back = da.load(path)
    m, g = da.parameters("m g", positive=True)
    ball = da.System("ball", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y)
    bounce = da.Event(y, action={y.dot: -0.8 * y.dot})
    start = {x: 0, y: [1, 0.1], x.dot: 1, y.dot: 0}
    run = da.simulate(ball, da.Midpoint(), h=0.1, steps=6, start=start, parameters={m: 1, g: [9, 10]}, events=bounce)
    assert back.system == ball and back.method == da.Midpoint() and back.lanes == 2
    assert np.allclose(back.records, run.records, equal_nan=True, rtol=1e-12) and len(back.events) == 4
    assert back.search == run.search  # which they do not say


def test_a_run_without_records(tmp_path):
    """Continued by fewer steps than `every`, it has none; it goes on from its file all the same."""
    begun = da.simulate(OSCILLATOR, da.Midpoint(), h=0.1, steps=5, start=oscillation(), every=100)
    assert len(begun) == 0
    back = da.load(begun.save(tmp_path / "run.nc"))
    assert same(begun, back) and back.records.shape == begun.records.shape
    on = da.simulate(OSCILLATOR, da.Midpoint(), h=0.1, steps=5, start=back)
    assert np.array_equal(on.records, oscillation(15).records[:, 10:])


def test_a_dataset_written_by_xarray_is_a_run(tmp_path):
    run, path = oscillation(), tmp_path / "run.nc"
    run.dataset.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")
    same(run, da.load(path))


def changed(attack, run, path, **attributes):
    """The file of a run with other attributes and the checksum that belongs to them."""
    import damaged_files as files

    given, arrays = files.contents(run.save(path).read_bytes())
    path.write_bytes(files.signed(({**given, **attributes}, arrays)))
    return path


def test_files_of_a_later_version_are_refused(attack, tmp_path):
    path = changed(attack, oscillation(), tmp_path / "run.nc", format="4", software="dalembert 9.0")
    assert told(StartError, lambda: da.load(path)) == (
        f"load: {path} has format 4, written by dalembert 9.0; this version reads formats up to 3. Install a newer "
        f"dalembert, or save the run there again in an older format."
    )


def test_damage_is_found_by_the_checksum(tmp_path):
    """One bit of one recorded number, which no other check could find."""
    path = oscillation().save(tmp_path / "run.nc")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    message = told(StartError, lambda: da.load(path))
    assert message.endswith(
        "is not a run saved by dalembert, or it is damaged: its contents do not match its checksum."
    )


X = ["Coordinate", "x", {}]
MANY = ["Add", *(["sin", ["Mul", [k, 1], X]] for k in range(1, 200_000))]
HARMFUL = {
    "a tower of powers": ["Pow", [10, 1], ["Pow", [10, 1], [10, 1]]],
    "a power of a product": ["Pow", ["Pow", ["Mul", [2, 1], X], [1000, 1]], [1000, 1]],
    "a large exponent": ["Pow", X, [10**9, 1]],
    "a factorial": ["gamma", [10**7, 1]],
    "its logarithm": ["loggamma", [10**7, 1]],
    "an exponential of a logarithm": ["exp", ["Mul", [10**12, 1], ["log", ["Mul", [2, 1], X]]]],
    "a floor of a large number": ["floor", ["exp", ["exp", ["exp", [100, 1]]]]],
    "a long sum": MANY,
    "like terms": ["Add", *(["Mul", [1, (1 << 900) + 2 * k + 1], X] for k in range(3000))],
    "a long integer": [1 << 5000, 1],
    "no denominator": [1, 0],
    "a decimal of a billion digits": ["Float", "1.5", 10**9],
    "a decimal that is infinite": ["Float", "1e999999999", 53],
    "kinks inside one another": ["Abs", ["Add", [1, 1], X]],
    "a text to be executed": ["eval", "1"],
    "a sine of a condition": ["sin", ["LessThan", X, [1, 1]]],
    "a contradiction": ["Parameter", "a", {"positive": True, "negative": True}],
    "an empty list": [],
    "a number": 1.5,
}
HARMFUL["powers of powers"] = ["Pow", ["Mul", [3, 1], X], ["Mul", [10**6, 1], X]]
for exponent in ([2, 1], [999, 1], [7, 2], X, X):
    HARMFUL["powers of powers"] = ["Pow", HARMFUL["powers of powers"], exponent]
HARMFUL["a product of many factors"] = ["Mul", *(["Add", X, [k, 1]] for k in range(1, 2000))]
for _ in range(20):
    HARMFUL["kinks inside one another"] = ["Abs", ["Add", [1, 1], HARMFUL["kinks inside one another"]]]


def _loading(path, answer):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            da.load(path)
        answer.send("loaded")
    except BaseException as error:
        answer.send(f"{type(error).__name__}: {error}"[:400])


def load_in_a_child(path, seconds=60):
    """What load says, in a process that is killed if it says nothing."""
    ours, theirs = get_context("fork").Pipe(False)
    child = get_context("fork").Process(target=_loading, args=(path, theirs))
    child.start()
    try:
        return ours.recv() if ours.poll(seconds) else "hung"
    finally:
        child.kill()
        child.join()


@pytest.mark.parametrize("place", ["potential", "constraint"])
@pytest.mark.parametrize("what", HARMFUL)
def test_a_harmful_expression_is_refused(what, place, tmp_path):
    """In a file as the version before wrote it, which has no checksum."""
    path = tmp_path / "run.nc"
    path.write_bytes(with_expression(HARMFUL[what], place))
    assert load_in_a_child(path).startswith(
        f"StartError: load: {path} is not a run saved by dalembert, or it is damaged: "
    )


def test_a_deeply_nested_file_is_refused(tmp_path):
    path = tmp_path / "run.nc"
    for depth in (200, 5000, 10**6):
        path.write_bytes(with_expression("[" * depth + "]" * depth, "potential", is_text=True))
        assert load_in_a_child(path).startswith("StartError: ")


def with_expression(e, place, is_text=False):
    """A file of format 1, in the model of which something else stands; written by SciPy."""
    import io

    from scipy.io import netcdf_file

    model = {
        "name": "harm",
        "coordinates": ["x"],
        "energies": {"kinetic": ["Pow", ["Velocity", "x.dot", {}], [2, 1]], "potential": "HERE"},
        "thermal": None,
        "forces": {"x": [0, 1]},
        "dissipation": [0, 1],
        "constraints": [],
        "variations": None,
    }
    if place == "constraint":
        model["energies"]["potential"], model["constraints"] = [0, 1], ["HERE"]
    text = json.dumps(model).replace('"HERE"', e if is_text else json.dumps(e))
    given = {
        "software": "dalembert 0.1.0",
        "method_options": '{"method": "Midpoint", "options": {}}',
        "h": 0.1,
        "every": 1,
        "t0": 0.0,
        "first_step": 0,
        "lanes": -1,
        "model": text.encode(),
        "model_kind": "System",
        "columns": '["x", "x.momentum"]',
        "parameters": "{}",
        "events": "[]",
        "renewed": "[]",
    }
    opened = io.BytesIO()
    with netcdf_file(opened, "w", version=2) as file:
        for name, value in given.items():
            setattr(file, name, value)
        for axis, size in {"time": 3, "run": 1, "carried": 3, "column": 2}.items():
            file.createDimension(axis, size)
        for name, kind, axes in (
            ("time", "d", ("time",)),
            ("status", "i", ("run",)),
            ("run.last_step", "i", ("run",)),
            ("run.iterations", "d", ("run",)),
            ("run.corrections", "d", ("run",)),
            ("run.residual", "d", ("run",)),
            ("run.carry", "d", ("run", "carried")),
            ("run.records", "d", ("run", "time", "column")),
        ):
            file.createVariable(name, kind, axes)[:] = 2 if name == "run.last_step" else 0
        file.variables["time"][:] = [0, 0.1, 0.2]
        file.flush()
        return opened.getvalue()


def test_the_same_file_with_a_harmless_expression_is_read(tmp_path):
    """So the ones above are refused for what stands in them."""
    path = tmp_path / "run.nc"
    path.write_bytes(with_expression(["sin", X], "potential"))
    assert load_in_a_child(path) == "loaded" and da.load(path).system.potential == sympy.sin(x)


FIELDS = {
    "lanes": ["0", "-5", "2", "99999999999", "x", 0.5],
    "every": ["0", "-1", "1e3", "9" * 30],
    "first_step": ["-1", "3"],
    "h": [0.0, -1.0, float("nan"), float("inf"), "1"],
    "t0": [float("nan"), "0"],
    "format": ["0", "-1", "two"],
    "columns": ["[]", '["x"]', '["x", "x"]', "{}", "null", '["x", 3]', '["a", "b"]'],
    "parameters": ['{"m": 1}', "[]", "null"],
    "renewed": ["[5]", "[true]", "{}"],
    "tolerance": [0.0, -1e-9, 0.5, float("nan"), "1"],
    "max_iterations": ["0", "-1", "x", 2.5],
    "events": ["[1]", "[{}]", "{}"],
    "method_options": [
        '{"method": "eval", "options": {}}',
        "[]",
        '{"method": "Gauss", "options": {"stages": 1000000000}}',
        "3",
    ],
    "model_kind": ["Trajectory", ""],
    "model": ["", "{}", "[]", "null", "NaN"],
}


@pytest.mark.parametrize("name", FIELDS)
def test_fields_that_are_wrong(attack, name, tmp_path):
    for value in FIELDS[name]:
        path = changed(attack, oscillation(), tmp_path / "run.nc", **{name: value})
        assert told(StartError, lambda path=path: da.load(path)).startswith(f"load: {path} is not a run"), value
    same(oscillation(), da.load(changed(attack, oscillation(), tmp_path / "run.nc")))  # the same without a change


def test_a_file_that_promises_more_than_it_has(tmp_path):
    """Four bytes of the header that say how much there is, all of them in turn, say 2**31 - 1."""
    path = oscillation().save(tmp_path / "run.nc")
    data = path.read_bytes()
    for at in range(4, 600, 4):
        path.write_bytes(data[:at] + (2**31 - 1).to_bytes(4, "big") + data[at + 4 :])
        with suppress(StartError):
            same(oscillation(), da.load(path))  # a text for people, for example


@pytest.mark.parametrize("kind", ["mutated", "hostile"])
def test_files_made_at_random(attack, kind):
    count = {"mutated": 400, "hostile": 60}[kind]
    found = getattr(attack, f"{kind}_files")(count, seed=11)
    assert found["tried"] == count and found["refused"] + found["loaded"] == count and found["refused"] > count / 2


def test_the_attack_sees_what_is_wrong(attack, monkeypatch, tmp_path):
    """A control: a load that lets an error through, or reads other numbers than there are, is seen."""
    data = attack.originals()[0]
    good, path = attack._loaded(data), tmp_path / "run.nc"
    assert attack.outcome(data, data, path) == "loaded"
    monkeypatch.setattr(attack.da, "load", lambda path: 1 / 0)
    assert attack.outcome(data, data, path) == "crashed"
    monkeypatch.setattr(attack.da, "load", lambda path: replace(good, records=good.records + 1))
    assert attack.outcome(data, data, path) == "wrong"


def test_the_attack_sees_what_hangs(attack, monkeypatch):
    """Another: one that never ends, and one that ends the process."""
    import watched

    monkeypatch.setattr(watched, "LIMIT", 0.1)
    for wait in (lambda *given: time.sleep(60), lambda *given: sum(iter(int, 1))):
        monkeypatch.setattr(attack, "outcome", wait)
        assert attack.mutated_files(2)["hung"] == 2
    monkeypatch.setattr(attack, "outcome", lambda *given: os._exit(3))
    assert attack.mutated_files(2)["crashed"] == 2


def test_a_model_that_cannot_be_read_back_cannot_be_saved(tmp_path):
    system = da.System("steep", [x], kinetic=x.dot**2 / 2, potential=x**2 + x**2000)
    from dalembert.model import serial

    assert (
        told(ModelError, lambda: serial.dumps(system)) == "an expression has an exponent of 2000; up to 1000 are read."
    )


# what is refused before a run
def test_a_run_that_does_not_fit_into_memory():
    start = {x: np.ones(1000), x.dot: 0}
    for method in (da.Midpoint(), da.Reference()):
        message = told(
            MethodError, lambda method=method: da.simulate(OSCILLATOR, method, h=0.1, steps=10**11, start=start)
        )
        assert message.startswith(
            "simulate: 1000 lanes x 100000000001 records of 2 numbers take 1.6 PB of memory, and "
        )
        assert "Record fewer steps: every=" in message
    message = told(MethodError, lambda: oscillation(10**13))
    assert message.startswith("simulate: 10000000000001 records of 2 numbers take 400 TB of memory")
    message = told(
        MethodError, lambda: da.simulate(OSCILLATOR, da.Midpoint(), h=0.1, steps=10**13, start=oscillation())
    )
    assert "Record fewer steps: every=" in message


def test_the_every_that_is_told_fits(monkeypatch):
    from dalembert.run import memory

    monkeypatch.setattr(memory, "available", lambda: 100_000)
    message = told(MethodError, lambda: oscillation(10_000))
    assert message == (
        "simulate: 10001 records of 2 numbers take 400 kB of memory, and 100 kB are free. Record fewer steps: every=9 fits."
    )
    assert len(oscillation(10_000, every=9)) == 1112
    with pytest.raises(MethodError, match=r"are free\. Not even a few records fit: take fewer lanes at a time\."):
        da.simulate(OSCILLATOR, da.Midpoint(), h=0.1, steps=10, start={x: np.ones(20_000), x.dot: 0})


# messages
def test_long_lines_of_messages_are_cut_with_their_size_told():
    long = sympy.Add(*(sympy.sin(k * x) for k in range(300))) + sympy.Symbol("q")
    message = told(ModelError, lambda: da.System("long", [x], kinetic=x.dot**2 / 2, potential=long))
    assert len(message) < 2200 and "characters left out" in message
    assert message.startswith("potential: unknown symbol q in q + sin(x) + sin(2*x)")
    assert message.endswith('If it is a constant, make it with q = dalembert.parameters("q"). Known here: t, x, x.dot.')
    numbers = told(StartError, lambda: oscillation(parameters=list(range(10_000))))
    assert len(numbers) < 2200 and "(58890 characters)" in numbers
    with pytest.warns(da.ModelWarning) as caught:
        warnings.warn("a" * 14_831, da.ModelWarning, stacklevel=1)
    assert str(caught[0].message) == "a" * 1333 + " ... (12,998 of 14,831 characters left out) ... " + "a" * 500
    assert str(ModelError("a" * 2000)) == "a" * 2000


def in_a_file(attack, potential, tmp_path):
    """The path of a run file whose system has another potential energy, as packed data."""
    run = oscillation()
    model = json.loads(run.dataset.attrs["model"])
    model["energies"]["potential"] = potential
    return changed(attack, run, tmp_path / "run.nc", model=json.dumps(model))


@pytest.mark.parametrize(
    "exponent", [(0.2345678901234567).hex(), [2345678901234567, 10**16]], ids=["decimal", "fraction"]
)
def test_a_number_to_a_power_with_many_digits(attack, exponent, tmp_path):
    """12**(p/q) is evaluated by way of 2**(2*p % q)."""
    position = ["Coordinate", "x", {}]
    for base in ([12, 1], ["Mul", [12, 1], position]):
        potential = ["Mul", ["Pow", base, exponent], ["Pow", position, [2, 1]]]
        message = told(StartError, lambda given=potential: da.load(in_a_file(attack, given, tmp_path)))
        assert "a number to a power with so many digits" in message
    da.load(in_a_file(attack, ["Mul", ["Pow", [12, 1], [1, 3]], ["Pow", position, [2, 1]]], tmp_path))
    da.load(in_a_file(attack, ["Pow", ["Add", [3, 1], ["Pow", position, [2, 1]]], exponent], tmp_path))


def test_messages_do_not_print_long_expressions():
    """SymPy takes minutes to sort the terms of such a sum."""
    long = sympy.Add(*(sympy.sin(k * x) for k in range(1, 3000)), evaluate=False)
    began = time.process_time()
    message = told(ModelError, lambda: da.System("s", [x, y], kinetic=x.dot**2, potential=long + sympy.Symbol("q")))
    assert "q in <Add of more than 2000 parts>" in message
    assert "<list of more than 2000 parts>" in da.errors.told([long])
    assert time.process_time() - began < 5
