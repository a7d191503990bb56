"""Direct products of groups, and semidirect products of a group of matrices with the vectors it acts on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from ...errors import ModelError, told
from . import rows as r
from .lie_group import LieGroup, Retraction
from .rotation_groups import SO2, SO3
from .rows import Rows
from .scalars import cotangent_rest, is_zero, norm, stumpff, times

Array = NDArray[Any]


class DirectProduct(LieGroup):
    """Pairs (a, b) as block-diagonal matrices: `SO3 * R(3)`."""

    noun = "point"

    def __init__(self, *factors: LieGroup):
        parts = [p for f in factors for p in (f.factors if isinstance(f, DirectProduct) else (f,))]
        self.factors: tuple[LieGroup, ...] = tuple(parts)
        zero = [sympy.zeros(f.size) for f in parts]
        basis = [sympy.diag(*zero[:k], E, *zero[k + 1 :]) for k, f in enumerate(parts) for E in f.basis]
        super().__init__("x".join(f.name for f in parts), basis)

    def _each(self, values: Sequence[Any], count: Callable[[LieGroup], int]) -> Iterator[tuple[LieGroup, list[Any]]]:
        at = 0
        for f in self.factors:
            yield f, list(values[at : at + count(f)])
            at += count(f)

    def _by_components(self, values: Sequence[Any]) -> Iterator[tuple[LieGroup, list[Any]]]:
        return self._each(values, lambda f: f.dimension)

    def _by_numbers(self, values: Sequence[Any]) -> Iterator[tuple[LieGroup, list[Any]]]:
        return self._each(values, lambda f: len(f.number_names))

    def _by_rows(self, a: Rows) -> Iterator[tuple[LieGroup, list[list[Any]]]]:
        at = 0
        for f in self.factors:
            yield f, [list(row[at : at + f.size]) for row in a[at : at + f.size]]
            at += f.size

    def inverse_rows(self, a: Rows) -> list[list[Any]]:
        """Of each factor."""
        return r.blocks(*(f.inverse_rows(part) for f, part in self._by_rows(a)))

    def adjoint_rows(self, a: Rows) -> list[list[Any]]:
        """Of each factor."""
        return r.blocks(*(f.adjoint_rows(part) for f, part in self._by_rows(a)))

    def exp_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """Of each factor."""
        return r.blocks(*(f.exp_rows(x) for f, x in self._by_components(xi)))

    def cayley_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """Of each factor."""
        return r.blocks(*(f.cayley_rows(x) for f, x in self._by_components(xi)))

    def cayley_root_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """Of each factor."""
        return r.blocks(*(f.cayley_root_rows(x) for f, x in self._by_components(xi)))

    def half(self, xi: Sequence[Any], retraction: Retraction) -> list[Any]:
        """Of each factor."""
        return [y for f, x in self._by_components(xi) for y in f.half(x, retraction)]

    def tangent_rows(self, xi: Sequence[Any], retraction: Retraction) -> list[list[Any]]:
        """Of each factor."""
        return r.blocks(*(f.tangent_rows(x, retraction) for f, x in self._by_components(xi)))

    def tangent_inverse_rows(self, xi: Sequence[Any], retraction: Retraction) -> list[list[Any]]:
        """Of each factor."""
        return r.blocks(*(f.tangent_inverse_rows(x, retraction) for f, x in self._by_components(xi)))

    @property
    def has_formulas(self) -> bool:
        """Whether all factors have."""
        return all(f.has_formulas for f in self.factors)

    @property
    def has_exp_tangent(self) -> bool:
        """Whether all factors have."""
        return all(f.has_exp_tangent for f in self.factors)

    @property
    def number_names(self) -> tuple[str, ...]:
        """Those of the factors, counted."""
        return tuple(f"factor{k + 1}_{name}" for k, f in enumerate(self.factors) for name in f.number_names)

    @property
    def identity_numbers(self) -> list[Any]:
        """Of each factor."""
        return [x for f in self.factors for x in f.identity_numbers]

    def rows_of(self, numbers: Sequence[Any]) -> list[list[Any]]:
        """Blocks."""
        return r.blocks(*(f.rows_of(part) for f, part in self._by_numbers(numbers)))

    def numbers_of(self, a: Rows) -> list[Any]:
        """Of each block."""
        return [x for f, part in self._by_rows(a) for x in f.numbers_of(part)]

    def step(self, numbers: Sequence[Any], v: Sequence[Any], h: Any, retraction: Retraction) -> list[Any]:
        """Of each factor."""
        pairs = zip(self._by_numbers(numbers), self._by_components(v), strict=True)
        return [x for (f, n), (_, part) in pairs for x in f.step(n, part, h, retraction)]

    def way(self, first: Sequence[Any], second: Sequence[Any], retraction: Retraction) -> list[Any]:
        """Of each factor."""
        pairs = zip(self._by_numbers(first), self._by_numbers(second), strict=True)
        return [x for (f, a), (_, b) in pairs for x in f.way(a, b, retraction)]

    def defect(self, matrix: Array) -> tuple[Array, str]:
        """The largest of those of the blocks, and of what is outside them."""
        inside, parts, at = np.zeros((self.size, self.size), dtype=bool), [], 0
        for f in self.factors:
            block = slice(at, at + f.size)
            parts.append(f.defect(matrix[..., block, block])[0])
            inside[block, block], at = True, at + f.size
        outside = np.abs(np.where(inside, 0.0, matrix)).max(axis=(-1, -2))
        return np.max([outside, *parts], axis=0), "its blocks differ from points of the factors"

    def nearest(self, matrix: Array) -> Array:
        """Of each block."""
        found: Array = r.made(r.blocks(*(r.taken(f.nearest(r.made(p))) for f, p in self._by_rows(r.taken(matrix)))))
        return found

    @property
    def entry_units(self) -> dict[tuple[int, int], int]:
        """Of each factor."""
        found: dict[tuple[int, int], int] = {}
        at = k = 0
        for f in self.factors:
            found |= {(i + at, j + at): unit + k for (i, j), unit in f.entry_units.items()}
            at, k = at + f.size, k + f.dimension
        return found

    def number_sizes(self, sizes: Sequence[Any]) -> list[Any]:
        """Of each factor."""
        return [x for f, part in self._by_components(sizes) for x in f.number_sizes(part)]

    def position(self, numbers: Sequence[Any]) -> list[Any]:
        """Of each factor."""
        return [x for f, part in self._by_numbers(numbers) for x in f.position(part)]

    @property
    def curves(self) -> tuple[tuple[int, int], ...]:
        """Of each factor."""
        found: list[tuple[int, int]] = []
        at = 0
        for f in self.factors:
            found += [(i + at, j + at) for i, j in f.curves]
            at += f.size
        return tuple(found)


class Semidirect(LieGroup):
    """K x R^n with (a, x)(b, y) = (a b, x + a y), for a group K of n x n matrices: the matrices ((a, x), (0, 1)).

    Components are those of K, then those of the translation. A^3 = -s A must hold in K, as it does for rotations.
    """

    noun = "affine map"

    def __init__(self, K: LieGroup, name: str | None = None):
        if not isinstance(K, LieGroup) or not K.cubic:
            raise ModelError(
                f"Semidirect({told(K)}): expected a group whose matrices A = hat(xi) satisfy A^3 = -s A, as SO2, SO3, SU2."
            )
        self.linear, n = K, K.size
        turns = [sympy.diag(E, sympy.zeros(1)) for E in K.basis]
        shifts = [sympy.Matrix(n + 1, n + 1, lambda i, j, k=k: int((i, j) == (k, n))) for k in range(n)]
        pieces = [("omega", "angular_momentum", "alpha", K.dimension), ("velocity", "momentum", "acceleration", n)]
        same = K.ad_square == 1
        super().__init__(name or f"{K.name}sR{n}", [*turns, *shifts], K.square, False, 1 if same else None, pieces)

    def _parts(self, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Components, or numbers, of K and of the translation."""
        return list(values[: -self.linear.size]), list(values[-self.linear.size :])

    def _split(self, a: Rows) -> tuple[list[list[Any]], list[Any]]:
        n = self.linear.size
        return [list(row[:n]) for row in a[:n]], [row[n] for row in a[:n]]

    def _joined(self, a: Rows, x: Sequence[Any]) -> list[list[Any]]:
        n = self.linear.size
        return [*([*row, t] for row, t in zip(a, x, strict=True)), [*[0] * n, 1]]

    def inverse_rows(self, a: Rows) -> list[list[Any]]:
        """(a^-1, -a^-1 x)."""
        linear, x = self._split(a)
        back = self.linear.inverse_rows(linear)
        return self._joined(back, [0 if is_zero(t) else -t for t in r.applied(back, x)])

    def adjoint_rows(self, a: Rows) -> list[list[Any]]:
        """(w, v) -> (Ad_a w, a v - hat(Ad_a w) x)."""
        linear, x = self._split(a)
        turn, d = self.linear.adjoint_rows(linear), self.linear.dimension
        unit = [self.linear.hat_rows(e) for e in r.identity(d)]
        lever = r.transposed([r.applied(r.scaled(-1, E), x) for E in unit])
        corner = r.multiplied(lever, turn)
        return [*([*row, *[0] * len(x)] for row in turn), *([*c, *row] for c, row in zip(corner, linear, strict=True))]

    def _shift_rows(self, w: Sequence[Any], retraction: Retraction) -> list[list[Any]]:
        """J with tau(w, v) = (tau(w), J v)."""
        if retraction == "cayley":
            return self.linear._resolvent(w, 1)
        A, s = self.linear.hat_rows(w), self.linear.angle_square(w)
        one, AA = r.identity(self.linear.size), r.multiplied(A, A)
        return r.plus(one, r.scaled(stumpff(2, s), A), r.scaled(stumpff(3, s), AA))

    def _unshift_rows(self, w: Sequence[Any], retraction: Retraction) -> list[list[Any]]:
        """The inverse of J."""
        half = self.linear.hat_rows([times(Fraction(-1, 2), x) for x in w])
        one = r.plus(r.identity(self.linear.size), half)
        if retraction == "cayley":
            return one
        A, s = self.linear.hat_rows(w), self.linear.angle_square(w)
        return r.plus(one, r.scaled(cotangent_rest(s), r.multiplied(A, A)))

    def exp_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """(exp(w), J v)."""
        w, v = self._parts(xi)
        return self._joined(self.linear.exp_rows(w), r.applied(self._shift_rows(w, "exp"), v))

    def cayley_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """(cayley(w), J v)."""
        w, v = self._parts(xi)
        return self._joined(self.linear.cayley_rows(w), r.applied(self._shift_rows(w, "cayley"), v))

    @property
    def number_names(self) -> tuple[str, ...]:
        """Those of K, then x1, x2, ...."""
        return (*self.linear.number_names, *(f"x{k + 1}" for k in range(self.linear.size)))

    @property
    def identity_numbers(self) -> list[Any]:
        """Of K, and the origin."""
        return [*self.linear.identity_numbers, *[0] * self.linear.size]

    def rows_of(self, numbers: Sequence[Any]) -> list[list[Any]]:
        """((a, x), (0, 1))."""
        n, x = self._parts(numbers)
        return self._joined(self.linear.rows_of(n), x)

    def numbers_of(self, a: Rows) -> list[Any]:
        """Of the block and the column."""
        linear, x = self._split(a)
        return [*self.linear.numbers_of(linear), *x]

    def step(self, numbers: Sequence[Any], v: Sequence[Any], h: Any, retraction: Retraction) -> list[Any]:
        """(a tau(h w), x + h a J(h w) v)."""
        (n, x), (w, u) = self._parts(numbers), self._parts(v)
        moved = r.applied(self.linear.rows_of(n), r.applied(self._shift_rows([h * a for a in w], retraction), u))
        return [*self.linear.step(n, w, h, retraction), *(a + h * b for a, b in zip(x, moved, strict=True))]

    def way(self, first: Sequence[Any], second: Sequence[Any], retraction: Retraction) -> list[Any]:
        """w of K; J(w)^-1 a^-1 (y - x)."""
        (n, x), (m, y) = self._parts(first), self._parts(second)
        w = self.linear.way(n, m, retraction)
        back = self.linear.inverse_rows(self.linear.rows_of(n))
        apart = r.applied(back, [b - a for a, b in zip(x, y, strict=True)])
        return [*w, *r.applied(self._unshift_rows(w, retraction), apart)]

    def defect(self, matrix: Array) -> tuple[Array, str]:
        """That of the block, and the last row."""
        n = self.linear.size
        off, what = self.linear.defect(matrix[..., :n, :n])
        last = np.abs(matrix[..., n, :] - np.eye(n + 1)[n]).max(axis=-1)
        if (last > off).any():
            return np.maximum(off, last), f"its last row differs from ({', '.join('0' * n)}, 1)"
        return off, what.replace("R^T R", "with R the block in front, R^T R")

    def nearest(self, matrix: Array) -> Array:
        """The block corrected, the column kept."""
        n, found = self.linear.size, np.eye(self.linear.size + 1)
        found[:n, :n], found[:n, n] = self.linear.nearest(matrix[:n, :n]), matrix[:n, n]
        return found

    @property
    def entry_units(self) -> dict[tuple[int, int], int]:
        """The column has the units of the translation."""
        n, d = self.linear.size, self.linear.dimension
        return {(i, n): d + i for i in range(n)}

    def number_sizes(self, sizes: Sequence[Any]) -> list[Any]:
        """Of K; the column moves by at most the length of the translation."""
        w, v = self._parts(sizes)
        return [*self.linear.number_sizes(w), *[norm(list(v))] * len(v)]

    def position(self, numbers: Sequence[Any]) -> list[Any]:
        """The column in the frame of the body."""
        n, x = self._parts(numbers)
        back = self.linear.inverse_rows(self.linear.rows_of(n))
        return [*self.linear.position(n), *r.applied(back, x)]

    @property
    def curves(self) -> tuple[tuple[int, int], ...]:
        """The column."""
        return tuple((i, self.linear.size) for i in range(self.linear.size))

    def body_names(self, name: str) -> list[str]:
        """Angular momenta, then momenta along the axes of the body."""
        along = [f"momentum of {name} along axis {k + 1} of the body" for k in range(self.linear.size)]
        return [*self.linear.body_names(name), *along]

    def space_names(self, name: str) -> list[str]:
        """Angular momenta about the origin, then momenta along the axes of space."""
        axes = "xyz" if self.linear.size <= 3 else "1234567890"
        along = [f"momentum of {name} along the {axes[k]} axis of space" for k in range(self.linear.size)]
        return [*self.linear.space_names(name), *along]


class RigidMotions(Semidirect):
    """SE(2) and SE(3)."""

    noun = "pose"


SE2, SE3 = RigidMotions(SO2, "SE2"), RigidMotions(SO3, "SE3")
