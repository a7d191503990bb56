"""Vectors whose components are expressions in coordinates and time: rates, products, turns in space.

A vector has two components in the plane and three in space. A turn in the plane has one component (about the normal of
the plane, counterclockwise), in space three.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy import Expr, cos, sin
from sympy.simplify.fu import TR5, TR6, TR10i

from ...decide.zero import vanishes
from ...errors import ModelError, told
from ...symbolic import expanded
from .. import checks
from ..coordinates import Coordinate, Velocity, time

Vector = tuple[Expr, ...]
"""Components along fixed axes."""

READABLE = 60
"""Expressions that have more terms than this when multiplied out are left as they are: they are unreadable."""


def vector(given: Any, role: str) -> Vector:
    """Two or three expressions."""
    return checks.components(given, role, "components")


def constant(given: Any, role: str) -> Expr:
    """An expression that holds parameters only."""
    checked = checks.expression(given, role)
    for symbol in sorted(checked.free_symbols, key=str):
        if symbol == time or isinstance(symbol, Coordinate | Velocity):
            raise ModelError(f"{role}: {symbol} in {checked}. This must be constant: use numbers and parameters only.")
    return checked


def rate(expression: Expr) -> Expr:
    """df/dt along a motion: of f(q, t) with velocities, of f(q, v, t) with accelerations too."""
    moving = [s for s in sorted(expression.free_symbols, key=str) if isinstance(s, Coordinate | Velocity)]
    return sympy.Add(expression.diff(time), *(expression.diff(s) * s.dot for s in moving))


def rates(v: Vector) -> Vector:
    """The rate of each component."""
    return tuple(rate(e) for e in v)


def _alike(a: Sequence[Expr], b: Sequence[Expr]) -> None:
    if len(a) != len(b):
        raise ModelError(
            f"[{', '.join(map(str, a))}] has {len(a)} components, [{', '.join(map(str, b))}] has {len(b)}. Write both in the "
            f"plane, [x, y], or both in space, [x, y, z]."
        )


def dot(a: Sequence[Expr], b: Sequence[Expr]) -> Expr:
    """a . b"""
    _alike(a, b)
    return sympy.Add(*(x * y for x, y in zip(a, b, strict=True)))


def plus(a: Vector, b: Vector) -> Vector:
    """a + b"""
    _alike(a, b)
    return tuple(x + y for x, y in zip(a, b, strict=True))


def times(c: Any, a: Vector) -> Vector:
    """c a"""
    return tuple(c * x for x in a)


def minus(a: Vector, b: Vector) -> Vector:
    """a - b"""
    return plus(a, times(-1, b))


def cross(a: Vector, b: Vector) -> Vector:
    """a x b: three components in space, one (along the normal) in the plane."""
    _alike(a, b)
    if len(a) == 2:
        return (a[0] * b[1] - a[1] * b[0],)
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def swept(spin: Vector, arm: Vector) -> Vector:
    """The velocity spin x arm of the end of an arm that turns."""
    return (-spin[0] * arm[1], spin[0] * arm[0]) if len(arm) == 2 else cross(spin, arm)


def left(direction: Vector) -> Vector:
    """A direction of the plane turned by a right angle, counterclockwise."""
    return (-direction[1], direction[0])


def size(v: Vector) -> Expr:
    """|v|"""
    return sympy.sqrt(collected(dot(v, v)))


def unit(v: Vector) -> Vector:
    """v/|v|"""
    length = size(v)
    return v if length == 1 else tuple(x / length for x in v)


def collected(expression: Expr) -> Expr:
    """Collected by powers of velocities, with sums of squares and of products of sines and cosines combined."""
    if _terms(expression) > READABLE:
        return expression
    velocities = [s for s in expression.free_symbols if isinstance(s, Velocity)]
    groups: dict[Expr, list[Expr]] = {}
    for term in sympy.Add.make_args(expanded(expression)):
        coefficient, power = term.as_independent(*velocities, as_Add=False)
        groups.setdefault(power, []).append(coefficient)
    return sympy.Add(*(_contracted(sympy.Add(*terms)) * power for power, terms in groups.items()))


def _terms(expression: Expr) -> int:
    """How many terms an expression has when multiplied out, before like terms are combined."""
    if expression.is_Add:
        return sum(_terms(e) for e in expression.args)
    if expression.is_Mul:
        return math.prod(_terms(e) for e in expression.args)
    base, power = expression.as_base_exp()
    return _terms(base) ** min(int(power), 9) if power.is_Integer and power > 1 else 1


def _contracted(expression: Expr) -> Expr:
    if len(expression.args) < 2 or not expression.has(sin, cos):
        return expression
    squares = expanded(TR5(expression))
    pairs = TR10i(squares) if len(squares.args) <= READABLE / 4 else squares  # it compares all pairs of terms
    best = min((expression, squares, pairs), key=lambda e: (e.count_ops(), str(e)))
    if not (squares.is_Add and any(isinstance(p.base, cos) for p in squares.atoms(sympy.Pow))):
        return best
    sines = expanded(TR6(squares))  # 1 - cos^2 back to sin^2
    return sines if sines.count_ops() < best.count_ops() else best


@dataclass(frozen=True)
class Orientation:
    """How a body is turned in space.

    matrix:       takes components along the axes of the body to components along the fixed axes
    spin:         the angular velocity along the axes of the body
    nodes:        the axis of the second of three turns, along the fixed axes, where there is one
    constraints:  constraints on the coordinates of the orientation
    swelling:     a velocity that vanishes under these constraints; the coordinates have no other inertia along it
    """

    matrix: sympy.ImmutableMatrix
    spin: Vector
    nodes: Vector | None = None
    constraints: tuple[Expr, ...] = ()
    swelling: Expr = sympy.S.Zero

    def outward(self, v: Vector) -> Vector:
        """Components along the fixed axes of a vector given along the axes of the body."""
        return tuple(self.matrix * sympy.Matrix(v))


def _about(axis: str, angle: Expr) -> sympy.Matrix:
    c, s = cos(angle), sin(angle)
    rows = {
        "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }
    return sympy.Matrix(rows[axis])


def turns(axes: str, *angles: Any) -> Orientation:
    """Turns one after the other, each about an axis of the body as the turns before have left it.

    turns("zxz", psi, theta, phi) are Euler's angles: precession, nutation, spin. turns("zyx", yaw, pitch, roll) are
    those of ships and aircraft. turns("z", psi) is a turn about one fixed axis. Any sequence of axes is allowed.
    """
    if not isinstance(axes, str) or not axes or set(axes) - set("xyz") or len(axes) != len(angles):
        raise ModelError(
            f"turns({told(axes)}) with {len(angles)} angles: give the axes as letters x, y, z and one angle for each, for "
            f'example turns("zxz", psi, theta, phi).'
        )
    listed = [checks.expression(a, "angle") for a in angles]
    matrix, spin, nodes = sympy.eye(3), sympy.zeros(3, 1), None
    for k, (axis, angle) in enumerate(zip(axes, listed, strict=True)):
        direction = sympy.Matrix([int(axis == other) for other in "xyz"])
        if k == 1:
            nodes = tuple(matrix * direction)
        step = _about(axis, angle)
        matrix, spin = matrix * step, step.T * spin + direction * rate(angle)
    return Orientation(sympy.ImmutableMatrix(matrix), tuple(spin), nodes)


def rotation(matrix: Any) -> Orientation:
    """The orientation given by a rotation matrix, body axes to fixed axes; the angular velocity follows from it."""
    try:
        R = sympy.ImmutableMatrix(matrix)
    except (TypeError, ValueError):
        R = sympy.ImmutableMatrix(0, 0, [])
    if R.shape != (3, 3):
        raise ModelError(f"rotation: got {told(matrix)}. Expected a matrix of 3 rows and 3 columns.")
    if not all(vanishes(e) for e in (*(R.T * R - sympy.eye(3)), R.det() - 1)):
        raise ModelError(
            "rotation: the matrix is not a rotation: its columns must be orthogonal, of length one, and right-handed. "
            "Check its signs, or write it with turns(...)."
        )
    W = R.T * R.applyfunc(rate)
    return Orientation(R, tuple(collected(W[i, j]) for i, j in ((2, 1), (0, 2), (1, 0))))


def quaternion(q0: Any, q1: Any, q2: Any, q3: Any) -> Orientation:
    """The orientation given by a unit quaternion, q0 its scalar part; that it is of length one is a constraint.

    q0 = cos(angle/2) and (q1, q2, q3) = axis sin(angle/2).
    """
    w, x, y, z = (checks.expression(e, "quaternion") for e in (q0, q1, q2, q3))
    matrix = sympy.ImmutableMatrix(
        [
            [w**2 + x**2 - y**2 - z**2, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w**2 - x**2 + y**2 - z**2, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w**2 - x**2 - y**2 + z**2],
        ]
    )
    v, dw = (x, y, z), rate(w)
    spin = times(2, minus(minus(times(w, rates(v)), times(dw, v)), cross(v, rates(v))))
    length = w**2 + x**2 + y**2 + z**2
    return Orientation(matrix, spin, None, (length - 1,), rate(length) / 2)
