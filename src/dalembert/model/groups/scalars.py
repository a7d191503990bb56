"""Functions of one scalar that groups need, for numbers (NumPy, any axes of lanes) and for expressions (SymPy, SymEngine).

The exponential functions of groups are made of Stumpff's functions c_k(s) = 1/k! - s/(k+2)! + s^2/(k+4)! - ..., which
have no singularity at s = 0: c_0 = cos(t), c_1 = sin(t)/t, c_2 = (1 - cos t)/t^2 with s = t^2; for s < 0 they are hyperbolic.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np
import sympy

from ...symbolic import Fast, fast

NEAR = 4
"""Below this value of |s| in numbers, and below 1 in compiled code, functions are computed from their series."""


def is_number(x: Any) -> bool:
    """Whether a scalar is a number or an array of numbers."""
    return isinstance(x, int | float | np.ndarray | np.generic)


def is_zero(x: Any) -> bool:
    """Whether a scalar is zero as it is written; arrays are not looked into."""
    return not isinstance(x, np.ndarray) and bool(x == 0)


def times(c: Fraction | int, x: Any) -> Any:
    """c x for an exact number c."""
    if isinstance(c, int) or c.denominator == 1:
        return int(c) * x
    if is_number(x):
        return float(c) * x
    exact = sympy.Rational(c.numerator, c.denominator)
    return exact * x if isinstance(x, sympy.Basic) else fast(exact) * x


def square_root(s: Any) -> Any:
    """The square root."""
    if is_number(s):
        return np.sqrt(s)
    if isinstance(s, sympy.Basic):
        return sympy.sqrt(s)
    import symengine

    return symengine.sqrt(s)


def norm(v: list[Any]) -> Any:
    """The length of a vector; of numbers also where squares underflow."""
    if not all(map(is_number, v)):
        return square_root(sum(a**2 for a in v))
    largest = np.max(np.abs(np.broadcast_arrays(*v)), axis=0)
    safe = np.where(largest > 0, largest, 1.0)
    return safe * np.sqrt(sum((a / safe) ** 2 for a in v))


def arc(v: list[Any], a: Any) -> Any:
    """2 atan2(|v|, a)/|v|, whose product with v is the logarithm of the quaternion (a, v)."""
    length = norm(v)
    if not is_number(length):
        return 2 * sympy.atan2(length, a) / length
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(length > 0, 2 * np.arctan2(length, a) / np.where(length > 0, length, 1.0), 2 / a)


def _series(k: int, s: Any, count: int) -> Any:
    """The first terms of c_k, by Horner's rule."""
    value: Any = s * 0
    for j in reversed(range(count)):
        value = times(Fraction((-1) ** j, factorial(2 * j + k)), s * 0 + 1) + s * value
    return value


def stumpff(k: int, s: Any) -> Any:
    """c_k(s), the sum of (-s)^j / (2 j + k)!."""
    if is_zero(s):
        return times(Fraction(1, factorial(k)), 1.0 if is_number(s) else s * 0 + 1)
    if is_number(s):
        s = np.asarray(s, dtype=float)
        far = np.where(np.abs(s) < NEAR, NEAR, s)
        return np.where(np.abs(s) < NEAR, _series(k, s, 14), _far(k, far))
    return _far(k, s) if isinstance(s, sympy.Basic) else _near_or_far(s, _polynomial(k, s), _far(k, s))


def _far(k: int, s: Any) -> Any:
    """c_k by c_0, c_1 and the recursion c_k+2 = (1/k! - c_k)/s."""
    if is_number(s):
        t = np.sqrt(np.abs(s))
        first = np.where(s > 0, np.cos(t), np.cosh(t)) if k % 2 == 0 else np.where(s > 0, np.sin(t), np.sinh(t)) / t
    else:
        t = square_root(s)
        t = t.args[0] if isinstance(t, sympy.Abs) else t  # both are even functions of t
        first = sympy.cos(t) if k % 2 == 0 else sympy.sin(t) / t
        first = first if isinstance(s, sympy.Basic) else fast(first)
    for j in range(k % 2, k, 2):
        first = (times(Fraction(1, factorial(j)), s * 0 + 1) - first) / s
    return first


def _polynomial(k: int, s: Fast) -> Fast:
    return fast(_series(k, s, 10))


def _near_or_far(s: Fast, near: Fast, far: Fast) -> Fast:
    """Branches for compiled code; both are smooth, so that their derivatives agree at the boundary to rounding."""
    import symengine

    if s.is_number:
        return near if abs(float(s)) < 1 else far
    return symengine.Piecewise((near, symengine.Lt(s**2, 1)), (far, True))


BERNOULLI = [Fraction(abs(int(b.p)), int(b.q)) for b in (sympy.bernoulli(2 * k) for k in range(1, 17))]


def cotangent_rest(s: Any) -> Any:
    """r(s) = (1 - (t/2) cot(t/2))/s with s = t^2: the inverse of the tangent of the exponential is made of it."""
    return _rest(s, 0)


def cotangent_rest_slope(s: Any) -> Any:
    """dr/ds."""
    return _rest(s, 1)


def _rest(s: Any, slope: int) -> Any:
    if is_zero(s):
        return times(Fraction(1, 720) if slope else Fraction(1, 12), 1.0 if is_number(s) else s * 0 + 1)
    if is_number(s):
        s = np.asarray(s, dtype=float)
        far = np.where(np.abs(s) < NEAR, NEAR, s)
        return np.where(np.abs(s) < NEAR, _rest_series(s, slope, 16), _rest_far(far, slope))
    far = _rest_far(s, slope)
    return far if isinstance(s, sympy.Basic) else _near_or_far(s, fast(_rest_series(s, slope, 12)), far)


def _rest_series(s: Any, slope: int, count: int) -> Any:
    """The sum of |B_2k| s^(k-1)/(2k)!, which converges for |s| < 4 pi^2, or its derivative."""
    c = [b / factorial(2 * k + 2) for k, b in enumerate(BERNOULLI[:count])]
    c = [k * a for k, a in enumerate(c)][1:] if slope else c
    value: Any = s * 0
    for a in reversed(c):
        value = times(a, s * 0 + 1) + s * value
    return value


def _rest_far(s: Any, slope: int) -> Any:
    c1, c2 = _far(1, s), _far(2, s)
    half = c1 / (2 * c2)  # (t/2) cot(t/2)
    if not slope:
        return (1 - half) / s
    # d/ds (t/2 cot(t/2)) = (half - s/(4 sin(t/2)^2)) / (2 s), and 4 sin(t/2)^2 = 2 s c2
    rate = (half - 1 / (2 * c2)) / (2 * s)
    return (-rate - (1 - half) / s) / s
