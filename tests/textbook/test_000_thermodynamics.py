"""Sistemas termomecanicos, appendix C and chapter 4, section 2: fundamental relations and equations of state.

Every check has a control: a relation broken on purpose, or as printed with its misprint, for which it says no.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from sympy import Eq, Rational, exp, log

import dalembert as da
from dalembert.decide.budget import Budget
from dalembert.decide.zero import vanishes
from dalembert.model import substances as thermo
from dalembert.symbolic import fast, number

S = sympy.Symbol("S", real=True)
V, U, T, P = sympy.symbols("V U T P", positive=True)
N, R, U0, V0, T0 = da.parameters("N R U0 V0 T0", positive=True)
S0 = da.parameters("S0")
m, k, A, x0, xi, mu, f, a, b, nu = da.parameters("m k A x0 xi mu f a b nu", positive=True)
x, y = da.coordinates("x y")

gas = thermo.ideal_gas(3, N=N, U0=U0, V0=V0, S0=S0, R=R)
KINETIC = m * x.dot**2 / 2
FORCE = {x: k * (x0 - x) - P * A}
PISTON = Eq(V, A * (x0 - x))


def equal(one, other):
    return vanishes(one - other)


# --- appendix C: the monatomic ideal gas ---------------------------------------------------------------------------


def test_c9_and_c10_are_the_energy_of_the_monatomic_gas():
    assert equal(gas.energy(S, V), U0 * exp(2 * (S - S0) / (3 * R * N)) * (V / V0) ** Rational(-2, 3))
    assert equal(gas.energy(S, V0), U0 * exp(2 * (S - S0) / (3 * R * N)))
    printed = U0 * exp(2 * (S - S0) / (3 * R * N)) * (V / V0) ** -1  # E22
    assert not equal(gas.energy(S, V), printed)


def test_c5_c6_and_c7_follow_and_the_printed_exponent_fails():
    at = gas.state(S, V)
    gamma = Rational(5, 3)
    assert equal(at.P * at.V, N * R * at.T)
    assert equal(at.U, 3 * N * R * at.T / 2)
    assert equal(at.P * V**gamma, 2 * U0 * V0 ** (gamma - 1) * exp(2 * (S - S0) / (3 * N * R)) / 3)
    printed = thermo.FundamentalRelation("E22", gas.energy(S, V) * (V / V0) ** Rational(-1, 3), entropy=S, volume=V)
    at = printed.state(S, V)
    assert not equal(at.P * at.V, N * R * at.T)
    assert equal(at.P, at.U / V)  # as the digest says
    assert equal(at.U, 3 * N * R * at.T / 2)  # the misprint leaves (C.6) alone


def test_c8_inverted_is_c9():
    entropy = S0 + N * R * log((U / U0) ** Rational(3, 2) * V / V0)
    inverted = thermo.FundamentalRelation.from_entropy("gas", entropy, energy=U, volume=V)
    assert equal(inverted.energy(S, V), gas.energy(S, V))
    assert equal(gas.entropy(V, U=U), entropy)
    wrong = thermo.FundamentalRelation.from_entropy("gas", entropy + N * R * log(V / V0), energy=U, volume=V)
    assert not equal(wrong.energy(S, V), gas.energy(S, V))


def test_first_law_and_the_sign_of_e7():
    at = gas.state(S, V)
    assert thermo.first_law(at.U, at.T, at.P, S, V)
    no = thermo.first_law(at.U, at.T, -at.P, S, V)  # dU = P dV, as printed
    assert not no
    assert "is not the pressure" in no.reason
    assert not thermo.first_law(at.U, at.T * 2, at.P, S, V)


def test_maxwell_and_the_energy_from_temperature_and_pressure():
    at = gas.state(S, V)
    assert thermo.maxwell(at.T, at.P, S, V)
    assert not thermo.maxwell(at.T, 2 * at.P, S, V)
    made = thermo.FundamentalRelation.from_temperature_and_pressure("gas", at.T, at.P, entropy=S, volume=V)
    assert equal(made.energy(S, V), at.U)
    with pytest.raises(da.ModelError, match="there is no energy"):
        thermo.FundamentalRelation.from_temperature_and_pressure("no gas", at.T, 2 * at.P, entropy=S, volume=V)


def test_the_gas_constant_is_documented_and_can_be_given():
    assert thermo.GAS_CONSTANT == 8.314462618
    air = thermo.ideal_gas(5, N=2, T0=300, V0=0.05)
    at = air.state(T=300, V=0.05)
    assert float(at.P) == pytest.approx(2 * 8.314462618 * 300 / 0.05, rel=1e-14)
    assert float(at.U) == pytest.approx(5 * 8.314462618 * 300, rel=1e-14)
    assert float(thermo.ideal_gas(5, N=2, T0=300, R=8.314).state(T=300, V=1).U) == pytest.approx(5 * 8.314 * 300)


# --- any fundamental relation --------------------------------------------------------------------------------------

BODIES = {
    "ideal": thermo.ideal_gas(f, N=N, T0=T0, V0=V0, S0=S0, R=R),
    "van der Waals": thermo.van_der_waals(a, b, f, N=N, T0=T0, V0=V0, S0=S0, R=R),
    "photons": thermo.photon_gas(a),
    "incompressible": thermo.incompressible(nu, N=N, T0=T0, S0=S0),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_are_extensive_and_obey_gibbs_and_duhem(name):
    assert BODIES[name].extensive()
    assert BODIES[name].gibbs_duhem()


def test_a_fixed_amount_is_not_extensive():
    fixed = thermo.FundamentalRelation("fixed", gas.energy(S, V), entropy=S, volume=V)
    assert not fixed.extensive()
    assert not fixed.gibbs_duhem()


@pytest.mark.parametrize("degrees", [3, 5, 6, f])
def test_heat_capacities_and_compressibilities_of_the_ideal_gas(degrees):
    body = thermo.ideal_gas(degrees, N=N, T0=T0, V0=V0, S0=S0, R=R)
    at = body.state(S, V)
    CV, CP = body.isochoric_heat_capacity(S, V), body.isobaric_heat_capacity(S, V)
    assert equal(CV, degrees * N * R / 2)
    assert equal(CP - CV, N * R)  # Mayer
    assert equal(CP / CV, 1 + sympy.sympify(2) / degrees)
    assert equal(body.isentropic_exponent(S, V), 1 + sympy.sympify(2) / degrees)
    assert equal(body.thermal_expansion(S, V), 1 / at.T)
    assert equal(body.isothermal_compressibility(S, V), 1 / at.P)
    assert not equal(body.isentropic_compressibility(S, V), 1 / at.P)


ROOM = {"a": 0.4, "b": 0.2, "f": 3.0, "N": 1.0, "R": 1.0, "T0": 1.0, "V0": 1.0, "S0": 0.0}


@pytest.mark.parametrize("name", ["ideal", "van der Waals"])
def test_reech_and_the_difference_of_heat_capacities(name):
    """kappa_T/kappa_S = C_P/C_V, and C_P - C_V = T V alpha^2/kappa_T; at sample states."""
    body = BODIES[name]
    at = body.state(S, V)
    CV, CP = body.isochoric_heat_capacity(S, V), body.isobaric_heat_capacity(S, V)
    kT, kS, alpha = (
        g(S, V) for g in (body.isothermal_compressibility, body.isentropic_compressibility, body.thermal_expansion)
    )
    for values in ({"S": 0.3, "V": 1.5}, {"S": 1.2, "V": 0.7}):
        here = ROOM | values
        mayer = number(at.T * V * alpha**2 / kT, here)
        assert number(CP - CV, here) == pytest.approx(mayer, rel=1e-12)
        assert number(kT / kS, here) == pytest.approx(number(CP / CV, here), rel=1e-12)
        assert number(CP, here) != pytest.approx(mayer, rel=1e-3)


def test_entropy_temperature_energy_and_pressure_go_round():
    for body in (BODIES["ideal"], BODIES["van der Waals"], BODIES["photons"]):
        inside = {"S": 0.7, "V": 1.9, **ROOM}
        at = body.state(S, V)
        for kind in "UTP":
            back = body.entropy(V, **{kind: getattr(at, kind)})
            assert number(back, inside) == pytest.approx(0.7, rel=1e-12), (body.name, kind)
        assert number(body.entropy(V, T=2 * at.T), inside) != pytest.approx(0.7, rel=1e-2)


def test_the_branch_is_the_one_that_returns():
    """U = S^2/2 has T = S; from U there are two entropies, and the domain S > 0 picks one."""
    spring = thermo.FundamentalRelation("square", S**2 / 2 * V, entropy=S, volume=V, domain=[S])
    assert equal(spring.entropy(V, U=U), sympy.sqrt(2 * U / V))
    other = thermo.FundamentalRelation("square", S**2 / 2 * V, entropy=S, volume=V, domain=[-S])
    assert vanishes(other.entropy(V, U=U) + sympy.sqrt(2 * U / V))


def test_numbers_where_there_is_no_closed_form():
    """A body whose heat capacity grows with entropy: T = exp(S) + S has no elementary inverse."""
    body = thermo.FundamentalRelation("odd", exp(S) + S**2 / 2, entropy=S)
    for entropy in (-0.5, 0.1, 2.0, 30.0):
        at = body.state(entropy)
        assert float(body.entropy(T=at.T)) == pytest.approx(entropy, rel=1e-13)
        assert float(body.state(T=at.T).U) == pytest.approx(float(at.U), rel=1e-13)
    square = exp(S) + S**4
    positive = thermo.FundamentalRelation("positive", square, entropy=S, domain=[S])
    assert float(positive.entropy(U=positive.energy(0.7))) == pytest.approx(0.7, rel=1e-13)
    with pytest.raises(da.ModelError, match="may have several solutions"):  # without the domain there are two
        thermo.FundamentalRelation("both", square, entropy=S).entropy(U=positive.energy(0.7))
    with pytest.raises(da.ModelError, match="has no solution between"):
        body.entropy(U=-1)


def test_4_9_constant_heat_capacity():
    """(4.1): U = nu T, S = S0 + nu log(T/T0); with the numbers of the cart."""
    body = thermo.constant_heat_capacity(nu, T0, S0)
    assert equal(body.energy(S), nu * T0 * exp((S - S0) / nu))
    assert equal(body.entropy(T=T), S0 + nu * log(T / T0))
    assert equal(body.energy(body.entropy(T=T)), nu * T)
    cart = thermo.constant_heat_capacity(1, 300)
    assert float(cart.entropy(T=310)) == pytest.approx(0.0327898228, abs=5e-11)
    # the same body seen from its final state (note 4.1)
    assert equal(thermo.constant_heat_capacity(1, 310, log(Rational(31, 30))).energy(S), cart.energy(S))
    assert not equal(thermo.constant_heat_capacity(1, 310, 0).energy(S), cart.energy(S))


def test_photon_gas():
    light = thermo.photon_gas()
    at = light.state(T=5772, V=2)
    assert float(at.U) == pytest.approx(7.565733250e-16 * 5772**4 * 2, rel=1e-12)
    assert float(at.U) == pytest.approx(3 * float(at.P * at.V), rel=1e-12)
    assert float(at.T * at.S - at.P * at.V) == pytest.approx(float(at.U), rel=1e-12)  # G = 0


def test_stability():
    assert gas.stability()
    assert "for all states, by its form" in gas.stability().reason
    fluid = thermo.van_der_waals(3, Rational(1, 3), 3, T0=1, R=Rational(8, 3), V0=1)  # critical point (1, 1, 1)
    assert fluid.stability(fluid.entropy(1, T=1.1), 1)
    inside = fluid.stability(fluid.entropy(1, T=0.9), 1)
    assert not inside
    assert "at constant T" in inside.reason
    assert not fluid.stability()
    falling = thermo.FundamentalRelation("falling", -exp(-S), entropy=S)
    assert not falling.stability()
    assert "dT/dS" in falling.stability().reason
    assert not thermo.photon_gas(a).stability()  # marginal: pressure depends on temperature alone


def test_van_der_waals():
    fluid = BODIES["van der Waals"]
    at = fluid.state(S, V)
    for quantity in ((at.P + a * N**2 / V**2) * (V - N * b) - N * R * at.T, at.U - f * N * R * at.T / 2 + a * N**2 / V):
        assert number(quantity, ROOM | {"S": 0.4, "V": 1.3}) == pytest.approx(0, abs=1e-13)
    assert number(at.P * V - N * R * at.T, ROOM | {"S": 0.4, "V": 1.3}) != pytest.approx(0, abs=1e-3)
    critical = fluid.critical_point()
    assert equal(critical.V, 3 * N * b)
    assert equal(critical.T, 8 * a / (27 * R * b))
    assert number(critical.P, ROOM) == pytest.approx(0.4 / (27 * 0.2**2), rel=1e-12)
    with pytest.raises(da.ModelError, match="no critical point"):
        gas.critical_point()


def test_helmholtz_is_the_potential_of_an_isothermal_gas():
    F = gas.helmholtz(T, V)
    assert equal(-F.diff(V), N * R * T / V)
    assert equal(-F.diff(T), gas.entropy(V, T=T))
    assert not equal(-gas.energy(gas.entropy(V, T=T), V).diff(V), N * R * T / V)


def volume(body, entropy, temperature):
    """On an isotherm, from the closed form of S(T, V), which increases with V."""
    at = sympy.lambdify(V, body.entropy(V, T=temperature) - entropy)
    return brentq(at, 0.11, 1e4, xtol=1e-14)


def test_carnot():
    """Work and heat by quadrature of P dV along two isotherms and two adiabats: efficiency 1 - Tc/Th for any gas."""
    hot, cold = 2.0, 1.2
    for body in (thermo.ideal_gas(5, T0=1, R=1), thermo.van_der_waals(0.3, 0.1, 3, T0=1, R=1)):
        s1, s2 = (float(body.entropy(v, T=hot)) for v in (1.0, 2.5))

        v1, v2, v3, v4 = 1.0, 2.5, volume(body, s2, cold), volume(body, s1, cold)

        def work(entropy, start, end, body=body):
            at = sympy.lambdify(V, body.pressure(entropy, V))
            return quad(at, start, end, epsabs=1e-13, epsrel=1e-12)[0]

        isotherms = (body.entropy(V, T=hot), v1, v2), (body.entropy(V, T=cold), v3, v4)
        total = sum(work(*leg) for leg in (isotherms[0], (s2, v2, v3), isotherms[1], (s1, v4, v1)))
        assert total / (hot * (s2 - s1)) == pytest.approx(1 - cold / hot, rel=1e-9)
        # a path that closes by an isochore is no Carnot cycle
        other = sum(work(*leg) for leg in (isotherms[0], (s2, v2, v3), (body.entropy(V, T=cold), v3, v1)))
        assert other / (hot * (s2 - s1)) != pytest.approx(1 - cold / hot, rel=1e-3)


# --- chapter 4, section 2: equations of state ------------------------------------------------------------------------


def adiabatic():
    """The source's list: (4.10), (4.12) and the temperature and energy."""
    relations = [Eq(P * V ** Rational(5, 3), xi), PISTON, Eq(T * N * R, xi * V ** Rational(-2, 3))]
    relations.append(Eq(U, Rational(3, 2) * xi * V ** Rational(-2, 3)))
    return thermo.EquationsOfState(relations, variables=[V, U, T, P], coordinates=[x])


