"""Tapes with what repeats in loops: how some results are computed, run by run, step by step, search by search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from .emit_tape import needed, operation, play
from .emitter import Array, Emitter, Handle, Index
from .lower import ITERATION, RUN, STEP, Tape
from .number_places import Known, Place, Vector, value
from .repeated import Repeated, Row, repeated

Done = list[dict[int, Handle]]
"""Values that are emitted already, for each tape of a program."""


class Program:
    """Some results: a tape of what does not repeat, and a loop for the rows of each shape that does."""

    def __init__(
        self,
        e: Emitter,
        size: int,
        make: Callable[[Sequence[int]], Tape],
        rows: Sequence[Row],
        roles: Mapping[str, str],
    ):
        self.e, self.size = e, size
        found, inside = repeated(rows, roles, make)
        self.alone = [k for k in range(size) if k not in inside]
        self.tape = make(self.alone)
        self.loops = [Loop(e, r) for r in found]
        self.results = e.local(size) if found else None

    def begun(self) -> Done:
        """Nothing emitted yet."""
        return [{} for _ in range(1 + len(self.loops))]

    def play(self, known: Known, level: int, done: Done) -> None:
        """Emit what depends on names up to a level only."""
        play(self.e, self.tape, known, level, done[0])
        for loop, emitted in zip(self.loops, done[1:], strict=True):
            loop.play(known, level, emitted)

    def evaluate(self, known: Known, done: Done, first: int = 0, last: int | None = None) -> Vector:
        """The results first..last-1."""
        last = self.size if last is None else last
        wanted = [(k, r) for k, r in zip(self.alone, self.tape.results, strict=True) if first <= k < last]
        needed(self.e, self.tape, known, done[0], [r for _, r in wanted])
        if self.results is None:
            return Vector(self.e, last - first, [done[0][r] for _, r in wanted])
        for k, r in wanted:
            self.e.store(self.results, done[0][r], k)
        for loop, emitted in zip(self.loops, done[1:], strict=True):
            loop.evaluate(known, emitted, self.results, range(first, last))
        return Vector(self.e, last - first, Place(self.results, 0, first))


class Loop:
    """The rows of one shape: what they share is computed once, the rest row by row.

    What a search needs of values that do not change in it is computed before and kept, row by row. Results are stored, or
    added to what is there.
    """

    def __init__(self, e: Emitter, rows: Repeated, adds: bool = False):
        self.e, self.rows, self.tape, self.adds = e, rows, rows.tape, adds
        self.varying = rows.varying()
        self.shared = Tape([*self.tape.operations], [])
        used = {a for o in self.tape.operations if o.level == ITERATION for a in o.values}
        searched = any(o.level == ITERATION for o in self.tape.operations)
        steady = [k for k in self.varying if self.tape.operations[k].level < ITERATION]
        results = set(self.tape.results)
        self.kept = [k for k in sorted(steady) if self._is_kept(k) and (k in used or k in results)] if searched else []
        self.memory = e.local(rows.rows * len(self.kept)) if self.kept else None
        self._tables: dict[tuple[int, ...], Array] = {}

    def _is_kept(self, k: int) -> bool:
        """Whether it is a number that takes an operation to compute; conditions are computed anew."""
        return self.tape.operations[k].op not in ("input", "const", "compare", "and", "or", "not", "true", "false")

    def play(self, known: Known, level: int, done: dict[int, Handle]) -> None:
        """Emit what all rows share up to a level; at that of a step, keep what a search needs."""
        for k, o in enumerate(self.tape.operations):
            if o.level <= level and k not in done and k not in self.varying:
                done[k] = operation(self.e, o, known, done)
        if level == STEP and self.memory is not None:
            with self.e.loop(0, self.rows.rows) as i:
                inside = dict(done)
                needed(self.e, self.tape, self._known(known, i), inside, self.kept)
                for c, k in enumerate(self.kept):
                    self.e.store(self.memory, inside[k], self._slot(c, i))

    def _slot(self, c: int, i: Index) -> Index:
        """Where value c of row i is kept."""
        return self.e.at(i, len(self.kept), c)

    def evaluate(self, known: Known, done: dict[int, Handle], into: Array, which: range) -> None:
        """Store those results whose numbers are in a range."""
        e, tape = self.e, self.tape
        wanted = [c for c, column in enumerate(self.rows.targets) if column[0] in which]
        if not wanted:
            return
        below = _below(tape, [tape.results[c] for c in wanted], done, self.kept)
        shared = [k for k in sorted(below) if k not in self.varying]
        needed(e, tape, known, done, shared)
        known = self._in_memory(known)
        with e.loop(0, self.rows.rows) as i:
            inside = dict(done)
            for c, k in enumerate(self.kept):
                if k in below:
                    assert self.memory is not None
                    inside[k] = e.load(self.memory, self._slot(c, i))
            needed(e, tape, self._known(known, i), inside, [tape.results[c] for c in wanted])
            for c in wanted:
                result, at = inside[tape.results[c]], self._index(self.rows.targets[c], i)
                e.store(into, e.arithmetic("add", e.load(into, at), result) if self.adds else result, at)

    def _in_memory(self, known: Known) -> Known:
        """The same, with those that differ from row to row side by side in memory where they are values."""
        values = [n for n in dict.fromkeys(n for column in self.rows.names.values() for n in column) if n in known]
        values = [n for n in values if isinstance(known[n], str)]
        if len(values) < 2 or len({known[n] for n in values}) == 1:
            return known
        held = self.e.local(len(values))
        for k, name in enumerate(values):
            self.e.store(held, value(self.e, known[name]), k)
        return {**known, **{name: Place(held, 0, k) for k, name in enumerate(values)}}

    def _known(self, known: Known, i: Index) -> Known:
        """The numbers of row i under the names of the first row."""
        return _RowOf(self, known, i)

    def _index(self, numbers: Sequence[int], i: Index) -> Index:
        """Number i of a list: by a formula if they are evenly spaced, by a table otherwise."""
        e, first, gap = self.e, numbers[0], numbers[1] - numbers[0]
        if all(b - a == gap for a, b in pairwise(numbers)):
            scaled = e.integer_arithmetic("mul", i, gap) if gap != 1 else i
            return e.integer_arithmetic("add", scaled, first) if first else scaled
        key = tuple(n - first for n in numbers)  # one table for names side by side, the components of a place
        if key not in self._tables:
            self._tables[key] = e.table(key)
        found = e.load(self._tables[key], i)
        return e.integer_arithmetic("add", found, first) if first else found

    def number(self, known: Known, name: str, i: Index) -> Handle:
        """What stands in row i for a name of the first row."""
        e, names = self.e, self.rows.names.get(name)
        if names is None:
            return value(e, known[name])
        places = [known[n] for n in names]
        first = places[0]
        if isinstance(first, Place) and all(isinstance(p, Place) and p[:2] == first[:2] for p in places):
            at = self._index([p.offset for p in places if isinstance(p, Place)], i)
            return e.load(first.array, first._replace(offset=0).at(e, at))
        if all(p == first for p in places):
            return value(e, first)
        listed = e.local(len(places))
        for k, p in enumerate(places):
            e.store(listed, value(e, p), k)
        return e.load(listed, i)


class _RowOf(Mapping[str, Handle | Place]):
    """The names of the first row of a loop, with the numbers of row i; each is loaded when it is asked for."""

    def __init__(self, loop: Loop, known: Known, i: Index):
        self.loop, self.known, self.i = loop, known, i

    def __getitem__(self, name: str) -> Handle:
        return self.loop.number(self.known, name, self.i)

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def _below(tape: Tape, wanted: Sequence[int], done: Mapping[int, Handle], kept: Sequence[int]) -> set[int]:
    """The values that some results need, themselves included, down to those that are emitted or kept."""
    found, waiting, ends = set[int](), list(wanted), {*done, *kept}
    while waiting:
        k = waiting.pop()
        if k not in found:
            found.add(k)
            if k not in ends:
                waiting += tape.operations[k].values
    return found


assert RUN < STEP < ITERATION
