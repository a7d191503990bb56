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

The scales of matrices are defined in `step_matrices`. The size of a coordinate there is the larger of its values at both
ends of the step, its velocity with the larger of those on this step and on the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...discrete.equations import step_map, step_velocity
from ...discrete.system import DiscreteSystem
from ...display import Part, Shown, Table
from ...engine.machine import PointMap
from ...engine.status import Status
from ...errors import MethodError, StartError, told
from ...methods.stepping import Stepping
from ...model.coordinates import step, time
from ...model.principle import reactions_by_forms
from ...model.space import lines_only
from ...model.system import System
from ...run.plan import seed
from ...run.start import OFF
from ...run.trajectory import Trajectory
from ...run.values import Array, Values, by_name, columns, parameter_values, step_length
from ...symbolic import fast, jacobian, magnitude, number
from ...waist.layout import Groups
from ...waist.stepmap import TIME, pointwise
from .stage_conditions import stage_conditions
from .step_matrices import TOLERANCE, Steps, distance, margins, reason

SHOWN = 5
"""Number of irregular steps listed in a printed report."""


@dataclass(frozen=True)
class Irregular:
    """A step that is not determined, or could not be taken."""

    step: int
    time: float
    lane: int | None
    margin: float
    """Distance from singularity: the least of its margins and of 1/condition, zero where it is not determined."""
    reason: str

    def __str__(self) -> str:
        who = "" if self.lane is None else f"lane {self.lane}, "
        size = "" if np.isnan(self.margin) else f" (margin {self.margin:.1e})"
        return f"{who}step {self.step} from t = {self.time:g}: {self.reason}{size}"


