"""Earlier solutions of the step, kept as backward differences, and the guess extrapolated from them."""

from __future__ import annotations

from dataclasses import dataclass

from ..waist.stepmap import StepMap
from .emitter import Array, Emitter, Handle, Index
from .number_places import Known, moved, vectors

HISTORY = 5
"""Number of earlier solutions kept."""


def history_size(stepmap: StepMap) -> int:
    """Size of the history in reals: each substep has its own."""
    return len(stepmap.substeps) * HISTORY * len(stepmap.sought)


@dataclass
class History:
    """The last solutions of a lane, `count` of them valid, as differences of every order, substep by substep."""

    e: Emitter
    stepmap: StepMap
    differences: Array
    count: Array

    def place(self, substep: Index, order: int, j: Index) -> Index:
        """The index of the backward difference of an order, of unknown j of a substep."""
        n = len(self.stepmap.sought)
        first = self.e.at(substep, HISTORY * n, order * n)
        both = isinstance(first, int) and isinstance(j, int)
        return first + j if both else self.e.integer_arithmetic("add", first, j)  # type: ignore[operator]

    def remember(self, known: Known, substep: Index = 0) -> None:
        """Update the backward differences: each is the change of the one of the order below."""
        e, offset = self.e, 0
        for found in vectors(e, known, self.stepmap.sought):
            for j, solution in found:
                difference = solution
                for order in range(HISTORY):
                    at = self.place(substep, order, moved(e, offset, j))
                    before = e.load(self.differences, at)
                    e.store(self.differences, difference, at)
                    difference = e.arithmetic("sub", difference, before)
            offset += found.size

    def remembered(self) -> None:
        """Count one more solution, if any are kept."""
        if not self.stepmap.sought:
            return
        e = self.e
        seen = e.load(self.count)
        with e.when(e.integer_compare("lt", seen, HISTORY)):
            e.store(self.count, e.after(seen))

    def extrapolate(self, substep: Index, offset: int, x: Array, n: int) -> None:
        """Continue the polynomial through the last solutions of the n unknowns from `offset` on; there is one at least."""
        e, terms = self.e, self._terms(substep, offset, n)
        for i in e.each(0, n, n):
            j = offset + i if isinstance(i, int) else e.integer_arithmetic("add", i, offset)
            guess = e.load(self.differences, self.place(substep, 0, j))
            for order in range(1, HISTORY):
                more = e.arithmetic("add", guess, e.load(self.differences, self.place(substep, order, j)))
                guess = e.select(e.integer_compare("lt", order, terms), more, guess)
            e.store(x, guess, i)

    def _terms(self, substep: Index, offset: int, n: int) -> Handle:
        """How many differences to sum: three, and more while each is less than a quarter of the one before.

        The error of a sum, had it been taken one step ago, is the next difference. Where steps are so long that
        differences do not fall off, a longer sum is worse, and leads to other solutions of the step.
        """
        e, seen = self.e, self.e.load(self.count)
        size, terms = e.local(HISTORY), e.local(1, "integer")
        for order in range(3, HISTORY):
            e.store(size, e.real(0.0), order)
        for i in e.each(0, n, n):
            j = offset + i if isinstance(i, int) else e.integer_arithmetic("add", i, offset)
            for order in range(3, HISTORY):
                change = e.call("fabs", e.load(self.differences, self.place(substep, order, j)))
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
