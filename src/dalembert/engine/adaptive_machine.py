"""Flow -> compiled adaptive loop on arrays."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..waist.adaptive_flow import Flow, Pair
from . import adaptive_lane, adaptive_loop
from .arguments import check_memories, check_numbers
from .emitter import Emitter, Memory
from .identity import identity
from .machine import compiled_function

Array = NDArray[Any]

_REAL, _INTEGER = np.dtype(np.float64), np.dtype(np.int64)


class AdaptiveStepper:
    """The compiled adaptive loop of a flow."""

    def __init__(self, flow: Flow, pair: Pair):
        self.flow = flow
        told = repr((flow.state, [identity(m) for m in flow.maps], flow.nearest is None, pair))
        what = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()

        def emit(e: Emitter) -> None:
            adaptive_loop.emit_adaptive(e, flow, pair)

        self._call = compiled_function("adaptive", what, emit, adaptive_loop.ARGUMENTS)

    def begin(self, state: Array, t: float, first: Array) -> tuple[Array, Array]:
        """The carry and the status of lanes at their start; `first` has the lengths of their first steps."""
        own, still = np.zeros((len(state), adaptive_lane.OWN)), np.zeros_like(state)
        own[:, adaptive_lane.TIME_AT] = t
        own[:, adaptive_lane.STEP_AT] = own[:, adaptive_lane.SIZE_AT] = first
        carry = np.hstack([state, still, state, still, own])
        status = np.zeros((len(state), adaptive_lane.STATUS_WIDTH), dtype=_INTEGER)
        status[:, adaptive_lane.ROW] = 1
        return carry, status

    def advance(
        self,
        carry: Array,
        parameters: Array,
        times: Array,
        out: Array,
        status: Array,
        most: int,
        rtol: float,
        atol: float,
    ) -> None:
        """Up to `most` attempted steps of each lane; `out` has shape (lanes, times, state) and is filled row by row."""
        lanes, rows, n = len(carry), len(times), len(self.flow.state)
        ended = np.append(times, np.inf)
        memories = [
            Memory("carry", carry, _REAL, (lanes, adaptive_lane.carry_width(self.flow))),
            Memory("parameters", parameters, _REAL, (lanes, len(self.flow.parameters)), False),
            Memory("times", ended, _REAL, (rows + 1,), False),
            Memory("records", out, _REAL, (lanes, rows, n)),
            Memory("statuses", status, _INTEGER, (lanes, adaptive_lane.STATUS_WIDTH)),
        ]
        memories = check_memories(self.flow.rates, memories)
        self._call(memories, lanes, lanes * most, (rows, most, *check_numbers(rtol=rtol, atol=atol)))
