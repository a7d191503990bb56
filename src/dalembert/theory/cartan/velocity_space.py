"""The space of (x, v, t): its fields and forms, motions and variations as fields, Cartan's form of a Lagrangian."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr, Matrix

from ...decide.zero import vanishes
from ...errors import ModelError, told
from ...model import checks
from ...model.coordinates import Coordinate, time
from ...model.space import lines_only
from ...model.system import System
from ..algebra import linear_solution, read
from ..motion.lagrange import linear_motion, parted
from .fields import Basis, VectorField, function_of
from .forms import Form


class VelocitySpace:
    """Positions, velocities and time as variables: `VelocitySpace([x, y])` has x, y, x.dot, y.dot, t.

    v = v^k d/dx^k + F^k d/dv^k + d/dt is the field of a motion, w with w(t) = 0 that of a variation, [w, v] = Upsilon their
    defect of commutation, theta = dL/dv^k (dx^k - v^k dt) + L dt Cartan's form.
    """

    def __init__(self, coordinates: Sequence[Coordinate]):
        self.coordinates = checks.coordinates(coordinates)
        for q in self.coordinates:
            if type(q) is not Coordinate:
                raise ModelError(f"VelocitySpace: {q} is no plain coordinate. Expected coordinates that are numbers.")

    @cached_property
    def basis(self) -> Basis:
        """Coordinates, velocities, time."""
        return (*self.coordinates, *(q.dot for q in self.coordinates), time)

    def __repr__(self) -> str:
        return f"VelocitySpace([{', '.join(map(str, self.coordinates))}])"

    # fields and forms
    def _row(self, given: Any, role: str) -> tuple[Expr, ...]:
        if not isinstance(given, Mapping):
            raise ModelError(f"{role}: got {told(given)}. Expected {{variable: expression}}, zero where none is given.")
        for z in given:
            if z not in self.basis:
                raise ModelError(f"{role}: {told(z)} is none of the variables {', '.join(map(str, self.basis))}.")
        return tuple(function_of(self.basis, given.get(z, 0), role) for z in self.basis)

    def field(self, components: Mapping[Any, Any]) -> VectorField:
        """A vector field from its components: {x: x.dot, x.dot: -x, time: 1}."""
        return VectorField(self.basis, self._row(components, "field"))

    def form(self, coefficients: Mapping[Any, Any]) -> Form:
        """A form of degree one: {x: a, x.dot: b} is a dx + b dv."""
        row = self._row(coefficients, "form")
        return Form(self.basis, 1, {(k,): c for k, c in enumerate(row) if c != 0})

    def function(self, expression: Any) -> Form:
        """A function as a form of degree zero."""
        return Form(self.basis, 0, {(): function_of(self.basis, expression, "function")})

    def d(self, expression: Any) -> Form:
        """d of a function."""
        return self.function(expression).d()

    # motions
    def velocity_field(self, motion: Any) -> VectorField:
        """The field of a motion: from a system, or from its accelerations {x: expression}."""
        rates = _accelerations(motion) if isinstance(motion, System) else motion
        if isinstance(motion, System) and motion.coordinates != self.coordinates:
            raise ModelError(f"velocity_field: {motion.name!r} has other coordinates than {self!r}.")
        if not isinstance(rates, Mapping) or set(rates) != set(self.coordinates):
            raise ModelError(
                f"velocity_field: got {told(motion)}. Expected a System, or an acceleration for each of "
                f"{', '.join(map(str, self.coordinates))}."
            )
        places = {q: q.dot for q in self.coordinates}
        return self.field({**places, **{q.dot: rates[q] for q in self.coordinates}, time: 1})

    def associated(self, field: VectorField) -> tuple[Form, ...]:
        """Independent forms of degree one, as many as there can be, that vanish on a field.

        Where the field moves time, as that of a motion does, these are dx - v dt and dv - F dt (divided by the rate of time).
        """
        lead = next((k for k in reversed(range(len(self.basis))) if not vanishes(field.components[k])), None)
        if lead is None:
            raise ModelError("associated: the field is zero, so every form vanishes on it.")
        z, rate = self.basis[lead], field.components[lead]
        others = [k for k in range(len(self.basis)) if k != lead]
        return tuple(self.form({self.basis[k]: 1, z: -field.components[k] / rate}) for k in others)

    # variations
    def variation(self, displacements: Mapping[Any, Any], motion: VectorField, R: Any = None) -> VectorField:
        """The field w with w(x^k) as given, w(t) = 0 and w(v^n) = d/dt w(x^n) + R[k, n] w(x^k).

        R:  a matrix with the row of the displacement and the column of the result, as `Upsilon(...).fields(system).R`;
            accelerations in it are those of the motion. Zero if none is given: then w(x^k) commutes with d/dt
        """
        q = self.coordinates
        w = [function_of(self.basis, displacements.get(c, 0), f"displacement of {c}") for c in q]
        if strange := [told(c) for c in displacements if c not in q]:
            raise ModelError(f"variation: {strange[0]} is none of the coordinates {', '.join(map(str, q))}.")
        turned = [sympy.S.Zero] * len(q)
        if R is not None:
            rates = {c.ddot: motion[c.dot] for c in q}
            matrix = _matrix(R, len(q)).xreplace(rates)
            turned = [sympy.Add(*(matrix[k, n] * w[k] for k in range(len(q)))) for n in range(len(q))]
        speeds = {c.dot: motion(e) + r for c, e, r in zip(q, w, turned, strict=True)}
        return self.field({**dict(zip(q, w, strict=True)), **speeds})

    # Lagrangians
    def cartan_form(self, lagrangian: Any) -> Form:
        """theta = dL/dv^k (dx^k - v^k dt) + L dt."""
        L = function_of(self.basis, lagrangian, "Lagrangian")
        p = {q: L.diff(q.dot) for q in self.coordinates}
        return self.form({**p, time: L - sympy.Add(*(e * q.dot for q, e in p.items()))})

    def is_stationary(self, lagrangian: Any) -> bool:
        """Whether a Lagrangian does not depend on time."""
        return bool(vanishes(function_of(self.basis, lagrangian, "Lagrangian").diff(time)))

    def is_conservative(self, lagrangian: Any, section: Mapping[Any, Any] | None = None) -> bool:
        """Whether Cartan's form is d of a function; with a section v = v(x, t) whether it is so there (Hamilton and Jacobi).

        Without a section that holds for Lagrangians without motions alone, those that are rates dS/dt.
        """
        theta = self.cartan_form(lagrangian)
        return (theta if section is None else theta.pulled_back(section)).is_closed


def _accelerations(system: System) -> dict[Coordinate, Expr]:
    """In closed form, with those constraint forces that the principle of the system says."""
    lines_only(system, "velocity_field")
    if system.entropies or system.principle.carried(system):
        raise ModelError(
            f"velocity_field: the state of {system.name!r} is more than positions and velocities: it has "
            f"{'entropies' if system.entropies else 'multipliers'}. Expected a system whose accelerations follow from these."
        )
    linear = linear_motion(system)
    like = [*system.expressions(), *system.coordinates, *system.velocities, time]
    rows, right = ([[read(e, *like) for e in row] for row in m] for m in (linear.matrix, [[r] for r in linear.right]))
    solved = linear_solution(Matrix(rows), Matrix(right))
    if solved is None:
        raise ModelError(f"velocity_field: the accelerations of {system.name!r} are not determined.")
    return dict(zip(system.coordinates, parted(system, solved)[0], strict=True))


def _matrix(given: Any, n: int) -> Matrix:
    try:
        matrix = Matrix(given)
    except (TypeError, ValueError):
        matrix = Matrix()
    if matrix.shape != (n, n):
        raise ModelError(f"R={told(given)}. Expected a matrix of {n} rows and {n} columns.")
    return matrix
