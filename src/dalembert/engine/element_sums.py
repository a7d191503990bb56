"""Sums over elements: pairs of bodies that attract one another, springs of a net.

Terms of many sums that contain the same names belong to one element. What they share, a distance say, is computed once, by
a loop over the elements of one shape, which adds each term to its sum. The factors that terms have in common, such as half a
step, are not part of it: so a force that several equations contain is summed once. Written out, the code of bodies that
attract one another would grow with their square, and a distance be computed for every component of a force again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, NamedTuple

from ..symbolic import Fast, fast, total
from ..waist.matrix_block import MatrixBlock
from ..waist.stepmap import STEP, TIME, Block, StepMap
from . import repeated
from .denominators import is_negative
from .emitter import Emitter, Handle
from .lower import tape
from .number_places import Known, Place, Vector
from .program import Done, Loop
from .repeated import Repeated, Shapes, columns_of

TARGETS, LONG = 3, 16
"""Elements have loops of their own if each adds to so many sums or more, or sums have so many terms or more. Otherwise a
loop over the sums costs no more: its numbers stand side by side."""

LAST = -1
"""The number of the block after which the state is known: there is none before."""


class Part(NamedTuple):
    """A term of an element: the sum that it belongs to, and the names in it in the order of its shape."""

    shape: int
    names: tuple[str, ...]
    sum: int
    term: Fast


Element = list[Part]
"""The terms that contain the same names, in an order that elements of one shape share."""


@dataclass(frozen=True, eq=False)
class SumBlock:
    """Sums that are known as soon as the blocks before it are solved."""

    unknowns: tuple[str, ...]
    elements: Sequence[Sequence[Element]]
    """Those of one shape after the other."""
    is_linear: bool = True
    is_diagonal: bool = False
    partials: Mapping[tuple[int, int], Fast] = field(default_factory=dict)

    @property
    def residual(self) -> tuple[Fast, ...]:
        """All terms."""
        return tuple(part.term for alike in self.elements for element in alike for part in element)

    @property
    def ingredients(self) -> tuple[Fast, ...]:
        """The same."""
        return self.residual

    @property
    def guess(self) -> tuple[Fast, ...]:
        """Zeros: nothing is searched for."""
        return (fast(0),) * len(self.unknowns)


class Sums:
    """The program of a block of sums."""

    def __init__(self, e: Emitter, block: SumBlock, levels: Mapping[str, int]):
        self.e, self.size = e, len(block.unknowns)
        self.loops = [Loop(e, _repeated(alike, levels), adds=True) for alike in block.elements]
        self.results = e.local(self.size)
        self.played: Done = [{} for _ in self.loops]

    def play(self, known: Known, level: int) -> None:
        """Emit what depends on names up to a level only."""
        for loop, emitted in zip(self.loops, self.played, strict=True):
            loop.play(known, level, emitted)

    def evaluate(self, known: Known) -> Vector:
        """All sums."""
        zero: Handle = self.e.real(0.0)
        with self.e.loop(0, self.size) as i:
            self.e.store(self.results, zero, i)
        for loop, emitted in zip(self.loops, self.played, strict=True):
            loop.evaluate(known, dict(emitted), self.results, range(self.size))
        return Vector(self.e, self.size, Place(self.results, 0, 0))


class _Term(NamedTuple):
    """A term of an expression: a positive number with powers of the step, and the rest of it."""

    factor: Fast
    rest: Fast


@dataclass
class _Use:
    """An expression as terms that stay and sums with factors."""

    stays: list[Fast]
    sums: dict[tuple[int, Fast], list[Fast]] = field(default_factory=dict)
    """By the block after which they are known, and the factor."""


def with_sums(stepmap: StepMap) -> StepMap:
    """The step with blocks of sums where these are worth it; states, unknowns that are sought and outputs are the same."""
    return _Splitting(stepmap).made() if len(stepmap.state) > 1 else stepmap


class _Splitting:
    """A step map whose long sums are being taken out of its expressions."""

    def __init__(self, stepmap: StepMap):
        self.stepmap = stepmap
        self.stage = {TIME: LAST, **dict.fromkeys(stepmap.state, LAST)}
        for k, block in enumerate(stepmap.blocks):
            self.stage |= dict.fromkeys(block.unknowns, k)
        self.roles = {name: f"known after {k}" for name, k in self.stage.items() if name != TIME}
        self.roles |= dict.fromkeys(stepmap.parameters, "parameter")
        self._names: dict[Fast, frozenset[str]] = {}
        self._curved: dict[Fast, bool] = {}
        self._sums: dict[tuple[int, frozenset[Fast]], str] = {}

    def made(self) -> StepMap:
        """The step map, changed or not."""
        m, last = self.stepmap, len(self.stepmap.blocks)
        if not any(e.is_Add or e.is_Mul for e in (*m.update, *m.outputs.values())):
            return m
        kept: dict[int, list[_Use]] = {}
        for k, block in enumerate(m.blocks):
            if not isinstance(block, MatrixBlock) and block.is_diagonal:
                kept[k] = [self._use(e, k) for e in block.residual]
        updates = [self._use(e, last) for e in m.update]
        outputs = [self._use(e, last) for e in m.outputs.values()]
        every = [*(u for uses in kept.values() for u in uses), *updates, *outputs]
        found = self._blocks(every)
        if not found:
            return m
        blocks: list[Any] = [found[LAST]] if LAST in found else []
        for k, block in enumerate(m.blocks):
            given = zip(kept.get(k, ()), block.residual, strict=False)
            changed = tuple(self._joined(u, e) for u, e in given)
            blocks.append(Block(block.unknowns, changed, block.guess) if changed else block)
            blocks += [found[k]] if k in found else []
        return replace(
            m,
            blocks=tuple(blocks),
            update=tuple(map(self._joined, updates, m.update)),
            outputs=dict(zip(m.outputs, map(self._joined, outputs, m.outputs.values()), strict=True)),
        )

    # expressions as terms

    def names(self, e: Fast) -> frozenset[str]:
        """What moves in an expression."""
        if e not in self._names:
            self._names[e] = frozenset(s.name for s in e.free_symbols if s.name in self.stage)
        return self._names[e]

    def _is_curved(self, e: Fast) -> bool:
        """Whether it has powers or functions of what moves."""
        if not e.args or not self.names(e):
            return False
        if e not in self._curved:
            self._curved[e] = not (e.is_Add or e.is_Mul) or any(map(self._is_curved, e.args))
        return self._curved[e]

    def _terms(self, e: Fast, factor: Fast, inner: Fast) -> Iterator[_Term]:
        """The terms of a sum, also of one with a factor that does not change: its numbers and steps, and its parameters."""
        if e.is_Add and self._is_curved(e):
            for term in e.args:
                yield from self._terms(term, factor, inner)
            return
        moving = [a for a in e.args if self.names(a)] if e.is_Mul else [e]
        for a in e.args if e.is_Mul else ():
            if a.is_number or (a.is_Symbol and a.name == STEP):
                factor = factor * a
            elif not self.names(a):
                inner = inner * a
        if e.is_Mul and len(moving) == 1 and moving[0].is_Add:
            yield from self._terms(moving[0], factor, inner)
            return
        sign = fast(-1 if is_negative(factor) else 1)
        yield _Term(sign * factor, prod(moving, start=sign * inner))

    def _use(self, e: Fast, block: int) -> _Use:
        """An expression that is evaluated for a block, or after all of them."""
        use = _Use([])
        for term in self._terms(e, fast(1), fast(1)):
            names = self.names(term.rest)
            stage = max((self.stage[name] for name in names), default=LAST)
            if len(names) > 1 and stage < block and self._is_curved(term.rest):
                use.sums.setdefault((stage, term.factor), []).append(term.rest)
            else:
                use.stays.append(term.factor * term.rest)
        return use

    # sums and their elements

    def _blocks(self, uses: Sequence[_Use]) -> dict[int, SumBlock]:
        """The blocks of sums, by the block after which they are known."""
        wanted: dict[int, dict[frozenset[Fast], None]] = {}
        for use in uses:
            for (stage, _), rests in use.sums.items():
                wanted.setdefault(stage, {})[frozenset(rests)] = None
        found = {}
        for stage, sums in wanted.items():
            if (block := self._block(stage, list(sums))) is not None:
                found[stage] = block
        return found

    def _block(self, stage: int, sums: Sequence[frozenset[Fast]]) -> SumBlock | None:
        """The sums of a stage whose elements are many and alike; None if written out they cost no more."""
        elements: dict[frozenset[str], dict[int, list[Fast]]] = {}
        for k, rests in enumerate(sums):
            for rest in rests:
                elements.setdefault(self.names(rest), {}).setdefault(k, []).append(rest)
        count, terms = len(elements), sum(map(len, elements.values()))
        if count < repeated.ROWS or (terms < TARGETS * count and terms < LONG * len(sums)):
            return None
        shapes = Shapes(self.roles)
        listed = [
            _element(shapes, {k: rests[0] if len(rests) == 1 else total(rests) for k, rests in parts.items()})
            for parts in elements.values()
        ]
        taken, whole, alike = listed, set(range(len(sums))), _alike(listed)
        while apart := {p.sum for same in alike if len(same) < repeated.ENOUGH for element in same for p in element}:
            whole -= apart  # with some of their terms in no loop they stay as they are, with all of them
            taken = [kept for element in taken if (kept := [part for part in element if part.sum in whole])]
            alike = _alike(taken)
        number = {k: i for i, k in enumerate(sorted(whole))}
        names = {k: f"sum.{stage + 1}.{i}" for k, i in number.items()}
        self._sums |= {(stage, sums[k]): name for k, name in names.items()}
        found = [[[part._replace(sum=number[part.sum]) for part in element] for element in same] for same in alike]
        return SumBlock(tuple(names.values()), found) if whole else None

    def _joined(self, use: _Use, e: Fast) -> Fast:
        """The expression with names in place of sums."""
        found = {key: self._sums.get((key[0], frozenset(rests))) for key, rests in use.sums.items()}
        if not any(found.values()):
            return e
        terms = list(use.stays)
        for key, rests in use.sums.items():
            name = found[key]
            terms += [key[1] * fast(name)] if name else [key[1] * r for r in rests]
        return total(terms)


def _element(shapes: Shapes, terms: Mapping[int, Fast]) -> Element:
    """Terms by their sums as an element."""
    parts = [Part(*shapes.of(e), k, e) for k, e in terms.items()]
    return sorted(parts, key=lambda part: (part.shape, [shapes.place[name] for name in part.names], part.sum))


def _alike(elements: Sequence[Element]) -> list[list[Element]]:
    """The elements of each shape: that of their terms, and which names in them are equal."""
    alike: dict[tuple[tuple[int, ...], ...], list[Element]] = {}
    for element in elements:
        first: dict[str, int] = {}
        pattern = tuple(first.setdefault(name, len(first)) for part in element for name in part.names)
        alike.setdefault((tuple(part.shape for part in element), pattern), []).append(element)
    return list(alike.values())


def _repeated(alike: Sequence[Element], levels: Mapping[str, int]) -> Repeated:
    """One tape for elements of one shape."""
    names = columns_of([list(dict.fromkeys(name for part in element for name in part.names)) for element in alike])
    targets = [[element[c].sum for element in alike] for c in range(len(alike[0]))]
    expressions = [part.term for part in alike[0]]
    return Repeated(tape(expressions, levels, len(expressions)), names, targets)
