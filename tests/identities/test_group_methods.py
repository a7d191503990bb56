"""Methods on groups: orders with interior positions, Moser and Veselov's equations, what has no meaning there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import fsolve

import dalembert as da
from dalembert import cos, sin

R = da.rotation("R")
J = (1.0, 1.2, 0.5)
START = {R: da.groups.SO3.exp([0.3, 0.4, -0.2]), R.omega: (0.3, -0.4, 1.5)}


def driven(q, x):
    """A body that is coupled with a line, with torques that depend on time, place and velocity."""
    w = q.omega
    kinetic = (
        sum(j * a**2 for j, a in zip(J, w, strict=True)) / 2
        + x.dot**2
        + 0.2 * x.dot * (q[0, 1] * w[0] - q[0, 0] * w[1])
    )
    torque = (-0.3 * w[0], sin(da.time) * q[0, 1], -0.3 * w[2] * (1 + x**2))
    return da.System("driven", [x, q], kinetic=kinetic, potential=q[2, 2] + x**2, forces={q: torque, x: -0.3 * x.dot})


def observed(system, method, keys, start, steps):
    exact = da.simulate(system, da.Reference(rtol=1e-13), h=1, until=1, start=start)
    errors = []
    for h in steps:
        run = da.simulate(system, method, h=h, until=1, start=start)
        errors.append(max(np.abs(run[key][-1] - exact[key][-1]).max() for key in keys))
    return np.log(errors[0] / errors[1]) / np.log(steps[0] / steps[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        pytest.param(da.Galerkin(2), marks=pytest.mark.slow),
        da.Galerkin(2, "lobatto"),
        da.Composition(da.Trapezoidal(), 4),
    ],
    ids=repr,
)
def test_orders_with_torques(method):
    x = da.coordinates("x")
    start = START | {x: 0.1, x.dot: 0.2}
    assert abs(observed(driven(R, x), method, (R, R.omega, R.momentum, x), start, (0.1, 0.05)) - 4) < 0.1


@pytest.mark.verify
def test_a_higher_order():
    top = da.System("top", [R], kinetic=sum(j * a**2 for j, a in zip(J, R.omega, strict=True)) / 2, potential=R[2, 2])
    assert abs(observed(top, da.Galerkin(3), (R, R.omega, R.momentum), START, (0.5, 0.25)) - 6) < 0.4


@pytest.mark.slow
def test_interior_positions_with_the_exponential():
    S = da.rotation("S", "exp")
    top = da.System("top", [S], kinetic=sum(j * a**2 for j, a in zip(J, S.omega, strict=True)) / 2, potential=S[2, 2])
    start = {S: START[R], S.omega: START[R.omega]}
    assert abs(observed(top, da.Galerkin(2), (S, S.omega, S.momentum), start, (0.2, 0.1)) - 4) < 0.1


@pytest.mark.slow
def test_interior_positions_on_other_groups():
    """On SE(2), with a coupled mass matrix and a force: nothing of the rotations is used."""
    P = da.planar_pose("P")
    (w,), v = P.omega, P.velocity
    kinetic = (w**2 + v[0] ** 2 + 2 * v[1] ** 2 + w * v[1] / 2) / 2
    body = da.System(
        "body", [P], kinetic=kinetic, potential=cos(P[0, 2]) + P[1, 2] ** 2 + P[0, 0], forces={P: (-w / 5, P[0, 2], 0)}
    )
    start = {P: da.groups.SE2.exp([0.4, 0.3, -0.2]), P.omega: [0.7], P.velocity: (0.5, 0.2)}
    assert abs(observed(body, da.Galerkin(2), (P, P.momentum, P.angular_momentum), start, (0.1, 0.05)) - 4) < 0.15


@pytest.mark.slow
def test_with_interior_positions_momenta_are_kept_and_steps_return():
    top = da.System("top", [R], kinetic=sum(j * a**2 for j, a in zip(J, R.omega, strict=True)) / 2, potential=R[2, 2])
    there = da.simulate(top, da.Galerkin(2), h=0.1, steps=2000, start=START)
    vertical = np.einsum("tj,tj->t", there[R][:, 2], there[R.momentum])
    assert np.abs(vertical - vertical[0]).max() < 1e-12
    assert np.abs(np.einsum("tij,tik->tjk", there[R], there[R]) - np.eye(3)).max() < 4e-15
    turn = {R: there[R][100], R.momentum: -there[R.momentum][100]}
    back = da.simulate(top, da.Galerkin(2), h=0.1, steps=100, start=turn)
    assert np.abs(back[R][-1] - START[R]).max() < 1e-11


class MoserVeselov(da.VariationalMethod):
    """The discrete rigid body: h T of the difference quotient (R1 - R0)/h of the matrices, written with Cayley's xi."""

    order = 2

    def discrete_lagrangian(self, L, q0, q1, t, h):
        xi = q1 - q0
        return h * L(q0, xi / h, t) / (1 + sum(x**2 for x in xi) / 4)


