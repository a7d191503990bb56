"""The motions of several models of constrained motion from one start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import StartError
from ..methods.runge_kutta import DormandPrince8
from ..model.coordinates import Coordinate
from ..theory.models.comparison import CHETAEV, VAKONOMIC, ModelComparison
from .evaluate import evaluate
from .simulate import simulate
from .trajectory import Trajectory
from .values import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ModelMotions:
    """The motions of several models from one start: `runs` by the name of the model.

    multipliers:  the initial multipliers of the vakonomic motion
    """

    runs: Mapping[str, Trajectory]
    multipliers: tuple[float, ...]

    def distance(self, name: str) -> Array:
        """The largest distance of any coordinate from the motion of d'Alembert and Chetaev, at each record that both have."""
        first, other = (self.runs[n].table("position") for n in (CHETAEV, name))
        records = min(first.shape[1], other.shape[1])
        found: Array = np.abs(first[0, :records] - other[0, :records]).max(axis=1)
        return found

    def plot(self, path: str | Path | None = None, along: Sequence[Coordinate] = ()) -> Figure:
        """All motions in one figure: the path in two coordinates (the first two, or `along`), each coordinate over time."""
        from ..draw.model_plots import plot_models

        return plot_models(self, path, along)

    def __repr__(self) -> str:
        lines = [f"{name}: {run!r}" for name, run in self.runs.items()]
        return "\n".join(["<ModelMotions", *(f"  {line}" for line in lines), ">"])


def model_motions(
    compared: ModelComparison,
    start: Mapping[Any, Any],
    h: float,
    until: float,
    parameters: Mapping[Any, Any] | None,
    multipliers: Sequence[float] | None,
    names: Sequence[str] | None,
) -> ModelMotions:
    """Compute them; a model whose motion ends early is kept as far as it came."""
    chosen = list(compared.models) if names is None else [CHETAEV, *(n for n in names if n != CHETAEV)]
    for name in chosen:
        if name not in compared.models:
            why = compared.refused.get(name)
            raise StartError(
                f"compare_models: the model {name!r} does not apply: {why}."
                if why
                else f"compare_models: there is no model {name!r}. Expected some of {', '.join(map(repr, compared.models))}."
            )
    mu = _initial(compared, start, parameters, multipliers)
    runs = {}
    for name in chosen:
        system = compared.models[name]
        held = dict(zip(system.multipliers, mu, strict=True)) if name == VAKONOMIC else {}
        held = {m: x for m, x in held.items() if m in system.principle.carried(system)}
        runs[name] = simulate(
            system, DormandPrince8(), h=h, until=until, start={**start, **held}, parameters=parameters, strict=False
        )
    return ModelMotions(runs, mu)


def _initial(
    compared: ModelComparison,
    start: Mapping[Any, Any],
    parameters: Mapping[Any, Any] | None,
    given: Sequence[float] | None,
) -> tuple[float, ...]:
    """The initial multipliers of the vakonomic motion."""
    system, known = compared.system, compared.lagrangian.multipliers
    if given is not None:
        if len(given) != len(system.multipliers):
            raise StartError(
                f"compare_models: got {len(given)} multipliers for {len(system.multipliers)} constraints. Give one each."
            )
        return tuple(map(float, given))
    if known is None:
        return (0.0,) * len(system.multipliers)
    numbers = evaluate(system, at=start, parameters=parameters)
    place = {q: start[q] for q in system.coordinates} | {q.dot: v for q, v in numbers.velocities.items()}
    values = {**place, **(parameters or {})}
    return tuple(float(e.subs(values)) for e in known)
