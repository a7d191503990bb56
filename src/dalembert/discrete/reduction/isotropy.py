"""The subgroup G_mu that fixes a momentum: horizontal symmetries of a group that is not abelian (remark 7.4.1).

A momentum mu of G is kept by all of G if mu([xi, eta]) = 0 for all xi and eta. If not, the directions xi with
mu([xi, .]) = 0 are those of a subgroup G_mu, which fixes mu. What is reduced then is G_mu with mu on these directions:
as many equations as G_mu has dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import sympy
from sympy import Expr, Matrix, Symbol

from ...decide.zero import vanishes
from ...errors import ModelError, printed, told
from ...model import checks
from ...model.coordinates import Parameter
from ...symbolic import fast
from ...theory.algebra import tidy
from ...theory.reduction.group_charts import matrix_image
from ...theory.reduction.group_law import equal_near
from ...theory.reduction.splitting import kernel
from ...theory.reduction.symmetry import Symmetry

Momentum = Mapping[Any, Any]


def fixing(symmetry: Symmetry, momentum: Any) -> tuple[Symmetry, Momentum]:
    """The subgroup that fixes a momentum {element: value}, and the momentum of it; the whole group if it does."""
    mu = momentum_values(symmetry, momentum)
    pairing = _pairing(symmetry, mu)
    if all(map(vanishes, pairing)):
        return symmetry, momentum
    directions = kernel(pairing.T)
    if not directions:
        raise ModelError(
            f"momentum: no direction of the group fixes {', '.join(map(str, mu))}, so there is no subgroup to reduce by. "
            f"Leave out `momentum`."
        )
    curves = [_subgroup(symmetry, xi) for xi in directions]
    element = curves[0][1]
    for _, g in curves[1:]:
        element = list(symmetry.product(element, g))
    return (
        _restricted(symmetry, [s for s, _ in curves], element),
        {s: tidy((Matrix([mu]) * xi)[0]) for (s, _), xi in zip(curves, directions, strict=True)},
    )


def momentum_values(symmetry: Symmetry, momentum: Any) -> list[Expr]:
    """The components of a momentum, one for each element."""
    elements = symmetry.elements
    if not isinstance(momentum, Mapping) or set(momentum) != set(elements):
        given = ", ".join(f"{s}: ..." for s in elements)
        raise ModelError(f"momentum: got {told(momentum)}. Expected a value for every element: {{{given}}}.")
    return [checks.expression(momentum[s], "momentum") for s in elements]


def _pairing(symmetry: Symmetry, mu: Sequence[Expr]) -> Matrix:
    """mu([e_i, e_j])."""
    c, d = symmetry.structure, range(symmetry.dimension)
    return Matrix([[sympy.Add(*(c[i][j][k] * mu[k] for k in d)) for j in d] for i in d])


def _subgroup(symmetry: Symmetry, xi: Matrix) -> tuple[Symbol, list[Expr]]:
    """A symbol s and g(s), the subgroup of one parameter in the direction xi: the line e + s xi where that is a subgroup.

    It is one in the coordinates of Cayley's map and of the exponential, for displacements, angles and factors.
    """
    used = [g for g, x in zip(symmetry.elements, xi, strict=True) if x != 0]
    alone = len(used) == 1
    s: Symbol = used[0] if alone else Parameter("_".join(map(str, used)))
    t = sympy.Symbol("other", real=True)

    def line(r: Expr) -> list[Expr]:
        if alone:
            return [r if g == s else e for g, e in zip(symmetry.elements, symmetry.identity, strict=True)]
        return [e + r * x for e, x in zip(symmetry.identity, xi, strict=True)]

    beside = [c - e for c, e in zip(symmetry.product(line(s), line(t)), symmetry.identity, strict=True)]
    start = dict(zip(symmetry.elements, symmetry.identity, strict=True))[s] if alone else sympy.S.Zero
    across = [(beside[i] * xi[j], beside[j] * xi[i]) for i, j in combinations(range(len(xi)), 2)]
    if not equal_near(across, {s: start, t: start}):
        direction = sympy.Add(*(x * g for x, g in zip(xi, symmetry.elements, strict=True)))
        raise ModelError(
            f"momentum: the group does not fix it, and the subgroup of the direction {printed(direction)}, which does, has no "
            f"closed form in {', '.join(map(str, symmetry.elements))}. Give this subgroup as a symmetry of its own, with its "
            f"own momentum."
        )
    return s, line(s)


def _restricted(symmetry: Symmetry, elements: Sequence[Symbol], g: Sequence[Expr]) -> Symmetry:
    """The action of the elements g only."""
    at = dict(zip(symmetry.elements, g, strict=True))
    entries = {e for R in symmetry.groups for e in R.entries}
    lines = {q: e.xreplace(at) for q, e in symmetry.action.items() if q not in entries}
    turned = {R: matrix_image(symmetry, R).xreplace(at) for R in symmetry.groups}
    moved = {q: e for q, e in lines.items() if not vanishes(fast(e) - fast(q))}
    return Symmetry({**moved, **turned}, list(elements))
