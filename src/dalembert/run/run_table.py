"""A run as one plain table: a row for each time, or for each lane and time; a column for each number."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..errors import ModelError
from .replaced_file import replacing
from .values import Array

if TYPE_CHECKING:
    import pandas

    from .trajectory import Trajectory

ROWS = 1 << 14
"""Rows that are turned into text at once."""


def table(run: Trajectory) -> dict[str, Array]:
    """The columns by name: lane, time and what the Dataset has at every time, entries as n[0] or R[0,0]."""
    over = ("time",) if run.lanes is None else ("lane", "time")
    lanes, times = len(run.records), len(run.time)
    found: dict[str, Array] = {} if run.lanes is None else {"lane": np.repeat(np.arange(lanes), times)}
    found["time"] = np.tile(run.time, lanes)
    for name, variable in run.dataset.data_vars.items():
        if variable.dims[: len(over)] != over:
            continue  # internal, or one for each lane
        values = variable.values.reshape(lanes * times, *variable.shape[len(over) :])
        for place in np.ndindex(values.shape[1:]):
            entry = f"[{','.join(map(str, place))}]" if place else ""
            found[f"{name}{entry}"] = values[(slice(None), *place)]
    return found


def to_pandas(run: Trajectory) -> pandas.DataFrame:
    """The table as a DataFrame, by time, or by lane and time."""
    try:
        import pandas
    except ImportError:
        raise ModelError(
            "to_pandas: pandas is not installed. Type: pip install pandas; or write the same table with run.save('run.csv')."
        ) from None
    given: Any = table(run)
    return pandas.DataFrame(given).set_index("time" if run.lanes is None else ["lane", "time"])


def save_table(run: Trajectory, target: Path) -> Path:
    """Write the table as a file."""
    with replacing(target) as file:
        write_csv(file, run)
    return target


def write_csv(file: BinaryIO, run: Trajectory) -> None:
    """The table as text; every number is written so that reading it gives the same bits."""
    columns = table(run)
    file.write(_line([list(columns)]))
    for at in range(0, len(columns["time"]), ROWS):
        file.write(_line(zip(*(c[at : at + ROWS].tolist() for c in columns.values()), strict=True)))


def _line(rows: Iterator[Any] | list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
