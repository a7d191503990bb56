"""Rotations and displacements of group coordinates that may be symmetries: from the left, of space, or from the right, of
the body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Expr, Matrix, Symbol

from ...model.coordinates import Coordinate, Parameter
from ...model.group_coordinate import GroupCoordinate
from ...model.space import groups
from ...model.system import System
from .section import turn
from .symmetry import Symmetry


@dataclass(frozen=True)
class Turn:
    """A motion of one parameter s: a name, and the images of lines and of matrices."""

    name: str
    lines: Mapping[Coordinate, Expr]
    matrices: Mapping[GroupCoordinate, Matrix]

    @property
    def action(self) -> dict[Any, Any]:
        """The action, as `Symmetry` takes it."""
        return {**self.lines, **self.matrices}


def turns(
    system: System, lines: Sequence[Coordinate], names: Iterator[Parameter]
) -> Iterator[tuple[Parameter, list[Turn]]]:
    """For each direction of the groups an element and some motions, the simplest first; one of them is enough."""
    turning = [R for R in groups(system.coordinates) if R.group.has_cayley and R.group.has_formulas]
    for R in turning:
        for k in range(R.acting.dimension):
            s = next(names)
            alone = Turn(f"{_from_left(R, k)}", {}, {R: turn(R, k, s) * R.matrix})
            yield s, [alone, *_with_others(turning, lines, R, k, s)]
            if R.transports:
                s = next(names)
                yield s, [Turn(f"{R.directions[k].name} from the right", {}, {R: R.matrix * turn(R, k, s)})]


def _from_left(R: GroupCoordinate, k: int) -> str:
    """The name of a direction; of a unit vector, which has only two, the axis of space about which it turns."""
    return f"{R.directions[k].name} from the left" if R.transports else f"turn of {R.name} about axis {k + 1} of space"


def _with_others(
    turning: Sequence[GroupCoordinate], lines: Sequence[Coordinate], R: GroupCoordinate, k: int, s: Any
) -> Iterator[Turn]:
    """A turn of space moves all that is in it: other group coordinates of the same group, and lines that are a vector."""
    alike = {Q: turn(Q, k, s) * Q.matrix for Q in turning if Q.acting == R.acting}
    if len(alike) > 1 and next(iter(alike)) == R:
        yield Turn(f"{_from_left(R, k)}, with all groups", {}, alike)
    if R.acting.dimension == 3 and R.size == 3 and next(iter(alike)) == R and len(lines) in (2, 3):
        A, n = turn(R, k, s), len(lines)
        if n == 2 and (A[2, 2] - 1) != 0:
            return
        moved = A[:n, :n] * Matrix(lines)
        found = {q: moved[i] for i, q in enumerate(lines) if moved[i] != q}
        yield Turn(f"{_from_left(R, k)}, with {', '.join(q.name for q in found)}", found, alike)


def composed(symmetries: Sequence[Symmetry]) -> dict[Any, Any]:
    """The action of one symmetry after the other."""
    moved = {q: q for s in symmetries for q in s.action}
    entries: dict[Symbol, Any] = {e: e for s in symmetries for R in s.groups for e in R.entries}
    places: dict[Any, Expr] = {**moved, **entries}
    for s in symmetries:
        places = s.act(s.elements, places)
    turned = {R for s in symmetries for R in s.groups}
    found: dict[Any, Any] = {q: e for q, e in places.items() if q not in entries}
    return found | {R: Matrix(R.matrix).applyfunc(lambda e: places.get(e, e)) for R in turned}
