"""Symplectic, symmetric, momentum and constraints: each claim has a check, and a control that must fail it."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert.engine.tangent import tangent, tangents
from dalembert.methods import REGISTRY

from . import systems
from .methods import METHODS, accepts

FREE = [m for m in METHODS if accepts(m, systems.free) or accepts(m, systems.separable)]
CONTROL = da.RungeKutta4()
CONTROLS = (CONTROL, da.DormandPrince8(), da.Nystrom12())


def test_every_registered_method_is_measured():
    assert {type(m) for m in METHODS} == {kind for kind in REGISTRY.values() if not kind.adaptive}


def claiming(claim, case, *controls):
    """Methods that make a claim, and controls that do not and must fail the check."""
    able = [m for m in METHODS if accepts(m, case)] if case else FREE
    return pytest.mark.parametrize("method", [m for m in able if getattr(m, claim) or m in controls], ids=repr)


def case_for(method):
    return systems.free() if accepts(method, systems.free) else systems.separable()


def random_states(n, seed=1):
    return np.random.default_rng(seed).uniform(-0.8, 0.8, (5, n))


def values(case):
    return [case.parameters[p] for p in case.system.parameters]


def to_momenta(case, state, t):
    """d(q, p)/d(q, v) at a state (q, v), by SymPy: the change of variables for methods that carry velocities."""
    s = case.system
    names = [*s.coordinates, *s.velocities]
    p = [s.lagrangian.diff(v) for v in s.velocities]
    matrix = sympy.Matrix([*s.coordinates, *p]).jacobian(names)
    return np.array(matrix.subs({**dict(zip(names, state, strict=True)), da.time: t, **case.parameters}), dtype=float)


def length(method):
    """Of a step in which what a method lacks can be seen: errors of a method of high order are rounding in a short one."""
    return 0.1 if method.order < 8 else 1.5


def symplectic_defect(method, t=0.3):
    """The largest entry of T^t J T - J over random states, T the exact tangent map in (q, p)."""
    case, h = case_for(method), length(method)
    step_map, n = method.step_map(case.system), len(case.system.coordinates)
    J = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    states, worst = random_states(2 * n), 0.0
    ends, slopes, status = tangents(step_map, states, np.array([values(case)]), h, t)
    assert not status.any()
    if method.carries == "velocity":
        charts = [np.stack([to_momenta(case, s, at) for s in rows]) for rows, at in ((states, t), (ends, t + h))]
        slopes = charts[1] @ slopes @ np.linalg.inv(charts[0])
    for T in slopes:
        worst = max(worst, np.abs(T.T @ J @ T - J).max())
    return worst


@claiming("symplectic", None, *CONTROLS, da.DiscreteGradient())
def test_symplectic(method):
    defect = symplectic_defect(method)
    if method.symplectic:
        assert defect < 1e-11
    else:
        assert defect > 1e-9, "the control must fail the check"


def asymmetry(method, t=0.3):
    case, h = case_for(method), length(method)
    step_map = method.step_map(case.system)
    states, parameters = random_states(len(step_map.state), seed=2), np.array([values(case)])
    ends, _, _ = tangents(step_map, states, parameters, h, t)
    back, _, status = tangents(step_map, ends, parameters, -h, t + h)
    assert not status.any()
    return float(np.abs(back - states).max())


@claiming("symmetric", None, *CONTROLS, da.LeftPoint(), da.RightPoint())
def test_symmetric(method):
    """A step backward undoes a step forward; methods that do not claim it are the controls."""
    if method.symmetric:
        assert asymmetry(method) < 1e-11
    else:
        assert asymmetry(method) > 1e-9


ELLIPSOID, ELLIPSOID_OF_VARYING_MASS = (
    da.System(
        f"ellipsoid {varying}",
        [systems.x, systems.y, systems.z],
        kinetic=(systems.x.dot**2 + (2 + varying * systems.x**2) * systems.y.dot**2 + systems.z.dot**2) / 2,
        potential=systems.x * systems.y + systems.z**3,
        constraints=[systems.x**2 + systems.y**2 + 2 * systems.z**2 - 1],
    )
    for varying in (0, 1)
)
KINDS = {"holonomic": systems.holonomic, "kinematic": systems.nonholonomic, "forced": systems.nonholonomic_forced}


@pytest.mark.parametrize(
    ("method", "kind"),
    [(m, k) for m in METHODS for k, case in KINDS.items() if (m.symmetric or m == CONTROL) and accepts(m, case)],
    ids=str,
)
def test_symmetric_under_constraints(method, kind):
    """Positions only: of variational methods, momenta come back up to the span of the constraints' forms."""
    case, h = KINDS[kind](), 0.1
    run = da.simulate(case.system, method, h=h, steps=2, start=case.start, parameters=case.parameters)
    step_map, n = method.step_map(case.system), len(case.system.coordinates)
    state = run.records[0, 1, : len(step_map.state)]
    after, _ = tangent(step_map, state, values(case), h, h)
    back, _ = tangent(step_map, after, values(case), -h, 2 * h)
    off = np.abs((back - state)[:n]).max()
    if method.symmetric:
        assert off < 1e-12
    else:
        assert off > 1e-10, "the control must fail the check"


