"""Compiled code reads and writes memory by address: what it is handed is what it takes it for, or it is not called.

The first tests run in processes of their own, which must survive.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import dalembert as da
from dalembert.engine.arguments import Lanes
from dalembert.engine.kernels import STATUS_WIDTH
from dalembert.engine.machine import PointMap
from dalembert.engine.run_options import Extent, Search
from dalembert.methods import Method
from dalembert.run.plan import stepper
from dalembert.symbolic import fast
from dalembert.waist.stepmap import Block, StepMap, pointwise

from .tools import table, told

LANES, ROWS = 3, 5
EXAMPLE = da.gallery.load("double-pendulum")


def arguments(**changed):
    step = stepper(EXAMPLE.system, da.Midpoint())
    n = len(step.stepmap.state)
    return {
        "carry": step.carry(np.linspace(0.1, 0.4, LANES * n).reshape(LANES, n)),
        "parameters": np.ones((LANES, len(step.stepmap.parameters))),
        "status": np.zeros((LANES, STATUS_WIDTH), dtype=np.int64),
        "residual": np.full(LANES, np.nan),
        "out": np.full((LANES, ROWS, step.width), np.nan),
        **{"begin": 0, "steps": ROWS - 1, "every": 1, "closing": True, "row": 0, "t0": 0.0, "h": 0.01},
        **{"tolerance": 1e-17, "max_iterations": 40},
        **changed,
    }


def advance(**changed):
    given = arguments()
    given |= {name: change(given) if callable(change) else change for name, change in changed.items()}
    lanes = Lanes(*(given[name] for name in ("carry", "parameters", "status", "residual")))
    extent = Extent(*(given[name] for name in ("t0", "h", "begin", "steps", "every")))
    search = Search(given["tolerance"], given["max_iterations"])
    step = stepper(EXAMPLE.system, da.Midpoint())
    step.advance(lanes, given["out"], extent, search, row=given["row"], closing=given["closing"])
    return given


SURVIVES = """
import numpy as np
import dalembert as da
from tests.errors.test_compiled_memory import advance
try:
    advance({})
