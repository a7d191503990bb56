"""Ensembles on a GPU: steps per second beside the targets, other precisions, JAX in the same run, time to the first step.

python benchmarks/gpu.py            prints every figure; it needs a GPU, CuPy and, for the comparison, JAX with CUDA
python benchmarks/gpu.py cpu        the same with few lanes on the processor, to try the script: its figures mean nothing
python benchmarks/gpu.py kernel dp double    one launch of a case, for a profiler
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from common import Table
from thermal_step import pendulum as links_that_rub

import dalembert as da
from dalembert.engine.arguments import Lanes
from dalembert.engine.machine import Stepper
from dalembert.engine.run_options import COARSE, EXACT, Extent
from dalembert.symbolic import fast
from dalembert.waist.stepmap import STEP, StepMap

DEVICE = "cpu" if "cpu" in sys.argv[1:] else "cuda"
SMALL = DEVICE == "cpu"
LANES = 2_000 if SMALL else 1 << 20
STEPS = 20 if SMALL else 1_000
REPETITIONS = 3
FIRST = "import time; t = time.perf_counter(); import dalembert as da; e = da.gallery.load('double-pendulum'); "
FIRST += "da.simulate(e.system, da.Midpoint(), h=e.h, steps=1, start=e.start, parameters=e.parameters, device={!r}); "
FIRST += "print(time.perf_counter() - t)"


@dataclass(frozen=True)
class Case:
    """Lanes of a step: their carry at the start, their parameters, and how many they are."""

    name: str
    step: StepMap
    carry: np.ndarray
    rows: np.ndarray
    h: float

    def speed(self, precision: str = "double", steps: int = STEPS, repetitions: int = REPETITIONS) -> float:
        """Steps of all lanes per second, the arrays being on the device; the best of some repetitions."""
        stepper = Stepper(self.step, DEVICE if precision == "double" or SMALL else f"{DEVICE} {precision}")
        search = EXACT if precision == "double" else COARSE
        out, best = np.full((len(self.carry), 1, stepper.width), np.nan), np.inf
        for _ in range(repetitions + 1):
            lanes = Lanes.begun(self.carry.copy(), self.rows)
            with stepper.kept(lanes):
                finished()
                began = perf_counter()
                stepper.advance(lanes, out, Extent(0.0, self.h, 1, steps, 10**9), search)
                finished()
                best = min(best, perf_counter() - began)
            if lanes.status[:, 0].any():
                raise RuntimeError(f"{self.name}, {precision}: {int((lanes.status[:, 0] != 0).sum())} lanes failed")
        return len(self.carry) * steps / best


def finished() -> None:
    """Wait until the GPU has nothing more to do: a call returns before its kernel ends."""
    if not SMALL:
        import cupy

        cupy.cuda.runtime.deviceSynchronize()


def of_gallery(name: str, method: Any, lanes: int = LANES, **options: int) -> Case:
    """Lanes of a system of the gallery, which differ in the first parameter."""
    e = da.gallery.load(name, **options)
    first = next(iter(e.parameters))
    near = float(e.parameters[first]) * np.linspace(1, 1.1, lanes)
    return of_system(e.system, method, e.h, e.start, {**e.parameters, first: near}, lanes)


def of_system(system: Any, method: Any, h: float, start: Any, parameters: Mapping[Any, Any], lanes: int) -> Case:
    """Lanes of a system at its start."""
    begun = da.simulate(system, method, h=h, steps=0, start=start, parameters=parameters)
    columns = [np.broadcast_to(np.asarray(parameters[p], dtype=float), lanes) for p in system.parameters]
    rows = np.ascontiguousarray(np.array(columns).T) if columns else np.zeros((lanes, 0))
    return Case(system.name, method.step_map(system), begun.carry, rows, h)


def warming(thermal: bool, lanes: int = LANES) -> Case:
    """Two links whose joints rub and warm a body; or the same with one coordinate more in place of the entropy."""
    system = links_that_rub(2, True)[0 if thermal else 1]
    first, *others = system.coordinates
    start = {first: np.linspace(0.8, 0.9, lanes), first.dot: 0.1}
    start |= dict.fromkeys(others, 0.5) | {c.dot: 0.1 for c in others} | dict.fromkeys(system.entropies, 0.1)
    return of_system(system, da.Midpoint(), 0.01, start, {}, lanes)


def lorenz(lanes: int) -> Case:
    """Lorenz's equations by RK4, sigma = 10, b = 8/3, r from lane to lane: as MPGOS is measured."""
    h, sigma, r, b = fast(STEP), *map(fast, ("sigma", "r", "b"))
    start = [fast(n) for n in "xyz"]

    def rate(s: list[Any]) -> list[Any]:
        x, y, z = s
        return [sigma * (y - x), x * (r - z) - y, x * y - b * z]

    def moved(k: list[Any], part: Any) -> list[Any]:
        return [s + part * h * v for s, v in zip(start, k, strict=True)]

    k = [rate(start)]
    for part in (fast(1) / 2, fast(1) / 2, fast(1)):
        k.append(rate(moved(k[-1], part)))
    after = [s + h * (a + 2 * b + 2 * c + d) / 6 for s, a, b, c, d in zip(start, *k, strict=True)]
    step = StepMap("Lorenz by RK4", ("x", "y", "z"), ("sigma", "r", "b"), (), tuple(after))
    carry = np.zeros((lanes, len(Stepper(step).carry(np.zeros((1, 3)))[0])))
    carry[:, :3] = 10.0
    rows = np.column_stack([np.full(lanes, 10.0), np.linspace(0, 21, lanes), np.full(lanes, 8 / 3)])
    return Case("Lorenz", step, carry, rows, 0.01)


