"""The same system stated twice: Cartesian coordinates with multipliers against generalised coordinates, and two charts.

One side is a gallery system in generalised coordinates, the other is written here with the places of its particles as
coordinates and every bond as a constraint. A map r(q, t) leads from one to the other: at random states of the first, its
accelerations, carried over by the second derivative of the map, must be those of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sympy
from sympy import Expr, atan2, cos, sin, sqrt

import dalembert as da

x, y, xa, ya, xb, yb, x0, theta, s_x, s_y, r_x, r_y = da.coordinates("x y xa ya xb yb x0 theta s_x s_y r_x r_y")
x1, y1, x2, y2, x3 = da.coordinates("x1 y1 x2 y2 x3")
m, g, R, l, k, a, b, r, v, r0, omega, alpha, M, A, B = da.parameters("m g R l k a b r v r0 omega alpha M A B")
m1, m2, m3, l1, l2, m_A, m_B = da.parameters("m1 m2 m3 l1 l2 m_A m_B")


@dataclass(frozen=True)
class Pair:
    """A system in generalised coordinates, one in other coordinates, and the map from the first to the second."""

    name: str
    first: da.System
    second: da.System
    places: tuple[Expr, ...]
    values: Mapping[str, float]


def _named(system: da.System, *names: str) -> list[Any]:
    by_name = {s.name: s for s in (*system.coordinates, *system.parameters)}
    return [by_name[n] for n in names]


def _free(name: str, masses: Sequence[Any], *places: Any, potential: Any, constraints: Sequence[Any]) -> da.System:
    """Particles in the plane with bonds; a mass may be any expression."""
    kinetic = sum(w * sum(c.dot**2 for c in place) / 2 for w, place in zip(masses, places, strict=True))
    q = [c for place in places for c in place]
    return da.System(name, q, kinetic=kinetic, potential=potential, constraints=constraints)


def _with_plain_symbols(system: da.System) -> dict[Any, Any]:
    """The gallery's parameters may be positive, those here are plain: one name, two symbols. Map the first to the second."""
    return {p: da.parameters(p.name) for p in system.parameters}


def _pair(name: str, second: Callable[[], da.System], places: Callable[..., Sequence[Expr]], **values: float) -> Pair:
    first = da.gallery.load(name)
    defaults = {p.name: v for p, v in first.parameters.items()} | values
    return Pair(name, first.system, second(), tuple(places(*first.system.coordinates)), defaults)


def pulley() -> Pair:
    """003 example 3: the way of the block alone, against four coordinates with three constraints."""
    reduced = da.System("one way", [x], kinetic=(m1 + m2) * x.dot**2 / 2, potential=-m2 * g * x)
    example = da.gallery.load("block-and-hanging-weight")
    values = {p.name: v for p, v in example.parameters.items()}
    places = (x, sympy.Float(values["b"]), sympy.Float(values["d"]), values["c"] - x)
    return Pair("003 example 3", reduced, example.system, places, values)


def circle() -> Pair:
    """003 example 5."""
    return _pair(
        "pendulum", lambda: da.gallery.load("pendulum-cartesian").system, lambda f: (l * sin(f), -l * cos(f)), l=0.9
    )


def double(equal: bool) -> Pair:
    """003 example 6, and 004 examples 7.1 and 7.6 with rods of one length."""
    values = {"m1": 1.0, "m2": 2.0, "l1": 0.8, "l2": 0.8} if equal else {"m1": 0.9, "m2": 1.7, "l1": 1.1, "l2": 0.7}

    def places(f: Any, h: Any) -> Sequence[Expr]:
        near = (l1 * sin(f), -l1 * cos(f))
        return (*near, near[0] + l2 * sin(h), near[1] - l2 * cos(h))

    return _pair("double-pendulum", lambda: da.gallery.load("double-pendulum-cartesian").system, places, **values)


def moving_circle() -> Pair:
    """003 example 8: an angle on the moving circle, against the constraint that depends on time."""
    centre = (A * sin(omega * da.time), B * da.time**2)
    place = (centre[0] + R * cos(theta), centre[1] + R * sin(theta))
    speed = [e.diff(da.time) + e.diff(theta) * theta.dot for e in place]
    ring = da.System(
        "angle on a moving circle", [theta], kinetic=m * (speed[0] ** 2 + speed[1] ** 2) / 2, potential=m * g * place[1]
    )
    example = da.gallery.load("particle-on-moving-circle")
    return Pair("003 example 8", ring, example.system, place, {p.name: v for p, v in example.parameters.items()})


