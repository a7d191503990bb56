"""Forces as they are given, by coordinate: those of a coordinate with values in a group by direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sympy import Expr

from ..errors import ModelError, told
from .coordinates import Coordinate
from .group_coordinate import GroupCoordinate


def forces(given: Mapping[Coordinate, Any], q: tuple[Coordinate, ...], checked: Any) -> tuple[Expr, ...]:
    """The force on each coordinate."""
    if not isinstance(given, Mapping):
        raise ModelError(
            f"forces: got {told(given)}. Expected {{coordinate: expression}}, for example forces={{{q[0]}: 1}}."
        )
    found = _by_direction(given, q)
    for key in found:
        if key not in q:
            raise ModelError(
                f"forces: {key} is not a coordinate of this system. Its coordinates are "
                f"{', '.join(c.name for c in q)}; write forces={{{q[0]}: ...}}."
            )
    return tuple(checked(found.get(c, 0), f"force on {c}") for c in q)


def friction(given: Any, q: Sequence[Coordinate]) -> Any:
    """Friction, of one entropy or by entropy, with the components of a torque by direction."""
    if not isinstance(given, Mapping):
        return given
    by_entropy = {k: _by_direction(v, q) if isinstance(v, Mapping) else v for k, v in given.items()}
    return _by_direction(by_entropy, q)


def _by_direction(forces: Mapping[Any, Any], q: Sequence[Coordinate]) -> dict[Any, Any]:
    """Forces with the components of a torque by direction."""
    found: dict[Any, Any] = {}
    for key, given in forces.items():
        if not isinstance(key, GroupCoordinate) or key.directions[0] not in q:
            found[key] = given
            continue
        found |= dict(zip(key.directions, key.by_direction(given), strict=True))
    return found
