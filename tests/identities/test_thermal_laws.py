"""The two laws as they are read, along a run, and in an audit; and what friction does to dq ^ dp."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import exp
from dalembert.analysis.motions.balances import balance, integrals
from dalembert.analysis.motions.contraction import contraction
from dalembert.symbolic import number
from dalembert.theory.conserved.two_laws import energy_balance, entropy_production, friction_heat

from ..conformance import systems

x, y, z = systems.x, systems.y, systems.z
S = systems.S
m, mu, nu, T0, k = da.parameters("m mu nu T0 k", positive=True)
CART = da.System(
    "cart",
    [x],
    kinetic=m * x.dot**2 / 2,
    entropies=[S],
    internal_energy=nu * T0 * exp(S / nu),
    friction={x: -mu * x.dot},
)
NUMBERS = {m: 5, mu: 3, nu: 1, T0: 300}
START = {x: 0, x.dot: 2, S: 0}


def cart(method, h=0.2, **more):
    return da.simulate(CART, method, h=h, until=2, parameters=NUMBERS, start=START, **more)


# -------------------- as they are read --------------------


def numbers(case, t=0.3):
    """All symbols at the start of a case, with accelerations, multipliers and rates of entropies."""
    found = da.evaluate(case.system, at={**case.start, da.time: t}, parameters=case.parameters)
    values = {p.name: v for p, v in case.parameters.items()} | {"t": t}
    values |= {q.name: case.start[q] for q in case.system.coordinates}
    values |= {q.dot.name: v for q, v in found.velocities.items()}
    values |= {s.name: case.start[s] for s in case.system.entropies}
    values |= {f"multiplier.{a + 1}": v for a, v in enumerate(found.multipliers)}
    return values, found


def rate_along(expression, case, values, found):
    """d/dt of f(q, v, S, t) along the motion, by the chain rule."""
    rates = {q: found.velocities[q] for q in case.system.coordinates}
    rates |= {q.dot: found.accelerations[q] for q in case.system.coordinates}
    rates |= dict(found.entropy_rates) | {da.time: 1.0}
    return sum(number(expression.diff(s), values) * rate for s, rate in rates.items())


EVERY = (*systems.THERMAL, systems.free, systems.forced, systems.nonholonomic, systems.independent_variations)


@pytest.mark.parametrize("case", EVERY, ids=lambda c: c.__name__)
def test_energy_balance_is_the_rate_of_the_energy(case):
    law, (values, found) = energy_balance(case().system), numbers(case(), t=0.0)
    expected = rate_along(law.energy, case(), values, found)
    assert number(law.rate, values) == pytest.approx(expected, rel=1e-11, abs=1e-12)


def test_control_friction_is_not_in_the_energy_balance():
    values, found = numbers(systems.heated(), 0.0)
    law = energy_balance(systems.heated().system)
    friction = number(sum(friction_heat(systems.heated().system)), values)
    expected = rate_along(law.energy, systems.heated(), values, found)
    assert abs(friction) > 0.1
    assert abs(number(law.rate, values) - friction - expected) > 0.1


def test_a_moving_constraint_works():
    law, (values, found) = energy_balance(systems.holonomic().system), numbers(systems.holonomic(), 0.0)
    assert list(law.powers) == ["the work of reactions"]
    expected = rate_along(law.energy, systems.holonomic(), values, found)
    assert number(law.rate, values) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("case", systems.THERMAL, ids=lambda c: c.__name__)
def test_entropy_production(case):
    law, (values, found) = entropy_production(case().system), numbers(case())
    assert number(law.rate, values) == pytest.approx(sum(found.entropy_rates.values()), rel=1e-12)
    assert number(law.total, values) > 0
    assert all(number(e, values) >= 0 for e in law.bodies.values())


def test_the_laws_in_words():
    said = str(energy_balance(systems.isolated().system))
    assert "The energy is conserved. What friction takes from the motion becomes internal energy." in said
    assert "work of external forces and heat from outside" in str(energy_balance(systems.heated().system))
    assert "so the total entropy never falls" in str(entropy_production(systems.isolated().system))
    assert "comes with heat" in str(entropy_production(systems.heated().system))
    assert "produced by conduction" in str(entropy_production(systems.isolated().system))
    still = da.System("still", [x], kinetic=x.dot**2 / 2, entropies=[S], internal_energy=exp(S))
    assert "Nothing produces entropy: it is conserved." in str(entropy_production(still))
    with pytest.raises(da.ModelError, match="has no entropies"):
        entropy_production(systems.free().system)
    with pytest.raises(da.ModelError, match="Expected a System"):
        energy_balance("cart")


# -------------------- along a run --------------------


def test_integrals_through_nodes_are_exact_for_polynomials():
    t = np.linspace(0, 2, 9)
    for degree in range(6):
        exact = np.diff(t ** (degree + 1)) / (degree + 1)
        assert np.allclose(integrals(t**degree, 0.25, 6), exact, rtol=1e-13, atol=1e-13)
    assert np.abs(integrals(t**6, 0.25, 6) - np.diff(t**7) / 7).max() > 1e-6  # the control: one degree more


@pytest.mark.parametrize("method", [da.Midpoint(), da.RungeKutta4(), da.DiscreteGradient()], ids=repr)
def test_own_sums_and_integrals_through_nodes_agree(method):
    c = systems.heated()
    run = da.simulate(c.system, method, h=0.01, until=1, start=c.start, parameters=c.parameters)
    exact = da.simulate(c.system, da.Reference(), h=0.01, until=1, start=c.start, parameters=c.parameters)
    own, nodes = balance(run), balance(exact)
    assert own.exact.all()
    assert not nodes.exact.any()
    for name in ("work", "heat", "energy", "received", "produced"):
        assert np.abs(getattr(own, name).sum() - getattr(nodes, name).sum()) < 3e-5
    assert abs(nodes.defect.sum()) < 1e-9


def test_records_and_lanes_do_not_matter():
    c = systems.isolated()
    common = {"h": 0.05, "steps": 20, "start": {**c.start, x: np.array([0.7, 0.2])}, "parameters": c.parameters}
    fine = balance(da.simulate(c.system, da.DiscreteGradient(2), **common))
    coarse = balance(da.simulate(c.system, da.DiscreteGradient(2), every=5, **common))
    assert fine.energy.shape == (2, 20)
    assert coarse.produced.shape == (2, 4, 2)
    for name in ("energy", "work", "heat", "exchanged", "produced"):
        total = getattr(fine, name).sum(axis=1)
        assert np.allclose(getattr(coarse, name).sum(axis=1), total, rtol=1e-12, atol=1e-14)
    assert "produced in S1" in str(coarse)


def test_balance_of_a_mechanical_system():
    """Without entropies: energy against work, through the nodes."""
    c = systems.forced()
    run = da.simulate(c.system, da.DormandPrince8(), h=0.02, until=1, start=c.start, parameters=c.parameters)
    assert np.abs(balance(run).work).max() > 1e-3
    assert np.abs(balance(run).defect).max() < 1e-10


def test_balance_says_what_it_cannot_do():
    with pytest.raises(da.ModelError, match="one record only"):
        balance(da.simulate(CART, da.Midpoint(), h=0.1, steps=0, parameters=NUMBERS, start=START))
    discrete = da.discretise(CART, da.midpoint_map)
    run = da.simulate(discrete, h=0.1, steps=2, parameters=NUMBERS, start={x.at(0): 0, x.at(1): 0.2, S: 0})
    with pytest.raises(da.ModelError, match="has no energy"):
        balance(run)


# -------------------- the audit --------------------


@pytest.mark.parametrize(
    ("method", "exact"), [(da.DiscreteGradient(), True), (da.Midpoint(), False), (da.RungeKutta4(), False)], ids=repr
)
def test_audit_of_the_cart(method, exact):
    """Both laws; and p + mu x, linear in the state, which all of these keep to rounding (digest 2.16)."""
    found = da.audit(cart(method), {"m v + mu x": m * x.dot + mu * x})
    assert found.ok
    assert found["energy"].theory == "conserved"
    assert "friction" in found["energy"].reason
    assert "internal energy" in found["energy"].reason
    assert (found["first law"].deviation < 1e-14) == exact
    assert found["first law"].verdict == "kept to rounding" or not exact
    assert found["entropy produced in S"].least > 0
    assert found["m v + mu x"].deviation < 1e-14
    assert "in all;" in str(found)


def test_audit_says_where_the_second_law_is_broken():
    c = systems.rough_patch()
    run = da.simulate(c.system, da.Composition(da.Midpoint(), 4), h=0.55, steps=2, start=c.start)
    row = da.audit(run)["entropy produced in S"]
    assert not row.holds
    assert row.ok, "it was not promised"
    assert row.since == row.when == 0.0
    assert "NOT POSITIVE from t = 0" in row.verdict


def test_audit_with_too_few_nodes():
    """A long step with a kink too sharp for four nodes: the first law is off, and the audit says what to do."""
    stiff = da.System(
        "stiff",
        [x],
        kinetic=x.dot**2 / 2,
        potential=exp(6 * x),
        entropies=[S],
        internal_energy=exp(S),
        friction={x: -x.dot},
    )
    run = da.simulate(stiff, da.DiscreteGradient(), h=1.0, steps=4, start={x: -1, x.dot: 1.5, S: 0}, strict=False)
    row = da.audit(run)["first law"]
    assert not row.ok
    assert "TOO FEW NODES" in row.verdict
    assert da.audit(cart(da.DiscreteGradient()))["first law"].ok


def test_hypotheses_are_monitored_along_the_motion():
    """Friction that drives where x < 0, a temperature that is used up, a conductance that changes sign."""
    drives = da.System(
        "drives", [x], kinetic=x.dot**2 / 2, entropies=[S], internal_energy=exp(S), friction={x: -x * x.dot}
    )
    run = da.simulate(drives, da.Midpoint(), h=0.1, steps=10, start={x: 0.5, x.dot: -1, S: 0})
    row = da.audit(run)["power of friction that warms S"]
    assert not row.ok
    assert row.since == run.time[np.argmax(run.x < 0)]
    assert da.audit(run)["temperature of S"].ok
    cools = da.System(
        "cools", [x], kinetic=x.dot**2 / 2, entropies=[S], internal_energy=S**2 / 2, heat={S: -da.Rational(1, 2)}
    )
    run = da.simulate(cools, da.LeftPoint(), h=0.3, steps=12, start={x: 0, x.dot: 0, S: 1})
    row = da.audit(run)["temperature of S"]
    assert not row.ok
    assert row.since == run.time[np.argmax(run.S < 0)]
    assert "NOT POSITIVE" in row.verdict
    leaks = da.System("leaks", [x], kinetic=x.dot**2 / 2, entropies=[S], internal_energy=exp(S), conduction={(S, 2): x})
    row = da.audit(da.simulate(leaks, da.Midpoint(), h=0.1, steps=9, start={x: 0.35, x.dot: -1, S: 0}))[
        "conductance of S, 2"
    ]
    assert not row.ok
    assert row.since == pytest.approx(0.4)
    assert all(row.ok for row in da.audit(cart(da.Midpoint())).rows)  # the control


# -------------------- dq ^ dp --------------------

RATIO = 0.2 * 3 / 5


@pytest.mark.parametrize(
    ("method", "expected", "digits"),
    [
        (da.LeftPoint(), 1 / (1 + RATIO), 1e-13),
        (da.Midpoint(), (1 - RATIO / 2) / (1 + RATIO / 2), 1e-13),
        (da.DiscreteGradient(), (1 - RATIO / 2) / (1 + RATIO / 2), 1e-13),
        (da.DormandPrince8(), np.exp(-RATIO), 1e-12),
        (da.Composition(da.Midpoint(), 4), np.exp(-RATIO), 1e-6),
    ],
    ids=repr,
)
def test_contraction_of_the_cart(method, expected, digits):
    """Digest 2.15: friction contracts areas of phase space by a constant factor; the exact flow by exp(-h mu/m)."""
    found = contraction(cart(method))
    assert np.allclose(found.factor, expected, rtol=digits, atol=0)
    assert np.allclose(found.form[:, 0, 1], expected, rtol=digits, atol=0)
    assert np.linalg.det(found.whole) == pytest.approx(found.volume.prod(), rel=1e-12)
    coarse = contraction(cart(method, every=5))
    assert np.allclose(coarse.factor, expected**5, rtol=1e-5, atol=0)
    assert "fixed entropies" in str(found)


def test_contraction_of_the_damped_spring():
    """Digest 2.15: 1/(1 + h lambda/m) for the left-point map, of the system and of its discrete system alike."""
    spring = da.System("spring", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2, forces={x: -mu * x.dot})
    values = {m: 2, k: 2, mu: 0.3}
    run = da.simulate(spring, da.LeftPoint(), h=0.1, steps=5, parameters=values, start={x: 0.3, x.dot: 0})
    assert np.allclose(contraction(run).factor, 1 / (1 + 0.1 * 0.3 / 2), rtol=1e-13, atol=0)
    run = da.simulate(
        da.discretise(spring, da.left_map), h=0.1, steps=5, parameters=values, start={x.at(0): 0.3, x.at(1): 0.3}
    )
    assert np.allclose(contraction(run).factor, 1 / (1 + 0.1 * 0.3 / 2), rtol=1e-13, atol=0)


def test_contraction_controls():
    """A symplectic method keeps the form without friction; an explicit Runge-Kutta method does not."""
    c = systems.free()
    for method, keeps in ((da.Midpoint(), True), (da.RungeKutta4(), False)):
        found = contraction(da.simulate(c.system, method, h=0.1, steps=5, start=c.start, parameters=c.parameters))
        assert (found.defect.max() < 1e-12) == keeps


def test_the_form_feels_entropies():
    """Where friction depends on temperature, dq ^ dp picks up terms with dS, and its factor is no product over steps."""
    c = systems.heated()
    found = contraction(da.simulate(c.system, da.Midpoint(), h=0.1, steps=5, start=c.start, parameters=c.parameters))
    assert np.abs(found.form[0, :4, 4]).max() > 1e-3
    assert found.factor.max() < 1


def test_contraction_says_what_it_cannot_do():
    with pytest.raises(da.MethodError, match="is adaptive"):
        contraction(cart(da.Reference()))
    c = systems.warm_holonomic()
    run = da.simulate(c.system, da.Midpoint(), h=0.1, steps=2, start=c.start, parameters=c.parameters)
    with pytest.raises(da.ModelError, match="has constraints"):
        contraction(run)
    with pytest.raises(da.ModelError, match="Expected a run"):
        contraction(CART)


def test_laws_of_a_body_that_turns_and_warms():
    R, z, S = da.rotation("R"), da.coordinates("z"), da.entropies("S")
    J, c, k = da.parameters("J c k", positive=True)
    system = da.System(
        "turning and warming",
        coordinates=[R, z],
        entropies=[S],
        kinetic=J * (R.omega[0] ** 2 + 2 * R.omega[1] ** 2 + 3 * R.omega[2] ** 2) / 2 + z.dot**2 / 2,
        potential=J * R[2, 2] + k * z**2 / 2,
        internal_energy=exp(S),
        friction={S: {z: -c * z.dot, R: tuple(-c * w for w in R.omega)}},
    )
    values, errors = {J: 1, c: 0.1, k: 3}, []
    for h in (0.02, 0.01):
        start = {R: np.eye(3), R.omega: (1, 2, 5), z: 1, z.dot: 0, S: 1}
        run = da.simulate(system, da.Midpoint(), h=h, until=1, start=start, parameters=values)
        found = da.audit(run)
        assert found.ok and "entropy produced in S" in str(found)
        errors.append(abs(run.energy[-1] - run.energy[0]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.2)
