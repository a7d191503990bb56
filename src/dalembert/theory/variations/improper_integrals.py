"""Integrals over a parameter, by bisection of panels; divergence is detected and raised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Array = Any
"""A NumPy array; NumPy is imported when there are numbers to compute."""

GAUSS = 6
"""Points per panel."""

DEPTH = 18
"""Most bisections of a panel: the distance from an end then is near the square root of the rounding unit."""

WATCHED, FALLEN = 8, 0.3
"""The integral over open panels must decrease to this fraction in so many bisections: at u^(-3/4) to 1/4, at 1/u to 1."""


NARROW = 20
"""Further bisections of a panel with a singularity inside: what is left is some hundred roundings of its place wide."""

LEFT_OVER = 1e-5
"""The part of an integral that may be left in such panels."""


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
    integrable: what is left when the bisections end is extrapolated. A singularity between corners lies anywhere in its
    panel, so what is left there follows no rule: such panels are bisected until they are narrow.
    """
    import numpy as np

    corners = np.asarray(corners, float)
    found = _bisected(function, corners[:-1], corners[1:], 0.0, DEPTH, corners)
    if not len(found.low):
        return found.total
    outer = np.isin(found.low, corners) | np.isin(found.high, corners)
    if outer.any() and found.diverges:
        raise DivergentError(found.worst)
    if outer.all():
        return _extrapolated(found.totals)
    narrow = _bisected(function, found.low[~outer], found.high[~outer], found.size, NARROW)
    if not narrow.left[-1] <= LEFT_OVER * (found.size + narrow.size):
        raise DivergentError(narrow.worst)
    if not outer.any():
        return found.settled + narrow.total
    rest = _bisected(function, found.low[outer], found.high[outer], found.size, 4)
    return found.settled + narrow.total + _extrapolated(rest.totals)


@dataclass
class _Bisected:
    """Panels after some bisections: those that have not converged, and the integral over the others."""

    low: Array
    high: Array
    sizes: Array
    settled: float
    size: float
    total: float
    """With the panels that have not converged."""
    left: list[float]
    """After each bisection, the size of what has not converged; at corners, if these are given."""
    totals: list[float]

    @property
    def diverges(self) -> bool:
        """Whether what is left does not decrease."""
        import numpy as np

        left = self.left
        return not np.isfinite(left[-1]) or len(left) <= WATCHED or left[-1] > FALLEN * left[-1 - WATCHED]

    @property
    def worst(self) -> float:
        """The middle of the panel with the largest integral."""
        import numpy as np

        k = int(np.argmax(np.where(np.isfinite(self.sizes), self.sizes, np.inf)))
        return float(self.low[k] + self.high[k]) / 2


def _bisected(
    function: Callable[[Array], Array], low: Array, high: Array, beside: float, depth: int, corners: Array | None = None
) -> _Bisected:
    """Bisect panels that have not converged; `beside` is the size of what is not among these panels.

    Without `corners` there is a singularity within the panels.
    """
    import numpy as np

    def sums(low: Array, high: Array) -> tuple[Array, Array]:
        points, weights = panel_points(low, high)
        with np.errstate(all="ignore"):
            found = weights * np.broadcast_to(function(points.ravel()), points.size).reshape(points.shape)
        if corners is None:  # by rounding, a point may be on the singularity itself
            found = np.where(np.isinf(found), 0.0, found)
        return found.sum(axis=1), np.abs(found).sum(axis=1)

    whole, size = sums(low, high)
    settled, settled_size = 0.0, 0.0
    left: list[float] = []
    totals: list[float] = []
    for _ in range(depth):
        middle = (low + high) / 2
        ends = np.concatenate([low, middle]), np.concatenate([middle, high])
        halves, sizes = (part.reshape(2, -1) for part in sums(*ends))
        scale = beside + settled_size + float(np.where(np.isfinite(size), size, 0.0).sum())
        with np.errstate(invalid="ignore"):
            open_ = ~(np.abs(halves.sum(axis=0) - whole) <= 1e-13 * scale)
        settled += float(halves[:, ~open_].sum())
        settled_size += float(sizes[:, ~open_].sum())
        chosen = np.concatenate([open_, open_])
        low, high = ends[0][chosen], ends[1][chosen]
        whole, size = halves.ravel()[chosen], sizes.ravel()[chosen]
        watched = slice(None) if corners is None else np.isin(low, corners) | np.isin(high, corners)
        left.append(float(size[watched].sum()))
        totals.append(settled + float(whole.sum()))
        if not len(low) or len(low) > 60_000:
            break
    total = settled + float(whole.sum())
    return _Bisected(low, high, size, settled, settled_size, total, left, totals)


def _extrapolated(totals: Sequence[float]) -> float:
    """The limit of sums that approach it by a constant factor."""
    step, before = totals[-1] - totals[-2], totals[-2] - totals[-3]
    ratio = step / before if before else 0.0
    return totals[-1] + (step * ratio / (1 - ratio) if 0 < ratio < 0.95 else 0.0)
