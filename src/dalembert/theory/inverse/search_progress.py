"""What a search is doing, in one line on a terminal, or as calls of a function."""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Callable
from typing import Any

from ...decide.budget import BudgetSpentError, _limited
from ...errors import ModelError, told
from ...numbers import finite
from ..algebra import Allowance

Report = bool | Callable[[str], None] | None

PATIENCE = 1.5
"""Seconds after which a line is shown by default."""


class Search(Allowance):
    """A budget that says which part of the search it is spent on.

    progress:  True or False shows a line or not; by default one appears on a terminal if the search is long; or a function
               that is called with the name of each part as it begins
    """

    def __init__(self, seconds: float, progress: Report = None, function: str = "lagrangian"):
        seconds = finite(seconds, f"{function}: seconds", ModelError)
        if seconds < 0:
            raise ModelError(f"{function}: seconds={told(seconds)}. Expected how many seconds the search may take.")
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise ModelError(
                f"{function}: progress={told(progress)}. Expected True, False or a function of the name of each part, such as "
                "progress=print."
            )
        super().__init__(attempts=100_000, seconds=max(min(10.0, seconds), seconds / 6), total=seconds)
        self.total, self.is_spent = seconds, False
        self._progress, self._began, self._shown = progress, clock.monotonic(), 0
        self.searched: list[str] = []

    def call_whole(self, function: Callable[..., None], *args: Any) -> None:
        """Do the whole search; where its time is over it ends, whatever it is computing, and `is_spent` says so."""
        try:
            _limited(self.total, function, *args)
        except BudgetSpentError:
            self.is_spent = True

    def begin(self, part: str) -> None:
        """Name the part that begins; it is among what was searched."""
        self.searched.append(part)
        self.spend(part, 0)
        if callable(self._progress):
            self._progress(part)
            return
        late = clock.monotonic() - self._began > PATIENCE
        if self._progress is True or (self._progress is None and late and sys.stderr.isatty()):
            self._show(f"inverse problem: {part} ({clock.monotonic() - self._began:.0f} s)")

    def end(self) -> None:
        """Remove the line."""
        if self._shown:
            self._show("")
            sys.stderr.write("\r")

    def _show(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(line)
