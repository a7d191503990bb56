"""Mass matrices that are singular, where constraints make up for it: computed by the methods that can, refused by others."""

from __future__ import annotations

import numpy as np
import pytest
from sympy import sin

import dalembert as da

from ..conformance.methods import METHODS

x, y, z = da.coordinates("x y z")

PARABOLA = da.System("parabola", [x, y], kinetic=x.dot**2 / 2, potential=y, constraints=[y - x**2])
TWO = da.System(
    "two", [x, y, z], kinetic=x.dot**2 / 2, potential=y + z**2, constraints=[y - x**2, z - sin(x)]
)  # several
SUM = da.System("sum", [x, y], kinetic=(x.dot + y.dot) ** 2 / 2, potential=x**2 + y**2, constraints=[x - 2 * y])
ROLLED = da.System(
    "rolled", [x, y], kinetic=(x.dot + y.dot) ** 2 / 2, potential=x**2 + y**2, constraints=[x.dot - 2 * y.dot]
)  # kinematic
CASES = {
    PARABOLA: {x: 1, y: 1, x.dot: 0.3},
    TWO: {x: 1, y: 1, z: np.sin(1), x.dot: 0.3},
    SUM: {x: 1, y: 0.5, x.dot: 0.3},
    ROLLED: {x: 1, y: 0.5, x.dot: 0.3},
}
INERTIA = "its mass matrix is singular, and only the constraints determine its velocities."


def alone(system, t):
    """x(t) in one coordinate: x'^2/2 - x^2 on the parabola; else by quadrature of the reduced equation."""
    from scipy.integrate import solve_ivp

    force = {
        "parabola": lambda q: -2 * q,
        "two": lambda q: -2 * q - 2 * np.sin(q) * np.cos(q),
        "sum": lambda q: -(2 + 0.5) * q / 2.25,
        "rolled": lambda q: -(2 + 0.5) * q / 2.25,
    }[system.name]
    found = solve_ivp(lambda _, s: [s[1], force(s[0])], (0, t[-1]), [1, 0.3], "DOP853", t, rtol=1e-12, atol=1e-13)
    return found.y


@pytest.mark.parametrize("method", [*METHODS, da.Reference()], ids=repr)
@pytest.mark.parametrize("system", CASES, ids=lambda s: s.name)
def test_right_or_refused(system, method):
    if not method.takes(system):
        with pytest.raises(da.MethodError):
            da.simulate(system, method, h=0.01, steps=40, start=CASES[system])
        return
    run = da.simulate(system, method, h=0.01, steps=40, start=CASES[system], progress=False)
    q, v = alone(system, run.time)
    size = 0.03 if method.order == 1 else 1e-4
    np.testing.assert_allclose(run.x, q, atol=size)
    np.testing.assert_allclose(run[x.dot], v, atol=size)
    for found in (run.table("velocity"), run.table("momentum"), run.multipliers, run.energy):
        assert np.isfinite(found).all()
    np.testing.assert_allclose(run.energy, run.energy[0], atol=2 * size)


def test_enough_methods_take_them():
    """Without this the test above could pass because all refuse."""
    assert sum(m.takes(PARABOLA) for m in METHODS) >= 8


@pytest.mark.parametrize("method", [da.Lobatto(3), da.Rattle(), da.DiscreteGradient()], ids=repr)
def test_the_others_say_why(method):
    with pytest.raises(da.MethodError) as told:
        da.simulate(PARABOLA, method, h=0.01, steps=4, start=CASES[PARABOLA])
    name = type(method).__name__
    assert str(told.value) == f"{name} does not apply to 'parabola': {INERTIA} Use Midpoint() or DormandPrince8()."


def test_a_regular_mass_matrix_is_not_refused():
    light = da.System(
        "light", [x, y], kinetic=1e-6 * (x.dot**2 + 1e4 * y.dot**2) / 2, potential=1e-6 * y, constraints=[y - x**2]
    )
    assert da.Lobatto(3).takes(light)


def test_starts_from_momenta():
    exact = da.evaluate(PARABOLA, at={x: 1, y: 1, x.dot: 1})
    found = da.evaluate(PARABOLA, at={x: 1, y: 1, x.momentum: 1, y.momentum: 0})
    assert found.velocities == pytest.approx({x: 1, y: 2})
    assert found.accelerations == pytest.approx(exact.accelerations)
    with pytest.raises(da.StartError, match="determine no velocities"):
        da.evaluate(PARABOLA, at={x: 1, y: 1, x.momentum: 1, y.momentum: 0.1})
    run = da.simulate(
        PARABOLA, da.Midpoint(), h=0.01, steps=9, every=3, start={x: 1, y: 1, x.momentum: 0.3, y.momentum: 0}
    )
    np.testing.assert_allclose(run[y.dot], 2 * run.x * run[x.dot], rtol=1e-13)


def test_flow_and_discrete_systems():
    run = da.simulate(PARABOLA, da.Midpoint(), h=0.01, steps=1, start=CASES[PARABOLA])
    step = da.flow(PARABOLA, da.Midpoint(), start=CASES[PARABOLA], h=0.01)
    assert step[x] == pytest.approx(run.x[1], rel=1e-14)
    given = {x: 1, y: 1, x.momentum: 0.3, y.momentum: 0}
    discrete = da.simulate(da.discretise(PARABOLA, da.Midpoint()), h=0.01, steps=1, start=given)
    assert discrete.x[1] == pytest.approx(run.x[1], rel=1e-14)
