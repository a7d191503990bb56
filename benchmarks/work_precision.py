"""Error against computing time, and energy error after a long time: beside SciPy's DOP853 and heyoka's Taylor method.

Every peer is given the equations ready to use: SciPy a function made by `lambdify`, heyoka a compiled integrator. What
is timed is the motion, to the same end, from the same start, with as many records: the end, or a hundred on a long way.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from common import Table, interleave, judge

import dalembert as da
from dalembert import cos, sqrt

SPAN, LONG_SPAN = 1000.0, 1_000_000.0
TARGETS = (1e-6, 1e-10)
REPETITIONS, LONG_REPETITIONS = 7, 3
RECORDS = 100
"""Of a long motion: the largest energy error of these is what counts, since at one instant it may be small by chance."""


@dataclass(frozen=True)
class Problem:
    """A system, a start, and the settings each peer is tried with."""

    name: str
    system: da.System
    start: dict[Any, float]
    methods: dict[Any, Sequence[float]]
    structured: dict[Any, Sequence[float]]

    def state(self) -> np.ndarray:
        s = self.system
        return np.array([float(self.start[c]) for c in (*s.coordinates, *s.velocities)])


@dataclass(frozen=True)
class Point:
    """One setting of one peer: seconds for the motion, relative error at its end."""

    label: str
    seconds: float
    error: float
    effort: tuple[float, float] = (0.0, 0.0)
    """Newton iterations and corrections per substep."""


def problems() -> list[Problem]:
    """Kepler with eccentricity 0.3, a double pendulum at moderate energy, Henon-Heiles at energy 0.09."""
    x, y = da.coordinates("x y")
    a, b = da.coordinates("theta1 theta2")
    plane = (x.dot**2 + y.dot**2) / 2
    verlet8, verlet6 = da.Composition(da.StormerVerlet(), 8), da.Composition(da.StormerVerlet(), 6)
    second_order = {
        da.Nystrom12(): (1.0, 4 / 5, 1 / 2, 2 / 5, 1 / 4, 1 / 5, 1 / 6, 1 / 8),
        da.DormandPrince8(): (1 / 5, 1 / 10, 1 / 20, 1 / 40),
        verlet8: (1 / 4, 1 / 8, 1 / 16, 1 / 32),
        da.Gauss(4): (1 / 4, 1 / 8, 1 / 16),
    }
    angles = {
        da.DormandPrince8(): (1 / 5, 1 / 10, 1 / 20, 1 / 40),
        da.Gauss(3): (1 / 8, 1 / 16, 1 / 32),
        da.Gauss(4): (1 / 4, 1 / 8, 1 / 16),
        da.Composition(da.Midpoint(), 8): (1 / 4, 1 / 8, 1 / 16),
    }
    long = {
        verlet8: (1 / 2, 1 / 4, 1 / 8),
        verlet6: (1 / 4, 1 / 8, 1 / 16),
        da.Nystrom12(): (1.0, 1 / 2, 1 / 4, 2 / 9, 1 / 5, 1 / 8),
    }
    kepler = da.System("Kepler", [x, y], kinetic=plane, potential=-1 / sqrt(x**2 + y**2))
    arms = da.System(
        "double pendulum",
        [a, b],
        kinetic=a.dot**2 + b.dot**2 / 2 + a.dot * b.dot * cos(a - b),
        potential=-2 * cos(a) - cos(b),
    )
    galaxy = da.System("Henon-Heiles", [x, y], kinetic=plane, potential=(x**2 + y**2) / 2 + x**2 * y - y**3 / 3)
    return [
        Problem("Kepler", kepler, {x: 0.7, y: 0.0, x.dot: 0.0, y.dot: math.sqrt(1.3 / 0.7)}, second_order, long),
        Problem(
            "double pendulum",
            arms,
            {a: 0.6, b: 0.3, a.dot: 0.0, b.dot: 0.0},
            angles,
            {
                da.Gauss(2): (1 / 2, 1 / 4, 1 / 8),
                da.Gauss(3): (1 / 2, 1 / 4, 1 / 5, 1 / 6, 1 / 8),
                da.Gauss(4): (1 / 4, 1 / 5, 1 / 6),
                da.DormandPrince8(): (1 / 5, 1 / 10),
            },
        ),
        Problem("Henon-Heiles", galaxy, {x: 0.1, y: 0.2, x.dot: 0.3, y.dot: 0.1}, second_order, long),
    ]


# The peers: each gives a function from a setting to (seconds, end state)


def accelerations(system: da.System) -> list[sympy.Expr]:
    solved = system.equations().solved
    return [sympy.simplify(solved[c.ddot]) for c in system.coordinates]


def timed(job: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = job()
    return time.perf_counter() - begin, result


def ours(problem: Problem, method: Any, h: float, span: float, records: int = 1) -> Callable[[], tuple[Any, ...]]:
    """States at equal distances; Newton iterations and corrections per substep."""
    steps, substeps = round(span / h), len(method.step_map(problem.system).substeps)
    columns = (*problem.system.coordinates, *problem.system.velocities)

    def go() -> tuple[float, np.ndarray, tuple[float, float]]:
        every = steps // records
        seconds, run = timed(
            lambda: da.simulate(problem.system, method, h=h, steps=steps, start=problem.start, every=every)
        )
        effort = run.iterations / substeps, run.corrections / substeps
        return seconds, np.array([run[c][1:] for c in columns]).T, effort

    return go


def scipy_peer(problem: Problem, tolerance: float, span: float) -> Callable[[], tuple[Any, ...]]:
    from scipy.integrate import solve_ivp

    s = problem.system
    names = [*s.coordinates, *s.velocities]
    f = sympy.lambdify(names, [*s.velocities, *accelerations(s)], "math", cse=True)
    options = {"method": "DOP853", "rtol": tolerance, "atol": tolerance}
    return lambda: timed(lambda: solve_ivp(lambda t, z: f(*z), (0, span), problem.state(), **options).y[:, -1:].T)


def heyoka_peer(problem: Problem, tolerance: float, span: float, records: int = 1) -> Callable[[], tuple[Any, ...]]:
    import heyoka

    s = problem.system
    symbols = {c: heyoka.make_vars(c.name) for c in (*s.coordinates, *s.velocities)}
    rates = [heyoka.from_sympy(e, s_dict=symbols) for e in (*s.velocities, *accelerations(s))]
    integrator = heyoka.taylor_adaptive(
        list(zip(symbols.values(), rates, strict=True)), problem.state(), tol=tolerance, compact_mode=False
    )

    def go() -> np.ndarray:
        integrator.time = 0.0
        integrator.state[:] = problem.state()
        states = []
        for k in range(1, records + 1):
            integrator.propagate_until(k * span / records)
            states.append(np.array(integrator.state))
        return np.array(states)

    return lambda: timed(go)


def has_heyoka() -> bool:
    try:
        import heyoka  # noqa: F401
    except ImportError:
        return False
    return True


# Error against time


def exact_end(problem: Problem, span: float) -> np.ndarray:
    """The end of the motion: by heyoka to machine precision, else by the library's own method of highest order."""
    if has_heyoka():
        return heyoka_peer(problem, 1e-18, span)()[1][-1]
    method = da.Nystrom12() if da.Nystrom12() in problem.methods else da.Gauss(4)
    return ours(problem, method, 1 / 64, span)()[1][-1]


