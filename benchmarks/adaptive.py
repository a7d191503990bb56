"""Adaptive solutions to a relative error of 1e-10: `Reference` beside heyoka's Taylor method and SciPy, in one run.

Kepler's problem with eccentricity 0.9 over five orbits, a double pendulum, the car axis of the Test Set for IVP Solvers
(F. Mazzia, C. Magherini, 2008), and a flyball governor whose sleeve is held by a stiff spring and damper. heyoka gets the
accelerations of systems without constraints, ready to use. "loop" is the time in compiled code alone, "simulate" that of the
call, in which a run is checked and its result made. The last table has methods that keep structure, with steps that adapt.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
import work_precision as wp
from common import Table, interleave, judge
from sympy import Rational

import dalembert as da
from dalembert import cos, sin, sqrt
from dalembert.run.reference_solution import stepper_of

TARGET = 1e-10
REPETITIONS = 9


@dataclass(frozen=True)
class Motion:
    """A system, a start, and how long it moves; heyoka is asked where there are no constraints."""

    name: str
    system: da.System
    start: dict[Any, float]
    span: float
    stiff: bool = False

    @property
    def problem(self) -> wp.Problem:
        return wp.Problem(self.name, self.system, self.start, {}, {})


def motions() -> list[Motion]:
    """The four."""
    x, y = da.coordinates("x y")
    a, b = da.coordinates("theta1 theta2")
    kepler = da.System("Kepler", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=-1 / sqrt(x**2 + y**2))
    arms = da.System(
        "double pendulum",
        [a, b],
        kinetic=a.dot**2 + b.dot**2 / 2 + a.dot * b.dot * cos(a - b),
        potential=-2 * cos(a) - cos(b),
    )
    return [
        Motion("Kepler, e = 0.9", kepler, {x: 0.1, y: 0.0, x.dot: 0.0, y.dot: math.sqrt(19)}, 10 * math.pi),
        Motion("double pendulum", arms, {a: 0.6, b: 0.3, a.dot: 0.0, b.dot: 0.0}, 100.0),
        car_axis(),
        governor(),
    ]


def car_axis() -> Motion:
    """An axis on two springs, driven by the road: index 3, m = eps^2 M/2 with eps = 0.01."""
    xl, yl, xr, yr = q = da.coordinates("xl yl xr yr")
    yb = sin(10 * da.time) / 10
    xb, m = sqrt(1 - yb**2), Rational(5, 10**4)
    springs = (sqrt(xl**2 + yl**2) - Rational(1, 2)) ** 2 + (
        sqrt((xr - xb) ** 2 + (yr - yb) ** 2) - Rational(1, 2)
    ) ** 2
    axis = da.System(
        "car axis",
        list(q),
        kinetic=m * sum(c.dot**2 for c in q) / 2,
        potential=springs / 2 + m * (yl + yr),
        constraints=[xl * xb + yl * yb, (xl - xr) ** 2 + (yl - yr) ** 2 - 1],
    )
    start = dict(zip([*q, *(c.dot for c in q)], [0, 0.5, 1, 0.5, -0.5, 0, -0.5, 0], strict=True))
    return Motion("car axis", axis, start, 3.0, stiff=True)


def governor() -> Motion:
    """Two balls on arms of length 1/5, a sleeve of mass 1 with a spring of 8e4 and a damper of 4e3, a shaft with a torque."""
    phi, theta = da.coordinates("phi theta")
    l, height = Rational(1, 5), 2 * cos(theta) / 5
    lift = 2 * l * sin(theta) * theta.dot
    device = da.System(
        "governor",
        [phi, theta],
        kinetic=l**2 * (theta.dot**2 + sin(theta) ** 2 * phi.dot**2) + phi.dot**2 / 20 + lift**2 / 2,
        potential=Rational(981, 100) * (-2 * l * cos(theta) - height) + 4 * 10**4 * (height - Rational(3, 10)) ** 2,
        dissipation=2 * 10**3 * lift**2,
        forces={phi: cos(3 * da.time)},
    )
    return Motion("governor", device, {phi: 0.0, theta: 0.7, phi.dot: 11.0, theta.dot: 0.0}, 10.0, stiff=True)


def here(motion: Motion, rtol: float) -> Callable[[], tuple[float, np.ndarray, float]]:
    """Seconds of the call, the state at the end, and seconds in the compiled loop alone."""
    names = [*motion.system.coordinates, *motion.system.velocities]
    loop = stepper_of(motion.system, False, True)
    times, nothing = np.array([0.0, motion.span]), np.zeros((1, 0))

    def go() -> tuple[float, np.ndarray, float]:
        seconds, run = wp.timed(
            lambda: da.simulate(
                motion.system, da.Reference(rtol), h=motion.span, steps=1, start=motion.start, parameters={}
            )
        )
        carry, status = loop.begin(run.records[:, 0], 0.0, np.array([1e-6 * motion.span]))
        begin = time.perf_counter()
        loop.advance(carry, nothing, times, np.zeros((1, 2, len(names))), status, 10**9, rtol, 0.0)
        return seconds, np.array([run[c][-1] for c in names]), time.perf_counter() - begin

    return go


def scipy_radau(motion: Motion, tolerance: float) -> Callable[[], tuple[Any, ...]]:
    """SciPy's Radau on the compiled equations: `Reference(solver="Radau")`."""
    names = [*motion.system.coordinates, *motion.system.velocities]

    def go() -> tuple[float, np.ndarray]:
        method = da.Reference(tolerance, solver="Radau")
        seconds, run = wp.timed(
            lambda: da.simulate(motion.system, method, h=motion.span, steps=1, start=motion.start, parameters={})
        )
        return seconds, np.array([run[c][-1] for c in names])

    return go


