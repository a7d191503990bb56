"""Rotations as coordinates: the same motions as Euler angles, orders, momenta, and everything a run can do."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import dalembert as da
from dalembert import cos, sin

R = da.rotation("R")
J1, J2, J3, m, g, l, c = da.parameters("J1 J2 J3 m g l c", positive=True)
W = R.omega
ROTATING = (J1 * W[0] ** 2 + J2 * W[1] ** 2 + J3 * W[2] ** 2) / 2
TOP = da.System("heavy top", [R], kinetic=ROTATING, potential=m * g * l * R[2, 2])
NUMBERS = {J1: 1.0, J2: 1.2, J3: 0.5, m: 1.0, g: 9.81, l: 0.3}
METHODS = [da.Midpoint(), da.Trapezoidal(), da.Composition(da.Midpoint(), 4), da.RungeKutta4()]


def turned(a, b, e):
    """The matrix of the Euler angles: about z, then the new x, then the new z."""
    about_z = [np.array([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1]]) for t in (a, e)]
    about_x = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    return about_z[0] @ about_x @ about_z[1]


START = {R: turned(0.2, 0.7, 0.5), R.omega: (0.3, -0.4, 6.0)}


def pushed_on_a_cart():
    """A top on a cart, with a torque that depends on time and velocity: nothing separates, nothing is conserved."""
    x = da.coordinates("x")
    tip = [R[i, 1] * W[0] - R[i, 0] * W[1] for i in range(3)]  # -(R hat(w) e3), up to sign the velocity of the axis
    kinetic = ROTATING + m * x.dot**2 + m * l * x.dot * tip[0]
    torque = (-c * W[0], sin(da.time) * R[0, 1], -c * W[2] * (1 + x**2))
    return da.System(
        "top on a cart",
        [x, R],
        kinetic=kinetic,
        potential=m * g * l * R[2, 2] + x**2,
        forces={R: torque, x: -c * x.dot},
    )


def test_equations_are_those_of_euler():
    state = {R: turned(0.3, 1.1, -0.4), R.omega: (0.7, -1.3, 2.1)}
    found = da.evaluate(TOP, at=state, parameters=NUMBERS)
    J, w = np.array([1.0, 1.2, 0.5]), np.array(state[R.omega])
    vertical = state[R][2]
    expected = (np.cross(J * w, w) + 9.81 * 0.3 * np.cross(vertical, [0, 0, 1])) / J
    assert np.allclose(list(found.accelerations.values()), expected, rtol=1e-14, atol=1e-14)
    assert np.isclose(found.energy, J @ w**2 / 2 + 9.81 * 0.3 * vertical[2], rtol=1e-15)
    assert np.allclose(list(found.momenta.values()), J * w)
    # control: with the other sign of the gyroscopic term the accelerations are others
    assert not np.allclose(list(found.accelerations.values()), (-np.cross(J * w, w)) / J, rtol=1e-3)


def test_the_motion_is_that_of_euler_angles():
    a, b, e = da.coordinates("a b e")
    w = (
        a.dot * sin(b) * sin(e) + b.dot * cos(e),
        a.dot * sin(b) * cos(e) - b.dot * sin(e),
        a.dot * cos(b) + e.dot,
    )
    angles = da.System(
        "top", [a, b, e], kinetic=(J1 * w[0] ** 2 + J2 * w[1] ** 2 + J3 * w[2] ** 2) / 2, potential=m * g * l * cos(b)
    )
    at = {a: 0.2, b: 0.7, e: 0.5, a.dot: 0.8, b.dot: -0.3, e.dot: 5.0}
    omega = [float(x.subs({**at, a.dot: 0.8})) for x in map(sympy.sympify, w)]
    exactly = da.Reference(rtol=1e-12)
    one = da.simulate(angles, exactly, h=0.25, until=3, start=at, parameters=NUMBERS)
    two = da.simulate(
        TOP, exactly, h=0.25, until=3, start={R: turned(0.2, 0.7, 0.5), R.omega: omega}, parameters=NUMBERS
    )
    matrices = np.array([turned(*row) for row in zip(one.a, one.b, one.e, strict=True)])
    assert np.abs(two[R] - matrices).max() < 1e-9
    assert np.ptp(two.energy) < 1e-10 * abs(two.energy[0])


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("system", [TOP, pushed_on_a_cart()], ids=lambda s: s.name)
def test_orders(method, system):
    x = da.coordinates("x")
    start = START | ({x: 0.1, x.dot: 0.2} if x in system.coordinates else {})
    numbers = {p: value for p, value in (NUMBERS | {c: 0.3}).items() if p in system.parameters}
    exact = da.simulate(system, da.Reference(rtol=1e-12), h=1, until=1, start=start, parameters=numbers)
    errors = []
    for h in (0.02, 0.01, 0.005):
        run = da.simulate(system, method, h=h, until=1, start=start, parameters=numbers)
        errors.append([np.abs(run[key][-1] - exact[key][-1]).max() for key in (R, R.omega, R.momentum)])
    slopes = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.abs(slopes[-1] - method.order).max() < 0.25, slopes
    # control: a rule of the first order has the first order here
    if method == da.Midpoint() and system is not TOP:
        coarse = []
        for h in (0.02, 0.01, 0.005):
            run = da.simulate(system, da.LeftPoint(), h=h, until=1, start=start, parameters=numbers)
            coarse.append(np.abs(run[R.omega][-1] - exact[R.omega][-1]).max())
        assert np.log2(coarse[1] / coarse[2]) < 1.5


def momentum_in_space(run):
    return np.einsum("tij,tj->ti", run[R], run[R.momentum])


@pytest.mark.parametrize("method", [da.Midpoint(), da.Trapezoidal(), da.Composition(da.Trapezoidal(), 4)], ids=repr)
def test_momenta_and_the_group_to_rounding(method):
    free = da.gallery.load("free-rigid-body")
    run = da.simulate(
        free.system, method, h=0.05, steps=100_000, every=100, start=free.start, parameters=free.parameters
    )
    p = momentum_in_space(run)
    assert np.abs(p - p[0]).max() < 2e-13
    defect = np.einsum("tij,tik->tjk", run[R], run[R]) - np.eye(3)
    assert np.abs(defect).max() < 4e-15
    assert np.abs(run.energy / run.energy[0] - 1).max() < 2e-3
    # control: Runge-Kutta does not keep the momentum in space
    other = da.simulate(
        free.system, da.RungeKutta4(), h=0.05, steps=20_000, every=100, start=free.start, parameters=free.parameters
    )
    assert np.abs(momentum_in_space(other) - p[0]).max() > 1e-9


def test_symmetric_methods_return():
    """With the velocity reversed the motion goes back to where it began."""

    def returned(method):
        there = da.simulate(TOP, method, h=0.01, steps=300, start=START, parameters=NUMBERS)
        turn = {R: there[R][-1], R.momentum: -there[R.momentum][-1]}
        back = da.simulate(TOP, method, h=0.01, steps=300, start=turn, parameters=NUMBERS)
        return np.abs(back[R][-1] - START[R]).max()

    assert returned(da.Midpoint()) < 1e-11
    assert returned(da.Trapezoidal()) < 1e-11
    assert returned(da.LeftPoint()) > 1e-5  # control


def symplectic_defect(method, eps=1e-6):
    """How far a step is from preserving the form -d(p.theta) of the cotangent bundle, by differences of many starts.

    In the frame of the body it is dp ^ dtheta - p [theta, theta]/2: at one point the matrix ((p^, 1), (-1, 0)).
    """
    hat = lambda v: np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])  # noqa: E731
    form = lambda p: np.block([[-hat(p), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])  # noqa: E731
    p0, R0 = np.array([0.3, -0.5, 3.0]), START[R]
    moves = np.vstack([np.zeros(6), *(s * eps * e for e in np.eye(6) for s in (1, -1))])
    cayley = [np.linalg.solve(np.eye(3) - hat(d[:3]) / 2, np.eye(3) + hat(d[:3]) / 2) for d in moves]
    start = {R: np.array([R0 @ t for t in cayley]), R.momentum: p0 + moves[:, 3:]}
    run = da.simulate(TOP, method, h=0.1, steps=1, start=start, parameters=NUMBERS)
    Rn, pn = run[R][:, -1], run[R.momentum][:, -1]
    away = np.array([R.difference(R.read(Rn[0]), R.read(x)) for x in Rn])
    image = np.column_stack([away, pn - pn[0]])
    slope = ((image[1::2] - image[2::2]) / (2 * eps)).T
    return np.abs(slope.T @ form(pn[0]) @ slope - form(p0)).max()


def test_variational_steps_are_symplectic():
    assert symplectic_defect(da.Midpoint()) < 1e-8
    assert symplectic_defect(da.Trapezoidal()) < 1e-8
    assert symplectic_defect(da.Composition(da.Midpoint(), 4)) < 1e-8
    assert symplectic_defect(da.RungeKutta4()) > 1e-6  # control


def test_lanes_continued_runs_and_files_have_the_same_bits(tmp_path):
    given = {"h": 0.01, "parameters": NUMBERS}
    whole = da.simulate(TOP, da.Midpoint(), steps=300, start=START, **given)
    many = {R: np.stack([START[R], START[R].T, np.eye(3)]), R.omega: np.array([[0.3, -0.4, 6.0], [1, 2, 3], [0, 0, 1]])}
    lanes = da.simulate(TOP, da.Midpoint(), steps=300, start=many, **given)
    assert lanes[R].shape == (3, 301, 3, 3)
    assert np.array_equal(lanes.records[0], whole.records[0])
    assert np.array_equal(lanes["R.omega"], lanes[R.omega]) and np.array_equal(lanes["R"], lanes.R)
    first = da.simulate(TOP, da.Midpoint(), steps=100, start=START, **given)
    loaded = da.load(first.save(tmp_path / "top.nc"))
    assert loaded.system == TOP
    assert np.array_equal(loaded[R], first[R])
    rest = da.simulate(TOP, da.Midpoint(), steps=200, start=loaded, **given)
    assert np.array_equal(rest.records, whole.records[:, 100:])
    assert first.dataset["R"].shape == (101, 3, 3)
    assert first.dataset["R.omega"].shape == (101, 3)


def test_events_see_rotations_and_change_velocities():
    level = da.Event(R[0, 2] + 0.1, "stop", name="level")
    run = da.simulate(TOP, da.Midpoint(), h=0.01, until=5, start=START, parameters=NUMBERS, events=level)
    assert run.status is da.Status.EVENT
    assert abs(run[R][-1][0, 2] + 0.1) < 1e-12
    assert abs(run[R[0, 2]][-1] + 0.1) < 1e-12
    kick = da.Event(R[0, 2] + 0.1, {R.omega: (W[0], W[1], 0.9 * W[2])}, name="kick")
    run = da.simulate(TOP, da.RungeKutta4(), h=0.01, until=5, start=START, parameters=NUMBERS, events=kick)
    assert run.changes >= 1
    again = da.simulate(TOP, da.Midpoint(), h=0.01, steps=10, start=run.events[0].start, parameters=NUMBERS)
    assert abs(again[R][0][0, 2] + 0.1) < 1e-12
    with pytest.raises(da.ModelError, match="the action changes R"):
        stop = da.Event(R[0, 2] + 0.1, {R[0, 0]: 1})
        da.simulate(TOP, da.Midpoint(), h=0.01, until=5, start=START, parameters=NUMBERS, events=stop)


def test_the_audit_knows_what_turning_conserves():
    symmetric = TOP.replace(kinetic=(J1 * (W[0] ** 2 + W[1] ** 2) + J3 * W[2] ** 2) / 2)
    numbers = {p: value for p, value in NUMBERS.items() if p != J2}
    run = da.simulate(symmetric, da.Midpoint(), h=0.01, until=10, start=START, parameters=numbers)
    rows = {row.quantity: row for row in da.audit(run).rows}
    for name in ("about axis 3 of the body", "about the z axis of space"):
        row = rows[f"angular momentum of R {name}"]
        assert row.expected == "exact"
        assert row.verdict == "kept to rounding"
    assert not any("x axis" in name for name in rows)
    run = da.simulate(TOP, da.Midpoint(), h=0.01, until=1, start=START, parameters=NUMBERS)
    rows = {row.quantity: row for row in da.audit(run).rows}
    assert not any("axis 3" in name for name in rows)  # J1 and J2 differ


def test_a_hinge_makes_a_pendulum():
    """Holonomic constraints on a rotation: turning about the x axis alone is a physical pendulum."""
    held = da.System("hinged", [R], kinetic=ROTATING, potential=m * g * l * R[2, 2], constraints=[R[1, 0], R[2, 0]])
    theta = da.coordinates("theta")
    pendulum = da.System("pendulum", [theta], kinetic=J1 * theta.dot**2 / 2, potential=m * g * l * cos(theta))
    start = {R: turned(0, 1.0, 0), R.omega: (0.5, 0, 0)}
    exact = da.simulate(
        pendulum, da.Reference(rtol=1e-12), h=0.5, until=2, start={theta: 1.0, theta.dot: 0.5},
        parameters={p: v for p, v in NUMBERS.items() if p in pendulum.parameters},
    )  # fmt: skip
    for method, bound in ((da.Midpoint(), 1e-3), (da.Reference(rtol=1e-11), 1e-8)):
        run = da.simulate(held, method, h=0.005, until=2, start=start, parameters=NUMBERS)
        angle = np.arctan2(run[R][:, 2, 1], run[R][:, 2, 2])
        assert abs(np.sin((angle[-1] - exact.theta[-1]) / 2)) < bound
        assert np.abs(run[R][:, 1:, 0]).max() < 1e-12
    with pytest.raises(da.StartError, match="the position violates"):
        da.simulate(held, da.Midpoint(), h=0.01, until=1, start=START, parameters=NUMBERS)


def test_suslov():
    """A kinematic constraint: the body does not turn about its third axis (Suslov's problem); the energy is conserved."""
    tilted = ROTATING + da.Rational(1, 10) * W[0] * W[2] + da.Rational(1, 5) * W[1] * W[2]
    suslov = da.System("Suslov", [R], kinetic=tilted, constraints=[W[2]])
    start = {R: np.eye(3), R.omega: (1.0, -0.5, 0.0)}
    numbers = {J1: 1.0, J2: 1.2, J3: 0.5}
    exact = da.simulate(suslov, da.Reference(rtol=1e-12), h=1, until=2, start=start, parameters=numbers)
    errors = []
    for h in (0.02, 0.01):
        run = da.simulate(suslov, da.Midpoint(), h=h, until=2, start=start, parameters=numbers)
        errors.append(np.abs(run[R][-1] - exact[R][-1]).max())
        assert np.abs(run[W[2]]).max() < 1e-14
    assert abs(np.log2(errors[0] / errors[1]) - 2) < 0.2
    assert np.ptp(run.energy) < 1e-3
    left = da.simulate(
        suslov, da.Midpoint(), h=0.01, steps=1, start={R: np.eye(3), W[0]: 1.0, W[1]: -0.5}, parameters=numbers
    )
    assert np.array_equal(left.records[:, 0], run.records[:, 0])


def test_units_change_nothing():
    """Masses of 1e-27 and lengths of 1e9, with the same motion in other units of time."""
    one = da.simulate(TOP, da.Midpoint(), h=0.01, steps=100, start=START, parameters=NUMBERS)
    mass, length = 2.0**-90, 2.0**30
    inertia = mass * length**2
    other = {J1: inertia, J2: 1.2 * inertia, J3: 0.5 * inertia, m: mass, g: 9.81 * length, l: 0.3 * length}
    two = da.simulate(TOP, da.Midpoint(), h=0.01, steps=100, start=START, parameters=other)
    assert np.abs(two[R] - one[R]).max() < 1e-13
    assert [r.verdict for r in da.audit(two).rows] == [r.verdict for r in da.audit(one).rows]


def test_friction_on_a_rotation_warms():
    S = da.entropies("S")
    warm = da.System(
        "warm top", [R], kinetic=ROTATING, entropies=[S], internal_energy=da.exp(S), friction={R: [-c * w for w in W]}
    )
    numbers = {J1: 1.0, J2: 1.2, J3: 0.5, c: 0.1}
    run = da.simulate(warm, da.Midpoint(), h=0.01, until=5, start=START | {S: 0.0}, parameters=numbers)
    assert np.ptp(run.energy) < 1e-3 * run.energy[0]
    assert (np.diff(run.S) > 0).all()


@pytest.mark.parametrize("method", [da.StormerVerlet(), da.DiscreteGradient(), da.GeometricNonholonomic()], ids=repr)
def test_other_methods_refuse(method):
    with pytest.raises(da.MethodError, match=r"R is a rotation.* Use Midpoint\(\) or"):
        da.simulate(TOP, method, h=0.01, until=1, start=START, parameters=NUMBERS)


class ThirdPoint(da.VariationalMethod):
    """A rule of one's own, written for lines."""

    order = 1

    def discrete_lagrangian(self, L, q0, q1, t, h):
        return h * L((2 * q0 + q1) / 3, (q1 - q0) / h, t + h / 3)


class Bent(ThirdPoint):
    """One that has no meaning on a group."""

    def discrete_lagrangian(self, L, q0, q1, t, h):
        return h * L((q0 + q1) / 3, (q1 - q0) / h, t)


def test_rules_of_ones_own():
    run = da.simulate(TOP, ThirdPoint(), h=0.001, until=0.5, start=START, parameters=NUMBERS)
    exact = da.simulate(TOP, da.Reference(), h=0.5, until=0.5, start=START, parameters=NUMBERS)
    assert np.abs(run[R][-1] - exact[R][-1]).max() < 1e-2
    p = momentum_in_space(run)[:, 2]
    assert np.ptp(p) < 1e-13
    with pytest.raises(
        da.ModelError, match=r"the rule does not apply to the rotation R: .* Use Midpoint\(\) or midpoint_map"
    ):
        da.simulate(TOP, Bent(), h=0.001, until=0.5, start=START, parameters=NUMBERS)


REFUSED = {
    "classify": lambda: da.classify(TOP),
    "first_integrals": lambda: da.first_integrals(TOP),
    "hamilton": lambda: da.hamilton(TOP),
    "equilibria": lambda: da.equilibria(TOP, parameters=NUMBERS),
    "structure": lambda: da.structure(TOP),
    "gauge_function": lambda: da.gauge_function(TOP, TOP),
    "modified_equation": lambda: da.modified_equation(TOP, da.Midpoint(), 2),
    "exact_discrete_lagrangian": lambda: da.exact_discrete_lagrangian(TOP),
    "momentum_map": lambda: da.momentum_map(da.discretise(TOP, da.midpoint_map), {}),
    "equations": lambda: da.discretise(TOP, da.midpoint_map).equations(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_takes_lines_only_says_so(name):
    with pytest.raises(da.DalembertError, match=f"{name}: .*has the rotation R"):
        REFUSED[name]()


def test_what_is_given_wrongly_is_told():
    def refused(start, text):
        with pytest.raises(da.StartError, match=text):
            da.simulate(TOP, da.Midpoint(), h=0.1, until=1, start=start, parameters=NUMBERS)

    good = START[R]
    refused({R: good}, r"no value for R\.omega\. .* Add start={R\.omega: \.\.\.}")
    refused({R.omega: (0, 0, 1)}, "no position for R")
    refused({R: 1.01 * good, R.omega: (0, 0, 1)}, r"R\^T R differs from 1 by up to 0\.0201\. The nearest rotation is")
    refused({R: -good, R.omega: (0, 0, 1)}, "its determinant is -1, that of a reflection")
    refused({R: good[:2], R.omega: (0, 0, 1)}, r"R has shape \(2, 3\)")
    refused({R: good * np.nan, R.omega: (0, 0, 1)}, "entries that are not finite")
    refused({R: good, R.omega: (0, 1)}, r"R\.omega has shape \(2,\)\. Give 3 components")
    refused({R: good, R.omega: (0, 0, 1), "z": 1}, r"z is unknown here\. Expected one of R, R\.omega, R\.momentum, t")
    with pytest.raises(da.ModelError, match="3 x 3 entries"):
        R[0, 3]
    refused({R: good, R.omega: (0, 0, 1), R.momentum: (0, 0, 1)}, r"mixes ways to start \(R\.omega; R\.momentum\)")
    refused({R: np.stack([good, good]), R.omega: np.ones((3, 3))}, r"make no lanes \(R: 2, R\.omega: 3\)")
    with pytest.raises(da.ModelError, match="give one name"):
        da.rotation("R R")
    with pytest.raises(da.ModelError, match="is not a name"):
        da.rotation("R-R")
    with pytest.raises(da.ModelError, match=r"no inertia along R\.omega\[2\]"):
        da.System("flat", [R], kinetic=W[0] ** 2 + W[1] ** 2)
    with pytest.raises(da.ModelError, match="Expected its 3 components in the body"):
        TOP.replace(forces={R: 1})
    with pytest.raises(da.ModelError, match="used for a coordinate and for a rotation"):
        da.System("two", [R, da.coordinates("R")], kinetic=ROTATING)
    with pytest.raises(da.ModelError, match="the name R occurs twice"):
        da.System("two", [R, R], kinetic=ROTATING)