def fundamental():
    """The same by the fundamental relation, with entropy in it."""
    relations = [*gas.relations(S=S, V=V, U=U, T=T, P=P), PISTON]
    return thermo.EquationsOfState(relations, variables=[S, V, U, T, P], coordinates=[x])


def test_4_11_the_reduced_lagrangian_is_4_15():
    reduced = adiabatic().reduce(KINETIC, FORCE)
    W = k * (x0 - x) ** 2 / 2 + Rational(3, 2) * xi * A ** Rational(-2, 3) * (x0 - x) ** Rational(-2, 3)
    assert equal(reduced.lagrangian, KINETIC - W)
    assert equal(reduced.potential - k * (x0 - x) ** 2 / 2, reduced.recovered[U])  # the second term is U(V(x))
    assert not equal(reduced.potential, reduced.recovered[U])
    assert equal(-reduced.potential.diff(x), k * (x0 - x) - xi * A ** Rational(-2, 3) * (x0 - x) ** Rational(-5, 3))
    assert reduced.is_conservative
    assert reduced.recover({x: 1, x0: 3, A: 2, xi: 4, N: 1, R: 1})[V] == 4


def test_4_11_gap_at_rest_and_frequency():
    reduced = adiabatic().reduce(KINETIC, FORCE)
    values = {"k": 2.0, "m": 1.1, "A": 0.7, "x0": 3.0, "xi": 1.9}
    gap = (values["xi"] * values["A"] ** (-2 / 3) / values["k"]) ** (3 / 8)
    at = values | {"x": values["x0"] - gap}
    assert number(reduced.potential.diff(x), at) == pytest.approx(0, abs=1e-13)
    stiffness = number(reduced.potential.diff(x, 2), at)
    assert math.sqrt(stiffness / values["m"]) == pytest.approx(math.sqrt(8 * 2.0 / (3 * 1.1)), rel=1e-13)
    assert math.sqrt(stiffness / values["m"]) != pytest.approx(math.sqrt(2.0 / 1.1), rel=0.1)  # the spring alone


