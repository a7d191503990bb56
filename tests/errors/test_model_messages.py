"""What a person reads who states a system wrongly: every message, word for word."""

from __future__ import annotations

import json
import warnings

import pytest
import sympy

import dalembert as da
from dalembert import Eq, ModelError, cos
from dalembert.model.principle import Principle
from dalembert.model.serial import dumps, loads

from .tools import table, told

x, y, z = da.coordinates("x y z")
m, k = da.parameters("m k", positive=True)
h = da.step
ENERGY = m * x.dot**2 / 2
PLANE = (x.dot**2 + y.dot**2) / 2
SPACE = (x.dot**2 + y.dot**2 + z.dot**2) / 2


def system(coordinates=(x,), **given):
    return da.System("bead", coordinates, **{"kinetic": ENERGY, **given})


def plane(**given):
    return da.System("bead", [x, y], **{"kinetic": PLANE, **given})


def space(**given):
    return da.System("bead", [x, y, z], **{"kinetic": SPACE, **given})


class Idle(Principle):
    """One that names no one-forms."""

    def forms(self, constraints, coordinates):
        return ()


class Scaled(Principle):
    """Reactions of twice the size."""

    def forms(self, constraints, coordinates):
        return tuple(tuple(2 * a for a in c.coefficients) for c in constraints)


u, w = da.coordinates("u w")
ALONE = da.System("alone", [u, w], kinetic=(u.dot**2 + w.dot**2) / 2, constraints=[u.dot - w.dot])

GIVEN = ALONE.replace(variations=[u.dot])
FILED = "Expected GivenVariations with variations, or DAlembert or Upsilon or Vakonomic without."


def filed(**fields):
    """What a file says in which something else stands."""
    return loads(json.dumps({**json.loads(dumps(ALONE)), **fields}))


NOT_A_NAME = (
    "is not a name. Names are ASCII letters, digits and underscores, beginning with a letter, separated by spaces: "
    '{}("x y theta"). Greek letters are spelled out and printed as letters.'
)
TEXT = (
    "Expected an expression in Python: without the quotes, with symbols made by dalembert.coordinates and "
    "dalembert.parameters."
)
NO_FUNCTIONS = (
    "is a SymPy function or derivative. Coordinates are symbols here: make x with "
    'x = dalembert.coordinates("x") and write x.dot for its velocity.'
)


@table(
    (
        "begins with a digit",
        lambda: da.coordinates("1x"),
        "coordinates: '1x' " + NOT_A_NAME.format("coordinates"),
    ),
    (
        "a dot in a coordinate",
        lambda: da.coordinates("x.dot"),
        "coordinates: 'x.dot' " + NOT_A_NAME.format("coordinates"),
    ),
    (
        "a sign in a parameter",
        lambda: da.parameters("m k-1"),
        "parameters: 'k-1' " + NOT_A_NAME.format("parameters"),
    ),
    (
        "a Greek letter",
        lambda: da.coordinates("θ"),
        "coordinates: 'θ' " + NOT_A_NAME.format("coordinates"),
    ),
    (
        "a coordinate called t",
        lambda: da.coordinates("x t"),
        'coordinates: the name "t" is taken by time. Use `dalembert.time` for time, or another name.',
    ),
    (
        "a parameter called t",
        lambda: da.parameters("t"),
        'parameters: the name "t" is taken by time. Use `dalembert.time` for time, or another name.',
    ),
    (
        "a third slot",
        lambda: x.at(2),
        "x.at(2): a discrete Lagrangian has two slots. Type x.at(0) for the beginning of the step or x.at(1) for its "
        "end.",
    ),
)
def test_names(call, message):
    assert told(ModelError, call) == message