def with_doubles(e: Any) -> Any:
    """The expression with doubles in place of fractions, of which heyoka takes few."""
    fractions = (r for r in e.atoms(sympy.Rational) if r.q & (r.q - 1))
    return e.xreplace({r: sympy.Float(float(r), 17) for r in fractions})


def heyoka(motion: Motion, tolerance: float) -> Callable[[], tuple[Any, ...]]:
    """The same accelerations, solved symbolically; the time of each call starts at the beginning."""
    import heyoka as hk

    system, state = motion.system, motion.problem.state()
    symbols = {c: hk.make_vars(c.name) for c in (*system.coordinates, *system.velocities)}
    places = symbols | {da.time: hk.time}
    rates = [hk.from_sympy(with_doubles(e), s_dict=places) for e in (*system.velocities, *wp.accelerations(system))]
    pairs = list(zip(symbols.values(), rates, strict=True))
    integrator = hk.taylor_adaptive(pairs, state, tol=tolerance, compact_mode=False)

    def go() -> tuple[float, np.ndarray]:
        integrator.time = 0.0
        integrator.state[:] = state
        seconds, _ = wp.timed(lambda: integrator.propagate_until(motion.span))
        return seconds, np.array(integrator.state)

    return go


def peers(motion: Motion) -> dict[tuple[str, str], Callable[[], tuple[Any, ...]]]:
    """All settings of all peers."""
    jobs: dict[tuple[str, str], Callable[[], tuple[Any, ...]]] = {}
    free = not motion.system.constraints
    for tolerance in (1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15):
        jobs["Reference", f"{tolerance:.0e}"] = here(motion, tolerance)
        if wp.has_heyoka() and free:
            jobs["heyoka", f"{tolerance:.0e}"] = heyoka(motion, tolerance)
    for tolerance in (1e-9,) if motion.stiff else ():
        jobs["SciPy Radau", f"{tolerance:.0e}"] = scipy_radau(motion, tolerance)
    if free and not motion.stiff:
        for tolerance in (1e-10, 1e-12, 1e-13):
            jobs["SciPy DOP853", f"{tolerance:.0e}"] = wp.scipy_peer(motion.problem, tolerance, motion.span)
    return jobs


CAR_AXIS = (
    0.4934557842755629e-1, 0.4969894602303324, 0.1041742524885400e1, 0.3739110272652214, -0.7705836840321485e-1,
    0.7446866596327776e-2, 0.1755681574942899e-1, 0.7703410437794031,
)  # fmt: skip
"""Positions and velocities at t = 3 in the Test Set."""


def exact_end(motion: Motion) -> np.ndarray:
    """The end of the motion: the published one, or by heyoka to machine precision, or with our strictest tolerance."""
    if motion.name == "car axis":
        return np.array(CAR_AXIS)
    job = heyoka(motion, 1e-18) if wp.has_heyoka() else here(motion, 1e-15)
    return np.asarray(job()[1])


