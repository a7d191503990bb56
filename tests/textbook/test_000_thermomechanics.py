"""M. J. Bonich, Sistemas termomecanicos lagrangianos continuos y discretos: chapters 3 and 4 and appendix C.

The examples with an entropy, but for the cart, which has a file of its own. E7, E13, ... are places where the source
misprints a formula; each is typed in here as printed, and is found wrong.
"""

from __future__ import annotations

import numpy as np
import pytest
from sympy import Symbol, atan, exp, latex, log, pretty

import dalembert as da
from dalembert.engine.tangent import tangent
from dalembert.model import substances as thermo

# -------------------- 4.5, the closed form of the damped spring --------------------


def closed_spring(sign, h=0.1, m=2.0, eta=2.0, lam=0.3):
    """(2.6) for x0 = x1 = 0.3 on [0, 20]; `sign` stands before lambda in cos(theta)."""
    k, B = np.arange(201), 1 + h * lam / m
    theta = np.arccos((1 - h / (2 * m) * (h * eta + sign * lam)) / np.sqrt(B))
    return 0.3 * B ** ((1 - k) / 2) * np.sin(k * theta) / np.sin(theta) - 0.3 * B ** (-k / 2) * np.sin(
        (k - 1) * theta
    ) / np.sin(theta)


def test_E13_the_printed_sign_is_not_a_solution_of_the_recurrence():
    system = da.gallery.load("damped-spring").system
    values = {"m": 2.0, "eta": 2.0, "lam": 0.3}
    two = {"x.at(0)": 0.3, "x.at(1)": 0.3}
    run = da.simulate(system, da.LeftPoint(), h=0.1, steps=200, parameters=values, start=two)
    assert np.abs(run.x - closed_spring(-1)).max() < 1e-13
    assert np.abs(run.x - closed_spring(+1)).max() > 0.4


def test_damped_spring_contracts_area_by_the_printed_factor():
    stepmap = da.LeftPoint().step_map(da.gallery.load("damped-spring").system)
    values = {"m": 2.0, "eta": 2.0, "lam": 0.3}
    _, slope = tangent(stepmap, [0.3, 0.1], [values[p] for p in stepmap.parameters], 0.1)
    assert np.linalg.det(slope) == pytest.approx(1 / (1 + 0.1 * 0.3 / 2), rel=1e-14)


# -------------------- 4.8, the spring in a gas --------------------

GAS = {"m": 2.0, "eta": 2.0, "lam": 0.3, "U0": 0.4, "alpha": 1.5, "S0": 0.2}
SWING = {"x": 0.3, "x.dot": 0.0, "S": 0.1}
"""From rest, so that the start of the source is x1 = x0."""


def in_gas(h):
    system, two = da.gallery.load("spring-in-gas").system, {"x.at(0)": 0.3, "x.at(1)": 0.3, "S": SWING["S"]}
    return da.simulate(system, da.LeftPoint(), h=h, until=20.0, parameters=GAS, start=two)


def test_example_3_11_equations_by_value():
    system = da.gallery.load("spring-in-gas").system
    (x,), (S,) = system.coordinates, system.entropies
    now = da.evaluate(system, at={"x": 0.2, "x.dot": -0.7, "S": 0.5}, parameters=GAS)
    T = 1.5 * 0.4 * np.exp(1.5 * 0.3)
    assert now.accelerations[x] == pytest.approx((0.3 * 0.7 - 2.0 * 0.2) / 2.0, rel=1e-13)
    assert now.temperatures[S] == pytest.approx(T, rel=1e-13)  # E14: dL/dS = -alpha U0 exp(alpha (S - S0))
    assert now.entropy_rates[S] == pytest.approx(0.3 * 0.7**2 / T, rel=1e-13)


def test_example_3_11_entropy_by_quadrature_and_in_the_limit():
    """S = S0 + log(lam/U0 int v^2 + w(0))/alpha, w(0) = exp(alpha (S(0) - S0)) (E15); all energy is in the gas at last."""
    solve = da.gallery.load("spring-in-gas").exact
    t = np.linspace(0, 20, 8001)
    solution = solve(t, GAS, SWING)
    v = np.gradient(solution["x"], t, edge_order=2)
    work = np.concatenate([[0], np.cumsum((v[1:] ** 2 + v[:-1] ** 2) / 2 * np.diff(t))])
    w0 = np.exp(GAS["alpha"] * (SWING["S"] - GAS["S0"]))
    stated = GAS["S0"] + np.log(GAS["lam"] / GAS["U0"] * work + w0) / GAS["alpha"]
    assert np.abs(solution["S"] - stated).max() < 1e-6
    energy = GAS["eta"] * 0.3**2 / 2 + GAS["U0"] * w0
    limit = GAS["S0"] + np.log(energy / GAS["U0"]) / GAS["alpha"]
    assert solve(1e3, GAS, SWING)["S"] == pytest.approx(limit, rel=1e-13)


