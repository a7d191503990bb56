"""The loop of an adaptive method, written once: stages, error, choice of the step, dense output, projection.

Each lane has steps of its own. The control of the step is that of DOP853 in E. Hairer, S. P. Norsett and G. Wanner, Solving
Ordinary Differential Equations I, 1993, section II.5: a step is accepted if its error is below 1, and the next one is
0.9 error^(-1/power) times as long, between a fifth and ten times.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..waist.adaptive_flow import ATOL, RTOL, SIZE, Flow, Pair, after_name, begun_name, largest_name, nonzero, rate_name
from ..waist.stepmap import STEP, TIME
from .adaptive_lane import (
    CODE,
    LEFT,
    LONGEST_AT,
    REJECTED,
    RETRIES,
    ROW,
    SHORT,
    SIZE_AT,
    STATUS_WIDTH,
    STEP_AT,
    STEPS,
    TIME_AT,
    LaneNumbers,
)  # fmt: skip
from .emitter import Array, Emitter, Handle, Index
from .inner_map import InnerMap
from .number_places import Place, loaded
from .status import Status

ARGUMENTS = {
    "carry": "real[]", "parameters": "real[]", "times": "real[]", "out": "real[]", "status": "integer[]",
    "first": "integer", "last": "integer",
    "rows": "integer", "most": "integer", "rtol": "real", "atol": "real",
}  # fmt: skip

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0

LEAST = 2.3e-15
"""The shortest step, relative to the time: some ten units in the last place."""

COLLAPSED, PATIENCE = 1e-5, 2000
"""After PATIENCE steps in a row shorter than COLLAPSED times the longest, the motion is taken to approach a singular point."""

RETRIES_MOST, SHORTER = 12, 0.6
"""How often a step is retried after a point where the rates are undefined, and by what factor it is shortened."""


def emit_adaptive(e: Emitter, flow: Flow, pair: Pair) -> None:
    """Advance lanes first..last-1 by at most `most` attempted steps each, filling their rows of `out` as times are reached."""
    with e.lanes(e.argument("first"), e.argument("last")) as lane:
        at = e.integer_arithmetic("mul", lane, STATUS_WIDTH)
        status = e.array_argument("status")
        rows = e.load(status, e.integer_arithmetic("add", at, ROW))
        going = e.both(
            e.integer_compare("eq", e.load(status, at), 0), e.integer_compare("lt", rows, e.argument("rows"))
        )
        with e.when(going):
            _Lane(e, flow, pair, lane).run()


class _Lane(LaneNumbers):
    """The code of one lane."""

    def __init__(self, e: Emitter, flow: Flow, pair: Pair, lane: Handle):
        super().__init__(e, flow, lane)
        n = self.n
        self.pair = pair
        self.place, self.sum, self.after, self.slope, self.scale, self.grown, self.held = (e.local(n) for _ in range(7))
        self.k, self.dense = e.local(n * len(pair.rows)), e.local(n * len(pair.dense))
        self.norm = e.local(1)
        self.turn, self.accepted, self.failed = (e.local(1, "integer") for _ in range(3))

    def run(self) -> None:
        e = self.e
        self.load()
        base = e.integer_arithmetic("mul", self.lane, len(self.flow.parameters))
        constants = {STEP: e.real(1.0)} | loaded(e, self.flow.parameters, e.array_argument("parameters"), base)
        self.rates, self.sizes, self.bounds = (
            InnerMap(e, m, constants) for m in (self.flow.rates, self.flow.sizes, self.flow.bounds)
        )
        self.nearest = None if self.flow.nearest is None else InnerMap(e, self.flow.nearest, constants)
        self._tables()
        e.store(self.turn, 0)
        with e.forever():
            turn = e.load(self.turn)
            going = e.both(self._is_going(), e.integer_compare("lt", turn, e.argument("most")))
            e.leave_if(e.opposite(going))
            self._attempt()
            e.store(self.turn, e.after(turn))
        self.store()

    def _is_going(self) -> Handle:
        e = self.e
        return e.both(
            e.integer_compare("eq", self.mark(CODE), 0), e.integer_compare("lt", self.mark(ROW), e.argument("rows"))
        )

    def _tables(self) -> None:
        """The coefficients of the stages: where those of each begin, which stages they belong to, their values, the nodes."""
        e, terms = self.e, self.pair.terms
        count = sum(map(len, terms))
        self.begin, self.which = e.local(len(terms) + 1, "integer"), e.local(count, "integer")
        self.values, self.nodes = e.local(count), e.local(len(terms))
        at = 0
        for s, row in enumerate(terms):
            e.store(self.begin, at, s)
            e.store(self.nodes, e.real(self.pair.nodes[s]), s)
            for j, a in row:
                e.store(self.which, j * self.n, at)
                e.store(self.values, e.real(a), at)
                at += 1
        e.store(self.begin, at, len(terms))

    def _attempt(self) -> None:
        """One attempted step: its length, its stages, and what follows from its error."""
        e = self.e
        t, h, bound = self.real(TIME_AT), self.real(STEP_AT), self._bound()
        least = e.arithmetic("mul", e.real(LEAST), e.call("fabs", t))
        tiny = e.both(e.compare("lt", h, least), e.integer_compare("ne", self.mark(REJECTED), 0))
        with e.when(tiny):
            self._end(Status.NO_SOLUTION)
        left = e.arithmetic("sub", bound, t)
        longer = e.larger(h, least)
        self.final = e.compare("le", left, longer)
        self.h = e.select(self.final, left, longer)
        self.t = t
        self.t_after = e.select(self.final, bound, e.arithmetic("add", t, self.h))
        e.store(self.accepted, 0)
        e.store(self.failed, 0)
        with e.when(e.integer_compare("eq", self.mark(CODE), 0)):
            self._stages()
            failed = e.integer_compare("ne", e.load(self.failed), 0)
            accepted = e.both(e.opposite(failed), e.integer_compare("ne", e.load(self.accepted), 0))
            with e.when(failed):
                self._retry()
            with e.when(e.opposite(e.either(failed, accepted))):
                e.store(self.own, e.arithmetic("mul", self.h, self._factor()), STEP_AT)
                e.store(self.marks, 1, REJECTED)
            with e.when(accepted):
                self._accept()

    def _bound(self) -> Handle:
        """The last time."""
        e = self.e
        return e.load(e.array_argument("times"), e.integer_arithmetic("sub", e.argument("rows"), 1))

    def _next_time(self) -> Handle:
        """The time of the next row; after the last one there is an infinite time."""
        return self.e.load(self.e.array_argument("times"), self.mark(ROW))

    def _end(self, code: int) -> None:
        """End the lane; where an attempt has had no value before, with what that was."""
        e = self.e
        e.store(self.marks, code, CODE)
        with e.when(e.integer_compare("ne", self.mark(LEFT), 0)):
            e.store(self.marks, self.mark(LEFT), CODE)

    def _retry(self) -> None:
        """A shorter step, which may stop before a singular point, or pass it with other points."""
        e = self.e
        e.store(self.own, e.arithmetic("mul", self.h, e.real(SHORTER)), STEP_AT)
        e.store(self.marks, e.after(self.mark(RETRIES)), RETRIES)
        e.store(self.marks, 1, REJECTED)
        with e.when(e.integer_compare("lt", RETRIES_MOST, self.mark(RETRIES))):
            self._end(Status.LEFT_DOMAIN)

    # stages and error

    def _stages(self) -> None:
        """All stages up to the end of the step; where that is accepted and rows are due, those of the dense output."""
        e, end, count = self.e, self.pair.count, len(self.pair.rows)
        with e.loop(0, count) as s:
            self._combine(s)
            at_end = e.integer_compare("eq", s, end)
            with e.when(at_end):
                self._judge()
            e.leave_if(e.both(at_end, e.opposite(self._is_due())))
            self._evaluate(s)
            e.leave_if(self._has_failed())

    def _evaluate(self, s: Index) -> None:
        """The rates in stage s, at `place`."""
        e, n = self.e, self.n
        t = e.call("fma", e.load(self.nodes, s), self.h, self.t)
        values = self.rates({**self._state(self.place), TIME: t})
        size = values.size_of_all()
        bad = e.either(self.rates.failed, e.opposite(e.compare("lt", size, e.real(float("inf")))))
        with e.when(bad):
            e.store(self.failed, 1)
            e.store(self.marks, Status.LEFT_DOMAIN, LEFT)
            with e.when(self.rates.failed):
                e.store(self.marks, e.load(self.rates.code), LEFT)
        base = e.integer_arithmetic("mul", s, n)
        values.keep(self.k, base)

    def _has_failed(self) -> Handle:
        return self.e.integer_compare("ne", self.e.load(self.failed), 0)

    def _is_due(self) -> Handle:
        """Whether the step is accepted, and a row lies in it."""
        e = self.e
        accepted = e.both(self._is_accepted(), e.opposite(self._has_failed()))
        return e.both(accepted, e.compare("le", self._next_time(), self.t_after))

    def _is_accepted(self) -> Handle:
        return self.e.integer_compare("ne", self.e.load(self.accepted), 0)

    def _state(self, array: Array) -> dict[str, Handle | Place]:
        return loaded(self.e, self.flow.state, array, 0)

    def _combine(self, s: Index) -> None:
        """The place of a stage: y + h sum a k, with what rounding took from y."""
        e = self.e
        for i in self.each():
            e.store(self.sum, e.real(0.0), i)
        with e.loop(e.load(self.begin, s), e.load(self.begin, e.after(s))) as p:
            a, j = e.load(self.values, p), e.load(self.which, p)
            for i in self.each():
                slope = e.load(self.k, e.integer_arithmetic("add", j, i))
                e.store(self.sum, e.call("fma", a, slope, e.load(self.sum, i)), i)
        for i in self.each():
            moved = e.call("fma", self.h, e.load(self.sum, i), e.load(self.rest, i))
            e.store(self.place, e.arithmetic("add", e.load(self.y, i), moved), i)

    def _judge(self) -> None:
        """The error of the step relative to the sizes of the motion, and whether it is accepted."""
        e, state = self.e, self.flow.state
        for i in self.each():
            e.store(self.after, e.load(self.place, i), i)
            e.store(self.slope, e.load(self.sum, i), i)
        known = self._state(self.y) | {TIME: self.t, SIZE: self.real(SIZE_AT)}
        known |= {RTOL: e.argument("rtol"), ATOL: e.argument("atol")}
        for name, array in ((after_name, self.after), (begun_name, self.begun), (largest_name, self.largest)):
            known |= loaded(e, [name(s) for s in state], array, 0)
        known |= loaded(e, [rate_name(s) for s in state], self.k, 0)
        values = self.sizes(known)
        values.part(0, self.n).keep(self.scale)
        values.part(self.n, values.size).keep(self.grown)
        high, low = (self._size_of(weights) for weights in self.pair.errors)
        below = e.arithmetic("add", high, e.arithmetic("mul", e.real(0.01), low))
        root = e.call("sqrt", e.arithmetic("mul", below, e.real(float(self.n))))
        norm = e.arithmetic("div", e.arithmetic("mul", self.h, high), root)
        norm = e.select(e.compare("eq", below, e.real(0.0)), e.real(0.0), norm)
        e.store(self.norm, norm)
        with e.when(e.compare("lt", norm, e.real(1.0))):
            e.store(self.accepted, 1)
        with e.when(e.compare("ne", norm, norm)):  # not a number
            e.store(self.failed, 1)
            e.store(self.marks, Status.LEFT_DOMAIN, LEFT)

    def _size_of(self, weights: Sequence[float]) -> Handle:
        """The sum of the squares of one estimate of the error, each divided by its size."""
        e, total = self.e, self.e.local(1)
        e.store(total, e.real(0.0))
        for i in self.each():
            error = e.arithmetic("div", self._weighted(weights, i), e.load(self.scale, i))
            e.store(total, e.call("fma", error, error, e.load(total)))
        return e.load(total)

    def _weighted(self, weights: Sequence[float], i: Index) -> Handle:
        """The sum of the rates of variable i in all stages, with weights."""
        e, total = self.e, self.e.real(0.0)
        for j, w in nonzero(weights):
            at = j * self.n + i if isinstance(i, int) else e.integer_arithmetic("add", i, j * self.n)
            total = e.call("fma", e.real(w), e.load(self.k, at), total)
        return total

    def _factor(self) -> Handle:
        """By what the step may change after an error, before bounds above."""
        e = self.e
        power = e.call("pow", e.load(self.norm), e.real(-1.0 / self.pair.power))
        return e.larger(e.real(SHRINK), e.arithmetic("mul", e.real(SAFETY), power))

    # an accepted step

    def _accept(self) -> None:
        e = self.e
        longest = e.larger(self.real(LONGEST_AT), self.h)
        e.store(self.own, longest, LONGEST_AT)
        e.store(self.own, self.h, SIZE_AT)
        e.store(self.marks, e.after(self.mark(STEPS)), STEPS)
        shorter = e.compare("lt", self.h, e.arithmetic("mul", e.real(COLLAPSED), longest))
        e.store(self.marks, e.after(self.mark(SHORT)), SHORT)
        with e.when(e.opposite(shorter)):
            e.store(self.marks, 0, SHORT)
        with e.when(e.integer_compare("lt", PATIENCE, self.mark(SHORT))):
            self._end(Status.NO_SOLUTION)
        self._grow()
        with e.when(e.integer_compare("eq", self.mark(CODE), 0)):
            after = loaded(e, [after_name(s) for s in self.flow.state], self.after, 0)
            self.bounds(self._state(self.y) | after | {TIME: self.t, after_name(TIME): self.t_after})
            with e.when(self.bounds.failed):
                e.store(self.marks, Status.LEFT_DOMAIN, CODE)
            with e.when(e.opposite(self.bounds.failed)):
                self._record()
                self._move()

    def _grow(self) -> None:
        """The length of the next step; after an attempt that was not accepted it does not grow."""
        e = self.e
        factor = self._factor()
        most = e.select(e.integer_compare("ne", self.mark(REJECTED), 0), e.real(1.0), e.real(GROW))
        factor = e.select(e.compare("lt", factor, most), factor, most)
        e.store(self.own, e.arithmetic("mul", self.h, factor), STEP_AT)
        e.store(self.marks, 0, REJECTED)
        e.store(self.marks, 0, RETRIES)

    def _move(self) -> None:
        """The end of the step is the next state, or the nearest one on the constraints, which `_record` has left in `held`."""
        e = self.e
        for i in self.each():
            after = e.load(self.after, i)
            change = e.arithmetic("sub", after, e.load(self.y, i))
            lost = e.arithmetic(
                "add", e.call("fma", self.h, e.load(self.slope, i), e.negative(change)), e.load(self.rest, i)
            )
            if self.nearest is None:
                e.store(self.rest, lost, i)
                e.store(self.y, after, i)
            else:
                e.store(self.y, e.load(self.held, i), i)
            e.store(self.largest, e.load(self.grown, i), i)
        e.store(self.own, self.t_after, TIME_AT)

    def _record(self) -> None:
        """Fill the rows that are due, by the polynomial of the step; with constraints, find its end on them too."""
        e = self.e
        with e.when(e.compare("le", self._next_time(), self.t_after)):
            self._prepare_dense()
        with e.forever():
            time = self._next_time()
            due = e.compare("le", time, self.t_after)
            if self.nearest is None:
                e.leave_if(e.opposite(due))
            else:
                e.leave_if(e.opposite(self._is_going()))
            tau = e.select(due, time, self.t_after)
            x = e.arithmetic("div", e.arithmetic("sub", tau, self.t), self.h)
            for i in self.each():
                e.store(self.held, e.select(due, self._inside(x, i), e.load(self.after, i)), i)
            if self.nearest is not None:
                self._hold(tau, due)
            with e.when(e.both(due, e.integer_compare("eq", self.mark(CODE), 0))):
                self._write()
            if self.nearest is not None:
                e.leave_if(e.opposite(due))

    def _hold(self, time: Handle, due: Handle) -> None:
        """Bring the state in `held` onto the constraints; tolerances must explain what that changes at the end of a step."""
        e, nearest = self.e, self.nearest
        assert nearest is not None
        found = nearest({**self._state(self.held), TIME: time, RTOL: e.argument("rtol")})
        with e.when(nearest.failed):
            e.store(self.marks, e.load(nearest.code), CODE)
        with e.when(e.opposite(nearest.failed)):
            found.part(0, self.n).keep(self.held)
            (torn,) = found.part(self.n, found.size).listed()
            with e.when(e.both(e.opposite(due), e.compare("lt", e.real(0.0), torn))):
                e.store(self.marks, Status.SINGULAR, CODE)

    def _prepare_dense(self) -> None:
        """The coefficients of the polynomial: h sum d k."""
        e = self.e
        for r, weights in enumerate(self.pair.dense):
            for i in self.each():
                at = r * self.n + i if isinstance(i, int) else e.integer_arithmetic("add", i, r * self.n)
                e.store(self.dense, e.arithmetic("mul", self.h, self._weighted(weights, i)), at)

    def _inside(self, x: Handle, i: Index) -> Handle:
        """Variable i at the fraction x of the step."""
        e, total = self.e, self.e.real(0.0)
        back = e.arithmetic("sub", e.real(1.0), x)
        for r in reversed(range(len(self.pair.dense))):
            at = r * self.n + i if isinstance(i, int) else e.integer_arithmetic("add", i, r * self.n)
            total = e.arithmetic("mul", e.arithmetic("add", total, e.load(self.dense, at)), back if r % 2 else x)
        return e.arithmetic("add", e.load(self.y, i), total)

    def _write(self) -> None:
        """`held` into the next row."""
        e, row = self.e, self.mark(ROW)
        base = e.integer_arithmetic("add", e.integer_arithmetic("mul", self.lane, e.argument("rows")), row)
        base = e.integer_arithmetic("mul", base, self.n)
        for i in self.each():
            e.store(e.array_argument("out"), e.load(self.held, i), e.integer_arithmetic("add", base, i))
        e.store(self.marks, e.after(row), ROW)
