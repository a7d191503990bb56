"""Numbers against theory: the exact discrete Lagrangian, the order of a discrete Lagrangian, the modified energy of a run.

The exact discrete Lagrangian is the action of the motion from q0 at t to q1 at t + h, which makes the action stationary:

    L_d^E(q0, q1) = ext  integral of L(q(s), q'(s), t + s) ds        over paths with q(0) = q0, q(h) = q1

Numerically the paths are polynomials, q0 + (q1 - q0) s/h + sum of z_j (integrals of Legendre polynomials, zero at both
ends), the integral is Gauss's, and the stationary point is found by Newton's method with exact derivatives of L. The error
of the value is the square of that of the path, and both vanish faster than any power of the degree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import sympy
from sympy import Expr

from ..discrete.equations import interior_residual, interior_unknowns
from ..discrete.system import DiscreteSystem
from ..errors import MethodError, ModelError, StartError
from ..methods.reference import Reference
from ..model.coordinates import step, time
from ..model.system import System
from ..model.thermal import mechanical
from ..shown import Part, Shown, Table
from ..stepmap import TIME, Block, pointwise
from ..symbolic import fast, gradient, jacobian, magnitude, substitute, vanishes
from ..theory.exact import closed_form
from ..theory.modified import modified_hamiltonian
from ..theory.pointwise import quantity_map
from .simulate import simulate
from .start import point_map, read_start
from .trajectory import Trajectory
from .values import Array, Values, columns, parameter_values

DEGREES = (8, 12, 18, 26, 38, 56)
"""Degrees of the polynomials that are tried until the action no longer changes."""


@dataclass(frozen=True, eq=False)
class ExactStep:
    """The motion between two positions: its action, and the momenta it leaves and arrives with."""

    value: float
    minus: Array
    """p(0) = -D1 L_d^E."""
    plus: Array
    """p(h) = D2 L_d^E."""
    error: float
    """What the last increase of the degree changed, relative to the size of the action."""

    def __str__(self) -> str:
        return f"L_d^E = {self.value:.15g}, p0 = {self.minus}, p1 = {self.plus} (error about {self.error:.0e})"

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class ExactLagrangian:
    """The exact discrete Lagrangian of a system.

    expression:  the closed form in x.at(0), x.at(1) and `dalembert.step`, or None; a DiscreteSystem with this lagrangian
                 moves along the exact motion
    reason:      why there is, or is not, a closed form
    """

    system: System
    expression: Expr | None
    reason: str

    def solve(self, at: Values, *, h: float, parameters: Values | None = None) -> ExactStep:
        """Value and momenta at two positions {x.at(0): ..., x.at(1): ...}, by the boundary value problem."""
        values = parameter_values(parameters, self.system.parameters)
        start, _ = read_start(self.system.coordinates, at, values, 0, usual="two positions")
        if start.kind != "two positions" or start.lanes is not None:
            x = self.system.coordinates[0]
            raise StartError(f"exact_discrete_lagrangian: give two positions, {{{x}.at(0): ..., {x}.at(1): ...}}.")
        rows = columns(values, [p.name for p in self.system.parameters], None)
        return _stationary(self.system, start.q[0], start.second[0], start.time, float(h), rows)

    def __call__(self, at: Values, *, h: float, parameters: Values | None = None) -> float:
        """The value at two positions."""
        return self.solve(at, h=h, parameters=parameters).value

    def __str__(self) -> str:
        found = (
            str(self.expression) if self.expression is not None else "by the boundary value problem: .solve(at, h=...)"
        )
        return f"{self.system.name}: exact discrete Lagrangian\n  {found}\n  because {self.reason}"

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        found = sympy.latex(self.expression) if self.expression is not None else r"\text{by the boundary value problem}"
        return rf"$\displaystyle L_d^E = {found}$"


def exact_discrete_lagrangian(system: System) -> ExactLagrangian:
    """The exact discrete Lagrangian: in closed form for quadratic Lagrangians with constant coefficients, else in numbers.

    The closed form is generic: it supposes that frequencies which are different expressions have different values.
    """
    _free(system, "exact_discrete_lagrangian")
    return ExactLagrangian(system, *closed_form(system))


def _free(system: Any, role: str) -> None:
    if not isinstance(system, System):
        raise ModelError(f"{role}: got {system!r} ({type(system).__name__}). Expected a System.")
    mechanical(system, role)
    if system.constraints or not all(vanishes(f) for f in system.force):
        raise ModelError(
            f"{role}: {system.name!r} has constraints or forces; the action alone determines the motion only without. "
            f"Write holonomic constraints into the coordinates, and forces with a potential into the potential."
        )


@lru_cache(maxsize=32)
def _derivatives(system: System) -> Any:
    """The compiled map (q, v, t) -> L and its first and second derivatives in (q, v)."""
    symbols = [*system.coordinates, *system.velocities]
    slopes = gradient(system.lagrangian, symbols)
    entries = [fast(system.lagrangian), *slopes, *(e for row in jacobian(slopes, symbols) for e in row)]
    return point_map(quantity_map(system, {f"derivative.{i}": e for i, e in enumerate(entries)}))


@lru_cache(maxsize=16)
def _basis(degree: int) -> tuple[Array, Array, Array, Array]:
    """Gauss nodes and weights on [0, 1], and the integrated Legendre polynomials and their derivatives there."""
    x, w = np.polynomial.legendre.leggauss(degree + 8)
    P = np.polynomial.legendre.legvander(x, degree)
    j = np.arange(1, degree)
    return (1 + x) / 2, w / 2, (P[:, 2:] - P[:, :-2]) / (2 * (2 * j + 1)), P[:, 1:-1]


def _stationary(system: System, q0: Array, q1: Array, t: float, h: float, rows: Array) -> ExactStep:
    """The stationary action, with the degree raised until it no longer changes."""
    z = np.zeros((0, len(q0)))
    before: ExactStep | None = None
    for degree in DEGREES:
        z = np.vstack([z, np.zeros((degree - 1 - len(z), len(q0)))])
        found, z, size = _solved(system, q0, q1, t, h, rows, degree, z)
        if before is not None:
            error = abs(found.value - before.value) / size
            slack = np.abs([found.minus - before.minus, found.plus - before.plus]).max() * h / size
            found = ExactStep(found.value, found.minus, found.plus, float(max(error, slack)))
            if max(error, slack) < 2e-14:
                return found
        before = found
    assert before is not None
    if before.error < 1e-11:
        return before
    raise MethodError(
        f"exact_discrete_lagrangian: the motion over h = {h:g} is too long to be followed (error {before.error:.1e}). Take a "
        f"smaller h."
    )


def _solved(
    system: System, q0: Array, q1: Array, t: float, h: float, rows: Array, degree: int, z: Array
) -> tuple[ExactStep, Array, float]:  # fmt: skip
    """Newton's method for the coefficients of the path; also the size of the action."""
    s, w, F, G = _basis(degree)
    compiled, n = _derivatives(system), len(q0)
    shape = np.concatenate([F, G / h], axis=0).reshape(2, len(s), -1)  # of positions and of velocities

    def at(z: Array) -> tuple[Array, Array, Array]:
        q = q0 + s[:, None] * (q1 - q0) + F @ z
        v = (q1 - q0) / h + G @ z / h
        table, _ = compiled(np.column_stack([q, v, t + s * h]), rows)
        return table[:, 0], table[:, 1 : 1 + 2 * n].reshape(-1, 2, n), table[:, 1 + 2 * n :].reshape(-1, 2, n, 2, n)

    L, first, second = at(z)
    for _ in range(40):
        slope = h * np.einsum("g,agj,gak->jk", w, shape, first)
        size = h * np.einsum("g,agj,gak->jk", w, np.abs(shape), np.abs(first)).max()
        if not np.isfinite(slope).all():
            break
        if np.abs(slope).max() <= 1e-15 * size:
            break
        matrix = h * np.einsum("g,agi,gakbl,bgj->ikjl", w, shape, second, shape).reshape(z.size, z.size)
        move = np.linalg.solve(matrix, slope.ravel()).reshape(z.shape)
        new, fraction = at(z - move), 1.0
        while not np.isfinite(new[0]).all() and fraction > 1e-3:
            fraction /= 2
            new = at(z - fraction * move)
        z, (L, first, second) = z - fraction * move, new
        if np.abs(move).max() <= 1e-16 * (np.abs(z).max() + np.abs(q1 - q0).max()):
            break
    slope = h * np.einsum("g,agj,gak->jk", w, shape, first)
    size = h * float(w @ np.abs(L)) + h * float(np.einsum("g,gak->ak", w, np.abs(first)).max())
    if not np.abs(slope).max() < 1e-9 * size / h:
        raise MethodError(
            f"exact_discrete_lagrangian: no motion was found from {q0} to {q1} in h = {h:g}. Take a smaller h, or positions "
            f"nearer to each other."
        )
    Lq, Lv = first[:, 0], first[:, 1]
    plus = (w * s) @ Lq * h + w @ Lv
    minus = w @ Lv - (w * (1 - s)) @ Lq * h
    return ExactStep(float(h * (w @ L)), minus, plus, np.inf), z, size


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
        """p from the two smallest h at which the difference is not rounding error; infinite if it is everywhere."""
        known = [p for p in self.slopes if np.isfinite(p)]
        return known[-1] if known else np.inf

    def _parts(self) -> list[Part]:
        slopes = ["", *(f"{p:.3f}" if np.isfinite(p) else "rounding" for p in self.slopes)]
        rows = [(f"{h:g}", f"{d:.3e}", p) for h, d, p in zip(self.h, self.difference, slopes, strict=True)]
        return [f"{self.title}: order {self.order:.2f}", Table(("h", "|L_d - L_d^E|", "order"), rows)]


