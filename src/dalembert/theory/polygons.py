"""The direct method of the calculus of variations: a functional on polygons, as a function of their corners."""

from __future__ import annotations

from typing import Any

from sympy import Expr

from ..errors import MethodError
from .variations import Array, Functional


def shortest_polygon(
    f: Functional, a: list[float], b: list[float], constants: list[float], first: Any, nodes: int
) -> tuple[Array, Array]:
    """The polygon on which the functional is least, from a first curve: x and y at its corners.

    Newton's method, with steps that do not ascend. Neither Euler's equation nor a first integral is used.
    """
    import numpy as np

    polygon = Polygon(f, a, b, constants, nodes)
    with np.errstate(all="ignore"):
        y = first(polygon.x)[: len(f.unknowns)].T.copy()
    y[0], y[-1] = a[1:], b[1:]
    value = polygon.value(y)
    if not np.isfinite(value):
        raise MethodError("extremal: the functional has no value on the first guess. Give guess={y: expression}.")
    for _ in range(200):
        step, size = polygon.newton_step(y)
        fraction = 1.0
        while fraction > 1e-10 and not polygon.value(y + fraction * step) <= value + 1e-13 * abs(value):
            fraction /= 2
        y, value = y + fraction * step, polygon.value(y + fraction * step)
        if size * fraction < 1e-12 or fraction <= 1e-10:
            break
    return polygon.x, y


class Polygon:
    """The functional on polygons with fixed ends, with its first two derivatives by the corners."""

    def __init__(self, f: Functional, a: list[float], b: list[float], constants: list[float], nodes: int):
        import numpy as np

        s = np.linspace(0, 1, nodes + 1)
        self.x = a[0] + (b[0] - a[0]) * s**2 * (3 - 2 * s)
        self.h, self.middle = np.diff(self.x), (self.x[1:] + self.x[:-1]) / 2
        self.n, self.constants = len(f.unknowns), constants
        both = (*f.unknowns, *f.slopes)
        first: list[Expr] = [f.integrand.diff(s) for s in both]
        self._value = f.compiled(f.integrand)
        self._derivatives = f.compiled(*first, *(e.diff(s) for e in first for s in both))

    def _point(self, y: Array) -> list[Array]:
        import numpy as np

        return [self.middle, *((y[1:] + y[:-1]) / 2).T, *(np.diff(y, axis=0) / self.h[:, None]).T, *self.constants]

    def value(self, y: Array) -> float:
        """The sum of h f over the sides."""
        import numpy as np

        with np.errstate(all="ignore"):
            return float((self.h * self._value(*self._point(y))[0]).sum())

    def newton_step(self, y: Array) -> tuple[Array, float]:
        """A step for all inner corners, and its size; made a descent direction by adding to the diagonal."""
        import numpy as np
        from scipy.sparse import coo_array, eye_array
        from scipy.sparse.linalg import spsolve

        n, m = self.n, len(self.h)
        table = np.array([np.broadcast_to(e, self.h.shape) for e in self._derivatives(*self._point(y))])
        slopes, bends = table[: 2 * n], table[2 * n :].reshape(2 * n, 2 * n, m)
        # Middle and slope of a side by its two corners: middle = (l + r)/2, slope = (r - l)/h.
        ends = np.zeros((2, 2 * n, n, m))
        for c in range(n):
            ends[:, c, c] = 0.5
            ends[0, n + c, c], ends[1, n + c, c] = -1 / self.h, 1 / self.h
        gradient = np.zeros((m + 1, n))
        for side in (0, 1):
            gradient[side : m + side] += np.einsum("am,aim,m->mi", slopes, ends[side], self.h)
        blocks = np.einsum("paim,abm,qbjm,m->pqmij", ends, bends, ends, self.h)
        corner = np.arange(m)[:, None, None]
        i, j = np.arange(n)[None, :, None], np.arange(n)[None, None, :]
        rows, columns, entries = [], [], []
        for p in (0, 1):
            for q in (0, 1):
                rows.append(((corner + p) * n + i + 0 * j).ravel())
                columns.append(((corner + q) * n + j + 0 * i).ravel())
                entries.append(blocks[p, q].ravel())
        size = (m + 1) * n
        where = (np.concatenate(rows), np.concatenate(columns))
        matrix = coo_array((np.concatenate(entries), where), shape=(size, size)).tocsc()[n:-n, n:-n]
        right, shift = -gradient[1:-1].ravel(), 0.0
        for _ in range(30):
            step = spsolve(matrix + shift * eye_array(matrix.shape[0], format="csc"), right)
            if np.isfinite(step).all() and step @ right >= 0:
                break
            shift = max(4 * shift, 1e-3 * abs(matrix.diagonal()).mean())
        whole = np.zeros((m + 1, n))
        whole[1:-1] = step.reshape(-1, n)
        return whole, float(np.abs(step).max(initial=0))
