"""Messages of what is asked of discrete systems: regularity, momenta, orders, exact Lagrangians and recurrences."""

from __future__ import annotations

import numpy as np

import dalembert as da
from dalembert.analysis.accuracy.exact_lagrangian import exact_discrete_lagrangian, order_of
from dalembert.analysis.steps.regularity import regularity
from dalembert.discrete.linear_recurrence import linear_recurrence
from dalembert.discrete.momentum import momentum_map, nonholonomic_momentum

from .tools import table, told

x, y = da.coordinates("x y")
m = da.parameters("m", positive=True)
h = da.step
x0, x1 = x.at(0), x.at(1)
SPRING = da.System("spring", [x], kinetic=m * x.dot**2 / 2, potential=x**2 / 2)
STEPS = da.discretise(SPRING, da.Midpoint())
ROOT = da.DiscreteSystem("root", [x], lagrangian=da.sqrt(x0) * (x1 - x0) ** 2 / h)
PAIR, ONE, START = {x0: 0.1, x1: 0.2}, {m: 1}, {x: 0.1, x.dot: 1}
EXACT = exact_discrete_lagrangian(SPRING)
MOMENTUM = momentum_map(STEPS, {x: 1})
RECURRENCE = linear_recurrence(1.9, 0.95)


def pair(at=PAIR, h=0.1, parameters=ONE, system=STEPS):
    return regularity(system, at=at, h=h, parameters=parameters)


@table(
    ("text for a step", lambda: pair(h="a"), "regularity: h = 'a'. Expected the step, a positive number, such as h=0.1."),
    ("a step as text", lambda: pair(h="0.1"), "regularity: h = '0.1'. Expected the step, a positive number, such as h=0.1."),
    ("a step backward", lambda: pair(h=-1), "regularity: h = -1. Expected the step, a positive number, such as h=0.1."),
    (
        "existence of a step backward",
        lambda: da.existence(STEPS, at={x: 1, x.momentum: 0}, h=-1, parameters=ONE),
        "existence: h = -1. Expected the step, a positive number, such as h=0.1.",
    ),
    ("no step", lambda: pair(h=0), "regularity: h = 0. Expected the step, a positive number, such as h=0.1."),
    (
        "an exact step backward",
        lambda: EXACT(PAIR, h=-1, parameters=ONE),
        "exact_discrete_lagrangian: h = -1. Expected the step, a positive number, such as h=0.1.",
    ),
    (
        "no exact step",
        lambda: EXACT(PAIR, h=0, parameters=ONE),
        "exact_discrete_lagrangian: h = 0. Expected the step, a positive number, such as h=0.1.",
    ),
    (
        "an exact step that is text",
        lambda: EXACT(PAIR, h="a", parameters=ONE),
        "exact_discrete_lagrangian: h = 'a'. Expected the step, a positive number, such as h=0.1.",
    ),
    (
        "an exact step that is nothing",
        lambda: EXACT(PAIR, h=None, parameters=ONE),
        "exact_discrete_lagrangian: h = None. Expected the step, a positive number, such as h=0.1.",
    ),
    (
        "one step",
        lambda: order_of(STEPS, start=START, parameters=ONE, h=0.1),
        "order_of: h = 0.1. Expected two or more different steps, such as h=[0.1, 0.05, 0.025].",
    ),
    (
        "a list of one step",
        lambda: order_of(STEPS, start=START, parameters=ONE, h=[0.1]),
        "order_of: h = [0.1]. Expected two or more different steps, such as h=[0.1, 0.05, 0.025].",
    ),
    (
        "the same step twice",
        lambda: order_of(STEPS, start=START, parameters=ONE, h=[0.1, 0.1]),
        "order_of: h = [0.1, 0.1]. Expected two or more different steps, such as h=[0.1, 0.05, 0.025].",
    ),
    (
        "no points",
        lambda: order_of(STEPS, start=START, parameters=ONE, points=0),
        "order_of: points = 0: give a whole number from 1.",
    ),
    (
        "no time",
        lambda: order_of(STEPS, start=START, parameters=ONE, span=0),
        "order_of: span = 0. Expected a positive time.",
    ),
)  # fmt: skip
def test_steps(call, message):
    assert told(da.MethodError, call) == message


