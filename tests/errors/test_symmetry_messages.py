"""What a person reads whose symmetry is none, or leaves something not invariant. Word for word."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import ModelError, StartError, cos, sin
from dalembert.decide.budget import BudgetSpentError

from .tools import table, told

x, y, z, phi = da.coordinates("x y z phi")
a, b, c, g = da.parameters("a b c g")
m, k = da.parameters("m k", positive=True)
ROTATION = {x: x * cos(a) - y * sin(a), y: x * sin(a) + y * cos(a)}
FREE = da.System("free", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2)
FALLING = da.System("falling", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y)
BLADE = da.System("blade", [x, y, z], kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2, constraints=[z.dot - y * x.dot])
TURN = da.rotation("R")
POSE = da.planar_pose("P")
BODY = da.System("body", [TURN], kinetic=TURN.omega[0] ** 2 + 2 * TURN.omega[1] ** 2 + 3 * TURN.omega[2] ** 2)
NEEDLE = da.direction("n")
POINTER = da.System("pointer", [NEEDLE], kinetic=NEEDLE.omega[0] ** 2 + NEEDLE.omega[1] ** 2, potential=NEEDLE[2])
FOUND = ("translation of y", "translation of x", "rotation of (x, y)", "boost along y", "boost along x", "all together")
LISTED = "; ".join(f"[{i}] {name}" for i, name in enumerate(FOUND))
SPHERICAL = da.System("sphere", [TURN], kinetic=sum(w**2 for w in TURN.omega))


def about(angle, axis):
    """The rotation about a coordinate axis."""
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    found = sympy.eye(3)
    found[i, i] = found[j, j] = cos(angle)
    found[i, j], found[j, i] = -sin(angle), sin(angle)
    return found


LEFT = about(a, 2) * about(b, 1) * about(c, 0)
RIGHT = about(-g, 2)
SPIN = da.Symmetry({TURN: about(a, 2) * TURN.matrix}, elements=[a])
SHIFT = da.Symmetry({y: y + c}, elements=[c])
SPHERE = da.Symmetry(
    dict(
        zip(
            (x, y, z),
            sympy.rot_axis3(-a) * sympy.rot_axis2(b) * sympy.rot_axis1(-c) * sympy.Matrix([x, y, z]),
            strict=True,
        )
    ),
    elements=[a, b, c],
)
E2 = da.reduce(BLADE, da.Symmetry({z: z + c}, elements=[c]))


def test_decimals_are_exact():
    """0.1 is one tenth: three steps of it are three tenths."""
    found = da.Symmetry({x: x + 0.1 * a}, elements=[a])
    assert found.generators[0][x] == sympy.Rational(1, 10)


def test_an_identity_that_is_neither_zero_nor_one():
    assert da.Symmetry({x: x + a - 2}, elements=[a]).identity == (2,)


@table(
    (
        "no mapping",
        lambda: da.Symmetry([x + a], elements=[a]),
        "symmetry: got [a + x]. Expected {coordinate: its image}, such as {x: x + a} with elements=[a].",
    ),
    (
        "a key that is no coordinate",
        lambda: da.Symmetry({m: x + a}, elements=[a]),
        'symmetry: m is not a coordinate. The keys of the action are coordinates, made with dalembert.coordinates("x").',
    ),
    (
        "no elements",
        lambda: da.Symmetry({x: x + a}, elements=[]),
        "symmetry: elements=[]. Expected the symbols of a group element, such as elements=[a] with "
        'a = dalembert.parameters("a").',
    ),
    (
        "an element that is no parameter",
        lambda: da.Symmetry({x: x + y}, elements=[y]),
        'symmetry: the element y is not a parameter. Make it with a = dalembert.parameters("a").',
    ),
    (
        "an element twice",
        lambda: da.Symmetry({x: x + a}, elements=[a, a]),
        "symmetry: elements=[a, a]: an element is listed twice. List each once.",
    ),
    (
        "an element that does not occur",
        lambda: da.Symmetry({x: x + a}, elements=[a, b]),
        "symmetry: the element b does not occur in the action. Leave it out of elements=[...], or write the action with it.",
    ),
    (
        "no identity",
        lambda: da.Symmetry({x: x * (1 + a**2) + 1}, elements=[a]),
        "symmetry: no value of a leaves the coordinates x where they are. A group has an identity; the usual ones are 0 for "
        "displacements and angles and 1 for factors.",
    ),
    (
        "an element that moves nothing",
        lambda: da.Symmetry({x: x + a**3}, elements=[a]),
        "symmetry: the element a moves nothing near the identity a = 0: the derivatives of all images by a are zero there. "
        "Leave it out of elements=[...], or write the action with it.",
    ),
    (
        "two elements that do the same",
        lambda: da.Symmetry({x: x + a + b}, elements=[a, b]),
        "symmetry: the elements a, b do not act independently: a combination of their generators is zero. Leave b out of "
        "elements=[...].",
    ),
    (
        "no group action",
        lambda: da.Symmetry({x: x + a, y: y + a * x**2 + a * z}, elements=[a]),
        "symmetry: this is no group action: moving by one element and then by another is not moving by a third. Expected "
        "Phi(a, Phi(b, q)) = Phi(c, q) with a c for all a, b near a = 0; along a it fails.",
    ),
    (
        "a velocity",
        lambda: da.Symmetry({x: x + a * x.dot}, elements=[a]),
        "image of x: unknown symbol x.dot in a*x.dot + x. x is not among the coordinates of this system. Known here: t, x.",
    ),
    (
        "too few components",
        lambda: SHIFT.product([1, 2], [3]),
        "symmetry: got [1, 2]. Expected a group element: 1 expressions, for c.",
    ),
    (
        "no symmetry",
        lambda: da.reduce(FREE, {x: 1}),
        "reduce: got {x: 1} (dict). Expected a symmetry, made with dalembert.Symmetry({x: ...}, elements=[...]).",
    ),
    (
        "other coordinates",
        lambda: da.reduce(FREE, SPHERE),
        "reduce: the symmetry moves or uses z, but the coordinates of 'free' are x, y.",
    ),
    (
        "an element with the name of a parameter",
        lambda: da.reduce(FALLING, da.Symmetry({x: x + g}, elements=[g])),
        "reduce: the element g of the symmetry is also a symbol of 'falling'. Use another name for it.",
    ),
    (
        "a potential that is not invariant",
        lambda: da.reduce(FALLING, SHIFT),
        "reduce: the potential g*m*y of 'falling' is not invariant when y are moved by c. Reduce by elements that leave it "
        "invariant, or see dalembert.symmetries(system).",
    ),
    (
        "a force that is not invariant",
        lambda: da.reduce(FREE.replace(forces={x: k * y}), SHIFT),
        "reduce: the force on x k*y of 'free' is not invariant when y are moved by c. Reduce by elements that leave it "
        "invariant, or see dalembert.symmetries(system).",
    ),
    (
        "friction that is not invariant",
        lambda: da.reduce(FREE.replace(dissipation=y**2 * x.dot**2), SHIFT),
        "reduce: the dissipation y**2*x.dot**2 of 'free' is not invariant when y are moved by c. Reduce by elements that "
        "leave it invariant, or see dalembert.symmetries(system).",
    ),
    (
        "a constraint that is not invariant",
        lambda: da.reduce(BLADE, SHIFT),
        "reduce: the constraint -y*x.dot + z.dot of 'blade' is not invariant when y are moved by c. Reduce by elements that "
        "leave it invariant, or see dalembert.symmetries(system).",
    ),
    (
        "not free",
        lambda: da.reduce(da.System("point", [x, y, z], kinetic=x.dot**2 + y.dot**2 + z.dot**2), SPHERE),
        "reduce: the action on x, y, z is not free: at every point a combination of the generators of a, b, c is zero. Reduce "
        "by fewer elements.",
    ),
    (
        "a section of other coordinates",
        lambda: da.reduce(FREE, SHIFT, section={x: 0}),
        "reduce: section={x: 0}. Expected numbers for 1 of the coordinates y that the group moves.",
    ),
    (
        "a section along the orbits",
        lambda: da.reduce(FREE, da.Symmetry({x: x + a, y: y * cos(0)}, elements=[a]), section={y: 0}),
        "reduce: section={y: 0} does not meet the orbits: the generators do not move y independently there. Fix other "
        "coordinates or other values.",
    ),
    (
        "a constraint on positions",
        lambda: da.reduce(FREE.replace(constraints=[x**2 - 1]), SHIFT),
        "reduce: x**2 - 1 = 0 is a constraint on positions. State the system with coordinates that satisfy it.",
    ),
    (
        "a form that is not there",
        lambda: da.reduce(FREE, SHIFT).chaplygin,
        "chaplygin: the symmetry of 'free' is Lagrange-Poincare. Expected that exactly one admissible velocity belongs to "
        "each shape velocity (S = 0 and W = 0).",
    ),
    (
        "no kinetic energy on the group alone",
        lambda: da.reduce(FREE, SHIFT).lie_poisson,
        "lie_poisson: 'free' is Lagrange-Poincare. Expected a kinetic energy on the group alone, without forces and "
        "constraints.",
    ),
    (
        "no system",
        lambda: da.symmetries(3),
        "symmetries: got 3 (int). Expected a System.",
    ),
    (
        "an action that depends on the time",
        lambda: da.reduce(FREE, da.Symmetry({x: x + a * da.time}, elements=[a])),
        "reduce: the image of x, a*t + x, depends on the time. Expected an action on the coordinates alone; for its Noether "
        "charge see dalembert.noether.",
    ),
    (
        "coordinates that the system with a rotation has not",
        lambda: da.reduce(BODY, SHIFT),
        "reduce: the symmetry moves or uses y, but the coordinates of 'body' are R.",
    ),
    (
        "a rotation that the system has not",
        lambda: da.reduce(FREE, SPIN),
        "reduce: the symmetry moves the rotation R, but the coordinates of 'free' are x, y.",
    ),
    (
        "an image of a rotation that is no matrix",
        lambda: da.Symmetry({TURN: a}, elements=[a]),
        "symmetry: the image of R is a. Expected a 3 x 3 matrix, such as A*R.matrix with a matrix A of the group.",
    ),
    (
        "an image of a rotation that is no rotation",
        lambda: da.Symmetry({TURN: TURN.matrix * (1 + a)}, elements=[a]),
        "symmetry: the image of R is no rotation: R^T R differs from 1 by 0.353 at a random point. Expected a product such as "
        "A*R.matrix or R.matrix*A with a matrix A of the group.",
    ),
    (
        "an image of a pose that is no pose",
        lambda: da.Symmetry({POSE: POSE.matrix * (1 + a)}, elements=[a]),
        "symmetry: the image of P is no pose: its entry [2, 2] is a + 1, not 1.",
    ),
    (
        "an image that uses a rotation without moving it",
        lambda: da.Symmetry({x: x + a * TURN[0, 1]}, elements=[a]),
        "symmetry: the images use R[0, 1]. Say how R is moved too: {R: R.matrix}.",
    ),
    (
        "a direction in place of a rotation",
        lambda: da.Symmetry({TURN.directions[0]: a}, elements=[a]),
        "symmetry: R.turn1 is not a coordinate. The keys of the action are coordinates, made with "
        'dalembert.coordinates("x").',
    ),
    (
        "a rotation that is not free",
        lambda: da.reduce(SPHERICAL, da.Symmetry({TURN: LEFT * TURN.matrix * RIGHT}, elements=[a, b, c, g])),
        "reduce: the action on R is not free: at every point a combination of the generators of a, b, c, g is zero. Reduce by "
        "fewer elements.",
    ),
    (
        "a kinetic energy that a turn of the body changes",
        lambda: da.reduce(BODY, da.Symmetry({TURN: TURN.matrix * LEFT.subs({b: 0, c: 0})}, elements=[a])),
        "reduce: the kinetic energy R.omega[0]**2 + 2*R.omega[1]**2 + 3*R.omega[2]**2, by its terms R.omega[0]**2, "
        "2*R.omega[1]**2, of 'body' is not invariant when R are moved by a. "
        "Reduce by elements that leave it invariant, or see dalembert.symmetries(system).",
    ),
    (
        "a section of a rotation that is no rotation",
        lambda: da.reduce(BODY, SPIN, section={TURN: 2 * sympy.eye(3)}),
        "reduce: section at R: [[2, 0, 0], [0, 2, 0], [0, 0, 2]]. Expected the matrix of a rotation, in shape "
        "coordinates.",
    ),
    (
        "a section of a rotation with too few shape coordinates",
        lambda: da.reduce(BODY, SPIN, section={TURN: sympy.eye(3)}),
        "reduce: section={R: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}. Expected numbers for 1 of the coordinates R that "
        "the group moves; of R a matrix in new shape coordinates.",
    ),
    (
        "a section of a rotation along the orbits",
        lambda: da.reduce(BODY, SPIN, section={TURN: about(x, 2) * about(y, 0)}),
        "reduce: section={R: [[cos(x), -sin(x)*cos(y), sin(x)*sin(y)], [sin(x), cos(x)*cos(y), -sin(y)*cos(x)], [0, sin(y), "
        "cos(y)]]} does not meet the orbits: the generators do not move R independently there. Fix other coordinates or "
        "other values.",
    ),
    (
        "another principle",
        lambda: da.reduce(BLADE.replace(principle=da.Vakonomic()), da.Symmetry({z: z + c}, elements=[c])),
        "reduce: the reactions of 'blade' follow from Vakonomic(). Expected multipliers times one-forms, as with "
        "principle=da.DAlembert().",
    ),
    (
        "a constraint that is not linear",
        lambda: da.reduce(FREE.replace(constraints=[x.dot**2 + y.dot**2 - 1]), SHIFT),
        "reduce: the constraint x.dot**2 + y.dot**2 - 1 = 0 is not linear in the velocities. Expected linear ones.",
    ),
    (
        "a metric that is none",
        lambda: da.reduce(FREE, SHIFT, metric=[[1, 0], [c, 1]]),
        "metric: got [[1, 0], [c, 1]]. Expected a symmetric matrix, 2 by 2, in the order of the coordinates.",
    ),
    (
        "a metric that is degenerate",
        lambda: da.reduce(FREE, SHIFT, metric=[[1, 0], [0, 0]]),
        "reduce: the metric does not determine a connection here: it is degenerate on the spaces that it should split. Give "
        "metric=... (a positive matrix in the coordinates) or lift={r: {element: ...}}.",
    ),
    (
        "a connection of other shapes",
        lambda: da.reduce(FREE, SHIFT, lift={y: {c: 1}}),
        "lift: got {y: {c: 1}}. Expected, by shape coordinate and element, {x: {c: ...}}.",
    ),
    (
        "all symmetries that were found",
        lambda: da.reduce(FREE, da.symmetries(FREE)),
        f"reduce: got all symmetries that were found. Give one of them, symmetries(system)[k]: {LISTED}.",
    ),
    (
        "a boost that was found",
        lambda: da.reduce(FREE, next(f for f in da.symmetries(FREE) if f.charge is not None)),
        "reduce: the boost along y changes the Lagrangian by the derivative of a function. Reduce by a symmetry that "
        "leaves it as it is; what this one conserves is its charge.",
    ),
    (
        "a unit vector",
        lambda: da.reduce(da.discretise(POINTER, da.Midpoint()), da.symmetries(POINTER)[0]),
        "reduce: 'pointer, Midpoint' has the unit vector n, and the axes of its velocities are carried along, so that their "
        "components do not compare. State it by angles for this.",
    ),
    (
        "a matrix that is no rotation",
        lambda: da.groups.SO3.log([[1, 0.01, 0], [0, 1, 0], [0, 0, 1]]),
        "SO3: the given matrix is no rotation: R^T R differs from 1 by up to 0.01. The nearest rotation is "
        "[[ 0.999987500234,  0.004999937501,  0.            ], [-0.004999937501,  0.999987500234,  0.            ], "
        "[ 0.            ,  0.            ,  1.            ]].",
    ),
    (
        "a matrix of another size",
        lambda: da.groups.SE2.Ad([[1, 0], [0, 1]]),
        "SE2: got [[1, 0], [0, 1]]. Expected the 3 x 3 matrix of a pose, or an array (lanes, 3, 3).",
    ),
    (
        "a constraint that is not linear, in a search",
        lambda: da.symmetries(FREE.replace(constraints=[x.dot**2 + y.dot**2 - 1])),
        "symmetries: 'free' has a constraint that is not linear in the velocities.",
    ),
    (
        "Chaplygin's form of a constraint that moves",
        lambda: (
            da.reduce(
                BLADE.replace(constraints=[z.dot - y * x.dot - 1]), da.Symmetry({z: z + c}, elements=[c])
            ).chaplygin
        ),
        "chaplygin: the admissible velocities of 'blade' are not its variations. Expected constraints linear in the "
        "velocities without further terms, and no variations=[...].",
    ),
)
def test_messages(call, message):
    assert told(ModelError, call) == message


@pytest.mark.parametrize("failure", [BudgetSpentError, NotImplementedError])
def test_an_identity_that_computer_algebra_does_not_find_in_time_is_refused(failure, monkeypatch):
    """A reflection followed by rotations has no identity, and solving for one did not end."""
    e = da.parameters("e1 e2 e3")
    turned = sympy.diag(1, 1, -1) * sympy.Matrix(da.groups.SO3.cayley(list(e))) * sympy.Matrix([x, y, z])
    asked = []

    def endless(*given, **options):
        asked.append(given)
        raise failure("too long")

    monkeypatch.setattr(sympy, "solve", endless)
    message = told(ModelError, lambda: da.Symmetry(dict(zip((x, y, z), turned, strict=True)), e))
    assert message.startswith("symmetry: no value of e1, e2, e3 leaves the coordinates x, y, z where they are.")
    assert asked


def test_unit_quaternions_are_not_moved_in_discrete_reduction():
    """Their numbers near the identity are no rational functions of a chart."""
    q, e = da.group_coordinate("q", da.groups.SU2), da.parameters("e1 e2 e3")
    kinetic = sum(v**2 for v in q.omega)
    body = da.discretise(da.System("body", [q], kinetic=kinetic), da.midpoint_map)
    moves = da.Symmetry({q: sympy.Matrix(da.groups.SU2.cayley(list(e))) * q.matrix}, e)
    assert told(ModelError, lambda: da.reduce(body, moves)) == (
        "symmetry: points of SU2 are no rational functions of numbers near the identity, so q cannot be moved by a symmetry. "
        "State it by a rotation, a pose, or coordinates that are numbers."
    )


@pytest.mark.parametrize("ask", [lambda s: da.reduce(s, SHIFT), da.symmetries])
def test_a_system_with_entropies_is_refused(ask):
    S = da.entropies("S")
    warm = da.System("warm", [x, y], kinetic=x.dot**2 + y.dot**2, entropies=[S], internal_energy=sympy.exp(S))
    assert "'warm' has the entropy S. Expected a mechanical system" in told(ModelError, lambda: ask(warm))


T = np.linspace(0, 1, 5)
MOTION = {da.time: T, x: T, y: T, E2.velocities[c]: T}


@table(
    (
        "values are missing",
        lambda: E2.reconstruct({da.time: T}, at={x: 0, y: 0, z: 0}),
        "reconstruct: values of x are missing. Expected motion={x: array, ...}.",
    ),
    (
        "the start is missing",
        lambda: E2.reconstruct(MOTION, at={x: 0, y: 0}),
        "reconstruct: the first value of z is missing. Give at={z: ...}.",
    ),
    (
        "lengths differ",
        lambda: E2.reconstruct({**MOTION, x: T[:4]}, at={x: 0, y: 0, z: 0}),
        "reconstruct: expected at least four increasing times, and as many values of everything else.",
    ),
    (
        "another shape",
        lambda: E2.reconstruct(MOTION, at={x: 1, y: 0, z: 0}),
        "reconstruct: the group does not move the first shape to x = 1, y = 0, z = 0. Expected a position with the first "
        "shape of the motion.",
    ),
)
def test_reconstruction_messages(call, message):
    assert told(StartError, call) == message
