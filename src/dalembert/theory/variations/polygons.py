"""The direct method of the calculus of variations: a functional on polygons, as a function of their corners."""

from __future__ import annotations

from typing import Any, Literal

from sympy import Expr

from ...errors import MethodError
from .functionals import Array, Functional
from .improper_integrals import panel_points

Kind = Literal["minimum", "maximum", "saddle", "undecided"]


def corners(a: float, b: float, nodes: int) -> Array:
    """Corners that are dense at both ends, where a curve may be vertical."""
    import numpy as np

    s = np.linspace(0, 1, nodes + 1)
    return a + (b - a) * s**2 * (3 - 2 * s)


def stationary_polygon(
    f: Functional, a: list[float], b: list[float], constants: list[float], first: Any, nodes: int
) -> tuple[Array, Array]:
    """The polygon on which the functional is stationary, from a first curve: x and y at its corners.

    Newton's method for a vanishing gradient; a step is shortened until the next one, by the same matrix, is shorter. So
    minima, maxima and saddles are all found, and units do not matter. Neither Euler's equation nor a first integral
    is used.
    """
    import numpy as np

    polygon = Polygon(f, corners(a[0], b[0], nodes), constants)
    with np.errstate(all="ignore"):
        y = np.split(first(polygon.x), 2)[0].T.copy()  # values, then slopes
        y[0], y[-1] = a[1:], b[1:]
        if not np.isfinite(polygon.value(y)):
            raise MethodError("extremal: the functional has no value on the first guess. Give guess={y: expression}.")
        for _ in range(200):
            solve = polygon.solver(y)
            step = None if solve is None else solve(polygon.gradient(y))
            if step is None or not np.isfinite(step).all():
                break
            unit = np.maximum(np.abs(y).max(axis=0), np.abs(step).max(axis=0))
            unit[unit == 0] = 1.0
            size, fraction = float((np.abs(step) / unit).max()), 1.0
            if size <= 1e-11:
                return polygon.x, y + step
            while fraction > 1e-8:
                trial = y + fraction * step
                after = float((np.abs(solve(polygon.gradient(trial))) / unit).max())
                if after <= (1 - fraction / 4) * size and np.isfinite(polygon.value(trial)):
                    break
                fraction /= 2
            if fraction <= 1e-8:
                if size <= 1e-8:  # the remainder is rounding
                    return polygon.x, y
                break
            y = trial
    raise MethodError(
        "extremal: no polygon was found on which the functional is stationary: the first guess may be too far away, or "
        "there is none between these points. Give guess={y: expression}."
    )


class Polygon:
    """The functional on polygons with fixed ends, with its first two derivatives by the corners.

    Every side is integrated with points that are dense at its corners, where the integrand may be singular: so this is the
    functional itself, restricted to polygons, and where it is least among all curves it is least among polygons.
    """

    def __init__(self, f: Functional, x: Array, constants: Any):
        import numpy as np

        self.x, self.h = x, np.diff(x)
        self.n, self.constants = len(f.unknowns), list(constants)
        both = (*f.unknowns, *f.slopes)
        first: list[Expr] = [f.integrand.diff(s) for s in both]
        self._value = f.compiled(f.integrand)
        self._slopes = f.compiled(*first)
        self._bends = f.compiled(*(e.diff(s) for e in first for s in both))
        (p,), (w,) = panel_points(np.array([0.0]), np.array([1.0]))
        self._right, share = p**2 * (3 - 2 * p), 6 * p * (1 - p) * w
        self._weights = self.h[:, None] * share
        # A point and the slope of a side by its two corners: (1 - u) l + u r, (r - l)/h.
        n, m = self.n, len(self.h)
        self._ends = np.zeros((2, 2 * n, n, m, len(p)))
        for c in range(n):
            self._ends[0, c, c], self._ends[1, c, c] = (1 - p) ** 2 * (1 + 2 * p), self._right
            self._ends[0, n + c, c], self._ends[1, n + c, c] = -1 / self.h[:, None], 1 / self.h[:, None]

    def _table(self, compiled: Any, y: Array) -> Array:
        """The values of compiled expressions at the points of all sides: expression, side, point."""
        import numpy as np

        left, rise = y[:-1].T[..., None], np.diff(y, axis=0).T[..., None]
        place = self.x[:-1, None] + self.h[:, None] * self._right
        slope = np.broadcast_to(rise / self.h[:, None], (self.n, *place.shape))
        found = compiled(place, *(left + rise * self._right), *slope, *self.constants)
        return np.array([np.broadcast_to(e, place.shape) for e in found])

    def value(self, y: Array) -> float:
        """The integral over all sides."""
        return float((self._weights * self._table(self._value, y)[0]).sum())

    def gradient(self, y: Array) -> Array:
        """The derivative by every corner; zero at the ends, which are fixed."""
        import numpy as np

        slopes, m = self._table(self._slopes, y), len(self.h)
        found = np.zeros((m + 1, self.n))
        for side, inner in ((0, slice(1, None)), (1, slice(0, -1))):  # a fixed corner may be singular
            made = np.einsum("amg,aimg,mg->mi", slopes[:, inner], self._ends[side][:, :, inner], self._weights[inner])
            found[1:-1] += made
        return found

    def blocks(self, y: Array) -> tuple[Array, Array]:
        """The second derivatives by the inner corners: blocks on the diagonal, and those with the next corner."""
        import numpy as np

        n = self.n
        bends = self._table(self._bends, y)
        bends = bends.reshape(2 * n, 2 * n, *bends.shape[1:])

        def block(p: int, q: int, sides: slice) -> Array:
            ends = self._ends[p][:, :, sides], self._ends[q][:, :, sides]
            weighted = bends[:, :, sides] * self._weights[sides]
            half = np.einsum("aimg,abmg->ibmg", ends[0], weighted)
            return np.einsum("ibmg,bjmg->mij", half, ends[1])

        return block(1, 1, slice(0, -1)) + block(0, 0, slice(1, None)), block(0, 1, slice(1, None))

    def solver(self, y: Array) -> Any:
        """(gradient) -> Newton's step, zero at the ends; None where the matrix is singular or has no value."""
        import numpy as np
        from scipy.linalg import LinAlgError, solve_banded

        diagonal, beside = self.blocks(y)
        if not (np.isfinite(diagonal).all() and np.isfinite(beside).all()):
            return None
        unit = np.sqrt(np.abs(np.einsum("kii->ki", diagonal)).max(axis=0))  # unknowns may have different units
        unit[unit == 0] = 1.0
        band = _banded(diagonal / np.outer(unit, unit), beside[:-1] / np.outer(unit, unit))
        width = (len(band) - 1) // 2

        def solve(gradient: Array) -> Array:
            step = np.zeros_like(gradient)
            right = -(gradient[1:-1] / unit).ravel()
            if not np.isfinite(right).all():
                return np.full_like(gradient, np.inf)
            try:
                step[1:-1] = solve_banded((width, width), band, right).reshape(-1, self.n) / unit
            except (LinAlgError, ValueError):
                return np.full_like(gradient, np.inf)
            return step

        return solve