def test_the_trapezoidal_rule_is_shake():
    """The positions of RATTLE, where masses are constant; the control, where they are not, is another method."""
    for system, same in ((ELLIPSOID, True), (ELLIPSOID_OF_VARYING_MASS, False)):
        start = {systems.x: 0.6, systems.y: 0.8, systems.z: 0.0, systems.x.dot: 0.8, systems.z.dot: 0.5}
        shake, rattle = (
            da.simulate(system, m, h=0.05, steps=200, start=start) for m in (da.Trapezoidal(), da.Rattle())
        )
        assert (np.abs(shake.x - rattle.x).max() < 1e-13) == same


def test_what_refuses_free_systems_claims_nothing_about_them():
    """RATTLE is symplectic on the constraint manifold, and keeps momenta; no other method for constraints alone does."""
    for method in METHODS:
        if not (accepts(method, systems.free) or accepts(method, systems.separable)):
            assert method == da.Rattle() or not (method.symplectic or method.momentum or method.energy)


def to_extended_momenta(case, state, t):
    """d(q, p, chi)/d(q, v, mu) with p = d(L + mu chi)/dv, at a state (q, v, mu) of a vakonomic system."""
    s = case.system
    (mu,), (c,) = s.multipliers, s.constraints
    p = [(s.lagrangian + mu * c.expression).diff(v) for v in s.velocities]
    names = [*s.coordinates, *s.velocities, mu]
    matrix = sympy.Matrix([*s.coordinates, *p, c.expression]).jacobian(names)
    return np.array(matrix.subs({**dict(zip(names, state, strict=True)), da.time: t, **case.parameters}), dtype=float)


@pytest.mark.parametrize("case", [systems.vakonomic, systems.vakonomic_nonlinear], ids=lambda c: c.__name__)
@claiming("symplectic", systems.vakonomic, *CONTROLS)
def test_symplectic_on_the_extended_phase_space(method, case):
    """(q, p) with p = d(L + mu chi)/dv has no constraint: a variational step is symplectic there."""
    case, h, n = case(), min(length(method), 0.4), 3
    if method.carries == "momentum":
        step = da.flow(case.system, method, h=h, start={**case.start, da.time: 0.3}, parameters=case.parameters)
        defect = step.symplectic_defect
    else:
        s = case.system
        known = da.evaluate(s, at={**case.start, da.time: 0.3}, parameters=case.parameters)
        start = np.array([*(case.start[q] for q in s.coordinates), *known.velocities.values(), *known.multipliers])
        end, T = tangent(method.step_map(s), start, values(case), h, 0.3)
        first, last = to_extended_momenta(case, start, 0.3), to_extended_momenta(case, end, 0.3 + h)
        T = (last @ T @ np.linalg.inv(first))[: 2 * n, : 2 * n]
        J = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
        defect = np.abs(T.T @ J @ T - J).max()
    if method.symplectic:
        assert defect < 1e-13
    else:
        assert defect > 1e-9, "the control must fail the check"


@claiming("momentum", systems.vakonomic, CONTROL)
def test_momentum_with_multipliers(method):
    """Of the vakonomic disc: x, y and theta are cyclic in L + mu chi."""
    disc = da.gallery.load("rolling-disk")
    system = disc.system.replace(principle=da.Vakonomic())
    mu = system.multipliers
    start = {**{k: v for k, v in disc.start.items() if k.name not in ("x.dot", "y.dot")}, mu[0]: 0.3, mu[1]: -0.2}
    run = da.simulate(system, method, h=0.1, steps=1000, start=start, parameters=disc.parameters)
    rows = da.audit(run, seconds=0)
    names = [f"momentum of {q} with multipliers" for q in ("x", "y", "theta")]
    if method.momentum:
        assert all(rows[name].verdict == "kept to rounding" for name in names)
    else:
        assert any(rows[name].verdict != "kept to rounding" for name in names), "the control must fail the check"


def test_tangent_map_is_the_derivative():
    """The implicit function theorem against a difference of neighbouring steps."""
    case = systems.forced()
    for method in (da.Midpoint(), da.RungeKutta4()):
        step_map = method.step_map(case.system)
        state, eps = random_states(4, seed=3)[0], 1e-6
        _, T = tangent(step_map, state, values(case), 0.1, 0.2)
        for j in range(4):
            shift = eps * np.eye(4)[j]
            ahead, _ = tangent(step_map, state + shift, values(case), 0.1, 0.2)
            behind, _ = tangent(step_map, state - shift, values(case), 0.1, 0.2)
            assert np.allclose(T[:, j], (ahead - behind) / (2 * eps), atol=1e-8)


