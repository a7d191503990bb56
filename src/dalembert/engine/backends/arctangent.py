"""The angle of a point (x, y), and the inverse functions of sine, cosine and tangent made of it.

    atan(q) = q + q z p(z),  z = q^2 <= tan(pi/8)^2          q = b/a, or (b - a)/(b + a) and a further pi/4, for b <= a

p interpolates at the Chebyshev nodes. The quotient is a sum of two numbers, so that the result is in error by little more
than its last rounding.
"""

from __future__ import annotations

from .straight_code import Body

EIGHTH = 0.41421356237309503
"""tan(pi/8)."""

ATAN = (-0.3333333333333333, 0.19999999999999804, -0.14285714285659779, 0.11111111105150588, -0.09090908753259112,
        0.07692296368042296, -0.0666642476020052, 0.05878927554473807, -0.05230443640686948, 0.045515447340221615,
        -0.03456931506332609, 0.016284375050043393)  # fmt: skip
"""Coefficients of p."""

QUARTER = float.fromhex("0x1.921fb54442000p-1"), float.fromhex("0x1.a308d313198a3p-42")
"""pi/4 as a sum; the first has 40 bits."""

LARGE, SCALE = 2.0**700, 2.0**200
"""Points further from 0 than LARGE are divided by SCALE, those nearer than 1/LARGE multiplied by it."""


def _angle(b: Body, y: str, x: str) -> str:
    """The angle between the x axis and (x, y)."""
    one, zero, infinite = b.real(1.0), b.real(0.0), b.real(float("inf"))
    across, up = b.call("fabs", x), b.call("fabs", y)
    steep = b.compare("ogt", up, across)
    long, short = b.choose(steep, up, across), b.choose(steep, across, up)
    endless = b.compare("oeq", long, infinite)
    short = b.choose(endless, b.choose(b.compare("oeq", short, infinite), one, zero), short)
    long = b.choose(endless, one, long)
    long = b.choose(b.compare("oeq", long, zero), one, long)
    scale = b.choose(b.compare("ogt", long, b.real(LARGE)), b.real(1 / SCALE), one)
    scale = b.choose(b.compare("olt", long, b.real(1 / LARGE)), b.real(SCALE), scale)
    long, short = b.mul(long, scale), b.mul(short, scale)
    beyond = b.compare("ogt", short, b.mul(long, b.real(EIGHTH)))
    q, rest = _quotient(b, long, short, beyond)
    z = b.mul(q, q)
    rest = b.fma(b.mul(q, z), b.polynomial(ATAN, z), rest)
    n = b.choose(beyond, one, zero)
    # the other angle of the triangle where the point is steep, and beyond the y axis where x < 0
    left = b.do(f"icmp slt {b.i64} {b.bits(x)}, {b.whole(0)}")
    for turned, quarters in ((steep, 2.0), (left, 4.0)):
        n = b.choose(turned, b.sub(b.real(quarters), n), n)
        q, rest = (b.choose(turned, b.negative(v), v) for v in (q, rest))
    value, lost = b.sum_and_rest(b.mul(n, b.real(QUARTER[0])), q)
    angle = b.add(value, b.add(lost, b.fma(n, b.real(QUARTER[1]), rest)))
    angle = b.choose(b.compare("oeq", n, zero), b.add(q, rest), angle)
    angle = b.choose(b.compare("uno", x, y), b.real(float("nan")), angle)
    return b.call("copysign", angle, y)


def _quotient(b: Body, long: str, short: str, beyond: str) -> tuple[str, str]:
    """The tangent of the angle, or of what it is more than pi/4, as a sum."""
    zero = b.real(0.0)
    above, above_rest = _difference(b, short, long)
    below, below_rest = b.sum_and_rest(long, short)
    above, above_rest = b.choose(beyond, above, short), b.choose(beyond, above_rest, zero)
    below, below_rest = b.choose(beyond, below, long), b.choose(beyond, below_rest, zero)
    inverse = b.div(b.real(1.0), below)
    q = b.mul(above, inverse)
    lost = b.add(b.fma(b.negative(q), below, above), b.sub(above_rest, b.mul(q, below_rest)))
    return q, b.mul(lost, inverse)


def _difference(b: Body, short: str, long: str) -> tuple[str, str]:
    """short - long and its rounding error."""
    value, rest = b.sum_and_rest(long, b.negative(short))
    return b.negative(value), b.negative(rest)


def angle(width: int, inline: bool) -> str:
    """The function @angle, which is atan2."""
    b = Body("a", width)
    return b.function("angle", ["y", "x"], _angle(b, "%y", "%x"), inline)


def arctangent(width: int, inline: bool) -> str:
    """The function @arctangent."""
    b = Body("t", width)
    return b.function("arctangent", ["x"], _angle(b, "%x", b.real(1.0)), inline)


def _leg(b: Body) -> str:
    """The other leg of a right triangle with a leg x and the hypotenuse 1; not a number if it is longer."""
    return b.call("sqrt", b.mul(b.sub(b.real(1.0), "%x"), b.add(b.real(1.0), "%x")))


def arcsine(width: int, inline: bool) -> str:
    """The function @arcsine."""
    b = Body("i", width)
    return b.function("arcsine", ["x"], _angle(b, "%x", _leg(b)), inline)


def arccosine(width: int, inline: bool) -> str:
    """The function @arccosine."""
    b = Body("o", width)
    return b.function("arccosine", ["x"], _angle(b, _leg(b), "%x"), inline)