def order_of(
    discrete: DiscreteSystem, *, start: Values, parameters: Values | None = None, system: System | None = None,
    h: Sequence[float] = (0.1, 0.05, 0.025, 0.0125), span: float = 1.0, points: int = 6,
) -> ObservedOrder:  # fmt: skip
    """The order of a discrete Lagrangian, measured on it directly: L_d - L_d^E = O(h^(p+1)) along a motion.

    order_of(discretise(pendulum, Midpoint()), start={theta: 1, theta.dot: 0.5}, parameters=...). By the theorem of Marsden
    and West p is the order of the integrator. The largest difference of several steps is taken, from `points` points of the
    motion during the time `span`. `system` is what a discrete system given by its L_d approximates.
    """
    system = system or discrete.system
    if system is None:
        raise ModelError(
            f"order_of: {discrete.name!r} was given by its L_d alone. Say what it approximates: system=...."
        )
    _free(system, "order_of")
    own, rows = _rows(parameters, system), _rows(parameters, discrete)
    given = dict(zip(system.parameters, own[0], strict=True))
    exactly = Reference(rtol=1e-12, atol=1e-12)
    motion = simulate(system, exactly, h=span / points, steps=points, start=start, parameters=given, progress=False)
    compiled, found = _value_map(discrete), []
    for length in h:
        pairs = []
        for t, state in zip(motion.time.tolist(), motion.records[0], strict=True):
            begin = dict(zip((*system.coordinates, *system.velocities), state, strict=True)) | {time: t}
            run = simulate(system, exactly, h=length, steps=1, start=begin, parameters=given, progress=False)
            q0, q1 = run._positions[0]
            table, status = compiled(np.concatenate([q0, q1, [t]])[None], rows, h=length)
            if status[0]:
                raise MethodError(
                    f"order_of: the discrete Lagrangian has no value for h = {length:g}. Take a smaller h."
                )
            exact = _stationary(system, q0, q1, t, length, own)
            pairs.append((float(abs(table[0, 0] - exact.value)), 2e-14 * float(table[0, 1])))
        found.append(max(pairs))
    difference, rounding = zip(*found, strict=True)
    return ObservedOrder(discrete.name, tuple(map(float, h)), difference, rounding)


