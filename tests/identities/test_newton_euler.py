"""Balances of force and moment against Lagrange's equations with multipliers: accelerations and reactions agree.

The last part is the disc that rolls on a plane and leans as it likes: five coordinates, two constraints on velocities
that no choice of coordinates absorbs. Its equations are derived here a third time, with vectors and numbers only.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import ModelError, ModelWarning, cos, sin, sqrt

b = da.bodies

x, y, x1, y1, x2, y2, X, s = da.coordinates("x y x1 y1 x2 y2 X s")
theta, psi, phi, theta1, theta2, angle = da.coordinates("theta psi phi theta1 theta2 angle")
m, g, l, R, M, alpha, k, c = da.parameters("m g l R M alpha k c", positive=True)
t = da.time

VALUES = {m: 1.2, g: 9.81, l: 0.8, R: 0.9, M: 2.0, alpha: 0.5, k: 30.0, c: 0.4}


def two_ways(whole, at, reactions, values=VALUES):
    """The state by Lagrange's equations and by the balances."""
    given = {p: values[p] for p in whole.system.parameters}
    one = da.evaluate(whole.system, at=at, parameters=given)
    full = {**at, **{q.dot: v for q, v in one.velocities.items()}}
    return one, whole.newton_euler(reactions).solve(full, values)


def agree(one, two):
    return list(one.accelerations.values()) == pytest.approx(list(two.accelerations.values()), rel=1e-11, abs=1e-11)


def test_hoop_on_an_incline():
    """Example 7.12: the multiplier is the friction, and the balances give the normal force too."""
    ahead, normal = [cos(alpha), -sin(alpha)], [sin(alpha), cos(alpha)]
    hoop = b.PlaneBody(b.hoop(m, R), [x * e for e in ahead], -theta)
    whole = b.assemble("hoop", [x, theta], bodies=[hoop], loads=[b.Gravity(g)],
                       constraints=b.rolling_on_line(hoop, R, ahead))  # fmt: skip
    contact = b.Contact(hoop, [x * e - R * n for e, n in zip(ahead, normal, strict=True)], [ahead, normal])
    one, two = two_ways(whole, {x: 0.3, theta: 0.1, x.dot: 0.9}, [contact])
    assert agree(one, two)
    assert two.accelerations[x] == pytest.approx(9.81 * np.sin(0.5) / 2, rel=1e-12)
    assert two.reactions[0] == pytest.approx(one.multipliers[0], rel=1e-12)
    assert two.reactions == pytest.approx((-1.2 * 9.81 * np.sin(0.5) / 2, 1.2 * 9.81 * np.cos(0.5)), rel=1e-12)
    higher = b.Contact(hoop, hoop, [ahead, normal])
    assert not agree(*two_ways(whole, {x: 0.3, theta: 0.1, x.dot: 0.9}, [higher]))


def test_rod_with_a_blade():
    """Example 7.13, (7.90)-(7.92): the multiplier is the force across the blade."""
    along = [cos(theta), sin(theta)]
    one = b.Particle(m, [x - l / 2 * along[0], y - l / 2 * along[1]])
    two = b.Particle(m, [x + l / 2 * along[0], y + l / 2 * along[1]])
    whole = b.assemble("rod", [x, y, theta], bodies=[one, two], constraints=b.knife_edge(one, along))
    reactions = [b.Contact(one, along=[[-along[1], along[0]]]), b.Contact(two, along=[along], by=one)]
    at = {x: 0, y: 0, theta: 0.4, x.dot: 0.626457357, theta.dot: 1.3}
    lagrange, balance = two_ways(whole, at, reactions)
    assert agree(lagrange, balance)
    assert balance.reactions[0] == pytest.approx(lagrange.multipliers[0], rel=1e-12)
    assert balance.reactions[0] == pytest.approx(1.404, abs=1e-8)


