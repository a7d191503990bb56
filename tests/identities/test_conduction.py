"""Heat through conductors: between bodies, to reservoirs, in the equations and in the sums of a step."""

import numpy as np
import pytest
from sympy import exp

import dalembert as da
from dalembert.analysis.motions.balances import balance

x = da.coordinates("x")
A, B = da.entropies("A B")
WARM, COLD = 3.0, 1.0


def bodies(conduction, **given):
    """Two bodies of heat capacities 1 and 2 at the temperatures exp(A) and exp(B/2), and a mass that moves freely."""
    return da.System(
        "bodies", [x], kinetic=x.dot**2 / 2, entropies=[A, B], internal_energy=exp(A) + 2 * exp(B / 2),
        conduction=conduction, **given,
    )  # fmt: skip


START = {x: 0.0, x.dot: 0.0, A: np.log(WARM), B: 2 * np.log(COLD)}


def rates(conduction):
    """The heats that both bodies receive."""
    found = da.evaluate(bodies(conduction), at=START)
    return [found.entropy_rates[A] * WARM, found.entropy_rates[B] * COLD]


@pytest.mark.parametrize(
    ("conduction", "expected"),
    [
        ({(A, B): 2}, (-4, 4)),
        ({(B, A): 2}, (-4, 4)),
        ({(A, B): 2, (B, A): 3}, (-10, 10)),
        ({(A, 5): 2}, (4, 0)),
        ({(5, A): 2}, (4, 0)),
        ({(A, 5): 2, (5, A): 1}, (6, 0)),
        ({(A, B): 2, (B, 0.5): 4}, (-4, 2)),
    ],
    ids=str,
)
def test_heat_goes_from_the_warm_to_the_cold_end(conduction, expected):
    """Conductance times the difference of temperatures; parallel conductors add."""
    np.testing.assert_allclose(rates(conduction), expected, atol=1e-12)


@pytest.mark.parametrize("method", [da.Midpoint(), da.RungeKutta4(), da.Reference()], ids=repr)
def test_a_body_at_a_reservoir_cools_exponentially(method):
    """T = T0 + (T1 - T0) exp(-k t) for the body of heat capacity 1; the error falls with h^2 or faster."""
    errors = []
    for h in (0.1, 0.05):
        run = da.simulate(bodies({(A, COLD): 0.7}), method, h=h, until=2, start=START)
        errors.append(np.abs(np.exp(run[A]) - COLD - (WARM - COLD) * np.exp(-0.7 * run.time)).max())
    assert errors[-1] < 1e-3
    assert method.adaptive or errors[1] < errors[0] / 3.5


@pytest.mark.parametrize("method", [da.Midpoint(), da.Trapezoidal(), da.RungeKutta4()], ids=repr)
@pytest.mark.parametrize("conduction", [{(A, B): 0.7}, {(A, 0.5): 0.7}], ids=["bodies", "reservoir"])
def test_entropy_of_a_body_changes_by_what_heat_brings_and_by_friction(method, conduction):
    """By the sums of each step; what friction produces is positive, and zero without it."""
    for lam in (0.0, 0.3):
        system = bodies(conduction, **({"friction": {A: {x: -lam * x.dot}}} if lam else {}))
        run = da.simulate(system, method, h=0.05, until=1, start=START | {x.dot: 2.0})
        found = balance(run)
        assert found.exact.all()
        brought = found.received + found.exchanged
        produced = np.diff(np.stack([run[A], run[B]], axis=-1), axis=0) - brought
        assert np.abs(brought).max() > 1e-3
        assert np.abs(produced[:, 1]).max() < 1e-12
        assert (produced[:, 0] > 1e-4).all() if lam else (np.abs(produced[:, 0]) < 1e-12).all()


def test_bodies_that_conduct_exchange_energy_and_lose_none():
    run = da.simulate(bodies({(A, B): 0.7}), da.Reference(1e-12), h=0.05, until=1, start=START)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-10
    heats = np.exp(run[A]) - WARM, 2 * np.exp(run[B] / 2) - 2 * COLD
    np.testing.assert_allclose(heats[0], -heats[1], atol=1e-10)
    assert heats[0][-1] < -0.5
    open_end = da.simulate(bodies({(A, COLD): 0.7}), da.Reference(1e-12), h=0.05, until=1, start=START)  # the control
    assert open_end.energy[-1] < open_end.energy[0] - 0.5
