"""Long runs are computed in chunks; between them progress is shown and Ctrl-C is checked."""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

from ..errors import MethodError, told

Report = bool | Callable[[int, int], None] | None

PATIENCE = 1.5
"""Seconds after which a bar is shown by default."""

FIRST = 1000
"""Steps of the first chunk, divided among the lanes: the time per step is not known yet."""

WHOLE, LONGER = 32, 5
"""A chunk of fewer steps than WHOLE may take LONGER times as long."""


class Progress:
    """A bar on the terminal, calls of a function, or nothing."""

    def __init__(self, wanted: Report, total: int):
        if not (wanted is None or isinstance(wanted, bool) or callable(wanted)):
            raise MethodError(f"progress = {told(wanted)}. Expected True, False, or a function of (done, in all).")
        self._wanted, self._total, self._began = wanted, total, clock.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, done: int) -> None:
        """Report the number of steps done."""
        if callable(self._wanted):
            self._wanted(done, self._total)
            return
        late = clock.monotonic() - self._began > PATIENCE
        if self._wanted is True or (self._wanted is None and late and sys.stderr.isatty()):
            self._show(done)

    def _show(self, done: int) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            parts = (TextColumn("computing"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            self._bar = Bar(*parts, console=Console(stderr=True), transient=self._wanted is not True)
            self._task = self._bar.add_task("steps", total=self._total)
            self._bar.start()
        self._bar.update(self._task, completed=done)


def chunks(total: int, lanes: int, progress: Progress, patience: float) -> Iterator[tuple[int, int]]:
    """(first step, number of steps) of each chunk; chunks grow until each takes about so many seconds."""
    done, size = 0, max(1, FIRST // max(1, lanes))
    while True:
        size = min(size, total - done)
        began = clock.monotonic()
        yield done, size
        done += size
        if done >= total:
            progress.tell(done)
            return
        taken = clock.monotonic() - began
        progress.tell(done)
        enough = size * patience / max(taken, 1e-6)
        if enough < WHOLE:  # many lanes, of which every call reads and writes all numbers
            enough = min(LONGER * enough, WHOLE)
        size = max(1, min(4 * size, int(enough)))
