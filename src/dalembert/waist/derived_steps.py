"""Step maps made from step maps: a step with its tangent, the inverse of a step, compositions of steps.

All of them are StepMaps, so they are compiled, run on lanes and in the time loop like the step they are made from. They
are made from names and expressions only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from ..symbolic import Fast, fast, free_names, jacobian, substitute, summands, total
from .layout import Segment
from .matrix_block import MatrixBlock
from .stepmap import STEP, TIME, Block, Guard, StepMap
from .triangular_order import Undetermined, solved_together


def tangent_names(names: Sequence[str], columns: int, order: int = 1) -> tuple[str, ...]:
    """The names of the tangents of some variables, row by row: a row for each variable, a column for each direction.

    The tangents of a step that has tangents already are of order 2.
    """
    word = "tangent" if order == 1 else f"tangent{order}"
    return tuple(f"{name}.{word}.{k}" for name in names for k in range(columns))


def variational(step: StepMap, columns: int | None = None) -> StepMap:
    """The step with its exact tangent: the state s is followed by a matrix V with `columns` columns, and

        V' = (dU/ds) V + (dU/dx) X,     (dR/dx) X + (dR/ds) V + (dR/dy) Y = 0     (implicit function theorem)

    with x and residual R of every block, y and Y the unknowns of earlier blocks and their tangents, U the update. A column
    is a direction of the state space; by default there are as many as state variables, and V is the derivative of the
    state by the start if it begins as the identity. The state itself, outputs and guards are unchanged.

    R_x is evaluated and factored at the solution: the factors that Newton's method ends with belong to an earlier iterate.
    """
    columns = len(step.state) if columns is None else columns
    if columns < 1:
        raise ValueError(f"{step.name}: a tangent of {columns} columns. Expected one direction or more.")
    taken, order = {*step.state, *step.unknowns}, 1
    while taken & set(tangent_names(sorted(taken), columns, order)):
        order += 1
    known, blocks = list(step.state), []
    for block in step.blocks:
        blocks.append(_tangent_block(block, known, columns, order))
        known += block.unknowns
    tangents = tangent_names(step.state, columns, order)
    ends = tuple(f"{name}.next" for name in tangents)
    return StepMap(
        name=f"{step.name}, with its tangent",
        state=(*step.state, *tangents),
        parameters=step.parameters,
        blocks=(*step.blocks, *blocks, _moved(ends, step.update, known, columns, order)),
        update=(*step.update, *map(fast, ends)),
        outputs=step.outputs,
        substeps=step.substeps,
        guards=step.guards,
        layout=step.layout,
    )


def _tangent_block(block: Block | MatrixBlock, known: Sequence[str], columns: int, order: int) -> MatrixBlock:
    """The tangents of the unknowns of a block, from those of the values known before it."""
    names = tangent_names(block.unknowns, columns, order)
    if block.is_diagonal:
        own = [row[i] for i, row in enumerate(block.jacobian)]
        constant = [substitute(r, dict.fromkeys(block.unknowns, 0)) for r in block.residual]
        return _moved(names, [-r / c for r, c in zip(constant, own, strict=True)], known, columns, order)
    moved = _moved(names, block.residual, known, columns, order)
    return replace(moved, matrix=tuple(map(tuple, block.jacobian)))


def _moved(
    names: tuple[str, ...], values: Sequence[Fast], known: Sequence[str], columns: int, order: int
) -> MatrixBlock:
    """The tangents of some values, from those of the variables that occur in them."""
    slopes = jacobian(values, known)
    used = [j for j in range(len(known)) if any(row[j] != 0 for row in slopes)]
    sources = tuple(tuple(row[j] for j in used) for row in slopes)
    return MatrixBlock(names, (), sources, tangent_names([known[j] for j in used], columns, order), columns)


def clocked(step: StepMap) -> StepMap:
    """The step with its time as the last state variable, so that lanes may be at different times."""
    return replace(step, state=(*step.state, TIME), update=(*step.update, fast(TIME) + fast(STEP)))


FRACTION = "step.fraction"
"""The state variable that says which fraction of h a step of any length takes."""


def of_any_length(step: StepMap) -> StepMap:
    """The step whose fraction of h and time are state variables: lanes may take steps of different lengths.

    Its tangent (`variational`) has the derivatives by the length of the step and by the time at which it begins.
    """
    part = {STEP: fast(FRACTION) * fast(STEP)}
    blocks = []
    for b in step.blocks:
        assert isinstance(b, Block), f"{step.name}: a step with matrix blocks is derived from another one"
        guess = tuple(substitute(g, part) for g in b.guess)
        blocks.append(Block(b.unknowns, tuple(substitute(r, part) for r in b.residual), guess))
    update = (*(substitute(u, part) for u in step.update), fast(FRACTION), fast(TIME) + part[STEP])
    return replace(
        step,
        name=f"{step.name}, of any length",
        state=(*step.state, FRACTION, TIME),
        blocks=tuple(blocks),
        update=update,
        outputs={name: substitute(e, part) for name, e in step.outputs.items()},
        guards=tuple(
            replace(g, places=tuple(tuple(substitute(u, part) for u in p) for p in g.places)) for g in step.guards
        ),
    )


def with_parameters(step: StepMap, names: Sequence[str]) -> StepMap:
    """The step with some of its parameters as state variables that it keeps: its tangent has the derivatives by them."""
    rest = tuple(p for p in step.parameters if p not in names)
    return replace(step, state=(*step.state, *names), parameters=rest, update=(*step.update, *map(fast, names)))


def with_outputs(step: StepMap) -> StepMap:
    """A map whose outputs are state variables too, called `x.after`: its tangent has their derivatives."""
    state, update = (*step.state, *map(after_name, step.outputs)), (*step.update, *step.outputs.values())
    return replace(step, state=state, update=update, outputs={})


def after_name(output: str) -> str:
    """The name of an output that is a state variable."""
    return f"{output}.after"


def change_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names of the unknowns of `backward` that belong to state variables: their rates of change over the step."""
    return tuple(f"{name}.change" for name in names)


