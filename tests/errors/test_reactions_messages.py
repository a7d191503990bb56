"""What a person reads who asks for reactions, imposed motions or contacts that make no sense. Every message, word for word."""

from __future__ import annotations

import numpy as np

import dalembert as da
from dalembert import ModelError, StartError, cos, sin
from dalembert.analysis.motions.contacts import along, contact_report
from dalembert.theory.reactions.virtual_work import dalembert_residual, virtual_work

from .tools import table, told

t = da.time
x, y, z, psi = da.coordinates("x y z psi")
m, g, R, omega, mu = da.parameters("m g R omega mu", positive=True)
CIRCLE = da.System(
    "circle", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=[x**2 + y**2 - R**2]
)
SLOT = da.System(
    "slot",
    [x, psi],
    kinetic=m * (x.dot**2 + x**2 * psi.dot**2) / 2,
    potential=m * g * x * cos(psi),
)
GEAR = da.System("gear", [x, psi], kinetic=(x.dot**2 + psi.dot**2) / 2, constraints=[psi.dot - omega])
VALUES = {m: 1.2, g: 9.81, R: 1.0}
STATE = {x: 0.6, y: -0.8, x.dot: 0.8, y.dot: 0.6}
FINDER = da.reactions(CIRCLE)
RUN = da.simulate(CIRCLE, da.Midpoint(), h=0.01, steps=3, start=STATE, parameters=VALUES)
STEPS = da.simulate(
    da.DiscreteSystem("steps", [x], lagrangian=(x.at(1) - x.at(0)) ** 2 / (2 * da.step)),
    h=0.1,
    steps=2,
    start={x.at(0): 0, x.at(1): 1},
)


def test_sound_requests_are_accepted():
    assert abs(FINDER.at(STATE, VALUES).power) < 1e-14
    assert da.impose(SLOT, {psi: omega * t}).system is not None
    assert contact_report(RUN, {"rod": -1}).holds
    assert along(RUN, {"fall": y.ddot})["fall"].shape == (4,)


@table(
    ("no system", lambda: da.reactions(3), "reactions: got 3 (int). Expected a System."),
    ("nothing to impose on", lambda: da.impose("cart", {x: 1}), "impose: got 'cart' (str). Expected a System."),
    ("no system for work", lambda: virtual_work(3, {}), "virtual_work: got 3 (int). Expected a System."),
    ("no system for d'Alembert", lambda: dalembert_residual(3), "dalembert_residual: got 3 (int). Expected a System."),
    (
        "forces in a list",
        lambda: virtual_work(CIRCLE, [1, 2]),
        "virtual_work: got [1, 2]. Expected {coordinate: expression}, for example {x: 1}.",
    ),
    (
        "a force on another coordinate",
        lambda: virtual_work(CIRCLE, {z: 1}),
        "virtual_work: z is not a coordinate of 'circle'. Its coordinates are x, y.",
    ),
    (
        "an acceleration of another coordinate",
        lambda: dalembert_residual(CIRCLE, {z: 1}),
        "accelerations: z is not a coordinate of 'circle'. Its coordinates are x, y.",
    ),
    (
        "the closed form of a long chain",
        lambda: _chain().multipliers,
        "chain: the closed form of the reactions is left out: it is too large, or takes more than 0.1 s. For numbers write "
        "reactions(system).at(state, parameters); to wait longer, reactions(system, seconds=0.4).",
    ),
)
def test_reactions(call, message):
    assert told(ModelError, call) == message


def _chain():
    q = da.coordinates(" ".join(f"u{i}" for i in range(12)))
    rods = [(q[i] - q[i + 2]) ** 2 + (q[i + 1] - q[i + 3]) ** 2 - R**2 for i in range(0, 10, 2)]
    return da.reactions(da.System("chain", q, kinetic=sum(m * p.dot**2 for p in q), constraints=rods), seconds=0.1)


@table(
    (
        "an unknown name",
        lambda: FINDER.at({**STATE, z: 1}, VALUES),
        "reactions: z is unknown here. Expected one of R, g, m, t, x, x.dot, y, y.dot.",
    ),
    (
        "a missing parameter",
        lambda: FINDER.at(STATE, {m: 1, R: 1}),
        "reactions: no value for g. Add {g: ...}.",
    ),
    (
        "an array",
        lambda: FINDER.at({**STATE, x: [0.6, 0.7]}, VALUES),
        "reactions: x = [0.6, 0.7]. Give one number.",
    ),
    (
        "a position off the circle",
        lambda: FINDER.at({**STATE, x: 0.7}, VALUES),
        "reactions: the state violates -R**2 + x**2 + y**2 = 0: its value is 0.13. Correct the state.",
    ),
    (
        "a velocity off the circle",
        lambda: FINDER.at({**STATE, x.dot: 0}, VALUES),
        "reactions: the state violates 2*x*x.dot + 2*y*y.dot = 0: its value is -0.96. Correct the state.",
    ),
    (
        "too few velocities",
        lambda: FINDER.at({x: 0.6, y: -0.8}, VALUES),
        "reactions: no value for x.dot, y.dot, and the constraints do not determine them.",
    ),
    (
        "a singular state",
        lambda: da.reactions(
            da.System("node", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[y**2 - x**2 * (x + 1)])
        ).at({x: 0, y: 0, x.dot: 0, y.dot: 0}),
        "reactions: not determined at this state: the matrix is singular, or an expression has no value there.",
    ),
    (
        "a force that has no value",
        lambda: da.reactions(
            da.System("root", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=da.log(x), constraints=[y])
        ).at({x: 0, y: 0, x.dot: 0, y.dot: 0}),
        "reactions: not determined at this state: the matrix is singular, or an expression has no value there.",
    ),
)
def test_states(call, message):
    assert told(StartError, call) == message


