"""The solution of a step is the one that continues the motion: it is reached when h grows from zero."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import Status, cos
from dalembert.engine import newton

x = da.coordinates("x")
k = da.parameters("k")
LANES, STEPS, H = 40, 25, 1.0


def slope(name, q, strength):
    """dV/dx of the two potentials below."""
    return strength * np.sin(q) if name == "pendulum" else strength * q * (q**2 - 1)


def system(name, gauge=0.0):
    """A gauge leaves the motion as it is and makes other code."""
    potential = -k * cos(x) if name == "pendulum" else k * (x**2 - 1) ** 2 / 4
    return da.System(name, [x], lagrangian=x.dot**2 / 2 - potential + gauge * x.dot)


def branch(name, q, p, strength):
    """The step velocity of the midpoint rule, continued from h = 0, where it is p, by tiny strides; NaN if it ends before."""
    V, strides = p.copy(), 20_000
    for s in np.linspace(0, H, strides + 1)[1:]:
        before = V.copy()
        for _ in range(4):
            shift = 1e-6
            f = V + s / 2 * slope(name, q + s * V / 2, strength) - p
            up = V + shift + s / 2 * slope(name, q + s * (V + shift) / 2, strength) - p
            V = V - f * shift / (up - f)
        V = np.where(np.abs(V - before) < 0.02 * (1 + np.abs(before)), V, np.nan)
    return V


def on_the_branch(name, run, strength):
    """Of all steps that were made, and of the one at which a lane ended: whether it is the continued one, or there is none."""
    q, p = run.x[:, :-1], run[x.momentum][:, :-1]
    made = np.arange(STEPS) < run.codes[:, 1:2]
    tried = np.arange(STEPS) == run.codes[:, 1:2]
    right = branch(name, q, p, np.broadcast_to(strength[:, None], q.shape))
    found = np.diff(run.x, axis=1) / H
    same = np.abs(found - right) < 1e-5 * (1 + np.abs(right))
    return same[made], np.isnan(right[tried])


def run_of(name, gauge=0.0):
    rng = np.random.default_rng(5)
    strength = rng.uniform(2.0, 30.0, LANES)
    start = {x: rng.uniform(-2.0, 2.0, LANES), x.dot: rng.uniform(-2.0, 2.0, LANES)}
    made = system(name, gauge)
    run = da.simulate(made, da.Midpoint(), h=H, steps=STEPS, start=start, parameters={k: strength}, strict=False)
    return run, strength


@pytest.mark.slow
@pytest.mark.parametrize(("name", "share"), [("pendulum", 0.993), ("two wells", 0.98)])
def test_steps_as_long_as_a_period_stay_on_the_branch(name, share):
    """Without a look at the step from the last solution 0.985 of the steps of the pendulum do."""
    run, strength = run_of(name)
    same, ends = on_the_branch(name, run, strength)
    assert same.mean() > share
    assert ends.all()  # a lane that ends does so where the branch ends
    assert {*run.status} <= {Status.CONVERGED, Status.OTHER_BRANCH, Status.NO_SOLUTION}
    assert len(same) > 800


@pytest.mark.parametrize("name", ["pendulum", "two wells"])
def test_control_without_the_check_they_do_not(name, monkeypatch):
    class Unchecked(newton.Continuation):
        def __init__(self, *given):
            super().__init__(*given)
            self.depends = False

    monkeypatch.setattr(newton, "Continuation", Unchecked)
    monkeypatch.setenv("DALEMBERT_CACHE", "")
    run, strength = run_of(name, gauge=0.0625)
    same, _ = on_the_branch(name, _without_gauge(run), strength)
    assert same.mean() < 0.9


def _without_gauge(run):
    run.__dict__["_momenta"] = run.table("momentum") - 0.0625
    return run


@pytest.mark.parametrize("name", ["pendulum", "two wells"])
def test_short_steps_are_not_in_doubt(name):
    start = {x: 0.9, x.dot: 0.3}
    run = da.simulate(system(name), da.Midpoint(), h=0.1, steps=500, start=start, parameters={k: 1.0})
    assert run.iterations < 1.3