def pulleys() -> Pair:
    """004 example 7.4: the thread kept as 2 x1 + x2 + x3 = 0."""

    def three() -> da.System:
        return da.System(
            "three weights",
            [x1, x2, x3],
            kinetic=(m1 * x1.dot**2 + m2 * x2.dot**2 + m3 * x3.dot**2) / 2,
            potential=-g * (m1 * x1 + m2 * x2 + m3 * x3),
            constraints=[2 * x1 + x2 + x3],
        )

    return _pair("poggendorff-pulleys", three, lambda p, q: (p, q, -2 * p - q))


def cart() -> Pair:
    """004 example 7.7: cart and bob, joined by a rod."""

    def bob() -> da.System:
        return da.System(
            "cart and bob",
            [x0, x, y],
            kinetic=m1 * x0.dot**2 / 2 + m2 * (x.dot**2 + y.dot**2) / 2,
            potential=m2 * g * y,
            constraints=[(x - x0) ** 2 + y**2 - l**2],
        )

    return _pair("cart-pendulum", bob, lambda p, f: (p, p + l * sin(f), -l * cos(f)))


def moving_base() -> Pair:
    """004 example 7.10: the place of the mass in a frame at rest, with the end of the spring driven by a constraint."""

    def rest() -> da.System:
        return da.System(
            "mass and driven end",
            [x, x0],
            kinetic=m * x.dot**2 / 2 + m * x0.dot**2 / 2,
            potential=k * (x - x0) ** 2 / 2,
            constraints=[x0 - v * da.time],
        )

    return _pair("oscillator-on-moving-base", rest, lambda e: (v * da.time + e, v * da.time))


def hoop() -> Pair:
    """004 example 7.12: the way alone, against way and angle with the rolling constraint."""
    reduced = da.System("rolling hoop", [x], kinetic=m * x.dot**2, potential=-m * g * x * sin(alpha))
    example = da.gallery.load("hoop-on-incline")
    return Pair(
        "004 example 7.12", reduced, example.system, (x, x / r), {p.name: v for p, v in example.parameters.items()}
    )


def knife() -> Pair:
    """004 example 7.13: middle and angle with the knife, against two particles with a rod and the knife."""

    def ends() -> da.System:
        return _free(
            "two particles on a rod",
            [m, m],
            (xa, ya),
            (xb, yb),
            potential=0,
            constraints=[
                (xb - xa) ** 2 + (yb - ya) ** 2 - l**2,
                -xa.dot * (yb - ya) + ya.dot * (xb - xa),
            ],
        )

    def places(p: Any, q: Any, f: Any) -> Sequence[Expr]:
        return (p - l * cos(f) / 2, q - l * sin(f) / 2, p + l * cos(f) / 2, q + l * sin(f) / 2)

    return _pair("rod-with-knife-edge", ends, places)


def ladder() -> Pair:
    """004 problem 7.7: ends of the rod on the axes as masses m/6, 2m/3 in the middle; the bead on the line through them."""

    def cartesian() -> da.System:
        middle = ((xa + xb) / 2, (ya + yb) / 2)
        speed = [sum(e.diff(c) * c.dot for c in (xa, ya, xb, yb)) for e in middle]
        kinetic = m * (xa.dot**2 + ya.dot**2 + xb.dot**2 + yb.dot**2) / 12 + m * (speed[0] ** 2 + speed[1] ** 2) / 3
        return da.System(
            "ladder in Cartesian coordinates",
            [xa, ya, xb, yb, x, y],
            kinetic=kinetic + m * (x.dot**2 + y.dot**2) / 2,
            potential=m * g * (middle[1] + y),
            constraints=[xa, yb, (xb - xa) ** 2 + (yb - ya) ** 2 - l**2, (x - xa) * (yb - ya) - (y - ya) * (xb - xa)],
        )

    def places(p: Any, f: Any) -> Sequence[Expr]:
        zero = sympy.S.Zero
        return (zero, l * cos(f), l * sin(f), zero, (l / 2 + p) * sin(f), (l / 2 - p) * cos(f))

    return _pair("sliding-ladder-with-bead", cartesian, places)


