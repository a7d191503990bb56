"""Runs of methods with a time of their own: where they end, and what they cannot do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import MethodError, StartError
from ..methods.base import Method
from ..methods.own_time import OwnTimeMethod
from ..numbers import MOST, finite
from .given_start import Start
from .options import UNTIL, Options
from .trajectory import Trajectory

FIRST, LONGEST = 1000, 1000 * 2**7
"""Steps of the first and of the longest piece in which the end is looked for."""


def one_motion(method: OwnTimeMethod, start: Start) -> None:
    """Refuse lanes."""
    if start.lanes is not None:
        raise StartError(
            f"start, parameters: {start.lanes} lanes. With {method!r} the steps of each motion have lengths of their own, "
            f"so there is no common time. Simulate them one after the other."
        )


def counted(piece: Callable[..., Trajectory], method: Method | None, start: Any, asked: Options) -> Options:
    """The options with a number of steps in place of the time `until`: the run ends with the first node that is not before it.

    The motion is computed twice, since only its times tell how many steps there are.
    """
    if not isinstance(method, OwnTimeMethod) or asked.until is None or asked.steps is not None:
        return asked
    end = finite(asked.until, "until", MethodError, UNTIL)
    plain = replace(asked, until=None, every=1, progress=False)
    run = piece(start, replace(plain, steps=0))
    if end < run.time[0]:
        raise MethodError(
            f"until = {end:g} lies before the start at t = {run.time[0]:g}. Give a later time, or another start time."
        )
    begin = run.begin
    node = begin
    while run.time[-1] < end:
        size, every = _piece(node)
        after = piece(run, replace(plain, steps=size, every=every))
        if not after.ok or after.time[-1] >= end:
            times = piece(run, replace(plain, steps=size)).time
            return replace(asked, until=None, steps=node - begin + int(np.searchsorted(times, end)))
        node, run = node + size, after
        if node > MOST:
            raise MethodError(f"until = {end:g}{UNTIL}")
    return replace(asked, until=None, steps=0)


def _piece(node: int) -> tuple[int, int]:
    """How many steps are made from a node on at once, and how many lie between records: the last node is recorded."""
    if node % FIRST:
        return FIRST - node % FIRST, 1
    size = FIRST
    while node > 0 and size < LONGEST and node % (2 * size) == 0:
        size *= 2
    return size, size