@dataclass(frozen=True, eq=False, repr=False)
class Regularity(Shown):
    """How well the steps of a motion are determined; arrays have one entry per step (and a leading axis of lanes).

    Entries beyond the last step are NaN, and so are quantities that a method that is not variational lacks.

    matrix:       the step matrix M itself, rows of the momenta, the laws of entropy and the constraints; None where a
                  step is not determined by two positions
    condition:    size of M over its smallest singular value, rows and columns scaled
    determinant:  of M itself: a change of sign from step to step means that a singular step lies between
    lagrangian:   margin of D2 D1 L_d alone: zero where L_d is degenerate
    pairing:      margin of B^T K C: zero where it is degenerate, or where omega or D2 chi lose rank
    irregular:    the steps that are not determined, with the reason
    backward_condition, backward_determinant:  of the matrix of the step backward
    irreversible: the steps that a step backward does not undo, because it is not determined
    hypotheses:   assumptions of the equations of a system with entropies, and whether they held on every step
    violated:     for a given pair: the discrete constraints and laws of entropy that do not hold on it
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
    violated: tuple[str, ...] = ()
    matrix: Array | None = None

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
        """The first of the steps that are not determined, and how many more; the first of those that cannot be undone."""
        found, back = self.irregular, self.irreversible
        lines = [f"IRREGULAR: {i}" for i in found[:SHOWN]]
        lines += [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        more = f" (and {len(back) - 1} more)" if len(back) > 1 else ""
        return lines + [f"no step backward: {i}{more}" for i in back[:1]]

    def _parts(self) -> list[Part]:
        sure = [] if self.irregular else ["every step is determined"]
        off = [f"NOT A STEP OF A MOTION: {text}" for text in self.violated]
        return [self.title, Table(("of the steps", ""), self._rows()), *off, *sure, *self._ended()]


def regularity(
    given: Trajectory | DiscreteSystem, *, at: Values | None = None, h: float | None = None,
    parameters: Values | None = None, tolerance: float = TOLERANCE,
) -> Regularity:  # fmt: skip
    """Whether the steps of a run are determined; or one step of a discrete system, at={x.at(0): ..., x.at(1): ...}.

    For a run that ended early the step that failed is examined too, at the solution or, if there is none, at the point
    nearest to one.
    """
    if isinstance(given, DiscreteSystem):
        _check_reactions(given)
        return _at_pair(given, at, h, parameters, tolerance)
    if isinstance(given, Trajectory):
        _check_reactions(given.system)
    if not isinstance(given, Trajectory) or (given.method is not None and given.method.adaptive):
        raise MethodError(
            f"regularity: got {told(given)}. Expected a run with a fixed step, or a discrete system and at={{...}}."
        )
    if given.every != 1:
        raise MethodError(f"regularity: this run records every {given.every} steps. Compute it with every=1.")
    given = given.at_nodes
    discrete = _discrete(given)
    if discrete is None:
        return _of_stages(given, tolerance)
    steps, z = Steps(discrete, given.h), np.concatenate([given.table("position"), given.table("entropy")], axis=2)
    velocity = np.diff(z, axis=1) / given.h
    before = np.concatenate([velocity[:, :1], velocity[:, :-1]], axis=1)
    taken: Array = np.asarray(np.isfinite(velocity).all(axis=2))
    found = [steps.at(z[l, :-1], z[l, 1:], before[l], given.time[:-1], given.parameter_rows[l]) for l in range(len(z))]
    report = _of_run(given, np.stack([margins(*both) for both in found]), taken, tolerance)
    last = [_ended(given, steps, l, tolerance) for l in range(len(z)) if _failed(given, l)]
    M = np.where(taken[..., None, None], np.stack([parts.M for parts, _ in found]), np.nan)
    slopes = np.where(taken[..., None, None], np.stack([parts.slopes for parts, _ in found]), np.nan)
    checked = _hypotheses(discrete, np.concatenate(slopes), tolerance)
    matrix = M if given.lanes is not None else M[0]
    return replace(report, irregular=(*report.irregular, *last), hypotheses=checked, matrix=matrix)


def _check_reactions(system: System | DiscreteSystem) -> None:
    """Steps are examined on lines, with reactions lambda_a omega^a."""
    lines_only(system, "regularity")
    reactions_by_forms(system, "regularity")


def _discrete(run: Trajectory) -> DiscreteSystem | None:
    """The discrete system of a run whose steps are determined by two positions."""
    found = Stepping(run.system, run.method).discrete
    return None if found is None or found.interior else found


def _at_pair(
    system: DiscreteSystem, at: Values | None, h: Any, parameters: Values | None, tolerance: float
) -> Regularity:
    if at is None or h is None or system.interior:
        x = system.coordinates[0]
        raise StartError(
            f"regularity: write regularity(system, at={{{x}.at(0): ..., {x}.at(1): ...}}, h=..., parameters={{...}}) for a "
            f"discrete system without interior positions, or give a run."
        )
    length = step_length(h, "regularity")
    z0, z1, t, row = read_pair(system, at, parameters, "regularity")
    steps = Steps(system, length)
    found, sizes = steps.at(z0, z1, (z1 - z0) / length, t, row)
    if not np.isfinite(found.M).all():
        raise StartError(
            "regularity: the step matrix has no value at this pair: a root, a logarithm or a quotient in it has none. Give "
            "another pair."
        )
    title = f"{system.name}, h = {length:g}: regularity of one step"
    report = _report(title, t, margins(found, sizes)[None], np.array([[True]]), tolerance, False)
    checked = _hypotheses(system, found.slopes, tolerance)
    return replace(report, hypotheses=checked, violated=_violated(steps, z0, z1, t, row), matrix=found.M)


def read_pair(
    system: System | DiscreteSystem, at: Any, parameters: Values | None, role: str
) -> tuple[Array, Array, Array, Array]:
    """Both ends of one step, at={x.at(0): ..., x.at(1): ...}, its time and the parameters; S is the same as S.at(0)."""
    whole = (*system.coordinates, *system.entropies)
    slots, begun = [c.at(k) for k in (0, 1) for c in whole], {S.name: S.at(0) for S in system.entropies}
    if isinstance(at, Mapping):
        at = {begun.get(getattr(key, "name", key), key): value for key, value in at.items()}
    found = by_name(at, [*slots, time], "at")
    values = parameter_values(parameters, system.parameters)
    if arrays := [name for name, v in (found | values).items() if v.ndim]:
        raise StartError(
            f"{role}: it looks at one step, and {', '.join(arrays)} is an array. Give numbers, and call it once for each step."
        )
    if missing := [s.name for s in slots if s.name not in found]:
        example = ", ".join(f"{name}: ..." for name in missing)
        raise StartError(
            f"at: no value for {', '.join(missing)}. Expected both ends of the step; add at={{{example}}}."
        )
    numbers = {name: float(v) for name, v in (found | values).items()}
    if lost := [name for name, v in numbers.items() if not np.isfinite(v)]:
        raise StartError(f"{role}: {lost[0]} = {numbers[lost[0]]}. Give a finite number.")
    z = np.array([numbers[s.name] for s in slots]).reshape(2, 1, -1)
    return z[0], z[1], np.array([numbers.get(TIME, 0.0)]), columns(values, [p.name for p in system.parameters], None)[0]


def _violated(steps: Steps, z0: Array, z1: Array, t: Array, row: Array) -> tuple[str, ...]:
    """The discrete constraints and laws of entropy that do not hold on a pair."""
    s = steps.system
    names = [*(c.at(k).name for k in (0, 1) for c in (*s.coordinates, *s.entropies)), *(p.name for p in s.parameters)]
    values = dict(zip(names, map(float, [*z0[0], *z1[0], *row]), strict=True))
    values |= {TIME: float(t[0]), step.name: steps.h}
    found = [(e, number(e, values), number(magnitude(e), values)) for e in (*s.constraints, *s.entropy_laws)]
    return tuple(f"{s.read(e)} is {v:.6g}, not 0" for e, v, terms in found if not abs(v) <= OFF * max(terms, 1e-300))


def _hypotheses(system: DiscreteSystem, slopes: Array, tolerance: float) -> tuple[tuple[str, bool], ...]:
    """The assumptions of the equations with entropies, on the given steps."""
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


def _of_run(run: Trajectory, table: Array, taken: Array, tolerance: float) -> Regularity:
    by = f", {run.method!r}" if run.method else ""
    count = f"{int(taken.sum())} steps" + (f" in {run.lanes} lanes" if run.lanes is not None else "")
    title = f"{run.system.name}{by}, h = {run.h:g}: regularity of {count}"
    return _report(title, run.time[:-1], table, taken, tolerance, run.lanes is not None, run.begin)


def _report(
    title: str, t: Array, table: Array, taken: Array, tolerance: float, lanes: bool, begin: int = 0
) -> Regularity:
    """The report on a table of margins, shape (lanes, steps, columns), of the steps that were taken."""
    table = np.where(taken[..., None], table, np.nan)
    near = distance(table)

    def listed(mask: Array, margin: Array, why: Callable[[Array], str]) -> tuple[Irregular, ...]:
        return tuple(
            Irregular(begin + int(k) + 1, float(t[k]), int(l) if lanes else None, float(margin[l, k]), why(table[l, k]))
            for l, k in np.argwhere(mask)
        )

    found = listed(taken & ~(near >= tolerance), near, lambda row: reason(row, tolerance))
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


def _failed_step(run: Trajectory, system: DiscreteSystem, lane: int) -> tuple[Array, Array, Array, float, float]:
    """z0, z1, the velocities before, the time and the relative residual of the step that failed.

    z1 is the solution, or the point nearest to one.
    """
    from scipy.optimize import least_squares

    stepmap, q = step_map(system), (*system.coordinates, *system.entropies)
    places = {role: stepmap.layout.places(role, stepmap.state) for role in ("position", "momentum", "entropy")}
    last = int(run.codes[lane, 1]) - run.begin
    state, t = stepmap.state_of(run.records[lane, last]), float(run.time[last])
    names, residual = stepmap.unknowns, [r for b in stepmap.blocks for r in b.residual]
    terms = [magnitude(fast(r)) for r in residual]
    groups = Groups(residual=residual, slope=[e for row in jacobian(residual, names) for e in row], size=terms)
    inputs = (*stepmap.state, *names, TIME)
    compiled = PointMap(pointwise(f"{system.name}, failed step", inputs, stepmap.parameters, groups.outputs))

    def at(x: Array) -> Array:
        row = run.parameter_rows[lane : lane + 1]
        values: Array = compiled(np.concatenate([state, x, [t]])[None], row, h=run.h)[0][0]
        return values

    moved = (state - stepmap.state_of(run.records[lane, max(last - 1, 0)])) / run.h
    guess = seed(system, stepmap, moved[None, places["position"]], names)[0]
    sizes = groups.of(at(guess), "size")
    unit = np.where(np.isfinite(sizes) & (sizes > 0), sizes, 1.0)  # of each equation, in its own units
    found = least_squares(
        lambda x: groups.of(at(x), "residual") / unit, guess,
        jac=lambda x: groups.of(at(x), "slope").reshape(len(names), len(names)) / unit[:, None], x_scale="jac",
        xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=2000,
    )  # fmt: skip
    z0, before = (a[places["position"] + places["entropy"]] for a in (state, moved))
    rates = found.x[[names.index(step_velocity(c).name) for c in q]]
    return z0, z0 + run.h * rates, before, t, float(np.abs(found.fun).max())


def _ended(run: Trajectory, steps: Steps, lane: int, tolerance: float) -> Irregular:
    """The failed step, and why it is not determined."""
    z0, z1, before, t, residual = _failed_step(run, steps.system, lane)
    row = margins(*steps.at(z0[None], z1[None], before[None], np.array([t]), run.parameter_rows[lane]))[0]
    near = float(distance(row))
    # A minimum of the residual that is not a zero has a singular matrix: there two solutions have merged and disappeared.
    why = "the step matrix is regular there" if near >= 1e-4 else reason(row, max(tolerance, 1e-4))
    if residual > 1e-9:
        place = ", ".join(f"{c} = {x:.6g}" for c, x in zip(steps.system.coordinates, z1, strict=False))
        why = f"no solution; nearest to one, at {place} (residual {residual:.1e}), {why}"
    return _end(run, lane, near, why)


def _end(run: Trajectory, lane: int, near: float, why: str) -> Irregular:
    ended, last = Status(int(run.codes[lane, 0])).name, int(run.codes[lane, 1])
    who = None if run.lanes is None else lane
    return Irregular(last + 1, float(run.time[last - run.begin]), who, near, f"ended with {ended}: {why}")


# methods that are not variational


def _of_stages(run: Trajectory, tolerance: float) -> Regularity:
    """The report on a run by a method whose step is solved in blocks."""
    table = stage_conditions(run)
    report = _of_run(run, table, np.asarray(np.isfinite(run.table("position")[:, 1:]).all(axis=2)), tolerance)
    ask = "dalembert.existence(run) says whether there is a next step"
    last = [_end(run, l, np.nan, ask) for l in range(len(table)) if _failed(run, l)]
    return replace(report, irregular=(*report.irregular, *last))