def _rows(parameters: Values | None, system: System | DiscreteSystem) -> Array:
    """The parameters of one of several systems, as a row."""
    names = [p.name for p in system.parameters]
    given = {k: v for k, v in (parameters or {}).items() if getattr(k, "name", str(k)) in names}
    return columns(parameter_values(given, system.parameters), names, None)


def _value_map(discrete: DiscreteSystem) -> Any:
    """The compiled map (q0, q1, t) -> L_d, stationary in the interior positions, and the size of its terms."""
    q = discrete.coordinates
    names, within = interior_unknowns(discrete)
    places = {s: fast(q[k % len(q)].at(0)) + x for k, (s, x) in enumerate(within.items())}
    residual = tuple(substitute(r, places) for r in interior_residual(discrete))
    speed = [(fast(c.at(1)) - fast(c.at(0))) / fast(step) for c in q]
    guess = tuple(speed[k % len(q)] for k in range(len(names)))
    inputs = [*(c.at(0).name for c in q), *(c.at(1).name for c in q), TIME]
    value = substitute(discrete.lagrangian, places)
    outputs = {"value": value, "size": magnitude(value)}
    blocks = [Block(tuple(names), residual, guess)] if names else []
    return point_map(
        pointwise(f"{discrete.name}, value", inputs, [p.name for p in discrete.parameters], outputs, blocks)
    )


