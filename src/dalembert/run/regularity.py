"""Whether a discrete motion is determined, step by step, and where it is not, why not.

The step from q0 to q1 is determined by the matrix

    M = [ K    h omega^T ]        K = D2 D1 L_d + D2 F_d-
        [ D2 chi   0     ]

M is invertible exactly if omega and D2 chi have full rank and the pairing B^T K C is non-degenerate, B a basis of the
variations D at q0 and C one of the kernel of D2 chi. L_d regular (det D2 D1 L_d not zero) is the case without
constraints and forces, and does not suffice with them.

With entropies the laws rho(q0, q1, S0, S1) = 0 are further rows of K and D2 is the derivative by (q1, S1): without
constraints M is the matrix M+ of a regular thermomechanical system. Its M-, the same for a step backward, is examined too,
and so are the hypotheses of its equations: that D_S- L_d or D_S+ L_d does not vanish, and that temperatures are positive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..discrete.entropy import entropy_slopes
from ..discrete.equations import momentum_minus, step_map, step_velocity
from ..discrete.flow import backward_matrix
from ..discrete.system import DiscreteSystem
from ..engine.machine import PointMap
from ..engine.status import Status
from ..errors import MethodError, StartError
from ..methods.base import VariationalMethod
from ..methods.reference import Reference
from ..shown import Part, Shown, Table
from ..stepmap import TIME, StepMap, pointwise
from ..symbolic import Fast, fast, gradient, jacobian, magnitude, substitute
from .margins import COLUMNS, Parts, Scaling, condition_numbers, margins, reason, scaling
from .start import point_map, read_start
from .trajectory import Trajectory
from .values import Array, Values, columns, parameter_values

TOLERANCE = 1e-5
"""A margin below this counts as zero: where solutions meet, a residual of 1e-10 leaves them apart by the root of that."""


@dataclass(frozen=True)
class Irregular:
    """A step that is not determined, or could not be taken."""

    step: int
    time: float
    lane: int | None
    margin: float
    """Smallest singular value of the restricted pairing, relative to K: zero where it is degenerate."""
    reason: str

    def __str__(self) -> str:
        who = "" if self.lane is None else f"lane {self.lane}, "
        return f"{who}step {self.step} from t = {self.time:g}: {self.reason} (margin {self.margin:.1e})"


@dataclass(frozen=True, eq=False, repr=False)
class Regularity(Shown):
    """How well the steps of a motion are determined; arrays have one entry per step (and a leading axis of lanes).

    condition:    condition number of the step matrix M, rows and columns scaled
    determinant:  of M itself: a change of sign from step to step means that a singular step was jumped over
    lagrangian:   margin of D2 D1 L_d alone: zero where L_d is degenerate (NaN for methods that are not variational)
    pairing:      margin of B^T K C: zero where the step is not determined
    irregular:    the steps that are not determined, with the reason
    backward_condition, backward_determinant:  of the matrix of the step backward
    irreversible: the steps that a step backward does not undo, because it is not determined
    hypotheses:   what the equations of a system with entropies assume, and whether it held on every step
    """

    title: str
    time: Array
    condition: Array
    determinant: Array
    lagrangian: Array
    pairing: Array
    irregular: tuple[Irregular, ...]
    backward_condition: Array
    backward_determinant: Array
    irreversible: tuple[Irregular, ...] = ()
    hypotheses: tuple[tuple[str, bool], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every step is determined."""
        return not self.irregular

    def _rows(self) -> list[tuple[str, str]]:
        def worst(values: Array, largest: bool) -> str:
            if np.isnan(values).all():
                return "-"
            flat = np.nanargmax(values) if largest else np.nanargmin(values)
            at = np.unravel_index(int(flat), values.shape)
            lane = f", lane {at[0]}" if values.ndim == 2 else ""
            return f"{values[at]:.3g} on the step from t = {self.time[at[-1]]:g}{lane}"

        signs = np.sign(self.determinant)
        flips = int(np.nansum(signs[..., 1:] * signs[..., :-1] < 0))
        return [
            ("condition of the step matrix, largest", worst(self.condition, True)),
            ("margin of the restricted pairing, smallest", worst(self.pairing, False)),
            ("margin of L_d alone, smallest", worst(self.lagrangian, False)),
            ("changes of sign of the determinant", str(flips)),
            ("condition of the step backward, largest", worst(self.backward_condition, True)),
            *((text, "yes" if holds else "NO") for text, holds in self.hypotheses),
        ]

    def _ended(self) -> list[str]:
        """One line for each step that is not determined; of those that cannot be undone, the first."""
        back = self.irreversible
        more = f" (and {len(back) - 1} more)" if len(back) > 1 else ""
        return [f"IRREGULAR: {i}" for i in self.irregular] + [f"no step backward: {i}{more}" for i in back[:1]]

    def _parts(self) -> list[Part]:
        sure = [] if self.irregular else ["every step is determined"]
        return [self.title, Table(("of the steps", ""), self._rows()), *sure, *self._ended()]


