"""What a person reads who puts bodies and loads together wrongly: every message, word for word."""

from __future__ import annotations

import pytest

import dalembert as da
from dalembert import ModelError, cos, sin

from .tools import table, told

b = da.bodies
x, y, z, theta, psi = da.coordinates("x y z theta psi")
m, g, k, l, R, c, A = da.parameters("m g k l R c A", positive=True)

BOB = b.Particle(m, [x, y])
ROD = b.PlaneBody(b.rod(m, l), [x, y], theta)
BALL = b.SpaceBody(b.sphere(m, R), [x, y, z], b.turns("z", psi))
PENDULUM = b.Particle(m, [l * sin(theta), -l * cos(theta)])

SHAPES = "Expected a shape: disc(m, R), hoop(m, R), rod(m, l), sphere(m, R), ..., or Shape(mass, moments)."
COMPONENTS = "Expected a list of two components in the plane, [x, y], or three in space, [x, y, z]."
BODIES = "Particle(m, [x, y]), PlaneBody(shape, position, angle) or SpaceBody(shape, position, orientation)"


def whole(bodies=(BOB,), coordinates=(x, y), **given):
    return b.assemble("bench", coordinates, bodies=bodies, **given)


@table(
    ("one number for a position", lambda: b.Particle(m, x), f"position: got x. {COMPONENTS}"),
    ("one component", lambda: b.Particle(m, [x]), f"position: got [x]. {COMPONENTS}"),
    (
        "a velocity in a position",
        lambda: b.Particle(m, [x.dot, 0]),
        "position: x.dot in x.dot. Positions and angles are functions of coordinates and time; velocities "
        "follow from them.",
    ),
    (
        "a velocity for an angle",
        lambda: b.PlaneBody(b.rod(m, l), [x, y], theta.dot),
        "angle: theta.dot in theta.dot. Positions and angles are functions of coordinates and time; velocities "
        "follow from them.",
    ),
    (
        "a mass that changes",
        lambda: b.Particle(m * da.time, [x, y]),
        "mass: t in m*t. This must be constant: use numbers and parameters only.",
    ),
    (
        "a mass for a shape",
        lambda: b.PlaneBody(m, [x, y], theta),
        f"PlaneBody: the first argument is m. {SHAPES}",
    ),
    (
        "three components in the plane",
        lambda: b.PlaneBody(b.disc(m, R), [x, y, z], theta),
        "position of a PlaneBody: got 3 components, [x, y, z], but the body has 2.",
    ),
    (
        "one moment in space",
        lambda: b.SpaceBody(b.Shape(m, k), [x, y, z], b.turns("z", psi)),
        "this shape has one moment of inertia, k, which is enough in the plane only. Give three, about the axes of the "
        "body: Shape(mass, [I1, I2, I3]).",
    ),
    (
        "two moments",
        lambda: b.Shape(m, [k, k]),
        "moments: got [k, k]. Expected one moment of inertia (in the plane), three (about the axes of the body) or a "
        "symmetric matrix of 3 rows and 3 columns.",
    ),
    (
        "angles missing",
        lambda: b.turns("zxz", psi, theta),
        "turns('zxz') with 2 angles: give the axes as letters x, y, z and one angle for each, for example "
        'turns("zxz", psi, theta, phi).',
    ),
    (
        "no rotation",
        lambda: b.rotation([[1, 0, 0], [0, cos(psi), sin(psi)], [0, sin(psi), cos(psi)]]),
        "rotation: the matrix is not a rotation: its columns must be orthogonal, of length one, and right-handed. Check "
        "its signs, or write it with turns(...).",
    ),
    (
        "no matrix",
        lambda: b.rotation([[1, 0], [0, 1]]),
        "rotation: got [[1, 0], [0, 1]]. Expected a matrix of 3 rows and 3 columns.",
    ),
    (
        "a point that moves in the body",
        lambda: ROD.point([x, 0]),
        "point of a body: x in x. This must be constant: use numbers and parameters only.",
    ),
    (
        "a point of a particle",
        lambda: BOB.point([1, 0]).position,
        "a Particle is not turned in any way. Give components along the fixed axes.",
    ),
)
def test_bodies(call, message):
    assert told(ModelError, call) == message


