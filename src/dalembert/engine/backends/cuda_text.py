"""CUDA C as text: one kernel, in which a thread computes a lane.

The text is C++ as well, so that it can be compiled and run on a processor where there is no GPU. Every value is a variable
declared at the top of the function: a value of one block may be used in a later one, as in LLVM IR.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from math import isinf, isnan, pi
from typing import Literal

import numpy as np

from ..emitter import Array, Emitter, Handle, Index, Kind
from .trigonometry import COS, HALF_PI, LIMIT, SIN

Precision = Literal["double", "single", "mixed"]
"""Of the numbers of a lane: all doubles; all floats; or states and sums as doubles, and floats where equations are solved."""

COARSE = 2.0**29
"""The rounding error of a float, in those of doubles."""

LEAST_FLOAT = 1e-18
"""The square of a float larger than this is represented."""
_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%"}
_RELATIONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}

HALF_PI_REST = 6.123233995736766e-17
"""What the double nearest to pi/2 lacks."""

SIN_FLOAT = (-0.16666666, 0.008333333, -0.00019841270, 2.7557319e-06)
COS_FLOAT = (0.041666668, -0.0013888889, 2.4801587e-05, -2.7557319e-07)
LIMIT_FLOAT = 2.0**20

THREADS = 128
"""Lanes of a block of threads."""

SHORT = 3000
"""Lines of a kernel up to which three blocks, else two, share a multiprocessor and its registers: measured on an H200, a third
block is 5 to 20 % faster for two or three unknowns, and half as fast for the six of a rolling disk, where numbers are moved
to memory."""


def _nested(coefficients: Sequence[float], suffix: str) -> str:
    """A polynomial in z by Horner's rule."""
    text = f"{coefficients[-1]!r}{suffix}"
    for c in reversed(coefficients[:-1]):
        text = f"fma{suffix}(z, {text}, {c!r}{suffix})"
    return text


def _sine_and_cosine(kind: str, reduction: str, sine: Sequence[float], cosine: Sequence[float], limit: float) -> str:
    """Both functions without a branch for arguments below a limit, as in `trigonometry`, and by the library beyond."""
    f = "f" if kind == "float" else ""
    return f"""\
DEVICE void sine_and_cosine({kind} x, {kind} *s, {kind} *c) {{
  if (!(fabs{f}(x) < {limit}{f})) {{ both_far(x, s, c); return; }}
{reduction}
  {kind} z = r * r, near = fma{f}(z, -0.5{f}, 1.0{f}), lost = fma{f}(z, -0.5{f}, 1.0{f} - near);
  {kind} sine = r + fma{f}(r * z, {_nested(sine, f)}, low * near);
  {kind} cosine = near + fma{f}(z * z, {_nested(cosine, f)}, lost - r * low);
  int turns = (int)k;
  {kind} even = turns & 1 ? cosine : sine, odd = turns & 1 ? sine : cosine;
  *s = turns & 2 ? -even : even;
  *c = (turns + 1) & 2 ? -odd : odd;
}}
"""


REDUCED = f"""\
  double k = rint(x * {2 / pi!r});
  double first = fma(-k, {HALF_PI[0]!r}, x), second = -k * {HALF_PI[1]!r};
  double r = first + second, part = r - first;
  double low = fma(-k, {HALF_PI[2]!r}, (first - (r - part)) + (second - part));"""

REDUCED_FLOAT = f"""\
  double k = rint(x * {2 / pi!r}), whole = fma(-k, {HALF_PI_REST!r}, fma(-k, {pi / 2!r}, (double)x));
  float r = (float)whole, low = (float)(whole - r);"""
"""With doubles: digits cancel beside multiples of pi/2."""

SINE_AND_COSINE = _sine_and_cosine("double", REDUCED, SIN, COS, LIMIT) + _sine_and_cosine(
    "float", REDUCED_FLOAT, SIN_FLOAT, COS_FLOAT, LIMIT_FLOAT
)

PRELUDE = f"""\
#ifdef __CUDACC__
#define TABLE __device__ const long long
#define KERNEL extern "C" __global__ void __launch_bounds__({THREADS}, BLOCKS)
#define FIRST_LANE (blockIdx.x * (long long)blockDim.x + threadIdx.x)
#define LANES_TOGETHER (gridDim.x * (long long)blockDim.x)
#define DEVICE static __device__ __forceinline__
#define FAR static __device__ __noinline__
FAR void both_far(double x, double *s, double *c) {{ sincos(x, s, c); }}
FAR void both_far(float x, float *s, float *c) {{ sincosf(x, s, c); }}
#else
#include <cmath>
using namespace std;
#define TABLE static const long long
#define KERNEL extern "C" void
#define FIRST_LANE 0LL
#define LANES_TOGETHER 1LL
#define __restrict__ __restrict
#define DEVICE static inline
#define FAR static
static inline void both_far(double x, double *s, double *c) {{ *s = sin(x); *c = cos(x); }}
static inline void both_far(float x, float *s, float *c) {{ *s = sinf(x); *c = cosf(x); }}
#endif
#define INFINITE (1e300 * 1e300)
#define NOT_A_NUMBER (INFINITE - INFINITE)
{SINE_AND_COSINE}"""


