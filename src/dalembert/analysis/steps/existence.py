"""Whether a step exists at all: proved to, proved not to, or undecided.

That a solver does not converge does not show that there is no solution. Here the equations of one step are examined:

1. unknowns that an equation determines linearly are eliminated;
2. the range of each equation left, over all values of the unknowns, is bounded with exact ends: if zero is not in it,
   there is no step, and the distance of the range from zero is the proof;
3. Newton's method is started from many points, and its solutions are proved by Krawczyk's test in interval arithmetic;
4. the whole space is covered with boxes (`global_search`), which finds all solutions or shows that there are none.

Without a state, or with a part of one, the rest of the state runs over all values too: "none" then means that no motion
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

from ...decide.budget import Budget
from ...discrete.system import DiscreteSystem
from ...display import Part, Shown, Table
from ...errors import StartError
from ...methods.base import Method
from ...model.system import System
from ...numbers import whole
from ...rigour.enclosure import Enclosure, Marks
from ...rigour.exact_ranges import EVERYTHING, between, compare, point, range_of
from ...rigour.global_search import LONG, MOST, Corners, Solutions, all_solutions, near, units
from ...rigour.interval import Interval, digits
from ...rigour.isolation import Problem
from ...run.trajectory import Trajectory
from ...run.values import Array, Values
from ...symbolic import Fast, fast, free_names, gradient, slow, substitute
from .step_equations import Question, asked

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
    equation:  if there is none by bounds: the left-hand side that is nowhere zero, after elimination
    bound:     if there is none by bounds: it is at least this far from zero everywhere
    reached:   whether that least distance may be attained; if not, a bound of zero is a proof too
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
            rows = [tuple(digits(*s.enclosure[k]) for k in keys) for s in self.steps[:_SHOWN]]
            lines.append(Table(tuple(str(k) for k in keys), rows))
            if len(self.steps) > _SHOWN:
                lines.append(f"and {len(self.steps) - _SHOWN} more")
        if self.equation is not None and self.bound is not None:
            lines.append(("would have to vanish", self.equation))
            exact = f" (exactly {self.bound})" if len(str(self.bound)) <= 40 else ""
            lines.append(
                f"  it is {'at least' if self.reached else 'more than'} {float(self.bound):.6g} everywhere{exact}"
            )
        return lines if self.verdict != "undecided" else [*lines, *(f"tried: {t}" for t in self.tried)]


_SHOWN = 6
_SAID = {"exists": "a step exists", "none": "no step exists", "undecided": "undecided"}


def existence(
    given: Trajectory | DiscreteSystem | System, method: Method | None = None, *, at: Values | None = None,
    h: float | None = None, parameters: Values | None = None, lane: int = 0, attempts: int = 4000,
) -> Existence:  # fmt: skip
    """Whether a step exists, with proof: of a discrete system, of a System with a method, or where a run ended.

    at:        the state: {x: ..., x.momentum: ..., S: ...} (or x.dot, for a System); or two positions
               {x.at(0): ..., x.at(1): ..., S.at(0): ...}, and the step asked for is the one that follows. Slots that are
               left out run over all values, so without `at` all motions of a discrete system are examined
    lane:      of a run that has lanes, the one to examine
    attempts:  how many boxes may be examined

    Typed numbers are taken exactly: numbers such as sympy.pi and Rational(1, 3), and decimals (9.81 is 981/100) in the system,
    the method, `at`, `h` and `parameters`, those of a run included. Computed numbers are taken as binary numbers: the
    states of a run, and numbers of NumPy in `at` and `parameters`.
    """
    whole(attempts, "attempts", StartError)
    question = asked(given, method, at, h, parameters, lane)
    reduced, solved = _eliminated(question)
    tried = [f"linear elimination: {len(solved)} of {len(question.unknowns) + len(question.free)} variables"]
    forms = _forms(reduced)
    found = _by_elimination(question, reduced, solved) or _by_range(reduced, forms, tried)
    if found is not None:
        return replace(found, tried=tuple(tried))
    if question.free:
        return Existence(
            question.title, "undecided", (), False,
            f"no equation is bounded away from zero while {', '.join(question.free)} run over everything. Give them values.",
            tried=tuple(tried),
        )  # fmt: skip
    solutions = _searched(reduced, forms, attempts, tried)
    steps = _steps(question, solved, solutions, reduced.unknowns)
    verdict: Verdict = "exists" if steps else "none" if solutions.complete else "undecided"
    reason = _reason(solutions, reduced.unknowns)
    return Existence(question.title, verdict, steps, solutions.complete, reason, tried=tuple(tried))


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
            values, marks = Enclosure([slope], [], question.constants)([])
            if not values[0].has_zero.any() and not marks.outside.any():
                return k, name, slope
    return None


def _by_elimination(question: Question, reduced: Question, solved: Mapping[str, Fast]) -> Existence | None:
    """The verdict where every equation was linear in some unknown."""
    if reduced.equations or reduced.unknowns or question.free:
        return None
    step, marks = _step(question, solved, np.zeros(0), np.zeros(0), ())
    why = "its equations are linear"
    if marks.outside.any():
        return Existence(question.title, "none", (), True, f"{why}, and where they hold an expression has no value")
    if marks.cut.any():
        return Existence(
            question.title, "undecided", (), False, f"{why}; whether all expressions have values there is not decided"
        )
    return Existence(question.title, "exists", (step,), True, f"{why}: there is exactly one")


# bounds


def _by_range(q: Question, forms: Sequence[tuple[Expr, Expr]], tried: list[str]) -> Existence | None:
    """No step, if one of the equations is nowhere zero."""
    names = [*q.unknowns, *q.free]
    domains = dict.fromkeys(map(Symbol, names), EVERYTHING)
    tried.append("the range of each equation over all values of its variables")
    for form, exact in forms:
        found = range_of(exact, domains)
        if found.misses_zero():
            below = compare(found.lo, sympy.S.Zero) >= 0
            shown = form.xreplace(q.shown)
            told = ", ".join(str(q.shown[Symbol(n)]) for n in names)
            return Existence(
                q.title, "none", (), True, f"an equation of the step is nowhere zero, for all values of {told}",
                shown if below else -shown, found.distance(), found.low if below else found.high,
            )  # fmt: skip
    return None


def _forms(q: Question) -> list[tuple[Expr, Expr]]:
    """The equations for display and with exact numbers, unchanged and expanded; too long ones are left out."""
    budget = Budget(seconds=20.0)  # limited by length: verdicts must not depend on time
    found = []
    for e in q.equations:
        plain = budget.call(slow, e, [])
        short = plain is not None and len(str(e)) <= LONG
        for form in dict.fromkeys((plain, budget.call(sympy.expand, plain) if short else None)):
            exact = None if form is None else budget.call(_with_numbers, form, q)
            if form is not None and exact is not None:
                found.append((form, exact))
    return found


def _with_numbers(form: Expr, q: Question) -> Expr:
    exact = form.xreplace({Symbol(n): point(x).lo for n, x in q.exact.items()})
    return exact.xreplace({f: sympy.Rational(f) for f in exact.atoms(sympy.Float)})


def _excluded(forms: Sequence[tuple[Expr, Expr]], names: Sequence[str], boxes: Sequence[Corners]) -> list[Corners]:
    """The boxes without those on which an equation is nowhere zero by its exact range.

    Where exp underflows or overflows, floating-point intervals decide nothing; exact ends show that it is positive.
    """

    def empty(lo: Array, hi: Array) -> bool:
        places = {Symbol(n): between(a, b) for n, a, b in zip(names, lo, hi, strict=True)}
        return any(range_of(e, places).misses_zero() for _, e in forms)

    left = []
    corners: dict[tuple[float, ...], list[Corners]] = {}
    for lo, hi in boxes:
        corners.setdefault(tuple(np.sign(lo + hi)), []).append((lo, hi))
    for together in corners.values():
        if empty(np.min([a for a, _ in together], axis=0), np.max([b for _, b in together], axis=0)):
            continue
        left += [box for k, box in enumerate(together) if k >= 50 or not empty(*box)]
    return left


# search


def _searched(q: Question, forms: Sequence[tuple[Expr, Expr]], attempts: int, tried: list[str]) -> Solutions:
    """Solutions by Newton's method, then all of them by boxes; those nearest to rest first."""
    x = list(q.unknowns)
    unit = units(Problem(q.equations, x, [], q.constants))
    equations = [
        substitute(e, {fast(n): float(s) * fast(n) for n, s in zip(x, unit, strict=True)}) for e in q.equations
    ]
    problem = Problem(equations, x, [], q.constants)
    starts = _starts(len(x))
    tried.append(f"Newton's method from {len(starts)} points, each end examined by Krawczyk's test")
    known = near(problem, starts, Budget(attempts // 4))
    solutions = all_solutions(equations, x, q.constants, known, attempts)
    solutions.found.sort(key=lambda box: float(np.abs(box[0]).max()))
    solutions.found = [(lo * unit, hi * unit) for lo, hi in solutions.found]  # powers of two: nothing is rounded
    solutions.undecided = _excluded(forms, x, [(lo * unit, hi * unit) for lo, hi in solutions.undecided])
    if solutions.searched:
        tried.append(f"all of space in {solutions.examined} boxes: {len(solutions.undecided)} are undecided")
    return solutions


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


def _steps(question: Question, solved: Mapping[str, Fast], solutions: Solutions, x: Sequence[str]) -> tuple[Step, ...]:
    """The steps of the solutions; eliminated unknowns must be defined there, too."""
    steps, kept = [], []
    for lo, hi in solutions.found:
        step, marks = _step(question, solved, lo, hi, x)
        if marks.outside.any():
            continue
        if marks.cut.any():
            solutions.undecided.append((lo, hi))
            continue
        steps.append(step)
        kept.append((lo, hi))
    solutions.found = kept
    return tuple(steps)


def _step(question: Question, solved: Mapping[str, Fast], lo: Array, hi: Array, x: Sequence[str]) -> tuple[Step, Marks]:
    """The end of a step from an enclosure of the unknowns left after elimination, and where it may be undefined."""
    places = {fast(n): e for n, e in solved.items()}
    ends = [substitute(e, places) for e in question.ends.values()]
    boxes = [Interval(lo[j : j + 1], hi[j : j + 1]) for j in range(len(x))]
    values, marks = Enclosure([*ends, *solved.values()], list(x), question.constants)(boxes)
    intervals = {s: (float(v.lo[0]), float(v.hi[0])) for s, v in zip(question.ends, values, strict=False)}
    return Step({s: 0.0 if a <= 0 <= b else a / 2 + b / 2 for s, (a, b) in intervals.items()}, intervals), marks