def backward(step: StepMap) -> StepMap:
    """The inverse of a step: with -h it maps the state after a step of h, at time t + h, to the one before it.

    With h it is the adjoint method. The state before is s + h w, and w is sought together with the unknowns of the step:
    R = 0 and U = s'. The increment of a variable is subtracted, without a search for w, where it does not depend on this
    variable or others that are sought: q' = q + h v, p' = p + h f(q, v). The equations are ordered so that few are
    solved together.
    """
    turned = {STEP: -fast(STEP), TIME: fast(TIME) + fast(STEP)}
    before, changes = _states_before(step, turned)
    places = {**turned, **before}
    unknowns = [*step.unknowns, *changes.values()]
    equations = [substitute(r, places) for b in step.blocks for r in b.residual]
    ends = dict(zip(step.state, step.update, strict=True))
    equations += [substitute(ends[s], places) - fast(s) for s in changes]
    try:
        groups = solved_together([free_names([e]) & set(unknowns) for e in equations], unknowns)
    except Undetermined as missing:
        raise ValueError(
            f"{step.name}: the state after a step does not determine the one before it: {missing} The step cannot be undone."
        ) from None
    guesses = _guesses(step, turned)
    return replace(
        step,
        name=f"{step.name}, backward",
        blocks=tuple(
            Block(tuple(names), tuple(equations[i] for i in rows), tuple(guesses.get(x, fast(0)) for x in names))
            for rows, names in groups
        ),
        update=tuple(before.values()),
        layout=step.layout.extended(*_rates_of_change(step)),
        outputs={name: substitute(e, places) for name, e in step.outputs.items()},
        substeps=step.substeps[::-1],
        guards=tuple(
            replace(g, places=tuple(tuple(substitute(u, places) for u in p) for p in g.places)) for g in step.guards
        ),
    )


def _rates_of_change(step: StepMap) -> list[Segment]:
    """The rates of change of positions that are numbers are velocities within the step."""
    lines = [s for s in step.layout.segments if s.role == "position" and len(s.names) == 1]
    return [Segment("velocity", s.owner, change_names(s.names)) for s in lines]


def _states_before(step: StepMap, turned: Mapping[str, Fast]) -> tuple[dict[str, Fast], dict[str, str]]:
    """Each state variable before the step, by the state after it and unknowns; and the changes that are sought."""
    added = {s: total(summands(u - fast(s))) for s, u in zip(step.state, step.update, strict=True)}
    found: dict[str, Fast] = {}
    for _ in step.state:  # each one found may determine others
        ready = [s for s in step.state if s not in found and free_names([added[s]]) & set(step.state) <= set(found)]
        found |= {s: fast(s) - substitute(added[s], {**turned, **found}) for s in ready}
        if not ready:
            break
    changes = {s: w for s, w in zip(step.state, change_names(step.state), strict=True) if s not in found}
    return {s: found.get(s, fast(s) + fast(STEP) * fast(changes.get(s, s))) for s in step.state}, changes


