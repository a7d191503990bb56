"""One step of the flow, forward and backward, on momenta and on pairs; its derivative; the Legendre transforms."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import MethodError, StartError, cos, sin

x, y, z = da.coordinates("x y z")
m, k, c = da.parameters("m k c", positive=True)
t = da.time
VALUES = {m: 1.3, k: 0.7, c: 0.4}

FREE = da.System(
    "free", [x, y], kinetic=(m * x.dot**2 + (2 + cos(x)) * y.dot**2) / 2, potential=k * x**2 * y + c * y**4 + sin(t) * x
)
DAMPED = da.System(
    "damped",
    [x, y],
    kinetic=m * (x.dot**2 + y.dot**2) / 2,
    potential=k * x**2 * y**2,
    dissipation=c * (x.dot + y.dot) ** 2,
)
SKATE = da.System(
    "skate",
    [x, y, z],
    kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2,
    potential=k * x**2 + c * y,
    constraints=[z.dot - y * x.dot],
)
SPHERE = da.System(
    "sphere",
    [x, y, z],
    kinetic=m * (x.dot**2 + y.dot**2 + z.dot**2) / 2,
    potential=k * z,
    constraints=[x**2 + y**2 + z**2 - c],
)
POINT = {x: 0.4, y: 0.7, x.momentum: 0.3, y.momentum: -0.2, t: 0.5}
H = 0.1


def stepped(system, *method, start, **options):
    given = {p: VALUES[p] for p in system.parameters}
    return da.flow(system, *method, start=start, h=H, parameters=given, **options)


def moved(system, *method, start):
    """The derivative by central differences."""
    step = stepped(system, *method, start=start)
    columns = []
    for s in step.symbols:
        ends = [stepped(system, *method, start={**start, s: start[s] + d}).after for d in (1e-6, -1e-6)]
        columns.append((ends[0] - ends[1]) / 2e-6)
    return step, np.stack(columns, axis=1)


CASES = {
    "free": (da.discretise(FREE, da.FiniteDifferenceMap(sympy.Rational(1, 3))),),
    "damped": (da.discretise(DAMPED, da.midpoint_map),),
    "by a method": (FREE, da.Midpoint()),
    "by interior positions": (FREE, da.Galerkin(3)),
    "by stages": (FREE, da.Gauss(2)),
    "composed": (FREE, da.Composition(da.Midpoint(), order=4)),
}


@pytest.mark.parametrize("case", CASES)
def test_forward_is_the_run_and_its_derivative(case):
    given = CASES[case]
    step, difference = moved(*given, start=POINT)
    parameters = {p: VALUES[p] for p in given[0].parameters}
    run = da.simulate(*given, h=H, steps=1, start=POINT, parameters=parameters)
    for s in (x, y, x.momentum, y.momentum):
        assert step[s] == pytest.approx(run[s][-1], rel=1e-14)
    assert step.time == pytest.approx(0.6)
    np.testing.assert_allclose(step.jacobian, difference, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_backward_undoes_forward(case):
    step = stepped(*CASES[case], start=POINT)
    back = stepped(
        *CASES[case], start={**dict(zip(step.symbols, step.after, strict=True)), t: step.time}, backward=True
    )
    np.testing.assert_allclose(back.after, step.before, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(back.jacobian @ step.jacobian, np.eye(4), atol=1e-12)


@pytest.mark.parametrize("case", [k for k in CASES if k != "damped"])
def test_symplectic(case):
    assert stepped(*CASES[case], start=POINT).symplectic_defect < 1e-14


def test_control_friction_is_not_symplectic_and_shrinks_volume():
    step = stepped(*CASES["damped"], start=POINT)
    assert step.symplectic_defect > 1e-3
    assert step.determinant < 0.95


def pair(first, second):
    q = (x, y, z)[: len(first)]
    return {s.at(0): a for s, a in zip(q, first, strict=True)} | {s.at(1): a for s, a in zip(q, second, strict=True)}


def test_the_flow_on_pairs():
    discrete = CASES["free"][0]
    start = {**pair((0.4, 0.7), (0.43, 0.69)), t: 0.5}
    step, difference = moved(discrete, start=start)
    assert [step[s.at(0)] for s in (x, y)] == [0.43, 0.69]
    np.testing.assert_allclose(step.jacobian, difference, rtol=1e-6, atol=1e-7)
    run = da.simulate(discrete, h=H, steps=2, start=start, parameters=VALUES)
    assert [step[s.at(1)] for s in (x, y)] == pytest.approx([run.x[2], run.y[2]], rel=1e-13)
    later = {**dict(zip(step.symbols, step.after, strict=True)), t: step.time}
    back = stepped(discrete, start=later, backward=True)
    np.testing.assert_allclose(back.after, step.before, rtol=1e-12)
    np.testing.assert_allclose(back.jacobian @ step.jacobian, np.eye(4), atol=1e-10)


@pytest.mark.parametrize("system", [SKATE, SPHERE], ids=["kinematic", "holonomic"])
def test_pairs_under_constraints_come_back(system):
    method = da.Midpoint()
    start = {x: 0.4, y: 0.3, z: np.sqrt(0.4 - 0.25), x.dot: 0.3, y.dot: -0.2}
    parameters = {p: VALUES[p] for p in system.parameters}
    run = da.simulate(system, method, h=H, steps=2, start=start, parameters=parameters)
    nodes = np.stack([run.x, run.y, run.z], axis=1)
    forward = stepped(system, method, start=pair(nodes[0], nodes[1]))
    np.testing.assert_allclose(forward.after[3:], nodes[2], rtol=1e-12)
    back = stepped(system, method, start={**pair(nodes[1], nodes[2]), t: H}, backward=True)
    np.testing.assert_allclose(back.after[:3], nodes[0], rtol=1e-11)


def test_legendre_transforms_and_step_matrix_are_derivatives_of_l_d():
    """p0 = -D1 L_d - F_d-, p1 = D2 L_d + F_d+, M = d(-p0)/dq1, written out with SymPy."""
    x0, x1, h = x.at(0), x.at(1), da.step
    L = m * (x1 - x0) ** 2 / (2 * h) - h * k * cos(x0) * x1**2
    d = da.DiscreteSystem("d", [x], lagrangian=L, force_minus={x: -c * h * x1}, force_plus={x: c * h * x0**2})
    assert sympy.expand(d.legendre_minus[x] + L.diff(x0) - c * h * x1) == 0
    assert sympy.expand(d.legendre_plus[x] - L.diff(x1) - c * h * x0**2) == 0
    assert sympy.expand(d.step_matrix[0, 0] - (L.diff(x0).diff(x1) - c * h)) == 0
    at = {x0: 0.3, x1: 0.4, h: H, **VALUES}
    p0, p1 = (float(e[x].subs(at)) for e in (d.legendre_minus, d.legendre_plus))
    step = stepped(d, start={x: 0.3, x.momentum: p0})
    assert step[x] == pytest.approx(0.4, rel=1e-13) and step[x.momentum] == pytest.approx(p1, rel=1e-13)


def test_a_step_shows_itself():
    text = str(stepped(*CASES["free"], start=POINT))
    assert "a step forward, h = 0.1" in text and "d/d x.momentum" in text


def test_what_cannot_be_done_is_said():
    with pytest.raises(StartError, match=r"flow: Reference\(.*\) is adaptive. Use a method with a fixed step"):
        stepped(FREE, da.Reference(), start=POINT)
    with pytest.raises(StartError, match="flow: two positions are the state of a discrete system"):
        stepped(FREE, da.Galerkin(2), start=pair((0.4, 0.7), (0.43, 0.69)))
    with pytest.raises(KeyError, match="the state has x, y"):
        stepped(*CASES["free"], start=POINT)[z]
    with pytest.raises(MethodError, match="the state is not positions and momenta"):
        _ = stepped(FREE, da.RungeKutta4(), start=POINT).symplectic_defect
    quartic = da.DiscreteSystem("quartic", [x], lagrangian=da.step * cos((x.at(1) - x.at(0)) / da.step))
    with pytest.raises(MethodError, match="flow: from this state there is no step forward: no solution found"):
        da.flow(quartic, start={x: 0, x.momentum: 2}, h=H)


@pytest.mark.parametrize("case", CASES)
def test_lanes_are_single_steps_bit_for_bit(case):
    """Forward and backward; derivatives, determinants and symplectic defects have an axis of lanes too."""
    places = [0.4, 0.1, -0.3]
    for backward in (False, True):
        lanes = stepped(*CASES[case], start={**POINT, x: places}, backward=backward)
        assert lanes.jacobian.shape == (3, 4, 4) and lanes.determinant.shape == (3,)
        for k, place in enumerate(places):
            alone = stepped(*CASES[case], start={**POINT, x: place}, backward=backward)
            np.testing.assert_array_equal(lanes.after[k], alone.after)
            np.testing.assert_array_equal(lanes.jacobian[k], alone.jacobian)
            assert lanes[y][k] == alone[y] and lanes.symplectic_defect[k] == alone.symplectic_defect
    assert "in 3 lanes" in str(lanes)


def test_lanes_of_pairs():
    start = {**pair((0.4, 0.7), (0.43, 0.69)), x.at(1): [0.43, 0.41], t: 0.5}
    lanes = stepped(CASES["free"][0], start=start)
    alone = stepped(CASES["free"][0], start={**start, x.at(1): 0.41})
    np.testing.assert_array_equal(lanes.jacobian[1], alone.jacobian)
    np.testing.assert_array_equal(lanes.before[1], alone.before)


def test_a_method_that_is_not_symmetric_is_undone():
    for method in (da.RungeKutta4(), da.LeftPoint()):
        step = stepped(FREE, method, start=POINT)
        after = {**dict(zip(step.symbols, step.after, strict=True)), t: step.time}
        back = stepped(FREE, method, start=after, backward=True)
        np.testing.assert_allclose(back.after, step.before, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(back.jacobian @ step.jacobian, np.eye(4), atol=1e-13)


def test_the_lane_without_a_step_is_named():
    quartic = da.DiscreteSystem("quartic", [x], lagrangian=da.step * cos((x.at(1) - x.at(0)) / da.step))
    with pytest.raises(MethodError, match="flow: from the state of lane 1 there is no step forward: no solution found"):
        da.flow(quartic, start={x: 0, x.momentum: [0.1, 2]}, h=H)