def test_disc_and_leaning_rod():
    """Problem 7.16: reactions at the hinge, between the bodies and at the ground."""
    away = R * sympy.cot(angle / 2)
    disc = b.PlaneBody(b.disc(M, R), [away, R], -away / R)
    rod = b.PlaneBody(b.rod(M, 4 * R).measured_from([-2 * R, 0]), [0, 0], angle)
    whole = b.assemble("disc and rod", [angle], bodies=[disc, rod], loads=[b.Gravity(g)])
    touch = [away * cos(angle), away * sin(angle)]
    reactions = [
        b.Contact(rod, touch, [[-sin(angle), cos(angle)]], by=disc),
        b.Contact(disc, [away, 0]),
        b.Contact(rod, [0, 0]),
    ]
    one, two = two_ways(whole, {angle: 0.9, angle.dot: -0.3}, reactions)
    assert agree(one, two)
    assert two.accelerations[angle] == pytest.approx(-0.733674599, abs=1e-9)
    sine = np.sin(0.45)
    speeding = -0.9 * two.accelerations[angle] / (2 * sine**2) + 0.9 * 0.09 * np.cos(0.45) / (2 * sine**3)
    push = 3 * speeding / np.sin(0.9)
    assert two.reactions[:3] == pytest.approx((push, -speeding, 2 * 9.81 + push * np.cos(0.9)), rel=1e-12)
    assert two.reactions[:3] == pytest.approx((8.380376938, -2.188191589, 24.829325843), abs=1e-9)


def test_disc_on_a_wedge():
    """Problem 7.1: the normal and the tangential reaction between two bodies that both move."""
    ahead, normal = sympy.Matrix([1, -1]) / sqrt(2), sympy.Matrix([1, 1]) / sqrt(2)
    wedge = b.Particle(m, [X, 0])
    disc = b.PlaneBody(b.disc(2 * m, R), sympy.Matrix([X, 0]) + s * ahead + R * normal, -s / R)
    whole = b.assemble("wedge", [X, s], bodies=[wedge, disc], loads=[b.Gravity(g)])
    touch = sympy.Matrix([X, 0]) + s * ahead
    reactions = [b.Contact(disc, touch, [normal, ahead], by=wedge), b.Contact(wedge, along=[[0, 1]])]
    one, two = two_ways(whole, {X: 0, s: 0.1, X.dot: 0.2, s.dot: 0.3}, reactions)
    assert agree(one, two)
    assert two.reactions[:2] == pytest.approx((11.891515754, -7.134909453), abs=1e-9)


def test_two_rods_in_coordinates_of_their_own():
    """A double pendulum with x, y and an angle for each rod: the hinge forces are the multipliers, all four."""
    rods = [b.PlaneBody(b.rod(m, l), [x1, y1], theta1), b.PlaneBody(b.rod(M, l), [x2, y2], theta2)]
    ends = [(rod.point([-l / 2, 0]), rod.point([l / 2, 0])) for rod in rods]
    loads = [b.Gravity(g), b.TorsionSpring(k, *rods), b.Damper(c, ends[1][1], [0, 0])]
    whole = b.assemble("two rods", [x1, y1, theta1, x2, y2, theta2], bodies=rods, loads=loads,
                       constraints=[b.hinge(ends[0][0], [0, 0]), b.hinge(ends[1][0], ends[0][1])])  # fmt: skip
    assert whole.degrees_of_freedom == 2
    reactions = [b.Contact(rods[0], ends[0][0]), b.Contact(rods[1], ends[1][0], by=rods[0])]
    u, w = -0.7, 0.4
    first, second = 0.4 * np.array([np.cos(u), np.sin(u)]), 0.4 * np.array([np.cos(w), np.sin(w)])
    middle = 2 * first + second
    at = {x1: first[0], y1: first[1], theta1: u, x2: middle[0], y2: middle[1], theta2: w,
          theta1.dot: 1.3, theta2.dot: -0.6}  # fmt: skip
    one, two = two_ways(whole, at, reactions)
    assert agree(one, two)
    assert two.reactions == pytest.approx(one.multipliers, rel=1e-10)

    place = [l / 2 * cos(theta1), l / 2 * sin(theta1)]
    absorbed = [
        b.PlaneBody(b.rod(m, l), place, theta1),
        b.PlaneBody(b.rod(M, l), [2 * place[0] + l / 2 * cos(theta2), 2 * place[1] + l / 2 * sin(theta2)], theta2),
    ]
    loads = [b.Gravity(g), b.TorsionSpring(k, *absorbed), b.Damper(c, absorbed[1].point([l / 2, 0]), [0, 0])]
    small = b.assemble("two rods", [theta1, theta2], bodies=absorbed, loads=loads)
    angles = {theta1: u, theta2: w, theta1.dot: 1.3, theta2.dot: -0.6}
    three = da.evaluate(small.system, at=angles, parameters={p: VALUES[p] for p in small.system.parameters})
    assert [three.accelerations[q] for q in (theta1, theta2)] == pytest.approx(
        [one.accelerations[q] for q in (theta1, theta2)], rel=1e-11
    )


