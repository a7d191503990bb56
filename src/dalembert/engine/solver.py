"""Finding the unknowns of a step: linear blocks by elimination, the others by Newton's method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..stepmap import STEP as STEP_NAME
from ..stepmap import TIME, Block, StepMap
from ..symbolic import Fast, magnitude, substitute
from .emitter import Array, Emitter, Handle, Index
from .linear import eliminate, floored_residual, relative_residual
from .lower import ITERATION, RUN, STEP, Tape, tape
from .play import loaded, play, results
from .status import Status

HISTORY = 5
"""How many earlier solutions are remembered, as backward differences; the first guess is extrapolated from them."""

TOLERANCE = 1e-10
"""Newton's method stops after the step taken at a relative residual below this; that step squares the residual."""

SQUARED = 1e-17
"""Newton's method also stops if the step just taken should leave a relative residual below this, going by how the
last one shrank: quadratic convergence has a constant, and two looks tell it."""

NEAR = 1e-5
"""Relative residual below which a residual that no longer shrinks is rounding error."""

ITERATIONS, HALVINGS, DOUBTS = 40, 40, 4
"""Steps at most; halvings of a step that leaves the domain; halvings of one after which the residual grew."""


@dataclass
class Solver:
    """Finds the unknowns of every block in turn; a block after a failed one is not tried."""

    e: Emitter
    stepmap: StepMap
    code: Array
    count: Array
    evaluations: Array
    rho: Array

    def __post_init__(self) -> None:
        self.tapes: dict[str, Tape] = {}
        constant = {
            STEP_NAME: RUN if len(self.stepmap.substeps) == 1 else STEP,
            **dict.fromkeys(self.stepmap.parameters, RUN),
        }
        before = {**constant, TIME: STEP, **dict.fromkeys(self.stepmap.state, STEP)}
        for k, block in enumerate(self.stepmap.blocks):
            levels = {**before, **dict.fromkeys(block.unknowns, ITERATION)}
            self.tapes[f"guess {k}"] = tape(block.guess, before)
            self.tapes[f"residual {k}"] = tape(self._system(block), levels)
            before |= dict.fromkeys(block.unknowns, STEP)
        self.tapes["update"] = tape(self.stepmap.update, before)
        self.tapes["outputs"] = tape(self.stepmap.outputs.values(), before)
        self.played: dict[str, dict[int, Handle]] = {name: {} for name in self.tapes}

    @staticmethod
    def _system(block: Block) -> list[Fast]:
        """Residual, Jacobian by rows, size of the terms of each residual; a linear residual is wanted at zero.

        If each equation of a linear block has one unknown of its own, its solution is wanted, and the coefficients.
        """
        matrix = [d for row in block.jacobian for d in row]
        if not block.is_linear:
            return [*block.residual, *matrix, *map(magnitude, block.residual)]
        constant = [substitute(r, dict.fromkeys(block.unknowns, 0)) for r in block.residual]
        if not block.is_diagonal:
            return constant + matrix
        coefficients = [row[i] for i, row in enumerate(block.jacobian)]
        return [-r / c for r, c in zip(constant, coefficients, strict=True)] + coefficients

    def run_level(self, known: Mapping[str, Handle]) -> None:
        """Emit, once per run, everything that depends on parameters and the step only."""
        for name, t in self.tapes.items():
            play(self.e, t, known, RUN, self.played[name])

    def evaluate(self, name: str, known: Mapping[str, Handle]) -> list[Handle]:
        """The results of one tape."""
        return results(self.e, self.tapes[name], known, dict(self.played[name]))

    def solve(self, known: Mapping[str, Handle], history: Array, substep: Index = 0) -> dict[str, Handle]:
        """Solve all blocks; gives the unknowns, valid if `code` is still 0."""
        e, found, offset = self.e, dict(known), 0
        for k, block in enumerate(self.stepmap.blocks):
            n = len(block.unknowns)
            x = e.local(n)
            for i in e.each(0, n, n):
                e.store(x, e.real(0.0), i)
            with e.when(e.integer_compare("eq", e.load(self.code), 0)):
                if block.is_linear:
                    self._linear(k, block, found, x)
                else:
                    _Newton(self, k, block, found, x, history, (substep, offset)).run()
                    offset += n
                self._explain(found)
            found |= loaded(e, block.unknowns, x, 0)
        return found

    def place(self, substep: Index, order: int, j: Index) -> Index:
        """Where the history keeps the backward difference of so many steps of unknown j of a substep."""
        n = len(self.stepmap.sought)
        first = self.e.at(substep, HISTORY * n, order * n)
        both = isinstance(first, int) and isinstance(j, int)
        return first + j if both else self.e.integer_arithmetic("add", first, j)  # type: ignore[operator]

    def remember(self, known: Mapping[str, Handle], history: Array, substep: Index = 0) -> None:
        """Bring the backward differences up to date: each is what the one before it changed by."""
        e = self.e
        for j, name in enumerate(self.stepmap.sought):
            difference = known[name]
            for order in range(HISTORY):
                at = self.place(substep, order, j)
                before = e.load(history, at)
                e.store(history, difference, at)
                difference = e.arithmetic("sub", difference, before)

    def remembered(self) -> None:
        """Count one more solution in the history."""
        e = self.e
        seen = e.load(self.count)
        with e.when(e.integer_compare("lt", seen, HISTORY)):
            e.store(self.count, e.after(seen))

    def _explain(self, known: Mapping[str, Handle]) -> None:
        """A step that failed because its data were not numbers is said to be so."""
        e = self.e
        data = [known[s] for s in (*self.stepmap.state, *self.stepmap.parameters)]
        with e.when(e.integer_compare("ne", e.load(self.code), 0)):
            size = e.sum([e.call("fabs", v) for v in data])
            with e.when(e.opposite(e.compare("lt", size, e.real(float("inf"))))):
                e.store(self.code, Status.NOT_FINITE)

    def _linear(self, k: int, block: Block, known: Mapping[str, Handle], x: Array) -> None:
        """One elimination is exact; equations with one unknown each need not even that."""
        e, n = self.e, len(block.unknowns)
        values = self.evaluate(f"residual {k}", known)
        size = e.sum([e.call("fabs", v) for v in values])
        finite = e.compare("lt", size, e.real(float("inf")))
        if block.is_diagonal:
            for j, v in enumerate(values[:n]):
                e.store(x, v, j)
            for v in values[n:]:
                with e.when(e.compare("eq", v, e.real(0.0))):
                    e.store(self.code, Status.SINGULAR)
            finite = e.either(finite, e.integer_compare("ne", e.load(self.code), 0))
        else:
            matrix = e.local(n * n)
            for j, v in enumerate(values[:n]):
                e.store(x, e.negative(v), j)
            for j, v in enumerate(values[n:]):
                e.store(matrix, v, j)
            with e.when(finite), e.when(eliminate(e, n, matrix, x)):
                e.store(self.code, Status.SINGULAR)
        with e.when(e.opposite(finite)):  # infinite, or not a number at all
            e.store(self.code, Status.LEFT_DOMAIN)
            with e.when(e.compare("eq", size, size)):
                e.store(self.code, Status.NOT_FINITE)


