"""Whether the records of a run fit into memory, before it starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MethodError

if TYPE_CHECKING:
    from .plan import Plan

_CGROUP = Path("/sys/fs/cgroup")

SMALL = 1 << 16
"""Records of so many bytes fit without asking: reading the free memory takes a seventh of the time of a short run."""


def available() -> int | None:
    """The bytes still available to this process, limited by machine, container and process limit; None if unknown."""
    known = [b for b in (_of_machine(), _of_container(), _of_process()) if b is not None]
    return max(0, min(known)) if known else None


def _of_machine() -> int | None:
    try:
        lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
        sizes = {words[0]: 1024 * int(words[1]) for words in lines if len(words) > 1}
        return sizes["MemAvailable:"] + sizes.get("SwapFree:", 0)
    except (OSError, ValueError, KeyError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _of_container() -> int | None:
    """The limit of the control group (version 2, or 1), less what it uses; cached files do not count as used."""
    for limit, used, statistics, cached in (
        ("memory.max", "memory.current", "memory.stat", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
    ):
        try:
            told = (_CGROUP / statistics).read_text().split()
            spare = int(told[told.index(cached) + 1]) if cached in told else 0
            return int((_CGROUP / limit).read_text()) - int((_CGROUP / used).read_text()) + spare
        except (OSError, ValueError):  # "max" is no limit
            continue
    return None


def _of_process() -> int | None:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        return int(limit - pages * os.sysconf("SC_PAGE_SIZE"))
    except (ImportError, OSError, ValueError):
        return None


def check_fits(plan: Plan, lanes: int, width: int) -> None:
    """Refuse a run whose records do not fit into memory, and suggest an `every=` with which they do."""
    rows = plan.extent.records
    row = 8 * (lanes * width + 3)  # and its time, computed from a whole number and a double
    if rows * row <= SMALL:
        return
    free = available()
    if free is None or rows * row <= free:
        return
    fitting = free // (2 * row) - 2
    told = f"{lanes} lanes x {rows} records" if plan.lanes is not None else f"{rows} records"
    fits = f"Record fewer steps: every={_rounded(-(-plan.extent.steps // fitting))} fits." if fitting > 0 else ""
    remedy = fits or "Not even a few records fit: take fewer lanes at a time."
    raise MethodError(
        f"simulate: {told} of {width} numbers take {size(rows * row)} of memory, and {size(free)} are free. {remedy}"
    )


def _rounded(n: int) -> int:
    """Up to two digits."""
    unit: int = 10 ** max(0, len(str(n)) - 2)
    return -(-n // unit) * unit


def size(count: float) -> str:
    """A number of bytes as text."""
    units = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")
    power = min(max(0, (len(str(int(count))) - 1) // 3), len(units) - 1)
    return f"{count / 1000**power:.3g} {units[power]}"
