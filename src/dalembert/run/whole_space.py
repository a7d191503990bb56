"""All solutions of some equations in the whole space, with proof.

Each unknown lies in [-1, 1], or is 1/w or -1/w with w in (0, 1]: so the space is covered by finitely many boxes, over
which `isolate` looks for all solutions. Near w = 0 the equations are also judged by their values over the unbounded
interval itself, where exp, atan and their like have known limits, and with their powers of w cleared away. Solutions at
infinity are none; where one is approached, the neighbourhood of infinity stays undecided and is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import sympy

from ..budget import Budget
from ..symbolic import Fast, fast, slow, substitute
from .interval import Enclosure, Interval
from .isolate import Problem, isolate, newton
from .values import Array

MOST = 3
"""With more unknowns than this the whole space is not searched."""

LONG = 1000
"""Expressions that take more characters than this are not rewritten."""

Corners = tuple[Array, Array]
"""Lower and upper ends, one of each unknown."""


@dataclass
class Solutions:
    """Enclosures of solutions, each proved to hold exactly one; and whether there are no others."""

    found: list[Corners] = field(default_factory=list)
    undecided: list[Corners] = field(default_factory=list)
    examined: int = 0
    searched: bool = False

    @property
    def complete(self) -> bool:
        """Whether the whole space was decided."""
        return self.searched and not self.undecided

    def add(self, problem: Problem, lo: Array, hi: Array) -> None:
        """One more solution, unless it is known: it is if a box around both enclosures holds one solution only."""
        for a, b in self.found:
            if (lo <= b).all() and (hi >= a).all():
                if problem.krawczyk(np.minimum(lo, a)[None], np.maximum(hi, b)[None])[2][0] >= 1:
                    self.undecided.append((lo, hi))
                return
        self.found.append((lo, hi))


class _Chart(Problem):
    """The equations where unknown j is x_j (kind 0) or 1/w_j, -1/w_j (kinds 1, -1)."""

    def __init__(
        self, equations: Sequence[Fast], x: Sequence[str], constants: Mapping[str, float], kinds: Sequence[int], budget: Budget
    ):  # fmt: skip
        self.kinds = tuple(kinds)
        places = {fast(s): kind / fast(s) for s, kind in zip(x, kinds, strict=True) if kind}
        here = [substitute(e, places) for e in equations]
        super().__init__(here, x, [], constants)
        self._plain = Enclosure(list(equations), list(x), constants)
        tails = [s for s, kind in zip(x, kinds, strict=True) if kind]
        cleared = [
            c for e in here if tails and len(str(e)) <= LONG and (c := budget.call(_cleared, e, tails)) is not None
        ]
        self._cleared = Enclosure(cleared, list(x), constants)

    def whole(self, lo: Array, hi: Array) -> tuple[Array, Array, Array]:
        """As for any problem; boxes are also excluded by the values over the intervals of the unknowns themselves."""
        lo, hi, gone = super().whole(lo, hi)
        for enclosure, boxes in (
            (self._plain, self.places(lo, hi)),
            (self._cleared, [Interval(lo[:, j], hi[:, j]) for j in range(self.n)]),
        ):
            values, outside, _ = enclosure(boxes)
            gone = np.logical_or.reduce([gone, outside, *(~v.has_zero for v in values)])
        return lo, hi, gone

    def places(self, lo: Array, hi: Array) -> list[Interval]:
        """The intervals of the unknowns themselves; unbounded where w = 0 is inside."""
        with np.errstate(all="ignore"):
            ends = np.nextafter(1 / hi, 0), np.nextafter(1 / np.maximum(lo, 0.0), np.inf)
        found = []
        for j, kind in enumerate(self.kinds):
            a, b = (lo[:, j], hi[:, j]) if kind == 0 else (ends[0][:, j], ends[1][:, j])
            found.append(Interval(a, b) if kind >= 0 else Interval(-b, -a))
        return found


def _cleared(e: Fast, tails: Sequence[str]) -> Fast:
    """The same zeros for w > 0: the highest power of 1/w is divided out."""
    symbols = {name: sympy.Symbol(name, positive=True) for name in tails}
    plain = slow(e, []).xreplace({sympy.Symbol(name): w for name, w in symbols.items()})
    # sqrt(1 + 1/w^2) is sqrt(1 + w^2)/w: SymPy takes the factor out where it sees one
    whole = plain.replace(
        lambda p: p.is_Pow and not p.exp.is_Integer, lambda p: sympy.Pow(sympy.together(p.base), p.exp)
    )
    terms = sympy.Add.make_args(sympy.expand(whole))
    for w in symbols.values():
        powers = [t.as_powers_dict().get(w, sympy.S.Zero) for t in terms]
        least = min((p for p in powers if p.is_Rational), default=sympy.S.Zero)
        terms = tuple(t * w**-least for t in terms) if least < 0 else terms
    return fast(sympy.Add(*terms))


def near(problem: Problem, starts: Array, budget: Budget) -> Solutions:
    """Solutions to which Newton's method, or else the method of least squares, leads from some points, each proved."""
    solutions = Solutions()
    points = newton(problem, starts)
    points = points[(np.abs(points) < 1e100).all(axis=1)]  # nor those that ran away
    if not len(points):
        points = _least_squares(problem, starts[:8])
    for x in np.unique(points.round(12), axis=0):
        reach = 1e-3 * (1 + np.abs(x))
        found = isolate(problem, x - reach, x + reach, budget)
        solutions.examined += found.examined
        for root in found.roots:
            if root.exists:
                solutions.add(problem, *_narrowed(problem, root.lo, root.hi))
    return solutions