def test_2_14_the_reduction_is_isentropic():
    recovered = adiabatic().reduce(KINETIC, FORCE).recovered
    entropy = gas.entropy(recovered[V], U=recovered[U])
    assert vanishes(entropy.diff(x))
    assert equal(entropy, S0 + N * R * log((3 * xi / (2 * U0)) ** Rational(3, 2) / V0))
    isothermal = gas.entropy(recovered[V], T=T0)
    assert not vanishes(isothermal.diff(x))


def test_4_11_all_formulations_agree():
    """Potentials and motions: the source's list, the fundamental relation with S constant, and U(S, V(x)) itself."""
    by_list, by_entropy = adiabatic().reduce(KINETIC, FORCE), fundamental().reduce(KINETIC, FORCE, rates={S: 0})
    constant = gas.pressure(S, V) * V ** Rational(5, 3)
    for reduced in (by_list, by_entropy):
        direct = k * (x0 - x) ** 2 / 2 + gas.energy(S, A * (x0 - x))
        assert equal(reduced.potential.xreplace({xi: constant}), direct)
    assert by_entropy.constants == (S,)

    numbers = {"k": 2.0, "m": 1.1, "A": 0.7, "x0": 3.0, "N": 1.0, "R": 1.0, "U0": 1.5, "V0": 1.0, "S0": 0.0}
    s = 0.4
    xi_value = number(constant, numbers | {"S": s, "V": 1.7})
    start, options = {x: 1.0, x.dot: 0.2}, {"h": 0.01, "steps": 200}
    one = da.simulate(
        by_list.system("list"),
        da.Midpoint(),
        start=start,
        parameters=_only(by_list, numbers | {"xi": xi_value}),
        **options,
    )
    two = da.simulate(
        by_entropy.system("S"), da.Midpoint(), start=start, parameters=_only(by_entropy, numbers | {"S": s}), **options
    )
    off = da.simulate(
        by_entropy.system("S"),
        da.Midpoint(),
        start=start,
        parameters=_only(by_entropy, numbers | {"S": s + 0.1}),
        **options,
    )
    assert np.abs(one.x - two.x).max() < 1e-12
    assert np.abs(one.x - off.x).max() > 1e-3


