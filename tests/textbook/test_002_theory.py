"""C. I. Tori, Reduccion lagrangiana de sistemas mecanicos discretos con vinculos no holonomos: statements T1-T6, T12, T18.

Also statement 2.8 of the thermomechanical document (forward, then backward; the Jacobian by the implicit function theorem).
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert.analysis.steps.regularity import regularity
from dalembert.discrete.equations import momentum_minus, momentum_plus, step_map
from dalembert.discrete.flow import backward_step_map, pair_map, step_matrix
from dalembert.discrete.momentum import momentum_map, nonholonomic_momentum
from dalembert.engine.machine import PointMap
from dalembert.engine.tangent import tangent
from dalembert.errors import MethodError, ModelError, StartError
from dalembert.symbolic import gradient, number
from dalembert.waist.stepmap import pointwise

from ..conformance import systems

x, y, z = da.coordinates("x y z")
theta, phi = da.coordinates("theta phi")
m, I, J, R = da.parameters("m I J R", positive=True)
h = da.step


def slots(*coordinates):
    return [(q.at(0), q.at(1)) for q in coordinates]


def values(case):
    return [case.parameters[p] for p in case.system.parameters]


def outputs(stepmap, state, parameters, step, t):
    """The outputs of one step."""
    point = PointMap(pointwise("outputs", [*stepmap.state, "t"], stepmap.parameters, stepmap.outputs, stepmap.blocks))
    found, status = point(np.append(state, t)[None], np.array([parameters]), h=step, t=t)
    assert not status[0]
    return dict(zip(stepmap.outputs, found[0], strict=True))


METHODS = [da.LeftPoint(), da.RightPoint(), da.Midpoint(), da.Trapezoidal(), da.Galerkin(2)]


# T1-T3, 2.8: the flow, forward and backward


@pytest.mark.parametrize("case", [systems.free, systems.forced], ids=lambda c: c.__name__)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_backward_undoes_forward(method, case):
    """2.8 (ii) and T3 on nonlinear, time-dependent, forced systems; the tangent maps are inverse to each other."""
    c, step, t = case(), 0.1, 0.3
    discrete = method.discrete_system(c.system)
    forward, backward = step_map(discrete), backward_step_map(discrete)
    for state in np.random.default_rng(1).uniform(-0.8, 0.8, (4, 4)):
        after, T = tangent(forward, state, values(c), step, t)
        back, S = tangent(backward, after, values(c), step, t + step)
        assert np.abs(back - state).max() < 1e-12
        assert np.abs(S @ T - np.eye(4)).max() < 1e-11
        late, _ = tangent(backward, after, values(c), step, t)  # the control: the wrong time does not lead back
        assert np.abs(late - state).max() > 1e-5


@pytest.mark.parametrize(("method", "adjoint"), [
    (da.LeftPoint(), da.RightPoint()), (da.RightPoint(), da.LeftPoint()), (da.Midpoint(), da.Midpoint()),
])  # fmt: skip
def test_backward_with_a_negative_step_is_the_adjoint(method, adjoint):
    """(Phi_-h)^-1: of the left-point rule the right-point rule; of a symmetric method itself."""
    c, state = systems.free(), np.array([0.3, -0.2, 0.5, 0.4])
    one, _ = tangent(backward_step_map(method.discrete_system(c.system)), state, values(c), -0.1, 0.3)
    two, _ = tangent(adjoint.step_map(c.system), state, values(c), 0.1, 0.3)
    itself, _ = tangent(method.step_map(c.system), state, values(c), 0.1, 0.3)
    assert np.abs(one - two).max() < 1e-13
    assert (np.abs(one - itself).max() < 1e-13) == method.symmetric


@pytest.mark.parametrize(
    "case", [systems.nonholonomic, systems.independent_variations, systems.holonomic, systems.both_kinds],
    ids=lambda c: c.__name__,
)  # fmt: skip
@pytest.mark.parametrize("method", METHODS[:4], ids=repr)
def test_backward_under_constraints(method, case):
    """Positions and multipliers come back; the momentum up to h lambda omega, which the step forward had taken from it."""
    c, step = case(), 0.05
    run = da.simulate(c.system, method, h=step, steps=6, start=c.start, parameters=c.parameters)
    n, state = len(c.system.coordinates), run.records[0]
    discrete = method.discrete_system(c.system)
    backward = backward_step_map(discrete)
    now = state[6, : 2 * n]
    for k in range(6, 0, -1):
        if k < 6:  # the reaction at the node it leaves is that of the motion forward
            back, forth = (outputs(s, now, values(c), step, run.time[k]) for s in (backward, step_map(discrete)))
            there = run.columns_named(list(back)[: len(discrete.constraints)])[0, k]
            assert np.abs(list(back.values())[: len(there)] - there).max() < 1e-8  # a quotient by h of momenta
            assert np.abs(list(forth.values())[: len(there)]).max() < 1e-8  # forward it has been taken already
        now, _ = tangent(backward, now, values(c), step, run.time[k])
        assert np.abs(now[:n] - state[k - 1, :n]).max() < 1e-11
        names = {q.name: v for q, v in zip(discrete.coordinates, state[k - 1], strict=False)} | {"t": run.time[k - 1]}
        names |= {p.name: v for p, v in c.parameters.items()}
        forms = np.array([[number(a, names) for a in w] for w in discrete.variations])
        reaction = step * run.columns_named([f"multiplier.{a + 1}" for a in range(len(forms))])[0, k - 1] @ forms
        assert np.abs(now[n:] - state[k - 1, n : 2 * n] - reaction).max() < 1e-10
        again, _ = tangent(step_map(discrete), now, values(c), step, run.time[k - 1])
        assert np.abs(again - state[k, : 2 * n]).max() < 1e-10  # forward again, from the other representative
    assert np.abs(reaction).max() > 1e-4, "the representative is really another one"


@pytest.mark.parametrize("method", METHODS[:4], ids=repr)
def test_t2_t3_symplectic_on_pairs_and_on_phase_space(method):
    """T^t Omega T = Omega for (q0, q1) -> (q1, q2), Omega of the mixed Hessian; F+ and F- give one map of phase space."""
    c, step, t = systems.free(), 0.1, 0.3
    discrete = method.discrete_system(c.system)
    q = discrete.coordinates
    mixed = [gradient(d, [a.at(1) for a in q]) for d in gradient(discrete.lagrangian, [a.at(0) for a in q])]

    def omega(pair, time):
        at = dict(zip([a.at(k).name for k in (0, 1) for a in q], pair, strict=True)) | {"t": time, "step.h": step}
        at |= {p.name: v for p, v in c.parameters.items()}
        K = np.array([[number(e, at) for e in row] for row in mixed])
        return np.block([[np.zeros((2, 2)), K], [-K.T, np.zeros((2, 2))]]), at

    pair = np.array([0.3, -0.2, 0.34, -0.13])
    after, T = tangent(pair_map(discrete), pair, values(c), step, t)
    before, at = omega(pair, t)
    behind, later = omega(after, t + step)
    assert np.abs(T.T @ behind @ T - before).max() < 1e-11 * np.abs(before).max()
    assert np.abs(T.T @ before @ T - before).max() > 1e-4, "the control: Omega is not constant"
    minus, plus = momentum_minus(discrete), momentum_plus(discrete)
    p0, p1 = ([number(e, at) for e in p] for p in (minus, plus))
    moved, _ = tangent(step_map(discrete), [*pair[:2], *p0], values(c), step, t)
    assert np.abs(moved - [*pair[2:], *p1]).max() < 1e-12  # F-(q0, q1) -> F+(q0, q1)
    assert np.abs(np.array([number(e, later) for e in minus]) - p1).max() < 1e-12  # F-(q1, q2) = F+(q0, q1)


@pytest.mark.parametrize(
    "case", [systems.nonholonomic, systems.nonholonomic_forced, systems.holonomic], ids=lambda c: c.__name__
)
def test_pairs_under_constraints(case):
    """(4.10): the flow on pairs gives the positions and the multipliers of the motion carried by momenta."""
    c, step = case(), 0.05
    run = da.simulate(c.system, da.Midpoint(), h=step, steps=5, start=c.start, parameters=c.parameters)
    flow, q = pair_map(da.Midpoint().discrete_system(c.system)), run.table("position")[0]
    for k in range(4):
        pair = np.concatenate([q[k], q[k + 1]])
        after, _ = tangent(flow, pair, values(c), step, run.time[k])
        assert np.abs(after - np.concatenate([q[k + 1], q[k + 2]])).max() < 1e-11
        found = outputs(flow, pair, values(c), step, run.time[k])
        assert found["multiplier.1"] == pytest.approx(run.multipliers[k + 1, 0], abs=1e-8)


def test_2_8_jacobian_of_the_flow_on_pairs():
    """D Theta = [[0, 1], [D1 H, D2 H]], by differences; the forced system, where nothing is symplectic."""
    c, pair, eps = systems.forced(), np.array([0.3, -0.2, 0.34, -0.13]), 1e-6
    flow = pair_map(da.Midpoint().discrete_system(c.system))
    _, T = tangent(flow, pair, values(c), 0.1, 0.2)
    assert np.array_equal(T[:2], [[0, 0, 1, 0], [0, 0, 0, 1]])
    for j in range(4):
        ahead, behind = (tangent(flow, pair + s * eps * np.eye(4)[j], values(c), 0.1, 0.2)[0] for s in (1, -1))
        assert np.allclose(T[:, j], (ahead - behind) / (2 * eps), atol=1e-7)
    with pytest.raises(ModelError, match="positions inside the step"):
        pair_map(da.Galerkin(2).discrete_system(c.system))


# T12, errata 8 and 9: regularity


def e3():
    (x0, x1), (y0, y1) = slots(x, y)
    return da.DiscreteSystem(
        "E3", [x, y], lagrangian=m * ((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2, variations=[y.dot - x * x.dot],
        constraints=[y1 - y0 - (x1 + x0) * (x1 - x0) / 2],
    )  # fmt: skip


def on_e3(a, b):
    return {x.at(0): a, x.at(1): b, y.at(0): 0.0, y.at(1): (b**2 - a**2) / 2}


def test_erratum_9_the_step_matrix_of_e3():
    """det of the bordered matrix is m h (1 + x1 x2): L_d is regular everywhere, the step is not."""
    system = e3()
    matrix = sympy.Matrix([[system.read(e) for e in row] for row in step_matrix(system)])
    assert sympy.expand(matrix.det() - m * h * (1 + x.at(0) * x.at(1))) == 0
    assert matrix[:2, :2].det() == m**2


@pytest.mark.parametrize(("a", "b"), [(1.0, -1.0), (2.0, -0.5), (-0.25, 4.0)])
def test_erratum_9_e3_at_the_counterexample(a, b):
    found = regularity(e3(), at=on_e3(a, b), h=1, parameters={m: 1.7})
    assert not found.ok
    assert "although L_d is regular" in found.irregular[0].reason
    assert found.lagrangian[0] == pytest.approx(1, abs=1e-12)
    assert found.pairing[0] < 1e-14
    assert found.condition[0] > 1e14
    beside = regularity(e3(), at=on_e3(a, b + 0.01), h=1, parameters={m: 1.7})
    assert beside.ok
    assert beside.condition[0] < 1e5


def test_t12_the_pairing_is_that_of_the_theorem():
    """margin = |b.K c| / (|b| |c| |K|) with b, c spanning D and ker D2 chi: here m |1 + x1 x2| / (m |b| |c|)."""
    for a, b in ((0.5, 0.6), (1.0, -0.9), (2.0, 3.0)):
        found = regularity(e3(), at=on_e3(a, b), h=1, parameters={m: 1.7})
        assert found.pairing[0] == pytest.approx(abs(1 + a * b) / np.sqrt((1 + a * a) * (1 + b * b)), rel=1e-12)


def test_erratum_7_the_sign_of_the_form_of_l_d():
    """(F- L_d)* (dq ^ dp) is minus D1 D2 L_d dq0 ^ dq1."""
    c = systems.free()
    discrete = da.Midpoint().discrete_system(c.system)
    first, second = ([q.at(k) for q in discrete.coordinates] for k in (0, 1))
    at = dict(zip([s.name for s in (*first, *second)], [0.3, -0.2, 0.34, -0.13], strict=True)) | {
        "t": 0.3,
        "step.h": 0.1,
    }
    at |= {p.name: v for p, v in c.parameters.items()}

    def slopes(of, by):
        return np.array([[number(e, at) for e in gradient(f, by)] for f in of])

    zero, one, p = np.zeros((2, 2)), np.eye(2), momentum_minus(discrete)
    K = slopes(gradient(discrete.lagrangian, first), second)
    F = np.block([[one, zero], [slopes(p, first), slopes(p, second)]])
    pulled = F.T @ np.block([[zero, one], [-one, zero]]) @ F
    omega = np.block([[zero, K], [-K.T, zero]])
    assert np.abs(pulled + omega).max() < 1e-12 * np.abs(omega).max() < np.abs(pulled - omega).max()


def test_erratum_8_a_regular_pairing_vanishes_for_some_pairs_of_velocities():
    """For each non-zero vector there is another with which it does not vanish; not for all of them."""
    (x0, x1), (y0, y1), (z0, z1) = slots(x, y, z)
    system = da.DiscreteSystem(
        "E7", [x, y, z], lagrangian=m * ((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / 2,
        variations=[y.dot - x * x.dot], constraints=[y1 - y0 - (x1**2 - x0**2) / 2],
    )  # fmt: skip
    found = regularity(system, at=on_e3(0.5, 0.6) | {z0: 0.1, z1: 0.13}, h=1, parameters={m: 1.7})
    K = -1.7 * np.eye(3)
    across, along, behind = np.array([1, 0.5, 0]), np.array([0, 0, 1]), np.array([1, 0.6, 0])
    assert found.ok and across @ K @ along == 0
    pairing = [[b @ K @ c for c in (behind, along)] for b in (across, along)]
    assert np.linalg.matrix_rank(pairing) == 2


def e3_run(x0, steps=4):
    """From (x0, 1): two solutions for x0 < sqrt(8) - 1, one at x0 = sqrt(8) - 1 with x1 x2 = -1, none beyond."""
    start = on_e3(x0, 1.0)
    return da.simulate(e3(), h=1, steps=steps, start=start, parameters={m: 1}, strict=False)


def test_a_run_that_meets_the_irregular_step():
    regular, double, beyond = e3_run(1.5), e3_run(np.sqrt(8) - 1, 2), e3_run(1.9)
    assert regularity(regular).ok
    assert "every step is determined" in str(regularity(regular))
    (met,) = regularity(double).irregular
    assert met.step == 2
    assert "do not fit together" in met.reason
    assert beyond.status is not da.Status.CONVERGED
    (ended,) = regularity(beyond).irregular  # the residual has its least value where x1 x2 = -1
    assert ended.step == 2
    assert "x = -1" in ended.reason
    assert "no solution" in ended.reason
    assert "although L_d is regular" in ended.reason


def test_a_run_that_ends_singular_says_why():
    (x0, x1), (y0, y1) = slots(x, y)
    vanishing = da.DiscreteSystem("vanishing mass", [x, y], lagrangian=(y0 * (x1 - x0) ** 2 + (y1 - y0) ** 2) / (2 * h))
    run = da.simulate(vanishing, h=0.25, steps=8, start={x: 0, y: 1, x.momentum: 0, y.momentum: -1}, strict=False)
    assert run.status is da.Status.SINGULAR
    (ended,) = regularity(run).irregular
    assert (ended.step, ended.time) == (5, 1.0)
    assert "ended with SINGULAR: the discrete Lagrangian is degenerate" in ended.reason
    shorter = da.simulate(vanishing, h=0.25, steps=4, start={x: 0, y: 1, x.momentum: 0, y.momentum: -1})
    assert regularity(shorter).ok


def test_other_reasons():
    (x0, x1), (y0, y1) = slots(x, y)
    plane = ((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2
    pushed = da.DiscreteSystem("pushed", [x], lagrangian=(x1 - x0) ** 2 / (2 * h), force_minus={x: x0 * (x1 - x0) / h})
    at = {x0: 1.0, x1: 1.2}
    assert "the forces cancel the inertia" in regularity(pushed, at=at, h=0.1).irregular[0].reason
    assert regularity(pushed, at={x0: 0.9, x1: 1.2}, h=0.1).ok
    forms = da.DiscreteSystem("forms", [x, y], lagrangian=plane, variations=[x * y.dot], constraints=[y1 - y0])
    assert "variations are linearly dependent" in str(regularity(forms, at={x0: 0, x1: 1, y0: 0, y1: 0}, h=1))
    kinds = da.DiscreteSystem("kinds", [x, y], lagrangian=plane, variations=[y.dot], constraints=[x1 * (y1 - y0)])
    assert "D2 chi loses rank" in str(regularity(kinds, at={x0: 1, x1: 0, y0: 0, y1: 0}, h=1))


@pytest.mark.parametrize(
    "method", [da.Midpoint(), da.Gauss(2), da.Composition(da.Midpoint(), 4), da.Galerkin(2)], ids=repr
)
def test_regularity_of_any_method_and_of_lanes(method):
    case = systems.free()
    start = case.start | {x: np.array([0.7, 0.2, -0.3])}
    run = da.simulate(case.system, method, h=0.05, steps=20, start=start, parameters=case.parameters)
    found = regularity(run)
    assert found.ok
    assert found.condition.shape == (3, 20)
    assert (found.condition < 100).all()
    assert "|---|" in found._repr_markdown_()


def test_the_condition_is_that_of_the_matrix_newton_solves():
    """Both are of D2 D1 L_d, whatever the scaling: equal up to the factor h for one coordinate, so the same when scaled."""
    case = systems.free()
    run = da.simulate(case.system, da.Midpoint(), h=0.05, steps=3, start=case.start, parameters=case.parameters)
    discrete = da.Midpoint().discrete_system(case.system)
    at = {c.at(k).name: run[c][k] for c in discrete.coordinates for k in (0, 1)} | {"t": 0.0, "step.h": 0.05}
    at |= {p.name: v for p, v in case.parameters.items()}
    K = np.array([[number(e, at) for e in row] for row in step_matrix(discrete)])
    found = regularity(run)
    assert np.sign(found.determinant[0]) == np.sign(np.linalg.det(K))
    assert found.condition[0] <= np.linalg.cond(K) * 1.01


def test_what_regularity_is_asked_for():
    run = da.simulate(e3(), h=1, steps=4, every=2, start=on_e3(0.5, 0.6), parameters={m: 1})
    with pytest.raises(MethodError, match="every=1"):
        regularity(run)
    with pytest.raises(StartError, match=r"write regularity\(system, at="):
        regularity(e3())
    with pytest.raises(MethodError, match="Expected a run"):
        regularity(3)


# T5, T6: Noether


def particle():
    """E1."""
    (x0, x1), (y0, y1), (z0, z1) = slots(x, y, z)
    kinetic = ((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / (2 * h)
    return da.DiscreteSystem("E1", [x, y, z], lagrangian=kinetic - h * ((x1 + x0) ** 2 + (y1 + y0) ** 2) / 8)


START = {x: 1, y: 0.3, z: -0.2, x.momentum: 0.2, y.momentum: -0.5, z.momentum: 0.7}


def test_t5_e1_rotation_and_translation():
    """J = (1/h + h/4)(x0 y1 - y0 x1) and (z1 - z0)/h; along x there is no symmetry, and nothing is conserved."""
    (x0, x1), (y0, y1), (z0, z1) = slots(x, y, z)
    run = da.simulate(particle(), h=0.05, steps=500, start=START)
    spin, lift = momentum_map(particle(), {x: -y, y: x}), momentum_map(particle(), {z: 1})
    at = {s: v for s, v in zip((x0, x1, y0, y1, z0, z1, h), (0.3, 0.5, -0.2, 0.7, 0.1, 0.4, 0.2), strict=True)}  # noqa: C416
    for J, stated in ((spin, (1 / h + h / 4) * (x0 * y1 - y0 * x1)), (lift, (z1 - z0) / h)):
        assert J.conserved
        assert J.symmetric
        assert float((J.minus - stated).subs(at)) == pytest.approx(0, abs=1e-13)
        assert float((J.plus - stated).subs(at)) == pytest.approx(0, abs=1e-13)  # T6: both ends agree
        assert np.ptp(J.along(run)) < 1e-12
    no = momentum_map(particle(), {x: 1})
    assert not no.conserved
    assert "NO" in str(no)
    assert np.ptp(no.along(run)) > 0.5
    assert float((no.minus - no.plus).subs(at)) != pytest.approx(0, abs=1e-3)


def test_t5_kepler_rotation_with_lanes():
    example = da.gallery.load("kepler")
    q = {c.name: c for c in example.system.coordinates}
    J = momentum_map(da.Midpoint().discrete_system(example.system), {q["x"]: -q["y"], q["y"]: q["x"]})
    assert J.conserved
    start = dict(example.start) | {q["x"]: np.array([1.0, 1.1])}
    run = da.simulate(example.system, da.Midpoint(), h=0.05, steps=2000, start=start, parameters=example.parameters)
    found = J.along(run)
    assert found.shape == (2, 2000)
    # The orbits are open. Far away differences of positions lose digits: r times the rounding of r, over h.
    far = np.hypot(run.x, run.y).max(axis=1, keepdims=True)
    rounding = 4 * np.finfo(float).eps * far**2 / 0.05 / np.abs(found[:, :1])
    assert (np.abs(found / found[:, :1] - 1) < rounding).all()
    assert rounding.max() < 1e-9
    squeezed = momentum_map(da.Midpoint().discrete_system(example.system), {q["x"]: -q["y"], q["y"]: 2 * q["x"]})
    assert not squeezed.conserved
    assert np.ptp(squeezed.along(run)) > 0.1


def test_t5_interior_positions_move_along():
    """The polynomial through rotated positions is the rotated polynomial, so Galerkin methods keep the momentum too."""
    example = da.gallery.load("kepler")
    q = {c.name: c for c in example.system.coordinates}
    J = momentum_map(da.Galerkin(2).discrete_system(example.system), {q["x"]: -q["y"], q["y"]: q["x"]})
    assert J.conserved
    run = da.simulate(
        example.system, da.Galerkin(2), h=0.05, steps=200, start=example.start, parameters=example.parameters
    )
    found = J.along(run)
    assert np.abs(found / found[0] - 1).max() < 1e-12


def test_forces_that_do_no_work_along_the_symmetry():
    """A force along the radius keeps the angular momentum; friction is invariant too, but works along the rotation."""
    radial = da.System(
        "radial", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, forces={x: -(x**3) - x * y**2, y: -(y**3) - y * x**2}
    )
    rubbed = da.System("rubbed", [x, y], kinetic=(x.dot**2 + y.dot**2) / 2, dissipation=(x.dot**2 + y.dot**2) / 2)
    start = {x: 1, y: 0, x.dot: 0.1, y.dot: 0.8}
    for system, conserved in ((radial, True), (rubbed, False)):
        discrete = da.Midpoint().discrete_system(system)
        J = momentum_map(discrete, {x: -y, y: x})
        assert J.conserved == conserved
        assert J.symmetric
        run = da.simulate(system, da.Midpoint(), h=0.05, steps=200, start=start)
        assert (np.ptp(J.along(run)) < 1e-12) == conserved


def test_constraints_decide_what_is_conserved_and_what_is_symmetric():
    """The disk: turning about the vertical is admissible; a translation is a symmetry, but no admissible variation."""
    disk = da.Midpoint().discrete_system(da.gallery.load("rolling-disk").system)
    turn = momentum_map(disk, {phi: 1})
    assert turn.conserved
    assert not turn.symmetric  # phi alone does not carry the constraint into itself
    whole = momentum_map(disk, {x: -y, y: x, phi: 1})
    assert whole.symmetric
    assert not whole.conserved
    shift = momentum_map(disk, {x: 1})
    assert shift.symmetric
    assert not shift.conserved
    parameters = {"m": 1.1, "I": 0.6, "J": 0.3, "R": 0.8}
    start = {"x": 0, "y": 0, "theta": 0, "phi": 0.2, "theta.dot": 1, "phi.dot": 0.5}
    run = da.simulate(
        da.gallery.load("rolling-disk").system, da.Midpoint(), h=0.1, steps=100, start=start, parameters=parameters
    )
    assert np.ptp(turn.along(run)) < 1e-13
    assert np.ptp(shift.along(run)) > 0.1
    assert np.ptp(whole.along(run)) > 0.01


def test_generators_that_make_no_sense():
    with pytest.raises(ModelError, match="theta is not among the coordinates"):
        momentum_map(particle(), {theta: 1})
    with pytest.raises(ModelError, match=r"generator: got \[1, 0, 0\]. Expected \{x: expression\}"):
        momentum_map(particle(), [1, 0, 0])
    with pytest.raises(ModelError, match=r"A symmetry is a vector field"):
        momentum_map(particle(), {x: da.parameters("c")})
    J = momentum_map(particle(), {x: -y, y: x})
    with pytest.raises(ModelError, match="computed with every=1"):
        J.along(da.simulate(particle(), h=0.05, steps=4, every=2, start=START))
    assert "conserved exactly" in str(J)
    assert "$" in J._repr_markdown_()
    assert "|---|" in J._repr_markdown_()


# T18 = (5.10): the nonholonomic momentum


def disk():
    """E5, h = 1."""
    (x0, x1), (y0, y1), (a0, a1), (b0, b1) = slots(x, y, theta, phi)
    return da.DiscreteSystem(
        "E5", [x, y, theta, phi],
        lagrangian=m * ((x1 - x0) ** 2 + (y1 - y0) ** 2) / 2 + I * (a1 - a0) ** 2 / 2 + J * (b1 - b0) ** 2 / 2,
        variations=[x.dot - R * da.cos(phi) * theta.dot, y.dot - R * da.sin(phi) * theta.dot],
        constraints=[
            x1 - x0 - R * (a1 - a0) * da.cos((b0 + b1) / 2), y1 - y0 - R * (a1 - a0) * da.sin((b0 + b1) / 2)
        ],
    )  # fmt: skip


def disk_run(system=None, force=None):
    dtheta, dphi, phi0, A = 0.31, 0.17, 0.4, 0.8
    start = {
        x.at(0): 0.2,
        y.at(0): -0.3,
        theta.at(0): 0.1,
        phi.at(0): phi0,
        theta.at(1): 0.1 + dtheta,
        phi.at(1): phi0 + dphi,
    }
    start |= {x.at(1): 0.2 + A * dtheta * np.cos(phi0 + dphi / 2), y.at(1): -0.3 + A * dtheta * np.sin(phi0 + dphi / 2)}
    values = {m: 1.1, I: 0.6, J: 0.3, R: A}
    return da.simulate(system or disk(), h=1, steps=200, start=start, parameters=values), dtheta, dphi, values


SECTION = {x: R * da.cos(phi), y: R * da.sin(phi), theta: 1}


@pytest.mark.parametrize("variant", ["minus", "plus"])
def test_t18_e5_evolution(variant):
    run, dtheta, dphi, v = disk_run()
    momentum = nonholonomic_momentum(disk(), SECTION, variant=variant)
    assert momentum.evolves
    assert np.abs(momentum.residual(run)).max() < 1e-12
    stated = (v[I] + v[m] * v[R] ** 2 * np.cos(dphi / 2)) * dtheta
    assert momentum.along(run) == pytest.approx(stated, abs=1e-12)


def test_t18_e4_a_momentum_that_is_not_conserved():
    """L_d of the free particle with the constraint of E2: J = ((x1 - x0) + y0 (z1 - z0))/h, and its variant of Cortes."""
    (x0, x1), (y0, y1), (z0, z1) = slots(x, y, z)
    e4 = da.DiscreteSystem(
        "E4", [x, y, z], lagrangian=((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / (2 * h),
        variations=[z.dot - y * x.dot], constraints=[z1 - z0 - (y1 + y0) * (x1 - x0) / 2],
    )  # fmt: skip
    run = da.simulate(e4, h=0.05, steps=200, start={x0: 1, y0: 0.5, z0: 0, x1: 1.02, y1: 0.475, z1: 0.00975})
    here, there = (nonholonomic_momentum(e4, {x: 1, z: y}, variant=v) for v in ("minus", "plus"))
    q = [run[c] for c in (x, y, z)]
    dx, dz = np.diff(q[0]), np.diff(q[2])
    assert here.along(run) == pytest.approx((dx + q[1][:-1] * dz) / 0.05, abs=1e-12)
    assert there.along(run) == pytest.approx((dx + q[1][1:] * dz) / 0.05, abs=1e-12)
    assert np.ptp(here.along(run)) > 0.05
    for momentum in (here, there):
        assert momentum.evolves
        assert np.abs(momentum.residual(run)).max() < 1e-12
    # erratum 14: the two agree for constant sections only
    assert np.abs(here.along(run) - there.along(run)).max() > 1e-3
    along_y = [nonholonomic_momentum(e4, {y: 1}, variant=v).along(run) for v in ("minus", "plus")]
    assert np.abs(along_y[0] - along_y[1]).max() < 1e-13


def in_a_trough():
    """The constraint of E2 with other weights, in a potential that depends on y: there is no symmetry along y."""
    (x0, x1), (y0, y1), (z0, z1) = slots(x, y, z)
    kinetic = m * ((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) / (2 * h)
    system = da.DiscreteSystem(
        "trough", [x, y, z], lagrangian=kinetic - h * y0**4, variations=[z.dot - y * x.dot],
        constraints=[z1 - z0 - (y0 + 2 * y1) / 3 * (x1 - x0)],
    )  # fmt: skip
    start = {x0: 1, y0: 0.5, z0: 0, x1: 1.02, y1: 0.475, z1: 1.45 / 3 * 0.02}
    return system, da.simulate(system, h=0.05, steps=100, parameters={m: 1.3}, start=start)


@pytest.mark.parametrize("variant", ["minus", "plus"])
def test_t18_asks_for_the_symmetries_of_the_section_only(variant):
    """Coordinates that the section leaves out, or gives a coefficient of zero, need not be cyclic."""
    system, run = in_a_trough()
    sections = [
        ({x: 1, z: y}, None),
        ({x: 1, y: 0, z: y}, None),
        ([1, y], [{x: 1}, {z: 1}]),
        ([1, 0], [{x: 1, z: y}, {y: 1}]),
    ]
    for section, generators in sections[:3]:
        momentum = nonholonomic_momentum(system, section, generators, variant)
        assert momentum.evolves
        assert np.abs(momentum.residual(run)).max() < 1e-12
        assert np.ptp(momentum.along(run)) > 0.01
    for section, generators in (({y: 1}, None), ({x: 1, y: 1, z: y}, None), sections[3]):  # the controls
        momentum = nonholonomic_momentum(system, section, generators, variant)
        assert not momentum.evolves
        assert "invariant under the section, its coefficients frozen  NO" in str(momentum)
        assert np.abs(momentum.residual(run)).max() > 1e-4


@pytest.mark.parametrize("variant", ["minus", "plus"])
def test_t18_control_sections_that_are_not_admissible(variant):
    run, *_ = disk_run()
    for section in ({x: 1}, {y: 1}, {x: R * da.cos(phi), y: 2 * R * da.sin(phi), theta: 1}):
        momentum = nonholonomic_momentum(disk(), section, variant=variant)
        assert not momentum.evolves
        assert "does NOT evolve" in str(momentum)
        assert np.abs(momentum.residual(run)).max() > 1e-3


def test_t18_with_forces_and_with_other_generators():
    """Friction on the rolling: its work enters the evolution. The same section over a twisted basis says the same."""
    (a0, a1), D = slots(theta)[0], disk()
    rubbed = da.DiscreteSystem(
        "E5, rubbed", D.coordinates, lagrangian=D.read(D.lagrangian), force_minus={theta: -(a1 - a0) / 20},
        force_plus={theta: -(a1 - a0) / 20}, constraints=[D.read(c) for c in D.constraints],
        variations=[x.dot - R * da.cos(phi) * theta.dot, y.dot - R * da.sin(phi) * theta.dot],
    )  # fmt: skip
    run, *_ = disk_run(rubbed)
    for variant in ("minus", "plus"):
        momentum = nonholonomic_momentum(rubbed, SECTION, variant=variant)
        assert momentum.evolves
        assert np.abs(momentum.residual(run)).max() < 1e-12
        assert np.ptp(momentum.along(run)) > 0.01
        twisted = nonholonomic_momentum(
            rubbed, [R * da.cos(phi), R * da.sin(phi) - 1, 1], [{x: 1}, {y: 1}, {theta: 1, y: 1}], variant
        )
        assert np.abs(twisted.along(run) - momentum.along(run)).max() < 1e-13
        assert np.abs(twisted.residual(run)).max() < 1e-12
    without = nonholonomic_momentum(D, SECTION)  # the evolution of the free disk is not that of the rubbed one
    assert np.abs(without.residual(run)).max() > 1e-3


@pytest.mark.parametrize("method", [da.LeftPoint(), da.Midpoint()], ids=repr)
@pytest.mark.parametrize("variant", ["minus", "plus"])
def test_t18_generators_that_depend_on_the_position(variant, method):
    """dz = (1 + r^2)(x dy - y dx) in a central potential: rotation about z, with the climb that makes it admissible."""
    r2 = x**2 + y**2
    system = da.System(
        "screw", [x, y, z], kinetic=(x.dot**2 + y.dot**2 + z.dot**2) / 2, potential=r2**2 / 4,
        constraints=[z.dot - (1 + r2) * (x * y.dot - y * x.dot)],
    )  # fmt: skip
    run = da.simulate(system, method, h=0.05, steps=200, start={x: 1, y: 0.2, z: 0, x.dot: 0.3, y.dot: 0.4})
    discrete, basis = method.discrete_system(system), [{x: -y, y: x}, {z: 1}]
    momentum = nonholonomic_momentum(discrete, [1, r2 * (1 + r2)], basis, variant)
    assert momentum.evolves
    assert np.ptp(momentum.along(run)) > 0.01
    assert np.abs(momentum.residual(run)).max() < 1e-12
    alone = nonholonomic_momentum(discrete, [1], basis[:1], variant)
    assert not alone.evolves
    assert np.abs(alone.residual(run)).max() > 1e-3


def test_sections_that_make_no_sense():
    with pytest.raises(ModelError, match="3 coefficients and no generators"):
        nonholonomic_momentum(disk(), [1, 2, 3])
    with pytest.raises(ModelError, match='variant="minus"'):
        nonholonomic_momentum(disk(), SECTION, variant="Cortes")
    with pytest.raises(ModelError, match="one for each"):
        nonholonomic_momentum(disk(), SECTION, generators=[{x: 1}])
    momentum = nonholonomic_momentum(disk(), SECTION)
    assert "$" in momentum._repr_markdown_()
    assert "|---|" in momentum._repr_markdown_()
