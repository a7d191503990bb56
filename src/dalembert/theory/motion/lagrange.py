"""Lagrange's equations with multipliers:  d/dt dL/dv - dL/dq = F + lambda_a omega^a,  constraints = 0.

The first half computes SymEngine expressions for numerical code; `Equations` is the displayed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import sympy
from sympy import Eq, Expr

from ...decide.budget import Budget
from ...decide.decimals import decimal, quotient
from ...display import Formulas, aligned, equation_rows, equations_text
from ...errors import ModelError
from ...model.coordinates import Coordinate, time
from ...model.space import frame, position_symbols
from ...model.system import System
from ...symbolic import Fast, fast, gradient, jacobian, slow, substitute, total
from ...symbolic import expanded as multiplied_out
from ...waist.layout import spans
from ..algebra import factored, linear_solution
from .frames import hamel_residual

SECONDS = 60
"""Seconds that solving the equations for the accelerations may take."""


def multipliers(system: System) -> tuple[sympy.Symbol, ...]:
    """What the equations of motion determine besides accelerations, one per constraint: multipliers, or rates of them."""
    return system.principle.unknowns(system)


def symbols(system: System) -> list[sympy.Symbol]:
    """Everything an expression along a motion may contain."""
    q = system.coordinates
    thermal = [s for S in system.entropies for s in (S, S.dot)]
    places, held = position_symbols(q), [*multipliers(system), *system.principle.carried(system)]
    return [*places, *system.velocities, *(c.ddot for c in q), *thermal, *held, *system.parameters, time]


def readable(expression: Fast, system: System) -> Expr:
    """The SymPy form of an expression written with the symbols of a system."""
    return slow(expression, symbols(system))


def expanded(expression: Any, system: System) -> Expr:
    """The same, multiplied out (by SymEngine, which takes a hundredth of the time)."""
    return readable(fast(expression).expand(), system)


def momenta(system: System) -> list[Fast]:
    """p = dL/dv."""
    return gradient(system.lagrangian, system.velocities)


def jacobi_integral(system: System) -> Fast:
    """p.v - L; `energies.meaning` says whether it is the energy."""
    powers = (p * fast(v) for p, v in zip(momenta(system), system.velocities, strict=True))
    return total([-fast(system.lagrangian), *powers])


def mass_matrix(system: System) -> list[list[Fast]]:
    """d2L/dv dv."""
    return jacobian(momenta(system), system.velocities)


def total_derivative(expression: Fast, coordinates: Sequence[Coordinate]) -> Fast:
    """df/dt of f(q, w, t) along a motion, written with accelerations: w^j X_j(f) + df/dw w' + df/dt."""
    return total_derivatives([expression], coordinates)[0]


def total_derivatives(expressions: Sequence[Fast], coordinates: Sequence[Coordinate]) -> list[Fast]:
    """`total_derivative` of several expressions."""
    return frame(coordinates).rates(expressions)


def entropy_rates(system: System) -> list[Fast]:
    """S.dot of each entropy: the power that heats it over its temperature."""
    return [fast(power) / fast(T) for power, T in zip(system.heating, system.temperatures, strict=True)]


def euler_lagrange(system: System) -> list[Fast]:
    """d/dt dL/dv - dL/dq, one per coordinate; in a frame that does not commute d/dt p_j - c^k_ij w^i p_k - X_j(L)."""
    warming = dict(zip(system.entropies, entropy_rates(system), strict=True))
    return hamel_residual(system.lagrangian, frame(system.coordinates), carried=warming)


def reaction(system: System) -> list[Fast]:
    """The reaction force, one component per coordinate: lambda_a omega^a unless the principle says otherwise."""
    return system.principle.reaction(system)


def applied_forces(system: System) -> list[Fast]:
    """The force on each coordinate that no multiplier changes: given forces, friction, what reactions contain besides."""
    pairs = zip(system.force, system.principle.besides(system), strict=True)
    return [fast(f) + r for f, r in pairs]