def curves(problem: Problem) -> dict[str, list[Point]]:
    """Points of every peer, sorted by error from large to small."""
    end = exact_end(problem, SPAN)
    jobs: dict[tuple[str, str], Callable[[], tuple[Any, ...]]] = {}
    for method, steps in problem.methods.items():
        jobs |= {(repr(method), f"h = {h:.4g}"): ours(problem, method, h, SPAN) for h in steps}
    for tolerance in (1e-8, 1e-10, 1e-12, 1e-13):
        jobs["SciPy DOP853", f"{tolerance:.0e}"] = scipy_peer(problem, tolerance, SPAN)
    if has_heyoka():
        for tolerance in (1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14):
            jobs["heyoka", f"{tolerance:.0e}"] = heyoka_peer(problem, tolerance, SPAN)
    last: dict[tuple[str, str], tuple[Any, ...]] = {}

    def measured(key: tuple[str, str]) -> float:
        last[key] = jobs[key]()
        return float(last[key][0])

    seconds = interleave({key: (lambda k=key: measured(k)) for key in jobs}, REPETITIONS, enough=2.0)
    found: dict[str, list[Point]] = {}
    for key, times in seconds.items():
        error = float(np.linalg.norm(last[key][1][-1] - end) / np.linalg.norm(end))
        found.setdefault(key[0], []).append(Point(key[1], min(times), error, *last[key][2:]))
    return {peer: sorted(points, key=lambda p: -p.error) for peer, points in found.items()}


def time_for(points: Sequence[Point], target: float) -> float:
    """Seconds for an error: between two points by a power law; beyond the points, that of the first good enough."""
    for p, q in itertools.pairwise(points):
        if p.error >= target >= q.error:
            share = math.log(p.error / target) / math.log(p.error / q.error)
            return math.exp(math.log(p.seconds) + share * (math.log(q.seconds) - math.log(p.seconds)))
    enough = [p.seconds for p in points if p.error <= target]
    return min(enough, default=math.inf)


