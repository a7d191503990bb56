"""Newton's method for one block: exact Jacobian, reused while convergence is fast, damped where the residual grows.

A step is taken from `old` along `d` to `x`. Evaluation at x gives the relative residual rho. If it is not finite, or grew
although it is not small, d is halved; otherwise a new d is computed.

With the Jacobian of one iterate kept for the steps that follow (V. E. Shamanskii, Ukr. Math. J. 19, 1967), rho shrinks
at each of them by the same factor as at the first, where it became rho_1 = theta rho_0. Hence two evaluations predict
the next steps: from rho, a step with the old matrix leaves theta rho, one with a new matrix theta^2 rho. A residual
and a substitution cost far less than a Jacobian and its factors, so the matrix is kept if a few more steps with it are
enough. The search ends with the step after which the residual should be rounding error, or below the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..waist.stepmap import Block
from .continuation import CLOSE, Continuation
from .emitter import Array, Handle, Index
from .history import History
from .linear import relative_residual
from .lower import STEP
from .number_places import Known, Vector, loaded
from .sparse import matrix
from .status import Status

if TYPE_CHECKING:
    from .solver import Solver

KEPT = 3
"""The matrix is kept if this many more steps with it suffice: they cost no more than a new matrix."""

NEAR, NEAR_COARSE = 1e-5, 1e-3
"""Relative residual below which a residual that no longer shrinks is rounding error: in doubles, and in fewer digits."""

CONTRACTS = 0.25
"""A search contracts where rho falls below this part of what it was."""

TINY = 2.0**-1020
"""Near the smallest normal number, whose reciprocal is finite."""

HALVINGS, DOUBTS = 40, 4
"""Most halvings of a step that leaves the domain; of a step after which the residual grew."""


@dataclass(frozen=True)
class Ends:
    """The end conditions of a search in compiled code; see `run_options.Search`.

    tolerance:  the last step is one predicted to leave a relative residual below this, from the rate of the last steps
    nearly:     or one with a new matrix from a relative residual below this: such a step squares it
    most:       largest number of steps before the last
    """

    tolerance: Handle
    nearly: Handle
    most: Index


class Newton:
    """The search for the unknowns of block k, into x."""

    def __init__(self, solver: Solver, k: int, block: Block, known: Known, x: Array):
        self.e, self.solver, self.k, self.block, self.known = solver.e, solver, k, block, known
        self.n, self.x, self.ends = len(block.unknowns), x, solver.ends
        e, n = self.e, self.n
        self.matrix = matrix(e, n, block.partials)
        self.d, self.old, self.right, self.scale, self.second, self.stride = (e.local(n) for _ in range(6))
        self.floored = e.local(n)
        self.looks, self.halved, self.going = (e.local(1, "integer") for _ in range(3))
        self.best, self.rho, self.theta = (e.local(1) for _ in range(3))
        self.far, self.doubt = (e.local(1, "integer") for _ in range(2))
        self.program = solver.programs[f"residual {k}"]
        self.near = NEAR if e.coarseness == 1.0 else NEAR_COARSE

    def run(self, history: History, substep: Index, offset: int) -> None:
        """Search from the extrapolated solutions, whose unknowns of this block begin at `offset`, if there are any.

        The solution is checked, and searched again by continuation if it may be a different one.
        """
        e, path = self.e, Continuation(self, history, substep, offset)
        path.begin()
        with e.forever():
            self._search(path.known())
            path.judge()
            e.leave_if(path.ended())

    def _search(self, known: Known) -> None:
        """Newton's method from x."""
        e, self.known = self.e, known
        self.played = self.solver.begun(f"residual {self.k}")
        self.program.play(known, STEP, self.played)
        self._begin()
        with e.forever():
            finite, renew = self._look()
            rho = e.load(self.rho)
            first = e.integer_compare("eq", e.load(self.looks), 0)
            grew = e.both(e.compare("lt", e.load(self.best), rho), e.compare("lt", e.real(self.near), rho))
            # A row of vanishing terms (the heat of a friction that is zero) may seem to grow for any length: then go on.
            grew = e.both(grew, e.integer_compare("lt", e.load(self.halved), DOUBTS))
            back = e.either(e.opposite(finite), e.both(e.opposite(first), grew))
            with e.when(back):
                self._go_back(first, finite)
            with e.when(e.opposite(back)):
                self._go_on(rho, renew)
            e.leave_if(e.integer_compare("eq", e.load(self.going), 0))
        self.solver.guards.check(self.k, {**known, **loaded(e, self.block.unknowns, self.x, 0)})

    def residual(self, x: Array) -> Vector:
        """The residual at another point, with the known values of the last search."""
        known = {**self.known, **loaded(self.e, self.block.unknowns, x, 0)}
        return self.program.evaluate(known, [dict(done) for done in self.played], 0, self.n)

    def _begin(self) -> None:
        e = self.e
        for cell, value in ((self.looks, 0), (self.halved, 0), (self.going, 1), (self.far, 0), (self.doubt, 0)):
            e.store(cell, value)
        e.store(self.best, e.real(float("inf")))
        for i in e.each(0, self.n, self.n):
            e.store(self.scale, e.real(1.0), i)

    def _count(self, which: int) -> None:
        e, effort = self.e, self.solver.effort
        e.store(effort, e.after(e.load(effort, which)), which)

    def _fail(self, status: Status) -> None:
        self.e.store(self.going, 0)
        self.e.store(self.solver.code, status)

    def _look(self) -> tuple[Handle, Handle]:
        """Residual at x, its relative size rho, a new Jacobian if needed; whether all is finite, and the matrix new."""
        e, n = self.e, self.n
        known = {**self.known, **loaded(e, self.block.unknowns, self.x, 0)}
        done = [dict(emitted) for emitted in self.played]
        r = self.program.evaluate(known, done, 0, n)
        for j, v in r:
            e.store(self.right, e.negative(v), j)
        total = e.local(1)
        e.store(total, r.size_of_all())
        self._measure(r)
        halved = e.integer_compare("lt", 0, e.load(self.halved))  # matrix and scale are those of a rejected point
        renew = e.either(halved, e.opposite(self._enough(KEPT)))
        with e.when(renew):
            values = self.program.evaluate(known, done, n)
            sizes = values.part(0, n)
            e.store(total, e.arithmetic("add", e.load(total), sizes.sum()))
            for j, size in sizes:
                e.store(self.scale, self._reciprocal(size), j)
            self.matrix.store(values.part(n, values.size))
            self._measure(r)
            self._mind_empty_rows(r)
            self._note_distance(r)
            self._count(0)
        e.store(self.solver.rho, e.load(self.rho))
        return e.compare("lt", e.load(total), e.real(e.largest)), renew

    def _reciprocal(self, size: Handle) -> Handle:
        """1/size; infinite for zero only, also where the size of all terms is below the smallest normal number."""
        e = self.e
        normal = e.larger(size, e.real(TINY))
        return e.rough_reciprocal(e.select(e.compare("lt", e.real(0.0), size), normal, size))

    def _note_distance(self, r: Vector) -> None:
        """Store whether the search has been far from its end, and whether it failed to contract there.

        A row whose terms all vanish, which is never small relative to them, does not count.
        """
        e, theta = self.e, self.e.load(self.theta)
        with e.when(self._is_far(e.load(self.rho))):
            for i in e.each(0, self.n, self.n):
                e.store(self.floored, e.load(self.scale, i), i)
            self.matrix.add_floors(self.floored)
            with e.when(self._is_far(relative_residual(e, r, self.floored))):
                e.store(self.far, 1)
                with e.when(e.compare("le", e.real(CONTRACTS), theta)):
                    e.store(self.doubt, 1)

    def _measure(self, r: Vector) -> None:
        """The relative residual rho, and theta, its ratio to the one before."""
        e = self.e
        rho = relative_residual(e, r, self.scale)
        e.store(self.rho, rho)
        e.store(self.theta, e.real(0.0))
        with e.when(self._seen()):
            e.store(self.theta, e.rough_quotient(rho, e.load(self.best)))

    def _seen(self) -> Handle:
        """Whether rho is known of a point before."""
        return self.e.compare("lt", self.e.load(self.best), self.e.real(float("inf")))

    def _enough(self, steps: int) -> Handle:
        """Whether that many steps with the present matrix reach the tolerance; false at the first evaluation."""
        e, rho, theta = self.e, self.e.load(self.rho), self.e.load(self.theta)
        left = rho
        for _ in range(steps):
            left = e.arithmetic("mul", left, theta)
        return e.both(
            e.both(self._seen(), e.compare("le", rho, e.real(self.near))), e.compare("le", left, self.ends.tolerance)
        )

    def _mind_empty_rows(self, r: Vector) -> None:
        """A row whose terms all vanish is never small relative to them: where rho does not contract, use the other rows too.

        Such a row is that of a constraint that sets a velocity to zero, which is rounding noise from the first step on.
        """
        e, rho = self.e, self.e.load(self.rho)
        slow = e.compare("le", e.real(CONTRACTS), e.load(self.theta))
        doubtful = e.either(e.integer_compare("le", 3, e.load(self.looks)), slow)
        with e.when(e.both(doubtful, e.compare("lt", self.ends.nearly, rho))):
            self.matrix.add_floors(self.scale)
            self._measure(r)

    def _go_back(self, first: Handle, finite: Handle) -> None:
        """Halve the last step; at the first evaluation there is none, and the search fails."""
        e = self.e
        e.store(self.doubt, 1)
        e.store(self.halved, e.after(e.load(self.halved)))
        for i in e.each(0, self.n, self.n):
            e.store(self.d, e.arithmetic("mul", e.real(0.5), e.load(self.d, i)), i)
            e.store(self.x, e.arithmetic("add", e.load(self.old, i), e.load(self.d, i)), i)
        with e.when(e.either(first, e.integer_compare("lt", HALVINGS, e.load(self.halved)))):
            self._fail(Status.NO_SOLUTION)
            with e.when(e.opposite(finite)):
                e.store(self.solver.code, Status.LEFT_DOMAIN)

    def _go_on(self, rho: Handle, renew: Handle) -> None:
        """Take a full step from x; stop if x was close enough to make it the last."""
        e, n = self.e, self.n
        shrunk = e.compare("lt", e.load(self.theta), e.real(CONTRACTS))
        stalled = e.both(e.compare("le", rho, e.real(self.near)), e.opposite(shrunk))
        squares = e.both(renew, e.either(e.compare("le", rho, self.ends.nearly), self._enough(2)))
        last = e.either(e.either(squares, self._enough(1)), stalled)
        e.store(self.best, rho)
        e.store(self.halved, 0)
        e.store(self.looks, e.after(e.load(self.looks)))
        with e.when(e.integer_compare("lt", self.ends.most, e.load(self.looks))):
            self._fail(Status.NO_SOLUTION)
        with e.when(last):
            e.store(self.going, 0)
            e.store(self.solver.code, 0)
        with e.when(renew), e.when(self.matrix.factor()):
            self._fail(Status.SINGULAR)
        self.matrix.solve(self.right, self.d)
        self._count(1)
        for i in e.each(0, n, n):
            e.store(self.old, e.load(self.x, i), i)
            e.store(self.x, e.arithmetic("add", e.load(self.x, i), e.load(self.d, i)), i)
        with e.when(renew), e.when(e.integer_compare("eq", e.load(self.looks), 1)), e.when(self._is_far(rho)):
            for i in e.each(0, n, n):
                e.store(self.stride, e.load(self.d, i), i)
                e.store(self.second, e.load(self.x, i), i)

    def _is_far(self, rho: Handle) -> Handle:
        """Whether a point is so far from its solution that it may be near another one."""
        return self.e.compare("lt", self.e.real(CLOSE), rho)
