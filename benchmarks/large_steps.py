"""How the time of a step grows with a system: lattices, chains of links, nets, bodies that attract one another.

The steps of a chain are 0.16/sqrt(n): its fastest oscillation has a frequency that grows like sqrt(n), and with the same step
for all lengths Newton's method would be asked for more and more corrections.

The compiled time loop is called for some steps of one motion, and the processor time of the process is taken, per step and
body (per pair where each attracts each). A lattice is beside C text that is written by hand with a banded elimination
(lattice.c), N bodies beside REBOUND's leapfrog, the chain beside MuJoCo's semi-implicit Euler steps of a chain of hinges, if
these can be had. The exponent is that of n in the time of a step, fitted
from 32 on.
"""

from __future__ import annotations

import ctypes
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from common import Table, compiler, interleave, judge
from compiled_loop import CompiledLoop
from large_systems import lattice
from sympy import Add, exp, sqrt

import dalembert as da

LONG_ENOUGH, REPETITIONS = 0.03, 5
MOST = 2**17
"""Most steps of a repetition: bodies may come close to one another later."""

H, FROM, GROWTH = 0.05, 32, 2.0
TARGETS = {"C": 1.5, "REBOUND": 1.2, "MuJoCo": 1.0}
PER_LINK = 250.0
"""Largest time for a link of the chain, in ns."""
FIRST = 5.0
"""Largest time to the first step of the largest system with a thousand bodies or fewer, in seconds."""
SAME = 1e-10

Stated = tuple[da.System, dict[Any, float], dict[Any, float]]


def toda(n: int) -> Stated:
    """A ring of masses with exponential springs."""
    q = [da.coordinates(f"x{i}") for i in range(n)]
    springs = Add(*(exp(b - a) - (b - a) for a, b in pairwise([*q, q[0]])))
    system = da.System("Toda lattice", q, kinetic=Add(*(c.dot**2 / 2 for c in q)), potential=springs)
    return system, {}, dict.fromkeys(q, 0.0) | {c.dot: math.sin(i) for i, c in enumerate(q)}


def chain(n: int) -> Stated:
    """A pendulum of n links: points in the plane, each at a fixed distance from the one before; it hangs, slightly bent."""
    points = [da.coordinates(f"x{i} y{i}") for i in range(n)]
    g, length = da.parameters("g length", positive=True)
    links = list(pairwise([(0, 0), *points]))
    system = da.System(
        "chain",
        [c for p in points for c in p],
        kinetic=Add(*(c.dot**2 / 2 for p in points for c in p)),
        potential=Add(*(g * y for _, y in points)),
        constraints=[(x1 - x0) ** 2 + (y1 - y0) ** 2 - length**2 for (x0, y0), (x1, y1) in links],
    )
    angles = 0.1 * np.sin(np.arange(n) / 3)
    places = np.cumsum([np.sin(angles), -np.cos(angles)], axis=1).T.ravel()
    start = dict(zip(system.coordinates, places, strict=True)) | {c.dot: 0.0 for c in system.coordinates}
    return system, {g: 1.0, length: 1.0}, start


def net(k: int) -> Stated:
    """Masses in space on a net of k x k points, with a spring between neighbours."""
    at = {(i, j): da.coordinates(f"x{i}_{j} y{i}_{j} z{i}_{j}") for i in range(k) for j in range(k)}
    stiff = da.parameters("stiff", positive=True)
    springs = [(at[p], at[p[0] + a, p[1] + b]) for p in at for a, b in ((0, 1), (1, 0)) if (p[0] + a, p[1] + b) in at]
    q = [c for p in at.values() for c in p]
    system = da.System(
        "net",
        q,
        kinetic=Add(*(c.dot**2 / 2 for c in q)),
        potential=Add(
            *(stiff * (sqrt(sum((u - v) ** 2 for u, v in zip(a, b, strict=True))) - 1) ** 2 / 2 for a, b in springs)
        ),
    )
    start = {
        c: x for (i, j), p in at.items() for c, x in zip(p, (1.1 * i, 1.1 * j, 0.1 * math.sin(i + j)), strict=True)
    }
    return system, {stiff: 1.0}, start | {c.dot: 0.0 for c in q}


def bodies(n: int) -> Stated:
    """Masses of 1/n in space that attract one another, with a distance below which they do so less."""
    points = [da.coordinates(f"x{i} y{i} z{i}") for i in range(n)]
    mass, soft = da.parameters("mass soft", positive=True)
    apart = [
        sqrt(sum((u - v) ** 2 for u, v in zip(a, b, strict=True)) + soft**2)
        for k, a in enumerate(points)
        for b in points[:k]
    ]
    system = da.System(
        "bodies",
        [c for p in points for c in p],
        kinetic=Add(*(mass * c.dot**2 / 2 for p in points for c in p)),
        potential=Add(*(-(mass**2) / r for r in apart)),
    )
    return (
        system,
        {mass: 1 / n, soft: 0.1},
        dict(zip([*system.coordinates, *system.velocities], _cloud(n), strict=True)),
    )


