"""What a person reads who asks for an impossible run: step, length, method. Every message, word for word."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import MethodError, ModelError, StartError, sqrt
from dalembert.discrete.serial import dumps, loads
from dalembert.methods import REGISTRY
from dalembert.methods.method_table import probes
from dalembert.run.plan import check_method
from dalembert.symbolic import fast
from dalembert.waist.stepmap import Block, StepMap

from .tools import table, told

x, y = da.coordinates("x y")
m, k = da.parameters("m k", positive=True)
SPRING = da.System("spring", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2)
STEPS = da.DiscreteSystem("steps", [x], lagrangian=(x.at(1) - x.at(0)) ** 2 / (2 * da.step))


def spring(*method, **given):
    given = {"h": 0.1, "parameters": {m: 1, k: 1}, "start": {x: 1, x.dot: 0}, **given}
    if "until" not in given and "steps" not in given:
        given["steps"] = 2
    return da.simulate(SPRING, *(method or (da.Midpoint(),)), **given)


def test_a_sound_run_is_accepted():
    assert spring().ok
    assert spring(steps=0).ok
    assert spring(until=0).ok
    assert spring(steps=np.int32(2), every=np.int64(2), h=sympy.Rational(1, 10)).ok


POSITIVE = "the step is a positive number. One step backward is flow(..., backward=True)."


@table(
    ("no step", lambda: spring(h=0), f"h = 0: {POSITIVE}"),
    ("a step backward", lambda: spring(h=-0.1), f"h = -0.1: {POSITIVE}"),
    ("a step that is no number", lambda: spring(h=float("nan")), f"h = nan: {POSITIVE}"),
    ("an infinite step", lambda: spring(h=float("inf")), f"h = inf: {POSITIVE}"),
    ("nothing for a step", lambda: spring(h=None), f"h = None: {POSITIVE}"),
    ("a word for a step", lambda: spring(h="small"), f"h = 'small': {POSITIVE}"),
    ("a symbol for a step", lambda: spring(h=m), f"h = m: {POSITIVE}"),
    ("a step per lane", lambda: spring(h=np.array([0.1, 0.2])), f"h = array([0.1, 0.2]): {POSITIVE}"),
    (
        "neither until nor steps",
        lambda: spring(steps=None),
        "give either until= (a time) or steps= (a number), one of the two.",
    ),
    (
        "both until and steps",
        lambda: spring(until=1, steps=10),
        "give either until= (a time) or steps= (a number), one of the two.",
    ),
    (
        "until before the start",
        lambda: spring(until=1, start={x: 1, x.dot: 0, da.time: 2.5}),
        "until = 1 lies before the start at t = 2.5. Give a later time, or another start time.",
    ),
    ("a negative number of steps", lambda: spring(steps=-1), "steps = -1: give a whole number from 0."),
    ("steps as a text", lambda: spring(steps="3"), "steps = '3': give a whole number from 0."),
    (
        "an end as a text",
        lambda: spring(until="3"),
        "until = '3': give a time, one number, that so many steps can reach.",
    ),
    ("half a step", lambda: spring(steps=2.5), "steps = 2.5: give a whole number from 0."),
    (
        "every 0 steps",
        lambda: spring(every=0),
        "every = 0: record every so many steps; give a whole number from 1.",
    ),
    (
        "every step and a half",
        lambda: spring(every=1.5),
        "every = 1.5: record every so many steps; give a whole number from 1.",
    ),
)
def test_steps(call, message):
    assert told(MethodError, call) == message


class Forgetful(da.VariationalMethod):
    def discrete_lagrangian(self, L, q0, q1, t, h):
        return h * L(q0, (q1 - q0) / h, t)


@table(
    (
        "the class of a method",
        lambda: spring(da.Midpoint),
        "simulate: Midpoint is a class. Write Midpoint(), with parentheses.",
    ),
    (
        "the name of a method",
        lambda: spring("midpoint"),
        "simulate: got the method 'midpoint'. Expected one such as Midpoint() or Reference().",
    ),
    (
        "no method",
        lambda: spring(None),
        "simulate: got the method None. Expected one such as Midpoint() or Reference().",
    ),
    (
        "a method that claims no order",
        lambda: spring(Forgetful()),
        "simulate: Forgetful claims no order. Write order = 2 (or what it is) in the class Forgetful.",
    ),
    (
        "a method for a discrete system",
        lambda: da.simulate(STEPS, da.Midpoint(), h=0.1, steps=2, start={x: 0, x.momentum: 1}),
        "'steps' is a discrete system: its discrete Lagrangian is the method. Leave out Midpoint().",
    ),
    (
        "no system",
        lambda: da.simulate("spring", da.Midpoint(), h=0.1, steps=2, start={}),
        "simulate: got 'spring' (str). Expected a System or a DiscreteSystem.",
    ),
    (
        "the reference as a step map",
        lambda: da.Reference().step_map(SPRING),
        "Reference() is adaptive: it has no step map. Use a method with a fixed step, such as Midpoint().",
    ),
    (
        "a tolerance of 0",
        lambda: da.Reference(rtol=0),
        "Reference: rtol = 0: tolerances are positive numbers, such as 1e-10.",
    ),
    (
        "a tolerance that is no number",
        lambda: da.Reference(atol=float("nan")),
        "Reference: atol = nan: tolerances are positive numbers, such as 1e-10.",
    ),
    (
        "another solver",
        lambda: da.Reference(solver="RK45"),
        "Reference(solver='RK45'): the solvers are 'Taylor', 'DOP853' and, for stiff systems, 'Radau'.",
    ),
)
def test_methods(call, message):
    assert told(MethodError, call) == message


def verlet(*coordinates, **given):
    return da.simulate(da.System("it", coordinates, **given), da.StormerVerlet(), h=0.1, steps=2, start={})


INSTEAD = "Use Midpoint() or Gauss(2)."


@table(
    (
        "a constraint",
        lambda: verlet(x, y, kinetic=x.dot**2 + y.dot**2, constraints=[x - y]),
        "StormerVerlet does not apply to 'it': it has constraints, and the explicit step cannot satisfy them. "
        "Use Midpoint() or Lobatto(3).",
    ),
    (
        "a mass that depends on position",
        lambda: verlet(x, kinetic=(1 + x**2) * x.dot**2),
        f"StormerVerlet does not apply to 'it': its mass matrix is not constant. {INSTEAD}",
    ),
    (
        "a mass that depends on time",
        lambda: verlet(x, kinetic=(1 + da.time**2) * x.dot**2),
        f"StormerVerlet does not apply to 'it': its mass matrix is not constant. {INSTEAD}",
    ),
    (
        "a mass that depends on velocity",
        lambda: verlet(x, lagrangian=-sqrt(1 - x.dot**2)),
        f"StormerVerlet does not apply to 'it': its mass matrix is not constant. {INSTEAD}",
    ),
    (
        "a magnetic field",
        lambda: verlet(x, y, kinetic=x.dot**2 + y.dot**2, potential=x * y.dot),
        f"StormerVerlet does not apply to 'it': its potential depends on velocities. {INSTEAD}",
    ),
    (
        "friction",
        lambda: verlet(x, kinetic=x.dot**2, dissipation=x.dot**2),
        f"StormerVerlet does not apply to 'it': a force depends on velocities. {INSTEAD}",
    ),
    (
        "a force that depends on velocity",
        lambda: verlet(x, kinetic=x.dot**2, forces={x: -x.dot}),
        f"StormerVerlet does not apply to 'it': a force depends on velocities. {INSTEAD}",
    ),
)
def test_stormer_verlet_is_for_separable_systems(call, message):
    assert told(MethodError, call) == message


FREE = da.System("free", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2)
ROD = da.System("rod", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[x**2 + y**2 - 1])
SKATE = da.System("skate", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[x.dot - y * y.dot])
CONE = da.System("cone", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, constraints=[x.dot**2 + y.dot**2 - 1])


INTERIOR = "it has constraints, which would have to hold at the interior points of the step too."


@table(
    (
        "Midpoint, a constraint quadratic in velocities",
        lambda: da.Midpoint().check(CONE),
        "Midpoint does not apply to 'cone': a constraint is nonlinear in the velocities. Use GeometricNonholonomic() or "
        "McLachlanPerlmutter().",
    ),
    (
        "DiscreteGradient, a constraint quadratic in velocities",
        lambda: da.DiscreteGradient().check(CONE),
        "DiscreteGradient does not apply to 'cone': a constraint is nonlinear in the velocities. "
        "Use GeometricNonholonomic() or McLachlanPerlmutter().",
    ),
    (
        "Gauss, kinematic constraints",
        lambda: da.Gauss().check(SKATE),
        "Gauss does not apply to 'skate': it has kinematic constraints. Use Midpoint() or GeometricNonholonomic().",
    ),
    (
        "Gauss, holonomic constraints",
        lambda: da.Gauss().check(ROD),
        "Gauss does not apply to 'rod': its stages do not include both ends of the step. Use Midpoint() or Lobatto(3).",
    ),
    (
        "Rattle, no constraints",
        lambda: da.Rattle().check(FREE),
        "Rattle does not apply to 'free': it has no constraints. Use StormerVerlet() or Midpoint().",
    ),
    (
        "Galerkin, constraints",
        lambda: da.Galerkin().check(ROD),
        f"Galerkin does not apply to 'rod': {INTERIOR} Use Midpoint() or Lobatto(3).",
    ),
    (
        "GeometricNonholonomic, holonomic constraints",
        lambda: da.GeometricNonholonomic().check(ROD),
        "GeometricNonholonomic does not apply to 'rod': it is for kinematic constraints only. "
        "Use Midpoint() or Lobatto(3).",
    ),
    (
        "McLachlanPerlmutter, no constraints",
        lambda: da.McLachlanPerlmutter().check(FREE),
        "McLachlanPerlmutter does not apply to 'free': it is for kinematic constraints only. "
        "Use StormerVerlet() or Midpoint().",
    ),
    (
        "Gauss of 5 stages",
        lambda: da.Gauss(5),
        "Gauss(5): the number of stages is 1, 2, 3 or 4; the order is twice that.",
    ),
    (
        "Lobatto of 1 stage",
        lambda: da.Lobatto(1),
        "Lobatto(1): the number of stages is 2, 3, 4 or 5; the order is 2s - 2.",
    ),
    (
        "Galerkin of degree 0",
        lambda: da.Galerkin(0),
        "Galerkin(0): the degree is 1, 2, 3 or 4; the order is twice that.",
    ),
    (
        "Galerkin with another quadrature",
        lambda: da.Galerkin(2, "simpson"),
        "Galerkin(2, 'simpson'): the quadrature is 'gauss' or 'lobatto'.",
    ),
    (
        "DiscreteGradient without nodes",
        lambda: da.DiscreteGradient(0),
        "DiscreteGradient(0): the number of quadrature nodes is a whole number from 1 to 8.",
    ),
    (
        "a basis of D for stages",
        lambda: da.NullSpace(da.Gauss(2)),
        "NullSpace(Gauss(2)): expected a method with a discrete Lagrangian, such as Midpoint() or Trapezoidal().",
    ),
    (
        "a composition of a method that is not symmetric",
        lambda: da.Composition(da.LeftPoint()),
        "Composition(LeftPoint()): only a symmetric method can be composed to a higher order, such as Midpoint(), "
        "Trapezoidal(), StormerVerlet(), Gauss(s) or Lobatto(s).",
    ),
    (
        "a composition of odd order",
        lambda: da.Composition(da.Midpoint(), order=5),
        "Composition: from order 2 to even orders above it, up to 8; not to order 5.",
    ),
    (
        "a composition by order and coefficients",
        lambda: da.Composition(da.Midpoint(), order=4, coefficients=[1]),
        "Composition: give either order= or coefficients=, not both.",
    ),
    (
        "a composition that does not add up",
        lambda: da.Composition(da.Midpoint(), coefficients=[0.5, 0.6]),
        "Composition: these coefficients reach order 0, not 2. They must add up to 1.",
    ),
    (
        "a composition whose order is a text",
        lambda: da.Composition(da.Midpoint(), order="4"),
        "Composition: order = '4' (str). Expected a whole number: 4, 6 or 8.",
    ),
    (
        "a composition with coefficients that are no numbers",
        lambda: da.Composition(da.Midpoint(), coefficients=[float("nan"), 1.0]),
        "Composition: coefficients = [nan, 1.0]. Expected numbers other than 0 that add up to 1, such as [0.5, 0.5].",
    ),
)
def test_methods_for_particular_systems(call, message):
    assert told(MethodError, call) == message


@pytest.mark.parametrize("name", [n for n in REGISTRY if n != "Reference"])
def test_what_is_suggested_instead_applies(name):
    """The names at the end of the sentence are methods that take the system."""
    for system in (*probes().values(), ROD, SKATE, CONE, FREE):
        if REGISTRY[name]().takes(system):
            continue
        said = told(MethodError, lambda system=system: check_method(system, REGISTRY[name]()))
        suggested = said.rsplit(" Use ", 1)[1].removesuffix(".").split(" or ")
        assert suggested
        assert all(eval(f"da.{text}").takes(system) for text in suggested)


def continued(changed):
    return (
        "start: a run is continued with its own system, method (not Reference), h, parameters, tolerance, "
        f"max_iterations, record and precision; here the {changed} cannot be continued with. "
        "To change it, start from a state: {x: run.x[-1], x.dot: run[x.dot][-1], ...}."
    )


def other():
    return da.System("other", [x], kinetic=m * x.dot**2 / 2, potential=k * x**2 / 2)


def failed():
    return spring(start={x: float("nan"), x.dot: 0}, strict=False)


@table(
    ("another h", lambda: spring(start=spring(), h=0.2), continued("h")),
    ("another method", lambda: spring(da.Trapezoidal(), start=spring()), continued("method")),
    ("other parameters", lambda: spring(start=spring(), parameters={m: 1, k: 2}), continued("parameters")),
    (
        "another system",
        lambda: da.simulate(other(), da.Midpoint(), h=0.1, steps=2, start=spring()),
        continued("system"),
    ),
    (
        "another method and another h",
        lambda: spring(da.LeftPoint(), start=spring(), h=0.3),
        continued("method, h"),
    ),
    ("a reference", lambda: spring(da.Reference(), start=spring(da.Reference())), continued("method")),
    (
        "a run that failed",
        lambda: spring(start=failed(), parameters=None),
        "start: the earlier run ended early, so there is nothing to continue from.",
    ),
)
def test_continuing_a_run(call, message):
    assert spring(start=spring()).ok
    assert told(StartError, call) == message


def test_continuing_to_a_time_that_has_passed():
    call = lambda: spring(start=spring(steps=10), until=0.5)  # noqa: E731
    assert told(MethodError, call) == (
        "until = 0.5 lies before the start at t = 1. Give a later time, or another start time."
    )


def stepmap(state=("x",), blocks=(), update=(1,)):
    return StepMap("mine", state, (), tuple(blocks), tuple(map(fast, update)))


@table(
    (
        "equations that do not match the unknowns",
        lambda: Block(("a", "b"), (fast(1),), (fast(0), fast(0))),
        "a block has 2 unknowns, 1 equations and 2 guesses; the three numbers must agree.",
    ),
    ("a state that is not updated", lambda: stepmap(("x", "y")), "mine: 2 state variables but 1 updates."),
    (
        "an update from nowhere",
        lambda: stepmap(update=[fast("x") + fast("u") * fast("v")]),
        "mine: the update uses u, v, which nothing determines.",
    ),
    (
        "a residual from nowhere",
        lambda: stepmap(blocks=[Block(("a",), (fast("a") - fast("b"),), (fast("x"),))]),
        "mine: the residual uses b, which nothing determines.",
    ),
    (
        "a guess that is what is sought",
        lambda: stepmap(blocks=[Block(("a",), (fast("a"),), (fast("a"),))]),
        "mine: the guess uses a, which nothing determines.",
    ),
)
def test_step_maps_of_ones_own(call, message):
    assert told(ValueError, call) == message


class Parabola(da.VariationalMethod):
    """One's own: a parabola through q0, a position in the middle of the step and q1, by Simpson's rule; order 4."""

    order, interior = 4, (sympy.Rational(1, 2),)

    def discrete_lagrangian(self, L, q0, q1, t, h, middle):
        begin, end = (4 * middle - 3 * q0 - q1) / h, (3 * q1 + q0 - 4 * middle) / h
        return h / 6 * (L(q0, begin, t) + 4 * L(middle, (q1 - q0) / h, t + h / 2) + L(q1, end, t + h))


class Careless(Parabola):
    """One that says itself that it takes everything."""

    symmetric = True

    def obstacle(self, system):
        return ""


class Rule:
    """A rule that is no method."""

    interior = (sympy.Rational(1, 2),)
    discrete_lagrangian = Parabola.discrete_lagrangian


@pytest.mark.parametrize("bound", ["holonomic", "kinematic"])
def test_interior_points_of_ones_own_are_refused_under_constraints(bound):
    """Reactions act at the nodes alone, so what is of order 4 on a free system would be of order 2 without a word."""
    system = ROD if bound == "holonomic" else ROD.replace(name="rod", constraints=[x.dot - x * y.dot])
    for method in (Parabola(), Careless(), da.Composition(Careless(), 6)):
        assert not method.takes(system) and method.takes(FREE)
        expected = f" does not apply to 'rod': {INTERIOR} Use "
        assert expected in told(MethodError, lambda method=method: method.check(system))
        assert expected in told(MethodError, lambda method=method: method.step_map(system))
    for method in (Parabola(), Careless()):
        assert expected in told(MethodError, lambda method=method: da.discretise(system, method))
    message = f"rod, Rule: {INTERIOR} Use a rule without them, such as Midpoint()."
    assert told(ModelError, lambda: da.discretise(system, Rule())) == message
    assert da.discretise(FREE, Rule()).interior == Rule.interior


def test_a_file_with_interior_points_and_constraints_is_refused():
    data = json.loads(dumps(da.discretise(ROD, da.Midpoint())))
    assert loads(json.dumps(data)).constraints
    data |= {"interior": [(0.5).hex()], "force_interior": [[0, 1]] * len(ROD.coordinates)}
    message = told(ModelError, lambda: loads(json.dumps(data)))
    assert message == f"rod, Midpoint: {INTERIOR} Use a rule without them, such as Midpoint()."


def test_ones_own_interior_points_are_taken_without_constraints():
    """The control: the same method on a free system has the order it claims."""
    swing = da.System("swing", [x], kinetic=x.dot**2 / 2, potential=-da.cos(x))

    def end(method, steps):
        return da.simulate(swing, method, h=1 / steps, steps=steps, start={x: 1, x.dot: 0.3}).x[-1]

    exact = end(da.DormandPrince8(), 200)
    errors = [abs(end(Parabola(), steps) - exact) for steps in (10, 20)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)
