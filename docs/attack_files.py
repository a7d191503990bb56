"""Attacks on run files: damaged ones, hostile ones, and processes killed while they save.

Every case is made from a kind, a seed and its number, so that it can be made again: `case("mutated", 1, 17)`. Cases are
loaded in a child process with little memory, which is watched: one that takes longer than LIMIT seconds is hung.
"""

from __future__ import annotations

import functools
import io
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da
from dalembert.run import netcdf, saved

sys.path.insert(0, str(Path(__file__).parent))
import hostile_models  # noqa: E402

LIMIT = 10.0
"""Seconds after which a case is hung."""

MEMORY = 2**31
"""Bytes that a child may take beyond what it has at first."""

OUTCOMES = ("tried", "refused", "loaded", "wrong", "crashed", "hung")
JSON = ("method_options", "model", "columns", "parameters", "events", "renewed")

Contents = tuple[dict[str, Any], dict[str, netcdf.Variable]]
"""Attributes and arrays of a file."""


# files to begin with
def _runs() -> Iterator[Any]:
    x, y = da.coordinates("x y")
    m, g = da.parameters("m g", positive=True)
    ball = da.System("ball", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y)
    bounce = da.Event(y, action={y.dot: -0.8 * y.dot})
    start, numbers = {x: 0, y: [1, 2, 3], x.dot: 1, y.dot: 0}, {m: 1, g: [9, 10, 11]}
    yield da.simulate(ball, da.Midpoint(), h=0.1, steps=20, start=start, parameters=numbers, events=bounce)
    for name, method in (
        ("rolling-disk", da.Midpoint()),
        ("friction-heated-pendulum", da.Midpoint()),
        ("pendulum-cartesian", da.Rattle()),
        ("double-pendulum", da.Composition(da.Midpoint(), order=4)),
        ("pendulum", da.Reference()),
    ):
        example = da.gallery.load(name)
        yield da.simulate(example.system, method, h=0.02, steps=8, start=example.start, parameters=example.parameters)
    pendulum = da.gallery.load("pendulum")
    steps = da.discretise(pendulum.system, da.Galerkin(2))
    begin = {q.at(k): 0.1 * (k + 1) for q in pendulum.system.coordinates for k in (0, 1)}
    yield da.simulate(steps, h=0.1, steps=8, start=begin, parameters=pendulum.parameters)
    own = da.DiscreteSystem("steps", [x], lagrangian=m * (x.at(1) - x.at(0)) ** 2 / (2 * da.step))
    yield da.simulate(own, h=0.1, steps=5, start={x: 0, x.momentum: 1}, parameters={m: 2})


