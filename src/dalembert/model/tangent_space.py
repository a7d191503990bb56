"""Changes of a state by direction: a point of a group is held by more numbers than it has directions of motion.

A change of the numbers of a point g has the components of g^-1 dg along the directions; a change that leaves the point where
it is, such as one of the length of a quaternion, has none. Velocities and momenta are components along the directions
already. On lines all matrices here are unit matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..symbolic import fast, jacobian, vectorised
from .coordinates import Coordinate
from .group_coordinate import GroupCoordinate
from .space import factors, frame

Array = NDArray[Any]


@lru_cache(maxsize=64)
def _slopes_of_numbers(g: GroupCoordinate) -> Any:
    """For rows of numbers the derivative of each number along each direction."""
    rows = jacobian(g.rates(), [d.dot for d in g.directions])
    return vectorised(g.numbers, [e for row in rows for e in row])


@lru_cache(maxsize=64)
def _slopes_of_entries(g: GroupCoordinate) -> Any:
    """For rows of numbers the derivative of each entry by each number."""
    entries = [fast(x) for row in g.group.rows_of([fast(n) for n in g.numbers]) for x in row]
    return vectorised(g.numbers, [e for row in jacobian(entries, g.numbers) for e in row])


def _number_slopes(g: GroupCoordinate, held: Array) -> Array:
    flat = held.reshape(-1, len(g.numbers))
    found: Array = _slopes_of_numbers(g)(flat).reshape(*held.shape, len(g.directions))
    return found


def _components(g: GroupCoordinate, held: Array) -> Array:
    """The components of g^-1 dg/dn for every number n of a point."""
    k = len(g.numbers)
    flat = held.reshape(-1, k)
    slopes = _slopes_of_entries(g)(flat).reshape(-1, g.size, g.size, k)
    moved = np.einsum("pij,pjlk->pkil", np.linalg.inv(g.shown(flat)), slopes)
    found: Array = np.swapaxes(g.group.vee(moved), -1, -2)
    return found.reshape(*held.shape[:-1], len(g.directions), k)


def placed(coordinates: Sequence[Coordinate]) -> tuple[Coordinate, ...]:
    """The directions along which a point can change: a group of which only the velocity matters has no points."""
    return tuple(c for f in factors(tuple(coordinates)) if f.numbers for c in f.directions)


def number_slopes(coordinates: Sequence[Coordinate], held: Array) -> Array:
    """Derivatives of the numbers that hold a position along the directions: (..., numbers) -> (..., numbers, directions)."""
    return _by_factor(coordinates, held, _number_slopes)


def components(coordinates: Sequence[Coordinate], held: Array) -> Array:
    """Changes of numbers as components along the directions: (..., numbers) -> (..., directions, numbers)."""
    return np.swapaxes(_by_factor(coordinates, held, lambda g, part: np.swapaxes(_components(g, part), -1, -2)), -1, -2)


def _by_factor(coordinates: Sequence[Coordinate], held: Array, of_group: Any) -> Array:
    """The block-diagonal matrix (..., numbers, directions) of a matrix for each group, and 1 for each line."""
    found = np.zeros((*held.shape, len(placed(coordinates))))
    at = k = 0
    for f in factors(tuple(coordinates)):
        if not f.numbers:
            continue
        if isinstance(f, GroupCoordinate) and not f.transports:
            raise ModelError(
                f"derivatives of steps are not available here: {f.name} is a {f.noun}, and the axes of its velocities are "
                f"carried along. State it by angles for this."
            )
        n, m = len(f.numbers), len(f.directions)
        group = isinstance(f, GroupCoordinate)
        found[..., at : at + n, k : k + m] = of_group(f, held[..., at : at + n]) if group else 1.0
        at, k = at + n, k + m
    return found


def symplectic_form(coordinates: Sequence[Coordinate], momenta: Array) -> Array:
    """The matrix of -d(p_k theta^k) in the components (along the directions, dp) of changes of positions and momenta.

    theta^k are the forms dual to the frame of the space, so that -p_k dtheta^k(X_i, X_j) = p_k c^k_ij; on lines the form is
    dq ^ dp. (..., n) -> (..., 2n, 2n).
    """
    n = len(coordinates)
    plain = np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(n))
    found = np.broadcast_to(plain, (*momenta.shape[:-1], *plain.shape)).copy()
    for (k, i, j), c in frame(coordinates).brackets.items():
        found[..., i, j] += float(c) * momenta[..., k]
    return found
