"""StepMap -> callables on arrays: compile once, keep, and call with lanes spread over threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..stepmap import StepMap
from ..symbolic import Fast
from . import cache, kernels
from .history import HISTORY
from .llvm import LLVMEmitter, compile_module, load, processor

Array = NDArray[Any]


def _text(stepmap: StepMap) -> str:
    """Everything the machine code of a StepMap depends on."""
    blocks = [(b.unknowns, [*map(_exact, b.residual)], [*map(_exact, b.guess)]) for b in stepmap.blocks]
    outputs = [*map(_exact, stepmap.outputs.values())]
    update = [*map(_exact, stepmap.update)]
    guards = [(g.kind, [[*map(_exact, place)] for place in g.places]) for g in stepmap.guards]
    return repr((stepmap.state, stepmap.parameters, blocks, update, outputs, stepmap.substeps, guards))


def _exact(expression: Fast) -> str:
    """An expression as text; SymEngine prints 15 digits of a real number, which does not tell it from its neighbours."""
    import symengine

    reals = expression.atoms(symengine.RealDouble)
    return str(expression.xreplace({r: symengine.Symbol(float(r).hex()) for r in reals}) if reals else expression)


@lru_cache(maxsize=256)
def _function(kind: str, text: str, emit: Callable[[LLVMEmitter], None], arguments: tuple[tuple[str, str], ...]) -> Any:
    name = cache.key(kind, text, processor())
    code = cache.fetch(name)
    if code is None:
        emitter = LLVMEmitter(kind, dict(arguments))
        emit(emitter)
        code = compile_module(emitter.module())
        cache.keep(name, code)
    return load(code, kind, dict(arguments))


class _Emit:
    """An emitting function that compares equal to any other: the text beside it is what identifies the code."""

    def __init__(self, emit: Callable[[LLVMEmitter, StepMap], None], stepmap: StepMap):
        self._emit, self._stepmap = emit, stepmap

    def __call__(self, emitter: LLVMEmitter) -> None:
        self._emit(emitter, self._stepmap)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Emit)

    def __hash__(self) -> int:
        return 0


def _spread(call: Callable[[int, int], None], lanes: int, work: int) -> None:
    """Call on ranges of lanes, on all cores if there is enough to do."""
    cores = 1 if work < 20_000 else min(os.cpu_count() or 1, lanes)  # asking for the number of cores takes a while
    if cores == 1:
        call(0, lanes)
        return
    bounds = np.linspace(0, lanes, cores + 1).astype(int)
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(call, bounds[:-1].tolist(), bounds[1:].tolist()))


class Stepper:
    """The compiled time loop of a StepMap."""

    def __init__(self, stepmap: StepMap):
        self.stepmap = stepmap
        arguments = tuple(kernels.RUN_ARGUMENTS.items())
        self._call = _function("run", _text(stepmap), _Emit(kernels.emit_run, stepmap), arguments)

    @property
    def width(self) -> int:
        """Numbers in a record: state and outputs."""
        return len(self.stepmap.state) + len(self.stepmap.outputs)

    def carry(self, state: Array, seed: Array | None = None) -> Array:
        """What lanes carry at the beginning: their state (what it lacks is zero), and the solution to expect, if known."""
        lanes, n = len(state), len(self.stepmap.sought)
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
        self, carry: Array, parameters: Array, status: Array, residual: Array, out: Array,
        *, begin: int, steps: int, every: int, closing: bool, row: int, t0: float, h: float,
    ) -> None:  # fmt: skip
        """Advance all lanes in place; `out` has shape (lanes, rows, width) and is written from `row` on."""

        def call(first: int, last: int) -> None:
            self._call(
                carry.ctypes.data, parameters.ctypes.data, parameters.shape[1], out.ctypes.data, status.ctypes.data,
                residual.ctypes.data, first, last, begin, steps, every, int(closing), row, out.shape[1], t0, h,
            )  # fmt: skip

        _spread(call, len(carry), len(carry) * (steps + 1))


class PointMap:
    """The compiled form of a map that is applied to points."""

    def __init__(self, stepmap: StepMap):
        self.stepmap = stepmap
        arguments = tuple(kernels.APPLY_ARGUMENTS.items())
        self._call = _function("apply", _text(stepmap), _Emit(kernels.emit_apply, stepmap), arguments)

    def __call__(self, inputs: Array, parameters: Array, h: float = 1.0, t: float = 0.0) -> tuple[Array, Array]:
        """Outputs (points, outputs) and status (points); parameters are one row for all points or one row each."""
        inputs = np.ascontiguousarray(inputs, dtype=float)
        parameters = np.ascontiguousarray(parameters, dtype=float)
        points = len(inputs)
        out = np.full((points, len(self.stepmap.outputs)), np.nan)
        status = np.zeros(points, dtype=np.int64)
        stride = parameters.shape[1] if len(parameters) == points and points > 1 else 0

        def call(first: int, last: int) -> None:
            self._call(
                inputs.ctypes.data, parameters.ctypes.data, stride, out.ctypes.data, status.ctypes.data,
                first, last, t, h,
            )  # fmt: skip

        _spread(call, points, points)
        return out, status
