"""Every method has the order it claims, on every kind of system it accepts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert.run import plan

from . import systems
from .methods import METHODS, accepts

T = 1.0
STEPS = {1: (64, 128, 256), 2: (64, 128, 256), 4: (12, 24, 48), 6: (4, 8, 16), 8: (2, 3, 4, 5, 6, 8), 12: (3, 4, 5, 6)}
# Few steps of a method of high order fit between the asymptotic regime and rounding, so its slope is less sharp. At order
# 12 the leading coefficient is so small that the next one is seen beside it.
ALLOWED = {1: 0.2, 2: 0.2, 4: 0.2, 6: 0.5, 8: 0.7, 12: 1.6}


def named(value):
    return getattr(value, "__name__", None) or repr(value)


def span(method):
    """Order 12 shows in long steps only: with short ones the error is rounding."""
    return 4 * T if method.order == 12 else T


@cache
def reference(case, until=T):
    c = case()
    exact = da.Reference(rtol=1e-13, atol=1e-13)
    return da.simulate(c.system, exact, h=until / 2, until=until, start=c.start, parameters=c.parameters)


def state(run):
    mechanical = [s for c in run.system.coordinates for s in (c, c.dot, c.momentum)]
    return np.array([run[s][-1] for s in (*mechanical, *run.system.entropies)])


def computed(case, method, n, start=None):
    c = case()
    return da.simulate(c.system, method, h=span(method) / n, steps=n, start=start or c.start, parameters=c.parameters)


def slope(steps, errors):
    """The slope through the last three errors that are not rounding."""
    real = [(n, e) for n, e in zip(steps, errors, strict=True) if e > 1e-13][-3:]
    assert len(real) == 3, "the error is rounding: the slope would mean nothing"
    return np.polyfit(np.log([n for n, _ in real]), -np.log([e for _, e in real]), 1)[0]


def observed_order(case, method, start=None):
    steps, exact = STEPS[method.order], state(reference(case, span(method)))
    runs = [computed(case, method, n, start(T / n) if start else None) for n in steps]
    return slope(steps, [np.abs(state(run) - exact).max() for run in runs])


CASES = (*systems.ALL, *systems.PRINCIPLES, systems.separable, systems.separable_forced, *systems.THERMAL)


@pytest.mark.parametrize(("method", "case"), [(m, c) for m in METHODS for c in CASES if accepts(m, c)], ids=named)
def test_order(method, case):
    observed = observed_order(case, method)
    assert abs(observed - method.order) < ALLOWED[method.order], f"claimed {method.order}, observed {observed:.3f}"


def test_control_a_start_by_a_straight_line_spoils_the_second_order():
    """Starting the midpoint rule from x1 = x0 + h v0 leaves order 1: the check above can tell."""
    c = systems.free()

    def straight(h):
        q = c.system.coordinates
        return {q_.at(0): c.start[q_] for q_ in q} | {q_.at(1): c.start[q_] + h * c.start[q_.dot] for q_ in q}

    assert abs(observed_order(systems.free, da.Midpoint(), straight) - 1) < 0.2


@pytest.mark.parametrize("method", [da.GeometricNonholonomic(), da.DiscreteGradient()], ids=repr)
def test_compositions_are_refused_where_their_order_is_not_reached(method, monkeypatch):
    """Under constraints; without the refusal, order 6 is not there."""
    composed = da.Composition(method, order=6)
    assert not composed.takes(systems.nonholonomic().system)
    with monkeypatch.context() as patch:
        patch.setattr(type(method), "composable_constrained", 8)
        observed = observed_order(systems.nonholonomic, composed)
    plan._check.cache_clear()  # it has seen the patched method
    assert observed < 5


@pytest.mark.parametrize("method", [m for m in METHODS if accepts(m, systems.isolated) and m.order <= 4], ids=repr)
def test_order_of_each_entropy_and_of_the_energy(method):
    """The check above sees the largest error alone; entropies and energy, looked at by themselves, converge as well."""
    steps, exact = STEPS[method.order], reference(systems.isolated)
    runs = [computed(systems.isolated, method, n) for n in steps]
    measured = {S: lambda run, S=S: run[S][-1] for S in exact.system.entropies}
    measured |= {} if method.first_law else {"energy": lambda run: run.energy[-1]}
    for name, value in measured.items():
        observed = slope(steps, [abs(value(run) - value(exact)) for run in runs])
        assert observed > method.order - 0.3, f"{name}: claimed {method.order}, observed {observed:.3f}"


CONSTRAINED = (
    systems.holonomic,
    systems.nonholonomic,
    systems.both_kinds,
    systems.upsilon,
    systems.vakonomic_nonlinear,
)


# Compositions take their multipliers from the state; of those, order 4 is enough to see that. At order 8 explicit
# Runge-Kutta multipliers, and those of Lobatto(5), are exact to rounding at any step.
EXACT = (da.DormandPrince8(), da.Lobatto(5))
DIRECT = [m for m in METHODS if (not isinstance(m, da.Composition) or m.order == 4) and m not in EXACT]


@pytest.mark.parametrize(("method", "case"), [(m, c) for m in DIRECT for c in CONSTRAINED if accepts(m, c)], ids=named)
def test_multipliers_converge(method, case):
    """Discrete lambda -> continuous lambda, sign and size, at an inner node, at least at the rate the method claims.

    At least: with constant masses the left-point rule is Stormer-Verlet in disguise, and gains an order.
    """
    exact = reference(case).multipliers[1]
    steps = {6: (8, 16, 32), 8: (8, 12, 16)}.get(method.order, STEPS[method.order])
    if method == da.Lobatto(4):  # its multipliers, from the state, are exact to rounding with shorter steps
        steps = (2, 4, 8)
    errors = [np.abs(computed(case, method, n).multipliers[n // 2] - exact).max() for n in steps]
    assert slope(steps, errors) > method.order_in("multipliers") - 0.3