def test_example_3_21_recurrence_and_E16():
    """S_k+1 from the pair (k, k+1). From the pair before, as printed, the constraint does not hold, and with the start of
    the source the error is about three times as large."""
    run = in_gas(0.05)
    gain = GAS["lam"] / (0.05 * GAS["alpha"] * GAS["U0"])
    rate = np.exp(-GAS["alpha"] * (run.S[:-1] - GAS["S0"])) * gain
    assert np.abs(np.diff(run.S) - rate * np.diff(run.x) ** 2).max() < 1e-15
    printed = [run.S[0], run.S[1]]
    for before in np.diff(run.x)[:-1]:
        printed.append(printed[-1] + gain * np.exp(-GAS["alpha"] * (printed[-1] - GAS["S0"])) * before**2)
    solution = da.gallery.load("spring-in-gas").exact(run.time, GAS, SWING)["S"]
    right, wrong = np.abs(run.S - solution).max(), np.abs(printed - solution).max()
    assert wrong / right == pytest.approx(3, abs=0.5)
    assert right < 2e-3
    lagging = np.exp(-GAS["alpha"] * (np.array(printed[:-1]) - GAS["S0"])) * gain * np.diff(run.x) ** 2
    assert np.abs(np.diff(printed) - lagging).max() > 1e-4


def test_example_3_21_typed_in():
    """L_d, F_d and rho_d of the example in slots, against the system and the left-point map."""
    x, S = da.coordinates("x"), da.entropies("S")
    m, eta, lam, U0, alpha, S0 = da.parameters("m eta lam U0 alpha S0")
    h, (a, b) = da.step, (x.at(0), x.at(1))
    U = U0 * exp(alpha * (S.at(0) - S0))
    given = da.DiscreteSystem(
        "spring in gas, typed in",
        [x],
        lagrangian=h * (m * ((b - a) / h) ** 2 / 2 - eta * a**2 / 2 - U),
        force_minus={x: -lam * (b - a)},
        entropies=[S],
        entropy_laws=[alpha * U * (S.at(1) - S.at(0)) - lam / h * (b - a) ** 2],
    )
    made = in_gas(0.1)
    run = da.simulate(given, h=0.1, until=20, parameters=GAS, start={a: made.x[0], b: made.x[1], S: SWING["S"]})
    assert np.abs(run.x - made.x).max() < 1e-13 and np.abs(run.S - made.S).max() < 1e-13


# -------------------- 4.10, the system without trajectories --------------------


def arctangents(alpha):
    """Example 3.29: the integral of arctan from 0 to u is u arctan(u) - log(1 + u^2)/2."""
    q, S = da.coordinates("q"), da.entropies("S")
    u = q.at(0) + q.at(1)
    return da.DiscreteSystem(
        "system without trajectories",
        [q],
        lagrangian=u * atan(u) - log(1 + u**2) / 2 + alpha * q.at(1) + S.at(0),
        force_minus={q: exp(S.at(0))},
        force_plus={q: exp(S.at(1))},
        entropies=[S],
        entropy_laws=[S.at(0) + S.at(1)],
    )


def test_example_3_29_where_there_are_trajectories():
    """q2 = -q1 - tan(c), c = alpha + 2 exp(S1) + arctan(q0 + q1), and S alternates."""
    q0, q1, S0, alpha = 0.3, -0.5, 1.2, -1.0
    run = da.simulate(arctangents(alpha), h=1.0, steps=2, start={"q.at(0)": q0, "q.at(1)": q1, "S": S0})
    c = alpha + 2 * np.exp(-S0) + np.arctan(q0 + q1)
    assert abs(c) < np.pi / 2
    assert run.q[:3] == pytest.approx([q0, q1, -q1 - np.tan(c)], abs=1e-12)
    assert run.S[:3] == pytest.approx([S0, -S0, S0], abs=1e-14)


@pytest.mark.parametrize("alpha", [np.pi, 4.0])
def test_example_3_29_where_there_is_none(alpha):
    """The step after the first pair does not exist, and the run says so."""
    begun = {"q.at(0)": 0.3, "q.at(1)": -0.5, "S": 1.2}
    run = da.simulate(arctangents(alpha), h=1.0, steps=2, start=begun, strict=False)
    assert not run.ok
    assert np.isnan(run.q[2])


