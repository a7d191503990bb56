"""Every gallery system with decimals in place of its parameters gives the answers of the one with fractions."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import pytest
import sympy

import dalembert as da
from dalembert.decide.decimals import exact, stated

PATH = Path(__file__).parents[2] / "benchmarks" / "decimals.py"
spec = importlib.util.spec_from_file_location("benchmark_of_decimals", PATH)
benchmark = importlib.util.module_from_spec(spec)
spec.loader.exec_module(benchmark)


def pair(name):
    example = da.gallery.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = ("decimals", "fractions")
        return [benchmark.substituted(example.system, benchmark.numbers(example, kind)) for kind in kinds]


@pytest.mark.parametrize("name", da.gallery.names())
def test_gallery_systems_with_decimals(name):
    typed, fraction = pair(name)
    assert all(map(benchmark.same, typed.expressions(), fraction.expressions()))
    assert not any(e.has(sympy.Float) for e in typed.expressions())
    assert typed.typed.decimals or not da.gallery.load(name).parameters
    for question in ("classify", "energy"):
        one, two = (benchmark.answered(s, question) for s in (typed, fraction))
        assert benchmark.same(one, two), question


QUICK = ("pendulum", "spherical-pendulum", "nonholonomic-particle", "knife-edge", "bead-on-rotating-hoop", "kepler")


@pytest.mark.parametrize("question", benchmark.QUESTIONS)
@pytest.mark.parametrize("name", QUICK)
def test_answers_with_decimals(name, question):
    one, two = (benchmark.answered(s, question) for s in pair(name))
    assert benchmark.same(one, two)


def test_the_comparison_sees_rounding():
    """The control: with the shortest decimals of what SymPy multiplies, the system is another one, by its last bits."""
    assert pair("double-pendulum")[0] == pair("double-pendulum")[1]
    example = da.gallery.load("double-pendulum")
    values = benchmark.numbers(example, "decimals")
    folded = example.system.lagrangian.xreplace(values)
    fraction = example.system.lagrangian.xreplace({p: exact(v) for p, v in values.items()})
    assert sympy.expand(stated(folded) - fraction) == 0
    assert sympy.expand(exact(folded) - fraction) != 0
