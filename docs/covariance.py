"""The same systems in other units: how many verdicts, counts, statuses and numbers change. None may."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

import dalembert as da
from dalembert.theory.shell import shell
from tests.properties.test_units import verdict
from tests.properties.units import generated, mechanical_gallery, numeric, random_units

SYSTEMS, STEPS, SAME = 200, 40, 1e-7
"""Generated systems; steps of each run; relative difference of positions that rounding and tolerances account for."""

METHODS = (da.Midpoint(), da.Trapezoidal(), da.Gauss(2), da.RungeKutta4(), da.Reference())


def runs(system: da.System, units: Any, seed: int) -> Counter[str]:
    """Short runs with several methods in both units: statuses and positions compared."""
    found: Counter[str] = Counter()
    at = shell(system).states(1, seed)
    if at is None:
        return found
    values = dict(zip(shell(system).symbols, map(float, at.inputs[0]), strict=True))
    start = {s: values[s] for s in (*system.coordinates, *system.velocities)}
    begin, pace = values[da.time], float(units.time)
    for method in METHODS:
        if not method.takes(system):
            continue
        one = da.simulate(
            system, method, h=0.01, steps=STEPS, start={**start, da.time: begin}, strict=False
        )  # fmt: skip
        new = {s: units.value(s, x) for s, x in start.items()}
        two = da.simulate(
            units.apply(system), method, h=0.01 / pace, steps=STEPS, start={**new, da.time: begin / pace}, strict=False
        )  # fmt: skip
        found["runs"] += 1
        found["another status"] += one.status is not two.status
        found["other positions"] += not all(
            _same(one[q], two[q] * float(units.coordinates[q])) for q in system.coordinates
        )
    return found


def _same(a: Any, b: Any) -> bool:
    known = np.isfinite(a) & np.isfinite(b)
    scale = np.abs(a[known]).max(initial=0)
    return bool((np.isfinite(a) == np.isfinite(b)).all() and (np.abs(a - b)[known] <= SAME * scale).all())


def compared(system: da.System, seed: Any) -> Counter[str]:
    """One system in two units."""
    units = random_units(system, random.Random(seed))
    before, after = verdict(system), verdict(units.apply(system))
    found = Counter({"systems": 1, "verdicts": len(before)})
    found["other verdicts"] = sum(before[k] != after[k] for k in before)
    return found + (runs(system, units, seed) if isinstance(seed, int) else Counter())


def section() -> list[str]:
    """The section of the page."""
    made, known = Counter(), Counter()
    for seed in range(SYSTEMS):
        made.update(compared(generated(seed), seed))
    for name, example in mechanical_gallery():
        known.update(compared(numeric(example), name))
    rows = [("generated", made), ("gallery", known)]
    columns = ("systems", "verdicts", "other verdicts", "runs", "another status", "other positions")
    return [
        "## Units",
        "",
        "The same systems with coordinates, time, energy and every constraint multiplied by random powers of ten, 1e-12 to",
        "1e12: what is conserved and what is not, how many integrals are independent, kinds of constraints, ranks and growth",
        "vectors; statuses and positions of short runs by " + ", ".join(f"`{m!r}`" for m in METHODS) + ".",
        f"Positions count as the same if they agree to {SAME:g} of their size. A control with an absolute threshold is",
        "among the tests.",
        "",
        f"| systems | {' | '.join(columns)} |",
        "|" + "---|" * (len(columns) + 1),
        *(f"| {name} | {' | '.join(str(found[c]) for c in columns)} |" for name, found in rows),
        "",
    ]


if __name__ == "__main__":
    print("\n".join(section()))
