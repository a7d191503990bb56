"""Runs the code of docs/thermomechanics.md and draws its pictures.

python docs/make_thermomechanics.py           run, write outputs into the page and pictures into docs/pictures
python docs/make_thermomechanics.py --check   run the code, write nothing, say which outputs have changed

Redrawn are figures 2.2 to 2.4 and 4.2 to 4.15 of M. J. Bonich, Sistemas termomecanicos lagrangianos continuos y
discretos; their numbers stand above the panels.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da

DOCS = Path(__file__).parent
PAGE = DOCS / "thermomechanics.md"

STEPS = {0.2: "tab:green", 0.1: "tab:orange", 0.05: "tab:blue"}
"""The steps of the source, in its colours."""
EXACT = "crimson"
LEFT, MIDPOINT = da.LeftPoint(), da.Midpoint()


# -------------------- what is computed --------------------


def solution(name: str, times: Any) -> dict[str, Any]:
    """The exact motion of a gallery system."""
    example = da.gallery.load(name)
    assert example.exact is not None
    parameters = {p.name: v for p, v in example.parameters.items()}
    return example.exact(times, parameters, {s.name: v for s, v in example.start.items()})


@cache
def cart(method: da.methods.Method, h: float, legendre: bool = False) -> Any:
    """The cart of chapter 4 for ten seconds: begun as in the source, x1 = x0 + h v0, or by the Legendre transform."""
    example = da.gallery.load("cart-with-friction")
    x, v, S = (
        example.start[s] for s in (*example.system.coordinates, *example.system.velocities, *example.system.entropies)
    )
    start = {"x": x, "x.dot": v, "S": S} if legendre else {"x.at(0)": x, "x.at(1)": x + h * v, "S": S}
    return da.simulate(example.system, method, h=h, until=10, start=start, parameters=example.parameters)


def error(run: Any, name: str) -> Any:
    """Signed error at every node."""
    return run[name] - solution("cart-with-friction", run.time)[name]


# -------------------- panels --------------------


def labelled(ax: Any, title: str, ylabel: str) -> None:
    ax.set_title(title, fontsize=10)
    ax.set_xlabel("t [s]", fontsize=9)
    ax.set_ylabel(ylabel, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.grid(alpha=0.3)


UNIT = {"x": "x [m]", "S": "S [J/K]"}


def curve(ax: Any, name: str, title: str) -> None:
    """The exact solution."""
    t = np.linspace(0, 10, 401)
    ax.plot(t, solution("cart-with-friction", t)[name], color=EXACT, lw=1.5)
    labelled(ax, title, UNIT[name])


def points(ax: Any, method: da.methods.Method, name: str, title: str) -> None:
    """The discrete motion with the smallest step."""
    run = cart(method, 0.05)
    ax.plot(run.time, run[name], ".", color=STEPS[0.05], ms=2.5)
    labelled(ax, title, UNIT[name])


def overlay(ax: Any, method: da.methods.Method, name: str, title: str) -> None:
    """Discrete motions over the exact one."""
    t = np.linspace(0, 10, 401)
    for h, colour in STEPS.items():
        run = cart(method, h)
        ax.plot(run.time, run[name], ".", color=colour, ms=3, label=f"h = {h:g} s")
    ax.plot(t, solution("cart-with-friction", t)[name], color=EXACT, lw=1.2, label="exact")
    ax.legend(fontsize=8, loc="lower right")
    labelled(ax, title, UNIT[name])


def error_curves(ax: Any, method: da.methods.Method, name: str, title: str) -> None:
    """Signed errors for all steps."""
    for h, colour in STEPS.items():
        run = cart(method, h)
        ax.plot(run.time[1:], error(run, name)[1:], ".-", color=colour, ms=2.5, lw=0.6, label=f"h = {h:g} s")
    ax.legend(fontsize=8)
    labelled(ax, title, f"error of {UNIT[name]}")


# -------------------- pictures --------------------


def spring(plt: Any) -> Any:
    """Figures 2.2, 2.3, 2.4."""
    example = da.gallery.load("damped-spring")
    two = {"x.at(0)": 0.3, "x.at(1)": 0.3}
    run = da.simulate(example.system, LEFT, h=0.1, until=20, start=two, parameters=example.parameters)
    t = np.linspace(0, 20, 801)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), sharey=True, constrained_layout=True)
    for ax, lines in zip(axes, (("exact",), ("points",), ("points", "exact")), strict=True):
        if "points" in lines:
            ax.plot(run.time, run.x, ".", ms=3, color=STEPS[0.05], label="h = 0.1 s")
        if "exact" in lines:
            ax.plot(t, solution("damped-spring", t)["x"], color=EXACT, lw=1.3, label="exact")
    titles = ("Fig. 2.2: damped spring, exact", "Fig. 2.3: left-point map, h = 0.1 s", "Fig. 2.4: both")
    for ax, title in zip(axes, titles, strict=True):
        labelled(ax, title, "x [m]")
    axes[2].legend(fontsize=8)
    return figure


def cart_left(plt: Any) -> Any:
    """Figures 4.2 to 4.9."""
    figure, axes = plt.subplots(2, 4, figsize=(15, 6.4), constrained_layout=True)
    for row, name, numbers in ((axes[0], "x", (2, 4, 5, 6)), (axes[1], "S", (3, 7, 8, 9))):
        curve(row[0], name, f"Fig. 4.{numbers[0]}: exact")
        points(row[1], LEFT, name, f"Fig. 4.{numbers[1]}: left-point map, h = 0.05 s")
        overlay(row[2], LEFT, name, f"Fig. 4.{numbers[2]}: three steps and exact")
        error_curves(row[3], LEFT, name, f"Fig. 4.{numbers[3]}: errors")
    return figure


def cart_midpoint(plt: Any) -> Any:
    """Figures 4.10 to 4.15."""
    figure, axes = plt.subplots(2, 3, figsize=(12, 6.4), constrained_layout=True)
    for row, name, numbers in ((axes[0], "x", (10, 11, 14)), (axes[1], "S", (12, 13, 15))):
        points(row[0], MIDPOINT, name, f"Fig. 4.{numbers[0]}: midpoint map, h = 0.05 s")
        overlay(row[1], MIDPOINT, name, f"Fig. 4.{numbers[1]}: three steps and exact")
        error_curves(row[2], MIDPOINT, name, f"Fig. 4.{numbers[2]}: errors")
    return figure


def starts(plt: Any) -> Any:
    """Largest errors against the step, for both maps and both starts; and the errors of the energy of three methods."""
    hs = [0.4, 0.2, 0.1, 0.05, 0.025, 0.0125]
    figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.2), constrained_layout=True)
    kinds = [(m, colour, begun) for m, colour in ((LEFT, "tab:blue"), (MIDPOINT, "tab:red")) for begun in (False, True)]
    for ax, name in zip(axes, ("x", "S"), strict=False):
        for method, colour, legendre in kinds:
            largest = [float(np.abs(error(cart(method, h, legendre), name)).max()) for h in hs]
            told = f"{type(method).__name__}, {'Legendre start' if legendre else 'x1 = x0 + h v0'}"
            against_step(
                ax, hs, largest, told, color=colour, marker="o" if legendre else "s", ls="-" if legendre else "--"
            )
        labelled(ax, f"largest error of {UNIT[name]}", "")
    for method in (LEFT, MIDPOINT, da.DiscreteGradient()):
        energies = (cart(method, h, True).energy for h in hs)
        against_step(axes[2], hs, [float(np.abs(e - e[0]).max()) for e in energies], type(method).__name__, marker="o")
    labelled(axes[2], "largest error of the energy [J], of 310 J", "")
    for ax, place in zip(axes, ("lower right", "lower right", (0.42, 0.3)), strict=True):
        ax.set_xticks(hs, [f"{h:g}" for h in hs])
        ax.set_xticks([], minor=True)
        ax.set_xlabel("h [s]", fontsize=9)
        ax.legend(fontsize=8, loc=place)
    return figure


def against_step(ax: Any, hs: list[float], errors: list[float], told: str, **style: Any) -> None:
    """A line on logarithmic axes, with its slope between the smallest steps in the legend."""
    order = np.log(errors[-2] / errors[-1]) / np.log(hs[-2] / hs[-1])
    slope = f"order {order:.2f}" if errors[-2] > 1e-11 else "rounding"
    ax.loglog(hs, errors, ms=4, lw=1.2, label=f"{told}: {slope}", **style)


def chambers(plt: Any) -> Any:
    """Two gases and the piston between them: the way to equilibrium."""
    example = da.gallery.load("two-gas-chambers")
    run = da.simulate(
        example.system, da.DiscreteGradient(), h=example.h, until=8, start=example.start, parameters=example.parameters
    )
    p = {s.name: v for s, v in example.parameters.items()}
    N, line = p["N1"] + p["N2"], {"color": "0.4", "ls": ":", "lw": 1.2}
    T, x = run.energy[0] / (1.5 * p["R"] * N), p["l"] * p["N1"] / N
    most = sum(
        n * p["R"] * np.log((T / p["T0"]) ** 1.5 * p["A"] * length / p["V0"])
        for n, length in ((p["N1"], x), (p["N2"], p["l"] - x))
    )
    figure, axes = plt.subplots(1, 4, figsize=(15, 3.5), constrained_layout=True)
    axes[0].plot(run.time, run.x, lw=1.2)
    axes[0].axhline(x, **line)
    labelled(axes[0], "piston; dotted: equal pressures", "x [m]")
    for k, colour in enumerate(("tab:blue", "tab:red")):
        axes[1].plot(run.time, run.temperatures[:, k], color=colour, lw=1.2, label=f"gas {k + 1}")
    axes[1].axhline(T, **line)
    axes[1].legend(fontsize=8)
    labelled(axes[1], "temperatures; dotted: E/(3 N R/2)", "T [K]")
    axes[2].plot(run.time, run.S1 + run.S2, lw=1.2)
    axes[2].axhline(most, **line)
    labelled(axes[2], "total entropy; dotted: its maximum", "S [J/K]")
    axes[3].plot(run.time, (run.energy - run.energy[0]) / run.energy[0], lw=0.8)
    labelled(axes[3], "total energy, relative change", "")
    return figure


def beyond(plt: Any) -> Any:
    """Four more systems: a spiral, a swing in warm oil, springs that exchange heat, a top that falls."""
    runs = {}
    for name in (
        "rolling-disk-with-friction",
        "friction-heated-pendulum",
        "thermoelastic-double-pendulum",
        "heavy-top-in-fluid",
    ):
        e = da.gallery.load(name)
        runs[name] = da.simulate(
            e.system, da.DiscreteGradient(), h=e.h, until=e.until, start=e.start, parameters=e.parameters
        )
    figure, axes = plt.subplots(1, 4, figsize=(15, 3.7), constrained_layout=True)
    disk, pendulum, springs, top = runs.values()
    axes[0].plot(disk.x, disk.y, lw=1)
    axes[0].set_aspect("equal")
    labelled(axes[0], "rolling disk with friction: trace", "y [m]")
    axes[0].set_xlabel("x [m]", fontsize=9)
    axes[1].plot(pendulum.time, pendulum.theta, lw=1, label="in oil that warms")
    e = da.gallery.load("friction-heated-pendulum")
    n = next(p for p in e.parameters if p.name == "n")
    cold = da.simulate(
        e.system, da.DiscreteGradient(), h=e.h, until=e.until, start=e.start, parameters={**e.parameters, n: 0.0}
    )
    axes[1].plot(cold.time, cold.theta, lw=1, color="0.5", label="viscosity of cold oil")
    axes[1].legend(fontsize=8)
    labelled(axes[1], "friction-heated pendulum", "angle")
    for k, colour in enumerate(("tab:blue", "tab:red")):
        axes[2].plot(springs.time, springs.temperatures[:, k], color=colour, lw=0.8, label=f"spring {k + 1}")
    axes[2].legend(fontsize=8)
    labelled(axes[2], "thermoelastic double pendulum", "T [K]")
    axes[3].plot(top.time, top.theta, lw=0.9)
    labelled(axes[3], "heavy top in a fluid: tilt", "angle")
    return figure


PICTURE = {
    "spring": spring,
    "cart-left": cart_left,
    "cart-midpoint": cart_midpoint,
    "starts": starts,
    "chambers": chambers,
    "beyond": beyond,
}


if __name__ == "__main__":
    from make_tutorials import remake

    sys.exit(remake(PAGE, PICTURE, "thermo", sys.argv[1:]))
