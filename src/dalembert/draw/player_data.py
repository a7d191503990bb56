"""The data of the player: frames of some runs, their scene as a tape, quantities for the graphs.

A column is 32-bit floats of what differs from the middle of its range, in base64: 10,000 frames take 53 kB. The format has a
version; players read data of all earlier versions.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from ..errors import StartError, told
from ..model.coordinates import time
from ..model.group_coordinate import GroupCoordinate
from ..model.groups import SE2, SE3
from ..model.scene import Item
from ..model.space import factors, numbers
from ..model.tangent_space import placed
from ..run.extent import has_steps
from ..run.trajectory import Trajectory
from ..run.values import Array
from ..theory.motion.energies import energy, meaning
from ..theory.motion.lagrange import jacobi_integral
from .default_scene import scene_of
from .scene_shapes import colours_of
from .scene_tape import Drawing

FORMAT, VERSION = "dalembert-player", 2
"""Version 2 has multipliers that are part of the state among the numbers of a start."""

FRAMES = 10_001
"""Most frames of a run in a file, unless more are asked for."""

GHOSTS = 24
"""Most lanes of a run in a file."""

CURVES = 12
"""Most quantities that are offered for graphs."""


@dataclass(frozen=True)
class Quantity:
    """A curve of the graphs: its name, its expression; whether its change since the start is drawn."""

    name: str
    expression: Any
    change: bool = False
    shown: bool = False


@dataclass(frozen=True)
class Film:
    """Runs of one system, with what is drawn of them."""

    runs: tuple[Trajectory, ...]
    labels: tuple[str, ...]
    chosen: tuple[Any, ...]
    words: dict[str, str]
    frames: int

    @property
    def system(self) -> Any:
        """The system of all runs."""
        return self.runs[0].system

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The scene; a body of unknown size is drawn with a sixth of the extent of its motion."""
        ways = [
            np.ptp(run[f][..., :-1, -1].reshape(-1, run[f].shape[-1] - 1), axis=0).max()
            for f in factors(self.system.coordinates)
            if isinstance(f, GroupCoordinate) and f.group in (SE2, SE3)
            for run in self.runs
        ]
        way = float(max(filter(np.isfinite, ways), default=0.0))
        return scene_of(self.system, sympy.Rational(way) / 6 if way > 0 else 1)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities of the graphs: those chosen, or the energy and the coordinates."""
        if self.chosen:
            return tuple(Quantity(str(e), e, shown=True) for e in self.chosen)
        system, found = self.system.continuous, []
        if system is not None:
            whole = meaning(system).is_energy
            value = energy(system) if whole else jacobi_integral(system)
            found.append(Quantity(self.words["energy" if whole else "jacobi"], value, change=True, shown=True))
            found += [
                Quantity(self.words["temperature"].format(S), T, shown=k == 0)
                for k, (S, T) in enumerate(zip(system.entropies, system.temperatures, strict=True))
            ]
        curves = [c for f in factors(self.system.coordinates) for c in f.plotted]
        found += [Quantity(str(c), c, shown=k < 2) for k, c in enumerate(curves)]
        return tuple(found[:CURVES])

    @cached_property
    def drawing(self) -> Drawing:
        """Items and quantities as one tape."""
        return Drawing(self.items, tuple(q.expression for q in self.quantities), self.system.coordinates)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the numbers of a state that are stored: positions, and what else the scene contains."""
        q = self.system.coordinates
        own = [*numbers(q), *(c.dot.name for c in q if c not in placed(q)), *(S.name for S in self.system.entropies)]
        scene = Drawing(self.items, (), self.system.coordinates).inputs
        others = [name for name in scene if name not in own and name != time.name and name not in self._parameters]
        return (*own, *others)

    @property
    def live_columns(self) -> tuple[str, ...]:
        """Those that the quantities contain besides: they are computed where the page computes a motion."""
        known = {*self.columns, time.name, *self._parameters}
        return tuple(name for name in self.drawing.inputs if name not in known)

    @property
    def _parameters(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.system.parameters)

    def data(self) -> dict[str, Any]:
        """Everything but the part that computes."""
        drawing = self.drawing
        runs = [self._run(run, label) for run, label in zip(self.runs, self.labels, strict=True)]
        first = sum(part.stop - part.start for part in drawing.places)
        return {
            "format": FORMAT,
            "version": VERSION,
            "title": self.system.name,
            "spatial": drawing.is_spatial,
            "words": self.words,
            "speed": self._speed(),
            "tape": drawing.data(),
            "items": _items(self.items, drawing),
            "quantities": [
                {"name": q.name, "result": first + k, "change": q.change, "shown": q.shown}
                for k, q in enumerate(self.quantities)
            ],
            "parameters": list(self._parameters),
            "columns": [*self.columns, *self.live_columns],
            "runs": runs,
        }

    def _speed(self) -> float:
        """How much of the time passes in a second."""
        length = max(float(run.time[-1] - run.time[0]) for run in self.runs)
        return length / seconds_of(length, 4, 40, 15)

    def _run(self, run: Trajectory, label: str) -> dict[str, Any]:
        every = max(1, -(-len(run) // self.frames))
        rows = np.arange(0, len(run), every)
        t, lanes = run.time[rows], range(min(len(run.records), GHOSTS))
        step = float(t[-1] - t[0]) / max(len(t) - 1, 1)
        even = bool(np.allclose(np.diff(t), step, rtol=1e-9, atol=0)) if len(t) > 1 else True
        notes = [self.words["thinned"].format(every=every, records=len(run))] if every > 1 else []
        if len(run.records) > GHOSTS:
            notes.append(self.words["some"].format(shown=GHOSTS, lanes=len(run.records)))
        when = {"t0": float(t[0]), "dt": step} if even else {"times": _text(t.astype("<f8"))}
        stored = [self._values(run, q)[:, rows] for q in self.quantities]
        state = [state_column(run, name)[:, rows] for name in self.columns]
        return {"label": label, "frames": len(rows), **when, "notes": notes, "lanes": [
            self._lane(run, lane, [c[lane] for c in state], [c[lane] for c in stored]) for lane in lanes
        ]}  # fmt: skip

    def _lane(self, run: Trajectory, lane: int, state: Sequence[Array], stored: Sequence[Array]) -> dict[str, Any]:
        finite = np.isfinite(np.stack(state)).all(axis=0)
        count = int(np.argmin(finite)) if not finite.all() else len(finite)
        filler = [[0.0, 0.0, ""]] * len(self.live_columns)
        return {
            "parameters": run.parameter_rows[lane].tolist(),
            "count": count,
            "columns": [*map(column, state), *filler],
            "quantities": [self._stored(q, c) for q, c in zip(self.quantities, stored, strict=True)],
        }

    def _stored(self, q: Quantity, values: Array) -> Any:
        """A quantity that is a column of the state by its number, others as a column."""
        name = getattr(q.expression, "name", None)
        return self.columns.index(name) if name in self.columns else column(values)

    def _values(self, run: Trajectory, q: Quantity) -> Array:
        """A quantity in all lanes: (lanes, times)."""
        if q.expression in run.system.coordinates:
            return np.atleast_2d(run[q.expression])
        values = np.atleast_2d(run.quantity(q.expression) if run.system.continuous else run[q.expression])
        return values - values[:, :1] if q.change else values


def seconds_of(length: float, least: float, most: float, usual: float) -> float:
    """How long a motion is shown: as long as it takes, if its time is in seconds and that is bearable; else as usual."""
    return length if least <= length <= most else usual


def state_column(run: Trajectory, name: str) -> Array:
    """A number of a state at all nodes of all lanes, by its name: (lanes, times)."""
    q, system = run.system.coordinates, run.system
    tables: dict[Any, list[str]] = {
        "position": numbers(q), "velocity": [c.dot.name for c in q], "entropy": [S.name for S in system.entropies],
        "multiplier": [m.name for m in system.multipliers],
    }  # fmt: skip
    for role, names in tables.items():
        if name in names:
            return run.table(role)[..., names.index(name)]
    raise KeyError(name)


def column(values: Array) -> list[Any]:
    """[middle, half the range, 32-bit floats of the rest in base64]; no text if all values are equal."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    if half == 0 and finite.size == values.size:
        return [low, 0.0, ""]
    half = half or 1.0
    return [middle, half, _text(((values - middle) / half).astype("<f4"))]


def _text(values: Array) -> str:
    return base64.b64encode(values.tobytes()).decode()


def _items(items: Sequence[Item], drawing: Drawing) -> list[dict[str, Any]]:
    """Items with the places of their numbers, and how they look."""
    found = []
    for item, part, (index, colour) in zip(items, drawing.places, colours_of(items), strict=True):
        look = {f.name: getattr(item, f.name) for f in fields(item) if str(f.type) in ("float", "int", "str")}
        look = {k: v for k, v in (look | {"colour": colour}).items() if v != ""}
        if "kind" in look:
            look["vector"] = look.pop("kind")
        found.append(
            {"kind": type(item).__name__, "at": list(range(part.start, part.stop)), "colourIndex": index, **look}
        )
    return found


def checked_runs(runs: Sequence[Any], role: str) -> tuple[Trajectory, ...]:
    """Runs of one system with steps, or an error."""
    for run in runs:
        if not isinstance(run, Trajectory):
            raise StartError(
                f"{role}: got {told(run)} ({type(run).__name__}). Expected a run, the result of simulate(...)."
            )
        if not has_steps(run):
            raise StartError(
                f"{role}: the run of {run.system.name!r} has no steps, so nothing moves. Give steps= or until=."
            )
        if [c.name for c in run.system.coordinates] != [c.name for c in runs[0].system.coordinates]:
            raise StartError(
                f"{role}: runs side by side are of one system; got {runs[0].system.name!r} and {run.system.name!r}."
            )
    return tuple(runs)
