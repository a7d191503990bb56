"""The loops, written once: lanes, time stepping, Newton's method, Gaussian elimination.

They are written against `Emitter`, so that one text serves every back end. The model enters as tapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..stepmap import STEP as STEP_NAME
from ..stepmap import TIME, Block, StepMap
from ..symbolic import Fast, substitute
from .emitter import Array, Emitter, Handle, Index
from .linear import eliminate, relative_residual
from .lower import ITERATION, RUN, STEP, Operation, Tape, magnitude, tape
from .status import Status

HISTORY = 3
"""How many earlier solutions the first guess of Newton's method is extrapolated from."""

TOLERANCE = 1e-10
"""Newton's method stops after the step taken at a relative residual below this; that step squares the residual."""

NEAR = 1e-5
"""Relative residual below which a residual that no longer shrinks is rounding error."""

ITERATIONS, HALVINGS = 40, 40

RUN_ARGUMENTS = {
    "carry": "real[]", "parameters": "real[]", "stride": "integer", "out": "real[]", "status": "integer[]",
    "residual": "real[]", "first": "integer", "last": "integer", "begin": "integer", "steps": "integer",
    "every": "integer", "closing": "integer", "row": "integer", "rows": "integer", "t0": "real", "h": "real",
}  # fmt: skip

APPLY_ARGUMENTS = {
    "inputs": "real[]", "parameters": "real[]", "stride": "integer", "out": "real[]", "status": "integer[]",
    "first": "integer", "last": "integer", "t0": "real", "h": "real",
}  # fmt: skip

STATUS_WIDTH = 3
"""Integers of status per lane: code, last valid step, Newton iterations so far."""


def carry_width(stepmap: StepMap) -> int:
    """Reals a lane carries from step to step: state, earlier solutions, how many of these are valid."""
    return len(stepmap.state) + HISTORY * len(stepmap.unknowns) + 1


def emit_run(e: Emitter, stepmap: StepMap) -> None:
    """Advance lanes first..last-1 by `steps` steps from step number `begin`, recording every `every`-th node.

    With `closing` the node after the last step is recorded too. A lane whose status is not 0 is left alone.
    """
    with e.loop(e.argument("first"), e.argument("last")) as lane:
        status = e.array_argument("status")
        code_at = e.integer_arithmetic("mul", lane, STATUS_WIDTH)
        with e.when(e.integer_compare("eq", e.load(status, code_at), 0)):
            _Lane(e, stepmap, lane).run()


def emit_apply(e: Emitter, stepmap: StepMap) -> None:
    """Apply a map to points first..last-1: solve its blocks from their guesses and write its outputs."""
    with e.loop(e.argument("first"), e.argument("last")) as point:
        inputs, out = e.array_argument("inputs"), e.array_argument("out")
        known = _constants(e, stepmap, point)
        known |= _loaded(e, stepmap.state, inputs, e.integer_arithmetic("mul", point, len(stepmap.state)))
        if TIME not in known:
            known[TIME] = e.argument("t0")
        code, count, evaluations = (e.local(1, "integer") for _ in range(3))
        for cell in (code, count, evaluations):
            e.store(cell, 0)
        solver = _Solver(e, stepmap, code, count, evaluations, e.local(1))
        solver.run_level(known)
        known |= solver.solve(known, e.local(1))
        with e.when(e.integer_compare("eq", e.load(code), 0)):
            values = solver.evaluate("outputs", known)
            base = e.integer_arithmetic("mul", point, len(stepmap.outputs))
            for j, v in enumerate(values):
                e.store(out, v, e.integer_arithmetic("add", base, j))
        e.store(e.array_argument("status"), e.load(code), point)


