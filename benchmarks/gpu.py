"""Ensembles on a GPU: steps per second beside the targets, other precisions, JAX in the same run, time to the first step.

python benchmarks/gpu.py            prints every figure; it needs a GPU, CuPy and, for the comparison, JAX with CUDA
python benchmarks/gpu.py cpu        the same with few lanes on the processor, to try the script: its figures mean nothing
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from common import Table

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

    def speed(self, precision: str = "double", steps: int = STEPS) -> float:
        """Steps of all lanes per second, the arrays being on the device; the best of some repetitions."""
        stepper = Stepper(self.step, DEVICE if precision == "double" or SMALL else f"{DEVICE} {precision}")
        search = EXACT if precision == "double" else COARSE
        out, best = np.full((len(self.carry), 1, stepper.width), np.nan), np.inf
        for _ in range(REPETITIONS + 1):
            lanes = Lanes.begun(self.carry.copy(), self.rows)
            with stepper.kept(lanes):
                began = perf_counter()
                stepper.advance(lanes, out, Extent(0.0, self.h, 1, steps, 10**9), search)
                best = min(best, perf_counter() - began)
            if lanes.status[:, 0].any():
                raise RuntimeError(f"{self.name}, {precision}: {int((lanes.status[:, 0] != 0).sum())} lanes failed")
        return len(self.carry) * steps / best


def of_gallery(name: str, method: Any, lanes: int = LANES) -> Case:
    """Lanes of a system of the gallery, which differ in the first parameter."""
    e = da.gallery.load(name)
    first, given = next(iter(e.parameters)), {"h": e.h, "start": e.start}
    near = float(e.parameters[first]) * np.linspace(1, 1.1, lanes)
    begun = da.simulate(e.system, method, steps=0, parameters={**e.parameters, first: near}, **given)
    columns = [np.broadcast_to(near if p == first else float(e.parameters[p]), lanes) for p in e.system.parameters]
    return Case(name, method.step_map(e.system), begun.carry, np.ascontiguousarray(np.array(columns).T), e.h)


def lorenz(lanes: int) -> Case:
    """Lorenz's equations by RK4, sigma = 10, b = 8/3, r from lane to lane: as MPGOS is measured."""
    h, r = fast(STEP), fast("r")
    start = [fast(n) for n in "xyz"]

    def rate(s: list[Any]) -> list[Any]:
        x, y, z = s
        return [10 * (y - x), x * (r - z) - y, x * y - fast(8) / 3 * z]

    def moved(k: list[Any], part: Any) -> list[Any]:
        return [s + part * h * v for s, v in zip(start, k, strict=True)]

    k = [rate(start)]
    for part in (fast(1) / 2, fast(1) / 2, fast(1)):
        k.append(rate(moved(k[-1], part)))
    after = [s + h * (a + 2 * b + 2 * c + d) / 6 for s, a, b, c, d in zip(start, *k, strict=True)]
    step = StepMap("Lorenz by RK4", ("x", "y", "z"), ("r",), (), tuple(after))
    carry = np.zeros((lanes, len(Stepper(step).carry(np.zeros((1, 3)))[0])))
    carry[:, :3] = 10.0
    return Case("Lorenz", step, carry, np.linspace(0, 21, lanes)[:, None].copy(), 0.01)


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
    """Seconds from the start of Python's imports to the end of the first step."""
    command = [sys.executable, "-c", FIRST.format(DEVICE)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def at_least(value: float, target: float) -> list[str]:
    """A figure with its target and verdict."""
    return [f"{value:.3g}", f"at least {target:.3g}", "yes" if value >= target else "no"]


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
    for name, what in PAIRS.items():
        case = of_gallery(name, da.Midpoint())
        add(f"{name} ({what}): part of the double pendulum", lambda c=case: at_least(c.speed() / speeds["dp"], 0.5))
    add("balls with impacts, steps/s", lambda: [f"{impacts():.3g}", "none stated", ""])

    def first() -> list[str]:
        seconds = first_step()
        return [f"{seconds:.2f} s", "below 3 s", "yes" if seconds < 3 else "no"]

    add("time to the first step", first)
    return found


PAIRS: Mapping[str, str] = {"rolling-disk": "nonholonomic", "heavy-top": "Lie group", "two-gas-chambers": "thermal"}


def measure() -> list[Table]:
    """The table of all figures."""
    notes = [
        f"{device_name()}; {LANES:,} lanes of {STEPS} steps, Lorenz 8.4e6; the best of {REPETITIONS}, arrays on the device.",
        "The other ensembles are told in the steps of the double pendulum, whose dimension is not theirs.",
        "The fraction of peak and what limits it are not measured here: they need a profiler.",
    ]
    return [Table("Ensembles on a GPU", ["figure", "measured", "target", "met"], rows(), notes)]


if __name__ == "__main__":
    for table in measure():
        print(f"\n{table}")