# the modified energy along a run


@dataclass(frozen=True)
class EnergyRow:
    """One truncation of the modified Hamiltonian along a run."""

    power: int
    """The highest power of h that it contains."""
    deviation: float
    """Its largest deviation from its first value."""
    drift: float
    """How far its mean moved from the first quarter of the run to the last."""


@dataclass(frozen=True, eq=False, repr=False)
class EnergyReport(Shown):
    """The energy and the modified energies along a run: each further term makes the deviation smaller, if h is small."""

    title: str
    energy: float
    rows: tuple[EnergyRow, ...]

    def __getitem__(self, power: int) -> EnergyRow:
        """The row whose highest power of h is the given one; 0 is the energy itself."""
        for row in self.rows:
            if row.power == power:
                return row
        raise KeyError(f"{power}: this report has the powers {', '.join(str(r.power) for r in self.rows)}.")

    def _parts(self) -> list[Part]:
        rows = []
        for row in self.rows:
            name = "H" if not row.power else f"H + ... + h^{row.power} H_{row.power + 1}"
            gain = self.rows[0].deviation / row.deviation if row.deviation else np.inf
            rows.append((name, f"{row.deviation:.2e}", f"{gain:.3g}", f"{row.drift:.1e}"))
        head = ("conserved quantity", "deviation", "gain", "drift")
        return [f"{self.title}, H = {self.energy:.6g}", Table(head, rows)]


def energy_report(run: Trajectory, order: int = 4) -> EnergyReport:
    """The modified Hamiltonian of the method, truncated after each power of h up to `order`, along a run.

    Of a run with lanes the worst lane is reported.
    """
    if isinstance(run.system, DiscreteSystem) or run.method is None:
        raise ModelError(
            "energy_report: a discrete system given by its L_d alone has no Hamiltonian. Give a run of a System."
        )
    if not vanishes(fast(run.system.lagrangian).diff(fast(TIME))):
        raise ModelError(f"energy_report: {run.system.name!r} depends on time, so its energy is not conserved.")
    modified = modified_hamiltonian(run.system, run.method, order)
    q = run.system.coordinates
    outputs = {f"term.{j}": e for j, e in enumerate(modified.series)}
    inputs = [*(c.name for c in q), *(c.momentum.name for c in q), TIME]
    stepmap = pointwise(f"{run.system.name}, modified energy", inputs, [p.name for p in run.system.parameters], outputs)
    terms = run._at_points(stepmap, run._carried_momenta)
    rows, total = [], np.zeros(terms.shape[:2])
    for j, e in enumerate(modified.series):
        total = total + run.h**j * terms[..., j]
        if e != 0:
            rows.append(_energy_row(j, total))
    title = f"{run.system.name}, {run.method!r}, h = {run.h:g}, t = {run.time[0]:g} to {run.time[-1]:g}"
    return EnergyReport(title, float(terms[0, 0, 0]), tuple(rows))


def _energy_row(power: int, values: Array) -> EnergyRow:
    error = values - values[:, :1]
    quarter = max(values.shape[1] // 4, 1)
    drift = np.abs(np.nanmean(error[:, -quarter:], axis=1) - np.nanmean(error[:, :quarter], axis=1))
    return EnergyRow(power, float(np.nanmax(np.abs(error))), float(np.nanmax(drift)))
