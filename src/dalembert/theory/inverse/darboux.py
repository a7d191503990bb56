"""Darboux coordinates: a Lagrangian a_k(x, t) v_k - U(x, t), linear in the velocities, as that of a Hamiltonian system.

With functions Q_i, P_i of (x, t) and f for which a = P_i dQ_i + df at every time,

    L = P_i dQ_i/dt - K + df/dt,        K = U + P_i dQ_i/dt|x + df/dt|x

so the motion is dQ_i/dt = dK/dP_i, dP_i/dt = -dK/dQ_i. Such functions exist near every state where the matrix H of a is
regular (Darboux). They are found where H does not depend on x, by Gram's and Schmidt's steps with the bracket in place of the
product; and where as many of the coordinates as there are positions have no brackets with one another: then a quadrature
gives f.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import sympy
from sympy import Expr, Matrix, Symbol

from ...decide.budget import Budget, BudgetSpentError
from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError, told
from ...model import checks
from ...model.coordinates import Coordinate, time
from ...symbolic import fast, gradient
from ..algebra import attempt, linear_solution, tidy
from ..constraints.integrability import potential
from .found_lagrangian import InverseResult
from .given_equations import coordinate_list
from .search_progress import Search

SECONDS = 20.0
"""Seconds that finding the coordinates may take."""


@dataclass(frozen=True, repr=False)
class DarbouxCoordinates(Shown):
    """Canonical coordinates of equations of first order.

    canonical:    {Q: expression, Q.momentum: expression, ...} in the given coordinates and time
    hamiltonian:  K in the given coordinates and time
    old:          {x: expression in Q, Q.momentum and time}; None where the functions could not be inverted in closed form
    how:          how they were found
    """

    coordinates: tuple[Coordinate, ...]
    canonical: dict[Symbol, Expr]
    hamiltonian: Expr
    old: dict[Symbol, Expr] | None
    how: str

    @property
    def new_hamiltonian(self) -> Expr:
        """K in Q, Q.momentum and time, as `hamilton(..., coordinates=[Q])` takes it."""
        if self.old is None:
            raise ModelError(
                "darboux: the canonical coordinates could not be inverted in closed form, so K is known in the given "
                "coordinates only: read .hamiltonian."
            )
        return tidy(self.hamiltonian.xreplace(self.old))

    def _parts(self) -> list[Part]:
        listed: list[Part] = [(str(s), e) for s, e in self.canonical.items()]
        return [*listed, ("Hamiltonian", self.hamiltonian), self.how]


def darboux(given: Any, coordinates: Any = None, *, positions: Any) -> DarbouxCoordinates:
    """Canonical coordinates for a Lagrangian that is linear in the velocities.

    given:        what `lagrangian(..., kind="birkhoff")` has found, or a Lagrangian with its coordinates
    positions:    new coordinates, half as many as those of the Lagrangian: [Q1, Q2]; their momenta are Q1.momentum, ...

    All brackets are checked by value before the result is returned.
    """
    L, q = _lagrangian(given, coordinates)
    new = coordinate_list(positions, "darboux")
    if 2 * len(new) != len(q):
        raise ModelError(
            f"darboux: got {len(new)} new position{'s' * (len(new) != 1)} for {len(q)} coordinates. Expected "
            f"{len(q) // 2}, with a momentum each."
            if len(q) % 2 == 0
            else f"darboux: the Lagrangian has {len(q)} coordinates. Expected an even number."
        )
    if taken := [c.name for c in new if c in q]:
        raise ModelError(f"darboux: {taken[0]} is one of the given coordinates. Expected new names in positions=[...].")
    a = [L.diff(c.dot) for c in q]
    H = Matrix(len(q), len(q), lambda i, j: a[j].diff(q[i]) - a[i].diff(q[j]))
    brackets = linear_solution(H, sympy.eye(len(q)))
    if brackets is None:
        raise ModelError(
            "darboux: the matrix da_e/dx_a - da_a/dx_e is singular, so L does not determine all velocities."
        )
    J = Matrix(len(q), len(q), [tidy(e) for e in brackets])
    search = Search(SECONDS, function="darboux")
    try:
        return _found(L, a, H, J, q, new, search)
    except BudgetSpentError:
        raise ModelError(
            f"darboux: the time for it is spent ({SECONDS:g} s). Give a Lagrangian with shorter coefficients."
        ) from None
    finally:
        search.end()


def _found(
    L: Expr, a: list[Expr], H: Matrix, J: Matrix, q: tuple[Coordinate, ...], new: tuple[Coordinate, ...], search: Search
) -> DarbouxCoordinates:
    """Coordinates, their quadrature, the check, the inverse."""
    search.begin("coordinates without brackets with one another")
    found = _constant(J, q) if not H.free_symbols & set(q) else _from_commuting(a, H, q, search)
    if found is None:
        raise ModelError(
            "darboux: canonical coordinates exist near every state (Darboux), but none were found in closed form: no "
            f"{len(new)} of the coordinates {', '.join(map(str, q))} have brackets zero with one another, or the quadrature "
            "was not done. Change coordinates so that some do."
        )
    Q, P, how = found
    search.begin("what canonical coordinates leave of the Lagrangian")
    f = potential([_rest(a, Q, P, k, q) for k in range(len(q))], q, search)
    if f is None or not _is_canonical(Q, P, J, q):
        raise ModelError("darboux: the quadrature for canonical coordinates was not found in closed form.")
    moved = sympy.Add(*(p * e.diff(time) for e, p in zip(Q, P, strict=True)))
    U = -L.xreplace(dict.fromkeys((c.dot for c in q), sympy.S.Zero))
    K = tidy(U + moved + f.diff(time))
    canonical = {**dict(zip(new, Q, strict=True)), **{c.momentum: p for c, p in zip(new, P, strict=True)}}
    search.begin("the given coordinates by canonical ones")
    return DarbouxCoordinates(q, canonical, K, _inverted(canonical, q, search), how)


def _lagrangian(given: Any, coordinates: Any) -> tuple[Expr, tuple[Coordinate, ...]]:
    if isinstance(given, InverseResult):
        if given.lagrangian is None:
            raise ModelError("darboux: this result has no Lagrangian.")
        L, q = given.lagrangian, given.equations.coordinates
    else:
        if coordinates is None:
            raise ModelError(
                f'darboux: got {told(given)}. Expected a result of lagrangian(..., kind="birkhoff"), or a Lagrangian with '
                "coordinates=[x, y]."
            )
        q = coordinate_list(coordinates, "darboux")
        L = checks.symbols(checks.expression(given, "Lagrangian"), {s for c in q for s in (c, c.dot)}, "Lagrangian")
    velocities = [c.dot for c in q]
    if not all(vanishes(d) for p in gradient(fast(L), velocities) for d in gradient(p, velocities)):
        raise ModelError(
            "darboux: the Lagrangian is not linear in the velocities. Expected L = a_k(x, t) v_k - U(x, t)."
        )
    return sympy.expand(L) if L.count_ops() < 2000 else L, q


Found = tuple[list[Expr], list[Expr], str]


def _constant(J: Matrix, q: Sequence[Coordinate]) -> Found:
    """Linear functions, where the brackets of the coordinates do not depend on these.

    The bracket of x_a and x_b is J_ab, the inverse of H: {Q, P} = 1 for a = P dQ.
    """
    n = len(q)
    left, Q, P = [sympy.eye(n)[i, :] for i in range(n)], [], []

    def bracket(u: Matrix, v: Matrix) -> Expr:
        return tidy((u * J * v.T)[0])

    while left:
        first = left.pop(0)
        k = next(k for k, row in enumerate(left) if not vanishes(bracket(first, row)))
        second = left.pop(k)
        second = second / bracket(first, second)
        left = [row - bracket(row, second) * first + bracket(row, first) * second for row in left]
        Q.append(first)
        P.append(second)
    x = Matrix(list(q))
    how = "The brackets of the coordinates do not depend on these, so linear functions are canonical."
    return [tidy((u * x)[0]) for u in Q], [tidy((v * x)[0]) for v in P], how


def _from_commuting(a: Sequence[Expr], H: Matrix, q: Sequence[Coordinate], budget: Budget) -> Found | None:
    """Coordinates without brackets with one another as positions: H vanishes on the others, so a is closed along these."""
    n = len(q)
    for chosen in combinations(range(n), n // 2):
        others = [k for k in range(n) if k not in chosen]
        if not all(vanishes(H[i, j]) for i, j in combinations(others, 2)):
            continue
        f = potential([a[k] for k in others], [q[k] for k in others], budget)
        if f is None:
            continue
        P = [tidy(a[i] - f.diff(q[i])) for i in chosen]
        how = (
            "The positions are coordinates that have no brackets with one another; the momenta follow by a quadrature."
        )
        return [q[i] for i in chosen], P, how
    return None


def _rest(a: Sequence[Expr], Q: Sequence[Expr], P: Sequence[Expr], k: int, q: Sequence[Coordinate]) -> Expr:
    """What P dQ leaves of a_k."""
    return tidy(a[k] - sympy.Add(*(p * e.diff(q[k]) for e, p in zip(Q, P, strict=True))))


def _is_canonical(Q: Sequence[Expr], P: Sequence[Expr], J: Matrix, q: Sequence[Coordinate]) -> bool:
    """Whether {Q_i, P_j} = delta_ij and the other brackets vanish, by value."""
    rows = [Matrix([[e.diff(x) for x in q]]) for e in (*Q, *P)]
    n = len(Q)
    for i, u in enumerate(rows):
        for j, v in enumerate(rows):
            wanted = 1 if j == i + n else -1 if i == j + n else 0
            if not vanishes((u * J * v.T)[0] - wanted):
                return False
    return True


def _inverted(canonical: dict[Symbol, Expr], q: Sequence[Coordinate], budget: Budget) -> dict[Symbol, Expr] | None:
    """The old coordinates by the new ones, checked by value; of several solutions that on which new and old agree."""
    equations = [e - s for s, e in canonical.items()]
    for solution in attempt(budget, sympy.solve, equations, list(q), dict=True) or []:
        if set(solution) != set(q):
            continue
        back = {s: e.xreplace(canonical) for s, e in solution.items()}
        if all(vanishes(back[x] - x) for x in q):
            return {x: tidy(solution[x]) for x in q}
    return None
