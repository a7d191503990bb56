"""Every gallery system with decimals in place of its parameters gives the answers of the one with fractions."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import pytest
import sympy

import dalembert as da
from dalembert.decide.decimals import exact, stated
from dalembert.symbolic import fast, number
from dalembert.theory.motion import lagrange

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


def hanging(n, typed):
    """n pendulums, one below the other, and a state of them."""
    q = da.coordinates(" ".join(f"a{i}" for i in range(n)))
    pairs = [(i, j) for i in range(n) for j in range(n)]
    kinetic = sum((n - max(i, j)) * typed * sympy.cos(q[i] - q[j]) * q[i].dot * q[j].dot / 2 for i, j in pairs)
    potential = -sum((n - i) * typed * sympy.Rational(981, 100) * sympy.cos(q[i]) for i in range(n))
    state = {c: 0.3 * (-1) ** i + 0.1 * i for i, c in enumerate(q)}
    return da.System("hanging", q, kinetic=kinetic, potential=potential), state | {c.dot: 0.2 for c in q}


@pytest.mark.parametrize("typed", [sympy.Rational(123, 100), sympy.Float("1.23")], ids=str)
@pytest.mark.parametrize("n", [2, 4, 5])
def test_coupled_pendulums_are_solved_for_their_accelerations(n, typed):
    system, state = hanging(n, typed)
    solved = system.equations().solved
    there = da.evaluate(system, at=state)
    for q in system.coordinates:
        found = number(fast(solved[q.ddot]), {s.name: x for s, x in state.items()})
        assert found == pytest.approx(there.accelerations[q], rel=1e-9)


def test_what_is_too_long_is_refused_in_words(monkeypatch):
    monkeypatch.setattr(lagrange, "SECONDS", 0.5)
    with pytest.raises(da.ModelError, match=r"too long to be solved for their 9 unknowns .* read \.lagrange"):
        _ = hanging(9, sympy.S.One)[0].equations().solved