def test_moser_and_veselov():
    """J. Moser and A. P. Veselov, Commun. Math. Phys. 139, 1991: h M = W L - L W^T, M' = W^T M W, by other means."""
    free = da.System("free body", [R], kinetic=sum(j * a**2 for j, a in zip(J, R.omega, strict=True)) / 2)
    h, steps = 0.1, 300
    start = {R: np.eye(3), R.momentum: (0.3, -0.5, 0.4)}
    run = da.simulate(free, MoserVeselov(), h=h, steps=steps, start=start)
    other = da.simulate(free, da.Midpoint(), h=h, steps=steps, start=start)
    ellipsoid = np.diag(sum(J) / 2 - np.array(J))
    hat = lambda v: np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])  # noqa: E731
    M, turned, momenta = np.array(start[R.momentum]), np.eye(3), []
    for _ in range(steps):
        momenta.append(M)

        def off(xi, M=M):
            W = da.groups.SO3.cayley(xi)
            A = (W @ ellipsoid - ellipsoid @ W.T) / h
            return [A[2, 1] - M[0], A[0, 2] - M[1], A[1, 0] - M[2]]

        W = da.groups.SO3.cayley(fsolve(off, h * M / np.array(J), xtol=1e-13))
        M = (W.T @ hat(M) @ W)[[2, 0, 1], [1, 2, 0]]
        turned = turned @ W
    assert np.abs(run[R.momentum][:-1] - momenta).max() < 1e-11
    assert np.abs(run[R][-1] - turned).max() < 1e-11
    assert np.abs(other[R.momentum][:-1] - momenta).max() > 1e-6  # control: the midpoint rule is another method
    size = np.linalg.norm(run[R.momentum], axis=-1)
    assert np.abs(size / size[0] - 1).max() < 1e-14


def test_a_formula_for_numbers_is_refused():
    top = da.System("top", [R], kinetic=sum(j * a**2 for j, a in zip(J, R.omega, strict=True)) / 2)
    with pytest.raises(da.MethodError, match=r"R is a rotation, .* Use Midpoint\(\) or Gauss\(2\)"):
        da.simulate(top, da.StormerVerlet(), h=0.01, steps=1, start=START)


def pinned():
    """A top whose centre is bound to its axis by three holonomic constraints, and a start of it."""
    x, y, z = da.coordinates("x y z")
    w, place = R.omega, (x, y, z)
    turning = (w[0] ** 2 + 1.2 * w[1] ** 2 + 0.5 * w[2] ** 2) / 2
    top = da.System(
        "pinned top", [*place, R], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2 + turning, potential=3 * z,
        constraints=[c - R[i, 2] for i, c in enumerate(place)],
    )  # fmt: skip
    turned, omega = START[R], np.array(START[R.omega])
    centre = zip(place, turned[:, 2], turned @ np.cross(omega, [0, 0, 1]), strict=True)
    return top, x, START | {symbol: number for c, r, v in centre for symbol, number in ((c, r), (c.dot, v))}


@pytest.mark.parametrize("method, order", [(da.Rattle(), 2), (da.Lobatto(3), 4)], ids=repr)
def test_stages_under_holonomic_constraints(method, order):
    top, x, start = pinned()
    assert abs(observed(top, method, (R, R.momentum, x), start, (0.1, 0.05)) - order) < 0.1
    run = da.simulate(top, method, h=0.05, steps=20, start=start)
    assert np.abs(run.x - run[R][:, 0, 2]).max() < 1e-14


class Bent(da.VariationalMethod):
    """Its weights do not add up to one."""

    order, interior = 1, (0.5,)

    def discrete_lagrangian(self, L, q0, q1, t, h, inner):
        return h * L((q0 + inner) / 3, (q1 - q0) / h, t)


def test_combinations_without_meaning_are_refused():
    top = da.System("top", [R], kinetic=sum(j * a**2 for j, a in zip(J, R.omega, strict=True)) / 2)
    with pytest.raises(
        da.ModelError, match=r"the rule does not apply to the rotation R: .* or of such a sum with interior"
    ):
        da.simulate(top, Bent(), h=0.01, steps=1, start=START)
