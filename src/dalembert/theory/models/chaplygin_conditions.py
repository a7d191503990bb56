"""When Chaplygin's equations are Lagrange's as they stand: the conditions of Helmholtz, in terms of the constraints.

With x^b.dot = L^b(x, v, t), theta_b the momenta of the dependent velocities, C^b_ae = d2L^b/dv^a dv^e and
S^b_ca = d/dx^c dL^b/dv^a - d/dx^a dL^b/dv^c, for all independent c, a, q:

    printed    the cyclic sums over d(theta_b)/dx S^b vanish, and d(theta_b)/dv^a C^b_ce is the same for every order of a, c, e
    missing    d(theta_b)/dv^q S^b_ca - d(theta_b)/dx^c C^b_aq + d(theta_b)/dx^a C^b_cq = 0, summed over b

The first are in R. Ramirez, Sobre los sistemas mecanicos con enlaces, 1990, (5.5); the other one follows from his (4.18) and
is needed too: with two independent velocities the cyclic sums are empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from ...decide.zero import vanishes
from ...model.coordinates import Coordinate
from ...symbolic import Fast, fast, total
from ..forms.voronets import VoronetsForm
from ..inverse.given_equations import given_equations
from ..inverse.self_conjugacy import is_self_conjugate


@dataclass(frozen=True)
class ChaplyginConditions:
    """Which conditions hold, by value.

    printed, missing:   those of the module
    is_self_conjugate:  Helmholtz' own conditions on the equations: these are Lagrange's as they stand, without a multiplier
    """

    printed: bool
    missing: bool
    is_self_conjugate: bool


def chaplygin_conditions(form: VoronetsForm) -> ChaplyginConditions:
    """The conditions for the equations of Chaplygin of a system."""
    q = form.independent
    pairs = [(fast(form.momenta[b]), fast(L)) for b, L in form.solution.items()]

    def curl(L: Fast, c: Coordinate, a: Coordinate) -> Fast:
        return L.diff(fast(a.dot)).diff(fast(c)) - L.diff(fast(c.dot)).diff(fast(a))

    def bend(L: Fast, a: Coordinate, e: Coordinate) -> Fast:
        return L.diff(fast(a.dot)).diff(fast(e.dot))

    def cyclic(a: Coordinate, c: Coordinate, e: Coordinate) -> Iterator[Fast]:
        turns = ((a, c, e), (c, e, a), (e, a, c))
        yield total(p.diff(fast(i)) * curl(L, j, k) for p, L in pairs for i, j, k in turns)
        yield total(p.diff(fast(a.dot)) * bend(L, c, e) - p.diff(fast(c.dot)) * bend(L, e, a) for p, L in pairs)

    def added(c: Coordinate, a: Coordinate, k: Coordinate) -> Fast:
        return total(
            p.diff(fast(k.dot)) * curl(L, c, a) - p.diff(fast(c)) * bend(L, a, k) + p.diff(fast(a)) * bend(L, c, k)
            for p, L in pairs
        )

    every = list(product(q, repeat=3))
    return ChaplyginConditions(
        all(vanishes(e) for t in every for e in cyclic(*t)),
        all(vanishes(added(*t)) for t in every),
        is_self_conjugate(given_equations([e.lhs - e.rhs for e in form.reduced], q, "compare_models")),
    )