@pytest.mark.parametrize(("alpha", "exists"), [(np.pi, False), (4.0, False), (-1.0, True)])
def test_example_3_29_balance_of_momentum_has_one_sign(alpha, exists):
    """arctan(q0 + q1) + arctan(q1 + q2) + alpha + 2 exp(S1) is positive for all positions if alpha >= pi."""
    rng = np.random.default_rng(0)
    (equation,) = arctangents(alpha).equations().lagrange
    nodes = sorted(equation.free_symbols, key=lambda s: s.name)
    places = [
        {s: float(rng.standard_cauchy() * 100) if s.name.startswith("q") else -4.0 for s in nodes} for _ in range(60)
    ]
    signs = {float((equation.lhs - equation.rhs).subs(at)) > 0 for at in places}
    assert (len(signs) == 2) == exists


def test_example_3_29_is_regular_all_the_same():
    """M+ = diag(-1/(1 + u^2), 1) and M- = diag(1/(1 + u^2), 1): never singular."""
    from dalembert.discrete.equations import momentum_minus, momentum_plus

    given = arctangents(4.0)
    (q,), (S,) = given.coordinates, given.entropies
    (minus,), (plus,) = ([given.read(e) for e in side(given)] for side in (momentum_minus, momentum_plus))
    law, at = given.read(given.entropy_laws[0]), {q.at(0): 0.4, q.at(1): 1.3, S.at(0): 0.6, S.at(1): -0.6}
    for p, slot, sign in ((minus, 1, -1), (plus, 0, 1)):
        M = [[float(e.diff(z.at(slot)).subs(at)) for z in (q, S)] for e in (p, law)]
        assert np.allclose(M, [[sign / (1 + 1.7**2), 0], [0, 1]], atol=1e-15)


# -------------------- 4.11, the spring against a gas --------------------


def against_gas(name, **changes):
    example = da.gallery.load(name)
    values = {p.name: v for p, v in example.parameters.items()} | changes
    start = {**example.start, example.system.velocities[0]: 0.2}
    return da.simulate(example.system, da.Midpoint(), h=example.h, until=1.0, parameters=values, start=start)


def test_spring_against_gas_two_formulations():
    """U(S, V(x)) with S, and W(x) without, move alike; friction in the gas is what only the first can have."""
    thermal, reduced = against_gas("spring-against-gas"), against_gas("spring-against-gas-reduced")
    assert np.abs(thermal.x - reduced.x).max() < 1e-12
    assert np.ptp(reduced.x) > 0.05
    assert np.ptp(thermal.S) == 0
    rubbing = against_gas("spring-against-gas", lam=5.0)
    assert np.abs(rubbing.x - reduced.x).max() > 0.01
    assert np.diff(rubbing.S).min() >= 0 and np.ptp(rubbing.S) > 1e-4


def test_spring_against_gas_from_the_equations_of_state():
    """The third way: all variables of state and all relations, solved; the potential that is left is W (4.15)."""
    x = da.coordinates("x")
    m, k, l, A, N, R, T0_, V0_ = da.parameters("m k l A N R T0 V0", positive=True)
    S, V, U, T, P = (Symbol(n, positive=n != "S") for n in ("S", "V", "U", "T", "P"))
    gas = thermo.ideal_gas(3, N=N, T0=T0_, V0=V0_, R=R)
    relations = [V - A * (l - x), *gas.relations(S=S, V=V, U=U, T=T, P=P)]
    states = thermo.EquationsOfState(relations, variables=[S, V, U, T, P], coordinates=[x])
    left = states.reduce(m * x.dot**2 / 2, {x: k * (l - x) - P * A}, rates={S: 0})
    values = {m: 1.0, k: 300.0, l: 1.0, A: 0.01, N: 0.04, R: 8.3, T0_: 290.0, V0_: 0.005, S: 0.0, x: 0.3}
    xi = 0.04 * 8.3 * 290 * 0.005 ** (2 / 3)
    force = 300 * 0.7 - xi * 0.01 ** (-2 / 3) * 0.7 ** (-5 / 3)
    assert isinstance(left, thermo.Reduced)
    assert float(left.forces[x].subs(values)) == pytest.approx(force, rel=1e-13)
    assert float(-left.potential.diff(x).subs(values)) == pytest.approx(force, rel=1e-13)


