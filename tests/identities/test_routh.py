"""Routh's reduction: reduced and reconstructed, the motion is the unreduced one."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin
from dalembert.decide.zero import vanishes

x, theta, phi, psi, r, y = da.coordinates("x theta phi psi r y")
m_1, m_2, l, g, m, k, J_1, J_3, c = da.parameters("m_1 m_2 l g m k J_1 J_3 c", positive=True)


def cart():
    T = m_1 * x.dot**2 / 2 + m_2 / 2 * (x.dot**2 + l**2 * theta.dot**2 + 2 * l * x.dot * theta.dot * cos(theta))
    return da.System("cart and pendulum", [x, theta], kinetic=T, potential=-m_2 * g * l * cos(theta))


def kepler():
    return da.System("Kepler", [r, theta], kinetic=m * (r.dot**2 + r**2 * theta.dot**2) / 2, potential=-k / r)


def spherical():
    T = m * l**2 * (theta.dot**2 + sin(theta) ** 2 * phi.dot**2) / 2
    return da.System("spherical pendulum", [theta, phi], kinetic=T, potential=-m * g * l * cos(theta))


def top():
    T = J_1 * (theta.dot**2 + sin(theta) ** 2 * phi.dot**2) / 2 + J_3 * (psi.dot + cos(theta) * phi.dot) ** 2 / 2
    return da.System("symmetric top", [theta, phi, psi], kinetic=T, potential=m * g * l * cos(theta))


CASES = {
    "cart": (cart(), {m_1: 1.0, m_2: 2.0, l: 0.8, g: 9.81}, {x: 0.1, theta: 0.6, x.dot: 0.2, theta.dot: 0.4}),
    "kepler": (kepler(), {m: 1.2, k: 2.0}, {r: 1.0, theta: 0.3, r.dot: 0.1, theta.dot: 1.1}),
    "spherical": (spherical(), {m: 1.0, l: 0.7, g: 9.81}, {theta: 0.9, phi: -0.2, theta.dot: 0.3, phi.dot: 2.0}),
    "top": (top(), {J_1: 1.0, J_3: 0.6, m: 1.0, g: 9.81, l: 0.3},
            {theta: 0.7, phi: 0.0, psi: 0.2, theta.dot: 0.1, phi.dot: 0.4, psi.dot: 8.0}),
}  # fmt: skip


def reduced_run(reduction, values, start, method, h, until):
    rest = {q: start[q] for c in reduction.system.coordinates for q in (c, c.dot)}
    every = {**values, **reduction.momenta_at(start, values)}
    return da.simulate(reduction.system, method, h=h, until=until, start=rest, parameters=every)


@pytest.mark.parametrize("name", CASES)
def test_reduced_and_reconstructed_is_unreduced(name):
    given, values, start = CASES[name]
    reduction = da.routh(given)
    method, h = da.Gauss(3), 0.01
    whole = da.simulate(given, method, h=h, until=2, start=start, parameters=values)
    run = reduced_run(reduction, values, start, method, h, 2)
    motion = reduction.reconstruct(run, {q: start[q] for q in reduction.cyclic})
    for q in reduction.system.coordinates:
        assert np.abs(run[q] - whole[q]).max() < 1e-9
    for q in reduction.cyclic:
        assert np.abs(motion[q] - whole[q]).max() < 1e-9
        assert np.abs(motion[q.dot] - whole[q.dot]).max() < 1e-9


def test_which_coordinates_are_eliminated():
    assert da.routh(top()).cyclic == (phi, psi)
    assert da.routh(top(), [psi]).cyclic == (psi,)
    assert da.routh(top(), [psi]).system.coordinates == (theta, phi)
    assert [p.name for p in da.routh(top()).momenta] == ["p_phi", "p_psi"]


def test_one_after_the_other_is_both_at_once():
    """Eliminating psi, then phi, gives the Routhian of both."""
    both = da.routh(top())
    twice = da.routh(da.routh(top(), [psi]).system, [phi])
    assert vanishes(both.routhian - twice.routhian)
    assert not vanishes(both.routhian - da.routh(top(), [psi]).routhian)


def test_routhian_of_example_7_7():
    reduction = da.routh(cart())
    (p,) = reduction.momenta
    M = m_1 + m_2
    expected = m_2 * l**2 * (m_1 + m_2 * sin(theta) ** 2) / (2 * M) * theta.dot**2
    expected += m_2 * l * p * cos(theta) / M * theta.dot - p**2 / (2 * M) + m_2 * g * l * cos(theta)
    assert vanishes(reduction.routhian - expected)
    assert p.name == "p_x"
    assert vanishes(reduction.momenta[p] - (M * x.dot + m_2 * l * theta.dot * cos(theta)))


def test_trajectory_of_example_7_7():
    """The digest's numbers at t = 1, by reduction and quadrature; order 12 in the distance of records."""
    given, values, start = CASES["cart"]
    reduction = da.routh(given)
    errors = []
    for h in (0.04, 0.02, 0.01):
        run = reduced_run(reduction, values, start, da.Gauss(4), h, 1)
        end = reduction.reconstruct(run, {x: 0.1})[x][-1]
        errors.append(abs(end - 0.6786626867263))
    assert abs(end - 0.678662687) < 5e-10
    assert errors[0] > 30 * errors[1] and errors[1] < 1e-8 and errors[2] < 1e-12


