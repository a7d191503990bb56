"""Other Lagrangians for the same motion: L + dF(q, t)/dt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr

from ...decide.budget import Budget, BudgetSpentError
from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError
from ...model import checks
from ...model.coordinates import Coordinate, time
from ...model.heat import mechanical
from ...model.system import System
from ...symbolic import fast
from ..conserved.primitive import primitive, rate_form
from ..constraints.integrability import curl


@dataclass(frozen=True, repr=False)
class Gauge(Shown):
    """Whether two Lagrangians give the same equations because they differ by dF/dt, and F(q, t); see `gauge_function`."""

    equivalent: bool
    function: Expr | None
    reason: str

    def __bool__(self) -> bool:
        return self.equivalent

    def _parts(self) -> list[Part]:
        head = "Gauge equivalent" if self.equivalent else "Not gauge equivalent"
        return [f"{head}: {self.reason}.", *([("F", self.function)] if self.function is not None else [])]


def gauge_function(
    first: Any, second: Any, coordinates: Sequence[Coordinate] | None = None, budget: Budget | None = None
) -> Gauge:
    """F(q, t) with second - first = dF/dt, for two systems or two Lagrangians (then with their coordinates).

    Systems are equivalent if they have the same forces and constraints besides; a Lagrangian alone has none.

    The difference must be b_k(q, t) v_k + c(q, t) with db_k/dq_j = db_j/dq_k and db_k/dt = dc/dq_k; F follows by quadrature.
    The result has `equivalent`, `function` and `reason`.
    """
    for given in (first, second):
        mechanical(given, "gauge_function")
    q, difference = _difference(first, second, coordinates)
    other = _acting_otherwise(first, second, q)
    if other:
        return Gauge(False, None, other)
    variables = [*q, time]
    form = rate_form(difference, q)
    if form is None:
        return Gauge(False, None, "the difference of the Lagrangians is not linear in the velocities")
    for (i, j), defect in curl(form, variables).items():
        if not vanishes(defect):
            x, y = variables[i], variables[j]
            what = "the force it adds depends on the velocities" if y != time else f"it adds a force along {x.name}"
            return Gauge(False, None, f"mixed derivatives by {x} and {y} differ: {what}")
    try:
        F = primitive(difference, q, budget or Budget(seconds=5))
    except BudgetSpentError:
        F = None
    if F is None:
        told = "the difference is a total time derivative, but its quadrature was not found in closed form"
        return Gauge(True, None, told)
    return Gauge(True, F, "the difference of the Lagrangians is the total time derivative of F")


def _acting_otherwise(first: Any, second: Any, q: Sequence[Coordinate]) -> str:
    """How the forces or constraints of two systems differ; empty if they do not."""
    forces = [dict(zip(s.coordinates, s.force, strict=True)) if isinstance(s, System) else {} for s in (first, second)]
    for c in q:
        a, b = (f.get(c, sympy.S.Zero) for f in forces)
        if not vanishes(a - b):
            return f"the forces on {c} differ: {a} and {b}"
    rows = [list(s.constraints) if isinstance(s, System) else [] for s in (first, second)]
    for mine, others in (rows, rows[::-1]):
        for row in mine:
            if not any(_same_constraint(row.expression, other.expression, q) for other in others):
                return f"only one of them has the constraint {row.expression} = 0"
    own = [isinstance(s, System) and not s.is_ideal for s in (first, second)]
    if any(own) and (not all(own) or first.variations != second.variations):
        return "their variations differ, and with them the reactions"
    return ""


def _same_constraint(a: Expr, b: Expr, q: Sequence[Coordinate]) -> bool:
    """Whether one expression is a constant multiple of the other."""
    f, g = fast(a), fast(b)
    state = [fast(s) for c in q for s in (c, c.dot)] + [fast(time)]
    return all(vanishes(f.diff(s) * g - f * g.diff(s)) for s in state)


def _difference(first: Any, second: Any, coordinates: Any) -> tuple[tuple[Coordinate, ...], Expr]:
    systems = [s for s in (first, second) if isinstance(s, System)]
    if not systems and coordinates is None:
        raise ModelError("gauge_function: give the coordinates of two Lagrangians: gauge_function(L1, L2, [x, y]).")
    q = systems[0].coordinates if coordinates is None else checks.coordinates(coordinates)
    for s in systems:
        if set(s.coordinates) != set(q):
            names = [", ".join(c.name for c in group) for group in (s.coordinates, q)]
            raise ModelError(
                f"gauge_function: {s.name!r} has the coordinates {names[0]}, not {names[1]}. Compare Lagrangians in the same "
                f"coordinates; change_coordinates brings one system to those of the other."
            )
    known = {s for c in q for s in (c, c.dot)}

    def lagrangian(given: Any, role: str) -> Expr:
        return (
            given.lagrangian
            if isinstance(given, System)
            else checks.symbols(checks.expression(given, role), known, role)
        )

    return q, lagrangian(second, "second Lagrangian") - lagrangian(first, "first Lagrangian")