class _Newton:
    """Newton's method for one block: exact Jacobian, damped where a full step makes things worse.

    A step is taken from `old` along `d` to `x`. Looking at x gives the relative residual rho. If it is not finite, or
    grew although it is not small, d is halved; otherwise a new d is computed. The search ends after the step taken
    at rho <= TOLERANCE, or when rho no longer shrinks and is small: then what is left is rounding error.
    """

    def __init__(
        self, solver: Solver, k: int, block: Block, known: Mapping[str, Handle], x: Array, history: Array,
        where: tuple[Index, int],
    ):  # fmt: skip
        self.e, self.solver, self.k, self.block, self.known = solver.e, solver, k, block, known
        self.n, self.x, self.history, (self.substep, self.offset) = len(block.unknowns), x, history, where
        e, n = self.e, self.n
        self.matrix, self.d, self.old = e.local(n * n), e.local(n), e.local(n)
        self.turns, self.halved, self.retry, self.going = (e.local(1, "integer") for _ in range(4))
        self.best = e.local(1)
        self.tape = solver.tapes[f"residual {k}"]
        self.played = dict(solver.played[f"residual {k}"])
        play(e, self.tape, known, STEP, self.played)

    def run(self) -> None:
        e = self.e
        self._begin()
        self._first_guess()
        with e.forever():
            r, rho, finite = self._look()
            first = e.integer_compare("eq", e.load(self.turns), 0)
            grew = e.both(e.compare("lt", e.load(self.best), rho), e.compare("lt", e.real(NEAR), rho))
            # A row of vanishing terms (the heat of a friction that is zero) may look worse all along the way: then go on.
            grew = e.both(grew, e.integer_compare("lt", e.load(self.halved), DOUBTS))
            back = e.either(e.opposite(finite), e.both(e.opposite(first), grew))
            with e.when(back):
                self._go_back(first, finite)
            with e.when(e.opposite(back)):
                self._go_on(r, rho)
            self._second_attempt()
            e.leave_if(e.integer_compare("eq", e.load(self.going), 0))

    def _begin(self) -> None:
        e = self.e
        for cell, value in ((self.turns, 0), (self.halved, 0), (self.going, 1)):
            e.store(cell, value)
        e.store(self.best, e.real(float("inf")))

    def _fail(self, status: Status) -> None:
        self.e.store(self.going, 0)
        self.e.store(self.solver.code, status)

    def _look(self) -> tuple[list[Handle], Handle, Handle]:
        """Residual and Jacobian at x; the relative residual, and whether it is finite."""
        e, n = self.e, self.n
        known = {**self.known, **loaded(e, self.block.unknowns, self.x, 0)}
        values = results(e, self.tape, known, dict(self.played))
        r, matrix, size = values[:n], values[n : n + n * n], values[n + n * n :]
        for j, v in enumerate(matrix):
            e.store(self.matrix, v, j)
        rho, finite = relative_residual(e, r, size)
        cell = e.local(1)
        e.store(cell, rho)
        doubtful = e.either(e.integer_compare("le", 3, e.load(self.turns)), e.compare("lt", e.load(self.best), rho))
        late = e.both(doubtful, e.compare("lt", e.real(TOLERANCE), rho))
        with e.when(late):  # a row all of whose terms vanish is never small beside them: compare it with the other rows
            e.store(cell, floored_residual(e, n, r, size, self.matrix))
        rho = e.load(cell)
        e.store(self.solver.evaluations, e.after(e.load(self.solver.evaluations)))
        e.store(self.solver.rho, rho)
        return r, rho, finite

    def _go_back(self, first: Handle, finite: Handle) -> None:
        """Halve the last step; there is none to halve at the first look."""
        e = self.e
        e.store(self.halved, e.after(e.load(self.halved)))
        for i in e.each(0, self.n, self.n):
            e.store(self.d, e.arithmetic("mul", e.real(0.5), e.load(self.d, i)), i)
            e.store(self.x, e.arithmetic("add", e.load(self.old, i), e.load(self.d, i)), i)
        with e.when(e.either(first, e.integer_compare("lt", HALVINGS, e.load(self.halved)))):
            self._fail(Status.NO_SOLUTION)
            with e.when(e.opposite(finite)):
                e.store(self.solver.code, Status.LEFT_DOMAIN)

    def _go_on(self, r: list[Handle], rho: Handle) -> None:
        """Take a full Newton step from x; stop if x was close enough to make it the last."""
        e, n = self.e, self.n
        for j, value in enumerate(r):
            e.store(self.d, e.negative(value), j)
        singular = eliminate(e, n, self.matrix, self.d)
        for i in e.each(0, n, n):
            e.store(self.old, e.load(self.x, i), i)
            e.store(self.x, e.arithmetic("add", e.load(self.x, i), e.load(self.d, i)), i)
        shrunk = e.compare("lt", rho, e.arithmetic("mul", e.real(0.25), e.load(self.best)))
        near = e.compare("le", rho, e.real(NEAR))
        stalled = e.both(near, e.opposite(shrunk))
        # After the first look `best` is infinite, and says nothing.
        ratio = e.arithmetic("div", rho, e.load(self.best))
        expected = e.arithmetic("mul", rho, e.arithmetic("mul", ratio, ratio))
        again = e.integer_compare("lt", 0, e.load(self.turns))
        done = e.both(e.both(near, again), e.compare("le", expected, e.real(SQUARED)))
        e.store(self.best, rho)
        e.store(self.halved, 0)
        e.store(self.turns, e.after(e.load(self.turns)))
        with e.when(e.integer_compare("lt", ITERATIONS, e.load(self.turns))):
            self._fail(Status.NO_SOLUTION)
        with e.when(e.either(e.either(e.compare("le", rho, e.real(TOLERANCE)), stalled), done)):
            e.store(self.going, 0)
            e.store(self.solver.code, 0)
        with e.when(singular):
            self._fail(Status.SINGULAR)

    def _own_guess(self) -> None:
        for j, v in enumerate(self.solver.evaluate(f"guess {self.k}", self.known)):
            self.e.store(self.x, v, j)

    def _first_guess(self) -> None:
        """Extrapolate the last solutions by a polynomial; without any, take the block's own guess."""
        e = self.e
        seen = e.load(self.solver.count)
        fresh = e.integer_compare("eq", seen, 0)
        e.store(self.retry, 1)
        with e.when(fresh):
            e.store(self.retry, 0)
            self._own_guess()
        with e.when(e.opposite(fresh)):
            terms = self._terms(seen)
            for i in e.each(0, self.n, self.n):
                guess = e.load(self.history, self._place(0, i))
                for order in range(1, HISTORY):
                    more = e.arithmetic("add", guess, e.load(self.history, self._place(order, i)))
                    guess = e.select(e.integer_compare("lt", order, terms), more, guess)
                e.store(self.x, guess, i)

    def _terms(self, seen: Handle) -> Handle:
        """How many differences to sum: three, and more while each is less than a quarter of the one before.

        The error of a sum, had it been taken one step ago, is the next difference. Where steps are so long that
        differences do not fall off, a longer sum is worse, and leads to other solutions of the step.
        """
        e = self.e
        size, terms = e.local(HISTORY), e.local(1, "integer")
        for order in range(3, HISTORY):
            e.store(size, e.real(0.0), order)
        for i in e.each(0, self.n, self.n):
            for order in range(3, HISTORY):
                change = e.call("fabs", e.load(self.history, self._place(order, i)))
                e.store(size, e.arithmetic("add", e.load(size, order), change), order)
        e.store(terms, seen)
        with e.when(e.integer_compare("lt", 3, seen)):
            e.store(terms, 3)
            for order in range(4, HISTORY):
                quarter = e.arithmetic("mul", e.real(0.25), e.load(size, order - 1))
                falls = e.compare("lt", e.load(size, order), quarter)
                so_far = e.both(e.integer_compare("eq", e.load(terms), order - 1), e.integer_compare("lt", order, seen))
                with e.when(e.both(falls, so_far)):
                    e.store(terms, order)
        return e.load(terms)

    def _place(self, order: int, i: Index) -> Index:
        j = self.offset + i if isinstance(i, int) else self.e.integer_arithmetic("add", i, self.offset)
        return self.solver.place(self.substep, order, j)

    def _second_attempt(self) -> None:
        """A search that failed from the extrapolated guess is begun once more from the block's own guess."""
        e = self.e
        failed = e.integer_compare("ne", e.load(self.solver.code), 0)
        with e.when(e.both(failed, e.integer_compare("eq", e.load(self.retry), 1))):
            e.store(self.retry, 0)
            e.store(self.solver.code, 0)
            self._begin()
            self._own_guess()
