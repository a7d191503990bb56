"""Equations as they are given: read, checked and, where that is possible, solved for the accelerations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr

from ...decide.budget import Budget, BudgetSpentError
from ...decide.decimals import Typed
from ...decide.zero import vanishes
from ...errors import ModelError, printed, told
from ...model import checks
from ...model.coordinates import Coordinate, Entropy, Parameter, time
from ...model.group_coordinate import GroupCoordinate
from ...model.space import lines_only
from ...model.system import System
from ...symbolic import Fast, fast, jacobian, substitute
from ..algebra import linear_solution, read, tidy
from ..motion.lagrange import expanded, motion_residual
from .along_motion import Flow
from .quasi_equations import Speeds, in_coordinates, quasi_velocities

SECONDS = 20.0
"""Seconds that solving the equations for the accelerations may take."""


@dataclass(frozen=True)
class GivenEquations:
    """The equations F_k(q, v, a, t) = 0, one for each coordinate.

    speeds:  the velocities by quasi-velocities, where the equations were given in such
    """

    residuals: tuple[Expr, ...]
    coordinates: tuple[Coordinate, ...]
    parameters: tuple[Parameter, ...]
    typed: Typed
    speeds: Speeds = ()

    @property
    def accelerations(self) -> tuple[sympy.Symbol, ...]:
        """The symbols of the accelerations."""
        return tuple(q.ddot for q in self.coordinates)

    @cached_property
    def mass(self) -> list[list[Fast]]:
        """dF_k/da_j."""
        return jacobian([fast(F) for F in self.residuals], self.accelerations)

    @cached_property
    def is_affine(self) -> bool:
        """Whether the accelerations occur linearly."""
        return all(vanishes(d) for row in self.mass for m in row for d in jacobian([m], self.accelerations)[0])

    @property
    def is_first_order(self) -> bool:
        """Whether no acceleration occurs in any equation."""
        return all(m == 0 for row in self.mass for m in row)

    @cached_property
    def flow(self) -> Flow:
        """The motion: accelerations as functions of positions, velocities and time."""
        mass = sympy.Matrix([[self._read(m) for m in row] for row in self.mass])
        rest = [substitute(F, dict.fromkeys(self.accelerations, 0)) for F in self.residuals]
        try:
            found = Budget(seconds=SECONDS).call(
                lambda: (linear_solution(mass, sympy.Matrix([-self._read(r) for r in rest])),)
            )
        except BudgetSpentError:
            found = None
        if found is None:
            raise ModelError(
                f"lagrangian: the equations are too long to be solved for the accelerations in the time for it (at most "
                f"{SECONDS:g} s). Give them solved: {self.coordinates[0]}.ddot - (...)."
            )
        if found[0] is None:
            raise ModelError(
                "lagrangian: the matrix of the accelerations in these equations is singular, so they do not determine the "
                'motion. Expected as many independent equations as coordinates; with kind="degenerate" a Lagrangian of '
                "exactly these equations is looked for."
            )
        return Flow(self.coordinates, tuple(tidy(e) for e in found[0]))

    def _read(self, e: Fast) -> Expr:
        return read(e, *self.residuals, *self.coordinates, time)

    def __hash__(self) -> int:
        return hash((self.residuals, self.coordinates, self.speeds))


def given_equations(given: Any, coordinates: Any, function: str, velocities: Any = None) -> GivenEquations:
    """Equations, or those of a system, checked; those in quasi-velocities are turned into equations in coordinates."""
    if isinstance(given, System):
        if velocities is not None:
            raise ModelError(f"{function}: a system has its own velocities. Leave velocities= out.")
        if coordinates is not None:
            raise ModelError(f"{function}: a system has its own coordinates. Leave coordinates= out.")
        return _of_system(given, function)
    if coordinates is None:
        raise ModelError(
            f"{function}: coordinates are missing. Expected a System, or a list of equations with coordinates=[x, y]."
        )
    q = coordinate_list(coordinates, function)
    if isinstance(given, Expr | sympy.Equality):
        given = [given]
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Sequence | sympy.MatrixBase):
        raise ModelError(
            f"{function}: got {told(given)} ({type(given).__name__}). Expected a System, or a list of equations, one for each "
            f"coordinate: [{q[0]}.ddot + k*{q[0]}]."
        )
    if len(given) != len(q):
        raise ModelError(
            f"{function}: got {len(given)} equation{'s' * (len(given) != 1)} for {len(q)} coordinate{'s' * (len(q) != 1)} "
            f"({', '.join(map(str, q))}). Expected one equation for each coordinate."
        )
    turned = {} if velocities is None else quasi_velocities(velocities, q, function)
    known = {s for c in q for s in ((c,) if turned else (c, c.dot, c.ddot))} | {s for u in turned for s in (u, u.dot)}
    stated = [checks.expression(e, f"equation {k + 1}") for k, e in enumerate(given)]
    exact = tuple(checks.symbols(e, known, f"equation {k + 1}") for k, e in enumerate(stated))
    for k, e in enumerate(exact):
        if not e.free_symbols & known:
            raise ModelError(
                f"{function}: equation {k + 1}, {printed(e)}, contains none of the coordinates {', '.join(map(str, q))}, "
                f"{'quasi-velocities and their rates' if turned else 'their velocities and accelerations'}."
            )
    parameters = checks.parameters([*exact, *turned.values()], (*q, *turned))
    speeds: Speeds = ()
    if turned:
        exact, speeds = in_coordinates(exact, turned, q, function)
    return GivenEquations(exact, q, parameters, Typed.of(stated), speeds)


def coordinate_list(given: Any, function: str) -> tuple[Coordinate, ...]:
    """The coordinates as given; those with values in a group and entropies are refused."""
    listed = list(given) if isinstance(given, list | tuple) else [given]
    for q in listed:
        if isinstance(q, GroupCoordinate):
            raise ModelError(
                f"{function}: {q.name} is a {q.noun}. Expected coordinates that are numbers; use angles and distances."
            )
        if isinstance(q, Entropy):
            raise ModelError(
                f"{function}: {q} is an entropy. Its law is of first order and does not follow from a Lagrangian; expected "
                f"equations of coordinates only."
            )
    return checks.coordinates(given)


def _of_system(system: System, function: str) -> GivenEquations:
    lines_only(system, function)
    if system.entropies:
        raise ModelError(
            f"{function}: {system.name!r} has the entropy {system.entropies[0]}, whose law is of first order. Expected a "
            f"system without entropies; put friction into dissipation= instead."
        )
    if system.constraints:
        raise ModelError(
            f"{function}: {system.name!r} has constraints, and its multipliers are no coordinates. Expected a system without "
            f"constraints; reduce it to independent velocities first and give those equations."
        )
    residuals = tuple(expanded(r, system) for r in motion_residual(system))
    return GivenEquations(residuals, system.coordinates, system.parameters, system.typed)