except da.DalembertError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "change",
    [
        "carry=lambda g: g['carry'].astype(object)",
        "carry=lambda g: g['carry'].astype(np.float16)",
        "carry=np.zeros((2_000_000, 3))",
        "parameters=np.zeros((3, 0))",
        "out=lambda g: np.zeros((3, 5, 0))",
        "status=np.zeros(0, dtype=np.int64)",
        "every=0",
        "row=10**9",
        "steps=10**7",
    ],
)
def test_a_process_survives(change):
    words = [sys.executable, "-c", SURVIVES.format(change)]
    found = subprocess.run(words, timeout=120, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr[-500:]
    assert "Expected" in found.stdout or "do not fit" in found.stdout


def test_control_what_is_right_is_computed():
    given = advance()
    assert np.isfinite(given["out"]).all() and not given["status"][:, 0].any()


def _misaligned(a):
    return np.frombuffer(bytearray(a.nbytes + 1), dtype=np.uint8)[1:].view(a.dtype).reshape(a.shape)


def _frozen(a):
    a.flags.writeable = False
    return a


ARRAYS = ("carry", "parameters", "status", "residual", "out")
ODD = {
    "dtype": lambda a: a.astype(np.float32),
    "byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "complex": lambda a: a.astype(complex),
    "one row more": lambda a: np.concatenate([a, a[:1]]),
    "one row less": lambda a: a[1:].copy(),
    "one axis more": lambda a: a[..., None].copy(),
    "every other": lambda a: np.repeat(a, 2, axis=0)[::2],
    "masked": np.ma.masked_array,
    "misaligned": _misaligned,
    "list": lambda a: a.tolist(),
    "nothing": lambda a: None,
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ARRAYS)
def test_odd_arrays_are_refused_in_words(name, odd):
    message = told(da.StartError, lambda: advance(**{name: lambda g: ODD[odd](g[name])}))
    assert "Expected" in message


@pytest.mark.parametrize("name", [a for a in ARRAYS if a != "parameters"])
def test_what_is_written_must_be_writable(name):
    assert "writable" in told(da.StartError, lambda: advance(**{name: lambda g: _frozen(g[name])}))


def test_parameters_are_only_read():
    given = advance(parameters=lambda g: _frozen(g["parameters"]))
    assert np.array_equal(given["out"], advance()["out"])


def test_what_is_written_overlaps_nothing():
    def shared(g):
        return g["carry"].reshape(-1)[:LANES]

    assert "overlap" in told(da.StartError, lambda: advance(residual=shared))


@pytest.mark.parametrize("name", ["begin", "steps", "every", "row"])
@pytest.mark.parametrize("number", [-1, 2**63, 2**70, 1.5, "1", None, True])
def test_odd_numbers_are_refused_in_words(name, number):
    assert f"{name} = {number!r}" in told(da.StartError, lambda: advance(**{name: number}))


@pytest.mark.parametrize(("every", "steps", "closing", "rows"), [(1, 4, True, 5), (2, 4, True, 3), (3, 4, False, 2)])
def test_records_just_fit(every, steps, closing, rows):
    """One row less than what is recorded is refused; that many are written to the last."""
    step = stepper(EXAMPLE.system, da.Midpoint())
    out = np.full((LANES, rows, step.width), np.nan)
    advance(out=out, every=every, steps=steps, closing=closing)
    assert np.isfinite(out).all()
    short = out[:, 1:].copy()
    assert "do not fit" in told(da.StartError, lambda: advance(out=short, every=every, steps=steps, closing=closing))


MAP = PointMap(pointwise("map", ["x", "y"], ["a", "b"], {"z": fast("x") * fast("a") + fast("y") * fast("b")}))
POINTS, NUMBERS = np.arange(6.0).reshape(3, 2), np.array([[3.0, 5.0]])


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", "i4", "u1", "g"])
def test_maps_convert_real_numbers(dtype):
    found, status = MAP(POINTS.astype(dtype), NUMBERS.astype(dtype))
    assert np.array_equal(found[:, 0], POINTS @ NUMBERS[0]) and not status.any()


@table(
    ("text", lambda: MAP(POINTS.astype("U8"), NUMBERS), "inputs"),
    ("objects", lambda: MAP(POINTS.astype(object), NUMBERS), "inputs"),
    ("complex", lambda: MAP(POINTS, NUMBERS + 0j), "parameters"),
    ("dates", lambda: MAP(POINTS.astype("M8[s]"), NUMBERS), "inputs"),
    ("masked", lambda: MAP(np.ma.masked_less(POINTS, 2.0), NUMBERS), "masked"),
    ("one axis", lambda: MAP(POINTS[0], NUMBERS), "inputs"),
    ("too few columns", lambda: MAP(POINTS[:, :1], NUMBERS), "inputs"),
    ("too few parameters", lambda: MAP(POINTS, NUMBERS[:, :1]), "parameters"),
    ("two rows for three points", lambda: MAP(POINTS, np.repeat(NUMBERS, 2, axis=0)), "parameters"),
    ("rows of different lengths", lambda: MAP([[1.0], [1.0, 2.0]], NUMBERS), "inputs"),
    ("a step in words", lambda: MAP(POINTS, NUMBERS, h="1"), "h = '1'"),
)
def test_maps_refuse_the_rest_in_words(call, message):
    assert message in told(da.StartError, call)


class _WithExtraParameters(Method):
    """A method whose step has more parameters than the system, or has them in another order."""

    name, order, carries = "extra", 1, "momentum"

    def __init__(self, *names):
        self.names = names

    def step_map(self, system):
        p, q = system.coordinates[0].momentum.name, system.coordinates[0].name
        update = fast(q) + fast("step.h") * sum(fast(n) for n in self.names)
        return StepMap("extra", (q, p), self.names, (), (update, fast(p)))


@pytest.mark.parametrize("names", [("a", "b", "c", "d"), ("b", "a"), ("a",)])
def test_the_parameters_of_a_step_are_those_of_the_system(names):
    x = da.coordinates("x")
    a, b = da.parameters("a b")
    system = da.System("line", [x], kinetic=a * x.dot**2 / 2, potential=b * x)

    def run():
        da.simulate(
            system, _WithExtraParameters(*names), h=0.1, steps=1, start={x: 0, x.dot: 1}, parameters={a: 1, b: 2}
        )

    assert "has the parameters" in told(da.MethodError, run)


@table(
    ("twice in the state", lambda: StepMap("s", ("x", "x"), (), (), (fast("x"), fast("x"))), "name x"),
    ("state and parameter", lambda: StepMap("s", ("x",), ("x",), (), (fast("x"),)), "name x"),
    ("the step", lambda: StepMap("s", ("step.h",), (), (), (fast("step.h"),)), "name step.h"),
    ("time is no parameter", lambda: StepMap("s", ("x",), ("t", "t"), (), (fast("x"),)), "name t"),
    ("unknown and state", lambda: StepMap("s", ("x",), (), (Block(("x",), (fast("x"),)),), (fast("x"),)), "name x"),
    ("no substeps", lambda: StepMap("s", ("x",), (), (), (fast("x"),), substeps=()), "substeps"),
    ("substep", lambda: StepMap("s", ("x",), (), (), (fast("x"),), substeps=(float("nan"),)), "substeps"),
)
def test_a_name_of_a_step_stands_for_one_thing(call, message):
    assert message in told(ValueError, call)
