"""Attacks on compiled code: faults of the cache, odd names, odd arrays. Each must end in a right number or in words.

Run by docs/attack.py. `refused` is refused in words (an error of the library, or a warning of the cache and the right number);
`wrong` is a wrong number or a missing warning.
"""

from __future__ import annotations

import dataclasses
import math
import os
import random
import shutil
import socket
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sympy

import dalembert as da
from dalembert.engine import cache, machine
from dalembert.engine.arguments import Lanes
from dalembert.engine.kernels import STATUS_WIDTH
from dalembert.engine.machine import PointMap, Stepper
from dalembert.engine.run_options import Extent, Search
from dalembert.model.coordinates import Coordinate, Entropy, Parameter
from dalembert.run.plan import stepper
from dalembert.symbolic import fast
from dalembert.waist.stepmap import pointwise

sys.path.insert(0, str(Path(__file__).parent))
from watched import watched

# --- the cache -------------------------------------------------------------------------------------------------------------

STRANGER = 65533
"""A user who is somebody else; root can give files away."""


def _map(factor: int) -> PointMap:
    machine._function.cache_clear()
    return PointMap(pointwise("attacked", ["x"], [], {"y": factor * fast("x")}))


def _value(factor: int) -> float:
    return float(_map(factor)(np.array([[1.0]]), np.zeros((1, 0)))[0][0, 0])


def _planted(home: Path) -> Path:
    """A cache with one entry, valid but for its content: it computes 666 where 3 is asked for."""
    os.environ["DALEMBERT_CACHE"] = str(home)
    _map(3)
    (entry,) = home.iterdir()
    wrong = home.parent / "other"
    os.environ["DALEMBERT_CACHE"] = str(wrong)
    _map(666)
    code = cache.fetch(next(wrong.iterdir()).name)
    os.environ["DALEMBERT_CACHE"] = str(home)
    cache.keep(entry.name, code or b"")
    return entry


def _damaged(entry: Path, rng: random.Random) -> None:
    """Content that nobody wrote: cut off, changed, empty, something else."""
    content = bytearray(entry.read_bytes())
    kind = rng.randrange(6)
    if kind == 0:
        content = content[: rng.randrange(len(content))]
    elif kind == 1:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif kind == 2:
        content = bytearray(rng.randbytes(rng.randrange(2 * len(content))))
    elif kind == 3:
        content += rng.randbytes(1 + rng.randrange(99))
    elif kind == 4:
        begin = rng.randrange(len(content))
        content[begin : begin + rng.randrange(1, 999)] = rng.randbytes(rng.randrange(1, 999))
    else:
        content = bytearray()
    if bytes(content) == entry.read_bytes():
        content = bytearray()
    entry.write_bytes(content)


def _elsewhere(path: Path) -> Path:
    """Something moved out of the way, to be pointed at."""
    target = path.with_name(path.name + ".elsewhere")
    path.rename(target)
    return target


def _link(path: Path) -> None:
    path.symlink_to(_elsewhere(path))


def _file_faults() -> dict[str, Callable[[Path, random.Random], Any]]:
    faults: dict[str, Callable[[Path, random.Random], Any]] = {
        "writable": lambda e, rng: e.chmod(rng.choice([0o620, 0o602, 0o666, 0o777, 0o660])),
        "link": lambda e, rng: e.symlink_to(shutil.move(e, e.parent.parent / "moved")),
        "hard link": lambda e, rng: os.link(e, e.parent.parent / "second name"),
        "FIFO": lambda e, rng: (e.unlink(), os.mkfifo(e)),
        "socket": lambda e, rng: (e.unlink(), _socket(e)),
        "folder": lambda e, rng: (e.unlink(), e.mkdir()),
    }
    if os.geteuid() == 0:
        faults["owner"] = lambda e, rng: os.chown(e, STRANGER, -1)
    return faults


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the paths of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path.name)
    finally:
        os.chdir(here)


