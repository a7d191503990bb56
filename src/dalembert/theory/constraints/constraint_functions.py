"""Constraint functions chi(x, v, t) by their dependence on velocities, and by the variations that a principle supposes.

With variations w, their bracket Upsilon = [w, v] and Lagrange's derivative E_k(f) = d/dt df/dv^k - df/dx^k a constraint is

    of type I           where  dchi/dv^k Upsilon^k = E_k(chi) w^k
    of type II          where these differ by the rate of a function
    Appell-Chetaev      of type I with dchi/dv^k w^k = 0: ideal, and kept by the variations
    Chaplygin           where the coordinates of dependent velocities do not enter, along the admissible velocities

d'Alembert's variations commute (Upsilon = 0) and are ideal, so there a constraint is of type I if E(chi) is a combination of
the rows dchi/dv. All is decided by value, at states that satisfy the constraints and their derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from ...decide.balls import Point
from ...decide.elimination import highest_rank
from ...decide.sample import points_on
from ...decide.zero import vanishes, vanishes_at
from ...errors import ModelError
from ...model.constraints import Constraint
from ...model.coordinates import time
from ...model.space import frame
from ...model.system import System
from ...model.upsilon import lagrange_derivative
from ...symbolic import Fast, fast, total
from .dependent_velocities import dependent_coordinates, rows_of


@dataclass(frozen=True)
class ConstraintFunction:
    """One constraint function; see the module.

    velocities:         "none", "linear", "affine", "homogeneous", "nonlinear": how velocities enter. "homogeneous" is
                        nonlinear with v . dchi/dv = 0 wherever chi = 0
    degree:             the degree in the velocities where chi is homogeneous of one as it stands; otherwise None
    is_type_I, is_type_II, is_appell_chetaev:  for the variations of the principle of the system
    is_chaplygin:       whether the coordinates of the dependent velocities do not enter, in energies and forces neither
    """

    expression: sympy.Expr
    velocities: str
    degree: Any
    is_type_I: bool
    is_type_II: bool
    is_appell_chetaev: bool
    is_chaplygin: bool

    def __str__(self) -> str:
        how = {
            "none": "no velocities",
            "linear": "linear and homogeneous in the velocities",
            "affine": "affine in the velocities",
            "homogeneous": "homogeneous in the velocities"
            + ("" if self.degree is None else f" of degree {self.degree}"),
            "nonlinear": "nonlinear in the velocities",
        }[self.velocities]
        kept = "Appell-Chetaev" if self.is_appell_chetaev else "of type I" if self.is_type_I else "of type II"
        kept = kept if self.is_type_II else "of neither type I nor II"
        return f"{how}; {kept}{', Chaplygin' if self.is_chaplygin else ''}"


def constraint_functions(system: System) -> tuple[ConstraintFunction, ...]:
    """What each constraint of a system is, in the order of the constraints."""
    points = _points(system)
    chaplygin = _is_chaplygin(system, points)
    found = []
    for a, c in enumerate(system.constraints):
        first, ideal = _kept_and_ideal(system, a, points)
        second = first or (bool(system.principle.carried(system)) and not c.is_holonomic)
        how, degree = _by_velocities(c, system, points)
        found.append(ConstraintFunction(c.expression, how, degree, first, second, first and ideal, chaplygin))
    return tuple(found)


def _points(system: System) -> list[Point]:
    """States on the constraints with accelerations that keep them."""
    q = system.coordinates
    forms = [fast(c.velocity_form(q)) for c in system.constraints]
    functions = [fast(c.expression) for c in system.constraints if c.is_holonomic] + forms
    functions += frame(q).rates(forms)
    moved = [s.name for c in q for s in (c, c.dot, c.ddot)]
    others = {s.name for e in (*functions, *system.expressions()) for s in fast(e).free_symbols} | {time.name}
    return points_on(functions, moved, sorted(others - set(moved)))


def _by_velocities(c: Constraint, system: System, points: Sequence[Point]) -> tuple[str, Any]:
    """How velocities enter, and the degree where there is one."""
    if c.is_holonomic:
        return "none", 0
    if c.is_linear:
        return ("linear", 1) if vanishes(c.drift) else ("affine", None)
    power = total(fast(a) * fast(v) for a, v in zip(c.coefficients, system.velocities, strict=True))
    if not points or not vanishes_at(power, points):
        return "nonlinear", None
    degrees = (sympy.Rational(k, 2) for k in range(-8, 9))
    return "homogeneous", next((d for d in degrees if vanishes(power - fast(d) * fast(c.expression))), None)


def _kept_and_ideal(system: System, a: int, points: Sequence[Point]) -> tuple[bool, bool]:
    """Whether the variations of the principle keep constraint a (type I), and whether they are ideal for it."""
    c, principle = system.constraints[a], system.principle
    row = rows_of(system)[a]
    if principle.keeps_constraints:
        return True, True  # the Upsilon model: R is made so that both hold
    if principle.carried(system) and not c.is_holonomic:
        return False, False
    forms = [list(map(fast, w)) for w in system.variations]
    bent = lagrange_derivative(fast(c.velocity_form(system.coordinates)), system.coordinates)
    return _among(bent, forms, points), _among(row, forms, points)


def _among(row: Sequence[Fast], rows: Sequence[Sequence[Fast]], points: Sequence[Point]) -> bool:
    """Whether a row is a combination of others, at every point."""
    if all(vanishes(e) for e in row):
        return True
    return bool(points) and all(highest_rank([*rows, row], [p]) == highest_rank(rows, [p]) for p in points)


def _is_chaplygin(system: System, points: Sequence[Point]) -> bool:
    """Whether sum_b (dv^b/dv^e) df/dx^b = 0 for the constraints, the Lagrangian and the forces: condition (3.8) of Ramirez."""
    if not system.constraints or system.holonomic:
        return False
    try:
        dependent = dependent_coordinates(system)
    except ModelError:
        return False
    rows = rows_of(system)
    for f in (*(c.expression for c in system.constraints), system.lagrangian, *system.force):
        slopes = [fast(f).diff(fast(q)) if q in dependent else fast(0) for q in system.coordinates]
        if not _among(slopes, rows, points):
            return False
    return True
