"""The steps of an embedded Runge-Kutta pair: stages, error, choice of the next step, dense output.

The control of the step is that of DOP853 in E. Hairer, S. P. Norsett and G. Wanner, Solving Ordinary Differential Equations
I, 1993, section II.5: a step is accepted if its error is below 1, and the next one is 0.9 error^(-1/power) times as long,
between a fifth and ten times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from ..waist.adaptive_flow import Flow, Pair, nonzero, rate_name
from .adaptive_lane import REJECTED, STEP_AT
from .adaptive_loop import AdaptiveLane
from .emitter import Emitter, Handle, Index
from .number_places import Known, loaded

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0


class PairLane(AdaptiveLane):
    """The code of one lane whose steps are those of a pair."""

    def __init__(self, e: Emitter, flow: Flow, pair: Pair, lane: Handle):
        super().__init__(e, flow, lane)
        self.pair = pair
        self.k, self.dense = e.local(self.n * len(pair.rows)), e.local(self.n * len(pair.dense))
        self.norm = e.local(1)

    def prepare(self, constants: Known) -> None:
        """The coefficients of the stages: where those of each begin, which stages they belong to, their values, the nodes."""
        e, terms = self.e, self.pair.terms
        entries = [entry for row in terms for entry in row]
        self.begin = e.table([0, *accumulate(map(len, terms))])
        self.which = e.table([j * self.n for j, _ in entries])
        self.values, self.nodes = e.local(len(entries)), e.local(len(terms))
        for s in range(len(terms)):
            e.store(self.nodes, e.real(self.pair.nodes[s]), s)
        for at, (_, a) in enumerate(entries):
            e.store(self.values, e.real(a), at)

    # stages and error

    def make_step(self) -> None:
        """All stages up to the end of the step; where that is accepted and rows are due, those of the dense output."""
        e, end, count = self.e, self.pair.count, len(self.pair.rows)
        with e.loop(0, count) as s:
            self._combine(s)
            at_end = e.integer_compare("eq", s, end)
            with e.when(at_end):
                self._judge()
            e.leave_if(e.both(at_end, e.opposite(self._is_due())))
            self._evaluate(s)
            e.leave_if(self.has_failed)

    def _evaluate(self, s: Index) -> None:
        """The rates in stage s, at `place`."""
        e = self.e
        values = self.evaluate(e.call("fma", e.load(self.nodes, s), self.h, self.t))
        values.keep(self.k, e.integer_arithmetic("mul", s, self.n))

    def _is_due(self) -> Handle:
        """Whether the step is accepted, and a row lies in it."""
        e = self.e
        accepted = e.both(self._is_accepted(), e.opposite(self.has_failed))
        return e.both(accepted, e.compare("le", self.next_time(), self.t_after))

    def _is_accepted(self) -> Handle:
        return self.e.integer_compare("ne", self.e.load(self.accepted), 0)

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
        e = self.e
        for i in self.each():
            e.store(self.after, e.load(self.place, i), i)
            e.store(self.slope, e.load(self.sum, i), i)
        self.find_sizes(self.after, loaded(e, [rate_name(s) for s in self.flow.state], self.k, 0))
        high, low = (self._size_of(weights) for weights in self.pair.errors)
        below = e.arithmetic("add", high, e.arithmetic("mul", e.real(0.01), low))
        root = e.call("sqrt", e.arithmetic("mul", below, e.real(float(self.n))))
        norm = e.arithmetic("div", e.arithmetic("mul", self.h, high), root)
        norm = e.select(e.compare("eq", below, e.real(0.0)), e.real(0.0), norm)
        e.store(self.norm, norm)
        with e.when(e.compare("lt", norm, e.real(1.0))):
            e.store(self.accepted, 1)
        with e.when(e.compare("ne", norm, norm)):  # not a number
            self.fail()

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

    def shorten(self) -> Handle:
        """By what the step may change after an error, before bounds above."""
        e = self.e
        power = e.call("pow", e.load(self.norm), e.real(-1.0 / self.pair.power))
        return e.larger(e.real(SHRINK), e.arithmetic("mul", e.real(SAFETY), power))

    def grow(self) -> None:
        """The length of the next step; after an attempt that was not accepted it does not grow."""
        e = self.e
        factor = self.shorten()
        most = e.select(e.integer_compare("ne", self.mark(REJECTED), 0), e.real(1.0), e.real(GROW))
        factor = e.select(e.compare("lt", factor, most), factor, most)
        e.store(self.own, e.arithmetic("mul", self.h, factor), STEP_AT)

    def prepare_inside(self) -> None:
        """The coefficients of the polynomial: h sum d k."""
        e = self.e
        for r, weights in enumerate(self.pair.dense):
            for i in self.each():
                at = r * self.n + i if isinstance(i, int) else e.integer_arithmetic("add", i, r * self.n)
                e.store(self.dense, e.arithmetic("mul", self.h, self._weighted(weights, i)), at)

    def inside(self, time: Handle) -> Callable[[Index], Handle]:
        """The polynomial of the pair."""
        e = self.e
        x = e.arithmetic("div", e.arithmetic("sub", time, self.t), self.h)
        back = e.arithmetic("sub", e.real(1.0), x)

        def at(i: Index) -> Handle:
            total = e.real(0.0)
            for r in reversed(range(len(self.pair.dense))):
                place = r * self.n + i if isinstance(i, int) else e.integer_arithmetic("add", i, r * self.n)
                total = e.arithmetic("mul", e.arithmetic("add", total, e.load(self.dense, place)), back if r % 2 else x)
            return e.arithmetic("add", e.load(self.y, i), total)

        return at
