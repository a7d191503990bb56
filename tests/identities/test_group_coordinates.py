"""Coordinates with values in groups: poses against lines, orders, momenta, files, lanes; both retractions."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import cos, sin

SL2 = da.groups.MatrixGroup("SL2", [[[0, 1], [0, 0]], [[0, 0], [1, 0]], [[1, 0], [0, -1]]])
m, J, k, g, a = da.parameters("m J k g a", positive=True)
METHODS = [da.Midpoint(), da.Trapezoidal(), da.Composition(da.Midpoint(), 4), da.RungeKutta4()]


def system(G, retraction):
    """A nonlinear, time-dependent system on any group, with coupled inertia and a force."""
    q = da.group_coordinate("q", G, retraction)
    w = [d.dot for d in q.directions]
    kinetic = sum((i + 2) * x**2 for i, x in enumerate(w)) / 2
    if len(w) > 1:
        kinetic += w[0] * w[1] / 2
    potential = sum((i + 1) * cos(e) for i, e in enumerate(q.entries)) * (1 + sin(da.time) / 3)
    force = [-x / 5 for x in w]
    made = da.System("on a group", [q], kinetic=kinetic, potential=potential, forces={q: force})
    xi = 0.3 + 0.1 * np.arange(G.dimension)
    start = {q: G.exp(xi)} | {d.dot: 0.5 - 0.2 * i for i, d in enumerate(q.directions)}
    return q, made, start


CASES = [
    (da.groups.SO2, "cayley"), (da.groups.SO2, "exp"), (da.groups.SE2, "cayley"), (da.groups.SE2, "exp"),
    (da.groups.SO3, "exp"), (da.groups.SU2, "cayley"), (da.groups.SU2, "exp"), (da.groups.Heisenberg, "cayley"),
    (da.groups.R(2), "exp"), (SL2, "cayley"), (SL2, "exp"), (da.groups.SO2 * da.groups.R(1), "cayley"),
]  # fmt: skip


@pytest.mark.parametrize(("G", "retraction"), CASES, ids=str)
def test_orders(G, retraction):
    q, made, start = system(G, retraction)
    exact = da.simulate(made, da.Reference(rtol=1e-12), h=1, until=1, start=start)
    for method in METHODS if G in (da.groups.SE2, SL2) else METHODS[:2]:
        errors = []
        for h in (0.05, 0.025):
            run = da.simulate(made, method, h=h, until=1, start=start)
            ends = [np.abs(run[x][-1] - exact[x][-1]).max() for x in (q, *q.vectors)]
            errors.append(max(ends))
        assert abs(np.log2(errors[0] / errors[1]) - method.order) < 0.4, (method, errors)
    first = []
    for h in (0.05, 0.025):  # control: order one
        run = da.simulate(made, da.LeftPoint(), h=h, until=1, start=start)
        first.append(max(np.abs(run[x][-1] - exact[x][-1]).max() for x in (q, *q.vectors)))
    assert np.log2(first[0] / first[1]) < 1.5


@pytest.mark.parametrize("retraction", ["cayley", "exp"])
def test_a_sleigh_is_that_of_lines(retraction):
    """Chaplygin's sleigh with a spring, on SE(2) and with x, y, theta; the blade does not slip sideways."""
    P = da.planar_pose("P", retraction)
    (w,), v = P.omega, P.velocity
    spring = k * (P[0, 2] ** 2 + P[1, 2] ** 2) / 2
    kinetic = m * (v[0] ** 2 + (v[1] + a * w) ** 2) / 2 + J * w**2 / 2
    sleigh = da.System("sleigh", [P], kinetic=kinetic, potential=spring, constraints=[v[1]])
    x, y, theta = da.coordinates("x y theta")
    along = cos(theta) * x.dot + sin(theta) * y.dot
    across = cos(theta) * y.dot - sin(theta) * x.dot
    lines = da.System(
        "sleigh", [x, y, theta], kinetic=m * (along**2 + (across + a * theta.dot) ** 2) / 2 + J * theta.dot**2 / 2,
        potential=k * (x**2 + y**2) / 2, constraints=[across],
    )  # fmt: skip
    numbers = {m: 1.0, J: 0.3, k: 0.7, a: 0.2}
    t0 = 0.4
    matrix = [[np.cos(t0), -np.sin(t0), 1.0], [np.sin(t0), np.cos(t0), 0.2], [0, 0, 1]]
    begun = {P: matrix, P.omega: [0.8], P.velocity[0]: 1.1}
    other = {x: 1.0, y: 0.2, theta: t0, theta.dot: 0.8, x.dot: 1.1 * np.cos(t0)}
    exactly = da.Reference(rtol=1e-12)
    one = da.simulate(sleigh, exactly, h=0.5, until=3, start=begun, parameters=numbers)
    two = da.simulate(lines, exactly, h=0.5, until=3, start=other, parameters=numbers)
    assert np.abs(one[P][:, 0, 2] - two.x).max() < 1e-9 and np.abs(one[P][:, 1, 0] - np.sin(two.theta)).max() < 1e-9
    errors = []
    for h in (0.02, 0.01):
        run = da.simulate(sleigh, da.Midpoint(), h=h, until=3, start=begun, parameters=numbers)
        errors.append(np.abs(run[P][-1] - one[P][-1]).max())
    assert abs(np.log2(errors[0] / errors[1]) - 2) < 0.2
    assert np.abs(run[P.velocity][:, 1]).max() < 1e-10


