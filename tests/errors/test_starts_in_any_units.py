"""A start on the constraints is taken and one off them is refused, whatever the units and wherever the origin."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

x, y, z = da.coordinates("x y z")
m, l, g, c = da.parameters("m l g c", positive=True)

ROD = da.System(
    "rod", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=[x**2 + y**2 - l**2]
)
FAR = da.System(
    "far", [x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, potential=m * g * y, constraints=[(x - c) ** 2 + y**2 - l**2]
)
ANGLES = [0.0, np.pi / 2, np.pi, 3 * np.pi / 2, 0.7, 2.3]
UNITS = [(1, 1, 1), (1e-12, 1e-9, 1e-30), (1e9, 1e12, 1e24), (1e-6, 1e-12, 1e12)]


def start(angle, length, speed):
    s, k = np.sin(angle), np.cos(angle)
    return {x: length * s, y: -length * k, x.dot: speed * k, y.dot: speed * s}


def taken(system, given, numbers):
    try:
        da.simulate(system, da.Midpoint(), h=1e-30, steps=0, start=given, parameters=numbers, strict=False)
    except da.StartError as error:
        assert "violate" in str(error) or "do not determine" in str(error)
        return False
    return True


@pytest.mark.parametrize(("length", "speed", "mass"), UNITS)
@pytest.mark.parametrize("angle", ANGLES)
def test_a_rod_in_any_units(angle, length, speed, mass):
    numbers, given = {m: mass, l: length, g: 9.81}, start(angle, length, speed)
    across = abs(np.cos(angle)) > 0.5
    assert taken(ROD, given, numbers)
    partly = {k: v for k, v in given.items() if k != (y.dot if across else x.dot)}
    assert taken(ROD, partly, numbers), "a velocity that the library fills in"
    for part in (1e-6, 1e-2):
        assert not taken(ROD, given | ({y: given[y] * (1 + part)} if across else {x: given[x] * (1 + part)}), numbers)
        assert not taken(
            ROD,
            given | ({y.dot: given[y.dot] + part * speed} if across else {x.dot: given[x.dot] + part * speed}),
            numbers,
        )


@pytest.mark.parametrize(("length", "speed", "mass"), UNITS)
def test_a_velocity_that_only_rounding_would_determine_is_asked_for(length, speed, mass):
    """At the side of the circle y.dot has the coefficient 2 y = 1e-16."""
    given = start(np.pi / 2, length, speed)
    del given[y.dot]
    assert not taken(ROD, given, {m: mass, l: length, g: 9.81})


@pytest.mark.parametrize("distance", [1.0, 1e3, 1e6, 1e8])
@pytest.mark.parametrize("angle", ANGLES)
def test_far_from_the_origin(angle, distance):
    given = start(angle, 1, 1)
    given[x] += distance
    numbers = {m: 1, l: 1, g: 1, c: distance}
    assert taken(FAR, given, numbers)
    off = given | {x: distance + 1.01 * np.sin(angle), y: 1.01 * given[y]}
    assert not taken(FAR, off, numbers)


def test_two_positions_of_a_discrete_system_in_any_units():
    for length in (1e-12, 1.0, 1e9):
        discrete = da.discretise(ROD, da.Midpoint())
        first, second = start(0.3, length, 0), start(0.31, length, 0)
        given = {x.at(0): first[x], y.at(0): first[y], x.at(1): second[x], y.at(1): second[y]}
        numbers = {"h": 0.01, "steps": 1, "parameters": {m: 1, l: length, g: 9.81 * length}}
        assert da.simulate(discrete, start=given, **numbers).ok
        with pytest.raises(da.StartError, match="violate the discrete constraint"):
            da.simulate(discrete, start=given | {y.at(1): second[y] * (1 + 1e-6)}, **numbers)
        with pytest.raises(da.StartError, match="first position violates"):
            da.simulate(discrete, start=given | {y.at(0): first[y] * (1 + 1e-6)}, **numbers)


@pytest.mark.parametrize("mass", [9.109e-31, 1e-20, 1.0, 1e30])
def test_hamilton_takes_any_mass(mass):
    form = da.hamilton(da.System("electron", [x], kinetic=mass * x.dot**2 / 2, potential=mass * x**2 / 2))
    assert form.hamiltonian is not None
    assert float(form.velocities[x].subs(x.momentum, mass)) == pytest.approx(1)


def test_control_a_missing_mass_is_refused():
    with pytest.raises(da.ModelError, match="Legendre transform is singular"):
        da.hamilton(da.System("no", [x, y], kinetic=x.dot**2 / 2, potential=y, constraints=[y - x**2]))