def _folder_faults() -> dict[str, Callable[[Path, random.Random], Any]]:
    faults: dict[str, Callable[[Path, random.Random], Any]] = {
        "writable folder": lambda h, rng: h.chmod(rng.choice([0o770, 0o702, 0o777, 0o1777, 0o720])),
        "link to a folder": lambda h, rng: _link(h),
        "replaceable": lambda h, rng: h.parent.chmod(rng.choice([0o777, 0o703, 0o707])),
        "file": lambda h, rng: (shutil.rmtree(h), h.write_bytes(b"")),
        "FIFO for a folder": lambda h, rng: (shutil.rmtree(h), os.mkfifo(h)),
    }
    if os.geteuid() == 0:
        faults["owner of the folder"] = lambda h, rng: os.chown(h, STRANGER, -1)
        faults["owner of the parent"] = lambda h, rng: os.chown(h.parent, STRANGER, -1)
    return faults


def _cache_case(rng: random.Random) -> str:
    """One fault of a cache whose entry computes something else, and one run: 3, with a warning unless it is mere damage."""
    with tempfile.TemporaryDirectory(prefix="attack-") as place:
        home = Path(place, "above", "cache")
        home.parent.mkdir(mode=0o700)
        entry = _planted(home)
        if _value(3) != 666:
            return "wrong"  # the control: what was planted is executed as long as it is trusted
        files, folders = _file_faults(), _folder_faults()
        fault = rng.choice(["damage", "damage", *files, *folders])
        if fault == "damage":
            _damaged(entry, rng)
        elif fault in files:
            files[fault](entry, rng)
        else:
            folders[fault](home, rng)
        cache._told.clear()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            right = _value(3) == 3 and _value(3) == 3
        told = [w for w in seen if w.category is RuntimeWarning]
        left = [f for f in home.iterdir() if f.name.startswith(cache.TEMPORARY)] if home.is_dir() else []
        if not right or left or len(told) != (fault != "damage"):
            print(f"  {fault}: right {right}, {len(told)} warnings, {len(left)} files left", file=sys.stderr)
            return "wrong"
        return "refused" if told else "right"


# --- names -----------------------------------------------------------------------------------------------------------------

WORDS = """
E I pi oo zoo nan NaN inf h step lambda S N Q O C x0 x1 x2 x10 sin cos tan Abs gamma exp log sqrt beta zeta Max Min Pow Add
Mul Piecewise True False None t T time lane energy records status carry run apply double i64 ptr v1 main GoldenRatio e i j k
EulerGamma Catalan self args class def if for import np numpy _ __ _x x_ x__1 s000 C1 C2 argument level multiplier dot
momentum at number Symbol Integer Float Function Dummy ImaginaryUnit alpha_12 exchanged_unknown
"""
ODD = [
    "", " ", "1", "1x", "a b", "a.b", "x.dot", "step.h", "multiplier.1", "number.1", "kink.0", "x.at(0)", "argument.0", "é",
    "θ", "ＡＢ", "x\n", "x\x00y", "mul(a, b)", "x;y", "'", '"', "%", "@", "x" * 3000, "__import__('os')", "\ud800",
]  # fmt: skip
ALPHABET = "abxyzEINOQS_019.() +*-θπ"


def _name(rng: random.Random) -> str:
    if rng.random() < 0.9:
        return rng.choice(WORDS.split())
    if rng.random() < 0.7:
        return rng.choice(ODD)
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(1, 5)))


def _made(role: str, name: str, rng: random.Random) -> Any:
    """A symbol by its maker or, behind its back, by its class."""
    classes = {"coordinates": Coordinate, "parameters": Parameter, "entropies": Entropy}
    if rng.random() < 0.7:
        made = getattr(da, role)(name)
        if isinstance(made, tuple):
            raise da.ModelError("several names")
        return made
    assumed = {"positive": True} if role == "parameters" and rng.random() < 0.5 else {}
    return classes[role](name, **assumed)