class _Lane:
    """The life of one lane: load what it carries, step, record, store what it carries."""

    def __init__(self, e: Emitter, stepmap: StepMap, lane: Handle):
        self.e, self.stepmap, self.lane = e, stepmap, lane
        self.state = e.local(len(stepmap.state))
        self.history = e.local(HISTORY * len(stepmap.unknowns))
        self.code, self.count, self.evaluations = (e.local(1, "integer") for _ in range(3))
        self.wait, self.row, self.turn = (e.local(1, "integer") for _ in range(3))
        self.rho = e.local(1)

    def run(self) -> None:
        e, solver = self.e, _Solver(self.e, self.stepmap, self.code, self.count, self.evaluations, self.rho)
        self._load_carry()
        known = _constants(e, self.stepmap, self.lane)
        solver.run_level(known)
        total = e.integer_arithmetic("add", e.argument("steps"), e.argument("closing"))
        with e.forever():
            turn = e.load(self.turn)
            running = e.both(e.integer_compare("lt", turn, total), e.integer_compare("eq", e.load(self.code), 0))
            e.leave_if(e.opposite(running))
            self._turn(turn, dict(known), solver)
            e.store(self.turn, e.after(turn))
        self._store_carry()

    def _turn(self, turn: Handle, known: dict[str, Handle], solver: _Solver) -> None:
        """One node: record it, solve the step that begins at it, move on."""
        e = self.e
        k = e.integer_arithmetic("add", e.argument("begin"), turn)
        known[TIME] = e.arithmetic("add", e.argument("t0"), e.arithmetic("mul", e.as_real(k), e.argument("h")))
        known |= _loaded(e, self.stepmap.state, self.state, 0)
        moving = e.integer_compare("lt", turn, e.argument("steps"))
        due = e.integer_compare("eq", e.load(self.wait), 0)
        with e.when(due):
            self._record([known[s] for s in self.stepmap.state], 0)
        if self.stepmap.outputs:
            known |= solver.solve(known, self.history)
            with e.when(e.both(due, e.integer_compare("eq", e.load(self.code), 0))):
                self._record(solver.evaluate("outputs", known), len(self.stepmap.state))
            # A step that was tried only for the sake of the last record may fail without harm.
            with e.when(e.opposite(moving)):
                e.store(self.code, 0)
        with e.when(due):
            e.store(self.row, e.after(e.load(self.row)))
            e.store(self.wait, e.argument("every"))
        e.store(self.wait, e.integer_arithmetic("sub", e.load(self.wait), 1))
        with e.when(moving):
            if not self.stepmap.outputs:
                known |= solver.solve(known, self.history)
            self._finish(k, known, solver)

    def _finish(self, k: Handle, known: dict[str, Handle], solver: _Solver) -> None:
        """Update the state if the step was found; otherwise note how and where the lane ended."""
        e, status = self.e, self.e.array_argument("status")
        base = e.integer_arithmetic("mul", self.lane, STATUS_WIDTH)
        with e.when(e.integer_compare("eq", e.load(self.code), 0)):
            values = solver.evaluate("update", known)
            size = e.sum([e.call("fabs", v) for v in values])
            finite = e.compare("lt", size, e.real(float("inf")))
            with e.when(finite):
                for j, v in enumerate(values):
                    e.store(self.state, v, j)
                solver.remember(known, self.history)
                e.store(status, e.after(k), e.integer_arithmetic("add", base, 1))
            with e.when(e.opposite(finite)):
                e.store(self.code, Status.NOT_FINITE)
        with e.when(e.integer_compare("ne", e.load(self.code), 0)):
            e.store(e.array_argument("residual"), e.load(self.rho), self.lane)

    def _record(self, values: Sequence[Handle], column: int) -> None:
        e = self.e
        width = len(self.stepmap.state) + len(self.stepmap.outputs)
        row = e.integer_arithmetic("add", e.integer_arithmetic("mul", self.lane, e.argument("rows")), e.load(self.row))
        base = e.integer_arithmetic("mul", row, width)
        for j, v in enumerate(values):
            e.store(e.array_argument("out"), v, e.integer_arithmetic("add", base, column + j))

    def _parts(self) -> Iterator[tuple[Array, int, int]]:
        ns, nh = len(self.stepmap.state), HISTORY * len(self.stepmap.unknowns)
        yield self.state, 0, ns
        yield self.history, ns, nh

    def _load_carry(self) -> None:
        e = self.e
        carry, status = e.array_argument("carry"), e.array_argument("status")
        base = e.integer_arithmetic("mul", self.lane, carry_width(self.stepmap))
        for array, offset, size in self._parts():
            for i in e.each(0, size, size):
                at = e.integer_arithmetic("add", e.integer_arithmetic("add", base, offset), i)
                e.store(array, e.load(carry, at), i)
        last = e.load(carry, e.integer_arithmetic("add", base, carry_width(self.stepmap) - 1))
        e.store(self.count, 0)
        for seen in range(1, HISTORY + 1):  # the count is small; this avoids a conversion
            with e.when(e.compare("eq", last, e.real(float(seen)))):
                e.store(self.count, seen)
        at = e.integer_arithmetic("mul", self.lane, STATUS_WIDTH)
        e.store(self.evaluations, e.load(status, e.integer_arithmetic("add", at, 2)))
        e.store(self.code, 0)
        e.store(self.turn, 0)
        e.store(self.rho, e.real(float("nan")))
        e.store(self.row, e.argument("row"))
        behind = e.integer_arithmetic("rem", e.argument("begin"), e.argument("every"))
        ahead = e.integer_arithmetic("sub", e.argument("every"), behind)
        e.store(self.wait, e.integer_arithmetic("rem", ahead, e.argument("every")))

    def _store_carry(self) -> None:
        e = self.e
        carry, status = e.array_argument("carry"), e.array_argument("status")
        base = e.integer_arithmetic("mul", self.lane, carry_width(self.stepmap))
        for array, offset, size in self._parts():
            for i in e.each(0, size, size):
                at = e.integer_arithmetic("add", e.integer_arithmetic("add", base, offset), i)
                e.store(carry, e.load(array, i), at)
        end = e.integer_arithmetic("add", base, carry_width(self.stepmap) - 1)
        e.store(carry, e.as_real(e.load(self.count)), end)
        at = e.integer_arithmetic("mul", self.lane, STATUS_WIDTH)
        e.store(status, e.load(self.code), at)
        e.store(status, e.load(self.evaluations), e.integer_arithmetic("add", at, 2))


