"""Deriving and compiling: from positions of particles to code that gives accelerations, for a chain of links on a cart.

The peer is SymPy's LagrangesMethod with lambdify. Both get the same positions and the same Lagrangian, and both are asked
for the accelerations at one state, which must agree. Every repetition is a process of its own with an empty cache, in which
imports are done and a small other system has been derived before the clock starts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from common import Table, in_a_fresh_process, interleave, judge
from sympy import Add, cos, sin

LINKS = (5, 10, 20)
VALUES = {"M": 2.0, "m": 0.3, "l": 0.5, "g": 9.81}
REPETITIONS, ENOUGH, LIMIT = 5, 30.0, 900.0
TARGET = 20.0


def positions(x: Any, angles: Sequence[Any], l: Any) -> list[tuple[Any, Any]]:
    """The cart, then the end of each link, from above."""
    found = [(x, 0)]
    for a in angles:
        found.append((found[-1][0] + l * sin(a), found[-1][1] - l * cos(a)))
    return found


def state(links: int) -> tuple[list[float], list[float]]:
    return [0.1, *(0.3 + 0.05 * i for i in range(links))], [0.2, *(0.4 - 0.03 * i for i in range(links))]


def with_dalembert(links: int) -> list[float]:
    """The accelerations at the state."""
    import dalembert as da

    x, *angles = q = [da.coordinates(f"q{i}") for i in range(links + 1)]
    M, m, l, g = (da.parameters(name, positive=True) for name in VALUES)
    b = da.bodies
    parts = [b.Particle(M if i == 0 else m, r) for i, r in enumerate(positions(x, angles, l))]
    system = b.assemble("links on a cart", q, bodies=parts, loads=[b.Gravity(g)]).system
    where, velocity = state(links)
    at = dict(zip(q, where, strict=True)) | dict(zip((c.dot for c in q), velocity, strict=True))
    found = da.evaluate(system, at=at, parameters=dict(zip((M, m, l, g), VALUES.values(), strict=True)))
    return [found.accelerations[c] for c in q]


def with_sympy(links: int) -> list[float]:
    """The same with LagrangesMethod and lambdify; the mass matrix is solved numerically, as is best."""
    from sympy import lambdify, symbols
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

    x, *angles = q = [dynamicsymbols(f"q{i}") for i in range(links + 1)]
    M, m, l, g = symbols("M m l g", positive=True)
    places = positions(x, angles, l)
    t = dynamicsymbols._t
    kinetic = Add(
        *((M if i == 0 else m) * (a.diff(t) ** 2 + (b + 0 * t).diff(t) ** 2) / 2 for i, (a, b) in enumerate(places))
    )
    method = LagrangesMethod(kinetic - Add(*(m * g * b for _, b in places[1:])), q)
    method.form_lagranges_equations()
    evaluate = lambdify([q, [c.diff(t) for c in q], [M, m, l, g]], [method.mass_matrix, method.forcing], cse=True)
    mass, force = evaluate(*state(links), list(VALUES.values()))
    return [float(a) for a in np.linalg.solve(np.array(mass, float), np.array(force, float)[:, 0])]


PEERS = {"dalembert": with_dalembert, "SymPy": with_sympy}


def child(peer: str, links: int) -> None:
    PEERS[peer](1)
    began = perf_counter()
    found = PEERS[peer](links)
    print(json.dumps({"seconds": perf_counter() - began, "accelerations": found}))


def repetition(peer: str, links: int, seen: dict[str, list[float]]) -> Callable[[], float]:
    return in_a_fresh_process(__file__, peer, str(links), "accelerations", seen, LIMIT)


def measure() -> list[Table]:
    """The tables of this benchmark."""
    rows, notes = [], []
    for links in LINKS:
        seen: dict[str, list[float]] = {}
        seconds = interleave({peer: repetition(peer, links, seen) for peer in PEERS}, REPETITIONS, ENOUGH)
        ours, theirs = (min(seconds[peer]) for peer in PEERS)
        judged = judge(TARGET, theirs / ours) if links == max(LINKS) else "-"
        rows.append([str(links), f"{ours:.3f} s", f"{theirs:.2f} s", f"{theirs / ours:.1f}", judged])
        if len(seen) == len(PEERS):
            gap = np.abs(np.array(seen["dalembert"]) - np.array(seen["SymPy"])).max() / np.abs(seen["SymPy"]).max()
            notes.append(f"{links} links: the peers' accelerations differ by at most {gap:.0e} of the largest.")
    notes.append(
        f"Least time of up to {REPETITIONS} interleaved repetitions, each in a fresh process with an empty cache."
    )
    head = ["links on a cart", "dalembert", "SymPy LagrangesMethod + lambdify", "ratio", f">= {TARGET:g}"]
    return [Table("Deriving and compiling", head, rows, notes)]


if __name__ == "__main__":
    if len(sys.argv) == 3:
        child(sys.argv[1], int(sys.argv[2]))
    else:
        for table in measure():
            print(f"\n{table}", flush=True)
