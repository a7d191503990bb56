"""CUDA C as text: one kernel, in which a thread computes a lane.

The text is C++ as well, so that it can be compiled and run on a processor where there is no GPU. Every value is a variable
declared at the top of the function: a value of one block may be used in a later one, as in LLVM IR.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from math import isinf, isnan
from typing import Literal

import numpy as np

from ..emitter import Array, Emitter, Handle, Index, Kind
from .cuda_angles import FUNCTIONS, MACHINE, call, together

Precision = Literal["double", "single", "mixed"]
"""Of the numbers of a lane: all doubles; all floats; or states and sums as doubles, and floats where equations are solved."""

COARSE = 2.0**29
"""The rounding error of a float, in those of doubles."""

LEAST_FLOAT = 1e-18
"""The square of a float larger than this is represented."""

LARGEST, LARGEST_FLOAT = 2.0**1020, 2.0**124
"""Numbers below this have a reciprocal that rough_reciprocal does not take for zero."""

_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%"}
_RELATIONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}

THREADS = 128
"""Lanes of a block of threads."""

SHORT = 3000
"""Lines of a kernel up to which three blocks, else two, share a multiprocessor and its registers: measured on an H200, a third
block is 5 to 20 % faster for two or three unknowns, and half as fast for the six of a rolling disk, where numbers are moved
to memory."""


PRELUDE = f"""\
{MACHINE}
#ifdef __CUDACC__
#define TABLE __device__ const int
#define KERNEL extern "C" __global__ void __launch_bounds__({THREADS}, BLOCKS)
#define FIRST_LANE (blockIdx.x * (long long)blockDim.x + threadIdx.x)
#define LANES_TOGETHER (gridDim.x * (long long)blockDim.x)
DEVICE double rough_reciprocal(double x) {{ double y; asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x)); return y; }}
DEVICE float rough_reciprocal(float x) {{ float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }}
DEVICE double refined(double y, double x) {{ return fma(y, fma(-x, y, 1.0), y); }}
DEVICE double reciprocal(double x) {{ return refined(refined(rough_reciprocal(x), x), x); }}
DEVICE float reciprocal(float x) {{ float y = rough_reciprocal(x); return fmaf(y, fmaf(-x, y, 1.0f), y); }}
#else
#define TABLE static const int
#define KERNEL extern "C" void
#define FIRST_LANE 0LL
#define LANES_TOGETHER 1LL
#define __restrict__ __restrict
DEVICE double rough_reciprocal(double x) {{ return 1 / x; }}
DEVICE float rough_reciprocal(float x) {{ return 1 / x; }}
DEVICE double reciprocal(double x) {{ return 1 / x; }}
DEVICE float reciprocal(float x) {{ return 1 / x; }}
#endif
#define INFINITE (1e300 * 1e300)
#define NOT_A_NUMBER (INFINITE - INFINITE)
{FUNCTIONS}"""


CHOSEN = 8
"""An array of at most so many numbers is read by comparing the index: so it stays in registers, which have no addresses."""


class CudaEmitter(Emitter):
    """One kernel; arguments are `real`, `integer` or arrays of them."""

    unroll = 8

    def __init__(self, name: str, arguments: dict[str, str], precision: Precision = "double"):
        self._name, self._arguments = name, arguments
        self._wide = {a for a, kind in arguments.items() if kind.startswith("integer")}
        self._now = "double" if precision == "double" else "float"
        self._state = "float" if precision == "single" else "double"
        self.largest = LARGEST
        if self._now == "float":
            self.coarseness, self.least, self.largest = COARSE, LEAST_FLOAT, LARGEST_FLOAT
        self._sizes: dict[Handle, int] = {}
        self._tables: list[str] = []
        self._lines: list[str] = []
        self._declared: dict[str, list[str]] = {"double": [], "float": [], "int": [], "long long": [], "bool": []}
        self._counter = 0
        self._angles: list[dict[Handle, tuple[Handle, Handle]]] = [{}]

    def _fresh(self, kind: str) -> str:
        self._counter += 1
        name = f"v{self._counter}"
        self._declared[kind].append(name)
        return name

    def _do(self, kind: str, text: str) -> Handle:
        name = self._fresh(kind)
        self._lines.append(f"{name} = {text};")
        if kind == "long long":
            self._wide.add(name)
        return name

    def real(self, value: float) -> Handle:
        if isnan(value):
            return "(INFINITE - INFINITE)"
        if isinf(value):
            infinite = "INFINITE" if self._now == "double" else "((float)INFINITE)"
            return infinite if value > 0 else f"(-{infinite})"
        return f"({float(value)!r})" if self._now == "double" else f"({np.float32(value).item()!r}f)"

    def arithmetic(self, op: Literal["add", "sub", "mul", "div"], a: Handle, b: Handle) -> Handle:
        return self._do(self._now, f"{a} {_OPERATORS[op]} {b}")

    def negative(self, a: Handle) -> Handle:
        return self._do(self._now, f"-{a}")

    def call(self, function: str, *args: Handle) -> Handle:
        if function in ("sin", "cos"):
            return self._sine_and_cosine(args[0])[function == "cos"]
        if self._now == "float":
            return self._do("float", f"{function}f({', '.join(args)})")
        return self._do(
            "double", f"{function}({', '.join(f'(double){a}' for a in args)})"
        )  # of several, some may be floats

    def rough_reciprocal(self, a: Handle) -> Handle:
        return self._do(self._now, f"rough_reciprocal({a})")

    def reciprocal(self, a: Handle) -> Handle:
        return self._do(self._now, f"reciprocal({a})")

    def rough_quotient(self, a: Handle, b: Handle) -> Handle:
        return self.arithmetic("mul", a, self.rough_reciprocal(b))

    def _sine_and_cosine(self, angle: Handle) -> tuple[Handle, Handle]:
        """Both at once, as they occur together nearly always; known from an enclosing block if they are."""
        for known in self._angles:
            if angle in known:
                return known[angle]
        both = self._fresh(self._now), self._fresh(self._now)
        self._lines.append(call(angle, *both))
        self._angles[-1][angle] = both
        return both

    def compare(self, relation: Literal["lt", "le", "eq", "ne"], a: Handle, b: Handle) -> Handle:
        return self._do("bool", f"{a} {_RELATIONS[relation]} {b}")

    def select(self, condition: Handle, a: Handle, b: Handle) -> Handle:
        return self._do(self._now, f"{condition} ? {a} : {b}")

    def both(self, a: Handle, b: Handle) -> Handle:
        return self._do("bool", f"{a} && {b}")

    def either(self, a: Handle, b: Handle) -> Handle:
        return self._do("bool", f"{a} || {b}")

    def opposite(self, a: Handle) -> Handle:
        return self._do("bool", f"!{a}")

    def truth(self, value: bool) -> Handle:
        return "true" if value else "false"

    def integer_arithmetic(self, op: Literal["add", "sub", "mul", "rem"], a: Index, b: Index) -> Handle:
        return self._do(self._width(a, b), f"{_whole(a)} {_OPERATORS[op]} {_whole(b)}")

    def integer_compare(self, relation: Literal["lt", "le", "eq", "ne"], a: Index, b: Index) -> Handle:
        return self._do("bool", f"{_whole(a)} {_RELATIONS[relation]} {_whole(b)}")

    def as_real(self, a: Index) -> Handle:
        return self._do(self._now, f"({self._now}){_whole(a)}")

    def argument(self, name: str) -> Handle:
        return f"((float){name})" if self._now == "float" and self._arguments[name] == "real" else name

    @contextmanager
    def _with(self, kind: str) -> Iterator[None]:
        before, self._now = self._now, kind
        self._angles.append({})
        yield
        self._angles.pop()
        self._now = before

    def precise(self) -> AbstractContextManager[None]:
        return self._with(self._state)

    def timed(self) -> AbstractContextManager[None]:
        return self._with("double")

    def here(self, a: Handle) -> Handle:
        return self._do(self._now, a) if self._now == "float" else a

    def _width(self, *values: Index) -> str:
        """The type of a result of integers: of 64 bits if one of them is, which takes twice as long."""
        return "long long" if any(v in self._wide for v in values) else "int"

    def array_argument(self, name: str) -> Array:
        return Array(name, "real" if self._arguments[name] == "real[]" else "integer")

    def local(self, size: int, kind: Kind = "real") -> Array:
        return self._array(size, kind, "int" if kind == "integer" else self._now)

    def totals(self, size: int) -> Array:
        array = self._array(size, "integer", "long long")
        self._wide.add(array.pointer)
        return array

    def counter(self) -> Array:
        return self.totals(1)

    def _array(self, size: int, kind: Kind, type: str) -> Array:
        self._counter += 1
        name = f"a{self._counter}"
        self._declared[type].append(f"{name}[{max(size, 1)}]")
        self._sizes[name] = size
        return Array(name, kind)

    def table(self, values: Sequence[int]) -> Array:
        name = f"table{len(self._tables)}"
        self._tables.append(f"TABLE {name}[] = {{{', '.join(map(str, values or [0]))}}};")
        return Array(name, "integer")

    def load(self, array: Array, at: Index = 0) -> Handle:
        size = self._sizes.get(array.pointer, CHOSEN + 1)
        type = self._now if array.kind == "real" else self._width(array.pointer)
        if not isinstance(at, int) and size <= CHOSEN:
            choices = "".join(f"{at} == {i} ? {array.pointer}[{i}] : " for i in range(size - 1))
            return self._do(type, f"{choices}{array.pointer}[{size - 1}]")
        return self._do(type, f"{array.pointer}[{_whole(at)}]")

    def store(self, array: Array, value: Index, at: Index = 0) -> None:
        self._lines.append(f"{array.pointer}[{_whole(at)}] = {_whole(value)};")

    @contextmanager
    def _block(self, head: str) -> Iterator[None]:
        self._lines.append(head + " {")
        self._angles.append({})
        yield
        self._angles.pop()
        self._lines.append("}")

    @contextmanager
    def lanes(self, first: Index, last: Index) -> Iterator[Handle]:
        lane = self._fresh("long long")
        self._wide.add(lane)
        begin, end = _whole(first), _whole(last)
        with self._block(f"for ({lane} = {begin} + FIRST_LANE; {lane} < {end}; {lane} += LANES_TOGETHER)"):
            yield lane

    def when(self, condition: Handle) -> AbstractContextManager[None]:
        return self._block(f"if ({condition})")

    def forever(self) -> AbstractContextManager[None]:
        return self._block("for (;;)")

    def leave_if(self, condition: Handle) -> None:
        self._lines.append(f"if ({condition}) break;")

    @contextmanager
    def loop(self, begin: Index, end: Index) -> Iterator[Handle]:
        width = self._width(begin, end)
        i = self._fresh(width)
        if width == "long long":
            self._wide.add(i)
        with self._block(f"for ({i} = {_whole(begin)}; {i} < {_whole(end)}; {i}++)"):
            yield i

    def module(self) -> str:
        arrays = {"real[]": "double *__restrict__", "integer[]": "long long *__restrict__"}
        numbers = {"real": "double", "integer": "long long"}
        signature = ", ".join(f"{arrays.get(k) or numbers[k]} {n}" for n, k in self._arguments.items())
        declared = [f"{kind} {', '.join(names)};" for kind, names in self._declared.items() if names]
        blocks = f"#define BLOCKS {3 if len(self._lines) < SHORT else 2}"
        return "\n".join(
            [
                blocks,
                PRELUDE,
                *self._tables,
                f"KERNEL {self._name}({signature})",
                "{",
                *declared,
                *together(self._lines),
                "}",
                "",
            ]
        )


def _whole(value: Index) -> str:
    return str(int(value)) if isinstance(value, int) else value