def regularity(
    given: Trajectory | DiscreteSystem, *, at: Values | None = None, h: float | None = None,
    parameters: Values | None = None, tolerance: float = TOLERANCE,
) -> Regularity:  # fmt: skip
    """Whether the steps of a run are determined; or one step of a discrete system, at={x.at(0): ..., x.at(1): ...}.

    For a run that ended early the step that failed is examined too, at the solution or, if there is none, at the point
    nearest to one.
    """
    if isinstance(given, DiscreteSystem):
        return _at_pair(given, at, h, parameters, tolerance)
    if not isinstance(given, Trajectory) or isinstance(given.method, Reference):
        raise MethodError(
            f"regularity: got {given!r}. Expected a run with a fixed step, or a discrete system and at={{...}}."
        )
    if given.every != 1:
        raise MethodError(f"regularity: this run records every {given.every} steps. Compute it with every=1.")
    by = f", {given.method!r}" if given.method else ""
    title = f"{given.system.name}{by}, h = {given.h:g}: regularity of {len(given.time) - 1} steps"
    discrete = _discrete(given)
    if discrete is None:
        return _report(title, given.time[:-1], _stages(given), tolerance, given.lanes is not None, given.begin)
    parts, z = _Steps(discrete, given.h), np.concatenate([given._positions, given._entropies], axis=2)
    found = [parts.at(z[l, :-1], z[l, 1:], given.time[:-1], given._parameter_rows[l]) for l in range(len(z))]
    ended = {l: _failed_step(given, discrete, l) for l in range(len(z)) if _failed(given, l)}
    scaled = scaling(Parts(*(np.concatenate(group) for group in zip(*found, strict=True))))
    table = np.stack([margins(f, scaled) for f in found])
    report = _report(title, given.time[:-1], table, tolerance, given.lanes is not None, given.begin)
    last = [_ended(given, parts, l, *point, scaled, tolerance) for l, point in ended.items()]
    told = _hypotheses(discrete, np.concatenate([f.slopes for f in found]), tolerance)
    return replace(report, irregular=(*report.irregular, *last), hypotheses=told)


def _discrete(run: Trajectory) -> DiscreteSystem | None:
    """The discrete system of a run whose steps are determined by two positions."""
    found = run.system if isinstance(run.system, DiscreteSystem) else None
    if isinstance(run.method, VariationalMethod) and not isinstance(run.system, DiscreteSystem):
        found = run.method.discrete_system(run.system)
    return None if found is None or found.interior else found


def _at_pair(
    system: DiscreteSystem, at: Values | None, h: Any, parameters: Values | None, tolerance: float
) -> Regularity:
    if h is None or system.interior:
        x = system.coordinates[0]
        raise StartError(
            f"regularity: write regularity(system, at={{{x}.at(0): ..., {x}.at(1): ...}}, h=..., parameters={{...}}) for a "
            f"discrete system without interior positions, or give a run."
        )
    values = parameter_values(parameters, system.parameters)
    given, second = _second_entropies(system, at or {})
    start, _ = read_start(system.coordinates, given, values, 0, "two positions", system.entropies)
    if start.kind != "two positions":
        raise StartError("regularity: give both positions of the step, at={x.at(0): ..., x.at(1): ...}.")
    rows = columns(values, [p.name for p in system.parameters], start.lanes)
    steps, t = _Steps(system, float(h)), np.array([start.time])
    z = np.hstack([start.q[:1], start.entropies[:1]]), np.hstack([start.second[:1], second])
    found = steps.at(*z, t, rows[0])
    table = margins(found, scaling(steps.sizes(*z, t, rows[0])))
    report = _report(f"{system.name}, h = {h:g}: regularity of one step", t, table[None], tolerance, False)
    return replace(report, hypotheses=_hypotheses(system, found.slopes, tolerance))


def _second_entropies(system: DiscreteSystem, at: Values) -> tuple[dict[Any, Any], Array]:
    """The pair without the entropies at its end, which are taken as they are given; S.at(0) is the same as S."""
    named = {getattr(key, "name", str(key)): value for key, value in at.items()}
    second = []
    for S in system.entropies:
        if S.at(1).name not in named:
            raise StartError(f"regularity: no value for {S.at(1)}. Give both entropies, {S.at(0)} and {S.at(1)}.")
        second.append(float(named.pop(S.at(1).name)))
        if S.at(0).name in named:
            named[S.name] = named.pop(S.at(0).name)
    return named, np.array(second).reshape(1, -1)