def _cloud(n: int) -> np.ndarray:
    """Places and velocities of the bodies."""
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(size=3 * n), 0.1 * rng.normal(size=3 * n)])


def resolved(n: int) -> float:
    """A step that resolves the fastest oscillation of a chain."""
    return 0.16 / math.sqrt(n)


def equal(_: int) -> float:
    """The same step for all sizes."""
    return H


CASES: dict[
    str, tuple[Callable[[int], Stated], Any, tuple[int, ...], Callable[[int], float], Callable[[int], float]]
] = {
    "FPUT lattice, midpoint rule": (lattice, da.Midpoint(), (10, 32, 100, 316, 1000), float, equal),
    "FPUT lattice, Stormer-Verlet": (lattice, da.StormerVerlet(), (10, 32, 100, 316, 1000), float, equal),
    "Toda ring, Stormer-Verlet": (toda, da.StormerVerlet(), (10, 32, 100, 316), float, equal),
    "chain in Cartesian coordinates, midpoint rule": (chain, da.Midpoint(), (2, 10, 32, 100, 316), float, resolved),
    "net of k x k masses, midpoint rule": (net, da.Midpoint(), (4, 6, 9), lambda k: float(k * k), equal),
    "net of k x k masses, Stormer-Verlet": (net, da.StormerVerlet(), (6, 9, 18), lambda k: float(k * k), equal),
    "N bodies, Stormer-Verlet": (
        bodies,
        da.StormerVerlet(),
        (2, 3, 5, 10, 20, 32),
        lambda n: n * (n - 1) / 2,
        equal,
    ),
}


class Lattice:
    """The C text on the same lattice."""

    def __init__(self, method: Any, n: int, start: dict[Any, float]):
        with tempfile.TemporaryDirectory() as folder:
            binary = Path(folder) / "lattice.so"
            source = Path(__file__).with_name("lattice.c")
            flags = ["-O3", "-march=native", "-shared", "-fPIC"]
            subprocess.run([str(compiler()), *flags, str(source), "-o", str(binary), "-lm"], check=True)
            library = ctypes.CDLL(str(binary))
        self.call = library.midpoint if isinstance(method, da.Midpoint) else library.verlet
        array, real, whole = ctypes.c_void_p, ctypes.c_double, ctypes.c_long
        self.call.restype, self.call.argtypes = whole, [whole, array, array, *[real] * 4, whole, array]
        self.n, self.q = n, np.array(list(start.values())[:n])

    def advance(self, steps: int) -> np.ndarray:
        q, p, work = self.q.copy(), np.zeros(self.n), np.zeros(9 * self.n)
        arrays = q.ctypes.data, p.ctypes.data
        if self.call(self.n, *arrays, 1.0, 1.0, 0.25, H, steps, work.ctypes.data) < 0:
            raise RuntimeError("the C code found no solution of a step")
        return np.concatenate([q, p])


class Rebound:
    """REBOUND's leapfrog on the same bodies: it drifts first, and is no other work."""

    def __init__(self, n: int):
        self.n, (self.x, self.v) = n, _cloud(n).reshape(2, n, 3)

    def advance(self, steps: int) -> np.ndarray:
        import rebound

        sim = rebound.Simulation()
        sim.integrator, sim.dt, sim.softening = "leapfrog", H, 0.1
        for x, v in zip(self.x, self.v, strict=True):
            sim.add(m=1 / self.n, x=x[0], y=x[1], z=x[2], vx=v[0], vy=v[1], vz=v[2])
        sim.steps(steps)
        return np.array([[p.x, p.y, p.z] for p in sim.particles]).ravel()


class MuJoCo:
    """A chain of n hinges in generalised coordinates, slightly bent: points on links of length 1 without mass."""

    def __init__(self, n: int, h: float):
        import mujoco

        body = (
            '<body pos="0 0 {z}"><joint type="hinge" axis="0 1 0"/>'
            '<inertial pos="0 0 -1" mass="1" diaginertia="1e-6 1e-6 1e-6"/>'
        )
        links = "".join(body.format(z=-1 if k else 0) for k in range(n)) + "</body>" * n
        options = f'<option timestep="{h}" gravity="0 0 -1"><flag contact="disable"/></option>'
        self.model = mujoco.MjModel.from_xml_string(f"<mujoco>{options}<worldbody>{links}</worldbody></mujoco>")
        self.data = mujoco.MjData(self.model)
        self.bent = np.diff(0.1 * np.sin(np.arange(n) / 3), prepend=0.0)

    def advance(self, steps: int) -> np.ndarray:
        import mujoco

        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = self.bent
        mujoco.mj_step(self.model, self.data, nstep=steps)
        return np.array(self.data.qpos)


