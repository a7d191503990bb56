"""The numbers at one state: accelerations, multipliers, momenta, energy, mass matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..display import Part, Shown, Table
from ..errors import StartError
from ..model.bodies.assembly import system_of
from ..model.coordinates import Coordinate, Entropy, Multiplier
from ..model.system import System
from ..theory.motion import state_maps as maps
from ..theory.motion.energies import energy
from ..theory.motion.lagrange import entropy_rates, jacobi_integral, mass_matrix
from ..waist.stepmap import StepMap
from .start import resolve_start
from .values import Array, Values, columns, parameter_values, point_map


@dataclass(frozen=True, repr=False)
class Evaluation(Shown):
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

    def _found(self) -> dict[Any, float]:
        """What is displayed, by symbol or name."""
        found: dict[Any, float] = {q.ddot: a for q, a in self.accelerations.items()}
        held = zip(self.system.multipliers, self.multipliers, strict=True)
        found |= {m: value for m, value in held if m not in self.multiplier_rates}
        found |= {m.dot: rate for m, rate in self.multiplier_rates.items()}
        found |= {S.dot: rate for S, rate in self.entropy_rates.items()}
        return found | {"energy": self.energy}

    def __str__(self) -> str:
        return "\n".join(f"{what} = {value:.12g}" for what, value in self._found().items())

    def _parts(self) -> Sequence[Part]:
        return [Table(("symbol", "value"), [(what, f"{value:.12g}") for what, value in self._found().items()])]


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
    q, point = system.coordinates, np.column_stack([start.state, [start.time]])

    def numbers(stepmap: StepMap) -> tuple[dict[str, float], bool]:
        """The outputs of a map at the state, by name, and whether its equations have a solution."""
        table, status = point_map(stepmap)(point, rows)
        return dict(zip(stepmap.outputs, table[0].tolist(), strict=True)), not status[0]

    motion, determined = numbers(maps.reaction_map(system))
    if not determined:
        raise StartError(
            "evaluate: the accelerations are not determined at this state: the matrix of masses and constraints is singular, "
            "or an expression has no value there."
        )
    forces = [motion[s.name] for s in system.principle.unknowns(system)]
    mass = {f"{a},{b}": m for a, row in zip(q, mass_matrix(system), strict=True) for b, m in zip(q, row, strict=True)}
    warming = zip(system.entropies, system.temperatures, entropy_rates(system), strict=True)
    laws = {name: e for S, T, rate in warming for name, e in ((f"{S}, temperature", T), (S.dot.name, rate))}
    quantities = {"energy": energy(system), "h": jacobi_integral(system), **mass, **laws}
    known = numbers(maps.quantity_map(system, quantities))[0] | numbers(maps.momentum_map(system))[0]
    held = tuple(system.principle.carried(system))
    rates = numbers(maps.flow_map(system))[0] if held else {}
    given = dict(zip(held, start.rest[0, len(system.entropies) :].tolist(), strict=True))
    temperatures = {S: known[f"{S}, temperature"] for S in system.entropies}
    momenta = {c: known[c.momentum.name] for c in q}
    _check_finite({"energy": [known["energy"]], "momentum": momenta.values(), "temperature": temperatures.values()})
    return Evaluation(
        system=system,
        velocities=dict(zip(q, start.second[0].tolist(), strict=True)),
        accelerations={c: motion[c.ddot.name] for c in q},
        multipliers=tuple((dict(zip(system.multipliers, forces, strict=True)) | given).values()),
        multiplier_rates={m: rates[f"{m.name}.rate"] for m in held},
        reactions={c: _reaction(motion, i, forces) for i, c in enumerate(q)},
        momenta=momenta,
        energy=known["energy"],
        jacobi_integral=known["h"],
        mass_matrix=np.array([[known[f"{a},{b}"] for b in q] for a in q]),
        temperatures=temperatures,
        entropy_rates={S: known[S.dot.name] for S in system.entropies},
    )


def _check_finite(found: Mapping[str, Iterable[float]]) -> None:
    """Refuse a state at which a quantity has no finite value."""
    for quantity, values in found.items():
        if not np.isfinite([*values]).all():
            raise StartError(
                f"evaluate: the {quantity} has no finite value: the state is outside the domain of the system."
            )


def _reaction(motion: dict[str, float], i: int, forces: list[float]) -> float:
    """The reaction along a direction, from the outputs of `reaction_map`."""
    parts = (f * motion[f"reaction.{a + 1}.{i}"] for a, f in enumerate(forces))
    return sum(parts, start=motion[f"reaction.0.{i}"])
