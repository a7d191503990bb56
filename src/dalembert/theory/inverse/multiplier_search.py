"""Multipliers whose entries are combinations of given functions: constants, functions of time, of positions, an ansatz.

    dg/dt = g Gamma + Gamma^T g,    g Phi, g nabla Phi symmetric,    dg_ij/dv_k = dg_ik/dv_j

are linear in g, so the coefficients are those of linear identities. That an ansatz contains no multiplier proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations as subsets
from itertools import combinations_with_replacement, islice

import sympy
from sympy import Expr, Matrix, Symbol

from ...decide import balls
from ...decide.budget import Budget
from ...decide.zero import vanishes
from ...model.coordinates import time
from ...symbolic import Fast, fast, jacobian
from ..algebra import attempt, read
from .algebraic_conditions import AlgebraicConditions
from .along_motion import Flow, determinant, generic_points, pairs, product, symmetric
from .linear_identities import MOST_FUNCTIONS, combinations

HALF = sympy.Rational(1, 2)

MOST_VECTORS, PAIRED = 40, 5
"""Solutions of which sums are tried to find a regular one; of so many all pairs."""


def multipliers(
    conditions: AlgebraicConditions, functions: Sequence[Expr], budget: Budget, every: bool = False
) -> Iterator[Matrix]:
    """Regular multipliers whose entries are combinations of some functions, positive definite ones first.

    every:  also such that all are combinations of those given, as they are of sums of a regular one with singular ones
    """
    flow = conditions.flow
    places = pairs(flow.n)
    units = [(place, f) for f in functions for place in range(len(places))][:MOST_FUNCTIONS]
    moving = any(f.free_symbols & set(flow.velocities) for f in functions)
    columns = [_conditions_on(conditions, place, f, moving) for place, f in units]
    vectors = []
    for vector in combinations(columns, flow.variables, budget, *functions, *flow.accelerations):
        entries = [sympy.S.Zero] * len(places)
        for c, (place, f) in zip(vector, units, strict=True):
            entries[place] += c * f
        vectors.append(Matrix(symmetric(entries, flow.n)))
        if len(vectors) == MOST_VECTORS:
            break
    base = None
    for g in regular_first(vectors, flow):
        base = base or g
        yield g
    for v in vectors if every and base else ():
        sums = (base + c * v for c in range(1, flow.n + 2))  # one of them is regular: det is of degree n in c
        yield from islice((g for g in sums if _signature(g, flow) is not None), 1)


def _conditions_on(conditions: AlgebraicConditions, place: int, f: Expr, closed: bool) -> list[Fast]:
    """What f in one place of g contributes to the conditions, to those on its derivatives by velocities only if asked."""
    flow = conditions.flow
    n, value = flow.n, fast(f)
    entries = [value if k == place else fast(0) for k in range(len(pairs(n)))]
    g = symmetric(entries, n)
    half, rate = product(g, flow.connection), flow.rates(g)
    found = [rate[i][j] - half[i][j] - half[j][i] for i, j in pairs(n)]
    for row in conditions.rows[: 2 * max(1, n * (n - 1) // 2)]:
        found.append(row[place] * value)
    if closed:
        slopes = [jacobian(row, flow.velocities) for row in g]
        found += [slopes[i][j][k] - slopes[i][k][j] for i in range(n) for j in range(n) for k in range(j)]
    return found


def regular_first(matrices: Sequence[Matrix], flow: Flow) -> Iterator[Matrix]:
    """Sums of some of the matrices that are not singular: positive definite ones first, and short ones first."""
    later = []
    for some in regular_sums(matrices, flow):
        g = sum((matrices[i] for i in some[1:]), start=matrices[some[0]])
        if _signature(g, flow):
            yield g
        else:
            later.append(g)
    yield from later


def regular_sums(matrices: Sequence[Matrix], flow: Flow) -> Iterator[tuple[int, ...]]:
    """Which matrices have a regular sum: single ones, pairs of the first, and a smallest part of all of them."""

    def regular(some: Sequence[int]) -> bool:
        return (
            bool(some) and _signature(sum((matrices[i] for i in some[1:]), start=matrices[some[0]]), flow) is not None
        )

    count = len(matrices)
    found = False
    for size, among in ((1, count), (2, min(count, PAIRED))):
        for some in subsets(range(among), size):
            if regular(some):
                found = True
                yield some
    left = list(range(count))
    if found or not regular(left):
        return
    for i in reversed(range(count)):
        fewer = [k for k in left if k != i]
        left = fewer if regular(fewer) else left
    yield tuple(left)


def _signature(g: Matrix, flow: Flow) -> bool | None:
    """True for a matrix that is positive definite at a sampled state, False for a regular one, None for a singular one."""
    rows = [[fast(e) for e in g.row(i)] for i in range(g.shape[0])]
    if vanishes(determinant(rows)):
        return None
    for at in generic_points([e for row in rows for e in row], flow.variables, 1):
        minors = [balls.value(determinant([row[:k] for row in rows[:k]]), at) for k in range(1, len(rows) + 1)]
        return all(bool(m > 0) for m in minors)
    return False


def time_functions(flow: Flow, budget: Budget) -> list[Expr]:
    """What the entries of a multiplier that depends on time alone consist of, where df/dv is constant.

    Its equation dg/dt = g Gamma + Gamma^T g has the sums of two eigenvalues of Gamma as its exponents.
    """
    gamma = Matrix([[read(e, *flow.accelerations, *flow.variables) for e in row] for row in flow.connection]).applyfunc(
        sympy.expand
    )
    if gamma.free_symbols & set(flow.variables):
        return []
    z = Symbol("exponent")
    roots = attempt(budget, sympy.roots, gamma.charpoly(z).as_expr(), z) or {}
    values = [root for root, often in roots.items() for _ in range(often)]
    found: dict[Expr, None] = {sympy.S.One: None}
    for a, b in combinations_with_replacement(values, 2):
        rate, turn = (sympy.simplify(e) for e in (a + b).as_real_imag())
        if rate.has(sympy.re, sympy.im) or turn.has(sympy.re, sympy.im, sympy.atan2):
            continue
        growth = sympy.exp(rate * time)
        waves = [sympy.S.One, time, time**2] if turn == 0 else [sympy.cos(turn * time), sympy.sin(turn * time)]
        found |= {growth * w: None for w in waves}
    return list(found)


def position_blocks(flow: Flow) -> list[Expr]:
    """What the accelerations are written with, apart from velocities: coordinates, sines, bases of powers and their roots."""
    still = set(flow.coordinates) | {time}
    found: dict[Expr, None] = {}
    for e in flow.accelerations:
        for part in sympy.preorder_traversal(sympy.together(e)):
            own = part.free_symbols & set(flow.variables)
            if not own or not own <= still:
                continue
            if _is_wave(part):
                found |= {sympy.sin(part.args[0]): None, sympy.cos(part.args[0]): None}
            elif isinstance(part, sympy.exp) or (part.is_Pow and not part.exp.is_Integer):
                found[part] = None
            elif part.is_Pow and part.base.is_Add:
                found |= {part.base**power: None for power in (1, HALF, -HALF, -1)}
            elif part.is_Pow and part.exp.is_negative:
                found |= {part.base: None, 1 / part.base: None}
    outside = {s for e in flow.accelerations for s in e.replace(_is_wave, lambda _: sympy.Dummy()).free_symbols}
    return list(dict.fromkeys([*(q for q in flow.coordinates if q in outside), time, *found]))


def _is_wave(e: Expr) -> bool:
    return isinstance(e, sympy.sin | sympy.cos | sympy.tan)


def position_functions(flow: Flow, factors: Sequence[Expr]) -> list[Expr]:
    """Products of up to two blocks, times the factors."""
    blocks = position_blocks(flow)
    squares = (a * b for a, b in combinations_with_replacement(blocks, 2) if a != b or not isinstance(a, sympy.cos))
    products = [sympy.S.One, *blocks, *squares]
    return list(dict.fromkeys(p * f for f in factors for p in products))


# Lagrangians that are combinations of given functions
def lagrangians(flow: Flow, functions: Sequence[Expr], budget: Budget) -> Iterator[Expr]:
    """Regular Lagrangians that are combinations of some functions: E(L) = 0 along the motion is linear in L."""
    functions = list(dict.fromkeys(functions))[:MOST_FUNCTIONS]
    columns = [flow.euler_lagrange(f) for f in functions]
    found: list[Expr] = []
    for vector in combinations(columns, flow.variables, budget, *functions, *flow.accelerations):
        L = sympy.Add(*(c * f for c, f in zip(vector, functions, strict=True)))
        if not all(vanishes(e) for row in flow.hessian(L) for e in row):
            found.append(L)
        if len(found) == MOST_VECTORS:
            break
    matrices = [Matrix([[read(e, L, *flow.variables) for e in row] for row in flow.hessian(L)]) for L in found]
    for some in regular_sums(matrices, flow):
        yield sympy.Add(*(found[i] for i in some))


def velocity_functions(flow: Flow) -> list[Expr]:
    """Functions of the velocities: squares, roots that the accelerations contain, quotients, logarithms."""
    v = flow.velocities
    squares = [a * b for a, b in combinations_with_replacement(v, 2)]
    speeds = {
        part.base if part.base.is_Add else part
        for e in flow.accelerations
        for part in sympy.preorder_traversal(e)
        if part.is_Pow and part.free_symbols & set(v) and not part.free_symbols - set(v) and part.base.is_Add
    }
    roots = [f for s in sorted(speeds, key=str) for f in (sympy.sqrt(s), sympy.log(s), 1 / sympy.sqrt(s))]
    quotients = [a**2 / b for a in v for b in v if a != b]
    logs = [f for a in v for f in (a * sympy.log(a), sympy.log(a), 1 / a)]
    return list(dict.fromkeys([*squares, *roots, *quotients, *logs]))


def lagrangian_functions(flow: Flow, factors: Sequence[Expr]) -> Iterator[tuple[str, list[Expr]]]:
    """Spaces of functions in which Lagrangians are looked for, with their names; one after the other for each factor."""
    moving = velocity_functions(flow)
    still = [b for b in position_blocks(flow) if b != time]
    squares = moving[: flow.n * (flow.n + 1) // 2]
    linear = [v * b for v in flow.velocities for b in still]
    doubled = [a * b for a, b in combinations_with_replacement(still, 2) if a != b or not isinstance(a, sympy.cos)]
    plain, timely, placed = [sympy.S.One], [sympy.S.One, time, time**2], [sympy.S.One, *still]
    spaces = [
        ("velocity functions times polynomials in time", [*moving, *linear, *still], timely),
        ("velocity functions times functions of position", [*moving, *flow.velocities, *plain], placed),
        ("squares of velocities times products of functions of position", [*squares, *plain], [*placed, *doubled]),
    ]
    for w in factors:
        times = "" if w == 1 else f", times {w}"
        for name, functions, others in spaces:
            yield name + times, [f * g * w for g in others for f in functions]