@pytest.mark.parametrize("retraction", ["cayley", "exp"])
def test_a_body_in_space(retraction, tmp_path):
    """SE(3): momentum and angular momentum in space are kept to rounding; the mass centre of a free body moves straight."""
    P = da.pose("P", retraction)
    w, v = P.omega, P.velocity
    kinetic = sum((i + 1) * x**2 for i, x in enumerate(w)) / 2 + m * sum(x**2 for x in v) / 2
    body = da.System("free body", [P], kinetic=kinetic)
    matrix = da.groups.SE3.exp([0.3, -0.2, 0.5, 1.0, 2.0, -1.0])
    start = {P: matrix, P.omega: (0.4, 1.0, 0.2), P.velocity: (1.0, -0.5, 0.3)}
    given = {"h": 0.05, "parameters": {m: 2.0}}
    run = da.simulate(body, da.Midpoint(), steps=2000, start=start, **given)
    body_momenta = np.concatenate([run[P.angular_momentum], run[P.momentum]], axis=-1)
    back = np.linalg.inv(run[P])
    space = np.einsum("tji,tj->ti", da.groups.SE3.Ad(back), body_momenta)
    far = np.abs(space).max()
    assert np.abs(space - space[0]).max() < 1e-12 * far
    assert np.abs(da.groups.SE3.defect(run[P])[0]).max() < 1e-14
    other = da.simulate(body, da.RungeKutta4(), steps=2000, start=start, **given)
    moved = np.concatenate([other[P.angular_momentum], other[P.momentum]], axis=-1)
    assert np.abs(np.einsum("tji,tj->ti", da.groups.SE3.Ad(np.linalg.inv(other[P])), moved) - space[0]).max() > 1e-9
    rows = {row.quantity: row.verdict for row in da.audit(run).rows}
    for name in ("momentum of P along the x axis of space", "angular momentum of P about the z axis of space"):
        assert rows[name] == "kept to rounding"
    loaded = da.load(run.save(tmp_path / "body.nc"))
    assert loaded.system == body and np.array_equal(loaded[P], run[P])
    many = {P: np.stack([matrix, np.eye(4)]), P.omega: np.ones((2, 3)), P.velocity: np.ones((2, 3))}
    lanes = da.simulate(body, da.Midpoint(), steps=10, start=many, **given)
    alone = da.simulate(
        body, da.Midpoint(), steps=10, start={P: matrix, P.omega: np.ones(3), P.velocity: np.ones(3)}, **given
    )
    assert np.array_equal(lanes.records[0], alone.records[0])
    assert lanes.dataset["P.omega"].shape == (2, 11, 3)


def test_a_group_of_ones_own_is_saved(tmp_path):
    q, made, start = system(SL2, "exp")
    run = da.simulate(made, da.Midpoint(), h=0.1, steps=5, start=start)
    loaded = da.load(run.save(tmp_path / "run.nc"))
    assert loaded.system == made and np.array_equal(loaded[q], run[q])
    assert np.abs(np.linalg.det(run[q]) - 1).max() < 1e-14
    run.plot()


def test_names():
    P, q = da.pose("P"), da.group_coordinate("q", da.groups.R(2))
    assert [str(x) for x in (P.omega[2], P.velocity[0], P.momentum[1], P.angular_momentum[0], P.alpha[1])] == [
        "P.omega[2]", "P.velocity[0]", "P.momentum[1]", "P.angular_momentum[0]", "P.alpha[1]"]  # fmt: skip
    assert str(q.velocity[1]) == "q.velocity[1]" and P[3, 3] == 1 and q[0, 1] == 0
    assert da.pose("P") == P != da.pose("P", "exp")


def test_what_is_given_wrongly_is_told():
    P = da.planar_pose("P")
    body = da.System("body", [P], kinetic=P.omega[0] ** 2 + P.velocity[0] ** 2 + P.velocity[1] ** 2)
    SO4 = da.groups.MatrixGroup("SO4", [
        [[int((i, j) == p) - int((j, i) == p) for j in range(4)] for i in range(4)]
        for p in [(i, j) for i in range(4) for j in range(i)]
    ])  # fmt: skip

    def refused(matrix, text):
        with pytest.raises(da.StartError, match=text):
            start = {P: matrix, P.omega: [1], P.velocity: (0, 0)}
            da.simulate(body, da.Midpoint(), h=0.1, steps=1, start=start)

    good = da.groups.SE2.exp([0.3, 1, 2])
    refused(
        np.diag([1.01, 1, 1]),
        r"P is no pose: with R the block in front, R\^T R differs from 1 by up to 0\.0201\. The nearest pose is",
    )
    refused(
        good + np.array([[0, 0, 0], [0, 0, 0], [0.5, 0, 0]]), r"its last row differs from \(0, 0, 1\) by up to 0\.5"
    )
    refused(good[:2], r"P has shape \(2, 3\)\. Give the 3 x 3 matrix of a pose")
    refused(np.diag([1, -1, 1]), "its determinant is -1, that of a reflection")
    for call, text in (
        (lambda: da.group_coordinate("q", 3), "Expected a group of dalembert.groups"),
        (lambda: da.group_coordinate("q q", SL2), r'give one name: group_coordinate\("g", group\)'),
        (lambda: da.pose("P", "euler"), 'Expected "cayley" or "exp"'),
        (lambda: da.group_coordinate("q", SO4), "coordinates with values in SO4 are not available"),
        (lambda: da.group_coordinate("q", da.groups.Semidirect(da.groups.SU2), "exp"), 'Use retraction="cayley"'),
    ):
        with pytest.raises(da.ModelError, match=text):
            call()
    with pytest.raises(AttributeError, match="its vectors are omega, angular_momentum, alpha, velocity"):
        P.speed  # noqa: B018