def _only(reduced, numbers):
    names = {p.name for p in reduced.system().parameters}
    return {n: v for n, v in numbers.items() if n in names}


def test_the_differential_algebraic_form_moves_alike():
    """Full state space, isentropic: the algebraic variables solved pointwise, against the reduced Lagrangian."""
    system = fundamental().reduce(KINETIC, FORCE | {x: FORCE[x] - mu * x.dot}, rates={S: mu * x.dot**2 / T})
    assert isinstance(system, thermo.DifferentialAlgebraic)
    assert system.differential == (x, x.dot, S)
    assert system.algebraic == (V, U, T, P)
    assert system.index_one()
    numbers = {k: 2.0, m: 1.1, A: 0.7, x0: 3.0, N: 1.0, R: 1.0, U0: 1.5, V0: 1.0, S0: 0.0}

    def final(friction):
        def rate(_, z):
            at = dict(zip(system.differential, z, strict=True))
            return [*system.derivative({**numbers, mu: friction, **at}).values()]

        return solve_ivp(rate, (0, 1), [1.0, 0.2, 0.4], rtol=1e-8, atol=1e-9).y[:, -1]

    free, rubbed = final(0.0), final(0.5)
    reduced = fundamental().reduce(KINETIC, FORCE, rates={S: 0})
    values = {s.name: v for s, v in numbers.items()} | {"S": 0.4}
    wanted = da.simulate(
        reduced.system(),
        da.Midpoint(),
        h=0.001,
        steps=1000,
        start={x: 1.0, x.dot: 0.2},
        parameters=_only(reduced, values),
    )
    assert free[0] == pytest.approx(wanted.x[-1], abs=1e-6)
    assert free[2] == pytest.approx(0.4, abs=1e-15)
    energy = KINETIC + k * (x0 - x) ** 2 / 2 + gas.energy(S, A * (x0 - x))
    named = {s.name: v for s, v in numbers.items()}
    at = [number(energy, named | dict(zip(("x", "x.dot", "S"), z, strict=True))) for z in ([1.0, 0.2, 0.4], rubbed)]
    assert at[1] == pytest.approx(at[0], rel=1e-7)  # the first law: friction turns motion into heat
    assert rubbed[2] > 0.4 + 1e-3  # and the second


