"""The same systems in other units: how many verdicts, counts, statuses and numbers change. None may."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import dalembert as da
from tests.properties.test_units import verdict
from tests.properties.units import SAME, generated, mechanical_gallery, numeric, random_units, runs

SYSTEMS = 200
"""Generated systems."""

METHODS = (da.Midpoint(), da.Trapezoidal(), da.Gauss(2), da.RungeKutta4(), da.Reference())


def compared(system: da.System, seed: Any) -> Counter[str]:
    """One system in two units."""
    units = random_units(system, random.Random(seed))
    before, after = verdict(system), verdict(units.apply(system))
    found = Counter({"systems": 1, "verdicts": len(before)})
    found["other verdicts"] = sum(before[k] != after[k] for k in before)
    return found + (runs(system, units, seed, METHODS) if isinstance(seed, int) else Counter())


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