@table(
    ("one end", lambda: pair({x0: 1}), "at: no value for x.at(1). Expected both ends of the step; add at={x.at(1): ...}."),
    ("no slot", lambda: pair({x: 1, x1: 2}), "at: x is unknown here. Expected one of t, x.at(0), x.at(1)."),
    ("no dictionary", lambda: pair(3), "at: got 3. Expected {symbol: number, ...}."),
    (
        "an array",
        lambda: pair({x0: 0.1, x1: np.array([0.2, 0.3])}),
        "regularity: it looks at one step, and x.at(1) is an array. Give numbers, and call it once for each step.",
    ),
    (
        "an array of parameters",
        lambda: pair(parameters={m: [1, 2]}),
        "regularity: it looks at one step, and m is an array. Give numbers, and call it once for each step.",
    ),
    (
        "no matrix",
        lambda: pair({x0: -1, x1: 1}, parameters={}, system=ROOT),
        "regularity: the step matrix has no value at this pair: a root, a logarithm or a quotient in it has none. Give "
        "another pair.",
    ),
    (
        "one end of an exact step",
        lambda: EXACT({x0: 1}, h=0.1, parameters=ONE),
        "at: no value for x.at(1). Expected both ends of the step; add at={x.at(1): ...}.",
    ),
    (
        "exact steps in lanes",
        lambda: EXACT({x0: 1, x1: [1, 2]}, h=0.1, parameters=ONE),
        "exact_discrete_lagrangian: it looks at one step, and x.at(1) is an array. Give numbers, and call it once for each "
        "step.",
    ),
    (
        "orders in lanes",
        lambda: order_of(STEPS, start={x: [0.1, 0.2], x.dot: 1}, parameters=ONE),
        "order_of: start has arrays, which make lanes. It measures along one motion: give numbers.",
    ),
    (
        "orders in lanes of parameters",
        lambda: order_of(STEPS, start=START, parameters={m: [1, 2]}),
        "order_of: m is an array. It measures along one motion: give numbers.",
    ),
)  # fmt: skip
def test_pairs(call, message):
    assert told(da.StartError, call) == message


def test_a_pair_that_is_not_a_number():
    """Who reads the number first says so; that a step is determined is not said."""
    for at in ({x0: np.nan, x1: 1}, {x0: 0, x1: np.inf}):
        assert "finite number" in told(da.StartError, lambda at=at: pair(at))
        assert "finite number" in told(da.StartError, lambda at=at: EXACT(at, h=0.1, parameters=ONE))


DISCRETE = "Expected a DiscreteSystem. Write discretise(system, midpoint_map) first."
NODE = "A symmetry is a vector field in the coordinates and the parameters of the system, without slots and velocities: x, m."


@table(
    ("a system", lambda: momentum_map(SPRING, {x: 1}), f"momentum_map: got {SPRING!r} (System). {DISCRETE}"),
    ("no system", lambda: momentum_map(3, {x: 1}), "momentum_map: got 3 (int). Expected a DiscreteSystem."),
    (
        "a nonholonomic system",
        lambda: nonholonomic_momentum(SPRING, {x: 1}),
        f"nonholonomic_momentum: got {SPRING!r} (System). {DISCRETE}",
    ),
    (
        "the order of a system",
        lambda: order_of(SPRING, start=START, parameters=ONE),
        f"order_of: got {SPRING!r} (System). Expected a DiscreteSystem, such as discretise(system, Midpoint()).",
    ),
    (
        "the order of other coordinates",
        lambda: order_of(ROOT, start=START, system=da.System("y", [y], kinetic=y.dot**2)),
        "order_of: 'root' has constraints, forces or other coordinates than 'y'. Give a discrete system whose motion L_d "
        "alone determines.",
    ),
    (
        "along no run",
        lambda: MOMENTUM.along(3),
        "momentum_map: got 3 (int). Expected a run of 'spring, Midpoint', by simulate(...).",
    ),
    (
        "nonholonomic along no run",
        lambda: nonholonomic_momentum(STEPS, {x: 1}).residual(3),
        "nonholonomic_momentum: got 3 (int). Expected a run of 'spring, Midpoint', by simulate(...).",
    ),
    (
        "a name",
        lambda: momentum_map(STEPS, {"x": 1}),
        "generator: got the text 'x'. Use the coordinate itself: {x: expression}.",
    ),
    ("a slot", lambda: momentum_map(STEPS, {x: x0}), f"generator: x.at(0) contains x.at(0). {NODE}"),
    ("a velocity", lambda: nonholonomic_momentum(STEPS, {x: x.dot}), f"section: x.dot contains x.dot. {NODE}"),
    (
        "a section that is a number",
        lambda: nonholonomic_momentum(STEPS, 3),
        "section: got 3. Expected section={x: ...}, or section=[c_1, ...] with generators=[{x: 1}, ...].",
    ),
    (
        "nothing",
        lambda: linear_recurrence(float("nan"), 1),
        "linear_recurrence: A = nan. Expected a real number, or an expression of real symbols.",
    ),
    (
        "an imaginary number",
        lambda: linear_recurrence(1, 1j),
        "linear_recurrence: B = 1.0*I. Expected a real number, or an expression of real symbols.",
    ),
    (
        "an index that is text",
        lambda: RECURRENCE("a", q0=1, q1=2),
        "linear_recurrence: k = 'a' is not a number. Give a number, or an array of them.",
    ),
    (
        "an index between two",
        lambda: RECURRENCE(1.5, q0=1, q1=2),
        "linear_recurrence: k = 1.5. The index is a whole number, or an array of whole numbers.",
    ),
    (
        "an index before the first",
        lambda: linear_recurrence(0.5, 0)(-1, q0=1, q1=2),
        "linear_recurrence: k = -1.0. With B = 0 there is no term before q0: give an index from 0.",
    ),
    (
        "the energy of a number",
        lambda: da.energy_report(3),
        "energy_report: got 3. Expected a run: energy_report(simulate(...)).",
    ),
    (
        "a first term that is text",
        lambda: RECURRENCE(3, q0="b", q1=2),
        "linear_recurrence: q0 = 'b' is not a number. Give a number, or an array of them.",
    ),
)  # fmt: skip
def test_models(call, message):
    assert told(da.ModelError, call) == message
