"""The change of dq ^ dp along a motion: symplectic motions preserve it, friction contracts it.

The exact derivative T of every step, by the implicit function theorem, pulls the two-form back:  T^t J T.  At fixed
entropies its top power is multiplied by det d(q1, p1)/d(q0, p0), so areas of phase space shrink by that factor; the volume
of the whole state space (q, p, S) is multiplied by det T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...display import Part, Shown, Table
from ...errors import ModelError
from ...methods.stepping import Stepping
from ...model.principle import reactions_by_forms
from ...model.space import slopes
from ...model.system import System
from ...model.tangent_space import placed, symplectic_form
from ...run.trajectory import Trajectory
from ...run.values import Array
from ...symbolic import gradient, jacobian
from ...theory.motion import state_maps as maps
from ...waist.layout import Groups
from .tangents import check_steps, interval_tangents


@dataclass(frozen=True, repr=False, eq=False)
class Contraction(Shown):
    """Derivatives of the steps between records in (q, p, S); with lanes there is a leading axis of lanes.

    tangent:  d(q, p, S)/d(q, p, S) over each interval, the last two axes

    On groups the form is -d(p_k theta^k), with theta^k dual to the frame of the body, and changes of a point g are g^-1 dg.
    """

    run: Trajectory
    tangent: Array

    @property
    def _n(self) -> int:
        return 2 * len(self.run.system.coordinates)

    @property
    def factor(self) -> Array:
        """det d(q1, p1)/d(q0, p0) at fixed entropies: the factor of (dq ^ dp)^n over each interval."""
        factor: Array = np.linalg.det(self.tangent[..., : self._n, : self._n])
        return factor

    @property
    def volume(self) -> Array:
        """The factor of the volume of the state space (q, p, S) over each interval."""
        volume: Array = np.linalg.det(self.tangent)
        return volume

    @property
    def form(self) -> Array:
        """dq ^ dp at the end of each interval, pulled back to its beginning: a matrix in dq, dp, dS."""
        return np.swapaxes(self._ends, -1, -2) @ self._forms[..., 1:, :, :] @ self._ends

    @property
    def defect(self) -> Array:
        """Distance of the form at the end, pulled back, from that at the beginning: zero for a symplectic step.

        Entries are those of changes dq, dp, dS in `phase_scales`, of which dq ^ dp has the entry one, so that no unit matters.
        """
        grown = np.zeros_like(self.form)
        grown[..., : self._n, : self._n] = self._forms[..., :-1, :, :]
        lanes = self.tangent.reshape(-1, *self.tangent.shape[-3:])
        units = phase_scales(lanes, phase_groups(self.run), self.run).reshape(*self.tangent.shape[:-3], 1, -1)
        defect: Array = np.abs((self.form - grown) * units[..., :, None] * units[..., None, :]).max(axis=(-2, -1))
        return defect

    @property
    def whole(self) -> Array:
        """d(end)/d(start) of the whole run."""
        total = np.broadcast_to(np.eye(self.tangent.shape[-1]), (*self.tangent.shape[:-3], *self.tangent.shape[-2:]))
        for k in range(self.tangent.shape[-3]):
            total = self.tangent[..., k, :, :] @ total
        return total

    @property
    def _ends(self) -> Array:
        return self.tangent[..., : self._n, :]

    @property
    def _forms(self) -> Array:
        """The form at every record, in dq, dp."""
        return symplectic_form(self.run.system.coordinates, self.run.by_lane(self.run.table("momentum")))

    def _parts(self) -> list[Part]:
        steps = {"(dq ^ dp)^n at fixed entropies": self.factor, "volume of (q, p, S)": self.volume}
        if not self.run.system.entropies:
            steps = {"(dq ^ dp)^n": self.factor}
        rows = [(name, f"{np.nanmin(v):.12g}", f"{np.nanmax(v):.12g}") for name, v in steps.items()]
        title = f"{self.run.system.name}, {self.run.method!r}, h = {self.run.h:g}: factors per {self._interval}"
        change = f"dq ^ dp, pulled back over that, differs from dq ^ dp by up to {np.nanmax(self.defect):.3g}."
        return [title, Table(("multiplied by", "least", "largest"), rows), change]

    @property
    def _interval(self) -> str:
        return "step" if self.run.every == 1 else f"{self.run.every} steps"


def contraction(run: Trajectory) -> Contraction:
    """The change of dq ^ dp in each step of a run, by its exact derivative; see `Contraction`."""
    check_phase_space(run, "contraction")
    q = run.system.coordinates
    if len(placed(q)) < len(q):
        raise ModelError(
            f"contraction: {run.system.name!r} has velocities of a group without positions beside them, so that there is no "
            f"form dq ^ dp. Ask for the derivatives of its states: tangents(run)."
        )
    run = run.at_nodes
    return Contraction(run, run.by_lane(phase_tangents(run, "contraction")))


def phase_tangents(run: Trajectory, role: str) -> Array:
    """d(q, p, S)/d(q, p, S) over every interval between records, in every lane."""
    system, stepping = run.system, Stepping(run.system, run.method)
    found = interval_tangents(run, stepping.step_map(role))
    if stepping.carries == "velocity":
        assert isinstance(system, System)
        chart = _legendre(run, system)
        found = chart[:, 1:] @ found @ np.linalg.inv(chart[:, :-1])
    return found


def phase_groups(run: Trajectory) -> Groups:
    """The columns of positions, momenta and entropies in the derivatives of a run."""
    space = run.system.space
    return Groups(position=placed(space.coordinates), momentum=space.coordinates, entropy=space.entropies)


def phase_scales(tangents: Array, parts: Groups, run: Trajectory) -> Array:
    """For each lane the numbers in which changes of q, p, S are measured: sqrt(dq/dp), its reciprocal, and that of S.

    dq/dp is where dq'/dp and dp'/dq have the same size, so that it has the unit of q/p: with others units of the system
    all scaled coordinates and momenta change by one common factor. Where one of them is zero, as for a free particle, dq/dp
    is that of the whole motion. An entropy is scaled so that it changes the others as much as these change it. A momentum
    without a position is measured by its own size.
    """
    q, p, S = (np.arange(tangents.shape[-1])[parts.columns(name)] for name in ("position", "momentum", "entropy"))
    coordinates = run.system.coordinates
    paired = np.isin([c.name for c in coordinates], [c.name for c in placed(coordinates)])
    alone, p = p[~paired], p[paired]
    count, size = tangents.shape[1], np.nan_to_num(np.abs(tangents))
    scales = np.ones((len(tangents), tangents.shape[-1]))
    first, second = (size[:, :, a, b].mean(axis=1) for a, b in ((q, p), (p, q)))
    ratio = _ratio(first, second, count)
    scales[:, q], scales[:, p] = ratio**0.5, ratio**-0.5
    size = size * scales[:, None, None, :] / scales[:, None, :, None]
    moving = np.concatenate([q, p])
    for k in S:
        given, taken = (size[:, :, a, b].max(axis=-1).mean(axis=1) for a, b in ((k, moving), (moving, k)))
        scales[:, k] = _ratio(given, taken, count)
    sizes = np.abs(run.table("momentum")[..., ~paired]).max(axis=1)
    scales[:, alone] = np.where(sizes > 0, sizes, 1.0)
    return scales


def _ratio(first: Array, second: Array, count: int) -> Array:
    """sqrt(first/second), at most `count` times the first, at least one over `count` times the second; 1 if both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(second > 0, 1 / (count * second), np.where(first > 0, 0.0, 1.0))
        most = np.where(first > 0, count * first, np.where(second > 0, np.inf, 1.0))
        known: Array = np.where((first > 0) & (second > 0), np.sqrt(first / second), np.where(first > 0, most, least))
    return np.clip(known, np.minimum(least, most), most)


