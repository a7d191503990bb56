"""Whether a step has left the domain of the model: its guards, checked as soon as their places are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..symbolic import Fast, free_names
from ..waist.domain import STRAIGHT, TINY
from ..waist.stepmap import Guard
from .emitter import Emitter, Handle
from .number_places import Known
from .status import Status

if TYPE_CHECKING:
    from .solver import Solver

START = -1
"""Number that stands for the time before the first block."""


class Guards:
    """The guards of a step map, each place with the block after which it is known."""

    def __init__(self, solver: Solver, known: Mapping[str, int]):
        self.solver = solver
        self.due: dict[int, list[tuple[Guard, tuple[Fast, ...]]]] = {}
        self.waiting = [(g, place) for g in solver.stepmap.guards for place in g.places]
        self.add(START, known)

    def add(self, k: int, known: Mapping[str, int]) -> None:
        """Schedule the places that are known after block k; each is checked together with the first place."""
        names = set(known)
        pairs = [(free_names([*g.places[0], *p]) <= names, (g, p)) for g, p in self.waiting]
        now = [pair for is_known, pair in pairs if is_known]
        self.waiting = [pair for is_known, pair in pairs if not is_known]
        if now:
            self.due[k] = now
            self.solver.add(f"guards {k}", [u for g, p in now for u in (*g.places[0], *p)], known, rows=())

    def check(self, k: int, known: Known) -> None:
        """Set the status if a guard that is due after block k is violated."""
        if k not in self.due:
            return
        e = self.solver.e
        with e.when(e.integer_compare("eq", e.load(self.solver.code), 0)):
            values = iter(self.solver.evaluate(f"guards {k}", known).listed())
            for guard, place in self.due[k]:
                first, here = ([next(values) for _ in place] for _ in range(2))
                with e.when(_suspect(e, guard.kind, first, here)), e.when(_through_zero(e, first, here)):
                    e.store(self.solver.code, Status.LEFT_DOMAIN)


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