@table(
    (
        "no coordinates",
        lambda: system([]),
        'coordinates=[]: a system needs at least one, made with x = dalembert.coordinates("x").',
    ),
    (
        "a parameter among the coordinates",
        lambda: system([x, m]),
        'coordinates: m (Parameter) is not a coordinate. Make it with m = dalembert.coordinates("m").',
    ),
    (
        "a SymPy symbol among the coordinates",
        lambda: system([sympy.Symbol("x")]),
        'coordinates: x (Symbol) is not a coordinate. Make it with x = dalembert.coordinates("x").',
    ),
    (
        "text among the coordinates",
        lambda: system(["x"]),
        "coordinates: 'x' (str) is not a coordinate. Make it with x = dalembert.coordinates(\"x\").",
    ),
    (
        "a coordinate twice",
        lambda: system([x, y, x]),
        "coordinates: the name x occurs twice. Each coordinate is listed once.",
    ),
    (
        "a coordinate and a parameter of one name",
        lambda: system(potential=da.parameters("x") * x),
        "the name x is used for a coordinate and for a parameter. Rename one of them.",
    ),
    (
        "two parameters of one name",
        lambda: system(potential=da.parameters("m") * x),
        "the name m is used for two parameters with different assumptions. "
        'Make it once, m = dalembert.parameters("m", ...), and use that symbol everywhere.',
    ),
)
def test_coordinates_and_parameters(call, message):
    assert told(ModelError, call) == message


@table(
    (
        "a plain symbol",
        lambda: system(potential=sympy.Symbol("c") * x),
        "potential: unknown symbol c in c*x. If it is a constant, make it with "
        'c = dalembert.parameters("c"). Known here: t, x, x.dot.',
    ),
    (
        "a coordinate of another system",
        lambda: system(potential=x * y),
        "potential: unknown symbol y in x*y. Add y to coordinates=[...]. Known here: t, x, x.dot.",
    ),
    (
        "the velocity of a coordinate of another system",
        lambda: system(kinetic=ENERGY + y.dot**2),
        "kinetic: unknown symbol y.dot in m*x.dot**2/2 + y.dot**2. y is not among the coordinates of this system. "
        "Known here: t, x, x.dot.",
    ),
    (
        "an acceleration",
        lambda: system(forces={x: -m * x.ddot}),
        "force on x: unknown symbol x.ddot in -m*x.ddot. Accelerations follow from the equations; they cannot be given. "
        "Use positions, velocities and time.",
    ),
    (
        "a plain symbol with the name of a coordinate",
        lambda: system(dissipation=sympy.Symbol("x", real=True) ** 2),
        "dissipation: unknown symbol x in x**2. This x is a plain SymPy symbol; use the x of dalembert.coordinates.",
    ),
    (
        "a plain t",
        lambda: system(lagrangian=sympy.Symbol("t") * x, kinetic=None),
        "lagrangian: unknown symbol t in t*x. This t is a plain SymPy symbol; use the t of dalembert.time.",
    ),
    (
        "a foreign coordinate in a constraint",
        lambda: plane(constraints=[x - z]),
        "constraint: unknown symbol z in x - z. Add z to coordinates=[...]. Known here: t, x, x.dot, y, y.dot.",
    ),
    (
        "a foreign velocity in a variation",
        lambda: plane(constraints=[x.dot - y.dot], variations=[z.dot]),
        "variation: unknown symbol z.dot in z.dot. z is not among the coordinates of this system. "
        "Known here: t, x, x.dot, y, y.dot.",
    ),
    (
        "an undefined function",
        lambda: system(potential=sympy.Function("f")(x)),
        f"potential: f(x) {NO_FUNCTIONS}",
    ),
    (
        "a derivative",
        lambda: system(potential=sympy.Derivative(x**2, x)),
        f"potential: Derivative(x**2, x) {NO_FUNCTIONS}",
    ),
    (
        "text for the kinetic energy",
        lambda: system(kinetic="m*x.dot**2"),
        f"kinetic: got the text 'm*x.dot**2'. {TEXT}",
    ),
    ("text for a constraint", lambda: plane(constraints=["x - y"]), f"constraint: got the text 'x - y'. {TEXT}"),
    (
        "nothing for a force",
        lambda: system(forces={x: None}),
        "force on x: got None (NoneType). Expected a scalar expression.",
    ),
    (
        "a list for the potential",
        lambda: system(potential=[x, 1]),
        "potential: got [x, 1] (list). Expected a scalar expression.",
    ),
    (
        "an inequality as a constraint",
        lambda: plane(constraints=[x > 0]),
        "constraint: got x > 0 (StrictGreaterThan). Expected a scalar expression.",
    ),
    (
        "a comparison by == as a constraint",
        lambda: plane(constraints=[x == y]),
        "constraint: got False (bool). Expected a scalar expression.",
    ),
)
def test_expressions(call, message):
    assert told(ModelError, call) == message


