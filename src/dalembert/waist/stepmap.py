"""The waist of the library: one implicit step, as symbols and expressions and nothing else.

Every integrator, whatever its family, writes a StepMap; the engine turns a StepMap into machine code. Modules above
do not depend on machines, modules below do not depend on mechanics.

    state s, at time t, with step h and parameters
    for each block in turn:  find its unknowns x with  residual(x; s, t, h, parameters, unknowns of earlier blocks) = 0
    s' = update(s, x, ...)          outputs(s, x, ...) are recorded
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

from ..symbolic import Fast, fast, free_names, substitute, substitution, summands, total
from .chain_rule import shared_partials
from .domain import Condition, Kind, conditions
from .layout import NO_LAYOUT, Layout
from .matrix_block import MatrixBlock

TIME, STEP = "t", "step.h"
"""The names of time and of the step in every expression of a StepMap."""


@dataclass(frozen=True)
class Block:
    """Unknowns that are solved for together, the residual that determines them, and the first guess."""

    unknowns: tuple[str, ...]
    residual: tuple[Fast, ...]
    guess: tuple[Fast, ...] = ()
    """Zeros by default."""

    def __post_init__(self) -> None:
        if not self.guess:
            object.__setattr__(self, "guess", (fast(0),) * len(self.unknowns))
        if not len(self.unknowns) == len(self.residual) == len(self.guess):
            raise ValueError(
                f"a block has {len(self.unknowns)} unknowns, {len(self.residual)} equations and "
                f"{len(self.guess)} guesses; the three numbers must agree."
            )

    @property
    def ingredients(self) -> tuple[Fast, ...]:
        """All expressions that determine the unknowns."""
        return self.residual

    @cached_property
    def jacobian(self) -> list[list[Fast]]:
        """d residual / d unknowns, zeros included."""
        n, zero = len(self.unknowns), fast(0)
        return [[self.partials.get((i, j), zero) for j in range(n)] for i in range(n)]

    @cached_property
    def partials(self) -> dict[tuple[int, int], Fast]:
        """d residual / d unknowns, without zeros: by the number of the equation and that of the unknown, in this order."""
        return shared_partials(self.residual, self.unknowns)

    @cached_property
    def is_linear(self) -> bool:
        """Whether the residual is affine in the unknowns, so that one linear solve is exact."""
        return not free_names(self.partials.values()) & set(self.unknowns)

    @cached_property
    def is_diagonal(self) -> bool:
        """Whether it is linear and each equation has one unknown of its own."""
        return self.is_linear and list(self.partials) == [(i, i) for i in range(len(self.unknowns))]


@dataclass(frozen=True)
class Guard:
    """A condition of the domain, with the places of a step at which it must hold: nodes, stages.

    Terms that must not vanish (`nonzero`) must not pass through zero after the first place either.
    """

    kind: Kind
    places: tuple[tuple[Fast, ...], ...]
    """The terms of the condition at each place."""


@dataclass(frozen=True, eq=False)
class StepMap:
    """One implicit step; symbols are names, expressions are SymEngine's."""

    name: str
    state: tuple[str, ...]
    parameters: tuple[str, ...]
    blocks: tuple[Block | MatrixBlock, ...]
    update: tuple[Fast, ...]
    outputs: Mapping[str, Fast] = field(default_factory=dict)
    substeps: tuple[float, ...] = (1.0,)
    """The step is made of steps of these fractions of h, one after the other; outputs are those of the first."""
    guards: tuple[Guard, ...] = ()
    """Conditions that tell whether a step has left the domain of the model; `guarded` adds them."""
    layout: Layout = NO_LAYOUT
    """Roles and owners of state, unknowns and outputs."""
    tally: StepMap | None = None
    """A map that is applied at every node a step has led to: state, time and numbers kept beside the state -> these numbers
    anew, such as the largest value so far. Its outputs are named like the numbers; the motion does not depend on them."""

    def __post_init__(self) -> None:
        if len(self.update) != len(self.state):
            raise ValueError(f"{self.name}: {len(self.state)} state variables but {len(self.update)} updates.")
        self._check_names()
        known = {TIME, STEP, *self.state, *self.parameters}
        for block in self.blocks:
            self._check("guess", block.guess, known)
            known |= set(block.unknowns)
            self._check("residual", block.ingredients, known)
        self._check("update", (*self.update, *self.outputs.values()), known)
        self._check("guard", (e for g in self.guards for place in g.places for e in place), known)
        if self.tally is not None and not set(self.tally.state) <= {TIME, *self.state, *self.tallied}:
            raise ValueError(f"{self.name}: its tally uses what neither the state nor the tally has.")

    def _check_names(self) -> None:
        """Names are unique; time may be an input of a map, but not an unknown or a parameter."""
        names = Counter((*self.state, *self.parameters, *self.unknowns))
        names.update((STEP, *(n for n in (*self.parameters, *self.unknowns) if n == TIME)))
        twice = sorted(n for n, count in names.items() if count > 1)
        if twice:
            raise ValueError(f"{self.name}: the name {twice[0]} stands for two things. Every name stands for one.")
        if not self.substeps or not all(math.isfinite(s) for s in self.substeps):
            raise ValueError(f"{self.name}: substeps = {self.substeps}. Expected one or more numbers.")

    def _check(self, role: str, expressions: Iterable[Fast], known: set[str]) -> None:
        unknown = free_names(expressions) - known
        if unknown:
            raise ValueError(f"{self.name}: the {role} uses {', '.join(sorted(unknown))}, which nothing determines.")

    def state_of(self, table: Any) -> Any:
        """The state in records or carries, which begin with it: (..., numbers) -> (..., state)."""
        return table[..., : len(self.state)]

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The unknowns of all blocks, in order."""
        return tuple(x for b in self.blocks for x in b.unknowns)

    def columns(self, symbols: Iterable[Any]) -> list[int]:
        """The columns of outputs, in a table of them; outputs are given by name or as symbols of these names."""
        at = {name: k for k, name in enumerate(self.outputs)}
        return [at[str(getattr(s, "name", s))] for s in symbols]

    @property
    def tallied(self) -> tuple[str, ...]:
        """The names of the numbers that the tally keeps."""
        return () if self.tally is None else tuple(self.tally.outputs)

    @cached_property
    def summed(self) -> tuple[int, ...]:
        """The indices of the state variables whose update adds an increment."""
        return tuple(j for j, (s, u) in enumerate(zip(self.state, self.update, strict=True)) if _adds_to(s, u))

    @property
    def rests(self) -> tuple[str, ...]:
        """The names of the rounding errors of these sums, each added to the next sum."""
        return tuple(rest_of(self.state[j]) for j in self.summed)

    @cached_property
    def changes(self) -> tuple[tuple[bool, Fast], ...]:
        """For each state variable its increment, or its update; true if divided by h."""
        pairs, summed = enumerate(zip(self.state, self.update, strict=True)), set(self.summed)
        return tuple(_change(s, u) if j in summed else (False, u) for j, (s, u) in pairs)

    @cached_property
    def sought(self) -> tuple[str, ...]:
        """The unknowns that are searched for, block by block: those of linear blocks are computed."""
        return tuple(x for b in self.blocks if not b.is_linear for x in b.unknowns)


def _adds_to(name: str, update: Fast) -> bool:
    """Whether an expression is a sum of the symbol of that name and other terms."""
    return bool(update.is_Add and any(term.is_Symbol and term.name == name for term in update.args))


def rest_of(name: str) -> str:
    """The name of the rounding error of a state variable."""
    return f"{name}.rest"


def _change(name: str, update: Fast) -> tuple[bool, Fast]:
    rate, rest = split_by_step(update - fast(name))
    return (True, rate) if rest == 0 else (False, update - fast(name))


def split_by_step(e: Fast) -> tuple[Fast, Fast]:
    """a and b of e = h a + b: the terms that have h as a factor, without it, and the others."""
    terms = list(summands(e))
    quotients = [_over_step(term) for term in terms]
    others = [term for term, a in zip(terms, quotients, strict=True) if a is None]
    return total(a for a in quotients if a is not None), total(others)


def _over_step(e: Fast) -> Fast | None:
    """The quotient of an expression and h where h is a factor of it, or of every term of one of its factors."""
    if e == fast(STEP):
        return fast(1)
    if e.is_Add:
        terms = []
        for term in e.args:
            quotient = _over_step(term)
            if quotient is None:
                return None
            terms.append(quotient)
        return total(terms)
    if e.is_Mul:
        for k, factor in enumerate(e.args):
            quotient = _over_step(factor)
            if quotient is not None:
                return prod((*e.args[:k], quotient, *e.args[k + 1 :]), start=fast(1))
    return None


def pointwise(
    name: str,
    inputs: Sequence[str],
    parameters: Sequence[str],
    outputs: Mapping[str, Fast],
    blocks: Sequence[Block | MatrixBlock] = (),
) -> StepMap:
    """A map that is applied to points, not iterated: its state is the input and does not change."""
    return StepMap(name, tuple(inputs), tuple(parameters), tuple(blocks), tuple(map(fast, inputs)), dict(outputs))


def guarded(stepmap: StepMap, expressions: Iterable[Any], stages: Iterable[Mapping[Any, Any]] = ()) -> StepMap:
    """The step with the conditions under which expressions in the state are defined, at its nodes and stages.

    A stage gives the expression of every symbol there. Where a condition involves symbols that a place does not determine
    (the velocity, at a node with a momentum), it is not checked.
    """
    end = {**dict(zip(stepmap.state, stepmap.update, strict=True)), TIME: fast(TIME) + fast(STEP)}
    places = [substitution(place) for place in ({}, *stages, end)]
    found = [(c, [tuple(map(at, c.terms)) for at in places]) for c in conditions(expressions)]
    return with_conditions(stepmap, found)


def _ordered(places: Sequence[tuple[Fast, ...]]) -> list[tuple[Fast, ...]]:
    """Terms in an order of their own, the same at all places: SymEngine lists those of a sum in the order of addresses."""
    if len(places[0]) == 1:
        return list(places)
    order = sorted(range(len(places[0])), key=lambda c: str(places[0][c]))
    return [tuple(terms[c] for c in order) for terms in places]


def with_conditions(stepmap: StepMap, looked_at: Iterable[tuple[Condition, Sequence[tuple[Fast, ...]]]]) -> StepMap:
    """The step with guards: each condition with its terms at some places, of which those are kept that a step determines."""
    moving = {TIME, *stepmap.state, *stepmap.unknowns}
    known = {STEP, *stepmap.parameters} | moving
    guards: dict[Guard, None] = {}
    for condition, terms in looked_at:
        places = dict.fromkeys(t for t in _ordered(terms) if free_names(t) <= known)
        if any(free_names(t) & moving for t in places):
            guards[Guard(condition.kind, tuple(places))] = None
    return replace(stepmap, guards=(*stepmap.guards, *guards))


def with_stated_conditions(stepmap: StepMap, stated: Sequence[Condition]) -> StepMap:
    """The step with the conditions under which expressions in state and unknowns are defined.

    A condition on positions alone is also checked at the nodes: there its terms have h = 0.
    """
    import symengine

    end = {**dict(zip(stepmap.state, stepmap.update, strict=True)), TIME: fast(TIME) + fast(STEP)}
    looked_at, at_end, unknowns = [], substitution(end), set(stepmap.unknowns)
    for condition in stated:
        node = tuple(substitute(u, {STEP: 0}) for u in condition.terms)
        still = not free_names(node) & unknowns and not any(u.has(symengine.nan) for u in node)
        places = [node, condition.terms, tuple(map(at_end, node))] if still else [condition.terms]
        looked_at.append((condition, places))
    return with_conditions(stepmap, looked_at)
