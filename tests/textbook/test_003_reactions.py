"""Newton, d'Alembert and Lagrange: reactions by multipliers, virtual work, d'Alembert's residual.

Examples 1, 2, 2', 3, 5, 6, 8 and 10 and the statements T9 to T16 of the lecture notes; closed-form multipliers after
F. Verheest, N. Van den Berg, Eur. J. Phys. 14 (1993) 217.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin
from dalembert.decide.zero import vanishes
from dalembert.errors import ModelError
from dalembert.symbolic import number, slow, substitute
from dalembert.theory.admissible_states import states_on
from dalembert.theory.motion.lagrange import euler_lagrange, total_derivative
from dalembert.theory.reactions.virtual_work import (
    dalembert_residual,
    is_ideal,
    vanishes_on,
    virtual_displacements,
    virtual_work,
)

t = da.time
x, y, theta, phi = da.coordinates("x y theta phi")
x1, y1, x2, y2 = da.coordinates("x1 y1 x2 y2")
m, g, R, a, b, I, J = da.parameters("m g R a b I J", positive=True)
m1, m2, l1, l2, h, c, d = da.parameters("m1 m2 l1 l2 h c d", positive=True)
G = 9.81


@lru_cache
def reactions(system):
    return da.reactions(system)


def at(expression, values):
    return number(expression, {s.name: float(v) for s, v in values.items()})


def particle(name, *constraints, **more):
    """A particle with weight in the vertical plane, y up."""
    return da.System(
        name, [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=constraints, **more
    )


TABLE = particle("block on a table", y)
INCLINE = particle("block on an incline", y + b * x / a - b)
CIRCLE = particle("particle on a circle", x**2 + y**2 - R**2)
MOVING = particle("particle on a moving circle", (x - 3 * sin(2 * t) / 10) ** 2 + (y - t**2 / 10) ** 2 - R**2)
PULLEY = da.System(
    "two blocks and a pulley",
    [x1, y1, x2, y2],
    kinetic=m1 * (x1.dot**2 + y1.dot**2) / 2 + m2 * (x2.dot**2 + y2.dot**2) / 2,
    potential=m1 * g * y1 + m2 * g * y2,
    constraints=[y1 - h, x1 + y2 - c, x2 - d],
)
DOUBLE = da.System(
    "double pendulum in Cartesian coordinates",
    [x1, y1, x2, y2],
    kinetic=m1 * (x1.dot**2 + y1.dot**2) / 2 + m2 * (x2.dot**2 + y2.dot**2) / 2,
    potential=m1 * g * y1 + m2 * g * y2,
    constraints=[x1**2 + y1**2 - l1**2, (x2 - x1) ** 2 + (y2 - y1) ** 2 - l2**2],
)
DISC = da.System(
    "rolling disc",
    [x, y, theta, phi],
    kinetic=m * (x.dot**2 + y.dot**2) / 2 + I * theta.dot**2 / 2 + J * phi.dot**2 / 2,
    constraints=[x.dot - a * sin(theta) * phi.dot, y.dot + a * cos(theta) * phi.dot],
)
DENSE = da.System(  # a full, position-dependent mass matrix, forces, friction, and a constraint that moves
    "dense",
    [x, y, theta],
    kinetic=((m + 1) * x.dot**2 + b * y.dot**2 + 3 * theta.dot**2) / 2 + a * x.dot * theta.dot * cos(theta),
    potential=g * y + x * theta,
    forces={theta: sin(t) - x.dot},
    dissipation=c * y.dot**2 / 2,
    constraints=[x.dot * cos(theta) + y.dot * (1 + x**2) - theta.dot / 2 - sin(t)],
)
ALL = [TABLE, INCLINE, CIRCLE, MOVING, PULLEY, DOUBLE, DISC, DENSE]
every = pytest.mark.parametrize("system", ALL, ids=lambda s: s.name)


# Examples


def test_example_1_block_on_a_table():
    r = reactions(TABLE)
    assert list(r.multipliers.values()) == [m * g]
    assert r.forces == {x: 0, y: m * g}
    assert r.held == {y: 0, y.dot: 0}
    assert is_ideal(TABLE, r.forces)
    assert not is_ideal(TABLE, {x: -m * g / 10, y: m * g})  # the control: friction does virtual work


def test_examples_2_and_2_prime_incline():
    r = reactions(INCLINE)
    share = m * g * a**2 / (a**2 + b**2)
    (found,) = r.multipliers.values()
    assert vanishes(found - share)
    assert vanishes(r.forces[x] - share * b / a)
    assert vanishes(r.forces[y] - share)
    normal = sympy.sqrt(r.forces[x] ** 2 + r.forces[y] ** 2)
    assert vanishes(normal - m * g * a / sympy.sqrt(a**2 + b**2))  # m g cos(theta)
    assert vanishes(r.accelerations[x] - a * b * g / (a**2 + b**2))
    assert vanishes(r.accelerations[y] + b**2 * g / (a**2 + b**2))
    values = {m: 1.2, a: 2, b: 1.5, g: G}
    assert at(found, values) == pytest.approx(7.53408, rel=1e-12)
    assert at(normal, values) == pytest.approx(9.4176, rel=1e-12)
    assert [at(r.accelerations[q], values) for q in (x, y)] == pytest.approx([4.7088, -3.5316], rel=1e-12)


def test_example_3_two_blocks_and_a_pulley():
    r = reactions(PULLEY)
    tension = m1 * m2 * g / (m1 + m2)
    for found, expected in zip(r.multipliers.values(), (m1 * g, tension, 0), strict=True):
        assert vanishes(found - expected)
    fall = m2 * g / (m1 + m2)
    for q, expected in zip(PULLEY.coordinates, (fall, 0, 0, -fall), strict=True):
        assert vanishes(r.accelerations[q] - expected)
    values = {m1: 1, m2: 2, g: G}
    assert [at(e, values) for e in r.multipliers.values()] == pytest.approx([G, 6.54, 0], rel=1e-12)


def test_example_3_virtual_work_of_a_proposed_set():
    """P6: R1 = (T, N), R2 = (0, T) do no virtual work, whatever T and N are; with T downward on the second they do."""
    tension, normal = da.parameters("tension normal")
    assert is_ideal(PULLEY, {x1: tension, y1: normal, y2: tension})
    wrong = virtual_work(PULLEY, {x1: tension, y1: normal, y2: -tension})
    assert not wrong.is_zero
    (displacement,) = wrong.displacements
    assert vanishes(wrong.work[0] - 2 * tension * displacement[x1])


def test_example_5_circle():
    r = reactions(CIRCLE)
    (found,) = r.multipliers.values()
    assert vanishes_on(CIRCLE, r.M[0] - 4 * R**2 / m)
    assert not vanishes(r.M[0] - 4 * R**2 / m)  # the control: the short form holds on the circle only
    assert vanishes_on(CIRCLE, found - m * (g * y - x.dot**2 - y.dot**2) / (2 * R**2))
    assert vanishes_on(CIRCLE, r.forces[x] - 2 * found * x)
    assert vanishes_on(CIRCLE, r.accelerations[y] * x - r.accelerations[x] * y + g * x)  # R theta.ddot = -g cos(theta)


def test_example_6_double_pendulum():
    r = reactions(DOUBLE)
    M = 4 * sympy.Matrix(
        [
            [(x1**2 + y1**2) / m1, (x1 * (x1 - x2) + y1 * (y1 - y2)) / m1],
            [(x1 * (x1 - x2) + y1 * (y1 - y2)) / m1, (m1 + m2) * ((x1 - x2) ** 2 + (y1 - y2) ** 2) / (m1 * m2)],
        ]
    )
    D = [
        2 * g * y1 - 2 * (x1.dot**2 + y1.dot**2),
        -2 * ((x1.dot - x2.dot) ** 2 + (y1.dot - y2.dot) ** 2),
    ]
    assert all(vanishes(e) for e in r.M - M)
    assert all(vanishes(e) for e in r.D - sympy.Matrix(D))

    theta1, theta2 = da.coordinates("theta1 theta2")
    place = {x1: l1 * sin(theta1), y1: -l1 * cos(theta1)}
    place |= {x2: place[x1] + l2 * sin(theta2), y2: place[y1] - l2 * cos(theta2)}
    speed = {q.dot: slow(total_derivative(e, [theta1, theta2]), SYMBOLS) for q, e in place.items()}
    w1, w2, delta = theta1.dot, theta2.dot, theta1 - theta2
    pull, D0 = g * cos(theta1) + l1 * w1**2, m1 + m2 * sin(delta) ** 2
    first = -m1 * ((m1 + m2) * pull + m2 * l2 * w2**2 * cos(delta)) / (2 * l1 * D0)
    second = -m1 * m2 * (l2 * w2**2 + pull * cos(delta)) / (2 * l2 * D0)
    found = [substitute(e, place | speed) for e in r.multipliers.values()]
    assert vanishes(found[0] - first)
    assert vanishes(found[1] - second)

    values = {l1: 1.1, l2: 0.7, m1: 0.9, m2: 1.7, g: G, theta1: 0.4, theta2: 1.2, w1: 0.3, w2: -0.8}
    state = {q: at(e, values) for q, e in (place | speed).items()}
    numbers = r.at(state, {l1: 1.1, l2: 0.7, m1: 0.9, m2: 1.7, g: G})
    lambdas = list(numbers.multipliers.values())
    assert lambdas == pytest.approx([-5.59660831, -4.19462298], rel=1e-8)
    assert lambdas == pytest.approx([at(first, values), at(second, values)], rel=1e-12)
    assert [-2 * lambdas[0] * 1.1, -2 * lambdas[1] * 0.7] == pytest.approx([12.3125383, 5.87247217], rel=1e-8)
    assert at(r.accelerations[x1], values | state) == pytest.approx(0.754050388, rel=1e-8)

    angles = da.gallery.load("double-pendulum")  # T13: the same motion by Lagrange's equations in the angles
    there = {p: values[p] for p in angles.system.parameters}
    motion = da.evaluate(angles.system, at={q: values[q] for q in (theta1, theta2, w1, w2)}, parameters=there)
    acceleration = {q.ddot: v for q, v in motion.accelerations.items()}
    assert list(motion.accelerations.values()) == pytest.approx([0.78230216, -14.01980052], rel=1e-8)
    for q, e in place.items():
        second_rate = total_derivative(total_derivative(e, [theta1, theta2]), [theta1, theta2])
        assert at(r.accelerations[q], values | state) == pytest.approx(
            at(second_rate, values | acceleration), rel=1e-11
        )


SYMBOLS = [*da.coordinates("theta1 theta2"), *(q.dot for q in da.coordinates("theta1 theta2")), m1, m2, l1, l2, g]


def test_example_8_particle_on_a_moving_circle():
    r = reactions(MOVING)
    xi, eta = x - 3 * sin(2 * t) / 10, y - t**2 / 10
    rates = (x.dot - 3 * cos(2 * t) / 5, y.dot - t / 5)
    lift = g * eta + xi * (-6 * sin(2 * t) / 5) + eta / 5
    (found,) = r.multipliers.values()
    assert vanishes_on(MOVING, found - m * (lift - rates[0] ** 2 - rates[1] ** 2) / (2 * R**2))
    drift = -2 * xi * 3 * cos(2 * t) / 5 - 2 * eta * t / 5
    assert vanishes(r.power + found * drift)
    assert r.does_work

    angle, rate, time = 0.5, 1.1, 0.7
    values = {m: 1.2, R: 0.9, g: G, t: time}
    values[x] = 0.3 * np.sin(2 * time) + 0.9 * np.cos(angle)
    values[y] = 0.1 * time**2 + 0.9 * np.sin(angle)
    values[x.dot] = 0.6 * np.cos(2 * time) - 0.9 * rate * np.sin(angle)
    values[y.dot] = 0.2 * time + 0.9 * rate * np.cos(angle)
    assert at(found, values) == pytest.approx(1.78151563, rel=1e-8)
    assert [at(r.accelerations[q], values) for q in (x, y)] == pytest.approx([2.34514057, -8.52884387], rel=1e-8)
    assert at(r.power, values) == pytest.approx(0.502223958, rel=1e-8)
    numbers = r.at({s: values[s] for s in (x, y, x.dot, y.dot, t)}, {m: 1.2, R: 0.9, g: G})
    assert numbers.power == pytest.approx(at(r.power, values), rel=1e-11)
    assert list(numbers.forces.values()) == pytest.approx([at(r.forces[q], values) for q in (x, y)], rel=1e-12)


def test_example_10_rolling_disc():
    r = reactions(DISC)
    first, second = r.multipliers.values()
    assert vanishes(first - m * a * phi.dot * theta.dot * cos(theta))
    assert vanishes(second - m * a * phi.dot * theta.dot * sin(theta))
    assert vanishes(r.accelerations[theta])
    assert vanishes(r.accelerations[phi])
    assert not vanishes(first + m * a * phi.dot * theta.dot * cos(theta))  # the control: the sign matters


# Statements


@every
def test_T9_reactions_are_the_row_space(system):
    """Reactions vanish on every virtual displacement, and what is added along one of them shows."""
    r = reactions(system)
    assert r.virtual_work().is_zero
    basis = virtual_displacements(system)
    assert len(basis) == len(system.coordinates) - len(system.constraints)
    for w in basis:
        assert not is_ideal(system, {q: r.forces[q] + w[q] for q in system.coordinates})


@every
def test_T10_positive_definite(system):
    r = reactions(system)
    assert r.is_positive_definite
    assert all(vanishes(e) for e in r.M - r.M.T)


def test_T10_controls():
    """M is not positive for an indefinite mass matrix nor symmetric for other variations; redundant rows are refused."""
    indefinite = da.System("indefinite", [x, y], kinetic=x.dot**2 - y.dot**2, constraints=[x - 2 * y])
    assert not da.reactions(indefinite).is_positive_definite
    servo = da.System(
        "servo",
        [x, y, theta],
        kinetic=(x.dot**2 + 2 * y.dot**2 + 3 * theta.dot**2) / 2,
        constraints=[x.dot - y * theta.dot, y.dot + x.dot / 3],
        variations=[x.dot, y.dot - theta.dot],
    )
    assert not da.reactions(servo).is_positive_definite
    with pytest.raises(ModelError, match="redundant"):
        particle("twice", x**2 + y**2 - R**2, x * x.dot + y * y.dot)


@every
def test_T11_the_constraints_are_kept(system):
    r = reactions(system)
    assert r.keeps_constraints
    doubled = [2 * e for e in r.multipliers.values()]  # the control: other multipliers do not keep them
    total = r._matrix("load") + r._matrix("forms").T * sympy.Matrix(doubled)
    left = r._matrix("rows") * r._matrix("mass").LUsolve(total) + r._matrix("hidden")
    assert not all(vanishes(e) for e in left)


@every
def test_T12_dalembert_residual(system):
    r = reactions(system)
    assert r.residual().is_zero
    for w in virtual_displacements(system):  # the control: accelerations changed along a virtual displacement
        assert not dalembert_residual(system, {q: r.accelerations[q] + w[q] for q in system.coordinates}).is_zero
    assert not r.residual(forces={q: i + 1 for i, q in enumerate(system.coordinates)}).is_zero


@every
def test_T14_power(system):
    """The real power is -lambda_a b^a: zero exactly if no constraint moves. At a state: the sum of R v."""
    r = reactions(system)
    assert r.does_work == any(not vanishes(c.drift) for c in system.constraints)
    power = sum(r.forces[q] * q.dot for q in system.coordinates)
    assert vanishes_on(system, power.xreplace(r.held) - r.power)
    assert ("they do work, because a constraint moves" in str(r)) == r.does_work


def test_T15_T16_from_newton_to_lagrange():
    """sum (m r'' + grad U) . dr/dq = d/dt dL/dv - dL/dq, also where r depends on time."""
    q = (x, theta)
    place = (x * cos(theta) + sin(t), x * sin(theta) - t**2, x**2 / 2 + t * theta)

    def rate(e):
        return slow(total_derivative(e, q), [*q, x.dot, theta.dot, x.ddot, theta.ddot, m, t])

    velocity = [rate(e) for e in place]
    X = sympy.symbols("X:3")
    potential = X[0] ** 2 * X[2] + sympy.sin(X[1])
    slopes = [potential.diff(s).subs(dict(zip(X, place, strict=True))) for s in X]
    system = da.System(
        "chart",
        q,
        kinetic=m * sum(v**2 for v in velocity) / 2,
        potential=potential.subs(dict(zip(X, place, strict=True))),
    )
    for c_, lagrange in zip(q, euler_lagrange(system), strict=True):
        force = [m * rate(v) + s for v, s in zip(velocity, slopes, strict=True)]
        newton = sum(f * e.diff(c_) for f, e in zip(force, place, strict=True))
        assert vanishes(newton - lagrange)
        dots = sum(f * e.diff(c_) for f, e in zip(force, (*place[:2], 2 * place[2]), strict=True))
        assert not vanishes(dots - lagrange)


# What a multiplier depends on, and numbers


def test_the_scale_of_a_constraint():
    """Of -3 times a constraint the multiplier is -1/3 times; the reaction stays the same."""
    one, other = reactions(INCLINE), da.reactions(particle("again", -3 * (y + b * x / a - b)))
    (first,), (second,) = one.multipliers.values(), other.multipliers.values()
    assert vanishes(first + 3 * second)
    assert not vanishes(first - second)
    assert all(vanishes(one.forces[q] - other.forces[q]) for q in (x, y))


@every
def test_numbers_agree_with_the_equations_of_motion(system):
    names = {p.name for p in system.parameters}
    state = states_on(system.constraints, system.coordinates, names)[0]
    values = {p: float(state[p.name]) for p in system.parameters}
    start = {s: float(state[s.name]) for s in (*system.coordinates, *system.velocities, t)}
    numbers = da.reactions(system).at(start, values)
    motion = da.evaluate(system, at=start, parameters=values)
    assert list(numbers.multipliers.values()) == pytest.approx(motion.multipliers, rel=1e-10, abs=1e-12)
    assert list(numbers.forces.values()) == pytest.approx(list(motion.reactions.values()), rel=1e-10, abs=1e-12)


def test_velocities_that_follow_may_be_left_out():
    numbers = da.reactions(DISC).at(
        {x: 0, y: 0, theta: 0.4, phi: 0, theta.dot: 1.3, phi.dot: 0.7}, {m: 1.2, a: 0.5, I: 1, J: 2}
    )
    assert numbers.multipliers[DISC.constraints[0].expression] == pytest.approx(1.2 * 0.5 * 0.7 * 1.3 * np.cos(0.4))


def chain(links):
    q = da.coordinates(" ".join(f"x{i} y{i}" for i in range(links)))
    ends = [(sympy.S.Zero, sympy.S.Zero), *zip(q[::2], q[1::2], strict=True)]
    rods = [(u - w) ** 2 + (v - z) ** 2 - R**2 for (u, v), (w, z) in zip(ends[1:], ends[:-1], strict=True)]
    kinetic = sum(m * p.dot**2 / 2 for p in q)
    return da.System("chain", q, kinetic=kinetic, potential=sum(m * g * p for p in q[1::2]), constraints=rods)


def test_a_closed_form_that_is_too_large_is_left_out():
    """A chain of rods at rest, stretched sideways by its start: numbers are there, the formula is not."""
    system = chain(6)
    r = da.reactions(system, seconds=0.3)
    assert not r.is_closed
    assert "the closed form of the reactions is left out" in str(r)
    state = dict.fromkeys(system.velocities, 0.0) | {
        q: -0.9 * (i // 2 + 1) * (i % 2) for i, q in enumerate(system.coordinates)
    }
    numbers = r.at(state, {m: 1.2, g: G, R: 0.9})
    tensions = [-2 * 0.9 * v for v in numbers.multipliers.values()]
    assert tensions == pytest.approx(
        [1.2 * G * (6 - i) for i in range(6)], rel=1e-12
    )  # each rod carries what hangs below
    assert da.reactions(chain(1)).is_closed


def test_no_inertia_without_the_constraint():
    """A massless joint: the mass matrix alone is singular, the reactions are determined all the same."""
    joint = da.System("joint", [x, y], kinetic=m * x.dot**2 / 2, potential=g * (x + y), constraints=[x**2 / 2 - y])
    r = reactions(joint)
    assert r.M is None
    (found,) = r.multipliers.values()
    assert vanishes(found + g)  # the joint passes its weight on: 0 = -g - lambda
    assert vanishes(m * r.accelerations[x] + g + x * g)
    assert not r.is_positive_definite
    assert vanishes(r.accelerations[y] - x * r.accelerations[x] - x.dot**2)


def test_a_constraint_that_is_nonlinear_in_the_velocities():
    """Chetaev: the one-form is dchi/dv. The constraint is homogeneous, so the reaction has no power although it drifts."""
    z = da.coordinates("z")
    system = da.System(
        "nonlinear",
        [x, y, z],
        kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2,
        potential=m * g * z,
        constraints=[a**2 * (x.dot**2 + y.dot**2) - z.dot**2],
    )
    r = da.reactions(system)
    assert r.keeps_constraints
    assert r.virtual_work().is_zero
    assert not r.does_work
    assert not vanishes(r.power)
    state = {x: 0, y: 0, z: 0, x.dot: 0.3, y.dot: 0.4, z.dot: 0.5 * 1.4}
    motion = da.evaluate(system, at=state, parameters={m: 1.2, g: G, a: 1.4})
    assert list(r.at(state, {m: 1.2, g: G, a: 1.4}).forces.values()) == pytest.approx(list(motion.reactions.values()))


def test_variations_that_are_not_those_of_the_constraint():
    """A servo: y is kept at a speed by a force along x. It does virtual work along admissible velocities, and work."""
    system = da.System(
        "servo",
        [x, y],
        kinetic=(2 * x.dot**2 + y.dot**2) / 2 + x.dot * y.dot / 2,
        constraints=[y.dot - 3 * x.dot],
        variations=[x.dot + y.dot / 4],
    )
    r = da.reactions(system)
    assert r.keeps_constraints
    assert vanishes(sum(r.forces[q] * w for q, w in virtual_displacements(system)[0].items()))
    pushed = da.System(
        "pushed",
        [x, y],
        kinetic=(2 * x.dot**2 + y.dot**2) / 2 + x.dot * y.dot / 2,
        potential=g * x,
        constraints=[y.dot - 3 * x.dot],
        variations=[x.dot + y.dot / 4],
    )
    r = da.reactions(pushed)
    assert r.does_work
    assert "because the variations are not those of the constraints" in str(r)
    motion = da.evaluate(pushed, at={x: 0, y: 0, x.dot: 1, y.dot: 3}, parameters={g: G})
    numbers = r.at({x: 0, y: 0, x.dot: 1}, {g: G})
    assert list(numbers.multipliers.values()) == pytest.approx(motion.multipliers, rel=1e-12)
    assert numbers.power == pytest.approx(at(r.power, {g: G, x.dot: 1, y.dot: 3}), rel=1e-12)
