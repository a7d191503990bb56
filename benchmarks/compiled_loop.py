"""The compiled time loop of a method alone: no derivation, no compiling, no checks of a run around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import dalembert as da
from dalembert.engine.arguments import Lanes
from dalembert.engine.machine import Stepper
from dalembert.engine.run_options import Extent
from dalembert.methods import Method


class CompiledLoop:
    """One motion of a system by a method, from its start as often as it is asked for."""

    def __init__(
        self,
        system: da.System,
        method: Method,
        *,
        h: float,
        start: Mapping[Any, float],
        parameters: Mapping[Any, float],
    ):
        self.h, self.stepper = h, Stepper(method.step_map(system))
        self.start = da.simulate(system, method, h=h, steps=0, start=start, parameters=parameters).carry
        self.parameters = np.array([[float(parameters[p]) for p in system.parameters]])

    def advance(self, steps: int, every: int) -> tuple[np.ndarray, np.ndarray]:
        """Records (times, columns), and status: code, last step, Newton iterations, corrections."""
        records = np.full((1, steps // every + 1, self.stepper.width), np.nan)
        lane = Lanes.begun(self.start.copy(), self.parameters)
        self.stepper.advance(lane, records, Extent(0.0, self.h, 0, steps, every), closing=steps % every == 0)
        return records[0], lane.status[0]
