"""Discrete systems with symmetry for the tests of reduction: bundles over SE(2) and SO(3), invariant by construction."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy

import dalembert as da
from dalembert import cos, sin
from dalembert.discrete.equations import momentum_minus, momentum_plus
from dalembert.symbolic import number

x, y, phi, s = da.coordinates("x y phi s")
c1, c2, c3 = da.coordinates("c1 c2 c3")
u, w, a = da.parameters("u w a")
e1, e2, e3 = da.parameters("e1 e2 e3")


def ends(*coordinates):
    return [(q.at(0), q.at(1)) for q in coordinates]


@cache
def se2():
    """Planar displacements of (x, y, phi)."""
    return da.Symmetry(
        {x: x * cos(a) - y * sin(a) + u, y: x * sin(a) + y * cos(a) + w, phi: phi + a}, elements=[u, w, a]
    )


def gibbs(a, b):
    """The rotation b, then a: vectors tan(angle/2) times axis."""
    dot = sum(p * q for p, q in zip(a, b, strict=True))
    cross = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    return [(p + q + r) / (1 - dot) for p, q, r in zip(a, b, cross, strict=True)]


@cache
def so3():
    """Rotations from the left of a rotation (c1, c2, c3)."""
    c = (c1, c2, c3)
    return da.Symmetry(dict(zip(c, gibbs((e1, e2, e3), c), strict=True)), elements=[e1, e2, e3])


@cache
def planar_body():
    """A body in the plane with an internal shape s: one invariant constraint, invariant forces, no term is zero."""
    (x0, x1), (y0, y1), (p0, p1), (s0, s1) = ends(x, y, phi, s)
    along = cos(p0) * (x1 - x0) + sin(p0) * (y1 - y0)
    across = -sin(p0) * (x1 - x0) + cos(p0) * (y1 - y0)
    turn, mean = p1 - p0, (s0 + s1) / 2
    L = along**2 + (1 + mean**2) * across**2 / 2 + turn**2 * (2 + cos(mean)) + (s1 - s0) ** 2
    L += (s1 - s0) * along * sympy.Rational(1, 3) + turn * across * s0 / 4 - mean**2 / 5
    push = {x: -cos(p0) * across, y: -sin(p0) * across, phi: s1 * turn, s: along * s0}
    pull = {x: -sin(p1) * turn, y: cos(p1) * turn, phi: across, s: s1 - s0}
    slip = -sin(phi) * x.dot + cos(phi) * y.dot - s * phi.dot / 2 - s.dot / 3
    middle = (p0 + p1) / 2
    slipped = -sin(middle) * (x1 - x0) + cos(middle) * (y1 - y0) - mean * turn / 2 - (s1 - s0) / 3
    return da.DiscreteSystem(
        "planar body", [x, y, phi, s], lagrangian=L, force_minus=push, force_plus=pull, variations=[slip],
        constraints=[slipped],
    )  # fmt: skip


@cache
def turning_body():
    """A rotation with an internal shape s; L_d in the relative rotation, one constraint left-invariant in D and D_d."""
    (s0, s1), *cs = ends(s, c1, c2, c3)
    first, second = [c[0] for c in cs], [c[1] for c in cs]
    d = gibbs([-c for c in first], second)
    L = 2 * d[0] ** 2 + 3 * d[1] ** 2 + (1 + s0**2) * d[2] ** 2 + (s1 - s0) ** 2 * (1 + d[0])
    L += s1 * d[0] * d[1] + (s1 - s0) * d[2] - s0**2 / 7
    c = sympy.Matrix([c1, c2, c3])
    dot = sympy.Matrix([c1.dot, c2.dot, c3.dot])
    omega = (dot - c.cross(dot)) / (1 + c.dot(c))  # half the angular velocity in the body
    return da.DiscreteSystem(
        "turning body", [s, c1, c2, c3], lagrangian=L, variations=[omega[0] * (1 + s) - omega[2] - s.dot / 4],
        constraints=[d[0] * (1 + (s0 + s1) / 2) - d[2] - (s1 - s0) / 4],
    )  # fmt: skip


def se2_connection():
    """An affine connection: A_d^t(s, s) is not the identity."""
    s0, s1 = s.at(0), s.at(1)
    return da.DiscreteConnection(se2(), [x, y, phi, s], trivial={
        u: sympy.Rational(1, 5) + s0 * s1 / 3, w: s1 - s0**2 / 2, a: sympy.Rational(1, 4) + (s1 - s0) * s1 / 2,
    })  # fmt: skip


def so3_connection():
    s0, s1 = s.at(0), s.at(1)
    return da.DiscreteConnection(so3(), [s, c1, c2, c3], trivial={
        e1: sympy.Rational(1, 6) + s0 / 5, e2: (s1 - s0) * s0 / 3, e3: s1 / 4 - sympy.Rational(1, 9),
    })  # fmt: skip


@cache
def reduced_case(name):
    symmetry, system, connection = {
        "SE(2)": (se2, planar_body, se2_connection),
        "SO(3)": (so3, turning_body, so3_connection),
    }[name]
    return da.reduce(system(), symmetry(), connection=connection())


def configurations(reduced, count, seed=1):
    rng, q = np.random.default_rng(seed), reduced.original.coordinates
    return [{c: float(v) for c, v in zip(q, rng.uniform(-0.4, 0.4, len(q)), strict=True)} for _ in range(count)]


def pair_values(reduced, q0, q1, connection=None):
    """(r0, theta, r1) of a pair, by the names of the slots of the reduced system."""
    r0, step, r1 = (connection or reduced.connection).reduced(q0, q1)
    shape = reduced.bundle.shape
    found = {c.at(0).name: float(v) for c, v in zip(shape, r0, strict=True)}
    found |= {c.at(1).name: float(v) for c, v in zip(shape, r1, strict=True)}
    return found | {c.at(1).name: float(v) for c, v in zip(reduced.group_variables, step, strict=True)}


def slot_values(system, q0, q1):
    return {c.at(0).name: q0[c] for c in system.coordinates} | {c.at(1).name: q1[c] for c in system.coordinates}


def residual(system, before, after):
    pairs = zip(momentum_plus(system), momentum_minus(system), strict=True)
    return np.array([number(p, before) - number(q, after) for p, q in pairs])


def node_frame(reduced, place):
    """The columns h(dr) and (Ad_g e_i)_Q at a configuration."""
    over = reduced.bundle
    element, r = over.located(place)
    at = {c.name: float(v) for c, v in zip(over.shape, r, strict=True)}
    frame = np.array([[number(e, at) for e in row] for row in reduced.terms.frame_at(None)])
    moved = np.array([[number(e, at) for e in row] for row in over.act_slopes(element, over.placed())])
    return moved @ frame


def acted(reduced, element, place):
    return {c: float(e) for c, e in reduced.bundle.act(element, place).items()}
