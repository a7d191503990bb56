"""Run all benchmarks, print their tables and write them to RESULTS.md."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import derivation
import startup
import step_cost
import tangent_step
import thermal_step
import time_to_result
import work_precision
from common import machine


def main() -> None:
    tables = [machine()]
    print(tables[0], flush=True)
    for benchmark in (step_cost, tangent_step, thermal_step, time_to_result, derivation, startup, work_precision):
        for table in benchmark.measure():
            tables.append(table)
            print(f"\n{table}", flush=True)
    heading = f"# Benchmarks\n\nWritten by `python benchmarks/run.py` on {date.today():%Y-%m-%d}."
    told = (
        "Speed depends on the machine; what can be compared is the ratio of two peers measured in the same run, one "
        "repetition of each in turn. A target is an upper bound. Smaller ratios are faster."
    )
    text = "\n\n".join([heading, told, *map(str, tables)])
    Path(__file__).with_name("RESULTS.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
