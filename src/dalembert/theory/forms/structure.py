"""The explicit structure of Lagrange's equations, for a Lagrangian L = L2 + L1 + L0 quadratic in the velocities:

    a_jk q''_k + [kl, j] v_k v_l + gamma_jk v_k + da_jk/dt v_k + da_j/dt - dL0/dq_j = F_j + reaction_j

where a_jk is the mass matrix, [kl, j] are its Christoffel symbols of the first kind, a_j the coefficients of L1 and
gamma_jk = da_j/dq_k - da_k/dq_j the gyroscopic matrix. If the kinetic energy was given apart, L0 = T0 - V.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import sympy
from sympy import Eq, Expr, Matrix

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...display import Part, Shown, Table
from ...errors import ModelError
from ...model import checks
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate, time
from ...model.heat import mechanical
from ...model.system import System
from ...symbolic import Fast, fast, gradient, jacobian, slow
from ..algebra import tidy
from ..constraints.integrability import potential
from ..motion.degeneracy import Degeneracy, degeneracy
from ..motion.lagrange import reaction, readable, total_derivative
from ..motion.velocity_degrees import Quadratic, quadratic_part

READABLE = 6
"""Matrices of more coordinates than this are computed, but not shown."""


# operators of Euler and Lagrange


def variational_derivative(lagrangian: Any, coordinates: Sequence[Coordinate]) -> tuple[Expr, ...]:
    """dL/dq_j - d/dt dL/dv_j, one for each coordinate: zero along a free motion."""
    q, L = _stated(lagrangian, coordinates, "lagrangian")
    slopes, momenta = gradient(L, q), gradient(L, [c.dot for c in q])
    return tuple(_readable(d - total_derivative(p, q), q, L) for d, p in zip(slopes, momenta, strict=True))


def generalised_force(potential: Any, coordinates: Sequence[Coordinate]) -> dict[Coordinate, Expr]:
    """Q_j = d/dt dU/dv_j - dU/dq_j of a potential U(q, v, t) that may depend on the velocities."""
    q, U = _stated(potential, coordinates, "potential")
    return {c: sympy.expand(-e) for c, e in zip(q, variational_derivative(U, q), strict=True)}


def _stated(given: Any, coordinates: Any, role: str) -> tuple[tuple[Coordinate, ...], Expr]:
    q = checks.coordinates(coordinates)
    return q, checks.symbols(checks.expression(given, role), {s for c in q for s in (c, c.dot)}, role)


def _readable(expression: Fast, q: Sequence[Coordinate], source: Expr) -> Expr:
    return sympy.expand(slow(expression, [*(s for c in q for s in (c, c.dot, c.ddot)), *source.free_symbols, time]))


# the structure of one system


@dataclass(frozen=True, repr=False)
class Structure(Shown):
    """T2, T1, T0, mass matrix, Christoffel symbols, gyroscopic terms and what follows from them; see `structure`."""

    system: System

    def _tidy(self, e: Fast) -> Expr:
        return tidy(readable(e, self.system))

    @cached_property
    def _whole(self) -> Quadratic:
        found = quadratic_part(self.system.lagrangian, self.system.velocities)
        if found is None:
            raise ModelError(
                f"structure: the Lagrangian of {self.system.name!r} is not quadratic in the velocities, so it has no parts "
                f"T2, T1, T0 and no Christoffel symbols. Its equations are in system.equations()."
            )
        return found

    @cached_property
    def _kinetic(self) -> Quadratic | None:
        T = self.system.kinetic
        return None if T is None else quadratic_part(T, self.system.velocities)

    @property
    def _split(self) -> Quadratic:
        return self._kinetic or self._whole

    # the parts of the kinetic energy
    @cached_property
    def T2(self) -> Expr:
        """The part of the kinetic energy (of the Lagrangian, if that was given) quadratic in the velocities."""
        return self._tidy(self._split.second(self.system.velocities))

    @cached_property
    def T1(self) -> Expr:
        """The part linear in the velocities."""
        return self._tidy(self._split.first(self.system.velocities))

    @cached_property
    def T0(self) -> Expr | None:
        """The part without velocities; None if only the Lagrangian was given, which has only T0 - V = L0."""
        return None if self._kinetic is None else self._tidy(self._kinetic.rest)

    @cached_property
    def L0(self) -> Expr:
        """The part of the Lagrangian without velocities: T0 - V."""
        return self._tidy(self._whole.rest)

    @property
    def _n(self) -> int:
        return len(self.system.coordinates)

    # the coefficients of the explicit equations
    @cached_property
    def mass_matrix(self) -> Matrix:
        """a_jk = d2L/dv_j dv_k."""
        return Matrix(self._n, self._n, [self._tidy(e) for row in self._whole.mass for e in row])

    def _first_kind(self, k: int, l: int, j: int) -> Fast:
        a, q = self._whole.mass, self.system.coordinates
        return (a[j][k].diff(fast(q[l])) + a[j][l].diff(fast(q[k])) - a[k][l].diff(fast(q[j]))) / 2

    def christoffel(self, k: Coordinate, l: Coordinate, j: Coordinate) -> Expr:
        """The Christoffel symbol of the first kind [kl, j] = (da_jk/dq_l + da_jl/dq_k - da_kl/dq_j)/2."""
        return self._tidy(self._first_kind(*(self._place(c) for c in (k, l, j))))

    def christoffel_second(self, j: Coordinate, k: Coordinate, l: Coordinate) -> Expr:
        """The Christoffel symbol of the second kind: the inverse mass matrix times [kl, .]."""
        column = Matrix([self.christoffel(k, l, c) for c in self.system.coordinates])
        solved = Budget(seconds=10).call(lambda: self.mass_matrix.LUsolve(column)[self._place(j)])
        if solved is None:
            raise ModelError("christoffel_second: the mass matrix could not be inverted in closed form within 10 s.")
        return tidy(sympy.cancel(solved)) if solved.count_ops() < 500 else solved

    def _place(self, c: Coordinate) -> int:
        if c not in self.system.coordinates:
            names = ", ".join(q.name for q in self.system.coordinates)
            raise ModelError(
                f"structure: {c} is not a coordinate of {self.system.name!r}. Its coordinates are {names}."
            )
        return self.system.coordinates.index(c)

    @cached_property
    def christoffel_symbols(self) -> dict[tuple[Coordinate, Coordinate, Coordinate], Expr]:
        """The symbols [kl, j] that are not zero, by (k, l, j) with k not after l."""
        q = self.system.coordinates
        found = {}
        for (k, a), (l, b) in combinations_with_replacement(enumerate(q), 2):
            for j, c in enumerate(q):
                symbol = self._first_kind(k, l, j)
                if symbol != 0 and not vanishes(symbol):
                    found[a, b, c] = self._tidy(symbol)
        return found

    @cached_property
    def _gamma(self) -> list[list[Fast]]:
        slopes = jacobian(self._whole.linear, self.system.coordinates)
        rows = [[slopes[j][k] - slopes[k][j] for k in range(self._n)] for j in range(self._n)]
        return [[fast(0) if vanishes(e) else e for e in row] for row in rows]

    @cached_property
    def gyroscopic_matrix(self) -> Matrix:
        """gamma_jk = da_j/dq_k - da_k/dq_j, on the left-hand side; of a charged particle it is e (dA_j/dx_k - dA_k/dx_j)."""
        return Matrix(self._n, self._n, [self._tidy(e) for row in self._gamma for e in row])

    @cached_property
    def gyroscopic_forces(self) -> dict[Coordinate, Expr]:
        """-gamma_jk v_k, on the right-hand side: the gyroscopic force along each coordinate."""
        v = [fast(x) for x in self.system.velocities]
        forces = [-sum((g * x for g, x in zip(row, v, strict=True)), start=fast(0)) for row in self._gamma]
        return {q: self._tidy(f) for q, f in zip(self.system.coordinates, forces, strict=True)}

    @property
    def is_gyroscopic(self) -> bool:
        """Whether there are gyroscopic forces."""
        return any(e != 0 for row in self._gamma for e in row)

    @cached_property
    def gyroscopic_power(self) -> Expr:
        """The power of the gyroscopic forces, which is zero because gamma is antisymmetric: computed, not assumed."""
        return sympy.expand(sympy.Add(*(f * q.dot for q, f in self.gyroscopic_forces.items())))

    # the kind of system
    @property
    def is_natural(self) -> bool:
        """Whether the standard form holds with a Lagrangian that is free of time and a kinetic energy T = T2."""
        return not self._unnatural

    @property
    def natural_reason(self) -> str:
        """Why the system is natural, or everything that makes it not so."""
        if self._unnatural:
            return "; ".join(self._unnatural)
        told = "T = T2" if self._kinetic else "L has no part linear in the velocities (V stands for -L0)"
        return f"{told}, the Lagrangian is free of time, and all forces come from the potential{self._besides}"

    @property
    def _besides(self) -> str:
        """What acts besides the Lagrangian, as the end of a sentence about it."""
        acting = ["the forces"] if not all(vanishes(f) for f in self.system.force) else []
        acting += ["the reactions of the constraints"] if self.system.constraints else []
        return f"; {' and '.join(acting)} act besides" if acting else ""

    @cached_property
    def _unnatural(self) -> tuple[str, ...]:
        why = []
        if not all(vanishes(a) for a in self._split.linear):
            idle = ", which is a total time derivative and enters no equation" if self._is_gauge else ""
            why.append(f"there is a part linear in the velocities{idle}")
        if self._kinetic is not None and not vanishes(self._kinetic.rest):
            why.append("the kinetic energy has a part T0 without velocities")
        if not vanishes(self.system.lagrangian.diff(time)):
            why.append("the Lagrangian depends on time")
        if not all(vanishes(f) for f in self.system.force):
            why.append("there are forces besides the potential")
        return tuple(why)

    @property
    def _is_gauge(self) -> bool:
        """Whether the part linear in the velocities enters no equation."""
        return not self.is_gyroscopic and all(vanishes(a.diff(fast(time))) for a in self._whole.linear)

    @cached_property
    def effective_potential(self) -> Expr | None:
        """The potential V' that gives the equations together with T2; None if there is none, see `potential_reason`.

        It is V - T0 where the part linear in the velocities enters no equation. Where that part is dF/dt - F_t for some
        F(q, t), it is V - T0 + F_t: the force of an accelerated frame is then part of it.
        """
        if self.is_gyroscopic:
            return None
        if self._is_gauge:
            return -self.L0
        form = [readable(a, self.system) for a in self._whole.linear]
        F = potential(form, self.system.coordinates, Budget(seconds=5))
        return None if F is None else tidy(F.diff(time) - self.L0)

    @property
    def potential_reason(self) -> str:
        """The role of the effective potential here, or why there is none."""
        if self.is_gyroscopic:
            return (
                "no potential gives the equations together with T2: there are gyroscopic forces. V - T0 = -L0 still gives "
                "the places of relative rest and the Jacobi integral T2 + (V - T0)"
            )
        if self.effective_potential is None:
            return "there are no gyroscopic forces, but the quadrature of the linear part was not found"
        moving = any(not vanishes(e.diff(fast(time))) for row in self._whole.mass for e in row)
        also = ", with the term da_jk/dt v_k besides" if moving else ""
        if self._is_gauge:
            return f"the equations are those of kinetic energy T2 and potential V' = V - T0{also}{self._besides}"
        return (
            f"the part linear in the velocities is dF/dt - F_t, so the equations are those of kinetic energy T2 and "
            f"potential V' = V - T0 + F_t{also}{self._besides}"
        )

    @cached_property
    def degenerate(self) -> Degeneracy:
        """Where the mass matrix degenerates, and whether it is positive definite elsewhere; see `Degeneracy`."""
        return degeneracy(self.mass_matrix, self.system)

    # Lagrange's equations in their forms
    def explicit_side(self) -> list[Fast]:
        """The left-hand sides assembled from the coefficients above: equal to d/dt dL/dv - dL/dq."""
        q, t = self.system.coordinates, fast(time)
        v, w = [fast(c.dot) for c in q], [fast(c.ddot) for c in q]
        n, a, gamma = range(self._n), self._whole.mass, self._gamma
        slopes = gradient(self._whole.rest, q)
        sides = []
        for j in n:
            inertia = sum((a[j][k] * w[k] for k in n), start=fast(0))
            curvature = sum((self._first_kind(k, l, j) * v[k] * v[l] for k in n for l in n), start=fast(0))
            turning = sum((gamma[j][k] * v[k] for k in n), start=fast(0))
            moving = sum((a[j][k].diff(t) * v[k] for k in n), start=self._whole.linear[j].diff(t))
            sides.append(inertia + curvature + turning + moving - slopes[j])
        return sides

    def _equations(self, left: Sequence[Fast], right: Sequence[Any]) -> tuple[Eq, ...]:
        whole = [fast(f) + r for f, r in zip(right, reaction(self.system), strict=True)]
        accelerations = [q.ddot for q in self.system.coordinates]

        def side(e: Fast) -> Expr:
            return sympy.collect(sympy.expand(tidy(readable(e, self.system))), accelerations)

        return tuple(Eq(side(e), side(r), evaluate=False) for e, r in zip(left, whole, strict=True))

    @cached_property
    def explicit(self) -> tuple[Eq, ...]:
        """The explicit form, one equation per coordinate; forces and reactions on the right."""
        return self._equations(self.explicit_side(), self.system.force)

    @cached_property
    def basic(self) -> tuple[Eq, ...]:
        """d/dt dT/dv - dT/dq = Q, with all generalised forces on the right, those of the potential too."""
        if self.system.kinetic is None or self.system.potential is None:
            raise ModelError(
                f"basic: {self.system.name!r} was given by its Lagrangian, so kinetic energy and forces cannot be told "
                f"apart. State it with kinetic=..., potential=..., or use the mixed form."
            )
        q = self.system.coordinates
        left = [-fast(e) for e in variational_derivative(self.system.kinetic, q)]
        forces = generalised_force(self.system.potential, q)
        return self._equations(left, [forces[c] + f for c, f in zip(q, self.system.force, strict=True)])

    @cached_property
    def standard(self) -> tuple[Eq, ...]:
        """d/dt dL/dv - dL/dq = 0 (reactions apart): all forces come from the Lagrangian."""
        given = [q for q, f in zip(self.system.coordinates, self.system.force, strict=True) if not vanishes(f)]
        if given:
            raise ModelError(
                f"standard: there is a force on {', '.join(q.name for q in given)} that is not in the Lagrangian. Use the "
                f"mixed form, or the basic form."
            )
        return self.mixed

    @cached_property
    def mixed(self) -> tuple[Eq, ...]:
        """d/dt dL/dv - dL/dq = Q, where Q are the forces that are not in the Lagrangian."""
        left = [-fast(e) for e in variational_derivative(self.system.lagrangian, self.system.coordinates)]
        return self._equations(left, self.system.force)

    def _parts(self) -> list[Part]:
        s, small = self.system, self._n <= READABLE
        parts: list[Part] = [f"{s.name}: structure of the equations"]
        if self._kinetic is None:
            parts.append("The Lagrangian was given whole: T2 and T1 are its parts, and L0 = T0 - V is not divided.")
        parts += [("T2", self.T2), ("T1", self.T1), ("L0", self.L0) if self.T0 is None else ("T0", self.T0)]
        if not small:
            return [*parts, f"Matrices of {self._n} coordinates are not shown.", *self._verdicts()]
        parts += [("V", s.potential)] if s.potential is not None else []
        parts.append(("mass matrix", self.mass_matrix))
        rows = [(f"[{k} {l}, {j}]", e) for (k, l, j), e in self.christoffel_symbols.items()]
        parts.append(Table(("Christoffel symbol", "value"), rows) if rows else "All Christoffel symbols are zero.")
        if self.is_gyroscopic:
            parts.append(("gyroscopic matrix", self.gyroscopic_matrix))
            parts.append(f"Gyroscopic forces have the power {self.gyroscopic_power}.")
        holding = [Eq(c.expression, 0, evaluate=False) for c in s.constraints]
        return [
            *parts,
            *self._verdicts(),
            "Explicit form:",
            *self.explicit,
            *(["Constraints:", *holding] if holding else []),
        ]

    def _verdicts(self) -> list[Part]:
        natural = f"{'Natural' if self.is_natural else 'Not natural'}: {self.natural_reason}."
        potential: list[Part] = [] if self.is_natural else [f"Potential: {self.potential_reason}."]
        if self.effective_potential is not None and not self.is_natural:
            potential.append(("V'", self.effective_potential))
        return [natural, *potential, *self.degenerate._parts()]


def structure(system: System) -> Structure:
    """The explicit structure of the equations of a system: T2, T1, T0, Christoffel symbols, gyroscopic terms.

    The result holds `T2`, `T1`, `T0`, `mass_matrix`, `christoffel(k, l, j)`, `gyroscopic_matrix`, `is_natural`,
    `effective_potential`, `degenerate` and Lagrange's equations as `explicit`, `basic`, `standard` and `mixed`.
    """
    system = system_of(system, "structure")
    mechanical(system, "structure")
    found = Structure(system)
    _ = found._whole
    return found
