"""The loop of adaptive methods, written once: attempts, accepted steps, rows, projection.

Each lane has steps of its own. How a step is made, how long it is and where the motion is inside it is up to the method:
`pair_lane`, `series_lane`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from ..waist.adaptive_flow import ATOL, RTOL, SIZE, Flow, after_name, begun_name, largest_name
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
    STEP_AT,
    STEPS,
    TIME_AT,
    LaneNumbers,
)  # fmt: skip
from .emitter import Array, Emitter, Handle, Index
from .inner_map import InnerMap
from .number_places import Known, Place, Vector, loaded
from .status import Status

ARGUMENTS = {
    "carry": "real[]", "parameters": "real[]", "times": "real[]", "out": "real[]", "status": "integer[]",
    "first": "integer", "last": "integer",
    "rows": "integer", "most": "integer", "order": "integer", "rtol": "real", "atol": "real",
}  # fmt: skip

LEAST = 2.3e-15
"""The shortest step, relative to the time: some ten units in the last place."""

COLLAPSED, PATIENCE = 1e-5, 2000
"""After PATIENCE steps in a row shorter than COLLAPSED times the longest, the motion is taken to approach a singular point."""

RETRIES_MOST, SHORTER = 12, 0.6
"""How often a step is retried after a point where the rates are undefined, and by what factor it is shortened."""


class AdaptiveLane(LaneNumbers, ABC):
    """The code of one lane; methods say how a step is made."""

    def __init__(self, e: Emitter, flow: Flow, lane: Handle):
        super().__init__(e, flow, lane)
        self.place, self.sum, self.after, self.slope, self.scale, self.grown, self.held = (
            e.local(self.n) for _ in range(7)
        )
        self.turn, self.accepted, self.failed = (e.local(1, "integer") for _ in range(3))

    @abstractmethod
    def prepare(self, constants: Known) -> None:
        """What is done once before all steps."""

    def propose(self) -> None:
        """Store how long the next step is to be, where it is not known before it is attempted."""

    @abstractmethod
    def make_step(self) -> None:
        """Where a step of `h` leads: `after`, with the mean rate of change in `slope`; the largest sizes anew in `grown`.
        It sets `accepted`, or `failed` where something is undefined.
        """

    @abstractmethod
    def shorten(self) -> Handle:
        """By what a step is multiplied that was not accepted."""

    @abstractmethod
    def grow(self) -> None:
        """Store the length of the step after an accepted one."""

    @abstractmethod
    def prepare_inside(self) -> None:
        """What the motion inside the step needs."""

    @abstractmethod
    def inside(self, time: Handle) -> Callable[[Index], Handle]:
        """The motion at a time inside the step, by the number of a variable."""

    def run(self) -> None:
        """Advance the lane."""
        e = self.e
        self.load()
        base = e.integer_arithmetic("mul", self.lane, len(self.flow.parameters))
        constants = {STEP: e.real(1.0)} | loaded(e, self.flow.parameters, e.array_argument("parameters"), base)
        self.rates, self.sizes, self.bounds = (
            InnerMap(e, m, constants) for m in (self.flow.rates, self.flow.sizes, self.flow.bounds)
        )
        self.nearest = None if self.flow.nearest is None else InnerMap(e, self.flow.nearest, constants)
        self.prepare(constants)
        e.store(self.turn, 0)
        with e.forever():
            turn = e.load(self.turn)
            going = e.both(self._is_going(), e.integer_compare("lt", turn, e.argument("most")))
            e.leave_if(e.opposite(going))
            self._attempt()
            e.store(self.turn, e.after(turn))
        self.store()

    def evaluate(self, t: Handle) -> Vector:
        """The rates at `place`; where they are undefined the attempt has failed."""
        e = self.e
        values = self.rates({**self.state_in(self.place), TIME: t})
        size = values.size_of_all()
        bad = e.either(self.rates.failed, e.opposite(e.compare("lt", size, e.real(float("inf")))))
        with e.when(bad):
            self.fail()
            with e.when(self.rates.failed):
                e.store(self.marks, e.load(self.rates.code), LEFT)
        return values

    def fail(self) -> None:
        """The attempt had no value."""
        self.e.store(self.failed, 1)
        self.e.store(self.marks, Status.LEFT_DOMAIN, LEFT)

    @property
    def has_failed(self) -> Handle:
        return self.e.integer_compare("ne", self.e.load(self.failed), 0)

    def find_sizes(self, after: Array, rates: Known) -> None:
        """What errors are compared with, from the rates at the beginning of the step, by their names."""
        e, state = self.e, self.flow.state
        known = self.state_in(self.y) | {TIME: self.real(TIME_AT), SIZE: self.real(SIZE_AT)} | dict(rates)
        known |= {RTOL: e.argument("rtol"), ATOL: e.argument("atol")}
        for name, array in ((after_name, after), (begun_name, self.begun), (largest_name, self.largest)):
            known |= loaded(e, [name(s) for s in state], array, 0)
        values = self.sizes(known)
        values.part(0, self.n).keep(self.scale)
        values.part(self.n, values.size).keep(self.grown)

    def state_in(self, array: Array) -> dict[str, Handle | Place]:
        """The state in an array, by name."""
        return loaded(self.e, self.flow.state, array, 0)

    def _is_going(self) -> Handle:
        e = self.e
        return e.both(
            e.integer_compare("eq", self.mark(CODE), 0), e.integer_compare("lt", self.mark(ROW), e.argument("rows"))
        )

    def _attempt(self) -> None:
        """One attempted step: its length, where it leads, and what follows from its error."""
        e = self.e
        self.propose()
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
            self.make_step()
            failed = e.integer_compare("ne", e.load(self.failed), 0)
            accepted = e.both(e.opposite(failed), e.integer_compare("ne", e.load(self.accepted), 0))
            with e.when(failed):
                self._retry()
            with e.when(e.opposite(e.either(failed, accepted))):
                e.store(self.own, e.arithmetic("mul", self.h, self.shorten()), STEP_AT)
                e.store(self.marks, 1, REJECTED)
            with e.when(accepted):
                self._accept()

    def _bound(self) -> Handle:
        """The last time."""
        e = self.e
        return e.load(e.array_argument("times"), e.integer_arithmetic("sub", e.argument("rows"), 1))

    def next_time(self) -> Handle:
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
        self.grow()
        e.store(self.marks, 0, REJECTED)
        e.store(self.marks, 0, RETRIES)
        with e.when(e.integer_compare("eq", self.mark(CODE), 0)):
            after = loaded(e, [after_name(s) for s in self.flow.state], self.after, 0)
            self.bounds(self.state_in(self.y) | after | {TIME: self.t, after_name(TIME): self.t_after})
            with e.when(self.bounds.failed):
                e.store(self.marks, Status.LEFT_DOMAIN, CODE)
            with e.when(e.opposite(self.bounds.failed)):
                self._record()
                self._move()

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
        """Fill the rows that are due, by the motion inside the step; with constraints, find its end on them too."""
        e = self.e
        with e.when(e.compare("le", self.next_time(), self.t_after)):
            self.prepare_inside()
        with e.forever():
            time = self.next_time()
            due = e.compare("le", time, self.t_after)
            if self.nearest is None:
                e.leave_if(e.opposite(due))
            else:
                e.leave_if(e.opposite(self._is_going()))
            tau = e.select(due, time, self.t_after)
            at = self.inside(tau)
            for i in self.each():
                e.store(self.held, e.select(due, at(i), e.load(self.after, i)), i)
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
        found = nearest({**self.state_in(self.held), TIME: time, RTOL: e.argument("rtol")})
        with e.when(nearest.failed):
            e.store(self.marks, e.load(nearest.code), CODE)
        with e.when(e.opposite(nearest.failed)):
            found.part(0, self.n).keep(self.held)
            (torn,) = found.part(self.n, found.size).listed()
            with e.when(e.both(e.opposite(due), e.compare("lt", e.real(0.0), torn))):
                e.store(self.marks, Status.SINGULAR, CODE)

    def _write(self) -> None:
        """`held` into the next row."""
        e, row = self.e, self.mark(ROW)
        base = e.integer_arithmetic("add", e.integer_arithmetic("mul", self.lane, e.argument("rows")), row)
        base = e.integer_arithmetic("mul", base, self.n)
        for i in self.each():
            e.store(e.array_argument("out"), e.load(self.held, i), e.integer_arithmetic("add", base, i))
        e.store(self.marks, e.after(row), ROW)