def _name_case(rng: random.Random) -> str:
    """Energy and acceleration of a small system, and one step of it, against formulas in plain Python."""
    names = [_name(rng) for _ in range(4)]
    try:
        x, y = (_made("coordinates", n, rng) for n in names[:2])
        a, b = (_made("parameters", n, rng) for n in names[2:])
        if a == b:
            return _name_case(rng)
        potential = a * x**2 * sympy.pi / 2 + b * sympy.exp(y) + x * sympy.sin(y)
        system = da.System("odd", [x, y], kinetic=(x.dot**2 + b * y.dot**2) / 2, potential=potential)
        state, numbers = {x: 0.3, y: 0.5, x.dot: 0.1, y.dot: -0.2}, {a: 1.25, b: 0.75}
        found = da.evaluate(system, at=state, parameters=numbers)
        run = da.simulate(system, da.StormerVerlet(), h=0.01, steps=1, start=state, parameters=numbers)
    except da.DalembertError as error:
        return "refused" if len(str(error)) > 10 else "wrong"
    force = [-1.25 * 0.3 * math.pi - math.sin(0.5), (-0.75 * math.exp(0.5) - 0.3 * math.cos(0.5)) / 0.75]
    energy = (0.01 + 0.75 * 0.04) / 2 + 1.25 * 0.045 * math.pi + 0.75 * math.exp(0.5) + 0.3 * math.sin(0.5)
    expected = [0.3 + 0.01 * 0.1 + 5e-5 * force[0], 0.5 - 0.01 * 0.2 + 5e-5 * force[1]]
    got = [found.energy, *found.accelerations.values(), run[x][-1], run[y][-1]]
    right = np.allclose(np.array(got, dtype=float), [energy, *force, *expected], rtol=1e-12, atol=0)
    if not right:
        print(f"  {names}: {got} instead of {[energy, *force, *expected]}", file=sys.stderr)
    return "right" if right else "wrong"


# --- arrays ----------------------------------------------------------------------------------------------------------------


def _array_odd(a: np.ndarray[Any, Any], others: list[Any], rng: random.Random) -> Any:
    """An array made odd: dtype, byte order, shape, layout, permission, kind, or another one's memory."""
    grown = tuple(max(0, n + rng.choice([-2, -1, 1, 2, 1000])) if rng.random() < 0.7 else n for n in a.shape)
    odd = [
        lambda: a.astype(
            rng.choice(["f2", "f4", "g", ">f8", "i4", "i8", "u8", "c16", "?", "O", "S8", "U8", ">i8", "i2"])
        ),
        lambda: (np.abs(np.nan_to_num(a)) * 1000).astype(rng.choice(["M8[s]", "m8[s]"])),
        lambda: np.zeros(grown, a.dtype) if grown != a.shape else a.copy(),
        lambda: np.zeros((*a.shape, rng.randrange(3)), a.dtype),
        a.ravel,
        lambda: a.T,
        lambda: np.asfortranarray(a),
        lambda: np.repeat(a, 2, axis=-1)[..., ::2],
        lambda: a[::-1],
        lambda: np.broadcast_to(a[:1], a.shape),
        lambda: _frozen(a.copy()),
        lambda: np.frombuffer(b"\0" + a.tobytes(), dtype=np.uint8)[1:].view(a.dtype).reshape(a.shape),
        lambda: np.ma.masked_less(a, rng.choice([0.0, 1e9])),
        lambda: a.view(np.recarray),
        lambda: rng.choice([None, 1.0, "abc", [], a.tolist(), memoryview(a), {}, np.float64(3), np.array(2.0)]),
        lambda: rng.choice(others),
        lambda: np.zeros((0, *a.shape[1:]), a.dtype),
    ]
    return rng.choice(odd)()