@table(
    (
        "a number for a place",
        lambda: b.Spring(k, BOB, 3),
        "Spring: got 3. Expected a body, a point of it, body.point([a, b]), or a position, [x, y].",
    ),
    (
        "a spring at a point of contact",
        lambda: b.Spring(k, ROD.at([x, 0]), BOB),
        "Spring: body.at(...) is the point of a body that is somewhere just now; the end of a spring is fixed: give "
        "body.point([a, b]).",
    ),
    (
        "a force in space on a body in the plane",
        lambda: b.Force([A, 0, 0], BOB),
        "a force of 3 components, [A, 0, 0], acts at a point of 2. Give both in the plane or both in space.",
    ),
    (
        "a cable that goes nowhere",
        lambda: b.Pull(A, BOB),
        "Pull: got 1 places. Expected a length, or two places or more.",
    ),
    (
        "a torque on a particle",
        lambda: b.Torque(A, BOB),
        "Torque: a Particle does not turn. Expected a rigid body or an angle.",
    ),
    (
        "a torque of two components",
        lambda: b.Torque([A, 0], BALL),
        "Torque: got [A, 0]. On a body in space it has three components.",
    ),
    (
        "a torsional spring on a body in space",
        lambda: whole([BALL], [x, y, z, psi], loads=[b.TorsionSpring(k, BALL)]).potential,
        "TorsionSpring: a body in space has no one angle. Give the angle: TorsionSpring(k, theta).",
    ),
    (
        "a vector potential of three components in the plane",
        lambda: b.Charge(c, BOB, A=lambda x, y, t: (0, 0, x)).vector_potential,
        "Charge: A has 3 components, the particle has 2 coordinates.",
    ),
)
def test_loads(call, message):
    assert told(ModelError, call) == message


@table(
    ("nothing", lambda: whole([]), f"bench: bodies=[]. An assembly needs at least one: {BODIES}."),
    ("a mass for a body", lambda: whole([m]), f"bodies: got m. Expected {BODIES}."),
    ("a body twice", lambda: whole([BOB, BOB]), "bench: body 2 is listed twice. List each body once."),
    (
        "plane and space",
        lambda: whole([BOB, BALL]),
        "bench: body 2 has 3 components of position, body 1 has 2. Write all of them in the plane or all in space.",
    ),
    (
        "a coordinate forgotten",
        lambda: whole(coordinates=[x]),
        "position of body 1: unknown symbol y in y. Add y to coordinates=[...]. Known here: t, x, x.dot.",
    ),
    (
        "a constraint among the loads",
        lambda: whole(loads=[x - y]),
        "loads: got x - y. Expected Gravity(g), Spring(k, A, B), Damper(c, A), Force(f, A), ...; constraints stand in "
        "constraints=[...].",
    ),
    (
        "a load on a body that is not there",
        lambda: whole(loads=[b.Damper(c, ROD)]),
        "bench: a Damper acts on a PlaneBody that is not in bodies=[...]. Add it.",
    ),
    (
        "two parts with one coordinate",
        lambda: b.compose("both", whole(), whole([ROD], [x, y, theta])),
        "compose: x, y is a coordinate of bench and of a system before it. Coordinates are known by their names: make "
        "those of bench with other names.",
    ),
    (
        "a body for a part",
        lambda: b.compose("both", 3),
        "compose: got 3. Expected systems or assemblies: compose(name, A, B, interaction=V).",
    ),
    (
        "release of a parameter that is not there",
        lambda: whole().release(k),
        "release: k stands in no position and no angle of bench.",
    ),
    (
        "release of a coordinate",
        lambda: whole().release(x),
        "release: got x. Expected a parameter that stands in a position, or one of the bodies of bench.",
    ),
    (
        "release of a particle without a direction",
        lambda: whole().release(BOB),
        "release: a Particle needs a direction: release(body, along=[1, 0, 0]).",
    ),
)
def test_assemblies(call, message):
    assert told(ModelError, call) == message


@table(
    (
        "a particle that rolls",
        lambda: b.rolling_on_line(PENDULUM, R),
        "rolling_on_line: got a Particle. Expected a rigid body: PlaneBody(...) or SpaceBody(...).",
    ),
    (
        "rolling contained in the coordinates",
        lambda: b.rolling_on_line(b.PlaneBody(b.disc(m, R), [R * theta, R], -theta), R),
        "rolling: the velocities at the contact agree whatever the motion, so nothing is constrained. The coordinates "
        "contain the rolling already: leave it out.",
    ),
    (
        "a load on nobody, in a balance",
        lambda: whole(loads=[b.Pull(A, x + y)]).newton_euler(),
        "bench: a load does not say on which body it acts (-A works on x.dot + y.dot). Give it a body or a point of one, "
        "body.point([a, b]), for balances of force and moment.",
    ),
    (
        "a load for a reaction",
        lambda: whole().newton_euler([b.Gravity(g)]),
        "newton_euler: got a Gravity. Expected a reaction: Contact(body, at, along) or Clamp(body).",
    ),
    (
        "a contact on nobody",
        lambda: b.Contact([x, y]),
        "Contact: got [x, y]. Expected the body that the reaction acts on.",
    ),
)
def test_contacts(call, message):
    assert told(ModelError, call) == message


def test_what_is_right_is_accepted():
    """The control of this file: the same things said well raise nothing."""
    fine = whole([BOB, ROD], [x, y, theta], loads=[b.Gravity(g), b.Spring(k, BOB, ROD.point([l, 0]))])
    assert fine.degrees_of_freedom == 3
    with pytest.raises(pytest.fail.Exception):
        told(ModelError, lambda: b.Spring(k, BOB, ROD.point([l, 0])))
