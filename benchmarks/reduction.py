"""Reduced against unreduced motions: unknowns, time per step, and error of the coordinates at the end.

The reduced motion has shape and velocities of the group; the coordinates follow from it by `reconstruct`, whose time is named
apart, because many questions need no coordinates. Errors are against an adaptive run of the unreduced system.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from common import Table, interleave

import dalembert as da
from dalembert.model.space import factors
from dalembert.run.reduced_start import reduced_start

SYSTEMS = ("chaplygin-sleigh", "snakeboard", "two-wheeled-robot", "suslov")
BOUND = ("chaplygin-sleigh", "rolling-disk", "snakeboard", "ball-on-turntable")
STEPS, REPETITIONS, H, SPAN = 5_000, 60, 0.01, 2.0


def seconds(job: Callable[[], Any]) -> Callable[[], float]:
    def timed() -> float:
        began = time.perf_counter()
        job()
        return time.perf_counter() - began

    return timed


def cost(e: Any, starts: dict[str, tuple[Any, Any]]) -> dict[str, float]:
    """Seconds per step, recording the end alone; each system starts in its own variables."""

    def job(system: Any, start: Any) -> Callable[[], Any]:
        options = {"start": start, "parameters": e.parameters, "h": SPAN / STEPS, "steps": STEPS, "every": STEPS}
        return lambda: da.simulate(system, da.Midpoint(), **options)

    jobs = {name: job(*case) for name, case in starts.items()}
    for warm in jobs.values():
        warm()
    timed = interleave({name: seconds(j) for name, j in jobs.items()}, REPETITIONS)
    return {name: min(t) / STEPS for name, t in timed.items()}


def rows_of(name: str) -> list[list[str]]:
    e = da.gallery.load(name)
    small = da.reduce(e.system, da.Symmetry(e.action, elements=e.elements))
    options = {"until": SPAN, "start": e.start, "parameters": e.parameters}
    exact = da.simulate(e.system, da.Reference(rtol=1e-12), h=H, **options)
    keys = [getattr(f, "coordinate", f) for f in factors(e.system.coordinates)]
    full, run = (da.simulate(s, da.Midpoint(), h=H, **options) for s in (e.system, small))
    at = {q: e.start[q] for q in keys}
    back = small.reconstruct(run, at=at)  # the first time its formulas are derived
    spent = min(seconds(lambda: small.reconstruct(run, at=at))() for _ in range(5))
    own = reduced_start(small, e.start, e.parameters)
    spends = cost(e, {"unreduced": (e.system, e.start), "reduced": (small.motion, own)})
    rows = []
    for kind, found, s, n in (
        ("unreduced", full, spends["unreduced"], 2 * len(e.system.coordinates)),
        ("reduced", back, spends["reduced"], 2 * len(small.shape) + len(small.velocities)),
    ):
        error = max(float(np.abs(found[q][-1] - exact[q][-1]).max()) for q in keys)
        ratio = f"{s / spends['unreduced']:.2f}"
        again = "-" if kind == "unreduced" else f"{spent * 1e3:.0f} ms"
        rows.append([name, kind, str(n), f"{s * 1e9:.0f}", ratio, again, f"{error:.1e}"])
    return rows


def beside_multipliers(name: str) -> list[list[str]]:
    """A step in a basis of D beside one with multipliers as unknowns."""
    e, methods = da.gallery.load(name), {"multipliers": da.Midpoint(), "basis of D": da.NullSpace(da.Midpoint())}

    def run(kind: str) -> Any:
        options = {"start": e.start, "parameters": e.parameters, "h": SPAN / STEPS, "steps": STEPS, "every": STEPS}
        return da.simulate(e.system, methods[kind], **options)

    ends = [run(kind).records for kind in methods]
    n = len(e.system.coordinates)
    apart = np.abs(ends[0] - ends[1])[..., : 2 * n].max()
    jobs = {kind: seconds(lambda kind=kind: run(kind)) for kind in methods}
    best = {kind: min(t) / STEPS for kind, t in interleave(jobs, REPETITIONS).items()}
    rows = []
    for kind, m in (("multipliers", len(e.system.multipliers)), ("basis of D", 0)):
        ratio, off = f"{best[kind] / best['multipliers']:.2f}", f"{apart:.0e}" if m == 0 else "-"
        rows.append([name, kind, str(n + m), f"{best[kind] * 1e9:.0f}", ratio, off])
    return rows


def in_a_basis() -> Table:
    """Steps in a basis of the admissible displacements."""
    header = ["system", "step", "unknowns", "ns per step", "ratio", "difference at the end"]
    notes = [
        f"Midpoint rule. Least time of {REPETITIONS} interleaved runs of {STEPS:,} steps; difference of positions and momenta."
    ]
    rows = [row for name in BOUND for row in beside_multipliers(name)]
    return Table("Steps in a basis of the admissible displacements", header, rows, notes)


def measure() -> list[Table]:
    header = [
        "system",
        "motion",
        "unknowns",
        "ns per step",
        "ratio",
        f"reconstruction of {round(SPAN / H)} steps",
        "error at the end",
    ]
    notes = [
        f"Midpoint rule. Least time of {REPETITIONS} interleaved runs of {STEPS:,} steps.",
        f"Error of the coordinates at t = {SPAN:g} with h = {H:g}; unknowns are positions and velocities or momenta.",
    ]
    reduced = Table("Reduced against unreduced", header, [r for name in SYSTEMS for r in rows_of(name)], notes)
    return [reduced, in_a_basis()]


if __name__ == "__main__":
    for table in measure():
        print(table, flush=True)
