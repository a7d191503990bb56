"""Whether an energy drifts: the fitted slope over a million steps, and its own error."""

from __future__ import annotations

from functools import cache

import numpy as np

import dalembert as da
from dalembert.methods import Method

from . import systems

FAR, BLOCKS = 1_000_000, 50
BY_ORDER = {1: 0.02, 2: 0.1, 4: 0.25, 6: 0.6, 8: 1.0}
"""Steps so long that the error of the method, not rounding, is what is seen."""


def drift(times: np.ndarray, values: np.ndarray, blocks: int = BLOCKS) -> tuple[float, float]:
    """The slope of a straight line through the means of equal blocks, and its standard error."""
    known = np.isfinite(values)
    size = known.sum() // blocks * blocks
    t, v = (a[known][:size].reshape(blocks, -1).mean(axis=1) for a in (times, values))
    t = t - t.mean()
    slope = t @ v / (t @ t)
    rest = v - v.mean() - slope * t
    return float(slope), float(np.sqrt(rest @ rest / (blocks - 2) / (t @ t)))


def rounding(method: Method, system: da.System, steps: int, size: float = 1.0) -> float:
    """What rounding may add up to: a random walk of ten units in the last place of coordinates of the given size."""
    count = steps * len(method.step_map(system).substeps)
    return float(np.finfo(float).eps * 10 * size * np.sqrt(count))


@cache
def henon_heiles() -> systems.Case:
    """Two degrees of freedom, energy 1/12: most motions are regular."""
    x, y = da.coordinates("x y")
    system = da.System(
        "Henon-Heiles",
        [x, y],
        kinetic=(x.dot**2 + y.dot**2) / 2,
        potential=(x**2 + y**2) / 2 + x**2 * y - y**3 / 3,
    )
    speed = float(np.sqrt(1 / 6 - 0.1**2 + 2 * 0.1**3 / 3))
    return systems.Case(system, {x: 0.0, y: 0.1, x.dot: speed, y.dot: 0.0}, {})


@cache
def sphere() -> systems.Case:
    """The spherical pendulum in Cartesian coordinates."""
    x, y, z = da.coordinates("x y z")
    system = da.System(
        "spherical pendulum, Cartesian",
        [x, y, z],
        kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2,
        potential=z,
        constraints=[x**2 + y**2 + z**2 - 1],
    )
    return systems.Case(system, {x: 0.8, y: 0.0, z: -0.6, x.dot: 0.0, y.dot: 0.6, z.dot: 0.0}, {})
