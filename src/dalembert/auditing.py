"""What should be kept along a motion, what was kept, and how well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from .decide.zero import vanishes
from .discrete.system import DiscreteSystem
from .methods.base import Method
from .model.system import System
from .run.balance import Balance, balance
from .run.deviations import (
    ROUNDING,
    discrete_terms,
    drift,
    entropy_size,
    largest,
    relative,
    rounding,
    term_sizes,
    turns,
)
from .run.trajectory import Trajectory
from .run.values import Array
from .shown import Part, Shown, Table
from .symbolic import fast, magnitude
from .theory.integrals import cyclic_momenta, energy_integral
from .theory.thermo import energy_balance, friction_heat

QUADRATURE = 1e-9
"""Relative deviation up to which a method that keeps the energy to the accuracy of a quadrature has kept it."""

Expected = Literal["exact", "quadrature", "bounded", "approximate", "nothing"]

ENOUGH = 8
"""Turning points of a deviation from which on a drift can be told from part of an oscillation."""


NOTHING = (
    "Nothing is known to be conserved: no coordinate is cyclic in L_d, and there are no constraints. Declare a symmetry with "
    "dalembert.momentum_map(system, {x: -y, y: x})."
)
"""What the audit of a discrete system says that has no row."""


@dataclass(frozen=True)
class Row:
    """One quantity: what theory and method promise, and what happened."""

    quantity: str
    theory: str
    reason: str
    expected: Expected
    promise: str
    """What the method promises, in words."""
    value: float
    """At the first record, of the worst lane."""
    deviation: float
    """Largest deviation, relative to the size of the terms the quantity is made of."""
    drift: float
    """How far the straight line fitted to the deviation moves over the run, same scale."""
    turns: int = ENOUGH
    """How often the deviation turned back: one that hardly did has not been seen to oscillate or to drift."""
    note: str = ""
    """What else there is to say about it."""
    rounding: float = ROUNDING
    """The deviation that counts as rounding in a run of so many steps, same scale."""
    stretches: int = 1
    """Into how many stretches events that act cut the run; deviations are within one of them, here the worst."""

    @property
    def ok(self) -> bool:
        """Whether what was promised was kept, as far as one run can tell."""
        if not np.isfinite(self.deviation):
            return self.expected == "nothing"
        if self.expected == "exact":
            return self.deviation <= self.rounding
        if self.expected == "quadrature":
            return self.deviation <= QUADRATURE
        return self.expected != "bounded" or self.too_short or not self.drifts

    @property
    def too_short(self) -> bool:
        """Whether the run is too short to tell an oscillation from a drift."""
        return self.turns < ENOUGH

    @property
    def drifts(self) -> bool:
        """Whether most of the deviation is a steady drift."""
        return self.deviation > self.rounding and self.drift > 0.5 * self.deviation

    @property
    def verdict(self) -> str:
        """What happened, in a word or two; of a run with events that act, between them."""
        told = self._verdict()
        return f"{told} between events" if self.stretches > 1 and np.isfinite(self.deviation) else told

    def _verdict(self) -> str:
        if self.expected == "nothing":
            return "changes, as it should"
        if not np.isfinite(self.deviation):
            return "not available"
        if self.deviation <= self.rounding:
            return "kept to rounding"
        if self.expected == "exact":
            return "VIOLATED"
        if self.expected == "quadrature":
            return "kept to the quadrature" if self.ok else "TOO FEW NODES for this step"
        if self.expected == "bounded" and self.drifts and self.too_short:
            return "too short to tell"
        return "drifts" if self.drifts else "no drift"


@dataclass(frozen=True)
class SignRow(Row):
    """A quantity that must not be negative; `deviation` is how far below zero it was."""

    least: float = 0.0
    when: float = 0.0
    """The time of the node where it is least, or where the step begins."""
    since: float = np.inf
    """When it was negative for the first time."""
    strict: bool = False
    """Whether zero is too little as well."""

    @property
    def holds(self) -> bool:
        """Whether it was never negative, rounding aside."""
        return self.deviation <= ROUNDING and not (self.strict and self.least <= 0)

    @property
    def ok(self) -> bool:
        """Whether it was never negative; what a method does not promise it cannot break."""
        return self.holds or self.expected != "exact"

    @property
    def verdict(self) -> str:
        """Whether it was ever negative, and where it is least."""
        if not np.isfinite(self.deviation):
            return "not available"
        told = f"least {self.least:.3g} at t = {self.when:g}"
        return told if self.holds else f"NOT POSITIVE from t = {self.since:g}, {told}"


@dataclass(frozen=True, repr=False)
class Audit(Shown):
    """The audit of a run: a table in a terminal and in a notebook; `rows` for programs."""

    title: str
    rows: tuple[Row, ...]
    changes: int = 0
    """How often events changed the motion, after which nothing need be what it was."""

    @property
    def ok(self) -> bool:
        """Whether every promise was kept."""
        return all(row.ok for row in self.rows)

    def _parts(self) -> list[Part]:
        head = ("quantity", "theory", "this method", "at start", "deviation", "verdict")
        rows = [(r.quantity, r.theory, r.promise, f"{r.value:.6g}", f"{r.deviation:.1e}", r.verdict) for r in self.rows]
        why = [f"{r.quantity}: {r.theory}, because {r.reason}." for r in self.rows if r.reason]
        why += [f"{r.quantity}: {r.note}" for r in self.rows if r.note]
        if self.changes:
            why.append(
                f"Events changed the motion {self.changes} times; what theory and method promise holds between them."
            )
        if not rows:
            return [self.title, "", NOTHING]
        return [self.title, "", Table(head, rows), *([""] if why else []), *why]

    def __getitem__(self, quantity: str) -> Row:
        for row in self.rows:
            if row.quantity == quantity:
                return row
        raise KeyError(f"{quantity}: this audit has {', '.join(r.quantity for r in self.rows)}.")


def audit(run: Trajectory, invariants: Mapping[str, Any] | None = None) -> Audit:
    """Audit a run: energy, momenta of cyclic coordinates, constraints, and `invariants` {name: expression}.

    With entropies also the two laws, step by step, and what they assume: temperatures and conductances that are
    positive, friction that opposes the motion.
    """
    lanes = "" if run.lanes is None else f", worst of {run.lanes} lanes"
    by = f"{run.system.name}, {run.method!r}" if run.method else run.system.name
    title = f"{by}, h = {run.h:g}, t = {run.time[0]:g} to {run.time[-1]:g}{lanes}"
    if isinstance(run.system, DiscreteSystem):
        return Audit(title, tuple(_discrete_rows(run, run.system)))
    rows = [*_rows(run, run.system), *_claimed(run, invariants or {}), *_constraint_rows(run, run.system)]
    warm = _thermal_rows(run, run.system) if run.system.entropies and len(run.time) > 1 else ()
    return Audit(title, (*rows, *warm), run.changes)


def _promise(method: Method | None, expected: Expected) -> str:
    if expected == "exact":
        return "kept to rounding"
    if expected == "nothing":
        return "-"
    if expected == "quadrature":
        return "kept to its quadrature"
    if method is None or method.adaptive:
        return "error of the size of the tolerance" if method else "-"
    return f"error stays bounded, O(h^{method.order})" if expected == "bounded" else f"error O(h^{method.order})"


def _measure(
    run: Trajectory, name: str, theory: str, reason: str, expected: Expected, values: Array, sizes: tuple[Array, Array],
) -> Row:  # fmt: skip
    """A row from values of a quantity that is conserved between events: deviations from the first record of a stretch.

    `sizes` are those of its terms that vary and of those that do not.
    """
    values, (size, constant), stretch = np.atleast_2d(values), sizes, run.stretches
    found = []
    for lane, k in sorted({(lane, int(k)) for lane, row in enumerate(stretch) for k in row}):
        within = stretch[lane] == k
        part = values[lane, within]
        error = relative(part - part[0], size[lane, within])
        found.append((largest(error), lane, error, rounding(run, size[lane, within], constant[lane, within])))
    worst, lane, error, limit = max(found, key=lambda f: (np.isfinite(f[0]), f[0]))
    return Row(
        name, theory, reason, expected, _promise(run.method, expected), float(values[lane, 0]), worst, drift(error),
        turns(error), rounding=limit, stretches=int(stretch.max()) + 1,
    )  # fmt: skip


def _zero(run: Trajectory, name: str, theory: str, expected: Expected, values: Array, size: Array) -> Row:
    """A row from values that should be zero all along."""
    values, size = np.atleast_2d(values), np.atleast_2d(size)
    errors = [relative(v, s) for v, s in zip(values, size, strict=True)]
    worst = [largest(e) for e in errors]
    lane = int(np.nanargmax(worst)) if np.isfinite(worst).any() else 0
    promise = _promise(run.method, expected)
    return Row(
        name, theory, "", expected, promise, float(values[lane, 0]), worst[lane], drift(errors[lane]), turns(errors[lane])
    )  # fmt: skip


def _kept(method: Method | None, quantity: Literal["energy", "momentum"], free: bool) -> Expected:
    """What a method promises about a quantity that the theory conserves."""
    if quantity == "momentum":
        return "exact" if method is not None and method.momentum else "approximate"
    kept = method is not None and (method.energy or (method.symplectic and free))
    return "bounded" if kept else "approximate"


def _first_law(method: Method | None) -> Expected:
    return "quadrature" if method is not None and method.first_law else "approximate"


def _rows(run: Trajectory, system: System) -> list[Row]:
    energy = energy_integral(system)
    free = not system.kinematic
    kept = _first_law(run.method) if system.entropies else _kept(run.method, "energy", free)
    expected: Expected = kept if energy.conserved else "nothing"
    said = "conserved" if energy.conserved else "not conserved"
    sizes = term_sizes(run, energy.expression)
    rows = [_measure(run, "energy", said, energy.reason, expected, run.energy, sizes)]
    for p in cyclic_momenta(system):
        values = run.quantity(p.expression)
        promised = _kept(run.method, "momentum", free)
        rows.append(_measure(run, p.name, "conserved", p.reason, promised, values, term_sizes(run, p.expression)))
    return rows


def _claimed(run: Trajectory, invariants: Mapping[str, Any]) -> list[Row]:
    return [
        _measure(run, name, "conserved", "", "approximate", run.quantity(e), term_sizes(run, e))
        for name, e in invariants.items()
    ]


def _constraint_rows(run: Trajectory, system: System) -> list[Row]:
    """Constraints as the method sees them: on each step for variational methods, at the nodes otherwise."""
    rows = []
    steps = run.step_residuals
    keeps: Expected = "exact" if run.method is not None and run.method.constraints else "approximate"
    for a, c in enumerate(system.constraints):
        form = c.expression if c.is_holonomic else c.velocity_form(system.coordinates)
        values = run.quantity(form) if c.is_holonomic or steps is None else steps[..., a]
        size = run.quantity(magnitude(fast(form).expand()))
        rows.append(_zero(run, f"{c.expression} = 0", f"{c.kind} constraint", keeps, values, size))
    return rows


# -------------------- systems with entropies --------------------


def _thermal_rows(run: Trajectory, system: System) -> list[Row]:
    """The two laws, and what the theory assumes where it could not be decided beforehand."""
    known = balance(run)
    return [_first_law_row(run, system, known), *_production_rows(run, system, known), *_hypotheses(run, system)]


def _first_law_row(run: Trajectory, system: System, known: Balance) -> Row:
    defect, energy = np.atleast_2d(known.defect), np.atleast_2d(run.energy)
    # Nothing is known of an interval in which an event acted; what is left over is summed from there on.
    known_defect = np.where(np.diff(run.stretches, axis=1) > 0, 0.0, defect)
    values = np.concatenate([np.zeros((len(defect), 1)), np.cumsum(known_defect, axis=1)], axis=1)
    law = energy_balance(system)
    row = _measure(
        run,
        "first law",
        "energy = start + work + heat",
        "",
        _first_law(run.method),
        values,
        term_sizes(run, law.energy),
    )
    if not np.isfinite(defect).any():
        return replace(row, value=float(energy[0, 0]), note=law.sentence)
    lane, worst = np.unravel_index(np.nanargmax(np.abs(defect)), defect.shape)
    totals = (float(np.nansum(np.atleast_2d(v)[lane])) for v in (known.energy, known.work, known.heat))
    told = "energy {:+.6g}, work {:+.6g}, heat {:+.6g} in all".format(*totals)
    told += f"; {abs(defect[lane, worst]):.1e} left over in the worst step, at t = {run.time[worst]:g}. {law.sentence}"
    return replace(row, value=float(energy[lane, 0]), note=told)


def _production_rows(run: Trajectory, system: System, known: Balance) -> list[Row]:
    """What friction produced in each body, and all that was produced if that is more, step by step."""
    lawful = run.method is not None and run.method.second_law
    expected: Expected = "exact" if lawful else "approximate"
    promise = "never negative" if lawful else "-"
    size = entropy_size(run, system)
    parts = {f"entropy produced in {S}": known.produced[..., a] for a, S in enumerate(system.entropies)}
    if len(parts) > 1:
        parts["entropy produced"] = known.production
    if lawful:  # a promise about steps is judged by steps, not by what is between the nodes
        parts = {name: np.where(known.exact, v, np.nan) for name, v in parts.items()}
    theory = "not negative: second law"
    return [_sign_row(run, name, theory, expected, promise, v, size) for name, v in parts.items()]


def _hypotheses(run: Trajectory, system: System) -> list[Row]:
    """Temperatures, the power of friction and conductances at the nodes; rounding is measured by their size."""
    assumed = {f"temperature of {S}": T for S, T in zip(system.entropies, system.temperatures, strict=True)}
    heats = zip(system.entropies, friction_heat(system), strict=True)
    assumed |= {f"power of friction that warms {S}": P for S, P in heats if P != 0}
    assumed |= {f"conductance of {c.body}, {c.to}": c.conductance for c in system.conduction}
    rows: list[Row] = []
    for name, e in assumed.items():
        values = np.atleast_2d(run.quantity(fast(e)))
        size = np.abs(values).max(axis=1, initial=0.0, where=np.isfinite(values))
        row = _sign_row(run, name, "positive: hypothesis", "exact", "-", values, size)
        rows.append(replace(row, strict=name.startswith("temperature")))
    return rows


def _sign_row(
    run: Trajectory, name: str, theory: str, expected: Expected, promise: str, values: Array, size: Array
) -> SignRow:
    """A row from values that must not be negative, along steps or at nodes."""
    values = np.atleast_2d(values)
    scaled = np.stack([relative(v, np.atleast_1d(s)) for v, s in zip(values, size, strict=True)])
    if not np.isfinite(scaled).any():
        return SignRow(name, theory, "", "nothing", promise, np.nan, np.nan, 0.0, least=np.nan, when=np.nan)
    lane, place = np.unravel_index(np.nanargmin(scaled), scaled.shape)
    below = max(0.0, -float(scaled[lane, place]))
    negative = np.nonzero(scaled < -ROUNDING)[1]
    return SignRow(
        name, theory, "", expected, promise, float(values[lane, 0]), below, 0.0,
        least=float(values[lane, place]), when=float(run.time[place]),
        since=float(run.time[negative.min()]) if len(negative) else float(run.time[place]),
    )  # fmt: skip


def _discrete_rows(run: Trajectory, system: DiscreteSystem) -> list[Row]:
    """Discrete Noether: L_d that does not notice a shift of x keeps the momentum of x; and the discrete constraints."""
    rows, sizes = [], discrete_terms(run, system)
    for i, q in enumerate(system.coordinates):
        shift = system.lagrangian.diff(fast(q.at(0))) + system.lagrangian.diff(fast(q.at(1)))
        acting = [system.force_minus[i], system.force_plus[i], *(w[i] for w in system.variations)]
        if vanishes(shift.expand()) and all(vanishes(f) for f in acting):
            p, name = run[q.momentum], f"momentum of {q}"
            rows.append(
                _measure(run, name, "conserved", f"{q} is cyclic", "exact", p, (sizes[..., i], 0 * sizes[..., i]))
            )
    steps = run.step_residuals
    for a, c in enumerate(system.constraints):
        assert steps is not None
        size = sizes[..., len(system.coordinates) + a]
        rows.append(_zero(run, f"{system.read(c)} = 0", "discrete constraint", "exact", steps[..., a], size))
    return rows
