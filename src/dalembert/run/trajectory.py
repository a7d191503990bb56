"""The result of a simulation: plain arrays, everything else computed from them on demand."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Symbol

from ..discrete.system import DiscreteSystem
from ..engine.status import Status
from ..errors import ModelError, ModelWarning
from ..model import checks
from ..model.coordinates import multiplier, time
from ..model.group import Entry, Group
from ..model.space import factors, position_symbols
from ..model.system import System
from ..theory.motion import state_maps as maps
from .recorded_run import RecordedRun
from .values import Array

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


POINTS = 1_000_000
"""Approximate number of points to which a map is applied in one call."""


@dataclass(frozen=True, eq=False)
class Trajectory(RecordedRun):
    """A computed motion. `run.x` or `run[x]`, `run[x.dot]`, `run[x.momentum]` are arrays over time.

    `run["x"]` is always the coordinate. `run.x` is the same, unless every run has an attribute of that name (`run.h`,
    `run.energy`): then it is that attribute, with a ModelWarning.

    With lanes every array has a leading axis of lanes. Beyond the last valid step of a lane there is NaN. If events have
    stopped every lane, the last record is the latest of these events: `run.time[-1]` is its time, and lanes that stopped
    before it have NaN there. `end_times` has the end of each lane, `events` the state of each at its event.
    """

    def __post_init__(self) -> None:
        names = {q.owner for q in (*self.system.coordinates, *self.system.entropies)}
        object.__setattr__(self, "_shared", frozenset(n for n in names if n in self.__dict__ or hasattr(type(self), n)))

    def _stated(self, lacking: str) -> System:
        """The system, if it was stated in continuous time; a discrete one lacks the requested quantity."""
        if isinstance(self.system, DiscreteSystem):
            raise ModelError(f"a discrete system {lacking}.")
        return self.system

    def quantity(self, expression: Any) -> Array:
        """Any expression in coordinates, velocities, parameters and time, along the motion."""
        import symengine

        system = self._stated("has no velocities; compute from its positions and momenta instead")
        places = position_symbols(system.coordinates)
        known = {*places, *system.velocities, *system.entropies, *system.parameters, *system.principle.carried(system)}
        if isinstance(expression, str):
            if expression not in {time.name, *(s.name for s in known)}:
                raise ModelError(
                    f"quantity: got the text {expression!r}. Expected an expression, without quotes: "
                    f"run.quantity({expression}); in quotes, only the name of a symbol, such as "
                    f"{places[0].name!r}."
                )
        elif not isinstance(expression, symengine.Basic):  # these come from the library itself
            expression = checks.symbols(checks.expression(expression, "quantity"), known, "quantity")
        table = self.at_points(maps.quantity_map(system, {"quantity": expression}), self.table("velocity"))
        moving = np.isfinite(self.table("position")).all(axis=-1)  # a branch may be defined where there is no motion
        return self.by_lane(np.where(moving, table[..., 0], np.nan))

    @property
    def energy(self) -> Array:
        """The energy T + V along the motion; p.v - L where the Lagrangian was given as a whole."""
        if "energy" not in self._cache:
            system = self._stated("given by its discrete Lagrangian alone has no energy")
            table = self.at_points(maps.energy_map(system), self.table("velocity"))[..., 0]
            self._cache["energy"] = self.by_lane(
                np.where(np.isfinite(self.table("position")).all(axis=-1), table, np.nan)
            )
        return self._cache["energy"]

    @property
    def jacobi_integral(self) -> Array:
        """p.v - L along the motion: the energy, unless the kinetic energy has parts of lower degree in the velocities."""
        system = self._stated("given by its discrete Lagrangian alone has no Jacobi integral")
        table = self.at_points(maps.jacobi_map(system), self.table("velocity"))[..., 0]
        return self.by_lane(np.where(np.isfinite(self.table("position")).all(axis=-1), table, np.nan))

    @property
    def temperatures(self) -> Array:
        """The temperatures along the motion, last axis: one per entropy."""
        system = self._stated("given by its discrete Lagrangian alone has no temperatures at the nodes")
        outputs = {f"temperature {S}": T for S, T in zip(system.entropies, system.temperatures, strict=True)}
        return self.by_lane(self.at_points(maps.quantity_map(system, outputs), self.table("velocity")))

    @property
    def multipliers(self) -> Array:
        """The multipliers, last axis: one per constraint; multiplier times one-form is the reaction force.

        Where the principle makes them part of the state, they are those of the state.
        """
        return self.by_lane(self.table("multiplier"))

    @property
    def step_residuals(self) -> Array | None:
        """The discrete constraints on the step that begins at each node, last axis; None if the method has none."""
        names = [f"constraint.{a + 1}" for a in range(len(self.system.constraints))]
        return self.by_lane(self.columns_named(names)) if names and names[0] in self.columns else None

    def __getitem__(self, key: Any) -> Array:
        """An array over time by symbol or name; `run[R]` are matrices and `run[R.omega]` vectors, on further axes."""
        if isinstance(key, tuple) and key and all(isinstance(s, Symbol) for s in key):
            return np.stack([self[s] for s in key], axis=-1)
        name = key.name if isinstance(key, Symbol | Group) else key
        if name == time.name:
            return self.time
        at = 0
        for f in factors(self.system.coordinates):
            held = self.table("position")[..., at : at + len(f.numbers)]
            at += len(f.numbers)
            for vector in f.vectors if isinstance(f, Group) else ():
                if name == vector.name:
                    return self[tuple(vector)]
            if name == f.name:
                return self.by_lane(f.shown(held) if isinstance(f, Group) else held[..., 0])
            if isinstance(f, Group) and isinstance(key, Entry) and key in f.entries:
                return self.by_lane(f.shown(held)[..., *divmod(f.entries.index(key), f.size)])
        for i, q in enumerate(self.system.coordinates):
            if name == q.dot.name:
                return self.by_lane(self.table("velocity")[..., i])
            if name == q.momentum.name:
                return self.by_lane(self.table("momentum")[..., i])
        for i, S in enumerate(self.system.entropies):
            if name == S.name:
                return self.by_lane(self.table("entropy")[..., i])
        for a in range(len(self.system.constraints)):
            if name == multiplier(a + 1).name:
                return self.multipliers[..., a]
        names = ", ".join(f.name for f in factors(self.system.coordinates))
        raise KeyError(f"{name}: this run has {names}, their .dot and .momentum, and the multipliers.")

    def __getattribute__(self, name: str) -> Any:
        if name in object.__getattribute__(self, "__dict__").get("_shared", ()) and _is_asked_from_outside():
            warnings.warn(
                f"run.{name} is the `{name}` that every run has, and a coordinate of this run is called {name} too: "
                f"run[{name!r}] is the coordinate.",
                ModelWarning,
                stacklevel=2,
            )
        return object.__getattribute__(self, name)

    def __getattr__(self, name: str) -> Array:
        system = self.__dict__.get("system")  # missing while a copy is being made
        if system is not None and any(q.owner == name for q in (*system.coordinates, *system.entropies)):
            return self[name]
        told = f"; coordinates are run.{system.coordinates[0].owner} and so on" if system is not None else ""
        raise AttributeError(f"a Trajectory has no {name!r}{told}.")

    # the same as an xarray Dataset, a file, a picture
    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything as an xarray Dataset: time, coordinates, velocities, momenta, multipliers, status, provenance."""
        from .storage import to_dataset

        return to_dataset(self)

    def save(self, path: str | Path) -> Path:
        """Save to a NetCDF file; `dalembert.load` reads it back."""
        from .storage import save

        return save(self, path)

    def plot(self, path: str | Path | None = None) -> Figure:
        """A figure of the motion; saved if a path is given."""
        from ..draw.plots import plot

        return plot(self, path)

    def __repr__(self) -> str:
        count = "" if self.lanes is None else f"{self.lanes} lanes, "
        by = f", {self.method!r}" if self.method else ""
        early = int((~np.isin(self.codes[:, 0], (Status.CONVERGED, Status.EVENT))).sum())
        ended = f", {early} lane(s) ended early" if early else ""
        span = f", t = {self.time[0]:g} to {self.time[-1]:g}" if len(self) else ""
        if early and len(self) and (end := float(np.max(self.end_times))) < self.time[-1]:
            span = f", t = {self.time[0]:g} to {end:g} of {self.time[-1]:g}"
        return f"<Trajectory of {self.system.name!r}: {count}{len(self)} records{span}, h = {self.h:g}{by}{ended}>"


def _is_asked_from_outside() -> bool:
    """Whether the attribute of a run is read by code other than the library and `dataclasses.replace`."""
    module = str(sys._getframe(2).f_globals.get("__name__", ""))
    return not module.startswith("dalembert.") and module != "dataclasses"