CHOSEN = 8
"""An array of at most so many numbers is read by comparing the index: so it stays in registers, which have no addresses."""


class CudaEmitter(Emitter):
    """One kernel; arguments are `real`, `integer` or arrays of them."""

    unroll = 8

    def __init__(self, name: str, arguments: dict[str, str], precision: Precision = "double"):
        self._name, self._arguments = name, arguments
        self._now = "double" if precision == "double" else "float"
        self._state = "float" if precision == "single" else "double"
        if self._now == "float":
            self.coarseness, self.least = COARSE, LEAST_FLOAT
        self._sizes: dict[Handle, int] = {}
        self._tables: list[str] = []
        self._lines: list[str] = []
        self._declared: dict[str, list[str]] = {"double": [], "float": [], "long long": [], "bool": []}
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
        return name

    def real(self, value: float) -> Handle:
        if isnan(value):
            return "(INFINITE - INFINITE)"
        if isinf(value):
            return "INFINITE" if value > 0 else "(-INFINITE)"
        return f"({float(value)!r})" if self._now == "double" else f"({np.float32(value).item()!r}f)"

    def arithmetic(self, op: Literal["add", "sub", "mul", "div"], a: Handle, b: Handle) -> Handle:
        return self._do(self._now, f"{a} {_OPERATORS[op]} {b}")

    def negative(self, a: Handle) -> Handle:
        return self._do(self._now, f"-{a}")

    def call(self, function: str, *args: Handle) -> Handle:
        if function in ("sin", "cos"):
            return self._sine_and_cosine(args[0])[function == "cos"]
        suffix = "f" if self._now == "float" else ""
        return self._do(self._now, f"{function}{suffix}({', '.join(args)})")

    def _sine_and_cosine(self, angle: Handle) -> tuple[Handle, Handle]:
        """Both at once, as they occur together nearly always; known from an enclosing block if they are."""
        for known in self._angles:
            if angle in known:
                return known[angle]
        both = self._fresh(self._now), self._fresh(self._now)
        self._lines.append(f"sine_and_cosine({angle}, &{both[0]}, &{both[1]});")
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
        return self._do("long long", f"{_whole(a)} {_OPERATORS[op]} {_whole(b)}")

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

    def _type(self, kind: Kind) -> str:
        return "long long" if kind == "integer" else self._now

    def array_argument(self, name: str) -> Array:
        return Array(name, "real" if self._arguments[name] == "real[]" else "integer")

    def local(self, size: int, kind: Kind = "real") -> Array:
        self._counter += 1
        name = f"a{self._counter}"
        self._declared[self._type(kind)].append(f"{name}[{max(size, 1)}]")
        self._sizes[name] = size
        return Array(name, kind)

    def table(self, values: Sequence[int]) -> Array:
        name = f"table{len(self._tables)}"
        self._tables.append(f"TABLE {name}[] = {{{', '.join(map(str, values or [0]))}}};")
        return Array(name, "integer")

    def load(self, array: Array, at: Index = 0) -> Handle:
        size = self._sizes.get(array.pointer, CHOSEN + 1)
        if not isinstance(at, int) and size <= CHOSEN:
            choices = "".join(f"{at} == {i} ? {array.pointer}[{i}] : " for i in range(size - 1))
            return self._do(self._type(array.kind), f"{choices}{array.pointer}[{size - 1}]")
        return self._do(self._type(array.kind), f"{array.pointer}[{_whole(at)}]")

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
        i = self._fresh("long long")
        with self._block(f"for ({i} = {_whole(begin)}; {i} < {_whole(end)}; {i}++)"):
            yield i

    def module(self) -> str:
        arrays = {"real[]": "double *__restrict__", "integer[]": "long long *__restrict__"}
        numbers = {"real": "double", "integer": "long long"}
        signature = ", ".join(f"{arrays.get(k) or numbers[k]} {n}" for n, k in self._arguments.items())
        declared = [f"{kind} {', '.join(names)};" for kind, names in self._declared.items() if names]
        blocks = f"#define BLOCKS {3 if len(self._lines) < SHORT else 2}"
        return "\n".join(
            [blocks, PRELUDE, *self._tables, f"KERNEL {self._name}({signature})", "{", *declared, *self._lines, "}", ""]
        )


def _whole(value: Index) -> str:
    return str(int(value)) if isinstance(value, int) else value
