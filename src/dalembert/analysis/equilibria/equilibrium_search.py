"""All equilibria of a system in a box, each proved and with a verdict on its stability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Rational, Symbol

from ...decide.budget import Budget
from ...display import Part, Shown, Table
from ...errors import StartError, told
from ...model.bodies.assembly import system_of
from ...model.coordinates import Coordinate
from ...model.heat import mechanical
from ...model.scales import scales_at
from ...model.system import System
from ...numbers import reals
from ...numbers import whole as count
from ...rigour.enclosure import Enclosure
from ...rigour.interval import Interval, digits
from ...rigour.isolation import Found, Problem, Root, isolate, newton, rank_beside
from ...run.values import Array, Values, exact_values, parameter_values
from ...symbolic import jacobian, substitute
from ...theory.small_motions.linearised import linearise, refuse_time
from ...waist.layout import spans
from .normal_modes import NormalModes, normal_modes
from .rest_equations import Rest, inside, rest
from .stability import Numbers, Stability, stability

EDGE = 1e-12
"""The edges belong to the box; they are moved outward by this fraction of its width."""

Box = Mapping[Coordinate, tuple[float, float]]


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(Shown):
    """A state of rest.

    state:        the positions, and the velocities, which are zero
    multipliers:  one per constraint, in the sign convention of the equations
    enclosure:    for each coordinate the interval in which the exact value lies
    proved:       whether it is proved that there is an equilibrium in the enclosure, and no other
    stability:    the verdict with its reason
    """

    system: System
    parameters: dict[Symbol, float]
    state: dict[Symbol, float]
    multipliers: tuple[float, ...]
    enclosure: dict[Coordinate, tuple[float, float]]
    proved: bool
    stability: Stability

    def __getitem__(self, key: Any) -> float:
        name = key.name if isinstance(key, Symbol) else str(key)
        return next(x for s, x in self.state.items() if s.name == name)

    def _parts(self) -> Sequence[Part]:
        at = ", ".join(f"{q} = {_place(self, q)}" for q in self.system.coordinates)
        forces = [f"lambda_{a + 1} = {_short(x)}" for a, x in enumerate(self.multipliers)]
        sure = [] if self.proved else ["uniqueness is proved, existence only to rounding"]
        return [
            f"equilibrium of {self.system.name}: {at}",
            *([", ".join(forces)] if forces else []),
            str(self.stability),
            *sure,
        ]


@dataclass(frozen=True, eq=False)
class Region:
    """A part of the box that could not be decided.

    box:        the interval of each coordinate
    near:       an approximate equilibrium in or near it, if one was found
    dimension:  number of directions in which the linearised equations of rest do not change
    """

    box: dict[Coordinate, tuple[float, float]]
    near: dict[Coordinate, float] | None
    dimension: int
    reason: str

    def __str__(self) -> str:
        ends = ", ".join(f"{q} in [{_short(a)}, {_short(b)}]" for q, (a, b) in self.box.items())
        point = "" if self.near is None else f" (near {', '.join(f'{q} = {_short(x)}' for q, x in self.near.items())})"
        return f"undecided: {ends}: {self.reason}{point}"


@dataclass(frozen=True, eq=False, repr=False)
class Equilibria(Shown, Sequence[Equilibrium]):
    """The equilibria of a system in a box, a sequence of `Equilibrium`.

    free:       directions along which every equilibrium can be moved: {coordinate: component}
    undecided:  regions that may hold further equilibria; `complete` if there are none
    """

    system: System
    box: dict[Coordinate, tuple[float, float]]
    found: tuple[Equilibrium, ...]
    free: tuple[dict[Coordinate, float], ...]
    undecided: tuple[Region, ...]
    notes: tuple[str, ...]
    examined: int

    @property
    def complete(self) -> bool:
        """Whether every equilibrium in the box is in the list."""
        return not self.undecided

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: Any) -> Any:
        return self.found[index]

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self.found)

    def _reasons(self) -> dict[str, list[str]]:
        """The reasons of verdicts, each with the numbers of its equilibria."""
        found: dict[str, list[str]] = {}
        for k, e in enumerate(self.found):
            found.setdefault(e.stability.reason, []).append(str(k + 1))
        return found

    def _parts(self) -> Sequence[Part]:
        where = ", ".join(f"{q} in [{_short(a)}, {_short(b)}]" for q, (a, b) in self.box.items())
        place = f" with {where}" if where else ""
        count = f"{len(self.found)} {'equilibrium' if len(self.found) == 1 else 'equilibria'}"
        whole = "and no other" if self.complete else "and possibly more"
        lines: list[Part] = [f"{self.system.name}: {count}{place}, {whole} ({self.examined} boxes examined)"]
        columns = [q for q in self.system.coordinates if not any(d == {q: 1.0} for d in self.free)]
        m = len(self.system.constraints)
        head = (*(str(q) for q in columns), *(f"lambda_{a + 1}" for a in range(m)), "stability")
        rows = [(*(_place(e, q) for q in columns), *map(_short, e.multipliers), e.stability.verdict) for e in self]
        if rows:
            lines.append(Table(head, rows))
            lines += [f"{', '.join(which)}. {reason}" for reason, which in self._reasons().items()]
        if self.free:
            lines.append(f"free: {'; '.join(_direction(d) for d in self.free)}")
        return [*lines, *self.notes, *map(str, self.undecided)]


def _short(x: float) -> str:
    return f"{x:.8g}"


def _place(e: Equilibrium, q: Coordinate) -> str:
    """A coordinate at an equilibrium, with the digits that are proved; 0 if it may be zero."""
    x = e.state[q]
    return _short(x) if x == 0 or q not in e.enclosure else digits(*e.enclosure[q], most=8)


def _direction(d: Mapping[Coordinate, float]) -> str:
    if len(d) == 1:
        return str(next(iter(d)))
    return ", ".join(f"d{q} = {x:.6g}" for q, x in d.items())


def equilibria(
    system: System, *, parameters: Values | None = None, box: Mapping[Any, Any] | None = None, attempts: int = 30_000
) -> Equilibria:
    """All equilibria with positions in a box, {theta: (-pi, pi), x: (0, 2)}; edges belong to it.

    Interval arithmetic proves for each part of the box that it contains none or exactly one; parts not decided after
    `attempts` boxes are reported as undecided. No interval is needed for coordinates that the equations of rest do not
    contain (they are free), and (-pi, pi) is taken for those in which these equations have the period 2 pi. Over an
    interval of that length each equilibrium is listed once. Typed parameters are taken exactly: 9.81 is 981/100.
    """
    system = system_of(system, "equilibria")
    mechanical(system, "equilibria")
    attempts = count(attempts, "attempts", StartError)
    refuse_time(system, "equilibria")
    given = parameter_values(parameters, system.parameters)
    if any(v.ndim for v in given.values()):
        raise StartError("equilibria: a parameter is an array. Give one number each, and call it once for each value.")
    values = {name: float(v) for name, v in given.items()}
    typed = {name: x for name, x in exact_values(parameters, values).items() if Rational(values[name]) != x}
    ends = _read_box(system, box)
    r = rest(system, values, inside(system, ends, values))
    if r.excess.any():
        return Equilibria(system, ends, (), tuple(r.directions()), (), (_pushed(r),), 0)
    sought = [q for i, q in enumerate(system.coordinates) if i not in r.fixed]
    equations = [substitute(r.equations[i], typed) for i in r.kept]
    periodic = {q for q in sought if _is_periodic(r, q, ends)}
    ends |= {q: (-np.pi, np.pi) for q in sought if q in periodic and q not in ends}
    _refuse_unbounded(sought, ends)
    anchors = {q: sum(ends.get(q, (0.0, 0.0))) / 2 for i, q in enumerate(system.coordinates) if i in r.fixed}
    problem = Problem(
        equations, [q.name for q in sought], list(r.unknown), values | {q.name: x for q, x in anchors.items()}
    )
    lo, hi = _corners(r, sought, ends)
    whole = isolate(problem, lo, hi, Budget(attempts)) if sought else _nothing(problem)
    turns = np.array([2 * np.pi if q in periodic and _is_turn(ends[q]) else 0.0 for q in sought])
    roots = _once(whole.roots, hi, turns, 4 * EDGE * (hi - lo))
    found = [_equilibrium(r, sought, anchors, values, point, root) for point, root in roots]
    found.sort(key=lambda e: [round(e.state[q] / w, 9) for q, w in zip(sought, hi - lo, strict=True)])
    regions = _regions(problem, whole, sought, hi - lo)
    return Equilibria(
        system, {q: ends[q] for q in sought}, tuple(found), tuple(r.directions()), regions, (), whole.examined
    )


def _read_box(system: System, box: Mapping[Any, Any] | None) -> dict[Coordinate, tuple[float, float]]:
    known, q = {c.name: c for c in system.coordinates}, system.coordinates[0]
    if not (box is None or isinstance(box, Mapping)):
        raise StartError(f"box: got {box!r}. Expected intervals of coordinates, for example box={{{q}: (-1, 1)}}.")
    found: dict[Coordinate, tuple[float, float]] = {}
    for key, pair in (box or {}).items():
        name = key.name if isinstance(key, Symbol) else str(key)
        if name not in known:
            raise StartError(f"box: {key} is not a coordinate of this system. Its coordinates are {', '.join(known)}.")
        ends = reals(pair, f"box: {name}", expected=f"Give two numbers, {name}: (-1, 1).")
        a, b = ends.tolist() if ends.shape == (2,) else (np.nan, np.nan)
        if not (np.isfinite([a, b]).all() and a < b):
            raise StartError(
                f"box: {name}: {told(pair)}. Expected two finite numbers, the smaller one first: {name}: (-1, 1)."
            )
        found[known[name]] = (a, b)
    return found


def _refuse_unbounded(sought: Sequence[Coordinate], ends: Box) -> None:
    missing = [q for q in sought if q not in ends]
    if missing:
        example = ", ".join(f"{q}: (-1, 1)" for q in missing)
        raise StartError(
            f"box: no interval for {', '.join(map(str, missing))}. Equilibria are sought in a box; write box={{{example}}}."
        )


def _corners(r: Rest, sought: Sequence[Coordinate], ends: Box) -> tuple[Array, Array]:
    """The box of the coordinates sought; wider where moving along a free direction brings other equilibria into it."""
    q = r.system.coordinates
    lo, hi = np.array([ends[c] for c in sought], dtype=float).reshape(-1, 2).T
    for j, k in enumerate(r.fixed):
        a, b = ends.get(q[k], (0.0, 0.0))
        reach = np.array([abs(r.free[q.index(c), j]) for c in sought]) * (b - a) / 2
        lo, hi = lo - reach, hi + reach
    return lo - EDGE * (hi - lo), hi + EDGE * (hi - lo)


def _is_turn(ends: tuple[float, float]) -> bool:
    return abs(ends[1] - ends[0] - 2 * np.pi) <= EDGE * 2 * np.pi


def _is_periodic(r: Rest, q: Coordinate, ends: Box) -> bool:
    """Whether the equations have the period 2 pi in a coordinate; by value at sample points, up to rounding."""
    names = [*(c.name for c in r.system.coordinates), *r.unknown]
    scales, usual = scales_at(r.system, r.values), np.array([0.3, 1.7])
    places = np.array([*(ends.get(c, scales[c.name] * usual) for c in r.system.coordinates), *[usual] * len(r.unknown)])
    points = np.random.default_rng(1).uniform(places[:, 0], places[:, 1], (12, len(names)))
    boxes = [Interval(np.concatenate([c, c]), np.concatenate([c, c])) for c in points.T]
    j, turn = names.index(q.name), Interval(*np.nextafter(2 * np.pi, [0.0, 7.0]))
    first, second = Interval(points[:, j], points[:, j]), Interval(points[:, j], points[:, j]) + turn
    boxes[j] = Interval(np.concatenate([first.lo, second.lo]), np.concatenate([first.hi, second.hi]))
    parts = [substitute(e, dict.fromkeys(r.unknown, 0)) for e in r.equations]
    parts += [c for row in jacobian(r.equations, r.unknown) for c in row]
    found, marks = Enclosure(parts, names, r.values)(boxes)
    good = ~marks.outside[:, :12] & ~marks.outside[:, 12:]
    same = [(a.lo[:12] <= a.hi[12:]) & (a.hi[:12] >= a.lo[12:]) for a in found]
    return bool(good.any() and all((s | ~g).all() for s, g in zip(same, good, strict=True)))


# results


def _nothing(problem: Problem) -> Found:
    """Without unknown positions: multipliers, if any, are determined by linear equations that hold everywhere."""
    y = np.zeros(problem.m)
    return Found([Root(y, y, y, y, True)], [], 0)


def _pushed(r: Rest) -> str:
    k = int(np.flatnonzero(r.excess)[0])
    row, q = r.relations[k], r.system.coordinates
    moving, held = (row[part] for part in spans(len(q), len(r.unknown)))
    if np.abs(held).any() and not np.abs(moving).any():
        return "there is no equilibrium: the constraints do not allow zero velocity, or contradict each other"
    along = _direction({q[i]: float(x) for i, x in enumerate(moving) if x})
    return f"there is no equilibrium: along {along} there is a constant force of {-r.excess[k]:.8g}"


def _once(roots: Sequence[Root], top: Array, turns: Array, near: Array) -> list[tuple[Array, Root]]:
    """Each solution once: positions a whole turn apart are the same, and the one at the upper edge is shown.

    top:    the upper corner of the box
    near:   two positions nearer than this are one
    """
    found: list[tuple[Array, Root]] = []
    again: list[tuple[Array, Root]] = []
    (places,) = spans(len(top))
    for root in roots:
        x = np.where((root.lo <= 0) & (root.hi >= 0), 0.0, root.point)
        low = (turns > 0) & (np.abs(x[places] - (top - turns)) <= near)
        x[places] += np.where(low, turns, 0.0)
        (again if low.any() else found).append((x, root))
    for x, root in again:
        if not any((np.abs(x[places] - other[places]) <= near).all() for other, _ in found):
            found.append((x, root))
    return found


def _equilibrium(
    r: Rest, sought: Sequence[Coordinate], anchors: Mapping[Coordinate, float], values: dict[str, float],
    point: Array, root: Root,
) -> Equilibrium:  # fmt: skip
    system, (places, held) = r.system, spans(len(sought), len(r.unknown))
    moved = {**anchors, **dict(zip(sought, point[places].tolist(), strict=True))}
    state: dict[Symbol, float] = {q: moved[q] + 0.0 for q in system.coordinates} | dict.fromkeys(system.velocities, 0.0)
    forces = tuple(point[held].tolist()) if r.unknown else (0.0,) * len(system.constraints)
    turned = Interval(root.lo[places], root.hi[places]) + Interval(*_turn(point[places] - root.point[places]))
    enclosure = {q: (float(turned.lo[i]), float(turned.hi[i])) for i, q in enumerate(sought)}
    numbers = {p: values[p.name] for p in system.parameters}
    lin = Numbers(linearise(system, about=state, parameters=numbers))
    verdict = stability(lin, values | {s.name: x for s, x in state.items()}, r.free, r.family)
    return Equilibrium(system, numbers, state, forces, enclosure, root.exists, verdict)


def _turn(shift: Array) -> tuple[Array, Array]:
    """Bounds of the displacement of positions: zero, or 2 pi, which lies between these numbers."""
    moved = np.abs(shift) > np.pi
    return np.where(moved, np.nextafter(2 * np.pi, 0), 0.0), np.where(moved, np.nextafter(2 * np.pi, 7), 0.0)


def _regions(problem: Problem, whole: Found, sought: Sequence[Coordinate], width: Array) -> tuple[Region, ...]:
    """The undecided boxes, touching ones merged."""
    boxes = [b for b in whole.undecided if len(b[0])]
    if not boxes:
        return ()
    lo, hi = np.concatenate([a for a, _ in boxes]), np.concatenate([b for _, b in boxes])
    spread = np.random.default_rng(2).uniform(lo.min(axis=0) - width / 2, hi.max(axis=0) + width / 2, (32, len(width)))
    slopes = problem.at(np.hstack([spread, np.zeros((32, problem.m))]))[1]
    parts = sorted(_touching(lo, hi, width), key=lambda k: (lo[k].min(axis=0) / width).round(6).tolist())
    return tuple(_region(problem, lo[k], hi[k], sought, width, slopes) for k in parts)


def _touching(lo: Array, hi: Array, width: Array) -> list[Array]:
    """Indices of boxes, in connected groups; many boxes are first put on a grid."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    cells = np.arange(len(lo))
    a, b = lo, hi
    if len(lo) > 2000:
        grid, cells = np.unique(np.floor((lo + hi) / (2 * width) * 24).astype(int), axis=0, return_inverse=True)
        cells = cells.reshape(-1)
        a, b = grid * width / 24, (grid + 1) * width / 24
    slack = 1e-5 * width
    pairs = [np.flatnonzero(((a[i] <= b + slack) & (b[i] + slack >= a)).all(axis=1)) for i in range(len(a))]
    rows = np.repeat(np.arange(len(a)), [len(p) for p in pairs])
    graph = coo_matrix((np.ones(len(rows)), (rows, np.concatenate(pairs))), shape=(len(a), len(a)))
    count, label = connected_components(graph, directed=False)
    if count > 12:  # scattered: the rest of a search that was stopped early
        return [np.arange(len(lo))]
    return [np.flatnonzero(label[cells] == c) for c in range(count)]


