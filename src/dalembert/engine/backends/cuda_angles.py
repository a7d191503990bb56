"""Sine and cosine together in CUDA C, and calls of several angles as one.

An argument x is reduced to r = x - k pi/2 with |r| <= pi/4; pi/2 is a sum of three numbers of full length, and each
product and sum is rounded once, the first not at all: r has an error of at most one unit in the last place. Then

    sin r = r + r z p(z)        cos r = 1 - z/2 + z^2 q(z)        z = r^2

The nearest integer k is what a large constant rounds x 2/pi to, so its last bits are read where they stand. Arguments beyond
1e5, for which k has too many digits, and those that are not finite, go to the library. The branch to it would keep the
processor from working on several angles at a time, so those of a straight piece of code whose arguments do not need each
other are computed under one branch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import pi

from .trigonometry import COS, SIN

HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
HALF_PI_FLOAT = (1.5707964, -4.371139e-08, -1.7151245e-15)
"""pi/2 as a sum of three doubles, and of three floats."""

SIN_FLOAT = (-0.16666666, 0.008333333, -0.00019841270, 2.7557319e-06)
COS_FLOAT = (0.041666668, -0.0013888889, 2.4801587e-05, -2.7557319e-07)

_SHIFT, _SHIFT_FLOAT = 1.5 * 2.0**52, 1.5 * 2.0**23
"""A sum with one of these is rounded to an integer."""

MACHINE = """\
#ifdef __CUDACC__
#define DEVICE static __device__ __forceinline__
#define FAR static __device__ __noinline__
#define CONSTANTS static __constant__
DEVICE void library(double x, double *s, double *c) { sincos(x, s, c); }
DEVICE void library(float x, float *s, float *c) { sincosf(x, s, c); }
DEVICE int low_bits(double x) { return __double2loint(x); }
DEVICE int low_bits(float x) { return __float_as_int(x); }
DEVICE bool is_near(double x) { return (__double2hiint(x) & 0x7fffffff) < 0x40f86a00; }
DEVICE bool is_near(float x) { return fabsf(x) < 1e5f; }
DEVICE double flipped(double x, int odd) { return __hiloint2double(__double2hiint(x) ^ (odd << 31), __double2loint(x)); }
DEVICE float flipped(float x, int odd) { return __int_as_float(__float_as_int(x) ^ (odd << 31)); }
#else
#include <cmath>
#include <cstring>
using namespace std;
#define DEVICE static inline
#define FAR static
#define CONSTANTS static const
DEVICE void library(double x, double *s, double *c) { *s = sin(x); *c = cos(x); }
DEVICE void library(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
DEVICE int low_bits(double x) { long long bits; memcpy(&bits, &x, 8); return (int)bits; }
DEVICE int low_bits(float x) { int bits; memcpy(&bits, &x, 4); return bits; }
DEVICE bool is_near(double x) { return fabs(x) < 1e5; }
DEVICE bool is_near(float x) { return fabsf(x) < 1e5f; }
DEVICE double flipped(double x, int odd) { return odd & 1 ? -x : x; }
DEVICE float flipped(float x, int odd) { return odd & 1 ? -x : x; }
#endif
"""


def _nested(first: int, count: int, table: str, f: str) -> str:
    """A polynomial in z by Horner's rule; its coefficients are `count` entries of a table."""
    text = f"{table}[{first + count - 1}]"
    for k in reversed(range(first, first + count - 1)):
        text = f"fma{f}(z, {text}, {table}[{k}])"
    return text


def _functions(kind: str, half_pi: Sequence[float], sine: Sequence[float], cosine: Sequence[float]) -> str:
    f, shift = ("f", _SHIFT_FLOAT) if kind == "float" else ("", _SHIFT)
    table, both = f"angles_{kind}", f"Both_{kind}"
    numbers = ", ".join(f"{x!r}{f}" for x in (2 / pi, *(-x for x in half_pi), *sine, *cosine))
    p, q = _nested(4, len(sine), table, f), _nested(4 + len(sine), len(cosine), table, f)
    return f"""\
CONSTANTS {kind} {table}[] = {{{numbers}}};
struct {both} {{ {kind} s, c; }};
FAR {both} far_sine_and_cosine({kind} x) {{ {both} b; library(x, &b.s, &b.c); return b; }}
DEVICE void near_sine_and_cosine({kind} x, {kind} *s, {kind} *c) {{
  {kind} shifted = fma{f}(x, {table}[0], {shift}{f}), k = shifted - {shift}{f};
  {kind} r = fma{f}(k, {table}[3], fma{f}(k, {table}[2], fma{f}(k, {table}[1], x))), z = r * r;
  {kind} sine = fma{f}(r * z, {p}, r);
  {kind} cosine = fma{f}(z, fma{f}(z, {q}, -0.5{f}), 1.0{f});
  int turns = low_bits(shifted);
  *s = flipped(turns & 1 ? cosine : sine, turns >> 1);
  *c = flipped(turns & 1 ? sine : cosine, (turns + 1) >> 1);
}}
DEVICE void sine_and_cosine({kind} x, {kind} *s, {kind} *c) {{
  if (is_near(x)) near_sine_and_cosine(x, s, c);
  else {{ {both} b = far_sine_and_cosine(x); *s = b.s; *c = b.c; }}
}}
"""


FUNCTIONS = _functions("double", HALF_PI, SIN, COS) + _functions("float", HALF_PI_FLOAT, SIN_FLOAT, COS_FLOAT)

_NAME = re.compile(r"\b[va]\d+\b")
_CALL = re.compile(r"sine_and_cosine\((v\d+), &(v\d+), &(v\d+)\);")


def call(angle: str, sine: str, cosine: str) -> str:
    """The line that computes both of an angle."""
    return f"sine_and_cosine({angle}, &{sine}, &{cosine});"


def together(lines: Sequence[str]) -> list[str]:
    """The lines of a function, with calls made one where neither needs the other and no branch or label is between."""
    found: list[str] = []
    straight: list[str] = []
    for line in (*lines, "}"):
        if line.endswith(("{", "}")) or "break;" in line:
            found += [*_in_one(straight), line]
            straight = []
        else:
            straight.append(line)
    return found[:-1]


def _in_one(straight: list[str]) -> list[str]:
    """Straight lines: the calls after the first that can be made beside it are, with what their arguments need before it."""
    first = next((i for i, line in enumerate(straight) if _CALL.match(line)), None)
    if first is None:
        return straight
    calls, rest, moved = [straight[first]], straight[first + 1 :], set[int]()
    for j, line in enumerate(rest):
        if _CALL.match(line) and (needed := _needed(rest, j, straight[first])) is not None:
            calls.append(line)
            moved |= needed | {j}
    earlier = [rest[i] for i in sorted(moved) if not _CALL.match(rest[i])]
    later = [line for i, line in enumerate(rest) if i not in moved]
    return [*straight[:first], *earlier, _several(calls), *_in_one(later)]


def _needed(rest: list[str], j: int, first: str) -> set[int] | None:
    """Lines before j that the argument of call j needs; nothing if it needs another call, or an array that is stored to."""
    match = _CALL.match(rest[j])
    assert match
    names, lines = {match[1]}, set[int]()
    for i in reversed(range(-1, j)):
        other = _CALL.match(rest[i] if i >= 0 else first)
        if other:
            if names & set(other.groups()[1:]):
                return None
            continue
        target, _, right = rest[i].partition(" = ")
        if target.partition("[")[0] in names:
            if "[" in target:
                return None
            lines.add(i)
            names |= set(_NAME.findall(right))
    return lines


def _several(calls: list[str]) -> str:
    """Calls under one branch, without one where all arguments are near zero."""
    if len(calls) == 1:
        return calls[0]
    angles = [match[1] for match in map(_CALL.match, calls) if match]
    near = " && ".join(f"is_near({x})" for x in angles)
    return f"if ({near}) {{ {' '.join('near_' + c for c in calls)} }} else {{ {' '.join(calls)} }}"
