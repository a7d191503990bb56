"""Reduction by turns of unit vectors: a spherical pendulum on S^2 against its angles, a rotation beside, two vectors."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin
from dalembert.decide.zero import vanishes
from dalembert.theory.reduction import reduced as module

n, u, R = da.direction("n"), da.direction("u"), da.rotation("R")
theta, phi = da.coordinates("theta phi")
a, b, c, j = da.parameters("a b c j")
m, g, l = da.parameters("m g l", positive=True)
VERTICAL = sympy.Matrix([[cos(a), -sin(a), 0], [sin(a), cos(a), 0], [0, 0, 1]])
NUMBERS = {m: 1.3, g: 9.81, l: 0.7}
START = {n: (0.6, 0.0, -0.8), n.velocity: (0.1, 0.7, 0.075)}
SPEED = n.omega[0] ** 2 + n.omega[1] ** 2
PENDULUM = da.System("pendulum", [n], kinetic=m * l**2 * SPEED / 2, potential=m * g * l * n[2])
ANGLES = da.System(
    "angles", [theta, phi], kinetic=m * l**2 * (theta.dot**2 + sin(theta) ** 2 * phi.dot**2) / 2,
    potential=m * g * l * cos(theta),
)  # fmt: skip
TURN = da.Symmetry({n: VERTICAL * n.matrix}, elements=[a])


def told(reduced):
    """The Lagrangian with the names of the angles."""
    (r,), (xi,) = reduced.shape, reduced.velocities.values()
    return reduced.lagrangian.xreplace({r: theta, r.dot: theta.dot, xi: phi.dot})


def test_the_reduced_equations_are_those_of_the_angles():
    small, plain = da.reduce(PENDULUM, TURN), da.reduce(ANGLES, da.Symmetry({phi: phi + a}, elements=[a]))
    assert vanishes(told(small) - told(plain)) and vanishes(told(small) - ANGLES.lagrangian)
    assert small.kind == "Lagrange-Poincare" and small.spaces.ranks["D"] == 2
    level, routh = da.reduce(PENDULUM, TURN, momentum={a: j}), da.routh(ANGLES, [phi])
    (r,), (mu,) = level.shape, level.momenta
    (p,) = routh.routhian.free_symbols - {theta, theta.dot, m, g, l}
    assert vanishes(level.routhian.xreplace({r: theta, r.dot: theta.dot, mu: p}) - routh.routhian)
    assert not vanishes(told(small) - ANGLES.lagrangian.subs(phi.dot, 2 * phi.dot))  # control


def test_without_the_turn_of_the_axes_the_equations_are_refused(monkeypatch):
    monkeypatch.setattr(module, "accelerations", lambda q, point, rates, speeds, again: again)
    with pytest.raises(da.ModelError, match="could not be confirmed"):
        da.reduce(PENDULUM, TURN)


def test_reconstruct_leads_back():
    small = da.reduce(PENDULUM, da.symmetries(PENDULUM)[0])
    options = {"h": 0.002, "until": 2, "start": START, "parameters": NUMBERS}
    full, run = (da.simulate(s, da.Reference(rtol=1e-12), **options) for s in (PENDULUM, small))
    back = small.reconstruct(run, at={n: START[n]})
    assert np.abs(back[n] - full[n]).max() < 1e-9 and np.abs(back[n.velocity] - full[n.velocity]).max() < 1e-8
    assert np.abs(back.energy - full.energy[0]).max() < 1e-11
    other = small.reconstruct(run, at={n: (0.0, 0.6, -0.8)})  # the same motion, a quarter of a turn further
    assert np.abs(other[n][:, 1] - full[n][:, 0]).max() < 1e-9 < np.abs(other[n] - full[n]).max()
    assert np.abs(back.phases[n] - back[n]).max() < 1e-14
    at_level = da.reduce(PENDULUM, TURN, momentum={a: j})
    p = float(m.subs(NUMBERS)) * 0.7**2 * 0.6 * 0.7
    angle, rate = np.arccos(-0.8), -0.075 / 0.6
    (r,) = at_level.shape
    run = da.simulate(
        at_level.reduced, da.Reference(rtol=1e-12), h=0.002, until=2, parameters=NUMBERS,
        start=at_level.start({r: angle, r.dot: rate}, {**NUMBERS, j: p}),
    )  # fmt: skip
    assert np.abs(np.cos(run[r]) - full[n][:, 2]).max() < 1e-9


@pytest.mark.slow
def test_a_rotation_beside():
    """A body with a needle in it, both turned about the vertical: reduced and reconstructed is unreduced."""
    w = R.omega
    kinetic = (w[0] ** 2 + 1.2 * w[1] ** 2 + w[2] ** 2 / 2) / 2 + (1 + n[2] / 3) * SPEED / 2
    joined = sum(R[i, 2] * n[i] for i in range(3))
    system = da.System("needle", [R, n], kinetic=kinetic, potential=R[2, 2] + n[2] + joined / 2)
    small = da.reduce(system, da.Symmetry({R: VERTICAL * R.matrix, n: VERTICAL * n.matrix}, elements=[a]))
    assert len(small.shape) == 4
    start = {R: da.groups.SO3.exp([0.3, 0.4, -0.2]), R.omega: (0.3, -0.4, 1.5), n: (0.6, 0.48, 0.64)}
    start[n.velocity] = np.cross([0.3, 1.0, -0.2], start[n])
    options = {"h": 0.01, "until": 1, "start": start}
    full, run = (da.simulate(s, da.Reference(rtol=1e-12), **options) for s in (system, small))
    back = small.reconstruct(run, at={R: start[R], n: start[n]})
    assert max(np.abs(back[k] - full[k]).max() for k in (R, n)) < 1e-7
    assert np.abs(back[n.velocity] - full[n.velocity]).max() < 1e-6


@pytest.mark.slow
def test_two_vectors_turned_together_in_space():
    """Both are moved by all rotations: the angle between them is the shape. One alone is not moved freely."""
    A = sympy.Matrix(da.groups.SO3.cayley([a, b, c]))
    system = da.System(
        "two needles", [n, u], kinetic=SPEED / 2 + u.omega[0] ** 2 + u.omega[1] ** 2,
        potential=sum(n[i] * u[i] for i in range(3)),
    )  # fmt: skip
    small = da.reduce(system, da.Symmetry({n: A * n.matrix, u: A * u.matrix}, elements=[a, b, c]))
    start = {n: (0.6, 0.48, 0.64), u: (0, 0.6, 0.8)}
    start |= {q.velocity: np.cross(w, start[q]) for q, w in ((n, [0.3, 1, -0.2]), (u, [-0.5, 0.2, 0.7]))}
    options = {"h": 0.01, "until": 1, "start": start}
    full, run = (da.simulate(s, da.Reference(rtol=1e-12), **options) for s in (system, small))
    back = small.reconstruct(run, at={n: start[n], u: start[u]})
    assert max(np.abs(back[q] - full[q]).max() for q in (n, u)) < 1e-7
    (r,) = small.shape
    assert np.abs(np.cos(run[r]) - (full[n] * full[u]).sum(-1)).max() < 1e-9
    with pytest.raises(da.ModelError, match="the action on n is not free"):
        da.reduce(PENDULUM.replace(potential=0), da.Symmetry({n: A * n.matrix}, elements=[a, b, c]))


def test_what_is_no_function_of_the_vector_is_refused():
    odd = PENDULUM.replace(kinetic=m * l**2 * (n.omega[0] ** 2 + 3 * n.omega[1] ** 2) / 2)
    with pytest.raises(da.ModelError) as caught:
        da.reduce(odd, TURN)
    assert str(caught.value).startswith("reduce: ") and str(caught.value).endswith(
        "is no function of unit vectors and their velocities: it depends on the axes carried along. Write it with n[i], "
        "n.velocity, and n.omega[0]**2 + n.omega[1]**2 for the square of the speed."
    )
    with pytest.raises(da.ModelError, match="reduce: 'pendulum, Midpoint' has the unit vector n, and the axes of its"):
        da.reduce(da.discretise(PENDULUM, da.Midpoint()), TURN)
