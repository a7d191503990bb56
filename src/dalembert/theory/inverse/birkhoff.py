"""Lagrangians that are not regular: of equations exactly as given, and of equations of first order (Birkhoff).

L = a_k(q, t) v_k - U(q, t) has the equations F_e = H_ae v_a + dU/dx_e + da_e/dt with H_ae = da_e/dx_a - da_a/dx_e, closed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from itertools import combinations as combinations_of

import sympy
from sympy import Expr, Matrix

from ...decide.zero import vanishes
from ...errors import ModelError
from ...model.coordinates import time
from ...symbolic import Fast, fast, gradient, jacobian, total
from ..algebra import attempt, linear_solution, read
from .along_motion import two_forms
from .found_lagrangian import InverseResult, is_exactly
from .given_equations import GivenEquations
from .last_multiplier import candidates
from .linear_identities import combinations
from .normal_form import lagrangian_of
from .search_progress import Search
from .self_conjugacy import Helmholtz
from .variational_forms import VariationalForms


def degenerate(given: GivenEquations, search: Search) -> InverseResult:
    """A Lagrangian with E(L) = F, whether the accelerations follow from F or not."""
    search.begin("the equations as they stand")
    check = Helmholtz(given, VariationalForms(given.residuals, given.coordinates))
    if not check.holds:
        failing = check.failing[0]
        return InverseResult(
            given, None, False,
            f"The equations as they stand are not those of a Lagrangian: the {failing.name} of Helmholtz' conditions fails "
            f"({failing.formula}). Another combination of them may be.",
            searched=tuple(search.searched),
        )  # fmt: skip
    L = attempt(search, lagrangian_of, given, search)
    return _exact(L, given, search) or InverseResult(
        given, None, True,
        "The equations satisfy Helmholtz' conditions, so there is a Lagrangian, but its quadratures were not found in closed "
        "form.",
        searched=tuple(search.searched),
    )  # fmt: skip


def _exact(L: Expr | None, given: GivenEquations, search: Search) -> InverseResult | None:
    if L is None or not is_exactly(L, given):
        return None
    reason = "The equations satisfy Helmholtz' conditions as they stand."
    return InverseResult(given, L, True, reason, "", None, tuple(search.searched), True)


def birkhoffian(given: GivenEquations, search: Search) -> InverseResult:
    """A Lagrangian linear in the velocities, of equations of first order times an antisymmetric matrix."""
    if not given.is_first_order:
        raise ModelError(
            'lagrangian: kind="birkhoff" takes equations of first order, and accelerations occur. Expected an equation '
            f"{given.coordinates[0]}.dot - (...) for each coordinate; make the velocities coordinates of their own."
        )
    search.begin("the equations as they stand")
    if Helmholtz(given, VariationalForms(given.residuals, given.coordinates)).holds:
        found = _exact(attempt(search, lagrangian_of, given, search), given, search)
        if found is not None:
            return found
    rates = _rates(given)
    if len(rates) % 2:
        return InverseResult(
            given, None, False,
            f"{len(rates)} is odd, and an antisymmetric matrix of odd size is singular: no Lagrangian that is linear in the "
            "velocities determines all of them.",
            searched=tuple(search.searched),
        )  # fmt: skip
    forms = [_two_forms(given, rates, search), *([_last_multipliers(given, rates, search)] if len(rates) == 2 else [])]
    for H in chain(*forms):
        made = [
            sympy.Add(*(H[a, e] * (q.dot - X) for a, (q, X) in enumerate(zip(given.coordinates, rates, strict=True))))
            for e in range(len(rates))
        ]
        equations = GivenEquations(tuple(made), given.coordinates, given.parameters, given.typed)
        L = attempt(search, lagrangian_of, equations, search)
        if L is not None and is_exactly(L, equations):
            reason = "The equations, solved for the velocities, are multiplied by a closed two-form."
            return InverseResult(given, L, True, reason, "", None, tuple(search.searched), True)
    return InverseResult(
        given, None, True,
        "Locally there is a Lagrangian that is linear in the velocities (an even number of equations of first order), but "
        f"none was found. Searched: {'; '.join(search.searched)}.",
        searched=tuple(search.searched),
    )  # fmt: skip


def _rates(given: GivenEquations) -> list[Expr]:
    """The equations solved for the velocities."""
    velocities = [q.dot for q in given.coordinates]
    matrix = jacobian([fast(F) for F in given.residuals], velocities)
    bent = [d for row in matrix for e in row for d in gradient(e, velocities)]
    if not all(vanishes(d) for d in bent):
        raise ModelError(
            "lagrangian: the velocities do not occur linearly. Expected equations of first order that are linear in them."
        )
    rest = [F.xreplace(dict.fromkeys(velocities, sympy.S.Zero)) for F in given.residuals]
    rows = [[read(e, *given.residuals) for e in row] for row in matrix]
    solved = linear_solution(Matrix(rows), Matrix([-e for e in rest]))
    if solved is None:
        raise ModelError("lagrangian: the equations do not determine the velocities: their matrix is singular.")
    return solved


def _two_forms(given: GivenEquations, X: list[Expr], search: Search) -> Iterator[Matrix]:
    """Closed antisymmetric matrices H with E(L) = H^T (v - X): dH/dt along X is its curl.

    Entries are combinations of products of powers -1, 0, 1 of the coordinates. For two coordinates H_12 = M with
    dM/dt + M div X = 0.
    """
    q, n = given.coordinates, len(X)
    places = two_forms(n)
    search.begin("two-forms whose entries are products of powers of the coordinates")
    powers = [sympy.S.One]
    for x in q:
        powers = [p * f for p in powers for f in (sympy.S.One, 1 / x, x)]
    powers = sorted(powers, key=lambda p: p.count_ops())[: max(1, 60 // len(places))]
    units = [(k, p) for p in powers for k in range(len(places))]
    columns = [_conditions_on(places[k], p, q, X) for k, p in units]
    for vector in combinations(columns, (time, *q), search, *X):
        H = sympy.zeros(n, n)
        for c, (k, p) in zip(vector, units, strict=True):
            a, e = places[k]
            H[a, e] += c * p
            H[e, a] -= c * p
        if not vanishes(H.det()):
            yield H


def _last_multipliers(given: GivenEquations, X: list[Expr], search: Search) -> Iterator[Matrix]:
    """For two coordinates: H_12 = M with dM/dt + M div X = 0 along X, log M a combination of logarithms."""
    x, y = given.coordinates
    divergence = fast(X[0]).diff(fast(x)) + fast(X[1]).diff(fast(y))
    variables = (time, x, y)

    def rate(S: Expr) -> Fast:
        moves = (fast(1), *map(fast, X))
        return total([d * m for d, m in zip(gradient(S, variables), moves, strict=True)])

    search.begin("last multipliers")
    functions = candidates(X, (), (x, y))
    columns = [[divergence], *([rate(S)] for S in functions)]
    for first, *others in combinations(columns, variables, search, *functions, *X):
        if first != 0:
            S = sympy.Add(*(c / first * f for c, f in zip(others, functions, strict=True)))
            M = sympy.powsimp(sympy.exp(sympy.expand(S)))
            yield Matrix([[0, M], [-M, 0]])


def _conditions_on(place: tuple[int, int], p: Expr, q: tuple[sympy.Symbol, ...], X: list[Expr]) -> list[Expr]:
    """The Lie derivative of p dx_a dx_e along the flow of X and time, and its differential."""
    a, e = place
    n = len(q)
    rate = p.diff(time) + sympy.Add(*(p.diff(x) * f for x, f in zip(q, X, strict=True)))
    H = [[sympy.S.Zero] * n for _ in range(n)]
    H[a][e], H[e][a] = p, -p
    found = []
    for i, j in two_forms(n):
        turned = (H[k][j] * X[k].diff(q[i]) + H[i][k] * X[k].diff(q[j]) for k in range(n))
        found.append(sympy.Add(rate if (i, j) == (a, e) else 0, *turned))
    for i, j, k in combinations_of(range(n), 3):
        found.append(H[j][k].diff(q[i]) + H[k][i].diff(q[j]) + H[i][j].diff(q[k]))
    return found
