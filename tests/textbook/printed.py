"""The equations of motion as the documents print them, typed by hand and solved in 30 digits; nothing of the library.

Each function takes positions q, velocities v, accelerations a (multipliers after them), parameters p by name and time t, and
gives what must vanish. The formulas are affine in a, so a is found from their values at a = 0 and at unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from mpmath import cos, lu_solve, matrix, mpf, pi, sin, sqrt, workdps

Residual = Callable[[Any, Any, Any, Any, Any], Sequence[Any]]


def solved(
    residual: Residual, q: Sequence[float], v: Sequence[float], parameters: Mapping[str, float], t: float, unknowns: int
) -> list[Any]:
    """The accelerations and multipliers for which a printed set of equations holds."""
    with workdps(30):
        q, v = [mpf(x) for x in q], [mpf(x) for x in v]
        p, t = SimpleNamespace(**{name: mpf(value) for name, value in parameters.items()}), mpf(t)
        rest = residual(q, v, [mpf(0)] * unknowns, p, t)
        assert len(rest) == unknowns, "as many equations as unknowns"
        slopes = matrix(unknowns, unknowns)
        for k in range(unknowns):
            unit = residual(q, v, [mpf(k == j) for j in range(unknowns)], p, t)
            for i in range(unknowns):
                slopes[i, k] = unit[i] - rest[i]
        return list(lu_solve(slopes, -matrix(list(rest))))


# -------------------- Newton's laws and d'Alembert's principle --------------------


def incline(q, v, a, p, t):
    """Example 2': m r.ddot = m g (0, -1) + lambda grad f with f = y + b x/a - b."""
    slope = p.b / p.a
    return [p.m * a[0] - a[2] * slope, p.m * a[1] + p.m * p.g - a[2], slope * a[0] + a[1]]


def hanging(q, v, a, p, t):
    """Example 3: (0, 1, 0, 0), (1, 0, 0, 1), (0, 0, 1, 0) are the rows of the constraints."""
    x1, y1, x2, y2, table, thread, plumb = a
    return [
        p.m1 * x1 - thread,
        p.m1 * y1 + p.m1 * p.g - table,
        p.m2 * x2 - plumb,
        p.m2 * y2 + p.m2 * p.g - thread,
        y1,
        x1 + y2,
        x2,
    ]


def circle(q, v, a, p, t):
    """Example 5: lambda = m (g y - v^2)/(2 R^2), reaction 2 lambda (x, y)."""
    (x, y), lam = q, a[2]
    return [
        p.m * a[0] - 2 * lam * x,
        p.m * a[1] + p.m * p.g - 2 * lam * y,
        lam - p.m * (p.g * y - v[0] ** 2 - v[1] ** 2) / (2 * p.l**2),
    ]


def double_cartesian(q, v, a, p, t):
    """Example 6: M lambda = D, with M and D as printed."""
    x1, y1, x2, y2 = q
    d = (x1 - x2, y1 - y2)
    inner = (x1 * d[0] + y1 * d[1]) / p.m1
    D = (
        2 * p.g * y1 - 2 * (v[0] ** 2 + v[1] ** 2),
        -2 * ((v[0] - v[2]) ** 2 + (v[1] - v[3]) ** 2),
    )
    one, two = a[4], a[5]
    return [
        p.m1 * a[0] - 2 * one * x1 - 2 * two * d[0],
        p.m1 * a[1] + p.m1 * p.g - 2 * one * y1 - 2 * two * d[1],
        p.m2 * a[2] + 2 * two * d[0],
        p.m2 * a[3] + p.m2 * p.g + 2 * two * d[1],
        4 * (p.l1**2 / p.m1 * one + inner * two) - D[0],
        4 * (inner * one + (p.m1 + p.m2) * p.l2**2 / (p.m1 * p.m2) * two) - D[1],
    ]


def moving_circle(q, v, a, p, t):
    """Example 8: lambda = m (g eta + xi a.ddot + eta b.ddot - xi.dot^2 - eta.dot^2)/(2 R^2)."""
    xi, eta = q[0] - p.A * sin(p.omega * t), q[1] - p.B * t**2
    xi_dot, eta_dot = v[0] - p.A * p.omega * cos(p.omega * t), v[1] - 2 * p.B * t
    a_ddot, b_ddot = -p.A * p.omega**2 * sin(p.omega * t), 2 * p.B
    lam = a[2]
    return [
        p.m * a[0] - 2 * lam * xi,
        p.m * a[1] + p.m * p.g - 2 * lam * eta,
        lam - p.m * (p.g * eta + xi * a_ddot + eta * b_ddot - xi_dot**2 - eta_dot**2) / (2 * p.R**2),
    ]


