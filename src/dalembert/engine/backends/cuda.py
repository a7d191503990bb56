"""The CUDA back end: compiles CUDA C with NVRTC through CuPy, and runs a thread for each lane, on all GPUs there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import MethodError
from ..emitter import Memory
from .cuda_text import THREADS, CudaEmitter, Precision

WINDOW = 1 << 31
"""Most bytes of records that are on a device at a time; more lanes are run in groups."""

ALL_BITS = 0xFF
"""A double of such bytes is NaN; setting bytes needs no kernel, which would be compiled first."""

emitter = CudaEmitter

own_memory = True
patience = 1.0


@cache
def _cupy() -> Any:
    """CuPy, if it is installed and sees a GPU."""
    needed = "device='cuda' needs an NVIDIA GPU and CuPy (pip install dalembert[gpu]); device='cpu' uses all cores."
    try:
        import cupy
    except ImportError as error:
        raise MethodError(f"CuPy cannot be imported: {error}. {needed}") from None
    try:
        cupy.cuda.runtime.getDeviceCount()  # raises an error if there is none
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise MethodError(f"No GPU was found: {error}. {needed}") from None
    return cupy


def devices() -> list[int]:
    """The GPUs among which lanes are divided."""
    return list(range(_cupy().cuda.runtime.getDeviceCount()))


@cache
def _architecture() -> str:
    """The compute capability of the first GPU, which stands for all."""
    return str(_cupy().cuda.Device(devices()[0]).compute_capability)


@cache
def processor() -> str:
    """What compiled code depends on besides its source: versions of CuPy, CUDA and SymEngine, and the GPU."""
    import symengine

    cupy = _cupy()
    tools = f"cupy {cupy.__version__} nvrtc {cupy.cuda.nvrtc.getVersion()} symengine {symengine.__version__}"
    return f"{tools} sm_{_architecture()}"


def compile_module(text: str, most: int) -> bytes:
    """CUDA C -> code for this GPU, optimised unless the text has more than `most` lines."""
    nvrtc = _cupy().cuda.nvrtc
    program = nvrtc.createProgram(text, "lanes.cu", [], [])
    options = [f"--gpu-architecture=sm_{_architecture()}"]
    if text.count("\n") > most:
        options.append("--ptxas-options=-O1")
    try:
        nvrtc.compileProgram(program, options)
    except nvrtc.NVRTCError as error:
        raise RuntimeError(f"NVRTC: {error}\n{nvrtc.getProgramLog(program)}") from None
    code: bytes = nvrtc.getCUBIN(program)
    return code


def is_object(code: bytes) -> bool:
    """Whether code that was kept is that of a GPU: an ELF file."""
    return code.startswith(b"\x7fELF") and len(code) > 64


class _Share(NamedTuple):
    """Consecutive lanes that are on one device."""

    device: int
    first: int
    last: int


def _shares(lanes: int) -> list[_Share]:
    where = devices()[: max(lanes, 1)]
    bounds = np.linspace(0, lanes, len(where) + 1).astype(int).tolist()
    return [_Share(d, a, b) for d, (a, b) in zip(where, pairwise(bounds), strict=True)]


_kept: dict[int, dict[_Share, Any]] = {}
"""Device copies of arrays that stay on the device between calls, by the address of the array."""


@contextmanager
def kept(*arrays: NDArray[Any]) -> Iterator[None]:
    """Keep arrays with a row for each lane on the device; what was changed there is copied back at the end."""
    here = [a for a in arrays if a.size]
    for a in here:
        _kept[a.ctypes.data] = {s: _on_device(a, s) for s in _shares(len(a))}
    try:
        yield
    finally:
        for a in here:
            for s, copy in _kept.pop(a.ctypes.data).items():
                _copy_back(copy, a, s)


def _on_device(array: NDArray[Any], s: _Share) -> Any:
    """The device copy of the rows of some lanes."""
    cupy = _cupy()
    with cupy.cuda.Device(s.device):
        return cupy.asarray(array[s.first : s.last])


def _copy_back(copy: Any, array: NDArray[Any], s: _Share) -> None:
    with _cupy().cuda.Device(s.device):
        array[s.first : s.last] = copy.get()


class Kernel:
    """A compiled function, called with arrays of this computer."""

    def __init__(self, code: bytes, name: str, arguments: dict[str, str]):
        self._code, self._name = code, name
        self._functions: dict[int, Any] = {}

    def __call__(self, memories: Sequence[Memory], lanes: int, work: int, numbers: Sequence[float]) -> None:
        """Execute for all lanes; each device has some of them."""
        shares = _shares(lanes)
        if len(shares) == 1:
            self._run(shares[0], memories, numbers)
            return
        with ThreadPoolExecutor(len(shares)) as pool:
            list(pool.map(lambda s: self._run(s, memories, numbers), shares))

    def _run(self, s: _Share, memories: Sequence[Memory], numbers: Sequence[float]) -> None:
        """The lanes of one device; records are copied group by group, other arrays at once unless they are kept there."""
        cupy = _cupy()
        with cupy.cuda.Device(s.device):
            copies = {m.role: self._copy(m, s) for m in memories if m.role != "records"}
            records = next(m.array for m in memories if m.role == "records")
            row = records[:1].nbytes
            group = max(1, WINDOW // max(row, 1))
            for first in range(s.first, s.last, group):
                last = min(first + group, s.last)
                window = cupy.empty((last - first, *records.shape[1:]))
                cupy.cuda.runtime.memset(window.data.ptr, ALL_BITS, window.nbytes)
                begun = window.data.ptr - (first - s.first) * row
                at = [begun if m.role == "records" else copies[m.role].data.ptr for m in memories]
                blocks = -(-(last - first) // THREADS)
                function = self._function(s.device)
                function((blocks,), (THREADS,), (*at, first - s.first, last - s.first, *numbers))
                records[first:last] = window.get()
            for m in memories:
                if m.written and m.role != "records" and m.address not in _kept:
                    _copy_back(copies[m.role], m.array, s)

    @staticmethod
    def _copy(m: Memory, s: _Share) -> Any:
        kept_there = _kept.get(m.address) if m.array.size else None
        return kept_there[s] if kept_there else _on_device(m.array, s)

    def _function(self, device: int) -> Any:
        """The function on a device, which is the current one."""
        if device not in self._functions:
            module = _cupy().cuda.function.Module()
            module.load(self._code)
            self._functions[device] = module.get_function(self._name)
        return self._functions[device]


load = Kernel
"""The function that code has under a name; its arguments are arrays, the first and last lane, and numbers."""


class InPrecision:
    """The same with fewer digits: `single`, or `mixed`, where states and sums remain doubles."""

    own_memory, patience, load = own_memory, patience, Kernel
    processor = staticmethod(processor)
    compile_module = staticmethod(compile_module)
    is_object = staticmethod(is_object)
    kept = staticmethod(kept)

    def __init__(self, precision: Precision):
        self._precision = precision

    def emitter(self, name: str, arguments: dict[str, str]) -> CudaEmitter:
        """An empty function."""
        return CudaEmitter(name, arguments, self._precision)
