"""What a person reads who reduces a discrete system wrongly. Every message, word for word."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import ModelError, StartError, cos, log, sin
from dalembert.engine.status import Status

from .tools import table, told

x, y, z, phi = da.coordinates("x y z phi")
g, k, m, mu, a, u, w = da.parameters("g k m mu a u w")
(x0, x1), (y0, y1), (z0, z1), (p0, p1) = [(c.at(0), c.at(1)) for c in (x, y, z, phi)]
SHIFT = da.Symmetry({y: y + g}, elements=[g])
FREE = (x1 - x0) ** 2 + (y1 - y0) ** 2
PARABOLA = {"variations": [y.dot - x * x.dot], "constraints": [y1 - y0 - x0 * (x1 - x0)]}
SE2 = da.Symmetry({x: x * cos(a) - y * sin(a) + u, y: x * sin(a) + y * cos(a) + w, phi: phi + a}, elements=[u, w, a])
BODY = da.DiscreteSystem("body", [x, y, phi], lagrangian=FREE + (p1 - p0) ** 2)
AFFINE = da.Symmetry({x: k * x + u, y: k * y}, elements=[u, k])
LINE = da.DiscreteSystem("hyperbolic plane", [x, y], lagrangian=FREE / (y0 * y1))
START = {x0: 0, x1: 1, y0: 0, y1: 1}


def connection(**given):
    return da.DiscreteConnection(SHIFT, [x, y], **given)


def plane(lagrangian=FREE, **given):
    return da.DiscreteSystem("plane", [x, y], lagrangian=lagrangian, **given)


def reduced(lagrangian=FREE, options=None, **given):
    return da.reduce(plane(lagrangian, **given), SHIFT, **(options or {}))


LEVEL = {"momentum": {g: 1}}
WAYS = "Give one of trivial={element: ...}, form={element: ...}, lift={coordinate: ...} or horizontal=[...]."
SPLIT = (
    "reduce: the metric does not determine a connection here: it is degenerate on the spaces that it should split. "
    "Give metric=... (a positive matrix in the coordinates) or lift={r: {element: ...}}."
)
AHEAD = {x: x1 - x0, y: y1 - y0}
CURVED = [[1 + x**2, x], [x, 2]]


@table(
    ("no description", connection, f"DiscreteConnection: got none of its inputs. {WAYS}"),
    (
        "two descriptions",
        lambda: connection(form={g: y1 - y0}, lift={y: y0}),
        f"DiscreteConnection: got form and lift of its inputs. {WAYS}",
    ),
    (
        "no symmetry",
        lambda: da.DiscreteConnection({y: y + g}, [x, y], trivial={}),
        "DiscreteConnection: got {y: g + y}. Expected a Symmetry({x: x + a}, elements=[a]).",
    ),
    (
        "too few functions",
        lambda: connection(horizontal=[]),
        "horizontal: got 0 functions. Expected 1: one per dimension of the group.",
    ),
    (
        "not invariant",
        lambda: connection(horizontal=[y1 - 2 * y0]),
        "horizontal: -2*y.at(0) + y.at(1) = 0 is not invariant: the group moves it in the direction of g. Horizontal steps "
        "must stay horizontal if both ends are moved by one group element.",
    ),
    (
        "not transversal",
        lambda: connection(horizontal=[x1 - x0]),
        "horizontal: -x.at(0) + x.at(1) = 0 contains directions of the orbits (5.2), so it does not determine one horizontal "
        "step to every shape.",
    ),
    (
        "a form without closed form",
        lambda: connection(horizontal=[(y1 - y0) ** 5 + y1 - y0 - x0]).form,
        "form: the group element of a horizontal step of this connection has no closed form; its equations are those that "
        "print(connection) shows. Of positions in numbers use apply(q0, q1), lifted(q0, r1), reduced(q0, q1) or joined(q0, "
        "theta, r1).",
    ),
    (
        "derivatives of geodesics",
        lambda: da.reduce(plane(), SHIFT, connection=da.DiscreteConnection.riemannian(SHIFT, [x, y], CURVED)).forces,
        "the derivatives of this connection, which has 11 unknowns in each step, are not written as formulas. Motions do not "
        "need them: simulate the reduced system.",
    ),
    (
        "not equivariant",
        lambda: connection(form={g: y1 - 2 * y0}),
        "form: the component g of A_d is not equivariant: A_d(g0 q0, g1 q1) = g1 A_d(q0, q1) g0^-1 (5.5) fails for "
        "-2*y.at(0) + y.at(1).",
    ),
    ("another element", lambda: connection(form={a: y1}), "form: a is not among the elements g."),
    ("no mapping", lambda: connection(form=3), "form: got 3. Expected {g: expression}."),
    (
        "a lift that is not equivariant",
        lambda: connection(lift={y: y0 * x1}),
        "lift: y: x.at(1)*y.at(0) is not equivariant: h(g q0, r1) = g h(q0, r1) fails.",
    ),
    (
        "a lift to another shape",
        lambda: connection(lift={x: x0}),
        "lift: it does not end at the shape x.at(1), but at x = x.at(0).",
    ),
    (
        "a lift of another coordinate",
        lambda: connection(lift={z: 1}),
        "lift: got {z: 1}. Expected {x: expression, ...} with the coordinates as keys.",
    ),
    (
        "orbits that meet neither zero nor one",
        lambda: da.DiscreteConnection(da.Symmetry({x: x**g}, elements=[g]), [x, y], trivial={}),
        "no 1 coordinates can be set to zero or to one to get one configuration of every shape. Give one: section={x: ..., "
        "...}, in the shape coordinates.",
    ),
    (
        "a section of too many dimensions",
        lambda: connection(trivial={}, section={y: y}),
        "section {x: x, y: y}: it has 2 shape coordinates (x, y). Expected 1: 2 coordinates less 1 dimensions of the group.",
    ),
    (
        "a section along the orbits",
        lambda: connection(trivial={}, section={x: 0}),
        "section {x: 0, y: y}: the group moves along it. Choose a section across the orbits.",
    ),
    (
        "no section",
        lambda: connection(trivial={}, section=3),
        "section: got 3. Expected {x: expression in the shape coordinates, ...}.",
    ),
    (
        "a section of others",
        lambda: connection(trivial={}, section={z: 3}),
        "section: z is not among the coordinates x, y.",
    ),
    (
        "a symmetry of others",
        lambda: da.DiscreteConnection(SHIFT, [x], trivial={}),
        "the symmetry moves y, and the coordinates are x.",
    ),
    (
        "no metric",
        lambda: da.DiscreteConnection.riemannian(SHIFT, [x, y], [[1, 0], [x, 1]]),
        "riemannian: got the metric [[1, 0], [x, 1]]. Expected a symmetric matrix, 2 by 2, in the order of the coordinates "
        "x, y.",
    ),
    (
        "a metric that the group changes",
        lambda: da.DiscreteConnection.riemannian(SHIFT, [x, y], [[1, 0], [0, 1 + y**2]]),
        "riemannian: the metric [[1, 0], [0, y**2 + 1]] is not invariant: the group changes it in the direction of g. Give an "
        "invariant one, such as the kinetic energy's.",
    ),
    (
        "a level that is not equivariant",
        lambda: da.DiscreteConnection.riemannian(SHIFT, [x, y], CURVED, level={g: y}),
        "level: the component g of gamma is not equivariant: gamma(g q) = g gamma(q) g^-1 fails for y.",
    ),
    (
        "a metric that the symmetry changes",
        lambda: da.DiscreteConnection.riemannian(SHIFT, [x, y], [[1, y], [y, 2]], way=AHEAD),
        "horizontal: y.at(0)*(-x.at(0) + x.at(1)) - 2*y.at(0) + 2*y.at(1) = 0 is not invariant: the group moves it in the "
        "direction of g. Horizontal steps must stay horizontal if both ends are moved by one group element.",
    ),
    (
        "a way without a coordinate",
        lambda: da.DiscreteConnection.riemannian(SHIFT, [x, y], [[1, 0], [0, x]], way={x: x1 - x0}),
        "way: got {x: -x.at(0) + x.at(1)}. Expected an expression for every coordinate: {x: ..., y: ...}.",
    ),
    (
        "a way to another place",
        lambda: da.DiscreteConnection.riemannian(SHIFT, [x, y], [[1, 0], [0, x]], way={**AHEAD, y: 2 * (y1 - y0)}),
        "way: y: -2*y.at(0) + 2*y.at(1) is not y.at(1) - y.at(0) to first order in the step, so it is no velocity of a curve "
        "to the end of the step.",
    ),
)
def test_connections(call, message):
    assert told(ModelError, call) == message


@table(
    (
        "no symmetry",
        lambda: da.reduce(plane(), 3),
        "reduce: got 3. Expected a Symmetry({x: x + a}, elements=[a]).",
    ),
    (
        "no connection",
        lambda: reduced(options={"connection": 3}),
        "connection: got 3. Expected a DiscreteConnection(symmetry, coordinates, ...).",
    ),
    (
        "a connection of another symmetry",
        lambda: da.reduce(plane(), da.Symmetry({y: y + k}, elements=[k]), connection=connection(trivial={})),
        "connection: it belongs to another symmetry. Make it with the symmetry that reduces the system.",
    ),
    (
        "an option of discrete systems",
        lambda: da.reduce(
            da.System("c", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2), SHIFT, connection=connection(trivial={})
        ),
        "reduce: connection is for discrete systems. Discretise the system first, such as reduce(discretise(system, "
        "midpoint_map), symmetry, connection=...), or leave it out.",
    ),
    (
        "L_d is not invariant",
        lambda: reduced(FREE - y0**2),
        "reduce: L_d is not invariant under the direction of g in the symmetry {y: 1}, by the term -y.at(0)**2. Only "
        "symmetries of all of 'plane' can be used.",
    ),
    (
        "forces are not invariant",
        lambda: reduced(force_minus={y: y0}),
        "reduce: the discrete forces are not invariant under the direction of g in the symmetry {y: 1}. Only symmetries of "
        "all of 'plane' can be used.",
    ),
    (
        "variations are not invariant",
        lambda: reduced(**{**PARABOLA, "variations": [y.dot - y * x.dot]}),
        "reduce: the one-forms of the variations (D) are not invariant under the direction of g in the symmetry {y: 1}. Only "
        "symmetries of all of 'plane' can be used.",
    ),
    (
        "constraints are not invariant",
        lambda: reduced(**{**PARABOLA, "constraints": [y1 - y0 - y0 * (x1 - x0)]}),
        "reduce: the discrete constraints (D_d) are not invariant under the direction of g in the symmetry {y: 1}. Only "
        "symmetries of all of 'plane' can be used.",
    ),
    ("a degenerate metric", lambda: reduced((x1 - x0) ** 2 + (y1 - y0) * x0), SPLIT),
    (
        "a metric of another size",
        lambda: reduced(options={"metric": [[1]]}),
        "metric: got [[1]]. Expected a symmetric matrix, 2 by 2, in the order of the coordinates.",
    ),
    (
        "no lift",
        lambda: reduced(options={"lift": {z: {g: y}}}),
        "lift: got {z: {g: y}}. Expected, by shape coordinate and element, {x: {g: ...}}.",
    ),
    (
        "a lift along another element",
        lambda: reduced(options={"lift": {x: {k: 1}}}),
        "lift: k is not among the elements g.",
    ),
    (
        "a connection and a level",
        lambda: reduced(options={"connection": connection(trivial={}), **LEVEL}),
        "reduce: give a connection, or a momentum whose level is the connection, not both.",
    ),
    (
        "an action that is not free",
        lambda: da.reduce(plane(), da.Symmetry({q: e for q, e in SE2.action.items() if q != phi}, elements=[u, w, a])),
        "the action on x, y is not free: at every point a combination of the generators of u, w, a is zero. Use fewer "
        "elements.",
    ),
    (
        "no level",
        lambda: reduced(options={"momentum": {}}),
        "momentum: got {}. Expected a value for every element: {g: ...}.",
    ),
    (
        "not conserved: constraints",
        lambda: reduced(options=LEVEL, **PARABOLA),
        "momentum: the momentum is conserved only for directions that the constraints admit, and of the 1 of this group they "
        "admit 0. Use the subgroup of these.",
    ),
    (
        "not conserved: forces",
        lambda: reduced(options=LEVEL, force_minus={y: y1 - y0}),
        "momentum: forces act along the group, so its momentum is not conserved. Leave out `momentum`.",
    ),
    (
        "not regular",
        lambda: reduced((x1 - x0) ** 2 + (y1 - y0) * x0, {**LEVEL, "metric": [[1, 0], [0, 1]]}),
        "momentum: it is not regular: D2 D1 L_d is degenerate on the directions of the group, so a step is not determined by "
        "its momentum. Leave out `momentum`.",
    ),
    (
        "not fixed by the group",
        lambda: da.reduce(LINE, AFFINE, momentum={u: 1, k: 1}),
        "momentum: no direction of the group fixes 1, 1, so there is no subgroup to reduce by. Leave out `momentum`.",
    ),
)
def test_reductions(call, message):
    assert told(ModelError, call) == message


@table(
    (
        "one position",
        lambda: da.simulate(reduced(), h=1, steps=2, start={x0: 0, x1: 1, y0: 0}),
        "start: no value for y.at(1). Give two positions of 'plane'.",
    ),
    (
        "another momentum",
        lambda: da.simulate(reduced(options=LEVEL), h=1, steps=2, start=START),
        "start: the two positions do not have the momentum of this reduction: the group element g of their step is "
        "off by 0.5.",
    ),
    (
        "off the constraints",
        lambda: da.simulate(reduced(**PARABOLA), h=1, steps=2, start=START),
        "start: the two positions do not satisfy the discrete constraints: the group element g of their step is off by 1.",
    ),
    (
        "no value",
        lambda: da.simulate(reduced(options={"momentum": {g: mu}}), h=1, steps=2, start=START),
        "parameters: no value for mu. Add parameters={mu: ...}.",
    ),
    (
        "part of a position",
        lambda: reduced().reconstruct(da.simulate(reduced(), h=1, steps=2, start=START), {x: 0}),
        "reconstruct: no value for y. Give the first position: at={y: ..., ...}.",
    ),
    (
        "another shape",
        lambda: reduced().reconstruct(da.simulate(reduced(), h=1, steps=2, start=START), {x: 1, y: 0}),
        "reconstruct: the position has the shape x = 1.0, and the run begins at x = 0.0.",
    ),
)
def test_starts_and_reconstructions(call, message):
    assert told(StartError, call) == message


R, Q = da.rotation("R"), da.rotation("Q", "exp")
E = da.parameters("e1 e2 e3")
CAYLEY = sympy.Matrix(da.groups.SO3.cayley(list(E)))
LEFT = da.Symmetry({R: CAYLEY * R.matrix}, elements=E)
ANGLES = sympy.rot_axis3(-E[0]) * sympy.rot_axis2(-E[1]) * sympy.rot_axis1(-E[2])
TURNS = da.Symmetry(dict(zip((x, y, z), ANGLES * sympy.Matrix([x, y, z]), strict=True)), E)
POINT = da.DiscreteSystem("point", [x, y, z], lagrangian=FREE + (z1 - z0) ** 2)


def body(rotation=R, potential=0, **given):
    kinetic = sum((k + 1) * v**2 for k, v in enumerate(rotation.omega)) / 2
    return da.discretise(da.System("body", [rotation], kinetic=kinetic, potential=potential, **given), da.midpoint_map)


@table(
    (
        "not among the coordinates",
        lambda: da.reduce(plane(), LEFT),
        "the symmetry moves R, and the coordinates are x, y.",
    ),
    (
        "not invariant",
        lambda: da.reduce(body(potential=R[2, 2]), LEFT),
        "reduce: L_d is not invariant under the direction of e1 in the symmetry of R. Only symmetries of all of 'body, "
        "FiniteDifferenceMap' can be used.",
    ),
    (
        "displacements by the exponential",
        lambda: da.reduce(body(Q), da.Symmetry({Q: CAYLEY * Q.matrix}, elements=E)),
        "reduce: the displacements of Q are exponentials, whose inverse has no value at rest in formulas. Make it with "
        'retraction="cayley".',
    ),
    (
        "reactions of another principle",
        lambda: da.reduce(body(constraints=[R.omega[2]], principle=da.Vakonomic()), LEFT),
        "reduce: the reactions of 'body, FiniteDifferenceMap' follow from Vakonomic(). Expected multipliers times one-forms, "
        "as with principle=da.DAlembert().",
    ),
    (
        "a momentum that nothing but its axis fixes",
        lambda: da.reduce(POINT, TURNS, momentum={E[0]: 1, E[1]: 2, E[2]: 2}),
        "momentum: the group does not fix it, and the subgroup of the direction e1 + 2*e2 + 2*e3, which does, has no closed "
        "form in e1, e2, e3. Give this subgroup as a symmetry of its own, with its own momentum.",
    ),
)
def test_group_coordinates(call, message):
    assert told(ModelError, call) == message


@table(
    (
        "half a turn",
        lambda: da.simulate(
            da.reduce(body(), LEFT), h=0.1, steps=2, start={R: np.diag([1.0, -1, -1]), R.momentum: (1, 0, 0)}
        ),
        "R is half a turn away from the unit matrix, where it has no numbers in the chart of the reduction. Turn the whole "
        "motion by a group element first: that changes nothing else.",
    ),
    (
        "another run",
        lambda: da.reduce(body(), LEFT).start(da.simulate(plane(), h=1, steps=2, start=START)),
        "start: got <Trajectory of 'plane': 3 records, t = 0 to 2, h = 1>. Expected a run of 'body, FiniteDifferenceMap' with "
        "every=1.",
    ),
    (
        "no position",
        lambda: da.reduce(body(), LEFT).reconstruct(
            da.simulate(da.reduce(body(), LEFT), h=0.1, steps=2, start={R: np.eye(3), R.momentum: (1, 0, 0)}), {}
        ),
        "reconstruct: no value for R. Give the first position: at={R: ..., ...}.",
    ),
)
def test_starts_of_group_coordinates(call, message):
    with pytest.raises((StartError, ModelError)) as caught:
        call()
    assert str(caught.value) == message


def test_reconstruction_of_something_else():
    run = da.simulate(reduced(), h=1, steps=2, every=2, start=START)
    assert told(ModelError, lambda: reduced().reconstruct(run, {x: 0, y: 0})) == (
        "reconstruct: got <Trajectory of 'plane, reduced': 2 records, t = 0 to 2, h = 1>. Expected a run of 'plane, reduced' "
        "with every=1."
    )


def test_a_motion_that_leaves_the_domain_of_its_connection_has_a_status():
    """The motion itself goes on: with another connection nothing ends."""
    made = connection(trivial={g: log(1 - x0)})
    assert [str(c) for c in made.domain] == ["1 - x.at(0) > 0"]
    start = {x0: 0, x1: 0.1, y0: 0, y1: 0.2}
    chosen = reduced(options={"connection": made})
    run = da.simulate(chosen, h=1, steps=20, start=start, strict=False)
    assert run.status == Status.LEFT_DOMAIN
    assert np.isfinite(run.x[:10]).all() and np.isnan(run.x[11:]).all()
    back = chosen.reconstruct(run, {x: 0, y: 0})
    assert back[y][:10] == pytest.approx(0.2 * np.arange(10), abs=1e-13)
    assert da.simulate(reduced(), h=1, steps=20, start=start).status == Status.CONVERGED


def test_a_dimension_assumption_that_fails_is_reported():
    """V + D is not everything: the equations hold all the same, and the display says it."""
    left = {"variations": [x.dot], "constraints": [x1 - x0]}
    assert "V + D is not everything." in str(reduced(**left))
    assert "V + D is everything." in str(reduced())
    somewhere = da.reduce(plane(variations=[x.dot - x * y.dot], constraints=[x1 - x0 - x0 * (y1 - y0)]), SHIFT)
    assert "The dimension of S is higher where x = 0." in str(somewhere)
