"""What a person reads who asks for equilibria, a linearisation or normal modes that there are not. Word for word."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import ModelError, StartError, cos

from .tools import table, told

x, y, theta, phi = da.coordinates("x y theta phi")
m, g, l, c = da.parameters("m g l c", positive=True)

PENDULUM = da.System("pendulum", [theta], kinetic=m * l**2 * theta.dot**2 / 2, potential=-m * g * l * cos(theta))
BALL = da.System("ball", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=(x**2 + y**2) / 2)
ROD = da.System(
    "rod", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=[x**2 + y**2 - l**2]
)
DRIVEN = da.System("driven", [x], kinetic=m * x.dot**2 / 2, forces={x: cos(da.time)})
DAMPED = da.System("damped", [x], kinetic=m * x.dot**2 / 2, potential=x**2 / 2, dissipation=c * x.dot**2 / 2)
GIVEN = {m: 1, g: 9.81, l: 1}
TIME = (
    "the equations of 'driven' contain time, so no state stays what it is. Write the system in coordinates that move along "
    "(a frame that turns with it), in which the equations are free of time."
)


@table(
    ("time in the equations", lambda: da.linearise(DRIVEN, about={x: 0}), f"linearise: {TIME}"),
    ("time, equilibria", lambda: da.equilibria(DRIVEN, parameters={m: 1}), f"equilibria: {TIME}"),
    (
        "no state",
        lambda: da.linearise(PENDULUM, about=0),
        "about: got 0. Expected a state, for example about={theta: 0}, or an equilibrium.",
    ),
    (
        "unknown symbol",
        lambda: da.linearise(PENDULUM, about={phi: 0}),
        "about: phi is unknown here. Expected one of theta, theta.dot.",
    ),
    (
        "a plain symbol",
        lambda: da.linearise(PENDULUM, about={theta: sympy.Symbol("u")}),
        "about: theta = u. Expected a number or an expression in parameters.",
    ),
    (
        "a missing position",
        lambda: da.linearise(BALL, about={x: 0}),
        "about: no position for y. Add about={y: ...}.",
    ),
    (
        "no equilibrium",
        lambda: da.linearise(PENDULUM, about={theta: sympy.pi / 2}),
        "about: this state is neither an equilibrium nor a steady motion: in the equation of theta a force of -g*l*m is left "
        "over. dalembert.equilibria(system, ...) finds the equilibria.",
    ),
    (
        "off the constraint",
        lambda: da.linearise(ROD, about={x: 0, y: 2 * l}),
        "about: the state violates -l**2 + x**2 + y**2 = 0: its value there is 3*l**2.",
    ),
    (
        "a circle in Cartesian coordinates",
        lambda: da.linearise(BALL, about={x: 1, y.dot: 1}),
        "about: y moves, and the equations depend on it along the motion, so this is no steady motion in these coordinates. "
        "Use coordinates in which only those move that the equations do not contain.",
    ),
    (
        "unknown parameter",
        lambda: da.linearise(PENDULUM, about={theta: 0}, parameters={c: 1}),
        "parameters: c is unknown here. Expected one of g, l, m.",
    ),
    (
        "a formula for damped motion",
        lambda: da.linearise(DAMPED, about={x: 0}).squared_frequencies(),
        "squared_frequencies: the linearised motion is damped, gyroscopic or circulatory, so its frequencies are not roots "
        "of a stiffness against a mass. Use .characteristic(s), or dalembert.normal_modes for numbers.",
    ),
)
def test_models(call, message):
    assert told(ModelError, call) == message


@table(
    (
        "no box",
        lambda: da.equilibria(BALL, parameters={m: 1}, box={x: (-1, 1)}),
        "box: no interval for y. Equilibria are sought in a box; write box={y: (-1, 1)}.",
    ),
    (
        "not a box",
        lambda: da.equilibria(BALL, parameters={m: 1}, box=[(-1, 1)]),
        "box: got [(-1, 1)]. Expected intervals of coordinates, for example box={x: (-1, 1)}.",
    ),
    (
        "unknown coordinate",
        lambda: da.equilibria(BALL, parameters={m: 1}, box={phi: (-1, 1)}),
        "box: phi is not a coordinate of this system. Its coordinates are x, y.",
    ),
    (
        "an interval the wrong way round",
        lambda: da.equilibria(BALL, parameters={m: 1}, box={x: (1, -1)}),
        "box: x: (1, -1). Expected two finite numbers, the smaller one first: x: (-1, 1).",
    ),
    (
        "an infinite interval",
        lambda: da.equilibria(BALL, parameters={m: 1}, box={x: (0, np.inf)}),
        "box: x: (0, inf). Expected two finite numbers, the smaller one first: x: (-1, 1).",
    ),
    (
        "no parameters",
        lambda: da.equilibria(PENDULUM),
        "parameters: no value for g, l, m. Nothing defaults; write parameters={g: ..., l: ..., m: ...}.",
    ),
    (
        "lanes",
        lambda: da.equilibria(PENDULUM, parameters={**GIVEN, m: [1, 2]}),
        "equilibria: a parameter is an array. Give one number each, and call it once for each value.",
    ),
    (
        "lanes of modes",
        lambda: da.normal_modes(PENDULUM, at={theta: 0}, parameters={**GIVEN, m: [1, 2]}),
        "normal_modes: a parameter is an array. Give one number each, and call it once for each value.",
    ),
    (
        "a place without a value",
        lambda: da.normal_modes(ROD, at={x: 0, y: -c}, parameters=GIVEN),
        "normal_modes: at contains c, which has no value. Give numbers.",
    ),
)
def test_numbers(call, message):
    assert told(StartError, call) == message


def test_what_is_right_raises_nothing():
    assert len(da.equilibria(PENDULUM, parameters=GIVEN)) == 2
    assert da.normal_modes(ROD, at={x: 0, y: -1}, parameters=GIVEN).frequencies == pytest.approx([np.sqrt(9.81)])


def test_results_show_themselves():
    found = da.equilibria(ROD, parameters=GIVEN, box={x: (-2, 2), y: (-2, 2)})
    text = str(found)
    assert "rod: 2 equilibria with x in [-2, 2], y in [-2, 2], and no other" in text
    assert "lambda_1" in text and "unstable" in text and "Lagrange-Dirichlet" in text
    assert r"| x | y | lambda\_1 | stability |" in found._repr_markdown_()
    assert "equilibrium of rod: x = 0, y = -1" in str(found[0])
    assert "frequency" in str(da.normal_modes(ROD, at=found[0]))
    assert "stiffness" in str(da.linearise(ROD, about={x: 0, y: -l}))
    assert "no equilibrium: along x there is a constant force of 1" in str(
        da.equilibria(da.System("pushed", [x], kinetic=x.dot**2 / 2, forces={x: 1}), parameters={})
    )
