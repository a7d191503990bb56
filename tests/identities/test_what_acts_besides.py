"""Functions that read a System say what they leave out: forces, dissipation, constraints."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import cos
from dalembert.decide.zero import vanishes

x, y = da.coordinates("x y")
m, k, c = da.parameters("m k c", positive=True)
PLAIN = {"kinetic": m * (x.dot**2 + y.dot**2) / 2, "potential": k * x**2 / 2}


def made(**more):
    return da.System("s", [x, y], **{**PLAIN, **more})


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"forces": {x: -c * x.dot}}, "forces on x"),
        ({"dissipation": c * y.dot**2 / 2}, "forces on y"),
        ({"constraints": [x - 2 * y]}, "constraint"),
        ({"constraints": [x.dot - x * y.dot]}, "constraint"),
    ],
)
def test_gauge_function_compares_what_acts_besides(more, reason):
    free, other = made(), made(**more)
    for pair in ((free, other), (other, free), (other, PLAIN["kinetic"] - PLAIN["potential"])):
        found = da.gauge_function(*pair)
        assert not found and reason in found.reason
    assert da.gauge_function(other, other)  # control: with the same forces and constraints


def test_gauge_function_of_forced_systems():
    shift = (x * y).diff(x) * x.dot + (x * y).diff(y) * y.dot
    lagrangian = PLAIN["kinetic"] - PLAIN["potential"]
    first = da.System("first", [x, y], lagrangian=lagrangian, forces={x: -c * x.dot}, constraints=[x - 2 * y])
    second = da.System(
        "second", [x, y], lagrangian=lagrangian + shift, forces={x: -c * x.dot}, constraints=[6 * y - 3 * x]
    )
    found = da.gauge_function(first, second)
    assert found and vanishes(found.function - x * y)
    other = da.System("other", [x, y], lagrangian=lagrangian + shift, forces={x: -c * x.dot}, constraints=[x - 3 * y])
    assert not da.gauge_function(first, other)


def test_structure_says_what_acts_besides_the_potential():
    text = str(da.structure(made(forces={x: cos(y)}, constraints=[x - y])))
    assert "the forces and the reactions of the constraints act besides" in text
    assert "= lambda_1 + cos(y)" in text and "x - y = 0" in text
    assert "act besides" not in str(da.structure(made()))  # control


def test_hamilton_principle_says_that_forces_work():
    """Along a forced motion the action alone is not stationary; what is said names the work of the forces."""
    for more, work in (({"forces": {x: -c * x.dot}}, True), ({"dissipation": c * y.dot**2 / 2}, True), ({}, False)):
        values = {s: v for s, v in {m: 1.3, k: 2.0, c: 0.7}.items() if s in made(**more).parameters}
        start = {x: 0.3, y: 0.2, x.dot: 0.1, y.dot: -0.4}
        run = da.simulate(made(**more), da.Midpoint(), h=0.01, steps=32, start=start, parameters=values)
        text = str(da.hamilton_principle(run))
        assert ("The action with the virtual work of the forces is stationary" in text) == work
        assert ("The action is stationary" in text) != work


def test_the_reaction_of_a_constraint_that_does_not_move_may_work():
    """Chetaev's reaction of v^2 = 1 has power though the constraint does not depend on time."""
    for constraint, why in (
        (x.dot**2 + y.dot**2 - 1, "is not homogeneous in the velocities"),
        (x.dot**2 + y.dot**2 - 1 - da.time, "moves"),
        (x.dot - y * y.dot - 1, "moves"),
        (x.dot - y * y.dot, None),
    ):
        s = made(constraints=[constraint])
        found = da.first_integrals(s, degree=0)
        energy = next(i for i in [*found, *found.not_conserved] if i.name == "energy")
        said = f"the reaction of a constraint does work (the constraint {why})"
        assert energy.reason == said if why else energy.conserved
        assert (f"they do work, because a constraint {why}" in str(da.reactions(s))) == bool(why)


def test_the_reduced_system_shows_its_forces():
    text = str(da.routh(made(dissipation=c * x.dot**2 / 2)))
    assert "force on x:  -c*x.dot" in text
    assert "force on" not in str(da.routh(made()))


def test_reactions_in_any_units():
    """Equal motions with masses and lengths in other units: the reactions scale, and positive definite stays so."""
    ropes = []
    for mass, length in ((1, 1), (1e-27, 1e-9), (1e24, 1e12)):
        s = da.System(
            "rope", [x, y], kinetic=mass * (x.dot**2 + y.dot**2 / 1e6) / 2, constraints=[x**2 + y**2 - length**2]
        )
        found = da.reactions(s)
        assert found.is_positive_definite
        numbers = found.at({x: 0.6 * length, y: 0.8 * length, x.dot: 0.8 * length, y.dot: -0.6 * length})
        ropes.append([numbers.forces[q] / (mass * length) for q in (x, y)])
    assert ropes[1] == pytest.approx(ropes[0], rel=1e-9)
    assert ropes[2] == pytest.approx(ropes[0], rel=1e-9)


def test_hamilton_principle_sees_a_light_coordinate():
    """A path that is wrong along a coordinate of little mass is not stationary, whatever the other weighs."""
    from dalembert.analysis.motions.stationary_action import hamilton_principle

    s = da.System("two", [x, y], kinetic=x.dot**2 / 2 + 1e-14 * y.dot**2 / 2, potential=x**2 / 2 + 1e-14 * y**2 / 2)
    times = np.linspace(0, 1, 129)
    right = {x: np.cos(times), y: np.sin(times), da.time: times}
    wrong = {**right, y: np.sin(times) + 0.1 * np.sin(3 * times)}
    assert hamilton_principle(right, system=s).is_stationary
    assert not hamilton_principle(wrong, system=s).is_stationary


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e12])
def test_records_at_uneven_times_are_refused_in_all_units(unit):
    """Times of picoseconds were as good as equal to an absolute tolerance."""
    from dalembert.analysis.motions.stationary_action import hamilton_principle

    spring = da.System("spring", [x], kinetic=x.dot**2 / 2, potential=x**2 / unit**2 / 2)
    even = np.linspace(0, 1, 65)
    assert hamilton_principle({x: np.cos(even), da.time: unit * even}, system=spring).is_stationary
    with pytest.raises(da.StartError, match="equal distances"):
        hamilton_principle({x: np.cos(even**2), da.time: unit * even**2}, system=spring)
