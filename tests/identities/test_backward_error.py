"""Backward error analysis: the modified equation and the modified Hamiltonian, against formulas, flows and runs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.analysis.accuracy.modified_energy import energy_report
from dalembert.engine.tangent import tangent
from dalembert.errors import MethodError, ModelError
from dalembert.theory.backward_error.modified import asymmetry, modified_equation, modified_hamiltonian

pytestmark = pytest.mark.slow

x, y = da.coordinates("x y")
a, b = da.parameters("a b", positive=True)
PENDULUM = da.System("pendulum", [x], kinetic=x.dot**2 / 2, potential=-da.cos(x))
COUPLED = da.System(
    "coupled",
    [x, y],
    kinetic=(1 + y**2) * x.dot**2 / 2 + (2 + da.sin(x)) * y.dot**2 / 2,
    potential=x**4 / 4 + a * x * y + (1 + da.sin(3 * da.time) / 2) * y**2,
)


def value(expression, seed=0):
    rng = np.random.default_rng(seed)
    return float(expression.subs({s: rng.uniform(0.5, 1.5) for s in sorted(expression.free_symbols, key=str)}))


def same(one, two):
    return all(abs(value(sympy.sympify(one - two), k)) < 1e-12 for k in range(3))


# closed forms

p = x.momentum
U1, U2 = da.sin(x), da.cos(x)


@pytest.mark.parametrize(
    ("method", "H3"),
    [
        (da.StormerVerlet(), p**2 * U2 / 12 - U1**2 / 24),  # kick-drift-kick
        (da.Midpoint(), -(p**2 * U2 + U1**2) / 24),  # -H''(J^-1 grad H, J^-1 grad H)/24
    ],
    ids=repr,
)
def test_first_term_of_the_pendulum(method, H3):
    found = modified_hamiltonian(PENDULUM, method, 2)
    assert same(found.terms[0], p**2 / 2 - da.cos(x))
    assert found.terms[1] == 0
    assert same(found.terms[2], H3)
    assert not same(found.terms[2], 2 * H3)
    assert found.first == 2
    rates = {x: sympy.diff(H3, p), p: -sympy.diff(H3, x)}
    assert all(same(found.equation.terms[2][s], rate) for s, rate in rates.items())


def test_first_term_of_symplectic_euler():
    """H_2 = -H_p H_q / 2 for the left-point rule (p first), + for the right-point rule: T9, order 1."""
    for method, sign in ((da.LeftPoint(), -1), (da.RightPoint(), 1)):
        found = modified_hamiltonian(PENDULUM, method, 1)
        assert same(found.terms[1], sign * p * U1 / 2)
        assert found.first == 1


def test_midpoint_formula_for_any_system():
    """H_3 = -(1/24) H''(J^-1 grad H, J^-1 grad H), non-separable with two degrees of freedom; time held fixed."""
    still = da.System("still", [x, y], lagrangian=COUPLED.lagrangian.subs(da.time, 0))
    found = modified_hamiltonian(still, da.Midpoint(), 2)
    H, variables = found.terms[0], [x, y, x.momentum, y.momentum]
    slopes = [sympy.diff(H, s) for s in variables]
    flow = sympy.Matrix([*slopes[2:], *(-s for s in slopes[:2])])
    assert same(found.terms[2], -(flow.T * sympy.hessian(H, variables) * flow)[0] / 24)


def test_stormer_verlet_formula_for_two_particles():
    """H_3 = p.M^-1 U'' M^-1 p/12 - U'.M^-1 U'/24 for H = p.M^-1 p/2 + U: the Kepler problem with its parameters."""
    kepler = da.gallery.load("kepler").system
    found = modified_hamiltonian(kepler, da.StormerVerlet(), 2)
    q = list(kepler.coordinates)
    mass = next(s for s in kepler.parameters if s.name == "m")
    U = -kepler.lagrangian.subs({c.dot: 0 for c in q})
    momenta, slope = sympy.Matrix([c.momentum for c in q]), sympy.Matrix([U.diff(c) for c in q])
    H3 = (momenta.T * sympy.hessian(U, q) * momenta)[0] / (12 * mass**2) - slope.dot(slope) / (24 * mass)
    assert same(found.terms[2], H3)


def test_the_same_method_in_other_words_has_the_same_terms():
    for one, two in (
        (da.Midpoint(), da.Gauss(1)),
        (da.Gauss(2), da.Galerkin(2)),
        (da.StormerVerlet(), da.Lobatto(2)),
    ):
        H, K = (modified_hamiltonian(PENDULUM, m, 4) for m in (one, two))
        assert all(same(u, v) for u, v in zip(H.terms, K.terms, strict=True))


def test_a_finite_difference_map_is_analysed_as_the_method_of_its_discrete_lagrangian():
    for map, method in (
        (da.left_map, da.LeftPoint()),
        (da.midpoint_map, da.Midpoint()),
        (da.right_map, da.RightPoint()),
    ):
        a, b = (modified_hamiltonian(PENDULUM, m, 2).expression for m in (map, method))
        assert sympy.simplify(a - b) == 0
    assert modified_equation(PENDULUM, da.FiniteDifferenceMap(sympy.Rational(1, 3)), 1).first == 1  # control: order 1


@pytest.mark.parametrize(
    "method",
    [
        da.Lobatto(3),
        da.Composition(da.Midpoint(), 4),
        da.Composition(da.StormerVerlet(), 4),
        da.Composition(da.Midpoint(), 6),
    ],
    ids=repr,
)
def test_under_a_constant_force_nothing_is_modified(method):
    """What rounding leaves of decimal coefficients is no term, also where it is a number alone."""
    ball = da.System("ball", [x], kinetic=x.dot**2 / 2, potential=10 * x)
    assert modified_equation(ball, method, 2).first is None
    assert modified_hamiltonian(ball, method, 2).first is None


def test_gauss_coefficients_come_back_as_fractions():
    """Gauss(2) is of order 4, and its H_5 has rational coefficients although the tableau is in decimals."""
    found = modified_hamiltonian(PENDULUM, da.Gauss(2), 4)
    assert found.first == 4
    assert not found.terms[4].atoms(sympy.Float)
    stated = p**4 * U2 / 4320 - p**2 * U1**2 / 720 - p**2 * U2**2 / 1440 - U1**2 * U2 / 1440
    assert same(found.terms[4], stated)


# T9: the power of the first term is the order

METHODS = [
    da.LeftPoint(), da.RightPoint(), da.Midpoint(), da.Trapezoidal(), da.StormerVerlet(), da.Gauss(2), da.Gauss(3),
    da.Lobatto(3), da.Galerkin(2, "lobatto"), da.Composition(da.Midpoint(), 4), da.Composition(da.StormerVerlet(), 6),
    da.RungeKutta4(), da.DiscreteGradient(),
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_the_first_power_is_the_claimed_order(method):
    assert modified_equation(PENDULUM, method, method.order).first == method.order
    if method.order > 1:
        assert modified_equation(PENDULUM, method, method.order - 1).first is None


@pytest.mark.parametrize("method", [da.LeftPoint(), da.Midpoint(), da.Trapezoidal()], ids=repr)
def test_order_on_a_coupled_time_dependent_system(method):
    found = modified_hamiltonian(COUPLED, method, method.order)
    assert found.first == method.order


# the modified equation is what the method solves


def defect(system, method, h, order, parameters):
    """|step - flow of the truncated modified equation over h|."""
    equation = modified_equation(system, method, order)
    values = {s: parameters[s.name] for s in system.parameters} | {da.step: h}
    names = list(equation.rates)
    rate = sympy.lambdify([da.time, names], [e.subs(values) for e in equation.rates.values()])
    state = np.array([0.4, -0.3, 0.5, 0.7][: len(names)])
    flow = solve_ivp(rate, (0.2, 0.2 + h), state, rtol=1e-13, atol=1e-14, method="DOP853").y[:, -1]
    after, _ = tangent(method.step_map(system), state, [parameters[s.name] for s in system.parameters], h, 0.2)
    return np.abs(after - flow).max()


@pytest.mark.parametrize(
    ("system", "method", "order"),
    [
        (PENDULUM, da.StormerVerlet(), 4), (PENDULUM, da.RungeKutta4(), 4), (PENDULUM, da.Gauss(2), 4),
        (PENDULUM, da.Composition(da.Midpoint(), 4), 4), (COUPLED, da.Midpoint(), 1), (COUPLED, da.Midpoint(), 2),
        (COUPLED, da.LeftPoint(), 2), (COUPLED, da.RungeKutta4(), 0),
    ],
    ids=lambda v: v.name if isinstance(v, da.System) else repr(v),
)  # fmt: skip
def test_the_step_is_the_flow_up_to_the_next_power(system, method, order):
    """Truncated after h^N, the flow over one step differs from the step by O(h^(N+2)) or less."""
    steps = (0.4, 0.2) if order >= 4 else (0.2, 0.1)
    one, two = (defect(system, method, h, order, {"a": 0.3}) for h in steps)
    assert np.log2(one / two) > order + 2 - 0.35


def test_control_a_missing_term_shows():
    """Stormer-Verlet: without f_3 the flow is off by h^3, with it by h^5, because f_2 and f_4 vanish and f_5 does not."""
    for order, slope in ((0, 3), (1, 3), (2, 5), (3, 5)):
        one, two = (defect(PENDULUM, da.StormerVerlet(), h, order, {}) for h in (0.2, 0.1))
        assert np.log2(one / two) == pytest.approx(slope, abs=0.2)


# T10: symplectic methods, and controls


def test_a_method_that_is_not_symplectic_fails_the_symmetry_of_j_f():
    assert asymmetry(modified_equation(PENDULUM, da.Midpoint(), 6)) is None
    assert asymmetry(modified_equation(PENDULUM, da.RungeKutta4(), 5)) == 6  # f_5 happens to be Hamiltonian, f_6 is not
    assert asymmetry(modified_equation(PENDULUM, da.DiscreteGradient(), 2)) == 3
    with pytest.raises(MethodError, match=r"J f_3' is not symmetric"):
        modified_hamiltonian(PENDULUM, da.DiscreteGradient(), 2)
    with pytest.raises(MethodError, match="it carries velocities"):
        modified_hamiltonian(PENDULUM, da.RungeKutta4(), 4)


def test_what_cannot_be_done_is_said():
    with pytest.raises(
        ModelError, match=r"modified_equation: got <DiscreteSystem .* Expected a System and a method or a map"
    ):
        modified_equation(da.discretise(PENDULUM, da.left_map), da.left_map, 1)
    disk = da.gallery.load("rolling-disk").system
    damped = da.gallery.load("damped-spring").system
    with pytest.raises(ModelError, match="has constraints"):
        modified_equation(disk, da.Midpoint(), 2)
    with pytest.raises(ModelError, match="forces without a potential"):
        modified_hamiltonian(damped, da.Midpoint(), 2)
    with pytest.raises(ModelError, match="order = -1"):
        modified_equation(PENDULUM, da.Midpoint(), -1)
    with pytest.raises(MethodError, match="is no method"):
        modified_equation(PENDULUM, da.Midpoint, 2)
    kinked = da.System("kinked", [x], kinetic=x.dot**2 / 2, potential=da.Abs(x))
    with pytest.raises(ModelError, match="it is not smooth"):
        modified_equation(kinked, da.Midpoint(), 2)
    quartic = da.System("quartic", [x], lagrangian=x.dot**2 / 2 + x.dot**4 / 4)
    with pytest.raises(ModelError, match="quadratic in the velocities"):
        modified_equation(quartic, da.Midpoint(), 2)


def test_a_damped_system_has_a_modified_equation():
    """Midpoint on the damped spring is linear: the modified flow is exp of the logarithm of its step matrix."""
    damped = da.gallery.load("damped-spring").system
    values = dict(zip(damped.parameters, (2.0, 0.3, 2.0), strict=True))  # eta, lam, m
    _, T = tangent(da.Midpoint().step_map(damped), [0.3, 0.1], list(values.values()), 0.1)
    from scipy.linalg import logm

    wanted = logm(T) / 0.1
    equation = modified_equation(damped, da.Midpoint(), 4)
    names = list(equation.rates)
    found = sympy.Matrix(list(equation.rates.values())).jacobian(names).subs({**values, da.step: 0.1})
    assert np.abs(np.array(found, dtype=float) - wanted).max() < 1e-8  # the term of h^6 is left
    plain = sympy.Matrix([equation.terms[0][s] for s in names]).jacobian(names).subs(values)
    assert np.abs(np.array(plain, dtype=float) - wanted).max() > 1e-4


# T11: the modified energy along runs


@cache
def deviations(method, order):
    start = {x: 1.2, x.dot: 0.4}
    reports = [
        energy_report(da.simulate(PENDULUM, method, h=h, until=40, start=start, progress=False), order)
        for h in (0.2, 0.1)
    ]
    return {row.power: (row.deviation, reports[1][row.power].deviation) for row in reports[0].rows}


@pytest.mark.parametrize(
    ("method", "powers"),
    [
        (da.StormerVerlet(), {0: 2, 2: 4, 4: 6}), (da.Midpoint(), {0: 2, 2: 4, 4: 6}), (da.Gauss(2), {0: 4, 4: 6}),
        (da.LeftPoint(), {0: 1, 1: 2, 2: 3}),
    ],
    ids=repr,
)  # fmt: skip
def test_each_term_gains_powers_of_h(method, powers):
    """The slope of the deviation of H~ truncated after h^j: the energy h^p, then h^(p+2), h^(p+4) for symmetric methods."""
    found = deviations(method, max(powers))
    for power, slope in powers.items():
        coarse, fine = found[power]
        assert np.log2(coarse / fine) == pytest.approx(slope, abs=0.35)


def test_control_a_wrong_term_gains_nothing():
    """H + h^2 H_3 with the H_3 of another method deviates as the energy does."""
    run = da.simulate(PENDULUM, da.Midpoint(), h=0.1, until=40, start={x: 1.2, x.dot: 0.4})
    q, v = run.x, run["x.momentum"]
    H = v**2 / 2 - np.cos(q)

    def spread(terms):
        total = H + 0.01 * terms
        return np.ptp(total)

    right, wrong = -(v**2 * np.cos(q) + np.sin(q) ** 2) / 24, v**2 * np.cos(q) / 12 - np.sin(q) ** 2 / 24
    assert spread(right) < np.ptp(H) / 50
    assert spread(wrong) > np.ptp(H) / 5


def test_reports_show_themselves():
    run = da.simulate(PENDULUM, da.Midpoint(), h=0.1, until=4, start={x: [1.2, 0.3], x.dot: 0.4})
    report = energy_report(run, 2)
    assert "h^2 H_3" in str(report)
    assert "|---|" in report._repr_markdown_()
    assert report[2].deviation < report[0].deviation
    with pytest.raises(KeyError, match="this report has the powers 0, 2"):
        report[1]
    H = modified_hamiltonian(PENDULUM, da.Midpoint(), 2)
    assert "h^2 (" in str(H)
    assert r"\tilde H" in H._repr_latex_()
    assert "dx/dt" in str(H.equation)
    assert r"\dot{x}" in H.equation._repr_latex_()
    assert "terms" in str(modified_hamiltonian(COUPLED, da.Midpoint(), 2))
    with pytest.raises(ModelError, match="has no Hamiltonian"):
        energy_report(
            da.simulate(da.discretise(PENDULUM, da.midpoint_map), h=0.1, steps=2, start={x: 1, x.momentum: 0})
        )


@pytest.mark.parametrize("unit", [1, 10_000])
def test_a_wall_is_refused_for_the_same_reason_in_all_units(unit):
    """Its place is no letter: pieces fit together with their numbers only."""
    X = unit * x
    wall = sympy.Piecewise((0, X < 3), (3 * (X - 3) ** 2 / 10, True))
    with pytest.raises(da.DalembertError, match="not smooth"):
        da.modified_equation(da.System("wall", [x], kinetic=x.dot**2 / 2, potential=wall), da.Midpoint(), 2)