def test_one_coordinate_does_not_suffice():
    left_open = fundamental().reduce(KINETIC, FORCE)
    assert isinstance(left_open, thermo.DifferentialAlgebraic)
    assert "dimension 2: besides x one needs S; S has no equation" in left_open.reason
    verdict = left_open.index_one()
    assert not verdict
    assert "4 independent relations for 5 algebraic variables" in verdict.reason


def test_relations_that_cannot_be_solved_stay():
    """T from U = T + exp(T) - ...: no closed form (that is not Lambert's W), so Newton's method at each state."""
    Q = sympy.Symbol("Q", real=True)
    states = thermo.EquationsOfState([Eq(Q, T + exp(T) + x * T**3), Eq(P, T * x)], variables=[Q, T, P], coordinates=[x])
    system = states.reduce(KINETIC, {x: P}, rates={Q: x.dot})
    assert isinstance(system, thermo.DifferentialAlgebraic)
    assert "could not be solved in closed form" in system.reason
    assert system.index_one()
    at = system.consistent({x: 0.5, Q: 1.0 + math.e + 0.5})
    assert at[T] == pytest.approx(1, rel=1e-12)
    assert at[P] == pytest.approx(0.5, rel=1e-12)
    assert system.derivative({x: 0.5, x.dot: 2.0, Q: 1.5 + math.e, m: 4})[x.dot] == pytest.approx(0.125, rel=1e-12)


