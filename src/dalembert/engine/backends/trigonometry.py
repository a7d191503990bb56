"""Sine and cosine together, as LLVM IR that can be inlined: in many mechanical systems most of the cost.

The argument is reduced to |r| <= pi/4 by subtracting a multiple k of pi/2, which is given as a sum of three numbers; the
first two are short, so that their products with k are exact (W. J. Cody and W. Waite, Software Manual for the Elementary
Functions, 1980). The rounding error of the difference is kept as c. Then

    sin(r + c) = r + (r z p(z) + c (1 - z/2))            z = r^2
    cos(r + c) = 1 - z/2 + (z^2 q(z) - r c)

with polynomials that interpolate at the Chebyshev nodes of 0 <= z <= (pi/4)^2. Arguments beyond LIMIT, and those that
are not finite, go to the C library.
"""

from __future__ import annotations

import struct

LIMIT = 2.0**17
"""Arguments smaller than this are reduced here: products with k are exact, and c is small enough."""

SMALL = 0.78
"""Arguments up to this are not reduced; it is a little less than pi/4."""

HALF_PI = tuple(map(float.fromhex, ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2e037073p-69")))
"""pi/2 as a sum; the first two have 33 bits."""

SIN = (-0.16666666666666666, 0.008333333333330948, -0.00019841269836758574, 2.755731610255244e-06,
       -2.5051131845003624e-08, 1.5918129294866608e-10)  # fmt: skip
"""Coefficients of p."""

COS = (0.041666666666666664, -0.0013888888888887398, 2.480158729876569e-05, -2.7557317271729793e-07,
       2.08761462684032e-09, -1.1382632425521717e-11)  # fmt: skip
"""Coefficients of q."""

INTEGER = 1.5 * 2.0**52
"""Adding this rounds to an integer, which is then in the last bits."""


class _Body:
    """Straight-line code."""

    def __init__(self, name: str) -> None:
        self.name, self.lines = name, list[str]()

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def do(self, text: str) -> str:
        value = f"%{self.name}{len(self.lines)}"
        self.lines.append(f"  {value} = {text}")
        return value

    def add(self, a: str, b: str) -> str:
        return self.do(f"fadd double {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self.do(f"fsub double {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self.do(f"fmul double {a}, {b}")

    def muladd(self, a: str, b: str, c: str) -> str:
        """a b + c, in one rounding where the processor can."""
        return self.do(f"call double @llvm.fmuladd.f64(double {a}, double {b}, double {c})")

    def polynomial(self, c: tuple[float, ...], z: str, z2: str) -> str:
        """c0 + c1 z + ... + c5 z^5, in pairs: the sums of pairs do not depend on each other."""
        pairs = [self.muladd(z, real(odd), real(even)) for even, odd in zip(c[::2], c[1::2], strict=True)]
        return self.muladd(z2, self.muladd(z2, pairs[2], pairs[1]), pairs[0])


def real(value: float) -> str:
    """A number as LLVM writes it, exactly."""
    return "0x" + struct.pack(">d", value).hex().upper()


def _reduced(b: _Body) -> tuple[str, str, str]:
    """r and c with x = k pi/2 + r + c, and k modulo 4 in the last bits of an integer."""
    shifted = b.add(b.mul("%x", real(2 / 3.141592653589793)), real(INTEGER))
    bits = b.do(f"bitcast double {shifted} to i64")
    k = b.sub(real(INTEGER), shifted)
    first, second = b.muladd(k, real(HALF_PI[0]), "%x"), b.mul(k, real(HALF_PI[1]))
    r = b.add(first, second)
    part = b.sub(r, first)  # rounding error of a sum, whichever term is larger (D. E. Knuth)
    lost = b.add(b.sub(first, b.sub(r, part)), b.sub(second, part))
    return r, b.muladd(k, real(HALF_PI[2]), lost), bits


def _kernels(b: _Body, r: str, c: str) -> tuple[str, str]:
    """Sine and cosine of r + c."""
    z = b.mul(r, r)
    z2 = b.mul(z, z)
    near = b.muladd(z, real(-0.5), real(1.0))
    lost = b.muladd(z, real(-0.5), b.sub(real(1.0), near))
    sine = b.add(r, b.muladd(b.mul(r, z), b.polynomial(SIN, z, z2), b.mul(c, near)))
    rest = b.sub(lost, b.mul(r, c))
    return sine, b.add(near, b.muladd(z2, b.polynomial(COS, z, z2), rest))


def _turned(b: _Body, sine: str, cosine: str, bits: str) -> tuple[str, str]:
    """Sine and cosine of the angle k quarter turns further."""
    odd = b.do(f"trunc i64 {bits} to i1")
    back = b.do(f"and i64 {bits}, 2")
    behind = b.do(f"and i64 {b.do(f'add i64 {bits}, 1')}, 2")
    results = []
    for (even, other), half_turn in (((sine, cosine), back), ((cosine, sine), behind)):
        value = b.do(f"select i1 {odd}, double {other}, double {even}")
        sign = b.do(f"shl i64 {half_turn}, 62")
        turned = b.do(f"xor i64 {b.do(f'bitcast double {value} to i64')}, {sign}")
        results.append(b.do(f"bitcast i64 {turned} to double"))
    return results[0], results[1]


def sine_and_cosine() -> str:
    """The functions @sine and @cosine: two views of @sine.and.cosine, which is called once where both are needed."""
    reduction, kernel = _Body("r"), _Body("k")
    r, c, bits = _reduced(reduction)
    sine, cosine = _turned(kernel, *_kernels(kernel, "%r", "%c"), "%bits")
    return f"""
define internal {{ double, double }} @sine.and.cosine(double %x) noinline nounwind willreturn memory(none) {{
entry:
  %size = call double @llvm.fabs.f64(double %x)
  %small = fcmp ole double %size, {real(SMALL)}
  br i1 %small, label %kernel, label %larger
larger:
  %near = fcmp olt double %size, {real(LIMIT)}
  br i1 %near, label %reduce, label %far
reduce:
{reduction}
  br label %kernel
kernel:
  %r = phi double [ %x, %entry ], [ {r}, %reduce ]
  %c = phi double [ {real(0.0)}, %entry ], [ {c}, %reduce ]
  %bits = phi i64 [ 0, %entry ], [ {bits}, %reduce ]
{kernel}
  br label %end
far:
  %far.sine = call double @llvm.sin.f64(double %x)
  %far.cosine = call double @llvm.cos.f64(double %x)
  br label %end
end:
  %sine = phi double [ {sine}, %kernel ], [ %far.sine, %far ]
  %cosine = phi double [ {cosine}, %kernel ], [ %far.cosine, %far ]
  %first = insertvalue {{ double, double }} undef, double %sine, 0
  %pair = insertvalue {{ double, double }} %first, double %cosine, 1
  ret {{ double, double }} %pair
}}
{_view("sine", 0)}
{_view("cosine", 1)}
"""


def _view(name: str, part: int) -> str:
    return f"""define internal double @{name}(double %x) alwaysinline {{
  %pair = call {{ double, double }} @sine.and.cosine(double %x)
  %value = extractvalue {{ double, double }} %pair, {part}
  ret double %value
}}"""


def from_library() -> str:
    """The functions @sine and @cosine of the C library: for code that is too long to be optimised."""
    return "\n".join(
        f"define internal double @{name}(double %x) alwaysinline {{\n"
        f"  %value = call double @llvm.{short}.f64(double %x)\n  ret double %value\n}}"
        for name, short in (("sine", "sin"), ("cosine", "cos"))
    )
