"""The first variation of an action along a curve, by quadrature: the Upsilon principle in numbers.

For a curve x(t) and displacements w(t), with w(v^n) = dw^n/dt + R_k^n w^k,

    int w(L) dt = [p_k w^k] + int (R_k^n p_n w^k - E_k(L) w^k) dt,      p = dL/dv

always. So the action is stationary for displacements that vanish at the ends if and only if E_k(L) = R_k^n p_n along the
curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr

from ...display import Part, Shown
from ...errors import ModelError, StartError, told
from ...model import checks
from ...model.coordinates import Coordinate, time
from ...numbers import finite
from ...symbolic import fast, vectorised
from .fields import function_of
from .velocity_space import VelocitySpace, _matrix

PANELS, NODES = 32, 12
"""Intervals of the quadrature, and its nodes in each."""

DOUBTFUL = 1e-5
"""By which share of the integral of the absolute value two quadratures may differ."""

SHARES = (1e-2, 5e-3)
"""Sizes of the deformations from which the slope of the action is extrapolated."""


@dataclass(frozen=True, eq=False, repr=False)
class FirstVariation(Shown):
    """The parts of the first variation; see the module.

    action:    int L dt along the curve
    varied:    int w(L) dt
    boundary:  [p_k w^k] at the ends
    inner:     int (R_k^n p_n - E_k(L)) w^k dt
    error:     by how much these integrals may be wrong, as far as fewer nodes tell
    """

    action: float
    varied: float
    boundary: float
    inner: float
    error: float
    _deformed: Any

    def deformed(self, size: float) -> float:
        """The action of the curve x + size w, v + size w(v) in the space of (x, v, t)."""
        return float(self._deformed(finite(size, "size", StartError)))

    @cached_property
    def slope(self) -> float:
        """The derivative of the action by the size of the deformation, by differences: `varied`, without derivatives of L."""
        wide, narrow = ((self.deformed(e) - self.deformed(-e)) / (2 * e) for e in SHARES)
        return (4 * narrow - wide) / 3

    def _parts(self) -> list[Part]:
        return [
            f"int w(L) dt = {self.varied:.12g}; at the ends {self.boundary:.12g}, along the curve {self.inner:.12g}",
            f"by deformed curves: {self.slope:.12g}; errors of quadrature about {self.error:.1e}",
        ]


def first_variation(
    lagrangian: Any,
    curve: Mapping[Coordinate, Any],
    displacements: Mapping[Coordinate, Any],
    *,
    between: tuple[float, float],
    R: Any = None,
    parameters: Mapping[Any, Any] | None = None,
) -> FirstVariation:
    """The first variation of int L dt along a curve.

    lagrangian:     an expression in coordinates, velocities and time; with terms mu_a chi_a of constraints
    curve:          {x: cos(time), ...} the curve
    displacements:  {x: sin(pi*time), ...} w; zero where none is given
    between:        the times of the ends
    R:              the matrix of the variations, as `Upsilon(...).fields(system).R`; zero if none is given
    """
    if not isinstance(curve, Mapping) or not curve:
        raise ModelError(f"first_variation: curve={told(curve)}. Expected an expression in time for each coordinate.")
    space = VelocitySpace(list(curve))
    q = space.coordinates
    x = [_of_time(curve[c], f"curve of {c}") for c in q]
    if strange := [told(c) for c in displacements if c not in q]:
        raise ModelError(f"first_variation: {strange[0]} is none of the coordinates {', '.join(map(str, q))}.")
    w = [_of_time(displacements.get(c, 0), f"displacement of {c}") for c in q]
    begin, end = (finite(t, "between", StartError) for t in between)
    if not begin < end:
        raise StartError(f"first_variation: between={told(between)}. Expected two times, the earlier one first.")
    L = function_of(space.basis, lagrangian, "Lagrangian")
    along: dict[Any, Expr] = dict(zip(q, x, strict=True))
    along |= {c.dot: e.diff(time) for c, e in zip(q, x, strict=True)}
    along |= {c.ddot: e.diff(time, 2) for c, e in zip(q, x, strict=True)}
    matrix = (sympy.zeros(len(q)) if R is None else _matrix(R, len(q))).xreplace(along)
    turned = [sympy.Add(*(matrix[k, n] * w[k] for k in range(len(q)))) for n in range(len(q))]
    speeds = [e.diff(time) + r for e, r in zip(w, turned, strict=True)]
    p = [L.diff(c.dot).xreplace(along) for c in q]
    slopes = [L.diff(c).xreplace(along) for c in q]
    varied = [f * d for f, d in zip((*slopes, *p), (*w, *speeds), strict=True)]
    pulls = zip(p, turned, slopes, w, strict=True)
    inner = [e for m, r, s, d in pulls for e in (m * r, s * d, -m.diff(time) * d)]
    ends = sympy.Add(*(m * d for m, d in zip(p, w, strict=True)))
    quadrature = _Quadrature(begin, end, _numbers([L, *x, *w, *turned], parameters))
    sums = [[L.xreplace(along)], varied, inner]
    whole, rough = (quadrature.integrals(sums, nodes) for nodes in (NODES, NODES - 4))
    if not all(abs(a - b) <= DOUBTFUL * size for (a, size), (b, _) in zip(whole, rough, strict=True)):
        raise StartError(
            "first_variation: the quadrature does not converge: an integrand is singular or too rapid between these times. "
            "Give times between which it is smooth."
        )
    at = quadrature.values([ends], [begin, end])[0]
    bent = [*zip(q, x, w, strict=True), *((c.dot, along[c.dot], r) for c, r in zip(q, speeds, strict=True))]

    def deformed(size: float) -> float:
        moved = {s: e + sympy.Float(size, 17) * d for s, e, d in bent}
        return quadrature.integrals([[L.xreplace(moved)]], NODES)[0][0]

    return FirstVariation(
        action=whole[0][0], varied=whole[1][0], boundary=float(at[1] - at[0]), inner=whole[2][0],
        error=max(abs(a - b) for (a, _), (b, _) in zip(whole, rough, strict=True)), _deformed=deformed,
    )  # fmt: skip


def _of_time(given: Any, role: str) -> Expr:
    return checks.symbols(checks.expression(given, role), set(), role)


def _numbers(expressions: list[Expr], parameters: Mapping[Any, Any] | None) -> dict[str, float]:
    """The numbers of the parameters that occur."""
    given = {str(s): finite(value, f"parameter {s}", StartError) for s, value in (parameters or {}).items()}
    used = {s.name for s in checks.parameters(expressions, ())}
    if missing := sorted(used - set(given)):
        raise StartError(
            f"first_variation: parameter {missing[0]} has no value. Give parameters={{{missing[0]}: 1, ...}}."
        )
    return {name: given[name] for name in sorted(used)}


@dataclass(frozen=True)
class _Quadrature:
    """Gauss' rule in equal panels."""

    begin: float
    end: float
    numbers: Mapping[str, float]

    def values(self, expressions: list[Expr], times: Any) -> Any:
        """The values at some times, one row for each expression."""
        import numpy as np

        t = np.asarray(times, dtype=float)
        table = np.column_stack([t, *(np.full(len(t), value) for value in self.numbers.values())])
        found = vectorised([time.name, *self.numbers], list(map(fast, expressions)))(table)
        wrong = ~np.isfinite(found).all(axis=1)
        if wrong.any():
            raise StartError(f"first_variation: an expression has no finite value at t = {t[wrong][0]:.6g}.")
        return found.T

    def integrals(self, sums: list[list[Expr]], nodes: int) -> list[tuple[float, float]]:
        """The integrals of some sums over the whole time, each with that of the absolute values of its terms."""
        import numpy as np

        x, weights = np.polynomial.legendre.leggauss(nodes)
        edges = np.linspace(self.begin, self.end, PANELS + 1)
        half = (edges[1] - edges[0]) / 2
        times = ((edges[:-1] + edges[1:]) / 2)[:, None] + half * x
        shares, found = np.tile(weights * half, PANELS), []
        for terms in sums:
            table = self.values(terms, times.ravel())
            found.append((float(table.sum(axis=0) @ shares), float(np.abs(table).sum(axis=0) @ shares)))
        return found