def _legendre(run: Trajectory, system: System) -> Array:
    """d(q, p, S)/d(q, v, S) at every record: states of methods that carry velocities are converted to momenta."""
    known = [*system.coordinates, *system.velocities, *system.entropies]
    moving = [known.index(v) for v in system.velocities]
    momenta = gradient(system.lagrangian, system.velocities)
    others = jacobian(momenta, [*system.velocities, *system.entropies])
    rows = [[*slopes(p, system.coordinates), *row] for p, row in zip(momenta, others, strict=True)]
    entries = {f"{i},{j}": e for i, row in enumerate(rows) for j, e in enumerate(row)}
    compiled, n, size = maps.quantity_map(system, entries), len(system.coordinates), len(known)
    chart = np.broadcast_to(np.eye(size), (*run.records.shape[:2], size, size)).copy()
    values = run.at_points(compiled, run.table("velocity"))
    chart[..., moving, :] = values.reshape(*values.shape[:2], n, size)
    return chart


def check_phase_space(run: Trajectory, role: str) -> None:
    """Refuse systems whose phase space is not (q, p, S), and runs without known steps."""
    if isinstance(run, Trajectory):
        reactions_by_forms(run.system, role)
    if isinstance(run, Trajectory) and run.system.constraints:
        raise ModelError(
            f"{role}: {run.system.name!r} has constraints, so that (q, p) is not its phase space. Write it in free "
            f"coordinates."
        )
    check_steps(run, role)
