"""Integrals found by search do not depend on how a system is written: units, digits, the order of the search."""

from __future__ import annotations

import pytest
from sympy import Float, Rational, cos, exp, sin, sqrt

import dalembert as da
from dalembert.theory.conserved import first_integrals
from dalembert.theory.conserved.integral_search import follows
from dalembert.theory.conserved.on_shell import shell

from .units import Units

x, y, z = da.coordinates("x y z")
t = da.time
r = sqrt(x**2 + y**2 + z**2)
RATE = Rational(1923076923076923, 10**16)


def found(system, degree=2):
    integrals = da.first_integrals(system, degree)
    return integrals, [i.expression for i in integrals]


@pytest.mark.parametrize("second", [1, 10**10, Rational(1, 10**9)])
def test_uniform_motions_beside_a_force_in_time(second):
    """t p - a.q - F(t), where p = a.v + F'(t) is conserved: exact, though cosines of other periods are nearly dependent."""
    clock = t * second
    s = da.System(
        "driven", [x, y], kinetic=2.915 * x.dot**2 / second**2 + 1.6 * y.dot**2 / second**2, potential=-2 * y,
        forces={x: 3 * sin(0.3 * clock)}, constraints=[x.dot - 9.81 * y.dot],
    )  # fmt: skip
    integrals, known = found(s, 1)
    assert integrals.independent == len(known) == 3 == shell(s).dimension
    for i in known:
        assert shell(s).conserved(i)
    assert any(i.has(t**2) for i in known)
    drag = s.replace(forces={x: 3 * sin(0.3 * clock) - x.dot / second**2})
    assert not any(i.has(t**2) for i in found(drag, 1)[1])  # control: p is not conserved


@pytest.mark.parametrize("unit", [1, Rational(1, 10**12), 10**7])
def test_integrals_made_of_others_are_not_listed(unit):
    """x p_y - y p_x is a polynomial in the momenta and t p - q, whichever of these is found first."""
    free = da.System(
        "free", [x, y], kinetic=(53 * x.dot**2 / 40 + 3 * y.dot**2 / 8) * unit**2, forces={x: 2 * unit * sin(7.7 * t)}
    )
    integrals, known = found(free)
    assert integrals.independent == len(known) == 4
    crossed = x * y.dot * Rational(3, 4) - y * x.dot * Rational(53, 20) - 20 * y * cos(Rational(77, 10) * t) / 77 / unit
    crossed += 200 * y.dot * sin(Rational(77, 10) * t) / 77**2 / unit
    assert not follows(crossed, known, shell(free))  # control: its coefficients are wrong


def test_both_components_of_a_vector_are_listed():
    """The second is an algebraic function of the others and no polynomial: it stays."""
    kepler = da.System("Kepler", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=-1 / sqrt(x**2 + y**2))
    integrals, known = found(kepler)
    assert (len(known), integrals.independent) == (4, 3)


@pytest.mark.parametrize("depth", [Rational(5, 4), Rational(6, 5), Rational(1)])
@pytest.mark.parametrize("rate", ["0.234796900680911", "0.2347969", "0.23479690068091132"])
def test_decimals_whose_products_are_long(depth, rate):
    """5/4 times a decimal of fifteen digits has more digits: coefficients that do not contain it are found all the same."""
    s = da.System(
        "rail", [x, y, z], kinetic=1.7 * (x.dot**2 + y.dot**2 + z.dot**2) / 2,
        potential=-depth * exp(-Float(rate, 20) * r) / r,
        constraints=[1.7 * x.dot - 2.49 * y.dot],
    )  # fmt: skip
    integrals, _ = found(s, 1)
    assert [i.name for i in integrals] == ["energy", "function of positions, no. 1", "linear in the velocities, no. 1"]
    steep = s.replace(potential=s.potential + z**2)
    assert len(found(steep, 1)[1]) == 2  # control


@pytest.mark.parametrize("other", [False, True])
def test_a_field_adds_positions_to_momenta(other):
    """The integral linear in the velocities is one in the momenta and products of two positions."""
    field = 0.15 * (x * y.dot - y * x.dot)
    s = da.System(
        "field", [x, y, z], lagrangian=0.85 * (x.dot**2 + y.dot**2 + z.dot**2) + field + 4.86 * exp(-RATE * r) / r,
        constraints=[x.dot - 0.4 * y.dot],
    )  # fmt: skip
    if other:
        s = Units(dict.fromkeys((x, y, z), 10**5), Rational(1, 10**10), 10**8, (10**-3,)).apply(s)
    integrals, _ = found(s)
    assert [i.name for i in integrals] == [
        "Jacobi integral", "function of positions, no. 1", "linear in the velocities, no. 1"
    ]  # fmt: skip


def test_what_is_independent_is_listed(monkeypatch):
    """Whether a quantity is a polynomial in others is told in floating point; whether it depends on them is not."""
    monkeypatch.setattr(first_integrals, "follows", lambda *_: True)
    free = da.System("free", [x, y], kinetic=x.dot**2 + 3 * y.dot**2)
    integrals, known = found(free)
    assert (integrals.independent, len(known)) == (4, 5)  # the energy is read off
