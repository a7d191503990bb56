"""StepMap -> callables on arrays: compile once, cache, and call."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StartError
from ..waist.stepmap import StepMap
from . import cache, kernels
from .arguments import Lanes, check_extent, check_numbers, check_search, map_memories, reals, run_memories
from .backends import cuda, llvm, simd, wasm
from .emitter import Backend, Compiler, Emitter, Function, Memory
from .history import HISTORY
from .identity import identity
from .run_options import EXACT, Extent, Search

Array = NDArray[Any]

CPU, VECTORS = "cpu", "simd"
DEVICES = CPU, VECTORS, "cuda"
BACKENDS: dict[str, Backend] = dict(zip(DEVICES, (llvm, simd, cuda), strict=True))
"""What prints, compiles and executes code, by the name of the device that it runs on, and of its precision if that is not
double."""

DOUBLE, COARSER = "double", ("single", "mixed")
for _precision in COARSER:
    BACKENDS[f"cuda {_precision}"] = cuda.InPrecision(_precision)  # type: ignore[arg-type]

LONG = {"run": 10_000, "apply": 2_000, "adaptive": 10_000}
"""Lines of LLVM IR from which a function is compiled with little optimisation.

Code this long is straight-line arithmetic, shared and hoisted already. The optimiser takes seconds over it, and steps of a
chain of 20 links are then 1.7 times as fast: not worth the wait below some 10^5 steps. A map is applied to far fewer points.
"""


def _name(compiler: Compiler, device: str, kind: str, what: str) -> str:
    """The name of code in the cache."""
    return cache.key(device, kind, what, compiler.processor())


def _code(
    compiler: Compiler, device: str, kind: str, what: str, emit: Callable[[Emitter], None], arguments: dict[str, str]
) -> bytes:
    name = _name(compiler, device, kind, what)
    code = cache.fetch(name)
    if code is None or not compiler.is_object(code):
        emitter = compiler.emitter(kind, arguments)
        emit(emitter)
        code = compiler.compile_module(emitter.module(), LONG[kind])
        cache.keep(name, code)
    return code


@lru_cache(maxsize=256)
def _function(
    device: str, kind: str, what: str, emit: Callable[[Emitter], None], arguments: tuple[tuple[str, str], ...]
) -> Function:
    backend = BACKENDS[device]
    code = _code(backend, device, kind, what, emit, dict(arguments))
    return backend.load(code, kind, dict(arguments))


WORTH, WORTH_LOADING = 1_000_000, 30_000
"""Steps of all lanes from which on code for vectors is compiled too, as it saves about the time of its compilation; and from
which on it is loaded if an earlier run has compiled it."""


class _Emit:
    """An emitting function that compares equal to any other: in cache keys the identity next to it decides."""

    def __init__(self, emit: Callable[[Emitter, Any], None], stepmap: StepMap | None):
        self._emit, self._stepmap = emit, stepmap

    def __call__(self, emitter: Emitter) -> None:
        self._emit(emitter, self._stepmap)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Emit)

    def __hash__(self) -> int:
        return 0


def compiled_function(
    kind: str, what: str, emit: Callable[[Emitter], None], arguments: dict[str, str], device: str = CPU
) -> Function:
    """A function for this processor, by the identity of what it is made of: for a lane, or for vectors of them."""
    return _function(device, kind, what, _Emit(lambda e, _: emit(e), None), tuple(arguments.items()))


class LaneFunction:
    """A function of many lanes for a device; on the processor also in vectors of lanes, which have the same bits."""

    def __init__(
        self, kind: str, what: str, emit: Callable[[Emitter], None], arguments: dict[str, str], device: str = CPU
    ):
        self._kind, self._what, self._emit, self._arguments, self._device = kind, what, emit, arguments, device
        self._alone = self._compiled(device)
        self._together: Function | None = None

    def _compiled(self, device: str) -> Function:
        return compiled_function(self._kind, self._what, self._emit, self._arguments, device)

    def takes(self, lanes: int) -> bool:
        """Whether so many lanes fill vectors."""
        return self._device == CPU and lanes >= simd.FEW

    def in_vectors(self) -> None:
        """Compute lanes in vectors from now on."""
        self._together = self._compiled(VECTORS)

    def expect(self, lanes: int, worth: bool, worth_loading: bool) -> None:
        """Have the code for vectors ready: if it is worth compiling it, or loading what an earlier run has compiled."""
        if self._together is None and self.takes(lanes) and worth_loading:
            name = _name(simd, VECTORS, self._kind, self._what)
            if worth or cache.fetch(name) is not None:
                self.in_vectors()

    def of(self, lanes: int) -> Function:
        """The code for so many lanes."""
        return self._together if self._together and self.takes(lanes) else self._alone


class Stepper:
    """The compiled time loop of a StepMap, for a device."""

    def __init__(self, stepmap: StepMap, device: str = CPU):
        self.stepmap, self._backend = stepmap, BACKENDS[device]

        def emit(e: Emitter) -> None:
            kernels.emit_run(e, stepmap)

        self._code = LaneFunction("run", identity(stepmap), emit, kernels.RUN_ARGUMENTS, device)

    def expect(self, lanes: int, steps: int) -> Stepper:
        """The same; on the processor it is also compiled for vectors of lanes if so much work is worth it."""
        work = lanes * steps
        self._code.expect(lanes, work >= WORTH, work >= WORTH_LOADING)
        return self

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
            carry[:, kernels.motion_width(self.stepmap) - 1] = 1
        return carry

    def advance(
        self, lanes: Lanes, out: Array, extent: Extent, search: Search = EXACT, *, row: int = 0, closing: bool = False
    ) -> None:
        """Advance all lanes in place; `out` has shape (lanes, rows, width) and is written from `row` on.

        With `closing` the node after the last step is recorded too.
        """
        memories = run_memories(self.stepmap, lanes, out)
        counts = check_extent(extent, closing, row, out.shape[1])
        if self._backend.own_memory:  # it gets the rows that are written
            due = out[:, row : row + extent.part(0, extent.steps + closing).due]
            counts[-2:] = 0, due.shape[1]
            records = memories[2]
            memories[2] = Memory(records.role, np.ascontiguousarray(due), records.kind, due.shape)
        numbers = len(self.stepmap.parameters), *counts, *check_numbers(t0=extent.t0, h=extent.h), *check_search(search)
        call = self._code.of(len(lanes.carry))
        call(memories, len(lanes.carry), len(lanes.carry) * (counts[1] + 1), numbers)
        if self._backend.own_memory:
            due[:] = memories[2].array

    def kept(self, lanes: Lanes) -> AbstractContextManager[None]:
        """Keep the arrays of lanes on the device from call to call; afterwards they are here again."""
        return self._backend.kept(lanes.carry, lanes.parameters, lanes.status, lanes.residual)

    @property
    def patience(self) -> float:
        """Seconds that a call of a long run should take."""
        return self._backend.patience


KERNELS = {
    "run": (kernels.emit_run, kernels.RUN_ARGUMENTS),
    "apply": (kernels.emit_apply, kernels.APPLY_ARGUMENTS),
}


def browser_module(stepmap: StepMap, kind: str) -> bytes:
    """The time loop of a step map ("run"), or the map applied to points ("apply"), as a WebAssembly module."""
    emit, arguments = KERNELS[kind]
    return _code(wasm, "browser", kind, identity(stepmap), _Emit(emit, stepmap), arguments)


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
        memories = map_memories(self.stepmap, points, rows, out, status)
        stride = stride if len(rows) == len(points) else 0
        self._call(memories, len(points), len(points), (stride, *check_numbers(t=t, h=h)))
        return out, status