def of_jax(lanes: int, steps: int) -> float | None:
    """Steps per second of the midpoint rule for the double pendulum by vmap in JAX, doubles, three Newton iterations."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    h, g = 0.01, 9.81

    def rate(s: Any) -> Any:  # equal masses and lengths of 1
        a, b, p, q = s
        c, sine = jnp.cos(a - b), jnp.sin(a - b)
        under = 1 + sine**2
        u, v = (p - q * c) / under, (2 * q - p * c) / under
        force = u * v * sine
        return jnp.array([u, v, -force - 2 * g * jnp.sin(a), force - g * jnp.sin(b)])

    def step(s: Any, _: Any) -> Any:
        middle = s + h / 2 * rate(s)
        for _i in range(3):
            left = middle - s - h / 2 * rate(middle)
            middle = middle - jnp.linalg.solve(jnp.eye(4) - h / 2 * jax.jacfwd(rate)(middle), left)
        return 2 * middle - s, None

    advance = jax.jit(jax.vmap(lambda s: jax.lax.scan(step, s, None, length=steps)[0]))
    start = jnp.stack([jnp.linspace(0.1, 1, lanes), jnp.zeros(lanes), jnp.zeros(lanes), jnp.zeros(lanes)], axis=1)
    advance(start).block_until_ready()
    began = perf_counter()
    advance(start).block_until_ready()
    return lanes * steps / (perf_counter() - began)


def impacts() -> float:
    """Steps per second of balls that bounce: events that act, found on the processor between calls of the device."""
    x = da.coordinates("x")
    ball = da.System("ball", [x], kinetic=x.dot**2 / 2, potential=x * 981 / 100)
    lanes, steps = 200 if SMALL else 5_000, 200
    bounce = da.Event(x, direction=-1, action={x.dot: -x.dot * 9 / 10})
    given = {"h": 0.01, "start": {x: np.linspace(1, 2, lanes), x.dot: 0.0}, "events": bounce, "every": steps}
    da.simulate(ball, da.StormerVerlet(), steps=2, device=DEVICE, **given | {"every": 1})
    began = perf_counter()
    da.simulate(ball, da.StormerVerlet(), steps=steps, device=DEVICE, **given)
    return lanes * steps / (perf_counter() - began)


def first_step() -> float:
    """Seconds from the start of Python's imports to the end of the first step, its kernel compiled anew.

    Modules are compiled to bytecode by a first run, as they are where packages were installed in the usual way.
    """
    command = [sys.executable, "-c", FIRST.format(DEVICE)]
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "DALEMBERT_CACHE": "", "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        runs = [subprocess.run(command, capture_output=True, text=True, check=True, env=environment) for _ in range(4)]
    return min(float(run.stdout) for run in runs[1:])


def at_least(value: float, target: float) -> list[str]:
    """A figure with its target and verdict."""
    return [f"{value:.3g}", f"at least {target:.3g}", "yes" if value >= target else "no"]


def at_most(value: float, target: float) -> list[str]:
    return [f"{value:.2f}", f"at most {target:g}", "yes" if value <= target else "no"]


def jax_version() -> str:
    """The version of JAX, if it is installed."""
    return version("jax") if find_spec("jax") else "is missing"


def device_name() -> str:
    """The name of the GPU."""
    if SMALL:
        return "processor: the figures mean nothing"
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


def rows() -> list[list[str]]:
    """Every figure, each printed as soon as it is known."""
    found: list[list[str]] = []

    def add(name: str, measured: Callable[[], list[str]]) -> None:
        try:
            found.append([name, *measured()])
        except Exception as error:
            found.append([name, f"{type(error).__name__}: {str(error)[:80]}", "", "failed"])
        print(" | ".join(found[-1]), flush=True)

    speeds: dict[str, float] = {}

    def kept(name: str, value: float) -> float:
        speeds[name] = value
        return value

    pendulum = of_gallery("double-pendulum", da.Midpoint())
    add("double pendulum, Midpoint, double, steps/s", lambda: at_least(kept("dp", pendulum.speed()), 1.4e10))
    for precision in ("single", "mixed"):
        add(f"the same, {precision}", lambda p=precision: [f"{pendulum.speed(p):.3g}", "none stated", ""])
    cases = lorenz(8_400 if SMALL else 8_400_000)
    add("Lorenz, RK4, double, steps/s", lambda: at_least(cases.speed(), 1.5e11))
    add("Lorenz, RK4, single, steps/s", lambda: at_least(cases.speed("single"), 2.5e11))
    jax = of_jax(200 if SMALL else 1 << 17, 20 if SMALL else 100)
    if jax:
        add("times JAX vmap", lambda: at_least(speeds["dp"] / jax, 10))
    for what, pair in PAIRS.items():
        name = f"{what}: time of a step, in those of {pair.name}"
        add(name, lambda p=pair: at_most(p.free().speed() / p.case().speed(), 2))
    add("balls with impacts, steps/s", lambda: [f"{impacts():.3g}", "none stated", ""])

    def first() -> list[str]:
        seconds = first_step()
        return [f"{seconds:.2f} s", "below 3 s", "yes" if seconds < 3 else "no"]

    add("time to the first step", first)
    return found


class Pair(NamedTuple):
    """A system and a free one of the same number of unknowns of the motion."""

    case: Callable[[], Case]
    free: Callable[[], Case]
    name: str


def chain(links: int) -> Case:
    return of_gallery("pendulum-chain", da.Midpoint(), links=links)


PAIRS: Mapping[str, Pair] = {
    "rolling disk (nonholonomic)": Pair(lambda: of_gallery("rolling-disk", da.Midpoint()), lambda: chain(4), "4 links"),
    "heavy top (Lie group)": Pair(lambda: of_gallery("heavy-top", da.Midpoint()), lambda: chain(3), "3 links"),
    "2 links that warm a body": Pair(lambda: warming(True), lambda: warming(False), "2 links and a scalar"),
}

CASES: Mapping[str, Callable[[], Case]] = {
    "dp": lambda: of_gallery("double-pendulum", da.Midpoint(), 1 << 18),
    "lorenz": lambda: lorenz(1 << 20),
    "disk": lambda: of_gallery("rolling-disk", da.Midpoint(), 1 << 18),
    "top": lambda: of_gallery("heavy-top", da.Midpoint(), 1 << 18),
}
"""What is looked at with a profiler."""

PROFILED = 50
"""Steps of a launch under the profiler, which repeats it."""


def launch(case: str, precision: str) -> None:
    """One launch of a kernel."""
    CASES[case]().speed(precision, PROFILED, repetitions=0)


COUNTERS = {
    "time": "gpu__time_duration.sum",
    "fused": "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
    "added": "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
    "multiplied": "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
    "all": "smsp__thread_inst_executed.sum",
    "double": "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
    "issued": "sm__inst_executed.avg.pct_of_peak_sustained_active",
    "waiting": "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    "memory": "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
}
PEAK = 33.5e12
"""Operations per second in double precision of an H200, a fused product and sum being two (its data sheet)."""


def profile(case: str, precision: str) -> list[str] | None:
    """What Nsight Compute counts in one launch; nothing where it is missing."""
    if SMALL or not shutil.which("ncu"):
        return None
    metrics = ",".join(COUNTERS.values())
    command = ["ncu", "--clock-control", "none", "--csv", "--print-units", "base", "--metrics", metrics, "-k", "run"]
    command += [sys.executable, __file__, "kernel", case, precision]
    made = subprocess.run(command, check=False, capture_output=True, text=True)
    rows = list(csv.DictReader(line for line in made.stdout.splitlines() if line.startswith('"')))
    values = {r["Metric Name"]: float(r["Metric Value"].replace(",", "")) for r in rows}
    if not all(m in values for m in COUNTERS.values()):
        return None
    v = {name: values[metric] for name, metric in COUNTERS.items()}
    steps = len(CASES[case]().carry) * PROFILED
    operations = 2 * v["fused"] + v["added"] + v["multiplied"]
    return [
        f"{case}, {precision}",
        f"{operations / steps:.0f}",
        f"{v['all'] / steps:.0f}",
        f"{100 * operations / (v['time'] * 1e-9) / PEAK:.0f} %",
        f"{v['double']:.0f} %",
        f"{v['issued']:.0f} %",
        f"{v['waiting']:.1f}, {v['memory']:.1f}",
    ]


def profiles() -> Table | None:
    """Where the time of a kernel goes, if there is a profiler."""
    found = [profile(case, precision) for case, precision in (*((c, "double") for c in CASES), ("lorenz", "single"))]
    header = ["kernel", "operations per step", "instructions", "of peak", "unit of doubles", "issue slots", "waits"]
    notes = [
        "Nsight Compute, one launch of 50 steps, reading and writing of lanes included. Operations in double precision, a",
        "fused product and sum being two; the part of the data sheet's peak; how busy the unit for doubles and the issue of",
        "instructions are; cycles that a warp waits for a result of the arithmetic, and for memory, per instruction.",
    ]
    rows = [r for r in found if r]
    return Table("What limits ensembles on a GPU", header, rows, [" ".join(notes)]) if rows else None


def measure() -> list[Table]:
    """The table of all figures."""
    notes = [
        f"{device_name()}; {LANES:,} lanes of {STEPS} steps, Lorenz 8.4e6; the best of {REPETITIONS}, arrays on the device.",
        f"JAX {jax_version()}: vmap of the same scheme with three Newton iterations in each step, doubles.",
    ]
    figures = Table("Ensembles on a GPU", ["figure", "measured", "target", "met"], rows(), notes)
    return [figures, *filter(None, [profiles()])]


if __name__ == "__main__":
    if sys.argv[1:2] == ["kernel"]:
        launch(*sys.argv[2:4])
    else:
        for table in measure():
            print(f"\n{table}")