@functools.cache
def originals() -> list[bytes]:
    """Files of several kinds of runs, half of them in format 1."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for run in _runs():
            written = run.save(Path(folder) / "run.nc").read_bytes()
            found += [written, in_format_1(written)]
    return found


def contents(data: bytes) -> Contents:
    """What a file holds, to be changed."""
    with tempfile.TemporaryFile() as opened:
        opened.write(data)
        file = netcdf.File(opened)
        arrays = {}
        for name, place in file._places.items():
            axes = tuple(f"{name}.{i}" for i in range(len(place.shape)))
            arrays[name] = netcdf.Variable(axes, file.array(name, place.kind.str[1:], len(place.shape)))
        plain = saved._plain(file.attributes)
    return plain, {name: v for name, v in arrays.items() if name in saved.ARRAYS}


def signed(given: Contents) -> bytes:
    """The file, with the checksum that belongs to it."""
    attributes, arrays = given
    if "checksum" in attributes:
        attributes["checksum"] = saved.checksum(attributes, {name: v.data for name, v in arrays.items()})
    opened = io.BytesIO()
    netcdf.write(opened, attributes, arrays)
    return opened.getvalue()


def in_format_1(data: bytes) -> bytes:
    """The same file as the version before wrote it."""
    attributes, arrays = contents(data)
    del attributes["format"], attributes["checksum"]
    attributes |= {name: int(attributes[name]) for name in ("every", "first_step", "lanes")}
    steps = arrays["run.last_step"]
    arrays["run.last_step"] = netcdf.Variable(steps.axes[:1], np.ascontiguousarray(steps.data[:, 1]))
    return signed((attributes, arrays))


# damage
def _bytes(rng: random.Random, data: bytes) -> bytes:
    """Bytes changed, cut off, left out, moved or added."""
    raw = bytearray(data)
    head = rng.random() < 0.5
    end = min(len(raw), 3000) if head else len(raw)
    a, b = sorted(rng.randrange(end) for _ in range(2))
    kind = rng.randrange(7)
    if kind <= 1:
        for _ in range(rng.randint(1, 8)):
            raw[rng.randrange(end)] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
    elif kind == 2:
        del raw[a:]
    elif kind == 3:
        del raw[a:b]
    elif kind == 4:
        raw[a:b] = bytes(b - a)
    elif kind == 5:
        raw[a:a] = raw[a:b]
    else:
        at = 4 * rng.randrange(end // 4)
        raw[at : at + 4] = rng.choice([2**31 - 1, 2**31, 2**32 - 1, 0, 1, 2**24]).to_bytes(4, "big")
    return bytes(raw)


ODD: list[Any] = [
    None, True, False, -1, 0, 1, 2, 0.5, float("inf"), float("nan"), -(2**31), 2**31 + 10, 2**53 + 1, 2**63, 2**64, -(2**63), 10**400,
    "", "x", "energy", "\u03c0", "nan", "a" * 5000, [], {}, [[]], [None], {"x": 1}, ["sin", ["Coordinate", "x", {}]], [1, 1], [1, 0],
]  # fmt: skip


def _changed(rng: random.Random, data: Any) -> Any:
    """JSON data with one value somewhere replaced, left out, doubled or exchanged."""
    if not isinstance(data, list | dict) or not data or rng.random() < 0.15:
        return rng.choice(ODD)
    keys = list(data) if isinstance(data, dict) else list(range(len(data)))
    key, other = rng.choice(keys), rng.choice(keys)
    copy = data.copy()
    kind = rng.random()
    if kind < 0.75:
        copy[key] = _changed(rng, data[key])
    elif kind < 0.82:
        del copy[key]
    elif kind < 0.9:
        copy[key], copy[other] = copy[other], copy[key]
    elif isinstance(copy, list):
        copy += [copy[key]] * rng.choice([1, 1, 1000])
    else:
        copy[rng.choice(["x", "extra", ""])] = copy[key]
    return copy


def _attribute(rng: random.Random, data: bytes) -> bytes:
    """One attribute replaced."""
    attributes, arrays = contents(data)
    name = rng.choice(list(attributes)) if rng.random() < 0.4 else rng.choice(JSON)
    if rng.random() < 0.1:
        del attributes[name]
    elif name in JSON and rng.random() < 0.9:
        attributes[name] = json.dumps(_changed(rng, json.loads(attributes[name])))
    else:
        odd = rng.choice(ODD)
        small = isinstance(odd, float) or (isinstance(odd, int) and not isinstance(odd, bool) and abs(odd) < 2**31)
        attributes[name] = odd if isinstance(odd, str) or small else json.dumps(odd)
    return signed((attributes, arrays))


def _array(rng: random.Random, data: bytes) -> bytes:
    """One array with another type, shape, order or other values."""
    attributes, arrays = contents(data)
    name = rng.choice(list(arrays))
    values = arrays[name].data
    whole = values.dtype.kind == "i"
    changes: list[Callable[[], Any]] = [
        lambda: values.astype(rng.choice([np.int8, np.int16, np.int32, np.float32, np.float64])),
        lambda: values.reshape(-1),
        lambda: values[..., None],
        lambda: np.swapaxes(values, 0, -1).copy(),
        lambda: values[::-1].copy(),
        lambda: values[..., :-1].copy(),
        lambda: np.concatenate([values, values]),
        lambda: np.full_like(values, rng.choice([0, -1, 2**31 - 1, -(2**31), 99] if whole else [np.nan, np.inf, -1, 1e300, 0])),
        lambda: values.reshape((1,) * 9 + values.shape[:1] if values.ndim == 1 else values.shape[::-1]),
    ]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        new = rng.choice(changes)()
    if rng.random() < 0.2:
        new = values.copy()
        new.reshape(-1)[rng.randrange(new.size)] = rng.choice([7, -1, 2**30] if whole else [np.nan, np.inf, -1e300, 3.5])
    if rng.random() < 0.1:
        del arrays[name]
    else:
        arrays[name] = netcdf.Variable(tuple(f"{name}.{i}" for i in range(new.ndim)), new)
    return signed((attributes, arrays))


def mutated(rng: random.Random) -> tuple[bytes, bytes]:
    """A damaged file, and the file it was."""
    data = rng.choice(originals())
    change = rng.choice([_bytes, _attribute, _attribute, _array])
    return change(rng, data), data


# hostility
def _archive(rng: random.Random) -> bytes:
    """A header that promises more than there is, or the same twice."""
    data = bytearray(rng.choice(originals()))
    kind = rng.randrange(5)
    if kind == 0:  # some count of the header
        at = 4 * rng.randrange(200)
        data[at : at + 4] = rng.choice([2**31 - 1, 2**30, 2**20, 10, 11, 12]).to_bytes(4, "big")
        return bytes(data)
    if kind == 1:  # nothing but counts
        return b"CDF\x02" + b"".join(rng.choice([10, 11, 12, 2**31 - 1, 1, 0]).to_bytes(4, "big") for _ in range(rng.randint(1, 40)))
    if kind == 2:  # the list of variables twice as long, each of them twice
        attributes, arrays = contents(bytes(data))
        arrays |= {name + "#": v for name, v in arrays.items()}
        return signed((attributes, arrays)).replace(b"#\0", b"\0\0")
    attributes, arrays = contents(bytes(data))
    lanes = rng.choice([0, -5, 2, 2**31 - 1, 10**6])
    attributes["lanes"] = str(lanes) if "checksum" in attributes else lanes
    if kind == 3:
        rows = rng.choice([1, 2, 2000])
        carry = np.zeros((rows, rng.choice([1, 1000])))
        arrays["run.carry"] = netcdf.Variable(arrays["run.carry"].axes, carry)
    return signed((attributes, arrays))


def _method(rng: random.Random) -> bytes:
    """A method that is none, or takes long to make."""
    attributes, arrays = contents(rng.choice(originals()))
    inner: Any = {"method": rng.choice(["Midpoint", "Gauss", "eval", "System", ""]), "options": {}}
    choices: list[Any] = [
        {"method": "Gauss", "options": {"stages": rng.choice([10**9, -1, 2.0, "2", None, True, 10**400])}},
        {"method": "Composition", "options": {"method": inner, "coefficients": [1 / 10**4] * rng.choice([10, 199, 10**4])}},
        {"method": "Composition", "options": {"order": rng.choice([10**9, 4, "4", [4]])}},
        {"method": "Reference", "options": {"rtol": rng.choice([0, -1, 1e-10, "a", [1]])}},
        {"method": inner, "options": inner}, {"method": "Midpoint", "options": {"self": 1, "__class__": "x"}},
    ]  # fmt: skip
    method = rng.choice(choices)
    for _ in range(rng.choice([0, 0, 3, 200])):
        method = {"method": "Composition", "options": {"method": method, "order": 4}}
    attributes["method_options"] = json.dumps(method)
    return signed((attributes, arrays))


def _model(rng: random.Random) -> bytes:
    """A model that takes long to build, or is none."""
    attributes, arrays = contents(rng.choice(originals()[-4:]))
    if rng.random() < 0.35:
        attributes["model"] = hostile_models.hostile_steps(rng, json.loads(attributes["model"]))
    else:
        attributes["model"], attributes["model_kind"] = hostile_models.hostile_system(rng), "System"
        attributes["parameters"] = rng.choice(['{"m": 1.0}', '{"m": 1.0}', "{}"])
    return signed((attributes, arrays))


def hostile(rng: random.Random) -> tuple[bytes, None]:
    """A file made to do harm."""
    return rng.choice([_model, _model, _model, _model, _archive, _method])(rng), None


MAKERS: dict[str, Callable[[random.Random], tuple[bytes, bytes | None]]] = {"mutated": mutated, "hostile": hostile}


def case(kind: str, seed: int, number: int) -> tuple[bytes, bytes | None]:
    """One of the files, and the undamaged one that it must equal if it loads without being signed anew."""
    return MAKERS[kind](random.Random(f"{kind} {seed} {number}"))


# what happens
def outcome(data: bytes, original: bytes | None, path: Path) -> str:
    """Load a file and say how that went."""
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = da.load(path)
    except da.StartError as error:
        return "refused" if len(str(error)) < 2000 and str(path) in str(error) else "wrong"
    except BaseException:
        return "crashed"
    if b"checksum" in data and original is not None and data[:4] == original[:4]:
        path.write_bytes(original)
        same = equal(run, da.load(path))
        is_signed = netcdf.File(io.BytesIO(data)).attributes.get("checksum") != netcdf.File(io.BytesIO(original)).attributes.get("checksum")
        return "loaded" if same or (is_signed and consistent(run)) else "wrong"
    return "loaded" if consistent(run) else "wrong"


def equal(a: Any, b: Any) -> bool:
    """Whether two runs are the same, bit for bit."""
    pairs = [(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.name != "_cache"]
    return all(_same(u, v) for u, v in pairs)


def _same(u: Any, v: Any) -> bool:
    if isinstance(u, np.ndarray):
        return isinstance(v, np.ndarray) and u.dtype == v.dtype and u.shape == v.shape and u.tobytes() == v.tobytes()
    if isinstance(u, dict):
        return list(u) == list(v) and all(_same(np.asarray(u[k]), np.asarray(v[k])) for k in u)
    return bool(u == v)


def consistent(run: Any) -> bool:
    """Whether the parts of a run fit together, and it can be saved again."""
    lanes, times, width = run.records.shape
    shapes = run.carry.shape[0] == lanes and run.codes.shape == (lanes, 4) and run.residual.shape == (lanes,)
    names = {p.name for p in run.system.parameters} == set(run.parameters)
    sizes = all(np.shape(v) in ((), (run.lanes,)) for v in run.parameters.values())
    counts = run.every >= 1 and run.begin >= 0 and run.h > 0 and (run.codes[:, 1] >= run.begin).all()
    return bool(
        shapes and names and sizes and counts and run.time.shape == (times,) and len(run.columns) == width
        and (1 if run.lanes is None else run.lanes) == lanes and str(run.status) and repr(run)
        and da.run.storage._model(run.system)
    )  # fmt: skip


def _work(kind: str, seed: int, begin: int, step: int, count: int, at: Any, told: Any) -> None:
    """Cases begin, begin + step, ...: `at` says which one is being loaded, and when it began."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for number in range(begin, count, step):
            at[0], at[1] = number, 0.0
            data, original = case(kind, seed, number)
            at[1] = time.monotonic()
            told.send((number, outcome(data, original, Path(place) / "run.nc")))
    told.send(None)


