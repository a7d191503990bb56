"""Derivatives of motions on groups are by direction: `flow`, `tangents`, `contraction`; orders there by `convergence`."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert import cos
from dalembert.model.tangent_space import components, number_slopes, symplectic_form

R = da.rotation("R")
x = da.coordinates("x")
J1, J2, J3, m, c = da.parameters("J1 J2 J3 m c", positive=True)
W = R.omega
ROTATING = (J1 * W[0] ** 2 + J2 * W[1] ** 2 + J3 * W[2] ** 2) / 2
TOP = da.System("heavy top", [R], kinetic=ROTATING, potential=m * R[2, 2])
CART = da.System(
    "top on a cart", [x, R], kinetic=ROTATING + x.dot**2 * (2 + cos(x)) + x.dot * (R[0, 1] * W[0] - R[0, 0] * W[1]) / 2,
    potential=m * R[2, 2] + x**2, forces={R: (-c * W[0], 0, 0)},
)  # fmt: skip
NUMBERS = {J1: 1.0, J2: 1.2, J3: 0.5, m: 3.0, c: 0.2}
G = da.groups.SO3
POINT = G.exp([0.3, 0.7, -0.2])
H = 0.1


def values(system):
    return {p: NUMBERS[p] for p in system.parameters}


def start(system, key):
    """A state of a system, with velocities or momenta."""
    found = {R: POINT} | dict(zip(getattr(R, key), (0.3, -0.4, 3.0), strict=True))
    return found | ({x: 0.1, getattr(x, {"omega": "dot"}.get(key, key)): 0.2} if x in system.coordinates else {})


def by_differences(system, method, begun, symbols, eps=1e-6):
    """d after / d before by central differences; changes of a point are displacements by the exponential, either way."""
    middle = da.simulate(system, method, h=H, steps=1, start=begun, parameters=values(system))
    columns = []
    for s in symbols:
        ends = []
        for d in (eps, -eps):
            if s in R.directions:
                moved = {**begun, R: POINT @ G.exp(d * np.eye(3)[R.directions.index(s)])}
            else:
                moved = {**begun, s: begun[s] + d}
            run = da.simulate(system, method, h=H, steps=1, start=moved, parameters=values(system))
            turned = dict(zip(R.directions, G.log(middle[R][1].T @ run[R][1]), strict=True))
            ends.append([turned[k] if k in turned else run[k][1] for k in symbols])
        columns.append((np.array(ends[0]) - ends[1]) / (2 * eps))
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("method", [da.Midpoint(), da.Composition(da.Midpoint(), 4), da.RungeKutta4()], ids=repr)
def test_the_derivative_of_a_step(method):
    begun = start(CART, "omega" if method.carries == "velocity" else "momentum")
    step = da.flow(CART, method, start=begun, h=H, parameters=values(CART))
    assert step.symbols[:4] == (x, *R.directions)
    found = by_differences(CART, method, begun, step.symbols)
    assert np.abs(step.jacobian - found).max() < 1e-8 * np.abs(found).max()
    assert np.abs(found[1:4, 1:4] - np.eye(3)).max() > 0.1  # control: the frame turns along the step
    run = da.simulate(CART, method, h=H, steps=2, start=begun, parameters=values(CART))
    assert np.abs(step[R] - run[R][1]).max() < 1e-15 and step[x] == pytest.approx(run.x[1], rel=1e-14)
    assert np.allclose(step[R.directions], np.squeeze(2 * np.array(_cayley_inverse(POINT.T @ run[R][1]))), atol=1e-14)
    tangents = da.tangents(run)
    assert tangents.symbols == step.symbols and np.abs(tangents.intervals[0] - step.jacobian).max() < 1e-13
    second = da.flow(CART, method, start=run_state(run, step.symbols, 1), h=H, parameters=values(CART))
    assert np.abs(tangents.from_start[2] - second.jacobian @ step.jacobian).max() < 1e-12


def _cayley_inverse(Q):
    S = np.linalg.solve(Q + np.eye(3), Q - np.eye(3))
    return S[2, 1], S[0, 2], S[1, 0]


def run_state(run, symbols, k):
    return {R: run[R][k]} | {s: run[s][k] for s in symbols if s not in R.directions} | {da.time: run.time[k]}


def test_a_step_and_back():
    """LeftPoint is not symmetric: its inverse is another step."""
    for method in (da.Midpoint(), da.LeftPoint()):
        there = da.flow(CART, method, start=start(CART, "momentum"), h=H, parameters=values(CART))
        state = {R: there[R], da.time: H} | {s: there[s] for s in there.symbols if s not in R.directions}
        back = da.flow(CART, method, start=state, h=H, parameters=values(CART), backward=True)
        assert np.abs(back[R] - POINT).max() < 1e-13 and back[x] == pytest.approx(0.1, abs=1e-13)
        assert np.abs(back.jacobian @ there.jacobian - np.eye(8)).max() < 1e-12
    forth = da.flow(CART, da.LeftPoint(), start=state, h=H, parameters=values(CART))
    assert np.abs(forth[R] - POINT).max() > 1e-3  # control


def test_steps_of_a_top_are_symplectic():
    begun = start(TOP, "momentum")
    given = {"h": H, "parameters": values(TOP)}
    for method in (da.Midpoint(), da.Trapezoidal(), da.LeftPoint()):
        assert da.flow(TOP, method, start=begun, **given).symplectic_defect < 1e-13
        changed = da.contraction(da.simulate(TOP, method, start=begun, steps=6, every=2, **given))
        assert changed.defect.max() < 1e-13 and np.abs(changed.factor - 1).max() < 1e-13
    discrete = da.flow(da.discretise(TOP, da.midpoint_map), start=begun, **given)
    assert discrete.symplectic_defect < 1e-13
    other = da.contraction(da.simulate(TOP, da.RungeKutta4(), start=start(TOP, "omega"), steps=6, **given))
    assert other.defect.max() > 1e-6  # controls: another method; and the form of lines
    canonical = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
    D = da.flow(TOP, da.Midpoint(), start=begun, **given).jacobian
    assert np.abs(D.T @ canonical @ D - canonical).max() > 1e-2


def test_friction_contracts_as_on_a_line():
    """A disk that turns in plane with friction: the group SO(2) and an angle have the same factors."""
    g, a = da.group_coordinate("g", da.groups.SO2), da.coordinates("a")
    on_group = da.System("disk", [g], kinetic=g.omega[0] ** 2, potential=g[0, 0], forces={g: (-c * g.omega[0],)})
    on_line = da.System("disk", [a], kinetic=a.dot**2, potential=cos(a), forces={a: -c * a.dot})
    turned = [[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]]
    given = {"h": 0.05, "steps": 5, "parameters": {c: 0.2}}
    one = da.contraction(da.simulate(on_group, da.RungeKutta4(), start={g: turned, g.omega: (1.3,)}, **given))
    two = da.contraction(da.simulate(on_line, da.RungeKutta4(), start={a: 0.4, a.dot: 1.3}, **given))
    assert np.abs(one.factor / two.factor - 1).max() < 1e-6 and one.factor.max() < 0.999


def test_masses_that_depend_on_the_position():
    """Methods that carry velocities: the change to momenta depends on the position, along x and along the directions."""
    tilted = (x.dot**2 * (2 + cos(x)) + W[0] * x.dot * R[0, 1]) / 2
    free = da.System("free", [x, R], kinetic=ROTATING + tilted, potential=m * R[2, 2] + x**2)
    given = {"h": 0.01, "steps": 3, "start": start(free, "omega"), "parameters": values(free)}
    assert da.contraction(da.simulate(free, da.RungeKutta4(), **given)).defect.max() < 1e-7
    coarse = da.contraction(da.simulate(free, da.RungeKutta4(), **{**given, "h": 0.3}))
    assert coarse.defect.max() > 1e-3  # control


def test_lanes_and_the_table():
    begun = start(TOP, "omega") | {R.omega[2]: np.array([2.0, 3.0])}
    step = da.flow(TOP, da.Midpoint(), start=begun, h=H, parameters=values(TOP))
    assert step.jacobian.shape == (2, 6, 6) and step[R].shape == (2, 3, 3) and step[R.momentum].shape == (2, 3)
    alone = da.flow(TOP, da.Midpoint(), start=start(TOP, "omega"), h=H, parameters=values(TOP))
    assert np.array_equal(step.jacobian[1], alone.jacobian) and np.array_equal(step[R][1], alone[R])
    assert "R.turn1" in str(alone) and str(alone).splitlines()[3].split()[1] == "0"
    with pytest.raises(KeyError, match=r"the state has R, R\.turn1"):
        step["y"]


GROUPS = [da.groups.SO2, da.groups.SO3, da.groups.SU2, da.groups.SE2, da.groups.SE3, da.groups.Heisenberg]
GROUPS += [da.groups.SO3 * da.groups.R(2), da.groups.MatrixGroup("A", [[[1, 0], [0, 0]], [[0, 1], [0, 0]]])]


@pytest.mark.parametrize("group", GROUPS, ids=lambda g: g.name)
def test_numbers_and_directions(group):
    """Along a direction the numbers change as the exponential says; components undo it, and need no length of quaternions."""
    q = da.group_coordinate("q", group, "exp" if group.name == "A" else None)
    held = q.read(group.exp(0.2 + 0.1 * np.arange(group.dimension)))
    slopes, back = number_slopes(q.directions, held), components(q.directions, held)
    for k, e in enumerate(np.eye(group.dimension)):
        ends = [q.group.step(list(held), list(d * e), 1.0, q.retraction) for d in (1e-6, -1e-6)]
        assert np.allclose(slopes[:, k], (np.array(ends[0], float) - np.array(ends[1], float)) / 2e-6, atol=1e-9)
    assert np.allclose(back @ slopes, np.eye(group.dimension), atol=1e-14)
    if "quaternion0" in group.number_names and group.name in ("SO3", "SU2"):
        assert np.allclose(back @ held, 0, atol=1e-15)
        assert np.allclose(components(q.directions, 3 * held), back / 3, atol=1e-15)
    p = np.arange(1.0, group.dimension + 1)
    bracket = symplectic_form(q.directions, p)[: group.dimension, : group.dimension]
    for xi in np.eye(group.dimension):
        assert np.allclose(xi @ bracket, [p @ group.bracket(xi, eta) for eta in np.eye(group.dimension)])


def test_orders_by_convergence():
    begun, hs = start(CART, "omega"), [0.1, 0.05, 0.025]
    study = da.convergence(
        CART, [da.Midpoint(), da.RungeKutta4(), da.LeftPoint()], hs, start=begun, until=0.5, parameters=values(CART)
    )
    for line in study.lines[:2]:
        assert np.abs(np.array([*line.orders.values()]) - line.method.order).max() < 0.3
    assert study[da.LeftPoint()].orders["p"] < 1.6  # control
    free = da.System("sphere", [R], kinetic=(W[0] ** 2 + W[1] ** 2 + W[2] ** 2) / 2)
    w = np.array([0.3, -0.4, 1.0])

    def exact(t):
        return {R: np.array([POINT @ G.exp(s * w) for s in t]), R.omega: w}

    at = {R: POINT, R.omega: w}
    line = da.convergence(free, da.Midpoint(), hs, start=at, until=0.5, exact=exact).lines[0]
    assert abs(line.orders["q"] - 2) < 0.01 and line.errors["p"].max() < 1e-14
    with pytest.raises(da.ModelError, match="the exact solution gives no R"):
        da.convergence(free, da.Midpoint(), hs, start=at, until=0.5, exact=lambda t: {R.omega: w})
    with pytest.raises(da.StartError, match=r"convergence: the exact solution: R \(time 0\) is no rotation"):
        da.convergence(free, da.Midpoint(), hs, start=at, until=0.5, exact=lambda t: {R: 2 * np.eye(3)})


def test_what_is_refused():
    held = da.System("held", [R], kinetic=ROTATING, constraints=[W[2] - W[0] * R[0, 1]])
    given = {"start": {R: np.eye(3), R.momentum: (0.1, 0.2, 0.0)}, "h": H, "parameters": values(held)}
    assert da.flow(held, da.Midpoint(), **given).jacobian.shape == (6, 6)
    with pytest.raises(da.MethodError, match="held' has constraints and the rotation R; under constraints steps"):
        da.flow(held, da.Midpoint(), backward=True, **given)
    places = {d.at(k): 0.0 for d in R.directions for k in (0, 1)}
    with pytest.raises(da.StartError, match="two positions are for coordinates that are numbers, and R is a rotation"):
        da.flow(da.discretise(TOP, da.midpoint_map), start=places, h=H, parameters=values(TOP))


def test_quasi_velocities_on_a_group():
    """Hamel's equations in a frame that depends on the rotation hold for the accelerations of `evaluate`."""
    couple = (-c * W[0], 0, 0)
    held = da.System(
        "held", [x, R], kinetic=ROTATING + x.dot**2 + x.dot * W[0] * R[0, 1], potential=m * R[2, 2], forces={R: couple},
        constraints=[W[2] - x.dot * R[2, 0]],
    )  # fmt: skip
    form = da.hamel(held, {"u": x.dot, "a": W[0] + x, "b": W[1] * (2 + R[0, 0]), "s": W[2] - x.dot * R[2, 0]})
    assert [v.name for v in form.vanishing] == ["s"]
    state = {R: POINT, x: 0.3, x.dot: 0.7, R.omega: (0.2, -0.5, 0.7 * POINT[2, 0])}
    known = da.evaluate(held, at=state, parameters=values(held))
    w = np.array(state[R.omega])
    rate = POINT @ np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    xdd, *alpha = known.accelerations.values()
    numbers = {**values(held), x: 0.3, x.dot: 0.7, **dict(zip(R.omega, w, strict=True))}
    numbers |= {R[i, j]: POINT[i, j] for i in range(3) for j in range(3)}
    u, a, b, s = form.velocities
    numbers |= {u: 0.7, a: w[0] + 0.3, b: w[1] * (2 + POINT[0, 0]), s: 0.0, u.dot: xdd, a.dot: alpha[0] + 0.7}
    numbers[b.dot] = alpha[1] * (2 + POINT[0, 0]) + w[1] * rate[0, 0]
    numbers[s.dot] = alpha[2] - xdd * POINT[2, 0] - 0.7 * rate[2, 0]
    numbers |= dict(zip(held.multipliers, known.multipliers, strict=True))
    for e in (*form.equations, *form.reduced):
        assert abs(float((e.lhs - e.rhs).subs(numbers))) < 1e-12
    numbers[b.dot] += 0.01
    assert abs(float((form.equations[2].lhs - form.equations[2].rhs).subs(numbers))) > 1e-4  # control
    brackets = da.hamel(TOP, {"a": W[0], "b": W[1], "c": W[2]}).structure_functions
    assert {tuple(v.name for v in key): e for key, e in brackets.items()} == {
        ("c", "a", "b"): 1, ("b", "a", "c"): -1, ("a", "b", "c"): 1,
    }  # fmt: skip
