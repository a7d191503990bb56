"""The result of a simulation: plain arrays, everything else computed from them on demand."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sympy import Symbol

from ..discrete.state_layout import state_layout
from ..engine.status import Status
from ..errors import ModelError, ModelWarning
from ..model import checks
from ..model.coordinates import Parameter, multiplier, time
from ..model.group_coordinate import Components, Entry, GroupCoordinate
from ..model.space import factors, position_symbols
from ..model.system import System
from ..model.unit_vector import UnitVector
from ..theory.motion import state_maps as maps
from .events import Crossings
from .recorded_run import RecordedRun
from .values import Array

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas
    import xarray
    from matplotlib.figure import Figure

    from ..analysis.motions.force_report import ForceReport
    from ..model.bodies.assembly import Assembly
    from ..model.bodies.joints import Clamp, Contact


POINTS = 1_000_000
"""Approximate number of points to which a map is applied in one call."""


def known_quantity(system: System, expression: Any, role: str, more: Iterable[Symbol] = ()) -> Any:
    """An expression in coordinates, velocities, entropies, parameters and time of a system, with exact numbers.

    more:  other symbols that it may have
    """
    import symengine

    places = position_symbols(system.coordinates)
    known = {*places, *system.velocities, *system.entropies, *system.parameters, *system.principle.carried(system)}
    known |= {*more}
    if isinstance(expression, str):
        if expression not in {time.name, *(s.name for s in known)}:
            call = "run.quantity({})" if role == "quantity" else f"{role}(..., {{}})"
            raise ModelError(
                f"{role}: got the text {expression!r}. Expected an expression, without quotes: "
                f"{call.format(expression)}; in quotes, only the name of a symbol, such as "
                f"{places[0].name!r}."
            )
    elif not isinstance(expression, symengine.Basic):  # these come from the library itself
        expression = checks.symbols(checks.expression(expression, role), known, role)
        others = {s for s in expression.free_symbols if isinstance(s, Parameter)} - set(system.parameters)
        if others:
            names = ", ".join(p.name for p in system.parameters) or "none"
            raise ModelError(
                f"{role}: {min(map(str, others))} is not a parameter of {system.name!r}, so it has no value here. Its "
                f"parameters are: {names}. Write a number in its place."
            )
    return expression


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
        object.__setattr__(self, "events", Crossings(self.events))
        object.__setattr__(self, "_shared", frozenset(n for n in names if n in self.__dict__ or hasattr(type(self), n)))

    def _stated(self, lacking: str) -> System:
        """The system, if it was stated in continuous time; a discrete one lacks the requested quantity."""
        if (system := self.system.continuous) is None:
            raise ModelError(f"a discrete system {lacking}.")
        return system

    def quantity(self, expression: Any) -> Array:
        """Any expression in coordinates, velocities, accelerations, parameters and time, along the motion.

        Accelerations are those that the equations of motion give at the nodes, as in `run[x.ddot]`.
        """
        system = self._stated("has no velocities; compute from its positions and momenta instead")
        expression = known_quantity(system, expression, "quantity", [q.ddot for q in system.coordinates])
        table = self.at_points(maps.moving_quantity_map(system, {"quantity": expression}), self.table("velocity"))
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

    @cached_property
    def _accelerations(self) -> Array:
        """The accelerations that the equations of motion give at the nodes: (lanes, times, coordinates)."""
        system = self._stated("given by its discrete Lagrangian alone has no accelerations")
        motion = maps.motion_map(system)
        accelerations = motion.columns(q.ddot for q in system.coordinates)
        table = self.at_points(motion, self.table("velocity"))[..., accelerations]
        moving = np.asarray(np.isfinite(self.table("position")).all(axis=-1, keepdims=True))
        return np.where(moving, table, np.nan)

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

    def forces(self, assembly: Assembly | None = None, joints: Sequence[Contact | Clamp] = ()) -> ForceReport:
        """Every force along the motion: `run.forces()["reaction 1"]` has components, power and work as arrays.

        assembly:  the assembly whose system this is: its loads, in place of the potential and the forces by coordinate
        joints:    with an assembly, all its reactions, as for `assembly.newton_euler`: Contact(rod, O, name="hinge")

        Work is the integral of the power through the recorded nodes: record often enough to see how it changes.
        """
        from ..analysis.motions.force_report import force_report

        return force_report(self, assembly, joints)

    @property
    def step_residuals(self) -> Array | None:
        """The discrete constraints on the step that begins at each node, last axis; None if the method has none."""
        names = state_layout(self.system).of("constraint", self.columns)
        return self.by_lane(self.columns_named(names)) if names else None

    def __getitem__(self, key: Any) -> Array:
        """An array over time by symbol or name; `run[R]` are matrices and `run[R.omega]` vectors, on further axes."""
        if isinstance(key, Components):
            key = key.name
        if isinstance(key, tuple) and key and all(isinstance(s, Symbol) for s in key):
            return np.stack([self[s] for s in key], axis=-1)
        name = key.name if isinstance(key, Symbol | GroupCoordinate) else key
        if name == time.name:
            return self.time
        at = 0
        for f in factors(self.system.coordinates):
            held = self.table("position")[..., at : at + len(f.numbers)]
            at += len(f.numbers)
            for vector in f.vectors:
                if name == vector.name:
                    return self[tuple(vector)]
            if isinstance(f, UnitVector) and name in (
                told := {v.name: c for v, c in zip(f.spatial, f.vectors, strict=True)}
            ):
                inside = np.stack([self[s] for s in told[name]], axis=-1)
                return f.shown_spatial(self.by_lane(held), inside)
            if name == f.name:
                return self.by_lane(f.shown(held))
            if isinstance(f, GroupCoordinate) and isinstance(key, Entry) and key in f.entries:
                return self.by_lane(f.entry(held, key))
        for i, q in enumerate(self.system.coordinates):
            if name == q.dot.name:
                return self.by_lane(self.table("velocity")[..., i])
            if name == q.momentum.name:
                return self.by_lane(self.table("momentum")[..., i])
            if name == q.ddot.name:
                return self.by_lane(self._accelerations[..., i])
        for i, S in enumerate(self.system.entropies):
            if name == S.name:
                return self.by_lane(self.table("entropy")[..., i])
        for a in range(len(self.system.constraints)):
            if name == multiplier(a + 1).name:
                return self.multipliers[..., a]
        names = ", ".join(f.name for f in factors(self.system.coordinates))
        raise KeyError(f"{name}: this run has {names}, their .dot, .ddot and .momentum, and the multipliers.")

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
        if hasattr(type(self), name):  # a property that lacks something: its own error says what
            return cast(Array, object.__getattribute__(self, name))
        told = f"; coordinates are run.{system.coordinates[0].owner} and so on" if system is not None else ""
        raise AttributeError(f"a Trajectory has no {name!r}{told}.")

    # the same as an xarray Dataset, a file, a picture
    @cached_property
    def dataset(self) -> xarray.Dataset:
        """Everything as an xarray Dataset: time, coordinates, velocities, momenta, multipliers, status, provenance."""
        from .storage import to_dataset

        return to_dataset(self)

    def save(self, path: str | Path) -> Path:
        """Save to a NetCDF file "run.nc" or a Zarr folder "run.zarr", which `dalembert.load` reads, or a table "run.csv"."""
        from .save_and_load import save

        return save(self, path)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame with one row per time, or per lane and time, and one column for each number."""
        from .run_table import to_pandas

        return to_pandas(self)

    def plot(self, what: Any = None, path: str | Path | None = None, **options: Any) -> Figure:
        """A figure of the motion: `what` is "energy", "path", an expression, or a list of such; see `plots.plot`."""
        from ..draw.plots import plot

        return plot(self, what, path, **options)

    def animate(self, path: str | Path, **options: Any) -> Path:
        """Write a moving picture: x.html is the player, x.gif and x.mp4 are films.

        beside:   a run of the same system, or several, drawn side by side: another method from the same start
        graph:    the expressions of the curves; by default the energy and the coordinates
        live:     whether the page can compute the motion anew (sliders, methods); methods=[...] are those it has
        lang:     "en" or "es"
        frames:   how many records to keep, 10,001 if they are more
        seconds:  how long a film is
        """
        from ..draw.animate import animate

        return animate(self, path, **options)

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write a report: one page with statement, player, equations, integrals, method, figures, audit and code.

        lang:        "en" or "es"
        live:        whether the player can compute the motion anew; methods=[...] are those it has
        beside:      runs that are drawn beside this one
        invariants:  {name: expression}, for the audit
        box:         where equilibria are looked for, as in `equilibria`
        seconds:     how long each search (integrals, equilibria, constraints) may take
        about:       a text that stands under the title
        """
        from ..report.write_report import run_report

        return run_report(self, path, **options)

    def _repr_html_(self) -> str | None:
        """The player in a notebook; None for a run without steps, which is shown as text."""
        from ..draw.animate import shown_in_notebook

        return shown_in_notebook(self) if len(self) > 1 else None

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
