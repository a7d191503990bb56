"""The spaces of a symmetry under constraints, in a frame of shape velocities and group velocities (section 3.8).

V is what the group moves, D the admissible velocities, S = D and V, H the rest of D, U the rest of V, W the rest of all:
complements are orthogonal in the kinetic energy, or in a given metric. The horizontal space W + H is the graph of a
map M from shape velocities to group velocities: the (nonholonomic) connection is xi - M r', its curvature
B = d a - [a, a] with a = -M.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from sympy import Expr, Matrix, Symbol, eye, fraction, together, zeros

from ...decide.zero import vanishes
from ..algebra import tidy
from .rank_drops import common_zeros
from .symmetry import Symmetry


@dataclass(frozen=True)
class Splitting:
    """The spaces, each a matrix whose columns span it; rows are shape velocities, then group velocities.

    symmetry:  for brackets
    shape:     the shape coordinates
    forms:     one row per constraint on variations
    metric:    the kinetic energy of the frame, or another metric, a matrix
    given:     a given connection, M by elements and shapes, instead of the one with W + H
    """

    symmetry: Symmetry
    shape: tuple[Symbol, ...]
    forms: Matrix
    metric: Matrix
    given: Matrix | None = None

    @property
    def _size(self) -> int:
        return len(self.shape) + self.symmetry.dimension

    @cached_property
    def V(self) -> Matrix:
        """What the group moves."""
        return zeros(len(self.shape), self.symmetry.dimension).col_join(eye(self.symmetry.dimension))

    @cached_property
    def D(self) -> Matrix:
        """The admissible velocities."""
        return columns(kernel(self.forms), self._size)

    @cached_property
    def S(self) -> Matrix:
        """The admissible velocities along the group."""
        inner = kernel(self.forms[:, len(self.shape) :])
        return columns([zeros(len(self.shape), 1).col_join(v) for v in inner], self._size)

    @cached_property
    def H(self) -> Matrix:
        """The admissible velocities orthogonal to S."""
        return self._within(self.D, self.S)

    @cached_property
    def U(self) -> Matrix:
        """The velocities along the group orthogonal to S."""
        return self._within(self.V, self.S)

    @cached_property
    def W(self) -> Matrix:
        """The velocities orthogonal to V and D."""
        if self.V.cols + self.D.cols - self.S.cols == self._size:  # they span everything
            return columns([], self._size)
        both = self.V.row_join(self.D)
        return columns(kernel((both.T * self.metric).applyfunc(tidy)), self._size)

    def _within(self, whole: Matrix, removed: Matrix) -> Matrix:
        if removed.cols == 0:
            return whole
        if removed.cols == whole.cols:
            return columns([], self._size)
        inside = kernel((removed.T * self.metric * whole).applyfunc(tidy))
        return columns([(whole * c).applyfunc(tidy) for c in inside], self._size)

    @property
    def ranks(self) -> dict[str, int]:
        """The dimension of each space at almost all points."""
        n, v, d, s = self._size, self.symmetry.dimension, self.D.cols, self.S.cols
        return {"V": v, "D": d, "S": s, "H": d - s, "U": v - s, "W": n - (v + d - s)}

    @property
    def dimension_assumption(self) -> bool:
        """Whether V + D is everything: W = 0."""
        return self.ranks["W"] == 0

    @cached_property
    def singular(self) -> tuple[Expr, ...]:
        """Expressions that vanish together where the dimension of S is higher than elsewhere; empty if it is constant."""
        block = self.forms[:, len(self.shape) :]
        return common_zeros(block, self.symmetry.dimension - self.S.cols)

    @cached_property
    def lift(self) -> Matrix:
        """M: the horizontal lift of a shape velocity r' has the group velocity M r'."""
        k = len(self.shape)
        if self.given is not None:
            return self.given
        if k and self.S.cols == self.symmetry.dimension:  # U = 0: W + H is what is orthogonal to V
            along, across = self.metric[k:, k:], self.metric[k:, :k]
            return (-along.inv() * across).applyfunc(tidy)
        spread = self.H.row_join(self.W)
        top, below = spread[:k, :], spread[k:, :]
        return (below * top.inv()).applyfunc(tidy) if k else zeros(self.symmetry.dimension, 0)

    @cached_property
    def curvature(self) -> dict[tuple[int, int], Matrix]:
        """B(d_i, d_j) for i < j: d_i a_j - d_j a_i - [a_i, a_j] with a = -M."""
        a = [[-e for e in self.lift[:, j]] for j in range(len(self.shape))]
        found = {}
        for i, j in combinations(range(len(self.shape)), 2):
            bracket = self.symmetry.bracket(a[i], a[j])
            rows = zip(a[i], a[j], bracket, strict=True)
            found[i, j] = Matrix([tidy(y.diff(self.shape[i]) - x.diff(self.shape[j]) - b) for x, y, b in rows])
        return found


def columns(vectors: Sequence[Matrix], size: int) -> Matrix:
    """A matrix with the given columns."""
    return Matrix.hstack(zeros(size, 0), *vectors)


def kernel(matrix: Matrix) -> list[Matrix]:
    """A basis of the kernel: of two orders of elimination the one whose denominators do not vanish, or the shorter one."""
    n = matrix.cols
    if matrix.rows == 0:
        return [eye(n)[:, k] for k in range(n)]
    found = [_kernel(matrix, order) for order in (list(reversed(range(n))), list(range(n)))]
    return min(found, key=_awkwardness)


def _awkwardness(basis: Sequence[Matrix]) -> tuple[int, int]:
    """How many entries have a denominator that may vanish, and how long they all are."""
    entries = [e for v in basis for e in v]
    return sum(not fraction(together(e))[1].is_positive for e in entries), sum(e.count_ops() for e in entries)


def _kernel(matrix: Matrix, order: Sequence[int]) -> list[Matrix]:
    found = matrix[:, list(order)].nullspace(iszerofunc=vanishes, simplify=tidy)
    back = [order.index(k) for k in range(matrix.cols)]
    vectors = [Matrix([tidy(v[k]) for k in back]) for v in found]
    return sorted(vectors, key=lambda v: next(k for k, e in enumerate(v) if e != 0))
