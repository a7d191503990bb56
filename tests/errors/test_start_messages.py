"""What a person reads whose numbers are wrong: parameters, starts, states to evaluate. Every message, word for word."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import StartError, cos, sin

from .tools import table, told

x, y, theta, phi = da.coordinates("x y theta phi")
m, g, l, R = da.parameters("m g l R", positive=True)

BALL = da.System("ball", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y)
ROD = da.System(
    "rod", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=[x**2 + y**2 - l**2]
)
DISK = da.System(
    "disk",
    [x, y, theta, phi],
    kinetic=(x.dot**2 + y.dot**2 + theta.dot**2 + phi.dot**2) / 2,
    constraints=[x.dot - R * cos(phi) * theta.dot, y.dot - R * sin(phi) * theta.dot],
)
STEPS = da.DiscreteSystem(
    "steps", [x, y], lagrangian=((x.at(1) - x.at(0)) ** 2 + (y.at(1) - y.at(0)) ** 2) / (2 * da.step)
)
REST = {x: 0, y: 0, x.dot: 0, y.dot: 0}
NAN = float("nan")


def ball(start=None, method=None, **given):
    given = {"h": 0.1, "steps": 2, "parameters": {m: 1, g: 9.81}, **given}
    return da.simulate(BALL, method or da.Midpoint(), start=REST if start is None else start, **given)


def rod(start, method=None, **given):
    given = {"h": 0.1, "steps": 2, "parameters": {m: 1, g: 9.81, l: 1}, **given}
    return da.simulate(ROD, method or da.Midpoint(), start=start, **given)


def disk(start):
    at_zero = {x: 0, y: 0, theta: 0, phi: 0}
    return da.simulate(DISK, da.Midpoint(), h=0.1, steps=2, parameters={R: 1}, start=at_zero | start)


def steps(start):
    return da.simulate(STEPS, h=0.1, steps=2, start=start)


def test_the_right_numbers_are_accepted():
    """Without this every test below could pass because of something else that is wrong."""
    assert ball().ok
    assert rod({x: 0.6, y: -0.8, x.dot: 0.8}).ok
    assert rod({x: 0.6, y: -0.8, x.momentum: 0.8, y.momentum: 0.6}).ok
    assert rod({x.at(0): 0, y.at(0): -1, x.at(1): 0.6, y.at(1): -0.8}).ok
    assert disk({theta.dot: 1, phi.dot: 1}).ok
    assert steps({x: 0, y: 0, x.momentum: 1, y.momentum: 1}).ok
    assert steps({x.at(0): 0, y.at(0): 0, x.at(1): 1, y.at(1): 1}).ok


NOT_A_NUMBER = "is not a number. Give a number, or an array of numbers for one lane each."
COMPLEX = NOT_A_NUMBER.replace("number.", "number (it is complex; give its real part).", 1)
UNREAL = NOT_A_NUMBER.replace("number.", "number (it is not a real number).", 1)


@table(
    (
        "one value missing",
        lambda: ball(parameters={m: 1}),
        "parameters: no value for g. Nothing defaults; write parameters={g: ...}.",
    ),
    (
        "all values missing",
        lambda: rod({}, parameters=None),
        "parameters: no value for g, l, m. Nothing defaults; write parameters={g: ..., l: ..., m: ...}.",
    ),
    (
        "a foreign parameter",
        lambda: ball(parameters={m: 1, g: 1, R: 1}),
        "parameters: R is unknown here. Expected one of g, m.",
    ),
    (
        "a coordinate as a parameter",
        lambda: ball(parameters={m: 1, g: 1, x: 1}),
        "parameters: x is unknown here. Expected one of g, m.",
    ),
    ("a symbol and its name", lambda: ball(parameters={m: 1, g: 1, "m": 2}), "parameters: m is given twice."),
    ("a word", lambda: ball(parameters={m: "heavy", g: 1}), f"parameters: m = 'heavy' {NOT_A_NUMBER}"),
    ("a symbol for a value", lambda: ball(parameters={m: l, g: 1}), f"parameters: m = l {NOT_A_NUMBER}"),
    ("a complex number", lambda: ball(parameters={m: 1j, g: 1}), f"parameters: m = 1j {COMPLEX}"),
    ("the imaginary unit", lambda: ball(parameters={m: sympy.I, g: 1}), f"parameters: m = I {UNREAL}"),
    (
        "an array of two axes",
        lambda: ball(parameters={m: np.ones((2, 3)), g: 1}),
        "parameters: m has shape (2, 3). Lanes are one axis: give a number or a one-dimensional array.",
    ),
    (
        "an empty array",
        lambda: ball(parameters={m: [], g: 1}),
        "parameters: m is an empty array. Give a number, or at least one number per array.",
    ),
    (
        "arrays of different lengths",
        lambda: ball(parameters={m: [1, 2], g: [1, 2, 3]}),
        "arrays of different lengths make no lanes (m: 2, g: 3). Give arrays of one length.",
    ),
    (
        "arrays of different lengths in start and parameters",
        lambda: ball(REST | {y: [1, 2, 3]}, parameters={m: [1, 2], g: 1}),
        "arrays of different lengths make no lanes (y: 3, m: 2). Give arrays of one length.",
    ),
)
def test_parameters(call, message):
    assert told(StartError, call) == message


BALL_KEYS = "t, x, x.at(0), x.at(1), x.dot, x.momentum, y, y.at(0), y.at(1), y.dot, y.momentum"


@table(
    ("a list", lambda: ball([0, 0]), "start: got [0, 0]. Expected {coordinate: number, ...} or an earlier run."),
    (
        "a foreign coordinate",
        lambda: ball(REST | {theta: 0}),
        f"start: theta is unknown here. Expected one of {BALL_KEYS}.",
    ),
    (
        "an acceleration",
        lambda: ball(REST | {x.ddot: 0}),
        f"start: x.ddot is unknown here. Expected one of {BALL_KEYS}.",
    ),
    (
        "a parameter",
        lambda: ball(REST | {m: 1}),
        f"start: m is unknown here. Expected one of {BALL_KEYS}.",
    ),
    ("a symbol and its name", lambda: ball(REST | {"x": 1}), "start: x is given twice."),
    ("a word", lambda: ball(REST | {x: "left"}), f"start: x = 'left' {NOT_A_NUMBER}"),
    (
        "an array of two axes",
        lambda: ball(REST | {x.dot: [[1, 2]]}),
        "start: x.dot has shape (1, 2). Lanes are one axis: give a number or a one-dimensional array.",
    ),
    (
        "an empty array",
        lambda: ball(REST | {x.dot: []}),
        "start: x.dot is an empty array. Give a number, or at least one number per array.",
    ),
    (
        "many times",
        lambda: ball(REST | {da.time: [0, 1]}),
        "start: time is an array. All lanes start at one time; give one number.",
    ),
    (
        "no position",
        lambda: ball({x: 0, x.dot: 0, y.dot: 0}),
        "start: no position for y. Expected 2 positions and 2 velocities. Add start={y: ...}.",
    ),
    (
        "no velocity",
        lambda: ball({x: 0, y: 0, x.dot: 0}),
        "start: no value for y.dot. Expected 2 positions and 2 velocities. Add start={y.dot: ...}.",
    ),
    (
        "nothing",
        lambda: ball({}),
        "start: no position for x, y; no value for x.dot, y.dot. Expected 2 positions and 2 velocities. "
        "Add start={x: ..., y: ..., x.dot: ..., y.dot: ...}.",
    ),
    (
        "a momentum missing",
        lambda: ball({x: 0, y: 0, x.momentum: 0}),
        "start: no value for y.momentum. Expected 2 positions and 2 momenta. Add start={y.momentum: ...}.",
    ),
    (
        "a second position missing",
        lambda: ball({x.at(0): 0, y.at(0): 0, x.at(1): 0}),
        "start: no value for y.at(1). Expected 2 positions x.at(0) and 2 positions x.at(1). Add start={y.at(1): ...}.",
    ),
    (
        "velocities and momenta",
        lambda: ball({x: 0, y: 0, x.dot: 0, y.momentum: 0}),
        "start: it mixes ways to start (x.dot; y.momentum). Give velocities, or momenta, or two positions.",
    ),
    (
        "velocities and two positions",
        lambda: ball({x.at(0): 0, y.at(0): 0, x.at(1): 0, y.dot: 0}),
        "start: it mixes ways to start (y.dot; x.at(0), x.at(1), y.at(0)). "
        "Give velocities, or momenta, or two positions.",
    ),
    (
        "two positions for Runge-Kutta",
        lambda: ball({x.at(0): 0, y.at(0): 0, x.at(1): 0, y.at(1): 0}, da.RungeKutta4()),
        "start: RungeKutta4() starts from position and velocity, or position and momentum. Two positions are for "
        "variational methods, such as Midpoint().",
    ),
    (
        "two positions for the reference",
        lambda: ball({x.at(0): 0, y.at(0): 0, x.at(1): 0, y.at(1): 0}, da.Reference()),
        "start: Reference(rtol=1e-10, solver='Taylor') starts from position and velocity, or position and "
        "momentum. Two positions are for variational methods, such as Midpoint().",
    ),
    (
        "velocities for a discrete system",
        lambda: steps({x: 0, y: 0, x.dot: 1, y.dot: 1}),
        "start: a discrete system has no velocities. Start from two positions (x.at(0), x.at(1)) or from position and "
        "momentum (x, x.momentum).",
    ),
    (
        "positions alone for a discrete system",
        lambda: steps({x: 0, y: 0}),
        "start: no position for x.at(0), y.at(0); no value for x.at(1), y.at(1). Expected 2 positions x.at(0) and 2 "
        "positions x.at(1). Add start={x.at(0): ..., y.at(0): ..., x.at(1): ..., y.at(1): ...}.",
    ),
)
def test_starts(call, message):
    assert told(StartError, call) == message


@table(
    (
        "off a holonomic constraint",
        lambda: rod({x: 3, y: -4, x.dot: 0, y.dot: 0}),
        "start: the position violates -l**2 + x**2 + y**2 = 0: its value is 24. Correct the position; one step towards "
        "the constraint gives {x: 1.56, y: -2.08}.",
    ),
    (
        "one lane off a holonomic constraint",
        lambda: rod({x: [0.6, 3], y: [-0.8, -4], x.dot: 0, y.dot: 0}),
        "start: the position violates -l**2 + x**2 + y**2 = 0 (lane 1): its value is 24. Correct the position; one step "
        "towards the constraint gives {x: 1.56, y: -2.08}.",
    ),
    (
        "velocities off a holonomic constraint",
        lambda: rod({x: 0.6, y: -0.8, x.dot: 1, y.dot: 0}),
        "start: the velocities violate 2*x*x.dot + 2*y*y.dot = 0: its value is 1.2. Leave out one of x.dot, y.dot, and "
        "it follows from the constraint.",
    ),
    (
        "velocities of one lane off a kinematic constraint",
        lambda: disk({theta.dot: 1, phi.dot: 0, x.dot: [1, 3], y.dot: 0}),
        "start: the velocities violate -R*theta.dot*cos(phi) + x.dot = 0 (lane 1): its value is 2. Leave out one of "
        "x.dot, theta.dot, and it follows from the constraint.",
    ),
    (
        "a velocity the constraint says nothing about",
        lambda: rod({x: 1, y: 0, x.dot: 0}),
        "start: no value for y.dot, and the constraints do not determine it here. Give more velocities.",
    ),
    (
        "two velocities of which one is undetermined",
        lambda: disk({y.dot: 0, phi.dot: 1}),
        "start: no value for x.dot, theta.dot, and the constraints do not determine them all here. Give more "
        "velocities.",
    ),
    (
        "more velocities missing than constraints",
        lambda: disk({phi.dot: 1}),
        "start: no value for x.dot, y.dot, theta.dot. Expected 4 positions and 4 velocities, of which constraints can "
        "supply 2. Add start={x.dot: ..., y.dot: ..., theta.dot: ...}.",
    ),
    (
        "momenta without a mass",
        lambda: ball({x: 0, y: 0, x.momentum: 1, y.momentum: 0}, parameters={m: 0, g: 1}),
        "parameters: m = 0.0, but m was made as a parameter that is positive.",
    ),
    (
        "the second position off the discrete constraint",
        lambda: rod({x.at(0): 0, y.at(0): -1, x.at(1): 3, y.at(1): -4}),
        "start: the two positions violate the discrete constraint -l**2 + x.at(1)**2 + y.at(1)**2 = 0: its value is 24. "
        "Correct the second position x.at(1).",
    ),
    (
        "the first position off the constraint",
        lambda: rod({x.at(0): 3, y.at(0): -4, x.at(1): 0, y.at(1): -1}),
        "start: the position violates -l**2 + x**2 + y**2 = 0: its value is 24. Correct the position; one step towards "
        "the constraint gives {x: 1.56, y: -2.08}.",
    ),
)
def test_starts_off_the_constraints(call, message):
    assert told(StartError, call) == message


def test_momenta_off_the_constraints():
    message = told(StartError, lambda: rod({x: 0.6, y: -0.8, x.momentum: 1, y.momentum: 0}))
    assert message.startswith("start: the velocities violate 2*x*x.dot + 2*y*y.dot = 0: its value is 1.2. ")


def test_a_position_off_the_constraint_with_momenta():
    assert told(StartError, lambda: rod({x: 3, y: -4, x.momentum: 4, y.momentum: 3})) == (
        "start: the position violates -l**2 + x**2 + y**2 = 0: its value is 24. Correct the position; one step towards "
        "the constraint gives {x: 1.56, y: -2.08}."
    )


def evaluate(at=None, **given):
    return da.evaluate(BALL, at=REST if at is None else at, **{"parameters": {m: 1, g: 9.81}, **given})


@table(
    (
        "many parameters",
        lambda: evaluate(parameters={m: [1, 2], g: 1}),
        "evaluate: a parameter is an array. Give one number each; arrays make lanes in simulate().",
    ),
    (
        "many states",
        lambda: evaluate(REST | {y: [1, 2]}),
        "evaluate: give one state, as position and velocity or position and momentum.",
    ),
    (
        "two positions",
        lambda: evaluate({x.at(0): 0, y.at(0): 0, x.at(1): 0, y.at(1): 0}),
        "evaluate: give one state, as position and velocity or position and momentum.",
    ),
    (
        "no mass",
        lambda: evaluate(parameters={m: 0, g: 1}),
        "parameters: m = 0.0, but m was made as a parameter that is positive.",
    ),
    (
        "a state that is not a number",
        lambda: evaluate(REST | {y.dot: NAN}, parameters={m: 1, g: NAN}),
        "evaluate: the accelerations are not determined at this state: the matrix of masses and constraints is "
        "singular, or an expression has no value there.",
    ),
)
def test_evaluate(call, message):
    assert evaluate().accelerations[y] == -9.81
    assert told(StartError, call) == message


WIRE = da.System(
    "wire", [x, y, theta], kinetic=(x.dot**2 + y.dot**2 + theta.dot**2) / 2,
    constraints=[theta.dot * (1 + x.dot**2) - y.dot**3 - cos(x) * y.dot],
)  # fmt: skip
RING = WIRE.replace(constraints=[x.dot**2 + y.dot**2 + theta.dot**2 - 1])


def released(system, **start):
    return da.evaluate(system, at={x: 0.3, y: 0, theta: 0, **{da.coordinates(k).dot: v for k, v in start.items()}})


def test_velocities_in_which_a_nonlinear_constraint_is_linear_follow_from_it():
    """Any one of them may be left out; those in which it is not linear have several values, or none."""
    found = released(WIRE, x=0.5, y=-0.7).velocities
    assert found[theta] == pytest.approx(((-0.7) ** 3 - 0.7 * np.cos(0.3)) / 1.25, rel=1e-15)
    assert released(RING, x=0.6, y=0.8, theta=0).velocities[x] == 0.6
    for call, message in (
        (lambda: released(WIRE, x=0.5, theta=1), "no value for y.dot, and the constraints do not determine it here."),
        (lambda: released(WIRE, x=0.5, y=1, theta=1), "Leave out theta.dot, and it follows from the constraint."),
        (lambda: released(RING, x=0.6, y=0.8), "start: no value for theta.dot. Expected 3 positions and 3 velocities. Add"),
        (lambda: released(RING, x=0.6, y=0.8, theta=1), "its value is 1. Give velocities that satisfy it."),
    ):  # fmt: skip
        assert message in told(StartError, call)
