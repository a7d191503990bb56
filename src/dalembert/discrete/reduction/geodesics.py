"""Horizontal steps of a metric: along geodesics, or other curves, orthogonal to the orbit where they begin (section 5.2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
from sympy import Symbol

from ...decide.zero import vanishes
from ...errors import ModelError, printed, told
from ...model import checks
from ...symbolic import Fast, fast, gradient, jacobian, substitution, total
from ..collocation import collocation, fraction, gauss_nodes, weights
from .bundle import Bundle
from .implicit_element import Implicit

STAGES = 4
"""Gauss nodes on a geodesic that is computed: its end is of order 9 in its length. What remains is a connection too."""


def metric_matrix(over: Bundle, given: Any) -> sympy.Matrix:
    """The matrix of an invariant metric."""
    n, q = len(over.coordinates), over.coordinates
    try:
        matrix = sympy.Matrix(given)
    except (TypeError, ValueError):
        matrix = sympy.zeros(0)
    if matrix.shape != (n, n) or not all(
        vanishes(fast(matrix[i, j] - matrix[j, i])) for i in range(n) for j in range(i)
    ):
        raise ModelError(
            f"riemannian: got the metric {told(given)}. Expected a symmetric matrix, {n} by {n}, in the order of the "
            f"coordinates {', '.join(c.name for c in q)}."
        )
    return matrix


def is_constant(over: Bundle, matrix: sympy.Matrix) -> bool:
    """Whether geodesics are straight lines."""
    return not matrix.free_symbols & set(over.coordinates)


def check_invariant(over: Bundle, matrix: sympy.Matrix) -> None:
    """The metric does not change along the generators: X G + G DX + DX^T G = 0."""
    q, n = over.coordinates, range(len(over.coordinates))
    G = [[fast(e) for e in matrix.row(i)] for i in n]
    for element, field in zip(over.symmetry.elements, over.symmetry.generators, strict=True):
        X = [fast(field.get(c, 0)) for c in q]
        DX = jacobian(X, q)
        for i in n:
            for j in n:
                along = total(a * b for a, b in zip(gradient(G[i][j], q), X, strict=True))
                if not vanishes(along + total(G[k][j] * DX[k][i] + G[i][k] * DX[k][j] for k in n)):
                    raise ModelError(
                        f"riemannian: the metric {told(matrix.tolist())} is not invariant: the group changes it in the "
                        f"direction of {element}. Give an invariant one, such as the kinetic energy's."
                    )


def curve_velocity(over: Bundle, given: Any) -> list[Fast]:
    """The velocity v at q0 of a given curve to q1; it must be q1 - q0 to first order."""
    q = over.coordinates
    if given is None:
        return [fast(c.at(1)) - fast(c.at(0)) for c in q]
    if not isinstance(given, Mapping) or set(given) != set(q):
        names = ", ".join(f"{c}: ..." for c in q)
        raise ModelError(f"way: got {told(given)}. Expected an expression for every coordinate: {{{names}}}.")
    known = {c.at(k) for c in q for k in (0, 1)}
    v = [fast(checks.symbols(checks.expression(given[c], "way"), known, "way")) for c in q]
    still = substitution({c.at(1): c.at(0) for c in q})
    slopes = jacobian(v, [c.at(1) for c in q])
    for i, c in enumerate(q):
        if not vanishes(still(v[i])) or not all(vanishes(still(e) - int(i == j)) for j, e in enumerate(slopes[i])):
            raise ModelError(
                f"way: {c}: {printed(over.read(v[i]))} is not {c.at(1)} - {c.at(0)} to first order in the step, so it is no "
                f"velocity of a curve to the end of the step."
            )
    return v


def orthogonality(over: Bundle, matrix: sympy.Matrix, gamma: Sequence[Fast], way: Any) -> list[Fast]:
    """<v, (e_i)_Q> at p = gamma(q0) q0, v the velocity of the curve from p to q1; in the slots."""
    first = {c: fast(c.at(0)) for c in over.coordinates}
    there = over.act([substitution(first)(e) for e in gamma], first)
    from_there = substitution({c.at(0): e for c, e in there.items()})
    return _products(over, matrix, there, [from_there(e) for e in curve_velocity(over, way)])


def _products(over: Bundle, matrix: sympy.Matrix, place: Mapping[Any, Fast], v: Sequence[Fast]) -> list[Fast]:
    """<v, (e_i)_Q> at a place."""
    at, orbit = substitution(place), over.generators(place)
    n = range(len(v))
    covector = [total(a * at(fast(matrix[i, j])) for i, a in enumerate(v)) for j in n]
    return [total(covector[j] * orbit[j][k] for j in n) for k in range(over.dimension)]


def computed_geodesics(over: Bundle, matrix: sympy.Matrix, gamma: Sequence[Fast], b: Sequence[Symbol]) -> Implicit:
    """Equations of the geodesic from p = gamma(s(r0)) s(r0) to Phi(b, s(r1)) that is orthogonal to the orbit of p.

    Unknown are b, the velocity v at p and the accelerations A_i at Gauss nodes of a curve of time one.
    """
    check_invariant(over, matrix)
    q, n, d = over.coordinates, len(over.coordinates), over.dimension
    first = over.placed(over.shape_at(0))
    level = [substitution(first)(e) for e in gamma]
    p = over.act(level, first)
    v = [Symbol(f"{c}.ahead", real=True) for c in q]
    A = [[Symbol(f"{c}.bend{i}", real=True) for c in q] for i in range(STAGES)]
    nodes = gauss_nodes(STAGES)
    a = [[fast(fraction(e)) for e in row] for row in collocation(nodes)]
    w, c = [fast(fraction(e)) for e in weights(nodes)], [fast(fraction(e)) for e in nodes]
    stages, k = range(STAGES), range(n)
    twice = [[total(a[i][m] * a[m][j] for m in stages) for j in stages] for i in stages]
    equations = _products(over, matrix, p, list(map(fast, v)))
    for i in stages:
        place = {x: p[x] + c[i] * v[j] + total(twice[i][m] * A[m][j] for m in stages) for j, x in enumerate(q)}
        speed = [v[j] + total(a[i][m] * A[m][j] for m in stages) for j in k]
        equations += _geodesic(over, matrix, place, speed, A[i])
    end = [total(w[m] * a[m][i] for m in stages) for i in stages]
    goal = over.act(list(map(fast, b)), over.placed(over.shape_at(1)))
    equations += [p[x] + v[j] + total(end[i] * A[i][j] for i in stages) - goal[x] for j, x in enumerate(q)]
    unknowns = (*b, *v, *(s for row in A for s in row))
    near = over.act(level, over.placed(over.shape_at(1)))
    begin = (*level, *(near[x] - p[x] for x in q), *([fast(0)] * (len(unknowns) - d - n)))
    return Implicit(unknowns, tuple(equations), begin)


def _geodesic(
    over: Bundle, matrix: sympy.Matrix, place: Mapping[Any, Fast], v: Sequence[Fast], a: Sequence[Any]
) -> list[Fast]:
    """G a + (v . dG) v - d(v G v)/2 at a place, one for each coordinate."""
    at, n = substitution(place), range(len(v))
    G = [[at(fast(e)) for e in matrix.row(i)] for i in n]
    dG = [[list(map(at, gradient(fast(matrix[i, j]), over.coordinates))) for j in n] for i in n]
    return [
        total(G[i][j] * a[j] for j in n) + total((dG[i][j][k] - dG[j][k][i] / 2) * v[j] * v[k] for j in n for k in n)
        for i in n
    ]
