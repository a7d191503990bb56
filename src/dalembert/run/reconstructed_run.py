"""The run of a system that was reduced, from positions that were reconstructed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from ..decide.matrix_scaling import balance
from ..discrete.momenta_of_positions import momenta_of_positions
from ..discrete.system import DiscreteSystem
from ..errors import StartError
from ..model.group_coordinate import GroupCoordinate
from ..model.space import differences, factors, numbers
from ..model.system import System
from ..numbers import name_of, real
from ..symbolic import slow
from ..theory.reduction.group_and_shape import function_of
from ..theory.reduction.reconstruction import Reconstruction
from ..theory.reduction.reduced import ReducedSystem
from .trajectory import Trajectory
from .values import Array, point_map


def run_of_positions(
    system: DiscreteSystem, run: Trajectory, positions: Mapping[Any, Array], parameters: Mapping[Any, Any]
) -> Trajectory:
    """A run of a discrete system with the times of another, from its positions at all nodes.

    Momenta, multipliers and constraints follow from the positions: at a node p- = p+ + h lambda_a omega^a. Where the motion
    begins no step ends, and the reaction is zero; where it ends none begins, and multipliers are NaN there. Of parameters
    that are not known the momenta are NaN.
    """
    q, lanes = system.coordinates, len(run.records)
    held = _held(system, positions, (lanes, len(run.time)))
    values = _parameters(system, run, parameters)
    columns = (
        *numbers(q), *(c.momentum.name for c in q), *(m.name for m in system.multipliers),
        *(f"constraint.{a + 1}" for a in range(len(system.constraints))),
    )  # fmt: skip
    records = np.concatenate([held, *_from_positions(system, run, held, values)], axis=-1)
    return replace(
        run, system=system, parameters=values, records=records, columns=columns, carry=records[:, -1].copy(), reductions={},
        _cache={},
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ReconstructedRun(Trajectory):
    """A run of a system that was reduced, with the phases of its group elements: see `Reconstruction`."""

    phases: Reconstruction | None = None

    @property
    def times(self) -> Array:
        """The times, as in a `Reconstruction`."""
        return self.time

    @property
    def group(self) -> Array:
        """The group elements g with q = Phi(g, s(r)), one row per time."""
        return np.asarray(self._known.group)

    @property
    def geometric(self) -> Array:
        """Those of the horizontal motion over the same shapes, from the same place."""
        return np.asarray(self._known.geometric)

    @property
    def dynamic(self) -> Array:
        """The group elements times the inverse of the geometric ones: what the momentum adds."""
        return np.asarray(self._known.dynamic)

    @property
    def _known(self) -> Reconstruction:
        assert self.phases is not None
        return self.phases

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n{self._known}"


def run_with_phases(
    reduced: ReducedSystem, run: Trajectory, found: Reconstruction, parameters: Mapping[Any, Any]
) -> ReconstructedRun:
    """The run of a system from one of its reduced motion and the coordinates reconstructed from it."""
    system, q = reduced.system, reduced.system.coordinates
    values = _parameters(system, run, parameters)
    known = [*reduced.symmetry.elements, *reduced.shape, *(r.dot for r in reduced.shape), *reduced.velocities.values()]
    table = [*found.group.T, *(run[s] for s in known[reduced.symmetry.dimension :])]
    named = {p: float(np.ravel(values[p.name])[0]) for p in system.parameters}
    speeds = function_of(known, [slow(e, [*known, *system.parameters]) for e in reduced.speeds], named)(*table)
    records = np.concatenate([found.held[None], speeds.T[None]], axis=-1)
    kept = {f.name: getattr(run, f.name) for f in fields(Trajectory)}
    kept |= {"system": system, "parameters": values, "records": records, "carry": records[:, -1].copy()}
    kept |= {"columns": (*numbers(q), *(c.dot.name for c in q)), "events": (), "watched": None, "renewed": ()}
    return ReconstructedRun(**kept | {"reductions": {}, "_cache": {}}, phases=found)


def _held(system: System | DiscreteSystem, positions: Mapping[Any, Array], shape: tuple[int, int]) -> Array:
    """The numbers that hold the positions: (lanes, times, numbers)."""
    found = []
    for f in factors(system.coordinates):
        if isinstance(f, GroupCoordinate):
            matrices = np.broadcast_to(positions[f], (*shape, f.size, f.size))
            found.append(f.numbers_of(matrices))
        else:
            found.append(np.broadcast_to(positions[f.coordinate], shape)[..., None])
    return np.concatenate(found, axis=-1)


def _parameters(system: System | DiscreteSystem, run: Trajectory, given: Mapping[Any, Any]) -> dict[str, Array]:
    """The parameters of the system: those of the run, and further ones."""
    more = {name_of(p): np.asarray(real(x, name_of(p), StartError)) for p, x in given.items()}
    known = {**run.parameters, **more}
    return {p.name: known.get(p.name, np.asarray(np.nan)) for p in system.parameters}


def _from_positions(system: DiscreteSystem, run: Trajectory, held: Array, values: Mapping[str, Array]) -> list[Array]:
    """Momenta, multipliers and constraints at the nodes."""
    n, m, (lanes, times, _) = len(system.coordinates), len(system.constraints), held.shape
    rates = differences(system.coordinates, held[:, :-1], held[:, 1:]) / run.h
    clock = np.broadcast_to(run.time[None, :-1, None], (lanes, times - 1, 1))
    points = np.concatenate([held[:, :-1], rates, np.full_like(clock, run.h), clock], axis=-1)
    rows = np.column_stack(
        [np.broadcast_to(values[p.name], (lanes,)) for p in system.parameters] or [np.zeros((lanes, 0))]
    )
    flat = points.reshape(-1, points.shape[-1])
    stepmap = momenta_of_positions(system)
    table = point_map(stepmap)(flat, np.repeat(rows, times - 1, axis=0))[0].reshape(lanes, times - 1, -1)

    def named(*names: str) -> Array:
        return np.asarray(table[..., stepmap.columns(names)])

    leaving, arriving = (named(*(f"{part} {i}" for i in range(n))) for part in ("leaving", "arriving"))
    forms = named(*(f"reaction {a} {i}" for i in range(n) for a in range(m))).reshape(lanes, times - 1, n, m)
    momenta = np.concatenate([leaving[:, :1], arriving], axis=1)
    multipliers, constraints = (np.full((lanes, times, m), np.nan) for _ in range(2))
    constraints[:, :-1] = named(*(f"constraint {a}" for a in range(m)))
    multipliers[:, :-1] = _multipliers(forms, leaving - momenta[:, :-1])
    return [momenta, multipliers, constraints]


def _multipliers(forms: Array, impulse: Array) -> Array:
    """lambda with h lambda_a omega^a = impulse: forms (..., n, m), impulse (..., n)."""
    if forms.shape[-1] == 0:
        return np.zeros((*impulse.shape[:-1], 0))
    known = np.isfinite(forms).all(axis=(-1, -2)) & np.isfinite(impulse).all(axis=-1)
    found = np.full((*impulse.shape[:-1], forms.shape[-1]), np.nan)
    rows, columns = balance(forms[known])
    inverse = np.linalg.pinv(forms[known] * rows[:, :, None] * columns[:, None, :])
    found[known] = columns * np.einsum("kan,kn->ka", inverse, rows * impulse[known])
    return found
