"""Derivatives of steps by the state before them, by direction on groups, where states are held by more numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sympy import Symbol

from ..discrete.equations import carried
from ..discrete.system import DiscreteSystem
from ..engine.tangent import tangents
from ..model.coordinates import time
from ..model.factor import Line
from ..model.space import factors, groups, numbers
from ..model.system import System
from ..model.tangent_space import components, number_slopes, placed
from ..waist.stepmap import StepMap
from .values import Array


def state_tangents(
    system: System | DiscreteSystem, step: StepMap, states: Array, parameters: Array, h: float, t: Array | float,
    *, steps: int = 1, seed: Array | None = None,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """(states after, d after / d before, status) of some steps; rows and columns are those of `state_symbols`."""
    change = StateChange(system, step)
    first = change.from_directions(states)
    after, found, codes = tangents(step, states, parameters, h, t, steps=steps, seed=seed, first=first)
    return after, change.to_directions(after, found), codes


def state_symbols(system: System | DiscreteSystem, step: StepMap) -> tuple[Symbol, ...]:
    """The symbols of the state of a step; for a point of a group those of its directions."""
    known = {s.name: s for s in symbols_of_states(system)}
    return tuple(known.get(name) or Symbol(name) for name in StateChange(system, step).names)


def symbols_of_states(system: System | DiscreteSystem) -> list[Symbol]:
    """The symbols that a state can contain."""
    places = [s for c in system.coordinates for s in (c, c.dot, c.momentum, c.at(0), c.at(1))]
    stated, own = system.continuous, system.discrete
    held = [] if stated is None else [*stated.principle.carried(stated)]
    held += [] if own is None else carried(own)
    return [*places, *system.entropies, *held, time]


class StateChange:
    """Changes of the state of a step: by its numbers, and by direction.

    names:  the state; where there are groups first the directions of all coordinates, in place of the numbers of positions
    """

    def __init__(self, system: System | DiscreteSystem, step: StepMap):
        self.coordinates, self.state = system.coordinates, step.state
        held = numbers(self.coordinates)
        self.turns = bool(groups(self.coordinates)) and set(held) <= set(step.state)
        self.names: tuple[str, ...] = step.state
        if self.turns:
            rest = [name for name in step.state if name not in held]
            directions = [c.name for c in placed(self.coordinates)]
            self.names = (*directions, *rest)
            self._numbers = [step.state.index(name) for name in held]
            self._directions = [self.names.index(name) for name in directions]
            self._others = [step.state.index(name) for name in rest], [self.names.index(name) for name in rest]

    def from_directions(self, states: Array) -> Array | None:
        """The derivatives of the numbers by changes in the order of `names`; None where they are the same."""
        if not self.turns:
            return None
        found = self._rest(len(states), (len(self.state), len(self.names)), self._others)
        block = number_slopes(self.coordinates, states[:, self._numbers])
        found[:, np.array(self._numbers, dtype=int)[:, None], self._directions] = block
        return found

    def to_directions(self, states: Array, changes: Array) -> Array:
        """Changes of the numbers at some states, one per column, as changes in the order of `names`."""
        if not self.turns:
            return changes
        found = self._rest(len(states), (len(self.names), len(self.state)), self._others[::-1])
        held = states[:, self._numbers]
        known = np.isfinite(held).all(axis=-1)
        block = np.full((len(states), len(self._directions), len(self._numbers)), np.nan)
        block[known] = components(self.coordinates, held[known])
        found[:, np.array(self._directions, dtype=int)[:, None], self._numbers] = block
        return found @ changes

    def displaced(self, before: Array, after: Array) -> tuple[Array, Array]:
        """Two states in the order of `names`: on a group displacements from where the first one is on the group."""
        if not self.turns:
            return before, after
        tables = []
        for states in (before, after):
            table = np.empty((len(states), len(self.names)))
            table[:, self._others[1]] = states[:, self._others[0]]
            tables.append(table)
        begun, ended = before[:, self._numbers], after[:, self._numbers]
        at = k = 0
        for f in factors(tuple(self.coordinates)):
            if not f.numbers:
                continue
            n, m = len(f.numbers), len(f.directions)
            first, second, places = begun[:, at : at + n], ended[:, at : at + n], self._directions[k : k + m]
            line = isinstance(f, Line)
            tables[0][:, places] = first if line else 0.0
            tables[1][:, places] = second if line else f.difference(first, second)
            at, k = at + n, k + m
        return tables[0], tables[1]

    def matrices(self, states: Array) -> dict[str, Array]:
        """By the names of the coordinates with values in groups: the matrices at some states."""
        found: dict[str, Array] = {}
        for g in groups(self.coordinates) if self.turns else ():
            found[g.name] = g.shown(states[:, [self.state.index(name) for name in g.numbers]])
        return found

    @staticmethod
    def _rest(count: int, shape: tuple[int, int], places: Sequence[list[int]]) -> Array:
        found = np.zeros((count, *shape))
        found[:, places[0], places[1]] = 1.0
        return found
