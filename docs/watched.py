"""Cases tried in child processes that are watched: one that crashes or hangs is seen, counted and replaced."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dalembert as da

LIMIT = 10.0
"""Seconds of a processor after which a case is hung; or twenty times as long by the clock."""

MEMORY = 2**31
"""Bytes that a child may take beyond what it has at first."""

BAD = ("wrong", "crashed", "hung")

Case = Callable[[int], str]
"""What came of the case of a number, in one word; "wrong" may be followed by a colon and the reason."""


def watched(case: Case, count: int, workers: int = 2) -> Counter[str]:
    """How many of the cases 0, 1, ..., count - 1 came to what; those that went wrong are printed.

    An error of the library is "refused", any other exception "crashed".
    """
    found: Counter[str] = Counter(dict.fromkeys(("tried", "refused", *BAD), 0))
    running = {worker: _Child(case, worker, workers, count) for worker in range(workers)}

    def note(number: int, how: str, why: str = "") -> None:
        found.update(("tried", how))
        if how in BAD:
            print(f"  case {number}: {how} {why}", file=sys.stderr, flush=True)

    while running:
        for worker, child in list(running.items()):
            try:
                if child.results.poll(0.02):
                    result = child.results.recv()
                    if result is None:
                        child.process.join()
                        del running[worker]
                    else:
                        note(*result)
                    continue
                ended = "hung" if child.is_hung() else ""
            except EOFError:
                ended = "crashed"
            if ended:
                child.process.kill()
                child.process.join()
                note(int(child.at[0]), ended)
                running[worker] = _Child(case, int(child.at[0]) + workers, workers, count)
    return found


class _Child:
    """A process that tries cases; `at` is the case it is at, and the clock and its processor time when that began."""

    def __init__(self, case: Case, first: int, step: int, count: int):
        context = multiprocessing.get_context("fork")
        self.at = context.Array("d", [first, time.monotonic(), 0.0], lock=False)
        self.results, told = context.Pipe(False)
        given = (case, range(first, count, step), self.at, told)
        self.process: Any = context.Process(target=_work, args=given, daemon=True)
        self.process.start()
        told.close()

    def is_hung(self) -> bool:
        _, clock, processor = self.at
        return _processor(self.process.pid) - processor > LIMIT or time.monotonic() - clock > 20 * LIMIT


def _work(case: Case, numbers: range, at: Any, told: Any) -> None:
    size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # ignored in processes that a shell began in the background
    os.umask(0o022)
    warnings.simplefilter("ignore")
    for number in numbers:
        at[0], at[1], at[2] = number, time.monotonic(), time.process_time()
        told.send((number, *_tried(case, number)))
    told.send(None)


def _tried(case: Case, number: int) -> tuple[str, str]:
    try:
        how, _, why = case(number).partition(": ")
        return how, why
    except da.DalembertError as error:
        has_words = 10 < len(str(error)) < 5000
        return ("refused", "") if has_words else ("wrong", f"a message of {len(str(error))} characters")
    except BaseException as error:
        return "crashed", f"{type(error).__name__}: {str(error)[:200]} {_place(error)}"


def _place(error: BaseException) -> str:
    """The last line of the library that an exception went through."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        place = f"({path.name}:{trace.tb_lineno})" if "dalembert" in path.parts else place
        trace = trace.tb_next
    return place


def _processor(process: int) -> float:
    """The seconds that a process has had a processor."""
    try:
        told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")
