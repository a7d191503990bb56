"""Steps on the rotation group: their cost beside steps of three lines, and error against time beside other charts.

The heavy top and the free body are stated on SO(3) and in Euler angles, and given to SciPy's DOP853 as a quaternion with the
angular velocity, the way it is written by hand. Errors are those of the rotation matrix and of the angular velocity at the
end, against a run on SO(3) with a much shorter step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from common import Table, interleave, judge

import dalembert as da
from dalembert import cos, sin

STEPS, REPETITIONS, SPAN = 10_000, 150, 200.0
STEP_TARGET = 1.5
TARGETS = (1e-6, 1e-10)
INERTIA = (1.0, 1.2, 0.5)
WEIGHT = {"free body": 0.0, "heavy top": 3.0}
ANGLES, SPIN = (0.7, 0.2, 0.1), (0.3, 0.4, 5.0)
"""The start in both cases: angles theta, phi, psi of the z-x-z sequence, and the angular velocity in the body."""


def by_angles(name: str) -> tuple[da.System, dict[Any, float]]:
    """The body in Euler angles z-x-z, with its start."""
    theta, phi, psi = da.coordinates("theta phi psi")
    omega = (
        theta.dot * cos(psi) + phi.dot * sin(theta) * sin(psi),
        -theta.dot * sin(psi) + phi.dot * sin(theta) * cos(psi),
        phi.dot * cos(theta) + psi.dot,
    )
    kinetic = sum(j * w**2 for j, w in zip(INERTIA, omega, strict=True)) / 2
    system = da.System(name, [theta, phi, psi], kinetic=kinetic, potential=WEIGHT[name] * cos(theta))
    a, _, c = ANGLES
    rates = np.linalg.solve(
        [[np.cos(c), np.sin(a) * np.sin(c), 0], [-np.sin(c), np.sin(a) * np.cos(c), 0], [0, np.cos(a), 1]], SPIN
    )
    start = dict(zip((theta, phi, psi), ANGLES, strict=True))
    return system, start | dict(zip((theta.dot, phi.dot, psi.dot), map(float, rates), strict=True))


def matrix_of(angles: Sequence[float]) -> np.ndarray:
    """The rotation matrix of Euler angles theta, phi, psi."""

    def about_z(a: float) -> np.ndarray:
        return np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])

    theta, phi, psi = angles
    tilt = np.array([[1, 0, 0], [0, np.cos(theta), -np.sin(theta)], [0, np.sin(theta), np.cos(theta)]])
    return about_z(phi) @ tilt @ about_z(psi)


def on_the_group(name: str) -> tuple[da.System, dict[Any, Any]]:
    """The body on SO(3), with its start."""
    R = da.rotation("R")
    kinetic = sum(j * w**2 for j, w in zip(INERTIA, R.omega, strict=True)) / 2
    system = da.System(name, [R], kinetic=kinetic, potential=WEIGHT[name] * R[2, 2])
    return system, {R: matrix_of(ANGLES), R.omega: SPIN}


def three_lines() -> tuple[da.System, dict[Any, float]]:
    """A triple pendulum: three numbers, every one coupled with every other."""
    a, b, c = da.coordinates("theta1 theta2 theta3")
    joined = 2 * a.dot * b.dot * cos(a - b) + a.dot * c.dot * cos(a - c) + b.dot * c.dot * cos(b - c)
    kinetic = (3 * a.dot**2 + 2 * b.dot**2 + c.dot**2) / 2 + joined
    system = da.System("triple pendulum", [a, b, c], kinetic=kinetic, potential=-3 * cos(a) - 2 * cos(b) - cos(c))
    return system, {a: 0.5, b: 0.3, c: 0.1, a.dot: 0, b.dot: 0, c.dot: 0}


def seconds(job: Callable[[], Any]) -> Callable[[], float]:
    def timed() -> float:
        began = time.perf_counter()
        job()
        return time.perf_counter() - began

    return timed


def step_cost() -> Table:
    """The time of a step with Midpoint()."""
    cases = {
        "heavy top on SO(3)": on_the_group("heavy top"),
        "heavy top in Euler angles": by_angles("heavy top"),
        "triple pendulum": three_lines(),
    }

    def job(system: da.System, start: dict[Any, Any]) -> Callable[[], Any]:
        return lambda: da.simulate(system, da.Midpoint(), h=0.01, steps=STEPS, every=STEPS, start=start)

    jobs = {name: job(*case) for name, case in cases.items()}
    for warm in jobs.values():
        warm()
    best = {k: min(v) for k, v in interleave({k: seconds(j) for k, j in jobs.items()}, REPETITIONS).items()}
    lines = best["triple pendulum"]
    rows = []
    for name, spent in best.items():
        judged = (f"{STEP_TARGET}", judge(spent / lines, STEP_TARGET)) if "SO(3)" in name else ("-", "-")
        rows.append([name, f"{spent / STEPS * 1e9:.0f}", f"{spent / lines:.2f}", *judged])
    header = ["midpoint rule", "ns per step", "ratio to three lines", "target", "met"]
    return Table(
        "Cost of a step on SO(3)", header, rows, [f"Least time of {REPETITIONS} interleaved runs of {STEPS:,} steps."]
    )


@dataclass(frozen=True)
class Point:
    """One setting of one peer."""

    label: str
    job: Callable[[], tuple[np.ndarray, np.ndarray]]
    """The rotation matrix and the angular velocity at the end."""


def group_points(name: str) -> list[Point]:
    system, start = on_the_group(name)
    R = da.rotation("R")

    def end(method: Any, h: float) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
        def job() -> tuple[np.ndarray, np.ndarray]:
            run = da.simulate(system, method, h=h, until=SPAN, every=round(SPAN / h), start=start)
            return run[R][-1], run[R.omega][-1]

        return job

    rules = [da.Composition(da.Midpoint(), 4), da.Composition(da.Midpoint(), 6), da.Composition(da.Midpoint(), 8)]
    tried = [(m, 2.0**-k) for m in (*rules, da.RungeKutta4(), da.DormandPrince8()) for k in range(3, 10)]
    return [Point(f"{m}, h = 1/{round(1 / h)}", end(m, h)) for m, h in tried]


def angle_points(name: str) -> list[Point]:
    system, start = by_angles(name)
    q = system.coordinates

    def end(method: Any, h: float) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
        def job() -> tuple[np.ndarray, np.ndarray]:
            run = da.simulate(system, method, h=h, until=SPAN, every=round(SPAN / h), start=start)
            angles, rates = ([float(run[s][-1]) for s in side] for side in (q, [c.dot for c in q]))
            a, _, c = angles
            spin = [
                [np.cos(c), np.sin(a) * np.sin(c), 0],
                [-np.sin(c), np.sin(a) * np.cos(c), 0],
                [0, np.cos(a), 1],
            ]
            return matrix_of(angles), np.array(spin) @ rates

        return job

    tried = [(m, 2.0**-k) for m in (da.Gauss(4), da.RungeKutta4(), da.DormandPrince8()) for k in range(3, 10)]
    return [Point(f"{m}, h = 1/{round(1 / h)}", end(m, h)) for m, h in tried]


def scipy_points(name: str) -> list[Point]:
    from scipy.integrate import solve_ivp

    J, weight = np.array(INERTIA), WEIGHT[name]
    system, start = on_the_group(name)
    q0 = da.simulate(system, da.Midpoint(), h=0.1, steps=0, start=start).carry[0, :4]

    def rates(_: float, s: np.ndarray) -> list[float]:
        a, b, c, d, x, y, z = s
        u, v = 2 * (b * d - a * c), 2 * (c * d + a * b)  # third row of the matrix: the vertical in the body
        return [
            (-b * x - c * y - d * z) / 2,
            (a * x + c * z - d * y) / 2,
            (a * y + d * x - b * z) / 2,
            (a * z + b * y - c * x) / 2,
            ((J[1] - J[2]) * y * z + weight * v) / J[0],
            ((J[2] - J[0]) * z * x - weight * u) / J[1],
            ((J[0] - J[1]) * x * y) / J[2],
        ]

    def end(tolerance: float) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
        def job() -> tuple[np.ndarray, np.ndarray]:
            whole = [*q0, *SPIN]
            s = solve_ivp(rates, (0, SPAN), whole, "DOP853", t_eval=[SPAN], rtol=tolerance, atol=tolerance).y[:, -1]
            return da.rotation("R").shown(s[:4]), s[4:]

        return job

    return [Point(f"rtol = 1e-{k:02d}", end(10.0**-k)) for k in range(5, 14)]


def work_precision() -> Table:
    """The least time in which each peer reaches an error."""
    rows = []
    for name in WEIGHT:
        peers = {"SO(3)": group_points(name), "angles": angle_points(name), "SciPy": scipy_points(name)}
        system, start = on_the_group(name)
        R = da.rotation("R")
        fine = da.simulate(system, da.DormandPrince8(), h=2.0**-11, until=SPAN, every=round(SPAN * 2**11), start=start)
        exact = (fine[R][-1], fine[R.omega][-1])

        def error(found: tuple[np.ndarray, np.ndarray], exact: tuple[np.ndarray, np.ndarray] = exact) -> float:
            return float(
                max(np.abs(found[0] - exact[0]).max(), np.abs(found[1] - exact[1]).max() / np.abs(exact[1]).max())
            )

        errors = {peer: [error(p.job()) for p in points] for peer, points in peers.items()}
        for target in TARGETS:
            best: dict[str, tuple[float, str]] = {}
            for peer, points in peers.items():
                reached = [p for p, e in zip(points, errors[peer], strict=True) if e <= target]
                times = interleave({p.label: seconds(p.job) for p in reached}, 5, enough=2.0)
                best[peer] = min(((min(t), label) for label, t in times.items()), default=(np.inf, "not reached"))
            here, label = best["SO(3)"]
            others = [best[peer][0] for peer in ("angles", "SciPy")]
            ratios = [f"{t / here:.3g}" if np.isfinite(t) else "not reached" for t in others]
            rows.append([name, f"{target:.0e}", label, f"{here * 1e3:.2f} ms", *ratios])
    header = ["motion", "error", "best method on SO(3)", "time", "Euler angles / SO(3)", "SciPy / SO(3)"]
    notes = [
        f"t = 0 to {SPAN:g}; largest error of an entry of R and, relative, of the angular velocity at the end.",
        "SciPy: DOP853 on a quaternion and the angular velocity, equations written by hand.",
    ]
    return Table("Error against time on SO(3)", header, rows, notes)


def measure() -> list[Table]:
    return [step_cost(), work_precision()]


if __name__ == "__main__":
    for table in measure():
        print(table, flush=True)
