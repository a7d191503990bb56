"""Integrals over a parameter, by bisection of panels; divergence is detected and raised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Array = Any
"""A NumPy array; NumPy is imported when there are numbers to compute."""

GAUSS = 6
"""Points per panel."""

DEPTH = 18
"""Most bisections of a panel: the distance from an end then is near the square root of the rounding unit."""

WATCHED, FALLEN = 8, 0.3
"""The integral over open panels must decrease to this fraction in so many bisections: at u^(-3/4) to 1/4, at 1/u to 1."""


class DivergentError(ArithmeticError):
    """An integral diverges, or converges too slowly to be computed; `at` is the parameter near which it does."""

    def __init__(self, at: float):
        super().__init__(f"the integral diverges near {at}")
        self.at = at


def panel_points(low: Array, high: Array) -> tuple[Array, Array]:
    """Gauss points and weights, one row per panel."""
    import numpy as np

    g, w = np.polynomial.legendre.leggauss(GAUSS)
    return low[:, None] + (g + 1) / 2 * (high - low)[:, None], w / 2 * (high - low)[:, None]


def integral(function: Callable[[Array], Array], corners: Array) -> float:
    """The integral of a function over the panels between corners; the corners are not quadrature points.

    A panel has converged when its two halves agree with it to 1e-13 of the whole. Powers above -1 at a corner are
    integrable: what is left when the bisections end is extrapolated.
    """
    import numpy as np

    def sums(low: Array, high: Array) -> tuple[Array, Array]:
        points, weights = panel_points(low, high)
        with np.errstate(all="ignore"):
            found = weights * np.broadcast_to(function(points.ravel()), points.size).reshape(points.shape)
        return found.sum(axis=1), np.abs(found).sum(axis=1)

    low, high = np.asarray(corners[:-1], float), np.asarray(corners[1:], float)
    whole, size = sums(low, high)
    settled, settled_size = 0.0, 0.0
    left: list[float] = []
    totals: list[float] = []
    for _ in range(DEPTH):
        middle = (low + high) / 2
        ends = np.concatenate([low, middle]), np.concatenate([middle, high])
        halves, sizes = (part.reshape(2, -1) for part in sums(*ends))
        scale = settled_size + float(np.where(np.isfinite(size), size, 0.0).sum())
        open_ = ~(np.abs(halves.sum(axis=0) - whole) <= 1e-13 * scale)
        settled += float(halves[:, ~open_].sum())
        settled_size += float(sizes[:, ~open_].sum())
        chosen = np.concatenate([open_, open_])
        low, high = ends[0][chosen], ends[1][chosen]
        whole, size = halves.ravel()[chosen], sizes.ravel()[chosen]
        left.append(float(size.sum()))
        totals.append(settled + float(whole.sum()))
        if not len(low):
            return settled
        if len(low) > 60_000:
            break
    if not np.isfinite(left[-1]) or len(left) <= WATCHED or left[-1] > FALLEN * left[-1 - WATCHED]:
        worst = int(np.argmax(np.where(np.isfinite(size), size, np.inf)))
        raise DivergentError(float(low[worst] + high[worst]) / 2)
    step, before = totals[-1] - totals[-2], totals[-2] - totals[-3]
    ratio = step / before if before else 0.0
    return totals[-1] + (step * ratio / (1 - ratio) if 0 < ratio < 0.95 else 0.0)
