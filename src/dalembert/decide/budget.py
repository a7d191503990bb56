"""Searches that cannot hang: a budget counts attempts, limits single calls in time, and remembers what was tried."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any, TypeVar

Result = TypeVar("Result")


class BudgetSpentError(Exception):
    """Raised inside a search when its budget is spent; whoever began the search says what had been tried."""


class Budget:
    """What a search may spend.

    attempts:  how many candidates or operations it may try in all
    seconds:   how long one call into computer algebra may take (integration, solving), where that cannot be counted

    A search interrupted from the keyboard raises KeyboardInterrupt: its result would give a wrong reason for what is missing.
    Those that say in their result that they were interrupted keep what was found so far.
    """

    def __init__(self, attempts: int = 10_000, seconds: float = 5.0):
        self.attempts, self.seconds = attempts, seconds
        self.tried: list[str] = []
        self._spent = 0

    def spend(self, what: str = "", amount: int = 1) -> None:
        """Count an attempt; `what` is remembered for the report."""
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
    """Call with a limit of time, in any thread: another thread watches the clock and raises an exception in this one.

    `over` is set by a plain assignment, before which no exception can arrive once the call has ended; from then on none is
    raised, and one that has not arrived yet is let arrive.
    """
    limit = _Limit(threading.get_ident(), monotonic() + seconds)
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
    """Raised by the thread that watches; a call within a limited call, whose own limit is not reached, lets it pass."""


@dataclass
class _Limit:
    """The time at which a call in some thread is to end."""

    thread: int
    deadline: float
    over: bool = False
    reached: bool = False


_LOCK = threading.Lock()
_LIMITS: list[_Limit] = []
_TICK, _AGAIN = 0.02, 0.1
"""Seconds between looks at the clock; seconds after which a call that goes on is stopped again."""


def _watch(limit: _Limit) -> None:
    """Have a call watched. The thread that watches ends when there is nothing to watch."""
    with _LOCK:
        _LIMITS.append(limit)
        if len(_LIMITS) == 1:
            threading.Thread(target=_look, daemon=True, name="dalembert limits of time").start()


def _look() -> None:
    """Raise an exception in every thread whose call goes on beyond its limit.

    Again and again, because an exception raised while garbage is collected, or caught by somebody else, is lost.
    """
    while True:
        sleep(_TICK)
        with _LOCK:
            _LIMITS[:] = [limit for limit in _LIMITS if not limit.over]
            for limit in _LIMITS:
                if monotonic() > limit.deadline and not limit.over:
                    limit.reached, limit.deadline = True, monotonic() + _AGAIN
                    _raise_in(limit.thread, _TimeIsUpError)
            if not _LIMITS:
                return


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    """Raise an exception in a thread before its next instruction."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def _let_arrive(thread: int) -> None:
    """Let an exception that may be on its way to this thread arrive here.

    Taking it back leaves CPython 3.11 looking for it: under a profiler or a tracer the next call would hang.
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
