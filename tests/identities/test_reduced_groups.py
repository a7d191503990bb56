"""Reduction of systems with rotations: reduced, computed and reconstructed is unreduced; the kinds, momenta and charts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin
from dalembert.model.space import factors

KINDS = {
    "suslov": "Euler-Poincare-Suslov",
    "veselova": "Chaplygin",
    "ball-on-turntable": "Lagrange-d'Alembert-Poincare",
    "chaplygin-ball": "Lagrange-d'Alembert-Poincare",
    "heavy-top-on-cart": "Lagrange-Poincare",
}
FAST = {"heavy-top-on-cart": 0.1}
"""It spins ten times as fast as the others: steps are that much shorter."""
SLOW = ("chaplygin-ball", "heavy-top-on-cart")
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in KINDS]


@cache
def reduced(name):
    e = da.gallery.load(name)
    return e, da.reduce(e.system, da.Symmetry(e.action, elements=e.elements))


def place(e):
    keys = [getattr(f, "coordinate", f) for f in factors(e.system.coordinates)]
    return {q: e.start[q] for q in keys}


def error(name, method, h, until=0.5):
    e, small = reduced(name)
    options = {"until": until, "start": e.start, "parameters": e.parameters}
    run = da.simulate(small, method, h=h, **options)
    back = small.reconstruct(run, at=place(e))
    exact = da.simulate(e.system, da.Reference(rtol=1e-12), h=h, **options)
    return max(np.abs(back[q] - exact[q]).max() for q in place(e)), back


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_reduced_and_reconstructed_is_unreduced(name):
    """To order 2 with Midpoint and to order 4 with RungeKutta4; what comes back are rotations."""
    _, small = reduced(name)
    assert small.kind == KINDS[name]
    unit = FAST.get(name, 1.0)
    (coarse, _), (fine, back) = (error(name, da.Midpoint(), h * unit, 0.5 * unit) for h in (0.02, 0.01))
    assert 3.7 < coarse / fine < 4.3 and fine > 1e-9
    assert error(name, da.RungeKutta4(), 0.01 * unit, 0.5 * unit)[0] < max(fine / 100, 1e-9)
    (R,) = (f for f in place(reduced(name)[0]) if not isinstance(f, type(da.coordinates("x"))))
    assert np.abs(np.swapaxes(back[R], 1, 2) @ back[R] - np.eye(3)).max() < 1e-12


def test_suslov_is_that_of_the_book():
    """I_1 w1.dot = -(I_13 w1 + I_23 w2) w2 and I_2 w2.dot = (I_13 w1 + I_23 w2) w1 where w3 = 0."""
    e, small = reduced("suslov")
    P = {p.name: v for p, v in e.parameters.items()}
    xi = [small.velocities[g] for g in e.elements]
    u, v, du, dv = 0.7, -0.3, 0.11, 0.23
    at = {xi[0]: u, xi[1]: v, xi[2]: 0, xi[0].dot: du, xi[1].dot: dv, xi[2].dot: 0, **e.parameters}
    left = sorted(float(eq.lhs.xreplace(at)) for eq in small.equations().equations)
    M = P["I_13"] * u + P["I_23"] * v
    own = sorted((P["I_1"] * du + M * v, P["I_2"] * dv - M * u))
    assert np.allclose(left, own, rtol=1e-14)


def test_the_momentum_of_a_left_translation_is_that_in_space():
    """For rotations from the left the momentum map is R J w; for rotations from the right it is -J w in the body."""
    e = da.gallery.load("free-rigid-body")
    R, (a, b, c) = da.rotation("R"), da.parameters("a b c")
    J = list(e.parameters)
    turn = da.groups.SO3.cayley([a, b, c])
    left = da.reduce(e.system, da.Symmetry({R: turn * R.matrix}, elements=[a, b, c]))
    run = da.simulate(e.system, da.Midpoint(), h=0.1, until=1, start=e.start, parameters=e.parameters)
    own = np.einsum("tij,tj->ti", run[R], np.array([e.parameters[j] for j in J]) * run[R.omega])
    for k, g in enumerate((a, b, c)):
        assert np.allclose(run.quantity(left.momentum[g]), own[:, k], atol=1e-14)
    ball = da.System("ball", [R], kinetic=J[0] * sum(w**2 for w in R.omega) / 2)
    right = da.reduce(ball, da.Symmetry({R: R.matrix * turn.T}, elements=[a, b, c]))
    run = da.simulate(ball, da.Midpoint(), h=0.1, until=1, start=e.start, parameters={J[0]: 2.0})
    for k, g in enumerate((a, b, c)):
        assert np.allclose(run.quantity(right.momentum[g]), -2.0 * run[R.omega][:, k], atol=1e-14)
    assert left.kind == right.kind == "Euler-Poincare" and len(left.lie_poisson) == 3


def test_a_chart_of_ones_own():
    """Veselova's problem in Euler's angles, a section that is given: the same motion as with the section that is found."""
    e, _ = reduced("veselova")
    R, (t, s) = da.rotation("R"), da.coordinates("tilt spin")
    tilt = [[1, 0, 0], [0, cos(t), -sin(t)], [0, sin(t), cos(t)]]
    spin = [[cos(s), -sin(s), 0], [sin(s), cos(s), 0], [0, 0, 1]]
    import sympy

    symmetry = da.Symmetry(e.action, elements=e.elements)
    small = da.reduce(e.system, symmetry, section={R: sympy.Matrix(tilt) * sympy.Matrix(spin)})
    assert set(small.shape) == {t, s} and small.kind == "Chaplygin"
    run = da.simulate(small, da.RungeKutta4(), h=0.01, until=0.5, start=e.start, parameters=e.parameters)
    assert np.abs(small.reconstruct(run, at=place(e))[R] - error("veselova", da.RungeKutta4(), 0.01)[1][R]).max() < 1e-7


def test_veselovas_problem_has_an_invariant_measure():
    """Its density in shape and momentum is 1/sqrt(<g, g/I>), g the axis in the body; a constant factor is free."""
    e, small = reduced("veselova")
    density = small.chaplygin.density
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(4):
        at = dict(zip(small.shape, rng.uniform(0.2, 1.2, 2), strict=True)) | e.parameters
        axis = [small.section.place[da.rotation("R")[2, j]].xreplace(at) for j in range(3)]
        own = sum(g**2 / e.parameters[i] for g, i in zip(axis, small.system.parameters, strict=True)) ** -0.5
        ratios.append(float(density.xreplace(at)) / float(own))
    assert (
        np.ptp(ratios) < 1e-12
        and np.ptp([float(density.xreplace({**at, small.shape[0]: x})) for x in (0.2, 1.2)]) > 1e-2
    )


def test_poses():
    """The sleigh on a planar pose, moved from the left: the equations of the one in coordinates."""
    P, (u, w, a) = da.planar_pose("P"), da.parameters("u w a")
    (turn,), (along, across) = P.omega, P.velocity
    m, J, l = da.parameters("m J l", positive=True)
    sleigh = da.System(
        "sleigh", [P], kinetic=m * (along**2 + (across + l * turn) ** 2) / 2 + J * turn**2 / 2, constraints=[across]
    )
    import sympy

    g = sympy.Matrix([[cos(a), -sin(a), u], [sin(a), cos(a), w], [0, 0, 1]])
    small = da.reduce(sleigh, da.Symmetry({P: g * P.matrix}, elements=[u, w, a]))
    assert small.kind == "Euler-Poincare-Suslov"
    start = {P: np.eye(3), P.velocity: (-1, 0), P.omega: (0.1,)}
    options = {"h": 0.01, "until": 1, "start": start, "parameters": {m: 2, J: 1, l: 0.4}}
    run = da.simulate(small, da.RungeKutta4(), **options)
    full = da.simulate(sleigh, da.RungeKutta4(), **options)
    assert np.abs(small.reconstruct(run, at={P: np.eye(3)})[P] - full[P]).max() < 1e-9