# -------------------- analytical dynamics, examples --------------------


def poggendorff(q, v, a, p, t):
    """(7.18), (7.19)."""
    return [
        (p.m1 + 4 * p.m3) * a[0] + 2 * p.m3 * a[1] - p.m1 * p.g + 2 * p.m3 * p.g,
        (p.m2 + p.m3) * a[1] + 2 * p.m3 * a[0] - p.m2 * p.g + p.m3 * p.g,
    ]


def half_disc(q, v, a, p, t):
    """(7.22), corrected."""
    theta = q[0]
    return [a[0] + 8 * (v[0] ** 2 + p.g / p.R) * sin(theta) / (9 * pi - 16 * cos(theta))]


def double_pendulum(q, v, a, p, t):
    """(7.24), (7.25), with one length."""
    l, d = p.l1, q[1] - q[0]
    m = p.m1 + p.m2
    return [
        m * l**2 * a[0] + p.m2 * l**2 * a[1] * cos(d) - p.m2 * l**2 * v[1] ** 2 * sin(d) + m * p.g * l * sin(q[0]),
        p.m2 * l**2 * a[0] * cos(d)
        + p.m2 * l**2 * a[1]
        + p.m2 * l**2 * v[0] ** 2 * sin(d)
        + p.m2 * p.g * l * sin(q[1]),
    ]


def cart(q, v, a, p, t):
    """(7.47), corrected, and the equation of the cart before it."""
    theta, w, m = q[1], v[1], p.m1 + p.m2
    return [
        a[0] - p.m2 / m * (-p.l * a[1] * cos(theta) + p.l * w**2 * sin(theta)),
        p.m2 * p.l**2 * a[1] * (1 - p.m2 / m * cos(theta) ** 2)
        + p.m2**2 / m * p.l**2 * w**2 * sin(theta) * cos(theta)
        + p.m2 * p.g * p.l * sin(theta),
    ]


def driven_cart(q, v, a, p, t):
    """l theta.ddot + g sin(theta) = 0."""
    return [p.l * a[0] + p.g * sin(q[0])]


def moving_base(q, v, a, p, t):
    """m x.ddot + k x = 0."""
    return [p.m * a[0] + p.k * q[0]]


def rotating_disc(q, v, a, p, t):
    """Example 7.11."""
    (r, f), (rd, fd) = q, v
    m, w = p.m, p.omega
    return [
        m * a[0] - m * r * fd**2 - 2 * m * r * w * fd - m * r * w**2 - m * p.a * w**2 * cos(f) + p.k * (r - p.r0),
        m * r**2 * a[1] + 2 * m * r * rd * fd + 2 * m * r * w * rd + m * p.a * r * w**2 * sin(f),
    ]


def hoop_on_incline(q, v, a, p, t):
    """Example 7.12."""
    return [
        p.m * a[0] - p.m * p.g * sin(p.alpha) + a[2],
        p.m * p.r**2 * a[1] - a[2] * p.r,
        p.r * a[1] - a[0],
    ]


def knife(q, v, a, p, t):
    """(7.85)-(7.87), and theta.ddot = -u theta.dot/l with u the speed along the rod."""
    theta, lam = q[2], a[3]
    u = v[0] * cos(theta) + v[1] * sin(theta)
    return [
        2 * p.m * a[0] + lam * sin(theta),
        2 * p.m * a[1] - lam * cos(theta),
        p.m * p.l**2 / 2 * a[2] + lam * p.l / 2,
        a[2] + u * v[2] / p.l,
    ]


# -------------------- analytical dynamics, problems --------------------


def wedge(q, v, a, p, t):
    """7.1: constant momentum, and s.ddot."""
    return [3 * a[0] + sqrt(2) * a[1], a[1] - 3 * sqrt(2) / 7 * p.g]


def driven_knives(q, v, a, p, t):
    """7.2: lambda = -2 m omega v0, with v0 the speed across the rod."""
    c, s = cos(p.omega * t), sin(p.omega * t)
    across = -v[0] * s + v[1] * c
    return [2 * p.m * a[0] - a[2] * c, 2 * p.m * a[1] - a[2] * s, a[2] + 2 * p.m * p.omega * across]


def slot(q, v, a, p, t):
    """7.3."""
    (x, th, _), (xd, w, ps) = q, v
    rho, rate = x + p.l * sin(th), xd + p.l * w * cos(th)
    return [
        a[0] + p.l * a[1] * cos(th) - p.l * w**2 * sin(th) - rho * ps**2,
        p.l * a[1] + a[0] * cos(th) - rho * ps**2 * cos(th) + p.g * sin(th),
        (p.M * p.R**2 / 2 + p.m * rho**2) * a[2] + 2 * p.m * rho * rate * ps,
    ]


