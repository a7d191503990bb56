"""Finding the unknowns of a step: linear blocks by elimination, the others by Newton's method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..symbolic import Fast, magnitude, substitution
from ..waist.matrix_block import MatrixBlock
from ..waist.stepmap import STEP as STEP_NAME
from ..waist.stepmap import TIME, Block, StepMap
from .emit_tape import loaded, play, results
from .emitter import Array, Emitter, Handle, Index
from .guards import START, Guards
from .history import History
from .linear import Matrix
from .linear_columns import columns_tape, solve_columns
from .lower import ITERATION, RUN, STEP, Tape, tape
from .newton import Ends, Newton
from .status import Status


@dataclass
class Solver:
    """Finds the unknowns of every block in turn; a block after a failed one is not tried."""

    e: Emitter
    stepmap: StepMap
    code: Array
    effort: Array
    """Jacobians formed and factored; corrections made with them."""
    rho: Array
    ends: Ends

    def __post_init__(self) -> None:
        self.tapes: dict[str, Tape] = {}
        self.factored: dict[int, Matrix] = {}
        # Continuation changes h, and substeps have steps of their own.
        one_step = len(self.stepmap.substeps) == 1 and not self.stepmap.sought
        constant = {STEP_NAME: RUN if one_step else STEP, **dict.fromkeys(self.stepmap.parameters, RUN)}
        before = {**constant, TIME: STEP, **dict.fromkeys((*self.stepmap.state, *self.stepmap.rests), STEP)}
        self.guards = Guards(self, before)
        for k, block in enumerate(self.stepmap.blocks):
            levels = {**before, **dict.fromkeys(block.unknowns, ITERATION)}
            self.tapes[f"guess {k}"] = tape(block.guess, before)
            if isinstance(block, MatrixBlock):
                self.tapes[f"residual {k}"] = columns_tape(self.stepmap, k, before)
            else:
                system = self._system(block)
                exact = len(system) if block.is_linear else len(block.residual)
                self.tapes[f"residual {k}"] = tape(system, levels, exact)
            before |= dict.fromkeys(block.unknowns, STEP)
            self.guards.add(k, before)
        self.tapes["update"] = tape([x for _, x in self.stepmap.changes], before, len(self.stepmap.state))
        self.tapes["outputs"] = tape(self.stepmap.outputs.values(), before)
        self.played: dict[str, dict[int, Handle]] = {name: {} for name in self.tapes}

    @staticmethod
    def _system(block: Block) -> list[Fast]:
        """Residual, size of the terms of each residual, Jacobian without zeros; of a linear block, the residual at zero.

        If each equation of a linear block has one unknown of its own: its solution, and the coefficients.
        """
        entries = list(block.partials.values())
        if not block.is_linear:
            return [*block.residual, *map(magnitude, block.residual), *entries]
        constant = list(map(substitution(dict.fromkeys(block.unknowns, 0)), block.residual))
        if not block.is_diagonal:
            return constant + entries
        return [-r / c for r, c in zip(constant, entries, strict=True)] + entries

    def run_level(self, known: Mapping[str, Handle]) -> None:
        """Emit, once per run, everything that depends on parameters and the step only."""
        for name, t in self.tapes.items():
            play(self.e, t, known, RUN, self.played[name])

    def evaluate(self, name: str, known: Mapping[str, Handle]) -> list[Handle]:
        """The results of one tape."""
        return results(self.e, self.tapes[name], known, dict(self.played[name]))

    def solve(self, known: Mapping[str, Handle], history: History, substep: Index = 0) -> dict[str, Handle]:
        """Solve all blocks; returns the unknowns, valid if `code` is still 0."""
        e, found, offset = self.e, dict(known), 0
        self.guards.check(START, found)
        for k, block in enumerate(self.stepmap.blocks):
            n = len(block.unknowns)
            x = e.local(n)
            for i in e.each(0, n, n):
                e.store(x, e.real(0.0), i)
            with e.when(e.integer_compare("eq", e.load(self.code), 0)):
                if isinstance(block, MatrixBlock):
                    solve_columns(self, k, block, found, x)
                elif block.is_linear:
                    self._linear(k, block, found, x)
                    self.guards.check(k, found | loaded(e, block.unknowns, x, 0))
                else:
                    Newton(self, k, block, found, x).run(history, substep, offset)
                    offset += n
            found |= loaded(e, block.unknowns, x, 0)
        self._explain(found)
        return found

    def _explain(self, known: Mapping[str, Handle]) -> None:
        """Change the status of a step that failed because its data are not finite."""
        e = self.e
        data = [known[s] for s in (*self.stepmap.state, *self.stepmap.parameters)]
        with e.when(e.integer_compare("ne", e.load(self.code), 0)):
            size = e.sum([e.call("fabs", v) for v in data])
            with e.when(e.opposite(e.compare("lt", size, e.real(float("inf"))))):
                e.store(self.code, Status.NOT_FINITE)

    def _linear(self, k: int, block: Block, known: Mapping[str, Handle], x: Array) -> None:
        """One elimination is exact; equations with one unknown each need none."""
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
            m, right = Matrix(e, n, block.partials), e.local(n)
            self.factored[k] = m
            for j, v in enumerate(values[:n]):
                e.store(right, e.negative(v), j)
            m.store(values[n:])
            with e.when(finite):
                with e.when(m.factor()):
                    e.store(self.code, Status.SINGULAR)
                m.solve(right, x)
        self.not_finite(finite, size)

    def not_finite(self, finite: Handle, size: Handle) -> None:
        """Set the status if values are infinite or NaN."""
        e = self.e
        with e.when(e.opposite(finite)):
            e.store(self.code, Status.LEFT_DOMAIN)
            with e.when(e.compare("eq", size, size)):
                e.store(self.code, Status.NOT_FINITE)
