"""StepMap -> callables on arrays: compile once, cache, and call with lanes distributed over threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StartError
from ..waist.stepmap import StepMap
from . import cache, kernels
from .arguments import Lanes, check_extent, check_numbers, check_search, map_addresses, reals, run_addresses
from .backends import llvm
from .emitter import Backend, Emitter
from .history import HISTORY
from .identity import identity
from .run_options import EXACT, Extent, Search

Array = NDArray[Any]

CPU = "cpu"
BACKENDS: dict[str, Backend] = {CPU: llvm}
"""What prints and compiles code, by the name of the device that it runs on."""

LONG = {"run": 10_000, "apply": 2_000}
"""Lines of LLVM IR from which a function is compiled with little optimisation.

Code this long is straight-line arithmetic, shared and hoisted already. The optimiser takes seconds over it, and steps of a
chain of 20 links are then 1.7 times as fast: not worth the wait below some 10^5 steps. A map is applied to far fewer points.
"""


@lru_cache(maxsize=256)
def _function(
    device: str, kind: str, what: str, emit: Callable[[Emitter], None], arguments: tuple[tuple[str, str], ...]
) -> Any:
    backend = BACKENDS[device]
    name = cache.key(device, kind, what, backend.processor())
    code = cache.fetch(name)
    if code is None or not backend.is_object(code):
        emitter = backend.emitter(kind, dict(arguments))
        emit(emitter)
        code = backend.compile_module(emitter.module(), LONG[kind])
        cache.keep(name, code)
    return backend.load(code, kind, dict(arguments))


class _Emit:
    """An emitting function that compares equal to any other: in cache keys the identity next to it decides."""

    def __init__(self, emit: Callable[[Emitter, StepMap], None], stepmap: StepMap):
        self._emit, self._stepmap = emit, stepmap

    def __call__(self, emitter: Emitter) -> None:
        self._emit(emitter, self._stepmap)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Emit)

    def __hash__(self) -> int:
        return 0


def _spread(call: Callable[[int, int], None], lanes: int, work: int) -> None:
    """Call on ranges of lanes, on all cores if there is enough work."""
    cores = 1 if work < 20_000 else min(os.cpu_count() or 1, lanes)  # os.cpu_count is slow
    if cores == 1:
        call(0, lanes)
        return
    bounds = np.linspace(0, lanes, cores + 1).astype(int)
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(call, bounds[:-1].tolist(), bounds[1:].tolist()))


class Stepper:
    """The compiled time loop of a StepMap, for a device."""

    def __init__(self, stepmap: StepMap, device: str = CPU):
        self.stepmap = stepmap
        arguments = tuple(kernels.RUN_ARGUMENTS.items())
        self._call = _function(device, "run", identity(stepmap), _Emit(kernels.emit_run, stepmap), arguments)

    @property
    def width(self) -> int:
        """Numbers in a record: state and outputs."""
        return len(self.stepmap.state) + len(self.stepmap.outputs)

    def carry(self, state: Array, seed: Array | None = None) -> Array:
        """The carry of lanes at the beginning: their state (missing columns are zero), and the expected solution, if known."""
        lanes, n = len(state), len(self.stepmap.sought)
        if state.ndim != 2 or state.shape[1] > len(self.stepmap.state):
            raise StartError(
                f"{self.stepmap.name}: a state of shape {state.shape}. Expected rows of {len(self.stepmap.state)} numbers: "
                f"{', '.join(self.stepmap.state)}."
            )
        carry = np.zeros((lanes, kernels.carry_width(self.stepmap)))
        carry[:, : state.shape[1]] = state
        if seed is not None and n:
            first = len(self.stepmap.state) + len(self.stepmap.summed)
            for _ in self.stepmap.substeps:
                carry[:, first : first + n] = seed
                first += HISTORY * n
            carry[:, -1] = 1
        return carry

    def advance(
        self, lanes: Lanes, out: Array, extent: Extent, search: Search = EXACT, *, row: int = 0, closing: bool = False
    ) -> None:
        """Advance all lanes in place; `out` has shape (lanes, rows, width) and is written from `row` on.

        With `closing` the node after the last step is recorded too.
        """
        carried, rows, records, codes, rho = run_addresses(self.stepmap, lanes, out)
        counts = check_extent(extent, closing, row, out.shape[1])
        t0, h = check_numbers(t0=extent.t0, h=extent.h)
        ends, stride = check_search(search), len(self.stepmap.parameters)

        def call(first: int, last: int) -> None:
            self._call(carried, rows, stride, records, codes, rho, first, last, *counts, t0, h, *ends)

        _spread(call, len(lanes.carry), len(lanes.carry) * (counts[1] + 1))


class PointMap:
    """The compiled form of a map that is applied to points."""

    def __init__(self, stepmap: StepMap):
        self.stepmap = stepmap
        arguments = tuple(kernels.APPLY_ARGUMENTS.items())
        self._call = _function(CPU, "apply", identity(stepmap), _Emit(kernels.emit_apply, stepmap), arguments)

    def __call__(self, inputs: Array, parameters: Array, h: float = 1.0, t: float = 0.0) -> tuple[Array, Array]:
        """Outputs (points, outputs) and status (points); parameters are one row for all points or one row each."""
        name, stride = self.stepmap.name, len(self.stepmap.parameters)
        points = reals(inputs, f"{name}, inputs", len(self.stepmap.state))
        rows = reals(parameters, f"{name}, parameters", stride)
        out = np.full((len(points), len(self.stepmap.outputs)), np.nan)
        status = np.zeros(len(points), dtype=np.int64)
        addresses = map_addresses(self.stepmap, points, rows, out, status)
        stride = stride if len(rows) == len(points) else 0
        t, h = check_numbers(t=t, h=h)

        def call(first: int, last: int) -> None:
            self._call(*addresses[:2], stride, *addresses[2:], first, last, t, h)

        _spread(call, len(points), len(points))
        return out, status