def tangent_rod(q, v, a, p, t):
    """7.4."""
    th, (f, w) = q[1], v
    return [
        (p.R**2 + p.l**2 * sin(th) ** 2) * a[0]
        + 2 * p.l**2 * sin(th) * cos(th) * w * f
        + p.R * p.l * (a[1] * cos(th) - w**2 * sin(th)),
        p.l**2 * a[1] + p.R * p.l * a[0] * cos(th) - p.l**2 * f**2 * sin(th) * cos(th) + p.g * p.l * sin(th),
    ]


def pulled_bead(q, v, a, p, t):
    """7.5, with F = A sin(Omega t)."""
    (th, f), (w, fd) = q, v
    F, m, M, R, g = p.A * sin(p.Omega * t), p.m, p.M, p.R, p.g
    return [
        2 * R**2 * (M + m + m * cos(f)) * a[0]
        + m * R**2 * (1 + cos(f)) * a[1]
        - m * R**2 * sin(f) * (2 * w * fd + fd**2)
        + (M + m) * g * R * sin(th)
        + m * g * R * sin(th + f),
        m * R**2 * a[1]
        + m * R**2 * (1 + cos(f)) * a[0]
        + m * R**2 * w**2 * sin(f)
        + m * g * R * sin(th + f)
        - F * R * sin(f / 2),
    ]


def rotating_hoop(q, v, a, p, t):
    """7.6."""
    return [a[0] - p.omega**2 * sin(q[0]) * cos(q[0]) + p.g / p.R * sin(q[0])]


def ladder(q, v, a, p, t):
    """7.7."""
    (s, th), (sd, w), l = q, v, p.l
    return [
        a[0] + l / 2 * sin(2 * th) * a[1] + l / 2 * cos(2 * th) * w**2 - s * w**2 - p.g * cos(th),
        (7 * l**2 / 12 + l * s * cos(2 * th) + s**2) * a[1]
        + l / 2 * sin(2 * th) * a[0]
        - l * s * sin(2 * th) * w**2
        + (l * cos(2 * th) + 2 * s) * sd * w
        - p.g * (l - s) * sin(th),
    ]


def turning_hoop(q, v, a, p, t):
    """7.8."""
    f, (fd, ps) = q[0], v
    m, R = p.m, p.R
    return [
        m * R**2 * a[0] - m * R**2 * sin(f) * cos(f) * ps**2 + m * p.g * R * sin(f),
        (p.M * R**2 / 2 + m * R**2 * sin(f) ** 2) * a[1] + m * R**2 * sin(2 * f) * fd * ps - p.N,
    ]


def rotating_plane(q, v, a, p, t):
    """7.9."""
    (o, u), (od, ud) = q, v
    M, m, d, w2 = p.M, p.m, p.a, p.omega**2
    return [
        (M + m) * d**2 * a[0]
        + m * d**2 * (a[1] * cos(o - u) + ud**2 * sin(o - u))
        - (M + m) * d**2 * w2 * sin(o) * cos(o)
        - m * d**2 * w2 * sin(u) * cos(o)
        + p.k * d**2 * sin(o) * cos(o)
        + (M + m) * p.g * d * sin(o),
        m * d**2 * (a[1] + a[0] * cos(o - u) - od**2 * sin(o - u))
        - m * d**2 * w2 * cos(u) * (sin(o) + sin(u))
        + m * p.g * d * sin(u),
    ]


def slider(q, v, a, p, t):
    """7.10."""
    (_, s, th), (_, sd, w), m = q, v, p.m
    return [
        2 * a[0] + a[1] * cos(th) - s * a[2] * sin(th) - 2 * sd * w * sin(th) - s * w**2 * cos(th),
        m * a[1] + m * a[0] * cos(th) - m * s * w**2 + p.k * (s - p.b) - m * p.g * sin(th),
        m * s**2 * a[2] - m * s * a[0] * sin(th) + 2 * m * s * sd * w - m * p.g * s * cos(th),
    ]


def hoop_in_hoop(q, v, a, p, t):
    """7.11."""
    (th, f), (w, fd) = q, v
    third = mpf(2) / 3
    return [
        4 * a[0] - third * (1 - cos(th - f)) * a[1] + third * fd**2 * sin(th - f) + 2 * p.g / p.R * sin(th),
        mpf(8) / 9 * a[1]
        - third * (1 - cos(th - f)) * a[0]
        - third * w**2 * sin(th - f)
        + 2 * p.g / (3 * p.R) * sin(f),
    ]