def _watched(kind: str, count: int, seed: int, workers: int) -> tuple[Counter[str], list[tuple[int, str]]]:
    """All cases, in child processes that are replaced when one hangs or dies; and the cases that went wrong."""
    originals()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in originals():  # what loading compiles and imports is there before memory is limited
            with tempfile.NamedTemporaryFile(suffix=".nc") as file:
                file.write(data)
                file.flush()
                da.load(file.name)
    found: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
    bad: list[tuple[int, str]] = []
    context = multiprocessing.get_context("fork")
    running: dict[int, Any] = {}

    def begin(worker: int, number: int) -> None:
        at, (ours, theirs) = context.Array("d", [number, 0.0], lock=False), context.Pipe(False)
        child = context.Process(target=_work, args=(kind, seed, number, workers, count, at, theirs), daemon=True)
        child.start()
        theirs.close()
        running[worker] = child, at, ours

    def note(number: int, how: str) -> None:
        found["tried"] += 1
        found[how] += 1
        if how not in ("refused", "loaded"):
            bad.append((number, how))

    def end(worker: int, how: str) -> None:
        child, at, _ = running.pop(worker)
        child.kill()
        child.join()
        note(int(at[0]), how)
        begin(worker, int(at[0]) + workers)

    for worker in range(workers):
        begin(worker, worker)
    while running:
        for worker, (child, at, ours) in list(running.items()):
            try:
                if ours.poll(0.02):
                    while ours.poll():
                        result = ours.recv()
                        if result is None:
                            child.join()
                            del running[worker]
                            break
                        note(*result)
                elif at[1] and time.monotonic() - at[1] > LIMIT:
                    end(worker, "hung")
            except EOFError:
                end(worker, "crashed")
    return found, bad