def best_of(found: dict[str, list[Point]], target: float) -> tuple[str, float]:
    own = {peer: time_for(points, target) for peer, points in found.items() if peer not in ("SciPy DOP853", "heyoka")}
    best = min(own, key=own.__getitem__)
    return best, own[best]


def judged(problem: Problem, found: dict[str, list[Point]]) -> Iterator[list[str]]:
    """A row per target: the best method, and how the peers compare."""
    for target in TARGETS:
        name, mine = best_of(found, target)
        scipy = time_for(found["SciPy DOP853"], target)
        row = [
            problem.name,
            f"{target:.0e}",
            name,
            f"{mine * 1e3:.2f} ms",
            f"{scipy / mine:.0f}",
            judge(5.0, scipy / mine),
        ]
        if "heyoka" in found:
            ratio = mine / time_for(found["heyoka"], target)
            row += [f"{ratio:.2f}", judge(ratio, 2.0) if target == 1e-10 else "-"]
        else:
            row += ["not installed", "-"]
        yield row


# Energy after a long time


def energy_error(problem: Problem, states: np.ndarray) -> float:
    """The largest at any of the states."""
    s = problem.system
    energy = sympy.lambdify([*s.coordinates, *s.velocities], s.equations().energy, "numpy")
    first = energy(*problem.state())
    return float(np.max(np.abs(energy(*states.T) - first)) / abs(first))


def long_time(problem: Problem) -> Iterator[list[str]]:
    """For each setting of heyoka: the energy error of our structure-preserving or high-order method at no more time."""
    own = {
        f"{method!r}, h = {h:.4g}": ours(problem, method, h, LONG_SPAN, RECORDS)
        for method, steps in problem.structured.items()
        for h in steps
    }
    peers = {f"tol = {t:.0e}": heyoka_peer(problem, t, LONG_SPAN, RECORDS) for t in (1e-6, 1e-8, 1e-10, 1e-12)}
    seconds, error = measured(problem, own | peers)
    for setting in peers:
        affordable = [name for name in own if seconds[name] <= seconds[setting]]
        row = [problem.name, setting, f"{seconds[setting]:.3f} s", f"{error[setting]:.1e}"]
        if affordable:
            best = min(affordable, key=error.__getitem__)
            ratio = error[setting] / max(error[best], 1e-17)
            yield [*row, best, f"{seconds[best]:.3f} s", f"{error[best]:.1e}", f"{ratio:.3g}", judge(1.0, ratio)]
        else:
            yield [*row, "none as fast", "-", "-", "-", "no"]


def measured(
    problem: Problem, jobs: dict[str, Callable[[], tuple[Any, ...]]]
) -> tuple[dict[str, float], dict[str, float]]:
    """Least time and energy error of each."""
    states: dict[str, np.ndarray] = {}

    def go(name: str) -> float:
        seconds, states[name] = jobs[name]()[:2]
        return float(seconds)

    seconds = interleave({name: (lambda n=name: go(n)) for name in jobs}, LONG_REPETITIONS)
    return {n: min(t) for n, t in seconds.items()}, {n: energy_error(problem, z) for n, z in states.items()}


def measure() -> list[Table]:
    """The tables of this benchmark."""
    head = ["motion", "rel. error", "best method here", "time", "SciPy / here", ">= 5", "here / heyoka", "<= 2"]
    rows, counts, long = [], [], []
    for problem in problems():
        found = curves(problem)
        rows += list(judged(problem, found))
        for peer, points in found.items():
            for p in points:
                effort = [f"{n:.2f}" if n else "-" for n in p.effort]
                counts.append([problem.name, peer, p.label, f"{p.seconds * 1e3:.2f} ms", f"{p.error:.1e}", *effort])
        if has_heyoka():
            long += list(long_time(problem))
    tables = [
        Table(
            f"Error against time, t = 0 to {SPAN:g}", head, rows,
            ["Kepler: eccentricity 0.3. Times at a given error are interpolated between settings by a power law.",
             "SciPy integrates a Python function, as people use it; heyoka and this library run compiled code."],
        ),
        Table(
            "All settings", ["motion", "peer", "setting", "time", "rel. error", "iterations", "corrections"], counts,
            ["Newton iterations are Jacobians formed and factored; each serves one correction of the unknowns or more.",
             "Both are per step, in a composition per substep; explicit methods have none."],
        ),
    ]  # fmt: skip
    if long:
        tables.insert(1, Table(
            f"Largest energy error up to t = {LONG_SPAN:g}, in no more time than heyoka takes",
            ["motion", "heyoka", "its time", "its error", "here", "time", "error", "its error / ours", ">= 1"], long,
        ))  # fmt: skip
    return tables


if __name__ == "__main__":
    for table in measure():
        print(f"\n{table}", flush=True)