def motion_residual(system: System) -> list[Fast]:
    """What vanishes along a motion, affine in accelerations and multipliers: equations, then constraints.

    Constraints are differentiated until accelerations occur: twice if holonomic, once if kinematic.
    """
    forces = [fast(f) for f in system.force]
    balance = [e - f - r for e, f, r in zip(euler_lagrange(system), forces, reaction(system), strict=True)]
    forms = [c.velocity_form(system.coordinates) for c in system.constraints]
    return balance + total_derivatives(forms, system.coordinates)


def unknowns(system: System) -> tuple[sympy.Symbol, ...]:
    """What the equations of motion determine at a state: accelerations, then multipliers."""
    return (*(q.ddot for q in system.coordinates), *multipliers(system))


def parted(system: System, found: Any) -> tuple[Any, Any]:
    """Values in the order of `unknowns` as accelerations and multipliers; of an array along its first axis."""
    acceleration, held = spans(len(system.coordinates), len(multipliers(system)))
    return found[acceleration], found[held]


@dataclass(frozen=True)
class LinearMotion:
    """The equations of motion as linear equations `matrix` u = `right` for accelerations and multipliers, u = (a, lambda).

    In parts:  m a - omega^T lambda = f,  A a + C = 0.
    """

    system: System

    @cached_property
    def _residual(self) -> list[Fast]:
        return motion_residual(self.system)

    @cached_property
    def matrix(self) -> list[list[Fast]]:
        """The matrix of accelerations and multipliers."""
        return jacobian(self._residual, unknowns(self.system))

    @cached_property
    def right(self) -> list[Fast]:
        """The right-hand sides: f, then -C."""
        at_rest = dict.fromkeys(unknowns(self.system), 0)
        return [-substitute(r, at_rest) for r in self._residual]

    @property
    def mass(self) -> list[list[Fast]]:
        """m."""
        return [parted(self.system, row)[0] for row in parted(self.system, self.matrix)[0]]

    @property
    def forms(self) -> list[list[Fast]]:
        """omega, one row per constraint."""
        columns = list(zip(*parted(self.system, self.matrix)[0], strict=True))
        return [[-a for a in column] for column in parted(self.system, columns)[1]]

    @property
    def rows(self) -> list[list[Fast]]:
        """A, one row per constraint."""
        return [parted(self.system, row)[0] for row in parted(self.system, self.matrix)[1]]

    @property
    def load(self) -> list[Fast]:
        """f: given forces, and the inertial terms without accelerations."""
        return list(parted(self.system, self.right)[0])

    @property
    def hidden(self) -> list[Fast]:
        """C: the differentiated constraints without acceleration."""
        return [-c for c in parted(self.system, self.right)[1]]


@lru_cache(maxsize=64)
def linear_motion(system: System) -> LinearMotion:
    """The equations of motion of a system, linear in accelerations and multipliers; cached: slow to derive."""
    return LinearMotion(system)


