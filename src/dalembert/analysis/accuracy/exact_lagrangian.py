"""The exact discrete Lagrangian, and the order of a discrete Lagrangian.

The exact discrete Lagrangian is the action of the motion from q0 at t to q1 at t + h, which makes the action stationary:

    L_d^E(q0, q1) = ext  integral of L(q(s), q'(s), t + s) ds        over paths with q(0) = q0, q(h) = q1

Numerically the paths are polynomials, q0 + (q1 - q0) s/h + sum of z_j (integrals of Legendre polynomials, zero at both
ends), the integral is Gauss's, and the stationary point is found by Newton's method with exact derivatives of L. The error
of the value is the square of that of the path, and both vanish faster than any power of the degree. Where the second
variation of the action is singular, t + h is conjugate to t: there is no such motion, or there are many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import sympy
from sympy import Expr, Rational

from ...decide.zero import vanishes
from ...discrete.equations import interior_residual
from ...discrete.interior import from_beginning
from ...discrete.system import DiscreteSystem
from ...display import Formulas, Part, Shown, Table
from ...errors import MethodError, ModelError, StartError, told
from ...methods.reference import Reference
from ...model.coordinates import step, time
from ...model.heat import mechanical
from ...model.system import System
from ...numbers import name_of, positive, whole
from ...run.simulate import simulate
from ...run.values import Array, Values, columns, parameter_values, point_map, step_length
from ...symbolic import Fast, fast, gradient, jacobian, substitute
from ...theory.backward_error.exact_quadratic import closed_form
from ...theory.motion.state_maps import quantity_map
from ...waist.layout import Groups
from ...waist.stepmap import TIME, Block, pointwise
from ..steps.regularity import read_pair
from ..steps.step_matrices import known_conditions
from .convergence import different_steps

DEGREES = (8, 12, 18, 26, 38, 56)
"""Degrees of the polynomials, tried in turn until the action no longer changes."""

CONJUGATE = 1e-10
"""A smallest singular value of the second variation, relative to its size, that counts as zero."""


@dataclass(frozen=True, eq=False)
class ExactStep:
    """The motion between two positions: its action, and the momenta at both ends."""

    value: float
    minus: Array
    """p(0) = -D1 L_d^E."""
    plus: Array
    """p(h) = D2 L_d^E."""
    error: float
    """The change due to the last increase of the degree, relative to the size of the action."""
    rounding: float
    """The uncertainty of the value due to rounding errors."""

    def __str__(self) -> str:
        return f"L_d^E = {self.value:.15g}, p0 = {self.minus}, p1 = {self.plus} (error about {self.error:.0e})"

    __repr__ = __str__


@dataclass(frozen=True, eq=False, repr=False)
class ExactLagrangian(Formulas):
    """The exact discrete Lagrangian of a system.

    expression:  the closed form in x.at(0), x.at(1) and `dalembert.step`, or None; a DiscreteSystem with this lagrangian
                 moves along the exact motion. It has poles where t + h is conjugate to t
    reason:      why there is, or is not, a closed form
    """

    system: System
    expression: Expr | None
    reason: str

    def solve(self, at: Values, *, h: float, parameters: Values | None = None) -> ExactStep:
        """Value and momenta at two positions {x.at(0): ..., x.at(1): ...}, by the boundary value problem."""
        length = step_length(h, "exact_discrete_lagrangian")
        q0, q1, t, row = read_pair(self.system, at, parameters, "exact_discrete_lagrangian")
        return _stationary(self.system, q0[0], q1[0], float(t[0]), length, row[None])

    def __call__(self, at: Values, *, h: float, parameters: Values | None = None) -> float:
        """The value at two positions."""
        return self.solve(at, h=h, parameters=parameters).value

    def __str__(self) -> str:
        found = "by the boundary value problem: .solve(at, h=...)" if self.expression is None else str(self.expression)
        return f"{self.system.name}: exact discrete Lagrangian\n  {found}\n  because {self.reason}"

    def latex(self) -> str:
        """The formula as LaTeX, for a paper."""
        found = sympy.latex(self.expression) if self.expression is not None else r"\text{by the boundary value problem}"
        return rf"L_d^E = {found}"


def exact_discrete_lagrangian(system: System) -> ExactLagrangian:
    """The exact discrete Lagrangian: in closed form for quadratic Lagrangians with constant coefficients, else in numbers.

    The closed form is generic: it assumes that frequencies which are different expressions have different values.
    """
    _free(system, "exact_discrete_lagrangian")
    return ExactLagrangian(system, *closed_form(system))


def _free(system: Any, role: str) -> None:
    if not isinstance(system, System):
        raise ModelError(f"{role}: got {told(system)} ({type(system).__name__}). Expected a System.")
    mechanical(system, role)
    if system.constraints or not all(vanishes(f) for f in system.force):
        raise ModelError(
            f"{role}: {system.name!r} has constraints or forces; the action alone determines the motion only without. "
            f"Write holonomic constraints into the coordinates, and forces with a potential into the potential."
        )


@lru_cache(maxsize=32)
def _derivatives(system: System) -> tuple[Any, Groups]:
    """The compiled map (q, v, t) -> L and its first and second derivatives in (q, v)."""
    symbols = [*system.coordinates, *system.velocities]
    slopes = gradient(system.lagrangian, symbols)
    bends = [e for row in jacobian(slopes, symbols) for e in row]
    groups = Groups(value=[fast(system.lagrangian)], first=slopes, second=bends)
    return point_map(quantity_map(system, groups.outputs)), groups


@lru_cache(maxsize=16)
def _basis(degree: int) -> tuple[Array, Array, Array, Array]:
    """Gauss nodes and weights on [0, 1], and the integrated Legendre polynomials and their derivatives there."""
    x, w = np.polynomial.legendre.leggauss(degree + 8)
    P = np.polynomial.legendre.legvander(x, degree)
    j = np.arange(1, degree)
    return (1 + x) / 2, w / 2, (P[:, 2:] - P[:, :-2]) / (2 * (2 * j + 1)), P[:, 1:-1]


def _stationary(system: System, q0: Array, q1: Array, t: float, h: float, rows: Array) -> ExactStep:
    """The stationary action, with the degree raised until it no longer changes."""
    z, margin = np.zeros((0, len(q0))), 1.0
    before: ExactStep | None = None
    for degree in DEGREES:
        z = np.vstack([z, np.zeros((degree - 1 - len(z), len(q0)))])
        found, z, size, margin = _solved(system, q0, q1, t, h, rows, degree, z)
        if margin < CONJUGATE:
            break
        if before is not None:
            change = abs(found.value - before.value)
            slack = np.abs([found.minus - before.minus, found.plus - before.plus]).max(axis=0)
            error = max(_relative(change, size[0]), _relative(slack, size[1]))
            # Near a conjugate point rounding errors of the path are magnified.
            if error < max(2e-14, 2e-16 / margin) or (error < 1e-11 and degree == DEGREES[-1]):
                return replace(found, error=error + 2e-16 / margin, rounding=found.rounding + change)
        before = found
    if margin < 1e-4:
        raise MethodError(
            f"exact_discrete_lagrangian: t = {t + h:g} is conjugate to t = {t:g}, or too near to a conjugate point (margin "
            f"{margin:.1e}): motions that leave {q0} together meet again, so {q0} and {q1} are joined by many motions or by "
            f"none. Take another h."
        )
    raise MethodError(f"exact_discrete_lagrangian: the motion over h = {h:g} is too long to follow. Take a smaller h.")


def _relative(change: Any, size: Any) -> float:
    """The largest change relative to a size; at rest in an equilibrium all may vanish."""
    return float(np.max(change / np.where(np.asarray(size) > 0, size, 1.0)))


def _solved(
    system: System, q0: Array, q1: Array, t: float, h: float, rows: Array, degree: int, z: Array
) -> tuple[ExactStep, Array, tuple[float, Array], float]:  # fmt: skip
    """Newton's method for the coefficients of the path; also the sizes of the action and of the momenta, and the margin of
    the second variation.
    """
    s, w, F, G = _basis(degree)
    (compiled, groups), n = _derivatives(system), len(q0)
    shape = np.concatenate([F, G / h], axis=0).reshape(2, len(s), -1)  # of positions and of velocities

    def path(z: Array) -> tuple[Array, Array]:
        return q0 + s[:, None] * (q1 - q0) + F @ z, (q1 - q0) / h + G @ z / h

    def at(z: Array) -> tuple[Array, Array, Array]:
        table, _ = compiled(np.column_stack([*path(z), t + s * h]), rows)
        L, first, second = (groups.of(table, name) for name in ("value", "first", "second"))
        return L[:, 0], first.reshape(-1, 2, n), second.reshape(-1, 2, n, 2, n)

    L, first, second = at(z)
    for _ in range(40):
        slope, size = _slopes(h, w, shape, first)
        if not np.isfinite(slope).all() or (np.abs(slope) <= 1e-15 * size).all():
            break
        matrix = h * np.einsum("g,agi,gakbl,bgj->ikjl", w, shape, second, shape)
        move = _newton_move(matrix, slope)
        new, fraction = at(z - move), 1.0
        while not np.isfinite(new[0]).all() and fraction > 1e-3:
            fraction /= 2
            new = at(z - fraction * move)
        z, (L, first, second) = z - fraction * move, new
        if (np.abs(move) <= 1e-16 * (np.abs(z).max(axis=0) + np.abs(q1 - q0))).all():
            break
    slope, size = _slopes(h, w, shape, first)
    margin = _margin(w, shape, second)
    if not (np.abs(slope) <= 1e-9 * size).all() and not margin < CONJUGATE:
        raise MethodError(
            f"exact_discrete_lagrangian: no motion was found from {q0} to {q1} in h = {h:g}. Take a smaller h, or positions "
            f"nearer to each other."
        )
    Lq, Lv = first[:, 0], first[:, 1]
    plus = (w * s) @ Lq * h + w @ Lv
    minus = w @ Lv - (w * (1 - s)) @ Lq * h
    terms = np.abs(L) + sum(np.abs(d * x).sum(axis=1) for d, x in zip((Lq, Lv), path(z), strict=True))
    rounding = 10 * np.finfo(float).eps * h * float(w @ terms)
    sizes = h * float(w @ np.abs(L)), h * (w @ np.abs(Lq)) + w @ np.abs(Lv)
    return ExactStep(float(h * (w @ L)), minus, plus, np.inf, rounding), z, sizes, margin


def _slopes(h: float, w: Array, shape: Array, first: Array) -> tuple[Array, Array]:
    """The derivative of the action by the coefficients of the path, and the size of its terms for each coordinate."""
    slope = h * np.einsum("g,agj,gak->jk", w, shape, first)
    return slope, h * np.einsum("g,agj,gak->jk", w, np.abs(shape), np.abs(first)).max(axis=0)


def _newton_move(matrix: Array, slope: Array) -> Array:
    """The solution of the linear equations, scaled coordinate by coordinate, so that units do not matter."""
    diagonal = np.abs(np.einsum("ikik->ik", matrix)).max(axis=0)
    unit = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = matrix * unit[None, :, None, None] * unit
    found = np.linalg.lstsq(scaled.reshape(slope.size, slope.size), (slope * unit).ravel())[0]  # singular: see below
    return unit * found.reshape(slope.shape)


def _margin(w: Array, shape: Array, second: Array) -> float:
    """The smallest singular value of the second variation of the action, relative to its size."""
    summed, both = "g,agi,gakbl,bgj->ikjl", (np.abs(shape), np.abs(second), np.abs(shape))
    matrix, sizes = np.einsum(summed, w, shape, second, shape), np.einsum(summed, w, *both)
    flat = (1, shape.shape[2] * second.shape[2], -1)
    return float(1 / known_conditions(matrix.reshape(flat), sizes.reshape(flat))[0])


# the order of a discrete Lagrangian


@dataclass(frozen=True, eq=False, repr=False)
class ObservedOrder(Shown):
    """|L_d - L_d^E| for several h, and the order p that its decrease as h^(p+1) shows."""

    title: str
    h: tuple[float, ...]
    difference: tuple[float, ...]
    rounding: tuple[float, ...]

    @property
    def slopes(self) -> tuple[float, ...]:
        """p from each h to the next; NaN where the difference is rounding error."""
        rows = list(zip(self.h, self.difference, self.rounding, strict=True))
        return tuple(
            float(np.log(d0 / d1) / np.log(h0 / h1)) - 1 if d0 > r0 and d1 > r1 else np.nan
            for (h0, d0, r0), (h1, d1, r1) in pairwise(rows)
        )

    @property
    def order(self) -> float:
        """p from the two smallest h at which the difference is not rounding error; NaN if there are not two."""
        known = [p for p in self.slopes if np.isfinite(p)]
        return known[-1] if known else np.nan

    def _parts(self) -> list[Part]:
        slopes = ["", *(f"{p:.3f}" if np.isfinite(p) else "rounding" for p in self.slopes)]
        rows = [(f"{h:g}", f"{d:.3e}", p) for h, d, p in zip(self.h, self.difference, slopes, strict=True)]
        told = f"order {self.order:.2f}"
        if np.isnan(self.order):
            told = "the order cannot be told, since fewer than two differences are larger than rounding. Take larger h"
        return [f"{self.title}: {told}", Table(("h", "|L_d - L_d^E|", "order"), rows)]


def order_of(
    discrete: DiscreteSystem, *, start: Values, parameters: Values | None = None, system: System | None = None,
    h: Sequence[float] = (0.1, 0.05, 0.025, 0.0125), span: float = 1.0, points: int = 6,
) -> ObservedOrder:  # fmt: skip
    """The order of a discrete Lagrangian, measured on it directly: L_d - L_d^E = O(h^(p+1)) along a motion.

    order_of(discretise(pendulum, Midpoint()), start={theta: 1, theta.dot: 0.5}, parameters=...). By the theorem of Marsden
    and West p is the order of the integrator. The largest difference of several steps is taken, from `points` points of the
    motion during the time `span`. `system` is what a discrete system given by its L_d approximates.

    L_d is evaluated with many digits, so that rounding errors are those of L_d^E alone.
    """
    system = _approximated(discrete, system)
    lengths = tuple(sorted(different_steps(h, "order_of", "h"), reverse=True))
    span = positive(span, "order_of: span", MethodError, ". Expected a positive time.")
    points = whole(points, "order_of: points", MethodError, least=1)
    own, rows = _rows(parameters, system), _rows(parameters, discrete)
    given = dict(zip(system.parameters, own[0], strict=True))
    exactly = Reference(rtol=1e-12)
    motion = simulate(system, exactly, h=span / points, steps=points, start=start, parameters=given, progress=False)
    if motion.lanes is not None:
        raise StartError("order_of: start has arrays, which make lanes. It measures along one motion: give numbers.")
    found = []
    for length in lengths:
        pairs = []
        for t, state in zip(motion.time.tolist(), motion.records[0], strict=True):
            begin = dict(zip((*system.coordinates, *system.velocities), state, strict=True)) | {time: t}
            run = simulate(system, exactly, h=length, steps=1, start=begin, parameters=given, progress=False)
            q0, q1 = run.table("position")[0]
            exact = _stationary(system, q0, q1, t, length, own)
            pairs.append((_difference(discrete, q0, q1, t, length, rows, exact.value), exact.rounding))
        found.append(tuple(map(max, zip(*pairs, strict=True))))
    difference, rounding = zip(*found, strict=True)
    return ObservedOrder(discrete.name, lengths, difference, rounding)


def _approximated(discrete: Any, system: System | None) -> System:
    """The system whose exact discrete Lagrangian a discrete Lagrangian is compared with."""
    if not isinstance(discrete, DiscreteSystem):
        raise ModelError(
            f"order_of: got {told(discrete)} ({type(discrete).__name__}). Expected a DiscreteSystem, such as "
            f"discretise(system, Midpoint())."
        )
    system = system or discrete.system
    if system is None:
        raise ModelError(
            f"order_of: {discrete.name!r} was given by its L_d alone. Say what it approximates: system=...."
        )
    _free(system, "order_of")
    forces = (*discrete.force_minus, *discrete.force_plus, *discrete.force_interior)
    if discrete.constraints or not all(vanishes(f) for f in forces) or discrete.coordinates != system.coordinates:
        raise ModelError(
            f"order_of: {discrete.name!r} has constraints, forces or other coordinates than {system.name!r}. Give a discrete "
            f"system whose motion L_d alone determines."
        )
    return system


def _rows(parameters: Values | None, system: System | DiscreteSystem) -> Array:
    """The parameters of one of several systems, as a row."""
    names = [p.name for p in system.parameters]
    given = {k: v for k, v in (parameters or {}).items() if name_of(k) in names}
    values = parameter_values(given, system.parameters)
    if arrays := [name for name, v in values.items() if v.ndim]:
        raise StartError(f"order_of: {', '.join(arrays)} is an array. It measures along one motion: give numbers.")
    return columns(values, names, None)


def _difference(discrete: DiscreteSystem, q0: Array, q1: Array, t: float, h: float, rows: Array, exact: float) -> float:
    """|L_d - L_d^E|, with 40 digits at the given positions; L_d is stationary in the interior ones."""
    q, point, parameters = discrete.coordinates, [*q0, *q1, t], [p.name for p in discrete.parameters]
    inputs = [*(c.at(k).name for k in (0, 1) for c in q), TIME]
    inner, places = discrete.interior_positions(), from_beginning(discrete)
    values = dict(zip([*inputs, step.name, *parameters], map(float, (*point, h, *rows[0])), strict=True))
    if inner:
        names = [i.unknown for i in inner]
        residual = tuple(substitute(r, places) for r in interior_residual(discrete))
        speed = tuple((fast(i.coordinate.at(1)) - fast(i.coordinate.at(0))) / fast(step) for i in inner)
        block = Block(tuple(names), residual, speed)
        outputs = {name: fast(name) for name in names}
        compiled = point_map(pointwise(f"{discrete.name}, interior", inputs, parameters, outputs, [block]))
        values |= dict(zip(names, map(float, compiled(np.array([point]), rows, h=h)[0][0]), strict=True))
    found = abs(_precisely(substitute(discrete.lagrangian, places), values, exact))
    if not np.isfinite(found):
        raise MethodError(f"order_of: the discrete Lagrangian has no value for h = {h:g}. Take a smaller h.")
    return found


def _precisely(e: Fast, values: Mapping[str, float], less: float) -> float:
    """The value of an expression at floating-point numbers, less a number, with 40 digits.

    Numbers are taken as binary numbers, typed decimals too: L_d^E was computed with these.
    """
    if not all(map(np.isfinite, values.values())):
        return np.nan
    at = substitute(e, {name: Rational(v) for name, v in values.items()}) - fast(Rational(less))
    try:
        return float(at.n(140, real=True))
    except RuntimeError:  # SymEngine does not evaluate branches; SymPy does
        found = sympy.sympify(at).evalf(40)
        return float(found) if found.is_real and found.is_finite else np.nan
