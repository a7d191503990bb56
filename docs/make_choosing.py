"""Draws docs/pictures/choosing-error-cost.png and writes the table of methods into docs/choosing-a-method.md.

python docs/make_choosing.py          (from the root of the repository; a minute)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from compiled_loop import CompiledLoop

import dalembert as da
from dalembert.methods import Method
from dalembert.methods.method_table import markdown

PAGE = Path(__file__).with_name("choosing-a-method.md")
PICTURE = Path(__file__).with_name("pictures") / "choosing-error-cost.png"
BEGIN, END = "<!-- the table of methods, written by docs/make_choosing.py -->", "<!-- end of the table -->"
SMALLEST = 1e-12
"""Errors below this are rounding, and not drawn."""


@dataclass(frozen=True)
class Panel:
    """A system, the time at which errors are taken, the methods that are compared."""

    title: str
    system: da.System
    start: dict[Any, float]
    parameters: dict[Any, float]
    until: float
    first: int
    """Steps of the coarsest run of a method of order 8."""
    methods: tuple[Method, ...]


# -------------------- the systems --------------------


def example(title: str, name: str, until: float, first: int, methods: tuple[Method, ...], **start: float) -> Panel:
    e = da.gallery.load(name)
    begin = {s.name: v for s, v in e.start.items()} | {k.replace("_", "."): v for k, v in start.items()}
    return Panel(title, e.system, begin, dict(e.parameters), until, first, methods)


def kepler() -> Panel:
    """An ellipse of eccentricity 0.6, from its nearest point, for a little over three turns."""
    e = da.gallery.load("kepler")
    start = {"x": 0.4, "y": 0.0, "x.dot": 0.0, "y.dot": 2.0}
    methods = (
        da.StormerVerlet(),
        *(da.Composition(da.StormerVerlet(), p) for p in (4, 6, 8)),
        da.Midpoint(),
        *(da.Gauss(s) for s in (2, 3, 4)),
        da.RungeKutta4(),
        da.DormandPrince8(),
        da.Nystrom12(),
    )
    numbers = dict.fromkeys(e.parameters, 1.0)
    return Panel("Kepler, eccentricity 0.6 (separable), t = 20", e.system, start, numbers, 20.0, 100, methods)


def panels() -> tuple[Panel, ...]:
    free = (
        da.Midpoint(),
        *(da.Composition(da.Midpoint(), p) for p in (4, 8)),
        *(da.Gauss(s) for s in (2, 3, 4)),
        da.Lobatto(3),
        da.RungeKutta4(),
        da.DormandPrince8(),
    )
    holonomic = (
        da.Rattle(),
        da.Midpoint(),
        da.DiscreteGradient(),
        *(da.Composition(da.Midpoint(), p) for p in (4, 8)),
        *(da.Lobatto(s) for s in (3, 4, 5)),
        da.RungeKutta4(),
    )
    kinematic = (
        da.Midpoint(),
        da.GeometricNonholonomic(),
        da.McLachlanPerlmutter(),
        da.DiscreteGradient(),
        da.Composition(da.McLachlanPerlmutter(), 4),
        *(da.Composition(da.Midpoint(), p) for p in (4, 6, 8)),
        da.RungeKutta4(),
        da.DormandPrince8(),
    )
    return (
        kepler(),
        example("Double pendulum (free), t = 4", "double-pendulum", 4.0, 20, free),
        example("Pendulum, Cartesian (holonomic), t = 10", "pendulum-cartesian", 10.0, 20, holonomic),
        example("Knife edge on an incline (kinematic), t = 10", "knife-edge", 10.0, 10, kinematic),
    )


# -------------------- measuring --------------------


def last(run: da.Trajectory) -> np.ndarray:
    q = run.system.coordinates
    return np.array([*(run[c][-1] for c in q), *(run[c.dot][-1] for c in q)])


def seconds(panel: Panel, method: Method, n: int) -> float:
    """Processor time of the compiled loop alone, the shortest of several runs: no derivation, no compiling, no records."""
    h = panel.until / n
    loop = CompiledLoop(panel.system, method, h=h, start=panel.start, parameters=panel.parameters)
    best, until = np.inf, time.perf_counter() + 0.2
    while True:
        start = time.thread_time()
        loop.advance(n, n)
        best = min(best, time.thread_time() - start)
        if time.perf_counter() > until:
            return best


def curve(panel: Panel, method: Method, exact: np.ndarray) -> list[tuple[float, float]]:
    """(microseconds of computing per unit of time, relative error) for more and more steps."""
    n, points = round(panel.first * {1: 64, 2: 16, 4: 4, 6: 2, 8: 1, 12: 0.4}[method.order]), []
    while len(points) < 14:
        run = da.simulate(
            panel.system,
            method,
            h=panel.until / n,
            steps=n,
            start=panel.start,
            parameters=panel.parameters,
            strict=False,
        )
        error = float(np.linalg.norm(last(run) - exact) / np.linalg.norm(exact))
        if error < SMALLEST or (points and error > points[-1][1] / 1.2):  # rounding
            break
        if run.ok and error < 0.3:
            points.append((1e6 * seconds(panel, method, n) / panel.until, error))
            if points[-1][0] > 3000:
                break
        n = round(n * (2 if method.order <= 2 else 1.5))
        if n > 2_000_000:
            break
    return points


# -------------------- drawing --------------------


FAMILIES = {
    "Midpoint": "tab:orange",
    "StormerVerlet": "tab:brown",
    "Rattle": "tab:brown",
    "Gauss": "tab:red",
    "Lobatto": "tab:olive",
    "Composition": "tab:blue",
    "GeometricNonholonomic": "tab:pink",
    "McLachlanPerlmutter": "tab:purple",
    "DiscreteGradient": "tab:green",
    "RungeKutta4": "tab:gray",
    "DormandPrince8": "black",
    "Nystrom12": "tab:cyan",
}


def style(method: Method) -> dict[str, Any]:
    """Colour by family, marker by order, broken lines for methods that preserve nothing."""
    colour = FAMILIES[type(method).__name__]
    if isinstance(method, da.Composition) and isinstance(method.method, da.McLachlanPerlmutter):
        colour = FAMILIES["McLachlanPerlmutter"]
    kept = any((method.symplectic, method.momentum, method.constraints, method.energy))
    marker = {1: ".", 2: "o", 4: "s", 6: "^", 8: "D", 12: "*"}[method.order]
    return {
        "color": colour,
        "marker": marker,
        "ls": "-" if kept else "--",
        "ms": 4.5 if method.order < 12 else 8,
        "lw": 1.3,
    }


def draw(found: Sequence[tuple[Panel, dict[Method, list[tuple[float, float]]]]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(15.5, 9.5), constrained_layout=True)
    for ax, (panel, curves) in zip(axes.ravel(), found, strict=True):
        for method, points in curves.items():
            cost, error = zip(*points, strict=True)
            ax.loglog(cost, error, label=repr(method), **style(method))
        ax.set_title(panel.title, fontsize=11)
        ax.set_ylim(3e-13, 1)
        ax.grid(alpha=0.3)
        ax.set_xlabel("microseconds of computing per unit of time")
        ax.set_ylabel("relative error at the end")
        ax.legend(fontsize=8.5, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.savefig(PICTURE, dpi=105)


def write_table() -> None:
    """Replace what stands between the two marks in the page."""
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{markdown()}\n{END}{after}")


def main() -> None:
    write_table()
    found = []
    for panel in panels():
        reference = da.Reference(rtol=3e-14, atol=1e-14)
        run = da.simulate(
            panel.system, reference, h=panel.until, steps=1, start=panel.start, parameters=panel.parameters
        )
        found.append((panel, {m: curve(panel, m, last(run)) for m in panel.methods}))
    draw(found)
    print(f"wrote {PAGE.name} and {PICTURE.name}")


if __name__ == "__main__":
    main()