def _frozen(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    a.flags.writeable = False
    return a


COUNTS = ("begin", "steps", "every", "row", "max_iterations")


def _arguments(step: Stepper, lanes: int, rows: int) -> dict[str, Any]:
    n = len(step.stepmap.state)
    return {
        "carry": step.carry(np.linspace(0.1, 0.4, lanes * n).reshape(lanes, n)),
        "parameters": np.ones((lanes, len(step.stepmap.parameters))),
        "status": np.zeros((lanes, STATUS_WIDTH), dtype=np.int64),
        "residual": np.full(lanes, np.nan),
        "out": np.full((lanes, rows, step.width), np.nan),
        **{"begin": 0, "steps": rows - 1, "every": 1, "closing": True, "row": 0, "t0": 0.0, "h": 0.01},
        **{"tolerance": 1e-17, "max_iterations": 40},
    }


def _advance(step: Stepper, given: dict[str, Any]) -> None:
    lanes = Lanes(*(given[name] for name in ("carry", "parameters", "status", "residual")))
    extent = Extent(*(given[name] for name in ("t0", "h", "begin", "steps", "every")))
    search = Search(given["tolerance"], given["max_iterations"])
    step.advance(lanes, given["out"], extent, search, row=given["row"], closing=given["closing"])


def _run_case(rng: random.Random) -> str:
    """The time loop with one odd argument."""
    example = da.gallery.load("double-pendulum")
    step, lanes, rows = stepper(example.system, da.Midpoint()), rng.choice([1, 2, 5]), rng.choice([1, 4])
    right, odd = _arguments(step, lanes, rows), _arguments(step, lanes, rows)
    _advance(step, right)
    which = rng.choice(list(odd))
    if isinstance(odd[which], np.ndarray):
        others = [v for k, v in odd.items() if isinstance(v, np.ndarray) and k != which]
        odd[which] = _array_odd(odd[which], others, rng)
    elif which in COUNTS:
        odd[which] = rng.choice([-1, -(2**63), 2**63, 2**64, 2**70, 0, 7, 1.5, "3", None, True, np.int64(-5), 10**9])
    else:
        odd[which] = rng.choice([None, "1", 1j, [], math.nan, math.inf, 0])
    try:
        _advance(step, odd)
    except da.DalembertError as error:
        return "refused" if len(str(error)) > 10 else "wrong"
    written = np.asarray(odd["out"])[:, :rows]  # there may be more rows than are written
    same = np.array_equal(written, right["out"], equal_nan=True)
    return "right" if same or which in (*COUNTS, "t0", "h", "closing", "status", "carry", "tolerance") else "wrong"


def _map_case(rng: random.Random) -> str:
    """A map applied to points, with odd inputs or parameters: what is converted gives the same numbers."""
    apply = PointMap(
        pointwise("attacked", ["x", "y"], ["a", "b"], {"z": fast("x") * fast("a") + fast("y") * fast("b")})
    )
    points = rng.choice([0, 1, 3])
    given = [np.arange(2.0 * points).reshape(points, 2), np.array([[3.0, 5.0]] * rng.choice([1, max(points, 1)]))]
    which = rng.randrange(2)
    odd = list(given)
    odd[which] = _array_odd(given[which], [given[1 - which]], rng)
    try:
        found, status = apply(*odd)
    except da.DalembertError as error:
        return "refused" if len(str(error)) > 10 else "wrong"
    if status.any() or found.shape != (len(np.asarray(odd[0])), 1):
        return "wrong"
    inputs, rows = (np.asarray(o, dtype=float) for o in odd)
    return "right" if np.array_equal(found[:, 0], (inputs * rows).sum(axis=1)) else "wrong"


def _continued_case(rng: random.Random) -> str:
    """A run that is continued although something in it was made odd."""
    example = da.gallery.load("double-pendulum")
    run = da.simulate(
        example.system, da.Midpoint(), h=0.01, steps=2, start=example.start, parameters=example.parameters
    )
    others = [run.carry, run.codes, run.records]
    try:
        changed = dataclasses.replace(run, carry=_array_odd(run.carry, others, rng))
        again = da.simulate(example.system, da.Midpoint(), h=0.01, steps=2, start=changed)
    except da.DalembertError as error:
        return "refused" if len(str(error)) > 10 else "wrong"
    except (TypeError, AttributeError, ValueError, IndexError):
        return "right"  # nothing that a file can hold: refused by NumPy before it gets here
    return "right" if again.records.dtype == np.float64 else "wrong"


def _array_case(rng: random.Random) -> str:
    return rng.choice([_run_case, _run_case, _map_case, _continued_case])(rng)


# --- counting --------------------------------------------------------------------------------------------------------------


def _attacked(case: Callable[[random.Random], str], count: int, seed: int) -> Counter[str]:
    return watched(lambda number: case(random.Random(f"{case.__name__} {seed} {number}")), count)


def cache_faults(count: int, seed: int = 0) -> Counter[str]:
    """Caches with something wrong in them; planted code must not run, damaged code must not be loaded."""
    return _attacked(_cache_case, count, seed)


def odd_names(count: int, seed: int = 0) -> Counter[str]:
    """Coordinates and parameters with names that mean something elsewhere, or nothing at all."""
    return _attacked(_name_case, count, seed)


def odd_arrays(count: int, seed: int = 0) -> Counter[str]:
    """Arrays and numbers that compiled code must not see."""
    return _attacked(_array_case, count, seed)
