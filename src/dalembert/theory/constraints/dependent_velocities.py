"""Which velocities the constraints determine by the others, chosen so that the rest is as simple as possible."""

from __future__ import annotations

from collections.abc import Sequence

from ...decide.balls import values
from ...decide.elimination import independent
from ...errors import ModelError
from ...model.coordinates import Coordinate, time
from ...model.system import System
from ...symbolic import Fast, fast, jacobian
from ..admissible_states import states_on


def rows_of(system: System) -> list[list[Fast]]:
    """dchi/dv of the constraints, those on positions differentiated once."""
    return jacobian([fast(c.velocity_form(system.coordinates)) for c in system.constraints], system.velocities)


def dependent_coordinates(system: System) -> tuple[Coordinate, ...]:
    """As many coordinates as there are constraints, whose velocities the others determine, in the order of the system.

    Those come first whose velocities have constant coefficients, among them those that occur neither in energies and forces
    nor in the constraints (Chaplygin's systems have such).
    """
    q, rows = system.coordinates, rows_of(system)
    stated = (*system.energies.values(), *system.force, *(c.expression for c in system.constraints))
    occurring = {s for e in stated for s in e.free_symbols}
    columns = [[row[i] for row in rows] for i in range(len(q))]

    def simple(i: int) -> tuple[bool, bool]:
        return _moves(columns[i], system), q[i] in occurring

    order = sorted(range(len(q)), key=simple)
    points = states_on(system.constraints, q, {s.name for e in stated for s in e.free_symbols})
    grids = (values([columns[i] for i in order], p) for p in points)
    found = [independent(g)[0] for g in grids if g is not None]
    best = max(found, key=len, default=[])
    if len(best) < len(rows):
        raise ModelError(
            f"{system.name}: no velocities were found that the constraints determine by the others: at the states tried their "
            f"rows are dependent, or have no value."
        )
    return tuple(q[i] for i in sorted(order[k] for k in best))


def _moves(column: Sequence[Fast], system: System) -> bool:
    """Whether a coefficient depends on the state or on time."""
    moving = {s.name for c in system.coordinates for s in (c, c.dot)} | {time.name}
    return any(s.name in moving for e in column for s in e.free_symbols)
