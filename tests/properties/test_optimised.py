"""Optimising changes no bit: code compiled with little optimisation, as in the other tests, computes what users compute."""

from __future__ import annotations

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.engine import machine
from dalembert.run import plan, reference_solution

from ..conftest import FEW_STEPS

EVERYTHING, NOTHING = dict.fromkeys(FEW_STEPS, 10**9), dict.fromkeys(FEW_STEPS, 0)
"""From how many lines on code is compiled with little optimisation: none is, all is."""
METHODS = da.Midpoint(), da.RungeKutta4(), da.DiscreteGradient(), da.Reference()
CASES = [
    *((name, m) for name in ("double-pendulum", "rolling-disk") for m in METHODS),
    ("double-pendulum", da.Gauss(2)), ("double-pendulum", da.Composition(da.Midpoint(), 4)),
    ("double-pendulum-cartesian", da.Lobatto(3)), ("kepler", da.StormerVerlet()),
    ("spherical-pendulum", da.Galerkin(2)), ("heavy-top-in-fluid", da.Midpoint()), ("free-rigid-body", da.Midpoint()),
    pytest.param("free-rigid-body", da.Gauss(2), marks=pytest.mark.slow),
]  # fmt: skip


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """A function that makes runs with code of its own: nothing compiled before is used."""
    codes = []

    def compile_module(text, most):
        codes.append(original(text, most))
        return codes[-1]

    original = machine.llvm.compile_module
    monkeypatch.setattr(machine.llvm, "compile_module", compile_module)
    monkeypatch.setattr(machine, "_function", machine._function.__wrapped__)
    monkeypatch.setattr(plan, "_kept", lambda function, *given: function.__wrapped__(*given))

    def run(name, limits, method, factor=1.0):
        codes.clear()
        reference_solution.stepper_of.cache_clear()
        monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / f"{limits['run']}"))
        monkeypatch.setattr(machine, "LONG", limits)
        example = gallery.load(name)
        made = da.simulate(
            example.system, method, h=factor * example.h, steps=100, start=example.start, parameters=example.parameters
        )
        return made.table("position").tobytes() + made.table("velocity").tobytes(), b"".join(codes)

    return run


@pytest.mark.parametrize("name, method", CASES, ids=str)
def test_optimising_changes_no_bit(compiled, name, method):
    numbers, code = compiled(name, EVERYTHING, method)
    same, shorter = compiled(name, NOTHING, method)
    assert code and code != shorter, "nothing was compiled, or nothing was optimised"
    assert numbers == same


def test_control_one_bit_of_the_step_is_seen(compiled):
    numbers, _ = compiled("double-pendulum", NOTHING, da.Midpoint())
    others, _ = compiled("double-pendulum", NOTHING, da.Midpoint(), 1 + 2.0**-52)
    assert numbers != others