def test_spring_against_gas_rest_and_frequency():
    """Gap at rest: gap^(8/3) = xi A^(-2/3)/k; small oscillations: omega^2 = 8 k/(3 m)."""
    example = da.gallery.load("spring-against-gas-reduced")
    p = {s.name: v for s, v in example.parameters.items()}
    gap = (p["xi"] * p["A"] ** (-2 / 3) / p["k"]) ** (3 / 8)
    rest = {"x": p["l"] - gap, "x.dot": 0.0}
    (x,) = example.system.coordinates

    def pull(x_):
        return da.evaluate(example.system, at={"x": x_, "x.dot": 0.0}, parameters=p).accelerations[x]

    assert pull(rest["x"]) == pytest.approx(0, abs=1e-11)
    slope = (pull(rest["x"] + 1e-4) - pull(rest["x"] - 1e-4)) / 2e-4
    assert -slope == pytest.approx(8 * p["k"] / (3 * p["m"]), rel=1e-6)


def test_spring_against_gas_is_isentropic():
    """2.14: S found again from U and V by (C.8) along the motion is constant, while T and P are not."""
    run = against_gas("spring-against-gas")
    p = {s.name: v for s, v in da.gallery.load("spring-against-gas").parameters.items()}
    V, T = p["A"] * (p["l"] - run.x), run.temperatures[:, 0]
    U = 1.5 * p["N"] * p["R"] * T
    U0 = 1.5 * p["N"] * p["R"] * p["T0"]
    S = p["N"] * p["R"] * np.log((U / U0) ** 1.5 * V / p["V0"])
    assert np.abs(S).max() < 1e-13
    assert np.ptp(T) > 20


# -------------------- 4.12, the monatomic gas --------------------


def test_monatomic_gas():
    """(C.5)-(C.9) and xi, at one state; E22: with (V/V0)^-1 as printed the pressure is not N R T/V."""
    N, S0, U0, V0_, R, S, V = 1.7, 0.3, 900.0, 0.04, 8.314, 2.1, 0.07
    gas = thermo.ideal_gas(3, N=N, U0=U0, V0=V0_, S0=S0, R=R)
    now = gas.state(S, V)
    U = U0 * np.exp(2 / (3 * R * N) * (S - S0)) * (V / V0_) ** (-2 / 3)
    T, P = 2 * U / (3 * N * R), 2 * U / (3 * V)
    assert [float(e) for e in (now.U, now.T, now.P)] == pytest.approx([U, T, P], rel=1e-12)
    assert float(gas.entropy(V, U=U)) == pytest.approx(S0 + N * R * np.log((U / U0) ** 1.5 * V / V0_), rel=1e-12)
    xi = 2 / 3 * U0 * V0_ ** (2 / 3) * np.exp(2 / (3 * N * R) * (S - S0))
    assert float(now.P) * V ** (5 / 3) == pytest.approx(xi, rel=1e-12)
    s, v = Symbol("s"), Symbol("v", positive=True)
    printed = thermo.FundamentalRelation(
        "gas as printed", U0 * exp(2 * (s - S0) / (3 * R * N)) / (v / V0_), entropy=s, volume=v
    )
    wrong = printed.state(S, V)
    assert float(wrong.P) * V == pytest.approx(float(wrong.U), rel=1e-12)
    assert float(wrong.P) * V != pytest.approx(N * R * float(wrong.T), rel=0.3)


def test_E7_an_adiabatic_gas_that_expands_cools():
    """dU = -P dV: with the printed sign, dU = P dV, it would warm."""
    gas = thermo.ideal_gas(3, N=1, T0=300, V0=1)
    dU = float(gas.energy(0, 1.0001) - gas.energy(0, 1))
    assert dU == pytest.approx(-1e-4 * float(gas.pressure(0, 1)), rel=1e-3)
    assert dU != pytest.approx(1e-4 * float(gas.pressure(0, 1)), rel=0.5)


# -------------------- displacements --------------------


def test_the_constraint_on_variations_is_written_with_displacements():
    """For the cart it is not the kinematic one: friction is a force there, no power."""
    cart = da.gallery.load("cart-with-friction").system
    (x,), (S,) = cart.coordinates, cart.entropies
    (on_variations,), (kinematic,) = cart.equations().variations, cart.equations().entropy
    assert {x.displacement, S.displacement, x.dot} <= on_variations.free_symbols
    assert S.dot not in on_variations.free_symbols and x.displacement not in kinematic.free_symbols
    motion = {x.displacement: x.dot, S.displacement: S.dot}
    assert on_variations.xreplace(motion) == kinematic
    assert (str(x.displacement), latex(x.displacement), latex(S.displacement)) == ("delta x", r"\delta x", r"\delta S")
    assert pretty(x.displacement, use_unicode=True) == "δx" and x.displacement.coordinate == x
    assert r"\delta S" in latex(on_variations)
