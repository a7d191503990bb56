"""Curves of many lanes: one each while they are few, else bands, or how densely a plane is filled, of all lanes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MethodError, told
from .figure_style import COLOURS, DASHES, MANY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]

SHOWN = 25
"""Most lanes of which a curve each is drawn, unless all are asked for; more are illegible."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CELLS = 160
"""Cells along each side of a density."""


@dataclass(frozen=True)
class Look:
    """How a run is drawn.

    lanes:  "curves", "bands", "density"; None chooses by their number
    wrap:   the names of angles that are drawn between -pi and pi
    units:  {name: unit}
    """

    lanes: str | None = None
    wrap: frozenset[str] = frozenset()
    units: dict[str, str] = field(default_factory=dict)

    def curves(self, count: int) -> bool:
        """Whether each lane has a curve."""
        return self.lanes == "curves" or (self.lanes is None and count <= SHOWN)

    @property
    def dense(self) -> bool:
        """Whether densities are drawn against time too."""
        return self.lanes == "density"


def checked_lanes(lanes: Any) -> str | None:
    """How lanes are drawn, by name."""
    if lanes is not None and (not isinstance(lanes, str) or lanes not in ("curves", "bands", "density")):
        raise MethodError(f"plot: lanes = {told(lanes)}. Expected 'curves', 'bands' or 'density'.")
    return lanes


def wrapped(values: Array) -> Array:
    """Angles between -pi and pi."""
    found: Array = np.mod(values + np.pi, 2 * np.pi) - np.pi
    return found


def broken(values: Array) -> Array:
    """The same curve with a gap where a wrapped angle jumps."""
    found = values.copy()
    found[..., 1:][np.abs(np.diff(values, axis=-1)) > np.pi] = np.nan
    return found


def against_time(axes: Axes, time: Array, values: Any, look: Look, label: str | None = None, k: int = 0) -> None:
    """Values of one or more lanes against time, as the k-th of several."""
    y = np.atleast_2d(values)
    colour, dash = COLOURS[k % len(COLOURS)], DASHES[k // len(COLOURS) % len(DASHES)]
    if look.curves(len(y)):
        _each(axes, np.broadcast_to(time, y.shape), y, label, colour, dash)
    elif look.dense:
        _density(axes, np.broadcast_to(time, y.shape), y, colour)
        axes.plot([], [], color=colour, linewidth=4, label=label)
    else:
        known = np.isfinite(y).any(axis=0)
        low, quarter, middle, upper, high = np.nanquantile(y[:, known], QUANTILES, axis=0)
        many = middle.size > MANY
        for a, b, alpha in ((low, high, 0.15), (quarter, upper, 0.3)):
            axes.fill_between(time[known], a, b, color=colour, alpha=alpha, linewidth=0, rasterized=many)
        axes.plot(time[known], middle, dash, color=colour, label=label, rasterized=many)


def in_plane(axes: Axes, x: Any, y: Any, look: Look, k: int = 0) -> None:
    """Paths of one or more lanes in a plane; of many, how often each place is met."""
    xs, ys = np.broadcast_arrays(np.atleast_2d(x), np.atleast_2d(y))
    if look.curves(len(ys)):
        _each(axes, xs, ys, None, COLOURS[k % len(COLOURS)], "-")
        axes.plot(xs[:, 0], ys[:, 0], "o", ms=3.5, color=COLOURS[(k + 1) % len(COLOURS)])
    else:
        _density(axes, xs, ys)


def _each(axes: Axes, xs: Array, ys: Array, label: str | None, colour: str, dash: str) -> None:
    faint = 1.0 if len(ys) == 1 else max(0.1, 0.45 * min(1.0, SHOWN / len(ys)))
    many = ys.size > MANY
    for lane, (x, y) in enumerate(zip(xs, ys, strict=True)):
        axes.plot(x, y, dash, color=colour, alpha=faint, label=label if lane == 0 else None, rasterized=many)


def _density(axes: Axes, xs: Array, ys: Array, colour: str | None = None) -> None:
    """How often each cell is met; where there are several quantities, in shades of the colour of each."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgb

    known = np.isfinite(xs) & np.isfinite(ys)
    if not known.any():
        return
    shades: Any = "viridis"
    if colour is not None:
        own = np.array(to_rgb(colour))
        shades = LinearSegmentedColormap.from_list(colour, [0.2 * own + 0.8, own, 0.4 * own])
    axes.hist2d(xs[known], ys[known], bins=CELLS, cmin=1, norm=LogNorm(), cmap=shades, rasterized=True)


def told_lanes(count: int | None, look: Look) -> str:
    """What is drawn of an ensemble, for the title."""
    if count is None:
        return ""
    if look.curves(count):
        return f", {count} lanes"
    how = "how densely they pass, logarithmic" if look.dense else "median, bands of 50 % and 90 %"
    return f", {count} lanes: {how}"