def _hypotheses(system: DiscreteSystem, slopes: Array, tolerance: float) -> tuple[tuple[str, bool], ...]:
    """What the equations with entropies assume, on the given steps."""
    found = []
    for a, S in enumerate(system.entropies):
        both = slopes[:, :, a][np.isfinite(slopes[:, :, a]).all(axis=1)]
        least = tolerance * np.abs(both).max(initial=0)
        one = bool(len(both)) and bool((np.abs(both) > least).all(axis=0).any())
        found.append((f"D_{S}- L_d or D_{S}+ L_d is never zero", one))
        found.append(
            (f"the temperature of {S}, -(D_{S}- L_d + D_{S}+ L_d)/h, is positive", bool((both.sum(axis=1) < 0).all()))
        )
    return tuple(found)


class _Steps:
    """The matrices of a discrete system, compiled."""

    def __init__(self, system: DiscreteSystem, h: float):
        whole = (*system.coordinates, *system.entropies)
        self.system, self.h, self.m, self.s = system, h, len(system.constraints), len(system.entropies)
        self.n = len(whole)
        ends, first = [c.at(1) for c in whole], {c: c.at(0) for c in system.coordinates}
        free = gradient(system.lagrangian, [c.at(0) for c in system.coordinates])
        plain = jacobian([*free, *system.entropy_laws], ends)
        forced = jacobian([*(-p for p in momentum_minus(system)), *system.entropy_laws], ends)
        zero = [fast(0)] * self.s
        forms = [[*(substitute(a, first) for a in w), *zero] for w in system.variations]
        tables = [forced, plain, forms, jacobian(system.constraints, ends), backward_matrix(system)]
        self._entries = [e for rows in (*tables, list(entropy_slopes(system))) for row in rows for e in row]
        self._inputs = [*(c.at(k).name for k in (0, 1) for c in whole), TIME]
        self._map = self._compiled("regularity", self._entries)

    def _compiled(self, name: str, entries: list[Fast]) -> PointMap:
        names = [p.name for p in self.system.parameters]
        outputs = {f"entry.{i}": e for i, e in enumerate(entries)}
        return point_map(pointwise(f"{self.system.name}, {name}", self._inputs, names, outputs))

    def at(self, z0: Array, z1: Array, t: Array, parameters: Array) -> Parts:
        """The matrices at each pair of positions and entropies."""
        return self._parts(self._map, z0, z1, t, parameters)

    def sizes(self, z0: Array, z1: Array, t: Array, parameters: Array) -> Parts:
        """The same with the sizes of the terms that entries are made of, which do not vanish where these cancel."""
        return self._parts(self._compiled("sizes", [magnitude(e) for e in self._entries]), z0, z1, t, parameters)

    def _parts(self, compiled: PointMap, z0: Array, z1: Array, t: Array, parameters: Array) -> Parts:
        n, m = self.n, self.m
        flat, _ = compiled(np.column_stack([z0, z1, t]), parameters[None, :], h=self.h)
        K, plain = (flat[:, i * n * n : (i + 1) * n * n].reshape(-1, n, n) for i in (0, 1))
        both = flat[:, 2 * n * n : 2 * n * (n + m)].reshape(len(flat), 2, m, n)
        back = flat[:, 2 * n * (n + m) :][:, : (n + m) ** 2].reshape(-1, n + m, n + m)
        slopes = flat[:, flat.shape[1] - 2 * self.s :].reshape(len(flat), 2, self.s)
        M = np.zeros((len(flat), n + m, n + m))
        M[:, :n, :n], M[:, n:, :n] = K, both[:, 1]
        M[:, :n, n:] = self.h * both[:, 0].swapaxes(1, 2)
        return Parts(K, plain, both, M, back, slopes)


def _report(title: str, t: Array, table: Array, tolerance: float, lanes: bool, begin: int = 0) -> Regularity:
    """The report on a table of margins, shape (lanes, steps, columns)."""
    with np.errstate(invalid="ignore"):
        bad = (table[..., 0] > 1 / tolerance) | (table[..., 3] < tolerance)

    def listed(mask: Array, margin: Array, why: Callable[[Array], str]) -> tuple[Irregular, ...]:
        return tuple(
            Irregular(begin + int(k) + 1, float(t[k]), int(l) if lanes else None, float(margin[l, k]), why(table[l, k]))
            for l, k in np.argwhere(mask)
        )

    found = listed(bad, table[..., 3], lambda row: reason(row, tolerance))
    undone = table[..., 8]
    back = listed(undone > 1 / tolerance, 1 / undone, lambda _: "the matrix of the step backward is singular")
    shaped = table if lanes else table[0]
    condition, determinant, lagrangian, pairing = (shaped[..., i] for i in range(4))
    return Regularity(
        title, t, condition, determinant, lagrangian, pairing, found, shaped[..., 8], shaped[..., 9], back
    )  # fmt: skip


