"""The numbers of one lane of an adaptive method, from call to call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..waist.adaptive_flow import Flow
from ..waist.layout import spans
from .emitter import Array, Emitter, Handle, Index

CODE, ROW, STEPS, LEFT, RETRIES, SHORT, REJECTED = range(7)
STATUS_WIDTH = 7
"""Integers of a lane: how it ended, the next row to be recorded, steps made, how the last attempt that had no value ended,
such attempts since the last step, short steps in a row, whether the last attempt was not accepted.
"""

TIME_AT, STEP_AT, SIZE_AT, LONGEST_AT = range(4)
OWN = 4
"""Reals of a lane after its state, rounding errors, start and largest sizes: time, next step, last step, longest step."""

UNROLLED = 16
"""Loops over the state are written out up to this size: sums of different variables do not wait for each other."""


def carry_width(flow: Flow) -> int:
    """Reals of a lane."""
    return 4 * len(flow.state) + OWN


def parts(flow: Flow, carry: Any) -> tuple[Any, Any]:
    """The states of lanes and their own reals, in their carry: (lanes, numbers) -> (lanes, state), (lanes, OWN)."""
    state, *_, own = spans(*[len(flow.state)] * 4, OWN)
    return carry[:, state], carry[:, own]


class LaneNumbers:
    """State, rounding errors, start and largest sizes; times and lengths of steps; how the lane is."""

    def __init__(self, e: Emitter, flow: Flow, lane: Handle):
        self.e, self.flow, self.lane, self.n = e, flow, lane, len(flow.state)
        self.y, self.rest, self.begun, self.largest = (e.local(self.n) for _ in range(4))
        self.own, self.marks = e.local(OWN), e.local(STATUS_WIDTH, "integer")

    def each(self) -> Iterator[Index]:
        """The indices of the state."""
        if self.n <= UNROLLED:
            yield from range(self.n)
        else:
            with self.e.loop(0, self.n) as i:
                yield i

    def real(self, which: int) -> Handle:
        """One of its own reals."""
        return self.e.load(self.own, which)

    def mark(self, which: int) -> Handle:
        """One of its integers."""
        return self.e.load(self.marks, which)

    def _kept(self) -> Iterator[tuple[Array, Index, Handle]]:
        """Array, index there, and index in `carry`, of all reals."""
        e, base = self.e, self.e.integer_arithmetic("mul", self.lane, carry_width(self.flow))
        for part, array in enumerate((self.y, self.rest, self.begun, self.largest)):
            for i in self.each():
                yield array, i, e.integer_arithmetic("add", e.integer_arithmetic("add", base, part * self.n), i)
        for i in range(OWN):
            yield self.own, i, e.integer_arithmetic("add", base, 4 * self.n + i)

    def load(self) -> None:
        """From the arrays of all lanes."""
        e, at = self.e, self.e.integer_arithmetic("mul", self.lane, STATUS_WIDTH)
        for array, i, place in self._kept():
            e.store(array, e.load(e.array_argument("carry"), place), i)
        for i in range(STATUS_WIDTH):
            e.store(self.marks, e.load(e.array_argument("status"), e.integer_arithmetic("add", at, i)), i)

    def store(self) -> None:
        """Back to them."""
        e, at = self.e, self.e.integer_arithmetic("mul", self.lane, STATUS_WIDTH)
        for array, i, place in self._kept():
            e.store(e.array_argument("carry"), e.load(array, i), place)
        for i in range(STATUS_WIDTH):
            e.store(e.array_argument("status"), self.mark(i), e.integer_arithmetic("add", at, i))