def slider() -> Pair:
    """004 problem 7.10: two particles in the plane, one held to the line."""

    def plane() -> da.System:
        far = sqrt((xb - xa) ** 2 + (yb - ya) ** 2)
        return _free(
            "two particles and a spring",
            [m, m],
            (xa, ya),
            (xb, yb),
            potential=k * (far - b) ** 2 / 2 + m * g * yb,
            constraints=[ya],
        )

    return _pair("spring-pendulum-on-slider", plane, lambda p, q, f: (p, sympy.S.Zero, p + q * cos(f), -q * sin(f)))


def disc_at_rest() -> Pair:
    """004 example 7.11, two frames: the mass in a frame at rest, pulled to a point that goes round."""

    def fixed() -> da.System:
        end = (a * cos(omega * da.time), a * sin(omega * da.time))
        return da.System(
            "mass seen from a frame at rest",
            [x, y],
            kinetic=m * (x.dot**2 + y.dot**2) / 2,
            potential=k * (sqrt((x - end[0]) ** 2 + (y - end[1]) ** 2) - r0) ** 2 / 2,
        )

    def places(p: Any, f: Any) -> Sequence[Expr]:
        turned = omega * da.time + f
        return (a * cos(omega * da.time) + p * cos(turned), a * sin(omega * da.time) + p * sin(turned))

    return _pair("spring-on-rotating-disc", fixed, places)


def binary() -> Pair:
    """004 problem 7.23, two charts: mass centre and polar coordinates, against the place of A and the vector to B."""

    def cartesian() -> da.System:
        return da.System(
            "binary in Cartesian coordinates",
            [r_x, r_y, s_x, s_y],
            kinetic=m_A * (r_x.dot**2 + r_y.dot**2) / 2
            + m_B * ((r_x.dot + s_x.dot) ** 2 + (r_y.dot + s_y.dot) ** 2) / 2,
            potential=m_A * g * r_y + m_B * g * (r_y + s_y) + k * (s_x**2 + s_y**2) / 2,
        )

    def places(p: Any, q: Any, d: Any, f: Any) -> Sequence[Expr]:
        share = m_B / (m_A + m_B)
        return (p - share * d * cos(f), q - share * d * sin(f), d * cos(f), d * sin(f))

    return _pair("binary-with-linear-attraction", cartesian, places)


PAIRS = {
    "003 example 3, block and weight": pulley,
    "003 example 5, circle": circle,
    "003 example 6, double pendulum": lambda: double(False),
    "003 example 8, moving circle": moving_circle,
    "004 examples 7.1 and 7.6, double pendulum": lambda: double(True),
    "004 example 7.4, pulleys": pulleys,
    "004 example 7.7, cart and pendulum": cart,
    "004 example 7.10, moving base": moving_base,
    "004 example 7.12, hoop": hoop,
    "004 example 7.13, knife edge": knife,
    "004 problem 7.7, ladder": ladder,
    "004 problem 7.10, two particles and a spring": slider,
    "004 example 7.11, rotating and fixed frame": disc_at_rest,
    "004 problem 7.23, polar and Cartesian": binary,
}


def difference(pair: Pair, spoil: float = 0.0) -> float:
    """The largest relative distance of the accelerations of the two, at three random states; `spoil` scales velocities."""
    first, rng = pair.first, np.random.default_rng(11)
    q, w = first.coordinates, first.velocities
    plain = _with_plain_symbols(first) | _with_plain_symbols(pair.second)
    numbers = {da.parameters(n): value for n, value in pair.values.items()}
    acceleration = [c.ddot for c in q]
    rows = []
    for given in pair.places:
        place = sympy.sympify(given).xreplace(plain).xreplace(numbers)
        rate = place.diff(da.time) + sum(place.diff(c) * u for c, u in zip(q, w, strict=True))
        second = rate.diff(da.time) + sum(rate.diff(c) * u for c, u in zip(q, w, strict=True))
        rows.append([place, rate, second + sum(place.diff(c) * u for c, u in zip(q, acceleration, strict=True))])
    carried = sympy.lambdify([q, w, acceleration, da.time], rows, "math")
    worst = 0.0
    for _ in range(3):
        t = float(rng.uniform(0, 1))
        at = [float(rng.uniform(0.4, 1.0)) for _ in q]
        speeds = _allowed(first, at, rng.uniform(-1, 1, len(q)), pair.values, t)
        used = {p.name: pair.values[p.name] for p in first.parameters}
        now = da.evaluate(first, at=dict(zip((*q, *w), (*at, *speeds), strict=True)) | {da.time: t}, parameters=used)
        table = np.array(carried(at, speeds, list(now.accelerations.values()), t), dtype=float)
        start = dict(zip(pair.second.coordinates, table[:, 0], strict=True))
        start |= dict(zip(pair.second.velocities, table[:, 1] * (1 + spoil), strict=True))
        other = da.evaluate(
            pair.second,
            at=start | {da.time: t},
            parameters={p.name: pair.values[p.name] for p in pair.second.parameters},
        )
        found = np.array(list(other.accelerations.values()))
        worst = max(worst, float(np.max(np.abs(found - table[:, 2])) / max(1.0, np.max(np.abs(found)))))
    return worst


