"""The outer loops, written once: lanes, time stepping, recording; and the map applied to points.

They are written against `Emitter`, so that one source serves every back end. The model enters as tapes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..waist.stepmap import STEP, TIME, StepMap, rest_of
from .element_sums import with_sums
from .emitter import Array, Emitter, Handle, Index
from .history import HISTORY, History, history_size
from .newton import Ends
from .number_places import Known, Place, Vector, loaded, moved, span, stretch, value
from .run_options import EXACT
from .solver import Solver
from .status import Status

RUN_ARGUMENTS = {
    "carry": "real[]", "parameters": "real[]", "out": "real[]", "status": "integer[]", "residual": "real[]",
    "first": "integer", "last": "integer",
    "stride": "integer", "begin": "integer", "steps": "integer", "every": "integer", "closing": "integer", "row": "integer",
    "rows": "integer", "t0": "real", "h": "real", "tolerance": "real", "nearly": "real", "most": "integer",
}  # fmt: skip
"""Arrays, lanes, numbers: the order in which a back end is given them."""

APPLY_ARGUMENTS = {
    "inputs": "real[]", "parameters": "real[]", "out": "real[]", "status": "integer[]",
    "first": "integer", "last": "integer",
    "stride": "integer", "t0": "real", "h": "real",
}  # fmt: skip

STATUS_WIDTH = 4
"""Integers of status per lane: code, last valid step, Newton iterations and corrections so far."""


def carry_width(stepmap: StepMap) -> int:
    """Reals a lane carries from step to step: those of its motion, then those of its tally."""
    return motion_width(stepmap) + len(stepmap.tallied)


def motion_width(stepmap: StepMap) -> int:
    """Reals that the motion of a lane needs: state, rounding errors, earlier solutions, the number of valid ones."""
    return len(stepmap.state) + len(stepmap.summed) + history_size(stepmap) + 1


def sought_of(stepmap: StepMap, carry: Any) -> Any:
    """The solution that a (first) step is expected to have, in the carry of lanes: (lanes, numbers) -> (lanes, sought)."""
    begin = len(stepmap.state) + len(stepmap.summed)
    return carry[:, begin : begin + len(stepmap.sought)]


def emit_run(e: Emitter, stepmap: StepMap) -> None:
    """Advance lanes first..last-1 by `steps` steps from step number `begin`, recording every `every`-th node.

    With `closing` the node after the last step is recorded too. A lane whose status is not 0 is skipped.
    """
    stepmap = with_sums(stepmap)
    with e.lanes(e.argument("first"), e.argument("last")) as lane:
        status = e.array_argument("status")
        code_at = e.integer_arithmetic("mul", lane, STATUS_WIDTH)
        with e.when(e.integer_compare("eq", e.load(status, code_at), 0)):
            _Lane(e, stepmap, lane).run()


def emit_apply(e: Emitter, stepmap: StepMap) -> None:
    """Apply a map to points first..last-1: solve its blocks from their guesses and write its outputs."""
    stepmap = with_sums(stepmap)
    with e.lanes(e.argument("first"), e.argument("last")) as point:
        inputs, out = e.array_argument("inputs"), e.array_argument("out")
        known = _constants(e, stepmap, point)
        known |= loaded(e, stepmap.state, inputs, e.integer_arithmetic("mul", point, len(stepmap.state)))
        known |= dict.fromkeys(stepmap.rests, e.real(0.0))
        if TIME not in known:
            known[TIME] = e.argument("t0")
        code, count, effort = e.local(1, "integer"), e.local(1, "integer"), e.local(2, "integer")
        for cell, i in ((code, 0), (count, 0), (effort, 0), (effort, 1)):
            e.store(cell, 0, i)
        ends = Ends(e.real(EXACT.tolerance), e.real(EXACT.nearly), EXACT.max_iterations)
        solver = Solver(e, stepmap, code, effort, e.local(1), ends)
        solver.run_level(known)
        known |= solver.solve(known, History(e, stepmap, e.local(1), count))
        with e.when(e.integer_compare("eq", e.load(code), 0)):
            values = solver.evaluate("outputs", known)
            base = e.integer_arithmetic("mul", point, len(stepmap.outputs))
            for j, v in values:
                e.store(out, v, e.integer_arithmetic("add", base, j))
        e.store(e.array_argument("status"), e.load(code), point)


class _Lane:
    """The code of one lane: load its carry, step, record, store its carry."""

    def __init__(self, e: Emitter, stepmap: StepMap, lane: Handle):
        self.e, self.stepmap, self.lane = e, stepmap, lane
        with e.precise():
            self.state = e.local(len(stepmap.state))
            self.rest = e.local(len(stepmap.summed))
            self.work, self.work_rest = e.scratch(len(stepmap.state)), e.scratch(len(stepmap.summed))
            self.fractions, self.instants = e.local(len(stepmap.substeps)), e.local(len(stepmap.substeps))
            self.tally = e.local(len(stepmap.tallied))
        self.code, self.count, self.effort = e.local(1, "integer"), e.local(1, "integer"), e.totals(2)
        self.history = History(e, stepmap, e.local(history_size(stepmap)), self.count)
        self.wait, self.row, self.turn = (e.counter() for _ in range(3))
        self.last = e.totals(1)
        self.rho = e.local(1)

    def run(self) -> None:
        e = self.e
        ends = Ends(e.argument("tolerance"), e.argument("nearly"), e.argument("most"))
        solver = Solver(e, self.stepmap, self.code, self.effort, self.rho, ends)
        with e.precise():
            self._load_carry()
        known = _constants(e, self.stepmap, self.lane)
        solver.run_level(known)
        with e.precise():
            kept = _constants(e, self.stepmap, self.lane)
            tally = self._tally_solver(kept)
        total = e.integer_arithmetic("add", e.argument("steps"), e.argument("closing"))
        with e.forever():
            turn = e.load(self.turn)
            e.leave_if(e.integer_compare("le", total, turn))
            e.leave_if(e.integer_compare("ne", e.load(self.code), 0))
            self._turn(turn, dict(known), solver)
            e.store(self.turn, e.after(turn))
            if tally is not None:
                with e.precise():
                    self._tally(turn, dict(kept), tally)
        with e.precise():
            self._store_carry()

    def _tally_solver(self, known: Known) -> Solver | None:
        """The solver of the tally, with a status of its own: whether it has values does not change the motion."""
        e, tally = self.e, self.stepmap.tally
        if tally is None:
            return None
        ends = Ends(e.real(EXACT.tolerance), e.real(EXACT.nearly), EXACT.max_iterations)
        solver = Solver(e, tally, e.local(1, "integer"), e.local(2, "integer"), e.local(1), ends)
        solver.run_level(known)
        return solver

    def _tally(self, turn: Handle, known: dict[str, Handle | Place], solver: Solver) -> None:
        """The numbers of the tally anew, at the node that a step has led to; NaN where they have no value."""
        e, tally = self.e, solver.stepmap
        moving = e.integer_compare("lt", turn, e.argument("steps"))
        with e.when(moving), e.when(e.integer_compare("eq", e.load(self.code), 0)):
            known |= self._known(self.state, self.rest) | loaded(e, self.stepmap.tallied, self.tally, 0)
            known |= dict.fromkeys(tally.rests, e.real(0.0))
            known[TIME] = e.here(self._time(e.after(turn)))
            e.store(solver.code, 0)
            found = solver.solve(known, History(e, tally, e.local(1), e.local(1, "integer")))
            valid = e.integer_compare("eq", e.load(solver.code), 0)
            for j, v in solver.evaluate("outputs", found):
                e.store(self.tally, e.select(valid, v, e.real(float("nan"))), j)

    def _time(self, turn: Index) -> Handle:
        """The time of the node at which that turn begins."""
        e = self.e
        k = e.integer_arithmetic("add", e.argument("begin"), turn)
        with e.timed():
            return e.arithmetic("add", e.argument("t0"), e.arithmetic("mul", e.as_real(k), e.argument("h")))

    def _turn(self, turn: Handle, known: dict[str, Handle | Place], solver: Solver) -> None:
        """One node: record it, make the step that begins at it, advance to the next."""
        e = self.e
        k = e.integer_arithmetic("add", e.argument("begin"), turn)
        known[TIME] = e.here(self._time(turn))
        moving = e.integer_compare("lt", turn, e.argument("steps"))
        due = e.integer_compare("eq", e.load(self.wait), 0)
        with e.when(due), e.precise():
            self._record(stretch(e, self.state, len(self.stepmap.state)), 0)
        # The last record needs the outputs of a step that is not made; without outputs that step is not computed.
        if self.stepmap.outputs:
            self._step(known, solver, moving, due)
            with e.when(e.opposite(moving)):
                e.store(self.code, 0)
        else:
            with e.when(moving):
                self._step(known, solver, moving, due)
        with e.when(due):
            e.store(self.row, e.after(e.load(self.row)))
            e.store(self.wait, e.argument("every"))
        e.store(self.wait, e.integer_arithmetic("sub", e.load(self.wait), 1))
        with e.when(moving):
            self._finish(k, solver)

    def _step(self, known: dict[str, Handle | Place], solver: Solver, moving: Handle, due: Handle) -> None:
        """Make all substeps from `state`, leaving the result in `work`."""
        e = self.e
        if len(self.stepmap.substeps) == 1:
            found = solver.solve(known | self._known(self.state, self.rest), self.history)
            self._outputs(solver, found, due)
            with e.when(moving):
                with e.precise():
                    length = e.argument("h")
                self._advance(solver, found, 0, (self.state, self.rest), length)
            return
        with e.precise():
            for source, target, size in self._kept():
                for j in span(e, size):
                    e.store(target, e.load(source, j), j)
        with e.loop(0, len(self.stepmap.substeps)) as i:
            e.leave_if(e.integer_compare("ne", e.load(self.code), 0))
            h = e.argument("h")
            with e.precise():
                length = e.arithmetic("mul", e.argument("h"), e.load(self.fractions, i))
            now: dict[str, Handle | Place] = {STEP: e.here(length)}
            now[TIME] = e.arithmetic("add", value(e, known[TIME]), e.arithmetic("mul", h, e.load(self.instants, i)))
            found = solver.solve(known | now | self._known(self.work, self.work_rest), self.history, i)
            self._outputs(solver, found, e.both(due, e.integer_compare("eq", i, 0)))
            e.leave_if(e.opposite(moving))
            self._advance(solver, found, i, (self.work, self.work_rest), length)

    def _known(self, state: Array, rest: Array) -> dict[str, Handle | Place]:
        return loaded(self.e, self.stepmap.state, state, 0) | loaded(self.e, self.stepmap.rests, rest, 0)

    def _outputs(self, solver: Solver, found: Known, due: Handle) -> None:
        e = self.e
        if self.stepmap.outputs:
            with e.when(due), e.when(e.integer_compare("eq", e.load(self.code), 0)):
                self._record(solver.evaluate("outputs", found), len(self.stepmap.state))

    def _kept(self) -> tuple[tuple[Array, Array, int], ...]:
        """The arrays a step changes: (before the step, during the step, size)."""
        state = self.state, self.work, len(self.stepmap.state)
        return state, (self.rest, self.work_rest, len(self.stepmap.summed))

    def _advance(
        self, solver: Solver, found: Known, substep: Index, start: tuple[Array, Array], length: Handle
    ) -> None:
        """The next state into `work`. The rounding error of a sum is kept and added to the next one (W. Kahan, Comm.
        ACM 8, 1965): the state is then as accurate as a sum with twice the digits, and its error a random walk of small steps.
        """
        e = self.e
        with e.when(e.integer_compare("eq", e.load(self.code), 0)):
            values = solver.evaluate("update", found)
            with e.precise():
                for change in _changes(self.stepmap, found):
                    factor = length if change.by_step else e.real(1.0)
                    self._change(change, values, start, factor)
            self.history.remember(found, substep)

    def _change(self, change: _Change, values: Vector, start: tuple[Array, Array], factor: Handle) -> None:
        """Some of the next state: a sum, or as it is given."""
        e, (state, rest) = self.e, start
        for i, v in values.part(change.first, change.first + change.size):
            j, after = moved(e, i, change.first), v
            if change.rest is not None:
                k = moved(e, i, change.rest)
                after, left = self._sum(e.load(state, j), factor, v, e.load(rest, k))
                if change.lacking is not None:
                    left = e.call("fma", factor, change.lacking_at(e, i), left)
                e.store(self.work_rest, left, k)
            e.store(self.work, after, j)

    def _sum(self, before: Handle, h: Handle, rate: Handle, rest: Handle) -> tuple[Handle, Handle]:
        """before + h rate + rest, and its rounding error."""
        e = self.e
        after = e.arithmetic("add", before, e.call("fma", h, rate, rest))
        change = e.arithmetic("sub", after, before)
        return after, e.arithmetic("add", e.call("fma", h, rate, e.negative(change)), rest)

    def _finish(self, k: Handle, solver: Solver) -> None:
        """Accept the step if it was solved and is finite; otherwise store how and where the lane ended."""
        e = self.e
        with e.when(e.integer_compare("eq", e.load(self.code), 0)), e.precise():
            size = stretch(e, self.work, len(self.stepmap.state)).size_of_all()
            finite = e.compare("lt", size, e.real(float("inf")))
            with e.when(finite):
                for target, source, count in self._kept():
                    for j in span(e, count):
                        e.store(target, e.load(source, j), j)
                self.history.remembered()
                e.store(self.last, e.after(k))
            with e.when(e.opposite(finite)):  # infinite or NaN
                e.store(self.code, Status.LEFT_DOMAIN)
                with e.when(e.compare("eq", size, size)):
                    e.store(self.code, Status.NOT_FINITE)
        with e.when(e.integer_compare("ne", e.load(self.code), 0)):
            e.store(e.array_argument("residual"), e.load(self.rho), self.lane)

    def _record(self, values: Vector, column: int) -> None:
        e = self.e
        width = len(self.stepmap.state) + len(self.stepmap.outputs)
        row = e.integer_arithmetic("add", e.integer_arithmetic("mul", self.lane, e.argument("rows")), e.load(self.row))
        base = e.integer_arithmetic("mul", row, width)
        for j, v in values:
            e.store(e.array_argument("out"), v, e.integer_arithmetic("add", base, moved(e, j, column)))

    def _carried(self) -> Iterator[tuple[Array, Index, Handle]]:
        """The carried numbers one by one: array, index there, and index in `carry`."""
        e, ns, nr = self.e, len(self.stepmap.state), len(self.stepmap.summed)
        base = e.integer_arithmetic("mul", self.lane, carry_width(self.stepmap))
        earlier = self.history.differences, ns + nr, history_size(self.stepmap)
        tally = self.tally, motion_width(self.stepmap), len(self.stepmap.tallied)
        for array, offset, size in ((self.state, 0, ns), (self.rest, ns, nr), earlier, tally):
            for i in e.each(0, size, size):
                yield array, i, e.integer_arithmetic("add", e.integer_arithmetic("add", base, offset), i)

    def _count_at(self) -> Handle:
        """The index in `carry` of the number of valid earlier solutions: the last entry of the motion."""
        base = self.e.integer_arithmetic("mul", self.lane, carry_width(self.stepmap))
        return self.e.integer_arithmetic("add", base, motion_width(self.stepmap) - 1)

    def _load_carry(self) -> None:
        e = self.e
        carry, status = e.array_argument("carry"), e.array_argument("status")
        for array, i, at in self._carried():
            e.store(array, e.load(carry, at), i)
        last = e.load(carry, self._count_at())
        e.store(self.count, 0)
        for seen in range(1, HISTORY + 1):  # the count is small; this avoids a conversion
            with e.when(e.compare("eq", last, e.real(float(seen)))):
                e.store(self.count, seen)
        at = e.integer_arithmetic("mul", self.lane, STATUS_WIDTH)
        e.store(self.last, e.load(status, e.after(at)))
        for i in (0, 1):
            e.store(self.effort, e.load(status, e.integer_arithmetic("add", at, 2 + i)), i)
        e.store(self.code, 0)
        e.store(self.turn, 0)
        for j, (fraction, before) in enumerate(_instants(self.stepmap.substeps)):
            e.store(self.fractions, e.real(fraction), j)
            e.store(self.instants, e.real(before), j)
        e.store(self.rho, e.real(float("nan")))
        e.store(self.row, e.argument("row"))
        behind = e.integer_arithmetic("rem", e.argument("begin"), e.argument("every"))
        ahead = e.integer_arithmetic("sub", e.argument("every"), behind)
        e.store(self.wait, e.integer_arithmetic("rem", ahead, e.argument("every")))

    def _store_carry(self) -> None:
        e = self.e
        carry, status = e.array_argument("carry"), e.array_argument("status")
        for array, i, at in self._carried():
            e.store(carry, e.load(array, i), at)
        e.store(carry, e.as_real(e.load(self.count)), self._count_at())
        at = e.integer_arithmetic("mul", self.lane, STATUS_WIDTH)
        e.store(status, e.load(self.code), at)
        e.store(status, e.load(self.last), e.after(at))
        for i in (0, 1):
            e.store(status, e.load(self.effort, i), e.integer_arithmetic("add", at, 2 + i))


def _instants(substeps: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Each substep and the sum of those before it."""
    for k, fraction in enumerate(substeps):
        yield fraction, math.fsum(substeps[:k])