# the step at which a run ended


def _failed(run: Trajectory, lane: int) -> bool:
    return int(run.codes[lane, 0]) in (Status.SINGULAR, Status.NO_SOLUTION)


def _failed_step(run: Trajectory, system: DiscreteSystem, lane: int) -> tuple[Array, Array, float, float]:
    """z0, z1, the time and the relative residual of the step that failed: z1 as near to a solution as there is one."""
    from scipy.optimize import least_squares

    stepmap, n, q = step_map(system), len(system.coordinates), (*system.coordinates, *system.entropies)
    last = int(run.codes[lane, 1]) - run.begin
    state, t = run.records[lane, last, : len(stepmap.state)], float(run.time[last])
    names, residual = stepmap.unknowns, [r for b in stepmap.blocks for r in b.residual]
    size = len(names)
    entries = [*residual, *(e for row in jacobian(residual, names) for e in row)]
    outputs = {f"entry.{i}": e for i, e in enumerate(entries)}
    inputs = (*stepmap.state, *names, TIME)
    compiled = PointMap(pointwise(f"{system.name}, failed step", inputs, stepmap.parameters, outputs))

    def at(x: Array) -> Array:
        return compiled(np.concatenate([state, x, [t]])[None], run._parameter_rows[lane : lane + 1], h=run.h)[0][0]

    before = run.records[lane, max(last - 1, 0), :n]
    guess = np.concatenate([(state[:n] - before) / run.h, np.zeros(size - n)])
    found = least_squares(
        lambda x: at(x)[:size], guess, jac=lambda x: at(x)[size:].reshape(size, size), x_scale="jac",
        xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000,
    )  # fmt: skip
    scale = 1 + np.abs(state[n : 2 * n]).max()
    z0 = np.concatenate([state[:n], state[2 * n :]])
    rates = found.x[[names.index(step_velocity(c).name) for c in q]]
    return z0, z0 + run.h * rates, t, float(np.abs(found.fun).max() / scale)


def _ended(
    run: Trajectory, steps: _Steps, lane: int, z0: Array, z1: Array, t: float, residual: float, scaled: Scaling,
    tolerance: float,
) -> Irregular:  # fmt: skip
    """What was wrong with the step that failed."""
    row = margins(steps.at(z0[None], z1[None], np.array([t]), run._parameter_rows[lane]), scaled)[0]
    # A minimum of the residual that is not a zero has a singular matrix: there the solutions have met and vanished.
    why = reason(row, max(tolerance, 1e-4)) if row[3] < 1e-4 or row[0] > 1e4 else "the step matrix is regular there"
    if residual > 1e-9:
        place = ", ".join(f"{c} = {x:.6g}" for c, x in zip(steps.system.coordinates, z1, strict=False))
        why = f"no solution; nearest to one, at {place} (residual {residual:.1e}), {why}"
    ended = Status(int(run.codes[lane, 0])).name
    number = int(run.codes[lane, 1]) + 1
    return Irregular(number, t, None if run.lanes is None else lane, float(row[3]), f"ended with {ended}: {why}")


# methods that are not variational


def _stages(run: Trajectory) -> Array:
    """The worst condition of the blocks of every step, solved anew from the recorded states; the other columns are NaN."""
    assert run.method is not None
    from ..model.system import System

    system = run.system
    stepmap: StepMap = run.method.step_map(system) if isinstance(system, System) else step_map(system)
    blocks = [[e for row in b.jacobian for e in row] for b in stepmap.blocks]
    outputs = {f"next.{i}": u for i, u in enumerate(stepmap.update)}
    outputs |= {f"entry.{k}.{i}": e for k, entries in enumerate(blocks) for i, e in enumerate(entries)}
    compiled = PointMap(
        pointwise(f"{stepmap.name}, stages", [*stepmap.state, TIME], stepmap.parameters, outputs, stepmap.blocks)
    )
    width = len(stepmap.state)
    table = np.full((len(run.records), len(run.time) - 1, len(COLUMNS)), np.nan)
    for lane in range(len(run.records)):
        state, t = run.records[lane, :-1, :width], run.time[:-1]
        worst = np.ones(len(state))
        for fraction in stepmap.substeps:
            h = fraction * run.h
            values, _ = compiled(np.column_stack([state, t]), run._parameter_rows[lane : lane + 1], h=h)
            state, t, first = values[:, :width], t + h, width
            for entries in blocks:
                n = round(len(entries) ** 0.5)
                matrices = values[:, first : first + n * n].reshape(-1, n, n)
                worst, first = np.maximum(worst, condition_numbers(matrices)), first + n * n
        table[lane, :, 0] = worst
    return table
