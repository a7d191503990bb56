"""Units in which the unknowns of a start are of size one: velocities of a motion between two configurations, multipliers.

Coordinates are compared by the roots of their masses, so that velocities in them belong to one kinetic energy, whatever the
units of length and angle; multipliers are energies over the sizes of their constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.coordinates import time
from ..model.scales import system_scales
from ..model.system import System
from ..symbolic import fast, gradient
from ..theory.motion import state_maps as maps
from .values import Array, point_map


@dataclass(frozen=True, eq=False)
class StartUnits:
    """Sizes of the unknowns of a start.

    reach:        how far each coordinate moves
    velocities:   the same over the time
    multipliers:  of each multiplier in the state
    """

    reach: Array
    velocities: Array
    multipliers: Array

    @property
    def all(self) -> Array:
        """Of velocities, then of multipliers."""
        return np.concatenate([self.velocities, self.multipliers])


def start_units(system: System, begin: Mapping[Any, float], way: Array, duration: float, rows: Any) -> StartUnits:
    """The units of starts from a configuration that lead along a way in a time; `rows` has the numbers of the parameters."""
    q, held = system.coordinates, list(system.principle.carried(system))
    point = _point(system, begin, np.zeros(len(q)), len(held))
    p = gradient(system.lagrangian, system.velocities)
    masses = _values(system, [gradient(a, [v])[0] for a, v in zip(p, system.velocities, strict=True)], point, rows)
    scales = system_scales(system)
    shape = _by_masses(np.abs(masses), np.array([scales[c.name] for c in q]))
    own = np.array([scales[v.name] for v in system.velocities]) * duration
    reach = shape * np.max(np.abs(way if way.any() else own) / shape)
    velocities = reach / duration
    return StartUnits(reach, velocities, _of_multipliers(system, begin, velocities, masses, held, rows))


def _by_masses(masses: Array, scales: Array) -> Array:
    """Ratios between coordinates: one over the root of the mass; where a mass is zero, those of the scale of the system."""
    known = np.isfinite(masses) & (masses > 0)
    shape = np.where(known, masses, 1.0) ** -0.5
    if not known.any():
        return scales
    return np.where(known, shape, scales * np.median(shape[known] / scales[known]))


def _of_multipliers(
    system: System, begin: Mapping[Any, float], velocities: Array, masses: Array, held: list[Any], rows: Any
) -> Array:
    if not held:
        return np.zeros(0)
    energy = float(np.nansum(np.abs(masses) * velocities**2)) / 2
    own = [c for c, m in zip(system.constraints, system.multipliers, strict=True) if m in held]
    slopes = [e for c in own for e in gradient(c.expression, system.velocities)]
    table = _values(system, slopes, _point(system, begin, velocities, len(held)), rows).reshape(len(own), -1)
    sizes = np.abs(table) @ velocities if own else np.zeros(0)
    return np.where((sizes > 0) & (energy > 0), energy / np.where(sizes > 0, sizes, 1.0), 1.0)


def _point(system: System, begin: Mapping[Any, float], velocities: Array, held: int) -> Array:
    place = [begin[c] for c in system.coordinates]
    return np.array([*place, *velocities, *np.zeros(held), begin.get(time, 0.0)])


def _values(system: System, expressions: list[Any], point: Array, rows: Any) -> Array:
    compiled = maps.quantity_map(system, {f"unit.{k}": fast(e) for k, e in enumerate(expressions)})
    found: Array = point_map(compiled)(point[None], rows)[0][0]
    return found
