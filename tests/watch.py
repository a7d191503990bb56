"""A watch on symbolic calls: every call of computer algebra by the library that takes too long is reported."""

from __future__ import annotations

import functools
import sys
import time

import sympy

from dalembert.decide import budget

LIMIT = 10.0
"""Seconds of a processor from which on a call is reported."""

ENTRIES = (
    "apart", "cancel", "collect", "dsolve", "expand", "expand_trig", "factor", "factor_list", "factor_terms", "integrate",
    "logcombine", "nsolve", "powsimp", "primitive", "radsimp", "roots", "simplify", "solve", "solveset", "together",
    "trigsimp",
)  # fmt: skip
"""Functions of SymPy that may take long."""


class Watch:
    """Times the outermost calls of computer algebra, and keeps those that took longer than the limit."""

    def __init__(self, limit: float = LIMIT, clock=time.thread_time):
        self.limit, self.clock = limit, clock
        self.slow: list[str] = []
        self._inside = False
        self._before: list[tuple[object, str, object]] = []

    def watched(self, function, name: str):
        """The same function, timed when the library calls it."""

        @functools.wraps(function)
        def timed(*args, **options):
            caller = sys._getframe(1).f_globals.get("__name__", "")
            if self._inside or not caller.startswith("dalembert"):
                return function(*args, **options)
            self._inside, start = True, self.clock()
            try:
                return function(*args, **options)
            finally:
                self._inside = False
                if (taken := self.clock() - start) > self.limit:
                    self.slow.append(f"{name} called by {caller} took {taken:.1f} s")

        return timed

    def begin(self) -> None:
        """Watch from now on."""
        places = [(budget, "_limited"), *((sympy, name) for name in ENTRIES if hasattr(sympy, name))]
        for place, name in places:
            self._before.append((place, name, getattr(place, name)))
            setattr(place, name, self.watched(getattr(place, name), name.strip("_")))

    def end(self) -> None:
        """Put everything back."""
        while self._before:
            setattr(*self._before.pop())
