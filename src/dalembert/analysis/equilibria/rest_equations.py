"""The equations of rest of a system, in numbers: the conditions of equilibrium.

    -dL/dq - F - lambda_a omega^a = 0  at zero velocity,     constraints = 0  at zero velocity.

Directions along which these equations do not change are free: cyclic coordinates, a common translation. They are
found by value, as the common kernel of the Jacobians at sample points, and eliminated. Floating point may see one too many,
where a stiffness is small beside others; so where it sees any, they come from an elimination with balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from ...decide import balls
from ...decide.elimination import kernel
from ...decide.matrix_scaling import balance
from ...decide.sample import across, boundaries
from ...decide.zero import vanishes
from ...model.coordinates import Coordinate
from ...model.scales import scales_at
from ...model.system import System
from ...rigour.enclosure import Enclosure
from ...rigour.interval import Interval
from ...rigour.isolation import rank
from ...run.values import Array
from ...symbolic import Fast, fast, gradient, jacobian, substitute, vectorised
from ...theory.motion.lagrange import multipliers, reaction
from ...theory.small_motions.linearised import steady_balance

FEW, MANY, EXACT = 24, 4096, 60
"""Points at which the equations are sampled; those among which points of every branch are looked for; those for balls."""


@dataclass(frozen=True, eq=False)
class Rest:
    """The equations of rest.

    equations:  one per coordinate, then those of the constraints; functions of positions and multipliers
    unknown:    the multipliers in them; the others are zero at every equilibrium
    free:       directions along which the equations do not change, as columns
    fixed:      one coordinate per free direction, which is 1 in it and 0 in the others
    relations:  combinations of equations that are constant, as rows; `excess` has their values, and for each of them
                `dropped` has an equation that follows from the others
    """

    system: System
    values: Mapping[str, float]
    equations: tuple[Fast, ...]
    unknown: tuple[str, ...]
    free: Array
    fixed: tuple[int, ...]
    relations: Array
    dropped: tuple[int, ...]
    excess: Array

    @property
    def kept(self) -> list[int]:
        """Equations that do not follow from the others."""
        return [i for i in range(len(self.equations)) if i not in self.dropped]

    @property
    def family(self) -> int:
        """The least dimension that a set of equilibria has: unknowns less equations, where these are independent."""
        return len(self.system.coordinates) + len(self.unknown) - len(self.kept)

    def directions(self) -> list[dict[Coordinate, float]]:
        """The free directions, each as {coordinate: component}."""
        q = self.system.coordinates
        return [{q[i]: float(x) for i, x in enumerate(c) if x} for c in self.free.T]


def rest(system: System, values: Mapping[str, float], points: Array) -> Rest:
    """The equations of rest for given parameters; `points` are positions, one per row, at which samples are taken."""
    q, names = system.coordinates, [m.name for m in multipliers(system)]
    still = dict.fromkeys(system.velocities, 0)
    plain = [substitute(e, still) for e in steady_balance(system)]
    forms = [[substitute(a, still) for a in w] for w in system.variations]
    unknown = [] if _silent(plain, forms) else names
    forces = [substitute(r, still) for r in reaction(system)] if unknown else [fast(0)] * len(q)
    equations = [e - r for e, r in zip(plain, forces, strict=True)]
    at_zero = [substitute(c.expression, still) for c in system.constraints]
    equations += [e for e in at_zero if e != 0]
    x = [c.name for c in q]
    at, slopes, forms_at = _samples(equations, x, unknown, values, points)
    exact = _ExactSlopes(equations, x, unknown, values, points)
    free, fixed = _echelon(*_confirmed(_common_kernel(slopes), exact.by_positions))
    both = np.concatenate([slopes, forms_at], axis=2).swapaxes(1, 2)
    rows, dropped = _echelon(*_confirmed(_common_kernel(both), exact.by_equations))
    excess = rows @ (at.sum(axis=0) / max(len(at), 1))
    size = np.abs(rows) @ np.abs(at).max(axis=0, initial=0)
    excess = np.where(np.abs(excess) <= 1e-10 * size, 0.0, excess)
    return Rest(system, dict(values), tuple(equations), tuple(unknown), free.T, fixed, rows, dropped, excess)


def inside(system: System, box: Mapping[Coordinate, tuple[float, float]], values: Mapping[str, float]) -> Array:
    """Points in a box, in every branch that the equations have there; coordinates without an interval are angles, or the
    equations do not contain them.
    """
    q, scales = system.coordinates, scales_at(system, values)
    unit = np.array([scales[c.name] for c in q])
    natural = np.outer(unit, (-1.3, 1.7))
    ends = np.array([box.get(c, usual) for c, usual in zip(q, natural, strict=True)], dtype=float)
    rng = np.random.default_rng(0)
    drawn = rng.uniform(ends[:, 0], ends[:, 1], (MANY, len(ends)))
    # Forces may underflow in all of a large box but near its middle, or where they are of natural size.
    middle = np.where([c in box for c in q], ends.mean(axis=1), 0.0)
    near = np.concatenate([place + rng.uniform(natural[:, 0], natural[:, 1], (FEW, len(q))) for place in (0.0, middle)])
    near = near[((ends[:, 0] <= near) & (near <= ends[:, 1])).all(axis=1)]
    few = np.concatenate([drawn[:FEW], near])
    still = dict.fromkeys(system.velocities, 0)
    kinks = boundaries([substitute(e, still) for e in (system.lagrangian, *system.force)])
    kinks += boundaries([substitute(c.expression, still) for c in system.constraints])
    return np.concatenate([few, *_beyond(system, kinks, drawn, box, values)]) if kinks else few


def _beyond(
    system: System, kinks: Sequence[Fast], drawn: Array, box: Mapping[Coordinate, tuple[float, float]],
    values: Mapping[str, float],
) -> Iterator[Array]:  # fmt: skip
    """Points in the box for every combination of signs of the functions that bound branches, and on both sides of each."""
    q, rng, scales = system.coordinates, Random(0), scales_at(system, values)
    names = [c.name for c in q]
    known = np.tile([values[p.name] for p in system.parameters], (len(drawn), 1))
    signs = np.sign(vectorised([*names, *(p.name for p in system.parameters)], list(kinks))(np.hstack([drawn, known])))
    yield drawn[np.unique(signs, axis=0, return_index=True)[1]]
    scales |= {c.name: b - a for c, (a, b) in box.items()}
    for row in drawn[:FEW]:
        at = {**values, **dict(zip(names, row.tolist(), strict=True))}
        for kink in kinks:
            for name in names:
                points = np.array([[p[n] for n in names] for p in across(kink, at, scales, rng, [name])])
                limits = np.array([box.get(c, (-np.inf, np.inf)) for c in q])
                if len(points):
                    yield points[((limits[:, 0] <= points) & (points <= limits[:, 1])).all(axis=1)]


def around(place: Sequence[float]) -> Array:
    """Points at many scales of distance from a place, since the scale of the equations is not known."""
    rng = np.random.default_rng(0)
    far = np.exp2(np.arange(-200.0, 201.0, 4.0))[:, None, None]
    return np.asarray(place + (far * rng.uniform(-1, 1, (len(far), 3, len(place)))).reshape(-1, len(place)))


def _silent(plain: Sequence[Fast], forms: Sequence[Sequence[Fast]]) -> bool:
    """Whether no reaction is needed at rest: no force acts, or the equations without forces make it zero."""
    if not forms or all(vanishes(e) for e in plain):
        return True
    zero = [i for i, e in enumerate(plain) if vanishes(e)]
    constant = [i for i in zero if all(not w[i].free_symbols for w in forms)]
    block = np.array([[float(w[i]) for i in constant] for w in forms]).reshape(len(forms), len(constant))
    return rank(block) == len(forms) if constant else False


def _samples(
    equations: Sequence[Fast], x: Sequence[str], y: Sequence[str], values: Mapping[str, float], points: Array
) -> tuple[Array, Array, Array]:  # fmt: skip
    """The equations, their derivatives by x and those by y at some points where they are defined.

    y enters linearly. Its coefficients are separate samples, so that the result does not depend on the size of y.
    """
    k, n = len(equations), len(x)
    columns = [[gradient(e, [fast(s)])[0] for e in equations] for s in y]
    plain = [substitute(e, dict.fromkeys(y, 0)) for e in equations]
    entries = [d for part in (plain, *columns) for row in jacobian(part, [fast(s) for s in x]) for d in row]
    found, marks = Enclosure([*plain, *(c for part in columns for c in part), *entries], list(x), values)(
        [Interval(p, p) for p in points.T]
    )
    # Entries within rounding of zero are zero, and those that have lost half of their digits are not used.
    with np.errstate(invalid="ignore"):
        lost = np.array([~(a.hi - a.lo <= 1e-9 * a.size) & ~a.has_zero for a in found[k:]])
    zero = [np.zeros(len(points), dtype=bool)] * k + [a.has_zero for a in found[k:]]
    table = np.where(marks.outside, np.nan, [np.where(z, 0.0, a.middle) for z, a in zip(zero, found, strict=True)]).T
    table = table[np.isfinite(table).all(axis=1) & ~lost.any(axis=0)]
    count, first = len(table), k * (1 + len(y))
    parts = table[:, first:].reshape(count, 1 + len(y), k, n)
    forms = table[:, k:first].reshape(count, len(y), k).swapaxes(1, 2)
    by_y = np.concatenate([forms, np.zeros((count * len(y), k, len(y)))]) if len(y) else np.zeros((count, k, 0))
    return table[:, :k], parts.swapaxes(0, 1).reshape(-1, k, n), by_y


class _ExactSlopes:
    """The derivatives of the equations in balls, at some of the points where they have values.

    The multipliers y enter linearly; what belongs to each is a matrix of its own, as in `_samples`.
    """

    def __init__(
        self, equations: Sequence[Fast], x: Sequence[str], y: Sequence[str], values: Mapping[str, float], points: Array
    ):  # fmt: skip
        columns = [[gradient(e, [fast(s)])[0] for e in equations] for s in y]
        plain = [substitute(e, dict.fromkeys(y, 0)) for e in equations]
        self._forms = [list(row) for row in zip(*columns, strict=True)]
        self._slopes = [jacobian(part, [fast(s) for s in x]) for part in (plain, *columns)]
        self._names, self._values, self._width = x, values, (len(x), len(equations))
        self._points = points[:: -(-len(points) // EXACT)]

    def by_positions(self) -> list[dict[int, balls.Ball]]:
        """The directions of positions along which no equation changes."""
        return kernel(
            [row for at in self._at() for part in self._slopes for row in self._table(part, at)], self._width[0]
        )

    def by_equations(self) -> list[dict[int, balls.Ball]]:
        """The combinations of equations that no position and no multiplier changes."""
        grid = []
        for at in self._at():
            for part in (*self._slopes, self._forms):
                grid += [list(row) for row in zip(*self._table(part, at), strict=True)]
        return kernel(grid, self._width[1])

    def _at(self) -> Iterator[balls.Point]:
        with balls.precise():
            known = {name: balls.ball(x) for name, x in self._values.items()}
            for p in self._points.tolist():
                at = {**known, **balls.exact_point(dict(zip(self._names, p, strict=True)))}
                if all(self._table(part, at) or not part for part in (*self._slopes, self._forms)):
                    yield at

    def _table(self, part: Sequence[Sequence[Fast]], at: balls.Point) -> list[list[balls.Ball]]:
        return balls.values(part, at) or []


def _confirmed(
    found: tuple[Array, Array], exact: Callable[[], list[dict[int, balls.Ball]]]
) -> tuple[Array, Array]:  # fmt: skip
    """A kernel that floating point has found, from balls: of an empty one nothing is left to confirm."""
    rows, units = found
    if not len(rows):
        return found
    told = exact()
    return np.array([[float(row[k]) if k in row else 0.0 for k in range(len(units))] for row in told]).reshape(
        -1, len(units)
    ) / units, units


def _common_kernel(matrices: Array) -> tuple[Array, Array]:
    """The common kernel of all matrices, as rows with components in separate units, and these units."""
    stacked = matrices.reshape(-1, matrices.shape[2])
    if not len(matrices):  # without samples nothing is known to vanish
        return np.zeros((0, stacked.shape[1])), np.ones(stacked.shape[1])
    rows, columns = balance(stacked[None])
    _, found, right = np.linalg.svd(stacked * rows[0][:, None] * columns[0], full_matrices=True)
    held = int((found > 1e-11 * found.max(initial=0)).sum())
    return np.asarray(right[held:]), columns[0]


def _echelon(rows: Array, units: Array) -> tuple[Array, tuple[int, ...]]:
    """The same span with a column per row that is 1 in it and 0 in the others, the last columns first."""
    rows, pivots = rows.copy(), list[int]()
    for r in range(len(rows)):
        size = np.abs(rows[r:]).max(axis=0)
        j = max(i for i in range(rows.shape[1]) if size[i] > 0.3 * size.max())
        best = r + int(np.abs(rows[r:, j]).argmax())
        rows[[r, best]] = rows[[best, r]]
        rows[r] /= rows[r, j]
        for i in range(len(rows)):
            if i != r:
                rows[i] -= rows[i, j] * rows[r]
        pivots.append(j)
    rows = np.where(np.abs(rows) <= 1e-9, 0.0, rows) * units / units[pivots][:, None]
    near = np.round(rows * 12) / 12
    return np.where(np.abs(rows - near) <= 1e-9 * np.abs(rows), near, rows) + 0.0, tuple(pivots)
