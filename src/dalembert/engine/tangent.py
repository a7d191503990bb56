"""The exact derivative of steps with respect to their state, compiled, for many states at once."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..waist.derived_steps import clocked, variational
from ..waist.stepmap import TIME, StepMap
from .arguments import Lanes
from .machine import Array, Stepper
from .run_options import Extent
from .status import Status

WHOLE, COLUMNS = 40, 16
"""Up to the first number of state variables one step has all columns; above it, the second: more take longer to compile."""


class NoStep(ArithmeticError):
    """There is no step from a state; `status` is the reason."""

    def __init__(self, message: str, status: Status):
        super().__init__(message)
        self.status = status


@lru_cache(maxsize=64)
def _stepper(stepmap: StepMap, columns: int) -> Stepper:
    made = variational(replace(stepmap, outputs={}), columns)
    return Stepper(made if TIME in made.state else clocked(made))


def tangents(
    stepmap: StepMap,
    states: Array,
    parameters: Array,
    h: float,
    t: Any = 0.0,
    *,
    steps: int = 1,
    seed: Array | None = None,
    first: Array | None = None,
) -> tuple[Array, Array, Array]:
    """(states after, d after / d before, status) of some steps from each state, NaN where a step fails.

    Rows of parameters and times are one for each state, or one for all; `seed` has the expected unknowns. With `first`,
    for each state a matrix whose columns are changes of it, the second is that derivative times this matrix.
    """
    lanes, n = len(states), len(stepmap.state)
    width = n if first is None else first.shape[-1]
    columns = width if width <= WHOLE else COLUMNS
    groups = -(-width // columns)  # each is a separate lane
    begun = np.zeros((lanes, n, groups * columns))
    begun[..., :width] = np.eye(n) if first is None else first
    tangent_rows = begun.reshape(lanes, n, groups, columns).swapaxes(1, 2).reshape(lanes * groups, -1)
    clock = np.broadcast_to(np.asarray(t, float), lanes)
    rows = np.broadcast_to(np.asarray(parameters, float), (lanes, len(stepmap.parameters)))
    own = [] if TIME in stepmap.state else [np.repeat(clock, groups)]  # otherwise the state has its time
    start = np.column_stack([np.repeat(states, groups, axis=0), tangent_rows, *own])
    expected = None if seed is None else np.repeat(seed, groups, axis=0)
    ends, status = _advanced(_stepper(stepmap, columns), start, np.repeat(rows, groups, axis=0), h, steps, expected)
    moved = ends[:, n : n + n * columns].reshape(lanes, groups, n, columns)
    slopes = moved.swapaxes(1, 2).reshape(lanes, n, -1)[..., :width]
    codes = status.reshape(lanes, groups).max(axis=1)
    return np.where(codes[:, None], np.nan, ends[::groups, :n]), np.where(codes[:, None, None], np.nan, slopes), codes


def _advanced(
    stepper: Stepper, start: Array, rows: Array, h: float, steps: int, seed: Array | None
) -> tuple[Array, Array]:
    """The carry of lanes after some steps, and their status."""
    lanes = Lanes.begun(stepper.carry(start, seed), np.ascontiguousarray(rows))
    records = np.empty((len(start), 1, stepper.width))
    stepper.advance(lanes, records, Extent(0.0, h, 0, steps, every=max(steps, 1)))
    return lanes.carry, lanes.status[:, 0]


def tangent(stepmap: StepMap, state: Any, parameters: Any, h: float, t: float = 0.0) -> tuple[Array, Array]:
    """(next state, d next / d state) of one step from one state; NoStep if there is none."""
    after, slopes, status = tangents(stepmap, np.atleast_2d(np.asarray(state, float)), np.atleast_2d(parameters), h, t)
    if status[0]:
        raise NoStep(f"{stepmap.name}: no step from this state.", Status(int(status[0])))
    return after[0], slopes[0]
