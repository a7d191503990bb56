"""The derivative of steps with respect to their state, exactly, compiled, from many states at once."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..waist.derived_steps import clocked, variational
from ..waist.stepmap import StepMap
from .kernels import STATUS_WIDTH
from .machine import Array, Stepper
from .status import Status


class NoStep(ArithmeticError):
    """There is no step from a state; `status` says why."""

    def __init__(self, message: str, status: Status):
        super().__init__(message)
        self.status = status


@lru_cache(maxsize=64)
def _stepper(stepmap: StepMap) -> Stepper:
    return Stepper(clocked(variational(replace(stepmap, outputs={}))))


def tangents(
    stepmap: StepMap,
    states: Array,
    parameters: Array,
    h: float,
    t: Any = 0.0,
    *,
    steps: int = 1,
    seed: Array | None = None,
) -> tuple[Array, Array, Array]:
    """(states after, d after / d before, status) of some steps from each state, NaN where there are none.

    States, rows of parameters and times are one for each lane, or one for all; `seed` has the unknowns to expect.
    """
    stepper, n = _stepper(stepmap), len(stepmap.state)
    lanes = len(states)
    start = np.column_stack(
        [states, np.tile(np.eye(n).ravel(), (lanes, 1)), np.broadcast_to(np.asarray(t, float), lanes)]
    )
    carry, status = stepper.carry(start, seed), np.zeros((lanes, STATUS_WIDTH), dtype=np.int64)
    rows = np.ascontiguousarray(np.broadcast_to(np.asarray(parameters, float), (lanes, len(stepmap.parameters))))
    records = np.empty((lanes, 1, stepper.width))
    stepper.advance(
        carry, rows, status, np.empty(lanes), records,
        begin=0, steps=steps, every=max(steps, 1), closing=False, row=0, t0=0.0, h=h,
    )  # fmt: skip
    failed = status[:, 0] != 0
    carry[failed] = np.nan
    return carry[:, :n], carry[:, n : n + n * n].reshape(lanes, n, n), status[:, 0]


def tangent(stepmap: StepMap, state: Any, parameters: Any, h: float, t: float = 0.0) -> tuple[Array, Array]:
    """(next state, d next / d state) of one step from one state; NoStep if there is none."""
    after, slopes, status = tangents(stepmap, np.atleast_2d(np.asarray(state, float)), np.atleast_2d(parameters), h, t)
    if status[0]:
        raise NoStep(f"{stepmap.name}: no step from this state.", Status(int(status[0])))
    return after[0], slopes[0]
