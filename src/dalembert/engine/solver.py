"""Finding the unknowns of a step: linear blocks by elimination, the others by Newton's method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from ..symbolic import Fast, magnitudes, substituted
from ..waist.matrix_block import MatrixBlock
from ..waist.stepmap import STEP as STEP_NAME
from ..waist.stepmap import TIME, Block, StepMap, rest_of
from .element_sums import SumBlock, Sums
from .emitter import Array, Emitter, Handle, Index
from .guards import START, Guards
from .history import History
from .linear import Solvable
from .linear_columns import columns, solve_columns
from .lower import ITERATION, RUN, STEP, Tape, tape
from .newton import Ends, Newton
from .number_places import Known, Place, Vector, loaded, vectors
from .program import Done, Program
from .repeated import Row, single
from .solution_errors import SolutionErrors
from .sparse import matrix
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
        self.programs: dict[str, Program] = {}
        self.sums: dict[int, Sums] = {}
        self.factored: dict[int, Solvable] = {}
        # Continuation changes h, and substeps have steps of their own.
        one_step = len(self.stepmap.substeps) == 1 and not self.stepmap.sought
        constant = {STEP_NAME: RUN if one_step else STEP, **dict.fromkeys(self.stepmap.parameters, RUN)}
        before = {**constant, TIME: STEP, **dict.fromkeys((*self.stepmap.state, *self.stepmap.rests), STEP)}
        self.guards = Guards(self, before)
        for k, block in enumerate(self.stepmap.blocks):
            levels = {**before, **dict.fromkeys(block.unknowns, ITERATION)}
            self.add(f"guess {k}", block.guess, before)
            if isinstance(block, SumBlock):
                self.sums[k] = Sums(self.e, block, before)
            elif isinstance(block, MatrixBlock):
                self.add(f"residual {k}", columns(self.stepmap, k), before)
            else:
                system, rows = self._system(block), self._rows(block)
                exact = len(system) if block.is_linear else len(block.residual)
                if self._add_errors(k, block, {**before, **dict.fromkeys(block.unknowns, STEP)}):
                    # the rounding errors of the state are in these, and not in the equations
                    levels = {name: level for name, level in levels.items() if name not in set(self.stepmap.rests)}
                self.add(f"residual {k}", system, levels, exact, rows)
            before |= dict.fromkeys(block.unknowns, STEP)
            self.guards.add(k, before)
        self.add("update", [x for _, x in self.stepmap.changes], before, len(self.stepmap.state))
        self.add("outputs", list(self.stepmap.outputs.values()), before)
        self.played: dict[str, Done] = {name: program.begun() for name, program in self.programs.items()}

    def add(
        self,
        name: str,
        expressions: Sequence[Fast],
        levels: Mapping[str, int],
        exact: int = 0,
        rows: Sequence[Row] | None = None,
    ) -> None:
        """A program for some expressions, the coefficients of the first `exact` with their rests."""

        def make(which: Sequence[int]) -> Tape:
            return tape([expressions[k] for k in which], levels, sum(k < exact for k in which))

        rows = single(expressions) if rows is None else rows
        self.programs[name] = Program(self.e, len(expressions), make, rows, self._roles(levels))

    def _roles(self, levels: Mapping[str, int]) -> dict[str, str]:
        """Which names may stand for one another in expressions that repeat."""
        roles = {s: f"state {rest_of(s) in levels}" for s in self.stepmap.state}
        roles |= dict.fromkeys(self.stepmap.parameters, "parameter")
        for k, block in enumerate(self.stepmap.blocks):
            roles |= {x: f"unknown {k} {levels.get(x)}" for x in block.unknowns}
        return roles

    def _add_errors(self, k: int, block: Block, levels: Mapping[str, int]) -> bool:
        """The program of the rounding errors of the unknowns of a block, if these can be computed."""
        errors = SolutionErrors(self.stepmap, block, levels)
        if errors.applies:
            rows = single(block.residual)
            program = Program(self.e, len(rows), errors.tape, rows, self._roles(levels))
            self.programs[f"errors {k}"] = program
        return errors.applies

    @staticmethod
    def _rows(block: Block) -> list[Row]:
        """What follows from each equation of a block: its results in `_system`, entries by the names of their unknowns."""
        n = len(block.unknowns)
        rows = [Row(r, {"residual": i}) for i, r in enumerate(block.residual)]
        if not block.is_linear:
            rows = [Row(r, {"residual": i, "size": n + i}) for i, r in enumerate(block.residual)]
        first = n if block.is_linear else 2 * n
        for k, (i, j) in enumerate(block.partials):
            cast(dict[str, int], rows[i].results)[block.unknowns[j]] = first + k
        return rows

    @staticmethod
    def _system(block: Block) -> list[Fast]:
        """Residual, size of the terms of each residual, Jacobian without zeros; of a linear block, the residual at zero.

        If each equation of a linear block has one unknown of its own: its solution, and the coefficients.
        """
        entries = list(block.partials.values())
        if not block.is_linear:
            return [*block.residual, *magnitudes(block.residual), *entries]
        constant = substituted(block.residual, dict.fromkeys(block.unknowns, 0))
        if not block.is_diagonal:
            return constant + entries
        return [-r / c for r, c in zip(constant, entries, strict=True)] + entries

    def run_level(self, known: Known) -> None:
        """Emit, once per run, everything that depends on parameters and the step only."""
        for name, program in self.programs.items():
            program.play(known, RUN, self.played[name])
        for sums in self.sums.values():
            sums.play(known, RUN)

    def begun(self, name: str) -> Done:
        """What is emitted of a program before each step."""
        return [dict(done) for done in self.played[name]]

    def evaluate(self, name: str, known: Known) -> Vector:
        """The results of one program."""
        return self.programs[name].evaluate(known, self.begun(name))

    def solve(self, known: Known, history: History, substep: Index = 0) -> dict[str, Handle | Place]:
        """Solve all blocks; returns the unknowns, valid if `code` is still 0."""
        e, found, offset = self.e, dict(known), 0
        self.guards.check(START, found)
        for k, block in enumerate(self.stepmap.blocks):
            if isinstance(block, SumBlock):
                found |= self.sums[k].evaluate(found).named(block.unknowns)
                continue
            n = len(block.unknowns)
            x = e.local(n)
            for i in e.each(0, n, n):
                e.store(x, e.real(0.0), i)
            values = self._by_formulas(k, block, found, x)
            with e.when(e.integer_compare("eq", e.load(self.code), 0)):
                if values is not None:
                    self._check_formulas(values)
                    self.guards.check(k, found | loaded(e, block.unknowns, x, 0))
                elif isinstance(block, MatrixBlock):
                    solve_columns(self, k, block, found, x)
                elif block.is_linear:
                    self._linear(k, block, found, x)
                    self.guards.check(k, found | loaded(e, block.unknowns, x, 0))
                else:
                    Newton(self, k, block, found, x).run(history, substep, offset)
                    offset += n
            found |= loaded(e, block.unknowns, x, 0)
            if f"errors {k}" in self.programs:
                found |= self.evaluate(f"errors {k}", found).named(list(map(rest_of, block.unknowns)))
        self._explain(found)
        return found

    def _explain(self, known: Known) -> None:
        """Change the status of a step that failed because its data are not finite."""
        e = self.e
        data = (*self.stepmap.state, *self.stepmap.parameters)
        with e.when(e.integer_compare("ne", e.load(self.code), 0)):
            size = e.sum([v.size_of_all() for v in vectors(e, known, data)])
            with e.when(e.opposite(e.compare("lt", size, e.real(float("inf"))))):
                e.store(self.code, Status.NOT_FINITE)

    def _by_formulas(self, k: int, block: Block | MatrixBlock, known: Known, x: Array) -> Vector | None:
        """Equations with one unknown each need no elimination: the unknowns into x, and all values that are computed for it.

        They are computed after a failure too, where they do no harm, so that what they share with later ones is computed once.
        """
        if isinstance(block, MatrixBlock) or not (block.is_linear and block.is_diagonal):
            return None
        values = self.evaluate(f"residual {k}", known)
        values.part(0, len(block.unknowns)).keep(x)
        return values

    def _check_formulas(self, values: Vector) -> None:
        """The status after unknowns were computed by formulas: coefficients may be zero, values not finite."""
        e = self.e
        size = values.size_of_all()
        for _, v in values.part(values.size // 2, values.size):
            with e.when(e.compare("eq", v, e.real(0.0))):
                e.store(self.code, Status.SINGULAR)
        finite = e.compare("lt", size, e.real(float("inf")))
        self.not_finite(e.either(finite, e.integer_compare("ne", e.load(self.code), 0)), size)

    def _linear(self, k: int, block: Block, known: Known, x: Array) -> None:
        """One elimination is exact."""
        e, n = self.e, len(block.unknowns)
        values = self.evaluate(f"residual {k}", known)
        size = values.size_of_all()
        finite = e.compare("lt", size, e.real(float("inf")))
        m, right = matrix(e, n, block.partials), e.local(n)
        self.factored[k] = m
        for j, v in values.part(0, n):
            e.store(right, e.negative(v), j)
        m.store(values.part(n, values.size))
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
