"""Searches that cannot hang: a budget counts attempts, limits single calls in time, and remembers what was tried."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


class BudgetSpentError(Exception):
    """Raised inside a search when its budget is spent; whoever began the search says what had been tried."""


class Budget:
    """What a search may spend.

    attempts:  how many candidates or operations it may try in all
    seconds:   how long one call into computer algebra may take (integration, solving), where that cannot be counted

    A search interrupted from the keyboard ends like one whose budget is spent, with what was found so far.
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
    """Call with an alarm where there can be one: in the main thread, on systems that have it, if none is set yet."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return function(*args, **options)
    if signal.getitimer(signal.ITIMER_REAL)[0]:
        return function(*args, **options)

    def stop(*_: Any) -> None:
        raise BudgetSpentError(f"a call took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    # Repeated, because an exception raised while garbage is collected is lost.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
    try:
        return function(*args, **options)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
