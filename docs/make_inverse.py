"""Writes docs/inverse-problems.md: inverse problems with known answers, and random ones, with what came out.

python docs/make_inverse.py          (from the root of the repository; about fifteen minutes)
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import dalembert as da  # noqa: E402
from tests.textbook.inverse_problems import BIRKHOFF, PROBLEMS, Problem, x, y  # noqa: E402
from tests.textbook.random_inverse import outcome, problem  # noqa: E402

PAGE = Path(__file__).with_name("inverse-problems.md")
RANDOM, SECONDS = 50, 20.0
OUTCOMES = ("found", "refused", "exists", "undecided")

HEAD = """# Inverse problems

This page is written by `docs/make_inverse.py`. `da.inverse.lagrangian(equations, coordinates=[...])` looks for a Lagrangian
whose equations are the given ones times a matrix. What it finds is verified by substitution before it is given. "None" is a
theorem and not a search that failed: linear equations that every multiplier satisfies at every state leave singular matrices
only (J. Douglas, 1941). "Undecided" means that neither was reached.

## Equations with known answers

The answers were known beforehand (tests/textbook/inverse_problems.py); `tests/textbook/test_001_inverse.py` checks both with
SymPy alone. Any equivalent Lagrangian is right.

| | accelerations | case | Lagrangian found |
|---|---|---|---|
"""

BETWEEN = f"""
## Random equations

{RANDOM} systems made from a random Lagrangian by a random change of coordinates and a random matrix, and {RANDOM} made in the
same way with forces that have no potential; {SECONDS:g} seconds each. A system of the first kind must never be refused.
"exists": it is proved that there is a Lagrangian, but its quadratures were not found.

| made from | {" | ".join(OUTCOMES)} |
|---|{"---|" * len(OUTCOMES)}
"""


def known_row(p: Problem) -> str:
    """The line of one problem with a known answer."""
    found = da.inverse.lagrangian(p.equations, p.coordinates, seconds=120, progress=False)
    shown = (
        f"`{found.lagrangian}`" if found.lagrangian is not None else {False: "none"}.get(found.exists, "**undecided**")
    )
    right = (found.exists is False) == (p.lagrangian is None) and (found.lagrangian is not None or p.lagrangian is None)
    accelerations = ", ".join(f"`{f}`" for f in p.accelerations)
    return f"| D{p.number} | {accelerations} | {p.case or '-'} | {shown}{'' if right else ' **WRONG**'} |"


def birkhoff_row() -> str:
    """The line of the problem of first order."""
    found = da.inverse.lagrangian(BIRKHOFF[0], [x, y], kind="birkhoff", progress=False)
    return f"| D43 | first order: {', '.join(f'`{e}`' for e in BIRKHOFF[0])} | - | `{found.lagrangian}` |"


def counts(variational: bool) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """What came out of all random problems of one kind, in all and by kind."""
    whole: Counter[str] = Counter()
    parts: Counter[tuple[str, str]] = Counter()
    for number in range(RANDOM):
        made = problem(number, variational)
        came = outcome(made, SECONDS)
        whole[came] += 1
        parts[made.kind, came] += 1
        print(f"{'Lagrangian' if variational else 'forces'} {number}: {made.kind}: {came}", flush=True)
    return whole, parts


def main() -> None:
    """Run everything and write the page."""
    lines = [known_row(p) for p in PROBLEMS] + [birkhoff_row()]
    rows = []
    for variational, name in ((True, "a Lagrangian"), (False, "a Lagrangian and forces")):
        whole, parts = counts(variational)
        rows.append(f"| {name} | {' | '.join(str(whole[o]) for o in OUTCOMES)} |")
        for kind in dict.fromkeys(k for k, _ in parts):
            rows.append(f"| - {kind} | {' | '.join(str(parts[kind, o]) for o in OUTCOMES)} |")
        assert not (variational and whole["refused"]), "a Lagrangian was refused"
    PAGE.write_text(HEAD + "\n".join(lines) + "\n" + BETWEEN + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