def _region(
    problem: Problem, lo: Array, hi: Array, sought: Sequence[Coordinate], width: Array, slopes: Array
) -> Region:
    """The region of some connected boxes; `slopes` are Jacobians elsewhere in the box."""
    places, held = spans(problem.n, problem.m)
    pick = np.unique(np.linspace(0, len(lo) - 1, 8).astype(int))
    middle = (lo[pick] + hi[pick]) / 2
    a, b, _ = problem.whole(middle, middle)
    with np.errstate(invalid="ignore"):
        start = np.hstack([middle, np.nan_to_num((a + b) / 2)[:, held]])
    points = newton(problem, start)
    ends = lo.min(axis=0), hi.max(axis=0)
    with np.errstate(invalid="ignore"):
        at = points[:, places]
        near = ((at >= ends[0] - 0.05 * width) & (at <= ends[1] + 0.05 * width)).all(axis=1)
    box = {q: (float(x), float(y)) for q, x, y in zip(sought, *ends, strict=True)}
    small = ((ends[1] - ends[0]) <= 1e-3 * width).all()
    if not near.any():
        why = "an expression has no bounded value there" if small else "no equilibrium was found there, raise attempts="
        return Region(box, None, 0, f"{why}; none could be excluded")
    x = points[near][0]
    missing = problem.n + problem.m - rank_beside(problem.at(x[None])[1][0], slopes)
    if missing and not small:
        reason = f"the equilibria there are not isolated; they form a family of dimension {missing}"
    elif missing:
        reason = "a degenerate equilibrium, or several close together: the equations of rest are singular there"
    else:
        reason = "there is an equilibrium, but it could not be proved to be the only one; raise attempts="
    return Region(box, dict(zip(sought, x[places].tolist(), strict=True)), missing, reason)


__all__ = ["Equilibria", "Equilibrium", "NormalModes", "Region", "equilibria", "normal_modes"]