def two_axes(q, v, a, p, t):
    """7.12."""
    th, (w, f) = q[0], v
    m, d = p.m, p.a
    return [
        4 * m * d**2 * a[0] - 4 * m * d**2 * sin(th) * cos(th) * f**2 - 2 * m * p.g * d * sin(th),
        sin(th) ** 2 * a[1] + 2 * sin(th) * cos(th) * w * f,
    ]


def damped_disc(q, v, a, p, t):
    """7.13."""
    th, (xd, w) = q[1], v
    C, S, m, l, c = cos(th + p.alpha), sin(th + p.alpha), p.m, p.l, p.c
    return [
        (3 * p.M / 2 + m) * a[0]
        + m * l * a[1] * C
        - m * l * w**2 * S
        - (p.M + m) * p.g * sin(p.alpha)
        + 2 * c * xd
        + c * l * w * C,
        m * l**2 * a[1] + m * l * a[0] * C + m * p.g * l * sin(th) + c * l**2 * w + c * l * xd * C,
    ]


def turning_plate(q, v, a, p, t):
    """7.14."""
    return [a[0] + 8 * p.g / (3 * pi * p.r) * sin(q[0]), a[1]]


def cone(q, v, a, p, t):
    """7.15."""
    (rho, _, th, _), (rd, fd, w, ps) = q, v
    l, lam = 2 * p.b - rho, p.lam
    return [
        (1 + lam) * a[0]
        - rho * sin(p.alpha) ** 2 * fd**2
        + lam * l * (w**2 + sin(th) ** 2 * ps**2)
        - p.g * cos(p.alpha)
        + lam * p.g * cos(th),
        rho * a[1] + 2 * rd * fd,
        l * a[2] - 2 * rd * w - l * sin(th) * cos(th) * ps**2 + p.g * sin(th),
        l * sin(th) * a[3] - 2 * rd * sin(th) * ps + 2 * l * cos(th) * w * ps,
    ]


def leaning_rod(q, v, a, p, t):
    """7.16."""
    s, c, scale = sin(q[0] / 2), cos(q[0] / 2), p.M * p.R**2
    return [
        scale * (3 / (8 * s**4) + mpf(16) / 3) * a[0]
        - 3 * scale / 8 * c / s**5 * v[0] ** 2
        + 2 * p.M * p.g * p.R * cos(q[0])
    ]


def bar(q, v, a, p, t):
    """7.17."""
    theta, lam = q[2], a[3]
    u = v[0] * cos(theta) + v[1] * sin(theta)
    return [
        p.m * a[0] + lam * sin(theta),
        p.m * a[1] - lam * cos(theta),
        p.m * p.l**2 / 12 * a[2] + lam * p.l / 2,
        a[2] + 3 * u * v[2] / (2 * p.l),
    ]


def semi_hoop(q, v, a, p, t):
    """7.18."""
    (_, th, f), (_, w, fd) = q, v
    M, m, R, g = p.M, p.m, p.R, p.g
    return [
        (M + m) * a[0] - m * R * (a[2] * sin(f) + fd**2 * cos(f)),
        (M * R**2 / 2 + m * R**2 * sin(f) ** 2) * a[1]
        + m * R**2 * w * fd * sin(2 * f)
        + g * R * sin(th) * (2 * M / pi + m * sin(f)),
        m * R**2 * a[2] - m * R * a[0] * sin(f) - m * R**2 * w**2 * sin(f) * cos(f) - m * g * R * cos(f) * cos(th),
    ]


def two_pulleys(q, v, a, p, t):
    """7.19."""
    e = 3 * q[1] - 2 * q[0]
    return [3 * p.m_A / 2 * a[0] - 2 * p.k * e, 3 * p.m_B * a[1] + 3 * p.k * e]


def driven_rod(q, v, a, p, t):
    """7.20."""
    f, fd = q[1], v[1]
    F, m, R, l = p.A * sin(p.Omega * t), p.m, p.R, p.l
    return [
        (3 * p.M / 2 + m) * R**2 * a[0] + m * R * l / 2 * (a[1] * cos(f) - fd**2 * sin(f)) - R * F,
        m * l**2 / 3 * a[1] + m * R * l / 2 * a[0] * cos(f) + m * p.g * l / 2 * sin(f) - l * F * cos(f),
    ]


def bead_on_spring(q, v, a, p, t):
    """7.21."""
    (th, ps), (w, pd) = q, v
    d, n = ps - th, p.g / p.R
    return [
        7 * a[0] + a[1] * cos(d) - pd**2 * sin(d) + n * (4 * sin(th) - sin(d)),
        a[1] + a[0] * cos(d) + w**2 * sin(d) + n * (sin(ps) + sin(d)),
    ]