def _least_squares(problem: Problem, starts: Array) -> Array:
    """Points where the sum of squares is smallest nearby, which is a solution if there is one there."""
    from scipy.optimize import least_squares

    found = []
    for x in starts:
        with np.errstate(all="ignore"):
            try:
                best = least_squares(lambda y: problem.at(y[None])[0][0], x, lambda y: problem.at(y[None])[1][0])
            except ValueError:  # no number at the start
                continue
        found.append(best.x)
    return np.array(found).reshape(-1, problem.n)


def _narrowed(problem: Problem, lo: Array, hi: Array) -> Corners:
    """A proved enclosure of a solution, made as narrow as Krawczyk's operator makes it."""
    for _ in range(60):
        lower, upper, *_ = problem.krawczyk(lo[None], hi[None])
        new = np.maximum(lo, lower[0]), np.minimum(hi, upper[0])
        if not (new[1] - new[0] < 0.99 * (hi - lo)).any():
            break
        lo, hi = new
    return lo, hi


def all_solutions(
    equations: Sequence[Fast], x: Sequence[str], constants: Mapping[str, float], known: Solutions, attempts: int
) -> Solutions:
    """Every solution in the whole space, those already known included; `attempts` boxes are looked at."""
    if len(x) > MOST:
        return known
    solutions = Solutions(list(known.found), examined=known.examined, searched=True)
    plain = Problem(equations, x, [], constants)
    charts = list(product((0, 1, -1), repeat=len(x)))
    for kinds in charts:
        chart = _Chart(equations, x, constants, kinds, Budget(seconds=20.0))
        lo = np.array([-1.0 if kind == 0 else 0.0 for kind in kinds])
        found = isolate(chart, lo, np.ones(len(x)), Budget(attempts // len(charts)))
        solutions.examined += found.examined
        for root in found.roots:
            _add(solutions, plain, chart, *_narrowed(chart, root.lo, root.hi))
        for lower, upper in found.undecided:
            places = chart.places(lower, upper)
            ends = np.stack([p.lo for p in places], axis=1), np.stack([p.hi for p in places], axis=1)
            solutions.undecided += list(zip(*ends, strict=True))
    return solutions


def _add(solutions: Solutions, plain: Problem, chart: _Chart, lo: Array, hi: Array) -> None:
    """A root of a chart, in terms of the unknowns; one at w <= 0 belongs to another chart or to none."""
    tails = np.array(chart.kinds) != 0
    if (hi[tails] <= 0).any():
        return
    if (lo[tails] <= 0).any():
        solutions.undecided.append((lo, hi))
        return
    places = chart.places(lo[None], hi[None])
    solutions.add(plain, np.array([p.lo[0] for p in places]), np.array([p.hi[0] for p in places]))
