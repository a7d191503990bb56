"""Verdicts on equilibria where one stiffness, damping or growth is far smaller than another."""

from __future__ import annotations

import pytest
from sympy import Rational

import dalembert as da

x, y = da.coordinates("x y")
PLANE = {"kinetic": (x.dot**2 + y.dot**2) / 2}
BOX = {x: (-1, 1), y: (-1, 1)}


def verdict(**given):
    found = da.equilibria(da.System("two", [x, y], **PLANE, **given), box=BOX, attempts=2000)
    assert found.complete and not found.free
    (one,) = found
    return one.stability.verdict


@pytest.mark.parametrize("power", [6, 11, 13])
def test_a_small_stiffness_counts(power):
    """Along x = -y the potential rises or falls by 1e-11 of what it does across: it was called free, and a saddle stable."""
    small = Rational(1, 10**power)
    for stiff in (y**2, (x + y) ** 2):
        assert verdict(potential=(stiff + small * x**2) / 2) == "stable"
        assert verdict(potential=(stiff - small * x**2) / 2) == "unstable"


@pytest.mark.parametrize("power", [6, 9, 12])
def test_a_slow_growth_counts(power):
    """Of 1e-6 of the fastest rate and less, the exponent was taken for an imaginary one: linearly stable, it was said."""
    small = Rational(1, 10**power)
    spring = (y**2 + small * x**2) / 2
    assert verdict(potential=spring, forces={x: small * x.dot}) == "unstable"
    rubbed = verdict(potential=spring, dissipation=(small * x.dot**2 + y.dot**2) / 2)
    assert rubbed == "asymptotically stable"


def test_constraints_that_are_nearly_dependent():
    """x = 0 and x + 1e-12 y = 0 leave z alone; a rank in floating point let y move too, where the potential falls."""
    z = da.coordinates("z")
    rows = [x, x + y * Rational(1, 10**12)]
    for sign, expected in ((1, "stable"), (-1, "unstable")):
        kinetic, potential = (x.dot**2 + y.dot**2 + z.dot**2) / 2, (sign * z**2 - y**2) / 2
        system = da.System("held", [x, y, z], kinetic=kinetic, potential=potential, constraints=rows)
        assert da.normal_modes(system, at={x: 0, y: 0, z: 0}).stability.verdict == expected


def test_a_weak_force_that_turns():
    """Across each other, such forces make two equal springs flutter, however weak they are."""
    for power, expected in ((6, "unstable"), (12, "unstable"), (13, "unstable"), (20, "undecided")):
        weak = Rational(1, 10**power)
        assert verdict(potential=(x**2 + y**2) / 2, forces={x: weak * y, y: -weak * x}) == expected


def test_what_cannot_be_told_is_undecided():
    """A growth below the rounding of the fastest rate."""
    small = Rational(1, 10**15)
    assert verdict(potential=(y**2 + small * x**2) / 2, forces={x: small * x.dot}) == "undecided"


def test_a_direction_that_is_free():
    """The control: with fractions and with decimals, also where the direction is none of small whole numbers."""
    for relative in (x + y, x - Rational(17, 10) * y, 0.3 * x - 1.7 * y):
        system = da.System("tied", [x, y], **PLANE, potential=relative**2 / 2)
        (direction,) = da.equilibria(system, box=BOX).free
        assert abs(float(relative.subs(direction))) < 1e-15


def test_modes_of_a_soft_spring():
    """Their frequencies, not zero."""
    system = da.System("two", [x, y], **PLANE, potential=((x + y) ** 2 + Rational(1, 10**13) * x**2) / 2)
    found = da.normal_modes(system, at={x: 0, y: 0})
    assert sorted(m.frequency for m in found)[0] == pytest.approx(0.5e-13**0.5, rel=1e-2)


@pytest.mark.parametrize("unit", [1, 10**20, Rational(1, 10**20)])
def test_what_rounding_leaves_of_large_forces_is_no_force(unit):
    """With a coefficient of 1e30 the rounding of a rest position, 99/7, is a whole number: it counted as exact."""
    kinetic, potential = (x.dot**2 + y.dot**2) / 2, unit * 10**10 * (7 * x**2 - 198 * x + y**2)
    system = da.System("large", [x, y], kinetic=kinetic, potential=potential)
    (one,) = da.equilibria(system, box={x: (-90, 90), y: (-90, 90)})
    assert one.stability.verdict == "stable"
    with pytest.raises(da.ModelError, match="a force of"):  # control
        da.linearise(system, about={x: 14.14, y: 0.0})
