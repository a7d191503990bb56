"""How many matrices a step takes, and that those saved are not missed."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sqrt
from dalembert.engine import machine, newton
from dalembert.engine.machine import PointMap
from dalembert.symbolic import fast
from dalembert.waist.stepmap import Block, pointwise

x, y = da.coordinates("x y")
a, b = da.coordinates("a b")
PLANE = (x.dot**2 + y.dot**2) / 2

KEPLER = da.System("Kepler", [x, y], kinetic=PLANE, potential=-1 / sqrt(x**2 + y**2))
GALAXY = da.System("Henon-Heiles", [x, y], kinetic=PLANE, potential=(x**2 + y**2) / 2 + x**2 * y - y**3 / 3)
ARMS = da.System(
    "double pendulum",
    [a, b],
    kinetic=a.dot**2 + b.dot**2 / 2 + a.dot * b.dot * cos(a - b),
    potential=-2 * cos(a) - cos(b),
)
MOTIONS = {
    "Kepler": (KEPLER, {x: 0.7, y: 0.0, x.dot: 0.0, y.dot: math.sqrt(1.3 / 0.7)}),
    "double pendulum": (ARMS, {a: 0.6, b: 0.3, a.dot: 0.0, b.dot: 0.0}),
    "Henon-Heiles": (GALAXY, {x: 0.1, y: 0.2, x.dot: 0.3, y.dot: 0.1}),
}
SETTINGS = [
    (name, method, h)
    for name, longest in (("Kepler", 1 / 5), ("double pendulum", 1 / 5), ("Henon-Heiles", 1 / 2))
    for method in (da.Midpoint(), da.Gauss(2), da.Gauss(3), da.Gauss(4), da.Galerkin(4), da.Lobatto(4))
    for h in (longest, longest / 4)
]
"""The longest steps are those at which Gauss(4) is right to 1e-6 after t = 1000."""


def run(name, method, h, **options):
    system, start = MOTIONS[name]
    return da.simulate(system, method, h=h, **{"start": start, "steps": round(100 / h), **options})


@pytest.mark.parametrize(("name", "method", "h"), SETTINGS)
def test_at_most_two_iterations_per_step(name, method, h):
    assert run(name, method, h).iterations <= 2 + 3 * h / 100  # the first three steps have less to go by


def test_control_longer_steps_take_more():
    assert run("double pendulum", da.Gauss(4), 0.5).iterations > 2.2


def test_earlier_solutions_help():
    """Control: each step as the first of a run of its own."""
    whole = run("double pendulum", da.Gauss(4), 0.125, steps=50)
    starts = {c: whole[c] for c in (a, b, a.dot, b.dot)}
    alone = run("double pendulum", da.Gauss(4), 0.125, steps=1, start=starts)
    assert alone.iterations > whole.iterations + 0.4


@pytest.mark.parametrize("name", list(MOTIONS))
def test_a_kept_matrix_leaves_the_same_solution(name, monkeypatch):
    """Newton's method in full, with a new matrix for every step of the search, ends where the short one does."""
    system, start = MOTIONS[name]
    short = run(name, da.Gauss(3), 0.1, steps=200)
    monkeypatch.setattr(
        newton.Newton, "_enough", lambda self, steps: self.e.compare("lt", self.e.real(1), self.e.real(0))
    )
    monkeypatch.setenv("DALEMBERT_CACHE", "")
    q = system.coordinates
    other = da.System("again", q, lagrangian=system.lagrangian + 0.0625 * q[0].dot)  # the same motion, other code
    full = da.simulate(other, da.Gauss(3), h=0.1, steps=200, start=start)
    assert full.iterations > short.iterations + 0.9
    assert full.corrections == full.iterations  # one for each matrix
    assert short.corrections > short.iterations + 0.9
    for c in q:
        np.testing.assert_allclose(full[c], short[c], rtol=0, atol=2e-13)


def test_the_last_step_leaves_rounding_only():
    """Beside a search that goes on until the residual does not shrink."""
    short = run("double pendulum", da.Midpoint(), 0.02, steps=200)
    full = run("double pendulum", da.Midpoint(), 0.02, steps=200, tolerance=1e-300)
    assert full.iterations > short.iterations + 0.9
    for c in short.system.coordinates:
        np.testing.assert_allclose(full[c], short[c], rtol=0, atol=1e-13)


def test_a_residual_that_stalls_at_rounding_is_accepted():
    """sin(A + u) with a large A: its argument is rounded to 1e-7, and the size of its terms does not tell."""
    large = sympy.Float(2 * math.pi * 2.0**28)
    u, place = sympy.symbols("u place")
    row = u - 0.9 * sympy.sin(large + u + place) - 0.05
    block = Block(("u",), (fast(row),))
    points = np.linspace(0, 0.1, 50)[:, None]
    _, status = PointMap(pointwise("stalls", ["place"], [], {"u": fast("u")}, [block]))(points, np.zeros((1, 0)))
    assert not status.any()


