"""Where masses vanish, and whether they do so everywhere, is the same in all units."""

from __future__ import annotations

from unittest import mock

import pytest
from sympy import Piecewise, cos, exp, sin

import dalembert as da
from dalembert.decide import sample

x, y = da.coordinates("x y")
UNITS = [1, 1e-12, 1e12, 1e-30]


def masses(unit):
    """Kinetic energies with x counted in a unit; whether they are positive definite, and whether there are zeros."""
    X, v, w = x / unit, x.dot / unit, y.dot
    return {
        "an angle": (v**2 + sin(X) ** 2 * w**2, True, True),
        "a double zero": (v**2 * (1 - cos(X)) + w**2, True, True),
        "a change of sign": (v**2 * (1 - X**2 / 9) + w**2, False, True),
        "beyond a wall": (v**2 * Piecewise((21 - X, X < 20), (41 - 2 * X, True)) + w**2, False, True),
        "steep": (exp(-X) * v**2 + w**2, True, False),
        "regular": ((X**2 + 2) * v**2 + w**2, True, False),
    }


def verdicts(unit, energy):
    found = {}
    for name, (kinetic, *_) in masses(unit).items():
        at = da.structure(da.System(name, [x, y], lagrangian=energy * kinetic)).degenerate
        found[name] = (at.definite, bool(at.conditions))
    return found


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("energy", [1, 1e-20])
def test_zeros_and_signs_of_a_mass_matrix(unit, energy):
    assert verdicts(unit, energy) == {name: (definite, zeros) for name, (_, definite, zeros) in masses(1).items()}


def test_control_points_of_size_one_miss_them():
    with mock.patch.object(sample, "natural_scales", lambda groups, names: dict.fromkeys(names, 1.0)):
        assert verdicts(1e-12, 1) != verdicts(1, 1)


@pytest.mark.parametrize("unit", UNITS)
def test_masses_that_only_constraints_make_up_for(unit):
    """Steep masses are not degenerate in any unit; a missing one is in all."""
    X, v = x / unit, x.dot / unit
    bound = [y - X]
    steep = da.System("steep", [x, y], lagrangian=exp(-X) * v**2 + y.dot**2, constraints=bound)
    wall = Piecewise((0, X < 50), ((X - 50) ** 2, True))
    beyond = da.System("beyond a wall", [x, y], lagrangian=wall * v**2 + y.dot**2, constraints=bound)
    without = da.System("without mass", [x, y], lagrangian=v**2, constraints=bound)
    assert [da.Rattle().takes(s) for s in (steep, beyond, without)] == [True, True, False]


@pytest.mark.parametrize("unit", UNITS)
def test_hamiltonians(unit):
    """Closed forms are checked, and singular transforms refused, at the scale of the velocity."""
    v = x.dot / unit
    relativistic = da.System("relativistic", [x], lagrangian=-da.sqrt(1 - v**2))
    assert da.hamilton(relativistic).hamiltonian is not None
    with pytest.raises(da.ModelError, match="singular"):
        da.hamilton(da.System("linear", [x, y], lagrangian=-da.sqrt(1 - (v + y.dot) ** 2)))