@dataclass
class _Solver:
    """Finds the unknowns of every block in turn; a block after a failed one is not tried."""

    e: Emitter
    stepmap: StepMap
    code: Array
    count: Array
    evaluations: Array
    rho: Array

    def __post_init__(self) -> None:
        self.tapes: dict[str, Tape] = {}
        constant = {STEP_NAME: RUN, **dict.fromkeys(self.stepmap.parameters, RUN)}
        before = {**constant, TIME: STEP, **dict.fromkeys(self.stepmap.state, STEP)}
        for k, block in enumerate(self.stepmap.blocks):
            self.tapes[f"guess {k}"] = tape(block.guess, before)
            self.tapes[f"residual {k}"] = tape(
                self._system(block), {**before, **dict.fromkeys(block.unknowns, ITERATION)}
            )
            before |= dict.fromkeys(block.unknowns, STEP)
        self.tapes["update"] = tape(self.stepmap.update, before)
        self.tapes["outputs"] = tape(self.stepmap.outputs.values(), before)
        self._partial: dict[str, dict[int, Handle]] = {name: {} for name in self.tapes}

    @staticmethod
    def _system(block: Block) -> list[Fast]:
        """Residual, Jacobian by rows, size of the terms of each residual; a linear residual is wanted at zero."""
        matrix = [d for row in block.jacobian for d in row]
        if block.is_linear:
            zero = dict.fromkeys(block.unknowns, 0)
            return [substitute(r, zero) for r in block.residual] + matrix
        return [*block.residual, *matrix, *map(magnitude, block.residual)]

    def run_level(self, known: Mapping[str, Handle]) -> None:
        """Emit, once per run, everything that depends on parameters and the step only."""
        for name, t in self.tapes.items():
            _emit(self.e, t, known, RUN, self._partial[name])

    def evaluate(self, name: str, known: Mapping[str, Handle]) -> list[Handle]:
        """The results of one tape."""
        return _evaluate(self.e, self.tapes[name], known, dict(self._partial[name]))

    def solve(self, known: Mapping[str, Handle], history: Array) -> dict[str, Handle]:
        """Solve all blocks; gives the unknowns, valid if `code` is still 0."""
        e, found, offset = self.e, dict(known), 0
        for k, block in enumerate(self.stepmap.blocks):
            x = e.local(len(block.unknowns))
            for i in e.each(0, len(block.unknowns), len(block.unknowns)):
                e.store(x, e.real(0.0), i)
            with e.when(e.integer_compare("eq", e.load(self.code), 0)):
                if block.is_linear:
                    self._linear(k, block, found, x)
                else:
                    self._newton(k, block, found, x, history, offset)
                self._explain(found)
            found |= _loaded(e, block.unknowns, x, 0)
            offset += len(block.unknowns)
        return found

    def remember(self, known: Mapping[str, Handle], history: Array) -> None:
        """Push the unknowns onto the history of solutions."""
        e, n = self.e, len(self.stepmap.unknowns)
        if not n:
            return
        for j, name in enumerate(self.stepmap.unknowns):
            for age in range(HISTORY - 1, 0, -1):
                e.store(history, e.load(history, (age - 1) * n + j), age * n + j)
            e.store(history, known[name], j)
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

    def _linear(self, k: int, block: Block, known: dict[str, Handle], x: Array) -> None:
        e, n = self.e, len(block.unknowns)
        values = self.evaluate(f"residual {k}", known)
        matrix, right = e.local(n * n), e.local(n)
        for j, v in enumerate(values):
            e.store(right if j < n else matrix, e.negative(v) if j < n else v, j if j < n else j - n)
        finite = e.compare("lt", e.sum([e.call("fabs", v) for v in values]), e.real(float("inf")))
        with e.when(finite):
            singular = eliminate(e, n, matrix, right)
            with e.when(singular):
                e.store(self.code, Status.SINGULAR)
            for i in e.each(0, n, n):
                e.store(x, e.load(right, i), i)
        with e.when(e.opposite(finite)):
            e.store(self.code, Status.LEFT_DOMAIN)

    def _newton(self, k: int, block: Block, known: dict[str, Handle], x: Array, history: Array, offset: int) -> None:
        """Newton's method with the exact Jacobian, damped where a full step makes things worse."""
        e, n = self.e, len(block.unknowns)
        t = self.tapes[f"residual {k}"]
        before = dict(self._partial[f"residual {k}"])
        _emit(e, t, known, STEP, before)
        r, matrix, d, old = e.local(n), e.local(n * n), e.local(n), e.local(n)
        turns, halved, retry, going = (e.local(1, "integer") for _ in range(4))
        best = e.local(1)
        for cell, value in ((turns, 0), (halved, 0), (going, 1)):
            e.store(cell, value)
        e.store(best, e.real(float("inf")))
        self._first_guess(k, block, known, x, history, offset, retry)
        with e.forever():
            unknowns = _loaded(e, block.unknowns, x, 0)
            values = _evaluate(e, t, {**known, **unknowns}, dict(before))
            for j, v in enumerate(values[: n + n * n]):
                e.store(r if j < n else matrix, v, j if j < n else j - n)
            rho, finite = relative_residual(e, values[:n], values[n + n * n :])
            first = e.integer_compare("eq", e.load(turns), 0)
            grew = e.both(e.compare("lt", e.load(best), rho), e.compare("lt", e.real(NEAR), rho))
            back = e.either(e.opposite(finite), e.both(e.opposite(first), grew))
            e.store(self.evaluations, e.after(e.load(self.evaluations)))
            e.store(self.rho, rho)
            with e.when(back):
                e.store(halved, e.after(e.load(halved)))
                give_up = e.either(first, e.integer_compare("lt", HALVINGS, e.load(halved)))
                for i in e.each(0, n, n):
                    e.store(d, e.arithmetic("mul", e.real(0.5), e.load(d, i)), i)
                    e.store(x, e.arithmetic("add", e.load(old, i), e.load(d, i)), i)
                with e.when(give_up):
                    e.store(going, 0)
                    e.store(self.code, Status.NO_SOLUTION)
                    with e.when(e.opposite(finite)):
                        e.store(self.code, Status.LEFT_DOMAIN)
            with e.when(e.opposite(back)):
                for i in e.each(0, n, n):
                    e.store(d, e.negative(e.load(r, i)), i)
                singular = eliminate(e, n, matrix, d)
                for i in e.each(0, n, n):
                    e.store(old, e.load(x, i), i)
                    e.store(x, e.arithmetic("add", e.load(x, i), e.load(d, i)), i)
                stalled = e.both(
                    e.compare("le", rho, e.real(NEAR)),
                    e.compare("le", e.arithmetic("mul", e.real(0.25), e.load(best)), rho),
                )
                with e.when(e.either(e.compare("le", rho, e.real(TOLERANCE)), stalled)):
                    e.store(going, 0)
                e.store(best, rho)
                e.store(halved, 0)
                e.store(turns, e.after(e.load(turns)))
                exhausted = e.both(
                    e.integer_compare("lt", ITERATIONS, e.load(turns)),
                    e.integer_compare("eq", e.load(going), 1),
                )
                with e.when(exhausted):
                    e.store(going, 0)
                    e.store(self.code, Status.NO_SOLUTION)
                with e.when(singular):
                    e.store(going, 0)
                    e.store(self.code, Status.SINGULAR)
            self._second_attempt(k, known, x, retry, (turns, going, best, halved))
            e.leave_if(e.integer_compare("eq", e.load(going), 0))

    def _first_guess(
        self,
        k: int,
        block: Block,
        known: Mapping[str, Handle],
        x: Array,
        history: Array,
        offset: int,
        retry: Array,
    ) -> None:
        """Extrapolate the last solutions by the polynomial through them; without any, take the block's own guess."""
        e, n, total = self.e, len(block.unknowns), len(self.stepmap.unknowns)
        seen = e.load(self.count)
        fresh = e.integer_compare("eq", seen, 0)
        e.store(retry, 1)
        with e.when(fresh):
            e.store(retry, 0)
            for j, v in enumerate(self.evaluate(f"guess {k}", known)):
                e.store(x, v, j)
        with e.when(e.opposite(fresh)):
            two, three = e.integer_compare("le", 2, seen), e.integer_compare("le", 3, seen)
            weights = [
                e.select(three, e.real(3.0), e.select(two, e.real(2.0), e.real(1.0))),
                e.select(three, e.real(-3.0), e.select(two, e.real(-1.0), e.real(0.0))),
                e.select(three, e.real(1.0), e.real(0.0)),
            ]
            for i in e.each(0, n, n):
                terms = []
                for age, w in enumerate(weights):
                    at: Index = (
                        age * total + offset + i
                        if isinstance(i, int)
                        else e.integer_arithmetic("add", i, age * total + offset)
                    )
                    terms.append(e.arithmetic("mul", w, e.load(history, at)))
                e.store(x, e.sum(terms), i)

    def _second_attempt(
        self,
        k: int,
        known: Mapping[str, Handle],
        x: Array,
        retry: Array,
        cells: tuple[Array, Array, Array, Array],
    ) -> None:
        """A search that failed from the extrapolated guess is begun once more from the block's own guess."""
        e = self.e
        turns, going, best, halved = cells
        failed = e.integer_compare("ne", e.load(self.code), 0)
        with e.when(e.both(failed, e.integer_compare("eq", e.load(retry), 1))):
            for cell, value in ((turns, 0), (halved, 0), (going, 1), (retry, 0), (self.code, 0)):
                e.store(cell, value)
            e.store(best, e.real(float("inf")))
            for j, v in enumerate(self.evaluate(f"guess {k}", known)):
                e.store(x, v, j)