def _banded(diagonal: Array, beside: Array) -> Array:
    """A symmetric block tridiagonal matrix as its diagonals, in the order of LAPACK."""
    import numpy as np

    m, n, _ = diagonal.shape
    width = 2 * n - 1
    band = np.zeros((2 * width + 1, m * n))
    for i in range(n):
        for j in range(n):
            rows, columns = np.arange(m) * n + i, np.arange(m) * n + j
            band[width + i - j, columns] = diagonal[:, i, j]
            band[width + i - j - n, columns[1:]] = beside[:, i, j]
            band[width + j - i + n, rows[:-1]] = beside[:, i, j]
    return band


# the second variation


def second_variation(f: Functional, x: Array, y: Array, constants: Any) -> tuple[Kind, int]:
    """The kind of a stationary curve, and on how many independent variations the functional falls.

    Decided on the polygon of all given corners and on that of every second one, which must agree; the second variation
    must differ from a degenerate one by more than the two differ from each other.
    """
    import numpy as np

    if len(x) < 9 or not (np.diff(x) > 0).all():
        return "undecided", 0
    found = []
    for stride in (2, 1):
        keep = np.unique(np.append(np.arange(0, len(x), stride), len(x) - 1))
        with np.errstate(all="ignore"):
            made = _inertia(*Polygon(f, x[keep], constants).blocks(y[keep]))
        if made is None:
            return "undecided", 0
        found.append((*made, (len(keep) - 2) * y.shape[1]))
    (rough_fall, rough, rough_all), (fall, gap, all_of_them) = found
    sides = [
        "minimum" if n == 0 else "maximum" if n == whole else "saddle"
        for n, whole in ((rough_fall, rough_all), (fall, all_of_them))
    ]
    if sides[0] != sides[1] or abs(gap - rough) > 0.5 * abs(gap):
        return "undecided", 0
    return sides[1], fall  # type: ignore[return-value]


def _inertia(diagonal: Array, beside: Array) -> tuple[int, float] | None:
    """The number of negative eigenvalues, by block elimination, and how far the matrix is from a singular one.

    The distance is the determinant of the Jacobi fields that vanish at the start, at the end of the curve, relative to the
    largest it has on the way: a pivot divided by the block beside it is the ratio of these fields at two corners.
    """
    import numpy as np

    falling, pivot, field, largest = 0, None, 0.0, 0.0
    coupling = np.linalg.slogdet(beside)
    if not np.isfinite(diagonal).all() or not np.isfinite(coupling[1]).all():
        return None
    for k, block in enumerate(diagonal):
        pivot = block if pivot is None else block - beside[k - 1].T @ np.linalg.solve(pivot, beside[k - 1])
        pivot = (pivot + pivot.T) / 2
        eigen = np.linalg.eigvalsh(pivot)
        if not np.isfinite(eigen).all() or not eigen.all():
            return None
        falling += int((eigen < 0).sum())
        field += float(np.log(np.abs(eigen)).sum() - coupling[1][k])
        largest = max(largest, field)
    return falling, float(np.exp(field - largest))