@dataclass(frozen=True, repr=False)
class Equations(Formulas):
    """The equations of motion of a system for display: text in a terminal, LaTeX in a notebook.

    They are derived and solved with exact numbers. Results show numbers from typed decimals as decimals.
    """

    system: System

    def _read(self, expression: Fast) -> Expr:
        """Multiplied out, in displayed form."""
        read: Expr = decimal(multiplied_out(readable(expression, self.system)), self.system.typed)
        return read

    def _equation(self, left: Expr, right: Expr) -> Eq:
        return Eq(*(decimal(e, self.system.typed) for e in (left, right)), evaluate=False)

    def _tidy(self, expression: Fast) -> Expr:
        """Multiplied out and collected by accelerations, in which it is linear."""
        accelerations = [q.ddot for q in self.system.coordinates]
        slopes = gradient(expression, accelerations)
        rest = substitute(expression, dict.fromkeys(accelerations, 0))
        parts = [multiplied_out(readable(e, self.system)) for e in (*slopes, rest)]
        return sympy.Add(*(c * a for c, a in zip(parts, accelerations, strict=False)), parts[-1])

    @cached_property
    def lagrange(self) -> tuple[Eq, ...]:
        """d/dt dL/dv - dL/dq = F + lambda_a omega^a, one equation per coordinate."""
        besides = self.system.principle.besides(self.system)
        rows = zip(euler_lagrange(self.system), self.system.force, reaction(self.system), besides, strict=True)
        return tuple(
            self._equation(
                self._tidy(e),
                multiplied_out(readable(fast(f) + r - more, self.system)) + factored(readable(more, self.system)),
            )
            for e, f, r, more in rows
        )

    @cached_property
    def constraints(self) -> tuple[Eq, ...]:
        """The constraints as they were stated."""
        return tuple(self._equation(c.expression, sympy.S.Zero) for c in self.system.constraints)

    @cached_property
    def entropy(self) -> tuple[Eq, ...]:
        """(dL/dS) S.dot = F.v - P, one equation per entropy: the kinematic constraint of a thermomechanical system."""
        laws = zip(self.system.entropies, self.system.temperatures, self.system.heating, strict=True)
        return tuple(self._equation(-T * S.dot, multiplied_out(-power)) for S, T, power in laws)

    @cached_property
    def variations(self) -> tuple[Eq, ...]:
        """(dL/dS) delta S = F.(delta q), one per entropy: the constraint on variations."""
        laws = zip(self.system.entropies, self.system.temperatures, self.system.friction, strict=True)
        moved = [q.displacement for q in self.system.coordinates]
        return tuple(
            self._equation(-T * S.displacement, sympy.Add(*(f * d for f, d in zip(row, moved, strict=True))))
            for S, T, row in laws
        )

    @cached_property
    def mass_matrix(self) -> sympy.Matrix:
        """d2L/dv dv."""
        return sympy.Matrix([[self._read(m) for m in row] for row in mass_matrix(self.system)])

    @cached_property
    def momenta(self) -> dict[Coordinate, Expr]:
        """The momentum dL/dv conjugate to each coordinate."""
        pairs = zip(self.system.coordinates, momenta(self.system), strict=True)
        return {q: self._read(p) for q, p in pairs}

    @cached_property
    def energy(self) -> Expr:
        """The energy T + V; p.v - L where the Lagrangian was given as a whole."""
        from .energies import energy

        return self._read(energy(self.system))

    @cached_property
    def jacobi_integral(self) -> Expr:
        """p.v - L: the energy, unless the kinetic energy has parts of lower degree in the velocities."""
        return self._read(jacobi_integral(self.system))

    @cached_property
    def solved(self) -> dict[sympy.Symbol, Expr]:
        """Accelerations and multipliers as functions of positions, velocities and time.

        Their length grows like the factorial of the number of coupled unknowns: seven coupled pendulums have 28672 terms each,
        and such lengths are refused.
        """
        linear, sought = linear_motion(self.system), unknowns(self.system)
        matrix = sympy.Matrix([[readable(d, self.system) for d in row] for row in linear.matrix])
        right = sympy.Matrix([readable(r, self.system) for r in linear.right])
        found = Budget(seconds=SECONDS).call(lambda: (linear_solution(matrix, right),))
        if found is None:
            raise ModelError(
                f"the equations of {self.system.name!r} are too long to be solved for their {len(sought)} unknowns in "
                f"symbols ({SECONDS} s). They are linear in the accelerations: read .lagrange and .mass_matrix; numbers at a "
                f"state are evaluate(system, at={{...}})."
            )
        (solution,) = found
        if solution is None:
            raise ModelError(
                "the equations cannot be solved for the accelerations: the matrix that determines them is singular."
            )
        return {u: quotient(e, self.system.typed) for u, e in zip(sought, solution, strict=True)}

    @property
    def first_order(self) -> tuple[Eq, ...]:
        """The first-order form: the rate of each velocity, and each multiplier, as a function of the state."""
        rates = zip(self.system.entropies, entropy_rates(self.system), strict=True)
        warming = {S.dot: decimal(readable(rate, self.system), self.system.typed) for S, rate in rates}
        return tuple(Eq(unknown, value, evaluate=False) for unknown, value in (self.solved | warming).items())

    @property
    def _stated(self) -> tuple[Eq, ...]:
        return (*self.lagrange, *self.entropy, *self.constraints)

    def __str__(self) -> str:
        return equations_text(self._stated)

    def latex(self) -> str:
        """The equations and the constraints as LaTeX, for a paper."""
        return aligned(equation_rows(self._stated))


def equations(system: System) -> Equations:
    """Lagrange's equations of a system."""
    return Equations(system)
