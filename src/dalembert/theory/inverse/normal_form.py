"""F = E(L) + phi: equations as those of a Lagrangian and forces that are left over; the Lagrangian of self-conjugate ones.

K        with d2K/dv dv = dF/da
h_k      with dh_e/dx_a - dh_a/dx_e = the antisymmetric part of d(F - E(K))_e/dv_a, if that is free of velocities and closed
U        with dU/dx = F - E(K + h.v) where these depend on position and time only
L = K + h.v - U
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr, Matrix

from ...decide.budget import Budget, BudgetSpentError
from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError, told
from ...model.coordinates import Coordinate, time
from ...symbolic import Fast, fast, gradient, jacobian, substitute
from ..algebra import read, simplified, tidy
from .given_equations import GivenEquations
from .quadratures import is_polynomial, one_form, primitive_function, short, twice_along_rays
from .search_progress import Search
from .variational_forms import jet_rate


@dataclass(frozen=True, repr=False)
class NormalForm(Shown):
    """F_k = E_k(lagrangian) + phi_k."""

    lagrangian: Expr
    phi: tuple[Expr, ...]
    coordinates: tuple[Coordinate, ...]

    @property
    def is_lagrangian(self) -> bool:
        """Whether nothing is left over."""
        return all(vanishes(e) for e in self.phi)

    @cached_property
    def R(self) -> Matrix:
        """A matrix with R^n_k dL/dv^n = -phi_k, row n and column k: R = -u phi^T/(u.p), u = G^-1 p.

        So the equations follow from the variations w(v) = w' + R w, together with A and B. It is not unique.
        """
        return (-self._along * Matrix(self.phi).T).applyfunc(tidy)

    @cached_property
    def _along(self) -> Matrix:
        """u/(u.p), u = G^-1 p."""
        p = Matrix(self._momenta)
        u = self._mass.LUsolve(p)
        return u / (u.T * p)[0]

    @cached_property
    def A(self) -> Matrix:
        """A^q_a = -G^qc dphi_c/dv_a, row q and column a."""
        slopes = Matrix(self.phi).jacobian([q.dot for q in self.coordinates])
        return (-self._mass.LUsolve(slopes)).applyfunc(tidy)

    def B(self, equations: Sequence[Expr]) -> Matrix:
        """A matrix with Z_ac = dphi_c/dx_a - dphi_a/dx_c, row q and column a; its symmetric part is free, and is zero here."""
        return self._B(equations, self.R, sympy.zeros(len(self.phi)))

    def family(self, equations: Sequence[Expr], K: Any, S: Any) -> tuple[Matrix, Matrix, Matrix]:
        """All R, A and B that belong to this L and phi: R + (1 - u p^T/(u.p)) K, A, and B with the symmetric part S of G B.

        K:  any matrix of expressions; what it adds to R has no momentum
        S:  any symmetric matrix of expressions
        """
        n = len(self.phi)
        K, S = (_square(M, name, n) for M, name in ((K, "K"), (S, "S")))
        if S != S.T:
            raise ModelError(f"normal_form: S={told(S.tolist())} is not symmetric. Expected the symmetric part of G B.")
        beside = sympy.eye(n) - self._along * Matrix(self._momenta).T
        R = self.R + (beside * K).applyfunc(tidy)
        return R, self.A, self._B(equations, R, S)

    def _B(self, equations: Sequence[Expr], R: Matrix, S: Matrix) -> Matrix:
        q = self.coordinates
        curl = Matrix(self.phi).jacobian(q).T
        Z = curl - curl.T
        slopes = Matrix(equations).jacobian([x.dot for x in q])
        turned = (slopes * R).T
        lowered = S + (-Z - (turned - turned.T)) / 2
        return self._mass.LUsolve(lowered.T).applyfunc(tidy)

    @property
    def _momenta(self) -> list[Expr]:
        return [self.lagrangian.diff(q.dot) for q in self.coordinates]

    @property
    def _mass(self) -> Matrix:
        return Matrix([[p.diff(q.dot) for q in self.coordinates] for p in self._momenta])

    def _parts(self) -> list[Part]:
        left = [(f"phi of {q}", e) for q, e in zip(self.coordinates, self.phi, strict=True)]
        return ["F = E(L) + phi", ("L", self.lagrangian), *left]


def _square(given: Any, name: str, n: int) -> Matrix:
    try:
        matrix = Matrix(given)
    except (TypeError, ValueError):
        matrix = Matrix()
    if matrix.shape != (n, n):
        raise ModelError(f"normal_form: {name}={told(given)}. Expected a matrix of {n} rows and {n} columns.")
    return matrix


def euler_lagrange(lagrangian: Expr, q: Sequence[Coordinate]) -> list[Fast]:
    """d/dt dL/dv - dL/dx along any curve."""
    L = fast(lagrangian)
    slopes = gradient(L, q)
    return [jet_rate(p, q) - s for p, s in zip(gradient(L, [x.dot for x in q]), slopes, strict=True)]


def normal_form(equations: GivenEquations) -> NormalForm:
    """The normal form, or an error that says why there is none here."""
    G = equations.mass
    velocities = [q.dot for q in equations.coordinates]
    n = len(G)
    slopes = [jacobian(row, velocities) for row in G]
    if not equations.is_affine or not all(
        vanishes(G[i][j] - G[j][i]) and all(vanishes(slopes[i][j][k] - slopes[i][k][j]) for k in range(n))
        for i in range(n)
        for j in range(n)
    ):
        raise ModelError(
            "normal_form: dF/da is not a matrix of second derivatives by the velocities, so F = E(L) + phi would leave "
            "accelerations in phi. Multiply the equations by a matrix first."
        )
    search = Search(60.0)
    try:
        found = _split(equations, search)
    except BudgetSpentError:
        found = None
    finally:
        search.end()
    if found is None:
        raise ModelError("normal_form: the integrals that it consists of were not found in closed form.")
    return found


def _split(equations: GivenEquations, budget: Search) -> NormalForm | None:
    q = equations.coordinates
    budget.begin("the kinetic part of a normal form")
    K = kinetic_part(equations, budget)
    if K is None:
        return None
    budget.begin("the part of a normal form that is linear in the velocities")
    L = K + _gyroscopic_part(equations, K, budget)
    budget.begin("the potential of a normal form")
    rest = [simplified(e, budget) for e in readable(remainder(equations, L), equations, L)]
    still = [e.xreplace(dict.fromkeys((x.dot for x in q), sympy.S.Zero)) for e in rest]
    if not any(e.has(sympy.nan, sympy.zoo, sympy.oo) for e in still):
        U = primitive_function(still, q, budget)
        if U is None:
            return None
        L -= U
    left = readable(remainder(equations, L), equations, L)
    return NormalForm(tidy(L), tuple(simplified(e, budget) for e in left), q)


def kinetic_part(equations: GivenEquations, budget: Budget) -> Expr | None:
    """K with d2K/dv dv = dF/da."""
    q = equations.coordinates
    velocities = [x.dot for x in q]
    moving = [s for x in q for s in (x.dot, x.ddot)]
    G = [
        [short(m, [x.ddot for x in q], budget, *equations.residuals, *moving, time) for m in row]
        for row in equations.mass
    ]
    if is_polynomial([m for row in G for m in row], velocities):
        return twice_along_rays(G, velocities, budget)
    momenta = [primitive_function(row, velocities, budget) for row in G]
    K = primitive_function([p for p in momenta if p is not None], velocities, budget) if None not in momenta else None
    return K if K is not None else twice_along_rays(G, velocities, budget)


def remainder(equations: GivenEquations, lagrangian: Expr) -> list[Fast]:
    """F - E(L), without accelerations where they cancel; not simplified."""
    accelerations = [x.ddot for x in equations.coordinates]
    left = []
    for F, e in zip(equations.residuals, euler_lagrange(lagrangian, equations.coordinates), strict=True):
        difference = fast(F) - e
        calm = substitute(difference, dict.fromkeys(accelerations, 0))
        kept = calm if vanishes(difference - calm) else difference
        left.append(fast(0) if vanishes(kept) else kept)
    return left


def readable(rows: Sequence[Fast], equations: GivenEquations, *like: Expr) -> list[Expr]:
    """Expressions in the symbols of the equations."""
    symbols = [s for x in equations.coordinates for s in (x, x.dot, x.ddot)]
    return [read(e, *equations.residuals, *like, time, *symbols) for e in rows]


def _gyroscopic_part(equations: GivenEquations, K: Expr, budget: Budget) -> Expr:
    """h.v, or zero if the antisymmetric part is no closed form of positions and time."""
    q = equations.coordinates
    velocities = [x.dot for x in q]
    slopes = jacobian(remainder(equations, K), velocities)
    n = len(q)
    curl = [[(slopes[e][a] - slopes[a][e]) / 2 for e in range(n)] for a in range(n)]
    entries = [c for row in curl for c in row]
    if all(vanishes(c) for c in entries) or not all(vanishes(d) for row in jacobian(entries, velocities) for d in row):
        return sympy.S.Zero
    for a in range(n):
        for b in range(a + 1, n):
            for c in range(b + 1, n):
                cyclic = (gradient(curl[i][j], [q[k]])[0] for i, j, k in ((a, b, c), (b, c, a), (c, a, b)))
                if not vanishes(sum(cyclic, start=fast(0))):
                    return sympy.S.Zero
    plain = [[short(c, velocities, budget, *equations.residuals, K, *q, time) for c in row] for row in curl]
    h = one_form(plain, q, budget)
    return sympy.S.Zero if h is None else sympy.Add(*(a * v for a, v in zip(h, velocities, strict=True)))


def lagrangian_of(equations: GivenEquations, budget: Budget) -> Expr | None:
    """A Lagrangian of exactly these equations, which satisfy Helmholtz' conditions; None if an integral was not found."""
    q = equations.coordinates
    K = kinetic_part(equations, budget)
    if K is None:
        return None
    K += _gyroscopic_part(equations, K, budget)
    velocities = [x.dot for x in q]
    rest = [short(e, velocities, budget, *equations.residuals, K, *q, time) for e in remainder(equations, K)]
    U = primitive_function(rest, q, budget)
    if U is None:
        return None
    return tidy(K - U)
