"""Ctrl-C while a run is computed: held back until recorded data are consistent."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

AT_ONCE = 3
"""The third Ctrl-C acts at once: it aborts the run and loses it, for users who cannot wait for the end of a chunk."""


class Interrupts:
    """Within `with`, Ctrl-C (SIGINT) is stored, and acts where `arrived` is called: between chunks, steps or lanes.

    Otherwise a KeyboardInterrupt could be raised between any two instructions: for example after compiled code has advanced
    the lanes, before the number of steps is stored. The handler installed before decides what Ctrl-C does: Python's own raises
    KeyboardInterrupt, and the run ends; if a user's handler raises nothing, the run goes on. Signals reach the main
    thread only, so runs in other threads are not interrupted.
    """

    def __init__(self) -> None:
        self._before: Any = None
        self._waiting, self._count = False, 0
        self._ended = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, self._hold)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._before is not None and signal.getsignal(signal.SIGINT) == self._hold:
            signal.signal(signal.SIGINT, self._before)

    def _hold(self, number: int, frame: FrameType | None) -> None:
        self._waiting, self._count = True, self._count + 1
        if self._count >= AT_ONCE:
            raise KeyboardInterrupt

    def arrived(self) -> bool:
        """Whether the run should end: called only where recorded data are consistent."""
        if self._waiting:
            self._waiting = False
            try:
                self._before(signal.SIGINT, None)
            except KeyboardInterrupt:
                self._ended = True
        return self._ended

    def end(self) -> None:
        """End the run, because a function of the user raised KeyboardInterrupt."""
        self._ended = True
