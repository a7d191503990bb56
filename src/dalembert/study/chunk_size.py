"""How many lanes a chunk of a study has: a second of work, and no more than fit into memory.

A store has the same bytes whoever computes it, so the number follows from the call alone: the work is not measured but
counted, by the operations of the step and by what the search for its unknowns takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..engine.identity import operations
from ..engine.machine import CPU
from ..errors import MethodError
from ..methods.reference import Reference
from ..numbers import whole
from ..run.memory import available, size
from ..run.plan import stepper
from ..run.reductions import Reduction
from ..run.trajectory import Trajectory

LEAST, MOST = 2.0, 5.0
"""Seconds of work of a chunk: few that little is lost with one, enough that what it costs besides, some 20 ms of the
processor, is little beside them."""

OPERATION = 0.15e-9
"""Seconds for an operation, with lanes in vectors: between 0.1e-9 and 0.5e-9 for systems of 1 to 16 coordinates."""

ITERATIONS = 3
"""Evaluations of the equations of a step while they are solved."""

REFERENCE = 2e-6
"""Seconds for a coordinate and a step of a reference solution, which has steps of its own within."""

PARTS = 64
"""So many chunks a study has at least, if they are not too small."""

MOST_LANES = 1 << 20
MOST_NUMBERS = 2**23
"""Numbers recorded in a chunk: 64 MB."""

COPIES = 6
"""The memory of a chunk, in records of its lanes: the run, its velocities and momenta, and what is written of them."""


@dataclass(frozen=True)
class Work:
    """What a study asks for."""

    lanes: int
    seconds: float
    """The work of a lane, as it is counted."""
    numbers: int
    """Numbers that are recorded of a lane."""

    def chunk(self, given: Any, processes: int) -> int:
        """The lanes of a chunk: as many as were asked for, if those of all processes of this machine fit into memory."""
        if given is None:
            least, most = (max(1, int(min(s / self.seconds, MOST_LANES))) for s in (LEAST, MOST))
            fitting = max(1, min(most, MOST_LANES, MOST_NUMBERS // max(self.numbers, 1)))
            return min(max(-(-self.lanes // PARTS), least), fitting)
        expected = "give the number of lanes that are computed and written at once, a whole number from 1"
        asked = whole(given, "chunk", MethodError, least=1, expected=expected)
        if asked > MOST_LANES:
            raise MethodError(f"chunk = {asked}: a chunk has up to {MOST_LANES} lanes.")
        lane, free = 8 * COPIES * max(self.numbers, 1), available()
        needed = processes * lane * asked  # a file has room for a whole chunk
        if free is not None and needed > free:
            fits = free // (2 * processes * lane)
            remedy = f"chunk={fits} fits." if fits else "Not even one lane fits: record fewer steps with every=."
            told = f"{processes} chunks of {asked} lanes" if processes > 1 else f"{asked} lanes"
            raise MethodError(
                f"chunk = {asked}: {told} with {self.numbers} numbers each take {size(needed)} of memory at a time, and "
                f"{size(free)} are free. {remedy}"
            )
        return asked


def seconds(tried: Trajectory, kept: tuple[Reduction, ...]) -> float:
    """The time of a step of one lane, roughly."""
    if isinstance(tried.method, Reference):
        return REFERENCE * len(tried.system.coordinates)
    step = stepper(tried.system, tried.method, CPU, kept).stepmap
    unknowns = len(step.sought)
    evaluations = ITERATIONS * (1 + unknowns / 4) if unknowns else 1.0  # with their derivatives, by as many unknowns
    own = 0 if step.tally is None else operations(step.tally)
    return OPERATION * (evaluations * max(operations(step) - own, 10) + own)
