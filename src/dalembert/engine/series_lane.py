"""Steps by power series: how long they are, where they lead, how far the equations hold in them.

The length of a step follows from the last two coefficients, as in A. Jorba and M. Zou, Experimental Mathematics 14 (2005)
99: its last terms are to be a fraction of the tolerance. Coefficients do not see what the equations do further away, such as
a wall that is steep; so every step is checked: at its end, and inside a long one, the rate of the series is compared with
the equations. Time is counted in units of the last step: so coefficients have the size of the state in any units.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log

from ..waist.adaptive_flow import Flow, rate_name
from ..waist.stepmap import TIME
from .adaptive_lane import CODE, REJECTED, SIZE_AT, STEP_AT, TIME_AT
from .adaptive_loop import AdaptiveLane
from .emitter import Emitter, Handle, Index
from .number_places import Known, Place, Vector
from .series import MOST, Series
from .series_tape import SeriesTape

NO_SERIES = -1
"""The code of a lane at a state where the coefficients are not finite; another method may lead on from there."""

LAST = 0.1
"""The last term of a step, relative to the tolerance."""

DEFECT = 3.0
"""How much larger the defect of a step may be than that of a series whose next term is the tolerance."""

POINTS, MANY, LONGER, LONGEST = 1, 8, 2.0, 10.0
"""At how many points a step is checked, the last of them its end; and one that is more than `LONGER` times as long as the last
one. None is more than `LONGEST` times as long.
"""

SHRINK, LEAST_SHRINK = 0.1, 0.7
"""By what a step is multiplied that was not accepted, at least and at most."""


def order_for(rtol: float) -> int:
    """The order that takes least time for a tolerance: some more than where the time is in the sums alone."""
    return min(MOST, max(8, ceil(4 - log(max(rtol, 1e-17)) / 2)))


class SeriesLane(AdaptiveLane):
    """The code of one lane whose steps are power series."""

    def __init__(self, e: Emitter, flow: Flow, tape: SeriesTape, lane: Handle):
        super().__init__(e, flow, lane)
        self.series = Series(e, tape, flow.state, TIME)
        self.rate, self.bent, self.weight = e.local(self.n), e.local(self.n), e.local(self.n)
        self.norm, self.unit = e.local(1), e.local(1)
        self.have, self.points = e.local(1, "integer"), e.local(1, "integer")

    def prepare(self, constants: Known) -> None:
        """Coefficients are found anew when the lane goes on."""
        self.series.begin(constants)
        self.e.store(self.have, 0)

    def propose(self) -> None:
        """The coefficients, unless the step is an attempt with the same ones; the length they allow."""
        e, series = self.e, self.series
        with e.when(e.integer_compare("eq", e.load(self.have), 0)):
            unit = self.real(SIZE_AT)
            e.store(self.unit, unit)
            singular = series.find(self.state_in(self.y) | {TIME: self.real(TIME_AT)}, unit, e.argument("order"))
            rates: dict[str, Handle | Place] = {}
            for c, name in enumerate(self.flow.state):
                first = e.load(series.memory, series.width + c)
                rates[rate_name(name)] = e.arithmetic("div", first, unit)
            self.find_sizes(self.y, rates)
            for i in self.each():
                e.store(self.weight, e.arithmetic("div", e.real(1.0), e.load(self.scale, i)), i)
            size = self._last_terms()
            power = e.arithmetic("div", e.real(-1.0), e.as_real(e.argument("order")))
            most = e.call("exp", e.arithmetic("mul", power, e.call("log", size)))
            length = e.arithmetic("mul", unit, self._smaller(most, e.real(LONGEST)))
            before = e.integer_compare("ne", self.mark(REJECTED), 0)
            e.store(self.own, e.select(before, self._smaller(length, self.real(STEP_AT)), length), STEP_AT)
            e.store(self.have, 1)
            finite = e.compare("lt", size, e.real(float("inf")))
            with e.when(e.either(singular, e.opposite(finite))):
                e.store(self.marks, NO_SERIES, CODE)

    def _smaller(self, a: Handle, b: Handle) -> Handle:
        return self.e.select(self.e.compare("lt", a, b), a, b)

    def _last_terms(self) -> Handle:
        """The larger one of the last two terms of a step as long as the last one, relative to what it may be.

        The sum over the state, so that it is not a number where a coefficient is none.
        """
        e, sums = self.e, [self.e.local(1) for _ in range(2)]
        order = e.argument("order")
        rows = [
            e.integer_arithmetic("mul", k, self.series.width) for k in (order, e.integer_arithmetic("sub", order, 1))
        ]
        for row, total in zip(rows, sums, strict=True):
            e.store(total, e.real(0.0))
            for i in self.each():
                term = e.call("fabs", e.load(self.series.memory, e.integer_arithmetic("add", row, i)))
                e.store(total, e.arithmetic("add", e.load(total), e.arithmetic("mul", term, e.load(self.weight, i))))
        last, before = map(e.load, sums)
        larger = e.select(e.compare("lt", last, before), before, last)  # the last one if that is not a number
        return e.arithmetic("mul", e.real(1 / LAST), larger)

    def make_step(self) -> None:
        """Points inside the step, and its end."""
        e = self.e
        e.store(self.points, POINTS)
        much = e.arithmetic("mul", e.real(LONGER), self.real(SIZE_AT))
        with e.when(e.compare("lt", much, self.h)):
            e.store(self.points, MANY)
        e.store(self.norm, e.real(0.0))
        count = e.load(self.points)
        with e.loop(1, e.after(count)) as s:
            gone = e.arithmetic("mul", self.h, e.arithmetic("div", e.as_real(s), e.as_real(count)))
            self._move_to(gone)
            values = self.evaluate(e.arithmetic("add", self.t, gone))
            self._compare(values)
            e.leave_if(e.either(self.has_failed, e.compare("le", e.real(1.0), e.load(self.norm))))
        good = e.compare("lt", e.load(self.norm), e.real(1.0))
        with e.when(good):
            e.store(self.accepted, 1)
            for i in self.each():
                e.store(self.after, e.load(self.place, i), i)

    def _sum_up(self, gone: Handle) -> Handle:
        """The mean slope up to a time in the step, in `slope`, and what it changes by, in `bent`; per unit of time."""
        e, order = self.e, self.e.argument("order")
        x = e.arithmetic("div", gone, e.load(self.unit))
        for i in self.each():
            e.store(self.slope, e.real(0.0), i)
            e.store(self.bent, e.real(0.0), i)
        with e.loop(0, order) as up:
            row = e.integer_arithmetic("mul", e.integer_arithmetic("sub", order, up), self.series.width)
            for i in self.each():
                slope, c = e.load(self.slope, i), e.load(self.series.memory, e.integer_arithmetic("add", row, i))
                e.store(self.bent, e.call("fma", e.load(self.bent, i), x, slope), i)
                e.store(self.slope, e.call("fma", slope, x, c), i)
        return x

    def _move_to(self, gone: Handle) -> None:
        """The place so far in the step, and the rate of the series there."""
        e, x = self.e, self._sum_up(gone)
        per = e.arithmetic("div", e.real(1.0), e.load(self.unit))
        for i in self.each():
            slope = e.load(self.slope, i)
            rate = e.call("fma", e.load(self.bent, i), x, slope)
            e.store(self.rate, e.arithmetic("mul", rate, per), i)
            slope = e.arithmetic("mul", slope, per)
            e.store(self.slope, slope, i)
            e.store(
                self.place, e.arithmetic("add", e.load(self.y, i), e.call("fma", gone, slope, e.load(self.rest, i))), i
            )

    def _compare(self, rates: Vector) -> None:
        """The largest defect so far, relative to what is allowed."""
        e = self.e
        most = e.arithmetic("mul", e.real(DEFECT), e.as_real(e.after(e.argument("order"))))
        per = e.arithmetic("div", self.h, most)
        for i, rate in rates:
            lacking = e.call("fabs", e.arithmetic("sub", rate, e.load(self.rate, i)))
            size = e.arithmetic("mul", e.arithmetic("mul", lacking, per), e.load(self.weight, i))
            e.store(self.norm, e.larger(e.load(self.norm), size))

    def shorten(self) -> Handle:
        """By the order of the defect."""
        e = self.e
        power = e.arithmetic("div", e.real(-1.0), e.as_real(e.after(e.argument("order"))))
        factor = e.call("pow", e.load(self.norm), power)
        return e.larger(e.real(SHRINK), self._smaller(e.real(LEAST_SHRINK), factor))

    def grow(self) -> None:
        """The length of the next step follows from the coefficients at its beginning."""
        self.e.store(self.own, self.h, STEP_AT)
        self.e.store(self.have, 0)

    def prepare_inside(self) -> None:
        """The series is there."""

    def inside(self, time: Handle) -> Callable[[Index], Handle]:
        """The sum of the series."""
        e = self.e
        gone = e.arithmetic("sub", time, self.t)
        x = e.arithmetic("div", gone, e.load(self.unit))
        for i in self.each():
            e.store(self.held, e.real(0.0), i)
        with e.loop(0, e.argument("order")) as up:
            k = e.integer_arithmetic("sub", e.argument("order"), up)
            row = e.integer_arithmetic("mul", k, self.series.width)
            for i in self.each():
                c = e.load(self.series.memory, e.integer_arithmetic("add", row, i))
                e.store(self.held, e.call("fma", e.load(self.held, i), x, c), i)

        def at(i: Index) -> Handle:
            return e.arithmetic("add", e.load(self.y, i), e.call("fma", x, e.load(self.held, i), e.load(self.rest, i)))

        return at