@table(
    (
        "a motion that is no mapping",
        lambda: da.impose(SLOT, psi),
        "impose: got psi. Expected {coordinate or velocity: function of time}: {x: sin(dalembert.time)}.",
    ),
    (
        "nothing imposed",
        lambda: da.impose(SLOT, {}),
        "impose: got {}. Expected {coordinate or velocity: function of time}: {x: sin(dalembert.time)}.",
    ),
    (
        "another coordinate",
        lambda: da.impose(SLOT, {z: t}),
        "impose: z is not a coordinate or velocity of 'slot', which has x, psi.",
    ),
    (
        "a coordinate twice",
        lambda: da.impose(SLOT, {psi: t, psi.dot: 1}),
        "impose: the motion of psi is given twice. Give psi or psi.dot.",
    ),
    (
        "a motion that is not given",
        lambda: da.impose(SLOT, {psi: x / R}),
        "impose: psi = x/R contains x. An imposed motion is a function of time and parameters, like "
        "{x: sin(dalembert.time)}.",
    ),
    (
        "a velocity where the position matters",
        lambda: da.impose(SLOT, {psi.dot: omega}),
        "impose: psi itself occurs in 'slot'. Give its position: {psi: ...}.",
    ),
    (
        "a motion that a constraint imposes already",
        lambda: da.impose(GEAR, {psi: omega * t}),
        "impose: the constraint -omega + psi.dot = 0 binds nothing else once psi is imposed, so its reaction and the driving "
        "force cannot be told apart. Leave out one of the two.",
    ),
    (
        "a driving force that is too long",
        lambda: da.impose(_dense(), {psi: sin(t)}, seconds=0.01).driving,
        "impose: the remaining accelerations are left in `balance`, the driving force: their closed form is too large, or "
        "takes more than 0.01 s. Wait longer with seconds=....",
    ),
)
def test_imposed_motions(call, message):
    assert told(ModelError, call) == message


def _dense():
    """Many angles that all couple with psi."""
    q = da.coordinates(" ".join(f"a{i}" for i in range(6)))
    everything = [psi, *q]
    kinetic = sum(
        (min(i, j) + 1) * u.dot * w.dot * cos(u - w) for i, u in enumerate(everything) for j, w in enumerate(everything)
    )
    return da.System("dense", everything, kinetic=kinetic)


def test_a_long_driving_force_is_still_shown():
    driven = da.impose(_dense(), {psi: sin(t)}, seconds=0.01)
    assert "a5.ddot" in str(driven.balance[psi])
    assert "impose: the remaining accelerations are left in `balance`" in str(driven)


@table(
    (
        "no run",
        lambda: contact_report(CIRCLE, {"rod": 1}),
        f"contact_report: got {CIRCLE!r} (System). Expected a run, from dalembert.simulate.",
    ),
    (
        "a discrete system",
        lambda: contact_report(STEPS, {"rod": 1}),
        "contact_report: 'steps' is a discrete system, which has no accelerations. Use a System.",
    ),
    (
        "no contacts",
        lambda: contact_report(RUN, {}),
        "contact_report: got {}. Expected {name: expression}, or {name: number of a constraint}.",
    ),
    (
        "a constraint that is not there",
        lambda: contact_report(RUN, {"rod": -2}),
        "contact 'rod': there is no constraint -2; 'circle' has 1, counted from 1. Give a number from 1 to 1, negative to "
        "change the sign of the multiplier, or an expression.",
    ),
    (
        "another coordinate",
        lambda: contact_report(RUN, {"rod": z}),
        "contact 'rod': unknown symbol z in z. Add z to coordinates=[...]. Known here: lambda_1, t, x, x.ddot, x.dot, y, "
        "y.ddot, y.dot.",
    ),
    (
        "a parameter without a value",
        lambda: contact_report(RUN, {"grip": mu * x}),
        "contact 'grip': mu is not a parameter of 'circle'. Give its value: parameters={mu: ...}.",
    ),
    (
        "a word",
        lambda: contact_report(RUN, {"rod": "N"}),
        "contact 'rod': got the text 'N'. Expected an expression in Python: without the quotes, with symbols made by "
        "dalembert.coordinates and dalembert.parameters.",
    ),
)
def test_contacts(call, message):
    assert told(ModelError, call) == message


def test_lanes_that_end_early_are_not_counted():
    """Beyond the end of a lane there is nothing, and a lane that has nothing says so."""
    fall = da.System("fall", [x], kinetic=x.dot**2 / 2, potential=-da.sqrt(x))
    run = da.simulate(
        fall, da.RungeKutta4(), h=0.1, steps=20, start={x: np.array([1.0, 0.05]), x.dot: [0, -1.0]}, strict=False
    )
    report = contact_report(run, {"slope": x.ddot})
    assert report.holds
    assert np.isnan(report.values["slope"][1, -1])
    assert report.contacts[1].at < run.time[-1]