def curves(motion: Motion) -> dict[str, list[wp.Point]]:
    """Points of every peer, from large to small errors; those of `Reference` twice: of the call, and of the loop alone."""
    jobs, end = peers(motion), exact_end(motion)
    last: dict[tuple[str, str], tuple[Any, ...]] = {}
    loops: dict[tuple[str, str], list[float]] = {}

    def measured(key: tuple[str, str]) -> float:
        last[key] = jobs[key]()
        loops.setdefault(key, []).append(last[key][-1] if key[0] == "Reference" else 0.0)
        return float(last[key][0])

    for peer, setting in jobs:  # compiled before it is timed
        if not peer.startswith("SciPy"):
            jobs[peer, setting]()
    seconds = interleave({key: (lambda k=key: measured(k)) for key in jobs}, REPETITIONS, enough=0.5)
    found: dict[str, list[wp.Point]] = {}
    for key, times in seconds.items():
        error = float(np.linalg.norm(last[key][1] - end) / np.linalg.norm(end))
        found.setdefault(key[0], []).append(wp.Point(key[1], min(times), error))
        if key[0] == "Reference":
            found.setdefault("Reference, loop", []).append(wp.Point(key[1], min(loops[key]), error))
    return {peer: sorted(points, key=lambda p: -p.error) for peer, points in found.items()}


def row_of(motion: Motion, found: dict[str, list[wp.Point]]) -> list[str]:
    """Times at the target, and how heyoka compares."""
    times = {peer: wp.time_for(points, TARGET) for peer, points in found.items()}

    def told(peer: str) -> str:
        if peer not in times:
            return "constraints" if peer == "heyoka" and motion.system.constraints else "-"
        return f"{times[peer] * 1e3:.2f} ms" if math.isfinite(times[peer]) else "not reached"

    shown = [told(p) for p in ("Reference, loop", "Reference", "heyoka", "SciPy DOP853", "SciPy Radau")]
    if "heyoka" not in times:
        return [motion.name, *shown, "-", "-"]
    ratio = times["Reference, loop"] / times["heyoka"]
    return [motion.name, *shown, f"{ratio:.2f}", judge(ratio, 1.0)]


def structured() -> list[list[str]]:
    """Kepler's problem over 200 orbits: methods that keep structure, with equal steps and in a time of their own."""
    motion = motions()[0]
    x, y = motion.system.coordinates
    s, span, rows = (x**2 + y**2) ** Rational(3, 4), 400 * math.pi, []
    cases = [
        (da.StormerVerlet(), 2 * math.pi / 1000),
        (da.Sundman(s), 0.0084),
        (da.LogarithmicHamiltonian(), 2 * math.pi / 1000),
        (da.Composition(da.StormerVerlet(), 8), 2 * math.pi / 170),
        (da.Sundman(s, da.Composition(da.StormerVerlet(), 8)), 0.05),
    ]
    for method, h in cases:
        run = da.simulate(motion.system, method, h=h, until=span, start=motion.start, every=7)
        energy = np.abs(run.energy / run.energy[0] - 1)
        tenth = len(energy) // 10
        substeps = len(method.step_map(motion.system).substeps)
        per_orbit = 7 * (len(run) - 1) * substeps / run.time[-1] * 2 * math.pi
        rows.append([repr(method), f"{per_orbit:.0f}", f"{energy[:tenth].max():.1e}", f"{energy.max():.1e}"])
    return rows


def measure() -> list[Table]:
    """The tables of this benchmark."""
    rows, settings = [], []
    for motion in motions():
        found = curves(motion)
        rows.append(row_of(motion, found))
        for peer, points in found.items():
            settings += [[motion.name, peer, p.label, f"{p.seconds * 1e3:.3f} ms", f"{p.error:.1e}"] for p in points]
    head = ["motion", "Reference, loop", "simulate", "heyoka", "SciPy DOP853", "SciPy Radau", "loop / heyoka", "<= 1"]
    return [
        Table(
            f"Adaptive solutions to a relative error of {TARGET:.0e}", head, rows,
            ["Kepler: five orbits; double pendulum: t = 0 to 100; car axis: 0 to 3; governor: 0 to 10.",
             "heyoka takes no constraints; SciPy DOP853 integrates a Python function, SciPy Radau the compiled equations."],
        ),
        Table("Adaptive solutions: all settings", ["motion", "peer", "tolerance", "time", "rel. error"], settings),
        Table(
            "Kepler's problem with eccentricity 0.9, 200 orbits: steps that adapt and keep structure",
            ["method", "steps per orbit", "largest energy error, first 20 orbits", "200 orbits"], structured(),
            ["Substeps of compositions are counted. Equal steps do not resolve the pericentre."],
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    for table in measure():
        print(f"\n{table}", flush=True)