def mutated_files(count: int, seed: int = 0, workers: int = 2) -> Counter[str]:
    """Damaged files: bytes, values in their texts, arrays."""
    return _watched("mutated", count, seed, workers)[0]


def hostile_files(count: int, seed: int = 0, workers: int = 2) -> Counter[str]:
    """Files made to exhaust time or memory, or to be executed."""
    return _watched("hostile", count, seed, workers)[0]


@contextmanager
def _saving(runs: list[Any], path: Path) -> Iterator[int]:
    """A child process that saves two runs in turn to one path, until it is killed."""
    child = os.fork()
    if child == 0:
        while True:
            for run in runs:
                run.save(path)
    try:
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def kills_while_saving(count: int, seed: int = 0) -> Counter[str]:
    """Processes killed while they save over a file: what is there must be the old run or the new one, whole."""
    rng, found = random.Random(seed), Counter(dict.fromkeys(OUTCOMES, 0))
    (x,) = (da.coordinates("x"),)
    system = da.System("oscillator", [x], kinetic=x.dot**2 / 2, potential=x**2 / 2)
    runs = [da.simulate(system, da.Midpoint(), h=0.1, steps=20_000, start={x: k, x.dot: 0}) for k in (1, 2)]
    for run in runs:
        run.dataset  # noqa: B018  (computed before, so that the child does nothing but save)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        runs[0].save(path)
        for _ in range(count):
            with _saving(runs, path):
                time.sleep(rng.random() * 0.03)
            found["tried"] += 1
            try:
                back = da.load(path)
                found["loaded" if any(equal(replace(back, system=run.system), run) for run in runs) else "wrong"] += 1
            except da.StartError:
                found["wrong"] += 1
    return found


if __name__ == "__main__":
    files, kills = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, 100
    for name, made in (("mutated", mutated_files), ("hostile", hostile_files)):
        began = time.monotonic()
        print(name, dict(made(files)), f"{time.monotonic() - began:.0f} s", flush=True)
    print("killed", dict(kills_while_saving(kills)))
