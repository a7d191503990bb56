"""Compiled code is identified by structure: no name, whatever else it means, makes two expressions one."""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path

import numpy as np
import pytest
import symengine
import sympy

import dalembert as da
from dalembert.engine import machine
from dalembert.engine.machine import PointMap
from dalembert.model.coordinates import Coordinate, Entropy, Parameter
from dalembert.symbolic import fast, numpy_function
from dalembert.waist.stepmap import pointwise

from ..errors.tools import told


def attacks():
    sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))
    try:
        return importlib.import_module("attack_engine")
    finally:
        sys.path.pop(0)


def value(expression, names, numbers, parameters=()):
    """A compiled value, with the first names as inputs."""
    inputs = [n for n in names if n not in parameters]
    made = PointMap(pointwise("test", inputs, parameters, {"y": expression}))
    at = dict(zip(names, numbers, strict=True))
    rows = np.array([[at[p] for p in parameters]]).reshape(1, -1)
    return float(made(np.array([[at[n] for n in inputs]]).reshape(1, -1), rows)[0][0, 0])


CONSTANTS = {
    "pi": symengine.pi,
    "E": symengine.E,
    "EulerGamma": symengine.EulerGamma,
    "GoldenRatio": symengine.GoldenRatio,
}


@pytest.mark.parametrize("fresh", [False, True], ids=["in memory", "on disk"])
@pytest.mark.parametrize("name", CONSTANTS)
def test_a_parameter_is_not_the_constant_of_its_name(name, fresh, tmp_path, monkeypatch):
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    machine._function.cache_clear()
    constant = value(CONSTANTS[name] * fast("x"), ["x", name], [1.0, 2.0], (name,))
    if fresh:
        machine._function.cache_clear()
    parameter = value(fast(name) * fast("x"), ["x", name], [1.0, 2.0], (name,))
    assert parameter == 2.0
    assert constant == pytest.approx(float(CONSTANTS[name].n()), rel=1e-15)


def test_a_run_with_a_parameter_called_pi():
    """The mechanism as a person meets it: twice the same Lagrangian as printed, with the number and with a parameter."""
    x, p = da.coordinates("x"), da.parameters("pi")
    common = {"h": 0.01, "steps": 10, "start": {x: 1.0, x.dot: 0.0}}
    number = da.System("number", [x], kinetic=x.dot**2 / 2, potential=sympy.pi * x**2 / 2 + p)
    letter = da.System("letter", [x], kinetic=x.dot**2 / 2, potential=p * x**2 / 2 + p)
    first = da.simulate(number, da.Midpoint(), parameters={p: 9.0}, **common)
    second = da.simulate(letter, da.Midpoint(), parameters={p: 9.0}, **common)
    third = da.simulate(letter, da.Midpoint(), parameters={p: math.pi}, **common)
    assert np.allclose(first.x, third.x, rtol=1e-14)
    assert abs(second.x[-1] - first.x[-1]) > 0.01


