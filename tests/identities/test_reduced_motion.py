"""Reduced motion: `simulate(reduced, ...)` and `reconstruct` give the motion of the system, to the order of the method."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy

import dalembert as da

PLANAR = ("chaplygin-sleigh", "snakeboard", "two-wheeled-robot", pytest.param("roller-racer", marks=pytest.mark.slow))


@cache
def reduced(name):
    e = da.gallery.load(name)
    return e, da.reduce(e.system, da.Symmetry(e.action, elements=e.elements))


@cache
def exact(name):
    e, _ = reduced(name)
    return da.simulate(e.system, da.Reference(rtol=1e-12), h=0.1, until=2, start=e.start, parameters=e.parameters)


def error(name, method, h):
    """The largest difference between the motion that is reduced, computed and reconstructed and the motion of the system."""
    e, small = reduced(name)
    run = da.simulate(small, method, h=h, until=2, start=e.start, parameters=e.parameters)
    q = e.system.coordinates
    back = small.reconstruct(run, at={c: e.start[c] for c in q})
    skip = round(0.1 / h)
    return max(np.abs(back[c][::skip] - exact(name)[c]).max() for c in q)


@pytest.mark.parametrize("name", PLANAR)
def test_orders(name):
    """Reduced and reconstructed is unreduced: an error of order 2 with Midpoint, of order 4 with RungeKutta4."""
    coarse, fine = (error(name, da.Midpoint(), h) for h in (0.02, 0.01))
    assert 3.8 < coarse / fine < 4.2 and fine > 1e-8
    assert error(name, da.RungeKutta4(), 0.05) < min(fine / 10, 1e-5)


def test_a_rolling_disk_is_exact():
    """Its body velocities are constant, so that no error is left for the order to show; another roll is another motion."""
    assert error("rolling-disk", da.Midpoint(), 0.02) < 1e-11
    e, small = reduced("rolling-disk")
    assert small.kind == "Euler-Poincare-Suslov"
    q = e.system.coordinates
    other = {s: v for s, v in e.start.items() if s not in (q[0].dot, q[1].dot)}
    other[q[2].dot] = e.start[q[2].dot] * 1.001
    run = da.simulate(small, da.Midpoint(), h=0.02, until=2, start=other, parameters=e.parameters)
    back = small.reconstruct(run, at={c: e.start[c] for c in q})
    assert max(np.abs(back[c][::5] - exact("rolling-disk")[c]).max() for c in q) > 1e-4


def test_starts(tmp_path):
    """A start in body velocities is that of the state of the system; lanes have the bits of single runs; so do files."""
    e, small = reduced("chaplygin-sleigh")
    u, w, a = (small.velocities[g] for g in e.elements)
    x, y, phi = e.system.coordinates
    heading = 2.5  # the group element is far from the identity
    turned = {x: 3.0, y: -1.0, phi: heading, x.dot: -np.cos(heading), y.dot: -np.sin(heading), phi.dot: 0.1}
    options = {"h": 0.01, "until": 1, "parameters": e.parameters}
    of_state = da.simulate(small, da.Midpoint(), start=turned, **options)
    own = da.simulate(small, da.Midpoint(), start={u: -1.0, w: 0.0, a: 0.1}, **options)
    assert np.allclose(of_state[u], own[u], atol=1e-13) and np.allclose(of_state[a], own[a], atol=1e-13)
    assert (
        own.table("position").shape[-1] == 0 and own.table("momentum").shape[-1] == 3
    )  # nothing but the momentum is carried
    lanes = da.simulate(small, da.Midpoint(), start={u: np.array([-1.0, 0.5]), w: 0.0, a: 0.1}, **options)
    assert (lanes[u][0] == own[u]).all()
    own.save(tmp_path / "reduced.nc")
    again = da.load(tmp_path / "reduced.nc")
    assert (again[u] == own[u]).all() and again.system == own.system
    on = da.simulate(again.system, da.Midpoint(), h=0.01, steps=10, start=again, parameters=e.parameters)
    assert on.ok
    assert np.allclose(
        small.reconstruct(again, at={x: 0, y: 0, phi: 0})[x], small.reconstruct(own, at={x: 0, y: 0, phi: 0})[x]
    )


def test_momentum_of_a_free_body_in_space():
    """Without constraints the momentum Ad* mu in space is constant: Euler-Poincare, here for a body in the plane."""
    e = da.gallery.load("chaplygin-sleigh")
    free = da.reduce(e.system.replace(constraints=[]), da.Symmetry(e.action, elements=e.elements))
    run = da.simulate(free, da.Midpoint(), h=0.05, until=5, start=e.start, parameters=e.parameters)
    u = free.velocities[e.elements[0]]
    p = [run.quantity(d) for d in free.body_momentum]
    assert np.ptp(np.hypot(p[0], p[1])) < 1e-13  # the Casimir function of SE(2)
    assert np.ptp(run[u]) > 0.1


@pytest.mark.parametrize("name", ["chaplygin-sleigh", "two-wheeled-robot"])
def test_a_body_velocity_that_is_zero_costs_no_search(name):
    """The constraint xi_y = 0 is rounding noise in every step; it is no reason to doubt the solution and to continue to it."""
    e, small = reduced(name)
    run = da.simulate(small, da.Midpoint(), h=0.01, steps=200, start=e.start, parameters=e.parameters)
    still = run[small.velocities[e.elements[1]]]
    assert np.abs(still).max() < 1e-15 and np.any(still != 0), "noise, not zero"
    assert run.iterations < 3, "some thirty where steps are searched again"


@pytest.mark.parametrize("length", [1e-9, 1.0, 1e9])
def test_reconstruction_does_not_depend_on_the_unit_of_length(length):
    """A sledge of another size from the same place in its lengths: the group element is found to rounding."""
    x, y, phi = da.coordinates("x y phi")
    u, w, a = da.parameters("u w a")
    m, J = da.parameters("m J", positive=True)
    sledge = da.System(
        "sledge", [x, y, phi], kinetic=m * (x.dot**2 + y.dot**2) / 2 + J * phi.dot**2 / 2,
        constraints=[y.dot * da.cos(phi) - x.dot * da.sin(phi)],
    )  # fmt: skip
    turned = {x: x * da.cos(a) - y * da.sin(a) + u, y: x * da.sin(a) + y * da.cos(a) + w, phi: phi + a}
    small = da.reduce(sledge, da.Symmetry(turned, elements=[u, w, a]))
    place = {x: 0.3 * length, y: -0.7 * length, phi: 0.4}
    start = {**place, x.dot: length * np.cos(0.4), y.dot: length * np.sin(0.4), phi.dot: 0.5}
    run = da.simulate(small, da.Midpoint(), h=0.1, steps=20, start=start, parameters={m: 1, J: length**2})
    back = small.reconstruct(run, at=place)
    circle = {x: np.sin(0.4 + run.time / 2) - np.sin(0.4), y: np.cos(0.4) - np.cos(0.4 + run.time / 2)}
    for c, way in circle.items():
        assert np.abs(back[c] - place[c] - 2 * length * way).max() < 1e-4 * length
    assert [abs(float(back[c][0] - place[c])) <= 1e-15 * max(length, 1) for c in (x, y)] == [True, True]
    assert np.allclose(back.geometric, back.geometric[0], rtol=0, atol=1e-14 * length)


def test_the_kinetic_connection_of_a_group_that_moves_freely():
    """Horizontal velocities have no momentum along the group: xi = -(x x' + y^2 y') for this kinetic energy."""
    (g,) = da.parameters("g,")
    x, y, z = da.coordinates("x y z")
    along = z.dot + x * x.dot + y**2 * y.dot
    s = da.System("carried", [x, y, z], kinetic=x.dot**2 / 2 + y.dot**2 + along**2 / 2)
    reduced = da.reduce(s, da.Symmetry({z: z + g}, elements=[g]))
    assert reduced.lift == sympy.Matrix([[-x, -(y**2)]])
