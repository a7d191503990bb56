"""Powers x^y = exp(y log x), with a logarithm of 66 bits: 2^1000 is in error by a thousand times the error of the logarithm.

    log(x) = k ln 2 + 2 (s + s z (1/3 + z q(z)))      x = 2^k m,  s = (m - 1)/(m + 1),  z = s^2

Everything but q is a sum of two numbers, whose products and sums are exact but for the smaller part (T. J. Dekker, Numer.
Math. 18, 1971). What is zero, infinite, negative or not a number has the power that IEEE 754 gives it.
"""

from __future__ import annotations

from .exponential import LN2, bounded, reduced_exponential, split
from .straight_code import Body

THIRD = float.fromhex("0x1.5555555555555p-2"), float.fromhex("0x1.5555555555555p-56")
"""1/3 as a sum."""

LATER = [1 / (2 * j + 1) for j in range(2, 13)]
"""q(z) = LATER[0] + LATER[1] z + ..., to 1e-21."""


def _long_logarithm(b: Body, x: str) -> tuple[str, str]:
    """The logarithm of a positive number as a sum."""
    k, m = split(b, x)
    f = b.sub(m, b.real(1.0))
    d = b.add(m, b.real(1.0))
    lost = b.sub(m, b.sub(d, b.real(1.0)))
    inverse = b.div(b.real(1.0), d)
    s = b.mul(f, inverse)
    s_rest = b.mul(b.sub(b.fma(b.negative(s), d, f), b.mul(s, lost)), inverse)
    z, z_rest = b.product_and_rest(s, s)
    z_rest = b.fma(b.add(s, s), s_rest, z_rest)
    w, w_rest = b.sum_and_rest(b.real(THIRD[0]), b.mul(z, b.polynomial(LATER, z)))
    u, u_rest = _product(b, (z, z_rest), (w, b.add(w_rest, b.real(THIRD[1]))))
    v, v_rest = _product(b, (s, s_rest), (u, u_rest))
    a, a_rest = b.sum_and_rest(s, v)
    a_rest = b.add(a_rest, b.add(s_rest, v_rest))
    twice, twice_rest = b.add(a, a), b.add(a_rest, a_rest)
    value, rest = b.sum_and_rest(b.mul(k, b.real(LN2[0])), twice)
    return b.sum_and_rest(value, b.add(rest, b.fma(k, b.real(LN2[1]), twice_rest)))


def _product(b: Body, x: tuple[str, str], y: tuple[str, str]) -> tuple[str, str]:
    """The product of two sums."""
    value, rest = b.product_and_rest(x[0], y[0])
    return value, b.fma(x[0], y[1], b.fma(x[1], y[0], rest))


def power(width: int, inline: bool) -> str:
    """The function @power."""
    b = Body("p", width)
    zero, one, infinite = b.real(0.0), b.real(1.0), b.real(float("inf"))
    size, y = b.call("fabs", "%x"), "%y"
    value, rest = _long_logarithm(b, size)
    for special, logarithm in ((zero, b.real(-float("inf"))), (infinite, infinite), (one, zero)):
        here = b.compare("oeq", size, special)
        value, rest = b.choose(here, logarithm, value), b.choose(here, zero, rest)
    p, p_rest = b.product_and_rest(y, value)
    p_rest = b.fma(y, rest, p_rest)
    inside = b.compare("olt", b.call("fabs", p), b.real(800.0))
    p_rest = b.choose(inside, p_rest, zero)
    found = reduced_exponential(b, bounded(b, p), p_rest)
    found = b.choose(b.compare("oeq", size, one), one, found)
    found = _with_sign(b, found, size)
    found = b.choose(b.compare("uno", "%x", y), b.real(float("nan")), found)
    for special in (b.compare("oeq", y, zero), b.compare("oeq", "%x", one)):
        found = b.choose(special, one, found)
    return b.function("power", ["x", "y"], found, inline)


def _with_sign(b: Body, found: str, size: str) -> str:
    """The power of x from that of |x|: for x < 0 it depends on whether y is whole and odd."""
    half = b.mul("%y", b.real(0.5))
    whole = b.compare("oeq", b.call("floor", "%y"), "%y")
    even = b.compare("oeq", b.call("floor", half), half)
    odd = b.both(whole, b.do(f"xor {b.i1} {even}, {b.truth(True)}"))
    negative = b.do(f"icmp slt {b.i64} {b.bits('%x')}, {b.whole(0)}")
    found = b.choose(b.both(negative, odd), b.negative(found), found)
    between = b.both(b.compare("one", size, b.real(0.0)), b.compare("one", size, b.real(float("inf"))))
    fraction = b.do(f"xor {b.i1} {whole}, {b.truth(True)}")
    return b.choose(b.both(b.both(negative, between), fraction), b.real(float("nan")), found)