def test_clamped_beam_on_a_driven_carriage():
    """The torque of a clamp, by the balances and by releasing the angle of the beam."""
    beam = b.PlaneBody(b.rod(m, l).measured_from([-l / 2, 0]), [x, sin(3 * t)], alpha)
    whole = b.assemble("beam", [x], bodies=[beam], loads=[b.Gravity(g), b.Force([-k * x, 0], beam.point())])
    at = {x: 0.2, x.dot: 0.4, t: 0.3}
    one, two = two_ways(whole, at, [b.Contact(beam, beam.point(), [[0, 1]]), b.Clamp(beam)])
    assert agree(one, two)
    held = whole.release(beam).system
    values = {p: VALUES[p] for p in held.parameters}
    torque = da.evaluate(held, at={**at, "released": 0}, parameters=values).multipliers[0]
    assert torque == pytest.approx(two.reactions[1], rel=1e-12)
    weight = 1.2 * 9.81 * 0.4 * np.cos(0.5)
    assert torque != pytest.approx(weight, rel=1e-2)  # the carriage is accelerated


def test_what_the_balances_say_when_reactions_do_not_fit():
    hoop = b.PlaneBody(b.hoop(m, R), [x, R], -theta)
    whole = b.assemble("hoop", [x, theta], bodies=[hoop], loads=[b.Gravity(g)], constraints=b.rolling_on_line(hoop, R))
    at = {x: 0, theta: 0, x.dot: 0.9, theta.dot: 1.0}
    with pytest.raises(ModelError, match="A reaction is missing"):
        whole.newton_euler([b.Contact(hoop, [x, 0], [[1, 0]])]).solve(at, VALUES)
    with pytest.raises(ModelError, match="statically indeterminate"):
        whole.newton_euler([b.Contact(hoop, [x, 0]), b.Contact(hoop, [x, 2 * R], [[0, 1]])]).solve(at, VALUES)
    with pytest.raises(ModelError, match="no value was given for R"):
        whole.newton_euler([b.Contact(hoop, [x, 0])]).solve(at, {m: 1, g: 9.81})
    text = str(whole.newton_euler([b.Contact(hoop, [x, 0])]))
    assert text.startswith("hoop: balances of force and moment") and "PlaneBody 1, moment" in text


# ---- the rolling disc in space ----


def rolling_disc(shape=None):
    """x, y of the centre; psi the heading, theta the angle of the axis from the vertical, phi the rolling."""
    body = b.SpaceBody(shape or b.disc(m, R), [x, y, R * sin(theta)], b.turns("zxz", psi, theta, phi))
    rolling = b.rolling_disc(body, R)
    return b.assemble("disc", [x, y, psi, theta, phi], bodies=[body], loads=[b.Gravity(g)], constraints=rolling)


