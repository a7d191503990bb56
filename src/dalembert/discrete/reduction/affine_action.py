"""An action on the entries of matrices and on lines as one matrix, where it is affine in them: Phi(g, X) = T(g) X.

A product of many group elements is computed as a product of these matrices: coordinates of group elements may have a
singularity (those of rotations at half a turn), matrices have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Expr

from ...model.coordinates import Coordinate
from ...model.group_coordinate import GroupCoordinate
from ...symbolic import Fast, fast, gradient, substitution
from ...theory.reduction.group_charts import chart, matrix_in_chart
from .bundle import Bundle

Array = NDArray[Any]


@dataclass(frozen=True)
class AffineAction:
    """The symbols X that the group moves, their values on the section by shape, and the rows of T(g); the last of X is 1."""

    symbols: tuple[Any, ...]
    section: tuple[Fast, ...]
    rows: tuple[tuple[Fast, ...], ...]

    def read(self, R: GroupCoordinate, X: Array) -> Array:
        """The matrices of a group coordinate, on two further axes."""
        places = {s: k for k, s in enumerate(self.symbols)}
        found = np.empty((*X.shape[:-1], R.size, R.size))
        for i in range(R.size):
            for j in range(R.size):
                e = R.matrix[i, j]
                found[..., i, j] = X[..., places[e]] if e in places else float(e)
        return found


def affine_action(over: Bundle) -> AffineAction | None:
    """The action of a bundle with group coordinates as a matrix; None if it is not affine in entries and lines."""
    images: dict[Any, Expr] = {e: over.stated.action[e] for R in over.stated.groups for e in R.entries} | {
        c: over.symmetry.action[c] for c in lines(over)
    }
    symbols = tuple(images)
    rows = []
    for image in images.values():
        slopes = gradient(fast(image), symbols)
        rest = substitution(dict.fromkeys(symbols, 0))(fast(image))
        if any(s.name in {x.name for x in e.free_symbols} for e in slopes for s in (*symbols, *over.coordinates)):
            return None
        if {x.name for x in rest.free_symbols} & {c.name for c in over.coordinates}:
            return None
        rows.append((*slopes, rest))
    rows.append((*[fast(0)] * len(symbols), fast(1)))
    at = over.placed()
    within = {e: x for R in over.stated.groups for e, x in _on_section(R, at).items()} | {c: at[c] for c in lines(over)}
    return AffineAction(symbols, (*(within[s] for s in symbols), fast(1)), tuple(rows))


def lines(over: Bundle) -> list[Coordinate]:
    """The coordinates that the group moves and that are numbers."""
    numbers = {c for R in over.stated.groups for c in chart(R)}
    return [c for c in over.symmetry.action if c not in numbers]


def _on_section(R: GroupCoordinate, at: Mapping[Coordinate, Fast]) -> dict[Any, Fast]:
    place, whole = substitution({c: at[c] for c in chart(R)}), matrix_in_chart(R)
    return {e: place(fast(whole[e.place])) for e in R.entries}


def products(first: Array, steps: Array) -> Array:
    """first, first steps[0], first steps[0] steps[1], ...: (lanes, m, m), (lanes, n, m, m) -> (lanes, n + 1, m, m)."""
    found = np.empty((steps.shape[0], steps.shape[1] + 1, *steps.shape[2:]))
    found[:, 0] = first
    for k in range(steps.shape[1]):
        found[:, k + 1] = found[:, k] @ steps[:, k]
    return found


def tabulated(values: Sequence[Array], shape: tuple[int, ...], size: int) -> Array:
    """Entries, row by row, as matrices on two last axes."""
    return np.stack([np.broadcast_to(v, shape) for v in values], axis=-1).reshape(*shape, size, size)