@pytest.mark.parametrize(("name", "h"), [("Kepler", 1 / 5), ("double pendulum", 1 / 5), ("Henon-Heiles", 1 / 2)])
def test_few_corrections(name, h):
    """Keeping a matrix saves matrices and costs corrections: some, not many."""
    assert run(name, da.Gauss(4), h).corrections < 4


@pytest.mark.parametrize("minded", [True, False])
def test_a_row_that_consists_of_the_rounding_of_others(minded, monkeypatch):
    """u1 = u2 up to rounding, so the terms of w - sin(u1 - u2) are rounding too, and never small beside each other."""
    if not minded:
        monkeypatch.setattr(newton.Newton, "_mind_empty_rows", lambda self, r: None)
    monkeypatch.setenv("DALEMBERT_CACHE", "")
    u1, u2, w, place = sympy.symbols("u1 u2 w place")
    rows = [u1 + sympy.sin(u1**2) / 2 - place, 3 * u2 + sympy.sin(u2**2) * 3 / 2 - 3 * place, w - sympy.sin(u1 - u2)]
    block = Block(("u1", "u2", "w"), tuple(map(fast, rows)))
    named = pointwise(f"rounding of others, {minded}", ["place"], [], {"w": fast("w") + int(minded)}, [block])
    _, status = PointMap(named)(np.linspace(0.2, 1.1, 1000)[:, None], np.zeros((1, 0)))
    assert status.any() != minded, "without, the control, most are not found"


NEAR = da.System(
    "near each other",
    [x, y],
    kinetic=PLANE,
    potential=(x - y - 1) ** 4 / 4 + (x - y - 1) ** 2 * (x - y) / 2 + sqrt(1 + (x - y) ** 2),
)


@pytest.mark.parametrize("origin", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("method", [da.Midpoint(), da.Gauss(2), da.DiscreteGradient(2)], ids=repr)
def test_far_from_the_origin_only_rounding_is_lost(method, origin):
    """Powers of a small difference of large numbers: their terms, multiplied out, would hide the residual."""
    here, there = (
        da.simulate(NEAR, method, h=0.1, steps=50, start={x: place + 1.2, y: place, x.dot: 0.0, y.dot: 0.6})
        for place in (0.0, origin)
    )
    np.testing.assert_allclose(there.x - there.y, here.x - here.y, rtol=0, atol=2e-15 * origin)
    assert np.ptp(here.x - here.y) > 0.3


@pytest.mark.parametrize("doubts", [newton.DOUBTS, newton.HALVINGS])
def test_a_step_is_not_halved_for_ever_because_the_residual_grew(doubts, monkeypatch):
    """A pendulum with steps ten times too long: with more patience, the control, the search creeps along a valley."""
    monkeypatch.setattr(newton, "DOUBTS", doubts)
    monkeypatch.setenv("DALEMBERT_CACHE", "")
    machine._function.cache_clear()  # functions are looked up by what they compute, not by how
    e = da.gallery.load("pendulum-cartesian")
    s = e.system
    other = da.System(
        f"doubts {doubts}", s.coordinates, lagrangian=s.lagrangian, constraints=[c.expression for c in s.constraints]
    )
    motion = da.simulate(other, da.Midpoint(), h=0.2, steps=300, start=e.start, parameters=e.parameters)
    machine._function.cache_clear()
    assert (motion.iterations < 20) == (doubts < 10)


@pytest.mark.parametrize("start", [(0.0, 0.3), (0.2, 0.0)])
def test_a_constraint_that_sets_a_velocity_to_zero(start):
    """Its row has terms of rounding only, which do not contract: that is no doubt about the solution of the others."""
    z = da.coordinates("z")
    plane = (x.dot**2 * (2 + cos(x)) + 2 * y.dot**2) / 2 + x * y.dot**2 / 10
    coupled = plane + z.dot**2 + x * y.dot * z.dot
    held = da.System("held", [x, y, z], kinetic=coupled, potential=x * y, constraints=[z.dot])
    free = da.System("free", [x, y], kinetic=plane, potential=x * y)
    begun = {x: start[0], y: 0.5, x.dot: start[1], y.dot: 0.2}
    for method in (da.Midpoint(), da.Trapezoidal(), da.LeftPoint()):
        one = da.simulate(held, method, h=0.05, steps=40, start={**begun, z: -0.3})
        two = da.simulate(free, method, h=0.05, steps=40, start=begun)
        assert np.abs(one.x - two.x).max() < 1e-13 and np.abs(one.y - two.y).max() < 1e-13
        assert np.abs(one.z + 0.3).max() < 1e-16