@table(
    (
        "kinetic and lagrangian",
        lambda: system(lagrangian=ENERGY),
        "give either lagrangian= or kinetic= (and potential=), not both.",
    ),
    (
        "potential and lagrangian",
        lambda: system(kinetic=None, potential=x, lagrangian=ENERGY),
        "give either lagrangian= or kinetic= (and potential=), not both.",
    ),
    (
        "neither kinetic nor lagrangian",
        lambda: system(kinetic=None, potential=x),
        "no kinetic energy was given. Write kinetic=... (and potential=...), or lagrangian=....",
    ),
    (
        "a force on a foreign coordinate",
        lambda: plane(forces={z: 1}),
        "forces: z is not a coordinate of this system. Its coordinates are x, y; write forces={x: ...}.",
    ),
    (
        "a force on a velocity",
        lambda: plane(forces={x.dot: 1}),
        "forces: x.dot is not a coordinate of this system. Its coordinates are x, y; write forces={x: ...}.",
    ),
    (
        "a list of forces",
        lambda: system(forces=[1]),
        "forces: got [1]. Expected {coordinate: expression}, for example forces={x: 1}.",
    ),
    (
        "one constraint, no list",
        lambda: plane(constraints=x - y),
        "constraints: got x - y. Expected a list: constraints=[x - y].",
    ),
    (
        "one equation, no list",
        lambda: plane(constraints=Eq(x, y)),
        "constraints: got Eq(x, y). Expected a list: constraints=[Eq(x, y)].",
    ),
    (
        "one variation, no list",
        lambda: plane(constraints=[x.dot - y.dot], variations=x.dot),
        "variations: got x.dot. Expected a list: variations=[x.dot].",
    ),
    (
        "a constraint without coordinates",
        lambda: plane(constraints=[m - 1]),
        "constraint m - 1 = 0 contains no coordinate and no velocity, so it constrains nothing. "
        "Write an expression in x, y and their velocities.",
    ),
    (
        "too few variations",
        lambda: plane(constraints=[x.dot - y.dot], variations=[]),
        "variations: got 0, but there are 1 constraints. Give one one-form per constraint, or leave variations out to "
        "take those of the constraints.",
    ),
    (
        "the name of a principle",
        lambda: plane(constraints=[x.dot - y.dot], principle="vakonomic"),
        "principle: got 'vakonomic'. Expected an object that says how constraints act, such as principle=da.DAlembert().",
    ),
    (
        "the class of a principle",
        lambda: plane(constraints=[x.dot - y.dot], principle=da.DAlembert),
        "principle: got DAlembert, a class. Write DAlembert(), with parentheses.",
    ),
    (
        "a principle and variations",
        lambda: plane(constraints=[x.dot - y.dot], variations=[x.dot], principle=da.DAlembert()),
        "give either variations= or principle=, not both: variations=[...] says how constraints act, and so does "
        "principle=DAlembert().",
    ),
    (
        "a principle with too few one-forms",
        lambda: plane(constraints=[x.dot - y.dot], principle=Idle()),
        "principle: Idle() has 0 one-forms with no components. Expected one for each of the 1 constraints, with 2 "
        "components.",
    ),
    (
        "parts with different principles",
        lambda: da.bodies.compose("both", plane(constraints=[x.dot - y.dot], principle=Scaled()), ALONE),
        "compose: the constraints of the parts act by different principles, Scaled() (bead) and DAlembert() (alone). Give "
        "all parts one: system.replace(principle=...).",
    ),
    (
        "a principle that files do not know",
        lambda: dumps(plane(constraints=[x.dot - y.dot], principle=Scaled())),
        "the principle Scaled() cannot be saved. Files hold DAlembert, GivenVariations, Vakonomic, Upsilon.",
    ),
    (
        "a file with an unknown principle",
        lambda: filed(principle="Lindelof"),
        "the system in the file has the principle 'Lindelof', without variations. " + FILED,
    ),
    (
        "a file with d'Alembert's principle and variations",
        lambda: filed(variations=json.loads(dumps(GIVEN))["variations"]),
        "the system in the file has the principle 'DAlembert', with variations. " + FILED,
    ),
    (
        "a file with given variations and none",
        lambda: filed(principle="GivenVariations"),
        "the system in the file has the principle 'GivenVariations', without variations. " + FILED,
    ),
    (
        "a file with a number for a principle",
        lambda: filed(principle=3),
        "the model has a int where a text of at most 10000 is expected.",
    ),
    (
        "variations without constraints",
        lambda: plane(variations=[x.dot]),
        "variations: got 1, but there are 0 constraints. Give one one-form per constraint, or leave variations out to "
        "take those of the constraints.",
    ),
    (
        "a function as a variation",
        lambda: plane(constraints=[x.dot - y.dot], variations=[x - y]),
        "variation x - y is not a one-form. Write a sum of coefficient times velocity, the velocity standing for the "
        "displacement: z.dot - y*x.dot for dz - y dx.",
    ),
    (
        "an affine variation",
        lambda: plane(constraints=[x.dot - y.dot], variations=[x.dot + 1]),
        "variation x.dot + 1 is not a one-form. Write a sum of coefficient times velocity, the velocity standing for the "
        "displacement: z.dot - y*x.dot for dz - y dx.",
    ),
    (
        "a constraint said twice",
        lambda: plane(constraints=[x - y, 2 * x - 2 * y]),
        "bead: the constraints are dependent: 2*x - 2*y = 0 is redundant (it follows from x - y = 0). Leave it out.",
    ),
    (
        "a constraint and its derivative",
        lambda: space(constraints=[x - y, z, x.dot - y.dot]),
        "bead: the constraints are dependent: x.dot - y.dot = 0 is redundant (it follows from x - y = 0, z = 0). "
        "Leave it out.",
    ),
    (
        "dependent variations",
        lambda: space(constraints=[x.dot - y.dot, z.dot], variations=[x.dot, 2 * x.dot]),
        "bead: the variations are linearly dependent. Give as many independent one-forms as there are constraints.",
    ),
    (
        "a coordinate without inertia",
        lambda: plane(kinetic=x.dot**2 / 2),
        "bead: the mass matrix is singular: there is no inertia along y, so the accelerations are undetermined. "
        "Give y.dot a kinetic energy, or remove a coordinate.",
    ),
    (
        "a direction without inertia",
        lambda: plane(kinetic=(x.dot + y.dot) ** 2 / 2),
        "bead: the mass matrix is singular: there is no inertia along x, y, so the accelerations are undetermined. "
        "Give x.dot, y.dot a kinetic energy, or remove a coordinate.",
    ),
)
def test_systems(call, message):
    assert told(ModelError, call) == message


