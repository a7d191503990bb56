"""Whether a step has left the domain of the model: its guards, checked as soon as their places are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..symbolic import Fast, free_names
from ..waist.domain import STRAIGHT, TINY
from ..waist.stepmap import Guard
from .emitter import Emitter, Handle
from .lower import RUN
from .number_places import Known, Place
from .repeated import Row
from .status import Status

if TYPE_CHECKING:
    from .solver import Solver

START = -1
"""Number that stands for the time before the first block."""


class Alike(NamedTuple):
    """Conditions of one kind with as many terms each, each with a place; those terms that do not change in a run are common.

    If one of these is not zero, a sum of squares does not vanish, and nothing is to be checked.
    """

    name: str
    steady: tuple[Fast, ...]
    pairs: list[tuple[Guard, tuple[Fast, ...]]]


class Guards:
    """The guards of a step map, each place with the block after which it is known."""

    def __init__(self, solver: Solver, known: Mapping[str, int]):
        self.solver = solver
        self.due: dict[int, list[Alike]] = {}
        self.waiting = [(g, place) for g in solver.stepmap.guards for place in g.places]
        self.add(START, known)

    def add(self, k: int, known: Mapping[str, int]) -> None:
        """Schedule the places that are known after block k; each is checked together with the first place."""
        names = set(known)
        pairs = [(free_names([*g.places[0], *p]) <= names, (g, p)) for g, p in self.waiting]
        now = [pair for is_known, pair in pairs if is_known]
        self.waiting = [pair for is_known, pair in pairs if not is_known]
        alike: dict[Any, list[tuple[Guard, tuple[Fast, ...]]]] = {}
        for g, p in now:
            alike.setdefault((_steady(g, p, known), g.kind, len(p)), []).append((g, p))
        self.due[k] = [Alike(f"guards {k} {i}", key[0], same) for i, (key, same) in enumerate(alike.items())]
        for group in self.due[k]:
            both = [(*g.places[0], *p) for g, p in group.pairs]
            self.solver.add(group.name, [u for terms in both for u in terms], known, rows=_rows(both))
            self.solver.add(f"{group.name} steady", group.steady, known)

    def check(self, k: int, known: Known) -> None:
        """Set the status if a guard that is due after block k is violated."""
        e = self.solver.e
        if not self.due.get(k):
            return
        with e.when(e.integer_compare("eq", e.load(self.solver.code), 0)):
            for group in self.due[k]:
                if not group.steady:
                    self._check(group, known)
                    continue
                steady = self.solver.evaluate(f"{group.name} steady", known).listed()
                with e.when(_vanishes(e, steady)):
                    self._check(group, known)

    def _check(self, group: Alike, known: Known) -> None:
        """The conditions one by one, or in a loop if their terms are in memory."""
        e, width = self.solver.e, len(group.pairs[0][1])
        values = self.solver.evaluate(group.name, known)
        if isinstance(values.numbers, Place):
            place = values.numbers
            with e.loop(0, len(group.pairs)) as i:
                first = e.integer_arithmetic("mul", i, 2 * width)
                at = [place._replace(offset=place.offset + c).at(e, first) for c in range(2 * width)]
                self._judge(group, [e.load(place.array, a) for a in at])
            return
        listed = values.listed()
        for k in range(len(group.pairs)):
            self._judge(group, listed[2 * width * k : 2 * width * (k + 1)])

    def _judge(self, group: Alike, values: Sequence[Handle]) -> None:
        e, half = self.solver.e, len(values) // 2
        first, here = values[:half], values[half:]
        with e.when(_suspect(e, group.pairs[0][0].kind, first, here)), e.when(_through_zero(e, first, here)):
            e.store(self.solver.code, Status.LEFT_DOMAIN)


def _steady(guard: Guard, place: tuple[Fast, ...], known: Mapping[str, int]) -> tuple[Fast, ...]:
    """The terms of a sum of squares that do not change in a run."""
    if guard.kind != "nonzero" or len(place) == 1:
        return ()
    return tuple(u for u in place if all(known[name] == RUN for name in free_names([u])))


def _rows(terms: Sequence[tuple[Fast, ...]]) -> list[Row]:
    """A row for each condition and place: its terms."""
    import symengine

    width, of = len(terms[0]), symengine.Function("terms")
    return [Row(of(*these), {f"term {c}": width * k + c for c in range(width)}) for k, these in enumerate(terms)]


def _suspect(e: Emitter, kind: str, first: Sequence[Handle], here: Sequence[Handle]) -> Handle:
    """Whether a term is out of bounds. NaN is not: it belongs to a branch that is not taken."""
    if kind == "same":
        return e.either(e.compare("lt", here[0], first[0]), e.compare("lt", first[0], here[0]))
    tiny = max(TINY, e.least)
    if kind != "nonzero":
        return e.compare("le", here[0], e.real(tiny)) if kind == "positive" else e.compare("lt", here[0], e.real(0.0))
    if len(here) == 1:
        a, b, above, below = first[0], here[0], e.real(tiny), e.real(-tiny)
        falls = e.both(e.compare("le", below, a), e.compare("le", b, above))
        return e.either(falls, e.both(e.compare("le", a, above), e.compare("le", below, b)))
    return e.either(e.compare("le", _product(e, first, here), e.real(0.0)), _vanishes(e, here))


def _vanishes(e: Emitter, here: Sequence[Handle]) -> Handle:
    return e.compare("le", _product(e, here, here), e.real(max(TINY, e.least) ** 2))


def _through_zero(e: Emitter, first: Sequence[Handle], here: Sequence[Handle]) -> Handle:
    """Whether the straight line between two places passes through the point where all terms vanish."""
    if len(here) == 1:
        return e.truth(True)
    sizes = [e.call("sqrt", _product(e, place, place)) for place in (first, here)]
    opposite = e.arithmetic("mul", e.real((1 - STRAIGHT) * e.coarseness - 1), e.arithmetic("mul", *sizes))
    return e.either(e.compare("le", _product(e, first, here), opposite), _vanishes(e, here))


def _product(e: Emitter, a: Sequence[Handle], b: Sequence[Handle]) -> Handle:
    return e.sum([e.arithmetic("mul", x, y) for x, y in zip(a, b, strict=True)])
