"""Exponential and logarithm, as LLVM IR that can be inlined: the same operations for vectors and single numbers.

    exp(x) = 2^k exp(r + c)     x = k ln 2 + r + c with |r| <= ln(2)/2; c is the rounding error of r
    log(x) = k ln 2 + log(m)    x = 2^k m with sqrt(1/2) <= m < sqrt(2);  log(m) = 2 artanh(s), s = (m - 1)/(m + 1)

Both series are Taylor's, as long as the last term matters. ln 2 is a sum of two numbers, of which the first is so short that
its products with k are exact (W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980).
"""

from __future__ import annotations

from math import factorial

from .straight_code import INTEGER, INTEGER_BITS, Body

LN2 = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
"""ln 2 as a sum; the first has 32 bits."""

OVERFLOW, UNDERFLOW = 710.0, -746.0
"""From here on the exponential is infinite or zero."""

EXP = [1 / factorial(j) for j in range(2, 14)]
"""exp(r) = 1 + r + r^2 (EXP[0] + EXP[1] r + ...), to 1e-17 for |r| <= ln(2)/2."""

ARTANH = [2 / (2 * j + 1) for j in range(1, 11)]
"""2 artanh(s) = 2 s + s z (ARTANH[0] + ARTANH[1] z + ...), z = s^2, to 1e-17 for |m - 1| < sqrt(2) - 1."""

ONE = 0x3FF0 << 48
"""The bits of 1."""

ROOT = 0x3FE6A09E << 32
"""The bits of sqrt(1/2), nearly."""

FRACTION = (1 << 52) - 1
"""The bits of a number behind the point."""

SUBNORMAL, SHIFT = 2.0**-1022, 54
"""Smaller numbers are multiplied by 2^SHIFT before their bits are looked at."""


def reduced_exponential(b: Body, x: str, lost: str | None = None) -> str:
    """The exponential of x between UNDERFLOW and OVERFLOW, or of the sum of x and a much smaller number."""
    shifted = b.add(b.mul(x, b.real(1.4426950408889634)), b.real(INTEGER))
    minus = b.sub(b.real(INTEGER), shifted)
    first, second = b.muladd(minus, b.real(LN2[0]), x), b.mul(minus, b.real(LN2[1]))
    r = b.add(first, second)
    c = b.add(b.sub(first, r), second)
    square = b.mul(r, r)
    if lost is None:
        more = b.muladd(square, b.polynomial(EXP, r), b.muladd(c, r, c))
    else:
        more = b.mul(square, b.polynomial(EXP, r))
        more = b.muladd(b.add(c, lost), b.add(b.real(1.0), b.add(r, more)), more)
    value = b.add(b.real(1.0), b.add(r, more))
    k = b.integers("sub", b.bits(shifted), b.whole(INTEGER_BITS))
    half = b.integers("ashr", k, b.whole(1))
    for part in (half, b.integers("sub", k, half)):  # in two steps, as 2^k alone may not be a number
        power = b.integers("shl", b.integers("add", part, b.whole(1023)), b.whole(52))
        value = b.mul(value, b.number(power))
    return value


def bounded(b: Body, x: str) -> str:
    """x between UNDERFLOW and OVERFLOW; what is not a number stays so."""
    x = b.choose(b.compare("ogt", x, b.real(OVERFLOW)), b.real(OVERFLOW), x)
    return b.choose(b.compare("olt", x, b.real(UNDERFLOW)), b.real(UNDERFLOW), x)


def exponential(width: int, inline: bool) -> str:
    """The function @exponential."""
    b = Body("e", width)
    return b.function("exponential", ["x"], reduced_exponential(b, bounded(b, "%x")), inline)


def split(b: Body, x: str) -> tuple[str, str]:
    """k and m with x = 2^k m for a positive x."""
    tiny = b.compare("olt", x, b.real(SUBNORMAL))
    less = b.choose(tiny, b.real(float(SHIFT)), b.real(0.0))
    moved = b.integers("add", b.bits(b.choose(tiny, b.mul(x, b.real(2.0**SHIFT)), x)), b.whole(ONE - ROOT))
    power = b.integers("sub", b.integers("lshr", moved, b.whole(52)), b.whole(1023))
    k = b.sub(b.sub(b.number(b.integers("add", power, b.whole(INTEGER_BITS))), b.real(INTEGER)), less)
    return k, b.number(b.integers("add", b.integers("and", moved, b.whole(FRACTION)), b.whole(ROOT)))


def logarithm(width: int, inline: bool) -> str:
    """The function @logarithm."""
    b = Body("g", width)
    k, m = split(b, "%x")
    f = b.sub(m, b.real(1.0))
    s = b.div(f, b.add(m, b.real(1.0)))
    z, half = b.mul(s, s), b.mul(b.mul(f, f), b.real(0.5))
    # 2 s = f - s f = f - f^2/2 + s f^2/2: f is exact, and what is left is small
    more = b.muladd(s, b.add(half, b.mul(z, b.polynomial(ARTANH, z))), b.mul(k, b.real(LN2[1])))
    value = b.muladd(k, b.real(LN2[0]), b.sub(f, b.sub(half, more)))
    infinite = b.real(float("inf"))
    outside = b.choose(b.compare("oeq", "%x", b.real(0.0)), b.real(-float("inf")), b.real(float("nan")))
    outside = b.choose(b.compare("oeq", "%x", infinite), "%x", outside)
    inside = b.choose(b.compare("olt", "%x", infinite), value, outside)
    return b.function("logarithm", ["x"], b.choose(b.compare("ogt", "%x", b.real(0.0)), inside, outside), inline)