def test_a_kinematic_constraint_put_into_the_lagrangian():
    with pytest.warns(da.ModelWarning) as caught:
        plane(kinetic=x.dot**2, constraints=[y.dot - x.dot])
    assert [str(w.message) for w in caught] == [
        "bead: the Lagrangian does not contain y.dot, which a kinematic constraint determines. If the constraint was "
        "substituted into the Lagrangian, the equations are wrong: write the kinetic energy with y.dot and leave the "
        "constraint in constraints=[...]."
    ]


def test_no_warning_where_nothing_was_substituted():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plane(constraints=[y.dot - x.dot])  # the velocity is there
        plane(kinetic=PLANE, potential=x, constraints=[y - x])  # a holonomic constraint may be substituted
    assert caught == []


DIFFERENCE = ((x.at(1) - x.at(0)) ** 2 + (y.at(1) - y.at(0)) ** 2) / (2 * h)


def discrete(**given):
    return da.DiscreteSystem("steps", [x, y], **{"lagrangian": DIFFERENCE, **given})


SLOTS = "Known here: h, t, x.at(0), x.at(1), y.at(0), y.at(1)."


@table(
    (
        "a variation without a constraint",
        lambda: discrete(variations=[x.dot]),
        "steps: 1 variations but 0 constraints. A step is determined only if there are as many one-forms as functions "
        "chi(q0, q1).",
    ),
    (
        "a constraint without a variation",
        lambda: discrete(constraints=[x.at(1) - x.at(0), y.at(1)]),
        "steps: 0 variations but 2 constraints. A step is determined only if there are as many one-forms as functions "
        "chi(q0, q1).",
    ),
    (
        "a slot of a foreign coordinate",
        lambda: discrete(lagrangian=z.at(0) ** 2),
        f"lagrangian: unknown symbol z.at(0) in z.at(0)**2. z is not among the coordinates of this system. {SLOTS}",
    ),
    (
        "a plain symbol",
        lambda: discrete(force_plus={y: sympy.Symbol("c")}),
        "force_plus on y: unknown symbol c in c. If it is a constant, make it with "
        f'c = dalembert.parameters("c"). {SLOTS}',
    ),
    (
        "a plain symbol in a constraint",
        lambda: discrete(variations=[x.dot], constraints=[x.at(1) - sympy.Symbol("c")]),
        "constraint: unknown symbol c in -c + x.at(1). If it is a constant, make it with "
        f'c = dalembert.parameters("c"). {SLOTS}',
    ),
    (
        "a force on a foreign coordinate",
        lambda: discrete(force_minus={z: 1}),
        "force_minus: z is not among the coordinates x, y.",
    ),
    (
        "a function as a variation",
        lambda: discrete(variations=[cos(x)], constraints=[x.at(1)]),
        "variation cos(x) is not a one-form. Write a sum of coefficient times velocity, the velocity standing for the "
        "displacement: z.dot - y*x.dot for dz - y dx.",
    ),
    ("text", lambda: discrete(lagrangian="x0*x1"), f"lagrangian: got the text 'x0*x1'. {TEXT}"),
    ("nothing", lambda: discrete(lagrangian=None), "lagrangian: got None (NoneType). Expected a scalar expression."),
)
def test_discrete_systems(call, message):
    assert told(ModelError, call) == message


