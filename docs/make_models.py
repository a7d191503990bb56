"""Runs the code of docs/models-of-constraints.md and draws its pictures.

python docs/make_models.py           run, write outputs into the page and pictures into docs/pictures
python docs/make_models.py --check   run the code, write nothing, say which outputs have changed
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da

DOCS = Path(__file__).parent
PAGE = DOCS / "models-of-constraints.md"

LOOK = {
    "d'Alembert-Chetaev": {"color": "lightskyblue", "ls": "-", "lw": 5.0},
    "Upsilon, minimal": {"color": "tab:green", "ls": "--", "lw": 2.6},
    "commuting velocities": {"color": "tab:orange", "ls": "-.", "lw": 1.8},
    "vakonomic": {"color": "crimson", "ls": "-", "lw": 1.0},
}
"""The line of every model, from wide to narrow: motions that coincide are lines within lines."""


def motions(name: str, until: float, h: float = 0.01, **more: Any) -> Any:
    """The motions of all models for a gallery system from its default start."""
    example = da.gallery.load(name)
    compared = da.compare_models(example.system)
    return compared.motions(start=example.start, parameters=example.parameters, h=h, until=until, **more)


def labelled(ax: Any, title: str, xlabel: str, ylabel: str) -> None:
    ax.set_title(title, fontsize=10)
    ax.set_xlabel(xlabel, fontsize=9)
    ax.set_ylabel(ylabel, fontsize=9)
    ax.tick_params(labelsize=8)
    ax.grid(alpha=0.3)


def traces(ax: Any, found: Any, across: str, along: str) -> None:
    """The paths of all models in a plane."""
    for name, run in found.runs.items():
        ax.plot(run[across], run[along], **LOOK[name], label=name)
    ax.legend(fontsize=8)


def skate(plt: Any) -> Any:
    """A skate on an incline: its traces, and how far down it is."""
    found = motions("knife-edge", 8, models=["Upsilon, minimal", "vakonomic"])
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), constrained_layout=True)
    traces(axes[0], found, "y", "x")
    axes[0].invert_yaxis()
    labelled(axes[0], "skate on an incline: traces", "y, across the slope [m]", "x, down the slope [m]")
    for name, run in found.runs.items():
        axes[1].plot(run.time, run.x, **LOOK[name])
    axes[1].invert_yaxis()
    labelled(axes[1], "way down the slope", "t [s]", "x [m]")
    return figure


def penny(plt: Any) -> Any:
    """A penny on a plane, where the models agree; with other multipliers; and on an incline."""
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.2), constrained_layout=True)
    traces(axes[0], motions("rolling-disk", 10, 0.02), "x", "y")
    labelled(axes[0], "penny on a plane, mu = -m (x.dot, y.dot)", "x [m]", "y [m]")
    traces(axes[1], motions("rolling-disk", 10, 0.02, multipliers=[0, 0]), "x", "y")
    labelled(axes[1], "penny on a plane, mu = 0", "x [m]", "y [m]")
    traces(axes[2], motions("penny-on-incline", 6), "y", "x")
    labelled(axes[2], "penny on an incline, mu = 0", "y, across the slope [m]", "x, up the slope [m]")
    for ax in axes[:2]:
        ax.set_aspect("equal")
    return figure


def appell(plt: Any) -> Any:
    """Appell's device until it stops: the rise in every model, and the printed and the corrected integral."""
    found = motions("appell-device", 0.29, 0.005)
    example = da.gallery.load("appell-device")
    x, y, _ = example.system.coordinates
    m, g, a = example.parameters
    r, t = da.sqrt(x.dot**2 + y.dot**2), da.time
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), constrained_layout=True)
    for name, run in found.runs.items():
        axes[0].plot(run.time, run.z, **LOOK[name], label=name)
    axes[0].legend(fontsize=8)
    labelled(axes[0], "Appell's device: rise until r = 0", "t [s]", "z [m]")
    run = found.runs["d'Alembert-Chetaev"]
    printed = x.dot * (m + a * g * t / ((1 + a**2) * r))
    for told, e in (("corrected", example.invariants["first integral along x"]), ("as printed", printed)):
        axes[1].plot(run.time, run.quantity(e), lw=1.4, label=told)
    axes[1].legend(fontsize=8)
    labelled(axes[1], "first integral along x", "t [s]", "")
    return figure


def geodesics(plt: Any) -> Any:
    """Shortest paths of the Heisenberg group from the origin to points above (1, 0)."""
    system = da.gallery.load("heisenberg-geodesics").system
    x, y, z = system.coordinates
    figure, ax = plt.subplots(figsize=(7.5, 4.4), constrained_layout=True)
    for area in (0, 0.1, 0.3, 0.6, 1.0):
        found = da.connect(
            system, da.DormandPrince8(), from_={x: 0, y: 0, z: 0}, to={x: 1, y: 0, z: area}, time=1, steps=100, tries=24
        )
        ax.plot(found.run.x, found.run.y, lw=1.4, label=f"area {area:g}: length {np.sqrt(2 * found.actions[0]):.3f}")
    ax.set_aspect("equal")
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.02, 0.5))
    labelled(ax, "geodesics of the Heisenberg group", "x", "y")
    return figure


PICTURE = {"skate": skate, "penny": penny, "appell": appell, "geodesics": geodesics}


if __name__ == "__main__":
    from make_tutorials import remake

    sys.exit(remake(PAGE, PICTURE, "models", sys.argv[1:]))
