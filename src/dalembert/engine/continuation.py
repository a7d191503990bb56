"""Whether the solution found by a search continues the motion, and continuation in h to the right one if in doubt.

The solution that continues the motion is the one reached when h grows from zero. A search is not in doubt if it began
close to its end, or if it contracted well from a guess that earlier solutions determine. Otherwise the step is solved with
a fraction of h, from the last solution, and the fraction is extended, each search beginning at the solution before. If that
reaches the full h, it has found the solution; if it does not, however small the fractions, the branch of solutions ends
before h, and any solution found lies on another branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..symbolic import free_names
from ..waist.stepmap import STEP as STEP_NAME
from .emitter import Array, Handle, Index
from .history import History
from .number_places import Place, value
from .status import Status

if TYPE_CHECKING:
    from .newton import Newton

CLOSE = 4e-3
"""A search whose relative residual is never above this does not move from one solution to another."""

MARGIN = 8.0
"""A search is trusted if K times the change of the unknowns from step to step is below 2/MARGIN; K: see `_doubt_guess`."""

FIRST_STRIDE, SHORTEST = 2.0**-4, 2.0**-16
"""Fractions of h by which a solution is continued: the first; and the one below which its branch counts as ended."""

SHORT = 2.0**-6
"""Fraction of h below which the first search of a continuation need not contract well: there the momenta determine it."""

TURN = 0.4
"""In a continuation, a solution may deviate from the line through the last two by this part of the change of the unknowns."""

MISSED = 0.3
"""A step from the last solution may miss the new one by this part of the distance between them."""

PLAIN, CONTINUED, DONE = 0, 1, 2
"""A search with the full h; with fractions of it; no further search."""


class Continuation:
    """The searches of one block in one step, one after the other."""

    def __init__(self, newton: Newton, history: History, substep: Index, offset: int):
        e, self.newton, self.n = newton.e, newton, newton.n
        self.e, self.code, self.given = e, newton.solver.code, newton.known
        self.history, self.substep, self.offset = history, substep, offset
        self.depends = STEP_NAME in free_names(newton.block.residual)
        self.phase, self.failure, self.own = (e.local(1, "integer") for _ in range(3))
        self.fraction, self.reached, self.stride, self.earlier = (e.local(1) for _ in range(4))
        self.base, self.found, self.before, self.guess = (e.local(self.n) for _ in range(4))

    def begin(self) -> None:
        """Prepare the first search: full h, from the extrapolated solutions or, without any, from the block's own guess."""
        e = self.e
        e.store(self.phase, PLAIN)
        e.store(self.fraction, e.real(1.0))
        e.store(self.reached, e.real(0.0))
        e.store(self.own, 0)
        fresh = e.integer_compare("eq", e.load(self.history.count), 0)
        with e.when(fresh):
            e.store(self.own, 1)
            self._own_guess(self.newton.x)
        with e.when(e.opposite(fresh)):
            self.history.extrapolate(self.substep, self.offset, self.newton.x, self.n)

    def known(self) -> dict[str, Handle | Place]:
        """The known values of a search: those of the step, with the present fraction of h."""
        e, known = self.e, dict(self.given)
        if self.depends:
            known[STEP_NAME] = e.arithmetic("mul", e.load(self.fraction), value(e, known[STEP_NAME]))
        return known

    def ended(self) -> Handle:
        """Whether no further search is needed."""
        return self.e.integer_compare("eq", self.e.load(self.phase), DONE)

    def judge(self) -> None:
        """After a search: accept its solution, or prepare the next search."""
        e, doubt = self.e, self.newton.doubt
        plain = e.integer_compare("eq", e.load(self.phase), PLAIN)
        found = e.integer_compare("eq", e.load(self.code), 0)
        if not self.depends:
            self._judge_alone(found)
            return
        seen = e.integer_compare("lt", 0, e.load(self.history.count))
        far = e.both(seen, e.integer_compare("eq", e.load(self.newton.far), 1))
        with e.when(e.both(e.both(plain, found), far)):
            self._doubt_guess()
        with e.when(e.both(e.both(e.opposite(plain), found), self._has_direction())):
            self._doubt_turn()
        sure = e.both(found, e.either(e.integer_compare("eq", e.load(doubt), 0), self._begins()))
        with e.when(e.both(plain, sure)):
            e.store(self.phase, DONE)
        with e.when(e.both(plain, e.opposite(sure))):
            self._leave_plain()
        with e.when(e.both(e.opposite(plain), sure)):
            self._extend()
        with e.when(e.both(e.opposite(plain), e.opposite(sure))):
            self._shorten()
        with e.when(e.opposite(self.ended())):
            e.store(self.code, 0)
            ahead = e.arithmetic("add", e.load(self.reached), e.load(self.stride))
            e.store(self.fraction, e.select(e.compare("lt", ahead, e.real(1.0)), ahead, e.real(1.0)))
            self._predict()

    def _predict(self) -> None:
        """Start the next search on the straight line through the last two solutions, if there are two."""
        e, n = self.e, self.n
        self._copy(self.base, self.guess)
        with e.when(self._has_direction()):
            ahead = e.arithmetic("sub", e.load(self.fraction), e.load(self.reached))
            ratio = e.arithmetic("div", ahead, e.arithmetic("sub", e.load(self.reached), e.load(self.earlier)))
            for i in e.each(0, n, n):
                change = e.arithmetic("sub", e.load(self.base, i), e.load(self.before, i))
                e.store(self.guess, e.arithmetic("add", e.load(self.base, i), e.arithmetic("mul", ratio, change)), i)
        self._copy(self.guess, self.newton.x)

    def _has_direction(self) -> Handle:
        return self.e.compare("lt", self.e.real(0.0), self.e.load(self.earlier))

    def _doubt_turn(self) -> None:
        """Doubt a solution far from the line through the last two, relative to the differences between the three."""
        e, n = self.e, self.n
        off, count = e.local(1), e.local(1)
        e.store(off, e.real(0.0))
        e.store(count, e.real(0.0))
        for i in e.each(0, n, n):
            new, base = e.load(self.newton.x, i), e.load(self.base, i)
            moved = [e.arithmetic("sub", new, base), e.arithmetic("sub", base, e.load(self.before, i))]
            unit = e.sum([e.call("fabs", m) for m in moved])
            missed = e.call("fabs", e.arithmetic("sub", new, e.load(self.guess, i)))
            with e.when(e.compare("lt", e.real(0.0), unit)):
                e.store(off, e.arithmetic("add", e.load(off), e.arithmetic("div", missed, unit)))
                e.store(count, e.arithmetic("add", e.load(count), e.real(1.0)))
        turned = e.compare("lt", e.arithmetic("mul", e.real(TURN), e.load(count)), e.load(off))
        long = e.compare("le", e.real(SHORT), e.load(self.stride))  # a kink turns by as much, however short the stride
        with e.when(e.both(turned, long)):
            e.store(self.newton.doubt, 1)

    def _judge_alone(self, found: Handle) -> None:
        """A block without h is not continued; a failed search is repeated once from the block's own guess."""
        e = self.e
        again = e.both(e.opposite(found), e.integer_compare("eq", e.load(self.own), 0))
        with e.when(e.opposite(again)):
            e.store(self.phase, DONE)
        with e.when(again):
            e.store(self.own, 1)
            e.store(self.code, 0)
            self._own_guess(self.newton.x)

    def _begins(self) -> Handle:
        """Whether a continuation starts here, with a step so short that momenta alone determine the solution."""
        e = self.e
        nothing = e.compare("eq", e.load(self.reached), e.real(0.0))
        return e.both(nothing, e.compare("lt", e.load(self.fraction), e.real(SHORT)))

    def _leave_plain(self) -> None:
        """Start a continuation: a fraction of h, from the last solution."""
        e, n = self.e, self.n
        e.store(self.phase, CONTINUED)
        e.store(self.failure, e.load(self.code))
        self._copy(self.newton.x, self.found)
        self._restart()
        first = e.integer_compare("eq", e.load(self.own), 1)
        with e.when(first):
            self._own_guess(self.base)
        with e.when(e.opposite(first)):
            for i in e.each(0, n, n):
                e.store(self.base, self._difference(0, i), i)

    def _restart(self) -> None:
        for cell, begin in ((self.reached, 0.0), (self.earlier, 0.0), (self.stride, FIRST_STRIDE)):
            self.e.store(cell, self.e.real(begin))

    def _extend(self) -> None:
        """Continue from the solution found, with twice the stride once two solutions give a direction."""
        e, reached = self.e, self.e.load(self.fraction)
        longer = e.arithmetic("mul", e.real(2.0), e.load(self.stride))
        e.store(self.stride, e.select(e.compare("lt", e.real(0.0), e.load(self.reached)), longer, e.load(self.stride)))
        e.store(self.earlier, e.load(self.reached))
        e.store(self.reached, reached)
        self._copy(self.base, self.before)
        self._copy(self.newton.x, self.base)
        with e.when(e.compare("le", e.real(1.0), reached)):
            e.store(self.phase, DONE)

    def _shorten(self) -> None:
        """Halve the stride. At the shortest one the branch has ended; or no solution on it was found: then restart from
        the block's own guess, and if that fails too, keep the result of the first search."""
        e = self.e
        stride = e.arithmetic("mul", e.real(0.5), e.load(self.stride))
        e.store(self.stride, stride)
        with e.when(e.compare("lt", stride, e.real(SHORTEST))):
            begun = e.compare("lt", e.real(0.0), e.load(self.reached))
            last = e.either(begun, e.integer_compare("eq", e.load(self.own), 1))
            with e.when(e.opposite(last)):
                e.store(self.own, 1)
                self._own_guess(self.base)
                self._restart()
            with e.when(last):
                e.store(self.phase, DONE)
                e.store(self.code, e.load(self.failure))
                self._copy(self.found, self.newton.x)
                with e.when(e.both(begun, e.integer_compare("eq", e.load(self.failure), 0))):
                    e.store(self.code, Status.OTHER_BRANCH)

    def _doubt_guess(self) -> None:
        """Doubt a solution if there may be another one near the extrapolation of earlier solutions.

        Newton's first step s leaves an error of about K s^2 / 2, K the curvature of the equations; within 1/K of where it
        began there is no other solution (Kantorovich). The solution that continues the motion must be expected well within:
        no farther away than the unknowns change from step to step. A first step longer than these changes is a reason for
        doubt by itself. And a step from the last solution, with the last matrix, must end near the new one: then the
        equations are nearly linear between the two. All lengths are in units of the change of each unknown.
        """
        e, n, newton = self.e, self.n, self.newton
        error, stride, count, missed, apart = (e.local(1) for _ in range(5))
        for cell in (error, stride, count, missed, apart):
            e.store(cell, e.real(0.0))
        self._step_from_last()
        for i in e.each(0, n, n):
            last, new, d = self._difference(0, i), e.load(newton.x, i), e.load(newton.d, i)
            distance = e.call("fabs", e.arithmetic("sub", new, last))
            unit = e.sum([distance, *(e.call("fabs", self._difference(order, i)) for order in range(1, 4))])
            parts = {
                error: e.arithmetic("sub", new, e.load(newton.second, i)),
                stride: e.load(newton.stride, i),
                count: unit,
                missed: e.arithmetic("sub", e.arithmetic("add", last, d), new),
                apart: distance,
            }
            with e.when(e.compare("lt", e.real(0.0), unit)):
                for total, part in parts.items():
                    share = e.arithmetic("div", e.call("fabs", part), unit)
                    e.store(total, e.arithmetic("add", e.load(total), share))
        curved = e.arithmetic("mul", e.real(MARGIN), e.arithmetic("mul", e.load(error), e.load(count)))
        doubtful = e.compare("lt", e.arithmetic("mul", e.load(stride), e.load(stride)), curved)
        doubtful = e.either(doubtful, e.compare("lt", e.load(count), e.load(stride)))
        near = e.compare("le", e.load(missed), e.arithmetic("mul", e.real(MISSED), e.load(apart)))
        with e.when(e.either(doubtful, e.opposite(near))):
            e.store(newton.doubt, 1)

    def _step_from_last(self) -> None:
        """The step that the last matrix gives from the last solution, into the array of steps."""
        e, n, newton = self.e, self.n, self.newton
        for i in e.each(0, n, n):
            e.store(self.base, self._difference(0, i), i)
        for j, r in newton.residual(self.base):
            e.store(newton.right, e.negative(r), j)
        newton.matrix.solve(newton.right, newton.d)

    def _difference(self, order: int, i: Index) -> Handle:
        e = self.e
        j = self.offset + i if isinstance(i, int) else e.integer_arithmetic("add", i, self.offset)
        return e.load(self.history.differences, self.history.place(self.substep, order, j))

    def _own_guess(self, into: Array) -> None:
        solver, k = self.newton.solver, self.newton.k
        solver.evaluate(f"guess {k}", self.given).keep(into)

    def _copy(self, source: Array, target: Array) -> None:
        for i in self.e.each(0, self.n, self.n):
            self.e.store(target, self.e.load(source, i), i)
