"""The error of each quantity of a run, and the order with which it falls."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import dalembert as da
from dalembert.methods import Method

QUANTITIES = ("positions", "velocities", "momenta", "multipliers", "energy", "entropies")

LANES = np.linspace(0.7, 1.3, 7)
"""All parameters are multiplied by these: the error of one motion may vanish by chance, not that of all."""

FLOOR = {1: 1e-11, 2: 1e-11, 4: 1e-11, 6: 1e-12}
"""Errors below this may be rounding, by claimed order."""

FINE = {8: 48, 12: 24}
"""Of high orders rounding is measured: with so many steps nothing else is left of the error."""

ABOVE = 10
"""An error is measured to a tenth if it is so many times that of rounding.

High orders need errors that are as small as can be measured. Error terms of order p + 1 fall by half only when the step is
halved. Where they have the other sign, the order that shows rises towards p with more steps: that of the energy of
DormandPrince8 on the first system is 6.5, 7.2, 7.6 and 7.8 at 7, 9, 12 and 14 steps. One floor for all systems and quantities,
5e-14, ended before that; rounding of this energy is 9e-16.
"""


def short_of(order: int) -> float:
    """How much less than the claim still counts: few steps fit between the asymptotic regime and rounding."""
    return 0.05 + order / 20


def span(order: int) -> float:
    """The time at which errors are taken; order 12 shows in long steps only."""
    return 4.0 if order == 12 else 1.0


def last_values(method: Method, case: Any, n: int, until: float) -> dict[str, np.ndarray]:
    """Each quantity at the end of n steps, of all lanes."""
    lanes = LANES if case.parameters else LANES[:1]
    parameters = {p: value * lanes for p, value in case.parameters.items()}
    start = case.start if parameters else {k: np.array([v]) for k, v in case.start.items()}
    run = da.simulate(case.system, method, h=until / n, steps=n, start=start, parameters=parameters)
    q = case.system.coordinates
    found = {
        "positions": [run[c][:, -1] for c in q],
        "velocities": [run[c.dot][:, -1] for c in q],
        "momenta": [run[c.momentum][:, -1] for c in q],
        "multipliers": list(run.multipliers[:, -1].T) if case.system.constraints else [],
        "energy": [run.energy[:, -1]],
        "entropies": [run[S][:, -1] for S in case.system.entropies],
    }
    return {name: np.array(values) for name, values in found.items() if values}


@cache
def exact_values(case: Any, until: float) -> dict[str, np.ndarray]:
    """The same by an adaptive method of order 8 at the smallest tolerance it takes."""
    return last_values(da.Reference(rtol=3e-14, atol=1e-14), case(), 1, until)


def quantity_errors(method: Method, case: Any, n: int) -> dict[str, float]:
    """The root mean square error of each quantity at the end of n steps."""
    until = span(method.order)
    found, exact = last_values(method, case(), n, until), exact_values(case, until)
    return {name: float(np.sqrt(np.mean((found[name] - exact[name]) ** 2))) for name in found}


def floors(method: Method, case: Any) -> dict[str, float]:
    """Below which error of each quantity there may be rounding: that of the method, of the reference and of the quantity."""
    if method.order not in FINE:
        return dict.fromkeys(QUANTITIES, FLOOR[method.order])
    n = FINE[method.order]
    pairs = zip(*(quantity_errors(method, case, k).items() for k in (n, n * 3 // 2)), strict=True)
    return {name: ABOVE * max(one, two) for (name, one), (_, two) in pairs}


def fitted(errors: list[tuple[int, float]], floor: float) -> float | None:
    """The slope through the errors of the last factor of about two in the step; None if they are rounding."""
    real = [(n, e) for n, e in errors if e > floor]
    if not real:
        return None
    last = [(n, e) for n, e in real if n >= real[-1][0] / 2.1 and (n % 2 == 0 or real[-1][0] < 16)]
    if len(last) < 2:
        return None
    return float(-np.polyfit(np.log([n for n, _ in last]), np.log([e for _, e in last]), 1)[0])