LONG = 100_000


def long_run(name, method, h, **more):
    example = da.gallery.load(name)
    return da.simulate(
        example.system, method, h=h, steps=LONG, every=100, start=example.start, parameters=example.parameters, **more
    )


@claiming("momentum", systems.free, CONTROL)
def test_momentum(method):
    """The momentum of a cyclic coordinate over 1e5 steps: to rounding, or visibly not."""
    run = long_run("spherical-pendulum", method, 0.02)
    p = run["phi.momentum"]
    drift = np.abs(p / p[0] - 1).max()
    if method.momentum:
        assert drift < np.finfo(float).eps  # nothing is added to it
    else:
        assert drift > 1e-9, "the control must fail the check"


def test_momentum_stormer_verlet():
    """Angular momentum is no cyclic momentum in Cartesian coordinates, but quadratic invariance makes it exact."""
    run = long_run("kepler", da.StormerVerlet(), 0.02)
    x, y, px, py = (run[k] for k in ("x", "y", "x.momentum", "y.momentum"))
    assert np.abs((x * py - y * px) / (x * py - y * px)[0] - 1).max() < np.finfo(float).eps * np.sqrt(LONG)


@claiming("constraints", systems.holonomic, CONTROL)
def test_holonomic_constraint(method):
    run = long_run("pendulum-cartesian", method, 0.02, strict=False)  # the control ends early, far off the circle
    l = float(run.parameters["l"])
    off = np.nanmax(np.abs(np.hypot(run.x, run.y) / l - 1))
    if method.constraints:
        assert off < 1e-13
    else:
        assert off > 1e-9, "the control must fail the check"


@claiming("constraints", systems.nonholonomic, CONTROL)
def test_kinematic_constraint(method):
    """On every step for variational methods; at the nodes for the control."""
    run = long_run("nonholonomic-particle", method, 0.05)
    off = da.audit(run)["-y*x.dot + z.dot = 0"].deviation  # relative: the motion of a first-order method grows
    if method.constraints:
        assert off < 1e-14
        assert np.abs(run.step_residuals[:5]).max() < 1e-15
    else:
        assert off > 1e-9, "the control must fail the check"


@pytest.mark.parametrize("method", [da.LeftPoint(), da.Midpoint(), da.Trapezoidal()], ids=repr)
def test_audit_agrees(method):
    run = long_run("nonholonomic-particle", method, 0.05)
    audit = da.audit(run)
    assert audit["-y*x.dot + z.dot = 0"].ok
    assert audit["energy"].theory == "conserved"


@pytest.mark.parametrize(
    ("method", "grows"), [(da.Midpoint(), False), (da.Trapezoidal(), False), (da.RungeKutta4(), True)]
)
def test_energy_drift(method, grows):
    """Over 1e5 steps the energy of a symplectic method oscillates; the control drifts."""
    run = long_run("pendulum", method, 0.1)
    row = da.audit(run)["energy"]
    assert row.drifts == grows
    assert row.ok


@claiming("energy", systems.free, CONTROL, da.Midpoint())
def test_energy(method):
    """Energy-preserving methods on a pendulum that swings far; a symplectic method only keeps it near."""
    run = long_run("pendulum", method, 0.05)
    worst = np.abs(run.energy - run.energy[0]).max()
    if method.energy:
        assert worst < 1e-11
    else:
        assert worst > 1e-6, "the control must fail the check"


@pytest.mark.parametrize("nodes", [2, 3])
def test_control_with_fewer_nodes_the_quadrature_shows(nodes):
    """So the energy is claimed from four nodes on."""
    run = long_run("pendulum", da.DiscreteGradient(nodes), 0.05)
    assert np.abs(run.energy - run.energy[0]).max() > 1e-10
    assert not da.DiscreteGradient(nodes).energy


def test_energy_under_a_kinematic_constraint():
    """The nonholonomic particle: quadratic energy, so two nodes are enough to keep it to rounding."""
    run = long_run("nonholonomic-particle", da.DiscreteGradient(2), 0.05)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-11
    control = long_run("nonholonomic-particle", da.Midpoint(), 0.05)
    assert np.abs(control.energy - control.energy[0]).max() > 1e-6


@pytest.mark.parametrize("method", [da.GeometricNonholonomic(), da.McLachlanPerlmutter()], ids=repr)
def test_methods_for_kinematic_constraints_do_not_keep_the_energy(method):
    """And do not claim it."""
    run = long_run("nonholonomic-particle", method, 0.05)
    assert np.abs(run.energy - run.energy[0]).max() > 1e-6
    assert not method.energy
