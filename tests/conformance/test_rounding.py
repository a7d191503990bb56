"""Rounding is unbiased: errors of conserved quantities grow like a random walk, not in proportion to the number of steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.symbolic import fast

from .methods import METHODS

pytestmark = pytest.mark.usefixtures("optimised")
EPS = float(np.finfo(float).eps)
STEPS, LANES = 100_000, 8

x, y = da.coordinates("x y")
r2 = x**2 + y**2
SPRING = da.System("stiffening spring", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, potential=r2 / 2 + r2**2 / 4)
"""Invariant under rotations, in Cartesian coordinates: angular momentum is a quadratic integral."""


def starts(lanes=LANES, seed=1):
    rng = np.random.default_rng(seed)
    angle, r = rng.uniform(0, 2 * np.pi, lanes), rng.uniform(0.9, 1.1, lanes)
    v = rng.uniform(0.9, 1.3, lanes) * rng.choice([-1, 1], lanes)
    return {x: r * np.cos(angle), y: r * np.sin(angle), x.dot: -v * np.sin(angle), y.dot: v * np.cos(angle)}


def worst_angular_momentum(method, h=0.01, steps=STEPS):
    """The largest relative change over all lanes, in units of the square root of the number of steps times epsilon."""
    run = da.simulate(SPRING, method, h=h, steps=steps, every=steps // 10, start=starts())
    X, Y, PX, PY = (run[s].astype(np.longdouble) for s in (x, y, x.momentum, y.momentum))
    L = X * PY - Y * PX
    return float(np.abs(L / L[:, :1] - 1).max() / (EPS * np.sqrt(steps)))


KEEPING = [m for m in METHODS if m.momentum and m.takes(SPRING)]


@pytest.mark.parametrize("method", KEEPING, ids=repr)
def test_angular_momentum(method):
    """h = 0.01 and its reciprocal are no binary fractions. A random walk of whole units in the last place would give 1."""
    assert worst_angular_momentum(method) < 0.3


@pytest.mark.parametrize("h", [0.01, 0.007, 1 / 96, 2**-7, 0.0123456])
def test_angular_momentum_for_all_steps(h):
    for method in (da.StormerVerlet(), da.Composition(da.Midpoint(), order=4), da.Galerkin(2), da.Gauss(2)):
        assert worst_angular_momentum(method, h) < 0.3, method


@pytest.mark.parametrize("h", [0.05, 0.1, 1 / 30])
@pytest.mark.parametrize("method", [da.StormerVerlet(), da.LeftPoint(), da.Trapezoidal()], ids=repr)
def test_no_bias_where_steps_are_short_fractions(method, h):
    """The errors of a million steps are a random walk of h units: what is rounded is a change of size h."""
    assert worst_angular_momentum(method, h, 10 * STEPS) < 2 * h


@pytest.mark.parametrize("h", [0.05, 0.02])
@pytest.mark.parametrize("method", [da.Midpoint(), da.Galerkin(2), da.Gauss(2)], ids=repr)
def test_no_bias_of_implicit_methods(method, h):
    """A search adds rounding errors of its own; a bias of a twentieth of a unit per change would give 2.5 with h = 0.05."""
    assert worst_angular_momentum(method, h, 5 * STEPS) < 0.25


@pytest.mark.parametrize("h", [0.05, 0.0512345, 0.01])
@pytest.mark.parametrize("method", [da.Midpoint(), da.Trapezoidal()], ids=repr)
def test_a_disk_that_rolls_far(method, h):
    """Its angle grows, so that the last place of it is coarse; energy is kept to rounding all the same."""
    example = da.gallery.load("rolling-disk")
    run = da.simulate(example.system, method, h=h, steps=20_000, start=example.start, parameters=example.parameters)
    assert np.abs(run.energy / run.energy[0] - 1).max() < EPS * np.sqrt(20_000)


def test_decimals_in_the_potential():
    """Coefficients that are no binary fractions meet weights that are none."""
    system = da.System(
        "decimals", [x, y], kinetic=0.3 * (x.dot**2 + y.dot**2), potential=0.7 * r2 + 0.1 * r2**2 + 0.9 * r2**3 / 7
    )
    for method in (da.Gauss(3), da.Lobatto(3), da.Galerkin(3), da.StormerVerlet()):
        run = da.simulate(system, method, h=0.01, steps=STEPS, every=STEPS, start=starts())
        L = run.x * run[y.momentum] - run.y * run[x.momentum]
        assert np.abs(L[:, -1] / L[:, 0] - 1).max() < 0.3 * EPS * np.sqrt(STEPS), method


class Simpson(da.VariationalMethod):
    """A rule of one's own: Simpson's quadrature with the step velocity."""

    order = 2

    def discrete_lagrangian(self, L, q0, q1, t, h):
        v = (q1 - q0) / h
        return h / 6 * (L(q0, v, t) + 4 * L((q0 + q1) / 2, v, t + h / 2) + L(q1, v, t + h))


class Uneven(da.StormerVerlet):
    """The control: momenta are multiplied by 1 + 2^-53 in every step."""

    def step_map(self, system):
        one, n = super().step_map(system), len(system.coordinates)
        factor = fast(1) + fast(2) ** -53
        return replace(one, update=(*one.update[:n], *(factor * u for u in one.update[n:])))


def test_a_method_of_ones_own():
    assert worst_angular_momentum(Simpson()) < 0.3


def test_control_a_bias_of_half_a_unit_is_noticed():
    assert worst_angular_momentum(Uneven()) > 10


def test_the_energy_of_a_sleigh():
    """Kept by the average vector field: to a few units in the last place over 1e5 steps."""
    example = da.gallery.load("chaplygin-sleigh")
    rng = np.random.default_rng(0)
    given = {s: v * rng.uniform(0.8, 1.2, LANES) for s, v in example.start.items()}
    run = da.simulate(
        example.system,
        da.DiscreteGradient(),
        h=0.01,
        steps=STEPS,
        every=STEPS,
        start=given,
        parameters=example.parameters,
    )
    assert np.abs(run.energy[:, -1] / run.energy[:, 0] - 1).max() < 0.02 * EPS * np.sqrt(STEPS)


def test_momenta_of_cyclic_coordinates_are_kept_exactly():
    """They are changed by adding nothing."""
    example = da.gallery.load("spherical-pendulum")
    for method in (da.Midpoint(), da.Galerkin(2), da.Composition(da.Trapezoidal(), order=4), da.Gauss(2)):
        run = da.simulate(
            example.system, method, h=0.02, steps=2000, start=example.start, parameters=example.parameters
        )
        assert (run["phi.momentum"] == run["phi.momentum"][0]).all()


def test_a_continued_run_has_what_rounding_left_over(tmp_path):
    """Bit for bit, in memory and from a file; without what is carried for the sums it is another motion."""
    given = starts()
    common = {"h": 0.01}
    whole = da.simulate(SPRING, da.StormerVerlet(), steps=3000, start=given, **common)
    first = da.simulate(SPRING, da.StormerVerlet(), steps=1000, start=given, **common)
    first.save(tmp_path / "first.nc")
    for earlier in (first, da.load(tmp_path / "first.nc")):
        second = da.simulate(SPRING, da.StormerVerlet(), steps=2000, start=earlier, **common)
        assert np.array_equal(second.records[:, 1:], whole.records[:, 1001:])
    bare = first.carry.copy()
    bare[:, 4:8] = 0
    other = da.simulate(SPRING, da.StormerVerlet(), steps=2000, start=replace(first, carry=bare), **common)
    assert not np.array_equal(other.records[:, -1], whole.records[:, -1])