NAMES = (
    "x0", "x1", "a b", "a.b", "θ", "", "1", "sin", "Abs", "lambda", "I", "oo", "zoo", "nan", "0x1p-1", "x + y", "mul(a, b)",
    "multiplier.1", "'", "v1",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_mean_nothing_to_compiled_code(name):
    """Below the model every text is a name."""
    s, y = fast(name), fast("y!")
    expression = symengine.sin(s) * y + symengine.Abs(s) + symengine.pi * s**2 + (y + s) ** 3 + y * s
    found = value(expression, [name, "y!"], [0.3, 0.7], ("y!",))
    expected = math.sin(0.3) * 0.7 + 0.3 + math.pi * 0.09 + 1.0 + 0.21
    assert found == pytest.approx(expected, rel=1e-14)


def test_what_prints_alike_is_told_apart():
    pairs = [
        (symengine.Symbol("1") * fast("x"), fast("x")),
        (symengine.Symbol("x*y"), fast("x") * fast("y")),
        (symengine.RealDouble(0.1) * fast("x"), symengine.RealDouble(math.nextafter(0.1, 1)) * fast("x")),
        (symengine.Dummy("x"), fast("x")),
        (symengine.Dummy("x"), symengine.Dummy("x")),
        (symengine.Integer(1) * fast("x"), symengine.RealDouble(1.0) * fast("x")),
        (symengine.function_symbol("sin", fast("x")), symengine.sin(fast("x"))),
        (fast("x") - fast("y"), fast("y") - fast("x")),
        (symengine.atan2(fast("x"), fast("y")), symengine.atan2(fast("y"), fast("x"))),
    ]
    from dalembert.engine.identity import Digests

    for a, b in pairs:
        assert Digests("test").of(a) != Digests("test").of(b), (a, b)


def test_the_order_in_which_a_sum_was_made_does_not_matter():
    from dalembert.engine.identity import Digests

    terms = [symengine.cos(k * fast("x")) for k in range(50)]
    forward, backward = symengine.Add(*terms), symengine.Add(*terms[::-1])
    assert Digests("test").of(forward) == Digests("test").of(backward)


@pytest.mark.parametrize(
    "name", ["", "1", "a b", "a.b", "x.dot", "step.h", "t", "θ", "multiplier.1", "number.1", "kink.0"]
)
@pytest.mark.parametrize("kind", [Coordinate, Parameter, Entropy])
def test_names_made_behind_the_makers_are_refused_in_words(kind, name):
    made, x = kind(name), da.coordinates("x")

    def system():
        if kind is Coordinate:
            return da.System("s", [made], kinetic=made.dot**2 / 2, potential=made**2)
        if kind is Parameter:
            return da.System("s", [x], kinetic=x.dot**2 / 2, potential=made * x**2)
        return da.System("s", [x], kinetic=x.dot**2 / 2, entropies=[made], internal_energy=sympy.exp(made))

    assert "name" in told(da.ModelError, system)


def test_a_parameter_and_an_entropy_of_one_name_are_refused():
    x, S, p = da.coordinates("x"), da.entropies("S"), da.parameters("S")
    message = told(
        da.ModelError,
        lambda: da.System(
            "s", [x], kinetic=p * x.dot**2 / 2, entropies=[S], internal_energy=sympy.exp(S), friction={x: -x.dot}
        ),
    )
    assert "S is used" in message


def test_two_coordinates_of_one_name_are_refused():
    a, b = Coordinate("x"), Coordinate("x", positive=True)
    assert "occurs twice" in told(da.ModelError, lambda: da.System("s", [a, b], kinetic=a.dot**2 + b**2))


@pytest.mark.parametrize("name", ["pi", "E", "sin", "lambda", "x0", "numpy", "array"])
def test_functions_that_sympy_writes(name):
    """SymPy prints a symbol called pi, or sin, like the constant or the function."""
    s, y = da.parameters(name), da.coordinates("y")
    expression = sympy.pi * s + sympy.sin(s) + sympy.E + sympy.cos(y + s) + (y + s) ** 2
    for cse in (False, True):
        found = numpy_function((s, y), expression, cse=cse)(0.25, 0.5)
        assert found == pytest.approx(math.pi / 4 + math.sin(0.25) + math.e + math.cos(0.75) + 0.5625, rel=1e-14)


def test_a_transformation_with_a_parameter_called_pi():
    x, u, p = da.coordinates("x"), da.coordinates("u"), da.parameters("pi", positive=True)
    system = da.System("s", [x], kinetic=x.dot**2 / 2, potential=p * x**2 / 2)
    assert da.change_coordinates(system, {x: u + p + sympy.pi}).covariance_defect < 1e-12


def test_texts_are_not_evaluated():
    x, g = da.coordinates("x"), da.parameters("g")
    system = da.System("s", [x], kinetic=x.dot**2 / 2, potential=g * x**2 / 2)
    assert "'pi'" in told(da.ModelError, lambda: da.linearise(system, about={x: "pi"}))


@pytest.mark.slow
def test_generated_names():
    found = attacks().odd_names(40, 7)
    assert found["tried"] == 40 and found["refused"] and not found["wrong"] + found["crashed"] + found["hung"]


@pytest.mark.slow
def test_generated_faults_of_the_cache_and_arrays():
    for attack in (attacks().cache_faults, attacks().odd_arrays):
        found = attack(60, 7)
        assert found["tried"] == 60 and found["refused"] and not found["wrong"] + found["crashed"] + found["hung"]
