"""All solutions of some equations in a box, with proof.

The box is cut into smaller ones. Over each, interval arithmetic gives all values that the equations can take: if zero
is not among them there is no solution inside. Otherwise Krawczyk's operator

    K(X) = c - Y f(c) + (1 - Y J(X)) (X - c),        c in X,  Y about the inverse of J(c),

holds every solution in X: no solution if it misses X, and exactly one in X if it lies inside X (R. Krawczyk, 1969;
A. Neumaier, Interval Methods for Systems of Equations, 1990, chapter 5). What is left when boxes are too small to be
cut, or too many, is undecided and is reported.

Some unknowns (multipliers) enter linearly and have no box of their own: over a box of the others they are enclosed by
the equations, omega^T lambda = E.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..decide.budget import Budget, BudgetSpentError
from ..decide.matrix_scaling import balance, inverse_root
from ..symbolic import Fast, fast, jacobian, substitute
from .enclosure import Enclosure
from .interval import Array, Interval

FINEST = 1e-10
"""Boxes are cut down to this fraction of the whole."""

ROUNDING = 2.0**-50
"""A few units in the last place: points closer than this, relative to their size, are not distinguished."""

Boxes = tuple[Array, Array]
"""Lower and upper corners, shape (boxes, variables)."""


@dataclass(frozen=True, eq=False)
class Root:
    """A box that holds exactly one solution, and the larger one around it that holds no other."""

    lo: Array
    hi: Array
    outer_lo: Array
    outer_hi: Array
    exists: bool
    """Whether existence is proved; with more equations than unknowns only uniqueness is."""

    @property
    def point(self) -> Array:
        """The middle of the box."""
        return np.asarray((self.lo + self.hi) / 2)


@dataclass
class Found:
    """What a search gave: roots, boxes that could not be decided, and how many boxes were looked at."""

    roots: list[Root] = field(default_factory=list)
    undecided: list[Boxes] = field(default_factory=list)
    examined: int = 0


class Problem:
    """f(x, y) = 0 for x in a box and y, on which f depends linearly; `linear` of the equations contain y."""

    def __init__(self, equations: Sequence[Fast], x: Sequence[str], y: Sequence[str], constants: Mapping[str, float]):
        self.n, self.m, self.k = len(x), len(y), len(equations)
        names = [*x, *y]
        entries = [e for row in jacobian(equations, [fast(s) for s in names]) for e in row]
        at_zero = {fast(s): 0 for s in y}
        plain = [substitute(e, at_zero) for e in equations]
        columns = [e for row in jacobian(equations, [fast(s) for s in y]) for e in row]
        self._with_y = [any(columns[i * self.m : (i + 1) * self.m]) for i in range(self.k)]
        self._first = Enclosure([*plain, *columns], list(x), constants)
        self._values = Enclosure(list(equations), names, constants)
        self._both = Enclosure([*equations, *entries], names, constants)
        self._weights, self._weights_y = np.ones(self.k), np.ones(self.k)

    def at(self, x: Array) -> tuple[Array, Array, Array]:
        """f and its Jacobian at some points, in ordinary numbers, and the error that rounding leaves in f."""
        values, marks = self._both(_columns(x, x))
        middles = [v.middle for v in values[: self.k]] + [np.where(v.has_zero, 0.0, v.middle) for v in values[self.k :]]
        numbers = np.where(marks.outside, np.nan, middles).T
        with np.errstate(invalid="ignore"):
            blur = np.stack([v.hi - v.lo for v in values[: self.k]], axis=1)
        return numbers[:, : self.k], numbers[:, self.k :].reshape(-1, self.k, self.n + self.m), blur

    def weigh(self, lo: Array, hi: Array) -> None:
        """Set the weights of the equations, where there are more of them than unknowns, by their slopes in a box of x.

        The slopes over one small box are not used: an equation that is almost constant there would get the same weight.
        """
        if not self.m and self.k == self.n:
            return
        x = np.random.default_rng(3).uniform(lo, hi, (32, self.n))
        values, _ = self._first(_columns(x, x))
        if self.m:
            slopes = np.abs(_matrix(values[self.k :], self.k, self.m).middle)
            self._weights_y = balance(np.nan_to_num(slopes, posinf=0.0).max(axis=0)[None])[0][0]
        a, b, _ = self.whole(x, x)
        with np.errstate(invalid="ignore"):
            J = np.abs(self.at(np.nan_to_num(a / 2 + b / 2, posinf=0.0, neginf=0.0))[1])
        self._weights = balance(np.nan_to_num(J, posinf=0.0).max(axis=0)[None])[0][0]

    def whole(self, lo: Array, hi: Array) -> tuple[Array, Array, Array]:
        """Boxes of (x, y) over boxes of x: lower corners, upper corners; and which boxes hold no solution.

        Where y cannot be bounded its interval is infinite.
        """
        values, marks = self._first(_columns(lo, hi))
        gone = np.logical_or.reduce(
            [*marks.outside, *(~e.has_zero for e, w in zip(values, self._with_y, strict=False) if not w)]
        )
        if not self.m:
            return lo, hi, gone
        E, W = _matrix(values[: self.k], self.k, 1), _matrix(values[self.k :], self.k, self.m)
        weights = self._weights_y[:, None]
        ends = _linear(E.scaled(weights), W.scaled(weights))
        return np.hstack([lo, ends[0]]), np.hstack([hi, ends[1]]), gone

    def inverse(self, J: Array, least: float = 1e-15) -> Array:
        """About the inverse of Jacobians; see the function `inverse`."""
        return inverse(J, self._weights, least)

    def proves(self, lo: Array, hi: Array) -> tuple[Array, Array, Array]:
        """Which boxes hold exactly one solution, since K(X) lies inside X; and K(X).

        With more equations than unknowns only uniqueness is proved, not existence.
        """
        lower, upper, norm, gone, _ = self.krawczyk(lo, hi)
        return ~gone & (norm < 1) & ((lower > lo) & (upper < hi)).all(axis=1), lower, upper

    def krawczyk(self, lo: Array, hi: Array) -> tuple[Array, Array, Array, Array, Array]:
        """K(X) for each box: corners; the norm of 1 - Y J(X); which boxes hold no solution; the sizes of J(X).

        K is valid only where f is differentiable on the whole box: elsewhere it is the whole line, and the norm infinite.
        """
        with np.errstate(all="ignore"):
            return self._krawczyk(lo, hi)

    def _krawczyk(self, lo: Array, hi: Array) -> tuple[Array, Array, Array, Array, Array]:
        n = self.n + self.m
        values, marks = self._both(_columns(lo, hi))
        gone = np.logical_or.reduce([*marks.outside[: self.k], *(~v.has_zero for v in values[: self.k])])
        J = _matrix(values[self.k :], self.k, n)
        finite = np.isfinite(J.size).all(axis=(1, 2)) & np.isfinite(lo).all(axis=1) & np.isfinite(hi).all(axis=1)
        known = finite & ~marks.rough.any(axis=0)
        Y = self.inverse(np.where(known[:, None, None], J.middle, 0.0))
        c = np.clip(lo / 2 + hi / 2, lo, hi)
        f = _matrix(self._values(_columns(c, c))[0], self.k, 1)
        spread = Interval(lo[:, :, None], hi[:, :, None]) - Interval(c[:, :, None], c[:, :, None])
        rest = Interval(*(np.broadcast_to(np.eye(n), (len(lo), n, n)),) * 2) - _times(Interval(Y, Y), J)
        K = Interval(c[:, :, None], c[:, :, None]) - _times(Interval(Y, Y), f) + _times(rest, spread)
        norm = ((rest.size @ spread.size) / spread.size).max(axis=(1, 2)) * (1 + 1e-12)
        lower = np.where(known[:, None], K.lo[:, :, 0], -np.inf)
        upper = np.where(known[:, None], K.hi[:, :, 0], np.inf)
        return lower, upper, np.where(known & ~np.isnan(norm), norm, np.inf), gone, J.size


def inverse(matrices: Array, weights: Array, least: float = 1e-15) -> Array:
    """About the inverse of each matrix, whatever the units; singular values below `least`, relative, count as zero.

    Where there are more equations (rows) than unknowns, `weights` says how much each of them counts.
    """
    square = matrices.shape[1] == matrices.shape[2]
    rows, columns = balance(matrices if square else matrices * weights[:, None])
    rows = rows if square else np.broadcast_to(weights, rows.shape)
    scaled = matrices * rows[:, :, None] * columns[:, None, :]
    return np.asarray(columns[:, :, None] * np.linalg.pinv(scaled, rcond=least) * rows[:, None, :])


def rank(matrix: Array, least: float = 1e-9) -> int:
    """The rank of one matrix, whatever the units; singular values below `least`, relative, count as zero."""
    rows, columns = balance(matrix[None])
    found = np.linalg.svd(matrix * rows[0][:, None] * columns[0], compute_uv=False)
    return int((found > least * found.max(initial=0)).sum())


def rank_beside(J: Array, others: Array) -> int:
    """The rank of a Jacobian; an entry counts as zero if it is small relative to its usual size and no other is large."""
    typical = np.vstack([np.nan_to_num(np.abs(others), nan=0.0, posinf=0.0), np.abs(J)[None]])
    rows, columns = balance(np.median(typical, axis=0)[None] + np.abs(J)[None])
    sizes = np.linalg.svd(J * rows[0][:, None] * columns[0], compute_uv=False)
    return int((sizes > 1e-6).sum())


def _matrix(values: Sequence[Interval], rows: int, columns: int) -> Interval:
    """Intervals in a list, rows first, as one array of shape (boxes, rows, columns)."""
    shape = (-1, rows, columns)
    return Interval(
        np.stack([v.lo for v in values], 1).reshape(shape), np.stack([v.hi for v in values], 1).reshape(shape)
    )


def _times(a: Interval, b: Interval) -> Interval:
    """The product of interval matrices; the rounding of a sum of k terms is less than 2 k ulps of their sizes."""
    terms = Interval(a.lo[:, :, :, None], a.hi[:, :, :, None]) * Interval(b.lo[:, None], b.hi[:, None])
    error = 2.0**-51 * (a.lo.shape[2] + 1) * terms.size.sum(axis=2)
    lo, hi = terms.lo.sum(axis=2) - error, terms.hi.sum(axis=2) + error
    return Interval(np.where(np.isnan(lo), -np.inf, lo), np.where(np.isnan(hi), np.inf, hi))


def _columns(lo: Array, hi: Array) -> list[Interval]:
    return [Interval(lo[:, j], hi[:, j]) for j in range(lo.shape[1])]


def _linear(E: Interval, W: Interval) -> Boxes:
    """Enclosures of y in E + W y = 0, where 1 - C W is small for C about the inverse of W; infinite elsewhere."""
    m = W.lo.shape[2]
    with np.errstate(all="ignore"):
        known: Array = np.asarray(np.isfinite(W.size).all(axis=(1, 2)))
        size = np.where(known[:, None, None], W.size, 0.0).max(axis=1, initial=0)
        units = inverse_root(size * size)
        W = W.scaled(units[:, None, :])
        C = np.linalg.pinv(np.where(known[:, None, None], W.middle, 0.0))
        right = -_times(Interval(C, C), E)
        rest = (Interval(np.eye(m), np.eye(m)) - _times(Interval(C, C), W)).size.sum(axis=2) * (1 + 1e-12)
        norm = rest.max(axis=1)
        bound = np.where(known & (norm < 0.9), right.size.max(axis=(1, 2)) / (1 - norm), np.inf) * (1 + 1e-12)
        slack = np.where(np.isfinite(bound)[:, None], rest * bound[:, None], np.inf) * (1 + 1e-12)
        lo, hi = np.nextafter(right.lo[:, :, 0] - slack, -np.inf), np.nextafter(right.hi[:, :, 0] + slack, np.inf)
        y = Interval(lo, hi).scaled(units)
    return np.where(np.isnan(y.lo), -np.inf, y.lo), np.where(np.isnan(y.hi), np.inf, y.hi)


def isolate(problem: Problem, lo: Array, hi: Array, budget: Budget) -> Found:
    """All solutions with x between two corners; the budget counts boxes."""
    found, width = Found(), hi - lo
    problem.weigh(lo, hi)
    boxes: Boxes = (lo[None], hi[None])
    try:
        while len(boxes[0]):
            budget.spend(amount=len(boxes[0]))
            found.examined += len(boxes[0])
            boxes = _generation(problem, boxes, width, found)
    except BudgetSpentError:
        found.undecided.append(boxes)
    n = problem.n  # a solution near the box may lie beyond its edge
    found.roots = [r for r in found.roots if ((r.hi[:n] >= lo) & (r.lo[:n] <= hi)).all()]
    return found


def _generation(problem: Problem, boxes: Boxes, width: Array, found: Found) -> Boxes:
    """Decide what can be decided, and cut the rest in two."""
    n = problem.n
    lo, hi, gone = problem.whole(*boxes)
    keep = ~gone
    lo, hi = lo[keep], hi[keep]
    if not len(lo):
        return lo[:, :n], hi[:, :n]
    lower, upper, norm, gone, sizes = problem.krawczyk(lo, hi)
    new_lo, new_hi = np.maximum(lo, lower), np.minimum(hi, upper)
    gone |= (new_lo > new_hi).any(axis=1)
    gone |= _covered(found.roots, lo, hi)
    rows = np.flatnonzero(~gone)
    lo, hi, new_lo, new_hi, norm, sizes = (a[rows] for a in (lo, hi, new_lo, new_hi, norm, sizes))
    _verify(problem, lo[norm < 1], hi[norm < 1], found)
    settled: Array = _covered(found.roots, lo, hi) | ((norm < 1) & _holds_root(found.roots, lo, hi))
    new_lo, new_hi, sizes = new_lo[~settled], new_hi[~settled], sizes[~settled]
    x_lo, x_hi = new_lo[:, :n], new_hi[:, :n]
    least = np.maximum(FINEST * width, ROUNDING * np.maximum(np.abs(x_lo), np.abs(x_hi)))
    fine = ((x_hi - x_lo) <= least).all(axis=1)
    if fine.any():
        found.undecided.append((x_lo[fine], x_hi[fine]))
    return _cut(x_lo[~fine], x_hi[~fine], width, sizes[~fine][:, :, :n])


def _cut(lo: Array, hi: Array, width: Array, sizes: Array) -> Boxes:
    """Each box in two, across the variable along which the equations can change most."""
    with np.errstate(all="ignore"):
        change = sizes * (hi - lo)[:, None, :]
        share = (change / np.maximum(change.sum(axis=2, keepdims=True), 1e-300)).max(axis=1, initial=0)
        relative = (hi - lo) / width
    share = np.where(np.isfinite(change).all(axis=(1, 2))[:, None], share, 1.0)
    usable = relative >= relative.max(axis=1, keepdims=True) / 8  # no slivers
    along = np.where(usable, share * relative**0.5, -1.0).argmax(axis=1)
    at = np.arange(len(lo)), along
    half_lo, half_hi = lo.copy(), hi.copy()
    # Off the middle, so that symmetric solutions do not lie on a face.
    middle = lo[at] + 0.498046875 * (hi[at] - lo[at])
    half_hi[at], half_lo[at] = middle, middle
    return np.concatenate([lo, half_lo]), np.concatenate([half_hi, hi])


def _covered(roots: Sequence[Root], lo: Array, hi: Array) -> Array:
    """Which boxes lie inside one in which the only solution is known."""
    inside = [((lo >= r.outer_lo) & (hi <= r.outer_hi)).all(axis=1) for r in roots]
    return np.asarray(np.logical_or.reduce([np.zeros(len(lo), dtype=bool), *inside]))


def _holds_root(roots: Sequence[Root], lo: Array, hi: Array) -> Array:
    inside = [((lo <= r.lo) & (hi >= r.hi)).all(axis=1) for r in roots]
    return np.asarray(np.logical_or.reduce([np.zeros(len(lo), dtype=bool), *inside]))


def newton(problem: Problem, x: Array, steps: int = 60) -> Array:
    """Solutions near some points, in ordinary numbers; not-a-number where the iteration does not converge."""
    change, blur, size = np.zeros_like(x), np.zeros_like(x), np.abs(x)
    with np.errstate(all="ignore"):
        for _ in range(steps if len(x) else 0):
            f, J, error = problem.at(x)
            known = np.isfinite(f).all(axis=1) & np.isfinite(J).all(axis=(1, 2)) & np.isfinite(x).all(axis=1)
            lost: Array = np.asarray(~known)
            f, J = np.where(lost[:, None], np.nan, f), np.where(lost[:, None, None], 0.0, J)
            Y = problem.inverse(J, 1e-12)
            change, blur = (Y @ f[:, :, None])[:, :, 0], (np.abs(Y) @ error[:, :, None])[:, :, 0]
            x = x - change
            if (lost | (np.abs(change) <= np.maximum(ROUNDING * np.abs(x), blur)).all(axis=1)).all():
                break
        near = np.maximum(1e-6 * np.maximum(np.abs(x), size), 2 * blur)
        settled: Array = np.asarray((np.abs(change) <= near).all(axis=1))
    return np.where(settled[:, None], x, np.nan)


def _verify(problem: Problem, lo: Array, hi: Array, found: Found) -> None:
    """Look for a solution near each box and prove that it is one, and the only one in a box around it."""
    if not len(lo):
        return
    start = newton(problem, np.clip(lo / 2 + hi / 2, lo, hi), steps=12)
    size = hi - lo
    with np.errstate(invalid="ignore"):
        near = (np.abs(start - (lo / 2 + hi / 2)) <= 2 * size + ROUNDING * np.abs(start)).all(axis=1)
    start, size = start[near], size[near]
    blur = _blur(problem, start)
    for factor in (1.2, 0.5, 0.1, 1e-2, 1e-4, 1e-6, 0.0):
        new = ~_covered(found.roots, start, start)
        start, size, blur = start[new], size[new], blur[new]
        if not len(start):
            return
        reach = np.maximum(factor * size, blur)
        box = start - reach, start + reach
        proved, lower, upper = problem.proves(*box)
        inner = tightened(problem, lower[proved], upper[proved])
        for a, b, c, d in zip(*inner, box[0][proved], box[1][proved], strict=True):
            if not any(((a <= r.outer_hi) & (b >= r.outer_lo)).all() for r in found.roots):
                found.roots.append(Root(a, b, c, d, problem.k <= problem.n + problem.m))


def _blur(problem: Problem, x: Array) -> Array:
    """The smallest box about a point for which a proof can succeed: a few times the rounding error of the point."""
    lower, upper, *_ = problem.krawczyk(x, x)
    moved = np.nan_to_num(np.maximum(upper - x, x - lower), posinf=0.0)
    return np.asarray(4 * moved + 4 * np.spacing(np.abs(x)))


def tightened(problem: Problem, lo: Array, hi: Array) -> Boxes:
    """Enclosures of solutions, each the only one there, made as narrow as rounding allows.

    Krawczyk's operator makes a box narrower in proportion to its norm, which may be near one; so a small
    box about the limit of Newton's method is tried first.
    """
    if not len(lo):
        return lo, hi
    x = newton(problem, np.clip(lo / 2 + hi / 2, lo, hi))
    x = np.where(np.isfinite(x), x, lo)
    reach = _blur(problem, x)
    for factor in (2.0**24, 2.0**12, 2.0**6, 1.0):
        proved, lower, upper = problem.proves(x - factor * reach, x + factor * reach)
        proved &= ((x - factor * reach >= lo) & (x + factor * reach <= hi)).all(axis=1)
        lo, hi = np.where(proved[:, None], lower, lo), np.where(proved[:, None], upper, hi)
    for _ in range(60):
        lower, upper, *_ = problem.krawczyk(lo, hi)
        new = np.maximum(lo, lower), np.minimum(hi, upper)
        if not (new[1] - new[0] < 0.99 * (hi - lo)).any():
            break
        lo, hi = new
    return lo, hi
