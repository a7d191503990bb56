"""The scale of a system: sizes of coordinates, velocities, time and parameters at which the terms of its energy balance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..decide.decimals import exact
from ..decide.scale import natural_scales
from ..symbolic import fast, substitute
from .coordinates import Coordinate, time
from .space import groups

if TYPE_CHECKING:
    from .system import System


@lru_cache(maxsize=64)
def system_scales(system: System) -> dict[str, float]:
    """A power of two for every name: coordinates, velocities, entropies, time and parameters.

    The virtual work of forces, and the work of dissipation and heat in the time scale, count as further terms of the energy.
    """
    return scales_of(_sums(system), (*system.coordinates, *system.entropies), system.parameters)


def scales_at(system: System, values: Mapping[str, float]) -> dict[str, float]:
    """The same for given values of the parameters: scales of coordinates, velocities, entropies and time."""
    numbers = {fast(p): fast(exact(float(values[p.name]))) for p in system.parameters}
    sums = [[substitute(e, numbers) for e in terms] for terms in _sums(system)]
    return scales_of(sums, (*system.coordinates, *system.entropies), ())


def _sums(system: System) -> list[list[Any]]:
    """The terms of the energy, and those of every constraint."""
    q, t = system.coordinates, fast(time)
    unit = {e: size for R in groups(q) for e, size in R.entry_sizes.items()}

    def sized(e: Any) -> Any:
        return substitute(e, unit) if unit else e

    energy = [
        sized(system.lagrangian),
        *(sized(fast(f) * fast(c)) for f, c in zip(system.external_force, q, strict=True)),
        *(sized(fast(f) * fast(c)) for row in system.friction for f, c in zip(row, q, strict=True)),
        *(fast(P) * t for P in system.heat),
    ]
    return [energy, *([sized(c.expression)] for c in system.constraints)]


def scales_of(sums: Sequence[Sequence[Any]], q: Sequence[Coordinate], parameters: Sequence[Any]) -> dict[str, float]:
    """The scales of coordinates, velocities, time and parameters that balance the terms of some sums."""
    ties = {c.dot.name: {c.name: 1.0, time.name: -1.0} for c in q}
    names = [*(s.name for c in q for s in (c, c.dot)), time.name, *(p.name for p in parameters)]
    return natural_scales(sums, names, ties)