@dataclass
class _Change:
    """State variables side by side that change in the same way."""

    first: int
    size: int
    rest: int | None
    """Where the rounding error of the first is; None if its update is no sum."""
    by_step: bool
    lacking: Handle | Place | None
    """What the first increment lacks, if that is computed beside it; those of the others follow in memory."""

    def follows(self, before: _Change) -> bool:
        """Whether it changes in the same way as those before it, and is where the next one would be."""
        size, place = before.size, before.lacking
        expected = place._replace(offset=place.offset + size) if isinstance(place, Place) else place
        rest = None if before.rest is None else before.rest + size
        alone = isinstance(self.lacking, str)
        return not alone and (self.rest, self.by_step, self.lacking) == (rest, before.by_step, expected)

    def lacking_at(self, e: Emitter, i: Index) -> Handle:
        """What increment i lacks."""
        place = self.lacking
        assert place is not None
        return place if isinstance(place, str) else e.load(place.array, place.at(e, i))


def _changes(stepmap: StepMap, found: Known) -> list[_Change]:
    """The state variables, in stretches that change in the same way."""
    rests, changes = {j: k for k, j in enumerate(stepmap.summed)}, list[_Change]()
    for j, (by_step, change) in enumerate(stepmap.changes):
        lacking = found.get(rest_of(change.name)) if j in rests and change.is_Symbol else None
        one = _Change(j, 1, rests.get(j), by_step, lacking)
        if changes and one.follows(changes[-1]):
            changes[-1].size += 1
        else:
            changes.append(one)
    return changes


def _constants(e: Emitter, stepmap: StepMap, lane: Handle) -> dict[str, Handle | Place]:
    """Parameters and step of a lane."""
    base = e.integer_arithmetic("mul", lane, e.argument("stride"))
    step: dict[str, Handle | Place] = {STEP: e.argument("h")}
    return step | loaded(e, stepmap.parameters, e.array_argument("parameters"), base)
