"""A load that a user writes: one class, and energies, forces, balances and reports know it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.model.bodies.loads import Load, push
from dalembert.model.bodies.newton_euler import newton_euler
from dalembert.model.bodies.particles import place

b = da.bodies
x, y = da.coordinates("x y")
m, k = da.parameters("m k", positive=True)


@dataclass(frozen=True, eq=False)
class Hardening(Load):
    """The force -k |r|^2 r towards the origin."""

    at: Any
    stiffness: Any
    conservative = True

    def efforts(self, bodies):
        point = place(self.at, "Hardening")
        square = sum(c**2 for c in point.position)
        return [push(tuple(-self.stiffness * square * c for c in point.position), point)]

    def potential(self, bodies):
        return self.stiffness * sum(c**2 for c in place(self.at, "Hardening").position) ** 2 / 4


@dataclass(frozen=True, eq=False)
class Unstated(Hardening):
    """The same, which enters by its force alone."""

    conservative = False


def of(load):
    body = b.Particle(m, [x, y])
    return b.assemble("own", [x, y], bodies=[body], loads=[load(body, k)])


@pytest.mark.parametrize("load", [Hardening, Unstated])
def test_a_load_of_ones_own(load):
    assembly = of(load)
    at, values = {x: 0.7, y: -0.4, x.dot: 0.1, y.dot: 0.3}, {m: 2.0, k: 3.0}
    expected = [-3.0 * 0.65 * 0.7 / 2, 3.0 * 0.65 * 0.4 / 2]
    found = da.evaluate(assembly.system, at=at, parameters=values).accelerations
    np.testing.assert_allclose([found[x], found[y]], expected, rtol=1e-14)
    told = newton_euler(assembly, ()).solve(at, values).accelerations
    np.testing.assert_allclose([told[x], told[y]], expected, rtol=1e-14)
    run = da.simulate(assembly, da.Gauss(2), h=0.01, until=1, start=at, parameters=values)
    own = run.x**2 + run.y**2
    work = 3.0 * (own[0] ** 2 - own[-1] ** 2) / 4
    motion = run[x.dot] ** 2 + run[y.dot] ** 2
    assert motion[-1] - motion[0] == pytest.approx(work, abs=1e-8)
    assert abs(work) > 0.1
    assert "own" in str(run.forces(assembly))
    assert (np.ptp(run.energy) < 1e-8) == (load is Hardening)
