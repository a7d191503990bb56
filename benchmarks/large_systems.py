"""Large systems: how the time from a statement to the first step grows with the number of coordinates.

The lattice is that of Fermi, Pasta, Ulam and Tsingou, masses between quadratic and cubic springs, with fixed ends. The bicycle
is that of Carvallo and Whipple, as in J. P. Meijaard et al., Proc. R. Soc. A 463 (2007): two wheels, a rear frame with a rigid
rider and a front fork, stated with bodies and joints in 8 coordinates. Its front wheel touches the ground (one holonomic
constraint) and both wheels roll (four kinematic ones). All lengths, masses and moments of inertia are parameters.

Every repetition is a process of its own with an empty cache, in which imports are done and a small other system has been run.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter
from typing import Any

from common import Table, in_a_fresh_process, interleave, judge
from sympy import Add, cos, sin

SIZES = (10, 30, 100, 300)
TARGETS = {"bicycle": 1.0, "lattice 300": 3.0}
REPETITIONS, ENOUGH, LIMIT = 5, 20.0, 240.0

BICYCLE = {
    "mR": 2.0, "mB": 85.0, "mH": 4.0, "mF": 3.0, "rR": 0.3, "rF": 0.35, "g": 9.81,
    "IRx": 0.0603, "IRy": 0.12, "IBx": 9.2, "IBy": 11.0, "IBz": 2.8, "IBxz": -2.4,
    "IHx": 0.05892, "IHy": 0.06, "IHz": 0.00708, "IHxz": 0.00756, "IFx": 0.1405, "IFy": 0.28,
    "tilt": math.pi / 10, "trail": 0.08, "wheelbase": 1.02, "xB": 0.3, "zB": 0.9, "xH": 0.9, "zH": 0.7,
}  # fmt: skip
"""The benchmark of Meijaard et al., with the third axis upward."""


def lattice(n: int) -> tuple[Any, dict[Any, float], dict[Any, float]]:
    """The lattice of n masses as a System, its parameters, and a start."""
    import dalembert as da

    q = [da.coordinates(f"x{i}") for i in range(n)]
    m, k, alpha = da.parameters("m k alpha", positive=True)
    ends = [0, *q, 0]
    stretch = [b - a for a, b in pairwise(ends)]
    kinetic = Add(*(m * c.dot**2 / 2 for c in q))
    system = da.System(
        "lattice", q, kinetic=kinetic, potential=Add(*(k * s**2 / 2 + alpha * s**3 / 3 for s in stretch))
    )
    start = {c: math.sin(math.pi * (i + 1) / (n + 1)) for i, c in enumerate(q)} | {c.dot: 0.0 for c in q}
    return system, {m: 1.0, k: 1.0, alpha: 0.25}, start


def bicycle() -> Any:
    """The bicycle as an assembly of bodies.

    x, y is where the rear wheel touches the ground; `pitch` turns the rear frame to axes of which the third is the steering
    axis. Wheels turn about their second axes.
    """
    import dalembert as da

    b = da.bodies
    q = x, y, yaw, lean, pitch, steer, rear, front = da.coordinates("x y yaw lean pitch steer rear front")
    p = {name: da.parameters(name) for name in BICYCLE}
    up = (sin(yaw) * sin(lean), -cos(yaw) * sin(lean), cos(lean))
    hub = (x + p["rR"] * up[0], y + p["rR"] * up[1], p["rR"] * up[2])
    rear_wheel = b.SpaceBody(b.Shape(p["mR"], [p["IRx"], p["IRy"], p["IRx"]]), hub, b.turns("zxy", yaw, lean, rear))
    upright = b.turns("zxy", yaw, lean, pitch + p["tilt"])
    rider = b.SpaceBody(b.Shape(p["mB"], _inertia(p, "B"), [p["xB"], 0, p["zB"] - p["rR"]]), hub, upright)
    ahead = _along_fork(p, p["wheelbase"] + p["trail"], -p["rR"])[
        0
    ]  # of the steering axis, which meets the ground there
    crown = [e + f for e, f in zip(hub, b.turns("zxy", yaw, lean, pitch).outward((ahead, 0, 0)), strict=True)]
    out, down = (e - f for e, f in zip(_along_fork(p, p["wheelbase"], p["rF"] - p["rR"]), (ahead, 0), strict=True))
    heavy = [e - f for e, f in zip(_along_fork(p, p["xH"], p["zH"] - p["rR"]), (ahead, 0), strict=True)]
    turned = b.turns("zxyz", yaw, lean, pitch, steer)
    fork = b.SpaceBody(b.Shape(p["mH"], _turned(_inertia(p, "H"), p["tilt"]), [heavy[0], 0, heavy[1]]), crown, turned)
    wheel = b.Shape(p["mF"], [p["IFx"], p["IFy"], p["IFx"]])
    front_wheel = b.SpaceBody(
        wheel, fork.point([out, 0, down]).position, b.turns("zxyzy", yaw, lean, pitch, steer, front)
    )
    touching, flat = b.lowest_point(front_wheel, p["rF"], axle=(0, 1, 0)), [[1, 0, 0], [0, 1, 0]]
    rolls = [*b.rolling(rear_wheel, [x, y, 0], along=flat), *b.rolling(front_wheel, touching, along=flat)]
    return b.assemble(
        "bicycle",
        q,
        bodies=[rear_wheel, rider, fork, front_wheel],
        loads=[b.Gravity(p["g"])],
        constraints=[touching[2], *rolls],
    )


def _along_fork(p: dict[str, Any], x: Any, z: Any) -> tuple[Any, Any]:
    """Components in front of the rear hub and above it, of a bicycle that stands upright, along the axes of the fork."""
    c, s = cos(p["tilt"]), sin(p["tilt"])
    return c * x + s * z, -s * x + c * z


def _inertia(p: dict[str, Any], part: str) -> list[list[Any]]:
    Ix, Iy, Iz, Ixz = (p[f"I{part}{axes}"] for axes in ("x", "y", "z", "xz"))
    return [[Ix, 0, Ixz], [0, Iy, 0], [Ixz, 0, Iz]]


def _turned(I: list[list[Any]], tilt: Any) -> list[list[Any]]:
    """A tensor along the axes of the fork, given along those of the ground."""
    c, s = cos(tilt), sin(tilt)
    (xx, _, xz), (_, yy, _), (_, _, zz) = I
    first, last = c**2 * xx + 2 * c * s * xz + s**2 * zz, s**2 * xx - 2 * c * s * xz + c**2 * zz
    mixed = c * s * (zz - xx) + (c**2 - s**2) * xz
    return [[first, 0, mixed], [0, yy, 0], [mixed, 0, last]]


def timed_lattice(n: int) -> tuple[float, float]:
    """Seconds to the System, and from there to the first step."""
    import dalembert as da

    began = perf_counter()
    system, parameters, start = lattice(n)
    stated = perf_counter()
    da.simulate(system, da.Midpoint(), h=0.01, steps=1, parameters=parameters, start=start)
    return stated - began, perf_counter() - stated


def timed_bicycle(_: int) -> tuple[float, float]:
    """Seconds to the bodies and joints, and from there to the System."""
    began = perf_counter()
    assembly = bicycle()
    put = perf_counter()
    assembly.system  # noqa: B018
    return put - began, perf_counter() - put


JOBS = {"lattice": timed_lattice, "bicycle": timed_bicycle}


def child(name: str, size: int) -> None:
    """One repetition: prints the seconds it took, and its two parts."""
    timed_lattice(2)
    parts = JOBS[name](size)
    print(json.dumps({"seconds": sum(parts) if name == "lattice" else parts[1], "parts": parts}))


def measured(name: str, size: int) -> tuple[float, list[float]]:
    """The least time of some repetitions, and the two parts of the last one."""
    seen: dict[str, list[float]] = {}
    job: Callable[[], float] = in_a_fresh_process(__file__, name, str(size), "parts", seen, LIMIT)
    return min(interleave({name: job}, REPETITIONS, ENOUGH)[name]), seen[name]


def measure() -> list[Table]:
    """The tables of this benchmark."""
    rows, before = [], (0, 0.0)
    for n in SIZES:
        seconds, parts = measured("lattice", n)
        power = f"{math.log(seconds / before[1]) / math.log(n / before[0]):.2f}" if before[0] else "-"
        rows.append(_row(f"lattice of {n} masses", parts, seconds, power, TARGETS.get(f"lattice {n}")))
        before = n, seconds
    seconds, parts = measured("bicycle", 8)
    rows.append(_row("bicycle", parts, seconds, "-", TARGETS["bicycle"]))
    notes = [
        "Lattice: from nothing to the System (first part), from there to the first step with Midpoint() (second part); both "
        "together are judged, and have grown with this power of n since the row before.",
        "Bicycle: bodies and joints in 8 coordinates with 5 constraints (first part), then its System (second part), which is "
        "judged.",
        f"Least time of up to {REPETITIONS} repetitions, each in a fresh process with an empty cache; parts are of the last.",
    ]
    header = ["system", "first part", "second part", "judged", "power", "target", "met"]
    return [Table("Large systems", header, rows, notes)]


def _row(name: str, parts: list[float], seconds: float, power: str, target: float | None) -> list[str]:
    verdict = ["-", "-"] if target is None else [f"{target:g} s", judge(seconds, target)]
    return [name, *(f"{s:.3f} s" for s in (*parts, seconds)), power, *verdict]


if __name__ == "__main__":
    if len(sys.argv) == 3:
        child(sys.argv[1], int(sys.argv[2]))
    else:
        for table in measure():
            print(f"\n{table}", flush=True)
