"""A Lie group of matrices: what follows from a basis of its algebra, in numbers and in expressions.

Points are matrices; elements of the algebra are vectors of components xi in the basis, hat(xi) = xi_k E_k. Numbers are
arrays with any axes of lanes first, expressions are SymPy's. Conventions: [xi, eta] = d/dt Ad_exp(t xi) eta,
<Ad*_g mu, xi> = <mu, Ad_g xi>, <ad*_xi mu, eta> = <mu, [xi, eta]>. Tangents are right-trivialised:
d/dt exp(xi + t eta) = hat(dexp(xi) eta) exp(xi).

In many groups A = hat(xi) satisfies A^4 = -s A^2 with a quadratic form s(xi), the square of an angle; in some of them even
A^3 = -s A. Then exp, Cayley's map, its square root and their tangents are polynomials of A whose coefficients depend on s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
import sympy
from numpy.typing import NDArray

from ...errors import ModelError, told
from . import rows as r
from .given_points import point_rows
from .matrix_algebra import MatrixAlgebra
from .point_names import PointNames
from .rows import Rows
from .scalars import cotangent_rest, cotangent_rest_slope, is_number, is_zero, square_root, stumpff, times

Array = NDArray[Any]
Retraction = Literal["cayley", "exp"]
Piece = tuple[str, str, str, int]
"""Names of a part of the velocity, of the momentum and of the acceleration, and its number of components."""


class LieGroup(MatrixAlgebra, PointNames):
    """A group of matrices, by a basis of its algebra.

    name:        how it is called in messages and files
    basis:       the matrices E_1, ..., E_d
    square:      {(i, j): c}: the quadratic form s = c_ij xi_i xi_j with A^4 = -s A^2; None if there is none
    cubic:       whether A^3 = -s A
    ad_square:   s' with ad^5 + 2 c s ad^3 + (c s)^2 ad = 0 is ad_square * s; None if there is none
    pieces:      names of the parts of velocities, momenta and accelerations of a coordinate
    noun:        the kind of point, in messages
    """

    noun = "group element"

    def __init__(
        self,
        name: str,
        basis: Sequence[Any],
        square: Mapping[tuple[int, int], int | Fraction] | None = None,
        cubic: bool = False,
        ad_square: int | None = 1,
        pieces: Sequence[Piece] | None = None,
    ):
        super().__init__(name, basis)
        self.square, self.cubic, self.ad_square = square, cubic, ad_square
        self.pieces: tuple[Piece, ...] = tuple(pieces or [("velocity", "momentum", "acceleration", self.dimension)])

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LieGroup) and (self.name, self.basis) == (other.name, other.basis)

    def __hash__(self) -> int:
        return hash((self.name, self.basis))

    def __mul__(self, other: LieGroup) -> LieGroup:
        """The direct product."""
        from .products import DirectProduct

        if not isinstance(other, LieGroup):
            raise ModelError(f"{self.name} * {told(other)}: a direct product is of two groups, such as SO3 * R(3).")
        return DirectProduct(self, other)

    # the group
    @property
    def identity(self) -> Any:
        """The unit matrix, as an array."""
        return np.eye(self.size)

    def product(self, g: Any, h: Any) -> Any:
        """g h."""
        return r.made(r.multiplied(point_rows(self, g), point_rows(self, h)))

    def inverse_rows(self, a: Rows) -> list[list[Any]]:
        """The rows of the inverse."""
        if all(is_number(x) for row in a for x in row):
            return r.taken(np.linalg.inv(r.made(a)))
        import symengine

        entries = [x for row in a for x in row]
        kind = sympy.Matrix if any(isinstance(x, sympy.Basic) for x in entries) else symengine.DenseMatrix
        inverse = kind(self.size, self.size, entries).inv()
        return [[inverse[i, j] for j in range(self.size)] for i in range(self.size)]

    def inverse(self, g: Any) -> Any:
        """The inverse of g."""
        return r.made(self.inverse_rows(point_rows(self, g)))

    def adjoint_rows(self, a: Rows) -> list[list[Any]]:
        """The rows of Ad: columns are the components of g E_k g^-1."""
        back = self.inverse_rows(a)
        unit = r.identity(self.dimension)
        return r.transposed([self.vee_rows(r.multiplied(r.multiplied(a, self.hat_rows(e)), back)) for e in unit])

    def Ad(self, g: Any) -> Any:
        """The matrix of eta -> g eta g^-1."""
        a = point_rows(self, g)
        return r.made(self.adjoint_rows(a), a[0])

    def coAd(self, g: Any) -> Any:
        """The matrix of Ad*: <Ad*_g mu, xi> = <mu, Ad_g xi>."""
        a = point_rows(self, g)
        return r.made(r.transposed(self.adjoint_rows(a)), a[0])

    # retractions and their tangents
    def angle_square(self, xi: Sequence[Any]) -> Any:
        """s(xi) with A^4 = -s A^2."""
        if self.square is None:
            raise ModelError(
                f"{self.name}: its matrices satisfy no equation A^4 = -s A^2, so that there is no formula in expressions. Use "
                f"numbers, or state it by products of other groups."
            )
        if not self.square:
            return xi[0] * 0  # a zero of the same kind
        return r.total([times(c, xi[i] * xi[j]) for (i, j), c in self.square.items()])

    def exp_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """1 + A + c2 A^2 + c3 A^3."""
        A, s, one = self.hat_rows(xi), self.angle_square(xi), r.identity(self.size)
        AA = r.multiplied(A, A)
        if self.cubic:
            return r.plus(one, r.scaled(stumpff(1, s), A), r.scaled(stumpff(2, s), AA))
        return r.plus(one, A, r.scaled(stumpff(2, s), AA), r.scaled(stumpff(3, s), r.multiplied(A, AA)))

    def _half(self, xi: Sequence[Any]) -> tuple[list[list[Any]], Any]:
        """B = A/2 and 1/(1 + s/4)."""
        B = self.hat_rows([times(Fraction(1, 2), x) for x in xi])
        s = self.angle_square(xi)
        return B, 1 if is_zero(s) else 1 / (1 + times(Fraction(1, 4), s))

    def cayley_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """(1 - A/2)^-1 (1 + A/2)."""
        (B, a), one = self._half(xi), r.identity(self.size)
        BB = r.multiplied(B, B)
        if self.cubic:
            return r.plus(one, r.scaled(2 * a, r.plus(B, BB)))
        return r.plus(one, r.scaled(2, B), r.scaled(2 * a, r.plus(BB, r.multiplied(B, BB))))

    def _resolvent(self, xi: Sequence[Any], sign: int) -> list[list[Any]]:
        """(1 - sign A/2)^-1."""
        (B, a), one = self._half(xi), r.identity(self.size)
        B, BB = r.scaled(sign, B), r.multiplied(B, B)
        if self.cubic:
            return r.plus(one, r.scaled(a, r.plus(B, BB)))
        return r.plus(one, B, r.scaled(a, r.plus(BB, r.multiplied(B, BB))))

    def cayley_root_rows(self, xi: Sequence[Any]) -> list[list[Any]]:
        """The root of cayley(xi): (1 + B) (1 - B^2)^(-1/2) = (1 + B) (1 + B^2 / (q (1 + q))), B = A/2, q^2 = 1 + s/4."""
        B, s, one = self.hat_rows([times(Fraction(1, 2), x) for x in xi]), self.angle_square(xi), r.identity(self.size)
        BB = r.multiplied(B, B)
        if is_zero(s):
            return r.plus(one, B, r.scaled(times(Fraction(1, 2), s * 0 + 1), r.plus(BB, r.multiplied(B, BB))))
        root = square_root(1 + times(Fraction(1, 4), s))
        c = 1 / (root * (1 + root))
        if self.cubic:
            return r.plus(one, r.scaled(1 / root, B), r.scaled(c, BB))
        return r.plus(one, B, r.scaled(c, r.plus(BB, r.multiplied(B, BB))))

    def half(self, xi: Sequence[Any], retraction: Retraction) -> list[Any]:
        """eta with tau(eta)^2 = tau(xi).

        Of Cayley's map A/2 + A^3/(8 (1 + q)^2), q^2 = 1 + s/4; if A^3 = -s A that is A/(1 + q).
        """
        s = self.angle_square(xi)
        if retraction == "exp" or is_zero(s):
            return [times(Fraction(1, 2), x) for x in xi]
        root = square_root(1 + times(Fraction(1, 4), s))
        if self.cubic:
            return [x / (1 + root) for x in xi]
        A = self.hat_rows(xi)
        cube = r.scaled(1 / (8 * (1 + root) ** 2), r.multiplied(A, r.multiplied(A, A)))
        return self.vee_rows(r.plus(self.hat_rows([times(Fraction(1, 2), x) for x in xi]), cube))

    def power_rows(self, beta: Any, xi: Sequence[Any], retraction: Retraction) -> list[list[Any]]:
        """The matrix of tau(xi)^beta; with Cayley's tau that of beta xi, if beta is none of 0, 1/2, 1."""
        if is_zero(beta):
            return r.identity(self.size)
        x = list(xi) if bool(beta == 1) else [beta * a for a in xi]
        if retraction == "exp":
            return self.exp_rows(x)
        return self.cayley_root_rows(xi) if bool(2 * beta == 1) else self.cayley_rows(x)

    def tangent_rows(self, xi: Sequence[Any], retraction: Retraction) -> list[list[Any]]:
        """dtau(xi), right-trivialised."""
        if retraction == "exp":
            s = self._ad_square(xi)
            if self.ad_cubic:
                return self._polynomial(self.ad_rows(xi), [stumpff(2, s), stumpff(3, s)])
            c = [stumpff(k, s) for k in range(6)]
            coefficients = [2 * c[2] - c[1] / 2, (5 * c[3] - c[2]) / 2, (c[3] - 2 * c[4]) / 2, (c[4] - 3 * c[5]) / 2]
            return self._polynomial(self.ad_rows(xi), coefficients)
        left, right = self._resolvent(xi, 1), self._resolvent(xi, -1)
        return self._columns(lambda E: r.multiplied(left, r.multiplied(E, right)))

    def tangent_inverse_rows(self, xi: Sequence[Any], retraction: Retraction) -> list[list[Any]]:
        """The inverse of dtau(xi)."""
        if retraction == "exp":
            s = self._ad_square(xi)
            half = times(Fraction(-1, 2), s * 0 + 1)
            if self.ad_cubic:
                return self._polynomial(self.ad_rows(xi), [half, cotangent_rest(s)])
            rest, slope = cotangent_rest(s), cotangent_rest_slope(s)
            return self._polynomial(self.ad_rows(xi), [half, rest - s * slope, 0, -slope])
        one, B = r.identity(self.size), self.hat_rows([times(Fraction(1, 2), x) for x in xi])
        left, right = r.plus(one, r.scaled(-1, B)), r.plus(one, B)
        return self._columns(lambda E: r.multiplied(left, r.multiplied(E, right)))

    def _ad_square(self, xi: Sequence[Any]) -> Any:
        if self.ad_square is None:
            raise ModelError(f"{self.name}: there is no formula for the tangent of its exponential. Use Cayley's map.")
        return self.ad_square * self.angle_square(xi)

    @cached_property
    def ad_cubic(self) -> bool:
        """Whether even ad^3 = -c s ad, with c as in `ad_square`: at two points."""
        for seed in (1, 2):
            xi = [sympy.Rational((3 * k + seed) % 7 + 1, 5 + seed) for k in range(self.dimension)]
            a, s = sympy.Matrix(self.ad_rows(xi)), self._ad_square(xi)
            if a**3 != -s * a:
                return False
        return True

    def _polynomial(self, a: Rows, coefficients: Sequence[Any]) -> list[list[Any]]:
        """1 + c_1 a + c_2 a^2 + ...."""
        found, power = r.identity(len(a)), r.identity(len(a))
        for c in coefficients:
            power = r.multiplied(power, a)
            found = r.plus(found, r.scaled(c, power)) if not is_zero(c) else found
        return found

    def _columns(self, linear: Callable[[Rows], Rows]) -> list[list[Any]]:
        """The matrix of a linear map of the algebra to itself, given on matrices."""
        return r.transposed([self.vee_rows(linear(self.hat_rows(e))) for e in r.identity(self.dimension)])

    def exp(self, xi: Any) -> Any:
        """The exponential of hat(xi)."""
        x = self._vector(xi)
        return r.made(self.exp_rows(x), x)

    def cayley(self, xi: Any) -> Any:
        """(1 - A/2)^-1 (1 + A/2) with A = hat(xi)."""
        self.need_cayley()
        x = self._vector(xi)
        return r.made(self.cayley_rows(x), x)

    def dexp(self, xi: Any) -> Any:
        """The tangent of exp, right-trivialised: d exp(xi) eta = hat(dexp(xi) eta) exp(xi)."""
        x = self._vector(xi)
        return r.made(self.tangent_rows(x, "exp"), x)

    def dexp_inverse(self, xi: Any) -> Any:
        """The inverse of dexp(xi)."""
        x = self._vector(xi)
        return r.made(self.tangent_inverse_rows(x, "exp"), x)

    def dcayley(self, xi: Any) -> Any:
        """The tangent of Cayley's map, right-trivialised."""
        self.need_cayley()
        x = self._vector(xi)
        return r.made(self.tangent_rows(x, "cayley"), x)

    def dcayley_inverse(self, xi: Any) -> Any:
        """The inverse of dcayley(xi)."""
        self.need_cayley()
        x = self._vector(xi)
        return r.made(self.tangent_inverse_rows(x, "cayley"), x)

    @cached_property
    def has_cayley(self) -> bool:
        """Whether Cayley's map leads into the group: (1 - B) E (1 + B) is in the algebra for all E, at two points B."""
        for seed in (1, 2):
            xi = [sympy.Rational((3 * k + seed) % 7 + 1, 5 + seed) for k in range(self.dimension)]
            B, one = sympy.Matrix(self.hat_rows(xi)), sympy.eye(self.size)
            for E in self.basis:
                moved = (one - B) * E * (one + B)
                if sympy.Matrix(self.hat_rows(self.vee_rows(r.taken(moved)))) != moved:
                    return False
        return True

    @property
    def has_formulas(self) -> bool:
        """Whether exp, Cayley's map and its square root are known as expressions."""
        return self.square is not None

    @property
    def has_exp_tangent(self) -> bool:
        """Whether the tangent of exp is known as an expression."""
        return self.ad_square is not None

    def need_cayley(self) -> None:
        """Refuse Cayley's map where it leads out of the group."""
        if not self.has_cayley:
            raise ModelError(f"{self.name}: Cayley's map leads out of this group. Use the exponential: exp(xi).")

    def log(self, g: Any) -> Any:
        """xi with exp(xi) = g: the shortest for rotations."""
        return r.made_vector(self.way(self.identity_numbers, self.numbers_of(point_rows(self, g)), "exp"))

    def cayley_inverse(self, g: Any) -> Any:
        """xi with cayley(xi) = g."""
        self.need_cayley()
        return r.made_vector(self.way(self.identity_numbers, self.numbers_of(point_rows(self, g)), "cayley"))

    # a point held by numbers
    @property
    def number_names(self) -> tuple[str, ...]:
        """The names of the numbers that hold a point: here its entries."""
        return tuple(f"number{i}{j}" for i in range(self.size) for j in range(self.size))

    @property
    def identity_numbers(self) -> list[Any]:
        """The numbers of the identity."""
        return [x for row in r.identity(self.size) for x in row]

    def rows_of(self, numbers: Sequence[Any]) -> list[list[Any]]:
        """The matrix of numbers."""
        n = self.size
        return [list(numbers[i : i + n]) for i in range(0, n * n, n)]

    def numbers_of(self, a: Rows) -> list[Any]:
        """The numbers of a matrix."""
        return [x for row in a for x in row]

    def step(self, numbers: Sequence[Any], v: Sequence[Any], h: Any, retraction: Retraction) -> list[Any]:
        """The numbers of g tau(h v), as numbers + h (...): the rounding error of the sum can be carried to the next step."""
        A = self.hat_rows(v)
        AA = r.multiplied(A, A)
        AAA, s = r.multiplied(A, AA), self.angle_square(v) * h**2
        if retraction == "exp":
            change = r.plus(A, r.scaled(h * stumpff(2, s), AA), r.scaled(h**2 * stumpff(3, s), AAA))
        else:
            a = 1 / (4 + s)
            change = r.plus(A, r.scaled(2 * a * h, AA), r.scaled(a * h**2, AAA))
        g = self.rows_of(numbers)
        return [x + h * d for x, d in zip(numbers, (y for row in r.multiplied(g, change) for y in row), strict=True)]

    def way(self, first: Sequence[Any], second: Sequence[Any], retraction: Retraction) -> list[Any]:
        """xi with second = first tau(xi), in numbers."""
        from .matrix_logarithm import logarithm

        g = r.multiplied(self.inverse_rows(self.rows_of(first)), self.rows_of(second))
        if not all(is_number(x) for row in g for x in row):
            raise ModelError(f"{self.name}: the logarithm of a point of this group is computed in numbers only.")
        matrix, one = r.made(g), np.eye(self.size)
        if retraction == "exp":
            return self.vee_rows(r.taken(logarithm(matrix)))
        return self.vee_rows(r.taken(2 * np.linalg.solve(matrix + one, matrix - one)))

    # what is no point of the group
    def defect(self, matrix: Array) -> tuple[Array, str]:
        """How far matrices are from the group, in lanes; and what that measures."""
        from .matrix_logarithm import logarithm

        A = logarithm(matrix)
        off = np.abs(self.hat(self.vee(A)) - A)
        return off.max(axis=(-1, -2)), "its logarithm differs from the algebra"

    def nearest(self, matrix: Array) -> Array:
        """The projection of one matrix to the group."""
        from .matrix_logarithm import exponential, logarithm

        A = logarithm(matrix)
        columns = np.array([np.array(E.tolist(), dtype=float).ravel() for E in self.basis]).T
        xi = np.linalg.lstsq(columns, A.ravel(), rcond=None)[0]
        found: Array = exponential(self.hat(xi))
        return found