def _allowed(system: da.System, q: Any, w: Any, values: Mapping[str, float], t: float) -> list[float]:
    """Velocities nearest to w that the kinematic constraints allow."""
    if not system.constraints:
        return [float(u) for u in w]
    point = (
        dict(zip(system.coordinates, q, strict=True)) | {p: values[p.name] for p in system.parameters} | {da.time: t}
    )
    rows = np.array([[float(c.subs(point)) for c in (*r.coefficients, r.drift)] for r in system.constraints])
    return (w - np.linalg.pinv(rows[:, :-1]) @ (rows[:, :-1] @ w + rows[:, -1])).tolist()


@pytest.mark.parametrize("name", PAIRS)
def test_accelerations_agree(name):
    assert difference(PAIRS[name]()) < 1e-10


STILL = (
    "003 example 3, block and weight",
    "004 example 7.4, pulleys",
    "004 example 7.10, moving base",
    "004 example 7.12, hoop",
    "004 problem 7.10, two particles and a spring",
    "004 example 7.11, rotating and fixed frame",
    "004 problem 7.23, polar and Cartesian",
)
"""Pairs whose second system has accelerations that do not depend on velocities."""
MOVING = ("003 example 8, moving circle",)


@pytest.mark.parametrize("name", [n for n in PAIRS if n not in (*STILL, *MOVING)])
def test_control_other_velocities_are_told_apart(name):
    """Velocities of one side changed by a thousandth; they stay admissible, since no constraint there has a drift."""
    assert difference(PAIRS[name](), spoil=1e-3) > 1e-6


@pytest.mark.parametrize("name", (*STILL, *MOVING))
def test_control_another_parameter_is_told_apart(name):
    """Where velocities do not matter or may not be changed: the second system in another field, or with another spring."""
    pair = PAIRS[name]()
    key = "k" if "k" in pair.values else "g"
    other = dict(pair.values) | {key: pair.values[key] * 1.001}
    old = next(p for p in pair.second.parameters if p.name == key)
    energies = {n: e.subs(old, other[key]) for n, e in pair.second.energies.items()}
    spoilt = da.System(
        "spoilt", pair.second.coordinates, **energies, constraints=[c.expression for c in pair.second.constraints]
    )
    assert difference(Pair(name, pair.first, spoilt, pair.places, pair.values)) > 1e-5


def test_control_the_map_matters():
    """With the angle of the spring measured the other way the frames disagree."""
    pair = disc_at_rest()
    angle = pair.first.coordinates[1]
    wrong = tuple(e.subs(angle, -angle) for e in pair.places)
    assert difference(Pair(pair.name, pair.first, pair.second, wrong, pair.values)) > 1e-2


def test_the_polar_angle_is_read_back():
    """The map of 7.23 inverted: atan2 and the distance give back the coordinates, so it is a chart."""
    pair = binary()
    numbers = {p: pair.values[p.name] for p in pair.first.parameters}
    numbers |= {da.parameters(n): value for n, value in pair.values.items()}
    q = pair.first.coordinates
    at = dict(zip(q, (0.3, -0.2, 0.7, 1.1), strict=True))
    place = [float(sympy.sympify(e).subs(numbers).subs(at)) for e in pair.places]
    assert float(atan2(place[3], place[2])) == pytest.approx(1.1, rel=1e-13)
    assert np.hypot(place[2], place[3]) == pytest.approx(0.7, rel=1e-13)