def test_a_singular_algebraic_part_is_seen():
    """P enters only through its sum with T: two relations, but their Jacobian is singular."""
    singular = thermo.EquationsOfState([Eq((T + P) ** 3, x**3 * 1), Eq(T + P, x)], variables=[T, P], coordinates=[x])
    assert not singular.reduce(KINETIC, {x: -P}).index_one()


def test_elimination_counts_redundant_relations_and_keeps_the_first():
    more = thermo.EquationsOfState(
        [*gas.relations(S=S, V=V, U=U, T=T, P=P), PISTON, Eq(P * V, N * R * T)],
        variables=[S, V, U, T, P],
        coordinates=[x],
    )
    states = more.eliminate()
    assert states.redundant == 1
    assert states.free == (x, S)
    assert states.dimension == 2
    by_temperature = thermo.EquationsOfState(more.relations, variables=[T, V, U, P, S], coordinates=[x]).eliminate()
    assert by_temperature.free == (x, T)
    assert equal(by_temperature.solved[P], N * R * T / (A * (x0 - x)))


def test_a_choice_of_branches_is_not_made():
    y2 = sympy.Symbol("Y", real=True)
    states = thermo.EquationsOfState([Eq(y2**2, x**2 + 1)], variables=[y2], coordinates=[x]).eliminate()
    assert states.left and y2 in states.free
    Y = sympy.Symbol("Y", positive=True)
    states = thermo.EquationsOfState([Eq(Y**2, x**2 + 1)], variables=[Y], coordinates=[x]).eliminate()
    assert equal(states.solved[Y], sympy.sqrt(x**2 + 1))


