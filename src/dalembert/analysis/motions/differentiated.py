"""Values with their derivatives by some variables, carried through step maps by the chain rule.

A map is derived once: parameters and outputs become state variables, so that `variational` gives all derivatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...model.system import System
from ...run.state_tangents import StateChange, state_tangents
from ...run.values import Array
from ...waist.derived_steps import after_name, of_any_length, with_outputs, with_parameters
from ...waist.stepmap import TIME, StepMap


@dataclass(frozen=True, eq=False)
class Varied:
    """Named values at some points, and their derivatives by the same variables.

    values:   by name, one for each point
    changes:  by name, (points, variables); of a point of a group by the names of its directions. A name that is missing
              does not depend on the variables.
    """

    values: Mapping[str, Array]
    changes: Mapping[str, Array]

    def change(self, name: str) -> Array:
        """The derivatives of one value; zero if it does not depend on the variables."""
        if name in self.changes:
            return self.changes[name]
        some = next(iter(self.changes.values()))
        return np.zeros_like(some)

    def joined(self, other: Varied) -> Varied:
        """These values, replaced or extended by others."""
        return Varied({**self.values, **other.values}, {**self.changes, **other.changes})


@dataclass(frozen=True, eq=False)
class Derived:
    """A map or a step with its derivatives by its inputs and by some parameters."""

    system: System
    plain: StepMap
    parameters: tuple[str, ...]
    """The names of parameters by which it is differentiated."""
    any_length: bool = False
    """Whether a step is also differentiated by its length and the time at which it begins."""

    @cached_property
    def step(self) -> StepMap:
        """All that derivatives are taken by in the state."""
        made = with_parameters(replace(self.plain, guards=(), tally=None), self.parameters)
        return of_any_length(made) if self.any_length else made

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of rows and columns of derivatives."""
        return StateChange(self.system, self.step).names

    def matrices(
        self, values: Mapping[str, Array], rows: Mapping[str, Array], h: float, t: Array, *, steps: int = 1,
        seed: Array | None = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """(state after, derivative of it by the state before) of each point; rows and columns are those of `names`."""
        states = np.column_stack([values[name] for name in self.step.state])
        rest = [np.broadcast_to(rows[name], len(states)) for name in self.step.parameters]
        table = np.stack(rest, axis=1) if rest else np.zeros((len(states), 0))
        after, slopes, _ = state_tangents(self.system, self.step, states, table, h, t, steps=steps, seed=seed)
        return after, slopes

    def __call__(
        self, given: Varied, rows: Mapping[str, Array], h: float, t: Array, *, steps: int = 1, seed: Array | None = None
    ) -> Varied:
        """The values after the map, with their derivatives by the chain rule."""
        after, slopes = self.matrices(given.values, rows, h, t, steps=steps, seed=seed)
        before = np.stack([given.change(name) for name in self.names], axis=1)
        changes = slopes @ before
        found = Varied(
            dict(zip(self.step.state, after.T, strict=True)),
            {name: changes[:, i] for i, name in enumerate(self.names)},
        )
        return given.joined(found)


@dataclass(frozen=True, eq=False)
class DerivedMap:
    """A map of states with the derivatives of its outputs."""

    system: System
    plain: StepMap
    parameters: tuple[str, ...]

    @cached_property
    def derived(self) -> Derived:
        """The map with its outputs among the values after it."""
        return Derived(self.system, with_outputs(self.plain), self.parameters)

    def __call__(self, given: Varied, rows: Mapping[str, Array], seed: Array | None = None) -> Varied:
        """The outputs at some states, with their derivatives by the chain rule."""
        found = self.derived(self._with_room(given), rows, 1.0, np.zeros(1), seed=seed)
        names = {name: after_name(name) for name in self.plain.outputs}
        return Varied(*({n: held[m] for n, m in names.items()} for held in (found.values, found.changes)))

    def slopes(self, given: Varied, rows: Mapping[str, Array]) -> dict[str, dict[str, Array]]:
        """The derivatives of each output by each input."""
        slopes = self.derived.matrices(self._with_room(given).values, rows, 1.0, np.zeros(1))[1]
        places = {name: i for i, name in enumerate(self.derived.names)}
        own = {after_name(name) for name in self.plain.outputs}
        inputs = {name: i for name, i in places.items() if name not in own}
        return {
            name: {at: slopes[:, places[after_name(name)], i] for at, i in inputs.items()}
            for name in self.plain.outputs
        }

    def _with_room(self, given: Varied) -> Varied:
        """Outputs have a value before the map is applied, on which nothing depends."""
        some = np.zeros(len(given.values[TIME]))
        return Varied({**given.values, **{after_name(name): some for name in self.plain.outputs}}, given.changes)


def velocity_seed(step: StepMap, system: System, velocity: Array) -> Array:
    """Expected unknowns of a map of states: the velocities among them, zero for others."""
    places = {v.name: i for i, v in enumerate(system.velocities)}
    zero = np.zeros(len(velocity))
    columns = [velocity[:, places[x]] if x in places else zero for x in step.sought]
    return np.stack(columns, axis=1) if columns else np.zeros((len(velocity), 0))
