"""First and second law: each claim on every system that a method accepts, for short and absurdly long steps; and controls.

A claim of the second law is about every step that there is: where a step is so long that its equations have no solution,
or none is found, the run ends, and what it has until then is judged.
"""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.analysis.motions.balances import balance

from . import systems
from .methods import METHODS, accepts
from .test_structure import random_states, values

THERMAL = [m for m in METHODS if m.thermal]
LAWFUL = [m for m in THERMAL if m.second_law]
STEPS = (0.01, 0.1, 0.5, 2.0, 10.0, 1e3)
SMALL = 1e-11
"""Rounding, beside entropies of size one."""


def named(value):
    return getattr(value, "__name__", None) or repr(value)


def computed(case, method, h, steps=20, **more):
    c = case()
    return da.simulate(c.system, method, h=h, steps=steps, start=c.start, parameters=c.parameters, strict=False, **more)


def both(methods, cases=systems.THERMAL):
    return pytest.mark.parametrize(
        ("method", "case"), [(m, c) for m in methods for c in cases if accepts(m, c)], ids=named
    )


# -------------------- first law --------------------


@both([m for m in THERMAL if m.first_law])
def test_first_law(method, case):
    """Energy, work and heat of every step, and of the run."""
    known = balance(computed(case, method, 0.05, 40))
    assert known.exact.all()
    size = np.abs(known.run.energy).max()
    assert np.abs(known.defect).max() < 1e-14 * size
    assert abs(known.defect.sum()) < 1e-13 * size
    if case is systems.heated:
        assert np.abs(known.work).sum() > 0.1
        assert np.abs(known.heat).sum() > 0.1


@both([da.Midpoint(), da.RungeKutta4(), da.LeftPoint(), da.DiscreteGradient(1)])
def test_control_methods_that_do_not_claim_the_first_law_break_it(method, case):
    assert not method.first_law
    known = balance(computed(case, method, 0.2, 10))
    assert np.abs(known.defect).max() > 1e-7 * np.abs(known.run.energy).max()


def test_the_first_law_is_broken_at_the_order_of_the_method():
    """What the others lose over a fixed time is O(h^order)."""
    for method in (da.LeftPoint(), da.Midpoint(), da.Trapezoidal(), da.RungeKutta4()):
        lost = [abs(balance(computed(systems.heated, method, 1 / n, n)).defect.sum()) for n in (20, 40, 80)]
        slope = np.polyfit(np.log([20, 40, 80]), -np.log(lost), 1)[0]
        assert slope > method.order - 0.35


def test_the_energy_of_an_isolated_system_is_constant_over_a_long_run():
    c = systems.isolated()
    run = da.simulate(
        c.system, da.DiscreteGradient(), h=0.05, steps=20_000, every=200, start=c.start, parameters=c.parameters
    )
    assert np.abs(run.energy - run.energy[0]).max() < 1e-11
    assert np.diff(run.S1 + run.S2).min() >= -SMALL  # at equilibrium there is nothing but rounding


# -------------------- second law --------------------


@pytest.mark.parametrize("h", STEPS)
@both(LAWFUL)
def test_second_law(method, case, h):
    """No body is cooled by friction in any step, and no entropy is lost in all, however long the step is."""
    run = computed(case, method, h)
    known = balance(run)
    judged = known.exact
    size = 1 + np.nanmax(np.abs(run.table("entropy")))
    assert (known.produced[judged] >= -SMALL * size).all()
    assert (known.production[judged] >= -SMALL * size).all()
    if h <= 0.1 or (case is systems.isolated and method in (da.Midpoint(), da.DiscreteGradient())):
        assert judged.any(), "something is judged"
        assert h > 0.1 or judged.all(), "every step is judged"


@pytest.mark.parametrize("method", LAWFUL, ids=repr)
def test_second_law_where_conduction_varies_within_a_step(method):
    """The sum of the entropies themselves: no work and heat that would have to be known."""
    for h in STEPS:
        run = computed(systems.valve, method, h)
        total = run.S1 + run.S2
        known = np.diff(total)[np.isfinite(np.diff(total))]
        assert (known >= -SMALL * np.nanmax(np.abs(total))).all()
        assert h > 0.01 or len(known) == 20


@pytest.mark.parametrize("method", LAWFUL, ids=repr)
def test_second_law_on_a_rough_patch(method):
    for h in (0.05, 0.6, 0.975, 3.0):
        fell = np.diff(computed(systems.rough_patch, method, h, 3).S)
        assert (fell[np.isfinite(fell)] >= 0).all()


def test_control_a_composition_cools_by_friction():
    """The five mean positions of a step of Suzuki's sequence: only the step backward meets the rough patch."""
    for base in (da.Midpoint(), da.DiscreteGradient()):
        method = da.Composition(base, 4)
        assert not method.second_law
        assert np.diff(computed(systems.rough_patch, method, 0.55, 1).S)[0] < -1e-3


def test_control_negative_weights_cool_by_friction():
    """One of the stages of DormandPrince8 with a negative weight meets the rough patch; RungeKutta4 has no such weight."""
    assert not da.DormandPrince8().second_law
    assert np.diff(computed(systems.rough_patch, da.DormandPrince8(), 0.975, 1).S)[0] < -1e-3
    assert da.RungeKutta4().second_law


def test_control_the_trapezoidal_rule_loses_entropy_by_conduction():
    """Means of a product are not products of means: friction is no problem, a conductance that varies is."""
    assert not da.Trapezoidal().second_law
    run = computed(systems.valve, da.Trapezoidal(), 0.5, 5)
    assert np.diff(run.S1 + run.S2).min() < -0.1
    for h in STEPS:
        fell = np.diff(computed(systems.rough_patch, da.Trapezoidal(), h, 3).S)
        assert (fell[np.isfinite(fell)] >= 0).all()


def test_control_the_check_sees_friction_of_the_wrong_sign():
    x, S = systems.x, systems.S
    with pytest.warns(da.ModelWarning, match="positive work"):
        driven = da.System(
            "driven", [x], kinetic=x.dot**2 / 2, entropies=[S], internal_energy=da.exp(S), friction={x: x.dot}
        )
    run = da.simulate(driven, da.Midpoint(), h=0.1, steps=5, start={x: 0, x.dot: 1, S: 1})
    assert balance(run).produced.max() < 0


# -------------------- symmetry, with entropies --------------------


def asymmetry(method, h=0.1, t=0.3):
    from dalembert.engine.tangent import tangent

    case, worst = systems.heated(), 0.0
    step_map = method.step_map(case.system)
    for state in random_states(len(step_map.state), seed=2):
        after, _ = tangent(step_map, state, values(case), h, t)
        back, _ = tangent(step_map, after, values(case), -h, t + h)
        worst = max(worst, np.abs(back - state).max())
    return worst


@pytest.mark.parametrize("method", [m for m in THERMAL if m.symmetric or m.order <= 4], ids=repr)
def test_symmetric_with_entropies(method):
    if method.symmetric:
        assert asymmetry(method) < 1e-11
    else:
        assert asymmetry(method) > 1e-9, "the control must fail the check"
