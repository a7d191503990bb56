"""Newton's laws and d'Alembert's principle (lecture notes): examples 1-10, 2', the gas, the car, and corrections."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import cos, sin

import dalembert as da

from . import worked
from .measures import Fixture, equations, evaluated, load, printed
from .problems import FIXTURES, NOTES, UNEQUAL, unique
from .worked import a, phi, theta, triple, x, y

CHECKS = unique(NOTES)
OWN = ("block-on-incline", "block-and-hanging-weight", "double-pendulum-cartesian")


@pytest.mark.parametrize(("key", "check"), CHECKS, ids=[k for k, _ in CHECKS])
def test_holds(key, check):
    assert check.error() <= check.allowed


def test_all_examples_are_there():
    numbers = {e.number for e in NOTES}
    assert {f"example {k}" for k in range(1, 11)} | {"example 2'", "gas in a container", "parking a car"} <= numbers


@pytest.mark.parametrize("name", OWN)
def test_control_another_state_has_other_numbers(name):
    assert printed(FIXTURES[name], 1e-6) > 1e-7
    assert equations(FIXTURES[name], 1e-6) > 1e-8


def test_control_unequal_double_pendulum():
    assert printed(UNEQUAL, 1e-6) > 1e-7


def test_control_another_time_or_displacement():
    assert worked.moving_circle_power(0.7 + 1e-6) > 1e-7
    assert worked.pulley_work((1, 0, 0, 1)) > 10  # m2 rising while m1 advances tears the thread


def test_two_weights_with_masses_as_letters():
    """T = m1 m2 g/(m1 + m2) for any masses."""
    fixture = Fixture("block-and-hanging-weight", parameters={"m1": 0.37, "m2": 5.1})
    now = evaluated(load(fixture.system).system, *fixture.state(), fixture.values())
    assert now.multipliers[1] == pytest.approx(0.37 * 5.1 * 9.81 / 5.47, rel=1e-14)


def test_correction_the_swapped_gradient_does_virtual_work():
    """Printed (1, b/a) for the gradient of the incline: along it a reaction is not normal, and not m g cos(slope)."""
    example = load("block-on-incline")
    p = {s.name: s for s in example.system.parameters}
    swapped = da.System(
        "swapped",
        [x, y],
        **example.system.energies,
        constraints=[y + p["b"] * x / p["a"] - p["b"]],
        variations=[x.dot + p["b"] / p["a"] * y.dot],
    )
    assert not swapped.is_ideal
    assert example.system.is_ideal
    now = evaluated(swapped, *Fixture("block-on-incline").state(), Fixture("block-on-incline").values())
    reaction = np.array(list(now.reactions.values()))
    assert abs(reaction @ [2.0, -1.5]) > 1
    assert np.hypot(*reaction) != pytest.approx(9.4176, rel=1e-2)


def test_correction_the_lost_dots_of_c():
    """C = A v + B without dots is the constraint itself, so zero; the multiplier of example 5 would lose its v^2 term."""
    system, values = load("pendulum-cartesian").system, {"m": 1.2, "g": 9.81, "l": 0.9}
    c, s = 0.9 * np.cos(0.5), 0.9 * np.sin(0.5)
    (found,) = evaluated(system, [c, s], [-1.1 * s, 1.1 * c], values).multipliers
    right = 1.2 * (9.81 * s - (0.9 * 1.1) ** 2) / (2 * 0.9**2)
    assert found == pytest.approx(right, rel=1e-13)
    assert abs(found - 1.2 * 9.81 * s / (2 * 0.9**2)) > 0.1


def test_the_identity_of_one_form():
    """It vanishes for a form with an integrating factor, and for every combination that is integrable; not for the disc's."""
    z = da.coordinates("z")
    q = [x, y, z]
    g = x * y + sin(z)
    form = [sympy.exp(-x) * g.diff(c) for c in q]
    assert all(value == 0 for value in triple(form, q).values())
    assert any(value != 0 for value in triple([-y, sympy.S.Zero, sympy.S.One], q).values())
    # the only combination left in the first derived system of the disc is not integrable either
    eta = [sin(theta), -cos(theta), sympy.S.Zero, -a]
    found = triple(eta, [x, y, theta, phi])
    said = {(x, y, theta): -1, (x, y, phi): 0, (x, theta, phi): a * cos(theta), (y, theta, phi): a * sin(theta)}
    assert all(sympy.simplify(found[key] - value) == 0 for key, value in said.items())


def test_a_loop_of_controls_moves_the_car_sideways():
    """Drive, steer, drive back, steer back: to second order the place changes along the bracket of the two fields."""
    from scipy.integrate import solve_ivp

    def drive(state, speed, steering, span):
        def rate(_, s):
            return [speed * np.cos(s[2]), speed * np.sin(s[2]), speed * np.tan(s[3]) / 0.8, steering]

        return solve_ivp(rate, (0, span), state, rtol=1e-11, atol=1e-13).y[:, -1]

    gained = []
    for e in (0.02, 0.01):
        state = np.array([0.0, 0.0, 0.3, 0.2])
        for controls in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            state = drive(state, *controls, e)
        gained.append((state - [0, 0, 0.3, 0.2]) / e**2)
    assert gained[1] == pytest.approx([0, 0, -1 / (0.8 * np.cos(0.2) ** 2), 0], abs=0.02)
    assert (
        np.abs(gained[1] - [0, 0, -1 / (0.8 * np.cos(0.2) ** 2), 0]).max()
        < np.abs(gained[0] - [0, 0, -1 / (0.8 * np.cos(0.2) ** 2), 0]).max()
    )


def test_rolling_disk_of_the_gallery_is_example_10():
    """Its heading is theta - pi/2 and its angle of rolling phi: the accelerations of the centre agree, by value."""
    mine, other = worked.upright_disc(), load("rolling-disk").system
    axis, turn, roll, radius = 0.7, 0.9, -1.6, 0.5
    v = [radius * np.sin(axis) * roll, -radius * np.cos(axis) * roll]
    values = {"m": 1.2, "I": 0.3, "J": 0.4}
    one = evaluated(mine, [0.1, 0.2, axis, 0.3], [*v, turn, roll], values | {"a": radius})
    two = evaluated(
        other, [0.1, 0.2, 0.3, axis - np.pi / 2], [*v, roll, turn], {"m": 1.2, "I": 0.4, "J": 0.3, "R": radius}
    )
    for c in (x, y):
        assert one.accelerations[c] == pytest.approx(two.accelerations[c], abs=1e-13)
        assert one.reactions[c] == pytest.approx(two.reactions[c], abs=1e-13)
    assert abs(one.accelerations[x]) > 0.1
