"""Whether a discrete motion is determined, step by step, and where it is not, why not.

The step from q0 to q1 is determined by the matrix

    M = [ K    h omega^T ]        K = D2 D1 L_d + D2 F_d-
        [ D2 chi   0     ]

M is invertible exactly if omega and D2 chi have full rank and the pairing B^T K C is non-degenerate, B a basis of the
variations D at q0 and C one of the kernel of D2 chi. L_d regular (det D2 D1 L_d not zero) is the case without
constraints and forces, and does not suffice with them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from ..discrete.equations import momentum_minus, step_map
from ..discrete.system import DiscreteSystem
from ..engine.machine import PointMap
from ..engine.status import Status
from ..errors import MethodError, StartError
from ..methods.base import VariationalMethod
from ..methods.reference import Reference
from ..stepmap import TIME, StepMap, pointwise
from ..symbolic import gradient, jacobian, substitute
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


@dataclass(frozen=True, eq=False)
class Regularity:
    """How well the steps of a motion are determined; arrays have one entry per step (and a leading axis of lanes).

    condition:    condition number of the step matrix M, rows and columns scaled
    determinant:  of the same: a change of sign from step to step means that a singular step was jumped over
    lagrangian:   margin of D2 D1 L_d alone: zero where L_d is degenerate (NaN for methods that are not variational)
    pairing:      margin of B^T K C: zero where the step is not determined
    irregular:    the steps that are not determined, with the reason
    """

    title: str
    time: Array
    condition: Array
    determinant: Array
    lagrangian: Array
    pairing: Array
    irregular: tuple[Irregular, ...]

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
        ]

    def __str__(self) -> str:
        wide = max(len(name) for name, _ in self._rows())
        lines = [f"  {name.ljust(wide)}  {value}" for name, value in self._rows()]
        ended = [f"  IRREGULAR: {i}" for i in self.irregular] or ["  every step is determined"]
        return "\n".join([self.title, *lines, *ended])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{escape(a)}</td><td>{escape(b)}</td></tr>" for a, b in self._rows())
        ended = "".join(f"<p>irregular: {escape(str(i))}</p>" for i in self.irregular)
        return f"<p>{escape(self.title)}</p><table>{rows}</table>{ended}"


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
    parts, q = _Parts(discrete, given.h), given._positions
    found = [parts.at(q[l, :-1], q[l, 1:], given.time[:-1], given._parameter_rows[l]) for l in range(len(q))]
    ended = {l: _failed_step(given, discrete, l) for l in range(len(q)) if _failed(given, l)}
    K, M = np.concatenate([f[0] for f in found]), np.concatenate([f[3] for f in found])
    scales = _scales(K), _scales(M)
    table = np.stack([_margins(*f, scales) for f in found])
    report = _report(title, given.time[:-1], table, tolerance, given.lanes is not None, given.begin)
    last = [_ended(given, parts, l, *point, scales, tolerance) for l, point in ended.items()]
    return replace(report, irregular=(*report.irregular, *last))


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
    start, _ = read_start(system.coordinates, at or {}, values, 0, usual="two positions")
    if start.kind != "two positions":
        raise StartError("regularity: give both positions of the step, at={x.at(0): ..., x.at(1): ...}.")
    rows = columns(values, [p.name for p in system.parameters], start.lanes)
    parts = _Parts(system, float(h))
    found = parts.at(start.q[:1], start.second[:1], np.array([start.time]), rows[0])
    table = _margins(*found, (_scales(found[0]), _scales(found[3])))
    return _report(
        f"{system.name}, h = {h:g}: regularity of one step", np.array([start.time]), table[None], tolerance, False
    )


class _Parts:
    """K with and without forces, omega, D2 chi and M of a discrete system, compiled."""

    def __init__(self, system: DiscreteSystem, h: float):
        q = system.coordinates
        self.system, self.h, self.n, self.m = system, h, len(q), len(system.constraints)
        ends, first = [c.at(1) for c in q], {c: c.at(0) for c in q}
        plain = jacobian(gradient(system.lagrangian, [c.at(0) for c in q]), ends)
        whole = jacobian([-p for p in momentum_minus(system)], ends)
        forms = [[substitute(a, first) for a in w] for w in system.variations]
        entries = [e for rows in (whole, plain, forms, jacobian(system.constraints, ends)) for row in rows for e in row]
        inputs = [*(c.at(0).name for c in q), *(c.at(1).name for c in q), TIME]
        names = [p.name for p in system.parameters]
        outputs = {f"entry.{i}": e for i, e in enumerate(entries)}
        self._map = point_map(pointwise(f"{system.name}, regularity", inputs, names, outputs))

    def at(self, q0: Array, q1: Array, t: Array, parameters: Array) -> tuple[Array, Array, Array, Array]:
        """K, D2 D1 L_d, (omega, D2 chi) and M at each pair of positions."""
        n, m = self.n, self.m
        flat, _ = self._map(np.column_stack([q0, q1, t]), parameters[None, :], h=self.h)
        K, plain = (flat[:, i * n * n : (i + 1) * n * n].reshape(-1, n, n) for i in (0, 1))
        both = flat[:, 2 * n * n :].reshape(len(flat), 2, m, n)
        M = np.zeros((len(flat), n + m, n + m))
        M[:, :n, :n], M[:, n:, :n] = K, both[:, 1]
        M[:, :n, n:] = self.h * both[:, 0].swapaxes(1, 2)
        return K, plain, both, M


Scales = tuple[Array, Array]


def _scales(matrices: Array) -> Scales:
    """Factors of rows and columns that bring the largest entries met along the motion to about 1: units do not matter."""
    size = np.nanmax(np.where(np.isfinite(matrices), np.abs(matrices), 0), axis=0, initial=0)
    rows, cols = np.ones(size.shape[0]), np.ones(size.shape[1])
    for _ in range(8):
        scaled = rows[:, None] * size * cols
        r, c = scaled.max(axis=1, initial=0), scaled.max(axis=0, initial=0)
        rows, cols = rows / np.sqrt(np.where(r > 0, r, 1)), cols / np.sqrt(np.where(c > 0, c, 1))
    return rows, cols


def _smallest(matrices: Array, size: Array | float = 1.0) -> Array:
    """The smallest singular values, relative to a size."""
    if 0 in matrices.shape[1:]:
        return np.ones(len(matrices))
    values = np.linalg.svd(matrices, compute_uv=False)[:, -1]
    return np.asarray(values / np.where(np.asarray(size) > 0, size, 1))


COLUMNS = ("condition", "determinant", "lagrangian", "pairing", "unforced", "forms", "constraints")


def _margins(K: Array, plain: Array, both: Array, M: Array, scales: tuple[Scales, Scales]) -> Array:
    """One row of `COLUMNS` for each step; NaN where there is no step."""
    table = np.full((len(K), len(COLUMNS)), np.nan)
    known: Array = np.asarray(np.isfinite(M).all(axis=(1, 2)) & np.isfinite(plain).all(axis=(1, 2)))
    if not known.any():
        return table
    (r, c), (rows, cols) = scales
    K, plain, both = r[:, None] * K[known] * c, r[:, None] * plain[known] * c, both[known]
    M = rows[:, None] * M[known] * cols
    n, m = K.shape[1], both.shape[2]
    forms, kinds = _unit(both[:, 0] * r), _unit(both[:, 1] * c)
    B = np.linalg.svd(forms)[2][:, m:] if m else np.broadcast_to(np.eye(n), K.shape)
    C = np.linalg.svd(kinds)[2][:, m:] if m else np.broadcast_to(np.eye(n), K.shape)
    size = np.linalg.norm(K, ord=2, axis=(1, 2))
    pairings = [B @ A @ C.swapaxes(1, 2) for A in (K, plain)]
    values = np.linalg.svd(M, compute_uv=False)
    condition = np.divide(values[:, 0], values[:, -1], out=np.full(len(values), np.inf), where=values[:, -1] > 0)
    alone = _smallest(plain, np.linalg.norm(plain, ord=2, axis=(1, 2)))
    margins = [_smallest(A, size) for A in pairings]
    table[known] = np.column_stack([condition, np.linalg.det(M), alone, *margins, _smallest(forms), _smallest(kinds)])
    return table


def _unit(rows: Array) -> Array:
    """Rows of length 1."""
    size = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(size > 0, size, 1))


def _reason(row: Array, tolerance: float) -> str:
    """Why a step with these margins is not determined."""
    alone, pairing, unforced, forms, constraints = row[2:]
    if forms < tolerance:
        return "the variations are linearly dependent at the beginning of the step"
    if constraints < tolerance:
        return "the constraints do not bind the end of the step independently: D2 chi loses rank"
    if pairing < tolerance <= unforced:
        return "the forces cancel the inertia: D2 D1 L_d + D2 F_d- is degenerate although D2 D1 L_d is not"
    if pairing < tolerance <= alone:
        return "constraints and variations do not fit together: the restricted pairing is degenerate although L_d is regular"
    if alone < tolerance:
        return "the discrete Lagrangian is degenerate: D2 D1 L_d is singular"
    return "the step matrix is singular"


def _report(title: str, t: Array, table: Array, tolerance: float, lanes: bool, begin: int = 0) -> Regularity:
    """The report on a table of margins, shape (lanes, steps, columns)."""
    with np.errstate(invalid="ignore"):
        bad = (table[..., 0] > 1 / tolerance) | (table[..., 3] < tolerance)
    found = tuple(
        Irregular(
            begin + int(k) + 1,
            float(t[k]),
            int(l) if lanes else None,
            float(table[l, k, 3]),
            _reason(table[l, k], tolerance),
        )
        for l, k in np.argwhere(bad)
    )
    shaped = table if lanes else table[0]
    condition, determinant, lagrangian, pairing = (shaped[..., i] for i in range(4))
    return Regularity(title, t, condition, determinant, lagrangian, pairing, found)


# the step at which a run ended


def _failed(run: Trajectory, lane: int) -> bool:
    return int(run.codes[lane, 0]) in (Status.SINGULAR, Status.NO_SOLUTION)


def _failed_step(run: Trajectory, system: DiscreteSystem, lane: int) -> tuple[Array, Array, float, float]:
    """q0, q1, the time and the relative residual of the step that failed: q1 as near to a solution as there is one."""
    from scipy.optimize import least_squares

    stepmap, n = step_map(system), len(system.coordinates)
    last = int(run.codes[lane, 1]) - run.begin
    state, t = run.records[lane, last, : 2 * n], float(run.time[last])
    block = stepmap.blocks[0]
    size = len(block.unknowns)
    entries = [*block.residual, *(e for row in block.jacobian for e in row)]
    outputs = {f"entry.{i}": e for i, e in enumerate(entries)}
    names = (*stepmap.state, *block.unknowns, TIME)
    compiled = PointMap(pointwise(f"{system.name}, failed step", names, stepmap.parameters, outputs))

    def at(x: Array) -> Array:
        return compiled(np.concatenate([state, x, [t]])[None], run._parameter_rows[lane : lane + 1], h=run.h)[0][0]

    before = run.records[lane, max(last - 1, 0), :n]
    guess = np.concatenate([(state[:n] - before) / run.h, np.zeros(size - n)])
    found = least_squares(
        lambda x: at(x)[:size], guess, jac=lambda x: at(x)[size:].reshape(size, size), x_scale="jac",
        xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000,
    )  # fmt: skip
    scale = 1 + np.abs(state[n:]).max()
    return state[:n], state[:n] + run.h * found.x[:n], t, float(np.abs(found.fun).max() / scale)


def _ended(
    run: Trajectory, parts: _Parts, lane: int, q0: Array, q1: Array, t: float, residual: float, scales: Any, tolerance: float
) -> Irregular:  # fmt: skip
    """What was wrong with the step that failed."""
    row = _margins(*parts.at(q0[None], q1[None], np.array([t]), run._parameter_rows[lane]), scales)[0]
    # A minimum of the residual that is not a zero has a singular matrix: there the solutions have met and vanished.
    why = _reason(row, max(tolerance, 1e-4)) if row[3] < 1e-4 or row[0] > 1e4 else "the step matrix is regular there"
    if residual > 1e-9:
        place = ", ".join(f"{c} = {x:.6g}" for c, x in zip(parts.system.coordinates, q1, strict=True))
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
                worst, first = np.maximum(worst, _condition(matrices)), first + n * n
        table[lane, :, 0] = worst
    return table


def _condition(matrices: Array) -> Array:
    found = np.full(len(matrices), np.nan)
    known: Array = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
    if known.any():
        r, c = _scales(matrices)
        found[known] = np.linalg.cond(r[:, None] * matrices[known] * c)
    return found