PLACE = "b is the place of the base point between q0 (b = 0) and q1 (b = 1). Give a number from 0 to 1."


@table(
    ("b above 1", lambda: da.FiniteDifferenceMap(2), f"FiniteDifferenceMap(b=2): {PLACE}"),
    ("b below 0", lambda: da.FiniteDifferenceMap(-0.5), f"FiniteDifferenceMap(b=-0.5): {PLACE}"),
    ("b is a symbol", lambda: da.FiniteDifferenceMap(x), f"FiniteDifferenceMap(b=x): {PLACE}"),
    ("b is missing", lambda: da.FiniteDifferenceMap(None), f"FiniteDifferenceMap(b=None): {PLACE}"),
    ("b is not a number", lambda: da.FiniteDifferenceMap(float("nan")), f"FiniteDifferenceMap(b=nan): {PLACE}"),
    (
        "discretise with a number",
        lambda: da.discretise(system(), 5),
        "discretise: 5 is not a finite-difference map. Use left_map, midpoint_map or right_map, FiniteDifferenceMap(b), "
        "or a variational method such as Midpoint().",
    ),
    (
        "discretise with a method that is not variational",
        lambda: da.discretise(system(), da.RungeKutta4()),
        "discretise: RungeKutta4() is not a finite-difference map. Use left_map, midpoint_map or right_map, "
        "FiniteDifferenceMap(b), or a variational method such as Midpoint().",
    ),
)
def test_maps(call, message):
    assert told(ModelError, call) == message


GALLERY = ", ".join(da.gallery.names())


@table(
    (
        "an unknown system",
        lambda: da.gallery.load("pendulums"),
        f"there is no gallery system 'pendulums'. The gallery has: {GALLERY}.",
    ),
    (
        "a chain without links",
        lambda: da.gallery.load("pendulum-chain", links=0),
        "pendulum-chain: links=0. Give the number of links, a whole number from 1 on.",
    ),
)
def test_gallery(call, message):
    assert told(ModelError, call) == message
    assert "pendulum-cartesian" in GALLERY
