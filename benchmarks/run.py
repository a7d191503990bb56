"""Run all benchmarks, or those that are named, print their tables and write them to RESULTS.md.

python benchmarks/run.py                  all of them
python benchmarks/run.py rotations        only these; the other tables stay as they were measured before
python benchmarks/run.py gpu              on a computer with a GPU; its tables stay when all others are measured elsewhere
"""

from __future__ import annotations

import sys
from datetime import date
from importlib import import_module
from pathlib import Path

from common import machine

BENCHMARKS = (
    "step_cost",
    "rounding_cost",
    "branch_check",
    "tangent_step",
    "thermal_step",
    "rotations",
    "reduction",
    "simd_lanes",
    "studies",
    "large_systems",
    "large_steps",
    "ensembles",
    "time_to_result",
    "derivation",
    "startup",
    "work_precision",
    "adaptive",
    "player",
)
ELSEWHERE = {"gpu": ("Ensembles on a GPU", "What limits ensembles on a GPU")}
"""Benchmarks that need another computer, with the titles of their tables."""

RESULTS = Path(__file__).with_name("RESULTS.md")
MARK = "### "


def kept() -> dict[str, str]:
    """The tables of RESULTS.md by title."""
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    parts = ("\n" + text).split("\n" + MARK)[1:]
    return {part.splitlines()[0]: (MARK + part).rstrip() for part in parts}


def main(named: list[str]) -> None:
    if unknown := set(named) - {*BENCHMARKS, *ELSEWHERE}:
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}. There are {', '.join((*BENCHMARKS, *ELSEWHERE))}.")
    elsewhere = {title for titles in ELSEWHERE.values() for title in titles}
    tables = {title: table for title, table in kept().items() if named or title in elsewhere}
    tables.setdefault("Machine and versions", str(machine()))
    for name in named or BENCHMARKS:
        for table in import_module(name).measure():
            tables[table.title] = f"{table}\n* Measured on {date.today():%Y-%m-%d}." if named else str(table)
            print(f"\n{tables[table.title]}", flush=True)
    heading = f"# Benchmarks\n\nWritten by `python benchmarks/run.py` on {date.today():%Y-%m-%d}."
    told = (
        "Speed depends on the machine; what can be compared is the ratio of two peers measured in the same run, one "
        "repetition of each in turn. A target is an upper bound. Smaller ratios are faster."
    )
    RESULTS.write_text("\n\n".join([heading, told, *tables.values()]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
