"""The frame of quasi-velocities that suits the constraints of a system, and the name that its equations have.

Constraints that can be solved for some velocities, x^b.dot = a^b_e x^e.dot + b^b with coefficients that have a value
everywhere, give the quasi-velocities x^e.dot and x^b.dot - a^b_e x^e.dot - b^b: the form of Voronets, of Suslov if no b is
there, of Chaplygin if besides no x^b occurs. Otherwise quasi-velocities along the admissible velocities stand beside the
constraints as they were written: the form of Boltzmann and Hamel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Expr, Matrix

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...model.constraints import linear_row
from ...model.coordinates import Coordinate, time
from ...model.space import lines_only
from ...model.system import System
from ...symbolic import fast
from ..admissible_states import states_on
from ..algebra import Allowance, linear_solution, tidy
from ..constraints.dependent_velocities import dependent_coordinates
from ..constraints.distributions import kernel

if TYPE_CHECKING:
    from .hamel import HamelForm

SECONDS = 20
"""Seconds that solving the constraints for velocities may take."""


def adapted_velocities(system: System) -> dict[str, Expr]:
    """Quasi-velocities by name, for the constraints of a system, which are linear in the velocities."""
    lines_only(system, "hamel without velocities")
    if not system.constraints:
        return {f"v_{q.name}": q.dot for q in system.coordinates}
    dependent = dependent_coordinates(system)
    solution = solved_velocities(system, dependent)
    if solution is not None:
        free = {f"v_{q.name}": q.dot for q in system.coordinates if q not in dependent}
        return free | {f"c_{q.name}": q.dot - e for q, e in solution.items()}
    return _beside_the_constraints(system)


def solved_velocities(system: System, dependent: Sequence[Coordinate]) -> dict[Coordinate, Expr] | None:
    """The dependent velocities by the others; None where their determinant is not constant, so that it may vanish."""
    rows, drifts = _rows(system)
    q = system.coordinates
    square = Matrix([[row[q.index(c)] for c in dependent] for row in rows])
    determinant = Budget(seconds=SECONDS).call(square.det)
    if determinant is None or not all(vanishes(sympy.sympify(determinant).diff(s)) for s in _moving(system)):
        return None
    others = [sympy.Add(*(a * c.dot for a, c in zip(row, q, strict=True) if c not in dependent)) for row in rows]
    right = Matrix([-o - b for o, b in zip(others, drifts, strict=True)])
    found = Budget(seconds=SECONDS).call(linear_solution, square, right)
    return None if found is None else dict(zip(dependent, map(tidy, found), strict=True))


def _moving(system: System) -> list[Any]:
    return [*system.coordinates, time]


def _rows(system: System) -> tuple[list[tuple[Expr, ...]], list[Expr]]:
    found = []
    for c in system.constraints:
        row = linear_row(c.velocity_form(system.coordinates), system.coordinates)
        assert row is not None
        found.append(row)
    return [row for row, _ in found], [drift for _, drift in found]


def _beside_the_constraints(system: System) -> dict[str, Expr]:
    """Components along admissible velocities, without denominators; and the constraints as they were written."""
    q, (rows, _) = system.coordinates, _rows(system)
    points = states_on(system.constraints, q, {s.name for row in rows for e in row for s in e.free_symbols})
    fields = kernel(rows, len(q), points, Allowance(seconds=2.0, total=SECONDS))
    free = {}
    for k in range(fields.cols):
        entries = [sympy.together(e) for e in fields[:, k]]
        common = sympy.Integer(1)
        for e in entries:
            common = sympy.lcm(common, sympy.fraction(e)[1])
        free[f"u_{k + 1}"] = sympy.Add(*(tidy(e * common) * c.dot for e, c in zip(entries, q, strict=True)))
    stated = (c.velocity_form(q) for c in system.constraints)
    return free | {f"c_{a + 1}": e for a, e in enumerate(stated)}


def kind(form: HamelForm) -> str:
    """The name of the equations in a frame: "Lagrange", "Chaplygin", "Suslov", "Voronets", "Boltzmann-Hamel"."""
    s, held = form.system, form.vanishing
    plain = {e for e in form.velocities.values() if e in s.velocities}
    if not s.constraints:
        return "Lagrange" if len(plain) == len(s.velocities) else "Boltzmann-Hamel"
    if not form.is_adapted or not held:
        return "Boltzmann-Hamel"
    solution = _solution(form, held)
    if solution is None:
        return "Boltzmann-Hamel"
    at_rest = dict.fromkeys(s.velocities, sympy.S.Zero)
    if not all(vanishes(e.xreplace(at_rest)) for e in solution.values()):
        return "Voronets"
    return "Chaplygin" if is_chaplygin(s, solution) else "Suslov"


def _solution(form: HamelForm, held: Sequence[Any]) -> dict[Coordinate, Expr] | None:
    """The dependent velocities by the others, if the free quasi-velocities are velocities and each other one is solved."""
    s = form.system
    free = [form.velocities[u] for u in form.velocities if u not in held]
    if any(e not in s.velocities for e in free):
        return None
    rest, solution = [q for q in s.coordinates if q.dot not in free], {}
    for u in held:
        e = form.velocities[u]
        own = [q for q in rest if not vanishes(e.diff(q.dot))]
        if len(own) != 1 or not vanishes(e.diff(own[0].dot) - 1):
            return None
        solution[own[0]] = sympy.expand(own[0].dot - e)
    return solution if len(solution) == len(rest) else None


def is_chaplygin(system: System, solution: Mapping[Coordinate, Expr]) -> bool:
    """Whether sum_b (dL^b/dv^e) df/dx^b = 0 for L, the forces and the right-hand sides L^b of x^b.dot = L^b, for every e."""
    functions = [system.lagrangian, *system.force, *solution.values()]
    independent = [q for q in system.coordinates if q not in solution]
    return all(
        vanishes(sum((fast(L.diff(q.dot)) * fast(f.diff(b)) for b, L in solution.items()), start=fast(0)))
        for q in independent
        for f in functions
    )
