"""Lagrange's equations with multipliers:  d/dt dL/dv - dL/dq = F + lambda_a omega^a,  constraints = 0.

The first half works on SymEngine expressions, on the way to numbers; `Equations` is what people read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy
from sympy import Eq, Expr

from ..errors import ModelError
from ..model.coordinates import Coordinate, Multiplier, multiplier, time
from ..model.system import System
from ..symbolic import Fast, fast, gradient, jacobian, slow


def multipliers(system: System) -> tuple[Multiplier, ...]:
    """One multiplier per constraint."""
    return tuple(multiplier(a + 1) for a in range(len(system.constraints)))


def momenta(system: System) -> list[Fast]:
    """p = dL/dv."""
    return gradient(system.lagrangian, system.velocities)


def energy(system: System) -> Fast:
    """The Jacobi integral p.v - L; it is the energy wherever the kinetic energy is quadratic in the velocities."""
    powers = (p * fast(v) for p, v in zip(momenta(system), system.velocities, strict=True))
    return sum(powers, start=-fast(system.lagrangian))


def mass_matrix(system: System) -> list[list[Fast]]:
    """d2L/dv dv."""
    return jacobian(momenta(system), system.velocities)


def total_derivative(expression: Fast, coordinates: Sequence[Coordinate]) -> Fast:
    """df/dt of f(q, v, t) along a motion, written with accelerations."""
    along = [(q, q.dot) for q in coordinates] + [(q.dot, q.ddot) for q in coordinates] + [(time, 1)]
    slopes = gradient(expression, [s for s, _ in along])
    return sum((d * fast(rate) for d, (_, rate) in zip(slopes, along, strict=True)), start=fast(0))


def euler_lagrange(system: System) -> list[Fast]:
    """d/dt dL/dv - dL/dq, one per coordinate."""
    slopes = gradient(system.lagrangian, system.coordinates)
    return [total_derivative(p, system.coordinates) - d for p, d in zip(momenta(system), slopes, strict=True)]


def reaction(system: System) -> list[Fast]:
    """The reaction force lambda_a omega^a, one component per coordinate."""
    rows = zip(multipliers(system), system.variations, strict=True)
    terms = [[fast(m) * fast(a) for a in row] for m, row in rows]
    return [sum(column, start=fast(0)) for column in zip(*terms, strict=True)] or [fast(0)] * len(system.coordinates)


def motion_residual(system: System) -> list[Fast]:
    """What vanishes along a motion, affine in accelerations and multipliers: equations, then constraints.

    Constraints appear differentiated until accelerations show: twice if holonomic, once if kinematic.
    """
    forces = [fast(f) for f in system.force]
    balance = [e - f - r for e, f, r in zip(euler_lagrange(system), forces, reaction(system), strict=True)]
    hidden = [total_derivative(c.velocity_form(system.coordinates), system.coordinates) for c in system.constraints]
    return balance + hidden


@dataclass(frozen=True)
class Equations:
    """The equations of motion of a system, to be read: text in a terminal, LaTeX in a notebook."""

    system: System

    def _read(self, expression: Fast) -> Expr:
        s = self.system
        known = [
            *s.coordinates,
            *s.velocities,
            *s.parameters,
            time,
            *multipliers(s),
            *(q.ddot for q in s.coordinates),
        ]
        return slow(expression, known)

    def _tidy(self, expression: Fast) -> Expr:
        accelerations = [q.ddot for q in self.system.coordinates]
        return sympy.collect(sympy.expand(self._read(expression)), accelerations)

    @cached_property
    def lagrange(self) -> tuple[Eq, ...]:
        """d/dt dL/dv - dL/dq = F + lambda_a omega^a, one equation per coordinate."""
        forces = [fast(f) for f in self.system.force]
        right = [f + r for f, r in zip(forces, reaction(self.system), strict=True)]
        return tuple(
            Eq(self._tidy(e), sympy.expand(self._read(r)), evaluate=False)
            for e, r in zip(euler_lagrange(self.system), right, strict=True)
        )

    @cached_property
    def constraints(self) -> tuple[Eq, ...]:
        """The constraints as they were stated."""
        return tuple(Eq(c.expression, 0, evaluate=False) for c in self.system.constraints)

    @cached_property
    def mass_matrix(self) -> sympy.Matrix:
        """d2L/dv dv."""
        return sympy.Matrix([[sympy.expand(self._read(m)) for m in row] for row in mass_matrix(self.system)])

    @cached_property
    def momenta(self) -> dict[Coordinate, Expr]:
        """The momentum dL/dv conjugate to each coordinate."""
        return {
            q: sympy.expand(self._read(p)) for q, p in zip(self.system.coordinates, momenta(self.system), strict=True)
        }

    @cached_property
    def energy(self) -> Expr:
        """The Jacobi integral p.v - L."""
        return sympy.expand(self._read(energy(self.system)))

    @cached_property
    def solved(self) -> dict[sympy.Symbol, Expr]:
        """Accelerations and multipliers as functions of positions, velocities and time."""
        unknowns = [q.ddot for q in self.system.coordinates] + list(multipliers(self.system))
        residual = motion_residual(self.system)
        matrix = sympy.Matrix([[self._read(d) for d in row] for row in jacobian(residual, unknowns)])
        at_rest = dict.fromkeys(map(fast, unknowns), 0)
        right = -sympy.Matrix([self._read(r.subs(at_rest)) for r in residual])
        return dict(zip(unknowns, linear_solution(matrix, right), strict=True))

    @property
    def first_order(self) -> tuple[Eq, ...]:
        """The first-order form: the rate of each velocity, and each multiplier, as a function of the state."""
        return tuple(Eq(unknown, value, evaluate=False) for unknown, value in self.solved.items())

    def __str__(self) -> str:
        blocks = [sympy.pretty(e, wrap_line=False, use_unicode=True) for e in (*self.lagrange, *self.constraints)]
        return "\n\n".join(blocks)

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        rows = [rf"{sympy.latex(e.lhs)} &= {sympy.latex(e.rhs)}" for e in (*self.lagrange, *self.constraints)]
        return r"$\displaystyle \begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}$"


def linear_solution(matrix: sympy.Matrix, right: sympy.Matrix) -> list[Expr]:
    """Solve a linear system over the field of fractions of its entries, so that common factors cancel."""
    from sympy.polys.matrices import DomainMatrix
    from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

    joined = DomainMatrix.from_Matrix(matrix.row_join(right)).to_field()
    n = matrix.shape[0]
    try:
        solution = joined[:, :n].lu_solve(joined[:, n:]).to_Matrix()
    except DMNonInvertibleMatrixError:
        raise ModelError(
            "the equations cannot be solved for the accelerations: the matrix that determines them is singular."
        ) from None
    return [sympy.factor_terms(e) for e in solution]


def equations(system: System) -> Equations:
    """Lagrange's equations of a system."""
    return Equations(system)
