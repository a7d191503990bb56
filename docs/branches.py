"""Long steps: how often a search ends on a solution that does not continue the motion, and how often that is noticed.

The judge is independent of the engine: the equations of the step map, solved with h growing from nearly zero by tiny strides,
each accepted only if Newton's method contracts and the Jacobian keeps the sign of its determinant.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import symengine

import dalembert as da
from dalembert import cos, sqrt
from dalembert.engine import machine, newton
from dalembert.engine.arguments import Lanes
from dalembert.engine.machine import Stepper
from dalembert.engine.run_options import Extent
from dalembert.methods import Method
from dalembert.waist.stepmap import StepMap

RUNS, STEPS = 16, 25
"""Runs of each system, with random methods, parameters, starts and steps; steps of each at most."""

x, y = da.coordinates("x y")
k = da.parameters("k", positive=True)
LINE, PLANE = x.dot**2 / 2, (x.dot**2 + y.dot**2) / 2
ARMS = x.dot**2 + y.dot**2 / 2 + x.dot * y.dot * cos(x - y)

SYSTEMS = (
    da.System("pendulum", [x], kinetic=LINE, potential=-k * cos(x)),
    da.System("two wells", [x], kinetic=LINE, potential=k * (x**2 - 1) ** 2 / 4),
    da.System("quartic kinetic energy", [x], lagrangian=x.dot**4 / 4 + x.dot**2 / 2 + k * cos(x)),
    da.System("mass that varies", [x], kinetic=(1 + x**2) * x.dot**2 / 2, potential=k * x**2 / 2),
    da.System("repulsion", [x], kinetic=LINE, potential=k / x**2 + x**2 / 2),
    da.System("double pendulum", [x, y], kinetic=ARMS, potential=-k * (2 * cos(x) + cos(y))),
    da.System("Henon-Heiles", [x, y], kinetic=PLANE, potential=k * ((x**2 + y**2) / 2 + x**2 * y - y**3 / 3)),
    da.System("Kepler", [x, y], kinetic=PLANE, potential=-k / sqrt(x**2 + y**2)),
)
METHODS: tuple[Method, ...] = (
    da.Midpoint(), da.Trapezoidal(), da.RightPoint(), da.Gauss(2), da.Lobatto(3), da.Galerkin(2), da.DiscreteGradient(2),
)  # fmt: skip


class Branch:
    """The solution of a step that continues the motion, found with h from nearly zero on."""

    def __init__(self, stepmap: StepMap):
        (block,) = stepmap.blocks
        self.n = len(block.unknowns)
        names = [*block.unknowns, *stepmap.state, *stepmap.parameters, "t", "step.h"]
        entries = [*block.residual, *(d for row in block.jacobian for d in row)]
        self.look = symengine.Lambdify([symengine.Symbol(name) for name in names], entries, cse=True)

    def solve(self, guess: np.ndarray, rest: np.ndarray, h: float) -> tuple[np.ndarray, float] | None:
        """Newton's method, as long as each step is at most a fifth of the one before; with the sign of the determinant."""
        found, before = guess.copy(), math.inf
        for _ in range(30):
            values = np.asarray(self.look(np.r_[found, rest, h])).ravel()
            residual, matrix = values[: self.n], values[self.n :].reshape(self.n, self.n)
            if not np.isfinite(values).all() or (sign := np.sign(np.linalg.det(matrix))) == 0:
                return None
            correction = np.linalg.solve(matrix, -residual)
            size, scale = np.abs(correction).max(), np.abs(found).max()
            if before > 1e-9 * (1 + scale) and size > 0.2 * before:
                return None
            found, before = found + correction, size
            if size <= 1e-12 * scale:
                break
        return found, float(sign)

    def follow(self, guess: np.ndarray, rest: np.ndarray, h: float) -> np.ndarray | str:
        """The solution at h, or that the branch ends before, or that it could not be begun."""
        fraction, stride = 1e-4, 1e-4
        start = self.solve(guess, rest, h * fraction)
        if start is None:
            return "not begun"
        found, sign = start
        while fraction < 1:
            ahead = min(1.0, fraction + stride)
            there = self.solve(found, rest, h * ahead)
            room = 0.2 * (np.abs(found).max() + np.abs(found - guess).max())
            if there is not None and there[1] == sign and np.abs(there[0] - found).max() <= room:
                found, fraction, stride = there[0], ahead, min(1.6 * stride, 0.01)
            elif (stride := stride / 2) < 1e-9:
                return "ends"
        return found


@dataclass
class Count:
    """What became of the steps of some runs."""

    steps: int = 0
    off: int = 0
    ended: int = 0
    false_alarms: int = 0


