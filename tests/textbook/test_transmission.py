"""The continuously variable transmission of Modin and Verdier (2020): two energies, and a map that reverses motions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.gallery.transmission import continuously_variable_transmission

EXAMPLE = continuously_variable_transmission()
xi, x, y = EXAMPLE.system.coordinates
DRIVER, SPRINGS = "energy of the driver", "energy of the springs"


def reference(eps, until=20.0, **changes):
    start = {s.name: v for s, v in EXAMPLE.start.items()} | changes
    return da.simulate(
        EXAMPLE.system, da.Reference(1e-12, 1e-12), h=0.1, until=until, start=start, parameters={"eps": eps}
    )


def reduced(eps, times, start):
    """(xi, xi.dot, x, y, v) by the equations of the docstring, written out here."""

    def slope(_, s):
        angle, rate, a, b, v = s
        c, d = 1 / np.hypot(1, np.sin(angle)), np.sin(angle) / np.hypot(1, np.sin(angle))
        return [rate, -np.sin(angle) - eps * np.cos(2 * angle), v * c, -v * d, -c * a + d * b]

    return solve_ivp(slope, (times[0], times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-12).y


@pytest.mark.parametrize("eps", [0.0, 0.1])
def test_the_motion_is_that_of_the_reduced_equations(eps):
    run = reference(eps, **{"x.dot": 0.3})
    angle, rate, a, b, v = reduced(eps, run.time, [0.0, 2.5, 1.0, 0.0, 0.3])
    for name, expected in {"xi": angle, "xi.dot": rate, "x": a, "y": b}.items():
        assert np.abs(run[name] - expected).max() < 1e-9
    assert np.abs(run["x.dot"] * np.hypot(1, np.sin(angle)) - v).max() < 1e-9


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.5])
def test_both_energies_are_conserved(eps):
    run = reference(eps)
    for name, invariant in EXAMPLE.invariants.items():
        assert np.ptp(run.quantity(invariant)) < 1e-9, name
    both = sum(run.quantity(e) for e in EXAMPLE.invariants.values())
    assert np.abs(both - run.energy).max() < 1e-12


def test_control_a_wrong_invariant_is_none():
    run = reference(0.1)
    assert np.ptp(run.quantity(xi.dot**2 / 2 - da.cos(xi))) > 1e-2  # without eps
    assert np.ptp(run.quantity((x.dot**2 + x**2) / 2)) > 1e-1  # without y


def test_nothing_acts_back_on_the_driver():
    alone, loaded = reference(0.1, x=0.0), reference(0.1, x=2.0, **{"x.dot": 0.7})
    assert np.abs(alone.xi - loaded.xi).max() < 1e-9
    assert np.abs(loaded.multipliers).max() > 0.1


@pytest.mark.parametrize(("eps", "reversible"), [(0.0, True), (0.1, False)])
def test_the_second_reversing_map(eps, reversible):
    """(xi, y, x.dot) -> -(xi, y, x.dot) leads back along the mapped motion if the pendulum is symmetric, else not."""
    there = reference(eps)
    end = {s.name: float(there[s.name][-1]) for s in (*EXAMPLE.system.coordinates, *EXAMPLE.system.velocities)}
    mapped = {name: -value if name in ("xi", "y", "x.dot") else value for name, value in end.items()}
    back = reference(eps, **mapped)
    assert (np.abs(back.x - there.x[::-1]).max() < 1e-7) == reversible
    assert (np.abs(back.xi + there.xi[::-1]).max() < 1e-7) == reversible


@pytest.mark.parametrize("eps", [0.0, 0.1])
def test_reversing_all_velocities_reverses_every_motion(eps):
    there = reference(eps)
    end = {s.name: float(there[s.name][-1]) for s in EXAMPLE.system.coordinates}
    end |= {s.name: -float(there[s.name][-1]) for s in EXAMPLE.system.velocities}
    assert np.abs(reference(eps, **end).x - there.x[::-1]).max() < 1e-7


def last_energy(method, eps, name=SPRINGS):
    start = {**EXAMPLE.start, x.dot: 0.3}
    run = da.simulate(EXAMPLE.system, method, h=0.1, steps=100_000, every=10, start=start, parameters={"eps": eps})
    energy = run.quantity(EXAMPLE.invariants[name])
    return energy[-1000:].mean() - energy[:1000].mean()


@pytest.mark.parametrize("method", [da.Midpoint(), da.Trapezoidal()], ids=repr)
def test_without_the_map_the_variational_methods_lose_the_energy_of_the_springs(method):
    assert abs(last_energy(method, 0.0)) < 1e-4
    assert last_energy(method, 0.1) < -0.05
    assert abs(last_energy(method, 0.1, DRIVER)) < 1e-4


def test_with_linear_springs_others_do_not():
    for method in (da.GeometricNonholonomic(), da.McLachlanPerlmutter()):
        assert abs(last_energy(method, 0.1)) < 1e-4
