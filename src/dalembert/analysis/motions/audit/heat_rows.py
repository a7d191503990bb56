"""The two laws along a run of a system with entropies, and the assumptions of the theory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sympy import Expr

from ....model.system import System
from ....run.trajectory import Trajectory
from ....run.values import Array
from ....symbolic import fast
from ....theory.conserved.two_laws import energy_balance, friction_heat
from ..balances import Balance, balance
from ..deviations import ROUNDING, entropy_size, relative, term_sizes
from .audit_rows import Expected, Row, SignRow
from .measured_rows import first_law, measured


def thermal_rows(run: Trajectory, system: System) -> list[Row]:
    """The two laws, and the assumptions of the theory that could not be decided beforehand."""
    known = balance(run)
    return [_first_law_row(run, system, known), *_production_rows(run, system, known), *_hypotheses(run, system)]


def _first_law_row(run: Trajectory, system: System, known: Balance) -> Row:
    defect, energy = np.atleast_2d(known.defect), np.atleast_2d(run.energy)
    # The balance of an interval in which an event acted is unknown; the sum of defects skips it.
    known_defect = np.where(np.diff(run.stretches, axis=1) > 0, 0.0, defect)
    values = np.concatenate([np.zeros((len(defect), 1)), np.cumsum(known_defect, axis=1)], axis=1)
    law = energy_balance(system)
    row = measured(
        run,
        "first law",
        "energy = start + work + heat",
        "",
        first_law(run.method),
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
    """The entropy produced by friction in each body, and the total production if it is more, step by step."""
    lawful = run.method is not None and run.method.second_law
    expected: Expected = "exact" if lawful else "approximate"
    promise = "never negative" if lawful else "-"
    size = entropy_size(run, system)
    parts = {f"entropy produced in {S}": known.produced[..., a] for a, S in enumerate(system.entropies)}
    if len(parts) > 1:
        parts["entropy produced"] = known.production
    if lawful:  # a promise about steps is checked on steps, not by integrals between nodes
        parts = {name: np.where(known.exact, v, np.nan) for name, v in parts.items()}
    theory = "not negative: second law"
    return [_sign_row(run, name, theory, expected, promise, v, size) for name, v in parts.items()]


def _hypotheses(run: Trajectory, system: System) -> list[Row]:
    """Temperatures, the power of friction and conductances at the nodes; rounding is measured by their size."""
    temperatures = zip(system.entropies, system.temperatures, strict=True)
    heats = zip(system.entropies, friction_heat(system), strict=True)
    assumed: list[tuple[str, Expr, bool]] = [(f"temperature of {S}", T, True) for S, T in temperatures]
    assumed += [(f"power of friction that warms {S}", P, False) for S, P in heats if P != 0]
    assumed += [(f"conductance of {c.body}, {c.to}", c.conductance, False) for c in system.conduction]
    rows: list[Row] = []
    for name, e, strict in assumed:
        values = np.atleast_2d(run.quantity(fast(e)))
        size = np.abs(values).max(axis=1, initial=0.0, where=np.isfinite(values))
        row = _sign_row(run, name, "positive: hypothesis", "exact", "-", values, size)
        rows.append(replace(row, strict=strict))
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
