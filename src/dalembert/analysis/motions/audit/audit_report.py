"""The audit of a run: what theory and method promise about each quantity, and the measured result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ....decide.zero import vanishes
from ....discrete.equations import carried
from ....discrete.system import DiscreteSystem
from ....engine.run_options import EXACT
from ....errors import ModelError, told
from ....methods.base import Method
from ....model.space import lines_only
from ....model.system import System
from ....run.extent import failed_lanes, has_steps, shortfall, span
from ....run.trajectory import Trajectory
from ....symbolic import fast, magnitude
from ....theory.conserved.energy_and_momenta import Integral, by_forms, cyclic_momenta, energy_integral
from ....theory.motion.energies import meaning
from ..deviations import discrete_terms, term_sizes, velocity_rounding
from .audit_rows import Audit, Expected, Row
from .found_integrals import Found, found_integrals
from .heat_rows import thermal_rows
from .measured_rows import first_law, measured, vanishing

LONGEST = 300
"""Characters of a formula that are shown."""


def audit(run: Trajectory, invariants: Mapping[str, Any] | None = None, seconds: float = 3.0) -> Audit:
    """Audit a run: energy, momenta, other integrals of `first_integrals`, constraints, `invariants` {name: expression}.

    seconds:  how long to search for first integrals; 0 for energy and momenta of cyclic coordinates only

    With entropies also the two laws, step by step, and their assumptions: temperatures and conductances that are
    positive, friction that opposes the motion. Of a run that failed, the computed part is audited.
    """
    if not isinstance(run, Trajectory):
        raise ModelError(f"audit: got {told(run)} ({type(run).__name__}). Expected a run: audit(simulate(...)).")
    lanes = "" if run.lanes is None else f", worst of {run.lanes} lanes"
    by = f"{run.system.name}, {run.method!r}" if run.method else run.system.name
    title = f"{by}, h = {run.h:g}, {span(run)}{lanes}"
    computed, failed = shortfall(run), bool(failed_lanes(run))
    if (own := run.system.discrete) is not None:
        lines_only(own, "audit")
        return Audit(title, tuple(_discrete_rows(run, own)), 0, computed, failed, _solved(run))
    system = run.system.continuous
    assert system is not None
    searched = found_integrals(system, seconds)
    rows = [*_rows(run, system, searched), *_claimed(run, invariants or {})]
    rows += [*_found_rows(run, searched, rows, invariants or {}), *_constraint_rows(run, system)]
    whole = run.at_nodes
    if system.entropies and has_steps(whole):
        rows += thermal_rows(whole, system)
    remark = " ".join(filter(None, (searched.remark, _solved(run))))
    return Audit(title, tuple(rows), run.changes, computed, failed, remark)


def _solved(run: Trajectory) -> str:
    """A remark on the effect of the tolerance on the verdicts; empty if steps were solved to rounding error."""
    if run.search.tolerance <= EXACT.tolerance:
        return ""
    return (
        f"Steps were solved to a relative residual of {run.search.tolerance:g} (tolerance=): promises of the method hold up "
        f"to what that leaves."
    )


def _kept(method: Method | None, quantity: Literal["energy", "momentum"], free: bool) -> Expected:
    """What a method promises about a quantity that the theory conserves."""
    if quantity == "momentum":
        return "exact" if method is not None and method.momentum else "approximate"
    kept = method is not None and (method.energy or (method.symplectic and free))
    return "bounded" if kept else "approximate"


def _row(run: Trajectory, i: Integral, expected: Expected) -> Row:
    said = "conserved" if i.conserved else "not conserved"
    values, sizes = run.quantity(i.expression), term_sizes(run, fast(i.expression))
    return measured(run, i.name, said, i.reason, expected if i.conserved else "nothing", values, sizes)


def _rows(run: Trajectory, system: System, searched: Found) -> list[Row]:
    """The Jacobi integral, called energy where they agree; the energy, where it differs; cyclic momenta."""
    free = all(system.constraints[a].is_holonomic for a in by_forms(system))
    kept = first_law(run.method) if system.entropies else _kept(run.method, "energy", free)
    jacobi = searched.get(meaning(system).name) or energy_integral(system)
    rows = [_row(run, jacobi, kept)]
    if not vanishes(meaning(system).lacking) and (energy := searched.get("energy")):
        rows.append(_row(run, energy, "approximate"))
    return rows + [_row(run, p, _kept(run.method, "momentum", free)) for p in cyclic_momenta(system)]


def _claimed(run: Trajectory, invariants: Mapping[str, Any]) -> list[Row]:
    return [
        measured(run, name, "conserved", "", "approximate", run.quantity(e), term_sizes(run, e))
        for name, e in invariants.items()
    ]


def _found_rows(run: Trajectory, searched: Found, rows: list[Row], claimed: Mapping[str, Any]) -> list[Row]:
    """Further integrals that the search found; a method may conserve them, but makes no promise about them."""
    listed, known = {row.quantity for row in rows}, [fast(e) for e in claimed.values()]
    new = [i for i in searched.integrals if i.conserved and i.name not in listed]
    new = [i for i in new if not any(vanishes(fast(i.expression) - e) for e in known)]
    return [replace(_row(run, i, "approximate"), note=_formula(i)) for i in new]


def _formula(i: Integral) -> str:
    """The expression of an integral, where its name does not identify it."""
    text = str(i.expression)
    return (
        text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters; first_integrals has them all)"
    )


def _constraint_rows(run: Trajectory, system: System) -> list[Row]:
    """Constraints as the method imposes them: on each step for variational methods, at the nodes otherwise."""
    rows = []
    steps = run.step_residuals
    keeps: Expected = "exact" if run.method is not None and run.method.constraints else "approximate"
    for a, c in enumerate(system.constraints):
        form = c.expression if c.is_holonomic else c.velocity_form(system.coordinates)
        values = run.quantity(form) if c.is_holonomic or steps is None else steps[..., a]
        size = run.quantity(magnitude(fast(form).expand()))
        rounded = velocity_rounding(run, c.coefficients) if not c.is_holonomic else None
        rows.append(vanishing(run, f"{c.expression} = 0", f"{c.kind} constraint", keeps, values, size, rounded))
    return rows


def _discrete_rows(run: Trajectory, system: DiscreteSystem) -> list[Row]:
    """Discrete Noether: L_d invariant under shifts of x conserves the momentum of x; and the discrete constraints."""
    rows, (momenta, residuals) = [], discrete_terms(run, system)
    held = carried(system)
    forms = [w for m, w in zip(system.multipliers, system.variations, strict=True) if m not in held]
    for i, q in enumerate(system.coordinates):
        shift = system.lagrangian.diff(fast(q.at(0))) + system.lagrangian.diff(fast(q.at(1)))
        acting = [system.force_minus[i], system.force_plus[i], *(w[i] for w in forms)]
        if vanishes(shift.expand()) and all(vanishes(f) for f in acting):
            p, name = run[q.momentum], f"momentum of {q}"
            size = np.asarray(momenta[..., i])
            rows.append(measured(run, name, "conserved", f"{q} is cyclic", "exact", p, (size, 0 * size)))
    steps = run.step_residuals
    for a, c in enumerate(system.constraints):
        assert steps is not None
        size, name = residuals[..., a], f"{system.read(c)} = 0"
        rows.append(vanishing(run, name, "discrete constraint", "exact", steps[..., a], size))
    return rows
