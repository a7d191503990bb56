"""Time to a result: from the Lagrangian to a finished run of 1000 steps, for a system that was never compiled before.

The peer is what SymPy and SciPy offer for the same work: LagrangesMethod, lambdify, solve_ivp over the same time with
as many output points. Both peers get the Lagrangian from the same text below. Every repetition is a process of its own
with an empty cache, in which imports are done and a small other system has been run before the clock starts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import large_systems
import numpy as np
from common import Table, in_a_fresh_process, interleave, judge
from sympy import cos

H, STEPS = 0.01, 1000
REPETITIONS, ENOUGH, LIMIT = 5, 20.0, 240.0
"""A peer that has taken ENOUGH seconds in all is not repeated; one that takes longer than LIMIT is stopped."""

TOLERANCE = 1e-6
"""Of solve_ivp, relative and absolute."""

COMPARED_AT, ALIKE = 50, 1e-2
"""After so many steps, before chaos, the peers' angles agree to the accuracy of the midpoint rule."""

Energies = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], tuple[Any, Any]]


def double_pendulum(q: Sequence[Any], v: Sequence[Any], p: Sequence[Any]) -> tuple[Any, Any]:
    """Kinetic and potential energy from angles, angular velocities, and masses, lengths, gravity."""
    m1, m2, l1, l2, g = p
    kinetic = (m1 + m2) * l1**2 * v[0] ** 2 / 2 + m2 * l2**2 * v[1] ** 2 / 2
    kinetic += m2 * l1 * l2 * v[0] * v[1] * cos(q[0] - q[1])
    return kinetic, -(m1 + m2) * g * l1 * cos(q[0]) - m2 * g * l2 * cos(q[1])


def chain(q: Sequence[Any], v: Sequence[Any], p: Sequence[Any]) -> tuple[Any, Any]:
    """Equal masses on equal rods; link i carries n - i masses, counted from 0."""
    m, l, g = p
    n = len(q)
    pairs = [(n - max(i, j)) * v[i] * v[j] * cos(q[i] - q[j]) for i in range(n) for j in range(n)]
    return m * l**2 * sum(pairs) / 2, -m * g * l * sum((n - i) * cos(q[i]) for i in range(n))


def oscillator(q: Sequence[Any], v: Sequence[Any], p: Sequence[Any]) -> tuple[Any, Any]:
    """The small other system that is run first."""
    return p[0] * v[0] ** 2 / 2, p[1] * q[0] ** 4


@dataclass(frozen=True)
class Case:
    name: str
    energies: Energies
    parameters: dict[str, float]
    angles: list[float]
    target: float | None = None


CHAIN = {"m": 0.1, "l": 0.5, "g": 9.81}
WARM_UP = Case("oscillator", oscillator, {"mass": 1.0, "k": 1.0}, [1.0])
CASES = [
    Case("double pendulum", double_pendulum, {"m1": 1, "m2": 0.7, "l1": 1, "l2": 0.8, "g": 9.81}, [2.0, 2.5], 0.15),
    Case("chain of 5 links", chain, CHAIN, [1.0] * 5),
    Case("chain of 20 links", chain, CHAIN, [1.0] * 20, 2.0),
]


def with_dalembert(case: Case) -> np.ndarray:
    """The angles at all nodes."""
    import dalembert as da

    q = [da.coordinates(f"theta{i + 1}") for i in range(len(case.angles))]
    p = [da.parameters(name, positive=True) for name in case.parameters]
    kinetic, potential = case.energies(q, [a.dot for a in q], p)
    system = da.System(case.name, q, kinetic=kinetic, potential=potential)
    start = dict(zip(q, case.angles, strict=True)) | {a.dot: 0.0 for a in q}
    run = da.simulate(system, da.Midpoint(), h=H, steps=STEPS, parameters=case.parameters, start=start)
    return np.column_stack([run[a] for a in q])


def with_sympy(case: Case) -> np.ndarray:
    """The same with LagrangesMethod, lambdify and solve_ivp; the mass matrix is solved numerically, as is best."""
    from scipy.integrate import solve_ivp
    from sympy import lambdify, symbols
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

    n = len(case.angles)
    q = [dynamicsymbols(f"theta{i + 1}") for i in range(n)]
    v = [a.diff() for a in q]
    p = [symbols(name, positive=True) for name in case.parameters]
    kinetic, potential = case.energies(q, v, p)
    method = LagrangesMethod(kinetic - potential, q)
    method.form_lagranges_equations()
    evaluate = lambdify([q, v, p], [method.mass_matrix, method.forcing], cse=True)
    values = list(case.parameters.values())

    def slope(_t: float, y: np.ndarray) -> np.ndarray:
        mass, force = evaluate(y[:n], y[n:], values)
        return np.concatenate([y[n:], np.linalg.solve(mass, force[:, 0])])

    times = np.linspace(0, H * STEPS, STEPS + 1)
    first = [*case.angles, *([0.0] * n)]
    found = solve_ivp(slope, (0, times[-1]), first, method="DOP853", t_eval=times, rtol=TOLERANCE, atol=TOLERANCE)
    return found.y[:n].T


PEERS = {"dalembert": with_dalembert, "SymPy + SciPy": with_sympy}


def child(peer: str, name: str) -> None:
    """One repetition: prints the seconds it took, and the angles to compare."""
    case = next(c for c in CASES if c.name == name)
    PEERS[peer](WARM_UP)
    began = perf_counter()
    angles = PEERS[peer](case)
    seconds = perf_counter() - began
    print(json.dumps({"seconds": seconds, "angles": angles[COMPARED_AT].tolist()}))


def repetition(peer: str, case: Case, seen: dict[str, list[float]]) -> Callable[[], float]:
    return in_a_fresh_process(__file__, peer, case.name, "angles", seen, LIMIT)


def measure() -> list[Table]:
    rows, notes = [], []
    for case in CASES:
        seen: dict[str, list[float]] = {}
        jobs = {peer: repetition(peer, case, seen) for peer in PEERS}
        best = {peer: min(times) for peer, times in interleave(jobs, REPETITIONS, ENOUGH).items()}
        rows.append(_row(case, best["dalembert"], best["SymPy + SciPy"]))
        if len(seen) == len(PEERS):
            apart = np.abs(np.subtract(*seen.values())).max()
            if not apart <= ALIKE:
                raise RuntimeError(f"{case.name}: the peers differ by {apart:.1e}: not the same system")
            notes.append(f"{case.name}: the peers' angles at t = {COMPARED_AT * H:g} differ by at most {apart:.0e}.")
    notes.append(
        f"Least time of up to {REPETITIONS} interleaved repetitions, each in a fresh process with an empty cache; "
        f"solve_ivp: DOP853, rtol = atol = {TOLERANCE:g}."
    )
    header = ["Lagrangian to 1000 steps", "dalembert", "target", "met", "SymPy + SciPy", "ratio"]
    return [Table("Time to a result", header, rows, notes), *large_systems.measure()]


def _row(case: Case, ours: float, theirs: float) -> list[str]:
    target = ["-", "-"] if case.target is None else [f"{case.target:g} s", judge(ours, case.target)]
    if theirs == float("inf"):
        return [case.name, f"{ours:.3f} s", *target, f"> {LIMIT:.0f} s", f"< {ours / LIMIT:.2g}"]
    return [case.name, f"{ours:.3f} s", *target, f"{theirs:.3f} s", f"{ours / theirs:.2g}"]


if __name__ == "__main__":
    if len(sys.argv) == 3:
        child(*sys.argv[1:])
    else:
        for table in measure():
            print(table)
