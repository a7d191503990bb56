"""The modified Hamiltonian along a run: the energy that a symplectic method conserves, and how accurately."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...decide.zero import vanishes
from ...display import Part, Shown, Table
from ...errors import ModelError, told
from ...run.trajectory import Trajectory
from ...run.values import Array
from ...symbolic import fast
from ...theory.backward_error.modified import modified_hamiltonian
from ...waist.stepmap import TIME, pointwise


@dataclass(frozen=True)
class EnergyRow:
    """One truncation of the modified Hamiltonian along a run."""

    power: int
    """The highest power of h that it contains."""
    deviation: float
    """Its largest deviation from its first value."""
    drift: float
    """The change of its mean from the first quarter of the run to the last."""


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
    if not isinstance(run, Trajectory):
        raise ModelError(f"energy_report: got {told(run)}. Expected a run: energy_report(simulate(...)).")
    run.needs_equal_steps("energy_report")
    if (system := run.system.continuous) is None or run.method is None:
        raise ModelError(
            "energy_report: a discrete system given by its L_d alone has no Hamiltonian. Give a run of a System."
        )
    if not vanishes(fast(system.lagrangian).diff(fast(TIME))):
        raise ModelError(f"energy_report: {system.name!r} depends on time, so its energy is not conserved.")
    modified = modified_hamiltonian(system, run.method, order)
    q = system.coordinates
    outputs = {f"term.{j}": e for j, e in enumerate(modified.series)}
    inputs = [*(c.name for c in q), *(c.momentum.name for c in q), TIME]
    stepmap = pointwise(f"{system.name}, modified energy", inputs, [p.name for p in system.parameters], outputs)
    terms = run.at_points(stepmap, run.carried_momenta)
    rows, total = [], np.zeros(terms.shape[:2])
    for j, e in enumerate(modified.series):
        total = total + run.h**j * terms[..., j]
        if e != 0:
            rows.append(_energy_row(j, total))
    title = f"{system.name}, {run.method!r}, h = {run.h:g}, t = {run.time[0]:g} to {run.time[-1]:g}"
    return EnergyReport(title, float(terms[0, 0, 0]), tuple(rows))


def _energy_row(power: int, values: Array) -> EnergyRow:
    error = values - values[:, :1]
    quarter = max(values.shape[1] // 4, 1)
    drift = np.abs(np.nanmean(error[:, -quarter:], axis=1) - np.nanmean(error[:, :quarter], axis=1))
    return EnergyRow(power, float(np.nanmax(np.abs(error))), float(np.nanmax(drift)))
