"""Dinamica analitica, chapter 7: examples 7.1-7.14, and the formulas of the source that are printed wrong."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import Rational, cos, pi, sin

import dalembert as da

from . import worked
from .measures import Fixture, equations, evaluated, kept, later, load, printed
from .problems import EXAMPLES, FIXTURES, NOTES, unique

CHECKS = unique((*NOTES, *EXAMPLES))[len(unique(NOTES)) :]
NAMES = [n for e in EXAMPLES for n in e.lives.split(", ") if n in FIXTURES]


@pytest.mark.parametrize(("key", "check"), CHECKS, ids=[k for k, _ in CHECKS])
def test_holds(key, check):
    assert check.error() <= check.allowed


def test_all_examples_are_there():
    assert [e.number for e in EXAMPLES] == [f"example 7.{k}" for k in range(1, 15)]


@pytest.mark.parametrize("name", sorted(set(NAMES)))
def test_control_another_state_has_other_numbers(name):
    fixture = FIXTURES[name]
    assert equations(fixture, 1e-6) > 1e-8
    if fixture.accelerations:
        assert printed(fixture, 1e-6) > 1e-7
    if fixture.later:
        assert later(fixture, 1e-6) > 1e-7


def test_momentum_of_the_cart():
    """p_x = 1.128214794 at the fixture."""
    fixture = FIXTURES["cart-pendulum"]
    now = evaluated(load(fixture.system).system, *fixture.state(), fixture.values())
    assert next(iter(now.momenta.values())) == pytest.approx(1.128214794, abs=6e-10)


def test_controls_of_derived_results():
    assert worked.cart_routh(held=True) > 1
    assert worked.noether("scaling") > 1e-2
    assert worked.brachistochrone(bend=0.05) > 1e-5
    assert worked.knife_closed_form(c=2.001) > 1e-5


def test_any_other_curve_is_slower_than_the_cycloid():
    """The control changes the time to second order, and always upwards."""
    late = [worked.brachistochrone(bend) for bend in (-0.02, -0.01, 0.01, 0.02)]
    assert late[0] / late[1] == pytest.approx(4, rel=0.1)
    assert late[3] / late[2] == pytest.approx(4, rel=0.1)


def test_the_line_of_descent_satisfies_eulers_equation():
    """d/dx of f_y' vanishes along the cycloid, f = sqrt((1 + y'^2)/x); along the straight line it does not."""
    f, r = sympy.symbols("f r", positive=True)
    depth, slope = r * (1 - cos(f)), (1 - cos(f)) / sin(f)
    integral = slope / sympy.sqrt(depth * (1 + slope**2))
    values = [float(integral.subs({f: v, r: 0.57})) for v in (0.3, 1.0, 2.2)]
    assert np.ptp(values) < 1e-14
    line = [1 / np.sqrt(2 * d) for d in (0.1, 0.5, 0.9)]
    assert np.ptp(line) > 0.1


# -------------------- what is printed wrong --------------------


def test_correction_7_1_lengths_of_the_rods():
    """l^2 = x1^2 + y1^2; the printed x1^2 + x2^2 is not constant."""
    angles = [(0.6, -0.3), (0.1, 1.2), (2.0, 0.4)]
    l, right, wrong = 0.8, [], []
    for one, two in angles:
        x1, y1 = l * np.sin(one), -l * np.cos(one)
        x2, y2 = x1 + l * np.sin(two), y1 - l * np.cos(two)
        right += [x1**2 + y1**2, (x2 - x1) ** 2 + (y2 - y1) ** 2]
        wrong.append(x1**2 + x2**2)
    assert np.ptp(right) < 1e-15
    assert np.ptp(wrong) > 0.1


def test_correction_7_20_and_7_22_the_lost_cosines():
    """Without cos(theta) in V there is no restoring force; without it in the denominator theta.ddot is another."""
    fixture = FIXTURES["half-disc-rolling"]
    (found,) = evaluated(load(fixture.system).system, *fixture.state(), fixture.values()).accelerations.values()
    angle, rate, n = 0.6, 0.4, 9.81 / 0.9
    top = -8 * (rate**2 + n) * np.sin(angle)
    assert found == pytest.approx(top / (9 * np.pi - 16 * np.cos(angle)), rel=1e-13)
    assert abs(found - top / (9 * np.pi - 16)) > 0.1
    theta, (M, R, g) = da.coordinates("theta"), da.parameters("M R g", positive=True)
    flat = da.System(
        "printed (7.20)",
        [theta],
        kinetic=(Rational(3, 2) - 8 * cos(theta) / (3 * pi)) * M * R**2 * theta.dot**2 / 2,
        potential=M * g * R * (1 - 4 / (3 * pi)),
    )
    (without,) = evaluated(flat, [0.6], [0.4], {M: 2.0, R: 0.9, g: 9.81}).accelerations.values()
    assert abs(without - found) > 1


def test_correction_7_47_dimensions():
    """Lengths twice as long (l and g doubled) multiply every term by four; the printed first term only by two."""

    def first(l, square=True):
        return 2.0 * (l**2 if square else l) * -12.77 * (1 - 2 / 3 * np.cos(0.6) ** 2)

    def others(l, g):
        return 4 / 3 * l**2 * 0.16 * np.sin(0.6) * np.cos(0.6) + 2 * g * l * np.sin(0.6)

    assert others(1.6, 19.62) / others(0.8, 9.81) == pytest.approx(4, rel=1e-14)
    assert first(1.6) / first(0.8) == pytest.approx(4, rel=1e-14)
    assert first(1.6, square=False) / first(0.8, square=False) == pytest.approx(2, rel=1e-14)
    exact = -12.77501927 / -12.77
    assert first(0.8) * exact + others(0.8, 9.81) == pytest.approx(0, abs=1e-7)
    assert abs(first(0.8, square=False) * exact + others(0.8, 9.81)) > 1


def test_correction_7_50_the_printed_h_is_not_conserved():
    assert worked.driven_energy(printed=True) > 0.1


def test_correction_7_11_the_printed_coefficient():
    assert worked.gyroscopic(printed=True) > 1e-2


def test_correction_7_9_the_printed_rotation_turns_clockwise():
    """Its charge, from the derivative of x cos(s) + y sin(s) and -x sin(s) + y cos(s) at s = 0, is -H_z and not +H_z."""
    s, (x, y) = sympy.Symbol("s"), da.coordinates("x y")
    family = (x * cos(s) + y * sin(s), -x * sin(s) + y * cos(s))
    charge = sum(c.dot * f.diff(s).subs(s, 0) for c, f in zip((x, y), family, strict=True))
    momentum = x * y.dot - y * x.dot
    assert sympy.expand(charge + momentum) == 0
    assert sympy.expand(charge - momentum) != 0


def test_substituting_the_knife_edge_into_the_lagrangian_is_wrong_and_is_warned_of():
    """7.13 with theta.dot replaced by 2 (y.dot cos - x.dot sin)/l in L: a warning, and other accelerations."""
    example = load("rod-with-knife-edge")
    x, y, theta = example.system.coordinates
    l = next(p for p in example.system.parameters if p.name == "l")
    kinetic = example.system.kinetic.subs(theta.dot, 2 * (y.dot * cos(theta) - x.dot * sin(theta)) / l)
    with pytest.warns(da.ModelWarning, match="substituted into the Lagrangian"):
        substituted = da.System(
            "substituted",
            [x, y, theta],
            kinetic=kinetic,
            constraints=[c.expression for c in example.system.constraints],
        )
    fixture = Fixture("rod-with-knife-edge")
    wrong = evaluated(substituted, *fixture.state(), fixture.values()).accelerations[x]
    assert abs(wrong + 0.22780973) > 0.1


def test_the_driven_cart_as_a_moving_constraint():
    """7.2: x1 = x0 + v t + l sin(theta) in Cartesian coordinates with a constraint that depends on time."""
    x, y = da.coordinates("x y")
    m, g, l = da.parameters("m g l", positive=True)
    v = da.parameters("v")
    bob = da.System(
        "bob on a moving base",
        [x, y],
        kinetic=m * (x.dot**2 + y.dot**2) / 2,
        potential=m * g * y,
        constraints=[(x - v * da.time) ** 2 + y**2 - l**2],
    )
    angle, rate, t = 0.6, 0.4, 1.3
    s, c = 0.8 * np.sin(angle), 0.8 * np.cos(angle)
    now = evaluated(bob, [0.7 * t + s, -c], [0.7 + c * rate, s * rate], {m: 1.2, g: 9.81, l: 0.8, v: 0.7}, t)
    turn = -6.92392833
    assert now.accelerations[x] == pytest.approx(c * turn - s * rate**2, abs=1e-8)
    assert kept(FIXTURES["cart-pendulum-driven"], 1.0, energy=False, wrong=load("cart-pendulum-driven").system.kinetic
                + load("cart-pendulum-driven").system.potential) > 1e-2  # fmt: skip