def by_vectors(state, rates, values):
    """Accelerations and contact force of a rolling disc from m a = F - m g k and dH/dt = GP x F, in numbers.

    e1 is the horizontal diameter, e2 the one that goes uphill, e3 the axis. The point of contact is P = G - R e2.
    """
    (h, lean, _), (dh, dlean, dphi) = state, rates
    mass, G, radius = values[m], values[g], values[R]
    I1, I3 = mass * radius**2 / 4, mass * radius**2 / 2
    up = np.array([0.0, 0.0, 1.0])
    e1 = np.array([np.cos(h), np.sin(h), 0.0])
    e3 = np.array([np.sin(h) * np.sin(lean), -np.cos(h) * np.sin(lean), np.cos(lean)])
    e2 = np.cross(e3, e1)
    frame = dh * up + dlean * e1  # angular velocity of e1, e2, e3
    w = frame + dphi * e3

    def balance(dw):
        """Contact force, and what the moment balance leaves over, for a given angular acceleration."""
        a = radius * (np.cross(dw, e2) + np.cross(w, np.cross(frame, e2)))  # v = R w x e2: no slip
        force = mass * (a + G * up)
        axis_rate = np.cross(frame, e3)
        dspin = dw @ e3 + w @ axis_rate
        dH = I1 * dw + (I3 - I1) * (dspin * e3 + (w @ e3) * axis_rate)
        return a, force, dH - np.cross(-radius * e2, force)

    rest = balance(np.zeros(3))[2]
    matrix = np.column_stack([balance(unit)[2] - rest for unit in np.eye(3)])
    dw = np.linalg.solve(matrix, -rest)
    a, force, _ = balance(dw)
    turned = dlean * np.cross(dh * up, e1) + dphi * np.cross(frame, e3)
    angles = np.linalg.solve(np.column_stack([up, e1, e3]), dw - turned)
    return [a[0], a[1], *angles], force


DISC = {m: 1.2, g: 9.81, R: 0.9}
STATES = [
    ((0.3, 1.1, -0.4), (0.7, -0.5, 2.5)),
    ((-1.9, 0.6, 2.0), (1.8, 0.3, -3.1)),
    ((0.4, 1.9, 0.0), (-0.6, 0.9, 4.0)),
]


@pytest.mark.parametrize(("angles", "rates"), STATES)
def test_rolling_disc_in_space(angles, rates):
    """Lagrange with multipliers, the balances of the assembly and the vectors above: one motion, one contact force."""
    whole = rolling_disc()
    assert whole.degrees_of_freedom == 3
    q = (psi, theta, phi)
    at = {x: 0.2, y: -0.1, **dict(zip(q, angles, strict=True)), **{p.dot: w for p, w in zip(q, rates, strict=True)}}
    contact = b.Contact(whole.bodies[0], b.lowest_point(whole.bodies[0], R))
    one, two = two_ways(whole, at, [contact], DISC)
    expected, force = by_vectors(angles, rates, DISC)
    assert list(one.accelerations.values()) == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert agree(one, two)
    assert one.multipliers == pytest.approx(force[:2], rel=1e-11)
    assert two.reactions == pytest.approx(force, rel=1e-11)
    hoop = da.evaluate(rolling_disc(b.hoop(m, R)).system, at=at, parameters=DISC)
    assert list(hoop.accelerations.values()) != pytest.approx(expected, rel=1e-3)


def test_rolling_put_into_the_lagrangian_is_another_motion():
    """The constraints substituted into L and kept: the library warns, and the accelerations are wrong."""
    whole = rolling_disc()
    rows = [sympy.solve(e, q.dot)[0] for e, q in zip(whole.constraints, (x, y), strict=True)]
    wrong = whole.system.lagrangian.xreplace({x.dot: rows[0], y.dot: rows[1]})
    with pytest.warns(ModelWarning, match="the Lagrangian does not contain x.dot, y.dot"):
        substituted = da.System("wrong", whole.coordinates, lagrangian=wrong, constraints=whole.constraints)
    angles, rates = STATES[0]
    q = (psi, theta, phi)
    at = {x: 0.2, y: -0.1, **dict(zip(q, angles, strict=True)), **{p.dot: w for p, w in zip(q, rates, strict=True)}}
    expected, _ = by_vectors(angles, rates, DISC)
    found = da.evaluate(substituted, at=at, parameters=DISC)
    assert np.abs(np.array(list(found.accelerations.values())) - expected).max() > 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rolling_disc().system  # noqa: B018  (stated with bodies there is nothing to warn of)


