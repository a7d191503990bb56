"""The cost of a step with an entropy, beside a mechanical step with as many unknowns.

A thermomechanical system of n coordinates and one entropy is compared with the same n coordinates and one more scalar
unknown: a coordinate s in the potential that the internal energy would be, on which friction depends in the same way. Both
are stepped by the same rule, 100,000 steps, only the end recorded; what is compared is the compiled loop.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from common import Table, interleave, judge
from compiled_loop import CompiledLoop

import dalembert as da
from dalembert import cos, exp

STEPS, REPETITIONS = 100_000, 25
TARGET, H = 1.5, 0.01

Pair = tuple[da.System, da.System]
"""A thermomechanical system, and the mechanical one with as many unknowns."""


def arms(n: int) -> tuple[Any, Any, Any]:
    """Coordinates, kinetic energy and potential of a pendulum of n links, unit lengths and masses."""
    q = [da.coordinates(f"q{i + 1}") for i in range(n)]
    pairs = [(i, j, n - max(i, j)) for i in range(n) for j in range(n)]
    kinetic = sum(w * cos(q[i] - q[j]) * q[i].dot * q[j].dot for i, j, w in pairs) / 2
    return q, kinetic, -sum((n - i) * cos(x) for i, x in enumerate(q))


def pendulum(n: int, coupled: bool) -> Pair:
    """Joints that rub and warm a body; where coupled, what is warm rubs less."""
    q, kinetic, potential = arms(n)
    S, s = da.entropies("S"), da.coordinates("s")

    def rubbing(warmth: Any) -> dict[Any, Any]:
        return {x: -x.dot * (exp(-warmth) if coupled else 1) / 500 for x in q}

    thermal = da.System(
        f"{n} links",
        q,
        kinetic=kinetic,
        potential=potential,
        entropies=[S],
        internal_energy=exp(S),
        friction=rubbing(S),
    )
    mechanical = da.System(
        f"{n} links and a scalar",
        [*q, s],
        kinetic=kinetic + s.dot**2 / 2,
        potential=potential + exp(s) - s,
        forces=rubbing(s),
    )
    return thermal, mechanical


class Loop:
    """The compiled loop of a system, called as `simulate` calls it."""

    def __init__(self, system: da.System, method: Any):
        start: dict[Any, float] = {c: 0.8 - 0.3 * i for i, c in enumerate(system.coordinates)}
        start |= {c.dot: 0.1 for c in system.coordinates} | dict.fromkeys(system.entropies, 0.1)
        self.loop = CompiledLoop(system, method, h=H, start=start, parameters={})
        self.iterations = self.advance() / STEPS

    def advance(self) -> int:
        """Take the steps; tells the Newton iterations: Jacobians formed and factored."""
        code, _, iterations, _ = map(int, self.loop.advance(STEPS, STEPS)[1])
        if code:
            raise RuntimeError(f"{self.loop.stepper.stepmap.name}: the run ended early, with status {code}")
        return iterations

    def seconds(self) -> float:
        began = perf_counter()
        self.advance()
        return perf_counter() - began


def measure() -> list[Table]:
    loops: dict[str, Loop] = {}
    jobs: dict[str, Callable[[], float]] = {}
    named = []
    for method in (da.Midpoint(), da.DiscreteGradient(2)):
        for n, coupled in ((1, False), (1, True), (2, False), (2, True), (3, True)):
            thermal, mechanical = pendulum(n, coupled)
            name = f"{method!r}, {n} link{'s' if n > 1 else ''}, friction {'depends on' if coupled else 'without'} S"
            named.append(name)
            for kind, system in ((" thermal", thermal), (" mechanical", mechanical)):
                loops[name + kind] = Loop(system, method)
                jobs[name + kind] = loops[name + kind].seconds
    best = {name: min(times) for name, times in interleave(jobs, REPETITIONS).items()}
    rows = [_row(name, best, loops) for name in named]
    notes = [
        f"Least time of {REPETITIONS} interleaved runs of {STEPS:,} steps, h = {H}.",
        "The mechanical step has one coordinate more, so that both have as many unknowns of the motion.",
    ]
    header = ["step", "ns, with an entropy", "ns, mechanical", "iterations", "iterations", "ratio", "target", "met"]
    return [Table("Cost of a step with an entropy", header, rows, notes)]


def _row(name: str, best: dict[str, float], loops: dict[str, Loop]) -> list[str]:
    warm, plain = best[f"{name} thermal"], best[f"{name} mechanical"]
    looks = [f"{loops[name + kind].iterations:.2f}" for kind in (" thermal", " mechanical")]
    times = [f"{t / STEPS * 1e9:.0f}" for t in (warm, plain)]
    return [name, *times, *looks, f"{warm / plain:.2f}", f"{TARGET}", judge(warm / plain, TARGET)]


if __name__ == "__main__":
    for table in measure():
        print(table)
