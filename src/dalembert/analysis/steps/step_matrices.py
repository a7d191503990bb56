"""The matrices of steps, and measures of their distance from singularity: condition, determinant and margins.

A matrix is compared with the sizes of the terms of its entries, not with the entries: where it is singular, these vanish
with it in one degree of freedom, and there would be nothing to compare with. Units do not
matter: rows and columns are scaled, step by step, to the normal form of a matrix (`scales`). Determinants are those of the
matrices themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...discrete.entropy_variations import entropy_slopes
from ...discrete.equations import momentum_minus, step_velocity
from ...discrete.flow import backward_matrix
from ...discrete.system import DiscreteSystem
from ...engine.machine import PointMap
from ...model.coordinates import step
from ...run.values import Array, point_map
from ...symbolic import Fast, fast, gradient, jacobian, substitute
from ...waist.layout import Groups, spans
from ...waist.stepmap import TIME, pointwise

TOLERANCE = 1e-5
"""A margin below this counts as zero: where solutions merge, a residual of 1e-10 separates them by its square root."""

_WITH_ZEROS = {
    "sin", "cos", "tan", "cot", "asin", "acos", "atan", "sinh", "tanh", "asinh", "acosh", "atanh", "log", "erf",
}  # fmt: skip
"""Functions with zeros, near which their value is no measure of their size."""


@dataclass(frozen=True)
class Sizes:
    """The scale with which the value of an expression is compared to decide whether it vanishes: `Sizes(...)(expression)`.

    of:      the size of a symbol
    places:  the symbols of positions
    moving:  those of velocities, momenta and all other values that change from step to step

    Terms and factors have their own sizes, so that a sum whose terms cancel is small relative to its size. A function f(u)
    has the size |f| + |f'| s/(1 + s), s the size of u: its change when u changes by its own size or by 1, whichever is less;
    cos(u) at pi/2 is small relative to that, and a full turn of an angle changes nothing. The distance of two places, or of
    a place from a constant, has its own value as size: the origin does not matter.
    """

    of: Callable[[Fast], Fast]
    places: frozenset[Fast]
    moving: frozenset[Fast]

    def __call__(self, e: Fast) -> Fast:
        """The size of an expression."""
        import symengine

        if e.is_Symbol:
            return self.of(e)
        if e.is_Add:
            return self._sum(e)
        if e.is_Mul:
            return symengine.Mul(*map(self, e.args))
        if e.is_Pow and e.args[1].is_number and float(e.args[1]) > 0:
            return self(e.args[0]) ** e.args[1]
        kind = type(e).__name__
        if kind == "Piecewise":
            pairs = zip(e.args[::2], e.args[1::2], strict=True)
            return symengine.Piecewise(*((self(a), condition) for a, condition in pairs))
        if kind in _WITH_ZEROS:
            u, s = e.args[0], self(e.args[0])
            w = symengine.Symbol("argument.of.function")
            return symengine.Abs(e) + symengine.Abs(e.func(w).diff(w).subs({w: u})) * s / (1 + s)
        return symengine.Abs(e)

    def _sum(self, e: Fast) -> Fast:
        import symengine

        terms = list(self._terms(e))
        moving = [a for a in terms if a.free_symbols & self.moving]
        place = symengine.Add(*(a for a in terms if not a.free_symbols & self.moving))
        slopes = [place.diff(s) for s in place.free_symbols & self.places]
        if not slopes or any(d.free_symbols & self.places for d in slopes):
            return symengine.Add(*map(self, e.args))
        return symengine.Abs(place) + symengine.Add(*map(self, moving))

    def _terms(self, e: Fast) -> Iterator[Fast]:
        """The terms of a sum; constant multiples of sums in it are multiplied out."""
        for a in e.args:
            sums = [f for f in a.args if f.is_Add] if a.is_Mul else []
            if len(sums) == 1 and not (a / sums[0]).free_symbols & (self.places | self.moving):
                yield from (a / sums[0] * term for term in self._terms(sums[0]))
            else:
                yield a


class Parts(NamedTuple):
    """The matrices of some steps, or the sizes of their entries; steps first; n coordinates, s entropies, m constraints.

    K:         D2 D1 L_d + D2 F_d- and D2 rho, (n + s) x (n + s)
    plain:     the same without forces
    forms:     omega at the beginning and D2 chi, each m x (n + s)
    M, back:   the matrices of the step and of the step backward, (n + s + m) x (n + s + m)
    slopes:    D_S- L_d and D_S+ L_d, each s
    """

    K: Array
    plain: Array
    forms: Array
    M: Array
    back: Array
    slopes: Array


class Steps:
    """The matrices of a discrete system, compiled."""

    def __init__(self, system: DiscreteSystem, h: float):
        whole = (*system.coordinates, *system.entropies)
        self.system, self.h, self.m, self.s = system, h, len(system.constraints), len(system.entropies)
        self.n = len(whole)
        ends, first = [c.at(1) for c in whole], {c: c.at(0) for c in system.coordinates}
        free = gradient(system.lagrangian, [c.at(0) for c in system.coordinates])
        plain = jacobian([*free, *system.entropy_laws], ends)
        forced = jacobian([*(-p for p in momentum_minus(system)), *system.entropy_laws], ends)
        zero = [fast(0)] * self.s
        forms = [[*(substitute(a, first) for a in w), *zero] for w in system.variations]
        forms += jacobian(system.constraints, ends)
        slopes = [*entropy_slopes(system)]
        tables = {"K": forced, "plain": plain, "forms": forms, "back": backward_matrix(system), "slopes": slopes}
        self._groups = Groups(**{name: [e for row in rows for e in row] for name, rows in tables.items()})
        entries = self._groups.outputs
        self._map = self._compiled("regularity", [c.at(k).name for k in (0, 1) for c in whole], entries)
        # With q1 = q0 + h v the difference of two positions has no cancellation.
        moved = {c.at(1): fast(c.at(0)) + fast(step) * fast(step_velocity(c)) for c in whole}
        at, speed = [fast(c.at(0)) for c in whole], [fast(step_velocity(c)) for c in whole]
        own = [*at, *speed]
        largest = {s: fast(f"{s.name}.size") for s in own}
        size = Sizes(lambda s: largest.get(s, abs(s)), frozenset(at), frozenset(speed))
        sizes = {name: size(substitute(e, moved)) for name, e in entries.items()}
        self._size_map = self._compiled("sizes", [s.name for s in (*own, *largest.values())], sizes)

    def _compiled(self, name: str, inputs: list[str], outputs: dict[str, Fast]) -> PointMap:
        names = [p.name for p in self.system.parameters]
        return point_map(pointwise(f"{self.system.name}, {name}", [*inputs, TIME], names, outputs))

    def at(self, z0: Array, z1: Array, before: Array, t: Array, parameters: Array) -> tuple[Parts, Parts]:
        """The matrices at each pair of positions and entropies, and the sizes of their entries.

        `before` are the velocities on the step before.
        """
        v = (z1 - z0) / self.h
        largest = np.fmax(np.abs(z0), np.abs(z1)), np.fmax(np.abs(v), np.abs(before))
        flat, _ = self._map(np.column_stack([z0, z1, t]), parameters[None, :], h=self.h)
        sizes, _ = self._size_map(np.column_stack([z0, v, *largest, t]), parameters[None, :], h=self.h)
        return self._parts(flat), self._parts(at_least(sizes, flat))

    def _parts(self, flat: Array) -> Parts:
        n, m, steps = self.n, self.m, len(flat)
        K, plain = (self._groups.of(flat, name).reshape(steps, n, n) for name in ("K", "plain"))
        both = self._groups.of(flat, "forms").reshape(steps, 2, m, n)
        back = self._groups.of(flat, "back").reshape(steps, n + m, n + m)
        slopes = self._groups.of(flat, "slopes").reshape(steps, 2, self.s)
        M, (place, held) = np.zeros((len(flat), n + m, n + m)), spans(n, m)
        M[:, place, place], M[:, held, place] = K, both[:, 1]
        M[:, place, held] = self.h * both[:, 0].swapaxes(1, 2)
        return Parts(K, plain, both, M, back, slopes)


class Scales(NamedTuple):
    """The normal form of some matrices: factors of `rows` and `columns`, and which entries are in its irreducible blocks.

    The permutation whose product of sizes is largest has sizes of 1, and within a block the scale that is still free makes
    the norm of the other sizes least. So neither units nor powers of h of an unknown have an effect. Entries between
    blocks do not affect whether a matrix is singular. Where every permutation has a size of 0, all sizes are scaled close
    to 1, and no entry is in a block.
    """

    rows: Array
    columns: Array
    together: Array

    def of(self, matrices: Array) -> Array:
        """The matrices, scaled."""
        return np.asarray(self.rows[:, :, None] * matrices * self.columns[:, None, :])

    def blocks(self, matrices: Array) -> Array:
        """The same without entries between blocks."""
        return np.where(self.together, self.of(matrices), 0)


def scales(sizes: Array) -> Scales:
    """The normal form of each matrix, by the sizes of its entries."""
    rows, columns = np.ones(sizes.shape[:2]), np.ones((len(sizes), sizes.shape[2]))
    together = np.zeros(sizes.shape, dtype=bool)
    patterns, which = np.unique((sizes > 0).reshape(len(sizes), -1), axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns.reshape(-1, *sizes.shape[1:])):
        here = np.flatnonzero(which.ravel() == k)
        rows[here], columns[here] = _even(pattern, sizes[here])
        even = rows[here][:, :, None] * sizes[here] * columns[here][:, None, :]
        order = _permutation(pattern, even)
        if order is None:
            continue
        block = _components(pattern[:, order])
        diagonal = np.einsum("kii->ki", even[:, :, order])
        inside = np.where(block, even[:, :, order] / diagonal[:, :, None], 0)
        scale = _balance(inside)
        rows[here] *= scale / diagonal
        columns[np.ix_(here, order)] /= scale
        together[np.ix_(here, np.arange(len(order)), order)] = block
    return Scales(rows, columns, together)


def _even(pattern: Array, sizes: Array) -> tuple[Array, Array]:
    """Factors that scale all sizes close to 1: the least squares of log(r_i s_ij c_j) over those that are not zero.

    They remove the units of entries between blocks, too.
    """
    there = pattern.astype(float)
    logs = np.log(np.where(pattern, sizes, 1))
    right = np.concatenate([logs.sum(axis=2), logs.sum(axis=1)], axis=1)
    normal = np.block([[np.diag(there.sum(axis=1)), there], [there.T, np.diag(there.sum(axis=0))]])
    found = np.exp(-right @ np.linalg.pinv(normal, hermitian=True))
    rows, columns = np.split(found, 2, axis=1)
    return rows, columns


def _permutation(pattern: Array, sizes: Array) -> Array | None:
    """The columns in the order in which the product of the diagonal is largest; None where it is zero in every order."""
    from scipy.optimize import linear_sum_assignment

    logs = np.where(pattern, np.log(np.where(pattern, sizes, 1)).mean(axis=0), -1e6)
    order = linear_sum_assignment(logs, maximize=True)[1]
    return np.asarray(order) if pattern[np.arange(len(order)), order].all() else None


def _components(pattern: Array) -> Array:
    """Which entries lie in irreducible blocks on the diagonal."""
    from scipy.sparse.csgraph import connected_components

    _, block = connected_components(pattern, connection="strong")
    return np.asarray(block[:, None] == block[None, :])


def _balance(sizes: Array) -> Array:
    """Factors of rows, and reciprocals of those of columns, that minimise the norm of the off-diagonal part."""
    rest = np.where(np.eye(sizes.shape[1], dtype=bool), 0, sizes)
    scale = np.ones(sizes.shape[:2])
    for _ in range(40):  # balances rows and columns; half a step, since all change at once
        scaled = scale[:, :, None] * rest / scale[:, None, :]
        row, column = np.linalg.norm(scaled, axis=2), np.linalg.norm(scaled, axis=1)
        both = (row > 0) & (column > 0)
        scale *= np.where(both, np.where(both, column, 1) / np.where(both, row, 1), 1) ** 0.25
    return np.asarray(scale)


def _lengths(matrices: Array) -> Array:
    """Spectral norms; 1 for zero matrices, so that quotients by it are zero."""
    found = np.linalg.norm(matrices, ord=2, axis=(1, 2)) if 0 not in matrices.shape[1:] else np.zeros(len(matrices))
    return np.asarray(np.where(found > 0, found, 1))


def _least(matrices: Array) -> Array:
    """The smallest singular values; 1 for empty matrices, 0 for more rows than columns."""
    if matrices.shape[1] > matrices.shape[2]:
        return np.zeros(len(matrices))
    if 0 in matrices.shape[1:]:
        return np.ones(len(matrices))
    return np.asarray(np.linalg.svd(matrices, compute_uv=False)[:, -1])


COLUMNS = (
    "condition", "determinant", "lagrangian", "pairing", "unforced", "forms", "constraints", "laws",
    "backward condition", "backward determinant",
)  # fmt: skip


def margins(parts: Parts, sizes: Parts) -> Array:
    """One row of `COLUMNS` for each step; NaN where a matrix is undefined."""
    table = np.full((len(parts.K), len(COLUMNS)), np.nan)
    known: Array = np.asarray(np.isfinite(parts.M).all(axis=(1, 2)) & np.isfinite(parts.plain).all(axis=(1, 2)))
    if known.any():
        table[known] = _margins(*(Parts(*(a[known] for a in group)) for group in (parts, sizes)))
    return table


def _margins(parts: Parts, sizes: Parts) -> Array:
    heat, m = parts.slopes.shape[2], parts.forms.shape[2]
    momentum, law = spans(parts.K.shape[1] - heat, heat)
    normal = scales(sizes.K)
    r, c, scaled = normal.rows, normal.columns, normal.of
    forms, kinds = (
        _bounded(parts.forms[:, i] * f[:, None], sizes.forms[:, i] * f[:, None]) for i, f in ((0, r), (1, c))
    )
    B, C = (
        np.linalg.svd(rows)[2][:, m:] if m else np.broadcast_to(np.eye(r.shape[1]), parts.K.shape)
        for rows in (forms, kinds)
    )
    ranks = _least(forms), _least(kinds)
    pairing, unforced = (
        np.where(np.minimum(*ranks) < TOLERANCE, 0, _least(B @ scaled(A) @ C.swapaxes(1, 2)) / _lengths(scaled(S)))
        for A, S in ((parts.K, sizes.K), (parts.plain, sizes.plain))
    )
    return np.column_stack(
        [
            conditions(parts.M, sizes.M),
            np.linalg.det(parts.M),
            1 / conditions(parts.plain[:, momentum, momentum], sizes.plain[:, momentum, momentum]),
            pairing,
            unforced,
            *ranks,
            _least(scaled(parts.K)[:, law, law]) / _lengths(scaled(sizes.K)),
            conditions(parts.back, sizes.back),
            np.linalg.det(parts.back),
        ]
    )


def conditions(matrices: Array, sizes: Array) -> Array:
    """The norm of the sizes over the smallest singular value, both in normal form; infinite where a matrix is singular."""
    normal = scales(sizes)
    least, size = _least(normal.blocks(matrices)), _lengths(normal.blocks(sizes))
    found: Array = np.divide(size, least, out=np.full(len(matrices), np.inf), where=least > 0)
    return found


def known_conditions(matrices: Array, sizes: Array) -> Array:
    """The same; NaN where a matrix is undefined."""
    found, known = np.full(len(matrices), np.nan), np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    if known.any():
        found[known] = conditions(matrices[known], at_least(sizes[known], matrices[known]))
    return found


def at_least(sizes: Array, values: Array) -> Array:
    """Sizes that no value exceeds; where a size is not known, the value itself."""
    return np.asarray(np.fmax(np.where(np.isfinite(sizes), sizes, 0), np.abs(values)))


def _bounded(rows: Array, sizes: Array) -> Array:
    """Rows divided by the lengths of their sizes."""
    length = np.linalg.norm(sizes, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1))


def distance(table: Array) -> Array:
    """Distance of each step from singularity: the least of the margins that it needs, and of 1/condition."""
    condition, pairing, forms, constraints = (table[..., i] for i in (0, 3, 5, 6))
    with np.errstate(divide="ignore"):
        return np.asarray(np.fmin.reduce([1 / condition, pairing, forms, constraints]))


def reason(row: Array, tolerance: float) -> str:
    """Why a step with these margins is not determined."""
    condition, alone, pairing, unforced, forms, constraints, laws = row[[0, 2, 3, 4, 5, 6, 7]]
    if np.isnan(condition):
        return "there is no step matrix: an entry has no value, or the equations of the step were not solved again"
    if forms < tolerance:
        return "the variations are linearly dependent at the beginning of the step"
    if constraints < tolerance:
        return "the constraints do not bind the end of the step independently: D2 chi loses rank"
    if laws < tolerance:
        return "the laws of entropy do not determine the entropies at the end of the step: D_S+ rho is singular"
    if pairing < tolerance <= unforced:
        return "the forces cancel the inertia: D2 D1 L_d + D2 F_d- is degenerate although D2 D1 L_d is not"
    if pairing < tolerance <= alone:
        return "constraints and variations do not fit together: the restricted pairing is degenerate although L_d is regular"
    if alone < tolerance:
        return "the discrete Lagrangian is degenerate: D2 D1 L_d is singular"
    return "the step matrix is singular"
