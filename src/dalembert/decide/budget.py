"""Bounded searches: a budget counts attempts, limits the time of single calls, and records what was tried."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any, TypeVar

Result = TypeVar("Result")


class BudgetSpentError(Exception):
    """Raised inside a search when its budget is spent; the caller of the search reports what was tried."""


class Budget:
    """The limits of a search.

    attempts:  how many candidates or operations it may try in all
    seconds:   how long one call into computer algebra may take (integration, solving), where that cannot be counted: seconds
               of a processor in its own thread, so that what else the machine is doing changes no result

    A search interrupted from the keyboard raises KeyboardInterrupt, because its result would give a wrong reason for what is
    missing. Searches that report the interruption in their result return what was found so far.
    """

    def __init__(self, attempts: int = 10_000, seconds: float = 5.0):
        self.attempts, self.seconds = attempts, seconds
        self.tried: list[str] = []
        self._spent = 0

    def spend(self, what: str = "", amount: int = 1) -> None:
        """Count an attempt; `what` is recorded for the report."""
        if what:
            self.tried.append(what)
        self._spent += amount
        if self._spent > self.attempts:
            raise BudgetSpentError(f"the budget of {self.attempts} attempts is spent")

    def call(self, function: Callable[..., Result], *args: Any, **options: Any) -> Result | None:
        """The result of a call, or None if it took too long or computer algebra gave up on it."""
        self.spend()
        try:
            return _limited(self.seconds, function, *args, **options)
        except _TimeIsUpError:
            raise
        except (
            BudgetSpentError,
            NotImplementedError,
            ValueError,
            TypeError,
            ArithmeticError,
            RecursionError,
            AttributeError,
        ):
            return None


def _limited(seconds: float, function: Callable[..., Result], *args: Any, **options: Any) -> Result:
    """Call with a limit of processor time, in any thread: a watcher thread raises an exception in this one.

    `over` is set by a plain assignment, so that no exception can arrive between the end of the call and it; after that none
    is raised, and a pending one is received here.
    """
    limit = _Limit(seconds)
    try:
        try:
            _watch(limit)
            return function(*args, **options)
        finally:
            limit.over = True
            with _LOCK:
                reached = limit.reached
            if reached:
                _let_arrive(limit.thread)
    except _TimeIsUpError:
        if limit.reached:
            raise BudgetSpentError(f"a call took more than {seconds} s") from None
        raise


class _TimeIsUpError(BudgetSpentError):
    """Raised by the watcher thread; an inner limited call whose own limit is not reached passes it on."""


@dataclass
class _Limit:
    """How long a call in this thread may go on: by the processor, or many times as long by the clock, if it waits."""

    seconds: float
    thread: int = field(default_factory=threading.get_ident)
    over: bool = False
    reached: bool = False

    def __post_init__(self) -> None:
        self._began, self._later = monotonic(), 0.0
        # Asked for here, since the identity of a thread that has ended must not be used.
        self._clock = time.pthread_getcpuclockid(self.thread) if hasattr(time, "pthread_getcpuclockid") else None
        self._used = self._processor()

    def _processor(self) -> float:
        try:
            return monotonic() if self._clock is None else time.clock_gettime(self._clock)
        except OSError:  # the thread has ended
            return 0.0

    def is_past(self) -> bool:
        """Whether the call has taken too long."""
        long = self._processor() - self._used > self.seconds or monotonic() - self._began > _PATIENCE * self.seconds
        return long and monotonic() > self._later

    def reach(self) -> None:
        """Raise an exception in the thread, and again after a while."""
        self.reached, self._later = True, monotonic() + _AGAIN
        _raise_in(self.thread, _TimeIsUpError)


_LOCK = threading.Lock()
_LIMITS: list[_Limit] = []
_TICK, _AGAIN, _PATIENCE = 0.02, 0.1, 20
"""Seconds between checks of the clock; seconds after which the exception is raised again in a call that continues; how many
times as long as by the processor a call may take by the clock."""


def _watch(limit: _Limit) -> None:
    """Register a deadline. The watcher thread ends when there are none."""
    with _LOCK:
        _LIMITS.append(limit)
        if len(_LIMITS) == 1:
            threading.Thread(target=_look, daemon=True, name="dalembert limits of time").start()


def _look() -> None:
    """Raise an exception in every thread whose call is past its limit.

    Repeatedly, because an exception raised during garbage collection, or caught by other code, is lost.
    """
    before = sys.unraisablehook
    sys.unraisablehook = silent = _silent(before)
    while True:
        sleep(_TICK)
        with _LOCK:
            _LIMITS[:] = [limit for limit in _LIMITS if not limit.over]
            for limit in _LIMITS:
                if limit.is_past() and not limit.over:
                    limit.reach()
            if not _LIMITS:
                if sys.unraisablehook is silent:
                    sys.unraisablehook = before
                return


def _silent(told: Callable[[Any], object]) -> Callable[[Any], object]:
    """What tells of exceptions lost in destructors and callbacks, without ours: they are raised again."""

    def tell(lost: Any) -> None:
        if not (lost.exc_type is not None and issubclass(lost.exc_type, _TimeIsUpError)):
            told(lost)

    return tell


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    """Raise an exception in a thread before its next instruction."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def _let_arrive(thread: int) -> None:
    """Receive an exception that may be pending in this thread.

    Cancelling it leaves CPython 3.11 with the pending flag set: under a profiler or a tracer the next call would hang.
    """
    try:
        _raise_in(thread, _TimeIsUpError)
        while True:
            pass
    except _TimeIsUpError:
        pass


def _after_fork() -> None:
    """A child process has none of the threads of its parent."""
    if _LOCK.locked():
        _LOCK.release()
    _LIMITS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
