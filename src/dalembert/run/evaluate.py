"""The numbers at one state: accelerations, multipliers, momenta, energy, mass matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import StartError
from ..model.bodies.assembly import system_of
from ..model.coordinates import Coordinate, Entropy, Multiplier
from ..model.system import System
from ..theory.motion import state_maps as maps
from ..theory.motion.energies import energy
from ..theory.motion.lagrange import entropy_rates, jacobi_integral, mass_matrix
from .start import resolve_start
from .values import Array, Values, columns, parameter_values, point_map


@dataclass(frozen=True)
class Evaluation:
    """The values of the equations at one state.

    multipliers:       one per constraint; those that are part of the state as they were given
    multiplier_rates:  the rates of these
    """

    system: System
    velocities: dict[Coordinate, float]
    accelerations: dict[Coordinate, float]
    multipliers: tuple[float, ...]
    multiplier_rates: dict[Multiplier, float]
    reactions: dict[Coordinate, float]
    momenta: dict[Coordinate, float]
    energy: float
    jacobi_integral: float
    mass_matrix: Array
    temperatures: dict[Entropy, float]
    entropy_rates: dict[Entropy, float]

    def __str__(self) -> str:
        lines = [f"{q.ddot} = {a:.12g}" for q, a in self.accelerations.items()]
        found = zip(self.system.multipliers, self.multipliers, strict=True)
        lines += [f"{m} = {value:.12g}" for m, value in found if m not in self.multiplier_rates]
        lines += [f"{m.dot} = {rate:.12g}" for m, rate in self.multiplier_rates.items()]
        lines += [f"{S.dot} = {rate:.12g}" for S, rate in self.entropy_rates.items()]
        return "\n".join([*lines, f"energy = {self.energy:.12g}"])


def evaluate(system: System, *, at: Values, parameters: Values | None = None) -> Evaluation:
    """Evaluate the equations at one state, given like the start of a run: {x: 0, x.dot: 1, dalembert.time: 0}.

    Velocities that constraints fix may be left out.
    """
    system = system_of(system, "evaluate", groups=True)
    values = parameter_values(parameters, system.parameters)
    rows = (
        columns(values, [p.name for p in system.parameters], None)
        if all(v.ndim == 0 for v in values.values())
        else None
    )
    if rows is None:
        raise StartError("evaluate: a parameter is an array. Give one number each; arrays make lanes in simulate().")
    start = resolve_start(system, at, values, rows)
    if start.lanes is not None or start.kind != "velocity":
        raise StartError("evaluate: give one state, as position and velocity or position and momentum.")
    q, n = system.coordinates, len(system.coordinates)
    point = np.column_stack([start.state, [start.time]])
    motion, status = point_map(maps.reaction_map(system))(point, rows)
    if status[0]:
        raise StartError(
            "evaluate: the accelerations are not determined at this state: the matrix of masses and constraints is singular, "
            "or an expression has no value there."
        )
    entries = {f"{i},{j}": m for i, row in enumerate(mass_matrix(system)) for j, m in enumerate(row)}
    table = point_map(maps.quantity_map(system, {"energy": energy(system), "h": jacobi_integral(system), **entries}))(
        point, rows
    )[0][0]
    warming = zip(system.entropies, system.temperatures, entropy_rates(system), strict=True)
    laws = {name: e for S, T, rate in warming for name, e in ((f"{S}, temperature", T), (S.dot.name, rate))}
    warm = point_map(maps.quantity_map(system, laws))(point, rows)[0][0].tolist() if laws else []
    momenta = point_map(maps.momentum_map(system))(point, rows)[0][0]
    held, last = tuple(system.principle.carried(system)), n + len(system.constraints)
    rates = point_map(maps.flow_map(system))(point, rows)[0][0, -len(held) :].tolist() if held else []
    given = dict(zip(held, start.rest[0, len(system.entropies) :].tolist(), strict=True))
    found = dict(zip(system.multipliers, motion[0, n:last].tolist(), strict=True)) | given
    rest, *factors = motion[0, last:].reshape(-1, n)
    reactions = motion[0, n:last] @ np.reshape(factors, (last - n, n)) + rest
    for quantity, value in {"energy": table[0], "momentum": momenta, "temperature": warm[::2]}.items():
        if not np.isfinite(value).all():
            raise StartError(
                f"evaluate: the {quantity} has no finite value: the state is outside the domain of the system."
            )
    return Evaluation(
        system=system,
        velocities=dict(zip(q, start.second[0].tolist(), strict=True)),
        accelerations=dict(zip(q, motion[0, :n].tolist(), strict=True)),
        multipliers=tuple(found.values()),
        multiplier_rates=dict(zip(held, rates, strict=True)),
        reactions=dict(zip(q, reactions.tolist(), strict=True)),
        momenta=dict(zip(q, momenta.tolist(), strict=True)),
        energy=float(table[0]),
        jacobi_integral=float(table[1]),
        mass_matrix=table[2:].reshape(n, n),
        temperatures=dict(zip(system.entropies, warm[::2], strict=True)),
        entropy_rates=dict(zip(system.entropies, warm[1::2], strict=True)),
    )