def _guesses(step: StepMap, turned: Mapping[str, Fast]) -> dict[str, Fast]:
    """The first guess of each unknown, unless it depends on other unknowns."""
    found = {x: substitute(g, turned) for b in step.blocks for x, g in zip(b.unknowns, b.guess, strict=True)}
    return {x: g for x, g in found.items() if not free_names([g]) & set(step.unknowns)}


def composed(name: str, steps: Sequence[StepMap], fractions: Sequence[float]) -> StepMap:
    """Steps one after the other, each with its fraction of h; outputs are those of the first.

    One step repeated becomes substeps, which the engine loops over; different steps are written one after the other. They
    must have the same state and the same parameters.
    """
    first = steps[0]
    if len(steps) != len(fractions) or any((s.state, s.parameters) != (first.state, first.parameters) for s in steps):
        raise ValueError(f"{name}: {len(steps)} steps with {len(fractions)} fractions. Expected steps of one state.")
    if all(s is first for s in steps):
        return replace(first, name=name, substeps=tuple(c * s for c in fractions for s in first.substeps))
    parts = [(s, c * f) for s, c in zip(steps, fractions, strict=True) for f in s.substeps]
    blocks: list[Block | MatrixBlock] = []
    guards: list[Guard] = []
    now, begun = {s: fast(s) for s in first.state}, Fraction(0)
    outputs: Mapping[str, Fast] = {}
    sums = {s: fast(s) for s in first.state}
    for k, (step, fraction) in enumerate(parts):
        part = _Part(step, k, Fraction(fraction), begun, now)
        blocks += part.blocks
        guards += part.guards
        outputs = part.outputs if k == 0 else outputs
        begun += Fraction(fraction)
        sums = {s: part.sum(j, sums[s]) for j, s in enumerate(first.state)}
        if k < len(parts) - 1:
            blocks.append(part.end)
            now = dict(zip(first.state, map(fast, part.end.unknowns), strict=True))
    return StepMap(
        name,
        first.state,
        first.parameters,
        tuple(blocks),
        tuple(sums.values()),
        outputs,
        (1.0,),
        tuple(guards),
        first.layout,
    )


class _Part:
    """Step number k of a composition, with its own names of unknowns, from the state at the end of the one before."""

    def __init__(self, step: StepMap, k: int, fraction: Fraction, begun: Fraction, now: Mapping[str, Fast]):
        self.step, self.k, self.now = step, k, now
        h = fast(STEP)
        self.own = {x: f"{x}.part.{k}" for x in step.unknowns}
        self.places = {STEP: _rational(fraction) * h, TIME: fast(TIME) + _rational(begun) * h, **now}
        self.places |= {x: fast(y) for x, y in self.own.items()}
        self.outputs = {name: self._here(e) for name, e in step.outputs.items()}
        self.guards = [replace(g, places=tuple(tuple(map(self._here, p)) for p in g.places)) for g in step.guards]

    def _here(self, e: Fast) -> Fast:
        return substitute(e, self.places)

    @property
    def blocks(self) -> list[Block]:
        return [
            Block(
                tuple(self.own[x] for x in b.unknowns),
                tuple(map(self._here, b.residual)),
                tuple(map(self._here, b.guess)),
            )
            for b in self.step.blocks
        ]

    @property
    def end(self) -> Block:
        """The state at the end as unknowns of their own, so that later expressions do not contain this step's."""
        names = tuple(f"{s}.after.{self.k}" for s in self.step.state)
        return Block(names, tuple(fast(x) - self._here(u) for x, u in zip(names, self.step.update, strict=True)))

    def sum(self, j: int, before: Fast) -> Fast:
        """State variable j at the end: as the start plus increments, if every part adds something to it."""
        name, update = self.step.state[j], self.step.update[j]
        if j in self.step.summed:
            return before + self._here(update - fast(name))
        return self._here(update)


def _rational(number: Fraction) -> Fast:
    return fast(number.numerator) / fast(number.denominator)
