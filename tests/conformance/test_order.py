"""Every method has the order it claims, on every kind of system it accepts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert.methods import REGISTRY

from . import systems

T = 1.0
FIXED_STEP = [m for m in REGISTRY.values() if not m.adaptive]


@cache
def reference(case):
    c = case()
    exact = da.Reference(rtol=1e-13, atol=1e-13)
    return da.simulate(c.system, exact, h=T, until=T, start=c.start, parameters=c.parameters)


def state(run):
    q = run.system.coordinates
    return np.array([[run[c][-1], run[c.dot][-1], run[c.momentum][-1]] for c in q])


def observed_order(case, method, start=None):
    c = case()
    steps = (12, 24, 48) if method.order == 4 else (64, 128, 256)
    errors = []
    for n in steps:
        run = da.simulate(
            c.system, method, h=T / n, steps=n, start=start(T / n) if start else c.start, parameters=c.parameters
        )
        errors.append(np.abs(state(run) - state(reference(case))).max())
    assert errors[-1] > 1e-13, "the error is rounding: the slope would mean nothing"
    return np.polyfit(np.log(steps), -np.log(errors), 1)[0]


CASES = [(m, c) for m in FIXED_STEP for c in systems.ALL if m is not da.StormerVerlet]
CASES += [(m, c) for m in FIXED_STEP for c in (systems.separable, systems.separable_forced)]


@pytest.mark.parametrize(("method", "case"), CASES, ids=lambda v: v.__name__)
def test_order(method, case):
    slope = observed_order(case, method())
    assert abs(slope - method.order) < 0.2, f"{method.__name__} claims order {method.order}, observed {slope:.3f}"


def test_control_a_start_by_a_straight_line_spoils_the_second_order():
    """Starting the midpoint rule from x1 = x0 + h v0 leaves order 1: the check above can tell."""
    c = systems.free()

    def straight(h):
        q = c.system.coordinates
        return {q_.at(0): c.start[q_] for q_ in q} | {q_.at(1): c.start[q_] + h * c.start[q_.dot] for q_ in q}

    assert abs(observed_order(systems.free, da.Midpoint(), straight) - 1) < 0.2


def multipliers(case, method, n):
    c = case()
    run = da.simulate(c.system, method, h=T / n, steps=n, start=c.start, parameters=c.parameters)
    return run.multipliers[n // 2]


@pytest.mark.parametrize("method", [da.LeftPoint, da.RightPoint, da.Midpoint, da.Trapezoidal, da.RungeKutta4])
@pytest.mark.parametrize("case", [systems.holonomic, systems.nonholonomic, systems.both_kinds])
def test_multipliers_converge_at_least_with_the_order_of_the_method(method, case):
    """Discrete lambda -> continuous lambda, sign and size, at an inner node."""
    c = case()
    exact = da.simulate(
        c.system, da.Reference(rtol=1e-13, atol=1e-13), h=T / 2, steps=1, start=c.start, parameters=c.parameters
    ).multipliers[1]
    steps = (12, 24, 48) if method.order == 4 else (64, 128, 256)
    errors = [np.abs(multipliers(case, method(), n) - exact).max() for n in steps]
    slope = np.polyfit(np.log(steps), -np.log(errors), 1)[0]
    # At least: with constant masses the left-point rule is Stormer-Verlet in disguise, whose multipliers gain an order.
    assert slope > method.order - 0.25, f"observed {slope:.3f}"