def test_two_coordinates():
    """One gas between two pistons: the form is closed. A force that is not a gradient is kept as a force."""
    box = thermo.EquationsOfState(
        [*gas.relations(S=S, V=V, P=P), Eq(V, A * (x0 + y - x))], variables=[S, V, P], coordinates=[x, y]
    )
    kinetic = m * (x.dot**2 + y.dot**2) / 2
    reduced = box.reduce(kinetic, {x: -A * P, y: A * P - k * y}, rates={S: 0})
    assert reduced.is_conservative
    assert equal(reduced.potential, gas.energy(S, A * (x0 + y - x)) + k * y**2 / 2)
    turning = box.reduce(kinetic, {x: -A * P, y: 2 * A * P}, rates={S: 0})
    assert not turning.is_conservative
    assert turning.reason == "not conservative: the derivative of F_y by x is not that of F_x by y"
    system = turning.system()
    assert vanishes(fast(system.forces[1] + 2 * system.forces[0]))
    with pytest.raises(da.ModelError, match="no Lagrangian K - W"):
        _ = turning.lagrangian


def test_an_isothermal_gas_has_the_potential_of_helmholtz():
    relations = [*gas.relations(S=S, V=V, T=T, P=P), PISTON]
    states = thermo.EquationsOfState(relations, variables=[T, S, V, P], coordinates=[x])
    reduced = states.reduce(KINETIC, {x: -A * P}, rates={T: 0})
    F = gas.helmholtz(T, A * (x0 - x))
    assert equal(reduced.potential.diff(x), F.diff(x))
    assert not equal(reduced.potential.diff(x), gas.energy(S, A * (x0 - x)).diff(x))
    at = {"N": 1.0, "R": 1.0, "T": 2.0, "A": 1.0, "x0": 3.0}
    for place in (1.0, 2.9):  # the potential has a value where there is a gas
        assert math.isfinite(number(reduced.potential, at | {"x": place}))


def test_friction_has_no_potential():
    reduced = adiabatic().reduce(KINETIC, {x: FORCE[x] - mu * x.dot})
    assert reduced.reason == "not conservative: the force on x depends on x.dot"


def test_a_relation_between_coordinates_stays_as_a_constraint():
    box = thermo.EquationsOfState(
        [*gas.relations(S=S, V=V, P=P), Eq(V, A * (x0 - x)), x - y**2], variables=[S, V, P], coordinates=[x, y]
    )
    reduced = box.reduce(m * (x.dot**2 + y.dot**2) / 2, {x: -A * P}, rates={S: 0})
    assert reduced.constraints == (x - y**2,)
    assert len(reduced.system().holonomic) == 1


def test_a_spent_budget_leaves_relations_unsolved():
    no_integral = adiabatic().reduce(KINETIC, {x: FORCE[x] + k * sympy.sin(x)}, budget=Budget(attempts=4))
    assert no_integral.is_conservative
    assert no_integral.potential is None
    assert "no closed form was found for the integral over x" in no_integral.reason
    assert equal(no_integral.system().forces[0], no_integral.forces[x])
    states = fundamental().eliminate(budget=Budget(attempts=3))
    assert states.left
    assert states.dimension == 2


def test_results_show_themselves():
    assert "U0*V0**(2/3)" in str(gas)
    assert "states of dimension 2, parametrised by x, S" in str(fundamental().eliminate())
    assert "conservative" in str(adiabatic().reduce(KINETIC, FORCE))
    assert "algebraic variables: S, V, U, T, P" in str(fundamental().reduce(KINETIC, FORCE))
    assert str(gas.stability()).startswith("yes: T = dU/dS > 0")
