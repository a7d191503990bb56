"""Whether a step exists at all: proved to, proved not to, or undecided.

That a solver does not converge says nothing about solutions. Here the equations of one step are examined:

1. unknowns that an equation determines linearly are eliminated;
2. the range of each equation left, over all values of the unknowns, is bounded with exact ends: if zero is not in it,
   there is no step, and the distance of the range from zero is the proof;
3. Newton's method is started from many points, and what it finds is proved by Krawczyk's test in interval arithmetic;
4. the whole space is covered with boxes (`whole_space`), which finds all solutions or shows that there are none.

Without a state, or with a part of one, the rest of the state runs over everything too: "none" then says that no motion
passes, whatever the state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np
import sympy
from sympy import Expr, Symbol

from ..budget import Budget
from ..discrete.system import DiscreteSystem
from ..methods.base import Method
from ..model.system import System
from ..shown import Part, Shown, Table
from ..symbolic import Fast, fast, free_names, gradient, slow, substitute
from .interval import Enclosure
from .isolate import Problem
from .question import Question, asked
from .ranges import EVERYTHING, Range, compare, point, range_of
from .trajectory import Trajectory
from .values import Array, Values
from .whole_space import MOST, Solutions, all_solutions, near

Verdict = Literal["exists", "none", "undecided"]


@dataclass(frozen=True, eq=False)
class Step:
    """A step that is proved to exist: where it ends, and the intervals in which the exact values lie."""

    end: dict[Symbol, float]
    enclosure: dict[Symbol, tuple[float, float]]

    def __getitem__(self, key: Any) -> float:
        name = key.name if isinstance(key, Symbol) else str(key)
        return next(x for s, x in self.end.items() if s.name == name)


@dataclass(frozen=True, eq=False, repr=False)
class Existence(Shown):
    """Whether a step exists.

    verdict:   "exists", "none" or "undecided"
    steps:     the steps proved to exist
    complete:  whether there are certainly no others
    reason:    the proof in words, or why it is undecided
    equation:  if there is none by bounds: what would have to vanish, after elimination
    bound:     if there is none by bounds: it is at least this far from zero everywhere
    reached:   whether that least distance may be taken; if not, a bound of zero is a proof too
    tried:     what was tried, in order
    """

    title: str
    verdict: Verdict
    steps: tuple[Step, ...]
    complete: bool
    reason: str
    equation: Expr | None = None
    bound: Expr | None = None
    reached: bool = True
    tried: tuple[str, ...] = ()

    @property
    def exists(self) -> bool | None:
        """Yes, no, or None where it is undecided."""
        return {"exists": True, "none": False, "undecided": None}[self.verdict]

    def _parts(self) -> Sequence[Part]:
        lines: list[Part] = [f"{self.title}: {_SAID[self.verdict]}", self.reason]
        if self.steps:
            keys = list(self.steps[0].end)
            rows = [tuple(f"{s.end[k]:.12g}" for k in keys) for s in self.steps]
            lines.append(Table(tuple(str(k) for k in keys), rows))
        if self.equation is not None and self.bound is not None:
            lines.append(("would have to vanish", self.equation))
            lines.append(("at least" if self.reached else "more than", self.bound))
        return lines if self.verdict != "undecided" else [*lines, *(f"tried: {t}" for t in self.tried)]


_SAID = {"exists": "a step exists", "none": "no step exists", "undecided": "undecided"}


def existence(
    given: Trajectory | DiscreteSystem | System, method: Method | None = None, *, at: Values | None = None,
    h: float | None = None, parameters: Values | None = None, lane: int = 0, attempts: int = 20_000,
) -> Existence:  # fmt: skip
    """Whether a step exists, with proof: of a discrete system, of a System with a method, or where a run ended.

    at:        the state: {x: ..., x.momentum: ..., S: ...} (or x.dot, for a System); or two positions
               {x.at(0): ..., x.at(1): ..., S.at(0): ...}, and the step asked for is the one that follows. Slots that are
               left out run over everything, so a discrete system without `at` is asked about all its motions
    lane:      of a run that has lanes, the one to look at
    attempts:  how many boxes may be examined

    Exact numbers (sympy.pi, Rational(1, 3)) are taken exactly.
    """
    question = asked(given, method, at, h, parameters, lane)
    reduced, solved = _eliminated(question)
    tried = [f"linear elimination: {len(solved)} of {len(question.unknowns) + len(question.free)} variables"]
    found = _by_elimination(question, reduced, solved) or _by_range(reduced, tried)
    if found is not None:
        return replace(found, tried=tuple(tried))
    if question.free:
        return Existence(
            question.title, "undecided", (), False,
            f"no equation is bounded away from zero while {', '.join(question.free)} run over everything. Give them values.",
            tried=tuple(tried),
        )  # fmt: skip
    return _by_search(question, reduced, solved, attempts, tried)


# elimination


def _eliminated(question: Question) -> tuple[Question, dict[str, Fast]]:
    """Unknowns that occur linearly, with a coefficient that is a number other than zero, expressed by the others."""
    equations, names = list(question.equations), [*question.unknowns, *question.free]
    solved: dict[str, Fast] = {}
    while pair := _linear(equations, [n for n in names if n not in solved], question):
        k, name, slope = pair
        rest = substitute(equations.pop(k), {fast(name): 0})
        value = -rest / slope
        equations = [substitute(e, {fast(name): value}) for e in equations]
        solved = {n: substitute(e, {fast(name): value}) for n, e in solved.items()} | {name: value}
    left = [[n for n in group if n not in solved] for group in (question.unknowns, question.free)]
    return replace(question, equations=tuple(equations), unknowns=tuple(left[0]), free=tuple(left[1])), solved


def _linear(equations: Sequence[Fast], names: Sequence[str], question: Question) -> tuple[int, str, Fast] | None:
    unknown = set(names)
    for k, e in enumerate(equations):
        for name in names:
            (slope,) = gradient(e, [name])
            if slope == 0 or free_names([slope]) & unknown:
                continue
            values, _, _ = Enclosure([slope], [], question.constants)([])
            if not values[0].has_zero.any():
                return k, name, slope
    return None


def _by_elimination(question: Question, reduced: Question, solved: Mapping[str, Fast]) -> Existence | None:
    """The verdict where every equation was linear in some unknown."""
    if reduced.equations or reduced.unknowns or question.free:
        return None
    step = _step(question, solved, np.zeros(0), np.zeros(0), ())
    return Existence(question.title, "exists", (step,), True, "its equations are linear: there is exactly one")


# bounds


def _by_range(q: Question, tried: list[str]) -> Existence | None:
    """No step, if one of the equations is nowhere zero."""
    names = [*q.unknowns, *q.free]
    domains: dict[Symbol, Range] = {Symbol(n): q.domains.get(n, EVERYTHING) for n in names}
    values = {Symbol(n): point(x).lo for n, x in q.exact.items()}
    tried.append("the range of each equation over all values of its variables")
    for e in q.equations:
        plain = slow(e, [])
        for form in dict.fromkeys((plain, sympy.expand(plain))):
            exact = form.xreplace(values)
            exact = exact.xreplace({f: sympy.Rational(f) for f in exact.atoms(sympy.Float)})
            found = range_of(exact, domains)
            if found.misses_zero():
                below = compare(found.lo, sympy.S.Zero) >= 0
                shown = form.xreplace(q.shown)
                everything = ", ".join(str(q.shown.get(Symbol(n), n)) for n in names) or "nothing"
                return Existence(
                    q.title, "none", (), True, f"an equation of the step is nowhere zero, for all values of {everything}",
                    shown if below else -shown, found.distance(), found.low if below else found.high,
                )  # fmt: skip
    return None


# search


def _by_search(
    question: Question, q: Question, solved: Mapping[str, Fast], attempts: int, tried: list[str]
) -> Existence:
    """Solutions by Newton's method, then all of them by boxes."""
    x = list(q.unknowns)
    problem = Problem(q.equations, x, [], q.constants)
    starts = _starts(len(x))
    tried.append(f"Newton's method from {len(starts)} points, each end examined by Krawczyk's test")
    known = near(problem, starts, Budget(attempts // 4))
    solutions = all_solutions(q.equations, x, q.constants, known, attempts)
    if solutions.searched:
        tried.append(f"all of space in {solutions.examined} boxes: {len(solutions.undecided)} are undecided")
    steps = tuple(_step(question, solved, lo, hi, x) for lo, hi in solutions.found)
    verdict: Verdict = "exists" if steps else "none" if solutions.complete else "undecided"
    return Existence(question.title, verdict, steps, solutions.complete, _reason(solutions, x), tried=tuple(tried))


def _reason(solutions: Solutions, x: Sequence[str]) -> str:
    count = len(solutions.found)
    if solutions.complete:
        told = {0: "there is none", 1: "there is exactly one"}.get(count, f"there are exactly {count}")
        return f"proved by covering the whole space with {solutions.examined} boxes: {told}"
    if count:
        more = f"{len(solutions.undecided)} boxes elsewhere are undecided" if solutions.searched else _too_many(x)
        return f"proved by Krawczyk's test, each the only one in a box around it; there may be others ({more})"
    if not solutions.searched:
        return f"Newton's method found nothing, and {_too_many(x)}"
    lo = np.min([a for a, _ in solutions.undecided], axis=0)
    hi = np.max([b for _, b in solutions.undecided], axis=0)
    where = ", ".join(f"{n} from {a:.4g} to {b:.4g}" for n, a, b in zip(x, lo, hi, strict=True))
    return f"{len(solutions.undecided)} boxes could not be decided: {where}. More attempts may decide them"


def _too_many(x: Sequence[str]) -> str:
    return f"with {len(x)} nonlinear unknowns (more than {MOST}) the whole space is not searched"


def _starts(n: int) -> Array:
    """Points to begin at, near and far."""
    sizes = (0.0, 0.1, 1.0, 10.0, 100.0, 1e4)
    if n <= 2:
        line = [s * x for x in sizes for s in ((1,) if x == 0 else (1, -1))]
        return np.array(list(product(line, repeat=n)))
    rng = np.random.default_rng(0)
    return np.vstack([np.zeros((1, n)), *(x * rng.uniform(-1, 1, (20, n)) for x in sizes[1:])])


def _step(question: Question, solved: Mapping[str, Fast], lo: Array, hi: Array, x: Sequence[str]) -> Step:
    """The end of a step from an enclosure of the unknowns left after elimination."""
    from .interval import Interval

    places = {fast(n): e for n, e in solved.items()}
    ends = [substitute(e, places) for e in question.ends.values()]
    boxes = [Interval(lo[j : j + 1], hi[j : j + 1]) for j in range(len(x))]
    values, _, _ = Enclosure(ends, list(x), question.constants)(boxes)
    intervals = {s: (float(v.lo[0]), float(v.hi[0])) for s, v in zip(question.ends, values, strict=True)}
    return Step({s: a / 2 + b / 2 for s, (a, b) in intervals.items()}, intervals)
