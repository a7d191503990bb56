"""A system with a method and a discrete system make steps by one interface: `methods.stepping`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert import MethodError
from dalembert.methods.stepping import Stepping

from .tools import told

x = da.coordinates("x")
m, k = da.parameters("m k", positive=True)
SPRING = da.System("spring", [x], kinetic=m * x.dot**2 / 2, potential=k * x**4 / 4)
START, NUMBERS = {x: 0.4, x.dot: 0.3}, {m: 1.0, k: 2.0}


class Own(da.VariationalMethod):
    """The midpoint rule, written by a user."""

    order = 2

    def discrete_lagrangian(self, L, q0, q1, t, h):
        return h * L((q0 + q1) / 2, (q1 - q0) / h, t + h / 2)


class Turned(Own):
    """The same, with its parameters in another order."""

    def step_map(self, system):
        made = super().step_map(system)
        return replace(made, parameters=made.parameters[::-1])


def test_one_step_for_both():
    own = Stepping(da.discretise(SPRING, da.Midpoint()))
    by = Stepping(SPRING, da.Midpoint())
    assert own.discrete == by.discrete and own.carries == by.carries == "momentum"
    assert own.step_map("test").update == by.step_map("test").update
    runge_kutta = Stepping(SPRING, da.RungeKutta4())  # control
    assert runge_kutta.discrete is None and runge_kutta.carries == "velocity"


def test_the_step_that_undoes_a_step():
    """Of a symmetric method its own, with -h; under constraints the inverse by the discrete principle, with h."""
    symmetric, other = Stepping(SPRING, da.Midpoint()), Stepping(SPRING, da.LeftPoint())
    step, sign = symmetric.backward("test")
    assert sign == -1 and step.update == symmetric.step_map("test").update
    step, sign = other.backward("test")
    assert sign == -1 and step.update != other.step_map("test").update
    y = da.coordinates("y")
    tied = SPRING.replace(coordinates=[x, y], kinetic=m * (x.dot**2 + y.dot**2) / 2, constraints=[y.dot - x * x.dot])
    step, sign = Stepping(tied, da.Midpoint()).backward("test")
    assert sign == 1 and "multiplier.1" in step.unknowns


@pytest.mark.parametrize("question", [da.existence, da.contraction, da.regularity])
def test_a_loaded_run_without_its_method(question, tmp_path):
    run = da.simulate(SPRING, Own(), h=0.1, steps=3, start=START, parameters=NUMBERS)
    back = da.load(run.save(tmp_path / "run.nc"))
    assert "its method, which is one of your own, is not in the file" in told(MethodError, lambda: question(back))
    question(run)  # control: the run itself has it


@pytest.mark.parametrize(
    "call",
    [
        lambda method: da.simulate(SPRING, method, h=0.1, steps=3, start=START, parameters=NUMBERS),
        lambda method: da.flow(SPRING, method, h=0.1, start=START, parameters=NUMBERS),
    ],
    ids=["simulate", "flow"],
)
def test_parameters_in_another_order_are_refused(call):
    """Numbers go by place: k would be taken for m."""
    assert told(MethodError, lambda: call(Turned())).startswith("Turned(): its step has the parameters (")
    call(Own())  # control


def test_control_the_order_of_parameters_matters():
    stepped = [da.flow(SPRING, Own(), h=0.1, start=START, parameters=p).after for p in (NUMBERS, {m: 2.0, k: 1.0})]
    assert not np.allclose(*stepped)
