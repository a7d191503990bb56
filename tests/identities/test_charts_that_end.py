"""A fixed step across a singular place of the chart is noticed; ordinary motions are not warned of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sympy import cos, sin

import dalembert as da
from dalembert.errors import ModelWarning

theta, phi, r, psi = da.coordinates("theta phi r psi")

SPHERE = da.System(
    "spherical pendulum", [theta, phi], kinetic=(theta.dot**2 + sin(theta) ** 2 * phi.dot**2) / 2, potential=-cos(theta)
)
A, C = 1, 2
TOP = da.System(
    "top",
    [psi, theta, phi],
    kinetic=A * (theta.dot**2 + psi.dot**2 * sin(theta) ** 2) / 2 + C * (phi.dot + psi.dot * cos(theta)) ** 2 / 2,
)
METHODS = [da.Midpoint(), da.RungeKutta4(), da.Gauss(2), da.Lobatto(3)]


def warned(system, method, start, h=0.01, steps=300, **options):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        da.simulate(system, method, h=h, steps=steps, start=start, strict=False, progress=False, **options)
    return [str(w.message) for w in seen if issubclass(w.category, ModelWarning)]


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("turning", [0.0, 1e-4])
def test_the_pole_of_a_sphere(method, turning):
    told = warned(SPHERE, method, {theta: 1, phi: 0, theta.dot: 0, phi.dot: turning})
    assert len(told) == 1
    assert "mass matrix is singular" in told[0]
    assert "does not determine phi" in told[0]
    assert "quaternion" in told[0]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_gimbal_lock_of_a_top(method):
    told = warned(TOP, method, {psi: 0, theta: 1.003, phi: 0, psi.dot: 1e-5, theta.dot: -1, phi.dot: 0})
    assert len(told) == 1
    assert "does not determine psi, phi" in told[0]


def test_lanes_are_named():
    start = {theta: 1, phi: 0, theta.dot: 0, phi.dot: np.array([1.0, 0.0])}
    assert "(lane 1)" in warned(SPHERE, da.Midpoint(), start)[0]


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("turning", [0.3, 1.0, 30.0])
def test_a_motion_that_passes_the_pole_at_a_distance_is_not_warned_of(method, turning):
    assert not warned(SPHERE, method, {theta: 1, phi: 0, theta.dot: 0, phi.dot: turning}, h=0.005, steps=600)


@pytest.mark.parametrize("name", da.gallery.names())
def test_nothing_of_the_gallery_is_warned_of(name):
    example = da.gallery.load(name)
    method = next(m for m in (da.Midpoint(), da.GeometricNonholonomic(), da.RungeKutta4()) if m.takes(example.system))
    assert not warned(example.system, method, example.start, steps=400, parameters=example.parameters)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_run_that_is_ok_has_velocities_at_every_node(method):
    """From theta = 1 the node at t = 1 is the pole itself, but for rounding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = da.simulate(
            TOP, method, h=0.01, steps=300, strict=False, progress=False,
            start={psi: 0, theta: 1, phi: 0, psi.dot: 1e-5, theta.dot: -1, phi.dot: 0},
        )  # fmt: skip
    assert not run.ok or np.isfinite(run.table("velocity")).all()
    if not run.ok:
        assert run.codes[0, 1] == 99
        assert np.isfinite(run.energy[:100]).all()
