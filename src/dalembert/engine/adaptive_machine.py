"""Flow -> compiled adaptive loop on arrays."""

from __future__ import annotations

import hashlib
import time as clock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..waist.adaptive_flow import Flow, Pair
from . import adaptive_lane, adaptive_loop
from .arguments import check_memories, check_numbers
from .emitter import Emitter, Memory
from .identity import identity
from .machine import LaneFunction
from .pair_lane import PairLane
from .series_lane import SeriesLane, order_for
from .series_tape import SeriesTape, series_tape

Array = NDArray[Any]

WORTH, WORTH_LOADING = 0.5, 0.02
"""Seconds spent lane by lane after which code for vectors is compiled too; and after which it is loaded if it is there."""

_REAL, _INTEGER = np.dtype(np.float64), np.dtype(np.int64)


def emit_adaptive(e: Emitter, flow: Flow, method: Pair | SeriesTape) -> None:
    """Advance lanes first..last-1 by at most `most` attempted steps each, filling their rows of `out` as times are reached."""
    with e.lanes(e.argument("first"), e.argument("last")) as lane:
        at = e.integer_arithmetic("mul", lane, adaptive_lane.STATUS_WIDTH)
        status = e.array_argument("status")
        rows = e.load(status, e.integer_arithmetic("add", at, adaptive_lane.ROW))
        going = e.both(
            e.integer_compare("eq", e.load(status, at), 0), e.integer_compare("lt", rows, e.argument("rows"))
        )
        with e.when(going):
            code = PairLane(e, flow, method, lane) if isinstance(method, Pair) else SeriesLane(e, flow, method, lane)
            code.run()


def has_series(flow: Flow) -> bool:
    """Whether the rates have power series that are not too long."""
    return series_tape(flow.rates) is not None


class AdaptiveStepper:
    """The compiled adaptive loop of a flow, by a pair or, without one, by power series."""

    def __init__(self, flow: Flow, pair: Pair | None):
        self.flow, self.pair = flow, pair
        told = repr((flow.state, [identity(m) for m in flow.maps], flow.nearest is None, pair))
        what = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()

        def emit(e: Emitter) -> None:
            method = series_tape(flow.rates) if pair is None else pair
            assert method is not None
            emit_adaptive(e, flow, method)

        self.code = LaneFunction("adaptive", what, emit, adaptive_loop.ARGUMENTS)
        self._spent = 0.0

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
        self.code.expect(lanes, self._spent > WORTH, self._spent > WORTH_LOADING)
        call, begun = self.code.of(lanes), clock.monotonic()
        call(memories, lanes, lanes * most, (rows, most, order_for(rtol), *check_numbers(rtol=rtol, atol=atol)))
        if self.code.takes(lanes):
            self._spent += clock.monotonic() - begun
