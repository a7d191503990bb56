"""All solutions of some equations in the whole space, with proof.

Each unknown, measured in the unit that its equations suggest (`units`), lies in [-1, 1], or is 1/w or -1/w with w in
(0, 1]: so the space is covered by finitely many boxes, over which `isolate` looks for all solutions. Near w = 0 the
equations are also judged by their values over the unbounded interval itself, where functions such as exp and atan have known
limits, and with their powers of w divided out. Points at infinity do not count as solutions; where the
equations vanish there in the limit, the neighbourhood of infinity stays undecided and is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import sympy

from ..decide.budget import Budget
from ..symbolic import Fast, fast, slow, substitute
from .enclosure import Enclosure
from .interval import Array, Interval
from .isolation import Problem, Root, isolate, newton, rank, tightened

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
        lo, hi = (e[0] for e in tightened(problem, lo[None], hi[None]))
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
            values, marks = enclosure(boxes)
            gone = np.logical_or.reduce([gone, *marks.outside, *(~v.has_zero for v in values)])
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


def _cleared(e: Fast, tails: Sequence[str]) -> Fast | None:
    """The same zeros for w > 0: the highest power of 1/w is divided out; None where it is not real as it stands."""
    symbols = {name: sympy.Symbol(name, positive=True) for name in tails}
    plain = slow(e, []).xreplace({sympy.Symbol(name): w for name, w in symbols.items()})
    # sqrt(1 + 1/w^2) is sqrt(1 + w^2)/w: SymPy extracts the factor where it can
    whole = plain.replace(
        lambda p: p.is_Pow and not p.exp.is_Integer, lambda p: sympy.Pow(sympy.together(p.base), p.exp)
    )
    terms = sympy.Add.make_args(sympy.expand(whole))
    for w in symbols.values():
        powers = [t.as_powers_dict().get(w, sympy.S.Zero) for t in terms]
        least = min((p for p in powers if p.is_Rational), default=sympy.S.Zero)
        terms = tuple(t * w**-least for t in terms) if least < 0 else terms
    return None if any(t.has(sympy.I) for t in terms) else fast(sympy.Add(*terms))


def units(problem: Problem) -> Array:
    """For each unknown a power of two, of the size that its equations give it whatever units they are written in.

    It is the distance from zero at which nonlinearity shows: 1 - Y J(x) has an entry of 0.1 on its diagonal. For linear
    equations it is the distance that Newton's method reaches from zero; and where there is no inverse at zero, the distance
    at which its relative step is smallest.
    """
    n, grid = problem.n, np.exp2(np.arange(-300.0, 301.0, 2.0))
    far = np.concatenate([grid, -grid])
    with np.errstate(all="ignore"):
        f, J, _ = problem.at(np.zeros((1, n)))
        if not (np.isfinite(f).all() and np.isfinite(J).all() and rank(J[0]) == n):
            return _balanced(problem, far)
        Y, found = problem.inverse(J), np.zeros(n)
        for j in range(n):
            bent = Y @ problem.at(far[:, None] * np.eye(n)[j])[1] - Y @ J
            bends = np.abs(np.diagonal(bent, axis1=1, axis2=2)).max(axis=1) > 0.1
            found[j] = np.abs(far[bends]).min(initial=np.inf)
        x, reach = np.zeros((1, n)), np.zeros(n)
        for _ in range(4):
            f, J, _ = problem.at(x)
            x = (
                x - (problem.inverse(J, 1e-12) @ f[:, :, None])[:, :, 0]
                if np.isfinite(J).all()
                else np.full((1, n), np.nan)
            )
            reach = np.fmax(reach, np.abs(x[0]))
    size = np.where(np.isfinite(found), found, reach)
    return np.where((size > 0) & np.isfinite(size), np.exp2(np.round(np.log2(np.where(size > 0, size, 1)))), 1.0)


def _balanced(problem: Problem, far: Array) -> Array:
    """The least distance from zero, the same for all unknowns, at which Newton's step is about shortest beside it."""
    x = far[:, None] * np.ones(problem.n)
    f, J, _ = problem.at(x)
    good = np.isfinite(f).all(axis=1) & np.isfinite(J).all(axis=(1, 2)) & np.abs(J).any(axis=(1, 2))
    if not good.any():
        return np.ones(problem.n)
    step = np.abs((problem.inverse(J[good], 1e-12) @ f[good][:, :, None])[:, :, 0]).max(axis=1) / np.abs(far[good])
    step = np.nan_to_num(step, nan=np.inf)
    return np.full(problem.n, np.abs(far[good][step <= 2 * step.min()]).min())


def near(problem: Problem, starts: Array, budget: Budget) -> Solutions:
    """Solutions to which Newton's method, or else the method of least squares, leads from some points, each proved."""
    solutions, searched = Solutions(), list[Corners]()
    points = newton(problem, starts)
    points = points[(np.abs(points) < 1e100).all(axis=1)]  # nor divergent ones
    if not len(points):
        points = _least_squares(problem, starts[:8])
    for x in points:
        if any(((x > lo) & (x < hi)).all() for lo, hi in searched):
            continue
        reach = 1e-3 * (1 + np.abs(x))
        found = isolate(problem, x - reach, x + reach, budget)
        solutions.examined += found.examined
        if not found.undecided:  # all solutions there are known
            searched.append((x - reach, x + reach))
        for root in found.roots:
            if root.exists:
                solutions.add(problem, root.lo, root.hi)
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


def all_solutions(
    equations: Sequence[Fast], x: Sequence[str], constants: Mapping[str, float], known: Solutions, attempts: int
) -> Solutions:
    """Every solution in the whole space, including those already known; `attempts` limits the number of boxes."""
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
            _add(solutions, plain, chart, root)
        for lower, upper in found.undecided:
            places = chart.places(lower, upper)
            ends = np.stack([p.lo for p in places], axis=1), np.stack([p.hi for p in places], axis=1)
            solutions.undecided += list(zip(*ends, strict=True))
    return solutions


def _add(solutions: Solutions, plain: Problem, chart: _Chart, root: Root) -> None:
    """A root of a chart, in terms of the unknowns; one at w <= 0 belongs to another chart or to none."""
    tails = np.array(chart.kinds) != 0
    if (root.hi[tails] <= 0).any():
        return
    places = chart.places(root.lo[None], root.hi[None])
    lo, hi = np.array([p.lo[0] for p in places]), np.array([p.hi[0] for p in places])
    if root.exists and np.isfinite(lo).all() and np.isfinite(hi).all():
        solutions.add(plain, lo, hi)
    else:
        solutions.undecided.append((lo, hi))