def test_effective_potential_of_the_kepler_problem():
    reduction = da.routh(kepler())
    (p,) = reduction.momenta
    assert vanishes(reduction.effective_potential - (p**2 / (2 * m * r**2) - k / r))
    assert vanishes(reduction.velocities[theta.dot] - p / (m * r**2))


def test_substitution_into_the_lagrangian_is_wrong():
    """The control: p = const put into L, without the Legendre change, gives another motion."""
    given, values, start = CASES["kepler"]
    reduction = da.routh(given)
    wrong = given.lagrangian.subs(theta.dot, reduction.velocities[theta.dot])
    assert not vanishes(wrong - reduction.routhian)
    naive = da.System("substituted", [r], lagrangian=wrong)
    every = {**values, **reduction.momenta_at(start, values)}
    run = da.simulate(naive, da.Gauss(3), h=0.01, until=0.5, start={r: 1.0, r.dot: 0.1}, parameters=every)
    right = reduced_run(reduction, values, start, da.Gauss(3), 0.01, 0.5)
    assert np.abs(run.r - right.r).max() > 0.1


def test_forces_on_the_others_are_carried_over():
    """A damper on theta, and a force on it that depends on the cyclic velocity, which is eliminated there as well."""
    T = m_1 * x.dot**2 / 2 + m_2 / 2 * (x.dot**2 + l**2 * theta.dot**2 + 2 * l * x.dot * theta.dot * cos(theta))
    given = da.System("damped", [x, theta], kinetic=T, potential=-m_2 * g * l * cos(theta),
                      forces={theta: -k * x.dot}, dissipation=c * theta.dot**2 / 2)  # fmt: skip
    _, values, start = CASES["cart"]
    values = {**values, c: 0.3, k: 0.2}
    reduction = da.routh(given)
    whole = da.simulate(given, da.Gauss(3), h=0.01, until=2, start=start, parameters=values)
    run = reduced_run(reduction, values, start, da.Gauss(3), 0.01, 2)
    assert np.abs(run.theta - whole.theta).max() < 1e-8
    assert np.abs(reduction.reconstruct(run, {x: 0.1})[x] - whole.x).max() < 1e-8
    assert np.ptp(whole.energy) > 0.1


def test_constraints_on_the_others_are_carried_over():
    """A particle on a paraboloid in cylindrical coordinates: phi is cyclic, the surface is a constraint on (r, y)."""
    given = da.System("bowl", [r, y, phi], kinetic=m * (r.dot**2 + y.dot**2 + r**2 * phi.dot**2) / 2, potential=m * g * y,
                      constraints=[y - r**2])  # fmt: skip
    values, start = {m: 1.0, g: 9.81}, {r: 0.5, y: 0.25, phi: 0.0, r.dot: 0.2, y.dot: 0.2, phi.dot: 3.0}
    reduction = da.routh(given)
    method = da.Reference(1e-11, 1e-11)
    whole = da.simulate(given, method, h=0.01, until=1, start=start, parameters=values)
    run = reduced_run(reduction, values, start, method, 0.01, 1)
    assert np.abs(run.r - whole.r).max() < 1e-8
    assert np.abs(reduction.reconstruct(run, {phi: 0.0})[phi] - whole.phi).max() < 1e-8


def test_lanes():
    given, values, start = CASES["kepler"]
    reduction = da.routh(given)
    run = da.simulate(reduction.system, da.Gauss(3), h=0.01, until=1, start={r: np.array([1.0, 1.2]), r.dot: 0.1},
                      parameters={**values, **reduction.momenta_at(start, values)})  # fmt: skip
    motion = reduction.reconstruct(run, {theta: np.array([0.0, 1.0])})
    alone = da.simulate(reduction.system, da.Gauss(3), h=0.01, until=1, start={r: 1.2, r.dot: 0.1},
                        parameters={**values, **reduction.momenta_at(start, values)})  # fmt: skip
    assert motion[theta].shape == (2, 101)
    assert np.abs(motion[theta][1] - reduction.reconstruct(alone, {theta: 1.0})[theta]).max() < 1e-14
    assert np.abs(motion[theta][0] - motion[theta][1]).max() > 0.1


def test_it_shows_itself():
    text = str(da.routh(kepler()))
    assert "Kepler, reduced by theta" in text and "p_theta stands for:  m*r**2*theta.dot" in text
    assert "theta.dot:  p_theta/(m*r**2)" in text


def test_a_name_that_is_taken():
    p_x = da.parameters("p_x", positive=True)
    given = da.System("taken", [x, y], kinetic=p_x * (x.dot**2 + y.dot**2) / 2, potential=k * y**2)
    assert [p.name for p in da.routh(given).momenta] == ["momentum_x"]
    assert isinstance(da.routh(given).routhian, sympy.Expr)
