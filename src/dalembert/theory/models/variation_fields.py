"""The variations of the Upsilon model: [w, v] = Upsilon with Upsilon(x^n) = R_k^n w^k, where R is found from the constraints.

Each constraint is kept by the variations, w(chi_a) = 0, because E_k(chi_a) = R_k^n dchi_a/dv^n. With N functions R is
E_k(chi_a) T_a^n, T the inverse of dchi/dv; with fewer it is psi_a,k e_a^n + T_k^n, where e_a are the rows dchi/dv made
orthonormal in the metric G = d2L/dv2, and T_k^n e_a,n = 0 holds what the constraints leave free. The equations are

    E_k(L) - R_k^n dL/dv^n = F_k + lambda_a dchi_a/dv^k,    E_k(f) = d/dt df/dv^k - df/dx^k
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Eq, Expr, Matrix, Symbol

from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError
from ...model.coordinates import Coordinate, Momentum
from ...model.space import lines_only
from ...model.system import System
from ...model.upsilon import Upsilon, bordered, components, lagrange_derivative, solved
from ...symbolic import Fast, fast, gradient, jacobian, total
from ..algebra import Allowance, factored, tidy
from ..forms.hamilton import legendre
from ..motion.lagrange import euler_lagrange, linear_motion, parted, readable

Rows = list[list[Fast]]

SHORT = 1000
"""Expressions of more operations are shown as they were derived."""


@dataclass(frozen=True, repr=False, eq=False)
class VariationFields(Shown):
    """R, Upsilon and the equations of a system under the Upsilon model; see the module.

    system:     the system, with this principle
    principle:  the functions Phi, or those that complete the constraints
    """

    system: System
    principle: Upsilon

    # what the construction starts from
    @cached_property
    def functions(self) -> tuple[Expr, ...]:
        """The constraint functions, those on positions differentiated once; then the functions that complete them."""
        q = self.system.coordinates
        return (*(c.velocity_form(q) for c in self.system.constraints), *self.principle.completion)

    @cached_property
    def _rows(self) -> Rows:
        return jacobian(list(map(fast, self.functions)), self.system.velocities)

    @cached_property
    def _momenta(self) -> list[Fast]:
        return gradient(self.system.lagrangian, self.system.velocities)

    @cached_property
    def _metric(self) -> Rows:
        return jacobian(self._momenta, self.system.velocities)

    @cached_property
    def _derivatives(self) -> Rows:
        """E_k of every function, one row each."""
        return [lagrange_derivative(f, self.system.coordinates) for f in self.functions]

    @cached_property
    def metric(self) -> Matrix:
        """G = d2L/dv2, in which rows are made orthonormal."""
        return self._matrix(self._metric)

    @cached_property
    def components(self) -> tuple[Expr, ...]:
        """The numbers c, one for each function: the part of the momentum along the rows is c_b dchi_b/dv."""
        return tuple(map(self._short, components(self.system, self.principle.completion)))

    # Gram and Schmidt (theorem 3.2)
    @cached_property
    def _orthonormal(self) -> tuple[Rows, Rows]:
        """e_a as vectors, and psi_a: what Gram and Schmidt's steps make of E_k(chi_a)."""
        G = self._metric
        e: Rows = []
        psi: Rows = []
        raised = solved(G, _transposed(self._rows))
        for up, own in zip(raised, self._derivatives, strict=True):
            shares = [_form(G, up, before) for before in e]
            xi = [x - total(s * b[n] for s, b in zip(shares, e, strict=True)) for n, x in enumerate(up)]
            rest = [x - total(s * b[k] for s, b in zip(shares, psi, strict=True)) for k, x in enumerate(own)]
            length = _form(G, xi, xi) ** fast(sympy.S.Half)
            e.append([x / length for x in xi])
            psi.append([x / length for x in rest])
        return e, psi

    @cached_property
    def orthonormal(self) -> Matrix:
        """e_a^n, one row for each constraint: the rows raised by the metric and made orthonormal."""
        self._only_constraints()
        return self._matrix(self._orthonormal[0])

    @cached_property
    def psi(self) -> Matrix:
        """psi_a,k, one row for each constraint."""
        self._only_constraints()
        return self._matrix(self._orthonormal[1])

    def _only_constraints(self) -> None:
        if self.principle.completion:
            raise ModelError(
                "Upsilon: the rows are made orthonormal where constraints alone are given. With completion=[...] R follows "
                "from the inverse of dchi/dv: read .R."
            )

    @cached_property
    def free(self) -> Matrix:
        """T[k, n] with T_k^n dchi_a/dv^n = 0 and T_k^n dL/dv^n = Phi_k, along the momentum less its part along the rows."""
        return self._matrix(self._free)

    @cached_property
    def _free(self) -> Rows:
        p, n = self._momenta, len(self._momenta)
        phi = dict(self.principle.functions)
        if not phi:
            return [[fast(0)] * n for _ in range(n)]
        c = components(self.system)
        beside = [a - total(b * row[i] for b, row in zip(c, self._rows, strict=True)) for i, a in enumerate(p)]
        along = solved(self._metric, [[b] for b in beside])[0]
        size = total(a * b for a, b in zip(along, p, strict=True))
        if vanishes(size):
            raise ModelError(
                "Upsilon: the momentum is a combination of the rows of the constraints, so no R gives the functions Phi. The "
                "equations hold them all the same: read equations()."
            )
        return [[fast(phi.get(q, 0)) * a / size for a in along] for q in self.system.coordinates]

    # R and Upsilon
    @cached_property
    def _R(self) -> Rows:
        n = range(len(self._momenta))
        if self.principle.completion:
            inverse = _transposed(solved(self._rows, _identity(len(n))))  # inverse[n][a] = T_a^n
            return [[total(E[k] * inverse[m][a] for a, E in enumerate(self._derivatives)) for m in n] for k in n]
        if not self.functions:
            return self._free
        raised = solved(self._metric, _transposed(self._rows))
        gram = [[total(a * b for a, b in zip(row, up, strict=True)) for up in raised] for row in self._rows]
        upper = solved(gram, raised)  # upper[n][b] = (Gram^-1)_bc P_c^n
        return [
            [total(E[k] * upper[m][b] for b, E in enumerate(self._derivatives)) + self._free[k][m] for m in n]
            for k in n
        ]

    @cached_property
    def R(self) -> Matrix:
        """R[k, n]: the row is the variation that it acts on, the column the result. It contains accelerations linearly."""
        return self._matrix(self._R)

    @cached_property
    def upsilon(self) -> dict[Coordinate, Expr]:
        """Upsilon(x^n) = R_k^n w^k, the defect w(x^n.dot) - d/dt w(x^n) for the variations w^k, written x.displacement."""
        q = self.system.coordinates
        return {
            c: sympy.Add(*(self.R[k, n] * d.displacement for k, d in enumerate(q))) for n, c in enumerate(q)
        }  # fmt: skip

    def kept(self, function: Any) -> list[Expr]:
        """D_k(f) = E_k(f) - R_k^n df/dv^n: zero for every constraint."""
        slopes = gradient(function, self.system.velocities)
        own = lagrange_derivative(function, self.system.coordinates)
        pairs = zip(own, self._R, strict=True)
        return [self._short(e - total(r * s for r, s in zip(row, slopes, strict=True))) for e, row in pairs]

    # the equations
    @cached_property
    def equations(self) -> tuple[Eq, ...]:
        """E_k(L) - R_k^n dL/dv^n = F_k + lambda_a dchi_a/dv^k, one per coordinate."""
        s = self.system
        left = (
            self._short(e) - self._short(total(r * p for r, p in zip(row, self._momenta, strict=True)))
            for e, row in zip(euler_lagrange(s), self._R, strict=True)
        )
        right = (self._short(fast(f) + r) for f, r in zip(s.force, s.principle.impulse(s), strict=True))
        return tuple(Eq(a, b, evaluate=False) for a, b in zip(left, right, strict=True))

    @cached_property
    def bordered(self) -> Matrix:
        """The matrix that determines accelerations and multipliers: d2L/dv2 - c_b d2chi_b/dv2 - dPhi/da, with dchi/dv."""
        return self._matrix(bordered(self.system, self.principle))

    @cached_property
    def multiplier_equations(self) -> tuple[Eq, ...]:
        """Each multiplier lambda_a of the equations as a function of the state. Its negative is the rate of the mu_a in
        L + mu_a chi_a.
        """
        linear = linear_motion(self.system)
        solution = solved(linear.matrix, [[r] for r in linear.right])[0]
        pairs = zip(self.system.multipliers, parted(self.system, solution)[1], strict=True)
        return tuple(Eq(m, self._short(e), evaluate=False) for m, e in pairs)

    # the Hamiltonian form
    @cached_property
    def multipliers(self) -> tuple[Symbol, ...]:
        """mu_1, ...: the multipliers in L + mu_a chi_a, on which motions do not depend."""
        return tuple(sympy.Symbol(f"mu_{a + 1}", real=True) for a in range(len(self.system.constraints)))

    @cached_property
    def _hamiltonian(self) -> tuple[Expr, dict[Coordinate, Expr]]:
        q = self.system.coordinates
        whole = self.system.lagrangian + sympy.Add(
            *(m * f for m, f in zip(self.multipliers, self.functions, strict=False))
        )
        found = legendre(whole, self.system.velocities, [c.momentum for c in q], Budget(seconds=10))
        if found.dual is None or found.solution is None:
            raise ModelError(f"Upsilon: there is no Hamiltonian in closed form: {found.reason}.")
        return found.dual, dict(zip(q, found.solution, strict=True))

    @cached_property
    def hamiltonian(self) -> Expr:
        """H = p.v - L - mu_a chi_a with p = d(L + mu_a chi_a)/dv, in positions, momenta, mu and time."""
        return self._hamiltonian[0]

    @cached_property
    def velocities(self) -> dict[Coordinate, Expr]:
        """dx^k/dt = dH/dp_k."""
        return {q: tidy(self.hamiltonian.diff(q.momentum)) for q in self.system.coordinates}

    @cached_property
    def momentum_rates(self) -> dict[Momentum, Expr]:
        """dp_k/dt = -dH/dx^k + R_k^n p_n + F_k, R written with the accelerations, which it contains linearly."""
        into = {q.dot: v for q, v in self._hamiltonian[1].items()}
        found = {}
        for k, q in enumerate(self.system.coordinates):
            turned = sympy.Add(*(self.R[k, n] * c.momentum for n, c in enumerate(self.system.coordinates)))
            found[q.momentum] = (turned + self.system.force[k]).xreplace(into) - self.hamiltonian.diff(q)
        return found

    @cached_property
    def is_canonical(self) -> bool:
        """Whether R_k^n p_n = 0, so that these are Hamilton's equations."""
        return all(vanishes(total(r * p for r, p in zip(row, self._momenta, strict=True))) for row in self._R)

    # reading
    def _short(self, e: Any) -> Expr:
        """Short where that does not take long; long expressions, as user's functions Phi make them, stay as they are."""
        plain = readable(fast(e), self.system)
        if plain.count_ops() > SHORT:
            return plain
        return sympy.Integer(0) if vanishes(fast(e)) else factored(plain, Allowance(seconds=1.0, total=3.0))

    def _matrix(self, rows: Sequence[Sequence[Any]]) -> Matrix:
        return Matrix([[self._short(e) for e in row] for row in rows])

    def _parts(self) -> list[Part]:
        shown: list[Part] = [f"{self.system.name}: the Upsilon model, {self.principle!r}"]
        shown += [("R", self.R), "Upsilon:"]
        shown += [Eq(Symbol(f"Upsilon({q})"), e, evaluate=False) for q, e in self.upsilon.items()]
        return [*shown, "Equations:", *self.equations, "Multipliers:", *self.multiplier_equations]


def variation_fields(system: System, principle: Upsilon) -> VariationFields:
    """The fields of a system under a principle of the Upsilon model."""
    lines_only(system, "Upsilon.fields")
    whole = system if system.principle == principle else system.replace(principle=principle)
    assert isinstance(whole.principle, Upsilon)
    return VariationFields(whole, whole.principle)


def _form(G: Rows, u: Sequence[Fast], v: Sequence[Fast]) -> Fast:
    return total(a * g * b for a, row in zip(u, G, strict=True) for g, b in zip(row, v, strict=True))


def _transposed(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def _identity(n: int) -> Rows:
    return [[fast(int(i == j)) for j in range(n)] for i in range(n)]
