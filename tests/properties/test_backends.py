"""Kernels write the code of one lane; how lanes are walked, and for what machine, is up to the back end."""

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import dalembert as da
from dalembert.engine.arguments import Lanes
from dalembert.engine.backends import llvm
from dalembert.engine.machine import BACKENDS, CPU
from dalembert.engine.run_options import Extent
from dalembert.methods.stepping import Stepping
from dalembert.run.plan import Plan
from dalembert.waist.derived_steps import variational
from dalembert.waist.matrix_block import MatrixBlock

EXAMPLE = da.gallery.load("double-pendulum")
ANGLES = np.linspace(0.3, 2.5, 5)


class Backward(llvm.LLVMEmitter):
    """Walks lanes from the last to the first."""

    @contextmanager
    def lanes(self, first, last):
        with self.loop(first, last) as i:
            turns = self.integer_arithmetic("sub", i, first)
            yield self.integer_arithmetic("sub", self.integer_arithmetic("sub", last, 1), turns)


class Shared(llvm.LLVMEmitter):
    """The control: every turn is at the first lane."""

    @contextmanager
    def lanes(self, first, last):
        with self.loop(first, last):
            yield first


def ends(method, device, monkeypatch, emitter=None):
    """The states of five lanes after twenty steps."""
    if emitter is not None:
        other = SimpleNamespace(**{**vars(llvm), "emitter": emitter})
        monkeypatch.setitem(BACKENDS, device, other)
    system = EXAMPLE.system
    values = {p.name: np.array(float(v)) for p, v in EXAMPLE.parameters.items()}
    plan = Plan(system, method, Extent(0.0, EXAMPLE.h, 0, 20), values, len(ANGLES), device=device)
    stepper = plan.stepper()
    start = {**EXAMPLE.start, system.coordinates[0]: ANGLES}
    carry = da.simulate(system, method, h=EXAMPLE.h, steps=0, parameters=EXAMPLE.parameters, start=start).carry
    lanes = Lanes.begun(carry.copy(), plan.rows)
    stepper.advance(lanes, np.empty((len(ANGLES), 21, stepper.width)), plan.extent, closing=True)
    return lanes.carry


@pytest.mark.parametrize("method", [da.Midpoint(), da.RungeKutta4()], ids=repr)
def test_a_back_end_decides_how_lanes_are_walked(method, monkeypatch):
    here = ends(method, CPU, monkeypatch)
    assert np.array_equal(here, ends(method, "backward", monkeypatch, Backward))
    assert not np.array_equal(here, ends(method, "shared", monkeypatch, Shared))


def test_the_matrix_of_tangents_has_the_places_of_the_block():
    """So one way of eliminating serves both."""
    step = Stepping(EXAMPLE.system, da.Midpoint()).step_map()
    tangents = next(b for b in variational(step).blocks if isinstance(b, MatrixBlock) and b.matrix)
    assert tangents.partials == step.blocks[0].partials
    zero = tangents.sources[0][0] * 0
    without = replace(tangents, matrix=((tangents.matrix[0][0], zero), tangents.matrix[1]))
    assert list(without.partials) == [(0, 0), (1, 0), (1, 1)]