def disc_in_hoop(q, v, a, p, t):
    """7.22."""
    (th, f), (w, fd) = q, v
    M, m, d2, k, g, d = p.M, p.m, p.a**2, p.k, p.g, q[1] - q[0]
    spring = 2 * k * d2 * sin(d / 2) - k * d2 * sin(d)
    return [
        (8 * M + 6 * m) * d2 * a[0]
        + m * d2 * (2 * cos(d) - 1) * a[1]
        - 2 * m * d2 * fd**2 * sin(d)
        + 2 * (M + m) * g * p.a * sin(th)
        - spring,
        3 * m * d2 / 2 * a[1]
        + m * d2 * (2 * cos(d) - 1) * a[0]
        + 2 * m * d2 * w**2 * sin(d)
        + m * g * p.a * sin(f)
        + spring,
    ]


def binary(q, v, a, p, t):
    """7.23 b, c."""
    s, mu = q[2], p.m_A * p.m_B / (p.m_A + p.m_B)
    C = mu * s**2 * v[3]
    return [a[0], a[1] + p.g, mu * a[2] - C**2 / (mu * s**3) + p.k * s, s * a[3] + 2 * v[2] * v[3]]


def trolley(q, v, a, p, t):
    """7.24."""
    th, (xd, w) = q[1], v
    return [
        (p.M + p.m) * a[0] + p.m * p.l * (a[1] * cos(th) - w**2 * sin(th)) + p.c * xd,
        p.l * a[1] + a[0] * cos(th) + p.g * sin(th),
    ]


def semicircle(q, v, a, p, t):
    """7.25."""
    (th, f), (w, fd) = q, v
    M, m, R, d = p.M, p.m, p.R, p.d
    return [
        (p.I + M * R**2 - 2 * M * R * d * cos(th) + m * R**2) * a[0]
        + M * R * d * w**2 * sin(th)
        + m * R**2 * (a[1] * cos(f) - fd**2 * sin(f))
        + M * p.g * d * sin(th),
        R * a[1] + R * a[0] * cos(f) + p.g * sin(f),
    ]


def two_discs(q, v, a, p, t):
    """7.26."""
    return [a[0] - 2 * p.g * sin(p.beta) / 3, 3 * p.M / 4 * a[1] + p.k * q[1]]


EQUATIONS: dict[str, Residual] = {
    "block-on-incline": incline,
    "block-and-hanging-weight": hanging,
    "pendulum-cartesian": circle,
    "double-pendulum-cartesian": double_cartesian,
    "particle-on-moving-circle": moving_circle,
    "poggendorff-pulleys": poggendorff,
    "half-disc-rolling": half_disc,
    "double-pendulum": double_pendulum,
    "cart-pendulum": cart,
    "cart-pendulum-driven": driven_cart,
    "oscillator-on-moving-base": moving_base,
    "spring-on-rotating-disc": rotating_disc,
    "hoop-on-incline": hoop_on_incline,
    "rod-with-knife-edge": knife,
    "wedge-and-disc": wedge,
    "rod-on-driven-knives": driven_knives,
    "disc-with-slot-and-pendulum": slot,
    "pendulum-on-circle": tangent_rod,
    "hung-hoop-with-pulled-bead": pulled_bead,
    "bead-on-rotating-hoop": rotating_hoop,
    "sliding-ladder-with-bead": ladder,
    "turning-hoop-with-bead": turning_hoop,
    "double-pendulum-in-rotating-plane": rotating_plane,
    "spring-pendulum-on-slider": slider,
    "hoop-rolling-in-hoop": hoop_in_hoop,
    "rod-on-two-axes": two_axes,
    "disc-with-pendulum-on-incline": damped_disc,
    "half-disc-in-turning-plane": turning_plate,
    "particles-through-cone": cone,
    "disc-under-leaning-rod": leaning_rod,
    "bar-with-knife-edge": bar,
    "semi-hoop-on-line-with-bead": semi_hoop,
    "two-pulleys-with-spring": two_pulleys,
    "disc-with-driven-rod": driven_rod,
    "hung-hoop-with-bead-on-spring": bead_on_spring,
    "disc-rolling-in-hung-hoop": disc_in_hoop,
    "binary-with-linear-attraction": binary,
    "plate-hung-from-trolley": trolley,
    "rolling-semicircle-with-particle": semicircle,
    "two-discs-on-incline": two_discs,
}
"""The printed equations of every gallery system that comes from the two documents."""