def _constants(e: Emitter, stepmap: StepMap, lane: Handle) -> dict[str, Handle]:
    """Parameters and step of a lane."""
    base = e.integer_arithmetic("mul", lane, e.argument("stride"))
    return {STEP_NAME: e.argument("h")} | _loaded(e, stepmap.parameters, e.array_argument("parameters"), base)


def _loaded(e: Emitter, names: Sequence[str], array: Array, base: Index) -> dict[str, Handle]:
    if isinstance(base, int):
        return {name: e.load(array, base + j) for j, name in enumerate(names)}
    return {name: e.load(array, e.integer_arithmetic("add", base, j)) for j, name in enumerate(names)}


def _emit(e: Emitter, t: Tape, known: Mapping[str, Handle], level: int, done: dict[int, Handle]) -> None:
    """Emit the operations of a tape up to a level that are not done yet."""
    for k, operation in enumerate(t.operations):
        if operation.level <= level and k not in done:
            done[k] = _operation(e, operation, known, done)


def _operation(e: Emitter, o: Operation, known: Mapping[str, Handle], done: Mapping[int, Handle]) -> Handle:
    match o.op:
        case "const":
            return e.real(o.args[0])
        case "input":
            return known[o.args[0]]
        case "add" | "sub" | "mul" | "div":
            return e.arithmetic(o.op, done[o.args[0]], done[o.args[1]])
        case "neg":
            return e.negative(done[o.args[0]])
        case "sqrt":
            return e.call("sqrt", done[o.args[0]])
        case "call":
            return e.call(o.args[0], *(done[a] for a in o.args[1:]))
        case "compare":
            return e.compare(o.args[0], done[o.args[1]], done[o.args[2]])
        case "select":
            return e.select(done[o.args[0]], done[o.args[1]], done[o.args[2]])
        case "and":
            return e.both(done[o.args[0]], done[o.args[1]])
        case "or":
            return e.either(done[o.args[0]], done[o.args[1]])
        case "not":
            return e.opposite(done[o.args[0]])
        case _:
            return e.truth(o.op == "true")


def _evaluate(e: Emitter, t: Tape, known: Mapping[str, Handle], done: dict[int, Handle]) -> list[Handle]:
    """The results of a tape, emitting here whatever is not done yet."""
    _emit(e, t, known, ITERATION, done)
    return [done[k] for k in t.results]
