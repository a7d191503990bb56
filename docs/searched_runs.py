"""Whole systems made at random, continued: domains and branches, proofs, joins. See `searched_systems`."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import sympy
from scipy.integrate import solve_ivp
from searched_systems import METHODS, POTENTIALS, Skipped, _nothing, _same, numbers, start, system
from sympy import Rational, cos, exp, log, sin, sqrt

import dalembert as da
from dalembert.analysis.equilibria import equilibrium_search
from dalembert.discrete import equations as discrete_equations
from dalembert.symbolic import fast, vectorised
from dalembert.waist import stepmap

x, y = da.coordinates("x y")

# 3. domains and branches

Edge = Callable[[Callable[[], Any]], tuple[Any, Any]]


def _shifted(n: Callable[[], Any], a: Any) -> tuple[Any, Any]:
    return -n() * log(x - a) + n() * x, x - a


def _ball(n: Callable[[], Any], a: Any) -> tuple[Any, Any]:
    return -n() * log(a**2 - x**2), a**2 - x**2


EDGES: dict[str, Edge] = {
    "log": lambda n: (-n() * log(x) + n() * x, x),
    "log, falling": lambda n: (n() * log(x), x),
    "pole": lambda n: (n() / x + n() * x, x),
    "falling pole": lambda n: (-n() / x**2, x),
    "power": lambda n: (n() * x ** Rational(3, 2) + n() * x, x),
    "root": lambda n: (n() * sqrt(n() - x), None),
    "shifted log": lambda n: _shifted(n, n() / 10),
    "sine": lambda n: (n() / sin(x), sin(x)),
    "lennard-jones": lambda n: (n() * (1 / x**12 - 1 / x**6), x),
    "ball": lambda n: _ball(n, n()),
}
"""Potentials with an edge, and what keeps its sign inside; None: the argument of the root."""

BOTH_SIDES = ("pole", "falling pole", "sine", "lennard-jones")
"""Edges beyond which the potential has values again: beyond others a run ends without any conditions."""

SPOILT = "spoilt"
"""The name of systems in whose steps conditions are left out."""

KINETIC: dict[str, Callable[[Callable[[], Any]], Any]] = {
    "mass": lambda n: n() * x.dot**2 / 2,
    "varying mass": lambda n: (n() + x**2) * x.dot**2 / 2,
    "quartic": lambda n: x.dot**4 / 4 + n() * x.dot**2 / 2,
    "folded": lambda n: x.dot**4 / 4 - n() * x.dot**2 / 2,
    "relativistic": lambda n: -n() * sqrt(16 - x.dot**2),
}


def edged(rng: random.Random, name: str) -> tuple[da.System, Any]:
    """A system of one or two coordinates whose Lagrangian has an edge, and what keeps its sign inside."""
    number = numbers(rng, Rational)
    potential, inside = EDGES[rng.choice(sorted(EDGES) if name != SPOILT else BOTH_SIDES)](number)
    if inside is None:
        inside = next(p.base for p in potential.atoms(sympy.Pow) if p.exp == Rational(1, 2) and p.base.free_symbols)
    kinetic = KINETIC[rng.choice(["mass", "mass", *sorted(KINETIC)])](number)
    q = [x]
    if rng.random() < 0.4:
        q, kinetic = [x, y], kinetic + number() * y.dot**2 / 2
        potential += rng.choice([number() * y**2 / 2, number() * (x - y) ** 2 / 2, number() * cos(y) * x])
    return da.System(name, q, lagrangian=kinetic - potential), inside


def domains(seed: int, broken: bool = False) -> list[str]:
    """A run that says CONVERGED is finite, in the domain, on its branch, and near a fine reference where the step is short."""
    rng = random.Random(seed)
    given, inside = edged(rng, SPOILT if broken else "edged")  # steps are kept by system
    method = rng.choice((*METHODS, da.RightPoint(), da.StormerVerlet(), da.DiscreteGradient(2), da.DormandPrince8()))
    if not method.takes(given):
        method = da.Midpoint()
    at = {x: rng.uniform(0.2, 2.5), x.dot: rng.uniform(-3, 3), y: rng.uniform(-1, 1), y.dot: rng.uniform(-1, 1)}
    at = {s: v for s, v in at.items() if s in (*given.coordinates, *given.velocities)}
    momentum = given.lagrangian.diff(x.dot)
    sides = [inside, momentum.diff(x.dot)]
    names = [*given.coordinates, *given.velocities]
    judge = vectorised(names, [fast(e) for e in sides])
    h = rng.choice((0.4, 0.2, 0.05, 0.01, 0.002))
    if broken:  # towards an edge, with long steps
        at[x.dot], h = -3.0, 0.4
    first = judge(np.array([[at[s] for s in names]]))[0]
    if not np.isfinite(first).all() or first[0] <= 0 or abs(first[1]) < 0.05:
        raise Skipped("the start is outside or on a fold")
    with _no_conditions() if broken else _nothing():
        run = da.simulate(given, method, h=h, steps=20, start=at, strict=False)
    done = int(run.codes[..., 1].ravel()[0]) + 1
    tables = [*(np.ravel(run[s]) for s in (*given.coordinates, *given.velocities)), np.ravel(run.energy)]
    tables += [np.ravel(run[q.momentum]) for q in given.coordinates]
    found = []
    if not all(np.isfinite(t[:done]).all() and np.isnan(t[done:]).all() for t in tables):
        found.append(f"{method!r}: a record is not finite, or there is one after the end")
    values = judge(np.column_stack([t[:done] for t in tables[: len(names)]]))
    if not (values[:, 0] * first[0] > 0).all():
        found.append(f"{method!r}: out of the domain: {values[:, 0].min()}")
    if not (values[:, 1] * first[1] > 0).all():
        found.append(f"{method!r}: across a fold")
    if run.status is da.Status.CONVERGED and not found and h <= 0.01:
        found += _far_from_reference(given, method, at, h, np.ravel(run.x))
    return found


def _far_from_reference(given: da.System, method: Any, at: dict[Any, float], h: float, path: np.ndarray) -> list[str]:
    """A run that finer ones do not bring nearer to an adaptive solution."""
    fine = da.simulate(given, da.Reference(rtol=1e-9), h=h, steps=20, start=at, strict=False)
    if fine.status is not da.Status.CONVERGED:
        return []
    exact, size = np.ravel(fine.x), np.ptp(np.ravel(fine.x)) + 1e-3 * abs(at[x])
    apart = np.abs(path - exact).max() / size
    if apart <= 0.05:
        return []
    errors = [apart]
    for n in (8, 64):  # the first refinement may not yet resolve a collision
        finer = da.simulate(given, method, h=h / n, steps=20 * n, start=at, strict=False)
        errors.append(np.abs(np.ravel(finer.x)[::n] - exact).max() / size)
        if errors[-1] <= max(errors[-2] / 4, 0.01):
            return []
    return [f"{method!r}: {errors} of the path from the reference with h, h/8, h/64"]


@contextmanager
def _no_conditions() -> Iterator[None]:
    """Steps without conditions on arguments of roots and logarithms, and records that nobody looks at."""
    with (
        mock.patch.object(discrete_equations, "conditions", lambda e: []),
        mock.patch.object(stepmap, "conditions", lambda e: []),
    ):
        yield


# 4. proofs

SHAPES: dict[str, Callable[[Callable[[], Any], Any], Any]] = {
    "wells": lambda n, q: n() * (q**2 - n()) ** 2 / 4,
    "waves": lambda n, q: n() * cos(n() * q),
    "slope": lambda n, q: n() * q / 3,
    "exp": lambda n, q: n() * exp(-q) + n() * q,
    "log": lambda n, q: -n() * log(q + 3) + q**2 / 4,
    "root": lambda n, q: n() * sqrt(q**2 + 1) - n() * q,
    "rational": lambda n, q: n() / (q**2 + n()),
    "sextic": lambda n, q: q**6 / 6 - n() * q**4 / 4 + n() * q**2 / 3,
    "half power": lambda n, q: (q + 3) ** Rational(3, 2) - n() * q,
    "bump": lambda n, q: n() * exp(-((q - 1) ** 2)) + q**2 / 9,
}


def proofs(seed: int, broken: bool = False) -> list[str]:
    """Equilibria, steps and bounds that are proved, against dense searches by numbers."""
    rng = random.Random(seed)
    number = numbers(rng, Rational)
    potential = sum(SHAPES[name](number, x) for name in rng.sample(sorted(SHAPES), rng.randint(1, 2)))
    given = da.System("line", [x], kinetic=number() * x.dot**2 / 2, potential=potential)
    ends = (-rng.uniform(0.5, 2.9), rng.uniform(0.5, 4.0))
    with _lost_root() if broken else _nothing():
        claimed = da.equilibria(given, box={x: ends}, attempts=4000)
    slope = vectorised([x], [fast(potential.diff(x))])
    found = _against_signs(claimed, slope, ends)
    return found + _against_a_step(given, rng)


def _against_signs(claimed: Any, slope: Callable[[Any], Any], ends: tuple[float, float]) -> list[str]:
    """Changes of sign on a fine grid that no enclosure holds; enclosures at whose ends the sign is the same."""
    grid = np.linspace(*ends, 4001)
    values = slope(grid[:, None])[:, 0]
    size = np.nanmax(np.abs(values))
    boxes = [e.enclosure[x] for e in claimed]
    found = []
    for k in np.flatnonzero(values[:-1] * values[1:] < 0) if claimed.complete else []:
        if not any(a <= grid[k + 1] and b >= grid[k] for a, b in boxes):
            found.append(f"no equilibrium claimed in [{grid[k]}, {grid[k + 1]}]")
    for e in claimed:
        a, b = e.enclosure[x]
        reach = max(b - a, 1e-6 * (ends[1] - ends[0]))
        left, right = slope(np.array([[a - reach], [b + reach]]))[:, 0]
        if e.proved and not left * right < 0 and min(abs(left), abs(right)) > 1e-5 * size:
            found.append(f"no change of sign across the equilibrium in [{a}, {b}]")
    return found


def _against_a_step(given: da.System, rng: random.Random) -> list[str]:
    """A step that `simulate` finds is among those proved to exist; there is none where it is proved that there is none."""
    method = rng.choice((da.Midpoint(), da.Trapezoidal(), da.RightPoint()))
    at = {x: round(rng.uniform(-2.5, 3.0), 3), x.dot: round(rng.uniform(-2, 2), 3)}
    h = rng.choice((0.05, 0.2, 0.8))
    proof = da.existence(given, method, at=at, h=h, attempts=300)
    run = da.simulate(given, method, h=h, steps=1, start=at, strict=False)
    if run.status is not da.Status.CONVERGED:
        return []
    end = float(np.ravel(run.x)[-1])
    if proof.verdict == "none":
        return [f"{method!r}: no step by proof, {end} by simulate"]
    boxes = [step.enclosure[x] for step in proof.steps]
    near = any(a - 1e-9 * (1 + abs(a)) <= end <= b + 1e-9 * (1 + abs(b)) for a, b in boxes)
    return [] if near or not proof.complete else [f"{method!r}: the step to {end} is not among {boxes}"]


@contextmanager
def _lost_root() -> Iterator[None]:
    """The search for all equilibria loses one of them."""
    true = equilibrium_search.isolate

    def lossy(*given: Any) -> Any:
        found = true(*given)
        del found.roots[-1:]
        return found

    with mock.patch.object(equilibrium_search, "isolate", lossy):
        yield


# 5. joins


def joins(seed: int, broken: bool = False) -> list[str]:
    """Composed, changed, saved and continued systems, and bounces, against the same motion stated at once."""
    rng = random.Random(seed)
    return (_composed, _continued, _bounced)[seed % 3](rng, seed, broken)


def _composed(rng: random.Random, seed: int, broken: bool) -> list[str]:
    """Two systems composed with an interaction, and the system that states their sum."""
    a = system(rng.randrange(10**6), Rational)
    b = system(rng.randrange(10**6), Rational)
    names = {
        s: t for c, d in zip(b.coordinates, da.coordinates("u v w"), strict=False) for s, t in ((c, d), (c.dot, d.dot))
    }
    q = tuple(names[c] for c in b.coordinates)

    def new(e: Any) -> Any:
        return sympy.sympify(e).xreplace(names)

    second = {
        "lagrangian": new(b.lagrangian), "forces": {names[c]: new(f) for c, f in zip(b.coordinates, b.forces, strict=True)},
        "constraints": [new(c.expression) for c in b.constraints],
    }  # fmt: skip
    joined = Rational(rng.randint(1, 30), 10) * (a.coordinates[0] - q[-1]) ** 2 / 2
    both = da.bodies.compose("both", a, da.System("second", q, **second), interaction=joined)
    forces = dict(zip(a.coordinates, a.forces, strict=True))
    whole = da.System(
        "whole", [*a.coordinates, *q], lagrangian=a.lagrangian + second["lagrangian"] - joined,
        forces={} if broken else forces | second["forces"],
        constraints=[*(c.expression for c in a.constraints), *second["constraints"]],
    )  # fmt: skip
    return _same_runs(both, whole, start(both, seed), rng)


def _same_runs(one: da.System, two: da.System, at: dict[Any, float], rng: random.Random) -> list[str]:
    method = rng.choice(METHODS)
    if not method.takes(one):
        method = da.Midpoint()
    runs = [da.simulate(s, method, h=0.01, steps=20, start=at, strict=False) for s in (one, two)]
    if runs[0].status is not runs[1].status:
        return [f"{method!r}: {[r.status for r in runs]}"]
    other = [q.name for q in one.coordinates if not _same(*(r[q] for r in runs), 1e-9)]
    return [f"{method!r}: {other} differ"] if other else []


def _continued(rng: random.Random, seed: int, broken: bool) -> list[str]:
    """A system changed and changed back; a run saved, read and continued, against the run at one go."""
    given = system(rng.randrange(10**6), Rational)
    force = {given.coordinates[0]: Rational(rng.randint(-9, 9), 5)}
    changed = given.replace(forces=force, name="pushed").replace(
        forces=dict(zip(given.coordinates, given.forces, strict=True)), name=given.name
    )
    found = [] if changed == given else ["replace and back is another system"]
    at, method = start(given, seed), rng.choice(METHODS)
    if not method.takes(given):
        method = da.Midpoint()
    long = da.simulate(given, method, h=0.01, steps=20, start=at, strict=False)
    half = da.simulate(given, method, h=0.01, steps=10, start=at, strict=False)
    if half.status is not da.Status.CONVERGED or long.status is not da.Status.CONVERGED:
        raise Skipped("the run ends early")
    with tempfile.TemporaryDirectory() as folder:
        half.save(Path(folder) / "half.nc")
        read = da.load(Path(folder) / "half.nc")
    rest = da.simulate(
        read.system, method, h=0.01, steps=10,
        start=read if not broken else at, strict=False,
    )  # fmt: skip
    for q in given.coordinates:
        if not np.array_equal(np.ravel(rest[q])[-1], np.ravel(long[q])[-1]):
            found.append(f"{method!r}: {q} has other bits: {np.ravel(rest[q])[-1]!r} / {np.ravel(long[q])[-1]!r}")
    return found


def _bounced(rng: random.Random, seed: int, broken: bool) -> list[str]:
    """A coordinate that bounces off a wall, against an adaptive solution that starts again at each bounce."""
    number = numbers(rng, Rational)
    name = rng.choice(["spring", "quartic", "gravity", "root", "waves"])
    potential = POTENTIALS[name]((x,), number) + number() * x
    mass = number()
    given = da.System("wall", [x], kinetic=mass * x.dot**2 / 2, potential=potential)
    at = {x: rng.uniform(0.05, 0.6), x.dot: rng.uniform(-2.5, 1.0)}
    bounce = da.Event(x, {x.dot: -x.dot}, direction=-1, name="bounce")
    method = rng.choice((da.Gauss(2), da.RungeKutta4(), da.Midpoint()))
    run = da.simulate(given, method, h=0.005, steps=120, start=at, strict=False, events=[] if broken else [bounce])
    if run.status is not da.Status.CONVERGED:
        raise Skipped("the run ends early")
    slope = vectorised([x], [fast(-potential.diff(x) / mass)])
    apart = np.abs(np.ravel(run.x) - _bouncing(slope, at[x], at[x.dot], np.linspace(0, 0.6, 121))).max()
    return [f"{method!r}: {apart:.2g} from the adaptive motion"] if apart > 2e-3 else []


def _bouncing(slope: Callable[[Any], Any], position: float, velocity: float, times: np.ndarray) -> np.ndarray:
    """Positions of a motion that is reflected at zero, by SciPy, from bounce to bounce."""
    found, begin, state = np.full(len(times), np.nan), 0.0, [position, velocity]

    def wall(t: float, s: Any) -> float:
        return float(s[0])

    wall.terminal, wall.direction = True, -1  # type: ignore[attr-defined]
    for _ in range(200):
        told = solve_ivp(
            lambda t, s: [s[1], slope(np.array([[s[0]]]))[0, 0]], (begin, times[-1]), state,
            events=wall, dense_output=True, rtol=1e-10, atol=1e-12,
        )  # fmt: skip
        now = (times >= begin) & (times <= told.t[-1])
        found[now] = told.sol(times[now])[0]
        if told.status == 0:
            return found
        begin, state = told.t[-1], [0.0, -told.y[1, -1]]
    raise Skipped("too many bounces")
