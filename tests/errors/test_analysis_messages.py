"""What a person reads who asks for structure, coordinates, Hamiltonians or extremals that there are not. Word for word."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import MethodError, ModelError, StartError, cos, sin, sqrt
from dalembert.analysis.motions.stationary_action import generalised_principle, hamilton_principle, weak_form
from dalembert.theory.forms.structure import generalised_force

from .tools import table, told

x, y, z, X, Y, r, phi = da.coordinates("x y z X Y r phi")
m, k, c, g = da.parameters("m k c g", positive=True)
SPRING = da.System("spring", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2)
PLANE = da.System("plane", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, forces={y: -c * y.dot})
FAST = da.System("fast", [x], lagrangian=-sqrt(1 - x.dot**2))
WHOLE = da.System("whole", [x], lagrangian=x.dot**2 / 2)
JOINT = da.System("joint", [x, y], lagrangian=x.dot**2 / 2 - x * y, constraints=[y - x**2])


def test_sound_questions_are_answered():
    assert da.structure(SPRING).is_natural
    assert da.hamilton(SPRING).hamiltonian is not None
    assert da.change_coordinates(PLANE, {x: r * cos(phi), y: r * sin(phi)}).covariance_defect < 1e-12
    assert da.gauge_function(SPRING, SPRING).equivalent


@table(
    ("no system", lambda: da.structure(3), "structure: got 3 (int). Expected a System."),
    (
        "not quadratic",
        lambda: da.structure(FAST),
        "structure: the Lagrangian of 'fast' is not quadratic in the velocities, so it has no parts T2, T1, T0 and no "
        "Christoffel symbols. Its equations are in system.equations().",
    ),
    (
        "basic form of a Lagrangian",
        lambda: da.structure(WHOLE).basic,
        "basic: 'whole' was given by its Lagrangian, so kinetic energy and forces cannot be told apart. State it with "
        "kinetic=..., potential=..., or use the mixed form.",
    ),
    (
        "standard form with a force",
        lambda: da.structure(PLANE).standard,
        "standard: there is a force on y that is not in the Lagrangian. Use the mixed form, or the basic form.",
    ),
    (
        "a symbol of no coordinate",
        lambda: da.structure(SPRING).christoffel(x, y, x),
        "structure: y is not a coordinate of 'spring'. Its coordinates are x.",
    ),
    (
        "a potential of other coordinates",
        lambda: generalised_force(x * y, [x]),
        "potential: unknown symbol y in x*y. Add y to coordinates=[...]. Known here: t, x, x.dot.",
    ),
)
def test_structure(call, message):
    assert told(ModelError, call) == message


@table(
    ("no system", lambda: da.change_coordinates(3, {}), "change_coordinates: got 3 (int). Expected a System."),
    (
        "no map",
        lambda: da.change_coordinates(PLANE, {}),
        "change_coordinates: got {}. Expected {old coordinate: expression in new coordinates and time}.",
    ),
    (
        "a map of something else",
        lambda: da.change_coordinates(PLANE, {z: X}),
        "change_coordinates: z is not a coordinate of 'plane'. Its coordinates are x, y; write {x: expression in new "
        "coordinates, ...}.",
    ),
    (
        "old and new names mixed",
        lambda: da.change_coordinates(PLANE, {x: x * cos(phi)}),
        "change_coordinates: x is replaced, but it occurs in the expressions. Give the new coordinates names of their own.",
    ),
    (
        "too few new coordinates",
        lambda: da.change_coordinates(PLANE, {x: cos(phi), y: sin(phi)}),
        "change_coordinates: 2 old coordinates (x, y) but 1 new ones (phi). Give as many. To remove a coordinate that a "
        "constraint fixes, state the system again in the remaining ones.",
    ),
    (
        "not invertible",
        lambda: da.change_coordinates(PLANE, {x: X + Y, y: 2 * X + 2 * Y}),
        "change_coordinates: the map is not invertible: the derivatives of x, y by X, Y have a determinant that is zero at "
        "all points tried. The new coordinates must be independent.",
    ),
    (
        "velocities in the map",
        lambda: da.change_coordinates(PLANE, {x: X.dot, y: Y + X}),
        "change_coordinates: X.dot occurs in the expression for x. Positions are functions of positions and time; velocities "
        "follow from them.",
    ),
    (
        "a wrong order",
        lambda: da.change_coordinates(PLANE, {x: X, y: Y}, coordinates=[X]),
        "change_coordinates: coordinates lists X, but the new coordinates are X, Y.",
    ),
    (
        "Lagrangians without coordinates",
        lambda: da.gauge_function(x.dot**2, x.dot**2),
        "gauge_function: give the coordinates of two Lagrangians: gauge_function(L1, L2, [x, y]).",
    ),
    (
        "Lagrangians in different coordinates",
        lambda: da.gauge_function(SPRING, PLANE),
        "gauge_function: 'plane' has the coordinates x, y, not x. Compare Lagrangians in the same coordinates; "
        "change_coordinates brings one system to those of the other.",
    ),
)
def test_transformations(call, message):
    assert told(ModelError, call) == message


POLAR = da.change_coordinates(PLANE, {x: r * cos(phi), y: r * sin(phi)})


@table(
    (
        "a state that is not complete",
        lambda: POLAR.to_old({r: 1, phi: 0, r.dot: 1}, {m: 1, c: 1}),
        "state: no value for phi.dot. Give {phi.dot: ...} for every symbol of 'plane'.",
    ),
    (
        "no parameters",
        lambda: POLAR.to_old({r: 1, phi: 0, r.dot: 1, phi.dot: 0}),
        "parameters: no value for c. Give {c: ...} for every symbol of 'plane'.",
    ),
)
def test_states(call, message):
    assert told(StartError, call) == message


@table(
    (
        "no system",
        lambda: da.hamilton(x.momentum**2),
        "hamilton: got x.momentum**2 (Pow). Expected a System, or a Hamiltonian with its coordinates: "
        "hamilton(x.momentum**2/2 + x**2/2, coordinates=[x]).",
    ),
    (
        "a coordinate without inertia",
        lambda: da.hamilton(JOINT),
        "hamilton: the Legendre transform is singular: the second derivatives by the velocities x.dot, y.dot form a singular "
        "matrix, so momenta and velocities do not determine each other. Every coordinate needs an inertia of its own.",
    ),
    (
        "a Hamiltonian linear in a momentum",
        lambda: da.hamilton(x * x.momentum, coordinates=[x]),
        "hamilton: the Legendre transform is singular: the second derivatives by the momenta x.momentum form a singular "
        "matrix, so momenta and velocities do not determine each other. Every momentum must occur to second order.",
    ),
    (
        "a velocity on phase space",
        lambda: da.hamilton(SPRING).bracket(x.dot, x),
        "first function: x.dot is a velocity. Functions on phase space are written with x.momentum.",
    ),
    (
        "another coordinate on phase space",
        lambda: da.hamilton(SPRING).is_conserved(y),
        "function: unknown symbol y in y. Add y to coordinates=[...]. Known here: t, x, x.momentum.",
    ),
    (
        "half a transformation",
        lambda: da.hamilton(SPRING).is_canonical({X: x}),
        "is_canonical: expected 1 new coordinate(s) and their momenta in terms of the old ones, {X: ..., X.momentum: ...}; "
        "got X.",
    ),
    (
        "no closed form",
        lambda: da.hamilton(da.System("odd", [x], lagrangian=x.dot**2 + x.dot**6)).rate(x),
        "hamilton: 'odd' has no Hamiltonian in closed form: p = dL/dv was not solved in closed form. Its motion can be "
        "computed all the same, with simulate(...).",
    ),
)
def test_hamilton(call, message):
    assert told(ModelError, call) == message


def test_hamilton_runs():
    form = da.hamilton(SPRING)
    options = {"h": 0.1, "steps": 3, "parameters": {m: 1, k: 1}}
    assert told(MethodError, lambda: form.simulate(start={x: 1, x.dot: 0}, rtol=0, **options)) == (
        "rtol = 0: tolerances are positive numbers, such as 1e-10."
    )
    assert told(MethodError, lambda: form.simulate(start={x.at(0): 1, x.at(1): 1}, **options)) == (
        "start: Hamilton's equations start from position and momentum, or position and velocity."
    )


F = da.variations.Functional
FALL = F(sqrt((1 + y.dot**2) / (2 * g * x)), y, x)


@table(
    (
        "a symbol of SymPy",
        lambda: F(y.dot**2, y, da.sqrt(2)),
        'Functional: the variable sqrt(2) is not a symbol of this library. Make it with x = coordinates("x").',
    ),
    (
        "one name for both",
        lambda: F(y.dot**2, y, y),
        "Functional: y is both an unknown function and the variable. Use two names.",
    ),
    (
        "no slope",
        lambda: F(y**2, y, x),
        "Functional: y.dot does not occur in the integrand, so end points for y cannot be prescribed. Write the integrand "
        "with y.dot for the slope.",
    ),
    (
        "a slope of the variable",
        lambda: F(y.dot**2 + x.dot**2, y, x),
        "Functional: x.dot occurs, but x is the variable. Slopes are those of the unknown functions: y.dot is dy/dx.",
    ),
    (
        "an integral that does not depend on the parametrisation",
        lambda: F(sqrt(x.dot**2 + y.dot**2), [x, y]).extremal({da.time: 0, x: 0, y: 0}, {da.time: 1, x: 1, y: 1}),
        "extremal: the second derivatives of the integrand by the slopes form a singular matrix, so Euler's equation does not "
        "determine the curve: perhaps the integral does not depend on the parametrisation. Take one of the unknowns as the "
        "variable, or the square of the integrand.",
    ),
)
def test_functionals(call, message):
    assert told(ModelError, call) == message


@table(
    (
        "no end",
        lambda: FALL.extremal({x: 0, y: 0}, {x: 1}, parameters={g: 1}),
        "end: no value for y. Expected {x: ..., y: ...}.",
    ),
    (
        "a symbol too many",
        lambda: FALL.extremal({x: 0, y: 0, z: 0}, {x: 1, y: 1}, parameters={g: 1}),
        "start: z is unknown here. Expected {x: ..., y: ...}.",
    ),
    (
        "backward",
        lambda: FALL.extremal({x: 1, y: 0}, {x: 0, y: 1}, parameters={g: 1}),
        "end: x = 0 does not lie after the start at 1. Exchange the two.",
    ),
    (
        "no parameters",
        lambda: FALL.extremal({x: 0, y: 0}, {x: 1, y: 1}),
        "parameters: no value for g. Expected {g: ...}.",
    ),
    (
        "a word",
        lambda: FALL.extremal({x: 0, y: "low"}, {x: 1, y: 1}, parameters={g: 1}),
        "start: values must be numbers. Expected {x: ..., y: ...}.",
    ),
    ("between what", lambda: FALL.value({y: x}), "value: between what? Write value(curve, (a, b)) with the ends of x."),
    (
        "no curve",
        lambda: FALL.value({z: x}, (0, 1), parameters={g: 1}),
        "curve: expected {y: ...}, expressions in x; got {z: x}.",
    ),
)
def test_extremals(call, message):
    assert told(StartError, call) == message


@table(
    (
        "an unknown way",
        lambda: FALL.extremal({x: 0, y: 0}, {x: 1, y: 1}, parameters={g: 1}, by="magic"),
        "extremal: by='magic' is not known. Use 'quadrature', 'collocation' or 'direct', or leave it out.",
    ),
    (
        "no first integral",
        lambda: F(y.dot**2 + x * y**2, y, x).extremal({x: 0, y: 0}, {x: 1, y: 1}, by="quadrature"),
        "extremal: quadrature needs one unknown function and a first integral: y, or the variable, does not occur in the "
        "integrand. Use by='collocation' or by='direct'.",
    ),
    (
        "no curve between the rings",
        lambda: F(y * sqrt(1 + y.dot**2), y, x).extremal({x: -1, y: 0.5}, {x: 1, y: 0.5}),
        "extremal: Euler's equation was not solved between these points: the curve may be singular at an end, or the first "
        "guess too far away. Give guess={y: expression}, or use by='direct'.",
    ),
    (
        "a guess without a value",
        lambda: FALL.extremal({x: -2, y: 0}, {x: 1, y: 1}, parameters={g: 1}, by="direct"),
        "extremal: the functional has no value on the first guess. Give guess={y: expression}.",
    ),
)
def test_extremals_that_are_not_found(call, message):
    assert told(MethodError, call) == message


def run(**options):
    return da.simulate(
        SPRING, da.Midpoint(), h=0.1, steps=20, parameters={m: 1, k: 1}, start={x: 1, x.dot: 0}, **options
    )


EXPECTED = (
    "hamilton_principle: expected a run, or a path {x: array, ..., dalembert.time: array} with system=... and "
    "parameters=...."
)


@table(
    ("no path", lambda: hamilton_principle(3), EXPECTED),
    ("no system", lambda: hamilton_principle({x: np.zeros(20)}), EXPECTED),
    (
        "no times",
        lambda: hamilton_principle({x: np.zeros(20)}, system=SPRING, parameters={m: 1, k: 1}),
        "hamilton_principle: the path has no values for 't'.",
    ),
    (
        "few records",
        lambda: hamilton_principle({x: np.zeros(3), da.time: np.arange(3)}, system=SPRING, parameters={m: 1, k: 1}),
        "hamilton_principle: got 3 records. Expected at least 17, all finite, at equal distances in time.",
    ),
    (
        "lanes",
        lambda: generalised_principle(
            da.simulate(SPRING, da.Midpoint(), h=0.1, steps=20, parameters={m: [1, 2], k: 1}, start={x: 1, x.dot: 0})
        ),
        "hamilton_principle: the run has lanes. Give a run of one motion.",
    ),
    (
        "a displacement of the wrong shape",
        lambda: weak_form(run(), np.zeros(3)),
        "weak_form: the displacement has the shape (3,). Expected (21, 1): one row per record and one column per coordinate, "
        "zero at both ends.",
    ),
)
def test_principle(call, message):
    assert told(StartError, call) == message


def test_a_discrete_system_has_an_action_of_its_own():
    discrete = da.discretise(SPRING, da.midpoint_map)
    done = da.simulate(discrete, h=0.1, steps=20, parameters={m: 1, k: 1}, start={x: 1, x.momentum: 0})
    with pytest.raises(ModelError, match="has an action sum of its own"):
        hamilton_principle(done)
