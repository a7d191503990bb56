"""Compiled tangents are those of the implicit function theorem, for every method on every kind of system."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.engine.tangent import tangents

from . import systems
from .implicit_derivative import condition, derivative
from .methods import METHODS, accepts

CASES = (
    systems.free, systems.forced, systems.separable, systems.holonomic, systems.nonholonomic_forced,
    systems.independent_variations, systems.both_kinds, systems.heated, systems.warm_holonomic, systems.warm_kinematic,
    systems.rubbed_in_time,
)  # fmt: skip
H = 0.05


def values(case):
    return np.array([[case.parameters[p] for p in case.system.parameters]])


def second_state(case, method):
    """A state on the constraints, after one step."""
    run = da.simulate(case.system, method, h=H, steps=1, start=case.start, parameters=case.parameters)
    step = method.step_map(case.system)
    return step, run.records[:, 1, : len(step.state)]


PAIRS = [(m, case) for case in CASES for m in METHODS if accepts(m, case)]


@pytest.mark.parametrize(("method", "case"), PAIRS, ids=lambda x: getattr(x, "__name__", repr(x)))
def test_compiled_tangents_are_those_of_the_implicit_function_theorem(method, case):
    """To 1e-13 of the largest entry, since multipliers change by h^-2 times what positions change by; and to the rounding of
    two solutions of linear equations, some units in the last place times their condition number (240 for Lobatto(5)).
    """
    case = case()
    step, state = second_state(case, method)
    after, slopes, status = tangents(step, state, values(case), H, H)
    expected_after, expected = derivative(step, state[0], values(case)[0], H, H)
    assert status[0] == 0
    size = np.abs(expected).max()
    rounding = 8 * np.finfo(float).eps * condition(step, state[0], values(case)[0], H, H)
    assert np.abs(slopes[0] - expected).max() <= (1e-13 + rounding) * size
    assert np.abs(after[0] - expected_after).max() <= 1e-12 * np.abs(expected_after).max()
    other = (
        derivative(step, state[0], values(case)[0], H, 2 * H)[1]
        - derivative(step, state[0], values(case)[0], 1.01 * H, H)[1]
    )
    assert np.abs(other).max() > 1e-13 * size, "the control: another step has another derivative"
