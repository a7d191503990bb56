"""Run files that are damaged or made to do harm.

Every one is made from a kind, a seed and its number, so that it can be made again: `case("mutated", 1, 17)`.
"""

from __future__ import annotations

import functools
import io
import json
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da
from dalembert.run import netcdf
from dalembert.run import run_file as saved

sys.path.insert(0, str(Path(__file__).parent))
import hostile_models

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
    attributes, arrays = _contents(data)
    return attributes.copy(), arrays.copy()


@functools.lru_cache(maxsize=64)
def _contents(data: bytes) -> Contents:
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
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    0.5,
    float("inf"),
    float("nan"),
    -(2**31),
    2**31 + 10,
    2**53 + 1,
    2**63,
    2**64,
    -(2**63),
    10**400,
    "",
    "x",
    "energy",
    "\u03c0",
    "nan",
    "a" * 5000,
    [],
    {},
    [[]],
    [None],
    {"x": 1},
    ["sin", ["Coordinate", "x", {}]],
    [1, 1],
    [1, 0],
]


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
        values[::-1].copy,
        values[..., :-1].copy,
        lambda: np.concatenate([values, values]),
        lambda: np.full_like(
            values, rng.choice([0, -1, 2**31 - 1, -(2**31), 99] if whole else [np.nan, np.inf, -1, 1e300, 0])
        ),
        lambda: values.reshape((1,) * 9 + values.shape[:1] if values.ndim == 1 else values.shape[::-1]),
    ]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        new = rng.choice(changes)()
    if rng.random() < 0.2:
        new = values.copy()
        new.reshape(-1)[rng.randrange(new.size)] = rng.choice(
            [7, -1, 2**30] if whole else [np.nan, np.inf, -1e300, 3.5]
        )
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
        return b"CDF\x02" + b"".join(
            rng.choice([10, 11, 12, 2**31 - 1, 1, 0]).to_bytes(4, "big") for _ in range(rng.randint(1, 40))
        )
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
        {
            "method": "Composition",
            "options": {"method": inner, "coefficients": [1 / 10**4] * rng.choice([10, 199, 10**4])},
        },
        {"method": "Composition", "options": {"order": rng.choice([10**9, 4, "4", [4]])}},
        {"method": "Reference", "options": {"rtol": rng.choice([0, -1, 1e-10, "a", [1]])}},
        {"method": inner, "options": inner},
        {"method": "Midpoint", "options": {"self": 1, "__class__": "x"}},
    ]
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
