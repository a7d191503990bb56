"""Lanes divided among threads: as many as there are cores, or as the calling thread was told."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

WORTH = 20_000
"""Steps of all lanes from which on threads are worth their start."""

PARTS = 4
"""Ranges of lanes for each thread: some lanes need more corrections than others, and a thread that is done takes the next."""


class _Limit(threading.local):
    """The most threads for calls of a thread; None: one for each core."""

    most: int | None = None


LIMIT = _Limit()


def in_threads(compute: Callable[[int, int], None], lanes: int, together: int, work: int) -> None:
    """Call a function for ranges of lanes, whole groups of those that are computed together, in threads if worth it."""
    groups = -(-lanes // together)
    cores = 1 if work < WORTH else min(LIMIT.most or os.cpu_count() or 1, groups)  # os.cpu_count is slow
    if cores == 1:
        compute(0, lanes)
        return
    parts = min(PARTS * cores, groups)
    bounds = [min(groups * i // parts * together, lanes) for i in range(parts + 1)]
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(compute, bounds[:-1], bounds[1:]))