@dataclass(frozen=True)
class Case:
    """One run."""

    system: da.System
    method: Method
    k: float
    h: float
    start: dict[Any, float]


def cases(system: da.System) -> Iterator[Case]:
    """Random runs of a system with steps from short ones to as long as a period."""
    rng = random.Random(system.name)
    away = system.name in ("repulsion", "Kepler")
    methods = [m for m in METHODS if m.step_map(system).sought]
    for _ in range(RUNS):
        strength = 10 ** rng.uniform(-0.5, 1.5)
        start = {q: rng.uniform(0.4, 2.0) if away else rng.uniform(-1.5, 1.5) for q in system.coordinates}
        start |= {v: rng.uniform(-2.0, 2.0) for v in system.velocities}
        yield Case(system, rng.choice(methods), strength, 10 ** rng.uniform(-0.5, 0.75) / math.sqrt(strength), start)


def walk(case: Case, count: Count) -> None:
    """Make the steps of a run and compare each with the branch."""
    stepmap = case.method.step_map(case.system)
    stepper, branch = Stepper(stepmap), Branch(stepmap)
    begun = da.simulate(
        case.system, case.method, h=case.h, steps=0, start=case.start, parameters={k: case.k}, strict=False
    )
    lane, n = Lanes.begun(begun.carry.copy(), np.array([[case.k]])), len(stepmap.sought)
    carry, codes = lane.carry, lane.status
    last = carry.shape[1] - 1 - machine.HISTORY * n  # where the last solution is carried
    for step in range(STEPS):
        state, guess = carry[0, : len(stepmap.state)].copy(), carry[0, last : last + n].copy()
        stepper.advance(lane, np.full((1, 1, stepper.width), np.nan), Extent(0.0, case.h, step, 1))
        right = branch.follow(guess, np.r_[state, case.k, step * case.h], case.h)
        if isinstance(right, str) and right == "not begun":
            return
        if codes[0, 0]:
            count.ended += 1
            count.false_alarms += codes[0, 0] != da.Status.LEFT_DOMAIN and not isinstance(right, str)
            return
        count.steps += 1
        found = carry[0, last : last + n]
        same = not isinstance(right, str) and np.abs(found - right).max() <= 1e-6 * (
            np.abs(right).max() + np.abs(right - guess).max()
        )
        count.off += not same


class Unchecked(newton.Continuation):
    """Takes whatever a search finds."""

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.depends = False


@contextmanager
def unchecked() -> Iterator[None]:
    """Within, steps are compiled without the check."""
    kind, folder = newton.Continuation, os.environ.get("DALEMBERT_CACHE")
    newton.Continuation, os.environ["DALEMBERT_CACHE"] = Unchecked, ""  # type: ignore[misc]
    machine._function.cache_clear()
    try:
        yield
    finally:
        newton.Continuation = kind  # type: ignore[misc]
        os.environ.pop("DALEMBERT_CACHE") if folder is None else os.environ.__setitem__("DALEMBERT_CACHE", folder)
        machine._function.cache_clear()


def measured() -> list[tuple[str, Count, Count]]:
    """For each system the counts without the check and with it."""
    found = []
    for system in SYSTEMS:
        plain, checked = Count(), Count()
        for case in cases(system):
            walk(case, checked)
        with unchecked():
            for case in cases(system):
                walk(case, plain)
        found.append((system.name, plain, checked))
    return found


WORDS = """Steps from a twentieth of a period to a period. A step equation may then have several solutions, and the one that
continues the motion, which is reached when h grows from zero, may end before h. Each step is compared with that solution,
found by tiny strides in h. Without the check the search takes whatever it finds; with it, a solution in doubt is sought again
by continuation in h, and where there is none the run ends. A false alarm is a run that ended although the solution exists."""


def section() -> list[str]:
    """The section of the page, as lines."""
    rows = measured()
    head = (
        "system",
        "steps, no check",
        "off the branch",
        "steps, checked",
        "off the branch",
        "runs ended",
        "false alarms",
    )
    lines = ["## Branches", "", *WORDS.splitlines(), "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    total = [Count(), Count()]
    for name, *counts in rows:
        lines.append(_row(name, *counts))
        for whole, part in zip(total, counts, strict=True):
            for field, value in vars(part).items():
                setattr(whole, field, getattr(whole, field) + value)
    return [*lines, _row("together", *total), ""]


def _row(name: str, plain: Count, checked: Count) -> str:
    numbers = (plain.steps, plain.off, checked.steps, checked.off, checked.ended, checked.false_alarms)
    return f"| {name} | {' | '.join(map(str, numbers))} |"


if __name__ == "__main__":
    print("\n".join(section()))
