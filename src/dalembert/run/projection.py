"""Projection of states onto the constraints: positions onto the holonomic ones, velocities onto the admissible ones.

Corrections are the smallest in the metric of the masses, |d|^2 = sum m_i d_i^2, which does not depend on units.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model.space import by_direction, moved_numbers
from ..model.system import System
from ..theory.motion import state_maps as maps
from .values import Array, point_map

TURNS = 8
"""Largest number of Newton steps; two suffice from a state that is off by the tolerance of a solver."""

DEPENDENT = 1e-9
"""Constraints are dependent where a singular value of their rows, each of length one, is below this."""


class Projection:
    """The constraints of a system with one set of parameters."""

    def __init__(self, system: System, rows: Array):
        self.system, self.coordinates, self.rows = system, system.coordinates, rows
        self.holonomic = [a for a, c in enumerate(system.constraints) if c.is_holonomic]
        self._compiled = point_map(maps.constraint_map(system))

    def table(self, t: float, q: Array, v: Array, S: Array) -> tuple[Array, Array, Array]:
        """Value, drift and coefficients of every constraint."""
        found = self._compiled(np.concatenate([q, v, S, [t]])[None, :], self.rows)[0][0]
        return maps.constraint_parts(self.system, found)

    def state(self, t: float, q: Array, v: Array, S: Array, masses: Array) -> tuple[Array, Array]:
        """Position and velocity on the constraints."""
        if self.holonomic:
            begun, size = q, by_direction(self.coordinates, q)
            d = self._settled(
                0 * v, masses, lambda d: self._positions(t, moved_numbers(self.coordinates, begun, d), v, S), size
            )
            q = moved_numbers(self.coordinates, begun, d)
        return q, self._settled(v, masses, lambda x: self._velocities(t, q, x, S))

    def _positions(self, t: float, q: Array, v: Array, S: Array) -> tuple[Array, Array]:
        value, _, row = self.table(t, q, v, S)
        return row[self.holonomic], value[self.holonomic]

    def _velocities(self, t: float, q: Array, v: Array, S: Array) -> tuple[Array, Array]:
        _, drift, row = self.table(t, q, v, S)
        return row, row @ v + drift

    def _settled(
        self, x: Array, masses: Array, look: Callable[[Array], tuple[Array, Array]], from_: Array | float = 0.0
    ) -> Array:
        """Newton's method, until corrections are rounding relative to the displaced point, or stop shrinking."""
        weight, before = np.where(masses > 0, masses, 0.0), np.inf
        for _ in range(TURNS):
            d = smallest_change(*look(x), masses)
            size = float(np.sqrt(weight @ d**2))
            if not size < 0.5 * before:
                break
            x, before = x - d, size
            if size <= 4e-16 * float(np.sqrt(weight @ (from_ + x) ** 2)):
                break
        return x


def lengths(rows: Array, masses: Array) -> Array:
    """The unit of each coordinate: 1/sqrt(mass); without mass, the unit with which it has the same weight in
    its constraint as the others.

    rows: (lanes, constraints, coordinates), masses: (lanes, coordinates).
    """
    with np.errstate(all="ignore"):
        unit = np.where(masses > 0, 1 / np.sqrt(masses), 0.0)
    for i in np.flatnonzero((masses <= 0).any(axis=0)):
        others, entries = np.abs(rows * unit[:, None, :]).max(axis=2, initial=0.0), np.abs(rows[:, :, i])
        lane, a = np.arange(len(rows)), np.argmax(entries, axis=1)
        share, entry = others[lane, a], entries[lane, a]
        own = np.where(share > 0, share, 1.0) / np.where(entry > 0, entry, 1.0)
        unit[:, i] = np.where(masses[:, i] > 0, unit[:, i], np.where(entry > 0, own, 0.0))
    return unit


def smallest_change(row: Array, value: Array, masses: Array) -> Array:
    """The smallest change by which the constraints change by their values."""
    if not (np.isfinite(row).all() and np.isfinite(value).all()):
        return np.zeros(row.shape[1])
    unit = lengths(row[None], masses[None])[0]
    scaled = row * unit
    norm = np.linalg.norm(scaled, axis=1)
    norm = np.where(norm > 0, norm, 1.0)
    shift: Array = unit * (np.linalg.pinv(scaled / norm[:, None], rcond=DEPENDENT) @ (value / norm))
    return shift
