"""Vakonomic motion: the accelerations tabulated in digest 001, appendix B, and Pontryagin's principle for the rolling disc.

The second derivation knows no multipliers: extremals are motions of the Hamiltonian H = max over admissible velocities of
p v - L, written by hand and integrated by SciPy.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert import cos, sin

x, y, z, theta, phi = da.coordinates("x y z theta phi")
m, I, J, R, s = da.parameters("m I J R s", positive=True)
POINT = {x: 0.3, y: 0.7, z: 0, x.dot: 1, y.dot: 0.5}


def particle(constraint, principle=None):
    kinetic, potential = (x.dot**2 + y.dot**2 + z.dot**2) / 2, da.Rational(98, 10) * z
    made = da.Vakonomic() if principle is None else principle
    return da.System(
        "particle", [x, y, z], kinetic=kinetic, potential=potential, constraints=[constraint], principle=made
    )


F = 2 + sin(x) + x.dot**2
VALUE = 2 + np.sin(0.3) + 1
SKATE = (-4.7718120805, -0.2, -2.8402684564)


@pytest.mark.parametrize("constraint, vz, mu, expected", [
    (z.dot - y * x.dot, 0.7, 0.2, SKATE),
    (F * (z.dot - y * x.dot), 0.7, 0.2 / VALUE, SKATE),
    (F * (z.dot - y * x.dot), 0.7, 0.2, (-4.6177503217, -0.6591040413, -2.7324252252)),
    (z.dot - x.dot * y.dot, 0.5, 0.2, (-2.8464730290, -4.4730290456, -5.8962655602)),
], ids=["linear", "scaled with its multiplier", "scaled", "nonlinear"])  # fmt: skip
def test_accelerations_of_appendix_b(constraint, vz, mu, expected):
    system = particle(constraint)
    at = {**POINT, z.dot: vz, system.multipliers[0]: mu}
    assert list(da.evaluate(system, at=at).accelerations.values()) == pytest.approx(list(expected), abs=1e-9)


def test_rates_of_multipliers_of_appendix_b():
    """The table has mu with E_k(L0) + lambda E_k(L1) + mu P_k = 0, which is the rate of lambda."""
    for constraint, vz, rate in ((z.dot - y * x.dot, 0.7, -6.9597315436), (z.dot - x.dot * y.dot, 0.5, -3.9037344398)):
        system = particle(constraint)
        numbers = da.evaluate(system, at={**POINT, z.dot: vz, system.multipliers[0]: 0.2})
        assert numbers.multiplier_rates == pytest.approx({system.multipliers[0]: rate}, abs=1e-9)
        assert numbers.multipliers == (0.2,)


def disc(principle=None):
    kinetic = (m * (x.dot**2 + y.dot**2) + I * theta.dot**2 + J * phi.dot**2) / 2
    rolls = [x.dot - R * cos(phi) * theta.dot, y.dot - R * sin(phi) * theta.dot]
    return da.System(
        "disc", [x, y, theta, phi], kinetic=kinetic, potential=m * s * x, constraints=rolls, principle=principle
    )


VALUES = {m: 1.5, I: 0.8, J: 0.4, R: 1.2, s: 9.8 * np.sin(0.25)}
DISC = disc(da.Vakonomic())
MU = DISC.multipliers
START = {x: 0, y: 0, theta: 0, phi: 0.4, theta.dot: 1.4, phi.dot: 0.9}
BEGUN = {**START, MU[0]: 1 / 5, MU[1]: -1 / 7}
END = 1.5


def test_the_disc_on_an_incline_of_appendix_b():
    numbers = da.evaluate(DISC, at=BEGUN, parameters=VALUES)
    expected = {theta: -1.4344326640, phi: 0.8797480039, x: -2.1742405040, y: 0.7223309547}
    assert {q: numbers.accelerations[q] for q in expected} == pytest.approx(expected, abs=1e-9)
    assert list(numbers.multiplier_rates.values()) == pytest.approx([-0.3754774451, -1.0834964321], abs=1e-9)
    ideal = da.evaluate(disc(), at=START, parameters=VALUES)
    assert ideal.accelerations[theta] == pytest.approx(-1.3580066791, abs=1e-9)
    assert [-a for a in ideal.multipliers] == pytest.approx([-0.5021848336, -1.1370674567], abs=1e-9)


def pontryagin(times):
    """Positions and multipliers: H = (p_theta + R (c p_x + s p_y))^2 / (2 (I + m R^2)) + p_phi^2 / (2 J) + V."""
    M, I0, J0, R0, slope = (VALUES[p] for p in (m, I, J, R, s))

    def speeds(state):
        _, _, _, f, px, py, pt, pf = state
        return (pt + R0 * (np.cos(f) * px + np.sin(f) * py)) / (I0 + M * R0**2), pf / J0

    def rates(t, state):
        f, px, py = state[3:6]
        turning, steering = speeds(state)
        force = -turning * R0 * (-np.sin(f) * px + np.cos(f) * py)
        return [R0 * np.cos(f) * turning, R0 * np.sin(f) * turning, turning, steering, -M * slope, 0, 0, force]

    c, q = np.array([np.cos(0.4), np.sin(0.4)]), [0, 0, 0, 0.4]
    mu = np.array([1 / 5, -1 / 7])
    p = M * R0 * c * 1.4 + mu
    begin = [*q, *p, I0 * 1.4 - R0 * c @ mu, J0 * 0.9]
    found = solve_ivp(rates, (0, END), begin, t_eval=times, method="DOP853", rtol=1e-12, atol=1e-13).y
    turning = speeds(found)[0]
    rolling = M * R0 * turning * np.array([np.cos(found[3]), np.sin(found[3])])
    return found[:4].T, (found[4:6] - rolling).T


@pytest.mark.parametrize("method, order", [
    (da.Midpoint(), 2), (da.Trapezoidal(), 2), (da.LeftPoint(), 1), (da.Composition(da.Midpoint(), 4), 4),
    (da.RungeKutta4(), 4), (da.Reference(), 0),
], ids=repr)  # fmt: skip
def test_motions_are_those_of_pontryagin_s_principle(method, order):
    """Positions and multipliers, with the order of the method; d'Alembert's motion from the same start is another."""
    errors = []
    for steps in (60, 120):
        run = da.simulate(DISC, method, h=END / steps, steps=steps, start=BEGUN, parameters=VALUES)
        positions, multipliers = pontryagin(run.time)
        off = np.abs(run.table("position")[0] - positions).max(), np.abs(run.multipliers - multipliers).max()
        errors.append(max(off))
    assert errors[1] < (1e-8 if method.adaptive else 0.3 if order == 1 else 0.05)
    if not method.adaptive:
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
    ideal = da.simulate(disc(), da.RungeKutta4(), h=END / 120, steps=120, start=START, parameters=VALUES)
    assert np.abs(ideal.phi - positions[:, 3]).max() > 0.2


# -------------------- geodesics of the Heisenberg group --------------------

HEISENBERG = da.System("Heisenberg", [x, y, z], kinetic=(x.dot**2 + y.dot**2) / 2,
                       constraints=[z.dot - (x * y.dot - y * x.dot) / 2], principle=da.Vakonomic())  # fmt: skip
CURVATURE = 0.7
CIRCLE = {x: 0, y: 0, z: 0, x.dot: 1, y.dot: 0, HEISENBERG.multipliers[0]: CURVATURE}


@pytest.mark.parametrize("method", [da.Midpoint(), da.Trapezoidal()], ids=repr)
def test_geodesics_of_the_heisenberg_group_are_circles(method):
    """With the curvature mu; z is the area swept, and no velocity but those of x and y has a mass."""
    errors = []
    for steps in (200, 400):
        run = da.simulate(HEISENBERG, method, h=10 / steps, steps=steps, start=CIRCLE)
        w, t = CURVATURE, run.time
        exact = np.array([np.sin(w * t) / w, (1 - np.cos(w * t)) / w, (w * t - np.sin(w * t)) / (2 * w**2)])
        errors.append(np.abs(np.array([run.x, run.y, run.z]) - exact).max())
        assert np.abs(run.multipliers - w).max() < 1e-14
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.05) and errors[1] < 0.01
    # the midpoint rule makes a chord of every step: its nodes are on one circle
    if method == da.Midpoint():
        assert np.ptp(np.hypot(run.x, run.y - run.y.max() / 2)) < 1e-3


def test_no_warning_where_a_constraint_may_be_substituted():
    """L + mu chi is stationary for any L that differs by a multiple of chi; only mu does."""
    whole = HEISENBERG.replace(kinetic=HEISENBERG.kinetic + z.dot * (z.dot - (x * y.dot - y * x.dot) / 2))
    w = 0.3 * 0.5 - 0.2 * 0.4
    at = {x: 0.3, y: 0.2, z: 0, x.dot: 0.4, y.dot: 0.5}
    first = da.evaluate(HEISENBERG, at={**at, HEISENBERG.multipliers[0]: 0.9})
    second = da.evaluate(whole, at={**at, HEISENBERG.multipliers[0]: 0.9 - w / 2})
    assert list(second.accelerations.values()) == pytest.approx(list(first.accelerations.values()))
    with pytest.warns(da.ModelWarning, match="does not contain z.dot"):
        HEISENBERG.replace(principle=None)
