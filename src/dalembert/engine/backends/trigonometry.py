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

from .straight_code import INTEGER, Body, real

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


def _reduced(b: Body) -> tuple[str, str, str]:
    """r and c with x = k pi/2 + r + c, and k modulo 4 in the last bits of an integer."""
    shifted = b.add(b.mul("%x", b.real(2 / 3.141592653589793)), b.real(INTEGER))
    bits = b.do(f"bitcast {b.double} {shifted} to {b.i64}")
    k = b.sub(b.real(INTEGER), shifted)
    first, second = b.muladd(k, b.real(HALF_PI[0]), "%x"), b.mul(k, b.real(HALF_PI[1]))
    r = b.add(first, second)
    part = b.sub(r, first)  # rounding error of a sum, whichever term is larger (D. E. Knuth)
    lost = b.add(b.sub(first, b.sub(r, part)), b.sub(second, part))
    return r, b.muladd(k, b.real(HALF_PI[2]), lost), bits


def _polynomial(b: Body, c: tuple[float, ...], z: str, z2: str) -> str:
    """c0 + c1 z + ... + c5 z^5, in pairs: the sums of pairs do not depend on each other."""
    pairs = [b.muladd(z, b.real(odd), b.real(even)) for even, odd in zip(c[::2], c[1::2], strict=True)]
    return b.muladd(z2, b.muladd(z2, pairs[2], pairs[1]), pairs[0])


def _kernels(b: Body, r: str, c: str) -> tuple[str, str]:
    """Sine and cosine of r + c."""
    z = b.mul(r, r)
    z2 = b.mul(z, z)
    near = b.muladd(z, b.real(-0.5), b.real(1.0))
    lost = b.muladd(z, b.real(-0.5), b.sub(b.real(1.0), near))
    sine = b.add(r, b.muladd(b.mul(r, z), _polynomial(b, SIN, z, z2), b.mul(c, near)))
    rest = b.sub(lost, b.mul(r, c))
    return sine, b.add(near, b.muladd(z2, _polynomial(b, COS, z, z2), rest))


def _turned(b: Body, sine: str, cosine: str, bits: str) -> tuple[str, str]:
    """Sine and cosine of the angle k quarter turns further."""
    odd = b.do(f"trunc {b.i64} {bits} to {b.i1}")
    back = b.do(f"and {b.i64} {bits}, {b.whole(2)}")
    next_turn = b.do(f"add {b.i64} {bits}, {b.whole(1)}")
    behind = b.do(f"and {b.i64} {next_turn}, {b.whole(2)}")
    results = []
    for (even, other), half_turn in (((sine, cosine), back), ((cosine, sine), behind)):
        value = b.do(f"select {b.i1} {odd}, {b.double} {other}, {b.double} {even}")
        sign = b.do(f"shl {b.i64} {half_turn}, {b.whole(62)}")
        pattern = b.do(f"bitcast {b.double} {value} to {b.i64}")
        turned = b.do(f"xor {b.i64} {pattern}, {sign}")
        results.append(b.do(f"bitcast {b.i64} {turned} to {b.double}"))
    return results[0], results[1]


def sine_and_cosine(width: int, inline: bool) -> str:
    """The function @sine.and.cosine. That of one double is not inlined: it has branches, with the results of the other."""
    return vector_sine_and_cosine(width, inline) if width > 1 else scalar_sine_and_cosine()


def scalar_sine_and_cosine() -> str:
    """The function @sine.and.cosine of one double."""
    reduction, kernel = Body("r"), Body("k")
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
"""


def vector_sine_and_cosine(width: int, inline: bool) -> str:
    """The function @sine.and.cosine of vectors; where one is large, the C library computes them one by one."""
    b = Body("s", width)
    r, c, bits = _reduced(b)
    sine, cosine = _turned(b, *_kernels(b, r, c), bits)
    pair, how = f"{{ {b.double}, {b.double} }}", "alwaysinline" if inline else "noinline"
    return f"""
define internal {pair} @sine.and.cosine({b.double} %x) {how} nounwind willreturn memory(none) {{
entry:
{b}
  %size = call {b.double} @llvm.fabs.{b.suffix}({b.double} %x)
  %far = fcmp uge {b.double} %size, {b.real(LIMIT)}
  %which = bitcast {b.i1} %far to i{width}
  %some = icmp ne i{width} %which, 0
  br i1 %some, label %library, label %end
library:
  %far.sine = call {b.double} @llvm.sin.{b.suffix}({b.double} %x)
  %far.cosine = call {b.double} @llvm.cos.{b.suffix}({b.double} %x)
  %either.sine = select {b.i1} %far, {b.double} %far.sine, {b.double} {sine}
  %either.cosine = select {b.i1} %far, {b.double} %far.cosine, {b.double} {cosine}
  br label %end
end:
  %sine = phi {b.double} [ {sine}, %entry ], [ %either.sine, %library ]
  %cosine = phi {b.double} [ {cosine}, %entry ], [ %either.cosine, %library ]
  %first = insertvalue {pair} undef, {b.double} %sine, 0
  %pair = insertvalue {pair} %first, {b.double} %cosine, 1
  ret {pair} %pair
}}
"""
