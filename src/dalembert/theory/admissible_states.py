"""Sample states on the constraint set: positions and velocities that satisfy the constraints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..decide.balls import Point
from ..decide.sample import points_on
from ..model.constraints import Constraint
from ..model.coordinates import Coordinate, time


def states_on(constraints: Iterable[Constraint], q: Sequence[Coordinate], names: Iterable[str] = ()) -> list[Point]:
    """States that satisfy constraints, velocities included; with values of time and of further names."""
    listed = list(constraints)
    functions = [c.expression for c in listed if c.is_holonomic] + [c.velocity_form(q) for c in listed]
    moved = [s.name for c in q for s in (c, c.dot)]
    others = {s.name for f in functions for s in f.free_symbols} | {time.name, *names}
    return points_on(functions, moved, sorted(others - set(moved)))
