"""Metrics: the Riemann or Finsler metric of a Lagrangian, geodesics, and Jacobi's metric of a natural system."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy
from sympy import Expr, Matrix

from ...decide import balls
from ...decide.decimals import Typed
from ...decide.zero import vanishes
from ...display import Part, Shown
from ...errors import ModelError, printed, told
from ...model import checks
from ...model.coordinates import Coordinate, time
from ...model.system import System
from ...symbolic import fast, gradient, jacobian, total
from ..algebra import linear_solution, read, tidy
from .along_motion import determinant, generic_points
from .given_equations import coordinate_list, given_equations


@dataclass(frozen=True, repr=False)
class Metric(Shown):
    """G = d2L0/dv dv as a metric.

    lagrangian:  L0
    """

    lagrangian: Expr
    coordinates: tuple[Coordinate, ...]
    typed: Typed

    @cached_property
    def matrix(self) -> Matrix:
        """G_kj = d2L0/dv_k dv_j."""
        v = self._velocities
        return Matrix([[self.lagrangian.diff(a, b) for b in v] for a in v]).applyfunc(tidy)

    @cached_property
    def cartan_tensor(self) -> list[Matrix]:
        """C_kij = dG_ij/dv_k, one matrix for each k: zero for a Riemann metric."""
        return [self.matrix.diff(v).applyfunc(tidy) for v in self._velocities]

    @cached_property
    def is_homogeneous(self) -> bool:
        """Whether G is homogeneous of degree 0 in the velocities: v_k C_kij = 0."""
        slopes = [
            [self._contracted(gradient(fast(e), self._velocities)) for e in self.matrix.row(i)] for i in range(self._n)
        ]
        return all(vanishes(e) for row in slopes for e in row)

    @cached_property
    def kind(self) -> str:
        """ "Riemann" if G does not depend on the velocities, "Finsler" if it is homogeneous of degree 0 in them, "singular"
        if its determinant is zero, "neither" otherwise."""
        if vanishes(determinant([[fast(e) for e in self.matrix.row(i)] for i in range(self._n)])):
            return "singular"
        if all(vanishes(e) for C in self.cartan_tensor for e in C):
            return "Riemann"
        return "Finsler" if self.is_homogeneous else "neither"

    @cached_property
    def is_positive(self) -> bool:
        """Whether G is positive definite at all sampled states."""
        G = [[fast(e) for e in self.matrix.row(i)] for i in range(self._n)]
        minors = [determinant([row[:k] for row in G[:k]]) for k in range(1, self._n + 1)]
        at = list(generic_points(minors, [*self.coordinates, *self._velocities], 8))
        return bool(at) and all(bool(balls.value(m, p) > 0) for p in at for m in minors)

    @cached_property
    def is_geodesic(self) -> bool:
        """Whether the motions of L0 are geodesics of G with constant speed: L0 = 1/2 G_kj v_k v_j and time does not occur."""
        v = Matrix(self._velocities)
        square = (v.T * self.matrix * v)[0] / 2
        return (
            self.kind in ("Riemann", "Finsler") and not self.lagrangian.has(time) and vanishes(square - self.lagrangian)
        )

    @cached_property
    def geodesic_equations(self) -> tuple[sympy.Eq, ...]:
        """a_k + 2 G^k(x, v) = 0: the geodesics of 1/2 G_kj v_k v_j."""
        if self.kind not in ("Riemann", "Finsler") or self.matrix.has(time):
            raise ModelError(
                f"metric: the matrix d2L/dv dv is {self._verdict}, so it has no geodesics. Expected a regular matrix that is "
                "homogeneous of degree 0 in the velocities and does not contain time."
            )
        return tuple(
            sympy.Eq(q.ddot, f, evaluate=False)
            for q, f in zip(self.coordinates, self.geodesic_accelerations, strict=True)
        )

    @cached_property
    def geodesic_accelerations(self) -> tuple[Expr, ...]:
        """The accelerations along geodesics with constant speed."""
        v = Matrix(self._velocities)
        square = fast((v.T * self.matrix * v)[0] / 2)
        momenta = gradient(square, self._velocities)
        moved = [
            total([d * fast(w) for d, w in zip(row, v, strict=True)]) for row in jacobian(momenta, self.coordinates)
        ]
        right = [s - m for s, m in zip(gradient(square, self.coordinates), moved, strict=True)]
        symbols = [self.lagrangian, *self.coordinates, *v]
        solved = linear_solution(self.matrix, Matrix([read(e, *symbols) for e in right]))
        assert solved is not None
        return tuple(tidy(e) for e in solved)

    @property
    def _n(self) -> int:
        return len(self.coordinates)

    @property
    def _velocities(self) -> tuple[sympy.Symbol, ...]:
        return tuple(q.dot for q in self.coordinates)

    def _contracted(self, slopes: Any) -> Any:
        return total([d * fast(v) for d, v in zip(slopes, self._velocities, strict=True)])

    @property
    def _verdict(self) -> str:
        return {
            "Riemann": "a Riemann metric: it does not depend on the velocities",
            "Finsler": "a Finsler metric: homogeneous of degree 0 in the velocities",
            "singular": "singular",
            "neither": "not homogeneous of degree 0 in the velocities",
        }[self.kind]

    def _as_typed(self) -> Typed:
        return self.typed

    def _parts(self) -> list[Part]:
        parts: list[Part] = [("G", self.matrix), f"The matrix d2L/dv dv is {self._verdict}."]
        if self.kind in ("Riemann", "Finsler"):
            parts.append(
                "Positive definite at all sampled states." if self.is_positive else "Not positive definite everywhere."
            )
            if not self.matrix.has(time):
                parts += ["Geodesics:", *self.geodesic_equations]
        return parts


def metric(lagrangian: Any, coordinates: Any = None) -> Metric:
    """The matrix d2L/dv dv of a Lagrangian, or of that of a System, as a Riemann or Finsler metric."""
    if isinstance(lagrangian, System):
        given_equations(lagrangian.replace(forces={}, dissipation=0), coordinates, "metric")
        return Metric(lagrangian.lagrangian, lagrangian.coordinates, lagrangian.typed)
    if coordinates is None:
        raise ModelError("metric: coordinates are missing. Expected a System, or a Lagrangian with coordinates=[x, y].")
    q = coordinate_list(coordinates, "metric")
    stated = checks.expression(lagrangian, "lagrangian")
    L = checks.symbols(stated, {s for c in q for s in (c, c.dot)}, "lagrangian")
    return Metric(L, q, Typed.of([stated]))


def jacobi_metric(system: System, energy: Any) -> Metric:
    """2 (E - V) G: its geodesics are the orbits of a natural system with energy E, where E > V; their time is another one.

    energy:  an expression without coordinates: a number or parameters
    """
    if not isinstance(system, System):
        raise ModelError(f"jacobi_metric: got {told(system)} ({type(system).__name__}). Expected a System.")
    given = given_equations(system, None, "jacobi_metric")
    E = checks.symbols(checks.expression(energy, "energy"), set(), "energy")
    if E.has(time):
        raise ModelError(f"jacobi_metric: energy={printed(E)} depends on time. Expected a constant.")
    v = [q.dot for q in system.coordinates]
    G = metric(system)
    V = -system.lagrangian.xreplace(dict.fromkeys(v, sympy.S.Zero))
    square = (Matrix(v).T * G.matrix * Matrix(v))[0] / 2
    natural = G.kind == "Riemann" and vanishes(square - V - system.lagrangian) and not system.lagrangian.has(time)
    if not natural or any(not vanishes(f) for f in system.force):
        raise ModelError(
            f"jacobi_metric: {system.name!r} is not natural. Expected L = 1/2 G_kj(q) v_k v_j - V(q) without time, terms "
            "linear in the velocities, forces and dissipation."
        )
    return Metric(tidy(2 * (E - V) * square), given.coordinates, given.typed)