def test_steady_motions_of_the_disc():
    """Circles at a constant lean: I1 psi'^2 sin cos - (I3 + m R^2) w3 psi' sin - m g R cos = 0, w3 the spin."""
    whole = rolling_disc()
    lean, turning = 1.2, 0.8
    I1, I3, inertia = 1.2 * 0.81 / 4, 1.2 * 0.81 / 2, 1.2 * 0.81 * 3 / 2
    assert inertia == pytest.approx(I3 + 1.2 * 0.81)
    sine, cosine = np.sin(lean), np.cos(lean)
    spin = (I1 * turning**2 * sine * cosine - 1.2 * 9.81 * 0.9 * cosine) / (inertia * turning * sine)
    at = {x: 0, y: 0, psi: 0.3, theta: lean, phi: 0, psi.dot: turning, theta.dot: 0, phi.dot: spin - turning * cosine}
    now = da.evaluate(whole.system, at=at, parameters=DISC)
    assert [now.accelerations[q] for q in (psi, theta, phi)] == pytest.approx([0, 0, 0], abs=1e-11)
    off = da.evaluate(whole.system, at={**at, phi.dot: spin}, parameters=DISC)
    assert abs(off.accelerations[theta]) > 0.1

    run = da.simulate(
        whole.system, da.Reference(1e-11, 1e-11), h=0.1, until=2 * np.pi / turning, start=at, parameters=DISC
    )
    assert np.abs(run.theta - lean).max() < 1e-8
    first = np.array([run.x[0], run.y[0]])
    away = 0.9 * spin / turning  # the centre of the circle, from the velocity R w3 along the heading
    centre = first + np.array([np.sin(0.3), -np.cos(0.3)]) * away
    distance = np.hypot(run.x - centre[0], run.y - centre[1])
    assert distance == pytest.approx(np.full_like(distance, abs(away)), rel=1e-7)


def test_upright_disc_falls_below_a_critical_speed():
    """Straight rolling, a small lean: it oscillates if v^2 > g R/3 and falls otherwise (I3 (I3 + m R^2) w^2 > I1 m g R)."""
    whole = rolling_disc()
    critical = np.sqrt(9.81 * 0.9 / 3)
    leans = []
    for factor in (1.3, 0.7):
        at = {x: 0, y: 0, psi: 0, theta: np.pi / 2 + 1e-5, phi: 0, psi.dot: 0, theta.dot: 0,
              phi.dot: factor * critical / 0.9}  # fmt: skip
        run = da.simulate(whole.system, da.Reference(1e-10, 1e-12), h=0.05, until=4, start=at, parameters=DISC)
        leans.append(np.abs(run.theta - np.pi / 2).max())
    assert leans[0] < 1e-4 and leans[1] > 1e-3


def test_rolling_ball_by_balances():
    """A ball with three angles on a turning table: the surface moves under it."""
    table = [-c * y, c * x, 0]
    ball = b.SpaceBody(b.sphere(m, R), [x, y, R], b.turns("zyx", psi, theta, phi))
    whole = b.assemble("ball on a turntable", [x, y, psi, theta, phi], bodies=[ball], loads=[b.Gravity(g)],
                       constraints=b.rolling_on_plane(ball, R, on=table))  # fmt: skip
    at = {x: 0.4, y: 0.1, psi: 0.2, theta: 0.3, phi: -0.5, x.dot: 0.3, y.dot: 0.7, psi.dot: 1.1}
    one, two = two_ways(whole, at, [b.Contact(ball, [x, y, 0])])
    assert agree(one, two)
    turning = 2 / 7 * 0.4  # the ball goes round with 2/7 of the table's angular velocity
    assert [one.accelerations[q] for q in (x, y)] == pytest.approx((-turning * 0.7, turning * 0.3), rel=1e-12)
    assert two.reactions[2] == pytest.approx(1.2 * 9.81, rel=1e-12)