def peer(name: str, method: Any, n: int, start: dict[Any, float]) -> tuple[str, Any]:
    """What can be had beside a case, with its name."""
    if name.startswith("FPUT") and compiler():
        return "C", Lattice(method, n, start)
    if name.startswith("N bodies") and find_spec("rebound"):
        return "REBOUND", Rebound(n)
    if name.startswith("chain") and find_spec("mujoco"):
        return "MuJoCo", MuJoCo(n, resolved(n))
    return "", None


def seconds(job: Callable[[int], Any]) -> Callable[[], float]:
    """The time of a step, by as many as take long enough, without that of a call."""

    def taken(steps: int) -> float:
        began = process_time()
        job(steps)
        return process_time() - began

    most = 8
    job(most)  # what only the first call does
    while min(taken(most) for _ in range(2)) < LONG_ENOUGH and most < MOST:
        most *= 2
    return lambda: max(taken(most) - taken(1), 1e-12) / (most - 1)


def rows(name: str) -> list[list[str]]:
    """A line for each size, and one with the exponent and the growth."""
    state, method, sizes, count, length = CASES[name]
    os.environ["DALEMBERT_CACHE"] = ""  # all is compiled anew
    lines, seen = [], []
    for n in sizes:
        began = process_time()
        system, parameters, start = state(n)
        h = length(n)
        da.simulate(system, method, h=h, steps=1, start=start, parameters=parameters)
        first = process_time() - began
        loop = CompiledLoop(system, method, h=h, start=start, parameters=parameters)
        other, beside = peer(name, method, n, start)
        jobs = {"own": seconds(lambda k, loop=loop: loop.advance(k, k))}
        if beside is not None:
            if other == "C":
                own, theirs = (x[: len(system.coordinates)] for x in (loop.advance(10, 10)[0][-1], beside.advance(10)))
                if not np.abs(own - theirs).max() <= SAME * np.abs(own).max():
                    raise RuntimeError(f"{name}, {n}: the two motions differ: not the same scheme")
            jobs["other"] = seconds(beside.advance)
        best = {k: min(t) / count(n) * 1e9 for k, t in interleave(jobs, REPETITIONS).items()}
        ratio = best["own"] / best["other"] if "other" in best else math.nan
        told = ["-"] * 4
        if other:
            told = [f"{best['other']:.1f} ({other})", f"{ratio:.2f}", f"{TARGETS[other]}", judge(ratio, TARGETS[other])]
        lines.append([f"{name}, {n}", f"{first:.2f} s", f"{best['own']:.1f}", *told])
        seen.append((n, best["own"] * count(n), best["own"]))
        print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
    lines.append(_growth(name, [s for s in seen if s[0] >= FROM] if max(sizes) > FROM else seen))
    if name.startswith("chain"):
        most = max(each for *_, each in seen)
        lines.append(_limit(f"{name}: most for a link", f"{most:.1f}", most, PER_LINK))
    if max(sizes) == 1000:
        lines.append(_limit(f"{name}, 1000: first step", "-", first, FIRST))
    return lines


def _limit(what: str, shown: str, value: float, limit: float) -> list[str]:
    """A line for a figure with a limit of its own, in ns or seconds."""
    return [what, "-" if shown != "-" else f"{value:.2f} s", shown, "-", "-", f"{limit:g}", judge(value, limit)]


def _growth(name: str, seen: list[tuple[int, float, float]]) -> list[str]:
    """The exponent of n in the time of a step, and how much the time for a body grows."""
    sizes, whole, each = (np.array(column) for column in zip(*seen, strict=True))
    power = np.polyfit(np.log(sizes), np.log(whole), 1)[0]
    growth = float(each.max() / each.min())
    return [f"{name}: step ~ n^{power:.2f}", "-", "-", "-", f"grows {growth:.2f}", f"{GROWTH}", judge(growth, GROWTH)]


def measure(names: list[str] | None = None) -> list[Table]:
    """The table of this benchmark."""
    lines = [line for name in CASES if not names or any(part in name for part in names) for line in rows(name)]
    notes = [
        "Time per step and body; per step and pair of N bodies. Building is from nothing to the end of the first step.",
        "REBOUND computes forces once in a step and keeps no rounding errors; Stormer-Verlet here has them at both ends.",
        f"Steps of {H}, of the chain 0.16/sqrt(n); processor time, the least of {REPETITIONS} repetitions, peers in turn. "
        "Lines with an exponent have the ratio of the largest to the least time per body, from "
        f"n = {FROM} on where there are such sizes.",
    ]
    header = ["system", "building", "ns per body", "peer", "ratio", "target", "met"]
    return [Table("Steps of large systems", header, lines, notes)]


if __name__ == "__main__":
    for table in measure(sys.argv[1:]):
        print(f"\n{table}", flush=True)
